//! The figures of all boards in the text form of Prometheus.

use std::fmt::Write as _;

use super::{BoardFigures, Health};
use crate::{
    sensor::matrix::{LATE_BOUNDS_US, ScanFigures},
    session::event::Unit,
};

/// All figures, one line each, with HELP and TYPE.
pub(super) fn text(health: &Health) -> String {
    type Figure = fn(&BoardFigures) -> u64;
    let figures: [(&str, &str, &str, Figure); 10] = [
        ("board_inputs_total", "counter", "Inputs of the board", |board| board.counts.inputs),
        ("board_facts_total", "counter", "Facts that the session concluded", |board| board.counts.facts),
        ("board_readings", "gauge", "Readings of the board that are still possible", |board| {
            board.counts.readings
        }),
        ("board_loose_plies", "gauge", "Plies of all readings that are not firm yet", |board| {
            board.counts.loose_plies
        }),
        ("board_games", "gauge", "Games that the readings hold in memory", |board| board.counts.games),
        ("journal_records_total", "counter", "Records written to the journal", |board| board.counts.records),
        ("journal_syncs_total", "counter", "Times that the journal was put on stable storage", |board| {
            board.counts.syncs
        }),
        ("journal_waiting_records", "gauge", "Records that wait for the journal", |board| {
            board.counts.waiting
        }),
        (
            "journal_lost_records_total",
            "counter",
            "Records that found no room while the disk failed",
            |board| board.counts.lost,
        ),
        ("journal_failed", "gauge", "1 while the journal cannot be written", |board| {
            u64::from(board.journal_trouble.is_some())
        }),
    ];
    let boards = health.figures();
    let mut text = String::new();
    for (name, kind, help, figure) in figures {
        let _ = writeln!(text, "# HELP touchmoved_{name} {help}.\n# TYPE touchmoved_{name} {kind}");
        for board in &boards {
            let _ = writeln!(text, "touchmoved_{name}{{board=\"{}\"}} {}", board.id, figure(board));
        }
    }
    source_metrics(&mut text, &boards);
    scan_metrics(&mut text, &boards);
    battery_metrics(&mut text, health);
    clock_metrics(&mut text, health);
    text
}

/// The labels of a source: its board, and which of two it reads.
fn labels(board: &str, unit: Option<Unit>) -> String {
    match unit {
        None => format!("board=\"{board}\""),
        Some(unit) => format!("board=\"{board}\",unit=\"{}\"", unit.as_str()),
    }
}

fn source_metrics(text: &mut String, boards: &[BoardFigures]) {
    let name = "touchmoved_source_failed";
    let _ = writeln!(text, "# HELP {name} 1 while the board cannot be read.\n# TYPE {name} gauge");
    for board in boards {
        for source in &board.sources {
            let failed = u64::from(source.trouble.is_some());
            let _ = writeln!(text, "{name}{{{}}} {failed}", labels(&board.id, source.unit));
        }
    }
}

fn battery_metrics(text: &mut String, health: &Health) {
    let name = "touchmoved_board_battery_percent";
    let mut told = false;
    for board in health.boards.iter() {
        for source in board.sources() {
            let about = source.about();
            let percent = about.get("battery").and_then(|battery| battery.get("percent")?.as_u64());
            let Some(percent) = percent else { continue };
            if !std::mem::replace(&mut told, true) {
                let help = "Charge of the board's own battery";
                let _ = writeln!(text, "# HELP {name} {help}.\n# TYPE {name} gauge");
            }
            let _ = writeln!(text, "{name}{{{}}} {percent}", labels(board.id(), source.unit()));
        }
    }
}

/// The clocks of DGT boards, once they were heard.
fn clock_metrics(text: &mut String, health: &Health) {
    for (name, help, key, word) in [
        ("clock_connected", "1 while a clock is connected to the board", "clock", "present"),
        ("clock_battery_low", "1 while the clock shows its battery sign", "clock_battery", "low"),
    ] {
        let mut lines = String::new();
        for board in health.boards.iter() {
            for source in board.sources() {
                let Some(told) = source.about().get(key).cloned() else { continue };
                let (labels, figure) = (labels(board.id(), source.unit()), u8::from(told == word));
                let _ = writeln!(lines, "touchmoved_{name}{{{labels}}} {figure}");
            }
        }
        if !lines.is_empty() {
            let _ = writeln!(
                text,
                "# HELP touchmoved_{name} {help}.\n# TYPE touchmoved_{name} gauge\n{}",
                lines.trim_end()
            );
        }
    }
}

/// The scans of boards that are scanned.
fn scan_metrics(text: &mut String, boards: &[BoardFigures]) {
    type Figure = fn(&ScanFigures) -> u64;
    let sources = boards.iter().flat_map(|board| board.sources.iter().map(move |source| (board, source)));
    let scanned: Vec<(String, &ScanFigures)> = sources
        .filter_map(|(board, source)| Some((labels(&board.id, source.unit), source.scans.as_ref()?)))
        .collect();
    if scanned.is_empty() {
        return;
    }
    let figures: [(&str, &str, &str, Figure); 5] = [
        ("overruns_total", "counter", "Scans that began more than three periods late", |scans| {
            scans.overruns
        }),
        ("missed_total", "counter", "Scans that were left out because their time had passed", |scans| {
            scans.missed
        }),
        ("failures_total", "counter", "Times that the lines of the matrix could not be read", |scans| {
            scans.failures
        }),
        ("late_worst_microseconds", "gauge", "By how much the latest scan of all began late", |scans| {
            scans.late_worst_us
        }),
        ("wiring_faults", "gauge", "1 while the self-test of the wiring found something", |scans| {
            u64::from(scans.wiring.is_some())
        }),
    ];
    for (name, kind, help, figure) in figures {
        let _ = writeln!(text, "# HELP touchmoved_scan_{name} {help}.\n# TYPE touchmoved_scan_{name} {kind}");
        for (labels, scans) in &scanned {
            let _ = writeln!(text, "touchmoved_scan_{name}{{{labels}}} {}", figure(scans));
        }
    }
    let name = "touchmoved_scan_late_seconds";
    let _ = writeln!(text, "# HELP {name} How late the scans of the matrix began.\n# TYPE {name} histogram");
    for (labels, scans) in scanned {
        let bounds = LATE_BOUNDS_US.iter().map(|us| seconds(*us)).chain(["+Inf".to_owned()]);
        let mut sum = 0;
        for (bound, count) in bounds.zip(scans.late) {
            sum += count;
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {sum}");
        }
        let late = seconds(scans.late_sum_us);
        let _ = writeln!(text, "{name}_sum{{{labels}}} {late}\n{name}_count{{{labels}}} {sum}");
    }
}

/// Microseconds in seconds, with a point.
fn seconds(us: u64) -> String {
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}
