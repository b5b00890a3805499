//! The tracker: a bounded set of readings of the board.
//!
//! A reading is a game that would explain what the sensors showed. Every event lets each reading
//! stay as it is or play one more move that the board now shows, fully or nearly; time, presses and
//! later moves make the wrong ones expensive. What all readings share is firm.

mod answers;
pub(super) mod asked;
mod cost;
mod expand;
mod fit;
mod legal;
mod moves;
mod plausible;
mod press;
mod promotion;
mod reading;
mod resume;
mod settle;
mod tree;

use std::cell::Cell;

use shakmaty::{Bitboard, Chess, Color, Position as _, Square};

pub(super) use self::{
    cost::{CLOSE, Cost, HALF, OVERTAKE, PATIENCE, SCAN_LAG_US, chance},
    legal::has_legal_move,
    moves::castled,
    reading::{Observed, Reading, ghosts},
    tree::Ply,
};
use self::{
    expand::Growth,
    tree::{NodeId, Tree},
};
use super::time::MonoTime;

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
    /// Squares that a man filled for no longer than a stop on its way, and left again.
    passed: Bitboard,
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
                passed: Bitboard::EMPTY,
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
        if at.since(self.times.filled[usize::from(square)]) < cost::TIME_CAP_US {
            self.times.passed.add(square);
        }
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
        self.times.passed.discard(square);
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
            if !own && !self.identity && self.clocked > 0 && reading.occupied.contains(square) {
                let board = node.position.board();
                let attackers = board.attacks_to(square, reading.turn, reading.occupied);
                if attackers.is_empty()
                    && let Some(reading) = self.readings.get_mut(index)
                {
                    reading.cost = reading.cost.saturating_add(cost::IDLE_LIFT);
                }
            }
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
}
