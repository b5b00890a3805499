//! A matrix of simulated wires, with the faults of real ones.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use shakmaty::Color;

use super::{MatrixPort, PortError, Settling, inputs::Wired};
use crate::{
    session::{
        event::{Event, GameResult},
        time::MonoTime,
    },
    simulate::matrix::{INPUTS, Input, SimulatedMatrix},
    sysclock,
};

/// The time of a simulated port.
#[derive(Clone, Debug)]
enum Clock {
    /// As it passes.
    Real,
    /// In microseconds; it passes only while the port waits.
    Simulated(Arc<AtomicU64>),
}

/// Simulated wires as a port. The same matrix read at the same times reads the same.
#[derive(Debug)]
pub struct SimulatedPort {
    matrix: SimulatedMatrix,
    settle_us: u64,
    clock: Clock,
}

impl SimulatedPort {
    /// A port on which time passes as it does.
    pub fn new(matrix: SimulatedMatrix, settle_us: u64) -> SimulatedPort {
        SimulatedPort { matrix, settle_us, clock: Clock::Real }
    }

    /// A port on which time passes only while it waits, from 0 on, and without any waiting.
    pub fn in_simulated_time(matrix: SimulatedMatrix, settle_us: u64) -> SimulatedPort {
        SimulatedPort { matrix, settle_us, clock: Clock::Simulated(Arc::default()) }
    }

    /// The board behind the wires.
    pub fn matrix(&mut self) -> &mut SimulatedMatrix {
        &mut self.matrix
    }

    fn micros(&self) -> u64 {
        self.now().as_micros()
    }
}

impl MatrixPort for SimulatedPort {
    fn name(&self) -> String {
        "simulated matrix".to_owned()
    }

    fn drive(&mut self, rows: u8) -> Result<(), PortError> {
        self.matrix.drive(self.micros(), rows);
        Ok(())
    }

    fn settle(&mut self) {
        match &self.clock {
            Clock::Real => Settling::of(self.settle_us).wait(),
            Clock::Simulated(time) => drop(time.fetch_add(self.settle_us, Relaxed)),
        }
    }

    fn read_columns(&mut self) -> Result<u8, PortError> {
        Ok(self.matrix.columns(self.micros()))
    }

    fn inputs(&mut self) -> Result<u32, PortError> {
        Ok(self.matrix.inputs(self.micros()))
    }

    fn light(&mut self, leds: u32) -> Result<(), PortError> {
        tracing::debug!("the simulated LEDs are lit: {leds:#b}");
        Ok(())
    }

    fn now(&self) -> MonoTime {
        match &self.clock {
            Clock::Real => sysclock::monotonic(),
            Clock::Simulated(time) => MonoTime::from_micros(time.load(Relaxed)),
        }
    }

    fn pause(&mut self, us: u64) {
        match &self.clock {
            Clock::Real => std::thread::sleep(std::time::Duration::from_micros(us)),
            Clock::Simulated(time) => drop(time.fetch_add(us, Relaxed)),
        }
    }
}

/// The lever and the buttons of a simulated board.
pub fn wired(debounce_us: u64) -> Wired {
    let bit = |input: Input| INPUTS.iter().position(|other| *other == input).map(|index| 1 << index);
    let results = [GameResult::WhiteWins, GameResult::BlackWins, GameResult::Draw];
    let results = results.map(|result| (Input::Result(result), Event::Result(result)));
    let buttons = std::iter::once((Input::Pause, Event::Pause)).chain(results);
    Wired {
        lever_white: bit(Input::Lever(Color::White)),
        lever_black: bit(Input::Lever(Color::Black)),
        buttons: buttons.filter_map(|(input, event)| Some((bit(input)?, event))).collect(),
        debounce_us,
    }
}
