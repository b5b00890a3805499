//! The sensor log, version 1: one JSON object a line; the first is the header, every other one an
//! event. It is what simulators, fixtures and bug reports are made of.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use shakmaty::{Bitboard, CastlingMode, Color, Piece, Square};

use crate::session::{
    event::{ClockReading, Event, GameResult, Stamped, Unit},
    setup::{BoardKind, GameSetup, Rules, Signal},
    time::MonoTime,
};

/// Why a line of a sensor log cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LineError {
    /// The line is not a JSON object of the right types.
    #[error("not a JSON object of a sensor log: {0}")]
    Json(String),
    /// The first line is no header.
    #[error(
        "the first line must be a header, {{\"sensor_log\":1,...}} or {{\"format\":\"occ-stream/1\",...}}: {0}"
    )]
    Header(String),
    /// A key has a value that cannot be used.
    #[error("{key}: {reason}")]
    Value {
        /// The key.
        key: &'static str,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// The object has a time but nothing that happened at it.
    #[error("unknown event: none of its keys is an event of sensor log version 1")]
    UnknownEvent,
}

/// Longest debounce time, as in the settings `sensor.debounce_*_ms`.
const MAX_DEBOUNCE_MS: u64 = 1000;

fn bad(key: &'static str, reason: impl Into<String>) -> LineError {
    LineError::Value { key, reason: reason.into() }
}

/// Reads the header line.
pub fn parse_header(line: &str) -> Result<GameSetup, LineError> {
    let value: Value = serde_json::from_str(line).map_err(|e| LineError::Header(e.to_string()))?;
    let Value::Object(map) = value else {
        return Err(LineError::Header("found no object".to_owned()));
    };
    header_from_map(&map)
}

/// Reads the header from its JSON object (the header of a journal holds one, too).
pub fn header_from_map(map: &Map<String, Value>) -> Result<GameSetup, LineError> {
    let mut setup = GameSetup::default();
    let text = |key: &'static str| -> Result<Option<&str>, LineError> {
        match map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(bad(key, format!("expected a string, found {other}"))),
        }
    };
    match (map.get("sensor_log"), map.get("format")) {
        (Some(version), _) if version.as_u64() == Some(1) => {}
        (Some(version), _) => {
            return Err(LineError::Header(format!(
                "version {version} is not known, this program reads version 1"
            )));
        }
        (None, Some(format)) if format == "occ-stream/1" => match text("kind")? {
            Some("occ") | None => {}
            Some("raw") => setup.signal = Signal::Raw,
            Some("full") => setup.board = BoardKind::Dgt,
            Some(other) => return Err(bad("kind", format!("expected occ, raw or full, found {other:?}"))),
        },
        _ => return Err(LineError::Header("found neither key".to_owned())),
    }
    if let Some(word) = text("board")? {
        setup.board = BoardKind::parse(word).ok_or_else(|| {
            bad("board", format!("expected reed, peg, dgt, two-board or none, found {word:?}"))
        })?;
    }
    match text("variant")? {
        None | Some("standard") => {}
        Some("chess960") => setup.castling = CastlingMode::Chess960,
        Some(other) => return Err(bad("variant", format!("expected standard or chess960, found {other:?}"))),
    }
    if let Some(fen) = text("start_fen")? {
        setup.start_fen = fen.to_owned();
    }
    if let Some(word) = text("rules")? {
        setup.rules = Rules::parse(word)
            .ok_or_else(|| bad("rules", format!("expected fide-2005, fide-2023 or ua, found {word:?}")))?;
    }
    if let Some(word) = text("discipline")? {
        if !["standard", "rapid", "blitz", "auto"].contains(&word) {
            return Err(bad(
                "discipline",
                format!("expected standard, rapid, blitz or auto, found {word:?}"),
            ));
        }
        setup.discipline = word.to_owned();
    }
    if let Some(word) = text("supervision")? {
        if !["full", "basic"].contains(&word) {
            return Err(bad("supervision", format!("expected full or basic, found {word:?}")));
        }
        setup.supervision = word.to_owned();
    }
    if let Some(word) = text("time_control")? {
        setup.time_control = word.to_owned();
    }
    match text("signal")? {
        None => {}
        Some("debounced") => setup.signal = Signal::Debounced,
        Some("raw") => setup.signal = Signal::Raw,
        Some(other) => return Err(bad("signal", format!("expected debounced or raw, found {other:?}"))),
    }
    if let Some(list) = map.get("history") {
        setup.history = strings("history", list)?;
    }
    if let Some(list) = map.get("start_occupied") {
        let mut occupied = Bitboard::EMPTY;
        for name in strings("start_occupied", list)? {
            occupied.add(square("start_occupied", &name)?);
        }
        setup.start_occupied = Some(occupied);
    }
    for (key, slot) in [("config", &mut setup.config), ("given", &mut setup.given)] {
        match map.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::Object(object)) => *slot = object.clone(),
            Some(other) => return Err(bad(key, format!("expected an object, found {other}"))),
        }
    }
    setup.settings.implied_by_next_move = setup.rules != Rules::Fide2005;
    if let (Signal::Raw, Some(value)) = (setup.signal, map.get("debounce_ms")) {
        let ms = value.as_u64().filter(|ms| *ms <= MAX_DEBOUNCE_MS).ok_or_else(|| {
            let expected = format!("expected a whole number of milliseconds from 0 to {MAX_DEBOUNCE_MS}");
            bad("debounce_ms", format!("{expected}, found {value}"))
        })?;
        setup.settings.debounce_close_ms = ms;
        setup.settings.debounce_open_ms = ms;
    }
    let config = setup.config.clone();
    setup.settings.apply(&config).map_err(|e| bad("config", e.to_string()))?;
    Ok(setup)
}

/// The header as a JSON object; [`header_from_map`] reads it back to the same set-up.
pub fn header_to_map(setup: &GameSetup) -> Map<String, Value> {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.to_owned(), value);
    };
    put("sensor_log", json!(1));
    put("board", json!(setup.board.as_str()));
    put("variant", json!(if setup.is_chess960() { "chess960" } else { "standard" }));
    put("start_fen", json!(setup.start_fen));
    put("rules", json!(setup.rules.as_str()));
    put("discipline", json!(setup.discipline));
    put("supervision", json!(setup.supervision));
    if !setup.time_control.is_empty() {
        put("time_control", json!(setup.time_control));
    }
    if !setup.history.is_empty() {
        put("history", json!(setup.history));
    }
    if setup.signal == Signal::Raw {
        put("signal", json!("raw"));
        put("debounce_ms", json!(setup.settings.debounce_close_ms));
    }
    if let Some(occupied) = setup.start_occupied {
        put("start_occupied", json!(occupied.into_iter().map(|s| s.to_string()).collect::<Vec<_>>()));
    }
    let mut config = setup.config.clone();
    if setup.signal == Signal::Raw {
        config.insert("sensor.debounce_close_ms".to_owned(), json!(setup.settings.debounce_close_ms));
        config.insert("sensor.debounce_open_ms".to_owned(), json!(setup.settings.debounce_open_ms));
    }
    if !config.is_empty() {
        put("config", Value::Object(config));
    }
    if !setup.given.is_empty() {
        put("given", Value::Object(setup.given.clone()));
    }
    map
}

fn strings(key: &'static str, value: &Value) -> Result<Vec<String>, LineError> {
    value
        .as_array()
        .and_then(|list| list.iter().map(|item| item.as_str().map(str::to_owned)).collect())
        .ok_or_else(|| bad(key, format!("expected a list of strings, found {value}")))
}

fn square(key: &'static str, text: &str) -> Result<Square, LineError> {
    text.parse().map_err(|_| bad(key, format!("expected a square from a1 to h8, found {text:?}")))
}

fn side(key: &'static str, text: &str) -> Result<Color, LineError> {
    match text {
        "white" => Ok(Color::White),
        "black" => Ok(Color::Black),
        _ => Err(bad(key, format!("expected white or black, found {text:?}"))),
    }
}

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
    let raw: RawEvent<'_> = serde_json::from_str(line).map_err(|e| LineError::Json(e.to_string()))?;
    let unit = match raw.board.as_deref() {
        None | Some("A") => Unit::A,
        Some("B") => Unit::B,
        Some(other) => return Err(bad("board", format!("expected A or B, found {other:?}"))),
    };
    Ok(Stamped { at: MonoTime::from_micros(raw.us), unit, event: event_of(raw)? })
}

/// Reads the two lines that make up nearly every log, written as this program writes them; every
/// other spelling goes the long way.
fn parse_common(line: &str) -> Option<Stamped> {
    let rest = line.strip_prefix("{\"us\":")?.strip_suffix('}')?;
    let (us, rest) = rest.split_once(',')?;
    if us.is_empty()
        || us.len() > 18
        || !us.bytes().all(|b| b.is_ascii_digit())
        || (us.len() > 1 && us.starts_with('0'))
    {
        return None;
    }
    let event = if let Some(rest) = rest.strip_prefix("\"sq\":\"") {
        let (square, state) = rest.split_once("\",\"occ\":")?;
        let occupied = match state {
            "0" => false,
            "1" => true,
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
    Some(Stamped { at: MonoTime::from_micros(us.parse().ok()?), unit: Unit::A, event })
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
            white_ms: times.white_ms,
            black_ms: times.black_ms,
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
            .ok_or_else(|| bad("result", format!("expected 1-0, 0-1, 1/2-1/2 or *, found {text:?}")));
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

fn color(side: Color) -> &'static str {
    side.fold_wb("white", "black")
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

/// The header line, without the line end.
pub fn format_header(setup: &GameSetup) -> String {
    Value::Object(header_to_map(setup)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_short_way_reads_what_the_long_way_reads() {
        for line in [
            r#"{"us":12,"sq":"e2","occ":0}"#,
            r#"{"us":0,"sq":"h8","occ":1}"#,
            r#"{"us":999999999999999999,"clock":"white"}"#,
            r#"{"us":7,"clock":"black"}"#,
        ] {
            assert!(parse_common(line).is_some(), "{line}");
            let long = line.replacen("\"us\":", " \"us\": ", 1);
            assert!(parse_common(&long).is_none());
            assert_eq!(parse_event(line), parse_event(&long));
        }
        for odd in
            [r#"{"us":01,"sq":"e2","occ":0}"#, r#"{"us":-1,"clock":"white"}"#, r#"{"us":,"sq":"e2","occ":1}"#]
        {
            assert!(parse_event(odd).is_err(), "{odd}");
        }
    }

    fn any_square() -> impl Strategy<Value = Square> {
        (0u32..64).prop_map(Square::new)
    }

    fn any_side() -> impl Strategy<Value = Color> {
        any::<bool>().prop_map(Color::from_white)
    }

    fn any_piece() -> impl Strategy<Value = Option<Piece>> {
        proptest::sample::select(" PNBRQKpnbrqk".chars().collect::<Vec<_>>()).prop_map(Piece::from_char)
    }

    fn any_board() -> impl Strategy<Value = shakmaty::Board> {
        proptest::collection::vec(any_piece(), 64).prop_map(|pieces| {
            let mut board = shakmaty::Board::empty();
            for (square, piece) in Square::ALL.into_iter().zip(pieces) {
                if let Some(piece) = piece {
                    board.set_piece_at(square, piece);
                }
            }
            board
        })
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((any::<String>(), inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    fn any_event() -> impl Strategy<Value = Event> {
        let times = (any::<Option<u64>>(), any::<Option<u64>>(), proptest::option::of(any_side())).prop_map(
            |(white_ms, black_ms, running)| Event::Times(ClockReading { white_ms, black_ms, running }),
        );
        let result = proptest::sample::select(vec![
            GameResult::Ongoing,
            GameResult::WhiteWins,
            GameResult::BlackWins,
            GameResult::Draw,
        ]);
        let sensors = prop_oneof![
            (any_square(), any::<bool>()).prop_map(|(square, occupied)| Event::Square { square, occupied }),
            (any_square(), any_piece()).prop_map(|(square, piece)| Event::Piece { square, piece }),
            any::<u64>().prop_map(|bits| Event::Occupied(Bitboard(bits))),
            any_board().prop_map(Event::Pieces),
            any::<bool>().prop_map(Event::Link),
            any::<bool>().prop_map(Event::Power),
        ];
        let clock = prop_oneof![
            any_side().prop_map(Event::Press),
            Just(Event::Pause),
            any_side().prop_map(Event::Run),
            times,
            any_side().prop_map(Event::Flag),
            Just(Event::Tick),
        ];
        let people = prop_oneof![
            any::<String>().prop_map(Event::Button),
            any_value().prop_map(Event::Arbiter),
            any::<String>().prop_map(Event::Intended),
            any::<String>().prop_map(Event::Announce),
            result.prop_map(Event::Result),
            any::<String>().prop_map(Event::Expect),
            any_value().prop_map(Event::Wall),
            any_value().prop_map(Event::Device),
        ];
        prop_oneof![sensors, clock, people]
    }

    proptest! {
        #[test]
        fn every_event_is_written_so_that_it_is_read_back(us: u64, second: bool, event in any_event()) {
            let unit = if second { Unit::B } else { Unit::A };
            let stamped = Stamped { at: MonoTime::from_micros(us), unit, event };
            let line = format_event(&stamped);
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(parse_event(&line), Ok(stamped));
        }

        #[test]
        fn any_text_is_an_event_or_an_error(text: String, key in "us|sq|occ|pc|occupied|pieces|clock|times|flag|wall|board", value in any_value()) {
            let _ = parse_event(&text);
            let _ = parse_header(&text);
            let line = json!({"us": 1, "sq": "e4", key: value}).to_string();
            let _ = parse_event(&line);
            let _ = parse_header(&line);
        }

        #[test]
        fn any_bytes_are_an_event_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let text = String::from_utf8_lossy(&bytes);
            let _ = parse_event(&text);
            let _ = parse_header(&text);
        }

        #[test]
        fn a_header_is_written_so_that_it_is_read_back(
            raw: bool,
            chess960: bool,
            close_ms in 0u64..=1000,
            open_ms in 0u64..=1000,
            occupied in proptest::option::of(any::<u64>()),
            history in proptest::collection::vec("[a-h][1-8][a-h][1-8]", 0..4),
        ) {
            let mut setup = GameSetup {
                castling: CastlingMode::from_chess960(chess960),
                history,
                start_occupied: occupied.map(Bitboard),
                time_control: "5400+30".to_owned(),
                ..GameSetup::default()
            };
            if raw {
                setup.signal = Signal::Raw;
                setup.settings.debounce_close_ms = close_ms;
                setup.settings.debounce_open_ms = open_ms;
            }
            let first = parse_header(&format_header(&setup)).unwrap();
            prop_assert_eq!(&first.settings, &setup.settings);
            prop_assert_eq!(first.signal, setup.signal);
            prop_assert_eq!(&first.history, &setup.history);
            prop_assert_eq!(first.start_occupied, setup.start_occupied);
            let again = parse_header(&format_header(&first)).unwrap();
            prop_assert_eq!(again, first);
        }
    }

    #[test]
    fn an_error_names_the_key_and_what_would_be_right() {
        for (line, expected) in [
            (r#"{"us":1,"sq":"e9","occ":0}"#, "sq: expected a square from a1 to h8"),
            (r#"{"us":1,"sq":"e4","occ":2}"#, "occ: expected 0 or 1, found 2"),
            (r#"{"us":1,"sq":"e4"}"#, "a square event needs occ or pc"),
            (r#"{"us":1,"sq":"e4","pc":"x"}"#, "pc: expected a FEN letter"),
            (r#"{"us":1,"occupied":"ff"}"#, "occupied: expected 16 hex digits"),
            (r#"{"us":1,"clock":"red"}"#, "clock: expected white or black"),
            (r#"{"us":1}"#, "unknown event"),
            (r#"{"sq":"e4","occ":0}"#, "missing field `us`"),
            ("", "not a JSON object"),
        ] {
            let error = parse_event(line).unwrap_err().to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
