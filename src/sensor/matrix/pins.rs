//! The lines of a matrix, by their numbers, and the way from them to a port.

use std::path::PathBuf;

use super::{LINES, MatrixPort, PortError};
use crate::{sensor::SourceError, session::time::MonoTime};

/// Which level drives a row, or is that of a closed input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Polarity {
    /// The driven row is high, the columns are pulled down: the larger margin with diodes.
    #[default]
    ActiveHigh,
    /// The driven row is low, the columns are pulled up.
    ActiveLow,
}

/// How lines that are read are held at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pull {
    /// By the resistor in the chip, to the level at rest.
    #[default]
    Internal,
    /// By resistors on the board; the one in the chip is off.
    External,
}

/// The lines of a matrix: BCM numbers on a Raspberry Pi, offsets on another chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pins {
    /// Rows 0 to 7: outputs.
    pub rows: [u32; LINES],
    /// Columns 0 to 7: inputs.
    pub columns: [u32; LINES],
    /// Lines of the lever and the buttons: inputs, at most 32.
    pub inputs: Vec<u32>,
    /// Which level drives a row and is that of a closed contact.
    pub polarity: Polarity,
    /// How the columns are held at rest.
    pub pull: Pull,
    /// The level of a closed input.
    pub inputs_polarity: Polarity,
    /// Lines of the LEDs: outputs, at most 32.
    pub leds: Vec<u32>,
    /// The level that lights an LED.
    pub leds_polarity: Polarity,
    /// Microseconds from driving a row to reading its columns, at most 5 000.
    pub settle_us: u64,
}

impl Default for Pins {
    /// The pins of `docs/hardware.md`.
    fn default() -> Pins {
        Pins {
            rows: [4, 5, 6, 12, 13, 16, 19, 20],
            columns: [17, 21, 22, 23, 24, 25, 26, 27],
            inputs: Vec::new(),
            polarity: Polarity::ActiveHigh,
            pull: Pull::Internal,
            inputs_polarity: Polarity::ActiveLow,
            leds: Vec::new(),
            leds_polarity: Polarity::ActiveHigh,
            settle_us: 50,
        }
    }
}

/// What the lines are reached through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The registers of a Raspberry Pi, or the character device where they cannot be had.
    Auto,
    /// The registers of a Raspberry Pi.
    Rppal,
    /// The GPIO character device of Linux.
    Gpiocdev(Chip),
}

/// A GPIO chip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Chip {
    /// That of the header of a Raspberry Pi, whatever its number is.
    #[default]
    Header,
    /// The one behind this device, such as `/dev/gpiochip0`.
    Path(PathBuf),
    /// The one with this label, such as `pinctrl-bcm2711`.
    Label(String),
}

pub(super) fn refused(what: &str, reason: impl Into<String>, remedy: impl Into<String>) -> SourceError {
    SourceError::Device { what: what.to_owned(), reason: reason.into(), remedy: remedy.into() }
}

/// Any of the ports.
pub type AnyPort = Box<dyn MatrixPort>;

/// Takes the lines.
///
/// # Errors
/// They cannot be had; the error says why and what to do.
#[cfg(feature = "gpio")]
pub fn open(pins: &Pins, backend: &Backend) -> Result<AnyPort, SourceError> {
    use super::{cdev::CdevPort, gpio::GpioPort};
    match backend {
        Backend::Rppal => Ok(Box::new(GpioPort::open(pins)?)),
        Backend::Gpiocdev(chip) => Ok(Box::new(CdevPort::open(pins, chip)?)),
        Backend::Auto => match GpioPort::open(pins) {
            Ok(port) => Ok(Box::new(port)),
            // What stands in the way of both is told as it shows without registers.
            Err(error) => {
                tracing::debug!("{error}; trying the GPIO character device");
                Ok(Box::new(CdevPort::open(pins, &Chip::Header)?))
            }
        },
    }
}

/// Takes the lines.
///
/// # Errors
/// Always: this program was built without GPIO.
#[cfg(not(feature = "gpio"))]
pub fn open(_: &Pins, _: &Backend) -> Result<AnyPort, SourceError> {
    Err(refused(
        "GPIO header",
        "this program was built without GPIO",
        "build it with the feature gpio, or choose another sensor for this board",
    ))
}

impl MatrixPort for AnyPort {
    fn name(&self) -> String {
        (**self).name()
    }

    fn drive(&mut self, rows: u8) -> Result<(), PortError> {
        (**self).drive(rows)
    }

    fn settle(&mut self) {
        (**self).settle();
    }

    fn read_columns(&mut self) -> Result<u8, PortError> {
        (**self).read_columns()
    }

    fn inputs(&mut self) -> Result<u32, PortError> {
        (**self).inputs()
    }

    fn light(&mut self, leds: u32) -> Result<(), PortError> {
        (**self).light(leds)
    }

    fn now(&self) -> MonoTime {
        (**self).now()
    }

    fn pause(&mut self, us: u64) {
        (**self).pause(us);
    }
}
