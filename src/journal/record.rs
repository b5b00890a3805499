//! One record of the journal: an entry to a line of JSON and back, and the hash chain. Pure.
//!
//! A line is `{"seq":..,"us":..,"at":"..", BODY ,"chain":".."}`. `chain` is the first 128 bits, in
//! hexadecimal, of SHA-256 over the chain text of the line before (nothing for the first line)
//! followed by the bytes of the line without its member `,"chain":".."` and without the line end.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    publish::Tags,
    session::{LOGIC_VERSION, event::Unit, fact::Fact, io::Input, setup::GameSetup, time::MonoTime},
    wire::sensor_log,
};

/// Version of the journal's format, in the header as `format`.
pub const FORMAT: u64 = 1;

/// Length of a chain text: 128 bits in hexadecimal digits.
pub const CHAIN_LEN: usize = 32;

const CHAIN_KEY: &str = ",\"chain\":\"";
const CHAIN_END: &str = "\"}";

/// The first record of a segment: what the game was set up with, and by which program.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalHeader {
    /// Version of the format, [`FORMAT`].
    pub format: u64,
    /// Name and version of the program that wrote the segment.
    pub program: String,
    /// Version of the conclusions ([`LOGIC_VERSION`]); another version may reach other facts.
    pub logic: u32,
    /// Identifier of the boot in which the segment was begun: its monotonic times count from it.
    pub boot: String,
    /// Identifier of the board in the daemon.
    pub board: String,
    /// SHA-256 of the configuration's text in hexadecimal, empty when there was no file.
    pub config: String,
    /// The set-up of the game, enough to run the inputs again.
    pub setup: GameSetup,
    /// Tags of the game.
    pub tags: Tags,
    /// Head of the previous segment of this board, when there was one.
    pub prev: Option<String>,
}

impl JournalHeader {
    /// A header of this program and its logic version.
    pub fn new(board: &str, setup: GameSetup, tags: Tags) -> JournalHeader {
        JournalHeader {
            format: FORMAT,
            program: program(),
            logic: LOGIC_VERSION,
            boot: String::new(),
            board: board.to_owned(),
            config: String::new(),
            setup,
            tags,
            prev: None,
        }
    }

    fn to_value(&self) -> Value {
        let mut tags = serde_json::to_value(&self.tags).unwrap_or(Value::Null);
        if let Value::Object(map) = &mut tags {
            map.retain(|_, value| !value.is_null());
        }
        json!({
            "format": self.format,
            "program": self.program,
            "logic": self.logic,
            "boot": self.boot,
            "board": self.board,
            "config": self.config,
            "setup": sensor_log::header_to_map(&self.setup),
            "tags": tags,
            "prev": self.prev,
        })
    }

    fn from_value(value: &Value) -> Result<JournalHeader, String> {
        let map = value.as_object().ok_or("the header is not an object")?;
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let format = map.get("format").and_then(Value::as_u64).unwrap_or_default();
        if format != FORMAT {
            return Err(format!("format {format} is not known, this program reads format {FORMAT}"));
        }
        let setup = map.get("setup").and_then(Value::as_object).ok_or("the header has no set-up")?;
        let tags = map.get("tags").cloned().unwrap_or_else(|| json!({}));
        Ok(JournalHeader {
            format,
            program: text("program"),
            logic: map
                .get("logic")
                .and_then(Value::as_u64)
                .and_then(|logic| u32::try_from(logic).ok())
                .ok_or("the header has no logic version")?,
            boot: text("boot"),
            board: text("board"),
            config: text("config"),
            setup: sensor_log::header_from_map(setup).map_err(|e| format!("set-up: {e}"))?,
            tags: serde_json::from_value(tags).map_err(|e| format!("tags: {e}"))?,
            prev: map.get("prev").and_then(Value::as_str).map(str::to_owned),
        })
    }
}

/// Name and version of this program, as in [`JournalHeader::program`].
pub fn program() -> String {
    concat!("touchmoved ", env!("CARGO_PKG_VERSION")).to_owned()
}

/// SHA-256 of a text in hexadecimal, for [`JournalHeader::config`].
pub fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// The daemon goes on with a segment that it finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resume {
    /// Identifier of the boot that goes on.
    pub boot: String,
    /// Name and version of the program that goes on.
    pub program: String,
    /// Version of its conclusions.
    pub logic: u32,
    /// What is added to the monotonic clock of this boot, in microseconds, so that the times of
    /// the journal go on; 0 within one boot. See [`resume_offset`].
    pub offset_us: u64,
}

/// What [`Resume::offset_us`] has to be after a reboot, when the monotonic clock counts from zero
/// again: the time of the last record, plus what passed on the wall clock since, minus the
/// monotonic time now. A wall clock that ran backwards counts as no time passed.
pub fn resume_offset(last: MonoTime, last_wall_us: u64, now: MonoTime, wall_us: u64) -> u64 {
    let passed = wall_us.saturating_sub(last_wall_us);
    last.as_micros().saturating_add(passed).saturating_sub(now.as_micros())
}

/// A torn last line that recovery cut off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// How many bytes were cut off.
    pub bytes: u64,
    /// What they were, as far as they are text: at most the first 1024 bytes.
    pub text: String,
}

/// What a record holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The first record of a segment.
    Header(Box<JournalHeader>),
    /// An input exactly as it came.
    Input(Input),
    /// A fact that the session concluded.
    Fact(Fact),
    /// The daemon goes on after it was gone.
    Resume(Resume),
    /// A torn last line was cut off.
    Cut(Cut),
    /// A remark of the daemon: a device that was lost, a disk that was full.
    Note(String),
}

/// One entry before it gets its number and its place in the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Monotonic time. The record of a fact carries the fact's own time instead.
    pub at: MonoTime,
    /// UTC at `at`, microseconds since 1970-01-01.
    pub wall_us: u64,
    /// What is recorded.
    pub body: Body,
}

/// A fact as it stands in a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedFact {
    /// Number of its record, 0 for a fact that comes from no journal.
    pub seq: u64,
    /// When it became known.
    pub at: MonoTime,
    /// Its exact text: `{"us":..,"ev":..,"fact":"..",..}`.
    pub text: String,
    /// The same, parsed.
    pub fields: Map<String, Value>,
}

impl RecordedFact {
    /// The form in which a fact that was computed now is compared with a recorded one.
    pub fn of(fact: &Fact) -> RecordedFact {
        let mut fields = Map::new();
        fields.insert("us".to_owned(), json!(fact.at.as_micros()));
        fields.extend(fact_members(fact));
        RecordedFact { seq: 0, at: fact.at, text: object_text(&fields), fields }
    }

    /// The name of the fact, such as `move_made`.
    pub fn name(&self) -> &str {
        self.fields.get("fact").and_then(Value::as_str).unwrap_or_default()
    }
}

/// What a record that was read back holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// The first record of a segment.
    Header(Box<JournalHeader>),
    /// An input.
    Input(Input),
    /// A fact.
    Fact(RecordedFact),
    /// The daemon goes on after it was gone.
    Resume(Resume),
    /// A torn last line was cut off.
    Cut(Cut),
    /// A remark of the daemon.
    Note(String),
    /// A kind of record that this version does not know. Its chain was checked all the same.
    Unknown,
}

/// A record that was read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its number, counted from 1: the line of the file.
    pub seq: u64,
    /// Monotonic time.
    pub at: MonoTime,
    /// UTC, microseconds since 1970-01-01.
    pub wall_us: u64,
    /// What it holds.
    pub content: Content,
    /// Its chain text.
    pub chain: String,
}

/// Formats an entry as a line, without the line end. Gives the line and its chain text.
pub fn format(entry: &Entry, seq: u64, prev_chain: &str) -> (String, String) {
    let (at, wall_us) = match &entry.body {
        Body::Fact(fact) => (fact.at, shifted(entry.wall_us, entry.at, fact.at)),
        _ => (entry.at, entry.wall_us),
    };
    let mut map = Map::new();
    map.insert("seq".to_owned(), json!(seq));
    map.insert("us".to_owned(), json!(at.as_micros()));
    map.insert("at".to_owned(), json!(rfc3339(wall_us)));
    match &entry.body {
        Body::Header(header) => {
            map.insert("header".to_owned(), header.to_value());
        }
        Body::Input(input) => {
            map.insert("in".to_owned(), Value::Object(input_to_map(input)));
        }
        Body::Fact(fact) => map.extend(fact_members(fact)),
        Body::Resume(resume) => {
            let value = json!({
                "boot": resume.boot,
                "program": resume.program,
                "logic": resume.logic,
                "offset_us": resume.offset_us,
            });
            map.insert("resume".to_owned(), value);
        }
        Body::Cut(cut) => {
            map.insert("cut".to_owned(), json!({"bytes": cut.bytes, "text": cut.text}));
        }
        Body::Note(text) => {
            map.insert("note".to_owned(), json!({ "text": text }));
        }
    }
    let mut line = object_text(&map);
    let chain = chain_text(prev_chain, &line);
    line.pop();
    line.push_str(CHAIN_KEY);
    line.push_str(&chain);
    line.push_str(CHAIN_END);
    (line, chain)
}

/// Takes a line apart into its text without the chain member and its chain text, and checks the
/// chain: this is all that `verify` asks of a line, apart from its number.
pub fn check_chain(line: &str, prev_chain: &str) -> Result<(String, String), String> {
    let (text, chain) = split_chain(line)?;
    let expected = chain_text(prev_chain, &text);
    if chain != expected {
        return Err(format!("the chain is {chain} and should be {expected}"));
    }
    Ok((text, chain.to_owned()))
}

/// Reads a line that [`format`] wrote, without its line end, and checks its number and its chain.
pub fn parse(line: &str, seq: u64, prev_chain: &str) -> Result<Record, String> {
    let (text, chain) = check_chain(line, prev_chain)?;
    let mut map: Map<String, Value> =
        serde_json::from_str(&text).map_err(|e| format!("not a JSON object: {e}"))?;
    let number = |key: &str| map.get(key).and_then(Value::as_u64);
    if number("seq") != Some(seq) {
        return Err(match number("seq") {
            Some(found) => format!("the record has number {found}"),
            None => "the record has no number".to_owned(),
        });
    }
    let at = MonoTime::from_micros(number("us").ok_or("the record has no monotonic time")?);
    let utc = map.get("at").and_then(Value::as_str).ok_or("the record has no UTC time")?;
    let wall_us = parse_rfc3339(utc).ok_or_else(|| format!("{utc:?} is not a UTC time"))?;
    let content = if map.contains_key("fact") {
        let members = fact_text(&text).ok_or("the members of the record are out of order")?;
        let text = format!("{{\"us\":{},{members}", at.as_micros());
        map.shift_remove("seq");
        map.shift_remove("at");
        Content::Fact(RecordedFact { seq, at, text, fields: map })
    } else {
        content_of(&map)?
    };
    Ok(Record { seq, at, wall_us, content, chain })
}

fn content_of(map: &Map<String, Value>) -> Result<Content, String> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64).unwrap_or(0);
    Ok(if let Some(value) = map.get("in") {
        Content::Input(input_from_value(value)?)
    } else if let Some(value) = map.get("header") {
        Content::Header(Box::new(JournalHeader::from_value(value)?))
    } else if let Some(value) = map.get("resume") {
        Content::Resume(Resume {
            boot: text(value, "boot"),
            program: text(value, "program"),
            logic: u32::try_from(number(value, "logic")).unwrap_or_default(),
            offset_us: number(value, "offset_us"),
        })
    } else if let Some(value) = map.get("cut") {
        Content::Cut(Cut { bytes: number(value, "bytes"), text: text(value, "text") })
    } else if let Some(value) = map.get("note") {
        Content::Note(text(value, "text"))
    } else {
        Content::Unknown
    })
}

/// The members of a fact's record, `us` left out.
fn fact_members(fact: &Fact) -> Map<String, Value> {
    match fact.to_value() {
        Value::Object(mut map) => {
            map.shift_remove("us");
            map
        }
        _ => Map::new(),
    }
}

/// The bytes of a record behind its member `at`, the closing brace included.
fn fact_text(text: &str) -> Option<&str> {
    let (_, behind) = text.split_once(",\"at\":\"")?;
    behind.split_once("\",").map(|(_, members)| members)
}

fn input_to_map(input: &Input) -> Map<String, Value> {
    let mut map = Map::new();
    match input {
        Input::Event(unit, event) => {
            if *unit == Unit::B {
                map.insert("board".to_owned(), json!("B"));
            }
            map.extend(sensor_log::event_to_map(event));
        }
        Input::Dgt(bytes) => {
            map.insert("dgt".to_owned(), json!(hex(bytes)));
        }
    }
    map
}

fn input_from_value(value: &Value) -> Result<Input, String> {
    let object = value.as_object().ok_or("the input is not an object")?;
    if let Some(bytes) = object.get("dgt") {
        return bytes
            .as_str()
            .and_then(unhex)
            .map(Input::Dgt)
            .ok_or_else(|| format!("dgt: expected pairs of hexadecimal digits, found {bytes}"));
    }
    let mut map = Map::new();
    map.insert("us".to_owned(), json!(0));
    map.extend(object.iter().map(|(key, value)| (key.clone(), value.clone())));
    let stamped = sensor_log::parse_event(&object_text(&map)).map_err(|e| format!("input: {e}"))?;
    Ok(Input::Event(stamped.unit, stamped.event))
}

fn object_text(map: &Map<String, Value>) -> String {
    serde_json::to_string(map).unwrap_or_default()
}

fn split_chain(line: &str) -> Result<(String, &str), String> {
    let rest = line.strip_suffix(CHAIN_END).ok_or("the line does not end with its chain")?;
    let (text, chain) = rest.rsplit_once(CHAIN_KEY).ok_or("the line does not end with its chain")?;
    if chain.len() != CHAIN_LEN {
        return Err(format!("the chain {chain:?} does not have {CHAIN_LEN} digits"));
    }
    Ok((format!("{text}}}"), chain))
}

fn chain_text(prev_chain: &str, text: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(prev_chain.as_bytes());
    hash.update(text.as_bytes());
    hash.finalize().iter().take(CHAIN_LEN / 2).fold(String::new(), |out, byte| out + &format!("{byte:02x}"))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            pair.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u8::from_str_radix(pair, 16).ok())?
        })
        .collect()
}

/// UTC at `to`, when it was `wall_us` at `from`.
fn shifted(wall_us: u64, from: MonoTime, to: MonoTime) -> u64 {
    wall_us.saturating_add(to.since(from)).saturating_sub(from.since(to))
}

/// Microseconds since 1970-01-01 as an RFC 3339 time with six decimals; times behind the year
/// 9999 are written as its end.
pub fn rfc3339(wall_us: u64) -> String {
    const LAST: i128 = 253_402_300_799_999_999_000;
    let nanos = (i128::from(wall_us) * 1000).min(LAST);
    let utc = OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (year, month, day) = utc.to_calendar_date();
    let (hour, minute, second, micro) = utc.to_hms_micro();
    format!("{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micro:06}Z", u8::from(month))
}

/// Reads what [`rfc3339`] wrote.
pub fn parse_rfc3339(text: &str) -> Option<u64> {
    let utc = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    u64::try_from(utc.unix_timestamp_nanos() / 1000).ok()
}
