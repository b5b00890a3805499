//! Dead positions, and whether one side can still give mate: by *any* series of legal moves, the
//! opponent helping.
//!
//! An answer is a proof or no answer. "Possible" comes with the helpmate, move by move; "impossible"
//! rests on a rule about material, on what the men can reach at all, or on every position that can
//! arise having been looked at; whatever does not fit into the budget is unknown.
//! `docs/dead-positions.md` tells how, and why a position is never called dead by mistake.

mod distance;
mod graph;
mod guide;
mod material;
mod packed;
mod pictures;
mod placements;
mod reach;
mod search;
#[cfg(test)]
mod tests;

use std::fmt;

use shakmaty::{Chess, Color, Position as _, uci::UciMove};

use self::{placements::Placed, search::Searched};

/// Work: positions looked at. The same budget gives the same answer on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nodes(pub u32);

impl Nodes {
    /// Takes one; false when there is none left.
    fn take(&mut self) -> bool {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }

    /// Takes at most a `part`-th of what is left out of it.
    fn share(&mut self, part: u32) -> Nodes {
        let share = self.0 / part.max(1);
        self.0 -= share;
        Nodes(share)
    }

    fn give_back(&mut self, rest: Nodes) {
        self.0 = self.0.saturating_add(rest.0);
    }
}

impl Default for Nodes {
    /// Well below 50 ms on one core of a small computer of today.
    fn default() -> Nodes {
        Nodes(50_000)
    }
}

/// Why no mate can come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The side to move has no legal move and is not in check.
    Stalemate,
    /// The game has ended with mate for the other side.
    Checkmate,
    /// Nothing but the king is left.
    BareKing,
    /// A lone knight, and the opponent has nothing but queens: no man that could take a square away
    /// from his king without guarding the mating square.
    LoneKnight,
    /// Bishops on squares of one colour, and on the other squares there is no man that could stand in
    /// his own king's way.
    BishopsOfOneColour,
    /// The men that can move reach no placement that is mate: the pawns are locked.
    Locked,
    /// Every position that can arise was looked at.
    Exhausted,
}

impl Why {
    /// The reason as a record names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Stalemate => "stalemate",
            Why::Checkmate => "checkmate",
            Why::BareKing => "bare-king",
            Why::LoneKnight => "lone-knight",
            Why::BishopsOfOneColour => "bishops-of-one-colour",
            Why::Locked => "locked",
            Why::Exhausted => "exhausted",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whether a side can give mate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatePossibility {
    /// By no series of legal moves.
    Impossible(Why),
    /// By these moves of both sides. None, where it is mate already.
    Possible {
        /// The moves from the position to the mate.
        helpmate: Vec<UciMove>,
    },
    /// Neither was found within the budget.
    Unknown,
}

/// Whether a position is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dead {
    /// Neither side can give mate. Of the two sides' reasons this is the one that took more.
    Dead(Why),
    /// One side can.
    Alive {
        /// The moves from the position to the mate. None, where it is mate already.
        helpmate: Vec<UciMove>,
    },
    /// Neither was found within the budget.
    Unknown,
}

/// Whether `side` can give mate by any series of legal moves, the other side helping.
///
/// The rules that end a game without a move (fifty and seventy-five moves, repetition) do not count as
/// a limit to the series, neither for "possible" nor for "impossible".
pub fn can_mate(position: &Chess, side: Color, budget: Nodes) -> MatePossibility {
    can_mate_within(position, side, &mut { budget })
}

/// [`can_mate`], taking its work out of `left`.
pub fn can_mate_within(position: &Chess, side: Color, left: &mut Nodes) -> MatePossibility {
    if let Some(ended) = ended(position, side) {
        return ended;
    }
    if let Some(why) = material::cannot_mate(position.board(), side) {
        return MatePossibility::Impossible(why);
    }
    let placed = placements::look(position, side, left);
    if placed == Placed::NoMate {
        return MatePossibility::Impossible(Why::Locked);
    }
    match search::helpmate(position, side, placed == Placed::Perhaps, left) {
        Searched::Mate(moves) => {
            let mode = position.castles().mode();
            MatePossibility::Possible { helpmate: moves.into_iter().map(|m| m.to_uci(mode)).collect() }
        }
        Searched::Closed => MatePossibility::Impossible(Why::Exhausted),
        Searched::OutOfBudget => MatePossibility::Unknown,
    }
}

/// Whether neither side can give mate by any series of legal moves.
///
/// A stalemate is dead. A checkmate is not: the helpmate is empty.
pub fn dead_position(position: &Chess, budget: Nodes) -> Dead {
    dead_position_within(position, &mut { budget })
}

/// [`dead_position`], taking its work out of `left`.
pub fn dead_position_within(position: &Chess, left: &mut Nodes) -> Dead {
    let strong = material::stronger(position.board());
    let mut first = left.share(2);
    let stronger = can_mate_within(position, strong, &mut first);
    left.give_back(first);
    if let MatePossibility::Possible { helpmate } = stronger {
        return Dead::Alive { helpmate };
    }
    match (stronger, can_mate_within(position, !strong, left)) {
        (_, MatePossibility::Possible { helpmate }) => Dead::Alive { helpmate },
        (MatePossibility::Impossible(one), MatePossibility::Impossible(other)) => Dead::Dead(one.max(other)),
        _ => Dead::Unknown,
    }
}

/// What there is to say where the side to move has no legal move.
fn ended(position: &Chess, side: Color) -> Option<MatePossibility> {
    position.legal_moves().is_empty().then(|| match (position.is_check(), position.turn() == side) {
        (false, _) => MatePossibility::Impossible(Why::Stalemate),
        (true, true) => MatePossibility::Impossible(Why::Checkmate),
        (true, false) => MatePossibility::Possible { helpmate: Vec::new() },
    })
}
