//! The piece letters of each language (Annex E, Appendix C).

use std::{fmt, str::FromStr};

use shakmaty::Role;

/// A language of score sheets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// Romanian.
    Romanian,
    /// English; the letters of PGN.
    English,
    /// Russian; look-alike Latin letters are read as well.
    Russian,
    /// Ukrainian; look-alike Latin letters are read as well.
    Ukrainian,
    /// German.
    German,
    /// French.
    French,
    /// Dutch.
    Dutch,
    /// Dutch as an older table of the Laws misprints it, with two letters of the Hungarian row.
    DutchMisprinted,
    /// Spanish.
    Spanish,
    /// Hungarian.
    Hungarian,
    /// Figurines instead of letters.
    Figurine,
}

/// What one language writes.
struct Row {
    code: &'static str,
    name: &'static str,
    /// King, queen, rook, bishop, knight.
    letters: [&'static str; 5],
}

/// A text is not the code of a language.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{given:?} is not a language of notation; known: {}", Language::codes())]
pub struct LanguageError {
    /// What was given.
    pub given: String,
}

impl Language {
    /// All languages, in the order of the manual.
    pub const ALL: [Language; 11] = [
        Language::Romanian,
        Language::English,
        Language::Russian,
        Language::Ukrainian,
        Language::German,
        Language::French,
        Language::Dutch,
        Language::DutchMisprinted,
        Language::Spanish,
        Language::Hungarian,
        Language::Figurine,
    ];

    const fn row(self) -> Row {
        let (code, name, letters) = match self {
            Language::Romanian => ("ro", "Romanian", ["R", "D", "T", "N", "C"]),
            Language::English => ("en", "English", ["K", "Q", "R", "B", "N"]),
            Language::Russian => ("ru", "Russian", ["Кр", "Ф", "Л", "С", "К"]),
            Language::Ukrainian => ("uk", "Ukrainian", ["Кр", "Ф", "Т", "С", "К"]),
            Language::German => ("de", "German", ["K", "D", "T", "L", "S"]),
            Language::French => ("fr", "French", ["R", "D", "T", "F", "C"]),
            Language::Dutch => ("nl", "Dutch", ["K", "D", "T", "L", "P"]),
            Language::DutchMisprinted => ("nl-seed", "Dutch, misprinted", ["K", "D", "T", "F", "H"]),
            Language::Spanish => ("es", "Spanish", ["R", "D", "T", "A", "C"]),
            Language::Hungarian => ("hu", "Hungarian", ["K", "V", "B", "F", "H"]),
            Language::Figurine => ("fig", "figurines", ["♔", "♕", "♖", "♗", "♘"]),
        };
        Row { code, name, letters }
    }

    /// The code on the command line: `ro`, `en`, ...
    pub const fn code(self) -> &'static str {
        self.row().code
    }

    /// The name in English.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// What stands for a piece in front of a move or behind a promotion; nothing for a pawn.
    pub const fn letter(self, role: Role) -> &'static str {
        let [king, queen, rook, bishop, knight] = self.row().letters;
        match role {
            Role::King => king,
            Role::Queen => queen,
            Role::Rook => rook,
            Role::Bishop => bishop,
            Role::Knight => knight,
            Role::Pawn => "",
        }
    }

    /// True where the letters are Cyrillic.
    pub const fn is_cyrillic(self) -> bool {
        matches!(self, Language::Russian | Language::Ukrainian)
    }

    /// True where a `P` in front of a pawn's move can only mean the pawn; Annex E writes none.
    pub(super) const fn pawn_is_p(self) -> bool {
        matches!(self, Language::English | Language::Romanian | Language::French | Language::Spanish)
    }

    fn codes() -> String {
        Language::ALL.map(Language::code).join(", ")
    }
}

impl FromStr for Language {
    type Err = LanguageError;

    fn from_str(text: &str) -> Result<Language, LanguageError> {
        Language::ALL
            .into_iter()
            .find(|language| language.code() == text)
            .ok_or_else(|| LanguageError { given: text.to_owned() })
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}
