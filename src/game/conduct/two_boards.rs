//! A game on two boards: a sighted player's and a blind player's, or two blind players' (Appendix D; 2005:
//! Annex F). Each move is made on its player's board and mirrored on the other one.
//!
//! The session sees one board, and the player who has the move shows it: what changes on his own board goes
//! through, what brings a board to where the game is already is a mirrored move and stays behind, as does
//! whatever happens on the board of the player who waits. Nothing of that is a touch.

use std::collections::VecDeque;

use shakmaty::{Bitboard, Chess, Color, Move, Position as _, Square};

use super::{Conduct, Desk};
use crate::{
    laws::touch,
    session::{
        Session,
        event::{Event, Stamped, Unit},
        fact::law::{Audience, BoardsState, BoardsStep, LawFact, Notice, Sq},
        setup::{BoardKind, GameSetup},
        time::MonoTime,
    },
};

/// A board that is so many moves behind is not brought up move by move: it is put up anew.
const MAX_BEHIND: usize = 16;

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

#[derive(Clone, Debug)]
struct OneBoard {
    kind: BoardKind,
    occupied: Bitboard,
    /// It can be read.
    up: bool,
    /// Moves of the game that it has still to show, the oldest first.
    mirrors: VecDeque<Mirror>,
    /// Men that were lifted from it by its player, and not set down.
    hand: Bitboard,
}

/// A move that still has to be mirrored.
#[derive(Clone, Debug)]
struct Mirror {
    squares: Bitboard,
    /// Where a man is captured and another one put: the square is filled before and after.
    exchanged: Option<Square>,
    lifted: bool,
    placed: bool,
    /// It was announced and not made yet.
    announced: bool,
}

impl Mirror {
    fn of(before: &Chess, mv: Move, announced: bool) -> Mirror {
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
    fn is_shown(&self, occupied: Bitboard, game: Bitboard) -> bool {
        ((occupied ^ game) & self.squares).is_empty()
    }

    fn is_done(&self, occupied: Bitboard, game: Bitboard) -> bool {
        !self.announced && self.is_shown(occupied, game) && (self.exchanged.is_none() || self.placed)
    }
}

const fn index(unit: Unit) -> usize {
    match unit {
        Unit::A => 0,
        Unit::B => 1,
    }
}

const fn other(unit: Unit) -> Unit {
    match unit {
        Unit::A => Unit::B,
        Unit::B => Unit::A,
    }
}

impl OneBoard {
    fn new(kind: BoardKind, occupied: Bitboard) -> OneBoard {
        OneBoard { kind, occupied, up: true, mirrors: VecDeque::new(), hand: Bitboard::EMPTY }
    }

    /// A change of a square; true when it belongs to a move that has to be mirrored.
    fn mirrors(&mut self, square: Square, occupied: bool, game: Bitboard) -> bool {
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

    fn await_mirror(&mut self, mirror: Mirror, game: Bitboard) {
        let known = self.mirrors.iter_mut().find(|known| known.announced && known.squares == mirror.squares);
        match known {
            Some(known) => known.announced = false,
            None => self.mirrors.push_back(mirror),
        }
        let shown = self.occupied;
        self.mirrors.retain(|mirror| !mirror.announced && !mirror.is_done(shown, game));
        if self.mirrors.len() > MAX_BEHIND {
            self.mirrors.pop_front();
        }
    }
}

impl TwoBoards {
    pub(super) fn new(setup: &GameSetup, occupied: Bitboard) -> TwoBoards {
        TwoBoards {
            boards: setup.kinds.map(|kind| OneBoard::new(kind, occupied)),
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

    fn board(&self, unit: Unit) -> &OneBoard {
        let [a, b] = &self.boards;
        if index(unit) == 0 { a } else { b }
    }

    fn board_mut(&mut self, unit: Unit) -> &mut OneBoard {
        let [a, b] = &mut self.boards;
        if index(unit) == 0 { a } else { b }
    }

    /// Whose board it is.
    fn owner(&self, unit: Unit) -> Option<Color> {
        self.sides.map(|[first, second]| if index(unit) == 0 { first } else { second })
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
        let open = session.plies().last().is_some_and(|record| record.completed.is_none());
        owner == turn || open || !self.board(other(unit)).up
    }

    /// A square of a board changed, in the numbering of the game. True when the game changes with it.
    fn change(&mut self, unit: Unit, square: Square, occupied: bool, session: &Session) -> bool {
        let game = session.occupied();
        let may_move = self.may_move(unit, session);
        let board = self.board_mut(unit);
        board.occupied.set(square, occupied);
        let is_mirror = board.mirrors(square, occupied, game);
        if game.contains(square) == occupied || is_mirror || !may_move {
            return false;
        }
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
        let mirrored = board.mirrors.iter().fold(Bitboard::EMPTY, |squares, mirror| squares | mirror.squares);
        let merged = (game & mirrored) | (occupied & !mirrored);
        (may_move && (merged != game || untouched && unit == Unit::A)).then_some(merged)
    }

    /// The squares on which the boards differ, men in hands aside.
    fn differs(&self) -> Bitboard {
        let [first, second] = &self.boards;
        (first.occupied ^ second.occupied) & !(first.hand | second.hand)
    }

    fn changed(&mut self, at: MonoTime, timeout_s: u32) {
        // The time counts from the last change: somebody is still at work.
        let apart = self.differs().any();
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
        self.board_mut(other(unit)).await_mirror(Mirror::of(before, mv, false), game);
    }

    fn withdrawn(&mut self) {
        self.board_mut(other(self.last)).mirrors.pop_back();
    }
}

impl Conduct {
    /// True when the game is played on two boards.
    pub(in crate::game) const fn has_two_boards(&self) -> bool {
        self.two_boards.is_some()
    }

    /// What an event of one of two boards is for the game: an event of the first board when it belongs to
    /// the game, else one of the second, which the session passes over.
    pub(in crate::game) fn route(&mut self, stamped: &mut Stamped, desk: &mut Desk<'_>) {
        let timeout_s = self.settings.mirror_timeout_s;
        let Some(boards) = &mut self.two_boards else { return };
        let (at, unit) = (stamped.at, stamped.unit);
        let event = std::mem::replace(&mut stamped.event, Event::Tick);
        let (own, mirrored) = (Unit::A, Unit::B);
        let session = desk.session;
        let (unit, event) = match event {
            Event::Piece { square: sensor, .. } | Event::Square { square: sensor, .. } => {
                let occupied = match event {
                    Event::Square { occupied, .. } => occupied,
                    Event::Piece { piece, .. } => piece.is_some(),
                    _ => false,
                };
                let square = if unit == Unit::A { session.square_of(sensor) } else { sensor };
                let goes = boards.change(unit, square, occupied, session);
                boards.changed(at, timeout_s);
                let square = session.sensor_of(square);
                (if goes { own } else { mirrored }, Event::Square { square, occupied })
            }
            Event::Occupied(_) | Event::Pieces(_) => {
                let sensors = match &event {
                    Event::Pieces(men) => men.occupied(),
                    Event::Occupied(occupied) => *occupied,
                    _ => Bitboard::EMPTY,
                };
                let occupied = if unit == Unit::A {
                    sensors.into_iter().map(|sensor| session.square_of(sensor)).collect()
                } else {
                    sensors
                };
                let merged = boards.report(unit, occupied, session);
                boards.changed(at, timeout_s);
                match merged {
                    Some(merged) => {
                        let sensors = merged.into_iter().map(|square| session.sensor_of(square)).collect();
                        (own, Event::Occupied(sensors))
                    }
                    None => (mirrored, event),
                }
            }
            Event::Link(up) | Event::Power(up) => {
                let was_down = boards.boards.iter().all(|board| !board.up);
                boards.board_mut(unit).up = up;
                let is_down = boards.boards.iter().all(|board| !board.up);
                let name = boards_name(unit);
                let detail = match up {
                    true => format!("board {name} is read again"),
                    false => format!("board {name} is not read; the game goes on with the other one"),
                };
                let code = if up { "board-back" } else { "board-lost" };
                desk.notice(Notice { detail: detail.into(), ..Notice::of(code, Audience::Arbiter) });
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

    /// The boards still differ after the time that they had.
    pub(super) fn tell_apart(&self, desk: &mut Desk<'_>) {
        let Some(boards) = &self.two_boards else { return };
        if boards.diverged.any() && boards.diverged == boards.differs() {
            let squares = boards.diverged.into_iter().map(Sq).collect();
            desk.notice(Notice { squares, ..Notice::of("boards-diverged", Audience::Arbiter) });
        }
    }

    /// The boards had time to agree.
    pub(super) fn compare_boards(&mut self, desk: &mut Desk<'_>) {
        let Some(boards) = &mut self.two_boards else { return };
        boards.due = None;
        let differs = boards.differs();
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
    pub(super) fn tell_boards(&self, desk: &mut Desk<'_>) {
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
        let fen = common.and_then(|ply| desk.session.position_after(ply)).map(super::fen_of);
        let left = |side| self.clocks.remaining(side, desk.at);
        desk.tell(LawFact::Boards(Box::new(BoardsState {
            a: step(first),
            b: step(second),
            squares: boards.differs().into_iter().map(Sq).collect(),
            ply: common.map(|ply| self.earlier.len() + ply),
            fen,
            white_ms: left(Color::White),
            black_ms: left(Color::Black),
            over: desk.session.is_over(),
            to: Audience::Arbiter,
        })));
    }
}

const fn boards_name(unit: Unit) -> &'static str {
    match unit {
        Unit::A => "A",
        Unit::B => "B",
    }
}
