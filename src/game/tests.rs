//! Tests of what goes into the board of a game: bytes, links, and two boards side by side.

use super::*;
use crate::{
    session::{
        settings::OrientationSetting,
        setup::{BoardKind, Signal},
    },
    wire::dgt::{Message, message::Dump},
};
use proptest::prelude::*;
use shakmaty::{Color, Square};

fn ms(ms: u64) -> MonoTime {
    MonoTime::ZERO.plus_ms(ms)
}

fn moves(board: &Board) -> Vec<String> {
    board.session().plies().map(|record| record.uci.to_string()).collect()
}

/// A game on two boards of these kinds, White's and Black's.
fn two_boards(kinds: [BoardKind; 2]) -> GameSetup {
    let mut setup = GameSetup { board: BoardKind::TwoBoard, ..GameSetup::default() };
    setup.sides = Some([Color::White, Color::Black]);
    for (unit, kind) in setup.units.iter_mut().zip(kinds) {
        unit.kind = kind;
    }
    setup
}

/// Motions such as `-e2 +e4` at one of two boards, 100 ms apart.
fn hands(board: &mut Board, at_ms: &mut u64, unit: Unit, motions: &str) {
    for motion in motions.split_whitespace() {
        *at_ms += 100;
        let (sign, square) = motion.split_at(1);
        let event = Event::Square { square: square.parse().unwrap(), occupied: sign == "+" };
        board.input(ms(*at_ms), &Input::Event(unit, event));
    }
}

fn notices(board: &mut Board, code: &str) -> Vec<serde_json::Value> {
    let facts = std::iter::from_fn(|| board.poll_fact());
    facts.map(|fact| fact.to_value()).filter(|fact| fact["code"] == code).collect()
}

fn dgt(orientation: OrientationSetting) -> Board {
    let mut setup = GameSetup::default();
    setup.settings.orientation = orientation;
    let mut board = Board::new(&setup).unwrap();
    board.keep_events();
    board
}

fn events(board: &mut Board) -> Vec<Event> {
    std::iter::from_fn(|| board.poll_event()).map(|stamped| stamped.event).collect()
}

#[test]
fn the_bytes_of_a_dgt_board_are_told_as_its_squares_are_numbered() {
    let lifted = Input::Dgt(Unit::A, vec![0x8e, 0x00, 0x05, 52, 0x00]);
    for orientation in [OrientationSetting::WhiteSouth, OrientationSetting::WhiteNorth] {
        let mut board = dgt(orientation);
        board.input(MonoTime::ZERO, &lifted);
        assert_eq!(events(&mut board), [Event::Piece { square: Square::E2, piece: None }]);
    }
}

#[test]
fn a_dgt_board_that_is_configured_to_lie_turned_is_turned_once() {
    let mut setup = GameSetup { board: BoardKind::Dgt, ..GameSetup::default() };
    setup.settings.orientation = OrientationSetting::WhiteNorth;
    let mut board = Board::new(&setup).unwrap();
    // The squares that the board numbers 11 and 27 are d7 and d5; White's e2 and e4 as it lies.
    board.input(ms(10), &Input::Dgt(Unit::A, vec![0x8e, 0x00, 0x05, 11, 0x00]));
    board.input(ms(20), &Input::Dgt(Unit::A, vec![0x8e, 0x00, 0x05, 27, 0x01]));
    board.advance(ms(5_000));
    assert_eq!(moves(&board), ["e2e4"]);
}

#[test]
fn a_lost_link_voids_half_a_message_and_makes_the_next_dump_count() {
    let mut board = dgt(OrientationSetting::Auto);
    let dump = Message::Board(Box::new(Dump::of(&shakmaty::Board::new()))).encode();
    board.input(MonoTime::ZERO, &Input::Dgt(Unit::A, dump.clone()));
    board.input(MonoTime::ZERO, &Input::Dgt(Unit::A, vec![0x8e, 0x00]));
    board.input(MonoTime::ZERO, &Event::Link(false).into());
    board.input(MonoTime::ZERO, &Event::Link(true).into());
    board.input(MonoTime::ZERO, &Input::Dgt(Unit::A, dump));
    let start = Event::Pieces(shakmaty::Board::new());
    assert_eq!(events(&mut board), [start.clone(), Event::Link(false), Event::Link(true), start]);
}

#[test]
fn the_link_of_one_board_leaves_the_other_one_alone() {
    let mut board = Board::new(&two_boards([BoardKind::Dgt, BoardKind::Dgt])).unwrap();
    board.keep_events();
    board.input(MonoTime::ZERO, &Input::Dgt(Unit::A, vec![0x8e, 0x00]));
    board.input(MonoTime::ZERO, &Input::Event(Unit::B, Event::Link(false)));
    board.input(MonoTime::ZERO, &Input::Event(Unit::B, Event::Link(true)));
    board.input(MonoTime::ZERO, &Input::Dgt(Unit::A, vec![0x05, 52, 0x00]));
    assert!(events(&mut board).contains(&Event::Piece { square: Square::E2, piece: None }));
}

#[test]
fn each_of_two_boards_is_debounced_on_its_own() {
    let mut setup = two_boards([BoardKind::Reed, BoardKind::Peg]);
    for unit in &mut setup.units {
        unit.signal = Signal::Raw;
    }
    setup.units[1].debounce_close_ms = 40;
    let mut board = Board::new(&setup).unwrap();
    let edge = |board: &mut Board, at, unit, square, occupied| {
        board.input(ms(at), &Input::Event(unit, Event::Square { square, occupied }));
    };
    // e2-e4 with bounces; the mirror on the other board is lifted at the same time.
    for at in [0, 2, 4] {
        edge(&mut board, 1000 + at, Unit::A, Square::E2, at == 2);
        edge(&mut board, 1001 + at, Unit::B, Square::E2, at == 2);
        edge(&mut board, 1500 + at, Unit::A, Square::E4, at != 2);
        edge(&mut board, 1501 + at, Unit::B, Square::E4, at != 2);
    }
    board.advance(ms(1520));
    let of = |board: &Board| board.session().occupied();
    assert!(of(&board).contains(Square::E4) && !of(&board).contains(Square::E2));
    board.input(ms(2000), &Input::Event(Unit::A, Event::Press(Color::White)));
    // A dip of 20 ms on the pegged board is no lift there, and one of 50 ms is.
    edge(&mut board, 2100, Unit::B, Square::E7, false);
    edge(&mut board, 2120, Unit::B, Square::E7, true);
    board.advance(ms(2300));
    assert!(of(&board).contains(Square::E7));
    edge(&mut board, 2400, Unit::B, Square::E7, false);
    board.advance(ms(2450));
    assert!(!of(&board).contains(Square::E7));
    edge(&mut board, 2500, Unit::B, Square::E5, true);
    board.input(ms(2600), &Input::Event(Unit::B, Event::Press(Color::Black)));
    board.advance(ms(9000));
    assert_eq!(moves(&board), ["e2e4", "e7e5"]);
}

#[test]
fn each_of_two_boards_shows_on_its_own_which_way_it_lies() {
    let mut board = Board::new(&two_boards([BoardKind::Reed, BoardKind::Peg])).unwrap();
    let mut at = 0;
    // The second board lies turned: e2-e4 is d7-d5 there, and e7-e5 is d2-d4.
    hands(&mut board, &mut at, Unit::A, "-e2 +e4");
    board.input(ms(at + 300), &Event::Press(Color::White).into());
    at += 400;
    hands(&mut board, &mut at, Unit::B, "-d7 +d5 -d2 +d4");
    board.input(ms(at + 300), &Event::Press(Color::Black).into());
    at += 400;
    hands(&mut board, &mut at, Unit::A, "-e7 +e5 -g1 +f3");
    board.advance(ms(at + 20_000));
    assert_eq!(moves(&board), ["e2e4", "e7e5", "g1f3"]);
    let told = notices(&mut board, "board-turned");
    assert_eq!(told.len(), 1);
    assert!(told[0]["detail"].as_str().unwrap().contains("board B lies turned"), "{told:?}");
    // A man that was touched first and put back settles nothing: here White's board lies as usual.
    let mut board = Board::new(&two_boards([BoardKind::Reed, BoardKind::Peg])).unwrap();
    let mut at = 0;
    hands(&mut board, &mut at, Unit::A, "-d7 +d7 -e2 +e4");
    board.advance(ms(at + 20_000));
    assert_eq!(moves(&board), ["e2e4"]);
    // Configured, it is no news.
    let mut setup = two_boards([BoardKind::Reed, BoardKind::Peg]);
    setup.units[0].orientation = OrientationSetting::WhiteNorth;
    let mut board = Board::new(&setup).unwrap();
    let mut at = 0;
    hands(&mut board, &mut at, Unit::A, "-d7 +d5");
    board.advance(ms(at + 20_000));
    assert_eq!(moves(&board), ["e2e4"]);
    assert!(notices(&mut board, "board-turned").is_empty());
}

#[test]
fn boards_are_not_compared_while_one_of_them_is_away() {
    let mut board = Board::new(&two_boards([BoardKind::Reed, BoardKind::Peg])).unwrap();
    board.input(ms(1), &Input::Event(Unit::B, Event::Link(false)));
    let mut at = 100;
    hands(&mut board, &mut at, Unit::A, "-e2 +e4");
    board.advance(ms(100_000));
    assert!(notices(&mut board, "boards-diverged").is_empty());
    // Back, it has a minute to show the move.
    board.input(ms(100_000), &Input::Event(Unit::B, Event::Link(true)));
    board.input(ms(100_010), &Input::Event(Unit::B, Event::Occupied(shakmaty::Board::new().occupied())));
    board.advance(ms(159_000));
    assert!(notices(&mut board, "boards-diverged").is_empty());
    board.advance(ms(161_000));
    assert_eq!(notices(&mut board, "boards-diverged").len(), 1);
}

fn said() -> impl Strategy<Value = Input> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        Just(vec![0x8e, 0x00, 0x05]),
        Just(vec![0x8e, 0x00, 0x05, 12, 0x00]),
    ];
    prop_oneof![
        bytes.prop_map(|bytes| Input::Dgt(Unit::A, bytes)),
        "[ -~]{0,20}".prop_map(|line| Input::Peg(Unit::A, line)),
        Just(Input::Peg(Unit::A, "$PEG,5,2230,e2,out*112F5B".to_owned())),
        any::<bool>().prop_map(|up| Event::Link(up).into()),
    ]
}

proptest! {
    /// Whatever comes from the second board between the portions of the first one: what the first one says is
    /// decoded as if it were alone, and the other way round.
    #[test]
    fn what_one_board_sends_never_changes_what_the_other_one_says(
        script in prop::collection::vec((any::<bool>(), said()), 0..40),
        peg in any::<bool>(),
    ) {
        let kind = if peg { BoardKind::Peg } else { BoardKind::Dgt };
        let decoded = |of: Option<Unit>| {
            let mut board = Board::new(&two_boards([kind, BoardKind::Dgt])).unwrap();
            board.keep_events();
            let mut all = Vec::new();
            for (second, input) in &script {
                let input = if *second { input.clone().of_second() } else { input.clone() };
                if of.is_none_or(|unit| unit == input.unit()) {
                    board.input(MonoTime::ZERO, &input);
                    all.extend(std::iter::from_fn(|| board.poll_event()));
                }
            }
            all
        };
        let together = decoded(None);
        for unit in Unit::ALL {
            let alone: Vec<Stamped> = together.iter().filter(|event| event.unit == unit).cloned().collect();
            prop_assert_eq!(alone, decoded(Some(unit)));
        }
    }
}
