//! A spectator who may see the game late only, and tries to see it early: everything that the public addresses of
//! a running daemon tell, against what the operator's page tells.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod process;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use process::{Daemon, LIMIT, assert_replayed, assert_verified, get, journals, moves, run};
use serde_json::Value;
use touchmoved::{session::time::MonoTime, sysclock::monotonic as now};

const DELAY: Duration = Duration::from_secs(3);

fn config(dir: &Path, release: &str, speed: u32) -> PathBuf {
    let path = dir.join("touchmoved.toml");
    let any = "listen = \"127.0.0.1:0\"";
    let text = format!(
        "[data]\ndir = \"data\"\n[http]\n{any}\n[livechess]\n{any}\n[operator]\nenabled = true\n{any}\n\
         [release]\n{release}\n[[board]]\nid = \"7\"\n[board.sensor.simulated]\nspeed = {speed}\nseed = 0\n\
         level = \"clean\"\n"
    );
    fs::write(&path, text).unwrap();
    path
}

/// The addresses of the public page, of LiveChess and of the operator.
fn addresses(daemon: &mut Daemon) -> [SocketAddr; 3] {
    let mut after = |text: &str| {
        let line = daemon.wait_for(text);
        let rest = line.split("://").nth(1).unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    };
    [after("events and PGN: http"), after("LiveChess: ws"), after("for the operator")]
}

/// What a stream of events has told, and when.
type Heard = Arc<Mutex<Vec<(MonoTime, String)>>>;

/// Listens to `/events`: the data of each event without the times of the telling.
fn listen(address: SocketAddr) -> Heard {
    let heard = Heard::default();
    let told = heard.clone();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    write!(stream, "GET /events HTTP/1.1\r\nHost: board\r\n\r\n").unwrap();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let Ok(mut event) = serde_json::from_str::<Value>(data) else { continue };
            if let Some(event) = event.as_object_mut() {
                event.remove("at_us");
                event.remove("now_us");
            }
            told.lock().unwrap().push((now(), event.to_string()));
        }
    });
    heard
}

/// How many half-moves a PGN has.
fn plies_of(pgn: &str) -> usize {
    let text = pgn.split_once("\n\n").map_or("", |(_, text)| text);
    let moves = text.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
    let tokens = moves.flat_map(str::split_whitespace);
    tokens.filter(|token| token.starts_with(|c: char| c.is_ascii_alphabetic())).count()
}

fn releases(journal: &Path) -> Vec<Value> {
    let output = run(&["export", "--releases", journal.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn nothing_public_is_ahead_of_its_delay() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path(), "delay-s = 3", 100);
    let mut daemon = Daemon::with_config(&config);
    let [public, livechess, operator] = addresses(&mut daemon);
    let (early, late) = (listen(operator), listen(public));
    // What the public addresses tell beside the stream, each time that it is something else.
    let mut polled: Vec<(MonoTime, &str, String)> = Vec::new();
    let paths = [(public, "/api/boards/7"), (public, "/pgn/games.pgn"), (livechess, "/api/v1.0/eboards")];
    let file = dir.path().join("data/pgn/7.pgn");
    daemon.until("the end of the game, for the public", |_| {
        for (address, path) in paths {
            let body = get(address, path).1;
            if polled.iter().rev().find(|(_, known, _)| *known == path).is_none_or(|(.., last)| *last != body)
            {
                polled.push((now(), path, body));
            }
        }
        polled.push((now(), "file", fs::read_to_string(&file).unwrap_or_default()));
        let heard = late.lock().unwrap();
        heard.iter().any(|(_, data)| data.contains("\"status\":\"ended\"")).then_some(())
    });
    let mut early = early.lock().unwrap().clone();
    let mut late = late.lock().unwrap().clone();
    // To the end of the game, and from where the first of the two began to listen.
    for heard in [&mut early, &mut late] {
        let ended = heard.iter().position(|(_, data)| data.contains("\"status\":\"ended\"")).unwrap();
        heard.truncate(ended + 1);
        heard.retain(|(_, data)| !data.starts_with('['));
    }
    let both = early.len().min(late.len());
    assert!(both > 100, "{both}");
    let (early, late) = (&early[early.len() - both..], &late[late.len() - both..]);
    assert_eq!(
        early.iter().map(|(_, data)| data).collect::<Vec<_>>(),
        late.iter().map(|(_, data)| data).collect::<Vec<_>>(),
        "the same, later"
    );
    // The ear at the operator's page may have been slow; the release log below is exact.
    let least_us = u64::try_from(DELAY.as_micros()).unwrap() / 2;
    for ((known, data), (shown, _)) in early.iter().zip(late) {
        let held_us = shown.since(*known);
        assert!(held_us >= least_us, "{data} after {held_us} us");
    }
    let move_at = |ply: usize| {
        let is_it =
            |data: &str| data.contains("\"type\":\"move\"") && data.contains(&format!("\"ply\":{ply},"));
        early.iter().find(|(_, data)| is_it(data)).map(|(at, _)| *at)
    };
    for (seen, path, body) in &polled {
        let plies = match *path {
            "/api/boards/7" => moves(&serde_json::from_str(body).unwrap()).len(),
            "/pgn/games.pgn" | "file" => plies_of(body),
            _ => continue,
        };
        if let Some(known) = move_at(plies) {
            let held_us = seen.since(known);
            assert!(held_us >= least_us, "{path} tells of ply {plies} after {held_us} us");
        }
    }
    // A picture of the board that LiveChess shows was on the board long before.
    for (seen, _, body) in polled.iter().filter(|(_, path, _)| path.ends_with("eboards")) {
        let list: Value = serde_json::from_str(body).unwrap();
        let board = format!("\"placement\":{}", list[0]["board"]);
        if let Some((known, _)) = early.iter().find(|(_, data)| data.contains(&board)) {
            assert!(seen.since(*known) >= least_us || board.contains("RNBQKBNR"), "{board}");
        }
    }
    for path in ["/metrics", "/api/clocks", "/api/clocks/7/events", "/clock"] {
        assert_eq!(get(public, path).0, 404, "{path}");
        if !path.ends_with("events") {
            assert_eq!(get(operator, path).0, 200, "{path}");
        }
    }
    // No web page of another origin reads what is not late at the operator's address, under no name of its own either.
    for (host, origin, status) in [
        (operator.to_string(), None, 200),
        (operator.to_string(), Some(format!("http://{operator}")), 200),
        ("board.local:8081".to_owned(), None, 200),
        (operator.to_string(), Some("https://elsewhere.example".to_owned()), 403),
        ("elsewhere.example".to_owned(), None, 403),
    ] {
        let origin = origin.map(|origin| format!("Origin: {origin}\r\n")).unwrap_or_default();
        let mut stream = TcpStream::connect(operator).unwrap();
        let request =
            format!("GET /api/boards HTTP/1.1\r\nHost: {host}\r\n{origin}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}{answer}");
        assert!(!answer.to_ascii_lowercase().contains("access-control-allow-origin"), "{answer}");
    }
    assert_eq!(get(public, "/healthz").1, "{\"status\":\"ok\"}");
    assert!(get(operator, "/healthz").1.contains("boards"));
    daemon.end();
    let journal = journals(&dir.path().join("data"), "7").remove(0);
    assert_verified(&journal);
    assert_replayed(&journal);
    let log = releases(&journal);
    // LiveChess lists a move when it is completed, and has lines of its own.
    let (livechess, others): (Vec<_>, Vec<_>) =
        log.iter().partition(|line| line["to"] == serde_json::json!(["livechess"]));
    for lines in [&livechess, &others] {
        let moves = lines.iter().filter(|line| line["plies"].as_u64() > Some(0)).count();
        assert!(moves >= 33, "{moves}");
    }
    assert!(others.iter().all(|line| line["to"] == serde_json::json!(["http", "pgn", "dgt-emulation"])));
    for line in &log {
        assert!(u128::from(line["least_us"].as_u64().unwrap()) >= DELAY.as_micros(), "{line}");
    }
}

#[test]
fn a_killed_daemon_shows_nothing_early_when_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path(), "delay-s = 20", 100);
    let mut daemon = Daemon::with_config(&config);
    let [public, _, operator] = addresses(&mut daemon);
    let plies = |address| moves(&serde_json::from_str(&get(address, "/api/boards/7").1).unwrap()).len();
    daemon.until("some moves", |_| (plies(operator) > 8).then_some(()));
    assert_eq!(plies(public), 0);
    daemon.kill();
    let mut daemon = Daemon::with_config(&config);
    let [public, _, operator] = addresses(&mut daemon);
    assert_eq!(plies(public), 0);
    assert!(plies(operator) > 8);
    assert!(!get(public, "/pgn/games.pgn").1.contains("1. "));
    daemon.until("all moves, for the public", |_| (plies(public) >= 33).then_some(()));
    daemon.end();
}

/// A move that is published when the hands rest follows from no event of its own. It has left: a restart takes it back
/// from nobody, whatever comes next at the board.
#[test]
fn what_was_published_by_time_stays_shown_when_the_daemon_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let sensors = dir.path().join("sensors");
    assert!(std::process::Command::new("mkfifo").arg(&sensors).status().unwrap().success());
    let any = "listen = \"127.0.0.1:0\"";
    let text = format!(
        "[data]\ndir = \"data\"\n[http]\n{any}\n[livechess]\n{any}\n[operator]\n{any}\n\
         [release]\ndelay-s = 3\n[[board]]\nid = \"7\"\n[board.tags]\nround = \"1\"\n[board.sensor.sensor-log]\n\
         path = \"sensors\"\npace = \"as-fast-as-possible\"\n"
    );
    let config = dir.path().join("touchmoved.toml");
    fs::write(&config, text).unwrap();
    let mut daemon = Daemon::with_config(&config);
    let [public, _, operator] = addresses(&mut daemon);
    daemon.wait_for("ready");
    let mut log = fs::File::options().write(true).open(&sensors).unwrap();
    let mut told = |lines: &[&str]| lines.iter().for_each(|line| writeln!(log, "{line}").unwrap());
    told(&[
        r#"{"sensor_log":1,"board":"reed"}"#,
        r#"{"us":1000000,"sq":"e2","occ":0}"#,
        r#"{"us":1500000,"sq":"e4","occ":1}"#,
        r#"{"us":60000000,"tick":true}"#,
    ]);
    let state = |address| -> Value { serde_json::from_str(&get(address, "/api/boards/7").1).unwrap() };
    daemon.until("the move, for the public", |_| (moves(&state(public)) == ["e2e4"]).then_some(()));
    // The reply waits.
    told(&[
        r#"{"us":61000000,"sq":"e7","occ":0}"#,
        r#"{"us":61500000,"sq":"e5","occ":1}"#,
        r#"{"us":120000000,"tick":true}"#,
    ]);
    daemon.until("the reply, live", |_| (moves(&state(operator)).len() == 2).then_some(()));
    daemon.kill();
    let mut daemon = Daemon::with_config(&config);
    let [public, _, _] = addresses(&mut daemon);
    let after: Vec<Value> = std::iter::repeat_with(|| state(public)).take(5).collect();
    for state in &after {
        assert_eq!(moves(state).first().map(String::as_str), Some("e2e4"), "{state}");
    }
    let file = fs::read_to_string(dir.path().join("data/pgn/7.pgn")).unwrap();
    assert!(file.contains("1. e4"), "{file}");
    daemon.until("the reply, for the public", |_| (moves(&state(public)).len() == 2).then_some(()));
    daemon.end();
    let journal = journals(&dir.path().join("data"), "7").remove(0);
    assert_verified(&journal);
    assert_replayed(&journal);
    // The release log tells the times of the facts: both half-moves follow from the event before.
    let known: Vec<(u64, u64)> = releases(&journal)
        .iter()
        .filter(|line| line["to"] != serde_json::json!(["livechess"]))
        .map(|line| (line["plies"].as_u64().unwrap(), line["known_us"].as_u64().unwrap()))
        .collect();
    assert_eq!(known.len(), 2, "{known:?}");
    assert!(known[0].0 == 1 && (1_500_000..60_000_000).contains(&known[0].1), "{known:?}");
    assert!(known[1].0 == 2 && (61_500_000..120_000_000).contains(&known[1].1), "{known:?}");
}

#[test]
fn a_game_that_was_over_is_shown_to_its_end_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path(), "delay-s = 6", 1000);
    let mut daemon = Daemon::with_config(&config);
    let [public, _, operator] = addresses(&mut daemon);
    let state = |address| -> Value { serde_json::from_str(&get(address, "/api/boards/7").1).unwrap() };
    daemon.until("the end of the game", |_| (state(operator)["result"] == "1-0").then_some(()));
    assert_eq!(moves(&state(public)).len(), 0);
    daemon.kill();
    // The next round: another game on the same board.
    let text = fs::read_to_string(&config).unwrap().replace("seed = 0", "seed = 1");
    fs::write(&config, text).unwrap();
    let mut daemon = Daemon::with_config(&config);
    let [public, _, _] = addresses(&mut daemon);
    assert_eq!(moves(&state(public)).len(), 0);
    let late = listen(public);
    let place = |what: &str| late.lock().unwrap().iter().position(|(_, data)| data.contains(what));
    daemon.until("the game of this round, for the public", |_| place("\"san\":\"f4\""));
    let of_before = place("\"type\":\"result\",\"result\":\"1-0\"").unwrap();
    assert!(place("\"san\":\"Rd8#\"").unwrap() < of_before);
    assert!(of_before < place("\"san\":\"f4\"").unwrap());
    daemon.end();
}

#[test]
fn moves_that_are_not_completed_stay_out_of_an_output_that_waits_for_the_press() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path(), "publish = \"completed\"", 200);
    let mut daemon = Daemon::with_config(&config);
    let [public, _, operator] = addresses(&mut daemon);
    let (made, completed) = (listen(operator), listen(public));
    daemon.until("the end of the game", |_| {
        let heard = completed.lock().unwrap();
        heard.iter().any(|(_, data)| data.contains("\"status\":\"ended\"")).then_some(())
    });
    let kinds = |heard: &Heard, what: &str| {
        let heard = heard.lock().unwrap();
        let moves = heard.iter().filter(|(_, data)| data.contains("\"type\":\"move\""));
        moves.filter(|(_, data)| data.contains(what)).count()
    };
    assert_eq!(kinds(&completed, "\"completed\":false"), 0);
    assert!(kinds(&made, "\"completed\":false") > 0);
    assert_eq!(moves(&daemon.json("/api/boards/7")).len(), 33);
    daemon.end();
}
