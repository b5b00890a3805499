//! Tests of the commented default file, which also is the reference of the keys, and of the way
//! from a file to the session's set-up.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use proptest::prelude::*;
use shakmaty::Color;

use super::{
    BoardConfig, Config, DtrRts, Framing, Level, LichessConfig, Pace, PortName, SensorConfig, ServerUrl,
    Speed, TimeControl, parse, problem::Report, read,
};
use crate::{
    publish::release::Delay,
    session::{
        event::Unit,
        settings::{OrientationSetting, Settings},
        setup::{BoardKind, GameSetup, Rules, Signal, Supervision},
    },
    wire::sensor_log::{header_from_map, header_to_map},
};

const COMMENTED: &str = include_str!("../../config/touchmoved.toml");

fn check(text: &str) -> Config {
    parse("test.toml", text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn board(text: &str) -> BoardConfig {
    check(&format!("[[board]]\nid = \"1\"\n{text}")).boards.remove(0)
}

/// The commented file with every setting in effect, each line with what was said of it.
fn settings() -> impl Iterator<Item = &'static str> {
    COMMENTED
        .lines()
        .filter(|line| !line.starts_with("# ") && !line.trim().is_empty())
        .map(|line| line.strip_prefix('#').unwrap_or(line))
}

fn join<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// Without what differs between two texts of the same meaning.
fn meaning(text: &str) -> Config {
    Config { digest: String::new(), ..check(text) }
}

#[test]
fn the_default_file_is_correct_as_it_is_and_with_every_setting_in_effect() {
    assert_eq!(check(COMMENTED).boards.len(), 1);
    assert_eq!(check(&join(settings())).boards.len(), 10);
}

#[test]
fn every_key_that_is_known_appears_in_the_default_file() {
    let text = join(settings());
    let report = Report::new("test.toml", &text);
    let _ = read::read(&report, "test.toml", &text);
    // A key of [defaults] stands for the same key of a board, and one of a sensor for that of the second board.
    let general =
        |path: &str| path.replacen("defaults", "board", 1).replacen("board.second.sensor", "board.sensor", 1);
    let known: BTreeSet<String> = report.keys().iter().map(|path| general(path)).collect();
    let (mut table, mut stated) = (String::new(), BTreeSet::new());
    for line in settings() {
        if let Some(header) = line.strip_prefix('[') {
            table = general(header.trim_start_matches('[').trim_end_matches(']'));
            stated.extend(table.match_indices('.').map(|(at, _)| table[..at].to_owned()));
            stated.insert(table.clone());
        } else if let Some((key, _)) = line.split_once(" = ") {
            stated.insert(format!("{table}.{key}"));
        }
    }
    let missing: Vec<_> = known.difference(&stated).filter(|path| *path != "board").collect();
    assert!(missing.is_empty(), "not in config/touchmoved.toml: {missing:?}");
    assert!(stated.is_subset(&known), "{:?}", stated.difference(&known));
}

#[test]
fn the_stated_defaults_are_the_real_ones() {
    let stated = join(settings().filter(|line| !line.ends_with("# example")));
    let needed = |line: &&str| line.starts_with('[') || line.ends_with("# required");
    let bare = join(settings().filter(needed));
    assert_eq!(meaning(&stated), meaning(&bare));
    assert!(stated.lines().count() > bare.lines().count() + 20);
}

#[test]
fn every_setting_is_explained() {
    let mut said = false;
    for line in COMMENTED.lines() {
        match line.strip_prefix('#') {
            Some(text) => said |= text.starts_with(' ') || text.is_empty(),
            None => said &= !line.trim().is_empty(),
        }
        if line.contains(" = ") && !line.starts_with("# ") && !line.contains("# required") {
            assert!(said, "no comment above {line:?}");
        }
    }
}

#[test]
fn the_examples_are_correct() {
    let examples = [
        ("dgt", include_str!("../../config/dgt.toml"), "dgt"),
        ("matrix", include_str!("../../config/matrix.toml"), "matrix"),
        ("simulated", include_str!("../../config/simulated.toml"), "simulated"),
        ("examples/peg-serial", include_str!("../../config/examples/peg-serial.toml"), "peg"),
        ("examples/own-clock", include_str!("../../config/examples/own-clock.toml"), "matrix"),
        ("examples/peg-matrix", include_str!("../../config/examples/peg-matrix.toml"), "matrix"),
    ];
    for (name, text, kind) in examples {
        let config = parse(name, text).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(config.boards.iter().all(|board| board.sensor.kind() == kind), "{name}");
    }
}

#[test]
fn a_matrix_is_a_reed_board_with_raw_contacts_and_its_own_debouncing() {
    let board = board(
        "orientation = \"white-north\"\nrules = \"fide-2005\"\ntouch.release-dwell-ms = 300\n\
         [board.sensor.matrix]\ndebounce-close-ms = 7\ndebounce-open-ms = 9\n",
    );
    let setup = &board.setup;
    assert_eq!((setup.board, setup.signal), (BoardKind::Reed, Signal::Raw));
    let expected = Settings {
        debounce_close_ms: 7,
        debounce_open_ms: 9,
        release_dwell_ms: 300,
        orientation: OrientationSetting::WhiteNorth,
        ..Settings::default()
    };
    assert_eq!(setup.settings, expected);
    assert_eq!(setup.rules, Rules::Fide2005);
}

#[test]
fn a_pegged_board_tells_touches_whichever_way_it_is_read() {
    let kind = |text: &str| {
        let board = board(text);
        (board.setup.board, board.setup.signal)
    };
    // The firmware of a board on a serial port debounces, the session does for a matrix.
    assert_eq!(kind("sensor.peg = { port = \"/dev/x\" }"), (BoardKind::Peg, Signal::Debounced));
    assert_eq!(kind("sensor.matrix = { kind = \"peg\" }"), (BoardKind::Peg, Signal::Raw));
    let whole = "sensor.peg = { port = \"/dev/x\", baud = 9600, framing = \"7E1\", dtr-rts = \"off\" }";
    assert_eq!(
        board(whole).sensor,
        SensorConfig::Peg {
            port: PortName::Path("/dev/x".into()),
            baud: 9600,
            framing: Framing::SevenEven,
            dtr_rts: DtrRts::Off
        }
    );
}

#[test]
fn a_journal_header_keeps_the_whole_setup() {
    for sensor in [
        "[board.sensor.matrix]\nkind = \"peg\"",
        "[board.sensor.peg]\nport = \"/dev/x\"",
        "[board.sensor.matrix]\ndebounce-open-ms = 12",
        "[board.sensor.dgt]\nport = \"/dev/x\"",
        "[board.sensor.simulated]",
    ] {
        let board = board(&format!(
            "variant = \"chess960\"\ntime-control = \"300d3\"\npublish.extend-ms = 2000\n\
             discipline = \"auto\"\nsupervision = \"full\"\nrecord.required = true\n{sensor}\n"
        ));
        assert_eq!(header_from_map(&header_to_map(&board.setup)).unwrap(), board.setup, "{sensor}");
    }
}

#[test]
fn a_board_goes_before_the_defaults() {
    let config = check(
        "[defaults]\nrules = \"ua\"\ntime-control = \"5400+30\"\ntags = { event = \"E\", round = 3 }\n\
         [[board]]\nid = 1\nsensor.simulated = {}\n\
         [[board]]\nid = 2\nrules = \"fide-2023\"\ntags = { round = \"4\", white = \"A\" }\n\
         sensor.simulated = {}\n",
    );
    let [first, second] = config.boards.as_slice() else { panic!("two boards") };
    assert_eq!((first.setup.rules, second.setup.rules), (Rules::Ua, Rules::Fide2023));
    assert_eq!(second.setup.time_control, "5400+30");
    assert_eq!(second.tags.time_control.as_deref(), Some("5400+30"));
    assert_eq!((first.tags.round.as_deref(), second.tags.round.as_deref()), (Some("3"), Some("4")));
    assert_eq!(second.tags.event.as_deref(), Some("E"));
    assert_eq!(first.tags.board.as_deref(), Some("1"));
}

#[test]
fn a_setting_of_the_laws_goes_from_the_file_into_the_header() {
    let config = check(
        "[defaults]\nrules = \"fide-2005\"\nillegal.loss-at = 2\ndraw.auto-75 = true\n\
         [[board]]\nid = 1\nillegal.loss-at = 5\nflag.both-unknown.last-period = \"continue\"\n\
         completion.implied-by-next-move = false\ntouch = { order-uncertain-ms = 80, release-dwell-ms = 300 }\n\
         sensor.simulated = {}\n",
    );
    let setup = &config.boards[0].setup;
    let laws = setup.law_settings().unwrap();
    assert_eq!((laws.illegal.loss_at, laws.draw.auto_75, laws.touch.order_uncertain_ms), (5, true, 80));
    assert_eq!(setup.settings.release_dwell_ms, 300);
    assert_eq!(setup.config["illegal.loss_at"], 5);
    // What the edition says anyway is not repeated, what it does not say is stated.
    assert!(!setup.config.contains_key("completion.implied_by_next_move"));
    assert_eq!(setup.config["displace.window_ms"], 300);
    let read_back = header_from_map(&header_to_map(setup)).unwrap();
    assert_eq!(read_back.law_settings(), Ok(laws));
    assert_eq!(read_back, *setup);
}

#[test]
fn a_board_can_change_the_laws_of_a_sensor_log() {
    let header = serde_json::json!({
        "sensor_log": 1, "rules": "fide-2005", "config": {"loss_at": 1, "auto_75": true, "auto_fivefold": true}
    });
    let header = header_from_map(header.as_object().unwrap()).unwrap();
    let config = check(
        "[defaults]\ndraw.auto-fivefold = false\n[[board]]\nid = 1\nillegal.loss-at = 3\ndraw.auto-75 = false\n\
         sensor.sensor-log = { path = \"a\" }\n",
    );
    let setup = config.boards[0].setup_of_log(header);
    let laws = setup.law_settings().unwrap();
    assert_eq!((laws.illegal.loss_at, laws.draw.auto_75, laws.draw.auto_fivefold), (3, false, true));
    assert_eq!(setup.config.keys().collect::<Vec<_>>(), ["auto_fivefold"]);
}

#[test]
fn a_sensor_log_keeps_its_own_game_but_for_what_its_board_says() {
    let config = check(
        "[defaults]\nrules = \"fide-2005\"\nvariant = \"chess960\"\n\
         [[board]]\nid = 1\nsupervision = \"full\"\n\
         sensor.sensor-log = { path = \"a/b.ndjson\", pace = 20 }\n",
    );
    let header = GameSetup { rules: Rules::Ua, ..GameSetup::default() };
    let setup = config.boards[0].setup_of_log(header.clone());
    assert_eq!(setup, GameSetup { supervision: Supervision::Full, ..header });
    let pace = Pace::At(Speed::new(20).unwrap());
    let path = Path::new("a/b.ndjson").to_owned();
    assert_eq!(config.boards[0].sensor, SensorConfig::SensorLog { path, pace });
}

#[test]
fn relative_paths_start_at_the_file() {
    let text = "[data]\ndir = \"data\"\n[[board]]\nid = 1\nsensor.simulated = {}\n";
    let config = parse("/etc/touchmoved/touchmoved.toml", text).unwrap();
    assert_eq!(config.data_dir, Path::new("/etc/touchmoved/data"));
    assert_eq!(config.pgn_dir.as_deref(), Some(Path::new("/etc/touchmoved/data/pgn")));
}

#[test]
fn a_dash_is_standard_input() {
    let sensor = board("sensor.sensor-log = { path = \"-\" }\n").sensor;
    assert_eq!(sensor, SensorConfig::SensorLog { path: Path::new("-").to_owned(), pace: Pace::default() });
}

#[test]
fn the_digest_is_that_of_sha256sum() {
    assert_eq!(super::sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn the_demo_plays_a_different_game_on_each_board() {
    let config = Config::demo(Path::new("/tmp/demo"), 2, Speed::new(10).unwrap(), 7);
    let seeds: Vec<_> = config.boards.iter().map(|board| board.sensor.clone()).collect();
    let sensor =
        |seed| SensorConfig::Simulated { speed: Speed::new(10).unwrap(), seed, level: Level::Tournament };
    assert_eq!(seeds, [sensor(7), sensor(8)]);
    assert!(config.data_dir.starts_with("/tmp/demo"));
    let empty = check("[[board]]\nid = 1\nsensor.simulated = {}\n");
    assert_eq!((config.http, config.livechess), (empty.http, empty.livechess));
    assert_eq!(config.sync_interval_ms, empty.sync_interval_ms);
}

#[test]
fn a_round_of_lichess_is_read() {
    let read = |text: &str| {
        let text = format!("{text}\n[[board]]\nid = \"1\"\n[board.sensor.simulated]\n");
        let config = parse("/etc/x/t.toml", &text).unwrap();
        (config.lichess, config.release.lichess)
    };
    assert_eq!(read("").0, None);
    assert_eq!(read("[lichess]\nround = \"AbCdEfGh\"\nurl = \"http://[::1]:9\"\nenabled = false").0, None);
    let (lichess, policy) = read(
        "[pgn]\ntime-control = \"minutes\"\n[release]\ndelay-s = 60\n[lichess]\nround = \"AbCdEfGh\"\n\
         url = \"http://[::1]:9\"\ntoken-file = \"token\"\ninterval-ms = 1000\ndelay-plies = 4\n",
    );
    let expected = LichessConfig {
        round: "AbCdEfGh".to_owned(),
        url: ServerUrl { tls: false, host: "::1".to_owned(), port: 9 },
        token_file: Some(PathBuf::from("/etc/x/token")),
        ca_file: None,
        interval_ms: 1000,
        tags_in_minutes: true,
    };
    assert_eq!(lichess, Some(expected));
    assert_eq!(policy.delay, Delay { us: 60_000_000, plies: 4 });
    if cfg!(feature = "tls") {
        let lichess = read("[lichess]\nround = \"AbCdEfGh\"").0.unwrap();
        assert_eq!((lichess.url, lichess.interval_ms), (ServerUrl::lichess(), 500));
    }
}

#[test]
fn a_time_control_is_read_and_written() {
    for text in ["40/5400+30:1800+30", "300", "180+2", "300d3", "40/7200:20/3600:900+30", "0+10"] {
        assert_eq!(text.parse::<TimeControl>().unwrap().to_string(), text);
    }
    for text in ["", ":", "40/", "+5", "90+", "5400+30:1800", "0", "-5", "1e3", "90000", "0/60", "60+2d3"] {
        assert!(text.parse::<TimeControl>().is_err(), "{text}");
    }
    assert_eq!("300d3".parse::<TimeControl>().unwrap().pgn(), None);
}

proptest! {
    /// Whatever is in a file, there is an answer, and each problem names a line of the file.
    #[test]
    fn no_text_breaks_the_reader(lines in prop::collection::vec(any_line(), 0..30)) {
        let text = lines.join("\n");
        if let Err(errors) = parse("test.toml", &text) {
            prop_assert!(!errors.problems.is_empty());
            for problem in errors.problems {
                prop_assert!((1..=lines.len().max(1)).contains(&problem.line), "{problem}");
                prop_assert!(problem.column >= 1 && !problem.message.is_empty());
            }
        }
    }
}

/// A line of the default file with one value replaced, or any text.
fn any_line() -> impl Strategy<Value = String> {
    let values =
        vec!["-1", "\"\"", "1.5", "true", "[]", "{}", "[1, \"x\"]", "2026-11-30", "99999999999999999999"];
    let lines: Vec<&str> = settings().collect();
    prop_oneof![
        8 => prop::sample::select(lines.clone()).prop_map(str::to_owned),
        4 => (prop::sample::select(lines), prop::sample::select(values)).prop_map(|(line, value)| {
            line.split_once(" = ").map_or_else(|| line.to_owned(), |(key, _)| format!("{key} = {value}"))
        }),
        1 => "\\PC*",
    ]
}

#[test]
fn the_two_boards_of_a_game_are_read_each_in_its_own_way() {
    let board = board(
        "orientation = \"white-north\"\n[board.sensor.matrix]\ndebounce-open-ms = 40\n\
         [board.second]\nside = \"white\"\n[board.second.sensor.peg]\nport = \"/dev/peg\"\n",
    );
    let setup = &board.setup;
    assert_eq!((setup.board, setup.signal), (BoardKind::TwoBoard, Signal::Debounced));
    assert_eq!(setup.sides, Some([Color::Black, Color::White]));
    let [first, second] = setup.units;
    assert_eq!((first.kind, first.signal, first.debounce_open_ms), (BoardKind::Reed, Signal::Raw, 40));
    assert_eq!((second.kind, second.signal), (BoardKind::Peg, Signal::Debounced));
    assert_eq!(
        [first, second].map(|unit| unit.orientation),
        [OrientationSetting::WhiteNorth, OrientationSetting::Auto]
    );
    assert_eq!(header_from_map(&header_to_map(setup)).unwrap(), *setup);
    // Each one alone, as the doctor looks at it.
    let alone = board.unit(Unit::A).unwrap();
    assert_eq!((alone.setup.board, alone.setup.signal), (BoardKind::Reed, Signal::Raw));
    assert_eq!((alone.sensor.kind(), alone.setup.settings.debounce_open_ms), ("matrix", 40));
    let alone = board.unit(Unit::B).unwrap();
    assert_eq!((alone.sensor.kind(), alone.setup.board, alone.second), ("peg", BoardKind::Peg, None));
}

#[test]
fn a_side_may_have_its_own_time_and_the_tag_may_be_in_minutes() {
    let read = |head: &str, board: &str| {
        let text = format!("{head}\n[[board]]\nid = 1\n{board}\nsensor.simulated = {{}}\n");
        let config = parse("test.toml", &text).unwrap_or_else(|errors| panic!("{errors}"));
        let board = &config.boards[0];
        (board.setup.time_control.clone(), board.tags.time_control.clone())
    };
    let text = |text: &str| Some(text.to_owned());
    let defaults = "[defaults]\ntime-control = \"5min + 3s\"\ntime-control-black = \"4min\"";
    assert_eq!(read(defaults, ""), ("300+3|240".to_owned(), None));
    assert_eq!(read(defaults, "time-control-white = \"4min\""), ("240".to_owned(), text("240")));
    assert_eq!(read(defaults, "time-control = \"180+2\""), ("180+2".to_owned(), text("180+2")));
    let minutes = "[pgn]\ntime-control = \"minutes\"";
    assert_eq!(read(minutes, "time-control = \"180+2\""), ("180+2".to_owned(), text("3+2")));
    assert_eq!(read(minutes, "time-control = \"90+2\"").1, None);
}
