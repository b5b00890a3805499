//! Legal moves of one man, for whoever asks about one.

use shakmaty::{Bitboard, Chess, Move, MoveList, Position as _, Role, Square};

use super::legal::{Asked, Shelter, legal_moves};
use crate::laws::touch;

/// Hands the legal moves of the man on a square over one by one; castling is the king's.
pub(in crate::session) fn of_man(position: &Chess, square: Square, mut take: impl FnMut(Move)) {
    let Some(shelter) = Shelter::of(position) else { return };
    let mut moves = MoveList::new();
    let mut from = Bitboard::from_square(square);
    if position.castles().castling_rights().contains(square) {
        // A rook may castle alone, where the king stands on its square already.
        from |= position.our(Role::King);
    }
    legal_moves(position, &shelter, Asked::leaving(from, true), &mut moves);
    moves.iter().filter(|mv| touch::moves_man(**mv, square)).for_each(|mv| take(*mv));
}

/// The legal moves that land on a square or take en passant.
pub(in crate::session) fn landing(position: &Chess, square: Square) -> MoveList {
    let mut moves = MoveList::new();
    if let Some(shelter) = Shelter::of(position) {
        let to = Bitboard::from_square(square);
        let asked = Asked { from: Bitboard::EMPTY, landing: Bitboard::FULL, to, every_promotion: true };
        legal_moves(position, &shelter, asked, &mut moves);
    }
    moves
}
