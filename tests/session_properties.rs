//! Laws of the reconstruction, on random legal games that simulated hands play.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use shakmaty::{CastlingMode, Chess, Color, Move, Position as _, uci::UciMove};
use touchmoved::{
    session::{
        Session,
        event::{Event, GameResult, Stamped},
        fact::{Fact, FactKind},
        setup::GameSetup,
        time::MonoTime,
    },
    simulate::{
        Game,
        params::{Level, Params},
        simulate,
    },
};

/// A random legal game: the choices pick among the legal moves, captures and promotions first now and
/// then, so that they occur.
fn random_game(castling: CastlingMode, choices: &[u16]) -> (GameSetup, Vec<String>) {
    let mut setup = GameSetup { castling, ..GameSetup::default() };
    if castling == CastlingMode::Chess960 {
        setup.start_fen = "nrkqbbrn/pppppppp/8/8/8/8/PPPPPPPP/NRKQBBRN w BGbg - 0 1".to_owned();
    }
    let mut position = setup.position().unwrap();
    let mut moves = Vec::new();
    for choice in choices {
        let legal = position.legal_moves();
        let lively: Vec<Move> =
            legal.iter().copied().filter(|mv| mv.is_capture() || mv.is_castle()).collect();
        let pool = if choice % 3 == 0 && !lively.is_empty() { &lively[..] } else { &legal[..] };
        if pool.is_empty() || position.is_insufficient_material() {
            break;
        }
        let mv = pool[usize::from(*choice) % pool.len()];
        moves.push(UciMove::from_move(mv, castling).to_string());
        position.play_unchecked(mv);
    }
    (setup, moves)
}

fn play(setup: &GameSetup, events: &[Stamped]) -> (Session, Vec<Fact>) {
    let mut session = Session::new(setup).unwrap();
    let mut facts = Vec::new();
    for stamped in events {
        session.handle(stamped);
        facts.extend(std::iter::from_fn(|| session.poll_fact()));
    }
    session.advance(MonoTime::END);
    facts.extend(std::iter::from_fn(|| session.poll_fact()));
    (session, facts)
}

fn without_promotion(uci: &str) -> &str {
    uci.get(..4).unwrap_or(uci)
}

fn found(session: &Session) -> Vec<String> {
    session.plies().map(|ply| without_promotion(&ply.uci).to_owned()).collect()
}

fn wanted(moves: &[String]) -> Vec<String> {
    moves.iter().map(|uci| without_promotion(uci).to_owned()).collect()
}

fn hands(
    castling: CastlingMode,
    choices: &[u16],
    params: &Params,
    seed: u64,
) -> (GameSetup, Vec<Stamped>, Vec<String>) {
    let (setup, moves) = random_game(castling, choices);
    let game = Game { setup, moves: moves.clone(), think_ms: Vec::new(), result: GameResult::Ongoing };
    let simulation = simulate(&game, params, seed).unwrap();
    (simulation.setup, simulation.events, moves)
}

fn castling() -> impl Strategy<Value = CastlingMode> {
    prop_oneof![Just(CastlingMode::Standard), Just(CastlingMode::Chess960)]
}

fn choices() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), 1..70)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Deliberate handling is read exactly, with bouncing contacts and with settled changes.
    #[test]
    fn deliberate_hands_are_read_exactly(castling in castling(), choices in choices(), seed in any::<u64>(), raw in any::<bool>()) {
        let params = Params::level(Level::Clean);
        let params = if raw { params } else { params.debounced() };
        let (setup, events, moves) = hands(castling, &choices, &params, seed);
        let (session, _) = play(&setup, &events);
        prop_assert_eq!(found(&session), wanted(&moves));
    }

    /// Whatever the hands do: the game that is told is legal and is the sum of the facts, a completed
    /// move is completed once, and what is published was made.
    #[test]
    fn the_facts_add_up(castling in castling(), choices in choices(), seed in any::<u64>(), chaos in any::<bool>()) {
        let level = if chaos { Level::Chaos } else { Level::Tournament };
        let (setup, events, _) = hands(castling, &choices, &Params::level(level), seed);
        let (session, facts) = play(&setup, &events);
        let mut position: Chess = setup.position().unwrap();
        for ply in session.plies() {
            let mv = ply.uci.parse::<UciMove>().unwrap().to_move(&position);
            prop_assert!(mv.is_ok(), "{} is not legal in {:?}", ply.uci, position);
            position.play_unchecked(mv.unwrap());
        }
        prop_assert_eq!(sum(&facts)?, session.plies().map(|ply| ply.uci.clone()).collect::<Vec<_>>());
    }

    /// Time stamps and the way in which time is told do not matter: looking at every millisecond or
    /// only at the events gives the same facts.
    #[test]
    fn late_looks_change_nothing(choices in prop::collection::vec(any::<u16>(), 1..12), seed in any::<u64>()) {
        let (setup, events, _) = hands(CastlingMode::Standard, &choices, &Params::level(Level::Chaos), seed);
        let (_, late) = play(&setup, &events);
        let mut session = Session::new(&setup).unwrap();
        let mut prompt = Vec::new();
        let mut at = MonoTime::ZERO;
        for stamped in &events {
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

    /// A board that is turned by 180 degrees is read as the same game.
    #[test]
    fn a_turned_board_is_the_same_game(choices in choices(), seed in any::<u64>()) {
        let params = Params::level(Level::Clean).debounced();
        let (setup, mut events, moves) = hands(CastlingMode::Standard, &choices, &params, seed);
        for stamped in &mut events {
            match &mut stamped.event {
                Event::Square { square, .. } => *square = square.rotate_180(),
                Event::Occupied(occupied) => *occupied = occupied.rotate_180(),
                _ => {}
            }
        }
        let (session, _) = play(&setup, &events);
        prop_assert_eq!(found(&session), wanted(&moves));
    }
}

/// The game that the facts tell.
fn sum(facts: &[Fact]) -> Result<Vec<String>, TestCaseError> {
    let mut game: Vec<(String, bool, bool)> = Vec::new();
    let mut turn = Color::White;
    for fact in facts {
        match &fact.kind {
            FactKind::MoveMade { ply, uci, by, .. } => {
                prop_assert_eq!(*ply, game.len() + 1);
                prop_assert_eq!(*by, turn);
                turn = !turn;
                game.push((uci.clone(), false, false));
            }
            FactKind::MoveWithdrawn { ply, uci, published } => {
                prop_assert_eq!(*ply, game.len());
                let (was, was_published, completed) = game.pop().unwrap();
                prop_assert!(!completed, "a completed move is never withdrawn");
                prop_assert_eq!((was, was_published), (uci.clone(), *published));
                turn = !turn;
            }
            FactKind::MoveRevised { ply, was, uci, published, .. } => {
                let entry = &mut game[ply - 1];
                prop_assert_eq!((&entry.0, entry.1), (was, *published));
                entry.0.clone_from(uci);
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
    Ok(game.into_iter().map(|(uci, ..)| uci).collect())
}
