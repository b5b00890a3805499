//! The whole daemon with two boards for one game, each on a pseudo terminal: a sighted player's DGT board and a
//! blind player's pegged board, and two pegged boards. Either may be absent, fail and come back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/dgt.rs"]
mod dgt;
#[path = "support/peg.rs"]
mod peg;
mod process;

use std::{
    fs::{self, Permissions},
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use process::{Daemon, LIMIT, assert_replayed, assert_verified, get, journals, moves, program, records};
use serde_json::{Value, json};
use shakmaty::{Chess, Position as _, san::San};
use tempfile::TempDir;
use touchmoved_peg::Holes;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const WHITE: u32 = 0;
const BLACK: u32 = 1;

/// A daemon at two boards, and what their holes show.
struct Hall {
    dir: TempDir,
    daemon: Daemon,
}

impl Hall {
    fn new(first: &str, second: &str) -> Hall {
        let dir = tempfile::tempdir().unwrap();
        let daemon = Daemon::with_config(&configuration(dir.path(), first, second));
        Hall { dir, daemon }
    }

    fn port(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Waits until these boards, and no others, cannot be read.
    fn until_missing(&mut self, units: &[&str]) {
        self.daemon.until(&format!("that {units:?} are missing"), |daemon| {
            let health = daemon.json("/healthz");
            let troubles = health["troubles"].as_array().unwrap();
            let missing: Vec<&str> =
                troubles.iter().map(|trouble| trouble["unit"].as_str().unwrap()).collect();
            (missing == units).then_some(())
        });
    }

    fn until_played(&mut self, game: &str) {
        self.daemon
            .until(game, |daemon| (moves(&daemon.json("/api/boards/1")).join(" ") == game).then_some(()));
    }

    fn kill_and_start(&mut self) {
        self.daemon.kill();
        self.daemon = Daemon::with_config(&self.port("touchmoved.toml"));
    }

    /// The facts of this name or code that the arbiter is told.
    fn told(&mut self, what: &str) -> Vec<Value> {
        let mut stream = TcpStream::connect(self.daemon.http()).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        write!(
            stream,
            "GET /api/boards/1/journal?since=0 HTTP/1.1\r\nHost: board\r\nConnection: close\r\n\
             Authorization: Bearer {TOKEN}\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(" 200 "), "{answer}");
        let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
        let facts = body["facts"].as_array().unwrap().iter();
        facts.filter(|fact| fact["fact"] == what || fact["code"] == what).cloned().collect()
    }

    fn until_told(&mut self, what: &str, count: usize) -> Value {
        for _ in 0..LIMIT.as_millis() / 50 {
            let told = self.told(what);
            if told.len() >= count {
                return told[count - 1].clone();
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{what} was not told {count} times:\n{}", self.daemon.said());
    }

    /// Ends the daemon; the records of the one journal, which vouches for itself.
    fn end(mut self) -> Vec<Value> {
        self.daemon.end();
        let journals = journals(&self.dir.path().join("data"), "1");
        assert_eq!(journals.len(), 1, "one game, one journal");
        assert_verified(&journals[0]);
        assert_replayed(&journals[0]);
        records(&journals[0])
    }
}

/// A configuration for two boards; `first` is the kind of the first one and the name of its port, `second` the
/// name of the port of a pegged board.
fn configuration(dir: &Path, first: &str, second: &str) -> PathBuf {
    let token = dir.join("token");
    fs::write(&token, format!("{TOKEN}\n")).unwrap();
    fs::set_permissions(&token, Permissions::from_mode(0o600)).unwrap();
    let text = format!(
        "[data]\ndir = \"data\"\n[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nenabled = false\n\
         [arbiter]\ntoken-file = \"token\"\n\
         [[board]]\nid = \"1\"\ntime-control = \"5400+30\"\ntwo-board.mirror-timeout-s = 1\n\
         [board.sensor.{first}]\nport = \"{0}/{first}\"\n\
         [board.second]\n[board.second.sensor.peg]\nport = \"{0}/{second}\"\n",
        dir.display()
    );
    let path = dir.join("touchmoved.toml");
    fs::write(&path, text).unwrap();
    path
}

/// The hands at a pegged board, and the game as its player knows it.
struct Pegs {
    board: peg::TestBoard,
    game: Chess,
}

impl Pegs {
    fn plug(link: &Path, game: &Chess) -> Pegs {
        Pegs { board: peg::TestBoard::plug(link, Holes::of(game.board().occupied().0)), game: game.clone() }
    }

    /// A man leaves its hole and comes to another one: a move without a capture.
    fn moves(&mut self, san: &str) {
        let mv = san.parse::<San>().unwrap().to_move(&self.game).unwrap();
        let before = self.game.board().occupied();
        self.game.play_unchecked(mv);
        let after = self.game.board().occupied();
        self.board.set((before & after).0);
        self.board.set(after.0);
    }
}

#[test]
fn a_sighted_and_a_blind_player_while_boards_come_and_go() {
    let mut hall = Hall::new("dgt", "peg");
    // Nobody is there yet; then one, then both.
    hall.until_missing(&["A", "B"]);
    let mut sighted = dgt::TestBoard::plug(&hall.port("dgt"), dgt::START);
    hall.until_missing(&["B"]);
    let (_, metrics) = get(hall.daemon.http(), "/metrics");
    for line in ["{board=\"1\",unit=\"A\"} 0\n", "{board=\"1\",unit=\"B\"} 1\n"] {
        assert!(metrics.contains(&format!("touchmoved_source_failed{line}")), "{metrics}");
    }
    let mut white = Chess::default();
    let mut blind = Pegs::plug(&hall.port("peg"), &white);
    hall.until_missing(&[]);
    let devices = hall.daemon.json("/healthz")["devices"].clone();
    assert_eq!((&devices[0]["unit"], &devices[0]["serial"]), (&json!("A"), &json!("01025")));

    // Each moves on his own board; the levers are keys of the pegged board.
    sighted.moves(&mut white, "e4");
    hall.until_played("e2e4");
    blind.board.press(WHITE);
    blind.moves("e4");
    blind.moves("e5");
    blind.board.press(BLACK);
    hall.until_played("e2e4 e7e5");
    sighted.moves(&mut white, "e5 Nf3");
    hall.until_played("e2e4 e7e5 g1f3");
    blind.board.press(WHITE);
    blind.moves("Nf3");

    // The pegged board is pulled, and another one is put in its place.
    let Pegs { board, game } = blind;
    board.unplug(&hall.port("peg"));
    hall.until_missing(&["B"]);
    assert_eq!(hall.daemon.json("/api/boards/1")["connected"], true, "the other one is read");
    let mut blind = Pegs::plug(&hall.port("peg"), &game);
    hall.until_missing(&[]);
    blind.moves("Nc6");
    blind.board.press(BLACK);
    hall.until_played("e2e4 e7e5 g1f3 b8c6");

    // The sighted player's board fails in his turn: his next move is read where it is mirrored.
    let (_, mut inside) = sighted.unplug();
    hall.until_missing(&["A"]);
    blind.moves("Bb5");
    blind.board.press(WHITE);
    hall.until_played("e2e4 e7e5 g1f3 b8c6 f1b5");

    // The program is killed and goes on; the board comes back with the position put up. From here on the
    // boards hang on this process and the daemon: the ends of their cables are inherited.
    hall.kill_and_start();
    hall.until_missing(&["A"]);
    hall.until_played("e2e4 e7e5 g1f3 b8c6 f1b5");
    inside.play(&mut white, "Nc6 Bb5");
    sighted = dgt::TestBoard::again(&hall.port("dgt"), inside);
    hall.until_missing(&[]);
    blind.moves("a6");
    blind.board.press(BLACK);
    hall.until_played("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6");
    sighted.moves(&mut white, "a6 Ba4");
    hall.until_played("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4");
    blind.board.press(WHITE);
    blind.moves("Ba4");
    blind.moves("Nf6");
    blind.board.press(BLACK);
    hall.until_played("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6");
    assert_eq!(hall.daemon.json("/api/boards/1")["connected"], true);

    for code in ["board-lost", "board-back"] {
        let details: Vec<Value> = hall.told(code).iter().map(|fact| fact["detail"].clone()).collect();
        for unit in ["board A", "board B"] {
            assert!(
                details.iter().any(|detail| detail.as_str().unwrap().contains(unit)),
                "{code}: {details:?}"
            );
        }
    }
    let records = hall.end();
    sighted.unplug();
    let setup = &records[0]["header"]["setup"];
    assert_eq!(
        setup["boards"],
        json!([{"id": "A", "kind": "dgt", "side": "white"}, {"id": "B", "kind": "peg", "side": "black"}])
    );
    let from = |device: &str, board: Value| {
        records.iter().filter(|record| !record["in"][device].is_null()).all(|r| r["in"]["board"] == board)
    };
    assert!(from("dgt", Value::Null) && from("peg", json!("B")));
    // A move that is mirrored is no touch.
    let touches = records.iter().filter(|record| record["fact"] == "touch");
    let squares: Vec<&str> = touches.map(|touch| touch["square"].as_str().unwrap()).collect();
    assert_eq!(squares, ["e2", "e7", "g1", "b8", "f1", "a7", "b5", "g8"]);
}

#[test]
fn boards_that_disagree_are_told_the_arbiter_with_what_he_needs() {
    let mut hall = Hall::new("peg", "peg2");
    let start = Chess::default();
    let mut white = Pegs::plug(&hall.port("peg"), &start);
    let black = Pegs::plug(&hall.port("peg2"), &start);
    hall.until_missing(&[]);
    white.moves("e4");
    white.board.press(WHITE);
    hall.until_played("e2e4");
    // The mirror goes to e3.
    black.board.set(peg::START ^ (1 << 12));
    black.board.set(peg::START ^ (1 << 12) ^ (1 << 20));
    let boards = hall.until_told("boards", 1);
    // What was told before may be that the other board has not mirrored yet.
    let boards = if boards["b"]["state"] == "diverged" { boards } else { hall.until_told("boards", 2) };
    assert_eq!((&boards["a"]["state"], &boards["b"]["state"]), (&json!("in-step"), &json!("diverged")));
    assert_eq!((&boards["squares"], &boards["ply"]), (&json!(["e3", "e4"]), &json!(0)));
    assert!(boards["fen"].as_str().unwrap().starts_with(dgt::START), "{boards}");
    assert!(boards["white_ms"].is_u64() && boards["black_ms"].is_u64(), "{boards}");
    assert!(hall.told("boards-diverged").iter().any(|told| told["squares"] == json!(["e3", "e4"])));
    // Spectators see the game, not the board that is wrong.
    let shown = hall.daemon.json("/api/boards/1")["board"].clone();
    assert_eq!(shown, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR");
    // It is put right.
    black.board.set(peg::START ^ (1 << 12));
    black.board.set(peg::START ^ (1 << 12) ^ (1 << 28));
    hall.until_told("boards-agree", 1);
    hall.until_played("e2e4");
    hall.end();
}

/// The other player's board never comes: the whole game is read on the one that is there.
#[test]
fn a_whole_game_on_one_of_the_two_boards() {
    let mut hall = Hall::new("dgt", "peg");
    fs::write(hall.port("game.pgn"), "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n").unwrap();
    hall.until_missing(&["A", "B"]);
    let mut simulator = program();
    simulator.args(["simulate", "--output", "peg", "--level", "clean", "--speed", "4"]);
    simulator.args(["--set", "timing.think=4000-5000ms", "--trouble", "unplug@4", "--pty"]);
    simulator.arg(hall.port("peg")).arg(hall.port("game.pgn"));
    let mut board = Daemon::start(simulator);
    hall.until_played("e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7");
    let state = hall.daemon.until("the result", |daemon| {
        let state = daemon.json("/api/boards/1");
        (state["result"] == "1-0").then_some(state)
    });
    assert_eq!(state["status"], "ended");
    board.end();
    hall.end();
}

/// The rehearsal: two matrices of simulated wires in one daemon, each with a thread that scans it.
#[test]
fn two_simulated_matrices_rehearse_a_game() {
    let dir = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/examples/two-boards-simulated.toml");
    let path = dir.path().join("touchmoved.toml");
    let services = "[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nenabled = false\n";
    fs::write(&path, fs::read_to_string(example).unwrap().replace("two-boards-data", "data") + services)
        .unwrap();
    let mut hall = Hall { daemon: Daemon::with_config(&path), dir };
    hall.until_missing(&[]);
    hall.until_played("e2e4 e7e5");
    let (_, metrics) = get(hall.daemon.http(), "/metrics");
    for unit in ["A", "B"] {
        let scans = format!("touchmoved_scan_late_seconds_count{{board=\"1\",unit=\"{unit}\"}}");
        assert!(metrics.contains(&scans), "{metrics}");
    }
    let records = hall.end();
    let kinds = &records[0]["header"]["setup"]["boards"];
    assert_eq!(
        kinds,
        &json!([{"id": "A", "kind": "reed", "side": "white", "signal": "raw"}, {"id": "B", "kind": "peg", "side": "black", "signal": "raw"}])
    );
    assert!(records.iter().all(|record| record["code"] != "boards-diverged"));
    // Both boards were put right: what one player moved, the other one's board shows.
    let of_second = |square: &str| {
        records.iter().any(|record| record["in"]["sq"] == square && record["in"]["board"] == "B")
    };
    assert!(of_second("e4") && of_second("e5"));
}

#[test]
fn the_doctor_looks_at_each_of_the_two_boards() {
    let dir = tempfile::tempdir().unwrap();
    let config = configuration(dir.path(), "dgt", "peg");
    let board = peg::TestBoard::plug(&dir.path().join("peg"), Holes::of(peg::START));
    let doctor = |args: &[&str]| {
        let mut doctor = program();
        doctor.args(["doctor", "--seconds", "1", "--config"]).arg(&config).args(args);
        String::from_utf8(doctor.output().unwrap().stdout).unwrap()
    };
    let devices = |said: &str| -> Vec<String> {
        let of_board = said.lines().filter_map(|line| line.split_once(", device:"));
        of_board.map(|(line, _)| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let said = doctor(&[]);
    assert_eq!(devices(&said), ["failed board 1:A", "ok board 1:B"], "{said}");
    let said = doctor(&["--board", "1:B"]);
    assert_eq!(devices(&said), ["ok board 1:B"], "{said}");
    board.unplug(&dir.path().join("peg"));
}
