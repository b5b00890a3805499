//! Moves that are over, pressed or answered, and are held back because the readings do not agree on
//! them: they are shown with everything that fits, never silently, and remarked once decided.

use shakmaty::Move;

use super::{
    Facts, Narrator, Now,
    conditions::{only_in_the_air, same_but_promotion},
    tell,
};
use crate::session::{
    fact::FactKind,
    time::MonoTime,
    tracker::{PATIENCE, Ply, Reading, Tracker},
};

/// A ply that is held back.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// Its index.
    pub index: usize,
    /// Since when.
    pub since: MonoTime,
    /// It was still so at the next look, and is told.
    pub lasting: bool,
    /// Every move that fits, as long as the reply does not stand; empty where the readings agree again.
    pub candidates: Vec<String>,
}

impl Narrator {
    /// Looks whether the first ply that is not published is over and readings disagree on it.
    pub(super) fn hold(&mut self, tracker: &Tracker, reading: &Reading, now: Now, facts: &mut Facts) {
        let index = self.published;
        if self.held.is_none() {
            let over = tracker
                .ply(reading, index)
                .is_some_and(|ply| ply.pressed.is_some() || ply.answered || index + 1 < tracker.len(reading));
            if !over {
                return;
            }
        }
        self.look_for_rivals(tracker, reading, now, facts);
    }

    fn look_for_rivals(&mut self, tracker: &Tracker, reading: &Reading, now: Now, facts: &mut Facts) {
        let index = self.published;
        let before = self.held.take_if(|held| held.index == index);
        let known = before.is_some();
        let since = before.as_ref().map_or(now.at, |held| held.since);
        let lasting = before.as_ref().is_some_and(|held| held.lasting) || now.at > since;
        let Some(ply) = tracker.ply(reading, index) else {
            self.held = None;
            return;
        };
        let answered = ply.answered || index + 1 < tracker.len(reading);
        if !known && ply.pressed.is_none() && !answered {
            self.held = None;
            return;
        }
        let pressed = tracker.loose_ply(reading).is_some_and(|ply| ply.pressed.is_some());
        let candidates = if !self.ambiguous.is_empty() {
            self.ambiguous.clone()
        } else if pressed {
            self.within_patience(tracker, reading, index)
        } else {
            self.fitting(tracker, reading, index)
        };
        // Beside one candidate alone stands only that nothing was played: the reply speaks against it.
        let enough = if pressed && answered { 1 } else { 2 };
        if candidates.len() < enough {
            // What was open stays open for the eye until the reply stands or the ply is published.
            let replied = index + 1 < tracker.len(reading);
            let candidates = before.filter(|_| !replied).map(|held| held.candidates).unwrap_or_default();
            self.held = known.then_some(Held { index, since, lasting, candidates });
            return;
        }
        // What was pressed over and is unfinished is for the Laws, and what is completed is no question.
        let told = self.told.get(index).filter(|told| told.record.completed.is_some());
        let settled = told.is_some_and(|told| candidates.iter().all(|uci| *uci == told.record.uci.as_str()));
        let refused = index == self.told.len() && self.is_refused(reading, ply);
        if lasting && !settled && !refused && !self.awaits_rest(tracker, reading, ply.mv) {
            self.tell_candidates(&candidates, now, facts);
        }
        self.held = Some(Held { index, since, lasting, candidates });
    }

    /// Every move that keeps a ply from being published, the likeliest first.
    fn within_patience(&self, tracker: &Tracker, reading: &Reading, index: usize) -> Vec<String> {
        let limit = tracker.cost(reading).saturating_add(PATIENCE);
        let own = tracker.ply(reading, index);
        let others = tracker
            .readings()
            .iter()
            .filter(|other| tracker.cost(other) < limit && fits_as_well(tracker, other, reading, index));
        self.different(own.into_iter().chain(others.filter_map(|other| tracker.ply(other, index))))
    }

    /// Every move that fits at this moment. While a move is being made, what contradicts the board now
    /// is left out, and so is that the reply is still in a player's hand.
    fn fitting(&self, tracker: &Tracker, reading: &Reading, index: usize) -> Vec<String> {
        let limit = tracker.weight(reading).saturating_add(PATIENCE);
        let in_order = reading.differs.is_empty();
        let waits = |other: &Reading| {
            in_order && only_in_the_air(other, tracker) && tracker.len(other) < tracker.len(reading)
        };
        let others = tracker.readings().iter().filter(|other| {
            tracker.weight(other) < limit && !waits(other) && fits_as_well(tracker, other, reading, index)
        });
        self.different(others.filter_map(|other| tracker.ply(other, index)))
    }

    pub(super) fn different<'a>(&self, plies: impl Iterator<Item = &'a Ply>) -> Vec<String> {
        let mut moves: Vec<Move> = Vec::new();
        for ply in plies {
            if !moves.iter().any(|mv| same_but_promotion(*mv, ply.mv)) {
                moves.push(ply.mv);
            }
        }
        moves.into_iter().map(|mv| self.uci(mv)).collect()
    }

    /// Tells candidates once, and again only when another one turns up.
    pub(super) fn tell_candidates(&mut self, candidates: &[String], now: Now, facts: &mut Facts) {
        // Men that were knocked over make no move.
        if self.displaced.is_empty() && candidates.iter().any(|uci| !self.told_ambiguous.contains(uci)) {
            self.told_ambiguous = candidates.to_vec();
            let pair = |text: &String| text.split_once(' ').map(|(a, b)| [a.to_owned(), b.to_owned()]);
            let pairs: Option<Vec<_>> = candidates.iter().map(pair).collect();
            let kind = match pairs {
                Some(candidates) => FactKind::TwoPly { candidates },
                None => FactKind::Ambiguous { candidates: candidates.to_vec() },
            };
            tell(facts, now, kind);
        }
    }

    /// Several moves that the board shows fitted what the clock was pressed over, and nobody has said which it was:
    /// another one, whose man nobody sees, is not told because the reply was none to these, before all agree on it.
    pub(super) fn is_none_of_those_asked(&self, tracker: &Tracker, reading: &Reading, ply: &Ply) -> bool {
        let index = self.told.len();
        if self.told_ambiguous.len() < 2 || !lands_unseen(tracker, reading, index) {
            return false;
        }
        let mut others = tracker.readings().iter().filter_map(|other| tracker.ply(other, index));
        !self.told_ambiguous.contains(&self.uci(ply.mv))
            && others.any(|other| !same_but_promotion(other.mv, ply.mv))
    }

    /// Remarks on a ply that is published: it had been held back, and a later move or time decided it.
    pub(super) fn mark_resolved(&mut self, index: usize) {
        if self.held.take_if(|held| held.index == index).is_some_and(|held| held.lasting) {
            if let Some(told) = self.told.get_mut(index) {
                told.evidence.disputed = true;
            }
            let replied = self.told.len() > index + 1;
            self.mark(if replied { "resolved_by_reply" } else { "resolved_later" }.to_owned());
        }
    }
}

/// What fits at this ply is on the board: a man that should stand there and is not seen does not fit, unless the best
/// reading has the same to explain.
pub(super) fn fits_as_well(tracker: &Tracker, other: &Reading, best: &Reading, index: usize) -> bool {
    !lands_unseen(tracker, other, index) || lands_unseen(tracker, best, index)
}

/// The man of this ply is said to stand where no man is seen.
fn lands_unseen(tracker: &Tracker, reading: &Reading, index: usize) -> bool {
    tracker
        .ply(reading, index)
        .is_some_and(|ply| ply.inferred && (reading.paid() & tracker.seen().empty(ply.mv.to().into())).any())
}
