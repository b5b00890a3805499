use super::*;
use serde_json::json;
use shakmaty::Color;

fn ms(ms: u64) -> MonoTime {
    MonoTime::ZERO.plus_ms(ms)
}

fn square(square: Square, occupied: bool) -> Input {
    Event::Square { square, occupied }.into()
}

fn raw() -> Watch {
    Watch::new(&GameSetup { signal: Signal::Raw, ..GameSetup::default() }, false)
}

#[test]
fn a_board_is_unknown_until_it_tells_and_a_recording_is_known() {
    let setup = GameSetup::default();
    assert_eq!(Watch::new(&setup, false).occupied(), None);
    assert_eq!(Watch::new(&setup, true).occupied(), Some(Bitboard(0xffff_0000_0000_ffff)));
    let mut recorded = Watch::new(&setup, true);
    assert!(recorded.is_assumed());
    recorded.take(ms(1), &Event::Occupied(Bitboard(1)).into());
    assert!(!recorded.is_assumed());
    assert_eq!(
        (recorded.take_changes().count(), recorded.edges()),
        (0, 0),
        "nobody moved the men of a guess"
    );
    let mut watch = raw();
    watch.take(ms(1), &Event::Occupied(Bitboard(1)).into());
    assert_eq!(watch.occupied(), Some(Bitboard(1)));
    assert_eq!(watch.edges(), 0);
}

/// Events and bytes of a board with White in the north come to the same squares: turned once.
#[test]
fn a_board_with_white_in_the_north_is_turned_once() {
    let heard = |orientation, input: &Input| {
        let settings = crate::session::settings::Settings { orientation, ..Default::default() };
        let mut watch =
            Watch::new(&GameSetup { board: BoardKind::Dgt, settings, ..GameSetup::default() }, false);
        watch.take(ms(1), &Event::Pieces(Board::empty()).into());
        watch.take(ms(2), input);
        watch.occupied().unwrap()
    };
    // A dump of the board: 64 squares from a8 on, a white pawn on the first one.
    let mut dump = vec![0x86, 0, 67, 1];
    dump.resize(67, 0);
    let mut men = Board::empty();
    men.set_piece_at(Square::A8, Color::White.pawn());
    for input in [
        Input::Dgt(Unit::A, dump),
        Event::Pieces(men).into(),
        Event::Occupied(Square::A8.into()).into(),
        square(Square::A8, true),
    ] {
        assert_eq!(heard(OrientationSetting::WhiteSouth, &input), Square::A8.into(), "{input:?}");
        assert_eq!(heard(OrientationSetting::WhiteNorth, &input), Square::H1.into(), "{input:?}");
    }
}

#[test]
fn edges_are_counted_and_debounced() {
    let mut watch = raw();
    watch.take(ms(0), &Event::Occupied(Bitboard::EMPTY).into());
    for (at, closed) in [(100, true), (101, false), (103, true)] {
        watch.take(ms(at), &square(Square::E4, closed));
    }
    assert_eq!((watch.edges(), watch.edges_per_s()), (3, 3));
    assert_eq!(watch.take_changes().count(), 0);
    watch.advance(ms(2000));
    let changes: Vec<Change> = watch.take_changes().collect();
    assert_eq!(changes, [Change { at: ms(118), square: Square::E4, occupied: true }]);
    assert_eq!((watch.edges_per_s(), watch.bounce().closing.longest_us()), (0, 1_000));
    assert_eq!(watch.recent().next_back().unwrap().at, ms(103));
}

#[test]
fn chatter_is_what_the_session_takes_for_it() {
    let mut watch = Watch::new(&GameSetup::default(), true);
    for n in 0..12 {
        watch.take(ms(n * 50), &square(Square::F6, n % 2 == 0));
    }
    assert_eq!(watch.chattering(), Bitboard::from_square(Square::F6));
}

#[test]
fn a_rate_of_scans_takes_a_second() {
    let mut watch = raw();
    watch.advance(ms(500));
    // The board was scanned while nobody listened.
    watch.scanned(40_000, 0, 80);
    assert_eq!(watch.scan(), Scan { per_10_s: None, overruns: Some(0), worst_us: Some(80) });
    watch.advance(ms(1_499));
    watch.scanned(40_199, 0, 80);
    assert_eq!(watch.scan().per_10_s, None);
    watch.advance(ms(2_500));
    watch.scanned(40_398, 1, 21_000);
    assert_eq!(watch.scan(), Scan { per_10_s: Some(1_990), overruns: Some(1), worst_us: Some(21_000) });
}

#[test]
fn the_device_is_named_and_its_scans_are_counted() {
    let mut watch = raw();
    let tell = |watch: &mut Watch, value: Value| watch.take(ms(1), &Event::Device(value).into());
    tell(&mut watch, json!({"version": "1.2"}));
    tell(&mut watch, json!({"source": "matrix", "scans": 1996, "span_us": 10_000_000}));
    tell(&mut watch, json!({"source": "matrix", "overruns": 2, "worst_us": 90_000, "overruns_total": 5}));
    let found = json!([{"finding": "never-closes", "place": "e2, row 1, column 4"}, 3]);
    tell(&mut watch, json!({"source": "matrix", "self_test": found}));
    tell(&mut watch, json!({"what": "garbled-bytes", "n": 7}));
    tell(&mut watch, json!({"source": "matrix", "error": "no answer"}));
    assert_eq!(watch.identity().get("version"), Some(&json!("1.2")));
    assert_eq!(watch.scan(), Scan { per_10_s: Some(1996), overruns: Some(5), worst_us: Some(90_000) });
    assert_eq!(watch.wiring(), ["never-closes at e2, row 1, column 4"]);
    assert_eq!((watch.garbled(), watch.complaints()), (7, &["no answer".to_owned()][..]));
}
