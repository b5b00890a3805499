//! The own clock of a running daemon: the arbiter starts it, the power fails, and the times go on from the journal.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod process;

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use process::{Daemon, assert_replayed, assert_verified, journals, program, records};
use serde_json::{Value, json};

/// A simulated board in real time: the clock is a live one.
const CONFIG: &str = "[data]\ndir = \"data\"\n[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nenabled = false\n\
    [arbiter]\ntoken-file = \"token\"\n[[board]]\nid = \"1\"\ntime-control = \"25min + 10s\"\nclock.kind = \"own\"\n\
    [board.sensor.matrix]\nbackend = \"simulated\"\nlevel = \"clean\"\n";

fn command(daemon: &mut Daemon, dir: &Path, words: &[&str]) {
    let address = daemon.http().to_string();
    let mut command = program();
    command.arg("arbiter").arg("--config").arg(dir.join("touchmoved.toml"));
    let output = command.args(["--http", &address, "1"]).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn face(daemon: &mut Daemon) -> Value {
    daemon.json("/api/clocks")[0].clone()
}

#[test]
fn the_clock_is_started_survives_a_kill_and_stands_until_it_is_started_again() {
    let dir = tempfile::tempdir().unwrap();
    let token = dir.path().join("token");
    fs::write(&token, "0123456789abcdef0123456789abcdef\n").unwrap();
    fs::set_permissions(&token, Permissions::from_mode(0o600)).unwrap();
    fs::write(dir.path().join("touchmoved.toml"), CONFIG).unwrap();
    let mut daemon = Daemon::with_config(&dir.path().join("touchmoved.toml"));
    daemon.wait_for("ready");
    let start = face(&mut daemon);
    assert_eq!((&start["white_ms"], &start["black_ms"]), (&json!(1_510_000), &json!(1_510_000)));
    assert_eq!((&start["board"], &start["running"]), (&json!("1"), &Value::Null));

    command(&mut daemon, dir.path(), &["run", "white"]);
    assert_eq!(face(&mut daemon)["running"], "white");
    // Nothing happens at the board, and still the record goes on.
    let journal = journals(&dir.path().join("data"), "1").remove(0);
    let marks = |journal: &Path| {
        records(journal).iter().filter(|record| record["in"]["device"]["daemon"] == "clock").count()
    };
    daemon.until("a record of the time", |_| (marks(&journal) > 0).then_some(()));
    daemon.kill();

    let mut daemon = Daemon::with_config(&dir.path().join("touchmoved.toml"));
    daemon.wait_for("ready");
    let stands = face(&mut daemon);
    assert_eq!(stands["running"], Value::Null);
    let left = stands["white_ms"].as_u64().unwrap();
    assert!(left <= 1_505_000, "what was recorded is used up: {left}");
    assert_eq!(stands["black_ms"], 1_510_000);
    let gaps: Vec<Value> =
        records(&journal).into_iter().filter(|record| record["code"] == "clock-gap").collect();
    assert_eq!((gaps.len(), &gaps[0]["running"]), (1, &json!("white")));

    command(&mut daemon, dir.path(), &["set", "clock", "white", "600000"]);
    command(&mut daemon, dir.path(), &["run"]);
    let runs = face(&mut daemon);
    assert_eq!(runs["running"], "white");
    assert!(runs["white_ms"].as_u64().unwrap() <= 600_000, "{runs}");
    daemon.end();
    assert_verified(&journal);
    assert_replayed(&journal);
}
