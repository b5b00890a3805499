//! What is wrong with a configuration file, and where.

use std::{cell::RefCell, fmt, ops::Range};

/// One problem of a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as it was named.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1 in characters.
    pub column: usize,
    /// The key with its tables, such as `board.sensor.dgt.port`; empty where the text is no TOML.
    pub key: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// All problems of a configuration file, in the order of its lines; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors {
    /// The problems.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

/// Collects the problems of one file.
pub(super) struct Report<'a> {
    file: &'a str,
    text: &'a str,
    problems: RefCell<Vec<Problem>>,
    /// Lines on which the text is no TOML.
    broken: RefCell<Vec<usize>>,
    #[cfg(test)]
    keys: RefCell<std::collections::BTreeSet<String>>,
}

impl<'a> Report<'a> {
    pub(super) fn new(file: &'a str, text: &'a str) -> Report<'a> {
        Report {
            file,
            text,
            problems: RefCell::default(),
            broken: RefCell::default(),
            #[cfg(test)]
            keys: RefCell::default(),
        }
    }

    /// Notes that the text is no TOML here. The rest is still read, but what follows from this
    /// place is not reported: other problems of the line, and keys that seem to be missing.
    pub(super) fn syntax(&self, span: &Range<usize>, message: &str) {
        self.add(span, "", format!("not TOML: {message}"));
        self.broken.borrow_mut().push(self.line(span.start));
    }

    /// Notes that a key is missing from the table at these bytes.
    pub(super) fn add_missing(&self, span: &Range<usize>, key: &str, message: impl Into<String>) {
        if self.broken.borrow().is_empty() {
            self.add(span, key, message);
        }
    }

    /// Notes a problem at these bytes of the text.
    pub(super) fn add(&self, span: &Range<usize>, key: &str, message: impl Into<String>) {
        let (line, column) = self.position(span.start);
        if self.broken.borrow().contains(&line) {
            return;
        }
        self.problems.borrow_mut().push(Problem {
            file: self.file.to_owned(),
            line,
            column,
            key: key.to_owned(),
            message: message.into(),
        });
    }

    /// The line of a byte, for messages that point at another place.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.position(offset).0
    }

    fn position(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset.min(self.text.len())).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.get(line_start..).map_or(0, |rest| rest.chars().count()) + 1;
        (line, column)
    }

    /// Notes the keys that a table may have, for the test of the commented default file.
    #[cfg(test)]
    pub(super) fn note_keys(&self, keys: impl Iterator<Item = String>) {
        self.keys.borrow_mut().extend(keys);
    }

    /// The keys of all tables that were read.
    #[cfg(test)]
    pub(super) fn keys(&self) -> std::collections::BTreeSet<String> {
        self.keys.borrow().clone()
    }

    /// The problems in the order of the text, or nothing when there are none.
    pub(super) fn finish(self) -> Result<(), ConfigErrors> {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(|problem| (problem.line, problem.column));
        if problems.is_empty() { Ok(()) } else { Err(ConfigErrors { problems }) }
    }
}
