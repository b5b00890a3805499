//! How readings grow: moves that the board now shows, fully or but for one square, and, where no
//! reading explains the board, two plies at once.

use shakmaty::{Bitboard, CastlingSide, Color, Move, Position as _, Rank, Role, Square};

use super::{
    Cause, Tracker,
    candidate::{Candidate, castled},
    cost::{self, Cost},
    reading::{Observed, Reading},
};
use crate::session::time::MonoTime;

/// How many of the best readings are tried for two plies at once.
const DEEP: usize = 4;

impl Tracker {
    pub(super) fn expand(&mut self, cause: Cause, at: MonoTime) {
        let mut grown = Vec::new();
        for index in 0..self.readings.len() {
            self.one_ply(index, cause, at, &mut grown);
        }
        self.readings.append(&mut grown);
        if self.unexplained(cause) || self.promoted_in_the_air(cause) {
            self.revive_promotions(cause, at);
        }
        if self.unexplained(cause) {
            self.two_plies(cause, at);
        }
    }

    /// True when in every good reading a man whose role is only assumed has left its square, and
    /// something was placed or pressed since: its capture leaves no man too many.
    fn promoted_in_the_air(&self, cause: Cause) -> bool {
        let in_the_air =
            |reading: &Reading| reading.promoted.iter().any(|man| !self.seen.occupied.contains(man.square));
        let best = self.readings.iter().map(|reading| reading.cost).min().unwrap_or(0);
        let limit = best.saturating_add(cost::CLOSE);
        !matches!(cause, Cause::Lift(_))
            && self.readings.iter().all(|reading| reading.cost > limit || in_the_air(reading))
    }

    /// True when no good reading explains what stands on the board, or that a player pressed.
    fn unexplained(&self, cause: Cause) -> bool {
        if matches!(cause, Cause::Lift(_)) {
            return false;
        }
        let explains = |reading: &Reading| {
            let differs = reading.differs(&self.seen);
            let extra = differs & self.seen.occupied;
            match cause {
                // Somebody who presses has moved.
                Cause::Press(side) => extra.is_empty() && reading.turn() != side,
                Cause::Report => differs.is_empty(),
                Cause::Lift(_) | Cause::Place(_) => extra.is_empty(),
            }
        };
        let best = self.readings.iter().map(|reading| reading.cost).min().unwrap_or(0);
        let limit = best.saturating_add(cost::PATIENCE);
        !self.readings.iter().any(|reading| reading.cost <= limit && explains(reading))
    }

    pub(super) fn one_ply(&self, index: usize, cause: Cause, at: MonoTime, grown: &mut Vec<Reading>) {
        let seen = &self.seen;
        let Some(reading) = self.readings.get(index) else { return };
        let board_differs = reading.differs(seen);
        let in_order = board_differs.is_empty();
        let touched = reading.touched;
        // One man in the air and nothing else: no move is on the board yet.
        if matches!(cause, Cause::Lift(_))
            && board_differs.count() == 1
            && board_differs.is_disjoint(seen.occupied)
        {
            return;
        }
        if in_order && (touched & reading.position.our(Role::King)).is_empty() {
            return;
        }
        let limit = self.readings.iter().map(|reading| reading.cost).min().unwrap_or(0) + cost::TOO_DEAR;
        for legal in reading.legal(self.identity) {
            let differs = legal.after ^ seen.occupied;
            if differs.count() > 1 {
                continue;
            }
            let candidate = &Candidate::new(&reading.position, legal.mv);
            // Only castling in Chess960 can leave the occupancy as it was.
            let nothing_new = (candidate.squares & touched).is_empty() || candidate.victim.any();
            if in_order && (differs.any() || nothing_new) {
                continue;
            }
            let Some(fit) = fit(&reading.position, candidate, differs, touched, cause, seen) else {
                continue;
            };
            let extra = fit + wrong_order(candidate, &self.left, &self.filled, seen);
            let price = reading.cost.saturating_add(extra);
            if price > limit || self.knows_child(reading, candidate, price) {
                continue;
            }
            let number = self.firm.len() + reading.tail.len();
            let mut child = reading.play(candidate, extra, at, seen, number);
            mark_reported(&mut child, 1, cause);
            grown.push(child);
        }
    }

    /// True when the reading with that one more move is there already and not dearer.
    fn knows_child(&self, reading: &Reading, candidate: &Candidate, price: Cost) -> bool {
        self.readings.iter().any(|other| {
            other.cost <= price
                && other.tail.len() == reading.tail.len() + 1
                && other.tail.last().map(|ply| ply.mv) == Some(candidate.mv)
                && other.tail.iter().zip(&reading.tail).all(|(a, b)| a.mv == b.mv)
        })
    }

    /// Two plies that lead exactly to what the board shows.
    fn two_plies(&mut self, cause: Cause, at: MonoTime) {
        let report = cause == Cause::Report;
        let mut grown = Vec::new();
        let identity = self.identity;
        for reading in self.readings.iter().take(DEEP) {
            let number = self.firm.len() + reading.tail.len();
            let moved = reading.touched | (reading.occupied() & !self.seen.occupied);
            let firsts = reading
                .legal(identity)
                .iter()
                .filter(|first| (first.after ^ self.seen.occupied).count() <= 6)
                .map(|first| Candidate::new(&reading.position, first.mv))
                .filter(|first| report || moved.contains(first.from));
            for first in firsts {
                let middle = reading.play(
                    &first,
                    cost::MOVE + unseen(&first, reading.touched),
                    at,
                    &self.seen,
                    number,
                );
                for second in middle.legal(identity) {
                    if second.after != self.seen.occupied {
                        continue;
                    }
                    let second = Candidate::new(&middle.position, second.mv);
                    if !report && !moved.contains(second.from) && !first.to.contains(second.from) {
                        continue;
                    }
                    let extra = cost::MOVE + cost::TWO_PLIES + unseen(&second, moved);
                    let mut both = middle.play(&second, extra, at, &self.seen, number + 1);
                    if both.differs(&self.seen).is_empty() {
                        for ply in both.tail.iter_mut().rev().take(2) {
                            ply.inferred = true;
                        }
                        mark_reported(&mut both, 2, cause);
                        grown.push(both);
                    }
                }
            }
        }
        self.readings.append(&mut grown);
    }
}

fn mark_reported(reading: &mut Reading, plies: usize, cause: Cause) {
    for ply in reading.tail.iter_mut().rev().take(plies) {
        ply.reported = cause == Cause::Report;
    }
}

fn unseen(candidate: &Candidate, touched: Bitboard) -> Cost {
    if candidate.victim.any() && (candidate.victim & touched).is_empty() { cost::UNSEEN_CAPTURE } else { 0 }
}

/// What it costs to say that the board shows this move, given the squares in which it differs from
/// it; `None` when the board does not show it.
fn fit(
    position: &shakmaty::Chess,
    candidate: &Candidate,
    differs: Bitboard,
    touched: Bitboard,
    cause: Cause,
    seen: &Observed,
) -> Option<Cost> {
    let mut price = cost::MOVE;
    if candidate.mv.promotion().is_some_and(|role| role != Role::Queen) {
        price += cost::UNDERPROMOTION;
    }
    let unseen = unseen(candidate, touched);
    if unseen > 0 && cause == Cause::Lift(candidate.from) {
        // The attacker is in the air: the board looks as if it had captured already.
        return None;
    }
    price += unseen;
    let aside = touched & seen.occupied & !candidate.squares & !candidate.passed;
    price += cost::OTHER_TOUCHED * u32::try_from(aside.count()).unwrap_or(0);
    if let Some(men) = &seen.men {
        price += wrong_men(position, candidate, men)?;
    }
    let Some(square) = differs.first() else { return Some(price) };
    let is_missing = !seen.occupied.contains(square);
    let next = position.them().contains(square) && !candidate.victim.contains(square);
    let more = if is_missing {
        if candidate.to.contains(square) {
            let landing_possible = matches!(cause, Cause::Press(side) if side == position.turn())
                && candidate.mv.castling_side().is_none()
                && candidate.victim.is_empty();
            if !landing_possible {
                return None;
            }
            cost::UNSEEN_LANDING
        } else if next {
            cost::NEXT_IN_HAND
        } else if position.board().kings().contains(square) {
            cost::KING_MISSING
        } else {
            cost::OWN_MISSING
        }
    } else if square == candidate.from {
        cost::LATE_RELEASE
    } else if candidate.passed.contains(square) {
        cost::EN_PASSANT_STANDS
    } else if unseen > 0 {
        // Two mishaps at once explain anything.
        return None;
    } else {
        cost::FOREIGN
    };
    Some(price + more)
}

/// The price of squares that were filled before the man that stands there left its own.
fn wrong_order(
    candidate: &Candidate,
    left: &[MonoTime; 64],
    filled: &[MonoTime; 64],
    seen: &Observed,
) -> Cost {
    let late = |from: Square, to: Square| {
        let free = seen.occupied.contains(to) && !candidate.victim.contains(to) && from != to;
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
fn wrong_men(position: &shakmaty::Chess, candidate: &Candidate, men: &shakmaty::Board) -> Option<Cost> {
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
