//! Moves that were pressed over before their last part was done: castling whose rook has not come, a capture en
//! passant whose victim still stands. They are incomplete until it is done, whatever is played meanwhile, and a ruling
//! takes them back (L3.7d, L4.6b, L6.13, L7.4a).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{of, told};
use serde_json::{Value, json};

const EDITIONS: [&str; 2] = ["fide-2005", "fide-2023"];

fn moves<'a>(facts: &'a [Value], kind: &str) -> Vec<&'a Value> {
    of(facts, kind).into_iter().map(|fact| &fact["uci"]).collect()
}

/// How each completed move was completed.
fn completed(facts: &[Value]) -> Vec<(&str, &str)> {
    of(facts, "move_completed")
        .into_iter()
        .map(|fact| (fact["uci"].as_str().unwrap(), fact["how"].as_str().unwrap()))
        .collect()
}

fn ruled(facts: &[Value]) -> &Value {
    &of(facts, "arbiter_entry").last().unwrap()["accepted"]
}

/// A half move: the position, what stands on which square for a board that tells it, its two steps, the last part of
/// it, and moves that are played over it, the opponent's first.
struct Half {
    fen: &'static str,
    more: fn() -> Value,
    by: &'static str,
    uci: &'static str,
    begun: &'static str,
    rest: &'static str,
    on: [&'static str; 6],
}

const CASTLING: Half = Half {
    fen: "r3k2r/p6p/8/8/8/8/P6P/R3K2R w KQkq - 0 1",
    more: || json!({}),
    by: "white",
    uci: "e1g1",
    begun: "lift e1|place g1",
    rest: "lift h1|place f1",
    on: ["a7 a6 p", "a2 a3 P", "a6 a5 p", "a3 a4 P", "h7 h6 p", "h2 h3 P"],
};

const BLACK: Half = Half {
    fen: "r3k2r/p6p/8/8/8/8/P6P/R3K2R b KQkq - 0 1",
    by: "black",
    uci: "e8c8",
    begun: "lift e8|place c8",
    rest: "lift a8|place d8",
    on: ["a2 a3 P", "a7 a6 p", "a3 a4 P", "a6 a5 p", "h2 h3 P", "h7 h6 p"],
    ..CASTLING
};

const CHESS960: Half = Half {
    fen: "1k6/p6p/8/8/8/8/P6P/1K5R w H - 0 1",
    more: || json!({"variant": "chess960"}),
    uci: "b1h1",
    begun: "lift b1|place g1",
    ..CASTLING
};

const EN_PASSANT: Half = Half {
    fen: "4k3/p6p/8/3pP3/8/8/P6P/4K3 w - d6 0 1",
    uci: "e5d6",
    begun: "lift e5|place d6",
    rest: "lift d5",
    ..CASTLING
};

const ALL: [&Half; 4] = [&CASTLING, &BLACK, &CHESS960, &EN_PASSANT];

impl Half {
    fn opponent(&self) -> &'static str {
        if self.by == "white" { "black" } else { "white" }
    }

    /// The first so many moves that are played over it, each pressed.
    fn played(&self, plies: usize) -> String {
        let sides = [self.opponent(), self.by];
        let one = |(ply, text): (usize, &&str)| {
            let [from, to, _] = text.split(' ').collect::<Vec<_>>()[..] else { panic!("{text}") };
            format!("|+2500 lift {from}|place {to}|press {}", sides[ply % 2])
        };
        self.on.iter().take(plies).enumerate().map(one).collect()
    }

    /// What puts those moves, and the king or the pawn, back.
    fn put_back(&self, plies: usize) -> String {
        let back = |from: &str, to: &str| format!("|lift {to}|place {from}");
        let mut text = String::new();
        for one in self.on.iter().take(plies).rev() {
            let [from, to, _] = one.split(' ').collect::<Vec<_>>()[..] else { panic!("{one}") };
            text.push_str(&back(from, to));
        }
        let (from, to) = self.begun.split_once('|').unwrap();
        text + &back(from.trim_start_matches("lift "), to.trim_start_matches("place "))
    }

    fn told(&self, rules: &str, more: Value, events: &str) -> Vec<Value> {
        let mut header = (self.more)();
        for (key, value) in more.as_object().unwrap() {
            header[key] = value.clone();
        }
        let events = if header["board"] == "dgt" { self.with_men(events) } else { events.to_owned() };
        told(rules, self.fen, header, &events)
    }

    /// The same events on a board that tells its men.
    fn with_men(&self, events: &str) -> String {
        let board: shakmaty::Board = self.fen.split(' ').next().unwrap().parse().unwrap();
        let mut men = board;
        let mut hand = None;
        let one = |event: &str| {
            let (wait, event) = match event.strip_prefix('+').and_then(|rest| rest.split_once(' ')) {
                Some((step, event)) => (format!("+{step} "), event),
                None => (String::new(), event),
            };
            let (verb, rest) = event.split_once(' ').unwrap_or((event, ""));
            match verb {
                "lift" => {
                    let square = rest.parse().unwrap();
                    hand = men.piece_at(square);
                    men.discard_piece_at(square);
                    format!("{wait}piece {rest}")
                }
                "place" => {
                    let man = hand.unwrap();
                    men.set_piece_at(rest.parse().unwrap(), man);
                    format!("{wait}piece {rest} {}", man.char())
                }
                _ => format!("{wait}{event}"),
            }
        };
        events.split('|').map(one).collect::<Vec<_>>().join("|")
    }
}

/// It is no move, however long the game goes on, and the arbiter may rule on it at any time.
#[test]
fn what_is_incomplete_becomes_no_move_by_what_is_played_after_it() {
    for half in ALL {
        for rules in EDITIONS {
            for board in ["reed", "peg", "dgt"] {
                for plies in [2, 3, 6] {
                    let name = format!("{} {rules} {board} {plies}", half.uci);
                    let on = half.played(plies);
                    let events = format!("{}|press {}{on}|+9000 tick|arbiter confirm", half.begun, half.by);
                    let told = half.told(rules, json!({"board": board}), &events);
                    assert!(of(&told, "move_made").is_empty(), "{name}");
                    assert!(of(&told, "sensor-faulty").is_empty(), "{name}");
                    let illegal = of(&told, "illegal_move");
                    assert_eq!((illegal.len(), &illegal[0]["kind"]), (1, &json!("incomplete")), "{name}");
                    assert_eq!(ruled(&told), true, "{name}");
                    assert_eq!(of(&told, "restore").last().unwrap()["ply"], 0, "{name}");
                }
            }
        }
    }
}

/// When its last part is done at last, it is made, and what was played over it stands.
#[test]
fn what_is_finished_later_is_made_with_what_was_played_over_it() {
    for half in ALL {
        for board in ["reed", "dgt"] {
            let events =
                format!("{}|press {}{}|+2000 {}|+3000 tick", half.begun, half.by, half.played(5), half.rest);
            let told = half.told("fide-2023", json!({"board": board}), &events);
            let made = moves(&told, "move_completed");
            assert_eq!((made.len(), made[0]), (6, &json!(half.uci)), "{} {board}", half.uci);
        }
    }
}

/// A ruling takes it back with all that was played over it: men that are put up again make no move, in any order, with
/// the clocks stopped or not, and what follows is pressed anew.
#[test]
fn what_is_ruled_on_is_played_anew() {
    for half in ALL {
        for rules in EDITIONS {
            for board in ["reed", "dgt"] {
                for (stop, start) in [("", ""), ("|pause ", "|run SIDE")] {
                    for plies in [0, 1, 3] {
                        let name = format!("{} {rules} {board} {stop} {plies}", half.uci);
                        let events = format!(
                            "{}|press {}{}|+2500 tick{stop}|arbiter confirm{}{}|+800 {}|{}|+600 press {}|+3000 tick",
                            half.begun,
                            half.by,
                            half.played(plies),
                            half.put_back(plies),
                            start.replace("SIDE", half.by),
                            half.begun,
                            half.rest,
                            half.by
                        );
                        let told = half.told(rules, json!({"board": board}), &events);
                        assert_eq!(ruled(&told), true, "{name}");
                        assert_eq!(completed(&told), [(half.uci, "press")], "{name}");
                        assert_eq!(moves(&told, "move_made"), [half.uci], "{name}");
                        assert!(of(&told, "press-idle-side").is_empty(), "{name}");
                        assert!(of(&told, "press-over-mismatch").is_empty(), "{name}");
                        assert!(of(&told, "ambiguous-move").is_empty(), "{name}");
                        assert!(
                            of(&told, "resume-check").iter().all(|check| check["equal"] == true),
                            "{name}"
                        );
                    }
                }
            }
        }
    }
}

/// Nor is the press that a ruling or the opponent has undone one of the move that is finished from where it stood.
#[test]
fn what_is_finished_after_its_press_was_undone_is_pressed_anew() {
    for half in ALL {
        for board in ["reed", "dgt"] {
            for undone in [
                "+3000 arbiter confirm".to_owned(),
                format!("+3000 arbiter confirm|run {}", half.by),
                format!("+3000 run {}", half.by),
                format!("+3000 press {}", half.opponent()),
                format!("+300 press {}", half.opponent()),
            ] {
                let name = format!("{} {board} {undone}", half.uci);
                let events = format!(
                    "{}|press {}|{undone}|+800 {}|+2000 press {}|+3000 tick",
                    half.begun, half.by, half.rest, half.by
                );
                let told = half.told("fide-2023", json!({"board": board}), &events);
                assert_eq!(completed(&told), [(half.uci, "press")], "{name}");
                assert!(of(&told, "ambiguous-move").is_empty(), "{name}");
                assert!(of(&told, "press-idle-side").is_empty(), "{name}");
            }
        }
    }
}

/// The time of a move that was pressed anew is that of its own press.
#[test]
fn a_castling_that_was_pressed_anew_has_the_time_of_its_own_press() {
    let more = json!({"time_control": "600", "config": {"clock.kind": "own"}});
    let events = format!(
        "run white|+3000 {}|press white|+3000 arbiter confirm|+1000 run white|+1000 {}|+9000 press white",
        CASTLING.begun, CASTLING.rest
    );
    let told = CASTLING.told("fide-2023", more, &events);
    let completed = of(&told, "move_completed");
    assert_eq!((completed.len(), &completed[0]["clock_ms"]), (1, &json!(585_500)));
}

/// In fast play it stands once the opponent moves on, in Chess960 as well: the king has made a step.
#[test]
fn half_a_castling_of_chess960_stands_in_fast_play() {
    for (rules, discipline) in [("fide-2005", "rapid"), ("fide-2023", "blitz")] {
        for wait in [300, 900, 2500] {
            for board in ["reed", "dgt"] {
                let name = format!("{rules} {discipline} {wait} {board}");
                let events = format!(
                    "{}|press white|+{wait} lift a7|place a6|+900 press black|+900 lift a2|place a3|press white",
                    CHESS960.begun
                );
                let more = json!({"discipline": discipline, "board": board});
                let told = CHESS960.told(rules, more, &events);
                let stands = of(&told, "illegal_stands");
                assert_eq!(stands.len(), 1, "{name}");
                assert_eq!(stands[0]["fen"], "1k6/p6p/8/8/8/8/P6P/6KR b - - 1 1", "{name}");
                assert_eq!(stands[0]["attempt"], "b1h1", "{name}");
                assert_eq!(moves(&told, "move_completed"), ["a7a6", "a2a3"], "{name}");
            }
        }
    }
}

/// A sensor that sticks looks the same: the arbiter says that it is no illegal move, and the game is read on.
#[test]
fn a_move_that_the_arbiter_finds_complete_is_read_on() {
    let events =
        format!("{}|press white{}|+2000 arbiter reject|+9000 tick", EN_PASSANT.begun, EN_PASSANT.played(4));
    let told = EN_PASSANT.told("fide-2023", json!({}), &events);
    assert_eq!(ruled(&told), true);
    assert_eq!(moves(&told, "move_completed"), ["e5d6", "a7a6", "a2a3", "a6a5"]);
}
