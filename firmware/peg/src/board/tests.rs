#![allow(clippy::indexing_slicing)]

use super::*;
use std::{
    string::{String, ToString as _},
    vec::Vec,
};

const START: u64 = 0xffff_0000_0000_ffff;
const E2: u64 = 1 << 12;
const E4: u64 = 1 << 28;
const KEYS: [Key<'static>; 3] =
    [Key::Press(Side::White), Key::Press(Side::Black), Key::Button("draw-offer-white")];

fn board() -> Board<'static> {
    let identity = Identity { firmware: "reference", version: "0.1.0", serial: "PB0007" };
    Board::new(identity, Settings::default(), &KEYS)
}

/// The lines that are ready, without their checksums.
fn lines(board: &mut Board<'_>, now_ms: u32) -> Vec<String> {
    core::iter::from_fn(|| board.next_line(now_ms))
        .map(|line| {
            let text = String::from_utf8(line.as_bytes().to_vec()).unwrap();
            text.split('*').next().unwrap().to_string()
        })
        .collect()
}

fn ask(board: &mut Board<'_>, text: &str) {
    text.bytes().for_each(|byte| board.receive(byte));
}

fn started() -> Board<'static> {
    let mut board = board();
    board.scan(0, Holes::of(START), 0);
    assert_eq!(lines(&mut board, 0).len(), 2);
    board
}

#[test]
fn a_board_introduces_itself_once_it_has_looked() {
    let mut board = board();
    assert!(lines(&mut board, 3).is_empty());
    board.scan(5, Holes::of(START), 0);
    assert_eq!(
        lines(&mut board, 5),
        [
            "$HELLO,0,5,proto=1,firmware=reference,version=0.1.0,serial=PB0007,close=5,open=15,beat=1000,half=no",
            "$BOARD,1,5,ffff00000000ffff",
        ]
    );
    assert_eq!(lines(&mut board, 1005), ["$BEAT,2,1005,ffff00000000ffff"]);
    assert!(lines(&mut board, 1006).is_empty());
}

#[test]
fn a_peg_counts_after_its_rest_and_a_wiggle_does_not() {
    let mut board = started();
    for (ms, open) in [(10, true), (12, false), (13, true), (27, true)] {
        board.scan(ms, Holes::of(if open { START ^ E2 } else { START }), 0);
        assert!(lines(&mut board, ms).is_empty(), "{ms}");
    }
    board.scan(28, Holes::of(START ^ E2), 0);
    assert_eq!(lines(&mut board, 28), ["$PEG,2,28,e2,out"]);
    board.scan(50, Holes::of(START ^ E2 ^ E4), 0);
    board.scan(55, Holes::of(START ^ E2 ^ E4), 0);
    assert_eq!(lines(&mut board, 60), ["$PEG,3,55,e4,in"]);
    // Pushed and pulled, but not out.
    for (ms, open) in [(70, true), (84, false), (99, false)] {
        board.scan(ms, Holes::of(START ^ E2 ^ if open { 0 } else { E4 }), 0);
    }
    assert!(lines(&mut board, 100).is_empty());
}

#[test]
fn a_peg_half_out_is_told_where_there_are_two_contacts() {
    let mut board = board();
    let holes = |filled, seated| Holes { filled, seated: Some(seated) };
    board.scan(0, holes(START, START), 0);
    assert!(lines(&mut board, 0)[0].ends_with("half=yes"));
    for ms in [10, 30] {
        board.scan(ms, holes(START, START ^ E2), 0);
    }
    assert_eq!(lines(&mut board, 30), ["$PEG,2,30,e2,half"]);
    ask(&mut board, "?board\n");
    assert_eq!(lines(&mut board, 31), ["$BOARD,3,31,ffff00000000ffff,0000000000001000"]);
    for ms in [40, 60] {
        board.scan(ms, holes(START ^ E2, START ^ E2), 0);
    }
    for ms in [70, 90] {
        board.scan(ms, holes(START, START), 0);
    }
    assert_eq!(lines(&mut board, 90), ["$PEG,4,60,e2,out", "$PEG,5,90,e2,in"]);
}

#[test]
fn keys_are_told_when_they_are_pressed_and_not_when_they_are_let_go() {
    let mut board = started();
    for (ms, keys) in [(10, 5), (20, 5), (40, 0), (80, 0), (90, 2), (95, 2)] {
        board.scan(ms, Holes::of(START), keys);
    }
    assert_eq!(
        lines(&mut board, 100),
        ["$PRESS,2,20,white", "$BUTTON,3,20,draw-offer-white", "$PRESS,4,95,black"]
    );
}

#[test]
fn a_key_that_is_held_at_the_start_was_not_pressed() {
    let mut board = board();
    board.scan(0, Holes::of(START), 1);
    board.scan(50, Holes::of(START), 1);
    assert_eq!(lines(&mut board, 50).len(), 2);
}

#[test]
fn requests_are_answered_after_what_happened_before() {
    let mut board = started();
    board.scan(10, Holes::of(START ^ E2), 0);
    board.scan(30, Holes::of(START ^ E2), 0);
    ask(&mut board, "?hello\r\n");
    let told = lines(&mut board, 31);
    assert_eq!(told[0], "$PEG,2,30,e2,out");
    assert!(told[1].starts_with("$HELLO,3,31,proto=1,"), "{told:?}");
    assert_eq!(told[2], "$BOARD,4,31,ffff00000000efff");
    ask(&mut board, "?reboot\n");
    assert_eq!(lines(&mut board, 32), ["$FAULT,5,32,request"]);
}

#[test]
fn what_finds_no_place_leaves_a_gap_in_the_numbers() {
    let mut board = started();
    for (ms, filled) in [(10, 0), (30, 0), (40, u64::MAX), (50, u64::MAX)] {
        board.scan(ms, Holes::of(filled), 0);
    }
    // 32 lifts, 64 places: 64 find a place.
    let told = lines(&mut board, 50);
    assert_eq!(told.len(), 66);
    assert_eq!(told[63], "$PEG,65,50,h4,in");
    assert_eq!(told[64..], ["$FAULT,67,50,overflow", "$BOARD,68,50,ffffffffffffffff"]);
}

#[test]
fn the_numbers_and_the_clock_wrap() {
    let mut board = started();
    board.seq = u16::MAX;
    board.last_beat = u32::MAX - 500;
    assert_eq!(lines(&mut board, u32::MAX), Vec::<String>::new());
    board.report(Fault::Sensor);
    assert_eq!(lines(&mut board, 499), ["$FAULT,65535,499,sensor", "$BEAT,0,499,ffff00000000ffff"]);
}

#[test]
fn what_holds_of_the_holes_is_said_again_behind_each_introduction() {
    let mut board = started();
    board.report(Fault::Sensor);
    let kinds = |lines: Vec<String>| -> Vec<String> {
        lines.iter().map(|line| line.split(',').next_back().unwrap().into()).collect()
    };
    assert_eq!(kinds(lines(&mut board, 10)), ["sensor"]);
    b"?board\r".iter().for_each(|byte| board.receive(*byte));
    assert_eq!(kinds(lines(&mut board, 20)), ["ffff00000000ffff"]);
    b"?hello\r".iter().for_each(|byte| board.receive(*byte));
    assert_eq!(kinds(lines(&mut board, 30)), ["half=no", "ffff00000000ffff", "sensor"]);
    board.report(Fault::SensorOk);
    assert_eq!(kinds(lines(&mut board, 40)), ["sensor-ok", "ffff00000000ffff"]);
    b"?hello\r".iter().for_each(|byte| board.receive(*byte));
    assert_eq!(kinds(lines(&mut board, 50)), ["half=no", "ffff00000000ffff"]);
}
