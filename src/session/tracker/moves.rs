//! A legal move as the sensors see it: which squares it empties and fills.

use shakmaty::{Bitboard, CastlingSide, Chess, Color, Move, Position as _, Square};

/// A legal move and the occupancy that follows from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub mv: Move,
    /// Occupancy after the move.
    pub after: Bitboard,
    /// The square that the moving man (the king in castling) leaves.
    pub from: Square,
    /// Squares on which the mover's men stand after the move.
    pub to: Bitboard,
    /// Square of a man that is captured where the mover lands.
    pub victim: Bitboard,
    /// Square of a pawn that is captured en passant.
    pub passed: Bitboard,
    /// Every square that the move has to do with.
    pub squares: Bitboard,
}

/// Where king and rook stand after castling.
pub(crate) fn castled(side: CastlingSide, color: Color) -> (Square, Square) {
    (side.king_to(color), side.rook_to(color))
}

impl Candidate {
    pub(super) fn new(position: &Chess, mv: Move) -> Candidate {
        let occupied = position.board().occupied();
        let empty = Bitboard::EMPTY;
        let (from, to, victim, passed, gone) = match mv {
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_king_side(king < rook);
                let (king_to, rook_to) = castled(side, position.turn());
                let to = Bitboard::from_square(king_to).with(rook_to);
                (king, to, empty, empty, Bitboard::from_square(king).with(rook))
            }
            Move::EnPassant { from, to } => {
                let passed = Bitboard::from_square(Square::from_coords(to.file(), from.rank()));
                (from, Bitboard::from_square(to), empty, passed, passed.with(from))
            }
            Move::Normal { from, to, capture, .. } => {
                let to = Bitboard::from_square(to);
                let victim = if capture.is_some() { to } else { empty };
                (from, to, victim, empty, Bitboard::from_square(from))
            }
            // No drops in the variants that are played over the board.
            Move::Put { to, .. } => (to, Bitboard::from_square(to), empty, empty, empty),
        };
        Candidate { mv, after: (occupied & !gone) | to, from, to, victim, passed, squares: gone | to }
    }
}
