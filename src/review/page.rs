//! The plain form for a terminal of 80 columns.

use std::fmt::Write as _;

use shakmaty::Square;

use super::{
    filter::Filter,
    row::{MoveNumbers, Row},
    words,
};
use crate::{
    journal::record::{JournalHeader, rfc3339},
    session::{
        setup::{BoardKind, GameSetup},
        time::MonoTime,
    },
};

/// Width of the page in columns.
pub const WIDTH: usize = 80;

/// The head of the page: which game, by which board, and what that board can know.
pub fn head(file: &str, setup: &GameSetup, header: Option<&JournalHeader>, chain: &str) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: &str| {
        out += &wrap(text, &format!("{name:<9}"), 9);
    };
    line("File", file);
    if let Some(header) = header {
        let tag = |tag: &Option<String>| tag.clone().unwrap_or_else(|| "?".to_owned());
        let tags = &header.tags;
        let round = tags.round.as_ref().map_or(String::new(), |round| format!(", round {round}"));
        let event = tags.event.as_ref().map_or(String::new(), |event| format!(", {event}{round}"));
        line("Board", &format!("{} ({}){event}", header.board, setup.board.as_str()));
        line("White", &tag(&tags.white));
        line("Black", &tag(&tags.black));
    } else {
        line("Board", &format!("{}; a sensor log names no players and no UTC", setup.board.as_str()));
    }
    line("Rules", &words::rules(setup));
    line("Record", chain);
    line("Sensor", &words::sensor(setup));
    out
}

/// The rows, with a line for each day that begins. Without UTC in the log its column is left out.
pub fn rows(rows: &[&Row], numbers: MoveNumbers, start: MonoTime) -> String {
    let with_utc = rows.iter().any(|row| row.wall_us.is_some());
    let utc_column = |time: &str| if with_utc { format!("{time:<11}  ") } else { String::new() };
    let mut out = format!("{}{:>10}  {:>4}  what happened\n", utc_column("UTC"), "game", "move");
    let mut day = String::new();
    for row in rows {
        let utc = row.wall_us.map(rfc3339).unwrap_or_default();
        let today = utc.get(..10).unwrap_or_default();
        if day != today {
            today.clone_into(&mut day);
            let _ = writeln!(out, "{today}");
        }
        let time = utc_column(utc.get(11..22).unwrap_or("-"));
        let game = words::game_time(row.at.since(start));
        let margin = format!("{time}{game:>10}  {:>4}  ", numbers.label(row.ply));
        out += &wrap(&row.text, &margin, margin.chars().count());
    }
    out
}

/// The answer to "was the man on this square lifted?", in words.
pub fn answer(filter: &Filter, all: &[Row], square: Square, setup: &GameSetup, start: MonoTime) -> String {
    let lifts: Vec<&Row> = filter.lifts(all, square).collect();
    let count = match lifts.len() {
        0 => {
            let caveat = match setup.board {
                BoardKind::Peg => "",
                _ => " (a touch without a lift leaves no trace)",
            };
            return wrap(&format!("no lift is recorded{caveat}"), &format!("{square}: "), 4);
        }
        1 => "lifted once".to_owned(),
        n => format!("lifted {n} times"),
    };
    let mut out = wrap(&count, &format!("{square}: "), 4);
    for row in lifts {
        out += &wrap(&row.text, &format!("    {:>10}  ", words::game_time(row.at.since(start))), 16);
    }
    out
}

/// Breaks `text` at spaces so that no line is longer than the page; `first` stands in front of the
/// first line and `indent` spaces in front of the others.
fn wrap(text: &str, first: &str, indent: usize) -> String {
    let mut out = first.to_owned();
    let mut column = first.chars().count();
    let mut fresh = true;
    for word in text.split(' ') {
        let length = word.chars().count();
        if !fresh && column + 1 + length > WIDTH {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
            fresh = true;
        }
        if !fresh {
            out.push(' ');
            column += 1;
        }
        // What others wrote into the record must not steer the terminal.
        out.extend(word.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }));
        column += length;
        fresh = false;
    }
    out.push('\n');
    out
}
