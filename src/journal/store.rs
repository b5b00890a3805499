//! Segments on disk: created once, appended to, synchronised, recovered. Never rewritten.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

pub use super::error::JournalError;
use super::{
    read::{ReadError, Reader},
    record::{self, Body, Content, Cut, Entry, JournalHeader, Release},
};
use crate::{
    publish::release::Shown,
    session::{io::Input, time::MonoTime},
};

/// Bytes that are collected before they are handed to the system without a [`Journal::sync`].
const WRITE_AT: usize = 64 << 10;
/// Bytes that are kept at most until a [`Journal::sync`] must succeed.
const SYNC_AT: usize = 4 << 20;
/// Bytes of a torn line that are kept in the record of the cut.
const CUT_TEXT: usize = 1024;

/// A segment that is being written.
///
/// [`Journal::append`] numbers and chains an entry and keeps it in memory; the bytes reach the
/// system in portions and are on stable storage after the next [`Journal::sync`]. They are kept in
/// memory until then, so that a disk that is full or fails for a while loses nothing: the next try
/// cuts the file back to what was synchronised last and writes the rest again, in the same order.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    seq: u64,
    chain: String,
    /// Length of the file that is known to be on stable storage.
    durable: u64,
    /// Everything behind `durable`, in order.
    pending: Vec<u8>,
    /// How much of `pending` was handed to the system.
    written: usize,
    /// True after a failure: what stands behind `durable` in the file is not known.
    broken: bool,
}

/// A segment that was found and verified, ready to go on.
#[derive(Debug)]
pub struct Recovered {
    /// The journal, ready for the next entry.
    pub journal: Journal,
    /// Its header.
    pub header: JournalHeader,
    /// All inputs with their times, in order.
    pub inputs: Vec<(MonoTime, Input)>,
    /// UTC of each input, in microseconds since 1970-01-01.
    pub walls: Vec<u64>,
    /// Number of facts that are recorded. A board that runs `inputs` again and is advanced to `last`
    /// gives them first; facts behind them were not written any more and should be appended next.
    pub facts: usize,
    /// Latest time of any record.
    pub last: MonoTime,
    /// UTC of the last record, microseconds since 1970-01-01.
    pub last_wall_us: u64,
    /// Identifier of the boot that wrote last, and the offset of its times
    /// ([`record::Resume::offset_us`]).
    pub boot: (String, u64),
    /// What has left, by output.
    pub left: BTreeMap<String, Shown>,
    /// The same of the game before, as far as it left while this one was recorded.
    pub left_before: BTreeMap<String, Shown>,
    /// What was cut off the end, when the last line was torn. It is part of the journal; where the disk is full, it is
    /// recorded by the next [`Journal::sync`] that succeeds.
    pub cut: Option<Cut>,
}

impl Journal {
    /// Begins a segment: creates the file, which must not exist, writes the header and puts both
    /// the file and its name on stable storage.
    pub fn create(
        path: &Path,
        header: JournalHeader,
        at: MonoTime,
        wall_us: u64,
    ) -> Result<Journal, JournalError> {
        // It tells what players and spectators must not know: whoever has no business with it does not read it.
        let mut options = OpenOptions::new();
        let file = options.append(true).create_new(true).mode(0o640).open(path).map_err(|source| {
            if source.kind() == io::ErrorKind::AlreadyExists {
                JournalError::Exists { path: path.to_owned() }
            } else {
                JournalError::io(path, "create the file", source)
            }
        })?;
        let mut journal = Journal::over(path, file)?;
        let begun = journal
            .append(&Entry { at, wall_us, body: Body::Header(Box::new(header)) })
            .and_then(|()| journal.sync())
            .and_then(|()| sync_directory(path));
        if let Err(error) = begun {
            // Nothing was recorded: the name is free again for the next try.
            journal.pending.clear();
            let _ = fs::remove_file(path);
            return Err(error);
        }
        Ok(journal)
    }

    fn over(path: &Path, file: File) -> Result<Journal, JournalError> {
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => {
                return Err(JournalError::io(path, "lock the file", source));
            }
        }
        Ok(Journal {
            path: path.to_owned(),
            file,
            seq: 0,
            chain: String::new(),
            durable: 0,
            pending: Vec::new(),
            written: 0,
            broken: false,
        })
    }

    /// Verifies a segment, cuts a torn last line off and records the cut, and makes the segment
    /// ready for the next entry. A disk on which the cut cannot be recorded now is no error: the record comes first
    /// when the journal can be written again.
    ///
    /// The record of a cut carries the times of the record before it: what the clock said when the
    /// power failed is not known. A bad record before the last line is an error
    /// ([`JournalError::Damaged`]) and the file is left alone.
    pub fn recover(path: &Path) -> Result<Recovered, JournalError> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .map_err(|source| JournalError::io(path, "open the file", source))?;
        let mut journal = Journal::over(path, file)?;
        let mut found = Found::default();
        let mut reader = Reader::open(path).map_err(|error| read_error(path, error))?;
        let torn = loop {
            match reader.next_record() {
                Ok(Some(record)) => found.take(record),
                Ok(None) => break None,
                Err(ReadError::Bad(bad)) if bad.seq == 1 => {
                    return Err(JournalError::NoHeader { path: path.to_owned(), reason: bad.reason });
                }
                Err(ReadError::Bad(bad)) if bad.last => break Some(bad.offset),
                Err(error) => return Err(read_error(path, error)),
            }
        };
        journal.seq = reader.seq();
        reader.chain().clone_into(&mut journal.chain);
        journal.durable = reader.offset();
        let cut = match torn {
            Some(offset) => Some(journal.cut(offset, &found)?),
            None => None,
        };
        let header = found.header.ok_or_else(|| JournalError::NoHeader {
            path: path.to_owned(),
            reason: "the file is empty".to_owned(),
        })?;
        Ok(Recovered {
            journal,
            header,
            inputs: found.inputs,
            walls: found.walls,
            facts: found.facts,
            last: found.last,
            last_wall_us: found.last_wall_us,
            boot: found.boot,
            left: found.left,
            left_before: found.left_before,
            cut,
        })
    }

    fn cut(&mut self, offset: u64, found: &Found) -> Result<Cut, JournalError> {
        let tail = read_tail(&self.file, offset)
            .map_err(|source| JournalError::io(&self.path, "read the torn last line", source))?;
        let length = self
            .file
            .metadata()
            .map_err(|source| JournalError::io(&self.path, "read the file's length", source))?
            .len();
        let text = String::from_utf8_lossy(&tail).trim_end_matches(['\0', '\n']).to_owned();
        let cut = Cut { bytes: length.saturating_sub(offset), text };
        self.broken = true;
        self.append(&Entry { at: found.last, wall_us: found.last_wall_us, body: Body::Cut(cut.clone()) })?;
        // On a disk that is full the record waits; whoever goes on hears of it at the next try.
        let _ = self.sync();
        Ok(cut)
    }

    /// Numbers, chains and takes one entry.
    ///
    /// `Ok` means that the entry is part of the journal and will be written, in order, even if a
    /// later write fails for a while. On `Err` the entry was not taken, number and head are what
    /// they were, and the same entry may be handed over again.
    pub fn append(&mut self, entry: &Entry) -> Result<(), JournalError> {
        if self.pending.len() >= SYNC_AT {
            self.sync()?;
        }
        let seq = self.seq + 1;
        let (line, chain) = record::format(entry, seq, &self.chain);
        let behind = self.pending.len() - self.written;
        if behind >= WRITE_AT {
            self.write()?;
        }
        self.pending.extend_from_slice(line.as_bytes());
        self.pending.push(b'\n');
        self.seq = seq;
        self.chain = chain;
        Ok(())
    }

    /// Puts everything that was appended on stable storage. After an `Err` nothing is lost and the
    /// call may be repeated.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        if self.pending.is_empty() && !self.broken {
            return Ok(());
        }
        self.write()?;
        if let Err(source) = self.file.sync_data() {
            // The system may have dropped the pages: write them again at the next try.
            self.broken = true;
            return Err(JournalError::io(&self.path, "put the file on stable storage", source));
        }
        self.durable += self.pending.len() as u64;
        self.pending.clear();
        self.written = 0;
        Ok(())
    }

    /// Hands what is pending to the system.
    fn write(&mut self) -> Result<(), JournalError> {
        if self.broken {
            self.file
                .set_len(self.durable)
                .map_err(|source| JournalError::io(&self.path, "cut off an incomplete write", source))?;
            self.written = 0;
            self.broken = false;
        }
        let Some(rest) = self.pending.get(self.written..) else { return Ok(()) };
        if let Err(source) = (&self.file).write_all(rest) {
            self.broken = true;
            return Err(JournalError::io(&self.path, "write", source));
        }
        self.written = self.pending.len();
        Ok(())
    }

    /// Chain text of the last entry that was taken.
    pub fn head(&self) -> &str {
        &self.chain
    }

    /// Number of the last entry that was taken.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that are not on stable storage yet.
    pub fn unsynced(&self) -> usize {
        self.pending.len()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if !self.pending.is_empty() {
            let _ = self.write();
        }
    }
}

/// What recovery gathers.
#[derive(Default)]
struct Found {
    header: Option<JournalHeader>,
    inputs: Vec<(MonoTime, Input)>,
    walls: Vec<u64>,
    facts: usize,
    last: MonoTime,
    last_wall_us: u64,
    boot: (String, u64),
    left: BTreeMap<String, Shown>,
    left_before: BTreeMap<String, Shown>,
}

impl Found {
    fn take(&mut self, record: record::Record) {
        self.last = self.last.max(record.at);
        self.last_wall_us = record.wall_us;
        match record.content {
            Content::Header(header) => {
                self.boot = (header.boot.clone(), 0);
                self.header = Some(*header);
            }
            Content::Input(input) => {
                self.inputs.push((record.at, input));
                self.walls.push(record.wall_us);
            }
            Content::Fact(_) => self.facts += 1,
            Content::Resume(resume) => self.boot = (resume.boot, resume.offset_us),
            Content::Release(Release { to, left, before }) => {
                let began_us = (left.plies > 0).then_some(record.wall_us);
                let over = left.result != "*";
                let shown = Shown { ev: left.ev, us: left.known_us, plies: left.plies, over, began_us };
                let all = if before { &mut self.left_before } else { &mut self.left };
                for output in to {
                    all.entry(output).and_modify(|known| known.merge(shown)).or_insert(shown);
                }
            }
            Content::Cut(_) | Content::Note(_) | Content::Unknown => {}
        }
    }
}

fn read_error(path: &Path, error: ReadError) -> JournalError {
    match error {
        ReadError::Io { source, .. } => JournalError::io(path, "read the file", source),
        ReadError::Bad(bad) => JournalError::Damaged(bad),
    }
}

fn read_tail(file: &File, offset: u64) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::FileExt as _;
    let mut tail = vec![0; CUT_TEXT];
    let mut length = 0;
    while let Some(rest) = tail.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    tail.truncate(length);
    Ok(tail)
}

/// Puts the name of a new file on stable storage.
fn sync_directory(path: &Path) -> Result<(), JournalError> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(|source| JournalError::io(directory, "put the directory on stable storage", source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        journal::read,
        publish::{Tags, release::Left},
        session::{event::Event, setup::GameSetup},
    };

    fn entry(us: u64, body: Body) -> Entry {
        Entry { at: MonoTime::from_micros(us), wall_us: 1_769_860_800_000_000 + us, body }
    }

    fn begin(path: &Path) -> Journal {
        let header = JournalHeader::new("1", GameSetup::default(), Tags::default());
        Journal::create(path, header, MonoTime::from_micros(5), 1_769_860_800_000_005).unwrap()
    }

    #[test]
    fn what_is_appended_is_recovered_and_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        let mut journal = begin(&path);
        journal
            .append(&entry(
                10,
                Body::Input(Input::Dgt(crate::session::event::Unit::A, vec![0x8e, 0, 5, 1, 2])),
            ))
            .unwrap();
        journal.append(&entry(20, Body::Input(Event::Tick.into()))).unwrap();
        journal.sync().unwrap();
        let head = journal.head().to_owned();
        drop(journal);
        let mut recovered = Journal::recover(&path).unwrap();
        assert_eq!(recovered.journal.head(), head);
        assert_eq!(recovered.inputs.len(), 2);
        assert_eq!(recovered.last, MonoTime::from_micros(20));
        assert_eq!(recovered.cut, None);
        recovered.journal.append(&entry(30, Body::Note("on".to_owned()))).unwrap();
        recovered.journal.sync().unwrap();
        assert_eq!(read::verify(&path).unwrap().records, 4);
    }

    #[test]
    fn a_torn_last_line_is_cut_and_the_cut_is_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        drop(begin(&path));
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend_from_slice(b"{\"seq\":2,\"us\":77");
        fs::write(&path, bytes).unwrap();
        let cut = Journal::recover(&path).unwrap().cut.unwrap();
        assert_eq!(cut, Cut { bytes: 16, text: "{\"seq\":2,\"us\":77".to_owned() });
        assert_eq!(read::verify(&path).unwrap().records, 2);
        assert!(fs::read_to_string(&path).unwrap().contains("\"cut\":{\"bytes\":16"));
        assert_eq!(Journal::recover(&path).unwrap().cut, None);
    }

    #[test]
    fn what_has_left_is_recovered_also_where_an_older_version_recorded_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        let mut journal = begin(&path);
        let mut release = |us: u64, to: &str, known_us: Option<u64>, plies: usize| {
            let (result, least_us) = ("*".to_owned(), 9);
            let left = Left { ev: 4, known_us, plies, result, boards: 1, clocks: 0, least_us };
            let release = Release { to: vec![to.to_owned()], left, before: false };
            journal.append(&entry(us, Body::Release(release))).unwrap();
        };
        release(10, "pgn", None, 1);
        release(20, "http", Some(7), 1);
        release(30, "http", Some(8), 2);
        journal.sync().unwrap();
        drop(journal);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("\"release\":{\"to\":[\"pgn\"],\"ev\":4,\"plies\":1,"), "{text}");
        let left = Journal::recover(&path).unwrap().left;
        assert_eq!((left["pgn"].reached(), left["pgn"].plies), ((4, None), 1));
        assert_eq!((left["http"].reached(), left["http"].plies), ((4, Some(8)), 2));
    }

    #[test]
    fn a_bad_record_in_the_middle_is_named_and_the_file_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        let mut journal = begin(&path);
        for us in 10..15 {
            journal.append(&entry(us, Body::Input(Event::Tick.into()))).unwrap();
        }
        drop(journal);
        let changed = fs::read_to_string(&path).unwrap().replace("\"us\":12", "\"us\":13");
        fs::write(&path, &changed).unwrap();
        let error = Journal::recover(&path).unwrap_err();
        assert!(matches!(&error, JournalError::Damaged(bad) if bad.seq == 4 && !bad.last), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), changed);
    }

    #[test]
    fn a_segment_is_never_overwritten_and_has_one_writer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        let journal = begin(&path);
        let header = JournalHeader::new("1", GameSetup::default(), Tags::default());
        let again = Journal::create(&path, header, MonoTime::ZERO, 0).unwrap_err();
        assert!(matches!(again, JournalError::Exists { .. }), "{again}");
        let second = Journal::recover(&path).unwrap_err();
        assert!(matches!(second, JournalError::InUse { .. }), "{second}");
        drop(journal);
        assert!(Journal::recover(&path).is_ok());
    }

    #[test]
    fn a_file_without_a_complete_header_is_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        for text in ["", "{\"seq\":1,\"us\"", "{}\n"] {
            fs::write(&path, text).unwrap();
            let error = Journal::recover(&path).unwrap_err();
            assert!(matches!(error, JournalError::NoHeader { .. }), "{text:?}: {error}");
        }
    }

    #[test]
    fn errors_say_what_to_do() {
        let header = || JournalHeader::new("1", GameSetup::default(), Tags::default());
        let path = Path::new("/nonexistent/1/a.ndjson");
        let text = Journal::create(path, header(), MonoTime::ZERO, 0).unwrap_err().to_string();
        assert!(
            text.contains("/nonexistent/1/a.ndjson") && text.contains("create the data directory"),
            "{text}"
        );
        let full = JournalError::io(path, "write", io::Error::from(io::ErrorKind::StorageFull)).to_string();
        assert!(full.contains("free some space"), "{full}");
        let read_only = JournalError::io(path, "write", io::Error::from(io::ErrorKind::ReadOnlyFilesystem));
        assert!(read_only.to_string().contains("read-only"), "{read_only}");
    }
}
