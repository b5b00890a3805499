//! Shares and spans of time.

/// How often something happens: occasions of 100 000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u32);

impl Rate {
    /// Occasions that a rate counts in.
    pub const WHOLE: u32 = 100_000;
    /// Never.
    pub const NEVER: Rate = Rate(0);
    /// Every time.
    pub const ALWAYS: Rate = Rate(Rate::WHOLE);

    /// A rate of `per_100_000`, at most always.
    pub const fn new(per_100_000: u32) -> Rate {
        Rate(if per_100_000 > Rate::WHOLE { Rate::WHOLE } else { per_100_000 })
    }

    /// Occasions of 100 000.
    pub const fn per_100_000(self) -> u32 {
        self.0
    }
}

/// A span of time in milliseconds, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    low: u32,
    high: u32,
}

impl Span {
    /// From `low_ms` to `high_ms`; the ends are put in order.
    pub const fn ms(low_ms: u32, high_ms: u32) -> Span {
        if low_ms <= high_ms {
            Span { low: low_ms, high: high_ms }
        } else {
            Span { low: high_ms, high: low_ms }
        }
    }

    /// Both ends in milliseconds.
    pub const fn ends(self) -> (u32, u32) {
        (self.low, self.high)
    }

    pub(super) fn micros(self) -> (u64, u64) {
        (u64::from(self.low) * 1000, u64::from(self.high) * 1000)
    }
}
