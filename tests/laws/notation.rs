//! Moves on paper, calls, FENs and start arrays.

use std::sync::LazyLock;

use shakmaty::{Chess, Move, Position as _};
use touchmoved::notation::{
    self, Language, Reading, announcement,
    chess960::Array,
    fen::{self, CastlingLetters},
};

/// Positions in which much can be confused: castling, promotion, en passant, men of one kind.
static POSITIONS: LazyLock<Vec<Chess>> = LazyLock::new(|| {
    [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/1P4P1/8/2pP4/3pP3/8/p5p1/R3K2R w KQkq c6 0 1",
        "4k3/8/1q1q3q/8/1n3n2/2p5/1PNBNB2/R3K2R w KQ - 0 40",
        "1rk4r/1pp3pp/8/8/8/8/1PP3PP/1RK4R b HBhb - 3 20",
    ]
    .iter()
    .map(|text| fen::read(text, None).expect("a position"))
    .collect()
});

/// Any lines: no panic; what is read is legal; what a language reads is among the candidates of all
/// languages, but for Cyrillic letters in a Latin language; what is read is written and read back.
pub fn notation_text(data: &[u8]) {
    for line in String::from_utf8_lossy(data).lines() {
        POSITIONS.iter().for_each(|position| on_paper(position, line));
        a_position(line);
        if let Ok(array) = Array::parse(line) {
            assert_eq!(Array::from_number(array.number()), Ok(array));
        }
    }
}

fn moves(reading: Reading) -> Vec<Move> {
    match reading {
        Reading::Unique(m) => vec![m],
        Reading::Ambiguous(moves) => {
            assert!(moves.len() > 1);
            moves
        }
        Reading::Illegal | Reading::Unreadable => Vec::new(),
    }
}

fn on_paper(position: &Chess, line: &str) {
    let latin = !line.chars().any(|letter| ('\u{400}'..='\u{4ff}').contains(&letter));
    let all = moves(notation::parse(position, line, None));
    let mut known = Vec::new();
    for language in Language::ALL {
        let read = moves(notation::parse(position, line, Some(language)));
        assert!(read.iter().all(|m| position.is_legal(*m)), "{line:?}: {read:?}");
        assert!(
            !latin || read.iter().all(|m| all.contains(m)),
            "{line:?} in {language}: {read:?}, not {all:?}"
        );
        known.extend(read);
    }
    assert!(all.iter().all(|m| known.contains(m)), "{line:?}: {all:?}");
    if let Some(form) = announcement::hear(line) {
        for m in moves(announcement::read(position, line)) {
            assert!(form.means(position, m) && position.is_legal(m));
            let speech = announcement::Speech::German;
            assert_eq!(announcement::read(position, &announcement::announce(m, speech)), Reading::Unique(m));
        }
        let _ = form.uci(position);
    }
}

fn a_position(line: &str) {
    let Ok(position) = fen::read(line, None) else { return };
    for letters in [CastlingLetters::XFen, CastlingLetters::Shredder] {
        let written = fen::write(&position, letters);
        let again = fen::read(&written, Some(position.castles().mode())).expect("reads back");
        assert_eq!(fen::write(&again, letters), written);
    }
}
