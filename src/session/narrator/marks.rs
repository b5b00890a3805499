//! Remarks on a turn for the arbiter's record: what was inferred, what was out of the ordinary. They
//! are shown with the state and judge nothing.

use shakmaty::{Move, Position as _, Role};

use super::{Facts, Narrator, Now, tell};
use crate::session::{
    fact::FactKind,
    tracker::{Ply, Reading, Tracker},
};

impl Narrator {
    pub(in crate::session) fn mark(&mut self, mark: String) {
        if !self.marks.contains(&mark) {
            self.marks.push(mark);
        }
    }

    /// Remarks on a ply that is about to be told.
    pub(super) fn mark_ply(&mut self, tracker: &Tracker, reading: &Reading, index: usize, ply: &Ply) {
        if let Some(told) = self.uncompleted_last() {
            let side = (!told.after.turn()).fold_wb("white", "black");
            self.mark(format!("missed_press:{side}"));
        }
        if ply.reported {
            let end = tracker.len(reading);
            let plies =
                (0..end).filter(|at| tracker.ply(reading, *at).is_some_and(|ply| ply.reported)).count();
            self.mark(format!("inferred_plies:{plies}"));
        } else if ply.inferred && ply.mv.is_capture() {
            self.mark("inferred_capture".to_owned());
        }
        if ply.pressed.is_some_and(|pressed| pressed < ply.placed) {
            self.mark("finished_after_press".to_owned());
        }
        if ply.mv.is_promotion() && !self.identity {
            self.mark("promotion_assumed".to_owned());
        }
        if index == self.told.len() {
            self.mark_touches(ply.mv);
        }
    }

    /// Men that were lifted first and not moved or captured (Articles 4.3.1, 4.3.2), and castling
    /// that began with the rook (4.4.2).
    fn mark_touches(&mut self, mv: Move) {
        if self.touches.only(mv.from()) {
            return;
        }
        let (must_move, must_capture) = self.obligations();
        if let Move::Castle { king, rook } = mv {
            if self.touches.came_before(rook, king) {
                self.mark("rook_first_4.4.2".to_owned());
            }
            return;
        }
        if let Some(square) = must_move.filter(|square| mv.from() != Some(*square)) {
            let sure = self.position().board().role_at(square) != Some(Role::King);
            self.mark(format!("touch_4.3.1:{square}{}", if sure { "" } else { "?" }));
        } else if let Some(square) = must_capture
            && must_move.is_none_or(|own| Some(own) != self.touches.first_of_all())
            && mv.to() != square
            && !mv.is_en_passant()
        {
            self.mark(format!("touch_4.3.2:{square}"));
        }
    }

    /// Tells once which moves fit, when several do, and that the piece of a promotion is open.
    pub(super) fn tell_ambiguous(&mut self, tracker: &Tracker, now: Now, facts: &mut Facts) {
        let decided =
            tracker.best().and_then(|best| tracker.loose_ply(best)).is_some_and(|ply| ply.pressed.is_some());
        let rested = now.at >= self.last_event.plus_ms(self.settings.release_dwell_ms);
        let candidates = if !self.ambiguous.is_empty() {
            if !decided && !rested {
                return;
            }
            self.ambiguous.clone()
        } else if let Some(Move::Normal { from, to, .. }) = self.open_promotion() {
            vec![format!("{from}{to}*")]
        } else {
            if self.uncompleted_last().is_none() {
                self.told_ambiguous.clear();
            }
            return;
        };
        if candidates != self.told_ambiguous {
            self.told_ambiguous.clone_from(&candidates);
            let pair = |text: &String| text.split_once(' ').map(|(a, b)| [a.to_owned(), b.to_owned()]);
            let pairs: Option<Vec<_>> = candidates.iter().map(pair).collect();
            let kind = match pairs {
                Some(candidates) => FactKind::TwoPly { candidates },
                None => FactKind::Ambiguous { candidates },
            };
            tell(facts, now, kind);
        }
    }
}
