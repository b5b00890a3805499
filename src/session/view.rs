//! What the session shows of itself between two events: the states of the case collection.

use shakmaty::{Board, Color, Square};

use super::event::GameResult;

/// The state of the half-move that is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum State {
    /// The board equals the position and nothing is in hand.
    #[default]
    Idle,
    /// Something is under way and no legal move is on the board.
    Pending,
    /// A legal move is on the board but may go on.
    Provisional,
    /// The move is on the board (Article 4.7) and not completed.
    Made,
    /// The move is completed (Article 6.2.1).
    Completed,
    /// The clock was pressed while the move is unfinished.
    Incomplete,
    /// A made move was undone before its completion.
    Takeback,
    /// Several moves fit what is seen.
    Ambiguous,
    /// What is on the board is no legal move.
    Illegal,
    /// The board does not fit the game.
    Mismatch,
    /// Another move than the one that was announced.
    MismatchExpected,
    /// The wrong side moved first.
    OutOfTurn,
    /// The clock was pressed without a move.
    NoMove,
    /// Pieces moved while the clocks are stopped.
    NotInPlay,
    /// The hardware is at fault.
    Fault,
    /// The kings stand in the centre to signal a result; it can be withdrawn.
    ResultSignal,
    /// The result stands.
    GameOver,
}

impl State {
    /// The word of `replay --emit states`.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Idle => "idle",
            State::Pending => "pending",
            State::Provisional => "provisional",
            State::Made => "made",
            State::Completed => "completed",
            State::Incomplete => "incomplete",
            State::Takeback => "takeback",
            State::Ambiguous => "ambiguous",
            State::Illegal => "illegal",
            State::Mismatch => "mismatch",
            State::MismatchExpected => "mismatch_expected",
            State::OutOfTurn => "out_of_turn",
            State::NoMove => "no_move",
            State::NotInPlay => "not_in_play",
            State::Fault => "fault",
            State::ResultSignal => "result_signal",
            State::GameOver => "game_over",
        }
    }
}

/// The state of a session between two events. Lists are empty where they do not apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The state of the half-move.
    pub state: State,
    /// How many plies of the session count as moves: one that may still go on does not.
    pub plies: usize,
    /// The move that is on the board but may go on.
    pub candidate: Option<String>,
    /// The moves that fit, when there are several; two plies at once are joined by a space.
    pub candidates: Vec<String>,
    /// Squares of the men of which one must be moved (Article 4.3.1).
    pub must_move: Vec<Square>,
    /// Squares of the men of which one must be captured (Article 4.3.2).
    pub must_capture: Vec<Square>,
    /// Squares of the opponent's men that are in the air.
    pub in_hand: Vec<Square>,
    /// Remarks for the arbiter's journal.
    pub flags: Vec<String>,
    /// The squares that do not fit.
    pub squares: Vec<Square>,
    /// The move as it looks, when it is not legal.
    pub attempt: Option<String>,
    /// What a mismatch or a fault means.
    pub alert: Option<String>,
    /// The result.
    pub result: Option<GameResult>,
}

/// What stands on the board physically, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Physical {
    /// The men that stand on their squares now; men in the air are missing. Identities come from
    /// the reconstruction where the board does not tell them.
    pub board: Board,
    /// Occupied squares whose man is not known yet.
    pub unknown: shakmaty::Bitboard,
    /// The side that has the move.
    pub turn: Color,
}

/// What the session keeps in mind at one moment: all that it needs more of while it is in doubt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Readings of the board that are still possible, at most 32. Every event costs about this many
    /// times the legal moves of a position.
    pub readings: usize,
    /// Plies of all readings together that are not firm yet, at most 40 each.
    pub loose_plies: usize,
    /// Games that are held in memory, each with its position. Readings that begin alike share them: there
    /// are never more than loose plies, and the firm game.
    pub games: usize,
}
