//! Time inside the pure core: integers that arrive as arguments and never a clock that is read.

use std::fmt;

/// A point of monotonic time in microseconds.
///
/// The zero is whatever the recording chose (boot, start of the log); only differences and the
/// order mean anything. The core clamps stamps so that they never run backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonoTime(u64);

impl MonoTime {
    /// The zero of the recording.
    pub const ZERO: MonoTime = MonoTime(0);
    /// A point that no recording reaches; used to fire every deadline at the end of a log.
    pub const END: MonoTime = MonoTime(u64::MAX);

    /// A point `us` microseconds after the zero.
    pub const fn from_micros(us: u64) -> MonoTime {
        MonoTime(us)
    }

    /// Microseconds since the zero.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Microseconds from `earlier` to `self`; 0 when `earlier` is later.
    pub const fn since(self, earlier: MonoTime) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The point `ms` milliseconds later, at most [`MonoTime::END`].
    pub const fn plus_ms(self, ms: u64) -> MonoTime {
        MonoTime(self.0.saturating_add(ms.saturating_mul(1000)))
    }

    /// The point `us` microseconds later, at most [`MonoTime::END`].
    pub const fn plus_micros(self, us: u64) -> MonoTime {
        MonoTime(self.0.saturating_add(us))
    }

    /// The sooner of two deadlines, of which each may be missing.
    pub(crate) fn sooner(one: Option<MonoTime>, other: Option<MonoTime>) -> Option<MonoTime> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
}

impl fmt::Display for MonoTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06} s", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}
