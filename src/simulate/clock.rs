//! The digital clock between the simulated players.

use shakmaty::{ByColor, Color};

use super::params::ClockReports;
use crate::session::event::{ClockReading, Event};

/// One period of a time control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Period {
    /// Moves after which the next period's time is added; `None` for the last one.
    moves: Option<u64>,
    base_us: u64,
    per_move: PerMove,
}

/// What a move gives, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PerMove {
    /// Added at the press, and before the first move.
    Increment(u64),
    /// The main time waits for so long.
    Delay(u64),
    /// What the move took is given back, at most so much.
    Bronstein(u64),
}

impl PerMove {
    const SIGNS: [char; 3] = ['+', 'd', 'b'];

    const fn of(sign: char, us: u64) -> PerMove {
        match sign {
            'd' => PerMove::Delay(us),
            'b' => PerMove::Bronstein(us),
            _ => PerMove::Increment(us),
        }
    }
}

/// A time control in the notation of the sensor log: `40/5400+30:1800+30`, `300d3`, `300b3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimeControl(Vec<Period>);

impl TimeControl {
    /// Reads the notation; `None` when it is another one.
    pub(super) fn parse(text: &str) -> Option<TimeControl> {
        let number = |text: &str| text.parse::<u32>().ok().map(u64::from);
        let period = |text: &str| {
            let (moves, time) = match text.split_once('/') {
                Some((moves, time)) => (Some(number(moves).filter(|n| *n > 0)?), time),
                None => (None, text),
            };
            let split = PerMove::SIGNS.into_iter().find_map(|sign| Some((time.split_once(sign)?, sign)));
            let (base, per_move) = match split {
                Some(((base, gives), sign)) => (number(base)?, PerMove::of(sign, number(gives)? * 1_000_000)),
                None => (number(time)?, PerMove::Increment(0)),
            };
            Some(Period { moves, base_us: base * 1_000_000, per_move })
        };
        text.split(':').map(period).collect::<Option<Vec<_>>>().map(TimeControl)
    }

    /// Milliseconds that each player has at the start, without the first increment.
    pub(super) fn start_ms(&self) -> u64 {
        self.0.first().map_or(0, |period| period.base_us / 1000)
    }

    /// Milliseconds that the first period adds for every move.
    pub(super) fn increment_ms(&self) -> u64 {
        self.0.first().map_or(0, |period| period.increment_us() / 1000)
    }
}

impl Period {
    const fn increment_us(&self) -> u64 {
        match self.per_move {
            PerMove::Increment(us) => us,
            PerMove::Delay(_) | PerMove::Bronstein(_) => 0,
        }
    }
}

/// What is done to the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// A player presses; `seen` is false when the press is not reported.
    Press { by: Color, seen: bool },
    /// The arbiter stops the clock.
    Pause,
    /// The arbiter starts a player's clock.
    Run { side: Color, seen: bool },
    /// The arbiter sets a player's time, in microseconds.
    Set { side: Color, left_us: u64 },
}

/// A deed and its time in microseconds from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockDeed {
    pub(super) at: u64,
    pub(super) deed: Deed,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    left_us: u64,
    /// Index of the period.
    period: usize,
    /// Moves completed in it.
    moves: u64,
    fallen: bool,
}

/// A clock that runs through its deeds and reports what its interface would.
pub(super) struct Clock<'a> {
    control: &'a TimeControl,
    reports: ClockReports,
    sides: ByColor<Side>,
    pub(super) running: Option<Color>,
    /// Of the side that runs: how long its main time still waits, and what its move took of it.
    waits_us: u64,
    used_us: u64,
    now: u64,
    /// By how much it is too fast, in parts per million.
    rate_ppm: i32,
    out: Vec<(u64, Event)>,
}

/// The events of a clock under `deeds`, which are in the order of time, until `end`.
pub(super) fn run(
    control: &TimeControl,
    reports: ClockReports,
    deeds: &[ClockDeed],
    end: u64,
) -> Vec<(u64, Event)> {
    let mut clock = Clock::new(control, reports, 0);
    for deed in deeds {
        clock.advance(deed.at);
        clock.take(*deed);
    }
    clock.advance(end.max(clock.now));
    clock.out
}

impl<'a> Clock<'a> {
    /// A clock that was set and not started.
    pub(super) fn new(control: &'a TimeControl, reports: ClockReports, rate_ppm: i32) -> Clock<'a> {
        let first = control.0.first().copied();
        let left_us = first.map_or(0, |period| period.base_us + period.increment_us());
        let side = Side { left_us, period: 0, moves: 0, fallen: false };
        let sides = ByColor { white: side, black: side };
        Clock {
            control,
            reports,
            sides,
            running: None,
            waits_us: 0,
            used_us: 0,
            now: 0,
            rate_ppm,
            out: Vec::new(),
        }
    }

    fn start(&mut self, side: Color) {
        self.running = Some(side);
        self.used_us = 0;
        self.waits_us = match self.control.0.get(self.sides.get(side).period).map(|period| period.per_move) {
            Some(PerMove::Delay(us)) => us,
            _ => 0,
        };
    }

    /// What was reported, once.
    pub(super) fn told(&mut self) -> Vec<(u64, Event)> {
        std::mem::take(&mut self.out)
    }

    /// Microseconds left for a side.
    pub(super) fn left_us(&self, side: Color) -> u64 {
        self.sides.get(side).left_us
    }

    /// The clock's own time at a moment, in microseconds.
    fn own(&self, at: u64) -> u64 {
        let drift = i128::from(at) * i128::from(self.rate_ppm) / 1_000_000;
        u64::try_from(i128::from(at) + drift).unwrap_or(0)
    }

    pub(super) fn take(&mut self, ClockDeed { at, deed }: ClockDeed) {
        let (event, seen) = match deed {
            Deed::Press { by, seen } => {
                self.press(by);
                (Event::Press(by), seen)
            }
            Deed::Pause => {
                self.running = None;
                (Event::Pause, true)
            }
            Deed::Run { side, seen } => {
                self.start(side);
                (Event::Run(side), seen)
            }
            Deed::Set { side, left_us } => {
                self.sides.get_mut(side).left_us = left_us;
                self.sides.get_mut(side).fallen = left_us == 0;
                if self.reports.at_press {
                    self.report(at);
                }
                return;
            }
        };
        // A clock tells a press together with the time that it leaves.
        let press = matches!(event, Event::Press(_));
        if press && self.reports.at_press {
            self.report(at);
        }
        if seen {
            self.out.push((at, event));
        }
        if !press && self.reports.at_press {
            self.report(at);
        }
    }

    /// The press counts only where the player's own time runs.
    fn press(&mut self, by: Color) {
        if self.running != Some(by) {
            return;
        }
        let used = self.used_us;
        self.start(!by);
        let side = self.sides.get_mut(by);
        let Some(period) = self.control.0.get(side.period) else { return };
        side.left_us += match period.per_move {
            PerMove::Increment(us) => us,
            PerMove::Delay(_) => 0,
            PerMove::Bronstein(us) => used.min(us),
        };
        side.moves += 1;
        if period.moves == Some(side.moves)
            && let Some(next) = self.control.0.get(side.period + 1)
        {
            side.period += 1;
            side.moves = 0;
            side.left_us += next.base_us;
        }
    }

    fn report(&mut self, at: u64) {
        let ms = |side: &Side| Some(side.left_us / 1000);
        let reading = ClockReading {
            white_ms: ms(&self.sides.white),
            black_ms: ms(&self.sides.black),
            running: self.running,
        };
        self.out.push((at, Event::Times(reading)));
    }

    /// Lets the time pass until `to`, with the readings and the flag on the way.
    pub(super) fn advance(&mut self, to: u64) {
        let every = u64::from(self.reports.every_ms) * 1000;
        while self.now < to {
            let reading = self.now.checked_div(every).map_or(u64::MAX, |count| (count + 1) * every);
            let fall = match self.running {
                Some(side) if !self.sides.get(side).fallen => {
                    self.now.saturating_add(self.waits_us).saturating_add(self.sides.get(side).left_us)
                }
                _ => u64::MAX,
            };
            let next = to.min(reading).min(fall);
            let gone = self.own(next) - self.own(self.now);
            if let Some(side) = self.running {
                let waited = gone.min(self.waits_us);
                self.waits_us -= waited;
                self.used_us += gone - waited;
                let side = self.sides.get_mut(side);
                side.left_us = side.left_us.saturating_sub(gone - waited);
            }
            self.now = next;
            if let (Some(side), true) = (self.running, next == fall) {
                self.sides.get_mut(side).fallen = true;
                self.out.push((next, Event::Flag(side)));
            }
            // A reading at the time of a deed comes from the deed.
            if next == reading && self.running.is_some() && next < to {
                self.report(next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRESSES_ONLY: ClockReports =
        ClockReports { every_ms: 0, at_press: true, start: true, ..ClockReports::SILENT };

    fn control(text: &str) -> TimeControl {
        TimeControl::parse(text).unwrap()
    }

    fn at(seconds: u64, deed: Deed) -> ClockDeed {
        ClockDeed { at: seconds * 1_000_000, deed }
    }

    fn times(events: &[(u64, Event)]) -> Vec<(u64, u64, Option<Color>)> {
        events
            .iter()
            .filter_map(|(_, event)| match event {
                Event::Times(r) => Some((r.white_ms?, r.black_ms?, r.running)),
                _ => None,
            })
            .collect()
    }

    const fn press(by: Color) -> Deed {
        Deed::Press { by, seen: true }
    }

    const START: Deed = Deed::Run { side: Color::White, seen: true };

    #[test]
    fn time_runs_for_the_player_who_has_not_pressed_and_the_increment_is_added() {
        let deeds =
            [at(0, START), at(10, press(Color::White)), at(25, press(Color::Black)), at(26, Deed::Pause)];
        let events = run(&control("600+5"), PRESSES_ONLY, &deeds, 30_000_000);
        assert_eq!(
            times(&events),
            [
                (605_000, 605_000, Some(Color::White)),
                (600_000, 605_000, Some(Color::Black)),
                (600_000, 595_000, Some(Color::White)),
                (599_000, 595_000, None),
            ]
        );
    }

    #[test]
    fn a_delay_waits_and_bronstein_gives_back() {
        let deeds = [at(0, START), at(10, press(Color::White)), at(13, press(Color::Black))];
        let left = |text: &str| {
            times(&run(&control(text), PRESSES_ONLY, &deeds, 14_000_000)).last().map(|last| (last.0, last.1))
        };
        assert_eq!(left("600d5"), Some((595_000, 600_000)));
        assert_eq!(left("600b5"), Some((595_000, 600_000)));
        assert_eq!(left("600"), Some((590_000, 597_000)));
    }

    #[test]
    fn a_press_on_the_side_that_does_not_run_has_no_effect() {
        let deeds = [at(0, START), at(5, press(Color::Black)), at(6, press(Color::White))];
        let events = run(&control("60"), PRESSES_ONLY, &deeds, 6_000_000);
        assert_eq!(times(&events)[1], (55_000, 60_000, Some(Color::White)));
        assert_eq!(times(&events)[2], (54_000, 60_000, Some(Color::Black)));
    }

    #[test]
    fn the_second_period_is_added_after_its_moves() {
        let deeds = [
            at(0, START),
            at(1, press(Color::White)),
            at(2, press(Color::Black)),
            at(3, press(Color::White)),
        ];
        let events = run(&control("2/60:30"), PRESSES_ONLY, &deeds, 3_000_000);
        assert_eq!(times(&events).last().copied(), Some((88_000, 59_000, Some(Color::Black))));
    }

    #[test]
    fn readings_come_every_second_and_a_flag_falls_once() {
        let reports = ClockReports { every_ms: 1000, start: true, ..ClockReports::SILENT };
        let events = run(&control("3"), reports, &[at(0, START)], 5_500_000);
        let flags: Vec<_> = events.iter().filter(|(_, e)| matches!(e, Event::Flag(_))).collect();
        assert_eq!(flags, [&(3_000_000, Event::Flag(Color::White))]);
        assert_eq!(times(&events).len(), 5);
        assert_eq!(times(&events).last().copied(), Some((0, 3_000, Some(Color::White))));
    }

    #[test]
    fn other_notations_are_refused() {
        for text in ["", "600x5", "a", "0/600", "600+", "600d", ":"] {
            assert_eq!(TimeControl::parse(text), None, "{text:?}");
        }
    }
}
