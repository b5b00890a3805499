//! The reed matrix on the GPIO header of a Raspberry Pi.

use std::{thread, time::Duration};

use rppal::gpio::{Gpio, InputPin, Level, OutputPin};

use super::{
    MatrixPort, PortError,
    pins::{Pins, Polarity, refused},
};
use crate::sensor::SourceError;

/// A matrix on the GPIO header. Its pins go back to what they were when it is dropped.
#[derive(Debug)]
pub struct GpioPort {
    rows: Vec<OutputPin>,
    columns: Vec<InputPin>,
    polarity: Polarity,
    settle: Duration,
    selected: Option<usize>,
}

fn remedy(error: &rppal::gpio::Error) -> &'static str {
    use rppal::gpio::Error;
    match error {
        Error::UnknownModel => {
            "this machine is no Raspberry Pi that is known here: choose another sensor for this board"
        }
        Error::PermissionDenied(_) => {
            "add the user of the daemon to the group gpio and see that all of /dev/gpiochip* and /dev/gpiomem* belong to it"
        }
        Error::PinUsed(_) | Error::PinNotAvailable(_) => {
            "give sixteen different BCM numbers of the header, from 2 to 27"
        }
        Error::Io(_) | Error::ThreadPanic => {
            "check that /dev/gpiochip0 and /dev/gpiomem exist: on a machine without GPIO choose another sensor"
        }
    }
}

impl GpioPort {
    /// Takes the pins.
    pub fn open(pins: &Pins) -> Result<GpioPort, SourceError> {
        let fail = |error: rppal::gpio::Error| refused(error.to_string(), remedy(&error));
        let gpio = Gpio::new().map_err(fail)?;
        let high = pins.polarity == Polarity::ActiveHigh;
        let rows = pins
            .rows
            .iter()
            .map(|pin| {
                gpio.get(*pin).map(|pin| if high { pin.into_output_low() } else { pin.into_output_high() })
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(fail)?;
        let columns = pins
            .columns
            .iter()
            .map(|pin| {
                gpio.get(*pin)
                    .map(|pin| if high { pin.into_input_pulldown() } else { pin.into_input_pullup() })
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(fail)?;
        Ok(GpioPort {
            rows,
            columns,
            polarity: pins.polarity,
            settle: Duration::from_micros(pins.settle_us.min(5_000)),
            selected: None,
        })
    }

    fn drive(&mut self, row: usize, selected: bool) -> Result<(), PortError> {
        let level = match (self.polarity, selected) {
            (Polarity::ActiveHigh, true) | (Polarity::ActiveLow, false) => Level::High,
            (Polarity::ActiveHigh, false) | (Polarity::ActiveLow, true) => Level::Low,
        };
        self.rows
            .get_mut(row)
            .ok_or_else(|| PortError(format!("there is no row {row}, they are 0 to 7")))?
            .write(level);
        Ok(())
    }
}

impl MatrixPort for GpioPort {
    fn name(&self) -> String {
        super::pins::WHAT.to_owned()
    }

    fn select(&mut self, row: usize) -> Result<(), PortError> {
        if let Some(before) = self.selected.take() {
            self.drive(before, false)?;
        }
        self.drive(row, true)?;
        self.selected = Some(row);
        Ok(())
    }

    fn settle(&mut self) {
        thread::sleep(self.settle);
    }

    fn read_columns(&mut self) -> Result<u8, PortError> {
        let closed = match self.polarity {
            Polarity::ActiveHigh => Level::High,
            Polarity::ActiveLow => Level::Low,
        };
        Ok(self
            .columns
            .iter()
            .enumerate()
            .fold(0, |bits, (index, pin)| bits | u8::from(pin.read() == closed) << index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_header_says_what_to_do() {
        if std::path::Path::new("/dev/gpiochip0").exists() {
            return;
        }
        let error = GpioPort::open(&Pins::default()).unwrap_err().to_string();
        assert!(error.starts_with("GPIO header: "), "{error}");
        assert!(error.contains("choose another sensor") || error.contains("group gpio"), "{error}");
    }
}
