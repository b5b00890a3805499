//! Whether the board shows a move, and what it costs to say so.

use shakmaty::{Bitboard, CastlingSide, Chess, Color, Move, Position as _, Rank, Role, Square};

use super::{
    Cause, Times,
    cost::{self, Cost},
    moves::{Candidate, castled},
    reading::{Observed, Reading},
};
use crate::session::time::MonoTime;

/// What a move is held against.
pub(super) struct Evidence<'a> {
    pub cause: Cause,
    pub seen: &'a Observed,
    pub times: &'a Times,
    /// When the ply before was placed.
    pub since: MonoTime,
    /// The time of the cause.
    pub now: MonoTime,
    /// Squares that were seen filled: their sensors work, or did.
    pub proven: Bitboard,
}

/// What it costs to say that the board shows this move of a reading, given the squares in which it
/// differs from it; `None` when the board does not show it.
pub(super) fn fit(
    reading: &Reading,
    position: &Chess,
    candidate: &Candidate,
    differs: Bitboard,
    evidence: &Evidence<'_>,
) -> Option<Cost> {
    let seen = evidence.seen;
    let mut price = cost::MOVE;
    if candidate.mv.promotion().is_some_and(|role| role != Role::Queen) {
        price += cost::UNDERPROMOTION;
    }
    let blind = reading.blind(seen);
    price += hidden(position, candidate, reading.touched, evidence.cause, blind)?;
    let unseen = unseen_capture(candidate, reading.touched | blind, evidence);
    if unseen > 0 && evidence.cause == Cause::Lift(candidate.from) {
        // The attacker is in the air: the board looks as if it had captured already.
        return None;
    }
    price += unseen;
    let aside = reading.touched & seen.occupied & !candidate.squares & !candidate.passed;
    price += cost::OTHER_TOUCHED * u32::try_from(aside.count()).unwrap_or(64);
    if let Some(men) = &seen.men {
        price += wrong_men(position, candidate, men)?;
    }
    let mut mishaps = u32::from(unseen > cost::MISSED_CAPTURE);
    let mut next_in_hand = 0;
    for square in differs {
        if reading.paid.contains(square) && !candidate.squares.contains(square) {
            price += cost::PAID;
            continue;
        }
        if blind.contains(square) {
            continue;
        }
        let is_missing = !seen.occupied.contains(square);
        let next = position.them().contains(square) && !candidate.victim.contains(square);
        price += if is_missing && candidate.to.contains(square) {
            // Somebody who presses has let go of his man.
            if !matches!(evidence.cause, Cause::Press(side) if side == position.turn()) {
                return None;
            }
            mishaps += 1;
            cost::UNSEEN_LANDING + if evidence.proven.contains(square) { cost::PROVEN_SENSOR } else { 0 }
        } else if is_missing && next {
            next_in_hand += 1;
            cost::NEXT_IN_HAND
        } else if is_missing {
            mishaps += 1;
            if position.board().kings().contains(square) { cost::KING_MISSING } else { cost::OWN_MISSING }
        } else if evidence.cause == Cause::Report {
            // What is read as a whole, after a gap or at the set-up, is no snapshot of a hand at work.
            return None;
        } else if square == candidate.from {
            mishaps += 1;
            cost::LATE_RELEASE
        } else if candidate.passed.contains(square) {
            mishaps += 1;
            cost::EN_PASSANT_STANDS
        } else {
            mishaps += 1;
            cost::FOREIGN
        };
    }
    // Two mishaps at once explain anything.
    let far = mishaps > 1 || next_in_hand > 1;
    (!far).then(|| price + wrong_order(candidate, blind, evidence))
}

/// What it costs that a square whose sensor is not believed hides a part of the move; `None` where it
/// hides so much that nothing speaks for the move.
fn hidden(
    position: &Chess,
    candidate: &Candidate,
    touched: Bitboard,
    cause: Cause,
    blind: Bitboard,
) -> Option<Cost> {
    if candidate.squares.is_disjoint(blind) {
        return Some(0);
    }
    let left_seen = !blind.contains(candidate.from);
    // It opened and closed again: what is seen there counts.
    let seen_landing = matches!(cause, Cause::Place(square) if candidate.to.contains(square));
    if candidate.to.is_subset(blind) && !seen_landing {
        // The man may as well be in the hand still, until somebody presses or answers.
        let over = match cause {
            Cause::Press(side) => side == position.turn(),
            Cause::Lift(square) => position.them().contains(square) && !candidate.victim.contains(square),
            Cause::Report => true,
            Cause::Place(_) => false,
        };
        return (left_seen && over).then_some(cost::MASKED_LANDING);
    }
    if !left_seen && candidate.victim.any() {
        return (candidate.victim & touched).any().then_some(cost::MASKED_CAPTURE);
    }
    Some(0)
}

/// The price of a man that is captured although its square was never seen empty.
pub(super) fn unseen_capture(candidate: &Candidate, touched: Bitboard, evidence: &Evidence<'_>) -> Cost {
    let Some(victim) = candidate.victim.first().filter(|square| !touched.contains(*square)) else { return 0 };
    if evidence.cause == Cause::Report && evidence.times.left[usize::from(candidate.from)] == evidence.now {
        // Nobody read the board when the attacker left.
        return cost::MISSED_CAPTURE;
    }
    // A contact that opened for less than the debounce time says something.
    let dipped = evidence.times.dipped.get(usize::from(victim)).copied().unwrap_or_default();
    if dipped > evidence.since { cost::DIPPED_CAPTURE } else { cost::UNSEEN_CAPTURE }
}

/// The price of squares that were filled before the man that stands there left its own.
fn wrong_order(candidate: &Candidate, blind: Bitboard, evidence: &Evidence<'_>) -> Cost {
    let (left, filled) = (&evidence.times.left, &evidence.times.filled);
    let late = |from: Square, to: Square| {
        let believed = !blind.contains(from) && !blind.contains(to);
        let free =
            believed && evidence.seen.occupied.contains(to) && !candidate.victim.contains(to) && from != to;
        free && left[usize::from(from)].since(filled[usize::from(to)]) > cost::TWO_SQUARES_US
    };
    let pairs = match candidate.mv {
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            let color = if king.rank() == Rank::First { Color::White } else { Color::Black };
            let (king_to, rook_to) = castled(side, color);
            // Where one man comes to the other's square, the order of the two says nothing.
            [(king, king_to), (rook, rook_to)].map(|(from, to)| to != king && to != rook && late(from, to))
        }
        // A promoted piece may stand before the pawn is taken off.
        other => [!other.is_promotion() && late(candidate.from, other.to()), false],
    };
    cost::WRONG_ORDER * pairs.into_iter().map(u32::from).sum::<u32>()
}

/// On a board that tells identities: the men on the squares of the move have to be the right ones.
/// `None` where it is surely another move (another promotion piece).
fn wrong_men(position: &Chess, candidate: &Candidate, men: &shakmaty::Board) -> Option<Cost> {
    let mut price = 0;
    for square in candidate.to {
        let Some(found) = men.piece_at(square) else { continue };
        let role = match candidate.mv.castling_side() {
            Some(side) if square == side.king_to(position.turn()) => Role::King,
            Some(_) => Role::Rook,
            None => candidate.mv.promotion().unwrap_or(candidate.mv.role()),
        };
        if found != role.of(position.turn()) {
            if candidate.mv.is_promotion() {
                return None;
            }
            price += cost::WRONG_MAN;
        }
    }
    Some(price)
}
