//! The sensor of one board: which device is read and how.

use std::path::PathBuf;

/// What is read to know what happens on a board.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        port: PathBuf,
        /// What is done to the modem lines when the port is opened.
        dtr_rts: DtrRts,
    },
    /// A matrix of 8 x 8 reed switches on the GPIO header of a Raspberry Pi.
    Matrix {
        /// BCM pins of the ranks 1 to 8 (outputs).
        rows: [u8; 8],
        /// BCM pins of the files a to h (inputs).
        columns: [u8; 8],
        /// The level of a selected row and of a closed contact.
        active: ActiveLevel,
        /// Wait after selecting a row, in microseconds, 0 to 5000.
        settle_us: u64,
        /// Time from one scan of the board to the next, in milliseconds, 2 to 20.
        scan_ms: u64,
    },
}

impl SensorConfig {
    /// The name of the sensor's table in the configuration.
    pub const fn kind(&self) -> &'static str {
        match self {
            SensorConfig::Simulated { .. } => "simulated",
            SensorConfig::SensorLog { .. } => "sensor-log",
            SensorConfig::Dgt { .. } => "dgt",
            SensorConfig::Matrix { .. } => "matrix",
        }
    }
}

/// How many times as fast as at a real board something is delivered: 1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Speed(u32);

impl Speed {
    /// As fast as at a real board.
    pub const REAL_TIME: Speed = Speed(1);

    /// A factor from 1 to 1000.
    pub const fn new(factor: u32) -> Option<Speed> {
        if factor >= 1 && factor <= 1000 { Some(Speed(factor)) } else { None }
    }

    /// The factor.
    pub const fn factor(self) -> u32 {
        self.0
    }
}

impl Default for Speed {
    fn default() -> Speed {
        Speed::REAL_TIME
    }
}

impl std::fmt::Display for Speed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How fast a sensor log is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// With the pauses of the recording, shorter by a factor.
    At(Speed),
    /// Without any pause.
    AsFastAsPossible,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace::At(Speed::REAL_TIME)
    }
}

/// How carefully simulated players handle the men.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// One hand, one square after the other.
    Clean,
    /// As in a tournament: men are adjusted, slid and bumped, captures are taken in any order.
    #[default]
    Tournament,
    /// As in a time scramble: moves overlap, presses are forgotten.
    Chaos,
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

/// The electrical level that means "selected" for a row and "closed" for a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ActiveLevel {
    /// 3.3 V, columns pulled down. The larger margin with diodes.
    #[default]
    High,
    /// 0 V, columns pulled up.
    Low,
}
