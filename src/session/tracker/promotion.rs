//! Which piece a pawn became.
//!
//! An occupancy board cannot tell, so a promoted man is taken for a queen until it moves in a way
//! that a queen cannot, or until a move is only legal when it is something else. Then the game is
//! read again with the other roles. The set of roles is thus held without a reading for each.

use shakmaty::{CastlingMode, Position as _, Role, uci::UciMove};

use super::{
    Cause, Tracker, cost,
    reading::{Promoted, Reading},
};
use crate::session::time::MonoTime;

/// How many undecided men of how many readings are tried.
const MEN: usize = 4;
const READINGS: usize = 3;

impl Tracker {
    /// Adds readings in which a promoted man is something else, and lets them play the move that
    /// the board shows.
    pub(super) fn revive_promotions(&mut self, cause: Cause, at: MonoTime) {
        if self.identity {
            return;
        }
        let mut revived = Vec::new();
        for reading in self.readings.iter().take(READINGS) {
            for man in reading.promoted.iter().rev().take(MEN) {
                for role in [Role::Knight, Role::Rook, Role::Bishop] {
                    revived.extend(self.with_role(reading, *man, role));
                }
            }
        }
        let Some(earliest) = revived.iter().map(|(ply, _)| *ply).min() else { return };
        self.loosen(earliest);
        let first = self.readings.len();
        for (_, mut reading) in revived {
            reading.tail.drain(..self.firm.len().min(reading.tail.len()));
            self.readings.push(reading);
        }
        let mut grown = Vec::new();
        for index in first..self.readings.len() {
            self.one_ply(index, cause, at, &mut grown);
        }
        self.readings.truncate(first);
        // Only a role that explains the board is worth keeping.
        grown.retain(|reading| (reading.differs(&self.seen) & self.seen.occupied).is_empty());
        self.readings.append(&mut grown);
    }

    /// Makes the plies from `index` on belong to the readings again.
    fn loosen(&mut self, index: usize) {
        if index >= self.firm.len() {
            return;
        }
        self.loosened += 1;
        let loose = self.firm.split_off(index);
        for reading in &mut self.readings {
            reading.tail.splice(0..0, loose.iter().copied());
        }
    }

    /// The same game with another promotion piece, if it is legal, and the index of that ply. Its
    /// tail holds the whole game.
    fn with_role(&self, reading: &Reading, man: Promoted, role: Role) -> Option<(usize, Reading)> {
        let mut tail: Vec<_> = self.firm.iter().chain(&reading.tail).copied().collect();
        if tail.get(man.ply)?.mv.promotion()? == role {
            return None;
        }
        let mut position = self.start.clone();
        let mut before = None;
        for (index, ply) in tail.iter_mut().enumerate() {
            if index >= man.ply {
                let mut uci = UciMove::from_move(ply.mv, CastlingMode::Chess960);
                if let (true, UciMove::Normal { promotion, .. }) = (index == man.ply, &mut uci) {
                    *promotion = Some(role);
                }
                ply.mv = uci.to_move(&position).ok()?;
                before = Some(position.clone());
            }
            position.play_unchecked(ply.mv);
        }
        let mut other = Reading::start(position);
        other.before = before;
        other.cost = reading.cost.saturating_add(cost::UNDERPROMOTION);
        other.tail = tail;
        other.touched = reading.touched;
        other.early_press = reading.early_press;
        other.promoted = reading.promoted.iter().copied().filter(|kept| *kept != man).collect();
        Some((man.ply, other))
    }
}
