//! A matrix of reed contacts at the level of its lines: rows are driven, columns follow, and the wires
//! have the faults that real ones have.
//!
//! Pure: time comes in with every call, in microseconds, and never goes back; the same seed gives the same
//! levels. What the contacts do comes from a [`Simulation`] (real hands, with bounce) or is set by the caller.
//!
//! The model. A driven row has the active level, every other row the resting one, each behind the same series
//! resistor. Current goes from a row to a column through a closed contact and its diode; through a shorted
//! diode, or where there is none, it goes both ways. A column that is fed by driven rows and drained by resting
//! ones is a divider; between the thresholds of an input it reads either way. A column that nothing feeds falls
//! back through its pull resistor, and that takes time. `docs/hardware.md` has the numbers.

mod inputs;
mod wiring;

use shakmaty::{Bitboard, Square};

pub use self::{
    inputs::{INPUTS, Input},
    wiring::{Fault, FaultError, Wiring},
};
use super::{Simulation, rng::Rng};
use crate::session::event::Event;
use wiring::Level;

/// What the random numbers are for.
const NOISE: u64 = 3;
const INPUT_BOUNCE: u64 = 4;

/// A board behind eight rows and eight columns.
#[derive(Clone, Debug)]
pub struct SimulatedMatrix {
    wiring: Wiring,
    /// The square of each crossing, row by row.
    squares: [Square; 64],
    /// The contacts that a man stands on.
    men: Bitboard,
    /// What is still to come: time, square, closed. The first one is the last of the list.
    coming: Vec<(u64, Square, bool)>,
    /// Closed inputs, and what is still to come of them.
    inputs: u32,
    coming_inputs: Vec<(u64, u32, bool)>,
    driven: u8,
    /// The latest time that was told.
    now: u64,
    /// The closed contacts, and where the columns come to rest for each row that is driven alone, as far as it
    /// was needed since they changed.
    closed: u64,
    rests: [Option<[Level; 8]>; 8],
    columns: [Column; 8],
    noise: Rng,
}

/// A column on its way to a level.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    /// Where it was when that began.
    from: Level,
    to: Level,
    since: u64,
}

impl SimulatedMatrix {
    /// A board on which men stand on `men`. `squares` names the square of each crossing, row by row; `seed`
    /// decides what reads by chance.
    pub fn new(wiring: Wiring, squares: [Square; 64], men: Bitboard, seed: u64) -> SimulatedMatrix {
        let mut matrix = SimulatedMatrix {
            wiring,
            squares,
            men,
            coming: Vec::new(),
            inputs: 0,
            coming_inputs: Vec::new(),
            driven: 0,
            now: 0,
            closed: 0,
            rests: [None; 8],
            columns: [Column::default(); 8],
            noise: Rng::new(seed, NOISE),
        };
        matrix.close(0);
        matrix
    }

    /// A board on which a simulated game is played from the time `start_us` on. The simulation should put
    /// out raw contacts; its presses move the lever, its results are buttons ([`INPUTS`]).
    pub fn playing(
        wiring: Wiring,
        squares: [Square; 64],
        game: &Simulation,
        start_us: u64,
        seed: u64,
    ) -> SimulatedMatrix {
        let mut matrix = SimulatedMatrix::new(wiring, squares, Bitboard::EMPTY, seed);
        for stamped in &game.events {
            let at = start_us.saturating_add(stamped.at.as_micros());
            match stamped.event {
                Event::Occupied(men) => {
                    matrix.men = men;
                    matrix.close(0);
                }
                Event::Square { square, occupied } => matrix.coming.push((at, square, occupied)),
                _ => {}
            }
        }
        matrix.coming.reverse();
        let (inputs, coming) = inputs::timeline(game, start_us, &mut Rng::new(seed, INPUT_BOUNCE));
        (matrix.inputs, matrix.coming_inputs) = (inputs, coming);
        matrix
    }

    /// A man comes to a square or leaves it now.
    pub fn set(&mut self, square: Square, closed: bool) {
        self.men.set(square, closed);
        self.close(self.now);
    }

    /// A man comes or leaves at a time that has not come yet; times are given in order.
    pub fn later(&mut self, at: u64, square: Square, closed: bool) {
        let place = self.coming.partition_point(|(other, ..)| *other > at);
        self.coming.insert(place, (at, square, closed));
    }

    /// True when nothing is still to come.
    pub fn is_over(&self) -> bool {
        self.coming.is_empty() && self.coming_inputs.is_empty()
    }

    /// The squares on which men stand, as far as the time has come.
    pub const fn men(&self) -> Bitboard {
        self.men
    }

    /// Drives the rows of `rows`, bit 0 for row 0, and lets go of the others.
    pub fn drive(&mut self, at: u64, rows: u8) {
        self.come_to(at);
        self.driven = rows;
        self.follow(at);
    }

    /// What the columns read now, bit 0 for column 0.
    pub fn columns(&mut self, at: u64) -> u8 {
        self.come_to(at);
        let mut read = 0;
        for index in 0..8 {
            let level = self.columns.get(index).map_or(Level::Low, |column| self.level(column, at));
            let closed = match level {
                Level::Low => false,
                Level::High => true,
                Level::Between => self.noise.below(2) == 1,
            };
            read |= u8::from(closed) << index;
        }
        read
    }

    /// The closed inputs, in the order of [`INPUTS`].
    pub fn inputs(&mut self, at: u64) -> u32 {
        self.come_to(at);
        self.inputs
    }

    fn come_to(&mut self, at: u64) {
        self.now = self.now.max(at);
        while let Some((due, square, closed)) = self.coming.pop_if(|(due, ..)| *due <= at) {
            self.men.set(square, closed);
            self.close(due);
        }
        while let Some((_, input, closed)) = self.coming_inputs.pop_if(|(due, ..)| *due <= at) {
            self.inputs = if closed { self.inputs | input } else { self.inputs & !input };
        }
    }

    /// Works out the contacts after men have come or gone.
    fn close(&mut self, at: u64) {
        let mut crossings = 0;
        for (index, square) in self.squares.into_iter().enumerate() {
            crossings |= u64::from(self.men.contains(square)) << index;
        }
        (self.closed, self.rests) = (self.wiring.closed(crossings), [None; 8]);
        self.follow(at);
    }

    /// Where the columns come to rest.
    fn rest(&mut self) -> [Level; 8] {
        let row =
            usize::try_from(self.driven.trailing_zeros()).ok().filter(|_| self.driven.is_power_of_two());
        let slot = row.and_then(|row| self.rests.get_mut(row));
        match slot {
            Some(slot) => *slot.get_or_insert_with(|| self.wiring.levels(self.driven, self.closed)),
            None => self.wiring.levels(self.driven, self.closed),
        }
    }

    /// Notes where the columns are going from now on.
    fn follow(&mut self, at: u64) {
        let levels = self.rest();
        for (index, to) in levels.into_iter().enumerate() {
            let Some(column) = self.columns.get(index).copied().filter(|column| column.to != to) else {
                continue;
            };
            let from = self.level(&column, at);
            if let Some(slot) = self.columns.get_mut(index) {
                *slot = Column { from, to, since: at };
            }
        }
    }

    /// The level that a column has reached.
    fn level(&self, column: &Column, at: u64) -> Level {
        let needs = if column.to == Level::Low { self.wiring.fall_us } else { self.wiring.rise_us };
        if at.saturating_sub(column.since) < needs { column.from } else { column.to }
    }
}

#[cfg(test)]
mod tests;
