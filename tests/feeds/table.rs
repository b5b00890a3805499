//! A server with one game that is played by hand, and small clients for it.

use std::{future::Future, net::SocketAddr, path::PathBuf, time::Duration};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use shakmaty::{Chess, Position as _, uci::UciMove};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpSocket, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream,
    tungstenite::{Error, Message, client::IntoClientRequest as _, http::HeaderValue},
};
use touchmoved::{
    feed::{FeedConfig, FeedError, Hub, bind},
    publish::{BoardState, FeedEvent, Publisher, Tags},
    session::{
        Session,
        event::ClockReading,
        fact::{CompletedBy, Fact, FactKind},
        setup::GameSetup,
        time::MonoTime,
    },
};

/// Fails a test that hangs.
pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("the test hangs")
}

/// A board whose facts are made by hand.
pub struct Table {
    pub hub: Hub,
    id: String,
    publisher: Publisher,
    session: Session,
    position: Chess,
}

impl Table {
    pub fn new(hub: &Hub, id: &str) -> Table {
        let setup = GameSetup::default();
        let session = Session::new(&setup).unwrap();
        let tags = Tags {
            event: Some("Test Open".to_owned()),
            white: Some("One, \"White\"".to_owned()),
            round: Some("1".to_owned()),
            board: Some(id.to_owned()),
            ..Tags::default()
        };
        let publisher = Publisher::new(id, &setup, tags, &session).with_presses(true);
        hub.set(publisher.state().clone());
        Table { hub: hub.clone(), id: id.to_owned(), publisher, session, position: Chess::default() }
    }

    pub fn state(&self) -> BoardState {
        self.publisher.state().clone()
    }

    pub fn events(&mut self, kinds: impl IntoIterator<Item = FactKind>) -> Vec<FeedEvent> {
        let at = touchmoved::sysclock::monotonic();
        let facts: Vec<Fact> = kinds.into_iter().map(|kind| Fact { ev: 0, at, kind }).collect();
        self.publisher.apply(&facts, &self.session)
    }

    pub fn facts(&mut self, kinds: impl IntoIterator<Item = FactKind>) {
        let events = self.events(kinds);
        self.hub.publish(&self.id, events);
    }

    /// What stands on the board, square by square as a FEN tells it.
    pub fn board(&mut self, placement: &str) {
        self.hub.publish(&self.id, vec![FeedEvent::Board { board: placement.to_owned() }]);
    }

    /// Lifts the man (and the captured one), places it and publishes the move: the placements.
    pub fn play(&mut self, uci: &str) -> Vec<String> {
        let chosen = uci.parse::<UciMove>().unwrap().to_move(&self.position).unwrap();
        let mut lifted = self.position.board().clone();
        lifted.discard_piece_at(chosen.from().unwrap());
        let mut placements = vec![lifted.to_string()];
        if chosen.is_capture() {
            lifted.discard_piece_at(chosen.to());
            placements.push(lifted.to_string());
        }
        self.position.play_unchecked(chosen);
        for placement in &placements {
            self.board(placement);
        }
        placements.push(self.position.board().to_string());
        let mut events = vec![FeedEvent::Board { board: self.position.board().to_string() }];
        let ply = self.state().plies.len() + 1;
        events.extend(self.events([FactKind::MovePublished { ply, uci: uci.into(), made: MonoTime::ZERO }]));
        self.hub.publish(&self.id, events);
        placements
    }

    /// The player who moved last presses the clock.
    pub fn press(&mut self, white_s: u64, black_s: u64) {
        let by = !self.position.turn();
        let ply = self.state().plies.len();
        let clock_ms = Some(1000 * by.fold_wb(white_s, black_s));
        let reading = ClockReading {
            white_ms: Some(1000 * white_s),
            black_ms: Some(1000 * black_s),
            running: Some(!by),
        };
        self.facts([
            FactKind::Clock(reading),
            FactKind::MoveCompleted { ply, uci: "".into(), by, how: CompletedBy::Press, clock_ms },
        ]);
    }
}

/// A running server.
pub struct Server {
    pub hub: Hub,
    pub http: SocketAddr,
    pub livechess: SocketAddr,
    pub stream: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), FeedError>>,
}

pub fn config() -> FeedConfig {
    let any = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    FeedConfig { http: any, livechess: any, stream: any, ..FeedConfig::default() }
}

impl Server {
    pub async fn start() -> Server {
        Server::with(config()).await
    }

    pub async fn with_pgn(dir: PathBuf) -> Server {
        Server::with(FeedConfig { pgn_dir: Some(dir), ..config() }).await
    }

    pub async fn with(config: FeedConfig) -> Server {
        let hub = Hub::with_run("run");
        let feeds = bind(config).await.unwrap();
        let (http, livechess) = (feeds.http().unwrap(), feeds.livechess().unwrap());
        let stream = feeds.stream().unwrap();
        let (stop, stopped) = oneshot::channel();
        let serve = feeds.serve(hub.clone(), async { stopped.await.unwrap_or(()) });
        Server { hub, http, livechess, stream, stop, task: tokio::spawn(serve) }
    }

    pub async fn stop(self) {
        self.stop.send(()).unwrap();
        soon(self.task).await.unwrap().unwrap();
    }
}

/// An answer over HTTP.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

pub async fn get(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Answer {
    request(address, "GET", path, headers).await
}

pub async fn request(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    send_request(&mut stream, method, path, headers).await;
    let mut bytes = Vec::new();
    // A connection that is refused may be reset instead of closed: what was read until then counts.
    let _ = soon(stream.read_to_end(&mut bytes)).await;
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let (status, headers) = head.split_once("\r\n").unwrap_or((head, ""));
    let headers = headers
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    Answer { status, headers, body: body.to_owned() }
}

/// HTTP/1.0, so that the answer ends with the connection and is not cut into chunks.
async fn send_request(stream: &mut TcpStream, method: &str, path: &str, headers: &[(&str, &str)]) {
    let mut text = format!("{method} {path} HTTP/1.0\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text.push_str("Host: localhost\r\n");
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    let _ = stream.write_all(text.as_bytes()).await;
}

/// A server-sent event.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    pub id: String,
    pub event: String,
    pub data: Value,
}

impl Sent {
    pub fn number(&self) -> u64 {
        self.id.rsplit('-').next().unwrap().parse().unwrap()
    }
}

/// A client of `/events`.
pub struct Events(BufReader<TcpStream>);

impl Events {
    pub async fn open(address: SocketAddr, path: &str, last_id: Option<&str>) -> Events {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut stream = soon(socket.connect(address)).await.unwrap();
        let headers: Vec<(&str, &str)> = last_id.map(|id| ("Last-Event-ID", id)).into_iter().collect();
        send_request(&mut stream, "GET", path, &headers).await;
        let mut events = Events(BufReader::new(stream));
        let status = events.line().await.unwrap();
        assert!(status.contains(" 200 "), "{status}");
        while !events.line().await.unwrap().is_empty() {}
        events
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = soon(self.0.read_line(&mut line)).await.unwrap_or(0);
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// The next event; nothing at the end of the stream.
    pub async fn next(&mut self) -> Option<Sent> {
        let mut sent = Sent { id: String::new(), event: String::new(), data: Value::Null };
        loop {
            let line = self.line().await?;
            match line.split_once(": ").unwrap_or((&line, "")) {
                ("id", id) => sent.id = id.to_owned(),
                ("event", event) => sent.event = event.to_owned(),
                ("data", data) => sent.data = serde_json::from_str(data).unwrap(),
                ("", _) if !sent.event.is_empty() => return Some(sent),
                _ => {}
            }
        }
    }

    pub async fn take(&mut self, n: usize) -> Vec<Sent> {
        let mut list = Vec::new();
        for _ in 0..n {
            list.push(self.next().await.expect("the stream ended"));
        }
        list
    }
}

/// A LiveChess client.
pub struct Client(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Client {
    pub async fn open(address: SocketAddr) -> Client {
        Client::from(address, None).await.unwrap()
    }

    pub async fn from(address: SocketAddr, origin: Option<&str>) -> Result<Client, Error> {
        Client::at(&format!("ws://{address}/api/v1.0"), origin).await
    }

    /// A client of another WebSocket of the daemon.
    pub async fn at(url: &str, origin: Option<&str>) -> Result<Client, Error> {
        let mut request = url.into_client_request().unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("Origin", HeaderValue::from_str(origin).unwrap());
        }
        let (socket, _) = soon(tokio_tungstenite::connect_async(request)).await?;
        Ok(Client(socket))
    }

    /// A client with a small receive buffer, which fills up soon when it does not read.
    pub async fn narrow(address: SocketAddr) -> Client {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let stream = MaybeTlsStream::Plain(soon(socket.connect(address)).await.unwrap());
        let request = format!("ws://{address}/api/v1.0");
        let (socket, _) = soon(tokio_tungstenite::client_async(request, stream)).await.unwrap();
        Client(socket)
    }

    pub async fn send(&mut self, text: &str) {
        soon(self.0.send(Message::text(text))).await.unwrap();
    }

    pub async fn raw(&mut self, message: Message) {
        soon(self.0.send(message)).await.unwrap();
    }

    /// Sends what the server does not read to its end.
    pub async fn shout(&mut self, message: Message) {
        let _ = soon(self.0.send(message)).await;
    }

    /// Sends bytes as they are, whatever they are.
    pub async fn bytes(&mut self, bytes: &[u8]) {
        let MaybeTlsStream::Plain(stream) = self.0.get_mut() else { panic!("not plain") };
        soon(stream.write_all(bytes)).await.unwrap();
    }

    /// The next text frame; nothing when the connection is closed.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            match soon(self.0.next()).await {
                Some(Ok(Message::Text(text))) => return Some(serde_json::from_str(text.as_str()).unwrap()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// The code with which the server closes, after whatever it sent before.
    pub async fn close_code(&mut self) -> Option<u16> {
        loop {
            match soon(self.0.next()).await {
                Some(Ok(Message::Close(frame))) => return frame.map(|frame| frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }

    /// Sends a call and takes the very next frame as its answer, as strict clients do.
    pub async fn call(&mut self, text: &str) -> Value {
        self.send(text).await;
        self.next().await.unwrap()
    }
}
