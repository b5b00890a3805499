//! A game on two boards: a sighted player's and a blind player's, or two blind players' (Appendix D; 2005:
//! Annex F). Each move is made on its player's board and mirrored on the other one.
//!
//! The session sees one board, and the player who has the move shows it: what changes on his own board goes
//! through, what brings a board to where the game is already is a mirrored move and stays behind, as does
//! whatever happens on the board of the player who waits. Nothing of that is a touch.

mod early;
mod men;
mod one_board;
mod tell;

use shakmaty::{Bitboard, Board, Chess, Color, Move, Position as _, Square};

use self::one_board::{Mirror, OneBoard};
use super::{super::reader::Seen, Conduct, Desk};
use crate::session::{
    Session,
    event::{Event, Stamped, Unit},
    fact::law::{Audience, Notice},
    setup::{BoardKind, GameSetup},
    time::MonoTime,
};

/// The boards of one game.
#[derive(Clone, Debug)]
pub(super) struct TwoBoards {
    boards: [OneBoard; 2],
    /// Whose each board is; the first move shows it where nobody said so.
    sides: Option<[Color; 2]>,
    /// The board that showed the last change of the game.
    last: Unit,
    /// When the boards are compared.
    due: Option<MonoTime>,
    /// They differed since they were last told to agree.
    apart: bool,
    diverged: Bitboard,
}

impl TwoBoards {
    pub(super) fn new(setup: &GameSetup, occupied: Bitboard, standing: &Board) -> TwoBoards {
        TwoBoards {
            boards: setup.units.map(|unit| OneBoard::new(unit.kind, occupied, standing)),
            sides: setup.sides,
            last: Unit::A,
            due: None,
            apart: false,
            diverged: Bitboard::EMPTY,
        }
    }

    pub(super) const fn due(&self) -> Option<MonoTime> {
        self.due
    }

    const fn board(&self, unit: Unit) -> &OneBoard {
        unit.of(&self.boards)
    }

    const fn board_mut(&mut self, unit: Unit) -> &mut OneBoard {
        unit.of_mut(&mut self.boards)
    }

    /// Whose board it is.
    fn owner(&self, unit: Unit) -> Option<Color> {
        self.sides.map(|sides| *unit.of(&sides))
    }

    /// Both can be read, so that they can be compared.
    fn are_up(&self) -> bool {
        self.boards.iter().all(|board| board.up)
    }

    /// True when a man may leave this square of a board next: it belongs to a move that has to be mirrored
    /// first, or else its player may move or capture it.
    fn expects(&self, unit: Unit, square: Square, session: &Session) -> bool {
        let mirrors = &self.board(unit).mirrors;
        if !mirrors.is_empty() {
            return mirrors.iter().any(|mirror| mirror.squares.contains(square));
        }
        self.may_touch(unit, square, session)
    }

    /// True when the player of a board may touch the man on this square in a move of his.
    fn may_touch(&self, unit: Unit, square: Square, session: &Session) -> bool {
        self.may_move(unit, session)
            && !(session.moves_of(square).is_empty() && session.captures_of(square).is_empty())
    }

    /// A man that leaves this board is touched in the sense of the Laws: it leaves its hole.
    pub(super) fn is_pegged(&self) -> bool {
        self.board(self.last).kind == BoardKind::Peg
    }

    /// Whether what happens on a board may belong to a move that is made on it: its player has the move, or
    /// has not completed his last one, or the other player's board cannot be read.
    fn may_move(&self, unit: Unit, session: &Session) -> bool {
        let Some(owner) = self.owner(unit) else { return true };
        let turn = session.position().turn();
        let open = session.last_ply().is_some_and(|record| record.completed.is_none());
        owner == turn || open || !self.board(unit.other()).up
    }

    /// A square of a board changed, in the numbering of the game. True when the game changes with it.
    fn change(&mut self, unit: Unit, square: Square, occupied: bool, session: &Session) -> bool {
        let game = session.occupied();
        let may_move = self.may_move(unit, session);
        let board = self.board_mut(unit);
        board.occupied.set(square, occupied);
        match occupied {
            true => board.waiting.discard(square),
            false => board.premature.discard(square),
        };
        let is_mirror = board.mirrors(square, occupied, game);
        if !is_mirror && !may_move {
            board.note_early(square, occupied, game);
        }
        if game.contains(square) == occupied || is_mirror || !may_move {
            return false;
        }
        let others = session.position().them();
        if self.is_mirroring(unit, session) {
            let board = self.board_mut(unit);
            // A wrong man of the other side, lifted to mirror the move.
            if !occupied && others.contains(square) {
                board.waiting.add(square);
                return false;
            }
            if occupied && (board.waiting & others).any() {
                return false;
            }
        }
        let board = self.board_mut(unit);
        if occupied {
            // While a move has to be mirrored, a man comes down wrongly unless it was lifted by the player.
            if board.hand.is_empty() && !board.mirrors.is_empty() {
                return false;
            }
            match board.hand.contains(square) {
                true => board.hand.discard(square),
                false => {
                    board.hand.discard_first();
                }
            }
        } else {
            board.hand.add(square);
            // Whoever begins his own move has mirrored the other one.
            let shown = board.occupied;
            board.mirrors.retain(|mirror| mirror.announced || !mirror.is_shown(shown, game));
        }
        self.last = unit;
        true
    }

    /// A board was reported as a whole. The squares that the game takes over, when it changes.
    fn report(&mut self, unit: Unit, occupied: Bitboard, session: &Session) -> Option<Bitboard> {
        let game = session.occupied();
        let (may_move, untouched) = (self.may_move(unit, session), session.last_event() < 0);
        let board = self.board_mut(unit);
        board.occupied = occupied;
        board.mirrors.retain(|mirror| !mirror.is_shown(occupied, game));
        board.hand &= !occupied;
        board.waiting &= !occupied;
        board.premature &= occupied;
        if may_move {
            board.forget_early();
        }
        let mirrored = board.mirrored();
        let merged = (game & mirrored) | (occupied & !mirrored);
        (may_move && (merged != game || untouched && unit == Unit::A)).then_some(merged)
    }

    /// The squares on which the boards differ, or show another man than the game has; men in hands aside.
    fn differs(&self, game: &Board) -> Bitboard {
        let [first, second] = &self.boards;
        let wrong = first.wrong_men(game) | second.wrong_men(game);
        (first.occupied ^ second.occupied | wrong) & !(first.hand | second.hand)
    }

    fn changed(&mut self, at: MonoTime, timeout_s: u32, game: &Board) {
        if !self.are_up() {
            self.due = None;
            return;
        }
        // The time counts from the last change: somebody is still at work.
        let apart = self.differs(game).any();
        self.due = match (apart, self.apart) {
            (true, _) => Some(at.plus_ms(u64::from(timeout_s) * 1000)),
            (false, true) => Some(at),
            (false, false) => None,
        };
        self.apart |= apart;
    }

    /// The player announced this move before it was on a board: the other board will mirror it.
    pub(super) fn announce(&mut self, before: &Chess, mv: Move) {
        let [first, _] = self.sides.unwrap_or([Color::White, Color::Black]);
        let waiting = if first == before.turn() { Unit::B } else { Unit::A };
        let board = self.board_mut(waiting);
        board.mirrors.retain(|mirror| !mirror.announced);
        board.mirrors.push_back(Mirror::of(before, mv, true));
    }

    fn made(&mut self, before: &Chess, mv: Move, game: Bitboard) {
        let by = before.turn();
        let unit = self.last;
        self.sides.get_or_insert(if unit == Unit::A { [by, !by] } else { [!by, by] });
        let own = self.board_mut(unit);
        own.hand = Bitboard::EMPTY;
        own.mirrors.clear();
        own.forget_early();
        self.board_mut(unit.other()).await_mirror(Mirror::of(before, mv, false), game);
    }

    fn withdrawn(&mut self) {
        self.board_mut(self.last.other()).mirrors.pop_back();
    }
}

/// The game as one of its boards is read.
pub(in crate::game) struct SeenBy<'a> {
    boards: Option<&'a TwoBoards>,
    unit: Unit,
    session: &'a Session,
}

impl Seen for SeenBy<'_> {
    fn game(&self) -> Bitboard {
        self.session.position().board().occupied()
    }

    fn shown(&self) -> Bitboard {
        self.boards.map_or_else(|| self.game(), |boards| boards.board(self.unit).occupied)
    }

    fn expects(&self, square: Square) -> bool {
        self.boards.is_some_and(|boards| boards.expects(self.unit, square, self.session))
    }

    fn may_touch(&self, square: Square) -> bool {
        self.boards.is_some_and(|boards| boards.may_touch(self.unit, square, self.session))
    }
}

impl Conduct {
    /// The game as this board is read.
    pub(in crate::game) const fn seen<'a>(&'a self, unit: Unit, session: &'a Session) -> SeenBy<'a> {
        SeenBy { boards: self.two_boards.as_ref(), unit, session }
    }

    /// Whether what happens on this board may belong to a move that is made on it.
    pub(in crate::game) fn may_move_on(&self, unit: Unit, session: &Session) -> bool {
        self.two_boards.as_ref().is_some_and(|boards| boards.may_move(unit, session))
    }

    /// True when the game is played on two boards.
    pub(in crate::game) const fn has_two_boards(&self) -> bool {
        self.two_boards.is_some()
    }

    /// What an event of one of two boards is for the game: an event of the first board when it belongs to
    /// the game, else one of the second, which the session passes over.
    pub(in crate::game) fn route(&mut self, stamped: &mut Stamped, desk: &mut Desk<'_>) {
        let timeout_s = self.settings.mirror_timeout_s;
        self.look_at_promotion(desk);
        let Some(boards) = &mut self.two_boards else { return };
        let (at, unit) = (stamped.at, stamped.unit);
        let event = std::mem::replace(&mut stamped.event, Event::Tick);
        let (own, mirrored) = (Unit::A, Unit::B);
        let session = desk.session;
        let game = session.position().board();
        let (unit, event) = match event {
            Event::Piece { square, .. } | Event::Square { square, .. } => {
                let occupied = match event {
                    Event::Square { occupied, .. } => occupied,
                    Event::Piece { piece, .. } => piece.is_some(),
                    _ => false,
                };
                let goes = boards.change(unit, square, occupied, session);
                boards.changed(at, timeout_s, game);
                (if goes { own } else { mirrored }, Event::Square { square, occupied })
            }
            Event::Occupied(_) | Event::Pieces(_) => {
                let occupied = match &event {
                    Event::Pieces(men) => men.occupied(),
                    Event::Occupied(occupied) => *occupied,
                    _ => Bitboard::EMPTY,
                };
                let merged = boards.report(unit, occupied, session);
                let wrong = boards.wrong_at_start(unit, session);
                if wrong.any() {
                    tell::wrong_men(unit, wrong, desk);
                }
                boards.changed(at, timeout_s, game);
                match merged {
                    Some(merged) => (own, Event::Occupied(merged)),
                    None => (mirrored, event),
                }
            }
            // The program that reads both was gone: whether it finds them again, their links tell.
            Event::Power(up) => {
                boards.boards.iter_mut().for_each(|board| board.up = up);
                (own, event)
            }
            Event::Link(up) => {
                let was_down = boards.boards.iter().all(|board| !board.up);
                let was_up = std::mem::replace(&mut boards.board_mut(unit).up, up);
                let is_down = boards.boards.iter().all(|board| !board.up);
                boards.changed(at, timeout_s, game);
                let name = unit.as_str();
                let detail = match up {
                    true => format!("board {name} is read again"),
                    false => format!("board {name} is not read; the game goes on with the other one"),
                };
                let code = if up { "board-back" } else { "board-lost" };
                // That a board is read from the start on is no news.
                if up != was_up {
                    desk.notice(Notice { detail: detail.into(), ..Notice::of(code, Audience::Arbiter) });
                }
                // The game is unread only while both are.
                (if was_down || is_down { own } else { mirrored }, event)
            }
            event => (own, event),
        };
        stamped.unit = unit;
        stamped.event = event;
    }

    /// A move was made: the other board has to show it, too.
    pub(super) fn made_on_two_boards(&mut self, ply: usize, desk: &Desk<'_>) {
        let (Some(boards), Some(index)) = (&mut self.two_boards, ply.checked_sub(1)) else { return };
        if let (Some(before), Some(mv)) = (desk.session.position_after(index), desk.session.move_at(index)) {
            boards.made(before, mv, desk.session.occupied());
        }
    }

    pub(super) fn withdrawn_on_two_boards(&mut self) {
        if let Some(boards) = &mut self.two_boards {
            boards.withdrawn();
        }
    }
}
