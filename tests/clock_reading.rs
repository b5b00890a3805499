//! Reading an external clock: what is known of its times, what was done to it, and that no messages lead to
//! nonsense. `cargo bench --bench clock` measures the same on many more games.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/clock_games.rs"]
#[allow(dead_code)]
mod clock_games;

use std::collections::BTreeMap;

use clock_games::{Plan, measure, quantile, share};
use proptest::prelude::*;
use serde_json::Value;
use shakmaty::Color;
use touchmoved::{
    game::Board,
    session::{
        Session,
        clock::{Change, Estimate, Estimator, Expected, Finding, Model, PerMove, Rounding},
        event::{ClockReading, Event, Stamped, Unit},
        fact::{CompletedBy, FactKind},
        io::Input,
        setup::GameSetup,
        time::MonoTime,
    },
    simulate::{
        Simulation,
        games::DemoGame,
        params::{ClockKind, Level, Params},
        simulate,
    },
    wire::sensor_log,
};

const FEW: Plan = Plan {
    games: 8,
    seed: 7,
    wired: false,
    set_every: 0,
    rounding_known: true,
    control_known: true,
    plies: 80,
    think_ms: (2_000, 300_000),
};

#[test]
fn with_a_wired_lever_the_time_at_the_press_is_known_to_150_ms() {
    let score = measure(&Plan { wired: true, ..FEW });
    assert!(score.at_once.len() > 400, "{}", score.at_once.len());
    assert!(share(&score.at_once, 150_000) >= 9_900, "{}", share(&score.at_once, 150_000));
    assert!(share(&score.plain, 150_000) < 5_000, "the plain reader cannot know it");
    assert!(score.false_changes.is_empty(), "{:?}", score.false_changes);
}

#[test]
fn where_the_press_shows_in_readings_only_the_interval_holds_the_truth() {
    let score = measure(&FEW);
    assert!(score.widths.len() > 400, "{}", score.widths.len());
    assert!(score.held * 100 >= score.widths.len() * 99, "{} of {}", score.held, score.widths.len());
    assert!(quantile(&score.widths, 50) < 800_000, "{}", quantile(&score.widths, 50));
    assert!(score.false_changes.is_empty(), "{:?}", score.false_changes);
}

#[test]
fn a_clock_whose_rounding_and_control_are_not_known_is_read_all_the_same() {
    let score = measure(&Plan { rounding_known: false, control_known: false, ..FEW });
    assert!(score.held * 100 >= score.widths.len() * 98, "{} of {}", score.held, score.widths.len());
    assert!(score.false_changes.is_empty(), "{:?}", score.false_changes);
}

#[test]
fn every_time_that_is_set_is_found_within_three_seconds_and_no_other() {
    for wired in [false, true] {
        let score = measure(&Plan { set_every: 7, wired, ..FEW });
        assert!(score.set > 60, "{}", score.set);
        assert_eq!(score.found.len(), score.set);
        assert!(quantile(&score.found, 100) <= 3_000_000, "{}", quantile(&score.found, 100));
        assert!(score.false_changes.is_empty(), "{:?}", score.false_changes);
    }
}

/// An estimator under a clock that is told without faults, every 400 ms, half a second late.
struct Bench {
    estimator: Estimator,
    at: u64,
    left_us: [i64; 2],
    running: Option<Color>,
    found: Vec<Finding>,
}

const LATE_US: u64 = 500_000;

impl Bench {
    fn new(expected: Expected) -> Bench {
        let model = Model { rounding: Some(Rounding::Down), ..Model::default() };
        let estimator = Estimator::new(model, expected, true);
        Bench { estimator, at: 10_000_000, left_us: [600_000_000; 2], running: None, found: Vec::new() }
    }

    fn side(&mut self, side: Color) -> &mut i64 {
        let [white, black] = &mut self.left_us;
        side.fold_wb(white, black)
    }

    fn reading(&self) -> ClockReading {
        let shown = |us: i64| Some(u64::try_from(us.max(0)).unwrap() / 1_000_000 * 1000);
        let [white, black] = self.left_us;
        ClockReading { white_ms: shown(white), black_ms: shown(black), running: self.running }
    }

    fn hear(&mut self, reading: ClockReading) {
        let at = MonoTime::from_micros(self.at + LATE_US);
        while let Some(due) = self.estimator.deadline().filter(|due| *due <= at) {
            self.estimator.advance(due);
        }
        self.estimator.read(at, reading);
        while let Some(finding) = self.estimator.poll() {
            self.found.push(finding);
        }
    }

    fn pass(&mut self) {
        self.at += 400_000;
        if let Some(side) = self.running {
            *self.side(side) -= 400_000;
        }
    }

    fn run(&mut self, messages: usize) {
        for _ in 0..messages {
            self.pass();
            self.hear(self.reading());
        }
    }

    fn turn(&mut self, messages: usize) {
        self.run(messages);
        self.running = self.running.map(|side| !side);
    }

    fn changes(&self) -> Vec<(Change, Color, u64, u64)> {
        let change = |finding: &Finding| match *finding {
            Finding::Changed { change, side, before_ms, after_ms, .. } => {
                Some((change, side, before_ms / 1000, after_ms / 1000))
            }
            _ => None,
        };
        self.found.iter().filter_map(change).collect()
    }

    fn started() -> Bench {
        let mut bench = Bench::new(Expected { per_move: Some(PerMove::None), ..Expected::default() });
        bench.run(5);
        bench.running = Some(Color::White);
        bench.run(50);
        bench
    }
}

#[test]
fn one_wrong_reading_changes_nothing() {
    let mut bench = Bench::started();
    let spoilt = [
        ClockReading { white_ms: Some(5_000_000), ..bench.reading() },
        ClockReading { black_ms: Some(0), ..bench.reading() },
        ClockReading { running: Some(Color::Black), ..bench.reading() },
        ClockReading { running: None, ..bench.reading() },
        ClockReading { white_ms: Some(600_000), ..bench.reading() },
        ClockReading::default(),
    ];
    for wrong in spoilt {
        bench.pass();
        bench.hear(wrong);
        bench.run(20);
        let at = MonoTime::from_micros(bench.at);
        let left = bench.estimator.left(Color::White, at).unwrap();
        let truth = u64::try_from(bench.left_us[0]).unwrap();
        assert!((left.low_us..=left.high_us).contains(&truth), "{wrong:?}: {left:?} {truth}");
        assert!(left.width_us() < 1_300_000, "{wrong:?}: {left:?}");
    }
    assert_eq!(bench.found, []);
}

#[test]
fn a_penalty_at_the_stopped_clock_is_told_with_before_and_after() {
    let mut bench = Bench::started();
    bench.running = None;
    bench.run(20);
    bench.left_us[1] += 120_000_000;
    bench.run(20);
    bench.running = Some(Color::White);
    bench.run(20);
    assert_eq!(bench.changes(), [(Change::Adjusted, Color::Black, 600, 720)]);
}

/// A time that is set shortly before or after a press, or with it, is told as set; the same where the lever has a wire.
#[test]
fn a_time_set_beside_a_press_is_told_as_set() {
    let cases = [-2i32, -1, 0, 1, 2].into_iter().flat_map(|after| {
        let sides = Color::ALL.into_iter().flat_map(move |side| [5i64, -5, -60, 300].map(|by| (side, by)));
        sides.flat_map(move |(side, by)| [false, true].map(|wired| (after, side, by, wired)))
    });
    for (after, side, by, wired) in cases {
        let mut bench = Bench::started();
        let press = |bench: &mut Bench| {
            bench.running = Some(Color::Black);
            if wired {
                bench.estimator.press(MonoTime::from_micros(bench.at), Color::White);
            }
        };
        let set = |bench: &mut Bench| *bench.side(side) += by * 1_000_000;
        let between = usize::try_from(after.abs()).unwrap();
        if after < 0 {
            set(&mut bench);
            bench.run(between);
            press(&mut bench);
        } else {
            press(&mut bench);
            bench.run(between);
            set(&mut bench);
        }
        bench.run(8);
        let changes = bench.changes();
        let [(Change::Adjusted, found, before, shown)] = changes.as_slice() else {
            panic!("{after} {side} {by} {wired}: {changes:?}");
        };
        assert_eq!(*found, side);
        let by_found = i64::try_from(*shown).unwrap() - i64::try_from(*before).unwrap();
        assert!((by_found - by).abs() <= 2, "{after} {side} {by} {wired}: {changes:?}");
    }
}

/// While a delay runs the main time may stand; it never grows.
#[test]
fn a_time_set_during_a_delay_is_told_as_set() {
    for by in [5i64, 60] {
        let per_move = Some(PerMove::Delay { ms: 5_000 });
        let mut bench = Bench::new(Expected { per_move, ..Expected::default() });
        bench.run(5);
        bench.running = Some(Color::White);
        // The delay waits: nothing is taken off.
        for _ in 0..8 {
            bench.at += 400_000;
            bench.hear(bench.reading());
        }
        bench.left_us[0] += by * 1_000_000;
        for _ in 0..4 {
            bench.at += 400_000;
            bench.hear(bench.reading());
        }
        let by = u64::try_from(by).unwrap();
        assert_eq!(bench.changes(), [(Change::Adjusted, Color::White, 600, 600 + by)]);
    }
}

/// A reading that was on its way when the lever with a wire was pressed tells nothing of the clock now.
#[test]
fn a_reading_from_before_a_wired_press_is_not_told() {
    let facts = facts_of_log(
        r#"{"sensor_log":1,"time_control":"300+3"}
        {"us":0,"times":{"white_ms":303000,"black_ms":303000,"running":null}}
        {"us":1000000,"clock":"run-white"}
        {"us":2500000,"times":{"white_ms":302000,"black_ms":303000,"running":"white"}}
        {"us":3000000,"times":{"white_ms":301000,"black_ms":303000,"running":"white"}}
        {"us":3200000,"sq":"e2","occ":0}
        {"us":3400000,"sq":"e4","occ":1}
        {"us":4000000,"clock":"white"}
        {"us":4300000,"times":{"white_ms":300000,"black_ms":303000,"running":"white"}}
        {"us":4700000,"times":{"white_ms":303000,"black_ms":302000,"running":"black"}}
        {"us":5100000,"times":{"white_ms":303000,"black_ms":302000,"running":"black"}}"#,
    );
    let clocks: Vec<_> = facts.iter().filter(|fact| fact["fact"] == "clock").collect();
    let ran: Vec<_> = clocks.iter().map(|fact| (fact["us"].clone(), fact["running"].clone())).collect();
    assert!(ran.iter().all(|(us, running)| us.as_u64() < Some(4_000_000) || running == "black"), "{ran:?}");
    assert!(facts.iter().all(|fact| fact["code"] != "clock-discrepancy"), "{facts:#?}");
    let clock = facts.iter().rfind(|fact| fact["fact"] == "ply_clock").unwrap();
    assert_eq!((clock["shown_ms"].as_u64(), clock["estimated"].as_bool()), (Some(303_000), Some(true)));
    assert!(clock["clock_ms"].as_u64().unwrap().abs_diff(303_000) <= 150, "{clock}");
}

/// What the clock lost while it stood is no adjustment, also where the press comes before it is known.
#[test]
fn a_clock_that_stood_and_was_pressed_is_not_told_as_set() {
    for stood in [6, 15, 30] {
        let mut bench = Bench::started();
        let shown = bench.reading();
        for _ in 0..stood {
            bench.at += 400_000;
            bench.hear(shown);
        }
        bench.running = Some(Color::Black);
        bench.run(40);
        assert_eq!(bench.changes(), [], "{stood}");
    }
}

#[test]
fn a_jump_above_an_hour_has_a_name_of_its_own() {
    let mut bench = Bench::started();
    bench.left_us[1] += 2 * 3_600_000_000;
    bench.run(20);
    assert_eq!(bench.changes(), [(Change::Jump, Color::Black, 600, 7800)]);
}

#[test]
fn the_next_period_is_no_adjustment_wherever_the_clock_adds_it() {
    let expected =
        Expected { start_ms: Some(600_000), per_move: Some(PerMove::None), periods_ms: vec![1_800_000] };
    // At the press that we count, at another one, and when the time is used up.
    for (counted, pressed) in [(true, true), (false, true), (false, false)] {
        let mut bench = Bench::new(expected.clone());
        bench.run(5);
        bench.running = Some(Color::White);
        bench.run(30);
        if counted {
            bench.estimator.due(Color::White, Some(1_800_000));
        }
        bench.left_us[0] += 1_800_000_000;
        if pressed {
            bench.running = Some(Color::Black);
        }
        bench.run(30);
        assert!(
            bench.changes().iter().all(|(change, ..)| *change == Change::Period),
            "{:?}",
            bench.changes()
        );
        let left = bench.estimator.left(Color::White, MonoTime::from_micros(bench.at)).unwrap();
        let truth = u64::try_from(bench.left_us[0]).unwrap();
        assert!((left.low_us..=left.high_us).contains(&truth), "{left:?} {truth}");
    }
}

#[test]
fn an_increment_is_learnt() {
    let mut bench = Bench::new(Expected::default());
    bench.run(5);
    bench.running = Some(Color::White);
    for turn in 0..12 {
        let side = if turn % 2 == 0 { Color::White } else { Color::Black };
        bench.run(20 + turn);
        *bench.side(side) += 10_000_000;
        bench.running = Some(!side);
    }
    bench.run(20);
    let left = bench.estimator.left(Color::Black, MonoTime::from_micros(bench.at)).unwrap();
    let truth = u64::try_from(bench.left_us[1]).unwrap();
    assert!((left.low_us..=left.high_us).contains(&truth), "{left:?} {truth}");
    assert!(left.width_us() < 1_500_000, "{left:?}");
    assert_eq!(bench.changes(), []);
}

#[test]
fn a_frozen_clock_is_told_once_and_is_no_adjustment() {
    let mut bench = Bench::started();
    let shown = bench.reading();
    for _ in 0..100 {
        bench.at += 400_000;
        bench.hear(shown);
    }
    bench.run(60);
    let frozen = |finding: &&Finding| matches!(finding, Finding::Frozen { side: Color::White, .. });
    assert_eq!(bench.found.iter().filter(frozen).count(), 1);
    assert_eq!(bench.changes(), []);
    let left = bench.estimator.left(Color::White, MonoTime::from_micros(bench.at)).unwrap();
    assert!(left.us.abs_diff(u64::try_from(bench.left_us[0]).unwrap()) < 1_500_000, "it is followed again");
}

#[test]
fn presses_while_the_clock_was_unplugged_are_no_adjustment() {
    let mut bench = Bench::started();
    bench.estimator.lost();
    bench.left_us = [400_000_000, 500_000_000];
    bench.at += 300_000_000;
    bench.run(20);
    assert_eq!(bench.changes(), []);
    let left = bench.estimator.left(Color::White, MonoTime::from_micros(bench.at)).unwrap();
    assert!(left.us.abs_diff(u64::try_from(bench.left_us[0]).unwrap()) < 1_500_000, "{left:?}");
}

/// Where the lever has a wire nothing goes by unseen: what was set meanwhile is told, and nothing else.
#[test]
fn a_time_set_while_the_clock_was_unplugged_is_told_where_the_lever_has_a_wire() {
    for set in [0, 60] {
        let mut bench = Bench::started();
        bench.estimator.lost();
        for turn in 0..4 {
            let by = if turn % 2 == 0 { Color::White } else { Color::Black };
            bench.at += 15_000_000;
            *bench.side(by) -= 15_000_000;
            bench.estimator.press(MonoTime::from_micros(bench.at), by);
        }
        bench.left_us[1] += set * 1_000_000;
        bench.run(20);
        let found: Vec<_> = bench.changes().iter().map(|(change, side, ..)| (*change, *side)).collect();
        let told = if set > 0 { vec![(Change::Adjusted, Color::Black)] } else { vec![] };
        assert_eq!(found, told);
    }
}

/// A clock that counts no moves adds the next period when the time of the one before is used up.
#[test]
fn a_period_that_is_added_at_zero_is_no_adjustment() {
    let mut bench = Bench::new(Expected {
        per_move: Some(PerMove::None),
        periods_ms: vec![300_000],
        ..Expected::default()
    });
    bench.left_us[0] = 6_000_000;
    bench.run(5);
    bench.running = Some(Color::White);
    bench.run(15);
    bench.left_us[0] += 300_000_000;
    bench.run(20);
    assert!(bench.changes().iter().all(|(change, ..)| *change == Change::Period), "{:?}", bench.changes());
    let left = bench.estimator.left(Color::White, MonoTime::from_micros(bench.at)).unwrap();
    assert!(left.us.abs_diff(u64::try_from(bench.left_us[0]).unwrap()) < 1_500_000, "{left:?}");
}

#[test]
fn moves_while_the_time_of_the_opponent_falls_show_exchanged_sides() {
    let mut bench = Bench::started();
    let mut mover = Color::Black;
    for _ in 0..6 {
        bench.turn(20);
        let at = MonoTime::from_micros(bench.at);
        bench.estimator.moved(mover, at);
        mover = !mover;
    }
    bench.run(5);
    assert_eq!(bench.found.iter().filter(|finding| **finding == Finding::Exchanged).count(), 1);
}

#[test]
fn bounced_doubled_and_idle_presses_do_not_count() {
    let mut bench = Bench::started();
    let at = |bench: &Bench, more: u64| MonoTime::from_micros(bench.at + more);
    bench.estimator.press(at(&bench, 0), Color::Black);
    assert_eq!(bench.estimator.running(), Some(Color::White), "an idle side");
    bench.estimator.press(at(&bench, 10_000), Color::White);
    let once = bench.estimator.at_press(Color::White);
    for more in [14_000, 21_000, 400_000] {
        bench.estimator.press(at(&bench, more), Color::White);
    }
    assert_eq!(bench.estimator.running(), Some(Color::Black));
    assert_eq!(bench.estimator.at_press(Color::White), once);
}

/// What a session told of the clock at every press: `[%clk]`, and the interval of what was really left.
fn told(simulation: &Simulation) -> BTreeMap<usize, (Option<u64>, Option<Estimate>)> {
    let mut session = Session::new(&simulation.setup).unwrap();
    let mut told = BTreeMap::<usize, (Option<u64>, Option<Estimate>)>::new();
    for event in &simulation.events {
        session.handle(event);
        while let Some(fact) = session.poll_fact() {
            match fact.kind {
                FactKind::MoveCompleted { ply, how: CompletedBy::Press, clock_ms, .. } => {
                    told.entry(ply).or_default().0 = clock_ms;
                }
                FactKind::PlyClock { ply, clock_ms, .. } => told.entry(ply).or_default().0 = Some(clock_ms),
                FactKind::PlyTime { ply, left, .. } => told.entry(ply).or_default().1 = Some(left),
                FactKind::ClockFinding(finding) => panic!("{finding:?}"),
                _ => {}
            }
        }
    }
    told
}

/// A reading that may be wrong waits for another one; at a stopped clock it is enough that none contradicts it.
#[test]
fn a_doubtful_reading_is_told_once_it_is_confirmed() {
    let reading = |white_s: u64, running| {
        Event::Times(ClockReading { white_ms: Some(white_s * 1000), black_ms: Some(600_000), running })
    };
    let mut session = Session::new(&GameSetup::default()).unwrap();
    let mut told = Vec::new();
    let mut take = |session: &mut Session, at_ms: u64, event: Event| {
        session.handle(&Stamped { at: MonoTime::from_micros(at_ms * 1000), unit: Unit::A, event });
        while let Some(fact) = session.poll_fact() {
            if let FactKind::Clock(reading) = fact.kind {
                told.push((fact.at.as_micros() / 1000, reading.white_ms.unwrap() / 1000));
            }
        }
    };
    for second in 0..10 {
        take(&mut session, second * 1000, reading(600 - second, Some(Color::White)));
    }
    take(&mut session, 9_500, reading(123, Some(Color::White)));
    take(&mut session, 10_000, reading(590, Some(Color::White)));
    take(&mut session, 10_400, reading(590, None));
    take(&mut session, 10_800, reading(590, None));
    take(&mut session, 11_200, reading(720, None));
    take(&mut session, 20_000, Event::Tick);
    assert!(!told.iter().any(|(_, white)| *white == 123), "{told:?}");
    assert_eq!(told.last(), Some(&(14_200, 720)), "{told:?}");
}

/// The same hands at a clock that is told to the millisecond are the truth.
#[test]
fn every_pressed_ply_of_a_game_has_its_time() {
    let mut held = (0, 0);
    let mut near = (0, 0);
    for (seed, wired) in (1..=3).flat_map(|seed| [false, true].map(|wired| (seed, wired))) {
        let game = DemoGame::find("immortal").unwrap().game(GameSetup::default());
        let exact = Params::level(Level::Clean).identity();
        let mut late = exact;
        late.clock.kind = ClockKind::Dgt;
        late.clock.polled.wired = wired;
        let truth = told(&simulate(&game, &exact, seed).unwrap());
        let told = told(&simulate(&game, &late, seed).unwrap());
        assert!(truth.len() > 40);
        for (ply, (left_ms, _)) in truth {
            let left_ms = left_ms.unwrap();
            let (clock_ms, left) = told[&ply];
            let off =
                clock_ms.unwrap_or_else(|| panic!("ply {ply} of seed {seed} has no time")).abs_diff(left_ms);
            assert!(off <= 1_100, "ply {ply} of seed {seed}: {clock_ms:?} for {left_ms}");
            if wired {
                near = (near.0 + usize::from(off <= 150), near.1 + 1);
            }
            if let Some(left) = left {
                let holds = left.low_us <= left_ms * 1000 + 1000 && left_ms * 1000 <= left.high_us;
                held = (held.0 + usize::from(holds), held.1 + 1);
            }
        }
    }
    assert!(held.1 > 240 && held.0 * 100 >= held.1 * 99, "{held:?}");
    assert!(near.1 > 120 && near.0 * 100 >= near.1 * 99, "what is told of a ply last: {near:?}");
}

/// What can come from a source.
#[derive(Clone, Debug)]
enum Call {
    Read(Option<u64>, Option<u64>, Option<Color>),
    Press(Color),
    Pause,
    Run(Color),
    Moved(Color),
    Due(Color, u64),
    Lost,
}

fn calls() -> impl Strategy<Value = Vec<(u64, Call)>> {
    let side = prop_oneof![Just(Color::White), Just(Color::Black)];
    // Near each other, so that readings agree now and then; and anything at all.
    let ms = prop_oneof![
        6 => (590u64..=600).prop_map(|s| Some(s * 1000)),
        1 => any::<u64>().prop_map(Some),
        1 => (0u64..5_000).prop_map(Some),
        1 => Just(None),
    ];
    let call = prop_oneof![
        8 => (ms.clone(), ms, proptest::option::of(side.clone())).prop_map(|(w, b, run)| Call::Read(w, b, run)),
        1 => side.clone().prop_map(Call::Press),
        1 => Just(Call::Pause),
        1 => side.clone().prop_map(Call::Run),
        1 => side.clone().prop_map(Call::Moved),
        1 => (side, any::<u64>()).prop_map(|(side, ms)| Call::Due(side, ms)),
        1 => Just(Call::Lost),
    ];
    let step = prop_oneof![6 => 0u64..700_000, 1 => 0u64..60_000_000, 1 => any::<u64>()];
    proptest::collection::vec((step, call), 0..200)
}

fn expectations() -> impl Strategy<Value = Expected> {
    let per_move = prop_oneof![
        Just(None),
        Just(Some(PerMove::None)),
        any::<u64>().prop_map(|ms| Some(PerMove::Increment { ms })),
        (0u64..60_000).prop_map(|ms| Some(PerMove::Delay { ms })),
        (0u64..60_000).prop_map(|ms| Some(PerMove::Bronstein { ms })),
    ];
    (proptest::option::of(any::<u64>()), per_move, proptest::collection::vec(any::<u64>(), 0..3))
        .prop_map(|(start_ms, per_move, periods_ms)| Expected { start_ms, per_move, periods_ms })
}

fn replay(expected: &Expected, rounding: Option<Rounding>, calls: &[(u64, Call)]) -> String {
    let mut estimator = Estimator::new(Model { rounding, ..Model::default() }, expected.clone(), true);
    let mut at = 0u64;
    let mut told = String::new();
    for (step, call) in calls {
        at = at.saturating_add(*step);
        let now = MonoTime::from_micros(at);
        let mut passed = 0;
        while let Some(due) = estimator.deadline().filter(|due| *due <= now) {
            estimator.advance(due);
            passed += 1;
            assert!(passed < 4, "a deadline comes again and again");
        }
        match *call {
            Call::Read(white_ms, black_ms, running) => {
                estimator.read(now, ClockReading { white_ms, black_ms, running });
            }
            Call::Press(side) => estimator.press(now, side),
            Call::Pause => estimator.pause(now),
            Call::Run(side) => estimator.run(now, side),
            Call::Moved(side) => {
                estimator.placed(now);
                estimator.moved(side, now);
            }
            Call::Due(side, ms) => estimator.due(side, Some(ms)),
            Call::Lost => estimator.lost(),
        }
        for side in Color::ALL {
            for estimate in [estimator.left(side, now), estimator.at_press(side)].into_iter().flatten() {
                assert!(estimate.low_us <= estimate.us && estimate.us <= estimate.high_us, "{estimate:?}");
                told += &format!("{estimate:?}");
            }
        }
        while let Some(finding) = estimator.poll() {
            told += &format!("{finding:?}");
        }
        assert!(estimator.kept() <= 256, "{}", estimator.kept());
    }
    told
}

proptest! {
    #[test]
    fn whatever_comes_an_interval_holds_a_value_and_a_replay_says_the_same(
        expected in expectations(),
        rounding in prop_oneof![Just(None), Just(Some(Rounding::Down)), Just(Some(Rounding::Up))],
        calls in calls(),
    ) {
        prop_assert_eq!(replay(&expected, rounding, &calls), replay(&expected, rounding, &calls));
    }
}

/// The facts of a board under these events.
fn facts_of(setup: &GameSetup, events: impl IntoIterator<Item = Stamped>) -> Vec<Value> {
    let mut board = Board::new(setup).unwrap();
    let mut facts = Vec::new();
    for Stamped { at, unit, event } in events {
        board.input(at, &Input::Event(unit, event));
        facts.extend(std::iter::from_fn(|| board.poll_fact()).map(|fact| fact.to_value()));
    }
    facts
}

fn facts_of_log(log: &str) -> Vec<Value> {
    let mut lines = log.lines().map(str::trim).filter(|line| !line.is_empty());
    let setup = sensor_log::parse_header(lines.next().unwrap()).unwrap();
    facts_of(&setup, lines.map(|line| sensor_log::parse_event(line).unwrap()))
}

#[test]
fn lag_rounding_and_wrong_messages_are_no_discrepancy() {
    // Quick replies, misread levers, presses after the flag: seeds in which each of them happens.
    let seeds = [13, 17, 18, 23].map(|seed| (seed, Level::Tournament));
    let seeds = seeds.into_iter().chain([45, 87].map(|seed| (seed, Level::Clean)));
    let controls = ["5400+30", "300+3", "300d5", "300b5", "900", ""];
    let cases = seeds.flat_map(|(seed, level)| {
        controls.into_iter().flat_map(move |control| [false, true].map(|wired| (seed, level, control, wired)))
    });
    for (seed, level, control, wired) in cases {
        let played = if control.is_empty() { "600+5" } else { control };
        let setup = GameSetup { time_control: played.to_owned(), ..GameSetup::default() };
        let game = DemoGame::find("immortal").unwrap().game(setup);
        let mut params = Params::level(level).identity();
        params.clock.kind = ClockKind::Dgt;
        params.clock.polled.wired = wired;
        let Simulation { mut setup, events, .. } = simulate(&game, &params, seed).unwrap();
        // Where the organiser configured none, nothing is known of it.
        setup.time_control = control.to_owned();
        let facts = facts_of(&setup, events);
        let doubted = ["clock-discrepancy", "clock-adjusted", "clock-jump", "clock-sides-exchanged"];
        let told: Vec<_> =
            facts.iter().filter(|fact| doubted.iter().any(|code| fact["code"] == *code)).collect();
        assert!(told.is_empty(), "seed {seed}, {control}, wired {wired}: {told:?}");
    }
}

#[test]
fn what_a_move_gives_back_is_no_discrepancy() {
    for control in [r#","time_control":"300b5""#, ""] {
        let facts = facts_of_log(&format!(
            r#"{{"sensor_log":1{control}}}
            {{"us":0,"times":{{"white_ms":300000,"black_ms":300000,"running":null}}}}
            {{"us":1000000,"times":{{"white_ms":299000,"black_ms":300000,"running":"white"}}}}
            {{"us":2000000,"times":{{"white_ms":298000,"black_ms":300000,"running":"white"}}}}
            {{"us":3000000,"times":{{"white_ms":297000,"black_ms":300000,"running":"white"}}}}
            {{"us":3200000,"sq":"e2","occ":0}}
            {{"us":3400000,"sq":"e4","occ":1}}
            {{"us":4000000,"times":{{"white_ms":300000,"black_ms":299000,"running":"black"}}}}
            {{"us":4000000,"clock":"white"}}
            {{"us":5000000,"times":{{"white_ms":300000,"black_ms":298000,"running":"black"}}}}
            {{"us":6000000,"times":{{"white_ms":300000,"black_ms":297000,"running":"black"}}}}"#
        ));
        assert!(facts.iter().all(|fact| fact["code"] != "clock-discrepancy"), "{control}: {facts:#?}");
    }
}

#[test]
fn a_wrong_reading_with_the_press_is_not_the_time_of_the_move() {
    let facts = facts_of_log(
        r#"{"sensor_log":1,"time_control":"5400+30"}
        {"us":0,"times":{"white_ms":5430000,"black_ms":5430000,"running":null}}
        {"us":1000000,"times":{"white_ms":5429000,"black_ms":5430000,"running":"white"}}
        {"us":2000000,"times":{"white_ms":5428000,"black_ms":5430000,"running":"white"}}
        {"us":2200000,"sq":"e2","occ":0}
        {"us":2400000,"sq":"e4","occ":1}
        {"us":3000000,"times":{"white_ms":0,"black_ms":5430000,"running":"black"}}
        {"us":3000000,"clock":"white"}
        {"us":3400000,"times":{"white_ms":5457000,"black_ms":5429000,"running":"black"}}"#,
    );
    let told: Vec<_> = facts.iter().filter_map(|fact| fact["clock_ms"].as_u64()).collect();
    assert_eq!(told.last(), Some(&5_457_000), "{facts:#?}");
    assert!(!told.contains(&0) && facts.iter().all(|fact| fact["white_ms"] != 0), "{facts:#?}");
}

/// A log of one reading every 400 ms, of players who think for eight seconds and press a lever; `added` is what a
/// move adds to each of them.
fn log_of_presses(control: &str, added_ms: [u64; 2]) -> String {
    use std::fmt::Write as _;
    let mut log =
        format!(r#"{{"sensor_log":1,"time_control":"{control}","config":{{"clock.rounding":"down"}}}}"#);
    let squares = [("g1", "f3"), ("g8", "f6"), ("f3", "g1"), ("f6", "g8")];
    let mut left = [600_000 + added_ms[0], 600_000 + added_ms[1]];
    let mut at = 0;
    log.push_str("\n{\"us\":0,\"clock\":\"run-white\"}\n");
    for ply in 0..12 {
        let (side, name) = (ply % 2, ["white", "black"][ply % 2]);
        for tick in 1..20 {
            let now = at + tick * 400;
            let mut shown = left;
            shown[side] -= tick * 400;
            let [white, black] = shown.map(|ms| ms / 1000 * 1000);
            let us = (now + 100) * 1000;
            writeln!(
                log,
                r#"{{"us":{us},"times":{{"white_ms":{white},"black_ms":{black},"running":"{name}"}}}}"#
            )
            .unwrap();
            if tick == 15 {
                let (from, to) = squares[ply % 4];
                writeln!(log, r#"{{"us":{us},"sq":"{from}","occ":0}}"#).unwrap();
                writeln!(log, r#"{{"us":{us},"sq":"{to}","occ":1}}"#).unwrap();
            }
        }
        at += 8_000;
        left[side] = left[side] - 8_000 + added_ms[side];
        writeln!(log, r#"{{"us":{},"clock":"{name}"}}"#, at * 1000).unwrap();
    }
    log
}

#[test]
fn players_whose_moves_add_different_times_are_both_followed() {
    let facts = facts_of_log(&log_of_presses("600+10|600+2", [10_000, 2_000]));
    let times: Vec<_> = facts.iter().filter(|fact| fact["fact"] == "ply_time").collect();
    assert!(times.len() >= 10, "{}", times.len());
    assert!(facts.iter().all(|fact| fact["fact"] != "advisory" || fact["code"] != "clock-adjusted"));
    for fact in &times {
        let (ply, left) = (fact["ply"].as_u64().unwrap(), fact["left_us"].as_u64().unwrap());
        let moves = ply.div_ceil(2);
        let added = if ply % 2 == 1 { 10_000 } else { 2_000 };
        let truth = 600_000 + added - moves * 8_000 + moves * added;
        let (low, high) = (fact["low_us"].as_u64().unwrap(), fact["high_us"].as_u64().unwrap());
        // The time without what the press added, or with it.
        let holds = |ms: u64| low <= ms * 1000 && ms * 1000 <= high;
        assert!(holds(truth) || holds(truth - added), "ply {ply}: {left} for {truth}");
    }
}

#[test]
fn a_clock_that_contradicts_itself_does_not_flood_the_arbiter() {
    use std::fmt::Write as _;
    let mut log = r#"{"sensor_log":1,"time_control":"600"}"#.to_owned();
    log.push_str("\n{\"us\":0,\"clock\":\"run-white\"}\n");
    for step in 1..150 {
        // White's clock is said to run, and Black's falls.
        let (us, black) = (step * 400_000, (600_000 - step * 400) / 1000 * 1000);
        writeln!(log, r#"{{"us":{us},"times":{{"white_ms":600000,"black_ms":{black},"running":"white"}}}}"#)
            .unwrap();
    }
    let facts = facts_of_log(&log);
    let told =
        facts.iter().filter(|fact| fact["code"] == "clock-adjusted" && fact["to"] == "arbiter").count();
    assert!((1..=4).contains(&told), "{told}");
}

/// A reply within a second of the opponent's press, at a lever with a wire: no reading can show it yet.
#[test]
fn a_quick_reply_has_its_time_and_not_that_of_the_reading_before() {
    let facts = facts_of_log(
        r#"{"sensor_log":1,"time_control":"300+3","config":{"clock.rounding":"down"}}
        {"us":0,"times":{"white_ms":303000,"black_ms":303000,"running":null}}
        {"us":1000000,"clock":"run-white"}
        {"us":2100000,"times":{"white_ms":302000,"black_ms":303000,"running":"white"}}
        {"us":3200000,"sq":"e2","occ":0}
        {"us":3400000,"sq":"e4","occ":1}
        {"us":4000000,"clock":"white"}
        {"us":5100000,"times":{"white_ms":303000,"black_ms":302000,"running":"black"}}
        {"us":5500000,"times":{"white_ms":303000,"black_ms":301000,"running":"black"}}
        {"us":6200000,"sq":"e7","occ":0}
        {"us":6400000,"sq":"e5","occ":1}
        {"us":7000000,"clock":"black"}
        {"us":7200000,"sq":"g1","occ":0}
        {"us":7300000,"sq":"f3","occ":1}
        {"us":7600000,"clock":"white"}
        {"us":9000000,"times":{"white_ms":305000,"black_ms":302000,"running":"black"}}
        {"us":9400000,"times":{"white_ms":305000,"black_ms":301000,"running":"black"}}"#,
    );
    let last: Vec<_> = facts.iter().filter(|fact| fact["fact"] == "ply_clock" && fact["ply"] == 3).collect();
    let told = last.last().unwrap();
    assert!(told["clock_ms"].as_u64().unwrap().abs_diff(305_400) <= 150, "{last:#?}");
    assert_eq!((told["estimated"].as_bool(), told["shown_ms"].as_u64()), (Some(true), Some(305_000)));
}

/// One message with the wrong lever just before a press by wire: the press is when it was.
#[test]
fn a_misread_lever_before_a_wired_press_changes_nothing() {
    let mut bench = Bench::started();
    bench.estimator.press(MonoTime::from_micros(bench.at), Color::White);
    bench.running = Some(Color::Black);
    bench.run(20);
    bench.hear(ClockReading { running: Some(Color::White), ..bench.reading() });
    bench.at += 700_000;
    *bench.side(Color::Black) -= 700_000;
    bench.estimator.press(MonoTime::from_micros(bench.at), Color::Black);
    let left = bench.estimator.at_press(Color::Black).unwrap();
    assert!(left.us.abs_diff(u64::try_from(bench.left_us[1]).unwrap()) < 150_000, "{left:?}");
    bench.running = Some(Color::White);
    bench.run(20);
    assert_eq!(bench.changes(), []);
}

/// A clock that was started without an event, and a press right after its first message.
#[test]
fn a_press_right_after_the_clock_was_started_adds_its_time() {
    let increment = Some(PerMove::Increment { ms: 30_000 });
    let mut bench = Bench::new(Expected { per_move: increment, ..Expected::default() });
    bench.run(5);
    bench.running = Some(Color::White);
    bench.run(1);
    bench.at += 600_000;
    *bench.side(Color::White) -= 600_000;
    bench.estimator.press(MonoTime::from_micros(bench.at), Color::White);
    *bench.side(Color::White) += 30_000_000;
    bench.running = Some(Color::Black);
    bench.run(20);
    assert_eq!(bench.changes(), []);
}

/// Moves and presses at a clock that somebody stopped, with a wire or without.
#[test]
fn a_clock_that_stands_while_moves_are_made_is_told_also_with_a_wired_lever() {
    for wired in [false, true] {
        let mut bench = Bench::started();
        bench.running = None;
        for turn in 0..6 {
            bench.run(20);
            let by = if turn % 2 == 0 { Color::White } else { Color::Black };
            let at = MonoTime::from_micros(bench.at + LATE_US);
            bench.estimator.moved(by, at);
            if wired {
                bench.estimator.press(at, by);
            }
        }
        bench.run(20);
        let standing = bench.found.iter().filter(|finding| **finding == Finding::Standing).count();
        assert_eq!(standing, 1, "{wired}");
    }
}

/// The flag falls while the player thinks about the first move of a period whose time the clock has.
#[test]
fn a_flag_in_the_next_period_is_that_periods() {
    use std::fmt::Write as _;
    for kind in ["own", "external"] {
        let mut log = format!(
            r#"{{"sensor_log":1,"time_control":"2/15:30","config":{{"clock.kind":"{kind}"}}}}
            {{"us":1000000,"arbiter":"run"}}"#
        );
        log.push('\n');
        let mut left = [15_000u64, 15_000];
        for (ply, (from, to)) in
            [("g1", "f3"), ("g8", "f6"), ("f3", "g1"), ("f6", "g8")].into_iter().enumerate()
        {
            let (at, by) = (1_000 + u64::try_from(ply).unwrap() * 2_000, ply % 2);
            writeln!(
                log,
                r#"
{{"us":{},"sq":"{from}","occ":0}}"#,
                (at + 500) * 1000
            )
            .unwrap();
            writeln!(log, r#"{{"us":{},"sq":"{to}","occ":1}}"#, (at + 800) * 1000).unwrap();
            left[by] = left[by] - 2_000 + if ply >= 2 { 30_000 } else { 0 };
            let (name, other) = (["white", "black"][by], ["black", "white"][by]);
            writeln!(log, r#"{{"us":{},"clock":"{name}"}}"#, (at + 2_000) * 1000).unwrap();
            if kind == "external" {
                for later in [100, 500] {
                    let mut shown = left;
                    shown[1 - by] -= later;
                    let [white, black] = shown.map(|ms| ms / 1000 * 1000);
                    let us = (at + 2_000 + later) * 1000;
                    writeln!(log, r#"{{"us":{us},"times":{{"white_ms":{white},"black_ms":{black},"running":"{other}"}}}}"#).unwrap();
                }
            }
        }
        if kind == "external" {
            for second in 1..=42 {
                let (us, white) = ((9_600 + second * 1000) * 1000, 41_000u64.saturating_sub(second * 1000));
                writeln!(
                    log,
                    r#"{{"us":{us},"times":{{"white_ms":{white},"black_ms":41000,"running":"white"}}}}"#
                )
                .unwrap();
            }
            log.push_str("{\"us\":51700000,\"flag\":\"white\"}\n");
        }
        log.push_str("{\"us\":53000000,\"arbiter\":\"flag-observed\"}\n");
        let facts = facts_of_log(&log);
        let end = facts
            .iter()
            .find(|fact| fact["fact"] == "game_end")
            .unwrap_or_else(|| panic!("{kind}: {facts:#?}"));
        assert_eq!(end["result"], "0-1", "{kind}");
    }
}

/// After half a minute without a message the flag lies where the time before it ran out.
#[test]
fn a_flag_after_a_gap_fell_when_the_time_was_used_up() {
    use std::fmt::Write as _;
    let mut log = r#"{"sensor_log":1,"time_control":"15","config":{"clock.rounding":"down"}}"#.to_owned();
    log.push_str("\n{\"us\":0,\"clock\":\"run-white\"}\n");
    for half in 1..=12u64 {
        let (us, white) = (half * 500_000, (15_000 - half * 500) / 1000 * 1000);
        writeln!(log, r#"{{"us":{us},"times":{{"white_ms":{white},"black_ms":15000,"running":"white"}}}}"#)
            .unwrap();
    }
    log.push_str("{\"us\":30000000,\"times\":{\"white_ms\":0,\"black_ms\":15000,\"running\":\"white\"}}\n");
    log.push_str("{\"us\":30000000,\"flag\":\"white\"}\n");
    let facts = facts_of_log(&log);
    let flag = facts.iter().find(|fact| fact["code"] == "flag-indicated").unwrap();
    let (from, to) = (flag["fell_from_us"].as_u64().unwrap(), flag["fell_to_us"].as_u64().unwrap());
    assert!(from <= 15_000_000 && 15_000_000 <= to && to - from < 2_000_000, "{flag}");
}
