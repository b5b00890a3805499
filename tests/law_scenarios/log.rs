//! A scenario as a sensor log: the header with what happened before, and the events.

use serde_json::{Map, Value, json};
use shakmaty::{Bitboard, Square};

/// A scenario made ready to run under one edition.
pub struct Log {
    pub header: Value,
    pub events: Vec<Value>,
    /// Events that were put before those of the scenario.
    pub shift: i64,
}

/// The sensor log of a scenario under an edition.
pub fn log(scenario: &Value, edition: &str) -> Log {
    let mut header = header(scenario, edition);
    let mut before = Vec::new();
    give(scenario, &mut header, &mut before);
    let shift = i64::try_from(before.len()).unwrap();
    let events = list(scenario, "events").iter().enumerate();
    before.extend(events.map(|(index, event)| self::event(scenario, index, event)));
    Log { header, events: before, shift }
}

/// The list of that name; nothing where there is none.
pub fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// True when nothing happens: the scenario only asks for something to be worked out.
pub fn is_still(scenario: &Value) -> bool {
    list(scenario, "events").iter().all(|event| event.get("note").is_some())
}

fn header(scenario: &Value, edition: &str) -> Value {
    let mut header = json!({"sensor_log": 1, "start_fen": scenario["start"], "rules": edition});
    for key in ["board", "variant", "discipline", "history", "config"] {
        if let Some(value) = scenario.get(key) {
            header[key] = value.clone();
        }
    }
    // The articles that describe the supervision.
    match scenario["supervision"].as_str() {
        Some("A.4" | "B.2") => header["supervision"] = json!("full"),
        Some("A.5" | "B.3") => header["supervision"] = json!("basic"),
        _ => {}
    }
    let announced = list(scenario, "events").iter().any(|event| event.get("announce").is_some());
    if announced || scenario["rule"].as_str().unwrap().starts_with("LF2.3") {
        header["config"]["peg.announce"] = json!("button");
    }
    header
}

fn event(scenario: &Value, index: usize, event: &Value) -> Value {
    let mut line = json!({"us": event["ms"].as_u64().unwrap() * 1000});
    let identity = scenario["board"] == "dgt";
    if let Some(square) = event.get("lift") {
        line["sq"] = square.clone();
        let (key, value) = if identity { ("pc", json!("")) } else { ("occ", json!(0)) };
        line[key] = value;
    } else if let Some(square) = event.get("place") {
        line["sq"] = square.clone();
        let piece = event.get("piece").filter(|_| identity);
        line[if piece.is_some() { "pc" } else { "occ" }] = piece.cloned().unwrap_or(json!(1));
    } else if let Some(squares) = event.get("snapshot") {
        let occupied: Bitboard = squares.as_array().unwrap().iter().map(square).collect();
        line["occupied"] = json!(format!("{:016x}", occupied.0));
    } else if let Some(times) = event.get("times") {
        line["times"] =
            json!({"white_ms": times["white"], "black_ms": times["black"], "running": times["running"]});
    } else if event.get("note").is_some() {
        noted(scenario, index, &mut line);
    } else {
        for key in ["clock", "flag", "button", "arbiter", "intended", "announce", "result"] {
            if let Some(value) = event.get(key) {
                line[key] = value.clone();
            }
        }
    }
    // What is left of the session is an input that only the expectation names.
    let left = expected(scenario).find_map(|fact| fact.get("session_left"));
    if let Some(left) = left.filter(|_| line["arbiter"] == "seal-early") {
        line["arbiter"] = json!(format!("seal-early {left}"));
    }
    if event["board"] == "B" {
        line["board"] = json!("B");
    }
    line
}

/// A note stands for something that happens without a sensor: what it is, is told by what is expected.
fn noted(scenario: &Value, index: usize, line: &mut Value) {
    let here = |kind: &str| expected(scenario).find(|fact| fact["fact"] == kind && fact["ev"] == index);
    if let Some(setup) = here("setup") {
        let mut men = shakmaty::Board::new();
        for (name, letter) in setup["identities"].as_object().unwrap() {
            let letter = letter.as_str().unwrap().chars().next().unwrap();
            men.set_piece_at(name.parse().unwrap(), shakmaty::Piece::from_char(letter).unwrap());
        }
        line["pieces"] = json!(men.to_string());
    } else if here("default_check").is_some() {
        line["arbiter"] = json!("late-check");
    } else {
        line["tick"] = json!(true);
    }
}

fn square(name: &Value) -> Square {
    name.as_str().unwrap().parse().unwrap()
}

fn expected(scenario: &Value) -> impl Iterator<Item = &Value> {
    list(scenario, "expected").iter()
}

const fn other(side: &str) -> &'static str {
    if matches!(side.as_bytes(), b"white") { "black" } else { "white" }
}

/// The side that has the move at the first event.
fn to_move(scenario: &Value) -> &'static str {
    let white = scenario["start"].as_str().unwrap().contains(" w ");
    if white == list(scenario, "history").len().is_multiple_of(2) { "white" } else { "black" }
}

/// Sets up what a scenario presupposes: the inputs that the expected facts name.
fn give(scenario: &Value, header: &mut Value, before: &mut Vec<Value>) {
    let events = list(scenario, "events");
    let told = |fact: &Value| {
        let ev = usize::try_from(fact["ev"].as_i64().unwrap_or(0).max(0)).unwrap();
        events.iter().take(ev + 1).any(|event| event.get("times").is_some())
    };
    let orders = |word: &str| events.iter().any(|event| event["arbiter"] == word);
    let mut times = Map::new();
    let mut given = Map::new();
    let mut control = None;
    let offender = expected(scenario)
        .find(|fact| fact["fact"] == "illegal_move")
        .map(|fact| fact["by"].as_str().unwrap());
    for fact in expected(scenario) {
        match fact["fact"].as_str().unwrap() {
            "illegal_move" | "penalty" => {
                let n = fact["n"].as_u64().unwrap_or(1);
                if let Some(side) = offender.filter(|_| n > 1) {
                    given.insert("illegal".to_owned(), json!({ side: n - 1 }));
                }
            }
            "clock" => {
                if !told(fact) {
                    times_before(scenario, fact, offender, &mut times);
                }
                let calc = fact["calc"].as_str().unwrap();
                let base = fact["before"].as_u64().or(fact["allotted"].as_u64()).unwrap_or(0) / 1000;
                if !orders("five-seconds-on") {
                    if let Some(inc) = fact["inc"].as_u64() {
                        control = Some(format!("{base}+{}", inc / 1000));
                    } else if let Some(delay) = fact["delay"].as_u64() {
                        control = Some(format!("{base}d{}", delay / 1000));
                    }
                }
                if calc.ends_with("-absent") {
                    // Time is charged where the default time is not zero.
                    header["config"]["default_time_s"] = json!(3600);
                }
                if calc == "period" && orders("period-added") {
                    control = Some(format!("40/7200:{}", fact["add"].as_u64().unwrap() / 1000));
                } else if calc == "time-used" {
                    control = Some(base.to_string());
                }
            }
            "snapshot" if !told(fact) => {
                for side in ["white", "black"] {
                    if let Some(ms) = fact[format!("{side}_ms")].as_u64().filter(|ms| *ms > 0) {
                        times.insert(side.to_owned(), json!(ms));
                    }
                }
            }
            "recording" => {
                control = increment(&fact["inc_ms"]).or(control);
                if fact["was_below"] == true {
                    // It was below the limit before the penalty of two minutes.
                    let ms = fact["remaining_ms"].as_u64().unwrap() - 120_000;
                    before.push(json!({"us": 0, "times": {"white_ms": ms, "black_ms": 900_000}}));
                }
            }
            "claim_check" => {
                control = increment(&fact["increment"]).or(control);
                if fact["to_move"] == false && to_move(scenario) == "white" {
                    header["start_fen"] = json!(scenario["start"].as_str().unwrap().replace(" w ", " b "));
                }
            }
            "advisory" => {
                if let Some(ms) = fact["expected_ms"].as_u64() {
                    // What the mover had before the press; the clock ran from the beginning.
                    let pressed = events.iter().find(|event| event["clock"] == "white").unwrap();
                    times.insert("white".to_owned(), json!(ms + pressed["ms"].as_u64().unwrap()));
                }
            }
            "flag_check" => {
                let side = fact["side"].as_str().unwrap();
                given.insert("completed".to_owned(), json!({ side: fact["completed"] }));
                control = Some(format!("{}/7200:3600", fact["required"]));
            }
            "default_check" => {
                let side = fact["side"].as_str().unwrap();
                given.insert("present".to_owned(), json!({ side: false, other(side): true }));
            }
            _ => {}
        }
    }
    if !times.is_empty() {
        given.insert("times_ms".to_owned(), Value::Object(times));
    }
    header["given"] = Value::Object(given);
    if let Some(control) = control {
        header["time_control"] = json!(control);
    }
}

fn increment(ms: &Value) -> Option<String> {
    ms.as_u64().filter(|ms| *ms > 0).map(|ms| format!("7200+{}", ms / 1000))
}

/// The times that a calculation starts from.
fn times_before(scenario: &Value, fact: &Value, offender: Option<&str>, times: &mut Map<String, Value>) {
    let mut put = |side: &str, ms: &Value| {
        if ms.is_u64() && !times.contains_key(side) {
            times.insert(side.to_owned(), ms.clone());
        }
    };
    let by = offender.unwrap_or(to_move(scenario));
    match &fact["before"] {
        Value::Object(parties) => {
            for (party, ms) in parties {
                put(if party == "opponent" { other(by) } else { by }, ms);
            }
        }
        before => {
            let side =
                if fact["calc"] == "white-absent" { "white" } else { fact["side"].as_str().unwrap_or(by) };
            put(side, before);
            put(side, &fact["remaining"]);
        }
    }
}
