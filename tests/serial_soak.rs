//! Cables that come out again and again. The short forms run with all tests; `tests/soak` runs the long ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/dgt.rs"]
mod dgt;
#[path = "support/flaky.rs"]
mod flaky;

use std::time::Duration;

use dgt::{Desk, START, Tell, TestBoard, is_pieces};
use flaky::{Chance, Flaky};
use shakmaty::{Board, Piece, Square};
use touchmoved::{
    session::event::Event,
    wire::dgt::{Message, message::Reading as Code},
};

/// A board for so many simulated hours: what it told, and that nothing was lost.
fn hours(hours: u64, seed: u64) {
    let mut board = Flaky::new(seed);
    board.run(hours * 3_600_000);
    let told = board.summary();
    println!("{hours} h, seed {seed}: {told:?}");
    // A share of each kind of trouble, or the test would show nothing.
    assert!(told.outages >= hours * 8, "{told:?}");
    assert!(told.changes >= hours * 200, "{told:?}");
    assert!(told.commands <= hours * 3_600_000 / 200, "no storm: {told:?}");
    assert!((1..=1000).contains(&told.longest_return_ms), "{told:?}");
}

#[test]
fn some_hours_of_unplugging() {
    for seed in 0..4 {
        hours(2, seed);
    }
}

#[test]
#[ignore = "the long form: tests/soak"]
fn a_day_of_unplugging() {
    for seed in 0..20 {
        hours(24, seed);
    }
}

/// Open files and resident memory of this process, in kB.
fn held() -> (usize, u64) {
    let files = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    (files, line.trim().trim_end_matches(" kB").trim().parse().unwrap())
}

/// What the events show.
fn show(board: &mut Board, event: &Event) {
    match event {
        Event::Pieces(men) => *board = men.clone(),
        Event::Piece { square, piece: Some(man) } => board.set_piece_at(*square, *man),
        Event::Piece { square, piece: None } => board.discard_piece_at(*square),
        _ => {}
    }
}

/// Pulls the cable of a real source so many times.
fn pulled(times: u32) {
    let mut chance = Chance::new(7);
    let (mut desk, board) = Desk::with(START);
    desk.until(is_pieces);
    let mut board = Some(board);
    let mut shown: Board = START.parse().unwrap();
    let mut files = 0;
    let mut memory = 0;
    for round in 0..times {
        let plugged = board.take().unwrap();
        for _ in 0..chance.below(6) {
            let square = Square::new(u32::try_from(chance.below(64)).unwrap());
            plugged.tell(Tell::Hand(square, Code::from_code(chance.below(13) as u8)));
        }
        if chance.below(3) == 0 {
            // Half a message, and the cable is out.
            let message = Message::Board(Box::new(touchmoved::wire::dgt::message::Dump::of(&shown))).encode();
            plugged.play(&message[..chance.below(67) as usize]);
        }
        if chance.below(2) == 0 {
            std::thread::sleep(Duration::from_millis(chance.below(80)));
        }
        let (_, inside) = plugged.unplug();
        desk.until(|event| *event == Event::Link(false));
        board = Some(TestBoard::again(&desk.link, inside.clone()));
        let events = desk.until(is_pieces);
        let up = events.iter().position(|event| *event == Event::Link(true)).unwrap();
        events[up..].iter().for_each(|event| show(&mut shown, event));
        assert_eq!(shown, inside.position.placement(), "round {round}");
        // A change while connected is told, whatever was before.
        let queen = Piece::from_char('q');
        let man = if shown.piece_at(Square::D4) == queen { Piece::from_char('Q') } else { queen };
        board.as_ref().unwrap().tell(Tell::Hand(Square::D4, man.map_or(Code::Empty, Code::Man)));
        desk.until(|event| match event {
            Event::Piece { square, piece } => *square == Square::D4 && *piece == man,
            Event::Pieces(men) => men.piece_at(Square::D4) == man,
            _ => false,
        });
        if round == times / 4 {
            (files, memory) = held();
        }
    }
    let (files_after, memory_after) = held();
    println!("{times} times: {files} to {files_after} files, {memory} to {memory_after} kB");
    assert!(files_after <= files + 4, "files leak: {files} to {files_after}");
    assert!(memory_after <= memory + 8192, "memory leaks: {memory} to {memory_after} kB");
    board.unwrap().unplug();
    desk.end();
}

#[test]
fn a_cable_that_is_pulled_some_times() {
    pulled(12);
}

#[test]
#[ignore = "the long form: tests/soak"]
fn a_cable_that_is_pulled_all_day() {
    pulled(250);
}
