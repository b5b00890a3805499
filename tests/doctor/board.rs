//! A DGT board on a pseudo terminal that answers what it is asked.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use serialport::{SerialPort as _, TTYPort};
use touchmoved::wire::dgt::{
    Command, Message,
    clock::{Clock, ClockSide, ClockState},
    message::Dump,
};

/// A board; pulling it is like pulling the cable.
pub struct DgtBoard {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl DgtBoard {
    /// Plugs a board in: `link` becomes the name of its port. `clock` are the seconds of its left and its right
    /// side, which stand; without it no clock is connected.
    pub fn plug(link: &Path, fen: &str, clock: Option<(u32, u32)>) -> DgtBoard {
        let dump = Dump::of(&fen.parse().unwrap());
        let clock = clock.map_or(Clock::Absent, |(left, right)| standing(left, right));
        DgtBoard::with(link, move |command| {
            Some(match command {
                Command::SendBoard => Message::Board(Box::new(dump)),
                Command::SendClock => Message::Clock(clock),
                Command::Version => Message::Version(1, 2),
                Command::Serial => Message::Serial("01025".to_owned()),
                Command::LongSerial => Message::LongSerial("0001025000".to_owned()),
                Command::Trademark => Message::Trademark("test board".to_owned()),
                _ => return None,
            })
        })
    }

    /// A port behind which nobody answers.
    pub fn silent(link: &Path) -> DgtBoard {
        DgtBoard::with(link, |_| None)
    }

    fn with(link: &Path, answer: impl Fn(Command) -> Option<Message> + Send + 'static) -> DgtBoard {
        let (mut master, slave) = TTYPort::pair().unwrap();
        let _ = std::fs::remove_file(link);
        std::os::unix::fs::symlink(slave.name().unwrap(), link).unwrap();
        // The program opens the other end itself, for itself alone.
        drop(slave);
        let end = Arc::new(AtomicBool::new(false));
        let ending = end.clone();
        let thread = std::thread::spawn(move || {
            master.set_timeout(Duration::from_millis(5)).unwrap();
            let mut buffer = [0; 32];
            while !ending.load(Ordering::Relaxed) {
                match master.read(&mut buffer) {
                    Ok(n) => {
                        for byte in &buffer[..n] {
                            if let Some(message) = Command::from_byte(*byte).and_then(&answer) {
                                let _ = master.write_all(&message.encode());
                            }
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::TimedOut => {}
                    // Nobody has the other end open just now.
                    Err(_) => std::thread::sleep(Duration::from_millis(5)),
                }
            }
        });
        DgtBoard { end, thread: Some(thread) }
    }

    /// Pulls the cable.
    pub fn unplug(mut self) {
        self.pull();
    }

    fn pull(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for DgtBoard {
    fn drop(&mut self) {
        self.pull();
    }
}

fn standing(left: u32, right: u32) -> Clock {
    let side = |seconds| ClockSide { seconds, ..ClockSide::default() };
    Clock::State(ClockState { left: side(left), right: side(right), ..ClockState::default() })
}
