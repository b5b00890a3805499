//! The desk of the arbiter at a running daemon: his commands, the buttons, the embargo, and what an arbiter
//! reads afterwards.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/cdp.rs"]
#[allow(dead_code)]
mod cdp;
mod process;

use std::{
    fs::{self, File, Permissions},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Command, Output},
    sync::{Arc, Mutex},
    thread,
};

use process::{Daemon, LIMIT, assert_replayed, assert_verified, get, journals, moves, program, records, run};
use serde_json::{Value, json};
use tempfile::TempDir;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const ASSISTANT: &str = "fedcba9876543210fedcba9876543210";
/// The board's time runs this many times as fast as the test's.
const PACE: u32 = 100;

/// A daemon with one board, whose sensor log this test writes.
struct Hall {
    dir: TempDir,
    daemon: Daemon,
    log: Option<File>,
    us: u64,
}

impl Hall {
    fn new(board: &str) -> Hall {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("token", TOKEN), ("assistant", ASSISTANT)] {
            let path = dir.path().join(name);
            fs::write(&path, format!("{text}\n")).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        }
        let status = Command::new("mkfifo").arg(dir.path().join("sensors")).status().unwrap();
        assert!(status.success());
        let text = format!(
            "[data]\ndir = \"data\"\n[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nlisten = \"127.0.0.1:0\"\n\
             [arbiter]\ntoken-file = \"token\"\nassistant-token-file = \"assistant\"\n\
             [[board]]\nid = \"1\"\n{board}\n[board.sensor.sensor-log]\npath = \"sensors\"\npace = {PACE}\n"
        );
        fs::write(dir.path().join("touchmoved.toml"), text).unwrap();
        let daemon = Daemon::with_config(&dir.path().join("touchmoved.toml"));
        let mut hall = Hall { dir, daemon, log: None, us: 0 };
        hall.open();
        hall
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn open(&mut self) {
        self.daemon.wait_for("ready");
        let mut log = File::options().write(true).open(self.path("sensors")).unwrap();
        writeln!(log, r#"{{"sensor_log":1,"board":"reed"}}"#).unwrap();
        self.log = Some(log);
    }

    /// The daemon is killed and started again.
    fn kill_and_start(&mut self) {
        self.daemon.kill();
        self.log = None;
        self.daemon = Daemon::with_config(&self.path("touchmoved.toml"));
        self.open();
    }

    /// Lines of the log, 10 ms one after another.
    fn sensors(&mut self, lines: &[Value]) {
        let log = self.log.as_mut().unwrap();
        for line in lines {
            self.us += 10_000;
            let mut line = line.clone();
            line["us"] = json!(self.us);
            writeln!(log, "{line}").unwrap();
        }
    }

    /// Lifts and places of a move, captured men first.
    fn play(&mut self, uci: &str) {
        let (from, to) = uci.split_at(2);
        self.sensors(&[json!({"sq": from, "occ": 0}), json!({"sq": to, "occ": 1})]);
    }

    fn press(&mut self, side: &str) {
        self.sensors(&[json!({ "clock": side })]);
    }

    fn ask(&mut self, method: &str, path: &str, token: Option<&str>, body: &str) -> (u16, String, Value) {
        let address = self.daemon.http();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        write!(
            stream,
            "{method} /api/boards/{path} HTTP/1.1\r\nHost: board\r\nConnection: close\r\n{token}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_ascii_lowercase(), serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn command(&mut self, words: &str) -> (u16, Value) {
        let body = json!({ "command": words }).to_string();
        let (status, _, answer) = self.ask("POST", "1/arbiter", Some(TOKEN), &body);
        (status, answer)
    }

    fn accepted(&mut self, words: &str) -> Value {
        let (status, answer) = self.command(words);
        assert_eq!((status, &answer["accepted"]), (200, &json!(true)), "{words}: {answer}");
        answer
    }

    fn look(&mut self) -> Value {
        let (status, _, view) = self.ask("GET", "1/arbiter", Some(TOKEN), "");
        assert_eq!(status, 200, "{view}");
        view
    }

    /// Waits until the arbiter sees the board so.
    fn until_seen(&mut self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..2000 {
            let view = self.look();
            if is(&view) {
                return view;
            }
            thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("waited in vain for {what}: {}", self.look());
    }

    fn until_played(&mut self, uci: &str) -> Value {
        self.until_seen(uci, |view| {
            view["plies"].as_array().unwrap().last().is_some_and(|ply| ply["uci"] == uci)
        })
    }

    fn until_public(&mut self, uci: &str) {
        self.daemon.until(uci, |daemon| {
            let state = daemon.json("/api/boards/1");
            moves(&state).last().filter(|last| *last == uci).cloned()
        });
    }

    fn journal(&self) -> PathBuf {
        journals(&self.path("data"), "1").pop().unwrap()
    }

    fn touchmoved(&mut self, command: &str, words: &[&str]) -> Output {
        let http = self.daemon.http().to_string();
        let config = self.path("touchmoved.toml");
        let args = [command, "--http", &http, "--config", config.to_str().unwrap(), "1"];
        program().args(args).args(words).output().unwrap()
    }

    /// Ends the daemon; the journal is whole, gives the same facts again, and holds no token.
    fn end(mut self) -> (TempDir, PathBuf) {
        self.daemon.end();
        let journal = self.journal();
        assert_verified(&journal);
        assert_replayed(&journal);
        let told = fs::read_to_string(&journal).unwrap() + &self.daemon.said();
        assert!(!told.contains(TOKEN) && !told.contains(ASSISTANT));
        (self.dir, journal)
    }
}

fn facts<'a>(answer: &'a Value, name: &str) -> Vec<&'a Value> {
    answer["facts"].as_array().unwrap().iter().filter(|fact| fact["fact"] == name).collect()
}

#[test]
fn a_command_is_recorded_before_what_follows_from_it() {
    let mut hall = Hall::new("");
    for (uci, side) in [("e2e4", "white"), ("e7e5", "black")] {
        hall.play(uci);
        hall.press(side);
        hall.until_public(uci);
    }
    let answer = hall.accepted("restore 1");
    let entry = facts(&answer, "arbiter_entry")[0];
    assert_eq!(entry["after"], "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    assert!(entry["text"].as_str().unwrap().starts_with("entry of the arbiter: restore 1; the position is"));
    assert_eq!(facts(&answer, "restore")[0]["put"], json!(["e7"]));
    assert_eq!(facts(&answer, "move_withdrawn").len(), 1);
    // The answer came after the record was on the disk: it is there although the daemon is killed now.
    hall.daemon.kill();
    let told = records(&hall.journal());
    let place = |is: &dyn Fn(&Value) -> bool| told.iter().position(is).unwrap();
    let input = place(&|record| record["in"]["arbiter"] == "restore 1");
    let entry = place(&|record| record["fact"] == "arbiter_entry");
    let withdrawn = place(&|record| record["fact"] == "move_withdrawn");
    assert!(input < entry && entry < withdrawn, "{input} {entry} {withdrawn}");
    hall.kill_and_start();
    assert_eq!(moves(&hall.daemon.json("/api/boards/1")), ["e2e4"]);
    // An object says the same, and the command line, too.
    let body = r#"{"command":"result","result":"1-0"}"#;
    let (status, _, answer) = hall.ask("POST", "1/arbiter", Some(TOKEN), body);
    assert_eq!((status, &facts(&answer, "game_end")[0]["result"]), (200, &json!("1-0")));
    assert_eq!(hall.daemon.json("/api/boards/1")["result"], "1-0");
    let output = hall.touchmoved("arbiter", &["both-lose"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("the game ended 0-0 (arbiter-decision)"));
    let pgn = get(hall.daemon.http(), "/pgn/1.pgn").1;
    assert!(pgn.contains("[Result \"*\"]\n[Board \"1\"]\n[Termination \"adjudication\"]"), "{pgn}");
    assert_eq!(hall.daemon.json("/api/boards/1")["result"], "0-0");
    hall.end();
}

#[test]
fn nobody_enters_anything_without_the_token() {
    let mut hall = Hall::new("");
    let command = r#"{"command":"result 1-0"}"#;
    for (method, path, body) in [
        ("POST", "1/arbiter", command),
        ("POST", "1/buttons", r#"{"button":"resign-white"}"#),
        ("GET", "1/arbiter", ""),
        ("GET", "1/journal", ""),
        ("GET", "1/assistant", ""),
    ] {
        let (status, head, answer) = hall.ask(method, path, None, body);
        assert_eq!(status, 401, "{path}");
        assert!(head.contains("www-authenticate: bearer") && !head.contains("access-control"), "{head}");
        assert!(answer["error"].as_str().unwrap().contains("Authorization: Bearer"));
        assert_eq!(hall.ask(method, path, Some("0123456789abcdef"), body).0, 403, "{path}");
        if path != "1/assistant" {
            assert_eq!(hall.ask(method, path, Some(ASSISTANT), body).0, 403, "{path}");
        }
    }
    // A browser asks for leave first; nothing gives it.
    let (status, head, _) = hall.ask("OPTIONS", "1/arbiter", None, "");
    assert_eq!(status, 405);
    assert!(!head.contains("access-control"), "{head}");
    let board = hall.daemon.json("/api/boards/1");
    assert_eq!(board["result"], "*");
    let output = hall.touchmoved("arbiter", &["--token-file", "/nonexistent", "pause"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nonexistent: cannot read the token"));
    hall.end();
}

#[test]
fn what_cannot_be_done_is_refused_with_the_reason() {
    let mut hall = Hall::new("");
    let (status, answer) = hall.command("restore 40");
    assert_eq!(
        (status, &answer["accepted"], &answer["reason"]),
        (422, &json!(false), &json!("the game has 0 plies"))
    );
    assert_eq!(facts(&answer, "arbiter_entry")[0]["accepted"], false, "it is on record all the same");
    let (_, answer) = hall.command("resign");
    assert!(answer["reason"].as_str().unwrap().starts_with("there is no command \"resign\""));
    let button = r#"{"button":"coffee-white"}"#;
    let (status, _, answer) = hall.ask("POST", "1/buttons", Some(TOKEN), button);
    assert_eq!(status, 422);
    assert!(answer["reason"].as_str().unwrap().starts_with("no button is called \"coffee-white\""));
    assert_eq!(hall.ask("POST", "2/arbiter", Some(TOKEN), r#"{"command":"pause"}"#).0, 404);
    for wrong in ["", "pause", "[]", "{\"command\":1}"] {
        assert_eq!(hall.ask("POST", "1/arbiter", Some(TOKEN), wrong).0, 400, "{wrong}");
    }
    let long = format!("{{\"command\":\"{}\"}}", "x".repeat(5000));
    let (status, _, answer) = hall.ask("POST", "1/arbiter", Some(TOKEN), &long);
    assert_eq!((status, &answer["error"]), (413, &json!("a command has 4096 bytes at most")));
    assert_eq!(hall.ask("GET", "1/journal?since=x", Some(TOKEN), "").0, 400);
    let output = hall.touchmoved("arbiter", &["restore", "40"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "touchmoved arbiter: the game has 0 plies\n");
    let output = hall.touchmoved("button", &["draw-offer-white"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let (_, _, page) = hall.ask("GET", "1/journal?since=0", Some(TOKEN), "");
    assert_eq!(facts(&page, "arbiter_entry").len(), 3);
    assert!(
        page["facts"]
            .as_array()
            .unwrap()
            .iter()
            .any(|fact| fact["code"] == "draw-offer-standing" || fact["code"] == "draw-offer-ill-timed")
    );
    let next = page["next"].as_u64().unwrap();
    let (_, _, page) = hall.ask("GET", &format!("1/journal?since={next}&to=arbiter"), Some(TOKEN), "");
    assert_eq!((&page["facts"], &page["next"]), (&json!([]), &json!(next)));
    hall.end();
}

#[test]
fn without_a_configured_token_nothing_is_offered() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("touchmoved.toml");
    let text = "[data]\ndir = \"data\"\n[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nenabled = false\n\
                [[board]]\nid = \"1\"\n[board.sensor.simulated]\n";
    fs::write(&config, text).unwrap();
    let mut daemon = Daemon::with_config(&config);
    let (status, body) = get(daemon.http(), "/api/boards/1/arbiter");
    assert_eq!(status, 404);
    assert!(body.contains("set [arbiter] token-file"), "{body}");
    assert!(!daemon.said().contains("/arbiter"));
    drop(daemon);
    let args = ["arbiter", "--config", config.to_str().unwrap(), "1", "pause"];
    let output = run(&args);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no token is configured"));
    // A token that anybody could guess keeps the daemon from starting.
    fs::write(dir.path().join("token"), "secret\n").unwrap();
    fs::write(&config, format!("[arbiter]\ntoken-file = \"token\"\n{text}")).unwrap();
    let output = run(&["run", "--config", config.to_str().unwrap()]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("arbiter.token-file") && told.contains("16 to 256") && !told.contains("secret"),
        "{told}"
    );
}

/// Everything that leaves on `/events`.
fn listen(address: SocketAddr) -> Arc<Mutex<String>> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /events HTTP/1.1\r\nHost: board\r\n\r\n").unwrap();
    let heard = Arc::new(Mutex::new(String::new()));
    let kept = heard.clone();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    // From the snapshot on nothing is missed.
    assert!(lines.any(|line| line.starts_with("event: ")));
    thread::spawn(move || {
        for line in lines {
            kept.lock().unwrap().push_str(&(line + "\n"));
        }
    });
    heard
}

#[test]
fn nothing_of_a_sealed_move_leaves_until_the_envelope_is_opened() {
    let mut hall = Hall::new("");
    for (uci, side) in [("e2e4", "white"), ("e7e5", "black"), ("g1f3", "white"), ("b8c6", "black")] {
        hall.play(uci);
        hall.press(side);
        hall.until_public(uci);
    }
    let answer = hall.accepted("seal-request");
    assert_eq!(facts(&answer, "envelope")[0]["fields"]["sealed_by"], "white");
    let before = hall.daemon.json("/api/boards/1");
    let livechess = |hall: &mut Hall| {
        let line = hall.daemon.wait_for("ws://127.0.0.1:");
        let address = line.split("ws://").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
        serde_json::from_str::<Value>(&get(address, "/api/v1.0/eboards").1).unwrap()[0]["board"].clone()
    };
    let heard = listen(hall.daemon.http());
    hall.play("f1b5");
    let view = hall.until_played("f1b5");
    assert_eq!(
        (&view["embargo"], &view["board"]),
        (&json!(true), &json!("r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R"))
    );
    hall.press("pause");
    hall.until_seen("stopped clocks", |view| view["paused"] == true);
    let unchanged = |hall: &mut Hall| {
        let now = hall.daemon.json("/api/boards/1");
        for key in ["board", "fen", "plies", "turn", "result"] {
            assert_eq!(now[key], before[key], "{key}");
        }
        assert_eq!(livechess(hall), before["board"]);
        for pgn in [
            get(hall.daemon.http(), "/pgn/1.pgn").1,
            fs::read_to_string(hall.path("data/pgn/1.pgn")).unwrap(),
        ] {
            assert!(pgn.contains("Nc6") && !pgn.contains("Bb5"), "{pgn}");
        }
    };
    unchanged(&mut hall);
    let told = heard.lock().unwrap().clone();
    assert!(
        told.contains("event: status") && !told.contains("event: board") && !told.contains("1B2p3"),
        "{told}"
    );
    assert!(!told.contains("f1b5") && !hall.daemon.said().contains("f1b5"), "{told}");
    // A restart does not end it.
    hall.kill_and_start();
    assert_eq!(hall.look()["embargo"], true);
    unchanged(&mut hall);
    hall.accepted("open-envelope Bb5");
    hall.until_public("f1b5");
    let after = hall.daemon.json("/api/boards/1");
    assert_eq!(after["board"], "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R");
    assert!(get(hall.daemon.http(), "/pgn/1.pgn").1.contains("Bb5"));
    hall.end();
}

#[test]
fn a_position_that_is_set_up_reaches_the_feeds() {
    let mut hall = Hall::new("");
    hall.play("e2e4");
    hall.press("white");
    hall.until_public("e2e4");
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 5";
    let heard = listen(hall.daemon.http());
    hall.accepted(&format!("set position {fen}"));
    hall.sensors(&[json!({"sq": "e7", "occ": 0}), json!({"sq": "e5", "occ": 1})]);
    let state = hall.daemon.json("/api/boards/1");
    assert_eq!((&state["start_fen"], &state["plies"]), (&json!(fen), &json!([])));
    assert_eq!(state["earlier"][0]["san"], json!(["e4"]));
    hall.play("g1f3");
    hall.press("white");
    hall.until_public("g1f3");
    let pgn = get(hall.daemon.http(), "/pgn/1.pgn").1;
    assert!(pgn.contains(&format!("[FEN \"{fen}\"]\n[SetUp \"1\"]")), "{pgn}");
    assert!(pgn.contains("{Before this position was set up: 1. e4} 5. Nf3"), "{pgn}");
    assert!(heard.lock().unwrap().contains("event: setup\n"));
    hall.end();
}

#[test]
fn an_assistant_hears_numbers_and_times_on_request_only() {
    let mut hall = Hall::new("time-control = \"5400+30\"");
    hall.play("e2e4");
    hall.press("white");
    hall.until_public("e2e4");
    let times = json!({"times": {"white_ms": 5_000_000, "black_ms": 5_300_000, "running": "black"}});
    hall.sensors(&[times]);
    hall.until_seen("times", |view| view["white_ms"] == 5_000_000);
    let (status, head, told) = hall.ask("GET", "1/assistant?side=white", Some(ASSISTANT), "");
    assert_eq!(status, 200, "{told}");
    assert!(head.contains("cache-control: no-store") && !head.contains("access-control"), "{head}");
    assert_eq!(told["moves"], json!({"white": 1, "black": 0}));
    assert_eq!(
        (&told["times"][0]["side"], &told["times"][0]["remaining"]),
        (&json!("white"), &json!(5_000_000))
    );
    assert_eq!(told["spoken"], Value::Null);
    assert!(!told.to_string().contains("e4"), "{told}");
    let body = r#"{"announce":"e4"}"#;
    assert_eq!(hall.ask("POST", "1/buttons", Some(TOKEN), body).0, 200);
    // What is written for a claim has to be legal.
    let (status, _, told) = hall.ask("POST", "1/buttons", Some(TOKEN), r#"{"intended":"a1a8"}"#);
    assert_eq!((status, &told["accepted"]), (422, &Value::Bool(false)), "{told}");
    assert!(told["reason"].as_str().is_some_and(|reason| reason.contains("a1a8")), "{told}");
    let (_, _, told) = hall.ask("GET", "1/assistant", Some(TOKEN), "");
    assert_eq!(told["spoken"]["uci"], "e2e4", "{told}");
    assert_eq!(hall.ask("GET", "1/assistant?side=red", Some(TOKEN), "").0, 400);
    // Each request is in the journal.
    let (_dir, journal) = hall.end();
    let asked = |record: &&Value| {
        record["in"]["button"].as_str().is_some_and(|name| name.starts_with("assistant-status"))
    };
    assert_eq!(records(&journal).iter().filter(asked).count(), 2);
}

#[test]
fn a_review_settles_what_was_touched_and_what_was_ruled() {
    let mut hall = Hall::new("");
    // White lifts the knight, puts it back, and moves the pawn.
    hall.sensors(&[json!({"sq": "g1", "occ": 0})]);
    hall.until_seen("an obligation", |view| view["last"].as_u64() > Some(1));
    // No bounce of a contact is so long.
    hall.us += 500_000;
    hall.sensors(&[json!({"sq": "g1", "occ": 1})]);
    hall.play("e2e4");
    hall.press("white");
    hall.until_public("e2e4");
    let button = r#"{"button":"claim-touch-black"}"#;
    let (status, _, answer) = hall.ask("POST", "1/buttons", Some(TOKEN), button);
    assert_eq!((status, &facts(&answer, "claim_check")[0]["valid"]), (200, &json!(true)), "{answer}");
    hall.accepted("restore 0");
    hall.accepted("penalty warning white");
    let (_dir, journal) = hall.end();
    let review = |args: &[&str]| {
        let output = run(&[&["review", journal.to_str().unwrap()], args].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // The page breaks lines.
        String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let page = review(&[]);
    for words in [
        "White lifted the knight on g1, put back after",
        "White touched g1: the man on g1 has to move (Article 4.3.1), g1f3 or g1h3",
        "played e2e4; after the touch g1f3 or g1h3 had been allowed (Article 4.3.1)",
        "Black claims a touch: the record supports it",
        "entry of the arbiter: restore 0; the position is rnbqkbnr/pppppppp",
        "to restore: the position after ply 0, take away what stands on e4, put men on e2",
        "a warning for White (Article 12.9.1)",
    ] {
        assert!(page.contains(words), "{words}\n{page}");
    }
    let page = review(&["--kind", "obligation", "--square", "g1"]);
    assert!(page.contains("the man on g1 has to move") && !page.contains("entry of the arbiter"), "{page}");
}

/// An illegal move is a call, and every record keeps the number by which the next ones are asked for.
#[test]
fn an_illegal_move_is_called_and_numbered_like_the_rest() {
    let mut hall = Hall::new("");
    hall.play("e2e5");
    hall.press("white");
    hall.until_seen("the illegal move", |view| view["attempt"] == "e2e5");
    hall.accepted("confirm");
    let mut calls = Vec::new();
    for query in ["since=0&to=arbiter", "since=0"] {
        let (status, _, page) = hall.ask("GET", &format!("1/journal?{query}"), Some(TOKEN), "");
        assert_eq!(status, 200, "{page}");
        let facts = page["facts"].as_array().unwrap().clone();
        let numbers: Vec<u64> = facts.iter().map(|fact| fact["n"].as_u64().unwrap()).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{query}: {numbers:?}");
        assert!(page["next"].as_u64().unwrap() >= *numbers.last().unwrap(), "{query}");
        for name in ["illegal_move", "penalty"] {
            let fact = facts.iter().find(|fact| fact["fact"] == name).unwrap();
            assert_eq!(fact["nth"], 1, "{query} {name}");
            assert!(!fact["text"].as_str().unwrap().contains("somebody"), "{fact}");
        }
        calls.push(facts);
    }
    assert!(calls[0].len() < calls[1].len(), "touches are no calls");
    hall.end();
}

/// In blitz an illegal move stands once the opponent plays on; the arbiter may go back behind it.
#[test]
fn an_illegal_move_that_stands_reaches_the_feeds() {
    let mut hall = Hall::new("discipline = \"blitz\"");
    hall.play("e2e4");
    hall.press("white");
    hall.until_public("e2e4");
    hall.play("d7d4");
    hall.press("black");
    hall.until_seen("the illegal move", |view| view["attempt"] == "d7d4");
    hall.play("d2d3");
    hall.press("white");
    hall.until_public("d2d3");
    let state = hall.daemon.json("/api/boards/1");
    let start = "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    assert_eq!((&state["start_fen"], &state["plies"][0]["san"]), (&json!(start), &json!("d3")));
    assert_eq!(state["earlier"][0]["san"], json!(["e4", "d7d4"]));
    hall.kill_and_start();
    assert_eq!(hall.daemon.json("/api/boards/1")["start_fen"], start, "a restart knows it, too");
    hall.accepted("illegal-found-at-ply 2");
    let state = hall.daemon.json("/api/boards/1");
    assert_eq!((moves(&state), &state["earlier"]), (vec!["e2e4".to_owned()], &Value::Null));
    hall.sensors(&[
        json!({"sq": "d3", "occ": 0}),
        json!({"sq": "d2", "occ": 1}),
        json!({"sq": "d4", "occ": 0}),
        json!({"sq": "d7", "occ": 1}),
    ]);
    hall.until_seen("the men put back", |view| {
        view["board"] == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR"
    });
    for (uci, side) in [("d7d5", "black"), ("b1c3", "white")] {
        hall.play(uci);
        hall.press(side);
    }
    hall.until_public("b1c3");
    assert_eq!(moves(&hall.daemon.json("/api/boards/1")), ["e2e4", "d7d5", "b1c3"]);
    hall.end();
}

/// A recording goes on at the right record after a kill, although commands came in between.
#[test]
fn commands_do_not_make_a_recording_skip_records() {
    let dir = tempfile::tempdir().unwrap();
    let game = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6"];
    let mut lines = vec![r#"{"sensor_log":1,"board":"reed"}"#.to_owned()];
    let mut us = 0;
    for (index, uci) in game.iter().enumerate() {
        let (from, to) = uci.split_at(2);
        let side = if index % 2 == 0 { "white" } else { "black" };
        for line in [json!({"sq": from, "occ": 0}), json!({"sq": to, "occ": 1}), json!({ "clock": side })] {
            us += 500_000;
            let mut line = line;
            line["us"] = json!(us);
            lines.push(line.to_string());
        }
    }
    fs::write(dir.path().join("game.ndjson"), lines.join("\n") + "\n").unwrap();
    fs::write(dir.path().join("token"), TOKEN).unwrap();
    let config = dir.path().join("touchmoved.toml");
    let text = "[data]\ndir = \"data\"\n[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nenabled = false\n\
                [arbiter]\ntoken-file = \"token\"\n[[board]]\nid = \"1\"\n[board.sensor.sensor-log]\n\
                path = \"game.ndjson\"\npace = 5\n";
    fs::write(&config, text).unwrap();
    let mut hall = Hall { daemon: Daemon::with_config(&config), dir, log: None, us };
    hall.until_public("e7e5");
    for _ in 0..3 {
        hall.accepted("freeze");
    }
    hall.daemon.kill();
    hall.daemon = Daemon::with_config(&config);
    hall.accepted("freeze");
    hall.until_public("g8f6");
    assert_eq!(moves(&hall.daemon.json("/api/boards/1")), game);
    let (_, _, page) = hall.ask("GET", "1/journal?to=arbiter", Some(TOKEN), "");
    assert_eq!(facts(&page, "snapshot").len(), 4, "facts of before the kill are there, too");
    hall.end();
}

/// The page of the arbiter in a real browser.
#[tokio::test]
async fn the_page_asks_for_the_token_and_enters_commands() {
    let mut hall = Hall::new("[board.tags]\nwhite = \"Alder\"\nblack = \"Vane\"");
    hall.play("e2e4");
    hall.press("white");
    hall.until_public("e2e4");
    let mut browser = cdp::Browser::start().await;
    browser.resize(1280, 900, false).await;
    browser.open(&format!("http://{}/arbiter", hall.daemon.http())).await;
    let enter = |token: &str| {
        format!(
            "document.querySelector('#token').value = '{token}'; document.querySelector('#login').requestSubmit()"
        )
    };
    browser.wait_for("document.querySelector('#login').onsubmit !== null").await;
    browser.evaluate(&enter("0000000000000000")).await;
    browser.wait_for("document.querySelector('#login-problem').textContent.includes('not the token')").await;
    browser.evaluate(&enter(TOKEN)).await;
    browser.wait_for("document.querySelector('#desk').checkVisibility()").await;
    browser.wait_for("document.querySelector('#moves').textContent === 'Last moves: e4'").await;
    let say = |words: &str| {
        format!(
            "document.querySelector('#words').value = '{words}'; document.querySelector('#command').requestSubmit()"
        )
    };
    browser.evaluate(&say("restore 40")).await;
    browser
        .wait_for("document.querySelector('#answer').textContent === 'Not carried out: the game has 1 ply'")
        .await;
    browser.evaluate(&say("restore 0")).await;
    browser.wait_for("document.querySelector('#answer').textContent === 'Entered: restore 0'").await;
    browser.wait_for("document.querySelector('#led').textContent.includes('put men on e2')").await;
    browser
        .wait_for("document.querySelector('#calls').textContent.includes('entry of the arbiter: restore 0')")
        .await;
    // What is looked at on request only is not there before.
    assert_eq!(browser.evaluate("document.querySelector('#record').children.length").await, json!(0));
    browser.evaluate("document.querySelector('#turn').open = true").await;
    browser
        .wait_for("document.querySelector('#touches').textContent.includes('White\\'s pawn on e2 lifted')")
        .await;
    let width = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.evaluate(width).await, json!(0), "the page scrolls sideways");
    let pictures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/screenshots");
    fs::create_dir_all(&pictures).unwrap();
    browser.screenshot(&pictures.join("arbiter.png")).await;
    browser.resize(390, 844, true).await;
    assert_eq!(browser.evaluate(width).await, json!(0), "the page scrolls sideways");
    // The wrong token was refused on purpose.
    let complaints: Vec<&Value> = browser
        .complaints()
        .into_iter()
        .filter(|one| !one.to_string().contains("40") && !one.to_string().contains("422"))
        .collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    assert!(browser.requests().iter().all(|url| !url.contains(TOKEN)));
    browser.evaluate("document.querySelector('#leave').click()").await;
    assert_eq!(browser.evaluate("sessionStorage.length").await, json!(0));
    hall.end();
}
