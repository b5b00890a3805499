//! The reed matrix on the GPIO header of a Raspberry Pi, through its registers.

use rppal::gpio::{Gpio, InputPin, Level, OutputPin};

use super::{
    MatrixPort, PortError, Settling,
    pins::{Pins, Polarity, Pull, refused},
};
use crate::sensor::SourceError;

const WHAT: &str = "GPIO header";

/// A matrix on the GPIO header. Its pins go back to what they were when it is dropped.
#[derive(Debug)]
pub struct GpioPort {
    rows: Vec<OutputPin>,
    columns: Vec<InputPin>,
    inputs: Vec<InputPin>,
    leds: Vec<OutputPin>,
    leds_polarity: Polarity,
    polarity: Polarity,
    inputs_polarity: Polarity,
    settling: Settling,
    driven: u8,
}

fn remedy(error: &rppal::gpio::Error) -> &'static str {
    use rppal::gpio::Error;
    match error {
        Error::UnknownModel => {
            "this machine is no Raspberry Pi that this backend knows: set backend = \"gpiocdev\", or choose \
             another sensor for this board"
        }
        Error::PermissionDenied(_) => {
            "add the user of the daemon to the group gpio and see that all of /dev/gpiochip* and /dev/gpiomem* belong to it"
        }
        Error::PinUsed(_) | Error::PinNotAvailable(_) => {
            "give different BCM numbers of the header, from 2 to 27, to rows, columns, inputs and LEDs"
        }
        Error::Io(_) | Error::ThreadPanic => {
            "check that /dev/gpiochip0 and /dev/gpiomem exist: without /dev/gpiomem set backend = \"gpiocdev\", \
             without both choose another sensor"
        }
    }
}

const fn active(polarity: Polarity) -> Level {
    match polarity {
        Polarity::ActiveHigh => Level::High,
        Polarity::ActiveLow => Level::Low,
    }
}

impl GpioPort {
    /// Takes the pins.
    ///
    /// # Errors
    /// There is no such header, or its pins cannot be had.
    pub fn open(pins: &Pins) -> Result<GpioPort, SourceError> {
        let fail = |error: rppal::gpio::Error| refused(WHAT, error.to_string(), remedy(&error));
        let gpio = Gpio::new().map_err(fail)?;
        let take = |line: u32| {
            let pin = u8::try_from(line).map_err(|_| rppal::gpio::Error::PinNotAvailable(u8::MAX))?;
            gpio.get(pin)
        };
        let output = |line: &u32, polarity: Polarity| {
            let pin = take(*line)?;
            Ok(if polarity == Polarity::ActiveHigh { pin.into_output_low() } else { pin.into_output_high() })
        };
        let input = |line: &u32, polarity: Polarity, pull: Pull| {
            let pin = take(*line)?;
            Ok(match (pull, polarity) {
                (Pull::External, _) => pin.into_input(),
                (Pull::Internal, Polarity::ActiveHigh) => pin.into_input_pulldown(),
                (Pull::Internal, Polarity::ActiveLow) => pin.into_input_pullup(),
            })
        };
        let outputs = |lines: &[u32], polarity| {
            lines.iter().map(|line| output(line, polarity)).collect::<Result<Vec<_>, _>>().map_err(fail)
        };
        let rows = outputs(&pins.rows, pins.polarity)?;
        let leds = outputs(&pins.leds, pins.leds_polarity)?;
        let columns = pins.columns.iter().map(|line| input(line, pins.polarity, pins.pull));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(fail)?;
        let inputs = pins.inputs.iter().map(|line| input(line, pins.inputs_polarity, Pull::Internal));
        let inputs = inputs.collect::<Result<Vec<_>, _>>().map_err(fail)?;
        Ok(GpioPort {
            rows,
            columns,
            inputs,
            leds,
            leds_polarity: pins.leds_polarity,
            polarity: pins.polarity,
            inputs_polarity: pins.inputs_polarity,
            settling: Settling::of(pins.settle_us.min(5_000)),
            driven: 0,
        })
    }
}

fn closed(pins: &[InputPin], level: Level) -> u32 {
    pins.iter().enumerate().fold(0, |bits, (index, pin)| bits | u32::from(pin.read() == level) << index)
}

impl MatrixPort for GpioPort {
    fn name(&self) -> String {
        WHAT.to_owned()
    }

    /// Rows are let go before others are driven, so that two are never driven by accident.
    fn drive(&mut self, rows: u8) -> Result<(), PortError> {
        let (on, off) = (active(self.polarity), !active(self.polarity));
        for (changes, level) in [(self.driven & !rows, off), (rows & !self.driven, on)] {
            for (row, pin) in self.rows.iter_mut().enumerate() {
                if changes >> row & 1 == 1 {
                    pin.write(level);
                }
            }
        }
        self.driven = rows;
        Ok(())
    }

    fn settle(&mut self) {
        self.settling.wait();
    }

    fn read_columns(&mut self) -> Result<u8, PortError> {
        Ok(u8::try_from(closed(&self.columns, active(self.polarity)) & 0xff).unwrap_or(0))
    }

    fn inputs(&mut self) -> Result<u32, PortError> {
        Ok(closed(&self.inputs, active(self.inputs_polarity)))
    }

    fn light(&mut self, leds: u32) -> Result<(), PortError> {
        let on = active(self.leds_polarity);
        for (led, pin) in self.leds.iter_mut().enumerate() {
            pin.write(if leds >> led & 1 == 1 { on } else { !on });
        }
        Ok(())
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
