//! One game on two boards: whoever has the move makes it on his own board, the other board mirrors it. What
//! is mirrored is no touch, a board that fails or lags is told to the arbiter.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/games.rs"]
mod games;

use std::iter;

use proptest::prelude::*;
use serde_json::{Value, json};
use shakmaty::{CastlingMode, Chess, Color, Move, Position as _, Square, uci::UciMove};
use touchmoved::{
    game::Board,
    session::{fact::Fact, io::Input, time::MonoTime},
    simulate::params::Level,
    wire::sensor_log,
};

use games::{cases, level};

/// A game on two boards: lines of a sensor log, and the boards' hands.
struct Hall {
    board: Board,
    at_ms: u64,
    facts: Vec<Value>,
}

impl Hall {
    fn new(header: Value) -> Hall {
        let mut header = header;
        header["sensor_log"] = json!(1);
        header["board"] = json!("two-board");
        let setup = sensor_log::parse_header(&header.to_string()).unwrap();
        Hall { board: Board::new(&setup).unwrap(), at_ms: 0, facts: Vec::new() }
    }

    fn put(&mut self, mut line: Value) {
        self.at_ms += 700;
        line["us"] = json!(self.at_ms * 1000);
        let stamped = sensor_log::parse_event(&line.to_string()).unwrap();
        self.board.input(stamped.at, &Input::Event(stamped.unit, stamped.event));
        self.take();
    }

    fn take(&mut self) {
        let told = iter::from_fn(|| self.board.poll_fact());
        self.facts.extend(told.map(|fact: Fact| fact.to_value()));
    }

    fn lift(&mut self, unit: &str, square: Square) {
        self.put(json!({"sq": square.to_string(), "occ": 0, "board": unit}));
    }

    fn place(&mut self, unit: &str, square: Square) {
        self.put(json!({"sq": square.to_string(), "occ": 1, "board": unit}));
    }

    /// `-e2 +e4` on a board.
    fn hands(&mut self, unit: &str, motions: &str) {
        for motion in motions.split_whitespace() {
            let square = motion[1..].parse().unwrap();
            if motion.starts_with('-') { self.lift(unit, square) } else { self.place(unit, square) }
        }
    }

    fn press(&mut self, side: &str) {
        self.put(json!({"clock": side}));
    }

    fn wait(&mut self, ms: u64) {
        self.at_ms += ms;
        self.board.advance(MonoTime::ZERO.plus_ms(self.at_ms));
        self.take();
    }

    fn of(&self, kind: &str) -> Vec<&Value> {
        self.facts.iter().filter(|fact| fact["fact"] == kind || fact["code"] == kind).collect()
    }

    fn moves(&self) -> Vec<String> {
        self.board.session().plies().map(|record| record.uci.to_string()).collect()
    }
}

#[test]
fn each_player_moves_on_his_own_board() {
    let mut hall = Hall::new(json!({}));
    hall.hands("A", "-e2 +e4");
    hall.press("white");
    hall.hands("B", "-e2 +e4 -e7 +e5");
    hall.press("black");
    hall.hands("A", "-e7 +e5 -g1 +f3");
    hall.press("white");
    hall.wait(1000);
    assert_eq!(hall.moves(), ["e2e4", "e7e5", "g1f3"]);
    let touches: Vec<&Value> = hall.of("touch").iter().map(|fact| &fact["square"]).collect();
    assert_eq!(touches, ["e2", "e7", "g1"]);
    // The board of the blind player defines the touch, the other one bounds it.
    let certainties: Vec<&Value> = hall.of("touch").iter().map(|fact| &fact["certainty"]).collect();
    assert_eq!(certainties, ["sensor", "law", "sensor"]);
    assert_eq!(hall.of("obligation")[1]["certainty"], "law");
}

#[test]
fn the_boards_may_be_the_other_way_round() {
    let boards =
        json!([{"id": "A", "kind": "peg", "side": "black"}, {"id": "B", "kind": "reed", "side": "white"}]);
    let mut hall = Hall::new(json!({ "boards": boards }));
    // Before White has moved, Black's board tells nothing of the game.
    hall.hands("A", "-e7 +e7");
    assert!(hall.of("touch").is_empty());
    hall.hands("B", "-d2 +d4");
    hall.press("white");
    hall.hands("A", "-d2 +d4 -d7 +d5");
    hall.press("black");
    assert_eq!(hall.moves(), ["d2d4", "d7d5"]);
    assert_eq!(hall.of("touch")[1]["certainty"], "law");
}

#[test]
fn a_capture_is_mirrored_although_its_square_stays_filled() {
    let mut hall = Hall::new(json!({"history": ["e2e4", "d7d5"]}));
    hall.hands("A", "-d5 -e4 +d5");
    hall.press("white");
    hall.hands("B", "-d5 -e4 +d5 -d8 -d5 +d5");
    hall.press("black");
    assert_eq!(hall.moves(), ["e4d5", "d8d5"]);
    let touches: Vec<&Value> = hall.of("touch").iter().map(|fact| &fact["square"]).collect();
    assert_eq!(touches, ["d5", "e4", "d8", "d5"]);
}

#[test]
fn adjusting_on_the_blind_players_board_is_adjusting() {
    let mut hall = Hall::new(json!({"history": ["e2e4"]}));
    hall.put(json!({"button": "jadoube-black"}));
    hall.hands("B", "-e7 +e7");
    assert_eq!(hall.of("adjust").len(), 1);
    assert!(hall.of("obligation").is_empty());
}

#[test]
fn a_mirror_that_goes_wrong_is_told_with_the_way_back() {
    let mut hall = Hall::new(json!({"time_control": "5400+30"}));
    hall.hands("A", "-e2 +e4");
    hall.press("white");
    hall.hands("B", "-e2 +e3");
    hall.wait(59_000);
    assert!(hall.of("boards-diverged").is_empty());
    hall.wait(2_000);
    assert_eq!(hall.of("boards-diverged")[0]["squares"], json!(["e3", "e4"]));
    let boards = hall.of("boards")[0];
    assert_eq!(boards["a"]["state"], "in-step");
    assert_eq!(boards["b"]["state"], "diverged");
    assert_eq!((&boards["ply"], &boards["to"]), (&json!(0), &json!("arbiter")));
    assert!(boards["white_ms"].is_u64() && boards["black_ms"].is_u64());
    // Nothing of it was a move or a touch, and putting it right is none either.
    hall.hands("B", "-e3 +e4");
    hall.wait(1_000);
    assert_eq!(hall.of("boards-agree").len(), 1);
    assert_eq!(hall.moves(), ["e2e4"]);
    assert_eq!(hall.of("touch").len(), 1);
}

#[test]
fn a_board_that_lags_is_behind() {
    let mut hall = Hall::new(json!({}));
    hall.hands("A", "-e2 +e4");
    hall.press("white");
    hall.put(json!({"arbiter": "boards"}));
    let boards = hall.of("boards")[0];
    assert_eq!(boards["b"], json!({"state": "behind", "plies": 1}));
    assert_eq!(boards["ply"], 0);
    assert_eq!(boards["squares"], json!(["e2", "e4"]));
    hall.hands("B", "-e2 +e4");
    hall.put(json!({"arbiter": "boards"}));
    assert_eq!(hall.of("boards")[1]["b"]["state"], "in-step");
    let mut alone =
        Board::new(&sensor_log::parse_header(r#"{"sensor_log":1,"board":"reed"}"#).unwrap()).unwrap();
    let asked = sensor_log::parse_event(r#"{"us":0,"arbiter":"boards"}"#).unwrap();
    alone.input(asked.at, &Input::Event(asked.unit, asked.event));
    assert_eq!(alone.poll_fact().unwrap().to_value()["accepted"], false);
}

#[test]
fn the_game_goes_on_when_a_board_fails() {
    let mut hall = Hall::new(json!({}));
    hall.hands("A", "-e2 +e4");
    hall.press("white");
    hall.hands("B", "-e2 +e4");
    // White's board is lost: White's moves are read where they are mirrored.
    hall.put(json!({"link": "down"}));
    assert_eq!(hall.of("board-lost").len(), 1);
    assert!(hall.of("link-down").is_empty());
    hall.hands("B", "-e7 +e5");
    hall.press("black");
    hall.hands("B", "-g1 +f3");
    hall.press("white");
    assert_eq!(hall.moves(), ["e2e4", "e7e5", "g1f3"]);
    // Another board in its place shows the position, and is White's again.
    hall.put(json!({"link": "up"}));
    let shown = occupied(&hall);
    hall.put(json!({"occupied": shown}));
    hall.hands("B", "-b8 +c6");
    hall.press("black");
    hall.hands("A", "-b8 +c6 -f1 +b5");
    hall.press("white");
    assert_eq!(hall.moves(), ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"]);
    hall.put(json!({"link": "down"}));
    hall.put(json!({"link": "down", "board": "B"}));
    assert_eq!(hall.of("link-down").len(), 1);
}

fn occupied(hall: &Hall) -> String {
    format!("{:016x}", hall.board.session().position().board().occupied().0)
}

/// The motions of one move on a board, deliberately, and what is lifted.
fn motions(position: &Chess, mv: Move, mirrored_first: bool) -> Vec<(Square, bool)> {
    let mut after = position.clone();
    after.play_unchecked(mv);
    let (before, now) = (position.board().occupied(), after.board().occupied());
    let mut list = Vec::new();
    let victim = if mv.is_en_passant() { (before & !now & position.them()).first() } else { None };
    let captured = mv.capture().map(|_| victim.unwrap_or(mv.to()));
    if let Move::Castle { king, rook } = mv {
        let came: Vec<Square> = (now & !before).into_iter().collect();
        let king_to = after.board().king_of(position.turn()).unwrap();
        list.push((king, false));
        list.push((king_to, true));
        list.push((rook, false));
        list.extend(came.iter().filter(|square| **square != king_to).map(|square| (*square, true)));
        return list;
    }
    let from = mv.from().unwrap();
    match (captured, mirrored_first) {
        (Some(victim), true) => list.extend([(victim, false), (from, false), (mv.to(), true)]),
        (Some(victim), false) => list.extend([(from, false), (victim, false), (mv.to(), true)]),
        (None, _) => list.extend([(from, false), (mv.to(), true)]),
    }
    list
}

proptest! {
    #![proptest_config(cases(60))]

    /// Whoever moves where, and in whatever order the mirror is made: the game is the game, and exactly what
    /// its player lifts on his own board is touched.
    #[test]
    fn a_game_on_two_boards_is_read_whole(
        game in games::games(1..40, level(Level::Clean)).prop_filter("standard chess, nobody promotes", |game| {
            game.setup.castling == CastlingMode::Standard && game.moves.iter().all(|uci| uci.len() == 4)
        }),
        white_first in any::<bool>(),
        orders in proptest::collection::vec((any::<bool>(), any::<bool>()), 40),
    ) {
        let (white, black) = if white_first { ("A", "B") } else { ("B", "A") };
        let boards = json!([{"id": white, "kind": "reed", "side": "white"}, {"id": black, "kind": "peg", "side": "black"}]);
        let mut hall = Hall::new(json!({"start_fen": game.setup.start_fen, "boards": boards}));
        let mut position = hall.board.session().position().clone();
        let mut lifted = Vec::new();
        for (uci, (own_order, mirror_order)) in game.moves.iter().zip(orders) {
            let mv = uci.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            let side = position.turn();
            let (own, other, word) = match side {
                Color::White => (white, black, "white"),
                Color::Black => (black, white, "black"),
            };
            for (square, occupied) in motions(&position, mv, own_order) {
                if occupied { hall.place(own, square) } else {
                    lifted.push(square.to_string());
                    hall.lift(own, square);
                }
            }
            hall.press(word);
            if hall.board.session().result() != touchmoved::session::event::GameResult::Ongoing {
                break;
            }
            for (square, occupied) in motions(&position, mv, mirror_order) {
                if occupied { hall.place(other, square) } else { hall.lift(other, square) }
            }
            position.play_unchecked(mv);
        }
        let played = hall.moves();
        prop_assert_eq!(&played[..], &game.moves[..played.len()]);
        prop_assert!(played.len() == game.moves.len() || hall.board.session().result() != touchmoved::session::event::GameResult::Ongoing);
        let touched: Vec<String> = hall.of("touch").iter().map(|fact| fact["square"].as_str().unwrap().to_owned()).collect();
        prop_assert_eq!(touched, lifted);
        prop_assert!(hall.of("touch-violation").is_empty());
    }
}

/// White sits at A with a reed board, Black at B with a pegged one.
fn seated(more: Value) -> Hall {
    let mut header = json!({"boards": [
        {"id": "A", "kind": "reed", "side": "white"},
        {"id": "B", "kind": "peg", "side": "black"},
    ]});
    if let (Some(header), Some(more)) = (header.as_object_mut(), more.as_object()) {
        header.extend(more.clone());
    }
    Hall::new(header)
}

fn touched(hall: &Hall) -> Vec<&str> {
    hall.of("touch").iter().map(|fact| fact["square"].as_str().unwrap()).collect()
}

#[test]
fn a_man_lifted_before_the_turn_is_touched_when_it_comes() {
    let mut hall = seated(json!({"history": ["e2e4", "g8f6"]}));
    hall.lift("A", Square::E4);
    hall.lift("B", Square::F6);
    hall.place("A", Square::E5);
    assert_eq!(touched(&hall), ["e4"]);
    hall.press("white");
    assert_eq!(touched(&hall), ["e4", "f6"]);
    assert_eq!(hall.of("touch")[1]["by"], "black");
    hall.hands("B", "-e4 +e5 +d5");
    hall.press("black");
    hall.hands("A", "-f6 +d5 -d2 +d4");
    hall.press("white");
    hall.hands("B", "-d2 +d4 -d7 +d6");
    hall.press("black");
    hall.wait(5_000);
    assert_eq!(hall.moves(), ["e4e5", "f6d5", "d2d4", "d7d6"]);
    assert!(hall.of("ambiguous").is_empty() && hall.of("sensor-ghost").is_empty());
}

#[test]
fn a_man_lifted_and_put_back_before_the_turn_is_not_touched() {
    let mut hall = seated(json!({}));
    hall.lift("A", Square::E2);
    hall.lift("B", Square::E7);
    hall.place("A", Square::E4);
    hall.place("B", Square::E7);
    hall.press("white");
    hall.hands("B", "-e2 +e4 -d7 +d5");
    hall.press("black");
    assert_eq!(hall.moves(), ["e2e4", "d7d5"]);
    assert_eq!(touched(&hall), ["e2", "d7"]);
}

#[test]
fn a_move_that_stands_before_the_turn_is_made_when_it_comes() {
    let mut hall = seated(json!({}));
    hall.lift("A", Square::E2);
    hall.hands("B", "-e7 +e5");
    hall.place("A", Square::E4);
    hall.press("white");
    hall.hands("B", "-e2 +e4");
    hall.press("black");
    assert_eq!(hall.moves(), ["e2e4", "e7e5"]);
    assert_eq!(touched(&hall), ["e2", "e7"]);
}

#[test]
fn a_man_that_was_lifted_early_and_captured_is_mirrored() {
    let mut hall = seated(json!({"history": ["e2e4", "d7d5", "a2a3", "a7a6"]}));
    hall.hands("B", "-d5");
    hall.hands("A", "-d5 -e4 +d5");
    hall.press("white");
    hall.hands("B", "-e4 +d5 -d8 -d5 +d5");
    hall.press("black");
    assert_eq!(hall.moves(), ["e4d5", "d8d5"]);
    assert_eq!(touched(&hall), ["d5", "e4", "d8", "d5"]);
}

#[test]
fn a_man_of_the_other_side_that_was_lifted_early_can_be_captured() {
    let mut hall = seated(json!({"history": ["e2e4", "d7d5"]}));
    hall.hands("B", "-e4");
    hall.hands("A", "-a2 +a3");
    hall.press("white");
    hall.hands("B", "-a2 +a3");
    assert_eq!(touched(&hall), ["a2"]);
    hall.hands("B", "-d5 +e4");
    hall.press("black");
    assert_eq!(hall.moves(), ["a2a3", "d5e4"]);
    assert_eq!(touched(&hall), ["a2", "d5", "e4"]);
}

#[test]
fn a_wrong_man_lifted_to_mirror_a_move_is_not_touched() {
    let mut hall = seated(json!({}));
    hall.hands("A", "-e2 +e4");
    hall.press("white");
    hall.hands("B", "-d2 +d4 -d4 +d2 -e2 +e4 -e7 +e5");
    hall.press("black");
    hall.hands("A", "-d7 +d5 -d5 +d7 -e7 +e5 -g1 +f3");
    hall.press("white");
    assert_eq!(hall.moves(), ["e2e4", "e7e5", "g1f3"]);
    assert_eq!(touched(&hall), ["e2", "e7", "g1"]);
    assert!(hall.of("adjust").is_empty());
}

/// White sits at A with a DGT board; the board of Black is of this kind.
fn with_dgt(black: &str, start_fen: &str) -> Hall {
    Hall::new(json!({"start_fen": start_fen, "boards": [
        {"id": "A", "kind": "dgt", "side": "white"},
        {"id": "B", "kind": black, "side": "black"},
    ]}))
}

/// `e4 d5=P` on a DGT board: a square that is empty now, and one with a man.
fn men(hall: &mut Hall, unit: &str, told: &str) {
    for one in told.split_whitespace() {
        let (square, man) = one.split_once('=').unwrap_or((one, ""));
        hall.put(json!({"sq": square, "pc": man, "board": unit}));
    }
}

#[test]
fn a_man_of_the_other_side_on_a_square_that_was_not_seen_empty_is_a_capture() {
    let mut hall = with_dgt("peg", "4k3/8/8/3p1p2/4P3/8/8/4K3 w - - 0 1");
    men(&mut hall, "A", "e4 d5=P");
    hall.press("white");
    hall.hands("B", "-d5 -e4 +d5 -f5 +f4");
    hall.press("black");
    hall.wait(5_000);
    assert_eq!(hall.moves(), ["e4d5", "f5f4"]);
    assert_eq!(touched(&hall), ["e4", "d5", "f5"]);
    let mut hall = with_dgt("dgt", "4k3/8/2p1p3/3P4/8/8/8/4K3 b - - 0 1");
    men(&mut hall, "B", "c6 d5=p");
    hall.press("black");
    men(&mut hall, "A", "d5 c6 d5=p e1 e2=K");
    hall.press("white");
    assert_eq!(hall.moves(), ["c6d5", "e1e2"]);
    assert!(hall.of("ambiguous-move").is_empty());
}

#[test]
fn a_capture_that_was_mirrored_in_one_go_can_be_answered_on_its_square() {
    for answer in ["c3 e4=N", "e4 c3 e4=N"] {
        let mut hall = with_dgt("peg", "4k3/5p2/8/3p4/4P3/2N5/8/4K3 b - - 0 1");
        hall.hands("B", "-e4 -d5 +e4");
        hall.press("black");
        men(&mut hall, "A", "d5 e4=p");
        men(&mut hall, "A", answer);
        hall.press("white");
        hall.hands("B", "-e4 -c3 +e4 -f7 +f6");
        hall.press("black");
        assert_eq!(hall.moves(), ["d5e4", "c3e4", "f7f6"]);
        assert_eq!(hall.of("move_published").len(), 3);
        assert_eq!(hall.of("touch").len(), 5);
    }
}

#[test]
fn a_dgt_board_tells_what_a_pawn_became() {
    for told in ["a7 a8=N", "a7 a8=P a8=N", "a7 a8=Q a8=N"] {
        let mut hall = with_dgt("peg", "4k3/P7/8/8/8/8/8/4K3 w - - 0 1");
        men(&mut hall, "A", told);
        hall.press("white");
        hall.hands("B", "-a7 +a8 -e8 +e7");
        hall.press("black");
        assert_eq!(hall.moves(), ["a7a8n", "e8e7"], "{told}");
        assert_eq!(hall.of("move_published")[0]["uci"], "a7a8n");
        assert_eq!(touched(&hall), ["a7", "e8"]);
        assert_eq!(hall.of("promotion-unknown").len(), usize::from(told.contains('P')));
    }
    // On the pegged board nobody knows.
    let mut hall = with_dgt("peg", "4k3/8/8/8/8/8/p7/4K3 b - - 0 1");
    hall.hands("B", "-a2 +a1");
    hall.press("black");
    assert_eq!(hall.of("promotion-unknown").len(), 1);
}

#[test]
fn wrong_men_on_a_dgt_board_are_told() {
    let mut hall = with_dgt("dgt", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    let exchanged = json!({"pieces": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR", "board": "B"});
    hall.put(json!({"pieces": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", "board": "A"}));
    hall.put(exchanged.clone());
    hall.put(exchanged);
    assert_eq!(hall.of("setup-identity").len(), 1);
    assert_eq!(hall.of("setup-identity")[0]["squares"], json!(["d1", "e1"]));
    hall.put(json!({"pieces": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", "board": "B"}));
    men(&mut hall, "A", "e2 e4=P");
    hall.press("white");
    men(&mut hall, "B", "e2 e4=Q e7 e5=p");
    hall.press("black");
    men(&mut hall, "A", "e7 e5=p");
    assert!(hall.of("boards-diverged").is_empty());
    hall.wait(61_000);
    assert_eq!(hall.of("boards-diverged")[0]["squares"], json!(["e4"]));
    let agreed = hall.of("boards-agree").len();
    men(&mut hall, "B", "e4 e4=P");
    hall.wait(1_000);
    assert_eq!(hall.of("boards-agree").len(), agreed + 1);
    assert_eq!(hall.moves(), ["e2e4", "e7e5"]);
}

/// D.2.2 (2005: F.2.2): only the men of the announced move are lifted to mirror it. The squares of e2e4 lie across those
/// of d7 and d5: what follows the first lift shows whether the board lies turned.
#[test]
fn a_man_across_the_mirrored_move_is_touched_unless_the_board_lies_turned() {
    for kind in ["peg", "reed"] {
        for signal in ["debounced", "raw"] {
            let header = || {
                json!({"boards": [
                    {"id": "A", "kind": "reed", "side": "white"},
                    {"id": "B", "kind": kind, "side": "black", "signal": signal},
                ]})
            };
            let mut hall = Hall::new(header());
            hall.hands("A", "-e2 +e4");
            hall.press("white");
            hall.hands("B", "-d7 +d7 -e2 +e4 -e7 +e5");
            hall.press("black");
            assert!(hall.of("board-turned").is_empty(), "{kind} {signal}");
            let breach = hall.of("touch-violation");
            assert_eq!(breach[0]["required"], json!(["d7d6", "d7d5"]), "{kind} {signal}");
            assert_eq!(hall.moves(), ["e2e4", "e7e5"], "{kind} {signal}");
            // The same hands on a board that lies turned mirror the move, and touch nothing.
            let mut hall = Hall::new(header());
            hall.hands("A", "-e2 +e4");
            hall.press("white");
            hall.hands("B", "-d7 +d5 -d2 +d4");
            hall.press("black");
            assert_eq!(hall.of("board-turned").len(), 1, "{kind} {signal}");
            assert!(hall.of("touch-violation").is_empty(), "{kind} {signal}");
            assert_eq!(hall.moves(), ["e2e4", "e7e5"], "{kind} {signal}");
        }
    }
}
