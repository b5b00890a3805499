//! The facts of the Laws layer: what follows, by the article that is in force, from what was seen, and
//! what an arbiter decided. Names and fields are those of the table in `docs/laws.md`.

use serde::{Serialize, Serializer};
use shakmaty::{Color, Square};

pub use super::obligation::{
    Choice, Obligation, ObligationDetail, OneOrNone, Partial, Reach, Squares, TouchCertainty, Uncertain,
};
use crate::session::text::MoveText;

/// Who may see a fact. There is no audience of players: nothing here may reach them while they play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Audience {
    /// The journal only; nobody is called.
    #[default]
    Journal,
    /// The arbiter, who is called.
    Arbiter,
    /// A blind player's assistant, on request.
    Assistant,
    /// The operators of feeds; spectators see its effect.
    Feed,
}

impl Audience {
    /// The word of the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Audience::Journal => "journal",
            Audience::Arbiter => "arbiter",
            Audience::Assistant => "assistant",
            Audience::Feed => "feed",
        }
    }
}

impl Serialize for Audience {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A side in the journal's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side(pub Color);

impl Serialize for Side {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.fold_wb("white", "black"))
    }
}

/// A square in the journal's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sq(pub Square);

impl Serialize for Sq {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [file, rank] = [self.0.file().char(), self.0.rank().char()].map(|letter| letter as u8);
        let name = [file, rank];
        serializer.serialize_str(std::str::from_utf8(&name).unwrap_or("??"))
    }
}

/// A number for each side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Both<T> {
    /// White's.
    pub white: T,
    /// Black's.
    pub black: T,
}

/// Who did something, or how it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum By {
    /// A player.
    Side(Side),
    /// `touch`, `word`, `unknown`.
    Word(&'static str),
}

/// Something that a person should know, or that the journal keeps. Most fields belong to one code
/// each; the table in `docs/laws.md` has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Notice {
    /// What it is.
    pub code: &'static str,
    /// Who may see it.
    pub to: Audience,
    /// The side it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// Who did it, or how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// The square it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub square: Option<Sq>,
    /// The squares it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub squares: Vec<Sq>,
    /// The move it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uci: Option<MoveText>,
    /// What was tried and is no legal move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<String>,
    /// The moves that were allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<MoveText>,
    /// The move that was played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<MoveText>,
    /// The article.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub article: Option<&'static str>,
    /// For how long a man rested, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dwell_ms: Option<u64>,
    /// By how much a press came early, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead_ms: Option<u64>,
    /// Moves that fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// The order of events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<&'static str>,
    /// Whether that order is beyond doubt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sure: Option<bool>,
    /// The earliest time at which a flag fell, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fell_from_us: Option<u64>,
    /// The latest one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fell_to_us: Option<u64>,
    /// For how long nobody kept the time, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_ms: Option<u64>,
    /// What the arbiter may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<&'static str>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closes: Option<&'static str>,
    /// Under which condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<&'static str>,
    /// What explains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained: Option<&'static str>,
    /// True when an offer was made at the proper moment (Article 9.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed: Option<bool>,
    /// True when board and game agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal: Option<bool>,
    /// Whose clock runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<Side>,
    /// Who should have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side_to_move: Option<Side>,
    /// A sealed move is outstanding.
    #[serde(skip_serializing_if = "is_false")]
    pub sealed: bool,
    /// What was expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Side>,
    /// What a time should be, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_ms: Option<u64>,
    /// What the clock told, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_ms: Option<u64>,
    /// The time before a change at the clock, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_ms: Option<u64>,
    /// The time after it, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_ms: Option<u64>,
    /// What difference is tolerated, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance_ms: Option<u64>,
    /// A limit in moves of each player.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_moves: Option<u32>,
    /// Who has to do something.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub who: Vec<Side>,
    /// The clock showed it after the end of the game.
    #[serde(skip_serializing_if = "is_false")]
    pub after_end: bool,
    /// A pawn stands on the last rank.
    #[serde(skip_serializing_if = "is_false")]
    pub unpromoted: bool,
    /// Both kings are in check.
    #[serde(skip_serializing_if = "is_false")]
    pub both_kings: bool,
    /// The piece that touched the square first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<char>,
    /// The piece that stands there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<char>,
    /// The move on the board.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board_move: Option<MoveText>,
    /// What was announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// Whether a slip was corrected in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected: Option<bool>,
    /// The result that the moves, a clock or the players gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computed: Option<&'static str>,
    /// The result that was entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<&'static str>,
    /// In words.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub detail: std::borrow::Cow<'static, str>,
}

impl Notice {
    /// A notice that says no more than its code. Notices are rare, and most code that could tell one is fetched
    /// for nothing: whatever calls this is kept out of the way.
    #[cold]
    #[inline(never)]
    pub fn of(code: &'static str, to: Audience) -> Notice {
        Notice { code, to, ..Notice::default() }
    }
}

/// What putting an earlier position up again takes (Article 7.5, 7.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Restore {
    /// The position, as a FEN.
    pub fen: String,
    /// Number of plies of the game up to it.
    pub ply: usize,
    /// Men that stand where none belongs.
    pub remove: Vec<Sq>,
    /// Squares whose man is missing.
    pub put: Vec<Sq>,
    /// Who may see it.
    pub to: Audience,
}

/// A claim, looked at by the facts that the journal has. The decision is the arbiter's.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClaimCheck {
    /// `threefold`, `fifty`, `touch`, `illegal`, `setup`, `quickplay`, `time`, `flag`.
    pub kind: &'static str,
    /// Who claims.
    pub by: Option<Side>,
    /// Whether the facts support it.
    pub valid: bool,
    /// The move that the claimant wrote and announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intended: Option<MoveText>,
    /// How often the position appears.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Plies without a pawn move or a capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halfmoves: Option<u32>,
    /// Time left on the claimant's clock, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_ms: Option<u64>,
    /// Whether the claimant has the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_move: Option<bool>,
    /// The claimant's flag had fallen.
    #[serde(skip_serializing_if = "is_false")]
    pub flag_fallen: bool,
    /// The increment in force, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub increment: Option<u64>,
    /// False while a number of moves has to be completed in the period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_period: Option<bool>,
    /// The article.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub article: Option<&'static str>,
    /// Why it is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

/// Times before or after a correction, in milliseconds: of a side, or of the parties of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Times {
    /// One clock.
    One(u64),
    /// The other player's.
    Opponent {
        /// The time.
        opponent: u64,
    },
    /// Both players' after an illegal move.
    Irregular {
        /// The time of the player who made it.
        offender: u64,
        /// The other player's.
        opponent: u64,
    },
    /// Both parties of a claim.
    Parties {
        /// The claimant's time.
        claimant: u64,
        /// The other player's.
        opponent: u64,
    },
}

/// A time that was worked out; the clock itself is not set by it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockCalc {
    /// Which rule: `fischer`, `delay`, `period`, `illegal`, `claim-incorrect`, ...
    pub calc: &'static str,
    /// Whose clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// The time before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Times>,
    /// The time used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// The increment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inc: Option<u64>,
    /// The delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<u64>,
    /// The time added; negative when it is taken away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub add: Option<i64>,
    /// Which irregularity of the side it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    /// The increment that an illegal press had added and that is taken back, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inc_removed: Option<u64>,
    /// Time that passed, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed: Option<u64>,
    /// Time left of the session, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_left: Option<u64>,
    /// From when, in milliseconds of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<u64>,
    /// Until when, in milliseconds of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<u64>,
    /// Time allotted, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allotted: Option<u64>,
    /// Time left, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<u64>,
    /// The time after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Times>,
}

impl ClockCalc {
    /// A calculation by this rule, without its numbers.
    pub const fn of(calc: &'static str) -> ClockCalc {
        ClockCalc {
            calc,
            side: None,
            before: None,
            used: None,
            inc: None,
            delay: None,
            add: None,
            n: None,
            inc_removed: None,
            elapsed: None,
            session_left: None,
            from_ms: None,
            to_ms: None,
            allotted: None,
            remaining: None,
            after: None,
        }
    }
}

/// What an external clock shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// White's time left, in milliseconds.
    pub white_ms: Option<u64>,
    /// Black's time left, in milliseconds.
    pub black_ms: Option<u64>,
    /// Whose clock runs.
    pub running: Option<Side>,
}

/// An arbiter orders the external clock to be set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClockOrder {
    /// Number of the order in the game, from 1.
    pub order: u32,
    /// The last reading of the clock.
    pub before: Option<Shown>,
    /// The time that White is to have, in milliseconds: whole seconds.
    pub white_ms: u64,
    /// The time that Black is to have, in milliseconds: whole seconds.
    pub black_ms: u64,
    /// Whose clock is to run; nothing where both are to stand still.
    pub runs: Option<Side>,
    /// Who may see it.
    pub to: Audience,
}

/// The external clock acknowledged an order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClockSet {
    /// Number of the order.
    pub order: u32,
    /// The last reading of the clock before the order.
    pub before: Option<Shown>,
    /// What the clock was set to.
    pub after: Shown,
    /// How often the order was sent.
    pub tries: u64,
    /// Who may see it.
    pub to: Audience,
}

/// A penalty: a proposal until the arbiter confirms it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Penalty {
    /// What: `illegal-move`, `reduce-own-time`, `more-time-opponent`, `warning`, ...
    pub kind: &'static str,
    /// Who is penalised.
    pub side: Side,
    /// Which illegal move of the side it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    /// Time that the opponent gains, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub add_ms: Option<u64>,
    /// An amount of time, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// The game is lost.
    #[serde(skip_serializing_if = "is_false")]
    pub lost: bool,
    /// The article.
    pub article: &'static str,
    /// Who may see it.
    pub to: Audience,
}

/// Everything that a reconstruction or a claim starts from (Article 8.5), printable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snapshot {
    /// The position of the game, as a FEN.
    pub fen: String,
    /// What stands on the board, as the first field of a FEN, where it is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// Whose clock ran.
    pub running: Option<Side>,
    /// White's time left, in milliseconds.
    pub white_ms: Option<u64>,
    /// Black's time left, in milliseconds.
    pub black_ms: Option<u64>,
    /// Moves made.
    pub moves_made: Both<u32>,
    /// Moves completed.
    pub moves_completed: Both<u32>,
    /// The score in the notation that is set.
    pub score: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<&'static str>,
    /// What an arbiter looks at beside it to decide on a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// Who may see it.
    pub to: Audience,
}

/// How the game went on lately.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Progress {
    /// The last moves, the newest last, with the time that each took.
    pub last_moves: Vec<TimedMove>,
    /// Plies since the last capture or move of a pawn.
    pub halfmoves: u32,
    /// How often the position has been on the board.
    pub occurrences: u32,
}

/// A move with the time that it took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimedMove {
    /// The move in standard algebraic notation.
    pub san: MoveText,
    /// Who made it.
    pub by: Side,
    /// Milliseconds from the completion of the move before it, or from its making, to its own.
    pub took_ms: u64,
}

/// Where one of two boards is in the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum BoardsStep {
    /// It shows the position of the game.
    InStep,
    /// It shows an earlier position of the game.
    Behind {
        /// So many plies ago.
        plies: usize,
    },
    /// It shows no position of the game.
    Diverged,
}

/// The two boards of one game (Appendix D.2.7, D.2.8; 2005: F.2.7, F.2.8).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardsState {
    /// The first board.
    pub a: BoardsStep,
    /// The second board.
    pub b: BoardsStep,
    /// The squares on which they differ, men in hands aside.
    pub squares: Vec<Sq>,
    /// Number of plies of the game up to the last position that both have shown.
    pub ply: Option<usize>,
    /// That position, as a FEN.
    pub fen: Option<String>,
    /// White's time left, in milliseconds.
    pub white_ms: Option<u64>,
    /// Black's time left, in milliseconds.
    pub black_ms: Option<u64>,
    /// The game is over.
    #[serde(skip_serializing_if = "is_false")]
    pub over: bool,
    /// Who may see it.
    pub to: Audience,
}

/// A state of the game in law, as far as it changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LawState {
    /// The arbiter may be shown the number of moves (Article 12.6 with 8.5).
    #[serde(skip_serializing_if = "is_false")]
    pub arbiter_may_see_count: bool,
    /// The move that has to be the sealed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed_must_equal: Option<MoveText>,
    /// A reply was sealed.
    #[serde(skip_serializing_if = "is_false")]
    pub reply_sealed: bool,
    /// How the clock counts now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<&'static str>,
    /// The increment, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inc_ms: Option<u64>,
    /// For both players.
    #[serde(skip_serializing_if = "is_false")]
    pub both: bool,
    /// The period of the time control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<u32>,
    /// Moves completed in the period, of the side that has completed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves_in_period: Option<std::collections::BTreeMap<&'static str, u32>>,
    /// Points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Both<Points>>,
    /// A penalty by the arbiter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty: Option<Penalty>,
}

/// Points of a game, counted in halves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Points(pub u8);

impl Serialize for Points {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            0 => serializer.serialize_u8(0),
            1 => serializer.serialize_f64(0.5),
            _ => serializer.serialize_u8(1),
        }
    }
}

/// An entry of the arbiter: what was commanded, and what it changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The command in its own words.
    pub command: String,
    /// Whether it was carried out.
    pub accepted: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The position before, as a FEN, where it is another one after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The position after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A fact of the Laws layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LawFact {
    /// Something to know.
    Advisory(Box<Notice>),
    /// What putting an earlier position up again takes.
    Restore(Restore),
    /// A claim, looked at.
    ClaimCheck(ClaimCheck),
    /// A time, worked out.
    Clock(Box<ClockCalc>),
    /// The external clock is to be set.
    ClockOrder(ClockOrder),
    /// It was set.
    ClockSet(ClockSet),
    /// A penalty.
    Penalty(Penalty),
    /// A position, times and score, frozen.
    Snapshot(Box<Snapshot>),
    /// `boards`: the two boards of one game.
    Boards(Box<BoardsState>),
    /// A state that changed.
    State(Box<LawState>),
    /// An entry of the arbiter.
    ArbiterEntry(Entry),
    /// An illegal move stands: the game goes on from this position.
    IllegalStands {
        /// The position, as a FEN.
        fen: String,
        /// Who made it.
        by: Side,
        /// The move as it looks.
        attempt: String,
        /// Who may see it.
        to: Audience,
    },
    /// Whether a side can mate by any sequence of legal moves.
    CanMate {
        /// The side.
        side: Side,
        /// Whether it can; nothing when it is not known.
        value: Option<bool>,
        /// Moves that end in the mate.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        proof: Vec<MoveText>,
        /// Why it cannot.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        /// Who may see it.
        to: Audience,
    },
    /// Whether the position is dead: nobody can mate any more (Article 5.2.2).
    DeadCheck {
        /// `dead`, `alive` or `unknown`.
        value: &'static str,
        /// Moves that end in a mate.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        proof: Vec<MoveText>,
        /// Who may see it.
        to: Audience,
    },
    /// The moves that each side has made.
    MoveCount {
        /// White's.
        white: u32,
        /// Black's.
        black: u32,
        /// Who may see it.
        to: Audience,
    },
    /// Whether the moves of a period were completed when the flag fell.
    FlagCheck {
        /// Whose flag.
        side: Side,
        /// Moves completed.
        completed: u32,
        /// Moves required; nothing when the period has no number of moves.
        required: Option<u32>,
        /// Whether they were.
        met: bool,
        /// Who may see it.
        to: Audience,
    },
    /// Whether a player came too late.
    DefaultCheck {
        /// Who.
        side: Side,
        /// By how much, in milliseconds.
        late_ms: u64,
        /// How much is allowed, in milliseconds.
        limit_ms: u64,
        /// Whether the game is lost, unless the arbiter decides otherwise.
        lost: bool,
        /// Who may see it.
        to: Audience,
    },
    /// A number of requests.
    Counter {
        /// Of what.
        name: &'static str,
        /// Whose.
        side: Side,
        /// How many.
        value: u32,
        /// Whether it is within the limit.
        allowed: bool,
        /// Who may see it.
        to: Audience,
    },
    /// Whether a player has to record the moves (Article 8.4).
    Recording {
        /// Who.
        color: Side,
        /// Time left, in milliseconds.
        remaining_ms: u64,
        /// The increment, in milliseconds.
        inc_ms: u64,
        /// Whether.
        required: bool,
        /// The time had been lower in this period.
        #[serde(skip_serializing_if = "is_false")]
        was_below: bool,
    },
    /// How long a player thought about a move, without the time in which the clocks were stopped.
    ThinkTime {
        /// Number of the ply, counted from 1 at the first event of the log.
        ply: usize,
        /// Whose.
        side: Side,
        /// Milliseconds.
        ms: u64,
        /// What ended it: `press`, or `made` where nobody presses.
        ended_by: &'static str,
    },
    /// A position that has to stand on the board.
    Position {
        /// The position, as a FEN.
        fen: String,
    },
    /// The men were seen exchanged at the set-up.
    Setup {
        /// The squares.
        swap: Vec<Sq>,
        /// What stands there.
        identities: std::collections::BTreeMap<String, String>,
    },
    /// The words of an announcement.
    Spoken {
        /// The move.
        uci: MoveText,
        /// The words.
        text: String,
    },
    /// What an envelope shows (Annex A / Guideline I): never the move.
    Envelope(Box<Envelope>),
    /// The array that a game of Chess960 begins with.
    C960Start {
        /// The men, as the first field of a FEN.
        fen: String,
        /// Whether it is one of the 960.
        valid: bool,
        /// Its number, where it is.
        number: Option<u16>,
        /// The number that the event states.
        #[serde(skip_serializing_if = "Option::is_none")]
        stated: Option<u16>,
    },
    /// How castling shows on a Chess960 board.
    C960Castle {
        /// The move: the king takes its rook.
        uci: MoveText,
        /// Whether it is legal.
        legal: bool,
        /// `double`, `transposition`, `king-only`, `rook-only`.
        method: &'static str,
        /// Squares that become empty.
        vacated: Vec<Sq>,
        /// Squares that become occupied.
        filled: Vec<Sq>,
    },
}

/// What is written on the envelope of a sealed move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Envelope {
    /// The writing.
    pub fields: EnvelopeFields,
    /// Who may see it.
    pub to: Audience,
}

/// The writing on an envelope.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EnvelopeFields {
    /// The names of the players, White first, where they are known.
    pub players: Both<Option<String>>,
    /// The position before the sealed move, as a FEN.
    pub position: String,
    /// Time used, in milliseconds, where the clock and the time control are known.
    pub time_used: Both<Option<u64>>,
    /// Who sealed.
    pub sealed_by: Side,
    /// Number of the sealed move.
    pub move_number: u32,
    /// A draw offer stands.
    pub draw_offer: bool,
    /// Date, time and place of the resumption: to be filled in.
    pub resumption: Option<String>,
}

impl LawFact {
    /// The name in the journal.
    pub const fn name(&self) -> &'static str {
        match self {
            LawFact::Advisory(_) => "advisory",
            LawFact::Restore(_) => "restore",
            LawFact::ClaimCheck(_) => "claim_check",
            LawFact::Clock(_) => "clock",
            LawFact::ClockOrder(_) => "clock_order",
            LawFact::ClockSet(_) => "clock_set",
            LawFact::Penalty(_) => "penalty",
            LawFact::Snapshot(_) => "snapshot",
            LawFact::Boards(_) => "boards",
            LawFact::State(_) => "state",
            LawFact::ArbiterEntry(_) => "arbiter_entry",
            LawFact::IllegalStands { .. } => "illegal_stands",
            LawFact::CanMate { .. } => "can_mate",
            LawFact::DeadCheck { .. } => "dead_check",
            LawFact::MoveCount { .. } => "move_count",
            LawFact::FlagCheck { .. } => "flag_check",
            LawFact::DefaultCheck { .. } => "default_check",
            LawFact::Counter { .. } => "counter",
            LawFact::Recording { .. } => "recording",
            LawFact::ThinkTime { .. } => "think_time",
            LawFact::Position { .. } => "position",
            LawFact::Setup { .. } => "setup",
            LawFact::Spoken { .. } => "spoken",
            LawFact::Envelope(_) => "envelope",
            LawFact::C960Start { .. } => "c960_start",
            LawFact::C960Castle { .. } => "c960_castle",
        }
    }

    /// Who may see it.
    pub fn audience(&self) -> Audience {
        match self {
            LawFact::Advisory(notice) => notice.to,
            LawFact::Restore(Restore { to, .. })
            | LawFact::ClockOrder(ClockOrder { to, .. })
            | LawFact::ClockSet(ClockSet { to, .. })
            | LawFact::Penalty(Penalty { to, .. })
            | LawFact::IllegalStands { to, .. }
            | LawFact::CanMate { to, .. }
            | LawFact::DeadCheck { to, .. }
            | LawFact::MoveCount { to, .. }
            | LawFact::FlagCheck { to, .. }
            | LawFact::DefaultCheck { to, .. }
            | LawFact::Counter { to, .. } => *to,
            LawFact::ClaimCheck(_) | LawFact::ArbiterEntry(_) | LawFact::Setup { .. } => Audience::Arbiter,
            LawFact::Envelope(envelope) => envelope.to,
            LawFact::Snapshot(snapshot) => snapshot.to,
            LawFact::Boards(boards) => boards.to,
            LawFact::Spoken { .. } => Audience::Assistant,
            LawFact::Clock(_)
            | LawFact::State(_)
            | LawFact::Recording { .. }
            | LawFact::ThinkTime { .. }
            | LawFact::Position { .. }
            | LawFact::C960Start { .. }
            | LawFact::C960Castle { .. } => Audience::Journal,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)]
pub(super) const fn is_false(value: &bool) -> bool {
    !*value
}
