use serde_json::{Value, json};
use shakmaty::Square;

use super::{super::report::Verdict, *};
use crate::session::{
    event::{ClockReading, Event},
    setup::{GameSetup, Signal},
    time::MonoTime,
};

fn about(recorded: bool) -> About {
    About {
        id: "7".to_owned(),
        sensor: "dgt",
        place: "/dev/x".to_owned(),
        start: Board::default(),
        time_control: "40/5400+30:1800+30".parse().ok(),
        scan_us: Some(5_000),
        recorded,
        hears_clock: true,
    }
}

fn watch(board: BoardKind, signal: Signal, events: impl IntoIterator<Item = (u64, Event)>) -> Watch {
    let mut watch = Watch::new(&GameSetup { board, signal, ..GameSetup::default() }, false);
    watch.take(MonoTime::ZERO, &Event::Occupied(Board::default().occupied()).into());
    for (ms, event) in events {
        watch.take(MonoTime::ZERO.plus_ms(ms), &event.into());
    }
    watch
}

fn times(white_ms: u64, running: Option<Color>) -> Event {
    Event::Times(ClockReading { white_ms: Some(white_ms), black_ms: Some(5_400_000), running })
}

fn device(value: Value) -> Event {
    Event::Device(value)
}

#[track_caller]
fn assert_check(checks: &[Check], topic: Topic, verdict: Verdict, what: &str) {
    let found = checks.iter().find(|check| check.check == topic).expect("a check of that topic");
    assert_eq!(found.verdict, verdict, "{found:#?}");
    assert!(found.line().contains(what), "{found:#?}");
}

#[test]
fn the_clock_has_to_stand_as_the_time_control_begins() {
    let clock = |recorded, events: Vec<Event>| {
        let events = events.into_iter().map(|event| (10, event));
        let checks = checks(&about(recorded), &watch(BoardKind::Dgt, Signal::Debounced, events));
        checks.into_iter().find(|check| check.check == Topic::Clock).unwrap()
    };
    let begins = clock(false, vec![times(5_400_000, None)]);
    assert_eq!(
        (begins.verdict, begins.what.as_str()),
        (Verdict::Ok, "White 1:30:00, Black 1:30:00, both stand")
    );
    assert_eq!(clock(false, vec![times(5_430_000, None)]).verdict, Verdict::Ok, "with the first increment");
    assert!(clock(false, vec![times(300_000, None)]).what.ends_with("the time control begins with 1:30:00"));
    assert_eq!(clock(false, vec![times(5_400_000, Some(Color::White))]).verdict, Verdict::Warning);
    assert_eq!(clock(false, vec![times(super::clock::LONGEST_MS + 1, None)]).verdict, Verdict::Failed);
    assert_eq!(clock(false, vec![times(0, None), Event::Flag(Color::White)]).verdict, Verdict::Warning);
    assert_eq!(clock(false, vec![device(json!({"clock": "absent"}))]).verdict, Verdict::Warning);
    assert_eq!(clock(false, vec![]).verdict, Verdict::Warning);
    assert_eq!(clock(true, vec![]).verdict, Verdict::NotRun);
    assert_eq!(
        clock(true, vec![times(300_000, Some(Color::Black))]).verdict,
        Verdict::Ok,
        "in a game it runs"
    );
    assert_eq!(
        clock(false, vec![Event::Press(Color::White)]).what,
        "presses heard: 1; this clock tells no times"
    );
}

#[test]
fn the_device_says_who_it_is_and_what_is_wrong_with_it() {
    let heard = |events: Vec<Event>| {
        let events = events.into_iter().map(|event| (10, event));
        checks(&about(false), &watch(BoardKind::Dgt, Signal::Debounced, events))
    };
    let named = heard(vec![
        device(json!({"trademark": "A board\nof 1999"})),
        device(json!({"version": "1.2"})),
        device(json!({"orientation": "rotated"})),
        device(json!({"battery": {"percent": 12}})),
        device(json!({"clock_battery": "good"})),
    ]);
    assert_check(
        &named,
        Topic::Device,
        Verdict::Ok,
        "it answers, A board of 1999, version 1.2, it lies turned",
    );
    assert_check(&named, Topic::Battery, Verdict::Warning, "the board has 12 % left");
    let garbled = heard(vec![device(json!({"what": "garbled-bytes", "n": 7}))]);
    assert_check(&garbled, Topic::Device, Verdict::Warning, "7 garbled bytes");
    let gone = heard(vec![Event::Link(false)]);
    assert_check(&gone, Topic::Device, Verdict::Failed, "fell silent");
    let nobody = checks(&about(false), &Watch::new(&GameSetup::default(), false));
    assert_check(&nobody, Topic::Device, Verdict::Failed, "no board answers");
    for topic in [Topic::Squares, Topic::Chatter, Topic::Bounce, Topic::Scan, Topic::Clock] {
        assert_check(&nobody, topic, Verdict::NotRun, "could not be read");
    }
    let broken = heard(vec![device(json!({"source": "matrix", "error": "no answer"}))]);
    assert_check(&broken, Topic::Device, Verdict::Failed, "no answer");
    let told =
        json!({"source": "peg", "fault": "sensor", "standing": true, "error": "it is blind; mend `this`"});
    let blind = heard(vec![Event::Link(true), device(told.clone())]);
    assert_check(&blind, Topic::Device, Verdict::Failed, "it is blind");
    let settled = device(json!({"source": "peg", "settled": "sensor"}));
    let sees = heard(vec![Event::Link(true), device(told), settled]);
    assert_check(&sees, Topic::Device, Verdict::Ok, "it answers");
    let found = json!([{"finding": "never-closes", "place": "g1"}]);
    let wiring = heard(vec![device(json!({"source": "matrix", "self_test": found}))]);
    assert_check(&wiring, Topic::Wiring, Verdict::Failed, "never-closes at g1");
}

/// So many changes each way of the contact of e4; each closing bounces for so long.
fn bouncing(changes: u64, us: u64) -> Watch {
    let mut watch = watch(BoardKind::Reed, Signal::Raw, []);
    for n in 1..=changes {
        for (us, occupied) in [(0, true), (us, false), (us + 100, true), (500_000, false)] {
            let at = MonoTime::from_micros(n * 1_500_000 + us);
            watch.take(at, &Event::Square { square: Square::E4, occupied }.into());
        }
    }
    watch.advance(MonoTime::from_micros(60_000_000));
    watch
}

#[test]
fn a_debounce_time_is_suggested_from_what_was_seen() {
    let short = checks(&about(false), &bouncing(24, 800));
    assert_check(
        &short,
        Topic::Bounce,
        Verdict::Ok,
        "15 and 30 ms are enough (what was seen asks for 10 and 10",
    );
    let long = checks(&about(false), &bouncing(24, 12_000));
    assert_check(
        &long,
        Topic::Bounce,
        Verdict::Warning,
        "set debounce-close-ms = 23 in place of 15 (e4 took 12 ms)",
    );
    let early = checks(&about(false), &bouncing(19, 12_000));
    assert_check(
        &early,
        Topic::Bounce,
        Verdict::Warning,
        "after 20 changes it suggests debounce-close-ms, now 15 (e4 took 12 ms)",
    );
    let few = checks(&about(false), &watch(BoardKind::Reed, Signal::Raw, []));
    assert_check(&few, Topic::Bounce, Verdict::NotRun, "a suggestion takes 20 changes each way");
    let figures = figures(&about(false), &bouncing(24, 12_000));
    assert_eq!(figures.closing.unwrap().suggested_ms, Some(23));
}

#[test]
fn a_contact_that_chatters_suggests_no_debounce_time() {
    let flicker =
        |n: u64| (1_000 + n * 40, Event::Square { square: Square::E7, occupied: !n.is_multiple_of(2) });
    let mut watch = watch(BoardKind::Reed, Signal::Raw, (0..61).map(flicker));
    watch.advance(MonoTime::ZERO.plus_ms(10_000));
    let checks = checks(&about(false), &watch);
    assert_check(&checks, Topic::Chatter, Verdict::Failed, "e7");
    assert_check(&checks, Topic::Bounce, Verdict::NotRun, "mend e7 first");
}

#[test]
fn late_and_missing_scans_are_told() {
    let scan = |events: Vec<Value>| {
        let events = events.into_iter().map(|value| (10, device(value)));
        checks(&about(false), &watch(BoardKind::Reed, Signal::Raw, events))
    };
    assert_check(&scan(vec![]), Topic::Scan, Verdict::NotRun, "has not told how often it scans");
    let scans = |scans: u64| json!({"source": "matrix", "scans": scans, "span_us": 10_000_000});
    assert_check(&scan(vec![scans(1990)]), Topic::Scan, Verdict::Ok, "199.0 scans a second, none late");
    assert_check(
        &scan(vec![scans(1500)]),
        Topic::Scan,
        Verdict::Warning,
        "150.0 scans a second in place of 200",
    );
    let late = json!({"source": "matrix", "overruns": 1, "worst_us": 23_000, "overruns_total": 4});
    assert_check(
        &scan(vec![scans(1990), late]),
        Topic::Scan,
        Verdict::Warning,
        "4 late scans, the worst by 23 ms",
    );
}

#[test]
fn a_board_that_cannot_be_read_passes_nothing() {
    let checks = silent("7", Check::failed(Topic::Device, "no such device"));
    assert_eq!(checks.len(), 6);
    assert!(checks[1..].iter().all(|check| check.verdict == Verdict::NotRun));
    assert!(checks.iter().all(|check| check.board.as_deref() == Some("7")));
}
