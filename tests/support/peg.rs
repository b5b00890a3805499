//! The reference firmware of a pegged board on a pseudo terminal.
#![allow(dead_code)]

use std::{
    fs,
    io::{ErrorKind, Read as _, Write as _},
    path::Path,
    sync::mpsc::{Receiver, Sender, channel},
    thread::JoinHandle,
    time::Duration,
};

use serialport::{SerialPort as _, TTYPort};
use touchmoved::sysclock;
use touchmoved_peg as peg;

/// The holes that are filled at the start.
pub const START: u64 = 0xffff_0000_0000_ffff;

/// The keys of the test board: every button that the manual names for a board.
const KEYS: [peg::Key<'static>; 8] = [
    peg::Key::Press(peg::Side::White),
    peg::Key::Press(peg::Side::Black),
    peg::Key::Button("jadoube-white"),
    peg::Key::Button("draw-offer-white"),
    peg::Key::Button("draw-accept-black"),
    peg::Key::Button("claim-threefold-white"),
    peg::Key::Button("assistant-status-white"),
    peg::Key::Button("resign-black"),
];

/// What the test does to its board.
enum Do {
    /// The contacts of the holes from now on.
    Holes(peg::Holes),
    /// A key is pressed and let go.
    Key(u32),
    /// Bytes are sent that are none of the board's.
    Say(Vec<u8>),
    /// The board says what is wrong with it.
    Report(peg::Fault),
}

/// The reference firmware on a pseudo terminal. Ending it is like pulling the cable.
pub struct TestBoard {
    deeds: Sender<Do>,
    thread: JoinHandle<()>,
}

impl TestBoard {
    pub fn plug(link: &Path, holes: peg::Holes) -> TestBoard {
        TestBoard::start(link, Some(holes))
    }

    /// Without holes there is no firmware: another device, which answers as it does.
    pub fn start(link: &Path, holes: Option<peg::Holes>) -> TestBoard {
        let (master, slave) = TTYPort::pair().unwrap();
        let _ = fs::remove_file(link);
        std::os::unix::fs::symlink(slave.name().unwrap(), link).unwrap();
        let (deeds, done) = channel();
        let thread = std::thread::spawn(move || {
            board_thread(master, holes, &done);
            drop(slave);
        });
        TestBoard { deeds, thread }
    }

    pub fn set(&self, filled: u64) {
        self.show(peg::Holes::of(filled));
    }

    pub fn show(&self, holes: peg::Holes) {
        self.deeds.send(Do::Holes(holes)).unwrap();
    }

    pub fn press(&self, key: u32) {
        self.deeds.send(Do::Key(key)).unwrap();
    }

    pub fn say(&self, bytes: &[u8]) {
        self.deeds.send(Do::Say(bytes.to_vec())).unwrap();
    }

    #[allow(dead_code)]
    pub fn report(&self, fault: peg::Fault) {
        self.deeds.send(Do::Report(fault)).unwrap();
    }

    pub fn unplug(self, link: &Path) {
        // The name goes with the device.
        fs::remove_file(link).unwrap();
        drop(self.deeds);
        self.thread.join().unwrap();
    }
}

fn board_thread(mut port: TTYPort, holes: Option<peg::Holes>, done: &Receiver<Do>) {
    port.set_timeout(Duration::from_millis(1)).unwrap();
    let identity = peg::Identity { firmware: "test", version: "1", serial: "T1" };
    let mut board = holes.map(|_| peg::Board::new(identity, peg::Settings::default(), &KEYS));
    let mut holes = holes.unwrap_or(peg::Holes::of(START));
    let (start, mut keys, mut held_until) = (sysclock::monotonic(), 0, 0);
    loop {
        let now = u32::try_from(sysclock::monotonic().since(start) / 1000).unwrap();
        if now >= held_until {
            keys = 0;
            // One deed at a time, and a key is held for 60 ms.
            match done.try_recv() {
                Ok(Do::Holes(new)) => (holes, held_until) = (new, now + 40),
                Ok(Do::Key(key)) => (keys, held_until) = (1 << key, now + 60),
                Ok(Do::Say(bytes)) => port.write_all(&bytes).unwrap(),
                Ok(Do::Report(fault)) => board.as_mut().unwrap().report(fault),
                Err(std::sync::mpsc::TryRecvError::Empty) => {}
                Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
            }
        }
        let mut buffer = [0; 32];
        let n = match port.read(&mut buffer) {
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::TimedOut => 0,
            Err(error) => panic!("{error}"),
        };
        let Some(board) = &mut board else {
            if n > 0 {
                port.write_all(&[0x8e, 0x00, 0x05, 0x34, 0x00].repeat(4)).unwrap();
            }
            continue;
        };
        buffer[..n].iter().for_each(|byte| board.receive(*byte));
        board.scan(now, holes, keys);
        while let Some(line) = board.next_line(now) {
            port.write_all(line.as_bytes()).unwrap();
        }
    }
}
