//! A hall for a test of the feeds: the real server, and games that are played into its hub.

use std::{net::SocketAddr, sync::Arc};

use shakmaty::{CastlingMode, Chess, EnPassantMode, Position, fen::Fen, san::SanPlus, uci::UciMove};
use tokio::{sync::oneshot, task::JoinHandle};
use touchmoved::{
    feed::{FeedConfig, Hub, bind},
    publish::{BoardState, FeedEvent, PublicClock, PublicPly, Tags},
};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// A server with a hub that the test feeds.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    /// What it serves.
    pub hub: Hub,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Server {
    /// Serves the web surface of a hub at an address.
    pub async fn start(address: SocketAddr, hub: Hub) -> Server {
        let config =
            FeedConfig { http: Some(address), livechess: None, pgn_dir: None, ..FeedConfig::default() };
        let feeds = bind(config).await.unwrap();
        let address = feeds.http().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = hub.clone();
        let task = tokio::spawn(async move {
            feeds.serve(served, async { drop(stopped.await) }).await.unwrap();
        });
        Server { address, hub, stop, task }
    }

    /// Serves at a free port of this machine.
    pub async fn local(hub: Hub) -> Server {
        Server::start(SocketAddr::from(([127, 0, 0, 1], 0)), hub).await
    }

    /// The address of a page of this server.
    pub fn url(&self, rest: &str) -> String {
        format!("http://{}/{rest}", self.address)
    }

    /// Ends the server as the daemon does.
    pub async fn stop(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }
}

/// A game that is played move by move, and what the public is told of it.
pub struct Game {
    id: &'static str,
    start: String,
    mode: CastlingMode,
    position: Chess,
    /// What was played.
    pub plies: Vec<PublicPly>,
}

impl Game {
    /// A game that has not begun.
    pub fn new(id: &'static str) -> Game {
        Game::from(id, START, CastlingMode::Standard)
    }

    /// A game from a position.
    pub fn from(id: &'static str, fen: &str, mode: CastlingMode) -> Game {
        let position = fen.parse::<Fen>().unwrap().into_position(mode).unwrap();
        Game { id, start: fen.to_owned(), mode, position, plies: Vec::new() }
    }

    /// A game after some moves.
    pub fn with(id: &'static str, moves: &str) -> Game {
        let mut game = Game::new(id);
        for uci in moves.split_whitespace() {
            game.play(uci);
        }
        game
    }

    /// The full FEN now.
    pub fn fen(&self) -> String {
        Fen::from_position(&self.position, EnPassantMode::Legal).to_string()
    }

    /// The men now.
    pub fn placement(&self) -> String {
        self.position.board().to_string()
    }

    /// Plays a move and gives the events of it: the men on the board, then the move.
    pub fn play(&mut self, uci: &str) -> Vec<FeedEvent> {
        let m = uci.parse::<UciMove>().unwrap().to_move(&self.position).unwrap();
        let san = SanPlus::from_move_and_play_unchecked(&mut self.position, m).to_string();
        let uci = m.to_uci(self.mode).to_string();
        let left = 5_400_000 - 11_000 * self.plies.len() as u64;
        let played = PublicPly { uci, san, completed: true, clock_ms: Some(left), elapsed_ms: None };
        self.plies.push(played.clone());
        let moved = FeedEvent::Move { ply: self.plies.len(), played, fen: self.fen() };
        vec![FeedEvent::Board { board: self.placement() }, moved]
    }

    /// What the public knows of it, with two names.
    pub fn state(&self, white: &str, black: &str) -> BoardState {
        let tag = |text: &str| Some(text.to_owned());
        BoardState {
            id: self.id.to_owned(),
            tags: Tags {
                event: tag("Harbour Open"),
                site: tag("Boat House"),
                date: tag("2026.11.28"),
                round: tag("3"),
                board: tag(self.id),
                white: tag(white),
                black: tag(black),
                time_control: tag("40/5400+30:1800+30"),
                ..Tags::default()
            },
            chess960: self.mode.is_chess960(),
            start_fen: self.start.clone(),
            earlier: Arc::default(),
            board: self.placement(),
            fen: self.fen(),
            plies: Arc::new(self.plies.clone()),
            turn: if self.position.turn().is_black() { "black" } else { "white" },
            clock: None,
            result: "*",
            termination: None,
            status: if self.plies.is_empty() { "waiting" } else { "playing" },
            connected: true,
            has_presses: true,
            serial: None,
        }
    }
}

/// A reading of the clock, with the stamp of a recording that began a moment ago.
pub fn clock(white_ms: u64, black_ms: u64, running: Option<&'static str>) -> PublicClock {
    PublicClock { white_ms: Some(white_ms), black_ms: Some(black_ms), running, delay_ms: 0, at_us: 7 }
}
