//! touchmoved reads a tournament chess board, reconstructs the game under the Laws of Chess, keeps
//! a tamper-evident journal and feeds the world.
//!
//! ```text
//!  sensor/ (threads)      board thread                                   tokio thread
//!  reed matrix ─┐
//!  DGT board  ──┼─ Reading ─► journal ─► session ─► journal ─► publish ─► feed: PGN, HTTP,
//!  sensor log ──┤             (input)    (facts)    (facts)               SSE, LiveChess
//!  simulated  ──┘
//!        desk: the arbiter ─► the same board thread, and back to him
//! ```
//!
//! `wire`, `laws`, `session`, `publish` and `notation` are pure: no I/O, no clock, no randomness. Everything that
//! touches the world is in `sensor`, `journal`, `feed`, `desk` and `daemon`. `docs/architecture.md` tells
//! the rest.

pub mod cli;
pub mod config;
pub mod daemon;
pub mod desk;
pub mod doctor;
pub mod feed;
pub mod game;
pub mod journal;
pub mod laws;
pub mod notation;
pub mod pace;
pub mod publish;
pub mod replay;
pub mod review;
pub mod sensor;
pub mod session;
pub mod simulate;
pub mod sysclock;
pub mod time_source;
pub mod wire;
