//! Reed matrices from the wires to the game: hands move men over simulated contacts, the scanner reads what
//! the lines show, and the session makes a game of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod process;

use std::{
    fs,
    path::Path,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, sync_channel},
    },
};

use process::{Daemon, get};
use shakmaty::{Color, Square};
use touchmoved::{
    game::Board,
    sensor::{
        Reading, Sink, Source as _, Stop,
        matrix::{
            Layout, MatrixPort, MatrixSource, PortError, Scan, Scanner,
            inputs::Inputs,
            leds::{Connected, Leds, SetUp},
            simulated::{SimulatedPort, wired},
        },
    },
    session::{
        event::{Event, Stamped, Unit},
        fact::{Fact, FactKind},
        io::Input,
        setup::{BoardKind, GameSetup, Signal, UnitSetup},
        time::MonoTime,
    },
    simulate::{
        Simulation,
        games::DemoGame,
        matrix::{Fault, SimulatedMatrix, Wiring},
        params::{Ending, Level, Output, Params},
        simulate, two_boards,
    },
};

const PERIOD_US: u64 = 5_000;
const SETTLE_US: u64 = 50;

/// What a game came to.
struct Played {
    truth: Simulation,
    plies: Vec<String>,
    facts: Vec<Fact>,
    /// What left the scanner.
    events: Vec<Stamped>,
}

impl Played {
    fn is_exact(&self) -> bool {
        self.plies.iter().eq(self.truth.truth.plies.iter().map(|ply| &ply.uci))
    }
}

/// Plays a game on simulated wires, with the lever of its clock.
fn play(game: &str, level: Level, faults: &[Fault], layout: Layout) -> Played {
    let mut game = DemoGame::find(game).unwrap().game(GameSetup::default());
    game.think_ms = vec![400; game.moves.len()];
    let params =
        Params { output: Output::Raw, initial_report: true, ending: Ending::Entered, ..Params::level(level) };
    let truth = simulate(&game, &params, 5).unwrap();
    let matrix = SimulatedMatrix::playing(Wiring::with(faults), layout.squares(), &truth, 500_000, 5);
    let mut scanner = Scanner::new(SimulatedPort::in_simulated_time(matrix, SETTLE_US), layout);
    let mut inputs = Inputs::new(wired(15_000));
    let mut board = Board::new(&truth.setup).unwrap();
    let mut events = Vec::new();
    let mut rest = 0;
    while rest < 2_000 {
        let begin = scanner.port().now();
        let mut fresh = Vec::new();
        let mut note = |at, event| fresh.push(Stamped { at, unit: Unit::A, event });
        let snapshot = scanner
            .scan(|edge| note(edge.at, Event::Square { square: edge.square, occupied: edge.closed }))
            .unwrap();
        if snapshot.first {
            note(snapshot.at, Event::Occupied(layout.occupied(&snapshot.rows)));
        }
        inputs.take(snapshot.at, snapshot.inputs, |event| note(snapshot.at, event));
        for stamped in &fresh {
            board.advance(MonoTime::from_micros(stamped.at.as_micros().saturating_sub(1)));
            board.input(stamped.at, &Input::Event(stamped.unit, stamped.event.clone()));
        }
        board.advance(snapshot.at);
        events.extend(fresh);
        let took = scanner.port().now().since(begin);
        scanner.port().pause(PERIOD_US - took);
        rest += u64::from(scanner.port().matrix().is_over());
    }
    board.advance(MonoTime::END);
    let facts = std::iter::from_fn(|| board.poll_fact()).collect();
    let plies = board.session().plies().map(|ply| ply.uci.to_string()).collect();
    Played { truth, plies, facts, events }
}

#[test]
fn a_game_is_read_from_the_wires() {
    for (game, level) in [("opera", Level::Clean), ("opera", Level::Tournament), ("immortal", Level::Clean)] {
        let played = play(game, level, &[], Layout::default());
        assert!(played.is_exact(), "{game}: {:?}", played.plies);
        let presses = played.events.iter().filter(|stamped| matches!(stamped.event, Event::Press(_))).count();
        let pressed = played.truth.truth.plies.iter().filter(|ply| ply.press_us.is_some()).count();
        assert!(presses.abs_diff(pressed) <= 1, "{presses} presses of {pressed}");
        let results =
            played.events.iter().filter(|stamped| matches!(stamped.event, Event::Result(_))).count();
        assert_eq!(results, 1);
    }
}

#[test]
fn a_board_that_was_wired_another_way_reads_the_same_game() {
    let turned = Layout::new(std::array::from_fn(|at| Square::ALL[at % 8 * 8 + 7 - at / 8])).unwrap();
    let played = play("opera", Level::Clean, &[], turned);
    assert!(played.is_exact(), "{:?}", played.plies);
}

/// What each change of a contact costs in time: the scanner tells it within a period and the time of a scan.
#[test]
fn contacts_are_told_within_a_period() {
    let played = play("opera", Level::Clean, &[], Layout::default());
    let limit = PERIOD_US + 8 * SETTLE_US;
    for stamped in &played.events {
        let Event::Square { square, occupied } = stamped.event else { continue };
        let at = stamped.at.as_micros();
        let happened = played.truth.events.iter().any(|real| {
            real.event == Event::Square { square, occupied } && {
                let real = real.at.as_micros() + 500_000;
                real <= at && at <= real + limit
            }
        });
        assert!(happened, "{square} {occupied} at {at}");
    }
}

#[test]
fn columns_that_fall_slowly_need_a_longer_settle_time_and_nothing_else() {
    let played = play("opera", Level::Clean, &[Fault::SlowColumns(45)], Layout::default());
    assert!(played.is_exact(), "{:?}", played.plies);
}

#[test]
fn a_matrix_without_diodes_is_called_that() {
    let faults = [Fault::NoDiodes, Fault::FloatingRows];
    let played = play("opera", Level::Clean, &faults, Layout::default());
    let told = played.facts.iter().any(
        |fact| matches!(&fact.kind, FactKind::Advisory { code, .. } if *code == "matrix-without-diodes"),
    );
    assert!(told && !played.is_exact());
}

#[test]
fn a_shorted_diode_is_found_during_the_game() {
    let faults = [Fault::ShortedDiode(3, 4), Fault::FloatingRows];
    let played = play("opera", Level::Clean, &faults, Layout::default());
    assert!(played.is_exact(), "{:?}", played.plies);
}

/// Two simulated players at a matrix each, wire by wire: White moves on the first, Black on the second, and each puts
/// up the other one's moves.
#[test]
fn two_matrices_read_one_game() {
    let mut game = DemoGame::find("opera").unwrap().game(GameSetup::default());
    two_boards::take_time(&mut game);
    let params = Params {
        output: Output::Raw,
        initial_report: true,
        ending: Ending::Entered,
        ..Params::level(Level::Clean)
    };
    let truth = simulate(&game, &params, 5).unwrap();
    let setup = GameSetup {
        board: BoardKind::TwoBoard,
        sides: Some([Color::White, Color::Black]),
        units: [BoardKind::Reed, BoardKind::Peg].map(|kind| UnitSetup {
            signal: Signal::Raw,
            ..UnitSetup::new(kind, &GameSetup::default().settings)
        }),
        signal: Signal::Debounced,
        ..truth.setup.clone()
    };
    let mut scanners = [(Color::White, true), (Color::Black, false)].map(|(side, clock)| {
        let played = two_boards::at_board_of(side, clock, truth.clone());
        let matrix = SimulatedMatrix::playing(Wiring::default(), Square::ALL, &played, 500_000, 5);
        Scanner::new(SimulatedPort::in_simulated_time(matrix, SETTLE_US), Layout::default())
    });
    let mut inputs = [Inputs::new(wired(15_000)), Inputs::new(wired(15_000))];
    let mut board = Board::new(&setup).unwrap();
    let mut facts = Vec::new();
    let mut rest = 0;
    while rest < 2_000 {
        let mut fresh = Vec::new();
        for ((unit, scanner), inputs) in Unit::ALL.into_iter().zip(&mut scanners).zip(&mut inputs) {
            let begin = scanner.port().now();
            let mut note = |at, event| fresh.push((at, Input::Event(unit, event)));
            let snapshot = scanner
                .scan(|edge| note(edge.at, Event::Square { square: edge.square, occupied: edge.closed }))
                .unwrap();
            if snapshot.first {
                note(snapshot.at, Event::Occupied(Layout::default().occupied(&snapshot.rows)));
            }
            inputs.take(snapshot.at, snapshot.inputs, |event| note(snapshot.at, event));
            let took = scanner.port().now().since(begin);
            scanner.port().pause(PERIOD_US - took);
        }
        fresh.sort_by_key(|(at, _)| *at);
        for (at, input) in &fresh {
            board.input(*at, input);
        }
        board.advance(MonoTime::from_micros(scanners[0].port().now().as_micros() - 1));
        facts.extend(std::iter::from_fn(|| board.poll_fact()));
        rest += u64::from(scanners.iter_mut().all(|scanner| scanner.port().matrix().is_over()));
    }
    board.advance(MonoTime::END);
    facts.extend(std::iter::from_fn(|| board.poll_fact()));
    let plies: Vec<String> = board.session().plies().map(|ply| ply.uci.to_string()).collect();
    let wanted: Vec<String> = truth.truth.plies.iter().map(|ply| ply.uci.clone()).collect();
    assert_eq!(plies, wanted);
    // A move that is put up on the other board is neither a touch nor a quarrel of the boards.
    let touches = facts.iter().filter(|fact| matches!(fact.kind, FactKind::Touch { .. })).count();
    assert_eq!(touches, truth.truth.touches.len(), "{:?}", truth.truth.touches);
    let told = facts.iter().map(|fact| serde_json::to_string(fact).unwrap());
    assert_eq!(told.filter(|fact| fact.contains("diverged")).collect::<Vec<_>>(), [""; 0]);
}

/// Simulated wires with LEDs, below the game that is read from them. While the scanner rests, the game takes what
/// was read, so that both go on in one thread.
struct Lit {
    port: SimulatedPort,
    readings: Receiver<Reading>,
    board: Board,
    set_up: SetUp,
    leds: Arc<Leds>,
    /// Each change of the LEDs, with the plies that were made before it.
    changes: Arc<Mutex<Vec<(MonoTime, u32, usize)>>>,
    rest: usize,
    stop: Stop,
}

impl MatrixPort for Lit {
    fn name(&self) -> String {
        self.port.name()
    }

    fn drive(&mut self, rows: u8) -> Result<(), PortError> {
        self.port.drive(rows)
    }

    fn settle(&mut self) {
        self.port.settle();
    }

    fn read_columns(&mut self) -> Result<u8, PortError> {
        self.port.read_columns()
    }

    fn inputs(&mut self) -> Result<u32, PortError> {
        self.port.inputs()
    }

    fn light(&mut self, leds: u32) -> Result<(), PortError> {
        let plies = self.board.session().plies().len();
        self.changes.lock().unwrap().push((self.port.now(), leds, plies));
        Ok(())
    }

    fn now(&self) -> MonoTime {
        self.port.now()
    }

    fn pause(&mut self, us: u64) {
        for Reading { at, input } in self.readings.try_iter() {
            let input = input.unwrap();
            self.board.input(at, &input);
            self.set_up.input(&input);
        }
        self.board.advance(MonoTime::from_micros(self.port.now().as_micros().saturating_sub(1_000)));
        while let Some(fact) = self.board.poll_fact() {
            self.set_up.fact(&fact);
        }
        self.leds.set(self.set_up.lit(Unit::A));
        self.port.pause(us);
        self.rest += usize::from(self.port.matrix().is_over());
        if self.rest > 2_000 {
            self.stop.set();
        }
    }
}

/// Scans a whole game: every change of the LEDs, and when the first man was lifted.
fn lit(faults: &[Fault]) -> (Vec<(MonoTime, u32, usize)>, MonoTime) {
    let mut game = DemoGame::find("opera").unwrap().game(GameSetup::default());
    game.think_ms = vec![1_500; game.moves.len()];
    let params = Params {
        output: Output::Raw,
        initial_report: true,
        ending: Ending::Entered,
        ..Params::level(Level::Clean)
    };
    let truth = simulate(&game, &params, 5).unwrap();
    let begin_us = 3_000_000;
    let matrix = SimulatedMatrix::playing(Wiring::with(faults), Square::ALL, &truth, begin_us, 5);
    let (sender, readings) = sync_channel(10_000);
    let (stop, leds, changes) = (Stop::default(), Arc::<Leds>::default(), Arc::default());
    let set_up = SetUp::new(&truth.setup);
    leds.set(set_up.lit(Unit::A));
    let port = Lit {
        port: SimulatedPort::in_simulated_time(matrix, SETTLE_US),
        readings,
        board: Board::new(&truth.setup).unwrap(),
        set_up,
        leds: leds.clone(),
        changes: Arc::clone(&changes),
        rest: 0,
        stop: stop.clone(),
    };
    let connected = Connected { status: true, crossing: true };
    let scan = Scan { inputs: wired(15_000), leds: connected, ..Scan::default() };
    Box::new(MatrixSource::new(port, scan).with_leds(leds)).run(&Sink::new(sender), &stop).unwrap();
    let lift =
        truth.events.iter().find(|stamped| matches!(stamped.event, Event::Square { occupied: false, .. }));
    let lifted = MonoTime::from_micros(begin_us + lift.unwrap().at.as_micros());
    let changes = changes.lock().unwrap().clone();
    (changes, lifted)
}

const ALL: u32 = 0x1_ffff;
const DARK: u32 = 0;

/// LEDs are for the set-up: with a board that is set up they are tested for as long as that is not known and never
/// lit again; a square that stays wrong is shown until the game begins, and never during play.
#[test]
fn no_led_is_lit_during_play() {
    let (changes, _) = lit(&[]);
    let seen: Vec<u32> = changes.iter().map(|(_, leds, _)| *leds).collect();
    assert_eq!(seen, [ALL, DARK, DARK], "the second darkness is the end of the source");
    let (changes, lifted) = lit(&[Fault::OpenReed(0, 6)]);
    let g1 = 0b1 | 1 << 7 | 1 << 9;
    let seen: Vec<u32> = changes.iter().map(|(_, leds, _)| *leds).collect();
    assert_eq!(seen, [ALL, g1, DARK, DARK]);
    let (out, _, plies) = changes[2];
    assert!(changes[1].0 < lifted && plies <= 1, "{changes:?}, lifted at {lifted:?}");
    assert!(out.since(lifted) < 1_000_000, "{changes:?}, lifted at {lifted:?}");
}

/// The whole daemon with an LED: a7 is never seen, so that it is lit until White touches a man, and not again.
#[test]
fn the_daemon_makes_its_led_dark_when_the_game_begins() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("touchmoved.toml");
    let text = "[log]\nlevel = \"debug\"\n[data]\ndir = \"data\"\n[http]\nlisten = \"127.0.0.1:0\"\n\
                [livechess]\nenabled = false\n[[board]]\nid = \"1\"\n[board.sensor.matrix]\nbackend = \"simulated\"\n\
                level = \"clean\"\nfaults = [\"open-reed 6,0\"]\nstatus-led = 7\n";
    fs::write(&path, text).unwrap();
    let mut daemon = Daemon::with_config(&path);
    daemon.wait_for("LEDs are lit: 0b1");
    daemon.wait_for(": touch");
    daemon.wait_for("LEDs are lit: 0b0");
    // A game that goes on after a restart is set up.
    daemon.kill();
    let mut daemon = Daemon::with_config(&path);
    daemon.wait_for("the game in ");
    daemon.wait_for("LEDs are lit: 0b0");
    daemon.wait_for(": touch");
    assert!(!daemon.said().contains("LEDs are lit: 0b1"), "{}", daemon.said());
    daemon.end();
}

/// The daemon scans simulated wires, examines them at the start, and tells the operator.
#[test]
fn the_daemon_examines_its_matrix_and_counts_its_scans() {
    let dir = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/examples/matrix-simulated.toml");
    let path = dir.path().join("touchmoved.toml");
    let services = "[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nlisten = \"127.0.0.1:0\"\n";
    fs::write(&path, fs::read_to_string(example).unwrap() + services).unwrap();
    let mut daemon = Daemon::with_config(&path);
    daemon.wait_for("diode-shorted");
    daemon.wait_for("a7, row 6, column 0: never-closes");
    let troubles = daemon.until("the findings", |daemon| {
        let health = daemon.json("/healthz");
        (health["troubles"] != serde_json::json!([])).then_some(health)
    });
    assert_eq!(troubles["troubles"][0]["what"], "wiring");
    let figure = |text: &str, name: &str| -> u64 {
        let line =
            text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    daemon.until("fifty scans", |daemon| {
        let (_, text) = get(daemon.http(), "/metrics");
        text.contains("touchmoved_scan_late_seconds_count").then_some(())?;
        (figure(&text, "touchmoved_scan_late_seconds_count{board=\"1\"}") >= 50).then_some(())
    });
    let (_, text) = get(daemon.http(), "/metrics");
    assert_eq!(figure(&text, "touchmoved_scan_wiring_faults{board=\"1\"}"), 1);
}
