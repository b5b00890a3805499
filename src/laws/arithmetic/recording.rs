//! Whether a player must record, and what he may ask of the arbiter's record (Articles 8.4, A.4.3).

use super::clock::PerMove;
use crate::laws::settings::RecordSettings;

/// The duty of one player to record his moves, which ends for the rest of a period (Article 8.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordingDuty {
    was_below: bool,
}

impl RecordingDuty {
    /// A player of whom it is known whether he was below the threshold in this period.
    pub const fn with(was_below: bool) -> RecordingDuty {
        RecordingDuty { was_below }
    }

    /// A period begins: the duty is back.
    pub const fn period_begins(&mut self) {
        self.was_below = false;
    }

    /// The player was never below the threshold in this period, and is not now.
    pub const fn is_untouched(&self, settings: &RecordSettings, remaining_ms: u64) -> bool {
        !self.was_below && remaining_ms >= settings.threshold_ms
    }

    /// The player's remaining time in this period, in milliseconds; true where he must record. The
    /// limits are strict: with five minutes to the millisecond he still must.
    pub const fn observe(&mut self, settings: &RecordSettings, remaining_ms: u64, per_move: PerMove) -> bool {
        self.was_below |= remaining_ms < settings.threshold_ms;
        settings.required && (!self.was_below || has_time(settings, per_move))
    }
}

/// The additional time is enough to record with every move.
const fn has_time(settings: &RecordSettings, per_move: PerMove) -> bool {
    let counts = match per_move {
        PerMove::None => false,
        PerMove::Increment { .. } => true,
        PerMove::Delay { .. } | PerMove::Bronstein { .. } => settings.delay_counts,
    };
    counts && per_move.ms() >= settings.min_increment_ms
}

/// Whether a player's `number`-th request to see the arbiter's record, counted from 1, is one that he
/// may make (Articles A.4.3, B.2.3). One more distracts the opponent.
pub const fn request_allowed(settings: &RecordSettings, number: u32) -> bool {
    number <= settings.request_limit
}
