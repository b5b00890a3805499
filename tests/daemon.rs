//! The daemon as a process: start, signals, the service manager, what goes wrong at the start.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod process;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::{fs::MetadataExt as _, net::UnixDatagram, process::CommandExt as _},
    path::{Path, PathBuf},
    process::Command,
};

use process::{Daemon, assert_replayed, assert_verified, get, journals, moves, program, records, run};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

/// Writes a configuration with free ports and the data beside it.
fn config(dir: &TempDir, rest: &str) -> PathBuf {
    let path = dir.path().join("touchmoved.toml");
    let text = format!(
        "[data]\ndir = \"data\"\n[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nlisten = \"127.0.0.1:0\"\n{rest}"
    );
    fs::write(&path, text).unwrap();
    path
}

const SIMULATED: &str = "[[board]]\nid = \"7\"\n[board.sensor.simulated]\nspeed = 1000\nseed = 0\n";

fn data(dir: &TempDir) -> PathBuf {
    dir.path().join("data")
}

fn demo(data: &Path, more: &[&str]) -> Command {
    let mut command = program();
    command.args(["demo", "--http", "127.0.0.1:0", "--livechess", "127.0.0.1:0", "--data"]);
    command.arg(data).args(more);
    command
}

#[test]
fn the_demo_plays_its_game_to_the_end_and_serves_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = Daemon::start(demo(dir.path(), &["--speed", "1000", "--seed", "0", "--level", "clean"]));
    daemon.wait_for("nothing more to read");
    let boards = daemon.json("/api/boards");
    assert_eq!(boards[0]["tags"]["date"], "1858.??.??");
    assert_eq!(boards[0]["tags"]["time_control"], "5400+30");
    let played = daemon.until("the end of the game", |daemon| {
        let boards = daemon.json("/api/boards");
        (boards[0]["result"] != "*").then_some(boards)
    });
    let game = "e2e4 e7e5 g1f3 d7d6 d2d4 c8g4 d4e5 g4f3 d1f3 d6e5 f1c4 g8f6 f3b3 d8e7 b1c3 c7c6 c1g5 b7b5 \
                c3b5 c6b5 c4b5 b8d7 e1c1 a8d8 d1d7 d8d7 h1d1 e7e6 b5d7 f6d7 b3b8 d7b8 d1d8";
    assert_eq!(moves(&played[0]).join(" "), game);
    assert_eq!((&played[0]["result"], &played[0]["status"]), (&"1-0".into(), &"ended".into()));
    let (status, pgn) = get(daemon.http(), "/pgn/games.pgn");
    assert_eq!(status, 200);
    assert!(pgn.contains("Rd8#") && pgn.contains("1-0"), "{pgn}");
    assert!(get(daemon.http(), "/").1.contains("<html"));
    assert_eq!(daemon.json("/healthz")["journal"], "ok");
    daemon.end();
    let journal = journals(&dir.path().join("data"), "1").remove(0);
    assert_verified(&journal);
    assert_replayed(&journal);
}

#[test]
fn sigterm_in_the_middle_of_a_game_leaves_whole_journals() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = Daemon::start(demo(dir.path(), &["--speed", "200", "--boards", "3"]));
    let data = dir.path().join("data");
    daemon.until("some inputs of each board", |_| {
        let count = |id| journals(&data, id).first().map_or(0, |path| records(path).len());
        ["1", "2", "3"].into_iter().all(|id| count(id) > 40).then_some(())
    });
    daemon.end();
    for id in ["1", "2", "3"] {
        let journals = journals(&data, id);
        assert_eq!(journals.len(), 1);
        let text = fs::read_to_string(&journals[0]).unwrap();
        assert!(text.ends_with('\n'));
        assert_verified(&journals[0]);
        assert_replayed(&journals[0]);
    }
}

#[test]
fn a_game_goes_on_after_the_end_of_the_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(&dir, &SIMULATED.replace("1000", "100"));
    let mut daemon = Daemon::with_config(&config);
    daemon.until("some inputs", |_| {
        let count = journals(&data(&dir), "7").first().map_or(0, |path| records(path).len());
        (count > 40).then_some(())
    });
    daemon.end();
    let before = records(&journals(&data(&dir), "7")[0]).len();

    let mut daemon = Daemon::with_config(&config);
    daemon.wait_for("goes on after");
    daemon.wait_for("nothing more to read");
    daemon.end();
    let journals = journals(&data(&dir), "7");
    assert_eq!(journals.len(), 1, "the same segment goes on");
    let records = records(&journals[0]);
    assert!(records[before..].iter().any(|record| record.get("resume").is_some()));
    let power: Vec<&Value> =
        records[before..].iter().filter_map(|record| record["in"].get("power")).collect();
    assert_eq!(power, ["off", "on"]);
    let times: Vec<u64> = records.iter().map(|record| record["us"].as_u64().unwrap()).collect();
    assert!(times.is_sorted(), "times never go back");
    assert_verified(&journals[0]);
    assert_replayed(&journals[0]);
}

/// A kill on a full disk leaves half a line. That it is cut off has to be recorded, and waits for room like
/// everything else.
#[test]
fn a_torn_line_is_no_reason_not_to_start_with_a_full_disk() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(&dir, &SIMULATED.replace("1000", "100"));
    let mut daemon = Daemon::with_config(&config);
    daemon.until("some inputs", |_| {
        let count = journals(&data(&dir), "7").first().map_or(0, |path| records(path).len());
        (count > 40).then_some(())
    });
    daemon.kill();
    let journal = journals(&data(&dir), "7").remove(0);
    let length = fs::metadata(&journal).unwrap().len();
    fs::OpenOptions::new().append(true).open(&journal).unwrap().write_all(b"{\"seq\":9,\"us\"").unwrap();
    // No file may become as long as the journal is.
    let mut command = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -S -f \"$1\"; shift; exec \"$@\"";
    let blocks = (length / 512).saturating_sub(1).to_string();
    command.args(["-c", script, "sh", &blocks]).arg(program().get_program());
    command.arg("run").arg("--config").arg(&config).env_remove("NOTIFY_SOCKET");
    let mut daemon = Daemon::start(command);
    daemon.wait_for("ready");
    daemon.until("the flag", |daemon| (daemon.json("/healthz")["journal"] == "failed").then_some(()));
    assert_eq!(daemon.json("/api/boards")[0]["id"], "7", "the game is served");
    let room = rustix::process::Rlimit { current: None, maximum: None };
    rustix::process::prlimit(Some(daemon.pid()), rustix::process::Resource::Fsize, room).unwrap();
    daemon.until("the journal is whole again", |daemon| {
        (daemon.json("/healthz")["journal"] == "ok").then_some(())
    });
    daemon.end();
    let cuts = records(&journal).iter().filter(|record| record.get("cut").is_some()).count();
    assert_eq!((cuts, journals(&data(&dir), "7").len()), (1, 1));
    assert_verified(&journal);
    assert_replayed(&journal);
}

#[test]
fn another_set_up_begins_a_new_game_that_holds_the_head_of_the_last() {
    let dir = tempfile::tempdir().unwrap();
    for seed in ["seed = 0", "seed = 4"] {
        let mut daemon = Daemon::with_config(&config(&dir, &SIMULATED.replace("seed = 0", seed)));
        daemon.wait_for("nothing more to read");
        daemon.end();
    }
    let journals = journals(&data(&dir), "7");
    assert_eq!(journals.len(), 2);
    let first = records(&journals[0]);
    assert_eq!(records(&journals[1])[0]["header"]["prev"], first.last().unwrap()["chain"]);
}

/// Halls have hundreds of pages open for hours.
#[test]
fn a_client_that_only_listens_costs_little_memory() {
    const CLIENTS: usize = 200;
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = Daemon::start(demo(dir.path(), &["--speed", "1000", "--seed", "0", "--level", "clean"]));
    daemon.wait_for("nothing more to read");
    daemon.until("the end of the game", |daemon| {
        (daemon.json("/api/boards")[0]["result"] != "*").then_some(())
    });
    let address = daemon.http();
    let pid = daemon.pid().as_raw_nonzero();
    let resident = || -> usize {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let listen = |_| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /events HTTP/1.1\r\nHost: board\r\n\r\n").unwrap();
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        while !line.starts_with("data: [") {
            line.clear();
            assert!(stream.read_line(&mut line).unwrap() > 0);
        }
        stream
    };
    let _first = listen(0);
    let before = resident();
    let clients: Vec<_> = (0..CLIENTS).map(listen).collect();
    let each = resident().saturating_sub(before) / CLIENTS;
    assert!(each < 16, "{each} KiB a client");
    drop(clients);
    daemon.end();
}

#[test]
fn two_daemons_do_not_share_a_data_directory() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(&dir, SIMULATED);
    let mut daemon = Daemon::with_config(&config);
    daemon.http();
    let second = run(&["run", "--config", config.to_str().unwrap()]);
    assert_eq!(second.status.code(), Some(1));
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(said.contains("is in use by another touchmoved (process "), "{said}");
    daemon.end();
}

/// The demo on simulated wires: what is wrong with them is found, and a refused matrix says so once.
#[test]
fn the_demo_plays_on_wires_with_faults() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon =
        Daemon::start(demo(dir.path(), &["--wires", "--fault", "no-diodes", "--level", "clean"]));
    daemon.wait_for("no-diodes");
    daemon.wait_for("it is tried again until it works");
    let (_, metrics) = get(daemon.http(), "/metrics");
    assert!(metrics.contains("touchmoved_scan_wiring_faults{board=\"1\"} 1\n"), "{metrics}");
    daemon.end();
    let wrong = run(&["demo", "--wires", "--fault", "no-diode"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("they are no-diodes, "));
    for alone in [&["demo", "--fault", "no-diodes"][..], &["demo", "--wires", "--speed", "2"]] {
        assert_eq!(run(alone).status.code(), Some(2), "{alone:?}");
    }
}

#[test]
fn a_port_in_use_is_named_and_leaves_no_journal() {
    let dir = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = program()
        .args(["demo", "--livechess", "127.0.0.1:0", "--http", &address, "--data"])
        .arg(dir.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&address) && said.contains("in use") && said.contains("--http"), "{said}");
    assert!(journals(&dir.path().join("data"), "1").is_empty());
}

#[test]
fn a_data_directory_that_cannot_be_made_is_named() {
    for data in ["/proc/touchmoved", "/dev/null/data"] {
        let output = run(&["demo", "--http", "127.0.0.1:0", "--livechess", "127.0.0.1:0", "--data", data]);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(data) && said.contains("writable"), "{said}");
    }
}

#[test]
fn a_wrong_configuration_is_told_with_status_2() {
    let dir = tempfile::tempdir().unwrap();
    let path = config(&dir, &SIMULATED.replace("speed", "sped"));
    let output = run(&["run", "--config", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("touchmoved.toml:") && said.contains("sped"), "{said}");
    assert!(!data(&dir).exists(), "nothing was begun");

    let output = run(&["run", "--config", "/nowhere/touchmoved.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("/nowhere/touchmoved.toml"));
    assert_eq!(run(&["demo", "--speed", "0"]).status.code(), Some(2));
}

#[test]
fn a_missing_device_is_told_once_and_the_other_boards_are_served() {
    let dir = tempfile::tempdir().unwrap();
    let port = dir.path().join("no-such-port");
    let missing =
        format!("{SIMULATED}[[board]]\nid = \"8\"\n[board.sensor.dgt]\nport = \"{}\"\n", port.display());
    let mut daemon = Daemon::with_config(&config(&dir, &missing));
    daemon.wait_for("nothing more to read");
    daemon.wait_for("no-such-port");
    daemon.until("the board is shown as not connected", |daemon| {
        (daemon.json("/api/boards/8")["connected"] == false).then_some(())
    });
    assert_eq!(daemon.json("/api/boards/7")["connected"], true);
    assert_eq!(daemon.json("/healthz")["status"], "degraded");
    daemon.end();
    let said = daemon.said();
    assert_eq!(said.lines().filter(|line| line.contains("no-such-port")).count(), 1, "{said}");
    assert_verified(&journals(&data(&dir), "8")[0]);
}

#[test]
fn a_recording_that_is_no_recording_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("games.ndjson");
    let board = format!("[[board]]\nid = \"1\"\n[board.sensor.sensor-log]\npath = \"{}\"\n", log.display());
    let path = config(&dir, &board);
    for (text, expected) in [(None, "No such file"), (Some("{\"us\":1}\n"), "line 1")] {
        if let Some(text) = text {
            fs::write(&log, text).unwrap();
        }
        let output = run(&["run", "--config", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains("board 1") && said.contains("games.ndjson") && said.contains(expected),
            "{said}"
        );
    }
}

#[test]
fn sighup_changes_nothing_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = Daemon::with_config(&config(&dir, SIMULATED));
    daemon.http();
    daemon.signal(Signal::HUP);
    daemon.wait_for("SIGHUP: the configuration is read at the start only");
    assert_eq!(daemon.json("/api/boards")[0]["id"], "7");
    daemon.signal(Signal::INT);
    assert_eq!(daemon.wait().code(), Some(0));
}

#[test]
fn the_service_manager_hears_ready_watchdog_and_stopping() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(process::LIMIT)).unwrap();
    let hear = || {
        let mut bytes = [0; 4096];
        let count = socket.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    };
    let mut command = program();
    command.arg("run").arg("--config").arg(config(&dir, SIMULATED));
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "200000");
    let mut daemon = Daemon::start(command);
    let ready = hear();
    assert!(ready.contains("READY=1") && ready.contains("STATUS=serving board 7"), "{ready}");
    assert!(hear().contains("WATCHDOG=1"));
    assert!(hear().contains("WATCHDOG=1"));
    daemon.end();
    while !hear().contains("STOPPING=1") {}
}

#[test]
fn journald_gets_levels() {
    let dir = tempfile::tempdir().unwrap();
    let log = fs::File::create(dir.path().join("log")).unwrap();
    let metadata = log.metadata().unwrap();
    let mut command = program();
    command.arg("run").arg("--config").arg(config(&dir, SIMULATED)).stderr(log);
    command.env("JOURNAL_STREAM", format!("{}:{}", metadata.dev(), metadata.ino()));
    // Ends by itself: `timeout` is not needed, the address tells that it runs.
    let mut child = command.process_group(0).spawn().unwrap();
    let text = loop {
        let text = fs::read_to_string(dir.path().join("log")).unwrap();
        if text.contains("ready, 1 board") || child.try_wait().unwrap().is_some() {
            break text;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(text.lines().all(|line| line.starts_with("<6>")), "{text}");
    assert!(text.contains("<6>board 7: a new game is recorded in "), "{text}");
}
