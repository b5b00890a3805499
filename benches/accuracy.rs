//! How often the reconstruction is right: thousands of simulated games, scored against what was played.
//!
//! `cargo bench --bench accuracy -- --level chaos --games 1000 --set std` prints one line; `-v` also prints
//! where each game that is not exact leaves the truth. See `docs/reconstruction.md`.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use clap::Parser;
use touchmoved::{
    session::{Session, event::GameResult, fact::FactKind, setup::GameSetup},
    simulate::{
        Game, Simulation,
        params::{Ending, Level, Output, Params},
        simulate,
    },
    wire::sensor_log,
};

#[derive(Parser)]
struct Args {
    /// clean, tournament or chaos
    #[arg(long, default_value = "tournament")]
    level: String,
    /// std, c960, special: the games of the fixtures, each with as many seeds as are needed
    #[arg(long, default_value = "std")]
    set: String,
    #[arg(long, default_value_t = 300)]
    games: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// debounced, raw or identity
    #[arg(long, default_value = "debounced")]
    output: String,
    /// Milliseconds between two scans of an identity board; 0 puts out every settled change
    #[arg(long)]
    scan: Option<u32>,
    /// Only this game of the run
    #[arg(long)]
    only: Option<usize>,
    /// Print the games that are not exact
    #[arg(short, long)]
    verbose: bool,
    /// Write the sensor logs of the games that are not exact into this folder
    #[arg(long)]
    keep: Option<String>,
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Default)]
struct Score {
    games: usize,
    plies: usize,
    exact: usize,
    exact_to_the_piece: usize,
    wrong: usize,
    withdrawn: usize,
    corrected: usize,
    published: usize,
    late: usize,
    with_press: usize,
    doubted_right: usize,
    doubted_wrong: usize,
    failures: Vec<(usize, String)>,
    published_wrong: Vec<(usize, String)>,
    mishaps: BTreeMap<String, usize>,
}

fn games(set: &str) -> Vec<(String, Game)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams").join(set);
    fs::read_to_string(folder.join("moves.txt"))
        .unwrap()
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ').map(str::to_owned);
            let name = words.next().unwrap();
            // Some games were recorded at the other levels only.
            let log = fs::read_to_string(folder.join(format!("clean/occ/{name}.ndjson"))).ok()?;
            let given = sensor_log::parse_header(log.lines().next().unwrap()).unwrap();
            let setup =
                GameSetup { start_fen: given.start_fen, castling: given.castling, ..GameSetup::default() };
            let game =
                Game { setup, moves: words.collect(), think_ms: Vec::new(), result: GameResult::Ongoing };
            Some((name, game))
        })
        .collect()
}

/// What was put out, one after the other.
enum Out {
    Move(String, u64),
    Undo,
    Correct(usize, String),
}

struct Told {
    out: Vec<Out>,
    end: Vec<String>,
    doubts: Vec<usize>,
}

fn run(simulation: &Simulation) -> Told {
    let mut session = Session::new(&simulation.setup).unwrap();
    let mut out = Vec::new();
    let mut drain = |session: &mut Session| {
        while let Some(fact) = session.poll_fact() {
            match fact.kind {
                FactKind::MovePublished { uci, .. } => {
                    out.push(Out::Move(uci.to_string(), fact.at.as_micros()))
                }
                FactKind::MoveWithdrawn { published: true, .. } => out.push(Out::Undo),
                FactKind::MoveRevised { ply, uci, published: true, .. } => {
                    out.push(Out::Correct(ply, uci.to_string()))
                }
                _ => {}
            }
        }
    };
    for event in &simulation.events {
        session.handle(event);
        drain(&mut session);
    }
    session.advance(touchmoved::session::time::MonoTime::END);
    drain(&mut session);
    let end = session.best_line();
    let doubts = session.doubts();
    Told { out, end, doubts }
}

fn plain(uci: &str) -> &str {
    uci.get(..4).unwrap_or(uci)
}

fn score(name: &str, game: usize, simulation: &Simulation, told: &Told, score: &mut Score) -> bool {
    let truth = &simulation.truth.plies;
    let mut shown: Vec<&str> = Vec::new();
    let mut in_wrong_run = false;
    for out in &told.out {
        match out {
            Out::Undo => {
                score.withdrawn += 1;
                let last = shown.pop().unwrap_or_default();
                score.published_wrong.push((game, format!("#{game} {name} withdrew {last}")));
                in_wrong_run = false;
            }
            Out::Correct(ply, uci) => {
                if let Some(slot) = shown.get_mut(ply - 1) {
                    *slot = uci;
                    score.corrected += 1;
                }
            }
            Out::Move(uci, at) => {
                let index = shown.len();
                shown.push(uci);
                score.published += 1;
                let right = truth.get(index).is_some_and(|ply| plain(&ply.uci) == plain(uci));
                if right {
                    in_wrong_run = false;
                    let ply = &truth[index];
                    let last = ply.made_us.max(ply.press_us.unwrap_or(0)) + 25_000;
                    let answer = truth.get(index + 1).map_or(u64::MAX, |next| next.start_us + 25_000);
                    score.late += usize::from(*at > answer.max(last));
                    score.with_press += usize::from(*at <= last);
                } else if !in_wrong_run {
                    in_wrong_run = true;
                    score.wrong += 1;
                    let played = truth.get(index).map_or("(none)".to_owned(), |ply| {
                        format!("{} {} {:?} at {} us", ply.uci, ply.style, ply.mishaps, ply.start_us)
                    });
                    score.published_wrong.push((
                        game,
                        format!("#{game} {name} published {uci} at {at} as ply {}: {played}", index + 1),
                    ));
                }
            }
        }
    }
    let same = |a: &str, b: &str| plain(a) == plain(b);
    let exact = truth.len() == told.end.len() && truth.iter().zip(&told.end).all(|(a, b)| same(&a.uci, b));
    score.games += 1;
    score.plies += truth.len();
    score.exact += usize::from(exact);
    score.exact_to_the_piece +=
        usize::from(truth.len() == told.end.len() && truth.iter().zip(&told.end).all(|(a, b)| a.uci == *b));
    if exact {
        score.doubted_right += usize::from(!told.doubts.is_empty());
        return true;
    }
    let wrong = truth.iter().zip(&told.end).position(|(a, b)| !same(&a.uci, b));
    let wrong = wrong.unwrap_or(truth.len().min(told.end.len()));
    let doubted = told.doubts.iter().any(|ply| *ply == wrong || *ply == wrong + 1);
    score.doubted_wrong += usize::from(doubted);
    let line = truth.get(wrong).map_or("(none)".to_owned(), |ply| {
        for mishap in &ply.mishaps {
            *score.mishaps.entry((*mishap).to_owned()).or_default() += 1;
        }
        format!("{} {} {:?} at {} us", ply.uci, ply.style, ply.mishaps, ply.start_us)
    });
    let got = told.end.get(wrong).map_or("(none)", String::as_str);
    score.failures.push((
        game,
        format!(
            "#{game} {name} ply {} of {}: {line}, read {got}, doubts {:?}",
            wrong + 1,
            truth.len(),
            told.doubts
        ),
    ));
    false
}

fn main() {
    let args = Args::parse();
    let mut params = Params::level(Level::parse(&args.level).expect("--level clean, tournament or chaos"));
    params.ending = Ending::Open;
    params.output = Output::Debounced;
    match args.output.as_str() {
        "raw" => params.output = Output::Raw,
        "identity" => params.output = Output::Identity,
        _ => {}
    }
    if let Some(ms) = args.scan {
        params.scan_ms = ms;
    }
    let games = games(&args.set);
    let next = AtomicUsize::new(args.only.unwrap_or(0));
    let end = args.only.map_or(args.games, |only| only + 1);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut total = Score::default();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= end {
                return total;
            }
            let (name, game) = &games[index % games.len()];
            let mut game = game.clone();
            if args.level == "chaos" {
                // Scrambles: from half a second down to nothing.
                game.think_ms = Vec::new();
            }
            let simulation = simulate(&game, &params, args.seed + index as u64).unwrap();
            let told = run(&simulation);
            let exact = score(name, index, &simulation, &told, &mut total);
            if (!exact || args.only.is_some())
                && let Some(folder) = &args.keep
            {
                let mut log = sensor_log::format_header(&simulation.setup);
                log.push('\n');
                for event in &simulation.events {
                    log.push_str(&sensor_log::format_event(event));
                    log.push('\n');
                }
                fs::write(Path::new(folder).join(format!("{index}.ndjson")), log).unwrap();
                let moves: Vec<&str> = simulation.truth.plies.iter().map(|ply| ply.uci.as_str()).collect();
                fs::write(Path::new(folder).join(format!("{index}.uci")), moves.join(" ")).unwrap();
            }
        }
    };
    let totals: Vec<Score> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let sum = |of: fn(&Score) -> usize| totals.iter().map(of).sum::<usize>();
    let (games, exact, plies) = (sum(|s| s.games), sum(|s| s.exact), sum(|s| s.plies));
    println!(
        "{} {} {}: {exact} of {games} exact ({:.2} %), {} to the piece; {plies} plies: {} wrong, {} withdrawn, {} corrected; \
         {:.2} % late, {:.1} % with the press; doubts in {} of {} inexact and {} of {exact} right games",
        args.set,
        args.level,
        args.output,
        100.0 * exact as f64 / games.max(1) as f64,
        sum(|s| s.exact_to_the_piece),
        sum(|s| s.wrong),
        sum(|s| s.withdrawn),
        sum(|s| s.corrected),
        100.0 * sum(|s| s.late) as f64 / sum(|s| s.published).max(1) as f64,
        100.0 * sum(|s| s.with_press) as f64 / sum(|s| s.published).max(1) as f64,
        sum(|s| s.doubted_wrong),
        games - exact,
        sum(|s| s.doubted_right),
    );
    if args.verbose {
        let mut failures: Vec<_> = totals.iter().flat_map(|s| s.failures.iter()).collect();
        failures.sort();
        failures.iter().for_each(|(_, line)| println!("  {line}"));
        let mut wrong: Vec<_> = totals.iter().flat_map(|s| s.published_wrong.iter()).collect();
        wrong.sort();
        wrong.iter().for_each(|(_, line)| println!("  {line}"));
        let mut mishaps = BTreeMap::<&str, usize>::new();
        for (name, count) in totals.iter().flat_map(|s| &s.mishaps) {
            *mishaps.entry(name).or_default() += count;
        }
        println!("  mishaps at the first wrong ply: {mishaps:?}");
    }
}
