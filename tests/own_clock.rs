//! The clock that the program keeps: what presses, arbiters, flags, power cuts and steps of the system's time do to it,
//! as facts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::{Map, Value, json};
use shakmaty::{Color, Square};
use touchmoved::{
    game::Board,
    publish::{FeedEvent, Publisher, Tags},
    session::{
        event::{ClockReading, Event},
        setup::GameSetup,
        time::MonoTime,
    },
    wire::sensor_log,
};

/// A board under a header, and what it told.
struct Table {
    board: Board,
    publisher: Publisher,
    now_ms: u64,
    facts: Vec<Value>,
    events: Vec<FeedEvent>,
}

impl Table {
    fn new(control: &str, kind: &str) -> Table {
        Table::with(control, kind, json!({}))
    }

    fn with(control: &str, kind: &str, more: Value) -> Table {
        let mut header = json!({"sensor_log": 1, "time_control": control});
        let mut config: Map<String, Value> =
            more.get("config").cloned().map_or_else(Map::new, |config| config.as_object().unwrap().clone());
        config.insert("clock.kind".to_owned(), json!(kind));
        for (key, value) in more.as_object().unwrap() {
            header[key] = value.clone();
        }
        header["config"] = Value::Object(config);
        let setup = sensor_log::header_from_map(header.as_object().unwrap()).unwrap();
        let board = Board::new(&setup).unwrap();
        let publisher = Publisher::new("1", &setup, Tags::default(), board.session());
        let mut table = Table { board, publisher, now_ms: 0, facts: Vec::new(), events: Vec::new() };
        table.collect();
        table
    }

    fn collect(&mut self) {
        let facts: Vec<_> = std::iter::from_fn(|| self.board.poll_fact()).collect();
        self.events.extend(self.publisher.apply(&facts, self.board.session()));
        self.facts.extend(facts.iter().map(touchmoved::session::fact::Fact::to_value));
    }

    fn at(&mut self, ms: u64, event: Event) -> &mut Table {
        assert!(ms >= self.now_ms, "{ms}");
        self.now_ms = ms;
        self.board.input(MonoTime::from_micros(ms * 1000), &event.into());
        self.collect();
        self
    }

    fn until(&mut self, ms: u64) -> &mut Table {
        self.board.advance(MonoTime::from_micros(ms * 1000));
        self.collect();
        self.now_ms = ms;
        self
    }

    fn arbiter(&mut self, ms: u64, command: &str) -> &mut Table {
        self.at(ms, Event::Arbiter(json!(command)))
    }

    /// A man goes from one square to another at `ms`, and is down 200 ms later.
    fn moves(&mut self, ms: u64, from: Square, to: Square) -> &mut Table {
        self.at(ms, Event::Square { square: from, occupied: false })
            .at(ms + 200, Event::Square { square: to, occupied: true })
    }

    /// White's and Black's time, and whose runs, as told last.
    fn clock(&self) -> (u64, u64, Value) {
        let told = self.facts.iter().rfind(|fact| fact["fact"] == "clock" && fact.get("calc").is_none());
        let told = told.expect("no clock was told");
        (told["white_ms"].as_u64().unwrap(), told["black_ms"].as_u64().unwrap(), told["running"].clone())
    }

    fn told(&self, is_it: impl Fn(&Value) -> bool) -> Vec<&Value> {
        self.facts.iter().filter(|fact| is_it(fact)).collect()
    }

    fn advisories(&self, code: &str) -> Vec<&Value> {
        self.told(|fact| fact["code"] == code)
    }
}

const WHITE: Event = Event::Press(Color::White);
const BLACK: Event = Event::Press(Color::Black);

/// 1. e4 at 10 s, pressed at 11 s; e5 at 20 s, pressed at 21 s. White's clock was started at 1 s.
fn two_moves(table: &mut Table) {
    table.at(1000, Event::Run(Color::White)).moves(10_000, Square::E2, Square::E4).at(11_000, WHITE);
    table.moves(20_000, Square::E7, Square::E5).at(21_000, BLACK);
}

#[test]
fn a_press_gives_the_move_its_time_and_the_facts_are_those_of_a_clock_that_is_read() {
    let mut table = Table::new("300+2", "own");
    assert_eq!(table.clock(), (302_000, 302_000, Value::Null));
    two_moves(&mut table);
    assert_eq!(table.clock(), (294_000, 294_000, json!("white")));
    let completed = table.told(|fact| fact["fact"] == "move_completed");
    assert_eq!((&completed[0]["clock_ms"], &completed[1]["clock_ms"]), (&json!(294_000), &json!(294_000)));
    assert!(table.told(|fact| fact["fact"] == "ply_clock").is_empty());
    let state = table.publisher.state();
    assert_eq!(state.plies.iter().map(|ply| ply.clock_ms).collect::<Vec<_>>(), [Some(294_000); 2]);
    assert_eq!(state.clock.unwrap().running, Some("white"));
}

#[test]
fn the_opponents_first_press_starts_the_clock() {
    let mut table = Table::new("300+2", "own");
    table.at(5000, BLACK);
    assert_eq!(table.clock(), (302_000, 302_000, json!("white")));
    assert!(
        table.advisories("clock-side-mismatch").is_empty() && table.advisories("press-idle-side").is_empty()
    );
    table.moves(6000, Square::E2, Square::E4).at(8000, WHITE);
    assert_eq!(table.clock(), (301_000, 302_000, json!("black")));
}

#[test]
fn presses_that_bounce_come_twice_or_from_the_wrong_side_change_nothing() {
    let mut clean = Table::new("300+2", "own");
    two_moves(&mut clean);
    let mut bouncing = Table::new("300+2", "own");
    bouncing.at(1000, Event::Run(Color::White)).at(4000, BLACK).moves(10_000, Square::E2, Square::E4);
    bouncing.at(11_000, WHITE).at(11_004, WHITE).at(11_300, WHITE);
    bouncing.moves(20_000, Square::E7, Square::E5).at(20_500, WHITE).at(21_000, BLACK).at(21_050, BLACK);
    assert_eq!(bouncing.clock(), clean.clock());
    assert_eq!(bouncing.advisories("press-idle-side").len(), 5);
    let of_game = |table: &Table| -> Vec<Value> {
        let plain = |fact: &&Value| fact["fact"] != "advisory" && fact["fact"] != "state";
        let bare = |fact: &Value| {
            let mut fact = fact.clone();
            fact.as_object_mut().unwrap().remove("ev");
            fact
        };
        table.facts.iter().filter(plain).map(bare).collect()
    };
    assert_eq!(of_game(&bouncing), of_game(&clean));
}

#[test]
fn a_period_begins_with_its_moves_and_not_with_presses() {
    let mut table = Table::new("2/60:600+5", "own");
    two_moves(&mut table);
    // A press without a move is one for the clock, and none for the count.
    table.at(25_000, WHITE).at(26_000, BLACK);
    assert_eq!(table.clock(), (46_000, 49_000, json!("white")));
    table.moves(30_000, Square::D2, Square::D4).at(31_000, WHITE);
    assert_eq!(table.clock(), (641_000, 49_000, json!("black")));
    let amended = table.told(|fact| fact["fact"] == "ply_clock");
    assert_eq!((&amended[0]["ply"], &amended[0]["clock_ms"]), (&json!(3), &json!(641_000)));
    assert_eq!(table.publisher.state().plies.last().unwrap().clock_ms, Some(641_000));
    // The increment of the second period.
    table.moves(32_000, Square::D7, Square::D5).at(33_000, BLACK);
    table.moves(34_000, Square::B1, Square::C3).at(36_000, WHITE);
    assert_eq!(table.clock(), (643_000, 647_000, json!("black")));
}

#[test]
fn each_side_has_its_own_time_and_a_delay_is_told() {
    let mut table = Table::new("300d5|240", "own");
    assert_eq!(table.clock(), (300_000, 240_000, Value::Null));
    two_moves(&mut table);
    // Ten seconds, five of them for nothing; ten seconds.
    assert_eq!(table.clock(), (295_000, 230_000, json!("white")));
    let delays: Vec<u64> = table
        .events
        .iter()
        .filter_map(|event| match event {
            FeedEvent::Clock(clock) => Some(clock.delay_ms),
            _ => None,
        })
        .collect();
    assert_eq!(delays, [0, 5000, 0, 0, 5000], "set, White runs, his delay is over, Black runs, White runs");
}

#[test]
fn the_flag_is_a_fact_with_the_moves_that_were_completed() {
    let mut table = Table::new("40/60:60", "own");
    two_moves(&mut table);
    table.until(80_000);
    let flags = table.advisories("flag-indicated");
    assert_eq!(flags.len(), 1);
    // He had 50 s left at 21 s.
    let us = 71_000_000;
    for key in ["us", "fell_from_us", "fell_to_us"] {
        assert_eq!(flags[0][key], us, "{key}");
    }
    assert_eq!((&flags[0]["side"], &flags[0]["to"]), (&json!("white"), &json!("arbiter")));
    let check = table.told(|fact| fact["fact"] == "flag_check")[0];
    assert_eq!(
        (&check["completed"], &check["required"], &check["met"]),
        (&json!(1), &json!(40), &json!(false))
    );
    assert_eq!(table.clock(), (0, 50_000, json!("white")));
    assert!(table.told(|fact| fact["fact"] == "game_end").is_empty(), "an indication ends nothing");
    // Nothing is added any more, and the second flag is known to be the second.
    table.at(81_000, WHITE).until(140_000);
    assert_eq!(table.clock(), (0, 0, json!("black")));
    let both = table.advisories("both-flags");
    assert_eq!((&both[0]["order"], &both[0]["sure"]), (&json!("white-first"), &json!(true)));
    table.arbiter(141_000, "flag-observed");
    let end = table.told(|fact| fact["fact"] == "game_end")[0];
    assert_eq!((&end["result"], &end["reason"]), (&json!("0-1"), &json!("time")));
    assert_eq!(table.clock().2, Value::Null);
}

#[test]
fn who_learns_of_a_flag_is_a_matter_of_edition_and_discipline() {
    for (rules, discipline, to) in [
        ("fide-2005", "standard", "arbiter"),
        ("fide-2005", "rapid", "journal"),
        ("fide-2005", "blitz", "journal"),
        ("fide-2023", "standard", "arbiter"),
    ] {
        let mut table = Table::with("60", "own", json!({"rules": rules, "discipline": discipline}));
        table.at(0, Event::Run(Color::White)).until(61_000);
        assert_eq!(table.advisories("flag-indicated")[0]["to"], to, "{rules} {discipline}");
    }
}

#[test]
fn the_arbiter_stops_starts_and_sets_it() {
    let mut table = Table::new("300+2", "own");
    two_moves(&mut table);
    table.arbiter(25_000, "pause");
    assert_eq!(table.clock(), (290_000, 294_000, Value::Null));
    assert!(table.board.session().is_paused());
    // Nobody but the arbiter starts it again.
    table.at(30_000, WHITE).at(31_000, BLACK);
    assert_eq!(table.clock(), (290_000, 294_000, Value::Null));
    table.arbiter(40_000, "penalty bonus white 120000").arbiter(41_000, "set clock white 60000");
    assert_eq!(table.clock(), (60_000, 414_000, Value::Null));
    let calc = table.told(|fact| fact["calc"] == "set")[0];
    assert_eq!((&calc["before"], &calc["after"]), (&json!(290_000), &json!(60_000)));
    table.arbiter(50_000, "run");
    assert_eq!(table.clock(), (60_000, 414_000, json!("white")));
    assert!(!table.board.session().is_paused());
    // A time is set while it runs, and the flag falls by it.
    table.arbiter(55_000, "set clock white 10000").until(66_000);
    assert_eq!(table.advisories("flag-indicated")[0]["us"], 65_000_000);
    // Time that is added takes a flag up again.
    table.arbiter(67_000, "extra-time white 30000");
    assert_eq!(table.clock(), (30_000, 414_000, json!("white")));
    assert_eq!(table.board.clock_face(MonoTime::from_micros(68_000_000)).unwrap().white_ms, Some(29_000));
    table.arbiter(70_000, "run black");
    assert_eq!(table.clock(), (27_000, 414_000, json!("black")));
}

#[test]
fn after_a_power_cut_it_stands_with_the_gap_on_record() {
    let mut table = Table::new("300+2", "own");
    two_moves(&mut table);
    table.at(26_000, Event::Power(false)).at(86_500, Event::Power(true));
    assert_eq!(table.clock(), (289_000, 294_000, Value::Null));
    let gap = table.advisories("clock-gap");
    assert_eq!((&gap[0]["gap_ms"], &gap[0]["running"]), (&json!(60_500), &json!("white")));
    assert_eq!(gap[0]["to"], "arbiter");
    table.at(90_000, WHITE).until(1_000_000);
    assert_eq!(table.clock(), (289_000, 294_000, Value::Null));
    assert!(table.advisories("flag-indicated").is_empty());
    table.arbiter(1_000_000, "run").moves(1_001_000, Square::D2, Square::D4).at(1_002_000, WHITE);
    assert_eq!(table.clock(), (289_000, 294_000, json!("black")));
    // One that stood has no gap.
    let mut still = Table::new("300+2", "own");
    still.at(1000, Event::Power(false)).at(9000, Event::Power(true));
    assert!(still.advisories("clock-gap").is_empty());
}

#[test]
fn a_step_of_the_systems_time_in_mid_game_moves_nothing() {
    let clocks = |steps: bool| {
        let mut table = Table::new("300+2", "own");
        table.at(1000, Event::Run(Color::White)).moves(10_000, Square::E2, Square::E4);
        if steps {
            // An hour forward as summer time begins, an hour back, and a leap second.
            for utc in ["2027-03-28T02:59:59Z", "2027-03-28T01:00:00Z", "2016-12-31T23:59:60Z"] {
                table.at(10_500, Event::Wall(json!({"utc": utc, "step_us": 3_600_000_000i64})));
            }
        }
        table.at(11_000, WHITE).moves(20_000, Square::E7, Square::E5);
        if steps {
            table.at(20_300, Event::Wall(json!({"utc": "2027-03-28T00:00:00Z"})));
        }
        table.at(21_000, BLACK).until(400_000);
        let of_clock =
            |fact: &Value| ["clock", "advisory", "move_completed"].iter().any(|word| fact["fact"] == *word);
        let bare = |fact: &&Value| {
            let mut fact = (*fact).clone();
            fact.as_object_mut().unwrap().remove("ev");
            fact
        };
        table.told(of_clock).iter().map(bare).collect::<Vec<_>>()
    };
    assert_eq!(clocks(true), clocks(false));
}

#[test]
fn in_an_hour_of_presses_no_millisecond_is_lost() {
    let mut table = Table::new("7200+1", "own");
    table.at(17, Event::Run(Color::White));
    // Presses alone: moves do not matter to the clock. The intervals are no round numbers.
    let (mut at, mut side, mut presses) = (17u64, Color::White, 0u64);
    while at < 3_600_017 {
        at += 333 + (presses * 7919) % 4001;
        table.at(at, Event::Press(side));
        side = !side;
        presses += 1;
    }
    let (white, black, _) = table.clock();
    assert_eq!(white + black + (at - 17), 2 * 7_201_000 + presses * 1000);
}

#[test]
fn it_stops_with_the_result() {
    let mut table = Table::new("300", "own");
    table.at(0, Event::Run(Color::White)).moves(1000, Square::F2, Square::F3).at(2000, WHITE);
    table
        .moves(3000, Square::E7, Square::E5)
        .at(4000, BLACK)
        .moves(5000, Square::G2, Square::G4)
        .at(6000, WHITE);
    table.moves(9000, Square::D8, Square::H4).at(9500, BLACK).until(60_000);
    let end = table.told(|fact| fact["fact"] == "game_end")[0];
    assert_eq!((&end["result"], &end["us"]), (&json!("0-1"), &json!(9_500_000)));
    assert_eq!(table.clock(), (296_000, 294_500, Value::Null));
    let public = table.publisher.state();
    assert_eq!(public.clock.map(|clock| (clock.black_ms, clock.running)), Some((Some(294_500), None)));
    table.at(70_000, BLACK).until(900_000);
    assert_eq!(table.clock().2, Value::Null);
}

#[test]
fn a_result_that_is_taken_back_leaves_it_to_the_arbiter() {
    let mut table = Table::new("300+2", "own");
    two_moves(&mut table);
    table.at(30_000, Event::Result(touchmoved::session::event::GameResult::Draw));
    assert_eq!(table.clock(), (285_000, 294_000, Value::Null));
    assert_eq!(table.publisher.state().clock.unwrap().running, None);
    table.arbiter(40_000, "result *").until(50_000);
    assert_eq!(table.clock(), (285_000, 294_000, Value::Null));
    table.arbiter(50_000, "run");
    assert_eq!(table.clock(), (285_000, 294_000, json!("white")));
    assert_eq!(table.publisher.state().clock.unwrap().running, Some("white"));
    // Kings that were in the centre for a moment end nothing, and start nothing that the arbiter stopped.
    table.arbiter(60_000, "pause").moves(61_000, Square::E1, Square::D4).moves(
        61_500,
        Square::E8,
        Square::D5,
    );
    table.moves(64_000, Square::D5, Square::E8).moves(64_500, Square::D4, Square::E1).until(80_000);
    assert_eq!(table.clock().2, Value::Null);
}

#[test]
fn an_external_clock_is_not_heard_where_the_program_is_the_clock_or_there_is_none() {
    let reading = ClockReading { white_ms: Some(1), black_ms: Some(2), running: Some(Color::Black) };
    for kind in ["own", "none"] {
        let mut table = Table::new("300", kind);
        table.at(500, Event::Times(reading)).at(600, Event::Flag(Color::White));
        two_moves(&mut table);
        table.at(22_000, Event::Times(reading)).at(23_000, Event::Flag(Color::White));
        assert!(table.told(|fact| fact["white_ms"] == 1).is_empty(), "{kind}");
        assert!(table.advisories("flag-indicated").is_empty(), "{kind}");
    }
}

#[test]
fn without_a_clock_think_times_are_on_record() {
    let mut table = Table::with("", "none", json!({"config": {"clock.think_times": true}}));
    two_moves(&mut table);
    // The arbiter stops the clocks for a minute while White thinks.
    table.at(25_000, Event::Pause).at(85_000, Event::Run(Color::White));
    table.moves(90_000, Square::D2, Square::D4).at(91_000, WHITE);
    let times: Vec<_> = table
        .told(|fact| fact["fact"] == "think_time")
        .iter()
        .map(|fact| (fact["ply"].as_u64().unwrap(), fact["ms"].as_u64().unwrap(), fact["ended_by"].clone()))
        .collect();
    let press = || json!("press");
    assert_eq!(times, [(1, 10_000, press()), (2, 10_000, press()), (3, 10_000, press())]);
    assert!(table.told(|fact| fact["fact"] == "clock").is_empty());
    assert!(table.publisher.state().plies.iter().all(|ply| ply.elapsed_ms == Some(10_000)));
    let text = touchmoved::feed::pgn::pgn_of(table.publisher.state(), touchmoved::feed::AfterSetUp::GoOn);
    assert!(text.contains("1. e4 {[%emt 0:00:10]} 1... e5 {[%emt 0:00:10]}"), "{text}");

    // Nobody presses: a move ends when it is made. The public sees it only where it is switched on.
    let mut table = Table::new("", "none");
    table.moves(10_000, Square::E2, Square::E4).moves(25_000, Square::E7, Square::E5);
    table.moves(32_000, Square::G1, Square::F3).until(60_000);
    let told = table.told(|fact| fact["fact"] == "think_time");
    let times: Vec<_> = told.iter().map(|fact| (fact["ply"].clone(), fact["ms"].clone())).collect();
    assert_eq!(times, [(json!(2), json!(15_000)), (json!(3), json!(7_000))]);
    assert_eq!(told[0]["ended_by"], "made");
    assert!(table.publisher.state().plies.iter().all(|ply| ply.elapsed_ms.is_none()));
}

/// What a clock that rounds up shows of these times.
fn shown(white_ms: u64, black_ms: u64, running: Option<Color>) -> Event {
    let up = |ms: u64| Some(ms.div_ceil(1000) * 1000);
    Event::Times(ClockReading { white_ms: up(white_ms), black_ms: up(black_ms), running })
}

#[test]
fn the_readings_before_a_flag_tell_when_it_fell() {
    let mut table = Table::with("60", "external", json!({"config": {"clock.rounding": "up"}}));
    table.at(0, Event::Run(Color::White));
    for at in (0..60_000).step_by(370) {
        table.at(at + 40, shown(60_000 - at, 60_000, Some(Color::White)));
    }
    // The next reading comes late.
    table.at(60_900, shown(0, 60_000, None)).at(60_900, Event::Flag(Color::White));
    let flag = table.advisories("flag-indicated")[0];
    let (from, to) = (flag["fell_from_us"].as_u64().unwrap(), flag["fell_to_us"].as_u64().unwrap());
    assert!(from <= 60_000_000 && 60_000_000 <= to, "{from} {to}");
    assert!(to < 60_600_000, "not until it was read: {to}");
}

#[test]
fn five_seconds_that_were_ruled_are_expected_of_the_clock() {
    let config = json!({"config": {"clock.rounding": "up", "quickplay": "five-second"}});
    let mut table = Table::with("110", "external", config);
    let (mut white, mut black, mut at) = (110_000u64, 110_000u64, 0u64);
    table.at(0, Event::Run(Color::White));
    let moves = [
        (Square::G1, Square::F3),
        (Square::G8, Square::F6),
        (Square::F3, Square::G1),
        (Square::F6, Square::G8),
    ];
    for ply in 0..14usize {
        let side = if ply % 2 == 0 { Color::White } else { Color::Black };
        let (from, to) = moves[ply % 4];
        let press_at = at + 9_000;
        let mut next = at + 300;
        table.at(next, Event::Square { square: from, occupied: false });
        table.at(next + 200, Event::Square { square: to, occupied: true });
        while next + 400 < press_at {
            next += 400;
            let used = next - at;
            let (w, b) = if side == Color::White { (white - used, black) } else { (white, black - used) };
            table.at(next.max(table.now_ms), shown(w, b, Some(side)));
        }
        let bonus = if ply >= 4 { 5_000 } else { 0 };
        let left = if side == Color::White { &mut white } else { &mut black };
        *left = *left - 9_000 + bonus;
        at = press_at;
        table.at(at, Event::Press(side)).at(at + 200, shown(white, black, Some(side.other())));
        if ply == 3 {
            table.at(at + 210, Event::Button("request-five-seconds-white".to_owned()));
            table.at(at + 215, Event::Button("draw-decline-black".to_owned()));
            table.arbiter(at + 220, "five-seconds-on");
        }
    }
    let told = table.advisories("clock-adjusted");
    assert!(told.is_empty(), "{told:?}");
    // Who moves at once and presses late does not let the time of the wrong player fall.
    assert!(table.advisories("clock-sides-exchanged").is_empty());
    // With them the times at the presses are known before the next reading.
    let estimated = table.told(|fact| fact["fact"] == "ply_clock" && fact["estimated"] == true);
    let of_last = estimated.iter().rfind(|fact| fact["ply"] == 14).expect("estimated");
    assert!(of_last["clock_ms"].as_u64().unwrap().abs_diff(black) < 1_000, "{of_last} {black}");
}

#[test]
fn a_flag_of_an_external_clock_fell_within_an_interval() {
    let reading = |white_ms, black_ms, side| {
        Event::Times(ClockReading { white_ms: Some(white_ms), black_ms: Some(black_ms), running: Some(side) })
    };
    let mut table = Table::new("60", "external");
    table.at(0, Event::Run(Color::White)).at(58_600, reading(1000, 60_000, Color::White));
    table.at(59_100, reading(900, 60_000, Color::White)).at(60_400, Event::Flag(Color::White));
    let flag = table.advisories("flag-indicated")[0];
    assert_eq!((&flag["fell_from_us"], &flag["fell_to_us"]), (&json!(57_600_000), &json!(60_400_000)));
    table.at(60_500, reading(0, 0, Color::Black)).at(60_600, Event::Flag(Color::Black));
    let both = table.advisories("both-flags")[0];
    assert_eq!((&both["order"], &both["sure"]), (&json!("white-first"), &json!(false)));
}

#[test]
fn the_time_that_a_clock_adds_for_a_period_is_no_discrepancy() {
    let reading = |white_ms, black_ms, side| {
        Event::Times(ClockReading { white_ms: Some(white_ms), black_ms: Some(black_ms), running: Some(side) })
    };
    let mut table = Table::new("1/60:600", "external");
    table.at(0, Event::Run(Color::White)).at(100, reading(60_000, 60_000, Color::White));
    table
        .moves(10_000, Square::E2, Square::E4)
        .at(11_000, WHITE)
        .at(11_500, reading(649_000, 60_000, Color::Black));
    assert!(table.advisories("clock-discrepancy").is_empty());
    // One reading alone may be wrong.
    table.at(12_000, reading(900_000, 59_000, Color::Black));
    assert!(table.advisories("clock-discrepancy").is_empty());
    table.at(12_500, reading(900_000, 59_000, Color::Black));
    assert_eq!(table.advisories("clock-discrepancy").len(), 1);
}

#[test]
fn an_own_clock_needs_a_time_control() {
    let header = json!({"sensor_log": 1, "config": {"clock.kind": "own"}});
    let error = sensor_log::header_from_map(header.as_object().unwrap()).unwrap_err().to_string();
    assert!(error.contains("clock.kind") && error.contains("40/5400+30:1800+30"), "{error}");
    assert!(GameSetup::default().law_settings().is_ok());
}
