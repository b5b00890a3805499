//! What the self-test says.

use std::fmt;

use shakmaty::Bitboard;

/// The likely cause of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Current flows backwards through the contacts of several columns.
    NoDiodes,
    /// The men stand as in the initial position turned by 90 degrees.
    Turned,
    /// Nothing reads closed at all.
    Silent,
    /// Several columns read closed while no row is driven, as if a row with men were.
    RowStuck,
    /// This column reads closed while no row is driven.
    ColumnStuck,
    /// Nothing in this row ever reads closed.
    RowBroken,
    /// Nothing in this column ever reads closed.
    ColumnBroken,
    /// The columns have not fallen when the next row is read.
    SettleTooShort,
    /// The diode of one of these squares conducts both ways.
    DiodeShorted,
    /// A man stands there, and the contact reads open.
    NeverCloses,
    /// No man stands there, and the contact reads closed.
    NeverOpens,
    /// It reads now open, now closed, while nobody moves anything.
    Unstable,
}

impl Cause {
    /// A short name without spaces, for records and machines.
    pub const fn code(self) -> &'static str {
        match self {
            Cause::NoDiodes => "no-diodes",
            Cause::Turned => "turned",
            Cause::Silent => "silent",
            Cause::RowStuck => "row-stuck",
            Cause::ColumnStuck => "column-stuck",
            Cause::RowBroken => "row-broken",
            Cause::ColumnBroken => "column-broken",
            Cause::SettleTooShort => "settle-too-short",
            Cause::DiodeShorted => "diode-shorted",
            Cause::NeverCloses => "never-closes",
            Cause::NeverOpens => "never-opens",
            Cause::Unstable => "unstable",
        }
    }

    /// What is wrong, most likely.
    pub const fn likely(self) -> &'static str {
        match self {
            Cause::NoDiodes => {
                "the matrix has no diodes, or they are the wrong way round for `active`: current flows back \
                 through other contacts, and no program can tell which square is occupied"
            }
            Cause::Turned => "the rows of the matrix are files, or the board lies across",
            Cause::Silent => "no row reaches the columns: a cable is out, or the pins are others",
            Cause::RowStuck => {
                "the columns of a row with men are at the level of a closed contact all the time: that row is shorted \
                 to a supply, or `active` or the resistors at the columns are the other way round"
            }
            Cause::ColumnStuck => {
                "the column is at the level of a closed contact all the time: shorted to a supply or a row, \
                 pulled the wrong way, or another pin"
            }
            Cause::RowBroken => "the wire of the row is broken, or its pin is another one",
            Cause::ColumnBroken => "the wire of the column is broken, or its pin is another one",
            Cause::SettleTooShort => "the columns fall too slowly for the settle time",
            Cause::DiodeShorted => "the diode of the square is shorted, or bridged by solder",
            Cause::NeverCloses => {
                "no man stands there, its magnet is too weak or off the centre, or the contact or the diode is \
                 open"
            }
            Cause::NeverOpens => {
                "the contact is stuck or bridged, or a magnet beside it reaches it: then it opens when that man is \
                 lifted"
            }
            Cause::Unstable => {
                "a man at the edge of its contact, a loose wire, or a column between the levels"
            }
        }
    }

    /// What to do.
    pub const fn remedy(self) -> &'static str {
        match self {
            Cause::NoDiodes => "solder a diode to each contact, or turn them round, or change `active`",
            Cause::Turned => "set `rows-are = \"files\"`, or turn the board",
            Cause::Silent => "check the plugs, `rows` and `columns`",
            Cause::RowStuck => {
                "measure each row against the supply while the daemon is stopped, and check `active` and `pull`"
            }
            Cause::ColumnStuck => "check the column's wire and pin, and `active`",
            Cause::RowBroken => "check the wire from the pin of the row to its first contact, and `rows`",
            Cause::ColumnBroken => {
                "check the wire from the pin of the column to its first contact, and `columns`"
            }
            Cause::SettleTooShort => {
                "raise `settle-us`, or add a resistor of 10 kOhm from each column to its resting level"
            }
            Cause::DiodeShorted => "measure the diode in both directions and replace it",
            Cause::NeverCloses => {
                "put a man with a good magnet on the middle of the square; if it stays open, measure contact and diode"
            }
            Cause::NeverOpens => "take all men off; if it stays closed, replace the contact",
            Cause::Unstable => {
                "put the man on the middle of its square, then check the wires of its row and column"
            }
        }
    }
}

/// Something that the self-test found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The likely cause.
    pub cause: Cause,
    /// The squares that it shows on, or of which one has the fault.
    pub squares: Bitboard,
    /// The row, 0 to 7, where it is about one row.
    pub row: Option<usize>,
    /// The column, 0 to 7, where it is about one column.
    pub column: Option<usize>,
}

impl Finding {
    /// True where the board cannot be used at all.
    pub fn is_fatal(&self) -> bool {
        self.cause == Cause::NoDiodes
    }

    /// Where it is, in words: squares, row and column.
    pub fn place(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        match self.squares.count() {
            0 => {}
            65.. => {}
            1..=16 => {
                parts.push(
                    self.squares.into_iter().map(|square| square.to_string()).collect::<Vec<_>>().join(" "),
                );
            }
            many => parts.push(format!("{many} squares")),
        }
        parts.extend(self.row.map(|row| format!("row {row}")));
        parts.extend(self.column.map(|column| format!("column {column}")));
        if parts.is_empty() { "the whole matrix".to_owned() } else { parts.join(", ") }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}; {}", self.place(), self.cause.code(), self.cause.likely(), self.cause.remedy())
    }
}
