//! The wires, contacts and diodes of a matrix, and what is wrong with them.

use std::{fmt, str::FromStr};

/// A level of a column, seen by an input pin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Level {
    /// At rest: the contact reads open.
    #[default]
    Low,
    /// Between the thresholds: it reads either way.
    Between,
    /// Active: the contact reads closed.
    High,
}

/// A diode at a crossing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Diode {
    /// From the row to the column, with its forward voltage.
    #[default]
    Good,
    /// A piece of wire: what a missing diode is replaced by, too.
    Shorted,
    /// No way at all.
    Open,
}

/// A reed contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reed {
    #[default]
    Good,
    NeverCloses,
    NeverOpens,
}

/// Something that is wrong with a matrix. Rows, columns and crossings are counted from 0.
///
/// In words, as a configuration has them: `no-diodes`, `floating-rows`, `shorted-diode 3,4`, `open-diode 3,4`,
/// `open-reed 3,4`, `closed-reed 3,4` (row, column), `crosstalk 3,4 3,5` (a man on the first closes the second,
/// too), `broken-row 3`, `broken-column 4`, `column-high 4`, `column-low 4`, `slow-columns 80` (microseconds
/// that a column takes to fall).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No crossing has a diode.
    NoDiodes,
    /// Rows that are not driven are not held at rest: their driver only pulls one way.
    FloatingRows,
    /// This diode conducts both ways.
    ShortedDiode(u8, u8),
    /// This diode does not conduct.
    OpenDiode(u8, u8),
    /// This contact never closes.
    OpenReed(u8, u8),
    /// This contact never opens.
    ClosedReed(u8, u8),
    /// The magnet on the first crossing closes the second contact, too.
    Crosstalk((u8, u8), (u8, u8)),
    /// The wire of this row is broken at the driver.
    BrokenRow(u8),
    /// This row always has the active level.
    RowHigh(u8),
    /// The wire of this column is broken at the input.
    BrokenColumn(u8),
    /// This column always has the active level.
    ColumnHigh(u8),
    /// This column always has the resting level.
    ColumnLow(u8),
    /// A column falls back within this many microseconds.
    SlowColumns(u64),
}

/// A fault in words that nobody understands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no fault is called {0:?}; they are no-diodes, floating-rows, shorted-diode R,C, open-diode R,C, open-reed \
     R,C, closed-reed R,C, crosstalk R,C R,C, broken-row R, row-high R, broken-column C, column-high C, column-low C and \
     slow-columns US, with rows and columns from 0 to 7"
)]
pub struct FaultError(String);

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Fault, FaultError> {
        read(text).ok_or_else(|| FaultError(text.to_owned()))
    }
}

fn read(text: &str) -> Option<Fault> {
    let mut words = text.split_whitespace();
    let name = words.next()?;
    let rest: Vec<&str> = words.collect();
    let line = |text: &str| text.parse::<u8>().ok().filter(|line| *line < 8);
    let crossing = |text: &str| {
        let (row, column) = text.split_once(',')?;
        Some((line(row)?, line(column)?))
    };
    Some(match (name, rest.as_slice()) {
        ("no-diodes", []) => Fault::NoDiodes,
        ("floating-rows", []) => Fault::FloatingRows,
        ("crosstalk", [one, other]) => Fault::Crosstalk(crossing(one)?, crossing(other)?),
        ("broken-row", [one]) => Fault::BrokenRow(line(one)?),
        ("row-high", [one]) => Fault::RowHigh(line(one)?),
        ("broken-column", [one]) => Fault::BrokenColumn(line(one)?),
        ("column-high", [one]) => Fault::ColumnHigh(line(one)?),
        ("column-low", [one]) => Fault::ColumnLow(line(one)?),
        ("slow-columns", [us]) => Fault::SlowColumns(us.parse().ok().filter(|us| *us <= 5_000)?),
        (name, [one]) => {
            let (row, column) = crossing(one)?;
            match name {
                "shorted-diode" => Fault::ShortedDiode(row, column),
                "open-diode" => Fault::OpenDiode(row, column),
                "open-reed" => Fault::OpenReed(row, column),
                "closed-reed" => Fault::ClosedReed(row, column),
                _ => return None,
            }
        }
        _ => return None,
    })
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NoDiodes => f.write_str("no-diodes"),
            Fault::FloatingRows => f.write_str("floating-rows"),
            Fault::ShortedDiode(row, column) => write!(f, "shorted-diode {row},{column}"),
            Fault::OpenDiode(row, column) => write!(f, "open-diode {row},{column}"),
            Fault::OpenReed(row, column) => write!(f, "open-reed {row},{column}"),
            Fault::ClosedReed(row, column) => write!(f, "closed-reed {row},{column}"),
            Fault::Crosstalk(one, other) => {
                write!(f, "crosstalk {},{} {},{}", one.0, one.1, other.0, other.1)
            }
            Fault::BrokenRow(row) => write!(f, "broken-row {row}"),
            Fault::RowHigh(row) => write!(f, "row-high {row}"),
            Fault::BrokenColumn(column) => write!(f, "broken-column {column}"),
            Fault::ColumnHigh(column) => write!(f, "column-high {column}"),
            Fault::ColumnLow(column) => write!(f, "column-low {column}"),
            Fault::SlowColumns(us) => write!(f, "slow-columns {us}"),
        }
    }
}

/// Volts in thousandths: the supply, the forward voltage of a diode, and the thresholds of an input
/// (hardware.md, "Levels and settling").
const SUPPLY_MV: u64 = 3_300;
const DIODE_MV: u64 = 500;
const SURELY_HIGH_MV: u64 = 2_000;
const SURELY_LOW_MV: u64 = 800;

/// The electrical side of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    diodes: [Diode; 64],
    reeds: [Reed; 64],
    /// A man on the first crossing closes the second.
    crosstalk: Vec<(u32, u32)>,
    broken_rows: u8,
    rows_high: u8,
    broken_columns: u8,
    columns_high: u8,
    columns_low: u8,
    floating: bool,
    pub(super) rise_us: u64,
    pub(super) fall_us: u64,
}

impl Default for Wiring {
    /// Everything is as it should be: a column rises within 1 µs and falls within 30 µs.
    fn default() -> Wiring {
        Wiring {
            diodes: [Diode::Good; 64],
            reeds: [Reed::Good; 64],
            crosstalk: Vec::new(),
            broken_rows: 0,
            rows_high: 0,
            broken_columns: 0,
            columns_high: 0,
            columns_low: 0,
            floating: false,
            rise_us: 1,
            fall_us: 30,
        }
    }
}

const fn index(row: u8, column: u8) -> u32 {
    (row as u32 & 7) * 8 + (column as u32 & 7)
}

impl Wiring {
    /// A matrix with these faults.
    pub fn with(faults: &[Fault]) -> Wiring {
        let mut wiring = Wiring::default();
        for fault in faults {
            wiring.add(*fault);
        }
        wiring
    }

    fn add(&mut self, fault: Fault) {
        match fault {
            Fault::NoDiodes => self.diodes = [Diode::Shorted; 64],
            Fault::FloatingRows => self.floating = true,
            Fault::ShortedDiode(row, column) => put(&mut self.diodes, row, column, Diode::Shorted),
            Fault::OpenDiode(row, column) => put(&mut self.diodes, row, column, Diode::Open),
            Fault::OpenReed(row, column) => put(&mut self.reeds, row, column, Reed::NeverCloses),
            Fault::ClosedReed(row, column) => put(&mut self.reeds, row, column, Reed::NeverOpens),
            Fault::Crosstalk(one, other) => {
                self.crosstalk.push((index(one.0, one.1), index(other.0, other.1)));
            }
            Fault::BrokenRow(row) => self.broken_rows |= 1 << (row & 7),
            Fault::RowHigh(row) => self.rows_high |= 1 << (row & 7),
            Fault::BrokenColumn(column) => self.broken_columns |= 1 << (column & 7),
            Fault::ColumnHigh(column) => self.columns_high |= 1 << (column & 7),
            Fault::ColumnLow(column) => self.columns_low |= 1 << (column & 7),
            Fault::SlowColumns(us) => self.fall_us = us,
        }
    }

    /// The closed contacts, bit `8 * row + column`, when men stand on `men`.
    pub(super) fn closed(&self, men: u64) -> u64 {
        let mut closed = men;
        for (one, other) in &self.crosstalk {
            closed |= (men >> one & 1) << other;
        }
        for (index, reed) in self.reeds.iter().enumerate() {
            match reed {
                Reed::Good => {}
                Reed::NeverCloses => closed &= !(1 << index),
                Reed::NeverOpens => closed |= 1 << index,
            }
        }
        closed
    }

    /// Where the columns come to rest when the rows of `driven` are driven.
    pub(super) fn levels(&self, driven: u8, closed: u64) -> [Level; 8] {
        let driven = driven | self.rows_high;
        let fed = self.fed(driven & !self.broken_rows, closed);
        let mut levels = [Level::Low; 8];
        for (column, level) in levels.iter_mut().enumerate() {
            let mask = 1 << column;
            *level = if self.columns_high & mask != 0 {
                Level::High
            } else if (self.broken_columns | self.columns_low) & mask != 0 {
                Level::Low
            } else {
                self.level(column, driven, closed, fed.get(column).copied().flatten())
            };
        }
        levels
    }

    /// The level of one column that is fed over so many diodes.
    fn level(&self, column: usize, driven: u8, closed: u64, drops: Option<u64>) -> Level {
        let Some(drops) = drops else { return Level::Low };
        let (mut feeding, mut draining) = (0, 0);
        for row in 0..8 {
            let at = row * 8 + column;
            let diode = self.diodes.get(at).copied().unwrap_or_default();
            if closed >> at & 1 == 0 || self.broken_rows >> row & 1 == 1 {
                continue;
            }
            if driven >> row & 1 == 1 {
                feeding += u64::from(diode != Diode::Open);
            } else if !self.floating {
                draining += u64::from(diode == Diode::Shorted);
            }
        }
        // A column that is fed over other columns is fed by one way.
        let feeding = feeding.max(1);
        let mv = SUPPLY_MV.saturating_sub(drops * DIODE_MV) * feeding / (feeding + draining);
        match mv {
            SURELY_HIGH_MV.. => Level::High,
            SURELY_LOW_MV.. => Level::Between,
            _ => Level::Low,
        }
    }

    /// For every column the least number of diodes on a way from a driven row to it.
    fn fed(&self, driven: u8, closed: u64) -> [Option<u64>; 8] {
        let mut rows: [Option<u64>; 8] = std::array::from_fn(|row| (driven >> row & 1 == 1).then_some(0));
        let mut columns = [None; 8];
        let better = |slot: &mut Option<u64>, drops: u64| {
            let found = slot.is_none_or(|known| drops < known);
            if found {
                *slot = Some(drops);
            }
            found
        };
        let mut changed = true;
        while changed {
            changed = false;
            for at in (0..64usize).filter(|at| closed >> at & 1 == 1) {
                let (row, column) = (at / 8, at % 8);
                let diode = self.diodes.get(at).copied().unwrap_or_default();
                let (Some(row_fed), Some(column_fed)) = (rows.get_mut(row), columns.get_mut(column)) else {
                    continue;
                };
                let forward = match diode {
                    Diode::Good => Some(1),
                    Diode::Shorted => Some(0),
                    Diode::Open => None,
                };
                if let Some(drops) = row_fed.and_then(|known| Some(known + forward?)) {
                    changed |= better(column_fed, drops);
                }
                // A row that is held at rest leads nowhere.
                let floats = self.floating || self.broken_rows >> row & 1 == 1;
                if let Some(drops) = column_fed.filter(|_| diode == Diode::Shorted && floats) {
                    changed |= better(row_fed, drops);
                }
            }
        }
        columns
    }
}

fn put<T>(all: &mut [T; 64], row: u8, column: u8, value: T) {
    if let Some(slot) = usize::try_from(index(row, column)).ok().and_then(|index| all.get_mut(index)) {
        *slot = value;
    }
}
