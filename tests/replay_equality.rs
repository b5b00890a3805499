//! A journal, run again, gives the facts that it holds; the sensor log exported from it gives the same
//! facts, byte for byte. On every fixture, on simulated hands and on the bytes of a DGT board.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/play.rs"]
mod play;
#[path = "support/streams.rs"]
mod streams;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use touchmoved::{
    game::Board,
    journal::{Body, Entry, Journal, JournalHeader, replay::check},
    publish::Tags,
    session::{
        event::{Event, Unit},
        io::Input,
        settings::OrientationSetting,
        setup::{BoardKind, GameSetup, Signal, UnitSetup},
        time::MonoTime,
    },
    simulate::{
        games::GAMES,
        params::{Level, Params},
        simulate,
    },
    wire::dgt::message::Dump,
};

use streams::{SETS, streams};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

/// Records a game as the daemon does: the input, then what it led to, deadlines at their own time.
fn record(path: &Path, setup: &GameSetup, inputs: &[(MonoTime, Input)]) -> usize {
    let header = JournalHeader::new("1", setup.clone(), Tags::default());
    let mut journal = Journal::create(path, header, MonoTime::ZERO, 1_700_000_000_000_000).unwrap();
    let mut board = Board::new(setup).unwrap();
    let mut facts = 0;
    let mut put = |at, body| {
        let entry = Entry { at, wall_us: 1_700_000_000_000_000 + at.as_micros(), body };
        journal.append(&entry).unwrap();
    };
    for (at, input) in inputs {
        board.advance(MonoTime::from_micros(at.as_micros().saturating_sub(1)));
        while let Some(fact) = board.poll_fact() {
            facts += 1;
            put(fact.at, Body::Fact(fact));
        }
        put(*at, Body::Input(input.clone()));
        board.input(*at, input);
        while let Some(fact) = board.poll_fact() {
            facts += 1;
            put(fact.at, Body::Fact(fact));
        }
    }
    journal.sync().unwrap();
    facts
}

/// Runs the program and gives its standard output.
fn touchmoved(args: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_touchmoved")).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn prove(name: &str, setup: &GameSetup, inputs: &[(MonoTime, Input)]) {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal.ndjson");
    let log = folder.path().join("log.ndjson");
    let recorded = record(&journal, setup, inputs);
    let outcome = check(&journal).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(outcome.facts as usize, recorded, "{name}");
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let from_journal = touchmoved(&["replay", "--emit", "facts", &text(&journal)]);
    touchmoved(&["export", &text(&journal), "-o", &text(&log)]);
    let from_log = touchmoved(&["replay", "--emit", "facts", &text(&log)]);
    assert!(!from_journal.is_empty(), "{name}");
    assert!(from_journal == from_log, "{name}: the exported log leads to other facts");
}

/// Games of deliberate handling, and scrambles with contact edges and with identities: every third one, each is read
/// five times.
#[test]
fn every_kind_of_recorded_stream() {
    let mut count = 0;
    for (set, level) in SETS.into_iter().flat_map(|set| ["clean", "chaos"].map(|level| (set, level))) {
        for stream in streams(set, level)
            .into_iter()
            .filter(|stream| level == "clean" || stream.kind != "occ")
            .step_by(3)
        {
            let inputs: Vec<_> = stream
                .events
                .iter()
                .map(|stamped| (stamped.at, Input::Event(stamped.unit, stamped.event.clone())))
                .collect();
            prove(&format!("{set}/{level}/{}", stream.id()), &stream.setup, &inputs);
            count += 1;
        }
    }
    assert_eq!(count, 39);
}

#[test]
fn simulated_hands_with_bouncing_contacts() {
    for (number, game) in GAMES.iter().enumerate() {
        for level in [Level::Clean, Level::Tournament, Level::Chaos] {
            let game = game.game(GameSetup::default());
            let simulation = simulate(&game, &Params::level(level), number as u64).unwrap();
            let inputs: Vec<_> = simulation
                .events
                .into_iter()
                .map(|stamped| (stamped.at, Input::Event(stamped.unit, stamped.event)))
                .collect();
            prove(&format!("game {number} at {level:?}"), &simulation.setup, &inputs);
        }
    }
}

/// The recorded sequences of a real board, as bytes in odd portions, with garbage between them.
#[test]
fn the_bytes_of_a_dgt_board() {
    let text = fs::read_to_string(Path::new(FIXTURES).join("dgt/vectors.json")).unwrap();
    let vectors: Value = serde_json::from_str(&text).unwrap();
    let mut inputs = vec![
        (MonoTime::ZERO, Input::Event(Unit::A, Event::Link(true))),
        (MonoTime::from_micros(1000), Input::Dgt(Unit::A, dump(&shakmaty::Board::new()))),
    ];
    let mut at = 1_000_000;
    for sequence in vectors["real_sequences"].as_array().unwrap() {
        let bytes: Vec<u8> =
            sequence["hex"].as_array().unwrap().iter().flat_map(|hex| unhex(hex.as_str().unwrap())).collect();
        for portion in bytes.chunks(3) {
            inputs.push((MonoTime::from_micros(at), Input::Dgt(Unit::A, portion.to_vec())));
            at += 70_000;
        }
        inputs.push((MonoTime::from_micros(at), Input::Dgt(Unit::A, vec![0x55, 0x8e, 0x00])));
        at += 2_000_000;
    }
    let setup = GameSetup { board: BoardKind::Dgt, ..GameSetup::default() };
    prove("DGT bytes", &setup, &inputs);
}

/// Two boards side by side: a matrix with bouncing contacts, and a DGT board that lies turned and mirrors what
/// the matrix shows, in odd portions, with garbage and outages between them.
#[test]
fn two_boards_each_read_in_its_own_way() {
    let game = GAMES[0].game(GameSetup::default());
    let simulation = simulate(&game, &Params::level(Level::Tournament), 7).unwrap();
    let mut setup = GameSetup { board: BoardKind::TwoBoard, ..simulation.setup.clone() };
    setup.signal = Signal::Debounced;
    let settings = setup.settings;
    let [first, second] = &mut setup.units;
    *first = UnitSetup { signal: Signal::Raw, ..UnitSetup::new(BoardKind::Reed, &settings) };
    *second = UnitSetup {
        orientation: OrientationSetting::WhiteNorth,
        ..UnitSetup::new(BoardKind::Dgt, &settings)
    };
    let mut start = shakmaty::Board::new();
    start.rotate_180();
    let mut inputs = vec![(MonoTime::ZERO, Input::Dgt(Unit::B, dump(&start)))];
    for (n, stamped) in simulation.events.into_iter().enumerate() {
        let at = stamped.at;
        if let Event::Square { square, occupied } = stamped.event {
            // As the other board numbers its squares: a8 is 0, and it lies turned.
            let number = u8::try_from(u32::from(square.flip_horizontal())).unwrap();
            let update = [0x8e, 0x00, 0x05, number, u8::from(occupied)];
            let (head, tail) = update.split_at(n % 5);
            inputs.push((at, Input::Dgt(Unit::B, head.to_vec())));
            inputs.push((at, Input::Event(Unit::A, Event::Square { square, occupied })));
            inputs.push((at, Input::Dgt(Unit::B, tail.to_vec())));
        } else {
            inputs.push((at, Input::Event(stamped.unit, stamped.event)));
        }
        match n % 97 {
            40 => inputs.push((at, Input::Event(Unit::B, Event::Link(false)))),
            60 => inputs.push((at, Input::Event(Unit::B, Event::Link(true)))),
            80 => inputs.push((at, Input::Dgt(Unit::B, vec![0x55, 0x8e, 0x00]))),
            _ => {}
        }
    }
    prove("two boards", &setup, &inputs);
    let mut board = Board::new(&setup).unwrap();
    inputs.iter().for_each(|(at, input)| board.input(*at, input));
    board.advance(MonoTime::END);
    assert!(board.session().plies().len() > 10, "{}", board.session().plies().len());
}

fn dump(board: &shakmaty::Board) -> Vec<u8> {
    touchmoved::wire::dgt::Message::Board(Box::new(Dump::of(board))).encode()
}

fn unhex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}
