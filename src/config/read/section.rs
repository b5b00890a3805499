//! A typed reader over one table of the file. Whatever is wrong goes into the [`Report`], and the
//! reading goes on with nothing in that place.

use std::{cell::RefCell, fmt::Display, ops::Range, str::FromStr};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::config::problem::Report;

/// One table, or the place where an optional one would be.
pub(super) struct Section<'a> {
    report: &'a Report<'a>,
    path: String,
    span: Range<usize>,
    table: Option<&'a DeTable<'a>>,
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(super) fn root(report: &'a Report<'a>, table: &'a Spanned<DeTable<'a>>) -> Section<'a> {
        Section {
            report,
            path: String::new(),
            span: 0..0,
            table: Some(table.get_ref()),
            known: RefCell::default(),
        }
    }

    /// True where the file has this table.
    pub(super) fn is_present(&self) -> bool {
        self.table.is_some()
    }

    /// The line on which the table starts.
    pub(super) fn line(&self) -> usize {
        self.report.line(self.span.start)
    }

    /// True where the table has this key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.is_some_and(|table| table.contains_key(key))
    }

    /// Notes a problem of the value of `key`, or of the table where the key is not given.
    pub(super) fn problem(&self, key: &str, message: impl Into<String>) {
        let value = self.table.and_then(|table| table.get(key));
        self.problem_at(key, &value.map_or_else(|| self.span.clone(), Spanned::span), message);
    }

    /// Notes a problem of `key` at a place of its own.
    pub(super) fn problem_at(&self, key: &str, span: &Range<usize>, message: impl Into<String>) {
        self.report.add(span, &self.path_of(key), message);
    }

    /// Notes that a key is missing, unless it is there and was refused already.
    pub(super) fn missing(&self, key: &str, remedy: &str) {
        if !self.has(key) {
            self.report.add_missing(&self.span, &self.path_of(key), format!("missing; {remedy}"));
        }
    }

    /// A whole number in a range; `unit` reads like `of milliseconds`, or is empty.
    pub(super) fn integer(&self, key: &'static str, unit: &str, min: u64, max: u64) -> Option<u64> {
        let value = self.take(key)?;
        let number = whole(value.get_ref()).filter(|number| (min..=max).contains(number));
        if number.is_none() {
            let space = if unit.is_empty() { "" } else { " " };
            self.wrong(key, value, &format!("a whole number{space}{unit} from {min} to {max}"));
        }
        number
    }

    /// `true` or `false`.
    pub(super) fn boolean(&self, key: &'static str) -> Option<bool> {
        let value = self.take(key)?;
        let read = value.get_ref().as_bool();
        if read.is_none() {
            self.wrong(key, value, "true or false");
        }
        read
    }

    /// A text of 1 to 255 characters on one line.
    pub(super) fn text(&self, key: &'static str) -> Option<&'a str> {
        let value = self.take(key)?;
        let text = value.get_ref().as_str().filter(|text| is_line(text));
        if text.is_none() {
            self.wrong(key, value, LINE);
        }
        text
    }

    /// As [`Section::text`], but a whole number is taken as its digits.
    pub(super) fn label(&self, key: &'static str) -> Option<String> {
        let value = self.take(key)?;
        let text = value.get_ref().as_str().filter(|text| is_line(text)).map(str::to_owned);
        let label = text.or_else(|| whole(value.get_ref()).map(|number| number.to_string()));
        if label.is_none() {
            self.wrong(key, value, LINE);
        }
        label
    }

    /// A text that another type reads; its error tells what would be right.
    pub(super) fn parsed<T>(&self, key: &'static str) -> Option<T>
    where
        T: FromStr<Err: Display>,
    {
        self.text(key)?.parse().map_err(|error: T::Err| self.problem(key, error.to_string())).ok()
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(&self, key: &'static str, words: &[(&str, T)]) -> Option<T> {
        let value = self.take(key)?;
        let given = value.get_ref().as_str();
        let read = words.iter().find(|(word, _)| Some(*word) == given).map(|(_, meaning)| *meaning);
        if read.is_none() {
            self.wrong(key, value, &alternatives(words.iter().map(|(word, _)| format!("{word:?}"))));
        }
        read
    }

    /// A list; each item is read on its own, and `what` names what an item should be.
    pub(super) fn list<T>(
        &self,
        key: &'static str,
        what: &str,
        item: impl Fn(&DeValue<'a>) -> Option<T>,
    ) -> Option<Vec<(T, Range<usize>)>> {
        let value = self.take(key)?;
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(key, value, &format!("a list in square brackets, each item {what}"));
            return None;
        };
        let mut read = Vec::new();
        for element in items {
            match item(element.get_ref()) {
                Some(value) => read.push((value, element.span())),
                None => self.wrong(key, element, what),
            }
        }
        (read.len() == items.len()).then_some(read)
    }

    /// A value that only the caller can judge; it reports with [`Section::wrong`].
    pub(super) fn any(&self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.take(key)
    }

    /// A table inside this one, also where the file does not have it.
    pub(super) fn section(&self, key: &'static str) -> Section<'a> {
        let value = self.take(key);
        let table = value.and_then(|value| {
            let table = value.get_ref().as_table();
            if table.is_none() {
                self.wrong(key, value, &format!("a table, [{}]", self.path_of(key)));
            }
            table
        });
        let span = value.map_or_else(|| self.span.clone(), Spanned::span);
        self.child(key, span, table)
    }

    /// The tables of a list of tables, such as `[[board]]`.
    pub(super) fn sections(&self, key: &'static str) -> Vec<Section<'a>> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let found: Option<Vec<_>> = value.get_ref().as_array().and_then(|items| {
            items.iter().map(|item| item.get_ref().as_table().map(|table| (item.span(), table))).collect()
        });
        let Some(found) = found else {
            self.problem(
                key,
                format!("expected a list of tables, each one starting with [[{key}]] in double brackets"),
            );
            return Vec::new();
        };
        found.into_iter().map(|(span, table)| self.child(key, span, Some(table))).collect()
    }

    /// Notes that a value is not what was expected.
    pub(super) fn wrong(&self, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) {
        let found = describe(value.get_ref());
        self.problem_at(key, &value.span(), format!("expected {expected}, found {found}"));
    }

    /// Ends the reading of this table: every key that nobody asked for is unknown.
    pub(super) fn finish(self) {
        let known = self.known.borrow();
        for key in self.table.into_iter().flat_map(|table| table.keys()) {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                continue;
            }
            let mut names = known.clone();
            names.sort_unstable();
            let close = names.iter().find(|known| is_close(known, name));
            let hint = close.map_or_else(
                || format!("known here: {}", names.join(", ")),
                |close| format!("did you mean {close}?"),
            );
            self.problem_at(name, &key.span(), format!("unknown key; {hint}"));
        }
        #[cfg(test)]
        self.report.note_keys(known.iter().map(|key| self.path_of(key)));
    }

    fn take(&self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.known.borrow_mut().push(key);
        self.table?.get(key)
    }

    fn child(&self, key: &str, span: Range<usize>, table: Option<&'a DeTable<'a>>) -> Section<'a> {
        Section { report: self.report, path: self.path_of(key), span, table, known: RefCell::default() }
    }

    /// The key with its tables.
    pub(super) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

const LINE: &str = "a text in quotes, of 1 to 255 characters on one line";

fn is_line(text: &str) -> bool {
    (1..=255).contains(&text.chars().count()) && !text.contains(|c: char| c.is_control())
}

/// A whole number that is not negative.
pub(super) fn whole(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// `a`, `a or b`, `a, b or c`.
fn alternatives(words: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> = words.collect();
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} or {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}

fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(word) => word.to_string(),
        DeValue::Datetime(date) => format!("the date or time {date}"),
        DeValue::Array(items) => format!("a list of {}", items.len()),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// True for names that a slip of the keyboard turns into each other: one character added, lost or
/// changed, two neighbours swapped, `_` for `-`, or another case.
fn is_close(known: &str, given: &str) -> bool {
    let given = given.to_ascii_lowercase().replace('_', "-");
    let (a, b): (Vec<char>, Vec<char>) = (known.chars().collect(), given.chars().collect());
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let tail = a.iter().skip(head).rev().zip(b.iter().skip(head).rev()).take_while(|(x, y)| x == y).count();
    let middle = |chars: &[char]| -> Vec<char> {
        chars.iter().skip(head).take(chars.len() - head - tail).copied().collect()
    };
    let (left, right) = (middle(&a), middle(&b));
    let swapped = left.len() == 2 && left.iter().eq(right.iter().rev());
    swapped || (left.len() <= 1 && right.len() <= 1)
}
