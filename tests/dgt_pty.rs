#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
//! The DGT source end to end: a board on a pseudo terminal that answers commands and plays what
//! real boards sent.

use std::{
    io::{ErrorKind, Read, Write},
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, Sender, channel, sync_channel},
    thread::JoinHandle,
    time::Duration,
};

use serde_json::{Value, json};
use serialport::{SerialPort, TTYPort};
use shakmaty::{Color, Piece, Square};
use touchmoved::{
    game::Board,
    sensor::{Reading, Sink, Source, Stop, dgt::DgtSource, serial::ModemLines},
    session::{
        event::{ClockReading, Event},
        io::Input,
        setup::{BoardKind, GameSetup},
    },
    wire::dgt::{
        Command, Message,
        clock::Clock,
        message::{Dump, Reading as Code, number_of, square_of},
    },
};

/// Only a test that hangs waits for so long.
const LIMIT: Duration = Duration::from_secs(60);

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

/// What the test tells its board.
enum Tell {
    /// Send these bytes as soon as the board streams; field updates in them change the position.
    Play(Vec<u8>),
    /// Change a square without a word: the update was lost.
    Change(Square, Code),
    /// Answer nothing from now on, or again.
    Mute(bool),
}

/// What a board saw and said.
#[derive(Default)]
struct Log {
    commands: Vec<u8>,
    written: Vec<u8>,
}

/// A board on a pseudo terminal. Ending it is like pulling the cable.
struct TestBoard {
    tell: Sender<Tell>,
    thread: JoinHandle<Log>,
}

impl TestBoard {
    /// Plugs a board in: `link` becomes the name of its port.
    fn plug(link: &Path, fen: &str) -> TestBoard {
        let (master, slave) = TTYPort::pair().unwrap();
        let _ = std::fs::remove_file(link);
        std::os::unix::fs::symlink(slave.name().unwrap(), link).unwrap();
        let position = Dump::of(&fen.parse().unwrap());
        let (tell, told) = channel();
        let thread = std::thread::spawn(move || {
            let log = board_thread(master, position, &told);
            drop(slave);
            log
        });
        TestBoard { tell, thread }
    }

    fn play(&self, bytes: &[u8]) {
        self.tell.send(Tell::Play(bytes.to_vec())).unwrap();
    }

    fn unplug(self) -> Log {
        drop(self.tell);
        self.thread.join().unwrap()
    }
}

fn set(position: &mut Dump, square: Square, reading: Code) {
    position.0[usize::from(number_of(square))] = reading;
}

fn board_thread(mut port: TTYPort, mut position: Dump, told: &Receiver<Tell>) -> Log {
    port.set_timeout(Duration::from_millis(5)).unwrap();
    let (mut log, mut streams, mut mute) = (Log::default(), false, false);
    let mut plays: Vec<Vec<u8>> = Vec::new();
    loop {
        match told.try_recv() {
            Ok(Tell::Play(bytes)) => plays.push(bytes),
            Ok(Tell::Change(square, reading)) => set(&mut position, square, reading),
            Ok(Tell::Mute(on)) => mute = on,
            Err(std::sync::mpsc::TryRecvError::Empty) => {}
            Err(std::sync::mpsc::TryRecvError::Disconnected) => return log,
        }
        if streams {
            for bytes in plays.drain(..) {
                if let [0x8e, 0, 5, number, code] = bytes.as_slice() {
                    set(&mut position, square_of(*number).unwrap(), Code::from_code(*code));
                }
                log.written.extend(&bytes);
                port.write_all(&bytes).unwrap();
            }
        }
        let mut buffer = [0; 32];
        let n = match port.read(&mut buffer) {
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::TimedOut => continue,
            Err(error) => panic!("{error}"),
        };
        assert!(n <= 10, "the input buffer of a board holds ten bytes");
        for byte in &buffer[..n] {
            log.commands.push(*byte);
            let answer = match Command::from_byte(*byte).expect("a known command") {
                Command::Reset => {
                    streams = false;
                    None
                }
                Command::UpdateNice => {
                    streams = true;
                    None
                }
                Command::SendBoard => Some(Message::Board(Box::new(position))),
                Command::SendClock => Some(Message::Clock(Clock::Absent)),
                Command::Version => Some(Message::Version(1, 2)),
                Command::Serial => Some(Message::Serial("01025".to_owned())),
                Command::Trademark => Some(Message::Trademark("test board".to_owned())),
                // An old board: no long serial number.
                _ => None,
            };
            if let (Some(message), false) = (answer, mute) {
                let bytes = message.encode();
                log.written.extend(&bytes);
                port.write_all(&bytes).unwrap();
            }
        }
    }
}

/// The source, its thread and the decoder behind it.
struct Desk {
    readings: Receiver<Reading>,
    stop: Stop,
    thread: JoinHandle<()>,
    board: Board,
    /// The bytes exactly as the source handed them over.
    bytes: Vec<u8>,
    _dir: tempfile::TempDir,
    link: PathBuf,
}

impl Desk {
    fn new(board: impl FnOnce(&Path) -> Option<TestBoard>) -> (Desk, Option<TestBoard>) {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("dgt0");
        let plugged = board(&link);
        let (sender, readings) = sync_channel(16);
        let stop = Stop::default();
        let source = Box::new(DgtSource::new(&link, ModemLines::Off));
        let thread = {
            let stop = stop.clone();
            std::thread::spawn(move || source.run(&Sink::new(sender), &stop).unwrap())
        };
        let setup = GameSetup { board: BoardKind::Dgt, ..GameSetup::default() };
        let mut board = Board::new(&setup).unwrap();
        board.keep_events();
        (Desk { readings, stop, thread, board, bytes: Vec::new(), _dir: dir, link }, plugged)
    }

    fn with(fen: &str) -> (Desk, TestBoard) {
        let (desk, board) = Desk::new(|link| Some(TestBoard::plug(link, fen)));
        (desk, board.unwrap())
    }

    /// Takes readings until an event is the last one wanted; all events up to it.
    fn until(&mut self, last: impl Fn(&Event) -> bool) -> Vec<Event> {
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
            if let Input::Dgt(bytes) = &input {
                self.bytes.extend(bytes);
            }
            self.board.input(reading.at, &input);
        }
    }

    fn end(self) -> Vec<u8> {
        self.stop.set();
        let mut bytes = self.bytes;
        while let Ok(reading) = self.readings.recv_timeout(LIMIT) {
            if let Some(Input::Dgt(more)) = reading.input {
                bytes.extend(more);
            }
        }
        self.thread.join().unwrap();
        bytes
    }
}

fn is_pieces(event: &Event) -> bool {
    matches!(event, Event::Pieces(_))
}

fn piece(square: Square, letter: char) -> Event {
    Event::Piece { square, piece: Piece::from_char(letter) }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn sequence(id: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string("tests/fixtures/dgt/vectors.json").unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let found = all["real_sequences"].as_array().unwrap().iter().find(|s| s["id"] == id).unwrap().clone();
    found["hex"].as_array().unwrap().iter().map(|hex| unhex(hex.as_str().unwrap())).collect()
}

/// Plays a recorded sequence on a board that shows `fen`; the events after the start.
fn played(id: &str, fen: &str) -> Vec<Event> {
    let (mut desk, board) = Desk::with(fen);
    let first = desk.until(is_pieces);
    assert!(first.contains(&Event::Link(true)), "{first:?}");
    assert_eq!(first.last(), Some(&Event::Pieces(fen.parse().unwrap())));
    for message in sequence(id) {
        board.play(&message);
    }
    // A mark behind the sequence: a square that no sequence uses.
    board.play(&Message::Field { square: Square::A1, reading: Code::from_code(0x01) }.encode());
    let mut events = desk.until(|event| *event == piece(Square::A1, 'P'));
    events.pop();
    let log = board.unplug();
    let read = desk.end();
    assert!(
        log.written.starts_with(&read),
        "the source hands the bytes over as they were sent:\n{:02x?}\n{read:02x?}",
        log.written
    );
    events.retain(|event| !matches!(event, Event::Device(_)));
    events
}

#[test]
fn castling_as_a_real_board_sent_it() {
    let fen = "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/2BQK2R";
    assert_eq!(
        played("real-castling-black", fen),
        [
            piece(Square::E8, ' '),
            piece(Square::G8, 'k'),
            Event::Times(ClockReading {
                white_ms: Some(170_000),
                black_ms: Some(172_000),
                running: Some(Color::Black),
            }),
            piece(Square::H8, ' '),
            piece(Square::F8, 'r'),
        ]
    );
}

#[test]
fn a_capture_that_drags_as_a_real_board_sent_it() {
    let times = |black_s: u64| {
        Event::Times(ClockReading {
            white_ms: Some(black_s * 1000),
            black_ms: Some(98_000),
            running: Some(Color::White),
        })
    };
    assert_eq!(
        played("real-capture-drag", "4k3/8/8/5P2/8/5q2/8/4K3"),
        [
            piece(Square::F3, ' '),
            piece(Square::F4, 'q'),
            times(96),
            piece(Square::F4, ' '),
            piece(Square::F5, 'q'),
            piece(Square::F6, 'P'),
            times(95),
            piece(Square::F6, ' '),
        ]
    );
}

#[test]
fn a_rook_that_hovers_as_a_real_board_sent_it() {
    assert_eq!(
        played("real-hover", "r5k1/8/8/8/8/8/8/6K1"),
        [piece(Square::A8, ' '), piece(Square::D8, 'r'), piece(Square::D8, ' '), piece(Square::E8, 'r'),]
    );
}

#[test]
fn the_start_is_the_recipe_and_the_board_is_named() {
    let (mut desk, board) = Desk::with(START);
    let events = desk.until(|event| *event == Event::Device(json!({"clock": "absent"})));
    for wanted in [json!({"version": "1.2"}), json!({"serial": "01025"}), json!({"trademark": "test board"})]
    {
        assert!(events.contains(&Event::Device(wanted.clone())), "{wanted} in {events:?}");
    }
    board.play(&Message::Field { square: Square::E2, reading: Code::Empty }.encode());
    desk.until(|event| *event == piece(Square::E2, ' '));
    let log = board.unplug();
    assert_eq!(log.commands[..8], [0x40, 0x4d, 0x45, 0x55, 0x47, 0x42, 0x4b, 0x41]);
    desk.end();
}

#[test]
fn a_lost_update_is_repaired_by_a_dump() {
    let (mut desk, board) = Desk::with(START);
    desk.until(is_pieces);
    // The man from e2 arrives on e4, the update of e2 lost its last byte on the way.
    board.tell.send(Tell::Change(Square::E2, Code::Empty)).unwrap();
    board.play(&[0x00, 0x13, 0x37, 0x8e, 0x00, 0x05, 0x34]);
    board.play(&Message::Field { square: Square::E4, reading: Code::from_code(1) }.encode());
    let played: shakmaty::Board = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR".parse().unwrap();
    let mut events = desk.until(is_pieces);
    while events.last() != Some(&Event::Pieces(played.clone())) {
        events.extend(desk.until(is_pieces));
    }
    assert!(events.contains(&Event::Device(json!({"what": "garbled-bytes", "n": 7}))), "{events:?}");
    assert!(events.contains(&Event::Device(json!({"what": "missed-updates", "n": 1}))), "{events:?}");
    assert!(events.contains(&piece(Square::E4, 'P')), "{events:?}");
    board.unplug();
    desk.end();
}

#[test]
fn a_board_that_is_unplugged_comes_back() {
    let (mut desk, board) = Desk::with(START);
    desk.until(is_pieces);
    // Half a message, then the cable is out.
    board.play(&[0x8e, 0x00, 0x05]);
    board.play(&Message::Field { square: Square::D2, reading: Code::Empty }.encode());
    board.play(&[0x86, 0x00, 0x43, 0x08]);
    desk.until(|event| *event == piece(Square::D2, ' '));
    board.unplug();
    desk.until(|event| *event == Event::Link(false));
    let moved = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR";
    let board = TestBoard::plug(&desk.link, moved);
    let events = desk.until(is_pieces);
    let up = events.iter().position(|event| *event == Event::Link(true)).unwrap();
    assert!(!events[up..].iter().any(|event| matches!(event, Event::Piece { .. })), "{events:?}");
    assert_eq!(events.last(), Some(&Event::Pieces(moved.parse().unwrap())));
    board.unplug();
    desk.end();
}

#[test]
fn a_board_that_is_plugged_in_later_is_found() {
    let (mut desk, none) = Desk::new(|_| None);
    assert!(none.is_none());
    assert_eq!(desk.until(|_| true), [Event::Link(false)]);
    let board = TestBoard::plug(&desk.link, START);
    let events = desk.until(is_pieces);
    assert!(events.contains(&Event::Link(true)), "{events:?}");
    board.unplug();
    desk.end();
}

#[test]
fn a_board_that_falls_silent_is_down_until_it_answers() {
    let (mut desk, board) = Desk::with(START);
    desk.until(is_pieces);
    board.tell.send(Tell::Mute(true)).unwrap();
    desk.until(|event| *event == Event::Link(false));
    board.tell.send(Tell::Mute(false)).unwrap();
    let events = desk.until(is_pieces);
    assert!(events.contains(&Event::Link(true)), "{events:?}");
    board.unplug();
    desk.end();
}
