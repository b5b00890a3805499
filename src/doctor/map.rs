//! Which contact is which square: what a walk found, what it means, and the form in which it is kept.
//!
//! A contact has a row and a column, each 0 to 7. A source names it by the square that it would be on a board
//! that is wired straight: row 0 is the first rank, column 0 the a-file.

use std::fmt::Write as _;

use shakmaty::{File, Rank, Square};

/// A contact that is no square yet.
const NOBODY: &str = "--";

/// What is known of one square.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Finding {
    /// It was not walked yet.
    #[default]
    Open,
    /// This contact, and no other, sees the man.
    Contact(Square),
    /// Several contacts see the man.
    Several(Vec<Square>),
    /// No contact sees it.
    Dead,
}

/// What a walk found of the 64 squares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// By square, a1 to h8.
    findings: Vec<Finding>,
}

impl Default for Map {
    fn default() -> Map {
        Map { findings: vec![Finding::Open; 64] }
    }
}

/// Why a file of a walk cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MapError(String);

impl Map {
    /// What is known of a square.
    pub fn finding(&self, square: Square) -> &Finding {
        const OPEN: &Finding = &Finding::Open;
        self.findings.get(usize::from(square)).unwrap_or(OPEN)
    }

    /// Notes what was found.
    pub fn set(&mut self, square: Square, finding: Finding) {
        if let Some(slot) = self.findings.get_mut(usize::from(square)) {
            *slot = finding;
        }
    }

    /// The squares that were not walked yet.
    pub fn open(&self) -> impl Iterator<Item = Square> + '_ {
        Square::ALL.into_iter().filter(|square| *self.finding(*square) == Finding::Open)
    }

    /// The squares that no contact sees.
    pub fn dead(&self) -> Vec<Square> {
        Square::ALL.into_iter().filter(|square| *self.finding(*square) == Finding::Dead).collect()
    }

    /// The square of a contact, where one square alone claims it. A square that several contacts saw gets the
    /// one that no other square has.
    pub fn square_of(&self, contact: Square) -> Option<Square> {
        self.assigned().into_iter().find(|(_, given)| *given == contact).map(|(square, _)| square)
    }

    /// Squares with their contacts.
    fn assigned(&self) -> Vec<(Square, Square)> {
        let contact = |square: &Square| match self.finding(*square) {
            Finding::Contact(contact) => Some(*contact),
            _ => None,
        };
        let mut pairs: Vec<(Square, Square)> =
            Square::ALL.into_iter().filter_map(|square| Some((square, contact(&square)?))).collect();
        let claims = pairs.clone();
        let claimed = |contact: Square| claims.iter().filter(|(_, other)| *other == contact).count();
        pairs.retain(|(_, contact)| claimed(*contact) == 1);
        let free = |square: Square| {
            let Finding::Several(contacts) = self.finding(square) else { return None };
            let mut free = contacts.iter().filter(|contact| claimed(**contact) == 0);
            free.next().copied().filter(|_| free.next().is_none()).map(|contact| (square, contact))
        };
        let found: Vec<(Square, Square)> = Square::ALL.into_iter().filter_map(free).collect();
        let alone = |contact: Square| found.iter().filter(|(_, other)| *other == contact).count() == 1;
        pairs.extend(found.iter().filter(|(_, contact)| alone(*contact)));
        pairs
    }

    /// Contacts that two squares or more claim, with these squares.
    pub fn doubled(&self) -> Vec<(Square, Vec<Square>)> {
        Square::ALL
            .into_iter()
            .filter_map(|contact| {
                let claim = |square: &Square| *self.finding(*square) == Finding::Contact(contact);
                let squares: Vec<Square> = Square::ALL.into_iter().filter(claim).collect();
                (squares.len() > 1).then_some((contact, squares))
            })
            .collect()
    }

    /// How the board is wired, where that can be said in a few words; nothing before 64 squares are known.
    pub fn shape(&self) -> Option<Shape> {
        let pairs = self.assigned();
        if pairs.len() < 64 {
            return None;
        }
        Some(Shape::of(&pairs))
    }

    /// What was found, one remark a line.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let names =
            |squares: &[Square]| squares.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let open = self.open().count();
        if open > 0 {
            remarks.push(format!("{open} squares were not walked"));
        }
        let dead = self.dead();
        if !dead.is_empty() {
            remarks.push(format!(
                "dead: {}; no contact sees a man there: see to the contact, its diode and its solder joints",
                names(&dead)
            ));
        }
        for square in Square::ALL {
            if let Finding::Several(contacts) = self.finding(square) {
                remarks.push(format!(
                    "{square} closes several contacts ({}): a magnet that is too strong, contacts that stand too \
                     near, or a shorted diode",
                    names(contacts)
                ));
            }
        }
        for (contact, squares) in self.doubled() {
            remarks.push(format!(
                "the contact of {contact} sees {}: two squares are joined, or the man was put on a wrong square",
                names(&squares)
            ));
        }
        if let Some(shape) = self.shape() {
            remarks.push(shape.words());
        }
        remarks
    }

    /// The map in the form of the configuration: a text for each row of the sensor from row 0, in it the
    /// squares of the columns from column 0. A contact that is no square yet is written `--`.
    pub fn to_toml(&self) -> String {
        let assigned = self.assigned();
        let mut text = String::from("map = [\n");
        for rank in Rank::ALL {
            let row: Vec<String> = File::ALL
                .into_iter()
                .map(|file| {
                    let contact = Square::from_coords(file, rank);
                    let square = assigned.iter().find(|(_, given)| *given == contact);
                    square.map_or_else(|| NOBODY.to_owned(), |(square, _)| square.to_string())
                })
                .collect();
            let _ = writeln!(text, "    \"{}\",", row.join(" "));
        }
        text.push_str("]\n");
        text
    }

    /// True when every contact is a square: the configuration takes the map.
    pub fn is_whole(&self) -> bool {
        self.assigned().len() == 64
    }

    /// The file of a walk: the map, and what else has to be kept to go on with it.
    pub fn to_file(&self, title: &str) -> String {
        let mut text = String::new();
        for line in title.lines() {
            let _ = writeln!(text, "# {line}");
        }
        text.push('\n');
        text.push_str(&self.to_toml());
        if !self.is_whole() {
            text.push_str("\n# For the walk, to go on; the configuration does not take these.\n[walk]\n");
            let list = |squares: &[Square]| {
                squares.iter().map(|square| format!("\"{square}\"")).collect::<Vec<_>>().join(", ")
            };
            let _ = writeln!(text, "dead = [{}]", list(&self.dead()));
            text.push_str("several = [\n");
            for square in Square::ALL {
                match self.finding(square) {
                    Finding::Several(contacts) => {
                        let _ = writeln!(text, "    [\"{square}\", {}],", list(contacts));
                    }
                    Finding::Contact(contact) if self.square_of(*contact) != Some(square) => {
                        let _ = writeln!(text, "    [\"{square}\", \"{contact}\"],");
                    }
                    _ => {}
                }
            }
            text.push_str("]\n");
        }
        text
    }

    /// Reads the file of a walk.
    ///
    /// # Errors
    /// It is not TOML, or not of the form that [`Map::to_file`] writes.
    pub fn from_file(text: &str) -> Result<Map, MapError> {
        let wrong = |what: &str| MapError(format!("this is no file of a walk: {what}"));
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| wrong(error.message()))?;
        let rows = table.get("map").and_then(toml::Value::as_array).ok_or_else(|| wrong("map is missing"))?;
        let square = |value: &toml::Value| value.as_str().and_then(|text| text.parse::<Square>().ok());
        let mut map = Map::default();
        if rows.len() != 8 {
            return Err(wrong("map has eight rows"));
        }
        for (row, rank) in rows.iter().zip(Rank::ALL) {
            let entries: Vec<&str> = row.as_str().unwrap_or_default().split_whitespace().collect();
            if entries.len() != 8 {
                return Err(wrong("a row of the map is a text of eight squares"));
            }
            for (entry, file) in entries.into_iter().zip(File::ALL).filter(|(entry, _)| *entry != NOBODY) {
                let square: Square = entry.parse().map_err(|_| wrong(&format!("{entry:?} is no square")))?;
                map.set(square, Finding::Contact(Square::from_coords(file, rank)));
            }
        }
        let walk = table.get("walk").and_then(toml::Value::as_table);
        let list = |key: &str| walk.and_then(|walk| walk.get(key)).and_then(toml::Value::as_array);
        for dead in list("dead").into_iter().flatten() {
            map.set(square(dead).ok_or_else(|| wrong("dead lists squares"))?, Finding::Dead);
        }
        for entry in list("several").into_iter().flatten() {
            let squares: Option<Vec<Square>> =
                entry.as_array().and_then(|list| list.iter().map(square).collect());
            match squares.as_deref() {
                Some([target, contact]) => map.set(*target, Finding::Contact(*contact)),
                Some([target, contacts @ ..]) if contacts.len() > 1 => {
                    map.set(*target, Finding::Several(contacts.to_vec()));
                }
                _ => return Err(wrong("several lists a square and its contacts")),
            }
        }
        Ok(map)
    }
}

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
type Turn = (&'static str, fn(Square) -> Square);
const TURNS: [Turn; 8] = [
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
    fn of(pairs: &[(Square, Square)]) -> Shape {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn walked(turn: impl Fn(Square) -> Square) -> Map {
        let mut map = Map::default();
        for square in Square::ALL {
            map.set(square, Finding::Contact(turn(square)));
        }
        map
    }

    #[test]
    fn a_straight_board_needs_no_map() {
        let map = walked(|square| square);
        assert_eq!(map.shape(), Some(Shape::Straight));
        assert!(map.is_whole());
        let text = map.to_toml();
        assert!(text.starts_with("map = [\n    \"a1 b1 c1 d1 e1 f1 g1 h1\",\n"), "{text}");
        assert_eq!(text.lines().count(), 10);
    }

    #[test]
    fn boards_that_lie_another_way_are_named() {
        for (words, turn) in &TURNS[1..] {
            let mut map = Map::default();
            for contact in Square::ALL {
                map.set(turn(contact), Finding::Contact(contact));
            }
            assert_eq!(map.shape(), Some(Shape::Turned(words)));
        }
    }

    #[test]
    fn exchanged_wires_are_named() {
        let swap = |square: Square| {
            let file = match square.file() {
                File::C => File::D,
                File::D => File::C,
                file => file,
            };
            Square::from_coords(file, square.rank())
        };
        let words = walked(swap).shape().unwrap().words();
        assert!(words.starts_with("columns 0 to 7 are a b d c e f g h; wires are exchanged"), "{words}");
        let words = walked(|square| swap(square.flip_diagonal())).shape().unwrap().words();
        assert!(
            words.starts_with("ranks and files are exchanged; columns 0 to 7 are 1 2 4 3 5 6 7 8; wires"),
            "{words}"
        );
        let single = |square: Square| match square {
            Square::E4 => Square::D5,
            Square::D5 => Square::E4,
            other => other,
        };
        let words = walked(single).shape().unwrap().words();
        assert_eq!(words, "e4 is wired as d5, d5 is wired as e4: use the map, or change the wires");
    }

    #[test]
    fn dead_and_doubled_squares_are_told() {
        let mut map = walked(|square| square);
        map.set(Square::E4, Finding::Dead);
        map.set(Square::A2, Finding::Contact(Square::A1));
        map.set(Square::H8, Finding::Several(vec![Square::H8, Square::G8]));
        assert!(!map.is_whole());
        assert_eq!(map.square_of(Square::H8), Some(Square::H8), "the other contact belongs to g8");
        assert_eq!(map.square_of(Square::A1), None, "two squares claim it");
        let remarks = map.remarks().join("\n");
        assert!(
            remarks.contains("dead: e4;") && remarks.contains("the contact of a1 sees a1 a2"),
            "{remarks}"
        );
        assert!(remarks.contains("h8 closes several contacts (h8 g8)"), "{remarks}");
        assert_eq!(Map::from_file(&map.to_file("x")), Ok(map));
    }

    #[test]
    fn other_files_are_refused() {
        for text in [
            "",
            "map = 1",
            "map = [[]]",
            "map = [\"a1\"]",
            "[",
            "map = [\"z9 b1 c1 d1 e1 f1 g1 h1\", \"\", \"\", \"\", \"\", \"\", \"\", \"\"]",
        ] {
            assert!(Map::from_file(text).is_err(), "{text}");
        }
    }

    fn finding() -> impl Strategy<Value = Finding> {
        let square = || (0u32..64).prop_map(Square::new);
        prop_oneof![
            Just(Finding::Open),
            Just(Finding::Dead),
            square().prop_map(Finding::Contact),
            prop::collection::btree_set(0u32..64, 2..4)
                .prop_map(|set| Finding::Several(set.into_iter().map(Square::new).collect())),
        ]
    }

    proptest! {
        /// Whatever was found, the file of a walk gives it back.
        #[test]
        fn what_is_kept_is_read_back(findings in prop::collection::vec(finding(), 64), whole in any::<bool>()) {
            let mut map = Map::default();
            for (square, finding) in Square::ALL.into_iter().zip(findings) {
                map.set(square, finding);
            }
            let map = if whole { walked(Square::flip_diagonal) } else { map };
            prop_assert_eq!(Map::from_file(&map.to_file("board 1\nsecond line")), Ok(map.clone()));
            // No square and no contact is there twice.
            let pairs = map.assigned();
            for (index, (square, contact)) in pairs.iter().enumerate() {
                for (other, second) in &pairs[..index] {
                    prop_assert!(square != other && contact != second);
                }
            }
        }
    }
}
