//! Which lines came, by their numbers: what is missing, what came twice, what came late.

/// A line with an older number than this many before the last one is of another start of the board.
const BEHIND: u16 = 64;

/// Where a line stands among the lines before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the next one, behind so many that are missing.
    Next(u16),
    /// It was missing, and comes behind a later one.
    Late,
    /// It came before.
    Again,
}

/// The numbers that came, as far back as it matters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    /// The last number, and which of those before it came: bit 0 is the last one.
    last: Option<(u16, u64)>,
}

impl Order {
    /// A line with this number came.
    pub(super) fn take(&mut self, seq: u16) -> Place {
        let Some((last, came)) = &mut self.last else {
            self.last = Some((seq, u64::MAX));
            return Place::Next(0);
        };
        let behind = last.wrapping_sub(seq);
        if behind < BEHIND {
            let bit = 1u64 << behind;
            let again = *came & bit != 0;
            *came |= bit;
            return if again { Place::Again } else { Place::Late };
        }
        let ahead = seq.wrapping_sub(*last);
        *came = came.checked_shl(u32::from(ahead)).unwrap_or(0) | 1;
        *last = seq;
        Place::Next(ahead.wrapping_sub(1))
    }

    /// True where this number is the one behind the last one.
    pub(super) fn is_next(&self, seq: u16) -> bool {
        self.last.is_some_and(|(last, _)| last.wrapping_add(1) == seq)
    }

    /// A number that begins anew: the board has started again.
    pub(super) fn restart(&mut self, seq: u16) {
        self.last = Some((seq, u64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_comes_twice_or_late_is_not_lost() {
        let mut order = Order::default();
        let places: Vec<Place> =
            [65534, 65535, 65535, 1, 0, 0, 65534, 5, 4].map(|seq| order.take(seq)).into_iter().collect();
        let (next, late, again) = (Place::Next, Place::Late, Place::Again);
        assert_eq!(places, [next(0), next(0), again, next(1), late, again, again, next(3), late]);
    }

    proptest! {
        /// Lines that come in any order within the window, some of them twice: each one counts once.
        #[test]
        fn every_line_counts_once(first in any::<u16>(), steps in prop::collection::vec(0u16..40, 1..200)) {
            let mut order = Order::default();
            order.take(first);
            let mut seen = std::collections::BTreeSet::from([0u16]);
            let mut top = 0u16;
            for step in steps {
                // Somewhere in the window behind the last one, or a little ahead.
                let at = (top + 3).saturating_sub(step);
                let place = order.take(first.wrapping_add(at));
                if seen.insert(at) {
                    let expected = if at > top { Place::Next(at - top - 1) } else { Place::Late };
                    prop_assert_eq!(place, expected);
                } else {
                    prop_assert_eq!(place, Place::Again);
                }
                top = top.max(at);
            }
        }
    }
}
