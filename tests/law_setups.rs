//! Set-ups and what looks like one: which way the board lies, start arrays, men that were knocked over, positions
//! that are illegal in themselves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{at, facts, of, under};
use serde_json::{Value, json};

fn with(mut header: Value, key: &str, value: Value) -> Value {
    header[key] = value;
    header
}

#[test]
fn a_movement_after_the_opponents_press_does_not_turn_the_board() {
    let script = "0 run white\n3000 press white\n4000 lift e7\n4500 place e5\n5000 press black";
    let told = facts(under("fide-2023"), script);
    assert!(of(&told, "orientation").is_empty());
    assert!(of(&told, "move_made").is_empty());
    assert_eq!(of(&told, "press-without-move")[0]["side"], "white");
    // Without that press it does.
    let script = "0 run white\n4000 lift e7\n4500 place e5\n5000 press white";
    let told = facts(under("fide-2023"), script);
    assert_eq!(of(&told, "orientation")[0]["value"], "flipped");
    // Also where the opponent gave the turn back.
    let script = "0 press white\n1000 press black\n4000 lift e7\n4500 place e5\n5000 press white";
    assert_eq!(of(&facts(under("fide-2023"), script), "orientation")[0]["value"], "flipped");
}

#[test]
fn a_position_that_is_not_illegal_is_no_draw() {
    let rapid = || with(under("fide-2023"), "discipline", json!("rapid"));
    let ruling = "600 arbiter still-illegal-after-next-move";
    let refused = facts(rapid(), ruling);
    assert_eq!(of(&refused, "arbiter_entry")[0]["accepted"], false);
    assert!(of(&refused, "game_end").is_empty());
    let accepted = |fen: &str, script: &str| {
        let told = facts(
            with(rapid(), "start_fen", json!(fen)),
            &format!("{script}\n99000 arbiter still-illegal-after-next-move"),
        );
        of(&told, "game_end").len()
    };
    assert_eq!(accepted("4k3/4R3/8/8/8/8/4r3/4K3 w - - 0 1", "0 tick"), 1);
    // A board that tells no pieces does not show whether the pawn was exchanged.
    let script = "0 lift e7\n500 place e8\n1000 press white\n3000 lift h6\n3500 place h5\n4000 press black";
    assert_eq!(accepted("8/4P1k1/7p/8/8/8/8/4K3 w - - 0 1", script), 1);
}

#[test]
fn men_that_were_knocked_over_are_no_move_and_no_fault() {
    let script = "0 lift g1\n20 lift h2\n40 place h3\n60 place g3\n4000 press white\n20000 tick";
    let told = facts(under("fide-2023"), script);
    assert_eq!(of(&told, "displaced").len(), 1);
    assert_eq!(at(&told, 4, "illegal-position").len(), 1);
    for code in ["ambiguous", "ambiguous-move", "sensor-faulty"] {
        assert!(of(&told, code).is_empty(), "{code}");
    }
}

#[test]
fn the_initial_position_that_legal_moves_lead_to_is_no_new_set_up() {
    let mut script = String::new();
    let mut ms = 0;
    for (from, to, by) in
        [("g1", "f3", "white"), ("g8", "f6", "black"), ("f3", "g1", "white"), ("f6", "g8", "black")]
    {
        script.push_str(&format!("{ms} lift {from}\n{} place {to}\n{} press {by}\n", ms + 500, ms + 1000));
        ms += 1500;
    }
    let told = facts(under("fide-2023"), &script);
    assert_eq!(of(&told, "move_completed").len(), 4);
    assert!(of(&told, "start-position-without-result").is_empty());
    // Men that are put up again in mid game are told.
    let start = "rnbqkb1r/pppp1ppp/5n2/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
    let script = "0 lift f3\n500 place g1\n1000 lift f6\n1500 place g8\n2000 lift e4\n2500 place e2\n3000 lift e5\n3500 place e7";
    let told = facts(with(under("fide-2023"), "start_fen", json!(start)), script);
    assert_eq!(of(&told, "start-position-without-result").len(), 1);
}

#[test]
fn a_game_of_chess960_begins_with_one_of_its_arrays() {
    let begin = |fen: &str, stated: Option<u16>| {
        let mut header = with(under("fide-2023"), "variant", json!("chess960"));
        header["start_fen"] = json!(fen);
        if let Some(stated) = stated {
            header["config"] = json!({"chess960.position": stated});
        }
        let told = facts(header, "0 tick");
        let array =
            of(&told, "c960_start").first().map(|fact| (fact["valid"].clone(), fact["number"].clone()));
        (array, of(&told, "start-array").len())
    };
    let classical = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let array = |valid: bool, number: Value| Some((json!(valid), number));
    assert_eq!(begin(classical, None), (array(true, json!(518)), 0));
    assert_eq!(begin(classical, Some(518)), (array(true, json!(518)), 0));
    assert_eq!(begin(classical, Some(1)), (array(true, json!(518)), 1));
    let bishops = "bnbnrkrq/pppppppp/8/8/8/8/PPPPPPPP/BNBNRKRQ w GEge - 0 1";
    assert_eq!(begin(bishops, None), (array(false, Value::Null), 1));
    // A record that begins elsewhere says nothing of it.
    assert_eq!(begin("4k3/8/8/8/8/8/8/5K1R w H - 0 1", Some(1)), (None, 0));
}

/// A board that tells its men leaves no doubt about castling, also where other moves leave the same squares occupied, or
/// only one man moves (Guideline II.3).
#[test]
fn castling_of_chess960_is_beyond_doubt_where_the_board_tells_its_men() {
    let cases = [
        ("4k3/7p/8/8/8/8/8/1R2K1R1 w GB - 0 1", "piece e1|piece g1|piece f1 R|piece g1 K", "e1g1"),
        ("4k3/7p/8/8/8/8/8/1R3K1R w HB - 0 1", "piece f1|piece h1|piece f1 R|piece g1 K", "f1h1"),
        ("4k3/7p/8/8/8/8/8/1R3K1R w HB - 0 1", "piece f1|piece g1 K|piece h1|piece f1 R", "f1h1"),
        ("4k3/7p/8/8/8/8/8/R2K4 w A - 0 1", "piece d1|piece a1|piece d1 R|piece c1 K", "d1a1"),
        ("4k3/7p/8/8/8/8/8/4KR2 w F - 0 1", "piece e1|piece g1 K", "e1f1"),
        ("4k3/7p/8/8/8/8/8/6KR w H - 0 1", "piece h1|piece f1 R", "g1h1"),
    ];
    for (fen, events, uci) in cases {
        let header = with(
            with(with(under("fide-2023"), "board", json!("dgt")), "variant", json!("chess960")),
            "start_fen",
            json!(fen),
        );
        let mut script = String::new();
        for (index, event) in
            events.split('|').chain(["press white", "piece h7", "piece h6 p", "press black"]).enumerate()
        {
            script.push_str(&format!("{} {event}\n", 500 * (index + 1)));
        }
        let told = facts(header, &script);
        assert!(of(&told, "ambiguous").is_empty(), "{fen}: {told:?}");
        assert!(of(&told, "ambiguous-move").is_empty(), "{fen}");
        assert_eq!(of(&told, "c960_castle").iter().filter(|fact| fact["ev"] != -1).count(), 1, "{fen}");
        let made: Vec<&Value> = of(&told, "move_completed").into_iter().map(|fact| &fact["uci"]).collect();
        assert_eq!(made, [uci, "h7h6"], "{fen}");
    }
}
