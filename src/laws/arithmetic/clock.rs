//! What a move leaves on a clock (Article 6.3.1; 2005: 6.2b).

use crate::laws::{
    settings::ClockMode,
    time_control::{Extra, Period},
};

/// Additional time for each move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PerMove {
    /// None.
    #[default]
    None,
    /// Added when the move is completed; what was saved is kept (cumulative, "Fischer").
    Increment {
        /// Milliseconds a move.
        ms: u64,
    },
    /// The main time waits for so long; what was saved is lost.
    Delay {
        /// Milliseconds a move.
        ms: u64,
    },
    /// What the move took is added when it is completed, at most this; the main time never grows.
    Bronstein {
        /// Milliseconds a move.
        ms: u64,
    },
}

impl PerMove {
    /// The additional time of a period, of the kind that `clock.mode` says.
    pub fn of(period: &Period, mode: ClockMode) -> PerMove {
        let ms = u64::from(period.increment) * 1000;
        match mode {
            _ if ms == 0 => PerMove::None,
            ClockMode::None => PerMove::None,
            ClockMode::Auto => match period.extra {
                Extra::Increment => PerMove::Increment { ms },
                Extra::Delay => PerMove::Delay { ms },
                Extra::Bronstein => PerMove::Bronstein { ms },
            },
            ClockMode::Fischer => PerMove::Increment { ms },
            ClockMode::Delay => PerMove::Delay { ms },
            ClockMode::Bronstein => PerMove::Bronstein { ms },
        }
    }

    /// Milliseconds a move, whatever the kind.
    pub const fn ms(self) -> u64 {
        match self {
            PerMove::None => 0,
            PerMove::Increment { ms } | PerMove::Delay { ms } | PerMove::Bronstein { ms } => ms,
        }
    }
}

/// What a clock shows after a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterMove {
    /// Time is left.
    Left {
        /// Milliseconds.
        ms: u64,
    },
    /// The time ran out before the move was completed: the flag has fallen, and nothing is added.
    Flag,
}

impl AfterMove {
    /// What the clock shows, in milliseconds; 0 for a fallen flag.
    pub const fn ms(self) -> u64 {
        match self {
            AfterMove::Left { ms } => ms,
            AfterMove::Flag => 0,
        }
    }
}

/// The clock after a move that took `used_ms`, with `before_ms` on it at its beginning (Article 6.3.1;
/// 2005: 6.2b). Time that is used up to the last millisecond is a fallen flag.
pub fn after_move(before_ms: u64, used_ms: u64, per_move: PerMove) -> AfterMove {
    let (charged_ms, added_ms) = match per_move {
        PerMove::None => (used_ms, 0),
        PerMove::Increment { ms } => (used_ms, ms),
        PerMove::Delay { ms } => (used_ms.saturating_sub(ms), 0),
        PerMove::Bronstein { ms } => (used_ms, ms.min(used_ms)),
    };
    // Within a delay, the main time does not run: there is nothing to overstep.
    let ran = charged_ms > 0;
    match before_ms.checked_sub(charged_ms) {
        Some(ms) if ms > 0 || !ran => AfterMove::Left { ms: ms.saturating_add(added_ms) },
        _ => AfterMove::Flag,
    }
}

/// A clock that ran for so long without a move (Articles 6.7.2 and 7.1; 2005: 6.6 and 6.14). Milliseconds.
pub const fn after_running(before_ms: u64, elapsed_ms: u64) -> u64 {
    before_ms.saturating_sub(elapsed_ms)
}

/// A clock that ran between two moments, in milliseconds.
pub const fn after_running_between(before_ms: u64, from_ms: u64, to_ms: u64) -> u64 {
    after_running(before_ms, to_ms.saturating_sub(from_ms))
}

/// A clock whose time the arbiter changes: the time of the next period, a penalty, time for a
/// disturbance (Articles 6.3.1, 12.9; 2005: 6.2, 13.4, 13.5). Milliseconds; a deduction is negative.
pub const fn adjusted(before_ms: u64, change_ms: i64) -> u64 {
    before_ms.saturating_add_signed(change_ms)
}
