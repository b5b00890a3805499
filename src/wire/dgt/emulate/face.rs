//! The clock as the emulated board shows it: whole seconds that run down between two readings.

use shakmaty::Color;

use crate::{
    session::time::MonoTime,
    wire::dgt::clock::{Clock, ClockSide, ClockState},
};

/// A reading of both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Milliseconds left for White.
    pub white_ms: u64,
    /// Milliseconds left for Black.
    pub black_ms: u64,
    /// Whose clock runs.
    pub running: Option<Color>,
    /// Milliseconds from `at` on before the time of that side begins to run down.
    pub delay_ms: u64,
    /// When this was so.
    pub at: MonoTime,
}

impl Times {
    const fn of(&self, side: Color) -> u64 {
        match side {
            Color::White => self.white_ms,
            Color::Black => self.black_ms,
        }
    }

    /// Microseconds left for a side. A flag falls when the clock says so and never by counting: until then
    /// the last second stands.
    fn left_us(&self, side: Color, now: MonoTime) -> u64 {
        let told = self.of(side).saturating_mul(1000);
        if self.running != Some(side) || told == 0 {
            return told;
        }
        let since = now.since(self.at.plus_ms(self.delay_ms));
        told.saturating_sub(since).max(1)
    }
}

/// A press, as the board's memory keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Press {
    pub(super) by: Color,
    pub(super) seconds: u32,
}

/// The clock beside the board.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    times: Times,
    /// The side that is on move, or was before the clock was stopped: the lever.
    turn: Color,
    /// The running side shows no more than this: a reading that comes late does not turn the second back.
    most_s: u32,
    /// Each move adds time.
    per_move: bool,
}

impl Face {
    pub(super) fn new(times: Times, per_move: bool) -> Face {
        Face { times, turn: times.running.unwrap_or(Color::White), most_s: u32::MAX, per_move }
    }

    /// The clock tells something new; the press in it, if there is one.
    pub(super) fn take(&mut self, times: Times, per_move: bool, now: MonoTime) -> Option<Press> {
        let before = *self;
        self.times = times;
        self.per_move = per_move;
        self.turn = times.running.unwrap_or(self.turn);
        self.most_s = u32::MAX;
        let (was, is) = (before.times.running?, times.running?);
        if was != is {
            return Some(Press { by: was, seconds: self.seconds(was, now) });
        }
        let (shown, told) = (before.seconds(is, now), self.seconds(is, now));
        if told == shown.saturating_add(1) {
            self.most_s = shown;
        }
        None
    }

    /// What a side shows: seconds that have begun.
    fn seconds(&self, side: Color, now: MonoTime) -> u32 {
        let begun = self.times.left_us(side, now).div_ceil(1_000_000);
        let seconds = u32::try_from(begun).unwrap_or(u32::MAX);
        if self.times.running == Some(side) { seconds.min(self.most_s) } else { seconds }
    }

    /// What is shown; `left` is the player at the left of the clock.
    pub(super) fn shown(&self, left: Color, now: MonoTime) -> Clock {
        let side = |color: Color| {
            let seconds = self.seconds(color, now);
            ClockSide { seconds, blocked: seconds == 0, per_move: self.per_move, flag_shown: false }
        };
        let right_turn = self.turn != left;
        Clock::State(ClockState {
            right: side(left.other()),
            left: side(left),
            running: self.times.running.is_some(),
            right_lever_high: right_turn,
            battery_low: false,
            left_turn: !right_turn,
            right_turn,
        })
    }

    /// When something else is shown, if nothing happens before.
    pub(super) fn next_change(&self, now: MonoTime) -> Option<MonoTime> {
        let side = self.times.running?;
        let shown = u64::from(self.seconds(side, now));
        if shown <= 1 {
            return None;
        }
        let until_us = self.times.of(side).saturating_mul(1000).saturating_sub((shown - 1) * 1_000_000);
        Some(self.times.at.plus_ms(self.times.delay_ms).plus_micros(until_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> MonoTime {
        MonoTime::ZERO.plus_ms(ms)
    }

    fn times(white_ms: u64, black_ms: u64, running: Option<Color>, ms: u64) -> Times {
        Times { white_ms, black_ms, running, delay_ms: 0, at: at(ms) }
    }

    fn white(face: &Face, ms: u64) -> u32 {
        face.seconds(Color::White, at(ms))
    }

    #[test]
    fn seconds_run_down_between_readings_and_the_last_one_stands() {
        let face = Face::new(times(2_500, 60_000, Some(Color::White), 0), false);
        assert_eq!([white(&face, 0), white(&face, 499), white(&face, 500), white(&face, 1500)], [3, 3, 2, 1]);
        assert_eq!(white(&face, 100_000), 1, "no flag falls by counting");
        assert_eq!(face.next_change(at(0)), Some(at(500)));
        assert_eq!(face.next_change(at(500)), Some(at(1500)));
        assert_eq!(face.next_change(at(1500)), None);
        assert_eq!(face.seconds(Color::Black, at(9_000)), 60);
    }

    #[test]
    fn a_delay_runs_first() {
        let delayed = Times { delay_ms: 2_000, ..times(5_000, 5_000, Some(Color::White), 0) };
        let face = Face::new(delayed, false);
        assert_eq!([white(&face, 2_999), white(&face, 3_000)], [5, 4]);
        assert_eq!(face.next_change(at(0)), Some(at(3_000)));
    }

    #[test]
    fn a_late_reading_does_not_turn_a_second_back_and_a_longer_time_does() {
        let mut face = Face::new(times(10_000, 5_000, Some(Color::White), 0), true);
        assert_eq!(white(&face, 1_010), 9);
        face.take(times(10_000, 5_000, Some(Color::White), 1_010), true, at(1_010));
        assert_eq!(white(&face, 1_010), 9);
        assert_eq!(face.next_change(at(1_010)), Some(at(3_010)));
        assert_eq!(white(&face, 3_010), 8);
        face.take(times(40_000, 5_000, Some(Color::White), 3_100), true, at(3_100));
        assert_eq!(white(&face, 3_100), 40);
    }

    #[test]
    fn the_other_side_runs_after_a_press_and_the_lever_stays_when_the_clock_stops() {
        let mut face = Face::new(times(10_000, 5_000, Some(Color::White), 0), true);
        let press = face.take(times(11_200, 5_000, Some(Color::Black), 800), true, at(800));
        assert_eq!(press, Some(Press { by: Color::White, seconds: 12 }));
        assert_eq!(face.take(times(11_200, 4_000, None, 1_800), true, at(1_800)), None);
        let Clock::State(state) = face.shown(Color::White, at(1_800)) else { panic!() };
        assert!(!state.running && state.right_lever_high && state.right_turn && !state.left_turn);
        assert_eq!((state.left.seconds, state.right.seconds), (12, 4));
        let Clock::State(turned) = face.shown(Color::Black, at(1_800)) else { panic!() };
        assert_eq!((turned.left, turned.right, turned.right_turn), (state.right, state.left, false));
    }
}
