//! What the estimator finds out.

use shakmaty::Color;

use super::Span;
use crate::session::time::MonoTime;

/// A time that is known within bounds, in microseconds. It contains at least one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The best guess.
    pub us: u64,
    /// The smallest value that the readings allow.
    pub low_us: u64,
    /// The largest one.
    pub high_us: u64,
}

impl Estimate {
    /// The estimate of an interval; a clock shows no time below zero.
    pub(super) fn of(span: Span) -> Estimate {
        let of = |us: i64| u64::try_from(us).unwrap_or(0);
        Estimate { us: of(span.middle()), low_us: of(span.lo), high_us: of(span.hi) }
    }

    /// The distance of its bounds, in microseconds.
    pub const fn width_us(&self) -> u64 {
        self.high_us.saturating_sub(self.low_us)
    }
}

/// How the times of a clock changed in another way than by running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Somebody set the time of a side.
    Adjusted,
    /// The same, by more than an hour.
    Jump,
    /// The clock added the time of another period.
    Period,
}

/// What the readings show beyond the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The time of a side was changed at the clock.
    Changed {
        /// What kind of change.
        change: Change,
        /// Whose time.
        side: Color,
        /// What the clock would have shown, in milliseconds.
        before_ms: u64,
        /// What it shows, in milliseconds.
        after_ms: u64,
        /// The first message that showed it.
        seen: MonoTime,
    },
    /// The clock says that it runs, and its time stands.
    Frozen {
        /// Whose time should run.
        side: Color,
        /// What it shows, in milliseconds.
        shown_ms: u64,
        /// When it fell last.
        since: MonoTime,
    },
    /// The clock stands, nobody stopped it by an event of its own, and moves are made.
    Standing,
    /// The times fall for the player who does not have the move, again and again.
    Exchanged,
    /// The opponent has pressed in turn: what is known of a player's press is complete.
    Pressed {
        /// Who had pressed.
        by: Color,
        /// The time that he had left after it.
        left: Estimate,
        /// The press was not before this moment.
        from: MonoTime,
        /// Nor after this one.
        to: MonoTime,
    },
}
