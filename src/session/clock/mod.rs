//! The times of an external clock, made continuous.
//!
//! A clock tells whole seconds, up to a second late, a few times a second; some messages are lost and some are
//! wrong. The estimator keeps, for each side, every time that the messages still allow: each one bounds it
//! from both sides, and what is known is the meeting of all bounds. A press hands time over from one side to
//! the other, so that the ticks of the player who now thinks tell when it was. See `docs/clock.md`.
//!
//! Integers only; the same calls give the same answers. It keeps a fixed amount: a few hundred intervals and
//! the last few messages.

mod bank;
mod changes;
mod doubt;
mod finding;
mod miss;
mod model;
mod presses;
mod span;
mod watch;

use std::collections::VecDeque;

use shakmaty::{ByColor, Color};

use self::{
    bank::{Bank, PerMove as Step, Sample},
    doubt::Doubt,
    watch::Watch,
};
pub use self::{
    finding::{Change, Estimate, Finding},
    model::{Expected, Model, PerMove, Rounding},
    span::Span,
};
use super::{event::ClockReading, time::MonoTime};

/// A message that misses by less may be a wrong bound; one that misses by more shows another time.
const NEAR_US: i64 = 1_100_000;
/// Without a message of the running clock for so long, presses may have gone by unseen.
const GAP_US: i64 = 5_000_000;
/// A message waits for so long for the next one to confirm it.
const ALONE_US: i64 = 2_000_000;
/// A press of its own is stamped within this many microseconds.
const PRESS_US: i64 = 1_000;
/// No record lasts so long, in microseconds: 35 years.
const LATEST_US: i64 = 1 << 50;
/// The unit of a clock that shows seconds, and of one that tells more.
const SECOND_US: i64 = 1_000_000;
const MILLI_US: i64 = 1_000;

/// What was before the last press or start, for the case that the clock did not follow.
#[derive(Clone, Debug)]
struct Before {
    bank: Bank,
    motion: Motion,
}

/// When the present state of the clock began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Motion {
    /// When it began.
    since: Span,
    /// A press, start or stop of its own told it, not a reading.
    own: bool,
}

/// The estimator of one clock.
#[derive(Clone, Debug)]
pub struct Estimator {
    model: Model,
    expected: Expected,
    /// What a move of each side adds now, where the time control tells more than [`Expected`].
    each: ByColor<Option<PerMove>>,
    /// What was ruled that it adds.
    ruled: Option<PerMove>,
    /// The zero of its time.
    origin: Option<MonoTime>,
    bank: Bank,
    motion: Motion,
    /// A reading was taken.
    read: bool,
    /// The clock has run.
    begun: bool,
    /// Nothing happened before the first reading that the set times do not tell.
    fresh: bool,
    unit: i64,
    /// The message before, of the same state of the clock.
    last: Option<Sample>,
    /// The state before this one ended while the clock stood or was slow: its times fit no more.
    slow: bool,
    /// A message that waits for the next one, and whether it follows from the one before.
    pending: Option<(Sample, bool)>,
    doubt: Doubt,
    before: Option<Box<Before>>,
    /// The first message of another state of the clock, and when that began.
    turned: Option<(Sample, Span)>,
    /// Not before this moment did the mover press: his man was still in the air.
    placed: Option<i64>,
    /// Moves that were made since the last press.
    moves: u8,
    /// What the next period adds to a side at its next press, by the count of its moves.
    due: ByColor<i64>,
    /// What a press adds, while that is being learnt.
    learnt: Span,
    /// The press that taught it last.
    taught: Option<Span>,
    /// So many moves in a row added that.
    same: u8,
    /// It differs from one move to the next.
    unlearnt: bool,
    /// Presses have events of their own.
    wired: bool,
    /// An event of its own stopped the clock.
    paused: bool,
    /// Whose time ran until the clock was stopped.
    stopped: Option<Color>,
    /// The last press, while its player's time rests.
    press: Option<Color>,
    /// When it was, as far as it was seen.
    press_at: Span,
    /// What its player had left before it, without what it added.
    before_press: Span,
    /// Two presses of their own followed each other so closely that a message up to this moment may be from before
    /// both, whatever it shows.
    quick: i64,
    /// When a message was last taken for what it is.
    heard: i64,
    watch: Watch,
    findings: VecDeque<Finding>,
}

impl Estimator {
    /// An estimator before the first reading. `fresh`: the game begins with it.
    pub fn new(model: Model, expected: Expected, fresh: bool) -> Estimator {
        Estimator {
            bank: Bank::new(&model, ByColor { white: Span::ALL, black: Span::ALL }),
            model,
            expected,
            each: ByColor::default(),
            ruled: None,
            origin: None,
            motion: Motion { since: Span::ALL, own: false },
            read: false,
            begun: false,
            fresh,
            unit: SECOND_US,
            last: None,
            slow: false,
            pending: None,
            doubt: Doubt::default(),
            before: None,
            turned: None,
            placed: None,
            moves: 0,
            due: ByColor { white: 0, black: 0 },
            learnt: Span::new(0, presses::MOST_ADDED_US),
            taught: None,
            same: 0,
            unlearnt: false,
            wired: false,
            paused: false,
            stopped: None,
            press: None,
            press_at: Span::ALL,
            before_press: Span::ALL,
            quick: i64::MIN,
            heard: 0,
            watch: Watch::default(),
            findings: VecDeque::new(),
        }
    }

    fn local(&mut self, at: MonoTime) -> i64 {
        let origin = *self.origin.get_or_insert(at);
        i64::try_from(at.since(origin)).unwrap_or(i64::MAX).min(LATEST_US)
    }

    fn moment(&self, at: i64) -> MonoTime {
        let origin = self.origin.unwrap_or(MonoTime::ZERO);
        let ahead = origin.plus_micros(u64::try_from(at).unwrap_or(0));
        let back = u64::try_from(at.saturating_neg()).unwrap_or(0);
        if at >= 0 { ahead } else { MonoTime::from_micros(origin.as_micros().saturating_sub(back)) }
    }

    /// The next thing that was found, in order.
    pub fn poll(&mut self) -> Option<Finding> {
        self.findings.pop_front()
    }

    /// When [`Estimator::advance`] has something to do.
    pub fn deadline(&self) -> Option<MonoTime> {
        self.doubt_ends().map(|at| self.moment(at)).filter(|at| *at < MonoTime::END)
    }

    fn doubt_ends(&self) -> Option<i64> {
        self.doubt.due().map(|at| at.min(LATEST_US))
    }

    /// Time passes.
    pub fn advance(&mut self, at: MonoTime) {
        let at = self.local(at);
        self.pass(at);
    }

    fn pass(&mut self, at: i64) {
        self.bank.pass(at);
        self.turn_alone(at);
        if self.doubt_ends().is_some_and(|due| due <= at) {
            self.resolve(at);
        }
        if self.pending.is_some_and(|(sample, _)| sample.to.saturating_add(ALONE_US) <= at) {
            self.flush(at);
        }
    }

    /// A reading of the clock.
    pub fn read(&mut self, at: MonoTime, reading: ClockReading) {
        let at = self.local(at);
        self.pass(at);
        let us = |ms: Option<u64>| ms.map(presses::micros);
        let shown = ByColor { white: us(reading.white_ms), black: us(reading.black_ms) };
        if [shown.white, shown.black].into_iter().flatten().any(|us| us % SECOND_US != 0) {
            self.unit = MILLI_US;
        }
        let from = at - self.model.lag_us();
        let sample = Sample { from, to: at, shown, unit: self.unit, running: reading.running };
        if !self.read {
            self.begin(sample);
        }
        self.watch(&sample);
        if at > self.quick && self.follow(&sample) {
            let from = sample.from.max(self.motion.since.lo);
            self.judge(Sample { from: from.min(at), ..sample });
        }
    }

    /// The first reading: a clock that was not started yet shows exactly what was set.
    fn begin(&mut self, sample: Sample) {
        self.read = true;
        let start = self.expected.start_ms.map(presses::micros);
        let untouched = self.fresh && !self.begun;
        for side in Color::ALL {
            let Some(shown) = *sample.shown.get(side) else { continue };
            let rests = sample.running != Some(side);
            let set = untouched && rests && (sample.running.is_none() || Some(shown) == start);
            if set {
                self.bank.set(side, Span::exact(shown));
            }
        }
    }

    /// A reading was taken.
    pub const fn is_read(&self) -> bool {
        self.read
    }

    /// No clock is connected any more: presses may go by unseen.
    pub fn lost(&mut self) {
        self.heard = i64::MIN / 4;
        self.last = None;
        self.pending = None;
        self.turned = None;
        self.doubt.clear();
    }

    /// The last reading shows other times than the ones before it, and none has confirmed them yet: it may be
    /// wrong.
    pub fn is_in_doubt(&self) -> bool {
        self.doubt.last().is_some_and(|last| last.to - self.heard <= ALONE_US)
    }

    /// Puts a message to the test.
    fn judge(&mut self, sample: Sample) {
        let last = self.last.replace(sample);
        let goes_on = last.is_none_or(|last| follows(&last, &sample));
        let miss = self.bank.miss(&sample);
        if miss > NEAR_US {
            self.flush_if_confirmed(&sample);
            let jumps = last.map_or(!self.slow, |last| !follows(&last, &sample));
            self.doubt.add(sample, jumps);
            if self.doubt.is_confirmed() {
                self.resolve(sample.to);
            }
            return;
        }
        self.doubt.clear();
        self.slow = false;
        self.heard = sample.to;
        self.flush_if_confirmed(&sample);
        self.pending = Some((sample, goes_on));
    }

    /// The message that waits is taken where the next one follows from it.
    fn flush_if_confirmed(&mut self, next: &Sample) {
        if let Some((sample, _)) = self.pending.filter(|(sample, goes_on)| *goes_on && follows(sample, next))
        {
            self.accept(sample);
        }
        self.pending = None;
    }

    /// The message that waits is taken as it is: no other one of the same state follows.
    fn flush(&mut self, _at: i64) {
        if let Some((sample, true)) = self.pending.take() {
            self.accept(sample);
        }
    }

    fn accept(&mut self, sample: Sample) {
        if !self.bank.take(&sample) {
            self.bank.stretch(&sample, sample.to);
        }
        self.learn();
    }

    /// The time left of a side at this moment, once a reading told it.
    pub fn left(&self, side: Color, at: MonoTime) -> Option<Estimate> {
        let at = i64::try_from(at.since(self.origin?)).ok()?;
        let span = self.bank.left(side, at);
        (self.read && span.is_bounded()).then(|| Estimate::of(span))
    }

    /// When the running side of the clock has no time left: the moments between which that is.
    pub fn zero(&self, side: Color, at: MonoTime) -> Option<(MonoTime, MonoTime)> {
        let now = i64::try_from(at.since(self.origin?)).ok()?;
        if !self.read || self.bank.running() != Some(side) {
            return None;
        }
        let zero = Span::exact(now).plus(self.bank.left(side, now));
        zero.is_bounded().then(|| (self.moment(zero.lo), self.moment(zero.hi)))
    }

    /// From now on a move adds this to the time of its player: it was ruled.
    pub fn rule_per_move(&mut self, per_move: PerMove) {
        self.ruled = Some(per_move);
    }

    /// What the next move of this side adds by the time control.
    pub fn moves_add(&mut self, side: Color, per_move: PerMove) {
        if self.turned.is_none() {
            *self.each.get_mut(side) = Some(per_move);
        }
    }

    /// What a move of this side adds, where that is known.
    fn per_move(&self, side: Color) -> Option<PerMove> {
        self.ruled.or(*self.each.get(side)).or(self.expected.per_move)
    }

    /// How many hypotheses and messages are kept.
    pub fn kept(&self) -> usize {
        self.bank.len() + self.doubt.len()
    }

    /// Whose time runs, as far as presses and readings tell.
    pub fn running(&self) -> Option<Color> {
        self.bank.running()
    }

    /// Rates of the clock against the monotonic clock that the readings still allow, parts per million.
    pub fn rates_ppm(&self) -> Span {
        self.bank.rates()
    }

    /// How the clock rounds, once that is known.
    pub fn rounding(&self) -> Option<Rounding> {
        self.bank.rounding()
    }
}

/// True where the later of two messages of one state of the clock shows what the earlier one lets expect: the
/// running side falls with the time that passes, the other one stands.
fn follows(earlier: &Sample, later: &Sample) -> bool {
    if earlier.running != later.running {
        return true;
    }
    Color::ALL.into_iter().all(|side| {
        let (Some(was), Some(is)) = (*earlier.shown.get(side), *later.shown.get(side)) else { return true };
        let fell = was - is;
        let most = later.to - earlier.from + later.unit;
        let falls = later.running == Some(side);
        if falls { (0..=most).contains(&fell) } else { fell == 0 }
    })
}
