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
    health::{BoardHealth, Health},
    launch::{self, Launched, Prepared},
    lock::{DataDir, DataDirError},
    notify,
    resume::OpenError,
    supervisor,
    writer::STALL,
};
use crate::{
    config::Config,
    feed::{self, FeedConfig, FeedError, Hub},
    sensor::{Reading, Sink, SourceError, Stop},
    session::time::MonoTime,
    sysclock,
};

/// A board thread that has not advanced for this long is taken for hung: the watchdog is not fed.
const HUNG: Duration = Duration::from_secs(5);

/// How long the end waits for the journals; a disk that hangs must not keep the machine from
/// going down.
const LAST_WAIT: Duration = Duration::from_millis(1000);

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
    /// The boards with the journal that each writes.
    pub boards: Vec<(String, PathBuf)>,
}

/// Runs until SIGTERM or SIGINT; `started` is called once everything is served.
pub fn run(config: &Config, started: impl FnOnce(&Started)) -> Result<(), RunError> {
    let data = DataDir::open(&config.data_dir)?;
    let prepared = config
        .boards
        .iter()
        .map(|board| launch::prepare(config, board, &data))
        .collect::<Result<Vec<_>, RunError>>()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| RunError::System { what: "an event loop", source })?;
    runtime.block_on(serve(config, prepared, started))
}

async fn serve(
    config: &Config,
    prepared: Vec<Prepared>,
    started: impl FnOnce(&Started),
) -> Result<(), RunError> {
    let signals = Signals::new().map_err(|source| RunError::System { what: "a signal handler", source })?;
    let hub = Hub::new();
    let feeds = feed::bind(feed_config(config)).await?;
    let (http, livechess) = (feeds.http(), feeds.livechess());
    let boards = Boards::start(prepared, &hub)?;
    let health = boards.health.clone();
    hub.set_operator(Arc::new(health.clone()));
    started(&Started { http, livechess, boards: boards.paths.clone() });
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
    let served = feeds.serve(hub, ending).await;
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
        max_connections: config.max_connections,
        livechess_origins: config.livechess_origins.clone(),
    }
}

/// The threads of all boards.
struct Boards {
    stop: Stop,
    health: Health,
    paths: Vec<(String, PathBuf)>,
    wake: Vec<SyncSender<Reading>>,
    threads: Vec<JoinHandle<()>>,
}

impl Boards {
    fn start(prepared: Vec<Prepared>, hub: &Hub) -> Result<Boards, RunError> {
        let mut boards = Boards {
            stop: Stop::default(),
            health: Health::default(),
            paths: Vec::new(),
            wake: Vec::new(),
            threads: Vec::new(),
        };
        let mut healths = Vec::new();
        for board in prepared {
            healths.push(boards.add(board, hub)?);
        }
        boards.health = Health::new(healths);
        Ok(boards)
    }

    fn add(&mut self, prepared: Prepared, hub: &Hub) -> Result<Arc<BoardHealth>, RunError> {
        let no_thread = |source| RunError::System { what: "a thread", source };
        let Launched { engine, writer, outbox, health, timeline, offset_us, open, path } =
            launch::launch(prepared, hub)?;
        let (sender, readings) = sync_channel(QUEUE);
        self.paths.push((health.id().to_owned(), path));
        let wiring = Wiring {
            readings,
            timeline,
            offset_us,
            stop: self.stop.clone(),
            outbox,
            health: health.clone(),
            stall: STALL,
        };
        self.threads.push(board_thread::start(engine, wiring).map_err(no_thread)?);
        self.threads.push(writer);
        supervisor::start(open, Sink::new(sender.clone()), self.stop.clone(), health.clone())
            .map_err(no_thread)?;
        self.wake.push(sender);
        Ok(health)
    }

    /// Ends the sources, then the boards, then the writers, with everything written.
    async fn end(self) {
        self.stop.set();
        for sender in &self.wake {
            // Wakes a thread that waits for a reading; one whose queue is full is awake.
            if let Err(TrySendError::Disconnected(_)) =
                sender.try_send(Reading { at: MonoTime::ZERO, input: None })
            {
                tracing::debug!("a board thread has ended already");
            }
        }
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
