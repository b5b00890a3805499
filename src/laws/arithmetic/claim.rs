//! What an incorrect draw claim costs (Article 9.5.3; 2005: 9.5b).

use crate::laws::settings::{ClaimantPenalty, DrawSettings};

/// The longest deduction from the claimant's time, in milliseconds (2005: Article 9.5b).
const LONGEST_DEDUCTION_MS: u64 = 180_000;
/// What the deduction leaves of more, in milliseconds.
const FLOOR_MS: u64 = 60_000;

/// The remaining times of the two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimTimes {
    /// That of the player who claims, in milliseconds.
    pub claimant_ms: u64,
    /// That of his opponent, in milliseconds.
    pub opponent_ms: u64,
}

/// The times after a claim that was found incorrect (Article 9.5.3 and, with the bonus of rapid and
/// blitz, A.3; 2005: 9.5b).
pub fn incorrect_claim(settings: &DrawSettings, before: ClaimTimes) -> ClaimTimes {
    ClaimTimes {
        claimant_ms: match settings.incorrect_claim {
            ClaimantPenalty::None => before.claimant_ms,
            ClaimantPenalty::Halving => halved(before.claimant_ms),
        },
        opponent_ms: before.opponent_ms.saturating_add(settings.incorrect_claim_bonus_ms),
    }
}

/// Half of the time is deducted, at most three minutes; more than one minute does not become less
/// than one. The text leaves exactly two minutes and exactly one open: both follow from their
/// neighbours. An odd millisecond stays with the claimant.
fn halved(remaining_ms: u64) -> u64 {
    let kept_ms = remaining_ms - (remaining_ms / 2).min(LONGEST_DEDUCTION_MS);
    kept_ms.max(remaining_ms.min(FLOOR_MS))
}
