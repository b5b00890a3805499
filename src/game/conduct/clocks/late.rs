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
    /// When whoever gave no sign is later than allowed.
    due: Option<MonoTime>,
}

impl Awaited {
    pub(super) const fn new(default_time_s: u32, absent: ByColor<bool>) -> Awaited {
        Awaited { limit_ms: default_time_s as u64 * 1000, absent, due: None }
    }

    /// With a default time of zero everybody would be late at once: only who is said to be absent is looked at.
    const fn concerns(&self, side: Color) -> bool {
        self.limit_ms > 0
            || match side {
                Color::White => self.absent.white,
                Color::Black => self.absent.black,
            }
    }
}

impl Clocks {
    /// The session begins: from now on the players are awaited.
    pub(super) fn await_players(&mut self, from: MonoTime) {
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
