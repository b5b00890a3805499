//! What waits to be sent.

use crate::message::{Peg, Side, SquareIndex};

/// How many changes may wait: a whole board that is swept clean.
pub const QUEUE: usize = 64;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Peg(SquareIndex, Peg),
    Press(Side),
    /// The number of a key.
    Key(u8),
}

/// Something that happened, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) ms: u32,
    pub(crate) what: What,
}

/// First in, first out; what finds no place is dropped, and that is remembered.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    places: [Option<Waiting>; QUEUE],
    first: usize,
    len: usize,
    overflowed: bool,
}

impl Queue {
    pub(crate) const fn new() -> Queue {
        Queue { places: [None; QUEUE], first: 0, len: 0, overflowed: false }
    }

    pub(crate) fn push(&mut self, waiting: Waiting) {
        let place = self.first.wrapping_add(self.len) % QUEUE;
        match self.places.get_mut(place) {
            Some(place) if self.len < QUEUE => {
                *place = Some(waiting);
                self.len = self.len.saturating_add(1);
            }
            _ => self.overflowed = true,
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.places.get_mut(self.first)?.take()?;
        self.first = self.first.wrapping_add(1) % QUEUE;
        self.len = self.len.saturating_sub(1);
        Some(waiting)
    }

    /// True once after something was dropped, when the queue is empty.
    pub(crate) fn take_overflow(&mut self) -> bool {
        self.len == 0 && core::mem::take(&mut self.overflowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_comes_in_order_and_too_much_is_noticed() {
        let mut queue = Queue::new();
        let one = |ms| Waiting { ms, what: What::Key(0) };
        for turn in 0..3 {
            (0..QUEUE as u32).for_each(|n| queue.push(one(n)));
            assert!(!queue.take_overflow());
            if turn == 2 {
                queue.push(one(99));
            }
            assert_eq!(queue.pop(), Some(one(0)));
            assert!(!queue.take_overflow(), "not before the rest is told");
            (1..QUEUE as u32).for_each(|n| assert_eq!(queue.pop(), Some(one(n))));
            assert_eq!(queue.pop(), None);
        }
        assert!(queue.take_overflow() && !queue.take_overflow());
    }
}
