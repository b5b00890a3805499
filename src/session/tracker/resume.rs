//! The game goes on from a position that was ruled, not played.

use shakmaty::{Bitboard, Chess, Color, Square};

use super::{Cause, Ply, Reading, Tracker, tree::Tree};
use crate::session::time::MonoTime;

impl Tracker {
    /// A tracker after the plies `firm`, which are beyond doubt and lead from `start` to `position`; what
    /// the board shows and what is known of its players stays.
    pub(in crate::session) fn resume(
        before: &Tracker,
        firm: Vec<Ply>,
        start: Chess,
        position: Chess,
    ) -> Tracker {
        let mut tree = Tree::new(position.clone());
        let root = tree.root(position, firm.len(), firm.last().copied());
        tree.hold(root);
        tree.hold(root);
        let mut first = Reading::of(root, tree.node(root), 0, Bitboard::EMPTY, &before.seen);
        // What contradicts the ruling stands there before anybody could put it right.
        first.pay(first.differs, &before.seen);
        Tracker {
            tree,
            root,
            readings: vec![first],
            start,
            firm,
            charged: 0,
            paid_early: 0,
            loosened: before.loosened + 1,
            forced: Vec::new(),
            best: std::cell::Cell::new(None),
            seen: before.seen.clone(),
            times: before.times.clone(),
            grown: Vec::new(),
            ..*before
        }
    }

    /// No reading has more plies than the first `plies` ones: what was played after them is known to be no legal move.
    pub(in crate::session) fn give_up_beyond(&mut self, plies: usize) {
        if !self.readings.iter().any(|reading| reading.plies <= plies) {
            return;
        }
        self.settle_time();
        let (stay, beyond): (Vec<_>, Vec<_>) = self.readings.drain(..).partition(|one| one.plies <= plies);
        self.readings = stay;
        for reading in beyond {
            self.tree.release(reading.node);
        }
        for reading in &mut self.readings {
            reading.early_press = None;
        }
        self.settle();
    }

    /// What contradicts a ruling has been played since: a move has to explain it.
    pub(in crate::session) fn take_as_played(&mut self) {
        for reading in &mut self.readings {
            reading.paid = Bitboard::EMPTY;
            reading.touched |= self.seen.empty(reading.occupied);
        }
        self.compare();
    }

    /// The presses before a ruling were over what it takes back.
    pub(in crate::session) const fn forget_presses(&mut self) {
        self.stray = [None; 2];
    }

    /// Takes what the board shows without looking for a move in it.
    pub(in crate::session) fn see(&mut self, seen: super::Observed) {
        self.seen = seen;
    }

    /// Looks for what has been played beyond a position that was ruled: men that are not on their squares were
    /// lifted since.
    pub(in crate::session) fn look_on(&mut self, at: MonoTime) {
        let mut stands_wrong = false;
        for reading in &mut self.readings {
            let lifted = self.seen.empty(reading.occupied);
            reading.touched |= lifted;
            reading.pay(reading.paid & !lifted, &self.seen);
            stands_wrong |= reading.stands_wrong(&self.seen);
        }
        if stands_wrong {
            self.expand(Cause::Report, at);
            self.settle();
        }
    }

    /// The same after a move that was ruled, and pressed at `since`: what was lifted after that was lifted by the
    /// opponent, who pressed then, and by the player in his next turn.
    pub(in crate::session) fn look_on_after(
        &mut self,
        since: MonoTime,
        presses: [Option<MonoTime>; 2],
        at: MonoTime,
    ) {
        let lifted: Bitboard =
            Square::ALL.into_iter().filter(|square| self.times.left[usize::from(*square)] > since).collect();
        let mut stands_wrong = presses.iter().any(Option::is_some);
        for reading in &mut self.readings {
            let missing = self.seen.empty(reading.occupied);
            reading.touched |= missing | (lifted & reading.occupied);
            // The man of the move itself may be one that nobody sees.
            let in_hand = missing & (reading.us | lifted);
            reading.pay(reading.paid & !in_hand, &self.seen);
            stands_wrong |= reading.stands_wrong(&self.seen);
        }
        if stands_wrong {
            let opponent = self.readings.first().map_or(Color::White, |reading| reading.turn);
            let [reply, next] = presses;
            self.stray = opponent.fold_wb([reply, next], [next, reply]);
            self.expand(Cause::Report, at);
            self.settle();
        }
    }

    /// The position in front of the first ply.
    pub(in crate::session) fn start(&self) -> &Chess {
        &self.start
    }
}
