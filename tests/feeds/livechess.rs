//! The LiveChess API as its clients use it.

use std::sync::atomic::Ordering::Relaxed;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Error, Message};
use touchmoved::{
    feed::{FeedConfig, hub::QUEUE, livechess::BoardNote},
    publish::FeedEvent,
    session::setup::INITIAL_FEN,
};

use super::table::{Client, Server, Table, config, get};

const SUBSCRIBE: &str =
    r#"{"id":2,"call":"subscribe","param":{"feed":"eboardevent","id":7,"param":{"serialnr":"90001"}}}"#;
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

fn setup_call(id: u32, feed: u32, fen: &str) -> String {
    json!({"id": id, "call": "call", "param": {"id": feed, "method": "setup", "param": {"fen": fen}}})
        .to_string()
}

/// A frame without its times, which differ from run to run.
fn untimed(mut frame: Value) -> Value {
    assert!(frame["time"].as_u64().is_some_and(|time| time > 1_600_000_000_000), "{frame}");
    frame.as_object_mut().unwrap().remove("time");
    for pointer in ["/param/clock", "/param/0/clock"] {
        if let Some(Value::Object(clock)) = frame.pointer_mut(pointer) {
            assert!(clock.remove("time").is_some_and(|time| time.is_u64()));
        }
    }
    frame
}

/// The frame of a feed after `setup`, with `board` or `clock` where they changed.
fn event(flipped: bool, changed: (&str, Value), san: &[&str], matches: bool) -> Value {
    let mut param = json!({"serialnr": "90001", "flipped": flipped});
    param[changed.0] = changed.1;
    param["start"] = INITIAL_FEN.into();
    param["san"] = san.into();
    param["match"] = matches.into();
    json!({"response": "feed", "id": 7, "param": param})
}

/// A game of six plies with captures, clock presses, a turned board, an error and the end.
#[tokio::test]
async fn a_whole_session() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let mut client = Client::open(server.livechess).await;

    let list = untimed(client.call("{\"id\":1,\"call\":\"eboards\"}\n").await);
    let board = json!({
        "serialnr": "90001", "source": "1", "state": "ACTIVE", "battery": null, "comment": null,
        "board": START, "flipped": false, "clock": null
    });
    assert_eq!(list, json!({"response": "call", "id": 1, "param": [board]}));

    assert_eq!(untimed(client.call(SUBSCRIBE).await), json!({"response": "call", "id": 2, "param": null}));
    let first = json!({"serialnr": "90001", "flipped": false, "board": START, "clock": null});
    assert_eq!(untimed(client.next().await.unwrap()), json!({"response": "feed", "id": 7, "param": first}));
    let answer = client.call(&setup_call(3, 7, INITIAL_FEN)).await;
    assert_eq!(untimed(answer), json!({"response": "call", "id": 3, "param": null}));
    let start = event(false, ("board", START.into()), &[], true);
    assert_eq!(untimed(client.next().await.unwrap()), start);

    let game = [
        ("e2e4", "e4"),
        ("d7d5", "d5"),
        ("e4d5", "exd5"),
        ("d8d5", "Qxd5"),
        ("b1c3", "Nc3"),
        ("d5a5", "Qa5"),
    ];
    let mut san: Vec<&str> = Vec::new();
    for (index, (uci, notation)) in game.into_iter().enumerate() {
        for placement in table.play(uci) {
            let frame = untimed(client.next().await.unwrap());
            assert_eq!(frame, event(false, ("board", placement.into()), &san, false), "{uci}");
        }
        san.push(notation);
        let (white, black) = (5395 - index as u64, 5400);
        table.press(white, black);
        let clock = json!({"white": white, "black": black, "run": index % 2 == 1});
        let frame = untimed(client.next().await.unwrap());
        assert_eq!(frame, event(false, ("clock", clock), &san, true), "{uci}");
    }

    let flip = r#"{"id":4,"call":"call","param":{"id":7,"method":"flip","param":{"flip":true}}}"#;
    assert_eq!(untimed(client.call(flip).await), json!({"response": "call", "id": 4, "param": null}));
    let wrong = client.call(&setup_call(5, 99, INITIAL_FEN)).await;
    let param = json!({"message": "unknown feed 99", "stacktrace": ""});
    assert_eq!(untimed(wrong), json!({"response": "error", "id": 5, "param": param}));
    table.board(START);
    let frame = untimed(client.next().await.unwrap());
    let turned: String = START.chars().rev().collect();
    assert_eq!(frame, event(true, ("board", turned.into()), &san, false));
    let end = client.call(r#"{"id":6,"call":"unsubscribe","param":{"id":7}}"#).await;
    assert_eq!(untimed(end), json!({"response": "call", "id": 6, "param": null}));
    table.board("8/8/8/8/8/8/8/8");
    let list = client.call(r#"{"id":8,"call":"eboards"}"#).await;
    assert_eq!(list["id"], 8, "nothing came from the feed that ended");
    server.stop().await;
    assert_eq!(client.close_code().await, Some(1001), "a goodbye");
}

/// A client that does not read is let go, and another one is not held up by it.
#[tokio::test]
async fn a_slow_client_is_let_go() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let mut slow = Client::narrow(server.livechess).await;
    slow.call(SUBSCRIBE).await;
    let mut quick = Client::open(server.livechess).await;
    quick.call(SUBSCRIBE).await;
    quick.next().await.unwrap();
    for n in 0..4 * QUEUE {
        let placement = format!("{n:0>4000}");
        table.board(&placement);
        if n % 64 == 0 {
            let mut last = Value::Null;
            while last != placement.as_str() {
                last = quick.next().await.unwrap()["param"]["board"].clone();
            }
        }
    }
    assert_eq!(slow.close_code().await, Some(1008));
    assert_eq!(server.hub.metrics().lagged.load(Relaxed), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_client_without_setup_sees_boards_and_clocks_only() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let mut client = Client::from(server.livechess, Some("https://www.chess.com")).await.unwrap();
    client.call(SUBSCRIBE).await;
    client.next().await.unwrap();
    for placement in table.play("e2e4") {
        let frame = untimed(client.next().await.unwrap());
        assert_eq!(frame["param"], json!({"serialnr": "90001", "flipped": false, "board": placement}));
    }
    server.stop().await;
}

#[tokio::test]
async fn two_clients_and_two_feeds_on_one_socket() {
    let server = Server::start().await;
    let mut one = Table::new(&server.hub, "1");
    let mut two = Table::new(&server.hub, "b");
    let mut near = Client::open(server.livechess).await;
    let mut far = Client::open(server.livechess).await;
    for client in [&mut near, &mut far] {
        client.call(SUBSCRIBE).await;
        client.next().await.unwrap();
    }
    let second =
        r#"{"id":3,"call":"subscribe","param":{"feed":"eboardevent","id":"b","param":{"serialnr":"tm-b"}}}"#;
    near.call(second).await;
    near.next().await.unwrap();
    one.board("8/8/8/8/8/8/8/8");
    two.board("k7/8/8/8/8/8/8/K7");
    assert_eq!(near.next().await.unwrap()["id"], 7);
    let frame = near.next().await.unwrap();
    assert_eq!((&frame["id"], &frame["param"]["serialnr"]), (&json!("b"), &json!("tm-b")));
    assert_eq!(far.next().await.unwrap()["param"]["board"], "8/8/8/8/8/8/8/8");
    drop(near);
    one.board(START);
    assert_eq!(far.next().await.unwrap()["param"]["board"], START);
    server.stop().await;
}

#[tokio::test]
async fn garbage_is_answered_and_the_socket_stays() {
    let server = Server::start().await;
    let _table = Table::new(&server.hub, "1");
    let mut client = Client::open(server.livechess).await;
    for text in [
        "",
        "hello",
        "[]",
        "{}",
        r#"{"id":1}"#,
        r#"{"id":1,"call":7}"#,
        r#"{"id":1,"call":"subscribe","param":{"feed":"eboardevent","id":7}}"#,
        r#"{"id":1,"call":"subscribe","param":{"feed":"eboardevent","id":7,"param":{"serialnr":"1"}}}"#,
        r#"{"id":1,"call":"call","param":{"id":7,"method":"setup","param":{"flip":true}}}"#,
        r#"{"id":1,"call":"call","param":{"id":7,"method":"flip","param":{"fen":true}}}"#,
    ] {
        let answer = client.call(text).await;
        assert_eq!(answer["response"], "error", "{text}");
        assert!(answer["param"]["message"].as_str().is_some_and(|message| !message.is_empty()));
    }
    client.raw(Message::binary(vec![0, 159, 146, 150])).await;
    assert_eq!(client.next().await.unwrap()["response"], "error");
    assert_eq!(client.call(r#"{"id":"x","call":"eboards"}"#).await["id"], "x");
    client.shout(Message::text("x".repeat(100_000))).await;
    assert_eq!(client.close_code().await, Some(1009), "a frame of that size ends the connection");
    server.stop().await;
}

/// What no connection can go on after is told in the close frame.
#[tokio::test]
async fn a_broken_frame_ends_the_connection_with_a_code() {
    let server = Server::start().await;
    let _table = Table::new(&server.hub, "1");
    for (frame, code) in [
        // A text of two bytes that are no UTF-8, masked with zeros.
        (&[0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe][..], 1007),
        // A frame that is not masked.
        (&[0x81, 0x02, b'{', b'}'][..], 1002),
        // An operation that there is not.
        (&[0x83, 0x80, 0, 0, 0, 0][..], 1002),
    ] {
        let mut client = Client::open(server.livechess).await;
        client.bytes(frame).await;
        assert_eq!(client.close_code().await, Some(code), "{frame:x?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn the_http_side_and_the_pages_that_may_use_it() {
    let server = Server::start().await;
    let _table = Table::new(&server.hub, "1");
    let list = get(server.livechess, "/api/v1.0/eboards", &[("Origin", "https://lichess.org")]).await;
    assert_eq!(list.header("access-control-allow-origin"), Some("https://lichess.org"));
    assert!(list.body.starts_with("[\n  {\n    \"serialnr\": \"90001\",\n"), "{}", list.body);
    assert_eq!(get(server.livechess, "/doc/index.html", &[]).await.status, 200);
    assert_eq!(get(server.livechess, "/api/v1.0", &[]).await.status, 426);
    for (path, status, words) in [
        ("game/%ff", 400, "the address cannot be read"),
        ("round/%ff/0", 400, "the address cannot be read"),
        ("nothing", 404, "there is nothing at this address"),
    ] {
        let refused = get(server.livechess, &format!("/api/v1.0/{path}"), &[]).await;
        assert_eq!(refused.status, status, "{path}");
        assert!(refused.json()["error"].as_str().is_some_and(|error| error.starts_with(words)), "{path}");
    }
    assert_eq!(list.header("content-type"), Some("application/json; charset=utf-8"));
    let foreign = [("Origin", "https://example.com")];
    assert_eq!(get(server.livechess, "/api/v1.0/eboards", &foreign).await.status, 403);
    let refused = Client::from(server.livechess, Some("https://example.com")).await;
    assert!(matches!(refused, Err(Error::Http(response)) if response.status() == 403));
    server.stop().await;
}

/// A page whose name was given the address of this machine asks its own origin, as its browser sees it.
#[tokio::test]
async fn a_name_that_was_given_the_address_of_this_machine_is_refused() {
    let own = vec!["http://board.club.example:1982".to_owned()];
    let server = Server::with(FeedConfig { livechess_origins: own, ..config() }).await;
    let _table = Table::new(&server.hub, "1");
    let status = async |path: &str, host: &str| get(server.livechess, path, &[("Host", host)]).await.status;
    for path in ["/api/v1.0/eboards", "/api/v1.0/tournaments", "/doc/index.html"] {
        for host in ["evil.example:1982", "127.0.0.1.evil.example", "board.club.example", "lichess.org"] {
            assert_eq!(status(path, host).await, 403, "{path} at {host}");
        }
        let near =
            ["localhost:1982", "127.0.0.1:1982", "[::1]:1982", "192.168.1.7", "board", "board.local:1982"];
        for host in near.into_iter().chain(["board.club.example:1982", "Board.Club.Example:1982"]) {
            assert_eq!(status(path, host).await, 200, "{path} at {host}");
        }
    }
    let refused = get(server.livechess, "/api/v1.0/eboards", &[("Host", "evil.example")]).await;
    assert!(refused.body.contains("allowed-origins"), "{}", refused.body);
    server.stop().await;
}

/// What is not told of a board that is switched off is not told of its game either.
#[tokio::test]
async fn of_a_board_that_is_switched_off_there_is_the_result_alone() {
    let off = BoardNote { active: false, comment: Some("broken".to_owned()), ..BoardNote::of("1") };
    let server = Server::with(FeedConfig { livechess_boards: vec![off], ..config() }).await;
    let mut tables = ["1", "2"].map(|id| Table::new(&server.hub, id));
    for table in &mut tables {
        table.play("e2e4");
        table.press(5395, 5400);
    }
    server.hub.publish("1", vec![FeedEvent::Result { result: "1-0", termination: Some("time forfeit") }]);
    let ask = async |path: &str| get(server.livechess, &format!("/api/v1.0/{path}"), &[]).await.json();
    let uuid = ask("tournaments").await[0]["uuid"].as_str().unwrap().to_owned();
    let round = ask(&format!("round/{uuid}/0")).await;
    let game =
        async |at: usize| ask(&format!("game/{}", round["pairings"][at]["uuid"].as_str().unwrap())).await;
    let wanted = json!({"chess960": 518, "result": "WHITEWIN", "comment": null, "clock": null, "moves": []});
    assert_eq!(game(0).await, wanted);
    assert_eq!(round["pairings"][0]["result"], "WHITEWIN");
    assert_eq!(game(1).await["moves"], json!(["e4 5395"]));
    server.stop().await;
}

/// From the list of tournaments to the moves of a game, as the tool of operators goes.
#[tokio::test]
async fn the_games_of_a_tournament_over_http() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let _other = Table::new(&server.hub, "2");
    table.play("e2e4");
    table.press(5395, 5400);
    table.play("e7e5");
    let ask = async |path: &str| {
        let answer = get(server.livechess, &format!("/api/v1.0/{path}"), &[]).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    };
    let list = ask("tournaments").await;
    let uuid = list[0]["uuid"].as_str().unwrap().to_owned();
    assert_eq!(list, json!([{"uuid": uuid, "description": "Test Open", "rounds": 1}]));
    let detail = json!({"uuid": uuid, "name": "Test Open", "description": "Test Open", "location": null,
        "country": null, "rounds": 1, "eboards": ["90001", "90002"]});
    assert_eq!(ask(&format!("tournament/{uuid}")).await, detail);
    let round = ask(&format!("round/{uuid}/0")).await;
    assert_eq!(
        (&round["nr"], &round["date"], round["pairings"].as_array().unwrap().len()),
        (&json!(1), &Value::Null, 2)
    );
    let first = &round["pairings"][0];
    let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["nr", "uuid", "white", "black", "live", "result"]);
    let white = json!({"fname": "\"White\"", "mname": null, "lname": "One", "title": null, "federation": null,
        "gender": null, "fideid": null});
    assert_eq!((&first["white"], &first["live"], &first["result"]), (&white, &json!(true), &Value::Null));
    let game = ask(&format!("game/{}", first["uuid"].as_str().unwrap())).await;
    let keys: Vec<&String> = game.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["chess960", "result", "comment", "clock", "moves"]);
    assert_eq!(
        (&game["chess960"], &game["moves"]),
        (&json!(518), &json!(["e4 5395"])),
        "e5 waits for its press"
    );
    assert_eq!((&game["clock"]["white"], &game["clock"]["run"]), (&json!(5395), &json!(false)));
    for path in [format!("round/{uuid}/1"), format!("round/{uuid}/x"), "tournament/x".into(), "game/x".into()]
    {
        assert_eq!(get(server.livechess, &format!("/api/v1.0/{path}"), &[]).await.status, 404, "{path}");
    }
    assert_eq!(ask("sources").await[1]["device"], "2");
    server.stop().await;
}
