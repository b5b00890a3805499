//! The reader of score sheets and sealed moves.

use shakmaty::{CastlingSide, Chess, File, Rank, Square};

use super::{
    Form, Language, Reading,
    alphabet::{Alphabet, Case},
    fold::{self, Sign},
    form,
};

/// What a text means in a position, in one language or, without one, in any: then the answer is a single
/// move only when all languages in which the text names a legal move name the same one.
///
/// Read are the short and the long form, UCI, castling in letters, zeros and as a move of the king,
/// figurines, look-alike letters, all kinds of dashes; signs of capture, check, mate, en passant and of a
/// draw offer may be missing or too many. Small letters that can be files are files.
pub fn parse(position: &Chess, text: &str, language: Option<Language>) -> Reading {
    form::reading(position, &forms(text, language))
}

/// All that a text may name.
fn forms(text: &str, language: Option<Language>) -> Vec<Form> {
    let Some(signs) = fold::signs(text) else { return Vec::new() };
    let signs = without_marks(&signs);
    if let Some(side) = castling(signs) {
        return vec![Form::Castling(side)];
    }
    let mut found = Vec::new();
    let languages = language.as_ref().map_or(&Language::ALL[..], std::slice::from_ref);
    for known in languages {
        // On a Cyrillic keyboard a Latin language is meant only where it is named.
        let alphabet = Alphabet { language: *known, cyrillic: language.is_some() || known.is_cyrillic() };
        for form in forms_of(&alphabet, signs) {
            if !found.contains(&form) {
                found.push(form);
            }
        }
    }
    found
}

/// The text without the number of the move before it and without the marks behind it.
fn without_marks(signs: &[Sign]) -> &[Sign] {
    let digits = signs.iter().take_while(|sign| sign.letter.is_ascii_digit()).count();
    let dots = signs.iter().skip(digits).take_while(|sign| sign.letter == '.').count();
    let mut rest = if dots > 0 { signs.get(digits + dots..).unwrap_or(&[]) } else { signs };
    loop {
        rest = match rest {
            [before @ .., last] if "+#=!?.,;x".contains(last.letter) => before,
            [before @ .., e, p] if is_e_p(*e, *p) => before,
            [before @ .., e, dot, p] if dot.letter == '.' && is_e_p(*e, *p) => before,
            _ => return rest,
        };
    }
}

/// The letters of `e.p.`; no move ends with them.
fn is_e_p(e: Sign, p: Sign) -> bool {
    matches!((e.letter, p.letter), ('e' | 'E', 'p' | 'P'))
}

/// Two or three letters O or zeros, with dashes between them or without.
fn castling(signs: &[Sign]) -> Option<CastlingSide> {
    let round = signs.iter().filter(|sign| matches!(sign.letter, 'O' | 'o' | '0')).count();
    let dashes = signs.iter().filter(|sign| sign.letter == '-').count();
    let ends = [signs.first(), signs.last()];
    let bare = ends.into_iter().flatten().all(|sign| sign.letter != '-');
    if round + dashes != signs.len() || !bare || dashes >= round.max(1) {
        return None;
    }
    match round {
        2 => Some(CastlingSide::KingSide),
        3 => Some(CastlingSide::QueenSide),
        _ => None,
    }
}

fn rank_of(sign: Sign) -> Option<Rank> {
    Rank::from_char(sign.letter)
}

/// What the text may name in this language: as the rules write it, else in any case.
fn forms_of(alphabet: &Alphabet, signs: &[Sign]) -> Vec<Form> {
    let exact = forms_in(alphabet, signs, Case::Exact);
    let possible = |forms: &[Form]| forms.iter().copied().filter(Form::is_possible).collect::<Vec<_>>();
    let mut found = possible(&exact);
    if found.is_empty() {
        found = possible(&forms_in(alphabet, signs, Case::relaxed(signs)));
    }
    // A form that no rule allows is still no garbage.
    if found.is_empty() { exact } else { found }
}

fn forms_in(alphabet: &Alphabet, signs: &[Sign], case: Case) -> Vec<Form> {
    let mut found = Vec::new();
    for (role, length) in alphabet.pieces(signs, case) {
        let Some(rest) = signs.get(length..) else { continue };
        let Some(rest) = (if length > 0 { without_separators(rest) } else { Some(rest) }) else {
            continue;
        };
        for (file, rank, rest) in departures(rest, case) {
            // Only a man with a letter is told from another one by its rank alone.
            if role.is_none() && file.is_none() && rank.is_some() {
                continue;
            }
            let [file_sign, rank_sign, tail @ ..] = rest else { continue };
            let (Some(to_file), Some(to_rank)) = (case.file(*file_sign), rank_of(*rank_sign)) else {
                continue;
            };
            let to = Square::from_coords(to_file, to_rank);
            let uci = role.is_none() && signs.len() == 5 && file.is_some() && rank.is_some();
            for promotion in alphabet.promotions(tail, case, uci) {
                let form = Form::Move { role, file, rank, to, promotion };
                if !found.contains(&form) {
                    found.push(form);
                }
            }
        }
    }
    found
}

/// What may be named as the place of departure, and the text behind it.
fn departures(signs: &[Sign], case: Case) -> Vec<(Option<File>, Option<Rank>, &[Sign])> {
    let mut found = vec![(None, None, signs)];
    let [first, behind @ ..] = signs else { return found };
    let (file, rank) = (case.file(*first), rank_of(*first));
    if file.is_some() || rank.is_some() {
        found.extend(without_separators(behind).map(|rest| (file, rank, rest)));
    }
    if let ([second, behind @ ..], true) = (behind, file.is_some())
        && let Some(rank) = rank_of(*second)
    {
        found.extend(without_separators(behind).map(|rest| (file, Some(rank), rest)));
    }
    found
}

/// The text behind a dash or a sign of capture, at most both; nothing when there are more of them.
fn without_separators(signs: &[Sign]) -> Option<&[Sign]> {
    let count = signs.iter().take_while(|sign| matches!(sign.letter, '-' | 'x')).count();
    if count > 2 { None } else { signs.get(count..) }
}

#[cfg(test)]
mod tests {
    use shakmaty::Position as _;

    use super::*;
    use crate::notation::fen;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    /// What is read, in short: the move, the moves with `|` between them, `illegal`, `unreadable`.
    fn read(fen: &str, text: &str, language: Option<Language>) -> String {
        let position = fen::read(fen, None).unwrap();
        let uci = |m: &shakmaty::Move| m.to_uci(position.castles().mode()).to_string();
        match parse(&position, text, language) {
            Reading::Unique(m) => uci(&m),
            Reading::Ambiguous(moves) => moves.iter().map(uci).collect::<Vec<_>>().join("|"),
            Reading::Illegal => "illegal".to_owned(),
            Reading::Unreadable => "unreadable".to_owned(),
        }
    }

    #[track_caller]
    fn all(fen: &str, language: Option<Language>, texts: &[&str], expected: &str) {
        for text in texts {
            assert_eq!(read(fen, text, language), expected, "{text:?} in {language:?}");
        }
    }

    #[test]
    fn signs_may_be_missing_or_too_many() {
        let english = Some(Language::English);
        let texts = [
            "Nf3",
            "nf3",
            "NF3",
            "Ng1f3",
            "Ng1-f3",
            "Ng1–f3",
            "Ng1—f3",
            "Ng1−f3",
            "N-f3",
            "Nxf3",
            "N:f3",
            "Ng1xf3",
            "Ngf3",
            "N1f3",
            "Nf3+",
            "Nf3#",
            "Nf3++",
            "Nf3†",
            "Nf3!?",
            "Nf3 (=)",
            "Nf3=",
            "Nf3 e.p.",
            "Nf3.",
            " N f 3 ",
            "N\u{a0}f3",
            "1.Nf3",
            "1. Nf3",
            "1…Nf3",
            "12...Nf3",
            "g1f3",
            "G1F3",
            "g1-f3",
            "N(g1)f3",
            "♘f3",
            "♞f3",
            "♞\u{fe0e}f3",
            "Ｎｆ３",
            "Nf3x",
        ];
        all(START, english, &texts, "g1f3");
        let texts = [
            "e4", "E4", "e2e4", "e2-e4", "E2-E4", "e2 e4", "1.e4", "е4", "Е4", "♙e4", "♟e2-e4", "Pe4",
            "pe2e4",
        ];
        all(START, english, &texts, "e2e4");
        let taking = "4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1";
        let texts = [
            "exd5",
            "ed5",
            "e:d5",
            "e×d5",
            "e*d5",
            "e4xd5",
            "e4d5",
            "e4-d5",
            "EXD5",
            "exd5 e.p.",
            "exd5 ep+",
        ];
        all(taking, english, &texts, "e4d5");
        let passing = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2";
        let texts = [
            "exd6",
            "ed6",
            "exd6 e.p.",
            "exd6e.p",
            "exd6ep",
            "exd6 (e. p.)",
            "exd6+ e.p.",
            "e5xd6 e.p.+ (=)",
        ];
        all(passing, english, &texts, "e5d6");
        all(taking, english, &["d5"], "illegal");
    }

    #[test]
    fn castling_has_many_signs() {
        let both = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        let short = [
            "O-O", "0-0", "o-o", "OO", "00", "O–O", "0 - 0", "О-О", "0-0+", "O-O#!", "e1g1", "Ke1-g1",
            "Ke1g1", "e1h1",
        ];
        all(both, None, &short, "e1g1");
        let long = ["O-O-O", "0-0-0", "000", "ooo", "O—O—O", "e1c1", "e1a1", "0-0-0 (=)"];
        all(both, None, &long, "e1c1");
        all(both, Some(Language::English), &["Kg1"], "illegal");
        all(START, None, &["O-O", "0-0-0"], "illegal");
        all(START, None, &["0000", "0", "O-", "-O-O", "O--O", "O-O-O-O", "--"], "unreadable");
        // In Chess960 a step of the king is no castling, even to the square where castling would lead him.
        let near = "4k3/8/8/8/8/8/8/5K1R w H - 0 1";
        all(near, None, &["Kg1", "Kf1-g1", "f1g1"], "f1g1");
        all(near, None, &["O-O", "f1h1", "Kf1h1"], "f1h1");
        let far = "4k3/8/8/8/8/8/8/1RK5 w B - 0 1";
        all(far, None, &["0-0-0", "c1b1"], "c1b1");
    }

    #[test]
    fn promotion_pieces_are_never_guessed() {
        let fen = "6k1/3P4/8/8/8/8/8/4K3 w - - 0 1";
        all(
            fen,
            None,
            &["d8Q", "d8=Q", "d8(Q)", "d8/Q", "d8=Q+", "d7d8q", "d7-d8Q", "d8♕", "d8Ф", "d8V+"],
            "d7d8q",
        );
        all(fen, None, &["d8", "d8=", "d7-d8"], "d7d8n|d7d8b|d7d8r|d7d8q");
        all(fen, Some(Language::Romanian), &["d8D+", "d8=D", "d8d", "d7d8D"], "d7d8q");
        all(fen, Some(Language::Romanian), &["d8N", "d8n", "d7-d8n"], "d7d8b");
        all(fen, None, &["d8N"], "d7d8n|d7d8b");
        // UCI is the same in every language.
        all(fen, None, &["d7d8n"], "d7d8n");
        all(fen, Some(Language::Romanian), &["d7d8n"], "d7d8n");
        all(fen, Some(Language::English), &["d8K", "Ke2Q"], "illegal");
        all(fen, Some(Language::English), &["d8D", "d8QQ", "d8=Q=R"], "unreadable");
    }

    #[test]
    fn departures_decide_and_are_held_to() {
        let three = "7k/8/8/8/8/8/8/1N3NK1 w - - 0 1";
        let english = Some(Language::English);
        all(three, english, &["Nd2"], "b1d2|f1d2");
        all(three, english, &["Nbd2", "Nb-d2", "Nb1d2"], "b1d2");
        all(three, english, &["Nf1d2", "Nfd2"], "f1d2");
        all(three, english, &["N1d2"], "b1d2|f1d2");
        all(three, english, &["Ncd2", "N2d2", "Bd2", "Nb1e5"], "illegal");
        all(
            three,
            english,
            &["bNd2", "N12d2", "Nb-1d2", "Nbd", "d", "N", "", "Nd22", "N---d2", "-d2"],
            "unreadable",
        );
        all(three, english, &["i4", "Nd9", "Nd0", "Zd2", "Nd2Nd2", "d2d4 d7d5", "e4 e5 e6"], "unreadable");
    }

    #[test]
    fn small_letters_that_can_be_files_are_files() {
        let fen = "4k3/8/8/8/8/2p5/1P1B4/4K3 w - - 0 1";
        let english = Some(Language::English);
        all(fen, english, &["bxc3", "bc3"], "b2c3");
        all(fen, english, &["Bxc3", "Bc3"], "d2c3");
        all(fen, english, &["BXC3"], "b2c3|d2c3");
        // A pawn cannot take three files away: it is the bishop.
        all(fen, english, &["bg5"], "d2g5");
        let no_pawn = "4k3/8/8/8/8/2p5/3B4/4K3 w - - 0 1";
        all(no_pawn, english, &["bxc3"], "illegal");
        // A capital among small letters is a piece, if not one of this language.
        let pawns = "4k3/8/8/8/2p5/3P4/8/2BQK3 w - - 0 1";
        all(pawns, english, &["dxc4", "dc4", "DXC4"], "d3c4");
        all(pawns, english, &["Dxc4", "Dc4", "dC4"], "unreadable");
        all(pawns, None, &["Dg4"], "d1g4");
        // A file before a step ahead is not written; dd4 is the queen.
        let queen = "3k4/8/8/8/8/8/3PQ3/4K3 w - - 0 1";
        all(queen, Some(Language::German), &["De4"], "e2e4");
        all(queen, Some(Language::German), &["dd3"], "e2d3");
        all(queen, Some(Language::German), &["d4"], "d2d4");
    }

    #[test]
    fn languages_are_never_guessed() {
        // R is the king in Romanian, the rook in English.
        let fen = "4k3/8/8/8/8/8/8/R3K3 w - - 0 1";
        all(fen, None, &["Rd1"], "a1d1|e1d1");
        all(fen, Some(Language::English), &["Rd1"], "a1d1");
        all(fen, Some(Language::Spanish), &["Rd1"], "e1d1");
        all(fen, None, &["Ra5"], "a1a5");
        // Languages that agree.
        let knight = "4k3/8/8/8/8/8/8/2B1K1N1 w - - 0 1";
        all(knight, None, &["Hf3", "Sf3", "Pf3", "Cf3"], "g1f3");
        all(knight, None, &["Ce3"], "c1e3");
        // C is the knight in Romanian, and looks like the Russian bishop.
        let both = "4k3/8/8/8/8/8/8/2B1KN2 w - - 0 1";
        all(both, None, &["Ce3"], "c1e3|f1e3");
        all(both, None, &["Сe3"], "c1e3");
        all(both, Some(Language::Romanian), &["Ce3", "Сe3"], "f1e3");
        all(both, Some(Language::Russian), &["Ce3", "Сe3", "сe3"], "c1e3");
        all(both, Some(Language::Figurine), &["Ce3"], "unreadable");
    }

    #[test]
    fn russian_letters_may_be_latin_look_alikes() {
        let russian = Some(Language::Russian);
        all("4k3/8/8/8/8/8/8/4K1N1 w - - 0 1", russian, &["Кf3", "Kf3", "кf3", "КF3"], "g1f3");
        all(
            "4k3/8/8/8/8/8/8/4K3 w - - 0 1",
            russian,
            &["Крe2", "Kpe2", "Кpе2", "крe2", "КРЕ2", "Кр:е2"],
            "e1e2",
        );
        all("4k3/8/8/8/8/8/8/4K3 w - - 0 1", None, &["Крe2", "Kpe2"], "e1e2");
        all("4k3/8/8/8/8/8/8/3QK3 w - - 0 1", russian, &["Фd4", "фd4", "Фd1-d4"], "d1d4");
        all("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", Some(Language::Ukrainian), &["Тa5", "Ta5", "тa5"], "a1a5");
    }

    #[test]
    fn a_long_text_is_no_move() {
        assert_eq!(read(START, &"e4".repeat(1000), None), "unreadable");
        assert_eq!(read(START, &format!("{}e4", " ".repeat(1000)), None), "e2e4");
    }
}
