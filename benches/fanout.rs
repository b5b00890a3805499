//! Many clients: how long a change on the board takes to the last of them, what one costs while nothing happens, and
//! whether all of a fast game reaches all of them. A plain server of the same framework, which tells the same
//! number of clients a text of the same length, runs beside it.
//!
//! `cargo bench --bench fanout`; `-- --clients N --rounds N`. Without cargo's `--bench`, or with `--test`, a few clients
//! and changes only, and nothing is worth quoting.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "latency/board.rs"]
#[allow(dead_code)]
mod board;
#[path = "latency/daemon.rs"]
#[allow(dead_code)]
mod daemon;
#[path = "latency/game.rs"]
#[allow(dead_code)]
mod game;
#[path = "../tests/support/hall.rs"]
#[allow(dead_code)]
mod hall;
#[path = "latency/stats.rs"]
mod stats;

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use axum::{
    Router,
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    routing::get,
};
use shakmaty::Square;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    runtime::Builder,
    sync::{broadcast, mpsc},
};
use touchmoved::{
    feed::{FeedConfig, Hub, bind},
    publish::FeedEvent,
    session::time::MonoTime,
    sysclock,
};

use board::Board;
use daemon::Daemon;
use game::Deed;
use stats::Sample;

const PACE: Duration = Duration::from_millis(60);
const QUIET: Duration = Duration::from_millis(600);

/// How a client listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Events,
    Socket,
}

struct Plan {
    clients: usize,
    rounds: usize,
    seconds: usize,
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let has = |word: &str| args.iter().any(|arg| arg == word);
    let number = |word: &str, otherwise: usize| {
        let given = args.iter().position(|arg| arg == word).and_then(|at| args.get(at + 1));
        given.map_or(otherwise, |text| text.parse().expect("a number"))
    };
    let plan = match has("--bench") && !has("--test") {
        true => Plan { clients: number("--clients", 1000), rounds: number("--rounds", 300), seconds: 10 },
        false => Plan { clients: 5, rounds: 5, seconds: 1 },
    };
    println!("load average {}", fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    for clients in [1, plan.clients] {
        println!("\n{clients} client(s), {} changes, one every {} ms", plan.rounds, PACE.as_millis());
        let plain = plain(clients, plan.rounds).show("plain server, WebSocket", None);
        for way in [Way::Events, Way::Socket] {
            let name = format!("square to the last client, {way:?}");
            change_to_last(clients, plan.rounds, way).show(&name, Some(plain));
        }
    }
    println!("\nmemory of the daemon, {} idle clients", plan.clients);
    for way in [Way::Events, Way::Socket] {
        memory(plan.clients, way);
    }
    println!("\n200 events a second for {} s, 100 clients", plan.seconds);
    for way in [Way::Events, Way::Socket] {
        flood(plan.seconds, plan.clients.min(100), way);
    }
}

/// A daemon with a DGT board on which nothing has happened.
fn start(dir: &Path) -> (Daemon, Board) {
    let port = dir.join("dgt");
    let board = Board::plug(&port, &shakmaty::Board::new());
    let mut daemon = Daemon::start(dir, &format!("dgt = {{ port = {port:?} }}"));
    daemon.wait_for("the board answers");
    board.wait_until_it_streams();
    thread::sleep(QUIET);
    (daemon, board)
}

/// The n-th change: the man on a1 is lifted, or put back.
fn change(n: usize) -> Deed {
    let piece = (n % 2 == 1).then(|| shakmaty::Role::Rook.of(shakmaty::Color::White));
    Deed::Square { square: Square::A1, piece, placement: String::new() }
}

fn change_to_last(clients: usize, rounds: usize, way: Way) -> Sample {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (mut daemon, board) = start(dir.path());
    let crowd = Crowd::gather(daemon.http(), clients, way);
    let before = processor_ms(daemon.pid());
    let mut written = Vec::new();
    for n in 0..rounds {
        thread::sleep(PACE);
        written.push(board.write(&change(n)));
    }
    thread::sleep(QUIET);
    let spent = processor_ms(daemon.pid()) - before;
    println!(
        "  {:?}: {} us of processor time of the daemon a message",
        way,
        spent * 1000 / (rounds * clients) as u64
    );
    let sample = crowd.last(&written);
    daemon.end();
    sample
}

/// Clients on a thread of their own, and what each has heard.
struct Crowd {
    heard: mpsc::UnboundedReceiver<(usize, MonoTime)>,
    clients: usize,
}

impl Crowd {
    /// Connects; comes back when each has its snapshot.
    fn gather(address: SocketAddr, clients: usize, way: Way) -> Crowd {
        let (sender, heard) = mpsc::unbounded_channel();
        let ready = Arc::new(AtomicUsize::new(0));
        let there = ready.clone();
        thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let mut tasks = tokio::task::JoinSet::new();
                for _ in 0..clients {
                    tasks.spawn(listen(address, way, sender.clone(), there.clone()));
                    // Not all at once: the queue of the listener is short.
                    tokio::time::sleep(Duration::from_micros(300)).await;
                }
                drop(sender);
                while tasks.join_next().await.is_some() {}
            });
        });
        while ready.load(Relaxed) < clients {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(QUIET);
        Crowd { heard, clients }
    }

    /// The time from each write to the last client that heard of it.
    fn last(mut self, written: &[MonoTime]) -> Sample {
        let mut last = vec![(0, MonoTime::ZERO); written.len()];
        while let Ok((n, at)) = self.heard.try_recv() {
            if let Some((count, latest)) = last.get_mut(n) {
                *count += 1;
                *latest = at.max(*latest);
            }
        }
        let mut sample = Sample::default();
        for ((count, at), written) in last.into_iter().zip(written) {
            if count == self.clients { sample.add(at.since(*written)) } else { sample.miss() }
        }
        sample
    }
}

/// One client: each picture of the board with the time at which it came, counted from 0.
async fn listen(
    address: SocketAddr,
    way: Way,
    heard: mpsc::UnboundedSender<(usize, MonoTime)>,
    ready: Arc<AtomicUsize>,
) {
    let Ok(mut stream) = TcpStream::connect(address).await else { return };
    let request = match way {
        Way::Events => "GET /events HTTP/1.1\r\nHost: board\r\n\r\n".to_owned(),
        Way::Socket => "GET /api/stream?board=1 HTTP/1.1\r\nHost: board\r\nConnection: Upgrade\r\n\
                        Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            .to_owned(),
    };
    stream.write_all(request.as_bytes()).await.unwrap();
    // The objects are lines in the one case and have no line end in the other: pictures are counted as they are
    // named, which costs little.
    let mut stream = BufReader::with_capacity(4096, stream);
    let mut buffer = Vec::new();
    let (mut count, mut snapshot) = (0, false);
    loop {
        let Ok(bytes) = stream.fill_buf().await else { return };
        if bytes.is_empty() {
            return;
        }
        let at = sysclock::monotonic();
        buffer.extend_from_slice(bytes);
        let length = bytes.len();
        stream.consume(length);
        if !snapshot && find(&buffer, b"\"now_us\"").is_some() {
            snapshot = true;
            ready.fetch_add(1, Relaxed);
        }
        while let Some(found) = find(&buffer, b"\"placement\"") {
            buffer.drain(..=found);
            let _ = heard.send((count, at));
            count += 1;
        }
        let keep = buffer.len().saturating_sub(16);
        buffer.drain(..keep);
    }
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|part| part == word)
}

/// A server that passes each text of one client on to all the others.
fn plain(clients: usize, rounds: usize) -> Sample {
    let (sender, address) = std::sync::mpsc::channel();
    let server = thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let (all, _) = broadcast::channel::<Arc<str>>(1024);
            let (end, mut ended) = mpsc::channel::<()>(1);
            let upgrade = |State((all, end)): State<(broadcast::Sender<Arc<str>>, mpsc::Sender<()>)>,
                           upgrade: WebSocketUpgrade| async move {
                upgrade.on_upgrade(move |socket| pass_on(socket, all, end))
            };
            let router = Router::new().route("/api/stream", get(upgrade)).with_state((all, end));
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            let shutdown = async move { _ = ended.recv().await };
            tokio::select! {
                _ = axum::serve(listener, router) => {}
                () = shutdown => {}
            }
        });
    });
    let address: SocketAddr = address.recv().unwrap();
    let crowd = Crowd::gather(address, clients, Way::Socket);
    let (mut socket, _) = tokio_tungstenite::tungstenite::client(
        format!("ws://{address}/api/stream"),
        std::net::TcpStream::connect(address).unwrap(),
    )
    .unwrap();
    let text = "{\"id\":\"k3f9-1\",\"board\":\"1\",\"type\":\"board\",\"placement\":\"8/8/8/8/8/8/8/R7\"}";
    let mut written = Vec::new();
    for _ in 0..rounds {
        thread::sleep(PACE);
        written.push(sysclock::monotonic());
        socket.send(tokio_tungstenite::tungstenite::Message::text(text)).unwrap();
    }
    thread::sleep(QUIET);
    let sample = crowd.last(&written);
    socket.send(tokio_tungstenite::tungstenite::Message::binary(vec![0])).unwrap();
    server.join().unwrap();
    sample
}

async fn pass_on(mut socket: WebSocket, all: broadcast::Sender<Arc<str>>, end: mpsc::Sender<()>) {
    let mut live = all.subscribe();
    // What the clients wait for before they count.
    if socket.send(Message::Text("\"now_us\"".into())).await.is_err() {
        return;
    }
    loop {
        tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => drop(all.send(text.as_str().into())),
                Some(Ok(Message::Binary(_))) => drop(end.send(()).await),
                Some(Ok(_)) => {}
                _ => return,
            },
            Ok(text) = live.recv() => {
                if socket.send(Message::Text(text.as_ref().into())).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Processor time that a process has used, in milliseconds.
fn processor_ms(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<u64> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(|n| n.parse().unwrap())
        .collect();
    // The kernel counts in hundredths of a second.
    fields.iter().sum::<u64>() * 10
}

/// Kilobytes of memory that a process has, without what it shares with files.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn memory(clients: usize, way: Way) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (mut daemon, _board) = start(dir.path());
    let before = resident(daemon.pid());
    let crowd = Crowd::gather(daemon.http(), clients, way);
    let after = resident(daemon.pid());
    let bytes = (after - before) * 1024 / clients as u64;
    println!("  {way:?}: {before} KiB without, {after} KiB with {clients}: {bytes} bytes a client");
    daemon.end();
    drop(crowd);
}

/// Two hundred events a second, straight into the hub: how many reach all clients, and what happens to a client that
/// does not read.
fn flood(seconds: usize, clients: usize, way: Way) {
    let hub = Hub::new();
    let mut state = hall::Game::new("1").state("White", "Black");
    state.id = "1".to_owned();
    hub.set(state);
    let (sender, address) = std::sync::mpsc::channel();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let served = hub.clone();
    let server = thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let http = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
            let feeds = bind(FeedConfig { http, livechess: None, ..FeedConfig::default() }).await.unwrap();
            sender.send(feeds.http().unwrap()).unwrap();
            feeds.serve(served, async { drop(ended.await) }).await.unwrap();
        });
    });
    let crowd = Crowd::gather(address.recv().unwrap(), clients, way);
    let begin = sysclock::monotonic();
    let mut written = Vec::new();
    for n in 0..200 * seconds {
        let due = begin.plus_micros(5000 * n as u64);
        thread::sleep(Duration::from_micros(due.since(sysclock::monotonic())));
        written.push(sysclock::monotonic());
        hub.publish("1", vec![FeedEvent::Board { board: format!("8/8/8/8/8/8/8/{n}") }]);
    }
    thread::sleep(QUIET * 2);
    let lagged = hub.metrics().lagged.load(Relaxed);
    crowd.last(&written).show(&format!("{way:?}, {clients} clients, {lagged} let go"), None);
    end.send(()).unwrap();
    server.join().unwrap();
}
