//! The doctor on whatever a board says, and on the files that its walk keeps.

use std::io::Cursor;

use shakmaty::{Board, Square};
use touchmoved::{
    doctor::{
        BoardFigures, Report, Verdict,
        board::{About, checks, figures},
        live,
        map::{Finding, Map},
        walk::Walk,
        watch::Watch,
    },
    journal::replay::{ItemKind, read},
};

/// Any text as the file of a walk: no panic, and what is read is written so that it reads back to the same.
/// The map of a whole board is a permutation of the squares.
pub fn walk_map(data: &[u8]) {
    let Ok(map) = Map::from_file(&String::from_utf8_lossy(data)) else { return };
    assert_eq!(Map::from_file(&map.to_file("board 1")), Ok(map.clone()));
    let squares: Vec<Square> = Square::ALL.into_iter().filter_map(|contact| map.square_of(contact)).collect();
    let mut different = squares.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), squares.len(), "no square twice");
    assert_eq!(map.is_whole(), squares.len() == 64);
    assert_eq!(map.is_whole(), map.shape().is_some());
    assert!(map.remarks().iter().all(|remark| !remark.contains('\n')));
    assert_eq!(map.to_toml().lines().count(), 10);
}

/// Any text as a log that a board plays to the doctor: no panic; what is shown fits a terminal, what is told
/// adds up, and the walk leaves no square twice.
pub fn doctor_log(data: &[u8]) {
    for recorded in [true, false] {
        let Ok(mut log) = read("log", Box::new(Cursor::new(data.to_vec()))) else { return };
        let setup = log.setup().clone();
        let mut watch = Watch::new(&setup, recorded);
        let mut walk = Walk::new(Map::default(), watch.occupied().unwrap_or_default());
        while let Ok(Some(item)) = log.next_item() {
            let ItemKind::Input(input) = item.kind else { continue };
            watch.take(item.at, &input);
            let changes: Vec<_> = watch.take_changes().collect();
            for change in changes {
                let _ = walk.advance(change.at);
                let _ = walk.change(change);
            }
        }
        let found = Square::ALL.into_iter().filter(|square| *walk.map().finding(*square) != Finding::Open);
        assert_eq!(found.count() + walk.left(), 64);
        let start = Board::default();
        let screen = live::screen("board 1", &watch, &start, false);
        assert!(screen.iter().all(|line| !line.contains('\n') && line.len() <= 200), "{screen:#?}");
        assert!(!live::line(&watch, &start).contains('\n'));
        let about = About {
            id: "1".to_owned(),
            sensor: "sensor-log",
            place: "log".to_owned(),
            start,
            time_control: setup.time_control.parse().ok(),
            scan_us: None,
            recorded,
            hears_clock: false,
        };
        adds_up(Report::new("", "", "", checks(&about, &watch), vec![figures(&about, &watch)]));
    }
}

fn adds_up(report: Report) {
    assert!(report.text().lines().count() <= report.checks.len() + 1);
    let failed = report.checks.iter().any(|check| check.verdict == Verdict::Failed);
    assert_eq!(report.exit_code() == 2, failed);
    let written = serde_json::to_value(&report).unwrap();
    assert!(written["checks"].as_array().is_some_and(|checks| checks.len() == report.checks.len()));
    for BoardFigures { closing, opening, .. } in report.boards {
        for side in [closing, opening].into_iter().flatten() {
            assert_eq!(side.histogram.iter().sum::<u64>(), side.changes);
            assert_eq!(side.longest_us > 0, side.worst.is_some());
        }
    }
}
