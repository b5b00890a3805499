//! The tracker: a bounded set of readings of the board.
//!
//! A reading is a game that would explain what the sensors showed. Every event lets each reading
//! stay as it is or play one more move that the board now shows, fully or but for one square; time,
//! presses and later moves make the wrong ones expensive. What all readings share is firm.

mod candidate;
mod cost;
mod expand;
mod promotion;
mod reading;

use shakmaty::{Bitboard, Chess, Color, Position as _, Square};

pub(super) use self::{
    candidate::castled,
    cost::{CLOSE, OVERTAKE, PATIENCE},
    reading::{Observed, Ply, Reading},
};
use super::time::MonoTime;

/// No more readings than this are kept, whatever the input.
const MAX_READINGS: usize = 32;
/// No reading keeps more undecided plies than this: the oldest become firm with the best one.
const MAX_TAIL: usize = 48;

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

/// The set of readings.
#[derive(Clone, Debug)]
pub(super) struct Tracker {
    start: Chess,
    firm: Vec<Ply>,
    readings: Vec<Reading>,
    seen: Observed,
    last: MonoTime,
    /// Microseconds charged since the last event.
    charged: u64,
    identity: bool,
    loosened: u32,
    /// When each square was last left and last filled.
    left: [MonoTime; 64],
    filled: [MonoTime; 64],
}

impl Tracker {
    /// A tracker in front of `position`, on which the board shows `seen`.
    pub(super) fn new(position: Chess, seen: Observed) -> Tracker {
        Tracker {
            readings: vec![Reading::start(position.clone())],
            start: position,
            firm: Vec::new(),
            identity: seen.men.is_some(),
            seen,
            last: MonoTime::ZERO,
            charged: 0,
            loosened: 0,
            left: [MonoTime::ZERO; 64],
            filled: [MonoTime::ZERO; 64],
        }
    }

    /// What the board shows.
    pub(super) fn seen(&self) -> &Observed {
        &self.seen
    }

    /// Lets time pass over the readings up to `now`; `free` time costs none of them anything.
    pub(super) fn pass_time(&mut self, now: MonoTime, free: bool) {
        let us = now.since(self.last).min(cost::TIME_CAP_US - self.charged);
        self.last = self.last.max(now);
        self.charged += us;
        if us > 0 && !free {
            for reading in &mut self.readings {
                reading.pass_time(&self.seen, us);
            }
        }
    }

    /// A man left `square`.
    pub(super) fn lift(&mut self, square: Square, at: MonoTime) {
        self.seen.occupied.discard(square);
        self.left[usize::from(square)] = at;
        if let Some(men) = &mut self.seen.men {
            men.discard_piece_at(square);
        }
        self.note_lift(square);
        self.look(Cause::Lift(square), at);
    }

    /// A man came to `square`; `piece` where the board tells which.
    pub(super) fn place(&mut self, square: Square, piece: Option<shakmaty::Piece>, at: MonoTime) {
        self.seen.occupied.add(square);
        self.filled[usize::from(square)] = at;
        if let (Some(men), Some(piece)) = (&mut self.seen.men, piece) {
            men.set_piece_at(square, piece);
        }
        self.look(Cause::Place(square), at);
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
            self.left[usize::from(square)] = at;
            self.filled[usize::from(square)] = at;
        }
        self.seen = seen;
        if changed.any() {
            for reading in &mut self.readings {
                reading.touched.add(lifted);
            }
            self.look(Cause::Report, at);
        }
        changed
    }

    /// `side` pressed the clock.
    pub(super) fn press(&mut self, side: Color, at: MonoTime) {
        // A move that this press shows is pressed by it.
        self.charged = 0;
        if !self.expects_press(side) {
            self.expand(Cause::Press(side), at);
        }
        for reading in &mut self.readings {
            if reading.turn() == side {
                reading.cost = reading.cost.saturating_add(cost::PRESS_WITHOUT_MOVE);
                if reading.differs(&self.seen).any() {
                    reading.early_press = Some(at);
                }
            } else {
                reading.early_press = None;
                if let Some(ply) = reading.tail.last_mut()
                    && ply.pressed.is_none()
                {
                    ply.pressed = Some(at);
                    // What the mover touched is over; what the next player holds is still empty.
                    reading.touched = reading.touched.without(self.seen.occupied);
                }
            }
        }
        self.settle();
    }

    /// True when the best reading is in order and waits for just this press: it explains itself.
    fn expects_press(&self, side: Color) -> bool {
        self.best().is_some_and(|best| {
            best.turn() != side
                && best.tail.last().is_some_and(|ply| ply.pressed.is_none())
                && best.differs(&self.seen).is_empty()
        })
    }

    /// The last ply of the best reading was no move: kings that go to the centre signal a result.
    pub(super) fn forget_last_ply(&mut self) {
        if let Some(kept) = self.best().and_then(|best| best.without_last(&self.seen, 0)) {
            self.readings = vec![kept];
        }
    }

    fn note_lift(&mut self, square: Square) {
        let mut retracted = Vec::new();
        for reading in &mut self.readings {
            let own = reading.position.us().contains(square);
            let last_to =
                reading.tail.last().is_some_and(|ply| landed(&reading.position, ply).contains(square));
            if last_to {
                retracted.extend(reading.retracted(&self.seen, cost::RETRACT));
            } else if reading.position.them().contains(square) {
                retracted.extend(reading.retracted(&self.seen, cost::RETRACT_BY_OTHER));
            }
            reading.touched.add(square);
            if let (true, Some(ply)) = (own, reading.tail.last_mut()) {
                ply.answered = true;
            }
        }
        self.readings.append(&mut retracted);
    }

    fn look(&mut self, cause: Cause, at: MonoTime) {
        self.charged = 0;
        self.expand(cause, at);
        self.settle();
    }

    fn settle(&mut self) {
        for reading in &mut self.readings {
            if reading.early_press.is_some() && reading.differs(&self.seen).is_empty() {
                reading.early_press = None;
            }
        }
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
            let (front, rest) = self.readings.split_at_mut(index);
            let Some(reading) = rest.first_mut() else { break };
            if reading.cost > limit || kept == MAX_READINGS {
                break;
            }
            reading.cost -= best;
            if let Some(other) = front.iter_mut().take(kept).find(|other| same_game(other, reading)) {
                other.touched |= reading.touched;
                continue;
            }
            if kept < index {
                self.readings.swap(kept, index);
            }
            kept += 1;
        }
        self.readings.truncate(kept);
    }

    /// Moves the plies that all readings share to the firm ones. The last ply of a reading stays
    /// with it, so that it can be taken back.
    fn commit(&mut self) {
        loop {
            let Some(first) = self.readings.first().and_then(|best| best.tail.first()).copied() else {
                return;
            };
            let shared = self.readings.iter().all(|reading| {
                reading.tail.len() >= 2 && reading.tail.first().map(|ply| ply.mv) == Some(first.mv)
            });
            let forced = self.readings.iter().any(|reading| reading.tail.len() > MAX_TAIL);
            if forced && !shared {
                self.readings.retain(|reading| reading.tail.first().map(|ply| ply.mv) == Some(first.mv));
            } else if !shared {
                return;
            }
            self.firm.push(first);
            for reading in &mut self.readings {
                reading.tail.drain(..1);
            }
        }
    }

    /// The readings, the cheapest first.
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

    /// Ply `index` of a reading, counted from 0 at the first event.
    pub(super) fn ply<'a>(&'a self, reading: &'a Reading, index: usize) -> Option<&'a Ply> {
        match index.checked_sub(self.firm.len()) {
            None => self.firm.get(index),
            Some(in_tail) => reading.tail.get(in_tail),
        }
    }

    /// True when the side to move has no legal move after this reading.
    pub(super) fn is_end(&self, reading: &Reading) -> bool {
        reading.legal(self.identity).is_empty()
    }

    /// How many plies a reading has.
    pub(super) fn len(&self, reading: &Reading) -> usize {
        self.firm.len() + reading.tail.len()
    }

    /// The reading that explains the board best at this moment.
    pub(super) fn best(&self) -> Option<&Reading> {
        self.readings.iter().min_by_key(|reading| reading.weight(&self.seen))
    }
}

impl Tracker {
    /// True when another reading is so close that time may put it ahead.
    pub(super) fn has_rival(&self, best: &Reading) -> bool {
        let limit = best.weight(&self.seen).saturating_add(CLOSE);
        self.readings.iter().any(|other| !std::ptr::eq(other, best) && other.weight(&self.seen) < limit)
    }
}

/// Squares on which the men of a ply stand after it.
fn landed(after: &Chess, ply: &Ply) -> Bitboard {
    match ply.mv.castling_side() {
        Some(side) => {
            let (king, rook) = castled(side, !after.turn());
            Bitboard::from_square(king).with(rook)
        }
        None => Bitboard::from_square(ply.mv.to()),
    }
}

fn same_game(a: &Reading, b: &Reading) -> bool {
    a.tail.len() == b.tail.len() && a.tail.iter().rev().zip(b.tail.iter().rev()).all(|(x, y)| x.mv == y.mv)
}
