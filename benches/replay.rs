//! Speed of the reconstruction, beside what it cannot do without: reading the lines, and checking the
//! moves' legality with the chess library. Quote the ratios, not the times.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

#[path = "support/games.rs"]
mod games;

use divan::{Bencher, black_box, counter::ItemsCount};
use games::{Game, LEVELS, games};
use shakmaty::{Position as _, uci::UciMove};
use touchmoved::{
    game::Board,
    replay::{Emit, Replay},
    session::{Session, event::Stamped, io::Input, time::MonoTime},
    wire::sensor_log,
};

fn main() {
    divan::main();
}

fn plies(games: &[Game]) -> ItemsCount {
    ItemsCount::new(games.iter().map(|game| game.moves.len()).sum::<usize>())
}

/// What `touchmoved replay` does: lines in, moves out. Items are plies.
#[divan::bench(args = LEVELS)]
fn replay_lines(bencher: Bencher, level: &str) {
    let games = games(level);
    bencher.counter(plies(&games)).bench_local(|| {
        for game in &games {
            let mut replay = Replay::new(&game.setup, Emit::Moves, None).unwrap();
            for line in &game.lines {
                let stamped = sensor_log::parse_event(line).unwrap();
                replay.input(stamped.at, &Input::Event(stamped.unit, stamped.event)).unwrap();
            }
            replay.finish().unwrap();
            black_box(replay.take_output());
        }
    });
}

/// The session alone, on decoded events.
#[divan::bench(args = LEVELS)]
fn session_events(bencher: Bencher, level: &str) {
    let games = games(level);
    bencher.counter(plies(&games)).bench_local(|| {
        for game in &games {
            let mut session = Session::new(&game.setup).unwrap();
            for stamped in &game.events {
                session.handle(stamped);
                while let Some(fact) = session.poll_fact() {
                    black_box(fact);
                }
            }
        }
    });
}

/// The session and what the Laws make of its facts, on decoded events: the difference to
/// [`session_events`] is what the Laws cost.
#[divan::bench(args = LEVELS)]
fn laws_events(bencher: Bencher, level: &str) {
    let games = games(level);
    let inputs: Vec<Vec<(MonoTime, Input)>> = games
        .iter()
        .map(|game| {
            let input = |event: &Stamped| (event.at, Input::Event(event.unit, event.event.clone()));
            game.events.iter().map(input).collect()
        })
        .collect();
    bencher.counter(plies(&games)).bench_local(|| {
        for (game, inputs) in games.iter().zip(&inputs) {
            let mut board = Board::new(&game.setup).unwrap();
            for (at, input) in inputs {
                board.input(*at, input);
                while let Some(fact) = board.poll_fact() {
                    black_box(fact);
                }
            }
        }
    });
}

/// Only reading the lines.
#[divan::bench(args = LEVELS)]
fn parse_lines_only(bencher: Bencher, level: &str) {
    let games = games(level);
    bencher.counter(plies(&games)).bench_local(|| {
        for game in &games {
            for line in &game.lines {
                black_box(sensor_log::parse_event(line).unwrap());
            }
        }
    });
}

/// Only checking that the same moves are legal.
#[divan::bench(args = LEVELS)]
fn legality_only(bencher: Bencher, level: &str) {
    let games = games(level);
    bencher.counter(plies(&games)).bench_local(|| {
        for game in &games {
            let mut position = game.start.clone();
            for text in &game.moves {
                let mv = text.parse::<UciMove>().unwrap().to_move(&position).unwrap();
                position.play_unchecked(mv);
            }
            black_box(position);
        }
    });
}
