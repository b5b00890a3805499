//! How far a reading lies from everything that the ones before it allow.

use shakmaty::Color;

use super::{
    Estimator, GAP_US, SECOND_US, Span, Step,
    presses::{MOST_ADDED_US, micros},
};
use crate::session::{event::ClockReading, time::MonoTime};

impl Estimator {
    /// True for a reading that comes so soon after a press, start or stop of its own that it may still show what was
    /// before.
    pub fn may_be_older(&self, at: MonoTime, reading: &ClockReading) -> bool {
        let before = self.before.as_ref().filter(|_| self.motion.own && self.read);
        let (Some(before), Some(origin)) = (before, self.origin) else { return false };
        let now = i64::try_from(at.since(origin)).unwrap_or(i64::MAX);
        let old = reading.running != self.bank.running()
            && reading.running == before.bank.running()
            && now.saturating_sub(self.model.lag_us()) <= self.motion.since.hi;
        old || now <= self.quick
    }

    /// By how many milliseconds a reading that comes now shows another time of a side than any that is possible:
    /// late by the lag, rounded, with what a press adds where it shows one, and with a period. 0 after a gap, and
    /// nothing where no reading was taken before.
    pub fn miss_ms(&self, side: Color, at: MonoTime, reading: &ClockReading) -> Option<u64> {
        let shown = side.fold_wb(reading.white_ms, reading.black_ms).map(micros);
        let now = self.origin.and_then(|origin| i64::try_from(at.since(origin)).ok());
        if !self.read {
            return None;
        }
        let (Some(shown), Some(now)) = (shown, now) else { return Some(0) };
        let gone = now.saturating_sub(self.heard);
        let ran = self.bank.running();
        if (ran.is_some() && gone > GAP_US && !self.wired) || gone < 0 {
            return Some(0);
        }
        let left = self.bank.left(side, now);
        if !left.is_bounded() {
            return Some(0);
        }
        // A clock that has run down stays at zero.
        let left = left.clamp(0, i64::MAX);
        let (mut below, mut above) = (SECOND_US, SECOND_US);
        let added = match self.step(side) {
            Step::Added(span) => span.hi.clamp(0, micros(3_600_000)),
            Step::Delay(us) | Step::Bronstein(us) => us,
        };
        // The reading before showed the other lever, and this one does not: both may have pressed in between.
        let pair = self.turned.is_some_and(|(first, _)| {
            ran.is_some() && first.running == ran.map(Color::other) && reading.running == ran
        });
        if ran == Some(side) {
            above += self.model.lag_us();
            if reading.running != Some(side) || pair {
                // It has rested since some moment after the last reading.
                above += gone + added;
            }
        } else if pair {
            below += gone + self.model.lag_us();
            above += added;
        } else if reading.running == Some(side) {
            // The opponent has pressed since.
            below += gone + self.model.lag_us();
        }
        if self.per_move(side).is_none() {
            // What a move gives is not known: its time may have waited, or some of it was given back.
            above += MOST_ADDED_US;
        }
        if reading.running == ran && self.is_pair(now, reading) {
            return Some(0);
        }
        let allowed = Span::new(left.lo.saturating_sub(below), left.hi.saturating_add(above));
        let periods = self.expected.periods_ms.iter().map(|ms| micros(*ms));
        let off = |added: i64| allowed.plus(Span::exact(added)).gap(Span::exact(shown));
        let least = std::iter::once(0).chain(periods).map(off).min().unwrap_or(0);
        u64::try_from(least / 1000).ok()
    }

    /// Two presses went by without a message in between: each player has what a move adds, and the mover is the same.
    fn is_pair(&self, now: i64, reading: &ClockReading) -> bool {
        Color::ALL.into_iter().all(|side| {
            let shown = side.fold_wb(reading.white_ms, reading.black_ms).map(micros);
            shown
                .is_some_and(|shown| self.is_late_increment(side, shown - self.bank.left(side, now).middle()))
        })
    }
}
