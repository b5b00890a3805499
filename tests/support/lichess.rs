//! A server that takes pushes into one round by the rules of Lichess: token, round, size, how games are split, which
//! are read. It remembers every request, and answers as a test wants it to.
#![allow(dead_code)]

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::Duration,
};

use axum::{
    Json, Router,
    body::to_bytes,
    extract::{Path, Request, State},
    http::{HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse as _, Response},
    routing::post,
    serve::Listener,
};
use serde_json::{Map, Value, json};
use shakmaty::{CastlingMode, Chess, Position as _, fen::Fen, san::San};
use tokio::{net::TcpListener, sync::oneshot};
use touchmoved::{session::time::MonoTime, sysclock::monotonic};

pub const ROUND: &str = "AbCdEfGh";
pub const TOKEN: &str = "lip_VerySecretToken42";

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Pushed {
    /// When its head was there.
    pub at: MonoTime,
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// The status that it was answered with.
    pub status: u16,
}

impl Pushed {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The games, in order.
    pub fn games(&self) -> Vec<Game> {
        split(&self.body).map(Game::read).collect()
    }
}

/// An answer that a test wants.
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    /// 0 stands for what the rules say.
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    /// How long it takes.
    pub after: Duration,
}

impl Scripted {
    pub fn status(status: u16) -> Scripted {
        Scripted { status, ..Scripted::default() }
    }
}

#[derive(Default)]
struct Book {
    requests: Vec<Pushed>,
    script: VecDeque<Scripted>,
    under_way: usize,
    most_under_way: usize,
    /// Connections under TLS that stood.
    connections: usize,
}

type Shared = Arc<Mutex<Book>>;

pub struct Lichess {
    pub address: SocketAddr,
    book: Shared,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lichess {
    /// On a free port, over HTTP.
    pub fn start() -> Lichess {
        Lichess::start_at(SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    pub fn start_at(address: SocketAddr) -> Lichess {
        Lichess::serve(address, |listener, _| listener)
    }

    /// Over TLS, with this certificate and its key.
    #[cfg(feature = "tls")]
    pub fn start_tls(certificate: &rcgen::CertifiedKey<rcgen::KeyPair>) -> Lichess {
        use tokio_rustls::{TlsAcceptor, rustls};
        let key =
            rustls::pki_types::PrivateKeyDer::try_from(certificate.signing_key.serialize_der()).unwrap();
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Lichess::serve(SocketAddr::from(([127, 0, 0, 1], 0)), |tcp, book| Tls { tcp, acceptor, book })
    }

    fn serve<L>(address: SocketAddr, wrap: impl FnOnce(TcpListener, Shared) -> L + Send + 'static) -> Lichess
    where
        L: Listener<Addr = SocketAddr>,
    {
        let book = Shared::default();
        let (stop, stopped) = oneshot::channel::<()>();
        let (bound, address_of) = std::sync::mpsc::channel();
        let shared = book.clone();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::bind(address).await.unwrap();
                bound.send(listener.local_addr().unwrap()).unwrap();
                let router = Router::new()
                    .route("/api/broadcast/round/{id}/push", post(push))
                    .with_state(shared.clone());
                let served = axum::serve(wrap(listener, shared), router);
                tokio::select! {
                    result = async { served.await } => result.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        let address = address_of.recv().unwrap();
        Lichess { address, book, stop: Some(stop), thread: Some(thread) }
    }

    /// What the next requests are answered with.
    pub fn script(&self, answers: impl IntoIterator<Item = Scripted>) {
        self.book.lock().unwrap().script.extend(answers);
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Pushed> {
        self.book.lock().unwrap().requests.clone()
    }

    /// Connections under TLS that stood.
    pub fn connections(&self) -> usize {
        self.book.lock().unwrap().connections
    }

    /// The most requests that were under way at a time.
    pub fn most_under_way(&self) -> usize {
        self.book.lock().unwrap().most_under_way
    }
}

impl Drop for Lichess {
    fn drop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
        let _ = self.thread.take().unwrap().join();
    }
}

#[cfg(feature = "tls")]
struct Tls {
    tcp: TcpListener,
    acceptor: tokio_rustls::TlsAcceptor,
    book: Shared,
}

#[cfg(feature = "tls")]
impl Listener for Tls {
    type Io = tokio_rustls::server::TlsStream<tokio::net::TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let Ok((stream, address)) = self.tcp.accept().await else { continue };
            if let Ok(stream) = self.acceptor.accept(stream).await {
                self.book.lock().unwrap().connections += 1;
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}

async fn push(State(book): State<Shared>, Path(id): Path<String>, request: Request) -> Response {
    let at = monotonic();
    let scripted = {
        let mut book = book.lock().unwrap();
        book.under_way += 1;
        book.most_under_way = book.most_under_way.max(book.under_way);
        book.script.pop_front().unwrap_or_default()
    };
    let (head, body) = request.into_parts();
    let bytes = to_bytes(body, 8 << 20).await.unwrap();
    tokio::time::sleep(scripted.after).await;
    let headers: Vec<(String, String)> = head
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    let body = String::from_utf8(bytes.to_vec()).unwrap();
    let authorization =
        headers.iter().find(|(name, _)| name == "authorization").map(|(_, value)| value.clone());
    let (status, text) = if scripted.status != 0 {
        (scripted.status, scripted.body.clone())
    } else {
        ruled(&id, authorization.as_deref(), &body)
    };
    let mut answer = (StatusCode::from_u16(status).unwrap(), text).into_response();
    for (name, value) in scripted.headers {
        answer.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_str(&value).unwrap());
    }
    let (method, path) = (head.method.to_string(), head.uri.path().to_owned());
    let mut book = book.lock().unwrap();
    book.under_way -= 1;
    book.requests.push(Pushed { at, method, path, headers, body, status });
    answer
}

/// What the rules say.
fn ruled(round: &str, authorization: Option<&str>, body: &str) -> (u16, String) {
    let error = |status, text: &str| (status, json!({ "error": text }).to_string());
    if authorization != Some(&format!("Bearer {TOKEN}")) {
        return error(401, &format!("No such token: {}", authorization.unwrap_or_default()));
    }
    if round != ROUND {
        return error(404, "Resource not found");
    }
    if body.len() > 512 * 1024 {
        return error(413, "Request Entity Too Large");
    }
    let games: Vec<Value> = split(body).take(100).map(|text| Game::read(text).told()).collect();
    (200, Json(json!({ "games": games })).0.to_string())
}

/// The games of a body: they are parted by an empty line before a tag.
fn split(body: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(body);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        match text.find("\n\n[") {
            Some(at) => {
                rest = Some(&text[at + 2..]);
                Some(&text[..at])
            }
            None => Some(text),
        }
    })
    .filter(|text| !text.trim().is_empty())
}

/// A game as it is read.
#[derive(Clone, Debug)]
pub struct Game {
    pub tags: Map<String, Value>,
    /// Moves that are legal, from the first on.
    pub moves: Vec<String>,
    pub comments: Vec<String>,
    /// What could not be read.
    pub error: Option<String>,
}

impl Game {
    pub fn tag(&self, name: &str) -> &str {
        self.tags.get(name).and_then(Value::as_str).unwrap_or("")
    }

    fn told(&self) -> Value {
        match &self.error {
            Some(error) => json!({ "tags": self.tags, "error": error }),
            None => json!({ "tags": self.tags, "moves": self.moves.len() }),
        }
    }

    fn read(text: &str) -> Game {
        let (head, movetext) = text.split_once("\n\n").unwrap_or((text, ""));
        let tag = |line: &str| {
            let (name, value) = line.strip_prefix('[')?.strip_suffix("\"]")?.split_once(" \"")?;
            Some((name.to_owned(), Value::from(value.replace("\\\"", "\"").replace("\\\\", "\\"))))
        };
        let tags: Map<String, Value> = head.lines().map(|line| tag(line).expect(line)).collect();
        let fen = tags.get("FEN").and_then(Value::as_str).map(|fen| fen.parse::<Fen>().unwrap());
        let mut position: Chess =
            fen.map_or_else(Chess::default, |fen| fen.into_position(CastlingMode::Standard).unwrap());
        let mut game = Game { tags, moves: Vec::new(), comments: Vec::new(), error: None };
        let mut rest = movetext;
        let mut plain = String::new();
        while let Some((before, after)) = rest.split_once('{') {
            plain.push_str(before);
            let (comment, after) = after.split_once('}').unwrap();
            game.comments.push(comment.replace('\n', " "));
            plain.push(' ');
            rest = after;
        }
        plain.push_str(rest);
        for token in plain.split_whitespace() {
            if token.ends_with('.') || ["*", "1-0", "0-1", "1/2-1/2"].contains(&token) {
                continue;
            }
            let played = token.trim_end_matches(['+', '#']).parse::<San>();
            match played.ok().and_then(|san| san.to_move(&position).ok()) {
                Some(played) => position.play_unchecked(played),
                None => {
                    game.error = Some(format!("Cannot play {token} at ply {}", game.moves.len() + 1));
                    break;
                }
            }
            game.moves.push(token.to_owned());
        }
        game
    }
}
