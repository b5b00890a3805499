//! The handling simulator: determinism, physical consistency, clock, and that its levels do what
//! they say.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use shakmaty::{Bitboard, Board, CastlingMode, Chess, Color, Position, Square, uci::UciMove};
use touchmoved::{
    session::{
        event::{Event, GameResult},
        setup::{BoardKind, GameSetup, Signal},
    },
    simulate::{
        Game, Simulation,
        games::GAMES,
        params::{Ending, Level, Output, Params, Rate, Span},
        simulate,
    },
    wire::sensor_log::{format_event, format_header, parse_event, parse_header},
};

/// Games of Chess960 start here, with castling of every shape.
const STARTS_960: [&str; 4] = [
    "nrkbbrqn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBRQN w KQkq - 0 1",
    "rkrnnbbq/8/8/8/8/8/8/RKRNNBBQ w KQkq - 0 1",
    "r4krb/8/8/8/8/8/8/R4KRB w KQkq - 0 1",
    "1rk4r/8/8/8/8/8/8/1RK4R w KQkq - 0 1",
];

/// Plays legal moves that `choices` picks; castling, promotions and en passant first when there are
/// any, so that they are common.
fn random_game(start_fen: &str, castling: CastlingMode, choices: &[u16]) -> (Game, Chess) {
    let setup = GameSetup { start_fen: start_fen.to_owned(), castling, ..GameSetup::default() };
    let mut position = setup.position().unwrap();
    let mut moves = Vec::new();
    for choice in choices {
        let legal = position.legal_moves();
        let rare: Vec<_> =
            legal.iter().filter(|m| m.is_castle() || m.is_en_passant() || m.is_promotion()).collect();
        let all: Vec<_> = legal.iter().collect();
        let pool = if rare.is_empty() || choice % 3 == 0 { all } else { rare };
        let Some(chosen) = pool.get(usize::from(*choice) % pool.len().max(1)) else { break };
        moves.push(UciMove::from_move(**chosen, castling).to_string());
        position.play_unchecked(**chosen);
    }
    (Game { setup, moves, think_ms: Vec::new(), result: GameResult::Draw }, position)
}

fn any_game() -> impl Strategy<Value = (Game, Chess)> {
    let choices = || proptest::collection::vec(any::<u16>(), 1..80);
    prop_oneof![
        choices().prop_map(|c| random_game(&GameSetup::default().start_fen, CastlingMode::Standard, &c)),
        choices().prop_map(|c| {
            let fen = "r3k2r/1P4P1/8/2pP4/3pP3/8/p5p1/R3K2R w KQkq c6 0 1";
            random_game(fen, CastlingMode::Standard, &c)
        }),
        (0usize..4, choices()).prop_map(|(i, c)| random_game(STARTS_960[i], CastlingMode::Chess960, &c)),
    ]
}

/// Every event in order; every change of a square really changes it. Gives the final occupancy.
fn follow(simulation: &Simulation) -> Bitboard {
    let mut occupied = Bitboard::EMPTY;
    let mut last = 0;
    for (index, stamped) in simulation.events.iter().enumerate() {
        let us = stamped.at.as_micros();
        assert!(us >= last, "event {index} goes back in time");
        last = us;
        match &stamped.event {
            Event::Occupied(all) => {
                assert_eq!(index, 0, "one full report, at the start");
                occupied = *all;
            }
            Event::Square { square, occupied: closed } => {
                assert_ne!(occupied.contains(*square), *closed, "event {index} changes nothing");
                occupied.toggle(*square);
            }
            Event::Piece { .. } => panic!("event {index}: an occupancy board does not know the men"),
            _ => {}
        }
    }
    occupied
}

/// The same for a board that tells the men. Gives the men at the end.
fn follow_men(simulation: &Simulation) -> Board {
    let mut men = Board::empty();
    for (index, stamped) in simulation.events.iter().enumerate() {
        match &stamped.event {
            Event::Pieces(all) => {
                assert_eq!(index, 0, "one full report, at the start");
                men = all.clone();
            }
            Event::Piece { square, piece } => {
                assert_ne!(men.piece_at(*square), *piece, "event {index} changes nothing");
                men.discard_piece_at(*square);
                if let Some(piece) = piece {
                    men.set_piece_at(*square, *piece);
                }
            }
            Event::Square { .. } | Event::Occupied(_) => panic!("event {index}: no men in it"),
            _ => {}
        }
    }
    men
}

fn presses(simulation: &Simulation) -> Vec<Color> {
    simulation
        .events
        .iter()
        .filter_map(|stamped| match stamped.event {
            Event::Press(by) => Some(by),
            _ => None,
        })
        .collect()
}

fn log_of(simulation: &Simulation) -> String {
    let mut text = format_header(&simulation.setup);
    for stamped in &simulation.events {
        text.push('\n');
        text.push_str(&format_event(stamped));
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn squares_change_truly_and_the_board_ends_as_the_position(
        (game, end) in any_game(), level in 0usize..3, raw: bool, seed: u64,
    ) {
        let params = Params::level(Level::ALL[level]);
        let params = if raw { params } else { params.debounced() };
        let simulation = simulate(&game, &params, seed).unwrap();
        prop_assert_eq!(follow(&simulation), end.board().occupied());
        let played: Vec<_> = simulation.truth.plies.iter().map(|ply| ply.uci.clone()).collect();
        prop_assert_eq!(played, game.moves);
        for ply in &simulation.truth.plies {
            prop_assert!(ply.start_us <= ply.made_us);
            let early = ply.mishaps.contains(&"premature-press");
            prop_assert!(early || ply.press_us.is_none_or(|press| press > ply.made_us));
        }
        prop_assert!(simulation.events.last().unwrap().at.as_micros() <= simulation.truth.end_us);
    }

    #[test]
    fn deliberate_hands_press_once_a_ply_and_leave_time_between_contacts(
        (game, end) in any_game(), seed: u64,
    ) {
        let unpressed = usize::from(end.legal_moves().is_empty());
        let simulation = simulate(&game, &Params::level(Level::Clean).debounced(), seed).unwrap();
        let first = game.setup.position().unwrap().turn();
        let expected: Vec<Color> =
            (0..game.moves.len() - unpressed).map(|ply| if ply % 2 == 0 { first } else { !first }).collect();
        prop_assert_eq!(presses(&simulation), expected);
        let contacts: Vec<u64> = simulation.events.iter()
            .filter(|stamped| matches!(stamped.event, Event::Square { .. }))
            .map(|stamped| stamped.at.as_micros())
            .collect();
        prop_assert!(contacts.windows(2).all(|pair| pair[1] - pair[0] >= 200_000));
        let last = simulation.truth.plies.len() - unpressed;
        for ply in &simulation.truth.plies[..last] {
            prop_assert!(ply.mishaps.is_empty(), "{:?}", ply.mishaps);
            prop_assert!(ply.press_us.is_some());
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes((game, _) in any_game(), level in 0usize..3, seed: u64) {
        let params = Params::level(Level::ALL[level]);
        let simulation = simulate(&game, &params, seed).unwrap();
        let text = log_of(&simulation);
        prop_assert_eq!(&text, &log_of(&simulate(&game, &params, seed).unwrap()));
        // The log says what the simulation was.
        let mut lines = text.lines();
        let setup = parse_header(lines.next().unwrap()).unwrap();
        prop_assert_eq!(setup.signal, Signal::Raw);
        prop_assert_eq!(&setup.start_fen, &game.setup.start_fen);
        let events: Vec<_> = lines.map(|line| parse_event(line).unwrap()).collect();
        prop_assert_eq!(events, simulation.events);
    }

    #[test]
    fn edges_and_settled_changes_are_of_the_same_hands((game, _) in any_game(), seed: u64) {
        let params = Params::level(Level::Chaos);
        let raw = simulate(&game, &params, seed).unwrap();
        let settled = simulate(&game, &params.debounced(), seed).unwrap();
        prop_assert_eq!(&raw.truth.plies, &settled.truth.plies);
        prop_assert_eq!(&raw.truth.touches, &settled.truth.touches);
    }

    /// Also when everything that can go wrong goes wrong in every ply.
    #[test]
    fn whatever_is_set_the_board_ends_as_the_position(
        (game, end) in any_game(), level in 0usize..3, choices in proptest::collection::vec(0usize..4, 60), seed: u64,
    ) {
        let mut params = Params::level(Level::ALL[level]).debounced();
        let names = params.settings().into_iter().filter(|(_, value)| value.ends_with('%'));
        for ((name, value), choice) in names.zip(choices) {
            let value = ["0%", "40%", "100%", value.as_str()][choice];
            params.set(&name, value).unwrap();
        }
        let simulation = simulate(&game, &params, seed).unwrap();
        prop_assert_eq!(follow(&simulation), end.board().occupied());
        let men = simulate(&game, &params.identity(), seed).unwrap();
        prop_assert_eq!(&follow_men(&men), end.board());
    }

    #[test]
    fn a_board_that_tells_the_men_ends_as_the_position(
        (game, end) in any_game(), level in 0usize..3, scan_ms in prop_oneof![Just(0u32), 200u32..=250], seed: u64,
    ) {
        let params = Params { scan_ms, ..Params::level(Level::ALL[level]).identity() };
        let simulation = simulate(&game, &params, seed).unwrap();
        prop_assert_eq!(simulation.setup.board, BoardKind::Dgt);
        prop_assert_eq!(&follow_men(&simulation), end.board());
        let hands = simulate(&game, &Params::level(Level::ALL[level]), seed).unwrap();
        prop_assert_eq!(&simulation.truth.touches, &hands.truth.touches);
        // What is found in one scan has its time.
        for stamped in &simulation.events {
            if scan_ms > 0 && matches!(stamped.event, Event::Piece { .. }) {
                prop_assert_eq!(stamped.at.as_micros() % (u64::from(scan_ms) * 1000), 0);
            }
        }
    }

    #[test]
    fn the_clock_takes_time_from_the_side_that_runs_and_gives_it_back_only_as_increment(
        (game, _) in any_game(), level in 0usize..3, seed: u64,
    ) {
        let mut game = game;
        game.setup.time_control = "900+10".to_owned();
        let simulation = simulate(&game, &Params::level(Level::ALL[level]), seed).unwrap();
        let readings: Vec<_> = simulation.events.iter().filter_map(|stamped| match stamped.event {
            Event::Times(reading) => Some((stamped.at.as_micros(), reading)),
            _ => None,
        }).collect();
        for pair in readings.windows(2) {
            let [(before_us, before), (after_us, after)] = pair else { unreachable!() };
            let passed = (after_us - before_us) / 1000;
            let (mut lost, mut gained) = (0, 0);
            for (a, b) in [(before.white_ms, after.white_ms), (before.black_ms, after.black_ms)] {
                let (a, b) = (a.unwrap(), b.unwrap());
                gained += b.saturating_sub(a);
                lost += a.saturating_sub(b);
            }
            prop_assert!(lost <= passed + 1, "{lost} ms went in {passed} ms");
            prop_assert!(gained <= 10_000);
            prop_assert!(after_us - before_us <= 1_000_000 || before.running.is_none());
        }
    }
}

#[test]
fn seeds_differ() {
    let game = GAMES[0].game(GameSetup::default());
    let params = Params::level(Level::Tournament);
    let logs: BTreeSet<String> =
        (0..20).map(|seed| log_of(&simulate(&game, &params, seed).unwrap())).collect();
    assert_eq!(logs.len(), 20);
}

#[test]
fn the_demo_games_are_played_to_their_end_at_every_level() {
    for demo in GAMES {
        for level in Level::ALL {
            let game = demo.game(GameSetup::default());
            let params = Params { ending: Ending::Entered, ..Params::level(level) };
            let simulation = simulate(&game, &params, 1).unwrap();
            assert_eq!(simulation.truth.plies.len(), game.moves.len());
            assert_eq!(simulation.events.last().unwrap().event, Event::Result(demo.result));
        }
    }
}

#[test]
fn every_mishap_and_every_order_occurs() {
    let (mut mishaps, mut styles) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..200 {
        for demo in GAMES {
            let game = demo.game(GameSetup::default());
            for ply in simulate(&game, &Params::level(Level::Chaos), seed).unwrap().truth.plies {
                mishaps.extend(ply.mishaps);
                styles.insert(ply.style);
            }
        }
    }
    let expected = [
        "adjust-idle",
        "adjust-opponent",
        "adjust-own",
        "brush",
        "castle-tap",
        "dropout",
        "early-reply",
        "early-touch",
        "hover",
        "illegal",
        "illegal-pressed",
        "illegal-pressed-back",
        "knock",
        "nudge",
        "off-centre",
        "premature-press",
        "press-after-end-missing",
        "press-forgotten",
        "press-lost",
        "press-stray",
        "recentre",
        "slide",
        "sticky",
        "take-back",
        "unseen-victim",
    ];
    assert_eq!(mishaps, BTreeSet::from(expected));
    let expected = [
        "capture-attacker-first",
        "capture-swept",
        "capture-two-hands",
        "capture-unseen",
        "capture-victim-first",
        "castle-both",
        "castle-king-first",
        "castle-king-only",
        "castle-rook-first",
        "castle-rook-only",
        "en-passant-pawn-first",
        "en-passant-victim-first",
        "en-passant-victim-last",
        "promotion-direct",
        "promotion-exchanged",
        "promotion-new-first",
        "quiet",
    ];
    assert_eq!(styles, BTreeSet::from(expected));
}

/// A player's turn begins when the last one is over, press included; two men of one player are never
/// in the air for two moves.
#[test]
fn a_hand_does_one_thing_at_a_time() {
    for seed in 0..100 {
        for demo in GAMES {
            let game = demo.game(GameSetup::default());
            let plies = simulate(&game, &Params::level(Level::Chaos), seed).unwrap().truth.plies;
            for pair in plies.windows(3) {
                let over = pair[0].press_us.unwrap_or(0).max(pair[0].made_us);
                assert!(
                    pair[2].start_us >= over,
                    "{} {seed}: {} and {}",
                    demo.name,
                    pair[0].uci,
                    pair[2].uci
                );
            }
        }
    }
}

#[test]
fn rates_are_met() {
    let game = GAMES[2].game(GameSetup::default());
    let mut params = Params::level(Level::Clean);
    params.mishaps.press_lost = Rate::new(25_000);
    let (mut lost, mut plies) = (0, 0);
    for seed in 0..100 {
        let truth = simulate(&game, &params, seed).unwrap().truth;
        plies += truth.plies.len();
        lost += truth.plies.iter().filter(|ply| ply.press_us.is_none()).count();
    }
    let percent = lost * 100 / plies;
    assert!((22..=28).contains(&percent), "25 % came out as {percent} %");
}

#[test]
fn kings_go_to_the_squares_of_the_result() {
    for (result, squares) in [
        (GameResult::WhiteWins, [Square::E4, Square::D5]),
        (GameResult::BlackWins, [Square::D4, Square::E5]),
        (GameResult::Draw, [Square::E4, Square::E5]),
    ] {
        let mut game = GAMES[0].game(GameSetup::default());
        game.moves.truncate(6);
        game.result = result;
        let params = Params { ending: Ending::KingsToCentre, ..Params::level(Level::Clean).debounced() };
        let occupied = follow(&simulate(&game, &params, 5).unwrap());
        for square in squares {
            assert!(occupied.contains(square), "{result:?}: {square}");
        }
        for home in [Square::E1, Square::E8] {
            assert!(!occupied.contains(home), "{result:?}: {home}");
        }
    }
}

/// In a capture whose victim nobody sees leave, the square goes from one man to the other.
#[test]
fn one_man_can_follow_another_in_one_event() {
    let game = GAMES[1].game(GameSetup::default());
    let mut params = Params { scan_ms: 0, ..Params::level(Level::Clean).identity() };
    params.mishaps.unseen_victim = Rate::ALWAYS;
    let simulation = simulate(&game, &params, 1).unwrap();
    let mut men = Board::empty();
    let mut exchanges = 0;
    for stamped in &simulation.events {
        match &stamped.event {
            Event::Pieces(all) => men = all.clone(),
            Event::Piece { square, piece } => {
                let before = men.remove_piece_at(*square);
                if let Some(piece) = piece {
                    exchanges += usize::from(before.is_some_and(|man| man.color != piece.color));
                    men.set_piece_at(*square, *piece);
                }
            }
            _ => {}
        }
    }
    assert_eq!(exchanges, game.moves.iter().filter(|san| san.contains('x')).count());
}

/// Slow scans miss what happens between them.
#[test]
fn a_scan_sees_less_than_a_settled_contact() {
    let game = GAMES[0].game(GameSetup::default());
    let count = |scan_ms| {
        let params = Params { scan_ms, ..Params::level(Level::Chaos).identity() };
        let count = |seed| {
            let simulation = simulate(&game, &params, seed).unwrap();
            simulation.events.iter().filter(|event| matches!(event.event, Event::Piece { .. })).count()
        };
        (0..20).map(count).sum::<usize>()
    };
    assert!(count(250) * 10 < count(0) * 9, "{} of {}", count(250), count(0));
}

#[test]
fn thinking_times_of_the_game_are_kept() {
    let mut game = GAMES[0].game(GameSetup::default());
    game.moves.truncate(3);
    game.think_ms = vec![7_000, 0, 123_000];
    let truth = simulate(&game, &Params::level(Level::Clean), 9).unwrap().truth;
    let ready = |ply: usize| truth.plies[ply].press_us.unwrap();
    assert_eq!(truth.plies[1].start_us - ready(0), 0);
    assert_eq!(truth.plies[2].start_us - ready(1), 123_000_000);
}

#[test]
fn output_and_clock_can_be_chosen() {
    let mut game = GAMES[0].game(GameSetup::default());
    game.moves.truncate(10);
    let mut params = Params::level(Level::Clean);
    params.initial_report = false;
    params.output = Output::Debounced;
    params.settle_ms = 30;
    params.clock.every_ms = 0;
    params.clock.at_press = false;
    params.clock.start = false;
    params.timing.think = Span::ms(100, 200);
    params.ending = Ending::Open;
    let simulation = simulate(&game, &params, 2).unwrap();
    assert_eq!(simulation.setup.signal, Signal::Debounced);
    for stamped in &simulation.events {
        assert!(matches!(stamped.event, Event::Square { .. } | Event::Press(_)), "{:?}", stamped.event);
    }
}

#[test]
fn what_cannot_be_played_is_refused_with_its_place() {
    let mut game = GAMES[0].game(GameSetup::default());
    game.moves[4] = "Qxd9".to_owned();
    let error = simulate(&game, &Params::level(Level::Clean), 1).unwrap_err().to_string();
    assert!(error.contains("move 5 (\"Qxd9\")"), "{error}");
    let mut game = GAMES[0].game(GameSetup::default());
    game.setup.time_control = "5400x5".to_owned();
    let error = simulate(&game, &Params::level(Level::Clean), 1).unwrap_err().to_string();
    assert!(error.contains("5400x5"), "{error}");
}
