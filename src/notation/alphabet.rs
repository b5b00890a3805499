//! The letters of one language, as they are read.

use shakmaty::{File, Role};

use super::{
    Language,
    fold::{self, Sign},
};

/// Pieces in the order in which their letters are tried.
const PIECES: [Role; 5] = [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// How capitals and small letters are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// As they are written by rule: pieces large, files small.
    Exact,
    /// Pieces in either case, files small.
    AnyPiece,
    /// Everything in either case.
    Any,
}

impl Case {
    /// How a text is read that says nothing by rule: a capital is a file only where all letters are capitals,
    /// since otherwise it stands for a piece, if not in this language.
    pub(super) fn relaxed(signs: &[Sign]) -> Case {
        let capitals = signs.iter().filter(|sign| sign.letter != 'x').all(|sign| !sign.letter.is_lowercase());
        if capitals { Case::Any } else { Case::AnyPiece }
    }

    fn same(self, one: char, other: char) -> bool {
        match self {
            Case::Exact => one == other,
            Case::AnyPiece | Case::Any => one.to_lowercase().eq(other.to_lowercase()),
        }
    }

    pub(super) fn file(self, sign: Sign) -> Option<File> {
        let letter = if self == Case::Any { sign.letter.to_ascii_lowercase() } else { sign.letter };
        File::from_char(letter)
    }
}

/// The letters of one language, as they are read.
pub(super) struct Alphabet {
    pub language: Language,
    /// Cyrillic letters are read.
    pub cyrillic: bool,
}

impl Alphabet {
    /// The men that the first letters of a text may name, with the number of letters.
    pub(super) fn pieces(&self, signs: &[Sign], case: Case) -> Vec<(Option<Role>, usize)> {
        let mut found = vec![(None, 0)];
        let Some(first) = signs.first() else { return found };
        if let Some(role) = fold::figurine(first.letter) {
            found.push((Some(role), 1));
        }
        let pawn = match first.letter {
            letter if self.language.pawn_is_p() => case.same(letter, 'P') && !first.cyrillic,
            letter if self.language.is_cyrillic() => case.same(letter, 'П'),
            _ => false,
        };
        if pawn {
            found.push((Some(Role::Pawn), 1));
        }
        for role in PIECES {
            if let Some(length) = self.begins_with(signs, role, case) {
                found.push((Some(role), length));
            }
        }
        found
    }

    /// The number of letters when a text begins with the letters of a piece.
    fn begins_with(&self, signs: &[Sign], role: Role, case: Case) -> Option<usize> {
        let letters = self.language.letter(role);
        let mut rest = signs.iter();
        let fits = letters.chars().all(|letter| {
            rest.next().is_some_and(|sign| {
                case.same(sign.letter, fold::fold(letter)) && (self.cyrillic || !sign.cyrillic)
            })
        });
        fits.then(|| letters.chars().count())
    }

    /// What the end of a text may name as the promotion piece; nothing when it is no such end.
    pub(super) fn promotions(&self, tail: &[Sign], case: Case, uci: bool) -> Vec<Option<Role>> {
        let piece = match tail {
            [] => return vec![None],
            [sign, piece @ ..] if matches!(sign.letter, '=' | '/') => piece,
            _ => tail,
        };
        if let ([sign @ Sign { letter: 'q' | 'r' | 'b' | 'n', .. }], true, Case::Exact) = (piece, uci, case) {
            return vec![Role::from_char(sign.letter)];
        }
        let mut found = Vec::new();
        if let [sign] = piece {
            found.extend(fold::figurine(sign.letter).map(Some));
        }
        for role in PIECES {
            if self.begins_with(piece, role, case) == Some(piece.len()) {
                found.push(Some(role));
            }
        }
        found
    }
}
