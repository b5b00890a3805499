//! How likely a move is that nobody saw: where sensors leave several moves open, chess decides. Players
//! recapture, take what is not defended, and seldom leave a man where it is lost; in a game that was not
//! played they seem to do so move after move.

use shakmaty::{Bitboard, Board, Chess, Color, Move, Position as _, Role, Square, attacks};

use super::cost::Cost;

/// Cost of a pawn that is given away, in thousandths of a nat.
const LOST_PAWN: u32 = 300;
/// No loss costs more than this many pawns.
const MOST_PAWNS: u32 = 5;
/// Taking what has just captured costs this much less than another move.
const RECAPTURE: u32 = 2_000;
/// A gain of a pawn costs this much less.
const WON_PAWN: u32 = 300;
/// Cost of a pawn that a move leaves to be taken.
const LEFT_PAWN: u32 = 400;
/// Cost of a pawn that could be taken and is not.
const MISSED_PAWN: u32 = 300;

const fn value(role: Role) -> u32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 20,
    }
}

/// What it costs to say that this move was played unseen; `last` is where the opponent's man landed.
pub(super) fn oddness(position: &Chess, mv: Move, last: Bitboard) -> Cost {
    let Move::Normal { role, from, capture, to, promotion } = mv else { return RECAPTURE };
    let side = position.turn();
    let man = promotion.unwrap_or(role);
    let occupied = position.board().occupied().without(from).with(to);
    let attacked = attackers(position, to, !side, occupied);
    let defended = attackers(position, to, side, occupied.without(to)).without(from).any();
    let taken = capture.map_or(0, value);
    // The cheapest man that can take back, and what it takes.
    let lost = match cheapest(position, attacked) {
        None => 0,
        Some(attacker) if defended => value(man).saturating_sub(value(attacker)),
        Some(_) => value(man),
    };
    let lost = if role == Role::King { 0 } else { lost };
    let balance = RECAPTURE + lost.saturating_sub(taken).min(MOST_PAWNS) * LOST_PAWN;
    let gain = taken.saturating_sub(lost).min(MOST_PAWNS) * WON_PAWN;
    let recapture = if capture.is_some() && last.contains(to) { RECAPTURE } else { 0 };
    balance.saturating_sub(gain).saturating_sub(recapture)
}

/// What it costs to say that this move was played, for what it leaves to be taken and for what it does not take.
pub(super) fn carelessness(before: &Chess, mv: Move, after: &Chess) -> Cost {
    let side = before.turn();
    let taken = mv.capture().map_or(0, value);
    let left = most_lost(after.board(), side).saturating_sub(taken);
    let risked = if mv.is_castle() { 0 } else { lost(after.board(), mv.to(), side) };
    let missed = most_lost(before.board(), !side).saturating_sub(taken.saturating_sub(risked));
    left.min(MOST_PAWNS) * LEFT_PAWN + missed.min(MOST_PAWNS) * MISSED_PAWN
}

/// The most that a player can lose to one capture, in pawns.
fn most_lost(board: &Board, side: Color) -> u32 {
    let men = board.by_color(side) & !board.kings();
    men.into_iter().map(|square| lost(board, square, side)).max().unwrap_or(0)
}

/// What a player loses where the opponent takes on a square, in pawns, the cheapest man first.
fn lost(board: &Board, square: Square, side: Color) -> u32 {
    let occupied = board.occupied();
    let Some(role) = board.role_at(square).filter(|role| *role != Role::King) else { return 0 };
    let attackers = board.attacks_to(square, !side, occupied);
    let by = |role: Role| (attackers & board.by_role(role)).any();
    let Some(attacker) = Role::ALL.into_iter().find(|role| by(*role)) else { return 0 };
    let defended = board.attacks_to(square, side, occupied.without(square)).any();
    match (defended, attacker) {
        (false, _) => value(role),
        (true, Role::King) => 0,
        (true, attacker) => value(role).saturating_sub(value(attacker)),
    }
}

fn attackers(position: &Chess, to: Square, side: Color, occupied: Bitboard) -> Bitboard {
    let board = position.board();
    let men = board.by_color(side) & occupied;
    let straight = attacks::rook_attacks(to, occupied) & (board.rooks() | board.queens());
    let diagonal = attacks::bishop_attacks(to, occupied) & (board.bishops() | board.queens());
    let knights = attacks::knight_attacks(to) & board.knights();
    let pawns = attacks::pawn_attacks(!side, to) & board.pawns();
    let king = attacks::king_attacks(to) & board.kings();
    (straight | diagonal | knights | pawns | king) & men
}

fn cheapest(position: &Chess, men: Bitboard) -> Option<Role> {
    men.into_iter().filter_map(|square| position.board().role_at(square)).min_by_key(|role| value(*role))
}
