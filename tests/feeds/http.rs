//! Web page, JSON, PGN and server-sent events.

use std::sync::atomic::Ordering::Relaxed;

use serde_json::json;
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpSocket, TcpStream},
};
use touchmoved::{
    feed::{FeedConfig, bind, hub::QUEUE},
    publish::ClockFace,
    session::{
        event::GameResult,
        fact::{Certainty, EndDetail, FactKind},
    },
};

use super::table::{Answer, Events, Server, Table, config, get, request, soon};

#[tokio::test]
async fn a_stream_starts_with_a_snapshot_and_resumes_where_it_was_cut() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let mut events = Events::open(server.http, "/events", None).await;
    let snapshot = events.next().await.unwrap();
    assert_eq!((snapshot.event.as_str(), snapshot.id.as_str()), ("snapshot", "run-1"));
    assert_eq!(snapshot.data[0]["id"], "1");
    assert!(snapshot.data[0]["now_us"].is_u64());

    table.play("e2e4");
    let list = events.take(4).await;
    let names: Vec<&str> = list.iter().map(|sent| sent.event.as_str()).collect();
    assert_eq!(names, ["board", "board", "move", "status"]);
    assert_eq!(
        list[2].data,
        json!({
            "board": "1", "type": "move", "ply": 1, "uci": "e2e4", "san": "e4", "completed": false,
            "clock_ms": null, "fen": "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
        })
    );
    drop(events);

    table.press(5395, 5400);
    let mut events = Events::open(server.http, "/events", Some(&list[3].id)).await;
    let rest = events.take(2).await;
    assert_eq!(rest.iter().map(|sent| sent.number()).collect::<Vec<_>>(), [6, 7]);
    assert_eq!(rest[1].data["clock_ms"], 5_395_000);

    let mut events = Events::open(server.http, "/events", Some("other-6")).await;
    assert_eq!(events.next().await.unwrap().event, "snapshot", "an identifier of another run");
    server.stop().await;
    let last = events.next().await.unwrap();
    assert_eq!(last.event, "goodbye", "the stream ends with the daemon");
    assert_eq!(last.data["reason"], "the daemon is ending");
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_stream_of_one_board_tells_nothing_of_the_others() {
    let server = Server::start().await;
    let mut one = Table::new(&server.hub, "1");
    let mut two = Table::new(&server.hub, "2");
    let mut events = Events::open(server.http, "/events?board=2", None).await;
    assert_eq!(events.next().await.unwrap().data.as_array().unwrap().len(), 1);
    one.play("e2e4");
    two.board("8/8/8/8/8/8/8/8");
    one.play("e7e5");
    two.board("8/8/8/8/8/8/8/K7");
    let list = events.take(2).await;
    assert_eq!(list.iter().map(|sent| sent.number()).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(list[1].data, json!({"board": "2", "type": "board", "placement": "8/8/8/8/8/8/8/K7"}));
    assert_eq!(get(server.http, "/events?board=3", &[]).await.status, 404);
    server.stop().await;
}

/// A client that sends its request a byte at a time does not keep its place.
#[tokio::test]
async fn a_request_that_is_never_finished_ends() {
    let asking = std::time::Duration::from_millis(400);
    let server = Server::with(FeedConfig { asking, max_connections: 1, ..config() }).await;
    let _table = Table::new(&server.hub, "1");
    for address in [server.http, server.livechess, server.stream] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let (mut read, mut write) = stream.split();
        let ended = async {
            let mut bytes = Vec::new();
            let _ = read.read_to_end(&mut bytes).await;
        };
        tokio::pin!(ended);
        loop {
            tokio::select! {
                () = &mut ended => break,
                () = tokio::time::sleep(asking / 8) => drop(write.write_all(b"x").await),
            }
        }
    }
    let mut events = Events::open(server.http, "/events", None).await;
    assert_eq!(events.next().await.unwrap().event, "snapshot");
    server.stop().await;
}

/// A client that stops reading gets no gap: what it reads later is complete up to the point where
/// the stream ends, and it resumes or starts again from a snapshot.
#[tokio::test]
async fn a_slow_client_is_let_go_without_a_gap() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let mut slow = Events::open(server.http, "/events", None).await;
    let mut last = slow.next().await.unwrap();
    let total = 8 * QUEUE;
    for n in 0..total {
        table.board(&format!("{n:0>2000}"));
        if n % 64 == 0 {
            tokio::task::yield_now().await;
        }
    }
    while let Some(sent) = slow.next().await {
        if sent.event == "goodbye" {
            assert_eq!(sent.data["since"], last.id.as_str());
            assert_eq!(sent.data["reason"], "too slow; come back with the last id");
            continue;
        }
        assert_eq!(sent.number(), last.number() + 1, "a gap");
        last = sent;
    }
    assert!(last.number() < 1 + total as u64, "the client was not slow enough for this test");
    assert_eq!(server.hub.metrics().lagged.load(Relaxed), 1);
    let mut again = Events::open(server.http, "/events", Some(&last.id)).await;
    let first = again.next().await.unwrap();
    assert!(first.event == "snapshot" || first.number() == last.number() + 1);
    server.stop().await;
}

fn without_now(answer: &Answer) -> serde_json::Value {
    let mut value = answer.json();
    value.as_object_mut().unwrap().remove("now_us").unwrap();
    value
}

#[tokio::test]
async fn a_board_is_told_as_json_with_a_tag() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let first = get(server.http, "/api/boards/1", &[]).await;
    assert_eq!(without_now(&first), serde_json::to_value(table.state()).unwrap());
    assert_eq!(first.header("access-control-allow-origin"), Some("*"));
    assert_eq!(first.header("cache-control"), Some("no-store"));
    let tag = first.header("etag").unwrap().to_owned();
    let again = get(server.http, "/api/boards/1", &[("If-None-Match", &tag)]).await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    table.play("e2e4");
    let changed = get(server.http, "/api/boards/1", &[("If-None-Match", &tag)]).await;
    assert_eq!((changed.status, &changed.json()["plies"][0]["san"]), (200, &json!("e4")));
    assert_eq!(get(server.http, "/api/boards", &[]).await.json().as_array().unwrap().len(), 1);
    let missing = get(server.http, "/api/boards/9", &[]).await;
    assert_eq!(missing.status, 404);
    assert!(missing.json()["error"].as_str().unwrap().contains("/api/boards"), "{missing:?}");
    server.stop().await;
}

#[tokio::test]
async fn pgn_is_served_whole_and_only_when_it_changed() {
    let server = Server::start().await;
    let mut one = Table::new(&server.hub, "1");
    let _two = Table::new(&server.hub, "2");
    one.play("e2e4");
    one.press(5395, 5400);
    let answer = get(server.http, "/pgn/1.pgn?noCache=0.5", &[]).await;
    assert_eq!(answer.header("content-type"), Some("application/x-chess-pgn; charset=utf-8"));
    assert!(answer.body.starts_with("[Event \"Test Open\"]\n"), "{}", answer.body);
    assert!(answer.body.contains("[Round \"1.1\"]\n[White \"One, \\\"White\\\"\"]\n"), "{}", answer.body);
    assert!(answer.body.ends_with("\n\n1. e4 {[%clk 1:29:55]} *\n"), "{}", answer.body);
    assert_eq!(get(server.http, "/api/boards/1/pgn", &[]).await.body, answer.body);
    let all = get(server.http, "/pgn/games.pgn", &[]).await;
    assert_eq!(all.body.matches("[Event ").count(), 2);
    let strong = all.header("etag").unwrap();
    for tag in [strong, strong.trim_matches('"')] {
        let again = get(server.http, "/pgn/games.pgn", &[("If-None-Match", tag)]).await;
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{tag}");
    }
    one.facts([FactKind::GameEnd {
        result: GameResult::WhiteWins,
        reason: "entered",
        certainty: Certainty::Arbiter,
        more: EndDetail::default(),
    }]);
    let ended = get(server.http, "/pgn/games.pgn", &[("If-None-Match", strong)]).await;
    assert_eq!(ended.status, 200);
    assert!(ended.body.contains("[Result \"1-0\"]") && ended.body.contains(" 1-0\n"));
    assert_eq!(get(server.http, "/pgn/9.pgn", &[]).await.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn the_page_and_the_operators_resources() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    table.play("e2e4");
    let page = get(server.http, "/", &[]).await;
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'self'"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    for path in ["/app.js", "/style.css", "/pieces.svg", "/favicon.svg"] {
        assert_eq!(get(server.http, path, &[]).await.status, 200, "{path}");
    }
    assert_eq!(get(server.http, "/../Cargo.toml", &[]).await.status, 404);
    assert_eq!(request(server.http, "POST", "/", &[("Content-Length", "0")]).await.status, 405);
    assert_eq!(request(server.http, "POST", "/api/boards", &[("Content-Length", "99999")]).await.status, 413);
    let allowed = request(server.http, "OPTIONS", "/events", &[("Origin", "https://example.com")]).await;
    assert_eq!(allowed.header("access-control-allow-methods"), Some("GET, HEAD"));
    let health = get(server.http, "/healthz", &[]).await;
    let fine =
        json!({"status": "ok", "boards": 1, "connected": 1, "journal": "ok", "troubles": [], "devices": []});
    assert_eq!(health.json(), fine);
    assert_eq!(health.header("access-control-allow-origin"), None);
    let metrics = get(server.http, "/metrics", &[]).await.body;
    for line in ["touchmoved_moves_published_total 1\n", "touchmoved_board_connected{board=\"1\"} 1\n"] {
        assert!(metrics.contains(line), "{metrics}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_taken_address_is_explained() {
    let server = Server::start().await;
    let taken = FeedConfig { http: Some(server.http), livechess: None, ..config() };
    let error = bind(taken).await.unwrap_err().to_string();
    let address = server.http;
    assert_eq!(
        error,
        format!(
            "cannot listen on {address}: address in use; another touchmoved may be running, or set [http] listen"
        )
    );
    server.stop().await;
}

#[tokio::test]
async fn connections_over_the_limit_are_closed_and_counted() {
    let server = Server::with(FeedConfig { max_connections: 1, ..config() }).await;
    let _table = Table::new(&server.hub, "1");
    let mut held = Events::open(server.http, "/events", None).await;
    held.next().await.unwrap();
    let refused = get(server.http, "/healthz", &[]).await;
    assert_eq!((refused.status, refused.body.as_str()), (0, ""));
    assert_eq!(server.hub.metrics().refused.load(Relaxed), 1);
    drop(held);
    soon(async {
        while get(server.http, "/healthz", &[]).await.status != 200 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    server.stop().await;
}

/// One address leaves a quarter of the connections to the others: the arbiter gets through.
#[tokio::test]
async fn one_address_does_not_shut_the_others_out() {
    let server = Server::with(FeedConfig { max_connections: 8, ..config() }).await;
    let _table = Table::new(&server.hub, "1");
    let mut held = Vec::new();
    for _ in 0..6 {
        let mut events = Events::open(server.http, "/events", None).await;
        events.next().await.unwrap();
        held.push(events);
    }
    assert_eq!(get(server.http, "/healthz", &[]).await.status, 0, "the seventh of this address");
    assert_eq!(server.hub.metrics().refused.load(Relaxed), 1);
    let other = TcpSocket::new_v4().unwrap();
    other.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = soon(other.connect(server.http)).await.unwrap();
    other.write_all(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    soon(other.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.0 200 "), "{answer}");
    drop(held);
    server.stop().await;
}

/// A stream that begins on a connection which has served others comes behind their whole answers, also where the client
/// reads late.
#[tokio::test]
async fn a_stream_begins_behind_the_answers_before_it() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let picture = get(server.http, "/pieces.svg", &[]).await.body;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = BufReader::new(soon(socket.connect(server.http)).await.unwrap());
    let count = 4_000_000 / picture.len();
    let ask = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let asked = ask("/pieces.svg").repeat(count) + &ask("/events");
    // The server stops to read while the client does: both at once.
    let (read, mut write) = tokio::io::split(&mut stream);
    let mut read = BufReader::new(read);
    let said = async { write.write_all(asked.as_bytes()).await.unwrap() };
    let heard = async {
        for n in 0..count {
            let length = length(&head(&mut read).await);
            let mut body = vec![0; length.unwrap()];
            read.read_exact(&mut body).await.unwrap();
            assert!(body == picture.as_bytes(), "answer {n}");
        }
        let head = head(&mut read).await;
        assert!(
            head.contains("content-type: text/event-stream") && head.contains("connection: close"),
            "{head}"
        );
        assert!(head.contains("access-control-allow-origin: *") && head.contains("date: "), "{head}");
        let mut line = String::new();
        while !line.starts_with("data: [{\"id\":\"1\"") {
            line.clear();
            assert!(read.read_line(&mut line).await.unwrap() > 0);
        }
    };
    soon(async { tokio::join!(said, heard) }).await;
    table.play("e2e4");
    let mut line = String::new();
    while !line.contains("\"san\":\"e4\"") {
        line.clear();
        assert!(soon(read.read_line(&mut line)).await.unwrap() > 0);
    }
    let only_asked = request(server.http, "HEAD", "/events", &[]).await;
    assert_eq!((only_asked.status, only_asked.body.as_str()), (200, ""));
    server.stop().await;
}

/// The next head of an answer.
async fn head(read: &mut (impl AsyncBufRead + Unpin)) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(read.read_line(&mut head).await.unwrap() > 0, "{head}");
    }
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    head
}

fn length(head: &str) -> Option<usize> {
    head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
}

/// Whatever is refused is told in the one form, in words that say what to do.
#[tokio::test]
async fn what_is_refused_is_told_in_one_form() {
    let server = Server::start().await;
    let _table = Table::new(&server.hub, "1");
    for (method, path, status) in [
        ("GET", "/api/boards/%00%ff", 400),
        ("GET", "/pgn/%ff.pgn", 400),
        ("GET", "/api/clocks/%ff/events", 400),
        ("GET", "/api/boards/%00", 404),
        ("POST", "/api/boards", 405),
        ("DELETE", "/events", 405),
        ("GET", "/nothing", 404),
    ] {
        let answer = request(server.http, method, path, &[]).await;
        assert_eq!(answer.status, status, "{method} {path}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{method} {path}");
        assert!(answer.json()["error"].as_str().is_some_and(|words| words.len() > 20), "{}", answer.body);
        assert_eq!(answer.header("allow").is_some(), status == 405, "{method} {path}");
    }
    let long = request(server.http, "POST", "/api/boards", &[("Content-Length", "999999")]).await;
    assert_eq!((long.status, long.json()["error"].is_string()), (413, true));
    server.stop().await;
}

#[tokio::test]
async fn the_clock_page_has_times_of_its_own_and_shares_them_with_no_other_page() {
    let server = Server::start().await;
    let mut table = Table::new(&server.hub, "1");
    let face = ClockFace { white_ms: Some(60_000), running: Some("white"), ..ClockFace::default() };
    server.hub.show_clock("1", face);
    table.play("e2e4");

    let clocks = get(server.http, "/api/clocks", &[("origin", "https://example.org")]).await;
    assert_eq!((clocks.status, clocks.header("access-control-allow-origin")), (200, None));
    let told = clocks.json();
    assert_eq!(
        (&told[0]["board"], &told[0]["white_ms"], &told[0]["black_ms"]),
        (&json!("1"), &json!(60_000), &json!(null))
    );
    let mut keys: Vec<&str> = told[0].as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let times = [
        "at_us",
        "black_flag",
        "black_ms",
        "board",
        "delay_ms",
        "now_us",
        "running",
        "white_flag",
        "white_ms",
    ];
    assert_eq!(keys, times, "and nothing of the game");
    assert_eq!(get(server.http, "/api/clocks/9/events", &[]).await.status, 404);
    assert_eq!(get(server.http, "/clock", &[]).await.status, 200);

    let mut events = Events::open(server.http, "/api/clocks/1/events", None).await;
    assert_eq!(events.next().await.unwrap().data["running"], "white");
    server.hub.show_clock("1", ClockFace { running: None, white_flag: true, ..face });
    let next = events.next().await.unwrap();
    assert_eq!(
        (next.event.as_str(), &next.data["running"], &next.data["white_flag"]),
        ("clock", &json!(null), &json!(true))
    );
    // A new game on the board begins with an empty face.
    let _again = Table::new(&server.hub, "1");
    assert_eq!(events.next().await.unwrap().data["white_ms"], json!(null));
    server.stop().await;
    assert_eq!(events.next().await, None, "the stream ends with the daemon");
}

#[tokio::test]
async fn the_games_of_a_round_are_one_file() {
    let server = Server::start().await;
    let mut one = Table::new(&server.hub, "1");
    let two = Table::new(&server.hub, "2");
    one.play("e2e4");
    let mut state = two.state();
    state.tags.round = Some("2.2".to_owned());
    server.hub.set(state);
    let first = get(server.http, "/pgn/round-1.pgn?poll", &[]).await;
    assert_eq!(first.header("content-type"), Some("application/x-chess-pgn; charset=utf-8"));
    assert_eq!(first.body, get(server.http, "/pgn/1.pgn", &[]).await.body);
    let second = get(server.http, "/pgn/round-2.pgn", &[]).await;
    assert_eq!(second.body, get(server.http, "/pgn/2.pgn", &[]).await.body);
    assert_eq!(get(server.http, "/pgn/round-3.pgn", &[]).await.status, 404);
    server.stop().await;
}
