//! Adjourned games (Guideline I; 2005: Annex A).

use shakmaty::Color;

use super::default_time::DefaultCheck;
use crate::laws::settings::{AbsentBoth, AdjournmentRules, AdjournmentSettings, EarlyAdjournment};

/// The time of a player who seals before the end of the session, in milliseconds: what is left of the
/// session is his (Guideline I.1.2; 2005: A.1b).
pub const fn sealed_early(remaining_ms: u64, session_left_ms: u64) -> u64 {
    remaining_ms.saturating_sub(session_left_ms)
}

/// Whether the player having the move may adjourn now. `control_made`: both have completed the moves of
/// a control.
pub const fn early_allowed(settings: &AdjournmentSettings, control_made: bool) -> bool {
    match (settings.rules, settings.early) {
        (AdjournmentRules::None, _) => false,
        (_, EarlyAdjournment::PlayerToMove) => true,
        (_, EarlyAdjournment::AfterControl) => control_made,
    }
}

/// The time that a player has used, as the envelope states it, in milliseconds (Guideline I.2, I.5;
/// 2005: A.2, A.5). `allotted_ms` includes the increments.
pub const fn time_used(allotted_ms: u64, remaining_ms: u64) -> u64 {
    allotted_ms.saturating_sub(remaining_ms)
}

/// The side whose clock is started when both players are absent at the resumption (Guideline I.11);
/// nothing where the arbiter decides.
pub const fn runs_while_absent(settings: &AdjournmentSettings, sealer: Color) -> Option<Color> {
    match settings.absent_both_clock {
        AbsentBoth::Replier => Some(sealer.other()),
        AbsentBoth::Sealer => Some(sealer),
        AbsentBoth::Arbiter => None,
    }
}

/// What the sealed move is worth to the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedMove {
    /// It mates.
    Mate,
    /// It ends the game in a draw: stalemate, dead position.
    Draw,
    /// The game goes on.
    GoesOn,
}

/// What a late arrival at the resumption leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateOutcome {
    /// The player is in time.
    InTime,
    /// He loses, unless the arbiter decides otherwise.
    Loses(Color),
    /// The sealed move mated: this side wins.
    Wins(Color),
    /// The sealed move ended the game in a draw.
    Draw,
    /// The present player had lost on time before (2005: Annex A.10).
    PresentPlayerLost(Color),
}

/// What a player who arrives late at the resumption faces (Guideline I.10; 2005: Annex A.10).
/// `present_flag`: the flag of the player who is present has fallen, without the moves that it required.
pub fn late_at_resumption(
    settings: &AdjournmentSettings,
    late: Color,
    check: DefaultCheck,
    sealer: Color,
    sealed: SealedMove,
    present_flag: bool,
) -> LateOutcome {
    match sealed {
        _ if !check.lost => LateOutcome::InTime,
        SealedMove::Mate => LateOutcome::Wins(sealer),
        SealedMove::Draw => LateOutcome::Draw,
        SealedMove::GoesOn if present_flag && settings.rules == AdjournmentRules::AnnexA => {
            LateOutcome::PresentPlayerLost(late.other())
        }
        SealedMove::GoesOn => LateOutcome::Loses(late),
    }
}
