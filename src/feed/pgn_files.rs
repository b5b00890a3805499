//! The PGN files: `<board>.pgn` for each board, `games.pgn` with all of them, and a folder for each round,
//! `round-<N>`, with `games.pgn` and `game-<M>.pgn`, as programs that publish rounds take them.

use std::{collections::BTreeSet, path::Path};

use super::{
    files::{Document, Shelf},
    hub::{Batch, Hub},
    pgn::{AfterSetUp, pgn_of, pgn_of_all},
};
use crate::publish::{BoardState, FeedEvent, tournament::round_of};

/// The name of the file with all games. A board of this name has no file of its own.
const ALL: &str = "games";

/// The PGN files.
#[derive(Clone, Copy, Debug)]
pub(super) struct PgnFiles(pub(super) AfterSetUp);

impl Shelf for PgnFiles {
    const WHAT: &'static str = "PGN files";

    fn concerns(batch: &Batch) -> bool {
        batch.reset || batch.events().any(FeedEvent::changes_score)
    }

    fn documents(&self, hub: &Hub, _dir: &Path, boards: &BTreeSet<String>) -> Vec<Document> {
        let states = hub.boards();
        let mut documents = Vec::new();
        let document = |name: &str, text| Document { path: format!("{name}.pgn"), text };
        let changed = |state: &BoardState| boards.contains(&state.id);
        for state in states.iter().filter(|state| changed(state) && state.id != ALL) {
            documents.push(document(&state.id, pgn_of(state, self.0)));
        }
        documents.push(document(ALL, pgn_of_all(states.iter().map(AsRef::as_ref), self.0)));
        // A round without a number has no folder.
        let numbered: Vec<&BoardState> =
            states.iter().map(AsRef::as_ref).filter(|state| state.tags.round.is_some()).collect();
        let rounds: BTreeSet<usize> =
            numbered.iter().filter(|state| changed(state)).map(|state| round_of(state)).collect();
        for round in rounds {
            let games: Vec<&BoardState> =
                numbered.iter().copied().filter(|state| round_of(state) == round).collect();
            for (state, game) in games.iter().zip(1..).filter(|(state, _)| changed(state)) {
                documents.push(document(&format!("round-{round}/game-{game}"), pgn_of(state, self.0)));
            }
            let all = pgn_of_all(games.iter().copied(), self.0);
            documents.push(document(&format!("round-{round}/{ALL}"), all));
        }
        documents
    }

    fn count(&self, hub: &Hub, written: bool) {
        hub.metrics().count(|metrics| if written { &metrics.pgn_written } else { &metrics.pgn_failed });
    }
}
