//! The second board of a game: its own sensor, and the set-up of a game on two boards.

use shakmaty::Color;

use super::{
    board::{BoardConfig, base_setup, record},
    matrix::MatrixBackend,
    sensor::SensorConfig,
};
use crate::session::{
    event::Unit,
    settings::{OrientationSetting, Settings},
    setup::{BoardKind, GameSetup, Signal, UnitSetup},
};

/// What `[board.second]` says.
pub(super) struct Second {
    /// Whose board it is.
    pub side: Color,
    /// Which way it lies.
    pub orientation: OrientationSetting,
    /// What is read.
    pub sensor: SensorConfig,
    /// Debounce times of a matrix, closing and opening, in milliseconds.
    pub debounce: Option<(u64, u64)>,
}

impl SensorConfig {
    /// True for a device that a player sits at; the others play a whole game by themselves.
    pub(super) fn is_device(&self) -> bool {
        match self {
            SensorConfig::Dgt { .. } | SensorConfig::Peg { .. } => true,
            SensorConfig::Matrix(matrix) => !matches!(matrix.backend, MatrixBackend::Simulated { .. }),
            SensorConfig::Simulated { .. } | SensorConfig::SensorLog { .. } => false,
        }
    }
}

/// How a board is read that is set up alone.
const fn unit_of(setup: &GameSetup) -> UnitSetup {
    UnitSetup { signal: setup.signal, ..UnitSetup::new(setup.board, &setup.settings) }
}

/// The game of `first`, a board alone, with a second board.
pub(super) fn on_two_boards(first: GameSetup, second: &Second) -> GameSetup {
    let other = UnitSetup {
        orientation: second.orientation,
        ..unit_of(&base_setup(&second.sensor, second.debounce))
    };
    let mut setup = first;
    setup.units = [unit_of(&setup), other];
    setup.sides = Some([!second.side, second.side]);
    setup.board = BoardKind::TwoBoard;
    setup.signal = Signal::Debounced;
    // Each board has its own.
    let common = Settings::default();
    setup.settings.debounce_close_ms = common.debounce_close_ms;
    setup.settings.debounce_open_ms = common.debounce_open_ms;
    setup.config.retain(|name, _| !name.starts_with("sensor.debounce_"));
    setup
}

impl BoardConfig {
    /// One of the two boards of a game as a board alone, for what looks at one device; the board itself where
    /// there is one, and nothing where there is no second one.
    pub fn unit(&self, unit: Unit) -> Option<BoardConfig> {
        let Some(second) = &self.second else { return (unit == Unit::A).then(|| self.clone()) };
        let mut board = BoardConfig { second: None, ..self.clone() };
        if unit == Unit::B {
            board.sensor = second.clone();
        }
        let read = *unit.of(&self.setup.units);
        let setup = &mut board.setup;
        (setup.board, setup.signal) = (read.kind, read.signal);
        setup.settings.debounce_close_ms = read.debounce_close_ms;
        setup.settings.debounce_open_ms = read.debounce_open_ms;
        setup.settings.orientation = read.orientation;
        record(setup, "board.orientation", read.orientation.as_str().into());
        Some(board)
    }
}
