//! The tracker: a bounded set of readings of the board.
//!
//! A reading is a game that would explain what the sensors showed. Every event lets each reading
//! stay as it is or play one more move that the board now shows, fully or nearly; time, presses and
//! later moves make the wrong ones expensive. What all readings share is firm.

mod cost;
mod expand;
mod fit;
mod moves;
mod promotion;
mod reading;
mod tree;

use shakmaty::{Bitboard, Chess, Color, Position as _, Square};

use self::tree::{NodeId, Tree};
pub(super) use self::{
    cost::{CLOSE, Cost, OVERTAKE, PATIENCE},
    moves::castled,
    reading::{Observed, Reading, ghosts},
    tree::Ply,
};
use super::time::MonoTime;

/// No more readings than this are kept, whatever the input.
const MAX_READINGS: usize = 32;
/// No reading keeps more undecided plies than this: the oldest become firm with the best one.
const MAX_LOOSE: usize = 40;

/// What made the tracker look at the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A man left this square.
    Lift(Square),
    /// A man came to this square.
    Place(Square),
    /// This player pressed the clock.
    Press(Color),
    /// The board reported all its squares.
    Report,
}

/// When each square was last left, last filled, and last seen open for less than the debounce time.
#[derive(Clone, Debug)]
struct Times {
    left: [MonoTime; 64],
    filled: [MonoTime; 64],
    dipped: [MonoTime; 64],
}

/// The set of readings.
#[derive(Clone, Debug)]
pub(super) struct Tracker {
    start: Chess,
    firm: Vec<Ply>,
    tree: Tree,
    /// The game that all readings share.
    root: NodeId,
    readings: Vec<Reading>,
    seen: Observed,
    last: MonoTime,
    /// Microseconds since the last event for which the readings pay.
    charged: u64,
    /// Microseconds since the last event that were paid for already, when a mask changed.
    paid_early: u64,
    /// Time passes and costs nobody anything.
    free: bool,
    identity: bool,
    loosened: u32,
    times: Times,
    /// Squares that were seen filled: their sensors work, or did.
    proven: Bitboard,
    /// Plies, counted from 1, that became firm although the readings did not agree.
    guessed: Vec<usize>,
}

impl Tracker {
    /// A tracker in front of `position`, on which the board shows `seen`.
    pub(super) fn new(position: Chess, seen: Observed) -> Tracker {
        let mut tree = Tree::new(position.clone());
        let root = tree.root(position.clone(), 0, None);
        tree.hold(root);
        tree.hold(root);
        let first = Reading::of(root, tree.node(root), 0, Bitboard::EMPTY, &seen);
        Tracker {
            tree,
            root,
            readings: vec![first],
            start: position,
            firm: Vec::new(),
            identity: seen.men.is_some(),
            proven: seen.occupied,
            guessed: Vec::new(),
            seen,
            last: MonoTime::ZERO,
            charged: 0,
            paid_early: 0,
            free: false,
            loosened: 0,
            times: Times {
                left: [MonoTime::ZERO; 64],
                filled: [MonoTime::ZERO; 64],
                dipped: [MonoTime::ZERO; 64],
            },
        }
    }

    /// What the board shows.
    pub(super) fn seen(&self) -> &Observed {
        &self.seen
    }

    /// Lets time pass over the readings up to `now`; `free` time costs none of them anything.
    pub(super) fn pass_time(&mut self, now: MonoTime, free: bool) {
        let us = now.since(self.last).min(self.time_left());
        self.last = self.last.max(now);
        self.free = free;
        if !free {
            self.charged += us;
        }
    }

    /// Microseconds that still count before the next event.
    fn time_left(&self) -> u64 {
        cost::TIME_CAP_US.saturating_sub(self.charged + self.paid_early)
    }

    /// The same, for what time alone may decide.
    fn time_that_counts(&self) -> u64 {
        if self.free { 0 } else { self.time_left() }
    }

    /// The time up to this event is paid for.
    fn settle_time(&mut self) {
        self.pay_time();
        self.paid_early = 0;
    }

    /// The time up to now is paid for, between two events: what the readings pay for changes.
    fn pay_time(&mut self) {
        self.paid_early += self.charged;
        let us = std::mem::take(&mut self.charged);
        for reading in &mut self.readings {
            reading.cost = reading.cost_after(us);
        }
    }

    /// A man left `square`.
    pub(super) fn lift(&mut self, square: Square, at: MonoTime) {
        self.settle_time();
        self.seen.occupied.discard(square);
        self.times.left[usize::from(square)] = at;
        if let Some(men) = &mut self.seen.men {
            men.discard_piece_at(square);
        }
        self.note_lift(square);
        self.look(Cause::Lift(square), at);
    }

    /// A man came to `square`; `piece` where the board tells which.
    pub(super) fn place(&mut self, square: Square, piece: Option<shakmaty::Piece>, at: MonoTime) {
        self.settle_time();
        self.seen.occupied.add(square);
        self.proven.add(square);
        self.times.filled[usize::from(square)] = at;
        if let (Some(men), Some(piece)) = (&mut self.seen.men, piece) {
            men.set_piece_at(square, piece);
        }
        self.look(Cause::Place(square), at);
    }

    /// The contact of `square` opened for less than the debounce time.
    pub(super) fn dip(&mut self, square: Square, at: MonoTime) {
        self.times.dipped[usize::from(square)] = at;
    }

    /// The board reported all its squares. Returns those that changed.
    pub(super) fn report(&mut self, seen: Observed, at: MonoTime) -> Bitboard {
        let mut changed = self.seen.occupied ^ seen.occupied;
        if let (Some(old), Some(new)) = (&self.seen.men, &seen.men) {
            for square in old.occupied() & new.occupied() {
                if old.piece_at(square) != new.piece_at(square) {
                    changed.add(square);
                }
            }
        }
        self.identity |= seen.men.is_some();
        let lifted = changed & self.seen.occupied;
        for square in changed {
            self.times.left[usize::from(square)] = at;
            self.times.filled[usize::from(square)] = at;
        }
        self.proven |= seen.occupied;
        self.seen = Observed { occupied: seen.occupied, men: seen.men, ..self.seen.clone() };
        let changed = changed & !self.seen.masked;
        if changed.any() {
            self.settle_time();
            for reading in &mut self.readings {
                reading.touched.add(lifted);
            }
            self.look(Cause::Report, at);
        } else {
            self.compare();
        }
        changed
    }

    /// Which squares are not believed, and on which of them only the man.
    pub(super) fn mask(&mut self, masked: Bitboard, misread: Bitboard) {
        self.pay_time();
        self.seen.masked = masked;
        self.seen.misread = misread;
        self.compare();
    }

    /// The diode of a square is shorted, or none is: the board is looked at again.
    pub(super) fn short(&mut self, shorted: Option<Square>, at: MonoTime) {
        self.pay_time();
        self.seen.shorted = shorted;
        if let Some(square) = shorted {
            self.look(Cause::Place(square), at);
        } else {
            self.compare();
        }
    }

    /// A masked square changed: nobody looks at it.
    pub(super) fn change_unseen(&mut self, square: Square, occupied: bool, piece: Option<shakmaty::Piece>) {
        self.seen.occupied.set(square, occupied);
        if let Some(men) = &mut self.seen.men {
            match piece {
                Some(piece) => men.set_piece_at(square, piece),
                None => men.discard_piece_at(square),
            }
        }
    }

    /// `side` pressed the clock.
    pub(super) fn press(&mut self, side: Color, at: MonoTime) {
        self.settle_time();
        // A move that this press shows is pressed by it.
        if !self.expects_press(side) {
            self.expand(Cause::Press(side), at);
        }
        for index in 0..self.readings.len() {
            self.press_reading(index, side, at);
        }
        self.settle();
    }

    fn press_reading(&mut self, index: usize, side: Color, at: MonoTime) {
        let Some(reading) = self.readings.get_mut(index) else { return };
        let node = reading.node;
        if reading.turn != side {
            reading.early_press = None;
            if let Some(ply) = &mut self.tree.node_mut(node).ply
                && node != self.root
                && ply.pressed.is_none()
            {
                ply.pressed = Some(at);
                // What the mover touched is over; what the next player holds is still empty.
                reading.touched = reading.touched.without(self.seen.occupied);
                let squares = ply.mv.from().map_or(Bitboard::EMPTY, Bitboard::from_square);
                let landed =
                    if ply.mv.castling_side().is_none() { squares.with(ply.mv.to()) } else { squares };
                let (left, filled) = (&self.times.left, &self.times.filled);
                let passed = |square: Square| {
                    let (left, filled) = (left[usize::from(square)], filled[usize::from(square)]);
                    filled > MonoTime::ZERO
                        && (cost::BOUNCE_US..cost::PASSING_US).contains(&left.since(filled))
                };
                reading.pay_for_sick(landed, &self.seen, passed);
            }
            return;
        }
        let earlier = self.tree.node(node).parent;
        let unpressed = earlier.filter(|earlier| {
            self.tree.node(*earlier).ply.is_some_and(|ply| ply.pressed.is_none())
                && self.tree.node(node).ply.is_some_and(|ply| ply.pressed.is_none())
        });
        if let Some(earlier) = unpressed {
            // The opponent was quicker than the player's hand on the clock.
            reading.cost = reading.cost.saturating_add(cost::LATE_PRESS);
            if let Some(ply) = &mut self.tree.node_mut(earlier).ply {
                ply.pressed = Some(at);
            }
            if earlier == self.root
                && let Some(ply) = self.firm.last_mut()
            {
                ply.pressed = Some(at);
            }
            return;
        }
        reading.cost = reading.cost.saturating_add(cost::PRESS_WITHOUT_MOVE);
        if reading.differs.any() {
            reading.early_press = Some(at);
        }
    }

    /// True when the best reading is in order and waits for just this press: it explains itself.
    fn expects_press(&self, side: Color) -> bool {
        self.best().is_some_and(|best| {
            best.turn != side
                && self.loose_ply(best).is_some_and(|ply| ply.pressed.is_none())
                && best.differs.is_empty()
        })
    }

    /// The last ply of the best reading was no move: kings that go to the centre signal a result.
    pub(super) fn forget_last_ply(&mut self) {
        let Some(best) = self.best().copied() else { return };
        let Some(kept) = self.without_last(&best, 0) else { return };
        self.tree.hold(kept.node);
        for reading in std::mem::replace(&mut self.readings, vec![kept]) {
            self.tree.release(reading.node);
        }
    }

    fn note_lift(&mut self, square: Square) {
        for index in 0..self.readings.len() {
            let Some(reading) = self.readings.get_mut(index) else { return };
            reading.touched.add(square);
            let reading = *reading;
            let own = reading.us.contains(square);
            let node = self.tree.node(reading.node);
            let price = if node.landed.contains(square) {
                Some(cost::RETRACT)
            } else if !own && reading.occupied.contains(square) {
                Some(cost::RETRACT_BY_OTHER)
            } else {
                None
            };
            if let Some(price) = price
                && self.loose_ply(&reading).is_some_and(|ply| ply.pressed.is_none() && !ply.answered)
                && let Some(back) = self.without_last(&reading, price)
            {
                self.tree.hold(back.node);
                self.readings.push(back);
            }
            if own
                && reading.node != self.root
                && let Some(ply) = &mut self.tree.node_mut(reading.node).ply
            {
                ply.answered = true;
            }
        }
    }

    /// The same reading without its last ply.
    fn without_last(&self, reading: &Reading, price: Cost) -> Option<Reading> {
        if reading.node == self.root {
            return None;
        }
        let node = self.tree.node(reading.node);
        let parent = node.parent?;
        let before = self.tree.node(parent);
        let squares = moves::Candidate::new(&before.position, node.ply?.mv).squares;
        let touched = squares | (before.position.board().occupied() & !self.seen.occupied);
        Some(Reading::of(parent, before, reading.cost.saturating_add(price), touched, &self.seen))
    }

    fn compare(&mut self) {
        for reading in &mut self.readings {
            reading.compare(self.tree.node(reading.node), &self.seen);
        }
    }

    fn look(&mut self, cause: Cause, at: MonoTime) {
        self.compare();
        self.expand(cause, at);
        self.settle();
    }

    fn settle(&mut self) {
        self.prune();
        self.commit();
    }

    /// Gives up the readings that cost too much, doubles, and all but the best where there are too
    /// many.
    fn prune(&mut self) {
        if !self.readings.is_sorted_by_key(|reading| reading.cost) {
            self.readings.sort_by_key(|reading| reading.cost);
        }
        let best = self.readings.first().map_or(0, |reading| reading.cost);
        let limit = best.saturating_add(cost::GIVE_UP);
        let mut kept = 0;
        for index in 0..self.readings.len() {
            let Some(reading) = self.readings.get(index).copied() else { break };
            let (front, _) = self.readings.split_at_mut(kept);
            let double = front.iter_mut().find(|other| other.node == reading.node);
            let stays = match double {
                Some(other) => {
                    other.touched |= reading.touched;
                    false
                }
                None => reading.cost <= limit && kept < MAX_READINGS,
            };
            if !stays {
                self.tree.release(reading.node);
                continue;
            }
            if let Some(place) = self.readings.get_mut(kept) {
                *place = reading;
                place.cost -= best;
            }
            kept += 1;
        }
        self.readings.truncate(kept);
    }

    /// Moves the plies that all readings share to the firm ones. The last ply of a reading stays
    /// with it, so that it can be taken back.
    fn commit(&mut self) {
        loop {
            let next = self.tree.node(self.root).plies + 1;
            let Some(best) = self.readings.first() else { return };
            let Some(first) = self.tree.ancestor(best.node, next) else { return };
            let through = |tree: &Tree, reading: &Reading| tree.ancestor(reading.node, next) == Some(first);
            let shared =
                self.readings.iter().all(|reading| reading.node != first && through(&self.tree, reading));
            let forced =
                self.readings.iter().any(|reading| self.tree.node(reading.node).plies >= next + MAX_LOOSE);
            if forced && !shared {
                let limit = best.cost.saturating_add(PATIENCE);
                let open = |reading: &Reading| reading.cost < limit && !through(&self.tree, reading);
                if self.readings.iter().any(open) {
                    self.guessed.push(next);
                }
                let tree = &mut self.tree;
                self.readings.retain(|reading| {
                    let stays = tree.ancestor(reading.node, next) == Some(first);
                    if !stays {
                        tree.release(reading.node);
                    }
                    stays
                });
            } else if !shared {
                return;
            }
            let Some(ply) = self.tree.node(first).ply else { return };
            self.firm.push(ply);
            self.tree.hold(first);
            self.tree.cut(first);
            self.tree.release(self.root);
            self.tree.forget_legal(first);
            self.root = first;
        }
    }

    /// The readings, the cheapest at the last event first.
    pub(super) fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// How often firm plies were taken back, because a promoted piece was read again.
    pub(super) fn loosened(&self) -> u32 {
        self.loosened
    }

    /// The plies that all readings share.
    pub(super) fn firm(&self) -> &[Ply] {
        &self.firm
    }

    /// Plies, counted from 1, that became firm although the readings did not agree.
    pub(super) fn guessed(&self) -> &[usize] {
        &self.guessed
    }

    /// The position after a reading.
    pub(super) fn position(&self, reading: &Reading) -> &Chess {
        &self.tree.node(reading.node).position
    }

    /// Ply `index` of a reading, counted from 0 at the first event.
    pub(super) fn ply(&self, reading: &Reading, index: usize) -> Option<&Ply> {
        if index < self.firm.len() {
            return self.firm.get(index);
        }
        let node = self.tree.ancestor(reading.node, index + 1)?;
        self.tree.node(node).ply.as_ref()
    }

    /// The last ply of a reading, as far as it is not firm.
    pub(super) fn loose_ply(&self, reading: &Reading) -> Option<&Ply> {
        if reading.node == self.root { None } else { self.tree.node(reading.node).ply.as_ref() }
    }

    /// True when the role of a promoted man of this reading is only assumed.
    pub(super) fn assumes_roles(&self, reading: &Reading) -> bool {
        !self.identity && !self.tree.node(reading.node).promoted.is_empty()
    }

    /// True when the side to move has no legal move after this reading.
    pub(super) fn is_end(&self, reading: &Reading) -> bool {
        self.tree.node(reading.node).legal(self.identity).is_empty()
    }

    /// How many plies a reading has.
    pub(super) fn len(&self, reading: &Reading) -> usize {
        self.tree.node(reading.node).plies
    }

    /// What a reading costs now.
    pub(super) fn cost(&self, reading: &Reading) -> Cost {
        reading.cost_after(self.charged)
    }

    /// What a reading costs now, with what the board contradicts at this moment.
    pub(super) fn weight(&self, reading: &Reading) -> Cost {
        self.cost(reading).saturating_add(reading.now(&self.seen))
    }

    /// The reading that explains the board best at this moment.
    pub(super) fn best(&self) -> Option<&Reading> {
        self.readings.iter().min_by_key(|reading| self.weight(reading))
    }

    /// When time alone puts another reading ahead of the best one.
    pub(super) fn overtaken(&self, best: &Reading) -> Option<MonoTime> {
        if best.rate == 0 {
            return None;
        }
        let left = self.time_that_counts();
        let own = self.weight(best);
        let slower = self.readings.iter().filter(|other| other.rate < best.rate);
        let due = slower.map(|other| {
            let gap = u64::from(self.weight(other).saturating_sub(own)) + 1;
            (gap * 1_000_000).div_ceil(u64::from(best.rate - other.rate)) + 1_000
        });
        due.filter(|us| *us <= left).min().map(|us| self.last.plus_micros(us))
    }

    /// When the lead of a reading over another one reaches, by the passing of time, the next of the
    /// margins that decide something; nothing changes before.
    pub(super) fn next_margin(&self, reading: &Reading) -> Option<MonoTime> {
        let left = self.time_that_counts();
        let mut soonest: Option<u64> = None;
        for other in &self.readings {
            if other.rate <= reading.rate {
                continue;
            }
            let rate = u64::from(other.rate - reading.rate);
            let by_cost = (self.cost(other), self.cost(reading));
            let by_weight = (self.weight(other), self.weight(reading));
            for (other, own) in [by_cost, by_weight] {
                for margin in [0, OVERTAKE, CLOSE, PATIENCE] {
                    let due = own.saturating_add(margin);
                    if other < due {
                        let us = (u64::from(due - other) * 1_000_000).div_ceil(rate) + 1_000;
                        if us <= left && soonest.is_none_or(|earlier| us < earlier) {
                            soonest = Some(us);
                        }
                    }
                }
            }
        }
        soonest.map(|us| self.last.plus_micros(us))
    }
}
