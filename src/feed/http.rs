//! The web page, the JSON of the boards, server-sent events and PGN over HTTP.
//!
//! Everything of it is public and read only: any web page may read it (`Access-Control-Allow-Origin:
//! *`). `/healthz` and `/metrics` belong to the operator and are not shared with web pages.

use std::{convert::Infallible, time::Duration};

use axum::{
    Json, Router,
    extract::{Path, Query, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
    routing::get,
};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::watch;

use super::{
    assets, clock_page,
    conditional::{Validators, http_date, unchanged},
    hub::{Audience, Ended, Hub, Item, Payload, Subscription},
    metrics::ClientGuard,
    pgn::{pgn_of, pgn_of_all},
    serve::ended,
};
use crate::{
    publish::{BoardState, FeedEvent},
    sysclock,
};

/// Longest body of a request in bytes; no request here needs one.
const MAX_BODY: u64 = 16 * 1024;
/// A comment goes out on a quiet stream at this interval.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// A state is old at once: it is not kept.
const NO_STORE: &str = "no-store";
/// A file may be kept, but is asked for again each time.
const ASK: &str = "no-cache";
/// How long a client of the stream waits before it comes back.
const RETRY: Duration = Duration::from_secs(2);

#[derive(Clone)]
struct Shared {
    hub: Hub,
    ending: watch::Receiver<bool>,
}

/// Who may reach a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Spectators, who see the game late: what tells how things stand now is not served.
    Public,
    /// Spectators, players and the operator.
    All,
}

/// The routes of the surface, and those of others that share its address.
pub(super) fn router(hub: Hub, ending: watch::Receiver<bool>, more: Router, reach: Reach) -> Router {
    let now = match reach {
        Reach::All => operator_routes(hub.clone(), ending.clone()),
        Reach::Public => late_routes(),
    };
    let shared = Shared { hub, ending };
    let public = Router::new()
        .route("/api/boards", get(boards).options(preflight))
        .route("/api/boards/{id}", get(board).options(preflight))
        .route("/api/boards/{id}/pgn", get(board_pgn).options(preflight))
        .route("/pgn/{file}", get(pgn_file).options(preflight))
        .route("/events", get(events).options(preflight))
        .layer(middleware::from_fn(cross_origin));
    Router::new()
        .merge(public)
        .fallback(asset)
        .with_state(shared)
        .merge(now)
        .merge(more)
        .layer(middleware::from_fn(limits))
}

/// What shows how things stand now: the figures of the operator, the clock for the screens beside the boards.
fn operator_routes(hub: Hub, ending: watch::Receiver<bool>) -> Router {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/metrics", get(metrics))
        .with_state(Shared { hub: hub.clone(), ending: ending.clone() })
        .merge(clock_page::router(hub, ending))
}

/// The same addresses where the game is shown late: a clock and a counter would tell of moves before their time.
fn late_routes() -> Router {
    let elsewhere = || async {
        let text = "what is shown here is late, and this would not be; it is served at [operator] listen";
        problem(StatusCode::NOT_FOUND, text)
    };
    let alive = || async { ([(header::CACHE_CONTROL, "no-store")], Json(json!({ "status": "ok" }))) };
    ["/metrics", "/clock", "/clock.js", "/api/clocks", "/api/clocks/{*rest}"]
        .into_iter()
        .fold(Router::new().route("/healthz", get(alive)), |router, path| router.route(path, get(elsewhere)))
}

/// Refuses bodies that nothing here reads, and tells browsers not to guess types.
async fn limits(request: Request, next: Next) -> Response {
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok()).unwrap_or(0);
    if length > MAX_BODY {
        let text = format!("a request may carry {MAX_BODY} bytes at most\n");
        return (StatusCode::PAYLOAD_TOO_LARGE, [(header::CONNECTION, "close")], text).into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Lets any web page read the public resources.
async fn cross_origin(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    let exposed = HeaderValue::from_static("etag, last-modified");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    response
}

async fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "if-none-match, if-modified-since, last-event-id"),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// A problem in words, as JSON.
fn problem(status: StatusCode, message: &str) -> Response {
    let headers = [(header::CACHE_CONTROL, "no-store")];
    (status, headers, Json(json!({ "error": message }))).into_response()
}

fn unknown_board(id: &str) -> Response {
    problem(StatusCode::NOT_FOUND, &format!("there is no board {id:?}; /api/boards lists them"))
}

/// A board with the time at which it is told, on the clock of `clock.at_us`.
#[derive(Serialize)]
struct Told<'s> {
    #[serde(flatten)]
    state: &'s BoardState,
    now_us: u64,
}

fn told(state: &BoardState) -> Told<'_> {
    Told { state, now_us: sysclock::monotonic().as_micros() }
}

/// The tag of a body of JSON. It is weak: `now_us` is not part of it.
fn state_validators<T: Serialize>(state: &T) -> Validators {
    Validators::weak(serde_json::to_string(state).unwrap_or_default().as_bytes())
}

async fn boards(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    let states = shared.hub.boards();
    let states: Vec<&BoardState> = states.iter().map(AsRef::as_ref).collect();
    let validators = state_validators(&states);
    let told: Vec<Told<'_>> = states.into_iter().map(told).collect();
    conditional(&headers, &validators, NO_STORE, || Json(told).into_response())
}

async fn board(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let Some(state) = shared.hub.board(&id) else { return unknown_board(&id) };
    let validators = state_validators(state.as_ref());
    conditional(&headers, &validators, NO_STORE, || Json(told(&state)).into_response())
}

async fn board_pgn(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    match shared.hub.board(&id) {
        Some(state) => pgn(&headers, pgn_of(&state), shared.hub.score_changed_us(&id)),
        None => unknown_board(&id),
    }
}

async fn pgn_file(State(shared): State<Shared>, Path(file): Path<String>, headers: HeaderMap) -> Response {
    let Some(id) = file.strip_suffix(".pgn") else {
        return problem(StatusCode::NOT_FOUND, "PGN is at /pgn/games.pgn and at /pgn/{board}.pgn");
    };
    if id != "games" {
        return board_pgn(State(shared), Path(id.to_owned()), headers).await;
    }
    let states = shared.hub.boards();
    let changed = states.iter().filter_map(|state| shared.hub.score_changed_us(&state.id)).max();
    pgn(&headers, pgn_of_all(states.iter().map(AsRef::as_ref)), changed)
}

fn pgn(headers: &HeaderMap, text: String, changed_us: Option<u64>) -> Response {
    let now = sysclock::wall_micros();
    let validators = Validators::strong(text.as_bytes()).modified(changed_us, now);
    let content_type = [(header::CONTENT_TYPE, "application/x-chess-pgn; charset=utf-8")];
    conditional(headers, &validators, ASK, || (content_type, text).into_response())
}

/// 304 where the client has the body already.
fn conditional(
    headers: &HeaderMap,
    validators: &Validators,
    cache: &'static str,
    body: impl FnOnce() -> Response,
) -> Response {
    let mut response =
        if unchanged(headers, validators) { StatusCode::NOT_MODIFIED.into_response() } else { body() };
    let mut put = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    };
    put(header::ETAG, &validators.etag());
    if let Some(seconds) = validators.last_modified() {
        put(header::LAST_MODIFIED, &http_date(seconds));
    }
    put(header::CACHE_CONTROL, cache);
    response
}

async fn healthz(State(shared): State<Shared>) -> Response {
    let boards = shared.hub.boards();
    let connected = boards.iter().filter(|state| state.connected).count();
    let troubles = shared.hub.operator().troubles();
    let journal = if troubles.iter().any(|trouble| trouble.what == "journal") { "failed" } else { "ok" };
    let fine = connected == boards.len() && troubles.is_empty();
    let body = Json(json!({
        "status": if fine { "ok" } else { "degraded" },
        "boards": boards.len(),
        "connected": connected,
        "journal": journal,
        "troubles": troubles,
        "devices": shared.hub.operator().devices(),
    }));
    ([(header::CACHE_CONTROL, "no-store")], body).into_response()
}

async fn metrics(State(shared): State<Shared>) -> Response {
    let boards = shared.hub.boards();
    let mut text = shared.hub.metrics().render(boards.iter().map(AsRef::as_ref));
    text.push_str(&shared.hub.operator().metrics());
    let headers = [
        (header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, text).into_response()
}

async fn asset(request: Request) -> Response {
    let Some(asset) = assets::find(request.uri().path()) else {
        return problem(StatusCode::NOT_FOUND, "there is nothing here; the page is at /");
    };
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return problem(StatusCode::METHOD_NOT_ALLOWED, "this can only be read");
    }
    let validators = Validators::strong(asset.body.as_bytes());
    let mut response = conditional(request.headers(), &validators, ASK, || {
        ([(header::CONTENT_TYPE, asset.content_type)], asset.body).into_response()
    });
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(assets::POLICY));
    response
}

#[derive(Deserialize)]
struct EventsQuery {
    board: Option<String>,
}

async fn events(
    State(shared): State<Shared>,
    Query(query): Query<EventsQuery>,
    headers: HeaderMap,
) -> Response {
    let audience = match query.board {
        Some(id) if shared.hub.board(&id).is_none() => return unknown_board(&id),
        Some(id) => Audience::Board(id),
        None => Audience::All,
    };
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let subscription = shared.hub.subscribe(audience, last_id);
    let stream = Stream { subscription, hub: shared.hub, ending: shared.ending, first: true };
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE).text("keep-alive");
    let buffering = [(HeaderName::from_static("x-accel-buffering"), "no")];
    (buffering, Sse::new(stream.into_events()).keep_alive(keep_alive)).into_response()
}

/// A stream of server-sent events to one client.
struct Stream {
    subscription: Subscription,
    hub: Hub,
    ending: watch::Receiver<bool>,
    first: bool,
}

impl Stream {
    fn into_events(self) -> impl stream::Stream<Item = Result<Event, Infallible>> + Send + 'static {
        let metrics = self.hub.metrics();
        let guard = ClientGuard::new(metrics, |metrics| &metrics.sse_clients, |metrics| &metrics.sse_total);
        stream::unfold((self, guard), |(mut stream, guard)| async move {
            let event = stream.next().await?;
            Some((Ok(event), (stream, guard)))
        })
    }

    /// The next event; nothing when the client fell behind or the daemon ends. A client that fell
    /// behind is let go rather than given a gap: it comes back with its last identifier.
    async fn next(&mut self) -> Option<Event> {
        let item = tokio::select! {
            item = self.subscription.next() => item,
            () = ended(&mut self.ending) => return None,
        };
        match item {
            Ok(item) => {
                let event = encode(&item);
                let first = std::mem::take(&mut self.first);
                Some(if first { event.retry(RETRY) } else { event })
            }
            Err(Ended::Lagged(_)) => {
                self.hub.metrics().count(|metrics| &metrics.lagged);
                None
            }
            Err(Ended::Closed) => None,
        }
    }
}

#[derive(Serialize)]
struct EventData<'e> {
    board: &'e str,
    #[serde(flatten)]
    event: &'e FeedEvent,
    #[serde(skip_serializing_if = "Option::is_none")]
    now_us: Option<u64>,
}

fn encode(item: &Item) -> Event {
    let (name, data) = match &item.payload {
        Payload::Snapshot(states) => {
            let states: Vec<Told<'_>> = states.iter().map(|state| told(state)).collect();
            ("snapshot", serde_json::to_string(&states))
        }
        Payload::Event { board, event } => {
            let clock = matches!(event, FeedEvent::Clock(_));
            let now_us = clock.then(|| sysclock::monotonic().as_micros());
            (event.name(), serde_json::to_string(&EventData { board, event, now_us }))
        }
    };
    Event::default().id(item.id.as_str()).event(name).data(data.unwrap_or_default())
}
