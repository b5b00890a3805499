//! One client of each output. Both block on their socket, so that nothing of their own comes between
//! the frame and its time.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpStream},
    os::unix::fs::MetadataExt as _,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, client};
use touchmoved::{session::time::MonoTime, sysclock};

/// What a frame shows.
pub enum Seen {
    /// The men on the board.
    Board(String),
    /// So many plies.
    Plies(usize),
}

/// Frames with the times at which they arrived.
pub type Frames = Vec<(MonoTime, Seen)>;

/// Reads server-sent events until the daemon ends.
pub fn events(address: SocketAddr) -> JoinHandle<Frames> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /events HTTP/1.1\r\nHost: board\r\n\r\n").unwrap();
    thread::spawn(move || {
        let mut frames = Frames::new();
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let at = sysclock::monotonic();
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let Ok(event) = serde_json::from_str::<Value>(data) else { continue };
            match event["type"].as_str() {
                Some("board") => frames.push((at, Seen::Board(text(&event["placement"])))),
                Some("move") => frames.push((at, Seen::Plies(number(&event["ply"])))),
                _ => {}
            }
        }
        frames
    })
}

/// Follows the board of the daemon over LiveChess until the daemon ends.
pub fn livechess(address: SocketAddr, fen: &str) -> JoinHandle<Frames> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut socket, _) = client(format!("ws://{address}/api/v1.0"), stream).unwrap();
    let subscribe = json!({"id": 1, "call": "subscribe", "param":
        {"feed": "eboardevent", "id": 1, "param": {"serialnr": "3000"}}});
    let setup =
        json!({"id": 2, "call": "call", "param": {"id": 1, "method": "setup", "param": {"fen": fen}}});
    for call in [subscribe, setup] {
        socket.send(Message::text(call.to_string())).unwrap();
    }
    thread::spawn(move || {
        let mut frames = Frames::new();
        let mut plies = 0;
        while let Ok(message) = socket.read() {
            let at = sysclock::monotonic();
            let Message::Text(message) = message else { continue };
            let Ok(message) = serde_json::from_str::<Value>(&message) else { continue };
            let param = &message["param"];
            if param["board"].is_string() {
                frames.push((at, Seen::Board(text(&param["board"]))));
            }
            let san = param["san"].as_array().map_or(0, Vec::len);
            if san > plies {
                plies = san;
                frames.push((at, Seen::Plies(plies)));
            }
        }
        frames
    })
}

/// Looks at the PGN file of the board, five times a millisecond, until `done` says so: each time that another file is
/// there, how many half-moves it has.
pub fn pgn(path: PathBuf, done: Arc<AtomicBool>) -> JoinHandle<Frames> {
    thread::spawn(move || {
        let (mut frames, mut known) = (Frames::new(), 0);
        while !done.load(Relaxed) {
            let inode = fs::metadata(&path).map_or(known, |meta| meta.ino());
            if inode != known {
                let at = sysclock::monotonic();
                known = inode;
                let plies = plies_of(&fs::read_to_string(&path).unwrap_or_default());
                frames.push((at, Seen::Plies(plies)));
            }
            thread::sleep(Duration::from_micros(200));
        }
        frames
    })
}

/// How many half-moves a PGN has.
fn plies_of(pgn: &str) -> usize {
    let moves = pgn.split_once("\n\n").map_or("", |(_, moves)| moves);
    let moves = moves.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
    moves.flat_map(str::split_whitespace).filter(|word| word.starts_with(char::is_alphabetic)).count()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> usize {
    value.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
}
