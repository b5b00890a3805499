//! Where contacts leave several games open, chess decides which one is told, and no more than that: the game
//! stays in doubt and nothing of it is published.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::{Value, json};
use touchmoved::{
    replay::{Emit, Replay},
    session::{io::Input, setup::INITIAL_FEN},
    wire::sensor_log,
};

/// A sensor log in which every line comes half a second after the last.
struct Log(Vec<String>);

impl Log {
    fn new() -> Log {
        Log(vec![json!({ "sensor_log": 1, "start_fen": INITIAL_FEN }).to_string()])
    }

    fn put(&mut self, mut event: Value) {
        event["us"] = json!(self.0.len() * 500_000);
        self.0.push(event.to_string());
    }

    /// Moves of both players in turn, White first; where a move names one square only, nobody sees the man land.
    fn play(mut self, moves: &str) -> Log {
        for (side, uci) in ["white", "black"].into_iter().cycle().zip(moves.split(' ')) {
            self.put(json!({ "sq": uci[..2], "occ": 0 }));
            if let Some(to) = uci.get(2..).filter(|to| !to.is_empty()) {
                self.put(json!({ "sq": to, "occ": 1 }));
            }
            self.put(json!({ "clock": side }));
        }
        self
    }

    /// What is put out: the published moves, and the last line.
    fn replay(&self) -> (Vec<String>, Value) {
        let setup = sensor_log::parse_header(&self.0[0]).unwrap();
        let mut replay = Replay::new(&setup, Emit::Moves, None).unwrap();
        for line in &self.0[1..] {
            let stamped = sensor_log::parse_event(line).unwrap();
            replay.input(stamped.at, &Input::Event(stamped.unit, stamped.event)).unwrap();
        }
        replay.finish().unwrap();
        let out = replay.take_output();
        let mut lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let last = lines.pop().unwrap();
        let moves = lines.iter().filter_map(|line| line["move"].as_str()).map(str::to_owned).collect();
        (moves, last)
    }
}

fn final_moves(last: &Value) -> Vec<&str> {
    last["final"].as_array().unwrap().iter().map(|uci| uci.as_str().unwrap()).collect()
}

/// The knight went to e2, f3 or h3. Only from h3 it could not have taken the queen.
#[test]
fn a_queen_that_nobody_takes_was_not_attacked() {
    let (published, last) = Log::new().play("e2e4 e7e6 g1 d8f6 a2a3 f6d4 a3a4 d4b6 b2b3 b6c6").replay();
    assert_eq!(
        final_moves(&last),
        ["e2e4", "e7e6", "g1h3", "d8f6", "a2a3", "f6d4", "a3a4", "d4b6", "b2b3", "b6c6"]
    );
    assert_eq!(published, ["e2e4", "e7e6"]);
    assert_eq!(last["certain"], json!(false));
    assert!(last["doubts"].as_array().unwrap().contains(&json!(3)), "{last}");
}

/// The same, but the queen is never where a knight could take it: contacts alone decide, by the order of the squares.
#[test]
fn nothing_is_decided_where_chess_says_nothing() {
    let (published, last) = Log::new().play("e2e4 e7e6 g1 a7a6 a2a3 a6a5 a3a4").replay();
    assert_ne!(final_moves(&last)[2], "g1h3");
    assert_eq!(published, ["e2e4", "e7e6"]);
    assert_eq!(last["certain"], json!(false));
}

/// A knight that comes down where everybody sees it stays there, however odd that is.
#[test]
fn what_was_seen_is_never_decided_by_chess() {
    let moves = "e2e4 e7e6 g1f3 d8f6 a2a3 f6d4 a3a4 d4b6 b2b3 b6c6";
    let (published, last) = Log::new().play(moves).replay();
    assert_eq!(published, moves.split(' ').collect::<Vec<_>>());
    assert_eq!(final_moves(&last), moves.split(' ').collect::<Vec<_>>());
    assert_eq!(last["certain"], json!(true));
}
