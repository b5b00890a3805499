//! Tests of what the operator is told.

use shakmaty::{Bitboard, Square};

use super::*;
use crate::sensor::matrix::selftest::{Cause, Finding};

#[test]
fn the_line_names_what_is_wrong() {
    let board = Arc::new(BoardHealth::new("a7"));
    let health = Health::new(vec![board.clone()]);
    assert_eq!(health.line(), "serving board a7");
    assert!(board.set_journal(Some("no space left")));
    assert!(!board.set_journal(Some("no space left")), "the same trouble is no news");
    assert_eq!(health.line(), "serving board a7; board a7: journal: failed (no space left)");
    let detail = "no space left".to_owned();
    assert_eq!(
        health.troubles(),
        [Trouble { board: Some("a7".into()), unit: None, what: "journal", detail }]
    );
    assert!(health.metrics().contains("touchmoved_journal_failed{board=\"a7\"} 1\n"));
    assert!(board.set_journal(None));
    assert_eq!(health.figures()[0].journal_trouble, None);
}

#[test]
fn what_the_session_keeps_in_mind_is_told() {
    let board = Arc::new(BoardHealth::new("a7"));
    board.set_effort(Effort { readings: 3, loose_plies: 7, games: 5 });
    let metrics = Health::new(vec![board]).metrics();
    for figure in ["readings{board=\"a7\"} 3\n", "loose_plies{board=\"a7\"} 7\n", "games{board=\"a7\"} 5\n"] {
        assert!(metrics.contains(&format!("touchmoved_board_{figure}")), "{metrics}");
    }
}

#[test]
fn the_scans_of_a_matrix_are_told_where_there_is_one() {
    let board = Arc::new(BoardHealth::new("a7"));
    let health = Health::new(vec![board.clone(), Arc::new(BoardHealth::new("b"))]);
    assert!(!health.metrics().contains("scan"));
    for late in [40, 90, 30_000] {
        board.source(Unit::A).shared().scans.count_scan(late);
    }
    board.source(Unit::A).shared().scans.count_overrun();
    board.source(Unit::A).shared().scans.set_wiring(vec![Finding {
        cause: Cause::NeverCloses,
        squares: Bitboard::from_square(Square::E2),
        row: None,
        column: None,
    }]);
    let metrics = health.metrics();
    for line in [
        "scan_overruns_total{board=\"a7\"} 1\n",
        "scan_late_worst_microseconds{board=\"a7\"} 30000\n",
        "scan_late_seconds_bucket{board=\"a7\",le=\"0.000050\"} 1\n",
        "scan_late_seconds_bucket{board=\"a7\",le=\"0.020000\"} 2\n",
        "scan_late_seconds_bucket{board=\"a7\",le=\"+Inf\"} 3\n",
        "scan_late_seconds_sum{board=\"a7\"} 0.030130\n",
        "scan_late_seconds_count{board=\"a7\"} 3\n",
        "scan_wiring_faults{board=\"a7\"} 1\n",
    ] {
        assert!(metrics.contains(&format!("touchmoved_{line}")), "{line}{metrics}");
    }
    assert!(!metrics.contains("scan_missed_total{board=\"b\"}"));
    let troubles = health.troubles();
    let [Trouble { what: "wiring", detail, .. }] = troubles.as_slice() else { panic!("{troubles:?}") };
    assert!(detail.starts_with("e2: never-closes: "), "{detail}");
}

#[test]
fn what_the_board_says_of_itself_is_told() {
    let board = Arc::new(BoardHealth::new("a7"));
    let health = Health::new(vec![board.clone(), Arc::new(BoardHealth::new("a8"))]);
    assert_eq!(health.devices(), []);
    assert!(!health.metrics().contains("battery"));
    board
        .source(Unit::A)
        .set_about(&[("serial", "01025".into()), ("battery", serde_json::json!({"percent": 90}))]);
    board.source(Unit::A).set_about(&[("battery", serde_json::json!({"percent": 89}))]);
    let told = serde_json::to_value(health.devices()).unwrap();
    assert_eq!(told, serde_json::json!([{"board": "a7", "serial": "01025", "battery": {"percent": 89}}]));
    assert!(health.metrics().contains("touchmoved_board_battery_percent{board=\"a7\"} 89\n"));
}

#[test]
fn a_board_thread_that_hangs_is_not_alive() {
    let board = Arc::new(BoardHealth::new("1"));
    let health = Health::new(vec![board.clone()]);
    board.advance(MonoTime::from_micros(1_000_000));
    let limit = Duration::from_secs(3);
    assert!(health.all_alive(MonoTime::from_micros(4_000_000), limit));
    assert!(!health.all_alive(MonoTime::from_micros(4_000_001), limit));
    board.end();
    assert!(health.all_alive(MonoTime::from_micros(9_000_000), limit));
}

#[test]
fn records_without_room_are_counted() {
    let board = BoardHealth::new("1");
    assert!(board.take_room(1));
    assert!(!board.take_room(1));
    board.give_room();
    assert!(board.take_room(1));
    assert_eq!((board.lost(), board.figures().counts.waiting), (1, 1));
}

#[test]
fn each_of_two_boards_is_named() {
    let board = Arc::new(BoardHealth::of_two_boards("a7"));
    let health = Health::new(vec![board.clone()]);
    assert!(board.source(Unit::B).set_trouble(Some("no such device")));
    board.source(Unit::A).set_about(&[("battery", serde_json::json!({"percent": 90}))]);
    assert_eq!(health.line(), "serving board a7; board a7 B: no such device");
    let detail = "no such device".to_owned();
    let told = Trouble { board: Some("a7".into()), unit: Some("B"), what: "source", detail };
    assert_eq!(health.troubles(), [told]);
    assert_eq!(serde_json::to_value(health.devices()).unwrap()[0]["unit"], "A");
    let metrics = health.metrics();
    for line in [
        "source_failed{board=\"a7\",unit=\"A\"} 0\n",
        "source_failed{board=\"a7\",unit=\"B\"} 1\n",
        "board_battery_percent{board=\"a7\",unit=\"A\"} 90\n",
        "board_inputs_total{board=\"a7\"} 0\n",
    ] {
        assert!(metrics.contains(&format!("touchmoved_{line}")), "{line}{metrics}");
    }
}

#[test]
fn counts_stand_still_under_an_embargo_and_troubles_do_not() {
    let board = Arc::new(BoardHealth::new("1"));
    let health = Health::new(vec![board.clone()]);
    board.count_input();
    board.set_embargo(true);
    let before = health.figures();
    let text = health.metrics();
    board.set_embargo(true);
    board.count_input();
    board.count_facts(3);
    assert!(board.take_room(9));
    board.count_record();
    board.count_sync();
    assert_eq!((health.figures(), health.metrics()), (before, text));
    board.set_journal(Some("disk full"));
    assert!(health.metrics().contains("journal_failed{board=\"1\"} 1\n"));
    board.set_embargo(false);
    assert_eq!((board.figures().counts.inputs, board.figures().counts.facts), (2, 3));
}
