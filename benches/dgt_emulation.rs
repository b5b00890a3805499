//! From a square that changes to the field update at a program that reads the board as a DGT board, through the
//! whole daemon, beside five bytes through a bare pseudo terminal.
//!
//! `cargo bench --bench dgt_emulation`; without cargo's `--bench`, or with `--test`, a few rounds only, and
//! nothing is worth quoting.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rustix::{
    fs::{CWD, Mode, OFlags, mkfifoat},
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};
use touchmoved::sysclock;

/// Time from one change to the next.
const PACE: Duration = Duration::from_millis(20);

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let has = |word: &str| args.iter().any(|arg| arg == word);
    let rounds = if has("--bench") && !has("--test") { 1000 } else { 10 };
    let bare = show("five bytes through a pseudo terminal", terminal(rounds), None);
    show("square in a sensor log to field update", daemon(rounds), Some(bare));
    show("five bytes through a pseudo terminal again", terminal(rounds), Some(bare));
}

/// Prints median, 99th percentile and the ratio of the medians; gives the median.
fn show(what: &str, mut us: Vec<u64>, beside: Option<u64>) -> u64 {
    us.sort_unstable();
    let at = |percent: usize| us[(us.len() * percent / 100).min(us.len() - 1)];
    let ratio = beside.map(|bare| format!(", {:.1} times the bare one", at(50) as f64 / bare.max(1) as f64));
    println!("{what:<44} median {:>6} us, p99 {:>6} us{}", at(50), at(99), ratio.unwrap_or_default());
    at(50)
}

fn terminal(rounds: usize) -> Vec<u64> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let mut end = open(Path::new(name.to_str().unwrap()));
    let mut settings = tcgetattr(&end).unwrap();
    settings.make_raw();
    tcsetattr(&end, OptionalActions::Now, &settings).unwrap();
    let mut master = File::from(master);
    exchange(rounds, &mut end, |_| master.write_all(&[0x8e, 0, 5, 0, 0]).unwrap())
}

fn open(path: &Path) -> File {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).unwrap().into()
}

/// Microseconds from each `write` to the five bytes that follow it.
fn exchange(rounds: usize, end: &mut File, mut write: impl FnMut(usize)) -> Vec<u64> {
    let mut end = end.try_clone().unwrap();
    let reader = thread::spawn(move || {
        let mut arrived = Vec::new();
        for _ in 0..rounds {
            end.read_exact(&mut [0; 5]).unwrap();
            arrived.push(sysclock::monotonic());
        }
        arrived
    });
    let mut written = Vec::new();
    for round in 0..rounds {
        thread::sleep(PACE);
        written.push(sysclock::monotonic());
        write(round);
    }
    reader.join().unwrap().into_iter().zip(written).map(|(arrived, written)| arrived.since(written)).collect()
}

fn daemon(rounds: usize) -> Vec<u64> {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("sensors");
    mkfifoat(CWD, &pipe, Mode::RWXU).unwrap();
    let config = dir.path().join("touchmoved.toml");
    let text = "data.dir = \"data\"\nhttp.listen = \"127.0.0.1:0\"\nlivechess.listen = \"127.0.0.1:0\"\n\
                dgt-emulation.dir = \"run\"\n[[board]]\nid = \"1\"\nsensor.sensor-log.path = \"sensors\"\n";
    std::fs::write(&config, text).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_touchmoved"))
        .args(["run", "--config"])
        .arg(&config)
        .env_remove("NOTIFY_SOCKET")
        .env_remove("JOURNAL_STREAM")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = File::options().write(true).open(&pipe).unwrap();
    // The first stamp is a little ahead of its time and the others are not: no line is held back.
    let now = || sysclock::monotonic().as_micros();
    writeln!(log, "{{\"us\":{},\"tick\":true}}", now() + 5_000).unwrap();
    wait_until_ready(&mut child);
    let mut end = open(&dir.path().join("run/dgt"));
    end.write_all(&[0x42, 0x44]).unwrap();
    end.read_exact(&mut [0; 67]).unwrap();
    // Each man in turn is lifted and put back: one that is lifted again and again would be a sick contact.
    let taken = exchange(rounds, &mut end, |round| {
        let (man, occupied) = (round / 2 % 32, round % 2);
        let rank = [1, 2, 7, 8][man / 8];
        let file = char::from(b"abcdefgh"[man % 8]);
        let line = format!("{{\"us\":{},\"sq\":\"{file}{rank}\",\"occ\":{occupied}}}\n", now());
        log.write_all(line.as_bytes()).unwrap();
    });
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    child.wait().unwrap();
    taken
}

fn wait_until_ready(child: &mut Child) {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("ready, ")), "the daemon does not start");
    thread::spawn(move || lines.for_each(drop));
}
