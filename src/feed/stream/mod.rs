//! Streams for programmers: what happens on the boards as JSON objects, over server-sent events, WebSocket
//! (`socket`) and lines over TCP (`lines`).
//!
//! All of them tell the same objects with the same identifiers. A client that fell behind is told so and let go; it
//! comes back with the last identifier that it has.

pub(super) mod lines;
pub(super) mod socket;
pub(super) mod sse;

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use serde_json::json;

use super::hub::{Audience, Ended, Hub, Item, Payload, Subscription};
use crate::{
    publish::{BoardState, FeedEvent},
    sysclock,
    wire::stream::{Request, Watch},
};

/// Version of the objects: raised when one of them loses or changes something. New ones may come any time.
pub const PROTOCOL: u32 = 1;

/// The JSON Schema of the objects.
pub const SCHEMA: &str = include_str!("schema.json");

/// Something goes out on a quiet stream at this interval.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What a client reads from: the boards and the kinds of events that it asked for.
#[derive(Debug)]
pub(super) struct Reader {
    subscription: Subscription,
    boards: Option<Vec<String>>,
    kinds: Option<Vec<String>>,
    /// Identifier of the last event that was taken, told or not.
    last: String,
}

/// A board that a client asked for and that there is not.
#[derive(Debug, thiserror::Error)]
#[error("there is no board {0:?}; /api/boards lists them")]
pub(super) struct NoBoard(String);

impl Reader {
    /// A reader of what `watch` asks for.
    pub(super) fn new(hub: &Hub, watch: &Watch) -> Result<Reader, NoBoard> {
        if let Some(unknown) = watch.boards.iter().flatten().find(|id| hub.board(id).is_none()) {
            return Err(NoBoard(unknown.clone()));
        }
        // One board has numbers of its own; several share those of all.
        let audience = match watch.boards.as_deref() {
            Some([id]) => Audience::Board(id.clone()),
            _ => Audience::All,
        };
        let subscription = hub.subscribe(audience, watch.since.as_deref());
        let (boards, kinds) = (watch.boards.clone(), watch.kinds.clone());
        Ok(Reader { subscription, boards, kinds, last: watch.since.clone().unwrap_or_default() })
    }

    /// The next thing to tell. May be dropped and called again without losing one.
    pub(super) async fn next(&mut self) -> Result<Item, Ended> {
        loop {
            let mut item = self.subscription.next().await?;
            self.last.clone_from(&item.id);
            if self.keep(&mut item) {
                return Ok(item);
            }
        }
    }

    /// Identifier of the last event that was taken: with it the client can come back.
    pub(super) fn last(&self) -> &str {
        &self.last
    }

    fn keep(&self, item: &mut Item) -> bool {
        match &mut item.payload {
            Payload::Snapshot(states) => {
                states.retain(|state| self.wants(&state.id));
                true
            }
            Payload::Event(happened) => {
                let name = happened.event.name();
                self.wants(&happened.board)
                    && self.kinds.as_ref().is_none_or(|kinds| kinds.iter().any(|k| k == name))
            }
        }
    }

    fn wants(&self, board: &str) -> bool {
        self.boards.as_ref().is_none_or(|boards| boards.iter().any(|id| id == board))
    }
}

/// A board with the time at which it is told, on the clock of `clock.at_us`.
#[derive(Debug, Serialize)]
pub(super) struct Told<'s> {
    #[serde(flatten)]
    state: &'s BoardState,
    now_us: u64,
}

/// A board as it is told now.
pub(super) fn told(state: &BoardState) -> Told<'_> {
    Told { state, now_us: sysclock::monotonic().as_micros() }
}

/// The name and the JSON of an item, as server-sent events have them: without its identifier.
fn encode(item: &Item) -> (&'static str, String) {
    match &item.payload {
        Payload::Snapshot(states) => ("snapshot", boards_json(states)),
        Payload::Event(happened) => {
            let mut text = happened.json().to_owned();
            if matches!(happened.event, FeedEvent::Clock(_)) {
                // A viewer counts from the moment at which it is told.
                text.pop();
                text.push_str(&format!(",\"now_us\":{}}}", sysclock::monotonic().as_micros()));
            }
            (happened.event.name(), text)
        }
    }
}

fn boards_json(states: &[Arc<BoardState>]) -> String {
    let states: Vec<Told<'_>> = states.iter().map(|state| told(state)).collect();
    serde_json::to_string(&states).unwrap_or_default()
}

/// An item as one object, its identifier in it.
fn object(item: &Item) -> String {
    let id = &item.id;
    match encode(item) {
        ("snapshot", boards) => format!("{{\"type\":\"snapshot\",\"id\":\"{id}\",\"boards\":{boards}}}"),
        (_, text) => format!("{{\"id\":\"{id}\",{}", text.strip_prefix('{').unwrap_or("}")),
    }
}

fn version() -> String {
    let release = env!("CARGO_PKG_VERSION");
    json!({ "type": "version", "program": "touchmoved", "release": release, "protocol": PROTOCOL })
        .to_string()
}

fn error(message: &str) -> String {
    json!({ "type": "error", "message": message }).to_string()
}

/// The last object of a stream that the server ends.
fn goodbye(reason: &str, last: &str) -> String {
    json!({ "type": "goodbye", "reason": reason, "since": last }).to_string()
}

fn why(ended: Ended) -> &'static str {
    match ended {
        Ended::Lagged(_) => "too slow; come back with the last id",
        Ended::Closed => "the daemon is ending",
    }
}

/// The conversation with a client of lines or messages.
#[derive(Debug)]
struct Talk {
    hub: Hub,
    reader: Option<Reader>,
}

impl Talk {
    const fn new(hub: Hub) -> Talk {
        Talk { hub, reader: None }
    }

    /// Answers a request.
    fn ask(&mut self, line: &str) -> String {
        match Request::parse(line) {
            Ok(Request::Version) => version(),
            Ok(Request::Poll) => object(&self.hub.snapshot()),
            Ok(Request::Watch(watch)) => {
                self.watch(&watch).unwrap_or_else(|missing| error(&missing.to_string()))
            }
            Err(reason) => error(&reason),
        }
    }

    fn watch(&mut self, watch: &Watch) -> Result<String, NoBoard> {
        self.reader = if watch.enable { Some(Reader::new(&self.hub, watch)?) } else { None };
        let mut answer = json!({ "type": "watch" });
        if let (Some(answer), Ok(serde_json::Value::Object(watch))) =
            (answer.as_object_mut(), serde_json::to_value(watch))
        {
            answer.extend(watch);
        }
        Ok(answer.to_string())
    }

    /// The next object for a client that watches; never, for one that does not.
    async fn next(&mut self) -> Result<String, Ended> {
        match &mut self.reader {
            Some(reader) => {
                let item = reader.next().await?;
                Ok(object(&item))
            }
            None => std::future::pending().await,
        }
    }

    fn goodbye(&self, reason: &str) -> String {
        goodbye(reason, self.reader.as_ref().map_or("", Reader::last))
    }
}
