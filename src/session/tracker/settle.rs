//! After every event the readings that cost too much are given up, and what all of them share is firm.

use super::{
    MAX_GAMES, MAX_LOOSE, MAX_READINGS, OLD, Tracker,
    cost::{self, Cost, PATIENCE},
    tree::NodeId,
};

impl Tracker {
    pub(super) fn settle(&mut self) {
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
}
