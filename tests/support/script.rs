//! Scripts of a game: `MILLISECONDS VERB WORDS`, a line an event, and the facts that they lead to.

use std::iter;

use serde_json::{Value, json};
use touchmoved::{
    game::Board,
    session::{io::Input, time::MonoTime},
    wire::sensor_log,
};

/// One event of a script: `MILLISECONDS VERB WORDS`.
fn event(line: &str) -> Value {
    let mut words = line.trim().splitn(3, ' ');
    let us = words.next().unwrap().parse::<u64>().unwrap() * 1000;
    let (verb, rest) = (words.next().unwrap(), words.next().unwrap_or(""));
    match verb {
        "lift" => json!({"us": us, "sq": rest, "occ": 0}),
        "place" => json!({"us": us, "sq": rest, "occ": 1}),
        "press" => json!({"us": us, "clock": rest}),
        "tick" => json!({"us": us, "tick": true}),
        "pause" => json!({"us": us, "clock": "pause"}),
        "run" => json!({"us": us, "clock": format!("run-{rest}")}),
        // `piece a1 p`, and `piece a1` for an empty square, on a board that tells its men.
        "piece" => {
            let (square, man) = rest.split_once(' ').unwrap_or((rest, ""));
            json!({"us": us, "sq": square, "pc": man})
        }
        // `times WHITE_MS BLACK_MS SIDE`
        "times" => {
            let mut words = rest.split(' ');
            let mut ms = || words.next().unwrap().parse::<u64>().unwrap();
            let (white, black) = (ms(), ms());
            json!({"us": us, "times": {"white_ms": white, "black_ms": black, "running": words.next()}})
        }
        "wall" => json!({"us": us, "wall": serde_json::from_str::<Value>(rest).unwrap()}),
        "device" => json!({"us": us, "device": serde_json::from_str::<Value>(rest).unwrap()}),
        "result" | "button" | "arbiter" | "intended" | "flag" | "announce" => json!({"us": us, verb: rest}),
        other => panic!("{other}: {line}"),
    }
}

/// A board before the first event of a log with this header.
pub fn board(mut header: Value) -> Board {
    header["sensor_log"] = json!(1);
    Board::new(&sensor_log::parse_header(&header.to_string()).unwrap()).unwrap()
}

/// The facts of a script.
pub fn facts(header: Value, script: &str) -> Vec<Value> {
    let mut board = board(header);
    let mut facts = Vec::new();
    for line in script.lines().filter(|line| !line.trim().is_empty()) {
        let stamped = sensor_log::parse_event(&event(line).to_string()).unwrap();
        board.input(stamped.at, &Input::Event(stamped.unit, stamped.event));
        facts.extend(iter::from_fn(|| board.poll_fact()));
    }
    board.finish(MonoTime::ZERO);
    facts.extend(iter::from_fn(|| board.poll_fact()));
    facts.iter().map(touchmoved::session::fact::Fact::to_value).collect()
}

/// The facts of a kind, or advisories of a code.
pub fn of<'a>(facts: &'a [Value], kind: &str) -> Vec<&'a Value> {
    facts.iter().filter(|fact| fact["fact"] == kind || fact["code"] == kind).collect()
}

/// The facts of a kind at one event.
pub fn at<'a>(facts: &'a [Value], ev: i64, kind: &str) -> Vec<&'a Value> {
    of(facts, kind).into_iter().filter(|fact| fact["ev"] == ev).collect()
}

/// The header of an occupancy board under an edition.
pub fn under(rules: &str) -> Value {
    json!({"board": "reed", "rules": rules})
}

/// A script of events half a second apart, one after another with a `|` between; `+600 ` in front is so many
/// milliseconds later instead.
pub fn paced(events: &str) -> String {
    let mut ms = 0;
    let mut script = String::new();
    for event in events.split('|').map(str::trim) {
        let (step, event) = match event.strip_prefix('+').and_then(|rest| rest.split_once(' ')) {
            Some((step, event)) => (step.parse().unwrap(), event),
            None => (500, event),
        };
        ms += step;
        script.push_str(&format!("{ms} {event}\n"));
    }
    script
}

/// The facts of such a script from this position, under an edition and with `more` in the header.
pub fn told(rules: &str, fen: &str, more: Value, events: &str) -> Vec<Value> {
    let mut header = under(rules);
    header["start_fen"] = json!(fen);
    for (key, value) in more.as_object().unwrap() {
        header[key] = value.clone();
    }
    facts(header, &paced(events))
}
