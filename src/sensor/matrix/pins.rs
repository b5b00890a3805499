//! The pins of a matrix on the GPIO header, and the way from them to a source.

use super::{LINES, Scan};
use crate::sensor::{Source, SourceError};

/// Which level selects a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Polarity {
    /// The selected row is driven high, the columns are pulled down: the larger margin with diodes.
    #[default]
    ActiveHigh,
    /// The selected row is driven low, the columns are pulled up.
    ActiveLow,
}

/// The pins of a matrix, by their BCM numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pins {
    /// Rows 0 to 7: outputs.
    pub rows: [u8; LINES],
    /// Columns 0 to 7: inputs.
    pub columns: [u8; LINES],
    /// Which level selects a row.
    pub polarity: Polarity,
    /// Microseconds from selecting a row to reading its columns, at most 5 000.
    pub settle_us: u64,
}

impl Default for Pins {
    /// The pins of `docs/hardware.md`.
    fn default() -> Pins {
        Pins {
            rows: [4, 5, 6, 12, 13, 16, 19, 20],
            columns: [17, 21, 22, 23, 24, 25, 26, 27],
            polarity: Polarity::ActiveHigh,
            settle_us: 50,
        }
    }
}

pub(super) const WHAT: &str = "GPIO header";

pub(super) fn refused(reason: impl Into<String>, remedy: &str) -> SourceError {
    SourceError::Device { what: WHAT.to_owned(), reason: reason.into(), remedy: remedy.to_owned() }
}

/// Takes the pins and gives the source that scans them.
#[cfg(feature = "gpio")]
pub fn open(pins: &Pins, scan: Scan) -> Result<Box<dyn Source>, SourceError> {
    pins.check().map_err(|reason| refused(reason, "correct the pins of the matrix"))?;
    Ok(Box::new(super::MatrixSource::new(super::gpio::GpioPort::open(pins)?, scan)))
}

/// Takes the pins and gives the source that scans them.
#[cfg(not(feature = "gpio"))]
pub fn open(_pins: &Pins, _scan: Scan) -> Result<Box<dyn Source>, SourceError> {
    Err(refused(
        "this program was built without GPIO",
        "build it with the feature gpio, or choose another sensor for this board",
    ))
}

impl Pins {
    /// What is wrong with the numbers, in words.
    pub fn check(&self) -> Result<(), String> {
        let mut seen = std::collections::BTreeSet::new();
        for pin in self.rows.iter().chain(&self.columns) {
            if !(2..=27).contains(pin) {
                return Err(format!("pin {pin}: expected a BCM number from 2 to 27"));
            }
            if !seen.insert(*pin) {
                return Err(format!("pin {pin} is used twice"));
            }
        }
        if self.settle_us > 5_000 {
            return Err(format!("settle time {} µs: expected 0 to 5000", self.settle_us));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_sixteen_different_ones_of_the_header() {
        assert_eq!(Pins::default().check(), Ok(()));
        let mut pins = Pins::default();
        pins.columns[7] = pins.rows[0];
        assert_eq!(pins.check(), Err("pin 4 is used twice".to_owned()));
        pins.columns[7] = 28;
        assert_eq!(pins.check(), Err("pin 28: expected a BCM number from 2 to 27".to_owned()));
        let pins = Pins { settle_us: 5_001, ..Pins::default() };
        assert_eq!(pins.check(), Err("settle time 5001 µs: expected 0 to 5000".to_owned()));
    }
}
