//! A game on two boards: a sighted player's and a blind player's (Appendix D; 2005: Annex F). Each move is
//! made on one and mirrored on the other.

use shakmaty::{Bitboard, Color, Move, Position as _, Square};

use super::{Conduct, Desk};
use crate::session::{
    fact::{
        Certainty, Fact, FactKind,
        law::{Audience, Notice, Sq},
    },
    time::MonoTime,
};

/// The second board, and what still has to be mirrored.
#[derive(Clone, Debug)]
pub(super) struct TwoBoards {
    first: Bitboard,
    second: Bitboard,
    /// Whose each board is.
    sides: [Color; 2],
    /// Squares that a mirrored move still has to change on the first board.
    mirror: Bitboard,
    due: Option<MonoTime>,
    /// The boards differed since they were last told to agree.
    apart: bool,
    diverged: Bitboard,
}

impl TwoBoards {
    pub(super) const fn new(occupied: Bitboard, sides: [Color; 2]) -> TwoBoards {
        TwoBoards {
            first: occupied,
            second: occupied,
            sides,
            mirror: Bitboard::EMPTY,
            due: None,
            apart: false,
            diverged: Bitboard::EMPTY,
        }
    }

    pub(super) const fn due(&self) -> Option<MonoTime> {
        self.due
    }

    fn changed(&mut self, at: MonoTime, timeout_s: u32) {
        // The time counts from the last change: somebody is still at work.
        self.due = if self.first != self.second {
            Some(at.plus_ms(u64::from(timeout_s) * 1000))
        } else if self.apart {
            Some(at)
        } else {
            None
        };
        self.apart |= self.first != self.second;
    }

    /// A square of the first board changed.
    pub(super) fn first(&mut self, square: Square, occupied: bool, at: MonoTime, timeout_s: u32) {
        self.first.set(square, occupied);
        self.changed(at, timeout_s);
    }

    /// The opponent announced this move: its squares will be mirrored.
    pub(super) fn expect(&mut self, mv: Move) {
        self.mirror = mv.from().map_or(Bitboard::EMPTY, Bitboard::from_square).with(mv.to());
    }
}

impl Conduct {
    /// A square of the second board changed. What its player lifts there while he has the move is touched
    /// (Appendix D.2.2; 2005: F.2.2); everything else mirrors a move of the opponent.
    pub(super) fn on_second_board(&mut self, square: Square, occupied: bool, desk: &mut Desk<'_>) {
        let timeout_s = self.settings.mirror_timeout_s;
        let Some(boards) = &mut self.two_boards else { return };
        boards.second.set(square, occupied);
        boards.changed(desk.at, timeout_s);
        let [_, owner] = boards.sides;
        let mirrored = boards.mirror.contains(square);
        let man = desk.session.position().board().piece_at(square);
        if let Some(man) =
            man.filter(|_| !occupied && !mirrored && desk.turn() == owner && !self.is_over(desk))
        {
            let kind = FactKind::Touch { by: owner, square, piece: man.char(), certainty: Certainty::Law };
            desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind });
            self.close_windows(owner, desk);
            self.take_touch(square, desk.at, false, desk);
        }
    }

    /// True when a lift on the first board mirrors a move that was announced or made on the other one: it is
    /// no touch.
    pub(super) fn mirrors(&self, square: Square, desk: &Desk<'_>) -> bool {
        self.two_boards.as_ref().is_some_and(|boards| {
            let [owner, _] = boards.sides;
            let mirrored = boards.mirror.contains(square) || (boards.second ^ boards.first).contains(square);
            desk.turn() != owner && mirrored || boards.mirror.contains(square)
        })
    }

    /// A move was made: nothing of it is outstanding on this board.
    pub(super) fn made_on_two_boards(&mut self) {
        if let Some(boards) = &mut self.two_boards {
            boards.mirror = Bitboard::EMPTY;
        }
    }

    /// The boards still differ after the time that they had.
    pub(super) fn tell_apart(&self, desk: &mut Desk<'_>) {
        let Some(boards) = &self.two_boards else { return };
        if boards.diverged.any() && boards.diverged == boards.first ^ boards.second {
            let squares = boards.diverged.into_iter().map(Sq).collect();
            desk.notice(Notice { squares, ..Notice::of("boards-diverged", Audience::Arbiter) });
        }
    }

    /// The boards had time to agree.
    pub(super) fn compare_boards(&mut self, desk: &mut Desk<'_>) {
        let Some(boards) = &mut self.two_boards else { return };
        boards.due = None;
        let differs = boards.first ^ boards.second;
        let squares: Vec<Sq> = differs.into_iter().map(Sq).collect();
        if differs.is_empty() {
            boards.diverged = Bitboard::EMPTY;
            boards.apart = false;
            desk.notice(Notice::of("boards-agree", Audience::Journal));
        } else if differs != boards.diverged {
            boards.diverged = differs;
            desk.notice(Notice { squares, ..Notice::of("boards-diverged", Audience::Arbiter) });
        }
    }
}
