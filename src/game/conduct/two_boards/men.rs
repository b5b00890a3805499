//! The men that a DGT board tells: a man of the other side on a square that was not seen empty is a capture, and
//! the piece on the last rank is what a pawn became.

use shakmaty::{Bitboard, Move, Position as _};

use super::{
    super::{Conduct, Desk, Order},
    TwoBoards,
};
use crate::session::{
    Session,
    event::{Event, Unit},
};

impl TwoBoards {
    /// Squares of a set-up on which other men stand than the game begins with, when the board has not shown the
    /// same before.
    pub(super) fn wrong_at_start(&mut self, unit: Unit, session: &Session) -> Bitboard {
        let game = session.position().board();
        let board = self.board_mut(unit);
        if session.plies().len() > 0 || board.occupied != game.occupied() {
            return Bitboard::EMPTY;
        }
        let wrong = board.wrong_men(game);
        let before = std::mem::replace(&mut board.told_wrong, wrong);
        if before == wrong { Bitboard::EMPTY } else { wrong }
    }
}

impl Conduct {
    /// A board tells its men. True when another man stands on a square than before, without the square having
    /// been seen empty: it was lifted, and this one put down.
    pub(in crate::game) fn exchanges(&mut self, unit: Unit, event: &Event) -> bool {
        let Some(boards) = &mut self.two_boards else { return false };
        let board = boards.board_mut(unit);
        match event {
            Event::Piece { square, piece } => board.exchanges(*square, *piece),
            Event::Pieces(men) if board.men.is_some() => {
                board.men = Some(men.clone());
                false
            }
            _ => false,
        }
    }

    /// A promotion, with the piece that the board on which it was made tells, or that was announced before it.
    pub(in crate::game::conduct) fn promotion_read(
        &self,
        mv: Move,
        index: usize,
        desk: &Desk<'_>,
    ) -> Option<Move> {
        self.promotion_told(mv, index, desk).or_else(|| self.announcing.piece_called(mv, index))
    }

    fn promotion_told(&self, mv: Move, index: usize, desk: &Desk<'_>) -> Option<Move> {
        let boards = self.two_boards.as_ref()?;
        let side = desk.session.position_after(index)?.turn();
        let man = boards.board(boards.last).men.as_ref()?.piece_at(mv.to())?;
        let Move::Normal { role, from, capture, to, promotion: Some(_) } = mv else { return None };
        let read = Move::Normal { role, from, capture, to, promotion: Some(man.role) };
        (man.color == side && desk.session.position_after(index)?.is_legal(read)).then_some(read)
    }

    /// The last ply is a promotion, and the board tells another piece than was assumed.
    pub(in crate::game::conduct) fn decide_promotion(&self, ply: usize, desk: &mut Desk<'_>) {
        let Some(index) = ply.checked_sub(1).filter(|_| desk.session.plies().len() == ply) else { return };
        let Some(mv) = desk.session.move_at(index) else { return };
        if let Some(read) = self.promotion_read(mv, index, desk).filter(|read| *read != mv) {
            desk.orders.push(Order::Correct(index, vec![read], "promotion-piece"));
        }
    }

    /// A board told a man anew: the piece of a promotion that is not completed may be another one.
    pub(super) fn look_at_promotion(&self, desk: &mut Desk<'_>) {
        let last = desk.session.last_ply();
        if last.is_some_and(|record| record.completed.is_none()) {
            self.decide_promotion(desk.session.plies().len(), desk);
        }
    }
}
