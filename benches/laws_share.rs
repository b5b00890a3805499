//! What the Laws cost on top of the reconstruction, in time: each round runs the recorded games through the
//! session alone, then with the Laws, and again the other way round, so that what else the machine does
//! weighs on both. The median of the rounds' ratios is told, in time of this thread alone.
//!
//! `CARGO_PROFILE_BENCH_LTO=thin cargo bench --bench laws_share -- --rounds 60` prints the table of
//! `docs/performance.md`. `--only session` and `--only laws` run one of them, for an instruction count.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

#[path = "support/games.rs"]
#[allow(dead_code)]
mod games;

use std::{hint::black_box, time::Duration};

use clap::{Parser, ValueEnum};
use games::{Game, LEVELS, games};
use rustix::time::{ClockId, clock_gettime};
use touchmoved::{
    game::Board,
    session::{Session, io::Input, time::MonoTime},
};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The session alone
    Session,
    /// The session and the Laws
    Laws,
}

#[derive(Parser)]
struct Args {
    /// Rounds at each level
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// One level only: clean, tournament or chaos
    #[arg(long)]
    level: Option<String>,
    /// One part only, once a round and without a ratio
    #[arg(long)]
    only: Option<Part>,
    #[arg(long, hide = true)]
    bench: bool,
}

struct Played {
    game: Game,
    inputs: Vec<(MonoTime, Input)>,
}

fn session(played: &[Played]) {
    for Played { game, .. } in played {
        let mut session = Session::new(&game.setup).unwrap();
        for stamped in &game.events {
            session.handle(stamped);
            while let Some(fact) = session.poll_fact() {
                black_box(fact);
            }
        }
    }
}

fn laws(played: &[Played]) {
    for Played { game, inputs } in played {
        let mut board = Board::new(&game.setup).unwrap();
        for (at, input) in inputs {
            board.input(*at, input);
            while let Some(fact) = board.poll_fact() {
                black_box(fact);
            }
        }
    }
}

fn run(part: Part, played: &[Played]) {
    match part {
        Part::Session => session(played),
        Part::Laws => laws(played),
    }
}

/// Time of this thread that a part takes, in nanoseconds.
fn time(part: Part, played: &[Played]) -> u64 {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
    };
    let before = now();
    run(part, played);
    (now() - before).as_nanos().try_into().unwrap()
}

/// The quantiles 10, 50 and 90 % of a list.
fn quantiles(list: &mut [u64]) -> [u64; 3] {
    list.sort_unstable();
    [10, 50, 90].map(|percent| list.get((list.len() - 1) * percent / 100).copied().unwrap_or(0))
}

fn main() {
    let args = Args::parse();
    for level in LEVELS.into_iter().filter(|level| args.level.as_deref().is_none_or(|only| only == *level)) {
        let played: Vec<Played> = games(level)
            .into_iter()
            .map(|game| {
                let inputs =
                    game.events.iter().map(|event| (event.at, Input::Event(event.unit, event.event.clone())));
                Played { inputs: inputs.collect(), game }
            })
            .collect();
        if let Some(part) = args.only {
            (0..args.rounds).for_each(|_| run(part, &played));
            continue;
        }
        let plies: usize = played.iter().map(|played| played.game.moves.len()).sum();
        let (mut sessions, mut both, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..args.rounds.max(1) {
            let first = [time(Part::Session, &played), time(Part::Laws, &played)];
            let [late_laws, late_session] = [time(Part::Laws, &played), time(Part::Session, &played)];
            let [session, laws] = [first[0] + late_session, first[1] + late_laws];
            sessions.push(session / 2);
            both.push(laws / 2);
            shares.push(laws.saturating_sub(session) * 10_000 / session.max(1));
        }
        let ns = |total: u64| total / plies as u64;
        let [best, session, _] = quantiles(&mut sessions);
        let [least, laws, _] = quantiles(&mut both);
        let [low, share, high] = quantiles(&mut shares);
        let percent = |share: u64| format!("{}.{} %", share / 100, share % 100 / 10);
        println!(
            "{level:<12} {plies} plies  session {} ns a ply (10 % of the rounds {})  with the Laws {} ({})  on top {} (80 % of the rounds {} to {})",
            ns(session),
            ns(best),
            ns(laws),
            ns(least),
            percent(share),
            percent(low),
            percent(high)
        );
    }
}
