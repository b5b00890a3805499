use proptest::prelude::*;
use shakmaty::{Chess, Position as _, san::San};

use super::{single::ACK_MS, *};
use crate::wire::dgt::{
    Framed, Framer,
    storage::{self, Entry},
};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
const BIG: usize = 1 << 20;
const NONE: [u8; 0] = [];

fn at(ms: u64) -> MonoTime {
    MonoTime::ZERO.plus_ms(ms)
}

fn board(fen: &str) -> Board {
    fen.parse().unwrap()
}

/// An emulator with the start position, and 3:02 against 3:01 on the clock, which White runs.
struct Bench {
    emulator: Emulator,
    now: u64,
}

impl Bench {
    fn new() -> Bench {
        let mut emulator = Emulator::new(Identity::new(1025), false);
        emulator.set_board(at(0), &board(START));
        Bench { emulator, now: 1000 }
    }

    fn with_clock() -> Bench {
        let mut bench = Bench::new();
        bench.clock(181_000, 182_000, Some(Color::White));
        bench
    }

    fn clock(&mut self, white_ms: u64, black_ms: u64, running: Option<Color>) {
        let times = Times { white_ms, black_ms, running, delay_ms: 0, at: at(self.now) };
        self.emulator.set_clock(at(self.now), Some(times), true);
    }

    fn say(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.emulator.receive(at(self.now), bytes);
        self.hear()
    }

    fn hear(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.emulator.advance(at(self.now), BIG, &mut out);
        out
    }

    fn after(&mut self, ms: u64) -> Vec<u8> {
        self.now += ms;
        self.hear()
    }

    fn place(&mut self, fen: &str) -> Vec<u8> {
        self.emulator.set_board(at(self.now), &board(fen));
        self.hear()
    }
}

/// Ids of the messages.
fn ids(bytes: &[u8]) -> Vec<u8> {
    let (mut framer, mut out) = (Framer::new(), Vec::new());
    framer.push(MonoTime::ZERO, bytes, &mut out);
    assert_eq!(framer.pending(), 0, "{bytes:02x?}");
    out.iter()
        .map(|framed| match framed {
            Framed::Frame { id, .. } => *id,
            Framed::Dropped(n) => panic!("{n} bytes are no message: {bytes:02x?}"),
        })
        .collect()
}

/// Plays what a client knows of the squares.
fn follow(known: &mut Squares, bytes: &[u8]) {
    let (mut framer, mut out) = (Framer::new(), Vec::new());
    framer.push(MonoTime::ZERO, bytes, &mut out);
    for framed in out {
        let Framed::Frame { id, payload } = framed else { panic!("{framed:?}") };
        match Message::decode(id, &payload) {
            Message::Board(dump) => *known = dump.0,
            Message::Field { square, reading } => {
                known[usize::from(crate::wire::dgt::message::number_of(square))] = reading;
            }
            _ => {}
        }
    }
}

#[test]
fn a_burst_is_answered_in_its_order() {
    let mut bench = Bench::with_clock();
    let said = bench.say(&[0x40, 0x42, 0x45, 0x46, 0x4d, 0x47, 0x43]);
    assert_eq!(ids(&said), [0x86, 0x91, 0x90, 0x93, 0x92, 0x8d]);
    let said = bench.say(&[0x40, 0x55, 0x48, 0x4c, 0x49, 0x50, 0x52, 0x41, 0x4e, 0x51, 0x53, 0x54, 0x7e]);
    assert_eq!(ids(&said), [0xa2, 0x96, 0xa0, 0x8f, 0x94, 0x95, 0x8d]);
    assert_eq!(bench.after(60_000), NONE, "a reset board is silent");
}

#[test]
fn it_is_silent_until_a_program_wants_updates() {
    let mut bench = Bench::with_clock();
    assert_eq!(bench.hear(), NONE);
    assert_eq!(bench.place("rnbqkbnr/pppppppp/8/8/8/8/PPPP1PPP/RNBQKBNR"), NONE);
    assert_eq!(bench.say(&[0x44]), NONE);
    assert_eq!(bench.place("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR"), [0x8e, 0, 5, 36, 1]);
    assert_eq!(bench.after(5_000), NONE, "0x44 tells squares only");
}

#[test]
fn lifts_go_first_and_a_capture_in_one_step_is_one_update() {
    let mut bench = Bench::new();
    bench.place("4k3/8/8/3p4/4P3/8/8/4K3");
    bench.say(&[0x44]);
    assert_eq!(bench.place("4k3/8/8/3P4/8/8/8/4K3"), [0x8e, 0, 5, 36, 0, 0x8e, 0, 5, 27, 1]);
}

#[test]
fn the_clock_comes_every_second_or_when_it_changed() {
    let mut bench = Bench::with_clock();
    bench.clock(181_000, 182_000, None);
    assert_eq!(bench.say(&[0x43]), [0x8d, 0, 10, 0x20, 3, 2, 0x20, 3, 1, 0x08]);
    assert_eq!(bench.after(499), NONE);
    assert_eq!(ids(&bench.after(1)), [0x8d], "a clock that stands");
    assert_eq!(ids(&bench.say(&[0x4b])), [0x8d]);
    assert_eq!(bench.after(10_000), NONE);
    bench.clock(181_000, 182_000, Some(Color::White));
    assert_eq!(bench.hear(), [0x8d, 0, 10, 0x20, 3, 2, 0x20, 3, 1, 0x09]);
    assert_eq!(bench.after(999), NONE);
    assert_eq!(bench.emulator.deadline(at(bench.now)), Some(at(bench.now + 1)));
    assert_eq!(bench.after(1), [0x8d, 0, 10, 0x20, 3, 2, 0x20, 3, 0, 0x09]);
    bench.clock(182_000, 182_000, Some(Color::Black));
    assert_eq!(bench.hear(), [0x8d, 0, 10, 0x20, 3, 2, 0x20, 3, 2, 0x13], "a press, with its time");
}

#[test]
fn a_clock_is_acknowledged_in_the_modes_that_tell_it() {
    let mut bench = Bench::with_clock();
    bench.say(&[0x40]);
    assert_eq!(bench.say(&[0x2b, 3, 3, 9, 0]), NONE);
    assert_eq!(bench.after(100), NONE, "not in the mode of a reset");
    bench.say(&[0x44, 0x2b, 3, 3, 9, 0]);
    assert_eq!(bench.after(100), NONE, "nor where squares are told only");
    bench.say(&[0x4b]);
    assert_eq!(
        bench.say(&[0x2b, 5, 3, 9, 0, 0x42]),
        NONE,
        "a little later, and what was asked after it, too"
    );
    let said = bench.after(30);
    assert_eq!(said[..10], [0x8d, 0, 10, 0x0a, 0x10, 0x09, 0x0a, 0x20, 0, 0]);
    assert_eq!(ids(&said[10..]), [0x86]);
    bench.say(&[0x2b, 0x0a, 3, 0x0a, 0, 0, 10, 0, 0, 7, 1, 0]);
    assert_eq!(bench.after(30), [0x8d, 0, 10, 0x0a, 0x40, 0x0a, 0x0a, 0, 0, 0], "it cannot be set");
    let mut without = Bench::new();
    assert_eq!(without.say(&[0x4b]), [0x8d, 0, 10, 0, 0, 0, 0, 0, 0, 0x20]);
    without.say(&[0x2b, 3, 3, 9, 0]);
    assert_eq!(without.after(1_000), NONE, "no clock, no answer of it");
}

#[test]
fn a_turned_board_turns_its_clock() {
    let mut emulator = Emulator::new(Identity::new(1025), true);
    emulator.set_board(at(0), &board(START));
    let times =
        Times { white_ms: 60_000, black_ms: 90_000, running: Some(Color::White), delay_ms: 0, at: at(0) };
    emulator.set_clock(at(0), Some(times), false);
    emulator.receive(at(0), &[0x42, 0x41]);
    let mut out = Vec::new();
    emulator.advance(at(0), BIG, &mut out);
    assert_eq!(out[3..7], [2, 3, 4, 5]);
    assert_eq!(out[67..], [0x8d, 0, 10, 0, 1, 0, 0, 1, 0x30, 0x13]);
}

#[test]
fn the_bus_has_its_own_answers_and_its_own_way_in_and_out() {
    let mut bench = Bench::with_clock();
    assert_eq!(bench.say(&[0x87, 0, 0, 7]), [0x87, 0, 6, 8, 1, 0x16]);
    assert_eq!(bench.say(&[0x8b, 8, 1, 0x14]), [0x89, 0, 8, 8, 1, 1, 2, 0x1d]);
    assert_eq!(
        bench.say(&[0x81, 8, 1, 0x0a]),
        [0x84, 0, 0x0d, 8, 1, 0x20, 3, 2, 0x20, 3, 1, 9, 0x6c],
        "the vector of the reference"
    );
    assert_eq!(bench.say(&[0x85, 8, 1, 0x0e]), [0x88, 0, 6, 8, 1, 0x17]);
    bench.say(&[0x83, 8, 1, 0x0c]);
    assert_eq!(bench.say(&[0x83, 8, 1, 0x0c]), [0x85, 0, 6, 8, 1, 0x14]);
    bench.now += 400;
    bench.place("rnbqkbnr/pppppppp/8/8/8/8/PPPP1PPP/RNBQKBNR");
    bench.now += 100;
    bench.place("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR");
    let changes = [0x85, 0, 0x0a, 8, 1, 0x40, 0x34, 0x51, 0x24, 1];
    assert_eq!(bench.say(&[0x83, 8, 1, 0x0c]), changes);
    assert_eq!(bench.say(&[0x84, 8, 1, 0x0d]), changes, "the same packet again");
    let from_start = bench.say(&[0x86, 8, 1, 0x0f]);
    let entries = storage::decode(&from_start[5..from_start.len() - 1]);
    assert_eq!((entries.len(), entries[0]), (35, Entry::Mark(Mark::StartTag)));
    assert_eq!(bench.say(&[0x87, 8, 2, 0x11]), NONE, "another board is meant");
    assert_eq!(bench.say(&[0x8a, 8, 1, 0x13]), [0x87, 0, 6, 8, 1, 0x16]);
    assert_eq!(bench.say(&[0x87, 0, 0, 7]), NONE, "the next ping to all is ignored");
    assert_eq!(ids(&bench.say(&[0x87, 0, 0, 7, 0x42])), [0x87, 0x86]);
    bench.say(&[0x4b]);
    assert_eq!(bench.say(&[0x87, 0, 0, 7]), NONE, "the way to the bus, and no more");
    assert_eq!(bench.place(START), NONE);
    assert_eq!(ids(&bench.say(&[0x8d, 8, 1, 0x16])), [0x85, 0x84, 0x83]);
    assert_eq!(bench.say(&[0x88, 0, 0, 8]), NONE);
    assert_eq!(bench.say(&[0x87, 8, 1, 0x11]), NONE, "a wrong sum");
}

#[test]
fn what_changed_between_a_dump_and_the_updates_is_told() {
    let mut bench = Bench::new();
    bench.say(&[0x42]);
    bench.place("rnbqkbnr/pppppppp/8/8/8/8/PPPP1PPP/RNBQKBNR");
    assert_eq!(bench.say(&[0x44]), [0x8e, 0, 5, 52, 0]);
    bench.emulator.hang_up();
    bench.place(START);
    assert_eq!(bench.say(&[0x44]), NONE, "another client was told nothing");
}

#[test]
fn a_client_that_does_not_read_is_told_the_difference_later() {
    let mut bench = Bench::new();
    let mut known = [Reading::Empty; 64];
    let first = bench.say(&[0x42, 0x4b]);
    follow(&mut known, &first);
    let mut game = Chess::default();
    let mut out = Vec::new();
    for _ in 0..200 {
        for san in ["Nf3", "Nf6", "Ng1", "Ng8"] {
            game.play_unchecked(san.parse::<San>().unwrap().to_move(&game).unwrap());
            bench.emulator.set_board(at(bench.now), game.board());
            bench.emulator.advance(at(bench.now), 4, &mut out);
        }
    }
    game.play_unchecked("e4".parse::<San>().unwrap().to_move(&game).unwrap());
    bench.emulator.set_board(at(bench.now), game.board());
    assert!(out.is_empty() && bench.emulator.changes.len() <= CHANGES + 64);
    follow(&mut known, &bench.hear());
    assert_eq!(known, Dump::of(game.board()).0);
}

proptest! {
    /// Whatever a client sends, in whatever portions and with whatever room: the memory stays bounded, and a reset
    /// and a dump are right.
    #[test]
    fn no_bytes_can_upset_it(
        portions in proptest::collection::vec(
            (proptest::collection::vec(any::<u8>(), 0..120), 0u64..300, 0usize..9000),
            100..170,
        ),
    ) {
        let mut bench = Bench::with_clock();
        let placements = [START, "8/8/8/8/8/8/8/8", "4k3/8/8/3p4/4P3/8/8/4K3"];
        for (index, (bytes, pause, room)) in portions.iter().enumerate() {
            bench.now += pause;
            bench.emulator.receive(at(bench.now), bytes);
            if index % 7 == 0 {
                bench.emulator.set_board(at(bench.now), &board(placements[index % 3]));
            }
            let mut out = Vec::new();
            bench.emulator.advance(at(bench.now), *room, &mut out);
            prop_assert!(out.len() <= *room);
            let Emulator { orders, changes, .. } = &bench.emulator;
            prop_assert!(orders.len() <= ORDERS && changes.len() <= CHANGES + 64);
        }
        bench.now += 1_000;
        for _ in 0..=ORDERS {
            bench.after(ACK_MS);
        }
        bench.say(&[0x40]);
        bench.now += ACK_MS;
        let said = bench.say(&[0x42]);
        prop_assert_eq!(said, Message::Board(Box::new(Dump(bench.emulator.squares))).encode());
    }
}
