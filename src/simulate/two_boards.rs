//! One game at two boards: each player moves on his own, and puts up there what the other one has moved.

use shakmaty::Color;

use super::{Game, Simulation};
use crate::session::event::Event;

/// The players think for at least so long, so that the move before is put up by then, in milliseconds.
const THINK_MS: u64 = 5_000;
/// A move is put up on the other board so long after it is over, in microseconds.
const HEARD_US: u64 = 700_000;
/// The last contact of a move bounces for less than this, in microseconds.
const BOUNCE_US: u64 = 50_000;

/// Leaves time between the moves to put each up on the other board.
pub fn take_time(game: &mut Game) {
    game.think_ms.resize(game.moves.len(), 0);
    for think in &mut game.think_ms {
        *think = (*think).max(THINK_MS);
    }
}

/// What happens at the board of one of the players, in a game of [`take_time`] that was played on one: his own moves when
/// he makes them, the other player's when he has heard of them. The clock and the result are where `clock` says so.
#[must_use]
pub fn at_board_of(side: Color, clock: bool, mut game: Simulation) -> Simulation {
    let plies = &game.truth.plies;
    let ends: Vec<(u64, Color)> =
        plies.iter().map(|ply| (ply.press_us.unwrap_or(0).max(ply.made_us + BOUNCE_US), ply.by)).collect();
    let mut turn = 0;
    let mut shift = None;
    game.events.retain_mut(|stamped| {
        let Event::Square { .. } = stamped.event else {
            return clock || matches!(stamped.event, Event::Occupied(_));
        };
        let at = stamped.at.as_micros();
        while ends.get(turn).is_some_and(|(end, _)| at > *end) {
            (turn, shift) = (turn + 1, None);
        }
        if let Some((end, _)) = ends.get(turn).filter(|(_, by)| *by != side) {
            let shift = *shift.get_or_insert(end + HEARD_US - at.min(*end));
            stamped.at = stamped.at.plus_micros(shift);
        }
        true
    });
    game.events.sort_by_key(|stamped| stamped.at);
    game
}

#[cfg(test)]
mod tests {
    use shakmaty::{Bitboard, Chess, Position as _, uci::UciMove};

    use super::*;
    use crate::{
        session::setup::GameSetup,
        simulate::{
            games::DemoGame,
            params::{Level, Output, Params},
            simulate,
        },
    };

    /// Before a player begins his move his board shows every move before it, and only his board has the clock or not.
    #[test]
    fn each_board_shows_the_game_when_its_player_moves() {
        let mut game = DemoGame::find("opera").unwrap().game(GameSetup::default());
        take_time(&mut game);
        let params = Params { output: Output::Raw, initial_report: true, ..Params::level(Level::Clean) };
        let played = simulate(&game, &params, 3).unwrap();
        for (side, clock) in [(Color::White, true), (Color::Black, false)] {
            let board = at_board_of(side, clock, played.clone());
            let presses = board.events.iter().filter(|event| matches!(event.event, Event::Press(_))).count();
            assert_eq!(presses > 0, clock);
            let mut position = Chess::default();
            for ply in &played.truth.plies {
                if ply.by == side {
                    let mut shown = Bitboard::EMPTY;
                    for stamped in board.events.iter().filter(|event| event.at.as_micros() < ply.start_us) {
                        match stamped.event {
                            Event::Occupied(all) => shown = all,
                            Event::Square { square, occupied } => shown.set(square, occupied),
                            _ => {}
                        }
                    }
                    assert_eq!(shown, position.board().occupied(), "{side} before {}", ply.uci);
                }
                let uci: UciMove = ply.uci.parse().unwrap();
                position.play_unchecked(uci.to_move(&position).unwrap());
            }
        }
    }
}
