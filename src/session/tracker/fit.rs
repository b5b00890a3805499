//! Whether the board shows a move, and what it costs to say so.

use shakmaty::{Bitboard, CastlingSide, Chess, Color, Move, Position as _, Rank, Role, Square, attacks};

use super::{
    Cause, Times,
    cost::{self, Cost},
    moves::{Candidate, castled},
    plausible::oddness,
    reading::{Observed, Reading},
    tree::Ply,
};
use crate::session::time::MonoTime;

/// What a move is held against.
pub(super) struct Evidence<'a> {
    pub cause: Cause,
    pub seen: &'a Observed,
    pub times: &'a Times,
    /// The move before, and when it was placed and pressed.
    pub before: Option<Ply>,
    /// Where the men of the move before landed.
    pub landed: Bitboard,
    /// The price of a reply that stood before the move.
    pub too_early: Cost,
    /// The mover has let go of his man: he pressed, or a gap is over.
    pub let_go: bool,
    /// The man that the next player lifts, and the moves that may capture it instead.
    pub answered: Option<(Square, &'a [Move])>,
    /// Players press here, as a rule.
    pub clocked: bool,
    /// The time of the cause.
    pub now: MonoTime,
    /// Squares that say nothing.
    pub hidden: Bitboard,
}

impl Evidence<'_> {
    /// True when another man was in the air, longer than a brush, while the man that moves was.
    fn carried_meanwhile(&self, candidate: &Candidate, other: Square) -> bool {
        let left = |square: Square| self.times.left[usize::from(square)];
        let filled = |square: Square| self.times.filled[usize::from(square)];
        let landed = candidate.to.into_iter().map(filled).max().unwrap_or_default();
        left(candidate.from) < left(other)
            && left(other) < landed
            && filled(other).since(left(other)) > cost::BRUSH_US
    }

    /// The same of another man that had left before the mover and was still in the air when it left.
    fn carried_before(&self, candidate: &Candidate, other: Square) -> bool {
        let left = |square: Square| self.times.left[usize::from(square)];
        let filled = self.times.filled[usize::from(other)];
        left(other) < left(candidate.from)
            && left(candidate.from) < filled
            && filled.since(left(other)) > cost::BRUSH_US
    }

    /// True when the next player lifts a man that is not being captured by one of `us` in the air.
    fn is_answered(&self, us: Bitboard) -> bool {
        let air = us & !self.seen.occupied & !self.hidden;
        self.answered.is_some_and(|(square, moves)| {
            !moves.iter().any(|mv| mv.to() == square && mv.from().is_some_and(|from| air.contains(from)))
        })
    }
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
    let hidden = evidence.hidden;
    price += masked(position, candidate, reading.touched, evidence)?;
    let unseen = unseen_capture(candidate, reading.touched | hidden, evidence);
    if unseen > 0 && !evidence.let_go && !evidence.is_answered(reading.us) {
        // The attacker is in the air: the board looks as if it had captured already.
        return None;
    }
    price += unseen;
    let aside = reading.touched & seen.occupied & !candidate.squares & !candidate.passed;
    for square in aside {
        price += cost::OTHER_TOUCHED;
        let rights = position.castles().castling_rights();
        let carried = match candidate.mv.role() {
            Role::King => rights.contains(square) && evidence.carried_meanwhile(candidate, square),
            Role::Rook => {
                rights.contains(candidate.from)
                    && position.our(Role::King).contains(square)
                    && evidence.carried_before(candidate, square)
            }
            _ => false,
        };
        if carried {
            price += cost::OTHER_CARRIED;
        }
    }
    if let Some(men) = &seen.men {
        price += wrong_men(position, candidate, men)?;
    }
    let mut mishaps = u32::from(unseen > cost::MISSED_CAPTURE);
    // The next player castles already: both of his men are in the air, and that is one thing.
    let castling = castling_in_hand(position, differs & !seen.occupied);
    let mut next_in_hand = 0;
    let mut taken = 0;
    // The next player has a man in one hand and takes another with the other.
    let mut next_to_take = (differs & position.them() & !candidate.victim & !seen.occupied).any();
    if reading.paid.contains(candidate.from) && !seen.occupied.contains(candidate.from) {
        price += cost::FROM_UNSEEN;
    }
    // The king of a castling has come, its rook still stands or is in the hand.
    let rook_late = half_castled(candidate, differs, evidence);
    if rook_late.any() {
        price += cost::HALF_CASTLED;
        mishaps += 1;
    } else if never_exchanged(position, candidate, evidence) {
        return None;
    } else if castled_unseen(position, candidate, reading.touched | hidden, seen) {
        // Two men that change places are seen by their lifts, or not at all.
        if matches!(candidate.mv, Move::Castle { king, rook } if trades_places(king, rook, position.turn())) {
            return None;
        }
        // In a gap the lifts of both men were missed.
        if evidence.cause != Cause::Report {
            price += cost::CASTLED_UNSEEN;
            mishaps += 1;
        }
    }
    for square in differs & !rook_late {
        if reading.paid.contains(square) && !candidate.squares.contains(square) {
            price += cost::PAID;
            continue;
        }
        let is_missing = !seen.occupied.contains(square);
        let next = position.them().contains(square) && !candidate.victim.contains(square);
        price += if is_missing && candidate.to.contains(square) {
            // Somebody who presses has let go of his man.
            if !evidence.let_go || evidence.cause == Cause::Report {
                return None;
            }
            mishaps += 1;
            cost::UNSEEN_LANDING
        } else if is_missing && castling.contains(square) {
            0
        } else if is_missing && next {
            next_in_hand += 1;
            cost::NEXT_IN_HAND
        } else if is_missing && next_to_take && !position.our(Role::King).contains(square) {
            next_to_take = false;
            taken = 1;
            cost::VICTIM_IN_HAND
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
    let unseen_landing = (differs & candidate.to & !seen.occupied).any();
    if unseen > cost::MISSED_CAPTURE || unseen_landing || reading.paid.contains(candidate.from) {
        price += strays(reading, candidate, aside, evidence);
    }
    if unseen > cost::MISSED_CAPTURE || unseen_landing {
        price += oddness(position, candidate.mv, evidence.landed);
    }
    // Two mishaps at once explain anything.
    let unseen_man = unseen > cost::MISSED_CAPTURE || unseen_landing;
    let far = mishaps + if unseen_man { 0 } else { taken } > 1 || next_in_hand > 1;
    (!far).then(|| price + in_turn(candidate, evidence))
}

/// What it costs that contacts changed meanwhile that are not beside the way of the man, or that none on its
/// way did.
fn strays(reading: &Reading, candidate: &Candidate, aside: Bitboard, evidence: &Evidence<'_>) -> Cost {
    let since = evidence.before.map_or(MonoTime::ZERO, |ply| ply.placed);
    let strange = |square: &Square| evidence.times.filled[usize::from(*square)] > since;
    let passed = evidence.times.passed & !reading.occupied & !candidate.squares & !evidence.hidden;
    let passed: Bitboard = passed.into_iter().filter(strange).collect();
    let (from, to) = (candidate.from, candidate.mv.to());
    let way = attacks::between(from, to);
    let near = attacks::king_attacks(from) | attacks::king_attacks(to) | way;
    let count = |squares: Bitboard| u32::try_from(squares.count()).unwrap_or(64);
    let lifted = if way.any() && way.is_disjoint(passed) { cost::NOT_SLID } else { 0 };
    count(passed & !near) * cost::STRAY_CONTACT + count(aside & !near) * cost::STRAY_MAN + lifted
}

/// What it costs that a square whose sensor is not believed hides a part of the move; `None` where it
/// hides so much that nothing speaks for the move.
fn masked(
    position: &Chess,
    candidate: &Candidate,
    touched: Bitboard,
    evidence: &Evidence<'_>,
) -> Option<Cost> {
    let hidden = evidence.hidden;
    if candidate.squares.is_disjoint(hidden) {
        return Some(0);
    }
    let left_seen = !hidden.contains(candidate.from);
    // It opened and closed again: what is seen there counts.
    let seen_landing = matches!(evidence.cause, Cause::Place(square) if candidate.to.contains(square));
    if candidate.to.is_subset(hidden) && !seen_landing {
        // The man may as well be in the hand still, until somebody presses or answers.
        let over = match evidence.cause {
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

/// Whether a man of castling would have left a square that was never seen empty, because the other one came
/// there: in Chess960 that looks like a plain move of the other one.
fn castled_unseen(position: &Chess, candidate: &Candidate, left: Bitboard, seen: &Observed) -> bool {
    let (Move::Castle { king, rook }, Some(side)) = (candidate.mv, candidate.mv.castling_side()) else {
        return false;
    };
    let (king_to, rook_to) = castled(side, position.turn());
    let unseen =
        |from: Square, to: Square| from != to && seen.occupied.contains(from) && !left.contains(from);
    seen.men.is_none() && (unseen(king, king_to) || unseen(rook, rook_to))
}

/// The rook of a castling that the next player has begun with both hands, where its king is missing as well.
fn castling_in_hand(position: &Chess, missing: Bitboard) -> Bitboard {
    let king = missing & position.their(Role::King);
    let rooks = missing & position.them() & position.castles().castling_rights();
    if king.any() && !rooks.more_than_one() { rooks } else { Bitboard::EMPTY }
}

/// Castling in which king and rook change places, although one of them stood on its square again when the other
/// left: they were not in the air together and cannot have been exchanged (Guideline II.3). A rook that is slid is
/// read on two squares.
fn never_exchanged(position: &Chess, candidate: &Candidate, evidence: &Evidence<'_>) -> bool {
    let Move::Castle { king, rook } = candidate.mv else { return false };
    if evidence.seen.men.is_some() || !trades_places(king, rook, position.turn()) {
        return false;
    }
    let left = |square: Square| evidence.times.left[usize::from(square)];
    let filled = |square: Square| evidence.times.filled[usize::from(square)];
    let back = |first: Square, second: Square| {
        left(first) < filled(first) && left(second).since(filled(first)) > cost::SLID_US
    };
    back(king, rook) || back(rook, king)
}

/// Whether castling leaves all squares as they were.
fn trades_places(king: Square, rook: Square, by: Color) -> bool {
    castled(CastlingSide::from_king_side(king < rook), by) == (rook, king)
}

/// The squares of the rook in which the board differs from castling while only the king has moved: the rook
/// still stands or, where the mover has pressed, is in the hand.
fn half_castled(candidate: &Candidate, differs: Bitboard, evidence: &Evidence<'_>) -> Bitboard {
    let Move::Castle { king, rook } = candidate.mv else { return Bitboard::EMPTY };
    let color = if king.rank() == Rank::First { Color::White } else { Color::Black };
    let (king_to, rook_to) = castled(CastlingSide::from_king_side(king < rook), color);
    let occupied = evidence.seen.occupied;
    let stands = occupied.contains(king_to) && !occupied.contains(king);
    if !stands || king == king_to || king_to == rook {
        return Bitboard::EMPTY;
    }
    let late = differs & Bitboard::from_square(rook).with(rook_to);
    let in_hand = matches!(evidence.cause, Cause::Press(_)) && !occupied.contains(rook);
    if late.count() == 2 || (in_hand && late.contains(rook_to)) { late } else { Bitboard::EMPTY }
}

/// The price of a man that is captured although its square was never seen empty.
pub(super) fn unseen_capture(candidate: &Candidate, touched: Bitboard, evidence: &Evidence<'_>) -> Cost {
    let Some(victim) = candidate.victim.first() else { return 0 };
    let at = |times: &[MonoTime; 64], square: Square| times.get(usize::from(square)).copied();
    // Put back before the attacker had left: it was adjusted and not captured.
    let put_back = !candidate.mv.is_promotion()
        && evidence.seen.occupied.contains(victim)
        && !evidence.hidden.contains(victim)
        && at(&evidence.times.left, candidate.from)
            .zip(at(&evidence.times.filled, victim))
            .is_some_and(|(left, filled)| left.since(filled) > cost::TWO_SQUARES_US);
    if touched.contains(victim) && !put_back {
        return 0;
    }
    if evidence.cause == Cause::Report && at(&evidence.times.left, candidate.from) == Some(evidence.now) {
        // Nobody read the board when the attacker left.
        return cost::MISSED_CAPTURE;
    }
    // A contact that opened for less than the debounce time says something.
    let dipped = evidence.times.dipped.get(usize::from(victim)).copied().unwrap_or_default();
    if dipped > evidence.before.map_or(MonoTime::ZERO, |ply| ply.placed) {
        cost::DIPPED_CAPTURE
    } else {
        cost::UNSEEN_CAPTURE
    }
}

/// The price of what hands do not do: squares filled before the man had left its own, a reply before
/// the move, a reply to a move that was not pressed.
pub(super) fn in_turn(candidate: &Candidate, evidence: &Evidence<'_>) -> Cost {
    let unpressed = evidence.clocked && evidence.before.is_some_and(|ply| ply.pressed.is_none());
    let unpressed = if unpressed { cost::UNPRESSED } else { 0 };
    let early = if reply_too_early(candidate, evidence) { evidence.too_early } else { 0 };
    unpressed + early + wrong_order(candidate, evidence)
}

/// The price of squares that were filled before the man that stands there left its own.
fn wrong_order(candidate: &Candidate, evidence: &Evidence<'_>) -> Cost {
    let (left, filled) = (&evidence.times.left, &evidence.times.filled);
    let late = |from: Square, to: Square| {
        let believed = !evidence.hidden.contains(from) && !evidence.hidden.contains(to);
        let free =
            believed && evidence.seen.occupied.contains(to) && !candidate.victim.contains(to) && from != to;
        let both = left[usize::from(from)].since(filled[usize::from(to)]);
        if !free || both <= cost::SLID_US {
            0
        } else if both <= cost::TWO_SQUARES_US {
            cost::ODD_ORDER
        } else {
            cost::WRONG_ORDER
        }
    };
    let pairs = match candidate.mv {
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            let color = if king.rank() == Rank::First { Color::White } else { Color::Black };
            let (king_to, rook_to) = castled(side, color);
            // Where one man comes to the other's square, the order of the two says nothing.
            [(king, king_to), (rook, rook_to)]
                .map(|(from, to)| if to != king && to != rook { late(from, to) } else { 0 })
        }
        // A promoted piece may stand before the pawn is taken off.
        other if other.is_promotion() => [0, 0],
        other => [late(candidate.from, other.to()), 0],
    };
    pairs.into_iter().sum()
}

/// Whether a reply stood before the man that it replies to had left its square.
fn reply_too_early(candidate: &Candidate, evidence: &Evidence<'_>) -> bool {
    let Some(from) = evidence.before.and_then(|ply| ply.mv.from()) else { return false };
    let seen = candidate.to & evidence.seen.occupied & !candidate.victim & !evidence.hidden;
    let stood = seen.into_iter().map(|to| evidence.times.filled[usize::from(to)]).max();
    if evidence.hidden.contains(from) {
        return false;
    }
    let left = evidence.times.left[usize::from(from)];
    stood.is_some_and(|stood| stood < left)
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
