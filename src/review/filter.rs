//! What of the time line is asked for.

use std::ops::RangeInclusive;

use shakmaty::Square;

use super::row::{Kind, Row};
use crate::session::time::MonoTime;

/// Which rows to show. Everything that is given has to fit; an empty list asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Earliest time.
    pub from: Option<MonoTime>,
    /// Latest time.
    pub to: Option<MonoTime>,
    /// Half-moves, counted from 1 at the first event.
    pub plies: Option<RangeInclusive<usize>>,
    /// Squares of which one has to be concerned.
    pub squares: Vec<Square>,
    /// Kinds. Without any, details such as the readings of single squares are left out.
    pub kinds: Vec<Kind>,
}

impl Filter {
    /// True when the row is asked for.
    pub fn shows(&self, row: &Row) -> bool {
        let kind = if self.kinds.is_empty() {
            !row.kind.is_detail()
        } else {
            self.kinds.iter().any(|kind| row.kind == *kind || row.also == Some(*kind))
        };
        kind && self.covers(row) && (self.squares.is_empty() || self.concerns(row))
    }

    /// True when the row is within the times and the moves that are asked for.
    fn covers(&self, row: &Row) -> bool {
        self.from.is_none_or(|from| row.at >= from)
            && self.to.is_none_or(|to| row.at <= to)
            && self.plies.as_ref().is_none_or(|plies| plies.contains(&row.ply))
    }

    fn concerns(&self, row: &Row) -> bool {
        row.squares.iter().any(|square| self.squares.contains(square))
    }

    /// The rows of lifts from one square within the times and moves that are asked for.
    pub fn lifts<'a>(&'a self, rows: &'a [Row], square: Square) -> impl Iterator<Item = &'a Row> {
        let lifted =
            move |row: &&Row| matches!(row.kind, Kind::Touch | Kind::Adjust) && row.squares.contains(&square);
        rows.iter().filter(lifted).filter(|row| self.covers(row))
    }
}
