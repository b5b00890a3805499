//! The daemon is killed at arbitrary moments, and its disk fills up: what a client has seen is in the
//! journal, the game goes on where it was, and in the end nothing is missing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod process;

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use process::{Daemon, assert_replayed, assert_verified, get, journals, moves, records};
use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Map, Value};
use tempfile::TempDir;
use touchmoved::{
    journal::{Body, Entry, Journal, JournalHeader, next_segment},
    session::{setup::GameSetup, time::MonoTime},
    simulate::{
        Simulation,
        games::DemoGame,
        params::{Level, Params},
        simulate,
    },
    wire::sensor_log::{format_event, format_header},
};

const KILLS: usize = 50;

/// A fixed sequence of numbers: the moments of the kills are the same in every run, as far as a
/// scheduler lets them.
struct Moments(u64);

impl Moments {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn simulation(game: &str, level: Level, seed: u64) -> Simulation {
    let game = DemoGame::find(game).unwrap().game(GameSetup::default());
    simulate(&game, &Params::level(level), seed).unwrap()
}

/// Writes the recording that a board plays.
fn record(path: &Path, simulation: &Simulation) {
    let events = simulation.events.iter().map(format_event);
    let lines: Vec<String> = [format_header(&simulation.setup)].into_iter().chain(events).collect();
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

/// A daemon that plays one recording on each of its boards `1`, `2`, ...
fn config(dir: &TempDir, simulations: &[Simulation], pace: u32) -> PathBuf {
    let mut text =
        "[data]\ndir = \"data\"\n[http]\nlisten = \"127.0.0.1:0\"\n[livechess]\nenabled = false\n".to_owned();
    for (index, simulation) in simulations.iter().enumerate() {
        let name = format!("game-{}.ndjson", index + 1);
        record(&dir.path().join(&name), simulation);
        text += &format!(
            "[[board]]\nid = \"{}\"\n[board.sensor.sensor-log]\npath = \"{name}\"\npace = {pace}\n",
            index + 1
        );
    }
    let path = dir.path().join("touchmoved.toml");
    fs::write(&path, text).unwrap();
    path
}

/// A move that a client has seen: board, ply, UCI.
type Seen = (String, u64, String);

/// Reads the events of a daemon until it is gone.
fn listen(address: SocketAddr, seen: Arc<Mutex<BTreeSet<Seen>>>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let Ok(mut stream) = TcpStream::connect(address) else { return };
        if write!(stream, "GET /events HTTP/1.1\r\nHost: board\r\n\r\n").is_err() {
            return;
        }
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let Some(data) = line.strip_prefix("data:") else { continue };
            let Ok(value) = serde_json::from_str::<Value>(data) else { continue };
            take(&value, &mut seen.lock().unwrap());
        }
    })
}

/// Notes the moves of a snapshot or of an event.
fn take(value: &Value, seen: &mut BTreeSet<Seen>) {
    if let Some(boards) = value.as_array() {
        for state in boards {
            let id = state["id"].as_str().unwrap();
            let plies = (1..).zip(moves(state));
            seen.extend(plies.map(|(ply, uci)| (id.to_owned(), ply, uci)));
        }
    } else if value["type"] == "move" || value["type"] == "correct" {
        let text = |key: &str| value[key].as_str().unwrap().to_owned();
        seen.insert((text("board"), value["ply"].as_u64().unwrap(), text("uci")));
    }
}

/// The moves that a journal holds as published or corrected.
fn recorded(records: &[Value], board: &str) -> BTreeSet<Seen> {
    let named = |record: &&Value| record["fact"] == "move_published" || record["fact"] == "move_revised";
    let seen = |record: &Value| {
        (board.to_owned(), record["ply"].as_u64().unwrap(), record["uci"].as_str().unwrap().to_owned())
    };
    records.iter().filter(named).map(seen).collect()
}

/// The inputs of a journal that came from the board: those of the daemon follow its mark.
fn inputs(records: &[Value]) -> Vec<Value> {
    let mut own = 0;
    let mut inputs = Vec::new();
    for input in records.iter().filter_map(|record| record.get("in")) {
        if input["device"]["daemon"] == "resumed" {
            own = 2;
        } else if own > 0 && input.get("power").is_some() {
            own -= 1;
        } else {
            own = 0;
            inputs.push(input.clone());
        }
    }
    inputs
}

/// What a recording holds, in the same form.
fn expected(simulation: &Simulation) -> Vec<Value> {
    let without_time = |line: String| {
        let mut map: Map<String, Value> = serde_json::from_str(&line).unwrap();
        map.shift_remove("us");
        Value::Object(map)
    };
    simulation.events.iter().map(format_event).map(without_time).collect()
}

fn is_over(daemon: &Daemon, boards: usize) -> bool {
    daemon.said().matches("nothing more to read").count() == boards
}

#[test]
fn nothing_is_lost_when_the_daemon_is_killed_fifty_times() {
    let dir = tempfile::tempdir().unwrap();
    let simulations = [simulation("opera", Level::Clean, 1), simulation("evergreen", Level::Tournament, 2)];
    let boards = simulations.len();
    let config = config(&dir, &simulations, 20);
    let data = dir.path().join("data");
    let mut moments = Moments(0x9e37_79b9_7f4a_7c15);
    for _ in 0..KILLS {
        let mut daemon = Daemon::with_config(&config);
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        let mut listener = None;
        if moments.below(4) == 0 {
            // In the middle of its start.
            thread::sleep(Duration::from_millis(moments.below(30)));
        } else {
            let address = daemon.http();
            listener = Some(listen(address, seen.clone()));
            thread::sleep(Duration::from_millis(moments.below(200)));
        }
        daemon.kill();
        if let Some(listener) = listener {
            listener.join().unwrap();
        }
        let in_journal: BTreeSet<Seen> = ["1", "2"]
            .into_iter()
            .flat_map(|id| journals(&data, id).into_iter().map(move |path| (id, path)))
            .flat_map(|(id, path)| recorded(&records(&path), id))
            .collect();
        for acknowledged in seen.lock().unwrap().iter() {
            assert!(in_journal.contains(acknowledged), "{acknowledged:?} was shown and is not recorded");
        }
    }
    let mut daemon = Daemon::with_config(&config);
    daemon.until("the end of the games", |daemon| is_over(daemon, boards).then_some(()));
    daemon.end();
    finally(&config, &data, &simulations);
}

/// What has to be so in the end, whatever happened before.
fn finally(config: &Path, data: &Path, simulations: &[Simulation]) {
    for (index, simulation) in simulations.iter().enumerate() {
        let id = (index + 1).to_string();
        let segments = journals(data, &id);
        assert_eq!(segments.len(), 1, "one game, one segment");
        assert_verified(&segments[0]);
        assert_replayed(&segments[0]);
        let records = records(&segments[0]);
        assert!(
            inputs(&records) == expected(simulation),
            "board {id}: the inputs are those of the recording"
        );
        let times: Vec<u64> = records.iter().map(|record| record["us"].as_u64().unwrap()).collect();
        assert!(times.is_sorted(), "board {id}: times never go back");
        let made: BTreeSet<Seen> = recorded(&records, &id);
        for (ply, truth) in (1..).zip(&simulation.truth.plies) {
            assert!(
                made.contains(&(id.clone(), ply, truth.uci.clone())),
                "board {id}: ply {ply} {}",
                truth.uci
            );
        }
    }
    // The games ended in mate: the next start finds no running game, and the journals stay as they are.
    let mut daemon = Daemon::with_config(config);
    daemon.http();
    daemon.end();
    for index in 1..=simulations.len() {
        assert_eq!(journals(data, &index.to_string()).len(), 2, "a new game has its own segment");
    }
}

#[test]
fn the_resumed_state_is_what_was_shown_before_the_kill() {
    let dir = tempfile::tempdir().unwrap();
    let simulations = [simulation("immortal", Level::Clean, 3)];
    let config = config(&dir, &simulations, 40);
    let mut shown = Vec::new();
    for round in 1..=5 {
        let mut daemon = Daemon::with_config(&config);
        let resumed = daemon.json("/api/boards/1");
        assert!(moves(&resumed).starts_with(&shown), "{shown:?} were shown, {resumed}");
        let state = daemon.until("more moves", |daemon| {
            let state = daemon.json("/api/boards/1");
            (moves(&state).len() >= round * 6).then_some(state)
        });
        shown = moves(&state);
        daemon.kill();
    }
    let truth: Vec<String> = simulations[0].truth.plies.iter().map(|ply| ply.uci.clone()).collect();
    let mut daemon = Daemon::with_config(&config);
    let state = daemon.until("the end of the game", |daemon| {
        let state = daemon.json("/api/boards/1");
        (state["result"] != "*").then_some(state)
    });
    assert_eq!(moves(&state), truth);
    daemon.end();
}

/// Starts the daemon so that a file which reaches its size limit is an error of the write, as on a
/// full disk, and no signal.
fn without_size_signal(config: &Path) -> Daemon {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" run --config \"$1\"", env!("CARGO_BIN_EXE_touchmoved")]);
    command.arg(config).env_remove("NOTIFY_SOCKET").env_remove("JOURNAL_STREAM");
    Daemon::start(command)
}

fn limit_files(daemon: &Daemon, bytes: Option<u64>) {
    let limit = Rlimit { current: bytes, maximum: getrlimit(Resource::Fsize).maximum };
    prlimit(Some(daemon.pid()), Resource::Fsize, limit).unwrap();
}

#[test]
fn a_full_disk_is_flagged_the_game_goes_on_and_the_journal_catches_up() {
    let dir = tempfile::tempdir().unwrap();
    let simulations = [simulation("opera", Level::Clean, 4)];
    let config = config(&dir, &simulations, 50);
    let data = dir.path().join("data");
    let mut daemon = without_size_signal(&config);
    daemon.until("the first inputs", |_| {
        let path = journals(&data, "1").pop()?;
        (records(&path).len() > 20).then_some(())
    });
    let journal = journals(&data, "1").remove(0);
    limit_files(&daemon, Some(fs::metadata(&journal).unwrap().len() + 3000));
    daemon.until("the flag", |daemon| (daemon.json("/healthz")["journal"] == "failed").then_some(()));
    let (_, metrics) = get(daemon.http(), "/metrics");
    assert!(metrics.contains("touchmoved_journal_failed{board=\"1\"} 1"), "{metrics}");
    let trouble = daemon.json("/healthz")["troubles"][0]["detail"].as_str().unwrap().to_owned();
    assert!(trouble.contains(journal.to_str().unwrap()), "{trouble}");
    daemon.wait_for("nothing more to read");
    let state = daemon.until("the game is served to its end", |daemon| {
        let state = daemon.json("/api/boards/1");
        (state["result"] != "*").then_some(state)
    });
    assert_eq!(moves(&state).len(), simulations[0].truth.plies.len());
    let said = daemon.said();
    assert_eq!(said.lines().filter(|line| line.starts_with("error")).count(), 1, "told once:\n{said}");

    limit_files(&daemon, None);
    daemon.until("the journal is whole", |daemon| (daemon.json("/healthz")["journal"] == "ok").then_some(()));
    daemon.end();
    finally(&config, &data, &simulations);
}

#[test]
fn a_disk_that_stays_full_costs_the_journal_and_not_its_integrity() {
    let dir = tempfile::tempdir().unwrap();
    let simulations = [simulation("opera", Level::Clean, 5)];
    let config = config(&dir, &simulations, 50);
    let data = dir.path().join("data");
    let mut daemon = without_size_signal(&config);
    daemon.until("the first inputs", |_| {
        let path = journals(&data, "1").pop()?;
        (records(&path).len() > 20).then_some(())
    });
    let journal = journals(&data, "1").remove(0);
    limit_files(&daemon, Some(fs::metadata(&journal).unwrap().len() + 3000));
    daemon.until("the flag", |daemon| (daemon.json("/healthz")["journal"] == "failed").then_some(()));
    daemon.kill();
    // With room again the game goes on from what is recorded, and the recording brings the rest.
    let mut daemon = Daemon::with_config(&config);
    daemon.wait_for("nothing more to read");
    daemon.end();
    finally(&config, &data, &simulations);
}

/// The first events of a game that does not end in them.
fn beginning() -> Simulation {
    let mut simulation = simulation("opera", Level::Clean, 6);
    let middle = simulation.truth.plies[12].start_us;
    simulation.events.retain(|stamped| stamped.at.as_micros() < middle);
    simulation.truth.plies.truncate(12);
    simulation
}

/// Plays a recording to its end, which serves its moves.
fn play(config: &Path, simulation: &Simulation) {
    let mut daemon = Daemon::with_config(config);
    daemon.wait_for("nothing more to read");
    let truth: Vec<String> = simulation.truth.plies.iter().map(|ply| ply.uci.clone()).collect();
    daemon.until("the moves", |daemon| (moves(&daemon.json("/api/boards/1")) == truth).then_some(()));
    daemon.end();
}

#[test]
fn a_game_of_another_version_goes_on_in_a_new_segment() {
    let dir = tempfile::tempdir().unwrap();
    let simulations = [beginning()];
    let config = config(&dir, &simulations, 1000);
    let data = dir.path().join("data");
    play(&config, &simulations[0]);

    // The same inputs, as a version with other conclusions has left them.
    let first = journals(&data, "1").remove(0);
    let recovered = Journal::recover(&first).unwrap();
    let header = JournalHeader { logic: recovered.header.logic + 1, ..recovered.header };
    let path = next_segment(&data.join("1"), touchmoved::sysclock::wall_micros()).unwrap();
    let mut old = Journal::create(&path, header, MonoTime::ZERO, 0).unwrap();
    for (at, input) in recovered.inputs {
        old.append(&Entry { at, wall_us: 0, body: Body::Input(input) }).unwrap();
    }
    old.sync().unwrap();
    let head = old.head().to_owned();
    drop((old, recovered.journal));
    let text = fs::read_to_string(&path).unwrap();

    play(&config, &simulations[0]);
    let segments = journals(&data, "1");
    assert_eq!(segments.len(), 3);
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "the old one is left as it is");
    let records = records(&segments[2]);
    assert_eq!(records[0]["header"]["prev"], head);
    assert!(inputs(&records) == expected(&simulations[0]));
    assert_verified(&segments[2]);
    assert_replayed(&segments[2]);
}

#[test]
fn a_damaged_journal_is_left_alone_and_a_new_one_begins() {
    let dir = tempfile::tempdir().unwrap();
    let simulations = [beginning()];
    let config = config(&dir, &simulations, 1000);
    let data = dir.path().join("data");
    play(&config, &simulations[0]);
    let journal = journals(&data, "1").remove(0);
    let mut bytes = fs::read(&journal).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&journal, &bytes).unwrap();
    let mut daemon = Daemon::with_config(&config);
    let said = daemon.wait_for("error");
    assert!(said.contains("board 1") && said.contains(journal.to_str().unwrap()), "{said}");
    daemon.wait_for("nothing more to read");
    daemon.end();
    assert_eq!(fs::read(&journal).unwrap(), bytes);
    let segments = journals(&data, "1");
    assert_eq!(segments.len(), 2);
    assert_verified(&segments[1]);
}
