//! What really happened.

use shakmaty::{Color, Square};

/// A touch of a man that really happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Microseconds from the start.
    pub at_us: u64,
    /// The square on which the man stood.
    pub square: Square,
    /// Whose hand it was; `None` for a man that was knocked over.
    pub by: Option<Color>,
    /// What it was for.
    pub kind: TouchKind,
}

/// What a touch was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TouchKind {
    /// The man that moves.
    Move,
    /// The man that is captured.
    Victim,
    /// The pawn that is exchanged for a new man.
    Promotion,
    /// A man that is adjusted on its square.
    Adjust,
    /// A legal move that is taken back before the press.
    TakeBack,
    /// An illegal move that is corrected.
    Illegal,
    /// Knocked over.
    Knocked,
    /// A king that signals the result.
    AfterTheGame,
}

impl TouchKind {
    /// A word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            TouchKind::Move => "move",
            TouchKind::Victim => "victim",
            TouchKind::Promotion => "promotion",
            TouchKind::Adjust => "adjust",
            TouchKind::TakeBack => "take-back",
            TouchKind::Illegal => "illegal",
            TouchKind::Knocked => "knocked",
            TouchKind::AfterTheGame => "after-the-game",
        }
    }
}

/// The truth about one ply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlyTruth {
    /// The move in UCI, castling as the variant writes it.
    pub uci: String,
    /// The side that moved.
    pub by: Color,
    /// When the hand began with the move itself: microseconds from the start.
    pub start_us: u64,
    /// When the last contact of the move changed.
    pub made_us: u64,
    /// The press that completed it, where one was reported.
    pub press_us: Option<u64>,
    /// The order of handling, such as `quiet` or `capture-victim-first`.
    pub style: &'static str,
    /// What went wrong in the turn, such as `slide`, `early-touch`, `press-lost`.
    pub mishaps: Vec<&'static str>,
}

/// What really happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// The moves.
    pub plies: Vec<PlyTruth>,
    /// The touches, in the order of time.
    pub touches: Vec<Touch>,
    /// When it was over: microseconds from the start.
    pub end_us: u64,
}
