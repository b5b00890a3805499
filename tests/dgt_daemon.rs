//! The whole daemon with a DGT board on a pseudo terminal: what the operator is told, and a game that goes on
//! after an outage of the program itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/dgt.rs"]
mod dgt;
mod process;

use std::{fs, path::PathBuf};

use dgt::{Inside, START, TestBoard};
use process::{Daemon, assert_replayed, assert_verified, journals, moves, records};
use shakmaty::Chess;
use tempfile::TempDir;

/// A configuration with one DGT board on `dgt0` beside it.
fn config(dir: &TempDir) -> PathBuf {
    let path = dir.path().join("touchmoved.toml");
    let port = dir.path().join("dgt0");
    let text = format!(
        "[data]\ndir = \"data\"\n[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nlisten = \"127.0.0.1:0\"\n\
         [[board]]\nid = \"1\"\n[board.sensor.dgt]\nport = \"{}\"\n",
        port.display()
    );
    fs::write(&path, text).unwrap();
    path
}

fn until_played(daemon: &mut Daemon, game: &str) {
    daemon.until(game, |daemon| (moves(&daemon.json("/api/boards/1")).join(" ") == game).then_some(()));
}

#[test]
fn moves_that_were_made_while_the_daemon_was_dead_are_in_the_game() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(&dir);
    let link = dir.path().join("dgt0");
    let board = TestBoard::again(&link, Inside { battery: Some(80), ..Inside::new(START) });
    let mut daemon = Daemon::with_config(&config);
    daemon.until("the board", |daemon| {
        let health = daemon.json("/healthz");
        (health["devices"][0]["battery"]["percent"] == 80).then_some(())
    });
    let health = daemon.json("/healthz");
    assert_eq!((&health["devices"][0]["serial"], &health["status"]), (&"01025".into(), &"ok".into()));
    let mut game = Chess::default();
    board.moves(&mut game, "e4 e5 Nf3 Nc6");
    until_played(&mut daemon, "e2e4 e7e5 g1f3 b8c6");
    daemon.kill();
    board.moves(&mut game, "Bb5 a6 Ba4 Nf6 O-O");
    let mut daemon = Daemon::with_config(&config);
    until_played(&mut daemon, "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1");
    board.moves(&mut game, "Be7");
    until_played(&mut daemon, "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7");
    daemon.end();
    board.unplug();
    let journal = journals(&dir.path().join("data"), "1").remove(0);
    assert_verified(&journal);
    assert_replayed(&journal);
}

#[test]
fn what_is_wrong_with_a_board_is_told_the_operator_until_it_is_right() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = Daemon::with_config(&config(&dir));
    let trouble = daemon.until("the trouble", |daemon| {
        let health = daemon.json("/healthz");
        health["troubles"][0]["detail"].as_str().map(str::to_owned)
    });
    assert!(trouble.contains("dgt0: no such device") && trouble.contains("/dev/serial/by-id"), "{trouble}");
    let board = TestBoard::plug(&dir.path().join("dgt0"), START);
    let healthy = |daemon: &mut Daemon| (daemon.json("/healthz")["status"] == "ok").then_some(());
    daemon.until("health", healthy);
    let (_, inside) = board.unplug();
    daemon.until("the outage", |daemon| healthy(daemon).is_none().then_some(()));
    let board = TestBoard::again(&dir.path().join("dgt0"), inside);
    daemon.until("health", healthy);
    daemon.end();
    board.unplug();
    let journal = journals(&dir.path().join("data"), "1").remove(0);
    assert_verified(&journal);
    let gaps: Vec<bool> = records(&journal)
        .iter()
        .filter_map(|record| Some(record.get("in")?.get("device")?.get("gap_ms")?.is_u64()))
        .collect();
    assert_eq!(gaps, [true, true], "each outage is recorded with its length");
}
