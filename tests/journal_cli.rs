//! The commands that read journals, as an arbiter and a script use them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use shakmaty::{Bitboard, Color, Square};
use touchmoved::{
    journal::{Body, Entry, Journal, JournalHeader},
    publish::Tags,
    session::{
        event::{Event, GameResult},
        fact::{Certainty, CompletedBy, EndDetail, Fact, FactKind, MadeDetail, law::Audience},
        setup::{BoardKind, GameSetup},
        time::MonoTime,
    },
};

/// 2026-01-31T23:59:40Z: the game goes on past midnight.
const EVENING: u64 = 1_769_903_980_000_000;

fn touchmoved(args: &[&str], dir: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_touchmoved"))
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// A journal that is written second by second.
struct Game {
    journal: Journal,
    ev: i64,
}

impl Game {
    const BEGUN: u64 = 500_000_000;

    fn begin(path: &Path, board: BoardKind, prev: Option<String>) -> Game {
        let tags = Tags {
            event: Some("Club evening".to_owned()),
            round: Some("3".to_owned()),
            white: Some("Player, One".to_owned()),
            black: Some("Player, Two".to_owned()),
            ..Tags::default()
        };
        let setup = GameSetup { board, time_control: "40/5400+30".to_owned(), ..GameSetup::default() };
        let header = JournalHeader { prev, ..JournalHeader::new("7", setup, tags) };
        let journal = Journal::create(path, header, MonoTime::from_micros(Game::BEGUN), EVENING).unwrap();
        Game { journal, ev: -1 }
    }

    fn put(&mut self, ms: u64, body: Body) {
        let at = MonoTime::from_micros(Game::BEGUN + ms * 1000);
        self.journal.append(&Entry { at, wall_us: EVENING + ms * 1000, body }).unwrap();
    }

    fn event(&mut self, ms: u64, event: Event) {
        self.ev += 1;
        self.put(ms, Body::Input(event.into()));
    }

    fn fact(&mut self, ms: u64, kind: FactKind) {
        let at = MonoTime::from_micros(Game::BEGUN + ms * 1000);
        self.put(ms, Body::Fact(Fact { ev: self.ev, at, kind }));
    }

    fn lift(&mut self, ms: u64, by: Color, square: Square, piece: char) {
        self.event(ms, Event::Square { square, occupied: false });
        self.fact(ms, FactKind::Touch { by, square, piece, certainty: Certainty::Sensor });
    }

    fn made(&mut self, ms: u64, ply: usize, uci: &str, san: &str, by: Color) {
        let placed = MonoTime::from_micros(Game::BEGUN + ms * 1000);
        let square: Square = uci[2..4].parse().unwrap();
        self.event(ms, Event::Square { square, occupied: true });
        let kind = FactKind::MoveMade {
            ply,
            uci: uci.into(),
            san: san.into(),
            by,
            placed,
            latest: placed.plus_ms(250),
            more: MadeDetail::default(),
        };
        self.fact(ms + 250, kind);
    }

    fn press(&mut self, ms: u64, ply: usize, uci: &str, by: Color, clock_ms: Option<u64>) {
        self.event(ms, Event::Press(by));
        let kind = FactKind::MoveCompleted { ply, uci: uci.into(), by, how: CompletedBy::Press, clock_ms };
        self.fact(ms, kind);
    }
}

/// White lifts a knight, puts it back and plays a pawn; Black takes back one move, plays another,
/// presses too early; the link is lost; White resigns.
fn played(path: &Path) -> String {
    use Color::{Black, White};
    let mut game = Game::begin(path, BoardKind::Reed, None);
    game.lift(5_000, White, Square::G1, 'N');
    game.event(6_200, Event::Square { square: Square::G1, occupied: true });
    game.fact(6_200, FactKind::PutBack { square: Square::G1, ms: 1_200, adjusting: false });
    game.lift(9_000, White, Square::E2, 'P');
    game.made(9_500, 1, "e2e4", "e4", White);
    game.press(10_000, 1, "e2e4", White, Some(5_400_000));
    game.lift(21_000, Black, Square::G8, 'n');
    game.made(21_400, 2, "g8f6", "Nf6", Black);
    game.fact(23_000, FactKind::MoveWithdrawn { ply: 2, uci: "g8f6".into(), published: true });
    game.made(23_000, 2, "g8h6", "Nh6", Black);
    game.event(24_000, Event::Press(Black));
    game.fact(
        24_000,
        FactKind::IllegalMove {
            by: Black,
            attempt: None,
            kind: "incomplete",
            n: 1,
            to: touchmoved::session::fact::law::Audience::Arbiter,
        },
    );
    game.lift(25_000, Black, Square::E4, 'P');
    game.event(30_000, Event::Link(false));
    let squares = Bitboard::from_square(Square::A1).with(Square::H8);
    let kind = FactKind::Advisory {
        side: None,
        code: "position-differs",
        squares,
        to: Audience::Arbiter,
        detail: "after the outage".into(),
    };
    game.fact(31_000, kind);
    game.event(40_000, Event::Result(GameResult::BlackWins));
    let end = FactKind::GameEnd {
        result: GameResult::BlackWins,
        reason: "entered",
        certainty: Certainty::Arbiter,
        more: EndDetail::default(),
    };
    game.fact(40_000, end);
    game.journal.sync().unwrap();
    game.journal.head().to_owned()
}

struct Files {
    dir: tempfile::TempDir,
    head: String,
}

impl Files {
    fn new() -> Files {
        let dir = tempfile::tempdir().unwrap();
        let head = played(&dir.path().join("game.ndjson"));
        Files { dir, head }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        touchmoved(args, self.dir.path())
    }
}

#[test]
fn verify_prints_the_head_of_an_intact_journal() {
    let files = Files::new();
    let output = files.run(&["verify", "game.ndjson"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let lines = fs::read_to_string(files.path("game.ndjson")).unwrap().lines().count();
    assert_eq!(stdout(&output), format!("{}  game.ndjson  {lines} records\n", files.head));
}

/// The header of a simulated game stands at zero, its readings where the simulation began.
#[test]
fn the_game_time_of_a_recording_counts_from_its_first_reading() {
    let files = Files::new();
    let header = JournalHeader::new("7", GameSetup::default(), Tags::default());
    let path = files.path("simulated.ndjson");
    let mut journal = Journal::create(&path, header, MonoTime::ZERO, EVENING).unwrap();
    for (us, event) in
        [(5_000_000_000, Event::Run(Color::White)), (5_003_000_000, Event::Press(Color::White))]
    {
        let at = MonoTime::from_micros(us);
        journal.append(&Entry { at, wall_us: EVENING, body: Body::Input(event.into()) }).unwrap();
    }
    journal.sync().unwrap();
    let page = stdout(&files.run(&["review", "simulated.ndjson"]));
    assert!(page.contains(" 0:00:00.00 ") && page.contains(" 0:00:03.00 "), "{page}");
}

#[test]
fn verify_says_which_segment_follows_which() {
    let files = Files::new();
    drop(Game::begin(&files.path("next.ndjson"), BoardKind::Reed, Some(files.head.clone())));
    let output = files.run(&["verify", "game.ndjson", "next.ndjson"]);
    assert_eq!(code(&output), 0);
    assert!(
        stdout(&output).ends_with("next.ndjson  1 records, follows game.ndjson\n"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn verify_names_the_first_record_that_was_changed() {
    let files = Files::new();
    let text = fs::read_to_string(files.path("game.ndjson")).unwrap();
    fs::write(files.path("game.ndjson"), text.replace("\"lifted_ms\":1200", "\"lifted_ms\":1100")).unwrap();
    let output = files.run(&["verify", "game.ndjson"]);
    assert_eq!(code(&output), 1);
    let seq = text.lines().position(|line| line.contains("lifted_ms")).unwrap() + 1;
    assert!(
        stdout(&output).starts_with(&format!("game.ndjson: bad record, seq {seq}: ")),
        "{}",
        stdout(&output)
    );
    assert!(stderr(&output).contains("1 of 1 file"), "{}", stderr(&output));
}

#[test]
fn verify_tells_unreadable_files_from_bad_ones() {
    let files = Files::new();
    fs::write(files.path("log.ndjson"), "{\"sensor_log\":1}\n{\"us\":1,\"tick\":true}\n").unwrap();
    fs::write(files.path("empty.ndjson"), "").unwrap();
    for (name, expected, word) in [
        ("missing.ndjson", 2, "cannot read missing.ndjson"),
        (".", 2, "cannot read ."),
        ("log.ndjson", 2, "sensor log"),
        ("empty.ndjson", 1, "seq 1: the file is empty"),
    ] {
        let output = files.run(&["verify", name]);
        let told = stdout(&output) + &stderr(&output);
        assert_eq!(code(&output), expected, "{name}: {told}");
        assert!(told.contains(word), "{name}: {told}");
    }
}

/// The commands that `verify --help` and docs/journal.md give for a check by hand.
#[test]
fn verify_that_cannot_say_it_does_not_succeed() {
    let files = Files::new();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_touchmoved"))
        .args(["verify", "game.ndjson"])
        .current_dir(files.path("game.ndjson").parent().unwrap())
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("cannot write to standard output"), "{}", stderr(&output));
}

#[test]
fn a_line_can_be_checked_by_hand() {
    let script = r#"
        prev=$(sed -n 11p game.ndjson | grep -o '[0-9a-f]*"}$' | cut -c1-32)
        line=$(sed -n 12p game.ndjson | sed 's/,"chain":"[0-9a-f]*"}$/}/')
        printf '%s%s' "$prev" "$line" | sha256sum | cut -c1-32"#;
    let files = Files::new();
    let help = stdout(&files.run(&["verify", "--help"]));
    let docs = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/journal.md")).unwrap();
    for line in script.trim().lines().map(|line| line.trim().replace("game.ndjson", "FILE")) {
        assert!(help.contains(&line), "{line} is not in\n{help}");
        assert!(docs.contains(&line), "{line} is not in docs/journal.md");
    }
    let output = Command::new("sh").args(["-c", script]).current_dir(files.dir.path()).output().unwrap();
    let text = fs::read_to_string(files.path("game.ndjson")).unwrap();
    let record: Value = serde_json::from_str(text.lines().nth(11).unwrap()).unwrap();
    assert_eq!(stdout(&output).trim(), record["chain"].as_str().unwrap());
}

#[test]
fn export_writes_the_sensor_log_and_overwrites_nothing() {
    let files = Files::new();
    let output = files.run(&["export", "game.ndjson", "-o", "log.ndjson"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let log = fs::read_to_string(files.path("log.ndjson")).unwrap();
    let mut lines = log.lines();
    assert!(lines.next().unwrap().starts_with("{\"sensor_log\":1,\"board\":\"reed\","));
    assert_eq!(lines.next().unwrap(), "{\"us\":505000000,\"sq\":\"g1\",\"occ\":0}");
    assert_eq!(lines.clone().count(), 11);
    assert_eq!(stdout(&files.run(&["export", "game.ndjson"])), log);

    let again = files.run(&["export", "game.ndjson", "-o", "log.ndjson"]);
    assert_eq!(code(&again), 1);
    assert!(stderr(&again).contains("--force"), "{}", stderr(&again));
    assert_eq!(code(&files.run(&["export", "game.ndjson", "-o", "log.ndjson", "--force"])), 0);
    assert_eq!(code(&files.run(&["export", "game.ndjson", "-o", "/dev/full"])), 1);

    let already = files.run(&["export", "log.ndjson"]);
    assert_eq!(code(&already), 2);
    assert!(stderr(&already).contains("sensor log already"), "{}", stderr(&already));
    assert_eq!(code(&files.run(&["export", "missing.ndjson"])), 2);
}

#[test]
fn review_tells_what_happened_within_80_columns() {
    let files = Files::new();
    let output = files.run(&["review", "game.ndjson"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let page = stdout(&output);
    for line in page.lines() {
        assert!(line.chars().count() <= 80, "too long: {line}");
    }
    let (head, rows) = page.split_once("\n\n").unwrap();
    for part in [
        "Board    7 (reed), Club evening, round 3",
        "White    Player, One",
        "Black    Player, Two",
        "fide-2023, standard, 40/5400+30",
        &format!("head {}", files.head),
        "lower bound of a touch",
    ] {
        let joined = head.replace("\n         ", " ");
        assert!(joined.contains(part), "{part:?} is not in\n{head}");
    }
    let expected = "\
UTC                game  move  what happened
2026-01-31
23:59:45.00  0:00:05.00    1w  White lifted the knight on g1, put back after
                               1.20 s
23:59:49.00  0:00:09.00    1w  White lifted the pawn on e2, moved: 1. e4
23:59:49.50  0:00:09.50    1w  White placed 1. e4 (e2e4), made within 0.25 s
23:59:50.00  0:00:10.00    1w  White pressed the clock: 1. e4 completed, 1:30:00
                               left
2026-02-01
00:00:01.00  0:00:21.00    1b  Black lifted the knight on g8, moved: 1... Nf6
00:00:01.40  0:00:21.40    1b  Black placed 1... Nf6 (g8f6), made within 0.25 s
00:00:03.00  0:00:23.00    1b  1... Nf6 (g8f6) was taken back before its
                               completion, after it had been shown to the public
00:00:03.00  0:00:23.00    1b  Black placed 1... Nh6 (g8h6), made within 0.25 s
00:00:04.00  0:00:24.00    1b  Black pressed the clock
00:00:04.00  0:00:24.00    1b  Black pressed over a position that no legal move
                               explains (incomplete, number 1 of Black)
00:00:05.00  0:00:25.00    2w  White's pawn on e4 was lifted in Black's turn, no
                               return seen
00:00:10.00  0:00:30.00    2w  the link to the board is lost
00:00:11.00  0:00:31.00    2w  position-differs on a1, h8: after the outage
00:00:20.00  0:00:40.00    2w  result entered: 0-1
00:00:20.00  0:00:40.00    2w  the game ended 0-1 (entered, arbiter)
";
    assert_eq!(rows, expected, "found:\n{rows}");
}

#[test]
fn review_answers_whether_a_man_was_lifted() {
    let files = Files::new();
    let page = stdout(&files.run(&["review", "game.ndjson", "--square", "g1,d1"]));
    assert!(
        page.contains(
            "\ng1: lifted once\n    0:00:05.00  White lifted the knight on g1, put back after 1.20 s\n"
        ),
        "{page}"
    );
    assert!(page.contains("\nd1: no lift is recorded (a touch without a lift leaves no trace)\n"), "{page}");
    assert_eq!(page.matches("23:59:").count(), 1, "{page}");
    assert!(!page.contains("finger"));
}

#[test]
fn review_selects_by_move_time_and_kind() {
    let files = Files::new();
    let rows = |args: &[&str]| -> Vec<Value> {
        let output = files.run(&[&["review", "game.ndjson", "--json"], args].concat());
        assert_eq!(code(&output), 0, "{args:?}: {}", stderr(&output));
        let text = stdout(&output);
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        assert_eq!(lines.next().unwrap()["kind"], "head");
        lines.collect()
    };
    let kinds = |args: &[&str]| -> Vec<String> {
        rows(args).iter().map(|row| row["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&["--move", "1w"]), ["touch", "touch", "made", "completed"]);
    assert_eq!(kinds(&["--ply", "1"]), kinds(&["--move", "1w"]));
    assert_eq!(kinds(&["--kind", "press"]), ["completed", "press"]);
    assert_eq!(kinds(&["--kind", "adjust"]), ["touch"]);
    assert_eq!(kinds(&["--last", "10"]), ["link", "advisory", "result", "result"]);
    assert_eq!(kinds(&["--from", "0:00:09.5", "--to", "21"]), ["made", "completed", "touch"]);
    assert_eq!(kinds(&["--kind", "square", "--square", "g1"]), ["square", "square"]);
    assert_eq!(kinds(&["--from", "3:00:00"]), [""; 0]);

    let lift = &rows(&["--square", "g1"])[0];
    assert_eq!(lift["at"], "2026-01-31T23:59:45.000000Z");
    assert_eq!((lift["us"].as_u64(), lift["game_us"].as_u64()), (Some(505_000_000), Some(5_000_000)));
    assert_eq!(
        (lift["by"].as_str(), lift["man"].as_str(), lift["move"].as_str()),
        (Some("white"), Some("N"), Some("1w"))
    );
    assert_eq!((lift["outcome"].as_str(), lift["lifted_ms"].as_u64()), (Some("put-back"), Some(1_200)));
    let made = &rows(&["--kind", "made"])[0];
    assert_eq!(
        (made["placed_us"].as_u64(), made["latest_us"].as_u64()),
        (Some(509_500_000), Some(509_750_000))
    );
}

#[test]
fn review_shows_what_stands_before_a_changed_record() {
    let files = Files::new();
    let text = fs::read_to_string(files.path("game.ndjson")).unwrap();
    fs::write(files.path("game.ndjson"), text.replace("g8f6", "g8h6")).unwrap();
    let output = files.run(&["review", "game.ndjson"]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("bad record, seq"), "{}", stderr(&output));
    let page = stdout(&output);
    assert!(page.contains("1. e4 completed") && !page.contains("Nf6") && !page.contains("intact"), "{page}");
}

#[test]
fn review_reads_a_journal_that_is_being_written_and_a_sensor_log() {
    let files = Files::new();
    let bytes = fs::read(files.path("game.ndjson")).unwrap();
    fs::write(files.path("live.ndjson"), &bytes[..bytes.len() - 3]).unwrap();
    let live = files.run(&["review", "live.ndjson"]);
    assert_eq!(code(&live), 0, "{}", stderr(&live));
    let page = stdout(&live).replace("\n         ", " ");
    assert!(page.contains("the last line is incomplete"), "{page}");

    assert_eq!(code(&files.run(&["export", "game.ndjson", "-o", "log.ndjson"])), 0);
    let log = files.run(&["review", "log.ndjson", "--kind", "press"]);
    assert_eq!(code(&log), 0, "{}", stderr(&log));
    assert!(stdout(&log).contains("White pressed the clock"), "{}", stdout(&log));
    assert!(stdout(&log).contains("there is no chain to check"), "{}", stdout(&log));
}

#[test]
fn review_refuses_what_it_cannot_answer() {
    let files = Files::new();
    fs::write(files.path("bad.ndjson"), "{\"sensor_log\":1}\n{\"us\":1,\"sq\":\"z9\",\"occ\":1}\n").unwrap();
    for (args, word) in [
        (&["missing.ndjson"][..], "cannot read missing.ndjson"),
        (&["bad.ndjson"], "bad.ndjson, line 2: sq: expected a square"),
        (&["game.ndjson", "--square", "j9"], "expected a square from a1 to h8"),
        (&["game.ndjson", "--kind", "lift"], "expected one of touch"),
        (&["game.ndjson", "--move", "e4"], "expected a move such as 12w"),
        (&["game.ndjson", "--ply", "0"], "counts from 1"),
        (&["game.ndjson", "--last", "soon"], "expected seconds"),
    ] {
        let output = files.run(&[&["review"], args].concat());
        assert_eq!(code(&output), 2, "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_pegged_board_and_a_dgt_board_tell_their_own_limits() {
    let files = Files::new();
    for (kind, word, other) in [
        (BoardKind::Peg, "touch that the Laws define", "lower bound"),
        (BoardKind::Dgt, "200 to 250 ms", "Reed"),
    ] {
        let name = format!("{}.ndjson", kind.as_str());
        drop(Game::begin(&files.path(&name), kind, None));
        let page = stdout(&files.run(&["review", &name])).replace("\n         ", " ");
        assert!(page.contains(word) && !page.contains(other), "{page}");
        assert!(page.contains("Nothing of what was asked for is recorded."), "{page}");
    }
}
