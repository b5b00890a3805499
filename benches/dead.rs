//! Speed of the search for a helpmate and of the proof that there is none, beside what a search cannot do
//! without: generating the legal moves and playing them. Quote the ratios, not the times.
#![allow(clippy::unwrap_used, missing_docs)]

use divan::{Bencher, black_box, counter::ItemsCount};
use shakmaty::{CastlingMode, Chess, Color, Position as _, fen::Fen};
use touchmoved::laws::dead::{Nodes, can_mate_within, dead_position};

fn main() {
    divan::main();
}

/// Name and FEN. The last one is beyond the default budget: neither found nor proven.
const POSITIONS: &[(&str, &str)] = &[
    ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    ("middlegame", "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10"),
    ("rook ending", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"),
    ("opposite bishops", "8/8/8/4kb2/8/8/3B4/4K3 w - - 0 1"),
    ("wall", "8/4k3/8/p1p1p1p1/PpPpPpPp/1P1P1P1P/4K3/8 w - - 0 1"),
    ("wall, bishops", "4k3/1p1p1p1p/pPpPpPpP/P1P1P1P1/8/7K/6bB/8 w - - 0 1"),
    ("walled in", "5bk1/4p1p1/4P1P1/8/8/8/8/6K1 w - - 0 1"),
    ("undecided", "6b1/2k5/7B/1p1p1p1p/pPpPpPpP/P1P1P1K1/7B/8 w - - 0 1"),
];

fn names() -> impl Iterator<Item = &'static str> {
    POSITIONS.iter().map(|(name, _)| *name)
}

fn position(name: &str) -> Chess {
    let (_, fen) = POSITIONS.iter().find(|(known, _)| *known == name).unwrap();
    fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
}

fn nodes(position: &Chess) -> u32 {
    let looked_at = Color::ALL.map(|side| {
        let mut left = Nodes::default();
        can_mate_within(position, side, &mut left);
        Nodes::default().0 - left.0
    });
    looked_at.iter().sum()
}

/// Both sides, each with the default budget. Items are positions looked at.
#[divan::bench(args = names())]
fn can_mate_both(bencher: Bencher, name: &str) {
    let position = position(name);
    bencher.counter(ItemsCount::new(nodes(&position))).bench_local(|| {
        for side in Color::ALL {
            black_box(can_mate_within(black_box(&position), side, &mut Nodes::default()));
        }
    });
}

/// What the daemon asks after a move.
#[divan::bench(args = names())]
fn dead(bencher: Bencher, name: &str) {
    let position = position(name);
    bencher.bench_local(|| black_box(dead_position(black_box(&position), Nodes::default())));
}

/// Only generating and playing moves: three plies from the position. Items are positions reached.
#[divan::bench(args = names())]
fn moves_only(bencher: Bencher, name: &str) {
    fn count(position: &Chess, plies: u32) -> usize {
        let legal = position.legal_moves();
        let after = |mv| {
            let mut after = position.clone();
            after.play_unchecked(mv);
            after
        };
        let below = |position: Chess| if plies > 1 { count(&position, plies - 1) } else { black_box(0) };
        legal.len() + legal.into_iter().map(after).map(below).sum::<usize>()
    }
    let position = position(name);
    bencher.counter(ItemsCount::new(count(&position, 3))).bench_local(|| black_box(count(&position, 3)));
}
