//! The lines of a matrix, as the scanner uses them.

use std::time::Duration;

use crate::{session::time::MonoTime, sysclock};

/// Why a port failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PortError(
    /// What is wrong, in words.
    pub String,
);

/// The lines of a matrix. A scan is, for each row, [`drive`](MatrixPort::drive),
/// [`settle`](MatrixPort::settle) and [`read_columns`](MatrixPort::read_columns).
///
/// A port also says what time it is: lines that are simulated have a time of their own.
pub trait MatrixPort: Send {
    /// A short name for errors, such as `GPIO header`.
    fn name(&self) -> String;

    /// Drives the rows of `rows`, bit 0 for row 0, and lets go of all others.
    fn drive(&mut self, rows: u8) -> Result<(), PortError>;

    /// Waits until the columns have followed [`drive`](MatrixPort::drive).
    fn settle(&mut self);

    /// The columns of the driven rows: bit `n` is set when a contact of column `n` is closed.
    fn read_columns(&mut self) -> Result<u8, PortError>;

    /// The inputs beside the board (lever, buttons) as they were when the columns were read last: bit `n`
    /// is set when input `n` is closed.
    fn inputs(&mut self) -> Result<u32, PortError> {
        Ok(0)
    }

    /// Lights the LEDs of `leds`, bit `n` for LED `n`, and makes all others dark.
    fn light(&mut self, leds: u32) -> Result<(), PortError> {
        let _ = leds;
        Ok(())
    }

    /// The time at which what is read now is read.
    fn now(&self) -> MonoTime {
        sysclock::monotonic()
    }

    /// Waits for some microseconds between two scans.
    fn pause(&mut self, us: u64) {
        std::thread::sleep(Duration::from_micros(us));
    }
}

/// How a port waits for its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settling {
    /// In a loop that reads the clock: cheaper than a wake-up while it is short.
    Spin(u64),
    /// Asleep.
    Sleep(u64),
}

impl Settling {
    /// Above this many microseconds it costs less to fall asleep and to be woken (`docs/performance.md`).
    pub const SPIN_UP_TO_US: u64 = 20;

    /// The cheaper way to wait for `us` microseconds.
    pub const fn of(us: u64) -> Settling {
        if us <= Settling::SPIN_UP_TO_US { Settling::Spin(us) } else { Settling::Sleep(us) }
    }

    /// Waits.
    pub fn wait(self) {
        match self {
            Settling::Spin(0) => {}
            Settling::Spin(us) => {
                let begin = sysclock::monotonic();
                // A microsecond of the clock may have been nearly over.
                while sysclock::monotonic().since(begin) <= us {
                    std::hint::spin_loop();
                }
            }
            Settling::Sleep(us) => std::thread::sleep(Duration::from_micros(us)),
        }
    }
}
