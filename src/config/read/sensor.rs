//! Reads the table of a board's sensor.

use std::path::{Path, PathBuf};

use super::{
    Uses,
    section::{Section, whole},
};
use crate::config::sensor::{DgtUpdates, DtrRts, Framing, Level, Pace, PortName, SensorConfig, Speed};

/// A sensor and, for a matrix, its debounce times (closing and opening, in milliseconds).
pub(super) type Sensor = (SensorConfig, Option<(u64, u64)>);

/// The tables of which a board has one.
pub(super) const KINDS: [&str; 5] = ["dgt", "matrix", "peg", "simulated", "sensor-log"];
/// Those of the second board of a game.
pub(super) const DEVICES: [&str; 3] = ["dgt", "matrix", "peg"];

/// Reads `[board.sensor.*]`, or the same of the second board, which is told to have one of `kinds`; nothing where there is not exactly one usable table.
pub(super) fn sensor(
    board: &Section<'_>,
    id: &str,
    number: u64,
    base: &Path,
    kinds: &[&str],
    uses: &mut Uses,
) -> Option<Sensor> {
    let tables = board.section("sensor");
    let simulated = tables.section("simulated");
    let log = tables.section("sensor-log");
    let dgt = tables.section("dgt");
    let peg = tables.section("peg");
    let matrix = tables.section("matrix");
    let given =
        [&simulated, &log, &dgt, &peg, &matrix].into_iter().filter(|table| table.is_present()).count();
    if given == 0 {
        let offered: Vec<String> = kinds.iter().map(|kind| format!("[{}]", tables.path_of(kind))).collect();
        if let [all @ .., last] = offered.as_slice() {
            board.missing("sensor", &format!("add one of {} and {last}", all.join(", ")));
        }
    } else if given > 1 {
        board.problem("sensor", format!("a board has one sensor, found {given} tables; keep one of them"));
    }
    let mut found = None;
    if simulated.is_present() {
        found = Some((read_simulated(simulated, number), None));
    }
    if log.is_present() {
        found = read_log(log, base).map(|sensor| (sensor, None));
    }
    if dgt.is_present() {
        found = read_dgt(dgt, id, uses).map(|sensor| (sensor, None));
    }
    if peg.is_present() {
        found = read_peg(peg, id, uses).map(|sensor| (sensor, None));
    }
    if matrix.is_present() {
        found = super::matrix::read(board, matrix, id, number, uses);
    }
    tables.finish();
    found.filter(|_| given == 1)
}

fn read_simulated(section: Section<'_>, number: u64) -> SensorConfig {
    let levels = Level::ALL.map(|level| (level.as_str(), level));
    let sensor = SensorConfig::Simulated {
        speed: speed(section.integer("speed", "", 1, 1000)).unwrap_or_default(),
        seed: section.integer("seed", "", 0, i64::MAX.unsigned_abs()).unwrap_or(number),
        level: section.word("level", &levels).unwrap_or_default(),
    };
    section.finish();
    sensor
}

fn speed(factor: Option<u64>) -> Option<Speed> {
    Speed::new(u32::try_from(factor?).ok()?)
}

fn read_log(section: Section<'_>, base: &Path) -> Option<SensorConfig> {
    let path = super::path(&section, "path", base);
    if path.is_none() {
        section.missing("path", "name the sensor log: a file, a FIFO, or \"-\" for standard input");
    }
    let pace = section.any("pace").and_then(|value| {
        let pace = match value.get_ref().as_str() {
            Some("real-time") => Some(Pace::default()),
            Some("as-fast-as-possible") => Some(Pace::AsFastAsPossible),
            _ => speed(whole(value.get_ref())).map(Pace::At),
        };
        if pace.is_none() {
            section.wrong(
                "pace",
                value,
                "\"real-time\", \"as-fast-as-possible\" or a factor, a whole number from 1 to 1000",
            );
        }
        pace
    });
    section.finish();
    Some(SensorConfig::SensorLog { path: path?, pace: pace.unwrap_or_default() })
}

fn read_dgt(section: Section<'_>, id: &str, uses: &mut Uses) -> Option<SensorConfig> {
    let port = port_name(&section, "dgt", id, uses);
    let lines = [("leave", DtrRts::Leave), ("on", DtrRts::On), ("off", DtrRts::Off)];
    let dtr_rts = section.word("dtr-rts", &lines).unwrap_or_default();
    let modes = [("nice", DgtUpdates::Nice), ("clock", DgtUpdates::Clock), ("board", DgtUpdates::Board)];
    let updates = section.word("updates", &modes).unwrap_or_default();
    let stored_moves = section.boolean("stored-moves").unwrap_or(true);
    section.finish();
    Some(SensorConfig::Dgt { port: port?, dtr_rts, updates, stored_moves })
}

/// The serial port of a board of this kind: `port` or `serial-number`. No other board may have it.
fn port_name(section: &Section<'_>, kind: &str, id: &str, uses: &mut Uses) -> Option<PortName> {
    let (port, number) = (section.text("port"), section.text("serial-number"));
    let (key, name) = match (port, number) {
        (Some(_), Some(_)) => {
            section.problem("serial-number", "there is a port already; keep the one or the other");
            return None;
        }
        (None, None) => {
            if !section.has("serial-number") {
                section.missing(
                    "port",
                    &format!(
                        "name the serial device, such as \"/dev/touchmoved/{kind}\" or one of /dev/serial/by-id/, or \
                         give the serial-number of its USB adapter"
                    ),
                );
            }
            return None;
        }
        (Some(port), None) if !port.starts_with('/') => {
            section.problem(
                "port",
                format!(
                    "expected the full path of a serial device, such as \"/dev/ttyUSB0\", found {port:?}"
                ),
            );
            return None;
        }
        (Some(port), None) => ("port", PortName::Path(PathBuf::from(port))),
        (None, Some(number)) => ("serial-number", PortName::UsbSerial(number.to_owned())),
    };
    if let Some((other, line)) = uses.claim(format!("port {name}"), id, section.line()) {
        section.problem(
            key,
            format!("{name} is read by board {other} (line {line}) already; one port, one board"),
        );
    }
    Some(name)
}

fn read_peg(section: Section<'_>, id: &str, uses: &mut Uses) -> Option<SensorConfig> {
    const FRAMINGS: [(&str, Framing); 4] = [
        ("8N1", Framing::EightNone),
        ("8E1", Framing::EightEven),
        ("8O1", Framing::EightOdd),
        ("7E1", Framing::SevenEven),
    ];
    let port = port_name(&section, "peg", id, uses);
    let baud = section.integer("baud", "of bits a second", 1200, 4_000_000);
    let framing = section.word("framing", &FRAMINGS).unwrap_or_default();
    let lines = [("leave", DtrRts::Leave), ("on", DtrRts::On), ("off", DtrRts::Off)];
    let dtr_rts = section.word("dtr-rts", &lines).unwrap_or_default();
    section.finish();
    let baud = baud.and_then(|baud| u32::try_from(baud).ok()).unwrap_or(115_200);
    Some(SensorConfig::Peg { port: port?, baud, framing, dtr_rts })
}
