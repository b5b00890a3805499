//! What is assumed of an external clock and of the way that its readings take.

use super::Span;

/// How a clock rounds its time to what it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// It shows whole units that are left: 59 as soon as less than a minute is left.
    Down,
    /// It shows a unit until it is used up: 60 until 59 seconds are left.
    Up,
}

impl Rounding {
    /// Both.
    pub const ALL: [Rounding; 2] = [Rounding::Down, Rounding::Up];

    /// The word of the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Rounding::Down => "down",
            Rounding::Up => "up",
        }
    }

    /// The times, in microseconds, for which a clock that counts in `unit` shows `value`.
    pub fn of(self, value: i64, unit: i64) -> Span {
        match self {
            Rounding::Down => Span::new(value, value.saturating_add(unit - 1)),
            Rounding::Up => Span::new(value.saturating_sub(unit - 1), value),
        }
    }
}

/// What is assumed of the clock and its link. `docs/clock.md` tells how to measure each number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// A message tells the state of the clock at some moment of so many milliseconds before it is read
    /// (`clock.reading_lag_ms`).
    pub lag_ms: u32,
    /// The clock runs by at most so many parts per million faster or slower than the monotonic clock
    /// (`clock.rate_ppm`).
    pub rate_ppm: u32,
    /// How it rounds; nothing: both are possible until the readings show it (`clock.rounding`).
    pub rounding: Option<Rounding>,
}

impl Model {
    /// Largest lag that is taken, in milliseconds.
    pub const MAX_LAG_MS: u32 = 5_000;
    /// Largest rate that is taken, in parts per million.
    pub const MAX_RATE_PPM: u32 = 2_000;

    /// The lag in microseconds, with room for the rate of the clock over it.
    pub(super) fn lag_us(&self) -> i64 {
        i64::from(self.lag_ms.min(Model::MAX_LAG_MS)) * 1000 + LAG_ROOM_US
    }
}

impl Default for Model {
    fn default() -> Model {
        Model { lag_ms: 1_000, rate_ppm: 500, rounding: None }
    }
}

/// Room for what a message takes on the line and until it is stamped, in microseconds.
const LAG_ROOM_US: i64 = 20_000;

/// What a time control says of a clock that somebody else keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// What every player has before the first move, in milliseconds, where it is known.
    pub start_ms: Option<u64>,
    /// What a move adds; nothing where it is not known.
    pub per_move: Option<PerMove>,
    /// What later periods add, in milliseconds.
    pub periods_ms: Vec<u64>,
}

/// What a move adds to the time of its player.
pub use crate::laws::arithmetic::clock::PerMove;
