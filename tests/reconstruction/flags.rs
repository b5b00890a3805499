//! The remarks beside the moves: every one that a case expects is shown at that moment.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};
use touchmoved::replay::Emit;

use super::{FIXTURES, OTHER_HARNESS, case_log, replay};

#[test]
fn every_reported_case_shows_the_expected_flags() {
    let cases = fs::read_to_string(Path::new(FIXTURES).join("cases/cases.jsonl")).unwrap();
    let mut shown = BTreeSet::new();
    let mut missing = BTreeSet::new();
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        let Some((log, index)) = case_log(&case).filter(|_| !OTHER_HARNESS.contains(&id)) else { continue };
        let out = replay(log.iter().map(String::as_str), Emit::States);
        for expected in case["repro"]["expect"].as_array().unwrap() {
            let ev = index[expected["after"].as_u64().unwrap() as usize];
            let found = out.iter().find(|state| state["ev"] == ev).and_then(|state| state.get("flags"));
            let found: Vec<&Value> = found.and_then(Value::as_array).into_iter().flatten().collect();
            for flag in expected["flags"].as_array().into_iter().flatten() {
                let word = flag.as_str().unwrap();
                let list = if found.contains(&flag) { &mut shown } else { &mut missing };
                list.insert((id.to_owned(), word.to_owned()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(shown.len() >= 40, "only {} flags are expected: {shown:#?}", shown.len());
}

/// A knight leaves g5, no sensor sees on which of two pawns it lands, and the clock is pressed: both
/// captures are shown and told once, for as long as nothing decides, and the reply does.
#[test]
fn a_move_that_is_held_back_is_shown_with_all_that_fits() {
    let start = "r1bqkb1r/ppp2ppp/2n5/3np1N1/2B5/8/PPPP1PPP/RNBQK2R w KQkq - 0 6";
    let log = [
        &format!(r#"{{"sensor_log":1,"start_fen":"{start}"}}"#),
        r#"{"us":1000000,"sq":"g5","occ":0}"#,
        r#"{"us":2000000,"clock":"white"}"#,
        r#"{"us":9000000,"tick":true}"#,
        r#"{"us":15000000,"sq":"e8","occ":0}"#,
        r#"{"us":15400000,"sq":"f7","occ":0}"#,
        r#"{"us":15900000,"sq":"f7","occ":1}"#,
        r#"{"us":16400000,"clock":"black"}"#,
    ];
    let states = replay(log, Emit::States);
    for state in &states[1..5] {
        let found = (&state["state"], &state["moves"], &state["candidates"]);
        assert_eq!(found, (&json!("ambiguous"), &json!([]), &json!(["g5f7", "g5h7"])), "{state}");
    }
    assert_eq!(states[6]["moves"], json!(["g5f7", "e8f7"]));
    assert_eq!(states[6]["flags"], json!(["inferred_capture", "resolved_by_reply"]));
    let facts = replay(log, Emit::Facts);
    assert_eq!(facts.iter().filter(|fact| fact["fact"] == "ambiguous").count(), 1, "{facts:#?}");
    assert!(replay(log, Emit::Moves)[0]["ev"] == 6, "the capture is published before the reply was pressed");
}

fn flags_of(log: &[&str]) -> Vec<String> {
    let states = replay(log.iter().copied(), Emit::States);
    let flags = states.last().unwrap().get("flags").and_then(Value::as_array);
    flags.into_iter().flatten().map(|flag| flag.as_str().unwrap().to_owned()).collect()
}

/// A contact that opens for less than the debounce time is no touch; a man that is lifted is one.
#[test]
fn a_bouncing_contact_is_no_touch() {
    for (us, expected) in [(1_025_000, "flicker:d2"), (1_500_000, "touch_4.3.1:d2")] {
        let back = format!(r#"{{"us":{us},"sq":"d2","occ":1}}"#);
        let log = [
            r#"{"sensor_log":1}"#,
            r#"{"us":1000000,"sq":"d2","occ":0}"#,
            &back,
            r#"{"us":2000000,"sq":"e2","occ":0}"#,
            r#"{"us":2500000,"sq":"e4","occ":1}"#,
            r#"{"us":3000000,"clock":"white"}"#,
        ];
        assert_eq!(flags_of(&log), [expected]);
    }
}

/// Whoever presses again at once has a lever that bounces; later it is a press without a move, and
/// pushing the lever back after it is none.
#[test]
fn a_press_by_the_idle_side_is_remarked_once() {
    let log = |more: &[&str]| {
        let mut log = vec![
            r#"{"sensor_log":1}"#,
            r#"{"us":1000000,"sq":"e2","occ":0}"#,
            r#"{"us":1500000,"sq":"e4","occ":1}"#,
            r#"{"us":2000000,"clock":"white"}"#,
        ];
        log.extend(more);
        flags_of(&log)
    };
    assert!(log(&[r#"{"us":2300000,"clock":"white"}"#]).is_empty());
    let stray = r#"{"us":9000000,"clock":"white"}"#;
    assert_eq!(log(&[stray]), ["press_without_move:white"]);
    assert_eq!(log(&[stray, r#"{"us":11000000,"clock":"black"}"#]), ["press_without_move:white"]);
}
