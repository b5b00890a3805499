//! Builds the rows: facts as they are recorded, and the inputs that no fact repeats (presses, links,
//! the arbiter's commands).

use serde_json::Map;
use shakmaty::{Color, Square};

use super::row::{Kind, MoveNumbers, Row};
use crate::{
    journal::record::{Cut, Resume},
    session::{
        setup::{GameSetup, SetupError},
        time::MonoTime,
    },
};

/// Collects the rows of one game. Feed it in the order of the log.
#[derive(Clone, Debug)]
pub struct Timeline {
    pub(super) numbers: MoveNumbers,
    pub(super) chess960: bool,
    pub(super) rows: Vec<Row>,
    /// Lifts of which neither a return nor a move is known yet.
    pub(super) open: Vec<Lift>,
    /// The moves that stand, by ply.
    pub(super) moves: Vec<String>,
    pub(super) last: MonoTime,
}

/// A lift and its row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lift {
    pub(super) row: usize,
    pub(super) square: Square,
    pub(super) owner: Option<Color>,
}

impl Timeline {
    /// A time line before the first record.
    pub fn new(setup: &GameSetup) -> Result<Timeline, SetupError> {
        Ok(Timeline {
            numbers: MoveNumbers::new(setup)?,
            chess960: setup.is_chess960(),
            rows: Vec::new(),
            open: Vec::new(),
            moves: Vec::new(),
            last: MonoTime::ZERO,
        })
    }

    /// The numbers of the moves.
    pub fn numbers(&self) -> MoveNumbers {
        self.numbers
    }

    /// All rows in the order of their times, and the latest time that was seen.
    pub fn finish(mut self) -> (Vec<Row>, MonoTime) {
        for lift in std::mem::take(&mut self.open) {
            self.no_return(lift);
        }
        self.rows.sort_by_key(|row| row.at);
        (self.rows, self.last)
    }

    /// The half-move that is under way: the one behind the last made one.
    pub(super) fn under_way(&self) -> usize {
        self.moves.len() + 1
    }

    pub(super) fn push(&mut self, at: MonoTime, wall_us: Option<u64>, kind: Kind, text: String) -> &mut Row {
        self.last = self.last.max(at);
        let ply = self.under_way();
        let index = self.rows.len();
        self.rows.push(Row {
            at,
            wall_us,
            kind,
            also: None,
            by: None,
            ply,
            squares: Vec::new(),
            text,
            details: Map::new(),
        });
        &mut self.rows[index]
    }

    /// `12. Nf3` of a ply that stands.
    pub(super) fn named(&self, ply: usize, otherwise: &str) -> String {
        let san =
            ply.checked_sub(1).and_then(|index| self.moves.get(index)).map_or(otherwise, String::as_str);
        self.numbers.with_san(ply, san)
    }

    /// The daemon goes on after it was gone.
    pub fn resume(&mut self, at: MonoTime, wall_us: Option<u64>, resume: &Resume) {
        let boot = if resume.offset_us > 0 { ", the machine was started again" } else { "" };
        self.push(at, wall_us, Kind::Link, format!("{} goes on with this journal{boot}", resume.program));
    }

    /// A torn line was cut off.
    pub fn cut(&mut self, at: MonoTime, wall_us: Option<u64>, cut: &Cut) {
        let text = format!("an incomplete last line of {} bytes was cut off the journal", cut.bytes);
        self.push(at, wall_us, Kind::Note, text);
    }

    /// A remark of the daemon.
    pub fn note(&mut self, at: MonoTime, wall_us: Option<u64>, text: &str) {
        self.push(at, wall_us, Kind::Note, text.to_owned());
    }
}
