//! Lines of a real backend whose wires the test plays: while the columns settle, it looks which rows are driven
//! and gives the columns and inputs the levels that the contacts of a simulated board would give them. Time passes
//! only while the port waits.
#![allow(dead_code)]

use shakmaty::{Bitboard, Square};
use touchmoved::{
    sensor::matrix::{Layout, MatrixPort, PortError, Scanner, pins::Polarity, simulated::SimulatedPort},
    session::time::MonoTime,
    simulate::matrix::{Fault, SimulatedMatrix, Wiring},
};

pub const SETTLE_US: u64 = 50;

/// The other end of the lines.
pub trait Wires {
    /// The rows that are high, bit 0 for row 0.
    fn rows(&self) -> u8;

    /// Makes these columns and inputs high and the others low.
    fn set(&mut self, columns: u8, inputs: u32);
}

/// A backend, and the wires between its lines.
pub struct Played<P, W> {
    port: P,
    wires: W,
    matrix: SimulatedMatrix,
    polarity: Polarity,
    now: u64,
}

impl<P: MatrixPort, W: Wires> Played<P, W> {
    /// Buttons close to ground.
    pub fn new(port: P, wires: W, polarity: Polarity, matrix: SimulatedMatrix) -> Played<P, W> {
        Played { port, wires, matrix, polarity, now: 0 }
    }
}

impl<P: MatrixPort, W: Wires + Send> MatrixPort for Played<P, W> {
    fn name(&self) -> String {
        self.port.name()
    }

    fn drive(&mut self, rows: u8) -> Result<(), PortError> {
        self.port.drive(rows)?;
        let high = self.wires.rows();
        let driven = if self.polarity == Polarity::ActiveHigh { high } else { !high };
        assert_eq!(driven, rows, "the rows that are driven");
        self.matrix.drive(self.now, driven);
        Ok(())
    }

    fn settle(&mut self) {
        self.now += SETTLE_US;
    }

    fn read_columns(&mut self) -> Result<u8, PortError> {
        let closed = self.matrix.columns(self.now);
        let high = if self.polarity == Polarity::ActiveHigh { closed } else { !closed };
        self.wires.set(high, !self.matrix.inputs(self.now));
        self.port.read_columns()
    }

    fn inputs(&mut self) -> Result<u32, PortError> {
        self.port.inputs()
    }

    fn now(&self) -> MonoTime {
        MonoTime::from_micros(self.now)
    }

    fn pause(&mut self, us: u64) {
        self.now += us;
    }
}

/// The empty, the full and the set-up board, and some at random.
pub fn positions(count: usize) -> impl Iterator<Item = Bitboard> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let random = std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Bitboard(state)
    });
    let start = Bitboard(0xffff_0000_0000_ffff);
    [Bitboard::EMPTY, Bitboard::FULL, start].into_iter().chain(random).take(count)
}

/// Positions read the same over the lines of `open` as without any lines, with and without diodes; with diodes
/// they read what stands there.
pub fn assert_positions<P: MatrixPort, W: Wires + Send>(
    polarity: Polarity,
    count: usize,
    mut open: impl FnMut() -> (P, W),
) {
    for faults in [&[][..], &[Fault::NoDiodes, Fault::FloatingRows]] {
        for men in positions(count) {
            let board = || SimulatedMatrix::new(Wiring::with(faults), Square::ALL, men, 1);
            let mut direct =
                Scanner::new(SimulatedPort::in_simulated_time(board(), SETTLE_US), Layout::default());
            let expected = direct.scan(|_| ()).unwrap().rows;
            let (port, wires) = open();
            let mut scanner = Scanner::new(Played::new(port, wires, polarity, board()), Layout::default());
            assert_eq!(scanner.scan(|_| ()).unwrap().rows, expected, "{polarity:?} {men:?}");
            let exact = Layout::default().occupied(&expected) == men;
            assert!(exact || !faults.is_empty());
        }
    }
}
