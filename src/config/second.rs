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

/// What a game on two boards can be played on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A device that a player sits at.
    Device,
    /// Simulated wires: the players are simulated as well.
    Wires,
    /// It plays a whole game by itself.
    WholeGame,
}

impl SensorConfig {
    /// What a game on two boards is, with this as one of them.
    pub(super) fn place(&self) -> Place {
        match self {
            SensorConfig::Dgt { .. } | SensorConfig::Peg { .. } => Place::Device,
            SensorConfig::Matrix(matrix) => match matrix.backend {
                MatrixBackend::Simulated { .. } => Place::Wires,
                _ => Place::Device,
            },
            SensorConfig::Simulated { .. } | SensorConfig::SensorLog { .. } => Place::WholeGame,
        }
    }

    /// Simulated wires, if these are some.
    fn wires(&mut self) -> Option<&mut MatrixBackend> {
        match self {
            SensorConfig::Matrix(matrix) if matches!(matrix.backend, MatrixBackend::Simulated { .. }) => {
                Some(&mut matrix.backend)
            }
            _ => None,
        }
    }
}

/// Lets simulated wires of two boards play one game: that of the first.
pub(super) fn play_together(first: &mut SensorConfig, second: &mut SensorConfig) {
    if let Some(MatrixBackend::Simulated { unit, seed, level, .. }) = first.wires()
        && let Some(MatrixBackend::Simulated { unit: other, seed: its_seed, level: its_level, .. }) =
            second.wires()
    {
        (*unit, *other) = (Some(Unit::A), Some(Unit::B));
        (*its_seed, *its_level) = (*seed, *level);
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
