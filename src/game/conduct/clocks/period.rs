//! Periods of the time control, and what a move adds in them (Articles 6.2, 6.3).

use shakmaty::Color;

use super::Clocks;
use crate::laws::{
    arithmetic::{clock::PerMove, periods},
    time_control::TimeControl,
};

impl Clocks {
    /// The time control of a side.
    pub(super) fn control_of(&self, side: Color) -> Option<&TimeControl> {
        self.control.as_ref().map(|control| control.side(side))
    }

    /// The period, counted from 0, of a player who completed so many moves.
    pub(super) fn period(&self, side: Color, completed: u32) -> usize {
        let counted = self.control_of(side).map_or(0, |control| periods::period_of(control, completed));
        self.half(side).ruled.map_or(counted, |(period, _)| period.max(counted))
    }

    /// The additional time of a player's move.
    pub(in crate::game::conduct) fn per_move(&self, side: Color, completed: u32) -> PerMove {
        let Some(control) = self.control_of(side) else { return self.ruled.unwrap_or_default() };
        let period = control.periods().get(self.period(side, completed)).or(control.periods().last());
        self.ruled.or_else(|| Some(PerMove::of(period?, self.setting.mode))).unwrap_or_default()
    }

    /// Whether all remaining moves have to be made in this period; true when the time control is not
    /// known.
    pub(in crate::game::conduct) fn is_last_period(&self, side: Color, completed: u32) -> bool {
        let control = self.control_of(side);
        control.is_none_or(|control| periods::is_last(control, self.period(side, completed)))
    }

    /// Time allotted to a side so far, in milliseconds, with the increments of its moves.
    pub(in crate::game::conduct) fn allotted(&self, side: Color, completed: u32) -> Option<u64> {
        self.control_of(side).map(|control| periods::allotted_ms(control, &self.setting, completed))
    }

    /// Whether the moves of the first control are completed.
    pub(in crate::game::conduct) fn is_past_control(&self, side: Color, completed: u32) -> bool {
        self.period(side, completed) > 0
    }

    /// What the period of a player who completed so many moves has added, in milliseconds.
    pub(in crate::game::conduct) fn period_ms(&self, side: Color, completed: u32) -> Option<u64> {
        periods::added_ms(self.control_of(side)?, self.period(side, completed))
    }

    /// What the next period adds, in milliseconds.
    pub(in crate::game::conduct) fn next_period_ms(&self, side: Color, completed: u32) -> Option<u64> {
        periods::added_ms(self.control_of(side)?, self.period(side, completed) + 1)
    }

    /// The next period begins although the count of moves is not known (Article 8.6).
    pub(in crate::game::conduct) fn begin_period(&mut self, side: Color, completed: u32) {
        let period = self.period(side, completed) + 1;
        if let Some(own) = &mut self.own {
            // Its time is added by the ruling.
            own.begin_period(side, period, 0);
        }
        let half = self.half_mut(side);
        half.ruled = Some((period, completed));
        half.duty.period_begins();
        half.flag = None;
    }

    /// Additional time is ruled, for both.
    pub(in crate::game::conduct) const fn rule_per_move(&mut self, per_move: PerMove) {
        self.ruled = Some(per_move);
    }
}
