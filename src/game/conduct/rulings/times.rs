//! Times that a ruling names or changes (Articles 6.10, 7.1).

use shakmaty::{ByColor, Color, Position as _};

use super::Refusal;
use crate::{
    game::conduct::{Conduct, Desk},
    laws::arithmetic::clock,
    session::{
        fact::law::{ClockCalc, Side, Times},
        time::MonoTime,
    },
};

impl Conduct {
    /// What the clocks should show by the journal; nothing is set. After an irregular press it is what they showed at
    /// that press, its increment undone; where a ruling went back to a position, what they showed when it stood; else
    /// what was ruled so far (Article 7.1; 2005: 6.14).
    pub(super) fn tell_times(&mut self, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        if let Some(found) = self.pressed_over() {
            let (by, later) = (found.by(), found.was_found_later());
            let press = self.press_of(found).unwrap_or_default();
            if let (Some(offender), Some(opponent)) = (press.own, press.opponent) {
                self.tell_times_of_press(by, offender, opponent, desk);
                return Ok(());
            }
            if later {
                return Err("the times of that press are not known".into());
            }
        }
        if let Some((ply, times)) = self.clocks.restored() {
            return self.tell_times_at(ply, times, desk);
        }
        let account = |side| self.clocks.remaining(side, desk.at);
        let owed = |side: Color| {
            account(side).is_some_and(|left| self.clocks.corrections.get(side).ruled(left) != left)
        };
        if !Color::ALL.into_iter().any(owed) {
            self.clocks.assume_running(desk.turn());
            let running = Color::ALL.into_iter().find_map(|side| Some((side, self.clocks.account_of(side)?)));
            if let Some((side, (from, before))) = running {
                self.tell_elapsed_so_far(side, before, from, desk);
                return Ok(());
            }
        }
        let mut known = false;
        for side in Color::ALL {
            let Some(left) = self.clocks.remaining(side, desk.at) else { continue };
            known = true;
            desk.calc(ClockCalc {
                side: Some(Side(side)),
                before: Some(Times::One(left)),
                after: Some(Times::One(self.clocks.corrections.get(side).ruled(left))),
                ..ClockCalc::of("as-ruled")
            });
        }
        if known { Ok(()) } else { Err("no time is known".into()) }
    }

    fn tell_times_of_press(&mut self, by: Color, offender: u64, opponent: u64, desk: &mut Desk<'_>) {
        let now = |side| self.clocks.remaining(side, desk.at);
        let before = now(by).zip(now(!by));
        if let Some((now_offender, now_opponent)) = before {
            let corrections = &mut self.clocks.corrections;
            corrections.get_mut(by).rule(now_offender, offender);
            corrections.get_mut(!by).rule(now_opponent, opponent);
        }
        desk.calc(ClockCalc {
            side: Some(Side(by)),
            before: before.map(|(offender, opponent)| Times::Irregular { offender, opponent }),
            after: Some(Times::Irregular { offender, opponent }),
            ..ClockCalc::of("irregular-press")
        });
    }

    /// What the clocks showed when the position stood to which a ruling went back.
    fn tell_times_at(
        &mut self,
        ply: usize,
        times: ByColor<Option<u64>>,
        desk: &mut Desk<'_>,
    ) -> Result<(), Refusal> {
        if times.iter().all(Option::is_none) {
            return Err(format!("the times after ply {ply} are not known").into());
        }
        for side in Color::ALL {
            let Some(then) = *times.get(side) else { continue };
            let now = self.clocks.remaining(side, desk.at);
            if let Some(now) = now {
                self.clocks.corrections.get_mut(side).rule(now, then);
            }
            desk.calc(ClockCalc {
                side: Some(Side(side)),
                before: now.map(Times::One),
                after: Some(Times::One(then)),
                ..ClockCalc::of("restored")
            });
        }
        Ok(())
    }

    fn tell_elapsed_so_far(&self, side: Color, before: u64, from: MonoTime, desk: &mut Desk<'_>) {
        let after = self.clocks.remaining(side, desk.at);
        desk.calc(ClockCalc {
            side: Some(Side(side)),
            before: Some(Times::One(before)),
            from_ms: Some(from.as_micros() / 1000),
            to_ms: Some(desk.at.as_micros() / 1000),
            after: after.map(Times::One),
            ..ClockCalc::of("replay-elapsed")
        });
    }

    /// The moments between which the ply of this index of the log was pressed.
    pub(in crate::game::conduct) fn press_of_ply(
        index: usize,
        desk: &Desk<'_>,
    ) -> Option<(MonoTime, MonoTime)> {
        let before = index.checked_sub(1).and_then(|index| desk.session.ply_at(index));
        let from = before.map_or(MonoTime::ZERO, |record| record.made);
        desk.session.ply_at(index).and_then(|record| record.completed).map(|until| (from, until))
    }

    /// What the clocks showed when the position after the first `ply` plies of the game stood.
    pub(in crate::game::conduct) fn times_after(&self, ply: usize, desk: &Desk<'_>) -> ByColor<Option<u64>> {
        let Some(of_log) = ply.checked_sub(self.earlier.len()) else { return ByColor::default() };
        let Some(last) = of_log.checked_sub(1) else {
            return ByColor::new_with(|side| self.clocks.left_at_start(side));
        };
        let Some(after) = desk.session.position_after(of_log) else { return ByColor::default() };
        let by = !after.turn();
        let pressed = Conduct::press_of_ply(last, desk);
        let press = pressed.and_then(|(from, until)| self.clocks.press_by(by, from, until));
        let press = press.unwrap_or_default();
        ByColor::new_with(|side| if side == by { press.credited } else { press.opponent })
    }

    pub(in crate::game::conduct) fn change_clock(&mut self, side: Color, ms: u64, desk: &mut Desk<'_>) {
        let before = self.clocks.remaining(side, desk.at);
        self.clocks.set(side, ms, desk.at);
        self.clocks.corrections.get_mut(side).set(before, ms);
        desk.calc(ClockCalc {
            side: Some(Side(side)),
            before: before.map(Times::One),
            after: Some(Times::One(ms)),
            ..ClockCalc::of("set")
        });
        self.look_at_recording(desk);
    }

    /// The time of a period is added.
    fn add_time(&mut self, side: Color, add: i64, desk: &mut Desk<'_>) {
        let Some(before) = self.clocks.remaining(side, desk.at) else { return };
        let after = clock::adjusted(before, add);
        self.clocks.set(side, after, desk.at);
        self.tell_added(side, before, add, after, desk);
    }

    /// A player gets time, or loses it, by a ruling: also where the position is put up that stood before.
    pub(super) fn give_time(&mut self, side: Color, add: i64, desk: &mut Desk<'_>) {
        let Some(before) = self.clocks.remaining(side, desk.at) else { return };
        let after = clock::adjusted(before, add);
        self.clocks.give(side, add, after, desk.at);
        self.tell_added(side, before, add, after, desk);
    }

    fn tell_added(&mut self, side: Color, before: u64, add: i64, after: u64, desk: &mut Desk<'_>) {
        self.clocks.corrections.get_mut(side).change(before, after);
        desk.calc(ClockCalc {
            side: Some(Side(side)),
            before: Some(Times::One(before)),
            add: Some(add),
            after: Some(Times::One(after)),
            ..ClockCalc::of("period")
        });
        self.look_at_recording(desk);
    }

    pub(super) fn extra_time(&mut self, whose: Option<Color>, ms: i64, desk: &mut Desk<'_>) {
        for side in
            [Color::White, Color::Black].into_iter().filter(|side| whose.is_none_or(|one| one == *side))
        {
            self.give_time(side, ms, desk);
        }
    }

    /// The time of a period was added: to whom the arbiter says, or to the player whose control was reached, and where
    /// that is nobody, to the one who has the move.
    pub(super) fn period_added(&mut self, side: Option<Color>, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let reached = |side: &Color| self.control_reached(*side, desk);
        let sides = [desk.turn(), !desk.turn()];
        let flagged = sides.into_iter().filter(reached).find(|side| self.clocks.flag(*side).is_some());
        let named = side.or(flagged).or_else(|| sides.into_iter().find(reached));
        let side = named.unwrap_or(desk.turn());
        let completed = self.completed_by(side, desk);
        if self.control_reached(side, desk) {
            // It has begun with the last move of the one before (Article 6.3.1; 2005: 6.2).
            let ms = self.clocks.period_ms(side, completed).unwrap_or(0);
            self.period_was_added(side, desk);
            self.add_time(side, i64::try_from(ms).unwrap_or(i64::MAX), desk);
            return Ok(());
        }
        let Some(ms) = self.clocks.next_period_ms(side, completed) else {
            return Err("the time control has no further period".into());
        };
        self.clocks.begin_period(side, completed);
        self.add_time(side, i64::try_from(ms).unwrap_or(i64::MAX), desk);
        Ok(())
    }

    /// The score sheets do not show whether the time was overstepped: the next move is the first of the
    /// next period (Article 8.6).
    pub(super) fn begin_next_period(&mut self, desk: &mut Desk<'_>) {
        for side in [Color::White, Color::Black] {
            let completed = self.completed_by(side, desk);
            let added = self.clocks.next_period_ms(side, completed).filter(|_| self.keeps_clock());
            self.clocks.begin_period(side, completed);
            // An external clock adds it by itself, or the arbiter does.
            if let Some(ms) = added {
                self.add_time(side, i64::try_from(ms).unwrap_or(i64::MAX), desk);
            }
        }
    }
}
