//! The scenarios of the Laws, each played on a board under every edition that it names.
//!
//! What an expected fact needs and no event gives (times on the clocks, the time control, moves and illegal
//! moves before the first event, who is there) is set up from the inputs that the fact itself names. The
//! expected facts have to come in their order, between others. Notation, announcements without a move,
//! classification and set-ups of Chess960 are no matter of a game: other tests run them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "law_scenarios/compare.rs"]
mod compare;
#[path = "law_scenarios/log.rs"]
mod log;

use std::{fs, iter, path::Path};

use serde_json::Value;
use shakmaty::{EnPassantMode, Position as _, fen::Fen};
use touchmoved::{
    game::Board,
    session::{io::Input, time::MonoTime},
    wire::sensor_log,
};

use compare::{Comparison, Still, is_of_the_game};
use log::{Log, list};

/// A key of a fact in which a scenario stands against others.
struct Contradiction {
    id: &'static str,
    /// Of this edition only.
    edition: Option<&'static str>,
    /// The fact, or the code of the advisory.
    fact: &'static str,
    /// The key that is not compared; `ev` is the place in the order.
    key: &'static str,
    why: &'static str,
}

const CONTRADICTS: &[Contradiction] = &[
    Contradiction {
        id: "L5.1a-3",
        edition: None,
        fact: "flag-indicated",
        key: "to",
        why: "standard play calls the arbiter: L6.3-2, L6.9-1, L13.6-2",
    },
    Contradiction {
        id: "X5-1",
        edition: Some("fide-2023"),
        fact: "obligation",
        key: "certainty",
        why: "the edition of 2023 presumes no deliberate touch: N4.2.2-1",
    },
    Contradiction {
        id: "N7.5.2-1",
        edition: None,
        fact: "clock",
        key: "ev",
        why: "the time is added when the arbiter confirms: L7.4-5",
    },
];

/// Scenarios that are not met, and why. One that is met must leave this list.
const KNOWN_MISSES: &[(&str, &str)] = &[];

/// Plays a log to its end.
fn play(log: &Log) -> Result<(Vec<Value>, Still), String> {
    let setup = sensor_log::parse_header(&log.header.to_string()).map_err(|error| error.to_string())?;
    let mut board = Board::new(&setup).map_err(|error| error.to_string())?;
    let mut facts = Vec::new();
    for line in &log.events {
        let stamped =
            sensor_log::parse_event(&line.to_string()).map_err(|error| format!("{line}: {error}"))?;
        board.input(stamped.at, &Input::Event(stamped.unit, stamped.event));
        facts.extend(iter::from_fn(|| board.poll_fact()));
    }
    let position = board.session().position().clone();
    board.advance(MonoTime::END);
    facts.extend(iter::from_fn(|| board.poll_fact()));
    let legal = position.legal_moves().iter().map(|mv| board.session().move_text(*mv).into()).collect();
    let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
    Ok((facts.iter().map(|fact| fact.to_value()).collect(), Still { fen, legal }))
}

/// The editions that a scenario is for; the extract on the clock is a text, not an edition to play by.
fn editions(scenario: &Value) -> impl Iterator<Item = &str> {
    list(scenario, "edition")
        .iter()
        .filter_map(Value::as_str)
        .filter(|edition| *edition != "seed-clock-extract")
}

fn scenarios() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/laws/scenarios.jsonl");
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What is wrong with a scenario, with the edition before each.
fn faults(scenario: &Value, lenient: bool) -> Vec<String> {
    let mut faults = Vec::new();
    for edition in editions(scenario) {
        let log = log::log(scenario, edition);
        let wrong = match play(&log) {
            Ok((found, still)) => {
                let shift = log.shift;
                Comparison { scenario, edition, found: &found, shift, still: &still, lenient }.differences()
            }
            Err(error) => vec![error],
        };
        faults.extend(wrong.iter().map(|line| format!("\n  {edition}: {line}")));
    }
    faults
}

#[test]
fn every_scenario_is_met() {
    let (mut run, mut pure, mut faulty) = (0, 0, Vec::new());
    let mut unmet = Vec::new();
    for scenario in scenarios() {
        let id = scenario["id"].as_str().unwrap();
        let concerns = |fact: &Value| fact["fact"] == "absent" || is_of_the_game(&scenario, fact);
        if !list(&scenario, "expected").iter().any(concerns) {
            pure += 1;
            continue;
        }
        run += 1;
        let faults = faults(&scenario, true);
        let known = KNOWN_MISSES.iter().find(|(known, _)| *known == id);
        match known {
            None if !faults.is_empty() => faulty.push(format!("{id}:{}", faults.concat())),
            Some(_) if !faults.is_empty() => unmet.push(id.to_owned()),
            _ => {}
        }
    }
    let count = faulty.len();
    assert!(faulty.is_empty(), "{count} of {run} scenarios are not met:\n{}", faulty.join("\n"));
    let met = KNOWN_MISSES.iter().filter(|(id, _)| !unmet.iter().any(|unmet| unmet == id));
    let met: Vec<_> = met.collect();
    assert!(met.is_empty(), "these are met now or do not exist, take them off the list: {met:#?}");
    assert!(run >= 230, "only {run} scenarios were run, {pure} are pure computations");
}

#[test]
fn a_scenario_that_stands_against_others_cannot_be_met_with_them() {
    let scenarios = scenarios();
    for row in CONTRADICTS {
        let scenario = scenarios.iter().find(|scenario| scenario["id"] == row.id).unwrap();
        assert!(!faults(scenario, false).is_empty(), "{} is met; it was said that {}", row.id, row.why);
        // What it stands against is in the file.
        let (_, others) = row.why.split_once(": ").unwrap();
        for other in others.split(", ") {
            assert!(scenarios.iter().any(|scenario| scenario["id"] == other), "{other}");
        }
    }
}
