//! Lifts as evidence of touches: who had the move, what was lifted first, what was put back, where a
//! man rested on its way.

use shakmaty::{Bitboard, Chess, Move, Position as _, Role, Square};

use super::{Facts, Moment, Narrator, Now, tell};
use crate::session::{
    fact::FactKind,
    time::MonoTime,
    tracker::{Cause, Tracker},
};

/// So many lifts and as many placements of one turn are remembered, the first ones.
const MAX_CONTACTS: usize = 64;

/// A man that was brushed is put back within this many milliseconds.
const BRUSH_MS: u64 = 5_000;

/// A square that was left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lift {
    pub square: Square,
    pub at: MonoTime,
    /// When the square was filled again.
    pub back: Option<MonoTime>,
}

impl Lift {
    /// Microseconds for which the square was empty, where it was filled again.
    pub(super) fn us(&self) -> Option<u64> {
        self.back.map(|back| back.since(self.at))
    }

    fn overlaps(&self, other: &Lift) -> bool {
        let before_end = |at: MonoTime, lift: &Lift| lift.back.is_none_or(|back| at < back);
        self.square != other.square && before_end(self.at, other) && before_end(other.at, self)
    }
}

/// A square that was filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    pub square: Square,
    pub at: MonoTime,
    /// When the square was left again.
    pub left: Option<MonoTime>,
    /// No man was in the air that could have been put there.
    pub from_nowhere: bool,
}

/// The contacts of the present turn, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Touches {
    lifts: Vec<Lift>,
    rests: Vec<Rest>,
}

impl Touches {
    fn lift(&mut self, square: Square, at: MonoTime) {
        if let Some(rest) = self.rests.iter_mut().rev().find(|rest| rest.square == square) {
            rest.left = Some(at);
        }
        if self.lifts.len() < MAX_CONTACTS {
            self.lifts.push(Lift { square, at, back: None });
        }
    }

    /// Notes a placement, on a board from which men are missing or not. Returns when the square had
    /// been left.
    fn place(&mut self, square: Square, at: MonoTime, missing: bool) -> Option<MonoTime> {
        if self.rests.len() < MAX_CONTACTS {
            self.rests.push(Rest { square, at, left: None, from_nowhere: !missing });
        }
        let open = |lift: &&mut Lift| lift.square == square && lift.back.is_none();
        let lift = self.lifts.iter_mut().rev().find(open)?;
        lift.back = Some(at);
        Some(lift.at)
    }

    /// The contacts of the next turn, in the room of a turn that is over: only the men of `standing`
    /// that are in the air stay there.
    pub(super) fn next_turn(&self, standing: Bitboard, mut spent: Touches) -> Touches {
        let stays = |lift: &&Lift| lift.back.is_none() && standing.contains(lift.square);
        spent.lifts.clear();
        spent.rests.clear();
        spent.lifts.extend(self.lifts.iter().filter(stays));
        spent
    }

    /// The turn goes on after all: what happened since comes after what had happened before.
    pub(super) fn resume(&mut self, mut earlier: Touches) {
        let known =
            |lift: &Lift| earlier.lifts.iter().any(|old| old.square == lift.square && old.at == lift.at);
        let new: Vec<Lift> = self.lifts.iter().copied().filter(|lift| !known(lift)).collect();
        for lift in &mut earlier.lifts {
            if let Some(same) = self.lifts.iter().find(|new| new.square == lift.square && new.at == lift.at) {
                lift.back = same.back;
            }
        }
        for lift in &new {
            if let Some(rest) = earlier.rests.iter_mut().rev().find(|rest| rest.square == lift.square) {
                rest.left = rest.left.or(Some(lift.at));
            }
        }
        earlier.lifts.extend(new);
        earlier.rests.append(&mut self.rests);
        earlier.lifts.truncate(MAX_CONTACTS);
        earlier.rests.truncate(MAX_CONTACTS);
        *self = earlier;
    }

    /// The squares that were left, in order; one that was left twice comes twice.
    pub(super) fn lifts(&self) -> &[Lift] {
        &self.lifts
    }

    /// The squares that were filled, in order.
    pub(super) fn rests(&self) -> &[Rest] {
        &self.rests
    }

    /// True when nothing happened but that one man left its square and was set down once.
    pub(super) fn only(&self, square: Option<Square>) -> bool {
        self.rests.len() <= 1 && self.lifts.iter().all(|lift| Some(lift.square) == square)
    }

    /// When a square was first left in this turn.
    pub(super) fn first_lift(&self, square: Square) -> Option<MonoTime> {
        self.lifts.iter().find(|lift| lift.square == square).map(|lift| lift.at)
    }

    /// When a square was last filled in this turn.
    pub(super) fn last_rest(&self, square: Square) -> Option<MonoTime> {
        self.rests.iter().rev().find(|rest| rest.square == square).map(|rest| rest.at)
    }

    /// True when both men were lifted in this turn, `first` before `second`.
    pub(super) fn came_before(&self, first: Square, second: Square) -> bool {
        let place = |square| self.lifts.iter().position(|lift| lift.square == square);
        matches!((place(first), place(second)), (Some(a), Some(b)) if a < b)
    }

    /// True when both men were in the air at once: between the two lifts nothing was set down.
    pub(super) fn both_in_the_air(&self, a: Square, b: Square) -> bool {
        let (Some(a), Some(b)) = (self.first_lift(a), self.first_lift(b)) else { return false };
        let (first, second) = (a.min(b), a.max(b));
        !self.rests.iter().any(|rest| rest.at > first && rest.at < second)
    }

    /// Men of `men` that were lifted before `at` and are in the air.
    pub(super) fn in_the_air_before(&self, men: Bitboard, at: MonoTime) -> Bitboard {
        let lifted = |lift: &&Lift| lift.back.is_none() && lift.at < at && men.contains(lift.square);
        self.lifts.iter().filter(lifted).map(|lift| lift.square).collect()
    }

    /// True when the man of `men` was put back soon, while another one was in the air: a hand that
    /// holds a man brushes another, or both were knocked over.
    pub(super) fn is_incidental(&self, lift: &Lift, men: Bitboard) -> bool {
        let Some(back) = lift.back.filter(|back| *back <= lift.at.plus_ms(BRUSH_MS)) else { return false };
        // What was set down elsewhere meanwhile may have been this man.
        let elsewhere = |rest: &Rest| !men.contains(rest.square) && rest.at > lift.at && rest.at < back;
        let hand = |other: &Lift| men.contains(other.square) && self.in_hand_during(other, lift);
        !self.rests.iter().any(elsewhere) && self.lifts.iter().any(hand)
    }

    /// True when the man of `other` was still in the air when `lift` happened, or left during it.
    fn in_hand_during(&self, other: &Lift, lift: &Lift) -> bool {
        let set_down = |rest: &Rest| rest.at > other.at && rest.at <= lift.at;
        lift.overlaps(other) && !self.rests.iter().any(set_down)
    }

    /// When the man of a square left it for the last time in this turn.
    pub(super) fn last_lift(&self, square: Square) -> Option<MonoTime> {
        self.lifts.iter().rev().find(|lift| lift.square == square).map(|lift| lift.at)
    }
}

impl Narrator {
    pub(super) fn note_touches(&mut self, tracker: &Tracker, now: Now, facts: &mut Facts) {
        match self.moment {
            // Whoever puts the board in order while the clocks are stopped touches nothing (Article 6.11).
            Moment::Board(_) if self.is_frozen() => {}
            Moment::Board(Cause::Lift(square)) => {
                let position = self.position();
                if let Some(piece) = position.board().piece_at(square) {
                    let kind = FactKind::Touch {
                        by: self.undecided_turn(tracker).unwrap_or(position.turn()),
                        square,
                        piece: piece.char(),
                        certainty: self.touch_certainty,
                    };
                    tell(facts, now, kind);
                }
                self.touches.lift(square, now.at);
            }
            Moment::Board(Cause::Place(square)) => {
                let filled = self.position().board().occupied();
                let missing = filled.contains(square) || tracker.seen().empty(filled).any();
                let Some(lifted) = self.touches.place(square, now.at, missing) else { return };
                let stands = |position: &Chess| position.board().occupied().contains(square);
                let moved = tracker.best().is_some_and(|best| {
                    tracker.loose_ply(best).is_some_and(|ply| ply.placed == now.at)
                        || !stands(tracker.position(best))
                });
                if !moved {
                    let ms = now.at.since(lifted) / 1000;
                    tell(facts, now, FactKind::PutBack { square, ms, adjusting: false });
                }
            }
            _ => {}
        }
    }

    /// The man that has to be moved (Article 4.3.1) and the one that has to be captured (4.3.2), as
    /// far as one was lifted first and can be.
    pub(super) fn obligations(&self) -> (Option<Square>, Option<Square>) {
        if self.touches.lifts().is_empty() {
            return (None, None);
        }
        let position = self.position();
        let legal = self.legal();
        let lifted =
            || self.touches.lifts().iter().filter(|lift| self.is_touch(lift)).map(|lift| lift.square);
        let movable = |square: &Square| legal.iter().any(|mv| mv.from() == Some(*square));
        let capturable = |square: &Square| legal.iter().any(|mv| captured(mv) == Some(*square));
        let must_move = lifted().filter(|square| position.us().contains(*square)).find(movable);
        let must_capture = lifted().filter(|square| position.them().contains(*square)).find(capturable);
        (must_move, must_capture)
    }

    /// Whether a lift counts as a touch: neither a contact that opened for less than the debounce
    /// time nor a man that was brushed while another was in the hand. A man that the one in the hand
    /// could have captured was not merely brushed.
    fn is_touch(&self, lift: &Lift) -> bool {
        !self.is_flicker(lift) && (!self.is_incidental(lift) || self.was_aimed_at(lift))
    }

    /// Whether a man was only brushed or knocked over.
    pub(super) fn is_incidental(&self, lift: &Lift) -> bool {
        self.touches.is_incidental(lift, self.position().board().occupied())
    }

    /// Whether the square was empty for no longer than a contact may bounce.
    pub(super) fn is_flicker(&self, lift: &Lift) -> bool {
        lift.us().is_some_and(|us| us <= self.settings.debounce_open_ms * 1000)
    }

    /// Whether a man was lifted that another one in the air could capture.
    pub(super) fn was_aimed_at(&self, lift: &Lift) -> bool {
        let position = self.position();
        position.them().contains(lift.square)
            && self.legal().iter().any(|mv| {
                captured(mv) == Some(lift.square)
                    && self
                        .touches
                        .lifts()
                        .iter()
                        .any(|other| mv.from() == Some(other.square) && lift.overlaps(other))
            })
    }

    /// The king of the player who has the move, where it was lifted.
    pub(super) fn lifted_king(&self) -> Option<Square> {
        let king = self.position().our(Role::King).first()?;
        self.touches.lifts().iter().find(|lift| lift.square == king && !self.is_flicker(lift)).map(|_| king)
    }
}

/// The square of the man that a move captures.
pub(super) fn captured(mv: &Move) -> Option<Square> {
    match *mv {
        Move::EnPassant { from, to } => Some(Square::from_coords(to.file(), from.rank())),
        other if other.is_capture() => Some(other.to()),
        _ => None,
    }
}
