//! A matrix of 64 reed contacts that is scanned row by row.
//!
//! [`MatrixPort`] is the electrical side: rows that are driven, columns that are read, inputs beside the board.
//! There are three of them: the registers of a Raspberry Pi (`gpio`), the GPIO character device of any Linux
//! board (`cdev`), and [`simulated`] wires with faults. [`Scanner`] reads the rows one after the other and tells the
//! edges in their order; [`MatrixSource`] does that in a thread of its own at a fixed period. [`selftest`]
//! tells bad wiring from what was read.
//!
//! Nothing here debounces a square: that is the session's part, and the journal keeps the edges.
//! `docs/hardware.md` shows the wiring.

#[cfg(feature = "gpio")]
pub mod cdev;
#[cfg(feature = "gpio")]
pub mod gpio;
pub mod inputs;
mod layout;
pub mod leds;
mod overruns;
pub mod pins;
mod port;
pub mod realtime;
mod scanner;
pub mod selftest;
pub mod simulated;
mod source;
mod status;

pub use self::{
    layout::{Layout, LayoutError},
    port::{MatrixPort, PortError, Settling},
    scanner::{Edge, Scanner, Snapshot},
    source::{MatrixSource, Scan},
    status::{LATE_BOUNDS_US, ScanFigures, Status},
};

/// Rows and columns of a matrix.
pub const LINES: usize = 8;

/// What a scan reads: for each row its columns, bit `n` for column `n`, set when the contact is closed.
pub type Rows = [u8; LINES];
