//! The files of the Cloud on the disk. Rounds that are over stay there: the daemon of the next round counts them.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use super::{CloudOptions, game, index, meta, tournament};
use crate::{
    feed::{
        files::{Document, Folder, Shelf},
        hub::{Batch, Hub},
        livechess::Now,
    },
    publish::{
        BoardState, FeedEvent,
        tournament::{Pairing, is_numbered, round_of, tournaments},
    },
    wire::livechess::resources::CloudRounds,
};

/// Longest index of an earlier round that is read, in bytes.
const MOST: u64 = 4 * 1024 * 1024;

/// The files of the Cloud.
pub(in crate::feed) struct CloudFiles(pub(in crate::feed) CloudOptions);

impl Shelf for CloudFiles {
    const WHAT: &'static str = "files of the Cloud";
    const GAME: &'static str = "json";

    /// A clock that goes on running changes nothing: a reader counts it down.
    fn concerns(batch: &Batch) -> bool {
        let tells = |event: &FeedEvent| event.changes_score() || matches!(event, FeedEvent::Status { .. });
        batch.reset || batch.events().any(tells)
    }

    fn documents(&self, hub: &Hub, dir: &Path, boards: &BTreeSet<String>) -> Vec<Document> {
        let (states, now) = (hub.games(), Now::read());
        let played = played(hub);
        let mut documents = Vec::new();
        for known in tournaments(states.iter().map(AsRef::as_ref).filter(|state| is_numbered(state))) {
            let folder = format!("get/{}", known.uuid);
            for round in 1..=known.rounds() {
                let pairings = known.pairings(round);
                let below = format!("{folder}/round-{round}");
                let is_played = played.contains(&(known.name.to_owned(), round));
                if pairings.is_empty() || !(is_played || fits(&dir.join(&below), &pairings)) {
                    continue;
                }
                let changed =
                    pairings.iter().zip(1..).filter(|(pairing, _)| boards.contains(&pairing.state.id));
                documents.extend(changed.map(|(pairing, number)| Document {
                    path: format!("{below}/game-{number}.json"),
                    text: game(hub, pairing, now),
                }));
                documents.push(Document { path: format!("{below}/index.json"), text: index(&pairings) });
            }
            let text = tournament(&known, |round| earlier(&dir.join(&folder), round));
            documents.push(Document { path: format!("{folder}/tournament.json"), text });
            if let Some(host) = &self.0.host {
                documents.push(Document { path: format!("meta/{}", known.uuid), text: meta(host) });
            }
        }
        documents
    }

    fn folders(&self, hub: &Hub) -> Vec<Folder> {
        let (states, played) = (hub.games(), played(hub));
        let mut folders = Vec::new();
        for known in tournaments(states.iter().map(AsRef::as_ref).filter(|state| is_numbered(state))) {
            for (_, round) in played.iter().filter(|(name, _)| name == known.name) {
                let path = format!("get/{}/round-{round}", known.uuid);
                folders.push(Folder { path, games: known.pairings(*round).len() });
            }
        }
        folders
    }
}

/// The rounds of the configuration, by event.
fn played(hub: &Hub) -> BTreeSet<(String, usize)> {
    let states = hub.configured();
    let numbered = states.iter().map(AsRef::as_ref).filter(|state: &&BoardState| is_numbered(state));
    let mut played = BTreeSet::new();
    for known in tournaments(numbered) {
        played.extend(known.boards.iter().map(|state| (known.name.to_owned(), round_of(state))));
    }
    played
}

/// True where the games of a round that no board plays any more are those of the folder, one by one, or the folder
/// has none. Where the boards are others by now the folder stays as it is.
fn fits(folder: &Path, pairings: &[Pairing<'_>]) -> bool {
    let Some(known) = read(&folder.join("index.json")) else { return true };
    let now: Value = serde_json::from_str(&index(pairings)).unwrap_or_default();
    let players = |index: &Value| -> Vec<(Value, Value)> {
        let pairings = index.get("pairings").and_then(Value::as_array);
        let of = |pairing: &Value, side: &str| pairing.get(side).cloned().unwrap_or_default();
        pairings.into_iter().flatten().map(|pairing| (of(pairing, "white"), of(pairing, "black"))).collect()
    };
    players(&known) == players(&now)
}

/// What is on the disk of a round that no board plays any more.
fn earlier(folder: &Path, round: usize) -> CloudRounds {
    let index = read(&folder.join(format!("round-{round}/index.json")));
    let count = index.and_then(|index| index.get("pairings")?.as_array().map(Vec::len));
    CloudRounds { count: count.unwrap_or(0), live: 0 }
}

fn read(path: &Path) -> Option<Value> {
    let small = fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() <= MOST);
    let text = if small { fs::read_to_string(path).ok() } else { None };
    serde_json::from_str(&text?).ok()
}
