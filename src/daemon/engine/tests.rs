use proptest::prelude::*;

use super::*;
use crate::{
    daemon::{
        outbox::tests::Seen,
        writer::{
            self,
            tests::{Disk, NEVER},
        },
    },
    publish::{FeedEvent, Tags},
    session::setup::GameSetup,
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
    sent: Vec<FeedEvent>,
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
    Outcome { entries: disk.durable(), sent: seen.take() }
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
    let moves = outcome.sent.iter().filter_map(|event| match event {
        FeedEvent::Move { played, .. } => Some(played.uci.as_str()),
        _ => None,
    });
    assert_eq!(moves.collect::<Vec<_>>(), played);
    assert!(outcome.sent.iter().any(|event| matches!(event, FeedEvent::Board { .. })));
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
