//! One record of the journal: an entry to a line of JSON and back, and the hash chain. Pure.
//!
//! A line is `{"seq":..,"us":..,"at":"..", BODY ,"chain":".."}`. `chain` is the first 128 bits, in
//! hexadecimal, of SHA-256 over the chain text of the line before (nothing for the first line)
//! followed by the bytes of the line without its member `,"chain":".."` and without the line end.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::encode::{hex, unhex};
pub use super::{
    encode::{parse_rfc3339, rfc3339},
    header::{FORMAT, JournalHeader, digest, program},
};
use crate::{
    publish::release::Left,
    session::{event::Unit, fact::Fact, io::Input, time::MonoTime},
    wire::sensor_log,
};

/// Length of a chain text: 128 bits in hexadecimal digits.
pub const CHAIN_LEN: usize = 32;

const CHAIN_KEY: &str = ",\"chain\":\"";
const CHAIN_END: &str = "\"}";

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
    /// Something left the daemon.
    Release(Release),
}

/// What left for which outputs. Part of the release log, which proves that an output stayed behind as far as it
/// was told to. The time of the record is that of the moment at which it left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The outputs, by their tables in the configuration.
    pub to: Vec<String>,
    /// What left.
    pub left: Left,
    /// It belongs to the game before the one of this journal; `ev` counts the events of that one.
    pub before: bool,
}

impl Release {
    /// Its members, as they stand in a record and in `touchmoved export --releases`.
    pub fn to_map(&self) -> Map<String, Value> {
        let Left { ev, known_us, plies, result, boards, clocks, least_us } = &self.left;
        let value = json!({
            "to": self.to, "ev": ev, "plies": plies, "result": result,
            "boards": boards, "clocks": clocks, "least_us": least_us,
        });
        let mut map = if let Value::Object(map) = value { map } else { Map::new() };
        if let Some(us) = known_us {
            map.insert("known_us".to_owned(), json!(us));
        }
        if self.before {
            map.insert("before".to_owned(), Value::Bool(true));
        }
        map
    }
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
    /// Something left the daemon.
    Release(Release),
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
        Body::Release(release) => {
            map.insert("release".to_owned(), Value::Object(release.to_map()));
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

/// Reads a line that [`format()`] wrote, without its line end, and checks its number and its chain.
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
    } else if let Some(value) = map.get("release") {
        let names = value.get("to").and_then(Value::as_array).into_iter().flatten();
        let to = names.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        let left = Left {
            ev: value.get("ev").and_then(Value::as_i64).unwrap_or(-1),
            known_us: value.get("known_us").and_then(Value::as_u64),
            plies: usize::try_from(number(value, "plies")).unwrap_or_default(),
            result: text(value, "result"),
            boards: number(value, "boards"),
            clocks: number(value, "clocks"),
            least_us: number(value, "least_us"),
        };
        let before = value.get("before").and_then(Value::as_bool).unwrap_or(false);
        Content::Release(Release { to, left, before })
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
    if input.unit() == Unit::B {
        map.insert("board".to_owned(), json!(Unit::B.as_str()));
    }
    match input {
        Input::Event(_, event) => map.extend(sensor_log::event_to_map(event)),
        Input::Dgt(_, bytes) => {
            map.insert("dgt".to_owned(), json!(hex(bytes)));
        }
        Input::Peg(_, line) => {
            map.insert("peg".to_owned(), json!(line));
        }
    }
    map
}

fn input_from_value(value: &Value) -> Result<Input, String> {
    let object = value.as_object().ok_or("the input is not an object")?;
    let unit = || match object.get("board").map(Value::as_str) {
        None | Some(Some("A")) => Ok(Unit::A),
        Some(Some("B")) => Ok(Unit::B),
        Some(_) => Err("board: expected \"A\" or \"B\"".to_owned()),
    };
    if let Some(bytes) = object.get("dgt") {
        let read = bytes.as_str().and_then(unhex);
        let read = read.ok_or_else(|| format!("dgt: expected pairs of hexadecimal digits, found {bytes}"))?;
        return Ok(Input::Dgt(unit()?, read));
    }
    if let Some(line) = object.get("peg") {
        let read = line.as_str();
        let read = read.ok_or_else(|| format!("peg: expected a line of a pegged board, found {line}"))?;
        return Ok(Input::Peg(unit()?, read.to_owned()));
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

/// UTC at `to`, when it was `wall_us` at `from`.
fn shifted(wall_us: u64, from: MonoTime, to: MonoTime) -> u64 {
    wall_us.saturating_add(to.since(from)).saturating_sub(from.since(to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        publish::Tags,
        session::{
            event::{ClockReading, Event},
            fact::{CompletedBy, FactKind},
            setup::{BoardKind, GameSetup, Signal},
        },
    };
    use shakmaty::{Color, Square};

    const NOON: u64 = 1_769_860_800_000_000;

    fn header() -> JournalHeader {
        let mut setup = GameSetup { board: BoardKind::Reed, signal: Signal::Raw, ..GameSetup::default() };
        setup.config.insert("touch.release_dwell_ms".to_owned(), json!(300));
        setup.settings.release_dwell_ms = 300;
        setup.config.insert("sensor.debounce_close_ms".to_owned(), json!(15));
        setup.config.insert("sensor.debounce_open_ms".to_owned(), json!(30));
        let tags =
            Tags { white: Some("A, \"B\"".to_owned()), round: Some("3".to_owned()), ..Tags::default() };
        JournalHeader {
            boot: "b00t".to_owned(),
            config: digest("x"),
            prev: Some("00112233445566778899aabbccddeeff".to_owned()),
            ..JournalHeader::new("7", setup, tags)
        }
    }

    fn round_trip(body: Body) -> (String, Record) {
        let entry = Entry { at: MonoTime::from_micros(1_500), wall_us: NOON + 1_500, body };
        let (line, chain) = format(&entry, 4, "ab");
        let record = parse(&line, 4, "ab").unwrap();
        assert_eq!(record.chain, chain);
        (line, record)
    }

    #[test]
    fn a_header_is_read_back_as_it_was() {
        let (line, record) = round_trip(Body::Header(Box::new(header())));
        assert!(
            line.starts_with("{\"seq\":4,\"us\":1500,\"at\":\"2026-01-31T12:00:00.001500Z\",\"header\":"),
            "{line}"
        );
        assert_eq!(record.content, Content::Header(Box::new(header())));
        assert_eq!((record.at.as_micros(), record.wall_us), (1_500, NOON + 1_500));
    }

    #[test]
    fn inputs_are_read_back_as_they_were() {
        let inputs = [
            Input::Dgt(Unit::A, vec![0x8e, 0x00, 0xff]),
            Input::Dgt(Unit::B, Vec::new()),
            Input::Peg(Unit::A, "$PEG,5,2230,e2,out*112F5B".to_owned()),
            Input::Peg(Unit::B, "$PEG,5,2230,e2,out*112F5B".to_owned()),
            Event::Square { square: Square::E2, occupied: false }.into(),
            Input::Event(Unit::B, Event::Press(Color::Black)),
            Event::Times(ClockReading { white_ms: Some(5), black_ms: None, running: None }).into(),
            Event::Arbiter(json!({"restore": "x", "chain": "y", "at": "z", "n": [1, null]})).into(),
            Event::Button("draw-offer-white \"quoted\" ,\"chain\":\"\n\u{1f600}".to_owned()).into(),
        ];
        for input in inputs {
            let (line, record) = round_trip(Body::Input(input.clone()));
            assert_eq!(record.content, Content::Input(input), "{line}");
            assert!(!line.contains('\n'));
        }
    }

    #[test]
    fn the_daemons_own_records_are_read_back() {
        let resume = Resume { boot: "c".to_owned(), program: program(), logic: 1, offset_us: 5 };
        assert_eq!(round_trip(Body::Resume(resume.clone())).1.content, Content::Resume(resume));
        let cut = Cut { bytes: 7, text: "{\"seq\"".to_owned() };
        assert_eq!(round_trip(Body::Cut(cut.clone())).1.content, Content::Cut(cut));
        let note = Body::Note("the disk was full for 3 s".to_owned());
        assert_eq!(round_trip(note).1.content, Content::Note("the disk was full for 3 s".to_owned()));
    }

    #[test]
    fn a_fact_keeps_its_own_time_and_its_exact_text() {
        let fact = Fact {
            ev: -1,
            at: MonoTime::from_micros(1_000),
            kind: FactKind::MoveCompleted {
                ply: 1,
                uci: "e2e4".into(),
                by: Color::White,
                how: CompletedBy::Press,
                clock_ms: None,
            },
        };
        // It is written half a millisecond after its time, as the fact of a deadline is.
        let (line, record) = round_trip(Body::Fact(fact.clone()));
        assert!(
            line.contains("\"us\":1000,\"at\":\"2026-01-31T12:00:00.001000Z\",\"ev\":-1,\"fact\":"),
            "{line}"
        );
        let Content::Fact(recorded) = record.content else { panic!("{line}") };
        let computed = RecordedFact::of(&fact);
        assert_eq!(recorded.text, computed.text);
        assert_eq!(recorded.fields, computed.fields);
        assert_eq!((recorded.seq, recorded.at, recorded.name()), (4, fact.at, "move_completed"));
    }

    #[test]
    fn the_chain_is_the_documented_hash() {
        let entry = Entry { at: MonoTime::ZERO, wall_us: 0, body: Body::Note("n".to_owned()) };
        let (line, _) = format(&entry, 1, "");
        // printf '%s' '{"seq":1,..}' | sha256sum | cut -c1-32
        let text = "{\"seq\":1,\"us\":0,\"at\":\"1970-01-01T00:00:00.000000Z\",\"note\":{\"text\":\"n\"}}";
        let chain = hex(&Sha256::digest(text.as_bytes()));
        let expected = text.replace("\"}}", &format!("\"}},\"chain\":\"{}\"}}", chain.get(..32).unwrap()));
        assert_eq!(line, expected);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_reason() {
        let entry = Entry { at: MonoTime::ZERO, wall_us: 0, body: Body::Input(Event::Tick.into()) };
        let (line, _) = format(&entry, 2, "p");
        assert!(parse(&line, 2, "q").unwrap_err().contains("should be"));
        assert!(parse(&line, 3, "p").unwrap_err().contains("has number 2"));
        assert!(parse("{}", 2, "p").unwrap_err().contains("does not end with its chain"));
        let (unknown, _) = {
            let text = "{\"seq\":2,\"us\":0,\"at\":\"1970-01-01T00:00:00Z\",\"later\":1}";
            let chain = chain_text("p", text);
            (text.replace("1}", &format!("1,\"chain\":\"{chain}\"}}")), chain)
        };
        assert_eq!(parse(&unknown, 2, "p").unwrap().content, Content::Unknown);
    }

    #[test]
    fn times_go_on_after_a_reboot() {
        let last = MonoTime::from_micros(90_000_000);
        // Ten seconds passed on the wall clock, and the new boot is 4 s old.
        let now = MonoTime::from_micros(4_000_000);
        assert_eq!(resume_offset(last, NOON, now, NOON + 10_000_000), 96_000_000);
        // The wall clock was set back: no time passed, but the times do not run backwards.
        assert_eq!(resume_offset(last, NOON, now, 0), 86_000_000);
    }

    #[test]
    fn utc_is_written_for_every_number() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(rfc3339(u64::MAX), "9999-12-31T23:59:59.999999Z");
        for us in [0, NOON + 1, 253_402_300_799_999_999] {
            assert_eq!(parse_rfc3339(&rfc3339(us)), Some(us));
        }
    }
}
