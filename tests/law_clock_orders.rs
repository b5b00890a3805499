//! An arbiter sets the external clock: what is sent, what is refused, what comes of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{facts, of};
use serde_json::{Value, json};
use touchmoved::{
    session::{
        event::Unit,
        fact::{FactKind, law::LawFact},
        io::Input,
    },
    wire::{dgt::set_clock::Runs, sensor_log},
};

const WITH_CLOCK: &str = "
    0 device {\"source\":\"dgt\",\"port\":\"dgt0\"}
    10 times 5400000 5400000
    1000 times 5399000 5400000 white";

fn header() -> Value {
    json!({"board": "dgt", "time_control": "90+30"})
}

fn told(more: &str) -> Vec<Value> {
    facts(header(), &format!("{WITH_CLOCK}\n{more}"))
}

fn refused(facts: &[Value]) -> Vec<String> {
    let reasons = of(facts, "arbiter_entry").into_iter().filter(|entry| entry["accepted"] == false);
    reasons.map(|entry| entry["reason"].as_str().unwrap().to_owned()).collect()
}

fn answer(order: u32, ok: bool) -> String {
    json!({"source": "dgt", "what": "clock-set", "order": order, "ok": ok, "reason": "not-remote",
           "left_ms": 1, "right_ms": 2, "tries": 2})
    .to_string()
}

#[test]
fn what_was_ruled_is_sent_with_the_last_reading_before_it() {
    let script = format!(
        "2000 times 5399000 5400000
         3000 arbiter set clock white 5000000
         4000 arbiter send-clock run-black
         4300 device {}",
        answer(1, true)
    );
    let facts = told(&script);
    let order = of(&facts, "clock_order");
    assert_eq!(order.len(), 1);
    assert_eq!((&order[0]["white_ms"], &order[0]["black_ms"]), (&json!(4_999_000), &json!(5_400_000)));
    assert_eq!(order[0]["runs"], "black");
    assert_eq!(order[0]["before"], json!({"white_ms": 5_399_000, "black_ms": 5_400_000, "running": null}));
    let set = of(&facts, "clock_set");
    assert_eq!(set[0]["before"], order[0]["before"]);
    assert_eq!(set[0]["after"], json!({"white_ms": 4_999_000, "black_ms": 5_400_000, "running": "black"}));
    assert_eq!((&set[0]["tries"], &set[0]["to"]), (&json!(2), &json!("arbiter")));
    assert!(of(&facts, "clock-not-set").is_empty());
}

#[test]
fn a_reading_that_was_on_its_way_does_not_undo_the_setting() {
    let script = format!(
        "2000 times 5398000 5400000 white
         3000 arbiter set clock white 5000000
         4000 arbiter send-clock run-white
         4300 device {}
         4500 times 5395000 5400000 white
         5500 times 4998000 5400000 white
         6000 arbiter send-clock",
        answer(1, true)
    );
    let facts = told(&script);
    assert!(of(&facts, "clock-discrepancy").is_empty(), "{facts:#?}");
    assert_eq!(of(&facts, "clock_order")[1]["white_ms"], 4_998_000);
}

#[test]
fn readings_of_the_clock_do_not_undo_what_was_ruled() {
    let script = "
        3000 arbiter penalty bonus white 120000
        4000 times 5398000 5400000 white
        5000 times 5397000 5400000 white
        6000 arbiter send-clock";
    let facts = told(script);
    let order = of(&facts, "clock_order");
    assert_eq!((&order[0]["white_ms"], &order[0]["black_ms"]), (&json!(5_396_000), &json!(5_520_000)));
}

#[test]
fn a_clock_that_was_corrected_by_hand_is_not_corrected_twice() {
    let script = "
        3000 arbiter penalty bonus white 120000
        4000 times 5398000 5400000 white
        5000 times 5397000 5520000
        6000 arbiter send-clock";
    assert_eq!(of(&told(script), "clock_order")[0]["black_ms"], 5_520_000);
}

#[test]
fn an_own_clock_shows_what_was_ruled_with_the_same_command() {
    let header = json!({"time_control": "300", "config": {"clock.kind": "own"}});
    let script = "
        0 press run-white
        2000 lift e2
        2500 place e5
        3000 press white
        3500 arbiter pause
        4000 arbiter confirm
        6000 arbiter send-clock run-white
        7000 lift e5
        7500 place e2
        9000 arbiter pause";
    let told = facts(header, script);
    assert_eq!(of(&told, "penalty")[0]["add_ms"], 120_000);
    assert!(of(&told, "clock_order").is_empty() && refused(&told).is_empty(), "{told:#?}");
    let shown = |us: u64| {
        let told = told
            .iter()
            .rfind(|fact| fact["fact"] == "clock" && fact.get("calc").is_none() && fact["us"] == us);
        told.map(|fact| (fact["white_ms"].clone(), fact["black_ms"].clone(), fact["running"].clone()))
    };
    assert_eq!(shown(4_000_000), None, "nothing is set before he says so");
    assert_eq!(shown(6_000_000).unwrap().1, 419_500);
    assert_eq!(shown(9_000_000).unwrap(), (json!(294_000), json!(419_500), Value::Null));
}

#[test]
fn the_penalty_for_an_illegal_move_is_sent_with_one_command() {
    let script = "
        2000 piece e2
        2500 piece e5 P
        3000 press white
        3100 times 5427000 5400000 black
        4000 arbiter confirm
        5000 times 5427000 5399000
        6000 arbiter send-clock";
    let facts = told(script);
    assert_eq!(of(&facts, "penalty")[0]["add_ms"], 120_000);
    let order = of(&facts, "clock_order");
    let times = (order[0]["white_ms"].as_u64().unwrap(), order[0]["black_ms"].as_u64().unwrap());
    assert!(
        (5_396_000..=5_400_000).contains(&times.0),
        "without the increment of the illegal press: {times:?}"
    );
    assert!((5_517_000..=5_521_000).contains(&times.1), "two minutes more: {times:?}");
}

#[test]
fn the_times_of_an_irregular_press_are_sent_after_they_were_restored() {
    let script = "
        2000 piece e2
        2500 piece e5 P
        3000 press white
        3100 times 5427000 5400000 black
        63100 times 5427000 5340000
        64000 arbiter restore-times
        65000 arbiter send-clock";
    let order = told(script).into_iter().find(|fact| fact["fact"] == "clock_order").unwrap();
    let times = (order["white_ms"].as_u64().unwrap(), order["black_ms"].as_u64().unwrap());
    assert!((5_396_000..=5_398_000).contains(&times.0), "without the increment: {times:?}");
    assert!((5_399_000..=5_401_000).contains(&times.1), "what ran since is given back: {times:?}");
}

#[test]
fn what_cannot_be_sent_is_refused_and_changes_nothing() {
    let no_clock = facts(header(), "0 device {\"source\":\"dgt\"}\n10 arbiter send-clock");
    let of_log = facts(header(), "0 times 1000 1000\n10 arbiter send-clock");
    let pulled = told("2000 device {\"clock\":\"absent\"}\n3000 arbiter send-clock");
    for told in [&no_clock, &of_log, &pulled] {
        assert!(refused(told)[0].starts_with("no DGT clock is read"), "{told:?}");
        assert!(of(told, "clock_order").is_empty());
    }
    let long = told("2000 arbiter set clock black 36000000\n3000 arbiter send-clock");
    assert!(refused(&long)[0].contains("9:59:59"), "{long:?}");
    let over = told("2000 result 1-0\n3000 arbiter send-clock");
    assert!(refused(&over)[0].starts_with("the game is over"));
    let twice = told("2000 arbiter send-clock\n3000 arbiter send-clock");
    assert!(refused(&twice)[0].contains("under way"));
    assert_eq!(of(&twice, "clock_order").len(), 1);
    let wrong = told("2000 arbiter send-clock run-nobody");
    assert!(refused(&wrong)[0].contains("paused, run-white or run-black"));
}

#[test]
fn a_clock_that_was_not_set_is_told_with_what_helps() {
    let script =
        format!("2000 arbiter send-clock\n3000 device {}\n4000 arbiter send-clock", answer(1, false));
    let facts = told(&script);
    let failed = of(&facts, "clock-not-set");
    assert_eq!(failed[0]["reason"], "the clock is not in its remote mode");
    assert!(failed[0]["detail"].as_str().unwrap().contains("mode 23"), "{failed:?}");
    assert_eq!(failed[0]["to"], "arbiter");
    assert_eq!(of(&facts, "clock_order").len(), 2, "it may be tried again");
    assert_eq!(failed.len(), 2, "the second order got no answer: {failed:?}");
    assert_eq!(failed[1]["reason"], "nothing was heard of the order");
}

#[test]
fn an_answer_to_another_order_settles_nothing() {
    let script =
        format!("2000 device {}\n3000 arbiter send-clock\n3500 device {}", answer(1, true), answer(7, true));
    let facts = told(&script);
    assert!(of(&facts, "clock_set").is_empty());
    assert_eq!(of(&facts, "clock-not-set").len(), 1);
}

#[test]
fn of_two_boards_the_one_that_has_the_clock_is_sent_the_order() {
    let mut board = script::board(json!({"board": "two-board", "time_control": "90+30"}));
    for line in [
        r#"{"us":0,"device":{"source":"dgt"}}"#,
        r#"{"us":0,"device":{"source":"dgt"},"board":"B"}"#,
        r#"{"us":1,"device":{"clock":"absent"}}"#,
        r#"{"us":2,"times":{"white_ms":60000,"black_ms":90000,"running":null},"board":"B"}"#,
        r#"{"us":3,"arbiter":"send-clock run-black"}"#,
    ] {
        let stamped = sensor_log::parse_event(line).unwrap();
        board.input(stamped.at, &Input::Event(stamped.unit, stamped.event));
    }
    let order = std::iter::from_fn(|| board.poll_fact()).find_map(|fact| match fact.kind {
        FactKind::Law(law) => match *law {
            LawFact::ClockOrder(order) => Some(order),
            _ => None,
        },
        _ => None,
    });
    let (unit, set) = board.setting_of(&order.unwrap()).unwrap();
    assert_eq!(unit, Unit::B);
    // White sits at the left of it.
    assert_eq!((set.left.seconds(), set.right.seconds(), set.runs), (60, 90, Runs::Right));
}

/// Everything that a game tells, without the number of the event.
fn unnumbered(facts: Vec<Value>) -> Vec<Value> {
    let strip = |mut fact: Value| {
        fact.as_object_mut().unwrap().remove("ev");
        fact
    };
    facts.into_iter().map(strip).collect()
}

#[test]
fn a_step_of_the_system_clock_moves_nothing_in_the_game() {
    let game = "
        2000 piece e2
        2500 piece e4 P
        STEP
        3000 press white
        3100 times 5427000 5400000 black
        4000 arbiter set clock black 5000000
        4100 times 5427000 5399000
        6000 arbiter send-clock
        6500 tick";
    let hour = json!({"utc": "2026-03-29T02:00:00.000000Z", "synchronised": true, "step_ms": 3_600_000});
    let leap = json!({"utc": "2026-12-31T23:59:59.000000Z", "synchronised": true, "step_ms": -1000});
    let still = unnumbered(told(&game.replace("STEP", "")));
    let stepped = unnumbered(told(&game.replace("STEP", &format!("2600 wall {hour}\n2700 wall {leap}"))));
    assert_eq!(still, stepped);
    assert!(still.iter().any(|fact| fact["fact"] == "move_completed"));
}

#[test]
fn the_arbiter_hears_once_of_a_clock_that_is_away_or_weak() {
    let script = "
        2000 device {\"clock\":\"absent\"}
        2500 device {\"clock\":\"absent\"}
        3000 device {\"clock\":\"present\"}
        4000 device {\"clock_battery\":\"low\"}
        5000 device {\"clock_battery\":\"low\"}
        6000 device {\"clock_battery\":\"good\"}
        7000 device {\"clock_battery\":\"low\"}";
    let facts = told(script);
    let count = |code| of(&facts, code).len();
    assert_eq!((count("clock-unplugged"), count("clock-back"), count("clock-battery-low")), (1, 1, 2));
    let never = script::facts(header(), "0 device {\"clock\":\"absent\"}");
    assert!(of(&never, "clock-unplugged").is_empty(), "there was none");
}
