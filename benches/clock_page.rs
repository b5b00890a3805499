//! From a press to the frame of the clock page, through the whole daemon on loopback: the program is the clock, presses
//! are written into a FIFO in real time, and one client hangs on the stream that the page reads.
//!
//! `cargo bench --bench clock_page`; `-- --presses N` presses N times. Without cargo's `--bench`, or with `--test`,
//! only a few presses are made and nothing is worth quoting.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "latency/daemon.rs"]
#[allow(dead_code)]
mod daemon;
#[path = "latency/floor.rs"]
mod floor;
#[path = "latency/stats.rs"]
mod stats;

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::Value;
use touchmoved::{session::time::MonoTime, sysclock};

use daemon::Daemon;
use stats::Sample;

/// Time from one press to the next. Longer than any latency, so that a frame belongs to one press.
const PACE: Duration = Duration::from_millis(20);
/// How long the daemon has to become quiet after a start, and frames to arrive at the end.
const QUIET: Duration = Duration::from_millis(600);
/// The first stamp is ahead of its time by this much, so that later lines are due when they come.
const AHEAD_US: u64 = 5_000;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let has = |word: &str| args.iter().any(|arg| arg == word);
    let wanted = args.iter().position(|arg| arg == "--presses").and_then(|at| args.get(at + 1));
    let presses = match has("--bench") && !has("--test") {
        true => wanted.map_or(2000, |text| text.parse().expect("--presses wants a number")),
        false => 10,
    };
    println!("load average {}", fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let bare = floor::pty_and_tcp(presses.min(400), PACE).show("floor: pty, thread, TCP loopback", None);
    floor::fdatasync(disk, presses.min(400), PACE).show("floor: fdatasync after an append", None);
    press(disk, presses).show("press to frame of the clock page", Some(bare));
}

/// Presses in turn, and each with the frame that shows the other side running.
fn press(place: &Path, presses: usize) -> Sample {
    let dir = tempfile::tempdir_in(place).unwrap();
    let path = dir.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    let board = "sensor-log = { path = \"fifo\" }\ntime-control = \"7200+30\"\nclock.kind = \"own\"";
    let mut daemon = Daemon::start(dir.path(), board);
    let mut log = File::options().write(true).open(&path).unwrap();
    let us = sysclock::monotonic().plus_micros(AHEAD_US).as_micros();
    writeln!(log, "{{\"us\":{us},\"tick\":true}}").unwrap();
    thread::sleep(QUIET);
    let frames = frames(daemon.http());
    thread::sleep(QUIET);
    let mut written = Vec::new();
    for side in ["black", "white"].into_iter().cycle().take(presses) {
        thread::sleep(PACE);
        let at = sysclock::monotonic();
        writeln!(log, "{{\"us\":{},\"clock\":\"{side}\"}}", at.as_micros()).unwrap();
        written.push((at, if side == "black" { "white" } else { "black" }));
    }
    thread::sleep(QUIET);
    daemon.end();
    let frames = frames.join().unwrap();
    let mut sample = Sample::default();
    for (index, (at, running)) in written.iter().enumerate() {
        let next = written.get(index + 1).map_or(MonoTime::END, |(next, _)| *next);
        match frames.iter().find(|(seen, side)| seen >= at && *seen < next && side == running) {
            Some((seen, _)) => sample.add(seen.since(*at)),
            None => sample.miss(),
        }
    }
    sample
}

/// Whose clock each frame shows running, with the time at which it came, until the daemon ends.
fn frames(address: SocketAddr) -> JoinHandle<Vec<(MonoTime, String)>> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /api/clocks/1/events HTTP/1.1\r\nHost: clock\r\n\r\n").unwrap();
    thread::spawn(move || {
        let mut frames = Vec::new();
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let at = sysclock::monotonic();
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let Ok(face) = serde_json::from_str::<Value>(data) else { continue };
            frames.push((at, face["running"].as_str().unwrap_or_default().to_owned()));
        }
        frames
    })
}
