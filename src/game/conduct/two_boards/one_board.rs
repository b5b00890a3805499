//! One of the two boards of a game: what it shows, and the moves that it has still to show.

use std::collections::VecDeque;

use shakmaty::{Bitboard, Board, Chess, Move, Piece, Position as _, Square};

use crate::{laws::touch, session::setup::BoardKind};

/// A board that is so many moves behind is not brought up move by move: it is put up anew.
const MAX_BEHIND: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct OneBoard {
    pub(super) kind: BoardKind,
    pub(super) occupied: Bitboard,
    /// The men on it, where it tells them.
    pub(super) men: Option<Board>,
    /// Squares of the set-up on which wrong men were told.
    pub(super) told_wrong: Bitboard,
    /// It can be read.
    pub(super) up: bool,
    /// Moves of the game that it has still to show, the oldest first.
    pub(super) mirrors: VecDeque<Mirror>,
    /// Men that were lifted from it by its player, and not set down.
    pub(super) hand: Bitboard,
    /// Men that left it, which the game has not been told.
    pub(super) waiting: Bitboard,
    /// Squares where such a man was put down, which the game has not been told either.
    pub(super) premature: Bitboard,
}

/// A move that still has to be mirrored.
#[derive(Clone, Debug)]
pub(super) struct Mirror {
    pub(super) squares: Bitboard,
    /// Where a man is captured and another one put: the square is filled before and after.
    exchanged: Option<Square>,
    lifted: bool,
    placed: bool,
    /// It was announced and not made yet.
    pub(super) announced: bool,
}

impl Mirror {
    pub(super) fn of(before: &Chess, mv: Move, announced: bool) -> Mirror {
        let mut after = before.clone();
        after.play_unchecked(mv);
        let ends = mv.from().map_or(Bitboard::EMPTY, Bitboard::from_square).with(mv.to());
        let exchanged = touch::captured(mv).filter(|victim| *victim == mv.to());
        Mirror {
            squares: ends | (before.board().occupied() ^ after.board().occupied()),
            exchanged,
            lifted: false,
            placed: false,
            announced,
        }
    }

    /// True when a board that shows `occupied` has it, where the game has `game`.
    pub(super) fn is_shown(&self, occupied: Bitboard, game: Bitboard) -> bool {
        ((occupied ^ game) & self.squares).is_empty()
    }

    fn is_done(&self, occupied: Bitboard, game: Bitboard) -> bool {
        !self.announced && self.is_shown(occupied, game) && (self.exchanged.is_none() || self.placed)
    }
}

impl OneBoard {
    /// A board that shows the men of `standing`, as far as it tells.
    pub(super) fn new(kind: BoardKind, occupied: Bitboard, standing: &Board) -> OneBoard {
        let nothing = Bitboard::EMPTY;
        let mirrors = VecDeque::new();
        let men = (kind == BoardKind::Dgt).then(|| standing.clone());
        OneBoard {
            kind,
            occupied,
            men,
            told_wrong: nothing,
            up: true,
            mirrors,
            hand: nothing,
            waiting: nothing,
            premature: nothing,
        }
    }

    /// It tells which man stands on a square. True when that is one of the other side than stood there,
    /// without the square having been seen empty.
    pub(super) fn exchanges(&mut self, square: Square, piece: Option<Piece>) -> bool {
        let Some(men) = &mut self.men else { return false };
        let was = men.piece_at(square);
        match piece {
            Some(piece) => men.set_piece_at(square, piece),
            None => men.discard_piece_at(square),
        }
        let (Some(was), Some(piece)) = (was, piece) else { return false };
        self.occupied.contains(square) && was.color != piece.color
    }

    /// The squares on which a man stands and another one in the game, where the board tells its men.
    pub(super) fn wrong_men(&self, game: &Board) -> Bitboard {
        let Some(men) = &self.men else { return Bitboard::EMPTY };
        let both = men.occupied() & game.occupied() & self.occupied;
        both.into_iter().filter(|square| men.piece_at(*square) != game.piece_at(*square)).collect()
    }

    /// The squares of the moves that it has still to show.
    pub(super) fn mirrored(&self) -> Bitboard {
        self.mirrors.iter().fold(Bitboard::EMPTY, |squares, mirror| squares | mirror.squares)
    }

    /// A square changes whose player does not have the move, where the game has `game`.
    pub(super) fn note_early(&mut self, square: Square, occupied: bool, game: Bitboard) {
        match (occupied, game.contains(square)) {
            (false, true) => self.waiting.add(square),
            (true, false) if self.waiting.any() => self.premature.add(square),
            _ => {}
        }
    }

    pub(super) fn forget_early(&mut self) {
        self.waiting = Bitboard::EMPTY;
        self.premature = Bitboard::EMPTY;
    }

    /// A change of a square; true when it belongs to a move that has to be mirrored.
    pub(super) fn mirrors(&mut self, square: Square, occupied: bool, game: Bitboard) -> bool {
        let mut is_mirror = false;
        for mirror in self.mirrors.iter_mut().filter(|mirror| mirror.squares.contains(square)) {
            is_mirror = true;
            if mirror.exchanged == Some(square) {
                mirror.placed = occupied && mirror.lifted;
                mirror.lifted |= !occupied;
            }
        }
        let shown = self.occupied;
        self.mirrors.retain(|mirror| !mirror.is_done(shown, game));
        is_mirror
    }

    pub(super) fn await_mirror(&mut self, mirror: Mirror, game: Bitboard) {
        let known = self.mirrors.iter_mut().find(|known| known.announced && known.squares == mirror.squares);
        match known {
            Some(known) => known.announced = false,
            None => {
                // The captured man was taken from it before the move was made.
                let lifted = mirror.exchanged.is_some_and(|square| !self.occupied.contains(square));
                self.mirrors.push_back(Mirror { lifted, ..mirror });
            }
        }
        let shown = self.occupied;
        self.mirrors.retain(|mirror| !mirror.announced && !mirror.is_done(shown, game));
        if self.mirrors.len() > MAX_BEHIND {
            self.mirrors.pop_front();
        }
    }
}
