//! The files of the Cloud on the disk. Rounds that are over stay there: the daemon of the next round counts them.

use std::{cmp::Reverse, collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use super::{CloudOptions, game, index, meta, text, tournament};
use crate::{
    feed::{
        files::{Document, Folder, Shelf},
        hub::{Batch, Hub},
        livechess::{Now, serial},
    },
    publish::{
        BoardState, FeedEvent,
        tournament::{Pairing, is_numbered, round_of, tournaments},
    },
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
            let is_played = |round| played.contains(&(known.name.to_owned(), round));
            for round in 1..=known.rounds() {
                let pairings = known.pairings(round);
                let below = format!("{folder}/round-{round}");
                if pairings.is_empty() {
                    continue;
                }
                let (places, index) = if is_played(round) {
                    ((1..=pairings.len()).map(Some).collect(), index(&pairings))
                } else {
                    round_before(&dir.join(&below), &pairings)
                };
                let placed =
                    pairings.iter().zip(places).filter_map(|(pairing, place)| Some((pairing, place?)));
                let changed = placed.filter(|(pairing, _)| boards.contains(&pairing.state.id));
                documents.extend(changed.map(|(pairing, number)| Document {
                    path: format!("{below}/game-{number}.json"),
                    text: game(hub, pairing, now),
                }));
                documents.push(Document { path: format!("{below}/index.json"), text: index });
            }
            let earlier = |round| if is_played(round) { 0 } else { earlier(&dir.join(&folder), round) };
            let text = tournament(&known, earlier);
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

/// The numbers of these games of a round that no board plays any more, and its index. The boards may be others by now,
/// so each game goes where the folder has it: its players tell, and where several have the same, the serial number of
/// the board. One that the folder does not have stays out of it.
fn round_before(folder: &Path, pairings: &[Pairing<'_>]) -> (Vec<Option<usize>>, String) {
    let fresh = index(pairings);
    let Some(mut known) = read(&folder.join("index.json")) else {
        return ((1..=pairings.len()).map(Some).collect(), fresh);
    };
    let mut fresh: Value = serde_json::from_str(&fresh).unwrap_or_default();
    let mut nothing = Vec::new();
    let entries = known.get_mut("pairings").and_then(Value::as_array_mut).unwrap_or(&mut nothing);
    let serial_of = |number: usize| -> Option<String> {
        let game = read(&folder.join(format!("game-{number}.json")))?;
        Some(game.get("serialNr")?.as_str()?.to_owned())
    };
    let players = |entry: &Value| ["white", "black"].map(|side| entry.get(side).cloned());
    let mut taken = BTreeSet::new();
    let fresh = fresh.get_mut("pairings").and_then(Value::as_array_mut).map(std::mem::take);
    let places = pairings.iter().zip(fresh.unwrap_or_default()).map(|(pairing, entry)| {
        let serial = serial(pairing.state);
        let found = entries
            .iter_mut()
            .zip(1..)
            .filter(|(known, number)| players(known) == players(&entry) && !taken.contains(number));
        let found =
            found.max_by_key(|(_, number)| (serial_of(*number) == Some(serial.clone()), Reverse(*number)));
        let (known, number) = found?;
        *known = entry;
        taken.insert(number);
        Some(number)
    });
    let places = places.collect();
    (places, text(&known))
}

/// How many games of a round that no board plays any more are on the disk.
fn earlier(folder: &Path, round: usize) -> usize {
    let index = read(&folder.join(format!("round-{round}/index.json")));
    index.and_then(|index| index.get("pairings")?.as_array().map(Vec::len)).unwrap_or(0)
}

fn read(path: &Path) -> Option<Value> {
    let small = fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() <= MOST);
    let text = if small { fs::read_to_string(path).ok() } else { None };
    serde_json::from_str(&text?).ok()
}
