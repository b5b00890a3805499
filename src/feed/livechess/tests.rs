//! Tests of the protocol without a socket.

use proptest::prelude::*;
use serde_json::{Value, json};
use shakmaty::CastlingMode;

use super::{allowed, client::Client, follow::Now};
use crate::{
    feed::hub::{Batch, Hub},
    publish::{FeedEvent, PublicClock, PublicPly, Publisher, Tags, play, release::Threshold},
    session::{
        Session,
        setup::{GameSetup, INITIAL_FEN},
    },
};

const NOW: Now = Now { wall_us: 1_000_000_000_000, mono_us: 50_000_000 };
const AFTER_E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR";

/// A client at a hub with board `1`, and a game that is played on it by hand.
struct Table {
    hub: Hub,
    live: tokio::sync::broadcast::Receiver<std::sync::Arc<Batch>>,
    client: Client,
    position: Vec<shakmaty::Chess>,
}

impl Table {
    fn new(presses: bool) -> Table {
        let hub = Hub::with_run("test");
        hub.set(fresh(presses));
        let client = Client::new(hub.clone(), Threshold::Completed);
        let position = vec![GameSetup::default().position().unwrap()];
        Table { live: hub.watch(), hub, client, position }
    }

    fn ask(&mut self, text: Value) -> Vec<Value> {
        self.client.text(&text.to_string(), NOW);
        self.frames()
    }

    fn frames(&mut self) -> Vec<Value> {
        while let Ok(batch) = self.live.try_recv() {
            self.client.batch(&batch, NOW);
        }
        std::iter::from_fn(|| self.client.poll_out())
            .map(|frame| serde_json::from_str(&frame).unwrap())
            .collect()
    }

    fn publish(&mut self, events: Vec<FeedEvent>) -> Vec<Value> {
        self.hub.publish("1", events);
        self.frames()
    }

    fn subscribe(&mut self) {
        let frames = self.ask(json!({
            "id": 2, "call": "subscribe",
            "param": {"feed": "eboardevent", "id": 7, "param": {"serialnr": "90001"}}
        }));
        assert_eq!(frames.len(), 2);
    }

    fn setup(&mut self, fen: &str) -> Vec<Value> {
        self.ask(
            json!({"id": 3, "call": "call", "param": {"id": 7, "method": "setup", "param": {"fen": fen}}}),
        )
    }

    fn played(&mut self, uci: &str) -> Vec<FeedEvent> {
        use shakmaty::Position as _;
        let (san, next) = play(self.position.last().unwrap(), uci).unwrap();
        let board = next.board().to_string();
        let turn = next.turn().fold_wb('w', 'b');
        let ply = self.position.len();
        self.position.push(next);
        let played =
            PublicPly { uci: uci.to_owned(), san, completed: false, clock_ms: None, elapsed_ms: None };
        let fen = format!("{board} {turn} - - 0 1");
        vec![FeedEvent::Board { board }, FeedEvent::Move { ply, played, fen }]
    }

    fn undo(&mut self, n: usize) -> FeedEvent {
        self.position.truncate(self.position.len() - n);
        FeedEvent::Undo { n, fen: INITIAL_FEN.to_owned() }
    }
}

fn fresh(presses: bool) -> crate::publish::BoardState {
    let setup = GameSetup::default();
    let session = Session::new(&setup).unwrap();
    Publisher::new("1", &setup, Tags::default(), &session).with_presses(presses).state().clone()
}

fn press(ply: usize) -> FeedEvent {
    FeedEvent::Completed { ply, clock_ms: None, pressed: true }
}

fn sans(frames: &[Value]) -> Vec<Value> {
    frames.iter().map(|frame| frame["param"]["san"].clone()).collect()
}

#[test]
fn a_position_that_is_set_up_is_the_start_of_a_new_list() {
    let mut table = Table::new(false);
    table.subscribe();
    table.setup(INITIAL_FEN);
    let events = table.played("e2e4");
    assert_eq!(sans(&table.publish(events)), [json!(["e4"])]);
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 30";
    table.position =
        vec![fen.parse::<shakmaty::fen::Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()];
    let frames = table.publish(vec![FeedEvent::Setup { fen: fen.to_owned(), earlier: Vec::new() }]);
    assert_eq!((&frames[0]["param"]["start"], &frames[0]["param"]["san"]), (&json!(fen), &json!([])));
    let events = table.played("e2e4");
    let frames = table.publish(events);
    assert_eq!((&frames[0]["param"]["start"], sans(&frames)), (&json!(fen), vec![json!(["e4"])]));
    assert_eq!(frames[0]["param"]["match"], true);
}

#[test]
fn a_move_is_listed_when_it_is_completed() {
    let mut table = Table::new(true);
    table.subscribe();
    let frames = table.setup(INITIAL_FEN);
    assert_eq!(frames.len(), 2);
    assert_eq!(frames[0]["response"], "call");
    assert_eq!(
        frames[1]["param"],
        json!({
            "serialnr": "90001", "flipped": false, "board": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
            "start": INITIAL_FEN, "san": [], "match": true
        })
    );
    let events = table.played("e2e4");
    let frames = table.publish(events);
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0]["param"]["board"], AFTER_E4);
    assert_eq!(frames[0]["param"]["san"], json!([]));
    assert_eq!(frames[0]["param"]["match"], json!(false));
    let frames = table.publish(vec![press(1)]);
    assert_eq!(
        frames[0]["param"],
        json!({
            "serialnr": "90001", "flipped": false, "start": INITIAL_FEN, "san": ["e4"], "match": true
        })
    );
    assert!(table.publish(vec![press(1)]).is_empty(), "nothing changed");
}

#[test]
fn setup_in_the_middle_starts_with_an_empty_list_and_goes_on_from_there() {
    let mut table = Table::new(false);
    for uci in ["e2e4", "e7e5", "g1f3"] {
        let events = table.played(uci);
        table.publish(events);
    }
    table.subscribe();
    let frames = table.setup(&format!("{AFTER_E4} b KQkq e3 0 1"));
    assert_eq!(sans(&frames[1..]), [json!([]), json!(["e5", "Nf3"])]);
    assert_eq!(frames[1]["param"]["start"], json!(format!("{AFTER_E4} b KQkq e3 0 1")));
    let frames = table.setup("rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2");
    assert_eq!(sans(&frames[1..]), [json!([])]);
    assert_eq!(frames[1]["param"]["match"], json!(true));
    let events = table.played("b8c6");
    let frames = table.publish(events);
    assert_eq!(sans(&frames), [json!(["Nc6"])]);
}

#[test]
fn setup_with_a_foreign_position_plays_the_moves_to_come_in_it() {
    let mut table = Table::new(false);
    let events = table.played("e2e4");
    table.publish(events);
    table.subscribe();
    let frames = table.setup("4k3/4p3/8/8/8/8/8/4K3 b - - 0 1");
    assert_eq!(frames[1]["param"]["match"], json!(false));
    let events = table.played("e7e5");
    assert_eq!(sans(&table.publish(events)), [json!(["e5"])]);
    let events = table.played("g1f3");
    let frames = table.publish(events);
    assert_eq!(sans(&frames), [json!(["e5"])], "the man is not there");
    assert_eq!(frames[0]["param"]["match"], json!(false));
}

#[test]
fn the_list_does_not_shrink_when_a_player_takes_back() {
    let mut table = Table::new(false);
    table.subscribe();
    table.setup(INITIAL_FEN);
    let events = table.played("e2e4");
    table.publish(events);
    let undo = table.undo(1);
    let frames = table.publish(vec![undo]);
    assert!(sans(&frames).iter().all(|san| *san == json!(["e4"])));
    let events = table.played("d2d4");
    assert_eq!(sans(&table.publish(events)), [json!(["d4"])]);
}

#[test]
fn the_list_shrinks_when_the_arbiter_goes_back() {
    let mut table = Table::new(true);
    table.subscribe();
    table.setup(INITIAL_FEN);
    for (index, uci) in ["e2e4", "e7e5", "g1f3"].into_iter().enumerate() {
        let mut events = table.played(uci);
        events.push(press(index + 1));
        table.publish(events);
    }
    let undo = table.undo(2);
    assert_eq!(sans(&table.publish(vec![undo])), [json!(["e4"])]);
}

#[test]
fn going_back_behind_the_setup_ends_the_reconstruction() {
    let mut table = Table::new(false);
    for uci in ["e2e4", "e7e5"] {
        let events = table.played(uci);
        table.publish(events);
    }
    table.subscribe();
    let after = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    table.setup(after);
    let undo = table.undo(2);
    table.publish(vec![undo]);
    for uci in ["d2d4", "d7d5", "c2c4"] {
        let events = table.played(uci);
        let frames = table.publish(events);
        assert_eq!(sans(&frames), [json!([])]);
        assert_eq!(frames[0]["param"]["match"], json!(false));
    }
}

#[test]
fn a_new_game_ends_the_reconstruction() {
    let mut table = Table::new(false);
    table.subscribe();
    table.setup(INITIAL_FEN);
    table.hub.set(fresh(false));
    let frames = table.frames();
    assert_eq!(frames.len(), 1);
    let keys: Vec<&String> = frames[0]["param"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["serialnr", "flipped", "board", "clock"]);
}

#[test]
fn clocks_are_whole_seconds_at_the_time_of_the_reading() {
    let mut table = Table::new(true);
    table.subscribe();
    let clock = PublicClock {
        white_ms: Some(5_395_999),
        black_ms: Some(5_400_000),
        running: Some("black"),
        delay_ms: 0,
        at_us: 48_000_000,
    };
    assert_eq!(
        json!(NOW.clock(Some(clock))),
        json!({"white": 5395, "black": 5400, "run": false, "time": 999_998_000})
    );
    let frames = table.publish(vec![FeedEvent::Clock(clock)]);
    let told = &frames[0]["param"]["clock"];
    assert_eq!((&told["white"], &told["black"], &told["run"]), (&json!(5395), &json!(5400), &json!(false)));
    let frames = table.publish(vec![FeedEvent::Clock(PublicClock { black_ms: None, ..clock })]);
    assert_eq!(frames[0]["param"]["clock"], Value::Null);
}

#[test]
fn identifiers_keep_their_type_and_errors_leave_the_client_alone() {
    let mut table = Table::new(true);
    let frames = table.ask(json!({"id": "one", "call": "eboards"}));
    assert_eq!(frames[0]["id"], json!("one"));
    let frames = table.ask(json!({
        "id": 5, "call": "call", "param": {"id": 99, "method": "setup", "param": {"fen": INITIAL_FEN}}
    }));
    assert_eq!(frames[0]["param"], json!({"message": "unknown feed 99", "stacktrace": ""}));
    table.subscribe();
    let frames = table.setup("not a fen");
    assert_eq!((frames.len(), &frames[0]["response"]), (1, &json!("error")));
    let frames = table.ask(json!({"id": 6, "call": "unsubscribe", "param": {"id": 7}}));
    assert_eq!(frames[0]["response"], "call");
    let events = table.played("e2e4");
    assert!(table.publish(events).is_empty());
}

#[test]
fn what_a_snapshot_holds_is_not_told_again() {
    let mut table = Table::new(false);
    let events = table.played("e2e4");
    table.hub.publish("1", events);
    table.client.text(
        r#"{"id":2,"call":"subscribe","param":{"feed":"eboardevent","id":7,"param":{"serialnr":"90001"}}}"#,
        NOW,
    );
    let frames = table.frames();
    assert_eq!(frames.len(), 2, "the batch is older than the first message: {frames:?}");
    assert_eq!(frames[1]["param"]["board"], AFTER_E4);
}

#[test]
fn a_board_in_play_comes_first() {
    let mut table = Table::new(false);
    let state = crate::publish::BoardState { id: "2".to_owned(), status: "playing", ..fresh(false) };
    table.hub.set(crate::publish::BoardState { id: "0".to_owned(), connected: false, ..fresh(false) });
    table.hub.set(state);
    let frames = table.ask(json!({"id": 1, "call": "eboards"}));
    let list = frames[0]["param"].as_array().unwrap();
    let serials: Vec<&str> = list.iter().map(|board| board["serialnr"].as_str().unwrap()).collect();
    assert_eq!(serials, ["90002", "90001", "90000"]);
    assert_eq!(list[2]["state"], "NOTRESPONDING");
    let keys: Vec<&String> = list[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["serialnr", "source", "state", "battery", "comment", "board", "flipped", "clock"]);
}

#[test]
fn a_board_that_is_turned_is_told_turned_from_the_next_message_on() {
    let mut table = Table::new(true);
    table.subscribe();
    table.setup(INITIAL_FEN);
    let flip = |flip: bool| json!({"id": 4, "call": "call", "param": {"id": 7, "method": "flip", "param": {"flip": flip}}});
    let frames = table.ask(flip(true));
    assert_eq!(
        (frames.len(), &frames[0]["response"], &frames[0]["param"]),
        (1, &json!("call"), &Value::Null)
    );
    let clock = |at_us| {
        FeedEvent::Clock(PublicClock {
            white_ms: Some(60_000),
            black_ms: Some(60_000),
            running: None,
            delay_ms: 0,
            at_us,
        })
    };
    let frames = table.publish(vec![clock(1)]);
    let param = &frames[0]["param"];
    assert_eq!((&param["flipped"], &param["match"]), (&json!(true), &json!(true)));
    assert_eq!(param["board"], "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr");
    let frames = table.publish(vec![FeedEvent::Board { board: AFTER_E4.to_owned() }]);
    assert_eq!(frames[0]["param"]["board"], "RNBKQBNR/PPP1PPPP/8/3P4/8/8/pppppppp/rnbkqbnr");
    // Back, and back again: nothing is left to tell.
    table.ask(flip(false));
    let frames = table.publish(vec![clock(2)]);
    assert_eq!(frames[0]["param"]["board"], AFTER_E4);
    let frames = table.publish(vec![clock(3)]);
    assert!(frames.is_empty() || frames[0]["param"].get("board").is_none(), "{frames:?}");
}

#[test]
fn a_board_that_is_switched_off_is_listed_so_and_not_told() {
    let mut table = Table::new(false);
    let note = super::BoardNote {
        devices: vec![("dgt".to_owned(), "ttyACM0".to_owned()), ("peg".to_owned(), "ttyACM1".to_owned())],
        comment: Some("beside the window".to_owned()),
        ..super::BoardNote::of("1")
    };
    let told = |table: &mut Table, active: bool, call: &str| {
        let notes = vec![super::BoardNote { active, ..note.clone() }];
        table.client = Client::new(super::Boards::new(table.hub.clone(), notes), Threshold::Completed);
        table.ask(json!({"id": 1, "call": call}))[0]["param"].clone()
    };
    let list = told(&mut table, true, "eboards");
    let named = [&list[0]["source"], &list[0]["state"], &list[0]["comment"]];
    assert_eq!(named, [&json!("ttyACM0"), &json!("ACTIVE"), &json!("beside the window")]);
    let sources = told(&mut table, true, "sources");
    let first = json!({"type": "dgt", "device": "ttyACM0", "name": "beside the window", "present": true,
        "active": true, "status": null});
    assert_eq!((&sources[0], &sources[1]["device"]), (&first, &json!("ttyACM1")));
    let list = told(&mut table, false, "eboards");
    let named = [&list[0]["state"], &list[0]["board"], &list[0]["clock"]];
    assert_eq!(named, [&json!("INACTIVE"), &Value::Null, &Value::Null]);
    assert_eq!(told(&mut table, false, "sources")[0]["active"], false);
    let subscribe = json!({"id": 2, "call": "subscribe",
        "param": {"feed": "eboardevent", "id": 7, "param": {"serialnr": "90001"}}});
    let answer = &table.ask(subscribe)[0];
    assert_eq!(answer["response"], "error");
    let message = answer["param"]["message"].as_str().unwrap();
    assert!(message.contains("[board.livechess] active"), "{message}");
}

#[test]
fn pages_that_play_chess_and_pages_of_this_machine_are_let_through() {
    let own = vec!["https://club.example".to_owned()];
    for origin in [
        "https://lichess.org",
        "https://www.chess.com",
        "http://localhost:8080",
        "http://127.0.0.1",
        "http://[::1]:3000",
        "chrome-extension://abcdef",
        "https://club.example",
    ] {
        assert!(allowed(origin, &own), "{origin}");
    }
    for origin in
        ["null", "https://lichess.org.example", "http://localhost.example:80", "https://example.com", ""]
    {
        assert!(!allowed(origin, &own), "{origin}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is played, taken back and pressed, a client's list never shrinks but by the arbiter,
    /// and no message says the same as the one before it.
    #[test]
    fn the_list_grows_or_is_corrected(
        presses in any::<bool>(),
        steps in prop::collection::vec((0..8_u8, any::<prop::sample::Index>()), 1..80),
    ) {
        use shakmaty::{CastlingMode, Position as _};
        let mut table = Table::new(presses);
        table.subscribe();
        let mut last = table.setup(INITIAL_FEN).pop().unwrap();
        let mut completed = 0;
        for (kind, index) in steps {
            let plies = table.position.len() - 1;
            let events = match kind {
                0 if plies > completed => vec![table.undo(1)],
                1 | 2 if plies > 0 => {
                    completed = completed.max(plies);
                    vec![press(plies)]
                }
                _ => {
                    let moves = table.position.last().unwrap().legal_moves();
                    if moves.is_empty() {
                        break;
                    }
                    let uci = moves[index.index(moves.len())].to_uci(CastlingMode::Standard).to_string();
                    table.played(&uci)
                }
            };
            for frame in table.publish(events) {
                let length = |frame: &Value| frame["param"]["san"].as_array().unwrap().len();
                prop_assert!(length(&frame) >= length(&last));
                prop_assert_ne!(&frame["param"], &last["param"]);
                last = frame;
            }
        }
    }
}
