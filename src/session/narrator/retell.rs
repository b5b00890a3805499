//! What was told and turns out otherwise: withdrawn before its completion, revised after it.

use shakmaty::Position as _;

use super::{Facts, Narrator, Now, san, tell};
use crate::session::{
    fact::FactKind,
    tracker::{OVERTAKE, Reading, Tracker},
};

impl Narrator {
    /// How many told plies a reading contains.
    pub(super) fn agreement(&self, tracker: &Tracker, reading: &Reading, from: usize) -> usize {
        if let Some(last) = self.told.last()
            && tracker.begins_with(reading, last.game)
        {
            return self.told.len();
        }
        let to = self.told.len().min(tracker.len(reading));
        tracker
            .first_other(reading, (from, to), |index| self.told.get(index).map(|told| (told.mv, told.game)))
    }

    /// Takes back or replaces what was told where the best reading contradicts it by enough.
    /// Returns the reading to go on with.
    pub(super) fn reconcile<'a>(
        &mut self,
        tracker: &'a Tracker,
        best: &'a Reading,
        now: Now,
        facts: &mut Facts,
    ) -> &'a Reading {
        if self.loosened != tracker.loosened() {
            self.loosened = tracker.loosened();
            self.verified = 0;
        }
        self.verified = self.verified.min(tracker.firm().len());
        let same = self.agreement(tracker, best, self.verified);
        if same == self.told.len() {
            self.verified = same.min(tracker.firm().len());
            return best;
        }
        self.give_way(tracker, best, same, now, facts)
    }

    /// The best reading contradicts what was told, from ply `same` on.
    #[cold]
    fn give_way<'a>(
        &mut self,
        tracker: &'a Tracker,
        best: &'a Reading,
        same: usize,
        now: Now,
        facts: &mut Facts,
    ) -> &'a Reading {
        let loyal = tracker
            .readings()
            .iter()
            .filter(|reading| self.agreement(tracker, reading, self.verified) == self.told.len())
            .min_by_key(|reading| tracker.weight(reading));
        if let Some(loyal) = loyal
            && tracker.weight(loyal) < tracker.weight(best).saturating_add(OVERTAKE)
        {
            return loyal;
        }
        let completed = self.told.iter().skip(same).any(|told| told.record.completed.is_some());
        if completed {
            if tracker.len(best) >= self.told.len() {
                self.revise(tracker, best, same, now, facts);
                return best;
            }
            // A completed move is never undone by what the board shows later.
            return loyal.unwrap_or(best);
        }
        let stood = self.held_back != self.told.last().map(|told| told.mv);
        let last = self.told.last().map(|told| (told.mv, told.record.uci));
        while self.told.len() > same {
            self.withdraw(now, facts);
        }
        self.took_back |= stood;
        if let (true, Some((mv, uci))) = (stood, last) {
            self.retracted = Some(mv);
            self.mark(format!("retracted_made_move:{uci}"));
        }
        best
    }

    pub(super) fn withdraw(&mut self, now: Now, facts: &mut Facts) {
        let Some(last) = self.told.pop() else { return };
        self.legal.take();
        self.refused = None;
        self.examined = 0;
        if let Some(before) = self.touches_before.take() {
            self.touches.resume(before);
        }
        let published = self.published > self.told.len();
        self.published = self.published.min(self.told.len());
        self.completed_to = self.completed_to.min(self.told.len());
        tell(
            facts,
            now,
            FactKind::MoveWithdrawn { ply: self.told.len() + 1, uci: last.record.uci, published },
        );
    }

    fn revise(&mut self, tracker: &Tracker, best: &Reading, from: usize, now: Now, facts: &mut Facts) {
        let mut position = match from.checked_sub(1).and_then(|index| self.told.get(index)) {
            Some(told) => told.after.clone(),
            None => self.start.clone(),
        };
        self.legal.take();
        for index in from..self.told.len() {
            let Some(ply) = tracker.ply(best, index) else { return };
            let before = position.clone();
            position.play_unchecked(ply.mv);
            let san = san(&before, ply.mv, &position);
            let uci = self.text(ply.mv);
            self.examined = 0;
            let published = index < self.published;
            let Some(told) = self.told.get_mut(index) else { return };
            let was = std::mem::replace(&mut told.record.uci, uci);
            let promotion = told.mv.is_promotion() && ply.mv.is_promotion();
            told.mv = ply.mv;
            told.evidence.replaced(ply, was != uci && !promotion);
            told.after = position.clone();
            told.record.san = san;
            told.game = tracker.game(best, index + 1);
            if was != uci {
                let reason = if promotion { "promotion-piece" } else { "later-evidence" };
                tell(facts, now, FactKind::MoveRevised { ply: index + 1, was, uci, san, reason, published });
            }
        }
    }
}
