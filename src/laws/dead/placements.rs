//! No mate among all the placements that the men can reach: the proof for locked positions.
//!
//! [`Reach`] counts more squares than the men really reach, and here they are combined freely, so every
//! position that can arise is among the placements. If none of them is mate, no mate can come.

use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, FromSetup as _, Position as _, PositionErrorKinds, Role,
    Setup, Square, attacks,
};

use super::{
    Nodes,
    reach::{Man, Reach},
};

/// What part of the budget this may take before the search has its turn.
const SHARE: u32 = 4;

/// What the placements say about mate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// None is mate: none can come.
    NoMate,
    /// Perhaps one is. No pawn can promote.
    Perhaps,
    /// Men are too free to tell anything.
    Free,
}

/// Looks for mate by `winner` among all placements.
pub(super) fn look(position: &Chess, winner: Color, left: &mut Nodes) -> Placed {
    let Some(reach) = Reach::of(position) else { return Placed::Free };
    let Some(placements) = Placements::new(&reach, winner) else { return Placed::Free };
    let mut share = left.share(SHARE);
    let without_mate = placements.are_without_mate(&mut share);
    left.give_back(share);
    if without_mate { Placed::NoMate } else { Placed::Perhaps }
}

struct Placements<'a> {
    winner: Color,
    /// Men that stand where they stand, kings aside.
    fixed: Board,
    winning_king: &'a Man,
    losing_king: &'a Man,
    /// The other men that are not fixed. The losing side's may block squares around their king.
    winning_men: Vec<&'a Man>,
    losing_men: Vec<&'a Man>,
    /// Squares that the winning side's men other than the king attack from anywhere.
    attackable: Bitboard,
}

impl<'a> Placements<'a> {
    fn new(reach: &'a Reach, winner: Color) -> Option<Placements<'a>> {
        let king = |color| reach.men.iter().find(|man| man.is_king() && man.piece.color == color);
        let (winning_king, losing_king) = (king(winner)?, king(!winner)?);
        let (mut fixed, mut winning_men, mut losing_men) = (Board::empty(), Vec::new(), Vec::new());
        for man in reach.men.iter().filter(|man| !man.is_king()) {
            if man.is_fixed() {
                fixed.set_piece_at(man.home, man.piece);
            } else if man.piece.color == winner {
                winning_men.push(man);
            } else {
                losing_men.push(man);
            }
        }
        let winning = reach.men.iter().filter(|man| man.piece.color == winner && !man.is_king());
        let attackable = winning.fold(Bitboard::EMPTY, |squares, man| {
            let from = |square| attacks::attacks(square, man.piece, fixed.occupied());
            man.squares.into_iter().map(from).fold(squares, |squares, more| squares | more)
        });
        Some(Placements { winner, fixed, winning_king, losing_king, winning_men, losing_men, attackable })
    }

    fn are_without_mate(&self, left: &mut Nodes) -> bool {
        for losing in self.losing_king.squares & self.attackable {
            for winning in self.winning_king.squares & !attacks::king_attacks(losing) {
                let mut board = self.fixed.clone();
                board.set_piece_at(winning, Role::King.of(self.winner));
                board.set_piece_at(losing, Role::King.of(!self.winner));
                if winning == losing || self.to_block(&board, losing).count() > self.losing_men.len() {
                    continue;
                }
                if !self.place_losing(&board, losing, &self.losing_men, left) {
                    return false;
                }
            }
        }
        true
    }

    /// Squares that the king would flee to unless a man of his own stood there.
    fn to_block(&self, board: &Board, losing: Square) -> Bitboard {
        let winning = board.king_of(self.winner).map_or(Bitboard::EMPTY, attacks::king_attacks);
        attacks::king_attacks(losing) & !(winning | self.attackable | board.by_color(!self.winner))
    }

    /// Puts the losing men on each of their squares, then the winning ones; false at a mate, or without a
    /// budget.
    fn place_losing(&self, board: &Board, losing: Square, men: &[&Man], left: &mut Nodes) -> bool {
        match men.split_first() {
            Some((man, men)) => each_place(board, man, |board| self.place_losing(board, losing, men, left)),
            None if self.to_block(board, losing).any() => left.take(),
            None => self.place_winning(board, losing, &self.winning_men, left),
        }
    }

    fn place_winning(&self, board: &Board, losing: Square, men: &[&Man], left: &mut Nodes) -> bool {
        match men.split_first() {
            Some((man, men)) => each_place(board, man, |board| self.place_winning(board, losing, men, left)),
            None => left.take() && !self.is_mate(board, losing),
        }
    }

    /// Also true where it cannot be told.
    fn is_mate(&self, board: &Board, losing: Square) -> bool {
        let occupied = board.occupied();
        if board.attacks_to(losing, self.winner, occupied).is_empty() {
            return false;
        }
        let open = attacks::king_attacks(losing) & !board.by_color(!self.winner);
        let without = occupied.without(losing);
        if open.into_iter().any(|square| board.attacks_to(square, self.winner, without).is_empty()) {
            return false;
        }
        let setup = Setup { board: board.clone(), turn: !self.winner, ..Setup::empty() };
        match Chess::from_setup(setup, CastlingMode::Standard) {
            Ok(position) => position.is_checkmate(),
            // The side that has moved is in check: no such position arises.
            Err(error) => !error.kinds().contains(PositionErrorKinds::OPPOSITE_CHECK),
        }
    }
}

/// Whether something holds wherever a man may stand, and without him where he may be captured.
fn each_place(board: &Board, man: &Man, mut holds: impl FnMut(&Board) -> bool) -> bool {
    if man.capturable && !holds(board) {
        return false;
    }
    (man.squares & !board.occupied()).into_iter().all(|square| {
        let mut board = board.clone();
        board.set_piece_at(square, man.piece);
        holds(&board)
    })
}
