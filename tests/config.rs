//! The real `touchmoved check-config`: one bad file for each error, with the exact message; correct
//! files with their summary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use touchmoved::{
    config,
    publish::release::{Delay, Policy, Threshold},
};

/// A board that is right; cases add what is wrong.
const BOARD: &str = "[[board]]\nid = \"1\"\n[board.sensor.simulated]\n";

fn check_config(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_touchmoved"))
        .arg("check-config")
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Each line of `expected` must come out, in this order, and nothing else.
#[track_caller]
fn refuses(text: &str, expected: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bad.toml"), text).unwrap();
    let output = check_config(dir.path(), &["bad.toml"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> =
        stderr.lines().map(|line| line.strip_prefix("bad.toml:").unwrap_or(line)).collect();
    assert_eq!(lines, expected, "\n{text}");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

/// The whole file is `head` and a board that is right.
#[track_caller]
fn refuses_head(head: &str, expected: &[&str]) {
    refuses(&format!("{head}\n{BOARD}"), expected);
}

/// The file is one board with these lines after its id.
#[track_caller]
fn refuses_board(lines: &str, expected: &[&str]) {
    refuses(&format!("[[board]]\nid = \"1\"\n{lines}\n"), expected);
}

#[test]
fn what_is_not_toml() {
    refuses_head(
        "[data]\ndir = /var",
        &["2:7: not TOML: string values must be quoted, expected literal string"],
    );
    refuses_head("[data]\ndir = \"a\"\ndir = \"b\"", &["3:1: not TOML: duplicate key"]);
    refuses_head("[data\ndir = \"a\"", &["1:6: not TOML: unclosed table, expected `]`"]);
}

#[test]
fn problems_beside_broken_lines_are_told_too() {
    refuses(
        "[log]\nlevel = loud\n[data]\nsync-interval-ms = 5\n[[board]]\nid = 1\n",
        &[
            "2:9: not TOML: string values must be quoted, expected literal string",
            "4:20: data.sync-interval-ms: expected a whole number of milliseconds from 10 to 1000, found 5",
        ],
    );
}

#[test]
fn a_round_of_lichess() {
    refuses_head(
        "[lichess]\nurl = \"http://127.0.0.1:9\"\ntoken = \"lip_x\"\ntoken-file = \"t\"",
        &[
            "1:1: lichess.round: missing; the round of the broadcast that the boards are pushed into, such as \
             \"AbCdEfGh\"",
            "3:1: lichess.token: unknown key; known here: allow-http, ca-file, delay-plies, delay-s, enabled, \
             interval-ms, publish, round, token-file, url",
        ],
    );
    refuses_head(
        "[lichess]\nround = \"https://lichess.org/x\"\nurl = \"lichess.org\"\ntoken-file = \"-\"\ninterval-ms = 5",
        &[
            "2:9: lichess.round: expected the 8 letters and digits at the end of the address of the round \
             (https://lichess.org/broadcast/.../.../AbCdEfGh), found \"https://lichess.org/x\"",
            "3:7: lichess.url: expected a scheme and a host without a path, such as \"https://lichess.org\", found \
             \"lichess.org\"",
            "4:14: lichess.token-file: it is read from a file, not from standard input",
            "5:15: lichess.interval-ms: expected a whole number of milliseconds from 100 to 60000, found 5",
        ],
    );
    refuses_head(
        "[lichess]\nround = \"AbCdEfGh\"\nurl = \"http://mirror.example\"\nca-file = \"ca.pem\"",
        &[
            "3:7: lichess.url: the token would be sent for everybody on the way to read; use https, or say \
             allow-http = true",
            "4:11: lichess.ca-file: lichess.url begins with http://, where nobody vouches for the server",
        ],
    );
    let boards: String =
        (1..=101).map(|id| format!("[[board]]\nid = \"{id}\"\n[board.sensor.simulated]\n")).collect();
    refuses(
        &format!("[lichess]\nround = \"AbCdEfGh\"\nurl = \"http://127.0.0.1:9\"\n{boards}"),
        &[
            "1:1: lichess: Lichess takes 100 games in one push, and this file has 101 boards; let two daemons push into \
           two rounds",
        ],
    );
}

/// A build without TLS says so, where TLS is needed.
#[cfg(not(feature = "tls"))]
#[test]
fn https_needs_a_build_with_tls() {
    let why = "this build has no TLS, which https needs; build touchmoved with the feature tls";
    refuses_head("[lichess]\nround = \"AbCdEfGh\"", &[&format!("1:1: lichess.url: {why}")]);
    refuses_head(
        "[lichess]\nround = \"AbCdEfGh\"\nurl = \"https://x.example\"",
        &[&format!("3:7: lichess.url: {why}")],
    );
}

#[test]
fn a_token_is_a_file_and_needs_http() {
    refuses_head(
        "[http]\nenabled = false\n[arbiter]\ntoken-file = \"token\"",
        &["4:14: arbiter.token-file: the arbiter's page is a part of [http], which is switched off"],
    );
    refuses_head(
        "[arbiter]\nassistant-token-file = \"-\"",
        &["2:24: arbiter.assistant-token-file: a token is read from a file, not from standard input"],
    );
    refuses_head(
        "[arbiter]\ntoken = \"secret\"",
        &["2:1: arbiter.token: unknown key; known here: assistant-token-file, token-file"],
    );
}

#[test]
fn unknown_keys() {
    refuses_head(
        "colour = 1",
        &[
            "1:1: colour: unknown key; known here: arbiter, board, cloud, data, defaults, dgt-emulation, http, lichess, livechess, log, operator, pgn, release, stream",
        ],
    );
    refuses_head("[data]\ndri = \"x\"", &["2:1: data.dri: unknown key; did you mean dir?"]);
    refuses_head(
        "[data]\nSync_Interval_ms = 50",
        &["2:1: data.Sync_Interval_ms: unknown key; did you mean sync-interval-ms?"],
    );
    refuses_head(
        "[defaults]\nid = 1",
        &[
            "2:1: defaults.id: unknown key; known here: adjournment, castling, chess960, class, clock, colours-reversed, completion, dead, default-time-s, discipline, displace, draw, feed, flag, illegal, notation, orientation, peg, promotion, publish, quickplay, record, resign, rules, setup, start-fen, supervision, tags, time-control, time-control-black, time-control-white, touch, two-board, variant",
        ],
    );
    refuses_head(
        "[defaults.tags]\nwhite = \"A\"",
        &["2:1: defaults.tags.white: unknown key; known here: date, event, round, site"],
    );
    refuses_board(
        "[board.sensor.dgt]\nport = \"/dev/ttyUSB0\"\nbaud = 9600",
        &[
            "5:1: board.sensor.dgt.baud: unknown key; known here: dtr-rts, port, serial-number, stored-moves, updates",
        ],
    );
    refuses_board(
        "[board.sensor.reed]\n[board.sensor.simulated]",
        &["3:15: board.sensor.reed: unknown key; known here: dgt, matrix, peg, sensor-log, simulated"],
    );
}

#[test]
fn wrong_types() {
    refuses_head(
        "[log]\nlevel = 3",
        &["2:9: log.level: expected \"error\", \"warn\", \"info\", \"debug\" or \"trace\", found 3"],
    );
    refuses_head(
        "[data]\ndir = []",
        &["2:7: data.dir: expected a text in quotes, of 1 to 255 characters on one line, found a list of 0"],
    );
    refuses_head("[http]\nenabled = \"yes\"", &["2:11: http.enabled: expected true or false, found \"yes\""]);
    refuses_head("http = true", &["1:8: http: expected a table, [http], found true"]);
    refuses_head(
        "[data]\nsync-interval-ms = 50.5",
        &["2:20: data.sync-interval-ms: expected a whole number of milliseconds from 10 to 1000, found 50.5"],
    );
    refuses(
        "[board]\nid = \"1\"\n",
        &["1:1: board: expected a list of tables, each one starting with [[board]] in double brackets"],
    );
    refuses_board(
        "sensor.simulated = {}\ntags.white = 1",
        &["4:14: board.tags.white: expected a text in quotes, of 1 to 255 characters on one line, found 1"],
    );
    refuses_board(
        "sensor.simulated = {}\ntags.black = \"\"\"a\nb\"\"\"",
        &[
            "4:14: board.tags.black: expected a text in quotes, of 1 to 255 characters on one line, found \"a\\nb\"",
        ],
    );
}

#[test]
fn addresses() {
    refuses_head(
        "[http]\nlisten = \"localhost:8080\"",
        &[
            "2:10: http.listen: expected an address and a port, such as \"127.0.0.1:8080\" (this machine only) or \"0.0.0.0:8080\" (every network), found \"localhost:8080\"",
        ],
    );
    refuses_head(
        "[livechess]\nlisten = \"127.0.0.1:66000\"",
        &[
            "2:10: livechess.listen: expected an address and a port, such as \"127.0.0.1:1982\" (this machine only) or \"0.0.0.0:1982\" (every network), found \"127.0.0.1:66000\"",
        ],
    );
    refuses_head(
        "[livechess]\nlisten = \"0.0.0.0:8080\"",
        &["2:10: livechess.listen: port 8080 is taken by http.listen; give each its own"],
    );
    refuses_head(
        "[http]\nlisten = \"127.0.0.1:1982\"",
        &["2:10: http.listen: port 1982 is taken by livechess.listen; give each its own"],
    );
    refuses_head(
        "[http]\nmax-connections = 0",
        &["2:19: http.max-connections: expected a whole number from 1 to 10000, found 0"],
    );
    refuses_head(
        "[livechess]\nallowed-origins = [\"https://a.example/x\"]",
        &[
            "2:20: livechess.allowed-origins: expected an origin such as \"https://club.example\", scheme and host without a path, found \"https://a.example/x\"",
        ],
    );
    refuses_head(
        "[livechess]\nallowed-origins = \"*\"",
        &[
            "2:19: livechess.allowed-origins: expected a list in square brackets, each item an origin such as \"https://club.example\", scheme and host without a path, found \"*\"",
        ],
    );
}

#[test]
fn what_leaves_when() {
    refuses_head(
        "[release]\ndelay-s = 86401\ndelay-plies = 500\npublish = \"pressed\"",
        &[
            "2:11: release.delay-s: expected a whole number of seconds from 0 to 86400, found 86401",
            "3:15: release.delay-plies: expected a whole number of half-moves from 0 to 400, found 500",
            "4:11: release.publish: expected \"made\" or \"completed\", found \"pressed\"",
        ],
    );
    refuses_head(
        "[pgn]\ndelay = 900",
        &[
            "2:1: pgn.delay: unknown key; known here: delay-plies, delay-s, dir, enabled, illegal, publish, time-control",
        ],
    );
    refuses_head(
        "[release]\ndelay-s = 60\n[livechess]\nlisten = \"127.0.0.1:8081\"",
        &["4:10: livechess.listen: port 8081 is taken by operator.listen; give each its own"],
    );
    let text = "[release]\ndelay-s = 900\n[http]\ndelay-plies = 2\n[livechess]\ndelay-s = 0\n\
                [pgn]\npublish = \"completed\"\n";
    let config = config::parse("t.toml", &format!("{text}{BOARD}")).unwrap();
    let us = 900_000_000;
    assert_eq!(config.release.http.delay, Delay { us, plies: 2 });
    assert_eq!(config.release.livechess, Policy::default());
    assert_eq!(config.livechess_moves, Threshold::Completed);
    let pgn = Policy { threshold: Threshold::Completed, delay: Delay { us, plies: 0 } };
    assert_eq!(config.release.pgn, pgn);
    assert_eq!(config.operator.unwrap().to_string(), "127.0.0.1:8081", "the public page is late");
    let config = config::parse("t.toml", BOARD).unwrap();
    assert_eq!((config.operator, config.release.http), (None, Policy::default()));
}

#[test]
fn files_of_the_cloud_and_what_the_operator_says_of_a_board() {
    refuses_head(
        "[http]\nenabled = false\n[cloud]\nenabled = true\nhost = \"http://x/\"\n[pgn]\nillegal = \"never\"",
        &[
            "4:11: cloud.enabled: [http] is switched off, which would serve the files; set cloud.dir, too",
            "5:8: cloud.host: expected a host such as \"boards.example\" or \"192.0.2.7:8080\", found \"http://x/\"",
            "7:11: pgn.illegal: expected \"go-on\" or \"stop\", found \"never\"",
        ],
    );
    refuses_board(
        "[board.tags]\nwhite-federation = \"Ned\"\nblack-elo = 0\n[board.livechess]\nactive = \"no\"\n\
         [board.sensor.simulated]",
        &[
            "4:20: board.tags.white-federation: expected three capital letters such as \"NED\", found \"Ned\"",
            "5:13: board.tags.black-elo: expected a whole number from 1 to 4000, found 0",
            "7:10: board.livechess.active: expected true or false, found \"no\"",
        ],
    );
    let text = "[release]\ndelay-s = 5\n[http]\ndelay-s = 60\n[cloud]\nenabled = true\ndir = \"c\"\n";
    let read = config::parse("conf/a.toml", &format!("{text}{BOARD}")).unwrap();
    let delay = Delay { us: 60_000_000, plies: 0 };
    assert_eq!(read.release.cloud, Policy { threshold: Threshold::Completed, delay }, "as late as the page");
    assert_eq!(read.cloud.unwrap().dir.as_deref(), Some(Path::new("conf/c")));
    assert!(config::parse("a.toml", BOARD).unwrap().cloud.is_none());
}

#[test]
fn a_certificate_and_its_key_come_together() {
    refuses_head(
        "[livechess]\ncertificate = \"cert.pem\"",
        &["2:15: livechess.certificate: needs livechess.key, too"],
    );
    refuses_head("[livechess]\nkey = \"key.pem\"", &["2:7: livechess.key: needs livechess.certificate, too"]);
    let text = format!("[livechess]\ncertificate = \"cert.pem\"\nkey = \"/key.pem\"\n{BOARD}");
    let files = config::parse("conf/a.toml", &text).unwrap().livechess_tls.unwrap();
    assert_eq!((files.0.as_path(), files.1.as_path()), (Path::new("conf/cert.pem"), Path::new("/key.pem")));
}

#[test]
fn the_game() {
    refuses_head(
        "[defaults]\nrules = \"fide-2024\"",
        &["2:9: defaults.rules: expected \"fide-2005\", \"fide-2023\" or \"ua\", found \"fide-2024\""],
    );
    refuses_head(
        "[defaults]\ndiscipline = \"bullet\"",
        &[
            "2:14: defaults.discipline: expected \"standard\", \"rapid\", \"blitz\" or \"auto\", found \"bullet\"",
        ],
    );
    refuses_head(
        "[defaults]\nsupervision = \"none\"",
        &["2:15: defaults.supervision: expected \"full\" or \"basic\", found \"none\""],
    );
    refuses_head(
        "[defaults]\nvariant = \"960\"",
        &["2:11: defaults.variant: expected \"standard\" or \"chess960\", found \"960\""],
    );
    refuses_head(
        "[defaults]\norientation = \"north\"",
        &[
            "2:15: defaults.orientation: expected \"auto\", \"white-south\" or \"white-north\", found \"north\"",
        ],
    );
    refuses_head(
        "[defaults.touch]\nrelease-dwell-ms = -1",
        &[
            "2:20: defaults.touch.release-dwell-ms: expected a whole number of milliseconds from 0 to 10000, found -1",
        ],
    );
    refuses_head(
        "[defaults.publish]\nextend-ms = 60001",
        &[
            "2:13: defaults.publish.extend-ms: expected a whole number of milliseconds from 0 to 60000, found 60001",
        ],
    );
    refuses_board(
        "discipline = \"auto\"\nsensor.simulated = {}",
        &["3:14: board.discipline: \"auto\" is found from time-control; give that, too"],
    );
}

#[test]
fn the_settings_of_the_laws() {
    refuses_head(
        "[defaults.draw]\nclaim-lost-on = \"press\"",
        &["2:17: defaults.draw.claim-lost-on: expected \"move\" or \"touch\", found \"press\""],
    );
    refuses_head(
        "[defaults.illegal]\nloss-at = 0\nbonus-ms = 1.5\nremove-increment = \"no\"",
        &[
            "2:11: defaults.illegal.loss-at: expected a whole number from 1 to 100, found 0",
            "3:12: defaults.illegal.bonus-ms: expected a whole number of milliseconds from 0 to 3600000, found 1.5",
            "4:20: defaults.illegal.remove-increment: expected true or false, found \"no\"",
        ],
    );
    refuses_head(
        "[defaults.flag]\nalert = \"arbiter\"\nboth-rappid = \"draw\"",
        &[
            "2:9: defaults.flag.alert: expected a table, [defaults.flag.alert], found \"arbiter\"",
            "3:1: defaults.flag.both-rappid: unknown key; did you mean both-rapid?",
        ],
    );
    refuses_board(
        "default-time-s = -1\nquickplay = \"yes\"\nflag.alert.rapid = \"player\"\nsensor.simulated = {}",
        &[
            "3:18: board.default-time-s: expected a whole number of seconds from 0 to 86400, found -1",
            "4:13: board.quickplay: expected \"off\", \"on\", \"five-second\", \"five-second-delay\" or \"no-arbiter\", found \"yes\"",
            "5:20: board.flag.alert.rapid: expected \"arbiter\" or \"journal\", found \"player\"",
        ],
    );
}

#[test]
fn what_differs_from_the_edition_is_summed_up() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[defaults]\ndiscipline = \"auto\"\ntime-control = \"900+10\"\nillegal.loss-at = 3\n\
                [[board]]\nid = 1\ndraw.auto-75 = false\nclock.tolerance-ms = 1500\nsensor.simulated = {}\n\
                [[board]]\nid = 2\nrules = \"fide-2005\"\nsupervision = \"full\"\nsensor.simulated = {}\n";
    std::fs::write(dir.path().join("laws.toml"), text).unwrap();
    let stdout = String::from_utf8(check_config(dir.path(), &["laws.toml"]).stdout).unwrap();
    let boards: Vec<&str> = stdout.lines().skip_while(|line| !line.contains("boards")).skip(1).collect();
    assert_eq!(
        boards,
        [
            "    1  simulated, speed 1, seed 1; fide-2023 auto (rapid), basic supervision, 900+10 (15min + 10s); \
             draw.auto-75 = false, illegal.loss-at = 3",
            "    2  simulated, speed 1, seed 2; fide-2005 auto (rapid), full supervision, 900+10 (15min + 10s)",
        ]
    );
}

#[test]
fn positions() {
    refuses_head(
        "[defaults]\nstart-fen = \"start\"",
        &[
            "2:13: defaults.start-fen: \"start\" is not a FEN (invalid board part in fen); write all six fields",
        ],
    );
    refuses_board(
        "sensor.simulated = {}\nstart-fen = \"8/8/8/8/8/8/8/4K3 w - - 0 1\"",
        &[
            "4:13: board.start-fen: no game of variant \"standard\" can start from \"8/8/8/8/8/8/8/4K3 w - - 0 1\" (illegal position: missing king); correct one of the two",
        ],
    );
    // A position that a variant cannot castle from is told once, where the two meet.
    refuses(
        "[defaults]\nvariant = \"chess960\"\nstart-fen = \"bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9\"\n\
         [[board]]\nid = 1\nvariant = \"standard\"\nsensor.simulated = {}\n",
        &[
            "6:11: board.variant: no game of variant \"standard\" can start from \"bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9\" (illegal position: invalid castling rights); correct one of the two",
        ],
    );
}

#[test]
fn time_controls() {
    refuses_head(
        "[defaults]\ntime-control = \"ninety\"",
        &[
            "2:16: defaults.time-control: period \"ninety\" is not [moves/]seconds[+increment] (d instead of + for a delay, b for Bronstein); write 40/5400+30:1800+30 or \"90min/40 + 30min + 30s\" for 90 minutes for 40 moves, then 30 minutes, with 30 seconds a move",
        ],
    );
    refuses_head(
        "[defaults]\ntime-control = \"5400+30:1800\"",
        &[
            "2:16: defaults.time-control: period \"5400+30\" needs a number of moves, since another period follows it",
        ],
    );
    refuses_head(
        "[defaults]\ntime-control = \"90000\"",
        &["2:16: defaults.time-control: period \"90000\": the main time in seconds must be from 0 to 86400"],
    );
    refuses_head(
        "[defaults]\ntime-control = \"*180\"",
        &[
            "2:16: defaults.time-control: \"*180\": an hourglass, where one player's time runs into the other's, is no time control of the Laws and is not kept here; write a time for each player",
        ],
    );
    refuses(
        "[[board]]\nid = 1\ntime-control-black = \"300\"\nsensor.simulated = {}\n",
        &[
            "3:22: board.time-control-black: the other side has no time control; give time-control for both, too",
        ],
    );
    refuses(
        "[defaults.clock]\nkind = \"own\"\n[[board]]\nid = 1\nsensor.simulated = {}\n",
        &["3:1: board.time-control: missing; the own clock keeps the time of a time control"],
    );
}

#[test]
fn dates() {
    let form = "expected a day of the calendar such as \"2026.11.30\", with ?? for what is not known";
    refuses_head(
        "[defaults.tags]\ndate = \"2026.02.30\"",
        &[&format!("2:8: defaults.tags.date: {form}, found \"2026.02.30\"")],
    );
    refuses_head(
        "[defaults.tags]\ndate = \"30.11.2026\"",
        &[&format!("2:8: defaults.tags.date: {form}, found \"30.11.2026\"")],
    );
    refuses_head(
        "[defaults.tags]\ndate = 2026-11-30T10:00:00",
        &[&format!("2:8: defaults.tags.date: {form}, found the date or time 2026-11-30T10:00:00")],
    );
}

#[test]
fn boards() {
    refuses(
        "[[board]]\nid = \"games\"\nsensor.simulated = {}\n",
        &[
            "2:6: board.id: expected 1 to 32 of the characters a-z A-Z 0-9 _ -, but not games or pgn, found \"games\"",
        ],
    );
    refuses(
        "[log]\n",
        &["1:1: board: missing; a [[board]] table says which board is read; add at least one"],
    );
    refuses(
        "[[board]]\nsensor.simulated = {}\n",
        &["1:1: board.id: missing; name the board, such as id = \"1\""],
    );
    refuses(
        "[[board]]\nid = \"a b\"\nsensor.simulated = {}\n",
        &[
            "2:6: board.id: expected 1 to 32 of the characters a-z A-Z 0-9 _ -, but not games or pgn, found \"a b\"",
        ],
    );
    refuses(
        &format!("{BOARD}\n[[board]]\nid = 1\nsensor.simulated = {{}}\n"),
        &["6:6: board.id: board 1 is on line 1 already; give each board its own id"],
    );
    refuses(
        "[[board]]\nid = 1\nserial = 7\nsensor.simulated = {}\n[[board]]\nid = 2\nserial = \"7\"\nsensor.simulated = {}\n",
        &["7:10: board.serial: \"7\" is the serial number of the board on line 1, too"],
    );
    // One that is configured, and one that is made of the id.
    refuses(
        "[[board]]\nid = \"x\"\nserial = 90001\nsensor.simulated = {}\n[[board]]\nid = 1\nsensor.simulated = {}\n",
        &[
            "6:6: board.id: \"90001\", which is made of it, is the serial number of the board on line 1; set serial",
        ],
    );
    refuses(
        "[[board]]\nid = \"x\"\nsensor.simulated = {}\n[[board]]\nid = 2\nserial = \"tm-x\"\nsensor.simulated = {}\n",
        &["6:10: board.serial: \"tm-x\" is the serial number of the board on line 1, too"],
    );
    for id in ["round-1", "Round-07", "round-final"] {
        let problem = format!(
            "2:6: board.id: {id:?} is the name of a round in web addresses and of its folder; name the board otherwise"
        );
        refuses(&format!("[[board]]\nid = \"{id}\"\nsensor.simulated = {{}}\n"), &[&problem]);
    }
    for id in ["round-", "round1", "1-round-1"] {
        let dir = tempfile::tempdir().unwrap();
        let file = format!("[[board]]\nid = \"{id}\"\nsensor.simulated = {{}}\n");
        std::fs::write(dir.path().join("board.toml"), file).unwrap();
        assert_eq!(check_config(dir.path(), &["board.toml"]).status.code(), Some(0), "{id}");
    }
}

#[test]
fn sensors() {
    refuses_board(
        "",
        &[
            "1:1: board.sensor: missing; add one of [board.sensor.dgt], [board.sensor.matrix], [board.sensor.peg], [board.sensor.simulated] and [board.sensor.sensor-log]",
        ],
    );
    refuses_board(
        "[board.sensor.simulated]\n[board.sensor.matrix]",
        &["3:8: board.sensor: a board has one sensor, found 2 tables; keep one of them"],
    );
    refuses_board(
        "[board.sensor.simulated]\nspeed = 0.5",
        &["4:9: board.sensor.simulated.speed: expected a whole number from 1 to 1000, found 0.5"],
    );
    refuses_board(
        "[board.sensor.simulated]\nseed = -1",
        &[
            "4:8: board.sensor.simulated.seed: expected a whole number from 0 to 9223372036854775807, found -1",
        ],
    );
    refuses_board(
        "[board.sensor.simulated]\nlevel = \"drunk\"",
        &[
            "4:9: board.sensor.simulated.level: expected \"clean\", \"tournament\" or \"chaos\", found \"drunk\"",
        ],
    );
    refuses_board(
        "[board.sensor.sensor-log]",
        &[
            "3:1: board.sensor.sensor-log.path: missing; name the sensor log: a file, a FIFO, or \"-\" for standard input",
        ],
    );
    refuses_board(
        "[board.sensor.sensor-log]\npath = \"a\"\npace = \"fast\"",
        &[
            "5:8: board.sensor.sensor-log.pace: expected \"real-time\", \"as-fast-as-possible\" or a factor, a whole number from 1 to 1000, found \"fast\"",
        ],
    );
}

#[test]
fn dgt_boards() {
    refuses_board(
        "[board.sensor.dgt]",
        &[
            "3:1: board.sensor.dgt.port: missing; name the serial device, such as \"/dev/touchmoved/dgt\" or one of /dev/serial/by-id/, or give the serial-number of its USB adapter",
        ],
    );
    refuses_board(
        "[board.sensor.dgt]\nport = \"/dev/ttyUSB0\"\nserial-number = \"A1\"",
        &["5:17: board.sensor.dgt.serial-number: there is a port already; keep the one or the other"],
    );
    refuses_board(
        "[board.sensor.dgt]\nserial-number = \"A1\"\nupdates = \"all\"",
        &["5:11: board.sensor.dgt.updates: expected \"nice\", \"clock\" or \"board\", found \"all\""],
    );
    refuses(
        "[[board]]\nid = \"1\"\nsensor.dgt = { serial-number = \"A1\" }\n\
         [[board]]\nid = \"2\"\nsensor.dgt = { serial-number = \"A1\" }\n",
        &[
            "6:32: board.sensor.dgt.serial-number: USB serial number A1 is read by board 1 (line 3) already; one port, one board",
        ],
    );
    refuses_board(
        "[board.sensor.dgt]\nport = \"ttyUSB0\"",
        &[
            "4:8: board.sensor.dgt.port: expected the full path of a serial device, such as \"/dev/ttyUSB0\", found \"ttyUSB0\"",
        ],
    );
    refuses_board(
        "[board.sensor.dgt]\nport = \"/dev/ttyUSB0\"\ndtr-rts = true",
        &["5:11: board.sensor.dgt.dtr-rts: expected \"leave\", \"on\" or \"off\", found true"],
    );
    refuses(
        "[[board]]\nid = \"1\"\nsensor.dgt = { port = \"/dev/ttyUSB0\" }\n\
         [[board]]\nid = \"2\"\nsensor.dgt = { port = \"/dev/ttyUSB0\" }\n",
        &[
            "6:23: board.sensor.dgt.port: /dev/ttyUSB0 is read by board 1 (line 3) already; one port, one board",
        ],
    );
}

#[test]
fn matrices() {
    let table = "[board.sensor.matrix]\n";
    refuses_board(
        &format!("{table}rows = [0, 5, 6, 12, 13, 16, 19, 28]"),
        &[
            "4:9: board.sensor.matrix.rows: expected a BCM pin number from 2 to 27 (0 and 1 identify an add-on board), found 0",
            "4:34: board.sensor.matrix.rows: expected a BCM pin number from 2 to 27 (0 and 1 identify an add-on board), found 28",
        ],
    );
    refuses_board(
        &format!("{table}rows = [4, 5, 6]"),
        &["4:8: board.sensor.matrix.rows: expected eight pins, for the ranks 1 to 8, found 3"],
    );
    refuses_board(
        &format!("{table}columns = [17, 21, 22, 23, 24, 25, 26, 26]"),
        &["4:40: board.sensor.matrix.columns: pin 26 is in columns already; each line has its own"],
    );
    refuses_board(
        &format!("{table}rows = [17, 5, 6, 12, 13, 16, 19, 20]"),
        &["3:1: board.sensor.matrix.columns: missing; pin 17 of its default is used by rows already"],
    );
    refuses_board(
        &format!("{table}columns = [2, 21, 22, 23, 24, 25, 26, 27]"),
        &[
            "4:11: board.sensor.matrix.columns: pin 2 has a pull-up resistor on the board and cannot be a column with active = \"high\"; make it a row, or choose another pin",
        ],
    );
    refuses_board(
        &format!("{table}active = \"hi\""),
        &["4:10: board.sensor.matrix.active: expected \"high\" or \"low\", found \"hi\""],
    );
    refuses_board(
        &format!("{table}settle-us = 6000"),
        &[
            "4:13: board.sensor.matrix.settle-us: expected a whole number of microseconds from 0 to 5000, found 6000",
        ],
    );
    refuses_board(
        &format!("{table}settle-us = 700"),
        &[
            "4:13: board.sensor.matrix.settle-us: eight rows of 700 us do not fit into a scan of 5 ms; make settle-us smaller than 625 or scan-ms larger",
        ],
    );
    refuses_board(
        &format!("{table}scan-ms = 1"),
        &["4:11: board.sensor.matrix.scan-ms: expected a whole number of milliseconds from 2 to 20, found 1"],
    );
    refuses_board(
        &format!("{table}debounce-open-ms = 2000"),
        &[
            "4:20: board.sensor.matrix.debounce-open-ms: expected a whole number of milliseconds from 0 to 1000, found 2000",
        ],
    );
    refuses_board(
        &format!("{table}backend = \"gpiod\""),
        &[
            "4:11: board.sensor.matrix.backend: expected \"auto\", \"rppal\", \"gpiocdev\" or \"simulated\", found \"gpiod\"",
        ],
    );
    refuses_board(
        &format!("{table}chip = \"/dev/gpiochip0\"\nseed = 3"),
        &[
            "4:8: board.sensor.matrix.chip: only backend = \"gpiocdev\" has a chip; set it, or leave chip out",
            "5:8: board.sensor.matrix.seed: only backend = \"simulated\" has it; set that, or leave it out",
        ],
    );
    refuses_board(
        &format!("{table}backend = \"gpiocdev\"\nchip = \"gpio-sim\"\nrows = [0, 1, 2, 3, 4, 5, 6, 5000]"),
        &[
            "3:1: board.sensor.matrix.columns: missing; name eight lines of the chip (gpioinfo lists them)",
            "6:30: board.sensor.matrix.rows: expected the offset of a line on the chip, from 0 to 4095, found 5000",
        ],
    );
    refuses_board(
        &format!("{table}backend = \"simulated\"\nfaults = [\"open-diode 1,8\"]"),
        &[
            "5:11: board.sensor.matrix.faults: no fault is called \"open-diode 1,8\"; they are no-diodes, floating-rows, shorted-diode R,C, open-diode R,C, open-reed R,C, closed-reed R,C, crosstalk R,C R,C, broken-row R, row-high R, broken-column C, column-high C, column-low C and slow-columns US, with rows and columns from 0 to 7",
        ],
    );
    refuses(
        "[[board]]\nid = \"1\"\nsensor.matrix = {}\n[[board]]\nid = \"2\"\nsensor.matrix = {}\n",
        &[
            "6:1: board.sensor: the header of a Raspberry Pi has pins for one matrix, and board 1 (line 3) has it; run this board on a machine of its own",
        ],
    );
}

#[test]
fn the_squares_of_a_matrix() {
    let table = "[board.sensor.matrix]\n";
    refuses_board(
        &format!("{table}rows-are = \"columns\"\na1 = [0, 6]"),
        &[
            "4:12: board.sensor.matrix.rows-are: expected \"ranks\" or \"files\", found \"columns\"",
            "5:10: board.sensor.matrix.a1: expected 0 or 7, found 6",
        ],
    );
    refuses_board(
        &format!("{table}a1 = [0]"),
        &["4:6: board.sensor.matrix.a1: expected the row and the column of a1, each 0 or 7, such as [0, 0]"],
    );
    refuses_board(
        &format!("{table}map = [\"a1 b1\"]\na1 = [0, 0]"),
        &[
            "4:8: board.sensor.matrix.map: expected a row of the matrix: eight squares in quotes, such as \"a1 b1 c1 d1 e1 f1 g1 h1\", found \"a1 b1\"",
            "5:6: board.sensor.matrix.a1: map tells the squares already; leave this out",
        ],
    );
    let row = |rank: u32| format!("\"a{rank} b{rank} c{rank} d{rank} e{rank} f{rank} g{rank} h{rank}\"");
    let map = |ranks: &[u32]| {
        let rows: Vec<String> = ranks.iter().map(|rank| row(*rank)).collect();
        format!("{table}map = [{}]", rows.join(", "))
    };
    refuses_board(
        &map(&[1, 2, 3]),
        &["4:7: board.sensor.matrix.map: expected eight rows of eight squares, found 3"],
    );
    let twice = map(&[1, 2, 3, 4, 5, 6, 7, 1]);
    let errors = touchmoved::config::parse("t.toml", &format!("[[board]]\nid = \"1\"\n{twice}"))
        .unwrap_err()
        .to_string();
    let first =
        "t.toml:4:197: board.sensor.matrix.map: a1 is in the map twice; each square belongs to one crossing";
    assert_eq!(errors.lines().next(), Some(first), "{errors}");
    assert_eq!(errors.lines().count(), 8);
}

#[test]
fn lever_and_buttons_of_a_matrix() {
    let table = "[board.sensor.matrix]\n";
    refuses_board(
        &format!("{table}lever-white = 4\nlever-black = 28"),
        &[
            "4:15: board.sensor.matrix.lever-white: pin 4 is in rows already; each line has its own",
            "5:15: board.sensor.matrix.lever-black: expected a BCM pin number from 2 to 27 (0 and 1 identify an add-on board), found 28",
        ],
    );
    let words = "what the button says: \"pause\", \"announce\", a result such as \"1/2-1/2\", \"jadoube-white\" or another button of docs/laws.md that ends with a side, or \"arbiter \" with a command, such as \"arbiter confirm\"";
    refuses_board(
        &format!(
            "{table}[[board.sensor.matrix.button]]\npin = 7\nsays = \"jadoube\"\n[[board.sensor.matrix.button]]\npin = 7"
        ),
        &[
            &format!("6:8: board.sensor.matrix.button.says: expected {words}, found \"jadoube\""),
            &format!("7:1: board.sensor.matrix.button.says: missing; {words}"),
            "8:7: board.sensor.matrix.button.pin: pin 7 is in pin already; each line has its own",
        ],
    );
}

#[test]
fn a_button_of_the_arbiter_says_a_command() {
    let button = |says: &str| format!("[[board.sensor.matrix.button]]\npin = 7\nsays = \"arbiter {says}\"");
    for (says, error) in [
        ("nonsense", "there is no command \"nonsense\"; docs/laws.md lists them"),
        ("set clock red 5", "set: expected white or black, found \"red\""),
    ] {
        refuses_board(&button(says), &[&format!("5:8: board.sensor.matrix.button.says: {error}")]);
    }
    for says in ["confirm", "penalty warning white", "result 1-0"] {
        touchmoved::config::parse("t.toml", &format!("[[board]]\nid = \"1\"\n{}", button(says))).unwrap();
    }
}

#[test]
fn leds_of_a_matrix() {
    let table = "[board.sensor.matrix]\n";
    refuses_board(
        &format!("{table}status-led = 17\nfile-leds = [1, 2]\nleds-active = \"on\""),
        &[
            "4:14: board.sensor.matrix.status-led: pin 17 is in columns already; each line has its own",
            "5:13: board.sensor.matrix.file-leds: a square has an LED of its file and one of its rank; name rank-leds, too",
            "5:14: board.sensor.matrix.file-leds: expected a BCM pin number from 2 to 27 (0 and 1 identify an add-on board), found 1",
            "6:15: board.sensor.matrix.leds-active: expected \"high\" or \"low\", found \"on\"",
        ],
    );
    let chip = "backend = \"gpiocdev\"\nchip = \"x\"\nrows = [0, 1, 2, 3, 4, 5, 6, 7]\n\
                columns = [8, 9, 10, 11, 12, 13, 14, 15]\nfile-leds = [16, 17, 18, 19, 20, 21, 22, 23]\n";
    refuses_board(
        &format!("{table}{chip}rank-leds = [23, 24, 25]"),
        &[
            "9:13: board.sensor.matrix.rank-leds: expected eight pins, for the ranks 1 to 8, found 3",
            "9:14: board.sensor.matrix.rank-leds: pin 23 is in file-leds already; each line has its own",
        ],
    );
    let text = format!("[[board]]\nid = \"1\"\n{table}{chip}rank-leds = [24, 25, 26, 27, 28, 29, 30, 31]\n");
    let config = touchmoved::config::parse("t.toml", &text).unwrap();
    let touchmoved::config::SensorConfig::Matrix(matrix) = &config.boards[0].sensor else { panic!() };
    let lines = |first: u32| std::array::from_fn(|at| first + u32::try_from(at).unwrap());
    assert_eq!(matrix.leds.crossing, Some((lines(16), lines(24))));
}

#[test]
fn a_correct_file_is_summed_up_on_one_screen() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[data]\ndir = \"/srv/games\"\n[livechess]\nenabled = false\n[http]\nlisten = \"0.0.0.0:80\"\n\
                [[board]]\nid = \"a7\"\nvariant = \"chess960\"\ntime-control = \"180+2\"\n\
                tags = { white = \"A\", black = \"B\" }\nsensor.dgt = { port = \"/dev/ttyUSB0\" }\n\
                [[board]]\nid = \"b\"\nsensor.sensor-log = { path = \"/x.ndjson\", pace = 20 }\n";
    std::fs::write(dir.path().join("good.toml"), text).unwrap();
    let output = check_config(dir.path(), &["good.toml"]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        stdout,
        "good.toml: correct\n\
         \x20 journals   /srv/games, synced within 1000 ms\n\
         \x20 pgn        /srv/games/pgn\n\
         \x20 http       0.0.0.0:80, reachable from the network\n\
         \x20 livechess  off\n\
         \x20 dgt        dgt-ID in the runtime directory\n\
         \x20 commands   off, no token\n\
         \x20 log level  info\n\
         \x20 digest     DIGEST\n\
         \x20 boards     2\n\
         \x20   a7  dgt /dev/ttyUSB0; fide-2023 standard chess960, 180+2 (3min + 2s); A - B\n\
         \x20   b   sensor log /x.ndjson at speed 20, game as its header says\n"
            .replace("DIGEST", stdout.split("digest     ").nth(1).unwrap().get(..64).unwrap())
    );
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    assert!(check_config(dir.path(), &["--quiet", "good.toml"]).stdout.is_empty());
}

#[test]
fn what_may_not_be_meant_is_noted() {
    let dir = tempfile::tempdir().unwrap();
    let said = |text: &str| {
        std::fs::write(dir.path().join("note.toml"), text).unwrap();
        let output = check_config(dir.path(), &["note.toml"]);
        assert_eq!(output.status.code(), Some(0), "{text}");
        String::from_utf8(output.stdout).unwrap()
    };
    let notes = |text: &str| -> Vec<String> {
        let lines = said(text);
        lines.lines().filter_map(|line| line.strip_prefix("  note       ")).map(str::to_owned).collect()
    };
    let board = "[[board]]\nid = \"1\"\nsensor.simulated = {}\n";
    assert!(notes(board).is_empty());
    for late in ["[http]\ndelay-s = 9\n", "[release]\npublish = \"completed\"\n"] {
        assert!(notes(&format!("{late}{board}")).is_empty(), "{late}");
        assert_eq!(
            notes(&format!("{late}[operator]\nenabled = false\n{board}")),
            ["[http] is late and [operator] is off: /metrics and the clock page are served nowhere; \
              set operator.enabled = true"],
            "{late}"
        );
    }
    let listen = "listen = \"127.0.0.1:4000\"\n";
    for name in ["stream", "operator"] {
        assert_eq!(
            notes(&format!("[{name}]\n{listen}{board}")),
            [format!("{name}.listen is set and [{name}] is off; set {name}.enabled = true")]
        );
        for enabled in [false, true] {
            assert!(notes(&format!("[{name}]\n{listen}enabled = {enabled}\n{board}")).is_empty(), "{name}");
        }
    }
    let port = format!("{board}dgt-emulation.port = \"/dev/ttyGS0\"\n");
    assert!(notes(&port).is_empty());
    assert_eq!(
        notes(&format!("{port}dgt-emulation.enabled = false\n")),
        ["board 1: /dev/ttyGS0 is not used; board.dgt-emulation.enabled is false"]
    );
    assert_eq!(
        notes(&format!("dgt-emulation.enabled = false\n{port}")),
        ["board 1: /dev/ttyGS0 is not used; dgt-emulation.enabled is false"]
    );
    let two = |tags: &str| {
        format!("[[board]]\nid = \"1\"\n{tags}sensor.simulated = {{}}\n{}", board.replace("\"1\"", "\"a\""))
    };
    assert!(notes(&two("")).is_empty());
    assert_eq!(
        notes(&two("tags.board = \"a\"\n")),
        [
            "the boards 1 and a have the same tags Event, Round and Board (\"a\"): readers of PGN take their games for one; \
          give each a board, or a group an event, of its own"
        ]
    );
    assert!(notes(&two("tags = { board = \"a\", round = 2 }\n")).is_empty());
    for name in ["http", "livechess"] {
        let text = said(&format!("[{name}]\nenabled = false\ndelay-s = 9\n{board}"));
        assert!(text.contains(&format!("  {name:<10} off\n")), "{text}");
    }
}

#[test]
fn boards_as_dgt_boards() {
    let dir = tempfile::tempdir().unwrap();
    let said = |text: &str| {
        std::fs::write(dir.path().join("dgt.toml"), text).unwrap();
        let output = String::from_utf8(check_config(dir.path(), &["dgt.toml"]).stdout).unwrap();
        output.split("dgt        ").nth(1).unwrap().lines().next().unwrap().to_owned()
    };
    let board = "[[board]]\nid = \"1\"\nsensor.simulated = {}\n";
    assert_eq!(said(board), "dgt in the runtime directory");
    assert_eq!(said(&format!("dgt-emulation.dir = \"/run/chess\"\n{board}")), "dgt in /run/chess");
    assert_eq!(said(&format!("dgt-emulation.enabled = false\n{board}")), "off");
    assert_eq!(said(&format!("{board}dgt-emulation.enabled = false\n")), "off");
    assert_eq!(said(&format!("{board}dgt-emulation.port = \"/dev/ttyGS0\"\n")), "/dev/ttyGS0");
    refuses_board(
        "sensor.dgt = { port = \"/dev/ttyUSB0\" }\ndgt-emulation = { port = \"/dev/ttyUSB0\", flip = true }",
        &[
            "4:26: board.dgt-emulation.port: /dev/ttyUSB0 is used by board 1 (line 3) already; one port, one board",
            "4:42: board.dgt-emulation.flip: unknown key; known here: enabled, flipped, port",
        ],
    );
    refuses_board(
        "sensor.simulated = {}\ndgt-emulation.port = \"ttyGS0\"",
        &[
            "4:22: board.dgt-emulation.port: expected the full path of a serial device, such as \"/dev/ttyGS0\", found \"ttyGS0\"",
        ],
    );
    refuses_head(
        "[dgt-emulation]\ndir = \"-\"",
        &["2:7: dgt-emulation.dir: expected a directory, found \"-\""],
    );
}

#[test]
fn fifty_boards_fit_on_a_screen() {
    let dir = tempfile::tempdir().unwrap();
    let boards: String = (1..=50)
        .map(|n| format!("[[board]]\nid = {n}\nsensor.dgt = {{ port = \"/dev/touchmoved/dgt-{n}\" }}\n"))
        .collect();
    std::fs::write(dir.path().join("hall.toml"), boards).unwrap();
    let lines = |args: &[&str]| {
        let output = check_config(dir.path(), args);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap().lines().count()
    };
    assert!(lines(&["hall.toml"]) <= 24);
    assert!(lines(&["--all", "hall.toml"]) > 50);
}

#[test]
fn several_files_and_standard_input() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("good.toml"), BOARD).unwrap();
    let output = check_config(dir.path(), &["missing.toml", "good.toml", "-"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("good.toml: correct\n"));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("missing.toml: cannot read the configuration: No such file"), "{stderr}");
    assert!(stderr.contains("\n-:1:1: board: missing; "), "{stderr}");

    let mut child = Command::new(env!("CARGO_BIN_EXE_touchmoved"))
        .args(["check-config", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(BOARD.as_bytes()).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn two_boards_for_one_game() {
    refuses_board(
        "[board.sensor.dgt]\nport = \"/dev/ttyUSB0\"\n[board.second]\nside = \"red\"",
        &[
            "5:1: board.second.sensor: missing; add one of [board.second.sensor.dgt], [board.second.sensor.matrix] and [board.second.sensor.peg]",
            "6:8: board.second.side: expected \"white\" or \"black\", found \"red\"",
        ],
    );
    refuses_board(
        "[board.sensor.dgt]\nport = \"/dev/ttyUSB0\"\n[board.second.sensor.peg]\nport = \"/dev/ttyUSB0\"\nbauds = 9600",
        &[
            "6:8: board.second.sensor.peg.port: /dev/ttyUSB0 is read by board 1 (line 3) already; one port, one board",
            "7:1: board.second.sensor.peg.bauds: unknown key; did you mean baud?",
        ],
    );
    refuses_board(
        "[board.sensor.simulated]\n[board.second.sensor.simulated]",
        &[
            "4:8: board.second: the first board is simulated and plays a whole game by itself; a game on two boards is played on dgt, matrix and peg only",
            "4:15: board.second.sensor: simulated plays a whole game by itself; a game on two boards is played on dgt, matrix and peg only",
        ],
    );
    let wires = "[board.second.sensor.matrix]\nbackend = \"simulated\"\n";
    refuses_board(
        &format!("[board.sensor.dgt]\nport = \"/dev/ttyUSB0\"\n{wires}"),
        &[
            "5:15: board.second.sensor: simulated wires play with simulated wires only: their players wait for nobody; simulate both boards, or none",
        ],
    );
    refuses_board(
        &format!("[board.sensor.matrix]\nbackend = \"simulated\"\n{wires}seed = 5"),
        &["7:8: board.second.sensor.matrix.seed: both boards show the game of the first one; leave this out"],
    );
}

#[test]
fn a_pegged_board() {
    let table = "[board.sensor.peg]\n";
    refuses_board(
        table,
        &[
            "3:1: board.sensor.peg.port: missing; name the serial device, such as \"/dev/touchmoved/peg\" or one of /dev/serial/by-id/, or give the serial-number of its USB adapter",
        ],
    );
    refuses_board(
        &format!("{table}port = \"/dev/x\"\nbaud = 300\nframing = \"8N2\""),
        &[
            "5:8: board.sensor.peg.baud: expected a whole number of bits a second from 1200 to 4000000, found 300",
            "6:11: board.sensor.peg.framing: expected \"8N1\", \"8E1\", \"8O1\" or \"7E1\", found \"8N2\"",
        ],
    );
    refuses(
        "[[board]]\nid = 1\nsensor.dgt.port = \"/dev/x\"\n[[board]]\nid = 2\nsensor.peg.port = \"/dev/x\"\n",
        &["6:19: board.sensor.peg.port: /dev/x is read by board 1 (line 3) already; one port, one board"],
    );
    refuses(
        "[[board]]\nid = \"1\"\nsensor.dgt = { serial-number = \"A1\" }\n\
         [[board]]\nid = \"2\"\nsensor.peg = { serial-number = \"A1\" }\n",
        &[
            "6:32: board.sensor.peg.serial-number: USB serial number A1 is read by board 1 (line 3) already; one port, one board",
        ],
    );
    refuses_board(
        "[board.sensor.matrix]\nkind = \"pegs\"",
        &["4:8: board.sensor.matrix.kind: expected \"reed\" or \"peg\", found \"pegs\""],
    );
}

#[test]
fn the_examples_of_pegged_boards_say_what_they_would_read() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/examples");
    let output = check_config(&dir, &["peg-serial.toml", "peg-usb.toml", "peg-matrix.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let summary = String::from_utf8(output.stdout).unwrap();
    assert!(summary.contains("pegged board /dev/touchmoved/peg at 115200 bits a second"), "{summary}");
    assert!(summary.contains("pegged board USB serial number PB0007 at 115200 bits a second"), "{summary}");
    assert!(summary.contains("pegged board as a matrix (auto), a scan every 5 ms"), "{summary}");
}

#[test]
fn the_shipped_files_are_correct() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let mut files: Vec<String> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    files.sort();
    let args: Vec<&str> = files.iter().map(String::as_str).collect();
    assert_eq!(args, ["dgt.toml", "matrix.toml", "simulated.toml", "touchmoved.toml"]);
    let output = check_config(&dir, &args);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Every file in `config/examples` is a whole configuration that says at its top what it is for.
#[test]
fn every_example_is_correct_and_says_what_it_is_for() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/examples");
    let mut files: Vec<String> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for name in &files {
        let output = check_config(&dir, &["--all", name]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(dir.join(name)).unwrap();
        assert!(text.starts_with("# "), "{name} begins with a comment that says what it is for");
        assert!(text.lines().all(|line| line.len() <= 120), "{name} has a line that is too long");
    }
    for backend in ["gpiocdev", "rppal", "simulated"] {
        let name = format!("matrix-{backend}.toml");
        let output = check_config(&dir, &[&name]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("matrix ({backend}), a scan every 5 ms")), "{name}: {said}");
    }
    let said = String::from_utf8(check_config(&dir, &["two-boards-blind-and-sighted.toml"]).stdout).unwrap();
    let boards = "two boards: dgt /dev/touchmoved/dgt (White), pegged board /dev/touchmoved/peg at 115200 bits a second (Black);";
    assert!(said.contains(boards), "{said}");
    let shown = |file: &str| String::from_utf8(check_config(&dir, &[file]).stdout).unwrap();
    assert!(shown("dgt-usb.toml").contains("dgt /dev/touchmoved/dgt;"));
    assert!(shown("dgt-rs232.toml").contains("dgt USB serial number A50285BI;"));
    assert!(shown("dgt-bluetooth.toml").contains("dgt /dev/rfcomm0;"));
}

#[test]
fn inputs_that_are_pulled_up_on_the_board_cannot_be_pressed_by_a_high_level() {
    let dir = tempfile::tempdir().unwrap();
    let board = |extra: &str| {
        let text = format!("[data]\ndir = \"data\"\n[[board]]\nid = \"1\"\n[board.sensor.matrix]\n{extra}\n");
        std::fs::write(dir.path().join("b.toml"), text).unwrap();
        check_config(dir.path(), &["b.toml"])
    };
    let refused = board("lever-white = 2\ninputs-active = \"high\"");
    let said =
        String::from_utf8_lossy(&refused.stderr).into_owned() + &String::from_utf8_lossy(&refused.stdout);
    assert!(
        !refused.status.success() && said.contains("lever-white: pin 2 has a pull-up resistor"),
        "{said}"
    );
    assert!(board("lever-white = 2").status.success());
    assert!(board("lever-white = 7\ninputs-active = \"high\"").status.success());
}

#[test]
fn pins_that_a_raspberry_pi_has_another_use_for_are_noted_and_not_refused() {
    let dir = tempfile::tempdir().unwrap();
    let notes = |extra: &str| {
        let text = format!("[data]\ndir = \"data\"\n[[board]]\nid = \"1\"\n[board.sensor.matrix]\n{extra}\n");
        std::fs::write(dir.path().join("b.toml"), text).unwrap();
        let output = check_config(dir.path(), &["b.toml"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).unwrap();
        said.lines().filter(|line| line.contains("note")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(notes(""), [""; 0]);
    let found = notes("rows = [2, 3, 6, 8, 13, 14, 15, 20]\nlever-white = 11");
    let begins = [
        "  note       board 1: GPIO 2, 3 is of I2C: leave I2C off",
        "  note       board 1: GPIO 8, 11 is of SPI 0: leave SPI off",
        "  note       board 1: GPIO 14, 15 is of the serial console: switch it off",
    ];
    assert_eq!(found.len(), begins.len(), "{found:?}");
    for (line, begin) in found.iter().zip(begins) {
        assert!(line.starts_with(begin), "{line}");
    }
    let chip = "backend = \"gpiocdev\"\nchip = \"/dev/gpiochip7\"\nrows = [0, 1, 2, 3, 8, 9, 14, 15]\n\
                columns = [16, 17, 18, 19, 20, 21, 22, 23]";
    assert_eq!(notes(chip), [""; 0], "another chip has no such pins");
}
