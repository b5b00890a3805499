//! One reading of the board: a game that would explain what the sensors showed, and what it costs.

use shakmaty::{Bitboard, Board, Color, Piece, Position as _, Role, Square};

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
    /// Squares whose sensor is not believed: they contradict no reading.
    pub masked: Bitboard,
    /// Squares on which the board is not believed as to which man it is.
    pub misread: Bitboard,
    /// The square whose diode lets current through both ways.
    pub shorted: Option<Square>,
}

/// What reads closed through the shorted diode of a square while its contact is closed: every rank that
/// has a man on its file reads the men of its rank as well.
pub(crate) fn ghosts(shorted: Square, occupied: Bitboard) -> Bitboard {
    if !occupied.contains(shorted) {
        return Bitboard::EMPTY;
    }
    let row = Bitboard::from_rank(shorted.rank());
    let files = (occupied & row).without(shorted);
    let ranks = (occupied & Bitboard::from_file(shorted.file())).without(shorted);
    let file_set =
        files.into_iter().fold(Bitboard::EMPTY, |sum, square| sum | Bitboard::from_file(square.file()));
    let rank_set =
        ranks.into_iter().fold(Bitboard::EMPTY, |sum, square| sum | Bitboard::from_rank(square.rank()));
    file_set & rank_set
}

impl Observed {
    /// What a sound board shows: every square is believed.
    pub(crate) fn of(occupied: Bitboard, men: Option<Board>) -> Observed {
        Observed { occupied, men, masked: Bitboard::EMPTY, misread: Bitboard::EMPTY, shorted: None }
    }

    /// A square changed.
    pub(crate) fn set(&mut self, square: Square, occupied: bool, piece: Option<Piece>) {
        self.occupied.set(square, occupied);
        if let Some(men) = &mut self.men {
            match piece.filter(|_| occupied) {
                Some(piece) => men.set_piece_at(square, piece),
                None => men.discard_piece_at(square),
            }
        }
    }

    /// Squares that say nothing about a board on which `occupied` is filled.
    pub(crate) fn hides(&self, occupied: Bitboard) -> Bitboard {
        self.masked | self.shorted.map_or(Bitboard::EMPTY, |square| ghosts(square, occupied))
    }

    /// Squares on which the board contradicts `board`.
    pub(crate) fn differs(&self, board: &Board) -> Bitboard {
        ((board.occupied() ^ self.occupied) | self.wrong_men(board)) & !self.hides(board.occupied())
    }

    /// Those of these filled squares that the board shows empty, masked ones aside.
    pub(crate) fn empty(&self, filled: Bitboard) -> Bitboard {
        filled & !self.occupied & !self.hides(filled)
    }

    /// True when the board shows just the squares of `occupied` as filled, masked ones aside.
    pub(crate) fn shows(&self, occupied: Bitboard) -> bool {
        ((occupied ^ self.occupied) & !self.hides(occupied)).is_empty()
    }

    /// The occupied squares, where a masked square is taken to be as in `expected`.
    pub(crate) fn believed(&self, expected: Bitboard) -> Bitboard {
        let hidden = self.hides(expected);
        (self.occupied & !hidden) | (expected & hidden)
    }

    /// Occupied squares on which the board reads another man than `board` has there.
    pub(crate) fn wrong_men(&self, board: &Board) -> Bitboard {
        let Some(men) = &self.men else { return Bitboard::EMPTY };
        let color = (men.white() & board.white()) | (men.black() & board.black());
        let role = Role::ALL
            .into_iter()
            .fold(Bitboard::EMPTY, |sum, role| sum | (men.by_role(role) & board.by_role(role)));
        self.occupied & board.occupied() & !(color & role) & !self.misread
    }
}

/// How many squares these few are. Most processors count no bits by themselves.
fn count(squares: Bitboard) -> u32 {
    let mut left = u64::from(squares);
    let mut count = 0;
    while left != 0 {
        left &= left - 1;
        count += 1;
    }
    count
}

/// A game that would explain what the board shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// The game.
    pub(super) node: NodeId,
    /// How many plies it has, counted from the first event.
    pub(super) plies: usize,
    /// What it cost up to the last event.
    pub(super) cost: Cost,
    /// What it costs more at this moment, for what the board contradicts now.
    pub(super) now: Cost,
    /// What it costs more for every second, in thousandths of a nat.
    pub(super) rate: u32,
    /// The side that has the move.
    pub turn: Color,
    /// The men of the side that has the move.
    pub us: Bitboard,
    /// Every square on which it has a man.
    pub occupied: Bitboard,
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
            plies: node.plies,
            cost,
            now: 0,
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
        self.differs &= !seen.hides(self.occupied);
        self.paid &= self.differs;
        if self.differs.is_empty() {
            (self.now, self.rate, self.early_press) = (0, 0, None);
            return;
        }
        self.now = if self.stands_wrong(seen) { cost::STANDS_WRONG } else { cost::IN_THE_AIR };
        self.rate = self.rate_now(seen);
    }

    /// The contradictions on these squares are paid for.
    pub(super) fn pay(&mut self, squares: Bitboard, seen: &Observed) {
        self.paid = self.differs & squares;
        self.rate = self.rate_now(seen);
    }

    /// Squares that say nothing about this reading.
    pub(super) fn hidden(&self, seen: &Observed) -> Bitboard {
        seen.hides(self.occupied)
    }

    fn rate_now(&self, seen: &Observed) -> u32 {
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
        let charge = u64::from(self.rate).saturating_mul(us) / 1_000_000;
        self.cost.saturating_add(u32::try_from(charge).unwrap_or(u32::MAX))
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
