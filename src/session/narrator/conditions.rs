//! When a move counts as made and when it may be published.

use shakmaty::{Bitboard, Chess, Move, Position as _, Rank, Role, Square, attacks};

use super::{Narrator, Now, held::fits_as_well, is_last, ply_of};
use crate::session::{
    time::MonoTime,
    tracker::{CLOSE, Cost, HALF, OVERTAKE, PATIENCE, Ply, Reading, SCAN_LAG_US, Tracker, castled, chance},
};

/// The four squares on which kings signal a result.
pub(super) const CENTRE: Bitboard = Bitboard::from_square(Square::D4)
    .with_const(Bitboard::from_square(Square::E4))
    .with_const(Bitboard::from_square(Square::D5))
    .with_const(Bitboard::from_square(Square::E5));

impl Narrator {
    /// Whether the last ply of a reading is made: it rests, or was pressed, or answered, or ends
    /// the game, and no other move explains the board as well.
    pub(super) fn is_made(&mut self, tracker: &Tracker, reading: &Reading, ply: &Ply, now: Now) -> bool {
        let seen = tracker.seen();
        let differs = reading.differs;
        let next_to_move = reading.us;
        // Men of the mover in the air, or men where none should be: the hand is still at work.
        let at_work = (differs & !next_to_move).any() && ply.pressed.is_none() && !ply.answered;
        // A square that the mover left may be stuck; anything else that stands is in the way.
        let stands = differs & seen.occupied & !ply.mv.from().map_or(Bitboard::EMPTY, Bitboard::from_square);
        if at_work || (stands.any() && (!ply.answered || ply.mv.is_castle())) {
            return false;
        }
        // Nobody has castled who presses with the rook in his hand (Article 4.7.2).
        let rook_to = ply.mv.castling_side().map(|side| castled(side, !reading.turn).1);
        if rook_to.is_some_and(|square| differs.contains(square)) && !self.closing {
            return false;
        }
        let rivals = if self.closing { Vec::new() } else { self.rivals(tracker, reading, ply) };
        if rivals.len() > 1 {
            self.ambiguous = rivals;
            return false;
        }
        self.candidate = Some(ply.mv);
        // What was finished after the press has to rest as any other.
        let pressed = ply.pressed.is_some() && !self.was_pressed_over(ply.mv);
        let decided = pressed || ply.answered || self.stopping;
        if ply.inferred && !decided && differs.any() {
            return false;
        }
        // Men that were knocked over are put up one by one: nothing of that is a move.
        let knocked = self.displaced.any();
        let rested = ply.reported || !knocked && now.at >= ply.placed.plus_ms(self.settings.release_dwell_ms);
        let made = decided || rested || self.ends(tracker, reading);
        if made {
            self.candidate = None;
        }
        made
    }

    /// Whether no reading that is nearly as good has another move at ply `index`, which is not the last.
    pub(super) fn is_agreed(&mut self, tracker: &Tracker, reading: &Reading, index: usize) -> bool {
        let limit = tracker.weight(reading).saturating_add(OVERTAKE);
        let mut moves: Vec<Move> = Vec::new();
        for other in tracker.readings() {
            if tracker.weight(other) >= limit {
                continue;
            }
            let Some(ply) = tracker.ply(other, index) else { continue };
            if !moves.iter().any(|mv| same_but_promotion(*mv, ply.mv)) {
                moves.push(ply.mv);
            }
        }
        if moves.len() < 2 || self.closing {
            return true;
        }
        self.ambiguous = moves.into_iter().map(|mv| self.uci(mv)).collect();
        false
    }

    /// The two plies from `index` on, when they were found at once and nobody saw them one by one: all
    /// pairs that explain the board nearly as well, joined by a space.
    pub(super) fn pairs(&self, tracker: &Tracker, reading: &Reading, index: usize) -> Vec<String> {
        let pair = |reading: &Reading| match (tracker.ply(reading, index), tracker.ply(reading, index + 1)) {
            (Some(a), Some(b)) if a.inferred && b.inferred && a.placed == b.placed => {
                Some(format!("{} {}", self.uci(a.mv), self.uci(b.mv)))
            }
            _ => None,
        };
        if tracker.len(reading) != index + 2 || pair(reading).is_none() {
            return Vec::new();
        }
        let limit = tracker.weight(reading).saturating_add(CLOSE);
        let mut pairs: Vec<String> = Vec::new();
        for other in tracker.readings() {
            let close = tracker.weight(other) <= limit && tracker.len(other) == tracker.len(reading);
            if let Some(found) = pair(other).filter(|found| close && !pairs.contains(found)) {
                pairs.push(found);
            }
        }
        pairs
    }

    /// The moves that explain the board nearly as well as the last ply of `reading`, it included.
    fn rivals(&self, tracker: &Tracker, reading: &Reading, own: &Ply) -> Vec<String> {
        if tracker.readings().len() < 2 {
            return Vec::new();
        }
        let seen = tracker.seen();
        let limit = tracker.weight(reading).saturating_add(CLOSE);
        let index = tracker.len(reading).saturating_sub(1);
        let strange = |reading: &Reading| reading.differs & !reading.paid() & seen.occupied;
        let own_strange = strange(reading);
        let close = |other: &&Reading| {
            strange(other).is_subset(own_strange)
                && tracker.weight(other) < limit
                && tracker.len(other) == tracker.len(reading)
                && fits_as_well(tracker, other, reading, index)
        };
        let plies = || tracker.readings().iter().filter(close).filter_map(|other| tracker.ply(other, index));
        if plies().all(|ply| same_but_promotion(ply.mv, own.mv)) {
            return Vec::new();
        }
        self.different(plies())
    }

    /// Whether the man of the last told ply may still go on in the same motion: a longer slide, a
    /// pawn's second step, the first half of castling, a king on its way to the centre.
    pub(super) fn may_go_on(&self, ply: &Ply, now: Now) -> bool {
        if ply.pressed.is_some() || ply.answered || now.at >= ply.placed.plus_ms(self.settings.extend_ms) {
            return false;
        }
        self.told.last().is_some_and(|told| told.mv == ply.mv && told.goes_on)
    }

    /// A board that is read in scans may show a man on its way while the clock was pressed already;
    /// a hand that slides a man rests for two such times at most.
    fn awaits_scan(&self, ply: &Ply, now: Now) -> bool {
        self.identity
            && !ply.answered
            && ply.pressed.is_some_and(|pressed| {
                now.at < pressed.plus_micros(SCAN_LAG_US) && pressed < ply.placed.plus_micros(2 * SCAN_LAG_US)
            })
            && self.told.last().is_some_and(|told| told.mv == ply.mv && told.goes_on)
    }

    /// Where players press, a move that is not pressed may still be taken back: a while longer.
    fn awaits_press(&self, tracker: &Tracker, reading: &Reading, ply: &Ply, now: Now) -> bool {
        tracker.is_clocked()
            && ply.pressed.is_none()
            && !ply.answered
            && !ply.reported
            && !self.ends(tracker, reading)
            && now.at < ply.placed.plus_ms(self.settings.await_press_ms)
    }

    pub(super) fn may_publish(&self, tracker: &Tracker, reading: &Reading, index: usize, now: Now) -> bool {
        let Some(told) = self.told.get(index) else { return false };
        if let Some(ply) = ply_of(tracker, reading, index) {
            let last = is_last(tracker, reading, index);
            if last
                && (self.may_go_on(ply, now)
                    || self.awaits_press(tracker, reading, ply, now)
                    || self.awaits_scan(ply, now))
            {
                return false;
            }
        }
        if index < tracker.firm().len() {
            return true;
        }
        // What the board shows at this very moment is no reason yet: only what it cost so far.
        let own = tracker.cost(reading);
        let stands = self.stands(reading, tracker, index, now);
        let against = tracker.readings().iter().filter(|other| {
            !(stands && only_in_the_air(other, tracker)
                || tracker.ply(other, index).is_some_and(|ply| same_but_promotion(ply.mv, told.mv)))
        });
        // Many that are each unlikely are together as likely as one that is less so.
        against.map(|other| chance(tracker.cost(other).saturating_sub(own))).sum::<u32>() <= chance(PATIENCE)
    }

    /// Whether the move stands on a board that is in order and has stood for so long that nobody
    /// holds its man in the air; a move that ends the game need only rest.
    fn stands(&self, reading: &Reading, tracker: &Tracker, index: usize, now: Now) -> bool {
        let in_order = reading.differs.is_empty();
        if !in_order {
            return false;
        }
        let ms = if self.ends(tracker, reading) {
            self.settings.release_dwell_ms
        } else {
            self.settings.extend_ms
        };
        let ply = ply_of(tracker, reading, index);
        ply.is_some_and(|ply| !ply.inferred && now.at >= ply.placed.plus_ms(ms))
    }

    /// Whether the game ends with this reading: by mate, stalemate, or because nobody has men to mate with.
    fn ends(&self, tracker: &Tracker, reading: &Reading) -> bool {
        tracker.is_end(reading) || self.is_dead(tracker.position(reading))
    }

    /// Plans the next look.
    pub(super) fn schedule(&mut self, tracker: &Tracker, now: MonoTime) {
        self.deadline = None;
        if self.is_over() {
            return;
        }
        let unpublished = self.published < self.told.len();
        let undecided = self.candidate.is_some() || !self.ambiguous.is_empty() || self.unsettled;
        let mut soonest: Option<MonoTime> = None;
        let mut plan = |at: MonoTime| {
            if at > now && soonest.is_none_or(|earlier| at < earlier) {
                soonest = Some(at);
            }
        };
        // Time that passes over a contradicted reading is evidence.
        // All others are far enough behind when each is by so many halvings as there are doublings of them.
        let others = tracker.readings().len().saturating_sub(1).max(1);
        let together = PATIENCE + HALF * others.next_power_of_two().trailing_zeros();
        let costs: &[Cost] = match (unpublished, others) {
            (false, _) => &[],
            (true, 1) => &[PATIENCE],
            (true, _) => &[PATIENCE, together],
        };
        let weights: &[Cost] = if undecided { &[OVERTAKE, CLOSE] } else { &[] };
        if let Some(at) = tracker.best().and_then(|best| tracker.next_margin(best, costs, weights)) {
            plan(at);
        }
        // A move that ends the game need only rest.
        if undecided || unpublished && tracker.best().is_some_and(|best| self.ends(tracker, best)) {
            plan(self.last_event.plus_ms(self.settings.release_dwell_ms));
        }
        if unpublished || undecided {
            plan(self.last_event.plus_ms(self.settings.extend_ms));
        }
        if unpublished {
            plan(self.last_event.plus_ms(self.settings.await_press_ms));
            if self.identity {
                plan(self.last_event.plus_micros(SCAN_LAG_US));
            }
        }
        if let Some(at) = self.ending.due() {
            plan(at);
        }
        if let Some(at) = self.missing_due() {
            plan(at);
        }
        self.deadline = soonest;
    }
}

/// True when this reading only says that the man is still in the player's hand.
pub(super) fn only_in_the_air(other: &Reading, tracker: &Tracker) -> bool {
    let seen = tracker.seen();
    let differs = other.differs;
    (differs & seen.occupied).is_empty() && differs.is_subset(other.us)
}

/// The same men go the same way; which piece a pawn became, and so which piece moves or is taken, may
/// still be open.
pub(super) fn same_but_promotion(a: Move, b: Move) -> bool {
    let squares = |mv: Move| match mv {
        Move::Normal { from, to, .. } => Some((from, to)),
        _ => None,
    };
    a == b || (squares(a).is_some() && squares(a) == squares(b))
}

/// Whether `mv` could be the beginning of another legal move by the same man; `legal` gives the legal
/// moves of `before`.
pub(super) fn goes_on<'a>(before: &Chess, legal: impl Fn() -> &'a [Move], mv: Move) -> bool {
    let Move::Normal { role, from, capture, to, .. } = mv else { return false };
    let longer = || {
        // Only squares behind the one that was reached, seen from where the man came.
        let behind = attacks::ray(from, to) & !attacks::between(from, to);
        let possible = role == Role::Pawn || (before.board().attacks_from(from) & behind).count() > 1;
        if !possible || !before.is_check() {
            // Who may come so far may go on, unless he only came between.
            return possible && (role != Role::Pawn || may_step_on(before, from, to));
        }
        legal()
            .iter()
            .any(|other| other.from() == Some(from) && attacks::between(from, other.to()).contains(to))
    };
    match role {
        Role::Knight => false,
        Role::Pawn => capture.is_none() && from.rank() == second_rank(before) && longer(),
        Role::King => CENTRE.contains(to) || (capture.is_none() && may_castle(before, &legal, from, to)),
        Role::Rook => capture.is_none() && (may_castle(before, &legal, from, to) || longer()),
        Role::Bishop | Role::Queen => capture.is_none() && longer(),
    }
}

/// Whether the square in front of a pawn that stepped from its first rank is free.
fn may_step_on(before: &Chess, from: Square, to: Square) -> bool {
    let ahead = i32::from(to) - i32::from(from);
    ahead.abs() == 8 && to.offset(ahead).is_some_and(|next| !before.board().occupied().contains(next))
}

fn second_rank(before: &Chess) -> Rank {
    before.turn().fold_wb(Rank::Second, Rank::Seventh)
}

fn may_castle<'a>(before: &Chess, legal: impl Fn() -> &'a [Move], from: Square, to: Square) -> bool {
    before.castles().has_color(before.turn())
        && legal().iter().any(|other| begins_castling(before, *other, from, to))
}

fn begins_castling(before: &Chess, other: Move, from: Square, to: Square) -> bool {
    let Move::Castle { king, rook } = other else { return false };
    let Some(side) = other.castling_side() else { return false };
    let (king_to, rook_to) = castled(side, before.turn());
    let king_passes = from == king && (to == king_to || attacks::between(king, king_to).contains(to));
    let rook_passes = from == rook && to == rook_to;
    king_passes || rook_passes
}
