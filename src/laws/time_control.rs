//! The notation of time controls: `40/5400+30:1800+30`.

use std::{fmt, str::FromStr};

/// A time control: its periods, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeControl {
    periods: Vec<Period>,
}

/// One period of a time control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Moves that must be completed in it; nothing: all remaining ones.
    pub moves: Option<u32>,
    /// Main time in seconds.
    pub seconds: u32,
    /// Seconds for each move: added, or with [`Period::delay`] waited, before the main time runs.
    pub increment: u32,
    /// The seconds for each move are a delay (written `d`), not an increment (written `+`).
    pub delay: bool,
}

/// Why a text is not a time control.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TimeControlError {
    /// A period does not follow the notation.
    #[error(
        "period {period:?} is not [moves/]seconds[+increment] (d instead of + for a delay); write 40/5400+30:1800+30 for 90 minutes for 40 moves, then 30 minutes, with 30 seconds a move"
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

    /// The value of the PGN tag `TimeControl`. PGN knows no delay: nothing for one.
    pub fn pgn(&self) -> Option<String> {
        (!self.periods.iter().any(|period| period.delay)).then(|| self.to_string())
    }
}

impl FromStr for TimeControl {
    type Err = TimeControlError;

    fn from_str(text: &str) -> Result<TimeControl, TimeControlError> {
        let mut periods = Vec::new();
        let mut parts = text.split(':').peekable();
        while let Some(part) = parts.next() {
            let period: Period = part.parse()?;
            if period.moves.is_none() && parts.peek().is_some() {
                return Err(TimeControlError::Moves { period: part.to_owned() });
            }
            periods.push(period);
        }
        Ok(TimeControl { periods })
    }
}

impl FromStr for Period {
    type Err = TimeControlError;

    fn from_str(text: &str) -> Result<Period, TimeControlError> {
        let number = |digits: &str, what: &'static str, min: u32, max: u32| {
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return Err(TimeControlError::Notation { period: text.to_owned() });
            }
            digits
                .parse()
                .ok()
                .filter(|value| (min..=max).contains(value))
                .ok_or_else(|| TimeControlError::Range { period: text.to_owned(), what, min, max })
        };
        let (moves, rest) = match text.split_once('/') {
            Some((moves, rest)) => (Some(number(moves, "the number of moves", 1, 500)?), rest),
            None => (None, text),
        };
        let (seconds, increment, delay) = match rest.find(['+', 'd']) {
            Some(at) => {
                let (seconds, tail) = rest.split_at(at);
                let delay = tail.starts_with('d');
                (seconds, number(tail.get(1..).unwrap_or(""), "the seconds a move", 0, 3600)?, delay)
            }
            None => (rest, 0, false),
        };
        let seconds = number(seconds, "the main time in seconds", 0, 86_400)?;
        if seconds == 0 && increment == 0 {
            return Err(TimeControlError::Range {
                period: text.to_owned(),
                what: "the main time in seconds",
                min: 1,
                max: 86_400,
            });
        }
        Ok(Period { moves, seconds, increment, delay })
    }
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

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}", self.seconds)?;
        if self.increment > 0 {
            write!(f, "{}{}", if self.delay { 'd' } else { '+' }, self.increment)?;
        }
        Ok(())
    }
}
