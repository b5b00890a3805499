//! Reads the table of a reed matrix.

mod beside;

use std::{collections::BTreeMap, ops::Range};

use shakmaty::{Bitboard, File, Rank, Square};
use toml::de::DeValue;

use super::{
    Uses,
    section::{Section, whole},
    sensor::Sensor,
};
use crate::{
    config::{
        matrix::{ActiveLevel, COLUMNS, MatrixBackend, MatrixConfig, PullUp, ROWS, SCAN_MS, SETTLE_US},
        sensor::{Level, MatrixKind, SensorConfig},
    },
    session::settings::Settings,
};

/// Lines that this board uses, with the key that named them.
type Taken = BTreeMap<u32, &'static str>;

/// The numbers that lines may have.
struct Lines {
    what: &'static str,
    range: std::ops::RangeInclusive<u32>,
    header: bool,
}

const HEADER: Lines = Lines {
    what: "a BCM pin number from 2 to 27 (0 and 1 identify an add-on board)",
    range: 2..=27,
    header: true,
};
const CHIP: Lines =
    Lines { what: "the offset of a line on the chip, from 0 to 4095", range: 0..=4095, header: false };

/// Reads `[board.sensor.matrix]`.
pub(super) fn read(
    board: &Section<'_>,
    section: Section<'_>,
    id: &str,
    number: u64,
    uses: &mut Uses,
) -> Option<Sensor> {
    let kinds = [("reed", MatrixKind::Reed), ("peg", MatrixKind::Peg)];
    let kind = section.word("kind", &kinds).unwrap_or_default();
    let backend = backend(&section, number);
    let simulated = matches!(backend, MatrixBackend::Simulated { .. });
    let lines = if matches!(&backend, MatrixBackend::Gpiocdev { chip: Some(_) }) { CHIP } else { HEADER };
    let levels = [("high", ActiveLevel::High), ("low", ActiveLevel::Low)];
    let active = section.word("active", &levels).unwrap_or_default();
    let pulls = [("internal", PullUp::Internal), ("external", PullUp::External)];
    let pull = section.word("pull", &pulls).unwrap_or_default();
    let mut taken = Taken::new();
    let rows = eight(&section, "rows", "ranks 1 to 8", ROWS, &lines, &mut taken);
    let columns = eight(&section, "columns", "files a to h", COLUMNS, &lines, &mut taken);
    if lines.header && active == ActiveLevel::High {
        for pin in [2, 3].into_iter().filter(|pin| columns.is_some_and(|columns| columns.contains(pin))) {
            let message = format!(
                "pin {pin} has a pull-up resistor on the board and cannot be a column with \
                 active = \"high\"; make it a row, or choose another pin"
            );
            section.problem("columns", message);
        }
    }
    let inputs = beside::inputs(&section, &lines, &mut taken);
    if lines.header && inputs.active == ActiveLevel::High {
        let pulled = |pin: &u32| [2, 3].contains(pin);
        for (key, pin) in [("lever-white", inputs.lever_white), ("lever-black", inputs.lever_black)] {
            if let Some(pin) = pin.filter(pulled) {
                section.problem(key, always_high(pin));
            }
        }
        for (pin, _) in inputs.buttons.iter().filter(|(pin, _)| pulled(pin)) {
            section.problem("button", always_high(*pin));
        }
    }
    let leds = beside::leds(&section, &lines, &mut taken);
    if !simulated {
        claim(board, &section, id, &backend, &taken, uses);
    }
    let settle_us = section.integer("settle-us", "of microseconds", 0, 5000).unwrap_or(SETTLE_US);
    let scan_ms = section.integer("scan-ms", "of milliseconds", 2, 20).unwrap_or(SCAN_MS);
    if settle_us * 8 >= scan_ms * 1000 {
        section.problem(
            "settle-us",
            format!(
                "eight rows of {settle_us} us do not fit into a scan of {scan_ms} ms; make settle-us \
                 smaller than {} or scan-ms larger",
                scan_ms * 125
            ),
        );
    }
    let realtime = section.integer("realtime-priority", "", 1, 49);
    let squares = squares(&section);
    let self_test = section.boolean("self-test").unwrap_or(true);
    let defaults = Settings::default();
    let debounce = |key, default: u64| section.integer(key, "of milliseconds", 0, 1000).unwrap_or(default);
    let close_ms = debounce("debounce-close-ms", defaults.debounce_close_ms);
    let open_ms = debounce("debounce-open-ms", defaults.debounce_open_ms);
    section.finish();
    let (rows, columns, squares) = (rows?, columns?, squares?);
    let matrix = MatrixConfig {
        kind,
        backend,
        rows,
        columns,
        active,
        pull,
        settle_us,
        scan_ms,
        realtime_priority: realtime.and_then(|priority| u8::try_from(priority).ok()),
        squares,
        self_test,
        inputs,
        leds,
    };
    Some((SensorConfig::Matrix(Box::new(matrix)), Some((close_ms, open_ms))))
}

/// GPIO 2 and 3 have resistors of 1.8 kΩ to 3.3 V on the board.
fn always_high(pin: u32) -> String {
    format!(
        "pin {pin} has a pull-up resistor on the board and would always read as pressed with \
         inputs-active = \"high\"; choose another pin"
    )
}

fn backend(section: &Section<'_>, number: u64) -> MatrixBackend {
    #[derive(Clone, Copy, PartialEq)]
    enum Word {
        Auto,
        Rppal,
        Gpiocdev,
        Simulated,
    }
    let words = [
        ("auto", Word::Auto),
        ("rppal", Word::Rppal),
        ("gpiocdev", Word::Gpiocdev),
        ("simulated", Word::Simulated),
    ];
    let word = section.word("backend", &words).unwrap_or(Word::Auto);
    let chip = section.text("chip").map(str::to_owned);
    if chip.is_some() && word != Word::Gpiocdev {
        section.problem("chip", "only backend = \"gpiocdev\" has a chip; set it, or leave chip out");
    }
    let seed = section.integer("seed", "", 0, i64::MAX.unsigned_abs()).unwrap_or(number);
    let levels = Level::ALL.map(|level| (level.as_str(), level));
    let level = section.word("level", &levels).unwrap_or_default();
    let mut faults = Vec::new();
    let texts = section.list("faults", "a fault of the simulated wires in quotes", |value| {
        value.as_str().map(str::to_owned)
    });
    for (text, span) in texts.unwrap_or_default() {
        match text.parse() {
            Ok(fault) => faults.push(fault),
            Err(error) => {
                let error: crate::simulate::matrix::FaultError = error;
                section.problem_at("faults", &span, error.to_string());
            }
        }
    }
    if word != Word::Simulated {
        for key in ["seed", "level", "faults"].into_iter().filter(|key| section.has(key)) {
            section.problem(key, "only backend = \"simulated\" has it; set that, or leave it out");
        }
    }
    match word {
        Word::Auto => MatrixBackend::Auto,
        Word::Rppal => MatrixBackend::Rppal,
        Word::Gpiocdev => MatrixBackend::Gpiocdev { chip },
        Word::Simulated => MatrixBackend::Simulated { seed, level, faults, unit: None },
    }
}

/// The lines are of this board alone: the whole header, or each line of another chip.
fn claim(
    board: &Section<'_>,
    section: &Section<'_>,
    id: &str,
    backend: &MatrixBackend,
    taken: &Taken,
    uses: &mut Uses,
) {
    let MatrixBackend::Gpiocdev { chip: Some(chip) } = backend else {
        if let Some((other, line)) = uses.claim("matrix".to_owned(), id, section.line()) {
            board.problem(
                "sensor",
                format!(
                    "the header of a Raspberry Pi has pins for one matrix, and board {other} (line {line}) has \
                     it; run this board on a machine of its own"
                ),
            );
        }
        return;
    };
    for (pin, key) in taken {
        if let Some((other, line)) = uses.claim(format!("line {pin} of {chip}"), id, section.line()) {
            let message = format!("line {pin} of {chip} is used by board {other} (line {line}) already");
            section.problem(key, message);
        }
    }
}

/// Eight lines. `taken` holds the lines of this board so far with the key that named them.
fn eight(
    section: &Section<'_>,
    key: &'static str,
    order: &str,
    default: [u32; 8],
    lines: &Lines,
    taken: &mut Taken,
) -> Option<[u32; 8]> {
    if !section.has(key) {
        let _ = section.any(key);
        if !lines.header {
            section.missing(key, "name eight lines of the chip (gpioinfo lists them)");
            return None;
        }
        for pin in default {
            if let Some(other) = taken.insert(pin, key) {
                let message = format!("missing; pin {pin} of its default is used by {other} already");
                section.problem(key, message);
            }
        }
        return Some(default);
    }
    listed(section, key, order, lines, taken)
}

/// Eight lines that the file names; nothing where it names none.
fn listed(
    section: &Section<'_>,
    key: &'static str,
    order: &str,
    lines: &Lines,
    taken: &mut Taken,
) -> Option<[u32; 8]> {
    let number = |value: &DeValue<'_>| line(value, lines);
    let list: Vec<(u32, Range<usize>)> = section.list(key, lines.what, number)?;
    for (pin, span) in &list {
        if let Some(other) = taken.insert(*pin, key) {
            let message = format!("pin {pin} is in {other} already; each line has its own");
            section.problem_at(key, span, message);
        }
    }
    let pins: Vec<u32> = list.iter().map(|(pin, _)| *pin).collect();
    let eight = <[u32; 8]>::try_from(pins).ok();
    if eight.is_none() {
        section.problem(key, format!("expected eight pins, for the {order}, found {}", list.len()));
    }
    eight
}

fn line(value: &DeValue<'_>, lines: &Lines) -> Option<u32> {
    whole(value).and_then(|pin| u32::try_from(pin).ok()).filter(|pin| lines.range.contains(pin))
}

/// The square of each crossing: by the direction of rows and columns, or one by one.
fn squares(section: &Section<'_>) -> Option<[Square; 64]> {
    let files = section.word("rows-are", &[("ranks", false), ("files", true)]);
    let corner = |value: &DeValue<'_>| whole(value).filter(|line| [0, 7].contains(line));
    let a1 = section.list("a1", "0 or 7", corner);
    if section.has("a1") && a1.as_ref().is_some_and(|a1| a1.len() != 2) {
        section.problem("a1", "expected the row and the column of a1, each 0 or 7, such as [0, 0]");
        return None;
    }
    if section.has("map") {
        for key in ["rows-are", "a1"].into_iter().filter(|key| section.has(key)) {
            section.problem(key, "map tells the squares already; leave this out");
        }
        return map(section);
    }
    let _ = section.any("map");
    let a1: Vec<u64> = a1.unwrap_or_default().iter().map(|(line, _)| *line).collect();
    let turned = |index: usize| a1.get(index) == Some(&7);
    let at = |line: u32, turned: bool| if turned { 7 - line } else { line };
    let mut squares = [Square::A1; 64];
    for ((row, column), slot) in
        (0..8u32).flat_map(|row| (0..8u32).map(move |column| (row, column))).zip(&mut squares)
    {
        let (row, column) = (at(row, turned(0)), at(column, turned(1)));
        let (rank, file) = if files == Some(true) { (column, row) } else { (row, column) };
        *slot = Square::from_coords(File::new(file), Rank::new(rank));
    }
    Some(squares)
}

/// Eight rows of eight squares.
fn map(section: &Section<'_>) -> Option<[Square; 64]> {
    let what = "a row of the matrix: eight squares in quotes, such as \"a1 b1 c1 d1 e1 f1 g1 h1\"";
    let rows = section.list("map", what, |value| {
        let squares: Option<Vec<Square>> =
            value.as_str()?.split_whitespace().map(|square| square.parse().ok()).collect();
        squares.filter(|squares| squares.len() == 8)
    })?;
    if rows.len() != 8 {
        section.problem("map", format!("expected eight rows of eight squares, found {}", rows.len()));
        return None;
    }
    let mut seen = Bitboard::EMPTY;
    let mut twice = false;
    for (square, span) in
        rows.iter().flat_map(|(squares, span)| squares.iter().map(move |square| (*square, span)))
    {
        if seen.contains(square) {
            section.problem_at(
                "map",
                span,
                format!("{square} is in the map twice; each square belongs to one crossing"),
            );
            twice = true;
        }
        seen.add(square);
    }
    let squares: Vec<Square> = rows.into_iter().flat_map(|(squares, _)| squares).collect();
    squares.try_into().ok().filter(|_| !twice)
}
