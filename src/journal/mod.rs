//! The journal: one append-only file a game, inputs and facts in one order, every record chained
//! to the one before it by a hash.
//!
//! [`record`] is pure: an entry to a line and back, and the chain. [`store`] writes segments,
//! [`segment`] names them, [`read`] reads and verifies them, [`replay`] opens a journal or a sensor
//! log and compares what was recorded with what the inputs lead to. `docs/journal.md` describes the format.

mod encode;
mod error;
mod header;
mod log;

pub mod read;
pub mod record;
pub mod replay;
pub mod segment;
pub mod store;

pub use record::{Body, Cut, Entry, JournalHeader, Resume};
pub use segment::{latest_segment, next_segment, segments};
pub use store::{Journal, JournalError, Recovered};
