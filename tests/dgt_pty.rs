#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
//! The DGT source end to end: a board on a pseudo terminal that answers commands and plays what
//! real boards sent.

#[path = "support/dgt.rs"]
mod dgt;

use dgt::{Desk, Inside, START, Tell, TestBoard, is_pieces, link_to, piece};
use serde_json::{Value, json};
use serialport::TTYPort;
use shakmaty::{Chess, Color, Square};
use touchmoved::{
    sensor::{
        dgt::{DgtSource, policy::Updates},
        serial::{
            Framing, ModemLines, PortSettings, SerialLink,
            place::{PortName, Roots},
        },
    },
    session::event::{ClockReading, Event, Unit},
    wire::dgt::{
        Message,
        message::Reading as Code,
        storage::{Entry, Mark},
    },
};

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
    let (log, _) = board.unplug();
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
    let events = desk.until(|event| *event == Event::Device(json!({"trademark": "test board"})));
    for wanted in [json!({"version": "1.2"}), json!({"serial": "01025"}), json!({"trademark": "test board"})]
    {
        assert!(events.contains(&Event::Device(wanted.clone())), "{wanted} in {events:?}");
    }
    board.play(&Message::Field { square: Square::E2, reading: Code::Empty }.encode());
    desk.until(|event| *event == piece(Square::E2, ' '));
    let (log, _) = board.unplug();
    assert_eq!(log.commands[..10], [0x40, 0x42, 0x4b, 0x41, 0x42, 0x4d, 0x45, 0x45, 0x55, 0x47]);
    desk.end();
}

#[test]
fn a_lost_update_is_repaired_by_a_dump() {
    let (mut desk, board) = Desk::with(START);
    desk.until(is_pieces);
    // The man from e2 arrives on e4, the update of e2 lost its last byte on the way.
    board.tell(Tell::Change(Square::E2, Code::Empty));
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
    let complaint = desk.complaint();
    assert!(complaint.contains("no such device") && complaint.contains("by-id"), "{complaint}");
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
    board.tell(Tell::Mute(true));
    desk.until(|event| *event == Event::Link(false));
    board.tell(Tell::Mute(false));
    let events = desk.until(is_pieces);
    assert!(events.contains(&Event::Link(true)), "{events:?}");
    board.unplug();
    desk.end();
}

/// Whether an event is a dump of this position.
fn shows(fen: &str) -> impl Fn(&Event) -> bool {
    let wanted = Event::Pieces(fen.parse().unwrap());
    move |event| *event == wanted
}

/// Whether an event notes that the board's memory was read.
fn is_memory(event: &Event) -> bool {
    matches!(event, Event::Device(status) if status["what"] == "storage-log")
}

#[test]
fn moves_that_were_made_while_the_cable_was_out_come_from_the_memory_of_the_board() {
    let (mut desk, board) = Desk::with(START);
    desk.until(is_pieces);
    let mut game = Chess::default();
    board.moves(&mut game, "e4 e5 Nf3 Nc6 Bb5 a6");
    desk.until(|event| *event == piece(Square::A6, 'p'));
    let (_, mut inside) = board.unplug();
    desk.until(|event| *event == Event::Link(false));
    // Black, at the right of the clock, pressed when nobody listened any more.
    inside.memory.push(Entry::Pressed { right: true, seconds: 3000 });
    inside.play(&mut game, "Ba4 Nf6 O-O Be7 Re1 b5 Bb3");
    let board = TestBoard::again(&desk.link, inside);
    let events = desk.until(|event| *event == Event::Link(true));
    assert!(!events.iter().any(is_pieces));
    let events = desk.until(is_memory);
    assert_eq!(events.iter().filter(|event| is_pieces(event)).count(), 1, "the full report comes first");
    let told = events.last().unwrap();
    assert_eq!(*told, Event::Device(json!({"what": "storage-log", "n": 61, "recalled": 17})));
    board.moves(&mut game, "d6 c3");
    desk.until(|event| *event == piece(Square::C3, 'P'));
    assert_eq!(desk.game(), "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3");
    let (log, _) = board.unplug();
    assert_eq!(log.commands.iter().filter(|byte| **byte == 0x49).count(), 1);
    desk.end();
}

#[test]
fn a_board_that_lost_its_power_tells_nothing_of_the_time_without_it() {
    let (mut desk, board) = Desk::with(START);
    desk.until(is_pieces);
    let mut game = Chess::default();
    board.moves(&mut game, "e4 e5");
    desk.until(|event| *event == piece(Square::E5, 'p'));
    let (_, mut inside) = board.unplug();
    let noted = inside.memory.len();
    inside.play(&mut game, "Nf3 Nc6 Bb5 a6");
    // The moves were made without power: what is written are the men that stood there afterwards.
    inside.memory.truncate(noted);
    inside.memory.push(Entry::Mark(Mark::PowerUp));
    for (square, reading) in inside.position.squares().filter(|(_, reading)| *reading != Code::Empty) {
        inside.memory.push(Entry::Field { square, reading, soon: true });
    }
    let board = TestBoard::again(&desk.link, inside);
    let events = desk.until(is_memory);
    let Some(Event::Device(told)) = events.last() else { panic!("{events:?}") };
    assert_eq!(told["unused"], "no-fit");
    board.unplug();
    desk.end();
}

#[test]
fn one_move_in_a_gap_needs_no_memory() {
    let (mut desk, board) = Desk::with(START);
    desk.until(is_pieces);
    let (_, mut inside) = board.unplug();
    let mut game = Chess::default();
    inside.play(&mut game, "e4");
    let board = TestBoard::again(&desk.link, inside);
    desk.until(is_pieces);
    board.moves(&mut game, "e5 Nf3");
    desk.until(|event| *event == piece(Square::F3, 'N'));
    assert_eq!(desk.game(), "e4 e5 Nf3");
    let (log, _) = board.unplug();
    assert!(!log.commands.contains(&0x49), "{:02x?}", log.commands);
    desk.end();
}

#[test]
fn a_board_that_lies_turned_is_recalled_as_it_is_played() {
    let turned = "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr";
    let (mut desk, board) = Desk::with(turned);
    assert!(shows(START)(desk.until(is_pieces).last().unwrap()));
    let (_, mut inside) = board.unplug();
    let mut game = Chess::default();
    for (square, piece) in dgt::changes(&mut game, "e4 e5 Nf3 Nc6") {
        inside.hand(square.rotate_180(), piece.map_or(Code::Empty, Code::Man));
    }
    let board = TestBoard::again(&desk.link, inside);
    desk.until(is_memory);
    for (square, piece) in dgt::changes(&mut game, "Bb5") {
        board.tell(Tell::Hand(square.rotate_180(), piece.map_or(Code::Empty, Code::Man)));
    }
    desk.until(|event| *event == piece(Square::B5, 'B'));
    assert_eq!(desk.game(), "e4 e5 Nf3 Nc6 Bb5");
    board.unplug();
    desk.end();
}

/// A system of its own, in which `name` is an adapter with this serial number.
fn adapter(dir: &std::path::Path, name: &str, serial: &str) {
    let usb = dir.join("devices").join(serial);
    let port = usb.join("1.0").join(name);
    std::fs::create_dir_all(&port).unwrap();
    std::fs::write(usb.join("idVendor"), "0403\n").unwrap();
    std::fs::write(usb.join("serial"), format!("{serial}\n")).unwrap();
    std::fs::create_dir_all(dir.join("class").join(name)).unwrap();
    std::os::unix::fs::symlink(&port, dir.join("class").join(name).join("device")).unwrap();
}

#[test]
fn a_board_comes_back_under_another_name() {
    let (mut desk, none) = Desk::of(
        |_| None,
        |link| {
            let dir = link.parent().unwrap();
            let roots = Roots { terminals: dir.join("class"), devices: dir.to_owned() };
            DgtSource::at(PortName::UsbSerial("21001".into()), ModemLines::Leave).with_roots(roots)
        },
    );
    assert!(none.is_none());
    let complaint = desk.complaint();
    assert!(complaint.contains("21001"), "{complaint}");
    let dir = desk.dir().to_owned();
    let other = TestBoard::plug(&dir.join("ttyUSB0"), "8/8/8/8/8/8/8/K6k");
    adapter(&dir, "ttyUSB0", "99999");
    let board = TestBoard::plug(&dir.join("ttyUSB1"), START);
    adapter(&dir, "ttyUSB1", "21001");
    assert!(shows(START)(desk.until(is_pieces).last().unwrap()));
    let (_, inside) = board.unplug();
    std::fs::remove_dir_all(dir.join("class/ttyUSB1")).unwrap();
    desk.until(|event| *event == Event::Link(false));
    let board = TestBoard::again(&dir.join("ttyUSB2"), inside);
    adapter(&dir, "ttyUSB2", "21001");
    let events = desk.until(is_pieces);
    let back = events.iter().find_map(|event| match event {
        Event::Device(status) if status.get("gap_ms").is_some() => Some(status.clone()),
        _ => None,
    });
    let back = back.unwrap();
    // The device itself, not the link that leads to it.
    let device = std::fs::canonicalize(dir.join("ttyUSB2")).unwrap();
    assert!(back["gap_ms"].is_u64() && back["path"] == device.to_str().unwrap(), "{back}");
    for board in [board, other] {
        board.unplug();
    }
    desk.end();
}

#[test]
fn a_port_that_another_program_has_is_taken_when_it_is_free() {
    let mut holder = None;
    let (mut desk, board) = Desk::new(|link| {
        let board = TestBoard::plug(link, START);
        let settings = PortSettings {
            path: link.to_owned(),
            baud: 9600,
            framing: Framing::EightNone,
            lines: ModemLines::Leave,
        };
        holder = Some(SerialLink::open(&settings).unwrap());
        Some(board)
    });
    let complaint = desk.complaint();
    assert!(complaint.contains("sudo fuser -v"), "{complaint}");
    drop(holder);
    desk.until(is_pieces);
    board.unwrap().unplug();
    desk.end();
}

#[test]
fn another_device_is_told_from_a_board() {
    let (mut desk, _) = Desk::new(|_| None);
    desk.complaint();
    let (mut master, slave) = TTYPort::pair().unwrap();
    link_to(&desk.link, &slave);
    let (sender, ended) = std::sync::mpsc::channel::<()>();
    let other = std::thread::spawn(move || {
        use std::io::Write as _;
        // It speaks by itself, several times a second.
        while ended.try_recv().is_err() {
            let _ = master.write_all(b"$GPGGA,120000.00,,,,,0,00,,,M,,M,,*66\r\n");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    });
    let complaint = desk.complaint();
    assert!(complaint.contains("no DGT board") && complaint.contains("by-id"), "{complaint}");
    sender.send(()).unwrap();
    other.join().unwrap();
    std::fs::remove_file(&desk.link).unwrap();
    drop(slave);
    let board = TestBoard::plug(&desk.link, START);
    let events = desk.until(is_pieces);
    assert!(events.contains(&Event::Link(true)), "{events:?}");
    board.unplug();
    desk.end();
}

#[test]
fn a_device_that_says_nothing_is_told_so_and_used_when_it_wakes() {
    let (mut desk, board) = Desk::new(|link| {
        let board = TestBoard::plug(link, START);
        board.tell(Tell::Mute(true));
        Some(board)
    });
    assert_eq!(desk.until(|_| true), [Event::Link(false)]);
    let complaint = desk.complaint();
    assert!(complaint.contains("no answer") && complaint.contains("switched on"), "{complaint}");
    let board = board.unwrap();
    board.tell(Tell::Mute(false));
    desk.until(is_pieces);
    board.unplug();
    desk.end();
}

#[test]
fn two_boards_on_one_cable_are_refused_with_their_numbers() {
    let (mut desk, board) = Desk::with(START);
    desk.until(|event| matches!(event, Event::Device(status) if status.get("serial").is_some()));
    // The other board answers the same requests, one after the other.
    for _ in 0..3 {
        board.tell(Tell::Raw(Message::Serial("01026".to_owned()).encode()));
    }
    let complaint = desk.complaint();
    assert!(complaint.contains("01025 and 01026") && complaint.contains("a port of its own"), "{complaint}");
    board.unplug();
    desk.end();
}

#[test]
fn the_board_tells_its_number_and_its_battery() {
    let inside = Inside { battery: Some(87), serial: "31415".into(), ..Inside::new(START) };
    let (mut desk, board) = Desk::of(
        |link| Some(TestBoard::again(link, inside)),
        |link| DgtSource::new(link, ModemLines::Leave).with_updates(Updates::Clock),
    );
    desk.until(|event| matches!(event, Event::Device(status) if status.get("battery").is_some()));
    let told: Vec<&str> = desk.board.identity(Unit::A).iter().map(|(name, _)| *name).collect();
    assert_eq!(told, ["version", "serial", "trademark", "hardware_version", "battery"]);
    let battery = &desk.board.identity(Unit::A)[4].1;
    assert_eq!((&battery["percent"], &battery["discharging"]), (&json!(87), &json!(true)));
    let (log, _) = board.unwrap().unplug();
    assert_eq!(log.commands[..3], [0x40, 0x42, 0x43]);
    desk.end();
}

#[test]
fn garbage_before_and_between_the_messages_costs_nothing_else() {
    let (mut desk, board) = Desk::new(|link| {
        let board = TestBoard::plug(link, START);
        board.tell(Tell::Raw((0..=255).cycle().take(3000).collect()));
        Some(board)
    });
    let board = board.unwrap();
    assert!(shows(START)(desk.until(is_pieces).last().unwrap()));
    let mut game = Chess::default();
    for san in ["e4", "e5", "Nf3", "Nc6"] {
        board.tell(Tell::Raw(vec![0x86, 0x00, 0x43, 0x07, 0x13, 0x11]));
        board.moves(&mut game, san);
    }
    let events = desk.until(|event| *event == piece(Square::C6, 'n'));
    let updates = events.iter().filter(|event| matches!(event, Event::Piece { .. })).count();
    assert_eq!(updates, 8, "{events:?}");
    board.unplug();
    desk.end();
}

#[test]
fn what_two_boards_on_one_cable_do_is_not_the_game() {
    let (mut desk, board) = Desk::with(START);
    desk.until(|event| matches!(event, Event::Device(status) if status.get("serial").is_some()));
    for _ in 0..3 {
        board.tell(Tell::Raw(Message::Serial("01026".to_owned()).encode()));
    }
    desk.until(|event| *event == Event::Link(false));
    desk.complaint();
    for square in [Square::E2, Square::D2] {
        board.tell(Tell::Raw(Message::Field { square, reading: Code::Empty }.encode()));
    }
    // Alone three times: what stands there then is what counts.
    let events = desk.until(is_pieces);
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Link(_))).count(), 1, "{events:?}");
    assert!(!events.iter().any(|event| matches!(event, Event::Piece { .. })), "{events:?}");
    board.unplug();
    desk.end();
}
