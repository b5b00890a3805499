//! The published game as PGN. Pure.
//!
//! Export format of the PGN standard: the Seven Tag Roster first, lines shorter than 80 columns, one
//! blank line after the tags. The time left after a completed ply is `{[%clk h:mm:ss]}`. What is
//! not known is `?`, as the standard asks. The standard has no result for a game that both players lost:
//! it is `*`, with a tag `Termination` and a comment.

use std::fmt::Write as _;

use crate::{
    publish::{
        BoardState, EarlierPart, PlyTimes,
        tournament::{legal, rest},
    },
    session::setup::INITIAL_FEN,
};

/// The result of a game that both players lost.
const BOTH_LOST: &str = "0-0";
/// Columns that a line of the movetext fills at most; the standard asks for fewer than 80.
const WIDTH: usize = 79;

/// How a game is told that goes on from a position that was set up, or after an illegal move that stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterSetUp {
    /// The game begins with that position; what was played before is a comment.
    #[default]
    GoOn,
    /// The moves end where the legal game ended; what followed is a comment. Readers that know the game already
    /// keep it. The result is told as ever.
    Stop,
}

/// The PGN of the published game, `history` included, with `[%clk]` where times are known.
pub fn pgn_of(state: &BoardState, after: AfterSetUp) -> String {
    let mut text = String::with_capacity(512 + 32 * state.plies.len());
    let first = state.earlier.first().filter(|_| after == AfterSetUp::Stop);
    write_tags(&mut text, state, first.map_or(&state.start_fen, |first| &first.start_fen));
    text.push('\n');
    match first {
        Some(first) => write_first_part(&mut text, state, first),
        None => write_movetext(&mut text, state),
    }
    text
}

/// The PGN of several games: one blank line between two of them, in the given order.
pub fn pgn_of_all<'a>(states: impl IntoIterator<Item = &'a BoardState>, after: AfterSetUp) -> String {
    states.into_iter().map(|state| pgn_of(state, after)).collect::<Vec<_>>().join("\n")
}

fn write_tags(text: &mut String, state: &BoardState, start_fen: &str) {
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
    write_players(text, state);
    if state.chess960 || start_fen != INITIAL_FEN {
        tag(text, "FEN", start_fen);
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

/// Ratings, titles and numbers of the players.
fn write_players(text: &mut String, state: &BoardState) {
    let sides = [("White", &state.tags.white_player), ("Black", &state.tags.black_player)];
    for (side, player) in sides {
        if let Some(elo) = player.elo {
            tag(text, &format!("{side}Elo"), &elo.to_string());
        }
    }
    for (side, player) in sides {
        if let Some(title) = &player.title {
            tag(text, &format!("{side}Title"), title);
        }
    }
    for (side, player) in sides {
        if let Some(id) = player.fide_id {
            tag(text, &format!("{side}FideId"), &id.to_string());
        }
    }
}

/// The times of both sides, and the one that runs, as programs that follow a game look for them. They are
/// those of the last press, or where the clock stands those that it shows: a poll that finds nothing new on
/// the board finds the same text. Readers take the time of a side for that of its last move, so that it is left out
/// while that move waits for its press.
fn write_clocks(text: &mut String, state: &BoardState) {
    let Some(clock) = &state.clock else { return };
    let stands = clock.running.is_none();
    let presses = |side: &str| {
        let first = state.start_fen.split(' ').nth(1) == Some("b");
        let parity = usize::from((side == "black") != first);
        let plies = state.plies.iter().enumerate().filter(move |(index, _)| index % 2 == parity);
        plies.rev().map(|(_, ply)| ply.clock_ms)
    };
    let of_last_move = |side: &str| presses(side).next().flatten();
    let at_press = |side: &str| presses(side).flatten().next();
    let sides = [("white", "WhiteClock", clock.white_ms, 'W'), ("black", "BlackClock", clock.black_ms, 'B')];
    for (side, name, shown, _) in sides {
        if let Some(ms) = if stands { shown } else { of_last_move(side) } {
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
        let times = PlyTimes { clock_ms: ply.clock_ms, elapsed_ms: ply.elapsed_ms };
        line.ply(&mut numbers, &ply.san, times);
    }
    line.end(state);
}

/// The first part of a game that goes on from another position: its legal moves, and what followed in words.
fn write_first_part(text: &mut String, state: &BoardState, first: &EarlierPart) {
    let mut line = Line { text, column: 0 };
    let mut numbers = Numbers::of(&first.start_fen);
    let times = first.times.iter().copied().chain(std::iter::repeat(PlyTimes::default()));
    for (san, times) in legal(first).iter().zip(times) {
        line.ply(&mut numbers, san, times);
    }
    let words = rest(state, state.plies.len());
    for word in format!("{{{words}}}").split(' ') {
        line.token(word);
    }
    line.end(state);
}

impl Line<'_> {
    /// A move with its number and its times.
    fn ply(&mut self, numbers: &mut Numbers, san: &str, times: PlyTimes) {
        if let Some(number) = numbers.next() {
            self.token(&number);
        }
        self.token(san);
        let left = times.clock_ms.map(|ms| format!("[%clk {}]", clk(ms)));
        let took = times.elapsed_ms.map(|ms| format!("[%emt {}]", clk(ms)));
        let times: Vec<String> = left.into_iter().chain(took).collect();
        if !times.is_empty() {
            self.token(&format!("{{{}}}", times.join(" ")));
            numbers.needed = true;
        }
    }

    /// What stands behind the moves.
    fn end(&mut self, state: &BoardState) {
        self.both_lost(state);
        self.token(result_of(state));
        self.text.push('\n');
    }

    fn both_lost(&mut self, state: &BoardState) {
        if state.result == BOTH_LOST {
            for word in "{Both players lost (0-0)}".split(' ') {
                self.token(word);
            }
        }
    }
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
mod tests;
