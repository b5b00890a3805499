//! The memory of the emulated board: the last changes of squares and presses, as a real one keeps them.

use std::collections::VecDeque;

use shakmaty::Square;

use super::face::Press;
use crate::{
    session::time::MonoTime,
    wire::dgt::{
        message::{Reading, square_of},
        storage::{self, Entry, Mark},
    },
};

/// The squares in the board's own order.
pub(super) type Squares = [Reading; 64];

/// Bytes that a download holds, its last one included.
pub(super) const CAPACITY: usize = 0x1f00;

/// Entries that are closer than this have the mark of it.
const SOON_US: u64 = 250_000;

/// More men than this have to be away before the same position is noted again.
const AWAY: usize = 2;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

/// A ring of bytes. Places in it are counted from the first byte that was ever written.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    bytes: VecDeque<u8>,
    /// The place behind the last byte.
    end: u64,
    last: Option<MonoTime>,
    /// The position that was noted last, until men are away from it.
    noted: Option<Box<Squares>>,
}

/// Length of the entry that begins with this byte.
const fn length(first: u8) -> usize {
    match first {
        0x40..=0x5f => 2,
        0x60..=0x69 | 0x70..=0x79 => 3,
        _ => 1,
    }
}

impl Log {
    /// The place behind the last byte.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// What stands between two places, as far as it is still there.
    pub(super) fn between(&self, from: u64, to: u64) -> Vec<u8> {
        let held = u64::try_from(self.bytes.len()).unwrap_or(0);
        let first = self.end.saturating_sub(held);
        let index = |place: u64| usize::try_from(place.clamp(first, self.end) - first).unwrap_or(0);
        let (from, to) = (index(from), index(to));
        self.bytes.iter().skip(from).take(to.saturating_sub(from)).copied().collect()
    }

    /// The whole memory, oldest first, with its end; the download itself is noted.
    pub(super) fn download(&mut self) -> Vec<u8> {
        let mut all = self.between(0, self.end);
        all.extend(storage::encode(&[Entry::Mark(Mark::End)]));
        self.mark(Mark::Downloaded);
        all
    }

    /// The board was switched on, or a game was begun on the bus: the mark, and every man that stands there.
    pub(super) fn all_men(&mut self, mark: Mark, squares: &Squares, at: MonoTime) {
        if mark == Mark::PowerUp {
            self.append(&[0x7f; 3]);
        }
        self.mark(mark);
        self.last = Some(at);
        for (number, reading) in (0u8..64).zip(squares).filter(|(_, reading)| **reading != Reading::Empty) {
            if let Some(square) = square_of(number) {
                self.write(Entry::Field { square, reading: *reading, soon: true });
            }
        }
        self.position(squares);
    }

    /// A square reads something else.
    pub(super) fn field(&mut self, square: Square, reading: Reading, at: MonoTime) {
        let soon = self.last.is_some_and(|last| at.since(last) < SOON_US);
        self.last = Some(at);
        self.write(Entry::Field { square, reading, soon });
    }

    /// A press; `right` tells the side of the clock.
    pub(super) fn press(&mut self, press: Press, right: bool) {
        self.write(Entry::Pressed { right, seconds: press.seconds });
    }

    /// Notes a position that begins a game, and the empty board; each once, until men have left it.
    pub(super) fn position(&mut self, squares: &Squares) {
        let is_man = |reading: &Reading| *reading != Reading::Empty;
        if let Some(noted) = &self.noted {
            let away = if noted.iter().any(is_man) {
                noted.iter().zip(squares).filter(|(then, now)| is_man(then) && then != now).count()
            } else {
                squares.iter().filter(|reading| is_man(reading)).count()
            };
            if away > AWAY {
                self.noted = None;
            }
        }
        if self.noted.is_none()
            && let Some(mark) = mark_of(squares)
        {
            self.noted = Some(Box::new(*squares));
            self.mark(mark);
        }
    }

    fn mark(&mut self, mark: Mark) {
        self.write(Entry::Mark(mark));
    }

    fn write(&mut self, entry: Entry) {
        self.append(&storage::encode(&[entry]));
    }

    /// The oldest entries make room for the newest; the end of a download needs a byte, too.
    fn append(&mut self, bytes: &[u8]) {
        while self.bytes.len() + bytes.len() >= CAPACITY {
            let Some(first) = self.bytes.front() else { break };
            let whole = length(*first).min(self.bytes.len());
            self.bytes.drain(..whole);
        }
        self.bytes.extend(bytes);
        self.end += u64::try_from(bytes.len()).unwrap_or(0);
    }
}

/// The mark of a position, if it has one.
fn mark_of(squares: &Squares) -> Option<Mark> {
    let start = START.parse().map(|board| crate::wire::dgt::message::Dump::of(&board).0).ok()?;
    let turned = |squares: &Squares| {
        let mut other = *squares;
        other.reverse();
        other
    };
    if *squares == start {
        return Some(Mark::Start);
    }
    if *squares == turned(&start) {
        return Some(Mark::StartRotated);
    }
    let men = squares.iter().filter(|reading| **reading != Reading::Empty).count();
    let (outer, inner) = (16, 32);
    let between = squares.iter().skip(outer).take(inner).filter(|reading| **reading != Reading::Empty);
    match (men, between.count()) {
        (0, _) => Some(Mark::EmptyBoard),
        (32, 0) => Some(Mark::FourRows),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::dgt::message::Dump;

    fn squares(fen: &str) -> Squares {
        Dump::of(&fen.parse().unwrap()).0
    }

    #[test]
    fn positions_are_noted_once_until_more_than_two_men_have_left() {
        let mut log = Log::default();
        for fen in [
            START,
            "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R",
            START,
            "rnbqkb1r/pppp1ppp/5n2/4p3/8/5N2/PPPPPPPP/RNBQKB1R",
            START,
            "8/8/8/8/8/8/8/8",
            "8/8/8/8/8/8/8/4K2R",
            "8/8/8/8/8/8/8/8",
            "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr",
            "rnbbknqr/pppppppp/8/8/8/8/PPPPPPPP/RNBBKNQR",
        ] {
            log.position(&squares(fen));
        }
        let marks = storage::decode(&log.between(0, u64::MAX));
        let wanted = [Mark::Start, Mark::Start, Mark::EmptyBoard, Mark::StartRotated, Mark::FourRows];
        assert_eq!(marks, wanted.map(Entry::Mark));
    }

    #[test]
    fn the_ring_drops_whole_entries_and_never_grows() {
        let mut log = Log::default();
        for n in 0..20_000u64 {
            log.field(Square::E4, Reading::Empty, MonoTime::from_micros(n * 300_000));
            log.press(Press { by: shakmaty::Color::White, seconds: 60 }, n % 2 == 0);
            assert!(log.bytes.len() < CAPACITY);
        }
        let all = log.download();
        assert!(all.len() <= CAPACITY && all.len() > CAPACITY - 4, "{}", all.len());
        let entries = storage::decode(&all);
        assert_eq!(storage::encode(&entries), all, "no entry is cut");
        assert_eq!(log.end(), 20_000 * 5 + 1);
        assert_eq!(log.between(log.end() - 3, log.end() - 1), all[all.len() - 3..all.len() - 1]);
        assert!(log.between(5, 3).is_empty());
    }
}
