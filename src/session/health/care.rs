//! How the session looks after its sensors: what it shows them, what it does with what is found.

use shakmaty::{Bitboard, Position as _, Square};

use super::Outcome;
use crate::session::{Session, time::MonoTime};

impl Session {
    /// A square changed. True when its sensor is not believed and nobody should look.
    pub(in crate::session) fn heed_contact(&mut self, at: MonoTime, square: Square, occupied: bool) -> bool {
        let mut out = Outcome::default();
        let tracker = &self.tracker;
        let plies = || tracker.best().map_or(0, |best| tracker.len(best));
        let hidden = self.health.contact(square, occupied, at, plies, &mut out);
        self.apply(at, out);
        hidden
    }

    /// The board reported all its squares.
    pub(in crate::session) fn heed_report(&mut self, at: MonoTime, occupied: Bitboard) {
        let mut out = Outcome::default();
        for square in self.health.masked() {
            self.health.reading(square, occupied.contains(square), &mut out);
        }
        self.apply(at, out);
    }

    /// Another man stands on a square than in the game, which goes on: the arbiter was told by other words.
    pub(crate) fn note_exchanged(&mut self, at: MonoTime, square: Square) {
        let plies = self.tracker.best().map_or(0, |best| self.tracker.len(best));
        let mut out = Outcome::default();
        self.health.take_as_exchanged(square, at, plies, &mut out);
        self.apply(at, out);
    }

    /// Looks after the sensors, after every event and at its own deadlines.
    pub(in crate::session) fn care(&mut self, at: MonoTime) {
        let still = self.narrator.is_over() || self.narrator.is_frozen() || self.narrator.is_displaced();
        let at_rest = still || self.signalled || self.offline;
        if at_rest {
            self.health.due = None;
            return;
        }
        let in_order = self.tracker.seen().differs(self.narrator.position().board()).is_empty();
        if in_order && self.health.noted.is_empty() && self.health.sick.is_empty() {
            self.health.due = None;
            self.care_for_the_matrix(at);
            return;
        }
        let mut out = Outcome::default();
        let awaited = self.narrator.awaited(&self.tracker);
        self.health.look(&self.tracker, awaited, at, &mut out);
        let changed = out.changed;
        self.apply(at, out);
        self.care_for_the_matrix(at);
        if changed {
            let now = self.now(at);
            self.narrator.after_deadline(&self.tracker, now, &mut self.facts);
            self.heed_signal();
        }
    }

    #[inline]
    fn apply(&mut self, at: MonoTime, out: Outcome) {
        if out.changed || !out.marks.is_empty() || !out.tell.is_empty() {
            self.apply_all(at, out);
        }
    }

    fn apply_all(&mut self, at: MonoTime, out: Outcome) {
        if out.changed {
            self.tracker.mask(self.health.masked(), self.health.misread());
        }
        for mark in out.marks {
            self.narrator.mark(mark);
        }
        for (code, square, detail) in out.tell {
            self.advise(at, code, Bitboard::from_square(square), detail);
        }
    }
}
