//! Presses, starts and stops: those that have an event of their own, and those that only readings show.

use std::cmp::Ordering;

use shakmaty::Color;

use super::{
    ALONE_US, Before, Estimate, Estimator, Finding, Motion, NEAR_US, PRESS_US, PerMove, Sample, Span, Step,
    follows,
};
use crate::session::time::MonoTime;

/// More is never added for a move, in microseconds.
pub(super) const MOST_ADDED_US: i64 = 60_000_000;
const SECOND_US: i64 = 1_000_000;
/// A man is seen on its square within this many microseconds.
const PLACED_ROOM_US: i64 = 300_000;

impl Estimator {
    /// A press that has an event of its own. The press of a side whose time rests, a second one and a bounce
    /// change nothing.
    pub fn press(&mut self, at: MonoTime, by: Color) {
        self.paused = false;
        let Some(window) = self.own_event(at) else { return };
        // It was started without an event, and one message has shown that.
        let started = self.turned.filter(|(first, _)| {
            self.bank.running().is_none() && first.running == Some(by) && first.to <= window.hi
        });
        if let Some((_, since)) = started {
            self.turned = None;
            self.started(by, since, false);
        }
        match self.bank.running() {
            _ if self.is_told_by(window, Some(!by)) => {}
            Some(side) if side == by => {
                self.wired = true;
                self.pressed(by, window, true);
            }
            Some(_) => {}
            None => self.started(!by, window, true),
        }
    }

    /// Both sides were stopped by hand.
    pub fn pause(&mut self, at: MonoTime) {
        self.paused = true;
        let Some(window) = self.own_event(at) else { return };
        if self.bank.running().is_some() && !self.is_told_by(window, None) {
            self.stopped(window, true);
        }
    }

    /// The time of a side was started by hand.
    pub fn run(&mut self, at: MonoTime, side: Color) {
        self.paused = false;
        let Some(window) = self.own_event(at) else { return };
        if self.bank.running() == Some(side) || self.is_told_by(window, Some(side)) {
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
        self.moves = self.moves.saturating_add(1);
    }

    /// True where the message that came last told the same: the event has its time from there. A lever with a wire
    /// tells better than any message.
    fn is_told_by(&self, event: Span, running: Option<Color>) -> bool {
        !self.wired && self.turned.is_some_and(|(first, _)| first.running == running && first.to <= event.hi)
    }

    fn own_event(&mut self, at: MonoTime) -> Option<Span> {
        if !self.read {
            self.begun = true;
            return None;
        }
        let at = self.local(at);
        self.pass(at);
        Some(Span::new(at - PRESS_US, at))
    }

    /// Follows a message that shows another state of the clock. False where it is to be left alone: one message
    /// alone may be a misread lever.
    pub(super) fn follow(&mut self, sample: &Sample) -> bool {
        if sample.running == self.bank.running() {
            return match self.turned.take() {
                Some((first, window)) => self.turn_back(&first, window, sample),
                None => true,
            };
        }
        if self.motion.own && sample.from <= self.motion.since.hi {
            // It may be older than the press.
            return false;
        }
        self.start_missed(sample);
        let again = |(first, _): &(Sample, Span)| first.running == sample.running && follows(first, sample);
        let Some((first, window)) = self.turned.take().filter(again) else {
            self.turned = Some((*sample, self.window(sample)));
            return false;
        };
        let before = self.before.take().filter(|before| {
            self.motion.own && before.bank.running() == sample.running && before.bank.miss(sample) <= NEAR_US
        });
        match before {
            Some(before) => self.restore(*before),
            None => self.turn(&first, window),
        }
        true
    }

    /// One message showed that a clock was started, and the next one that its player has pressed since, where the times
    /// say so.
    fn start_missed(&mut self, sample: &Sample) {
        let started = self.turned.filter(|(first, _)| {
            self.bank.running().is_none()
                && first.running.is_some()
                && first.running == sample.running.map(Color::other)
        });
        let Some((Sample { running: Some(side), .. }, since)) = started else { return };
        let mut with = self.bank.clone();
        with.start(side, since, self.step(side));
        with.press(side, Span::new(since.lo, sample.to), self.step(side), self.step(!side));
        let mut without = self.bank.clone();
        without.start(!side, Span::new(since.lo, sample.to), self.step(!side));
        if with.miss(sample) < without.miss(sample) {
            self.turned = None;
            self.started(side, since, false);
        }
    }

    /// One message alone showed another state: two quick presses where the times say so, else a misread lever.
    /// Where they do not tell, a man that was placed since the last press does. False where neither is possible: the lever
    /// of this message is the one that was misread.
    fn turn_back(&mut self, first: &Sample, window: Span, sample: &Sample) -> bool {
        let (Some(by), Some(_), false) = (self.bank.running(), first.running, self.wired) else {
            return true;
        };
        let back = Span::new(first.from.max(window.lo), sample.to);
        let mut bank = self.bank.clone();
        bank.press(by, window, self.step(by), self.step(!by));
        bank.press(!by, back, self.step(!by), self.step(by));
        let (pair, none) = (bank.miss(sample), self.bank.miss(sample));
        if pair > NEAR_US && none > NEAR_US {
            self.turned = Some((*first, window));
            return false;
        }
        match pair.cmp(&none) {
            Ordering::Less => {
                self.pressed(by, window, false);
                self.pressed(!by, back, false);
            }
            Ordering::Equal if self.placed.is_some() => self.bank = bank,
            Ordering::Equal | Ordering::Greater => {}
        }
        true
    }

    /// The clock is in another state than before, and this was the first message that showed it.
    fn turn(&mut self, first: &Sample, window: Span) {
        match (self.bank.running(), first.running) {
            (Some(by), Some(_)) => self.pressed(by, window, false),
            (None, Some(side)) => self.started(side, window, false),
            (_, None) => self.stopped(window, false),
        }
        self.judge(*first);
    }

    /// The message of another state is the last one for now.
    pub(super) fn turn_alone(&mut self, at: i64) {
        if let Some((first, window)) =
            self.turned.take_if(|(first, _)| first.to.saturating_add(ALONE_US) <= at)
        {
            self.turn(&first, window);
        }
    }

    /// When the state of the clock changed, at the latest with this message.
    fn window(&self, sample: &Sample) -> Span {
        let after = self.last.map_or(Span::ALL.lo, |last| last.from).max(self.motion.since.lo);
        let placed = self.placed.map_or(after, |at| at.saturating_sub(PLACED_ROOM_US));
        Span::new(after.max(placed).min(sample.to), sample.to)
    }

    fn restore(&mut self, before: Before) {
        self.bank = before.bank;
        self.motion = before.motion;
        self.last = None;
        self.pending = None;
        self.doubt.clear();
        self.press = None;
    }

    /// The next press of a side completes the moves of its period: the clock adds so many milliseconds.
    pub fn due(&mut self, side: Color, ms: Option<u64>) {
        if self.turned.is_none() {
            *self.due.get_mut(side) = ms.map_or(0, micros);
        }
    }

    /// What a move of this side adds.
    pub(super) fn step(&self, side: Color) -> Step {
        let us = micros;
        let due = Span::exact(*self.due.get(side));
        match self.per_move(side) {
            None => Step::Added(self.learnt.plus(due)),
            Some(PerMove::None) => Step::Added(due),
            Some(PerMove::Increment { ms }) => Step::Added(Span::exact(us(ms)).plus(due)),
            Some(PerMove::Delay { ms }) => Step::Delay(us(ms)),
            Some(PerMove::Bronstein { ms }) => Step::Bronstein(us(ms)),
        }
    }

    fn changes(&mut self, window: Span, own: bool) {
        self.flush(window.hi);
        self.begun = true;
        let (bank, motion) = (self.bank.clone(), self.motion);
        if own && motion.own && window.lo - motion.since.hi <= self.model.lag_us() {
            self.quick = window.hi + self.model.lag_us();
        }
        self.before = own.then(|| Box::new(Before { bank, motion }));
        self.turned = None;
        self.motion = Motion { since: window, own };
        self.last = None;
        self.slow = self.slow || self.doubt.is_slow();
        self.doubt.clear();
    }

    fn pressed(&mut self, by: Color, window: Span, own: bool) {
        self.flush(window.hi);
        self.tell_press(!by);
        self.changes(window, own);
        self.press_at = window;
        self.before_press = self.bank.left(by, window.lo).hull(self.bank.left(by, window.hi));
        let (mine, other) = (self.step(by), self.step(!by));
        self.bank.press(by, window, mine, other);
        self.press = Some(by);
        (self.placed, self.moves) = (None, 0);
        *self.due.get_mut(by) = 0;
    }

    fn started(&mut self, side: Color, window: Span, own: bool) {
        self.changes(window, own);
        self.stopped = None;
        let step = self.step(side);
        self.bank.start(side, window, step);
    }

    fn stopped(&mut self, window: Span, own: bool) {
        self.changes(window, own);
        self.stopped = self.bank.running();
        self.bank.stop(window);
    }

    /// All that will be known of the last press of a side is known.
    fn tell_press(&mut self, by: Color) {
        if self.press != Some(by) {
            return;
        }
        self.press = None;
        if let Some(left) = self.at_press(by) {
            let at = self.bank.pressed(by).meet(self.press_at);
            let at = if at.is_empty() { self.press_at } else { at };
            let (from, to) = (self.moment(at.lo), self.moment(at.hi));
            self.findings.push_back(Finding::Pressed { by, left, from, to });
        }
    }

    /// True where the last press is this player's and had an event of its own, which no reading shows yet.
    pub fn is_own_press(&self, by: Color) -> bool {
        self.motion.own && self.press == Some(by)
    }

    /// What a player has left who pressed and whose time rests.
    pub fn at_press(&self, by: Color) -> Option<Estimate> {
        if !self.read || self.bank.running() == Some(by) {
            return None;
        }
        let left = self.bank.left(by, self.motion.since.hi);
        (left.is_bounded() && !left.is_empty()).then(|| Estimate::of(left))
    }

    /// Learns from the last press what a move adds: whole seconds.
    pub(super) fn learn(&mut self) {
        let Some(by) = self.press.filter(|by| self.bank.running() == Some(!*by)) else { return };
        if self.per_move(by).is_some() || self.unlearnt {
            return;
        }
        let added = self.bank.left(by, self.motion.since.hi).minus(self.before_press).meet(self.learnt);
        let up = added.lo.saturating_add(SECOND_US - 1).div_euclid(SECOND_US) * SECOND_US;
        let down = added.hi.div_euclid(SECOND_US) * SECOND_US;
        if up <= down {
            self.learnt = Span::new(up, down);
        }
        if self.taught.replace(self.press_at) != Some(self.press_at) {
            self.same = self.same.saturating_add(1);
        }
    }
}

/// Milliseconds that a time control names, in microseconds.
pub(super) fn micros(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX).min(1 << 31).saturating_mul(1000)
}
