use proptest::prelude::*;

use super::*;
use crate::{
    daemon::{
        outbox::tests::Seen,
        segments::Segments,
        writer::{
            self, Store,
            tests::{Disk, NEVER},
        },
    },
    journal::JournalHeader,
    publish::{FeedEvent, Tags},
    session::{event::Stamped, setup::GameSetup},
    simulate::{
        Simulation,
        games::DemoGame,
        params::{Level, Params},
        simulate,
    },
};

/// What an engine has led to: its records and what left it.
struct Outcome {
    entries: Vec<Entry>,
    sent: Vec<(Origin, FeedEvent)>,
}

/// Runs `work` on the engine of a new game.
fn run(setup: &GameSetup, work: impl FnOnce(&mut Engine)) -> Outcome {
    let (disk, seen) = (Disk::default(), Seen::default());
    let outbox = Arc::new(Outbox::new("1", Box::new(seen.clone())));
    let health = Arc::new(BoardHealth::new("1"));
    let (pen, thread) = writer::start(disk.clone(), outbox.clone(), health.clone(), NEVER).unwrap();
    let board = Board::new(setup).unwrap();
    let publisher = Publisher::new("1", setup, Tags::default(), board.session());
    let mut engine = Engine::new(board, publisher, pen, outbox, health, MonoTime::ZERO);
    work(&mut engine);
    drop(engine);
    thread.join().unwrap();
    Outcome { entries: disk.durable(), sent: seen.take_dated() }
}

fn simulation() -> Simulation {
    let mut game = DemoGame::find("opera").unwrap().game(GameSetup::default());
    game.moves.truncate(8);
    simulate(&game, &Params::level(Level::Tournament), 11).unwrap()
}

fn facts(entries: &[Entry]) -> Vec<Fact> {
    entries
        .iter()
        .filter_map(|entry| match &entry.body {
            Body::Fact(fact) => Some(fact.clone()),
            _ => None,
        })
        .collect()
}

/// Runs the inputs of a journal through a board of its own.
fn run_again(setup: &GameSetup, entries: &[Entry]) -> Vec<Fact> {
    let mut board = Board::new(setup).unwrap();
    let mut facts = Vec::new();
    for entry in entries {
        if let Body::Input(input) = &entry.body {
            board.input(entry.at, input);
            facts.extend(drain(&mut board));
        }
    }
    board.advance(MonoTime::END);
    facts.extend(drain(&mut board));
    facts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the delays between the sources and the board thread: the journal is in the order of
    /// its times, and its inputs lead to its facts.
    #[test]
    fn the_journal_leads_to_its_facts_whatever_the_delays(delays in prop::collection::vec(0u64..400_000, 64)) {
        let simulation = simulation();
        let outcome = run(&simulation.setup, |engine| {
            for (stamped, delay) in simulation.events.iter().zip(delays.iter().cycle()) {
                // The clock is ahead of a reading that was stamped and is still on its way.
                engine.advance(stamped.at.plus_micros(*delay));
                engine.input(stamped.at, Input::Event(stamped.unit, stamped.event.clone()));
            }
            engine.advance(MonoTime::from_micros(u64::MAX / 2));
        });
        let times: Vec<MonoTime> = outcome
            .entries
            .iter()
            .map(|entry| if let Body::Fact(fact) = &entry.body { fact.at } else { entry.at })
            .collect();
        prop_assert!(times.is_sorted());
        prop_assert_eq!(run_again(&simulation.setup, &outcome.entries), facts(&outcome.entries));
    }

    /// What is published by time is dated by its deadline, and not by the input that comes next: a restart dates
    /// everything as it was dated when it left.
    #[test]
    fn a_restart_dates_everything_as_it_was_dated(
        delays in prop::collection::vec(0u64..400_000, 64), presses in any::<bool>(), end in 0usize..200,
    ) {
        let simulation = simulation();
        let kept = |stamped: &&Stamped| presses || !matches!(stamped.event, Event::Press(_) | Event::Times(_));
        let events: Vec<&Stamped> = simulation.events.iter().filter(kept).take(end).collect();
        let outcome = run(&simulation.setup, |engine| {
            for (stamped, delay) in events.iter().zip(delays.iter().cycle()) {
                engine.advance(stamped.at.plus_micros(*delay));
                engine.input(stamped.at, Input::Event(stamped.unit, stamped.event.clone()));
            }
            let last = engine.last();
            engine.advance(last.plus_ms(delays[0] / 40));
        });
        let dir = tempfile::tempdir().unwrap();
        let header = JournalHeader::new("1", simulation.setup.clone(), Tags::default());
        let mut segments = Segments::begin(dir.path(), header, MonoTime::ZERO, 0).unwrap();
        outcome.entries.iter().for_each(|entry| Store::append(&mut segments, entry).unwrap());
        drop(segments);
        let publisher = |setup: &GameSetup, tags: &Tags, board: &Board| {
            Publisher::new("1", setup, tags.clone(), board.session())
        };
        let look = resume::Look { dir: dir.path(), publisher, late: false, now_us: 0 };
        let found = look.for_game(&simulation.setup, &Tags::default());
        let Ok(resume::Found::Running(running)) = found else { panic!("the game goes on") };
        let dated = |step: resume::Step| step.events.into_iter().map(move |event| (step.origin, event));
        let last = running.told.last;
        let past: Vec<_> = running.told.past.into_iter().flat_map(dated).collect();
        // The men on the board and the clock do not wait for the disk.
        let waits = |event: &FeedEvent| !matches!(event, FeedEvent::Board { .. } | FeedEvent::Clock(_));
        let sorted = |mut all: Vec<(Origin, FeedEvent)>| {
            all.sort_by_key(|(origin, event)| (*origin, waits(event)));
            all
        };
        // What no record tells of yet is not known again.
        let known = outcome.sent.into_iter().filter(|(origin, _)| origin.us <= last.as_micros());
        prop_assert_eq!(sorted(past), sorted(known.collect()));
    }
}

#[test]
fn what_leaves_is_what_the_facts_say() {
    let simulation = simulation();
    let outcome = run(&simulation.setup, |engine| {
        for stamped in &simulation.events {
            engine.input(stamped.at, Input::Event(stamped.unit, stamped.event.clone()));
        }
        engine.advance(MonoTime::from_micros(u64::MAX / 2));
    });
    let played: Vec<&str> = simulation.truth.plies.iter().map(|ply| ply.uci.as_str()).collect();
    let moves = outcome.sent.iter().filter_map(|(_, event)| match event {
        FeedEvent::Move { played, .. } => Some(played.uci.as_str()),
        _ => None,
    });
    assert_eq!(moves.collect::<Vec<_>>(), played);
    assert!(outcome.sent.iter().any(|(_, event)| matches!(event, FeedEvent::Board { .. })));
}

#[test]
fn what_a_late_output_has_shown_is_on_the_disk_at_once() {
    let (disk, seen) = (Disk::default(), Seen::default());
    let outbox = Arc::new(Outbox::new("1", Box::new(seen)));
    let health = Arc::new(BoardHealth::new("1"));
    // Nothing but what is urgent is synchronised.
    let (pen, thread) = writer::start(disk.clone(), outbox.clone(), health.clone(), NEVER).unwrap();
    let setup = GameSetup::default();
    let board = Board::new(&setup).unwrap();
    let publisher = Publisher::new("1", &setup, Tags::default(), board.session());
    let mut engine = Engine::new(board, publisher, pen, outbox, health, MonoTime::ZERO);
    let left = crate::publish::release::Left {
        ev: 3,
        known_us: Some(7),
        plies: 1,
        result: "*".to_owned(),
        boards: 0,
        clocks: 0,
        least_us: 5,
    };
    engine.record_releases(vec![Released { before: false, late: true, to: vec!["pgn"], left, wall_us: 9 }]);
    writer::tests::until("the record", || {
        disk.durable().iter().any(|entry| matches!(entry.body, Body::Release(_)))
    });
    drop(engine);
    thread.join().unwrap();
}
