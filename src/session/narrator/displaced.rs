//! Men that were displaced: several squares changed at once, and no move explains it (Article 7.4 of the
//! Laws of 2023, 7.3 of those of 2005).

use shakmaty::{Bitboard, Position as _};

use super::{Facts, Moment, Narrator, Now, Wrong, tell};
use crate::session::{
    fact::{FactKind, law::Audience},
    tracker::{Cause, PATIENCE, Tracker},
    view::State,
};

/// So many squares have to be out of order.
const SQUARES: usize = 3;

impl Narrator {
    /// Men were displaced and do not stand right again, and a player pressed over them: what stands there is
    /// taken for men.
    pub(in crate::session) fn is_displaced(&self) -> bool {
        let pressed_over = |wrong: &Wrong| wrong.state == State::Mismatch;
        self.displaced.any() && self.wrong.as_ref().is_some_and(pressed_over)
    }

    /// Tells that men were displaced, and that they stand right again.
    pub(super) fn look_for_displaced(&mut self, tracker: &Tracker, now: Now, facts: &mut Facts) {
        let seen = tracker.seen();
        let differs = seen.differs(self.position().board());
        if differs.is_empty() {
            self.disorder_since = None;
            if self.displaced.any() {
                self.displaced = Bitboard::EMPTY;
                let detail = "the men stand as before";
                tell(facts, now, advisory("displaced-restored", Bitboard::EMPTY, Audience::Journal, detail));
            }
            return;
        }
        let since = *self.disorder_since.get_or_insert(now.at);
        let at_once = match self.moment {
            Moment::Board(Cause::Report) => true,
            Moment::Board(Cause::Lift(_) | Cause::Place(_)) => {
                now.at.since(since) <= self.displaced_within_us
            }
            _ => false,
        };
        let extra = differs & seen.occupied;
        if !at_once || extra.is_empty() {
            return;
        }
        let many = differs.count() >= SQUARES;
        if !many || extra.count() * 2 < differs.count() || self.displaced == differs {
            return;
        }
        let limit = tracker.best().map_or(0, |best| tracker.weight(best)).saturating_add(PATIENCE);
        let explained = tracker.readings().iter().any(|reading| {
            tracker.weight(reading) < limit && (reading.differs & seen.occupied & !reading.paid()).is_empty()
        });
        if !explained {
            self.displaced = differs;
            let detail = "several men changed their squares at once, and no move explains it";
            tell(facts, now, advisory("displaced", differs, Audience::Arbiter, detail));
        }
    }
}

fn advisory(code: &'static str, squares: Bitboard, to: Audience, detail: &str) -> FactKind {
    FactKind::Advisory { code, side: None, squares, to, detail: detail.into() }
}
