//! Games that somebody recorded: `NAME.ndjson` (a sensor log or a journal) and `NAME.pgn` (the true
//! game) in `tests/fixtures/corpus/games/`. Where the reconstruction leaves the game is said by ply.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use shakmaty::{Chess, Position as _, san::SanPlus, uci::UciMove};
use touchmoved::{
    game::Board,
    journal::replay::{ItemKind, open},
    session::{
        fact::FactKind,
        setup::{BoardKind, GameSetup},
        time::MonoTime,
    },
    simulate::{Game, pgn},
};

const GAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/corpus/games");

/// A ply in both notations.
#[derive(Clone, Debug, PartialEq)]
struct Ply {
    uci: String,
    san: String,
}

/// What the log shows of one ply.
#[derive(Clone, Debug)]
struct Told {
    ply: Ply,
    /// Index of the event after which it was made.
    ev: i64,
}

/// A game as it was read from its log.
struct Read {
    setup: GameSetup,
    plies: Vec<Told>,
    /// Published moves that were withdrawn: the event, the ply, the move.
    withdrawn: Vec<(i64, usize, String)>,
    /// Index of the last event.
    end: i64,
    doubts: Vec<usize>,
}

/// Runs a log and keeps at which event each ply was made.
fn read(path: &Path) -> Result<Read, String> {
    let mut log = open(path).map_err(|error| error.to_string())?;
    let setup = log.setup().clone();
    let mut board = Board::new(&setup).map_err(|error| format!("{}, line 1: {error}", path.display()))?;
    let mut plies: Vec<Told> = Vec::new();
    let mut withdrawn = Vec::new();
    let mut take = |board: &mut Board| {
        while let Some(fact) = board.poll_fact() {
            match fact.kind {
                FactKind::MoveMade { uci, san, .. } => {
                    plies.push(Told { ply: Ply { uci: uci.into(), san: san.into() }, ev: fact.ev })
                }
                FactKind::MoveRevised { ply, uci, san, .. } => {
                    plies[ply - 1] = Told { ply: Ply { uci: uci.into(), san: san.into() }, ev: fact.ev };
                }
                FactKind::MoveWithdrawn { ply, uci, published } => {
                    plies.pop();
                    if published {
                        withdrawn.push((fact.ev, ply, uci.into()));
                    }
                }
                _ => {}
            }
        }
    };
    while let Some(item) = log.next_item().map_err(|error| error.to_string())? {
        if let ItemKind::Input(input) = item.kind {
            board.input(item.at, &input);
            take(&mut board);
        }
    }
    board.advance(MonoTime::END);
    take(&mut board);
    let session = board.session();
    Ok(Read { setup, plies, withdrawn, end: session.last_event(), doubts: session.doubts() })
}

/// The moves of a PGN that the log shows: all but those of the header's `history`.
fn played(path: &Path, setup: &GameSetup) -> Result<Vec<Ply>, String> {
    let text = String::from_utf8_lossy(&fs::read(path).map_err(|error| error.to_string())?).into_owned();
    let game: Game = pgn::parse(&text).map_err(|error| error.to_string())?;
    let start = |setup: &GameSetup| {
        GameSetup { history: Vec::new(), ..setup.clone() }.position().map_err(|error| error.to_string())
    };
    let mut position = start(&game.setup)?;
    if game.setup.castling != setup.castling {
        return Err("the log and the PGN are not of the same variant (tag pair Variant)".to_owned());
    }
    if position.board() != start(setup)?.board() || position.turn() != start(setup)?.turn() {
        return Err("the log and the PGN do not begin with the same position (tag pair FEN)".to_owned());
    }
    let mut plies = Vec::new();
    for (index, text) in game.moves.iter().enumerate() {
        let mv = legal(&position, text).ok_or(format!("ply {}, {text:?}, is not legal", index + 1))?;
        let uci = UciMove::from_move(mv, setup.castling).to_string();
        let san = SanPlus::from_move_and_play_unchecked(&mut position, mv).to_string();
        plies.push(Ply { uci, san });
    }
    let before = setup.history.len().min(plies.len());
    Ok(plies.split_off(before))
}

fn legal(position: &Chess, text: &str) -> Option<shakmaty::Move> {
    text.parse::<SanPlus>().ok()?.san.to_move(position).ok()
}

/// Compares a log with its PGN; the first place where they part, and every move that was published
/// and withdrawn.
fn compare(log: &Path) -> Result<(), String> {
    let read = read(log)?;
    let played = played(&log.with_extension("pgn"), &read.setup)?;
    let identity = read.setup.board == BoardKind::Dgt;
    // An occupancy board cannot tell what a pawn became.
    let of = |ply: &Ply| {
        let length = if identity { ply.uci.len() } else { 4 };
        ply.uci.get(..length).map(str::to_owned)
    };
    let number = |index: usize| index + read.setup.history.len() + 1;
    let mut text = String::new();
    for index in 0..played.len().max(read.plies.len()) {
        let (truth, told) = (played.get(index), read.plies.get(index));
        if truth.and_then(of) == told.and_then(|told| of(&told.ply)) {
            continue;
        }
        let ply =
            |ply: Option<&Ply>| ply.map_or("nothing more".to_owned(), |p| format!("{} ({})", p.san, p.uci));
        let at = told.map_or(read.end, |told| told.ev);
        let (was, instead) = (ply(truth), ply(told.map(|told| &told.ply)));
        let doubted = if read.doubts.contains(&(index + 1)) { "in doubt" } else { "told as certain" };
        let _ = write!(text, "ply {} was {was}; event {at} was read as {instead}, {doubted}", number(index));
        break;
    }
    for (ev, ply, uci) in &read.withdrawn {
        let _ = write!(
            text,
            "\n    ply {}: {uci} was published and withdrawn at event {ev}",
            ply + read.setup.history.len()
        );
    }
    if text.is_empty() { Ok(()) } else { Err(text) }
}

/// Files of the folder with this extension, without it.
fn stems(extension: &str) -> BTreeSet<PathBuf> {
    let files = fs::read_dir(GAMES).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension() == Some(OsStr::new(extension)))
        .map(|path| path.with_extension(""))
        .collect()
}

#[test]
fn every_game_of_the_corpus_is_read_as_it_was_played() {
    let (logs, games) = (stems("ndjson"), stems("pgn"));
    let alone: Vec<_> = logs.symmetric_difference(&games).collect();
    assert!(alone.is_empty(), "a log without its PGN, or a PGN without its log: {alone:?}");
    assert!(logs.len() >= 7, "{} games", logs.len());
    let mut problems = Vec::new();
    for stem in &logs {
        if let Err(problem) = compare(&stem.with_extension("ndjson")) {
            problems.push(format!("{}: {problem}", stem.file_name().unwrap().to_string_lossy()));
        }
    }
    assert!(problems.is_empty(), "{} of {} games:\n{}", problems.len(), logs.len(), problems.join("\n"));
}

/// A log and the PGN of another game: the place where they part is named.
#[test]
fn the_place_where_log_and_pgn_part_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("game.ndjson");
    let lines = [
        r#"{"sensor_log":1}"#,
        r#"{"us":1000000,"sq":"e2","occ":0}"#,
        r#"{"us":1500000,"sq":"e4","occ":1}"#,
        r#"{"us":3000000,"clock":"white"}"#,
        r#"{"us":5000000,"sq":"e7","occ":0}"#,
        r#"{"us":5500000,"sq":"e5","occ":1}"#,
        r#"{"us":7000000,"clock":"black"}"#,
    ];
    fs::write(&log, lines.join("\n")).unwrap();
    let with = |pgn: &str| {
        fs::write(folder.path().join("game.pgn"), pgn).unwrap();
        compare(&log)
    };
    assert_eq!(with("1. e4 e5 *"), Ok(()));
    assert_eq!(
        with("1. e4 e6 *").unwrap_err(),
        "ply 2 was e6 (e7e6); event 4 was read as e5 (e7e5), told as certain"
    );
    assert_eq!(
        with("1. e4 e5 2. Nf3 *").unwrap_err(),
        "ply 3 was Nf3 (g1f3); event 5 was read as nothing more, told as certain"
    );
    assert_eq!(
        with("1. e4 *").unwrap_err(),
        "ply 2 was nothing more; event 4 was read as e5 (e7e5), told as certain"
    );
    assert_eq!(with("1. e4 Ke4 *").unwrap_err(), "ply 2, \"Ke4\", is not legal");
    assert!(
        with("[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 *").unwrap_err().contains("tag pair FEN")
    );
}
