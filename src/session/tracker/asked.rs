//! Legal moves of one man, for whoever asks about one.

use shakmaty::{Bitboard, Chess, MoveList, Square};

use super::legal::{Asked, Shelter, legal_moves};

fn asked(position: &Chess, asked: Asked) -> MoveList {
    let mut moves = MoveList::new();
    if let Some(shelter) = Shelter::of(position) {
        legal_moves(position, &shelter, asked, &mut moves);
    }
    moves
}

/// The legal moves that empty a square, and possibly some others.
pub(in crate::session) fn leaving(position: &Chess, square: Square) -> MoveList {
    asked(position, Asked::leaving(Bitboard::from_square(square), true))
}

/// The legal moves that land on a square or take en passant.
pub(in crate::session) fn landing(position: &Chess, square: Square) -> MoveList {
    let to = Bitboard::from_square(square);
    asked(position, Asked { from: Bitboard::EMPTY, landing: Bitboard::FULL, to, every_promotion: true })
}
