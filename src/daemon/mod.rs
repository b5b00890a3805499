//! The wiring: what turns a configuration into a running daemon.
//!
//! One thread a board owns the session ([`board_thread`], [`engine`]); one thread a board writes its
//! journal ([`writer`]); one thread a source reads its device ([`supervisor`]; a game on
//! two boards has two of them); the feeds run on the
//! main thread ([`mod@run`]). The order is always the same: an input is handed to the writer, the session
//! takes it, its facts are handed to the writer, and what the public may know of them leaves through
//! the [`outbox`], moves and results after the sync.
//!
//! # When the disk fails
//! The game goes on and is served: `journal: failed` is flagged for the operator, moves leave before
//! they are recorded, records wait in memory (at most [`writer::ROOM`]; further ones are dropped, and
//! the journal notes how many) and are written in order as soon as the disk takes them. See
//! [`writer`].
//!
//! # When the daemon was killed
//! The journal is the state. At the start the inputs of a running game are run again, and it goes on
//! in the same segment. See [`resume`].

pub mod board_thread;
pub mod engine;
pub mod files;
pub mod health;
pub mod launch;
pub mod ledger;
pub mod links;
pub mod lock;
pub mod log;
mod matrix_source;
pub mod notify;
pub mod outbox;
pub mod ports;
pub mod resume;
pub mod run;
pub mod secrets;
mod segments;
pub mod source;
pub mod supervisor;
pub mod wall;
pub mod writer;

pub use run::{RunError, Started, run};
