//! Pushes to Lichess by the real program: simulated boards, a configuration, a token in a file, a server with the rules
//! of Lichess.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod process;
#[path = "support/lichess.rs"]
mod server;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use process::{Daemon, get, journals, program};
use server::{Lichess, Pushed, ROUND, Scripted, TOKEN};
use touchmoved::{
    session::setup::GameSetup,
    simulate::{
        games::DemoGame,
        params::{Level, Params},
        simulate,
    },
    wire::sensor_log::{format_event, format_header},
};

/// A configuration with two boards; `lichess` are the keys of the table.
fn config(dir: &Path, lichess: &str, speed: u32) -> PathBuf {
    let token = dir.join("token");
    fs::write(&token, format!("{TOKEN}\n")).unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let path = dir.join("touchmoved.toml");
    let any = "listen = \"127.0.0.1:0\"";
    let mut text = format!(
        "[log]\nlevel = \"trace\"\n[data]\ndir = \"data\"\n[http]\n{any}\n[livechess]\n{any}\n\
         [lichess]\nround = \"{ROUND}\"\n{lichess}\n\
         [defaults]\ntime-control = \"5400+30\"\n[defaults.tags]\nevent = \"Test Open\"\nround = 3\n"
    );
    for (board, seed) in [("2", 0), ("1", 1)] {
        text += &format!(
            "[[board]]\nid = \"{board}\"\ntags = {{ white = \"White, {board}\", black = \"Black, {board}\" }}\n\
             [board.sensor.simulated]\nspeed = {speed}\nseed = {seed}\nlevel = \"clean\"\n"
        );
    }
    fs::write(&path, text).unwrap();
    path
}

fn to(lichess: &Lichess) -> String {
    format!("url = \"http://{}\"\ntoken-file = \"token\"", lichess.address)
}

/// The half-moves of each game.
fn plies(pushed: &Pushed) -> Vec<usize> {
    pushed.games().iter().map(|game| game.moves.len()).collect()
}

/// Waits for a push that both games are over in.
fn until_over(daemon: &mut Daemon, lichess: &Lichess) -> Vec<Pushed> {
    daemon.until("the end of both games", |_| {
        let requests = lichess.requests();
        let over = requests.iter().any(|pushed| pushed.games().iter().all(|game| game.tag("Result") != "*"));
        over.then_some(requests)
    })
}

/// True for a text that holds eight characters of the token in a row.
fn tells_token(text: &str) -> bool {
    (0..=TOKEN.len() - 8).any(|at| text.contains(&TOKEN[at..at + 8]))
}

/// Nothing that leaves the process, or stays on the disk, holds the token.
fn assert_kept(daemon: &mut Daemon, dir: &Path) {
    let address = daemon.http();
    for path in ["/metrics", "/healthz", "/api/push", "/api/boards", "/pgn/games.pgn"] {
        let (status, body) = get(address, path);
        assert_eq!(status, 200, "{path}");
        assert!(!tells_token(&body), "{path}: {body}");
    }
    for board in ["1", "2"] {
        for journal in journals(&dir.join("data"), board) {
            assert!(!tells_token(&fs::read_to_string(journal).unwrap()));
        }
    }
    assert!(!tells_token(&daemon.said()), "{}", daemon.said());
}

#[test]
fn a_server_that_sends_the_token_back_does_not_make_it_known() {
    let dir = tempfile::tempdir().unwrap();
    let lichess = Lichess::start();
    // Texts are cut after 200 characters, here in the midst of the token.
    let echo = format!("{}{TOKEN} tail", "x".repeat(203 - TOKEN.len()));
    let of_game = serde_json::json!({"games": [{"tags": {"White": "One"}, "error": echo}]});
    lichess.script([
        Scripted { body: serde_json::json!({ "error": echo }).to_string(), ..Scripted::status(500) },
        Scripted { body: of_game.to_string(), ..Scripted::status(200) },
    ]);
    let mut daemon = Daemon::with_config(&config(dir.path(), &to(&lichess), 1));
    daemon.wait_for("the server says 500: xxx");
    daemon.wait_for("Lichess does not take the game as it is: xxx");
    assert_kept(&mut daemon, dir.path());
    daemon.end();
}

#[test]
fn whole_games_arrive_and_the_token_stays_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let lichess = Lichess::start();
    let mut daemon = Daemon::with_config(&config(dir.path(), &to(&lichess), 100));
    let requests = until_over(&mut daemon, &lichess);
    assert!(requests.len() >= 3, "{}", requests.len());
    for pushed in &requests {
        assert_eq!(pushed.status, 200);
        let games = pushed.games();
        let tags = |name: &str| games.iter().map(|game| game.tag(name).to_owned()).collect::<Vec<_>>();
        assert_eq!(tags("Board"), ["2", "1"]);
        assert_eq!(tags("Round"), ["3.2", "3.1"]);
        assert_eq!(tags("White"), ["White, 2", "White, 1"]);
        assert_eq!(tags("TimeControl"), ["90+30", "90+30"]);
        assert!(games.iter().all(|game| game.error.is_none()));
    }
    // The PGN of the daemon itself has it as the standard says.
    assert!(get(daemon.http(), "/pgn/1.pgn").1.contains("[TimeControl \"5400+30\"]"));
    let last = requests.last().unwrap();
    assert_eq!(plies(last)[0], 33);
    assert!(
        last.games()[0]
            .comments
            .iter()
            .all(|comment| comment.starts_with("[%clk 1:") || comment.starts_with("[%clk 0:"))
    );
    let state = daemon.until("the answer", |daemon| {
        let state = daemon.json("/api/push")["lichess"].clone();
        (state["games"][0]["moves"] == 33).then_some(state)
    });
    assert_eq!((&state["round"], &state["games"][0]["board"]), (&ROUND.into(), &"2".into()));
    assert_eq!(state["games"][0]["error"], serde_json::Value::Null);
    assert_kept(&mut daemon, dir.path());
    daemon.end();
}

#[test]
fn a_daemon_without_a_network_catches_up_in_one_push() {
    let dir = tempfile::tempdir().unwrap();
    let gone = Lichess::start();
    let address = gone.address;
    let config = config(dir.path(), &to(&gone), 1000);
    drop(gone);
    let mut daemon = Daemon::with_config(&config);
    daemon.until("the end of both games", |daemon| {
        let boards = daemon.json("/api/boards");
        boards.as_array()?.iter().all(|board| board["status"] == "ended").then_some(())
    });
    daemon.wait_for("cannot be reached");
    let lichess = Lichess::start_at(address);
    let requests = until_over(&mut daemon, &lichess);
    assert_eq!(requests.len(), 1);
    assert_eq!(plies(&requests[0])[0], 33);
    daemon.wait_for("takes 2 game(s)");
    daemon.end();
    assert_eq!(lichess.requests().len(), 1);
}

#[test]
fn a_killed_daemon_tells_how_things_stand_when_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let lichess = Lichess::start();
    let config = config(dir.path(), &to(&lichess), 200);
    let mut daemon = Daemon::with_config(&config);
    daemon.until("some moves", |_| {
        lichess.requests().last().is_some_and(|pushed| plies(pushed)[0] > 8).then_some(())
    });
    daemon.kill();
    let before = lichess.requests();
    let mut daemon = Daemon::with_config(&config);
    let requests = until_over(&mut daemon, &lichess);
    let (known, next) = (plies(before.last().unwrap()), plies(&requests[before.len()]));
    assert!(known.iter().zip(&next).all(|(known, next)| known <= next), "{known:?}, then {next:?}");
    assert_eq!(plies(requests.last().unwrap())[0], 33);
    daemon.end();
}

/// Files below a directory: path and text. What was being written when the daemon was killed has another name.
fn tree(dir: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let hidden = path.file_name().unwrap().to_str().unwrap().starts_with('.');
            if path.is_dir() {
                dirs.push(path);
            } else if !hidden {
                let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn with_cloud(config: &Path, more: &str) {
    let text = fs::read_to_string(config).unwrap();
    let cloud = format!("[cloud]\nenabled = true\ndir = \"cloud\"\n{more}[lichess]");
    fs::write(config, text.replace("[lichess]", &cloud)).unwrap();
}

#[test]
fn a_game_that_is_over_stays_on_its_board_when_the_daemon_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let lichess = Lichess::start();
    let config = config(dir.path(), &to(&lichess), 1000);
    with_cloud(&config, "");
    let mut daemon = Daemon::with_config(&config);
    until_over(&mut daemon, &lichess);
    let pgn = dir.path().join("data/pgn");
    daemon.until("the files", |_| {
        let text = fs::read_to_string(pgn.join("round-3/games.pgn")).unwrap_or_default();
        (text.matches("[Result \"*\"]").count() == 0 && text.matches("[Event").count() == 2).then_some(())
    });
    daemon.end();
    let ended_ms = touchmoved::sysclock::wall_micros() / 1000;
    // The clock was heard before the end of the daemon; the journal knows it to the millisecond.
    let cloud_tree = || {
        let mut files = tree(&dir.path().join("cloud"));
        for (_, text) in &mut files {
            let time = |line: &str| {
                let time = line.trim().strip_prefix("\"time\": ")?;
                Some(time.trim_end_matches(',').parse::<u64>().unwrap())
            };
            assert!(text.lines().filter_map(time).all(|time| time <= ended_ms), "{text}");
            *text = text.lines().filter(|line| time(line).is_none()).collect();
        }
        files
    };
    let (files, cloud) = (tree(&pgn), cloud_tree());
    let last = lichess.requests().last().unwrap().body.clone();
    let boards = |daemon: &mut Daemon| -> Vec<(serde_json::Value, usize)> {
        let boards = daemon.json("/api/boards");
        let of =
            |board: &serde_json::Value| (board["result"].clone(), board["plies"].as_array().unwrap().len());
        boards.as_array().unwrap().iter().map(of).collect()
    };
    for _ in 0..2 {
        let before = lichess.requests().len();
        let mut daemon = Daemon::with_config(&config);
        assert_eq!(boards(&mut daemon)[0], ("1-0".into(), 33));
        daemon.wait_for("takes 2 game(s)");
        daemon.until("the recordings", |daemon| {
            (daemon.said().matches("nothing more to read").count() == 2).then_some(())
        });
        assert!(boards(&mut daemon).iter().all(|(result, plies)| *result != "*" && *plies > 0));
        daemon.kill();
        assert!(tree(&pgn) == files);
        assert_eq!(cloud_tree(), cloud, "and the time of its first move");
        for pushed in &lichess.requests()[before..] {
            assert_eq!(pushed.body, last);
        }
    }
    for board in ["1", "2"] {
        assert_eq!(journals(&dir.path().join("data"), board).len(), 1);
    }
}

#[test]
fn the_rest_of_a_round_goes_into_its_folder_and_not_into_the_next_round() {
    let dir = tempfile::tempdir().unwrap();
    let lichess = Lichess::start();
    let config = config(dir.path(), &(to(&lichess) + "\ndelay-s = 6"), 1000);
    with_cloud(&config, "delay-s = 6\n[pgn]\ndelay-s = 6\n");
    let mut daemon = Daemon::with_config(&config);
    daemon.until("the end of both games", |daemon| {
        let boards = daemon.json("/api/boards");
        boards.as_array()?.iter().all(|board| board["status"] == "ended").then_some(())
    });
    daemon.kill();
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("round = 3", "round = 4").replace("speed = 1000", "speed = 1")).unwrap();
    let before = lichess.requests().len();
    let pgn = dir.path().join("data/pgn");
    let read = |path: &str| fs::read_to_string(pgn.join(path)).unwrap_or_default();
    // Twice: the power may fail while the rest waits.
    for again in [true, false] {
        let mut daemon = Daemon::with_config(&config);
        daemon.wait_for("the rest of the game before waits");
        daemon
            .until("the folder of the next round", |_| (!read("round-4/games.pgn").is_empty()).then_some(()));
        assert_eq!(read("round-4/games.pgn").matches("[Round \"4.").count(), 2);
        assert!(!read("round-3/games.pgn").contains("Rd8#"), "it waits");
        daemon.until("a push", |_| (lichess.requests().len() > before + usize::from(!again)).then_some(()));
        if again {
            daemon.kill();
            continue;
        }
        daemon.until("the rest of the round", |_| read("round-3/games.pgn").contains("Rd8#").then_some(()));
        daemon.until("the next round on the boards", |_| {
            (read("games.pgn").matches("[Round \"4.").count() == 2).then_some(())
        });
        daemon.end();
    }
    let games = read("round-3/games.pgn");
    assert!(!games.contains("[Result \"*\"]") && games.matches("[Round \"3.").count() == 2, "{games}");
    assert_eq!(games, format!("{}\n{}", read("round-3/game-1.pgn"), read("round-3/game-2.pgn")));
    assert!(read("round-3/game-1.pgn").contains("[White \"White, 2\"]"));
    let cloud = tree(&dir.path().join("cloud"));
    let index = &cloud.iter().find(|(path, _)| path.ends_with("round-3/index.json")).unwrap().1;
    let index: serde_json::Value = serde_json::from_str(index).unwrap();
    assert_eq!(index["pairings"].as_array().unwrap().len(), 2);
    assert!(index["pairings"].as_array().unwrap().iter().all(|pairing| pairing["result"] != "*"), "{index}");
    let of_round = |path: &str| cloud.iter().filter(|(known, _)| known.contains(path)).count();
    assert_eq!((of_round("round-3/game-"), of_round("round-4/game-")), (2, 2));
    for pushed in &lichess.requests()[before..] {
        let rounds: Vec<_> = pushed.games().iter().map(|game| game.tag("Round").to_owned()).collect();
        assert_eq!(rounds, ["4.2", "4.1"]);
    }
}

/// Without a round nothing tells the next game from the last one but its first move.
#[test]
fn where_no_round_is_named_the_last_score_stays_until_the_next_game_begins() {
    let dir = tempfile::tempdir().unwrap();
    let lichess = Lichess::start();
    let config = config(dir.path(), &to(&lichess), 1000);
    let mut text = fs::read_to_string(&config).unwrap().replace("\nround = 3", "");
    for seed in [0, 1] {
        let simulated = format!("simulated]\nspeed = 1000\nseed = {seed}\nlevel = \"clean\"\n");
        assert!(text.contains(&simulated));
        text = text.replace(&simulated, "sensor-log]\npath = \"game.ndjson\"\npace = 1000\n");
    }
    fs::write(&config, &text).unwrap();
    let recording = dir.path().join("game.ndjson");
    let game = DemoGame::find("opera").unwrap().game(GameSetup::default());
    let simulation = simulate(&game, &Params::level(Level::Clean), 0).unwrap();
    let header = format_header(&simulation.setup);
    let events = simulation.events.iter().map(format_event);
    let whole = [header.clone()].into_iter().chain(events).collect::<Vec<_>>().join("\n") + "\n";
    fs::write(&recording, &whole).unwrap();
    let mut daemon = Daemon::with_config(&config);
    until_over(&mut daemon, &lichess);
    daemon.end();
    let pgn = dir.path().join("data/pgn");
    let (files, last) = (tree(&pgn), lichess.requests().last().unwrap().body.clone());
    // Nothing is played.
    fs::write(&recording, header + "\n").unwrap();
    for _ in 0..2 {
        let before = lichess.requests().len();
        let mut daemon = Daemon::with_config(&config);
        daemon.wait_for("takes 2 game(s)");
        assert_eq!(lichess.requests()[before].body, last);
        assert_eq!(
            get(daemon.http(), "/pgn/games.pgn").1,
            fs::read_to_string(pgn.join("games.pgn")).unwrap()
        );
        assert_eq!(daemon.json("/api/boards")[0]["result"], "*", "the page shows the board");
        daemon.kill();
        assert!(tree(&pgn) == files);
    }
    assert_eq!(journals(&dir.path().join("data"), "2").len(), 2, "the next game has its segment");
    // Slowly enough to be pushed while it is played.
    fs::write(&config, text.replace("pace = 1000\n", "pace = 100\n")).unwrap();
    fs::write(&recording, &whole).unwrap();
    let before = lichess.requests().len();
    let mut daemon = Daemon::with_config(&config);
    daemon.until("the end of the next games", |_| {
        let requests = lichess.requests();
        let requests = requests.get(before..)?;
        let begun =
            requests.iter().position(|pushed| pushed.games().iter().any(|game| game.tag("Result") == "*"))?;
        let is_over = |pushed: &Pushed| pushed.games().iter().all(|game| game.tag("Result") != "*");
        requests[begun..].iter().any(is_over).then_some(())
    });
    daemon.end();
}

#[test]
fn pushes_stay_behind_as_they_are_told_to() {
    let dir = tempfile::tempdir().unwrap();
    let lichess = Lichess::start();
    let keys = to(&lichess) + "\ndelay-s = 3600";
    let mut daemon = Daemon::with_config(&config(dir.path(), &keys, 1000));
    daemon.until("the end of both games", |daemon| {
        let boards = daemon.json("/api/boards");
        boards.as_array()?.iter().all(|board| board["status"] == "ended").then_some(())
    });
    daemon.end();
    let requests = lichess.requests();
    assert_eq!(requests.iter().map(plies).collect::<Vec<_>>(), [[0, 0]], "and nothing more at the end");
    assert!(requests[0].games().iter().all(|game| game.tag("Result") == "*"));
}

#[test]
fn a_wrong_token_is_told_once_and_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let lichess = Lichess::start();
    let config = config(dir.path(), &to(&lichess), 1000);
    fs::write(dir.path().join("token"), "lip_AnotherSecretToken").unwrap();
    let mut daemon = Daemon::with_config(&config);
    daemon.wait_for("the token is not valid (401)");
    let health = daemon.json("/healthz");
    assert_eq!(health["troubles"][0]["what"], "lichess");
    assert_eq!(health["status"], "degraded");
    daemon.until("the end of both games", |daemon| {
        let boards = daemon.json("/api/boards");
        boards.as_array()?.iter().all(|board| board["status"] == "ended").then_some(())
    });
    assert_eq!(daemon.said().matches("the token is not valid").count(), 1);
    assert_eq!(lichess.requests().len(), 1, "no push for each move that is not taken anyway");
    let said = daemon.said() + &get(daemon.http(), "/api/push").1 + &health.to_string();
    assert!(!said.contains("AnotherSecretToken"), "{said}");
    daemon.end();
}

/// What the program says when it cannot start.
fn refusal(config: &Path, credentials: Option<&Path>) -> String {
    let mut command = program();
    command.arg("run").arg("--config").arg(config).env_remove("CREDENTIALS_DIRECTORY");
    if let Some(dir) = credentials {
        command.env("CREDENTIALS_DIRECTORY", dir);
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_token_comes_from_its_file_or_from_the_service_manager() {
    let dir = tempfile::tempdir().unwrap();
    let lichess = Lichess::start();
    let url = format!("url = \"http://{}\"", lichess.address);
    let config = config(dir.path(), &url, 1000);
    let said = refusal(&config, None);
    assert!(
        said.contains("name its file with lichess.token-file") && said.contains("LoadCredential"),
        "{said}"
    );
    let credentials = dir.path().join("credentials");
    fs::create_dir(&credentials).unwrap();
    let said = refusal(&config, Some(&credentials));
    assert!(said.contains("credentials/lichess-token: cannot read the token"), "{said}");
    let file = credentials.join("lichess-token");
    fs::write(&file, "two words, which are SECRET").unwrap();
    let said = refusal(&config, Some(&credentials));
    assert!(said.contains("study:write") && !said.contains("SECRET"), "{said}");
    fs::write(&file, TOKEN).unwrap();
    let mut command = program();
    command.arg("run").arg("--config").arg(&config).env("CREDENTIALS_DIRECTORY", &credentials);
    let mut daemon = Daemon::start(command);
    daemon.wait_for("takes 2 game(s)");
    daemon.end();
}

#[cfg(feature = "tls")]
mod tls {
    use super::*;

    /// A server with a certificate of its own, and the configuration that trusts the one in `ca`.
    fn secured(dir: &Path, certificate: &str) -> (Lichess, PathBuf) {
        let key = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let lichess = Lichess::start_tls(&key);
        let own = key.cert.pem();
        fs::write(dir.join("ca.pem"), if certificate.is_empty() { &own } else { certificate }).unwrap();
        let keys = format!(
            "url = \"https://localhost:{}\"\ntoken-file = \"token\"\nca-file = \"ca.pem\"",
            lichess.address.port()
        );
        (lichess, config(dir, &keys, 200))
    }

    #[test]
    fn games_arrive_over_tls_on_one_connection() {
        let dir = tempfile::tempdir().unwrap();
        let (lichess, config) = secured(dir.path(), "");
        let mut daemon = Daemon::with_config(&config);
        let requests = until_over(&mut daemon, &lichess);
        assert_eq!(plies(requests.last().unwrap())[0], 33);
        assert!(requests.len() > 1);
        assert_eq!(lichess.connections(), 1);
        assert_kept(&mut daemon, dir.path());
        daemon.end();
    }

    #[test]
    fn a_certificate_that_is_made_for_an_authority_is_told_as_that() {
        let dir = tempfile::tempdir().unwrap();
        let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let signing_key = rcgen::KeyPair::generate().unwrap();
        let cert = params.self_signed(&signing_key).unwrap();
        let lichess = Lichess::start_tls(&rcgen::CertifiedKey { cert, signing_key });
        let (other, config) = secured(dir.path(), "");
        let text = fs::read_to_string(&config).unwrap();
        let (its, ours) = (other.address.port().to_string(), lichess.address.port().to_string());
        fs::write(&config, text.replace(&its, &ours)).unwrap();
        let mut daemon = Daemon::with_config(&config);
        let said = daemon.wait_for("no secure connection to https://localhost");
        assert!(said.contains("CA:FALSE") && !said.contains("date of this machine"), "{said}");
        daemon.end();
        assert!(lichess.requests().is_empty());
    }

    #[test]
    fn a_server_that_nobody_vouches_for_gets_no_token() {
        let dir = tempfile::tempdir().unwrap();
        let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let (lichess, config) = secured(dir.path(), &other.cert.pem());
        let mut daemon = Daemon::with_config(&config);
        let said = daemon.wait_for("no secure connection to https://localhost");
        assert!(said.contains("date of this machine"), "{said}");
        daemon.end();
        assert!(lichess.requests().is_empty());
        fs::write(dir.path().join("ca.pem"), "no certificate").unwrap();
        assert!(refusal(&config, None).contains("lichess.ca-file has no certificate"));
    }
}
