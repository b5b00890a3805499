//! One scan: the rows one after the other, and what has changed.

use shakmaty::Square;

use super::{LINES, Layout, MatrixPort, PortError, Rows};
use crate::session::time::MonoTime;

/// A contact that reads another way than in the scan before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// When its row was read.
    pub at: MonoTime,
    /// The square.
    pub square: Square,
    /// True when the contact is closed now.
    pub closed: bool,
}

/// What one scan read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// When the last row was read.
    pub at: MonoTime,
    /// The contacts.
    pub rows: Rows,
    /// The inputs beside the board.
    pub inputs: u32,
    /// True when there was no scan before to compare with: no edges were told.
    pub first: bool,
}

/// Scans a port.
///
/// The first row stays driven between two scans, so that a scan waits for seven rows, not for eight. A row is
/// left for the next one before its edges are told: that work is done while the columns settle.
#[derive(Debug)]
pub struct Scanner<P> {
    port: P,
    layout: Layout,
    /// What was read before; nothing at first and after a failure.
    known: Option<Rows>,
    /// The first row is driven and has settled.
    ready: bool,
}

impl<P: MatrixPort> Scanner<P> {
    /// A scanner of an open port.
    pub fn new(port: P, layout: Layout) -> Scanner<P> {
        Scanner { port, layout, known: None, ready: false }
    }

    /// The port.
    pub fn port(&mut self) -> &mut P {
        &mut self.port
    }

    /// Which square each crossing is.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Forgets what was read, so that the next scan is a first one.
    pub fn forget(&mut self) {
        (self.known, self.ready) = (None, false);
    }

    /// The next scan follows the last one without a rest: its first row has to settle like the others.
    pub const fn follow_on(&mut self) {
        self.ready = false;
    }

    /// Reads all rows. Each contact that has changed is told as soon as its row is read, in the order of rows
    /// and columns; their times never go back.
    ///
    /// # Errors
    /// The port failed; what was told before stands, and the next scan is a first one.
    pub fn scan(&mut self, mut tell: impl FnMut(Edge)) -> Result<Snapshot, PortError> {
        let known = self.known.take();
        if !std::mem::take(&mut self.ready) {
            self.port.drive(1)?;
            self.port.settle();
        }
        let mut rows = [0; LINES];
        let mut at = MonoTime::ZERO;
        for (row, read) in rows.iter_mut().enumerate() {
            if row > 0 {
                self.port.settle();
            }
            *read = self.port.read_columns()?;
            at = self.port.now();
            self.port.drive(if row + 1 < LINES { 1 << (row + 1) } else { 1 })?;
            if let Some(before) = known.and_then(|known| known.get(row).copied()) {
                self.tell(row, at, before, *read, &mut tell);
            }
        }
        let inputs = self.port.inputs()?;
        (self.known, self.ready) = (Some(rows), true);
        Ok(Snapshot { at, rows, inputs, first: known.is_none() })
    }

    fn tell(&self, row: usize, at: MonoTime, before: u8, read: u8, tell: &mut impl FnMut(Edge)) {
        let mut changed = before ^ read;
        while changed != 0 {
            let column = changed.trailing_zeros();
            changed &= changed - 1;
            let square = usize::try_from(column).ok().and_then(|column| self.layout.square(row, column));
            if let Some(square) = square {
                tell(Edge { at, square, closed: read >> column & 1 == 1 });
            }
        }
    }
}

#[cfg(test)]
mod tests;
