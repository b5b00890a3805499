//! Laws of the reconstruction, on random legal games that simulated hands play.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/games.rs"]
mod games;
#[path = "support/play.rs"]
mod play;

use proptest::prelude::*;
use shakmaty::{Chess, Color, Position as _, uci::UciMove};
use touchmoved::{
    session::{
        Session,
        event::Event,
        fact::{Fact, FactKind},
        time::MonoTime,
    },
    simulate::params::{Level, Params},
};

use games::{any_hands, cases, found, level, without_promotions};
use play::play;

proptest! {
    #![proptest_config(cases(40))]

    /// Whatever the hands do: the game that is told is legal and is the sum of the facts, a completed
    /// move is completed once, and what is published was made.
    #[test]
    fn the_facts_add_up(game in games::games(1..70, any_hands())) {
        let (session, facts) = play(&game.setup, &game.events);
        let mut position: Chess = game.setup.position().unwrap();
        let sum = sum(position.turn(), &facts)?;
        for ply in session.plies() {
            let mv = ply.uci.parse::<UciMove>().unwrap().to_move(&position);
            prop_assert!(mv.is_ok(), "{} is not legal in {:?}", ply.uci, position);
            position.play_unchecked(mv.unwrap());
        }
        prop_assert_eq!(sum, session.plies().map(|ply| ply.uci).collect::<Vec<_>>());
    }

    /// Time stamps and the way in which time is told do not matter: looking at every millisecond or
    /// only at the events gives the same facts.
    #[test]
    fn late_looks_change_nothing(game in games::games(1..12, level(Level::Chaos))) {
        let (_, late) = play(&game.setup, &game.events);
        let mut session = Session::new(&game.setup).unwrap();
        let mut prompt = Vec::new();
        let mut at = MonoTime::ZERO;
        for stamped in &game.events {
            while at < stamped.at {
                session.advance(at);
                at = at.plus_ms(7);
            }
            session.handle(stamped);
            prompt.extend(std::iter::from_fn(|| session.poll_fact()));
        }
        session.advance(MonoTime::END);
        prompt.extend(std::iter::from_fn(|| session.poll_fact()));
        prop_assert_eq!(late, prompt);
    }

    /// A board that is turned by 180 degrees, of which nobody has told the session, is read as the same
    /// game.
    #[test]
    fn a_turned_board_is_the_same_game(
        game in games::from_the_start(1..70, Just(Params::level(Level::Clean).debounced()))
    ) {
        let mut events = game.events.clone();
        for stamped in &mut events {
            match &mut stamped.event {
                Event::Square { square, .. } => *square = square.rotate_180(),
                Event::Occupied(occupied) => *occupied = occupied.rotate_180(),
                _ => {}
            }
        }
        let (session, _) = play(&game.setup, &events);
        prop_assert_eq!(found(&session), without_promotions(&game.moves));
    }
}

/// The game that the facts tell.
fn sum(mut turn: Color, facts: &[Fact]) -> Result<Vec<String>, TestCaseError> {
    let mut game: Vec<(touchmoved::session::text::MoveText, bool, bool)> = Vec::new();
    for fact in facts {
        match &fact.kind {
            FactKind::MoveMade { ply, uci, by, .. } => {
                prop_assert_eq!(*ply, game.len() + 1);
                prop_assert_eq!(*by, turn);
                turn = !turn;
                game.push((*uci, false, false));
            }
            FactKind::MoveWithdrawn { ply, uci, published } => {
                prop_assert_eq!(*ply, game.len());
                let (was, was_published, completed) = game.pop().unwrap();
                prop_assert!(!completed, "a completed move is never withdrawn");
                prop_assert_eq!((was, was_published), (*uci, *published));
                turn = !turn;
            }
            FactKind::MoveRevised { ply, was, uci, published, .. } => {
                let entry = &mut game[ply - 1];
                prop_assert_eq!((&entry.0, entry.1), (was, *published));
                entry.0 = *uci;
            }
            FactKind::MovePublished { ply, uci, .. } => {
                let entry = &mut game[ply - 1];
                prop_assert!(!entry.1, "ply {} is published twice", ply);
                prop_assert_eq!(&entry.0, uci);
                entry.1 = true;
            }
            FactKind::MoveCompleted { ply, uci, .. } => {
                let entry = &mut game[ply - 1];
                prop_assert!(!entry.2, "ply {} is completed twice", ply);
                prop_assert_eq!(&entry.0, uci);
                entry.2 = true;
            }
            _ => {}
        }
    }
    Ok(game.into_iter().map(|(uci, ..)| uci.into()).collect())
}
