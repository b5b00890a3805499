//! Time controls (Articles 6.2, 6.3): their notation, and what others write for them.
//!
//! The notation of this program is that of the PGN tag, `40/5400+30:1800+30`, with a delay (`d`) and
//! Bronstein's way (`b`) besides. `90min/40 + 30min + 30s` is read, too; a control is always written back in the
//! first form. Two players may have different times ([`GameControl`]).

mod friendly;
mod game;
mod period;

use std::{fmt, str::FromStr};

pub use self::{
    game::GameControl,
    period::{Extra, Period},
};

/// A player's time control: its periods, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeControl {
    periods: Vec<Period>,
}

/// Why a text is not a time control.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TimeControlError {
    /// A period does not follow the notation.
    #[error(
        "period {period:?} is not [moves/]seconds[+increment] (d instead of + for a delay, b for Bronstein); write 40/5400+30:1800+30 or \"90min/40 + 30min + 30s\" for 90 minutes for 40 moves, then 30 minutes, with 30 seconds a move"
    )]
    Notation {
        /// The period, as given.
        period: String,
    },
    /// A number is out of range.
    #[error("period {period:?}: {what} must be from {min} to {max}")]
    Range {
        /// The period, as given.
        period: String,
        /// Which number.
        what: &'static str,
        /// Smallest value.
        min: u32,
        /// Largest value.
        max: u32,
    },
    /// A period that is not the last one has no number of moves.
    #[error("period {period:?} needs a number of moves, since another period follows it")]
    Moves {
        /// The period, as given.
        period: String,
    },
    /// Both players use up one time: no rule of the Laws knows that.
    #[error(
        "{text:?}: an hourglass, where one player's time runs into the other's, is no time control of the Laws and is not kept here; write a time for each player"
    )]
    Hourglass {
        /// The text, as given.
        text: String,
    },
    /// Two controls for each side, or more than two.
    #[error("{text:?}: expected one time control, or White's and Black's with one | in between")]
    Sides {
        /// The text, as given.
        text: String,
    },
}

impl TimeControl {
    /// The periods, in order; at least one.
    pub fn periods(&self) -> &[Period] {
        &self.periods
    }

    /// `T` of the classification in milliseconds: the main times of all periods and 60 times the
    /// seconds a move of the first one (Articles A.1, B.1; 2005: B.1, C.1). A delay counts like an
    /// increment.
    pub fn class_ms(&self) -> u64 {
        let main: u64 = self.periods.iter().map(|period| u64::from(period.seconds)).sum();
        let a_move = self.periods.first().map_or(0, |period| u64::from(period.increment));
        main.saturating_add(a_move * 60).saturating_mul(1000)
    }

    /// The value of the PGN tag `TimeControl` (section 9.6 of the standard). PGN knows no delay: nothing for
    /// one.
    pub fn pgn(&self) -> Option<String> {
        let plain = |period: &Period| period.increment == 0 || period.extra == Extra::Increment;
        self.periods.iter().all(plain).then(|| self.to_string())
    }

    /// The same as people write it, `1h30min/40 + 30min + 30s`; nothing where what a move gives differs between periods.
    pub fn in_words(&self) -> Option<String> {
        friendly::write(&self.periods)
    }

    /// What Lichess reads in the same tag: `a+b`, where `a` up to 180 is minutes and more is seconds, and `b`
    /// is the seconds a move. It knows one period, so that a longer control is told by its first one.
    /// Nothing for what it cannot read or would take for something else: part of a minute up to three
    /// minutes, a delay.
    pub fn lichess(&self) -> Option<String> {
        const MOST_MINUTES: u32 = 180;
        let first = self.periods.first()?;
        if first.increment > 0 && first.extra != Extra::Increment {
            return None;
        }
        let minutes = first.seconds / 60;
        let base = match first.seconds % 60 {
            0 if minutes <= MOST_MINUTES => minutes,
            _ if first.seconds > MOST_MINUTES => first.seconds,
            _ => return None,
        };
        Some(format!("{base}+{}", first.increment))
    }
}

impl FromStr for TimeControl {
    type Err = TimeControlError;

    fn from_str(text: &str) -> Result<TimeControl, TimeControlError> {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        if text.starts_with('*') || ["hourglass", "sandclock"].iter().any(|word| lower.contains(word)) {
            return Err(TimeControlError::Hourglass { text: text.to_owned() });
        }
        let periods = if friendly::is_friendly(text) { friendly::read(text)? } else { compact(text)? };
        let last = periods.len().saturating_sub(1);
        if let Some((period, _)) =
            periods.iter().zip(0..).find(|(period, index)| period.moves.is_none() && *index < last)
        {
            return Err(TimeControlError::Moves { period: period.to_string() });
        }
        Ok(TimeControl { periods })
    }
}

fn compact(text: &str) -> Result<Vec<Period>, TimeControlError> {
    text.split(':').map(str::parse).collect()
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, period) in self.periods.iter().enumerate() {
            if index > 0 {
                f.write_str(":")?;
            }
            write!(f, "{period}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
