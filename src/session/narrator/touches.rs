//! Lifts as evidence of touches: who had the move, what was lifted first, what was put back.

use shakmaty::{Bitboard, Chess, Position as _, Square};

use super::{Facts, Moment, Narrator, Now, tell};
use crate::session::{
    fact::FactKind,
    time::MonoTime,
    tracker::{Cause, Tracker},
};

/// The lifts of the present turn, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Touches {
    order: Vec<Square>,
    since: Vec<(Square, MonoTime)>,
}

impl Touches {
    fn lift(&mut self, square: Square, at: MonoTime) {
        if !self.order.contains(&square) {
            self.order.push(square);
        }
        self.since.retain(|(other, _)| *other != square);
        self.since.push((square, at));
    }

    fn returned(&mut self, square: Square) -> Option<MonoTime> {
        let index = self.since.iter().position(|(other, _)| *other == square)?;
        Some(self.since.swap_remove(index).1)
    }

    /// The turn passes on: only the men of `standing` that are in the air stay there.
    pub(super) fn next_turn(&mut self, standing: Bitboard) {
        self.since.retain(|(square, _)| standing.contains(*square));
        let air: Bitboard = self.since.iter().map(|(square, _)| *square).collect();
        self.order.retain(|square| air.contains(*square));
    }

    /// True when no other man was lifted in this turn.
    pub(super) fn only(&self, square: Option<Square>) -> bool {
        self.order.iter().all(|other| Some(*other) == square)
    }

    /// The first man that was lifted in this turn.
    pub(super) fn first_of_all(&self) -> Option<Square> {
        self.order.first().copied()
    }

    /// True when both men were lifted in this turn, `first` before `second`.
    pub(super) fn came_before(&self, first: Square, second: Square) -> bool {
        let place = |square| self.order.iter().position(|other| *other == square);
        matches!((place(first), place(second)), (Some(a), Some(b)) if a < b)
    }

    /// The first man of `men` that was lifted in this turn.
    pub(super) fn first_of(&self, men: Bitboard) -> Option<Square> {
        self.order.iter().copied().find(|square| men.contains(*square))
    }
}

impl Narrator {
    pub(super) fn note_touches(&mut self, tracker: &Tracker, now: Now, facts: &mut Facts) {
        match self.moment {
            Moment::Board(Cause::Lift(square)) => {
                let position = self.position().clone();
                if let Some(piece) = position.board().piece_at(square) {
                    let kind = FactKind::Touch { by: position.turn(), square, piece: piece.char() };
                    tell(facts, now, kind);
                }
                self.touches.lift(square, now.at);
            }
            Moment::Board(Cause::Place(square)) => {
                let Some(lifted) = self.touches.returned(square) else { return };
                let stands = |position: &Chess| position.board().occupied().contains(square);
                let moved = tracker.best().is_some_and(|best| {
                    tracker.loose_ply(best).is_some_and(|ply| ply.placed == now.at)
                        || !stands(tracker.position(best))
                });
                if !moved {
                    tell(facts, now, FactKind::Adjust { square, ms: now.at.since(lifted) / 1000 });
                }
            }
            _ => {}
        }
    }

    /// The man that has to be moved (Article 4.3.1) and the one that has to be captured (4.3.2), as
    /// far as one was lifted first and can be.
    pub(super) fn obligations(&self) -> (Option<Square>, Option<Square>) {
        let position = self.position();
        let own = self.touches.first_of(position.us());
        let theirs = self.touches.first_of(position.them());
        if own.is_none() && theirs.is_none() {
            return (None, None);
        }
        let legal = position.legal_moves();
        let must_move = own.filter(|square| legal.iter().any(|mv| mv.from() == Some(*square)));
        let captured = |mv: &shakmaty::Move| match *mv {
            shakmaty::Move::EnPassant { from, to } => Some(Square::from_coords(to.file(), from.rank())),
            other if other.is_capture() => Some(other.to()),
            _ => None,
        };
        let must_capture = theirs.filter(|square| legal.iter().any(|mv| captured(mv) == Some(*square)));
        (must_move, must_capture)
    }
}
