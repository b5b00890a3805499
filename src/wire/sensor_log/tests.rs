//! Lines that are written are read back; nothing that is read panics.

use proptest::prelude::*;
use serde_json::{Value, json};
use shakmaty::{Bitboard, CastlingMode, Piece};

use super::{
    event::{self, parse_common},
    *,
};
use crate::session::{
    event::{ClockReading, Event, GameResult, MAX_CLOCK_MS, Stamped, Unit},
    setup::{GameSetup, Signal},
    time::MonoTime,
};

#[test]
fn the_short_way_reads_what_the_long_way_reads() {
    for line in [
        r#"{"us":12,"sq":"e2","occ":0}"#,
        r#"{"us":0,"sq":"h8","occ":1}"#,
        r#"{"us":999999999999999,"clock":"white"}"#,
        r#"{"us":7,"clock":"black"}"#,
    ] {
        assert!(parse_common(line).is_some(), "{line}");
        let long = line.replacen("\"us\":", " \"us\": ", 1);
        assert!(parse_common(&long).is_none());
        assert_eq!(parse_event(line), parse_event(&long));
    }
    for odd in
        [r#"{"us":01,"sq":"e2","occ":0}"#, r#"{"us":-1,"clock":"white"}"#, r#"{"us":,"sq":"e2","occ":1}"#]
    {
        assert!(parse_event(odd).is_err(), "{odd}");
    }
}

fn any_square() -> impl Strategy<Value = Square> {
    (0u32..64).prop_map(Square::new)
}

fn any_side() -> impl Strategy<Value = Color> {
    any::<bool>().prop_map(Color::from_white)
}

fn any_piece() -> impl Strategy<Value = Option<Piece>> {
    proptest::sample::select(" PNBRQKpnbrqk".chars().collect::<Vec<_>>()).prop_map(Piece::from_char)
}

fn any_board() -> impl Strategy<Value = shakmaty::Board> {
    proptest::collection::vec(any_piece(), 64).prop_map(|pieces| {
        let mut board = shakmaty::Board::empty();
        for (square, piece) in Square::ALL.into_iter().zip(pieces) {
            if let Some(piece) = piece {
                board.set_piece_at(square, piece);
            }
        }
        board
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn any_event() -> impl Strategy<Value = Event> {
    let left = || proptest::option::of(0..=MAX_CLOCK_MS);
    let times = (left(), left(), proptest::option::of(any_side()))
        .prop_map(|(white_ms, black_ms, running)| Event::Times(ClockReading { white_ms, black_ms, running }));
    let result = proptest::sample::select(vec![
        GameResult::Ongoing,
        GameResult::WhiteWins,
        GameResult::BlackWins,
        GameResult::Draw,
    ]);
    let sensors = prop_oneof![
        (any_square(), any::<bool>()).prop_map(|(square, occupied)| Event::Square { square, occupied }),
        (any_square(), any_piece()).prop_map(|(square, piece)| Event::Piece { square, piece }),
        any::<u64>().prop_map(|bits| Event::Occupied(Bitboard(bits))),
        any_board().prop_map(Event::Pieces),
        any::<bool>().prop_map(Event::Link),
        any::<bool>().prop_map(Event::Power),
    ];
    let clock = prop_oneof![
        any_side().prop_map(Event::Press),
        Just(Event::Pause),
        any_side().prop_map(Event::Run),
        times,
        any_side().prop_map(Event::Flag),
        Just(Event::Tick),
    ];
    let people = prop_oneof![
        any::<String>().prop_map(Event::Button),
        any_value().prop_map(Event::Arbiter),
        any::<String>().prop_map(Event::Intended),
        any::<String>().prop_map(Event::Announce),
        result.prop_map(Event::Result),
        any::<String>().prop_map(Event::Expect),
        any_value().prop_map(Event::Wall),
        any_value().prop_map(Event::Device),
    ];
    prop_oneof![sensors, clock, people]
}

proptest! {
    #[test]
    fn every_event_is_written_so_that_it_is_read_back(us in 0..=event::MAX_US, second: bool, event in any_event()) {
        let unit = if second { Unit::B } else { Unit::A };
        let stamped = Stamped { at: MonoTime::from_micros(us), unit, event };
        let line = format_event(&stamped);
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(parse_event(&line), Ok(stamped));
    }

    #[test]
    fn any_text_is_an_event_or_an_error(text: String, key in "us|sq|occ|pc|occupied|pieces|clock|times|flag|wall|board", value in any_value()) {
        let _ = parse_event(&text);
        let _ = parse_header(&text);
        let line = json!({"us": 1, "sq": "e4", key: value}).to_string();
        let _ = parse_event(&line);
        let _ = parse_header(&line);
    }

    #[test]
    fn any_bytes_are_an_event_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = parse_event(&text);
        let _ = parse_header(&text);
    }

    #[test]
    fn a_header_is_written_so_that_it_is_read_back(
        raw: bool,
        chess960: bool,
        close_ms in 0u64..=1000,
        open_ms in 0u64..=1000,
        occupied in proptest::option::of(any::<u64>()),
        history in proptest::collection::vec("[a-h][1-8][a-h][1-8]", 0..4),
    ) {
        let mut setup = GameSetup {
            castling: CastlingMode::from_chess960(chess960),
            history,
            start_occupied: occupied.map(Bitboard),
            time_control: "5400+30".to_owned(),
            ..GameSetup::default()
        };
        if raw {
            setup.signal = Signal::Raw;
            setup.settings.debounce_close_ms = close_ms;
            setup.settings.debounce_open_ms = open_ms;
        }
        let first = parse_header(&format_header(&setup)).unwrap();
        prop_assert_eq!(&first.settings, &setup.settings);
        prop_assert_eq!(first.signal, setup.signal);
        prop_assert_eq!(&first.history, &setup.history);
        prop_assert_eq!(first.start_occupied, setup.start_occupied);
        let again = parse_header(&format_header(&first)).unwrap();
        prop_assert_eq!(again, first);
    }
}

#[test]
fn an_error_names_the_key_and_what_would_be_right() {
    for (line, expected) in [
        (r#"{"us":1,"sq":"e9","occ":0}"#, "sq: expected a square from a1 to h8"),
        (r#"{"us":1,"sq":"e4","occ":2}"#, "occ: expected 0 or 1, found 2"),
        (r#"{"us":1,"sq":"e4"}"#, "a square event needs occ or pc"),
        (r#"{"us":1,"sq":"e4","pc":"x"}"#, "pc: expected a FEN letter"),
        (r#"{"us":1,"occupied":"ff"}"#, "occupied: expected 16 hex digits"),
        (r#"{"us":1,"clock":"red"}"#, "clock: expected white or black"),
        (r#"{"us":1,"result":"2-0"}"#, "result: expected 1-0, 0-1, 1/2-1/2, 0-0 or *"),
        (r#"{"us":1}"#, "unknown event"),
        (r#"{"sq":"e4","occ":0}"#, "missing field `us`"),
        ("", "not a JSON object"),
    ] {
        let error = parse_event(line).unwrap_err().to_string();
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn a_time_that_no_clock_shows_is_refused() {
    let reading = |ms: u64| json!({"us": 1, "times": {"white_ms": 1000, "black_ms": ms}}).to_string();
    assert!(parse_event(&reading(MAX_CLOCK_MS)).is_ok());
    let header = |ms: u64| json!({"sensor_log": 1, "given": {"times_ms": {"white": ms}}}).to_string();
    assert!(parse_header(&header(MAX_CLOCK_MS)).is_ok());
    for ms in [MAX_CLOCK_MS + 1, u64::MAX] {
        let error = parse_event(&reading(ms)).unwrap_err().to_string();
        assert!(error.contains("black_ms") && error.contains("more than a day"), "{error}");
        let error = parse_header(&header(ms)).unwrap_err().to_string();
        assert!(error.contains("given") && error.contains("more than a day"), "{error}");
    }
}
