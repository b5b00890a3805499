//! The recorded games of `tests/fixtures/streams`: `<set>/<level>/<kind>/NAME.ndjson` with the moves
//! that were played in `<set>/moves.txt` and what went wrong at the board in `<set>/<level>/mishaps.txt`.
#![allow(dead_code)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::play::play;
use touchmoved::{
    session::{
        event::Stamped,
        fact::{Fact, FactKind},
        setup::GameSetup,
    },
    wire::sensor_log,
};

const STREAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/streams");
/// Standard chess, Chess960, and games rich in promotions, en passant and castling.
pub const SETS: [&str; 3] = ["std", "c960", "special"];
/// Settled changes, contact edges, and identities.
const KINDS: [&str; 3] = ["occ", "raw", "full"];

/// One recorded game.
pub struct Stream {
    /// `occ`, `raw` or `full`.
    pub kind: &'static str,
    pub name: String,
    pub setup: GameSetup,
    pub events: Vec<Stamped>,
    /// The moves that were played.
    pub played: Vec<String>,
    /// What went wrong at the board, by ply counted from 1.
    pub mishaps: BTreeMap<usize, String>,
}

impl Stream {
    /// What names the game within its set and level.
    pub fn id(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }
}

pub fn folder(set: &str, level: &str) -> PathBuf {
    Path::new(STREAMS).join(set).join(level)
}

/// Lines of a name and words that belong to it.
fn table(file: &Path) -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some((words.next()?, words.collect()))
    };
    text.lines().filter_map(line).collect()
}

/// The games of a set at a level, in the order of their names.
pub fn streams(set: &str, level: &str) -> Vec<Stream> {
    let played = table(&Path::new(STREAMS).join(set).join("moves.txt"));
    let mishaps = table(&folder(set, level).join("mishaps.txt"));
    let mut streams = Vec::new();
    for kind in KINDS {
        for (name, moves) in &played {
            let Ok(log) = fs::read_to_string(folder(set, level).join(kind).join(format!("{name}.ndjson")))
            else {
                continue;
            };
            let mut lines = log.lines();
            let mishap = |word: &String| {
                let (ply, what) = word.split_once(':').unwrap();
                (ply.parse().unwrap(), what.replace('_', "-"))
            };
            streams.push(Stream {
                kind,
                name: name.clone(),
                setup: sensor_log::parse_header(lines.next().unwrap()).unwrap(),
                events: lines.map(|line| sensor_log::parse_event(line).unwrap()).collect(),
                played: moves.clone(),
                mishaps: mishaps.get(name).into_iter().flatten().map(mishap).collect(),
            });
        }
    }
    streams
}

/// The file with the known misses of a level.
pub fn known_misses(set: &str, level: &str) -> PathBuf {
    folder(set, level).join("known_misses.txt")
}

/// A move without the piece that a pawn became, which no occupancy board can tell.
pub fn without_promotion(uci: &str) -> &str {
    uci.get(..4).unwrap_or(uci)
}

/// What came out of one game.
pub struct Outcome {
    pub facts: Vec<Fact>,
    /// The moves at the end.
    pub found: Vec<String>,
    pub doubts: Vec<usize>,
    /// Runs of published moves that were not played.
    pub wrong: usize,
    /// Published moves that were withdrawn.
    pub withdrawn: usize,
    /// The first ply, counted from 1, that is not as it was played.
    pub first_wrong: Option<usize>,
}

/// Plays a game into a session and compares it with what was played.
pub fn run(stream: &Stream) -> Outcome {
    let (session, facts) = play(&stream.setup, &stream.events);
    let found: Vec<String> = session.best_line();
    let (wrong, withdrawn) = published(&facts, &stream.played);
    let first_wrong = first_difference(&found, &stream.played);
    Outcome { facts, doubts: session.doubts(), found, wrong, withdrawn, first_wrong }
}

/// The first ply, counted from 1, in which two games differ, the piece of a promotion aside.
pub fn first_difference(found: &[String], played: &[String]) -> Option<usize> {
    let at = |game: &[String], ply: usize| game.get(ply - 1).map(|uci| without_promotion(uci).to_owned());
    (1..=found.len().max(played.len())).find(|ply| at(found, *ply) != at(played, *ply))
}

/// Runs of published moves that were not played, and published moves that were withdrawn.
fn published(facts: &[Fact], played: &[String]) -> (usize, usize) {
    let (mut wrong, mut withdrawn, mut in_run) = (0, 0, false);
    for fact in facts {
        match &fact.kind {
            FactKind::MovePublished { ply, uci, .. } => {
                let right =
                    played.get(ply - 1).is_some_and(|mv| without_promotion(mv) == without_promotion(uci));
                wrong += usize::from(!right && !in_run);
                in_run = !right;
            }
            FactKind::MoveWithdrawn { published: true, .. } => {
                withdrawn += 1;
                in_run = false;
            }
            _ => {}
        }
    }
    (wrong, withdrawn)
}
