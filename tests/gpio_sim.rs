//! The backend of the GPIO character device on chips that the kernel simulates (its module gpio-sim).
//!
//! The kernel, its character device and everything above them are real; the test plays the wires in step with
//! the scanner: while the columns settle, it reads which rows the kernel drives and pulls the columns as the
//! contacts of a simulated board would. Needs root, gpio-sim and configfs at `/sys/kernel/config`:
//!
//! ```text
//! modprobe gpio-sim && cargo test --test gpio_sim -- --ignored
//! tests/vm/gpio-sim.sh          (no root and no module: in a small virtual machine)
//! ```
#![cfg(feature = "gpio")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod lockstep;
mod process;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use lockstep::{Played, SETTLE_US, Wires, assert_positions};
use process::{Daemon, get};
use shakmaty::Square;
use touchmoved::{
    sensor::matrix::{
        Layout, MatrixPort, Scanner,
        cdev::CdevPort,
        inputs::Inputs,
        pins::{Chip, Pins, Polarity, Pull},
        simulated::{SimulatedPort, wired},
    },
    session::{
        event::{Event, Stamped, Unit},
        setup::GameSetup,
    },
    simulate::{
        games::DemoGame,
        matrix::{INPUTS, SimulatedMatrix, Wiring},
        params::{Ending, Level, Output, Params},
        simulate,
    },
};

const PERIOD_US: u64 = 5_000;

/// A chip of 24 lines: rows at 0, columns at 8, inputs at 16.
struct Sim {
    config: PathBuf,
    lines: PathBuf,
    label: String,
    device: PathBuf,
}

impl Sim {
    fn new() -> Sim {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Relaxed);
        let label = format!("reeds-{}-{number}", std::process::id());
        let config = Path::new("/sys/kernel/config/gpio-sim").join(&label);
        let bank = config.join("bank");
        fs::create_dir_all(&bank).expect("as root, with the module gpio-sim and configfs");
        fs::write(bank.join("num_lines"), "24").unwrap();
        fs::write(bank.join("label"), &label).unwrap();
        fs::write(config.join("live"), "1").expect("a chip that is simulated");
        let name = |path: PathBuf| fs::read_to_string(path).unwrap().trim().to_owned();
        let (device, chip) = (name(config.join("dev_name")), name(bank.join("chip_name")));
        let lines = Path::new("/sys/devices/platform").join(device).join(&chip);
        Sim { config, lines, label, device: Path::new("/dev").join(chip) }
    }

    fn of(&self, line: usize, what: &str) -> PathBuf {
        self.lines.join(format!("sim_gpio{line}")).join(what)
    }

    fn is_high(&self, line: usize) -> bool {
        fs::read_to_string(self.of(line, "value")).unwrap().trim() == "1"
    }

    fn pull(&self, line: usize) -> String {
        fs::read_to_string(self.of(line, "pull")).unwrap().trim().to_owned()
    }

    fn set(&self, line: usize, high: bool) {
        fs::write(self.of(line, "pull"), if high { "pull-up" } else { "pull-down" }).unwrap();
    }

    fn unplug(&self) {
        fs::write(self.config.join("live"), "0").unwrap();
    }

    fn plug(&self) {
        fs::write(self.config.join("live"), "1").unwrap();
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = fs::write(self.config.join("live"), "0");
        let _ = fs::remove_dir(self.config.join("bank"));
        let _ = fs::remove_dir(&self.config);
    }
}

fn pins(polarity: Polarity) -> Pins {
    Pins {
        rows: std::array::from_fn(|row| u32::try_from(row).unwrap()),
        columns: std::array::from_fn(|column| u32::try_from(column).unwrap() + 8),
        inputs: (16..16 + u32::try_from(INPUTS.len()).unwrap()).collect(),
        polarity,
        settle_us: 0,
        ..Pins::default()
    }
}

/// The lines of a chip. What is set already is not set again.
struct Lines<'a> {
    sim: &'a Sim,
    set: Option<(u8, u32)>,
}

impl Wires for Lines<'_> {
    fn rows(&self) -> u8 {
        (0..8).fold(0, |high, row| high | u8::from(self.sim.is_high(row)) << row)
    }

    fn set(&mut self, columns: u8, inputs: u32) {
        let was = self.set.replace((columns, inputs));
        let lines = [
            (8, 8, u32::from(columns), was.map(|(columns, _)| u32::from(columns))),
            (16, INPUTS.len(), inputs, was.map(|(_, inputs)| inputs)),
        ];
        for (first, count, high, was) in lines {
            for line in 0..count {
                let is = high >> line & 1 == 1;
                if was.is_none_or(|was| (was >> line & 1 == 1) != is) {
                    self.sim.set(first + line, is);
                }
            }
        }
    }
}

fn open(sim: &Sim, polarity: Polarity) -> (CdevPort, Lines<'_>) {
    let port = CdevPort::open(&pins(polarity), &Chip::Label(sim.label.clone())).unwrap();
    (port, Lines { sim, set: None })
}

#[test]
#[ignore = "needs the kernel's gpio-sim: tests/vm/gpio-sim.sh"]
fn any_position_is_read_through_the_kernel() {
    for polarity in [Polarity::ActiveHigh, Polarity::ActiveLow] {
        let sim = Sim::new();
        assert_positions(polarity, 30, || open(&sim, polarity));
    }
}

/// What a scanner reads of a game in its first seconds.
fn events(port: impl MatrixPort, scans: u32) -> Vec<Stamped> {
    let mut scanner = Scanner::new(port, Layout::default());
    let mut inputs = Inputs::new(wired(15_000));
    let mut events = Vec::new();
    for _ in 0..scans {
        let begin = scanner.port().now();
        let mut note = |at, event| events.push(Stamped { at, unit: Unit::A, event });
        let snapshot = scanner
            .scan(|edge| note(edge.at, Event::Square { square: edge.square, occupied: edge.closed }))
            .unwrap();
        inputs.take(snapshot.at, snapshot.inputs, |event| note(snapshot.at, event));
        let took = scanner.port().now().since(begin);
        scanner.port().pause(PERIOD_US - took);
    }
    events
}

#[test]
#[ignore = "needs the kernel's gpio-sim: tests/vm/gpio-sim.sh"]
fn a_game_with_its_bounce_and_its_lever_is_the_same_through_the_kernel() {
    let mut game = DemoGame::find("opera").unwrap().game(GameSetup::default());
    game.think_ms = vec![50; game.moves.len()];
    let params = Params {
        output: Output::Raw,
        initial_report: true,
        ending: Ending::Entered,
        ..Params::level(Level::Tournament)
    };
    let truth = simulate(&game, &params, 5).unwrap();
    let board = || SimulatedMatrix::playing(Wiring::default(), Square::ALL, &truth, 20_000, 5);
    let sim = Sim::new();
    let (port, lines) = open(&sim, Polarity::ActiveHigh);
    let through = events(Played::new(port, lines, Polarity::ActiveHigh, board()), 2_500);
    let direct = events(SimulatedPort::in_simulated_time(board(), SETTLE_US), 2_500);
    assert_eq!(through, direct);
    let presses = through.iter().filter(|stamped| matches!(stamped.event, Event::Press(_))).count();
    assert!(presses >= 2 && through.len() >= 15, "{presses} presses of {} events", through.len());
}

#[test]
#[ignore = "needs the kernel's gpio-sim: tests/vm/gpio-sim.sh"]
fn lines_are_pulled_to_rest_and_given_back() {
    for (polarity, rest) in [(Polarity::ActiveHigh, "pull-down"), (Polarity::ActiveLow, "pull-up")] {
        let sim = Sim::new();
        for line in 8..24 {
            sim.set(line, rest == "pull-down");
        }
        let external = Pins { pull: Pull::External, ..pins(polarity) };
        drop(CdevPort::open(&external, &Chip::Path(sim.device.clone())).unwrap());
        assert!((8..16).all(|column| sim.pull(column) != rest), "an external resistor is left alone");
        let port = CdevPort::open(&pins(polarity), &Chip::Path(sim.device.clone())).unwrap();
        assert!((8..16).all(|column| sim.pull(column) == rest));
        assert!((16..22).all(|input| sim.pull(input) == "pull-up"), "buttons close to ground");
        // Who asks for a line that is held hears which one, and by whom.
        let error = CdevPort::open(&pins(polarity), &Chip::Path(sim.device.clone())).unwrap_err().to_string();
        assert!(error.contains("line 0, which rows names, is held by \"touchmoved\""), "{error}");
        drop(port);
        CdevPort::open(&pins(polarity), &Chip::Label(sim.label.clone())).unwrap();
    }
}

#[test]
#[ignore = "needs the kernel's gpio-sim: tests/vm/gpio-sim.sh"]
fn leds_have_their_own_level_and_no_row_touches_them() {
    for leds_polarity in [Polarity::ActiveHigh, Polarity::ActiveLow] {
        let sim = Sim::new();
        let on = leds_polarity == Polarity::ActiveHigh;
        let lit = |sim: &Sim| [22, 23].map(|line| sim.is_high(line) == on);
        let leds = Pins { leds: vec![22, 23], leds_polarity, ..pins(Polarity::ActiveHigh) };
        let mut port = CdevPort::open(&leds, &Chip::Label(sim.label.clone())).unwrap();
        assert_eq!(lit(&sim), [false; 2]);
        port.light(0b10).unwrap();
        port.drive(0xff).unwrap();
        assert_eq!(lit(&sim), [false, true]);
        port.light(0b01).unwrap();
        assert_eq!(lit(&sim), [true, false]);
        assert!((0..8).all(|row| sim.is_high(row)));
    }
}

#[test]
#[ignore = "needs the kernel's gpio-sim: tests/vm/gpio-sim.sh"]
fn what_a_chip_does_not_have_is_named() {
    let sim = Sim::new();
    let beyond = Pins { columns: [8, 9, 10, 11, 12, 13, 14, 24], ..pins(Polarity::ActiveHigh) };
    let error = CdevPort::open(&beyond, &Chip::Label(sim.label.clone())).unwrap_err().to_string();
    assert!(error.contains("it has no line 24, which columns names: its lines are 0 to 23"), "{error}");
    let error = CdevPort::open(&beyond, &Chip::Header).unwrap_err().to_string();
    assert!(error.contains("this machine has no GPIO chip of a Raspberry Pi"), "{error}");
}

/// The real program on the real character device: the empty board, a column that is shorted to 3.3 V, a chip
/// that goes away and comes back.
#[test]
#[ignore = "needs the kernel's gpio-sim: tests/vm/gpio-sim.sh"]
fn the_daemon_scans_a_chip_that_may_go_and_come_back() {
    let sim = Sim::new();
    for column in 8..16 {
        sim.set(column, column == 11);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("touchmoved.toml");
    let config = format!(
        "[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nlisten = \"127.0.0.1:0\"\n[data]\ndir = \"data\"\n\
         [[board]]\nid = \"1\"\n[board.sensor.matrix]\nbackend = \"gpiocdev\"\nchip = \"{}\"\n\
         rows = [0, 1, 2, 3, 4, 5, 6, 7]\ncolumns = [8, 9, 10, 11, 12, 13, 14, 15]\npull = \"external\"\n",
        sim.label
    );
    fs::write(&path, config).unwrap();
    let mut daemon = Daemon::with_config(&path);
    daemon.wait_for("column-stuck");
    let scans = |daemon: &mut Daemon| -> u64 {
        let (_, text) = get(daemon.http(), "/metrics");
        let name = "touchmoved_scan_late_seconds_count{board=\"1\"} ";
        text.lines().find_map(|line| line.strip_prefix(name)?.parse().ok()).unwrap_or(0)
    };
    let before = scans(&mut daemon);
    daemon.until("fifty more scans", |daemon| (scans(daemon) >= before + 50).then_some(()));
    let troubles = |daemon: &mut Daemon| daemon.json("/healthz")["troubles"].to_string();
    assert!(troubles(&mut daemon).contains("wiring"));
    let healthy = |daemon: &mut Daemon| !troubles(daemon).contains("\"what\":\"source\"");
    assert!(healthy(&mut daemon));
    sim.unplug();
    daemon.until("the outage", |daemon| (!healthy(daemon)).then_some(()));
    sim.plug();
    daemon.until("the end of the outage", |daemon| healthy(daemon).then_some(()));
    let before = scans(&mut daemon);
    daemon.until("scans after the outage", |daemon| (scans(daemon) >= before + 50).then_some(()));
    daemon.end();
}
