//! The LiveChess-compatible API: WebSocket and HTTP on port 1982 under `/api/v1.0`.

mod boards;
mod client;
mod follow;
mod resources;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{
        Path, Request, State, WebSocketUpgrade,
        ws::{Message, WebSocket, close_code, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use serde::Serialize;
use tokio::{
    sync::{broadcast::error::RecvError, mpsc, watch},
    time::{MissedTickBehavior, interval},
};

pub use self::{
    boards::{BoardNote, Boards},
    client::Client,
    follow::Now,
};
pub(super) use self::{follow::serial, resources::player};
use super::{
    http::{JSON, is_local, own_words, problem},
    hub::Hub,
    metrics::ClientGuard,
    serve::ended,
    stream::socket::{fault, part, small},
    tls::Security,
};
use crate::{
    publish::{BoardState, release::Threshold},
    wire::livechess::Id,
};

/// Longest message of a client in bytes; the longest documented one has some 200.
const MAX_MESSAGE: usize = 64 * 1024;
/// A ping at this interval keeps a quiet connection open and finds a dead one.
const PING: Duration = Duration::from_secs(20);

/// Web origins that are let through without configuration, besides pages of this machine and
/// browser extensions.
const ORIGINS: &[&str] = &[
    "https://lichess.org",
    "https://www.lichess.org",
    "https://lichess.dev",
    "https://www.chess.com",
    "https://chess.com",
];

/// What can be chosen.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// Web origins that may use it, besides the ones that always may.
    pub(super) origins: Vec<String>,
    /// From when on a move is in `san` and in the list of a game.
    pub(super) moves: Threshold,
    /// What is known of the boards besides their games.
    pub(super) notes: Vec<BoardNote>,
}

#[derive(Clone)]
struct Shared {
    boards: Boards,
    origins: Arc<[String]>,
    moves: Threshold,
    ending: watch::Receiver<bool>,
    /// Dropped when the last socket has said goodbye.
    _alive: mpsc::Sender<()>,
}

/// The routes of the API. `alive` is held as long as a socket is served.
pub(super) fn router(
    hub: Hub,
    options: Options,
    ending: watch::Receiver<bool>,
    alive: mpsc::Sender<()>,
) -> Router {
    let Options { origins, moves, notes } = options;
    let shared =
        Shared { boards: Boards::new(hub, notes), origins: origins.into(), moves, ending, _alive: alive };
    Router::new()
        .route("/api/v1.0", get(upgrade))
        .route("/api/v1.0/eboards", get(list))
        .route("/api/v1.0/sources", get(sources))
        .route("/api/v1.0/tournaments", get(tournaments))
        .route("/api/v1.0/tournament/{uuid}", get(tournament))
        .route("/api/v1.0/round/{uuid}/{index}", get(round))
        .route("/api/v1.0/game/{uuid}", get(game))
        .route("/doc/index.html", get(doc))
        .layer(middleware::from_fn(own_words))
        .layer(middleware::from_fn_with_state(shared.clone(), origin))
        .with_state(shared)
}

/// Lets requests through that come from no web page, or from a page that is allowed.
async fn origin(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let Some(origin) = request.headers().get(header::ORIGIN).cloned() else {
        if is_rebound(&request, &shared.origins) {
            let text = "ask the board by its IP address or local name, or add http:// and the name of this machine, \
                        with the port, to [livechess] allowed-origins";
            return problem(StatusCode::FORBIDDEN, text);
        }
        return next.run(request).await;
    };
    if !origin.to_str().is_ok_and(|origin| allowed(origin, &shared.origins)) {
        let text = "this web page may not use the board; add its address to [livechess] allowed-origins";
        return problem(StatusCode::FORBIDDEN, text);
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    response
}

/// True for what a web page could have sent whose name was given the address of this machine: a browser takes the two
/// for one origin then, and tells none. It does tell one for a WebSocket, and under TLS the certificate has to have the
/// name.
fn is_rebound(request: &Request, configured: &[String]) -> bool {
    let headers = request.headers();
    let secure = request.extensions().get::<Security>().is_some_and(Security::is_secure);
    if secure || headers.contains_key(header::UPGRADE) {
        return false;
    }
    let names_page = |host: &HeaderValue| {
        let host = host.to_str().unwrap_or(".").to_ascii_lowercase();
        !is_local(&host) && !allowed(&format!("http://{host}"), configured)
    };
    headers.get_all(header::HOST).iter().any(names_page)
}

/// True when a page of this origin may use the API.
fn allowed(origin: &str, configured: &[String]) -> bool {
    if ORIGINS.contains(&origin) || configured.iter().any(|known| known == origin) {
        return true;
    }
    match origin.split_once("://") {
        Some(("http" | "https", host)) => {
            let name = match host.rsplit_once(':') {
                Some((name, port)) if port.bytes().all(|c| c.is_ascii_digit()) => name,
                _ => host,
            };
            ["localhost", "127.0.0.1", "[::1]"].contains(&name)
        }
        Some((scheme, _)) => ["chrome-extension", "moz-extension", "safari-web-extension"].contains(&scheme),
        None => false,
    }
}

async fn upgrade(
    State(shared): State<Shared>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    match upgrade {
        Ok(upgrade) => small(upgrade, MAX_MESSAGE).on_upgrade(move |socket| talk(socket, shared)),
        Err(_) => {
            let text = "this address speaks WebSocket; the boards are at /api/v1.0/eboards";
            ([(header::UPGRADE, "websocket")], problem(StatusCode::UPGRADE_REQUIRED, text)).into_response()
        }
    }
}

async fn list(State(shared): State<Shared>) -> Response {
    pretty(&shared.boards.list(Now::read()))
}

async fn sources(State(shared): State<Shared>) -> Response {
    pretty(&shared.boards.sources())
}

async fn tournaments(State(shared): State<Shared>) -> Response {
    let states = shared.boards.hub().boards();
    pretty(&resources::summaries(refs(&states)))
}

async fn tournament(State(shared): State<Shared>, Path(uuid): Path<String>) -> Response {
    let states = shared.boards.hub().boards();
    found(resources::detail(refs(&states), &uuid), "tournament; /api/v1.0/tournaments lists them")
}

async fn round(State(shared): State<Shared>, Path((uuid, index)): Path<(String, String)>) -> Response {
    let states = shared.boards.hub().boards();
    let round = index.parse().ok().and_then(|index| resources::round(refs(&states), &uuid, index));
    found(round, "round; the first one of a tournament is /api/v1.0/round/<uuid>/0")
}

async fn game(State(shared): State<Shared>, Path(uuid): Path<String>) -> Response {
    let states = shared.boards.hub().boards();
    let told = |state: &BoardState| shared.boards.is_active(state);
    let game = resources::game(refs(&states), &uuid, shared.moves, told, Now::read());
    found(game, "game; the pairings of a round name them")
}

fn refs(states: &[Arc<BoardState>]) -> impl Iterator<Item = &BoardState> {
    states.iter().map(AsRef::as_ref)
}

fn found<T: Serialize>(resource: Option<T>, what: &str) -> Response {
    match resource {
        Some(resource) => pretty(&resource),
        None => problem(StatusCode::NOT_FOUND, &format!("there is no such {what}")),
    }
}

async fn doc(headers: HeaderMap) -> Html<String> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost:1982");
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || ".:-[]".contains(*c)).collect();
    Html(include_str!("doc.html").replace("HOST", &host))
}

fn pretty<T: Serialize>(value: &T) -> Response {
    let body = serde_json::to_string_pretty(value).unwrap_or_default();
    let headers = [(header::CONTENT_TYPE, JSON), (header::CACHE_CONTROL, "no-store")];
    (headers, body).into_response()
}

/// Serves one socket until it closes, falls behind or the daemon ends.
async fn talk(mut socket: WebSocket, mut shared: Shared) {
    let hub = shared.boards.hub().clone();
    let metrics = hub.metrics();
    let _guard =
        ClientGuard::new(metrics, |metrics| &metrics.livechess_clients, |metrics| &metrics.livechess_total);
    let mut live = hub.watch();
    let mut client = Client::new(shared.boards.clone(), shared.moves);
    let mut ping = interval(PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ping.reset();
    let (code, reason) = loop {
        while let Some(frame) = client.poll_out() {
            if socket.send(Message::Text(frame.into())).await.is_err() {
                return;
            }
        }
        tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => client.text(text.as_str(), Now::read()),
                Some(Ok(Message::Binary(_))) => {
                    client.refuse(&Id::none(), "expected a text frame with one JSON object", Now::read());
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_))) | None => return,
                Some(Err(error)) => match fault(error, MAX_MESSAGE) {
                    Some((code, reason)) => break (code, reason),
                    None => return,
                },
            },
            batch = live.recv() => match batch {
                Ok(batch) => client.batch(&batch, Now::read()),
                Err(RecvError::Lagged(_)) => {
                    metrics.count(|metrics| &metrics.lagged);
                    break (close_code::POLICY, "too slow; connect again".to_owned());
                }
                Err(RecvError::Closed) => break (close_code::AWAY, "the daemon is ending".to_owned()),
            },
            () = ended(&mut shared.ending) => break (close_code::AWAY, "the daemon is ending".to_owned()),
            _ = ping.tick() => {
                if socket.send(Message::Ping(Vec::new().into())).await.is_err() {
                    return;
                }
            }
        }
    };
    part(socket, code, reason).await;
}

#[cfg(test)]
mod tests;
