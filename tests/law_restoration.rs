//! Illegal moves that are put right: by the player, by a claim, by the arbiter, at once or later; in fast play as
//! long as the opponent has not moved on; and the times and men that are put up again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{at, facts, of, paced, told, under};
use serde_json::{Value, json};

fn ruled(facts: &[Value]) -> &Value {
    &of(facts, "arbiter_entry").last().unwrap()["accepted"]
}

fn moves<'a>(facts: &'a [Value], kind: &str) -> Vec<&'a Value> {
    of(facts, kind).into_iter().map(|fact| &fact["uci"]).collect()
}

/// The knight is pinned.
const PINNED: &str = "4r1k1/7p/8/8/8/8/4N3/4K3 w - - 0 1";
const ILLEGAL: &str = "lift e2|place c3|press white";

/// A.5.2 (2005: B.6, C.3): who touches a man and puts it back has made no move, so the illegal one may still be put
/// right.
#[test]
fn a_man_that_is_put_back_is_no_move_after_an_illegal_one() {
    for (rules, discipline) in
        [("fide-2005", "rapid"), ("fide-2005", "blitz"), ("fide-2023", "rapid"), ("ua", "blitz")]
    {
        for signal in ["debounced", "raw"] {
            let more = json!({"discipline": discipline, "signal": signal});
            let name = format!("{rules} {discipline} {signal}");
            let script = format!(
                "{ILLEGAL}|+2000 lift g8|place g8|press black|lift c3|place e2|lift e1|place f2|press white\
                 |+2000 lift g8|place g7|press black"
            );
            let put_right = told(rules, PINNED, more.clone(), &script);
            assert_eq!(moves(&put_right, "move_completed"), ["e1f2", "g8g7"], "{name}");
            assert_eq!(of(&put_right, "illegal_stands").len(), 1, "{name}");
            assert_eq!(at(&put_right, 4, "move_withdrawn").len(), 1, "{name}");
            assert!(of(&put_right, "ambiguous").is_empty(), "{name}");
            let bound = of(&put_right, "obligation");
            assert!(bound.iter().all(|bound| bound["by"] == "white" || bound["touches"] == json!(["g8"])));
            // A second touch is one more time about to move on, and the move makes it stand.
            let moved = told(
                rules,
                PINNED,
                more.clone(),
                &format!(
                    "{ILLEGAL}|+2000 lift g8|place g8|+1000 lift h7|place h6|press black|button claim-illegal-black"
                ),
            );
            assert_eq!(moves(&moved, "move_completed"), ["h7h6"], "{name}");
            assert_eq!(of(&moved, "illegal_stands").len(), 2, "{name}");
            assert_eq!(of(&moved, "claim_check")[0]["valid"], false, "{name}");
            // What he touched first he had to move.
            let breach = of(&moved, "touch-violation");
            assert_eq!((breach.len(), &breach[0]["played"]), (1, &json!("h7h6")), "{name}");
        }
    }
}

/// The same while the opponent holds his man, and after his claim.
#[test]
fn an_illegal_move_is_put_right_while_the_opponent_holds_a_man() {
    let history = json!({"discipline": "rapid", "history": ["e2e4", "e7e5", "f1c4", "f8c5"]});
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    for rules in ["fide-2005", "fide-2023", "ua"] {
        for correction in [
            "+2000 lift b8|place b8|lift b6|place c4",
            "+2000 lift b8|lift b6|place c4|place b8",
            "+2000 lift b8|place b8|button claim-illegal-black|lift b6|place c4",
            "+2000 lift b8|button claim-illegal-black|place b8|lift b6|place c4",
        ] {
            let script = format!(
                "lift c4|place b6|press white|{correction}|lift g1|place f3|press white|+2000 lift b8|place c6|press black"
            );
            let told = told(rules, start, history.clone(), &script);
            assert_eq!(moves(&told, "move_completed"), ["g1f3", "b8c6"], "{rules} {correction}");
            assert!(of(&told, "press-over-mismatch").is_empty());
            for claim in of(&told, "claim_check") {
                assert_eq!(claim["valid"], true, "{rules} {correction}");
            }
        }
    }
}

/// The ruling on it binds the man that made it, whether the opponent was about to move on or not.
#[test]
fn the_man_of_an_illegal_move_is_bound_by_the_ruling() {
    let fen = "6k1/7p/8/8/8/8/4N3/4K3 w - - 0 1";
    for touch in ["", "|+2000 lift g8", "|+2000 lift g8|place g8"] {
        let script =
            format!("lift e2|place e3|press white{touch}|button claim-illegal-black|arbiter confirm");
        let told = told("fide-2023", fen, json!({"discipline": "rapid"}), &script);
        assert_eq!(ruled(&told), true, "{touch}");
        assert_eq!(of(&told, "penalty").len(), 1, "{touch}");
        assert_eq!(of(&told, "restore").last().unwrap()["ply"], 0, "{touch}");
        assert_eq!(of(&told, "obligation").last().unwrap()["must_move"], json!(["e2"]), "{touch}");
    }
}

/// A second press over the same illegal position is no second illegal move, whatever the opponent touched meanwhile.
#[test]
fn a_second_press_over_an_illegal_move_counts_once() {
    let script = format!("{ILLEGAL}|+2000 lift g8|place g8|press black|+2000 press white|+2000 tick");
    let told = told("fide-2023", PINNED, json!({"discipline": "rapid"}), &script);
    assert_eq!(of(&told, "illegal_move").len(), 1);
}

/// A contact that opens for less than the debounce time is no hand.
#[test]
fn a_contact_that_bounces_lets_no_illegal_move_stand() {
    let script = format!("{ILLEGAL}|+2000 lift g8|+20 place g8|+2000 button claim-illegal-black");
    let told = told("fide-2023", PINNED, json!({"discipline": "rapid", "signal": "raw"}), &script);
    assert!(of(&told, "illegal_stands").is_empty());
    assert_eq!(of(&told, "claim_check")[0]["valid"], true);
}

/// 5.1, 6.7.1: after the end of the game the men are put away.
#[test]
fn men_that_are_put_away_after_the_end_are_no_answer() {
    for end in ["arbiter result 0-1", "button resign-white", "arbiter draw"] {
        for discipline in ["rapid", "blitz"] {
            let script = format!("{ILLEGAL}|+2000 {end}|+2000 lift g8|place g7|lift h7|place a2|+2000 tick");
            let told = told("fide-2023", PINNED, json!({"discipline": discipline}), &script);
            assert_eq!(of(&told, "game_end").len(), 1, "{end}");
            assert!(of(&told, "illegal_stands").is_empty(), "{end} {discipline}");
        }
    }
}

/// L6.11, A.5.2: with the clocks stopped nobody moves on; a man that captured is taken up again by its own player.
#[test]
fn putting_an_illegal_capture_right_lets_it_not_stand() {
    let fen = "4r1k1/7p/8/8/8/2p5/4N3/4K3 w - - 0 1";
    let illegal = "piece e2|piece c3|piece c3 N|press white";
    for rules in ["fide-2005", "fide-2023"] {
        for discipline in ["rapid", "blitz"] {
            for stop in [
                "pause |piece c3|piece e2 N|piece c3 p|run white",
                "press black|piece c3|piece e2 N|piece c3 p",
            ] {
                let script = format!(
                    "{illegal}|+2000 {stop}|piece e1|piece f1 K|press white|+2000 piece g8|piece g7 k|press black"
                );
                let more = json!({"discipline": discipline, "board": "dgt"});
                let told = told(rules, fen, more, &script);
                assert!(of(&told, "illegal_stands").is_empty(), "{rules} {stop}");
                assert_eq!(moves(&told, "move_completed"), ["e1f1", "g8g7"], "{rules} {stop}");
            }
            let script = format!(
                "{ILLEGAL}|+2000 pause |lift g8|place g8|lift c3|place e2|run white|lift e1|place f2|press white"
            );
            let told = told(rules, PINNED, json!({"discipline": discipline}), &script);
            assert!(of(&told, "illegal_stands").is_empty(), "{rules}");
            assert_eq!(moves(&told, "move_completed"), ["e1f2"], "{rules}");
        }
    }
}

const CASTLING: &str = "4k3/7p/8/8/8/8/8/R3K2R w KQ - 0 1";

/// 4.7.2 (2005: 4.6b): castling is made when the rook stands where it castles to, not when it is lifted.
#[test]
fn half_a_castling_is_not_made_by_the_lift_of_its_rook() {
    let men = |events: &str| {
        events
            .replace("lift ", "piece ")
            .replace("place g1", "piece g1 K")
            .replace("place h1", "piece h1 R")
            .replace("place f1", "piece f1 R")
            .replace("place h2", "piece h2 R")
    };
    let half = "lift e1|place g1|press white|+2000 lift h1";
    for board in ["reed", "peg", "dgt"] {
        for wait in [200, 1000, 5000] {
            let script = |rest: &str| {
                let events = format!("{half}|+{wait} {rest}");
                if board == "dgt" { men(&events) } else { events }
            };
            let more = || json!({"board": board});
            for rest in ["place h1|+3000 tick", "tick", "place h1|+1000 arbiter confirm"] {
                let told = told("fide-2023", CASTLING, more(), &script(rest));
                assert!(of(&told, "move_made").is_empty(), "{board} {wait} {rest}");
                assert_eq!(of(&told, "illegal_move").len(), 1, "{board} {wait} {rest}");
            }
            let made = told("fide-2023", CASTLING, more(), &script("place f1|+3000 tick"));
            assert_eq!(moves(&made, "move_made"), ["e1g1"], "{board} {wait}");
        }
    }
    let reply = told(
        "fide-2023",
        CASTLING,
        json!({}),
        &format!("{half}|+1000 place h1|lift h7|place h6|press black|+3000 arbiter confirm"),
    );
    assert!(of(&reply, "press-over-mismatch").is_empty());
    assert_eq!(of(&reply, "restore").last().unwrap()["remove"], json!(["g1", "h6"]));
    let black = told(
        "fide-2005",
        "r3k3/8/8/8/8/8/P7/4K3 b q - 0 1",
        json!({}),
        "lift e8|place c8|press black|+2000 lift a8|+1000 place b6|+3000 tick",
    );
    assert!(of(&black, "move_made").is_empty());
    let chess960 = told(
        "fide-2023",
        "4k3/7p/8/8/8/8/8/R3K2R w HA - 0 1",
        json!({"variant": "chess960"}),
        &format!("{half}|+1000 place h1|+3000 tick"),
    );
    assert!(of(&chess960, "move_made").is_empty());
}

const GAME: &str = "times 600000 600000 white|+9500 lift e2|place e4|press white|+19000 lift e7|place e5|press black\
    |+9000 lift g1|place f3|press white|+4000 lift b8|place c6|press black|+1000 ";

fn game(rules: &str, more: &str) -> Vec<Value> {
    let mut header = under(rules);
    header["time_control"] = json!("600");
    facts(header, &paced(&format!("{GAME}{more}")))
}

fn calcs<'a>(facts: &'a [Value], name: &str) -> Vec<&'a Value> {
    of(facts, "clock").into_iter().filter(|fact| fact["calc"] == name).collect()
}

/// 7.1 (2005: 6.14): the times that are proposed are those of the press that is found to be irregular, and of the
/// position that is put up again.
#[test]
fn the_times_of_a_restored_position_are_those_when_it_stood() {
    for rules in ["fide-2005", "fide-2023"] {
        for (ply, side, offender, opponent) in
            [(1, "white", 589_500, 600_000), (2, "black", 580_000, 589_500), (3, "white", 579_500, 580_000)]
        {
            let found = game(rules, &format!("arbiter illegal-found-at-ply {ply}|arbiter restore-times"));
            let told = calcs(&found, "irregular-press");
            assert_eq!(told.len(), 1, "{ply}");
            assert_eq!(told[0]["side"], side, "{ply}");
            assert_eq!(told[0]["after"], json!({"offender": offender, "opponent": opponent}), "{ply}");
            let confirmed = game(rules, &format!("arbiter illegal-found-at-ply {ply}|arbiter confirm"));
            let told = calcs(&confirmed, "illegal");
            assert_eq!(
                (&told[0]["side"], &told[0]["before"]),
                (&json!(side), &json!({"opponent": opponent}))
            );
            assert_eq!(told[0]["after"], json!({"opponent": opponent + 120_000}), "{ply}");
        }
        for (ply, white, black) in
            [(0, 600_000, 600_000), (1, 589_500, 600_000), (2, 589_500, 580_000), (3, 579_500, 580_000)]
        {
            let restored = game(rules, &format!("arbiter restore {ply}|arbiter restore-times"));
            let told = calcs(&restored, "restored");
            let after: Vec<&Value> = told.iter().map(|fact| &fact["after"]).collect();
            assert_eq!(after, [&json!(white), &json!(black)], "{ply}");
        }
        // Once somebody has pressed that is past.
        let on = game(rules, "arbiter restore 4|lift d2|place d4|press white|arbiter restore-times");
        assert!(calcs(&on, "restored").is_empty());
        assert_eq!(calcs(&on, "replay-elapsed").last().unwrap()["side"], "black");
    }
}

/// After the ruling, with the clocks stopped or not, it is what was ruled; where no time is known that is said.
#[test]
fn the_times_after_a_ruling_are_those_as_ruled() {
    let script = |stop: &str| {
        format!(
            "times 600000 500000 white|+9500 {ILLEGAL}|+4000 {stop}|arbiter confirm|arbiter restore-times"
        )
    };
    for stop in ["pause ", "arbiter pause"] {
        let told = told("fide-2023", PINNED, json!({"time_control": "600+10"}), &script(stop));
        let ruled = calcs(&told, "as-ruled");
        let after: Vec<&Value> = ruled.iter().map(|fact| &fact["after"]).collect();
        assert_eq!(after, [&json!(589_500), &json!(616_000)], "{stop}");
    }
    let stopped = told(
        "fide-2023",
        PINNED,
        json!({"time_control": "600"}),
        "times 600000 500000|pause |arbiter restore-times",
    );
    let after: Vec<&Value> = calcs(&stopped, "as-ruled").iter().map(|fact| &fact["after"]).collect();
    assert_eq!(after, [&json!(600_000), &json!(500_000)]);
    let unknown = told("fide-2023", PINNED, json!({}), "lift e1|place f2|press white|arbiter restore-times");
    assert_eq!(ruled(&unknown), false);
    assert_eq!(of(&unknown, "arbiter_entry")[0]["reason"], "no time is known");
}

/// L7.4a: what has to be put up again names every man that stands wrong, at the press, at the ruling and when it is
/// asked for, on a board that tells its men.
#[test]
fn what_has_to_be_put_up_names_the_man_under_a_capturer() {
    let events = "piece e2|piece c3|piece c3 N|press white|+3000 arbiter confirm|arbiter restore\
        |piece c3|piece e2 N|piece c3 p|+1000 arbiter restore";
    for rules in ["fide-2005", "fide-2023"] {
        let told = told(rules, "4r1k1/8/8/8/8/2p5/4N3/4K3 w - - 0 1", json!({"board": "dgt"}), events);
        let ways: Vec<(&Value, &Value)> =
            of(&told, "restore").iter().map(|way| (&way["remove"], &way["put"])).collect();
        let (remove, put, nothing) = (json!(["c3"]), json!(["e2", "c3"]), json!([]));
        let wrong = (&remove, &put);
        assert_eq!(ways, [wrong, wrong, wrong, (&nothing, &nothing)], "{rules}");
    }
}

/// Whoever exchanges the man that a restored capture had taken touches nothing.
#[test]
fn a_man_that_is_exchanged_to_restore_a_position_is_not_touched() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let capture = "lift d5|lift e4|place d5|press white|+2000 arbiter restore 2";
    for (exchange, clock) in [
        ("+600 place e4|+600 lift d5|+600 place d5", "|+3000 run white"),
        ("+600 lift d5|+600 place d5|+600 place e4", "|+3000 run white"),
        ("+600 place e4|+600 lift d5|+600 place d5", ""),
    ] {
        let history = json!({"history": []});
        let script = format!(
            "lift e2|place e4|press white|lift d7|place d5|press black|{capture}|{exchange}{clock}|lift g1|place f3|press white"
        );
        let told = told("fide-2023", start, history, &script);
        let way = of(&told, "restore")[0];
        assert_eq!((&way["remove"], &way["put"]), (&json!(["d5"]), &json!(["e4", "d5"])));
        assert!(of(&told, "touch-violation").is_empty(), "{exchange}");
        assert_eq!(moves(&told, "move_completed").last().unwrap(), &"g1f3");
        let bound = of(&told, "obligation");
        assert_eq!(bound.last().unwrap()["touches"], json!(["g1"]), "{exchange}");
    }
    // A touch after the exchange is one.
    let script = format!(
        "lift e2|place e4|press white|lift d7|place d5|press black|{capture}|+600 place e4|+600 lift d5|+600 place d5|+3000 lift d5|place d5|lift g1|place f3|press white"
    );
    let told = told("fide-2023", start, json!({}), &script);
    assert_eq!(of(&told, "touch-violation").len(), 1);
}

const PROMOTION: &str = "8/4P1k1/7p/8/8/8/8/4K3 w - - 0 1";

/// L7.4a, N7.5.2: the pawn becomes a queen, and the opponent's reply is taken back.
#[test]
fn a_reply_to_a_pawn_on_the_last_rank_has_to_be_put_back() {
    let more = json!({"board": "dgt"});
    let events = "piece e7|piece e8 P|press white|+600 piece h6|piece h5 p|press black|+3000 arbiter confirm";
    let replied = told("fide-2023", PROMOTION, more.clone(), events);
    let way = at(&replied, 6, "restore");
    assert_eq!(way.len(), 1);
    assert_eq!(way[0]["fen"], "4Q3/6k1/7p/8/8/8/8/4K3 b - - 0 1");
    assert_eq!((&way[0]["remove"], &way[0]["put"]), (&json!(["h5", "e8"]), &json!(["h6", "e8"])));
    // The queen alone is no other position to put up.
    let alone = told("fide-2023", PROMOTION, more, "piece e7|piece e8 P|press white|+3000 arbiter confirm");
    assert!(at(&alone, 3, "restore").is_empty());
}

/// 7.4a of 2005, 6.8a: whoever has to move again presses again.
#[test]
fn the_press_of_an_illegal_move_completes_no_other_one() {
    for restart in ["pause |arbiter confirm|run white", "arbiter confirm|run white", "pause |arbiter confirm"]
    {
        let events = format!(
            "piece e7|piece e8 P|press white|+3000 {restart}|piece e8|piece e8 Q|+1000 press white|+1000 tick"
        );
        let told = told("fide-2005", PROMOTION, json!({"board": "dgt"}), &events);
        let completed = of(&told, "move_completed");
        assert_eq!(completed.len(), 1, "{restart}");
        assert_eq!(
            (&completed[0]["uci"], &completed[0]["how"]),
            (&json!("e7e8q"), &json!("press")),
            "{restart}"
        );
    }
}

/// 4.1, 7.5.4: nothing is illegal before the press.
#[test]
fn two_hands_count_from_the_press_on() {
    let castled = "lift e1|+5 lift h1|+300 place g1|+5 place f1|+500 ";
    for command in ["confirm", "confirm-two-hands", "two-hands"] {
        let early = told(
            "fide-2023",
            CASTLING,
            json!({}),
            &format!("{castled}arbiter {command}|press white|arbiter {command}"),
        );
        let entries = of(&early, "arbiter_entry");
        assert_eq!(
            (&entries[0]["accepted"], &entries[1]["accepted"]),
            (&json!(false), &json!(true)),
            "{command}"
        );
        assert_eq!(of(&early, "penalty").len(), 1, "{command}");
        assert!(at(&early, 4, "illegal_move").is_empty());
    }
}

/// A.5.2 (A.3.2 of rapid chess): nothing of Article 7.5 is left once the opponent has made his next move.
#[test]
fn two_hands_count_in_fast_play_until_the_reply() {
    let castled = "lift e1|+5 lift h1|+300 place g1|+5 place f1|+500 press white|";
    let reply = "lift h7|+300 place h6|+300 press black|";
    for command in ["confirm", "confirm-two-hands", "two-hands"] {
        for discipline in ["rapid", "blitz"] {
            let told =
                |script: &str| told("fide-2023", CASTLING, json!({ "discipline": discipline }), script);
            let late = told(&format!("{castled}{reply}arbiter {command}"));
            assert_eq!(of(&late, "arbiter_entry")[0]["accepted"], false, "{command} {discipline}");
            assert!(of(&late, "penalty").is_empty(), "{command} {discipline}");
            let timely = told(&format!("{castled}arbiter {command}"));
            assert_eq!(of(&timely, "arbiter_entry")[0]["accepted"], true, "{command} {discipline}");
            assert_eq!(of(&timely, "penalty").len(), 1, "{command} {discipline}");
        }
    }
}

/// Who was called at the press is not called again for the same move.
#[test]
fn an_illegal_move_calls_the_arbiter_once() {
    for (rules, audiences) in [("fide-2023", vec!["arbiter"]), ("fide-2005", vec!["journal", "arbiter"])] {
        let events = format!("{ILLEGAL}|+2000 button claim-illegal-black|arbiter confirm");
        let told = told(rules, PINNED, json!({"discipline": "rapid"}), &events);
        let called: Vec<&Value> = of(&told, "illegal_move").iter().map(|fact| &fact["to"]).collect();
        assert_eq!(called, audiences, "{rules}");
        assert_eq!(of(&told, "penalty").len(), 1);
    }
}

/// 4.4.4 (2005: 4.4d): the piece that was pressed over is the one that was chosen; another one is told, and the game
/// goes on.
#[test]
fn a_promoted_piece_that_is_exchanged_after_the_press_is_told() {
    for rules in ["fide-2005", "fide-2023"] {
        for discipline in ["standard", "rapid"] {
            let more = json!({"board": "dgt", "discipline": discipline});
            let events = "piece e7|piece e8 Q|press white|+2000 piece e8|piece e8 R|+1000 piece h6|piece h5 p|press black";
            let exchanged = told(rules, PROMOTION, more.clone(), events);
            let changed = of(&exchanged, "promotion-changed");
            assert_eq!(changed.len(), 1, "{rules} {discipline}");
            assert_eq!(
                (&changed[0]["first"], &changed[0]["now"], &changed[0]["to"]),
                (&json!("Q"), &json!("R"), &json!("arbiter"))
            );
            assert_eq!(moves(&exchanged, "move_completed"), ["e7e8q", "h6h5"], "{rules} {discipline}");
            for quiet in ["press-over-mismatch", "illegal-position", "sensor-faulty", "touch-violation"] {
                assert!(of(&exchanged, quiet).is_empty(), "{rules} {discipline} {quiet}");
            }
            // The arbiter says which it is, or it is put right.
            for right in
                ["arbiter promotion R|piece e8|piece a8 R", "piece e8|piece e8 Q|piece e8|piece b5 Q"]
            {
                let told =
                    told(rules, PROMOTION, more.clone(), &format!("{events}|+1000 {right}|press white"));
                assert_eq!(of(&told, "move_completed").len(), 3, "{rules} {discipline} {right}");
                assert!(of(&told, "sensor-recovered").is_empty());
            }
        }
    }
}

/// D.2.6 (2005: F.2.6): a slip of the tongue in the promoted piece is corrected by other words until the press.
#[test]
fn a_slip_of_the_tongue_in_the_promoted_piece_is_corrected_by_words() {
    let call = |piece: &str| format!("announce Bauer Eva sieben Eva acht {piece}");
    for announce in ["button", "assistant"] {
        for rules in ["fide-2005", "fide-2023"] {
            let more = json!({"board": "peg", "config": {"peg.announce": announce}});
            let events = format!("lift e7|place e8|{}|{}|press white|+1000 tick", call("Turm"), call("Dame"));
            let corrected = told(rules, PROMOTION, more.clone(), &events);
            assert_eq!(moves(&corrected, "move_completed"), ["e7e8q"], "{rules}");
            assert_eq!(moves(&corrected, "spoken"), ["e7e8r", "e7e8q"], "{rules}");
            assert!(of(&corrected, "announce-mismatch").is_empty());
            // After the press it is too late.
            let events = format!("lift e7|place e8|{}|press white|{}|+1000 tick", call("Turm"), call("Dame"));
            let late = told(rules, PROMOTION, more, &events);
            assert_eq!(moves(&late, "move_completed"), ["e7e8r"], "{rules}");
            assert!(of(&late, "move_revised").iter().all(|fact| fact["ev"].as_i64().unwrap() < 3));
        }
    }
}

/// L7.1a, 8.7: a game that does not count has no result, unless the arbiter says so.
#[test]
fn a_result_that_is_entered_after_void_waits_for_the_arbiter() {
    let void = told("fide-2005", PINNED, json!({}), "arbiter void|result 1-0");
    assert_eq!(of(&void, "game_end").len(), 1);
    assert_eq!(of(&void, "result-mismatch").len(), 1);
    let confirmed = told("fide-2005", PINNED, json!({}), "arbiter void|result 1-0|arbiter confirm");
    assert_eq!(of(&confirmed, "game_end").last().unwrap()["result"], "1-0");
}

/// X7: which of the moves that fit was pressed over the arbiter says; his opponent may have answered it by then.
#[test]
fn a_move_that_the_arbiter_names_after_the_reply_is_completed_and_so_is_the_reply() {
    let fen = "4k3/3p1p2/8/4N3/8/8/8/4K3 w - - 0 1";
    let undecided = "lift e5|press white";
    let names = |more: &str| told("fide-2023", fen, json!({}), &format!("{undecided}{more}"));
    let at_once = names("|+2000 arbiter move e5f7|lift e8|place e7|press black|lift e1|place e2|press white");
    assert_eq!(moves(&at_once, "move_completed"), ["e5f7", "e8e7", "e1e2"]);
    let replied =
        names("|+2000 lift e8|place e7|press black|+2000 arbiter move e5f7|lift e1|place e2|press white");
    assert_eq!(moves(&replied, "move_completed"), ["e5f7", "e8e7", "e1e2"]);
    // His opponent only let him have the move again.
    let back = names("|+2000 press black|+1000 arbiter move e5f7|+1000 press white");
    assert_eq!(moves(&back, "move_completed"), ["e5f7"]);
    assert_eq!(of(&back, "move_completed")[0]["how"], "press");
    for facts in [&at_once, &replied, &back] {
        assert!(of(facts, "illegal_move").is_empty());
    }
}

/// 4.3: a man of the opponent that is lifted after the press touches nothing of the player who pressed.
#[test]
fn the_answer_to_an_undecided_move_is_no_touch_of_its_player() {
    let fen = "4k3/3p1p2/8/4N3/8/8/8/4K3 w - - 0 1";
    for answer in ["lift d7|place d6", "lift f7|place f6", "lift e8|place e7"] {
        for rules in ["fide-2005", "fide-2023"] {
            let told = told(
                rules,
                fen,
                json!({}),
                &format!("lift e5|press white|+2000 {answer}|press black|+1000 tick"),
            );
            let bound = of(&told, "obligation");
            let white = bound.iter().filter(|bound| bound["by"] == "white");
            assert!(
                white.into_iter().all(|bound| bound["touches"] == json!(["e5"])),
                "{rules} {answer}: {bound:?}"
            );
        }
    }
}

/// The opponent gave the player the move again: what he lifts then is no move. A second press gives it back to him.
#[test]
fn an_illegal_move_stands_only_while_its_press_does() {
    let rapid = || json!({"discipline": "rapid"});
    let back =
        told("fide-2023", PINNED, rapid(), &format!("{ILLEGAL}|+2000 press black|+1000 lift g8|+1000 tick"));
    assert!(of(&back, "illegal_stands").is_empty());
    let again = format!("{ILLEGAL}|+2000 press black|+1000 press white|+1000 lift g8|place g7|press black");
    let told = told("fide-2023", PINNED, rapid(), &again);
    assert_eq!(of(&told, "illegal_stands").len(), 1);
    assert_eq!(moves(&told, "move_completed"), ["g8g7"]);
}

/// An illegal capture: on a board that tells no men the square of the victim is left and filled again.
const CAPTURE: &str = "lift g1|lift c6|place c6|press white";
const CAPTURE_HISTORY: [&str; 4] = ["e2e4", "e7e5", "d2d4", "b8c6"];

fn capture(rules: &str, more: Value, events: &str) -> Vec<Value> {
    let mut header = under(rules);
    header["history"] = json!(CAPTURE_HISTORY);
    for (key, value) in more.as_object().unwrap() {
        header[key] = value.clone();
    }
    facts(header, &paced(&format!("{CAPTURE}|{events}")))
}

const ON: &str = "lift g1|place f3|press white|+800 lift d8|place e7|press black|+2000 tick";

/// L6.13, L7.4a: after a ruling nothing that the board had shown before is a move while the men are put up again, with
/// the clocks stopped or not.
#[test]
fn men_that_are_put_up_after_a_ruling_are_no_move() {
    for rules in ["fide-2005", "fide-2023"] {
        for discipline in ["standard", "rapid"] {
            for board in ["reed", "peg"] {
                for touch in ["+700 tick", "+700 lift d7|+1000 place d7", "+2500 lift d7|+1000 place d7"] {
                    for (stop, start) in [("", ""), ("pause |", "run white|")] {
                        for up in ["lift c6|place g1|place c6", "lift c6|place c6|place g1"] {
                            let name = format!("{rules} {discipline} {board} {touch} {stop}{up}");
                            // In fast play a touch is the reply that the opponent is about to make.
                            if discipline == "rapid" && touch != "+700 tick" {
                                continue;
                            }
                            let events = format!("{touch}|+2000 {stop}arbiter confirm|{up}|{start}{ON}");
                            let more = json!({"discipline": discipline, "board": board});
                            let told = capture(rules, more, &events);
                            assert_eq!(ruled(&told), true, "{name}");
                            assert_eq!(moves(&told, "move_made"), ["g1f3", "d8e7"], "{name}");
                            let completed = of(&told, "move_completed");
                            assert!(completed.iter().all(|fact| fact["how"] == "press"), "{name}");
                            assert_eq!(completed.len(), 2, "{name}");
                            assert!(of(&told, "move_revised").is_empty(), "{name}");
                            assert!(of(&told, "press-idle-side").is_empty(), "{name}");
                            assert!(of(&told, "resume-check").iter().all(|check| check["equal"] == true));
                            assert!(of(&told, "touch-violation").is_empty(), "{name}");
                            let black =
                                of(&told, "obligation").into_iter().filter(|bound| bound["by"] == "black");
                            assert!(
                                black.into_iter().all(|bound| bound["touches"] == json!(["d8"])),
                                "{name}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Who has put the men back already and holds another one when the arbiter rules goes on with it.
#[test]
fn a_man_that_is_in_the_hand_at_the_ruling_is_moved() {
    for held in ["", "lift g1|"] {
        let rest = if held.is_empty() { ON.to_owned() } else { ON.replacen("lift g1|", "", 1) };
        let events = format!("+3000 lift c6|place g1|place c6|{held}arbiter confirm|{rest}");
        let told = capture("fide-2023", json!({}), &events);
        assert_eq!(ruled(&told), true);
        assert_eq!(moves(&told, "move_completed"), ["g1f3", "d8e7"], "{held}");
        assert!(at(&told, 9, "ambiguous-move").is_empty(), "{held}");
        assert!(at(&told, 10, "ambiguous-move").is_empty(), "{held}");
    }
}

/// L4.3-off: what the opponent lifts while an illegal move stands binds him only where that stands; also where its
/// player puts the men back by himself.
#[test]
fn what_the_opponent_lifts_over_an_illegal_move_binds_him_no_more() {
    for rules in ["fide-2005", "fide-2023"] {
        for board in ["reed", "peg"] {
            for signal in ["debounced", "raw"] {
                for up in ["lift c6|place g1|place c6", "lift c6|place c6|place g1"] {
                    for before in ["+1600 ", "+3000 "] {
                        let name = format!("{rules} {board} {signal} {up} {before}");
                        let events = format!("{before}{up}|+500 press black|{ON}");
                        let told = capture(rules, json!({"board": board, "signal": signal}), &events);
                        assert!(of(&told, "touch-violation").is_empty(), "{name}");
                        let violated = of(&told, "claim-window-open");
                        assert!(violated.is_empty(), "{name}");
                        let black =
                            of(&told, "obligation").into_iter().filter(|bound| bound["by"] == "black");
                        assert!(black.into_iter().all(|bound| bound["touches"] == json!(["d8"])), "{name}");
                    }
                }
            }
        }
    }
}

/// L6.14, L7.4b: what a ruling gave belongs to the times of a position as well, whether it came before or after the
/// position was put up again; and a ruling on both times is not undone by asking for them.
#[test]
fn restored_times_keep_what_rulings_gave() {
    let after = |facts: &[Value], calc: &str| -> Vec<Value> {
        calcs(facts, calc).iter().map(|fact| fact["after"].clone()).collect()
    };
    for rules in ["fide-2005", "fide-2023"] {
        for own in [false, true] {
            let game = |more: &str| {
                let mut header = under(rules);
                header["time_control"] = json!("600");
                let start = if own {
                    header["config"] = json!({"clock.kind": "own"});
                    "run white"
                } else {
                    "times 600000 600000 white"
                };
                let rest = GAME.split_once('|').unwrap().1;
                facts(header, &paced(&format!("{start}|{rest}{more}")))
            };
            for (bonus, white, black) in [
                ("penalty bonus white 120000", 579_500, 700_000),
                ("extra-time black 120000", 579_500, 700_000),
                ("extra-time both -60000", 519_500, 520_000),
                ("penalty reduce white 60000", 519_500, 580_000),
            ] {
                for orders in [
                    format!("arbiter restore 3|arbiter {bonus}|arbiter restore-times"),
                    format!("arbiter {bonus}|arbiter restore 3|arbiter restore-times"),
                ] {
                    let told = game(&orders);
                    let expected = [json!(white), json!(black)];
                    assert_eq!(after(&told, "restored"), expected, "{rules} {own} {orders}");
                }
            }
            // Ply 0, where nobody had pressed.
            let told = game("arbiter extra-time white 5000|arbiter restore 0|arbiter restore-times");
            assert_eq!(after(&told, "restored"), [json!(605_000), json!(600_000)], "{rules} {own}");
            // The times of the illegal ply were ruled with its penalty: asking for them changes nothing.
            let found = game("arbiter illegal-found-at-ply 3|pause |arbiter confirm|arbiter restore-times");
            assert!(calcs(&found, "restored").is_empty(), "{rules} {own}");
            assert_eq!(after(&found, "as-ruled"), [json!(579_500), json!(700_000)], "{rules} {own}");
            let asked = game(
                "arbiter illegal-found-at-ply 3|arbiter restore-times|pause |arbiter confirm|arbiter restore-times",
            );
            assert_eq!(after(&asked, "as-ruled"), after(&found, "as-ruled"), "{rules} {own}");
            // A penalty between the two is kept.
            let more =
                game("arbiter illegal-found-at-ply 3|pause |arbiter extra-time black 1000|arbiter confirm");
            assert_eq!(calcs(&more, "illegal")[0]["after"], json!({"opponent": 701_000}), "{rules} {own}");
        }
    }
}

/// A header may tell any count.
#[test]
fn the_largest_count_of_illegal_moves_is_no_trouble() {
    for side in ["white", "black"] {
        let more = json!({"given": {"illegal": {side: u32::MAX}}});
        let told = told("fide-2023", PINNED, more, &format!("{ILLEGAL}|+2000 arbiter confirm"));
        assert_eq!(ruled(&told), true);
        let n = if side == "white" { json!(u32::MAX) } else { json!(1) };
        assert_eq!((&of(&told, "illegal_move")[0]["n"], &of(&told, "penalty")[0]["n"]), (&n, &n));
    }
}
