//! Records and files of the journal.

use std::{fs, io::Cursor, path::Path};

use sha2::{Digest as _, Sha256};
use touchmoved::{
    journal::{
        Body, Cut, Entry, Journal, JournalError, JournalHeader, Resume,
        read::{self, ReadError, Reader},
        record::{self, Content},
        replay,
    },
    publish::Tags,
    session::{
        event::{Event, Unit},
        io::Input,
        setup::GameSetup,
        time::MonoTime,
    },
    wire::sensor_log,
};

use super::choices::Choices;

const NOON: u64 = 1_769_860_800_000_000;

/// Any text as a record, also with a chain that fits it: no panic. What was written reads back to
/// the same, and no changed bit is accepted.
pub fn journal_record(data: &[u8]) {
    let mut choices = Choices::new(data);
    let (seq, bits) = (choices.u64() % 1000 + 1, choices.u64());
    let rest = choices.rest();
    let text = String::from_utf8_lossy(rest);
    let previous = "00112233445566778899aabbccddeeff";
    let _ = record::parse(&text, seq, previous);
    if let Ok(record) = record::parse(&chained(&text, previous), seq, previous) {
        assert_eq!(record.seq, seq);
        if let Content::Input(input) = record.content {
            written(&entry(record.at.as_micros(), Body::Input(input)), seq, previous, bits);
        }
    }
    for body in bodies(rest) {
        written(&entry(bits >> 12, body), seq, previous, bits);
    }
}

fn entry(us: u64, body: Body) -> Entry {
    Entry { at: MonoTime::from_micros(us), wall_us: NOON, body }
}

/// Text with a chain that fits.
fn chained(text: &str, previous: &str) -> String {
    let hash = Sha256::new().chain_update(previous).chain_update(text).finalize();
    let chain: String = hash.iter().take(record::CHAIN_LEN / 2).map(|byte| format!("{byte:02x}")).collect();
    format!("{},\"chain\":\"{chain}\"}}", text.strip_suffix('}').unwrap_or(text))
}

/// What a daemon might write of these bytes.
fn bodies(data: &[u8]) -> Vec<Body> {
    let text = String::from_utf8_lossy(data).into_owned();
    let event = sensor_log::parse_event(&text).map(|stamped| Input::Event(stamped.unit, stamped.event));
    let mut bodies = vec![
        Body::Input(Input::Dgt(Unit::A, data.to_vec())),
        Body::Input(Event::Button(text.clone()).into()),
        Body::Cut(Cut { bytes: data.len() as u64, text: text.clone() }),
        Body::Resume(Resume { boot: text.clone(), ..Resume::default() }),
        Body::Note(text),
    ];
    bodies.extend(event.map(Body::Input));
    bodies
}

fn written(entry: &Entry, seq: u64, previous: &str, bits: u64) {
    let (line, chain) = record::format(entry, seq, previous);
    assert!(!line.contains('\n'));
    let record = record::parse(&line, seq, previous).unwrap_or_else(|error| panic!("{line}: {error}"));
    assert_eq!((record.seq, record.at, record.wall_us, &record.chain), (seq, entry.at, NOON, &chain));
    let same = match (&record.content, &entry.body) {
        (Content::Input(found), Body::Input(input)) => found == input,
        (Content::Cut(found), Body::Cut(cut)) => found == cut,
        (Content::Resume(found), Body::Resume(resume)) => found == resume,
        (Content::Note(found), Body::Note(note)) => found == note,
        _ => false,
    };
    assert!(same, "{line} reads as {:?}", record.content);
    let bits = bits.to_le_bytes();
    for pair in bits.chunks(2) {
        let at = usize::from(u16::from_le_bytes([pair[0], pair[1]])) % line.len();
        let mut changed = line.clone().into_bytes();
        changed[at] ^= 1 << (pair[0] % 8);
        if let Ok(changed) = String::from_utf8(changed) {
            assert!(record::parse(&changed, seq, previous).is_err(), "accepted: {changed}");
        }
    }
}

/// Any bytes as a journal, lines with a chain that fits, and a journal that was cut off or changed:
/// opening, verifying and reading never panic, a changed record is never vouched for, and what
/// comes before a torn line is recovered.
pub fn journal_file(data: &[u8]) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1.ndjson");
    let mut choices = Choices::new(data);
    match choices.below(3) {
        0 => any_file(&path, choices.rest()),
        1 => any_file(&path, &chained_lines(choices.rest())),
        _ => damaged_file(&path, choices),
    }
}

fn chained_lines(data: &[u8]) -> Vec<u8> {
    let mut chain = String::new();
    let mut file = String::new();
    for line in String::from_utf8_lossy(data).lines() {
        let line = chained(line, &chain);
        file += &line;
        file.push('\n');
        chain = line[line.len() - record::CHAIN_LEN - 2..line.len() - 2].to_owned();
    }
    file.into_bytes()
}

/// The number of records before the first bad one; `None` when all are good.
fn good_records(path: &Path, bytes: &[u8]) -> (u64, Option<ReadError>) {
    let mut reader = Reader::new(bytes, path);
    loop {
        match reader.next_record() {
            Ok(Some(record)) => assert_eq!(record.seq, reader.seq()),
            Ok(None) => return (reader.seq(), None),
            Err(error) => {
                assert!(matches!(reader.next_record(), Ok(None)));
                return (reader.seq(), Some(error));
            }
        }
    }
}

fn any_file(path: &Path, bytes: &[u8]) {
    let (good, bad) = good_records(path, bytes);
    if let Ok(mut log) = replay::read(path, Box::new(Cursor::new(bytes.to_vec()))) {
        let mut items = 0;
        while let Ok(Some(_)) = log.next_item() {
            items += 1;
        }
        assert!(items <= bytes.len());
    }
    fs::write(path, bytes).unwrap();
    let verified = read::verify(path);
    assert_eq!(verified.is_ok(), bad.is_none(), "{verified:?}");
    match Journal::recover(path) {
        Ok(recovered) => {
            assert_eq!(recovered.cut.is_some(), bad.is_some());
            let records = recovered.journal.seq();
            assert_eq!(records, good + u64::from(recovered.cut.is_some()));
            drop(recovered);
            let now = read::verify(path).expect("a recovered journal verifies");
            assert_eq!(now.records, records);
        }
        Err(JournalError::NoHeader { .. } | JournalError::Damaged { .. }) => {
            assert!(bad.is_some());
            assert_eq!(fs::read(path).unwrap(), bytes, "a damaged file is left alone");
        }
        Err(error) => panic!("{error}"),
    }
}

fn damaged_file(path: &Path, mut choices: Choices<'_>) {
    let (change, at, bit) = (choices.flag(), choices.u64(), choices.below(8));
    let header = JournalHeader::new("1", GameSetup::default(), Tags::default());
    let (mut line, mut chain) = record::format(&entry(0, Body::Header(Box::new(header))), 1, "");
    let mut bytes = Vec::new();
    let mut inputs = Vec::new();
    for seq in 2.. {
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        if choices.is_empty() || seq > 20 {
            break;
        }
        let length = choices.below(24) + 1;
        let of = bodies(choices.take(length));
        let body = of[choices.below(of.len())].clone();
        if let Body::Input(input) = &body {
            inputs.push(input.clone());
        }
        (line, chain) = record::format(&entry(seq, body), seq, &chain);
    }
    assert_eq!(good_records(path, &bytes).1.map(|error| error.to_string()), None);
    let at = usize::try_from(at % bytes.len() as u64).unwrap();
    if change {
        bytes[at] ^= 1 << bit;
        let (good, bad) = good_records(path, &bytes);
        assert!(bad.is_some(), "bit {bit} of byte {at} was changed");
        assert!(good <= bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64);
        return any_file(path, &bytes);
    }
    bytes.truncate(at);
    any_file(path, &bytes);
    let whole = bytes.iter().filter(|byte| **byte == b'\n').count();
    match Journal::recover(path) {
        Ok(recovered) => {
            let found: Vec<Input> = recovered.inputs.into_iter().map(|(_, input)| input).collect();
            assert!(inputs.starts_with(&found) && whole >= 1 && found.len() < whole);
        }
        Err(error) => assert_eq!(whole, 0, "{error}"),
    }
}
