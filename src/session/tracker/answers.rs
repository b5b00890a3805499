//! What the tracker says of its readings: the best one, what each costs now, its plies, and when the
//! passing of time decides something.

use shakmaty::{Bitboard, Chess};

use super::{Cost, Ply, Reading, Tracker, cost::CHESS};
use crate::session::{time::MonoTime, view::Effort};

impl Tracker {
    /// True where players press, as a rule.
    pub(in crate::session) fn is_clocked(&self) -> bool {
        self.clocked > 0
    }

    /// Those of `squares` that were filled after `since`.
    pub(in crate::session) fn filled_after(&self, squares: Bitboard, since: MonoTime) -> Bitboard {
        squares.into_iter().filter(|square| self.times.filled[usize::from(*square)] > since).collect()
    }

    /// The readings, the cheapest at the last event first.
    pub(in crate::session) fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// How much is kept in mind.
    pub(in crate::session) fn effort(&self) -> Effort {
        let loose = |reading| self.len(reading).saturating_sub(self.firm.len());
        Effort {
            readings: self.readings.len(),
            loose_plies: self.readings.iter().map(loose).sum(),
            games: self.tree.held(),
        }
    }

    /// How often firm plies were taken back, because a promoted piece was read again.
    pub(in crate::session) fn loosened(&self) -> u32 {
        self.loosened
    }

    /// Plies, counted from 1, that became firm although readings did not agree on them.
    pub(in crate::session) fn forced(&self) -> &[usize] {
        &self.forced
    }

    /// The plies that all readings share.
    pub(in crate::session) fn firm(&self) -> &[Ply] {
        &self.firm
    }

    /// The position after a reading.
    pub(in crate::session) fn position(&self, reading: &Reading) -> &Chess {
        &self.tree.node(reading.node).position
    }

    /// The position after so many plies of a reading, as far as they are not firm.
    pub(in crate::session) fn position_after(&self, reading: &Reading, plies: usize) -> Option<&Chess> {
        self.tree.ancestor(reading.node, plies).map(|node| &self.tree.node(node).position)
    }

    /// Ply `index` of a reading, counted from 0 at the first event.
    pub(in crate::session) fn ply(&self, reading: &Reading, index: usize) -> Option<&Ply> {
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
    pub(in crate::session) fn loose_ply(&self, reading: &Reading) -> Option<&Ply> {
        if reading.node == self.root { None } else { self.tree.node(reading.node).ply.as_ref() }
    }

    /// True when the role of a promoted man of this reading is only assumed.
    pub(in crate::session) fn assumes_roles(&self, reading: &Reading) -> bool {
        !self.identity && !self.tree.node(reading.node).promoted.is_empty()
    }

    /// True when the side to move has no legal move after this reading.
    pub(in crate::session) fn is_end(&self, reading: &Reading) -> bool {
        self.tree.node(reading.node).is_end()
    }

    /// Names the game of the first `plies` plies of a reading: no other game has the same name.
    pub(in crate::session) fn game(&self, reading: &Reading, plies: usize) -> u64 {
        self.tree.ancestor(reading.node, plies).map_or(0, |node| self.tree.node(node).name)
    }

    /// True when a reading is the game of this name.
    pub(in crate::session) fn is_game(&self, reading: &Reading, game: u64) -> bool {
        self.tree.node(reading.node).name == game
    }

    /// True when a reading is the game of this name or has one ply more; false may mean that it has
    /// still more.
    pub(in crate::session) fn begins_with(&self, reading: &Reading, game: u64) -> bool {
        let node = self.tree.node(reading.node);
        node.name == game || node.parent.is_some_and(|parent| self.tree.node(parent).name == game)
    }

    /// The first ply from `from` on, and before `to`, in which a reading is not the game of these moves
    /// and names; `to` where there is none.
    pub(in crate::session) fn first_other(
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
    pub(in crate::session) fn len(&self, reading: &Reading) -> usize {
        reading.plies
    }

    /// What a reading costs now.
    pub(in crate::session) fn cost(&self, reading: &Reading) -> Cost {
        reading.cost_after(self.charged)
    }

    /// What a reading costs now, with what the board contradicts at this moment.
    pub(in crate::session) fn weight(&self, reading: &Reading) -> Cost {
        self.cost(reading).saturating_add(reading.now)
    }

    /// The reading that explains the board best at this moment.
    #[inline]
    pub(in crate::session) fn best(&self) -> Option<&Reading> {
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
        // Readings that have parted for longer do so at the root.
        let parted = self.readings.len() > 1 && !self.tree.goes_one_way(self.root);
        let index = if parted { self.likeliest(index) } else { index };
        self.best.set(Some(index));
        self.readings.get(index)
    }

    /// Of the readings that contacts hardly tell from the one at `index`, which explains the board best, that in
    /// which the players leave less to be taken and take more of what they can. No cost changes by it: what is
    /// published and what is in doubt goes by contacts alone.
    fn likeliest(&self, index: usize) -> usize {
        let Some(mut best) = self.readings.get(index) else { return index };
        let limit = self.weight(best).saturating_add(CHESS);
        let mut likeliest = index;
        for (at, other) in self.readings.iter().enumerate() {
            if at == index || self.weight(other) >= limit {
                continue;
            }
            let (own, others) = self.tree.odds(best.node, other.node);
            let more = |one: Cost, other: Cost| one.saturating_sub(other).min(CHESS);
            if self.weight(other) + more(others, own) < self.weight(best) + more(own, others) {
                (best, likeliest) = (other, at);
            }
        }
        likeliest
    }

    /// The plies of a reading that are not firm.
    pub(in crate::session) fn loose(&self, reading: &Reading) -> Vec<Ply> {
        (self.firm.len()..self.len(reading)).filter_map(|index| self.ply(reading, index)).copied().collect()
    }

    /// When the passing of time next decides something between this reading, the best, and another
    /// one: when the other overtakes it, and when its lead reaches one of the margins, of the costs
    /// and of the weights. Nothing changes before.
    pub(in crate::session) fn next_margin(
        &self,
        best: &Reading,
        costs: &[Cost],
        weights: &[Cost],
    ) -> Option<MonoTime> {
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
