//! Pins of the header that a Raspberry Pi uses for something else while that is switched on.

use super::{MatrixBackend, MatrixConfig};

/// What else a pin of the header is for. Each can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherUse {
    /// I2C 1: GPIO 2 and 3.
    I2c,
    /// SPI 0: GPIO 7 to 11.
    Spi0,
    /// The serial console: GPIO 14 and 15. GPIO 14 moves while the machine starts, in any case.
    Console,
}

impl OtherUse {
    const ALL: [OtherUse; 3] = [OtherUse::I2c, OtherUse::Spi0, OtherUse::Console];

    const fn has(self, pin: u32) -> bool {
        match self {
            OtherUse::I2c => matches!(pin, 2 | 3),
            OtherUse::Spi0 => matches!(pin, 7..=11),
            OtherUse::Console => matches!(pin, 14 | 15),
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            OtherUse::I2c => "I2C",
            OtherUse::Spi0 => "SPI 0",
            OtherUse::Console => "the serial console",
        }
    }

    /// What has to be so for the pins to be free.
    pub const fn remedy(self) -> &'static str {
        match self {
            OtherUse::I2c => "leave I2C off (sudo raspi-config nonint do_i2c 1), or choose other pins",
            OtherUse::Spi0 => "leave SPI off (sudo raspi-config nonint do_spi 1), or choose other pins",
            OtherUse::Console => {
                "switch it off (sudo raspi-config nonint do_serial_cons 1, and do_serial_hw 1), or choose other \
                 pins; GPIO 14 moves while the machine starts"
            }
        }
    }
}

impl MatrixConfig {
    /// The pins that have another use on a Raspberry Pi, in ascending order; none on another chip.
    pub fn reserved(&self) -> Vec<(OtherUse, Vec<u32>)> {
        if matches!(self.backend, MatrixBackend::Gpiocdev { chip: Some(_) } | MatrixBackend::Simulated { .. })
        {
            return Vec::new();
        }
        let mut pins = self.lines();
        pins.sort_unstable();
        let of = |other: OtherUse| {
            let pins: Vec<u32> = pins.iter().copied().filter(|pin| other.has(*pin)).collect();
            (!pins.is_empty()).then_some((other, pins))
        };
        OtherUse::ALL.into_iter().filter_map(of).collect()
    }

    /// Every line that is used.
    fn lines(&self) -> Vec<u32> {
        let (inputs, leds) = (&self.inputs, &self.leds);
        let crossing = leds.crossing.iter().flat_map(|(files, ranks)| files.iter().chain(ranks)).copied();
        let beside = [inputs.lever_white, inputs.lever_black, leds.status].into_iter().flatten();
        let buttons = inputs.buttons.iter().map(|(pin, _)| *pin);
        self.rows.into_iter().chain(self.columns).chain(beside).chain(buttons).chain(crossing).collect()
    }
}
