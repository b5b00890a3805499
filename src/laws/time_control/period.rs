//! One period: `[moves/]seconds[+increment]`.

use std::{fmt, str::FromStr};

use super::TimeControlError;

/// What the seconds a move are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extra {
    /// Added when the move is completed and kept ("cumulative", "Fischer"), written `+`.
    #[default]
    Increment,
    /// The main time waits for so long and nothing is kept, written `d`.
    Delay,
    /// What the move took is given back, at most so much, written `b` (Bronstein).
    Bronstein,
}

impl Extra {
    pub(super) const ALL: [Extra; 3] = [Extra::Increment, Extra::Delay, Extra::Bronstein];

    /// The sign of the notation.
    pub const fn sign(self) -> char {
        match self {
            Extra::Increment => '+',
            Extra::Delay => 'd',
            Extra::Bronstein => 'b',
        }
    }
}

/// One period of a time control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Moves that must be completed in it, 1 to 500; nothing: all remaining ones.
    pub moves: Option<u32>,
    /// Main time in seconds, 0 to 86400.
    pub seconds: u32,
    /// Seconds for each move, 0 to 3600.
    pub increment: u32,
    /// What these are.
    pub extra: Extra,
}

/// Digits and nothing else as a number in a range; `period` is what the message names.
pub(super) fn number(
    digits: &str,
    period: &str,
    what: &'static str,
    min: u32,
    max: u32,
) -> Result<u32, TimeControlError> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(TimeControlError::Notation { period: period.to_owned() });
    }
    let range = || TimeControlError::Range { period: period.to_owned(), what, min, max };
    digits.parse().ok().filter(|value| (min..=max).contains(value)).ok_or_else(range)
}

impl Period {
    /// Most moves of a period.
    pub(super) const MOST_MOVES: u32 = 500;
    /// Longest main time in seconds: a day.
    pub(super) const LONGEST: u32 = 86_400;
    /// Most seconds a move.
    pub(super) const MOST_EXTRA: u32 = 3600;

    /// A period that gives some time.
    pub(super) fn new(
        moves: Option<u32>,
        seconds: u32,
        (increment, extra): (u32, Extra),
        text: &str,
    ) -> Result<Period, TimeControlError> {
        if seconds == 0 && increment == 0 {
            let (what, period) = ("the main time in seconds", text.to_owned());
            return Err(TimeControlError::Range { period, what, min: 1, max: Period::LONGEST });
        }
        Ok(Period { moves, seconds, increment, extra })
    }
}

impl FromStr for Period {
    type Err = TimeControlError;

    fn from_str(text: &str) -> Result<Period, TimeControlError> {
        let text = text.trim();
        let (moves, rest) = match text.split_once('/') {
            Some((moves, rest)) => {
                (Some(number(moves, text, "the number of moves", 1, Period::MOST_MOVES)?), rest)
            }
            None => (None, text),
        };
        let sign = |c: char| Extra::ALL.into_iter().find(|extra| extra.sign() == c);
        let found = rest.char_indices().find_map(|(at, c)| Some((at, sign(c)?)));
        let (seconds, extra) = match found {
            Some((at, extra)) => {
                let (seconds, tail) = rest.split_at(at);
                let a_move =
                    number(tail.get(1..).unwrap_or(""), text, "the seconds a move", 0, Period::MOST_EXTRA)?;
                (seconds, (a_move, extra))
            }
            None => (rest, (0, Extra::Increment)),
        };
        let seconds = number(seconds, text, "the main time in seconds", 0, Period::LONGEST)?;
        Period::new(moves, seconds, extra, text)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}", self.seconds)?;
        if self.increment > 0 {
            write!(f, "{}{}", self.extra.sign(), self.increment)?;
        }
        Ok(())
    }
}
