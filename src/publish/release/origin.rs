//! What a publication follows from, and how far an output has come.

use crate::publish::BoardState;

/// What a publication follows from. What happens at one time behind one event leaves together; several deadlines may
/// fire behind one event, each at a time of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// Index of the latest event of the board, -1 before the first.
    pub ev: i64,
    /// When it became known, in microseconds of the journal: the time of the event, or of the deadline that fired.
    pub us: u64,
}

impl Origin {
    /// The beginning of a game.
    pub const START: Origin = Origin { ev: -1, us: 0 };
}

/// What an output has shown of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The latest event of the board of whose effects something has left.
    pub ev: i64,
    /// When the latest of them that has left became known, in microseconds of the journal. A record of an older
    /// version does not tell: then `plies` and `over` do.
    pub us: Option<u64>,
    /// Half-moves that it shows.
    pub plies: usize,
    /// It shows a result.
    pub over: bool,
    /// When the first move left, in microseconds of UTC.
    pub began_us: Option<u64>,
}

impl Shown {
    /// Everything that is known of a game.
    pub const ALL: Shown =
        Shown { ev: i64::MAX, us: Some(u64::MAX), plies: usize::MAX, over: true, began_us: None };

    /// How far it has come; an older version tells it less exactly.
    pub const fn reached(&self) -> (i64, Option<u64>) {
        (self.ev, self.us)
    }

    /// Takes what left later, or was recorded later.
    pub fn merge(&mut self, later: Shown) {
        let began_us = self.began_us.or(later.began_us);
        if later.reached() >= self.reached() {
            *self = later;
        }
        self.began_us = began_us;
    }

    /// True where what follows from `origin` has left; `before` is what the output showed before it.
    pub(super) fn has(&self, origin: Origin, before: &BoardState) -> bool {
        let Some(us) = self.us else {
            let shows_it = (before.plies.len(), before.result != "*") == (self.plies, self.over);
            return origin.ev < self.ev || origin.ev == self.ev && !shows_it;
        };
        origin <= Origin { ev: self.ev, us }
    }
}
