use super::*;
use crate::{
    publish::{PublicPly, Publisher, Tags},
    session::{Session, setup::GameSetup},
};
use pgn_reader::{RawComment, RawTag, Reader, SanPlus as ReadSan, Skip, Visitor};
use proptest::prelude::*;
use shakmaty::{CastlingMode, Chess, Position as _, san::SanPlus};
use std::{io, ops::ControlFlow};

/// What a reader of PGN finds in it.
#[derive(Debug, Default, PartialEq)]
struct Game {
    tags: Vec<(String, String)>,
    moves: Vec<String>,
    comments: Vec<String>,
    outcome: String,
}

struct Collect;

impl Visitor for Collect {
    type Tags = Game;
    type Movetext = Game;
    type Output = Game;

    fn begin_tags(&mut self) -> ControlFlow<Game, Game> {
        ControlFlow::Continue(Game::default())
    }
    fn tag(&mut self, game: &mut Game, name: &[u8], value: RawTag<'_>) -> ControlFlow<Game> {
        let name = String::from_utf8(name.to_vec()).unwrap();
        game.tags.push((name, unescape(std::str::from_utf8(value.as_bytes()).unwrap())));
        ControlFlow::Continue(())
    }
    fn begin_movetext(&mut self, game: Game) -> ControlFlow<Game, Game> {
        ControlFlow::Continue(game)
    }
    fn san(&mut self, game: &mut Game, san: ReadSan) -> ControlFlow<Game> {
        game.moves.push(san.to_string());
        ControlFlow::Continue(())
    }
    fn comment(&mut self, game: &mut Game, comment: RawComment<'_>) -> ControlFlow<Game> {
        game.comments.push(String::from_utf8(comment.as_bytes().to_vec()).unwrap());
        ControlFlow::Continue(())
    }
    fn begin_variation(&mut self, _: &mut Game) -> ControlFlow<Game, Skip> {
        ControlFlow::Continue(Skip(true))
    }
    fn outcome(&mut self, game: &mut Game, outcome: pgn_reader::Outcome) -> ControlFlow<Game> {
        game.outcome = outcome.to_string();
        ControlFlow::Continue(())
    }
    fn end_game(&mut self, game: Game) -> Game {
        game
    }
}

/// The value of a tag as the PGN standard reads it (section 7).
fn unescape(raw: &str) -> String {
    let mut chars = raw.chars();
    let mut value = String::new();
    while let Some(c) = chars.next() {
        value.push(if c == '\\' { chars.next().unwrap() } else { c });
    }
    value
}

fn read_all(text: &str) -> Vec<Game> {
    let mut reader = Reader::new(io::Cursor::new(text.as_bytes()));
    let mut games = Vec::new();
    while let Some(game) = reader.read_game(&mut Collect).unwrap() {
        games.push(game);
    }
    games
}

fn empty(setup: &GameSetup, tags: Tags) -> BoardState {
    let session = Session::new(setup).unwrap();
    Publisher::new("1", setup, tags, &session).state().clone()
}

fn ply(san: &str, clock_ms: Option<u64>) -> PublicPly {
    PublicPly {
        uci: String::new(),
        san: san.to_owned(),
        completed: clock_ms.is_some(),
        clock_ms,
        elapsed_ms: None,
    }
}

#[test]
fn a_game_reads_as_broadcast_readers_expect_it() {
    let tags = Tags {
        event: Some("Test Open".to_owned()),
        round: Some("1".to_owned()),
        board: Some("2".to_owned()),
        white: Some("One, White".to_owned()),
        time_control: Some("90+30".to_owned()),
        ..Tags::default()
    };
    let mut state = empty(&GameSetup::default(), tags);
    state.plies = vec![ply("e4", Some(5_395_900)), ply("d5", None), ply("exd5", Some(59_000))].into();
    assert_eq!(
        pgn_of(&state, AfterSetUp::GoOn),
        "[Event \"Test Open\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"1.2\"]\n\
         [White \"One, White\"]\n[Black \"?\"]\n[Result \"*\"]\n[Board \"2\"]\n\
         [TimeControl \"90+30\"]\n\n\
         1. e4 {[%clk 1:29:55]} 1... d5 2. exd5 {[%clk 0:00:59]} *\n"
    );
}

#[test]
fn black_to_move_starts_with_dots_and_the_number_of_the_fen() {
    let setup =
        GameSetup { start_fen: "4k3/4p3/8/8/8/8/4P3/4K3 b - - 0 40".to_owned(), ..GameSetup::default() };
    let mut state = empty(&setup, Tags::default());
    state.plies = vec![ply("e5", None), ply("e4", None), ply("Kd7", None)].into();
    state.result = "1/2-1/2";
    let text = pgn_of(&state, AfterSetUp::GoOn);
    assert!(text.ends_with("\n\n40... e5 41. e4 Kd7 1/2-1/2\n"), "{text}");
    assert!(text.contains("[FEN \"4k3/4p3/8/8/8/8/4P3/4K3 b - - 0 40\"]\n[SetUp \"1\"]\n"), "{text}");
    assert!(!text.contains("Variant"));
}

#[test]
fn what_was_played_before_a_position_was_set_up_is_a_comment() {
    let setup =
        GameSetup { start_fen: "4k3/4p3/8/8/8/8/4P3/4K3 b - - 0 40".to_owned(), ..GameSetup::default() };
    let mut state = empty(&setup, Tags::default());
    let start_fen = INITIAL_FEN.to_owned();
    let san = ["e4", "e5", "e1e3"].map(str::to_owned).to_vec();
    state.earlier = vec![crate::publish::EarlierPart { start_fen, san, times: Vec::new() }].into();
    state.plies = vec![ply("e5", None)].into();
    let text = pgn_of(&state, AfterSetUp::GoOn);
    let end = "\n\n{Before this position was set up: 1. e4 e5 2. e1e3} 40... e5 *\n";
    assert!(text.ends_with(end), "{text}");
    assert_eq!(read_all(&text)[0].moves, ["e5"]);
}

#[test]
fn a_game_that_both_lost_has_no_result_that_readers_take_for_castling() {
    let mut state = empty(&GameSetup::default(), Tags::default());
    state.plies = vec![ply("e4", None)].into();
    (state.result, state.termination) = ("0-0", Some("adjudication"));
    let text = pgn_of(&state, AfterSetUp::GoOn);
    assert!(text.contains("[Result \"*\"]\n[Termination \"adjudication\"]\n"), "{text}");
    let game = &read_all(&text)[0];
    assert_eq!((game.moves.len(), game.outcome.as_str()), (1, "*"));
    assert_eq!(game.comments, ["Both players lost (0-0)"]);
}

#[test]
fn the_times_of_both_sides_are_those_of_the_last_press_until_the_clock_stands() {
    let mut state = empty(&GameSetup::default(), Tags::default());
    let clock = |running| crate::publish::PublicClock {
        white_ms: Some(5_000_000),
        black_ms: Some(4_999_999),
        running,
        delay_ms: 0,
        at_us: 0,
    };
    let tags = |state: &BoardState| -> Vec<(String, String)> {
        let clocks = |(name, _): &(String, String)| name.contains("Clock");
        read_all(&pgn_of(state, AfterSetUp::GoOn))[0].tags.iter().filter(|tag| clocks(tag)).cloned().collect()
    };
    let tag = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert!(tags(&state).is_empty());
    state.clock = Some(clock(Some("black")));
    state.plies = vec![ply("e4", Some(5_400_000))].into();
    assert_eq!(tags(&state), [tag("WhiteClock", "1:30:00")], "Black has not pressed yet");
    state.plies = vec![ply("e4", Some(5_400_000)), ply("e5", Some(5_399_000)), ply("d4", None)].into();
    state.clock = Some(clock(Some("white")));
    let waits = [tag("BlackClock", "1:29:59"), tag("Clock", "W/1:30:00")];
    assert_eq!(tags(&state), waits, "White has not pressed yet");
    state.plies =
        vec![ply("e4", Some(5_400_000)), ply("e5", Some(5_399_000)), ply("d4", Some(5_398_000))].into();
    state.clock = Some(clock(Some("black")));
    let both = [tag("WhiteClock", "1:29:58"), tag("BlackClock", "1:29:59"), tag("Clock", "B/1:29:59")];
    assert_eq!(tags(&state), both);
    state.clock = Some(clock(None));
    assert_eq!(tags(&state), [tag("WhiteClock", "1:23:20"), tag("BlackClock", "1:23:19")]);
    state.start_fen = "4k3/4p3/8/8/8/8/4P3/4K3 b - - 0 40".to_owned();
    state.clock = Some(clock(Some("white")));
    let turned = [tag("WhiteClock", "1:29:59"), tag("BlackClock", "1:29:58"), tag("Clock", "W/1:29:59")];
    assert_eq!(tags(&state), turned);
}

#[test]
fn two_games_are_two_games() {
    let state = empty(&GameSetup::default(), Tags::default());
    let games = read_all(&pgn_of_all([&state, &state], AfterSetUp::GoOn));
    assert_eq!(games.len(), 2);
}

#[test]
fn chess960_says_so_even_from_the_usual_array() {
    let setup = GameSetup { castling: CastlingMode::Chess960, ..GameSetup::default() };
    let text = pgn_of(&empty(&setup, Tags::default()), AfterSetUp::GoOn);
    assert!(text.contains("[SetUp \"1\"]\n[Variant \"Chess960\"]\n"), "{text}");
}

/// A random legal game: its plies with clocks.
fn game() -> impl Strategy<Value = Vec<PublicPly>> {
    let choice = (any::<prop::sample::Index>(), prop::option::of(0..20_000_000_u64));
    prop::collection::vec(choice, 0..200).prop_map(|choices| {
        let mut position = Chess::default();
        let mut plies = Vec::new();
        for (index, clock_ms) in choices {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let san = SanPlus::from_move_and_play_unchecked(&mut position, moves[index.index(moves.len())]);
            plies.push(ply(&san.to_string(), clock_ms));
        }
        plies
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_was_written_is_read_back(
        plies in game(),
        white in "[\\PC\"\\\\]{0,40}",
        event in prop::option::of("\\PC{0,100}"),
        result in prop::sample::select(vec!["*", "1-0", "0-1", "1/2-1/2"]),
    ) {
        let tags = Tags { white: Some(white.clone()), event: event.clone(), ..Tags::default() };
        let mut state = empty(&GameSetup::default(), tags);
        state.plies = plies.into();
        state.result = result;
        let text = pgn_of(&state, AfterSetUp::GoOn);
        let games = read_all(&text);
        prop_assert_eq!(games.len(), 1);
        let game = &games[0];
        let moves: Vec<&str> = state.plies.iter().map(|ply| ply.san.as_str()).collect();
        prop_assert_eq!(&game.moves, &moves);
        prop_assert_eq!(game.comments.len(), state.plies.iter().filter(|ply| ply.clock_ms.is_some()).count());
        prop_assert_eq!(&game.outcome, result);
        prop_assert_eq!(&game.tags[4], &("White".to_owned(), white));
        prop_assert_eq!(&game.tags[0].1, &event.unwrap_or_else(|| "?".to_owned()));
        let movetext = text.split("\n\n").last().unwrap_or_default();
        prop_assert!(movetext.lines().all(|line| line.chars().count() < 80), "{}", movetext);
    }
}

#[test]
fn a_name_with_a_line_break_stays_one_line() {
    let tags = Tags { black: Some("A\nB".to_owned()), ..Tags::default() };
    assert!(pgn_of(&empty(&GameSetup::default(), tags), AfterSetUp::GoOn).contains("[Black \"A B\"]\n"));
}

#[test]
fn where_it_is_to_stop_the_legal_game_stays_and_the_result_is_told() {
    let setup =
        GameSetup { start_fen: "4k3/4p3/8/8/8/8/4P3/4K3 b - - 0 40".to_owned(), ..GameSetup::default() };
    let mut state = empty(&setup, Tags::default());
    let start_fen = INITIAL_FEN.to_owned();
    let san = ["e4", "e5", "e1e3"].map(str::to_owned).to_vec();
    let times = vec![PlyTimes { clock_ms: Some(60_000), elapsed_ms: None }; 3];
    state.earlier = vec![EarlierPart { start_fen, san, times }].into();
    state.plies = vec![ply("e5", None)].into();
    state.result = "1-0";
    let text = pgn_of(&state, AfterSetUp::Stop);
    assert!(!text.contains("[FEN"), "{text}");
    let end = "1. e4 {[%clk 0:01:00]} 1... e5 {[%clk 0:01:00]} {illegal move e1e3 stands; from\n\
               4k3/4p3/8/8/8/8/4P3/4K3 b - - 0 40: e5} 1-0\n";
    assert!(text.ends_with(end), "{text}");
    let game = &read_all(&text)[0];
    assert_eq!((game.moves.join(" ").as_str(), game.outcome.as_str()), ("e4 e5", "1-0"));
}

#[test]
fn what_is_known_of_the_players_is_told_in_tags_that_readers_know() {
    let white_player = crate::publish::PlayerTags {
        title: Some("WGM".to_owned()),
        elo: Some(2400),
        fide_id: Some(1_000_001),
        federation: Some("NED".to_owned()),
    };
    let tags = Tags { white_player, ..Tags::default() };
    let text = pgn_of(&empty(&GameSetup::default(), tags), AfterSetUp::GoOn);
    assert!(
        text.contains("[WhiteElo \"2400\"]\n[WhiteTitle \"WGM\"]\n[WhiteFideId \"1000001\"]\n"),
        "{text}"
    );
    assert!(!text.contains("BlackTitle"), "{text}");
}
