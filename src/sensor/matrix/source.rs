//! The thread that scans.

use std::sync::Arc;

use serde_json::json;

use super::{
    Layout, MatrixPort, PortError, Scanner, Snapshot, Status,
    inputs::{Inputs, Wired},
    leds::{Connected, Leds, Lights},
    overruns::Overruns,
    realtime,
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
    /// The LEDs that are connected.
    pub leds: Connected,
    /// Whether the wiring is examined at the start.
    pub self_test: bool,
    /// Real-time priority of the thread, 1 to 99; nothing for that of any other.
    pub realtime: Option<u8>,
}

impl Default for Scan {
    fn default() -> Scan {
        Scan {
            layout: Layout::default(),
            period_us: 5_000,
            inputs: Wired::default(),
            leds: Connected::default(),
            self_test: true,
            realtime: None,
        }
    }
}

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
    leds: Arc<Leds>,
}

impl<P: MatrixPort> MatrixSource<P> {
    /// A source on an open port.
    pub fn new(port: P, scan: Scan) -> MatrixSource<P> {
        MatrixSource { port, scan, status: Arc::default(), leds: Arc::default() }
    }

    /// Lights what `leds` says; without it they are dark.
    #[must_use]
    pub fn with_leds(mut self, leds: Arc<Leds>) -> MatrixSource<P> {
        self.leds = leds;
        self
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
        let Scan { layout, period_us, inputs, leds, self_test, realtime } = self.scan;
        // A thread that opens its board again has asked before.
        if let Some(Err(refused)) = realtime.map(realtime::claim)
            && self.status.is_refused_first()
        {
            tracing::warn!("{refused}");
        }
        let began = self.port.now();
        let mut round = Round {
            leds: Lights::new(leds, self.leds, began),
            scanner: Scanner::new(self.port, layout),
            inputs: Inputs::new(inputs),
            status: self.status,
            up: false,
            failures: 0,
            overruns: Overruns::default(),
            scanned: began,
            untested: self_test,
        };
        let ended = round.run(period_us.clamp(1_000, 100_000), sink, stop);
        round.leds.darken(round.scanner.port());
        ended
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
    leds: Lights,
    inputs: Inputs,
    status: Arc<Status>,
    /// The board was told to be there.
    up: bool,
    /// Failures one after the other.
    failures: u32,
    overruns: Overruns,
    /// When the last scan was over.
    scanned: MonoTime,
    /// The wiring has to be examined.
    untested: bool,
}

impl<P: MatrixPort> Round<P> {
    fn now(&mut self) -> MonoTime {
        self.scanner.port().now()
    }

    fn run(&mut self, period: u64, sink: &Sink, stop: &Stop) -> Result<(), SourceError> {
        let mut due = self.now();
        while !stop.is_set() {
            let now = self.now();
            if now < due {
                self.scanner.port().pause(due.since(now).min(SLICE_US));
                continue;
            }
            // The settle time is shorter than an eighth of the period.
            if now.since(self.scanned) < period / 8 {
                self.scanner.follow_on();
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
        self.scanned = snapshot.at;
        self.inputs_of(&snapshot, sink)?;
        self.leds.show(self.scanner.port(), snapshot.at)?;
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

    /// Examines the wiring. What is wrong goes to the operator and into the journal, once, however often the board is
    /// opened; a board that cannot be read at all is refused.
    fn test(&mut self, sink: &Sink) -> Result<(), Trouble> {
        let layout = *self.scanner.layout();
        let probe = selftest::probe(self.scanner.port())?;
        self.scanner.forget();
        let Some(findings) = selftest::at_start(&probe, &layout) else {
            tracing::info!("the board is neither empty nor set up: its wiring is not examined");
            return Ok(());
        };
        let before = self.status.set_wiring(findings.clone());
        if !same(&before, &findings) {
            for finding in &findings {
                tracing::warn!("matrix: {finding}");
            }
            let told: Vec<_> = findings
                .iter()
                .map(|finding| json!({"finding": finding.cause.code(), "place": finding.place()}))
                .collect();
            let at = self.now();
            sink.send(at, Event::Device(json!({"source": "matrix", "self_test": told})))?;
        }
        if findings.is_empty() {
            let again = if before.is_empty() { "" } else { " again" };
            tracing::info!("the wiring of the matrix is in order{again}, as far as the board shows it");
        }
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
        self.leds.darken(self.scanner.port());
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

/// True where two tests found the same; a board that is refused is refused for one reason, whatever else shows.
fn same(before: &[Finding], now: &[Finding]) -> bool {
    let fatal =
        |findings: &[Finding]| findings.iter().find(|finding| finding.is_fatal()).map(|found| found.cause);
    match (fatal(before), fatal(now)) {
        (None, None) => before == now,
        (before, now) => before == now,
    }
}

#[cfg(test)]
mod tests;
