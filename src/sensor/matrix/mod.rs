//! A matrix of 64 reed contacts that is scanned row by row.
//!
//! [`MatrixPort`] is the electrical side: eight rows of which one is selected, eight columns that
//! are read. [`MatrixSource`] scans it in a thread of its own and reports contact edges with the
//! time at which their row was read. It does not debounce: that is the session's part, and the
//! journal keeps the edges. `docs/hardware.md` shows the wiring.

#[cfg(feature = "gpio")]
pub mod gpio;
pub mod pins;

use serde_json::json;
use shakmaty::{Bitboard, File, Rank, Square};

use super::{Sink, Source, SourceError, Stop, sleep_unless_stopped};
use crate::{
    session::{event::Event, time::MonoTime},
    sysclock,
};

/// Rows and columns of a matrix.
pub const LINES: usize = 8;

/// Why a port failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PortError(
    /// What is wrong, in words.
    pub String,
);

/// The lines of a matrix.
pub trait MatrixPort: Send {
    /// A short name for errors, such as `GPIO header`.
    fn name(&self) -> String;

    /// Selects one row, 0 to 7, and releases the one that was selected before.
    fn select(&mut self, row: usize) -> Result<(), PortError>;

    /// Waits until the columns have followed the selection.
    fn settle(&mut self);

    /// The columns of the selected row: bit `n` is set when the contact of column `n` is closed.
    fn read_columns(&mut self) -> Result<u8, PortError>;
}

/// What the rows of the matrix are on the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowsAre {
    /// Row 0 is the first rank, column 0 the a-file.
    #[default]
    Ranks,
    /// Row 0 is the a-file, column 0 the first rank.
    Files,
}

impl RowsAre {
    /// The square at a row and a column, each 0 to 7.
    fn square(self, row: usize, column: usize) -> Option<Square> {
        let (file, rank) = match self {
            RowsAre::Ranks => (column, row),
            RowsAre::Files => (row, column),
        };
        let line = |index: usize| u32::try_from(index).ok().filter(|index| *index < 8);
        Some(Square::from_coords(File::new(line(file)?), Rank::new(line(rank)?)))
    }
}

/// How the matrix is scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan {
    /// What the rows are.
    pub rows_are: RowsAre,
    /// Microseconds from the start of one scan to the start of the next: 1 000 to 100 000.
    pub period_us: u64,
}

impl Default for Scan {
    fn default() -> Scan {
        Scan { rows_are: RowsAre::Ranks, period_us: 5_000 }
    }
}

/// A scan that begins this many periods late is an overrun.
const OVERRUN_PERIODS: u64 = 3;
/// Overruns are reported at most this often.
const REPORT_US: u64 = 10_000_000;
/// A port that failed is tried again after this time.
const RETRY_US: u64 = 1_000_000;

/// Scans a matrix and reports its edges.
pub struct MatrixSource<P> {
    port: P,
    scan: Scan,
}

impl<P: MatrixPort> MatrixSource<P> {
    /// A source on an open port.
    pub fn new(port: P, scan: Scan) -> MatrixSource<P> {
        MatrixSource { port, scan }
    }
}

impl<P: MatrixPort> Source for MatrixSource<P> {
    fn name(&self) -> String {
        self.port.name()
    }

    fn run(self: Box<Self>, sink: &Sink, stop: &Stop) -> Result<(), SourceError> {
        let scanner = Scanner {
            port: self.port,
            scan: self.scan,
            known: None,
            failed: false,
            overruns: Overruns::default(),
        };
        scanner.run(sink, stop)
    }
}

/// Late scans.
#[derive(Debug, Default)]
struct Overruns {
    /// Since the last report.
    fresh: u64,
    /// Microseconds of the worst one since the last report.
    worst_us: u64,
    total: u64,
    reported: Option<MonoTime>,
}

impl Overruns {
    /// Counts a scan that began `late_us` after its time.
    fn count(&mut self, late_us: u64, period_us: u64) {
        if late_us > period_us.saturating_mul(OVERRUN_PERIODS) {
            self.fresh += 1;
            self.total += 1;
            self.worst_us = self.worst_us.max(late_us);
        }
    }

    /// What is to be reported at `now`, if anything.
    fn report(&mut self, now: MonoTime) -> Option<Event> {
        let due = self.reported.is_none_or(|before| now.since(before) >= REPORT_US);
        if self.fresh == 0 || !due {
            return None;
        }
        let value = json!({
            "source": "matrix",
            "overruns": self.fresh,
            "worst_us": self.worst_us,
            "overruns_total": self.total,
        });
        (self.fresh, self.worst_us, self.reported) = (0, 0, Some(now));
        Some(Event::Device(value))
    }
}

struct Scanner<P> {
    port: P,
    scan: Scan,
    /// What was reported; `None` before the first report and after a failure.
    known: Option<Bitboard>,
    failed: bool,
    overruns: Overruns,
}

impl<P: MatrixPort> Scanner<P> {
    fn run(mut self, sink: &Sink, stop: &Stop) -> Result<(), SourceError> {
        let period = self.scan.period_us.clamp(1_000, 100_000);
        let mut due = sysclock::monotonic();
        while !stop.is_set() {
            let now = sysclock::monotonic();
            if now < due {
                sleep_unless_stopped(due.since(now), stop);
                continue;
            }
            self.overruns.count(now.since(due), period);
            if let Err(error) = self.scan(sink)? {
                self.fail(&error, sink)?;
                sleep_unless_stopped(RETRY_US, stop);
                due = sysclock::monotonic();
                continue;
            }
            if let Some(event) = self.overruns.report(now) {
                sink.send(sysclock::monotonic(), event)?;
            }
            // Scans that were missed are not made up for.
            due = due.plus_micros(period).max(now);
        }
        Ok(())
    }

    /// Reads all rows. An edge is reported as soon as its row is read, so that it does not reach the
    /// board thread after a deadline that it came before; the first scan is reported as a whole.
    fn scan(&mut self, sink: &Sink) -> Result<Result<(), PortError>, SourceError> {
        let mut contacts = self.known.unwrap_or_default();
        let mut last = MonoTime::ZERO;
        for index in 0..LINES {
            let columns = match self.read_row(index) {
                Ok(columns) => columns,
                Err(error) => return Ok(Err(error)),
            };
            last = sysclock::monotonic();
            for column in 0..LINES {
                let closed = columns >> column & 1 == 1;
                let Some(square) = self.scan.rows_are.square(index, column) else { continue };
                if self.known.is_some() && contacts.contains(square) != closed {
                    sink.send(last, Event::Square { square, occupied: closed })?;
                }
                contacts.set(square, closed);
            }
        }
        if std::mem::take(&mut self.failed) {
            sink.send(last, Event::Link(true))?;
        }
        if self.known.is_none() {
            sink.send(last, Event::Occupied(contacts))?;
        }
        self.known = Some(contacts);
        Ok(Ok(()))
    }

    /// The columns of a row.
    fn read_row(&mut self, index: usize) -> Result<u8, PortError> {
        self.port.select(index)?;
        self.port.settle();
        self.port.read_columns()
    }

    fn fail(&mut self, error: &PortError, sink: &Sink) -> Result<(), SourceError> {
        self.known = None;
        if !std::mem::replace(&mut self.failed, true) {
            tracing::error!(port = %self.port.name(), %error, "the matrix cannot be read; trying again");
            let at = sysclock::monotonic();
            sink.send(at, Event::Device(json!({"source": "matrix", "error": error.to_string()})))?;
            sink.send(at, Event::Link(false))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::Reading;
    use crate::session::io::Input;
    use std::sync::{
        Arc, Mutex,
        mpsc::{Receiver, sync_channel},
    };

    /// A matrix in memory: what every scan reads, one after the other; the last one stays.
    struct Simulated {
        scans: Vec<Result<[u8; LINES], &'static str>>,
        scan: usize,
        row: Option<usize>,
        settled: bool,
        /// Set when the last scan has been read.
        done: Arc<Mutex<bool>>,
    }

    impl MatrixPort for Simulated {
        fn name(&self) -> String {
            "simulated matrix".to_owned()
        }

        fn select(&mut self, row: usize) -> Result<(), PortError> {
            if row == 0 && self.row.is_some() {
                if self.scan + 1 < self.scans.len() {
                    self.scan += 1;
                } else {
                    *self.done.lock().unwrap() = true;
                }
            }
            (self.row, self.settled) = (Some(row), false);
            Ok(())
        }

        fn settle(&mut self) {
            self.settled = true;
        }

        fn read_columns(&mut self) -> Result<u8, PortError> {
            assert!(self.settled, "a row is read only when it has settled");
            let row = self.row.unwrap();
            self.scans[self.scan].map(|rows| rows[row]).map_err(|text| PortError(text.to_owned()))
        }
    }

    fn scan(scans: Vec<Result<[u8; LINES], &'static str>>, rows_are: RowsAre) -> Vec<Event> {
        let done = Arc::new(Mutex::new(false));
        let port = Simulated { scans, scan: 0, row: None, settled: false, done: done.clone() };
        let source = MatrixSource::new(port, Scan { rows_are, period_us: 1_000 });
        assert_eq!(source.name(), "simulated matrix");
        let (sender, receiver): (_, Receiver<Reading>) = sync_channel(1000);
        let stop = Stop::default();
        let ending = stop.clone();
        let thread = std::thread::spawn(move || Box::new(source).run(&Sink::new(sender), &ending));
        while !*done.lock().unwrap() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        stop.set();
        let readings: Vec<Reading> = receiver.iter().collect();
        thread.join().unwrap().unwrap();
        assert!(readings.windows(2).all(|pair| pair[0].at <= pair[1].at));
        readings
            .into_iter()
            .filter_map(|reading| match reading.input {
                Some(Input::Event(_, Event::Device(value))) if value.get("overruns").is_some() => None,
                Some(Input::Event(_, event)) => Some(event),
                _ => None,
            })
            .collect()
    }

    const START: [u8; LINES] = [0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff];

    fn square(square: Square, occupied: bool) -> Event {
        Event::Square { square, occupied }
    }

    #[test]
    fn the_whole_board_comes_first_and_then_every_edge() {
        let lifted = [0xff, 0xef, 0, 0, 0, 0, 0xff, 0xff];
        let placed = [0xff, 0xef, 0, 0x10, 0, 0, 0xff, 0xff];
        let events = scan(vec![Ok(START), Ok(START), Ok(lifted), Ok(placed)], RowsAre::Ranks);
        assert_eq!(
            events,
            [
                Event::Occupied(Bitboard(0xffff_0000_0000_ffff)),
                square(Square::E2, false),
                square(Square::E4, true),
            ]
        );
    }

    #[test]
    fn rows_can_be_files() {
        let events = scan(vec![Ok([0; LINES]), Ok([0, 0b10, 0, 0, 0, 0, 0, 0])], RowsAre::Files);
        assert_eq!(events, [Event::Occupied(Bitboard::EMPTY), square(Square::B2, true)]);
    }

    #[test]
    fn a_port_that_fails_is_reported_once_and_read_again() {
        let events = scan(vec![Ok(START), Err("no answer"), Ok(START)], RowsAre::Ranks);
        let whole = Event::Occupied(Bitboard(0xffff_0000_0000_ffff));
        let failed = Event::Device(json!({"source": "matrix", "error": "no answer"}));
        assert_eq!(events, [whole.clone(), failed, Event::Link(false), Event::Link(true), whole]);
    }

    #[test]
    fn late_scans_are_counted_and_reported_now_and_then() {
        let mut overruns = Overruns::default();
        let at = MonoTime::from_micros;
        overruns.count(15_000, 5_000);
        assert_eq!(overruns.report(at(0)), None);
        overruns.count(15_001, 5_000);
        overruns.count(90_000, 5_000);
        let expected = json!({"source": "matrix", "overruns": 2, "worst_us": 90_000, "overruns_total": 2});
        assert_eq!(overruns.report(at(1)), Some(Event::Device(expected)));
        overruns.count(20_000, 5_000);
        assert_eq!(overruns.report(at(REPORT_US)), None);
        let expected = json!({"source": "matrix", "overruns": 1, "worst_us": 20_000, "overruns_total": 3});
        assert_eq!(overruns.report(at(REPORT_US + 1)), Some(Event::Device(expected)));
    }
}
