//! Games on boards with a sick sensor: the game is reconstructed, the sensor is found, masked and
//! reported, and nothing is invented.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/play.rs"]
mod play;
mod sick;

use shakmaty::Square;
use sick::{Sickness, Tally, run};
use touchmoved::simulate::params::Level;

/// Games of each kind that a test plays.
const GAMES: u64 = 60;

fn tally(sickness: impl Fn(u64) -> Sickness, level: Level, identity: bool) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..GAMES {
        tally.add(seed, &run(seed, sickness(seed), level, identity));
    }
    println!("{tally:?}");
    tally
}

/// Any square, spread over the board.
fn any_square(seed: u64) -> Square {
    Square::new((seed * 29 % 64) as u32)
}

/// An empty square of the initial position.
fn middle(seed: u64) -> Square {
    Square::new(16 + (seed * 13 % 32) as u32)
}

/// A contact that never opens, from the start or from the first man that comes to it.
#[test]
fn a_stuck_square() {
    let start = |seed| Sickness::stuck(middle(seed), 0);
    let later = |seed| Sickness::stuck(any_square(seed), 12);
    for (identity, least) in [(false, 54), (true, 50)] {
        let tally = tally(start, Level::Clean, identity);
        assert!(tally.exact >= 58 && tally.reported >= 58 && tally.accused == 0, "{tally:?}");
        let tally = self::tally(later, Level::Clean, identity);
        assert!(tally.exact >= least, "{tally:?}");
        assert!(tally.exact + tally.doubted >= 57, "{tally:?}");
    }
}

/// A contact that never closes: which square a man went to is often open until the later game tells.
#[test]
fn a_dead_square() {
    for identity in [false, true] {
        for from in [0, 12] {
            let tally = tally(|seed| Sickness::dead(any_square(seed), from), Level::Clean, identity);
            assert!(tally.exact >= 52 && tally.exact + tally.doubted >= 59, "{tally:?}");
            assert!(tally.accused <= 1, "{tally:?}");
        }
    }
}

/// Bursts of changes: the square is found in every game and the game goes on.
#[test]
fn a_chattering_square() {
    for identity in [false, true] {
        for from in [0, 12] {
            let tally = tally(|seed| Sickness::chatter(any_square(seed), from), Level::Clean, identity);
            assert!(tally.exact >= 59 && tally.reported == tally.games, "{tally:?}");
            assert_eq!((tally.invented, tally.accused), (0, 0), "{tally:?}");
        }
    }
}

/// The ghosts of one shorted diode. On a rank that is full it hides half of the board, which nobody can
/// read; in the middle most games come out.
#[test]
fn a_shorted_diode() {
    let tally = tally(|seed| Sickness::diode(middle(seed)), Level::Clean, false);
    assert!(tally.exact >= 51 && tally.reported >= 30, "{tally:?}");
}

/// A man that reads as another one is told and tolerated.
#[test]
fn a_man_that_is_misread() {
    let tally = tally(
        |seed| Sickness::misread(Square::new((seed % 16 + 48 * (seed % 3 / 2)) as u32)),
        Level::Clean,
        true,
    );
    assert!(tally.exact >= 57 && tally.invented == 0, "{tally:?}");
}

#[test]
fn a_sound_board_is_not_called_sick() {
    for level in [Level::Clean, Level::Tournament] {
        let tally = tally(|_| Sickness::none(), level, false);
        assert!(tally.exact >= 59 && tally.accused == 0, "{tally:?}");
    }
}
