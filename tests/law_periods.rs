//! Periods, flags and the quickplay finish where a ruling depends on them: whose time it is, and what is open in
//! which discipline.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{at, facts, of, under};
use serde_json::{Value, json};

fn with(rules: &str, more: &[(&str, Value)]) -> Value {
    let mut header = under(rules);
    for (key, value) in more {
        header[*key] = value.clone();
    }
    header
}

fn ruled<'a>(facts: &'a [Value], command: &str) -> &'a Value {
    of(facts, "arbiter_entry").into_iter().find(|entry| entry["command"] == command).expect(command)
}

fn added(facts: &[Value]) -> Vec<(&Value, &Value)> {
    let periods = of(facts, "clock").into_iter().filter(|fact| fact["calc"] == "period");
    periods.map(|fact| (&fact["side"], &fact["after"])).collect()
}

/// 6.3.1 (2005: 6.2): the time of a period belongs to the player who made the control.
#[test]
fn the_time_of_a_period_goes_to_the_player_whose_control_was_reached() {
    for rules in ["fide-2005", "fide-2023"] {
        let header = with(rules, &[("time_control", json!("2/60:60")), ("history", json!(["e2e4", "e7e5"]))]);
        // With the flag, and before it falls.
        for flag in ["\n2300 flag white", ""] {
            let script = format!(
                "0 times 1000 60000 white\n500 lift g1\n1000 place f3\n1500 press white{flag}\n2800 arbiter period-added"
            );
            let told = facts(header.clone(), &script);
            let times = added(&told);
            assert_eq!(times.len(), 1, "{rules} {flag}");
            assert_eq!(times[0].0, "white", "{rules} {flag}: {times:?}");
        }
        // Black's, while White has the move.
        let header = with(rules, &[("time_control", json!("1/60:60")), ("history", json!(["e2e4"]))]);
        let script = "
            0 times 60000 1000 black
            500 lift e7
            1000 place e5
            1500 press black
            1800 flag black
            2800 arbiter period-added";
        assert_eq!(added(&facts(header.clone(), script)), [(&json!("black"), &json!(60_000))], "{rules}");
        // The arbiter may say whose.
        let told = facts(header, &script.replace("period-added", "period-added white"));
        assert_eq!(added(&told)[0].0, "white", "{rules}");
    }
}

fn low_times() -> &'static str {
    "0 times 110000 45000 white\n500 button request-five-seconds-white\n1000 arbiter five-seconds-on"
}

/// Guideline III.2.2, III.4: standard and rapid play without additional time, in the last period.
#[test]
fn five_seconds_a_move_only_in_a_quickplay_finish() {
    for mode in ["five-second", "five-second-delay"] {
        for (control, discipline, accepted) in [
            ("5400", "standard", true),
            ("1500", "rapid", true),
            ("300", "blitz", false),
            ("5400+30", "standard", false),
            ("40/5400:1800", "standard", false),
        ] {
            let header = with(
                "fide-2023",
                &[
                    ("time_control", json!(control)),
                    ("discipline", json!(discipline)),
                    ("config", json!({ "rules.quickplay": mode })),
                ],
            );
            let told = facts(header, low_times());
            assert_eq!(ruled(&told, "five-seconds-on")["accepted"], accepted, "{mode} {control}");
            assert_eq!(of(&told, "claim-not-available").is_empty(), accepted, "{mode} {control}");
            let bonus = of(&told, "clock").iter().filter(|fact| fact["calc"] == "quickplay-bonus").count();
            assert_eq!(bonus, usize::from(accepted), "{mode} {control}");
        }
    }
}

#[test]
fn a_request_for_five_seconds_can_be_rejected() {
    let header = with(
        "fide-2023",
        &[("time_control", json!("5400")), ("config", json!({"rules.quickplay": "five-second"}))],
    );
    let told = facts(header, &low_times().replace("1000 arbiter", "900 arbiter reject\n1000 arbiter"));
    assert_eq!(ruled(&told, "reject")["accepted"], true);
    assert_eq!(ruled(&told, "five-seconds-on")["accepted"], false);
}

/// Where the game has no quickplay finish its claim is none, however the arbiter answers it.
#[test]
fn nobody_draws_by_a_quickplay_finish_that_the_game_does_not_have() {
    let script = "0 times 110000 45000 white\n500 button claim-quickplay-white\n1000 arbiter RULING";
    let blitz = with("fide-2005", &[("time_control", json!("300")), ("discipline", json!("blitz"))]);
    let unannounced = with("fide-2023", &[("time_control", json!("5400"))]);
    let increment = with("fide-2005", &[("time_control", json!("5400+30"))]);
    for header in [&blitz, &unannounced, &increment] {
        for ruling in ["accept", "quickplay-draw"] {
            let told = facts(header.clone(), &script.replace("RULING", ruling));
            assert_eq!(ruled(&told, ruling)["accepted"], false, "{header}");
            assert!(of(&told, "game_end").is_empty(), "{header}");
        }
        let told = facts(header.clone(), &script.replace("RULING", "reject"));
        assert_eq!(ruled(&told, "reject")["accepted"], true);
        assert!(at(&told, 2, "clock").is_empty(), "{header}: no bonus");
        // What the players agree on is their own.
        let told = facts(header.clone(), &script.replace("RULING", "draw-agreed"));
        assert_eq!(of(&told, "game_end")[0]["reason"], "agreement", "{header}");
    }
    let told =
        facts(with("fide-2005", &[("time_control", json!("5400"))]), &script.replace("RULING", "accept"));
    assert_eq!(of(&told, "game_end")[0]["reason"], "quickplay-draw");
}

/// Nothing follows from two flags of which nobody knows the order, and the arbiter hears why.
#[test]
fn two_flags_in_no_order_decide_nothing_and_say_so() {
    let script = "0 flag white\n0 flag black\n1000 arbiter flag-observed";
    for header in [with("fide-2023", &[("time_control", json!("40/5400:1800"))]), under("fide-2023")] {
        let told = facts(header, script);
        let entry = ruled(&told, "flag-observed");
        assert_eq!(entry["accepted"], false);
        assert!(entry["reason"].as_str().unwrap().contains("both-flags last-period"), "{entry}");
    }
    let told = facts(under("fide-2005"), &script.replace("flag-observed", "both-flags last-period"));
    assert_eq!(of(&told, "game_end")[0]["reason"], "both-flags-draw");
}

/// A.5.1 names the rook as well; B.4 of 2005 king and queen.
#[test]
fn which_man_may_not_castle_is_that_of_the_edition() {
    let moves = "g1f3 g8f6 f3g1 f6g8 b1c3 b8c6 c3b1 c6b8 a2a3 a7a6 b2b3 b7b6 c2c3 c7c6 d2d3 d7d6 e2e3 e7e6 \
                 f2f3 f7f6";
    let history: Vec<&str> = moves.split_whitespace().collect();
    let condition = |rules: &str| {
        let header = with(rules, &[("discipline", json!("rapid")), ("history", json!(history))]);
        of(&facts(header, "0 button claim-setup-black"), "king-may-not-castle")[0]["condition"].clone()
    };
    assert!(condition("fide-2023").as_str().unwrap().contains("rook"));
    assert_eq!(condition("fide-2005"), "if king and queen were interchanged");
}

/// The time of an illegal move names whose it was.
#[test]
fn times_after_an_illegal_move_name_the_player() {
    let script = "
        0 times 600000 600000 white
        500 lift e2
        1000 place e5
        1500 press white
        4000 arbiter confirm";
    let told = facts(with("fide-2023", &[("time_control", json!("5400"))]), script);
    let times = of(&told, "clock").into_iter().find(|fact| fact["calc"] == "illegal").unwrap();
    assert_eq!(times["side"], "white");
}

/// 8.4: also by the account of the presses, where no clock is read.
#[test]
fn who_records_is_known_from_the_presses() {
    let header = with("fide-2023", &[("time_control", json!("310"))]);
    let told = facts(
        header,
        "0 run white
        20000 lift g1
        20500 place f3
        21000 press white
        51000 lift g8
        51500 place f6
        52000 press black",
    );
    let required: Vec<(&Value, &Value)> =
        of(&told, "recording").into_iter().map(|fact| (&fact["color"], &fact["required"])).collect();
    let (white, black) = (&json!("white"), &json!("black"));
    let (must, need_not) = (&json!(true), &json!(false));
    assert_eq!(required, [(white, need_not), (black, must), (black, need_not)]);
    assert!(of(&told, "advisory").iter().any(|fact| fact["code"] == "scribe-needed"));
}

/// 8.5: the account of the presses says who has time enough to record.
#[test]
fn the_score_is_brought_up_to_date_by_him_who_did_not_record() {
    let header = with("fide-2005", &[("time_control", json!("3/600:600"))]);
    let told = facts(
        header,
        "0 run white
        1000 lift g1
        1500 place f3
        2000 press white
        3000 lift g8
        3500 place f6
        4000 press black
        602000 flag white",
    );
    let due = of(&told, "advisory").into_iter().find(|fact| fact["code"] == "scoresheet-update-due").unwrap();
    assert_eq!(due["who"], json!(["white"]));
}
