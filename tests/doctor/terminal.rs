//! The live view on a terminal and beside one.

use std::{
    fs::OpenOptions,
    io::{BufRead as _, BufReader, ErrorKind, Read as _},
    process::{Child, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serialport::{SerialPort as _, TTYPort};

use super::{
    Bench, RAW, START,
    board::DgtBoard,
    log,
    process::{LIMIT, program},
    sensor_log,
};

const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// A program whose output is a terminal.
struct Terminal {
    master: TTYPort,
    child: Child,
    seen: String,
}

impl Terminal {
    fn open(bench: &Bench) -> Terminal {
        let (mut master, slave) = TTYPort::pair().unwrap();
        master.set_timeout(Duration::from_millis(20)).unwrap();
        let tty = OpenOptions::new().read(true).write(true).open(slave.name().unwrap()).unwrap();
        let child = program()
            .args(["doctor", "--live", "--config", &bench.config()])
            .stdin(Stdio::null())
            .stdout(tty)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        drop(slave);
        Terminal { master, child, seen: String::new() }
    }

    /// Reads until `text` was drawn.
    fn until(&mut self, text: &str) {
        let mut buffer = [0; 4096];
        for _ in 0..LIMIT.as_millis() / 20 {
            if self.seen.contains(text) {
                return;
            }
            match self.master.read(&mut buffer) {
                Ok(n) => self.seen.push_str(&String::from_utf8_lossy(&buffer[..n])),
                Err(error) if error.kind() == ErrorKind::TimedOut => {}
                // The program has ended.
                Err(_) => break,
            }
        }
        assert!(self.seen.contains(text), "waited in vain for {text:?} in {:?}", self.seen);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_board_is_drawn_on_a_terminal_which_is_put_right_at_ctrl_c() {
    let dir = tempfile::tempdir().unwrap();
    let port = dir.path().join("dgt");
    let _board = DgtBoard::plug(&port, START, Some((5400, 300)));
    let bench = Bench::quiet(&format!("[board.sensor.dgt]\nport = {:?}", port.display().to_string()));
    let mut terminal = Terminal::open(&bench);
    terminal.until("   8 r n b q k b n r   link      up");
    terminal.until("clock     White 1:30:00, Black 0:05:00");
    terminal.until("bounce    debounced by the board");
    terminal.until("machine     ");
    assert!(terminal.seen.starts_with(ENTER), "{:?}", terminal.seen);
    assert!(!terminal.seen.contains(LEAVE));
    kill_process(Pid::from_child(&terminal.child), Signal::INT).unwrap();
    // What was seen last stays on the usual screen.
    terminal.until(LEAVE);
    terminal.until("look at     nothing");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let (_, after) = terminal.seen.split_once(LEAVE).unwrap();
    assert!(!after.contains('\x1b'), "{after:?}");
}

#[test]
fn elsewhere_the_view_is_plain_lines_until_the_recording_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let lines = [r#"{"us":0,"occupied":"fdff00000000ffff"}"#, r#"{"us":900000,"sq":"g1","occ":0}"#];
    let bench = Bench::quiet(&sensor_log(&log(dir.path(), RAW, &lines)));
    let output = bench.doctor(&["--live"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('\x1b'), "{text:?}");
    let last = text.lines().last().unwrap();
    assert!(last.contains("30 occupied, 1 edges") && last.ends_with("look at dead? b8; last g1-"), "{text}");
}

#[test]
fn the_rate_of_scans_is_told_when_it_is_known() {
    let bench = Bench::quiet("[board.sensor.matrix]\nbackend = \"simulated\"\nscan-ms = 10");
    let mut child = program()
        .args(["doctor", "--live", "--config", &bench.config()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().take(4).map(Result::unwrap).collect();
    let _ = child.kill();
    let _ = child.wait();
    assert!(lines[0].contains("no scans told"), "{lines:#?}");
    let rate = |line: &str| -> Option<u64> {
        line.split(" scans a second").next()?.rsplit(' ').next()?.parse().ok()
    };
    assert!(lines.iter().filter_map(|line| rate(line)).all(|rate| rate <= 101), "{lines:#?}");
    assert!(rate(&lines[3]).is_some(), "{lines:#?}");
}
