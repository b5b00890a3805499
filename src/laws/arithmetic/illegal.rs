//! What an illegal move costs (Article 7.5.5; 2005: 7.4b, C.3).

use super::clock::PerMove;
use crate::laws::settings::IllegalSettings;

/// What the n-th illegal move of a player leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IllegalOutcome {
    /// The opponent gets more time.
    Bonus {
        /// Milliseconds.
        ms: u64,
    },
    /// The player loses the game.
    Loss,
    /// The player would lose, but the opponent cannot mate by any sequence of legal moves.
    Draw,
}

/// The penalty of a player's `number`-th illegal move, counted from 1 (Article 7.5.5; 2005: 7.4b, and
/// C.3 for the claim in blitz). `opponent_cannot_mate` is true only where that is proven.
pub fn outcome(settings: &IllegalSettings, number: u32, opponent_cannot_mate: bool) -> IllegalOutcome {
    if number < settings.loss_at {
        IllegalOutcome::Bonus { ms: settings.bonus_ms }
    } else if opponent_cannot_mate && settings.draw_if_opponent_cannot_mate {
        IllegalOutcome::Draw
    } else {
        IllegalOutcome::Loss
    }
}

/// The remaining times of the two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllegalTimes {
    /// That of the player who made the illegal move, in milliseconds.
    pub offender_ms: u64,
    /// That of his opponent, in milliseconds.
    pub opponent_ms: u64,
}

/// The times that are proposed after an illegal move that costs a bonus: the opponent gets
/// `bonus_ms`, and where the press of the illegal move added time, that is taken back (Articles 7.1,
/// 7.5.5; 2005: 6.14, 7.4b). `per_move` and `used_ms` are those of the illegal move.
pub fn times(
    settings: &IllegalSettings,
    before: IllegalTimes,
    bonus_ms: u64,
    per_move: PerMove,
    used_ms: u64,
) -> IllegalTimes {
    let added_ms = match per_move {
        PerMove::Increment { ms } => ms,
        PerMove::Bronstein { ms } => ms.min(used_ms),
        PerMove::None | PerMove::Delay { .. } => 0,
    };
    let removed_ms = if settings.remove_increment { added_ms } else { 0 };
    IllegalTimes {
        offender_ms: before.offender_ms.saturating_sub(removed_ms),
        opponent_ms: before.opponent_ms.saturating_add(bonus_ms),
    }
}
