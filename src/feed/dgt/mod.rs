//! The boards as DGT boards: programs that read such a board read ours, without a change.
//!
//! Each board has a task of its own. It takes what every feed takes, the public states and events of the hub,
//! and gives it to a `wire::dgt::emulate::Emulator`, which speaks the protocol. What stands on the board is
//! shown, not what was published.

mod link;
mod port;

use std::{sync::Arc, time::Duration};

use shakmaty::Color;
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        watch,
    },
    time::sleep,
};

pub use self::port::Place;
use self::port::{Heard, Port};
use super::{
    hub::{Batch, Hub},
    metrics::ClientGuard,
    serve::ended,
};
use crate::{
    publish::{BoardState, FeedEvent, PublicClock},
    session::time::MonoTime,
    sysclock,
    wire::{
        dgt::emulate::{Emulator, Identity, ROOM, Times},
        livechess::serial_of,
    },
};

/// Bytes that are built before the wire has taken the last ones: the longest answers fit.
const OUTGOING: usize = ROOM + 1024;

/// A port that cannot be opened is tried again after this, and after twice as long each further time.
const RETRY: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));

/// A program that reserved the terminal and went without a word is found after this.
const LOOK: Duration = Duration::from_secs(1);

/// One board as a DGT board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DgtPort {
    /// The board.
    pub board: String,
    /// Where programs find it.
    pub place: Place,
    /// Its connector is at White's right hand: squares and clock are turned.
    pub flipped: bool,
}

/// A board whose port was opened, or will be.
#[derive(Debug)]
pub(super) struct Plugged {
    config: DgtPort,
    port: Option<Port>,
}

impl Plugged {
    /// Opens the port of a board. One that cannot be opened is told, and tried again by [`Plugged::run`]: no
    /// game waits for it.
    pub(super) fn open(config: DgtPort) -> Plugged {
        let port = Port::open(&config.place);
        let (board, path) = (&config.board, config.place.path().display());
        if let Err(error) = &port {
            tracing::error!("board {board} is no DGT board yet: {path}: {error}; tried again");
        }
        Plugged { config, port: port.ok() }
    }

    /// The board and its place, where it is open.
    pub(super) fn place(&self) -> Option<(&str, &Place)> {
        self.port.as_ref().map(|_| (self.config.board.as_str(), &self.config.place))
    }

    const fn is_terminal(&self) -> bool {
        matches!(self.config.place, Place::Link(_))
    }

    /// Is the board, until the daemon ends.
    pub(super) async fn run(mut self, hub: Hub, mut ending: watch::Receiver<bool>) {
        let mut live = hub.watch();
        let Some((state, version)) = hub.current(&self.config.board) else { return };
        let mut desk = Desk::new(&self.config, &state, version);
        let mut pause = RETRY.0;
        loop {
            let Some(port) = self.port.take() else {
                tokio::select! {
                    () = sleep(pause) => {}
                    () = ended(&mut ending) => return,
                }
                pause = pause.saturating_mul(2).min(RETRY.1);
                self.port = Port::open(&self.config.place).ok();
                if self.port.is_some() {
                    tracing::info!(
                        "board {} is a DGT board at {}",
                        desk.board,
                        self.config.place.path().display()
                    );
                }
                continue;
            };
            // What happened while there was no port.
            desk.catch_up(&hub, &mut live);
            match desk.serve(port, &hub, &mut live, &mut ending).await {
                Left::Daemon => return,
                Left::Client(port) => {
                    // A program that reserved the terminal left it to nobody: there is another one at once.
                    let again = || self.is_terminal().then(|| Port::open(&self.config.place).ok()).flatten();
                    (self.port, pause) = (port.or_else(again), RETRY.0);
                }
            }
        }
    }
}

/// Why a wire is not served any more.
enum Left {
    /// The daemon ends.
    Daemon,
    /// The program at the other end went; the port, where it can be used on.
    Client(Option<Port>),
}

/// The emulator of one board between the hub and the wire.
struct Desk {
    board: String,
    emulator: Emulator,
    /// Batches up to this one are in what the emulator knows.
    version: u64,
    /// What the wire has not taken yet.
    outgoing: Vec<u8>,
}

impl Desk {
    fn new(config: &DgtPort, state: &BoardState, version: u64) -> Desk {
        let emulator = Emulator::new(Identity::new(number_of(state)), config.flipped);
        let mut desk = Desk { board: config.board.clone(), emulator, version, outgoing: Vec::new() };
        desk.show(state);
        desk
    }

    /// Serves a wire until its other end goes.
    async fn serve(
        &mut self,
        mut port: Port,
        hub: &Hub,
        live: &mut broadcast::Receiver<Arc<Batch>>,
        ending: &mut watch::Receiver<bool>,
    ) -> Left {
        let count = || ClientGuard::new(hub.metrics(), |m| &m.dgt_clients, |m| &m.dgt_total);
        let mut client = port.is_taken().then(count);
        loop {
            if !self.write(&port) {
                return self.left(port);
            }
            let to_write = !self.outgoing.is_empty();
            tokio::select! {
                () = ended(ending) => return Left::Daemon,
                heard = port.hear(to_write) => match heard {
                    Heard::Bytes(bytes) => {
                        if !port.is_taken() {
                            port.let_go();
                            client = Some(count());
                            tracing::debug!("board {}: a program reads it as a DGT board", self.board);
                        }
                        self.emulator.receive(sysclock::monotonic(), &bytes);
                    }
                    Heard::Closed => {
                        drop(client);
                        return self.left(port);
                    }
                    Heard::Nothing => {}
                },
                batch = live.recv() => match batch {
                    Ok(batch) => self.take(&batch),
                    Err(RecvError::Lagged(_)) => self.catch_up(hub, live),
                    Err(RecvError::Closed) => return Left::Daemon,
                },
                () = sleep(self.patience(&port)) => port.unreserve(),
            }
        }
    }

    /// The program is gone: nothing of what was meant for it reaches the next one.
    fn left(&mut self, port: Port) -> Left {
        tracing::debug!("board {}: the program that read it as a DGT board is gone", self.board);
        self.emulator.hang_up();
        self.outgoing.clear();
        Left::Client(port.renewed())
    }

    /// Lets the emulator speak as far as the wire takes it; false when the wire is broken.
    fn write(&mut self, port: &Port) -> bool {
        loop {
            if self.outgoing.is_empty() {
                self.emulator.advance(sysclock::monotonic(), OUTGOING, &mut self.outgoing);
            }
            match port.write(&self.outgoing) {
                Ok(0) => return true,
                Ok(n) => drop(self.outgoing.drain(..n.min(self.outgoing.len()))),
                Err(_) => return false,
            }
        }
    }

    fn patience(&self, port: &Port) -> Duration {
        let now = sysclock::monotonic();
        let due = self.emulator.deadline(now).filter(|_| self.outgoing.is_empty());
        let due = due.map(|due| Duration::from_micros(due.since(now)));
        let look = (!port.is_taken()).then_some(LOOK);
        // Nothing is due: some event ends the wait.
        due.into_iter().chain(look).min().unwrap_or(Duration::from_secs(3600))
    }

    fn take(&mut self, batch: &Batch) {
        if *batch.board != *self.board || batch.version <= self.version {
            return;
        }
        self.version = batch.version;
        if batch.reset {
            self.show(&batch.state);
            return;
        }
        for event in batch.events() {
            match event {
                FeedEvent::Board { board } => self.place(board),
                FeedEvent::Clock(clock) => self.tell(Some(*clock), &batch.state),
                _ => {}
            }
        }
    }

    /// Takes what is true now, and drops what waits.
    fn catch_up(&mut self, hub: &Hub, live: &mut broadcast::Receiver<Arc<Batch>>) {
        *live = hub.watch();
        if let Some((state, version)) = hub.current(&self.board) {
            self.version = version;
            self.show(&state);
        }
    }

    fn show(&mut self, state: &BoardState) {
        self.place(&state.board);
        self.tell(state.clock, state);
    }

    fn place(&mut self, placement: &str) {
        if let Ok(board) = placement.parse() {
            self.emulator.set_board(sysclock::monotonic(), &board);
        }
    }

    fn tell(&mut self, clock: Option<PublicClock>, state: &BoardState) {
        let per_move = state.tags.time_control.as_deref().is_some_and(|control| control.contains('+'));
        self.emulator.set_clock(sysclock::monotonic(), clock.and_then(times_of), per_move);
    }
}

/// The clock, where the times of both sides are known.
fn times_of(clock: PublicClock) -> Option<Times> {
    Some(Times {
        white_ms: clock.white_ms?,
        black_ms: clock.black_ms?,
        running: clock.running.map(|side| if side == "white" { Color::White } else { Color::Black }),
        delay_ms: clock.delay_ms,
        at: MonoTime::from_micros(clock.at_us),
    })
}

/// The serial number, the same as that of the LiveChess API where it has five digits at most. Any other text
/// gives a number that is always the same.
fn number_of(state: &BoardState) -> u32 {
    let serial = state.serial.clone().unwrap_or_else(|| serial_of(&state.id));
    serial.parse().ok().filter(|number| *number < 100_000).unwrap_or_else(|| {
        let mix = |sum: u32, byte: u8| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        10_000 + serial.bytes().fold(0x811c_9dc5, mix) % 80_000
    })
}
