//! The games of the boards one after another: those that are shown, those before them, and those that come next.

use std::{collections::BTreeSet, sync::Arc};

use super::{Channel, Shared};
use crate::publish::{BoardState, tournament::round_name};

/// A game that is no longer on its board, or whose board is gone.
#[derive(Debug)]
pub(super) struct Past {
    pub(super) state: Arc<BoardState>,
    /// When its first move was shown, in microseconds of UTC.
    pub(super) began_us: Option<u64>,
    /// When it changed last.
    pub(super) changed_us: u64,
    /// The rest of it waits.
    pub(super) waits: bool,
}

/// A game on a board.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) state: Arc<BoardState>,
    /// When its first move was shown, in microseconds of UTC.
    pub(super) began_us: Option<u64>,
}

/// The event and the round of a game. Of one board there is one game of a round.
type Place = (Option<String>, Option<String>);

fn place(state: &BoardState) -> Place {
    (state.tags.event.clone(), round_name(state))
}

impl Channel {
    /// The game that the configuration names.
    fn latest(&self) -> &Arc<BoardState> {
        self.next.as_ref().map_or(&self.state, |next| &next.state)
    }

    /// True while the score of the game before stands for the next one, which has not begun.
    fn stays(&self) -> bool {
        let latest = self.latest();
        let begun = !latest.plies.is_empty()
            || !latest.earlier.is_empty()
            || latest.result != "*"
            || latest.termination.is_some();
        self.keep && !begun && (self.next.is_some() || self.before.is_some())
    }

    /// The game whose score is shown.
    pub(super) fn score(&self) -> &Arc<BoardState> {
        let before = self.before.as_ref().filter(|_| self.next.is_none() && self.stays());
        before.map_or(&self.state, |before| &before.state)
    }

    /// The game that the configuration names, or the one before, where only its first move will tell them apart.
    pub(super) fn configured(&self) -> &Arc<BoardState> {
        if self.stays() { self.score() } else { self.latest() }
    }

    /// The games of the board, the latest last, behind those before them.
    fn games(&self, past: &[Past]) -> Vec<Arc<BoardState>> {
        let past = past.iter().map(|past| &past.state).filter(|state| state.id == self.state.id);
        let before = self.before.as_ref().map(|before| &before.state);
        let next = self.next.as_ref().map(|next| &next.state);
        let mut games: Vec<_> = past.chain(before).chain([&self.state]).chain(next).cloned().collect();
        if self.stays() {
            games.pop();
        }
        one_a_round(games)
    }
}

/// Of the games of one board the latest of each round.
fn one_a_round(games: Vec<Arc<BoardState>>) -> Vec<Arc<BoardState>> {
    let mut known = BTreeSet::new();
    let mut games: Vec<_> = games.into_iter().rev().filter(|state| known.insert(place(state))).collect();
    games.reverse();
    games
}

impl Shared {
    /// The games of all boards by their rounds, in the order of the boards; then those of boards that are gone, unless
    /// the round is played without them.
    pub(super) fn games(&self) -> Vec<Arc<BoardState>> {
        let mut games: Vec<_> = self.boards.iter().flat_map(|channel| channel.games(&self.past)).collect();
        let played: BTreeSet<Place> = self.boards.iter().map(|channel| place(channel.configured())).collect();
        let is_gone = |state: &&Arc<BoardState>| !self.boards.iter().any(|known| known.state.id == state.id);
        let gone: Vec<_> = self.past.iter().map(|past| &past.state).filter(is_gone).cloned().collect();
        let names: BTreeSet<String> = gone.iter().map(|state| state.id.clone()).collect();
        for name in names {
            let of_board = one_a_round(gone.iter().filter(|state| state.id == name).cloned().collect());
            games.extend(of_board.into_iter().filter(|state| !played.contains(&place(state))));
        }
        games
    }
}
