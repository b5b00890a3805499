//! Times that changed in another way than by running: set by hand, or another period.

use shakmaty::Color;

use super::{
    Change, Estimator, Finding, GAP_US, NEAR_US, PerMove, Sample, Span,
    presses::{MOST_ADDED_US, micros},
};

const SECOND_US: i64 = 1_000_000;
/// A smaller change is a matter of the estimate, not of the clock.
const TELL_US: i64 = 2_000_000;
const HOUR_US: i64 = 3_600_000_000;
/// By so much a change may differ from what explains it.
const ROOM_US: i64 = 2_200_000;
/// Where the time control is not known, a period adds at least so much, in steps of five minutes.
const PERIOD_US: i64 = 900_000_000;
const PERIOD_STEP_US: i64 = 300_000_000;
/// After so many moves that added the same, another value is taken for a time that was set, once.
const SAME: u8 = 8;
/// What a move adds is learnt well enough where it is known to so many microseconds.
const LEARNT_US: i64 = 3_000_000;
/// A clock that adds the next period when the time of the one before is used up.
const USED_UP_US: i64 = 5_000_000;

/// A side whose time is another one.
#[derive(Clone, Copy, Debug)]
struct Other {
    side: Color,
    expected: Span,
    shown: i64,
}

impl Other {
    fn by(&self) -> i64 {
        self.shown - self.expected.middle()
    }
}

impl Estimator {
    /// The messages in doubt are no accident: their times hold from now on.
    pub(super) fn resolve(&mut self, at: i64) {
        let jump = self.doubt.is_jump();
        let samples = self.doubt.take();
        let (Some(first), Some(last)) = (samples.first().copied(), samples.last().copied()) else { return };
        let unseen = !self.wired && self.bank.running().is_some() && first.to - self.heard > GAP_US;
        let others: Vec<Other> = Color::ALL.into_iter().filter_map(|side| self.other(side, &last)).collect();
        let tell = jump && !unseen && !self.is_unseen_pair(&others) && !self.is_press_before_stop(&others);
        self.before = None;
        self.pending = None;
        for other in &others {
            let learnt = self.learns_otherwise(other);
            self.press = self.press.filter(|by| by != &other.side);
            let added = self.period(other, &last);
            if let Some(us) = added {
                self.bank.add(other.side, us);
            }
            if added.is_none() || self.bank.miss(&last) > NEAR_US {
                self.bank.forget(other.side);
            }
            if tell && !learnt && other.by().abs() >= TELL_US {
                let change = match added {
                    Some(us) if us < 0 => continue,
                    Some(_) => Change::Period,
                    None if other.by().abs() > HOUR_US => Change::Jump,
                    None => Change::Adjusted,
                };
                let ms = |us: i64| u64::try_from(us / 1000).unwrap_or(0);
                self.findings.push_back(Finding::Changed {
                    change,
                    side: other.side,
                    before_ms: ms(other.expected.middle()),
                    after_ms: ms(other.shown),
                    seen: self.moment(first.to),
                });
            }
        }
        if others.is_empty() {
            // Each side fits and both together do not.
            self.bank.forget(Color::White);
            self.bank.forget(Color::Black);
        }
        for sample in &samples {
            if !self.bank.take(sample) {
                self.bank.stretch(sample, at);
            }
        }
        self.heard = last.to;
    }

    /// What a move adds is not known, and the first message after a press shows other times than what was learnt lets
    /// expect: it depends on the time that was used (delay, Bronstein), or on the period. Nothing is taken for learnt
    /// any more.
    fn learns_otherwise(&mut self, other: &Other) -> bool {
        let unknown = self.per_move(other.side).is_none();
        let at_press = self.press == Some(other.side) && self.heard <= self.motion.since.hi;
        let given = self.learnt.plus(Span::exact(other.by())).wider(ROOM_US);
        if !unknown || !at_press || given.meet(Span::new(0, MOST_ADDED_US)).is_empty() {
            return false;
        }
        // What was the same many times is believed once more.
        if std::mem::take(&mut self.same) >= SAME {
            return false;
        }
        self.learnt = Span::new(0, MOST_ADDED_US);
        self.unlearnt = true;
        true
    }

    /// The side, where a message shows another time than is known.
    fn other(&self, side: Color, sample: &Sample) -> Option<Other> {
        let shown = (*sample.shown.get(side))?;
        let mut expected = self.bank.left(side, sample.to);
        if sample.running == Some(side) {
            expected = Span::new(expected.lo, expected.hi.saturating_add(sample.to - sample.from));
        }
        let seen = Span::exact(shown).wider(sample.unit - 1);
        (expected.is_bounded() && expected.gap(seen) > 0).then_some(Other { side, expected, shown })
    }

    /// What a new period added to a side, in microseconds, where that explains its time.
    fn period(&self, other: &Other, last: &Sample) -> Option<i64> {
        let by = other.by();
        // A clock that counts other moves than we do adds it at another press.
        let known = self.expected.periods_ms.iter().map(|ms| micros(*ms)).flat_map(|us| [us, -us]);
        let known = known.into_iter().find(|us| *us != 0 && (us - by).abs() <= ROOM_US);
        if known.is_some() || self.per_move(other.side).is_some() {
            return known;
        }
        let steps = (by + PERIOD_STEP_US / 2).div_euclid(PERIOD_STEP_US) * PERIOD_STEP_US;
        let due = last.running != Some(other.side) || other.expected.lo < USED_UP_US;
        (due && steps >= PERIOD_US && (steps - by).abs() <= ROOM_US).then_some(steps)
    }

    /// Two presses so close together that no message came between: both players got what a move adds.
    fn is_unseen_pair(&self, others: &[Other]) -> bool {
        let by = |side| others.iter().find(|other| other.side == side).map_or(0, Other::by);
        let adds =
            |side| self.per_move(side).is_none_or(|per_move| matches!(per_move, PerMove::Increment { .. }));
        (others.len() == 2 || !Color::ALL.into_iter().any(adds))
            && Color::ALL.into_iter().all(|side| self.is_late_increment(side, by(side)))
    }

    /// The player pressed and the clock was stopped with no message in between: he got what a move adds.
    fn is_press_before_stop(&self, others: &[Other]) -> bool {
        let [other] = others else { return false };
        self.stopped == Some(other.side)
            && self.bank.running().is_none()
            && self.heard <= self.motion.since.hi
            && self.is_late_increment(other.side, other.by())
    }

    /// True where a side has so much more than expected, in microseconds, as a press that no message showed explains.
    pub(super) fn is_late_increment(&self, side: Color, by: i64) -> bool {
        let added = match self.per_move(side) {
            Some(PerMove::Increment { ms }) if ms > 0 => Span::exact(micros(ms)),
            // What it gives depends on what was used: two men that were moved speak for presses, too.
            Some(PerMove::Bronstein { ms } | PerMove::Delay { ms }) if self.moves >= 2 => {
                Span::new(0, micros(ms))
            }
            None if self.learnt.lo > 0 && self.learnt.width() <= LEARNT_US => self.learnt,
            _ => return false,
        };
        let least = if self.bank.running() == Some(side) { -ROOM_US } else { -ROOM_US - SECOND_US };
        added.plus(Span::new(least, ROOM_US)).holds(by)
    }
}
