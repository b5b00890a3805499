//! Moves as they are called out at the boards of blind players (Annex F, Appendix D).
//!
//! The Laws name the words: Anna, Bella, Cesar for the files, the German numbers for the ranks, the German
//! names of the pieces. Plain English, Romanian and Ukrainian stand beside them. A call is the piece, the
//! square that it leaves, the square where it arrives, and the piece that a pawn becomes.

use std::{fmt, str::FromStr};

use shakmaty::{CastlingSide, Chess, File, Move, Rank, Role};

use self::vocabulary::{ENGLISH, GERMAN, ROLES, ROMANIAN, UKRAINIAN, Vocabulary};
use super::{Reading, form, parse};

mod hear;
mod vocabulary;

pub use hear::hear;

/// A language of announcements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Speech {
    /// The words of the Laws, with ae, oe, ue for the umlauts.
    German,
    /// Plain English.
    English,
    /// Romanian.
    Romanian,
    /// Ukrainian.
    Ukrainian,
}

/// A text is not the code of a language of announcements.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{given:?} is not a language of announcements; known: de, en, ro, uk")]
pub struct SpeechError {
    /// What was given.
    pub given: String,
}

impl Speech {
    /// All languages of announcements.
    pub const ALL: [Speech; 4] = [Speech::German, Speech::English, Speech::Romanian, Speech::Ukrainian];

    /// The code on the command line: `de`, `en`, `ro`, `uk`.
    pub const fn code(self) -> &'static str {
        match self {
            Speech::German => "de",
            Speech::English => "en",
            Speech::Romanian => "ro",
            Speech::Ukrainian => "uk",
        }
    }

    /// The word for a man.
    pub fn piece(self, role: Role) -> &'static str {
        let at = ROLES.iter().position(|known| *known == role);
        at.and_then(|at| self.vocabulary().pieces.get(at)).and_then(|words| words.first()).unwrap_or(&"")
    }

    /// The word for a file.
    pub fn file(self, file: File) -> &'static str {
        let words = self.vocabulary().files.get(usize::from(file));
        words.and_then(|words| words.first()).unwrap_or(&"")
    }

    /// The word for a rank.
    pub fn rank(self, rank: Rank) -> &'static str {
        let words = self.vocabulary().ranks.get(usize::from(rank));
        words.and_then(|words| words.first()).unwrap_or(&"")
    }

    /// The call for castling.
    pub fn castling(self, side: CastlingSide) -> &'static str {
        let [short, long] = self.vocabulary().castling;
        if side.is_king_side() { short } else { long }
    }

    fn vocabulary(self) -> &'static Vocabulary {
        match self {
            Speech::German => &GERMAN,
            Speech::English => &ENGLISH,
            Speech::Romanian => &ROMANIAN,
            Speech::Ukrainian => &UKRAINIAN,
        }
    }
}

impl FromStr for Speech {
    type Err = SpeechError;

    fn from_str(text: &str) -> Result<Speech, SpeechError> {
        let given = || SpeechError { given: text.to_owned() };
        Speech::ALL.into_iter().find(|speech| speech.code() == text).ok_or_else(given)
    }
}

impl fmt::Display for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

/// The call for a move.
pub fn announce(m: Move, speech: Speech) -> String {
    if let Some(side) = m.castling_side() {
        return speech.castling(side).to_owned();
    }
    let mut words = vec![speech.piece(m.role())];
    for square in m.from().into_iter().chain([m.to()]) {
        words.extend([speech.file(square.file()), speech.rank(square.rank())]);
    }
    words.extend(m.promotion().map(|piece| speech.piece(piece)));
    words.join(" ")
}

/// What an announcement means in a position: a call, else a move in any form that [`parse`] reads.
pub fn read(position: &Chess, text: &str) -> Reading {
    match hear(text) {
        Some(form) => form::reading(position, &[form]),
        None => parse(position, text, None),
    }
}
