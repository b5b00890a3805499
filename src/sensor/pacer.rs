//! Delivery of recorded time: waits until a point of a recording's time line is due.

use super::{Pace, Sink, SourceError, Stop, sleep_unless_stopped};
use crate::{session::time::MonoTime, sysclock};

/// How often the board thread hears how far the time has come, in real microseconds.
const PROGRESS_US: u64 = 20_000;

/// Maps a time line to real time.
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Pace,
    /// The same moment on both time lines.
    real: MonoTime,
    line: MonoTime,
    /// How far the board thread was told.
    told: MonoTime,
}

impl Pacer {
    /// A pacer whose time line is at `line` now.
    pub(super) fn start(pace: Pace, line: MonoTime) -> Pacer {
        Pacer { pace, real: sysclock::monotonic(), line, told: line }
    }

    /// Where the time line is now; where it was told to be when nothing waits.
    pub(super) fn now(&self) -> MonoTime {
        match self.pace {
            Pace::At(speed) => {
                let passed = sysclock::monotonic().since(self.real);
                self.line.plus_micros(passed.saturating_mul(u64::from(speed.factor())))
            }
            Pace::AsFastAsPossible => self.told,
        }
    }

    /// The latest time that the board thread knows of.
    pub(super) fn told(&self) -> MonoTime {
        self.told
    }

    /// Notes that a reading with this stamp was sent.
    pub(super) fn sent(&mut self, at: MonoTime) {
        self.told = self.told.max(at);
    }

    /// Tells how far the time has come, unless that is known.
    pub(super) fn tell(&mut self, at: MonoTime, sink: &Sink) -> Result<(), SourceError> {
        if at > self.told {
            self.told = at;
            sink.progress(at)?;
        }
        Ok(())
    }

    /// Waits until the time line has come to `until`, telling on the way how far it is. False when
    /// the end was asked for meanwhile.
    pub(super) fn wait(&mut self, until: MonoTime, sink: &Sink, stop: &Stop) -> Result<bool, SourceError> {
        let Pace::At(speed) = self.pace else { return Ok(!stop.is_set()) };
        loop {
            let now = self.now();
            if now >= until {
                return Ok(!stop.is_set());
            }
            let left = until.since(now).div_ceil(u64::from(speed.factor()));
            if !sleep_unless_stopped(left.min(PROGRESS_US), stop) {
                return Ok(false);
            }
            if left > PROGRESS_US {
                self.tell(self.now().min(until), sink)?;
            }
        }
    }

    /// Lets the time pass after the last event, so that every deadline fires. False when the end was
    /// asked for meanwhile.
    pub(super) fn tail(&mut self, sink: &Sink, stop: &Stop) -> Result<bool, SourceError> {
        let end = self.told.plus_micros(super::TAIL_US);
        let done = self.wait(end, sink, stop)?;
        if done {
            self.tell(end, sink)?;
        }
        Ok(done)
    }
}
