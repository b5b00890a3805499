//! Announcements on a blind player's board that do not fit the board, and moves that are taken up before they were
//! executed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{at, facts, of, under};
use serde_json::{Value, json};

fn pegged(rules: &str, announce: &str) -> Value {
    let mut header = under(rules);
    header["board"] = json!("peg");
    header["config"] = json!({ "peg.announce": announce });
    header
}

/// The advisories of the first minute: later on nobody came.
fn codes(facts: &[Value]) -> Vec<&str> {
    let early = |fact: &&Value| fact["us"].as_u64().unwrap() < 60_000_000;
    of(facts, "advisory").into_iter().filter(early).filter_map(|fact| fact["code"].as_str()).collect()
}

fn names(facts: &[Value]) -> Vec<&str> {
    let of_moves = |fact: &&Value| fact["fact"].as_str().unwrap().starts_with("move_");
    facts.iter().filter(of_moves).map(|fact| fact["fact"].as_str().unwrap()).collect()
}

/// D.2.3, D.2.6 (2005: F.2.3, F.2.6): what was said is the move, and the board follows before the press.
#[test]
fn a_man_may_follow_the_words_before_the_press() {
    let script = "
        0 lift e2
        500 place e4
        1000 announce Bauer Eva zwei Eva drei
        1500 lift e4
        2000 place e3
        2500 press white";
    for rules in ["fide-2005", "fide-2023", "ua"] {
        let told = facts(pegged(rules, "button"), script);
        assert_eq!(codes(&told), ["announce-mismatch"], "{rules}");
        assert_eq!(names(&told), ["move_made", "move_completed", "move_published"], "{rules}");
        assert_eq!(at(&told, 4, "move_made")[0]["uci"], "e2e3", "{rules}");
        assert_eq!(of(&told, "spoken")[0]["uci"], "e2e3", "{rules}");
        // White has not executed his move: nothing of it is Black's touch.
        assert!(of(&told, "touch").iter().all(|fact| fact["by"] == "white"), "{rules}");
        assert!(of(&told, "obligation").iter().all(|fact| fact["by"] == "white"), "{rules}");
        // Where announcements are taken for granted, words that contradict the board are known all the same.
        let told = facts(pegged(rules, "assume-on-press"), script);
        assert_eq!(codes(&told), ["announce-mismatch"], "{rules}");
        assert_eq!(of(&told, "move_completed")[0]["uci"], "e2e3", "{rules}");
        assert!(of(&told, "obligation").iter().all(|fact| fact["by"] == "white"), "{rules}");
    }
    // A move that nobody announced is taken up silently.
    let script = script.replace("1000 announce Bauer Eva zwei Eva drei", "1000 tick");
    let told = facts(
        pegged("fide-2023", "button"),
        &script.replace("2500 press", "2300 button announce\n2500 press"),
    );
    assert!(codes(&told).is_empty(), "{:?}", codes(&told));
    assert_eq!(of(&told, "move_made").len(), 1);
    // The touch counts: another man is a breach.
    let script = script.replace("place e3", "place e2\n2100 lift d2\n2200 place d4");
    let told = facts(pegged("fide-2023", "button"), &script);
    assert_eq!(of(&told, "touch-violation")[0]["required"], json!(["e2e3", "e2e4"]));
}

/// A sighted player's board: a move is made without words, and goes on as it does.
#[test]
fn on_another_board_words_change_nothing() {
    let script = "
        0 lift e2
        500 place e4
        1000 announce Bauer Eva zwei Eva drei
        1500 lift e4
        2000 place e3
        2500 press white";
    let told = facts(under("fide-2023"), script);
    assert!(codes(&told).contains(&"released-then-moved"));
}

/// The opponent's man that is lifted meanwhile is his own affair.
#[test]
fn a_reply_to_an_unannounced_move_is_the_opponents_touch() {
    let script = "
        0 lift e2
        500 place e4
        1500 lift e7
        2000 place e5
        2500 button announce";
    let told = facts(pegged("fide-2023", "button"), script);
    let last = of(&told, "touch").pop().unwrap().clone();
    assert_eq!((&last["square"], &last["by"]), (&json!("e7"), &json!("black")));
}

/// D.2.6 (2005: F.2.6): words before the move that do not fit it are a slip, told to the arbiter at the press.
#[test]
fn a_wrong_announcement_before_the_move_is_a_mismatch() {
    let script = "
        0 announce Bauer Eva zwei Eva drei
        500 lift e2
        1000 place e4
        2000 press white";
    for rules in ["fide-2005", "fide-2023"] {
        let told = facts(pegged(rules, "button"), script);
        let slips: Vec<(&Value, &Value)> =
            of(&told, "announce-mismatch").into_iter().map(|fact| (&fact["to"], &fact["said"])).collect();
        let said = json!("e2e3");
        assert_eq!(slips, [(&json!("journal"), &said), (&json!("arbiter"), &said)], "{rules}");
        assert!(of(&told, "announce-missing").is_empty(), "{rules}");
        // Corrected in time, nobody is called.
        let corrected = script.replace("2000 press", "1500 announce Bauer Eva zwei Eva vier\n2000 press");
        let told = facts(pegged(rules, "button"), &corrected);
        assert!(of(&told, "announce-mismatch").iter().all(|fact| fact["to"] == "journal"), "{rules}");
        assert_eq!(of(&told, "move_completed")[0]["how"], "press", "{rules}");
    }
}

/// D.2.1, D.2.3 (2005: F.2.1, F.2.3): the piece is the one that was called, also before the pawn is on the last rank.
#[test]
fn the_promoted_piece_may_be_named_before_the_move() {
    let script = "
        500 announce Bauer Eva sieben Eva acht Turm
        1000 lift e7
        1500 place e8
        2000 press white
        3000 lift g7
        3500 place f6
        4000 announce König Gustav sieben Felix sechs
        4500 press black";
    for announce in ["button", "assistant", "assume-on-press"] {
        for rules in ["fide-2005", "fide-2023", "ua"] {
            let mut header = pegged(rules, announce);
            header["start_fen"] = json!("8/4P1k1/7p/8/8/8/8/4K3 w - - 0 1");
            let told = facts(header.clone(), script);
            assert_eq!(codes(&told), [""; 0], "{announce} {rules}");
            let made = of(&told, "move_made");
            assert_eq!((&made[0]["uci"], &made[0]["san"]), (&json!("e7e8r"), &json!("e8=R")));
            assert_eq!((made[0].get("assumed"), made.len()), (None, 2), "{announce} {rules}");
            let completed = of(&told, "move_completed");
            assert_eq!((&completed[0]["uci"], &completed[0]["how"]), (&json!("e7e8r"), &json!("press")));
            assert_eq!(of(&told, "move_published")[0]["uci"], "e7e8r", "{announce} {rules}");
            // The queen that is assumed where nobody names a piece is called as well as any other one.
            let told = facts(header, &script.replace("Turm", "Dame"));
            assert_eq!(codes(&told), [""; 0], "{announce} {rules}");
            let made = of(&told, "move_made");
            assert_eq!(
                (&made[0]["uci"], made[0].get("assumed")),
                (&json!("e7e8q"), None),
                "{announce} {rules}"
            );
        }
    }
}
