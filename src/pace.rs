//! How fast a recording or a simulation is played.

/// How many times as fast as it happened something is delivered: 1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Speed(u32);

impl Speed {
    /// As fast as it happened.
    pub const REAL_TIME: Speed = Speed(1);

    /// A factor from 1 to 1000.
    pub const fn new(factor: u32) -> Option<Speed> {
        if factor >= 1 && factor <= 1000 { Some(Speed(factor)) } else { None }
    }

    /// The factor.
    pub const fn factor(self) -> u32 {
        self.0
    }
}

impl Default for Speed {
    fn default() -> Speed {
        Speed::REAL_TIME
    }
}

impl std::fmt::Display for Speed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How a recording is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At a multiple of the time in which it happened; [`Speed::REAL_TIME`] is real time.
    At(Speed),
    /// Without waiting.
    AsFastAsPossible,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace::At(Speed::REAL_TIME)
    }
}
