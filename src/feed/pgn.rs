//! The published game as PGN. Pure.
//!
//! Export format of the PGN standard: the Seven Tag Roster first, lines shorter than 80 columns, one
//! blank line after the tags. The time left after a completed ply is `{[%clk h:mm:ss]}`. What is
//! not known is `?`, as the standard asks. The standard has no result for a game that both players lost:
//! it is `*`, with a tag `Termination` and a comment.

use std::fmt::Write as _;

use crate::{publish::BoardState, session::setup::INITIAL_FEN};

/// The result of a game that both players lost.
const BOTH_LOST: &str = "0-0";
/// Columns that a line of the movetext fills at most; the standard asks for fewer than 80.
const WIDTH: usize = 79;

/// The PGN of the published game, `history` included, with `[%clk]` where times are known.
pub fn pgn_of(state: &BoardState) -> String {
    let mut text = String::with_capacity(512 + 32 * state.plies.len());
    write_tags(&mut text, state);
    text.push('\n');
    write_movetext(&mut text, state);
    text
}

/// The PGN of several games: one blank line between two of them, in the given order.
pub fn pgn_of_all<'a>(states: impl IntoIterator<Item = &'a BoardState>) -> String {
    states.into_iter().map(pgn_of).collect::<Vec<_>>().join("\n")
}

fn write_tags(text: &mut String, state: &BoardState) {
    let tags = &state.tags;
    let round = round_of(tags.round.as_deref(), tags.board.as_deref());
    tag(text, "Event", tags.event.as_deref().unwrap_or("?"));
    tag(text, "Site", tags.site.as_deref().unwrap_or("?"));
    tag(text, "Date", tags.date.as_deref().unwrap_or("????.??.??"));
    tag(text, "Round", &round);
    tag(text, "White", tags.white.as_deref().unwrap_or("?"));
    tag(text, "Black", tags.black.as_deref().unwrap_or("?"));
    tag(text, "Result", result_of(state));
    if let Some(board) = &tags.board {
        tag(text, "Board", board);
    }
    if state.chess960 || state.start_fen != INITIAL_FEN {
        tag(text, "FEN", &state.start_fen);
        tag(text, "SetUp", "1");
    }
    if let Some(control) = &tags.time_control {
        tag(text, "TimeControl", control);
    }
    write_clocks(text, state);
    if state.chess960 {
        tag(text, "Variant", "Chess960");
    }
    if let Some(termination) = state.termination {
        tag(text, "Termination", termination);
    }
}

/// The times of both sides, and the one that runs, as programs that follow a game look for them. They are
/// those of the last press, or where the clock stands those that it shows: a poll that finds nothing new on
/// the board finds the same text.
fn write_clocks(text: &mut String, state: &BoardState) {
    let Some(clock) = &state.clock else { return };
    let stands = clock.running.is_none();
    let at_press = |side: &str| {
        let first = state.start_fen.split(' ').nth(1) == Some("b");
        let parity = usize::from((side == "black") != first);
        let plies = state.plies.iter().enumerate().filter(|(index, _)| index % 2 == parity);
        plies.filter_map(|(_, ply)| ply.clock_ms).next_back()
    };
    let sides = [("white", "WhiteClock", clock.white_ms, 'W'), ("black", "BlackClock", clock.black_ms, 'B')];
    for (side, name, shown, _) in sides {
        if let Some(ms) = if stands { shown } else { at_press(side) } {
            tag(text, name, &clk(ms));
        }
    }
    let running = sides.into_iter().find(|(side, ..)| clock.running == Some(*side));
    if let Some((ms, letter)) = running.and_then(|(side, _, _, letter)| Some((at_press(side)?, letter))) {
        tag(text, "Clock", &format!("{letter}/{}", clk(ms)));
    }
}

/// The result in the tokens of the standard.
fn result_of(state: &BoardState) -> &'static str {
    if state.result == BOTH_LOST { "*" } else { state.result }
}

/// `round.board` where both are known, because readers of broadcasts look for the board there.
fn round_of(round: Option<&str>, board: Option<&str>) -> String {
    match (round, board) {
        (Some(round), Some(board)) if !round.contains('.') => format!("{round}.{board}"),
        (Some(round), _) => round.to_owned(),
        (None, _) => "?".to_owned(),
    }
}

/// One tag line: quotes and backslashes are escaped, control characters become blanks.
fn tag(text: &mut String, name: &str, value: &str) {
    let _ = write!(text, "[{name} \"");
    for c in value.chars() {
        match c {
            '"' | '\\' => {
                text.push('\\');
                text.push(c);
            }
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text.push_str("\"]\n");
}

/// Movetext and result, wrapped between tokens.
struct Line<'t> {
    text: &'t mut String,
    column: usize,
}

impl Line<'_> {
    fn token(&mut self, token: &str) {
        let length = token.chars().count();
        if self.column > 0 && self.column + 1 + length > WIDTH {
            self.text.push('\n');
            self.column = 0;
        }
        if self.column > 0 {
            self.text.push(' ');
            self.column += 1;
        }
        self.text.push_str(token);
        self.column += length;
    }
}

fn write_movetext(text: &mut String, state: &BoardState) {
    let mut line = Line { text, column: 0 };
    for part in state.earlier.iter() {
        line.comment("Before this position was set up:", &part.start_fen, &part.san);
    }
    let mut numbers = Numbers::of(&state.start_fen);
    for ply in state.plies.iter() {
        if let Some(number) = numbers.next() {
            line.token(&number);
        }
        line.token(&ply.san);
        let left = ply.clock_ms.map(|ms| format!("[%clk {}]", clk(ms)));
        let took = ply.elapsed_ms.map(|ms| format!("[%emt {}]", clk(ms)));
        let times: Vec<String> = left.into_iter().chain(took).collect();
        if !times.is_empty() {
            line.token(&format!("{{{}}}", times.join(" ")));
            numbers.needed = true;
        }
    }
    if state.result == BOTH_LOST {
        for word in "{Both players lost (0-0)}".split(' ') {
            line.token(word);
        }
    }
    line.token(result_of(state));
    line.text.push('\n');
}

/// The numbers of the moves from a position on.
struct Numbers {
    first: usize,
    half: usize,
    /// Black's move needs its number: it is the first one, or follows a comment.
    needed: bool,
}

impl Numbers {
    fn of(start_fen: &str) -> Numbers {
        let mut fields = start_fen.split(' ');
        let black_first = fields.nth(1) == Some("b");
        let first = fields.nth(3).and_then(|number| number.parse().ok()).unwrap_or(1);
        Numbers { first, half: usize::from(black_first), needed: true }
    }

    /// What stands before the next move, if anything.
    fn next(&mut self) -> Option<String> {
        let number = self.first.saturating_add(self.half / 2);
        let white = self.half.is_multiple_of(2);
        let needed = std::mem::replace(&mut self.needed, false);
        self.half += 1;
        match (white, needed) {
            (true, _) => Some(format!("{number}.")),
            (false, true) => Some(format!("{number}...")),
            (false, false) => None,
        }
    }
}

impl Line<'_> {
    /// Moves of an earlier part of the game.
    fn comment(&mut self, intro: &str, start_fen: &str, moves: &[String]) {
        let mut words: Vec<String> = intro.split(' ').map(str::to_owned).collect();
        let mut numbers = Numbers::of(start_fen);
        for san in moves {
            words.extend(numbers.next());
            words.push(san.clone());
        }
        if let Some(first) = words.first_mut() {
            first.insert(0, '{');
        }
        if let Some(last) = words.last_mut() {
            last.push('}');
        }
        for word in words {
            self.token(&word);
        }
    }
}

/// `h:mm:ss`, whole seconds as a clock shows them.
fn clk(ms: u64) -> String {
    let seconds = ms / 1000;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
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
            pgn_of(&state),
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
        let text = pgn_of(&state);
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
        let text = pgn_of(&state);
        let end = "\n\n{Before this position was set up: 1. e4 e5 2. e1e3} 40... e5 *\n";
        assert!(text.ends_with(end), "{text}");
        assert_eq!(read_all(&text)[0].moves, ["e5"]);
    }

    #[test]
    fn a_game_that_both_lost_has_no_result_that_readers_take_for_castling() {
        let mut state = empty(&GameSetup::default(), Tags::default());
        state.plies = vec![ply("e4", None)].into();
        (state.result, state.termination) = ("0-0", Some("adjudication"));
        let text = pgn_of(&state);
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
            read_all(&pgn_of(state))[0].tags.iter().filter(|tag| clocks(tag)).cloned().collect()
        };
        let tag = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert!(tags(&state).is_empty());
        state.clock = Some(clock(Some("black")));
        state.plies = vec![ply("e4", Some(5_400_000))].into();
        assert_eq!(tags(&state), [tag("WhiteClock", "1:30:00")], "Black has not pressed yet");
        state.plies = vec![ply("e4", Some(5_400_000)), ply("e5", Some(5_399_000)), ply("d4", None)].into();
        let both = [tag("WhiteClock", "1:30:00"), tag("BlackClock", "1:29:59"), tag("Clock", "B/1:29:59")];
        assert_eq!(tags(&state), both);
        state.clock = Some(clock(None));
        assert_eq!(tags(&state), [tag("WhiteClock", "1:23:20"), tag("BlackClock", "1:23:19")]);
        state.start_fen = "4k3/4p3/8/8/8/8/4P3/4K3 b - - 0 40".to_owned();
        state.clock = Some(clock(Some("white")));
        let turned = [tag("WhiteClock", "1:29:59"), tag("BlackClock", "1:30:00"), tag("Clock", "W/1:29:59")];
        assert_eq!(tags(&state), turned);
    }

    #[test]
    fn two_games_are_two_games() {
        let state = empty(&GameSetup::default(), Tags::default());
        let games = read_all(&pgn_of_all([&state, &state]));
        assert_eq!(games.len(), 2);
    }

    #[test]
    fn chess960_says_so_even_from_the_usual_array() {
        let setup = GameSetup { castling: CastlingMode::Chess960, ..GameSetup::default() };
        let text = pgn_of(&empty(&setup, Tags::default()));
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
                let san =
                    SanPlus::from_move_and_play_unchecked(&mut position, moves[index.index(moves.len())]);
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
            let text = pgn_of(&state);
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
        assert!(pgn_of(&empty(&GameSetup::default(), tags)).contains("[Black \"A B\"]\n"));
    }
}
