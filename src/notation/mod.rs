//! Moves and positions as people write them.

pub mod chess960;
pub mod fen;
