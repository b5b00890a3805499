//! One reading of the board: a game that would explain what the sensors showed, and what it costs.

use std::cell::OnceCell;

use shakmaty::{Bitboard, Board, Chess, Color, Move, Position as _, Role, Square};

use super::{
    candidate::{Candidate, Legal},
    cost::{self, Cost},
};
use crate::session::time::MonoTime;

/// What the board shows.
#[derive(Clone, Debug)]
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

/// A ply of a reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ply {
    /// The move.
    pub mv: Move,
    /// When the last square that it needs was settled.
    pub placed: MonoTime,
    /// The mover pressed the clock over it.
    pub pressed: Option<MonoTime>,
    /// Its capture, its landing or the whole ply was not seen but follows from the rest.
    pub inferred: bool,
    /// The opponent touched a man after it.
    pub answered: bool,
    /// It stood on the board when the board was read again after a gap.
    pub reported: bool,
}

/// A man on the board that was a pawn, whose role no sensor has told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Promoted {
    /// Where it stands now.
    pub square: Square,
    /// Index of the promotion in the game, counted from the first event.
    pub ply: usize,
}

/// A game that would explain what the board shows.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// The position after the last ply.
    pub position: Chess,
    /// The position before the last ply of `tail`.
    pub before: Option<Chess>,
    /// What it costs.
    pub cost: Cost,
    /// The plies since the last one that all readings share.
    pub tail: Vec<Ply>,
    /// Men whose role is only assumed.
    pub promoted: Vec<Promoted>,
    /// Squares seen empty since the last ply.
    pub touched: Bitboard,
    /// The side to move pressed without having moved, and the board has not been in order since.
    pub early_press: Option<MonoTime>,
    legal: OnceCell<Vec<Legal>>,
}

impl Reading {
    pub(super) fn start(position: Chess) -> Reading {
        Reading {
            position,
            before: None,
            cost: 0,
            tail: Vec::new(),
            promoted: Vec::new(),
            touched: Bitboard::EMPTY,
            early_press: None,
            legal: OnceCell::new(),
        }
    }

    pub(super) fn occupied(&self) -> Bitboard {
        self.position.board().occupied()
    }

    /// Squares on which the board contradicts this reading.
    pub(crate) fn differs(&self, seen: &Observed) -> Bitboard {
        (self.occupied() ^ seen.occupied) | seen.wrong_men(self.position.board())
    }

    /// The cost at this moment, with what the board contradicts now.
    pub(crate) fn weight(&self, seen: &Observed) -> Cost {
        let differs = self.differs(seen);
        let now = if differs.is_empty() {
            0
        } else if (differs & seen.occupied).any() {
            cost::STANDS_WRONG
        } else {
            cost::IN_THE_AIR
        };
        self.cost.saturating_add(now)
    }

    /// Charges `us` microseconds during which the board showed `seen`.
    pub(super) fn pass_time(&mut self, seen: &Observed, us: u64) {
        let differs = self.differs(seen);
        if differs.is_empty() {
            return;
        }
        let count = |squares: Bitboard| squares.count() as u64;
        let missing = differs & self.occupied() & !seen.occupied;
        let in_hand = missing & self.position.us();
        let extra = differs & seen.occupied & !self.occupied();
        let wrong = differs & !missing & !extra;
        let rate = count(extra) * cost::EXTRA_PER_S
            + count(in_hand) * cost::IN_HAND_PER_S
            + count(missing & !in_hand) * cost::MISSING_PER_S
            + count(wrong) * cost::WRONG_PER_S;
        let charge = rate.saturating_mul(us) / 1_000_000;
        self.cost = self.cost.saturating_add(u32::try_from(charge).unwrap_or(u32::MAX));
    }

    /// The legal moves; on a board that tells no identities a promotion is taken as a queen.
    pub(super) fn legal(&self, every_promotion: bool) -> &[Legal] {
        self.legal.get_or_init(|| Legal::all(&self.position, every_promotion))
    }

    /// This reading with one more ply.
    pub(super) fn play(
        &self,
        candidate: &Candidate,
        extra: Cost,
        at: MonoTime,
        seen: &Observed,
        number: usize,
    ) -> Reading {
        let mut position = self.position.clone();
        position.play_unchecked(candidate.mv);
        let mut tail = Vec::with_capacity(self.tail.len() + 1);
        tail.extend_from_slice(&self.tail);
        let unseen = candidate.victim.any() && (candidate.victim & self.touched).is_empty();
        tail.push(Ply {
            mv: candidate.mv,
            placed: at,
            pressed: self.early_press,
            inferred: unseen || (candidate.to & !seen.occupied).any(),
            answered: false,
            reported: false,
        });
        let touched = position.board().occupied() & !seen.occupied;
        Reading {
            promoted: self.promoted_after(candidate, number),
            before: Some(self.position.clone()),
            cost: self.cost.saturating_add(extra),
            tail,
            touched,
            early_press: None,
            legal: OnceCell::new(),
            position,
        }
    }

    fn promoted_after(&self, candidate: &Candidate, number: usize) -> Vec<Promoted> {
        let mut promoted: Vec<Promoted> = self
            .promoted
            .iter()
            .filter(|man| !(candidate.victim).contains(man.square))
            .map(|man| Promoted {
                square: if man.square == candidate.from { candidate.mv.to() } else { man.square },
                ply: man.ply,
            })
            .collect();
        if candidate.mv.is_promotion() {
            promoted.push(Promoted { square: candidate.mv.to(), ply: number });
        }
        promoted
    }

    /// This reading without its last ply, when it can be taken back.
    pub(super) fn retracted(&self, seen: &Observed, price: Cost) -> Option<Reading> {
        let last = self.tail.last()?;
        if last.pressed.is_some() || last.answered { None } else { self.without_last(seen, price) }
    }

    /// This reading without its last ply.
    pub(super) fn without_last(&self, seen: &Observed, price: Cost) -> Option<Reading> {
        let before = self.before.clone()?;
        let (last, tail) = self.tail.split_last()?;
        let squares = Candidate::new(&before, last.mv).squares;
        let kept = self.promoted.len().saturating_sub(usize::from(last.mv.is_promotion()));
        Some(Reading {
            touched: squares | (before.board().occupied() & !seen.occupied),
            promoted: self.promoted.iter().copied().take(kept).collect(),
            before: None,
            cost: self.cost.saturating_add(price),
            tail: tail.to_vec(),
            early_press: None,
            legal: OnceCell::new(),
            position: before,
        })
    }

    /// The side that has the move.
    pub(crate) fn turn(&self) -> Color {
        self.position.turn()
    }
}
