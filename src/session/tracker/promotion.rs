//! Which piece a pawn became.
//!
//! An occupancy board cannot tell, so a promoted man is taken for a queen until it moves in a way
//! that a queen cannot, or until a move is only legal when it is something else. Then the game is
//! read again with the other roles. The set of roles is thus held without a reading for each.

use shakmaty::{CastlingMode, Chess, Position as _, Role, uci::UciMove};

use super::{
    Cause, Tracker, cost,
    reading::Reading,
    tree::{Ply, Promoted},
};
use crate::session::time::MonoTime;

/// How many undecided men of how many readings are tried.
const MEN: usize = 4;
const READINGS: usize = 3;
/// What it may be instead of a queen, in the order in which it is tried.
const ROLES: [Role; 3] = [Role::Knight, Role::Rook, Role::Bishop];

/// The game of a reading with another promotion piece.
struct Revived {
    /// Index of the promotion.
    from: usize,
    /// The plies from there on.
    plies: Vec<Ply>,
    /// The man that is decided now.
    man: Promoted,
    reading: Reading,
}

impl Tracker {
    /// Adds readings in which a promoted man is something else, and lets them play the move that
    /// the board shows.
    pub(super) fn revive_promotions(&mut self, cause: Cause, at: MonoTime) {
        if self.identity {
            return;
        }
        let mut revived = Vec::new();
        let mut ruled_out = Vec::new();
        for reading in self.readings.iter().take(READINGS) {
            for man in self.tree.node(reading.node).promoted.iter().rev().take(MEN) {
                let open = |role: &Role| !man.ruled_out.get(*role);
                let open: Vec<Role> = ROLES.into_iter().filter(open).collect();
                if open.is_empty() {
                    continue;
                }
                let plies = self.plies_from(reading, man.ply);
                let Some(before) = self.position_before(reading, man.ply) else { continue };
                for role in open {
                    match with_role(reading, *man, role, &plies, &before) {
                        Some(game) => revived.push(game),
                        None => ruled_out.push((reading.node, man.ply, role)),
                    }
                }
            }
        }
        for (node, ply, role) in ruled_out {
            if let Some(man) = self.tree.node_mut(node).promoted.iter_mut().find(|man| man.ply == ply) {
                *man.ruled_out.get_mut(role) = true;
            }
        }
        let Some(earliest) = revived.iter().map(|one| one.from).min() else { return };
        self.loosen(earliest);
        let first = self.readings.len();
        for one in revived {
            self.add_revived(&one);
        }
        let last = self.readings.len();
        self.one_ply_each(first..last, cause, at);
        // Only a role that explains the board is worth keeping.
        let seen = &self.seen;
        let tree = &mut self.tree;
        let mut index = 0;
        self.readings.retain(|reading| {
            index += 1;
            let dropped = index > first && (index <= last || reading.stands_wrong(seen));
            if dropped {
                tree.release(reading.node);
            }
            !dropped
        });
    }

    /// Makes the plies from `index` on belong to the readings again.
    fn loosen(&mut self, index: usize) {
        if index >= self.firm.len() {
            return;
        }
        self.loosened += 1;
        let (kept, loose) = self.firm.split_at(index);
        let mut position = self.start.clone();
        kept.iter().for_each(|ply| position.play_unchecked(ply.mv));
        let root = self.tree.root(position, index, kept.last().copied());
        self.tree.hold(root);
        let mut at = root;
        // The last of them is the root of today.
        for ply in loose.iter().take(loose.len().saturating_sub(1)) {
            at = self.tree.add(at, *ply);
        }
        self.tree.hang(self.root, at);
        self.tree.release(self.root);
        self.root = root;
        self.firm.truncate(index);
    }

    /// The plies of a reading from `index` on.
    fn plies_from(&self, reading: &Reading, index: usize) -> Vec<Ply> {
        let mut plies = Vec::with_capacity(reading.plies.saturating_sub(index));
        let mut at = reading.node;
        while at != self.root {
            let node = self.tree.node(at);
            if node.plies <= index {
                break;
            }
            plies.extend(node.ply);
            let Some(parent) = node.parent else { break };
            at = parent;
        }
        plies.extend(self.firm.iter().skip(index).rev());
        plies.reverse();
        plies
    }

    fn position_before(&self, reading: &Reading, index: usize) -> Option<Chess> {
        if let Some(node) = self.tree.ancestor(reading.node, index) {
            return Some(self.tree.node(node).position.clone());
        }
        let mut position = self.start.clone();
        self.firm.get(..index)?.iter().for_each(|ply| position.play_unchecked(ply.mv));
        Some(position)
    }

    fn add_revived(&mut self, one: &Revived) {
        let Some(mut at) = self.tree.ancestor(one.reading.node, one.from) else { return };
        for ply in &one.plies {
            at = match self.tree.child(at, ply.mv) {
                Some(known) => known,
                None => self.tree.add(at, *ply),
            };
        }
        self.tree.node_mut(at).promoted.retain(|kept| kept.ply != one.man.ply);
        let cost = one.reading.cost.saturating_add(cost::UNDERPROMOTION);
        let mut reading = Reading::of(at, self.tree.node(at), cost, one.reading.touched, &self.seen);
        reading.early_press = one.reading.early_press;
        self.add(reading);
    }
}

/// The same game with another promotion piece, if it is legal; `plies` are those from the promotion on.
fn with_role(reading: &Reading, man: Promoted, role: Role, plies: &[Ply], before: &Chess) -> Option<Revived> {
    if plies.first()?.mv.promotion()? == role {
        return None;
    }
    let mut position = before.clone();
    let mut moves = Vec::new();
    for (index, ply) in plies.iter().enumerate() {
        let mut uci = UciMove::from_move(ply.mv, CastlingMode::Chess960);
        if let (0, UciMove::Normal { promotion, .. }) = (index, &mut uci) {
            *promotion = Some(role);
        }
        let mv = uci.to_move(&position).ok()?;
        position.play_unchecked(mv);
        moves.push(Ply { mv, ..*ply });
    }
    Some(Revived { from: man.ply, plies: moves, man, reading: *reading })
}
