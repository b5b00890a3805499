//! Two men that were set up on each other's squares.
//!
//! An occupancy board cannot see it. A pressed move that is not legal, but would be if the two men stood
//! exchanged, is a hint. The game is never rewritten by it: the arbiter is told.

use shakmaty::{Bitboard, Board, Chess, File, FromSetup as _, Position as _, Role, Setup, Square};

use super::{Facts, Narrator, Now, tell};
use crate::session::fact::{FactKind, law::Audience};

/// The pairs that are exchanged in practice: king and queen, knight and bishop, rook and knight.
const PAIRS: [[Role; 2]; 3] =
    [[Role::King, Role::Queen], [Role::Knight, Role::Bishop], [Role::Rook, Role::Knight]];

impl Narrator {
    /// Tells which men may have been exchanged at the set-up, when that would make legal what was
    /// pressed: `from` to `to`.
    pub(super) fn suspect_exchange(&mut self, from: Square, to: Square, now: Now, facts: &mut Facts) {
        let Some(with) = self.exchanged_with(from, to) else { return };
        let squares = Bitboard::from_square(from).with(with);
        if self.exchanged.contains(&squares) {
            return;
        }
        self.exchanged.push(squares);
        let kind = FactKind::Advisory {
            code: "setup-exchanged",
            side: Some(self.position().turn()),
            squares,
            to: Audience::Arbiter,
            detail: "the move is legal if these two men were set up on each other's squares".into(),
        };
        tell(facts, now, kind);
    }

    /// The neighbour with which the man on `from` may have been exchanged.
    fn exchanged_with(&self, from: Square, to: Square) -> Option<Square> {
        let position = self.position();
        let board = position.board();
        let role = board.role_at(from)?;
        let unmoved = |square: Square| {
            self.start.board().piece_at(square) == board.piece_at(square)
                && self.told.iter().all(|told| told.mv.from() != Some(square) && told.mv.to() != square)
        };
        let beside = |step: i32| File::try_from(i32::from(from.file()) + step).ok();
        [-1, 1]
            .into_iter()
            .filter_map(|step| Some(Square::from_coords(beside(step)?, from.rank())))
            .filter(|square| position.us().contains(*square) && unmoved(from) && unmoved(*square))
            .filter(|square| {
                let other = board.role_at(*square);
                PAIRS.iter().any(|[a, b]| (role, other) == (*a, Some(*b)) || (role, other) == (*b, Some(*a)))
            })
            .find(|square| exchanged(position, from, *square).is_some_and(|after| is_legal(&after, from, to)))
    }
}

/// The position with two men exchanged; none may castle any more.
fn exchanged(position: &Chess, a: Square, b: Square) -> Option<Chess> {
    let mut board: Board = position.board().clone();
    let (first, second) = (board.piece_at(a)?, board.piece_at(b)?);
    board.set_piece_at(a, second);
    board.set_piece_at(b, first);
    let setup = Setup { board, turn: position.turn(), ..Setup::empty() };
    Chess::from_setup(setup, shakmaty::CastlingMode::Chess960)
        .or_else(|error| error.ignore_too_much_material())
        .or_else(|error| error.ignore_impossible_check())
        .ok()
}

fn is_legal(position: &Chess, from: Square, to: Square) -> bool {
    position.legal_moves().iter().any(|mv| mv.from() == Some(from) && mv.to() == to)
}
