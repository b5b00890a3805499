//! Which plies of a game are in doubt.

use shakmaty::Position as _;

use super::{
    Narrator,
    conditions::{only_in_the_air, same_but_promotion},
};
use crate::session::tracker::{PATIENCE, Ply, Reading, Tracker};

/// A reading that costs less than this more than the best one makes a ply doubtful, in thousandths of
/// a nat: one in five of such games would be the other one.
const DOUBT: u32 = 1_500;
/// So many plies before a doubtful one may be the ones that went wrong.
const NEAR: usize = 8;
/// So many plies in a row that were not seen are no chance any more.
const UNSEEN_IN_A_ROW: usize = 3;

/// How well a ply was seen, kept after it became firm.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    /// Its landing, its capture or the whole ply was not seen but follows from the rest.
    pub inferred: bool,
    /// It was held back because another move explained the board as well.
    pub disputed: bool,
    /// It replaced another move that had been told.
    pub revised: bool,
    /// The board was in order after it, but for a man in the next player's hand.
    pub settled: bool,
}

impl Evidence {
    pub(super) fn of(ply: &Ply) -> Evidence {
        Evidence { inferred: ply.inferred && !ply.reported, ..Evidence::default() }
    }

    pub(super) fn replaced(&mut self, ply: &Ply, revised: bool) {
        self.inferred = ply.inferred && !ply.reported;
        self.revised |= revised;
    }

    fn is_plain(self) -> bool {
        self.settled && !self.inferred && !self.disputed && !self.revised
    }
}

impl Narrator {
    /// Notes that the board is in order after the last ply.
    pub(super) fn note_settled(&mut self, tracker: &Tracker) {
        if self.told.last().is_none_or(|told| told.evidence.settled) {
            return;
        }
        let seen = tracker.seen();
        let position = self.position();
        let differs = seen.differs(position.board());
        let in_hand = differs & position.us() & !seen.occupied;
        if differs == in_hand
            && in_hand.count() <= 1
            && let Some(told) = self.told.last_mut()
        {
            told.evidence.settled = true;
        }
    }

    /// Plies, counted from 1, that are not sure: those on which readings that explain the board about
    /// as well do not agree, and those shortly before them that were not plainly seen. Where the game
    /// must have gone wrong somewhere, since the board is not in order, several plies in a row were
    /// seen by nobody, or a game that is over is played on, it is the last ply and every one that was
    /// not plainly seen.
    pub(in crate::session) fn doubts(&self, tracker: &Tracker) -> Vec<usize> {
        let mut doubts = self.disagreement(tracker);
        let unseen = self.unseen_in_a_row();
        let contradicted = if self.is_over() { self.played_on } else { self.is_out_of_order(tracker) };
        let from = if contradicted || unseen.is_some() {
            Some(0)
        } else {
            doubts.first().map(|first| first.saturating_sub(NEAR))
        };
        if contradicted {
            doubts.push(self.told.len().max(1));
        }
        doubts.extend(unseen);
        doubts.extend(tracker.forced());
        if let Some(from) = from {
            let last = doubts.iter().copied().max().unwrap_or(0);
            let weak = self.told.iter().enumerate().skip(from).filter(|(_, told)| !told.evidence.is_plain());
            doubts.extend(weak.map(|(index, _)| index + 1).take_while(|ply| *ply <= last || contradicted));
            doubts.sort_unstable();
            doubts.dedup();
        }
        doubts
    }

    fn unseen_in_a_row(&self) -> Option<usize> {
        let rows = self.told.windows(UNSEEN_IN_A_ROW);
        let first = rows.into_iter().position(|row| row.iter().all(|told| told.evidence.inferred))?;
        Some(first + 1)
    }

    fn disagreement(&self, tracker: &Tracker) -> Vec<usize> {
        let Some(best) = tracker.best() else { return Vec::new() };
        let weight = tracker.weight(best);
        let told_to = self.told.len();
        let limit = |other: &Reading| {
            weight.saturating_add(if tracker.len(other) > told_to { PATIENCE } else { DOUBT })
        };
        let close = || tracker.readings().iter().filter(|other| tracker.weight(other) < limit(other));
        let longest = close().map(|other| tracker.len(other)).max().unwrap_or(0).max(self.told.len());
        let told = |index: usize| self.told.get(index).map(|told| told.mv);
        let agreed = |index: usize| {
            close().all(|other| match (tracker.ply(other, index).map(|ply| ply.mv), told(index)) {
                (Some(a), Some(b)) => same_but_promotion(a, b),
                (None, None) => true,
                (None, Some(_)) => index < self.published && only_in_the_air(other, tracker),
                _ => false,
            })
        };
        (tracker.firm().len().min(self.told.len())..longest)
            .filter(|index| !agreed(*index))
            .map(|index| index + 1)
            .collect()
    }

    /// True when the board contradicts the best reading, but for a man in the hand of the player who
    /// has the move.
    fn is_out_of_order(&self, tracker: &Tracker) -> bool {
        let seen = tracker.seen();
        tracker.best().is_some_and(|best| {
            let in_hand = best.us & !seen.occupied;
            (best.differs & !best.paid() & !in_hand).any()
        })
    }
}
