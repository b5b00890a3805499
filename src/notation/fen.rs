//! Positions as FEN, with the castling letters of standard chess, X-FEN and Shredder-FEN.

use shakmaty::{
    CastlingMode, CastlingSide, Chess, Color, EnPassantMode, Position as _, PositionErrorKinds,
    fen::{Fen, ParseFenError},
};

/// Why a text is no position.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FenError {
    /// The text is not a FEN.
    #[error(
        "{fen:?} is not a FEN: {reason}; write its fields in quotes, such as \"4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1\""
    )]
    Notation {
        /// What was given.
        fen: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No game can be in this position.
    #[error("{fen:?}: {reason}; correct the FEN")]
    Position {
        /// What was given.
        fen: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Castling needs the rules of Chess960 and standard chess was asked for, or the letters fit neither.
    #[error("{fen:?}: castling {rights} does not fit the kings and rooks{advice}")]
    Castling {
        /// What was given.
        fen: String,
        /// The letters.
        rights: String,
        /// What to do.
        advice: &'static str,
    },
}

/// How the rights to castle are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CastlingLetters {
    /// `KQkq`, and the file of the rook where another rook stands further out.
    #[default]
    XFen,
    /// Always the files of the rooks: `HAha`.
    Shredder,
}

/// Reads a FEN. Without a mode it is Chess960 when the letters for castling are files, as in Shredder-FEN, or
/// name a king or rook away from its place in standard chess.
pub fn read(text: &str, mode: Option<CastlingMode>) -> Result<Chess, FenError> {
    let fen: Fen = text.parse().map_err(|error: ParseFenError| FenError::Notation {
        fen: text.to_owned(),
        reason: error.to_string(),
    })?;
    let rights = text.split([' ', '_']).filter(|field| !field.is_empty()).nth(2).unwrap_or("-");
    let by_files = rights.bytes().any(|letter| matches!(letter.to_ascii_lowercase(), b'a'..=b'h'));
    let found = if by_files { CastlingMode::Chess960 } else { CastlingMode::detect(fen.as_setup()) };
    let mode = mode.unwrap_or(found);
    fen.into_position(mode)
        .or_else(|error| error.ignore_too_much_material())
        .or_else(|error| error.ignore_impossible_check())
        .map_err(|error| {
            let fen = text.to_owned();
            if error.kinds() == PositionErrorKinds::INVALID_CASTLING_RIGHTS {
                let advice = if mode.is_standard() && found.is_chess960() {
                    "; it is a position of Chess960"
                } else {
                    "; leave out the letters of kings and rooks that are not at home, or write -"
                };
                FenError::Castling { fen, rights: rights.to_owned(), advice }
            } else {
                FenError::Position { fen, reason: error.to_string() }
            }
        })
}

/// Writes a position. The square of en passant is named only where the capture is legal.
pub fn write(position: &Chess, letters: CastlingLetters) -> String {
    let text = Fen::from_position(position, EnPassantMode::Legal).to_string();
    if letters == CastlingLetters::XFen {
        return text;
    }
    let mut files = String::new();
    for (color, side) in Color::ALL.into_iter().flat_map(|color| CastlingSide::ALL.map(|side| (color, side)))
    {
        if let Some(rook) = position.castles().rook(color, side) {
            files.push(color.fold_wb(rook.file().upper_char(), rook.file().char()));
        }
    }
    if files.is_empty() {
        return text;
    }
    let fields = text.split(' ').enumerate().map(|(at, field)| if at == 2 { files.as_str() } else { field });
    fields.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_for_castling_tell_the_variant() {
        for (fen, mode, shredder) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", CastlingMode::Standard, "HAha"),
            ("4k3/8/8/8/8/8/8/4K2R w H - 0 1", CastlingMode::Chess960, "H"),
            ("bqnnrkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNNRKRB w KQkq - 0 1", CastlingMode::Chess960, "GEge"),
            ("4k3/8/8/8/8/8/8/RR2K3 w B - 0 1", CastlingMode::Chess960, "B"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", CastlingMode::Standard, "-"),
        ] {
            let position = read(fen, None).unwrap();
            assert_eq!(position.castles().mode(), mode, "{fen}");
            let written = write(&position, CastlingLetters::Shredder);
            assert_eq!(written.split(' ').nth(2), Some(shredder), "{fen}");
            for letters in [CastlingLetters::XFen, CastlingLetters::Shredder] {
                let again = read(&write(&position, letters), Some(mode)).unwrap();
                assert_eq!(again, position);
            }
        }
        // X-FEN names the file only where a rook stands further out.
        let inner = read("4k3/8/8/8/8/8/8/RR2K3 w B - 0 1", None).unwrap();
        assert_eq!(write(&inner, CastlingLetters::XFen), "4k3/8/8/8/8/8/8/RR2K3 w B - 0 1");
        let outer = read("4k3/8/8/8/8/8/8/1RR1K3 w B - 0 1", None).unwrap();
        assert_eq!(write(&outer, CastlingLetters::XFen), "4k3/8/8/8/8/8/8/1RR1K3 w Q - 0 1");
    }

    #[test]
    fn what_is_wrong_is_told_with_what_to_do() {
        let wrong = |fen: &str, mode| read(fen, mode).unwrap_err().to_string();
        assert!(wrong("e4", None).starts_with("\"e4\" is not a FEN: "));
        assert!(wrong("8/8/8/8/8/8/8/8 w - - 0 1", None).contains("illegal position: empty board"));
        assert_eq!(
            wrong("4k3/8/8/8/8/8/8/4K3 w K - 0 1", None),
            "\"4k3/8/8/8/8/8/8/4K3 w K - 0 1\": castling K does not fit the kings and rooks; leave out the letters \
             of kings and rooks that are not at home, or write -"
        );
        assert!(
            wrong("4k3/8/8/8/8/8/8/5KR1 w K - 0 1", Some(CastlingMode::Standard))
                .ends_with("it is a position of Chess960")
        );
    }
}
