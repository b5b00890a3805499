//! The web page, the JSON of the boards, server-sent events and PGN over HTTP.
//!
//! Everything of it is public and read only: any web page may read it (`Access-Control-Allow-Origin:
//! *`). `/healthz` and `/metrics` belong to the operator and are not shared with web pages.

use axum::{
    Json, Router,
    extract::{Path, Query, Request, State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::watch;

use super::{
    assets, clock_page,
    conditional::{Validators, http_date, unchanged},
    hub::Hub,
    lichess,
    pgn::{pgn_of, pgn_of_all},
    stream::{self, Told, told},
};
use crate::{publish::BoardState, sysclock, wire::stream::Watch};

/// Longest body of a request in bytes; no request here needs one.
const MAX_BODY: u64 = 16 * 1024;
/// A state is old at once: it is not kept.
const NO_STORE: &str = "no-store";
/// A file may be kept, but is asked for again each time.
const ASK: &str = "no-cache";

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
        .route("/api/stream", get(socket))
        .route("/api/stream/schema.json", get(schema).options(preflight))
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
        .route("/api/push", get(push))
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
    ["/metrics", "/api/push", "/clock", "/clock.js", "/api/clocks", "/api/clocks/{*rest}"]
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

async fn push(State(shared): State<Shared>) -> Response {
    let lichess = shared.hub.operator().lichess().map(lichess::Status::json);
    ([(header::CACHE_CONTROL, "no-store")], Json(json!({ "lichess": lichess }))).into_response()
}

async fn asset(request: Request) -> Response {
    let Some(asset) = assets::find(request.uri().path()) else {
        return problem(StatusCode::NOT_FOUND, "there is nothing here; the page is at /");
    };
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return problem(StatusCode::METHOD_NOT_ALLOWED, "this can only be read");
    }
    let policy = assets::policy(request.uri().path());
    let validators = Validators::strong(asset.body.as_bytes());
    let mut response = conditional(request.headers(), &validators, ASK, || {
        ([(header::CONTENT_TYPE, asset.content_type)], asset.body).into_response()
    });
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

/// What a stream of the address of the page is asked for: `?board=1&board=..` has no place in it, `boards=1,2` has.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StreamQuery {
    board: Option<String>,
    boards: Option<String>,
    kinds: Option<String>,
    since: Option<String>,
}

impl StreamQuery {
    /// The same as a request; an error in words.
    fn watch(self) -> Result<Watch, String> {
        let list = |text: String| text.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>();
        let boards = self.board.map(|id| vec![id]).or_else(|| self.boards.map(list));
        Watch { enable: true, boards, kinds: self.kinds.map(list), since: self.since }.checked()
    }

    fn is_empty(&self) -> bool {
        [&self.board, &self.boards, &self.kinds, &self.since].into_iter().all(Option::is_none)
    }
}

async fn events(
    State(shared): State<Shared>,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
) -> Response {
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let watch = match query.watch() {
        Ok(watch) => Watch { since: last_id.or_else(|| watch.since.clone()), ..watch },
        Err(reason) => return problem(StatusCode::BAD_REQUEST, &reason),
    };
    stream::sse::events(shared.hub, shared.ending, &watch)
        .unwrap_or_else(|missing| problem(StatusCode::NOT_FOUND, &missing.to_string()))
}

async fn socket(
    State(shared): State<Shared>,
    Query(query): Query<StreamQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else {
        let text = "this address speaks WebSocket; server-sent events are at /events";
        return problem(StatusCode::UPGRADE_REQUIRED, text);
    };
    let watch = if query.is_empty() { None } else { Some(query.watch()) };
    match watch.transpose() {
        Ok(watch) => stream::socket::serve(upgrade, shared.hub, shared.ending, watch),
        Err(reason) => problem(StatusCode::BAD_REQUEST, &reason),
    }
}

async fn schema(headers: HeaderMap) -> Response {
    let validators = Validators::strong(stream::SCHEMA.as_bytes());
    let content_type = [(header::CONTENT_TYPE, "application/schema+json")];
    conditional(&headers, &validators, ASK, || (content_type, stream::SCHEMA).into_response())
}
