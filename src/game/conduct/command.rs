//! The commands of an arbiter, as one typed list: in a sensor log, over HTTP and on the command line they
//! are the same words.

use serde_json::{Map, Value};
use shakmaty::{CastlingMode, Chess, Color, Role, fen::Fen, uci::UciMove};

use crate::session::event::{GameResult, MAX_CLOCK_MS};

/// A command of an arbiter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Command {
    /// `confirm`: what is on record is so.
    Confirm,
    /// `reject`: it is not, or a claim is refused.
    Reject,
    /// `claim-rejected`: the same; where no claim is on record, one that was made by word.
    RejectClaim,
    /// `claim-accepted`: the claim is right.
    Accept,
    /// `postpone`: a claim in the quickplay finish is decided later; `bonus` gives the opponent time.
    Postpone,
    /// `pause`: both clocks were stopped by the arbiter.
    Pause,
    /// `run [SIDE]`: a clock was started; where this program keeps the clock, it is. Without a side the one that
    /// was stopped, or that of the player to move.
    Run(Option<Color>),
    /// `restore [PLY]`: the position after so many plies has to be put up; without a number the present one.
    Restore(Option<usize>),
    /// `illegal-found-at-ply PLY`: that ply was illegal.
    IllegalAt(usize),
    /// `restore-times`: what the clocks showed.
    RestoreTimes,
    /// `set position FEN`
    SetPosition(Box<Chess>),
    /// `set clock SIDE MS`
    SetClock(Color, u64),
    /// `send-clock [paused|run-white|run-black]`: the times as ruled are sent to the external clock.
    SendClock(Option<Color>),
    /// `correct [PLY] MOVE`: that ply, or the last one with such squares, was another move.
    Correct(Option<usize>, String),
    /// `promotion PIECE`: the man that was promoted last is this one.
    Promotion(Role),
    /// `move MOVE`: the move that was made, where the board does not tell it.
    Move(String),
    /// `dead-check`: whether anybody can still mate.
    DeadCheck,
    /// `boards`: where each of two boards is in the game.
    Boards,
    /// `result RESULT`
    Result(GameResult),
    /// `default [SIDE]`: the player did not come; without a side whoever gave no sign.
    Default(Option<Color>),
    /// `draw-agreed`: the players told the arbiter that they agree.
    Agreement,
    /// `penalty KIND SIDE [MS]`
    Penalty(PenaltyKind, Color, Option<u64>),
    /// `extra-time SIDE|both MS`
    ExtraTime(Option<Color>, i64),
    /// `flag-observed`, `claim`
    FlagObserved,
    /// `both-flags [last-period]`
    BothFlags(bool),
    /// `SIDE-arrived`
    Arrived(Color),
    /// `late-check`
    LateCheck,
    /// `colours-reversed`
    ColoursReversed,
    /// `still-illegal-after-next-move`
    StillIllegal,
    /// `period-added [SIDE]`; without a side for the one whose control was reached.
    PeriodAdded(Option<Color>),
    /// `freeze`
    Freeze,
    /// `five-seconds-on`
    FiveSeconds,
    /// `seal-request`
    SealRequest,
    /// `seal-early [MS]`: the time that is left of the session.
    SealEarly(Option<u64>),
    /// `open-envelope MOVE`
    OpenEnvelope(String),
    /// `envelope-missing`
    EnvelopeMissing,
    /// `position-lost`: the adjourned position cannot be put up again.
    PositionLost,
    /// `reply-sealed`
    ReplySealed,
    /// `resume`
    Resume,
    /// `transfer-board`
    TransferBoard,
    /// `scoresheets-inconclusive`
    Inconclusive,
    /// `void`: a wrong initial position; the game does not count.
    Void,
    /// `no-castling SIDE`: the king or the rook stood wrong at the start.
    NoCastling(Color),
    /// `touch SIDE SQUARE`: the arbiter saw it.
    Touch(Color, shakmaty::Square),
    /// `dismiss-touches`: what was lifted was no touch in law.
    DismissTouches,
}

/// The penalties of Article 12.9 (2005: 13.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PenaltyKind {
    Warning,
    MoreTimeOpponent,
    ReduceOwnTime,
    Loss,
    FewerPoints,
    MorePointsOpponent,
    Expulsion,
    Fine,
    ExclusionFromRounds,
}

impl PenaltyKind {
    const ALL: [(&'static str, PenaltyKind); 9] = [
        ("warning", PenaltyKind::Warning),
        ("bonus", PenaltyKind::MoreTimeOpponent),
        ("reduce", PenaltyKind::ReduceOwnTime),
        ("loss", PenaltyKind::Loss),
        ("fewer-points", PenaltyKind::FewerPoints),
        ("more-points-opponent", PenaltyKind::MorePointsOpponent),
        ("expulsion", PenaltyKind::Expulsion),
        ("fine", PenaltyKind::Fine),
        ("exclusion", PenaltyKind::ExclusionFromRounds),
    ];

    /// The word of the journal.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            PenaltyKind::Warning => "warning",
            PenaltyKind::MoreTimeOpponent => "more-time-opponent",
            PenaltyKind::ReduceOwnTime => "reduce-own-time",
            PenaltyKind::Loss => "loss",
            PenaltyKind::FewerPoints => "fewer-points",
            PenaltyKind::MorePointsOpponent => "more-points-opponent",
            PenaltyKind::Expulsion => "expulsion",
            PenaltyKind::Fine => "fine",
            PenaltyKind::ExclusionFromRounds => "exclusion-from-rounds",
        }
    }
}

/// Why a command cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CommandError {
    /// It is neither a word nor an object with one.
    #[error("a command is a text, or an object with the key \"command\"")]
    Form,
    /// There is no such command.
    #[error("there is no command {given:?}; docs/laws.md lists them")]
    Unknown {
        /// What was given.
        given: String,
    },
    /// Something is missing or wrong behind the word.
    #[error("{command}: expected {expected}, found {found:?}")]
    Argument {
        /// The command.
        command: &'static str,
        /// What belongs there.
        expected: &'static str,
        /// What was given.
        found: String,
    },
}

/// Whether a text is a command of an arbiter; where the variant matters, of standard chess or of Chess960.
///
/// # Errors
/// It is none; the message says what belongs there.
pub fn check_command(text: &str) -> Result<(), String> {
    let read = |mode| Command::parse(text.trim(), mode);
    match read(CastlingMode::Standard).or_else(|error| read(CastlingMode::Chess960).map_err(|_| error)) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// The command in its own words, of a text or of an object such as `{"command":"restore","ply":12}`.
pub(super) fn words(value: &Value) -> Result<String, CommandError> {
    match value {
        Value::String(text) => Ok(text.trim().to_owned()),
        Value::Object(map) => of_object(map),
        _ => Err(CommandError::Form),
    }
}

fn of_object(map: &Map<String, Value>) -> Result<String, CommandError> {
    let command = map.get("command").and_then(Value::as_str).ok_or(CommandError::Form)?;
    let mut text = command.trim().to_owned();
    // In the order in which the words of a command follow each other.
    for key in ["kind", "ply", "side", "square", "fen", "uci", "move", "piece", "result", "ms"] {
        match map.get(key) {
            Some(Value::String(word)) => text = format!("{text} {}", word.trim()),
            Some(Value::Number(number)) => text = format!("{text} {number}"),
            _ => {}
        }
    }
    Ok(text)
}

/// The argument words of a command.
struct Rest<'a> {
    command: &'static str,
    words: std::str::SplitWhitespace<'a>,
    text: &'a str,
}

impl Rest<'_> {
    fn wrong(&self, expected: &'static str, found: &str) -> CommandError {
        CommandError::Argument { command: self.command, expected, found: found.to_owned() }
    }

    fn word<T>(
        &mut self,
        expected: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, CommandError> {
        let word = self.words.next().unwrap_or("");
        read(word).ok_or_else(|| self.wrong(expected, word))
    }

    fn side(&mut self) -> Result<Color, CommandError> {
        self.word("white or black", side)
    }

    fn number<T: std::str::FromStr>(&mut self, expected: &'static str) -> Result<T, CommandError> {
        self.word(expected, |word| word.parse().ok())
    }

    fn optional<T: std::str::FromStr>(&mut self, expected: &'static str) -> Result<Option<T>, CommandError> {
        match self.words.next() {
            None => Ok(None),
            Some(word) => word.parse().map(Some).map_err(|_| self.wrong(expected, word)),
        }
    }

    /// Milliseconds, where some are named.
    fn some_ms(&mut self) -> Result<Option<u64>, CommandError> {
        match self.words.next() {
            None => Ok(None),
            Some(word) => ms_of(word).map(Some).ok_or_else(|| self.wrong(MS, word)),
        }
    }

    fn all(&self, expected: &'static str) -> Result<String, CommandError> {
        let text = self.text.trim();
        if text.is_empty() { Err(self.wrong(expected, "")) } else { Ok(text.to_owned()) }
    }
}

fn ms_of(word: &str) -> Option<u64> {
    word.parse().ok().filter(|ms| *ms <= MAX_CLOCK_MS)
}

/// The same with a sign.
fn change_of(word: &str) -> Option<i64> {
    word.parse().ok().filter(|ms: &i64| ms.unsigned_abs() <= MAX_CLOCK_MS)
}

fn side(word: &str) -> Option<Color> {
    match word {
        "white" => Some(Color::White),
        "black" => Some(Color::Black),
        _ => None,
    }
}

/// A piece that a pawn is promoted to: its letter or its name, or the move.
fn piece(word: &str) -> Option<Role> {
    let role = match word.to_ascii_lowercase().as_str() {
        "q" | "queen" => Role::Queen,
        "r" | "rook" => Role::Rook,
        "b" | "bishop" => Role::Bishop,
        "n" | "knight" => Role::Knight,
        text => match text.parse().ok()? {
            UciMove::Normal { promotion, .. } => return promotion,
            _ => return None,
        },
    };
    Some(role)
}

const PIECE: &str = "Q, R, B or N";
const MS: &str = "a number of milliseconds, at most a day";
const PLY: &str = "the number of a ply, counted from 1 at the first move of the game";

impl Command {
    /// Reads a command.
    pub(super) fn parse(text: &str, mode: CastlingMode) -> Result<Command, CommandError> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if let Some(side) = word.strip_suffix("-arrived").and_then(side) {
            return Ok(Command::Arrived(side));
        }
        let rest = |command: &'static str| Rest { command, words: rest.split_whitespace(), text: rest };
        Ok(match word {
            "confirm" | "confirm-illegal" | "confirm-two-hands" | "two-hands" | "sealed-move-invalid" => {
                Command::Confirm
            }
            "reject" => Command::Reject,
            "claim-rejected" => Command::RejectClaim,
            "accept" | "claim-accepted" | "claim-upheld" | "agree" => Command::Accept,
            "postpone" => Command::Postpone,
            "pause" => Command::Pause,
            "run" => Command::Run(match rest("run").text.trim() {
                "" => None,
                _ => Some(rest("run").side()?),
            }),
            "restore" | "retrace" => Command::Restore(rest("restore").optional(PLY)?),
            // The score sheets agree up to there (Appendix D.2.8; 2005: F.2.8).
            "restore-to-ply" | "retrace-to-ply" | "scores-agree-to-ply" | "scores-agree-at-ply" => {
                Command::Restore(Some(rest("restore-to-ply").number(PLY)?))
            }
            "scores-differ-from-ply" | "scores-differ-at-ply" => {
                let first: usize = rest("scores-differ-from-ply").number(PLY)?;
                Command::Restore(Some(first.saturating_sub(1)))
            }
            "illegal-found-at-ply" => Command::IllegalAt(rest("illegal-found-at-ply").number(PLY)?),
            "restore-times" => Command::RestoreTimes,
            "set" => return Command::set(rest("set"), mode),
            "send-clock" => {
                let mut rest = rest("send-clock");
                Command::SendClock(rest.word("paused, run-white or run-black", |word| match word {
                    "" | "paused" => Some(None),
                    word => word.strip_prefix("run-").and_then(side).map(Some),
                })?)
            }
            "correct" => {
                let mut rest = rest("correct");
                // `correct ply 7 e2e4` is the same, and `correct promotion N`.
                let first = rest.word(PLY, |word| Some(word.to_owned()))?;
                let ply = match (first.parse(), first.as_str()) {
                    (Ok(ply), _) => Some(ply),
                    (Err(_), "ply") => Some(rest.number(PLY)?),
                    (Err(_), "promotion") => return Ok(Command::Promotion(rest.word(PIECE, piece)?)),
                    (Err(_), text) if text.parse::<UciMove>().is_ok() => {
                        return Ok(Command::Correct(None, first));
                    }
                    (Err(_), _) => return Err(rest.wrong(PLY, &first)),
                };
                let uci = rest.word("a move", |word| (!word.is_empty()).then(|| word.to_owned()))?;
                Command::Correct(ply, uci)
            }
            "promotion" | "promotion-piece" | "promoted-piece" | "correct-promotion" => {
                Command::Promotion(rest("promotion").word(PIECE, piece)?)
            }
            "move" => Command::Move(rest("move").all("a move")?),
            "dead-check" => Command::DeadCheck,
            "boards" => Command::Boards,
            "result" => {
                Command::Result(rest("result").word("1-0, 0-1, 1/2-1/2, 0-0 or *", GameResult::parse)?)
            }
            "draw" | "draw-agreed" => Command::Agreement,
            "default" => Command::Default(match rest("default").text.trim() {
                "" => None,
                _ => Some(rest("default").side()?),
            }),
            "quickplay-draw" => Command::Accept,
            "both-lose" => Command::Result(GameResult::BothLose),
            "penalty" => {
                let mut rest = rest("penalty");
                let kind = rest.word(
                    "warning, bonus, reduce, loss, fewer-points, more-points-opponent, expulsion, fine or exclusion",
                    |word| PenaltyKind::ALL.into_iter().find(|(name, _)| *name == word).map(|(_, kind)| kind),
                )?;
                Command::Penalty(kind, rest.side()?, rest.some_ms()?)
            }
            "extra-time" => {
                let mut rest = rest("extra-time");
                let whose = rest.word("white, black or both", |word| match word {
                    "both" => Some(None),
                    word => side(word).map(Some),
                })?;
                Command::ExtraTime(whose, rest.word(MS, change_of)?)
            }
            "flag-observed" | "claim" | "time-claim" => Command::FlagObserved,
            "both-flags" => Command::BothFlags(rest("both-flags").text.contains("last")),
            "both-flags-last-period" => Command::BothFlags(true),
            "late-check" => Command::LateCheck,
            "colours-reversed" => Command::ColoursReversed,
            "still-illegal-after-next-move" => Command::StillIllegal,
            "period-added" => Command::PeriodAdded(match rest("period-added").text.trim() {
                "" => None,
                _ => Some(rest("period-added").side()?),
            }),
            "freeze" => Command::Freeze,
            "five-seconds-on" => Command::FiveSeconds,
            "seal-request" => Command::SealRequest,
            "seal-early" => Command::SealEarly(rest("seal-early").some_ms()?),
            "open-envelope" => Command::OpenEnvelope(rest("open-envelope").all("the move on the paper")?),
            "envelope-missing" => Command::EnvelopeMissing,
            "position-lost" | "position-unknown" => Command::PositionLost,
            "reply-sealed" => Command::ReplySealed,
            "resume" => Command::Resume,
            "transfer-board" => Command::TransferBoard,
            "scoresheets-inconclusive" | "period.begin_here" | "begin-period" => Command::Inconclusive,
            "void"
            | "new-game"
            | "wrong-initial-position"
            | "initial-position-wrong"
            | "wrong-array"
            | "setup-wrong" => Command::Void,
            "no-castling" => Command::NoCastling(rest("no-castling").side()?),
            "touch" => {
                let mut rest = rest("touch");
                Command::Touch(rest.side()?, rest.number("a square")?)
            }
            "dismiss-touches" => Command::DismissTouches,
            // A move alone is the one that was made.
            text if text.parse::<UciMove>().is_ok() => Command::Move(text.to_owned()),
            _ => return Err(CommandError::Unknown { given: word.to_owned() }),
        })
    }

    /// True for what makes sense when the game has ended.
    pub(super) const fn is_possible_after_the_end(&self) -> bool {
        matches!(
            self,
            Command::Result(_)
                | Command::Void
                | Command::PositionLost
                | Command::Freeze
                | Command::Penalty(..)
                | Command::Correct(..)
                | Command::Promotion(_)
                | Command::Resume
                | Command::EnvelopeMissing
        )
    }

    fn set(mut rest: Rest<'_>, mode: CastlingMode) -> Result<Command, CommandError> {
        match rest.words.next() {
            Some("position") => {
                let text = rest.text.trim().strip_prefix("position").unwrap_or_default().trim();
                let wrong = || rest.wrong("a FEN of a legal position", text);
                let fen: Fen = text.parse().map_err(|_| wrong())?;
                let position: Result<Chess, _> = fen.into_position(mode);
                position.map(|position| Command::SetPosition(Box::new(position))).map_err(|_| wrong())
            }
            Some("clock") => {
                let side = rest.side()?;
                Ok(Command::SetClock(side, rest.word(MS, ms_of)?))
            }
            other => Err(rest.wrong("position or clock", other.unwrap_or(""))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Result<Command, CommandError> {
        Command::parse(&words(value)?, CastlingMode::Standard)
    }

    #[test]
    fn a_word_and_an_object_say_the_same() {
        for (text, object) in [
            ("restore 12", json!({"command": "restore", "ply": 12})),
            (
                "penalty reduce white 60000",
                json!({"command": "penalty", "kind": "reduce", "side": "white", "ms": 60000}),
            ),
            ("correct 7 e2e4", json!({"command": "correct", "ply": 7, "uci": "e2e4"})),
            ("set clock black 1000", json!({"command": "set clock", "side": "black", "ms": 1000})),
        ] {
            assert_eq!(read(&json!(text)).unwrap(), read(&object).unwrap(), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_what_belongs_there() {
        let error = |text: &str| read(&json!(text)).unwrap_err().to_string();
        assert_eq!(error("resign"), "there is no command \"resign\"; docs/laws.md lists them");
        assert_eq!(error("set clock red 5"), "set: expected white or black, found \"red\"");
        assert!(error("set position 8/8").contains("FEN"));
        assert!(error("restore last").contains("ply"));
        assert_eq!(read(&json!(7)).unwrap_err(), CommandError::Form);
        assert!(error("result 2-0").contains("0-0"));
        for text in [
            "set clock white 86400001",
            "extra-time white 99999999999",
            "extra-time both -86400001",
            "penalty bonus white 999999999999",
            "seal-early 86400001",
        ] {
            assert!(error(text).contains("at most a day"), "{text}: {}", error(text));
        }
        assert_eq!(read(&json!("extra-time both -86400000")).unwrap(), Command::ExtraTime(None, -86_400_000));
    }
}
