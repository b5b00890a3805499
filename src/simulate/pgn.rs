//! The first game of a PGN text as a game for the simulator: moves, start position, result, time
//! control and the players' times. Variations, comments and glyphs are passed over.

use shakmaty::CastlingMode;

use super::{Game, clock::TimeControl};
use crate::session::{event::GameResult, setup::GameSetup};

/// Time that the simulated hands take for a move of their own, in milliseconds: it is not added to
/// the thinking time that the clock comments of the game give.
const HANDLING_MS: u64 = 2_000;

/// Why a text is no game.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PgnError {
    /// A comment, a variation or a tag pair does not end.
    #[error("line {line}: the {what} that begins here does not end")]
    Open {
        /// The line, counted from 1.
        line: usize,
        /// What does not end.
        what: &'static str,
    },
    /// There are no moves.
    #[error("there is no move in it")]
    Empty,
}

/// Reads the first game. Whether its moves are legal is found when it is simulated.
pub fn parse(text: &str) -> Result<Game, PgnError> {
    let mut reader = Reader { rest: text.trim_start_matches('\u{feff}'), line: 1, game: Read::default() };
    while !reader.game.ended && reader.step()? {}
    reader.game.finish()
}

#[derive(Default)]
struct Read {
    setup: GameSetup,
    moves: Vec<String>,
    /// For every move the time that was left after it, where a comment tells it.
    left_ms: Vec<Option<u64>>,
    result: GameResult,
    ended: bool,
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    game: Read,
}

impl<'a> Reader<'a> {
    /// Takes one part of the text; false at its end.
    fn step(&mut self) -> Result<bool, PgnError> {
        let Some(first) = self.rest.chars().next() else { return Ok(false) };
        match first {
            '[' if self.game.moves.is_empty() => {
                let tag = self.enclosed("\"]", "tag pair")?;
                self.game.tag(tag.trim_start_matches('['));
            }
            // The tag pairs of the next game.
            '[' => self.game.ended = true,
            '{' => {
                let comment = self.enclosed("}", "comment")?;
                self.game.comment(comment);
            }
            ';' | '%' => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(end);
            }
            '(' => self.variation()?,
            c if c.is_whitespace() => {
                self.take(c.len_utf8());
            }
            _ => {
                let stops = |c: char| c.is_whitespace() || "{}();[]".contains(c);
                let end = self.rest.find(stops).unwrap_or(self.rest.len()).max(first.len_utf8());
                let token = self.take(end);
                self.game.token(token);
            }
        }
        Ok(true)
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// Takes everything up to and including `end`, and gives what is before it.
    fn enclosed(&mut self, end: &str, what: &'static str) -> Result<&'a str, PgnError> {
        let length = self.rest.find(end).ok_or(PgnError::Open { line: self.line, what })?;
        let taken = self.take(length + end.len());
        Ok(taken.get(..length).unwrap_or(taken))
    }

    /// Passes over a variation with everything in it.
    fn variation(&mut self) -> Result<(), PgnError> {
        let open = PgnError::Open { line: self.line, what: "variation" };
        let mut depth = 0u32;
        loop {
            match self.rest.chars().next() {
                None => return Err(open),
                Some('{') => {
                    self.enclosed("}", "comment")?;
                    continue;
                }
                Some('(') => depth += 1,
                Some(')') => depth -= 1,
                Some(_) => {}
            }
            let length = self.rest.chars().next().map_or(0, char::len_utf8);
            self.take(length);
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

impl Read {
    /// A tag pair without its brackets and its last quotation mark.
    fn tag(&mut self, text: &str) {
        let Some((name, value)) = text.split_once('"') else { return };
        match name.trim() {
            "FEN" => value.clone_into(&mut self.setup.start_fen),
            "Variant"
                if value.eq_ignore_ascii_case("chess960") || value.eq_ignore_ascii_case("fischerandom") =>
            {
                self.setup.castling = CastlingMode::Chess960;
            }
            "TimeControl" if TimeControl::parse(value).is_some() => {
                value.clone_into(&mut self.setup.time_control);
            }
            "Result" => self.result = GameResult::parse(value).unwrap_or_default(),
            _ => {}
        }
    }

    fn token(&mut self, token: &str) {
        // Some write castling as 0-0; it is no result in a PGN.
        let result = GameResult::parse(token).filter(|result| *result != GameResult::BothLose);
        if let Some(result) = result {
            self.ended = true;
            self.result = result;
            return;
        }
        // "12.", "12..." and "12.e4".
        let number = token.trim_start_matches(|c: char| c.is_ascii_digit());
        let text = if number.starts_with('.') { number.trim_start_matches('.') } else { token };
        let text = text.trim_end_matches(['!', '?']);
        if text.is_empty() || text.starts_with('$') || text.chars().all(|c| c.is_ascii_digit()) {
            return;
        }
        self.moves.push(if text.starts_with("0-0") { text.replace('0', "O") } else { text.to_owned() });
        self.left_ms.push(None);
    }

    fn comment(&mut self, text: &str) {
        let clock = text.split_once("[%clk").and_then(|(_, rest)| milliseconds(rest.split(']').next()?));
        if let (Some(ms), Some(slot)) = (clock, self.left_ms.last_mut()) {
            *slot = Some(ms);
        }
    }

    fn finish(self) -> Result<Game, PgnError> {
        if self.moves.is_empty() {
            return Err(PgnError::Empty);
        }
        let think_ms = self.think_ms().unwrap_or_default();
        Ok(Game { setup: self.setup, moves: self.moves, think_ms, result: self.result })
    }

    /// The thinking times, when the game tells the time control and the time after every move.
    fn think_ms(&self) -> Option<Vec<u64>> {
        let control = TimeControl::parse(&self.setup.time_control)?;
        let left: Vec<u64> = self.left_ms.iter().copied().collect::<Option<_>>()?;
        let think = left.iter().enumerate().map(|(index, after)| {
            let before = match index.checked_sub(2) {
                Some(own) => left.get(own).copied().unwrap_or_default(),
                None => control.start_ms(),
            };
            let used = (before + control.increment_ms()).saturating_sub(*after);
            used.saturating_sub(HANDLING_MS)
        });
        Some(think.collect())
    }
}

/// `h:mm:ss` with or without a fraction, in milliseconds.
fn milliseconds(text: &str) -> Option<u64> {
    let (whole, fraction) = match text.trim().split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (text.trim(), ""),
    };
    let seconds = whole
        .split(':')
        .try_fold(0u64, |sum, part| sum.checked_mul(60)?.checked_add(u64::from(part.parse::<u32>().ok()?)))?;
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    seconds.checked_mul(1000)?.checked_add(digits.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moves_tags_and_result_are_read_and_everything_else_is_passed_over() {
        let game = parse(
            "[Event \"A [strange] one\"]\n[TimeControl \"40/5400+30:1800+30\"]\n[Result \"1-0\"]\n\n\
             1. e4! {best {by test} e5 $1 (1... c5 {with (a comment} 2. Nf3 (2. c3 d5)) 2.Nf3 Nc6 ; rest 1-0\n\
             3. Bc4 Bc5 4. 0-0 Nf6?? 1-0\n\n[Event \"Next\"]\n\n1. d4 *",
        )
        .unwrap();
        assert_eq!(game.moves, ["e4", "e5", "Nf3", "Nc6", "Bc4", "Bc5", "O-O", "Nf6"]);
        assert_eq!(game.setup.time_control, "40/5400+30:1800+30");
        assert_eq!(game.result, GameResult::WhiteWins);
        assert!(game.think_ms.is_empty());
    }

    #[test]
    fn start_position_and_variant_are_taken_over() {
        let fen = "nrkbbrqn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBRQN w KQkq - 0 1";
        let text = format!("[Variant \"Chess960\"]\n[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n1. e4 *");
        let game = parse(&text).unwrap();
        assert!(game.setup.is_chess960());
        assert_eq!(game.setup.start_fen, fen);
    }

    #[test]
    fn clock_comments_become_thinking_times() {
        let text = "[TimeControl \"300+3\"]\n1. e4 {[%clk 0:04:50]} e5 {[%eval 0.1] [%clk 0:05:00.5]} \
                    2. Nf3 {[%clk 0:04:51]} *";
        // 13 s used, then 2.5 s, then 2 s; the hands take 2 s of each.
        assert_eq!(parse(text).unwrap().think_ms, [11_000, 500, 0]);
        let without = text.replace("[%clk 0:04:51]", "");
        assert!(parse(&without).unwrap().think_ms.is_empty());
    }

    #[test]
    fn a_text_that_is_no_game_is_refused_with_its_line() {
        assert_eq!(parse("[Event \"x\"]\n\n*"), Err(PgnError::Empty));
        assert_eq!(parse("1. e4\n{never"), Err(PgnError::Open { line: 2, what: "comment" }));
        assert_eq!(parse("1. e4\n\n(1. d4 (e5)"), Err(PgnError::Open { line: 3, what: "variation" }));
        assert_eq!(parse("[Event x\n"), Err(PgnError::Open { line: 1, what: "tag pair" }));
    }

    proptest! {
        #[test]
        fn any_text_is_a_game_or_an_error(text: String, pieces in "([(){}\\[\\]\";%$.0-9a-h \n*/-]|1-0|e4|\u{e4}){0,60}") {
            let _ = parse(&text);
            let _ = parse(&pieces);
        }
    }
}
