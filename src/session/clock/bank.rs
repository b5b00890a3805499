//! What the external clock may be doing: one set of times for every rate and rounding that the readings
//! still allow.
//!
//! Within one hypothesis the clock runs `1 + rate` times as fast as the monotonic clock. A side that rests
//! has its time; a side that runs has the clock's own time at which it reaches zero. The sum of the two is
//! the same before and after a press, whenever it was: that is what lets the opponent's ticks tell the press.

use shakmaty::{ByColor, Color};

use super::{Model, Rounding, Span};

/// Step between two rates in parts per million. Each stands for all rates within half a step, which may
/// change with the temperature.
const STEP: i64 = 20;
/// Half of it.
const DRIFT: i64 = STEP / 2;

/// A bound that was wrong may have been so by this much more than a message shows, in microseconds.
const ROOM_US: i64 = 150_000;
/// So many rates at each end are possible again then.
const AGAIN: i64 = 5;

/// A clock with less than this may have run down, in microseconds.
const NEAR_ZERO_US: i64 = 1_000_000;

const MILLION: i64 = 1_000_000;

/// One message of the clock: what it showed at a moment from `from` to `to`, microseconds of monotonic time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub from: i64,
    pub to: i64,
    /// The times that were shown, in microseconds.
    pub shown: ByColor<Option<i64>>,
    /// What the display counts in, in microseconds.
    pub unit: i64,
    pub running: Option<Color>,
}

/// What a move adds to the time of a player, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PerMove {
    /// Added at the press.
    Added(Span),
    /// The main time waits for so long.
    Delay(i64),
    /// What was used is given back at the press, at most this.
    Bronstein(i64),
}

impl PerMove {
    const fn delay(self) -> i64 {
        match self {
            PerMove::Delay(us) => us,
            PerMove::Added(_) | PerMove::Bronstein(_) => 0,
        }
    }
}

/// The times under one hypothesis.
#[derive(Clone, Copy, Debug)]
struct Hypothesis {
    rate: i64,
    rounding: Rounding,
    sides: ByColor<Span>,
    sum: Span,
    /// The time of the running side when it was started.
    cap: Span,
    /// Of the last press: when the time of that player would have reached zero, and what his opponent had.
    ended: Span,
    rested: Span,
}

impl Hypothesis {
    /// The clock's own time at a moment.
    const fn own(&self, at: i64) -> i64 {
        at + at.saturating_mul(self.rate) / MILLION
    }

    fn own_span(&self, at: Span) -> Span {
        Span::new(self.own(at.lo), self.own(at.hi))
    }

    /// The moment at which the clock's own time is this.
    fn moment(&self, own: Span) -> Span {
        let back = |own: i64| {
            let at = i128::from(own) * i128::from(MILLION) / i128::from(MILLION + self.rate);
            i64::try_from(at).unwrap_or(own)
        };
        Span::new(back(own.lo).saturating_sub(1), back(own.hi).saturating_add(1))
    }

    /// Each of the three follows from the others.
    fn settle(&mut self) {
        for _ in 0..2 {
            self.sides.white = self.sides.white.meet(self.sum.minus(self.sides.black));
            self.sides.black = self.sides.black.meet(self.sum.minus(self.sides.white));
            self.sum = self.sum.meet(self.sides.white.plus(self.sides.black));
        }
    }

    fn is_empty(&self) -> bool {
        self.sides.white.is_empty()
            || self.sides.black.is_empty()
            || self.sum.is_empty()
            || self.cap.is_empty()
    }

    /// What a message shows of the side that runs behind a delay: never more than it had when it was started.
    fn cap_bound(&self, sample: &Sample, delay: bool) -> Span {
        let shown = sample.running.filter(|_| delay).and_then(|side| *sample.shown.get(side));
        shown.map_or(Span::ALL, |shown| Span::from(self.rounding.of(shown, sample.unit).lo))
    }

    /// What a message says about the value of a side.
    fn bound(&self, sample: &Sample, side: Color, delay: bool) -> Span {
        let Some(value) = *sample.shown.get(side) else { return Span::ALL };
        let mut left = self.rounding.of(value, sample.unit);
        if value == 0 {
            // A clock stays at zero.
            left = Span { lo: Span::ALL.lo, ..left };
        }
        if sample.running != Some(side) {
            return left;
        }
        let ends = left.plus(self.own_span(Span::new(sample.from, sample.to)));
        let waits = delay && self.cap.lo <= left.hi;
        if waits { Span::from(ends.lo) } else { ends }
    }

    fn constrain(&mut self, sample: &Sample, delay: bool) {
        for side in Color::ALL {
            let bound = self.bound(sample, side, delay);
            let value = self.sides.get_mut(side);
            *value = value.meet(bound);
        }
        self.cap = self.cap.meet(self.cap_bound(sample, delay));
        self.settle();
    }

    /// How far the message is from what is possible, in microseconds; 0 where it fits.
    fn miss(&self, sample: &Sample, delay: bool) -> i64 {
        let mut with = *self;
        with.constrain(sample, delay);
        if !with.is_empty() {
            return 0;
        }
        let gap = |side: Color| self.sides.get(side).gap(self.bound(sample, side, delay));
        let cap = self.cap.gap(self.cap_bound(sample, delay));
        gap(Color::White).max(gap(Color::Black)).max(cap).max(1)
    }

    fn stretch(&mut self, sample: &Sample, delay: bool) {
        for side in Color::ALL {
            let bound = self.bound(sample, side, delay);
            let value = self.sides.get_mut(side);
            if value.gap(bound) > 0 {
                *value = value.reaching(bound).wider(ROOM_US);
            }
        }
        self.cap = self.cap.reaching(self.cap_bound(sample, delay));
        // Where the sides fit and only their sum does not, the sum gives way.
        let mut with = *self;
        with.sum = Span::ALL;
        with.constrain(sample, delay);
        let sum = with.sides.white.plus(with.sides.black);
        self.sum = self.sum.reaching(sum).wider(ROOM_US);
    }

    fn left(&self, side: Color, running: Option<Color>, at: i64, delay: bool) -> Span {
        let value = *self.sides.get(side);
        if running != Some(side) {
            return value;
        }
        let left = value.minus(Span::exact(self.own(at)));
        if delay { left.least(self.cap) } else { left }
    }

    fn start(&mut self, side: Color, window: Span, per_move: PerMove) {
        let value = self.sides.get_mut(side);
        self.cap = *value;
        let from = self.own_span(window).plus(Span::exact(per_move.delay()));
        *self.sides.get_mut(side) = self.cap.plus(from);
        self.sum = self.sum.plus(from);
    }

    fn stop(&mut self, side: Color, window: Span, delay: bool) {
        let to = self.own_span(window);
        let left = self.sides.get(side).minus(to);
        *self.sides.get_mut(side) = if delay { left.least(self.cap) } else { left };
        self.sum = if delay { Span::ALL } else { self.sum.minus(to) };
        self.settle();
    }

    fn press(&mut self, by: Color, window: Span, own: PerMove, other: PerMove) {
        self.settle();
        let at = self.own_span(window);
        let left = self.sides.get(by).minus(at);
        if left.lo < 0 && left.hi < NEAR_ZERO_US {
            return self.press_after_zero(by, left, at, own, other);
        }
        let added = match own {
            PerMove::Added(span) => span,
            PerMove::Delay(_) => Span::exact(0),
            PerMove::Bronstein(us) => self.cap.minus(left).clamp(0, us),
        };
        self.ended = self.sides.get(by).plus(added);
        self.rested = self.sides.get(!by).plus(Span::exact(other.delay()));
        // What is given back never makes it more than there was before the move.
        *self.sides.get_mut(by) = match own {
            PerMove::Added(added) => left.plus(added),
            PerMove::Delay(_) => left.least(self.cap),
            PerMove::Bronstein(us) => left.plus(Span::exact(us)).least(self.cap),
        };
        self.cap = *self.sides.get(!by);
        *self.sides.get_mut(!by) = self.rested.plus(at);
        self.sum = match (own, other) {
            (PerMove::Delay(_), _) | (_, PerMove::Delay(_)) => Span::ALL,
            _ => self.sum.plus(added),
        };
        self.settle();
    }

    /// A clock that has run down stays at zero; some add a move's time there, some do not.
    fn press_after_zero(&mut self, by: Color, left: Span, at: Span, own: PerMove, other: PerMove) {
        let added = match own {
            PerMove::Added(span) => span.hull(Span::exact(0)),
            PerMove::Delay(_) => Span::exact(0),
            PerMove::Bronstein(us) => Span::new(0, us),
        };
        *self.sides.get_mut(by) = left.clamp(0, NEAR_ZERO_US).plus(added);
        self.cap = *self.sides.get(!by);
        self.rested = self.cap.plus(Span::exact(other.delay()));
        *self.sides.get_mut(!by) = self.rested.plus(at);
        (self.sum, self.ended) = (Span::ALL, Span::ALL);
    }

    /// When the last press of `by` was: his time tells it, and what is gone of his opponent's.
    fn pressed(&self, by: Color, running: Option<Color>) -> Span {
        let mut at = self.ended.minus(*self.sides.get(by));
        if running == Some(!by) {
            at = at.meet(self.sides.get(!by).minus(self.rested));
        }
        self.moment(at)
    }

    /// The same at a neighbouring rate.
    fn at_rate(mut self, rate: i64, running: Option<Color>, at: i64) -> Hypothesis {
        let before = self.own(at);
        self.rate = rate;
        if let Some(side) = running {
            let moved = Span::exact(self.own(at) - before);
            let value = self.sides.get_mut(side);
            *value = value.plus(moved);
            self.sum = self.sum.plus(moved);
        }
        self
    }
}

/// Every hypothesis that is left; never none.
#[derive(Clone, Debug)]
pub(super) struct Bank {
    all: Vec<Hypothesis>,
    limit: i64,
    running: Option<Color>,
    /// The main time of the running side waits first.
    delay: bool,
    /// Up to when the rates were given room to change.
    widened: i64,
}

impl Bank {
    /// Both sides stopped; their times as far as they are known.
    pub(super) fn new(model: &Model, sides: ByColor<Span>) -> Bank {
        let limit = i64::from(model.rate_ppm) / STEP * STEP;
        let roundings = match model.rounding {
            Some(one) => vec![one],
            None => vec![Rounding::Down, Rounding::Up],
        };
        let steps = limit / STEP;
        let all = roundings.into_iter().flat_map(|rounding| {
            (-steps..=steps).map(move |step| Hypothesis {
                rate: step * STEP,
                rounding,
                sides,
                sum: sides.white.plus(sides.black),
                cap: Span::ALL,
                ended: Span::ALL,
                rested: Span::ALL,
            })
        });
        Bank { all: all.collect(), limit, running: None, delay: false, widened: 0 }
    }

    /// How many hypotheses are left.
    pub(super) const fn len(&self) -> usize {
        self.all.len()
    }

    /// Whose time runs.
    pub(super) const fn running(&self) -> Option<Color> {
        self.running
    }

    /// Time has passed: the rates may have changed a little.
    pub(super) fn pass(&mut self, at: i64) {
        let room = |at: i64| at.saturating_mul(DRIFT) / MILLION;
        let more = room(at) - room(self.widened);
        self.widened = at;
        let Some(side) = self.running.filter(|_| more > 0) else { return };
        for one in &mut self.all {
            let value = one.sides.get_mut(side);
            *value = value.wider(more);
            one.sum = one.sum.wider(more);
        }
    }

    /// How far a message is from the nearest hypothesis, in microseconds; 0 where it fits.
    pub(super) fn miss(&self, sample: &Sample) -> i64 {
        self.all.iter().map(|one| one.miss(sample, self.delay)).min().unwrap_or(0)
    }

    /// Takes a message; what it rules out is dropped. A message that fits nothing is not taken.
    pub(super) fn take(&mut self, sample: &Sample) -> bool {
        if self.miss(sample) > 0 {
            return false;
        }
        let delay = self.delay;
        for one in &mut self.all {
            one.constrain(sample, delay);
        }
        self.all.retain(|one| !one.is_empty());
        true
    }

    /// A message that was well confirmed misses by little: either it or an earlier one was wrong. Everything
    /// between the two is possible again.
    pub(super) fn stretch(&mut self, sample: &Sample, at: i64) {
        let delay = self.delay;
        for one in &mut self.all {
            one.stretch(sample, delay);
        }
        for rounding in [Rounding::Down, Rounding::Up] {
            let rates = self.all.iter().filter(|one| one.rounding == rounding);
            let ends = (rates.clone().min_by_key(|one| one.rate), rates.max_by_key(|one| one.rate));
            let (Some(slow), Some(fast)) = (ends.0.copied(), ends.1.copied()) else { continue };
            let more = (1..=AGAIN).flat_map(|n| [(slow, slow.rate - n * STEP), (fast, fast.rate + n * STEP)]);
            for (one, rate) in more.filter(|(_, rate)| rate.abs() <= self.limit) {
                self.all.push(one.at_rate(rate, self.running, at));
            }
        }
    }

    /// The time of a side that rests is this.
    pub(super) fn set(&mut self, side: Color, time: Span) {
        for one in &mut self.all {
            *one.sides.get_mut(side) = time;
            one.sum = one.sides.white.plus(one.sides.black);
        }
    }

    /// What is known of a side is void; of the other one it stays.
    pub(super) fn forget(&mut self, side: Color) {
        for one in &mut self.all {
            *one.sides.get_mut(side) = Span::ALL;
            one.sum = Span::ALL;
            one.ended = Span::ALL;
            one.rested = Span::ALL;
            one.cap = if self.running == Some(side) { Span::ALL } else { one.cap };
        }
    }

    /// A side was given this much, in microseconds.
    pub(super) fn add(&mut self, side: Color, us: i64) {
        for one in &mut self.all {
            let more = Span::exact(us);
            let value = one.sides.get_mut(side);
            *value = value.plus(more);
            one.sum = one.sum.plus(more);
            one.cap = if self.running == Some(side) { one.cap.plus(more) } else { one.cap };
            one.ended = Span::ALL;
            one.rested = Span::ALL;
        }
    }

    /// The time of a side begins to run at a moment of the window.
    pub(super) fn start(&mut self, side: Color, window: Span, per_move: PerMove) {
        self.running = Some(side);
        self.delay = per_move.delay() > 0;
        for one in &mut self.all {
            one.start(side, window, per_move);
        }
    }

    /// Both stop at a moment of the window.
    pub(super) fn stop(&mut self, window: Span) {
        let Some(side) = self.running.take() else { return };
        for one in &mut self.all {
            one.stop(side, window, self.delay);
        }
        self.delay = false;
        self.drop_empty();
    }

    /// The running side presses at a moment of the window.
    pub(super) fn press(&mut self, by: Color, window: Span, own: PerMove, other: PerMove) {
        self.running = Some(!by);
        self.delay = other.delay() > 0;
        for one in &mut self.all {
            one.press(by, window, own, other);
        }
        self.drop_empty();
    }

    /// Drops what has no value left; where that is all, every time is unknown again.
    fn drop_empty(&mut self) {
        if self.all.iter().any(|one| !one.is_empty()) {
            self.all.retain(|one| !one.is_empty());
        } else {
            self.forget(Color::White);
            self.forget(Color::Black);
        }
    }

    /// The time left of a side at a moment, in microseconds.
    pub(super) fn left(&self, side: Color, at: i64) -> Span {
        self.join(|one| one.left(side, self.running, at, self.delay))
    }

    /// When the last press of `by` was, as far as the times tell it.
    pub(super) fn pressed(&self, by: Color) -> Span {
        self.join(|one| one.pressed(by, self.running))
    }

    fn join(&self, of: impl Fn(&Hypothesis) -> Span) -> Span {
        self.all.iter().map(of).filter(|span| !span.is_empty()).reduce(Span::hull).unwrap_or(Span::ALL)
    }

    /// The rates that are left, in parts per million.
    pub(super) fn rates(&self) -> Span {
        let all = self.join(|one| Span::exact(one.rate));
        all.wider(DRIFT)
    }

    /// The rounding, where only one is left.
    pub(super) fn rounding(&self) -> Option<Rounding> {
        let first = self.all.first()?.rounding;
        self.all.iter().all(|one| one.rounding == first).then_some(first)
    }
}
