//! What happens around the game: links that come and go, set-ups, results and what follows them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::{Value, json};
use shakmaty::{Bitboard, Chess, Position as _, Square, uci::UciMove};
use touchmoved::{
    replay::{Emit, Replay},
    session::{io::Input, setup::INITIAL_FEN},
    wire::sensor_log,
};

/// A sensor log that is written as it is played: every line comes half a second after the last.
struct Log {
    lines: Vec<String>,
    ms: u64,
    position: Chess,
}

impl Log {
    fn new(header: Value) -> Log {
        let mut header = header;
        header["sensor_log"] = json!(1);
        let setup = sensor_log::parse_header(&header.to_string()).unwrap();
        Log { lines: vec![header.to_string()], ms: 0, position: setup.position().unwrap() }
    }

    fn start() -> Log {
        Log::new(json!({ "start_fen": INITIAL_FEN }))
    }

    fn after(&mut self, ms: u64, mut event: Value) -> &mut Log {
        self.ms += ms;
        event["us"] = json!(self.ms * 1000);
        self.lines.push(event.to_string());
        self
    }

    fn put(&mut self, event: Value) -> &mut Log {
        self.after(500, event)
    }

    fn lift(&mut self, square: &str) -> &mut Log {
        self.put(json!({ "sq": square, "occ": 0 }))
    }

    fn place(&mut self, square: &str) -> &mut Log {
        self.put(json!({ "sq": square, "occ": 1 }))
    }

    fn press(&mut self, side: &str) -> &mut Log {
        self.put(json!({ "clock": side }))
    }

    fn link(&mut self, up: bool) -> &mut Log {
        self.put(json!({ "link": if up { "up" } else { "down" } }))
    }

    fn report(&mut self, occupied: Bitboard) -> &mut Log {
        self.put(json!({ "occupied": format!("{:016x}", occupied.0) }))
    }

    /// Moves on the position without the board.
    fn unseen(&mut self, moves: &str) -> &mut Log {
        for uci in moves.split(' ') {
            let mv = uci.parse::<UciMove>().unwrap().to_move(&self.position).unwrap();
            self.position.play_unchecked(mv);
        }
        self
    }

    /// Quiet moves and captures with lift, place and press.
    fn play(&mut self, moves: &str) -> &mut Log {
        for uci in moves.split(' ') {
            let (from, to) = (&uci[..2], &uci[2..4]);
            let side = self.position.turn().fold_wb("white", "black");
            let taken = self.position.board().occupied().contains(to.parse().unwrap());
            self.lift(from);
            if taken {
                self.lift(to);
            }
            self.place(to).press(side).unseen(uci);
        }
        self
    }

    fn now(&self) -> Bitboard {
        self.position.board().occupied()
    }

    fn run(&self, emit: Emit) -> Vec<Value> {
        let setup = sensor_log::parse_header(&self.lines[0]).unwrap();
        let mut replay = Replay::new(&setup, emit, None).unwrap();
        for line in &self.lines[1..] {
            let stamped = sensor_log::parse_event(line).unwrap();
            replay.input(stamped.at, &Input::Event(stamped.unit, stamped.event)).unwrap();
        }
        replay.finish().unwrap();
        replay.take_output().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn last_state(&self) -> Value {
        self.run(Emit::States).pop().unwrap()
    }

    fn result(&self) -> (String, String) {
        let last = self.run(Emit::Moves).pop().unwrap();
        let moves: Vec<&str> =
            last["final"].as_array().unwrap().iter().map(|mv| mv.as_str().unwrap()).collect();
        (moves.join(" "), last["result"].as_str().unwrap().to_owned())
    }

    fn advisories(&self) -> Vec<(String, Value)> {
        let facts = self.run(Emit::Facts);
        let advisories = facts.into_iter().filter(|fact| fact["fact"] == "advisory");
        advisories.map(|fact| (fact["code"].as_str().unwrap().to_owned(), fact["squares"].clone())).collect()
    }

    fn advised(&self, code: &str) -> Vec<Value> {
        self.advisories().into_iter().filter(|(found, _)| found == code).map(|(_, squares)| squares).collect()
    }
}

/// One and two plies that nobody saw are found when they are the only ones that lead to the board.
#[test]
fn plies_in_a_gap_are_found_when_they_are_the_only_ones() {
    for (missed, flag) in
        [("e2e4", "inferred_plies:1"), ("e2e4 e7e5", "inferred_plies:2"), ("g1f3 d7d5", "inferred_plies:2")]
    {
        let mut log = Log::start();
        let occupied = log.link(false).unseen(missed).now();
        log.link(true).report(occupied);
        let state = log.last_state();
        assert_eq!(state["moves"], json!(missed.split(' ').collect::<Vec<_>>()), "{state}");
        assert!(state["flags"].as_array().unwrap().contains(&json!(flag)), "{state}");
        let next = if missed.contains(' ') { "a2a3" } else { "a7a6" };
        assert_eq!(log.play(next).result().0, format!("{missed} {next}"));
    }
}

/// Where several moves lead to the board, all are shown and none is taken until the game decides.
#[test]
fn an_ambiguous_gap_is_asked() {
    // Either knight may have taken on d4... both leave the same squares empty only if they came from
    // the same one, so the captures of one man on several squares are the ambiguous ones.
    let start = "4k3/8/8/3p1p2/8/4N3/8/4K3 w - - 0 1";
    let mut log = Log::new(json!({ "start_fen": start }));
    log.play_gap("e3d5", 60_000);
    let state = log.last_state();
    assert_eq!(state["state"], json!("ambiguous"), "{state}");
    assert_eq!(sorted(&state["candidates"]), ["e3d5", "e3f5"], "{state}");
    assert_eq!(state["moves"], json!([]), "{state}");
    let facts = log.run(Emit::Facts);
    assert!(facts.iter().any(|fact| fact["fact"] == "ambiguous"), "{facts:#?}");
    assert!(!facts.iter().any(|fact| fact["fact"] == "move_made"), "{facts:#?}");
    // The pawn that was not taken moves on.
    log.lift("f5").place("f4").press("black");
    assert_eq!(log.result().0, "e3d5 f5f4");
}

/// Castling whose men were not seen to leave is a plain move of the rook as well.
#[test]
fn castling_in_a_gap_is_asked_where_a_rook_move_leaves_the_same_squares() {
    let start = "4k3/pppppppp/8/8/8/8/PPPPPPPP/R4K1R w HA - 0 1";
    let mut log = Log::new(json!({ "start_fen": start, "variant": "chess960" }));
    log.play_gap("h1g1", 60_000);
    let state = log.last_state();
    assert_eq!(state["state"], json!("ambiguous"), "{state}");
    assert_eq!(sorted(&state["candidates"]), ["f1h1", "h1g1"], "{state}");
    assert_eq!(state["moves"], json!([]), "{state}");
}

/// Two plies that can be had in two ways are pairs.
#[test]
fn two_open_plies_are_asked_as_pairs() {
    let start = "4k3/4n3/8/3p1p2/8/4N3/8/4K3 w - - 0 1";
    let mut log = Log::new(json!({ "start_fen": start }));
    log.play_gap("e3d5 e7d5", 60_000);
    let facts = log.run(Emit::Facts);
    assert!(!facts.iter().any(|fact| fact["fact"] == "move_made"), "{facts:#?}");
    let state = log.last_state();
    assert_eq!(state["state"], json!("ambiguous"), "{state}");
    let pairs: Vec<&Value> = state["candidates"].as_array().unwrap().iter().collect();
    assert!(
        pairs.contains(&&json!(["e3d5", "e7d5"])) && pairs.contains(&&json!(["e3f5", "e7f5"])),
        "{state}"
    );
}

impl Log {
    fn play_gap(&mut self, moves: &str, ms: u64) -> &mut Log {
        self.link(false).unseen(moves);
        let occupied = self.now();
        self.ms += ms;
        self.link(true).report(occupied)
    }
}

fn sorted(list: &Value) -> Vec<String> {
    let mut list: Vec<String> =
        list.as_array().unwrap().iter().map(|item| item.as_str().unwrap_or_default().to_owned()).collect();
    list.sort();
    list
}

/// A man in the hand while the cable is out: pending until it lands, whoever's man it is.
#[test]
fn a_man_in_the_hand_at_a_gap_lands_later() {
    let mut log = Log::start();
    log.play("e2e4").lift("g8").link(false);
    log.ms += 600_000;
    let without = log.now().without(Square::G8);
    log.link(true).report(without);
    let state = log.last_state();
    assert_eq!((&state["state"], &state["moves"]), (&json!("pending"), &json!(["e2e4"])), "{state}");
    log.place("f6").press("black");
    assert_eq!(log.result().0, "e2e4 g8f6");
    // Lifted during the gap, after a move that nobody saw either.
    let mut log = Log::start();
    log.link(false).unseen("e2e4");
    let without = log.now().without(Square::G8);
    log.ms += 60_000;
    log.link(true).report(without).place("f6").press("black");
    assert_eq!(log.result().0, "e2e4 g8f6");
}

/// Hours without a link say nothing against the game.
#[test]
fn time_without_a_link_costs_nothing() {
    for (down, up) in [("down", "up"), ("off", "on")] {
        let key = if down == "off" { "power" } else { "link" };
        let mut log = Log::start();
        log.play("e2e4 e7e5").lift("g1").put(json!({ key: down }));
        for _ in 0..20 {
            log.after(600_000, json!({ "tick": true }));
        }
        log.put(json!({ key: up })).place("f3").press("white");
        assert_eq!(log.result().0, "e2e4 e7e5 g1f3");
        let last = log.run(Emit::Moves).pop().unwrap();
        assert_eq!(last["certain"], json!(true));
    }
}

/// The pieces of another game on the board: nothing is recorded, the squares are named.
#[test]
fn another_game_is_not_read_into_this_one() {
    let mut log = Log::new(json!({ "start_fen": INITIAL_FEN, "history": ["e2e4", "e7e5", "g1f3"] }));
    let other = Chess::default();
    let mut other = other;
    for uci in "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6".split(' ') {
        let mv = uci.parse::<UciMove>().unwrap().to_move(&other).unwrap();
        other.play_unchecked(mv);
    }
    log.put(json!({"power": "off"})).put(json!({"power": "on"})).report(other.board().occupied());
    let state = log.last_state();
    assert_eq!((&state["state"], &state["moves"]), (&json!("mismatch"), &json!([])), "{state}");
    let log_start = Chess::default().board().occupied();
    let mut log = Log::new(json!({ "start_fen": INITIAL_FEN, "history": ["e2e4", "e7e5", "g1f3"] }));
    log.put(json!({"power": "off"})).put(json!({"power": "on"})).report(log_start);
    let state = log.last_state();
    assert_eq!(state["alert"], json!("start_position_without_result"), "{state}");
    assert_eq!(log.advised("start-position-without-result").len(), 1);
}

/// A game that starts in the middle goes on there.
#[test]
fn a_game_starts_from_a_position_with_a_history() {
    let mut log = Log::new(json!({ "start_fen": INITIAL_FEN, "history": ["e2e4", "e7e5"] }));
    let occupied = log.now();
    log.report(occupied).play("g1f3 b8c6 f1b5");
    assert_eq!(log.result().0, "g1f3 b8c6 f1b5");
    assert!(log.advisories().is_empty());
}

/// Files instead of ranks: the board is turned by 90 degrees either way.
#[test]
fn a_board_on_its_side_is_read() {
    for value in ["left", "right"] {
        for by_report in [false, true] {
            let turn = |square: Square| match value {
                "left" => square.rotate_90(),
                _ => square.rotate_270(),
            };
            let start = Chess::default().board().occupied();
            let turned: Bitboard = start.into_iter().map(turn).collect();
            let names: Vec<String> = turned.into_iter().map(|square| square.to_string()).collect();
            let mut log = match by_report {
                true => Log::start(),
                false => Log::new(json!({ "start_fen": INITIAL_FEN, "start_occupied": names })),
            };
            if by_report {
                log.report(turned);
            }
            for uci in "e2e4 e7e5 g1f3 b8c6 f1b5".split(' ') {
                let side = log.position.turn().fold_wb("white", "black");
                let [from, to] = [&uci[..2], &uci[2..4]].map(|name| turn(name.parse().unwrap()).to_string());
                log.lift(&from).place(&to).press(side).unseen(uci);
            }
            assert_eq!(log.result().0, "e2e4 e7e5 g1f3 b8c6 f1b5", "{value} {by_report}");
            let facts = log.run(Emit::Facts);
            let told: Vec<_> = facts.iter().filter(|fact| fact["fact"] == "orientation").collect();
            assert_eq!(told.len(), 1, "{facts:#?}");
            assert_eq!(told[0]["value"], json!(value));
            assert_eq!(log.advised("setup-rotated-90").len(), 1);
            assert!(log.advised("setup-missing").is_empty() && log.advised("setup-extra").is_empty());
        }
    }
}

/// Black begins by mistake and puts his man back: the board does not lie turned for that.
#[test]
fn a_first_movement_that_is_put_back_turns_no_board() {
    let mut log = Log::start();
    log.lift("e7").place("e5").press("black").lift("e5").place("e7").press("white").play("e2e4 e7e5 g1f3");
    assert_eq!(log.result().0, "e2e4 e7e5 g1f3");
    let state = log.last_state();
    assert!(!state["flags"].to_string().contains("rotated180"), "{state}");
}

/// A movement turns the board, but the player whose men lie there presses: that is in doubt.
#[test]
fn a_board_that_is_turned_against_the_presses_is_in_doubt() {
    let mut log = Log::start();
    log.lift("e7").place("e5").press("black").lift("e2").place("e4").press("white");
    let end = log.run(Emit::Moves).pop().unwrap();
    assert_eq!((&end["certain"], &end["doubts"]), (&json!(false), &json!([1])), "{end}");
}

/// Men that stand exchanged on an identity board are named before the first move.
#[test]
fn exchanged_men_on_an_identity_board_are_named_at_once() {
    let identities: serde_json::Map<String, Value> = Chess::default()
        .board()
        .iter()
        .map(|(square, man)| {
            let man = match square {
                Square::D1 => 'K',
                Square::E1 => 'Q',
                _ => man.char(),
            };
            (square.to_string(), json!(man.to_string()))
        })
        .collect();
    let header = json!({ "board": "dgt", "start_fen": INITIAL_FEN, "given": { "identities": identities } });
    let mut log = Log::new(header);
    log.put(json!({ "tick": true }));
    assert_eq!(log.advised("setup-identity"), [json!(["d1", "e1"])]);
    assert_eq!(log.last_state()["squares"], json!(["d1", "e1"]));
}

/// On an occupancy board a pressed move that only exchanged men could make is a hint; the game stays.
#[test]
fn men_exchanged_at_the_set_up_are_suspected_and_the_game_is_not_rewritten() {
    let mut log = Log::start();
    log.lift("f1").place("g3").press("white").after(5000, json!({ "tick": true }));
    assert_eq!(log.advised("setup-exchanged"), [json!(["f1", "g1"])]);
    assert_eq!(log.result().0, "");
    let mut log = Log::start();
    log.play("d2d4 e7e6").lift("e1").place("a5").press("white").after(5000, json!({ "tick": true }));
    assert_eq!(log.advised("setup-exchanged"), [json!(["d1", "e1"])]);
    assert_eq!(log.result().0, "d2d4 e7e6");
    // No exchange makes this one legal.
    let mut log = Log::start();
    log.lift("f1").place("f5").press("white");
    assert!(log.advised("setup-exchanged").is_empty());
    // A man that has moved was where it belongs.
    let mut log = Log::start();
    log.play("g1f3 e7e6 f3g1 e6e5").lift("f1").place("g3").press("white");
    assert!(log.advised("setup-exchanged").is_empty());
}

/// A square that reads occupied from the set-up on makes nobody's move illegal.
#[test]
fn nobody_is_accused_of_a_move_that_cannot_be_named() {
    let count = |log: &Log, fact: &str| log.run(Emit::Facts).iter().filter(|f| f["fact"] == fact).count();
    let mut extra = Log::start();
    extra.report(extra.now() | Bitboard::from(Square::E5)).play("d2d4 d7d5");
    assert_eq!((count(&extra, "illegal_move"), extra.result().0), (0, "d2d4 d7d5".to_owned()));
    assert_eq!(extra.advised("press-over-mismatch"), [json!(["d2", "d4", "e5"])]);
    // Two men of his own at once: no single move that could be named.
    let mut two = Log::start();
    two.lift("a2").lift("h2").place("a5").place("h5").press("white");
    assert_eq!(count(&two, "illegal_move"), 0);
    let state = two.last_state();
    assert_eq!((&state["state"], &state["squares"]), (&json!("mismatch"), &json!(["a2", "h2", "a5", "h5"])));
    // One man where he may not go is named and counted.
    let mut one = Log::start();
    one.lift("a2").place("a5").press("white");
    let named = |f: &&serde_json::Value| f["fact"] == "illegal_move" && f["attempt"] == "a2a5";
    assert_eq!(one.run(Emit::Facts).iter().filter(named).count(), 1);
}

/// A sleeve knocks two men over; they are put right.
#[test]
fn displaced_men_are_told_until_they_stand_right() {
    let mut log = Log::start();
    log.lift("g1").after(20, json!({"sq": "h2", "occ": 0}));
    log.after(20, json!({"sq": "h3", "occ": 1})).after(20, json!({"sq": "g3", "occ": 1}));
    log.after(9000, json!({"sq": "g3", "occ": 0})).place("g1").lift("h3").place("h2").play("e2e4");
    assert_eq!(log.advised("displaced"), [json!(["g1", "h2", "g3", "h3"])]);
    assert_eq!(log.advised("displaced-restored").len(), 1);
    assert_eq!(log.result().0, "e2e4");
    // Two hands that castle displace nothing.
    let mut log = Log::new(json!({ "start_fen": "4k3/8/8/8/8/8/8/4K2R w K - 0 1" }));
    log.lift("e1").after(20, json!({"sq": "h1", "occ": 0}));
    log.after(20, json!({"sq": "f1", "occ": 1})).after(20, json!({"sq": "g1", "occ": 1})).press("white");
    assert!(log.advised("displaced").is_empty());
    assert_eq!(log.result().0, "e1g1");
}

/// How the kings come to the centre.
#[derive(Clone, Copy, Debug)]
enum Order {
    WhiteFirst,
    BlackFirst,
    BothInTheAir,
}

fn kings(log: &mut Log, white: [&str; 2], black: [&str; 2], order: Order) {
    let go = |log: &mut Log, [from, to]: [&str; 2]| {
        if from != to {
            log.lift(from).place(to);
        }
    };
    match order {
        Order::WhiteFirst => {
            go(log, white);
            go(log, black);
        }
        Order::BlackFirst => {
            go(log, black);
            go(log, white);
        }
        Order::BothInTheAir => {
            for [from, to] in [white, black] {
                if from != to {
                    log.lift(from);
                }
            }
            for [from, to] in [white, black] {
                if from != to {
                    log.place(to);
                }
            }
        }
    }
}

const ORDERS: [Order; 3] = [Order::WhiteFirst, Order::BlackFirst, Order::BothInTheAir];
const SIGNALS: [(&str, &str, &str); 6] = [
    ("e4", "d5", "1-0"),
    ("d5", "e4", "1-0"),
    ("d4", "e5", "0-1"),
    ("e5", "d4", "0-1"),
    ("d4", "e4", "1/2-1/2"),
    ("e5", "d5", "1/2-1/2"),
];

/// Both kings in the centre are a result and no move, in either order, over a last move that was
/// pressed or not, with the clocks stopped or running, also when one king stands there already.
#[test]
fn kings_in_the_centre_are_a_result_and_no_move() {
    for (start, from) in
        [("8/8/2k5/8/1P6/4K3/P7/8 w - - 0 60", "e3"), ("8/8/1k6/8/1P2K3/8/P7/8 w - - 0 60", "e4")]
    {
        let black_from = if from == "e3" { "c6" } else { "b6" };
        for (white, black, result) in SIGNALS {
            for order in ORDERS {
                for (pressed, stopped) in [(true, true), (true, false), (false, true), (false, false)] {
                    if from == "e4"
                        && black == "e4"
                        && !matches!(order, Order::BothInTheAir | Order::WhiteFirst)
                    {
                        continue;
                    }
                    let mut log = Log::new(json!({ "start_fen": start }));
                    log.lift("a2").place("a4");
                    if pressed {
                        log.press("white");
                    }
                    if stopped {
                        log.after(4000, json!({ "clock": "pause" }));
                    }
                    log.ms += 4000;
                    kings(&mut log, [from, white], [black_from, black], order);
                    log.after(20_000, json!({ "tick": true }));
                    let found = log.result();
                    let what =
                        format!("{start} {white} {black} {order:?} pressed {pressed} stopped {stopped}");
                    assert_eq!(found, ("a2a4".to_owned(), result.to_owned()), "{what}");
                    // Nothing is a move afterwards: the kings go back, analysis, the next set-up.
                    log.lift(white).place(from).lift(black).place(black_from);
                    log.lift(black_from).place("b7").press("black").lift("a4").place("a5").press("white");
                    log.report(Chess::default().board().occupied()).lift("e2").place("e4").press("white");
                    assert_eq!(log.result(), found, "{what}");
                }
            }
        }
    }
}

/// Men that stand in the centre are put aside for the kings.
#[test]
fn kings_take_the_place_of_men_in_the_centre() {
    for (white, black, result) in SIGNALS {
        for first in ["white", "black"] {
            let mut log = Log::start();
            log.play("e2e4 e7e5 d2d3 d7d6 d3d4 d6d5");
            let mut go = |from: &str, to: &str| {
                log.lift(to).lift(from).place(to);
            };
            let [one, two] = [("e1", white), ("e8", black)];
            let order = if first == "white" { [one, two] } else { [two, one] };
            order.into_iter().for_each(|(from, to)| go(from, to));
            log.after(4000, json!({ "clock": "pause" }));
            assert_eq!(
                log.result(),
                ("e2e4 e7e5 d2d3 d7d6 d3d4 d6d5".to_owned(), result.to_owned()),
                "{white} {black} {first}"
            );
        }
    }
    // A capture in the centre is none, nor is a man there that is put right.
    let mut log = Log::start();
    log.play("e2e4 d7d5 e4d5 d8d5").lift("d5").place("d5").after(20_000, json!({ "tick": true }));
    assert_eq!(log.result(), ("e2e4 d7d5 e4d5 d8d5".to_owned(), "*".to_owned()));
}

/// A signal can be withdrawn by putting the kings back, and the game goes on.
#[test]
fn a_signal_is_withdrawn_by_putting_the_kings_back() {
    for order in ORDERS {
        for back in ORDERS {
            let mut log = Log::new(json!({ "start_fen": "8/8/2k5/8/1P6/4K3/P7/8 w - - 0 60" }));
            log.play("a2a4").ms += 4000;
            kings(&mut log, ["e3", "e4"], ["c6", "d5"], order);
            log.after(3000, json!({ "tick": true }));
            assert_eq!(log.last_state()["state"], json!("game_over"), "at the end of the log it stands");
            kings(&mut log, ["e4", "e3"], ["d5", "c6"], back);
            log.ms += 3000;
            log.play("c6b6 a4a5");
            assert_eq!(log.result(), ("a2a4 c6b6 a4a5".to_owned(), "*".to_owned()), "{order:?} {back:?}");
            let facts = log.run(Emit::Facts);
            assert!(facts.iter().any(|fact| fact["fact"] == "result_withdrawn"), "{order:?} {back:?}");
        }
    }
}

/// After a result that was entered nothing becomes a move, whatever happens on the board.
#[test]
fn after_a_result_nothing_is_a_move() {
    let mut log = Log::start();
    log.play("e2e4 e7e5").put(json!({ "result": "1/2-1/2" }));
    let facts = log.run(Emit::Facts).len();
    log.lift("g1").place("f3").press("white").lift("b8").place("c6").press("black");
    log.link(false).link(true).report(Chess::default().board().occupied());
    log.after(60_000, json!({ "tick": true }));
    assert_eq!(log.result(), ("e2e4 e7e5".to_owned(), "1/2-1/2".to_owned()));
    let later = log.run(Emit::Facts).split_off(facts);
    assert!(later.iter().all(|fact| fact["fact"] == "advisory" && fact["code"] == "link-down"), "{later:#?}");
}
