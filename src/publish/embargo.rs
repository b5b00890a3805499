//! The embargo of an adjournment (Guideline I.1; 2005: A.1): from the request to seal until the envelope is
//! opened nothing newer than the position before the sealed move leaves.

use crate::session::fact::follows_from_board;

/// Whether something is held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Embargo {
    /// Plies that had been told when it began; nothing while there is none.
    told: Option<usize>,
    /// The game has a result that does not come from the board.
    decided: bool,
}

impl Embargo {
    pub(super) fn begin(&mut self, told: usize) {
        // A second request changes nothing of what the public may know.
        self.told.get_or_insert(told);
        self.decided = false;
    }

    pub(super) fn lift(&mut self) {
        self.told = None;
    }

    pub(super) const fn holds(&self) -> bool {
        self.told.is_some()
    }

    /// Plies that had been told when it began.
    pub(super) fn told_before(&self) -> usize {
        self.told.unwrap_or(usize::MAX)
    }

    /// The game ended for this reason: by persons, or by what stands on the board.
    pub(super) fn end(&mut self, reason: &str) {
        self.decided = !follows_from_board(reason);
    }

    /// A result that persons agreed on or decided may leave (Guideline I.6); one that follows from what
    /// stands on the board tells of the sealed move.
    pub(super) const fn lets_result_out(&self) -> bool {
        self.told.is_none() || self.decided
    }
}
