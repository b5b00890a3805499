//! The routes of the desk. Each one but the page itself asks for a token, none is open to other web pages,
//! and a body is small.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{
        DefaultBodyLimit, Path, Query, State,
        rejection::{BytesRejection, QueryRejection},
    },
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::{
    line::{Answer, Line, Wants},
    problem::Problem,
    token::{Keys, Role},
};
use crate::{
    feed::PAGE_POLICY,
    publish::{ArbiterView, ForArbiter, ForAssistant},
    review,
    session::event::Event,
    sysclock,
};

/// Longest body of a command in bytes.
const MAX_BODY: usize = 4096;
/// A wrong token is answered this much late, so that guessing is slow.
const WRONG_TOKEN: Duration = Duration::from_millis(500);
/// A board that has not answered for this long is hung, or its disk is.
const PATIENCE: Duration = Duration::from_secs(10);
/// Wrong tokens are logged once in this time.
const LOGGED_US: u64 = 60_000_000;

#[derive(Clone)]
struct Shared {
    keys: Arc<Keys>,
    lines: Arc<[Arc<Line>]>,
    logged: Arc<AtomicU64>,
}

/// The routes, for these boards and tokens.
pub fn router(keys: Keys, lines: Vec<Arc<Line>>) -> Router {
    let shared = Shared { keys: Arc::new(keys), lines: lines.into(), logged: Arc::default() };
    Router::new()
        .route("/api/boards/{id}/arbiter", get(look).post(command))
        .route("/api/boards/{id}/buttons", post(button))
        .route("/api/boards/{id}/journal", get(journal))
        .route("/api/boards/{id}/assistant", get(assistant))
        .route("/arbiter", get(page))
        .route("/arbiter.js", get(script))
        .route("/arbiter.css", get(style))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(shared)
}

impl Shared {
    /// Lets a request in, or says why not.
    async fn admit(&self, headers: &HeaderMap, assistants: bool) -> Result<(), Problem> {
        if self.keys.is_empty() {
            let text = "no token is configured, so nothing can be entered here; set [arbiter] token-file in the \
                        configuration and restart";
            return Err(Problem::new(StatusCode::NOT_FOUND, text));
        }
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = given.and_then(|value| value.split_once(' '));
        let Some((_, token)) = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")) else {
            let text = "this needs the token of the arbiter: send `Authorization: Bearer TOKEN`";
            return Err(Problem::new(StatusCode::UNAUTHORIZED, text));
        };
        match self.keys.role(token.trim()) {
            Some(Role::Arbiter) => Ok(()),
            Some(Role::Assistant) if assistants => Ok(()),
            Some(Role::Assistant) => {
                Err(Problem::new(StatusCode::FORBIDDEN, "an assistant's token opens /assistant only"))
            }
            None => {
                self.note_wrong_token();
                sleep(WRONG_TOKEN).await;
                let text = "this is not the token of this daemon; see [arbiter] token-file";
                Err(Problem::new(StatusCode::FORBIDDEN, text))
            }
        }
    }

    fn note_wrong_token(&self) {
        let now = sysclock::monotonic().as_micros().max(1);
        let last = self.logged.load(Ordering::Relaxed);
        if last == 0 || now.saturating_sub(last) > LOGGED_US {
            self.logged.store(now, Ordering::Relaxed);
            tracing::warn!("somebody tried a wrong token at the arbiter's address");
        }
    }

    fn line(&self, id: &str) -> Result<&Line, Problem> {
        let line = self.lines.iter().find(|line| line.board() == id).map(AsRef::as_ref);
        line.ok_or_else(|| {
            let text = format!("there is no board {id:?}; /api/boards lists them");
            Problem::new(StatusCode::NOT_FOUND, text)
        })
    }

    async fn ask(&self, id: &str, wants: Wants) -> Result<Answer, Problem> {
        let unavailable = |text: String| Problem::new(StatusCode::SERVICE_UNAVAILABLE, text);
        let heard = self.line(id)?.call(wants).map_err(|unheard| unavailable(unheard.to_string()))?;
        match timeout(PATIENCE, heard).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(unavailable("the daemon is ending".to_owned())),
            Err(_) => Err(unavailable(format!(
                "board {id} has not answered for {} s; look at its journal before you say it again",
                PATIENCE.as_secs()
            ))),
        }
    }

    async fn say(&self, id: &str, event: Event) -> Result<Vec<ForArbiter>, Problem> {
        match self.ask(id, Wants::Say(event)).await? {
            Answer::Facts(facts) => Ok(facts),
            Answer::View(_) => Ok(Vec::new()),
        }
    }

    async fn look(&self, id: &str) -> Result<Option<Box<ArbiterView>>, Problem> {
        match self.ask(id, Wants::Look).await? {
            Answer::View(view) => Ok(Some(view)),
            Answer::Facts(_) => Ok(None),
        }
    }
}

fn private<T: Serialize>(status: StatusCode, body: &T) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

/// A fact with its words.
#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    fact: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

fn told(facts: &[ForArbiter]) -> Vec<Told> {
    let values = facts.iter().filter_map(|record| serde_json::to_value(record).ok());
    values.map(|fact| Told { text: fact.as_object().and_then(review::say), fact }).collect()
}

/// What a command or a button led to.
fn outcome(facts: &[ForArbiter]) -> Response {
    let refusal = facts.iter().find_map(ForArbiter::refusal);
    let status = if refusal.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let mut body = json!({ "accepted": refusal.is_none(), "facts": told(facts) });
    if let (Some(reason), Some(map)) = (refusal, body.as_object_mut()) {
        map.insert("reason".to_owned(), reason.into());
    }
    private(status, &body)
}

/// A body that was read whole.
fn small(body: Result<Bytes, BytesRejection>) -> Result<Bytes, Problem> {
    body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("a command has {MAX_BODY} bytes at most"))
        }
        status => Problem::new(status, rejection.body_text()),
    })
}

/// A query that can be read.
fn query<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, Problem> {
    query.map(|Query(query)| query).map_err(|rejection| Problem::bad(rejection.body_text()))
}

fn object(body: &[u8], example: &str) -> Result<serde_json::Map<String, Value>, Problem> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(map)) => Ok(map),
        _ => Err(Problem::bad(format!("expected a JSON object such as {example}"))),
    }
}

/// The command of a body: `{"command":"restore 12"}`, `{"command":"restore","ply":12}`, or the object inside
/// another one, as a sensor log has it.
fn command_of(body: &[u8]) -> Result<Value, Problem> {
    let example = r#"{"command":"restore 12"}"#;
    let map = object(body, example)?;
    match map.get("command") {
        Some(Value::String(_)) if map.len() > 1 => Ok(Value::Object(map)),
        Some(command @ (Value::String(_) | Value::Object(_))) => Ok(command.clone()),
        _ => Err(Problem::bad(format!("expected the key \"command\", as in {example}"))),
    }
}

/// What a button, a written move or an announcement is to the game.
fn said_of(body: &[u8]) -> Result<Event, Problem> {
    let example = r#"{"button":"draw-offer-white"}"#;
    let map = object(body, example)?;
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let said = match (text("button"), text("intended"), text("announce")) {
        (Some(name), None, None) => Event::Button(name),
        (None, Some(uci), None) => Event::Intended(uci),
        (None, None, Some(words)) => Event::Announce(words),
        _ => {
            let text =
                format!("expected one of the keys \"button\", \"intended\", \"announce\", as in {example}");
            return Err(Problem::bad(text));
        }
    };
    Ok(said)
}

async fn command(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    shared.admit(&headers, false).await?;
    let command = command_of(&small(body)?)?;
    Ok(outcome(&shared.say(&id, Event::Arbiter(command)).await?))
}

async fn button(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    shared.admit(&headers, false).await?;
    let said = said_of(&small(body)?)?;
    Ok(outcome(&shared.say(&id, said).await?))
}

async fn look(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    shared.admit(&headers, false).await?;
    Ok(private(StatusCode::OK, &shared.look(&id).await?))
}

#[derive(Deserialize)]
struct JournalQuery {
    #[serde(default)]
    since: u64,
    to: Option<String>,
}

async fn journal(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    asked: Result<Query<JournalQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    shared.admit(&headers, false).await?;
    let query = query(asked)?;
    let calls = match query.to.as_deref() {
        None => false,
        Some("arbiter") => true,
        Some(other) => return Err(Problem::bad(format!("to={other:?}: only to=arbiter narrows the facts"))),
    };
    let page = shared.line(&id)?.records().since(query.since, calls);
    let body =
        json!({ "first": page.first, "next": page.next, "more": page.more, "facts": told(&page.facts) });
    Ok(private(StatusCode::OK, &body))
}

#[derive(Deserialize)]
struct AssistantQuery {
    side: Option<String>,
}

/// The number of moves, the times and the last call. The request is an input of the game, as if the
/// assistant had pressed his button: the journal shows how often it was made.
async fn assistant(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    asked: Result<Query<AssistantQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    shared.admit(&headers, true).await?;
    let query = query(asked)?;
    let side = match query.side.as_deref() {
        None | Some("white") => "white",
        Some("black") => "black",
        Some(other) => return Err(Problem::bad(format!("side={other:?}: expected white or black"))),
    };
    let facts = shared.say(&id, Event::Button(format!("assistant-status-{side}"))).await?;
    let spoken = shared.line(&id)?.records().spoken();
    Ok(private(StatusCode::OK, &ForAssistant::of(&facts, spoken.as_ref())))
}

/// The page holds nothing secret: it asks for the token, and each of its requests carries it.
async fn page() -> Response {
    let mut response =
        ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], include_str!("../feed/web/arbiter.html"))
            .into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

async fn script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("../feed/web/arbiter.js"))
}

async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("../feed/web/arbiter.css"))
}

fn file(content_type: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, content_type), (header::CACHE_CONTROL, "no-cache")], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_text_or_an_object() {
        let read = |text: &str| command_of(text.as_bytes());
        assert_eq!(read(r#"{"command":"restore 12"}"#), Ok(json!("restore 12")));
        let object = json!({"command": "restore", "ply": 12});
        assert_eq!(read(&object.to_string()), Ok(object.clone()));
        assert_eq!(read(&json!({ "command": object }).to_string()), Ok(object));
        for wrong in ["", "7", "{}", "{\"command\":7}", "restore"] {
            assert_eq!(read(wrong).unwrap_err().status, StatusCode::BAD_REQUEST, "{wrong}");
        }
    }

    #[test]
    fn one_thing_is_said_at_a_time() {
        let read = |text: &str| said_of(text.as_bytes());
        assert_eq!(read(r#"{"button":"resign-white"}"#), Ok(Event::Button("resign-white".to_owned())));
        assert_eq!(read(r#"{"announce":"e4"}"#), Ok(Event::Announce("e4".to_owned())));
        assert!(read(r#"{"button":"a","intended":"b"}"#).is_err());
        assert!(read(r#"{"button":1}"#).is_err());
    }
}
