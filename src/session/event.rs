//! The decoded events: the one vocabulary that every sensor, log and journal is turned into.
//!
//! It is the event list of the sensor log; a board that speaks bytes is decoded into it first.

use serde_json::Value;
use shakmaty::{Bitboard, Color, Piece, Square};

use super::time::MonoTime;

/// What a set of squares reads: bit 0 is a1, bit 63 is h8, a set bit is an occupied square.
pub type Occupancy = Bitboard;

/// Which of the two boards of one game an event comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// The only board, or the first of two.
    #[default]
    A,
    /// The second board of a game that is played on two.
    B,
}

impl Unit {
    /// Both, the first one first.
    pub const ALL: [Unit; 2] = [Unit::A, Unit::B];

    /// The name in a sensor log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Unit::A => "A",
            Unit::B => "B",
        }
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Unit {
        match self {
            Unit::A => Unit::B,
            Unit::B => Unit::A,
        }
    }

    /// What belongs to this one of two.
    pub const fn of<T>(self, pair: &[T; 2]) -> &T {
        let [a, b] = pair;
        match self {
            Unit::A => a,
            Unit::B => b,
        }
    }

    /// The same, to change it.
    pub const fn of_mut<T>(self, pair: &mut [T; 2]) -> &mut T {
        let [a, b] = pair;
        match self {
            Unit::A => a,
            Unit::B => b,
        }
    }
}

/// The pieces that an identity board reports, square by square in a1..h8 order.
pub type Placement = shakmaty::Board;

/// No clock shows more than this, in milliseconds: a day.
pub const MAX_CLOCK_MS: u64 = 86_400_000;

/// A reading of an external clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockReading {
    /// Time left for White in milliseconds, where the clock told it.
    pub white_ms: Option<u64>,
    /// Time left for Black in milliseconds, where the clock told it.
    pub black_ms: Option<u64>,
    /// The side whose clock runs; `None` while both are stopped.
    pub running: Option<Color>,
}

/// The result of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// `*`: not ended.
    #[default]
    Ongoing,
    /// `1-0`
    WhiteWins,
    /// `0-1`
    BlackWins,
    /// `1/2-1/2`
    Draw,
    /// `0-0`: both players lost (Article 11.8 of 2023, 12.9 of 2005).
    BothLose,
}

impl GameResult {
    /// The PGN token.
    pub const fn as_str(self) -> &'static str {
        match self {
            GameResult::Ongoing => "*",
            GameResult::WhiteWins => "1-0",
            GameResult::BlackWins => "0-1",
            GameResult::Draw => "1/2-1/2",
            GameResult::BothLose => "0-0",
        }
    }

    /// Reads a PGN token.
    pub fn parse(text: &str) -> Option<GameResult> {
        match text {
            "*" => Some(GameResult::Ongoing),
            "1-0" => Some(GameResult::WhiteWins),
            "0-1" => Some(GameResult::BlackWins),
            "1/2-1/2" => Some(GameResult::Draw),
            "0-0" => Some(GameResult::BothLose),
            _ => None,
        }
    }

    /// The result in which `side` wins.
    pub const fn win(side: Color) -> GameResult {
        match side {
            Color::White => GameResult::WhiteWins,
            Color::Black => GameResult::BlackWins,
        }
    }
}

/// One decoded event. The time and the board it came from are in [`Stamped`].
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A square reads empty or occupied (occupancy boards).
    Square {
        /// The square.
        square: Square,
        /// True when it became occupied.
        occupied: bool,
    },
    /// A square of an identity board reads this piece, or nothing.
    Piece {
        /// The square.
        square: Square,
        /// What it reads now.
        piece: Option<Piece>,
    },
    /// Full report of an occupancy board.
    Occupied(Occupancy),
    /// Full report of an identity board.
    Pieces(Placement),
    /// That player pressed the clock: the player's own time stops.
    Press(Color),
    /// The arbiter stopped both clocks.
    Pause,
    /// The arbiter started that player's clock.
    Run(Color),
    /// Reading of an external clock.
    Times(ClockReading),
    /// The clock indicates that this flag fell.
    Flag(Color),
    /// A button, by its name in the scenario vocabulary.
    Button(String),
    /// A command of the arbiter: a word or an object.
    Arbiter(Value),
    /// A written move that belongs to a claim.
    Intended(String),
    /// An announcement on a blind player's board.
    Announce(String),
    /// A result that was entered by a person.
    Result(GameResult),
    /// The link to the board went down (`false`) or came back.
    Link(bool),
    /// The daemon or the board lost power (`false`) or came back.
    Power(bool),
    /// A move that the board has to show next.
    Expect(String),
    /// Anchor of the wall clock: recorded, without effect on the game.
    Wall(Value),
    /// Status of a device: recorded, without effect on the game.
    Device(Value),
    /// Only time passes.
    Tick,
}

impl Event {
    /// The square on which it tells that a man came down.
    pub(crate) const fn placed(&self) -> Option<Square> {
        match self {
            Event::Square { square, occupied: true } | Event::Piece { square, piece: Some(_) } => {
                Some(*square)
            }
            _ => None,
        }
    }
}

/// Key of a device's note that tells a trouble of a board that is read all the same; `error` has the words.
pub const STANDING: &str = "standing";
/// Key of a device's note that such a trouble is over.
pub const SETTLED: &str = "settled";

/// The words of a trouble of a board that is read all the same.
pub fn standing_trouble(note: &Value) -> Option<&str> {
    note.get(STANDING).filter(|standing| **standing == true).and(note.get("error")?.as_str())
}

/// True where a note says that such a trouble is over.
pub fn is_settled(note: &Value) -> bool {
    note.get("source").and(note.get(SETTLED)).is_some()
}

/// An event with the time and the board that it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamped {
    /// When the sensor was read.
    pub at: MonoTime,
    /// Which of the two boards.
    pub unit: Unit,
    /// What happened.
    pub event: Event,
}
