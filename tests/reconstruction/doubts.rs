//! A game that may not be right says so, and where.

use serde_json::{Value, json};
use touchmoved::replay::Emit;

use super::replay;

fn last_line(start: &str, events: &[&str]) -> Value {
    let mut log = vec![format!(r#"{{"sensor_log":1,"start_fen":"{start}"}}"#)];
    for (second, event) in (1..).zip(events) {
        let us = second * 1_000_000;
        log.push(match event.split_once(' ') {
            Some(("lift", square)) => format!(r#"{{"us":{us},"sq":"{square}","occ":0}}"#),
            Some(("place", square)) => format!(r#"{{"us":{us},"sq":"{square}","occ":1}}"#),
            _ => format!(r#"{{"us":{us},"clock":"{event}"}}"#),
        });
    }
    replay(log.iter().map(String::as_str), Emit::Moves).pop().unwrap()
}

/// A capture that no sensor saw is no doubt by itself; when the board goes out of order later, it is.
#[test]
fn what_was_not_seen_is_doubted_when_the_game_goes_wrong() {
    let start = "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    let mut events = vec!["lift e4", "white", "lift g8", "place f6", "black", "lift b1", "place c3", "white"];
    let found = last_line(start, &events);
    assert_eq!(found["final"], json!(["e4d5", "g8f6", "b1c3"]));
    assert_eq!((&found["certain"], &found["doubts"]), (&json!(true), &json!([])));
    events.extend(["lift d8", "place g4"]);
    let found = last_line(start, &events);
    assert_eq!(found["final"], json!(["e4d5", "g8f6", "b1c3"]));
    assert_eq!((&found["certain"], &found["doubts"]), (&json!(false), &json!([1, 3])));
}

/// Whoever is mated has nothing to press for.
#[test]
fn a_press_by_the_player_who_is_mated_makes_the_mate_doubtful() {
    let start = "4r1k1/5ppp/8/8/8/8/8/4R1K1 w - - 0 1";
    let mut events = vec!["lift e1", "lift e8", "place e8", "white"];
    assert_eq!(last_line(start, &events)["doubts"], json!([]));
    events.push("black");
    let found = last_line(start, &events);
    assert_eq!((&found["result"], &found["doubts"]), (&json!("1-0"), &json!([1])));
}
