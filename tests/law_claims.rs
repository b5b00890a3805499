//! Claims and requests that an arbiter refuses, and what is left of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{facts, of, under};
use serde_json::{Value, json};

const EDITIONS: [&str; 3] = ["fide-2005", "fide-2023", "ua"];

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

/// 9.5: the written move has to be played, whatever was touched after the ruling.
#[test]
fn a_touch_does_not_free_from_the_written_move() {
    let script = "
        0 intended e2e4
        500 button claim-threefold-white
        1000 arbiter claim-rejected
        1500 lift b1
        2000 place b1
        2500 lift e2
        3000 place e4
        3500 press white";
    for (board, rules) in EDITIONS.into_iter().flat_map(|rules| [("reed", rules), ("peg", rules)]) {
        let told = facts(with(rules, &[("board", json!(board))]), script);
        let duties: Vec<&Value> = of(&told, "obligation").into_iter().map(|fact| &fact["legal"]).collect();
        assert_eq!(duties, vec![&json!(["e2e4"]); 3], "{rules} {board}");
        assert!(of(&told, "touch-violation").is_empty(), "{rules} {board}");
        assert_eq!(of(&told, "move_completed")[0]["uci"], "e2e4");
    }
    // The man that was touched is played: that breaks 9.5, and it is still owed after it was taken back.
    let script = "
        0 intended e2e4
        500 button claim-fifty-white
        1000 arbiter claim-rejected
        1500 lift b1
        2000 place c3
        2600 lift c3
        3100 place b1
        3600 lift d2
        4100 place d4
        4600 press white";
    for rules in EDITIONS {
        let told = facts(under(rules), script);
        let broken: Vec<(&Value, &Value)> = of(&told, "touch-violation")
            .into_iter()
            .map(|fact| (&fact["required"], &fact["played"]))
            .collect();
        assert_eq!(broken.last(), Some(&(&json!(["e2e4"]), &json!("d2d4"))), "{rules}: {broken:?}");
    }
}

/// The same holds for the move in the envelope.
#[test]
fn a_touch_does_not_free_from_the_sealed_move() {
    let script = "
        0 arbiter seal-request
        500 press pause
        900000 arbiter resume
        901000 arbiter open-envelope f1b5
        902000 lift d2
        902500 place d2
        903000 lift f1
        903500 place b5
        904000 press run-black";
    for rules in EDITIONS {
        let header = with(rules, &[("start_fen", json!("4k3/4p3/8/8/8/8/3N4/4KB2 w - - 0 1"))]);
        let told = facts(header, script);
        assert!(of(&told, "touch-violation").is_empty(), "{rules}");
        assert!(of(&told, "obligation").iter().all(|fact| fact["legal"] == json!(["f1b5"])), "{rules}");
        assert_eq!(of(&told, "move_made")[0]["by_rule"], "sealed", "{rules}");
    }
}

/// What touches leave of the moves of the man that was written wrongly binds on.
#[test]
fn a_release_binds_among_the_moves_of_the_written_man() {
    let script = "
        0 intended e2e5
        500 button claim-threefold-white
        1000 arbiter claim-rejected
        1500 lift e1
        2000 place e1
        2500 lift e2
        3000 place e3
        4000 lift e3
        4500 place e4
        5000 press white";
    let header = with("fide-2005", &[("start_fen", json!("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"))]);
    let told = facts(header, script);
    assert!(of(&told, "touch-violation").is_empty());
    assert_eq!(of(&told, "released-then-moved")[0]["required"], json!(["e2e3"]));
}

/// A breach that the arbiter did not find is no breach: nothing of it can be confirmed.
#[test]
fn a_breach_that_was_rejected_is_not_confirmed() {
    let play = |rest: &str| {
        let script = format!(
            "0 lift e2\n500 place e2\n1000 lift d2\n1500 place d4\n2000 press white\n{rest}\n5000 arbiter confirm"
        );
        facts(under("fide-2023"), &script)
    };
    for rest in ["2500 button claim-touch-black\n3000 arbiter reject", "3000 arbiter reject"] {
        let told = play(rest);
        assert_eq!(ruled(&told, "reject")["accepted"], true, "{rest}");
        assert_eq!(ruled(&told, "confirm")["accepted"], false, "{rest}");
        assert!(of(&told, "move_withdrawn").is_empty(), "{rest}");
    }
    assert_eq!(ruled(&play("2500 tick"), "confirm")["accepted"], true);
}

/// A refused claim takes nothing from the illegal move that waits for another ruling.
#[test]
fn a_refused_claim_leaves_what_else_waits() {
    let script = "
        0 lift e1
        500 lift h1
        1000 place g1
        1000 place f1
        1500 press white
        2000 intended e8d8
        2500 button claim-threefold-black
        3000 arbiter reject
        3500 arbiter confirm";
    let header = with("fide-2023", &[("start_fen", json!("4k3/8/8/8/8/8/8/4K2R w K - 0 1"))]);
    let told = facts(header, script);
    assert_eq!(of(&told, "two-hands-suspected").len(), 1);
    assert_eq!(ruled(&told, "confirm")["accepted"], true);
    assert_eq!(of(&told, "illegal_move")[0]["kind"], "two-hands");
}

#[test]
fn no_man_is_touched_where_none_stands() {
    let told = facts(under("fide-2023"), "0 arbiter touch white e5\n500 button assistant-touch-white-e5");
    assert_eq!(ruled(&told, "touch white e5")["accepted"], false);
    assert!(of(&told, "obligation").is_empty());
    assert_eq!(of(&told, "claim-not-available").len(), 1);
}

/// III.4: the request is a draw offer in a game that can have the mode; in another one it is nothing.
#[test]
fn five_seconds_are_no_draw_offer_where_no_game_has_them() {
    let script = "
        0 lift e2
        500 place e4
        1000 press white
        1500 lift e7
        2000 place e5
        2500 press black
        3000 times 100000 100000 white
        4000 button request-five-seconds-white
        5000 button draw-accept-black";
    let ends = |header: Value| of(&facts(header, script), "game_end").len();
    assert_eq!(ends(with("fide-2005", &[])), 0, "Article 10.2 instead");
    assert_eq!(ends(with("fide-2023", &[("discipline", json!("blitz"))])), 0);
    assert_eq!(ends(with("ua", &[("time_control", json!("300+3"))])), 0, "additional time");
    assert_eq!(ends(with("ua", &[])), 1);
}

/// 4.7 (2005): a touch ends claims of Articles 4.3 and 4.4 only; what was released may be claimed on.
#[test]
fn a_claim_that_a_touch_does_not_end_is_not_said_to_end_so() {
    let script = "
        0 lift e2
        500 place e4
        3000 lift e4
        3500 place e3
        4000 press white
        5000 lift e7
        5500 place e7
        6000 button claim-touch-black";
    for (rules, closes) in [("fide-2005", Value::Null), ("fide-2023", json!("first touch by black"))] {
        let told = facts(under(rules), script);
        let told: Vec<&Value> = of(&told, "advisory");
        let code = |code: &str| told.iter().find(|fact| fact["code"] == code);
        assert_eq!(code("claim-window-open").unwrap()["closes"], closes, "{rules}");
        assert_eq!(code("claim-window-closed").is_some(), !closes.is_null(), "{rules}");
    }
}
