//! What the Laws say at the edges of a game that no given scenario plays: rulings, claims that are upheld,
//! results that contradict the game, positions that are dead from the start, noise.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{at, facts, of, under};
use serde_json::{Value, json};

const TOUCHED_THEN_OTHER: &str = "
    0 lift e2
    600 place e2
    1500 lift d2
    1900 place d4
    2500 press white";

#[test]
fn a_claim_of_a_touch_is_upheld() {
    for ruling in ["confirm", "accept", "claim-upheld", "restore"] {
        let script = format!("{TOUCHED_THEN_OTHER}\n4000 button claim-touch-black\n60000 arbiter {ruling}");
        let facts = facts(under("fide-2023"), &script);
        assert_eq!(at(&facts, 5, "claim_check")[0]["valid"], true);
        // What upholding takes is told with the claim, and again when it is done.
        for ev in [5, 6] {
            let restore = at(&facts, ev, "restore");
            assert_eq!(restore[0]["fen"], "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
            assert_eq!((&restore[0]["remove"], &restore[0]["put"]), (&json!(["d4"]), &json!(["d2"])));
        }
        assert_eq!(at(&facts, 6, "obligation")[0]["must_move"], json!(["e2"]));
        assert_eq!(at(&facts, 6, "move_withdrawn")[0]["uci"], "d2d4");
    }
}

#[test]
fn the_player_is_bound_again_after_a_claim_was_upheld() {
    let script = format!(
        "{TOUCHED_THEN_OTHER}
        4000 button claim-touch-black
        60000 arbiter confirm
        61000 lift d4
        62000 place d2
        63000 lift c2
        63400 place c4
        64000 press white"
    );
    let facts = facts(under("fide-2005"), &script);
    let violations = of(&facts, "touch-violation");
    assert_eq!(violations.len(), 2, "{violations:?}");
    assert_eq!(violations[1]["played"], "c2c4");
    assert_eq!(violations[1]["required"], json!(["e2e3", "e2e4"]));
}

#[test]
fn a_breach_of_touch_move_is_corrected_without_a_claim_while_it_can_be() {
    let early = format!("{TOUCHED_THEN_OTHER}\n3000 arbiter confirm");
    assert_eq!(at(&facts(under("fide-2023"), &early), 5, "move_withdrawn").len(), 1);
    let late = format!("{TOUCHED_THEN_OTHER}\n3000 lift g8\n3400 place f6\n4000 arbiter confirm");
    let facts = facts(under("fide-2023"), &late);
    assert!(of(&facts, "move_withdrawn").is_empty());
    assert_eq!(of(&facts, "arbiter_entry")[0]["accepted"], false);
}

#[test]
fn a_released_man_binds_again_after_a_claim_was_upheld() {
    let script = "
        0 lift g1
        400 place f3
        3400 lift f3
        3800 place h3
        4400 press white
        5000 button claim-touch-black
        6000 arbiter accept";
    let facts = facts(under("fide-2023"), script);
    let bound = at(&facts, 6, "obligation");
    assert_eq!(bound[0]["legal"], json!(["g1f3"]));
    assert_eq!(bound[0]["partial"], json!({"from": "g1", "placed": "f3"}));
}

#[test]
fn a_rejected_claim_of_a_touch_costs_no_time() {
    let script = format!("{TOUCHED_THEN_OTHER}\n4000 button claim-touch-black\n5000 arbiter reject");
    let mut header = under("fide-2005");
    header["time_control"] = json!("5400+30");
    assert!(at(&facts(header, &script), 6, "clock").is_empty());
}

const TWO_VICTIMS: &str = "4k3/8/8/3p1p2/4P3/8/8/4K3 w - - 0 1";

#[test]
fn the_arbiter_names_the_move_that_no_sensor_tells() {
    for ruling in ["move e4d5", "move exd5", "e4d5"] {
        let script = format!("0 lift e4\n900 press white\n2000 arbiter {ruling}");
        let facts = facts(json!({"board": "reed", "start_fen": TWO_VICTIMS}), &script);
        assert_eq!(of(&facts, "ambiguous-move").len(), 1);
        assert_eq!(at(&facts, 2, "move_made")[0]["san"], "exd5");
        assert_eq!(at(&facts, 2, "move_completed")[0]["how"], "earlier-press");
        assert_eq!(at(&facts, 2, "move_published").len(), 1);
    }
    let unpressed = "0 lift e4\n2000 arbiter move e4d5\n2900 press white";
    let facts = facts(json!({"board": "reed", "start_fen": TWO_VICTIMS}), unpressed);
    assert_eq!(at(&facts, 2, "move_completed")[0]["how"], "press");
}

#[test]
fn a_move_that_is_not_legal_is_refused() {
    let facts = facts(json!({"board": "reed", "start_fen": TWO_VICTIMS}), "0 arbiter move e4e6");
    assert_eq!(facts.len(), 1, "{facts:?}");
    assert_eq!(facts[0]["accepted"], false);
}

#[test]
fn a_promoted_man_is_corrected() {
    for ruling in
        ["promotion N", "correct promotion knight", "promoted-piece n", "correct e7e8n", "promotion e7e8n"]
    {
        let script = format!("0 lift e7\n800 place e8\n1400 press white\n2000 arbiter {ruling}");
        let header = json!({"board": "reed", "start_fen": "8/4P1k1/8/8/8/8/8/4K3 w - - 0 1"});
        let facts = facts(header, &script);
        let revised = at(&facts, 3, "move_revised");
        assert_eq!((&revised[0]["uci"], &revised[0]["san"]), (&json!("e7e8n"), &json!("e8=N+")), "{ruling}");
    }
    let refused = facts(under("fide-2023"), "0 arbiter promotion N");
    assert_eq!(refused[0]["reason"], "no pawn was promoted");
}

const MATE_IN_ONE: &str = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1";

#[test]
fn a_result_that_contradicts_the_game_waits_for_the_arbiter() {
    let header = || json!({"board": "reed", "start_fen": MATE_IN_ONE});
    let mate = "0 lift a1\n500 place a8\n60000 result 1/2-1/2";
    let open = facts(header(), mate);
    let mismatch = at(&open, 2, "result-mismatch");
    assert_eq!((&mismatch[0]["computed"], &mismatch[0]["reported"]), (&json!("1-0"), &json!("1/2-1/2")));
    assert_eq!(of(&open, "game_end").len(), 1);

    let confirmed = facts(header(), &format!("{mate}\n70000 arbiter confirm"));
    assert_eq!(at(&confirmed, 3, "game_end")[0]["result"], "1/2-1/2");
    assert_eq!(of(&confirmed, "result-mismatch").len(), 1);
    let rejected = facts(header(), &format!("{mate}\n70000 arbiter reject"));
    assert_eq!(of(&rejected, "game_end").len(), 1);
    assert_eq!(of(&rejected, "arbiter_entry")[0]["accepted"], true);
    // The same result is no contradiction, and one that nothing stands against ends the game.
    assert!(of(&facts(header(), "0 lift a1\n500 place a8\n60000 result 1-0"), "result-mismatch").is_empty());
    assert_eq!(of(&facts(header(), "0 result 0-1"), "game_end")[0]["reason"], "entered");
    // Nor is one a contradiction that was taken back, or what the arbiter decides later.
    for script in [
        "0 result 1-0\n500 arbiter result *\n1000 result 1/2-1/2",
        "0 button resign-white\n500 arbiter penalty loss black\n1000 arbiter both-lose",
    ] {
        let told = facts(header(), script);
        assert!(of(&told, "game_end").len() > 1, "{script}");
        assert!(of(&told, "result-mismatch").is_empty(), "{script}");
    }
}

#[test]
fn a_move_completes_the_press_that_came_before_it() {
    let script = "0 press white\n600 lift e2\n1300 place e4";
    let told = facts(under("fide-2023"), script);
    assert_eq!(of(&told, "press-before-move")[0]["lead_ms"], 1300);
    assert_eq!(of(&told, "move_completed")[0]["how"], "earlier-press");
    assert!(of(&told, "press-without-move").is_empty());
    // Not when the opponent has pressed back meanwhile.
    let undone = facts(under("fide-2023"), "0 press white\n500 press black\n700 lift e2\n1300 place e4");
    assert!(of(&undone, "move_completed").is_empty(), "{undone:?}");
    // Nor when it took too long.
    let late = facts(under("fide-2023"), "0 press white\n2000 lift e2\n2400 place e4");
    assert_eq!(of(&late, "press-without-move").len(), 1);
}

#[test]
fn what_is_too_short_for_a_hand_is_noise() {
    let script = "0 lift e2\n8 place e2\n3000 lift d2\n3400 place d4\n4000 press white";
    for config in [json!({}), json!({"sensor.debounce_ms": 20})] {
        let facts = facts(json!({"board": "reed", "config": config}), script);
        let noise = of(&facts, "noise");
        assert_eq!((noise.len(), &noise[0]["square"], &noise[0]["to"]), (1, &json!("e2"), &json!("journal")));
        assert!(of(&facts, "touch-violation").is_empty());
    }
    // With a debounce time that is set nothing of it was ever a touch.
    let facts = facts(json!({"board": "reed", "config": {"sensor.debounce_ms": 20}}), script);
    assert!(of(&facts, "touch").iter().all(|touch| touch["square"] == "d2"));
    // A quick hand is a touch all the same (Article 4.2.2).
    let quick = "0 lift e2\n60 place e2\n3000 lift d2\n3400 place d4";
    assert_eq!(of(&self::facts(under("fide-2023"), quick), "touch-violation").len(), 1);
}

/// Both kings are attacked after 1.Rh8+ although White is in check.
#[test]
fn two_kings_in_check_concern_the_arbiter_of_rapid() {
    let script = "0 lift h1\n400 place h8\n1000 press white";
    let header = |rules| json!({"board": "reed", "rules": rules, "discipline": "rapid", "start_fen": "4k3/8/8/8/8/8/8/r3K2R w - - 0 1"});
    let old = facts(header("fide-2005"), script);
    let told = of(&old, "illegal-position");
    assert_eq!((&told[0]["both_kings"], &told[0]["action"]), (&json!(true), &json!("intervene")));
    assert_eq!(told[0]["to"], "arbiter");
    let new = facts(header("fide-2023"), script);
    assert_eq!(of(&new, "illegal-position")[0]["action"], "wait-for-next-move");
}

#[test]
fn a_written_move_stands_in_the_edition_of_2023() {
    let script = "0 intended g1f3\n50 intended b1c3\n100 button claim-threefold-white";
    for (rules, claimed) in [("fide-2023", "g1f3"), ("fide-2005", "b1c3")] {
        let facts = facts(under(rules), script);
        assert_eq!(of(&facts, "claim_check")[0]["intended"], claimed, "{rules}");
        assert_eq!(of(&facts, "intended-refused").len(), usize::from(rules == "fide-2023"));
    }
}

#[test]
fn a_record_may_begin_in_a_dead_position() {
    let locked = "8/6k1/8/1p1p1p1p/1P1P1P1P/8/3K4/8 w - - 0 1";
    let header = |fen: &str| json!({"board": "reed", "start_fen": fen});
    let moved = facts(header(locked), "0 lift d2\n400 place d3");
    assert_eq!(of(&moved, "dead_check")[0]["value"], "dead");
    assert_eq!(of(&moved, "game_end")[0]["reason"], "dead-position");
    let looked = facts(header(locked), "0 tick\n1 tick");
    assert_eq!(of(&looked, "dead_check").len(), 1);
    assert!(of(&looked, "game_end").is_empty());
    let alive = facts(header("8/2k5/8/p1p1p1p1/P1P1P1P1/1P6/2K5/8 w - - 0 1"), "0 arbiter dead-check");
    assert_eq!(of(&alive, "dead_check")[0]["value"], "alive");
    assert!(of(&alive, "dead_check")[0]["proof"].as_array().is_some_and(|line| !line.is_empty()));
}

#[test]
fn a_lifted_man_shows_that_its_player_is_there() {
    let script = "0 lift e7\n900 place e7\n3700000 arbiter late-check";
    let facts = facts(under("fide-2005"), script);
    let late: Vec<&Value> = of(&facts, "default_check").into_iter().map(|fact| &fact["side"]).collect();
    assert_eq!(late, ["white"]);
}

#[test]
fn whoever_gave_no_sign_is_in_default() {
    let script = "0 button present-black\n3700000 arbiter default";
    assert_eq!(of(&facts(under("fide-2005"), script), "game_end")[0]["result"], "0-1");
    let nobody = facts(under("fide-2005"), "3700000 arbiter default");
    assert_eq!(of(&nobody, "game_end")[0]["result"], "0-0");
    let both = "0 button present-black\n1 button present-white\n3700000 arbiter default";
    assert_eq!(of(&facts(under("fide-2005"), both), "arbiter_entry")[0]["accepted"], false);
}

#[test]
fn score_sheets_that_differ_take_the_game_back() {
    let header = json!({"board": "reed", "history": ["e2e4", "e7e5", "g1f3"]});
    for command in ["scores-agree-to-ply 2", "scores-differ-from-ply 3", "retrace-to-ply 2", "restore 2"] {
        let facts = facts(header.clone(), &format!("0 arbiter {command}"));
        assert_eq!(of(&facts, "restore")[0]["ply"], 2, "{command}");
    }
}

/// Castling of Chess960 that leaves the squares as they were needs both lifts; a rook that moves to where
/// castling would have left the board is told with the other move that fits.
#[test]
fn what_looks_like_castling_of_chess960_is_told() {
    let header = |fen: &str| json!({"board": "reed", "variant": "chess960", "start_fen": fen});
    let script = "0 lift f1\n500 place f1\n1000 press white";
    let king_only = facts(header("4k3/8/8/8/8/8/8/5KR1 w G - 0 1"), script);
    assert!(of(&king_only, "move_made").is_empty());
    assert_eq!(of(&king_only, "ambiguous-move")[0]["candidates"], json!(["f1g1", "no move"]));
    let rook = facts(header("4k3/8/8/8/8/8/8/5K1R w H - 0 1"), "0 lift h1\n700 place g1\n1300 press white");
    assert_eq!(of(&rook, "move_made")[0]["uci"], "h1g1");
    let mut candidates: Vec<&str> = of(&rook, "ambiguous")[0]["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    candidates.sort_unstable();
    assert_eq!(candidates, ["f1h1", "h1g1"]);
}

#[test]
fn a_king_beside_the_board_may_be_castling_for_a_while() {
    let header = json!({
        "board": "reed",
        "variant": "chess960",
        "start_fen": "bnrqkrnb/pppppppp/8/8/8/8/PPPPPPPP/BNRQKRNB w KQkq - 0 1",
        "config": {"chess960.king_off_ms": 5000},
    });
    let back = "0 lift e1\n 4900 place e1\n 60000 tick";
    assert!(of(&facts(header.clone(), back), "king-off").is_empty());
    let off = "0 lift e1\n 60000 tick\n 61000 place e1";
    let told = facts(header, off);
    let notices = of(&told, "king-off");
    assert_eq!(notices.len(), 1);
    assert_eq!((&notices[0]["square"], &notices[0]["us"]), (&json!("e1"), &json!(5_000_000)));
    assert_eq!(notices[0]["to"], "arbiter");
    assert!(of(&facts(under("fide-2023"), "0 lift e1\n 60000 tick"), "king-off").is_empty());
}

#[test]
fn a_game_that_does_not_count_is_over_until_that_is_taken_back() {
    let script = "
        1000 lift e2
        1500 place e4
        2000 press white
        5000 arbiter void
        6000 lift e7
        6500 place e5
        7000 press black";
    let told = facts(under("fide-2023"), script);
    let end = of(&told, "game_end");
    assert_eq!((&end[0]["result"], &end[0]["reason"]), (&json!("*"), &json!("void")));
    assert_eq!(end[0]["certainty"], "arbiter");
    assert!(end[0].get("pending").is_none());
    assert_eq!(of(&told, "restart-required").len(), 1);
    assert_eq!(of(&told, "move_made").len(), 1);
    // It was entered at the wrong board.
    let back = script.replace("6000 lift", "5500 arbiter result *\n 6000 lift");
    let told = facts(under("fide-2023"), &back);
    assert_eq!(of(&told, "result_withdrawn").len(), 1);
    assert_eq!(of(&told, "move_completed").len(), 2);
}

/// Article 4.2: what was announced before is an adjustment, of either side's men; anything else that goes back was
/// touched.
#[test]
fn a_man_that_goes_back_was_adjusted_only_where_that_was_announced() {
    let header = json!({"board": "reed", "history": ["e2e4", "d7d5"]});
    let hand = "1000 lift d5\n1400 place d5\n2000 lift g1\n2400 place g1";
    let told = facts(header.clone(), &format!("0 button jadoube-white\n{hand}"));
    let squares: Vec<&Value> = of(&told, "adjust").into_iter().map(|fact| &fact["square"]).collect();
    assert_eq!(squares, ["d5", "g1"]);
    assert!(of(&told, "put_back").is_empty() && of(&told, "obligation").is_empty());
    // Too late, too early, or not at all.
    for button in ["1200 button jadoube-white", "1600 button jadoube-white", ""] {
        let script: Vec<&str> = hand.lines().chain([button]).filter(|line| !line.is_empty()).collect();
        let mut script = script;
        script.sort_by_key(|line| line.split(' ').next().unwrap().parse::<u64>().unwrap());
        let told = facts(header.clone(), &script.join("\n"));
        assert_eq!(at(&told, 0, "obligation")[0]["must_capture"], json!(["d5"]), "{button}");
        assert_eq!(of(&told, "put_back")[0]["square"], "d5", "{button}");
    }
    // The player who does not have the move is heard about his own men alone.
    let told = facts(header, &format!("0 button jadoube-black\n{hand}"));
    let kinds = |kind: &str| of(&told, kind).into_iter().map(|fact| &fact["square"]).collect::<Vec<_>>();
    assert_eq!((kinds("adjust"), kinds("put_back")), (vec![&json!("d5")], vec![&json!("g1")]));
    assert_eq!(of(&told, "obligation")[0]["touches"], json!(["g1"]));
}

fn bound(rules: &str, fen: &str, script: &str) -> Vec<(Value, Value, Value)> {
    let mut header = under(rules);
    header["start_fen"] = json!(fen);
    let told = facts(header, script);
    let of_one = |fact: &Value| (fact["legal"].clone(), fact["rule"].clone(), fact["must_castle"].clone());
    of(&told, "obligation").into_iter().map(of_one).collect()
}

/// 4.7.2 (2005: 4.6b): a king that was released where it castles is committed to that, whatever is touched after it.
#[test]
fn what_is_touched_after_a_release_takes_nothing_of_it_back() {
    const CASTLING: &str = "4k3/8/8/8/8/8/P7/R3K2R w KQ - 0 1";
    for (rules, released) in [("fide-2005", "4.6b"), ("fide-2023", "4.7.2")] {
        for then in ["lift a1", "lift a2"] {
            let script = format!("0 lift e1\n500 place g1\n2000 {then}");
            let told = bound(rules, CASTLING, &script);
            assert_eq!(told.len(), 3, "{rules} {then}: {told:?}");
            let castles = (json!(["e1g1"]), json!(released), json!("e1g1"));
            assert_eq!(told[1..], [castles.clone(), castles], "{rules} {then}");
        }
        // A move that was made and taken up again is the one to be played.
        let article = if rules == "fide-2005" { "4.6" } else { "4.7" };
        let told =
            bound(rules, CASTLING, "0 lift e1\n500 place f1\n2000 lift f1\n2500 place e1\n3000 lift h1");
        assert_eq!(
            told.last().unwrap(),
            &(json!(["e1f1"]), json!(article), Value::Null),
            "{rules}: {told:?}"
        );
        // Its own rook is what the castling needs: king and rook say the same.
        let told = bound(rules, CASTLING, "0 lift e1\n500 place g1\n2000 lift h1");
        assert_eq!((&told[2].0, &told[2].2), (&json!(["e1g1"]), &json!("e1g1")), "{rules}");
    }
}

/// 4.4.1 (2005: 4.4a): king and rook bind to castling, also where a man that cannot move, or that comes after the king,
/// was touched besides.
#[test]
fn king_and_rook_bind_to_castling_whatever_else_was_touched() {
    for (rules, article) in [("fide-2005", "4.4a"), ("fide-2023", "4.4.1")] {
        for (fen, script) in [
            // The pawn is blocked.
            ("4k3/8/8/8/8/p7/P7/R3K2R w KQ - 0 1", "0 lift a2\n500 place a2\n1000 lift e1\n1500 lift h1"),
            ("4k3/8/8/8/8/8/P7/R3K2R w KQ - 0 1", "0 lift e1\n500 lift a2\n1000 place a2\n1500 lift h1"),
        ] {
            let told = bound(rules, fen, script);
            assert_eq!(
                told.last().unwrap(),
                &(json!(["e1g1"]), json!(article), json!("e1g1")),
                "{rules} {fen}: {told:?}"
            );
        }
        // A man that can move and was touched first has to (4.3.1; 2005: 4.3a).
        let told = bound(
            rules,
            "4k3/8/8/8/8/8/P7/R3K2R w KQ - 0 1",
            "0 lift a2\n500 place a2\n1000 lift e1\n1500 lift h1",
        );
        assert_eq!(told.last().unwrap().0, json!(["a2a3", "a2a4"]), "{rules}");
    }
}
