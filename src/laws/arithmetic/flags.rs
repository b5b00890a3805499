//! Both flags have fallen (Article 6.9, Guideline III.3.1; 2005: 6.12, B.9).

use shakmaty::Color;

use crate::laws::settings::{BothFlags, BothUnknown, Discipline, LawSettings};

/// What follows when both flags are down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BothFlagsOutcome {
    /// The flag of this side fell first: it is the one that counts.
    First(Color),
    /// The game is drawn.
    Draw,
    /// The game continues.
    Continue,
    /// The Laws do not say; the arbiter decides.
    Arbiter,
}

/// What two fallen flags lead to, `first` being the side whose flag fell first where the clock tells
/// it. In a period that is not the last one, an unknown order lets the game continue.
pub fn both_flags(settings: &LawSettings, first: Option<Color>, last_period: bool) -> BothFlagsOutcome {
    let fast = settings.discipline != Discipline::Standard;
    match first {
        _ if fast && settings.flag.both_rapid == BothFlags::Draw => BothFlagsOutcome::Draw,
        Some(side) => BothFlagsOutcome::First(side),
        None if !last_period => BothFlagsOutcome::Continue,
        None => match settings.flag.both_unknown_last_period {
            BothUnknown::Draw => BothFlagsOutcome::Draw,
            BothUnknown::Continue => BothFlagsOutcome::Continue,
            BothUnknown::Arbiter => BothFlagsOutcome::Arbiter,
        },
    }
}
