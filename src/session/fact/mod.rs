//! What the session concludes: the facts of the journal, in the vocabulary of the Laws layer.

pub mod law;
mod obligation;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;
use shakmaty::{Bitboard, Color, Piece, Square};

use self::law::{Audience, LawFact, Obligation};
use super::{
    clock::{Estimate, Finding},
    event::{ClockReading, GameResult},
    text::MoveText,
    time::MonoTime,
};

/// How sure a fact is, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Read from a sensor.
    Sensor,
    /// Follows from the Laws.
    Law,
    /// The only explanation of what the sensors showed.
    Inferred,
    /// A presumption that time or a press supports.
    Presumed,
    /// A convention in the absence of evidence (a promoted piece is a queen).
    Assumed,
    /// Said by the arbiter.
    Arbiter,
}

impl Certainty {
    /// The word of the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Certainty::Sensor => "sensor",
            Certainty::Law => "law",
            Certainty::Inferred => "inferred",
            Certainty::Presumed => "presumed",
            Certainty::Assumed => "assumed",
            Certainty::Arbiter => "arbiter",
        }
    }
}

/// What completed a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletedBy {
    /// The player pressed the clock (Article 6.2.1).
    Press,
    /// The player had pressed a little before the man was seen to land.
    EarlierPress,
    /// The move ended the game (Article 6.2.1.1).
    GameEnd,
    /// The player's own next move (Article 6.2.1.2, Laws of 2023).
    NextMove,
}

impl CompletedBy {
    /// The word of the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            CompletedBy::Press => "press",
            CompletedBy::EarlierPress => "earlier-press",
            CompletedBy::GameEnd => "game-end",
            CompletedBy::NextMove => "next-move",
        }
    }
}

/// Whether the end of a game follows from its moves alone, and from nothing that persons said.
pub fn follows_from_board(reason: &str) -> bool {
    matches!(reason, "checkmate" | "stalemate" | "dead-position" | "fivefold" | "seventyfive")
}

/// What some ends of a game have besides their reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndDetail {
    /// The side that cannot mate by any sequence of legal moves, where that made it a draw.
    pub cannot_mate: Option<Color>,
    /// The move that the claimant wrote and announced.
    pub intended: Option<MoveText>,
    /// An arbiter decides later (Annex D of 2005, Guideline III.6).
    pub pending: bool,
}

/// What some moves have besides their squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MadeDetail {
    /// Not completed yet: until then the player may still be found to have moved on, or the move to be
    /// another one (Article 4.7).
    pub provisional: bool,
    /// It must not leave: it is the sealed move.
    pub embargoed: bool,
    /// The promoted piece is taken to be a queen.
    pub assumed: bool,
    /// What made it the only move.
    pub by_rule: Option<ByRule>,
}

/// What made a move the only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByRule {
    /// The envelope held it.
    Sealed,
    /// The envelope is gone, and the sealer stated it.
    Stated,
    /// A pawn that was left on the last rank becomes a queen (Article 7.5.2).
    Queen,
}

impl ByRule {
    /// The word of the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            ByRule::Sealed => "sealed",
            ByRule::Stated => "stated",
            ByRule::Queen => "7.5.2",
        }
    }
}

/// The reason of a game that does not count.
const VOID: &str = "void";

/// How a game ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// The result; [`GameResult::Ongoing`] takes an earlier one back.
    pub result: GameResult,
    /// Why, in the words of the journal.
    pub reason: &'static str,
    /// How sure it is.
    pub certainty: Certainty,
    /// What belongs to some ends only.
    pub more: EndDetail,
}

impl Conclusion {
    /// An end without details.
    pub const fn of(result: GameResult, reason: &'static str, certainty: Certainty) -> Conclusion {
        let more = EndDetail { cannot_mate: None, intended: None, pending: false };
        Conclusion { result, reason, certainty, more }
    }

    /// The game does not count (Articles 7.1, 7.2): it is over without a result.
    pub const fn void() -> Conclusion {
        Conclusion::of(GameResult::Ongoing, VOID, Certainty::Arbiter)
    }

    /// True for [`Conclusion::void`].
    pub fn is_void(&self) -> bool {
        self.reason == VOID
    }
}

/// A fact with its place in the log and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Index of the decoded event after which it became known, -1 before the first.
    pub ev: i64,
    /// When it became known: the time of the event or of the deadline that fired.
    pub at: MonoTime,
    /// What became known.
    pub kind: FactKind,
}

/// The kinds of facts.
#[derive(Clone, Debug, PartialEq)]
pub enum FactKind {
    /// A man left its square. Reed and DGT boards see a lower bound of the touch of the Laws, a
    /// pegged board the touch itself.
    Touch {
        /// The side that had the move, to which the touch is charged.
        by: Color,
        /// The square.
        square: Square,
        /// The man that stands there in the reconstructed game, as a FEN letter.
        piece: char,
        /// `law` where the lift is the touch of the Laws, `sensor` where it is a lower bound of it.
        certainty: Certainty,
    },
    /// A man was lifted and put back on its square.
    PutBack {
        /// The square.
        square: Square,
        /// Milliseconds between lift and return.
        ms: u64,
        /// An adjustment had been announced before the lift (Article 4.2): it was no touch.
        adjusting: bool,
    },
    /// A move was made, presumably released (Article 4.7).
    MoveMade {
        /// Number of the ply, counted from 1 at the first event of the log.
        ply: usize,
        /// The move.
        uci: MoveText,
        /// The same in standard algebraic notation.
        san: MoveText,
        /// The side that moved.
        by: Color,
        /// When the last square that the move needs was settled: the earliest time of the making.
        placed: MonoTime,
        /// The latest time of the making.
        latest: MonoTime,
        /// What belongs to some moves only.
        more: MadeDetail,
    },
    /// The move may be shown: it cannot go on, and every surviving reading contains it.
    MovePublished {
        /// Number of the ply.
        ply: usize,
        /// The move.
        uci: MoveText,
        /// When it was made.
        made: MonoTime,
    },
    /// A made move was undone before its completion.
    MoveWithdrawn {
        /// Number of the ply.
        ply: usize,
        /// The move.
        uci: MoveText,
        /// True when it had been published.
        published: bool,
    },
    /// A made move was completed (Article 6.2.1).
    MoveCompleted {
        /// Number of the ply.
        ply: usize,
        /// The move.
        uci: MoveText,
        /// The side that moved.
        by: Color,
        /// What completed it.
        how: CompletedBy,
        /// Time left on the mover's clock at that moment, where a clock told it.
        clock_ms: Option<u64>,
    },
    /// The clock told after the press how much time the mover has left.
    PlyClock {
        /// Number of the ply.
        ply: usize,
        /// Time left on the mover's clock, in milliseconds, as well as it is known.
        clock_ms: u64,
        /// What the clock shows of it, once a reading tells that.
        shown_ms: Option<u64>,
        /// It is known better than a reading tells, or none has told it yet: what all of them allow.
        estimate: Option<Estimate>,
    },
    /// All that will be known of the press of a ply and of the time that its player had left after it: the
    /// opponent has pressed.
    PlyTime {
        /// Number of the ply.
        ply: usize,
        /// The time left on the mover's clock after the press.
        left: Estimate,
        /// The press was not before this moment.
        from: MonoTime,
        /// Nor after this one.
        to: MonoTime,
    },
    /// What the readings of the clock show beyond the times. This goes to the Laws layer only, which tells it.
    ClockFinding(Finding),
    /// A made move was replaced by later evidence or by the arbiter.
    MoveRevised {
        /// Number of the ply.
        ply: usize,
        /// The move that was recorded before.
        was: MoveText,
        /// The move that is recorded now.
        uci: MoveText,
        /// The same in standard algebraic notation.
        san: MoveText,
        /// Why.
        reason: &'static str,
        /// True when it had been published.
        published: bool,
    },
    /// The clock was pressed over a position that no legal move explains (Article 7.5).
    IllegalMove {
        /// The side that pressed.
        by: Color,
        /// The move as it looks, where one man changed its square.
        attempt: Option<String>,
        /// `illegal-move`, `incomplete`, `unpromoted`, `press-without-move`, ...
        kind: &'static str,
        /// Which such irregularity of this side it is, counted from 1.
        n: u32,
        /// Who may see it.
        to: Audience,
    },
    /// Several moves fit what the sensors show.
    Ambiguous {
        /// All of them, in UCI; `e7e8*` is a promotion to any piece.
        candidates: Vec<String>,
    },
    /// Two plies were found at once, or could be; all pairs that fit.
    TwoPly {
        /// Each as two moves in UCI.
        candidates: Vec<[String; 2]>,
    },
    /// Something that a person should know.
    Advisory {
        /// Code of the catalogue, such as `setup-missing`.
        code: &'static str,
        /// The side it is about, where it is about one.
        side: Option<Color>,
        /// The squares it is about.
        squares: Bitboard,
        /// Who may see it.
        to: Audience,
        /// A short explanation in words.
        detail: Box<str>,
    },
    /// Which way the board lies became known.
    Orientation {
        /// `normal`, `flipped`, or the side on which White's men stand: `left`, `right`.
        value: &'static str,
    },
    /// The game ended.
    GameEnd {
        /// The result.
        result: GameResult,
        /// `checkmate`, `stalemate`, `dead-position`, `kings-signal`, `entered`, ...
        reason: &'static str,
        /// How sure it is.
        certainty: Certainty,
        /// What belongs to some ends only.
        more: EndDetail,
    },
    /// A result that had been signalled was taken back at the board.
    ResultWithdrawn,
    /// A reading of the clock was taken over.
    Clock(ClockReading),
    /// What binds the player who has the move (Article 4).
    Obligation(Obligation),
    /// Another fact of the Laws layer.
    Law(Box<LawFact>),
    /// A square changed, in the numbering of the game. This goes to the Laws layer only and is never
    /// recorded: the input says the same.
    Contact {
        /// The square.
        square: Square,
        /// True when it became occupied.
        occupied: bool,
        /// The man, where the board tells.
        piece: Option<Piece>,
    },
}

/// The line of a fact of the Laws layer.
#[derive(Serialize)]
struct LawLine<'a, F> {
    ev: i64,
    us: u64,
    fact: &'static str,
    #[serde(flatten)]
    fields: &'a F,
}

/// The JSON value of a [`Fact`] without `seq`, `at` and `chain`: `us`, `ev`, `fact` and its fields.
impl Serialize for Fact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (ev, us, fact) = (self.ev, self.at.as_micros(), self.kind.name());
        match &self.kind {
            FactKind::Law(law) => return LawLine { ev, us, fact, fields: &**law }.serialize(serializer),
            FactKind::Obligation(bound) => {
                return LawLine { ev, us, fact, fields: bound }.serialize(serializer);
            }
            _ => {}
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("ev", &ev)?;
        map.serialize_entry("us", &us)?;
        map.serialize_entry("fact", fact)?;
        self.kind.fields(&mut map)?;
        map.end()
    }
}

fn color(side: Color) -> &'static str {
    side.fold_wb("white", "black")
}

impl FactKind {
    /// The name in the journal.
    pub fn name(&self) -> &'static str {
        match self {
            FactKind::Touch { .. } => "touch",
            FactKind::PutBack { adjusting: true, .. } => "adjust",
            FactKind::PutBack { adjusting: false, .. } => "put_back",
            FactKind::MoveMade { .. } => "move_made",
            FactKind::MovePublished { .. } => "move_published",
            FactKind::MoveWithdrawn { .. } => "move_withdrawn",
            FactKind::MoveCompleted { .. } => "move_completed",
            FactKind::PlyClock { .. } => "ply_clock",
            FactKind::PlyTime { .. } => "ply_time",
            FactKind::ClockFinding(_) => "clock_finding",
            FactKind::MoveRevised { .. } => "move_revised",
            FactKind::IllegalMove { .. } => "illegal_move",
            FactKind::Ambiguous { .. } => "ambiguous",
            FactKind::TwoPly { .. } => "two_ply",
            FactKind::Advisory { .. } => "advisory",
            FactKind::Orientation { .. } => "orientation",
            FactKind::GameEnd { .. } => "game_end",
            FactKind::ResultWithdrawn => "result_withdrawn",
            FactKind::Clock(_) => "clock",
            FactKind::Obligation(_) => "obligation",
            FactKind::Law(law) => law.name(),
            FactKind::Contact { .. } => "contact",
        }
    }

    /// True for the facts that must be on stable storage before anybody else hears of them.
    pub fn must_be_durable(&self) -> bool {
        match self {
            FactKind::Touch { .. }
            | FactKind::PutBack { .. }
            | FactKind::Clock(_)
            | FactKind::PlyTime { .. }
            | FactKind::ClockFinding(_)
            | FactKind::Contact { .. }
            // What binds a player follows from the touches: it is made out again from the inputs.
            | FactKind::Obligation(_) => false,
            _ => true,
        }
    }

    fn fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let squares = |set: Bitboard| set.into_iter().map(|s| s.to_string()).collect::<Vec<_>>();
        match self {
            FactKind::Touch { by, square, piece, certainty } => {
                map.serialize_entry("by", color(*by))?;
                map.serialize_entry("square", &square.to_string())?;
                map.serialize_entry("piece", piece)?;
                map.serialize_entry("certainty", certainty.as_str())?;
            }
            FactKind::PutBack { square, ms, .. } => {
                map.serialize_entry("square", &square.to_string())?;
                map.serialize_entry("lifted_ms", ms)?;
            }
            FactKind::MoveMade { ply, uci, san, by, placed, latest, more } => {
                map.serialize_entry("ply", ply)?;
                map.serialize_entry("uci", uci)?;
                map.serialize_entry("san", san)?;
                map.serialize_entry("by", color(*by))?;
                map.serialize_entry("placed_us", &placed.as_micros())?;
                map.serialize_entry("latest_us", &latest.as_micros())?;
                if more.provisional {
                    map.serialize_entry("provisional", &true)?;
                }
                if more.embargoed {
                    map.serialize_entry("publish", &false)?;
                }
                if let Some(rule) = more.by_rule {
                    map.serialize_entry("by_rule", rule.as_str())?;
                }
                if more.assumed {
                    map.serialize_entry("assumed", "promotion")?;
                }
            }
            FactKind::MovePublished { ply, uci, made } => {
                map.serialize_entry("ply", ply)?;
                map.serialize_entry("uci", uci)?;
                map.serialize_entry("made_us", &made.as_micros())?;
            }
            FactKind::MoveWithdrawn { ply, uci, published } => {
                map.serialize_entry("ply", ply)?;
                map.serialize_entry("uci", uci)?;
                map.serialize_entry("published", published)?;
            }
            FactKind::MoveCompleted { ply, uci, by, how, clock_ms } => {
                map.serialize_entry("ply", ply)?;
                map.serialize_entry("uci", uci)?;
                map.serialize_entry("by", color(*by))?;
                map.serialize_entry("how", how.as_str())?;
                if let Some(ms) = clock_ms {
                    map.serialize_entry("clock_ms", ms)?;
                }
            }
            FactKind::PlyClock { ply, clock_ms, shown_ms, estimate } => {
                map.serialize_entry("ply", ply)?;
                map.serialize_entry("clock_ms", clock_ms)?;
                if let Some(ms) = shown_ms.filter(|ms| ms != clock_ms) {
                    map.serialize_entry("shown_ms", &ms)?;
                }
                if let Some(Estimate { low_us, high_us, .. }) = estimate {
                    map.serialize_entry("estimated", &true)?;
                    map.serialize_entry("low_us", low_us)?;
                    map.serialize_entry("high_us", high_us)?;
                }
            }
            FactKind::PlyTime { ply, left: Estimate { us, low_us, high_us }, from, to } => {
                map.serialize_entry("ply", ply)?;
                map.serialize_entry("left_us", us)?;
                map.serialize_entry("low_us", low_us)?;
                map.serialize_entry("high_us", high_us)?;
                map.serialize_entry("pressed_from_us", &from.as_micros())?;
                map.serialize_entry("pressed_to_us", &to.as_micros())?;
            }
            FactKind::MoveRevised { ply, was, uci, san, reason, published } => {
                map.serialize_entry("ply", ply)?;
                map.serialize_entry("was", was)?;
                map.serialize_entry("uci", uci)?;
                map.serialize_entry("san", san)?;
                map.serialize_entry("reason", reason)?;
                map.serialize_entry("published", published)?;
            }
            FactKind::IllegalMove { by, attempt, kind, n, to } => {
                map.serialize_entry("by", color(*by))?;
                if let Some(attempt) = attempt {
                    map.serialize_entry("attempt", attempt)?;
                }
                map.serialize_entry("kind", kind)?;
                // It is an illegal move in law because it was pressed (Article 7.5.1).
                map.serialize_entry("completed", &true)?;
                map.serialize_entry("n", n)?;
                map.serialize_entry("to", to)?;
            }
            FactKind::Ambiguous { candidates } => {
                map.serialize_entry("candidates", candidates)?;
                if candidates.iter().any(|candidate| candidate.ends_with('*')) {
                    map.serialize_entry("promotion", "any")?;
                }
            }
            FactKind::TwoPly { candidates } => {
                map.serialize_entry("candidates", candidates)?;
            }
            FactKind::Advisory { code, side, squares: list, to, detail } => {
                map.serialize_entry("code", code)?;
                if let Some(side) = side {
                    map.serialize_entry("side", color(*side))?;
                }
                if list.any() {
                    map.serialize_entry("squares", &squares(*list))?;
                }
                map.serialize_entry("to", to.as_str())?;
                if !detail.is_empty() {
                    map.serialize_entry("detail", detail)?;
                }
            }
            FactKind::Orientation { value } => map.serialize_entry("value", value)?,
            FactKind::GameEnd { result, reason, certainty, more } => {
                map.serialize_entry("result", result.as_str())?;
                map.serialize_entry("reason", reason)?;
                // Mate, stalemate and dead position end a game by themselves.
                if *certainty == Certainty::Law {
                    map.serialize_entry("auto", &true)?;
                }
                map.serialize_entry("certainty", certainty.as_str())?;
                if let Some(side) = more.cannot_mate {
                    map.serialize_entry("cannot_mate", color(side))?;
                }
                if let Some(intended) = more.intended {
                    map.serialize_entry("intended", &intended)?;
                }
                if more.pending {
                    map.serialize_entry("pending", &true)?;
                }
            }
            FactKind::ResultWithdrawn
            | FactKind::Obligation(_)
            | FactKind::Law(_)
            | FactKind::Contact { .. }
            | FactKind::ClockFinding(_) => {}
            FactKind::Clock(reading) => {
                map.serialize_entry("white_ms", &reading.white_ms)?;
                map.serialize_entry("black_ms", &reading.black_ms)?;
                map.serialize_entry("running", &reading.running.map(color))?;
            }
        }
        Ok(())
    }
}

impl Fact {
    /// The JSON object of the fact.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}
