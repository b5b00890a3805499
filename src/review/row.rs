//! One line of the time line, and the numbers of moves.

use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};
use shakmaty::{Color, Position as _, Square};

use crate::{
    journal::record::rfc3339,
    session::{
        setup::{GameSetup, SetupError},
        time::MonoTime,
    },
};

/// What a row is about: the words of `--kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A man was lifted.
    Touch,
    /// A man was put back on its square.
    Adjust,
    /// What binds the player who has the move, and whether he kept to it.
    Obligation,
    /// A move was made.
    Made,
    /// A move was shown to the public.
    Published,
    /// A move was taken back before its completion.
    Withdrawn,
    /// A move was completed.
    Completed,
    /// A recorded move was replaced.
    Revised,
    /// The clock was pressed.
    Press,
    /// The clock was pressed over a position that no legal move explains.
    Illegal,
    /// Several moves fit.
    Ambiguous,
    /// A claim, the time in which one can be made, a draw offer.
    Claim,
    /// Something that a person should know.
    Advisory,
    /// The clocks were stopped or started, a flag fell, a reading of the clock.
    Clock,
    /// A link, the power or the daemon was gone or came back.
    Link,
    /// A button, an announcement, a written move.
    Button,
    /// A command of the arbiter.
    Arbiter,
    /// The result.
    Result,
    /// A remark of the daemon.
    Note,
    /// A reading of a square, before any interpretation.
    Square,
    /// Readings of the clock and the state of devices.
    Device,
}

impl Kind {
    /// All of them, in the order of the documentation.
    pub const ALL: [Kind; 21] = [
        Kind::Touch,
        Kind::Adjust,
        Kind::Obligation,
        Kind::Made,
        Kind::Published,
        Kind::Withdrawn,
        Kind::Completed,
        Kind::Revised,
        Kind::Press,
        Kind::Illegal,
        Kind::Ambiguous,
        Kind::Claim,
        Kind::Advisory,
        Kind::Clock,
        Kind::Link,
        Kind::Button,
        Kind::Arbiter,
        Kind::Result,
        Kind::Note,
        Kind::Square,
        Kind::Device,
    ];

    /// The word of `--kind`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Touch => "touch",
            Kind::Adjust => "adjust",
            Kind::Obligation => "obligation",
            Kind::Made => "made",
            Kind::Published => "published",
            Kind::Withdrawn => "withdrawn",
            Kind::Completed => "completed",
            Kind::Revised => "revised",
            Kind::Press => "press",
            Kind::Illegal => "illegal",
            Kind::Ambiguous => "ambiguous",
            Kind::Claim => "claim",
            Kind::Advisory => "advisory",
            Kind::Clock => "clock",
            Kind::Link => "link",
            Kind::Button => "button",
            Kind::Arbiter => "arbiter",
            Kind::Result => "result",
            Kind::Note => "note",
            Kind::Square => "square",
            Kind::Device => "device",
        }
    }

    /// Reads the word of `--kind`.
    pub fn parse(text: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// True for what is left out unless it is asked for: readings that say nothing by themselves.
    pub const fn is_detail(self) -> bool {
        matches!(self, Kind::Published | Kind::Square | Kind::Device)
    }
}

/// One line of the time line.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// When it happened.
    pub at: MonoTime,
    /// The same in UTC, microseconds since 1970-01-01, where the log tells it.
    pub wall_us: Option<u64>,
    /// What it is.
    pub kind: Kind,
    /// A second kind that it answers to: a lift that was put back, a press that completed a move.
    pub also: Option<Kind>,
    /// The side it is charged to.
    pub by: Option<Color>,
    /// Number of the half-move it belongs to, counted from 1 at the first event.
    pub ply: usize,
    /// The squares it is about.
    pub squares: Vec<Square>,
    /// What happened, in words.
    pub text: String,
    /// More members for the JSON form.
    pub details: Map<String, Value>,
}

impl Row {
    /// True for an input that a fact may say better.
    pub(super) fn is_input(&self) -> bool {
        self.details.contains_key("input")
    }

    /// The JSON form. `game_us` counts from `start`.
    pub fn to_value(&self, numbers: MoveNumbers, start: MonoTime) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("kind", json!(self.kind.as_str()));
        if let Some(also) = self.also {
            put("also", json!(also.as_str()));
        }
        put("us", json!(self.at.as_micros()));
        put("game_us", json!(self.at.since(start)));
        if let Some(wall_us) = self.wall_us {
            put("at", json!(rfc3339(wall_us)));
        }
        put("ply", json!(self.ply));
        put("move", json!(numbers.label(self.ply)));
        if let Some(by) = self.by {
            put("by", json!(by.fold_wb("white", "black")));
        }
        if !self.squares.is_empty() {
            put("squares", json!(self.squares.iter().map(Square::to_string).collect::<Vec<_>>()));
        }
        put("text", json!(self.text));
        map.extend(self.details.iter().map(|(key, value)| (key.clone(), value.clone())));
        Value::Object(map)
    }
}

/// Turns numbers of plies, counted from the first event, into the move numbers of the score sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveNumbers {
    /// Half-moves before ply 1, counted from White's first move of the game.
    before: usize,
}

impl MoveNumbers {
    /// The numbers of a game: they follow the start position and the moves before the log.
    pub fn new(setup: &GameSetup) -> Result<MoveNumbers, SetupError> {
        let position = setup.position()?;
        let full = usize::try_from(position.fullmoves().get()).unwrap_or(1);
        let black = usize::from(position.turn() == Color::Black);
        Ok(MoveNumbers { before: full.saturating_sub(1) * 2 + black })
    }

    fn parts(self, ply: usize) -> (usize, Color) {
        let index = self.before + ply.max(1) - 1;
        (index / 2 + 1, if index.is_multiple_of(2) { Color::White } else { Color::Black })
    }

    /// `12w` or `12b`.
    pub fn label(self, ply: usize) -> String {
        let (number, side) = self.parts(ply);
        format!("{number}{}", side.fold_wb('w', 'b'))
    }

    /// The side that makes a ply.
    pub fn side(self, ply: usize) -> Color {
        self.parts(ply).1
    }

    /// `12. Nf3` or `12... Nf6`.
    pub fn with_san(self, ply: usize, san: &str) -> String {
        let (number, side) = self.parts(ply);
        format!("{number}{} {san}", side.fold_wb(".", "..."))
    }

    /// The plies of `12b`, `12w` or `12` (both). Gives what is wrong otherwise.
    pub fn plies(self, text: &str) -> Result<RangeInclusive<usize>, String> {
        let (digits, side) = match text.strip_suffix(['w', 'W']) {
            Some(digits) => (digits, Some(0)),
            None => match text.strip_suffix(['b', 'B']) {
                Some(digits) => (digits, Some(1)),
                None => (text, None),
            },
        };
        let number: usize = digits
            .parse()
            .ok()
            .filter(|number| (1..=100_000).contains(number))
            .ok_or_else(|| format!("expected a move such as 12w, 12b or 12, found {text:?}"))?;
        let first = (number - 1) * 2;
        let (from, to) = match side {
            Some(side) => (first + side, first + side),
            None => (first, first + 1),
        };
        if to < self.before {
            return Err(format!("move {text} was played before this record begins, at {}", self.label(1)));
        }
        Ok(from.saturating_sub(self.before) + 1..=to - self.before + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn move_numbers_follow_the_start_position_and_the_history() {
        let plain = MoveNumbers::new(&GameSetup::default()).unwrap();
        assert_eq!(
            (plain.label(1), plain.label(2), plain.label(23)),
            ("1w".into(), "1b".into(), "12w".into())
        );
        assert_eq!(plain.with_san(24, "Nf6"), "12... Nf6");
        let late = GameSetup {
            start_fen: "4k3/8/8/8/8/8/8/4K2R b - - 0 30".to_owned(),
            history: vec!["e8d8".to_owned()],
            ..GameSetup::default()
        };
        let late = MoveNumbers::new(&late).unwrap();
        assert_eq!((late.label(1), late.side(2)), ("31w".into(), Color::Black));
        assert_eq!(late.plies("31").unwrap(), 1..=2);
        assert_eq!(late.plies("31b").unwrap(), 2..=2);
        assert!(late.plies("30b").unwrap_err().contains("before this record begins"));
        for bad in ["", "b", "0w", "12x", "-1", "e4"] {
            assert!(late.plies(bad).unwrap_err().contains("expected a move"), "{bad}");
        }
    }

    #[test]
    fn kinds_have_words_of_their_own() {
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.as_str()), Some(kind));
        }
    }
}
