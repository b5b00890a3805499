//! The times of a clock: what a reading tells of a press, what is estimated where none does, and what the readings
//! show beyond that.

use serde_json::Value;
use shakmaty::{ByColor, Color, Position as _};

use super::{Facts, Narrator, Now, tell};
use crate::{
    laws::{
        arithmetic::periods,
        settings::{ClockMode, LawSettings},
        time_control::{GameControl, TimeControl},
    },
    session::{
        clock::{Estimate, Estimator, Expected, Finding, PerMove},
        event::ClockReading,
        fact::FactKind,
        setup::GameSetup,
        time::MonoTime,
    },
};

/// A clock tells a press up to this many milliseconds late.
const CLOCK_LAG_MS: u64 = 1_500;
/// A time that is known no better is not told in place of a reading, in microseconds.
const WIDEST_US: u64 = 2_000_000;

/// A press whose time no reading has told yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct AwaitsClock {
    pub index: usize,
    pub by: Color,
    pub pressed: MonoTime,
    /// An estimate was told.
    pub estimated: bool,
}

impl AwaitsClock {
    /// No reading comes any more.
    pub fn due(self) -> MonoTime {
        self.pressed.plus_ms(CLOCK_LAG_MS)
    }
}

/// What a clock that shows seconds leaves open, in microseconds.
const SECOND_US: u64 = 1_000_000;

/// Two readings one after the other show the same where they differ by no more than this, in milliseconds.
const SAME_MS: u64 = 2_000;
/// A reading that misses what is possible waits for the next one, for so long at most, in milliseconds.
const ALONE_MS: u64 = 2_000;
/// A clock that is being set shows it within this, in milliseconds.
const SET_MS: u64 = 20_000;

/// The estimator of the clock, with the plies that its presses completed.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    estimator: Estimator,
    control: Option<GameControl>,
    mode: ClockMode,
    /// Half moves before the first one that is told.
    earlier: usize,
    /// The last ply of each side that a press completed, and when.
    completed: ByColor<Option<(usize, MonoTime)>>,
    /// A reading that may be wrong, and until when it waits for the next one at the latest.
    held: Option<(ClockReading, MonoTime)>,
    /// The times that it is set to, and until when it shows them at the latest.
    set: Option<([Option<u64>; 2], MonoTime)>,
    /// By how many milliseconds the reading that was told last missed what the ones before it allow; nothing for the
    /// first one.
    missed_ms: ByColor<Option<u64>>,
    /// Between which moments the time of a side ran out, as it looked before the clock showed that.
    zero: ByColor<Option<(MonoTime, MonoTime)>>,
}

impl Reader {
    pub fn new(setup: &GameSetup, laws: &LawSettings) -> Reader {
        let control: Option<GameControl> = setup.time_control.parse().ok();
        let expected = control.as_ref().map_or_else(Expected::default, |control| expected(control, laws));
        let fresh = setup.history.is_empty() && setup.given.is_empty();
        let estimator = Estimator::new(setup.settings.clock, expected, fresh);
        Reader {
            estimator,
            control,
            mode: laws.clock.mode,
            earlier: setup.history.len(),
            completed: ByColor::default(),
            held: None,
            set: None,
            missed_ms: ByColor::default(),
            zero: ByColor::default(),
        }
    }

    /// A clock was read.
    pub const fn is_read(&self) -> bool {
        self.estimator.is_read()
    }

    pub fn deadline(&self) -> Option<MonoTime> {
        if !self.is_read() {
            return None;
        }
        let held = self.held.filter(|_| !self.estimator.is_in_doubt()).map(|(_, due)| due);
        MonoTime::sooner(held, self.estimator.deadline())
    }

    /// Whether a reading has to wait for the next one: it shows times that are not possible, and the one before it
    /// does not show them, too.
    fn is_alone(&self, at: MonoTime, reading: &ClockReading, missed_ms: ByColor<Option<u64>>) -> bool {
        let misses = missed_ms.white.max(missed_ms.black) > Some(0);
        let ordered = self.set.is_some_and(|(times, until)| at <= until && shows(reading, times));
        misses && !self.confirms(reading) && !ordered
    }

    /// True for a reading that shows what the one shows that waits for it.
    fn confirms(&self, reading: &ClockReading) -> bool {
        self.held.is_some_and(|(held, _)| {
            reading.running == held.running && shows(reading, [held.white_ms, held.black_ms])
        })
    }

    /// What a player has left who has just pressed, where that is known well enough to be told.
    pub fn at_press(&self, by: Color) -> Option<Estimate> {
        self.estimator.at_press(by).filter(|left| left.width_us() <= WIDEST_US)
    }

    /// True where no reading can show yet what the last press left to this player.
    pub fn is_own_press(&self, by: Color) -> bool {
        self.estimator.is_own_press(by)
    }

    /// A reading that shows no time left of the side that runs: since when, the readings before it tell.
    fn note_zero(&mut self, reading: ClockReading, at: MonoTime) {
        for side in Color::ALL {
            match side.fold_wb(reading.white_ms, reading.black_ms) {
                Some(0) => {
                    let zero = self.zero.get_mut(side);
                    *zero = zero.or_else(|| self.estimator.zero(side, at));
                }
                _ => *self.zero.get_mut(side) = None,
            }
        }
    }

    pub fn completed(&mut self, by: Color, index: usize, at: MonoTime) {
        *self.completed.get_mut(by) = Some((index, at));
    }

    pub fn moved(&mut self, by: Color, placed: MonoTime) {
        self.estimator.placed(placed);
        self.estimator.moved(by, placed);
    }

    /// Tells the estimator what the next press of a side adds beside the time for the move.
    fn count(&mut self, side: Color, made: usize) {
        let Some(control) = self.control.as_ref().map(|control| control.side(side)) else { return };
        let of = |moves: usize| periods::period_of(control, u32::try_from(moves).unwrap_or(u32::MAX));
        let next = of(made + 1);
        let due = if next > of(made) { periods::added_ms(control, next) } else { None };
        self.estimator.due(side, due);
        if let Some(period) = control.periods().get(of(made)) {
            self.estimator.moves_add(side, PerMove::of(period, self.mode));
        }
    }
}

/// True for a reading of about these times.
fn shows(reading: &ClockReading, [white, black]: [Option<u64>; 2]) -> bool {
    let near = |one: Option<u64>, other: Option<u64>| {
        one.zip(other).is_none_or(|(one, other)| one.abs_diff(other) <= SAME_MS)
    };
    near(white, reading.white_ms) && near(black, reading.black_ms)
}

/// What a time control lets expect of a clock; what differs between the players is left open.
fn expected(control: &GameControl, laws: &LawSettings) -> Expected {
    let sides = Color::ALL.map(|side| control.side(side));
    let all = || sides.iter().flat_map(|control| control.periods());
    let mut each = all().map(|period| PerMove::of(period, laws.clock.mode));
    let first = each.next();
    let per_move = first.filter(|first| each.all(|other| other == *first));
    let start = |control: &TimeControl| periods::initial_ms(control, &laws.clock);
    let added = |control: &TimeControl| {
        let later = 1..control.periods().len();
        later.filter_map(|period| periods::added_ms(control, period)).collect::<Vec<_>>()
    };
    let mut periods_ms: Vec<u64> = sides.iter().flat_map(|control| added(control)).collect();
    periods_ms.sort_unstable();
    periods_ms.dedup();
    Expected { start_ms: control.common().map(start), per_move, periods_ms }
}

impl Narrator {
    /// Between which moments the time of a side has run out that an external clock shows as used up at `at`, or
    /// tells by its flag.
    pub(in crate::session) fn clock_zero(&self, side: Color, at: MonoTime) -> Option<(MonoTime, MonoTime)> {
        self.reader.zero.get(side).or_else(|| self.reader.estimator.zero(side, at))
    }

    /// The clock is being set: it shows these times soon.
    pub(in crate::session) fn expect_clock(&mut self, at: MonoTime, times_ms: [Option<u64>; 2]) {
        self.reader.set = Some((times_ms, at.plus_ms(SET_MS)));
    }

    /// By how many milliseconds the last reading missed what the ones before it allow; nothing for the first one.
    pub(in crate::session) const fn clock_missed_ms(&self) -> ByColor<Option<u64>> {
        self.reader.missed_ms
    }

    /// From now on a move adds this to the time of its player.
    pub(in crate::session) fn rule_per_move(&mut self, per_move: PerMove) {
        self.reader.estimator.rule_per_move(per_move);
    }

    /// A reading of the clock.
    pub(in crate::session) fn set_clock(&mut self, reading: ClockReading, now: Now, facts: &mut Facts) {
        let mut alone = false;
        if !self.is_over() && self.reader.estimator.may_be_older(now.at, &reading) {
            self.reader.estimator.read(now.at, reading);
            self.tell_findings(now, facts);
            return;
        }
        if !self.is_over() {
            self.count_moves();
            self.reader.note_zero(reading, now.at);
            let miss = |side| self.reader.estimator.miss_ms(side, now.at, &reading);
            let missed_ms = ByColor { white: miss(Color::White), black: miss(Color::Black) };
            alone = self.reader.is_alone(now.at, &reading, missed_ms);
            // What is confirmed missed as the first of the readings did.
            let confirms = self.reader.confirms(&reading);
            let before = if confirms { self.reader.missed_ms } else { ByColor::default() };
            self.reader.missed_ms = ByColor {
                white: missed_ms.white.max(before.white),
                black: missed_ms.black.max(before.black),
            };
            self.reader.estimator.read(now.at, reading);
        }
        // A reading that may be wrong is told when the next ones, or that none come, confirm it.
        if alone || self.reader.estimator.is_in_doubt() {
            self.reader.held = Some((reading, now.at.plus_ms(ALONE_MS)));
        } else {
            self.reader.held = None;
            self.tell_clock(reading, now, facts);
        }
        self.tell_findings(now, facts);
    }

    fn tell_clock(&mut self, reading: ClockReading, now: Now, facts: &mut Facts) {
        if reading != self.clock {
            self.clock = reading;
            tell(facts, now, FactKind::Clock(reading));
            self.clock_after_press(reading, now, facts);
        }
    }

    /// A player pressed.
    pub(in crate::session) fn clock_pressed(&mut self, by: Color, now: Now, facts: &mut Facts) {
        self.count_moves();
        self.reader.estimator.press(now.at, by);
        self.tell_findings(now, facts);
    }

    /// Both clocks were stopped.
    pub(in crate::session) fn clock_paused(&mut self, now: Now, facts: &mut Facts) {
        self.reader.estimator.pause(now.at);
        self.tell_findings(now, facts);
    }

    /// A clock was started by hand.
    pub(in crate::session) fn clock_started(&mut self, side: Color, now: Now, facts: &mut Facts) {
        self.reader.estimator.run(now.at, side);
        self.tell_findings(now, facts);
    }

    /// A note of a device may be about the clock.
    pub(in crate::session) fn heed_clock(&mut self, note: &Value, now: Now, facts: &mut Facts) {
        let absent = note.get("clock").and_then(Value::as_str) == Some("absent");
        if absent && !self.is_over() && self.reader.estimator.is_read() {
            self.reader.estimator.lost();
            self.tell_findings(now, facts);
        }
    }

    /// Time has passed.
    #[cold]
    pub(in crate::session) fn clock_deadline_passed(&mut self, now: Now, facts: &mut Facts) {
        self.reader.estimator.advance(now.at);
        if !self.reader.estimator.is_in_doubt()
            && let Some((reading, _)) = self.reader.held.take_if(|(_, due)| *due <= now.at)
        {
            self.tell_clock(reading, now, facts);
        }
        if let Some(awaits) = &mut self.awaits_clock
            && awaits.due() <= now.at
        {
            awaits.estimated = true;
            let (index, by) = (awaits.index, awaits.by);
            if let Some(left) = self.reader.at_press(by) {
                self.tell_estimate(index, left, now, facts);
            }
        }
        self.tell_findings(now, facts);
    }

    /// The moves of each side that are completed: with the last one of a side, if it is not.
    fn count_moves(&mut self) {
        let first = self.start.turn();
        for side in Color::ALL {
            let odd = usize::from(side != first);
            let told = (self.told.len() + 1 - odd) / 2;
            let open = self
                .told
                .last()
                .is_some_and(|told| told.after.turn() != side && told.record.completed.is_none());
            let earlier = (self.reader.earlier + odd) / 2;
            self.reader.count(side, earlier + told - usize::from(open));
        }
    }

    /// No reading told the time of a press: what is estimated.
    pub(super) fn tell_estimate(&mut self, index: usize, left: Estimate, now: Now, facts: &mut Facts) {
        let clock_ms = left.us / 1000;
        if let Some(told) = self.told.get_mut(index) {
            told.record.clock_ms = Some(clock_ms);
            let kind = FactKind::PlyClock { ply: index + 1, clock_ms, shown_ms: None, estimate: Some(left) };
            tell(facts, now, kind);
        }
    }

    /// The first reading after a press tells the time that the mover has left.
    fn clock_after_press(&mut self, reading: ClockReading, now: Now, facts: &mut Facts) {
        let Some(AwaitsClock { index, by, pressed, .. }) = self.awaits_clock else { return };
        if reading.running == Some(by) && now.at < pressed.plus_ms(CLOCK_LAG_MS) {
            return;
        }
        self.awaits_clock = None;
        let shown_ms = by.fold_wb(reading.white_ms, reading.black_ms);
        let in_time = now.at <= pressed.plus_ms(CLOCK_LAG_MS) && reading.running != Some(by);
        let (Some(told), Some(shown), true) = (self.told.get_mut(index), shown_ms, in_time) else { return };
        let off = |left: &Estimate| (left.us / 1000).abs_diff(shown);
        let better = |left: &Estimate| left.width_us() < SECOND_US && off(left) <= SAME_MS;
        let estimate = self.reader.at_press(by).filter(better);
        // A reading that is a second off is a wrong one.
        let shown_ms = shown_ms.filter(|_| estimate.is_none_or(|left| off(&left) * 1000 <= SECOND_US));
        let clock_ms = estimate.map_or(shown, |left| left.us / 1000);
        if told.record.clock_ms != Some(clock_ms) || shown_ms.is_some_and(|ms| ms != clock_ms) {
            told.record.clock_ms = Some(clock_ms);
            tell(facts, now, FactKind::PlyClock { ply: index + 1, clock_ms, shown_ms, estimate });
        }
    }

    fn tell_findings(&mut self, now: Now, facts: &mut Facts) {
        while let Some(finding) = self.reader.estimator.poll() {
            match finding {
                Finding::Pressed { by, left, from, to } => {
                    self.tell_ply_time(by, left, (from, to), now, facts)
                }
                _ => tell(facts, now, FactKind::ClockFinding(finding)),
            }
        }
    }

    /// All that will be known of a press is known.
    fn tell_ply_time(
        &mut self,
        by: Color,
        left: Estimate,
        (from, to): (MonoTime, MonoTime),
        now: Now,
        facts: &mut Facts,
    ) {
        let Some((index, at)) = self.reader.completed.get_mut(by).take() else { return };
        // The press of another move than the one that was completed last.
        if at < from || at > to.plus_ms(CLOCK_LAG_MS) {
            return;
        }
        if index < self.told.len() {
            tell(facts, now, FactKind::PlyTime { ply: index + 1, left, from, to });
        }
    }
}
