//! A game as a list of moves with their times.
//!
//! Such a list begins with a start array and has no place for another position. So where the game goes on from a
//! position that was set up, or an illegal move stands, the list ends there, and where it began with another position
//! there is none; what followed is in the comment, and the result is told as ever.

use shakmaty::{CastlingMode, Position as _};

use crate::{
    notation::chess960::Array,
    publish::{BoardState, EarlierPart, PlyTimes, publisher::position_of},
    session::setup::INITIAL_FEN,
};

/// The number of the classical start array.
const CLASSICAL: u16 = 518;

/// How a game ended, as this format sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// White won over the board.
    White,
    /// Black won over the board.
    Black,
    /// A draw.
    Draw,
    /// White won without a move.
    WhiteByForfeit,
    /// Black won without a move.
    BlackByForfeit,
    /// The game does not count, or both players lost.
    None,
}

/// The list of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Score {
    /// Number of the start array; nothing where the game began with another position.
    pub chess960: Option<u16>,
    /// The moves: the notation, and where times are known a blank and `clk`, `clk+emt` or `+emt`, in seconds.
    pub moves: Vec<String>,
    /// What the list cannot say.
    pub comment: Option<String>,
}

impl Outcome {
    /// The outcome of a game; nothing while it is on.
    pub fn of(state: &BoardState) -> Option<Outcome> {
        let forfeit = state.termination == Some("abandoned") && state.plies.is_empty();
        match (state.result, forfeit) {
            ("1-0", false) => Some(Outcome::White),
            ("1-0", true) => Some(Outcome::WhiteByForfeit),
            ("0-1", false) => Some(Outcome::Black),
            ("0-1", true) => Some(Outcome::BlackByForfeit),
            ("1/2-1/2", _) => Some(Outcome::Draw),
            ("0-0", _) => Some(Outcome::None),
            _ => state.termination.map(|_| Outcome::None),
        }
    }
}

impl Score {
    /// The list of a game: its first so many plies.
    pub fn of(state: &BoardState, plies: usize) -> Score {
        let chess960 = match state.earlier.first() {
            Some(first) => array(&first.start_fen, state.chess960),
            None => array(&state.start_fen, state.chess960),
        };
        let (moves, mut comments) = match (state.earlier.first(), chess960) {
            (Some(first), Some(_)) => {
                let times = first.times.iter().copied().chain(std::iter::repeat(PlyTimes::default()));
                let timed = legal(first).iter().zip(times);
                (timed.map(|(san, times)| suffixed(san, times)).collect(), vec![rest(state, plies)])
            }
            (None, Some(_)) => (present(state, plies), Vec::new()),
            (Some(first), None) => {
                let moves = legal(first).iter().map(String::as_str);
                (Vec::new(), vec![part(&first.start_fen, moves), rest(state, plies)])
            }
            (None, None) => {
                let moves = state.plies.iter().take(plies).map(|ply| ply.san.as_str());
                (Vec::new(), vec![part(&state.start_fen, moves)])
            }
        };
        if state.result == "0-0" {
            comments.push("both players lost (0-0)".to_owned());
        } else if let Some(termination) = state.termination {
            comments.push(termination.to_owned());
        }
        let comment = (!comments.is_empty()).then(|| comments.join("; "));
        Score { chess960, moves, comment }
    }
}

/// The plies of the present part.
fn present(state: &BoardState, plies: usize) -> Vec<String> {
    let timed = |(index, ply): (usize, &crate::publish::PublicPly)| {
        let clock_ms = ply.clock_ms.or_else(|| at_the_end(state, index));
        suffixed(&ply.san, PlyTimes { clock_ms, elapsed_ms: ply.elapsed_ms })
    };
    state.plies.iter().take(plies).enumerate().map(timed).collect()
}

/// The time left after the last move of a game, which needs no press: what the clock of its player shows once it
/// stands.
fn at_the_end(state: &BoardState, index: usize) -> Option<u64> {
    let is_last = index + 1 == state.plies.len() && state.result != "*";
    let clock = state.clock.filter(|clock| is_last && clock.running.is_none())?;
    if state.turn == "white" { clock.black_ms } else { clock.white_ms }
}

/// A move with its times.
fn suffixed(san: &str, times: PlyTimes) -> String {
    match (times.clock_ms, times.elapsed_ms) {
        (Some(clock), Some(elapsed)) => format!("{san} {}+{}", clock / 1000, elapsed / 1000),
        (Some(clock), None) => format!("{san} {}", clock / 1000),
        (None, Some(elapsed)) => format!("{san} +{}", elapsed / 1000),
        (None, None) => san.to_owned(),
    }
}

/// The moves of a part that are legal; they are all but a last one that is no move.
pub fn legal(part: &EarlierPart) -> &[String] {
    match part.san.split_last() {
        Some((last, before)) if is_two_squares(last) => before,
        _ => &part.san,
    }
}

/// The game after its first part, in words: the first so many plies of the present one.
pub fn rest(state: &BoardState, plies: usize) -> String {
    let mut text = String::new();
    let illegal = |san: &[String]| san.last().filter(|san| is_two_squares(san)).cloned();
    for (index, part) in state.earlier.iter().enumerate() {
        if index > 0 {
            text.push_str("; ");
            text.push_str(&self::part(&part.start_fen, part.san.iter().map(String::as_str)));
        } else if let Some(two_squares) = illegal(&part.san) {
            text.push_str(&format!("illegal move {two_squares} stands"));
        } else {
            text.push_str("another position was set up");
        }
    }
    text.push_str("; ");
    text.push_str(&part(&state.start_fen, state.plies.iter().take(plies).map(|ply| ply.san.as_str())));
    text
}

/// A part of a game in words.
fn part<'s>(start_fen: &str, moves: impl Iterator<Item = &'s str>) -> String {
    let moves: Vec<&str> = moves.collect();
    if moves.is_empty() {
        format!("from {start_fen}")
    } else {
        format!("from {start_fen}: {}", moves.join(" "))
    }
}

/// True for a move that has no notation: two squares, as it looked on the board.
fn is_two_squares(san: &str) -> bool {
    let square = |file: u8, rank: u8| (b'a'..=b'h').contains(&file) && (b'1'..=b'8').contains(&rank);
    matches!(san.as_bytes(), [a, b, c, d, ..] if square(*a, *b) && square(*c, *d))
}

/// The number of the array that a game starts with.
fn array(fen: &str, chess960: bool) -> Option<u16> {
    if fen == INITIAL_FEN {
        return Some(CLASSICAL);
    }
    let position = position_of(fen, CastlingMode::from_chess960(chess960))?;
    let array = Array::of_board(position.board()).ok().filter(|_| position.turn().is_white() && chess960)?;
    Some(array.number())
}
