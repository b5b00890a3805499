//! From the configuration of a reed matrix to its source.

use std::sync::Arc;

use super::source::{game_of, unusable};
use crate::{
    config::{ActiveLevel, BoardConfig, LedsConfig, MatrixBackend, MatrixConfig, PullUp},
    sensor::{
        Source, SourceError,
        matrix::{
            Layout, MatrixSource, Scan, Status,
            inputs::Wired,
            leds::{Connected, Leds},
            pins::{self, AnyPort, Backend, Chip, Pins, Polarity, Pull},
            simulated::{self, SimulatedPort},
        },
    },
    session::{event::Unit, setup::GameSetup},
    simulate::{
        Simulation,
        matrix::{SimulatedMatrix, Wiring},
        params::{Ending, Level, Output, Params},
        simulate, two_boards,
    },
    sysclock,
};

/// A simulated game begins so long after its source, so that the board is seen set up.
const FIRST_LOOK_US: u64 = 500_000;

/// The game that is played on simulated wires; nothing on real ones.
pub(super) fn setup(board: &BoardConfig, matrix: &MatrixConfig) -> Result<Option<GameSetup>, SourceError> {
    let MatrixBackend::Simulated { seed, level, unit, .. } = &matrix.backend else { return Ok(None) };
    let played = played(board, *seed, *level, *unit)?.setup;
    // The boards are read as real ones are: what their contacts tell is debounced.
    let GameSetup { board, signal, settings, .. } = &board.setup;
    Ok(Some(GameSetup { board: *board, signal: *signal, settings: *settings, ..played }))
}

fn played(
    board: &BoardConfig,
    seed: u64,
    level: Level,
    unit: Option<Unit>,
) -> Result<Simulation, SourceError> {
    let demo = game_of(seed);
    let mut params = Params { output: Output::Raw, initial_report: true, ..Params::level(level) };
    if !demo.moves.ends_with('#') {
        params.ending = Ending::Entered;
    }
    let mut game = demo.game(board.setup.clone());
    if unit.is_some() {
        two_boards::take_time(&mut game);
    }
    let wrong = |error: crate::simulate::SimulateError| {
        unusable("simulated matrix", &error.to_string(), "correct the board's configuration")
    };
    let played = simulate(&game, &params, seed).map_err(wrong)?;
    Ok(match (unit, board.setup.sides) {
        // The clock stands at the first board.
        (Some(unit), Some(sides)) => two_boards::at_board_of(*unit.of(&sides), unit == Unit::A, played),
        _ => played,
    })
}

/// Opens the lines and makes the source.
pub(super) fn open(
    board: &BoardConfig,
    matrix: &MatrixConfig,
    status: &Arc<Status>,
    leds: &Arc<Leds>,
) -> Result<Box<dyn Source>, SourceError> {
    let squares = Layout::new(matrix.squares);
    let layout = squares.map_err(|error| unusable("matrix", &error.to_string(), "correct its map"))?;
    let (port, inputs) = port(board, matrix)?;
    let connected =
        Connected { status: matrix.leds.status.is_some(), crossing: matrix.leds.crossing.is_some() };
    let scan = Scan {
        layout,
        period_us: matrix.scan_ms.saturating_mul(1000),
        inputs,
        leds: connected,
        self_test: matrix.self_test,
        realtime: matrix.realtime_priority,
    };
    Ok(Box::new(MatrixSource::new(port, scan).with_status(status.clone()).with_leds(leds.clone())))
}

fn port(board: &BoardConfig, matrix: &MatrixConfig) -> Result<(AnyPort, Wired), SourceError> {
    let debounce_us = matrix.inputs.debounce_ms.saturating_mul(1000);
    let backend = match &matrix.backend {
        MatrixBackend::Auto => Backend::Auto,
        MatrixBackend::Rppal => Backend::Rppal,
        MatrixBackend::Gpiocdev { chip } => Backend::Gpiocdev(chip_of(chip.as_deref())),
        MatrixBackend::Simulated { seed, level, faults, unit } => {
            let game = played(board, *seed, *level, *unit)?;
            let start_us = sysclock::monotonic().plus_micros(FIRST_LOOK_US).as_micros();
            let wires =
                SimulatedMatrix::playing(Wiring::with(faults), matrix.squares, &game, start_us, *seed);
            let port = SimulatedPort::new(wires, matrix.settle_us);
            return Ok((Box::new(port), simulated::wired(debounce_us)));
        }
    };
    let (lines, wired) = wired(matrix, debounce_us);
    let pins = Pins {
        rows: matrix.rows,
        columns: matrix.columns,
        inputs: lines,
        polarity: polarity(matrix.active),
        pull: match matrix.pull {
            PullUp::Internal => Pull::Internal,
            PullUp::External => Pull::External,
        },
        inputs_polarity: polarity(matrix.inputs.active),
        leds: led_lines(&matrix.leds),
        leds_polarity: polarity(matrix.leds.active),
        settle_us: matrix.settle_us,
    };
    Ok((pins::open(&pins, &backend)?, wired))
}

const fn polarity(level: ActiveLevel) -> Polarity {
    match level {
        ActiveLevel::High => Polarity::ActiveHigh,
        ActiveLevel::Low => Polarity::ActiveLow,
    }
}

fn chip_of(chip: Option<&str>) -> Chip {
    match chip {
        None => Chip::Header,
        Some(path) if path.starts_with('/') => Chip::Path(path.into()),
        Some(label) => Chip::Label(label.to_owned()),
    }
}

/// The lines of the LEDs in the order of [`Connected`].
fn led_lines(leds: &LedsConfig) -> Vec<u32> {
    let crossing = leds.crossing.iter().flat_map(|(files, ranks)| files.iter().chain(ranks));
    leds.status.iter().chain(crossing).copied().collect()
}

/// The lines of the inputs, and what each one is by its place among them.
fn wired(matrix: &MatrixConfig, debounce_us: u64) -> (Vec<u32>, Wired) {
    let mut lines = Vec::new();
    let mut bit = |line: u32| {
        lines.push(line);
        1 << (lines.len() - 1)
    };
    let inputs = &matrix.inputs;
    let (lever_white, lever_black) = (inputs.lever_white.map(&mut bit), inputs.lever_black.map(&mut bit));
    let buttons = inputs.buttons.iter().map(|(line, event)| (bit(*line), event.clone())).collect();
    let wired = Wired { lever_white, lever_black, buttons, debounce_us };
    (lines, wired)
}
