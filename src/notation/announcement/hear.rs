//! What a call names.

use shakmaty::{CastlingSide, File, Rank, Role, Square};

use super::{Speech, vocabulary::ROLES};
use crate::notation::Form;

/// What a call names, in the words of any of the languages, which no two of them use for different things.
/// Umlauts and accents may be missing, letters and digits may stand for words, the square of departure may
/// be left out. Nothing when the text is no call.
pub fn hear(text: &str) -> Option<Form> {
    let mut words = Vec::new();
    for spoken in text.split(|c: char| c.is_whitespace() || "-–—,.;:!".contains(c)) {
        let spoken = plain(spoken);
        if !spoken.is_empty() {
            words.push(understood(&spoken)?);
        }
        if words.len() > 20 {
            return None;
        }
    }
    if words.iter().any(|word| word.castle) {
        return called_castling(&words);
    }
    called_move(&words.iter().filter_map(|word| word.part).collect::<Vec<_>>())
}

/// What a word may stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Word {
    /// A part of a move.
    part: Option<Part>,
    /// Castling itself.
    castle: bool,
    /// The side, beside a word for castling.
    side: Option<CastlingSide>,
}

/// A part of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Piece(Role),
    File(File),
    Rank(Rank),
    Square(Square),
}

/// A word without capitals, umlauts, accents and apostrophes.
fn plain(word: &str) -> String {
    let mut out = String::new();
    for letter in word.chars().flat_map(char::to_lowercase) {
        match letter {
            'ä' => out.push_str("ae"),
            'ö' => out.push_str("oe"),
            'ü' => out.push_str("ue"),
            'ß' => out.push_str("ss"),
            // An umlaut in two signs.
            '\u{308}' => out.push('e'),
            'ă' | 'â' => out.push('a'),
            'î' => out.push('i'),
            'ș' | 'ş' => out.push('s'),
            'ț' | 'ţ' => out.push('t'),
            '\'' | '’' | '‘' | 'ʼ' | '`' => {}
            _ => out.push(letter),
        }
    }
    out
}

/// What a plain word stands for, or nothing when no language has it.
fn understood(word: &str) -> Option<Word> {
    let mut found = Word::default();
    let mut known = false;
    if let Ok(square) = word.parse::<Square>() {
        return Some(Word { part: Some(Part::Square(square)), ..found });
    }
    if let [digit] = word.as_bytes()
        && let Some(rank) = Rank::from_char(char::from(*digit))
    {
        return Some(Word { part: Some(Part::Rank(rank)), ..found });
    }
    let is = |words: &[&str]| words.iter().any(|known| plain(known) == word);
    for speech in Speech::ALL {
        let words = speech.vocabulary();
        let pieces = ROLES.into_iter().zip(words.pieces).filter(|(_, words)| is(words));
        let files = File::ALL.into_iter().zip(words.files).filter(|(_, words)| is(words));
        let ranks = Rank::ALL.into_iter().zip(words.ranks).filter(|(_, words)| is(words));
        let part = pieces
            .map(|(role, _)| Part::Piece(role))
            .chain(files.map(|(file, _)| Part::File(file)))
            .chain(ranks.map(|(rank, _)| Part::Rank(rank)))
            .next();
        let side = if is(words.short) {
            Some(CastlingSide::KingSide)
        } else {
            is(words.long).then_some(CastlingSide::QueenSide)
        };
        found.part = found.part.or(part);
        found.side = found.side.or(side);
        found.castle |= is(words.castle);
        known |= is(words.passed_over);
    }
    (known || found != Word::default()).then_some(found)
}

/// Castling and its side, and nothing else.
fn called_castling(words: &[Word]) -> Option<Form> {
    let mut named = None;
    for word in words.iter().filter(|word| !word.castle) {
        match (word.side, named) {
            (Some(side), None) => named = Some(side),
            (Some(side), Some(before)) if side == before => {}
            (None, _) if word.part.is_none() => {}
            _ => return None,
        }
    }
    named.map(Form::Castling)
}

/// The piece, the squares, the promotion piece.
fn called_move(parts: &[Part]) -> Option<Form> {
    let (role, parts) = match parts {
        [Part::Piece(role), rest @ ..] => (Some(*role), rest),
        _ => (None, parts),
    };
    let (promotion, parts) = match parts {
        [before @ .., Part::Piece(role)] => (Some(*role), before),
        _ => (None, parts),
    };
    let mut squares = Vec::new();
    let mut rest = parts;
    // The squares from the end: what is left in front of them is a file or a rank alone.
    loop {
        rest = match rest {
            [before @ .., Part::Square(square)] => {
                squares.push(*square);
                before
            }
            [before @ .., Part::File(file), Part::Rank(rank)] => {
                squares.push(Square::from_coords(*file, *rank));
                before
            }
            _ => break,
        };
    }
    let (file, rank, to) = match (squares.as_slice(), rest) {
        ([to], []) => (None, None, *to),
        ([to, from], []) => (Some(from.file()), Some(from.rank()), *to),
        ([to], [Part::File(file)]) => (Some(*file), None, *to),
        ([to], [Part::Rank(rank)]) if role.is_some() => (None, Some(*rank), *to),
        _ => return None,
    };
    Some(Form::Move { role, file, rank, to, promotion })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All words of a language, with what each stands for.
    fn words(speech: Speech) -> Vec<String> {
        let words = speech.vocabulary();
        let lists = words.pieces.iter().chain(&words.files).chain(&words.ranks);
        let lists = lists.chain([&words.castle, &words.short, &words.long, &words.passed_over]);
        lists.flat_map(|list| list.iter().map(|word| plain(word))).collect()
    }

    #[test]
    fn no_word_means_two_things() {
        for word in Speech::ALL.into_iter().flat_map(words) {
            let mut parts = Vec::new();
            for speech in Speech::ALL {
                let words = speech.vocabulary();
                let is = |list: &[&str]| list.iter().any(|known| plain(known) == word);
                let mut found: Vec<String> = Vec::new();
                found.extend(
                    ROLES.iter().zip(words.pieces).filter(|(_, w)| is(w)).map(|(r, _)| format!("{r:?}")),
                );
                found.extend((0..8).filter(|i| is(words.files[*i])).map(|i| format!("file {i}")));
                found.extend((0..8).filter(|i| is(words.ranks[*i])).map(|i| format!("rank {i}")));
                found.extend(is(words.passed_over).then(|| "passed over".to_owned()));
                parts.extend(found);
            }
            parts.sort();
            parts.dedup();
            assert!(parts.len() <= 1, "{word}: {parts:?}");
        }
    }

    #[test]
    fn calls_are_heard_however_they_are_written() {
        let form = |role, from: Option<Square>, to, promotion| {
            let (file, rank) = (from.map(|square| square.file()), from.map(|square| square.rank()));
            Some(Form::Move { role, file, rank, to, promotion })
        };
        let pawn = form(Some(Role::Pawn), Some(Square::E2), Square::E4, None);
        for call in [
            "Bauer Eva zwei Eva vier",
            "bauer eva 2 eva 4",
            "Bauer e2 e4",
            "pawn e two to e four",
            "pion e doi e patru",
            "пішак е два е чотири",
            "Bauer, Eva zwei - Eva vier!",
        ] {
            assert_eq!(hear(call), pawn, "{call}");
        }
        let king = form(Some(Role::King), Some(Square::E1), Square::F5, None);
        for call in
            ["König Eva eins Felix fünf", "Ko\u{308}nig Eva eins Felix fu\u{308}nf", "rege e unu f cinci"]
        {
            assert_eq!(hear(call), king, "{call}");
        }
        assert_eq!(
            hear("Bauer Eva sieben schlägt David acht wird Springer Schach"),
            form(Some(Role::Pawn), Some(Square::E7), Square::D8, Some(Role::Knight))
        );
        assert_eq!(hear("Springer Felix drei"), form(Some(Role::Knight), None, Square::F3, None));
        assert_eq!(hear("Eva zwei Eva vier"), form(None, Some(Square::E2), Square::E4, None));
        for (call, side) in [
            ("Kurze Rochade", CastlingSide::KingSide),
            ("lange rockhade", CastlingSide::QueenSide),
            ("castles queen side", CastlingSide::QueenSide),
            ("rocada mică", CastlingSide::KingSide),
            ("ДОВГА РОКІРОВКА", CastlingSide::QueenSide),
        ] {
            assert_eq!(hear(call), Some(Form::Castling(side)), "{call}");
        }
        for call in [
            "",
            "Rochade",
            "Bauer",
            "Bauer Eva",
            "Bauer Eva zwei Eva vier Eva fuenf",
            "Kurze lange Rochade",
            "xyz",
        ] {
            assert_eq!(hear(call), None, "{call}");
        }
    }
}
