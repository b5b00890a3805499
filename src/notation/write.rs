//! Moves as they are written: PGN, and score sheets in every language.

use std::fmt::Write as _;

use shakmaty::{
    CastlingSide, Chess, Move,
    san::{San, SanPlus},
};

use super::Language;

/// How castling is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CastlingSign {
    /// `O-O`, as the edition of 2005 and PGN print it.
    #[default]
    Letters,
    /// `0-0`, as the edition of 2023 prints it.
    Zeros,
}

/// How a move is written on a score sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Style {
    /// Whose letters.
    pub language: Language,
    /// The square of departure is always written: `Ng1-f3`.
    pub long: bool,
    /// `e.p.` behind a capture en passant; required in 2005, allowed in 2023.
    pub en_passant: bool,
    /// How castling is written.
    pub castling: CastlingSign,
}

impl Style {
    /// The short form of Annex E in a language, right in both editions.
    pub const fn new(language: Language) -> Style {
        Style { language, long: false, en_passant: true, castling: CastlingSign::Letters }
    }
}

/// A legal move in the standard algebraic notation of PGN: English letters, `=` before a promotion piece.
pub fn pgn(position: &Chess, m: Move) -> String {
    SanPlus::from_move(position.clone(), m).to_string()
}

/// A legal move as it stands on a score sheet: no `=` before a promotion piece (E.12).
pub fn write(position: &Chess, m: Move, style: &Style) -> String {
    let SanPlus { san, suffix } = SanPlus::from_move(position.clone(), m);
    let mut text = String::new();
    match san {
        San::Normal { role, file, rank, capture, to, promotion } => {
            text.push_str(style.language.letter(role));
            match m.from() {
                Some(from) if style.long => {
                    let _ = write!(text, "{from}{}", if capture { 'x' } else { '-' });
                }
                _ => {
                    text.extend(file.map(|file| file.char()));
                    text.extend(rank.map(|rank| rank.char()));
                    text.extend(capture.then_some('x'));
                }
            }
            let _ = write!(text, "{to}");
            text.push_str(promotion.map_or("", |piece| style.language.letter(piece)));
        }
        San::Castle(side) => text.push_str(castling(side, style.castling)),
        // A drop or a null move is no move of this game.
        San::Put { .. } | San::Null => return San::to_string(&san),
    }
    text.extend(suffix.map(|suffix| suffix.char()));
    if m.is_en_passant() && style.en_passant {
        text.push_str(" e.p.");
    }
    text
}

const fn castling(side: CastlingSide, sign: CastlingSign) -> &'static str {
    match (side, sign) {
        (CastlingSide::KingSide, CastlingSign::Letters) => "O-O",
        (CastlingSide::KingSide, CastlingSign::Zeros) => "0-0",
        (CastlingSide::QueenSide, CastlingSign::Letters) => "O-O-O",
        (CastlingSide::QueenSide, CastlingSign::Zeros) => "0-0-0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::{Reading, fen, parse};

    fn written(fen: &str, uci: &str, style: &Style) -> String {
        let position = fen::read(fen, None).unwrap();
        let Reading::Unique(m) = parse(&position, uci, None) else { panic!("{uci}") };
        write(&position, m, style)
    }

    #[test]
    fn moves_are_written_as_annex_e_writes_them() {
        let romanian = Style::new(Language::Romanian);
        let long = Style { long: true, ..romanian };
        let zeros = Style { castling: CastlingSign::Zeros, ..romanian };
        for (fen, uci, short, in_full) in [
            ("6k1/3P4/8/8/8/8/8/4K3 w - - 0 1", "d7d8q", "d8D+", "d7-d8D+"),
            ("7k/8/8/8/8/5p2/8/4N1NK w - - 0 1", "g1f3", "Cgxf3", "Cg1xf3"),
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", "exd6 e.p.", "e5xd6 e.p."),
            ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", "O-O", "O-O"),
            ("k7/8/1K6/8/8/8/8/7R w - - 0 1", "h1h8", "Th8#", "Th1-h8#"),
        ] {
            assert_eq!(written(fen, uci, &romanian), short);
            assert_eq!(written(fen, uci, &long), in_full);
        }
        assert_eq!(written("r3k3/8/8/8/8/8/8/4K3 b q - 0 1", "e8c8", &zeros), "0-0-0");
        let without = Style { en_passant: false, ..romanian };
        assert_eq!(written("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", &without), "exd6");
        let figurine = Style::new(Language::Figurine);
        assert_eq!(written("4k3/8/8/8/8/8/8/4K1N1 b - - 0 1", "e8e7", &figurine), "♔e7");
    }
}
