//! What persons in charge may know: types of their own, apart from those of the feeds.
//!
//! A [`FeedEvent`](super::FeedEvent) is made by the publisher alone, out of the effects of facts on the
//! public game. What is made here carries the facts themselves and cannot be turned into one: its content is
//! private, and the hub of the feeds takes nothing else than feed events.
//!
//! ```
//! fn tell(hub: &touchmoved::feed::Hub, event: touchmoved::publish::FeedEvent) {
//!     hub.publish("1", vec![event]);
//! }
//! ```
//! ```compile_fail,E0308
//! fn leak(hub: &touchmoved::feed::Hub, record: touchmoved::publish::ForArbiter) {
//!     hub.publish("1", vec![record]);
//! }
//! ```
//! ```compile_fail,E0277
//! fn leak(record: touchmoved::publish::ForArbiter) -> touchmoved::publish::FeedEvent {
//!     record.into()
//! }
//! ```

use std::sync::Arc;

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Map, Value};

use crate::session::{
    Session,
    fact::{
        Fact, FactKind,
        law::{Audience, LawFact},
    },
    view::View,
};

/// A fact on its way to the arbiter, with its number in the game: the facts of a game are counted from 1, and
/// the count goes on after a restart.
#[derive(Clone, Debug, PartialEq)]
pub struct ForArbiter {
    number: u64,
    ev: i64,
    calls: bool,
    /// The fact as JSON, shared by the readers: text takes a fraction of the memory of a parsed object.
    json: Arc<str>,
}

impl ForArbiter {
    /// The form of a fact for the arbiter; nothing for what is never recorded.
    pub fn of(number: u64, fact: &Fact) -> Option<ForArbiter> {
        if matches!(fact.kind, FactKind::Contact { .. } | FactKind::ClockFinding(_)) {
            return None;
        }
        let json = serde_json::to_string(fact).ok()?;
        Some(ForArbiter { number, ev: fact.ev, calls: calls(&fact.kind), json: json.into() })
    }

    /// Its number.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Index of the event that it follows.
    pub const fn ev(&self) -> i64 {
        self.ev
    }

    /// True for what the arbiter is called to; false for what the journal keeps until he asks.
    pub const fn is_call(&self) -> bool {
        self.calls
    }

    /// Why a command was refused; `None` when this is no entry, or one that was accepted.
    pub fn refusal(&self) -> Option<String> {
        let fields = self.fields();
        if text(&fields, "fact") == "advisory" {
            let why = match text(&fields, "code") {
                "unknown-button" | "intended-refused" | "after-the-end" => "detail",
                "claim-not-available" => "reason",
                _ => return None,
            };
            return Some(text(&fields, why).to_owned());
        }
        let refused = text(&fields, "fact") == "arbiter_entry"
            && fields.get("accepted").and_then(Value::as_bool) == Some(false);
        refused.then(|| text(&fields, "reason").to_owned())
    }

    fn fields(&self) -> Map<String, Value> {
        serde_json::from_str(&self.json).unwrap_or_default()
    }
}

fn text<'m>(fields: &'m Map<String, Value>, key: &str) -> &'m str {
    fields.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// `n`, and the fact as the journal has it; what it counts itself as `n` (illegal moves of a side) is its `nth` here.
impl Serialize for ForArbiter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("n", &self.number)?;
        for (key, value) in self.fields() {
            let key = if key == "n" { "nth" } else { &key };
            map.serialize_entry(key, &value)?;
        }
        map.end()
    }
}

fn calls(kind: &FactKind) -> bool {
    match kind {
        FactKind::Advisory { to, .. } | FactKind::IllegalMove { to, .. } => *to == Audience::Arbiter,
        FactKind::Law(law) => law.audience() == Audience::Arbiter,
        FactKind::GameEnd { .. } | FactKind::ResultWithdrawn => true,
        _ => false,
    }
}

/// What a blind player's assistant is told on request (Appendix D.2.9; 2005: F.2.9): the number of moves, the
/// times, the call of the last move. Nothing else can be put into it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ForAssistant {
    /// Moves that each side has made.
    moves: Option<Value>,
    /// The times, side by side.
    times: Vec<Value>,
    /// The call of the last move that was announced.
    spoken: Option<Value>,
}

impl ForAssistant {
    /// Takes what is meant for an assistant out of the facts that a request led to; `spoken` is the last call.
    pub fn of(facts: &[ForArbiter], spoken: Option<&ForArbiter>) -> ForAssistant {
        let pick = |fields: &Map<String, Value>, keys: &[&str]| {
            let taken = keys.iter().filter_map(|key| Some(((*key).to_owned(), fields.get(*key)?.clone())));
            Value::Object(taken.collect())
        };
        let mut told = ForAssistant::default();
        for fields in facts.iter().map(ForArbiter::fields) {
            match (text(&fields, "fact"), text(&fields, "calc")) {
                ("move_count", _) => told.moves = Some(pick(&fields, &["white", "black"])),
                ("clock", "time-used") => told.times.push(pick(&fields, &["side", "used", "remaining"])),
                _ => {}
            }
        }
        told.spoken = spoken.map(|record| pick(&record.fields(), &["uci", "text"]));
        told
    }
}

/// True for the call of a move, which an assistant may hear again.
pub fn is_spoken(fact: &Fact) -> bool {
    matches!(&fact.kind, FactKind::Law(law) if matches!(**law, LawFact::Spoken { .. }))
}

/// A half-move as the arbiter sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArbiterPly {
    /// The move in UCI.
    pub uci: String,
    /// The move in standard algebraic notation.
    pub san: String,
    /// True once it was completed.
    pub completed: bool,
    /// True once the public saw it, or would have without an embargo.
    pub published: bool,
}

/// A board as the arbiter sees it, sealed moves included.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArbiterView {
    /// The board.
    pub id: String,
    /// What stands on the board now, first field of a FEN.
    pub board: String,
    /// Full FEN of the position of the game.
    pub fen: String,
    /// State of the half-move, in the words of `replay --emit states`.
    pub state: &'static str,
    /// Squares of men of which one must be moved.
    pub must_move: Vec<String>,
    /// Squares of men of which one must be captured.
    pub must_capture: Vec<String>,
    /// Squares that do not fit the game.
    pub differs: Vec<String>,
    /// Moves that fit, where there are several.
    pub candidates: Vec<String>,
    /// What was tried and is no legal move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<String>,
    /// Half-moves since the record began.
    pub plies: Vec<ArbiterPly>,
    /// Time left for White, in milliseconds.
    pub white_ms: Option<u64>,
    /// Time left for Black, in milliseconds.
    pub black_ms: Option<u64>,
    /// Whose clock runs.
    pub running: Option<&'static str>,
    /// Both clocks are stopped.
    pub paused: bool,
    /// Nothing newer than the position before a sealed move leaves.
    pub embargo: bool,
    /// The result.
    pub result: &'static str,
    /// Number of the last fact.
    pub last: u64,
}

impl ArbiterView {
    /// The board as it is.
    pub fn of(id: &str, session: &Session, embargo: bool, last: u64) -> ArbiterView {
        let View { state, must_move, must_capture, squares, candidates, attempt, .. } = session.view();
        let names = |list: Vec<shakmaty::Square>| list.iter().map(ToString::to_string).collect();
        let clock = session.clock();
        let plies = session.plies().map(|record| ArbiterPly {
            uci: record.uci.as_str().to_owned(),
            san: record.san.as_str().to_owned(),
            completed: record.completed.is_some(),
            published: record.published,
        });
        ArbiterView {
            id: id.to_owned(),
            board: session.physical().board.to_string(),
            fen: super::publisher::fen_of(session.position()),
            state: state.as_str(),
            must_move: names(must_move),
            must_capture: names(must_capture),
            differs: names(squares),
            candidates,
            attempt,
            plies: plies.collect(),
            white_ms: clock.white_ms,
            black_ms: clock.black_ms,
            running: clock.running.map(|side| side.fold_wb("white", "black")),
            paused: session.is_paused(),
            embargo,
            result: session.result().as_str(),
            last,
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Color;

    use super::*;
    use crate::session::{
        fact::law::{Entry, Notice},
        time::MonoTime,
    };

    fn record(kind: FactKind) -> ForArbiter {
        ForArbiter::of(7, &Fact { ev: 3, at: MonoTime::from_micros(5), kind }).unwrap()
    }

    fn law(fact: LawFact) -> ForArbiter {
        record(FactKind::Law(Box::new(fact)))
    }

    #[test]
    fn what_the_journal_keeps_is_no_call() {
        let notice = |to| LawFact::Advisory(Box::new(Notice::of("uncompleted-move", to)));
        assert!(law(notice(Audience::Arbiter)).is_call());
        assert!(!law(notice(Audience::Journal)).is_call());
        let value = serde_json::to_value(law(notice(Audience::Journal))).unwrap();
        assert_eq!((&value["n"], &value["ev"], &value["fact"]), (&7.into(), &3.into(), &"advisory".into()));
    }

    #[test]
    fn an_illegal_move_is_a_call_and_keeps_its_number() {
        let illegal = |to| {
            let attempt = Some("e2e5".to_owned());
            record(FactKind::IllegalMove { by: Color::White, attempt, kind: "illegal-move", n: 2, to })
        };
        assert!(illegal(Audience::Arbiter).is_call());
        // Where only a player may raise it, nobody is called.
        assert!(!illegal(Audience::Journal).is_call());
        let text = serde_json::to_string(&illegal(Audience::Arbiter)).unwrap();
        assert_eq!(text.matches("\"n\":").count(), 1, "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["n"], &value["nth"]), (&7.into(), &2.into()));
    }

    #[test]
    fn a_refused_command_says_why() {
        let entry = |accepted: bool| {
            let reason = (!accepted).then(|| "no claim waits for a ruling".to_owned());
            LawFact::ArbiterEntry(Entry {
                command: "accept".to_owned(),
                accepted,
                reason,
                before: None,
                after: None,
            })
        };
        assert_eq!(law(entry(true)).refusal(), None);
        assert_eq!(law(entry(false)).refusal().as_deref(), Some("no claim waits for a ruling"));
    }

    #[test]
    fn an_assistant_hears_numbers_times_and_calls_only() {
        let count = law(LawFact::MoveCount { white: 12, black: 11, to: Audience::Assistant });
        let other = law(LawFact::Advisory(Box::new(Notice::of("touch-violation", Audience::Arbiter))));
        let call = law(LawFact::Spoken { uci: "e2e4".into(), text: "Eva 2 Eva 4".to_owned() });
        let told = ForAssistant::of(&[count, other], Some(&call));
        let value = serde_json::to_value(told).unwrap();
        assert_eq!(value["moves"]["white"], 12);
        assert_eq!(value["spoken"]["text"], "Eva 2 Eva 4");
        assert!(!value.to_string().contains("violation"));
    }
}
