//! Bounce of contacts, measured from their edges, and the debounce times that it asks for.
//!
//! Edges of one contact that follow each other within [`HAND_US`] belong to one change: a hand needs longer
//! to lift a man and put it back. A change from open to closed is a closing; the stretches in which the
//! contact was closed in between and opened again are false: a closing has to count after the longest of
//! them. A change from closed to open is an opening, and its false stretches are the open ones. A contact
//! that opened and is closed again was a man that wobbles: an opening that must not count. One that closed
//! and is open again saw a man that slid over: it is neither, and is left out.

use shakmaty::Square;

use super::figures::BounceFigures;
use crate::session::time::MonoTime;

/// Edges nearer than this are no two deeds of a hand, in microseconds.
pub const HAND_US: u64 = 50_000;

/// Upper bounds of the classes of the histogram, in microseconds; before the first one come the changes
/// without a false stretch.
pub const CLASSES_US: [u64; 6] = [1_000, 2_000, 5_000, 10_000, 20_000, HAND_US];

/// So many changes in a direction are needed for a suggestion.
pub const ENOUGH: u64 = 20;

/// No shorter debounce time is suggested, in milliseconds: reeds bounce for up to 1 ms, and the next
/// evening has another magnet.
const SHORTEST_MS: u64 = 5;

/// The changes of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Changes, with those that were taken back at once.
    pub changes: u64,
    /// Changes without a false stretch, then by the class of the longest one.
    pub histogram: [u64; CLASSES_US.len() + 1],
    /// The longest false stretch in microseconds, and its square.
    pub worst: Option<(u64, Square)>,
}

impl Side {
    fn note(&mut self, square: Square, longest_us: u64) {
        self.changes += 1;
        let class = if longest_us == 0 {
            0
        } else {
            CLASSES_US.iter().position(|bound| longest_us < *bound).unwrap_or(CLASSES_US.len() - 1) + 1
        };
        if let Some(count) = self.histogram.get_mut(class) {
            *count += 1;
        }
        if longest_us > 0 && self.worst.is_none_or(|(us, _)| longest_us > us) {
            self.worst = Some((longest_us, square));
        }
    }

    /// The longest false stretch in microseconds; 0 when there was none.
    pub fn longest_us(&self) -> u64 {
        self.worst.map_or(0, |(us, _)| us)
    }

    /// The shortest debounce time that would have made one change of each, in milliseconds. The contacts
    /// are read every `scan_us`: a stretch may be that much longer than it looks.
    pub fn needed_ms(&self, scan_us: u64) -> u64 {
        if self.worst.is_none() { 0 } else { (self.longest_us() + scan_us) / 1000 + 1 }
    }

    /// The debounce time that the changes ask for, in milliseconds: half as long again as the longest false
    /// stretch, and one scan; at least two scans. `None` while there are fewer than [`ENOUGH`] changes.
    pub fn suggested_ms(&self, scan_us: u64) -> Option<u64> {
        let wanted = (self.longest_us() * 3 / 2 + scan_us).div_ceil(1000);
        (self.changes >= ENOUGH).then(|| wanted.max(2 * scan_us / 1000).max(SHORTEST_MS))
    }

    /// The figures for the report.
    pub fn figures(&self, configured_ms: u64, scan_us: u64) -> BounceFigures {
        BounceFigures {
            changes: self.changes,
            histogram: self.histogram.to_vec(),
            longest_us: self.longest_us(),
            worst: self.worst.map(|(_, square)| square.to_string()),
            configured_ms,
            suggested_ms: self.suggested_ms(scan_us),
        }
    }

    /// The histogram in one line: `12 clean, 3 under 1 ms`.
    pub fn words(&self) -> String {
        let mut parts = Vec::new();
        for (class, count) in self.histogram.iter().enumerate().filter(|(_, count)| **count > 0) {
            parts.push(match class.checked_sub(1).and_then(|class| CLASSES_US.get(class)) {
                None => format!("{count} clean"),
                Some(us) => format!("{count} under {} ms", us / 1000),
            });
        }
        if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
    }
}

/// Edges of one contact that belong together.
#[derive(Clone, Copy, Debug)]
struct Burst {
    began_closed: bool,
    closed: bool,
    last: MonoTime,
    longest_closed_us: u64,
    longest_open_us: u64,
}

/// The bounce of the 64 contacts of a board.
#[derive(Clone, Debug)]
pub struct Bounce {
    bursts: [Option<Burst>; 64],
    /// Closing contacts.
    pub closing: Side,
    /// Opening contacts.
    pub opening: Side,
}

impl Default for Bounce {
    fn default() -> Bounce {
        Bounce { bursts: [None; 64], closing: Side::default(), opening: Side::default() }
    }
}

impl Bounce {
    /// An edge of a contact.
    pub fn edge(&mut self, at: MonoTime, square: Square, closed: bool) {
        self.rest(at);
        let Some(slot) = self.bursts.get_mut(usize::from(square)) else { return };
        match slot {
            Some(burst) if burst.closed == closed => {}
            Some(burst) => {
                let stretch = at.since(burst.last);
                let longest =
                    if burst.closed { &mut burst.longest_closed_us } else { &mut burst.longest_open_us };
                *longest = (*longest).max(stretch.max(1));
                (burst.closed, burst.last) = (closed, at);
            }
            None => {
                *slot = Some(Burst {
                    began_closed: !closed,
                    closed,
                    last: at,
                    longest_closed_us: 0,
                    longest_open_us: 0,
                });
            }
        }
    }

    /// Time has passed: what has rested for long enough is over.
    pub fn rest(&mut self, now: MonoTime) {
        for (square, slot) in Square::ALL.into_iter().zip(&mut self.bursts) {
            let Some(burst) = slot.take_if(|burst| now.since(burst.last) >= HAND_US) else { continue };
            match (burst.began_closed, burst.closed) {
                (false, true) => self.closing.note(square, burst.longest_closed_us),
                (false, false) => {}
                (true, _) => self.opening.note(square, burst.longest_open_us),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::debounce::Debouncer;
    use proptest::prelude::*;
    use shakmaty::Bitboard;

    fn us(us: u64) -> MonoTime {
        MonoTime::from_micros(us)
    }

    fn measured(edges: &[(u64, bool)]) -> Bounce {
        let mut bounce = Bounce::default();
        for (at, closed) in edges {
            bounce.edge(us(*at), Square::E4, *closed);
        }
        bounce.rest(MonoTime::END);
        bounce
    }

    #[test]
    fn a_closing_bounces_in_its_closed_stretches_and_an_opening_in_its_open_ones() {
        let bounce = measured(&[
            (0, true),
            (400, false),
            (900, true),
            (1_000_000, false),
            (1_003_000, true),
            (1_003_500, false),
        ]);
        assert_eq!((bounce.closing.changes, bounce.closing.longest_us()), (1, 400));
        assert_eq!((bounce.opening.changes, bounce.opening.longest_us()), (1, 3_000));
        assert_eq!(bounce.closing.words(), "1 under 1 ms");
        assert_eq!(bounce.opening.words(), "1 under 5 ms");
    }

    #[test]
    fn dips_are_openings_that_must_not_count_and_clean_changes_are_told() {
        let bounce = measured(&[(0, true), (500_000, false), (530_000, true), (900_000, false)]);
        assert_eq!((bounce.closing.changes, bounce.closing.longest_us()), (1, 0));
        assert_eq!((bounce.opening.changes, bounce.opening.longest_us()), (2, 30_000));
        assert_eq!(bounce.opening.words(), "1 clean, 1 under 50 ms");
    }

    #[test]
    fn a_man_that_slides_over_is_neither() {
        let bounce = measured(&[(0, true), (40_000, false)]);
        assert_eq!((bounce.closing.changes, bounce.opening.changes), (0, 0));
    }

    #[test]
    fn a_hand_is_slower_than_any_bounce() {
        let bounce = measured(&[(0, true), (HAND_US, false), (2 * HAND_US, true)]);
        assert_eq!((bounce.closing.changes, bounce.opening.changes), (2, 1));
        assert_eq!((bounce.closing.longest_us(), bounce.opening.longest_us()), (0, 0));
    }

    #[test]
    fn a_suggestion_needs_enough_changes_and_leaves_room() {
        let mut side = Side::default();
        for _ in 1..ENOUGH {
            side.note(Square::A1, 8_000);
        }
        assert_eq!(side.suggested_ms(5_000), None);
        side.note(Square::B2, 12_000);
        assert_eq!(side.suggested_ms(5_000), Some(23));
        assert_eq!(side.needed_ms(5_000), 18);
        assert_eq!(side.worst, Some((12_000, Square::B2)));
        let mut clean = Side::default();
        (0..ENOUGH).for_each(|_| clean.note(Square::A1, 0));
        assert_eq!(
            (clean.suggested_ms(5_000), clean.suggested_ms(0), clean.needed_ms(5_000)),
            (Some(10), Some(5), 0)
        );
    }

    proptest! {
        /// The times that are needed are enough: a debouncer with them makes one change of each change, and
        /// none of a dip.
        #[test]
        fn what_is_needed_is_enough(
            bursts in prop::collection::vec(
                (prop::collection::vec(1u64..HAND_US / 4, 1..6), HAND_US..400_000u64), 1..20),
        ) {
            let mut edges = Vec::new();
            let (mut at, mut closed) = (1_000_000, false);
            let mut changes = 0;
            for (gaps, rest) in bursts {
                let before = closed;
                // A man that slides over an open contact is no bounce.
                let gaps = if !closed && gaps.len() % 2 == 0 { gaps.get(1..).unwrap_or_default() } else { &gaps };
                for gap in gaps {
                    closed = !closed;
                    edges.push((at, closed));
                    at += gap;
                }
                // The gap after the last edge is a part of the rest.
                at += rest;
                changes += usize::from(before != closed);
            }
            let bounce = measured(&edges);
            let (close, open) = (bounce.closing.needed_ms(0), bounce.opening.needed_ms(0));
            prop_assume!(close * 1000 <= HAND_US && open * 1000 <= HAND_US);
            let mut debouncer = Debouncer::new(Bitboard::EMPTY, close, open);
            let mut settled = 0;
            for (at, closed) in &edges {
                while debouncer.next(us(*at), |square| square).is_some() { settled += 1; }
                debouncer.edge(us(*at), Square::E4, *closed);
            }
            while debouncer.next(MonoTime::END, |square| square).is_some() { settled += 1; }
            prop_assert_eq!(settled, changes);
        }
    }
}
