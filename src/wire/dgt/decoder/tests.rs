//! The decoder, message by message.

use super::*;
use crate::session::event::ClockReading;
use proptest::prelude::*;
use shakmaty::{Board, Piece};

const W: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

fn board(fen: &str) -> Board {
    fen.parse().unwrap()
}

fn dump(fen: &str) -> Vec<u8> {
    Message::Board(Box::new(Dump::of(&board(fen)))).encode()
}

fn field(square: Square, code: u8) -> Vec<u8> {
    Message::Field { square, reading: Reading::from_code(code) }.encode()
}

fn push(decoder: &mut DgtDecoder, bytes: &[u8]) -> Vec<Event> {
    let mut out = Vec::new();
    decoder.push(MonoTime::ZERO, bytes, &mut out);
    out
}

fn started(fen: &str) -> DgtDecoder {
    let mut decoder = DgtDecoder::new(Orientation::Auto);
    push(&mut decoder, &dump(fen));
    decoder
}

#[test]
fn the_first_dump_is_told_and_an_equal_one_is_not() {
    let mut decoder = DgtDecoder::new(Orientation::Auto);
    assert_eq!(push(&mut decoder, &dump(W)), [Event::Pieces(board(W))]);
    assert_eq!(push(&mut decoder, &dump(W)), []);
    decoder.link(false);
    decoder.link(true);
    assert_eq!(push(&mut decoder, &dump(W)), [Event::Pieces(board(W))]);
}

#[test]
fn a_dump_that_differs_from_the_updates_is_told() {
    let mut decoder = started(W);
    let e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR";
    assert_eq!(push(&mut decoder, &field(Square::E2, 0)), [Event::Piece { square: Square::E2, piece: None }]);
    assert_eq!(push(&mut decoder, &field(Square::E2, 0)), [], "nothing changed");
    assert_eq!(
        push(&mut decoder, &dump(e4)),
        [Event::Device(json!({"what": "missed-updates", "n": 1})), Event::Pieces(board(e4))]
    );
}

#[test]
fn a_board_that_lies_the_other_way_round_is_turned_with_its_clock() {
    let mut decoder = DgtDecoder::new(Orientation::Auto);
    let turned = "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr";
    assert_eq!(
        push(&mut decoder, &dump(turned)),
        [Event::Device(json!({"orientation": "rotated"})), Event::Pieces(board(W))]
    );
    assert_eq!(push(&mut decoder, &field(Square::D7, 0)), [Event::Piece { square: Square::E2, piece: None }]);
    // 3:02 on the right, 3:01 on the left, stopped, lever high on the right.
    assert_eq!(
        push(&mut decoder, &[0x8d, 0, 10, 0x20, 0x03, 0x02, 0x20, 0x03, 0x01, 0x12]),
        [Event::Times(ClockReading { white_ms: Some(182_000), black_ms: Some(181_000), running: None })]
    );
}

#[test]
fn a_clock_may_stand_the_other_way_round() {
    let times = [0x8d, 0, 10, 0x20, 0x03, 0x02, 0x20, 0x03, 0x01, 0x12];
    let mut decoder = DgtDecoder::new(Orientation::Auto).with_clock_turned(true);
    push(&mut decoder, &dump(W));
    assert_eq!(
        push(&mut decoder, &times),
        [Event::Times(ClockReading { white_ms: Some(182_000), black_ms: Some(181_000), running: None })]
    );
    // On a board that lies the other way round, too, it is as it would be at its usual place.
    let mut decoder = DgtDecoder::new(Orientation::Rotated).with_clock_turned(true);
    push(&mut decoder, &dump("RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr"));
    assert_eq!(
        push(&mut decoder, &times),
        [Event::Times(ClockReading { white_ms: Some(181_000), black_ms: Some(182_000), running: None })]
    );
}

#[test]
fn the_way_it_lies_can_be_forced() {
    let mut decoder = DgtDecoder::new(Orientation::Rotated);
    assert_eq!(
        push(&mut decoder, &dump("RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr")),
        [Event::Pieces(board(W))]
    );
    let mut decoder = DgtDecoder::new(Orientation::Normal);
    push(&mut decoder, &dump("RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr"));
    assert!(!decoder.is_rotated());
}

#[test]
fn a_turned_start_position_of_chess960_is_known_too() {
    let mut decoder = started("BBQNNRKR/PPPPPPPP/8/8/8/8/pppppppp/bbqnnrkr");
    assert!(decoder.is_rotated());
    push(&mut decoder, &dump("8/8/8/8/8/8/8/8"));
    assert!(decoder.is_rotated(), "nothing else turns it back");
}

#[test]
fn a_special_piece_is_no_man() {
    let mut decoder = started(W);
    assert_eq!(
        push(&mut decoder, &field(Square::E4, 0x0d)),
        [Event::Device(json!({"special_piece": "draw", "square": "e4"}))]
    );
    assert_eq!(
        push(&mut decoder, &field(Square::E2, 0x0e)),
        [
            Event::Device(json!({"special_piece": "white-wins", "square": "e2"})),
            Event::Piece { square: Square::E2, piece: None }
        ]
    );
}

#[test]
fn a_capture_may_change_the_piece_at_once() {
    let mut decoder = started("8/8/8/3p4/4P3/8/8/8");
    assert_eq!(
        push(&mut decoder, &field(Square::D5, 1)),
        [Event::Piece { square: Square::D5, piece: Some(Piece { color: Color::White, role: Role::Pawn }) }]
    );
}

#[test]
fn garbled_bytes_are_told_once_a_run() {
    let mut decoder = started(W);
    let mut bytes = vec![0x00, 0x13, 0x8e, 0x00];
    bytes.extend(field(Square::E2, 0));
    assert_eq!(
        push(&mut decoder, &bytes),
        [
            Event::Device(json!({"what": "garbled-bytes", "n": 4})),
            Event::Piece { square: Square::E2, piece: None }
        ]
    );
}

#[test]
fn what_the_board_is_is_told_when_it_is_new() {
    let mut decoder = DgtDecoder::new(Orientation::Auto);
    let version = Message::Version(3, 10).encode();
    assert_eq!(push(&mut decoder, &version), [Event::Device(json!({"version": "3.10"}))]);
    assert_eq!(push(&mut decoder, &version), []);
}

proptest! {
    #[test]
    fn any_bytes_in_any_portions_give_the_same_events(
        bytes in proptest::collection::vec(
            prop_oneof![any::<u8>(), Just(0x8e), Just(0x8d), Just(0x00), Just(0x05), Just(0x0a)],
            0..250,
        ),
        sizes in proptest::collection::vec(1usize..40, 1..20),
    ) {
        let whole = push(&mut started(W), &bytes);
        let mut decoder = started(W);
        let mut parts = Vec::new();
        let (mut rest, mut sizes) = (bytes.as_slice(), sizes.iter().cycle());
        while !rest.is_empty() {
            let (now, later) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            parts.extend(push(&mut decoder, now));
            rest = later;
        }
        prop_assert_eq!(parts, whole);
    }

    #[test]
    fn updates_and_dump_agree(codes in proptest::collection::vec((0u8..64, 0u8..13), 0..120)) {
        let mut decoder = started(W);
        let mut shown = board(W);
        for (number, code) in codes {
            let square = crate::wire::dgt::message::square_of(number).unwrap();
            match Reading::from_code(code).piece() {
                Some(piece) => shown.set_piece_at(square, piece),
                None => shown.discard_piece_at(square),
            }
            push(&mut decoder, &field(square, code));
        }
        let dump = Message::Board(Box::new(Dump::of(&shown))).encode();
        let events = push(&mut decoder, &dump);
        prop_assert!(events.is_empty() || decoder.is_rotated(), "{:?}", events);
    }
}
