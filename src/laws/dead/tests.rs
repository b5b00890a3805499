//! What is known about known positions, and what holds for any.

use proptest::prelude::*;
use shakmaty::{
    Board, CastlingMode, Chess, Color, FromSetup as _, Piece, Position as _, Role, Setup, Square, fen::Fen,
    uci::UciMove,
};

use super::{
    Dead, MatePossibility, Nodes, Why, can_mate, can_mate_within, dead_position, dead_position_within,
};

fn position(fen: &str) -> Chess {
    let fen: Fen = fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}"));
    fen.clone().into_position(CastlingMode::Standard).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

/// Plays a helpmate with the rules of the chess library.
fn assert_mate(start: &Chess, side: Option<Color>, helpmate: &[UciMove]) {
    let mut position = start.clone();
    for uci in helpmate {
        let mv = uci.to_move(&position).unwrap_or_else(|error| panic!("{uci}: {error}"));
        position = position.play(mv).unwrap_or_else(|error| panic!("{uci}: {error}"));
    }
    assert!(position.is_checkmate(), "{helpmate:?}");
    assert!(side.is_none_or(|side| position.turn() != side), "{helpmate:?}");
}

/// Whether a side can mate; a line is played. None for unknown.
fn possible(position: &Chess, side: Color, budget: Nodes) -> Option<bool> {
    match can_mate(position, side, budget) {
        MatePossibility::Possible { helpmate } => {
            assert_mate(position, Some(side), &helpmate);
            Some(true)
        }
        MatePossibility::Impossible(_) => Some(false),
        MatePossibility::Unknown => None,
    }
}

fn why(fen: &str, side: Color) -> Option<Why> {
    match can_mate(&position(fen), side, Nodes::default()) {
        MatePossibility::Impossible(why) => Some(why),
        _ => None,
    }
}

/// A position, whether White and Black can mate in it, and what is special about it.
type Known = (&'static str, bool, bool, &'static str);

/// Pawns that block each other.
const BLOCKED: &[Known] = &[
    ("8/8/4k3/p1p1p1p1/P1P1P1P1/8/4K3/8 w - - 0 1", false, false, "four pairs, the gaps are guarded"),
    ("8/8/4k3/1p1p1p1p/1P1P1P1P/8/4K3/8 b - - 0 1", false, false, "the same on the other files"),
    ("8/8/4k3/p2p2p1/P2P2P1/8/4K3/8 w - - 0 1", false, false, "three pairs are enough"),
    ("8/8/4k3/p1p1p1p1/P1P1P1P1/8/4K3/8 b - a3 0 1", false, false, "the double step that closed the wall"),
    ("8/8/4k3/p1p3p1/P1P3P1/8/4K3/8 w - - 0 1", true, true, "three pairs with a gap on e4"),
    ("8/4k3/8/p1p1p1p1/PpPpPpPp/1P1P1P1P/4K3/8 w - - 0 1", false, false, "a wall over all files"),
    ("8/3k4/1p1p1p1p/pPpPpPpP/P1P1P1P1/8/3K4/8 b - - 0 1", false, false, "a wall higher up"),
    ("4k3/4b3/8/p1p1p1p1/P1P1P1P1/8/8/4KB2 w - - 0 1", false, false, "bishops that attack no pawn"),
    ("4kb2/8/8/p1p1p1p1/P1P1P1P1/8/8/2B1K3 w - - 0 1", true, true, "bishops that do"),
    ("4k3/1p1p1p1p/pPpPpPpP/P1P1P1P1/8/7K/6bB/8 w - - 0 1", false, false, "each bishop in the other's camp"),
    ("8/3k1b2/5B2/1p1p1p1p/pPpPpPpP/P1P1P1P1/7K/8 b - - 0 1", false, false, "both behind one wall"),
    ("4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4KN2 w - - 0 1", true, true, "a knight opens the wall"),
    ("4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/R3K3 w - - 0 1", true, true, "a rook does"),
    ("8/8/3k4/p1p1p1p1/P1P1P1P1/7P/3K4/8 w - - 0 1", true, true, "a pawn that passes"),
    ("8/8/3k4/p1p1p1p1/P1P1P1P1/1P6/3K4/8 w - - 0 1", true, true, "a pawn that breaks"),
    ("5bk1/4p1p1/4P1P1/8/8/8/8/6K1 w - - 0 1", false, false, "a king and a bishop walled in"),
    ("8/8/8/3k4/3p4/3P4/3K4/8 w - - 0 1", true, true, "one pair, and the kings go round it"),
];

/// Few men.
const MATERIAL: &[Known] = &[
    ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", false, false, "kings"),
    ("4k3/8/8/8/8/8/8/4KN2 w - - 0 1", false, false, "a knight"),
    ("4k3/8/8/8/8/8/8/4KB2 w - - 0 1", false, false, "a bishop"),
    ("4k1b1/8/8/8/8/8/8/4KB2 w - - 0 1", false, false, "bishops of one colour"),
    ("4k1b1/8/8/8/8/8/8/1B1BKB2 w - - 0 1", false, false, "more of them"),
    ("8/8/8/4kb2/8/8/3B4/4K3 w - - 0 1", true, true, "bishops of two colours"),
    ("8/8/8/3nk3/8/8/3Q4/4K3 w - - 0 1", true, false, "a knight against a queen"),
    ("3qkq2/8/8/8/8/8/8/4K1N1 w - - 0 1", false, true, "a knight against queens"),
    ("4kr2/8/8/8/8/8/8/4KB2 w - - 0 1", false, true, "a bishop against a rook"),
    ("4kr2/8/8/8/8/8/8/4KN2 w - - 0 1", true, true, "a knight against a rook, which can stand in the way"),
    ("8/8/8/4kn2/8/8/8/4KB2 w - - 0 1", true, true, "a bishop against a knight"),
    ("8/8/8/4kp2/8/8/4N3/4K3 w - - 0 1", true, true, "a knight against a pawn"),
    ("4k3/8/8/8/8/8/8/3NKN2 w - - 0 1", true, false, "two knights"),
    ("8/8/3k4/8/8/3NK3/3N4/8 b - - 0 1", true, false, "two knights, and a king far from any corner"),
    ("8/N7/8/8/3k4/8/7N/K7 b - - 0 1", true, false, "two knights, far from each other"),
    ("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1", true, false, "a pawn"),
    ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", true, false, "a rook"),
];

/// Play that is forced.
const FORCED: &[Known] = &[
    ("7k/8/8/8/8/8/6q1/7K w - - 0 1", false, false, "the last man must be captured"),
    ("7k/6Q1/8/8/8/8/b7/K7 b - - 0 1", false, false, "the queen must be, and a bishop is too little"),
    ("8/8/8/8/8/5k2/7p/7K w - - 0 1", false, false, "the last pawn must be captured"),
    ("8/8/8/8/8/2B5/Bq6/k1K5 w - - 0 1", false, true, "one of two bishops is lost, whatever is played"),
    ("8/8/8/8/8/8/1p6/k1K5 w - - 0 1", false, true, "the pawn may be left alone"),
    ("1k6/1P6/1K6/8/8/8/8/8 w - - 0 1", true, false, "the pawn will promote"),
    ("k7/P7/1K6/8/8/8/8/8 w - - 0 1", true, false, "a stalemate that can be avoided"),
    ("k7/P7/K7/8/8/8/8/8 b - - 0 1", false, false, "stalemate"),
    ("8/8/8/8/8/1k6/1p6/1K6 w - - 0 1", false, false, "stalemate"),
    ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", false, true, "mate already"),
];

/// Positions of ordinary games.
const ORDINARY: &[&str] = &[
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 6 5",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - 0 1",
    "8/5pk1/6p1/7p/7P/5PP1/6K1/8 w - - 0 1",
];

#[test]
fn known_positions_are_decided_rightly() {
    for (fen, white, black, about) in BLOCKED.iter().chain(MATERIAL).chain(FORCED) {
        let start = position(fen);
        for (side, expected) in [(Color::White, *white), (Color::Black, *black)] {
            assert_eq!(possible(&start, side, Nodes::default()), Some(expected), "{side:?}, {about}: {fen}");
        }
        match dead_position(&start, Nodes::default()) {
            Dead::Dead(_) => assert!(!white && !black, "{about}: {fen}"),
            Dead::Alive { helpmate } => {
                assert!(*white || *black, "{about}: {fen}");
                assert_mate(&start, None, &helpmate);
            }
            Dead::Unknown => panic!("{about}: {fen}"),
        }
    }
}

#[test]
fn in_ordinary_positions_both_sides_can_mate() {
    for fen in ORDINARY {
        for side in Color::ALL {
            assert_eq!(possible(&position(fen), side, Nodes::default()), Some(true), "{side:?}: {fen}");
        }
    }
}

#[test]
fn the_reason_is_told() {
    assert_eq!(why(BLOCKED[0].0, Color::White), Some(Why::Locked));
    assert_eq!(why("7k/8/8/8/8/8/6q1/7K w - - 0 1", Color::Black), Some(Why::Exhausted));
    assert_eq!(why("7k/8/8/8/8/8/6q1/7K w - - 0 1", Color::White), Some(Why::BareKing));
    assert_eq!(why("8/8/8/3nk3/8/8/3Q4/4K3 w - - 0 1", Color::Black), Some(Why::LoneKnight));
    assert_eq!(why("4kr2/8/8/8/8/8/8/4KB2 w - - 0 1", Color::White), Some(Why::BishopsOfOneColour));
    assert_eq!(why("k7/P7/K7/8/8/8/8/8 b - - 0 1", Color::White), Some(Why::Stalemate));
    assert_eq!(why("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", Color::Black), Some(Why::Checkmate));
    assert_eq!(Why::BishopsOfOneColour.to_string(), "bishops-of-one-colour");
}

#[test]
fn a_game_that_has_ended_is_told_as_it_ended() {
    let stalemate = position("k7/P7/K7/8/8/8/8/8 b - - 0 1");
    assert_eq!(dead_position(&stalemate, Nodes(0)), Dead::Dead(Why::Stalemate));
    let mate = position("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1");
    assert_eq!(dead_position(&mate, Nodes(0)), Dead::Alive { helpmate: Vec::new() });
}

#[test]
fn castling_in_a_helpmate_is_written_for_its_kind_of_chess() {
    let fen: Fen = "5k2/8/8/8/8/8/8/4K2R w H - 0 1".parse().unwrap();
    let start: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
    assert_eq!(possible(&start, Color::White, Nodes::default()), Some(true));
}

#[test]
fn without_a_budget_nothing_is_claimed_that_takes_work() {
    let start = Chess::default();
    for budget in [0, 1, 7] {
        let mut left = Nodes(budget);
        assert_eq!(can_mate_within(&start, Color::White, &mut left), MatePossibility::Unknown);
        assert_eq!(left, Nodes(0));
        assert_eq!(dead_position(&start, Nodes(budget)), Dead::Unknown);
    }
}

/// Every position that can arise, at most `most`: whether `side` mates in one of them.
fn mates_somewhere(start: &Chess, side: Color, most: usize) -> Option<bool> {
    let key = |position: &Chess| (position.board().clone(), position.turn(), position.legal_ep_square());
    let mut known = vec![key(start)];
    let mut positions = vec![start.clone()];
    let mut next = 0;
    while let Some(position) = positions.get(next).cloned() {
        next += 1;
        if position.is_checkmate() && position.turn() != side {
            return Some(true);
        }
        for mv in position.legal_moves() {
            let mut after = position.clone();
            after.play_unchecked(mv);
            if !known.contains(&key(&after)) {
                known.push(key(&after));
                positions.push(after);
            }
        }
        if positions.len() > most {
            return None;
        }
    }
    Some(false)
}

/// Pairs of pawns on some files, kings and a few pieces anywhere.
fn walls() -> impl Strategy<Value = Chess> {
    let pairs = proptest::collection::vec((0_u32..8, 1_u32..6), 1..9);
    let kings = (0_u32..64, 0_u32..64);
    let pieces = proptest::collection::vec((0_u32..64, any::<bool>(), 0_usize..3), 0..2);
    (pairs, kings, pieces, any::<bool>()).prop_filter_map(
        "illegal",
        |(pairs, (white, black), pieces, turn)| {
            let mut board = Board::empty();
            let set = |board: &mut Board, square: u32, color: Color, role: Role| {
                board.set_piece_at(Square::new(square), Piece { color, role });
            };
            for (file, rank) in pairs {
                set(&mut board, 8 * rank + file, Color::White, Role::Pawn);
                set(&mut board, 8 * (rank + 1) + file, Color::Black, Role::Pawn);
            }
            for (square, white, role) in pieces {
                let role = [Role::Bishop, Role::Knight, Role::Rook][role];
                set(&mut board, square, Color::from_white(white), role);
            }
            set(&mut board, white, Color::White, Role::King);
            set(&mut board, black, Color::Black, Role::King);
            let setup = Setup { board, turn: Color::from_white(turn), ..Setup::empty() };
            Chess::from_setup(setup, CastlingMode::Standard).ok()
        },
    )
}

/// Plays some moves of those there are, preferring mate, captures and promotions where told to.
fn play(start: &Chess, choices: &[(u16, bool)]) -> Vec<Chess> {
    let mut positions = vec![start.clone()];
    for (choice, eager) in choices {
        let Some(position) = positions.last().cloned() else { break };
        let legal = position.legal_moves();
        let mates = |mv: &&shakmaty::Move| {
            let mut after = position.clone();
            after.play_unchecked(**mv);
            after.is_checkmate()
        };
        let eagerly: Vec<_> = legal.iter().filter(|mv| mv.is_capture() || mv.is_promotion()).collect();
        let mv = match legal.iter().find(mates) {
            Some(mv) => mv,
            None if *eager && !eagerly.is_empty() => eagerly[usize::from(*choice) % eagerly.len()],
            None if legal.is_empty() => break,
            None => &legal[usize::from(*choice) % legal.len()],
        };
        let mut after = position.clone();
        after.play_unchecked(*mv);
        positions.push(after);
    }
    positions
}

fn games() -> impl Strategy<Value = Vec<Chess>> {
    proptest::collection::vec((any::<u16>(), prop::bool::weighted(0.3)), 0..200)
        .prop_map(|choices| play(&Chess::default(), &choices))
}

/// What must not be claimed about a position in which `side` has mated later.
fn assert_possible(position: &Chess, side: Color, budget: Nodes) {
    let told = can_mate(position, side, budget);
    assert!(!matches!(told, MatePossibility::Impossible(_)), "{told:?} {position:?}");
    let told = dead_position(position, budget);
    assert!(!matches!(told, Dead::Dead(_)), "{told:?} {position:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn where_a_game_ended_with_mate_no_position_before_was_dead(game in games()) {
        if let Some(last) = game.last().filter(|last| last.is_checkmate()) {
            for position in game.iter().rev().step_by(7).take(8) {
                assert_possible(position, !last.turn(), Nodes(300));
            }
        }
    }

    #[test]
    fn the_answer_is_a_proof_and_the_same_each_time(game in games()) {
        let position = game.last().unwrap();
        for side in Color::ALL {
            let (mut left, mut again) = (Nodes(4000), Nodes(4000));
            let told = can_mate_within(position, side, &mut left);
            prop_assert!(left <= Nodes(4000));
            prop_assert_eq!(&can_mate_within(position, side, &mut again), &told);
            prop_assert_eq!(left, again);
            possible(position, side, Nodes(4000));
        }
        let mut left = Nodes(4000);
        if let Dead::Alive { helpmate } = dead_position_within(position, &mut left) {
            assert_mate(position, None, &helpmate);
        }
        prop_assert!(left <= Nodes(4000));
    }

    #[test]
    fn walls_are_decided_as_by_looking_at_every_position(wall in walls()) {
        for side in Color::ALL {
            let told = possible(&wall, side, Nodes(6000));
            if let (Some(told), Some(found)) = (told, mates_somewhere(&wall, side, 600)) {
                prop_assert_eq!(told, found, "{:?}", side);
            }
        }
    }

    #[test]
    fn mirrored_positions_are_never_told_otherwise(wall in walls()) {
        let setup = Setup { board: wall.board().clone().into_mirrored(), turn: !wall.turn(), ..Setup::empty() };
        let mirrored = Chess::from_setup(setup, CastlingMode::Standard).unwrap();
        let told = possible(&wall, Color::White, Nodes(3000));
        let turned = possible(&mirrored, Color::Black, Nodes(3000));
        prop_assert!(told.is_none() || turned.is_none() || told == turned);
    }
}
