//! The walk over the 64 squares: one man is put on the square that is named and lifted again.

use shakmaty::{Bitboard, Square};

use super::{
    map::{Finding, Map},
    watch::Change,
};
use crate::session::time::MonoTime;

/// Contacts that close within this time were closed by the same man, in microseconds.
pub const TOGETHER_US: u64 = 250_000;

/// What the walker may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The man stands there and nothing happened: the square is dead.
    Dead,
    /// Leave it for later.
    Skip,
    /// The square before was wrong: walk it again.
    Back,
}

/// What happened in the walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The man stands: this is what sees it. It has to be lifted.
    Seen(Square, Vec<Square>),
    /// A square is done.
    Done(Square, Finding),
}

/// A walk.
#[derive(Clone, Debug)]
pub struct Walk {
    map: Map,
    /// Squares still to walk, the next one last.
    left: Vec<Square>,
    /// Squares that were walked, in order.
    done: Vec<Square>,
    /// What read occupied before the walk: it does not count.
    stuck: Bitboard,
    /// Contacts that the man closed, in the order in which they closed, since when.
    closed: Vec<Square>,
    since: Option<MonoTime>,
    /// Contacts that are still closed.
    held: Bitboard,
    told: bool,
}

impl Walk {
    /// A walk over the squares that `map` leaves open, on a board that reads `occupied`.
    pub fn new(map: Map, occupied: Bitboard) -> Walk {
        let mut left: Vec<Square> = map.open().collect();
        left.reverse();
        Walk {
            map,
            left,
            done: Vec::new(),
            stuck: occupied,
            closed: Vec::new(),
            since: None,
            held: Bitboard::EMPTY,
            told: false,
        }
    }

    /// The square that the man has to be put on; `None` when the walk is over.
    pub fn next(&self) -> Option<Square> {
        self.left.last().copied()
    }

    /// How many squares are left.
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// What was found so far.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// What reads occupied although nothing was put there.
    pub fn stuck(&self) -> Bitboard {
        self.stuck
    }

    /// Contacts that are closed now and were not before the walk.
    pub fn held(&self) -> Bitboard {
        self.held
    }

    /// A contact changed.
    pub fn change(&mut self, change: Change) -> Option<Step> {
        let Change { at, square, occupied } = change;
        if self.stuck.contains(square) {
            // A square that opens is stuck no longer, and counts from now on.
            if !occupied {
                self.stuck.discard(square);
            }
            return None;
        }
        self.held.set(square, occupied);
        if occupied {
            let since = *self.since.get_or_insert(at);
            if at.since(since) <= TOGETHER_US && !self.closed.contains(&square) {
                self.closed.push(square);
            }
            return None;
        }
        // A contact of a man that was lifted before its time was over counts all the same.
        if self.held.is_empty() && !self.closed.is_empty() {
            return self.finish();
        }
        None
    }

    /// Time has come to `now`: the man has stood for long enough to be told what sees it.
    pub fn advance(&mut self, now: MonoTime) -> Option<Step> {
        let since = self.since?;
        if self.told || now.since(since) <= TOGETHER_US {
            return None;
        }
        self.told = true;
        Some(Step::Seen(self.next()?, self.closed.clone()))
    }

    fn finish(&mut self) -> Option<Step> {
        let mut contacts = std::mem::take(&mut self.closed);
        (self.since, self.told) = (None, false);
        let finding = match contacts.as_slice() {
            [only] => Finding::Contact(*only),
            _ => {
                contacts.sort();
                Finding::Several(contacts)
            }
        };
        self.settle(finding)
    }

    fn settle(&mut self, finding: Finding) -> Option<Step> {
        let square = self.left.pop()?;
        self.map.set(square, finding.clone());
        self.done.push(square);
        Some(Step::Done(square, finding))
    }

    /// The walker says something.
    pub fn say(&mut self, word: Word) -> Option<Step> {
        self.closed.clear();
        (self.since, self.told) = (None, false);
        match word {
            Word::Dead => self.settle(Finding::Dead),
            Word::Skip => {
                let square = self.left.pop()?;
                Some(Step::Done(square, Finding::Open))
            }
            Word::Back => {
                let square = self.done.pop()?;
                self.map.set(square, Finding::Open);
                self.left.push(square);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Hand {
        walk: Walk,
        at: u64,
    }

    impl Hand {
        fn new() -> Hand {
            Hand { walk: Walk::new(Map::default(), Bitboard::EMPTY), at: 0 }
        }

        fn change(&mut self, square: Square, occupied: bool, after_ms: u64) -> Option<Step> {
            self.at += after_ms * 1000;
            let at = MonoTime::from_micros(self.at);
            let seen = self.walk.advance(at);
            seen.or(self.walk.change(Change { at, square, occupied }))
        }

        fn put(&mut self, contacts: &[Square]) {
            for contact in contacts {
                self.change(*contact, true, 5);
            }
            for contact in contacts {
                self.change(*contact, false, 400);
            }
        }
    }

    #[test]
    fn a_man_that_is_put_down_and_lifted_is_one_square() {
        let mut hand = Hand::new();
        assert_eq!(hand.walk.next(), Some(Square::A1));
        assert_eq!(hand.change(Square::C3, true, 100), None);
        let seen = hand.walk.advance(MonoTime::from_micros(hand.at + TOGETHER_US + 1));
        assert_eq!(seen, Some(Step::Seen(Square::A1, vec![Square::C3])));
        assert_eq!(hand.walk.advance(MonoTime::END), None, "told once");
        assert_eq!(
            hand.change(Square::C3, false, 1000),
            Some(Step::Done(Square::A1, Finding::Contact(Square::C3)))
        );
        assert_eq!((hand.walk.next(), hand.walk.left()), (Some(Square::B1), 63));
    }

    #[test]
    fn two_contacts_at_once_are_told_and_stuck_ones_do_not_count() {
        let mut walk = Walk::new(Map::default(), Bitboard::from_square(Square::H8));
        let mut change = |ms: u64, square, occupied| {
            walk.change(Change { at: MonoTime::ZERO.plus_ms(ms), square, occupied })
        };
        change(0, Square::B1, true);
        change(10, Square::A1, true);
        assert_eq!(change(500, Square::B1, false), None, "the man is not lifted yet");
        let several = Finding::Several(vec![Square::A1, Square::B1]);
        assert_eq!(change(501, Square::A1, false), Some(Step::Done(Square::A1, several)));
        assert_eq!(change(600, Square::H8, false), None);
        change(700, Square::H8, true);
        assert_eq!(
            change(900, Square::H8, false),
            Some(Step::Done(Square::B1, Finding::Contact(Square::H8))),
            "it came loose and counts"
        );
    }

    #[test]
    fn the_walker_can_say_dead_later_and_back() {
        let mut hand = Hand::new();
        assert_eq!(hand.walk.say(Word::Back), None);
        assert_eq!(hand.walk.say(Word::Dead), Some(Step::Done(Square::A1, Finding::Dead)));
        assert_eq!(hand.walk.say(Word::Skip), Some(Step::Done(Square::B1, Finding::Open)));
        hand.put(&[Square::C1]);
        hand.put(&[Square::C1]);
        assert_eq!(hand.walk.map().doubled(), [(Square::C1, vec![Square::C1, Square::D1])]);
        hand.walk.say(Word::Back);
        assert_eq!(hand.walk.next(), Some(Square::D1));
        hand.put(&[Square::D1]);
        assert_eq!(hand.walk.map().dead(), [Square::A1]);
        let again = Walk::new(hand.walk.map().clone(), Bitboard::EMPTY);
        assert_eq!((again.next(), again.left()), (Some(Square::B1), 61), "it goes on where it was left");
    }

    proptest! {
        /// Whatever the wiring is, a walk finds it, also when it is interrupted anywhere.
        #[test]
        fn any_wiring_is_found(wiring in Just((0u32..64).collect::<Vec<_>>()).prop_shuffle(), cut in 0usize..64) {
            let mut hand = Hand::new();
            for (index, contact) in wiring.iter().enumerate() {
                if index == cut {
                    let kept = Map::from_file(&hand.walk.map().to_file("x")).unwrap();
                    hand.walk = Walk::new(kept, Bitboard::EMPTY);
                }
                hand.put(&[Square::new(*contact)]);
            }
            prop_assert_eq!(hand.walk.next(), None);
            prop_assert!(hand.walk.map().is_whole());
            for (square, contact) in Square::ALL.into_iter().zip(&wiring) {
                prop_assert_eq!(hand.walk.map().square_of(Square::new(*contact)), Some(square));
            }
        }
    }
}
