//! From a board's configuration to its source: what it will deliver, and how to open it.

use std::{path::Path, sync::Arc};

use crate::{
    config::{self, BoardConfig, GameControl, SensorConfig},
    publish::Tags,
    sensor::{
        Pace, Source, SourceError, Timeline,
        dgt::{DgtSource, orders::OrderTray, policy::Updates},
        matrix::{Status, leds::Leds},
        peg::PegSource,
        sensor_log::SensorLogSource,
        serial::{Framing, ModemLines, place::PortName},
        simulated::SimulatedSource,
    },
    session::{io::Input, setup::GameSetup, time::MonoTime},
    simulate::{
        games::{DemoGame, GAMES},
        params::{Ending, Params},
    },
    wire::dgt::memory::Squares,
};

use super::{matrix_source, resume, supervisor::Open};

/// What a source will deliver.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The game that its readings belong to.
    pub setup: GameSetup,
    /// Tags of the game: those of the configuration, and where it is silent those of the source.
    pub tags: Tags,
    /// What its stamps mean.
    pub timeline: Timeline,
}

/// The part of a recording that is in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Stamp of its first reading.
    pub start: MonoTime,
    /// Stamp of its last reading.
    pub last: MonoTime,
    /// How many readings they are.
    pub count: usize,
}

impl Span {
    /// The part that these inputs of a journal hold; nothing when none came from the source.
    pub fn of(inputs: &[(MonoTime, Input)]) -> Option<Span> {
        let mut times = resume::from_source(inputs).map(|(at, _)| *at);
        let start = times.next()?;
        let mut span = Span { start, last: start, count: 1 };
        for at in times {
            span.last = at;
            span.count += 1;
        }
        Some(span)
    }
}

/// Finds out what the source of a board will deliver.
pub fn plan(board: &BoardConfig) -> Result<Planned, SourceError> {
    let configured =
        || Planned { setup: board.setup.clone(), tags: board.tags.clone(), timeline: Timeline::Live };
    Ok(match &board.sensor {
        SensorConfig::Simulated { seed, .. } => {
            let source = simulated(board)?;
            Planned {
                setup: source.setup().clone(),
                tags: tags_of(game_of(*seed), &source.setup().time_control, board.tags.clone()),
                timeline: source.timeline(),
            }
        }
        SensorConfig::SensorLog { path, pace, .. } => {
            Planned { setup: setup_of_log(board, path)?, timeline: Timeline::of(*pace), ..configured() }
        }
        SensorConfig::Matrix(matrix) => match matrix_source::setup(board, matrix)? {
            Some(setup) => Planned { setup, ..configured() },
            None => configured(),
        },
        SensorConfig::Dgt { .. } | SensorConfig::Peg { .. } => configured(),
    })
}

/// What the journal of a game that goes on knows already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// The part of a recording: it goes on behind it.
    pub span: Option<Span>,
    /// What every square of a DGT board read last: its memory tells what came since.
    pub dgt_squares: Option<Squares>,
}

/// True for a board that tells when it is there: it is not connected before.
pub const fn answers(sensor: &SensorConfig) -> bool {
    matches!(sensor, SensorConfig::Dgt { .. } | SensorConfig::Peg { .. })
}

/// What a source shares with those who look at it.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// Where a matrix tells how its scans are doing.
    pub scans: Arc<Status>,
    /// What the LEDs of a matrix may show.
    pub leds: Arc<Leds>,
    /// Where a DGT board fetches an order to its clock.
    pub orders: Arc<OrderTray>,
}

/// A function that opens the source, as often as it is needed.
pub fn opener(board: &BoardConfig, setup: GameSetup, known: Known, shared: Shared) -> Open {
    let board = board.clone();
    Box::new(move || open(&board, &setup, known, &shared))
}

fn open(
    board: &BoardConfig,
    setup: &GameSetup,
    known: Known,
    shared: &Shared,
) -> Result<Box<dyn Source>, SourceError> {
    let span = known.span;
    match &board.sensor {
        SensorConfig::Simulated { .. } => {
            let source = simulated(board)?;
            Ok(Box::new(match span {
                Some(span) => source.resume(span.start, span.last),
                None => source,
            }))
        }
        SensorConfig::SensorLog { path, pace, .. } => {
            let (_, source) = SensorLogSource::open(path, *pace)?;
            let source = source.with_setup(setup);
            Ok(Box::new(match span {
                Some(span) => source.resume(span.last, span.count),
                None => source,
            }))
        }
        SensorConfig::Dgt { port, dtr_rts, updates, stored_moves } => {
            let source = DgtSource::at(port_of(port), lines_of(*dtr_rts))
                .with_updates(updates_of(*updates))
                .with_memory(*stored_moves)
                .resumed(known.dgt_squares)
                .with_tray(shared.orders.clone());
            Ok(Box::new(source))
        }
        SensorConfig::Peg { port, baud, framing, dtr_rts } => {
            let (framing, lines) = (framing_of(*framing), lines_of(*dtr_rts));
            Ok(Box::new(PegSource::at(port_of(port), *baud, framing, lines)))
        }
        SensorConfig::Matrix(matrix) => matrix_source::open(board, matrix, &shared.scans, &shared.leds),
    }
}

/// The game of a recording: its header tells it. A pipe or a FIFO is not opened here: its writer
/// would lose what it has written, and its header comes when it comes.
fn setup_of_log(board: &BoardConfig, path: &Path) -> Result<GameSetup, SourceError> {
    let is_live = path.as_os_str() == "-"
        || std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    if is_live {
        return Ok(board.setup.clone());
    }
    let (setup, _) = SensorLogSource::open(path, Pace::AsFastAsPossible)?;
    Ok(board.setup_of_log(setup.unwrap_or_else(|| board.setup.clone())))
}

fn simulated(board: &BoardConfig) -> Result<SimulatedSource, SourceError> {
    let SensorConfig::Simulated { speed, seed, level } = &board.sensor else {
        return Err(unusable("simulated board", "the configuration names another sensor", "report this"));
    };
    let game = game_of(*seed);
    let mut params = Params::level(*level);
    if !game.moves.ends_with('#') {
        // Without a mate the result has to be entered.
        params.ending = Ending::Entered;
    }
    let game = game.game(board.setup.clone());
    SimulatedSource::new(&game, &params, *seed, Pace::At(*speed))
        .map_err(|error| unusable("simulated board", &error.to_string(), "correct the board's configuration"))
}

/// The game that a seed plays.
pub fn game_of(seed: u64) -> &'static DemoGame {
    const FIRST: DemoGame = GAMES[0];
    let count = GAMES.len().max(1) as u64;
    usize::try_from(seed % count).ok().and_then(|index| GAMES.get(index)).unwrap_or(&FIRST)
}

/// The tags of a game that the program knows, under those of the configuration.
fn tags_of(game: &DemoGame, control: &str, configured: Tags) -> Tags {
    let text = |word: &str| Some(word.to_owned());
    Tags {
        event: configured.event.or_else(|| text(game.event)),
        site: configured.site.or_else(|| text(game.site)),
        date: configured.date.or_else(|| text(game.date)),
        time_control: configured.time_control.or_else(|| control.parse::<GameControl>().ok()?.pgn()),
        ..configured
    }
}

pub(super) fn unusable(what: &str, reason: &str, remedy: &str) -> SourceError {
    SourceError::Device { what: what.to_owned(), reason: reason.to_owned(), remedy: remedy.to_owned() }
}

/// How the port of the configuration is found.
pub fn port_of(port: &config::PortName) -> PortName {
    match port {
        config::PortName::Path(path) => PortName::Path(path.clone()),
        config::PortName::UsbSerial(number) => PortName::UsbSerial(number.clone()),
    }
}

const fn updates_of(updates: config::DgtUpdates) -> Updates {
    match updates {
        config::DgtUpdates::Nice => Updates::Nice,
        config::DgtUpdates::Clock => Updates::Clock,
        config::DgtUpdates::Board => Updates::Board,
    }
}

const fn lines_of(lines: config::DtrRts) -> ModemLines {
    match lines {
        config::DtrRts::Leave => ModemLines::Leave,
        config::DtrRts::On => ModemLines::On,
        config::DtrRts::Off => ModemLines::Off,
    }
}

const fn framing_of(framing: config::Framing) -> Framing {
    match framing {
        config::Framing::EightNone => Framing::EightNone,
        config::Framing::EightEven => Framing::EightEven,
        config::Framing::EightOdd => Framing::EightOdd,
        config::Framing::SevenEven => Framing::SevenEven,
    }
}
