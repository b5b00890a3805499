//! The whole daemon sets a clock through a DGT board, both on a pseudo terminal.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/dgt.rs"]
mod dgt;
mod process;

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::Output,
};

use dgt::{Inside, START, Tell, TestBoard, TestClock, stopped};
use process::{Daemon, assert_replayed, assert_verified, journals, records, run};
use serde_json::{Value, json};
use tempfile::TempDir;
use touchmoved::wire::dgt::clock::ClockState;

struct Hall {
    dir: TempDir,
    daemon: Daemon,
    board: TestBoard,
}

impl Hall {
    fn new(clock: TestClock) -> Hall {
        Hall::with(START, clock)
    }

    /// A board that shows this, as it numbers its squares.
    fn with(shown: &str, clock: TestClock) -> Hall {
        let dir = tempfile::tempdir().unwrap();
        let token = dir.path().join("token");
        fs::write(&token, "0123456789abcdef0123456789abcdef\n").unwrap();
        fs::set_permissions(&token, Permissions::from_mode(0o600)).unwrap();
        let config = dir.path().join("touchmoved.toml");
        let link = dir.path().join("dgt0");
        let text = format!(
            "[data]\ndir = \"data\"\n[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nlisten = \"127.0.0.1:0\"\n\
             [arbiter]\ntoken-file = \"token\"\n[[board]]\nid = \"1\"\ntime-control = \"90+30\"\n\
             [board.sensor.dgt]\nport = \"{}\"\n",
            link.display()
        );
        fs::write(&config, text).unwrap();
        let board = TestBoard::again(&link, Inside { clock: Some(clock), ..Inside::new(shown) });
        let daemon = Daemon::with_config(&config);
        Hall { dir, daemon, board }
    }

    fn until_shown(&mut self, white_ms: u64, black_ms: u64) {
        self.daemon.until("the times", |daemon| {
            let clock = daemon.json("/api/boards/1")["clock"].clone();
            (clock["white_ms"] == white_ms && clock["black_ms"] == black_ms).then_some(())
        });
    }

    /// The arbiter says something on the command line.
    fn says(&mut self, words: &str) -> Output {
        let address = self.daemon.http().to_string();
        let token = self.dir.path().join("token");
        let mut args = vec!["arbiter", "--http", &address, "--token-file", token.to_str().unwrap(), "1"];
        args.extend(words.split(' '));
        run(&args)
    }

    fn journal(&self) -> PathBuf {
        journals(&self.dir.path().join("data"), "1").remove(0)
    }

    /// Waits for a fact that the journal has.
    fn fact(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        let journal = self.journal();
        self.daemon.until("a fact", |_| records(&journal).into_iter().find(|record| is(record)))
    }

    fn end(mut self) -> Vec<Value> {
        self.daemon.end();
        self.board.unplug();
        let journal = journals(&self.dir.path().join("data"), "1").remove(0);
        assert_verified(&journal);
        assert_replayed(&journal);
        records(&journal)
    }
}

fn is(name: &'static str) -> impl Fn(&Value) -> bool {
    move |record| record["fact"] == name
}

fn code(name: &'static str) -> impl Fn(&Value) -> bool {
    move |record| record["code"] == name
}

#[test]
fn the_times_that_were_ruled_go_to_the_clock() {
    // White sits at the left.
    let mut hall = Hall::new(TestClock { lose: 1, ..TestClock::showing(5400, 5400) });
    hall.until_shown(5_400_000, 5_400_000);
    assert!(hall.says("set clock white 5000000").status.success());
    assert!(hall.says("set clock black 5100400").status.success());
    assert!(hall.says("send-clock").status.success());
    // The first acknowledgement is lost.
    let set = hall.fact(is("clock_set"));
    assert_eq!(set["before"], json!({"white_ms": 5_400_000, "black_ms": 5_400_000, "running": null}));
    assert_eq!(set["after"], json!({"white_ms": 5_000_000, "black_ms": 5_101_000, "running": null}));
    assert_eq!(set["tries"], 2);
    hall.until_shown(5_000_000, 5_101_000);
    let records = hall.end();
    let place = |is: &dyn Fn(&Value) -> bool| records.iter().position(is).unwrap();
    let entry = place(&|record| record["command"] == "send-clock");
    let order = place(&is("clock_order"));
    let note = place(&|record| record["in"]["device"]["what"] == "clock-set");
    assert!(entry < order && order < note && note < place(&is("clock_set")));
    assert_eq!(records[note]["in"]["device"]["left_ms"], 5_000_000);
    let wall: Vec<&Value> = records.iter().filter_map(|record| record["in"].get("wall")).collect();
    assert!(wall.len() == 1 && wall[0]["utc"].is_string(), "nobody set this machine's clock: {wall:?}");
    assert!(wall[0].get("synchronised").is_some());
}

#[test]
fn a_clock_that_is_not_in_its_remote_mode_refuses_and_the_arbiter_hears_why() {
    let mut hall = Hall::new(TestClock { remote: false, ..TestClock::showing(5400, 5400) });
    hall.until_shown(5_400_000, 5_400_000);
    assert!(hall.says("send-clock run-white").status.success());
    let failed = hall.fact(code("clock-not-set"));
    assert_eq!(failed["reason"], "the clock is not in its remote mode");
    assert!(failed["detail"].as_str().unwrap().contains("option 25"));
    hall.until_shown(5_400_000, 5_400_000);
    assert!(hall.end().iter().all(|record| record["fact"] != "clock_set"));
}

#[test]
fn on_a_turned_board_the_sides_of_the_clock_are_turned() {
    // Black sits at the left.
    let mut hall = Hall::with("RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr", TestClock::showing(5400, 5000));
    hall.until_shown(5_000_000, 5_400_000);
    assert!(hall.says("set clock white 4000000").status.success());
    assert!(hall.says("send-clock run-white").status.success());
    let set = hall.fact(is("clock_set"));
    assert_eq!(set["after"], json!({"white_ms": 4_000_000, "black_ms": 5_400_000, "running": "white"}));
    hall.until_shown(4_000_000, 5_400_000);
    hall.daemon.until("the clock runs", |daemon| {
        (daemon.json("/api/boards/1")["clock"]["running"] == "white").then_some(())
    });
    let records = hall.end();
    let note = records.iter().find_map(|record| record["in"]["device"].get("left_ms"));
    assert_eq!(note, Some(&json!(5_400_000)));
}

#[test]
fn a_restart_sends_nothing_again() {
    let mut hall = Hall::new(TestClock::showing(5400, 5400));
    hall.until_shown(5_400_000, 5_400_000);
    assert!(hall.says("send-clock run-black").status.success());
    hall.fact(is("clock_set"));
    hall.daemon.kill();
    hall.daemon = Daemon::with_config(&hall.dir.path().join("touchmoved.toml"));
    hall.until_shown(5_400_000, 5_400_000);
    hall.board.tell(Tell::Clock(Some(stopped(5000, 5000))));
    hall.until_shown(5_000_000, 5_000_000);
    hall.daemon.end();
    let (log, _) = hall.board.unplug();
    assert_eq!(log.commands.iter().filter(|byte| **byte == 0x2b).count(), 1, "one order in all");
}

#[test]
fn a_weak_battery_and_a_pulled_cable_of_the_clock_are_told() {
    let mut hall = Hall::new(TestClock::showing(5400, 5400));
    hall.until_shown(5_400_000, 5_400_000);
    hall.board.tell(Tell::Clock(Some(ClockState { battery_low: true, ..stopped(5400, 5400) })));
    hall.fact(code("clock-battery-low"));
    let metrics = |daemon: &mut Daemon| process::get(daemon.http(), "/metrics").1;
    let text = metrics(&mut hall.daemon);
    assert!(text.contains("touchmoved_clock_battery_low{board=\"1\"} 1"), "{text}");
    assert!(text.contains("touchmoved_clock_connected{board=\"1\"} 1"), "{text}");
    hall.board.tell(Tell::Clock(None));
    hall.fact(code("clock-unplugged"));
    let devices = hall.daemon.json("/healthz")["devices"].clone();
    assert_eq!((&devices[0]["clock"], &devices[0]["clock_battery"]), (&json!("absent"), &json!("low")));
    assert!(metrics(&mut hall.daemon).contains("touchmoved_clock_connected{board=\"1\"} 0"));
    let refused = hall.says("send-clock");
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    hall.end();
}
