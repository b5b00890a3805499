//! Segments on a real disk: cut at any byte, changed at any byte, out of space.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use proptest::prelude::*;
use shakmaty::{Color, Square};
use touchmoved::{
    game::Board,
    journal::{
        Body, Entry, Journal, JournalError, JournalHeader, read,
        replay::{self, FactCheck, ItemKind},
    },
    publish::Tags,
    session::{
        event::{Event, Unit},
        fact::{Fact, FactKind},
        io::Input,
        setup::GameSetup,
        time::MonoTime,
    },
    wire::sensor_log,
};

const NOON: u64 = 1_769_860_800_000_000;

fn entry(us: u64, body: Body) -> Entry {
    Entry { at: MonoTime::from_micros(us), wall_us: NOON + us, body }
}

fn begin(path: &Path) -> Journal {
    let header = JournalHeader::new("1", GameSetup::default(), Tags::default());
    Journal::create(path, header, MonoTime::ZERO, NOON).unwrap()
}

/// It tells of touches and of a sealed move.
#[test]
fn a_journal_is_for_its_user_and_group() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    begin(&path);
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o137, 0);
}

/// One of the many things that are recorded.
fn body() -> impl Strategy<Value = Body> {
    let square = (0u32..64).prop_map(Square::new);
    prop_oneof![
        4 => (square.clone(), any::<bool>())
            .prop_map(|(square, occupied)| Body::Input(Event::Square { square, occupied }.into())),
        1 => any::<bool>().prop_map(|white| {
            let side = if white { Color::White } else { Color::Black };
            Body::Input(Input::Event(Unit::B, Event::Press(side)))
        }),
        1 => (prop::sample::select(&Unit::ALL[..]), proptest::collection::vec(any::<u8>(), 0..12))
            .prop_map(|(unit, bytes)| Body::Input(Input::Dgt(unit, bytes))),
        1 => (prop::sample::select(&Unit::ALL[..]), ".{0,12}")
            .prop_map(|(unit, line)| Body::Input(Input::Peg(unit, line))),
        1 => ".{0,12}".prop_map(|name| Body::Input(Event::Button(name).into())),
        2 => (square, 0u64..9999).prop_map(|(square, ms)| {
            Body::Fact(Fact { ev: 3, at: MonoTime::from_micros(ms), kind: FactKind::PutBack { square, ms, adjusting: false } })
        }),
        1 => ".{0,12}".prop_map(Body::Note),
    ]
}

fn bodies() -> impl Strategy<Value = Vec<Body>> {
    proptest::collection::vec(body(), 1..12)
}

fn written(path: &Path, bodies: &[Body]) -> Vec<u8> {
    let mut journal = begin(path);
    for (us, body) in (1000..).zip(bodies) {
        journal.append(&entry(us, body.clone())).unwrap();
    }
    journal.sync().unwrap();
    drop(journal);
    fs::read(path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A power failure at any byte loses the torn line at most; the rest verifies and goes on.
    #[test]
    fn a_segment_cut_at_any_byte_is_recovered(bodies in bodies(), at in any::<prop::sample::Index>()) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        let bytes = written(&path, &bodies);
        let length = at.index(bytes.len() + 1);
        fs::write(&path, &bytes[..length]).unwrap();
        let whole = bytes[..length].iter().filter(|byte| **byte == b'\n').count();
        let complete = bytes[..length].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        match Journal::recover(&path) {
            Err(JournalError::NoHeader { .. }) => prop_assert_eq!(whole, 0),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
            Ok(mut recovered) => {
                let torn = length - complete;
                prop_assert_eq!(recovered.cut.as_ref().map(|cut| cut.bytes), (torn > 0).then_some(torn as u64));
                let inputs = bodies[..whole - 1].iter().filter(|body| matches!(body, Body::Input(_))).count();
                prop_assert_eq!(recovered.inputs.len(), inputs);
                recovered.journal.append(&entry(9999, Body::Note("goes on".to_owned()))).unwrap();
                recovered.journal.sync().unwrap();
                let kept = fs::read(&path).unwrap();
                prop_assert_eq!(&kept[..complete], &bytes[..complete]);
                let records = whole + usize::from(torn > 0) + 1;
                prop_assert_eq!(read::verify(&path).unwrap().records, records as u64);
            }
        }
    }

    /// A changed byte is found, at its record or, when a line end was changed, at the joined line.
    #[test]
    fn a_flipped_bit_is_detected(
        bodies in bodies(),
        at in any::<prop::sample::Index>(),
        bit in 0u8..8,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        let mut bytes = written(&path, &bodies);
        let place = at.index(bytes.len());
        let line = bytes[..place].iter().filter(|byte| **byte == b'\n').count() + 1;
        bytes[place] ^= 1 << bit;
        fs::write(&path, &bytes).unwrap();
        match read::verify(&path) {
            Err(read::VerifyError::Bad(bad)) => prop_assert_eq!(bad.seq, line as u64),
            other => return Err(TestCaseError::fail(format!("byte {place}: {other:?}"))),
        }
        // Recovery never touches a file that was changed before its last line.
        if line < bodies.len() {
            prop_assert!(Journal::recover(&path).is_err());
            prop_assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }

    /// A record that is removed, doubled or moved is found.
    #[test]
    fn rearranged_records_are_detected(bodies in bodies(), at in any::<prop::sample::Index>(), how in 0..3) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        let text = String::from_utf8(written(&path, &bodies)).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        let index = at.index(lines.len() - 1);
        match how {
            0 => drop(lines.remove(index)),
            1 => lines.insert(index, lines[index]),
            _ => lines.swap(index, index + 1),
        }
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let error = read::verify(&path);
        prop_assert!(matches!(error, Err(read::VerifyError::Bad(_))), "{how} {index}: {error:?}");
    }

    /// The log that is exported leads to the facts that the journal's own inputs lead to.
    #[test]
    fn an_exported_log_replays_to_the_same_facts(squares in proptest::collection::vec((0u32..64, any::<bool>()), 0..40)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        let inputs: Vec<(u64, Input)> = (0u64..)
            .zip(squares)
            .map(|(n, (square, occupied))| {
                (n * 170_000, Event::Square { square: Square::new(square), occupied }.into())
            })
            .collect();
        record(&path, &inputs);
        let outcome = replay::check(&path).unwrap();
        prop_assert_eq!(outcome.inputs, inputs.len() as u64);
        prop_assert_eq!(outcome.missing.len(), 0);

        let mut log = replay::open(&path).unwrap();
        let mut board = Board::new(log.setup()).unwrap();
        board.keep_events();
        let mut exported = vec![sensor_log::format_header(log.setup())];
        let mut facts = FactCheck::new();
        while let Some(item) = log.next_item().unwrap() {
            match item.kind {
                ItemKind::Input(input) => board.input(item.at, &input),
                ItemKind::Fact(fact) => facts.recorded(fact).unwrap(),
                _ => {}
            }
            while let Some(event) = board.poll_event() {
                exported.push(sensor_log::format_event(&event));
            }
        }
        let text = exported.join("\n");
        let mut log = replay::read("exported", Box::new(std::io::Cursor::new(text))).unwrap();
        let mut again = Board::new(log.setup()).unwrap();
        while let Some(item) = log.next_item().unwrap() {
            let ItemKind::Input(input) = item.kind else { continue };
            again.input(item.at, &input);
        }
        again.advance(MonoTime::END);
        while let Some(fact) = again.poll_fact() {
            facts.computed(&fact).unwrap();
        }
        prop_assert_eq!(facts.finish().unwrap().1.len(), 0);
    }
}

/// Records inputs and the facts that follow as the daemon does.
fn record(path: &Path, inputs: &[(u64, Input)]) {
    let mut journal = begin(path);
    let mut board = Board::new(&GameSetup::default()).unwrap();
    let drain = |board: &mut Board, journal: &mut Journal, us: u64| {
        while let Some(fact) = board.poll_fact() {
            journal.append(&entry(us, Body::Fact(fact))).unwrap();
        }
    };
    for (us, input) in inputs {
        let at = MonoTime::from_micros(*us);
        while let Some(deadline) = board.deadline().filter(|deadline| *deadline < at) {
            board.advance(deadline);
            drain(&mut board, &mut journal, deadline.as_micros());
        }
        journal.append(&entry(*us, Body::Input(input.clone()))).unwrap();
        board.input(at, input);
        drain(&mut board, &mut journal, *us);
    }
    board.advance(MonoTime::END);
    drain(&mut board, &mut journal, inputs.last().map_or(0, |(us, _)| *us));
    journal.sync().unwrap();
}

#[test]
fn a_fact_that_differs_from_what_the_inputs_lead_to_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ndjson");
    let mut journal = begin(&path);
    journal.append(&entry(10, Body::Input(Event::Tick.into()))).unwrap();
    let fact = Fact { ev: 0, at: MonoTime::from_micros(10), kind: FactKind::ResultWithdrawn };
    journal.append(&entry(10, Body::Fact(fact))).unwrap();
    drop(journal);
    let error = replay::check(&path).unwrap_err().to_string();
    assert!(error.contains("fact 1 (record 3) comes out differently"), "{error}");
    assert!(error.contains("result_withdrawn") && error.contains("logic version"), "{error}");
}

#[test]
fn a_line_that_is_being_written_is_left_out_by_readers() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ndjson");
    let bytes = written(&path, &[Body::Input(Event::Tick.into()), Body::Input(Event::Tick.into())]);
    fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    let outcome = replay::check(&path).unwrap();
    assert_eq!((outcome.inputs, outcome.torn), (1, true));
}

/// Name of the variable that makes this test binary the child of the test below.
const CHILD: &str = "JOURNAL_WITHOUT_SPACE";

/// The system refuses to let the file grow, in the middle of a line, and allows it again later.
#[test]
fn a_disk_without_space_loses_nothing_once_space_returns() {
    if let Ok(path) = std::env::var(CHILD) {
        return write_without_space(&PathBuf::from(path));
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ndjson");
    // The limit of file sizes stands in for the full disk: writes are cut short and then refused.
    let script = "trap '' XFSZ; ulimit -S -f 8 && exec \"$0\" --exact \"$1\" --nocapture";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .arg("a_disk_without_space_loses_nothing_once_space_returns")
        .env(CHILD, &path)
        .output()
        .unwrap();
    let told =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let told = fs::read_to_string(&path).unwrap();
    assert!(told.lines().next_back().unwrap().contains("\"note\":{\"text\":\"again\"}"));
    assert!(read::verify(&path).unwrap().records > 401);
    let seen: Vec<u64> =
        Journal::recover(&path).unwrap().inputs.iter().map(|(at, _)| at.as_micros()).collect();
    assert_eq!(seen, (0..400).collect::<Vec<u64>>());
}

fn write_without_space(path: &Path) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let mut journal = begin(path);
    let body = || Body::Input(Event::Button("x".repeat(20)).into());
    let mut refused = 0;
    for us in 0..400 {
        journal.append(&entry(us, body())).unwrap();
        if let Err(error) = journal.sync() {
            let text = error.to_string();
            assert!(matches!(error, JournalError::Io { .. }) && text.contains("limit"), "{text}");
            refused += 1;
        }
    }
    assert!(refused > 300, "the limit did not act");
    // What stands on the disk while there is no space is a whole journal with a torn tail at most.
    match read::verify(path) {
        Ok(verified) => assert!(verified.records > 1),
        Err(read::VerifyError::Bad(bad)) => assert!(bad.torn && bad.seq > 2, "{bad}"),
        Err(error) => panic!("{error}"),
    }
    // Memory is bounded: at some point an entry is not taken, and may be handed over again later.
    let large = entry(400, Body::Note("n".repeat(100_000)));
    let mut seq = journal.seq();
    while journal.append(&large).is_ok() {
        seq += 1;
        assert_eq!(journal.seq(), seq);
    }
    assert_eq!(journal.seq(), seq);
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: maximum, maximum }).unwrap();
    journal.append(&entry(401, Body::Note("again".to_owned()))).unwrap();
    journal.sync().unwrap();
    assert_eq!((journal.unsynced(), journal.seq()), (0, seq + 1));
}

#[test]
fn a_journal_that_is_dropped_writes_what_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ndjson");
    let mut journal = begin(&path);
    for us in 0..5000 {
        journal.append(&entry(us, Body::Note("n".repeat(100)))).unwrap();
    }
    let length = fs::metadata(&path).unwrap().len();
    assert!(length > 64 << 10, "bytes reach the file without a sync: {length}");
    drop(journal);
    assert_eq!(read::verify(&path).unwrap().records, 5001);
}

/// Opening moves by hand: lifts, placings and presses, one with the opponent's hand in between.
fn game() -> Vec<(u64, Input)> {
    let mut inputs = Vec::new();
    let mut us = 0;
    let plies = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5c6", "d7c6", "e1g1", "f7f6"];
    for (ply, uci) in plies.iter().enumerate() {
        let side = if ply % 2 == 0 { Color::White } else { Color::Black };
        let square = |text: &str| text.parse::<Square>().unwrap();
        let mut hands = vec![(square(&uci[..2]), false), (square(&uci[2..]), true)];
        if uci.ends_with("c6") && ply > 4 {
            hands.insert(1, (square("c6"), false));
        }
        if *uci == "e1g1" {
            hands.extend([(Square::H1, false), (Square::F1, true)]);
        }
        for (square, occupied) in hands {
            us += 180_000 + 40_000 * ply as u64;
            inputs.push((us, Event::Square { square, occupied }.into()));
        }
        if ply != 3 {
            us += 120_000;
            inputs.push((us, Event::Press(side).into()));
        }
    }
    inputs.push((us + 10_000_000, Event::Tick.into()));
    inputs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The power fails at any byte. What was lost is at most what stood behind the cut; the game is
    /// restored from the rest, goes on in the same file, and replays without a difference.
    #[test]
    fn a_game_goes_on_in_its_journal_after_a_power_failure(at in any::<prop::sample::Index>()) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        let game = game();
        record(&path, &game);
        let whole = replay::check(&path).unwrap();
        prop_assert_eq!((whole.inputs, whole.missing.len()), (game.len() as u64, 0));
        let bytes = fs::read(&path).unwrap();
        let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        fs::write(&path, &bytes[..header + at.index(bytes.len() - header + 1)]).unwrap();

        let mut recovered = Journal::recover(&path).unwrap();
        let mut board = Board::new(&recovered.header.setup).unwrap();
        for (at, input) in &recovered.inputs {
            board.input(*at, input);
        }
        board.advance(recovered.last);
        let facts: Vec<Fact> = std::iter::from_fn(|| board.poll_fact()).collect();
        let us = recovered.last.as_micros();
        for fact in facts.into_iter().skip(recovered.facts) {
            recovered.journal.append(&entry(us, Body::Fact(fact))).unwrap();
        }
        let done = recovered.inputs.len();
        for (us, input) in &game[done..] {
            recovered.journal.append(&entry(*us, Body::Input(input.clone()))).unwrap();
            board.input(MonoTime::from_micros(*us), input);
            while let Some(fact) = board.poll_fact() {
                recovered.journal.append(&entry(*us, Body::Fact(fact))).unwrap();
            }
        }
        board.advance(MonoTime::END);
        while let Some(fact) = board.poll_fact() {
            recovered.journal.append(&entry(us, Body::Fact(fact))).unwrap();
        }
        recovered.journal.sync().unwrap();
        let outcome = replay::check(&path).unwrap();
        prop_assert_eq!((outcome.inputs, outcome.missing.len()), (game.len() as u64, 0));
        prop_assert_eq!(outcome.facts, whole.facts);
    }
}
