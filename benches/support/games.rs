//! The recorded games of the benches.

use std::{fs, path::Path};

use shakmaty::Chess;
use touchmoved::{
    session::{event::Stamped, setup::GameSetup},
    wire::sensor_log,
};

/// A recorded game.
pub struct Game {
    pub setup: GameSetup,
    pub lines: Vec<String>,
    pub events: Vec<Stamped>,
    pub start: Chess,
    pub moves: Vec<String>,
}

/// How the games were handled: deliberately, as in a tournament, in a blitz scramble.
pub const LEVELS: [&str; 3] = ["clean", "tournament", "chaos"];

/// The recorded games of a level.
pub fn games(level: &str) -> Vec<Game> {
    let mut games = Vec::new();
    for set in ["std", "c960", "special"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams").join(set);
        for line in fs::read_to_string(folder.join("moves.txt")).unwrap().lines() {
            let mut words = line.split(' ').map(str::to_owned);
            let name = words.next().unwrap();
            // Some games were recorded at the other levels only.
            let Ok(log) = fs::read_to_string(folder.join(format!("{level}/occ/{name}.ndjson"))) else {
                continue;
            };
            let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
            let setup = sensor_log::parse_header(&lines.remove(0)).unwrap();
            let events = lines.iter().map(|line| sensor_log::parse_event(line).unwrap()).collect();
            let start = setup.position().unwrap();
            games.push(Game { setup, lines, events, start, moves: words.collect() });
        }
    }
    games
}
