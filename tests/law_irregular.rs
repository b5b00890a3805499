//! Irregular moves to their end: castling, captures and promotions of which a part is missing, a king that is
//! taken, what is claimed and ruled, and what the opponent's hand means meanwhile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{at, facts, of, told, under};
use serde_json::{Value, json};

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

#[test]
fn castling_of_chess960_with_the_king_first_is_no_breach() {
    // The king stands where it castles for so long that it looks like a move of its own.
    let chess960 = json!({"variant": "chess960"});
    for (rules, fen, events) in [
        (
            "fide-2023",
            "4k3/8/8/8/8/8/8/5K1R w H - 0 1",
            "lift f1|+300 place g1|+300 lift h1|+300 place f1|press white",
        ),
        (
            "ua",
            "4k3/8/8/8/8/8/8/5K1R w H - 0 1",
            "lift f1|+400 place g1|+600 lift h1|+300 place f1|press white",
        ),
        (
            "fide-2023",
            "r2k4/8/8/8/8/8/8/4K3 b a - 0 1",
            "lift d8|+300 place c8|+300 lift a8|+300 place d8|press black",
        ),
    ] {
        let told = told(rules, fen, chess960.clone(), events);
        assert_eq!(of(&told, "move_completed").len(), 1, "{fen}");
        assert!(of(&told, "released-then-moved").is_empty(), "{fen}");
        assert!(of(&told, "claim-window-open").is_empty());
        let mover = if fen.contains(" w ") { "white" } else { "black" };
        assert!(of(&told, "obligation").iter().all(|bound| bound["by"] == mover), "{fen}");
    }
    let events = "piece f1|+300 piece g1 K|+300 piece h1|+300 piece f1 R|press white|+3000 tick";
    let more = json!({"variant": "chess960", "board": "dgt"});
    let told = told("fide-2023", "4k3/8/8/8/8/8/8/5K1R w H - 0 1", more, events);
    assert!(of(&told, "released-then-moved").is_empty());
    assert!(of(&told, "ambiguous-move").is_empty());
    assert_eq!(of(&told, "move_revised")[0]["reason"], "later-evidence");
}

#[test]
fn a_king_is_never_to_be_captured() {
    let events = "lift e8|lift e2|place e8|press white|arbiter confirm";
    let start = told("fide-2023", "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", json!({}), events);
    // In play: an illegal move stands, and the king it left can be taken.
    let events = "lift e2|place d3|press white|+1000 lift e7|lift e1|place e1|press black";
    let rapid = json!({"discipline": "rapid"});
    let played = told("fide-2023", "4k3/4r3/8/8/8/8/4B3/4K2R w K - 0 1", rapid, events);
    for (facts, taken) in [(&start, "e2e8"), (&played, "e7e1")] {
        let bound = of(facts, "obligation");
        assert!(!bound.is_empty());
        for obligation in bound {
            assert_eq!(obligation["must_capture"], json!([]));
            assert!(obligation["legal"].as_array().is_none_or(|legal| !legal.contains(&json!(taken))));
        }
        assert_eq!(of(facts, "illegal_move").last().unwrap()["kind"], "king-capture");
    }
    assert_eq!(of(&start, "restore")[0]["fen"].as_str().unwrap().split(' ').nth(4), Some("0"));
}

#[test]
fn a_king_that_is_lifted_before_the_man_that_takes_it_is_captured() {
    let events =
        "lift e2|place d3|press white|+1000 lift e1|lift e7|place e1|press black|button claim-illegal-white";
    let rapid = json!({"discipline": "rapid"});
    let told = told("fide-2023", "4k3/4r3/8/8/8/8/4B3/4K2R w K - 0 1", rapid, events);
    assert_eq!(of(&told, "illegal_stands").len(), 1);
    assert_eq!(of(&told, "claim_check")[0]["valid"], true);
    let illegal = of(&told, "illegal_move");
    assert_eq!(illegal.len(), 2);
    assert_eq!((&illegal[1]["by"], &illegal[1]["kind"]), (&json!("black"), &json!("king-capture")));
}

#[test]
fn a_man_that_is_captured_victim_first_answers_an_illegal_move() {
    // The illegal move of the pinned bishop stands, and the rook takes the pawn that was lifted first.
    let events = "lift e2|place d3|press white|+1000 lift a7|lift e7|place a7|press black";
    let rapid = json!({"discipline": "rapid"});
    let told = told("fide-2023", "4k3/P3r3/8/8/8/8/4B3/4K2R w K - 0 1", rapid, events);
    assert_eq!(of(&told, "illegal_stands").len(), 1);
    assert_eq!(of(&told, "move_completed")[0]["uci"], "e7a7");
    assert!(of(&told, "ambiguous-move").is_empty());
}

#[test]
fn a_dead_position_ends_the_game_before_the_flag() {
    for rules in ["fide-2005", "fide-2023"] {
        for wait in [100, 500] {
            let events = format!("lift d2|lift e1|place d2|+{wait} flag white|arbiter flag-observed");
            let told = told(rules, "5b2/8/8/8/7k/8/3r4/4K3 w - - 0 1", json!({}), &events);
            let ends = of(&told, "game_end");
            assert_eq!((ends.len(), &ends[0]["reason"]), (1, &json!("dead-position")), "{rules} {wait}");
            assert_eq!(of(&told, "flag-indicated")[0]["after_end"], true);
            assert_eq!(ruled(&told), false);
        }
    }
    let events = "lift d2|lift e1|place d2|+3000 tick";
    let told = told("fide-2023", "5b2/8/8/8/7k/8/3r4/4K3 w - - 0 1", json!({}), events);
    assert_eq!(at(&told, 2, "game_end").len(), 1);
}

#[test]
fn a_move_after_an_illegal_one_that_was_put_right_stands() {
    let events = "lift e2|place c3|press white|lift c3|place e2|lift e1|place d1|press white|arbiter confirm";
    let corrected = told("fide-2023", "4r1k1/8/8/8/8/8/4N3/4K3 w - - 0 1", json!({}), events);
    assert_eq!(ruled(&corrected), true);
    assert_eq!(of(&corrected, "penalty").len(), 1);
    assert!(at(&corrected, 8, "restore").is_empty());
    // It breaks Article 4: back to the position before it.
    let breach =
        told("fide-2023", "6k1/7p/8/8/8/8/4N3/4K3 w - - 0 1", json!({}), &events.replace("c3", "e3"));
    assert_eq!(at(&breach, 8, "restore")[0]["ply"], 0);
    assert_eq!(of(&breach, "move_withdrawn").len(), 1);
    assert_eq!(at(&breach, 8, "obligation")[0]["must_move"], json!(["e2"]));
    // What went on from the illegal one is taken back.
    let events = "lift e1|place g1|press white|+3000 lift h1|place f1|+3000 arbiter confirm";
    let finished = told("fide-2023", CASTLING, json!({}), events);
    assert_eq!(of(&finished, "move_withdrawn")[0]["uci"], "e1g1");
    assert_eq!(of(&finished, "restore").last().unwrap()["remove"], json!(["f1", "g1"]));
    assert_eq!(of(&finished, "obligation").last().unwrap()["must_move"], json!(["e1"]));
    // Another piece than the queen of the ruling.
    let events = "piece e7|piece e8 P|press white|+3000 piece e8|piece e8 R|+3000 arbiter confirm|piece e8|piece e8 Q|press white";
    let pawn = told("fide-2023", PROMOTION, json!({"board": "dgt"}), events);
    assert_eq!(of(&pawn, "move_withdrawn")[0]["uci"], "e7e8r");
    assert_eq!(of(&pawn, "move_completed").last().unwrap()["uci"], "e7e8q");
}

#[test]
fn men_that_are_exchanged_while_the_clocks_stand_touch_nothing() {
    let pawn = "8/4P1k1/8/8/8/8/8/4K3 w - - 0 1";
    let header = |mut header: Value| {
        header["start_fen"] = json!(pawn);
        header
    };
    let script = "0 lift e7\n500 place e8\n1000 pause \n2000 lift e8\n62000 place e8\n63000 run white\n63500 press white";
    let told = facts(header(under("fide-2023")), script);
    for kind in ["touch", "put_back", "obligation"] {
        assert!(of(&told, kind).iter().all(|fact| fact["ev"].as_i64().unwrap() < 3), "{kind}");
    }
    assert!(of(&told, "resume-check")[0].get("sealed").is_none());
    assert_eq!(of(&told, "move_completed")[0]["uci"], "e7e8q");
    // A record that begins in mid game may begin with a sealed move.
    let mut mid = under("fide-2023");
    mid["history"] = json!(["e2e4", "e7e5"]);
    assert_eq!(of(&facts(mid, "0 run black"), "resume-check")[0]["sealed"], true);
}

#[test]
fn castling_that_is_illegal_is_written_as_the_kings_way() {
    let events = "lift b1|lift h1|place f1|place g1|press white|arbiter confirm|+30000 tick";
    let more = json!({"variant": "chess960"});
    let reed = told("fide-2023", "4k3/8/8/8/3r4/8/8/1K5R w H - 0 1", more, events);
    assert_eq!(of(&reed, "illegal_move")[0]["attempt"], "b1g1");
    assert!(of(&reed, "king-off").is_empty());
    let events = "piece b1|piece h1|piece f1 R|piece g1 K|press white";
    let more = json!({"variant": "chess960", "board": "dgt"});
    let dgt = told("fide-2023", "4k3/8/8/8/3r4/8/8/1K5R w H - 0 1", more, events);
    assert_eq!(of(&dgt, "illegal_move")[0]["attempt"], "b1g1");
    // A king that is beside the board to castle is told.
    let more = json!({"variant": "chess960"});
    let parked =
        told("fide-2023", "4k3/8/8/8/8/8/8/1K5R w H - 0 1", more, "lift b1|lift h1|place f1|+30000 tick");
    assert_eq!(of(&parked, "king-off").len(), 1);
}

/// A.5.2 (2005: B.6, C.3): castling that is not legal stands like any other illegal move, and what stands on the board
/// goes on.
#[test]
fn castling_of_both_men_that_is_not_legal_stands_in_fast_play() {
    let reed = json!({});
    let dgt = json!({"board": "dgt"});
    let dgt960 = json!({"board": "dgt", "variant": "chess960"});
    let cases = [
        // Over an attacked square.
        (
            &reed,
            "4k3/7p/8/8/8/8/5r2/R3K2R w KQ - 0 1",
            "lift e1|place g1|lift h1|place f1|press white|+2000 lift h7|place h6|press black",
            "e1g1",
            "4k3/7p/8/8/8/8/5r2/R4RK1 b - - 1 1",
            "h7h6",
        ),
        // The right was lost.
        (
            &reed,
            "r3k2r/8/8/8/8/8/P7/R3K2R b KQ - 0 1",
            "lift e8|place c8|lift a8|place d8|press black|+2000 lift a2|place a3|press white",
            "e8c8",
            "2kr3r/8/8/8/8/8/P7/R3K2R w KQ - 1 2",
            "a2a3",
        ),
        // Along the file.
        (
            &reed,
            "4R3/7p/8/8/8/8/8/4K2k w - - 0 1",
            "lift e1|place e3|lift e8|place e2|press white|+2000 lift h7|place h6|press black",
            "e1e3",
            "8/7p/8/8/8/4K3/4R3/7k b - - 1 1",
            "h7h6",
        ),
        // The rook that castled is captured.
        (
            &reed,
            "4k3/8/8/8/8/8/5r2/R3K2R w KQ - 0 1",
            "lift e1|place g1|lift h1|place f1|press white|+2000 lift f1|lift f2|place f1|press black",
            "e1g1",
            "4k3/8/8/8/8/8/5r2/R4RK1 b - - 1 1",
            "f2f1",
        ),
        // To other squares than those of castling: only a board that tells its men knows which stands where.
        (
            &dgt,
            "4k3/7p/8/8/8/8/8/R3K2R w KQ - 0 1",
            "piece e1|piece b1 K|piece a1|piece c1 R|press white|+2000 piece h7|piece h6 p|press black",
            "e1b1",
            "4k3/7p/8/8/8/8/8/1KR4R b - - 1 1",
            "h7h6",
        ),
        // The king goes where the rook stood.
        (
            &dgt960,
            "4kr2/7p/8/8/8/8/8/1R2K1R1 w GB - 0 1",
            "piece e1|piece g1|piece f1 R|piece g1 K|press white|+2000 piece h7|piece h6 p|press black",
            "e1g1",
            "4kr2/7p/8/8/8/8/8/1R3RK1 b - - 1 1",
            "h7h6",
        ),
    ];
    for (more, fen, events, attempt, after, reply) in cases {
        for (rules, discipline) in [("fide-2023", "rapid"), ("fide-2023", "blitz"), ("fide-2005", "rapid")] {
            let mut more = more.clone();
            more["discipline"] = json!(discipline);
            let told = told(rules, fen, more, events);
            let stands = of(&told, "illegal_stands");
            assert_eq!(stands.len(), 1, "{rules} {discipline} {fen}: {told:?}");
            assert_eq!(
                (&stands[0]["attempt"], &stands[0]["fen"]),
                (&json!(attempt), &json!(after)),
                "{rules} {discipline}"
            );
            let made: Vec<&Value> = of(&told, "move_completed").iter().map(|fact| &fact["uci"]).collect();
            assert_eq!(made, [reply], "{rules} {discipline} {fen}");
        }
        // In standard play it is corrected.
        let mut more = more.clone();
        more["discipline"] = json!("standard");
        let told = told("fide-2023", fen, more, &format!("{events}|+3000 arbiter confirm"));
        assert!(of(&told, "illegal_stands").is_empty());
        assert_eq!(ruled(&told), true, "{fen}");
    }
    // On a board that tells no pieces king and rook may stand either way round: nobody guesses.
    let events = "lift e1|place b1|lift a1|place c1|press white|+2000 lift h7|place h6|press black";
    let told = told("fide-2023", "4k3/7p/8/8/8/8/8/R3K2R w KQ - 0 1", json!({"discipline": "rapid"}), events);
    assert_eq!(of(&told, "illegal_move").len(), 1);
    assert!(of(&told, "illegal_stands").is_empty());
}
