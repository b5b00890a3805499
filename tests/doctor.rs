//! The real `touchmoved doctor`: a DGT board on a pseudo terminal, sensor logs, broken files, folders that
//! cannot be written, addresses in use, a running daemon, a terminal.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "doctor/board.rs"]
mod board;
#[path = "doctor/golden.rs"]
mod golden;
#[path = "process/mod.rs"]
mod process;
#[path = "doctor/terminal.rs"]
mod terminal;
#[path = "doctor/walk.rs"]
mod walk;

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::Value;
use touchmoved::{
    doctor::Topic,
    sensor::serial::{Framing, ModemLines, PortSettings, SerialLink},
};

use board::DgtBoard;
use process::Daemon;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

/// A folder with a configuration whose services are off unless the test says otherwise.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    /// `head` comes before the board, `sensor` is the board's sensor.
    fn new(head: &str, sensor: &str) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("[data]\ndir = \"data\"\n{head}\n[[board]]\nid = \"1\"\n{sensor}\n");
        fs::write(dir.path().join("board.toml"), text).unwrap();
        Bench { dir }
    }

    fn quiet(sensor: &str) -> Bench {
        Bench::new("[http]\nenabled = false\n[livechess]\nenabled = false", sensor)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn config(&self) -> String {
        self.path("board.toml").display().to_string()
    }

    fn doctor(&self, args: &[&str]) -> Output {
        let config = self.config();
        process::run(&[&["doctor", "--config", &config], args].concat())
    }

    /// The report as JSON, with the exit status that belongs to it.
    fn report(&self, args: &[&str]) -> Value {
        let output = self.doctor(&[&["--json"], args].concat());
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        let code = match report["verdict"].as_str().unwrap() {
            "ok" => 0,
            "warning" => 1,
            _ => 2,
        };
        assert_eq!(output.status.code(), Some(code), "{report:#}");
        report
    }
}

/// The first check of a topic.
fn check(report: &Value, topic: Topic) -> &Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["check"] == topic.as_str()).unwrap_or_else(|| panic!("{report:#}"))
}

#[track_caller]
fn assert_check(report: &Value, topic: Topic, verdict: &str, what: &str) {
    let check = check(report, topic);
    assert_eq!(check["verdict"], verdict, "{check:#}");
    assert!(check["what"].as_str().unwrap().contains(what), "{check:#}");
}

fn sensor_log(path: &Path) -> String {
    format!(
        "[board.sensor.sensor-log]\npath = {:?}\npace = \"as-fast-as-possible\"",
        path.display().to_string()
    )
}

/// A log with these lines after its header.
fn log(dir: &Path, header: &str, lines: &[&str]) -> PathBuf {
    let path = dir.join("log.ndjson");
    fs::write(&path, format!("{header}\n{}\n", lines.join("\n"))).unwrap();
    path
}

const RAW: &str = r#"{"sensor_log":1,"board":"reed","signal":"raw"}"#;

#[test]
fn a_dgt_board_is_named_and_its_men_and_clock_are_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let port = dir.path().join("dgt");
    let _board = DgtBoard::plug(&port, START, Some((5400, 5400)));
    let bench = Bench::quiet(&format!(
        "time-control = \"5400\"\n[board.sensor.dgt]\nport = {:?}",
        port.display().to_string()
    ));
    let report = bench.report(&["--seconds", "1"]);
    assert_check(&report, Topic::Device, "ok", "test board, version 1.2, serial number 01025");
    assert_eq!(check(&report, Topic::Device)["where"], port.display().to_string());
    assert_check(&report, Topic::Squares, "ok", "32 men, each on its square");
    assert_check(&report, Topic::Clock, "ok", "White 1:30:00, Black 1:30:00, both stand");
    assert_check(&report, Topic::Bounce, "not-run", "debounces by itself");
    let figures = &report["boards"][0];
    assert_eq!(figures["pieces"], START);
    assert_eq!(figures["identity"]["serial"], "01025");
    assert_eq!((&figures["white_ms"], &figures["running"]), (&5_400_000.into(), &Value::Null));
}

#[test]
fn men_that_stand_wrong_and_a_clock_that_runs_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let port = dir.path().join("dgt");
    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR";
    let _board = DgtBoard::plug(&port, fen, Some((300, 5400)));
    let bench = Bench::quiet(&format!(
        "time-control = \"5400\"\n[board.sensor.dgt]\nport = {:?}",
        port.display().to_string()
    ));
    let report = bench.report(&["--seconds", "1"]);
    assert_check(&report, Topic::Squares, "failed", "d1 reads K for Q, e1 reads Q for K");
    assert_check(&report, Topic::Clock, "warning", "the time control begins with 1:30:00");
}

#[test]
fn a_port_that_is_missing_busy_or_silent_says_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let port = dir.path().join("dgt");
    let bench = Bench::quiet(&format!("[board.sensor.dgt]\nport = {:?}", port.display().to_string()));
    let report = bench.report(&[]);
    assert_check(&report, Topic::Device, "failed", "no such device");
    for topic in [Topic::Squares, Topic::Chatter, Topic::Bounce, Topic::Scan, Topic::Clock] {
        assert_check(&report, topic, "not-run", "could not be read");
    }
    let _silent = DgtBoard::silent(&port);
    let settings = PortSettings {
        path: port.clone(),
        baud: 9600,
        framing: Framing::EightNone,
        lines: ModemLines::Leave,
    };
    let holder = SerialLink::open(&settings).unwrap();
    assert_check(&bench.report(&[]), Topic::Device, "failed", "in use by another program");
    drop(holder);
    assert_check(&bench.report(&["--seconds", "1"]), Topic::Device, "failed", "no answer");
}

#[test]
fn every_way_of_listening_ends_with_what_is_wrong_at_a_port_that_cannot_be_opened() {
    for kind in ["dgt", "peg"] {
        let bench = Bench::quiet(&format!("[board.sensor.{kind}]\nserial-number = \"nobody-has-it\""));
        let report = bench.report(&[]);
        assert_check(&report, Topic::Device, "failed", "no serial adapter");
        assert_eq!(check(&report, Topic::Device)["command"], "ls -l /dev/serial/by-id");
        for way in ["--live", "--walk"] {
            let output = bench.doctor(&[way]);
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains("no serial adapter with the USB serial number nobody-has-it"), "{said}");
        }
    }
}

#[test]
fn a_recording_tells_of_dead_stuck_and_chattering_squares_and_of_bounce() {
    let dir = tempfile::tempdir().unwrap();
    let mut lines = vec![r#"{"us":0,"occupied":"ffff00000800ffbf"}"#.to_owned()];
    let mut at = 1_000_000;
    let mut edge = |lines: &mut Vec<String>, square: &str, occupied: bool, after: u64| {
        at += after;
        lines.push(format!(r#"{{"us":{at},"sq":"{square}","occ":{}}}"#, u8::from(occupied)));
    };
    // A contact that closes for 22 ms before it stays closed, over and over: 15 ms are not enough.
    for _ in 0..25 {
        edge(&mut lines, "e4", true, 600_000);
        edge(&mut lines, "e4", false, 22_000);
        edge(&mut lines, "e4", true, 1_000);
        edge(&mut lines, "e4", false, 600_000);
    }
    // A contact that nobody could move so fast.
    for n in 0..24 {
        edge(&mut lines, "h5", n % 2 == 0, 60_000);
    }
    lines.push(format!(
        r#"{{"us":{at},"device":{{"source":"matrix","overruns":3,"worst_us":42000,"overruns_total":3}}}}"#
    ));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let bench = Bench::quiet(&sensor_log(&log(dir.path(), RAW, &lines)));
    let report = bench.report(&[]);
    assert_check(
        &report,
        Topic::Squares,
        "failed",
        "dead, or without a man: g1; stuck, or a man too many: d4",
    );
    assert_check(&report, Topic::Chatter, "failed", "h5");
    assert_check(&report, Topic::Bounce, "warning", "25 under 50 ms");
    let remedy = check(&report, Topic::Bounce)["remedy"].as_str().unwrap();
    assert_eq!(remedy, "set debounce-close-ms = 33 in place of 15 (e4 took 22 ms)");
    assert_check(&report, Topic::Scan, "warning", "3 late scans, the worst by 42 ms");
    let figures = &report["boards"][0];
    assert_eq!((&figures["missing"][0], &figures["extra"][0]), (&"g1".into(), &"d4".into()));
    assert_eq!(figures["closing"]["longest_us"], 22_000);
}

#[test]
fn every_problem_of_a_configuration_is_a_line_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.toml");
    fs::write(
        &path,
        "[data]\nsync-interval-ms = 5\n[[board]]\nid = \"1\"\ncolor = 1\n[board.sensor.simulated]\n",
    )
    .unwrap();
    let path = path.to_str().unwrap();
    let output = process::run(&["doctor", "--config", path]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("failed   configuration: ")).collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[0].contains(&format!("{path}:2:20: data.sync-interval-ms: expected a whole number")),
        "{text}"
    );
    assert!(lines[1].contains(&format!("{path}:5:1: board.color: unknown key")), "{text}");
    assert!(lines[1].ends_with(&format!("`sudo nano +5,1 {path}`")), "{text}");
    assert!(text.contains("not-run  device: boards, folders and addresses"), "{text}");
    assert!(
        text.ends_with("ok\n") && text.lines().last().unwrap().starts_with("not ready: 2 failed, "),
        "{text}"
    );
    let missing = process::run(&["doctor", "--config", "/nowhere/board.toml"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        String::from_utf8(missing.stdout)
            .unwrap()
            .contains("/nowhere/board.toml: cannot be read: No such file")
    );
}

#[test]
fn folders_that_cannot_be_written_and_tokens_that_cannot_be_used_fail() {
    let bench = Bench::new(
        "[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nenabled = false\n[pgn]\ndir = \"file/pgn\"\n\
         [arbiter]\ntoken-file = \"token\"",
        "[board.sensor.simulated]",
    );
    fs::write(bench.path("file"), "").unwrap();
    fs::write(bench.path("token"), "short").unwrap();
    let report = bench.report(&[]);
    assert_check(&report, Topic::Journals, "ok", "will be made at the start");
    assert!(!bench.path("data").exists(), "nothing is left behind");
    assert_check(&report, Topic::Pgn, "failed", "Not a directory");
    assert_check(&report, Topic::Tokens, "failed", "a token has 16 to 256 characters");
    assert_check(&report, Topic::Http, "ok", "the address is free");
    assert_check(&report, Topic::Livechess, "not-run", "switched off");
}

#[test]
fn the_token_of_lichess_is_looked_at_as_the_others() {
    use std::os::unix::fs::PermissionsExt as _;

    let quiet = "[http]\nenabled = false\n[livechess]\nenabled = false\n[lichess]\nround = \"AbCdEfGh\"";
    let bench = Bench::new(&format!("{quiet}\ntoken-file = \"token\""), "[board.sensor.simulated]");
    let look = |bench: &Bench| {
        let report = bench.report(&[]);
        let checks = report["checks"].as_array().unwrap();
        let of_tokens = checks.iter().filter(|check| check["check"] == "tokens");
        of_tokens.map(ToString::to_string).collect::<Vec<_>>()
    };
    let [arbiter, missing] = look(&bench).try_into().unwrap();
    assert!(arbiter.contains("not-run") && arbiter.contains("nothing can be entered"), "{arbiter}");
    assert!(missing.contains("failed") && missing.contains("lichess.token-file"), "{missing}");
    assert!(missing.contains("No such file") && missing.contains("study:write"), "{missing}");
    let token = bench.path("token");
    for (text, mode, verdict, what) in [
        ("lip_VerySecretToken42", 0o640, "\"ok\"", "kept from other users"),
        ("lip_VerySecretToken42", 0o644, "\"warning\"", "every user of this machine can read it"),
        ("lip_VerySecretToken42", 0o604, "\"warning\"", "every user of this machine can read it"),
        ("two words", 0o640, "\"failed\"", "study:write"),
    ] {
        fs::write(&token, text).unwrap();
        fs::set_permissions(&token, fs::Permissions::from_mode(mode)).unwrap();
        let checks = look(&bench);
        assert!(checks[1].contains(verdict) && checks[1].contains(what), "{}", checks[1]);
        assert!(!checks[1].contains("VerySecret") && !checks[1].contains("two words"), "{}", checks[1]);
    }
    let bench = Bench::new(quiet, "[board.sensor.simulated]");
    let checks = look(&bench);
    assert!(checks[1].contains("not-run") && checks[1].contains("credential"), "{}", checks[1]);
}

#[test]
fn a_full_disk_and_a_disk_in_memory_are_told() {
    let bench = Bench::quiet("[board.sensor.simulated]");
    let data = bench.path("data");
    fs::create_dir(&data).unwrap();
    let mount = |args: &[&str]| {
        let status = std::process::Command::new("mount")
            .args(args)
            .arg(&data)
            .stderr(std::process::Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    if !mount(&["-t", "tmpfs", "-o", "size=64k", "doctor-test"]) {
        eprintln!("skipped: mounting takes the rights of root");
        return;
    }
    let full = bench.report(&[]);
    fs::write(data.join("filler"), vec![0; 128 * 1024]).unwrap_err();
    let refused = bench.report(&[]);
    let remounted = mount(&["-o", "remount,size=1g,ro"]);
    let read_only = bench.report(&[]);
    let status = std::process::Command::new("umount").arg(&data).status().unwrap();
    assert!(status.success() && remounted);
    assert_check(&full, Topic::Disk, "failed", "as good as full");
    assert_check(&refused, Topic::Journals, "failed", "No space left on device");
    assert_check(&read_only, Topic::Journals, "failed", "Read-only file system");
    assert_check(&read_only, Topic::Disk, "warning", "lie on tmpfs (doctor-test), which forgets everything");
}

#[test]
fn addresses_in_use_name_who_has_them() {
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = stranger.local_addr().unwrap();
    let answering = std::thread::spawn(move || drop(stranger.accept()));
    let bench = Bench::new(
        &format!("[http]\nlisten = \"{address}\"\n[livechess]\nlisten = \"192.0.2.1:1982\""),
        "[board.sensor.simulated]",
    );
    let report = bench.report(&[]);
    answering.join().unwrap();
    assert_check(&report, Topic::Http, "failed", "another program has this address");
    assert_eq!(
        check(&report, Topic::Http)["command"],
        format!("sudo ss -ltnp 'sport = :{}'", address.port())
    );
    assert_check(&report, Topic::Livechess, "failed", "this machine does not have this address");
}

#[test]
fn a_running_daemon_tells_in_place_of_the_device_that_it_holds() {
    let port_of = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let port = dir.path().join("dgt");
    let board = DgtBoard::plug(&port, START, None);
    let (http, livechess) = (port_of(), port_of());
    let bench = Bench::new(
        &format!("[http]\nlisten = \"{http}\"\n[livechess]\nlisten = \"{livechess}\""),
        &format!("[board.sensor.dgt]\nport = {:?}", port.display().to_string()),
    );
    let mut daemon = Daemon::with_config(&bench.path("board.toml"));
    daemon.until("the board", |daemon| (daemon.json("/healthz")["connected"] == 1).then_some(()));
    let report = bench.report(&[]);
    let process = format!("(process {})", daemon.pid().as_raw_nonzero());
    assert_check(&report, Topic::Daemon, "ok", &process);
    assert_check(&report, Topic::Device, "ok", "the daemon reads it");
    assert_check(&report, Topic::Squares, "ok", "32 squares occupied, as at the start");
    assert_check(&report, Topic::Chatter, "not-run", "the daemon holds the board");
    assert_check(&report, Topic::Http, "ok", "the running daemon answers");
    assert_check(&report, Topic::Livechess, "ok", "the running daemon answers");
    let live = bench.doctor(&["--live"]);
    assert_eq!(live.status.code(), Some(2));
    let said = String::from_utf8(live.stderr).unwrap();
    assert!(said.contains("stop the daemon") && said.contains("1 of 1 answer"), "{said}");
    board.unplug();
    daemon.until("the cable is out", |daemon| (daemon.json("/healthz")["connected"] == 0).then_some(()));
    let report = bench.report(&[]);
    assert_check(&report, Topic::Daemon, "failed", "0 of 1 answer");
    assert_check(&report, Topic::Device, "failed", "no answer");
    daemon.end();
}

#[test]
fn without_a_configuration_the_demo_is_tested() {
    if Path::new("/etc/touchmoved/touchmoved.toml").exists() {
        return;
    }
    let output = process::run(&["doctor"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("warning  configuration: /etc/touchmoved/touchmoved.toml: there is none; "),
        "{text}"
    );
    assert!(
        text.contains("ok       board 1, squares: 32 squares occupied, as at the start of the game\n"),
        "{text}"
    );
    assert!(text.contains("ok       board 1, bounce: 15 and 30 ms are enough"), "{text}");
}

#[test]
fn one_board_of_several_is_asked_for_by_its_id() {
    let bench = Bench::quiet("[board.sensor.simulated]\n[[board]]\nid = \"a7\"\n[board.sensor.simulated]");
    let ids = |report: &Value| -> Vec<String> {
        report["boards"]
            .as_array()
            .unwrap()
            .iter()
            .map(|board| board["board"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&bench.report(&[])), ["1", "a7"]);
    assert_eq!(ids(&bench.report(&["--board", "a7"])), ["a7"]);
    let output = bench.doctor(&["--board", "b"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("has no board b; it has 1, a7"));
    let output = bench.doctor(&["--live"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("name one board with --board: 1, a7"));
}

/// What docs/operation.md shows is what the program says.
#[test]
fn the_output_in_the_manual_is_real() {
    let manual = include_str!("../docs/operation.md");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/examples/sick-board.toml");
    let output = process::run(&["doctor", "--config", example.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stdout).unwrap();
    let folder = example.parent().unwrap().display().to_string();
    let of_board: Vec<&str> = text.lines().filter(|line| line.contains(" board 7, ")).collect();
    assert_eq!(of_board.len(), 6, "{text}");
    for line in of_board {
        assert!(manual.contains(&line.replace(&folder, "config/examples")), "{line}");
    }
}

#[test]
fn the_boards_of_a_game_on_two_have_the_names_that_board_takes() {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/examples/two-boards-blind.toml");
    let doctor = |args: &[&str]| {
        process::run(&[&["doctor", "--config", config.to_str().unwrap(), "--seconds", "1"], args].concat())
    };
    let boards = |args: &[&str]| {
        let report: Value = serde_json::from_slice(&doctor(&[&["--json"], args].concat()).stdout).unwrap();
        let checks = report["checks"].as_array().unwrap();
        let devices = checks.iter().filter(|check| check["check"] == Topic::Device.as_str());
        devices.map(|check| check["board"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(boards(&[]), ["1:A", "1:B"]);
    assert_eq!(boards(&["--board", "1"]), ["1:A", "1:B"]);
    assert_eq!(boards(&["--board", "1:B"]), ["1:B"]);
    let unknown = doctor(&["--board", "1:C"]);
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(unknown.status.code() == Some(2) && said.contains("no board 1:C; it has 1:A, 1:B"), "{said}");
}
