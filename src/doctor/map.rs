//! Which contact is which square: what a walk found, what it means, and the form in which it is kept.
//!
//! A contact has a row and a column, each 0 to 7. A source names it by the square that it would be on a board
//! that is wired straight: row 0 is the first rank, column 0 the a-file.

use std::fmt::Write as _;

use shakmaty::{File, Rank, Square};

use super::shape::Shape;

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

#[cfg(test)]
mod tests;
