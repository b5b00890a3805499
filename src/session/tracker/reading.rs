//! One reading of the board: a game that would explain what the sensors showed, and what it costs.

use shakmaty::{Bitboard, Board, Color, Position as _, Role};

use super::{
    cost::{self, Cost},
    tree::{Node, NodeId},
};
use crate::session::time::MonoTime;

/// What the board shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observed {
    /// The occupied squares.
    pub occupied: Bitboard,
    /// The men on them, where the board tells.
    pub men: Option<Board>,
}

impl Observed {
    /// Occupied squares on which the board reads another man than `board` has there.
    pub(crate) fn wrong_men(&self, board: &Board) -> Bitboard {
        let Some(men) = &self.men else { return Bitboard::EMPTY };
        let color = (men.white() & board.white()) | (men.black() & board.black());
        let role = Role::ALL
            .into_iter()
            .fold(Bitboard::EMPTY, |sum, role| sum | (men.by_role(role) & board.by_role(role)));
        self.occupied & board.occupied() & !(color & role)
    }
}

/// A game that would explain what the board shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// The game.
    pub(super) node: NodeId,
    /// What it cost up to the last event.
    pub(super) cost: Cost,
    /// What it costs more for every second, in thousandths of a nat.
    pub(super) rate: u32,
    /// The side that has the move.
    pub turn: Color,
    /// The men of the side that has the move.
    pub us: Bitboard,
    /// Every square on which it has a man.
    pub(super) occupied: Bitboard,
    /// Squares on which the board contradicts it.
    pub differs: Bitboard,
    /// Squares seen empty since the last ply.
    pub(super) touched: Bitboard,
    /// Contradictions that the reading has paid for already.
    pub(super) paid: Bitboard,
    /// The side to move pressed without having moved, and the board has not been in order since.
    pub early_press: Option<MonoTime>,
}

impl Reading {
    pub(super) fn of(id: NodeId, node: &Node, cost: Cost, touched: Bitboard, seen: &Observed) -> Reading {
        let mut reading = Reading {
            node: id,
            cost,
            rate: 0,
            turn: node.position.turn(),
            us: node.position.us(),
            occupied: node.position.board().occupied(),
            differs: Bitboard::EMPTY,
            touched,
            paid: Bitboard::EMPTY,
            early_press: None,
        };
        reading.compare(node, seen);
        reading
    }

    /// Compares it with what the board shows now.
    pub(super) fn compare(&mut self, node: &Node, seen: &Observed) {
        self.differs = self.occupied ^ seen.occupied;
        if seen.men.is_some() {
            self.differs |= seen.wrong_men(node.position.board());
        }
        self.paid &= self.differs;
        self.rate = if self.differs.is_empty() { 0 } else { self.rate_now(seen) };
        if self.differs.is_empty() {
            self.early_press = None;
        }
    }

    /// The contradictions on these squares are paid for.
    pub(super) fn pay(&mut self, squares: Bitboard, seen: &Observed) {
        self.paid = self.differs & squares;
        self.rate = self.rate_now(seen);
    }

    fn rate_now(&self, seen: &Observed) -> u32 {
        let count = |squares: Bitboard| u32::try_from(squares.count()).unwrap_or(64);
        let open = self.differs & !self.paid;
        let missing = open & self.occupied & !seen.occupied;
        let in_hand = missing & self.us;
        let extra = open & seen.occupied & !self.occupied;
        let wrong = open & !missing & !extra;
        count(extra) * cost::EXTRA_PER_S
            + count(in_hand) * cost::IN_HAND_PER_S
            + count(missing & !in_hand) * cost::MISSING_PER_S
            + count(wrong) * cost::WRONG_PER_S
            + count(self.differs & self.paid) * cost::PAID_PER_S
    }

    /// What it costs `us` microseconds after the last event.
    pub(super) fn cost_after(&self, us: u64) -> Cost {
        if self.rate == 0 {
            return self.cost;
        }
        let charge = u64::from(self.rate).saturating_mul(us) / 1_000_000;
        self.cost.saturating_add(u32::try_from(charge).unwrap_or(u32::MAX))
    }

    /// What it costs more at this moment, for what the board contradicts now.
    pub(super) fn now(&self, seen: &Observed) -> Cost {
        if self.differs.is_empty() {
            0
        } else if self.stands_wrong(seen) {
            cost::STANDS_WRONG
        } else {
            cost::IN_THE_AIR
        }
    }

    /// Squares in which the board contradicts it and that are paid for.
    pub(crate) fn paid(&self) -> Bitboard {
        self.paid
    }

    /// True when men stand where this reading has none, or has others.
    pub(crate) fn stands_wrong(&self, seen: &Observed) -> bool {
        (self.differs & seen.occupied).any()
    }
}
