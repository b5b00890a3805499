//! Reads a segment line by line and checks its chain.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use super::record::{self, Content, JournalHeader, Record};

/// Longest line that is read. A record is far below it; only a damaged file has longer ones.
pub(super) const MAX_LINE: u64 = 16 << 20;

/// The first record of a file that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: bad record, seq {seq}: {reason}", path.display())]
pub struct BadRecord {
    /// The file.
    pub path: PathBuf,
    /// The number that the record should have, which is its line in the file.
    pub seq: u64,
    /// Byte offset of its line.
    pub offset: u64,
    /// What is wrong with it.
    pub reason: String,
    /// True when it is the last line of the file.
    pub last: bool,
    /// True when the line has no end: a write that was interrupted, or one that is under way now.
    pub torn: bool,
}

/// Why a segment cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A record does not fit.
    #[error(transparent)]
    Bad(#[from] BadRecord),
}

/// A file that was verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// Number of records.
    pub records: u64,
    /// Chain text of the last record: it stands for the whole file.
    pub head: String,
    /// The header.
    pub header: JournalHeader,
}

/// Why [`verify`] does not vouch for a file.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is a sensor log, which has no chain.
    #[error("{}: a sensor log, which has no chain that could be checked; verify reads journals", path.display())]
    SensorLog {
        /// The file.
        path: PathBuf,
    },
    /// A record does not fit: it was changed, or records are missing before it.
    #[error(transparent)]
    Bad(#[from] BadRecord),
}

impl From<ReadError> for VerifyError {
    fn from(error: ReadError) -> VerifyError {
        match error {
            ReadError::Io { path, source } => VerifyError::Unreadable { path, source },
            ReadError::Bad(bad) => VerifyError::Bad(bad),
        }
    }
}

/// Streaming reader of a segment: every record is checked before it is handed out.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    path: PathBuf,
    seq: u64,
    offset: u64,
    chain: String,
    line: Vec<u8>,
    failed: bool,
}

impl Reader<BufReader<File>> {
    /// Opens a segment.
    pub fn open(path: &Path) -> Result<Reader<BufReader<File>>, ReadError> {
        let file = File::open(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
        Ok(Reader::new(BufReader::new(file), path))
    }
}

impl<R: BufRead> Reader<R> {
    /// Reads from `input`; `path` is its name in errors.
    pub fn new(input: R, path: &Path) -> Reader<R> {
        Reader {
            input,
            path: path.to_owned(),
            seq: 0,
            offset: 0,
            chain: String::new(),
            line: Vec::new(),
            failed: false,
        }
    }

    /// Number of the last good record, 0 before the first.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Bytes up to the end of the last good record.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Chain text of the last good record, empty before the first.
    pub fn chain(&self) -> &str {
        &self.chain
    }

    /// The next record, checked. After an error the reader gives nothing more.
    pub fn next_record(&mut self) -> Result<Option<Record>, ReadError> {
        if self.failed {
            return Ok(None);
        }
        let result = self.read_record();
        self.failed = result.is_err();
        result
    }

    fn read_record(&mut self) -> Result<Option<Record>, ReadError> {
        self.line.clear();
        let length = self.read_line().map_err(|source| self.io(source))?;
        if length == 0 {
            return if self.seq == 0 {
                Err(self.bad("the file is empty".to_owned(), true))
            } else {
                Ok(None)
            };
        }
        let (record, length) = match self.parse_line(length) {
            Ok(parsed) => parsed,
            Err(reason) => {
                let last = self.at_end().map_err(|source| self.io(source))?;
                return Err(self.bad(reason, last));
            }
        };
        self.seq = record.seq;
        self.offset += length;
        self.chain.clone_from(&record.chain);
        Ok(Some(record))
    }

    /// Fills the line buffer with the next line, its end included, and gives its length.
    fn read_line(&mut self) -> io::Result<u64> {
        let length = Read::by_ref(&mut self.input).take(MAX_LINE).read_until(b'\n', &mut self.line)?;
        Ok(length as u64)
    }

    fn parse_line(&self, length: u64) -> Result<(Record, u64), String> {
        let Some(bytes) = self.line.strip_suffix(b"\n") else {
            return Err(if length >= MAX_LINE {
                format!("the line is longer than {MAX_LINE} bytes")
            } else {
                "the line is incomplete: it has no end".to_owned()
            });
        };
        let line = std::str::from_utf8(bytes).map_err(|_| "the line is not UTF-8".to_owned())?;
        let record = record::parse(line, self.seq + 1, &self.chain)?;
        match (&record.content, record.seq) {
            (Content::Header(_), 1) => Ok((record, length)),
            (_, 1) => Err("the first record is not a header".to_owned()),
            (Content::Header(_), _) => Err("a header that is not the first record".to_owned()),
            _ => Ok((record, length)),
        }
    }

    /// True when nothing follows the line that was read last.
    fn at_end(&mut self) -> io::Result<bool> {
        if self.line.ends_with(b"\n") {
            return Ok(self.input.fill_buf()?.is_empty());
        }
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(true);
            }
            match buffer.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    self.input.consume(end + 1);
                    return Ok(self.input.fill_buf()?.is_empty());
                }
                None => {
                    let length = buffer.len();
                    self.input.consume(length);
                }
            }
        }
    }

    fn bad(&self, reason: String, last: bool) -> ReadError {
        ReadError::Bad(BadRecord {
            path: self.path.clone(),
            seq: self.seq + 1,
            offset: self.offset,
            reason,
            last,
            torn: last && !self.line.is_empty() && !self.line.ends_with(b"\n"),
        })
    }

    fn io(&self, source: io::Error) -> ReadError {
        ReadError::Io { path: self.path.clone(), source }
    }
}

/// True for a first line that heads a sensor log.
pub fn is_sensor_log_header(line: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line)
        .is_ok_and(|map| map.contains_key("sensor_log") || map.contains_key("format"))
}

/// Checks every record of a file. The file is read once and needs no other one.
pub fn verify(path: &Path) -> Result<Verified, VerifyError> {
    let mut reader = Reader::open(path)?;
    let mut header = None;
    loop {
        match reader.next_record() {
            Ok(Some(record)) => {
                if let Content::Header(found) = record.content {
                    header = Some(*found);
                }
            }
            Ok(None) => break,
            Err(ReadError::Bad(bad)) if bad.seq == 1 => {
                let first = String::from_utf8_lossy(&reader.line);
                return Err(if is_sensor_log_header(&first) {
                    VerifyError::SensorLog { path: path.to_owned() }
                } else {
                    bad.into()
                });
            }
            Err(error) => return Err(error.into()),
        }
    }
    let header = header.ok_or_else(|| reader.bad("the file is empty".to_owned(), true))?;
    Ok(Verified { records: reader.seq(), head: reader.chain().to_owned(), header })
}
