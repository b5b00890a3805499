//! A journal or a sensor log, whichever it is, as one stream of inputs and recorded facts.

use std::{
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Chain, Cursor},
    path::{Path, PathBuf},
};

use super::{
    read::{BadRecord, MAX_LINE, ReadError, Reader},
    record::{Content, Cut, JournalHeader, RecordedFact, Release, Resume},
};
use crate::{
    session::{io::Input, setup::GameSetup, time::MonoTime},
    wire::sensor_log,
};

/// Why a log cannot be read any further.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of a sensor log cannot be read.
    #[error("{}, line {line}: {reason}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A record of a journal does not fit.
    #[error(transparent)]
    Bad(BadRecord),
}

/// One thing out of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its line in the file, counted from 1; in a journal the number of the record.
    pub line: u64,
    /// Its time.
    pub at: MonoTime,
    /// UTC in microseconds since 1970-01-01, where the log tells it (journals).
    pub wall_us: Option<u64>,
    /// What it is.
    pub kind: ItemKind,
}

/// What an [`Item`] is. A sensor log holds inputs only.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// An input, to be handed to [`Board::input`](crate::game::Board::input).
    Input(Input),
    /// A fact that was recorded.
    Fact(RecordedFact),
    /// The daemon went on after it was gone.
    Resume(Resume),
    /// A torn line was cut off.
    Cut(Cut),
    /// A remark of the daemon.
    Note(String),
    /// Something left the daemon.
    Release(Release),
}

/// An open log: a sensor log or a journal.
pub struct Log {
    file: PathBuf,
    setup: GameSetup,
    source: Source,
}

enum Source {
    SensorLog { input: Box<dyn BufRead>, line: u64, text: Vec<u8> },
    Journal(Box<JournalSource>),
}

/// A first line that was read already, and the rest behind it.
type Rejoined = Chain<Cursor<Vec<u8>>, Box<dyn BufRead>>;

struct JournalSource {
    header: JournalHeader,
    begun: (MonoTime, u64),
    reader: Reader<Rejoined>,
    torn: Option<BadRecord>,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("file", &self.file).field("journal", &self.is_journal()).finish()
    }
}

/// Opens a log. `-` is standard input.
pub fn open(path: &Path) -> Result<Log, LogError> {
    if path == Path::new("-") {
        return read("standard input", Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(path).map_err(|source| LogError::Io { file: path.to_owned(), source })?;
    read(path, Box::new(BufReader::with_capacity(64 << 10, file)))
}

/// Reads a log from any input; `name` stands in errors.
pub fn read(name: impl AsRef<Path>, mut input: Box<dyn BufRead>) -> Result<Log, LogError> {
    let file = name.as_ref().to_owned();
    let mut first = Vec::new();
    read_line(&mut input, &mut first, &file, 1)?;
    if first.starts_with(b"{\"seq\":") {
        return read_journal(file, first, input);
    }
    let line = |reason: String| LogError::Line { file: file.clone(), line: 1, reason };
    if first.is_empty() {
        return Err(line("the file is empty".to_owned()));
    }
    let text = std::str::from_utf8(&first).map_err(|_| line("not UTF-8".to_owned()))?;
    let setup = sensor_log::parse_header(text.trim()).map_err(|e| line(e.to_string()))?;
    Ok(Log { file, setup, source: Source::SensorLog { input, line: 1, text: Vec::new() } })
}

/// Reads a line of a bounded length.
fn read_line(
    input: &mut Box<dyn BufRead>,
    line: &mut Vec<u8>,
    file: &Path,
    number: u64,
) -> Result<usize, LogError> {
    let length = io::Read::take(&mut *input, MAX_LINE)
        .read_until(b'\n', line)
        .map_err(|source| LogError::Io { file: file.to_owned(), source })?;
    if length as u64 >= MAX_LINE {
        let reason = format!("the line is longer than {MAX_LINE} bytes");
        return Err(LogError::Line { file: file.to_owned(), line: number, reason });
    }
    Ok(length)
}

fn read_journal(file: PathBuf, first: Vec<u8>, input: Box<dyn BufRead>) -> Result<Log, LogError> {
    let mut reader = Reader::new(io::Read::chain(Cursor::new(first), input), &file);
    let record = reader.next_record().map_err(log_error)?;
    let Some((Content::Header(header), at, wall_us)) = record.map(|r| (r.content, r.at, r.wall_us)) else {
        return Err(LogError::Line { file, line: 1, reason: "the journal has no header".to_owned() });
    };
    let setup = header.setup.clone();
    let source = JournalSource { header: *header, begun: (at, wall_us), reader, torn: None };
    Ok(Log { file, setup, source: Source::Journal(Box::new(source)) })
}

fn log_error(error: ReadError) -> LogError {
    match error {
        ReadError::Io { path, source } => LogError::Io { file: path, source },
        ReadError::Bad(bad) => LogError::Bad(bad),
    }
}

impl Log {
    /// The set-up of the game.
    pub fn setup(&self) -> &GameSetup {
        &self.setup
    }

    /// Name of the file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// True for a journal.
    pub fn is_journal(&self) -> bool {
        matches!(self.source, Source::Journal(_))
    }

    /// The header of a journal, with its monotonic time and its UTC.
    pub fn header(&self) -> Option<(&JournalHeader, MonoTime, u64)> {
        match &self.source {
            Source::Journal(journal) => Some((&journal.header, journal.begun.0, journal.begun.1)),
            Source::SensorLog { .. } => None,
        }
    }

    /// Records read so far and the chain text of the last one (journals).
    pub fn head(&self) -> Option<(u64, &str)> {
        match &self.source {
            Source::Journal(journal) => Some((journal.reader.seq(), journal.reader.chain())),
            Source::SensorLog { .. } => None,
        }
    }

    /// The last line, once the end was reached, when it is incomplete: the daemon is writing it
    /// now, or the power failed while it did. It is left out.
    pub fn torn(&self) -> Option<&BadRecord> {
        match &self.source {
            Source::Journal(journal) => journal.torn.as_ref(),
            Source::SensorLog { .. } => None,
        }
    }

    /// The next item; `None` at the end.
    pub fn next_item(&mut self) -> Result<Option<Item>, LogError> {
        match &mut self.source {
            Source::Journal(journal) => journal.next_item(),
            Source::SensorLog { input, line, text } => next_event(&self.file, input, line, text),
        }
    }
}

impl Iterator for Log {
    type Item = Result<Item, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_item().transpose()
    }
}

impl JournalSource {
    fn next_item(&mut self) -> Result<Option<Item>, LogError> {
        loop {
            let record = match self.reader.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(None),
                Err(ReadError::Bad(bad)) if bad.last && bad.torn => {
                    self.torn = Some(bad);
                    return Ok(None);
                }
                Err(error) => return Err(log_error(error)),
            };
            let kind = match record.content {
                Content::Input(input) => ItemKind::Input(input),
                Content::Fact(fact) => ItemKind::Fact(fact),
                Content::Resume(resume) => ItemKind::Resume(resume),
                Content::Cut(cut) => ItemKind::Cut(cut),
                Content::Note(text) => ItemKind::Note(text),
                Content::Release(release) => ItemKind::Release(release),
                Content::Header(_) | Content::Unknown => continue,
            };
            return Ok(Some(Item { line: record.seq, at: record.at, wall_us: Some(record.wall_us), kind }));
        }
    }
}

fn next_event(
    file: &Path,
    input: &mut Box<dyn BufRead>,
    line: &mut u64,
    text: &mut Vec<u8>,
) -> Result<Option<Item>, LogError> {
    loop {
        text.clear();
        if read_line(input, text, file, *line + 1)? == 0 {
            return Ok(None);
        }
        *line += 1;
        let bad = |reason: String| LogError::Line { file: file.to_owned(), line: *line, reason };
        let event = std::str::from_utf8(text).map_err(|_| bad("not UTF-8".to_owned()))?.trim();
        if event.is_empty() {
            continue;
        }
        let stamped = sensor_log::parse_event(event).map_err(|e| bad(e.to_string()))?;
        let kind = ItemKind::Input(Input::Event(stamped.unit, stamped.event));
        return Ok(Some(Item { line: *line, at: stamped.at, wall_us: None, kind }));
    }
}
