#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
//! The test vectors of the DGT serial protocol, in both directions.

use serde_json::{Map, Value, json};
use shakmaty::Square;
use touchmoved::{
    session::time::MonoTime,
    wire::dgt::{
        Command, Framed, Framer, Message,
        clock::{Ack, Clock, ClockSide, ClockState},
        message::Reading,
        set_clock::{Runs, SetClock},
        storage::{self, Entry, Mark},
    },
};

fn vectors() -> Vec<Value> {
    let text = std::fs::read_to_string("tests/fixtures/dgt/vectors.json").unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    all["vectors"].as_array().unwrap().clone()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text<'a>(vector: &'a Value, key: &str) -> &'a str {
    vector[key].as_str().unwrap_or_default()
}

/// Pushes the portions of a vector; frames, framer and what it dropped.
fn framed(vector: &Value) -> (Vec<(u8, Vec<u8>)>, Framer) {
    let chunks: Vec<Vec<u8>> = match vector["chunks"].as_array() {
        Some(chunks) => chunks.iter().map(|chunk| unhex(chunk.as_str().unwrap())).collect(),
        None => vec![unhex(text(vector, "hex"))],
    };
    let mut framer = Framer::new();
    let mut out = Vec::new();
    for chunk in &chunks {
        framer.push(MonoTime::ZERO, chunk, &mut out);
    }
    let frames = out
        .into_iter()
        .filter_map(|item| match item {
            Framed::Frame { id, payload } => Some((id, payload)),
            Framed::Dropped(_) => None,
        })
        .collect();
    (frames, framer)
}

/// The decoded meaning in the words of the vectors.
fn meaning(message: &Message) -> Value {
    match message {
        Message::Board(dump) => json!({
            "type": "board_dump",
            "placement_as_numbered": dump.placement().board_fen().to_string(),
        }),
        Message::Field { square, reading } => json!({
            "type": "field_update",
            "index": u32::from(square.flip_vertical()),
            "square": square.to_string(),
            "piece": match reading {
                Reading::Empty => Value::Null,
                Reading::Man(piece) => json!(piece.char().to_string()),
                Reading::Special(special) => json!(format!("magic-{}", special.as_str())),
            },
        }),
        Message::Clock(clock) => clock_meaning(clock),
        Message::StorageLog(log) => json!({
            "type": "ee_moves",
            "events": storage::decode(log).iter().map(entry_meaning).collect::<Vec<_>>(),
        }),
        Message::BusAddress(address) => json!({"type": "bus_address", "address": address}),
        Message::Serial(text) => json!({"type": "serial", "text": text}),
        Message::LongSerial(text) => json!({"type": "long_serial", "text": text}),
        Message::Trademark(text) => json!({"type": "trademark", "text": text}),
        Message::Version(major, minor) => json!({"type": "version", "major": major, "minor": minor}),
        Message::HardwareVersion(major, minor) => {
            json!({"type": "hardware_version", "major": major, "minor": minor})
        }
        Message::Battery(b) => json!({
            "type": "battery",
            "percent": b.percent,
            "time_left": b.time_left.map(|(h, m)| [h, m]),
            "on_time": [b.on_time.0, b.on_time.1],
            "standby": [b.standby.0, b.standby.1, b.standby.2],
            "charging": b.charging,
            "discharging": b.discharging,
        }),
        Message::Invalid { id: 0x8e, .. } => json!({"type": "field_update", "valid": false}),
        Message::Invalid { id, .. } => json!({"type": "invalid", "id": id}),
        Message::Unknown { id, payload } => json!({"type": "unknown", "id": id, "payload": hex(payload)}),
    }
}

fn entry_meaning(entry: &Entry) -> Value {
    match *entry {
        Entry::Field { square, reading, soon } => json!({
            "square": square.to_string(),
            "piece": reading.piece().map(|piece| piece.char().to_string()),
            "within_250ms": soon,
        }),
        Entry::Pressed { right, seconds } => {
            json!({"clock": if right { "right" } else { "left" }, "seconds": seconds})
        }
        Entry::Mark(mark) => json!({"tag": match mark {
            Mark::PowerUp => "powerup",
            Mark::End => "eof",
            Mark::FourRows => "fourrows",
            Mark::EmptyBoard => "emptyboard",
            Mark::Downloaded => "downloaded",
            Mark::Start => "beginpos",
            Mark::StartRotated => "beginpos_rot",
            Mark::StartTag => "start_tag",
            Mark::Watchdog => "watchdog",
            Mark::Other(_) => "other",
        }}),
    }
}

fn clock_meaning(clock: &Clock) -> Value {
    let side = |side: &ClockSide| {
        json!({
            "seconds": side.seconds,
            "flag_blocked": side.blocked,
            "per_move": side.per_move,
            "flag_shown": side.flag_shown,
        })
    };
    match clock {
        Clock::Null => json!({"type": "clock_null", "action": "ignore"}),
        Clock::Absent => json!({"type": "clock_time", "connected": false}),
        Clock::Invalid(_) => json!({"type": "clock_time", "valid": false}),
        Clock::State(state) => json!({
            "type": "clock_time",
            "connected": true,
            "right": side(&state.right),
            "left": side(&state.left),
            "running": state.running,
            "right_lever_high": state.right_lever_high,
            "battery_low": state.battery_low,
            "left_turn_bit": state.left_turn,
            "right_turn_bit": state.right_turn,
        }),
        Clock::Ack(ack) => {
            let mut map = Map::new();
            map.insert("type".into(), json!("clock_ack"));
            map.insert("ack".into(), json!(ack.0));
            map.insert("ok".into(), json!(ack.ok()));
            if ack.ready() {
                map.insert("event".into(), json!("ready"));
            }
            if let Some(button) = ack.button() {
                map.insert("event".into(), json!("button"));
                map.insert("button".into(), json!(button.as_str()));
                map.insert("held_mask".into(), json!(ack.0[2]));
            }
            if let Some((major, minor)) = ack.version() {
                map.insert("clock_version".into(), json!(format!("{major}.{minor}")));
            }
            Value::Object(map)
        }
    }
}

/// The keys of a vector that this decoder answers.
fn expected(decoded: &Value) -> Value {
    let mut map = decoded.as_object().unwrap().clone();
    match map.get("type").and_then(Value::as_str) {
        // What says nothing, or nothing that is known, is skipped.
        Some("ee_moves") => {
            let says = |event: &Value| {
                event.get("truncated").or(event.get("unknown")).is_none() && event["tag"] != "nop"
            };
            let events = map.get_mut("events").and_then(Value::as_array_mut);
            events.unwrap().retain(says);
        }
        Some("clock_ack") => map.retain(|key, _| key != "command"),
        Some("bus_address") => map.retain(|key, _| key != "bytes"),
        _ => {}
    }
    Value::Object(map)
}

#[test]
fn messages_of_a_single_board_decode_and_encode() {
    let (mut decoded, mut encoded) = (0, 0);
    for vector in vectors() {
        let id = text(&vector, "id");
        if text(&vector, "direction") != "board->host"
            || text(&vector, "mode") != "single"
            || vector.get("chunks").is_some()
            || id == "ee-moves-header-full"
        {
            continue;
        }
        let (frames, framer) = framed(&vector);
        assert_eq!((framer.dropped(), framer.pending()), (0, 0), "{id}");
        let [(frame, payload)] = frames.as_slice() else { panic!("{id}: {frames:?}") };
        let message = Message::decode(*frame, payload);
        assert_eq!(meaning(&message), expected(&vector["decoded"]), "{id}");
        decoded += 1;
        if vector["round_trip"] == json!(true) {
            assert_eq!(hex(&message.encode()), text(&vector, "hex"), "{id}");
            encoded += 1;
        }
    }
    assert_eq!((decoded, encoded), (48, 44), "every vector of this kind was met");
}

#[test]
fn malformed_streams_lose_what_they_must_and_no_more() {
    let mut met = 0;
    for vector in vectors() {
        let id = text(&vector, "id");
        if text(&vector, "direction") != "board->host" || vector.get("chunks").is_none() {
            continue;
        }
        met += 1;
        let (frames, framer) = framed(&vector);
        let decoded = &vector["decoded"];
        let bytes: Vec<Value> = frames
            .iter()
            .map(|(id, payload)| json!(hex(&touchmoved::wire::dgt::frame::encode(*id, payload))))
            .collect();
        assert_eq!(json!(bytes), decoded["frames"], "{id}");
        assert_eq!(json!(framer.dropped()), decoded["dropped_bytes"], "{id}");
        assert_eq!(json!(framer.pending()), decoded["pending_bytes"], "{id}");
        let meanings: Vec<Value> =
            frames.iter().map(|(id, payload)| meaning(&Message::decode(*id, payload))).collect();
        let wanted: Vec<Value> = decoded["decoded"].as_array().unwrap().iter().map(expected).collect();
        assert_eq!(meanings, wanted, "{id}");
    }
    assert_eq!(met, 17);
}

#[test]
fn the_header_of_a_full_storage_download_is_waited_for() {
    let vector = vectors().into_iter().find(|v| v["id"] == "ee-moves-header-full").unwrap();
    let (frames, mut framer) = framed(&vector);
    assert!(frames.is_empty());
    let mut out = Vec::new();
    framer.push(MonoTime::ZERO, &vec![0x7f; 7936], &mut out);
    assert_eq!(out, [Framed::Frame { id: 0x8f, payload: vec![0x7f; 7936] }]);
}

#[test]
fn commands_of_one_byte_have_the_bytes_of_the_vectors() {
    let name = |command: Command| match command {
        Command::Reset => "reset",
        Command::SendClock => "send-clk",
        Command::SendBoard => "send-brd",
        Command::Update => "update",
        Command::UpdateBoard => "update-brd",
        Command::Serial => "serial",
        Command::BusAddress => "bus-address",
        Command::Trademark => "trademark",
        Command::HardwareVersion => "hw-version",
        Command::StorageLog => "ee-moves",
        Command::ToBusMode => "to-busmode",
        Command::UpdateNice => "update-nice",
        Command::Battery => "battery",
        Command::Version => "version",
        Command::LongSerial => "long-serial",
    };
    let mut met = 0;
    for vector in vectors() {
        let id = text(&vector, "id");
        let bytes = unhex(text(&vector, "hex"));
        if !id.starts_with("cmd-") || text(&vector, "mode") != "single" {
            continue;
        }
        let [byte] = bytes.as_slice() else { panic!("{id}") };
        let command = Command::from_byte(*byte);
        if id == "cmd-bootloader" {
            assert_eq!(command, None, "it cannot be sent");
            continue;
        }
        assert_eq!(command.map(name), vector["decoded"]["command"].as_str(), "{id}");
        assert_eq!(command.unwrap().byte(), *byte, "{id}");
        met += 1;
    }
    assert_eq!(met, Command::ALL.len());
}

#[test]
fn settings_of_the_clock_have_the_bytes_of_the_vectors() {
    let mut met = 0;
    for vector in vectors().iter().filter(|vector| vector["decoded"]["command"] == "clock/setnrun") {
        let (id, bytes, decoded) = (text(vector, "id"), unhex(text(vector, "hex")), &vector["decoded"]);
        let set = SetClock::decode(&bytes).unwrap_or_else(|| panic!("{id}"));
        let seconds = (u64::from(set.left.seconds()), u64::from(set.right.seconds()));
        assert_eq!((json!(seconds.0), json!(seconds.1)), (decoded["left"].clone(), decoded["right"].clone()));
        let runs = match decoded["control"].as_u64().unwrap() & 0x07 {
            1 => Runs::Left,
            2 => Runs::Right,
            _ => Runs::Neither,
        };
        assert_eq!(set.runs, runs, "{id}");
        // We let the lever work in every case.
        let with_lever: Vec<u8> =
            bytes.iter().enumerate().map(|(at, byte)| if at == 10 { byte | 0x08 } else { *byte }).collect();
        assert_eq!(set.encode().as_slice(), with_lever, "{id}");
        met += 1;
    }
    assert_eq!(met, 3);
}

#[test]
fn times_outside_the_display_are_not_encoded_as_garbage() {
    let side = ClockSide { seconds: 100_000, ..ClockSide::default() };
    let message = Message::Clock(Clock::State(ClockState { left: side, ..ClockState::default() }));
    assert_eq!(hex(&message.encode()), "8d000a00000009595900");
    let message = Message::Clock(Clock::Ack(Ack([0x10, 0x88, 0x05, 0x31])));
    assert_eq!(hex(&message.encode()), "8d000a0a10082a053100");
    assert_eq!(Square::A8.flip_vertical(), Square::A1);
}
