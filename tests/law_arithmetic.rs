//! The numbers that the scenarios of the Laws expect, for each edition that a scenario names.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value, json};
use touchmoved::{
    laws::{
        arithmetic::{
            adjournment::{sealed_early, time_used},
            claim::{ClaimTimes, incorrect_claim},
            clock::{AfterMove, PerMove, adjusted, after_move, after_running, after_running_between},
            default_time,
            illegal::{self, IllegalOutcome, IllegalTimes},
            periods::FlagCheck,
            quickplay::{self, Circumstances},
            recording::{RecordingDuty, request_allowed},
        },
        settings::{LawSettings, Supervision},
    },
    wire::sensor_log::header_from_map,
};

/// The settings of a scenario under one edition, read as the header of a sensor log.
fn settings(scenario: &Value, edition: &str) -> LawSettings {
    let mut header = json!({"sensor_log": 1, "rules": edition});
    for key in ["discipline", "config"] {
        if let Some(value) = scenario.get(key) {
            header[key] = value.clone();
        }
    }
    // The article that describes full supervision.
    if scenario["supervision"] == "A.4" {
        header["supervision"] = json!(Supervision::Full.as_str());
    }
    header_from_map(header.as_object().unwrap()).unwrap().law_settings().unwrap()
}

/// A number of milliseconds of a fact.
fn ms(fact: &Value, path: &str) -> u64 {
    path.split('.')
        .fold(fact, |value, key| &value[key])
        .as_u64()
        .unwrap_or_else(|| panic!("{path} of {fact}"))
}

fn number(fact: &Value, key: &str) -> u32 {
    u32::try_from(ms(fact, key)).unwrap()
}

/// What the library finds, in the words of the scenario, and what the scenario expects.
fn found_and_expected(settings: &LawSettings, scenario: &Value, fact: &Value) -> Option<(Value, Value)> {
    Some(match fact["fact"].as_str()? {
        "classification" => {
            let t = ms(fact, "base_ms") + 60 * ms(fact, "inc_ms");
            (json!(settings.class.discipline(t).as_str()), fact["class"].clone())
        }
        "penalty" => {
            let expected = (fact.get("add_ms").cloned(), fact["lost"] == true);
            let found = match illegal::outcome(&settings.illegal, number(fact, "n"), false) {
                IllegalOutcome::Bonus { ms } => (Some(json!(ms)), false),
                IllegalOutcome::Loss => (None, true),
                IllegalOutcome::Draw => (None, false),
            };
            (json!(found), json!(expected))
        }
        "recording" => {
            let mut duty = RecordingDuty::with(fact["was_below"] == true);
            let per_move = PerMove::Increment { ms: ms(fact, "inc_ms") };
            (
                json!(duty.observe(&settings.record, ms(fact, "remaining_ms"), per_move)),
                fact["required"].clone(),
            )
        }
        "state" => {
            let expected = fact.get("recording_required")?;
            let required = RecordingDuty::default().observe(&settings.record, 300_000, PerMove::None);
            (json!({"white": required, "black": required}), expected.clone())
        }
        "flag_check" => {
            let check = FlagCheck::new(number(fact, "completed"), Some(number(fact, "required")));
            (json!(check.met), fact["met"].clone())
        }
        "default_check" => {
            let check = default_time::check(settings, ms(fact, "late_ms"));
            (json!([check.limit_ms, check.lost]), json!([fact["limit_ms"], fact["lost"]]))
        }
        "counter" => {
            let name = format!("{}-{}", fact["name"].as_str()?, fact["side"].as_str()?);
            let events = scenario["events"].as_array()?;
            let so_far = events.iter().take(usize::try_from(ms(fact, "ev")).unwrap() + 1);
            let count = so_far.filter(|event| event["button"] == json!(name)).count();
            let allowed = request_allowed(&settings.record, u32::try_from(count).unwrap());
            (json!([count, allowed]), json!([fact["value"], fact["allowed"]]))
        }
        "claim_check" if fact["kind"] == "quickplay" => {
            let increment = PerMove::Increment { ms: fact["increment"].as_u64().unwrap_or(0) };
            let claim = Circumstances {
                remaining_ms: ms(fact, "remaining_ms"),
                to_move: fact["to_move"] == true,
                flag_fallen: fact["flag_fallen"] == true,
                last_period: fact.get("last_period").is_none_or(|last| last == true),
                per_move: increment,
            };
            (json!(quickplay::eligible(settings, &claim).is_ok()), fact["valid"].clone())
        }
        "clock" => clock(settings, fact),
        _ => return None,
    })
}

fn clock(settings: &LawSettings, fact: &Value) -> (Value, Value) {
    let before = || ms(fact, "before");
    let found = match fact["calc"].as_str().unwrap() {
        "fischer" => {
            let after = after_move(before(), ms(fact, "used"), PerMove::Increment { ms: ms(fact, "inc") });
            assert_ne!(after, AfterMove::Flag, "{fact}");
            json!(after.ms())
        }
        "fischer-flag" => {
            let after = after_move(before(), ms(fact, "used"), PerMove::Increment { ms: ms(fact, "inc") });
            assert_eq!(after, AfterMove::Flag, "{fact}");
            json!(after.ms())
        }
        "delay" => {
            json!(after_move(before(), ms(fact, "used"), PerMove::Delay { ms: ms(fact, "delay") }).ms())
        }
        "period" => json!(adjusted(before(), fact["add"].as_i64().unwrap())),
        "claim-incorrect" => {
            let before = ClaimTimes {
                claimant_ms: ms(fact, "before.claimant"),
                opponent_ms: ms(fact, "before.opponent"),
            };
            let after = incorrect_claim(&settings.draw, before);
            json!({"claimant": after.claimant_ms, "opponent": after.opponent_ms})
        }
        "illegal" => {
            let offender = fact["before"].get("offender").and_then(Value::as_u64);
            let before =
                IllegalTimes { offender_ms: offender.unwrap_or(0), opponent_ms: ms(fact, "before.opponent") };
            let IllegalOutcome::Bonus { ms: bonus_ms } =
                illegal::outcome(&settings.illegal, number(fact, "n"), false)
            else {
                panic!("{fact}")
            };
            let gained = PerMove::Increment { ms: fact["inc_removed"].as_u64().unwrap_or(0) };
            let after = illegal::times(&settings.illegal, before, bonus_ms, gained, 0);
            let mut found = json!({"opponent": after.opponent_ms});
            if offender.is_some() {
                found["offender"] = json!(after.offender_ms);
            }
            found
        }
        "quickplay-bonus" => json!({"opponent": quickplay::with_bonus(ms(fact, "before.opponent"))}),
        "white-absent" => json!(after_running(before(), ms(fact, "elapsed"))),
        "replay-elapsed" => {
            json!(after_running_between(before(), ms(fact, "from_ms"), ms(fact, "to_ms")))
        }
        "seal-early" => json!(sealed_early(before(), ms(fact, "session_left"))),
        "time-used" => {
            return (json!(time_used(ms(fact, "allotted"), ms(fact, "remaining"))), fact["used"].clone());
        }
        other => panic!("no such calculation: {other}"),
    };
    (found, fact["after"].clone())
}

#[test]
fn the_numbers_are_those_of_the_scenarios() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/laws/scenarios.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let (mut counts, mut faults) = (BTreeMap::<String, u32>::new(), Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let scenario: Value = serde_json::from_str(line).unwrap();
        // The extract on the clock is a text, not an edition to play by.
        let editions = scenario["edition"].as_array().unwrap().iter().filter_map(Value::as_str);
        for edition in editions.filter(|edition| *edition != "seed-clock-extract") {
            let settings = settings(&scenario, edition);
            let holds = |fact: &&Value| {
                fact["edition"].as_array().is_none_or(|editions| editions.contains(&json!(edition)))
            };
            for fact in scenario["expected"].as_array().unwrap().iter().filter(holds) {
                let Some((found, expected)) = found_and_expected(&settings, &scenario, fact) else {
                    continue;
                };
                *counts.entry(fact["fact"].as_str().unwrap().to_owned()).or_default() += 1;
                if found != expected {
                    faults.push(format!("{} under {edition}: {found} for {fact}", scenario["id"]));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    let kinds: Vec<_> = counts.keys().map(String::as_str).collect();
    assert_eq!(
        kinds,
        [
            "claim_check",
            "classification",
            "clock",
            "counter",
            "default_check",
            "flag_check",
            "penalty",
            "recording",
            "state"
        ]
    );
    assert!(counts.values().sum::<u32>() > 70, "{counts:?}");
    println!("{counts:?}");
}
