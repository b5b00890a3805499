//! The time controls of both players.

use std::{fmt, str::FromStr};

use shakmaty::{ByColor, Color};

use super::{TimeControl, TimeControlError};

/// The time control of each player: mostly the same, different where one gives odds of time or comes late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameControl(ByColor<TimeControl>);

impl GameControl {
    /// Two controls.
    pub const fn new(white: TimeControl, black: TimeControl) -> GameControl {
        GameControl(ByColor { white, black })
    }

    /// The control of one side.
    pub fn side(&self, side: Color) -> &TimeControl {
        self.0.get(side)
    }

    /// The control of both, where it is one.
    pub fn common(&self) -> Option<&TimeControl> {
        (self.0.white == self.0.black).then_some(&self.0.white)
    }

    /// `T` of the classification in milliseconds. Articles A.1 and B.1 limit the time of each player: the
    /// longer one decides.
    pub fn class_ms(&self) -> u64 {
        self.0.white.class_ms().max(self.0.black.class_ms())
    }

    /// The value of the PGN tag `TimeControl`, which holds one control for both.
    pub fn pgn(&self) -> Option<String> {
        self.common()?.pgn()
    }

    /// The same as [`TimeControl::in_words`], `WHITE | BLACK` where they differ.
    pub fn in_words(&self) -> Option<String> {
        match self.common() {
            Some(both) => both.in_words(),
            None => Some(format!("{} | {}", self.0.white.in_words()?, self.0.black.in_words()?)),
        }
    }

    /// The same as [`TimeControl::lichess`] reads it.
    pub fn lichess(&self) -> Option<String> {
        self.common()?.lichess()
    }
}

impl From<TimeControl> for GameControl {
    fn from(control: TimeControl) -> GameControl {
        GameControl(ByColor { white: control.clone(), black: control })
    }
}

/// One control for both, or `WHITE|BLACK`.
impl FromStr for GameControl {
    type Err = TimeControlError;

    fn from_str(text: &str) -> Result<GameControl, TimeControlError> {
        match text.split('|').collect::<Vec<_>>().as_slice() {
            [both] => both.parse::<TimeControl>().map(GameControl::from),
            [white, black] => Ok(GameControl::new(white.parse()?, black.parse()?)),
            _ => Err(TimeControlError::Sides { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for GameControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.common() {
            Some(both) => write!(f, "{both}"),
            None => write!(f, "{}|{}", self.0.white, self.0.black),
        }
    }
}
