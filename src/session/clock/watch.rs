//! Which time falls: a clock that stands, and one whose sides are exchanged.

use shakmaty::Color;

use super::{Estimator, Finding, PerMove, Sample, presses::micros};
use crate::session::time::MonoTime;

/// A running clock whose time has not fallen for so long is frozen, in microseconds.
const FROZEN_US: i64 = 15_000_000;
/// A time that has fallen for so long belongs to the player whose turn it is.
const FALLS_US: i64 = 2_000_000;
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
        let delay = match self.expected.per_move {
            Some(PerMove::Delay { ms }) => micros(ms),
            _ => 0,
        };
        let Some(side) = sample.running else { return };
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
}
