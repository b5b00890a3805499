//! Lines from a file, a pipe or a FIFO, without ever blocking for long.

use std::{
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{FileType, Mode, OFlags},
    io::Errno,
};

/// A longer line is no line of a sensor log.
pub(super) const MAX_LINE: usize = 256 * 1024;

/// How long one look at the input may take.
const POLL: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// What one look at the input gives.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A line without its end.
    Line(Vec<u8>),
    /// A line that was longer than [`MAX_LINE`]; it was skipped.
    TooLong,
    /// Nothing has come.
    Idle,
    /// The end of the input, or the writer of a FIFO has gone.
    Closed,
}

/// What kind of input it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A regular file: everything is there.
    File,
    /// A pipe or a terminal: it comes when it comes, and ends.
    Pipe,
    /// A FIFO: writers come and go.
    Fifo,
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines {
    input: OwnedFd,
    kind: Kind,
    buffer: Vec<u8>,
    /// How much of the buffer was searched for a line end.
    searched: usize,
    /// Inside a line that is too long.
    skipping: bool,
    ended: bool,
}

fn open_input(path: &Path) -> Result<OwnedFd, Errno> {
    // A FIFO opens at once, whether or not somebody writes.
    rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())
}

impl Lines {
    /// Opens a path, or standard input for `-`.
    pub(super) fn open(path: &Path) -> Result<Lines, std::io::Error> {
        if path.as_os_str() == "-" {
            let mut lines = Lines::from_input(std::io::stdin().as_fd().try_clone_to_owned()?)?;
            if lines.kind == Kind::Fifo {
                lines.kind = Kind::Pipe;
            }
            return Ok(lines);
        }
        Lines::from_input(open_input(path)?)
    }

    fn from_input(input: OwnedFd) -> Result<Lines, std::io::Error> {
        let kind = match FileType::from_raw_mode(rustix::fs::fstat(&input)?.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Fifo => Kind::Fifo,
            FileType::Directory => return Err(std::io::Error::from(std::io::ErrorKind::IsADirectory)),
            _ => Kind::Pipe,
        };
        Ok(Lines { input, kind, buffer: Vec::new(), searched: 0, skipping: false, ended: false })
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Opens the FIFO again after its writer has gone. The old descriptor is closed afterwards, so
    /// that a new writer never meets a FIFO without a reader.
    pub(super) fn reopen(&mut self, path: &Path) -> Result<(), std::io::Error> {
        self.input = open_input(path)?;
        self.ended = false;
        Ok(())
    }

    /// The next line, or what there is instead after at most 20 ms.
    pub(super) fn next(&mut self) -> Result<Next, std::io::Error> {
        loop {
            if let Some(next) = self.buffered() {
                return Ok(next);
            }
            if self.ended {
                return Ok(self.rest());
            }
            let mut fds = [PollFd::new(&self.input, PollFlags::IN)];
            match poll(&mut fds, Some(&POLL)) {
                Ok(0) | Err(Errno::INTR) => return Ok(Next::Idle),
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            let mut chunk = [0; 16 * 1024];
            match rustix::io::read(&self.input, &mut chunk) {
                Ok(0) => self.ended = true,
                Ok(count) => self.buffer.extend_from_slice(chunk.get(..count).unwrap_or_default()),
                Err(Errno::INTR | Errno::AGAIN) => return Ok(Next::Idle),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn buffered(&mut self) -> Option<Next> {
        let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(found) = unsearched.iter().position(|byte| *byte == b'\n') else {
            if self.buffer.len() > MAX_LINE {
                self.skipping = true;
                self.buffer.clear();
            }
            self.searched = self.buffer.len();
            return None;
        };
        let mut line: Vec<u8> = self.buffer.drain(..=self.searched + found).collect();
        self.searched = 0;
        if std::mem::take(&mut self.skipping) || line.len() > MAX_LINE {
            return Some(Next::TooLong);
        }
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(Next::Line(line))
    }

    /// What is left when the input has ended.
    fn rest(&mut self) -> Next {
        self.searched = 0;
        if std::mem::take(&mut self.skipping) {
            self.buffer.clear();
            return Next::TooLong;
        }
        match std::mem::take(&mut self.buffer) {
            line if line.is_empty() => Next::Closed,
            line => Next::Line(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn all(content: &[u8]) -> Vec<Next> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        let mut lines = Lines::open(file.path()).unwrap();
        assert_eq!(lines.kind(), Kind::File);
        let mut out = Vec::new();
        loop {
            let next = lines.next().unwrap();
            if next == Next::Closed {
                return out;
            }
            out.push(next);
        }
    }

    fn line(text: &str) -> Next {
        Next::Line(text.as_bytes().to_vec())
    }

    #[test]
    fn line_ends_of_both_kinds_and_a_last_line_without_one() {
        assert_eq!(all(b"one\r\n\ntwo"), [line("one"), line(""), line("two")]);
        assert_eq!(all(b""), []);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
        let mut content = vec![b'x'; 3 * MAX_LINE];
        content.extend_from_slice(b"\nnext\n");
        assert_eq!(all(&content), [Next::TooLong, line("next")]);
        assert_eq!(all(&vec![b'x'; 2 * MAX_LINE]), [Next::TooLong]);
        let fits = "y".repeat(MAX_LINE - 1);
        assert_eq!(all(format!("{fits}\n").as_bytes()), [line(&fits)]);
    }
}
