//! A program that reads a board through the DGT protocol, and the daemon that plays the board.
#![allow(dead_code)]

use std::{
    fs::File,
    io::{ErrorKind, Read as _, Write as _},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_setfl},
};
use tempfile::TempDir;
use touchmoved::{
    session::time::MonoTime,
    wire::dgt::{Framed, Framer, Message},
};

/// Only a test that hangs waits for so long.
const LIMIT_MS: u64 = 60_000;

pub const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

/// Writes a configuration of a board that is a FIFO, `sensors`; `rest` goes behind it.
pub fn config(dir: &TempDir, rest: &str) -> PathBuf {
    let pipe = dir.path().join("sensors");
    if !pipe.exists() {
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    }
    let path = dir.path().join("touchmoved.toml");
    let text = format!(
        "data.dir = \"data\"\nhttp.listen = \"127.0.0.1:0\"\nlivechess.listen = \"127.0.0.1:0\"\n\
         dgt-emulation.dir = \"run\"\n[[board]]\nid = \"1\"\n[board.sensor.sensor-log]\npath = \"sensors\"\n\
         pace = \"as-fast-as-possible\"\n{rest}"
    );
    std::fs::write(&path, text).unwrap();
    path
}

/// The sensors of the board.
pub struct Sensors {
    out: File,
    us: u64,
}

impl Sensors {
    /// Opens the FIFO and tells the header.
    pub fn open(dir: &TempDir) -> Sensors {
        let out = File::options().write(true).open(dir.path().join("sensors")).unwrap();
        let mut sensors = Sensors { out, us: 0 };
        sensors.line(r#"{"sensor_log":1,"board":"reed","variant":"standard"}"#);
        sensors.tell(r#""occupied":"ffff00000000ffff""#);
        sensors
    }

    fn line(&mut self, line: &str) {
        self.out.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Tells of something half a second after the last.
    pub fn tell(&mut self, what: &str) {
        self.us += 500_000;
        let line = format!("{{\"us\":{},{what}}}", self.us);
        self.line(&line);
    }

    pub fn lift(&mut self, square: &str) {
        self.tell(&format!("\"sq\":\"{square}\",\"occ\":0"));
    }

    pub fn place(&mut self, square: &str) {
        self.tell(&format!("\"sq\":\"{square}\",\"occ\":1"));
    }

    pub fn times(&mut self, white_ms: u64, black_ms: u64, running: &str) {
        self.tell(&format!(
            "\"times\":{{\"white_ms\":{white_ms},\"black_ms\":{black_ms},\"running\":{running}}}"
        ));
    }
}

/// A program at the port.
pub struct Program {
    port: File,
    framer: Framer,
    got: Vec<(u8, Vec<u8>)>,
}

impl Program {
    /// Opens the port as programs without a library do. Whoever has it already keeps it.
    pub fn open(path: &Path) -> Program {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        Program::over(rustix::fs::open(path, flags, rustix::fs::Mode::empty()).unwrap().into())
    }

    pub fn over(port: File) -> Program {
        fcntl_setfl(&port, OFlags::NONBLOCK).unwrap();
        Program { port, framer: Framer::new(), got: Vec::new() }
    }

    pub fn port(&self) -> &File {
        &self.port
    }

    pub fn say(&mut self, bytes: &[u8]) {
        for byte in bytes {
            while let Err(error) = self.port.write_all(&[*byte]) {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    fn read(&mut self) {
        let wait = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        poll(&mut [PollFd::new(&self.port, PollFlags::IN)], Some(&wait)).unwrap();
        let mut buffer = [0; 4096];
        let n = match self.port.read(&mut buffer) {
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => panic!("{error}"),
        };
        let mut out = Vec::new();
        self.framer.push(MonoTime::ZERO, &buffer[..n], &mut out);
        for framed in out {
            match framed {
                Framed::Frame { id, payload } => self.got.push((id, payload)),
                Framed::Dropped(n) => panic!("{n} bytes are no message"),
            }
        }
    }

    /// The next message.
    pub fn next(&mut self) -> Message {
        for _ in 0..LIMIT_MS / 10 {
            if !self.got.is_empty() {
                let (id, payload) = self.got.remove(0);
                return Message::decode(id, &payload);
            }
            self.read();
        }
        panic!("nothing came");
    }

    /// The next message that is none of the clock.
    pub fn next_but_clock(&mut self) -> Message {
        loop {
            match self.next() {
                Message::Clock(_) => {}
                other => return other,
            }
        }
    }

    /// The ids of the next messages.
    pub fn ids(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next().encode()[0]).collect()
    }

    /// The ids of the next messages, as many as are wanted. A clock that is told regularly may come in between.
    pub fn answers(&mut self, wanted: &[u8]) -> Vec<u8> {
        let mut ids = Vec::new();
        while let Some(next) = wanted.get(ids.len()) {
            let id = self.next().encode()[0];
            if id == *next || id != 0x8d {
                ids.push(id);
            }
        }
        ids
    }

    /// What it asks for and gets: the placement.
    pub fn dump(&mut self) -> String {
        self.say(&[0x42]);
        loop {
            if let Message::Board(dump) = self.next() {
                return dump.placement().to_string();
            }
        }
    }

    /// Asks until the board shows this.
    pub fn until_shown(&mut self, placement: &str) {
        for _ in 0..LIMIT_MS / 10 {
            if self.dump() == placement {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("{placement} is not shown");
    }

    /// True while nothing comes for a while.
    pub fn is_silent(&mut self) -> bool {
        for _ in 0..10 {
            self.read();
        }
        self.got.iter().all(|(id, _)| *id == 0x8d) && self.framer.pending() == 0
    }
}
