//! Messages of the local API of DGT LiveChess 2 (`ws://localhost:1982/api/v1.0`). Pure.
//!
//! Some clients map an object strictly and fail on one unknown key, so the key sets here are exactly
//! the documented ones. A request's `id` is echoed with its JSON type.

mod id;
pub mod resources;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, value::RawValue};

pub use self::id::Id;

/// The only feed that clients subscribe to.
pub const FEED: &str = "eboardevent";

/// A call of a client.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Chosen by the client; echoed in the answer.
    pub id: Id,
    /// What is asked for.
    pub call: Call,
}

/// What a client can ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// The list of boards.
    Eboards,
    /// The list of devices that boards hang on.
    Sources,
    /// Start of a feed.
    Subscribe {
        /// Identifier that the client gives the feed.
        feed: Id,
        /// Serial number of the board.
        serial: String,
    },
    /// End of a feed.
    Unsubscribe {
        /// The feed.
        feed: Id,
    },
    /// Where the reconstruction of the game starts.
    Setup {
        /// The feed.
        feed: Id,
        /// Full FEN.
        fen: String,
    },
    /// The board is turned.
    Flip {
        /// The feed.
        feed: Id,
        /// True when White sits at the other side.
        flip: bool,
    },
}

/// Why a request cannot be served; it is answered with `response: "error"`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct BadRequest {
    /// The `id` of the request, `null` where it has none.
    pub id: Id,
    /// What is wrong and what would be right.
    pub reason: String,
}

/// The members of an object, not read yet. Of two with one name the last one counts.
type Members<'t> = BTreeMap<String, &'t RawValue>;

impl Request {
    /// Reads one text frame.
    pub fn parse(text: &str) -> Result<Request, BadRequest> {
        let bad = |id: Id, reason: String| BadRequest { id, reason };
        let not_json = |error| bad(Id::none(), format!("the message is not JSON: {error}"));
        let raw: &RawValue = serde_json::from_str(text).map_err(not_json)?;
        let no_object = |id| bad(id, "expected an object with call, id and param".to_owned());
        let members: Members<'_> = serde_json::from_str(raw.get()).map_err(|_| no_object(Id::none()))?;
        let id = members.get("id").map_or_else(|| Ok(Id::none()), |id| Id::read(id)).map_err(not_json)?;
        let call = members.get("call").map(|call| serde_json::from_str::<Option<String>>(call.get()));
        let Ok(call) = call.unwrap_or(Ok(None)) else { return Err(no_object(id)) };
        let Some(call) = call else { return Err(bad(id, "the request has no call".to_owned())) };
        match Call::parse(&call, members.get("param").copied()) {
            Ok(call) => Ok(Request { id, call }),
            Err(reason) => Err(bad(id, reason)),
        }
    }
}

impl Call {
    fn parse(call: &str, param: Option<&RawValue>) -> Result<Call, String> {
        let members = param.and_then(|param| serde_json::from_str(param.get()).ok());
        let mut param = Param { call, members: members.unwrap_or_default() };
        match call {
            "eboards" => Ok(Call::Eboards),
            "sources" => Ok(Call::Sources),
            "subscribe" => {
                let name = param.text("feed")?;
                if name != FEED {
                    return Err(format!("unknown feed {name:?}; the only one is {FEED:?}"));
                }
                let feed = param.feed_id()?;
                let serial = param.inner()?.text("serialnr")?;
                Ok(Call::Subscribe { feed, serial })
            }
            "unsubscribe" => Ok(Call::Unsubscribe { feed: param.feed_id()? }),
            "call" => {
                let feed = param.feed_id()?;
                let method = param.text("method")?;
                let mut inner = param.inner()?;
                match method.as_str() {
                    "setup" => Ok(Call::Setup { feed, fen: inner.text("fen")? }),
                    "flip" => Ok(Call::Flip { feed, flip: inner.flag("flip")? }),
                    _ => Err(format!("unknown method {method:?}; the methods are \"setup\" and \"flip\"")),
                }
            }
            _ => Err(format!(
                "unknown call {call:?}; the calls are eboards, sources, subscribe, unsubscribe and call"
            )),
        }
    }
}

/// The `param` object of a call.
struct Param<'c> {
    call: &'c str,
    members: Members<'c>,
}

impl<'c> Param<'c> {
    fn take(&mut self, key: &str) -> Option<Value> {
        let value: Value = serde_json::from_str(self.members.remove(key)?.get()).ok()?;
        Some(value).filter(|value| !value.is_null())
    }

    fn wrong(&self, key: &str, expected: &str) -> String {
        format!("call {:?}: param.{key} must be {expected}", self.call)
    }

    fn feed_id(&mut self) -> Result<Id, String> {
        let id = self.members.remove("id").and_then(|id| Id::read(id).ok());
        id.filter(Id::is_name).ok_or_else(|| self.wrong("id", "the identifier of a feed, a number"))
    }

    fn text(&mut self, key: &str) -> Result<String, String> {
        match self.take(key) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(self.wrong(key, "a string")),
        }
    }

    fn flag(&mut self, key: &str) -> Result<bool, String> {
        self.take(key).and_then(|value| value.as_bool()).ok_or_else(|| self.wrong(key, "true or false"))
    }

    fn inner(&mut self) -> Result<Param<'c>, String> {
        let members = self.members.remove("param").and_then(|param| serde_json::from_str(param.get()).ok());
        let members = members.ok_or_else(|| self.wrong("param", "an object"))?;
        Ok(Param { call: self.call, members })
    }
}

/// A board of the `eboards` answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Eboard {
    /// Unique key of the board.
    pub serialnr: String,
    /// The device that the board hangs on, `null` when it is gone.
    pub source: Option<String>,
    /// `ACTIVE`, `INACTIVE` (switched off by the operator) or `NOTRESPONDING`.
    pub state: Option<&'static str>,
    /// Charge of a board with a battery.
    pub battery: Option<String>,
    /// Remark of the operator.
    pub comment: Option<String>,
    /// Piece placement, first field of a FEN.
    pub board: Option<String>,
    /// True when the client turned the board.
    pub flipped: bool,
    /// The clock, `null` without one.
    pub clock: Option<Clock>,
}

/// A clock reading in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Clock {
    /// Seconds left for White at `time`.
    pub white: u64,
    /// Seconds left for Black at `time`.
    pub black: u64,
    /// `null` while stopped, true while White's clock runs, false while Black's clock runs.
    pub run: Option<bool>,
    /// Milliseconds since 1970 at the reading.
    pub time: u64,
}

/// A message of the `eboardevent` feed: what changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EboardEvent {
    /// The board.
    pub serialnr: String,
    /// True when the client turned the board.
    pub flipped: bool,
    /// Piece placement, where it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// The clock, where it changed; `null` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Option<Clock>>,
    /// What was reconstructed, after `setup`.
    #[serde(flatten)]
    pub game: Option<Reconstructed>,
}

/// The game since `setup`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reconstructed {
    /// Full FEN of the position in which the reconstruction started.
    pub start: String,
    /// All plies since then.
    pub san: Vec<String>,
    /// True when the physical board equals the position after them.
    #[serde(rename = "match")]
    pub matches: bool,
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    response: &'static str,
    id: &'a Id,
    param: T,
    time: u64,
}

#[derive(Serialize)]
struct ErrorParam<'a> {
    message: &'a str,
    stacktrace: &'a str,
}

fn envelope<T: Serialize>(response: &'static str, id: &Id, param: T, time: u64) -> String {
    serde_json::to_string(&Envelope { response, id, param, time }).unwrap_or_default()
}

/// The answer to a call; `time` in milliseconds since 1970.
pub fn answer<T: Serialize>(id: &Id, param: T, time: u64) -> String {
    envelope("call", id, param, time)
}

/// The answer to a call that cannot be served.
pub fn error(id: &Id, message: &str, time: u64) -> String {
    envelope("error", id, ErrorParam { message, stacktrace: "" }, time)
}

/// A message of the feed that the client called `feed`.
pub fn feed(feed: &Id, event: &EboardEvent, time: u64) -> String {
    envelope("feed", feed, event, time)
}

/// The serial number of a board for which none is configured: a number of up to four digits is
/// counted on from 90000, anything else gets the prefix `tm-`. Two boards never get the same one.
pub fn serial_of(board: &str) -> String {
    match board.parse::<u32>() {
        Ok(number) if number < 10_000 && number.to_string() == board => (90_000 + number).to_string(),
        _ => format!("tm-{board}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn id(number: u32) -> Id {
        Id::from(&json!(number))
    }

    #[test]
    fn an_identifier_goes_back_as_it_came() {
        for text in
            ["1", "-7", "0", "18446744073709551616", "-9223372036854775809", "1.5", "\"x\"", "null", "[1]"]
        {
            let asked = |call: &str| Request::parse(&format!("{{\"id\": {text} ,\"call\":{call}}}"));
            let bad = asked("\"dance\"").unwrap_err();
            assert_eq!(
                answer(&asked("\"eboards\"").unwrap().id, 0, 1).split("\"id\":").nth(1).unwrap(),
                format!("{text},\"param\":0,\"time\":1}}")
            );
            assert_eq!(bad.id.to_string(), text);
        }
        let large = r#"{"id":1,"call":"unsubscribe","param":{"id":18446744073709551617}}"#;
        let Call::Unsubscribe { feed } = Request::parse(large).unwrap().call else { panic!() };
        assert_eq!(feed.to_string(), "18446744073709551617");
        let other = large.replace("617", "618");
        assert_ne!(Request::parse(&other).unwrap().call, Call::Unsubscribe { feed });
        for no_name in ["true", "null", "[7]", "{}"] {
            let text = format!("{{\"id\":1,\"call\":\"unsubscribe\",\"param\":{{\"id\":{no_name}}}}}");
            assert!(Request::parse(&text).unwrap_err().reason.contains("param.id"), "{no_name}");
        }
        // Of two members with one name the last one counts; what is nested too deeply is refused.
        let twice = r#"{"id":4,"call":"eboards","call":"sources","id":5}"#;
        assert_eq!(Request::parse(twice).unwrap(), Request { id: id(5), call: Call::Sources });
        let deep = format!("{{\"id\":{}{},\"call\":\"eboards\"}}", "[".repeat(500), "]".repeat(500));
        assert_eq!(Request::parse(&deep).unwrap_err().id, Id::none());
    }

    #[test]
    fn the_documented_calls_are_read() {
        let request = Request::parse("{\"id\":1,\"call\":\"eboards\"}\n").unwrap();
        assert_eq!(request, Request { id: id(1), call: Call::Eboards });
        let subscribe = r#"{"id":2,"call":"subscribe","param":{"feed":"eboardevent","id":7,"param":{"serialnr":"90001"}}}"#;
        let call = Call::Subscribe { feed: id(7), serial: "90001".to_owned() };
        assert_eq!(Request::parse(subscribe).unwrap().call, call);
        let flip = r#"{"id":4,"call":"call","param":{"id":7,"method":"flip","param":{"flip":true}}}"#;
        assert_eq!(Request::parse(flip).unwrap().call, Call::Flip { feed: id(7), flip: true });
    }

    #[test]
    fn bad_requests_keep_their_id_and_say_what_is_wrong() {
        for (text, id, part) in [
            (r#"{"id":"x","call":"dance"}"#, json!("x"), "unknown call"),
            (
                r#"{"id":5,"call":"call","param":{"id":7,"method":"setup","param":{"flip":true}}}"#,
                json!(5),
                "fen",
            ),
            (
                r#"{"id":6,"call":"call","param":{"id":7,"method":"flip","param":{"fen":true}}}"#,
                json!(6),
                "flip",
            ),
            (r#"{"id":3,"call":"subscribe","param":{"feed":"eboardevent","id":7}}"#, json!(3), "param.param"),
            (r#"{"id":3,"call":"subscribe","param":{"feed":"games","id":7}}"#, json!(3), "unknown feed"),
            ("[]", Value::Null, "object"),
            ("hello", Value::Null, "not JSON"),
        ] {
            let error = Request::parse(text).unwrap_err();
            assert_eq!(error.id, Id::from(&id));
            assert!(error.reason.contains(part), "{}", error.reason);
        }
    }

    #[test]
    fn key_sets_are_exactly_the_documented_ones() {
        let event = EboardEvent { serialnr: "90001".to_owned(), clock: Some(None), ..EboardEvent::default() };
        assert_eq!(
            feed(&id(7), &event, 5),
            r#"{"response":"feed","id":7,"param":{"serialnr":"90001","flipped":false,"clock":null},"time":5}"#
        );
        let game = Reconstructed { start: "8".to_owned(), san: Vec::new(), matches: true };
        let event = EboardEvent { board: Some("8/8".to_owned()), game: Some(game), ..event };
        let keys: Vec<String> =
            serde_json::to_value(&event).unwrap().as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["serialnr", "flipped", "board", "clock", "start", "san", "match"]);
        assert_eq!(
            error(&id(5), "unknown feed 99", 1),
            r#"{"response":"error","id":5,"param":{"message":"unknown feed 99","stacktrace":""},"time":1}"#
        );
    }

    #[test]
    fn serial_numbers_are_stable_and_different() {
        assert_eq!(serial_of("1"), "90001");
        assert_eq!(serial_of("01"), "tm-01");
        assert_eq!(serial_of("a7"), "tm-a7");
    }

    proptest! {
        #[test]
        fn no_text_can_upset_the_reader(text in "\\PC{0,200}") {
            let _ = Request::parse(&text);
        }

        #[test]
        fn no_object_can_upset_the_reader(call in "eboards|subscribe|unsubscribe|call|x", id in any::<i64>(), method in "setup|flip|\\PC{0,5}") {
            let text = json!({"id": id, "call": call, "param": {"id": id, "method": method, "param": {"fen": method}}});
            match Request::parse(&text.to_string()) {
                Ok(request) => prop_assert_eq!(request.id, Id::from(&json!(id))),
                Err(error) => prop_assert_eq!(error.id, Id::from(&json!(id))),
            }
        }
    }
}
