//! Pegged boards end to end: the reference firmware on a pseudo terminal, the source that reads it, and the
//! whole daemon at the simulated board.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/peg.rs"]
mod board;
mod process;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, sync_channel},
    thread::JoinHandle,
};

use board::{START, TestBoard};
use process::{Daemon, LIMIT, assert_replayed, assert_verified, journals, moves, program, records};
use rustix::process::Signal;
use serde_json::{Value, json};
use serialport::TTYPort;
use shakmaty::{Bitboard, Color, Square};
use touchmoved::{
    config,
    game::Board,
    sensor::{
        Reading, Sink, Source, Stop,
        peg::{BAUD, PegSource},
        serial::{
            Framing, ModemLines, PortSettings, SerialLink,
            place::{PortName, Roots},
        },
    },
    session::{event::Event, fact::Fact, io::Input, time::MonoTime},
};
use touchmoved_peg as peg;

/// The source, its thread and the game behind it.
struct Desk {
    readings: Receiver<Reading>,
    stop: Stop,
    thread: JoinHandle<()>,
    board: Board,
    facts: Vec<Fact>,
    dir: tempfile::TempDir,
    link: PathBuf,
}

impl Desk {
    fn new() -> Desk {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("peg");
        Desk::at(dir, link)
    }

    fn at(dir: tempfile::TempDir, link: PathBuf) -> Desk {
        let source = PegSource::new(&link, BAUD, Framing::EightNone, ModemLines::Leave);
        Desk::of(dir, link, source)
    }

    /// A desk at the board with this serial number, in a system whose devices are in its folder.
    fn of_number(number: &str) -> Desk {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots { terminals: dir.path().join("class"), devices: dir.path().to_owned() };
        let name = PortName::UsbSerial(number.to_owned());
        let source = PegSource::at(name, BAUD, Framing::EightNone, ModemLines::Leave).with_roots(roots);
        let link = dir.path().join("ttyACM1");
        Desk::of(dir, link, source)
    }

    fn of(dir: tempfile::TempDir, link: PathBuf, source: PegSource) -> Desk {
        let (sender, readings) = sync_channel(64);
        let stop = Stop::default();
        let source = Box::new(source);
        let thread = {
            let stop = stop.clone();
            std::thread::spawn(move || source.run(&Sink::new(sender), &stop).unwrap())
        };
        let board = game("sensor.peg = { port = \"/dev/x\" }");
        Desk { readings, stop, thread, board, facts: Vec::new(), dir, link }
    }

    /// A desk and a board that is read.
    fn up() -> (Desk, TestBoard) {
        let mut desk = Desk::new();
        let board = TestBoard::plug(&desk.link, peg::Holes::of(START));
        let events = desk.until(is_occupied);
        assert!(events.contains(&Event::Link(true)), "{events:?}");
        (desk, board)
    }

    /// Takes readings until an event is the last one wanted; all events up to it.
    fn until(&mut self, last: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            while let Some(stamped) = self.board.poll_event() {
                let done = last(&stamped.event);
                events.push(stamped.event);
                if done {
                    return events;
                }
            }
            self.facts.extend(std::iter::from_fn(|| self.board.poll_fact()));
            let reading =
                self.readings.recv_timeout(LIMIT).unwrap_or_else(|error| panic!("{error} after {events:#?}"));
            let Some(input) = reading.input else { continue };
            assert!(!matches!(input, Input::Dgt(..)));
            self.board.input(reading.at, &input);
        }
    }

    /// The facts so far, as the journal writes them.
    fn told(&mut self) -> Vec<Value> {
        self.facts.extend(std::iter::from_fn(|| self.board.poll_fact()));
        self.facts.iter().map(|fact| serde_json::to_value(fact).unwrap()).collect()
    }

    fn end(self) {
        self.stop.set();
        while self.readings.recv_timeout(LIMIT).is_ok() {}
        self.thread.join().unwrap();
    }
}

/// The game of a board with this sensor, as the daemon sets it up.
fn game(sensor: &str) -> Board {
    let config = config::parse("test.toml", &format!("[[board]]\nid = 1\n{sensor}\n")).unwrap();
    let mut board = Board::new(&config.boards[0].setup).unwrap();
    board.keep_events();
    board
}

fn is_occupied(event: &Event) -> bool {
    matches!(event, Event::Occupied(_))
}

fn square(square: Square, occupied: bool) -> Event {
    Event::Square { square, occupied }
}

fn bit(square: Square) -> u64 {
    1 << u32::from(square)
}

fn without_notes(events: Vec<Event>) -> Vec<Event> {
    events.into_iter().filter(|event| !matches!(event, Event::Device(_))).collect()
}

/// What a device event says under a key.
fn noted(event: &Event, key: &str) -> Option<String> {
    let Event::Device(value) = event else { return None };
    value.get(key)?.as_str().map(str::to_owned)
}

#[test]
fn a_peg_out_of_its_hole_is_a_touch_in_law_and_every_key_arrives() {
    let (mut desk, board) = Desk::up();
    board.set(START ^ bit(Square::E2));
    board.set(START ^ bit(Square::E2) ^ bit(Square::E4));
    for key in [3, 0, 1, 2, 4, 5, 6, 7] {
        board.press(key);
    }
    let events = without_notes(desk.until(|event| *event == Event::Button("resign-black".to_owned())));
    let button = |name: &str| Event::Button(name.to_owned());
    assert_eq!(
        events,
        [
            square(Square::E2, false),
            square(Square::E4, true),
            button("draw-offer-white"),
            Event::Press(Color::White),
            Event::Press(Color::Black),
            button("jadoube-white"),
            button("draw-accept-black"),
            button("claim-threefold-white"),
            button("assistant-status-white"),
            button("resign-black"),
        ]
    );
    let told = desk.told();
    let fact =
        |name: &str| told.iter().find(|fact| fact["fact"] == name).unwrap_or_else(|| panic!("{told:#?}"));
    assert_eq!((&fact("touch")["square"], &fact("touch")["certainty"]), (&json!("e2"), &json!("law")));
    assert_eq!(fact("move_completed")["how"], "press");
    assert!(!told.iter().any(|fact| fact["code"] == "unknown-button"), "{told:#?}");
    assert!(told.iter().any(|fact| fact["code"] == "draw-offer-standing"), "{told:#?}");
    board.unplug(&desk.link);
    desk.end();
}

#[test]
fn a_matrix_of_pegs_tells_touches_in_law_too() {
    let mut board = game("sensor.matrix = { kind = \"peg\", debounce-open-ms = 40 }");
    let at = |ms| MonoTime::ZERO.plus_ms(ms);
    board.input(at(0), &Event::Occupied(Bitboard(START)).into());
    // A wiggle, then a lift.
    for (ms, occupied) in [(1000, false), (1030, true), (2000, false)] {
        board.input(at(ms), &square(Square::E2, occupied).into());
    }
    board.advance(at(3000));
    let told: Vec<Value> =
        std::iter::from_fn(|| board.poll_fact()).map(|fact| serde_json::to_value(&fact).unwrap()).collect();
    let touches: Vec<&Value> = told.iter().filter(|fact| fact["fact"] == "touch").collect();
    assert_eq!(touches.len(), 1, "{told:#?}");
    assert_eq!((&touches[0]["square"], &touches[0]["certainty"]), (&json!("e2"), &json!("law")));
}

#[test]
fn a_peg_half_out_is_recorded_and_no_touch() {
    let mut desk = Desk::new();
    let holes = |filled: u64, seated: u64| peg::Holes { filled, seated: Some(seated) };
    let board = TestBoard::plug(&desk.link, holes(START, START));
    desk.until(is_occupied);
    let set = |holes| board.show(holes);
    set(holes(START, START ^ bit(Square::D2)));
    set(holes(START, START));
    set(holes(START ^ bit(Square::E2), START ^ bit(Square::E2)));
    let events = desk.until(|event| *event == square(Square::E2, false));
    let pegs: Vec<String> = events.iter().filter_map(|event| noted(event, "peg")).collect();
    assert_eq!(pegs[..2], ["half-out", "in"], "{events:?}");
    assert!(!events.contains(&square(Square::D2, false)));
    assert!(desk.told().iter().all(|fact| fact["square"] != "d2"));
    board.unplug(&desk.link);
    desk.end();
}

#[test]
fn a_board_that_is_unplugged_comes_back_with_what_is_in_its_holes() {
    let (mut desk, board) = Desk::up();
    board.say(b"$PEG,9");
    board.unplug(&desk.link);
    desk.until(|event| *event == Event::Link(false));
    let moved = START ^ bit(Square::D2) ^ bit(Square::D4);
    let board = TestBoard::plug(&desk.link, peg::Holes::of(moved));
    let events = without_notes(desk.until(is_occupied));
    assert_eq!(events, [Event::Link(true), Event::Occupied(Bitboard(moved))]);
    board.unplug(&desk.link);
    desk.end();
}

/// The symbolic link stands for the one that udev makes: the device behind it has another name afterwards.
#[test]
fn a_board_comes_back_under_another_name_with_the_gap_on_record() {
    let mut desk = Desk::new();
    let missing = desk.until(|event| noted(event, "error").is_some());
    let text = missing.iter().find_map(|event| noted(event, "error")).unwrap();
    assert!(text.contains("no such device") && text.contains("udev"), "{text}");
    assert!(missing.contains(&Event::Link(false)), "absent at the start: {missing:?}");
    let board = TestBoard::plug(&desk.link, peg::Holes::of(START));
    desk.until(is_occupied);
    let name = fs::read_link(&desk.link).unwrap();
    // The knight's move is made while the board is away.
    board.unplug(&desk.link);
    desk.until(|event| *event == Event::Link(false));
    let _takes_the_old_name = TTYPort::pair().unwrap();
    let moved = START ^ bit(Square::G1) ^ bit(Square::F3);
    let board = TestBoard::plug(&desk.link, peg::Holes::of(moved));
    assert_ne!(fs::read_link(&desk.link).unwrap(), name);
    let events = desk.until(is_occupied);
    assert!(gap_ms(&events).is_some(), "{events:?}");
    board.press(0);
    desk.until(|event| *event == Event::Press(Color::White));
    let told = desk.told();
    let made = told.iter().find(|fact| fact["fact"] == "move_published" || fact["fact"] == "move_made");
    assert_eq!(made.unwrap_or_else(|| panic!("{told:#?}"))["uci"], "g1f3");
    board.unplug(&desk.link);
    desk.end();
}

/// The length of the gap that these events tell of.
fn gap_ms(events: &[Event]) -> Option<u64> {
    events.iter().find_map(|event| match event {
        Event::Device(note) if note["what"] == "gap" => note["gap_ms"].as_u64(),
        _ => None,
    })
}

/// Plugs an adapter with this serial number into the system of a folder: its terminal has this name.
fn adapter(dir: &Path, terminal: &str, number: &str) {
    let usb = dir.join("devices").join(terminal);
    let port = usb.join("1.0").join(terminal);
    fs::create_dir_all(&port).unwrap();
    fs::write(usb.join("idVendor"), "2e8a\n").unwrap();
    fs::write(usb.join("serial"), format!("{number}\n")).unwrap();
    fs::create_dir_all(dir.join("class").join(terminal)).unwrap();
    std::os::unix::fs::symlink(&port, dir.join("class").join(terminal).join("device")).unwrap();
}

#[test]
fn a_board_is_found_by_its_serial_number_under_any_name() {
    let mut desk = Desk::of_number("PB0007");
    let events = desk.until(|event| noted(event, "error").is_some());
    let text = events.iter().find_map(|event| noted(event, "error")).unwrap();
    assert!(text.contains("PB0007 is plugged in") && text.contains("by-id"), "{text}");
    let dir = desk.dir.path().to_owned();
    // Somebody else's device has the first name.
    let other = TestBoard::plug(&dir.join("ttyACM0"), peg::Holes::of(0));
    adapter(&dir, "ttyACM0", "99999");
    let board = TestBoard::plug(&desk.link, peg::Holes::of(START));
    adapter(&dir, "ttyACM1", "PB0007");
    let events = desk.until(is_occupied);
    assert_eq!(events.last(), Some(&Event::Occupied(Bitboard(START))));
    fs::remove_dir_all(dir.join("class/ttyACM1")).unwrap();
    board.unplug(&desk.link);
    desk.until(|event| *event == Event::Link(false));
    let moved = START ^ bit(Square::E2) ^ bit(Square::E4);
    let back = dir.join("ttyACM2");
    let board = TestBoard::plug(&back, peg::Holes::of(moved));
    adapter(&dir, "ttyACM2", "PB0007");
    let events = desk.until(is_occupied);
    assert!(gap_ms(&events).is_some(), "{events:?}");
    assert_eq!(events.last(), Some(&Event::Occupied(Bitboard(moved))), "the full report");
    board.unplug(&back);
    other.unplug(&dir.join("ttyACM0"));
    desk.end();
}

#[test]
fn of_two_adapters_with_one_serial_number_none_is_taken() {
    let mut desk = Desk::of_number("0001");
    let dir = desk.dir.path().to_owned();
    desk.until(|event| noted(event, "error").is_some());
    // Both are there at once: the list of terminals gets its name when it is whole.
    let (one, other) = (dir.join("ttyACM0"), TestBoard::plug(&desk.link, peg::Holes::of(START)));
    let stranger = TestBoard::plug(&one, peg::Holes::of(0));
    let staged = dir.join("staged");
    for terminal in ["ttyACM0", "ttyACM1"] {
        adapter(&staged, terminal, "0001");
    }
    fs::rename(staged.join("class"), dir.join("class")).unwrap();
    let several = |event: &Event| noted(event, "error").filter(|text| text.contains("by-path"));
    let events = desk.until(|event| several(event).is_some());
    let text = events.iter().find_map(several).unwrap();
    assert!(text.contains("ttyACM0 and") && text.contains("port ="), "{text}");
    assert!(!events.contains(&Event::Link(true)), "{events:?}");
    // The board's own adapter is the only one now.
    fs::remove_dir_all(dir.join("class/ttyACM0")).unwrap();
    let events = desk.until(is_occupied);
    assert_eq!(events.last(), Some(&Event::Occupied(Bitboard(START))));
    stranger.unplug(&one);
    other.unplug(&desk.link);
    desk.end();
}

#[test]
fn a_port_that_another_program_has_is_taken_when_it_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("peg");
    let board = TestBoard::plug(&link, peg::Holes::of(START));
    let (framing, lines) = (Framing::EightNone, ModemLines::Leave);
    let settings = PortSettings { path: link.clone(), baud: BAUD, framing, lines };
    let other = SerialLink::open(&settings).unwrap();
    let mut desk = Desk::at(dir, link);
    let events = desk.until(|event| noted(event, "error").is_some());
    let text = events.iter().find_map(|event| noted(event, "error")).unwrap();
    assert!(text.contains("in use by another program") && text.contains("fuser -v"), "{text}");
    drop(other);
    desk.until(is_occupied);
    board.unplug(&desk.link);
    desk.end();
}

#[test]
fn noise_and_a_forged_line_make_nothing() {
    let (mut desk, board) = Desk::up();
    board.say(b"ets Jun 8\r\n\xff\x00$PEG,2,7,e2,out*0F0000\r\n$PEG,3,");
    board.set(START ^ bit(Square::A2));
    let events = desk.until(|event| *event == square(Square::A2, false));
    assert_eq!(without_notes(events), [square(Square::A2, false)]);
    board.unplug(&desk.link);
    desk.end();
}

#[test]
fn a_wrong_device_and_a_wrong_version_are_told_with_what_to_do() {
    let mut desk = Desk::new();
    let stranger = TestBoard::start(&desk.link, None);
    let error = |event: &Event| noted(event, "error");
    // The first thing that is wrong may be that the device is not there yet.
    let about_bytes = |event: &Event| error(event).filter(|text| text.contains("not from a pegged board"));
    let events = desk.until(|event| about_bytes(event).is_some());
    let text = events.iter().find_map(about_bytes).unwrap();
    assert!(text.contains("is this the port of another device"), "{text}");
    stranger.say(b"$HELLO,0,5,proto=2,name=x*1829A0\r\n");
    let events = desk.until(|event| error(event).is_some());
    let text = events.iter().find_map(error).unwrap();
    assert!(text.contains("version 2") && text.contains("update this program"), "{text}");
    stranger.unplug(&desk.link);
    desk.end();
}

/// The configuration of a daemon that reads the board at this name.
fn configured(dir: &Path, link: &Path) -> PathBuf {
    let path = dir.join("touchmoved.toml");
    let text = format!(
        "[data]\ndir = \"data\"\n[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nenabled = false\n\
         [[board]]\nid = \"1\"\n[board.sensor.peg]\nport = \"{}\"\n",
        link.display()
    );
    fs::write(&path, text).unwrap();
    path
}

/// A lost byte, noise, a cable that is pulled in the middle of a move and a chip that restarts: the game
/// comes out complete, and the journal says what happened.
#[test]
fn a_game_comes_out_complete_through_every_trouble_of_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("peg");
    fs::write(dir.path().join("game.pgn"), "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n").unwrap();
    let mut simulator = program();
    simulator.args(["simulate", "--output", "peg", "--pty"]).arg(&link);
    simulator.args(["--level", "clean", "--speed", "4", "--set", "timing.think=4000-5000ms"]);
    for trouble in ["lost-byte@2", "garbage@3", "unplug@4", "restart@6"] {
        simulator.args(["--trouble", trouble]);
    }
    simulator.arg(dir.path().join("game.pgn"));
    let mut board = Daemon::start(simulator);
    board.wait_for("is plugged in");
    let mut daemon = Daemon::with_config(&configured(dir.path(), &link));
    let played = daemon.until("the end of the game", |daemon| {
        let boards = daemon.json("/api/boards");
        (boards[0]["result"] != "*").then_some(boards)
    });
    assert_eq!(moves(&played[0]).join(" "), "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7");
    assert_eq!((&played[0]["result"], &played[0]["status"]), (&json!("1-0"), &json!("ended")));
    assert!(board.said().contains("the cable is pulled out"), "{}", board.said());
    board.end();
    assert!(!link.exists(), "the name goes with the board");
    daemon.wait_for("waiting for it to come back");
    daemon.signal(Signal::TERM);
    assert_eq!(daemon.wait().code(), Some(0), "{}", daemon.said());

    let journal = journals(&dir.path().join("data"), "1").remove(0);
    assert_verified(&journal);
    assert_replayed(&journal);
    let records = records(&journal);
    assert_eq!(records[0]["header"]["setup"]["board"], "peg");
    let noted = |what: &str| records.iter().any(|record| record["in"]["device"]["what"] == what);
    for what in ["garbled-bytes", "lost-lines", "snapshot-after-loss", "restarted"] {
        assert!(noted(what), "{what}: {records:#?}");
    }
    let links: Vec<&Value> = records.iter().filter_map(|record| record["in"].get("link")).collect();
    let ups = links.iter().filter(|link| **link == "up").count();
    assert_eq!(ups, 3, "the start, the cable, the chip: {links:?}");
    let touched = records.iter().filter(|record| record["fact"] == "touch");
    assert!(touched.clone().count() >= 4 && touched.clone().all(|touch| touch["certainty"] == "law"));
}

/// The hands play on while no daemon runs.
#[test]
fn a_daemon_that_is_killed_goes_on_with_the_game_where_the_board_is_by_then() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("peg");
    fs::write(dir.path().join("game.pgn"), "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n").unwrap();
    let mut simulator = program();
    simulator.args(["simulate", "--output", "peg", "--pty"]).arg(&link);
    simulator.args(["--level", "clean", "--speed", "4", "--set", "timing.think=4000-5000ms"]);
    simulator.arg(dir.path().join("game.pgn"));
    let mut board = Daemon::start(simulator);
    board.wait_for("is plugged in");
    let config = configured(dir.path(), &link);
    let mut daemon = Daemon::with_config(&config);
    daemon.until("three moves", |daemon| (moves(&daemon.json("/api/boards")[0]).len() == 3).then_some(()));
    daemon.kill();
    let mut daemon = Daemon::with_config(&config);
    let played = daemon.until("the end of the game", |daemon| {
        let boards = daemon.json("/api/boards");
        (boards[0]["result"] != "*").then_some(boards)
    });
    assert_eq!(moves(&played[0]).join(" "), "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7");
    daemon.end();
    board.end();
    let journals = journals(&dir.path().join("data"), "1");
    assert_eq!(journals.len(), 1, "the game goes on in its journal");
    assert_verified(&journals[0]);
    assert_replayed(&journals[0]);
    let records = records(&journals[0]);
    let resumed = records.iter().position(|record| record.get("resume").is_some());
    let resumed = resumed.unwrap_or_else(|| panic!("{records:#?}"));
    let after = |what: &str| {
        records[resumed..]
            .iter()
            .any(|record| record["in"]["peg"].as_str().is_some_and(|line| line.starts_with(what)))
    };
    assert!(after("$HELLO,") && after("$BOARD,"), "{records:#?}");
}

#[test]
fn the_doctor_hears_a_pegged_board() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("peg");
    let board = TestBoard::plug(&link, peg::Holes::of(START));
    let config = configured(dir.path(), &link);
    let mut doctor = program();
    let output = doctor.args(["doctor", "--seconds", "2", "--config"]).arg(&config).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let line =
        |start: &str| said.lines().find(|line| line.contains(start)).unwrap_or_else(|| panic!("{said}"));
    let device = line("board 1, device:");
    assert!(device.starts_with("ok ") && device.contains("firmware test") && device.contains("T1"), "{said}");
    assert!(line("board 1, squares:").starts_with("ok "), "{said}");
    board.unplug(&link);
    let output = doctor.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("no such device"), "{said}");
}

#[test]
fn a_wrong_call_of_the_simulator_says_what_is_right() {
    let refused = |args: &[&str]| {
        let output = program().arg("simulate").args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    assert!(refused(&["--game", "opera", "--output", "peg"]).contains("needs --pty LINK"));
    assert!(refused(&["--game", "opera", "--output", "raw", "--pty", file]).contains("say --output peg"));
    assert!(refused(&["--game", "opera", "--pty", file]).contains("no symbolic link"));
    assert!(refused(&["--game", "opera", "--pty", file, "--trouble", "smoke@1"]).contains("unplug@5"));
    assert!(fs::metadata(file).unwrap().is_file());
}

#[test]
fn a_board_that_does_not_see_its_holes_is_a_trouble_for_everybody() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("peg");
    let board = TestBoard::plug(&link, peg::Holes::of(START));
    let config = configured(dir.path(), &link);
    let mut daemon = Daemon::with_config(&config);
    let status = |daemon: &mut Daemon| daemon.json("/healthz")["status"].as_str().unwrap().to_owned();
    daemon.until("health", |daemon| (status(daemon) == "ok").then_some(()));
    let about = daemon.json("/healthz")["devices"][0].clone();
    let told =
        ["firmware", "version", "serial", "debounce_close_ms", "debounce_open_ms"].map(|key| &about[key]);
    assert_eq!(told, [&json!("test"), &json!("1"), &json!("T1"), &json!(5), &json!(15)], "{about}");
    board.report(peg::Fault::Sensor);
    daemon.until("the trouble", |daemon| (status(daemon) == "degraded").then_some(()));
    let detail = daemon.json("/healthz")["troubles"][0]["detail"].as_str().unwrap().to_owned();
    assert!(
        detail.contains("cannot read its holes") && detail.contains("`touchmoved doctor --live`"),
        "{detail}"
    );
    daemon.wait_for("cannot read its holes");
    let doctor = || {
        let output = program().args(["doctor", "--seconds", "1", "--config"]).arg(&config).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        said.lines()
            .find(|line| line.contains("board 1, device:"))
            .unwrap_or_else(|| panic!("{said}"))
            .to_owned()
    };
    board.report(peg::Fault::SensorOk);
    daemon.until("health", |daemon| (status(daemon) == "ok").then_some(()));
    board.report(peg::Fault::Sensor);
    daemon.until("the trouble", |daemon| (status(daemon) == "degraded").then_some(()));
    daemon.end();
    // Without a daemon, too: the board says it again where it introduces itself.
    let device = doctor();
    assert!(device.starts_with("failed") && device.contains("cannot read its holes"), "{device}");
    board.unplug(&link);
    let journal = journals(&dir.path().join("data"), "1").remove(0);
    let told: Vec<String> = records(&journal)
        .iter()
        .filter_map(|record| Some(record.get("code")?.as_str()?.to_owned()))
        .filter(|code| code.starts_with("board-"))
        .collect();
    assert_eq!(told, ["board-faulty", "board-recovered", "board-faulty"]);
    assert_replayed(&journal);
}
