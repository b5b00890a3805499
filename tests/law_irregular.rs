//! Irregular moves to their end: castling, captures and promotions of which a part is missing, a king that is
//! taken, what is claimed and ruled, and what the opponent's hand means meanwhile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
mod script;

use script::{at, facts, of, under};
use serde_json::{Value, json};

/// A script of events half a second apart, one after another with a `|` between; `+600 ` in front is so many
/// milliseconds later instead.
fn paced(events: &str) -> String {
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

fn told(rules: &str, fen: &str, more: Value, events: &str) -> Vec<Value> {
    let mut header = under(rules);
    header["start_fen"] = json!(fen);
    for (key, value) in more.as_object().unwrap() {
        header[key] = value.clone();
    }
    facts(header, &paced(events))
}

fn ruled(facts: &[Value]) -> &Value {
    &of(facts, "arbiter_entry").last().unwrap()["accepted"]
}

const CASTLING: &str = "4k3/7p/8/8/8/8/8/R3K2R w KQ - 0 1";

#[test]
fn castling_is_no_move_while_its_rook_stands() {
    for rules in ["fide-2005", "fide-2023", "ua"] {
        for wait in [600, 2000] {
            let events = format!(
                "lift e1|place g1|press white|+{wait} lift h7|place h6|press black|+3000 arbiter confirm"
            );
            let told = told(rules, CASTLING, json!({}), &events);
            assert!(of(&told, "move_made").is_empty(), "{rules} {wait}: {told:?}");
            let illegal = of(&told, "illegal_move");
            assert_eq!(illegal.len(), 1, "{rules} {wait}");
            assert_eq!((&illegal[0]["attempt"], &illegal[0]["kind"]), (&json!("e1g1"), &json!("incomplete")));
            assert!(of(&told, "press-over-mismatch").is_empty());
            // The pawn is Black's own, and no touch of White.
            assert!(of(&told, "obligation").iter().all(|bound| bound["touches"] == json!(["e1"])));
            assert_eq!(ruled(&told), true);
            assert_eq!(of(&told, "restore").last().unwrap()["remove"], json!(["g1", "h6"]));
        }
    }
}

#[test]
fn castling_of_which_the_rook_follows_the_press_is_made() {
    // Also where the opponent has answered before it.
    for events in [
        "lift e1|place g1|press white|+300 lift h1|+300 place f1|lift h7|place h6|press black",
        "lift e1|place g1|press white|+300 lift h7|+200 lift h1|+200 place f1|place h6|press black",
    ] {
        let told = told("fide-2023", CASTLING, json!({}), events);
        let made: Vec<&Value> = of(&told, "move_completed").iter().map(|fact| &fact["uci"]).collect();
        assert_eq!(made, ["e1g1", "h7h6"], "{events}");
        assert!(of(&told, "illegal_move").is_empty());
    }
}

#[test]
fn castling_of_black_and_in_chess960_is_no_move_either() {
    let events = "lift e8|place c8|press black|+600 lift a2|place a3|press white|+3000 arbiter confirm";
    let black = told("fide-2023", "r3k3/8/8/8/8/8/P7/4K3 b q - 0 1", json!({}), events);
    assert!(of(&black, "move_made").is_empty());
    assert_eq!(of(&black, "illegal_move")[0]["attempt"], "e8c8");
    let more = json!({"variant": "chess960"});
    let events = "lift e1|place g1|press white|+600 lift h7|place h6|press black|+3000 arbiter confirm";
    let told = told("fide-2023", "4k3/7p/8/8/8/8/8/R3K2R w HA - 0 1", more, events);
    assert!(of(&told, "move_made").is_empty());
    assert_eq!(of(&told, "illegal_move")[0]["kind"], "incomplete");
}

#[test]
fn half_a_castling_stands_in_fast_play_also_after_a_quick_reply() {
    for wait in [600, 2000] {
        let events = format!("lift e1|place g1|press white|+{wait} lift h7|place h6|press black|+3000 tick");
        let told = told("fide-2023", CASTLING, json!({"discipline": "rapid"}), &events);
        assert_eq!(of(&told, "illegal_stands")[0]["fen"], "4k3/7p/8/8/8/8/8/R5KR b - - 1 1", "{wait}");
        let made: Vec<&Value> = of(&told, "move_completed").iter().map(|fact| &fact["uci"]).collect();
        assert_eq!(made, ["h7h6"], "{wait}");
    }
}

const PROMOTION: &str = "8/4P1k1/7p/8/8/8/8/4K3 w - - 0 1";

#[test]
fn a_pawn_on_the_last_rank_is_found_also_after_a_quick_reply() {
    let events = "piece e7|piece e8 P|press white|+600 piece h6|piece h5 p|press black|+3000 arbiter confirm";
    for rules in ["fide-2005", "fide-2023"] {
        let told = told(rules, PROMOTION, json!({"board": "dgt"}), events);
        let illegal = of(&told, "illegal_move");
        assert_eq!((illegal.len(), &illegal[0]["kind"]), (1, &json!("unpromoted")), "{rules}");
        assert_eq!(illegal[0]["attempt"], "e7e8");
        assert_eq!(ruled(&told), true);
    }
    let told = told("fide-2023", PROMOTION, json!({"board": "dgt", "discipline": "rapid"}), events);
    assert_eq!(of(&told, "illegal-position")[0]["unpromoted"], true);
    assert_eq!(of(&told, "illegal_stands")[0]["fen"], "4P3/6k1/7p/8/8/8/8/4K3 b - - 0 1");
    assert_eq!(of(&told, "move_made")[0]["uci"], "h6h5");
}

#[test]
fn a_claim_right_after_the_press_names_the_illegal_move_once() {
    let blitz = json!({"discipline": "blitz"});
    let claim = |fen: &str, moves: &str| {
        let events = format!("{moves}|+600 button claim-illegal-black|+3000 tick");
        let told = told("fide-2023", fen, blitz.clone(), &events);
        assert_eq!(of(&told, "claim_check")[0]["valid"], true, "{fen}");
        let illegal = of(&told, "illegal_move");
        assert_eq!(illegal.len(), 1, "{illegal:?}");
        (illegal[0]["attempt"].clone(), illegal[0]["kind"].clone())
    };
    let castling = claim(CASTLING, "lift e1|place g1|press white");
    assert_eq!(castling, (json!("e1g1"), json!("incomplete")));
    let en_passant = claim("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "lift e5|place d6|press white");
    assert_eq!(en_passant, (json!("e5d6"), json!("incomplete")));
    let king = claim("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "lift e8|lift e2|place e8|press white");
    assert_eq!(king, (json!("e2e8"), json!("king-capture")));
    let more = json!({"board": "dgt", "discipline": "blitz"});
    let events = "piece e7|piece e8 P|press white|+600 button claim-illegal-black|+3000 tick";
    let pawn = told("fide-2005", PROMOTION, more, events);
    let illegal = of(&pawn, "illegal_move");
    assert_eq!((illegal.len(), &illegal[0]["kind"]), (1, &json!("unpromoted")));
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn a_press_without_a_move_is_an_illegal_move_in_one_edition_only() {
    let events = "lift e2|place e2|+3000 press white|+2000 button claim-illegal-black";
    for discipline in ["standard", "rapid", "blitz"] {
        for (rules, valid) in [("fide-2005", false), ("fide-2023", true)] {
            let told = told(rules, START, json!({"discipline": discipline}), events);
            assert_eq!(of(&told, "claim_check")[0]["valid"], valid, "{rules} {discipline}");
            assert!(valid || of(&told, "illegal_move").is_empty());
            assert!(valid || of(&told, "game_end").is_empty());
        }
    }
}

#[test]
fn a_completed_move_is_no_open_question() {
    let told = told(
        "fide-2023",
        START,
        json!({}),
        "lift e2|+300 press white|+900 place e4|lift e7|place e5|press black",
    );
    assert!(of(&told, "ambiguous").is_empty());
    assert_eq!(of(&told, "move_completed").len(), 2);
    assert_eq!(at(&told, 2, "press-before-move").len(), 1);
}
