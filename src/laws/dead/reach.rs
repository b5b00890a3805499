//! Where each man can get at all: more than he really can, never less.
//!
//! A man is *fixed* until a rule says that he may leave his square or be captured. Rules only add, so
//! they come to rest, and then whatever is really played is within them: each move starts on a square
//! that was counted, over squares whose first holder has gone, to a square that is empty or holds a man
//! that was counted there. So a square that is not counted is never reached, and a man that is still
//! fixed never moves and is never captured.

use shakmaty::{Bitboard, Chess, Color, Piece, Position as _, Rank, Role, Square, attacks};

/// A man, and what may become of him.
#[derive(Clone, Debug)]
pub(super) struct Man {
    pub piece: Piece,
    pub home: Square,
    /// Squares where he may ever stand.
    pub squares: Bitboard,
    /// He may be captured.
    pub capturable: bool,
}

impl Man {
    pub(super) fn is_fixed(&self) -> bool {
        !self.capturable && self.squares == Bitboard::from_square(self.home)
    }

    pub(super) fn is_king(&self) -> bool {
        self.piece.role == Role::King
    }
}

/// All men, and the squares of those who never move.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    pub men: Vec<Man>,
    pub fixed: Bitboard,
}

/// What a man may do from all his squares, other men's own squares aside.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    /// Squares that he may move to.
    to: Bitboard,
    /// Squares where he may capture.
    captures: Bitboard,
}

impl Reach {
    /// None where it would say nothing: no man is fixed, a pawn may promote, or there is castling or
    /// capturing en passant at once, for which there is no rule here.
    pub(super) fn of(position: &Chess) -> Option<Reach> {
        let board = position.board();
        if position.castles().any() || position.legal_ep_square().is_some() || board.pawns().is_empty() {
            return None;
        }
        let man =
            |(home, piece)| Man { piece, home, squares: Bitboard::from_square(home), capturable: false };
        let mut reach = Reach { men: board.iter().map(man).collect(), fixed: board.occupied() };
        while reach.widen()? {}
        reach.fixed.any().then_some(reach)
    }

    /// Uses the rules once for every man; true when they added something. None when a pawn may promote.
    fn widen(&mut self) -> Option<bool> {
        let mut changed = false;
        for index in 0..self.men.len() {
            let (color, steps) = self.men.get(index).map(|man| (man.piece.color, self.steps(man)))?;
            let man = self.men.get_mut(index)?;
            changed |= !steps.to.is_subset(man.squares);
            man.squares |= steps.to;
            if man.piece.role == Role::Pawn && steps.to.intersects(Bitboard::from(last_rank(color))) {
                return None;
            }
            for other in self.men.iter_mut().filter(|other| other.piece.color != color && !other.is_king()) {
                if !other.capturable && other.squares.intersects(steps.captures) {
                    other.capturable = true;
                    changed = true;
                }
            }
            self.fixed = self.men.iter().filter(|man| man.is_fixed()).map(|man| man.home).collect();
        }
        Some(changed)
    }

    fn steps(&self, man: &Man) -> Steps {
        let color = man.piece.color;
        let barred = self.fixed_of(color) | self.fixed_kings();
        let targets = self.possible(!color);
        let mut steps = Steps::default();
        for from in man.squares {
            if man.piece.role == Role::Pawn {
                let captures = attacks::pawn_attacks(color, from) & targets;
                steps.captures |= captures;
                steps.to |= captures | self.advances(color, from);
            } else {
                let to = attacks::attacks(from, man.piece, self.fixed) & !barred;
                steps.captures |= to;
                steps.to |= to;
            }
        }
        if man.is_king() {
            let guarded = self.always_attacked(!color);
            steps = Steps { to: steps.to & !guarded, captures: steps.captures & !guarded };
        }
        steps
    }

    /// Squares where a man of this color that can be captured may stand. A pawn that steps over a square
    /// and is captured there en passant might have stepped to it.
    fn possible(&self, color: Color) -> Bitboard {
        let of_color = self.men.iter().filter(|man| man.piece.color == color && !man.is_king());
        of_color.fold(Bitboard::EMPTY, |squares, man| squares | man.squares)
    }

    fn advances(&self, color: Color, from: Square) -> Bitboard {
        let up = color.fold_wb(8, -8);
        let one = from.offset(up).filter(|to| !self.fixed.contains(*to));
        let starts = from.rank() == color.fold_wb(Rank::Second, Rank::Seventh);
        let two = one.filter(|_| starts).and_then(|one| one.offset(up));
        one.into_iter().chain(two.filter(|to| !self.fixed.contains(*to))).collect()
    }

    fn fixed_of(&self, color: Color) -> Bitboard {
        self.men.iter().filter(|man| man.piece.color == color && man.is_fixed()).map(|man| man.home).collect()
    }

    fn fixed_kings(&self) -> Bitboard {
        self.men.iter().filter(|man| man.is_king() && man.is_fixed()).map(|man| man.home).collect()
    }

    /// Squares that fixed men of this color attack whatever else is played: a slider's neighbours only.
    fn always_attacked(&self, color: Color) -> Bitboard {
        let fixed = self.men.iter().filter(|man| man.piece.color == color && man.is_fixed());
        fixed.fold(Bitboard::EMPTY, |squares, man| {
            squares | attacks::attacks(man.home, man.piece, Bitboard::FULL)
        })
    }
}

fn last_rank(color: Color) -> Rank {
    color.fold_wb(Rank::Eighth, Rank::First)
}
