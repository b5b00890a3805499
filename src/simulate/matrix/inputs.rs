//! The lever of the clock and the buttons at a simulated board.

use shakmaty::Color;

use crate::{
    session::event::{Event, GameResult},
    simulate::{Simulation, rng::Rng},
};

/// What an input of a simulated board is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The lever lies on this player's side.
    Lever(Color),
    /// The arbiter stops both clocks.
    Pause,
    /// A result is entered.
    Result(GameResult),
}

/// The inputs of a simulated board, in the order of their bits.
pub const INPUTS: [Input; 6] = [
    Input::Lever(Color::White),
    Input::Lever(Color::Black),
    Input::Pause,
    Input::Result(GameResult::WhiteWins),
    Input::Result(GameResult::BlackWins),
    Input::Result(GameResult::Draw),
];

/// The rocker is on its way for this long before it closes the contact of the other side.
const TRANSIT_US: u64 = 20_000;
/// A button is held for so long.
const HELD_US: u64 = 120_000;
/// A contact bounces this often at most, and rests after each time for at most so long.
const BOUNCES: u64 = 3;
const BOUNCE_US: u64 = 700;

type Changes = Vec<(u64, u32, bool)>;

fn bit(input: Input) -> u32 {
    INPUTS.iter().position(|other| *other == input).map_or(0, |index| 1 << index)
}

/// What is closed at first, and every change that is to come, the first one last.
pub(super) fn timeline(game: &Simulation, start_us: u64, rng: &mut Rng) -> (u32, Changes) {
    let mut changes = Vec::new();
    let (mut first, mut lies) = (0, None);
    for stamped in &game.events {
        let at = start_us.saturating_add(stamped.at.as_micros());
        match stamped.event {
            // Who starts a clock puts the lever on the other player's side.
            Event::Run(runs) if lies.is_none() => {
                lies = Some(!runs);
                first = bit(Input::Lever(!runs));
            }
            Event::Run(runs) => tip(&mut changes, at, !runs, &mut lies, rng),
            Event::Press(by) => tip(&mut changes, at, by, &mut lies, rng),
            Event::Pause => push(&mut changes, at, Input::Pause, rng),
            Event::Result(result) => push(&mut changes, at, Input::Result(result), rng),
            _ => {}
        }
    }
    changes.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    (first, changes)
}

fn tip(changes: &mut Changes, at: u64, side: Color, lies: &mut Option<Color>, rng: &mut Rng) {
    if lies.replace(side) == Some(side) {
        return;
    }
    changes.push((at.saturating_sub(TRANSIT_US), bit(Input::Lever(!side)), false));
    close(changes, at, bit(Input::Lever(side)), rng);
}

fn push(changes: &mut Changes, at: u64, input: Input, rng: &mut Rng) {
    let bit = bit(input);
    if bit != 0 {
        close(changes, at, bit, rng);
        changes.push((at + HELD_US, bit, false));
    }
}

fn close(changes: &mut Changes, at: u64, bit: u32, rng: &mut Rng) {
    changes.push((at, bit, true));
    let mut at = at;
    for _ in 0..rng.between(0, BOUNCES) {
        let back = at + rng.between(50, BOUNCE_US);
        at = back + rng.between(50, BOUNCE_US);
        changes.extend([(back, bit, false), (at, bit, true)]);
    }
}
