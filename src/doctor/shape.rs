//! How a board is wired, where that can be said in a few words.

use std::fmt::Write as _;

use shakmaty::Square;

/// How a board of 64 known contacts is wired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Every contact is the square that its row and column say.
    Straight,
    /// Turned or mirrored as a whole; the words say how.
    Turned(&'static str),
    /// Whole rows or columns are exchanged, on a board that is turned as the words say, if at all: the file that
    /// each column is, and the rank that each row is.
    Lines {
        /// Rows and columns are exchanged with each other as well.
        transposed: bool,
        /// For each column 0 to 7 the file (or, transposed, the rank), 0 to 7.
        columns: [u8; 8],
        /// For each row 0 to 7 the rank (or, transposed, the file), 0 to 7.
        rows: [u8; 8],
    },
    /// Single contacts are exchanged: those that are not where the nearest plain wiring has them.
    Single(Vec<(Square, Square)>),
}

/// The eight ways to lay a square board.
pub(super) type Turn = (&'static str, fn(Square) -> Square);
pub(super) const TURNS: [Turn; 8] = [
    ("straight", |square| square),
    ("turned by 180 degrees", Square::rotate_180),
    ("turned by 90 degrees", Square::rotate_90),
    ("turned by 270 degrees", Square::rotate_270),
    ("mirrored, the a-file at the right", Square::flip_horizontal),
    ("mirrored, the first rank at the top", Square::flip_vertical),
    ("with ranks and files exchanged", Square::flip_diagonal),
    ("with ranks and files exchanged and turned", Square::flip_anti_diagonal),
];

impl Shape {
    /// The shape of 64 pairs of square and contact.
    pub(super) fn of(pairs: &[(Square, Square)]) -> Shape {
        for (words, turn) in TURNS {
            if pairs.iter().all(|(square, contact)| turn(*contact) == *square) {
                return if words == "straight" { Shape::Straight } else { Shape::Turned(words) };
            }
        }
        if let Some(lines) = Shape::lines(pairs, false).or_else(|| Shape::lines(pairs, true)) {
            return lines;
        }
        let wrong = |turn: fn(Square) -> Square| {
            pairs.iter().filter(move |(square, contact)| turn(*contact) != *square).copied()
        };
        let nearest = TURNS.into_iter().min_by_key(|(_, turn)| wrong(*turn).count());
        Shape::Single(nearest.map(|(_, turn)| wrong(turn).collect()).unwrap_or_default())
    }

    fn lines(pairs: &[(Square, Square)], transposed: bool) -> Option<Shape> {
        let (mut columns, mut rows) = ([None; 8], [None; 8]);
        for (square, contact) in pairs {
            let (file, rank) =
                (u8::try_from(u32::from(square.file())).ok()?, u8::try_from(u32::from(square.rank())).ok()?);
            let (column, row) = if transposed { (rank, file) } else { (file, rank) };
            for (slot, index, line) in [
                (&mut columns, usize::from(contact.file()), column),
                (&mut rows, usize::from(contact.rank()), row),
            ] {
                let known = slot.get_mut(index)?.get_or_insert(line);
                if *known != line {
                    return None;
                }
            }
        }
        let whole = |lines: [Option<u8>; 8]| {
            let mut out = [0; 8];
            for (slot, line) in out.iter_mut().zip(lines) {
                *slot = line?;
            }
            Some(out)
        };
        Some(Shape::Lines { transposed, columns: whole(columns)?, rows: whole(rows)? })
    }

    /// What it is and what to do, on one line.
    pub fn words(&self) -> String {
        match self {
            Shape::Straight => "every contact is the square that it should be; no map is needed".to_owned(),
            Shape::Turned("turned by 180 degrees") => {
                "the board is turned by 180 degrees; the game is followed all the same (orientation = \"auto\"), \
                 and no map is needed"
                    .to_owned()
            }
            Shape::Turned(how) => format!("the board is {how}: turn it, or use the map"),
            Shape::Lines { transposed, columns, rows } => {
                let mut text = String::new();
                let mut names: [fn(u8) -> String; 2] = [file_name, rank_name];
                if *transposed {
                    names.reverse();
                }
                let [column_name, row_name] = names;
                let list = |lines: &[u8; 8], name: fn(u8) -> String| {
                    lines.iter().map(|line| name(*line)).collect::<Vec<_>>().join(" ")
                };
                if *transposed {
                    text.push_str("ranks and files are exchanged; ");
                }
                let straight = [0, 1, 2, 3, 4, 5, 6, 7];
                if *columns != straight {
                    let _ = write!(text, "columns 0 to 7 are {}; ", list(columns, column_name));
                }
                if *rows != straight {
                    let _ = write!(text, "rows 0 to 7 are {}; ", list(rows, row_name));
                }
                text.push_str("wires are exchanged: put the pins into that order, or use the map");
                text
            }
            Shape::Single(wrong) => {
                let words: Vec<String> =
                    wrong.iter().take(12).map(|(square, contact)| format!("{square} is wired as {contact}")).collect();
                let more = if wrong.len() > 12 { format!(" and {} more", wrong.len() - 12) } else { String::new() };
                format!("{}{more}: use the map, or change the wires", words.join(", "))
            }
        }
    }
}

fn file_name(file: u8) -> String {
    char::from(b'a'.saturating_add(file)).to_string()
}

fn rank_name(rank: u8) -> String {
    rank.saturating_add(1).to_string()
}
