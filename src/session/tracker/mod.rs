//! The tracker: a bounded set of readings of the board.
//!
//! A reading is a game that would explain what the sensors showed. Every event lets each reading
//! stay as it is or play one more move that the board now shows, fully or nearly; time, presses and
//! later moves make the wrong ones expensive. What all readings share is firm.

pub(super) mod asked;
mod cost;
mod expand;
mod fit;
mod legal;
mod moves;
mod plausible;
mod promotion;
mod reading;
mod resume;
mod tree;

use std::cell::Cell;

use shakmaty::{Bitboard, Chess, Color, Position as _, Role, Square};

pub(super) use self::{
    cost::{CLOSE, Cost, OVERTAKE, PATIENCE, SCAN_LAG_US},
    legal::has_legal_move,
    moves::castled,
    reading::{Observed, Reading, ghosts},
    tree::Ply,
};
use self::{
    expand::Growth,
    tree::{NodeId, Tree},
};
use super::{time::MonoTime, view::Effort};

/// No more readings than this are kept, whatever the input.
const MAX_READINGS: usize = 64;
/// No reading keeps more undecided plies than this: the oldest become firm with the best one.
const MAX_LOOSE: usize = 120;
/// A reading that differs from the best one by so old a ply and is not close to it is given up.
const OLD: usize = 12;
/// No more games than this are held, whatever the input.
const MAX_GAMES: usize = 800;

/// So many presses in a row say no more than fewer.
const CLOCKED: u8 = 8;

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

impl Times {
    /// What it costs that these men of the player who presses are missing: nobody presses with a man
    /// in the hand.
    fn in_hand_at_press(&self, missing: Bitboard, slider: bool, passing_us: u64) -> Cost {
        let price = |square: Square| {
            let rested = self.left[usize::from(square)].since(self.filled[usize::from(square)]);
            match (rested < passing_us, slider) {
                (false, _) => cost::TAKEN_AT_PRESS,
                (true, false) => cost::IN_HAND_AT_PRESS,
                (true, true) => cost::PASSED_AT_PRESS,
            }
        };
        missing.into_iter().map(price).sum()
    }
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
    /// Which of them is the best at this moment, once somebody has asked.
    best: Cell<Option<usize>>,
    seen: Observed,
    last: MonoTime,
    /// Microseconds since the last event for which the readings pay.
    charged: u64,
    /// Microseconds since the last event that were paid for already, when a mask changed.
    paid_early: u64,
    /// Time passes and costs nobody anything.
    free: bool,
    identity: bool,
    /// How much speaks for players who press: presses less firm plies without one, 0 to 8.
    clocked: u8,
    loosened: u32,
    /// Plies, counted from 1, that became firm although readings did not agree on them.
    forced: Vec<usize>,
    times: Times,
    /// Presses over a board in order since its last change, White's and Black's: what a report shows then
    /// was pressed already.
    stray: [Option<MonoTime>; 2],
    /// Room for the moves that an event lets readings play, empty between two events.
    grown: Vec<Growth>,
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
            best: Cell::new(None),
            start: position,
            firm: Vec::new(),
            identity: seen.men.is_some(),
            seen,
            last: MonoTime::ZERO,
            charged: 0,
            paid_early: 0,
            free: false,
            clocked: 0,
            loosened: 0,
            forced: Vec::new(),
            stray: [None; 2],
            grown: Vec::new(),
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
        if !free && us > 0 {
            self.charged += us;
            self.best.set(None);
        }
    }

    /// Microseconds that still count before the next event.
    fn time_left(&self) -> u64 {
        cost::TIME_CAP_US.saturating_sub(self.charged + self.paid_early)
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
        self.best.set(None);
        for reading in &mut self.readings {
            reading.cost = reading.cost_after(us);
        }
    }

    /// A man left `square`.
    pub(super) fn lift(&mut self, square: Square, at: MonoTime) {
        self.settle_time();
        self.stray = [None; 2];
        self.seen.occupied.discard(square);
        self.times.left[usize::from(square)] = at;
        if let Some(men) = &mut self.seen.men {
            men.discard_piece_at(square);
        }
        self.note_lift(square, at);
        self.look(Cause::Lift(square), at);
    }

    /// A man came to `square`; `piece` where the board tells which.
    pub(super) fn place(&mut self, square: Square, piece: Option<shakmaty::Piece>, at: MonoTime) {
        self.settle_time();
        self.stray = [None; 2];
        self.seen.occupied.add(square);
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
        self.seen = Observed { occupied: seen.occupied, men: seen.men, ..self.seen.clone() };
        let changed = changed & !self.seen.masked;
        if changed.any() {
            self.settle_time();
            for reading in &mut self.readings {
                reading.touched.add(lifted);
            }
            self.look(Cause::Report, at);
            self.stray = [None; 2];
        } else {
            self.compare();
            self.best.set(None);
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
        self.best.set(None);
        self.clocked = (self.clocked + 1).min(CLOCKED);
        // A move that this press shows is pressed by it.
        if !self.expects_press(side) {
            self.expand(Cause::Press(side), at);
        }
        if let Some(press) = self.stray.get_mut(side.fold_wb(0usize, 1)) {
            *press = Some(at);
        }
        for index in 0..self.readings.len() {
            self.press_reading(index, side, at);
        }
        self.settle();
    }

    fn press_reading(&mut self, index: usize, side: Color, at: MonoTime) {
        let passing_us = self.passing_us();
        let Some(reading) = self.readings.get_mut(index) else { return };
        let node = reading.node;
        if reading.turn != side {
            reading.early_press = None;
            // Nobody presses with a man in the hand.
            let missing = reading.differs & reading.occupied & !reading.us & !reading.paid;
            let slider = self.tree.node(node).ply.is_some_and(|ply| {
                matches!(ply.mv.role(), Role::Bishop | Role::Rook | Role::Queen | Role::Pawn)
            });
            let missing = missing & !self.seen.occupied;
            if missing.any() {
                let price = self.times.in_hand_at_press(missing, slider, passing_us);
                reading.cost = reading.cost.saturating_add(price);
                reading.pay(reading.paid | missing, &self.seen);
            }
            let landed = self.tree.node(node).landed & !reading.paid;
            let misread = reading.differs & landed & reading.occupied & self.seen.occupied;
            if misread.any() {
                let men = u32::try_from(misread.count()).unwrap_or(64);
                reading.cost = reading.cost.saturating_add(men * cost::MISREAD_MAN);
                reading.pay(reading.paid | misread, &self.seen);
            }
            let ply = self.tree.node_mut(node).ply.as_mut();
            if ply.as_ref().is_some_and(|ply| ply.pressed.is_some_and(|earlier| earlier < at)) {
                reading.cost = reading.cost.saturating_add(cost::PRESSED_TWICE);
            }
            if let Some(ply) = ply
                && node != self.root
                && ply.pressed.is_none()
            {
                ply.pressed = Some(at);
                // What the mover touched is over; what the next player holds is still empty.
                reading.touched = reading.touched.without(self.seen.occupied);
            }
            return;
        }
        let earlier = self.tree.node(node).parent;
        let unpressed = earlier.filter(|earlier| {
            self.tree.node(*earlier).ply.is_some_and(|ply| ply.pressed.is_none_or(|pressed| pressed == at))
                && self.tree.node(node).ply.is_some_and(|ply| ply.pressed.is_none())
        });
        if let Some(earlier) = unpressed {
            // The opponent was quicker than the player's hand on the clock.
            let missing = reading.differs & reading.us & !reading.paid;
            let price = self.times.in_hand_at_press(missing & !self.seen.occupied, false, passing_us);
            reading.cost = reading.cost.saturating_add(price);
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

    /// When a side pressed the clock over a board in order, if that was the last thing to happen.
    fn stray_press(&self, side: Color) -> Option<MonoTime> {
        let [white, black] = self.stray;
        side.fold_wb(white, black)
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
        self.best.set(None);
        for reading in std::mem::replace(&mut self.readings, vec![kept]) {
            self.tree.release(reading.node);
        }
    }

    /// A man on its way fills a square for less than this: a scan sees it on one square.
    fn passing_us(&self) -> u64 {
        if self.identity { cost::SCAN_LAG_US } else { cost::PASSING_US }
    }

    /// Whether the last ply of a reading may be taken back by the lift of a man at `at`: nobody has
    /// pressed or answered, or the press came before a scan had told where the man went.
    fn may_retract(&self, reading: &Reading, at: MonoTime) -> bool {
        let in_scan = |pressed| self.identity && at.since(pressed) <= cost::SCAN_LAG_US;
        self.loose_ply(reading).is_some_and(|ply| !ply.answered && ply.pressed.is_none_or(in_scan))
    }

    fn note_lift(&mut self, square: Square, at: MonoTime) {
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
                && self.may_retract(&reading, at)
                && let Some(back) = self.without_last(&reading, price)
            {
                self.add(back);
            }
            if own
                && reading.node != self.root
                && let Some(ply) = &mut self.tree.node_mut(reading.node).ply
            {
                let early = !ply.answered && ply.pressed.is_none() && self.clocked > 0;
                ply.answered = true;
                if early && let Some(reading) = self.readings.get_mut(index) {
                    reading.cost = reading.cost.saturating_add(cost::TOUCHED_EARLY);
                }
            }
        }
    }

    /// Adds a reading; of two that tell the same game the cheaper one stays.
    fn add(&mut self, reading: Reading) {
        let Some(other) = self.readings.iter_mut().find(|other| other.node == reading.node) else {
            self.tree.hold(reading.node);
            self.readings.push(reading);
            return;
        };
        let touched = other.touched | reading.touched;
        if reading.cost < other.cost {
            *other = reading;
        }
        other.touched = touched;
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
        let touched = squares | self.seen.empty(before.position.board().occupied());
        let pressed = node.ply?.pressed;
        let price = if pressed.is_some() { price + cost::RETRACT_PRESSED } else { price };
        let mut back = Reading::of(parent, before, reading.cost.saturating_add(price), touched, &self.seen);
        back.early_press = pressed;
        Some(back)
    }

    fn compare(&mut self) {
        self.best.set(None);
        for reading in &mut self.readings {
            reading.compare(self.tree.node(reading.node), &self.seen);
        }
    }

    fn look(&mut self, cause: Cause, at: MonoTime) {
        for reading in &mut self.readings {
            let owed = reading.paid.any();
            reading.compare(self.tree.node(reading.node), &self.seen);
            // The rook of a castling, the pawn taken en passant came last.
            if owed
                && reading.paid.is_empty()
                && let Some(ply) = &mut self.tree.node_mut(reading.node).ply
                && (ply.mv.is_castle() || ply.mv.is_en_passant())
            {
                ply.placed = at;
            }
        }
        self.expand(cause, at);
        self.settle();
    }

    fn settle(&mut self) {
        self.best.set(None);
        self.prune();
        self.commit();
    }

    /// Gives up the readings that cost too much, and all but the best where there are too many.
    fn prune(&mut self) {
        if let [only] = self.readings.as_mut_slice() {
            only.cost = 0;
            return;
        }
        if !self.readings.is_sorted_by_key(|reading| reading.cost) {
            self.readings.sort_by_key(|reading| reading.cost);
        }
        let best = self.readings.first().map_or(0, |reading| reading.cost);
        let calm = self.readings.first().is_some_and(|best| (best.differs & !best.us).is_empty());
        let limit = best.saturating_add(if calm { cost::GIVE_UP_CALM } else { cost::GIVE_UP });
        let stay =
            self.readings.iter().take(MAX_READINGS).take_while(|reading| reading.cost <= limit).count();
        if stay < self.readings.len() {
            for reading in self.readings.drain(stay..) {
                self.tree.release(reading.node);
            }
        }
        if best > 0 {
            self.readings.iter_mut().for_each(|reading| reading.cost -= best);
        }
    }

    /// Moves the plies that all readings share to the firm ones. The last ply of a reading stays
    /// with it, so that it can be taken back.
    fn commit(&mut self) {
        loop {
            let next = self.tree.node(self.root).plies + 1;
            let Some(best) = self.readings.first() else { return };
            let (node, loose) = (best.node, best.plies.saturating_sub(next));
            if best.plies < next {
                return;
            }
            // Every game is held by a reading that ends in it or goes on from it.
            let shared = |tracker: &Tracker| {
                tracker.readings.iter().all(|reading| reading.plies > next)
                    && tracker.tree.goes_one_way(tracker.root)
            };
            let shared_now = shared(self);
            let forced = loose >= MAX_LOOSE || self.tree.held() > MAX_GAMES;
            // So long ago that only the close ones are worth keeping.
            let limit = if forced { 0 } else { best.cost.saturating_add(PATIENCE) };
            if !shared_now && !forced {
                let all_close = || self.readings.iter().all(|reading| reading.cost < limit);
                if loose < OLD || all_close() {
                    return;
                }
            }
            let Some(first) = self.tree.branch(node, self.root) else { return };
            if !shared_now {
                if self.drop_others(first, limit) && forced {
                    self.forced.push(next);
                }
                if !forced && !shared(self) {
                    return;
                }
            }
            let Some(ply) = self.tree.node(first).ply else { return };
            self.firm.push(ply);
            if ply.pressed.is_none() {
                self.clocked = self.clocked.saturating_sub(1);
            }
            self.tree.hold(first);
            self.tree.cut(first);
            self.tree.release(self.root);
            self.root = first;
        }
    }

    /// Gives up the readings that do not begin with the ply `first`, nor with another one that a reading
    /// cheaper than `limit` begins with. True when one of them was close to the best.
    fn drop_others(&mut self, first: NodeId, limit: Cost) -> bool {
        let best = self.readings.first().map_or(0, |best| best.cost);
        let cheap = self.readings.iter().take_while(|reading| reading.cost < limit);
        let mut kept: Vec<Option<NodeId>> = vec![Some(first)];
        kept.extend(cheap.map(|reading| self.tree.branch(reading.node, self.root)));
        kept.dedup();
        let (tree, root) = (&mut self.tree, self.root);
        let mut close = false;
        self.readings.retain(|reading| {
            let stays = kept.contains(&tree.branch(reading.node, root));
            if !stays {
                close |= reading.cost < best.saturating_add(PATIENCE);
                tree.release(reading.node);
            }
            stays
        });
        close
    }

    /// True where players press, as a rule.
    pub(super) fn is_clocked(&self) -> bool {
        self.clocked > 0
    }

    /// Those of `squares` that were filled after `since`.
    pub(super) fn filled_after(&self, squares: Bitboard, since: MonoTime) -> Bitboard {
        squares.into_iter().filter(|square| self.times.filled[usize::from(*square)] > since).collect()
    }

    /// The readings, the cheapest at the last event first.
    pub(super) fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// How much is kept in mind.
    pub(super) fn effort(&self) -> Effort {
        let loose = |reading| self.len(reading).saturating_sub(self.firm.len());
        Effort {
            readings: self.readings.len(),
            loose_plies: self.readings.iter().map(loose).sum(),
            games: self.tree.held(),
        }
    }

    /// How often firm plies were taken back, because a promoted piece was read again.
    pub(super) fn loosened(&self) -> u32 {
        self.loosened
    }

    /// Plies, counted from 1, that became firm although readings did not agree on them.
    pub(super) fn forced(&self) -> &[usize] {
        &self.forced
    }

    /// The plies that all readings share.
    pub(super) fn firm(&self) -> &[Ply] {
        &self.firm
    }

    /// The position after a reading.
    pub(super) fn position(&self, reading: &Reading) -> &Chess {
        &self.tree.node(reading.node).position
    }

    /// The position after so many plies of a reading, as far as they are not firm.
    pub(super) fn position_after(&self, reading: &Reading, plies: usize) -> Option<&Chess> {
        self.tree.ancestor(reading.node, plies).map(|node| &self.tree.node(node).position)
    }

    /// Ply `index` of a reading, counted from 0 at the first event.
    pub(super) fn ply(&self, reading: &Reading, index: usize) -> Option<&Ply> {
        if index + 1 == reading.plies && reading.node != self.root {
            return self.tree.node(reading.node).ply.as_ref();
        }
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
        self.tree.node(reading.node).is_end()
    }

    /// Names the game of the first `plies` plies of a reading: no other game has the same name.
    pub(super) fn game(&self, reading: &Reading, plies: usize) -> u64 {
        self.tree.ancestor(reading.node, plies).map_or(0, |node| self.tree.node(node).name)
    }

    /// True when a reading is the game of this name.
    pub(super) fn is_game(&self, reading: &Reading, game: u64) -> bool {
        self.tree.node(reading.node).name == game
    }

    /// True when a reading is the game of this name or has one ply more; false may mean that it has
    /// still more.
    pub(super) fn begins_with(&self, reading: &Reading, game: u64) -> bool {
        let node = self.tree.node(reading.node);
        node.name == game || node.parent.is_some_and(|parent| self.tree.node(parent).name == game)
    }

    /// The first ply from `from` on, and before `to`, in which a reading is not the game of these moves
    /// and names; `to` where there is none.
    pub(super) fn first_other(
        &self,
        reading: &Reading,
        (from, to): (usize, usize),
        game: impl Fn(usize) -> Option<(shakmaty::Move, u64)>,
    ) -> usize {
        let same = |index: usize, ply: &Ply| game(index).is_some_and(|(mv, _)| mv == ply.mv);
        let firm = self.firm.len();
        for (index, ply) in self.firm.iter().enumerate().take(to).skip(from) {
            if !same(index, ply) {
                return index;
            }
        }
        // What is loose is looked at from its end, down to where the games are known to be one.
        let mut first = to.max(from);
        let mut at = if from.max(firm) < to { self.tree.ancestor(reading.node, to) } else { None };
        for index in (from.max(firm)..to).rev() {
            let Some(node) = at.map(|at| self.tree.node(at)) else { break };
            if game(index).is_some_and(|(_, name)| name == node.name) {
                break;
            }
            if !node.ply.is_some_and(|ply| same(index, &ply)) {
                first = index;
            }
            at = node.parent;
        }
        first
    }

    /// How many plies a reading has.
    pub(super) fn len(&self, reading: &Reading) -> usize {
        reading.plies
    }

    /// What a reading costs now.
    pub(super) fn cost(&self, reading: &Reading) -> Cost {
        reading.cost_after(self.charged)
    }

    /// What a reading costs now, with what the board contradicts at this moment.
    pub(super) fn weight(&self, reading: &Reading) -> Cost {
        self.cost(reading).saturating_add(reading.now)
    }

    /// The reading that explains the board best at this moment.
    #[inline]
    pub(super) fn best(&self) -> Option<&Reading> {
        match self.best.get() {
            Some(index) => self.readings.get(index),
            None => self.find_best(),
        }
    }

    fn find_best(&self) -> Option<&Reading> {
        let mut least = u64::MAX;
        if self.readings.len() > 1 {
            // The first of those that weigh least.
            for (at, reading) in (0..).zip(&self.readings) {
                least = least.min((u64::from(self.weight(reading)) << 32) | at);
            }
        }
        let index = if least == u64::MAX { 0 } else { usize::try_from(least & 0xffff_ffff).unwrap_or(0) };
        self.best.set(Some(index));
        self.readings.get(index)
    }

    /// The plies of a reading that are not firm.
    pub(super) fn loose(&self, reading: &Reading) -> Vec<Ply> {
        (self.firm.len()..self.len(reading)).filter_map(|index| self.ply(reading, index)).copied().collect()
    }

    /// When the passing of time next decides something between this reading, the best, and another
    /// one: when the other overtakes it, and when its lead reaches one of the margins, of the costs
    /// and of the weights. Nothing changes before.
    pub(super) fn next_margin(&self, best: &Reading, costs: &[Cost], weights: &[Cost]) -> Option<MonoTime> {
        if self.readings.len() < 2 || self.free {
            return None;
        }
        let left = self.time_left();
        let mut soonest = left + 1;
        let (own_cost, own_weight) = (self.cost(best), self.weight(best));
        let mut cross = |behind: Cost, ahead: Cost, rate: u32| {
            if behind < ahead {
                let us = (u64::from(ahead - behind) * 1_000_000).div_ceil(u64::from(rate)) + 1_000;
                soonest = soonest.min(us);
            }
        };
        for other in self.readings.iter().filter(|other| other.rate != best.rate) {
            if other.rate < best.rate {
                cross(own_weight, self.weight(other).saturating_add(1), best.rate - other.rate);
                continue;
            }
            let rate = other.rate - best.rate;
            for margin in costs {
                cross(self.cost(other), own_cost.saturating_add(*margin), rate);
            }
            for margin in weights {
                cross(self.weight(other), own_weight.saturating_add(*margin), rate);
            }
        }
        (soonest <= left).then(|| self.last.plus_micros(soonest))
    }
}
