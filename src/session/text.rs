//! Moves in letters, without a heap.

use std::{fmt, ops::Deref};

use serde::{Serialize, Serializer};
use shakmaty::{
    CastlingMode, Move, Role, Square,
    san::{San, SanPlus},
    uci::UciMove,
};

/// The longest move in standard algebraic notation is `Qa1xb2#`, or `exd8=Q#` without its piece.
const LONGEST: usize = 7;

/// A move in UCI or in standard algebraic notation: at most 7 letters.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoveText {
    len: u8,
    letters: [u8; LONGEST],
}

impl MoveText {
    /// What a move displays as; letters beyond the seventh, which no move has, are left out.
    pub fn of(displayed: impl fmt::Display) -> MoveText {
        let mut text = MoveText::default();
        // Writing to it fails only when it is full.
        let _ = fmt::write(&mut text, format_args!("{displayed}"));
        text
    }

    /// A move in UCI; castling as the king's step or, in Chess960, as the king taking its rook.
    pub fn uci(mv: Move, mode: CastlingMode) -> MoveText {
        if let Move::Normal { from, to, promotion: None, .. } | Move::EnPassant { from, to } = mv {
            return MoveText::step(from, to);
        }
        match UciMove::from_move(mv, mode) {
            UciMove::Normal { from, to, promotion } => {
                let mut text = MoveText::default();
                text.square(from);
                text.square(to);
                promotion.into_iter().for_each(|piece| text.letter(piece.char()));
                text
            }
            other => MoveText::of(other),
        }
    }

    /// A move from one square to another, in UCI.
    pub fn step(from: Square, to: Square) -> MoveText {
        let letters = |square: Square| [b'a' + u8::from(square.file()), b'1' + u8::from(square.rank())];
        let ([a, b], [c, d]) = (letters(from), letters(to));
        MoveText { len: 4, letters: [a, b, c, d, 0, 0, 0] }
    }

    /// A move in standard algebraic notation.
    pub fn san(san: SanPlus) -> MoveText {
        let mut text = MoveText::default();
        match san.san {
            San::Normal { role, file, rank, capture, to, promotion } => {
                if role != Role::Pawn {
                    text.letter(role.upper_char());
                }
                file.into_iter().for_each(|file| text.letter(file.char()));
                rank.into_iter().for_each(|rank| text.letter(rank.char()));
                if capture {
                    text.letter('x');
                }
                text.square(to);
                if let Some(piece) = promotion {
                    text.letter('=');
                    text.letter(piece.upper_char());
                }
            }
            _ => return MoveText::of(san),
        }
        san.suffix.into_iter().for_each(|suffix| text.letter(suffix.char()));
        text
    }

    fn square(&mut self, square: Square) {
        self.byte(b'a' + u8::from(square.file()));
        self.byte(b'1' + u8::from(square.rank()));
    }

    fn byte(&mut self, letter: u8) {
        if let Some(place) = self.letters.get_mut(usize::from(self.len)) {
            *place = letter;
            self.len += 1;
        }
    }

    fn letter(&mut self, letter: char) {
        if let (Some(place), Ok(letter)) = (self.letters.get_mut(usize::from(self.len)), u8::try_from(letter))
        {
            *place = letter;
            self.len += 1;
        }
    }

    /// The letters.
    pub fn as_str(&self) -> &str {
        let letters = self.letters.get(..usize::from(self.len)).unwrap_or(&[]);
        std::str::from_utf8(letters).unwrap_or("")
    }
}

impl fmt::Write for MoveText {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for letter in more.bytes().filter(u8::is_ascii) {
            let place = self.letters.get_mut(usize::from(self.len)).ok_or(fmt::Error)?;
            *place = letter;
            self.len += 1;
        }
        Ok(())
    }
}

impl Deref for MoveText {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for MoveText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for MoveText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl PartialEq<str> for MoveText {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for MoveText {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for MoveText {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<MoveText> for String {
    fn eq(&self, other: &MoveText) -> bool {
        self == other.as_str()
    }
}

impl From<&str> for MoveText {
    fn from(text: &str) -> MoveText {
        MoveText::of(text)
    }
}

impl From<MoveText> for String {
    fn from(text: MoveText) -> String {
        text.as_str().to_owned()
    }
}

impl Serialize for MoveText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_moves_fit_and_nothing_breaks_what_does_not() {
        for text in ["Qa1xb2#", "exd8=Q#", "O-O-O#", "e7e8q", ""] {
            assert_eq!(MoveText::of(text), *text);
        }
        assert_eq!(MoveText::of("Qa1xb2#?!"), *"Qa1xb2#");
        assert_eq!(MoveText::of("é4"), *"4");
    }
}
