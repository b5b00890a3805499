//! The files of the Cloud on the disk. Rounds that are over stay there: the daemon of the next round counts them.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use super::{CloudOptions, game, index, meta, tournament};
use crate::{
    feed::{
        files::{Document, Shelf},
        hub::{Batch, Hub},
        livechess::Now,
    },
    publish::{FeedEvent, tournament::tournaments},
    wire::livechess::resources::CloudRounds,
};

/// Longest index of an earlier round that is read, in bytes.
const MOST: u64 = 4 * 1024 * 1024;

/// The files of the Cloud.
pub(in crate::feed) struct CloudFiles(pub(in crate::feed) CloudOptions);

impl Shelf for CloudFiles {
    const WHAT: &'static str = "files of the Cloud";

    /// A clock that goes on running changes nothing: a reader counts it down.
    fn concerns(batch: &Batch) -> bool {
        let tells = |event: &FeedEvent| event.changes_score() || matches!(event, FeedEvent::Status { .. });
        batch.reset || batch.events().any(tells)
    }

    fn documents(&self, hub: &Hub, dir: &Path, boards: &BTreeSet<String>) -> Vec<Document> {
        let states = hub.boards();
        let now = Now::read();
        let mut documents = Vec::new();
        for known in tournaments(states.iter().map(AsRef::as_ref)) {
            let folder = format!("get/{}", known.uuid);
            for round in 1..=known.rounds() {
                let pairings = known.pairings(round);
                let folder = format!("{folder}/round-{round}");
                let changed =
                    pairings.iter().zip(1..).filter(|(pairing, _)| boards.contains(&pairing.state.id));
                documents.extend(changed.map(|(pairing, number)| Document {
                    path: format!("{folder}/game-{number}.json"),
                    text: game(hub, pairing, now),
                }));
                if !pairings.is_empty() {
                    documents.push(Document { path: format!("{folder}/index.json"), text: index(&pairings) });
                }
            }
            let text = tournament(&known, |round| earlier(&dir.join(&folder), round));
            documents.push(Document { path: format!("{folder}/tournament.json"), text });
            if let Some(host) = &self.0.host {
                documents.push(Document { path: format!("meta/{}", known.uuid), text: meta(host) });
            }
        }
        documents
    }
}

/// What is on the disk of a round that no board plays any more.
fn earlier(folder: &Path, round: usize) -> CloudRounds {
    let path = folder.join(format!("round-{round}/index.json"));
    let small = fs::metadata(&path).is_ok_and(|data| data.is_file() && data.len() <= MOST);
    let text = if small { fs::read_to_string(&path).ok() } else { None };
    let index: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
    let count = index.and_then(|index| index.get("pairings")?.as_array().map(Vec::len));
    CloudRounds { count: count.unwrap_or(0), live: 0 }
}
