//! Sensor logs as a source: a file, a FIFO whose writers come and go, standard input.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread::JoinHandle,
    time::Duration,
};

use serde_json::{Value, json};
use shakmaty::Square;
use touchmoved::{
    sensor::{
        Pace, Reading, Sink, Source, SourceError, Speed, Stop, TAIL_US, Timeline, sensor_log::SensorLogSource,
    },
    session::{event::Event, io::Input, setup::GameSetup},
};

const HEADER: &str = r#"{"sensor_log":1,"board":"reed","variant":"standard"}"#;

/// A run that hangs ends here.
const HANG: Duration = Duration::from_secs(60);

struct Running {
    receiver: Receiver<Reading>,
    stop: Stop,
    thread: JoinHandle<Result<(), SourceError>>,
}

impl Running {
    fn start(source: SensorLogSource) -> Running {
        let (sender, receiver) = sync_channel(16);
        let stop = Stop::default();
        let ending = stop.clone();
        let thread = std::thread::spawn(move || Box::new(source).run(&Sink::new(sender), &ending));
        Running { receiver, stop, thread }
    }

    /// The next reading with an input.
    fn next(&self) -> Reading {
        loop {
            match self.receiver.recv_timeout(HANG) {
                Ok(reading) if reading.input.is_some() => return reading,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => panic!("nothing came"),
                Err(RecvTimeoutError::Disconnected) => panic!("the source has ended"),
            }
        }
    }

    /// Waits until the time has come to `us` while nothing happens.
    fn until(&self, us: u64) {
        loop {
            let reading = self.receiver.recv_timeout(HANG).expect("time goes on");
            assert_eq!(reading.input, None);
            if reading.at.as_micros() >= us {
                return;
            }
        }
    }

    fn all(self) -> Vec<Reading> {
        let readings = self.receiver.iter().collect();
        self.thread.join().unwrap().unwrap();
        readings
    }

    fn stop(self) {
        self.stop.set();
        while self.receiver.recv_timeout(HANG).is_ok() {}
        self.thread.join().unwrap().unwrap();
    }
}

fn occ(us: u64, square: &str, occupied: u8) -> String {
    json!({"us": us, "sq": square, "occ": occupied}).to_string()
}

fn file(lines: &[&str]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(lines.join("\n").as_bytes()).unwrap();
    file
}

fn play(lines: &[&str], pace: Pace) -> Vec<Reading> {
    let file = file(lines);
    let (setup, source) = SensorLogSource::open(file.path(), pace).unwrap();
    assert!(setup.is_some());
    assert_eq!(source.timeline(), Timeline::of(pace));
    Running::start(source).all()
}

fn inputs(readings: &[Reading]) -> Vec<(u64, Event)> {
    readings
        .iter()
        .filter_map(|reading| match &reading.input {
            Some(Input::Event(_, event)) => Some((reading.at.as_micros(), event.clone())),
            _ => None,
        })
        .collect()
}

fn device(event: &Event) -> &Value {
    match event {
        Event::Device(value) => value,
        other => panic!("expected a report, found {other:?}"),
    }
}

fn square(square: Square, occupied: bool) -> Event {
    Event::Square { square, occupied }
}

#[test]
fn a_file_is_delivered_with_its_own_stamps_at_every_pace() {
    let (lift, place) = (occ(1_000_000, "e2", 0), occ(1_000_700, "e4", 1));
    let fast = Pace::At(Speed::new(1000).unwrap());
    for pace in [fast, Pace::AsFastAsPossible] {
        let readings = play(&[HEADER, &lift, "", &place], pace);
        let expected = [(1_000_000, square(Square::E2, false)), (1_000_700, square(Square::E4, true))];
        assert_eq!(inputs(&readings), expected);
        assert_eq!(readings.last().unwrap().at.as_micros(), 1_000_700 + TAIL_US);
        assert!(readings.windows(2).all(|pair| pair[0].at <= pair[1].at));
    }
}

#[test]
fn a_bad_line_is_reported_with_its_place_and_the_next_one_is_read() {
    let (lift, place) = (occ(10, "e2", 0), occ(30, "e4", 1));
    let readings =
        play(&[HEADER, &lift, r#"{"us":20,"sq":"e9","occ":1}"#, "{nonsense", &place], Pace::AsFastAsPossible);
    let inputs = inputs(&readings);
    assert_eq!(inputs.len(), 4);
    let report = device(&inputs[1].1);
    assert_eq!(report["line"], 3);
    assert_eq!(report["text"], r#"{"us":20,"sq":"e9","occ":1}"#);
    assert!(report["error"].as_str().unwrap().starts_with("sq: expected a square"), "{report}");
    assert_eq!(device(&inputs[2].1)["line"], 4);
    assert_eq!(inputs[3], (30, square(Square::E4, true)));
}

#[test]
fn time_that_goes_back_is_held_and_reported_once() {
    let lines = [occ(100, "e2", 0), occ(50, "e4", 1), occ(60, "e7", 0), occ(200, "e5", 1)];
    let readings = play(&[HEADER, &lines[0], &lines[1], &lines[2], &lines[3]], Pace::AsFastAsPossible);
    let inputs = inputs(&readings);
    assert_eq!(inputs.iter().map(|(us, _)| *us).collect::<Vec<_>>(), [100, 100, 100, 100, 200]);
    assert_eq!(device(&inputs[1].1)["line"], 3);
}

#[test]
fn a_file_without_a_header_is_refused_with_its_place() {
    for (lines, expected) in [
        (&[r#"{"us":1,"sq":"e2","occ":0}"#][..], "the first line must be a header"),
        (&[][..], "the file is empty"),
        (&[r#"{"sensor_log":2}"#][..], "version 2 is not known"),
    ] {
        let file = file(lines);
        let error = SensorLogSource::open(file.path(), Pace::AsFastAsPossible).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}, line 1: ", file.path().display())), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let error = SensorLogSource::open(Path::new("/nonexistent/log"), Pace::AsFastAsPossible).unwrap_err();
    assert!(error.to_string().contains("check that the file exists"), "{error}");
}

#[test]
fn an_interrupted_file_goes_on_after_its_last_event() {
    let lines = [occ(100, "e2", 0), occ(200, "e4", 1), occ(300, "e7", 0)];
    let file = file(&[HEADER, &lines[0], &lines[1], &lines[2]]);
    let (_, source) = SensorLogSource::open(file.path(), Pace::AsFastAsPossible).unwrap();
    let last = touchmoved::session::time::MonoTime::from_micros(200);
    let readings = Running::start(source.resume(last, 2)).all();
    assert_eq!(inputs(&readings), [(300, square(Square::E7, false))]);
}

fn fifo(dir: &tempfile::TempDir) -> std::path::PathBuf {
    let path = dir.path().join("sensors");
    let status = Command::new("mkfifo").arg(&path).status().expect("mkfifo can be run");
    assert!(status.success());
    path
}

#[test]
fn writers_of_a_fifo_come_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let path = fifo(&dir);
    let pace = Pace::At(Speed::REAL_TIME);
    let (setup, source) = SensorLogSource::open(&path, pace).unwrap();
    assert_eq!(setup, None);
    assert_eq!(source.timeline(), Timeline::Scaled { speed: Speed::REAL_TIME });
    let running = Running::start(source.with_setup(&GameSetup::default()));

    let mut writer = File::options().write(true).open(&path).unwrap();
    writeln!(writer, "{HEADER}\n{}", occ(5_000_000, "e2", 0)).unwrap();
    let first = running.next();
    assert_eq!(first.at.as_micros(), 5_000_000);
    // Half a line is no line yet.
    let line = occ(5_000_500, "e4", 1);
    let (head, rest) = line.split_at(10);
    write!(writer, "{head}").unwrap();
    // The time goes on while the writer is silent.
    running.until(5_050_000);
    writeln!(writer, "{rest}").unwrap();
    drop(writer);
    // Its stamp is behind the time that was told: that is noted, and nothing is lost.
    let note = running.next();
    let Some(Input::Event(_, note)) = &note.input else { panic!("expected a note") };
    assert!(device(note)["note"].as_str().unwrap().contains("shifted"));
    let second = running.next();
    assert_eq!(second.input, Some(square(Square::E4, true).into()));
    assert!(second.at.as_micros() >= 5_050_000);

    // Another writer counts from another zero and has another game.
    let mut writer = File::options().write(true).open(&path).unwrap();
    writeln!(writer, r#"{{"sensor_log":1,"board":"peg"}}"#).unwrap();
    writeln!(writer, "{}\n{}", occ(10, "e7", 0), occ(400, "e5", 1)).unwrap();
    let report = running.next();
    let Some(Input::Event(_, report)) = &report.input else { panic!("expected a report") };
    assert_eq!(device(report)["differs"], json!(["board"]));
    let note = running.next();
    assert!(matches!(note.input, Some(Input::Event(_, Event::Device(_)))));
    let (lift, place) = (running.next(), running.next());
    assert_eq!(lift.input, Some(square(Square::E7, false).into()));
    assert_eq!(place.input, Some(square(Square::E5, true).into()));
    assert!(lift.at >= second.at);
    assert_eq!(place.at.since(lift.at), 390);
    running.stop();
}

#[test]
fn a_silent_fifo_can_be_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let (_, source) = SensorLogSource::open(&fifo(&dir), Pace::AsFastAsPossible).unwrap();
    Running::start(source).stop();
}

/// Not a test of its own: the program at the end of the pipe in the test below.
#[test]
fn child_that_reads_standard_input() {
    if std::env::var_os("TOUCHMOVED_TEST_STDIN").is_none() {
        return;
    }
    let (setup, source) = SensorLogSource::open(Path::new("-"), Pace::AsFastAsPossible).unwrap();
    println!("setup {}", setup.is_some());
    for (us, event) in inputs(&Running::start(source.with_setup(&GameSetup::default())).all()) {
        println!("read {us} {event:?}");
    }
}

fn child(input: Stdio) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child_that_reads_standard_input", "--nocapture"])
        .env("TOUCHMOVED_TEST_STDIN", "1")
        .stdin(input)
        .stdout(Stdio::piped());
    command
}

#[test]
fn standard_input_can_be_a_pipe_or_a_file() {
    let log = [HEADER, &occ(1, "e2", 0), "rubbish", &occ(2, "e4", 1)].join("\n");
    let mut piped = child(Stdio::piped()).spawn().unwrap();
    piped.stdin.take().unwrap().write_all(log.as_bytes()).unwrap();
    let piped = piped.wait_with_output().unwrap();
    let file = file(&[&log]);
    let from_file = child(Stdio::from(File::open(file.path()).unwrap())).output().unwrap();
    for (output, setup) in [(piped, "setup false"), (from_file, "setup true")] {
        let text = String::from_utf8(output.stdout).unwrap();
        let read: Vec<&str> = text.lines().filter(|line| line.starts_with("read ")).collect();
        assert!(text.contains(setup), "{text}");
        assert_eq!(read.len(), 3, "{text}");
        assert!(read[0].starts_with("read 1 Square") && read[2].starts_with("read 2 Square"), "{text}");
        assert!(read[1].contains("standard input") && read[1].contains("rubbish"), "{text}");
    }
}
