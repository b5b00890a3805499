//! The event lines.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use shakmaty::{Bitboard, Color, Piece};

use super::{LineError, bad, color, side, square};
use crate::session::{
    event::{ClockReading, Event, GameResult, MAX_CLOCK_MS, Stamped, Unit},
    time::MonoTime,
};

/// The largest time stamp that is taken for one: a hundred years.
pub(super) const MAX_US: u64 = 100 * 365 * 24 * 3600 * 1_000_000;

#[derive(Deserialize)]
struct RawEvent<'a> {
    us: u64,
    #[serde(borrow)]
    board: Option<Cow<'a, str>>,
    #[serde(borrow)]
    sq: Option<Cow<'a, str>>,
    occ: Option<u8>,
    #[serde(borrow)]
    pc: Option<Cow<'a, str>>,
    #[serde(borrow)]
    occupied: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pieces: Option<Cow<'a, str>>,
    #[serde(borrow)]
    clock: Option<Cow<'a, str>>,
    times: Option<RawTimes>,
    flag: Option<String>,
    button: Option<String>,
    #[serde(default, deserialize_with = "present")]
    arbiter: Option<Value>,
    intended: Option<String>,
    announce: Option<String>,
    result: Option<String>,
    link: Option<String>,
    power: Option<String>,
    expect: Option<String>,
    #[serde(default, deserialize_with = "present")]
    wall: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    device: Option<Value>,
    tick: Option<Value>,
}

/// A key that is there counts, also when its value is null.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
struct RawTimes {
    white_ms: Option<u64>,
    black_ms: Option<u64>,
    running: Option<String>,
}

/// Reads one event line.
pub fn parse_event(line: &str) -> Result<Stamped, LineError> {
    if let Some(stamped) = parse_common(line) {
        return Ok(stamped);
    }
    let raw: RawEvent<'_> = serde_json::from_str(line).map_err(|error| LineError::of_json(&error))?;
    if raw.us > MAX_US {
        return Err(bad(
            "us",
            format!("{} microseconds are more than a century; no recording lasts so long", raw.us),
        ));
    }
    let unit = match raw.board.as_deref() {
        None | Some("A") => Unit::A,
        Some("B") => Unit::B,
        Some(other) => return Err(bad("board", format!("expected A or B, found {other:?}"))),
    };
    Ok(Stamped { at: MonoTime::from_micros(raw.us), unit, event: event_of(raw)? })
}

/// Reads the two lines that make up nearly every log, written as this program writes them; every
/// other spelling goes the long way.
pub(super) fn parse_common(line: &str) -> Option<Stamped> {
    let rest = line.strip_prefix("{\"us\":")?.strip_suffix('}')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 15 || (digits > 1 && rest.starts_with('0')) {
        return None;
    }
    let (us, rest) = rest.split_at_checked(digits)?;
    let us = us.bytes().fold(0, |us, digit| us * 10 + u64::from(digit & 0xf));
    let rest = rest.strip_prefix(',')?;
    let event = if let Some(rest) = rest.strip_prefix("\"sq\":\"") {
        let (square, state) = rest.split_at_checked(2)?;
        let occupied = match state {
            "\",\"occ\":0" => false,
            "\",\"occ\":1" => true,
            _ => return None,
        };
        Event::Square { square: square.parse().ok()?, occupied }
    } else {
        match rest {
            "\"clock\":\"white\"" => Event::Press(Color::White),
            "\"clock\":\"black\"" => Event::Press(Color::Black),
            _ => return None,
        }
    };
    Some(Stamped { at: MonoTime::from_micros(us), unit: Unit::A, event })
}

fn event_of(raw: RawEvent<'_>) -> Result<Event, LineError> {
    if let Some(name) = raw.sq {
        let square = square("sq", &name)?;
        return match (raw.occ, raw.pc) {
            (Some(0), _) => Ok(Event::Square { square, occupied: false }),
            (Some(1), _) => Ok(Event::Square { square, occupied: true }),
            (Some(other), _) => Err(bad("occ", format!("expected 0 or 1, found {other}"))),
            (None, Some(letter)) => Ok(Event::Piece { square, piece: piece(&letter)? }),
            (None, None) => Err(bad("sq", "a square event needs occ or pc")),
        };
    }
    if let Some(text) = raw.clock {
        return match text.as_ref() {
            "pause" => Ok(Event::Pause),
            "run-white" => Ok(Event::Run(Color::White)),
            "run-black" => Ok(Event::Run(Color::Black)),
            other => side("clock", other).map(Event::Press),
        };
    }
    if let Some(hex) = raw.occupied {
        let bits = (hex.len() == 16)
            .then(|| u64::from_str_radix(&hex, 16).ok())
            .flatten()
            .ok_or_else(|| bad("occupied", format!("expected 16 hex digits, found {hex:?}")))?;
        return Ok(Event::Occupied(Bitboard(bits)));
    }
    if let Some(fen) = raw.pieces {
        let board = shakmaty::Board::from_ascii_board_fen(fen.as_bytes())
            .map_err(|e| bad("pieces", format!("expected the first field of a FEN, found {fen:?}: {e}")))?;
        return Ok(Event::Pieces(board));
    }
    if let Some(times) = raw.times {
        return Ok(Event::Times(ClockReading {
            white_ms: time_left("white_ms", times.white_ms)?,
            black_ms: time_left("black_ms", times.black_ms)?,
            running: times.running.as_deref().map(|text| side("running", text)).transpose()?,
        }));
    }
    if let Some(text) = raw.flag {
        return side("flag", &text).map(Event::Flag);
    }
    if let Some(name) = raw.button {
        return Ok(Event::Button(name));
    }
    if let Some(command) = raw.arbiter {
        return Ok(Event::Arbiter(command));
    }
    if let Some(text) = raw.intended {
        return Ok(Event::Intended(text));
    }
    if let Some(text) = raw.announce {
        return Ok(Event::Announce(text));
    }
    if let Some(text) = raw.result {
        return GameResult::parse(&text)
            .map(Event::Result)
            .ok_or_else(|| bad("result", format!("expected 1-0, 0-1, 1/2-1/2, 0-0 or *, found {text:?}")));
    }
    if let Some(text) = raw.link {
        return match text.as_str() {
            "down" => Ok(Event::Link(false)),
            "up" => Ok(Event::Link(true)),
            other => Err(bad("link", format!("expected down or up, found {other:?}"))),
        };
    }
    if let Some(text) = raw.power {
        return match text.as_str() {
            "off" => Ok(Event::Power(false)),
            "on" => Ok(Event::Power(true)),
            other => Err(bad("power", format!("expected off or on, found {other:?}"))),
        };
    }
    if let Some(uci) = raw.expect {
        return Ok(Event::Expect(uci));
    }
    if let Some(value) = raw.wall {
        return Ok(Event::Wall(value));
    }
    if let Some(value) = raw.device {
        return Ok(Event::Device(value));
    }
    if raw.tick.is_some() {
        return Ok(Event::Tick);
    }
    Err(LineError::UnknownEvent)
}

/// A time that a clock can show.
pub(super) fn time_left(key: &'static str, ms: Option<u64>) -> Result<Option<u64>, LineError> {
    match ms {
        Some(ms) if ms > MAX_CLOCK_MS => {
            Err(bad(key, format!("{ms} milliseconds are more than a day; no clock shows so much")))
        }
        ms => Ok(ms),
    }
}

fn piece(letter: &str) -> Result<Option<Piece>, LineError> {
    let mut chars = letter.chars();
    match (chars.next(), chars.next()) {
        (None, _) => Ok(None),
        (Some(c), None) => Piece::from_char(c)
            .map(Some)
            .ok_or_else(|| bad("pc", format!("expected a FEN letter or nothing, found {letter:?}"))),
        _ => Err(bad("pc", format!("expected one FEN letter or nothing, found {letter:?}"))),
    }
}
/// The keys of an event without its time and board.
pub fn event_to_map(event: &Event) -> Map<String, Value> {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.to_owned(), value);
    };
    match event {
        Event::Square { square, occupied } => {
            put("sq", json!(square.to_string()));
            put("occ", json!(u8::from(*occupied)));
        }
        Event::Piece { square, piece } => {
            put("sq", json!(square.to_string()));
            put("pc", json!(piece.map(|p| p.char().to_string()).unwrap_or_default()));
        }
        Event::Occupied(occupied) => put("occupied", json!(format!("{:016x}", occupied.0))),
        Event::Pieces(board) => put("pieces", json!(board.board_fen().to_string())),
        Event::Press(side) => put("clock", json!(color(*side))),
        Event::Pause => put("clock", json!("pause")),
        Event::Run(side) => put("clock", json!(format!("run-{}", color(*side)))),
        Event::Times(reading) => put(
            "times",
            json!({
                "white_ms": reading.white_ms,
                "black_ms": reading.black_ms,
                "running": reading.running.map(color),
            }),
        ),
        Event::Flag(side) => put("flag", json!(color(*side))),
        Event::Button(name) => put("button", json!(name)),
        Event::Arbiter(command) => put("arbiter", command.clone()),
        Event::Intended(text) => put("intended", json!(text)),
        Event::Announce(text) => put("announce", json!(text)),
        Event::Result(result) => put("result", json!(result.as_str())),
        Event::Link(up) => put("link", json!(if *up { "up" } else { "down" })),
        Event::Power(on) => put("power", json!(if *on { "on" } else { "off" })),
        Event::Expect(uci) => put("expect", json!(uci)),
        Event::Wall(value) => put("wall", value.clone()),
        Event::Device(value) => put("device", value.clone()),
        Event::Tick => put("tick", json!(true)),
    }
    map
}

/// One event line, without the line end.
pub fn format_event(stamped: &Stamped) -> String {
    let mut map = Map::new();
    map.insert("us".to_owned(), json!(stamped.at.as_micros()));
    if stamped.unit == Unit::B {
        map.insert("board".to_owned(), json!("B"));
    }
    map.extend(event_to_map(&stamped.event));
    Value::Object(map).to_string()
}
