//! A DGT board on a pseudo terminal, and the source that reads it.
#![allow(dead_code)]

use std::{
    io::{ErrorKind, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, Sender, TryRecvError, channel, sync_channel},
    thread::JoinHandle,
    time::Duration,
};

use serialport::{SerialPort as _, TTYPort};
use shakmaty::{Chess, Piece, Position as _, Square, san::San};
use touchmoved::{
    game::Board,
    sensor::{Reading, Sink, Source, Stop, dgt::DgtSource, serial::ModemLines},
    session::{
        event::Event,
        io::Input,
        setup::{BoardKind, GameSetup},
        time::MonoTime,
    },
    wire::dgt::{
        Command, Message,
        clock::{Ack, Clock, ClockSide, ClockState},
        message::{Battery, Dump, Reading as Code, number_of, square_of},
        set_clock::{Runs, SetClock},
        storage::{self, Entry, Mark},
    },
};

/// Only a test that hangs waits for so long.
pub const LIMIT: Duration = Duration::from_secs(60);

pub const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

/// What the test tells its board.
pub enum Tell {
    /// Send these bytes as soon as the board streams; field updates in them change the position.
    Play(Vec<u8>),
    /// A hand changes a square: it is written into the memory, and told where the board streams.
    Hand(Square, Code),
    /// Change a square without a word: the update was lost.
    Change(Square, Code),
    /// Send these bytes at once, whatever the mode.
    Raw(Vec<u8>),
    /// The clock shows this now, or its cable is pulled.
    Clock(Option<ClockState>),
    /// Answer nothing from now on, or again.
    Mute(bool),
}

/// What a board saw and said.
#[derive(Default)]
pub struct Log {
    pub commands: Vec<u8>,
    pub written: Vec<u8>,
}

/// What is inside a board: it outlives its cable.
#[derive(Clone)]
pub struct Inside {
    pub position: Dump,
    pub memory: Vec<Entry>,
    pub serial: String,
    pub battery: Option<u8>,
    pub clock: Option<TestClock>,
}

/// A clock at the board.
#[derive(Clone)]
pub struct TestClock {
    pub state: ClockState,
    /// It is in its remote mode and can be set.
    pub remote: bool,
    /// So many acknowledgements get lost.
    pub lose: usize,
}

impl TestClock {
    pub fn showing(left_s: u32, right_s: u32) -> TestClock {
        TestClock { state: stopped(left_s, right_s), remote: true, lose: 0 }
    }

    fn obey(&mut self, set: SetClock) -> Ack {
        if !self.remote {
            return Ack([0x40, 0x0a, 0, 0]);
        }
        self.state = ClockState {
            running: set.runs != Runs::Neither,
            right_lever_high: set.runs == Runs::Right,
            ..stopped(set.left.seconds(), set.right.seconds())
        };
        Ack([0x10, 0x0a, 0, 0])
    }
}

/// A clock that stands still.
pub fn stopped(left_s: u32, right_s: u32) -> ClockState {
    let [left, right] = [left_s, right_s].map(|seconds| ClockSide { seconds, ..ClockSide::default() });
    ClockState { left, right, ..ClockState::default() }
}

impl Inside {
    pub fn new(fen: &str) -> Inside {
        Inside {
            position: Dump::of(&fen.parse().unwrap()),
            memory: vec![Entry::Mark(Mark::PowerUp)],
            serial: "01025".to_owned(),
            battery: None,
            clock: None,
        }
    }

    fn set(&mut self, square: Square, reading: Code) {
        self.position.0[usize::from(number_of(square))] = reading;
    }

    /// A hand changes a square.
    pub fn hand(&mut self, square: Square, reading: Code) {
        self.set(square, reading);
        self.memory.push(Entry::Field { square, reading, soon: false });
    }

    /// The clock takes an order: what the board sends then.
    fn obey(&mut self, set: SetClock) -> Vec<Vec<u8>> {
        let Some(clock) = &mut self.clock else { return Vec::new() };
        let ack = clock.obey(set);
        let said = [Clock::Ack(ack), Clock::Null, Clock::State(clock.state)];
        let lost = clock.lose > 0;
        clock.lose = clock.lose.saturating_sub(1);
        said.into_iter().skip(usize::from(lost)).map(|clock| Message::Clock(clock).encode()).collect()
    }

    /// Hands play these moves, whether somebody listens or not.
    pub fn play(&mut self, game: &mut Chess, moves: &str) {
        for (square, piece) in changes(game, moves) {
            self.hand(square, piece.map_or(Code::Empty, Code::Man));
        }
    }

    fn clock(&self) -> Clock {
        self.clock.as_ref().map_or(Clock::Absent, |clock| Clock::State(clock.state))
    }

    fn answer(&self, command: Command) -> Option<Message> {
        Some(match command {
            Command::SendBoard => Message::Board(Box::new(self.position)),
            Command::SendClock => Message::Clock(self.clock()),
            Command::Version => Message::Version(1, 2),
            Command::Serial => Message::Serial(self.serial.clone()),
            Command::Trademark => Message::Trademark("test board".to_owned()),
            Command::HardwareVersion => Message::HardwareVersion(1, 4),
            Command::Battery => {
                let percent = self.battery?;
                Message::Battery(Battery { percent, discharging: true, ..Battery::default() })
            }
            Command::StorageLog => {
                let log: Vec<Entry> = self.memory.iter().copied().chain([Entry::Mark(Mark::End)]).collect();
                Message::StorageLog(storage::encode(&log))
            }
            // An old board: no long serial number.
            _ => return None,
        })
    }
}

/// The changes of squares that the moves of a game make, lifts first.
pub fn changes(game: &mut Chess, moves: &str) -> Vec<(Square, Option<Piece>)> {
    let mut all = Vec::new();
    for san in moves.split_whitespace() {
        let mv = san.parse::<San>().unwrap().to_move(game).unwrap();
        let before = game.board().clone();
        game.play_unchecked(mv);
        let after = game.board();
        let differs = Square::ALL.into_iter().filter(|s| before.piece_at(*s) != after.piece_at(*s));
        let (left, came): (Vec<_>, Vec<_>) = differs.partition(|square| after.piece_at(*square).is_none());
        let taken = came.iter().filter(|square| before.piece_at(**square).is_some());
        all.extend(left.iter().chain(taken).map(|square| (*square, None)));
        all.extend(came.iter().map(|square| (*square, after.piece_at(*square))));
    }
    all
}

/// A board that is plugged in. Ending it is like pulling the cable.
pub struct TestBoard {
    tell: Sender<Tell>,
    thread: JoinHandle<(Log, Inside)>,
}

impl TestBoard {
    /// Plugs a new board in: `link` becomes the name of its port.
    pub fn plug(link: &Path, fen: &str) -> TestBoard {
        TestBoard::again(link, Inside::new(fen))
    }

    /// Plugs a board in that has a past.
    pub fn again(link: &Path, inside: Inside) -> TestBoard {
        let (mut master, slave) = TTYPort::pair().unwrap();
        link_to(link, &slave);
        let (tell, told) = channel();
        let link = link.to_owned();
        let thread = std::thread::spawn(move || {
            let seen = board_thread(&mut master, inside, &told);
            // As udev does; and the number of a pseudo terminal is soon given to another one.
            let _ = std::fs::remove_file(link);
            drop(slave);
            seen
        });
        TestBoard { tell, thread }
    }

    pub fn tell(&self, what: Tell) {
        self.tell.send(what).unwrap();
    }

    pub fn play(&self, bytes: &[u8]) {
        self.tell(Tell::Play(bytes.to_vec()));
    }

    /// Hands play these moves.
    pub fn moves(&self, game: &mut Chess, moves: &str) {
        for (square, piece) in changes(game, moves) {
            self.tell(Tell::Hand(square, piece.map_or(Code::Empty, Code::Man)));
        }
    }

    pub fn unplug(self) -> (Log, Inside) {
        drop(self.tell);
        self.thread.join().unwrap()
    }
}

/// Makes `link` a name of a port, at one stroke.
pub fn link_to(link: &Path, slave: &TTYPort) {
    let next = link.with_extension("next");
    let _ = std::fs::remove_file(&next);
    std::os::unix::fs::symlink(slave.name().unwrap(), &next).unwrap();
    std::fs::rename(&next, link).unwrap();
}

fn board_thread(port: &mut TTYPort, mut inside: Inside, told: &Receiver<Tell>) -> (Log, Inside) {
    port.set_timeout(Duration::from_millis(5)).unwrap();
    let (mut log, mut streams, mut mute) = (Log::default(), false, false);
    let mut plays: Vec<Vec<u8>> = Vec::new();
    let mut order: Vec<u8> = Vec::new();
    loop {
        match told.try_recv() {
            Ok(Tell::Play(bytes)) => plays.push(bytes),
            Ok(Tell::Change(square, reading)) => inside.set(square, reading),
            Ok(Tell::Mute(on)) => mute = on,
            Ok(Tell::Clock(state)) => {
                match (state, &mut inside.clock) {
                    (None, clock) => *clock = None,
                    (Some(state), Some(clock)) => clock.state = state,
                    (Some(state), clock) => {
                        *clock = Some(TestClock { state, remote: true, lose: 0 });
                    }
                }
                plays.push(Message::Clock(inside.clock()).encode());
            }
            Ok(Tell::Raw(bytes)) => port.write_all(&bytes).unwrap(),
            Ok(Tell::Hand(square, reading)) => {
                // No two moves are made within a scan of the board.
                std::thread::sleep(Duration::from_millis(5));
                inside.hand(square, reading);
                if streams && !mute {
                    plays.push(Message::Field { square, reading }.encode());
                }
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return (log, inside),
        }
        if streams {
            for bytes in plays.drain(..) {
                if let [0x8e, 0, 5, number, code] = bytes.as_slice() {
                    inside.set(square_of(*number).unwrap(), Code::from_code(*code));
                }
                log.written.extend(&bytes);
                port.write_all(&bytes).unwrap();
            }
        }
        let (mut buffer, mut singles) = ([0; 32], 0);
        let n = match port.read(&mut buffer) {
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::TimedOut => continue,
            Err(error) => panic!("{error}"),
        };
        for byte in &buffer[..n] {
            log.commands.push(*byte);
            if *byte == 0x2b || !order.is_empty() {
                order.push(*byte);
                if order.len() == SetClock::LENGTH {
                    let set = SetClock::decode(&std::mem::take(&mut order)).expect("an order to the clock");
                    plays.extend(inside.obey(set));
                }
                continue;
            }
            singles += 1;
            assert!(singles <= 10, "the input buffer of a board holds ten bytes");
            let command = Command::from_byte(*byte).expect("a known command");
            match command {
                Command::Reset => streams = false,
                Command::UpdateNice | Command::Update | Command::UpdateBoard => streams = true,
                _ => {}
            }
            if let (Some(message), false) = (inside.answer(command), mute) {
                let bytes = message.encode();
                log.written.extend(&bytes);
                port.write_all(&bytes).unwrap();
            }
        }
    }
}

/// The source, its thread and the game behind it.
pub struct Desk {
    readings: Receiver<Reading>,
    stop: Stop,
    thread: JoinHandle<()>,
    pub board: Board,
    /// The bytes exactly as the source handed them over.
    bytes: Vec<u8>,
    dir: tempfile::TempDir,
    pub link: PathBuf,
}

impl Desk {
    pub fn new(board: impl FnOnce(&Path) -> Option<TestBoard>) -> (Desk, Option<TestBoard>) {
        Desk::of(board, |link| DgtSource::new(link, ModemLines::Off))
    }

    /// A desk whose source is made of the directory's `dgt0`.
    pub fn of(
        board: impl FnOnce(&Path) -> Option<TestBoard>,
        source: impl FnOnce(&Path) -> DgtSource,
    ) -> (Desk, Option<TestBoard>) {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("dgt0");
        let plugged = board(&link);
        let (sender, readings) = sync_channel(16);
        let stop = Stop::default();
        let source = Box::new(source(&link));
        let thread = {
            let stop = stop.clone();
            std::thread::spawn(move || source.run(&Sink::new(sender), &stop).unwrap())
        };
        let setup = GameSetup { board: BoardKind::Dgt, ..GameSetup::default() };
        let mut board = Board::new(&setup).unwrap();
        board.keep_events();
        (Desk { readings, stop, thread, board, bytes: Vec::new(), dir, link }, plugged)
    }

    pub fn with(fen: &str) -> (Desk, TestBoard) {
        let (desk, board) = Desk::new(|link| Some(TestBoard::plug(link, fen)));
        (desk, board.unwrap())
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Takes readings until an event is the last one wanted; all events up to it.
    pub fn until(&mut self, last: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            while let Some(stamped) = self.board.poll_event() {
                let done = last(&stamped.event);
                events.push(stamped.event);
                if done {
                    return events;
                }
            }
            let reading =
                self.readings.recv_timeout(LIMIT).unwrap_or_else(|error| panic!("{error} after {events:#?}"));
            let Some(input) = reading.input else { continue };
            if let Input::Dgt(_, bytes) = &input {
                self.bytes.extend(bytes);
            }
            self.board.input(reading.at, &input);
        }
    }

    /// Takes readings until the source complains; the complaint.
    pub fn complaint(&mut self) -> String {
        let events = self.until(|event| error_of(event).is_some());
        error_of(events.last().unwrap()).unwrap()
    }

    pub fn end(self) -> Vec<u8> {
        self.stop.set();
        let mut bytes = self.bytes;
        while let Ok(reading) = self.readings.recv_timeout(LIMIT) {
            if let Some(Input::Dgt(_, more)) = reading.input {
                bytes.extend(more);
            }
        }
        self.thread.join().unwrap();
        bytes
    }

    /// The moves of the game so far, after every deadline.
    pub fn game(&mut self) -> String {
        self.board.advance(MonoTime::END);
        let sans: Vec<String> = self.board.session().plies().map(|ply| ply.san.to_string()).collect();
        sans.join(" ")
    }
}

/// What a source complains of.
pub fn error_of(event: &Event) -> Option<String> {
    let Event::Device(status) = event else { return None };
    Some(status.get("error")?.as_str()?.to_owned())
}

pub fn is_pieces(event: &Event) -> bool {
    matches!(event, Event::Pieces(_))
}

pub fn piece(square: Square, letter: char) -> Event {
    Event::Piece { square, piece: Piece::from_char(letter) }
}
