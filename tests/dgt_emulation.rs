//! The daemon as a DGT board: what other programs meet at its port.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/emulation.rs"]
mod emulation;
mod process;

use std::{fs, io::Read as _, io::Write as _, path::PathBuf, process::Command};

use emulation::{Program, START, Sensors, config};
use process::{Daemon, moves};
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, OptionalActions, OutputModes, tcgetattr, tcsetattr};
use serde_json::Value;
use serialport::TTYPort;
use shakmaty::Square;
use tempfile::TempDir;
use touchmoved::wire::dgt::{Message, clock::Clock, message::Reading};

const E2_LIFTED: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPP1PPP/RNBQKBNR";
const E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR";

/// A daemon with one board at the start of a game.
struct Hall {
    dir: TempDir,
    daemon: Daemon,
    sensors: Sensors,
}

impl Hall {
    fn open(rest: &str) -> Hall {
        let dir = tempfile::tempdir().unwrap();
        let config = config(&dir, rest);
        // The header of the log is waited for before anything is served.
        let (daemon, sensors) = std::thread::scope(|scope| {
            let sensors = scope.spawn(|| Sensors::open(&dir));
            let mut daemon = Daemon::with_config(&config);
            daemon.wait_for("ready, ");
            (daemon, sensors.join().unwrap())
        });
        Hall { dir, daemon, sensors }
    }

    fn link(&self) -> PathBuf {
        self.dir.path().join("run/dgt")
    }

    fn program(&self) -> Program {
        let mut program = Program::open(&self.link());
        program.until_shown(START);
        program
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// The ids with which a board answers a step of a handshake; with a clock at the board.
fn answers(step: &[u8]) -> Vec<u8> {
    if step.first() == Some(&0x2b) {
        return vec![0x8d];
    }
    let of = |byte: &u8| match byte {
        0x41 | 0x43 | 0x4b => Some(0x8d),
        0x42 => Some(0x86),
        0x45 => Some(0x91),
        0x46 => Some(0x90),
        0x47 => Some(0x92),
        0x48 => Some(0x96),
        0x4c => Some(0xa0),
        0x4d => Some(0x93),
        0x55 => Some(0xa2),
        _ => None,
    };
    step.iter().filter_map(of).collect()
}

#[test]
fn every_program_gets_through_its_start() {
    let text = fs::read_to_string("tests/fixtures/dgt/vectors.json").unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let mut hall = Hall::open("");
    hall.sensors.times(300_000, 300_000, "null");
    let mut met = 0;
    for handshake in all["client_handshakes"].as_array().unwrap() {
        let name = handshake["client"].as_str().unwrap();
        let mut program = hall.program();
        program.say(&[0x40]);
        // Steps such as "(wait for 93) 42" have a remark in front, "then 45 every 1 s" around.
        let steps = handshake["steps"]
            .as_array()
            .unwrap()
            .iter()
            .chain(handshake["then_cli_demo"].as_array().map(Vec::as_slice).unwrap_or_default());
        for step in steps.map(|step| step.as_str().unwrap()) {
            let words = step.split(|c: char| !c.is_ascii_hexdigit()).filter(|word| word.len() % 2 == 0);
            let mut words = words.filter(|word| !word.is_empty() && word.chars().any(|c| c.is_ascii_digit()));
            let Some(hex) = words.next_back() else { panic!("{name}: {step}") };
            let bytes = unhex(if step.contains("every") { "45" } else { hex });
            program.say(&bytes);
            let mut wanted = answers(&bytes);
            if bytes[0] == 0x2b && name == "corechess" {
                // It has not asked for updates: no board acknowledges.
                wanted.clear();
            }
            assert_eq!(program.answers(&wanted), wanted, "{name}: {step}");
            met += 1;
        }
        assert!(program.is_silent(), "{name}: nothing else comes");
        assert_eq!(program.dump(), START, "{name}");
    }
    assert!(met > 50, "{met}");
    hall.daemon.end();
    assert!(!hall.dir.path().join("run/dgt").is_symlink(), "the name goes with the daemon");
}

#[test]
fn lifts_landings_and_the_clock_are_told_as_they_happen() {
    let mut hall = Hall::open("");
    let mut program = hall.program();
    program.say(&[0x4b]);
    assert_eq!(program.next(), Message::Clock(Clock::Absent));
    hall.sensors.times(300_000, 300_000, "\"white\"");
    let Message::Clock(Clock::State(state)) = program.next() else { panic!("the clock") };
    assert!(state.running && !state.right_lever_high && state.left.seconds == 300);
    hall.sensors.lift("e2");
    let lifted = Message::Field { square: Square::E2, reading: Reading::Empty };
    assert_eq!(program.next_but_clock(), lifted);
    assert_eq!(program.dump(), E2_LIFTED);
    hall.sensors.place("e4");
    let landed = Reading::from_code(1);
    assert_eq!(program.next_but_clock(), Message::Field { square: Square::E4, reading: landed });
    hall.sensors.times(297_000, 300_000, "\"black\"");
    loop {
        let Message::Clock(Clock::State(state)) = program.next() else { panic!("the clock") };
        if state.right_lever_high {
            assert_eq!((state.left.seconds, state.right.seconds), (297, 300));
            break;
        }
    }
    // No move was published that stands on the board only.
    hall.sensors.lift("e7");
    hall.sensors.place("e2");
    let odd = program.next_but_clock();
    assert_eq!(odd, Message::Field { square: Square::E7, reading: Reading::Empty });
    let (status, metrics) = process::get(hall.daemon.http(), "/metrics");
    assert!(status == 200 && metrics.contains("touchmoved_dgt_clients 1\n"), "{metrics}");
    hall.daemon.end();
}

#[test]
fn programs_that_come_and_go_find_the_board_as_it_is() {
    let mut hall = Hall::open("");
    // One reserves the port and goes without a word: as another user, the next one could not open it.
    drop(TTYPort::open(&serialport::new(hall.link().to_str().unwrap(), 9600)).unwrap());
    hall.until_nobody_reads();
    // One streams, reads nothing of it and goes.
    let mut first = hall.program();
    first.say(&[0x44]);
    hall.sensors.lift("e2");
    hall.sensors.place("e4");
    let mut second = Program::open(&hall.link());
    drop(first);
    second.until_shown(E4);
    drop(second);
    hall.until_nobody_reads();
    hall.sensors.lift("e7");
    let mut third = Program::open(&hall.link());
    assert!(third.is_silent(), "nothing that was meant for another one");
    third.until_shown("rnbqkbnr/pppp1ppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR");
    // Killed in the middle: two others stay, and read what they get.
    let killed = Command::new("cat").arg(hall.link()).stdout(std::process::Stdio::null()).spawn();
    let mut killed = killed.unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    third.until_shown("rnbqkbnr/pppp1ppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR");
    for _ in 0..50 {
        drop(Program::open(&hall.link()));
    }
    third.until_shown("rnbqkbnr/pppp1ppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR");
    drop(third);
    hall.sensors.place("e5");
    hall.program_shows("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR");
    hall.daemon.end();
}

impl Hall {
    fn until_nobody_reads(&mut self) {
        self.daemon.until("the port is free", |daemon| {
            process::get(daemon.http(), "/metrics").1.contains("touchmoved_dgt_clients 0\n").then_some(())
        });
    }

    fn program_shows(&self, placement: &str) {
        Program::open(&self.link()).until_shown(placement);
    }
}

#[test]
fn a_terminal_that_a_program_made_to_echo_is_put_right() {
    let mut hall = Hall::open("");
    let mut program = hall.program();
    let mut settings = tcgetattr(program.port()).unwrap();
    settings.local_modes |= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    settings.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
    tcsetattr(program.port(), OptionalActions::Now, &settings).unwrap();
    program.say(&[0x44]);
    for _ in 0..3 {
        assert_eq!(program.dump(), START);
    }
    let settings = tcgetattr(program.port()).unwrap();
    assert!(!settings.local_modes.intersects(LocalModes::ECHO | LocalModes::ICANON));
    hall.sensors.lift("e2");
    assert_eq!(program.next(), Message::Field { square: Square::E2, reading: Reading::Empty });
    assert!(program.is_silent(), "no echo came back as a command");
    hall.daemon.end();
}

#[test]
fn a_program_that_does_not_read_is_behind_and_then_right() {
    let mut hall = Hall::open("");
    let mut program = hall.program();
    program.say(&[0x44]);
    assert_eq!(program.dump(), START);
    // More than any buffer in between holds.
    for _ in 0..10_000 {
        hall.sensors.lift("b1");
        hall.sensors.place("b1");
    }
    hall.sensors.lift("e2");
    hall.daemon
        .until("the last lift", |daemon| (daemon.json("/api/boards/1")["board"] == E2_LIFTED).then_some(()));
    let mut updates = 0;
    let mut on_b1 = true;
    loop {
        let Message::Field { square, reading } = program.next() else { panic!("an update") };
        updates += 1;
        match square {
            Square::B1 => on_b1 = reading != Reading::Empty,
            Square::E2 => break,
            other => panic!("{other}"),
        }
    }
    assert!(on_b1 && updates < 20_000, "{updates}");
    assert_eq!(program.dump(), E2_LIFTED);
    hall.daemon.end();
}

#[test]
fn a_name_that_a_crash_left_over_is_taken_and_a_file_is_not() {
    let mut hall = Hall::open("");
    let config = hall.dir.path().join("touchmoved.toml");
    let link = hall.link();
    hall.daemon.kill();
    assert!(link.is_symlink(), "nobody removed it");
    let mut daemon = std::thread::scope(|scope| {
        scope.spawn(|| Sensors::open(&hall.dir));
        let mut daemon = Daemon::with_config(&config);
        daemon.wait_for("ready, ");
        daemon
    });
    hall.program_shows(START);
    daemon.end();
    fs::write(&link, "mine").unwrap();
    let mut daemon = std::thread::scope(|scope| {
        scope.spawn(|| Sensors::open(&hall.dir));
        let mut daemon = Daemon::with_config(&config);
        daemon.wait_for("ready, ");
        daemon
    });
    assert!(
        daemon.said().contains("no symbolic link; remove it, or set [dgt-emulation] dir"),
        "{}",
        daemon.said()
    );
    assert_eq!(fs::read_to_string(&link).unwrap(), "mine");
    fs::remove_file(&link).unwrap();
    daemon.until("the port", |_| link.is_symlink().then_some(()));
    hall.program_shows(START);
    daemon.end();
}

#[test]
fn a_serial_device_is_served_and_opened_again_after_it_was_pulled_out() {
    let dir = tempfile::tempdir().unwrap();
    let device = dir.path().join("ttyGS0");
    let plug = || {
        let master =
            rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
        let _ = fs::remove_file(&device);
        std::os::unix::fs::symlink(name.to_str().unwrap(), &device).unwrap();
        Program::over(master.into())
    };
    let mut program = plug();
    let text = format!("[board.dgt-emulation]\nport = {device:?}\nflipped = true\n");
    let config = config(&dir, &text);
    let (mut daemon, _sensors) = std::thread::scope(|scope| {
        let sensors = scope.spawn(|| Sensors::open(&dir));
        let mut daemon = Daemon::with_config(&config);
        daemon.wait_for("ready, ");
        (daemon, sensors.join().unwrap())
    });
    let turned = "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr";
    program.until_shown(turned);
    drop(program);
    let mut program = plug();
    daemon.wait_for("board 1 is a DGT board at ");
    program.until_shown(turned);
    assert!(!dir.path().join("run").exists(), "and no terminal is made");
    daemon.end();
}

#[test]
fn it_can_be_switched_off() {
    let mut hall = Hall::open("[board.dgt-emulation]\nenabled = false\n");
    assert!(!hall.link().is_symlink());
    assert!(!hall.daemon.said().contains("as a DGT board"));
    hall.daemon.end();
}

/// One daemon reads a reed board, another one reads the first as a DGT board: the game is the same.
#[test]
fn a_daemon_that_reads_a_daemon_has_the_same_game() {
    let mut hall = Hall::open("");
    hall.sensors.times(300_000, 300_000, "\"white\"");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("touchmoved.toml");
    let text = format!(
        "data.dir = \"data\"\nhttp.listen = \"127.0.0.1:0\"\nlivechess.listen = \"127.0.0.1:0\"\n\
         dgt-emulation.enabled = false\n[[board]]\nid = \"1\"\n[board.sensor.dgt]\nport = {:?}\n",
        hall.link()
    );
    fs::write(&path, text).unwrap();
    let mut reader = Daemon::with_config(&path);
    reader.until("the board", |daemon| (daemon.json("/healthz")["status"] == "ok").then_some(()));
    let game = [
        ("e2e4", "e2 e4"),
        ("d7d5", "d7 d5"),
        ("e4d5", "d5 e4 d5"),
        ("g8f6", "g8 f6"),
        ("f1b5", "f1 b5"),
        ("c7c6", "c7 c6"),
        ("d5c6", "d5 c6 c6"),
        ("b7c6", "b7 c6 c6"),
        ("g1f3", "g1 f3"),
        ("c8g4", "c8 g4"),
        ("e1g1", "e1 g1 h1 f1"),
    ];
    let mut times = [300_000u64; 2];
    let mut standing: std::collections::BTreeSet<String> =
        ('a'..='h').flat_map(|file| ['1', '2', '7', '8'].map(|rank| format!("{file}{rank}"))).collect();
    for (ply, (uci, squares)) in game.iter().enumerate() {
        for square in squares.split(' ') {
            if standing.remove(square) {
                hall.sensors.lift(square);
            } else {
                standing.insert(square.to_owned());
                hall.sensors.place(square);
            }
        }
        times[ply % 2] -= 2_000;
        hall.sensors.times(times[0], times[1], if ply % 2 == 0 { "\"black\"" } else { "\"white\"" });
        hall.sensors.tell(if ply % 2 == 0 { "\"clock\":\"white\"" } else { "\"clock\":\"black\"" });
        for daemon in [&mut hall.daemon, &mut reader] {
            daemon.until(uci, |daemon| {
                let state = daemon.json("/api/boards/1");
                let done = state["plies"][ply]["completed"] == true;
                (done && moves(&state).last().map(String::as_str) == Some(*uci)).then_some(())
            });
        }
    }
    let (shown, read) = (hall.daemon.json("/api/boards/1"), reader.json("/api/boards/1"));
    assert_eq!((moves(&shown), &shown["board"]), (moves(&read), &read["board"]));
    assert_eq!(moves(&read).len(), game.len());
    reader.end();
    hall.daemon.end();
}

/// Whatever is written to the port, the daemon lives and the board is right.
#[test]
fn noise_at_the_port_does_no_harm() {
    let mut hall = Hall::open("");
    let mut noise = fs::File::options().read(true).write(true).open(hall.link()).unwrap();
    rustix::fs::fcntl_setfl(&noise, rustix::fs::OFlags::NONBLOCK).unwrap();
    let mut seed = 7u32;
    for _ in 0..200 {
        let bytes: Vec<u8> = (0..100)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                seed.to_be_bytes()[0]
            })
            .collect();
        let _ = noise.write(&bytes);
        let mut buffer = [0; 4096];
        while noise.read(&mut buffer).is_ok_and(|n| n > 0) {}
    }
    drop(noise);
    hall.program_shows(START);
    hall.daemon.end();
}

#[test]
fn several_boards_have_a_name_each_in_the_directory_of_the_service() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("touchmoved.toml");
    let text = "data.dir = \"data\"\nhttp.listen = \"127.0.0.1:0\"\nlivechess.listen = \"127.0.0.1:0\"\n\
                [[board]]\nid = \"a7\"\nserial = \"1025\"\nsensor.simulated = {}\n\
                [[board]]\nid = \"2\"\nsensor.simulated = {}\n";
    fs::write(&path, text).unwrap();
    let mut command = process::program();
    let given = format!("{}:/nowhere", dir.path().join("service").display());
    command.arg("run").arg("--config").arg(&path).env("RUNTIME_DIRECTORY", given);
    let mut daemon = Daemon::start(command);
    daemon.wait_for("ready, ");
    for (name, serial) in [("dgt-a7", "01025"), ("dgt-2", "90002")] {
        let mut program = Program::open(&dir.path().join("service").join(name));
        program.say(&[0x45]);
        assert_eq!(program.next(), Message::Serial(serial.to_owned()), "{name}");
    }
    daemon.end();
}

/// From the request to seal on, what stands on the board tells of the sealed move.
#[test]
fn a_board_under_embargo_stands_still() {
    let mut hall = Hall::open("");
    let mut program = hall.program();
    hall.sensors.times(300_000, 300_000, "\"white\"");
    hall.sensors.lift("e2");
    hall.sensors.place("e4");
    hall.sensors.tell("\"clock\":\"white\"");
    program.until_shown(E4);
    program.say(&[0x44]);
    hall.sensors.tell("\"arbiter\":\"seal-request\"");
    hall.sensors.lift("e7");
    hall.sensors.place("e5");
    hall.sensors.times(280_000, 200_000, "\"black\"");
    hall.daemon.until("the clock", |daemon| {
        (daemon.json("/api/boards/1")["clock"]["black_ms"] == 200_000).then_some(())
    });
    assert_eq!(program.dump(), E4);
    assert!(program.is_silent());
    hall.daemon.end();
}

/// What the operator counts would tell that the sealed move was made, at an address that anybody may ask.
#[test]
fn the_counts_of_a_game_under_embargo_stand_still() {
    let mut hall = Hall::open("");
    let http = hall.daemon.http();
    let counts = || -> Vec<String> {
        let (status, text) = process::get(http, "/metrics");
        assert_eq!(status, 200);
        let of_game =
            |line: &&str| line.starts_with("touchmoved_board_") || line.starts_with("touchmoved_journal_");
        text.lines().filter(of_game).map(str::to_owned).collect()
    };
    let data = hall.dir.path().join("data");
    let recorded = |what: &str| {
        let journal = process::journals(&data, "1").pop()?;
        process::records(&journal).iter().any(|record| record.to_string().contains(what)).then_some(())
    };
    hall.sensors.lift("e2");
    hall.sensors.place("e4");
    hall.sensors.tell("\"clock\":\"white\"");
    hall.daemon.until("the first move", |daemon| {
        (daemon.json("/api/boards/1")["plies"][0]["completed"] == true).then_some(())
    });
    hall.sensors.tell("\"arbiter\":\"seal-request\"");
    hall.daemon.until("the embargo", |_| recorded("feed-embargo"));
    let before = counts();
    assert!(before.contains(&"touchmoved_board_plies{board=\"1\"} 1".to_owned()), "{before:#?}");
    hall.sensors.lift("e7");
    hall.sensors.place("e5");
    hall.sensors.tell("\"clock\":\"black\"");
    hall.daemon.until("the sealed move", |_| recorded("e7e5"));
    assert_eq!(counts(), before);
    hall.sensors.tell("\"arbiter\":\"open-envelope e5\"");
    hall.daemon.until("the end of the embargo", |_| {
        counts().contains(&"touchmoved_board_plies{board=\"1\"} 2".to_owned()).then_some(())
    });
    let inputs = |lines: &[String]| -> u64 {
        let line = lines.iter().find(|line| line.starts_with("touchmoved_board_inputs_total")).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    hall.daemon.until("the counts", |_| (inputs(&counts()) >= inputs(&before) + 4).then_some(()));
    hall.daemon.end();
}

/// A name belongs to one daemon at a time; what a crash left over is taken.
#[test]
fn a_second_daemon_does_not_take_the_name_of_the_first() {
    let mut hall = Hall::open("");
    let other = tempfile::tempdir().unwrap();
    let path = config(&other, "");
    let run = hall.dir.path().join("run");
    let text = fs::read_to_string(&path).unwrap().replace("dir = \"run\"", &format!("dir = {run:?}"));
    fs::write(&path, text).unwrap();
    let link = fs::read_link(hall.link()).unwrap();
    let mut second = std::thread::scope(|scope| {
        scope.spawn(|| Sensors::open(&other));
        let mut daemon = Daemon::with_config(&path);
        daemon.wait_for("ready, ");
        daemon
    });
    let words = format!(
        "another touchmoved (process {}) is a board of that name; end it, or set",
        hall.daemon.pid().as_raw_nonzero()
    );
    assert!(second.said().contains(&words), "{}", second.said());
    assert_eq!(fs::read_link(hall.link()).unwrap(), link);
    hall.program_shows(START);
    hall.daemon.kill();
    let path = hall.link();
    second.wait_for("board 1 is a DGT board at ");
    hall.program_shows(START);
    second.end();
    assert!(fs::symlink_metadata(&path).is_err());
}

/// Where outputs stay behind, so does the board that is shown here.
#[test]
fn a_late_output_shows_a_late_board() {
    let mut hall = Hall::open("[release]\ndelay-plies = 2\n[operator]\nenabled = false\n");
    let mut program = hall.program();
    program.say(&[0x44]);
    hall.sensors.times(300_000, 300_000, "\"white\"");
    hall.sensors.lift("e2");
    hall.sensors.place("e4");
    hall.sensors.tell("\"clock\":\"white\"");
    let data = hall.dir.path().join("data");
    hall.daemon.until("the move", |_| {
        let journal = process::journals(&data, "1").pop()?;
        process::records(&journal).iter().any(|record| record["fact"] == "move_published").then_some(())
    });
    assert_eq!(program.dump(), START);
    hall.sensors.lift("e7");
    hall.sensors.place("e5");
    hall.sensors.tell("\"clock\":\"black\"");
    let published = |ply: u64| {
        let journal = process::journals(&data, "1").pop()?;
        let is_it = |record: &Value| record["fact"] == "move_published" && record["ply"] == ply;
        process::records(&journal).iter().any(is_it).then_some(())
    };
    hall.daemon.until("the reply", |_| published(2));
    assert_eq!(program.dump(), START, "one half-move was played since");
    hall.sensors.lift("g1");
    hall.sensors.place("f3");
    hall.sensors.tell("\"clock\":\"white\"");
    program.until_shown(E4);
    hall.daemon.end();
}
