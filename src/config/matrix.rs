//! A matrix of reed switches: its lines, its squares, and what is connected beside the board.

use shakmaty::Square;

use crate::{
    config::sensor::MatrixKind,
    session::event::{Event, Unit},
    simulate::{matrix::Fault, params::Level},
};

/// BCM pins of the rows where nothing else is said: they leave I2C, SPI 0, the serial console and the
/// identification of an add-on board free.
pub(super) const ROWS: [u32; 8] = [4, 5, 6, 12, 13, 16, 19, 20];
/// BCM pins of the columns where nothing else is said.
pub(super) const COLUMNS: [u32; 8] = [17, 21, 22, 23, 24, 25, 26, 27];
/// Default of `settle-us`.
pub(super) const SETTLE_US: u64 = 50;
/// Default of `scan-ms`.
pub(super) const SCAN_MS: u64 = 5;
/// Default of `input-debounce-ms`.
pub(super) const INPUT_DEBOUNCE_MS: u64 = 15;

/// A matrix of 8 x 8 switches.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixConfig {
    /// What the switches sense.
    pub kind: MatrixKind,
    /// What its lines are reached through.
    pub backend: MatrixBackend,
    /// Lines of the rows 0 to 7 (outputs): BCM numbers of the header of a Raspberry Pi, offsets on another chip.
    pub rows: [u32; 8],
    /// Lines of the columns 0 to 7 (inputs).
    pub columns: [u32; 8],
    /// The level of a driven row and of a closed contact.
    pub active: ActiveLevel,
    /// How the columns are held at rest.
    pub pull: PullUp,
    /// Wait after driving a row, in microseconds, 0 to 5000.
    pub settle_us: u64,
    /// Time from one scan of the board to the next, in milliseconds, 2 to 20.
    pub scan_ms: u64,
    /// Real-time priority of the thread that scans, 1 to 49; nothing for that of any other.
    pub realtime_priority: Option<u8>,
    /// The square of each crossing, row by row; each square once.
    pub squares: [Square; 64],
    /// Whether the wiring is examined at the start.
    pub self_test: bool,
    /// The lever and the buttons.
    pub inputs: InputsConfig,
    /// The LEDs.
    pub leds: LedsConfig,
}

/// LEDs on GPIO lines, for the set-up of the men and the doctor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LedsConfig {
    /// Line of the one that is lit while a square is to be put right.
    pub status: Option<u32>,
    /// Lines of those of the files a to h and of the ranks 1 to 8.
    pub crossing: Option<([u32; 8], [u32; 8])>,
    /// The level that lights them.
    pub active: ActiveLevel,
}

impl MatrixConfig {
    /// Simulated wires with these faults, below the simulated game of a seed.
    pub(super) fn simulated(seed: u64, level: Level, faults: Vec<Fault>) -> MatrixConfig {
        MatrixConfig {
            kind: MatrixKind::Reed,
            backend: MatrixBackend::Simulated { seed, level, faults, unit: None },
            rows: ROWS,
            columns: COLUMNS,
            active: ActiveLevel::default(),
            pull: PullUp::default(),
            settle_us: SETTLE_US,
            scan_ms: SCAN_MS,
            realtime_priority: None,
            squares: Square::ALL,
            self_test: true,
            inputs: InputsConfig {
                lever_white: None,
                lever_black: None,
                buttons: Vec::new(),
                active: ActiveLevel::Low,
                debounce_ms: INPUT_DEBOUNCE_MS,
            },
            leds: LedsConfig::default(),
        }
    }
}

/// The lever of a clock and buttons on GPIO lines.
#[derive(Clone, Debug, PartialEq)]
pub struct InputsConfig {
    /// Line that is closed while the lever lies on White's side.
    pub lever_white: Option<u32>,
    /// Line that is closed while the lever lies on Black's side.
    pub lever_black: Option<u32>,
    /// Lines of buttons with what they say.
    pub buttons: Vec<(u32, Event)>,
    /// The level of a closed input.
    pub active: ActiveLevel,
    /// An input counts after this many milliseconds without a change, 0 to 1000.
    pub debounce_ms: u64,
}

/// What the lines of a matrix are reached through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatrixBackend {
    /// The registers of a Raspberry Pi, or else the GPIO character device.
    Auto,
    /// The registers of a Raspberry Pi.
    Rppal,
    /// The GPIO character device of Linux.
    Gpiocdev {
        /// The device or the label of the chip; without it that of the header of a Raspberry Pi.
        chip: Option<String>,
    },
    /// Simulated wires below a simulated game.
    Simulated {
        /// Which game is played, how the hands move, and what reads by chance.
        seed: u64,
        /// How carefully the men are handled.
        level: Level,
        /// What is wrong with the wires.
        faults: Vec<Fault>,
        /// Which board of a game on two boards these are the wires of; nothing where there is one.
        unit: Option<Unit>,
    },
}

impl MatrixBackend {
    /// The word of the configuration.
    pub const fn as_str(&self) -> &'static str {
        match self {
            MatrixBackend::Auto => "auto",
            MatrixBackend::Rppal => "rppal",
            MatrixBackend::Gpiocdev { .. } => "gpiocdev",
            MatrixBackend::Simulated { .. } => "simulated",
        }
    }
}

/// An electrical level: that of a driven row and of a closed contact, or of a closed input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ActiveLevel {
    /// 3.3 V; pulled down at rest. For a matrix the larger margin with diodes.
    #[default]
    High,
    /// 0 V; pulled up at rest.
    Low,
}

/// What holds the columns at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PullUp {
    /// The resistors in the chip.
    #[default]
    Internal,
    /// Resistors on the board.
    External,
}
