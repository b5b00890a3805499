//! The quickplay finish (Guideline III; 2005: Article 10 and Annex D).

use super::clock::PerMove;
use crate::laws::settings::{Discipline, LawSettings, Quickplay};

/// A player with less than this may claim, in milliseconds (Guideline III.4, III.5; 2005: Article 10.2).
pub const THRESHOLD_MS: u64 = 120_000;
/// What the opponent gets when the claim is rejected or postponed, or with the five-second mode, in
/// milliseconds.
pub const BONUS_MS: u64 = 120_000;
/// The additional time of the five-second mode, in milliseconds a move (Guideline III.4).
pub const FIVE_SECONDS_MS: u64 = 5000;

/// What a claim meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// The claimant's remaining time in milliseconds.
    pub remaining_ms: u64,
    /// The claimant has the move.
    pub to_move: bool,
    /// The claimant's flag has fallen.
    pub flag_fallen: bool,
    /// All remaining moves must be made in this period.
    pub last_period: bool,
    /// The additional time that is in force.
    pub per_move: PerMove,
}

/// Why no claim can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotEligible {
    /// No quickplay finish was announced (Guideline III.2.1).
    NotAnnounced,
    /// Blitz has none (Guideline III.2.2; 2005: Article C.2).
    Blitz,
    /// There is additional time: the remaining moves have no limited time (Guideline III.2.2; 2005:
    /// Article 10.1).
    AdditionalTime,
    /// A period with a number of moves still runs (2005: Article 10.1).
    EarlierPeriod,
    /// The claimant's flag has fallen.
    FlagFallen,
    /// The opponent has the move.
    NotToMove,
    /// Two minutes or more are left.
    TooMuchTime,
}

impl NotEligible {
    /// True where the game has no quickplay finish at all: there is nothing to claim, whatever the clock shows.
    pub const fn is_for_all(self) -> bool {
        matches!(self, NotEligible::NotAnnounced | NotEligible::Blitz | NotEligible::AdditionalTime)
    }
}

/// Whether a player may make the claim (Guideline III.4 and III.5; 2005: Article 10.2). Whether it is
/// right is the arbiter's finding.
///
/// # Errors
/// The first reason against it.
pub fn eligible(settings: &LawSettings, claim: &Circumstances) -> Result<(), NotEligible> {
    first_reason(settings, claim, settings.quickplay != Quickplay::Off)
}

/// Whether a player may ask for the five-second mode, and which one the event has (Guideline III.4). The conditions
/// are those of a claim.
///
/// # Errors
/// The first reason against it.
pub fn five_seconds(settings: &LawSettings, request: &Circumstances) -> Result<PerMove, NotEligible> {
    let mode = five_second_mode(settings);
    first_reason(settings, request, mode.is_some())?;
    mode.ok_or(NotEligible::NotAnnounced)
}

fn first_reason(settings: &LawSettings, claim: &Circumstances, announced: bool) -> Result<(), NotEligible> {
    let reasons = [
        (settings.discipline == Discipline::Blitz, NotEligible::Blitz),
        (!announced, NotEligible::NotAnnounced),
        (claim.per_move.ms() > 0, NotEligible::AdditionalTime),
        (!claim.last_period, NotEligible::EarlierPeriod),
        (claim.flag_fallen, NotEligible::FlagFallen),
        (!claim.to_move, NotEligible::NotToMove),
        (claim.remaining_ms >= THRESHOLD_MS, NotEligible::TooMuchTime),
    ];
    reasons.into_iter().find(|(holds, _)| *holds).map_or(Ok(()), |(_, reason)| Err(reason))
}

/// The opponent's time with the bonus, in milliseconds.
pub const fn with_bonus(opponent_ms: u64) -> u64 {
    opponent_ms.saturating_add(BONUS_MS)
}

/// The additional time of the five-second mode, for both players, where the event has it (Guideline
/// III.4: an increment; the Ukrainian text lets it be a delay).
pub const fn five_second_mode(settings: &LawSettings) -> Option<PerMove> {
    match settings.quickplay {
        Quickplay::FiveSecond => Some(PerMove::Increment { ms: FIVE_SECONDS_MS }),
        Quickplay::FiveSecondDelay => Some(PerMove::Delay { ms: FIVE_SECONDS_MS }),
        Quickplay::Off | Quickplay::On | Quickplay::NoArbiter => None,
    }
}
