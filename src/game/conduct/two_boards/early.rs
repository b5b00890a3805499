//! Men that leave a board before that is told to the game: its player does not have the move yet, or a man of
//! the other side is lifted while a move has to be mirrored. The game is told as soon as it matters.

use shakmaty::{Bitboard, Move, Position as _, Square};

use super::{super::Conduct, TwoBoards};
use crate::session::{Session, event::Unit};

/// A change of a square that the game takes over; true: a man stands there now.
pub(in crate::game) type Change = (Square, bool);

impl TwoBoards {
    /// A move of the other player is not on this board yet, and its player has the move: the men of the other
    /// side are lifted to mirror it.
    pub(super) fn is_mirroring(&self, unit: Unit, session: &Session) -> bool {
        let board = self.board(unit);
        let game = session.occupied();
        self.owner(unit) == Some(session.position().turn())
            && board.mirrors.iter().any(|mirror| !mirror.announced && !mirror.is_shown(board.occupied, game))
    }

    /// Men of the side to move that were lifted from its board early and are still in the air.
    fn early(&self, unit: Unit, session: &Session) -> Bitboard {
        if self.owner(unit) != Some(session.position().turn()) || session.is_over() {
            return Bitboard::EMPTY;
        }
        let board = self.board(unit);
        let may_be_taken = session.position().us() & session.occupied();
        board.waiting & may_be_taken & !board.occupied & !board.mirrored()
    }

    /// The last move is completed: what its player's opponent holds already is touched now.
    fn turn_passed(&mut self, session: &Session) -> Option<Vec<Change>> {
        if session.last_ply().is_some_and(|record| record.completed.is_none()) {
            return None;
        }
        let unit = Unit::ALL.into_iter().find(|unit| self.early(*unit, session).any())?;
        let early = self.early(unit, session);
        let board = self.board(unit);
        let stands = board.premature & board.occupied & !session.occupied() & !board.mirrored();
        let mut changes: Vec<Change> = early.into_iter().map(|square| (square, false)).collect();
        changes.extend(stands.into_iter().map(|square| (square, true)));
        self.take_over(unit, &changes);
        Some(changes)
    }

    /// A man comes down: what was lifted for it and is not told yet.
    fn lifted_before(&mut self, unit: Unit, square: Square, session: &Session) -> Option<Vec<Change>> {
        if self.board(unit).waiting.is_empty() || !self.may_move(unit, session) {
            return None;
        }
        let mut lifts = self.early(unit, session);
        let board = self.board(unit);
        let hand = board.hand | lifts;
        if session.occupied().contains(square) {
            let captures = |mv: &Move| mv.from().is_some_and(|from| hand.contains(from));
            let is_captured = board.waiting.contains(square)
                && session.position().them().contains(square)
                && session.captures_of(square).iter().any(captures);
            if !is_captured {
                return None;
            }
            lifts.add(square);
        } else if board.mirrored().contains(square) {
            return None;
        }
        let changes: Vec<Change> = lifts.into_iter().map(|square| (square, false)).collect();
        self.take_over(unit, &changes);
        (!changes.is_empty()).then_some(changes)
    }

    fn take_over(&mut self, unit: Unit, changes: &[Change]) {
        let board = self.board_mut(unit);
        for (square, occupied) in changes {
            if *occupied {
                board.premature.discard(*square);
                board.hand.discard_first();
            } else {
                board.waiting.discard(*square);
                board.hand.add(*square);
            }
        }
        if !changes.is_empty() {
            self.last = unit;
        }
    }
}

impl Conduct {
    /// What the game has to be told of a board whose player has got the move.
    pub(in crate::game) fn turn_passed_on_two_boards(&mut self, session: &Session) -> Option<Vec<Change>> {
        self.two_boards.as_mut()?.turn_passed(session)
    }

    /// What the game has to be told before a man comes down on a square of a board.
    pub(in crate::game) fn lifted_before(
        &mut self,
        unit: Unit,
        square: Square,
        session: &Session,
    ) -> Option<Vec<Change>> {
        self.two_boards.as_mut()?.lifted_before(unit, square, session)
    }
}
