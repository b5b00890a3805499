//! Debouncing of contact edges: a square has changed once its contact has rested for long enough.

use shakmaty::{Bitboard, Square};

use super::time::MonoTime;

/// A contact that bounces is open for less than this, in microseconds.
pub(super) const BOUNCE_US: u64 = 3_000;

/// Debouncer of the 64 contacts of one board.
#[derive(Clone, Debug)]
pub struct Debouncer {
    close_ms: u64,
    open_ms: u64,
    /// The contacts as they are.
    raw: Bitboard,
    /// The squares as they count.
    settled: Bitboard,
    /// When a square will count as changed, in no particular order; at most 64.
    due: Vec<(MonoTime, Square)>,
}

impl Debouncer {
    /// A debouncer of a board that rests at `occupied`. A closing contact counts after `close_ms`
    /// milliseconds without an edge, an opening one after `open_ms`.
    pub fn new(occupied: Bitboard, close_ms: u64, open_ms: u64) -> Debouncer {
        Debouncer { close_ms, open_ms, raw: occupied, settled: occupied, due: Vec::new() }
    }

    /// An edge of one contact. When it closes the contact of an occupied square again before its opening
    /// counted: for how long it was open, in microseconds. From some 3 ms on that is a dip and no bounce.
    pub fn edge(&mut self, at: MonoTime, square: Square, closed: bool) -> Option<u64> {
        self.raw.set(square, closed);
        let pending = self.due.iter().find(|(_, other)| *other == square).map(|(due, _)| *due);
        let open_until = MonoTime::ZERO.plus_ms(self.open_ms).plus_micros(at.as_micros());
        let dip =
            pending.filter(|_| closed && self.settled.contains(square)).map(|due| open_until.since(due));
        if pending.is_some() {
            self.due.retain(|(_, other)| *other != square);
        }
        if closed != self.settled.contains(square) {
            let ms = if closed { self.close_ms } else { self.open_ms };
            self.due.push((at.plus_ms(ms), square));
        }
        dip
    }

    /// The contacts were read as a whole and taken over at once.
    pub fn reset(&mut self, occupied: Bitboard) {
        self.raw = occupied;
        self.settled = occupied;
        self.due.clear();
    }

    /// When the next change will count.
    pub fn deadline(&self) -> Option<MonoTime> {
        self.due.iter().map(|(at, _)| *at).min()
    }

    /// The next change that counts at or before `now`: its time, its square, and whether the
    /// square is occupied. Changes of one instant come by square, as the board lies, lifts and places
    /// alike.
    pub fn next(
        &mut self,
        now: MonoTime,
        lies: impl Fn(Square) -> Square,
    ) -> Option<(MonoTime, Square, bool)> {
        let order = |(at, square): &(MonoTime, Square)| (*at, lies(*square));
        let index = (0..self.due.len()).min_by_key(|index| self.due.get(*index).map(order))?;
        let (at, square) = self.due.get(index).copied().filter(|(at, _)| *at <= now)?;
        self.due.swap_remove(index);
        self.settled.toggle(square);
        Some((at, square, self.settled.contains(square)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: u64) -> MonoTime {
        MonoTime::ZERO.plus_ms(ms)
    }

    #[test]
    fn a_bounce_is_one_change_at_the_end_of_its_rest() {
        let mut debouncer = Debouncer::new(Bitboard::EMPTY, 15, 30);
        for (at, closed) in [(0, true), (1, false), (3, true), (4, false), (5, true)] {
            debouncer.edge(ms(at), Square::E4, closed);
        }
        assert_eq!(debouncer.deadline(), Some(ms(20)));
        assert_eq!(debouncer.next(ms(19), |square| square), None);
        assert_eq!(debouncer.next(ms(20), |square| square), Some((ms(20), Square::E4, true)));
        assert_eq!(debouncer.next(MonoTime::END, |square| square), None);
    }

    #[test]
    fn a_dip_shorter_than_the_rest_is_no_change() {
        let mut debouncer = Debouncer::new(Bitboard::FULL, 15, 30);
        assert_eq!(debouncer.edge(ms(0), Square::A1, false), None);
        assert_eq!(debouncer.edge(ms(29), Square::A1, true), Some(29_000));
        assert_eq!(debouncer.deadline(), None);
        assert_eq!(debouncer.edge(ms(35), Square::A1, false), None);
        assert_eq!(debouncer.edge(ms(36), Square::A1, true), Some(1_000), "a bounce is no dip");
        debouncer.edge(ms(40), Square::A1, false);
        assert_eq!(debouncer.next(ms(70), |square| square), Some((ms(70), Square::A1, false)));
    }

    proptest! {
        /// Each square alternates, and a late look gives the same changes as a prompt one.
        #[test]
        fn lateness_changes_nothing(edges in prop::collection::vec((0u64..40, 0u32..4, any::<bool>()), 0..60)) {
            let run = |prompt: bool| {
                let mut debouncer = Debouncer::new(Bitboard::EMPTY, 15, 30);
                let mut at = 0;
                let mut changes = Vec::new();
                for (gap, square, closed) in &edges {
                    at += gap;
                    if prompt {
                        for step in at - gap..=at {
                            while let Some(change) = debouncer.next(ms(step), |square| square) { changes.push(change); }
                        }
                    }
                    while let Some(change) = debouncer.next(ms(at), |square| square) { changes.push(change); }
                    debouncer.edge(ms(at), Square::new(*square), *closed);
                }
                while let Some(change) = debouncer.next(MonoTime::END, |square| square) { changes.push(change); }
                changes
            };
            let changes = run(true);
            prop_assert_eq!(&changes, &run(false));
            for square in 0..4 {
                let states: Vec<bool> = changes.iter().filter(|c| c.1 == Square::new(square)).map(|c| c.2).collect();
                prop_assert!(states.iter().enumerate().all(|(i, state)| *state == (i % 2 == 0)));
            }
        }
    }
}
