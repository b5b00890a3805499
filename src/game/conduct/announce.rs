//! Announcements on a blind player's board (Appendix D; 2005: Annex F): a move is executed when the men
//! stand, and it was announced. What was held back until the announcement leaves with it.

use std::collections::VecDeque;

use shakmaty::{Chess, Color, Move, Position as _, Square, san::SanPlus};

use super::{Conduct, Desk, Order};
use crate::{
    laws::settings::PegAnnounce,
    notation::{
        Form, Reading,
        announcement::{self, Speech},
    },
    session::{
        fact::{
            CompletedBy, Fact, FactKind,
            law::{Audience, Both, ClockCalc, LawFact, Notice, Side, Times},
        },
        setup::BoardKind,
        text::MoveText,
    },
};

/// What waits for an announcement.
#[derive(Clone, Debug, Default)]
pub(super) struct Announcing {
    required: bool,
    held: VecDeque<Fact>,
    /// How many plies had been made at the last announcement of one.
    spoken: usize,
    /// A move that was announced before it was on the board, and how many plies there were; a button does
    /// not tell which.
    ahead: Option<(usize, Option<Move>)>,
    /// The last promotion whose piece was announced before it was on the board, and the index of its ply.
    piece: Option<(usize, Move)>,
    /// A slip of the tongue about the move that waits, not corrected yet.
    slip: Option<Slip>,
}

/// A move that was not executed and was taken up again.
struct TakenUp {
    /// It had not been told.
    waited: bool,
    /// What was announced instead.
    named: Option<Move>,
}

/// Words that do not fit the move on the board.
#[derive(Clone, Debug)]
struct Slip {
    /// The ply of that move.
    ply: usize,
    /// What was said.
    said: String,
    /// The move that it names in that position.
    named: Option<Move>,
}

impl Announcing {
    /// Moves wait for their announcement.
    pub(super) const fn require(&mut self) {
        self.required = true;
    }

    /// A move waits for its announcement.
    pub(super) fn waits(&self) -> bool {
        !self.held.is_empty()
    }

    /// Tells a fact about a move, or holds it until the move is announced.
    pub(super) fn hold_or_tell(&mut self, fact: Fact, desk: &mut Desk<'_>) {
        if self.required || self.ahead.is_some() || self.slip.is_some() {
            self.hold_or_release(fact, desk);
        } else {
            desk.facts.push_back(fact);
        }
    }

    #[cold]
    fn hold_or_release(&mut self, mut fact: Fact, desk: &mut Desk<'_>) {
        let first = matches!(fact.kind, FactKind::MoveMade { .. });
        let mut slip = None;
        if !self.required && matches!(fact.kind, FactKind::MoveMade { .. } | FactKind::MoveCompleted { .. }) {
            // The press takes the announcement for granted.
            self.slip = None;
        }
        if let FactKind::MoveMade { ply, .. } = fact.kind
            && let Some((plies, named)) = self.ahead.take()
            && plies + 1 == ply
        {
            let made = desk.session.move_at(plies);
            let assumed = matches!(&fact.kind, FactKind::MoveMade { more, .. } if more.assumed);
            let is_made = |named: &Move| made.is_some_and(|made| are_one_promotion(made, *named));
            let piece = named.filter(|named| assumed && is_made(named));
            self.piece = piece.map(|named| (plies, named));
            if let (Some(named), Some(before)) = (piece, desk.session.position_after(plies)) {
                // No sensor told the piece: the call names it (Appendix D.2.1; 2005: F.2.1).
                let text = desk.session.move_text(named);
                rename(&mut fact, text, MoveText::san(SanPlus::from_move(before.clone(), named)));
                if made != piece {
                    desk.orders.push(Order::Correct(plies, vec![named], "announced"));
                }
            }
            if piece.is_some() || named.is_none_or(|named| made == Some(named)) {
                // It was announced before it was made.
                self.spoken = ply;
                self.release(desk);
                desk.facts.push_back(fact);
                return;
            }
            slip = named.zip(made).map(|both| (ply, both));
        }
        if self.required && (first || self.waits()) {
            if first && self.waits() {
                // The opponent went on without it.
                self.release(desk);
            }
            self.held.push_back(fact);
        } else {
            desk.facts.push_back(fact);
        }
        if let Some((ply, (named, made))) = slip {
            // Another move was announced than the one that was made then.
            let said = String::from(desk.session.move_text(named));
            self.slip_told(Slip { ply, said, named: Some(named) }, made, desk);
        }
    }

    /// Other words than the move on the board were said.
    fn slip_told(&mut self, slip: Slip, made: Move, desk: &mut Desk<'_>) {
        let (board_move, said) = (Some(desk.session.move_text(made)), Some(slip.said.clone()));
        self.slip = Some(slip);
        desk.notice(Notice { board_move, said, ..Notice::of("announce-mismatch", Audience::Journal) });
    }

    /// True while the last move is not executed, as far as is known: it waits for its announcement, or other words
    /// were said (Appendix D.2.3, D.2.6; 2005: F.2.3, F.2.6).
    pub(super) fn is_open(&self) -> bool {
        self.waits() || self.slip.is_some()
    }

    /// That ply was taken up again. What was said may be the move that comes. Nothing where the move was executed.
    fn take_up(&mut self, ply: usize) -> Option<TakenUp> {
        let made = |fact: &Fact| matches!(fact.kind, FactKind::MoveMade { ply: held, .. } if held == ply);
        let waited = self.held.iter().any(made);
        let slip = self.slip.take_if(|slip| slip.ply == ply);
        if !waited && slip.is_none() {
            return None;
        }
        if waited {
            self.held.clear();
        }
        let named = slip.and_then(|slip| slip.named);
        self.ahead = named.zip(ply.checked_sub(1)).map(|(named, plies)| (plies, Some(named)));
        Some(TakenUp { waited, named })
    }

    /// The move that is held is another one: its promoted piece was named.
    fn rename(&mut self, text: MoveText, before: &Chess, mv: Move) {
        let written = MoveText::san(SanPlus::from_move(before.clone(), mv));
        self.held.iter_mut().for_each(|fact| rename(fact, text, written));
    }

    /// This promotion with the piece that was announced before it was on the board.
    pub(super) fn piece_called(&self, mv: Move, index: usize) -> Option<Move> {
        let ahead = self.ahead.and_then(|(plies, named)| Some((plies, named?)));
        let called = [ahead, self.piece].into_iter().flatten();
        let mut of_ply = called.filter(|(plies, named)| *plies == index && are_one_promotion(mv, *named));
        of_ply.next().map(|(_, named)| named)
    }

    /// The player who made the move that waits has pressed.
    fn is_pressed(&self) -> bool {
        self.held.iter().any(|fact| matches!(fact.kind, FactKind::MoveCompleted { .. }))
    }

    fn release(&mut self, desk: &mut Desk<'_>) {
        self.slip = None;
        for Fact { mut kind, .. } in self.held.drain(..) {
            match &mut kind {
                FactKind::MoveMade { latest, .. } => *latest = desk.at,
                FactKind::MoveCompleted { how: how @ CompletedBy::Press, .. } => {
                    *how = CompletedBy::EarlierPress;
                }
                _ => {}
            }
            desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind });
        }
    }
}

impl Conduct {
    /// Moves wait for their announcement on a pegged board where announcements are known.
    pub(super) fn look_at_start(&mut self) {
        let pegged = matches!(self.board, BoardKind::Peg | BoardKind::TwoBoard);
        if pegged && self.settings.peg_announce != PegAnnounce::AssumeOnPress {
            self.announcing.require();
        }
    }

    /// How a move is called at a blind player's board.
    fn call(&self, mv: Move) -> String {
        let speech = self.settings.peg_speech.as_str().parse().unwrap_or(Speech::German);
        announcement::announce(mv, speech)
    }

    /// The button for announcements: the move that stands on the board was called, or the one that comes.
    pub(super) fn announced_by_button(&mut self, desk: &mut Desk<'_>) {
        let plies = desk.session.plies().len();
        if !self.announcing.waits() {
            if self.announcing.required {
                self.announcing.ahead = Some((plies, None));
            }
            return;
        }
        if let Some(mv) = plies.checked_sub(1).and_then(|last| desk.session.move_at(last)) {
            desk.tell(LawFact::Spoken { uci: desk.session.move_text(mv), text: self.call(mv) });
        }
        self.announcing.spoken = plies;
        self.announcing.release(desk);
    }

    /// Words that do not fit the last move: true where the player who is on move now calls his own with them. Before
    /// the press only a call that names the square of departure tells so much; `e5` may be a slip of the other one.
    fn is_of_the_next_move(&self, words: &str, desk: &Desk<'_>) -> bool {
        let position = desk.session.position();
        let Reading::Unique(next) = announcement::read(position, words) else { return false };
        let departure = next.from().map(|from| (Some(from.file()), Some(from.rank())));
        let is_whole = match announcement::hear(words) {
            Some(Form::Move { file, rank, .. }) => Some((file, rank)) == departure,
            Some(Form::Castling(_)) | None => false,
        };
        is_whole || self.announcing.is_pressed()
    }

    /// A slip of the tongue in the promoted piece, corrected before the press (Appendix D.2.6; 2005: F.2.6).
    fn names_another_piece(&mut self, words: &str, desk: &mut Desk<'_>) -> bool {
        let plies = desk.session.plies().len();
        let Some(index) = plies.checked_sub(1).filter(|_| self.announcing.spoken == plies) else {
            return false;
        };
        let open = desk.session.ply_at(index).is_some_and(|record| record.completed.is_none());
        let made = desk.session.move_at(index).filter(|mv| mv.is_promotion() && open);
        let (Some(mv), Some(before)) = (made, desk.session.position_after(index)) else { return false };
        let Reading::Unique(said) = announcement::read(before, words) else { return false };
        let other = (said.from(), said.to()) == (mv.from(), mv.to()) && said != mv;
        if other && self.board != BoardKind::Dgt {
            desk.orders.push(Order::Correct(index, vec![said], "announced"));
            desk.tell(LawFact::Spoken { uci: desk.session.move_text(said), text: self.call(said) });
        }
        other && self.board != BoardKind::Dgt
    }

    /// Somebody announced a move in words, or as UCI.
    pub(super) fn announced(&mut self, words: &str, desk: &mut Desk<'_>) {
        if self.names_another_piece(words, desk) {
            return;
        }
        let plies = desk.session.plies().len();
        let last = plies.checked_sub(1).filter(|_| self.announcing.spoken < plies);
        let made =
            last.and_then(|index| Some((desk.session.position_after(index)?, desk.session.move_at(index)?)));
        let waiting = self.announcing.waits() || !self.announcing.required;
        if let Some((before, mv)) = made.filter(|_| waiting) {
            let read = announcement::read(before, words);
            if let (Reading::Unique(said), Some(index)) = (&read, last)
                && said.is_promotion()
                && (said.from(), said.to()) == (mv.from(), mv.to())
                && *said != mv
            {
                // No sensor told the piece: the call names it (Appendix D.2.1; 2005: F.2.1).
                desk.orders.push(Order::Correct(index, vec![*said], "announced"));
                self.announcing.rename(desk.session.move_text(*said), before, *said);
                self.announcing.spoken = plies;
                let text = self.call(*said);
                desk.tell(LawFact::Spoken { uci: desk.session.move_text(*said), text });
                self.announcing.release(desk);
                return;
            }
            if read == Reading::Unique(mv) {
                let text = self.call(mv);
                desk.tell(LawFact::Spoken { uci: desk.session.move_text(mv), text });
                self.announcing.spoken = plies;
                self.announcing.release(desk);
                return;
            }
            if !self.is_of_the_next_move(words, desk) {
                let named = if let Reading::Unique(named) = read { Some(named) } else { None };
                let slip = Slip { ply: plies, said: said(words, before), named };
                self.announcing.slip_told(slip, mv, desk);
                if !matches!(self.board, BoardKind::Peg | BoardKind::TwoBoard) {
                    // On another board a move is made without words.
                    self.announcing.slip = None;
                }
                return;
            }
        }
        // Announced before it is on the board: the words go with the move that follows.
        if let Reading::Unique(mv) = announcement::read(desk.session.position(), words) {
            if let Some(boards) = &mut self.two_boards {
                boards.announce(desk.session.position(), mv);
            }
            self.announcing.ahead = Some((plies, Some(mv)));
            let text = self.call(mv);
            desk.tell(LawFact::Spoken { uci: desk.session.move_text(mv), text });
        } else {
            let notice = Notice::of("announce-mismatch", Audience::Journal);
            desk.notice(Notice { said: Some(said(words, desk.session.position())), ..notice });
        }
    }

    /// A move is taken back that was not executed: true where nobody was told of it. Nothing where it was executed.
    pub(super) fn takes_up_unannounced(&mut self, ply: usize, desk: &mut Desk<'_>) -> Option<bool> {
        let TakenUp { waited, named } = self.announcing.take_up(ply)?;
        if let Some(named) = named {
            desk.tell(LawFact::Spoken { uci: desk.session.move_text(named), text: self.call(named) });
        }
        Some(waited)
    }

    /// A man was lifted while the last move is not executed: whether it is one that stands there by this move, so that
    /// its player takes it up again.
    pub(super) fn takes_up_own_move(&self, square: Square, desk: &Desk<'_>) -> bool {
        let last = desk.session.plies().len().checked_sub(1);
        let before = last.and_then(|last| desk.session.position_after(last));
        before.is_some_and(|before| (desk.session.position().them() & !before.us()).contains(square))
    }

    /// A press while the move waits for its announcement (Appendix D.2.3; 2005: F.2.3).
    #[cold]
    pub(super) fn announcing_pressed(&mut self, side: Color, desk: &mut Desk<'_>) {
        if desk.turn() == side {
            return;
        }
        let side = Some(Side(side));
        if self.announcing.slip.is_some() {
            let notice = Notice::of("announce-mismatch", Audience::Arbiter);
            let said = self.announcing.slip.as_ref().map(|slip| slip.said.clone());
            desk.notice(Notice { side, said, corrected: Some(false), ..notice });
        } else {
            desk.notice(Notice { side, ..Notice::of("announce-missing", Audience::Arbiter) });
        }
    }

    /// What an assistant may be told on request: the number of moves and the times used (Appendix
    /// D.2.9.4; 2005: F.2.9d).
    pub(super) fn tell_status(&mut self, side: Color, desk: &mut Desk<'_>) {
        let moves: Both<u32> = self.moves_made(desk);
        let (white, black) = (moves.white, moves.black);
        desk.tell(LawFact::MoveCount { white, black, to: Audience::Assistant });
        for side in [side, !side] {
            let made = side.fold_wb(white, black);
            let allotted = self.clocks.allotted(side, made);
            if let (Some(allotted), Some(remaining)) = (allotted, self.clocks.remaining(side, desk.at)) {
                desk.calc(ClockCalc {
                    side: Some(Side(side)),
                    allotted: Some(allotted),
                    remaining: Some(remaining),
                    used: Some(allotted.saturating_sub(remaining)),
                    after: Some(Times::One(remaining)),
                    ..ClockCalc::of("time-used")
                });
            }
        }
    }
}

/// A fact about a promotion is of another piece.
fn rename(fact: &mut Fact, text: MoveText, written: MoveText) {
    match &mut fact.kind {
        FactKind::MoveMade { uci, san, more, .. } => {
            (*uci, *san) = (text, written);
            more.assumed = false;
        }
        FactKind::MoveCompleted { uci, .. } | FactKind::MovePublished { uci, .. } => *uci = text,
        _ => {}
    }
}

/// Promotions of the same pawn on the same square, whatever it becomes.
fn are_one_promotion(one: Move, other: Move) -> bool {
    one.is_promotion() && other.is_promotion() && (one.from(), one.to()) == (other.from(), other.to())
}

/// What an announcement names, by its squares where it names two.
fn said(words: &str, position: &Chess) -> String {
    let form = announcement::hear(words);
    form.and_then(|form| form.uci(position)).unwrap_or_else(|| words.to_owned())
}
