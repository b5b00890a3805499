//! Which time falls: a clock that stands, and one whose sides are exchanged.

use shakmaty::Color;

use super::{Estimator, Finding, PerMove, Sample, presses::micros};
use crate::session::time::MonoTime;

/// A running clock whose time has not fallen for so long is frozen, in microseconds.
const FROZEN_US: i64 = 15_000_000;
/// A time that has fallen for so long belongs to the player whose turn it is.
const FALLS_US: i64 = 2_000_000;
/// A clock has stood for so long, in microseconds, while so many moves were made.
const STANDS_US: i64 = 5_000_000;
const STANDING_MOVES: u8 = 3;
/// So many moves in turn are made while the time of the opponent falls.
const CONTRARY: u8 = 4;

/// What was seen to fall.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    before: Option<Sample>,
    /// Whose time fell last, and since when it has been that one.
    falls: Option<(Color, i64)>,
    /// When the time of the running side fell last, or it began to run.
    fell: i64,
    frozen: bool,
    /// The last moves that were made while the opponent's time fell.
    contrary: u8,
    contrary_by: Option<Color>,
    exchanged: bool,
    /// Since when the clock has been seen standing, after it had run.
    pub(super) stands: Option<i64>,
    ran: bool,
    /// Moves that were made since.
    made: u8,
}

impl Estimator {
    pub(super) fn watch(&mut self, sample: &Sample) {
        let before = self.watch.before.replace(*sample);
        let Some(before) = before else {
            self.watch.fell = sample.to;
            return;
        };
        let fell = |side: Color| match (*before.shown.get(side), *sample.shown.get(side)) {
            (Some(was), Some(is)) => is < was,
            _ => false,
        };
        match (fell(Color::White), fell(Color::Black)) {
            (true, false) => self.fell(Color::White, before.to),
            (false, true) => self.fell(Color::Black, before.to),
            _ => {}
        }
        if before.running != sample.running || before.shown != sample.shown {
            self.watch.fell = sample.to;
            self.watch.frozen = false;
        }
        let delay = match sample.running.and_then(|side| self.per_move(side)) {
            Some(PerMove::Delay { ms }) => micros(ms),
            _ => 0,
        };
        self.watch.ran |= sample.running.is_some();
        let Some(side) = sample.running else {
            if self.watch.ran && self.watch.stands.is_none() {
                (self.watch.stands, self.watch.made) = (Some(sample.to), 0);
            }
            return;
        };
        self.watch.stands = None;
        let Some(shown) = sample.shown.get(side).filter(|us| *us > 0) else { return };
        let stands = sample.to - self.watch.fell > FROZEN_US.saturating_add(delay);
        if stands && !self.watch.frozen {
            self.watch.frozen = true;
            let since = self.moment(self.watch.fell);
            let shown_ms = u64::try_from(shown / 1000).unwrap_or(0);
            self.findings.push_back(Finding::Frozen { side, shown_ms, since });
        }
    }

    fn fell(&mut self, side: Color, since: i64) {
        if self.watch.falls.is_none_or(|(last, _)| last != side) {
            self.watch.falls = Some((side, since));
        }
    }

    /// A player made a move: it is his time that should have fallen.
    pub fn moved(&mut self, by: Color, at: MonoTime) {
        let at = self.local(at);
        self.moved_while_standing(at);
        if at.saturating_sub(self.motion.since.hi) < FALLS_US + self.model.lag_us() {
            // The time that fell may still be that of the turn before.
            return;
        }
        let Some((side, _)) = self.watch.falls.filter(|(_, since)| at - since >= FALLS_US) else { return };
        if side == by {
            self.watch.contrary = 0;
            self.watch.contrary_by = None;
            return;
        }
        if self.watch.contrary_by.replace(by) != Some(by) {
            self.watch.contrary = self.watch.contrary.saturating_add(1);
        }
        if self.watch.contrary >= CONTRARY && !self.watch.exchanged {
            self.watch.exchanged = true;
            self.findings.push_back(Finding::Exchanged);
        }
    }

    /// The clock stands and the game goes on.
    fn moved_while_standing(&mut self, at: i64) {
        let long = self.watch.stands.is_some_and(|since| at - since >= STANDS_US);
        if !long || self.paused {
            return;
        }
        self.watch.made = self.watch.made.saturating_add(1);
        if self.watch.made == STANDING_MOVES {
            self.findings.push_back(Finding::Standing);
        }
    }
}
