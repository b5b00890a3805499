//! `touchmoved simulate` as a process: games from a file, from standard input and built in.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
};

use shakmaty::{Color, Square};
use touchmoved::{
    session::{
        event::{Event, GameResult, Stamped},
        setup::{BoardKind, GameSetup, Signal},
    },
    wire::sensor_log::{parse_event, parse_header},
};

const PGN: &str = "[TimeControl \"600+5\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 {a blunder} Qh4# 0-1\n";

fn simulate(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_touchmoved"))
        .arg("simulate")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn log(output: Output) -> (GameSetup, Vec<Stamped>) {
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut lines = text.lines();
    let setup = parse_header(lines.next().unwrap()).unwrap();
    (setup, lines.map(|line| parse_event(line).unwrap()).collect())
}

fn presses(events: &[Stamped]) -> usize {
    events.iter().filter(|stamped| matches!(stamped.event, Event::Press(_))).count()
}

#[test]
fn a_pgn_becomes_a_sensor_log() {
    let (setup, events) = log(simulate(&["-", "--level", "clean", "--ending", "entered"], PGN));
    assert_eq!((setup.signal, setup.time_control.as_str()), (Signal::Raw, "600+5"));
    // The mate is not pressed.
    assert_eq!(presses(&events), 3);
    assert_eq!(events.last().unwrap().event, Event::Result(GameResult::BlackWins));

    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(PGN.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap();
    let (setup, events) = log(simulate(&["--level", "clean", "--debounced", path], ""));
    assert_eq!(setup.signal, Signal::Debounced);
    let changes = events.iter().filter(|stamped| matches!(stamped.event, Event::Square { .. })).count();
    assert_eq!(changes, 8);
}

#[test]
fn the_output_can_be_chosen() {
    let (setup, events) = log(simulate(&["-", "--output", "identity"], PGN));
    assert_eq!((setup.board, setup.signal), (BoardKind::Dgt, Signal::Debounced));
    assert!(matches!(events[0].event, Event::Pieces(_)));
    let queen = |stamped: &Stamped| {
        matches!(&stamped.event, Event::Piece { square, piece: Some(man) }
            if *square == Square::H4 && *man == Color::Black.queen())
    };
    assert!(events.iter().any(queen));
    let debounced = |args: &[&str]| simulate(args, PGN).stdout;
    assert_eq!(debounced(&["-", "--output", "debounced"]), debounced(&["-", "--debounced"]));
    assert_eq!(debounced(&["-", "--output", "raw"]), debounced(&["-"]));
}

#[test]
fn a_seed_gives_the_same_log_and_another_one_another() {
    let text = |seed| simulate(&["--game", "immortal", "--seed", seed], "").stdout;
    assert_eq!(text("7"), text("7"));
    assert_ne!(text("7"), text("8"));
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    for (args, input, expected) in [
        (&["-"][..], "1. e4 {", "standard input: line 1: the comment"),
        (&["-"][..], "1. e4 e5 2. Ke3 *", "standard input: move 3 (\"Ke3\") is not legal"),
        (&["/nonexistent.pgn"][..], "", "/nonexistent.pgn: No such file"),
        (&["--game", "none"][..], "", "the names are opera, immortal"),
    ] {
        let output = simulate(args, input);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn the_truth_can_be_had() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("truth.json");
    let args = ["-", "--level", "clean", "--output", "debounced", "--truth", path.to_str().unwrap()];
    let (_, events) = log(simulate(&args, PGN));
    let truth: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(truth["moves"], serde_json::json!(["f2f3", "e7e5", "g2g4", "d8h4"]));
    assert_eq!(truth["n_events"], events.len());
    for ply in truth["plies"].as_array().unwrap() {
        let at = |key: &str| ply[key].as_u64().map(|index| &events[usize::try_from(index).unwrap()].event);
        let uci = ply["uci"].as_str().unwrap();
        let square = |text: &str| text.parse::<Square>().unwrap();
        assert_eq!(at("ev0"), Some(&Event::Square { square: square(&uci[..2]), occupied: false }));
        assert_eq!(at("ev1"), Some(&Event::Square { square: square(&uci[2..]), occupied: true }));
        assert_eq!(matches!(at("press_ev"), Some(Event::Press(_))), uci != "d8h4");
    }
    assert_eq!(truth["touches"].as_array().unwrap().len(), 4);
    assert_eq!(truth["touches"][0]["kind"], "move");
    let output = simulate(&["-", "--truth", "/nonexistent/truth.json"], PGN);
    assert!(String::from_utf8(output.stderr).unwrap().contains("--truth /nonexistent/truth.json: No such"));
}

/// What `--print-params` writes is what `--params` reads; `--set` goes over it.
#[test]
fn parameters_are_printed_read_and_set() {
    let text = |args: &[&str]| String::from_utf8(simulate(args, PGN).stdout).unwrap();
    let chaos = text(&["--level", "chaos", "--print-params"]);
    assert!(chaos.contains("\n[mishaps]\nslide = \"30%\"\n"), "{chaos}");
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(chaos.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap();
    assert_eq!(text(&["--params", path, "--print-params"]), chaos);
    assert_eq!(text(&["-", "--params", path]), text(&["-", "--level", "chaos"]));
    let set = ["--params", path, "--set", "mishaps.slide=7.5%", "--set", "output.kind=identity"];
    let changed = text(&[&set[..], &["--print-params"]].concat());
    assert!(changed.contains("slide = \"7.5%\"") && changed.contains("kind = \"identity\""), "{changed}");
    assert_eq!(log(simulate(&[&set[..], &["-"]].concat(), PGN)).0.board, BoardKind::Dgt);
    // A file names what it changes and no more.
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"[mishaps]\nslide = \"1%\"\n[reed]\nbounces = 2\n[clock]\nstart = false\n").unwrap();
    let args = ["--level", "chaos", "--params", file.path().to_str().unwrap(), "--print-params"];
    let expected = chaos
        .replace("\nslide = \"30%\"", "\nslide = \"1%\"")
        .replace("bounces = 5", "bounces = 2")
        .replace("start = true", "start = false");
    assert_eq!(text(&args), expected);
}

#[test]
fn a_wrong_parameter_is_said_with_its_place_and_what_to_do() {
    for (setting, expected) in [
        (
            "mishaps.slid=1%",
            "--set mishaps.slid=1%: there is no parameter mishaps.slid; did you mean mishaps.slide?",
        ),
        (
            "timing.travel=fast",
            "timing.travel: expected a time or a span of times up to an hour, such as 90-250ms",
        ),
        ("timing.travel", "expected NAME=VALUE, such as mishaps.slide=30%"),
    ] {
        let output = simulate(&["-", "--set", setting], PGN);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{message}");
    }
    for (switch, expected) in
        [("--truth=-", "standard output has the log; name a file"), ("--debounced=4000000000", "is not in")]
    {
        let output = simulate(&["-", switch], PGN);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{message}");
        assert!(output.stdout.is_empty());
    }
    for (text, line, expected) in [
        ("[mishaps]\n\nslide = \"30\"\n", 3, "mishaps.slide: expected a share from 0% to 100%"),
        ("# mine\n[mishap]\nslide = \"30%\"\n", 3, "did you mean mishaps.slide?"),
        ("[timing]\ntravel = [90, 250]\n", 2, "timing.travel: expected a text in quotes"),
        ("slide = \"30%\"\n", 1, "slide stands outside a table"),
        ("[mishaps]\nslide = \n", 2, ""),
    ] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let path = file.path().to_str().unwrap();
        let output = simulate(&["-", "--params", path], PGN);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(&format!("{path}:{line}: ")) && message.contains(expected), "{message}");
    }
    let output = simulate(&["-", "--params", "/nonexistent.toml"], PGN);
    assert!(String::from_utf8(output.stderr).unwrap().contains("/nonexistent.toml: No such file"));
}
