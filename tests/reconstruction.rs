//! Recorded games and reported failures, run whole through the reconstruction.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "reconstruction/games.rs"]
mod games;
#[path = "support/play.rs"]
mod play;
#[path = "support/streams.rs"]
mod streams;

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Map, Value, json};
use touchmoved::{
    replay::{Emit, Replay, Threshold},
    session::io::Input,
    wire::sensor_log,
};

#[path = "reconstruction/doubts.rs"]
mod doubts;
#[path = "reconstruction/flags.rs"]
mod flags;
#[path = "reconstruction/scramble.rs"]
mod scramble;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

/// Runs a sensor log and gives the output lines.
fn replay<'a>(lines: impl IntoIterator<Item = &'a str>, emit: Emit) -> Vec<Value> {
    let mut lines = lines.into_iter().filter(|line| !line.is_empty());
    let setup = sensor_log::parse_header(lines.next().unwrap()).unwrap();
    let mut replay = Replay::new(&setup, emit, None).unwrap();
    for line in lines {
        let stamped = sensor_log::parse_event(line).unwrap();
        replay.input(stamped.at, &Input::Event(stamped.unit, stamped.event)).unwrap();
    }
    replay.finish().unwrap();
    replay.take_output().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A draw that ends before or after the press by taste; an announcement that the case does not hold.
const OTHER_HARNESS: [&str; 2] = ["C119", "C125"];

#[test]
fn every_reported_case_shows_the_expected_states() {
    let cases = fs::read_to_string(Path::new(FIXTURES).join("cases/cases.jsonl")).unwrap();
    let mut failed = BTreeMap::new();
    let mut run = 0;
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        let Some((log, index)) = case_log(&case) else { continue };
        if OTHER_HARNESS.contains(&id) {
            continue;
        }
        run += 1;
        let out = replay(log.iter().map(String::as_str), Emit::States);
        let problems = compare(&case, &out, &index);
        if !problems.is_empty() {
            failed.insert(id.to_owned(), problems);
        }
    }
    assert!(run >= 95, "only {run} cases were run");
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The sensor log of a case, and for each event of the case the event of the log after which its
/// expectation is due.
fn case_log(case: &Value) -> Option<(Vec<String>, Vec<i64>)> {
    let repro = &case["repro"];
    if repro["type"] != "events" {
        return None;
    }
    let identity = case["board"] == "identity";
    let kind = match case["board"].as_str() {
        Some("identity") => "dgt",
        Some("pegs") => "peg",
        _ => "reed",
    };
    let start = repro["start_fen"].as_str()?;
    let mut header = json!({"sensor_log": 1, "board": kind, "start_fen": start,
        "variant": repro.get("variant").cloned().unwrap_or(json!("standard"))});
    let standing = repro.get("phys_start").and_then(Value::as_str).unwrap_or(start);
    let turned = repro.get("mount") == Some(&json!("rotated180"));
    let mut men = squares_of(standing);
    if turned {
        men = men.into_iter().map(|(square, man)| (square.rotate_180(), man)).collect();
    }
    if repro.get("phys_start").is_some() || turned {
        header["start_occupied"] = json!(men.keys().map(ToString::to_string).collect::<Vec<_>>());
    }
    if identity && repro.get("phys_start").is_some() {
        let identities: Map<String, Value> =
            men.iter().map(|(square, man)| (square.to_string(), json!(man.to_string()))).collect();
        header["given"] = json!({ "identities": identities });
    }
    let mut lines = vec![header.to_string()];
    let mut index = Vec::new();
    let mut count = 0;
    for event in repro["events"].as_array()? {
        if event.get("unseen") == Some(&json!(true)) {
            index.push(count - 1);
            continue;
        }
        let mut line = json!({"us": event["ms"].as_u64()? * 1000});
        case_event(event, identity, line.as_object_mut()?)?;
        lines.push(line.to_string());
        index.push(count);
        count += 1;
    }
    Some((lines, index))
}

fn case_event(event: &Value, identity: bool, line: &mut Map<String, Value>) -> Option<()> {
    let mut put = |key: &str, value: Value| {
        line.insert(key.to_owned(), value);
    };
    if let Some(square) = event.get("lift") {
        put("sq", square.clone());
        if identity { put("pc", json!("")) } else { put("occ", json!(0)) }
    } else if let Some(square) = event.get("place") {
        put("sq", square.clone());
        match event.get("read").or(event.get("piece")) {
            Some(piece) if identity => put("pc", piece.clone()),
            _ => put("occ", json!(1)),
        }
    } else if event.get("clocks") == Some(&json!("stopped")) {
        put("clock", json!("pause"));
    } else if let Some(dump) = event.get("dump") {
        match dump.get("board") {
            Some(board) if identity => put("pieces", board.clone()),
            _ => put("occupied", json!(dump["occ"].as_str()?.trim_start_matches("0x"))),
        }
    } else if event.get("set").is_some() {
        return None;
    } else {
        let key =
            ["clock", "link", "power", "result", "tick"].into_iter().find(|key| event.get(key).is_some())?;
        put(key, event[key].clone());
    }
    Some(())
}

fn squares_of(fen: &str) -> BTreeMap<shakmaty::Square, char> {
    let placement = fen.split(' ').next().unwrap();
    let board = shakmaty::Board::from_ascii_board_fen(placement.as_bytes()).unwrap();
    board.iter().map(|(square, piece)| (square, piece.char())).collect()
}

fn compare(case: &Value, out: &[Value], index: &[i64]) -> Vec<String> {
    let states: BTreeMap<i64, &Value> = out.iter().map(|line| (line["ev"].as_i64().unwrap(), line)).collect();
    let mut problems = Vec::new();
    for expected in case["repro"]["expect"].as_array().unwrap() {
        let after = expected["after"].as_u64().unwrap() as usize;
        let Some(found) = states.get(&index[after]) else {
            problems.push(format!("no state after {after}"));
            continue;
        };
        if as_good(expected, found, &case["repro"]["events"][after]) {
            continue;
        }
        for key in ["state", "moves", "candidate", "attempt"] {
            if let Some(wanted) = expected.get(key)
                && found.get(key) != Some(wanted)
            {
                problems.push(format!("after {after}: {key} {:?}, wanted {wanted}", found.get(key)));
            }
        }
        for key in ["candidates", "must_move", "must_capture", "squares"] {
            if let Some(wanted) = expected.get(key)
                && sorted(found.get(key)) != sorted(Some(wanted))
            {
                problems.push(format!("after {after}: {key} {:?}, wanted {wanted}", found.get(key)));
            }
        }
    }
    problems
}

/// A made move that still waits whether its man goes on is as good, until the press.
fn as_good(expected: &Value, found: &Value, event: &Value) -> bool {
    let Some((last, earlier)) = expected["moves"].as_array().and_then(|moves| moves.split_last()) else {
        return false;
    };
    expected["state"] == "made"
        && found["state"] == "provisional"
        && event.get("clock").is_none()
        && found["moves"].as_array().map(Vec::as_slice) == Some(earlier)
        && found.get("candidate") == Some(last)
}

fn sorted(list: Option<&Value>) -> Vec<String> {
    let mut words: Vec<String> =
        list.and_then(Value::as_array).into_iter().flatten().map(ToString::to_string).collect();
    words.sort();
    words
}

/// A time stamp that goes back is clamped to the last one and reported once.
#[test]
fn time_that_goes_back_is_reported_once() {
    let log = [
        r#"{"sensor_log":1}"#,
        r#"{"us":5000000,"sq":"e2","occ":0}"#,
        r#"{"us":1,"sq":"e4","occ":1}"#,
        r#"{"us":2,"clock":"white"}"#,
    ];
    let facts = replay(log, Emit::Facts);
    let told: Vec<_> = facts.iter().filter(|fact| fact["code"] == "time-backwards").collect();
    assert_eq!(told.len(), 1, "{facts:#?}");
    assert_eq!((&told[0]["us"], &told[0]["ev"]), (&json!(5_000_000), &json!(1)));
    assert!(facts.iter().any(|fact| fact["fact"] == "move_completed" && fact["uci"] == "e2e4"), "{facts:#?}");
}

/// The time of a move is what the mover has left after the press, the increment added, whether the
/// clock tells it with the press or a moment later.
#[test]
fn the_time_of_a_move_is_read_after_the_press() {
    let reading = |us: u64, white: u64, running: &str| {
        format!(r#"{{"us":{us},"times":{{"white_ms":{white},"black_ms":5400000,"running":"{running}"}}}}"#)
    };
    let header = r#"{"sensor_log":1}"#.to_owned();
    let moved = [
        reading(0, 5_400_000, "white"),
        r#"{"us":4000000,"sq":"e2","occ":0}"#.to_owned(),
        r#"{"us":5000000,"sq":"e4","occ":1}"#.to_owned(),
    ];
    let press = r#"{"us":6000000,"clock":"white"}"#.to_owned();
    for late in [false, true] {
        let mut log = vec![header.clone()];
        log.extend(moved.clone());
        let after = reading(if late { 6_800_000 } else { 6_000_000 }, 5_424_000, "black");
        log.extend(if late { [press.clone(), after] } else { [after, press.clone()] });
        let facts = replay(log.iter().map(String::as_str), Emit::Facts);
        let last = facts.iter().rfind(|fact| fact.get("clock_ms").is_some()).unwrap();
        assert_eq!(last["fact"], json!(if late { "ply_clock" } else { "move_completed" }));
        assert_eq!((&last["ply"], &last["clock_ms"]), (&json!(1), &json!(5_424_000)));
    }
}

/// What stands on the board for long enough is published without any press, captures included, and a
/// mate ends the game, also when the clocks are stopped at once.
#[test]
fn without_a_press_a_move_is_published_and_a_mate_ends_the_game() {
    let lines = |start: &str, changes: &[(u64, &str, u8)], end: &str| {
        let mut log = vec![format!(r#"{{"sensor_log":1,"start_fen":"{start}"}}"#)];
        for (ms, square, occupied) in changes {
            log.push(format!(r#"{{"us":{},"sq":"{square}","occ":{occupied}}}"#, ms * 1000));
        }
        log.push(end.to_owned());
        replay(log.iter().map(String::as_str), Emit::Moves)
    };
    let start = "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    let capture = [(5000, "e4", 0), (5500, "d5", 0), (6000, "d5", 1)];
    let out = lines(start, &capture, r#"{"us":66000000,"tick":true}"#);
    assert_eq!((&out[0]["move"], &out[1]["certain"]), (&json!("e4d5"), &json!(true)), "{out:#?}");
    let start = "3rk3/3pp3/8/8/8/8/4Q3/3RK3 w - - 0 1";
    let mate = [(5000, "d1", 0), (5500, "d7", 0), (6000, "d7", 1)];
    let ended = "4r1k1/5ppp/8/8/8/8/8/4R1K1 w - - 0 1";
    let back_rank = [(5000, "e1", 0), (5500, "e8", 0), (6000, "e8", 1)];
    for end in [r#"{"us":66000000,"tick":true}"#, r#"{"us":6100000,"clock":"pause"}"#] {
        let out = lines(ended, &back_rank, end);
        assert_eq!(out.last().unwrap()["result"], json!("1-0"), "{out:#?}");
        assert_eq!(out[0]["move"], json!("e1e8"), "{out:#?}");
    }
    let out = lines(start, &mate, r#"{"us":66000000,"tick":true}"#);
    assert_eq!((&out[0]["move"], &out[1]["result"]), (&json!("d1d7"), &json!("*")), "{out:#?}");
}

/// At the threshold `completed` a move is printed when it was pressed, and never taken back.
#[test]
fn moves_can_be_printed_when_they_are_completed() {
    let log = [
        r#"{"sensor_log":1}"#,
        r#"{"us":1000000,"sq":"e2","occ":0}"#,
        r#"{"us":1500000,"sq":"e4","occ":1}"#,
        r#"{"us":9000000,"clock":"white"}"#,
        r#"{"us":10000000,"sq":"e7","occ":0}"#,
        r#"{"us":10500000,"sq":"e5","occ":1}"#,
    ];
    let setup = sensor_log::parse_header(log[0]).unwrap();
    let mut replay = Replay::new(&setup, Emit::Moves, None).unwrap().at(Threshold::Completed);
    for line in &log[1..] {
        let stamped = sensor_log::parse_event(line).unwrap();
        replay.input(stamped.at, &Input::Event(stamped.unit, stamped.event)).unwrap();
    }
    replay.finish().unwrap();
    let out: Vec<Value> =
        replay.take_output().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(out.len(), 2, "{out:#?}");
    assert_eq!(
        (&out[0]["move"], &out[0]["ev"], &out[0]["us"]),
        (&json!("e2e4"), &json!(2), &json!(9_000_000))
    );
    assert_eq!(out[1]["final"], json!(["e2e4", "e7e5"]));
}

/// The last move before a result is entered belongs to the game, pressed or not.
#[test]
fn the_last_move_before_a_result_is_kept() {
    let log = [
        r#"{"sensor_log":1}"#,
        r#"{"us":1000000,"sq":"e2","occ":0}"#,
        r#"{"us":1500000,"sq":"e4","occ":1}"#,
        r#"{"us":1600000,"result":"1/2-1/2"}"#,
        r#"{"us":5000000,"sq":"e7","occ":0}"#,
        r#"{"us":5500000,"sq":"e5","occ":1}"#,
    ];
    let out = replay(log, Emit::Moves);
    assert_eq!((&out[0]["move"], &out[0]["ev"]), (&json!("e2e4"), &json!(2)), "{out:#?}");
    assert_eq!((&out[1]["final"], &out[1]["result"]), (&json!(["e2e4"]), &json!("1/2-1/2")));
    let facts = replay(log, Emit::Facts);
    assert!(
        facts.iter().any(|fact| fact["fact"] == "move_completed" && fact["how"] == "game-end"),
        "{facts:#?}"
    );
}
