//! The backend on the registers of a Raspberry Pi, in an emulated one.
//!
//! QEMU's model lets a write to the registers that set and clear outputs change the level of inputs, too: so the
//! test plays the wires, through the program `devmem`. On a real Raspberry Pi that does nothing, and the test fails.
//! It needs root, `/dev/mem` and the address of the registers:
//!
//! ```text
//! TOUCHMOVED_GPIO_BASE=0x3f200000 cargo test --test gpio_rppal -- --ignored
//! tests/vm/raspberry-pi.sh          (all of it, in an emulated Raspberry Pi 3)
//! ```
#![cfg(feature = "gpio")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod lockstep;

use std::process::Command;

use lockstep::{Wires, assert_positions};
use touchmoved::sensor::matrix::{
    gpio::GpioPort,
    pins::{Pins, Polarity},
};

const SET: u64 = 0x1c;
const CLEAR: u64 = 0x28;
const LEVEL: u64 = 0x34;

/// The registers of the lines 0 to 31.
struct Registers {
    base: u64,
    rows: [u32; 8],
    columns: [u32; 8],
}

impl Registers {
    fn new(pins: &Pins) -> Registers {
        let base = std::env::var("TOUCHMOVED_GPIO_BASE").expect("the address of the registers");
        let base = u64::from_str_radix(base.trim_start_matches("0x"), 16).unwrap();
        Registers { base, rows: pins.rows, columns: pins.columns }
    }

    fn devmem(&self, register: u64, value: Option<u32>) -> String {
        let mut command = Command::new("devmem");
        command.arg(format!("{:#x}", self.base + register)).arg("32");
        command.args(value.map(|value| format!("{value:#x}")));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

impl Wires for Registers {
    fn rows(&self) -> u8 {
        let levels = self.devmem(LEVEL, None);
        let levels = u32::from_str_radix(levels.trim_start_matches("0x"), 16).unwrap();
        self.rows
            .iter()
            .enumerate()
            .fold(0, |high, (row, line)| high | u8::from(levels >> line & 1 == 1) << row)
    }

    fn set(&mut self, columns: u8, _inputs: u32) {
        let mask = |columns: u8| {
            let lines = self.columns.iter().enumerate().filter(|(column, _)| columns >> column & 1 == 1);
            lines.fold(0, |mask, (_, line)| mask | 1 << line)
        };
        self.devmem(SET, Some(mask(columns)));
        self.devmem(CLEAR, Some(mask(!columns)));
    }
}

#[test]
#[ignore = "needs an emulated Raspberry Pi: tests/vm/raspberry-pi.sh"]
fn any_position_is_read_through_the_registers() {
    for polarity in [Polarity::ActiveHigh, Polarity::ActiveLow] {
        let pins = Pins { polarity, settle_us: 0, ..Pins::default() };
        assert_positions(polarity, 8, || (GpioPort::open(&pins).unwrap(), Registers::new(&pins)));
    }
}

#[test]
#[ignore = "needs an emulated Raspberry Pi: tests/vm/raspberry-pi.sh"]
fn a_pin_that_is_taken_is_named() {
    let pins = Pins::default();
    let _held = GpioPort::open(&pins).unwrap();
    let error = GpioPort::open(&pins).unwrap_err().to_string();
    assert!(error.starts_with("GPIO header: ") && error.contains("in use"), "{error}");
}
