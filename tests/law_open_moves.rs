//! Moves that the press leaves open: castling whose rook is only lifted, several moves that fit, and what the opponent
//! does before it is decided; two men that change places, two hands, a slip of the tongue, a game that does not count.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{at, facts, of, paced, told, under};
use serde_json::{Value, json};

fn moves(facts: &[Value], kind: &str) -> Vec<String> {
    of(facts, kind).iter().map(|fact| fact["uci"].as_str().unwrap().to_owned()).collect()
}

const CASTLING: &str = "4k3/7p/8/8/8/8/8/R3K2R w KQ - 0 1";

#[test]
fn castling_is_not_made_by_the_lift_of_its_rook() {
    let chess960 = json!({"variant": "chess960"});
    let black = "r3k3/8/8/8/8/8/P7/4K3 b q - 0 1";
    let wide = "1k6/8/8/8/8/8/8/1K5R w H - 0 1";
    for (fen, more, begun, rook) in [
        (CASTLING, json!({}), "lift e1|place g1|press white", "h1"),
        (CASTLING, json!({"board": "peg"}), "lift e1|place g1|press white", "h1"),
        (black, json!({}), "lift e8|place c8|press black", "a8"),
        (wide, chess960, "lift b1|place g1|press white", "h1"),
    ] {
        for wait in [600, 2000] {
            for held in [200, 5000] {
                for back in [rook, "h2"] {
                    let events =
                        format!("{begun}|+{wait} lift {rook}|+{held} place {back}|+3000 arbiter confirm");
                    let told = told("fide-2023", fen, more.clone(), &events);
                    assert!(of(&told, "move_made").is_empty(), "{events}: {told:?}");
                    let illegal = of(&told, "illegal_move");
                    assert_eq!((illegal.len(), &illegal[0]["kind"]), (1, &json!("incomplete")), "{events}");
                    assert_eq!(of(&told, "arbiter_entry")[0]["accepted"], true, "{events}");
                }
            }
        }
    }
    let events = "piece e1|piece g1 K|press white|+2000 piece h1|+1000 piece h1 R|+3000 tick";
    let told = told("fide-2023", CASTLING, json!({"board": "dgt"}), events);
    assert!(of(&told, "move_made").is_empty());
    assert_eq!(of(&told, "illegal_move").len(), 1);
}

#[test]
fn the_reply_to_half_a_castling_is_no_fault_of_the_opponent() {
    let events =
        "lift e1|place g1|press white|+2000 lift h1|+1000 place h1|lift h7|place h6|press black|+3000 tick";
    let told = told("fide-2023", CASTLING, json!({}), events);
    assert!(of(&told, "move_made").is_empty());
    assert!(of(&told, "illegal-position").is_empty());
    assert!(of(&told, "press-over-mismatch").is_empty());
    assert_eq!(of(&told, "illegal_move").len(), 1);
    // A second press is the same fault, with the rook in the hand or not.
    for again in ["press white", "lift h1|press white|+3000 place h1"] {
        let events = format!("lift e1|place g1|press white|+2000 {again}|+3000 tick");
        let twice = self::told("fide-2023", CASTLING, json!({}), &events);
        assert_eq!(of(&twice, "illegal_move").len(), 1, "{twice:?}");
        assert!(of(&twice, "move_made").is_empty());
    }
}

#[test]
fn castling_is_not_made_by_a_press_with_the_rook_in_the_hand() {
    for rules in ["fide-2005", "fide-2023"] {
        let begun = "lift e1|place g1|+400 lift h1|+100 press white";
        for back in ["h1", "h2"] {
            let told = told(
                rules,
                CASTLING,
                json!({}),
                &format!("{begun}|+5000 place {back}|+3000 arbiter confirm"),
            );
            assert!(of(&told, "move_made").is_empty(), "{rules} {back}: {told:?}");
            assert_eq!(of(&told, "illegal_move")[0]["kind"], "incomplete", "{rules} {back}");
        }
        // Just before it lands the press is a little early.
        let soon = told(rules, CASTLING, json!({}), &format!("{begun}|+100 place f1|+3000 tick"));
        assert_eq!(moves(&soon, "move_completed"), ["e1g1"], "{rules}: {soon:?}");
        assert_eq!(moves(&soon, "move_published"), ["e1g1"]);
        assert!(of(&soon, "illegal_move").is_empty());
    }
}

#[test]
fn what_is_finished_after_the_press_has_to_rest() {
    let en_passant = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1";
    let begun = "lift e5|place d6|press white|+2000 lift d5";
    let brushed = told("fide-2023", en_passant, json!({}), &format!("{begun}|+150 place d5|+3000 tick"));
    assert!(of(&brushed, "move_made").is_empty(), "{brushed:?}");
    let taken = told("fide-2023", en_passant, json!({}), &format!("{begun}|+3000 tick"));
    assert_eq!(moves(&taken, "move_completed"), ["e5d6"]);
    assert_eq!(of(&taken, "obligation").last().unwrap()["must_capture"], json!(["d5"]));
    let castled = told(
        "fide-2023",
        CASTLING,
        json!({}),
        "lift e1|place g1|press white|+2000 lift h1|place f1|+3000 tick",
    );
    assert_eq!(moves(&castled, "move_completed"), ["e1g1"]);
}

/// The knight takes one of two pawns, and no sensor tells which.
const TWO_PAWNS: &str = "4k3/3p1p2/8/4N3/8/8/8/4K3 w - - 0 1";

#[test]
fn a_move_that_the_arbiter_names_has_its_press_and_the_reply_that_stands() {
    for rules in ["fide-2005", "fide-2023"] {
        let events =
            "lift e5|press white|+2000 lift e8|place e7|press black|+2000 arbiter move e5f7|+3000 tick";
        let told = told(rules, TWO_PAWNS, json!({}), events);
        assert_eq!(moves(&told, "move_made"), ["e5f7", "e8e7"], "{rules}: {told:?}");
        assert_eq!(moves(&told, "move_completed"), ["e5f7", "e8e7"], "{rules}");
        assert!(of(&told, "uncompleted-move").is_empty());
        assert!(of(&told, "touch-violation").is_empty());
    }
    // The king takes the knight, on a square that stays occupied.
    let events =
        "lift e5|press white|+2000 lift f7|lift e8|place f7|press black|+2000 arbiter move e5f7|+3000 tick";
    let taken = told("fide-2023", TWO_PAWNS, json!({}), events);
    assert_eq!(moves(&taken, "move_completed"), ["e5f7", "e8f7"], "{taken:?}");
    // Without a press of the first one the move is open.
    let events = "lift e5|+2000 arbiter move e5f7|+3000 tick";
    let unpressed = told("fide-2023", TWO_PAWNS, json!({}), events);
    assert_eq!(moves(&unpressed, "move_made"), ["e5f7"]);
    assert!(of(&unpressed, "move_completed").is_empty());
}

#[test]
fn a_move_that_the_arbiter_names_late_has_all_that_followed() {
    let events = "lift e5|press white|+2000 lift e8|place e7|press black|+2000 lift e1|place e2|press white\
        |+2000 arbiter move e5f7|+2000 tick|lift d7|place d5|press black|+3000 tick";
    for rules in ["fide-2005", "fide-2023"] {
        let told = told(rules, TWO_PAWNS, json!({}), events);
        assert_eq!(moves(&told, "move_completed"), ["e5f7", "e8e7", "e1e2", "d7d5"], "{rules}: {told:?}");
        assert!(of(&told, "illegal_move").is_empty());
        assert!(of(&told, "touch-violation").is_empty());
    }
}

#[test]
fn what_is_lifted_over_an_undecided_move_is_the_opponents() {
    let chess960 = json!({"variant": "chess960"});
    let rook = "7k/p7/8/8/8/8/8/R2K4 w A - 0 1";
    let pawn = "lift e5|press white|+2000 lift d7|place d5|press black|+1000 tick";
    let corner =
        "lift a1|lift d1|place c1|place d1|press white|+2000 lift a7|place a6|press black|+1000 tick";
    for rules in ["fide-2005", "fide-2023"] {
        for (fen, more, events, square) in
            [(TWO_PAWNS, json!({}), pawn, "d7"), (rook, chess960.clone(), corner, "a7")]
        {
            let told = told(rules, fen, more, events);
            let touch = of(&told, "touch").into_iter().find(|fact| fact["square"] == square).unwrap();
            assert_eq!(touch["by"], "black", "{rules} {square}: {told:?}");
            let of_white = |fact: &&&Value| fact["by"] == "white" && fact["must_capture"] != json!([]);
            assert!(of(&told, "obligation").iter().find(of_white).is_none(), "{rules} {square}");
        }
    }
    // Where he has pressed back it is the other one's.
    let events = "lift e5|press white|+1000 press black|+2000 lift d7|place d7|+1000 tick";
    let back = told("fide-2023", TWO_PAWNS, json!({}), events);
    assert!(of(&back, "touch").iter().all(|touch| touch["by"] == "white"), "{back:?}");
    // It binds him once the move is decided.
    let events =
        "lift e5|press white|+2000 lift d7|+2000 place d7|lift e8|place e7|press black|arbiter move e5f7";
    let bound = told("fide-2023", TWO_PAWNS, json!({}), events);
    assert_eq!(of(&bound, "touch-violation")[0]["required"], json!(["d7d6", "d7d5"]), "{bound:?}");
}

#[test]
fn a_king_that_was_back_before_its_rook_left_has_not_castled() {
    let chess960 = json!({"variant": "chess960"});
    for (fen, king, rook, side) in [
        ("2k5/8/8/8/8/8/8/5KR1 w G - 0 1", "f1", "g1", "white"),
        ("2k5/8/8/8/8/8/8/2RK4 w C - 0 1", "d1", "c1", "white"),
        ("5kr1/8/8/8/8/8/8/2K5 b g - 0 1", "f8", "g8", "black"),
    ] {
        for rules in ["fide-2005", "fide-2023"] {
            let events = format!("lift {king}|place {king}|lift {rook}|place {rook}|press {side}|+3000 tick");
            let told = told(rules, fen, chess960.clone(), &events);
            assert!(of(&told, "move_made").is_empty(), "{rules} {king}: {told:?}");
            assert_eq!(of(&told, "ambiguous-move").len(), 1, "{rules} {king}");
        }
        // In the air together they may have been exchanged, and a rook that is slid is read on two squares.
        for events in [
            format!("lift {king}|lift {rook}|place {king}|place {rook}|press {side}"),
            format!("lift {king}|place {king}|+50 lift {rook}|place {rook}|press {side}"),
            format!(
                "lift {king}|lift {rook}|place {king}|place {rook}|lift {king}|+300 place {king}|press {side}"
            ),
        ] {
            let told = told("fide-2023", fen, chess960.clone(), &events);
            assert_eq!(of(&told, "move_completed").len(), 1, "{events}: {told:?}");
        }
    }
}

#[test]
fn a_king_released_for_the_other_castling_stays_bound_to_the_rook_that_was_touched() {
    let events = "lift e1|lift h1|place h1|place c1|+1000 lift c1|place g1|lift h1|place f1|press white";
    for rules in ["fide-2005", "fide-2023"] {
        let told = told(rules, CASTLING, json!({}), events);
        let mut castle =
            of(&told, "obligation").into_iter().filter_map(|bound| bound["must_castle"].as_str());
        assert!(castle.all(|uci| uci == "e1g1"), "{rules}: {told:?}");
        assert!(of(&told, "castle-abandoned").is_empty());
        assert_eq!(moves(&told, "move_completed"), ["e1g1"]);
    }
}

#[test]
fn two_hands_are_no_illegal_move_before_the_press() {
    let castled = "lift e1|+5 lift h1|+300 place g1|+5 place f1|";
    for discipline in ["standard", "rapid"] {
        let more = json!({"discipline": discipline});
        let early = format!(
            "{castled}arbiter confirm-two-hands|button claim-illegal-black|press white|arbiter two-hands"
        );
        let told = told("fide-2023", CASTLING, more.clone(), &early);
        assert_eq!(at(&told, 4, "arbiter_entry")[0]["accepted"], false, "{discipline}: {told:?}");
        assert!(at(&told, 4, "penalty").is_empty());
        assert_eq!(of(&told, "claim_check")[0]["valid"], false);
        assert_eq!(at(&told, 7, "arbiter_entry")[0]["accepted"], true);
        assert_eq!((of(&told, "illegal_move").len(), of(&told, "penalty").len()), (1, 1));
        // Taken back and played otherwise: nothing is left to rule on.
        let other = format!(
            "{castled}+400 lift g1|place e1|lift f1|place h1|lift e1|place e2|press white|arbiter two-hands"
        );
        let other = self::told("fide-2023", CASTLING, more, &other);
        assert_eq!(moves(&other, "move_completed"), ["e1e2"]);
        assert!(of(&other, "penalty").iter().all(|penalty| penalty["kind"] != "illegal-move"), "{other:?}");
        assert!(of(&other, "illegal_move").is_empty());
    }
}

#[test]
fn a_slip_about_the_promoted_piece_is_corrected_until_the_press() {
    let fen = "8/4P1k1/7p/8/8/8/8/4K3 w - - 0 1";
    let call = |piece: &str| format!("announce Bauer Eva sieben Eva acht {piece}");
    for announce in ["button", "assistant", "assume-on-press"] {
        let more = json!({"board": "peg", "config": {"peg.announce": announce}});
        for (first, second, uci) in [("Turm", "Dame", "e7e8q"), ("Dame", "Turm", "e7e8r")] {
            let events = format!("lift e7|place e8|{}|{}|press white|+3000 tick", call(first), call(second));
            let told = told("fide-2023", fen, more.clone(), &events);
            assert_eq!(moves(&told, "move_completed"), [uci], "{announce} {first} {second}: {told:?}");
            assert_eq!(moves(&told, "move_published"), [uci]);
            assert!(of(&told, "announce-mismatch").is_empty(), "{announce} {first} {second}");
            assert_eq!(of(&told, "spoken").last().unwrap()["uci"], uci);
        }
        // After the press it is too late.
        let events = format!("lift e7|place e8|{}|press white|{}|+3000 tick", call("Turm"), call("Dame"));
        let late = told("fide-2023", fen, more, &events);
        assert_eq!(moves(&late, "move_completed"), ["e7e8r"], "{announce}");
        assert_eq!(of(&late, "announce-mismatch").len(), 1, "{announce}");
    }
}

#[test]
fn a_void_game_takes_no_result() {
    let told = facts(under("fide-2023"), &paced("arbiter void|result 1-0"));
    let ends = of(&told, "game_end");
    assert_eq!((ends.len(), &ends[0]["reason"]), (1, &json!("void")));
    assert_eq!(of(&told, "result-mismatch")[0]["reported"], "1-0");
    // Taken back, it may end.
    let again = facts(under("fide-2023"), &paced("arbiter void|arbiter result *|result 1-0"));
    assert_eq!(of(&again, "game_end").last().unwrap()["result"], "1-0");
}
