//! A part of a game: what was played from one position on. A game has one part, unless an arbiter sets up
//! another position or an illegal move stands.

use std::collections::BTreeMap;

use shakmaty::Chess;

use super::{
    publisher::{Completion, fen_of, play},
    state::{EarlierPart, PlyTimes},
};

/// A part of the game.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Its number; no two parts share one.
    pub(super) number: u64,
    /// The position that it begins with.
    pub(super) start_fen: String,
    /// The same; nothing when no game can be played from it.
    pub(super) start: Option<Chess>,
    /// What is added to the ply numbers of the facts: plies are counted from the first one of the part.
    pub(super) base: i64,
    /// The moves that the facts published.
    pub(super) wanted: Vec<String>,
    /// Completions by ply of the part, of moves that are not public yet, too.
    pub(super) completions: BTreeMap<usize, Completion>,
    /// How long the players thought, in milliseconds, by ply of the part.
    pub(super) elapsed: BTreeMap<usize, u64>,
    /// The move that led into the next part, as it looks.
    pub(super) left_by: Option<String>,
}

impl Part {
    pub(super) fn new(number: u64, start_fen: String, start: Option<Chess>) -> Part {
        Part {
            number,
            start_fen,
            start,
            base: 0,
            wanted: Vec::new(),
            completions: BTreeMap::new(),
            elapsed: BTreeMap::new(),
            left_by: None,
        }
    }

    /// Index in `wanted` of a ply of the facts; nothing when it was played before this part.
    pub(super) fn index(&self, ply: usize) -> Option<usize> {
        let own = i64::try_from(ply.checked_sub(1)?).ok()?.checked_add(self.base)?;
        usize::try_from(own).ok()
    }

    /// The positions before the first ply and after each one that is legal, and the notation of the plies.
    fn line(&self) -> (Vec<Chess>, Vec<String>) {
        let Some(mut position) = self.start.clone() else { return (Vec::new(), Vec::new()) };
        let (mut positions, mut sans) = (vec![position.clone()], Vec::new());
        for uci in &self.wanted {
            let Some((san, next)) = play(&position, uci) else { break };
            position = next;
            positions.push(position.clone());
            sans.push(san);
        }
        (positions, sans)
    }

    /// After how many plies the position stood. A FEN counts the moves, so that it stands once only.
    pub(super) fn plies_to(&self, fen: &str) -> Option<usize> {
        self.line().0.iter().rposition(|position| fen_of(position) == fen)
    }

    /// Back to the position after so many plies; the facts count anew from there.
    pub(super) fn go_back(&mut self, plies: usize) {
        self.wanted.truncate(plies);
        self.completions.retain(|ply, _| *ply <= plies);
        self.elapsed.retain(|ply, _| *ply <= plies);
        self.base = i64::try_from(plies).unwrap_or(i64::MAX);
        self.left_by = None;
    }

    /// What spectators are told of it once the next part has begun.
    pub(super) fn told(&self) -> EarlierPart {
        let mut san = self.line().1;
        san.extend(self.left_by.clone());
        let times = (1..=san.len()).map(|ply| PlyTimes {
            clock_ms: self.completions.get(&ply).and_then(|completion| completion.clock_ms()),
            elapsed_ms: self.elapsed.get(&ply).copied(),
        });
        EarlierPart { start_fen: self.start_fen.clone(), times: times.collect(), san }
    }
}
