//! How readings grow: moves that the board now shows, fully or nearly, and, where no reading explains
//! the board, two plies at once.

use shakmaty::{Bitboard, Chess, Move, MoveList, Position as _, Role};

use super::{
    Cause, Tracker,
    cost::{self, Cost},
    fit::{Evidence, fit, in_turn, unseen_capture},
    legal::{Asked, Legal, Shelter, legal_moves},
    moves::Candidate,
    plausible::oddness,
    reading::{Observed, Reading},
    tree::{NodeId, Ply},
};
use crate::session::time::MonoTime;

/// How many of the best readings are tried for two plies at once.
const DEEP: usize = 2;
/// More contradictions are not counted.
const MANY: u8 = 4;

/// A move that a reading could have played.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    parent: NodeId,
    mv: Move,
    cost: Cost,
    inferred: bool,
    /// In which squares the board differs from it, at that price.
    paid: Bitboard,
    early_press: Option<MonoTime>,
}

impl Tracker {
    pub(super) fn expand(&mut self, cause: Cause, at: MonoTime) {
        self.one_ply_each(0..self.readings.len(), cause, at);
        if self.unexplained(cause) || self.promoted_in_the_air(cause) {
            self.revive_promotions(cause, at);
        }
        if self.unexplained(cause) {
            self.two_plies(cause, at);
        }
    }

    fn cheapest(&self) -> Cost {
        self.readings.iter().map(|reading| reading.cost).min().unwrap_or(0)
    }

    /// True when in every good reading a man whose role is only assumed has left its square, or was in
    /// the way of a capture, and something was placed or pressed since: a capture leaves no man too
    /// many.
    fn promoted_in_the_air(&self, cause: Cause) -> bool {
        let in_the_air = |reading: &Reading| {
            let node = self.tree.node(reading.node);
            let empty = self.seen.empty(reading.occupied);
            // A man came down on one of the opponent's that no legal move could take.
            let taken = matches!(cause, Cause::Place(square) if reading.occupied.contains(square)
                && !reading.us.contains(square)
                && self.seen.empty(reading.us).any());
            !node.promoted.is_empty() && (taken || node.promoted.iter().any(|man| empty.contains(man.square)))
        };
        let limit = self.cheapest().saturating_add(cost::CLOSE);
        !matches!(cause, Cause::Lift(_))
            && self.readings.iter().all(|reading| reading.cost > limit || in_the_air(reading))
    }

    /// True when no good reading explains what stands on the board, or that a player pressed.
    fn unexplained(&self, cause: Cause) -> bool {
        if matches!(cause, Cause::Lift(_)) {
            return false;
        }
        let explains = |reading: &Reading| {
            let extra = reading.differs & self.seen.occupied & !reading.paid;
            match cause {
                // Somebody who presses has moved.
                Cause::Press(side) => extra.is_empty() && reading.turn != side,
                Cause::Report => reading.differs.is_empty(),
                Cause::Lift(_) | Cause::Place(_) => extra.is_empty(),
            }
        };
        let limit = self.cheapest().saturating_add(cost::PATIENCE);
        !self.readings.iter().any(|reading| reading.cost <= limit && explains(reading))
    }

    /// Lets each of these readings play the moves that the board shows.
    pub(super) fn one_ply_each(&mut self, readings: std::ops::Range<usize>, cause: Cause, at: MonoTime) {
        let limit = self.cheapest().saturating_add(cost::TOO_DEAR);
        let mut grown = std::mem::take(&mut self.grown);
        for reading in self.readings.get(readings).unwrap_or(&[]) {
            self.one_ply(reading, cause, limit, &mut grown);
        }
        for growth in grown.drain(..) {
            self.grow(&growth, cause == Cause::Report, at);
        }
        self.grown = grown;
    }

    fn one_ply(&self, reading: &Reading, cause: Cause, limit: Cost, grown: &mut Vec<Growth>) {
        let seen = &self.seen;
        let in_order = reading.differs.is_empty();
        let behind = reading.cost.saturating_add(cost::TOO_DEAR).saturating_sub(limit);
        let lifted = matches!(cause, Cause::Lift(_));
        // A move that the board shows does not contradict it more than no move does.
        let most = few(reading.differs & !reading.paid);
        if behind.saturating_add(cost::MOVE) > cost::TOO_DEAR
            || ((most == MANY || lifted) && behind > cost::FAR)
        {
            return;
        }
        let most = most.min(3);
        // One man in the air and nothing else: no move is on the board yet.
        if lifted && few(reading.differs) == 1 && !reading.stands_wrong(seen) {
            return;
        }
        let node = self.tree.node(reading.node);
        // Only castling in Chess960 can leave the occupancy as it was.
        let turned = (reading.touched & node.position.our(Role::King)).any();
        // A man whose square is not believed may have captured: only its victim was seen to leave.
        let hidden = reading.hidden(seen);
        let pressed = cause == Cause::Press(reading.turn);
        let hidden_capture = (reading.touched & node.position.them()).any()
            && (pressed || (hidden & node.position.us()).any());
        if in_order && !turned && !hidden_capture {
            return;
        }
        let air = (reading.occupied & !seen.occupied) | hidden;
        let extra = (seen.occupied & !reading.occupied) | hidden;
        let let_go = match cause {
            Cause::Press(side) if side == reading.turn => true,
            Cause::Report => true,
            _ => behind <= cost::CLOSE && reading.early_press.is_some(),
        };
        // A man that has moved left its square or stands on another one; as long as nobody says that it
        // has landed, it is seen there.
        let asked = if hidden_capture && (seen.men.is_some() || seen.shorted.is_some()) {
            Asked::all(self.identity)
        } else {
            // A man that was seen to leave may be the victim of one that was not.
            let victims = reading.touched & node.position.them();
            let to = if hidden_capture { extra | victims } else { extra };
            let mut landing = if let_go { Bitboard::FULL } else { seen.occupied | hidden | reading.paid };
            if let Cause::Lift(square) = cause {
                // Whether the man that was lifted may be on its way out by capture.
                landing.add(square);
            }
            Asked { from: air, landing, to, every_promotion: self.identity }
        };
        let Some(shelter) = node.shelter() else { return };
        let mut moves = MoveList::new();
        legal_moves(&node.position, shelter, asked, &mut moves);
        if moves.is_empty() {
            return;
        }
        let mut evidence = self.evidence(cause, node.ply, node.landed, hidden);
        evidence.let_go = let_go;
        if let Cause::Lift(square) = cause
            && !reading.us.contains(square)
        {
            evidence.answered = Some((square, moves.as_slice()));
        }
        let waiting = node.position.them() & !seen.occupied & !hidden;
        let believed = !seen.masked;
        for mv in &moves {
            let legal = Legal::of(&node.position, reading.occupied, *mv);
            let mut differs = (legal.after ^ seen.occupied) & believed;
            if seen.shorted.is_some() {
                differs &= !seen.hides(legal.after);
            }
            let open = differs & !reading.paid;
            // Nobody says that the man has landed.
            if !evidence.let_go && open.contains(legal.to) && !seen.occupied.contains(legal.to) {
                continue;
            }
            // A square that does not open hides the man that captured from it, until the press.
            let from = legal.mv.from().map_or(Bitboard::EMPTY, Bitboard::from_square);
            let stuck = hidden_capture && pressed && open == from;
            if !at_most(open, most) && !stuck {
                continue;
            }
            let count = few(open);
            if count > 0 && (lifted || count > 1) && (open & waiting).is_empty() {
                let half_castled = count == 2 && legal.mv.is_castle() && !lifted;
                if !half_castled {
                    continue;
                }
            } else if count > 1 {
                // The next player has put his man down already: that is another ply.
                if (open & seen.occupied & !from).any() && !legal.mv.is_en_passant() {
                    continue;
                }
            }
            // A king that an illegal move left to be taken is never taken.
            if legal.mv.capture() == Some(shakmaty::Role::King) || self.tells(reading, legal.mv) {
                continue;
            }
            let candidate = Candidate::new(&node.position, legal.mv);
            let nothing_new = (candidate.squares & reading.touched).is_empty() || candidate.victim.any();
            let captured = hidden_capture && (candidate.victim & reading.touched).any();
            let stuck = stuck && captured;
            let from_blind = captured && hidden.contains(candidate.from) && open.is_empty();
            if in_order && (differs.any() || nothing_new) && !stuck && !from_blind {
                continue;
            }
            let Some(extra) = fit(reading, &node.position, &candidate, differs, &evidence) else { continue };
            // Where the man had landed unseen, the press before was no press without a move.
            let landed_unseen = (differs & candidate.to & !seen.occupied).any();
            let refund =
                if landed_unseen && reading.early_press.is_some() { cost::PRESS_WITHOUT_MOVE } else { 0 };
            let extra = extra + if in_order && stuck { cost::MASKED_CAPTURE } else { 0 };
            let price = reading.cost.saturating_add(extra).saturating_sub(refund);
            if price > limit {
                continue;
            }
            grown.push(Growth {
                parent: reading.node,
                mv: legal.mv,
                cost: price,
                inferred: unseen_capture(&candidate, reading.touched, &evidence) > 0
                    || (candidate.to & !(seen.occupied & !hidden)).any(),
                paid: differs & (reading.paid | !waiting),
                early_press: reading.early_press,
            });
        }
    }

    /// True when another reading tells this game with one more move already, for less than the move
    /// costs at least.
    fn tells(&self, reading: &Reading, mv: Move) -> bool {
        let refund = if reading.early_press.is_some() { cost::PRESS_WITHOUT_MOVE } else { 0 };
        let least = reading.cost.saturating_add(cost::MOVE).saturating_sub(refund);
        self.tree
            .child(reading.node, mv)
            .is_some_and(|child| self.readings.iter().any(|other| other.node == child && other.cost <= least))
    }

    fn evidence(
        &self,
        cause: Cause,
        before: Option<Ply>,
        landed: Bitboard,
        hidden: Bitboard,
    ) -> Evidence<'_> {
        Evidence {
            cause,
            seen: &self.seen,
            times: &self.times,
            before,
            landed,
            answered: None,
            let_go: cause == Cause::Report,
            too_early: cost::REPLY_TOO_EARLY,
            clocked: self.clocked > 0 && cause != Cause::Report,
            now: self.last,
            hidden,
        }
    }

    /// When the mover had pressed, before a report showed the move.
    fn pressed_before(&self, growth: &Growth, reported: bool) -> Option<MonoTime> {
        let mover = || self.tree.node(growth.parent).position.turn();
        if reported { self.stray_press(mover()) } else { None }
    }

    /// Adds a reading that has played one more move, or makes the one that tells that game cheaper.
    fn grow(&mut self, growth: &Growth, reported: bool, at: MonoTime) {
        let ply = Ply {
            mv: growth.mv,
            placed: at,
            pressed: growth.early_press.or_else(|| self.pressed_before(growth, reported)),
            inferred: growth.inferred,
            answered: false,
            reported,
        };
        let node = match self.tree.child(growth.parent, growth.mv) {
            None => self.tree.add(growth.parent, ply),
            Some(known) => {
                if let Some(other) = self.readings.iter_mut().find(|other| other.node == known) {
                    if other.cost <= growth.cost {
                        return;
                    }
                    self.tree.node_mut(known).ply = Some(ply);
                }
                known
            }
        };
        let position = &self.tree.node(node).position;
        let touched = self.seen.empty(position.board().occupied());
        let mut reading = Reading::of(node, self.tree.node(node), growth.cost, touched, &self.seen);
        if growth.paid.any() {
            reading.pay(growth.paid, &self.seen);
        }
        if let Some(other) = self.readings.iter_mut().find(|other| other.node == node) {
            *other = reading;
            return;
        }
        self.tree.hold(node);
        self.readings.push(reading);
    }

    /// Two plies that lead to what the board shows, the first man's landing unseen or not.
    fn two_plies(&mut self, cause: Cause, at: MonoTime) {
        let report = cause == Cause::Report;
        let mut grown = Vec::new();
        for reading in self.readings.iter().take(DEEP) {
            self.two_plies_of(reading, cause, at, &mut grown);
        }
        for (first, second) in grown {
            self.grow(&first, report, at);
            let Some(parent) = self.tree.child(first.parent, first.mv) else { continue };
            self.grow(&Growth { parent, ..second }, report, at);
        }
    }

    fn two_plies_of(&self, reading: &Reading, cause: Cause, at: MonoTime, grown: &mut Vec<(Growth, Growth)>) {
        let report = cause == Cause::Report;
        let seen = &self.seen;
        let node = self.tree.node(reading.node);
        let moved = reading.touched | seen.empty(reading.occupied);
        let them = node.position.them();
        let limit = self.cheapest().saturating_add(cost::TOO_DEAR);
        let hidden = reading.hidden(seen);
        let unseen = |before: &Chess, candidate: &Candidate, touched: Bitboard, landed: Bitboard| {
            if (candidate.victim & !touched & !hidden).is_empty() {
                0
            } else if report && self.times.left[usize::from(candidate.from)] == self.last {
                cost::MISSED_CAPTURE
            } else {
                cost::UNSEEN_CAPTURE + oddness(before, candidate.mv, landed)
            }
        };
        let from = if report { Bitboard::FULL } else { moved };
        let asked = Asked::leaving(from, self.identity);
        let Some(shelter) = node.shelter() else { return };
        let mut moves = MoveList::new();
        legal_moves(&node.position, shelter, asked, &mut moves);
        for first in moves.iter().map(|mv| Legal::of(&node.position, reading.occupied, *mv)) {
            // The second ply can put right at most its own squares, two as a rule.
            let wrong = (first.after ^ seen.occupied) & !(hidden | reading.paid);
            if !at_most(wrong, 5) {
                continue;
            }
            if first.mv.capture() == Some(shakmaty::Role::King) {
                continue;
            }
            let first = Candidate::new(&node.position, first.mv);
            if seen.shorted.is_none() && !at_most(wrong & !first.to, mendable(&node.position, first.mv)) {
                continue;
            }
            if !report && !moved.contains(first.from) {
                continue;
            }
            let first_price = cost::MOVE
                + unseen(&node.position, &first, reading.touched, node.landed)
                + if report {
                    0
                } else {
                    in_turn(&first, &self.evidence(cause, node.ply, node.landed, hidden))
                };
            let placed = Ply {
                mv: first.mv,
                placed: at,
                pressed: None,
                inferred: true,
                answered: false,
                reported: report,
            };
            let reply = Evidence {
                too_early: cost::OUT_OF_TURN,
                ..self.evidence(cause, Some(placed), first.to, hidden)
            };
            let mut middle = node.position.clone();
            middle.play_unchecked(first.mv);
            let middle_occupied = middle.board().occupied();
            let touched = seen.empty(middle_occupied);
            let can_hide = !report && first.mv.castling_side().is_none();
            // It empties the square that it leaves: that one has to read empty, or to say nothing.
            let from = (middle_occupied ^ seen.occupied) | hidden | reading.paid;
            let from = if seen.shorted.is_some() { Bitboard::FULL } else { from };
            let asked = Asked::leaving(from, self.identity);
            let Some(shelter) = Shelter::of(&middle) else { continue };
            let mut replies = MoveList::new();
            legal_moves(&middle, &shelter, asked, &mut replies);
            for second in replies.iter().map(|mv| Legal::of(&middle, middle_occupied, *mv)) {
                let differs = (second.after ^ seen.occupied) & !(seen.hides(second.after) | reading.paid);
                let hidden = can_hide && differs == first.to;
                if differs.any() && !hidden {
                    continue;
                }
                let second = Candidate::new(&middle, second.mv);
                if !report && !moved.contains(second.from) && !first.to.contains(second.from) {
                    continue;
                }
                if hidden && (!them.contains(second.from) || second.to == first.to) {
                    continue;
                }
                let landing = if hidden {
                    cost::UNSEEN_LANDING + oddness(&node.position, first.mv, node.landed)
                } else {
                    0
                };
                let first_cost = reading.cost.saturating_add(first_price + landing);
                // In a gap two plies come as easily as one.
                let together = if report { 0 } else { cost::TWO_PLIES };
                let second_price = cost::MOVE
                    + together
                    + unseen(&middle, &second, moved | touched, first.to)
                    + if report { 0 } else { in_turn(&second, &reply) };
                let cost = first_cost.saturating_add(second_price);
                if cost > limit || !shows_men(&middle, &second, seen) {
                    continue;
                }
                let growth = |parent, mv, cost| Growth {
                    parent,
                    mv,
                    cost,
                    inferred: true,
                    paid: reading.paid | differs,
                    early_press: reading.early_press,
                };
                grown.push((
                    growth(reading.node, first.mv, first_cost),
                    Growth { early_press: None, ..growth(reading.node, second.mv, cost) },
                ));
            }
        }
    }
}

/// How many squares, as far as [`MANY`]. Most processors count no bits by themselves.
fn few(squares: Bitboard) -> u8 {
    let mut left = u64::from(squares);
    let mut count = 0;
    while left != 0 && count < MANY {
        left &= left - 1;
        count += 1;
    }
    count
}

/// How many squares the reply to a move can change: three when it takes the pawn en passant, four when it
/// castles.
fn mendable(position: &Chess, mv: Move) -> u8 {
    if position.castles().has_color(!position.turn()) {
        4
    } else if mv.role() == Role::Pawn {
        3
    } else {
        2
    }
}

fn at_most(squares: Bitboard, most: u8) -> bool {
    let mut left = u64::from(squares);
    for _ in 0..most {
        left &= left.wrapping_sub(1);
    }
    left == 0
}

/// True when the men that the board reads are those after the move, as far as it tells.
fn shows_men(before: &shakmaty::Chess, candidate: &Candidate, seen: &Observed) -> bool {
    if seen.men.is_none() {
        return true;
    }
    let mut after = before.clone();
    after.play_unchecked(candidate.mv);
    seen.wrong_men(after.board()).is_empty()
}
