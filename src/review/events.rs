//! Rows of inputs that no fact repeats: presses, links, the arbiter's commands.

use serde_json::Value;
use shakmaty::Color;

use super::{row::Kind, timeline::Timeline, words};
use crate::session::{
    event::{Event, Stamped, Unit},
    time::MonoTime,
};

impl Timeline {
    /// A decoded event, with UTC where it is known.
    pub fn event(&mut self, stamped: &Stamped, wall_us: Option<u64>) {
        let at = stamped.at;
        let board = if stamped.unit == Unit::B { " (board B)" } else { "" };
        let (kind, by, text) = match &stamped.event {
            Event::Square { square, occupied } => {
                let reads = if *occupied { "occupied" } else { "empty" };
                let row = self.push(at, wall_us, Kind::Square, format!("{square} reads {reads}{board}"));
                row.squares = vec![*square];
                return;
            }
            Event::Piece { square, piece } => {
                let reads = piece.map_or("nothing".to_owned(), |p| p.char().to_string());
                let row = self.push(at, wall_us, Kind::Square, format!("{square} reads {reads}{board}"));
                row.squares = vec![*square];
                return;
            }
            Event::Occupied(occupied) => {
                (Kind::Square, None, format!("full report: {} squares occupied{board}", occupied.count()))
            }
            Event::Pieces(placement) => {
                (Kind::Square, None, format!("full report: {}{board}", placement.board_fen()))
            }
            Event::Press(side) => return self.press(at, wall_us, *side),
            Event::Pause => (Kind::Clock, None, "the clocks were stopped".to_owned()),
            Event::Run(side) => {
                (Kind::Clock, Some(*side), format!("{}'s clock was started", words::side(*side)))
            }
            Event::Flag(side) => {
                (Kind::Clock, Some(*side), format!("the clock shows {}'s flag fallen", words::side(*side)))
            }
            Event::Times(reading) => {
                let time = |ms: Option<u64>| ms.map_or("?".to_owned(), words::clock);
                let text =
                    format!("clock: White {}, Black {}", time(reading.white_ms), time(reading.black_ms));
                (Kind::Device, None, text)
            }
            Event::Button(name) => (Kind::Button, None, format!("button {name}")),
            Event::Announce(text) => (Kind::Button, None, format!("announced: {text}")),
            Event::Intended(uci) => (Kind::Button, None, format!("written move of a claim: {uci}")),
            Event::Expect(uci) => (Kind::Button, None, format!("the board has to show {uci} next")),
            Event::Arbiter(command) => {
                let text = format!("the arbiter: {}", plain(command));
                let row = self.push(at, wall_us, Kind::Arbiter, text);
                row.details.insert("input".to_owned(), command.clone());
                return;
            }
            Event::Result(result) => (Kind::Result, None, format!("result entered: {}", result.as_str())),
            Event::Link(up) => {
                let text =
                    if *up { "the link to the board is up again" } else { "the link to the board is lost" };
                (Kind::Link, None, format!("{text}{board}"))
            }
            Event::Power(on) => {
                let text = if *on { "recording goes on" } else { "recording stopped: power or program gone" };
                (Kind::Link, None, text.to_owned())
            }
            // The daemon notes that time passes.
            Event::Device(status) if status.get("daemon").is_some_and(|word| word == "clock") => {
                self.last = self.last.max(at);
                return;
            }
            Event::Device(status) => (Kind::Device, None, format!("device: {}{board}", plain(status))),
            Event::Wall(anchor) => (Kind::Device, None, format!("wall clock: {}", plain(anchor))),
            Event::Tick => {
                self.last = self.last.max(at);
                return;
            }
        };
        self.push(at, wall_us, kind, text).by = by;
    }

    /// The half-move that a press of `side` belongs to: the one that this side has just made, or the
    /// one that is under way.
    pub(super) fn pressed_ply(&self, side: Color) -> usize {
        let made = self.moves.len();
        if made > 0 && self.numbers.side(made) == side { made } else { self.under_way() }
    }

    fn press(&mut self, at: MonoTime, wall_us: Option<u64>, side: Color) {
        let ply = self.pressed_ply(side);
        let row = self.push(at, wall_us, Kind::Press, format!("{} pressed the clock", words::side(side)));
        row.by = Some(side);
        row.ply = ply;
    }
}

/// A JSON value for a reader: texts without their quotes.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
