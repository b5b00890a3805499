//! The life of the daemon: data directory, journals, sockets, boards, ready; until a signal.

use std::{
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
};

use super::{
    board_thread::{self, QUEUE, Wiring},
    files,
    health::{BoardHealth, Health},
    launch::{self, Launched, Prepared},
    ledger::Ledger,
    lock::{DataDir, DataDirError},
    notify, ports,
    resume::OpenError,
    secrets, supervisor, wall,
    writer::STALL,
};
use crate::{
    config::{BoardConfig, Config, PortName, SensorConfig},
    desk::{self, Keys, Line},
    feed::{
        self, AfterSetUp, CloudOptions, FeedConfig, FeedError, Output, Outputs, TlsFiles, lichess::Push,
        livechess::BoardNote, outputs::Story,
    },
    publish::{
        release::Policy,
        tournament::{MOST_ROUNDS, is_numbered},
    },
    sensor::{Reading, Sink, SourceError, Stop, Timeline, serial::place::Roots},
    session::time::MonoTime,
    sysclock,
};

/// A board thread that has not advanced for this long is taken for hung: the watchdog is not fed.
const HUNG: Duration = Duration::from_secs(5);

/// How long the end waits for the journals; a disk that hangs must not keep the machine from
/// going down.
const LAST_WAIT: Duration = Duration::from_millis(1000);

/// How long the end waits for threads of the event loop.
const LOOK_UP_WAIT: Duration = Duration::from_millis(50);

/// Why the daemon cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The data directory cannot be used.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// A board's journal cannot be opened.
    #[error("board {board}: {source}")]
    Board {
        /// The board.
        board: String,
        /// What is wrong.
        source: OpenError,
    },
    /// A recording or a simulation cannot be used.
    #[error("board {board}: {source}")]
    Source {
        /// The board.
        board: String,
        /// What is wrong.
        source: SourceError,
    },
    /// A socket cannot be bound or served.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// A token, or another file of the configuration, cannot be read.
    #[error("{key} {}: {reason}", path.display())]
    Token {
        /// The key of the configuration.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// Nothing can be pushed to Lichess.
    #[error("[lichess]: {0}")]
    Lichess(String),
    /// The system gives no thread, timer or signal.
    #[error("the system refuses {what}: {source}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// What it says.
        source: io::Error,
    },
}

/// Where the daemon can be reached, and where it writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The web page.
    pub http: Option<SocketAddr>,
    /// The LiveChess API.
    pub livechess: Option<SocketAddr>,
    /// The boards that other programs can read as DGT boards, and where.
    pub dgt: Vec<(String, feed::Place)>,
    /// The operator's page.
    pub operator: Option<SocketAddr>,
    /// Lines over TCP.
    pub stream: Option<SocketAddr>,
    /// The boards with the journal that each writes.
    pub boards: Vec<(String, PathBuf)>,
    /// The arbiter can enter commands.
    pub desk: bool,
}

/// Runs until SIGTERM or SIGINT; `started` is called once everything is served.
pub fn run(config: &Config, started: impl FnOnce(&Started)) -> Result<(), RunError> {
    let keys = secrets::keys(config)?;
    let push = secrets::push(config)?;
    let data = DataDir::open(&config.data_dir)?;
    for shared in ports::shared(&config.boards, &Roots::default()) {
        tracing::error!("{shared}");
    }
    let prepared = config
        .boards
        .iter()
        .map(|board| launch::prepare(config, board, &data))
        .collect::<Result<Vec<_>, RunError>>()?;
    let rests = launch::rests(config, &data);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| RunError::System { what: "an event loop", source })?;
    let result = runtime.block_on(serve(config, prepared, rests, keys, push, started));
    // The system may still look up a name that nobody waits for any more.
    runtime.shutdown_timeout(LOOK_UP_WAIT);
    result
}

async fn serve(
    config: &Config,
    prepared: Vec<Prepared>,
    rests: Vec<Story>,
    keys: Keys,
    push: Option<Push>,
    started: impl FnOnce(&Started),
) -> Result<(), RunError> {
    let signals = Signals::new().map_err(|source| RunError::System { what: "a signal handler", source })?;
    let surfaces = [config.http, config.livechess, config.operator, config.stream].iter().flatten().count();
    files::allow(config.max_connections.saturating_mul(surfaces));
    let outputs = Outputs::new(&policies(config), config.livechess_moves);
    let feeds = feed::bind(feed_config(config)).await?;
    let (http, livechess, operator) = (feeds.http(), feeds.livechess(), feeds.operator());
    let (stream, dgt) = (feeds.stream(), feeds.dgt());
    let desk = !keys.is_empty();
    let mut boards = Boards::start(prepared, &outputs, desk)?;
    rests.into_iter().for_each(|rest| outputs.set_aside(rest));
    let feeds = feeds.with(desk::router(keys, std::mem::take(&mut boards.lines))).pushing(push);
    let health = boards.health.clone();
    if config.cloud.is_some() {
        for state in outputs.live().boards().iter().filter(|state| !is_numbered(state)) {
            tracing::warn!(
                board = state.id,
                "the Cloud counts rounds from 1 to {MOST_ROUNDS} and leaves the game of round {:?} out; begin the tag with \
                 the number of the round, such as \"7 Final\"",
                state.tags.round.as_deref().unwrap_or_default()
            );
        }
    }
    outputs.live().set_operator(Arc::new(health.clone()));
    if let Some(address) = livechess.filter(|_| config.livechess_tls.is_some()) {
        tracing::info!("LiveChess over TLS at the same port: wss://{address}/api/v1.0");
    }
    started(&Started { http, livechess, operator, stream, dgt, boards: boards.paths.clone(), desk });
    notify::ready(&health.line());
    let mut boards = Some(boards);
    let ending = async {
        tokio::select! {
            () = signals.end() => {}
            () = report(&health) => {}
        }
        notify::stopping();
        if let Some(boards) = boards.take() {
            boards.end().await;
        }
    };
    let served = feeds.serve(outputs, ending).await;
    // A surface that breaks down must not cost the journals their last records.
    if let Some(boards) = boards.take() {
        boards.end().await;
    }
    served?;
    tracing::info!("ended");
    Ok(())
}

fn feed_config(config: &Config) -> FeedConfig {
    FeedConfig {
        http: config.http,
        livechess: config.livechess,
        pgn_dir: config.pgn_dir.clone(),
        operator: config.operator,
        stream: config.stream,
        livechess_moves: config.livechess_moves,
        pgn_after_set_up: after_set_up(config),
        cloud: config.cloud.clone().map(|cloud| CloudOptions { dir: cloud.dir, host: cloud.host }),
        livechess_tls: config.livechess_tls.clone().map(|(certificate, key)| TlsFiles { certificate, key }),
        livechess_boards: config.boards.iter().map(note).collect(),
        max_connections: config.max_connections,
        livechess_origins: config.livechess_origins.clone(),
        dgt: dgt_ports(config),
        ..FeedConfig::default()
    }
}

/// How a PGN tells a game that goes on from another position.
pub(super) fn after_set_up(config: &Config) -> AfterSetUp {
    if config.pgn_stops { AfterSetUp::Stop } else { AfterSetUp::GoOn }
}

/// What LiveChess clients are told of a board besides its game.
fn note(board: &BoardConfig) -> BoardNote {
    let of = |sensor: &SensorConfig| {
        let device = match sensor {
            SensorConfig::Dgt { port: PortName::Path(path), .. }
            | SensorConfig::Peg { port: PortName::Path(path), .. } => {
                path.file_name().map(|name| name.to_string_lossy().into_owned())
            }
            SensorConfig::Dgt { port: PortName::UsbSerial(number), .. }
            | SensorConfig::Peg { port: PortName::UsbSerial(number), .. } => Some(number.clone()),
            SensorConfig::Matrix(_) | SensorConfig::SensorLog { .. } | SensorConfig::Simulated { .. } => None,
        };
        (sensor.kind().to_owned(), device.unwrap_or_else(|| board.id.to_string()))
    };
    BoardNote {
        board: board.id.to_string(),
        devices: std::iter::once(&board.sensor).chain(&board.second).map(of).collect(),
        comment: board.livechess.comment.clone(),
        active: board.livechess.active,
    }
}

/// The boards that are DGT boards for other programs.
fn dgt_ports(config: &Config) -> Vec<feed::DgtPort> {
    let given = || {
        let given = std::env::var_os("RUNTIME_DIRECTORY")?;
        // There may be several, with colons in between.
        std::env::split_paths(&given).next().filter(|dir| dir.is_absolute())
    };
    let dir = config.dgt_emulation.dir.clone().or_else(given);
    let dir = dir.unwrap_or_else(|| config.data_dir.join("run"));
    let boards = config.boards.iter().filter(|board| config.emulates(board));
    boards
        .map(|board| {
            let link = || feed::Place::Link(dir.join(config.dgt_link(board)));
            let place = board.emulation.port.clone().map_or_else(link, feed::Place::Device);
            feed::DgtPort { board: board.id.to_string(), place, flipped: board.emulation.flipped }
        })
        .collect()
}

/// What leaves when, for the outputs that are on.
fn policies(config: &Config) -> Vec<(Output, Policy)> {
    let release = config.release;
    let outputs = [
        (Output::Http, release.http, config.http.is_some()),
        (Output::LiveChess, release.livechess, config.livechess.is_some()),
        (Output::Pgn, release.pgn, config.pgn_dir.is_some()),
        (Output::Stream, release.stream, config.stream.is_some()),
        (Output::Lichess, release.lichess, config.lichess.is_some()),
        (Output::DgtEmulation, release.dgt, config.dgt_emulation.enabled),
        (Output::Cloud, release.cloud, config.cloud.is_some()),
    ];
    outputs.into_iter().filter(|(.., on)| *on).map(|(output, policy, _)| (output, policy)).collect()
}

/// The threads of all boards.
struct Boards {
    stop: Stop,
    health: Health,
    paths: Vec<(String, PathBuf)>,
    wake: Vec<SyncSender<Reading>>,
    /// The boards that are told of the system's clock: a recording has a time of its own.
    live: Vec<Sink>,
    lines: Vec<Arc<Line>>,
    threads: Vec<JoinHandle<()>>,
}

impl Boards {
    fn start(prepared: Vec<Prepared>, outputs: &Outputs, desk: bool) -> Result<Boards, RunError> {
        let mut boards = Boards {
            stop: Stop::default(),
            health: Health::default(),
            paths: Vec::new(),
            wake: Vec::new(),
            live: Vec::new(),
            lines: Vec::new(),
            threads: Vec::new(),
        };
        let mut healths = Vec::new();
        for board in prepared {
            healths.push(boards.add(board, outputs, desk)?);
        }
        let live = std::mem::take(&mut boards.live);
        if !live.is_empty() {
            let no_thread = |source| RunError::System { what: "a thread", source };
            wall::start(live, boards.stop.clone()).map_err(no_thread)?;
        }
        boards.health = Health::new(healths);
        Ok(boards)
    }

    fn add(
        &mut self,
        prepared: Prepared,
        outputs: &Outputs,
        desk: bool,
    ) -> Result<Arc<BoardHealth>, RunError> {
        let no_thread = |source| RunError::System { what: "a thread", source };
        let (sender, readings) = sync_channel(QUEUE);
        let ledger = Arc::new(ledger(sender.clone()));
        let Launched { engine, writer, outbox, health, timeline, offset_us, opens, path, records } =
            launch::launch(prepared, outputs, desk, ledger.clone())?;
        let line = records.map(|records| Arc::new(line(health.id(), records, sender.clone())));
        self.lines.extend(line.clone());
        self.paths.push((health.id().to_owned(), path));
        let wiring = Wiring {
            readings,
            timeline,
            offset_us,
            stop: self.stop.clone(),
            outbox,
            health: health.clone(),
            stall: STALL,
            line,
            ledger,
        };
        self.threads.push(board_thread::start(engine, wiring).map_err(no_thread)?);
        self.threads.push(writer);
        for (unit, open) in opens {
            let (sink, stop) = (Sink::new(sender.clone()), self.stop.clone());
            supervisor::start(open, sink, stop, health.clone(), unit).map_err(no_thread)?;
        }
        if timeline == Timeline::Live {
            self.live.push(Sink::new(sender.clone()));
        }
        self.wake.push(sender);
        Ok(health)
    }

    /// Ends the sources, then the boards, then the writers, with everything written.
    async fn end(self) {
        self.stop.set();
        self.wake.iter().for_each(wake);
        drop(self.wake);
        let (done, all) = oneshot::channel();
        let threads = self.threads;
        thread::spawn(move || {
            for thread in threads {
                let _ = thread.join();
            }
            let _ = done.send(());
        });
        if tokio::time::timeout(LAST_WAIT, all).await.is_err() {
            tracing::error!("a journal could not be written out in time: its disk does not answer");
        }
    }
}

/// The line from the desk to a board.
fn line(id: &str, records: Arc<desk::Records>, sender: SyncSender<Reading>) -> Line {
    Line::new(id, records, move || wake(&sender))
}

/// The release log of a board, on its way to the journal.
fn ledger(sender: SyncSender<Reading>) -> Ledger {
    Ledger::new(move || wake(&sender))
}

/// Wakes a thread that waits for a reading; one whose queue is full is awake.
fn wake(sender: &SyncSender<Reading>) {
    let nothing = Reading { at: MonoTime::ZERO, input: None };
    if let Err(TrySendError::Disconnected(_)) = sender.try_send(nothing) {
        tracing::debug!("a board thread has ended already");
    }
}

/// Tells the service manager how things stand; returns never.
async fn report(health: &Health) {
    if std::env::var_os("NOTIFY_SOCKET").is_none() {
        return std::future::pending().await;
    }
    let watchdog = notify::watchdog_period();
    let period = watchdog.unwrap_or(Duration::from_secs(2)).min(Duration::from_secs(2));
    let mut told = health.line();
    let mut ticks = tokio::time::interval(period);
    loop {
        ticks.tick().await;
        let line = health.line();
        if line != told {
            notify::status(&line);
            told = line;
        }
        if watchdog.is_some() && health.all_alive(sysclock::monotonic(), HUNG) {
            notify::watchdog();
        }
    }
}

/// The signals that the daemon minds.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn new() -> io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the signal to end.
    async fn end(mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => {
                    tracing::info!("SIGTERM: ending");
                    return;
                }
                _ = self.interrupt.recv() => {
                    tracing::info!("SIGINT: ending");
                    return;
                }
                _ = self.hangup.recv() => tracing::warn!(
                    "SIGHUP: the configuration is read at the start only; restart to apply changes (a \
                     running game goes on)"
                ),
            }
        }
    }
}
