//! The PGN files: `<board>.pgn` for each board, `games.pgn` with all of them, and a folder for each round,
//! `round-<name>`, with `games.pgn` and `game-<M>.pgn`, as programs that publish rounds take them.
//!
//! A game goes into the folder of its own round, also when its board has the game of another round by then, or is gone:
//! what it was shown in the end stays there.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    files::{Document, Folder, Shelf, game_number},
    hub::{Batch, Hub},
    pgn::{AfterSetUp, pgn_of, pgn_of_all},
};
use crate::publish::{BoardState, FeedEvent, tournament::round_name};

/// The name of the file with all games. A board of this name has no file of its own.
const ALL: &str = "games";
/// Longest file of an earlier game that is read, in bytes.
const MOST: u64 = 1024 * 1024;

/// The PGN files.
#[derive(Clone, Copy, Debug)]
pub(super) struct PgnFiles(pub(super) AfterSetUp);

impl Shelf for PgnFiles {
    const WHAT: &'static str = "PGN files";
    const GAME: &'static str = "pgn";

    fn concerns(batch: &Batch) -> bool {
        batch.reset || batch.events().any(FeedEvent::changes_score)
    }

    fn documents(&self, hub: &Hub, dir: &Path, boards: &BTreeSet<String>) -> Vec<Document> {
        let states = hub.scores();
        let mut documents = Vec::new();
        let changed = |state: &BoardState| boards.contains(&state.id);
        for state in states.iter().filter(|state| changed(state) && state.id != ALL) {
            documents.push(document(&state.id, pgn_of(state, self.0)));
        }
        documents.push(document(ALL, pgn_of_all(states.iter().map(AsRef::as_ref), self.0)));
        let rounds = Rounds::of(hub);
        let names: BTreeSet<String> = rounds
            .games
            .iter()
            .filter(|state| changed(state))
            .filter_map(|state| round_name(state))
            .collect();
        for name in names {
            let games = rounds.games_of(&name);
            if rounds.now.contains(&name) {
                for (state, game) in games.iter().zip(1..).filter(|(state, _)| changed(state)) {
                    documents.push(document(&format!("round-{name}/game-{game}"), pgn_of(state, self.0)));
                }
                let all = pgn_of_all(games.iter().copied(), self.0);
                documents.push(document(&format!("round-{name}/{ALL}"), all));
            } else {
                documents.extend(self.round_before(&dir.join(format!("round-{name}")), &name, &games));
            }
        }
        documents
    }

    fn folders(&self, hub: &Hub) -> Vec<Folder> {
        let rounds = Rounds::of(hub);
        let folder =
            |name: &String| Folder { path: format!("round-{name}"), games: rounds.games_of(name).len() };
        rounds.now.iter().map(folder).collect()
    }

    fn count(&self, hub: &Hub, written: bool) {
        hub.metrics().count(|metrics| if written { &metrics.pgn_written } else { &metrics.pgn_failed });
    }
}

fn document(name: &str, text: String) -> Document {
    Document { path: format!("{name}.pgn"), text }
}

/// The games by their rounds.
struct Rounds {
    games: Vec<Arc<BoardState>>,
    /// The rounds of the configuration.
    now: BTreeSet<String>,
}

impl Rounds {
    fn of(hub: &Hub) -> Rounds {
        let now = hub.configured().iter().filter_map(|state| round_name(state)).collect();
        Rounds { games: hub.games(), now }
    }

    fn games_of(&self, name: &str) -> Vec<&BoardState> {
        let games = self.games.iter().map(AsRef::as_ref);
        games.filter(|state| round_name(state).as_deref() == Some(name)).collect()
    }
}

impl PgnFiles {
    /// The folder of a round that no board plays any more. The boards may be others by now, so each game goes where
    /// the folder has it, and the games of other boards stay.
    fn round_before(&self, folder: &Path, name: &str, games: &[&BoardState]) -> Vec<Document> {
        let mut known = games_in(folder);
        let mut taken = BTreeSet::new();
        let mut documents = Vec::new();
        for state in games {
            let text = pgn_of(state, self.0);
            let found = known.iter_mut().filter(|(number, _)| !taken.contains(number));
            let found = found.filter_map(|(number, known)| Some((likeness(known, &text)?, *number, known)));
            // Of games that are alike the first.
            let found = found.max_by_key(|(likeness, number, _)| (*likeness, Reverse(*number)));
            let number = match found {
                Some((_, number, known)) => {
                    known.clone_from(&text);
                    number
                }
                None => {
                    let number = known.last().map_or(0, |(number, _)| *number) + 1;
                    known.push((number, text.clone()));
                    number
                }
            };
            taken.insert(number);
            documents.push(document(&format!("round-{name}/game-{number}"), text));
        }
        let texts: Vec<String> = known.into_iter().map(|(_, text)| text).collect();
        documents.push(document(&format!("round-{name}/{ALL}"), texts.join("\n")));
        documents
    }
}

/// The games of a folder by their numbers.
fn games_in(folder: &Path) -> Vec<(usize, String)> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let read = |path: PathBuf| {
        let number = game_number(path.file_name()?.to_str()?, PgnFiles::GAME)?;
        let small = fs::metadata(&path).is_ok_and(|data| data.is_file() && data.len() <= MOST);
        Some((number, fs::read_to_string(path).ok().filter(|_| small)?))
    };
    let mut games: Vec<_> = paths.filter_map(read).collect();
    games.sort_unstable_by_key(|(number, _)| *number);
    games
}

/// How much two texts are alike that may be one game, sooner and later: event, round and board are the same, and its
/// players or its moves. Two boards may have the same tags, so both tell. Nothing for two games.
fn likeness(one: &str, other: &str) -> Option<(bool, bool)> {
    if tags_of(one, &["Event", "Round", "Board"]) != tags_of(other, &["Event", "Round", "Board"]) {
        return None;
    }
    let players = tags_of(one, &["White", "Black"]) == tags_of(other, &["White", "Black"]);
    let (one, other) = (moves_of(one), moves_of(other));
    let moves = one.iter().zip(&other).all(|(one, other)| one == other);
    (players || moves).then_some((players, moves))
}

/// The lines of these tags.
fn tags_of<'p>(pgn: &'p str, names: &[&str]) -> Vec<&'p str> {
    let name = |line: &'p str| line.strip_prefix('[')?.split(' ').next();
    let is_one = |line: &&'p str| name(line).is_some_and(|name| names.contains(&name));
    pgn.lines().take_while(|line| !line.is_empty()).filter(is_one).collect()
}

/// The moves, without numbers, comments and the result.
fn moves_of(pgn: &str) -> Vec<&str> {
    let text = pgn.split_once("\n\n").map_or("", |(_, text)| text);
    let plain = text.split('{').enumerate().map(|(index, part)| match index {
        0 => part,
        _ => part.split_once('}').map_or("", |(_, rest)| rest),
    });
    let is_move = |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic());
    plain.flat_map(str::split_whitespace).filter(is_move).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        publish::{PublicPly, Publisher, Tags},
        session::{Session, setup::GameSetup},
    };

    fn game(tags: &[(&str, &str)], moves: &str) -> String {
        let tags: String = tags.iter().map(|(name, value)| format!("[{name} \"{value}\"]\n")).collect();
        format!("{tags}\n{moves}\n")
    }

    #[test]
    fn a_game_is_found_by_its_place_and_its_players_or_moves() {
        let of = |board: &str, white: &str, moves: &str| {
            game(&[("Event", "Open"), ("Round", "1.7"), ("Board", board), ("White", white)], moves)
        };
        let known = of("7", "Alpha", "1. e4 {[%clk 0:05:00]} 1... e5 *");
        assert_eq!(likeness(&known, &of("7", "Alpha", "1. e4 e5 2. Nf3 1-0")), Some((true, true)));
        assert_eq!(likeness(&known, &of("7", "Alfa", "1. e4 e5 2. Nf3 1-0")), Some((false, true)));
        assert_eq!(likeness(&known, &of("7", "Alpha", "1. d4 *")), Some((true, false)));
        assert_eq!(likeness(&known, &of("7", "Beta", "1. d4 *")), None, "another game");
        assert_eq!(likeness(&known, &of("8", "Alpha", "1. e4 e5 *")), None, "another board");
    }

    #[test]
    fn games_with_the_same_tags_stay_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let board = |id: &str, moves: &[&str]| {
            let setup = GameSetup::default();
            let session = Session::new(&setup).unwrap();
            let tags = Tags { round: Some("1".to_owned()), ..Tags::default() };
            let mut state = Publisher::new(id, &setup, tags, &session).state().clone();
            for (san, ply) in moves.iter().zip(1..) {
                let played = PublicPly {
                    uci: String::new(),
                    san: (*san).to_owned(),
                    completed: true,
                    clock_ms: None,
                    elapsed_ms: None,
                };
                let fen = state.fen.clone();
                state.apply(&FeedEvent::Move { ply, played, fen });
            }
            state
        };
        let files = PgnFiles(AfterSetUp::GoOn);
        for (number, first) in [(1, "d4"), (2, "e4")] {
            fs::write(
                folder.path().join(format!("game-{number}.pgn")),
                pgn_of(&board("a", &[first]), files.0),
            )
            .unwrap();
        }
        let (one, two) = (board("1", &["e4", "e5"]), board("2", &["d4", "d5"]));
        let documents = files.round_before(folder.path(), "1", &[&one, &two]);
        let paths: Vec<_> = documents.iter().map(|document| document.path.as_str()).collect();
        assert_eq!(paths, ["round-1/game-2.pgn", "round-1/game-1.pgn", "round-1/games.pgn"]);
        let all = documents.last().unwrap();
        assert!(all.text.find("1. d4 d5") < all.text.find("1. e4 e5"), "{}", all.text);
    }
}
