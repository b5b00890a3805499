//! Rows of facts as they are recorded.

use serde_json::{Map, Value, json};
use shakmaty::{Color, File, Rank, Square};

use super::{
    events::plain,
    law,
    row::Kind,
    timeline::{Lift, Timeline},
    words,
};
use crate::{journal::record::RecordedFact, session::time::MonoTime};

/// The members of a fact with the conversions that are needed.
pub(super) struct Fields<'a>(pub(super) &'a Map<String, Value>);

impl Fields<'_> {
    pub(super) fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.0.get(key).and_then(Value::as_u64)
    }

    fn ply(&self) -> Option<usize> {
        self.number("ply").and_then(|ply| usize::try_from(ply).ok())
    }

    fn by(&self) -> Option<Color> {
        let side = words::parse_side(self.text("by"));
        side.or_else(|| words::parse_side(self.text("side")))
            .or_else(|| words::parse_side(self.text("color")))
    }

    /// `White`, `Black`, or `somebody`.
    pub(super) fn side(&self, key: &str) -> &'static str {
        words::parse_side(self.text(key)).map_or("somebody", words::side)
    }

    pub(super) fn is(&self, key: &str) -> bool {
        self.0.get(key).and_then(Value::as_bool) == Some(true)
    }

    pub(super) fn square(&self) -> Option<Square> {
        self.text("square").parse().ok()
    }

    pub(super) fn list(&self, key: &str) -> Vec<String> {
        let items = self.0.get(key).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

impl Timeline {
    /// A fact, with UTC at its time where it is known.
    pub fn fact(&mut self, fact: &RecordedFact, wall_us: Option<u64>) {
        let fields = Fields(&fact.fields);
        let at = fact.at;
        match fact.name() {
            "touch" => self.touch(at, wall_us, &fields),
            "put_back" | "adjust" => self.put_back(at, wall_us, &fields),
            "move_made" => self.made(at, wall_us, &fields),
            "move_completed" => self.completed(at, wall_us, &fields),
            "move_published" => {
                let ply = fields.ply().unwrap_or_default();
                let text = format!("{} was shown to the public", self.named(ply, fields.text("uci")));
                self.push(at, wall_us, Kind::Published, text).ply = ply;
            }
            "move_withdrawn" => self.withdrawn(at, wall_us, &fields),
            "move_revised" => self.revised(at, wall_us, &fields),
            "illegal_move" => self.illegal(at, wall_us, &fields),
            "ambiguous" => {
                let candidates = fields.list("candidates");
                let text = match candidates.as_slice() {
                    [one] => format!("not all of it was seen; {one} fits"),
                    several => format!("several moves fit: {}", several.join(", ")),
                };
                let row = self.push(at, wall_us, Kind::Ambiguous, text);
                row.details.insert("candidates".to_owned(), json!(candidates));
            }
            "two_ply" => {
                let text = "two plies were found at once".to_owned();
                let pairs = fields.0.get("candidates").cloned().unwrap_or_default();
                let row = self.push(at, wall_us, Kind::Ambiguous, text);
                row.details.insert("candidates".to_owned(), pairs);
            }
            "orientation" => {
                let text = match fields.text("value") {
                    "flipped" => "the board lies the other way round; squares are turned".to_owned(),
                    "normal" => "the board lies as it is numbered".to_owned(),
                    side => format!("the board lies on its side: White's men stand on its {side}"),
                };
                self.push(at, wall_us, Kind::Note, text);
            }
            "game_end" => {
                let (result, reason) = (fields.text("result"), fields.text("reason"));
                let text = format!("the game ended {result} ({reason}, {})", fields.text("certainty"));
                let row = self.push(at, wall_us, Kind::Result, text);
                row.details.insert("result".to_owned(), json!(result));
                row.details.insert("reason".to_owned(), json!(reason));
            }
            "result_withdrawn" => {
                self.push(at, wall_us, Kind::Result, "the result was taken back at the board".to_owned());
            }
            "ply_clock" | "ply_time" => self.last = self.last.max(at),
            // A reading; what the Laws layer works out has a name.
            "clock" if fields.text("calc").is_empty() => self.last = self.last.max(at),
            name => {
                let said = law::said(name, &fields);
                if name == "arbiter_entry" {
                    // The entry says what the input said, and more.
                    self.rows.pop_if(|row| row.kind == Kind::Arbiter && row.at == at && row.is_input());
                }
                let row = self.push(at, wall_us, said.kind, said.text);
                row.by = fields.by();
                row.squares = said.squares;
                for key in ["code", "to", "rule", "command", "accepted"] {
                    if let Some(value) = fields.0.get(key) {
                        row.details.insert(key.to_owned(), value.clone());
                    }
                }
            }
        }
    }

    fn touch(&mut self, at: MonoTime, wall_us: Option<u64>, fields: &Fields<'_>) {
        let Some(square) = fields.square() else { return };
        let by = fields.by();
        let letter = fields.text("piece").chars().next().unwrap_or('?');
        let owner = words::owner(letter);
        let text = match (by, owner) {
            (Some(by), Some(owner)) if by != owner => {
                format!("{} was lifted in {}'s turn", words::man_of(letter, square), words::side(by))
            }
            (Some(by), Some(_)) => {
                format!("{} lifted the {} on {square}", words::side(by), words::man(letter))
            }
            _ => format!("{} was lifted", words::man_of(letter, square)),
        };
        if let Some(index) = self.open.iter().position(|lift| lift.square == square) {
            let earlier = self.open.remove(index);
            self.no_return(earlier);
        }
        self.open.push(Lift { row: self.rows.len(), square, owner });
        let row = self.push(at, wall_us, Kind::Touch, text);
        row.by = by;
        row.squares = vec![square];
        row.details.insert("man".to_owned(), json!(letter));
    }

    fn put_back(&mut self, at: MonoTime, wall_us: Option<u64>, fields: &Fields<'_>) {
        let Some(square) = fields.square() else { return };
        let us = fields.number("lifted_ms").unwrap_or_default().saturating_mul(1000);
        self.last = self.last.max(at);
        let lifted = self.open.iter().position(|lift| lift.square == square);
        let lifted = lifted.map(|index| self.open.remove(index).row);
        let announced = fields.text("fact") == "adjust";
        let adjusted = if announced { ", adjusted as announced" } else { "" };
        let row = match lifted.and_then(|index| self.rows.get_mut(index)) {
            Some(row) => {
                row.also = Some(Kind::Adjust);
                row.text += &format!("{adjusted}, put back after {}", words::duration(us));
                row
            }
            None => {
                let off = words::duration(us);
                let text = format!("the man on {square} was off its square for {off}{adjusted}");
                let row = self.push(at, wall_us, Kind::Adjust, text);
                row.squares = vec![square];
                row
            }
        };
        let outcome = if announced { "adjusted" } else { "put-back" };
        row.details.insert("outcome".to_owned(), json!(outcome));
        row.details.insert("put_back_us".to_owned(), json!(at.as_micros()));
        row.details.insert("lifted_ms".to_owned(), json!(us / 1000));
    }

    fn made(&mut self, at: MonoTime, wall_us: Option<u64>, fields: &Fields<'_>) {
        let ply = fields.ply().unwrap_or_else(|| self.under_way());
        let (uci, san) = (fields.text("uci"), fields.text("san"));
        let time = |key: &str| fields.number(key).map_or(at, MonoTime::from_micros);
        let (placed, latest) = (time("placed_us"), time("latest_us"));
        let name = self.numbers.with_san(ply, san);
        let touched = squares_of(uci, san, self.chess960);
        self.settle_lifts(ply, uci, &touched, &name);
        self.moves.truncate(ply.saturating_sub(1));
        self.moves.push(san.to_owned());
        let who = fields.by().map_or("somebody", words::side);
        let bracket = match latest.since(placed) {
            0 => "made at once".to_owned(),
            us => format!("made within {}", words::duration(us)),
        };
        self.last = self.last.max(at);
        let utc =
            wall_us.map(|wall_us| wall_us.saturating_sub(at.since(placed)).saturating_add(placed.since(at)));
        let row = self.push(placed, utc, Kind::Made, format!("{who} placed {name} ({uci}), {bracket}"));
        row.by = fields.by();
        row.ply = ply;
        row.squares = touched;
        for key in ["uci", "san", "placed_us", "latest_us"] {
            if let Some(value) = fields.0.get(key) {
                row.details.insert(key.to_owned(), value.clone());
            }
        }
    }

    /// Says of the open lifts what became of their men when a move was made: the mover's own were
    /// moved, the opponent's taken. A man that is no part of the move may still be in the air.
    fn settle_lifts(&mut self, ply: usize, uci: &str, touched: &[Square], name: &str) {
        let mover = self.numbers.side(ply);
        let (settled, open): (Vec<Lift>, Vec<Lift>) =
            std::mem::take(&mut self.open).into_iter().partition(|lift| touched.contains(&lift.square));
        self.open = open;
        for lift in settled {
            let Some(row) = self.rows.get_mut(lift.row) else { continue };
            let outcome = if lift.owner.is_none_or(|owner| owner == mover) { "moved" } else { "taken" };
            row.ply = ply;
            row.text += &format!(", {outcome}: {name}");
            row.details.insert("outcome".to_owned(), json!(outcome));
            row.details.insert("uci".to_owned(), json!(uci));
        }
    }

    pub(super) fn no_return(&mut self, lift: Lift) {
        if let Some(row) = self.rows.get_mut(lift.row) {
            row.text += ", no return seen";
            row.details.insert("outcome".to_owned(), json!("unknown"));
        }
    }

    fn completed(&mut self, at: MonoTime, wall_us: Option<u64>, fields: &Fields<'_>) {
        let ply = fields.ply().unwrap_or_default();
        let how = fields.text("how").to_owned();
        let name = self.named(ply, fields.text("uci"));
        let by = fields.by();
        let pressed = self
            .rows
            .iter()
            .rposition(|row| how == "press" && row.kind == Kind::Press && row.at == at && row.by == by);
        let text = match (how.as_str(), by) {
            ("press", Some(by)) => format!("{} pressed the clock: {name} completed", words::side(by)),
            ("game-end", _) => format!("{name} completed: it ended the game"),
            ("next-move", _) => format!("{name} completed by the player's next move, without a press"),
            _ => format!("{name} completed ({how})"),
        };
        let clock_ms = fields.number("clock_ms");
        let text = match clock_ms {
            Some(ms) => format!("{text}, {} left", words::clock(ms)),
            None => text,
        };
        let row = match pressed {
            Some(index) => &mut self.rows[index],
            None => self.push(at, wall_us, Kind::Completed, String::new()),
        };
        row.also = (how == "press").then_some(Kind::Press);
        row.kind = Kind::Completed;
        row.by = by;
        row.ply = ply;
        row.text = text;
        row.details.insert("how".to_owned(), json!(how));
        row.details.insert("uci".to_owned(), json!(fields.text("uci")));
        if let Some(ms) = clock_ms {
            row.details.insert("clock_ms".to_owned(), json!(ms));
        }
    }

    fn withdrawn(&mut self, at: MonoTime, wall_us: Option<u64>, fields: &Fields<'_>) {
        let ply = fields.ply().unwrap_or_default();
        let uci = fields.text("uci");
        let published = fields.0.get("published").and_then(Value::as_bool) == Some(true);
        let shown = if published { ", after it had been shown to the public" } else { "" };
        let text = format!("{} ({uci}) was taken back before its completion{shown}", self.named(ply, uci));
        self.moves.truncate(ply.saturating_sub(1));
        let row = self.push(at, wall_us, Kind::Withdrawn, text);
        row.ply = ply;
        row.squares = squares_of(uci, "", false);
        row.details.insert("uci".to_owned(), json!(uci));
    }

    fn revised(&mut self, at: MonoTime, wall_us: Option<u64>, fields: &Fields<'_>) {
        let ply = fields.ply().unwrap_or_default();
        let (was, uci, san) = (fields.text("was"), fields.text("uci"), fields.text("san"));
        let now = self.numbers.with_san(ply, san);
        let text = format!(
            "{} ({was}) is corrected to {now} ({uci}): {}",
            self.named(ply, was),
            fields.text("reason")
        );
        if let Some(standing) = ply.checked_sub(1).and_then(|index| self.moves.get_mut(index)) {
            san.clone_into(standing);
        }
        let squares = squares_of(uci, san, self.chess960);
        self.settle_lifts(ply, uci, &squares, &now);
        let row = self.push(at, wall_us, Kind::Revised, text);
        row.ply = ply;
        row.squares = squares;
        row.squares.extend(squares_of(was, "", false));
        row.details.insert("was".to_owned(), json!(was));
        row.details.insert("uci".to_owned(), json!(uci));
    }

    fn illegal(&mut self, at: MonoTime, wall_us: Option<u64>, fields: &Fields<'_>) {
        let by = fields.by();
        let uci = fields.text("attempt");
        let who = by.map_or("somebody", words::side);
        let squares = squares_of(uci, "", false);
        let looks = if squares.is_empty() { String::new() } else { format!(", it looks like {uci}") };
        let what = match fields.text("kind") {
            "press-without-move" => "pressed without a move".to_owned(),
            _ => format!("pressed over a position that no legal move explains{looks}"),
        };
        let number = fields.number("n").unwrap_or_default();
        let text = format!("{who} {what} ({}, number {number} of {who})", fields.text("kind"));
        let ply = by.map_or_else(|| self.under_way(), |by| self.pressed_ply(by));
        let row = self.push(at, wall_us, Kind::Illegal, text);
        row.by = by;
        row.ply = ply;
        row.squares = squares;
        row.details.insert("code".to_owned(), json!(fields.text("kind")));
    }
}

/// The squares that a move concerns: its two, the rook's two of a castling, that of a pawn that is
/// taken in passing.
fn squares_of(uci: &str, san: &str, chess960: bool) -> Vec<Square> {
    let square = |from: usize| uci.get(from..from + 2).and_then(|text| text.parse::<Square>().ok());
    let (Some(from), Some(to)) = (square(0), square(2)) else { return Vec::new() };
    let mut list = vec![from, to];
    if san.starts_with("O-O") {
        let (king, rook) = if san.starts_with("O-O-O") { (File::C, File::D) } else { (File::G, File::F) };
        let at = |file| Square::from_coords(file, from.rank());
        // In UCI `to` is the king's goal in standard chess and the rook's square in Chess960.
        list.push(match (chess960, king) {
            (true, king) => at(king),
            (false, File::C) => at(File::A),
            (false, _) => at(File::H),
        });
        list.push(at(rook));
    } else if san.starts_with(|c: char| c.is_ascii_lowercase())
        && san.contains('x')
        && matches!((from.rank(), to.rank()), (Rank::Fifth, Rank::Sixth) | (Rank::Fourth, Rank::Third))
    {
        list.push(Square::from_coords(to.file(), from.rank()));
    }
    list
}

/// One fact in words, without what came before it; nothing for readings of the clock.
pub fn say(fact: &Map<String, Value>) -> Option<String> {
    let fields = Fields(fact);
    let who = || fields.by().map_or("somebody", words::side);
    let move_of = || format!("{} ({})", fields.text("san"), fields.text("uci"));
    Some(match fields.text("fact") {
        "touch" => {
            let letter = fields.text("piece").chars().next().unwrap_or('?');
            format!("{} lifted in {}'s turn", words::man_of(letter, fields.square()?), who())
        }
        "put_back" => format!("the man on {} was put back", fields.text("square")),
        "adjust" => format!("the man on {} was adjusted as announced", fields.text("square")),
        "move_made" => format!("{} made {}", who(), move_of()),
        "move_published" => format!("{} was shown to the public", fields.text("uci")),
        "move_completed" => format!("{} completed ({})", fields.text("uci"), fields.text("how")),
        "move_withdrawn" => format!("{} was taken back", fields.text("uci")),
        "move_revised" => format!("{} is corrected to {}", fields.text("was"), move_of()),
        "illegal_move" => {
            format!("{} pressed over a position that no legal move explains ({})", who(), fields.text("kind"))
        }
        "ambiguous" => format!("several moves fit: {}", fields.list("candidates").join(", ")),
        "game_end" => format!("the game ended {} ({})", fields.text("result"), fields.text("reason")),
        "result_withdrawn" => "the result was taken back".to_owned(),
        "ply_clock" | "ply_time" | "orientation" | "two_ply" => return None,
        "clock" if fields.text("calc").is_empty() => return None,
        name => law::said(name, &fields).text,
    })
}

pub(super) fn members(fields: &Map<String, Value>) -> String {
    let listed = fields.iter().filter(|(key, _)| !matches!(key.as_str(), "us" | "ev" | "fact"));
    listed.map(|(key, value)| format!("{key} {}", plain(value))).collect::<Vec<_>>().join(", ")
}
