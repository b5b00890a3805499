//! One board, opened and read in the way of the daemon.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use shakmaty::Bitboard;

use crate::{
    config::{BoardConfig, MatrixBackend, Pace, PortName, SensorConfig, Speed},
    daemon::{board_thread::QUEUE, source},
    doctor::{
        Check, Topic,
        board::{About, hears_clock},
        watch::Watch,
    },
    sensor::{
        Reading, Sink, SourceError, Stop, Timeline,
        matrix::{
            Status,
            leds::{Leds, Lit},
        },
        serial::place::Roots,
    },
    sysclock,
};

/// What one look at the source gives.
#[derive(Debug)]
pub(super) enum Heard {
    /// A reading, or that time has passed.
    Reading(Reading),
    /// Nothing within the wait.
    Nothing,
    /// The recording is over, or the source has given up.
    Ended,
}

/// A source that is read by a thread of its own.
#[derive(Debug)]
pub(super) struct Listener {
    readings: Receiver<Reading>,
    stop: Stop,
    thread: JoinHandle<Result<(), SourceError>>,
    timeline: Timeline,
    /// How the scans of a matrix are doing.
    scans: Arc<Status>,
    /// What the LEDs of a matrix show.
    leds: Arc<Leds>,
}

impl Listener {
    /// Opens the source of a board that is called `name`. What is known of it, and a watch for what it tells, come with it.
    pub(super) fn open(name: &str, board: &BoardConfig) -> Result<(Listener, About, Watch), Check> {
        let failed = |error: SourceError| refused(&board.sensor, error);
        let planned = source::plan(board).map_err(failed)?;
        let scans = Arc::<Status>::default();
        let known = source::Known::default();
        let leds = Arc::<Leds>::default();
        leds.set(Some(Lit::for_doctor(Bitboard::EMPTY)));
        let shared = source::Shared { scans: scans.clone(), leds: leds.clone(), ..Default::default() };
        let mut open = source::opener(board, planned.setup.clone(), known, shared);
        let source = open().map_err(failed)?;
        let start = planned.setup.position().map(|position| shakmaty::Position::board(&position).clone());
        let about = About {
            id: name.to_owned(),
            sensor: board.sensor.kind(),
            place: source.name(),
            start: start.unwrap_or_default(),
            time_control: planned.setup.time_control.parse().ok(),
            scan_us: scan_us(&board.sensor),
            recorded: is_recorded(&board.sensor) || is_simulated_wires(&board.sensor),
            hears_clock: hears_clock(planned.setup.board),
        };
        let watch = Watch::new(&planned.setup, planned.timeline != Timeline::Live);
        let (sender, readings) = sync_channel(QUEUE);
        let stop = Stop::default();
        let ending = stop.clone();
        let thread = std::thread::Builder::new()
            .name(format!("source {name}"))
            .spawn(move || source.run(&Sink::new(sender), &ending))
            .map_err(|error| Check::failed(Topic::Device, format!("the system gives no thread: {error}")))?;
        Ok((Listener { readings, stop, thread, timeline: planned.timeline, scans, leds }, about, watch))
    }

    /// What comes within `wait`.
    pub(super) fn next(&self, wait: Duration) -> Heard {
        match self.readings.recv_timeout(wait) {
            Ok(reading) => Heard::Reading(reading),
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::Ended,
        }
    }

    /// Takes what comes within `wait` into the watch and lets its time go on; false when nothing more comes, as
    /// from a port that cannot be opened.
    pub(super) fn hear(&self, watch: &mut Watch, wait: Duration) -> bool {
        match self.next(wait) {
            Heard::Reading(Reading { at, input: Some(input) }) => watch.take(at, &input),
            Heard::Reading(Reading { at, input: None }) => watch.advance(at),
            Heard::Nothing => {}
            Heard::Ended => return false,
        }
        if self.timeline == Timeline::Live {
            watch.advance(sysclock::monotonic());
        }
        if let Some(figures) = self.scans.figures() {
            watch.scanned(figures.scans, figures.overruns, figures.late_worst_us);
        }
        watch.port_trouble().is_none()
    }

    /// Lights the LEDs of these squares of the game, where the board has some.
    pub(super) fn light(&self, squares: Bitboard, watch: &Watch) {
        let squares = if watch.is_turned() { squares.rotate_180() } else { squares };
        self.leds.set(Some(Lit::for_doctor(squares)));
    }

    /// Ends the source of a board that was watched. An error is why it gave up, or why its port could not be
    /// opened.
    pub(super) fn end(self, board: &BoardConfig, watch: &Watch) -> Result<(), Check> {
        self.stop.set();
        drop(self.readings);
        if let Ok(Err(error)) = self.thread.join()
            && !matches!(error, SourceError::Closed)
        {
            return Err(refused(&board.sensor, error));
        }
        match watch.port_trouble() {
            Some(trouble) => Err(Check::told(Topic::Device, &place(&board.sensor), trouble)),
            None => Ok(()),
        }
    }
}

/// The check of a source that cannot be used.
fn refused(sensor: &SensorConfig, error: SourceError) -> Check {
    match error {
        SourceError::Device { what, reason, remedy } => {
            Check::failed(Topic::Device, reason).at(what).remedy(remedy)
        }
        SourceError::Log { file, line, reason } => Check::failed(Topic::Device, reason)
            .at(format!("{file}, line {line}"))
            .remedy("correct the log")
            .command(format!("touchmoved replay {file}")),
        SourceError::Closed => Check::failed(Topic::Device, "the source has ended").at(place(sensor)),
    }
}

/// Where a sensor is read.
pub(super) fn place(sensor: &SensorConfig) -> String {
    match sensor {
        SensorConfig::Dgt { port, .. } | SensorConfig::Peg { port, .. } => port.to_string(),
        SensorConfig::SensorLog { path, .. } => path.display().to_string(),
        SensorConfig::Matrix(matrix) => format!("matrix ({})", matrix.backend.as_str()),
        SensorConfig::Simulated { .. } => "simulated board".to_owned(),
    }
}

/// The device files that a sensor is read through.
pub(super) fn devices(sensor: &SensorConfig) -> Vec<PathBuf> {
    match sensor {
        SensorConfig::Dgt { port, .. } | SensorConfig::Peg { port, .. } => match port {
            PortName::Path(path) => vec![path.clone()],
            PortName::UsbSerial(_) => {
                source::port_of(port).sight(&Roots::default()).map(|seen| seen.path).into_iter().collect()
            }
        },
        SensorConfig::Matrix(matrix) => match &matrix.backend {
            MatrixBackend::Simulated { .. } => Vec::new(),
            MatrixBackend::Gpiocdev { chip: Some(chip) } if chip.starts_with('/') => vec![chip.into()],
            // Which of them is taken is up to the model of the Raspberry Pi.
            _ => ["/dev/gpiochip0", "/dev/gpiomem", "/dev/gpiomem0"].map(PathBuf::from).to_vec(),
        },
        SensorConfig::SensorLog { .. } | SensorConfig::Simulated { .. } => Vec::new(),
    }
}

fn scan_us(sensor: &SensorConfig) -> Option<u64> {
    match sensor {
        SensorConfig::Matrix(matrix) => Some(matrix.scan_ms.saturating_mul(1000)),
        _ => None,
    }
}

/// True for a sensor that two programs can read at the same time: a recording in a file, a simulation.
pub(super) fn is_recorded(sensor: &SensorConfig) -> bool {
    match sensor {
        SensorConfig::Simulated { .. } => true,
        SensorConfig::SensorLog { path, .. } => is_file(path),
        _ => false,
    }
}

/// True for a matrix of simulated wires: it plays a game in real time.
fn is_simulated_wires(sensor: &SensorConfig) -> bool {
    matches!(sensor, SensorConfig::Matrix(matrix) if matches!(matrix.backend, MatrixBackend::Simulated { .. }))
}

/// A board whose contacts are named by row and column, whatever its map says: a walk finds the map.
pub(super) fn straight(board: &BoardConfig) -> BoardConfig {
    let mut board = board.clone();
    if let SensorConfig::Matrix(matrix) = &mut board.sensor {
        matrix.squares = shakmaty::Square::ALL;
        matrix.self_test = false;
    }
    board
}

fn is_file(path: &Path) -> bool {
    path.as_os_str() != "-" && std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// The board with a recording or simulation that is over soon.
pub(super) fn hurried(board: &BoardConfig) -> BoardConfig {
    let mut board = board.clone();
    if !is_recorded(&board.sensor) {
        return board;
    }
    match &mut board.sensor {
        SensorConfig::Simulated { speed, .. } => *speed = Speed::new(1000).unwrap_or(*speed),
        SensorConfig::SensorLog { pace, .. } => *pace = Pace::AsFastAsPossible,
        _ => {}
    }
    board
}
