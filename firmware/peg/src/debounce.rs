//! Debouncing of 64 inputs.

/// Debouncer of 64 contacts: a contact has changed once it has rested in its new state for so many
/// milliseconds. A shorter change is none.
#[derive(Clone, Debug)]
pub struct Debounce {
    close_ms: u16,
    open_ms: u16,
    raw: u64,
    settled: u64,
    /// When each contact changed last, on the clock of the board.
    since: [u32; 64],
}

impl Debounce {
    /// A debouncer of contacts that rest at `closed` (bit n is contact n).
    pub const fn new(closed: u64, close_ms: u16, open_ms: u16) -> Debounce {
        Debounce { close_ms, open_ms, raw: closed, settled: closed, since: [0; 64] }
    }

    /// The contacts as they count.
    pub const fn settled(&self) -> u64 {
        self.settled
    }

    /// Takes a reading; the contacts that have changed now. The clock may wrap.
    pub fn update(&mut self, now_ms: u32, raw: u64) -> u64 {
        let edges = raw ^ self.raw;
        self.raw = raw;
        let pending = raw ^ self.settled;
        if edges | pending == 0 {
            return 0;
        }
        let mut changed = 0;
        let mut bit = 1u64;
        for since in &mut self.since {
            if edges & bit != 0 {
                *since = now_ms;
            }
            if pending & bit != 0 {
                let rest_ms = if raw & bit == 0 { self.open_ms } else { self.close_ms };
                if now_ms.wrapping_sub(*since) >= u32::from(rest_ms) {
                    changed |= bit;
                }
            }
            bit = bit.wrapping_shl(1);
        }
        self.settled ^= changed;
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounce_is_one_change_after_its_rest_and_a_wiggle_is_none() {
        let mut debounce = Debounce::new(0, 5, 20);
        for (at, raw) in [(0, 1), (2, 0), (3, 1), (7, 1)] {
            assert_eq!(debounce.update(at, raw), 0, "{at}");
        }
        assert_eq!(debounce.update(8, 1), 1);
        for (at, raw) in [(100, 0), (119, 0), (119, 1), (200, 1)] {
            assert_eq!(debounce.update(at, raw), 0, "{at}");
        }
        assert_eq!(debounce.update(300, 0), 0);
        assert_eq!(debounce.update(320, 0), 1);
        assert_eq!(debounce.settled(), 0);
    }

    #[test]
    fn contacts_are_told_apart_and_the_clock_may_wrap() {
        let mut debounce = Debounce::new(1 << 63, 5, 5);
        let late = u32::MAX - 1;
        assert_eq!(debounce.update(late, 1), 0);
        assert_eq!(debounce.update(2, 1), 0);
        assert_eq!(debounce.update(3, 1), 1 | 1 << 63);
        assert_eq!(debounce.settled(), 1);
    }

    #[test]
    fn without_times_every_reading_counts() {
        let mut debounce = Debounce::new(0, 0, 0);
        assert_eq!(debounce.update(0, 6), 6);
        assert_eq!(debounce.update(0, 2), 4);
    }
}
