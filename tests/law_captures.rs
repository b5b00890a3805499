//! Captures that are not legal, and moves that the board leaves open: nothing is read into them that the board does not
//! show, the opponent's answer is his, and the arbiter is asked for what fits alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{at, of, told};
use serde_json::{Value, json};

fn moves(facts: &[Value], kind: &str) -> Vec<String> {
    of(facts, kind).iter().map(|fact| fact["uci"].as_str().unwrap().to_owned()).collect()
}

fn candidates(facts: &[Value]) -> Vec<&Value> {
    of(facts, "ambiguous-move").iter().map(|fact| &fact["candidates"]).collect()
}

/// A game in fast play: the position, the illegal capture, the man that answers, from where and to where, and who
/// plays on, from where and to where.
type Answered = (&'static str, &'static str, [&'static str; 3], [&'static str; 3]);

/// The knight is pinned.
const WHITE: Answered = (
    "4r1k1/7p/8/8/8/2p5/4N3/4K3 w - - 0 1",
    "lift e2|lift c3|place c3|press white",
    ["black", "g8", "g7"],
    ["white", "e1", "f2"],
);
const BLACK: Answered = (
    "4k3/4n3/2P5/8/8/8/7P/4R1K1 b - - 0 1",
    "lift c6|lift e7|place c6|press black",
    ["white", "g1", "g2"],
    ["black", "e8", "f7"],
);

/// A.5.2 (2005: B.6, C.3): an illegal capture stands when the opponent moves on, however soon he does.
#[test]
fn an_illegal_capture_that_is_answered_at_once_stands_in_fast_play() {
    for (fen, taken, [opponent, from, to], [player, next_from, next_to]) in [WHITE, BLACK] {
        for (rules, discipline) in [("fide-2023", "rapid"), ("fide-2005", "blitz"), ("ua", "rapid")] {
            for (board, signal) in [("reed", "debounced"), ("reed", "raw"), ("peg", "debounced")] {
                // The answer is pressed before it is known that nothing follows, lies about that moment, or after it.
                for (wait, think) in
                    [(200, 2000), (400, 2000), (1000, 500), (1400, 500), (1600, 500), (200, 100)]
                {
                    let more = json!({"board": board, "discipline": discipline, "signal": signal});
                    let events = format!(
                        "{taken}|+{wait} lift {from}|+300 place {to}|+200 press {opponent}\
                         |+{think} lift {next_from}|+300 place {next_to}|+200 press {player}"
                    );
                    let told = told(rules, fen, more, &events);
                    let name = format!("{rules} {discipline} {board} {signal} {events}");
                    assert_eq!(of(&told, "illegal_stands").len(), 1, "{name}");
                    let completed = [format!("{from}{to}"), format!("{next_from}{next_to}")];
                    assert_eq!(moves(&told, "move_completed"), completed, "{name}");
                    for quiet in ["press-over-mismatch", "ambiguous-move"] {
                        assert!(of(&told, quiet).is_empty(), "{name}: {quiet}");
                    }
                }
            }
        }
    }
}

/// The rook takes along the rank of its king and across the board; it has one legal move.
const ROOK: &str = "5k1r/7p/8/8/8/8/8/3QK3 b - - 0 1";
const ROOK_TAKES: &str = "lift h8|lift d1|place d1|press black";

/// R9, R13, L7.4a: what was found illegal is not read as a move that its man might have made, whatever the opponent
/// takes up, and nobody is asked which one it was.
#[test]
fn nothing_is_read_into_an_illegal_capture() {
    let pawn = "4k3/p6p/8/8/8/4P3/8/2B1K3 b - - 0 1";
    for (fen, taken, attempt) in
        [(ROOK, ROOK_TAKES, "h8d1"), (pawn, "lift a7|lift e3|place e3|press black", "a7e3")]
    {
        for (rules, discipline) in [
            ("fide-2023", "standard"),
            ("fide-2005", "standard"),
            ("fide-2023", "rapid"),
            ("fide-2005", "rapid"),
        ] {
            let to = &attempt[2..];
            for (wait, touched) in [(400, "e1"), (2000, "e1"), (400, to), (2000, to)] {
                let more = json!({"discipline": discipline});
                let events =
                    format!("{taken}|+{wait} lift {touched}|place {touched}|press white|+3000 press black");
                let told = told(rules, fen, more, &events);
                let name = format!("{rules} {discipline} {events}: {told:?}");
                assert!(of(&told, "move_made").is_empty(), "{name}");
                let illegal = of(&told, "illegal_move");
                assert_eq!((illegal.len(), &illegal[0]["attempt"]), (1, &json!(attempt)), "{name}");
                for quiet in ["ambiguous-move", "ambiguous", "man-missing"] {
                    assert!(of(&told, quiet).is_empty(), "{name}: {quiet}");
                }
            }
        }
    }
}

/// The illegal capture is captured itself: that is the opponent's answer in fast play, and no move in standard play.
#[test]
fn an_illegal_capture_is_recaptured() {
    let events =
        format!("{ROOK_TAKES}|+2000 lift d1|lift e1|place d1|press white|+1000 lift f8|place f7|press black");
    for rules in ["fide-2005", "fide-2023"] {
        let fast = told(rules, ROOK, json!({"discipline": "rapid"}), &events);
        assert_eq!(at(&fast, 5, "illegal_stands").len(), 1, "{rules}");
        assert_eq!(moves(&fast, "move_completed"), ["e1d1", "f8f7"], "{rules}");
        let standard = told(rules, ROOK, json!({}), &events);
        assert!(of(&standard, "move_made").is_empty(), "{rules}");
        // A move that would be legal is no second illegal one.
        assert_eq!(of(&standard, "illegal_move").len(), 1, "{rules}");
        assert_eq!(of(&standard, "press-over-mismatch").len(), 1, "{rules}");
    }
}

/// L6.13: what is put up again while the clocks stand is no move, and the press that follows is the one of the real
/// move.
#[test]
fn an_illegal_capture_is_put_back_without_becoming_a_move() {
    let back = "lift d1|place h8|place d1";
    let other = "lift d1|place d1|place h8";
    for rules in ["fide-2005", "fide-2023"] {
        for touch in ["", "lift e1|place e1|"] {
            for put in [back, other] {
                for stop in [
                    format!("+600 pause|{touch}+1000 {put}|run black"),
                    format!("+2000 pause|{touch}{put}|run black"),
                    format!("+2000 {touch}press white|{put}"),
                ] {
                    let events = format!("{ROOK_TAKES}|{stop}|+1000 lift h8|place g8|press black");
                    let told = told(rules, ROOK, json!({}), &events);
                    let name = format!("{rules} {events}: {told:?}");
                    let made = of(&told, "move_made");
                    assert_eq!(moves(&told, "move_made"), ["h8g8"], "{name}");
                    let placed = events.split('|').count() as i64 - 2;
                    assert_eq!(made[0]["ev"], placed, "{name}");
                    let completed = of(&told, "move_completed");
                    assert_eq!(completed[0]["how"], "press", "{name}");
                    assert_eq!(completed[0]["ev"], placed + 1, "{name}");
                    for quiet in ["press-idle-side", "ambiguous-move", "move_revised"] {
                        assert!(of(&told, quiet).is_empty(), "{name}: {quiet}");
                    }
                }
            }
        }
    }
}

/// The same on a board that tells its men, where players press: the man that stands wrong is no reason to say that it
/// stands elsewhere.
#[test]
fn a_man_that_is_seen_is_not_said_to_stand_elsewhere() {
    let fen = "4k3/p6p/8/8/8/8/4P2P/2B1K3 w - - 0 1";
    let before = "piece h2|piece h3 P|press white|piece h7|piece h6 p|press black|piece h3|piece h4 P|press white\
                  |piece h6|piece h5 p|press black|piece e2|piece e3 P|press white";
    let put_back = "piece e3|+1200 piece a7 p|+1400 piece e3 P";
    for rules in ["fide-2005", "fide-2023"] {
        for illegal in ["piece a7|+1400 piece e3|+700 piece e3 p", "piece a7|+1400 piece c4 p"] {
            let put_back = if illegal.ends_with("c4 p") { "piece c4|+1200 piece a7 p" } else { put_back };
            let begun =
                format!("{before}|{illegal}|+900 press black|+800 piece c1|+900 piece c1 B|+900 press white");
            let events = format!("{begun}|+900 {put_back}|+700 piece a7|+1100 piece a6 p|press black");
            let told = told(rules, fen, json!({"board": "dgt"}), &events);
            let placed = events.split('|').count() as i64 - 2;
            let made = of(&told, "move_made");
            let last = made.last().unwrap();
            assert_eq!(
                (made.len(), &last["uci"], &last["ev"]),
                (6, &json!("a7a6"), &json!(placed)),
                "{rules}"
            );
            assert_eq!(of(&told, "move_completed").last().unwrap()["ev"], placed + 1, "{rules}");
            for quiet in ["ambiguous-move", "press-over-mismatch", "press-idle-side"] {
                assert!(of(&told, quiet).is_empty(), "{rules}: {quiet}");
            }
        }
    }
}

/// NA5.2, R13: who answers an illegal move that stands has lifted one man, and no other one may have gone there.
#[test]
fn the_answer_to_an_illegal_move_that_stands_is_plain() {
    let white = json!(["e2e4", "e7e5"]);
    let black = json!(["e2e4", "e7e5", "g1f3"]);
    for (history, events, answer) in [
        (
            white,
            "lift f1|place b6|press white|+2000 lift g8|+700 place f6|press black|+900 lift g1|place f3|press white",
            "g8f6",
        ),
        (
            black,
            "lift f8|place b3|press black|+2000 lift b1|+700 place c3|press white|+900 lift b8|place c6|press black",
            "b1c3",
        ),
    ] {
        for signal in ["raw", "debounced"] {
            for discipline in ["rapid", "blitz"] {
                let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
                let more = json!({"history": history, "signal": signal, "discipline": discipline});
                let told = told("fide-2023", start, more, events);
                assert_eq!(of(&told, "illegal_stands").len(), 1, "{signal} {discipline}");
                assert_eq!(moves(&told, "move_completed")[0], answer, "{signal} {discipline}");
                assert!(of(&told, "ambiguous").is_empty(), "{signal} {discipline}: {told:?}");
                // It is published when it is pressed, since nothing else fits.
                assert_eq!(at(&told, 5, "move_published").len(), 1, "{signal} {discipline}");
            }
        }
    }
}

/// X7, R13: the knight takes one of two pawns, and no sensor tells which. The reply decides it, and nobody is asked about
/// squares on which no man stands.
#[test]
fn what_the_reply_decides_is_not_asked_with_moves_that_the_board_does_not_show() {
    let white = ("4k3/3p1p2/8/4N3/8/8/8/4K3 w - - 0 1", "lift e5|press white", "d7|place d5", "black");
    let black = ("4k3/8/8/8/4n3/8/3P1P2/4K3 b - - 0 1", "lift e4|press black", "d2|place d4", "white");
    for (fen, taken, reply, opponent) in [white, black] {
        for rules in ["fide-2005", "fide-2023"] {
            for wait in [500, 3000] {
                let events = format!("{taken}|+{wait} lift {reply}|+{wait} press {opponent}|+3000 tick");
                let told = told(rules, fen, json!({}), &events);
                assert_eq!(candidates(&told).len(), 1, "{rules} {events}: {told:?}");
                assert_eq!(of(&told, "ambiguous-move")[0]["ev"], 1, "{rules} {events}");
                assert_eq!(of(&told, "move_completed").len(), 2, "{rules} {events}");
            }
        }
    }
}

/// R9, R13, X7: a reply that is legal after none of the moves that were asked about makes none of another move, and is
/// found illegal when the arbiter names the one that was made.
#[test]
fn an_illegal_reply_bends_no_move_before_it() {
    // Each capture gives check, and the pawn does not answer it.
    let black = (
        "4k3/7p/8/4n3/8/3P1P2/7P/4K3 b - - 0 1",
        "lift e5|press black|+2000 lift h2|place h3|press white",
        ["e5d3", "e5f3"],
        "h2h3",
        "lift h7|place h6|press black",
    );
    let white = (
        "4k3/7p/3p1p2/8/4N3/8/7P/4K3 w - - 0 1",
        "lift e4|press white|+2000 lift h7|place h6|press black",
        ["e4d6", "e4f6"],
        "h7h6",
        "lift h2|place h3|press white",
    );
    for (fen, events, fitting, reply, next) in [black, white] {
        for rules in ["fide-2005", "fide-2023"] {
            for named in fitting {
                let told_of = |more: &str| {
                    told(
                        rules,
                        fen,
                        json!({}),
                        &format!("{events}|{more}+1000 arbiter move {named}|+3000 tick"),
                    )
                };
                for more in [String::new(), format!("+1000 {next}|")] {
                    let told = told_of(&more);
                    let name = format!("{rules} {named} {more}: {told:?}");
                    assert_eq!(of(&told, "arbiter_entry")[0]["accepted"], true, "{name}");
                    assert_eq!(candidates(&told), [&json!(fitting)], "{name}");
                    assert_eq!(moves(&told, "move_made"), [named], "{name}");
                    assert!(of(&told, "move_revised").is_empty(), "{name}");
                }
                let told = told_of("");
                let illegal = of(&told, "illegal_move");
                assert_eq!((illegal.len(), &illegal[0]["attempt"]), (1, &json!(reply)), "{rules} {named}");
                assert!(at(&told, 5, "ambiguous").is_empty(), "what was named is no question");
            }
        }
    }
}

/// X1, R13: the man that was seen to leave its square while the capturer was in the air is another one than the legal
/// capture takes. The arbiter is asked which it was.
#[test]
fn a_legal_capture_that_nobody_saw_may_be_an_illegal_one_that_was_seen() {
    let white =
        ("4r1k1/7p/4p3/8/8/2p5/4N3/3K4 w - - 0 1", "lift e2|lift e6|place e6|press white", ["e2c3", "e2e6"]);
    let black =
        ("3k4/4n3/2P5/8/8/4P3/7P/4R1K1 b - - 0 1", "lift e7|lift e3|place e3|press black", ["e7c6", "e7e3"]);
    for (fen, events, asked) in [white, black] {
        for (rules, discipline) in [("fide-2023", "standard"), ("fide-2005", "rapid")] {
            let told = told(rules, fen, json!({"discipline": discipline}), events);
            assert_eq!(candidates(&told), [&json!(asked)], "{rules} {discipline}");
        }
    }
}

/// 4.4.2, 4.7 (2005: 4.4b, 4.6): the rook was released, and then the king was moved to castle: it has to stay there.
#[test]
fn a_rook_that_was_released_stays_where_castling_is_not_allowed() {
    let fen = "r3k2r/p6p/8/8/8/8/P6P/R3K2R w KQkq - 0 1";
    for rules in ["fide-2005", "fide-2023"] {
        let released = "lift h1|place f1|+600 lift e1|place g1|press white";
        let told_of = |events: &str| told(rules, fen, json!({}), events);
        assert_eq!(of(&told_of(released), "touch-violation")[0]["required"], json!(["h1f1"]), "{rules}");
        // One that was only touched may still go where it likes.
        let touched = told_of("lift h1|place h1|+600 lift e1|place g1|lift h1|place f1|press white");
        assert_eq!(of(&touched, "touch-violation")[0]["required"], json!(["h1f1", "h1g1"]), "{rules}");
        let upheld = told_of(&format!("{released}|+500 button claim-touch-black|+500 arbiter confirm"));
        assert_eq!(of(&upheld, "obligation").last().unwrap()["legal"], json!(["h1f1"]), "{rules}");
    }
}
