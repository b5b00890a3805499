//! The web page, the JSON of the boards, server-sent events and PGN over HTTP.
//!
//! Everything of it is public and read only: any web page may read it (`Access-Control-Allow-Origin:
//! *`). `/healthz` and `/metrics` belong to the operator and are not shared with web pages.

use axum::{
    Json, Router,
    extract::{Path, Query, Request, State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Serialize;
use serde_json::json;
use tokio::sync::watch;

use super::{
    assets, clock_page,
    conditional::{Validators, http_date, unchanged},
    hub::Hub,
    lichess,
    pgn::{AfterSetUp, pgn_of, pgn_of_all},
    stream::{self, Told, told},
};
use crate::{
    publish::{BoardState, tournament::round_name},
    sysclock,
    wire::stream::Watch,
};

/// Longest body of a request in bytes; no request here needs one.
const MAX_BODY: u64 = 16 * 1024;
/// A state is old at once: it is not kept.
const NO_STORE: &str = "no-store";
/// JSON of files that programs other than browsers read, some of which guess where no charset is told.
pub(super) const JSON: &str = "application/json; charset=utf-8";
/// A file may be kept, but is asked for again each time.
pub(super) const ASK: &str = "no-cache";

#[derive(Clone)]
struct Shared {
    hub: Hub,
    ending: watch::Receiver<bool>,
    pgn: AfterSetUp,
}

/// Who may reach a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Spectators, who see the game late: what tells how things stand now is not served.
    Public,
    /// Spectators, players and the operator.
    All,
    /// The operator and screens in the hall: no web page of another origin may read what is not late here.
    Operator,
}

/// The routes of the surface, and those of others that share its address.
pub(super) fn router(
    hub: Hub,
    ending: watch::Receiver<bool>,
    more: Router,
    reach: Reach,
    pgn: AfterSetUp,
) -> Router {
    let now = match reach {
        Reach::All | Reach::Operator => operator_routes(hub.clone(), ending.clone()),
        Reach::Public => late_routes(),
    };
    let shared = Shared { hub, ending, pgn };
    let public = Router::new()
        .route("/api/boards", get(boards).options(preflight))
        .route("/api/boards/{id}", get(board).options(preflight))
        .route("/api/boards/{id}/pgn", get(board_pgn).options(preflight))
        .route("/pgn/{file}", get(pgn_file).options(preflight))
        .route("/events", get(events).options(preflight))
        .route("/api/stream", get(socket))
        .route("/api/stream/schema.json", get(schema).options(preflight));
    let public = match reach {
        Reach::Public | Reach::All => public.layer(middleware::from_fn(cross_origin)),
        Reach::Operator => public,
    };
    let all = Router::new().merge(public).fallback(asset).with_state(shared).merge(now).merge(more);
    let all = match reach {
        Reach::Public | Reach::All => all,
        Reach::Operator => all.layer(middleware::from_fn(own_pages)),
    };
    all.layer(middleware::from_fn(own_words)).layer(middleware::from_fn(limits))
}

/// Tells in our words, and in our form, what the framework refuses: an address that cannot be read, a method that there
/// is not.
pub(super) async fn own_words(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = response.status();
    let json = HeaderValue::from_static("application/json");
    if !status.is_client_error() || response.headers().get(header::CONTENT_TYPE) == Some(&json) {
        return response;
    }
    let text = match status {
        StatusCode::METHOD_NOT_ALLOWED => "this address is not asked with this method; it is read with GET",
        StatusCode::NOT_FOUND => "there is nothing at this address",
        _ => "the address cannot be read: names in it are text in UTF-8, escaped with % and two hex digits",
    };
    let allow = response.headers().get(header::ALLOW).cloned();
    let mut told = problem(status, text);
    told.headers_mut().extend(allow.map(|allow| (header::ALLOW, allow)));
    told
}

/// Refuses what a browser asks for a web page of another origin, and names of hosts that a page of the internet could
/// have given to this machine.
async fn own_pages(request: Request, next: Next) -> Response {
    if is_own_page(request.headers()) {
        return next.run(request).await;
    }
    let text =
        "this address is the operator's: ask it by its IP address or local name, and from its own pages";
    problem(StatusCode::FORBIDDEN, text)
}

fn is_own_page(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let host = text(header::HOST).unwrap_or_default();
    let same = |origin: &str| origin.split_once("://").is_some_and(|(_, at)| at.eq_ignore_ascii_case(host));
    text(header::ORIGIN).is_none_or(same) && is_local(host)
}

/// True for addresses, and for names that only a local network gives: without a dot, or below `.local` and its like.
pub(super) fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => {
            if port.bytes().all(|c| c.is_ascii_digit()) { name } else { host }
        }
        _ => host,
    };
    let bare = name.trim_matches(['[', ']']);
    let local = [".local", ".lan", ".home.arpa", ".internal"];
    bare.parse::<std::net::IpAddr>().is_ok()
        || !name.contains('.')
        || local.iter().any(|end| name.to_ascii_lowercase().ends_with(end))
}

/// What shows how things stand now: the figures of the operator, the clock for the screens beside the boards.
fn operator_routes(hub: Hub, ending: watch::Receiver<bool>) -> Router {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/metrics", get(metrics))
        .route("/api/push", get(push))
        .with_state(Shared { hub: hub.clone(), ending: ending.clone(), pgn: AfterSetUp::default() })
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
        let text = format!("a request may carry {MAX_BODY} bytes at most");
        let close = [(header::CONNECTION, "close")];
        return (close, problem(StatusCode::PAYLOAD_TOO_LARGE, &text)).into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Lets any web page read the public resources.
pub(super) async fn cross_origin(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    let exposed = HeaderValue::from_static("etag, last-modified");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    response
}

pub(super) async fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "if-none-match, if-modified-since, last-event-id"),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// A problem in words, as JSON.
pub(super) fn problem(status: StatusCode, message: &str) -> Response {
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
    match shared.hub.scores().into_iter().find(|state| state.id == id) {
        Some(state) => pgn(&headers, pgn_of(&state, shared.pgn), shared.hub.score_changed_us(&id)),
        None => unknown_board(&id),
    }
}

async fn pgn_file(State(shared): State<Shared>, Path(file): Path<String>, headers: HeaderMap) -> Response {
    let Some(id) = file.strip_suffix(".pgn") else {
        return problem(
            StatusCode::NOT_FOUND,
            "PGN is at /pgn/games.pgn, at /pgn/{board}.pgn and at /pgn/round-{number}.pgn",
        );
    };
    let round = id.strip_prefix("round-").map(|name| {
        // A number may have zeros in front.
        name.parse::<usize>().map_or_else(|_| name.to_owned(), |number| number.to_string())
    });
    if id != "games" && (round.is_none() || shared.hub.board(id).is_some()) {
        return board_pgn(State(shared), Path(id.to_owned()), headers).await;
    }
    let states: Vec<_> = match &round {
        Some(round) => {
            let games = shared.hub.games().into_iter();
            games.filter(|state| round_name(state).as_ref() == Some(round)).collect()
        }
        None => shared.hub.scores(),
    };
    if states.is_empty() && round.is_some() {
        return problem(StatusCode::NOT_FOUND, "no board plays this round; /api/boards tells the rounds");
    }
    let changed = states.iter().filter_map(|state| shared.hub.score_changed_us(&state.id)).max();
    pgn(&headers, pgn_of_all(states.iter().map(AsRef::as_ref), shared.pgn), changed)
}

fn pgn(headers: &HeaderMap, text: String, changed_us: Option<u64>) -> Response {
    let now = sysclock::wall_micros();
    let validators = Validators::strong(text.as_bytes()).modified(changed_us, now);
    let content_type = [(header::CONTENT_TYPE, "application/x-chess-pgn; charset=utf-8")];
    conditional(headers, &validators, ASK, || (content_type, text).into_response())
}

/// 304 where the client has the body already.
pub(super) fn conditional(
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

/// What a stream of the address of the page is asked for.
#[derive(Debug, Default)]
struct StreamQuery {
    board: Option<String>,
    boards: Option<String>,
    kinds: Option<String>,
    since: Option<String>,
}

impl StreamQuery {
    /// Reads the query of an address. What it does not know is refused: a filter with a slip in its name would let
    /// everything through.
    fn read(uri: &Uri) -> Result<StreamQuery, String> {
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri);
        let Query(pairs) = pairs.map_err(|_| "the query of the address cannot be read".to_owned())?;
        let mut query = StreamQuery::default();
        for (name, value) in pairs {
            let place = match name.as_str() {
                "board" => &mut query.board,
                "boards" => &mut query.boards,
                "kinds" => &mut query.kinds,
                "since" => &mut query.since,
                _ => {
                    return Err(format!(
                        "there is no parameter {name:?}; there are board, boards, kinds, since"
                    ));
                }
            };
            if place.replace(value).is_some() {
                return Err(format!("{name} is given twice; boards=1,2 names several boards"));
            }
        }
        if query.board.is_some() && query.boards.is_some() {
            return Err("board and boards are both given; boards=1,2 names several boards".to_owned());
        }
        Ok(query)
    }

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

async fn events(State(shared): State<Shared>, uri: Uri, headers: HeaderMap) -> Response {
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let watch = match StreamQuery::read(&uri).and_then(StreamQuery::watch) {
        Ok(watch) => Watch { since: last_id.or_else(|| watch.since.clone()), ..watch },
        Err(reason) => return problem(StatusCode::BAD_REQUEST, &reason),
    };
    stream::sse::events(shared.hub, shared.ending, &watch)
        .unwrap_or_else(|missing| problem(StatusCode::NOT_FOUND, &missing.to_string()))
}

/// A board that there is not is told over the socket, since a browser shows nothing of an upgrade that is refused.
async fn socket(
    State(shared): State<Shared>,
    uri: Uri,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let watch = StreamQuery::read(&uri).and_then(|query| match query.is_empty() {
        true => Ok(None),
        false => query.watch().map(Some),
    });
    let watch = match watch {
        Ok(watch) => watch,
        Err(reason) => return problem(StatusCode::BAD_REQUEST, &reason),
    };
    match upgrade {
        Ok(upgrade) => stream::socket::serve(upgrade, shared.hub, shared.ending, watch),
        Err(_) => {
            let text = "this address speaks WebSocket; server-sent events are at /events";
            problem(StatusCode::UPGRADE_REQUIRED, text)
        }
    }
}

async fn schema(headers: HeaderMap) -> Response {
    let validators = Validators::strong(stream::SCHEMA.as_bytes());
    let content_type = [(header::CONTENT_TYPE, "application/schema+json")];
    conditional(&headers, &validators, ASK, || (content_type, stream::SCHEMA).into_response())
}
