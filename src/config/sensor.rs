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
    /// A recorded sensor log. Its header says what board and what game it is.
    SensorLog {
        /// The file.
        path: PathBuf,
        /// How fast it is played.
        pace: Pace,
        /// Start again at the end of the file.
        repeat: bool,
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

/// A factor on the speed of time, from 0.01 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Speed(u32);

impl Speed {
    /// As fast as it was, or would be, at a real board.
    pub const REAL: Speed = Speed(1000);

    /// A factor in thousandths: 2000 is twice as fast. Nothing outside of 10 to 1 000 000.
    pub const fn from_thousandths(thousandths: u32) -> Option<Speed> {
        if thousandths >= 10 && thousandths <= 1_000_000 { Some(Speed(thousandths)) } else { None }
    }

    /// The factor in thousandths.
    pub const fn thousandths(self) -> u32 {
        self.0
    }

    /// How long to wait, in microseconds, for something that takes `us` at a real board.
    pub fn wait_us(self, us: u64) -> u64 {
        let wait = u128::from(us) * 1000 / u128::from(self.0);
        u64::try_from(wait).unwrap_or(u64::MAX)
    }
}

impl Default for Speed {
    fn default() -> Speed {
        Speed::REAL
    }
}

impl std::fmt::Display for Speed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, part) = (self.0 / 1000, self.0 % 1000);
        if part == 0 {
            return write!(f, "{whole}");
        }
        write!(f, "{whole}.{}", format!("{part:03}").trim_end_matches('0'))
    }
}

/// Why a text is not a speed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected a factor from 0.01 to 1000 with at most three decimals, such as 1, 2.5 or 20")]
pub struct SpeedError;

impl std::str::FromStr for Speed {
    type Err = SpeedError;

    fn from_str(text: &str) -> Result<Speed, SpeedError> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) || part.len() > 3 {
            return Err(SpeedError);
        }
        let whole: u32 = whole.parse().map_err(|_| SpeedError)?;
        let part: u32 = format!("{part:0<3}").parse().map_err(|_| SpeedError)?;
        whole
            .checked_mul(1000)
            .and_then(|thousandths| thousandths.checked_add(part))
            .and_then(Speed::from_thousandths)
            .ok_or(SpeedError)
    }
}

/// How fast a sensor log is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// With the pauses of the recording, shorter or longer by a factor.
    Timed(Speed),
    /// Without any pause.
    AsFastAsPossible,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace::Timed(Speed::REAL)
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
