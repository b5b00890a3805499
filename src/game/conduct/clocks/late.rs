//! When a player who gave no sign of being there is told to be late (Article 6.7.1; 2005: 6.7): never an end, and a call
//! of the arbiter only where the event has a default time, or somebody said that the player is absent.

use shakmaty::{ByColor, Color};

use super::{BOTH, Clocks};
use crate::{
    game::conduct::{Conduct, Desk},
    session::time::MonoTime,
};

/// The time in which both players have to come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Awaited {
    /// The default time, in milliseconds.
    limit_ms: u64,
    /// Who was said to be absent.
    absent: ByColor<bool>,
    /// Who is waited for.
    whom: ByColor<bool>,
    /// When whoever gave no sign is later than allowed.
    due: Option<MonoTime>,
}

impl Awaited {
    pub(super) const fn new(default_time_s: u32, absent: ByColor<bool>) -> Awaited {
        let nobody = ByColor { white: false, black: false };
        Awaited { limit_ms: default_time_s as u64 * 1000, absent, whom: nobody, due: None }
    }

    /// With a default time of zero everybody would be late at once: only who is said to be absent is looked at.
    fn concerns(&self, side: Color) -> bool {
        *self.absent.get(side) || self.limit_ms > 0 && *self.whom.get(side)
    }
}

impl Clocks {
    /// The first clock of the record was started: whoever is new to the game is awaited. The moves before a
    /// record that begins in mid-game were made in this session, as far as anybody can tell from them: whoever
    /// made one had come to it.
    pub(super) fn await_new_players(&mut self, from: MonoTime) {
        let moved = self.mid_game.unwrap_or_default();
        self.await_players(from, ByColor { white: !moved.white, black: !moved.black });
    }

    /// The session begins: from now on these players are awaited, and who was said to be absent.
    pub(super) fn await_players(&mut self, from: MonoTime, whom: ByColor<bool>) {
        self.awaited.whom = whom;
        let concerned = BOTH.into_iter().any(|side| self.awaited.concerns(side) && !self.was_seen(side));
        let limit = self.awaited.limit_ms.saturating_add(1);
        self.awaited.due = concerned.then(|| from.plus_ms(limit));
    }

    /// A player was seen: once both are there, nobody is awaited.
    pub(super) fn look_at_awaited(&mut self) {
        if BOTH.into_iter().all(|side| self.was_seen(side)) {
            self.awaited.due = None;
        }
    }

    /// The record ends: whether anybody comes later is not in it.
    pub(in crate::game::conduct) const fn await_nobody(&mut self) {
        self.awaited.due = None;
    }

    /// When a player will be later than allowed.
    pub(in crate::game::conduct) const fn late_due(&self) -> Option<MonoTime> {
        self.awaited.due
    }
}

impl Conduct {
    /// The default time is over: whoever gave no sign is told to be late.
    #[cold]
    pub(in crate::game::conduct) fn call_late(&mut self, desk: &mut Desk<'_>) {
        let Some(due) = self.clocks.awaited.due.take().filter(|_| !self.is_over(desk)) else { return };
        let late_ms = due.since(self.clocks.session_start()) / 1000;
        for side in BOTH.into_iter().rev().filter(|side| self.clocks.awaited.concerns(*side)) {
            if !self.clocks.was_seen(side) {
                self.tell_late_by(side, late_ms, desk);
            }
        }
    }
}
