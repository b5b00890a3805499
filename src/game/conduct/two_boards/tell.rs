//! What is told of two boards: whether they agree, where each one is, which way it lies.

use shakmaty::{Bitboard, Color, Position as _};

use super::{
    super::{Conduct, Desk, fen_of},
    early::Change,
    one_board::OneBoard,
};
use crate::session::{
    event::Unit,
    fact::law::{Audience, BoardsState, BoardsStep, LawFact, Notice, Sq},
};

/// Other men stand on a board than the game begins with.
pub(super) fn wrong_men(unit: Unit, squares: Bitboard, desk: &mut Desk<'_>) {
    let detail =
        format!("on board {} other men stand on these squares than the game has there", unit.as_str());
    let squares = squares.into_iter().map(Sq).collect();
    desk.notice(Notice { squares, detail: detail.into(), ..Notice::of("setup-identity", Audience::Arbiter) });
}

impl Conduct {
    /// A board turned out to lie turned by 180 degrees.
    pub(in crate::game) fn tell_turned(&self, unit: Unit, desk: &mut Desk<'_>) {
        let name = unit.as_str();
        let detail = format!("board {name} lies turned by 180 degrees; its squares are read accordingly");
        desk.notice(Notice { detail: detail.into(), ..Notice::of("board-turned", Audience::Arbiter) });
    }

    /// Men of a board that was read the wrong way round were not lifted after all.
    pub(in crate::game) fn were_no_touches(&mut self, undone: &[Change], desk: &mut Desk<'_>) {
        let before = self.turn.touched().len();
        self.turn.forget_touches_on(undone.iter().map(|(square, _)| *square).collect());
        if self.turn.touched().len() < before {
            self.tell_obligation(false, desk);
        }
    }

    /// The boards still differ after the time that they had.
    pub(in crate::game::conduct) fn tell_apart(&self, desk: &mut Desk<'_>) {
        let Some(boards) = &self.two_boards else { return };
        if boards.are_up()
            && boards.diverged.any()
            && boards.diverged == boards.differs(desk.session.position().board())
        {
            let squares = boards.diverged.into_iter().map(Sq).collect();
            desk.notice(Notice { squares, ..Notice::of("boards-diverged", Audience::Arbiter) });
        }
    }

    /// The boards had time to agree.
    pub(in crate::game::conduct) fn compare_boards(&mut self, desk: &mut Desk<'_>) {
        let Some(boards) = &mut self.two_boards else { return };
        boards.due = None;
        let differs = boards.differs(desk.session.position().board());
        if differs.is_empty() {
            boards.diverged = Bitboard::EMPTY;
            boards.apart = false;
            desk.notice(Notice::of("boards-agree", Audience::Journal));
        } else if differs != boards.diverged {
            boards.diverged = differs;
            let squares: Vec<Sq> = differs.into_iter().map(Sq).collect();
            desk.notice(Notice { squares, ..Notice::of("boards-diverged", Audience::Arbiter) });
            self.tell_boards(desk);
        }
    }

    /// Where each board is in the game: in step, behind by so many plies, or diverged; with the last position
    /// that both have shown, and the times.
    pub(in crate::game::conduct) fn tell_boards(&self, desk: &mut Desk<'_>) {
        let Some(boards) = &self.two_boards else { return };
        let plies = desk.session.plies().len();
        let shows = |board: &OneBoard, ply: usize| {
            let position = desk.session.position_after(ply);
            position.is_some_and(|position| {
                position.board().occupied() == board.occupied | (board.hand & position.board().occupied())
            })
        };
        let at = boards.boards.each_ref().map(|board| (0..=plies).rev().find(|ply| shows(board, *ply)));
        let step = |ply: Option<usize>| match ply {
            Some(ply) if ply == plies => BoardsStep::InStep,
            Some(ply) => BoardsStep::Behind { plies: plies - ply },
            None => BoardsStep::Diverged,
        };
        let [first, second] = at;
        let common = match (first, second) {
            (Some(first), Some(second)) => Some(first.min(second)),
            // A board that shows no position of the game has left it after what it had mirrored.
            (ply, None) | (None, ply) => {
                let behind = boards.boards.iter().map(|board| board.mirrors.len()).max().unwrap_or(0);
                Some(ply.unwrap_or(plies).min(plies.saturating_sub(behind)))
            }
        };
        let fen = common.and_then(|ply| desk.session.position_after(ply)).map(fen_of);
        let left = |side| self.clocks.remaining(side, desk.at);
        desk.tell(LawFact::Boards(Box::new(BoardsState {
            a: step(first),
            b: step(second),
            squares: boards.differs(desk.session.position().board()).into_iter().map(Sq).collect(),
            ply: common.map(|ply| self.earlier.len() + ply),
            fen,
            white_ms: left(Color::White),
            black_ms: left(Color::Black),
            over: desk.session.is_over(),
            to: Audience::Arbiter,
        })));
    }
}
