//! The rounds of a tournament one after another in the real program: what is on the boards and in the files when the
//! configuration goes on to the next round, and when it comes back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod process;

use std::{fs, path::PathBuf};

use process::{Daemon, assert_replayed, assert_verified, journals, moves};
use serde_json::Value;
use touchmoved::{
    session::setup::GameSetup,
    simulate::{
        games::{DemoGame, GAMES},
        params::{Level, Params},
        simulate,
    },
    wire::sensor_log::{format_event, format_header},
};

/// A hall: a configuration of one round after another, over the same data.
struct Hall {
    dir: tempfile::TempDir,
    delay_s: u64,
}

impl Hall {
    fn new(delay_s: u64) -> Hall {
        Hall { dir: tempfile::tempdir().unwrap(), delay_s }
    }

    /// A board that reads `<board>.ndjson`; `tags` are more of its tags.
    fn board(board: &str, tags: &str) -> String {
        format!(
            "[[board]]\nid = \"{board}\"\ntags = {{ white = \"White, {board}\", black = \"Black, {board}\"{tags} }}\n\
             [board.sensor.sensor-log]\npath = \"{board}.ndjson\"\npace = \"as-fast-as-possible\"\n"
        )
    }

    /// Starts the daemon with these boards in this round.
    fn start(&self, round: &str, boards: &[String]) -> Daemon {
        let (any, delay) = ("listen = \"127.0.0.1:0\"", self.delay_s);
        let text = format!(
            "[data]\ndir = \"data\"\n[http]\n{any}\n[livechess]\n{any}\n[dgt-emulation]\nenabled = false\n\
             [pgn]\ndelay-s = {delay}\n[cloud]\nenabled = true\ndir = \"cloud\"\ndelay-s = {delay}\n\
             [defaults.tags]\nevent = \"Test Open\"\nround = {round:?}\n{}",
            boards.concat()
        );
        let path = self.dir.path().join("touchmoved.toml");
        fs::write(&path, text).unwrap();
        Daemon::with_config(&path)
    }

    /// What the board reads: at least so many events of this game.
    fn record(&self, board: &str, game: &str, events: usize) {
        fs::write(self.dir.path().join(format!("{board}.ndjson")), recording(game, events)).unwrap();
    }

    fn pgn(&self, path: &str) -> String {
        fs::read_to_string(self.dir.path().join("data/pgn").join(path)).unwrap_or_default()
    }

    /// The documents of a round of the Cloud.
    fn cloud(&self, round: &str, file: &str) -> Option<Value> {
        let tournaments = fs::read_dir(self.dir.path().join("cloud/get")).ok()?;
        let folder: PathBuf = tournaments.flatten().next()?.path();
        let text = fs::read_to_string(folder.join(format!("round-{round}")).join(file)).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }
}

/// The header and the first events of a simulated game, up to a press.
fn recording(game: &str, events: usize) -> String {
    let game = DemoGame::find(game).unwrap().game(GameSetup::default());
    let simulation = simulate(&game, &Params::level(Level::Clean), 0).unwrap();
    let mut lines = vec![format_header(&simulation.setup)];
    for event in simulation.events.iter().map(format_event) {
        if lines.len() > events && lines.last().is_some_and(|last| events == 0 || last.contains("\"clock\":"))
        {
            break;
        }
        lines.push(event);
    }
    lines.join("\n") + "\n"
}

const WHOLE: usize = usize::MAX;
/// Some moves of a game.
const PART: usize = 200;
const OPERA: &str = "opera";

fn state(daemon: &mut Daemon, board: &str) -> Value {
    daemon.json(&format!("/api/boards/{board}"))
}

fn until_over(daemon: &mut Daemon, boards: &[&str]) {
    for board in boards {
        daemon.until("the end of a game", |daemon| (state(daemon, board)["status"] == "ended").then_some(()));
    }
}

fn other_game() -> &'static str {
    GAMES.iter().map(|game| game.name).find(|name| *name != OPERA).unwrap()
}

/// A quarter of an hour of delay, and a blitz: two rounds are over before anything of the first may be shown.
#[test]
fn rounds_that_follow_one_another_within_the_delay_all_leave() {
    let hall = Hall::new(15);
    let boards = [Hall::board("1", ""), Hall::board("2", "")];
    for round in ["1", "2"] {
        hall.record("1", OPERA, WHOLE);
        hall.record("2", OPERA, WHOLE);
        let mut daemon = hall.start(round, &boards);
        until_over(&mut daemon, &["1", "2"]);
        daemon.kill();
    }
    hall.record("1", OPERA, 0);
    hall.record("2", OPERA, 0);
    let mut daemon = hall.start("3", &boards);
    daemon.until("the rest of both rounds", |_| {
        let over = |round: &str| {
            let games = hall.pgn(&format!("round-{round}/games.pgn"));
            let index = hall.cloud(round, "index.json")?;
            let results = index["pairings"].as_array()?.iter().filter(|pairing| pairing["result"] == "1-0");
            (games.matches("[Result \"1-0\"]").count() == 2 && results.count() == 2).then_some(())
        };
        over("1").and_then(|()| over("2"))
    });
    assert!(hall.pgn("round-1/game-1.pgn").contains("[Round \"1.1\"]"));
    assert!(hall.pgn("round-2/game-2.pgn").contains("[Round \"2.2\"]"));
    assert!(hall.pgn("round-3/games.pgn").matches("[Result \"*\"]").count() == 2);
    daemon.end();
}

/// A knock-out: the second board is not set up any more.
#[test]
fn the_rest_of_a_board_leaves_that_the_next_round_does_not_have() {
    let hall = Hall::new(8);
    let boards = [Hall::board("1", ""), Hall::board("2", "")];
    hall.record("1", OPERA, WHOLE);
    hall.record("2", OPERA, WHOLE);
    let mut daemon = hall.start("1", &boards);
    until_over(&mut daemon, &["1", "2"]);
    daemon.kill();
    hall.record("2", OPERA, 0);
    // Twice: the power may fail while the rest waits.
    for again in [true, false] {
        let mut daemon = hall.start("2", &boards[1..]);
        daemon.wait_for("ready, 1 board");
        if again {
            daemon.kill();
            continue;
        }
        daemon.until("the rest of the round", |_| {
            let games = hall.pgn("round-1/games.pgn");
            let index = hall.cloud("1", "index.json")?;
            let results = index["pairings"].as_array()?.iter().filter(|pairing| pairing["result"] == "1-0");
            (games.matches("[Result \"1-0\"]").count() == 2 && results.count() == 2).then_some(())
        });
        for number in ["1", "2"] {
            let game = hall.pgn(&format!("round-1/game-{number}.pgn"));
            assert!(
                game.contains(&format!("[White \"White, {number}\"]")) && game.contains("Rd8#"),
                "{game}"
            );
            let game = hall.cloud("1", &format!("game-{number}.json")).unwrap();
            assert_eq!(
                (&game["serialNr"], &game["result"]),
                (&format!("9000{number}").into(), &"WHITEWIN".into())
            );
            assert_eq!(game["moves"].as_array().unwrap().len(), 33);
        }
        assert_eq!(
            hall.pgn("round-2/games.pgn").matches("[Event ").count(),
            1,
            "it is played without board 1"
        );
        daemon.end();
    }
}

/// Two groups of one event, each with a board 7.
#[test]
fn boards_with_the_same_tags_keep_their_games_apart() {
    let hall = Hall::new(8);
    let boards = ["1", "2"].map(|board| {
        Hall::board(board, ", board = \"7\"")
            .replace(&format!("White, {board}"), "White")
            .replace(&format!("Black, {board}"), "Black")
    });
    hall.record("1", OPERA, WHOLE);
    hall.record("2", other_game(), WHOLE);
    let mut daemon = hall.start("1", &boards);
    until_over(&mut daemon, &["1", "2"]);
    let ends = ["1", "2"]
        .map(|board| state(&mut daemon, board)["plies"].as_array().unwrap().last().unwrap()["san"].clone());
    daemon.kill();
    for board in ["1", "2"] {
        hall.record(board, OPERA, 0);
    }
    let mut daemon = hall.start("2", &boards);
    for (number, end) in [("1", &ends[0]), ("2", &ends[1])] {
        let end = format!(" {} ", end.as_str().unwrap());
        daemon.until("the game of each board in its file", |_| {
            hall.pgn(&format!("round-1/game-{number}.pgn")).replace('\n', " ").contains(&end).then_some(())
        });
    }
    assert_eq!(hall.pgn("round-1/games.pgn").matches("[Event ").count(), 2);
    daemon.end();
}

/// A round by mistake, and a round that is played while a game is adjourned.
#[test]
fn a_round_that_is_named_again_has_its_games_again() {
    for events_between in [0, WHOLE] {
        let hall = Hall::new(0);
        let boards = [Hall::board("1", ""), Hall::board("2", "")];
        hall.record("1", OPERA, WHOLE);
        hall.record("2", OPERA, PART);
        let mut daemon = hall.start("1", &boards);
        until_over(&mut daemon, &["1"]);
        let played = daemon.until("some moves on board 2", |daemon| {
            daemon.wait_for("board 2: there is nothing more to read");
            let played = moves(&state(daemon, "2"));
            (played.len() > 4).then_some(played)
        });
        daemon.end();
        let (files, cloud) = (hall.pgn("round-1/games.pgn"), hall.cloud("1", "index.json"));
        assert!(files.contains("[Result \"1-0\"]") && files.contains("[Result \"*\"]"), "{files}");
        for board in ["1", "2"] {
            hall.record(board, other_game(), events_between);
        }
        let mut daemon = hall.start("2", &boards);
        if events_between > 0 {
            until_over(&mut daemon, &["1", "2"]);
        } else {
            daemon.wait_for("ready, 2 board");
        }
        daemon.end();
        assert_eq!(hall.pgn("round-1/games.pgn"), files);
        // Back, and killed once; then the rest is played.
        for board in ["1", "2"] {
            hall.record(board, OPERA, if board == "1" { WHOLE } else { PART });
        }
        for _ in 0..2 {
            let mut daemon = hall.start("1", &boards);
            daemon.wait_for("ready, 2 board");
            assert_eq!(state(&mut daemon, "1")["result"], "1-0", "{events_between}");
            assert_eq!(moves(&state(&mut daemon, "2")), played, "{events_between}");
            daemon.end();
            assert_eq!(hall.pgn("round-1/games.pgn"), files);
            assert_eq!(hall.cloud("1", "index.json"), cloud);
        }
        hall.record("2", OPERA, WHOLE);
        let mut daemon = hall.start("1", &boards);
        until_over(&mut daemon, &["2"]);
        assert_eq!(moves(&state(&mut daemon, "2")).len(), 33);
        daemon.end();
        let segments = journals(&hall.data(), "2");
        assert_eq!(segments.len(), 3, "one for each time that the round was another one");
        for segment in &segments {
            assert_verified(segment);
            assert_replayed(segment);
        }
    }
}
