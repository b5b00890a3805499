//! Presses, starts and stops: those that have an event of their own, and those that only readings show.

use shakmaty::Color;

use super::{Before, Estimate, Estimator, Finding, Motion, PRESS_US, PerMove, Sample, Span, Step};
use crate::session::time::MonoTime;

/// More is never added for a move, in microseconds.
pub(super) const MOST_ADDED_US: i64 = 60_000_000;
const SECOND_US: i64 = 1_000_000;
/// A state of the clock that lasted no longer may have been a misread lever, in microseconds.
const BOUNCE_US: i64 = 2_500_000;
/// A man is seen on its square within this many microseconds.
const PLACED_ROOM_US: i64 = 300_000;

impl Estimator {
    /// A press that has an event of its own. The press of a side whose time rests, a second one and a bounce
    /// change nothing.
    pub fn press(&mut self, at: MonoTime, by: Color) {
        let Some((at, window)) = self.own_event(at) else { return };
        match self.bank.running() {
            Some(side) if side == by => self.pressed(by, window, true),
            Some(_) => {}
            None => self.started(!by, window, true),
        }
        self.forget_placed(at);
    }

    /// Both sides were stopped by hand.
    pub fn pause(&mut self, at: MonoTime) {
        let Some((_, window)) = self.own_event(at) else { return };
        if self.bank.running().is_some() {
            self.stopped(window, true);
        }
    }

    /// The time of a side was started by hand.
    pub fn run(&mut self, at: MonoTime, side: Color) {
        let Some((_, window)) = self.own_event(at) else { return };
        if self.bank.running() == Some(side) {
            return;
        }
        if self.bank.running().is_some() {
            self.stopped(window, true);
        }
        self.started(side, window, true);
    }

    /// A man was placed: its player did not press before.
    pub fn placed(&mut self, at: MonoTime) {
        let at = self.local(at);
        self.placed = Some(at);
    }

    fn forget_placed(&mut self, _at: i64) {
        self.placed = None;
    }

    fn own_event(&mut self, at: MonoTime) -> Option<(i64, Span)> {
        if !self.read {
            self.begun = true;
            return None;
        }
        let at = self.local(at);
        self.pass(at);
        let at = at.max(self.motion.since.hi.min(at));
        Some((at, Span::new(at - PRESS_US, at)))
    }

    /// Follows a message that shows another state of the clock. False where it is to be left alone.
    pub(super) fn follow(&mut self, sample: &Sample) -> bool {
        let running = self.bank.running();
        if sample.running == running {
            return true;
        }
        if self.motion.own && sample.from <= self.motion.since.hi {
            // It may be older than the press.
            return false;
        }
        let before = self.before.take().filter(|before| {
            before.bank.running() == sample.running
                && sample.to.saturating_sub(before.at) <= BOUNCE_US
                && before.bank.miss(sample) == 0
        });
        let undone = before.filter(|_| self.motion.own || !self.fits_after(sample));
        if let Some(before) = undone {
            self.restore(*before);
            return true;
        }
        let window = self.window(sample);
        match (running, sample.running) {
            (Some(by), Some(_)) => self.pressed(by, window, false),
            (None, Some(side)) => self.started(side, window, false),
            (_, None) => self.stopped(window, false),
        }
        true
    }

    /// When the state of the clock changed, at the latest with this message.
    fn window(&self, sample: &Sample) -> Span {
        let after = self.last.map_or(Span::ALL.lo, |last| last.from).max(self.motion.since.lo);
        let placed = self.placed.map_or(after, |at| at.saturating_sub(PLACED_ROOM_US));
        Span::new(after.max(placed).min(sample.to), sample.to)
    }

    /// True where a press explains a message.
    fn fits_after(&self, sample: &Sample) -> bool {
        let mut bank = self.bank.clone();
        match (bank.running(), sample.running) {
            (Some(by), Some(_)) => {
                bank.press(by, self.window(sample), self.step(by), self.step(!by));
                bank.miss(sample) == 0
            }
            _ => true,
        }
    }

    fn restore(&mut self, before: Before) {
        self.bank = before.bank;
        self.bank.pass(before.at);
        self.motion = before.motion;
        self.last = None;
        self.pending = None;
        self.doubt.clear();
        self.press = None;
    }

    /// What a move of this side adds.
    pub(super) fn step(&self, _side: Color) -> Step {
        let us = |ms: u64| i64::try_from(ms).unwrap_or(0).saturating_mul(1000).min(1 << 40);
        match self.expected.per_move {
            None => Step::Added(self.learnt),
            Some(PerMove::None) => Step::Added(Span::exact(0)),
            Some(PerMove::Increment { ms }) => Step::Added(Span::exact(us(ms))),
            Some(PerMove::Delay { ms }) => Step::Delay(us(ms)),
            Some(PerMove::Bronstein { ms }) => Step::Bronstein(us(ms)),
        }
    }

    fn changes(&mut self, window: Span, own: bool) {
        self.flush(window.hi);
        self.begun = true;
        let (bank, motion) = (self.bank.clone(), self.motion);
        self.before = Some(Box::new(Before { bank, motion, at: window.hi }));
        self.motion = Motion { since: window, own };
        self.last = None;
        self.doubt.clear();
    }

    fn pressed(&mut self, by: Color, window: Span, own: bool) {
        self.flush(window.hi);
        self.tell_press(!by);
        self.changes(window, own);
        self.before_press = self.bank.left(by, window.lo).hull(self.bank.left(by, window.hi));
        let (mine, other) = (self.step(by), self.step(!by));
        self.bank.press(by, window, mine, other);
        self.press = Some(by);
        self.placed = None;
    }

    fn started(&mut self, side: Color, window: Span, own: bool) {
        self.changes(window, own);
        let step = self.step(side);
        self.bank.start(side, window, step);
    }

    fn stopped(&mut self, window: Span, own: bool) {
        self.changes(window, own);
        self.bank.stop(window);
    }

    /// All that will be known of the last press of a side is known.
    fn tell_press(&mut self, by: Color) {
        if self.press != Some(by) {
            return;
        }
        self.press = None;
        if let Some(left) = self.at_press(by) {
            let at = self.bank.pressed(by).meet(self.motion.since);
            let at = if at.is_empty() { self.motion.since } else { at };
            let (from, to) = (self.moment(at.lo), self.moment(at.hi));
            self.findings.push_back(Finding::Pressed { by, left, from, to });
        }
    }

    /// What a player has left who pressed and whose time rests.
    pub fn at_press(&self, by: Color) -> Option<Estimate> {
        if self.bank.running() == Some(by) {
            return None;
        }
        let left = self.bank.left(by, self.motion.since.hi);
        (self.read && left.is_bounded() && !left.is_empty()).then(|| Estimate::of(left))
    }

    /// Learns from the last press what a move adds: whole seconds.
    pub(super) fn learn(&mut self) {
        if self.expected.per_move.is_some() || self.learnt.width() == 0 {
            return;
        }
        let Some(by) = self.press.filter(|by| self.bank.running() == Some(!*by)) else { return };
        let added = self.bank.left(by, self.motion.since.hi).minus(self.before_press).meet(self.learnt);
        let up = added.lo.saturating_add(SECOND_US - 1).div_euclid(SECOND_US) * SECOND_US;
        let down = added.hi.div_euclid(SECOND_US) * SECOND_US;
        if up <= down {
            self.learnt = Span::new(up, down);
        }
    }
}
