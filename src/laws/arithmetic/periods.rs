//! Periods of a time control and the moves that they require (Articles 6.2 to 6.4; 2005: 6.2, 6.3).

use super::clock::PerMove;
use crate::laws::{
    settings::ClockSettings,
    time_control::{Period, TimeControl},
};

/// What was required of a player whose flag has fallen, and what he completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagCheck {
    /// Moves that he completed since the beginning of the game.
    pub completed: u32,
    /// Moves that he had to complete by the end of the period; nothing: all moves of the game.
    pub required: Option<u32>,
    /// He completed them.
    pub met: bool,
}

impl FlagCheck {
    /// Compares the two (Article 6.4; 2005: 6.3). Nobody completes all moves of a game that goes on.
    pub const fn new(completed: u32, required: Option<u32>) -> FlagCheck {
        let met = match required {
            Some(required) => completed >= required,
            None => false,
        };
        FlagCheck { completed, required, met }
    }

    /// Checks a player whose flag has fallen in a period, counted from 0.
    pub fn in_period(control: &TimeControl, period: usize, completed: u32) -> FlagCheck {
        FlagCheck::new(completed, required_moves(control, period))
    }
}

/// The moves that must be completed by the end of a period, counted from 0, since the beginning of
/// the game; nothing for a period that holds all remaining moves, and after the last one.
pub fn required_moves(control: &TimeControl, period: usize) -> Option<u32> {
    let periods = control.periods().get(..=period)?;
    periods.iter().try_fold(0u32, |sum, period| Some(sum.saturating_add(period.moves?)))
}

/// The period, counted from 0, of the next move of a player who completed so many moves. After the
/// moves of the last period it is the last one.
pub fn period_of(control: &TimeControl, completed: u32) -> usize {
    let last = control.periods().len().saturating_sub(1);
    (0..last)
        .find(|period| required_moves(control, *period).is_none_or(|moves| completed < moves))
        .unwrap_or(last)
}

/// True for the last period: the game must end in it.
pub fn is_last(control: &TimeControl, period: usize) -> bool {
    period >= control.periods().len().saturating_sub(1)
}

/// What a clock shows before the first move, in milliseconds. A clock whose first move has an increment
/// shows it from the start (`clock.first_move_increment`).
pub fn initial_ms(control: &TimeControl, clock: &ClockSettings) -> u64 {
    control.periods().first().map_or(0, |period| period_ms(period, clock))
}

/// What the beginning of a period adds, in milliseconds (Article 6.3.1; 2005: 6.2).
pub fn added_ms(control: &TimeControl, period: usize) -> Option<u64> {
    control.periods().get(period).map(main_ms)
}

/// What a player was given by the time that he completed so many moves, in milliseconds: the main times
/// of the periods that have begun, and the increments.
pub fn allotted_ms(control: &TimeControl, clock: &ClockSettings, completed: u32) -> u64 {
    let now = period_of(control, completed);
    let mut from = 0;
    let mut sum = 0u64;
    for (index, period) in control.periods().iter().enumerate().take(now + 1) {
        let to = match required_moves(control, index) {
            Some(moves) if index < now => moves,
            _ => completed,
        };
        let moves = u64::from(to.saturating_sub(from));
        sum = sum.saturating_add(main_ms(period)).saturating_add(increment_ms(period, clock) * moves);
        from = to;
    }
    let first = control.periods().first().filter(|_| clock.first_move_increment);
    sum.saturating_add(first.map_or(0, |period| increment_ms(period, clock)))
}

fn period_ms(period: &Period, clock: &ClockSettings) -> u64 {
    main_ms(period) + if clock.first_move_increment { increment_ms(period, clock) } else { 0 }
}

fn main_ms(period: &Period) -> u64 {
    u64::from(period.seconds) * 1000
}

/// What each move adds without condition.
fn increment_ms(period: &Period, clock: &ClockSettings) -> u64 {
    match PerMove::of(period, clock.mode) {
        PerMove::Increment { ms } => ms,
        _ => 0,
    }
}
