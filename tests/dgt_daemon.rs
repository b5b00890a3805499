//! The whole daemon with a DGT board on a pseudo terminal: what the operator is told, and a game that goes on
//! after an outage of the program itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/dgt.rs"]
mod dgt;
mod process;

use std::{fs, path::PathBuf};

use dgt::{Inside, START, Tell, TestBoard};
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

#[test]
fn another_board_than_at_first_is_a_trouble_until_the_first_one_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("dgt0");
    let mut daemon = Daemon::with_config(&config(&dir));
    let mut first = Inside::new(START);
    for (round, number) in ["01025", "20777", "01025"].into_iter().enumerate() {
        // The battery is told behind the serial numbers.
        let percent = 80 + u8::try_from(round).unwrap();
        let board =
            TestBoard::again(&link, Inside { serial: number.to_owned(), battery: Some(percent), ..first });
        let detail = daemon.until(number, |daemon| {
            let health = daemon.json("/healthz");
            let told = health["devices"][0]["battery"]["percent"] == percent;
            told.then(|| health["troubles"][0]["detail"].as_str().unwrap_or_default().to_owned())
        });
        if number == "01025" {
            assert_eq!(detail, "");
        } else {
            assert!(detail.contains("has the serial number 20777, and it was 01025 before"), "{detail}");
            daemon.wait_for("it was 01025 before");
        }
        (_, first) = board.unplug();
    }
    daemon.end();
    let journal = journals(&dir.path().join("data"), "1").remove(0);
    assert_verified(&journal);
    assert_replayed(&journal);
}

#[test]
fn a_board_is_connected_when_it_answers_and_not_before() {
    let dir = tempfile::tempdir().unwrap();
    let board = TestBoard::plug(&dir.path().join("dgt0"), START);
    board.tell(Tell::Mute(true));
    let mut daemon = Daemon::with_config(&config(&dir));
    let health = daemon.json("/healthz");
    assert_eq!((&health["connected"], &health["status"]), (&0.into(), &"degraded".into()), "{health}");
    board.tell(Tell::Mute(false));
    daemon.until("the board", |daemon| (daemon.json("/healthz")["connected"] == 1).then_some(()));
    // The same for a game that goes on.
    board.tell(Tell::Mute(true));
    daemon.kill();
    let mut daemon = Daemon::with_config(&config(&dir));
    assert_eq!(daemon.json("/healthz")["connected"], 0);
    daemon.end();
    board.unplug();
}
