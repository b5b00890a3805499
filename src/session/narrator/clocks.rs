//! Stopped clocks.

use shakmaty::{Move, Position as _};

use super::{Facts, Narrator, Now};
use crate::session::tracker::Tracker;

impl Narrator {
    /// Both clocks are stopped, or run again. A pause over an irregularity or an open promotion
    /// (Article 6.11) ends by itself when the board is in order.
    pub(in crate::session) fn pause(&mut self, paused: bool, tracker: &Tracker, now: Now, facts: &mut Facts) {
        if paused && !self.paused {
            // Nobody stops the clocks over a man in the hand: what is placed is made.
            self.stopping = true;
            self.narrate(tracker, now, facts);
            self.stopping = false;
        }
        self.set_paused(tracker, paused);
    }

    fn set_paused(&mut self, tracker: &Tracker, paused: bool) {
        self.paused = paused;
        self.repair = paused && {
            let promoting = self.candidate.or(self.unfinished(tracker)).is_some_and(|mv| mv.is_promotion());
            self.wrong.is_some() || promoting || self.open_promotion().is_some()
        };
    }

    /// True while the clocks are stopped and nothing on the board is a move.
    pub(in crate::session) fn is_frozen(&self) -> bool {
        (self.paused && !self.repair) || self.awaits_position
    }

    /// A ruling put the position up: nothing is a move before the board shows it, or a clock is started by
    /// hand (Article 7.5.1; 2005: 7.4a).
    pub(in crate::session) fn await_position(&mut self, tracker: &Tracker) {
        self.awaits_position = self.is_elsewhere(tracker);
    }

    /// The clocks were started by hand: the board is taken as it is. True where it shows a part of a move in the
    /// position that was ruled.
    pub(in crate::session) fn take_board_as_it_is(&mut self, tracker: &Tracker) -> bool {
        std::mem::take(&mut self.awaits_position) && self.unfinished(tracker).is_some()
    }

    /// The clock was pressed: where the board shows one legal move made in the position that was ruled, the
    /// men were put right on the way. True then.
    pub(in crate::session) fn look_for_the_move_after_ruling(&mut self, tracker: &Tracker) -> bool {
        if !self.awaits_position {
            return false;
        }
        let seen = tracker.seen();
        let is_shown = |mv: &Move| {
            let mut after = self.position().clone();
            after.play_unchecked(*mv);
            !seen.differs(after.board()).any()
        };
        self.awaits_position = !self.position().legal_moves().iter().any(is_shown);
        !self.awaits_position
    }

    /// More than one square is out of order: one alone may be a sensor.
    pub(super) fn is_elsewhere(&self, tracker: &Tracker) -> bool {
        tracker.seen().differs(self.position().board()).more_than_one()
    }

    /// True from the moment at which kings in the centre were told to signal a result.
    pub(in crate::session) fn signal_is_told(&self) -> bool {
        self.ending.signal_is_told()
    }
}
