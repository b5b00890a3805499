//! A sensor log as a source: a file, standard input, or a FIFO whose writers come and go.
//!
//! The stamps are those of the log, from its own zero (see the time lines of [`crate::sensor`]).
//! Nothing ends the source but the end of the input: a line that cannot be read is reported as an
//! [`Event::Device`] with file, line, reason and text, and the next line is read.
//!
//! A pipe or a FIFO is live: what its writer stamps is followed in real time (times the speed), and
//! deadlines fire while it is silent. A writer whose stamps fall behind what was told already (it
//! was started again, or its clock is slow) is shifted forward, with the spacing kept.

mod lines;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use self::lines::{Kind, Lines, MAX_LINE, Next};
use super::{Pace, Sink, Source, SourceError, Stop, Timeline, pacer::Pacer};
use crate::{
    session::{
        event::{Event, Stamped},
        io::Input,
        setup::GameSetup,
        time::MonoTime,
    },
    wire::sensor_log::{format_header, header_to_map, parse_event, parse_header},
};

/// While a live writer is silent its time is told this much late, in microseconds of real time: a
/// line needs a moment from the writer to here.
const TRANSIT_US: u64 = 100_000;

/// A live writer whose stamps go back further than this has been started again, in microseconds.
const NEW_ZERO_US: u64 = 1_000_000;

/// Lines with errors that are reported one by one; then only their number is.
const REPORTED_LINES: u64 = 200;

/// Characters of a bad line that are kept in its report.
const KEPT_TEXT: usize = 200;

/// What an earlier run has delivered.
#[derive(Clone, Copy, Debug)]
struct Resume {
    /// Stamp of its last reading.
    last: MonoTime,
    /// How many readings.
    count: usize,
}

/// Reads a sensor log and delivers it at a pace.
#[derive(Debug)]
pub struct SensorLogSource {
    path: PathBuf,
    name: String,
    lines: Lines,
    pace: Pace,
    /// What the session was made with; a header that comes later is compared with it.
    setup: Option<GameSetup>,
    resume: Option<Resume>,
    /// Number of the line that was read last.
    line: u64,
}

impl SensorLogSource {
    /// Opens a file, a FIFO or, for `-`, standard input.
    ///
    /// The set-up is that of the header. It is `None` for a live input, whose header comes later:
    /// the session is then made with the configured set-up, which [`SensorLogSource::with_setup`]
    /// tells the source.
    pub fn open(path: &Path, pace: Pace) -> Result<(Option<GameSetup>, SensorLogSource), SourceError> {
        let name =
            if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() };
        let lines = Lines::open(path).map_err(|error| device(&name, &error))?;
        let mut source =
            SensorLogSource { path: path.to_owned(), name, lines, pace, setup: None, resume: None, line: 0 };
        if source.lines.kind() != Kind::File {
            return Ok((None, source));
        }
        let setup = source.header()?;
        source.setup = Some(setup.clone());
        Ok((Some(setup), source))
    }

    /// Tells with which set-up the session is made, so that a different header is reported.
    pub fn with_setup(mut self, setup: &GameSetup) -> SensorLogSource {
        self.setup = Some(setup.clone());
        self
    }

    /// Goes on after an interruption: the first `count` readings of a file are skipped, which is
    /// exact even where several carry the same stamp; a live writer is shifted behind `last`.
    pub fn resume(mut self, last: MonoTime, count: usize) -> SensorLogSource {
        self.resume = Some(Resume { last, count });
        self
    }

    fn header(&mut self) -> Result<GameSetup, SourceError> {
        let wrong = |reason: String| SourceError::Log { file: self.name.clone(), line: 1, reason };
        let bytes = match self.lines.next().map_err(|error| device(&self.name, &error))? {
            Next::Line(bytes) => bytes,
            Next::TooLong => return Err(wrong(too_long())),
            Next::Idle | Next::Closed => return Err(wrong("the file is empty".to_owned())),
        };
        self.line = 1;
        let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
        parse_header(&text).map_err(|error| wrong(error.to_string()))
    }
}

fn device(name: &str, error: &std::io::Error) -> SourceError {
    SourceError::Device {
        what: name.to_owned(),
        reason: error.to_string(),
        remedy: "check that the file exists and that the user of the daemon may read it".to_owned(),
    }
}

fn too_long() -> String {
    format!("the line is longer than {MAX_LINE} bytes")
}

impl Source for SensorLogSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn timeline(&self) -> Timeline {
        Timeline::of(self.pace)
    }

    fn run(self: Box<Self>, sink: &Sink, stop: &Stop) -> Result<(), SourceError> {
        let live = self.lines.kind() != Kind::File;
        let (start, skip) = match self.resume {
            None => (MonoTime::ZERO, 0),
            Some(resume) if live => (resume.last, 0),
            Some(resume) => (MonoTime::ZERO, resume.count),
        };
        let mut run = Run {
            live,
            pacer: None,
            shift: 0,
            last: None,
            start,
            skip,
            expected: self.setup.as_ref().map(header_to_map),
            bad: 0,
            backwards: 0,
            sink,
            stop,
            source: *self,
        };
        run.read()
    }
}

/// One run of the source.
struct Run<'a> {
    source: SensorLogSource,
    live: bool,
    /// Starts with the first event.
    pacer: Option<Pacer>,
    /// Microseconds that are added to the stamps of a live writer.
    shift: u64,
    /// The writer's own last stamp; `None` before its first one.
    last: Option<MonoTime>,
    /// Nothing is delivered before this.
    start: MonoTime,
    /// Readings that an earlier run has delivered and this one leaves out.
    skip: usize,
    expected: Option<Map<String, Value>>,
    bad: u64,
    backwards: u64,
    sink: &'a Sink,
    stop: &'a Stop,
}

impl Run<'_> {
    fn read(&mut self) -> Result<(), SourceError> {
        while !self.stop.is_set() {
            match self.source.lines.next().map_err(|error| device(&self.source.name, &error))? {
                Next::Line(bytes) => {
                    self.source.line += 1;
                    if !self.line(&bytes)? {
                        return Ok(());
                    }
                }
                Next::TooLong => {
                    self.source.line += 1;
                    self.bad_line(&too_long(), "")?;
                }
                Next::Idle => self.idle()?,
                Next::Closed if self.source.lines.kind() == Kind::Fifo => {
                    self.source
                        .lines
                        .reopen(&self.source.path)
                        .map_err(|error| device(&self.source.name, &error))?;
                    // Another writer may count from another zero.
                    self.last = None;
                    self.source.line = 0;
                }
                Next::Closed => return self.end(),
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), SourceError> {
        if self.bad > REPORTED_LINES {
            let count = self.bad;
            self.note("error", json!(format!("{count} lines could not be read in all")), &[])?;
        }
        match &mut self.pacer {
            Some(pacer) => pacer.tail(self.sink, self.stop).map(|_| ()),
            None => Ok(()),
        }
    }

    /// The time of a live writer goes on while it is silent.
    fn idle(&mut self) -> Result<(), SourceError> {
        let Pace::At(speed) = self.source.pace else { return Ok(()) };
        let Some(pacer) = &mut self.pacer else { return Ok(()) };
        let transit = TRANSIT_US * u64::from(speed.factor());
        let at = MonoTime::from_micros(pacer.now().as_micros().saturating_sub(transit));
        pacer.tell(at, self.sink)
    }

    /// Takes a line; false when the end was asked for.
    fn line(&mut self, bytes: &[u8]) -> Result<bool, SourceError> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) if text.trim().is_empty() => return Ok(true),
            Ok(text) => text,
            Err(error) => {
                let shown = String::from_utf8_lossy(bytes).into_owned();
                self.bad_line(&error.to_string(), &shown)?;
                return Ok(true);
            }
        };
        match parse_event(text) {
            Ok(stamped) => self.deliver(stamped),
            Err(error) => {
                match parse_header(text) {
                    Ok(setup) if self.live => {
                        self.last = None;
                        self.compare(&setup)?;
                    }
                    _ => self.bad_line(&error.to_string(), text)?,
                }
                Ok(true)
            }
        }
    }

    fn deliver(&mut self, stamped: Stamped) -> Result<bool, SourceError> {
        let at = self.place(stamped.at)?;
        if self.leave_out() {
            self.start = at;
            return Ok(true);
        }
        let pace = self.source.pace;
        let pacer = self.pacer.get_or_insert_with(|| Pacer::start(pace, at));
        if !pacer.wait(at, self.sink, self.stop)? {
            return Ok(false);
        }
        self.sink.send(at, Input::Event(stamped.unit, stamped.event))?;
        pacer.sent(at);
        Ok(true)
    }

    /// True for a reading that an earlier run has delivered.
    fn leave_out(&mut self) -> bool {
        let known = self.skip > 0;
        self.skip = self.skip.saturating_sub(1);
        known
    }

    /// Where a stamp of the log is on the time line that is delivered.
    fn place(&mut self, stamp: MonoTime) -> Result<MonoTime, SourceError> {
        let last = self.last;
        let told = self.told();
        let at = stamp.plus_micros(self.shift);
        if at >= told {
            self.last = Some(stamp);
            return Ok(at);
        }
        // A writer that goes back a little has its events out of order; one that goes back far, or
        // comes after a header, counts from another zero.
        let in_order = last.is_none_or(|last| stamp >= last || last.since(stamp) > NEW_ZERO_US);
        if self.live && in_order {
            self.last = Some(stamp);
            self.shift += told.since(at);
            let stamps = [("shift_us", json!(self.shift))];
            self.note("note", json!("stamps are behind the time that has passed and are shifted"), &stamps)?;
            return Ok(told);
        }
        self.backwards += 1;
        if self.backwards == 1 {
            let stamps = [("us", json!(stamp.as_micros())), ("before_us", json!(told.as_micros()))];
            self.note("error", json!("the time goes back; it is held until it is passed again"), &stamps)?;
        }
        Ok(told)
    }

    fn told(&self) -> MonoTime {
        self.pacer.as_ref().map_or(self.start, Pacer::told)
    }

    /// A header of a live writer: the session was made before it came.
    fn compare(&mut self, setup: &GameSetup) -> Result<(), SourceError> {
        let Some(expected) = &self.expected else { return Ok(()) };
        let found = header_to_map(setup);
        let differing: Vec<Value> = expected
            .keys()
            .chain(found.keys().filter(|key| !expected.contains_key(*key)))
            .filter(|key| expected.get(*key) != found.get(*key))
            .map(|key| json!(key))
            .collect();
        if differing.is_empty() {
            return Ok(());
        }
        let header: Value = serde_json::from_str(&format_header(setup)).unwrap_or(Value::Null);
        let fields = [("differs", Value::Array(differing)), ("header", header)];
        self.note("error", json!("the header differs from the configured game, which is kept"), &fields)
    }

    fn bad_line(&mut self, reason: &str, text: &str) -> Result<(), SourceError> {
        self.bad += 1;
        if self.bad > REPORTED_LINES {
            return Ok(());
        }
        let shown: String = text.chars().take(KEPT_TEXT).collect();
        self.note("error", json!(reason), &[("text", json!(shown))])
    }

    /// Records what the source has to say about its input.
    fn note(&mut self, key: &str, what: Value, more: &[(&str, Value)]) -> Result<(), SourceError> {
        if self.leave_out() {
            return Ok(());
        }
        let (file, line) = (self.source.name.clone(), self.source.line);
        tracing::warn!(%file, line, "{}", what.as_str().unwrap_or_default());
        let mut map = Map::new();
        map.insert("source".to_owned(), json!("sensor-log"));
        map.insert("file".to_owned(), json!(file));
        map.insert("line".to_owned(), json!(line));
        map.insert(key.to_owned(), what);
        for (key, value) in more {
            map.insert((*key).to_owned(), value.clone());
        }
        self.sink.send(self.told(), Event::Device(Value::Object(map)))
    }
}
