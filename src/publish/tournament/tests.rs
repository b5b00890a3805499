use std::sync::Arc;

use super::*;
use crate::{
    publish::{EarlierPart, PlyTimes, PublicClock, PublicPly, Publisher, Tags},
    session::{Session, setup::GameSetup},
};

fn board(id: &str, event: Option<&str>, round: Option<&str>) -> BoardState {
    let setup = GameSetup::default();
    let tags = Tags {
        event: event.map(str::to_owned),
        round: round.map(str::to_owned),
        board: Some(id.to_owned()),
        ..Tags::default()
    };
    Publisher::new(id, &setup, tags, &Session::new(&setup).unwrap()).state().clone()
}

fn ply(san: &str, clock_ms: Option<u64>, elapsed_ms: Option<u64>) -> PublicPly {
    let completed = clock_ms.is_some();
    PublicPly { uci: String::new(), san: san.to_owned(), completed, clock_ms, elapsed_ms }
}

#[test]
fn boards_with_one_event_are_one_tournament_in_their_order() {
    let states = [
        board("1", Some("Open"), Some("3.1")),
        board("2", Some("Juniors"), None),
        board("3", Some("Open"), Some("3")),
        board("4", Some("Open"), Some("1")),
    ];
    let found = tournaments(&states);
    let names: Vec<_> = found.iter().map(|known| (known.name, known.rounds(), known.boards.len())).collect();
    assert_eq!(names, [("Open", 3, 3), ("Juniors", 1, 1)]);
    let places = |round| -> Vec<(usize, &str)> {
        found[0].pairings(round).iter().map(|pairing| (pairing.nr, pairing.state.id.as_str())).collect()
    };
    assert_eq!(places(3), [(1, "1"), (2, "3")]);
    assert_eq!(places(1), [(3, "4")]);
    assert!(places(2).is_empty());
    let game = &found[0].pairings(1)[0];
    assert_eq!(found[0].game(&game.uuid.to_uppercase()).map(|state| state.id.as_str()), Some("4"));
    assert!(found[1].game(&game.uuid).is_none());
}

#[test]
fn a_round_is_a_number_that_can_be_one() {
    let round = |tag| round_of(&board("1", None, Some(tag)));
    assert_eq!(
        ["7", "7.12", "99", "100", "0", "2026-01-31", "final", ""].map(round),
        [7, 7, 99, 1, 1, 1, 1, 1]
    );
    assert_eq!(round_of(&board("1", None, None)), 1);
}

#[test]
fn a_round_without_a_number_has_a_name_of_its_own() {
    let name = |tag| round_name(&board("1", None, Some(tag)));
    let names =
        ["7", "007.12", "99", "100", "0", "2026-01-31", "Final", "Final.2", "Semi/ final", "", "-"].map(name);
    let expected = ["7", "7", "99", "100", "0", "2026-01-31", "Final", "Final", "Semi--final"];
    assert_eq!(names.iter().flatten().collect::<Vec<_>>(), expected);
    assert_eq!(round_name(&board("1", None, None)), None);
    assert!(!is_numbered(&board("1", None, Some("Final"))) && is_numbered(&board("1", None, None)));
}

#[test]
fn a_very_long_name_of_a_round_fits_into_a_path_and_stays_its_own() {
    let name = |tag: &str| round_name(&board("1", None, Some(tag))).unwrap();
    let long = "é".repeat(200);
    let names = [long.clone(), format!("{long}a"), "a".repeat(250), "a".repeat(251)].map(|tag| name(&tag));
    for (index, known) in names.iter().enumerate() {
        assert!((100..=128).contains(&known.len()), "{known}");
        assert!(!names[..index].contains(known), "{known}");
    }
    assert!(names[0].starts_with("ééé") && names[2].starts_with("aaa"));
    assert_eq!(name(&long), names[0]);
    assert_eq!(name(&"a".repeat(128)), "a".repeat(128));
}

#[test]
fn identifiers_are_uuids_that_stay_and_differ() {
    let states = [board("1", Some("Open"), Some("1")), board("2", Some("Open"), Some("1"))];
    let known = &tournaments(&states)[0];
    // printf '\0\0\0\0\0\0\0\ntouchmoved\0\0\0\0\0\0\0\ntournament\0\0\0\0\0\0\0\4Open' | sha256sum, with the
    // version and the variant put in.
    assert_eq!(known.uuid, "8ec05f22-8c17-829c-9585-b29dec1c0308");
    let games: Vec<String> = known.pairings(1).into_iter().map(|pairing| pairing.uuid).collect();
    assert_ne!(games[0], games[1]);
    let later = [board("1", Some("Open"), Some("2"))];
    assert_ne!(tournaments(&later)[0].pairings(2)[0].uuid, games[0]);
    for text in games {
        let shape: Vec<usize> = text.split('-').map(str::len).collect();
        assert_eq!(shape, [8, 4, 4, 4, 12], "{text}");
        assert_eq!(text.as_bytes()[14], b'8');
        assert!("89ab".contains(text.as_bytes()[19] as char), "{text}");
    }
}

#[test]
fn names_places_and_days_come_apart() {
    let parts = |tag| (name(Some(tag)).family, name(Some(tag)).given);
    assert_eq!(parts("Dole, Mary Ann"), (Some("Dole"), Some("Mary Ann")));
    assert_eq!(parts("Mary Dole"), (Some("Mary Dole"), None));
    assert_eq!(parts("Dole,"), (Some("Dole"), None));
    assert_eq!(parts("?"), (None, None));
    assert_eq!(name(None), Name::default());
    assert_eq!((location("Wijk aan Zee NED"), country("Wijk aan Zee NED")), ("Wijk aan Zee", Some("NED")));
    assert_eq!((location("Bonn"), country("Bonn")), ("Bonn", None));
    assert_eq!(date("2026.01.31").as_deref(), Some("2026-01-31"));
    assert_eq!(date("2026.01.??"), None);
}

#[test]
fn moves_have_their_times() {
    let mut state = board("1", None, None);
    let plies = [
        ply("f3", Some(5_398_900), Some(2_400)),
        ply("e5", Some(5_399_000), None),
        ply("g4", None, Some(3_000)),
        ply("Qh4#", None, None),
    ];
    state.plies = plies.to_vec().into();
    let score = Score::of(&state, 3);
    assert_eq!((score.chess960, score.comment), (Some(518), None));
    assert_eq!(score.moves, ["f3 5398+2", "e5 5399", "g4 +3"]);
    // The last move needs no press: the clock that stands has its time.
    state.result = "0-1";
    let clock = |running| PublicClock {
        white_ms: Some(5_395_000),
        black_ms: Some(5_390_500),
        running,
        delay_ms: 0,
        at_us: 0,
    };
    state.turn = "white";
    state.clock = Some(clock(Some("black")));
    assert_eq!(Score::of(&state, 4).moves[3], "Qh4#");
    state.clock = Some(clock(None));
    assert_eq!(Score::of(&state, 4).moves[3], "Qh4# 5390");
}

#[test]
fn where_an_illegal_move_stands_the_list_ends_and_the_result_is_told() {
    let mut state = board("1", None, None);
    let times = vec![PlyTimes { clock_ms: Some(60_000), elapsed_ms: None }; 3];
    let san = ["e4", "e5", "e1e3"].map(str::to_owned).to_vec();
    state.earlier = Arc::new(vec![EarlierPart { start_fen: state.start_fen.clone(), san, times }]);
    state.start_fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/4K3/PPPP1PPP/RNBQ1BNR b kq - 0 2".to_owned();
    state.plies = vec![ply("Nc6", None, None)].into();
    state.result = "0-1";
    let score = Score::of(&state, 1);
    assert_eq!(score.moves, ["e4 60", "e5 60"]);
    let comment = format!("illegal move e1e3 stands; from {}: Nc6", state.start_fen);
    assert_eq!((score.chess960, score.comment), (Some(518), Some(comment)));
    assert_eq!(Outcome::of(&state), Some(Outcome::Black));
}

#[test]
fn a_game_from_another_position_says_so() {
    let mut state = board("1", None, None);
    state.start_fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1".to_owned();
    let score = Score::of(&state, 0);
    let comment = format!("from {}", state.start_fen);
    assert_eq!((score.chess960, score.comment), (None, Some(comment.clone())));
    // A reader would play them from the classical array.
    state.plies = vec![ply("e4", Some(60_000), None), ply("Kd7", None, None)].into();
    state.result = "1/2-1/2";
    let score = Score::of(&state, 1);
    assert_eq!((score.moves, score.comment), (Vec::new(), Some(format!("{comment}: e4"))));
    assert_eq!(Outcome::of(&state), Some(Outcome::Draw));
    // Nor those of its first part.
    let san = ["e4", "Kd7", "e1e3"].map(str::to_owned).to_vec();
    let first = EarlierPart { start_fen: state.start_fen.clone(), san, times: Vec::new() };
    state.earlier = Arc::new(vec![first]);
    state.start_fen = "8/3k4/8/8/4P3/4K3/8/8 b - - 1 2".to_owned();
    state.plies = vec![ply("Kc6", None, None)].into();
    let score = Score::of(&state, 1);
    let comment = format!("{comment}: e4 Kd7; illegal move e1e3 stands; from {}: Kc6", state.start_fen);
    assert_eq!((score.moves, score.comment), (Vec::new(), Some(comment)));
    state.earlier = Arc::default();
    state.chess960 = true;
    state.start_fen = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1".to_owned();
    assert_eq!(Score::of(&state, 0).chess960, Some(0));
}

#[test]
fn results_without_a_game_are_told_apart() {
    let outcome = |result, termination, plies: usize| {
        let mut state = board("1", None, None);
        state.plies = vec![ply("e4", None, None); plies].into();
        (state.result, state.termination) = (result, termination);
        Outcome::of(&state)
    };
    assert_eq!(outcome("*", None, 1), None);
    assert_eq!(outcome("1-0", None, 1), Some(Outcome::White));
    assert_eq!(outcome("1-0", Some("abandoned"), 0), Some(Outcome::WhiteByForfeit));
    assert_eq!(outcome("0-1", Some("abandoned"), 0), Some(Outcome::BlackByForfeit));
    assert_eq!(outcome("0-1", Some("time forfeit"), 1), Some(Outcome::Black));
    assert_eq!(outcome("1/2-1/2", None, 1), Some(Outcome::Draw));
    assert_eq!(outcome("0-0", Some("adjudication"), 1), Some(Outcome::None));
    assert_eq!(outcome("*", Some("abandoned"), 1), Some(Outcome::None));
}
