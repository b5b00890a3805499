//! Remarks on a turn for the arbiter's record: what was inferred, what was out of the ordinary. They
//! are shown with the state and judge nothing. `docs/states.md` lists them.

use shakmaty::{Bitboard, Color, Move, Position as _, Square};

use super::{
    Facts, Narrator, Now,
    touches::{Rest, captured},
};
use crate::session::{
    time::MonoTime,
    tracker::{Ply, Reading, Tracker, castled},
    view::State,
};

/// A press may come this many milliseconds before the man has settled: the sensors lag behind the
/// hand.
const PRESS_LEAD_MS: u64 = 150;
/// Whoever presses within this many milliseconds after a stray press only puts the lever back.
const LEVER_BACK_MS: u64 = 5_000;

impl Narrator {
    pub(in crate::session) fn mark(&mut self, mark: String) {
        if !self.marks.contains(&mark) {
            self.marks.push(mark);
        }
    }

    /// Remarks on a ply that is about to be told.
    pub(super) fn mark_ply(&mut self, tracker: &Tracker, reading: &Reading, index: usize, ply: &Ply) {
        let next = tracker.ply(reading, index + 1);
        let swapped = next.is_some_and(|next| self.came_out_of_turn(ply.mv, next.mv));
        if swapped {
            self.mark("out_of_turn".to_owned());
        }
        let unseen = |ply: &Ply| ply.reported;
        let gap = unseen(ply)
            || index.checked_sub(1).and_then(|before| tracker.ply(reading, before)).is_some_and(unseen);
        let pressed = index
            .checked_sub(1)
            .and_then(|before| tracker.ply(reading, before))
            .is_some_and(|before| before.pressed.is_some());
        if let Some(told) = self.uncompleted_last()
            && !gap
            && !pressed
            && !self.marks.iter().any(|mark| mark == "out_of_turn")
        {
            let side = side_name(!told.after.turn());
            self.mark(format!("missed_press:{side}"));
        }
        let turned = self.marks.iter().any(|mark| mark.starts_with("rotated"));
        if ply.reported && !turned {
            let end = tracker.len(reading);
            let plies = (index..end)
                .take_while(|at| tracker.ply(reading, *at).is_some_and(|ply| ply.reported))
                .count();
            let counted = |mark: &String| mark.starts_with("inferred_plies:");
            if !self.marks.iter().any(counted) {
                self.mark(format!("inferred_plies:{plies}"));
            }
        } else {
            self.mark_inferred(ply);
            self.mark_late_finish(ply);
        }
        if ply.mv.is_promotion() && !self.identity {
            self.mark("promotion_assumed".to_owned());
        }
        if ply.mv.from().is_some_and(|from| self.early.contains(from)) {
            self.mark(format!("early_touch:{}", side_name(self.position().turn())));
        }
        if !swapped {
            self.mark_touches(ply.mv);
        }
    }

    fn mark_inferred(&mut self, ply: &Ply) {
        if let (Move::Castle { king, rook }, Some(side)) = (ply.mv, ply.mv.castling_side()) {
            let (king_to, rook_to) = castled(side, self.position().turn());
            let left = |from, to| from == to || self.touches.first_lift(from).is_some();
            if !left(king, king_to) || !left(rook, rook_to) {
                self.mark("inferred_castling".to_owned());
            }
        } else if ply.inferred && ply.mv.is_capture() {
            self.mark("inferred_capture".to_owned());
        }
    }

    /// The clock was pressed before the move was finished, by more than the sensors lag behind.
    fn mark_late_finish(&mut self, ply: &Ply) {
        let Some(pressed) = ply.pressed else { return };
        let unfinished = self
            .wrong
            .as_ref()
            .filter(|wrong| wrong.state == State::Incomplete && wrong.side == self.position().turn());
        let finished = unfinished.map_or(ply.placed, |_| self.last_event);
        let from = unfinished.map_or(pressed, |wrong| wrong.at);
        if finished > from.plus_ms(PRESS_LEAD_MS) {
            self.mark("finished_after_press".to_owned());
        }
    }

    /// The second of two plies was on the board before the man of the first one was lifted.
    fn came_out_of_turn(&self, first: Move, second: Move) -> bool {
        let (Some(from), Some(second_from)) = (first.from(), second.from()) else { return false };
        let (Some(lifted), Some(landed)) =
            (self.touches.first_lift(from), self.touches.last_rest(second.to()))
        else {
            return false;
        };
        landed < lifted && self.touches.first_lift(second_from).is_some_and(|at| at < landed)
    }

    /// Men that were lifted first and not moved or captured (Articles 4.3.1, 4.3.2), castling that
    /// began with the rook (4.4.2), men that were brushed, stops on the way.
    fn mark_touches(&mut self, mv: Move) {
        if self.touches.only(mv.from()) {
            return;
        }
        if let Move::Castle { king, rook } = mv {
            if self.touches.came_before(rook, king) {
                self.mark("rook_first_4.4.2".to_owned());
            }
            if self.touches.both_in_the_air(king, rook) {
                self.mark("two_hands?".to_owned());
            }
        }
        self.mark_obligations(mv);
        self.mark_other_contacts(mv);
        self.mark_stops(mv);
    }

    fn mark_obligations(&mut self, mv: Move) {
        // A move that was made and taken back has a remark of its own (Article 4.7).
        let retracted = self.retracted;
        let told = |square: &Square| {
            retracted.is_some_and(|mv| mv.from() == Some(*square) || captured(&mv) == Some(*square))
                || matches!(retracted, Some(Move::Castle { rook, .. }) if rook == *square)
        };
        let rook = if let Move::Castle { rook, .. } = mv { Some(rook) } else { None };
        let kept = |square: Square| mv.from() == Some(square) || rook == Some(square);
        let men = self.position().board().occupied();
        let theirs = captured(&mv);
        let of_the_move = |square: Square| kept(square) || theirs == Some(square);
        if self.touches.lifts().iter().all(|lift| of_the_move(lift.square) || !men.contains(lift.square)) {
            return;
        }
        let (must_move, must_capture) = self.obligations();
        let (must_move, must_capture) =
            (must_move.filter(|square| !told(square)), must_capture.filter(|square| !told(square)));
        let king = self.lifted_king().filter(|king| !kept(*king) && !told(king));
        if let Some(king) = king {
            // A king that was lifted a little and a weak magnet look the same.
            self.mark(format!("touch_4.3.1:{king}?"));
        }
        let first_own = must_move.and_then(|square| self.touches.first_lift(square));
        let first_theirs = must_capture.and_then(|square| self.touches.first_lift(square));
        if let Some(square) = must_move.filter(|square| !kept(*square)) {
            if king != Some(square) {
                self.mark(format!("touch_4.3.1:{square}"));
            }
        } else if let Some(square) = must_capture
            && (first_own.is_none() || first_theirs < first_own)
            && captured(&mv) != Some(square)
        {
            self.mark(format!("touch_4.3.2:{square}"));
        }
    }

    /// Men that were brushed or knocked over and put back, contacts that only opened for a moment,
    /// squares that were filled by nothing.
    fn mark_other_contacts(&mut self, mv: Move) {
        let on_the_way =
            |square| self.legal().iter().any(|other| other.from() == mv.from() && other.to() == square);
        let of_the_move = |square: Square| {
            let rook = matches!(mv, Move::Castle { rook, .. } if rook == square);
            rook || [Some(mv), self.retracted]
                .iter()
                .flatten()
                .any(|mv| mv.from() == Some(square) || captured(mv) == Some(square))
        };
        let mut marks = Vec::new();
        for lift in self.touches.lifts() {
            let square = lift.square;
            if captured(&mv) == Some(square) {
                continue;
            }
            if self.is_flicker(lift) {
                marks.push(format!("flicker:{square}"));
            } else if !of_the_move(square)
                && self.position().board().occupied().contains(square)
                && self.is_incidental(lift)
                && !self.was_aimed_at(lift)
            {
                marks.push(format!("incidental_lift:{square}"));
            }
        }
        for rest in self.touches.rests() {
            let gone = rest.left.is_some() && rest.square != mv.to();
            // A man that is slid is read on two squares.
            if gone && rest.from_nowhere && !on_the_way(rest.square) {
                marks.push(format!("phantom:{}", rest.square));
            }
        }
        marks.into_iter().for_each(|mark| self.mark(mark));
    }

    /// Squares on which the man could have stopped, and did for so long that it looked like the move.
    fn mark_stops(&mut self, mv: Move) {
        let dwell_us = self.settings.release_dwell_ms * 1000;
        // What came before the man was put back on its square is no stop of this move.
        let since = mv.from().and_then(|from| self.touches.last_lift(from)).unwrap_or(MonoTime::ZERO);
        let long = |rest: &&Rest| {
            rest.left.is_some_and(|left| left.since(rest.at) >= dwell_us && left > since)
                && rest.square != mv.to()
        };
        let stops: Bitboard = self.touches.rests().iter().filter(long).map(|rest| rest.square).collect();
        if stops.is_empty() || mv.is_castle() {
            return;
        }
        for square in stops & !self.position().board().occupied() {
            if self.legal().iter().any(|other| other.from() == mv.from() && other.to() == square) {
                self.mark(format!("dwell:{square}"));
            }
        }
    }

    /// Next player's men that were lifted before the last square of this ply was settled.
    pub(super) fn note_early_touches(&mut self, mv: Move, ply: &Ply, next_men: Bitboard) {
        let landed = self.touches.last_rest(mv.to()).unwrap_or(ply.placed).min(ply.placed);
        self.early = if ply.reported || (ply.inferred && !mv.is_capture()) {
            Bitboard::EMPTY
        } else {
            self.touches.in_the_air_before(next_men, landed)
        };
    }

    /// The man of a pressed move reads as missing and the opponent cannot be about to capture it: the
    /// sensor is suspect, the move stands.
    pub(super) fn mark_suspect(&mut self, tracker: &Tracker) {
        let Some(told) = self.told.last() else { return };
        let square = told.mv.to();
        let stands = told.after.them().contains(square)
            && tracker.seen().empty(told.after.board().occupied()).contains(square);
        if stands && !told.after.legal_moves().iter().any(|mv| captured(mv) == Some(square)) {
            self.mark(format!("suspect:{square}"));
        }
    }

    /// A press of the player whose move is not on. Right after a stray press it only puts the lever
    /// back.
    pub(super) fn note_idle_press(&mut self, side: Color, at: MonoTime) -> bool {
        let back =
            self.stray_press.is_some_and(|(by, stray)| by != side && at <= stray.plus_ms(LEVER_BACK_MS));
        if back {
            self.stray_press = None;
            return false;
        }
        self.mark(format!("press_without_move:{}", side_name(side)));
        self.stray_press = Some((side, at));
        true
    }

    /// Tells once which moves fit, when several do, and that the piece of a promotion is open.
    pub(super) fn tell_ambiguous(&mut self, tracker: &Tracker, now: Now, facts: &mut Facts) {
        let candidates = if !self.ambiguous.is_empty() {
            let last = tracker.best().and_then(|best| tracker.loose_ply(best));
            let decided = last.is_some_and(|ply| ply.pressed.is_some());
            let rested = now.at >= self.last_event.plus_ms(self.settings.release_dwell_ms);
            if !decided && !rested {
                return;
            }
            self.ambiguous.clone()
        } else if let Some(Move::Normal { from, to, .. }) = self.open_promotion() {
            vec![format!("{from}{to}*")]
        } else {
            if self.uncompleted_last().is_none() && self.held.is_none() {
                self.told_ambiguous.clear();
            }
            return;
        };
        self.tell_candidates(&candidates, now, facts);
    }
}

/// The name of a side in the record.
pub(super) fn side_name(side: Color) -> &'static str {
    side.fold_wb("white", "black")
}
