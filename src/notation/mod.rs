//! Moves as people write and say them: piece letters of many languages, a reader for score sheets and
//! sealed moves, announcements at the boards of blind players, and the start arrays of Chess960.
//!
//! Everything here is a function of its arguments. What the tables hold, how the reader decides and where
//! the languages collide is told in `docs/notation.md`.

mod alphabet;
pub mod announcement;
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
