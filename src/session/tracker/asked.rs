//! Legal moves of one man, for whoever asks about one.

use shakmaty::{Bitboard, Chess, File, Move, MoveList, Position as _, Rank, Role, Square, attacks};

use super::legal::{Asked, Shelter, legal_moves};
use crate::{laws::touch, session::fact::law::Reach};

/// The legal moves of the man on a square in their common form. Nothing for a man of the other side and for one that
/// may castle, promote or take en passant: there the moves have to be asked for.
pub(in crate::session) fn reach(position: &Chess, from: Square) -> Option<Reach> {
    let board = position.board();
    let (us, occupied, turn) = (position.us(), board.occupied(), position.turn());
    let role = board.role_at(from).filter(|_| us.contains(from))?;
    let shelter = Shelter::of(position)?;
    // A king that an illegal move left to be taken is never taken (Article 1.4.1; 2005: 1.2).
    let untaken = !us & !position.their(Role::King);
    let to = match role {
        Role::King if position.castles().has_color(turn) => return None,
        Role::King => {
            let to = shelter.king_steps(position, untaken);
            return Some(Reach { from, to, pawn: false });
        }
        Role::Pawn => {
            let en_passant = attacks::pawn_attacks(turn, from);
            if from.rank() == turn.fold_wb(Rank::Seventh, Rank::Second)
                || position.maybe_ep_square().is_some_and(|square| en_passant.contains(square))
            {
                return None;
            }
            let ahead = |pawns: Bitboard| pawns.shift(turn.fold_wb(8, -8)) & !occupied;
            let step = ahead(Bitboard::from_square(from));
            let middle = Bitboard::from_rank(turn.fold_wb(Rank::Third, Rank::Sixth));
            (en_passant & position.them()) | step | ahead(step & middle)
        }
        Role::Knight => attacks::knight_attacks(from),
        Role::Bishop => attacks::bishop_attacks(from, occupied),
        Role::Rook => {
            let king = board.king_of(turn)?;
            if matches!(king.file(), File::C | File::G) && position.castles().any() {
                return None;
            }
            attacks::rook_attacks(from, occupied)
        }
        Role::Queen => attacks::queen_attacks(from, occupied),
    };
    let to = shelter.allows(from, to & untaken);
    Some(Reach { from, to, pawn: role == Role::Pawn })
}

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
    let is_one = |mv: &&Move| touch::moves_man(**mv, square) && touch::is_move(**mv);
    moves.iter().filter(is_one).for_each(|mv| take(*mv));
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
