//! Messages that show another time than the one that is known.

use shakmaty::Color;

use super::{Sample, Span};

/// So many messages in a row show a new time.
const ENOUGH: usize = 3;
/// Two do where they are so far apart, in microseconds.
const APART_US: i64 = 300_000;
/// A stopped clock that shows a new time: two messages this far apart, or nothing else for so long, in
/// microseconds.
const AGAIN_US: i64 = 300_000;
const STOOD_US: i64 = 3_000_000;
/// A clock that went on without a jump has stood or was slow: it must run for so long.
const RUNS_US: i64 = 5_000_000;
/// How many messages are kept.
const KEPT: usize = 24;

/// Messages that agree with each other, not with the times that are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubt {
    all: Vec<Sample>,
    /// The first one was a jump from the one before it.
    jump: bool,
}

impl Doubt {
    pub(super) fn add(&mut self, sample: Sample, jump: bool) {
        if !self.agrees(&sample) {
            self.all.clear();
        }
        if self.all.is_empty() {
            self.jump = jump;
        }
        if self.all.len() == KEPT {
            self.all.remove(KEPT / 2);
        }
        self.all.push(sample);
    }

    /// True where all messages and this one can be of one clock.
    fn agrees(&self, sample: &Sample) -> bool {
        let Some(first) = self.all.first() else { return true };
        first.running == sample.running
            && Color::ALL.into_iter().all(|side| {
                let (Some(was), Some(is)) = (*first.shown.get(side), *sample.shown.get(side)) else {
                    return true;
                };
                let all = self.all.iter().chain([sample]);
                if sample.running == Some(side) {
                    !all.filter_map(|one| ends(one, side)).fold(Span::ALL, Span::meet).is_empty()
                } else {
                    was == is
                }
            })
    }

    /// True once they are no accident.
    pub(super) fn is_confirmed(&self) -> bool {
        let (Some(first), Some(last)) = (self.all.first(), self.all.last()) else { return false };
        let for_us = last.to - first.to;
        match (first.running, self.jump) {
            (None, _) => self.all.len() > 1 && for_us >= AGAIN_US,
            (Some(_), true) => self.all.len() >= ENOUGH || (self.all.len() > 1 && for_us >= APART_US),
            (Some(_), false) => for_us >= RUNS_US,
        }
    }

    /// When a stopped clock has shown the new time for long enough.
    pub(super) fn due(&self) -> Option<i64> {
        let first = self.all.first().filter(|first| first.running.is_none())?;
        Some(first.to + STOOD_US)
    }

    pub(super) fn last(&self) -> Option<&Sample> {
        self.all.last()
    }

    pub(super) const fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn is_jump(&self) -> bool {
        self.jump
    }

    /// The times fell less than they should, without a jump.
    pub(super) fn is_slow(&self) -> bool {
        !self.jump && !self.all.is_empty()
    }

    pub(super) fn take(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.all)
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
    }
}

/// When the running side reaches zero, by one message, whichever way the clock rounds; the rate does not
/// matter over a few seconds.
fn ends(sample: &Sample, side: Color) -> Option<Span> {
    let value = (*sample.shown.get(side))?;
    Some(Span::new(value - sample.unit + sample.from, value + sample.unit + sample.to))
}
