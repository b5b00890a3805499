//! Moves as people write them: piece letters of many languages, a reader for score sheets and sealed
//! moves, and the start arrays of Chess960.
//!
//! Everything here is a function of its arguments. What the tables hold, how the reader decides and where
//! the languages collide is told in `docs/notation.md`.

mod alphabet;
pub mod chess960;
pub mod fen;
mod fold;
mod form;
mod language;
mod read;
mod write;

pub use form::{Form, Reading};
pub use language::{Language, LanguageError};
pub use read::parse;
pub use write::{CastlingSign, Style, pgn, write};
