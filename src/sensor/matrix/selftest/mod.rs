//! What the wires of a matrix give away: shorted and open diodes, contacts that never close or never open,
//! broken and stuck lines, a matrix without diodes.
//!
//! Three steps, so that a tool can say what it does in between:
//!
//! 1. [`probe`] measures on a port: a few scans, the columns while no row and while all rows are driven, and
//!    one scan with patience.
//! 2. [`expectation`] guesses what stands on the board, the initial position or nothing; a person may
//!    know better.
//! 3. [`examine`] compares. It is a pure function.
//!
//! What can be found depends on what stands on the board. The empty board shows what reads closed and should
//! not, the initial position what does not close (its 32 squares). A shorted diode shows where its square and
//! others of its column are occupied; [`DIODE_PATTERNS`] are two positions that try every diode and every
//! contact of the board with 28 men each. Two column wires that touch each other read as contacts that do
//! not open.

mod finding;
mod rules;

use shakmaty::Bitboard;

pub use self::{
    finding::{Cause, Finding},
    rules::examine,
};
use super::{LINES, Layout, MatrixPort, PortError, Rows};

/// The squares of the initial position: the ranks 1, 2, 7 and 8.
pub const INITIAL: Bitboard = Bitboard(0xffff_0000_0000_ffff);

/// Positions of 28 men that try 28 diodes each for a short, and together most of the board: the initial
/// position without a1, b2, g7 and h8, and the same men on the four ranks between. Every rank lacks
/// another file, so that what comes through a shorted diode shows on an empty square.
pub const DIODE_PATTERNS: [Bitboard; 2] = [Bitboard(0x7fbf_0000_0000_fdfe), Bitboard(0x0000_7fbf_fdfe_0000)];

/// Scans that [`probe`] makes.
pub const SCANS: usize = 8;

/// What was measured on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The columns that read closed while no row is driven.
    pub quiet: u8,
    /// The columns that read closed while all rows are driven.
    pub all: u8,
    /// Scans, one after the other.
    pub scans: Vec<Rows>,
    /// A scan for which each row had five times the settle time.
    pub patient: Rows,
}

impl Probe {
    /// The contacts that read closed in at least one scan, and those that did in all of them.
    fn ever_and_always(&self) -> (Rows, Rows) {
        let mut ever = [0; LINES];
        let mut always = [if self.scans.is_empty() { 0 } else { 0xff }; LINES];
        for scan in &self.scans {
            for ((ever, always), read) in ever.iter_mut().zip(&mut always).zip(scan) {
                *ever |= read;
                *always &= read;
            }
        }
        (ever, always)
    }
}

/// Measures on a port; takes nine scans.
///
/// # Errors
/// The port failed.
pub fn probe(port: &mut impl MatrixPort) -> Result<Probe, PortError> {
    // A column that was fed before has to fall, and it may be slow.
    let patiently = |port: &mut dyn MatrixPort, rows| {
        port.drive(rows)?;
        for _ in 0..5 {
            port.settle();
        }
        port.read_columns()
    };
    let quiet = patiently(port, 0)?;
    let all = patiently(port, 0xff)?;
    let mut patient = [0; LINES];
    for (row, columns) in patient.iter_mut().enumerate() {
        *columns = patiently(port, 1 << row)?;
    }
    let mut scans = Vec::with_capacity(SCANS);
    for _ in 0..SCANS {
        let mut rows = [0; LINES];
        for (row, columns) in rows.iter_mut().enumerate() {
            port.drive(1 << row)?;
            port.settle();
            *columns = port.read_columns()?;
        }
        scans.push(rows);
    }
    port.drive(0)?;
    Ok(Probe { quiet, all, scans, patient })
}

/// So many squares of the initial position have to read closed to take it for that.
const INITIAL_AT_LEAST: usize = 16;
/// So many may read closed on a board that is taken for empty.
const EMPTY_AT_MOST: usize = 2;

/// What seems to stand on the board: [`INITIAL`], also where the board lies turned by 90 degrees, or nothing.
/// `None` where it is neither: a game is going on.
pub fn expectation(probe: &Probe, layout: &Layout) -> Option<Bitboard> {
    let (ever, always) = probe.ever_and_always();
    let stuck = ever.map(|columns| columns & !probe.quiet);
    let seen = layout.occupied(&stuck);
    let turned = Bitboard(seen.0).flip_diagonal();
    if (seen & INITIAL).count() >= INITIAL_AT_LEAST || (turned & INITIAL).count() > 28 {
        return Some(INITIAL);
    }
    // Columns that are fed by all rows together and by none alone: men stand there, and current flows back.
    let alone = always.into_iter().fold(0, |sum, columns| sum | columns);
    if (probe.all & !alone & !probe.quiet).count_ones() >= 4 {
        return Some(INITIAL);
    }
    (seen.count() <= EMPTY_AT_MOST).then_some(Bitboard::EMPTY)
}

/// What the wiring gives away when a board is started, where what stands on it is clear enough: men that
/// are missing while others are too many mean that a game is going on, and nothing is said then.
pub fn at_start(probe: &Probe, layout: &Layout) -> Option<Vec<Finding>> {
    let findings = examine(probe, expectation(probe, layout)?, layout);
    let has = |cause: Cause| findings.iter().any(|finding| finding.cause == cause);
    let game = has(Cause::NeverCloses) && has(Cause::NeverOpens);
    (!game).then_some(findings)
}

#[cfg(test)]
mod tests;
