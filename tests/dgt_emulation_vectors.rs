//! The vectors of the DGT protocol from the board's side: what a program sends, and the bytes that the board
//! which is played here sends for it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::Value;
use shakmaty::{Board, Color};
use touchmoved::{
    session::time::MonoTime,
    wire::dgt::{
        Command, Message,
        clock::{Ack, Clock},
        emulate::{Emulator, Identity, Times},
    },
};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
const ROOM: usize = 1 << 20;

fn fixture(list: &str) -> Vec<Value> {
    let text = std::fs::read_to_string("tests/fixtures/dgt/vectors.json").unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    all[list].as_array().unwrap().clone()
}

fn vector(id: &str) -> String {
    let all = fixture("vectors");
    all.iter().find(|vector| vector["id"] == id).unwrap()["hex"].as_str().unwrap().to_owned()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A board with the serial number, the men and the clock of the vectors.
struct Played {
    emulator: Emulator,
    now: u64,
}

impl Played {
    fn new() -> Played {
        let mut emulator = Emulator::new(Identity::new(1025), false);
        let at = MonoTime::ZERO;
        emulator.set_board(at, &START.parse().unwrap());
        let times =
            Times { white_ms: 181_000, black_ms: 182_000, running: Some(Color::White), delay_ms: 0, at };
        emulator.set_clock(at, Some(times), true);
        Played { emulator, now: 0 }
    }

    fn at(&self) -> MonoTime {
        MonoTime::ZERO.plus_ms(self.now)
    }

    fn say(&mut self, bytes: &str) -> String {
        self.emulator.receive(self.at(), &unhex(bytes));
        self.after(0)
    }

    fn after(&mut self, ms: u64) -> String {
        self.now += ms;
        let mut out = Vec::new();
        self.emulator.advance(self.at(), ROOM, &mut out);
        hex(&out)
    }

    fn place(&mut self, placement: &str) -> String {
        let board: Board = placement.parse().unwrap();
        self.emulator.set_board(self.at(), &board);
        self.after(0)
    }
}

/// The bytes of each answer to a single board's commands.
fn answer(command: &str) -> Vec<u8> {
    let message = match command {
        "send-brd" => return unhex(&format!("860043{}", &vector("bus-board-dump")[10..138])),
        "send-clk" | "update" | "update-nice" => return unhex("8d000a20030220030109"),
        "serial" => Message::Serial("01025".to_owned()),
        "long-serial" => Message::LongSerial("0000001025".to_owned()),
        "bus-address" => return unhex("9000050801"),
        "version" => return unhex("9300050102"),
        "hw-version" => Message::HardwareVersion(1, 0),
        "battery" => return unhex("a0000c647f7f000000000000"),
        "trademark" => {
            let version = env!("CARGO_PKG_VERSION");
            Message::Trademark(format!(
                "touchmoved {version}\r\nA program that plays a board\r\nVs 1.02\r\nSerial nr. 01025 1.0"
            ))
        }
        _ => return Vec::new(),
    };
    message.encode()
}

#[test]
fn every_command_of_one_byte_is_answered_as_it_should_be() {
    let mut met = 0;
    for vector in fixture("vectors") {
        let (id, bytes) = (vector["id"].as_str().unwrap(), vector["hex"].as_str().unwrap());
        if !id.starts_with("cmd-") || vector["mode"] != "single" {
            continue;
        }
        met += 1;
        let name = vector["decoded"]["command"].as_str().unwrap();
        let said = Played::new().say(bytes);
        if name == "ee-moves" {
            // Three nothings, power-up, 32 men in two bytes each, the mark of the start, the end.
            let length = 3 + 3 + 1 + 64 + 1 + 1;
            assert!(
                said.starts_with(&format!("8f{:02x}{:02x}7f7f7f6a5800", length >> 7, length & 0x7f)),
                "{said}"
            );
            assert!(said.ends_with("6f6b") && said.len() == 2 * length, "{said}");
            continue;
        }
        assert_eq!(said, hex(&answer(name)), "{id}");
    }
    assert_eq!(met, Command::ALL.len() + 1, "and the boot loader");
}

#[test]
fn every_message_for_the_clock_is_acknowledged_in_the_modes_that_do() {
    let mut met = 0;
    for vector in fixture("vectors") {
        let (id, bytes) = (vector["id"].as_str().unwrap(), vector["hex"].as_str().unwrap());
        if !id.starts_with("clk-") {
            continue;
        }
        met += 1;
        for (mode, acknowledges) in [("43", true), ("4b", true), ("40", false), ("44", false)] {
            let mut played = Played::new();
            played.say(mode);
            assert_eq!(played.say(bytes), "", "{id}");
            // A complete message needs no silence behind it.
            let said = played.after(30);
            if !acknowledges {
                assert_eq!(said, "", "{id}");
                continue;
            }
            let sub = unhex(bytes)[3];
            let wanted = match sub {
                0x09 => [0x10, 9, 0x20, 0],
                0x0a => [0x40, 0x0a, 0, 0],
                sub => [0x10, sub, 0, 0],
            };
            assert_eq!(said, hex(&Message::Clock(Clock::Ack(Ack(wanted))).encode()), "{id}");
            if let Some(number) = vector["decoded"]["expect_ack1"].as_u64() {
                assert_eq!(u64::from(sub), number, "{id}");
            }
        }
    }
    assert_eq!(met, 12);
}

#[test]
fn odd_input_is_taken_as_the_rules_say() {
    let dump = hex(&answer("send-brd"));
    let burst = ["send-brd", "serial", "bus-address", "version", "trademark", "update"].map(answer).concat();
    assert_eq!(Played::new().say(&vector("emu-burst-dgtnix")), hex(&burst));
    assert_eq!(Played::new().say(&vector("emu-unknown-byte")), dump);

    let mut cut = Played::new();
    assert_eq!(cut.say(&vector("emu-clock-partial")), "");
    cut.after(200);
    assert_eq!(cut.say("42"), dump, "given up after the silence");

    let mut both = Played::new();
    both.say("4b");
    assert_eq!(both.say(&vector("emu-clock-then-cmd")), "");
    assert_eq!(both.after(30), format!("8d000a0a10090a200000{dump}"));

    let mut single = Played::new();
    single.say("4b");
    assert_eq!(single.say(&vector("emu-bus-in-single")), "", "to the bus, and not processed");
    assert_eq!(single.say(&vector("emu-bus-in-single")), vector("bus-ping-reply"));
    assert_eq!(single.say(&vector("emu-single-in-bus")), dump);
    assert_eq!(single.say("41"), hex(&answer("send-clk")));

    let mut wrong = Played::new();
    assert_eq!(wrong.say(&vector("emu-bus-bad-checksum")), "");
    wrong.say("44");
    assert_eq!(wrong.say(&vector("emu-echo")), "");
    let lifted = wrong.place("rnbqkbnr/pppppppp/8/8/8/8/PPPP1PPP/RNBQKBNR");
    assert_eq!(lifted, "8e00053400", "its mode is the same");

    for leds in ["leds-on-e2-e4", "leds-off-all", "leds-old-bearchess"] {
        assert_eq!(Played::new().say(&format!("{}42", vector(leds))), dump, "{leds}");
    }
}

#[test]
fn the_bus_answers_with_the_bytes_of_the_vectors() {
    let mut played = Played::new();
    assert_eq!(played.say(&vector("cmd-bus-checksum-example")), "", "another board");
    for (command, reply) in [
        ("cmd-bus-ping-all", "bus-ping-reply"),
        ("cmd-bus-ping", "bus-ping-reply"),
        ("cmd-bus-send-clk", "bus-bwtime"),
        ("cmd-bus-send-brd", "bus-board-dump"),
        ("cmd-bus-send-version", "bus-version"),
        ("cmd-bus-set-start-game", "bus-start-written"),
        ("cmd-bus-ignore-next-ping", "bus-ping-reply"),
    ] {
        assert_eq!(played.say(&vector(command)), vector(reply), "{command}");
    }
    assert_eq!(played.say(&vector("cmd-bus-ping-all")), "", "which was to be ignored");
    played.say(&vector("cmd-bus-send-changes"));
    assert_eq!(played.say(&vector("cmd-bus-send-changes")), vector("bus-update-empty"));
    played.after(1000);
    played.place("rnbqkbnr/pppppppp/8/8/8/8/PPPP1PPP/RNBQKBNR");
    played.after(200);
    played.place("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR");
    assert_eq!(played.say(&vector("cmd-bus-send-changes")), vector("bus-update-e4"));
    assert_eq!(played.say(&vector("cmd-bus-repeat-changes")), vector("bus-update-e4"));
    let from_start = unhex(&played.say(&vector("cmd-bus-send-from-start")));
    assert_eq!((from_start[0], from_start[5]), (0x86, 0x7b));
    assert_eq!(hex(&from_start[from_start.len() - 5..from_start.len() - 1]), "40345124");
}

/// The squares of real games as a real board told them, in and out.
#[test]
fn what_a_real_board_sent_is_sent_in_the_same_way() {
    let wanted = ["8e00050400", "8e0005060b", "8e00050700", "8e00050508"];
    let sequence = fixture("real_sequences").into_iter().find(|s| s["id"] == "real-castling-black").unwrap();
    let squares = sequence["hex"].as_array().unwrap().iter().map(|hex| hex.as_str().unwrap());
    assert_eq!(squares.filter(|hex| hex.starts_with("8e")).collect::<Vec<_>>(), wanted);
    let mut played = Played::new();
    played.place("r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/2BQK2R");
    played.say("44");
    let shown = ["r1bq3r", "r1bq2kr", "r1bq2k1", "r1bq1rk1"]
        .map(|rank| played.place(&format!("{rank}/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/2BQK2R")));
    assert_eq!(shown, wanted);
}
