//! What the squares read, compared with what stands on the board before a round: the men of the start
//! position, or nothing.

use shakmaty::{Bitboard, Board, Color, File, Rank, Square};

use super::report::{Check, Topic};

/// With more differences than this, the board shows neither the start nor nothing.
const FEW: usize = 10;

/// What a board was compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The start position.
    Start,
    /// The start position on a board that lies on its side.
    Sideways,
    /// The empty board.
    Empty,
    /// Something else stands there.
    Neither,
}

/// How the squares differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What they were compared with.
    pub against: Against,
    /// They read empty and should not.
    pub missing: Bitboard,
    /// They read occupied and should not.
    pub extra: Bitboard,
}

/// Compares what the squares read with `start` and with the empty board, whichever is nearer.
pub fn compare(occupied: Bitboard, start: Bitboard) -> Difference {
    let candidates =
        [(Against::Start, start), (Against::Sideways, start.rotate_90()), (Against::Empty, Bitboard::EMPTY)];
    let nearest = candidates
        .into_iter()
        .min_by_key(|(_, expected)| (*expected ^ occupied).count())
        .filter(|(_, expected)| (*expected ^ occupied).count() <= FEW);
    match nearest {
        Some((against, expected)) => {
            Difference { against, missing: expected & !occupied, extra: occupied & !expected }
        }
        None => Difference { against: Against::Neither, missing: Bitboard::EMPTY, extra: Bitboard::EMPTY },
    }
}

/// The names of squares, in the order a1, b1, ..., h8.
pub fn names(squares: Bitboard) -> Vec<String> {
    squares.into_iter().map(|square| square.to_string()).collect()
}

fn list(squares: Bitboard) -> String {
    names(squares).join(" ")
}

/// The ranks and files of `squares` that are in there whole, as words.
fn lines(squares: Bitboard) -> Option<String> {
    let ranks = Rank::ALL.into_iter().filter(|rank| (Bitboard::from(*rank) & !squares).is_empty());
    let files = File::ALL.into_iter().filter(|file| (Bitboard::from(*file) & !squares).is_empty());
    let words: Vec<String> = ranks
        .map(|rank| format!("the whole rank {}", rank.char()))
        .chain(files.map(|file| format!("the whole {}-file", file.char())))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The ranks and files of which no man is read at all, where men should stand: the wire of that line is
/// loose.
fn loose_lines(missing: Bitboard, start: Bitboard) -> Option<String> {
    let whole = |line: Bitboard| !(line & start).is_empty() && (line & start & !missing).is_empty();
    let ranks = Rank::ALL.into_iter().filter(|rank| whole(Bitboard::from(*rank)));
    let files = File::ALL.into_iter().filter(|file| whole(Bitboard::from(*file)));
    let words: Vec<String> = ranks
        .map(|rank| format!("rank {}", rank.char()))
        .chain(files.map(|file| format!("the {}-file", file.char())))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The check of the squares. `start` is the start position; `pieces` is what an identity board reads.
pub fn check(occupied: Bitboard, pieces: Option<&Board>, start: &Board) -> Check {
    let filled = occupied.count();
    let difference = compare(occupied, start.occupied());
    let exact = difference.missing.is_empty() && difference.extra.is_empty();
    match difference.against {
        Against::Start if exact => match pieces.map(|pieces| misread(pieces, start)) {
            Some(wrong) if !wrong.is_empty() => wrong_men(pieces, start, wrong),
            Some(_) => Check::ok(Topic::Squares, format!("{filled} men, each on its square")),
            None => Check::ok(Topic::Squares, format!("{filled} squares occupied, as at the start of the game")),
        },
        Against::Empty if exact => Check::ok(
            Topic::Squares,
            "the board is empty and every square says so; set the men up to see that every square closes",
        ),
        Against::Sideways if exact => Check::warning(
            Topic::Squares,
            "the men stand as at the start on a board that lies on its side; the game is followed all the same",
        )
        .remedy("turn the board so that White sits at its first rank, or let the walk write a map")
        .command("touchmoved doctor --walk"),
        Against::Neither => Check::warning(
            Topic::Squares,
            format!(
                "{filled} squares are occupied, which is neither the start position nor an empty board; \
                 no square can be judged"
            ),
        )
        .remedy("set up the men or clear the board, and run this again"),
        against => faulty(against, difference, start),
    }
}

fn faulty(against: Against, difference: Difference, start: &Board) -> Check {
    let Difference { missing, extra, .. } = difference;
    let mut parts = Vec::new();
    let loose = (against == Against::Start).then(|| loose_lines(missing, start.occupied())).flatten();
    match &loose {
        Some(loose) => parts.push(format!("nothing of {loose} is read ({})", list(missing))),
        None if !missing.is_empty() => parts.push(format!("dead, or without a man: {}", list(missing))),
        None => {}
    }
    if let Some(lines) = lines(extra) {
        parts.push(format!("{lines} reads occupied ({})", list(extra)));
    } else if !extra.is_empty() {
        parts.push(format!("stuck, or a man too many: {}", list(extra)));
    }
    let than = if against == Against::Empty { "an empty board" } else { "the start position" };
    let remedy = match (&loose, missing.is_empty()) {
        (Some(_), _) => "see to the wire and the pin of that line",
        (None, false) => {
            "put these men in the middle of their squares; what stays empty is dead, the walk tells"
        }
        (None, true) => {
            "take away what is there; what stays occupied is stuck (a magnet, a diode, a contact)"
        }
    };
    Check::failed(Topic::Squares, format!("compared with {than}: {}", parts.join("; ")))
        .remedy(remedy)
        .command("touchmoved doctor --walk")
}

fn misread(pieces: &Board, start: &Board) -> Bitboard {
    Square::ALL.into_iter().filter(|square| pieces.piece_at(*square) != start.piece_at(*square)).collect()
}

fn wrong_men(pieces: Option<&Board>, start: &Board, wrong: Bitboard) -> Check {
    let man = |board: Option<&Board>, square| {
        board
            .and_then(|board| board.piece_at(square))
            .map_or("nobody".to_owned(), |piece| piece.char().to_string())
    };
    let words: Vec<String> = wrong
        .into_iter()
        .map(|square| format!("{square} reads {} for {}", man(pieces, square), man(Some(start), square)))
        .collect();
    let colours = start.by_color(Color::White).rotate_180();
    let turned = pieces.is_some_and(|pieces| pieces.by_color(Color::White) == colours);
    let check = Check::failed(Topic::Squares, format!("men are not where they belong: {}", words.join(", ")));
    if turned {
        check.remedy("White and Black are exchanged: turn the board, or set board orientation to \"auto\"")
    } else {
        check.remedy(
            "set these men up as the game starts; a man that is read wrongly in its place has a bad coil",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::Verdict;
    use super::*;
    use proptest::prelude::*;

    fn start() -> Board {
        Board::default()
    }

    fn line(occupied: Bitboard) -> String {
        check(occupied, None, &start()).line()
    }

    #[test]
    fn the_start_the_empty_board_and_a_board_on_its_side() {
        let men = start().occupied();
        assert_eq!(check(men, None, &start()).verdict, Verdict::Ok);
        assert_eq!(check(Bitboard::EMPTY, None, &start()).verdict, Verdict::Ok);
        assert_eq!(check(men.rotate_90(), None, &start()).verdict, Verdict::Warning);
        assert_eq!(check(Bitboard::FULL, None, &start()).verdict, Verdict::Warning);
    }

    #[test]
    fn dead_and_stuck_squares_are_named() {
        let mut occupied = start().occupied();
        occupied.toggle(Square::G1);
        occupied.toggle(Square::D5);
        let line = line(occupied);
        assert!(line.starts_with("failed   squares: compared with the start position: "), "{line}");
        assert!(line.contains("dead, or without a man: g1; stuck, or a man too many: d5"), "{line}");
        let line = self::line(Bitboard::from_square(Square::C3));
        assert!(line.contains("compared with an empty board: stuck, or a man too many: c3"), "{line}");
    }

    #[test]
    fn a_loose_wire_is_told_as_one() {
        let men = start().occupied();
        assert!(line(men & !Bitboard::from(Rank::Second)).contains("nothing of rank 2 is read"));
        let line = line(men & !Bitboard::from(File::C));
        assert!(line.contains("nothing of the c-file is read (c1 c2 c7 c8)"), "{line}");
        assert!(self::line(Bitboard::from(Rank::Fourth)).contains("the whole rank 4 reads occupied"));
    }

    #[test]
    fn identity_boards_tell_who_is_wrong() {
        let mut pieces = start();
        let queen = pieces.remove_piece_at(Square::D1).unwrap();
        let king = pieces.remove_piece_at(Square::E1).unwrap();
        pieces.set_piece_at(Square::E1, queen);
        pieces.set_piece_at(Square::D1, king);
        let check = check(pieces.occupied(), Some(&pieces), &start());
        assert!(check.what.contains("d1 reads K for Q, e1 reads Q for K"), "{}", check.what);
        let mut turned = start();
        turned.rotate_180();
        let line = super::check(turned.occupied(), Some(&turned), &start()).line();
        assert!(line.contains("White and Black are exchanged"), "{line}");
    }

    proptest! {
        /// What is named are exactly the squares that differ, and few of them.
        #[test]
        fn the_differences_are_those_of_the_nearest_picture(bits in any::<u64>(), few in prop::collection::vec(0u32..64, 0..6)) {
            let start = start().occupied();
            for occupied in [Bitboard(bits), few.iter().fold(start, |mut all, square| { all.toggle(Square::new(*square)); all })] {
                let found = compare(occupied, start);
                prop_assert!((found.missing | found.extra).count() <= FEW);
                let expected = match found.against {
                    Against::Start => start,
                    Against::Sideways => start.rotate_90(),
                    Against::Empty => Bitboard::EMPTY,
                    Against::Neither => { prop_assert!((occupied ^ start).count() > FEW); continue }
                };
                prop_assert_eq!(expected ^ occupied, found.missing | found.extra);
                prop_assert!((found.missing & found.extra).is_empty());
            }
        }
    }
}
