//! The sensor of one board: which device is read and how.

use std::path::PathBuf;

use super::matrix::MatrixConfig;
pub use crate::{
    pace::{Pace, Speed},
    simulate::params::Level,
};

/// What is read to know what happens on a board.
#[derive(Clone, Debug, PartialEq)]
pub enum SensorConfig {
    /// A simulated reed board on which two simulated players play real games.
    Simulated {
        /// How fast they play.
        speed: Speed,
        /// Which games they play and how their hands move; the same seed gives the same events.
        seed: u64,
        /// How carefully they handle the men.
        level: Level,
    },
    /// A sensor log, recorded or written by another program just now. Its header says what board and
    /// what game it is.
    SensorLog {
        /// The file, pipe or FIFO; `-` is standard input.
        path: PathBuf,
        /// How fast it is played.
        pace: Pace,
    },
    /// A DGT board on a serial port.
    Dgt {
        /// The serial device.
        port: PortName,
        /// What is done to the modem lines when the port is opened.
        dtr_rts: DtrRts,
        /// Which changes the board tells by itself.
        updates: DgtUpdates,
        /// The board's memory is asked for the moves that were made during an outage.
        stored_moves: bool,
    },
    /// A pegged board that speaks the peg protocol on a serial port (`docs/peg-protocol.md`).
    Peg {
        /// The serial device.
        port: PortName,
        /// Bits a second, 1200 to 4 000 000.
        baud: u32,
        /// Data bits, parity and stop bits.
        framing: Framing,
        /// What is done to the modem lines when the port is opened.
        dtr_rts: DtrRts,
    },
    /// A matrix of 8 x 8 switches on GPIO lines.
    Matrix(Box<MatrixConfig>),
}

impl SensorConfig {
    /// The name of the sensor's table in the configuration.
    pub const fn kind(&self) -> &'static str {
        match self {
            SensorConfig::Simulated { .. } => "simulated",
            SensorConfig::SensorLog { .. } => "sensor-log",
            SensorConfig::Dgt { .. } => "dgt",
            SensorConfig::Peg { .. } => "peg",
            SensorConfig::Matrix(_) => "matrix",
        }
    }
}

/// How the serial port of a board is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortName {
    /// By its path; links are followed each time.
    Path(PathBuf),
    /// By the serial number that its USB adapter tells, whatever the system calls it at the moment.
    UsbSerial(String),
}

impl std::fmt::Display for PortName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PortName::Path(path) => path.display().fmt(f),
            PortName::UsbSerial(number) => write!(f, "USB serial number {number}"),
        }
    }
}

/// Which changes a DGT board tells by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DgtUpdates {
    /// Squares, and the clock when it changed.
    #[default]
    Nice,
    /// Squares, and the clock at least once a second.
    Clock,
    /// Squares; the clock is asked for once a second.
    Board,
}

/// What the switches of a matrix sense.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatrixKind {
    /// Magnets under the men: a lift is a lower bound of a touch.
    #[default]
    Reed,
    /// Pegs in their holes: a man out of its hole is touched (Appendix D.2.2).
    Peg,
}

/// Data bits, parity and stop bits of a serial port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// 8 data bits, no parity, 1 stop bit.
    #[default]
    EightNone,
    /// 8 data bits, even parity, 1 stop bit.
    EightEven,
    /// 8 data bits, odd parity, 1 stop bit.
    EightOdd,
    /// 7 data bits, even parity, 1 stop bit.
    SevenEven,
}

/// What is done to the modem lines of a serial port when it is opened. The sources on DGT boards
/// disagree, so that it can be chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DtrRts {
    /// Nothing: as the system leaves them (usually both raised).
    #[default]
    Leave,
    /// Both are raised.
    On,
    /// Both are lowered, as RS-232 boards in bus mode want it.
    Off,
}
