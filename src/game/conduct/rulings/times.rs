//! Times that a ruling names or changes (Articles 6.10, 7.1).

use shakmaty::Color;

use super::Refusal;
use crate::{
    game::conduct::{Conduct, Desk},
    laws::arithmetic::clock,
    session::fact::law::{ClockCalc, Side, Times},
};

impl Conduct {
    /// What the clocks should show now by the journal; nothing is set. After an irregular press it is what
    /// they showed at that press, its increment undone (Article 7.1; 2005: 6.14).
    pub(super) fn tell_times(&mut self, desk: &mut Desk<'_>) {
        let press = self.clocks.at_press();
        if let (Some(by), Some(offender), Some(opponent)) =
            (self.pressed_irregularly(), press.own, press.opponent)
        {
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
            return;
        }
        self.clocks.assume_running(desk.turn());
        for side in [Color::White, Color::Black] {
            if let Some((from, before)) = self.clocks.account_of(side) {
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
        }
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

    pub(super) fn add_time(&mut self, side: Color, add: i64, desk: &mut Desk<'_>) {
        let Some(before) = self.clocks.remaining(side, desk.at) else { return };
        let after = clock::adjusted(before, add);
        self.clocks.set(side, after, desk.at);
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
            self.add_time(side, ms, desk);
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
