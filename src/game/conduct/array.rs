//! The start array of a game of Chess960 (Guideline II.2).

use shakmaty::{Board, Chess, Position as _, Rank};

use super::{Conduct, Desk};
use crate::{
    notation::chess960::Array,
    session::fact::law::{Audience, LawFact, Notice},
};

impl Conduct {
    /// Which of the 960 arrays a game begins with, and the call where it is none of them, or another one than the
    /// event states.
    pub(super) fn look_at_array(&self, desk: &mut Desk<'_>) {
        let position = desk.session.position();
        if !self.earlier.is_empty() || !is_start(position) {
            return;
        }
        let fen = position.board().to_string();
        let array = Array::of_board(position.board());
        let number = array.as_ref().ok().map(Array::number);
        let stated = self.settings.chess960.position;
        let wrong = match (array, stated) {
            (Err(error), _) => Some(format!("no array of Chess960: {error}")),
            (Ok(array), Some(stated)) if array.number() != stated => {
                Some(format!("the game begins with array {}, and {stated} is stated", array.number()))
            }
            _ => None,
        };
        desk.tell(LawFact::C960Start { fen, valid: number.is_some(), number, stated });
        if let Some(detail) = wrong {
            desk.notice(Notice { detail: detail.into(), ..Notice::of("start-array", Audience::Arbiter) });
        }
    }
}

/// All men, and nobody has moved.
fn is_start(position: &Chess) -> bool {
    let board = position.board();
    position.fullmoves().get() == 1
        && position.turn().is_white()
        && position.halfmoves() == 0
        && is_full(board)
}

fn is_full(board: &Board) -> bool {
    let pawns = |rank: Rank| rank.into();
    (board.white() & board.pawns()) == pawns(Rank::Second)
        && (board.black() & board.pawns()) == pawns(Rank::Seventh)
        && board.occupied() == Board::new().occupied()
}
