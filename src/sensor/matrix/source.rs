//! The thread that scans.

use std::sync::Arc;

use serde_json::json;

use super::{
    Layout, MatrixPort, PortError, Scanner, Snapshot, Status,
    inputs::{Inputs, Wired},
    selftest::{self, Finding},
};
use crate::{
    sensor::{Sink, Source, SourceError, Stop, sleep_unless_stopped},
    session::{event::Event, time::MonoTime},
};

/// How the matrix is scanned.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// Which square each crossing is.
    pub layout: Layout,
    /// Microseconds from the start of one scan to the start of the next: 1 000 to 100 000.
    pub period_us: u64,
    /// What is connected beside the board.
    pub inputs: Wired,
    /// Whether the wiring is examined at the start.
    pub self_test: bool,
}

impl Default for Scan {
    fn default() -> Scan {
        Scan { layout: Layout::default(), period_us: 5_000, inputs: Wired::default(), self_test: true }
    }
}

/// A scan that begins this many periods late is an overrun.
const OVERRUN_PERIODS: u64 = 3;
/// Overruns are reported at most this often.
const REPORT_US: u64 = 10_000_000;
/// A port that failed is read again after this time.
const RETRY_US: u64 = 1_000_000;
/// So many failures one after the other mean that it has to be opened anew: a chip that was unplugged does not
/// come back to those who held its lines.
const GIVE_UP: u32 = 2;
/// A pause is taken in pieces of at most this, so that the end of the daemon is seen.
const SLICE_US: u64 = 50_000;

/// Scans a matrix and reports its edges.
pub struct MatrixSource<P> {
    port: P,
    scan: Scan,
    status: Arc<Status>,
}

impl<P: MatrixPort> MatrixSource<P> {
    /// A source on an open port.
    pub fn new(port: P, scan: Scan) -> MatrixSource<P> {
        MatrixSource { port, scan, status: Arc::default() }
    }

    /// Tells `status` how the scans are doing.
    #[must_use]
    pub fn with_status(mut self, status: Arc<Status>) -> MatrixSource<P> {
        self.status = status;
        self
    }
}

impl<P: MatrixPort> Source for MatrixSource<P> {
    fn name(&self) -> String {
        self.port.name()
    }

    fn run(self: Box<Self>, sink: &Sink, stop: &Stop) -> Result<(), SourceError> {
        let Scan { layout, period_us, inputs, self_test } = self.scan;
        let round = Round {
            scanner: Scanner::new(self.port, layout),
            inputs: Inputs::new(inputs),
            status: self.status,
            up: false,
            failures: 0,
            overruns: Overruns::default(),
            untested: self_test,
        };
        round.run(period_us.clamp(1_000, 100_000), sink, stop)
    }
}

/// Late scans that were not reported yet.
#[derive(Debug, Default)]
struct Overruns {
    fresh: u64,
    /// Microseconds of the worst one.
    worst_us: u64,
    total: u64,
    reported: Option<MonoTime>,
}

impl Overruns {
    /// Counts a scan that began `late_us` after its time; true when that is an overrun.
    fn count(&mut self, late_us: u64, period_us: u64) -> bool {
        let over = late_us > period_us.saturating_mul(OVERRUN_PERIODS);
        if over {
            self.fresh += 1;
            self.total += 1;
            self.worst_us = self.worst_us.max(late_us);
        }
        over
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

/// Why a round ended early.
enum Trouble {
    Port(PortError),
    Source(SourceError),
}

impl From<PortError> for Trouble {
    fn from(error: PortError) -> Trouble {
        Trouble::Port(error)
    }
}

impl From<SourceError> for Trouble {
    fn from(error: SourceError) -> Trouble {
        Trouble::Source(error)
    }
}

struct Round<P> {
    scanner: Scanner<P>,
    inputs: Inputs,
    status: Arc<Status>,
    /// The board was told to be there.
    up: bool,
    /// Failures one after the other.
    failures: u32,
    overruns: Overruns,
    /// The wiring has to be examined.
    untested: bool,
}

impl<P: MatrixPort> Round<P> {
    fn now(&mut self) -> MonoTime {
        self.scanner.port().now()
    }

    fn run(mut self, period: u64, sink: &Sink, stop: &Stop) -> Result<(), SourceError> {
        let mut due = self.now();
        while !stop.is_set() {
            let now = self.now();
            if now < due {
                self.scanner.port().pause(due.since(now).min(SLICE_US));
                continue;
            }
            match self.turn(now.since(due), period, sink) {
                Ok(()) => {}
                Err(Trouble::Source(error)) => return Err(error),
                Err(Trouble::Port(error)) => {
                    self.fail(&error, sink)?;
                    sleep_unless_stopped(RETRY_US, stop);
                    due = self.now();
                    continue;
                }
            }
            // Scans whose time has passed are left out; the beat stays.
            due = due.plus_micros(period);
            let missed = self.now().since(due) / period;
            if missed > 0 {
                self.status.count_missed(missed);
                due = due.plus_micros(missed * period);
            }
        }
        Ok(())
    }

    fn turn(&mut self, late_us: u64, period: u64, sink: &Sink) -> Result<(), Trouble> {
        if self.untested {
            self.test(sink)?;
            self.untested = false;
        }
        self.status.count_scan(late_us);
        if self.overruns.count(late_us, period) {
            self.status.count_overrun();
        }
        let snapshot = self.scan(sink)?;
        self.inputs_of(&snapshot, sink)?;
        if let Some(event) = self.overruns.report(snapshot.at) {
            sink.send(snapshot.at, event)?;
        }
        Ok(())
    }

    /// Reads all rows. An edge is reported as soon as its row is read, so that it does not reach the
    /// board thread after a deadline that it came before; the first scan is reported as a whole.
    fn scan(&mut self, sink: &Sink) -> Result<Snapshot, Trouble> {
        let mut closed = Ok(());
        let snapshot = self.scanner.scan(|edge| {
            if closed.is_ok() {
                closed = sink.send(edge.at, Event::Square { square: edge.square, occupied: edge.closed });
            }
        })?;
        closed?;
        self.failures = 0;
        if !std::mem::replace(&mut self.up, true) {
            sink.send(snapshot.at, Event::Link(true))?;
        }
        if snapshot.first {
            sink.send(snapshot.at, Event::Occupied(self.scanner.layout().occupied(&snapshot.rows)))?;
        }
        Ok(snapshot)
    }

    fn inputs_of(&mut self, snapshot: &Snapshot, sink: &Sink) -> Result<(), SourceError> {
        let mut sent = Ok(());
        self.inputs.take(snapshot.at, snapshot.inputs, |event| {
            if sent.is_ok() {
                sent = sink.send(snapshot.at, event);
            }
        });
        sent
    }

    /// Examines the wiring. What is wrong goes to the operator and into the journal; a board that cannot be
    /// read at all is refused.
    fn test(&mut self, sink: &Sink) -> Result<(), Trouble> {
        let layout = *self.scanner.layout();
        let probe = selftest::probe(self.scanner.port())?;
        self.scanner.forget();
        let Some(findings) = selftest::at_start(&probe, &layout) else {
            tracing::info!("the board is neither empty nor set up: its wiring is not examined");
            return Ok(());
        };
        self.status.set_wiring(summary(&findings));
        if findings.is_empty() {
            tracing::info!("the wiring of the matrix is in order, as far as the board shows it");
            return Ok(());
        }
        for finding in &findings {
            tracing::warn!("matrix: {finding}");
        }
        let told: Vec<_> = findings
            .iter()
            .map(|finding| json!({"finding": finding.cause.code(), "place": finding.place()}))
            .collect();
        let at = self.now();
        sink.send(at, Event::Device(json!({"source": "matrix", "self_test": told})))?;
        match findings.iter().find(|finding| finding.is_fatal()) {
            Some(fatal) => Err(Trouble::Source(SourceError::Device {
                what: self.scanner.port().name(),
                reason: fatal.cause.likely().to_owned(),
                remedy: fatal.cause.remedy().to_owned(),
            })),
            None => Ok(()),
        }
    }

    fn fail(&mut self, error: &PortError, sink: &Sink) -> Result<(), SourceError> {
        self.scanner.forget();
        self.inputs.forget();
        self.status.count_failure();
        self.failures += 1;
        let what = self.scanner.port().name();
        if std::mem::take(&mut self.up) {
            tracing::error!(port = %what, %error, "the matrix cannot be read; trying again");
            let at = self.now();
            sink.send(at, Event::Device(json!({"source": "matrix", "error": error.to_string()})))?;
            sink.send(at, Event::Link(false))?;
        }
        if self.failures < GIVE_UP {
            return Ok(());
        }
        Err(SourceError::Device {
            what,
            reason: error.to_string(),
            remedy: "check its plugs and its power".to_owned(),
        })
    }
}

/// The findings in one line.
fn summary(findings: &[Finding]) -> Option<String> {
    let first = findings.first()?;
    let more = findings.len() - 1;
    let more = if more == 0 { String::new() } else { format!(" (and {more} more, see the log)") };
    Some(format!("{first}{more}"))
}

#[cfg(test)]
mod tests;
