//! The account of time that this program keeps beside an external clock, as evidence (Article 6.10; 2005:
//! 6.11), and what is read from that clock.

use shakmaty::{Bitboard, Color};

use super::{AtPress, BOTH};
use crate::{
    game::conduct::{Conduct, Desk},
    laws::arithmetic::{
        clock::{self, AfterMove, PerMove},
        periods,
    },
    session::{
        event::ClockReading,
        fact::law::{Audience, ClockCalc, Notice, Side, Times},
        time::MonoTime,
    },
};

/// So many presses after the last move are remembered.
const MAX_PRESSES: usize = 8;

impl Conduct {
    fn note_press(&mut self, side: Color, at: MonoTime) {
        if self.presses.len() >= MAX_PRESSES {
            self.presses.remove(0);
        }
        self.presses.push((side, at));
    }

    /// The lever was pressed.
    pub(in crate::game::conduct) fn pressed(&mut self, side: Color, desk: &mut Desk<'_>) {
        self.clocks.see(side, desk.at);
        self.note_press(side, desk.at);
        self.press_undone(side, desk);
        self.exchanging = Bitboard::EMPTY;
        if self.announcing.waits() {
            self.announcing_pressed(side, desk);
        }
        self.clocks.thinking.begin(desk.at);
        if self.clocks.own.is_some() {
            self.own_pressed(desk);
            return;
        }
        if !self.press_told && self.clocks.running == Some(!side) && !self.is_over(desk) {
            // The clock of this player does not run: the press changes nothing (Article 6.2.1.1; 2005: 6.8a).
            let notice = Notice::of("press-idle-side", Audience::Journal);
            desk.notice(Notice { side: Some(Side(side)), ..notice });
            return;
        }
        if self.is_over(desk) {
            return;
        }
        let at = desk.at;
        let unstarted = self.clocks.running.is_none() && !self.clocks.paused;
        if unstarted && self.clocks.begun.is_none() {
            // The clock ran, and nobody said since when: at the latest since the man was lifted.
            let since = self.last_lift().unwrap_or(at);
            self.clocks.run(side, since);
        }
        if self.clocks.running == Some(side) {
            self.account(side, desk);
        }
        self.clocks.paused = false;
        self.clocks.run(!side, at);
        if self.clocks.read.is_none() {
            self.look_at_recording(desk);
        }
    }

    /// Settles the account of a completed move and tells it, where no clock is read.
    #[inline(never)]
    fn account(&mut self, side: Color, desk: &mut Desk<'_>) {
        let (own, opponent) = (self.clocks.remaining(side, desk.at), self.clocks.half(!side).left);
        let Some(before) = self.clocks.half(side).left else {
            self.clocks.note_press(side, desk.at, AtPress { own, credited: own, opponent });
            return;
        };
        let used = desk.at.since(self.clocks.since) / 1000;
        let completed = self.completed_by(side, desk);
        let of_move = if desk.turn() == side { completed } else { completed.saturating_sub(1) };
        let per_move = self.clocks.per_move(side, of_move);
        let after = clock::after_move(before, used, per_move);
        self.clocks.note_press(side, desk.at, AtPress { own, credited: Some(after.ms()), opponent });
        self.clocks.half_mut(side).left = Some(after.ms());
        if !self.clocks.is_read() {
            self.tell_account(side, before, used, per_move, after, desk);
        }
    }

    pub(super) fn tell_account(
        &self,
        side: Color,
        before: u64,
        used: u64,
        per_move: PerMove,
        after: AfterMove,
        desk: &mut Desk<'_>,
    ) {
        let calc = match per_move {
            PerMove::None | PerMove::Increment { .. } => {
                let name = if after == AfterMove::Flag { "fischer-flag" } else { "fischer" };
                ClockCalc { inc: Some(per_move.ms()), ..ClockCalc::of(name) }
            }
            PerMove::Delay { ms } => ClockCalc { delay: Some(ms), ..ClockCalc::of("delay") },
            PerMove::Bronstein { ms } => ClockCalc { delay: Some(ms), ..ClockCalc::of("bronstein") },
        };
        desk.calc(ClockCalc {
            side: Some(Side(side)),
            before: Some(Times::One(before)),
            used: Some(used),
            after: Some(Times::One(after.ms())),
            ..calc
        });
    }

    /// A clock was read (Article 6.10; 2005: 6.11): its indication is conclusive, the account evidence.
    pub(in crate::game::conduct) fn clock_read(&mut self, reading: ClockReading, desk: &mut Desk<'_>) {
        if self.clocks.own.is_some() {
            self.own_read(reading, desk);
            return;
        }
        let tolerance = self.settings.clock.tolerance_ms;
        let missed_ms = desk.session.clock_missed_ms();
        for side in BOTH {
            let Some(reported) = side.fold_wb(reading.white_ms, reading.black_ms) else { continue };
            let expected = self.clocks.remaining(side, desk.at);
            // A clock may tell the increment of a move a moment before the press is told.
            let pressed = self.pressed_just_now(side, desk);
            let far = |expected: u64| expected.abs_diff(reported) > tolerance;
            // A clock adds the time of a period by itself, at the move or when the main time is used up.
            let added = self.period_to_come(side, desk);
            let off = |expected: u64| {
                far(expected) && added.is_none_or(|added| far(expected.saturating_add(added)))
            };
            if let Some(expected) = expected.filter(|expected| off(*expected))
                && (self.clocks.begun.is_some() || self.clocks.running.is_some())
                && pressed.is_none_or(off)
                // Its lag, its rounding and what a move adds do not explain it.
                && missed_ms.get(side).is_none_or(|missed| missed > 0)
                && !self.is_over(desk)
            {
                let notice = Notice::of("clock-discrepancy", Audience::Arbiter);
                desk.notice(Notice {
                    side: Some(Side(side)),
                    expected_ms: Some(expected),
                    reported_ms: Some(reported),
                    tolerance_ms: Some(tolerance),
                    ..notice
                });
            }
            let by_period = expected.zip(added).map(|(expected, added)| expected.saturating_add(added));
            let near = |expected: Option<u64>| expected.is_some_and(|expected| !far(expected));
            if near(by_period) && !near(expected) {
                self.period_was_added(side, desk);
            }
            let explained = near(pressed) || near(by_period);
            let unexplained = expected.filter(|_| !explained);
            self.clocks.corrections.get_mut(side).read(unexplained, reported, tolerance);
            let half = self.clocks.half_mut(side);
            half.left = Some(reported);
            half.at_start.get_or_insert(reported);
            if reported > 0 {
                half.shown = Some(desk.at);
                half.flag = None;
            }
        }
        self.clocks.read = Some(desk.at);
        if reading.running.is_some() {
            self.clocks.begin(desk.at);
        }
        self.clocks.now_runs(reading.running.or(self.clocks.running), desk.at);
        self.clocks.since = desk.at;
        self.look_at_recording(desk);
    }

    /// The time of a period that this side's clock may add now, in milliseconds: its moves are completed, or
    /// this is its last second.
    fn period_to_come(&self, side: Color, desk: &Desk<'_>) -> Option<u64> {
        let completed = self.completed_by(side, desk);
        let period = self.clocks.period(side, completed);
        let control = self.clocks.control_of(side)?;
        let just_completed = period > 0 && periods::required_moves(control, period - 1) == Some(completed);
        let next = if just_completed { period } else { period + 1 };
        periods::added_ms(control, next)
    }

    /// The moves of a control were just completed, and nobody has seen the clock add the time of the next period.
    pub(in crate::game::conduct) fn control_reached(&self, side: Color, desk: &Desk<'_>) -> bool {
        let completed = self.completed_by(side, desk);
        let period = self.clocks.period(side, completed);
        let half = self.clocks.half(side);
        let last = period.checked_sub(1).filter(|_| half.has < period && half.ruled.is_none());
        let control = self.clocks.control_of(side).filter(|_| self.clocks.own.is_none());
        let required = control.zip(last).and_then(|(control, last)| periods::required_moves(control, last));
        required == Some(completed)
    }

    /// The clock has added the time of the period in which a side plays now.
    pub(in crate::game::conduct) fn period_was_added(&mut self, side: Color, desk: &Desk<'_>) {
        self.clocks.half_mut(side).has = self.clocks.period(side, self.completed_by(side, desk));
    }

    /// What a running clock shows if its player presses now, in milliseconds.
    fn pressed_just_now(&self, side: Color, desk: &Desk<'_>) -> Option<u64> {
        let left = self.clocks.half(side).left.filter(|_| self.clocks.running == Some(side))?;
        let used = desk.at.since(self.clocks.since) / 1000;
        Some(clock::after_move(left, used, self.clocks.per_move(side, self.completed_by(side, desk))).ms())
    }
}
