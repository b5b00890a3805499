//! The board that is played on: a DGT board on a pseudo terminal, or a sensor log.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    os::unix::fs::symlink,
    path::Path,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use serialport::{SerialPort as _, TTYPort};
use touchmoved::{
    session::time::MonoTime,
    sysclock,
    wire::dgt::{
        Command, Message,
        clock::{Clock, ClockSide, ClockState},
        message::{Dump, Reading, number_of},
    },
};

use crate::game::Deed;

/// A DGT board with a running clock. It answers in a thread of its own.
pub struct Board {
    state: Arc<Mutex<State>>,
    port: Mutex<TTYPort>,
    streams: Receiver<()>,
    _slave: TTYPort,
}

struct State {
    men: Dump,
    clock: ClockState,
}

impl Board {
    /// Plugs a board in: `link` becomes the name of its port.
    pub fn plug(link: &Path, men: &shakmaty::Board) -> Board {
        let (master, slave) = TTYPort::pair().unwrap();
        symlink(slave.name().unwrap(), link).unwrap();
        let side = ClockSide { seconds: 5400, per_move: true, ..ClockSide::default() };
        let clock = ClockState { left: side, right: side, running: true, ..ClockState::default() };
        let state = Arc::new(Mutex::new(State { men: Dump::of(men), clock }));
        let port = Mutex::new(master.try_clone_native().unwrap());
        let (sender, streams) = channel();
        let answering = Arc::clone(&state);
        thread::spawn(move || answer(master, &answering, &sender));
        Board { state, port, streams, _slave: slave }
    }

    pub fn wait_until_it_streams(&self) {
        self.streams.recv_timeout(Duration::from_secs(60)).expect("the daemon asks for updates");
    }

    /// Tells of a deed; the time just before the bytes are written.
    pub fn write(&self, deed: &Deed) -> MonoTime {
        let mut state = self.state.lock().unwrap();
        let message = match deed {
            Deed::Square { square, piece, .. } => {
                let reading = piece.map_or(Reading::Empty, Reading::Man);
                state.men.0[usize::from(number_of(*square))] = reading;
                Message::Field { square: *square, reading }
            }
            Deed::Press { .. } => {
                // The lever is high on the right while Black, who sits there, is on the move.
                state.clock.right_lever_high = !state.clock.right_lever_high;
                // The clock gives the time for the move: so the press is believed with its first message.
                let pressed = match state.clock.right_lever_high {
                    true => &mut state.clock.left,
                    false => &mut state.clock.right,
                };
                pressed.seconds += 30;
                Message::Clock(Clock::State(state.clock))
            }
        };
        let bytes = message.encode();
        let mut port = self.port.lock().unwrap();
        let at = sysclock::monotonic();
        port.write_all(&bytes).unwrap();
        at
    }
}

/// Answers commands until the daemon closes its end.
fn answer(mut port: TTYPort, state: &Mutex<State>, streams: &Sender<()>) {
    port.set_timeout(Duration::from_secs(1)).unwrap();
    let mut buffer = [0; 16];
    loop {
        let commands = match port.read(&mut buffer) {
            Ok(n) if n > 0 => &buffer[..n],
            Err(error) if error.kind() == ErrorKind::TimedOut => continue,
            _ => return,
        };
        for byte in commands {
            let state = state.lock().unwrap();
            let message = match Command::from_byte(*byte) {
                Some(Command::SendBoard) => Message::Board(Box::new(state.men)),
                Some(Command::SendClock) => Message::Clock(Clock::State(state.clock)),
                Some(Command::Version) => Message::Version(1, 8),
                Some(Command::Serial) => Message::Serial("03000".to_owned()),
                Some(Command::LongSerial) => Message::LongSerial("0000003000".to_owned()),
                Some(Command::Trademark) => Message::Trademark("emulated board".to_owned()),
                Some(Command::UpdateNice) => {
                    let _ = streams.send(());
                    continue;
                }
                _ => continue,
            };
            port.write_all(&message.encode()).unwrap();
        }
    }
}

/// The same deeds as lines of a sensor log.
pub mod fifo {
    use std::{fs::File, io::Write as _, path::Path};

    use touchmoved::{session::time::MonoTime, sysclock};

    use crate::game::Deed;

    /// The first stamp is ahead of its time by this much, and the others are not: their lines are due
    /// when they come, and the daemon does not hold them back.
    const AHEAD_US: u64 = 5_000;

    pub struct Log {
        out: File,
    }

    impl Log {
        pub fn open(path: &Path) -> Log {
            let mut log = Log { out: File::options().write(true).open(path).unwrap() };
            let us = sysclock::monotonic().plus_micros(AHEAD_US).as_micros();
            log.line(&format!("{{\"us\":{us},\"tick\":true}}\n"));
            log
        }

        fn line(&mut self, line: &str) {
            self.out.write_all(line.as_bytes()).unwrap();
        }

        /// Writes the line of a deed; the time just before.
        pub fn write(&mut self, deed: &Deed) -> MonoTime {
            let what = match deed {
                Deed::Square { square, piece, .. } => {
                    format!("\"sq\":\"{square}\",\"occ\":{}", u8::from(piece.is_some()))
                }
                Deed::Press { ply } => {
                    format!("\"clock\":\"{}\"", if ply % 2 == 1 { "white" } else { "black" })
                }
            };
            let at = sysclock::monotonic();
            self.line(&format!("{{\"us\":{},{what}}}\n", at.as_micros()));
            at
        }
    }
}
