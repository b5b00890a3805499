//! A chess clock: two times that run down in turn, kept by this program (Articles 6.2, 6.3).
//!
//! Pure, in whole microseconds of the monotonic clock: what was charged to the two sides is what the clock was
//! running, to the microsecond, however long the game is. Nothing here counts moves or judges a press; when a
//! period begins and what a move adds is told from outside.

use shakmaty::{ByColor, Color};

use crate::{
    laws::arithmetic::clock::PerMove,
    session::{event::ClockReading, face::ClockFace, time::MonoTime},
};

/// A side of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Half {
    /// Main time left, in microseconds, when it was settled last.
    left_us: u64,
    /// When it ran out.
    flag: Option<MonoTime>,
    /// The period, counted from 0, whose time it has got.
    period: usize,
}

/// The side that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    side: Color,
    since: MonoTime,
    /// How long this turn had lasted before, in microseconds: the clock was stopped in between.
    before_us: u64,
    /// Time of this turn that is not charged, in microseconds.
    delay_us: u64,
    /// The end of the delay was told.
    delay_told: bool,
}

impl Run {
    /// Microseconds that this turn has lasted.
    fn turn_us(&self, at: MonoTime) -> u64 {
        self.before_us.saturating_add(at.since(self.since))
    }

    /// Microseconds of main time since it runs.
    fn charged_us(&self, at: MonoTime) -> u64 {
        self.turn_us(at).saturating_sub(self.delay_us.max(self.before_us))
    }

    /// When the main time begins to run.
    fn delay_ends(&self) -> MonoTime {
        self.since.plus_micros(self.delay_us.saturating_sub(self.before_us))
    }
}

/// A turn in which the clock was stopped: whose, how long it had lasted, and its delay, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Halted {
    side: Color,
    before_us: u64,
    delay_us: u64,
}

/// What a press did to the player's own time, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pressed {
    /// Left when he pressed.
    pub own_ms: u64,
    /// Left with what the move added.
    pub credited_ms: u64,
}

/// What a deadline of the clock was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The main time of the running side begins to run.
    DelayOver,
    /// The time of this side is used up.
    Flag(Color),
}

/// The clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnClock {
    halves: ByColor<Half>,
    running: Option<Run>,
    halted: Option<Halted>,
    /// It has been started.
    begun: bool,
    /// Something changed that nobody was told.
    news: bool,
}

impl OwnClock {
    /// A clock that stands, with what each side has, in milliseconds, and the period that it has it for.
    pub(super) fn new(left_ms: ByColor<u64>, period: ByColor<usize>) -> OwnClock {
        let half = |side: Color| Half {
            left_us: left_ms.get(side).saturating_mul(1000),
            flag: None,
            period: *period.get(side),
        };
        let halves = ByColor { white: half(Color::White), black: half(Color::Black) };
        OwnClock { halves, running: None, halted: None, begun: false, news: true }
    }

    /// The side that runs.
    pub(super) fn running(&self) -> Option<Color> {
        self.running.map(|run| run.side)
    }

    /// True when a press of this side does something: it runs, or nothing was ever started and the press
    /// starts the other side. A clock that was stopped is started by the arbiter.
    pub(super) fn heeds_press(&self, side: Color) -> bool {
        match self.running {
            Some(run) => run.side == side,
            None => !self.begun,
        }
    }

    /// Microseconds of main time left for a side.
    fn left_us(&self, side: Color, at: MonoTime) -> u64 {
        let half = self.halves.get(side);
        let charged = self.running.filter(|run| run.side == side).map_or(0, |run| run.charged_us(at));
        half.left_us.saturating_sub(charged)
    }

    /// Milliseconds left for a side, the begun one not counted.
    pub(super) fn left_ms(&self, side: Color, at: MonoTime) -> u64 {
        self.left_us(side, at) / 1000
    }

    /// The time up to now is charged to the side that runs.
    fn settle(&mut self, at: MonoTime) {
        let Some(run) = &mut self.running else { return };
        let (charged, turn) = (run.charged_us(at), run.turn_us(at));
        let half = self.halves.get_mut(run.side);
        half.left_us = half.left_us.saturating_sub(charged);
        run.since = at;
        run.before_us = turn;
        self.news = true;
    }

    /// A press of the side that runs, or the first one. What `adds` says is added to it, unless its flag is
    /// down: after that nothing is. The other side runs, with the delay of its own moves.
    pub(super) fn press(&mut self, side: Color, at: MonoTime, adds: PerMove, next: PerMove) -> Pressed {
        self.settle(at);
        let turn_us = self.running.map_or(0, |run| run.before_us);
        let was_running = self.running.is_some();
        let half = self.halves.get_mut(side);
        let own_ms = half.left_us / 1000;
        if half.flag.is_none() && was_running {
            let added_us = match adds {
                PerMove::None | PerMove::Delay { .. } => 0,
                PerMove::Increment { ms } => ms.saturating_mul(1000),
                PerMove::Bronstein { ms } => ms.saturating_mul(1000).min(turn_us),
            };
            half.left_us = half.left_us.saturating_add(added_us);
        }
        let credited_ms = half.left_us / 1000;
        self.start(!side, at, 0, delay_us(next));
        Pressed { own_ms, credited_ms }
    }

    fn start(&mut self, side: Color, at: MonoTime, before_us: u64, delay_us: u64) {
        let delay_told = delay_us <= before_us;
        self.running = Some(Run { side, since: at, before_us, delay_us, delay_told });
        self.halted = None;
        self.begun = true;
        self.news = true;
    }

    /// The arbiter starts a side. A turn that was stopped goes on, with what is left of its delay.
    pub(super) fn run(&mut self, side: Color, at: MonoTime, per_move: PerMove) {
        if self.running() == Some(side) {
            return;
        }
        self.settle(at);
        match self.halted.filter(|halted| halted.side == side) {
            Some(halted) => self.start(side, at, halted.before_us, halted.delay_us),
            None => self.start(side, at, 0, delay_us(per_move)),
        }
    }

    /// Both sides stand.
    pub(super) fn stop(&mut self, at: MonoTime) {
        self.settle(at);
        if let Some(run) = self.running.take() {
            self.halted = Some(Halted { side: run.side, before_us: run.before_us, delay_us: run.delay_us });
        }
    }

    /// The side whose turn was stopped.
    pub(super) fn halted(&self) -> Option<Color> {
        self.halted.map(|halted| halted.side)
    }

    /// Sets what is left for a side, in milliseconds.
    pub(super) fn set(&mut self, side: Color, ms: u64, at: MonoTime) {
        self.settle(at);
        let half = self.halves.get_mut(side);
        half.left_us = ms.saturating_mul(1000);
        if ms > 0 {
            half.flag = None;
        }
        self.news = true;
    }

    /// The period, counted from 0, whose time a side has got.
    pub(super) fn period(&self, side: Color) -> usize {
        self.halves.get(side).period
    }

    /// The time of this period is added, once.
    pub(super) fn begin_period(&mut self, side: Color, period: usize, ms: u64) {
        let half = self.halves.get_mut(side);
        if half.period < period {
            half.period = period;
            half.left_us = half.left_us.saturating_add(ms.saturating_mul(1000));
            self.news = true;
        }
    }

    /// The next deadline.
    pub(super) fn due(&self) -> Option<MonoTime> {
        let run = self.running?;
        if !run.delay_told {
            return Some(run.delay_ends());
        }
        self.flag_at()
    }

    /// When the time of the running side is used up.
    fn flag_at(&self) -> Option<MonoTime> {
        let run = self.running?;
        let half = self.halves.get(run.side);
        half.flag.is_none().then(|| run.delay_ends().max(run.since).plus_micros(half.left_us))
    }

    /// What is due by now.
    pub(super) fn fire(&mut self, at: MonoTime) -> Option<Due> {
        if self.due().is_none_or(|due| due > at) {
            return None;
        }
        let run = self.running.as_mut()?;
        if !run.delay_told {
            run.delay_told = true;
            self.news = true;
            return Some(Due::DelayOver);
        }
        let side = run.side;
        self.halves.get_mut(side).flag = Some(at);
        self.settle(at);
        Some(Due::Flag(side))
    }

    /// What the clock shows; milliseconds that have begun are not counted.
    pub(super) fn reading(&self, at: MonoTime) -> ClockReading {
        ClockReading {
            white_ms: Some(self.left_ms(Color::White, at)),
            black_ms: Some(self.left_ms(Color::Black, at)),
            running: self.running(),
        }
    }

    /// The part of the delay that is left in this turn, in milliseconds.
    pub(super) fn delay_ms(&self, at: MonoTime) -> u64 {
        self.running.map_or(0, |run| run.delay_ends().since(at) / 1000)
    }

    /// The face at this moment.
    pub(super) fn face(&self, at: MonoTime) -> ClockFace {
        let reading = self.reading(at);
        let flag = |side: Color| self.halves.get(side).flag.is_some();
        ClockFace {
            white_ms: reading.white_ms,
            black_ms: reading.black_ms,
            running: reading.running.map(|side| side.fold_wb("white", "black")),
            delay_ms: self.delay_ms(at),
            white_flag: flag(Color::White),
            black_flag: flag(Color::Black),
        }
    }

    /// Whether something changed since this was asked last.
    pub(super) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.news)
    }
}

fn delay_us(per_move: PerMove) -> u64 {
    match per_move {
        PerMove::Delay { ms } => ms.saturating_mul(1000),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
