//! The firmware side of a pegged chess board, for any microcontroller: no `std`, no `alloc`, no
//! dependencies, no `unsafe`, nothing that panics; 1440 bytes of memory on a
//! 32-bit chip.
//!
//! [`Board`] takes what the contacts read and the bytes that the host sent; it gives lines to send. It
//! debounces, numbers and frames, answers requests and sends heartbeats. `docs/peg-protocol.md` of
//! touchmoved describes the lines. The program at the other end and its simulator are built with this
//! crate, so that there is one encoder.
//!
//! What is left for a port to a chip is to read the holes, a clock and a serial port:
//!
//! ```
//! use touchmoved_peg::{Board, Holes, Identity, Key, Settings, Side};
//!
//! # struct Chip { ms: u32, sent: usize }
//! # impl Chip {
//! #     fn millis(&mut self) -> u32 { self.ms += 1; self.ms }
//! #     fn read_holes(&self) -> u64 { 0xffff_0000_0000_ffff }
//! #     fn read_keys(&self) -> u32 { 0 }
//! #     fn received(&self) -> Option<u8> { None }
//! #     fn send(&mut self, bytes: &[u8]) { self.sent += bytes.len(); }
//! # }
//! # let mut chip = Chip { ms: 0, sent: 0 };
//! const KEYS: [Key; 4] = [
//!     Key::Press(Side::White),
//!     Key::Press(Side::Black),
//!     Key::Button("jadoube-white"),
//!     Key::Button("draw-offer-white"),
//! ];
//! let identity = Identity { firmware: "my-board", version: "1.0", serial: "PB0001" };
//! let mut board = Board::new(identity, Settings::default(), &KEYS);
//! # for _ in 0..20 {
//! // loop {
//! let now_ms = chip.millis();
//! board.scan(now_ms, Holes::of(chip.read_holes()), chip.read_keys());
//! while let Some(byte) = chip.received() {
//!     board.receive(byte);
//! }
//! while let Some(line) = board.next_line(now_ms) {
//!     chip.send(line.as_bytes());
//! }
//! // }
//! # }
//! # assert!(chip.sent > 100);
//! ```
#![no_std]

#[cfg(test)]
extern crate std;

mod board;
mod crc;
mod debounce;
mod line;
mod message;
mod queue;
mod request;

pub use board::{Board, Holes, Key, MAX_KEYS, Settings};
pub use crc::crc16;
pub use debounce::Debounce;
pub use line::{Line, MAX_LINE};
pub use message::{Fault, Hello, Identity, Message, PROTOCOL, Peg, Side, Snapshot, SquareIndex, encode};
pub use queue::QUEUE;
pub use request::{Request, Requests};
