//! Streams for programmers: lines over TCP and WebSocket.

use std::sync::atomic::Ordering::Relaxed;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpSocket, TcpStream},
};
use tokio_tungstenite::tungstenite::Message;
use touchmoved::{
    feed::{FeedConfig, hub::QUEUE, stream::SCHEMA},
    publish::FeedEvent,
    session::{
        event::GameResult,
        fact::{Certainty, EndDetail, FactKind},
    },
};

use super::table::{Client, Events, Server, Table, config, get, soon};

/// A client of the lines.
struct Lines(BufReader<TcpStream>);

impl Lines {
    async fn open(server: &Server) -> Lines {
        Lines::with(server, TcpSocket::new_v4().unwrap()).await
    }

    async fn with(server: &Server, socket: TcpSocket) -> Lines {
        let mut lines = Lines(BufReader::new(soon(socket.connect(server.stream)).await.unwrap()));
        let version = lines.next().await.unwrap();
        let release = env!("CARGO_PKG_VERSION");
        let expected = json!({"type": "version", "program": "touchmoved", "release": release, "protocol": 1});
        assert_eq!(version, expected);
        lines
    }

    async fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).await.unwrap();
    }

    /// The next object; nothing at the end.
    async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        loop {
            line.clear();
            if soon(self.0.read_line(&mut line)).await.unwrap_or(0) == 0 {
                return None;
            }
            assert!(line.ends_with("\r\n"), "{line:?}");
            if !line.trim().is_empty() {
                return Some(serde_json::from_str(&line).unwrap());
            }
        }
    }

    async fn take(&mut self, n: usize) -> Vec<Value> {
        let mut list = Vec::new();
        for _ in 0..n {
            list.push(self.next().await.expect("the connection ended"));
        }
        list
    }
}

fn types(list: &[Value]) -> Vec<&str> {
    list.iter().map(|object| object["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_client_that_asks_for_nothing_is_told_nothing() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let mut lines = Lines::open(&server).await;
    table.play("e2e4");
    lines.send("?POLL;\r\n").await;
    let poll = lines.next().await.unwrap();
    assert_eq!((&poll["type"], &poll["boards"][0]["plies"][0]["uci"]), (&json!("snapshot"), &json!("e2e4")));
    lines.send("?VERSION;\n?WATCH={\"enable\":true};\n").await;
    let list = lines.take(3).await;
    assert_eq!(types(&list), ["version", "watch", "snapshot"]);
    assert_eq!(list[1], json!({"type": "watch", "enable": true}));
    assert_eq!(list[2]["id"], poll["id"]);
    table.play("e7e5");
    let list = lines.take(3).await;
    assert_eq!(types(&list), ["board", "board", "move"]);
    assert_eq!(
        (&list[2]["id"], &list[2]["board"], &list[2]["san"]),
        (&json!("run-8"), &json!("1"), &json!("e5"))
    );
    lines.send("?WATCH={\"enable\":false};\n?VERSION;\n").await;
    assert_eq!(lines.next().await.unwrap(), json!({"type": "watch", "enable": false}));
    table.play("g1f3");
    assert_eq!(types(&lines.take(1).await), ["version"], "it does not watch any more");
    server.stop().await;
    let goodbye = lines.next().await.unwrap();
    assert_eq!(goodbye, json!({"type": "goodbye", "reason": "the daemon is ending", "since": ""}));
    assert_eq!(lines.next().await, None);
}

#[tokio::test]
async fn boards_and_kinds_are_chosen_and_the_rest_can_be_caught_up() {
    let server = Server::start().await;
    let (mut one, mut two) = (Table::new(&server.hub, "1"), Table::new(&server.hub, "2"));
    let mut lines = Lines::open(&server).await;
    lines.send("?WATCH={\"boards\":[\"2\"],\"kinds\":[\"move\",\"completed\"]};\n").await;
    let list = lines.take(2).await;
    assert_eq!(list[0]["boards"], json!(["2"]));
    assert_eq!(list[1]["boards"].as_array().unwrap().len(), 1);
    one.play("e2e4");
    two.play("d2d4");
    two.press(5390, 5400);
    let list = lines.take(2).await;
    assert_eq!(types(&list), ["move", "completed"]);
    assert_eq!((&list[0]["san"], &list[1]["clock_ms"]), (&json!("d4"), &json!(5_390_000)));
    drop(lines);
    two.play("d7d5");
    let mut lines = Lines::open(&server).await;
    let since = list[1]["id"].as_str().unwrap();
    lines.send(&format!("?WATCH={{\"boards\":[\"2\"],\"kinds\":[\"move\"],\"since\":\"{since}\"}};\n")).await;
    let list = lines.take(2).await;
    assert_eq!(types(&list), ["watch", "move"], "no snapshot: nothing is missing");
    assert_eq!(list[1]["san"], "d5");
    server.stop().await;
    let goodbye = lines.next().await.unwrap();
    assert!(goodbye["since"].as_str().unwrap().starts_with("run.1-"), "{goodbye}");
}

#[tokio::test]
async fn a_bad_request_is_answered_and_the_connection_stays() {
    let server = Server::start().await;
    let _table = Table::new(&server.hub, "1");
    let mut lines = Lines::open(&server).await;
    for (request, answer) in [
        ("hello", "a request begins with ?"),
        ("?FOO;", "unrecognized request"),
        ("?WATCH={\"boards\":[\"9\"]};", "there is no board \"9\""),
        ("?WATCH={\"kinds\":[\"touch\"]};", "no events of the kind \"touch\""),
    ] {
        lines.send(&format!("{request}\n")).await;
        let error = lines.next().await.unwrap();
        assert_eq!(error["type"], "error");
        assert!(error["message"].as_str().unwrap().contains(answer), "{error}");
    }
    lines.0.get_mut().write_all(b"?\xff\xfe;\n").await.unwrap();
    assert_eq!(lines.next().await.unwrap()["message"], "a request is text in UTF-8");
    // In pieces, as a slow typist sends it.
    for piece in ["?VER", "SION", ";\n"] {
        lines.send(piece).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(lines.next().await.unwrap()["type"], "version");
    lines.send(&"x".repeat(5000)).await;
    assert_eq!(lines.next().await.unwrap()["message"], "a request has 4096 bytes at most");
    let goodbye = lines.next().await.unwrap();
    assert_eq!(
        (&goodbye["type"], &goodbye["reason"]),
        (&json!("goodbye"), &json!("a request has 4096 bytes at most"))
    );
    assert_eq!(lines.next().await, None);
    server.stop().await;
}

/// A client that has asked and closes its end for writing goes on to hear, as `printf ... | nc` does.
#[tokio::test]
async fn a_client_that_is_done_with_asking_hears_on() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let mut lines = Lines::open(&server).await;
    lines.send("?WATCH={\"kinds\":[\"move\"]};\n").await;
    lines.0.get_mut().shutdown().await.unwrap();
    assert_eq!(types(&lines.take(2).await), ["watch", "snapshot"]);
    table.play("e2e4");
    assert_eq!(lines.next().await.unwrap()["san"], "e4");
    let mut silent = Lines::open(&server).await;
    silent.0.get_mut().shutdown().await.unwrap();
    assert_eq!(silent.next().await, None);
    server.stop().await;
}

/// The numbers of one audience say nothing to another: no hole, a snapshot.
#[tokio::test]
async fn an_identifier_of_another_audience_gets_a_snapshot() {
    let server = Server::start().await;
    let (mut one, mut two) = (Table::new(&server.hub, "1"), Table::new(&server.hub, "2"));
    one.play("e2e4");
    two.play("d2d4");
    let mut lines = Lines::open(&server).await;
    lines.send("?WATCH={\"boards\":[\"1\"]};\n").await;
    let id = lines.take(2).await[1]["id"].as_str().unwrap().to_owned();
    for (boards, first) in
        [("[\"1\"]", None), ("[\"2\"]", Some("snapshot")), ("[\"1\",\"2\"]", Some("snapshot"))]
    {
        let mut lines = Lines::open(&server).await;
        lines.send(&format!("?WATCH={{\"boards\":{boards},\"since\":\"{id}\"}};\n?VERSION;\n")).await;
        let list = lines.take(2 + usize::from(first.is_some())).await;
        assert_eq!(types(&list).contains(&"snapshot"), first.is_some(), "{boards}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_slow_reader_of_lines_is_let_go_without_a_gap() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut lines = Lines::with(&server, socket).await;
    lines.send("?WATCH;\n").await;
    let number = |object: &Value| -> u64 {
        object["id"].as_str().unwrap().rsplit('-').next().unwrap().parse().unwrap()
    };
    let mut last = number(&lines.take(2).await[1]);
    for n in 0..8 * QUEUE {
        table.board(&format!("{n:0>2000}"));
        if n % 64 == 0 {
            tokio::task::yield_now().await;
        }
    }
    loop {
        let object = lines.next().await.unwrap();
        if object["type"] == "goodbye" {
            assert_eq!(object["reason"], "too slow; come back with the last id");
            assert_eq!(object["since"], format!("run-{last}"));
            break;
        }
        assert_eq!(number(&object), last + 1, "a gap");
        last += 1;
    }
    assert_eq!(lines.next().await, None);
    assert_eq!(server.hub.metrics().lagged.load(Relaxed), 1);
    server.stop().await;
}

#[tokio::test]
async fn the_same_objects_come_over_a_websocket() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let url = format!("ws://{}/api/stream", server.http);
    let mut plain = Client::at(&url, Some("https://anywhere.example")).await.unwrap();
    assert_eq!(plain.next().await.unwrap()["type"], "version");
    assert_eq!(plain.call("?WATCH={\"kinds\":[\"move\"]};").await["kinds"], json!(["move"]));
    assert_eq!(plain.next().await.unwrap()["type"], "snapshot");
    let mut asked = Client::at(&format!("{url}?board=1&kinds=move,result"), None).await.unwrap();
    let mut list = Vec::new();
    for _ in 0..3 {
        list.push(asked.next().await.unwrap());
    }
    assert_eq!(types(&list), ["version", "watch", "snapshot"]);
    table.play("e2e4");
    for client in [&mut plain, &mut asked] {
        assert_eq!(client.next().await.unwrap()["san"], "e4");
    }
    plain.raw(Message::binary(vec![1, 2])).await;
    assert_eq!(plain.next().await.unwrap()["type"], "error");
    assert_eq!(plain.call("?NONSENSE;").await["type"], "error");
    assert_eq!(get(server.http, "/api/stream", &[]).await.status, 426);
    assert!(Client::at(&format!("{url}?kinds=touch"), None).await.is_err());
    let metrics = server.hub.metrics();
    assert_eq!((metrics.socket_clients.load(Relaxed), metrics.line_clients.load(Relaxed)), (2, 0));
    server.stop().await;
    assert_eq!(plain.next().await.unwrap()["type"], "goodbye");
    assert_eq!(asked.close_code().await, Some(1001));
}

/// What no connection can go on after is told by `goodbye` and in the close frame.
#[tokio::test]
async fn a_socket_that_is_sent_too_much_or_nonsense_is_told_why_it_ends() {
    let server = Server::start().await;
    let _table = Table::new(&server.hub, "1");
    let url = format!("ws://{}/api/stream", server.http);
    let mut client = Client::at(&url, None).await.unwrap();
    assert_eq!(client.next().await.unwrap()["type"], "version");
    client.shout(Message::text("x".repeat(5000))).await;
    let goodbye = client.next().await.unwrap();
    assert_eq!(
        (&goodbye["type"], &goodbye["reason"]),
        (&json!("goodbye"), &json!("a message has 4096 bytes at most"))
    );
    assert_eq!(client.close_code().await, Some(1009));
    for (frame, code) in [(&[0x81, 0x81, 0, 0, 0, 0, 0xff][..], 1007), (&[0x81, 0x01, b'?'][..], 1002)] {
        let mut client = Client::at(&url, None).await.unwrap();
        assert_eq!(client.next().await.unwrap()["type"], "version");
        client.bytes(frame).await;
        assert_eq!(client.next().await.unwrap()["type"], "goodbye", "{frame:x?}");
        assert_eq!(client.close_code().await, Some(code), "{frame:x?}");
    }
    server.stop().await;
}

/// A filter with a slip in its name would let everything through.
#[tokio::test]
async fn what_the_query_of_a_stream_does_not_know_is_refused() {
    let server = Server::start().await;
    let _table = Table::new(&server.hub, "1");
    for (query, words) in [
        ("bord=1", "there is no parameter \"bord\"; there are board, boards, kinds, since"),
        ("board=1&board=2", "board is given twice"),
        ("board=1&boards=2", "board and boards are both given"),
    ] {
        for answer in [
            get(server.http, &format!("/events?{query}"), &[]).await,
            get(server.http, &format!("/api/stream?{query}"), &[]).await,
        ] {
            assert_eq!(answer.status, 400, "{query}");
            assert!(answer.json()["error"].as_str().unwrap().starts_with(words), "{}", answer.body);
        }
    }
    // A browser shows nothing of an upgrade that is refused: a board that there is not is told over the socket.
    let mut client = Client::at(&format!("ws://{}/api/stream?board=9", server.http), None).await.unwrap();
    assert_eq!(client.next().await.unwrap()["type"], "version");
    assert_eq!(client.next().await.unwrap()["message"], "there is no board \"9\"; /api/boards lists them");
    assert_eq!(client.call("?WATCH={\"boards\":[\"1\"]};").await["type"], "watch", "and it can be put right");
    server.stop().await;
}

#[tokio::test]
async fn events_can_be_filtered_by_kind() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let mut events = Events::open(server.http, "/events?boards=1&kinds=move", None).await;
    events.next().await.unwrap();
    table.play("e2e4");
    table.play("e7e5");
    let list = events.take(2).await;
    assert_eq!(list.iter().map(|sent| sent.data["san"].as_str().unwrap()).collect::<Vec<_>>(), ["e4", "e5"]);
    assert_eq!(get(server.http, "/events?kinds=move,touch", &[]).await.status, 400);
    server.stop().await;
}

/// Every object that the streams can tell is as the schema says, and one that is not is refused by it.
#[tokio::test]
async fn the_schema_describes_what_is_told() {
    let server = Server::with(FeedConfig { ..config() }).await;
    let mut table = Table::new(&server.hub, "1");
    let served = get(server.http, "/api/stream/schema.json", &[]).await;
    assert_eq!(served.body, SCHEMA);
    assert_eq!(served.header("content-type"), Some("application/schema+json"));
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("stream.json", served.json()).unwrap();
    let schema = compiler.compile("stream.json", &mut schemas).unwrap();
    let mut lines = Lines::open(&server).await;
    let mut told = Vec::new();
    for (request, answers) in [
        ("?VERSION;", 1),
        ("?NONSENSE;", 1),
        ("?WATCH={\"boards\":[\"1\"]};", 2),
        ("?WATCH={\"kinds\":[\"move\"]};", 2),
        ("?WATCH;", 2),
    ] {
        lines.send(&format!("{request}\n")).await;
        told.extend(lines.take(answers).await);
    }
    table.play("e2e4");
    table.press(5395, 5400);
    table.play("e7e5");
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2".to_owned();
    let played = table.state().plies[1].clone();
    let (start_fen, san) = (fen.clone(), vec!["Nf3".to_owned()]);
    let earlier = vec![touchmoved::publish::EarlierPart { start_fen, san, times: Vec::new() }];
    server.hub.publish(
        "1",
        vec![
            FeedEvent::Correct { ply: 2, played, fen: fen.clone() },
            FeedEvent::Elapsed { ply: 2, elapsed_ms: 4000 },
            FeedEvent::Undo { n: 1, fen: fen.clone() },
            FeedEvent::Setup { fen, earlier },
        ],
    );
    table.facts([FactKind::GameEnd {
        result: GameResult::WhiteWins,
        reason: "entered",
        certainty: Certainty::Arbiter,
        more: EndDetail::default(),
    }]);
    loop {
        let object = lines.next().await.unwrap();
        let over = object["status"] == "ended";
        told.push(object);
        if over {
            break;
        }
    }
    server.stop().await;
    told.push(lines.next().await.unwrap());
    for object in &told {
        schemas.validate(object, schema).map_err(|error| format!("{object}: {error}")).unwrap();
    }
    let mut kinds = types(&told);
    kinds.sort_unstable();
    kinds.dedup();
    let all = [
        "board",
        "clock",
        "completed",
        "correct",
        "elapsed",
        "error",
        "goodbye",
        "move",
        "result",
        "setup",
        "snapshot",
        "status",
        "undo",
        "version",
        "watch",
    ];
    assert_eq!(kinds, all);
    for wrong in [
        json!({"type": "touch", "id": "a-1", "board": "1"}),
        json!({"type": "board", "board": "1", "placement": "8/8/8/8/8/8/8/8"}),
        json!({"type": "undo", "id": "a-1", "board": "1", "n": 0, "fen": ""}),
    ] {
        assert!(schemas.validate(&wrong, schema).is_err(), "{wrong}");
    }
}
