//! Men that were released, before the move is told and after (Article 4.7; 2005: 4.6).

use shakmaty::{Move, Position as _, Role, Square};

use super::{Committed, Contact, MAX_CONTACTS, Made, Released};
use crate::{
    game::conduct::{Conduct, Desk, Order},
    laws::touch::{self, Binding},
    session::{
        fact::{
            Fact, FactKind,
            law::{Audience, Notice, Partial, Sq},
        },
        setup::BoardKind,
        text::MoveText,
    },
};

impl Conduct {
    /// A placement has rested: what was released binds, and what is no legal move is noted.
    pub(in crate::game::conduct) fn settled(&mut self, desk: &mut Desk<'_>) {
        if self.is_over(desk) || self.clocks.paused {
            return;
        }
        let position = desk.session.position();
        let occupied = position.board().occupied();
        let differs = occupied ^ desk.session.occupied();
        let missing = differs & occupied;
        let extra = differs & !occupied;
        let (Some(from), Some(to)) = (missing.single_square(), extra.single_square()) else { return };
        if !position.us().contains(from) || self.turn.seldom().committed.is_some() {
            return;
        }
        let legal = desk.session.moves_of(from);
        let king = position.our(Role::King).contains(from);
        let two_files = from.file().distance(to.file()) == 2 && from.rank() == to.rank();
        let simple =
            legal.iter().any(|mv| touch::moved(*mv) == Some(from) && !mv.is_castle() && mv.to() == to);
        if king && two_files && !self.chess960 && !simple {
            let castling = legal.iter().copied().find(|mv| {
                mv.castling_side()
                    .is_some_and(|side| (side == shakmaty::CastlingSide::KingSide) == (to > from))
            });
            // Who has touched the other rook has to castle with that one (Article 4.4.1; 2005: 4.4a).
            if castling.is_some_and(|mv| !self.bind(&self.ordered(desk).0, desk).allows(mv)) {
                return;
            }
            let moves: Vec<Move> = match castling {
                Some(mv) => vec![mv],
                None => legal,
            };
            let rule = match castling {
                Some(_) => self.articles.king_released,
                None => self.articles.king_released_illegal,
            };
            let committed = Committed {
                partial: Partial::King { king_to: Sq(to) },
                moves,
                castling: castling.is_some(),
                rule,
            };
            self.commit(committed, castling, desk);
            return;
        }
        let possible = legal.iter().any(|mv| mv.to() == to);
        self.look_at_pawn(from, to, desk);
        if !possible && self.turn.seldom().noted != Some((from, to)) && !king {
            self.turn.seldom_mut().noted = Some((from, to));
            let attempt = Some(format!("{from}{to}"));
            desk.notice(Notice { attempt, ..Notice::of("illegal-uncompleted", Audience::Journal) });
        }
    }

    /// A pawn that stands on the last rank is committed to promote there (Article 4.7.3; 2005: 4.6c).
    pub(super) fn look_at_pawn(&mut self, from: Square, to: Square, desk: &mut Desk<'_>) {
        let position = desk.session.position();
        if !position.our(Role::Pawn).contains(from) || self.turn.seldom().committed.is_some() {
            return;
        }
        let legal = desk.session.moves_of(from).into_iter();
        let moves: Vec<Move> = legal.filter(|mv| mv.is_promotion() && mv.to() == to).collect();
        if !moves.is_empty() {
            let partial = Partial::Pawn { pawn_from: Sq(from), pawn_to: Sq(to) };
            let committed = Committed { partial, moves, castling: false, rule: self.articles.pawn_released };
            self.commit(committed, None, desk);
        }
    }

    pub(super) fn commit(&mut self, committed: Committed, castling: Option<Move>, desk: &mut Desk<'_>) {
        let rule = committed.rule;
        let moves = if committed.moves.is_empty() { None } else { Some(committed.moves.clone()) };
        let binding = Binding { moves, rule, must_move: None, must_capture: None, must_castle: castling };
        let touches = self.turn.touched();
        let obligation = self.obligation(&touches, &binding, desk);
        let partial = Some(committed.partial);
        desk.bind(obligation.with(|more| more.partial = partial));
        self.turn.seldom_mut().committed = Some(committed);
    }

    /// A made move was taken up again: its man had been released, where the move was executed.
    pub(in crate::game::conduct) fn withdrawn(&mut self, executed: bool, desk: &Desk<'_>) {
        if self.ruled_back {
            return;
        }
        let contacts = std::mem::take(&mut self.turn.contacts);
        let due = self.turn.due;
        self.turn = std::mem::take(&mut self.turn_before);
        self.turn.contacts.extend(contacts.into_iter().take(MAX_CONTACTS));
        self.turn.due = due;
        self.unpressed = None;
        let Some((made, mv)) = self.last_made.take().filter(|_| executed) else { return };
        let up = |contact: &&Contact| contact.square == mv.to() && !contact.occupied;
        let lifted = self.turn.contacts.iter().rev().find(up).map_or(desk.at, |contact| contact.at);
        let dwell_ms = lifted.since(made.placed) / 1000;
        self.turn.seldom_mut().released.get_or_insert(Released { mv, uci: made.uci, dwell_ms });
    }

    /// A ply was read again.
    pub(in crate::game::conduct) fn revised(&mut self, was: MoveText, uci: MoveText, desk: &mut Desk<'_>) {
        let piece = |text: &str| text.as_bytes().get(4).map(|letter| char::from(letter.to_ascii_uppercase()));
        let squares = |text: &str| text.get(..4).map(str::to_owned);
        if self.board == BoardKind::Dgt
            && squares(&was) == squares(&uci)
            && let (Some(first), Some(now)) = (piece(&was), piece(&uci))
        {
            let notice = Notice::of("promotion-changed", Audience::Arbiter);
            desk.notice(Notice { first: Some(first), now: Some(now), ..notice });
        }
    }

    /// A man was set down where a pawn was promoted: another piece than the one that was pressed over is told, the
    /// game keeps that one until the arbiter says otherwise, and goes on (Article 4.4.4; 2005: 4.4d).
    #[cold]
    pub(super) fn look_at_promoted(&mut self, square: Square, desk: &mut Desk<'_>) {
        let Some((made, mv)) = self.last_made else { return };
        let completed = desk
            .session
            .last_ply()
            .is_some_and(|record| record.uci == made.uci && record.completed.is_some());
        let man = desk.session.men().and_then(|men| men.piece_at(square));
        let (Some(first), Some(man)) = (mv.promotion().filter(|_| mv.to() == square), man) else { return };
        let other = man.color == made.by && man.role != first && man.role != Role::Pawn;
        if !completed || !other || self.is_over(desk) {
            return;
        }
        self.turn.forget_touches_on(square.into());
        let notice = Notice::of("promotion-changed", Audience::Arbiter);
        desk.notice(Notice {
            first: Some(first.upper_char()),
            now: Some(man.role.upper_char()),
            square: Some(Sq(square)),
            ..notice
        });
        desk.orders.push(Order::Exchanged(square));
    }

    /// The move that a man was released for is another one now.
    pub(super) fn tell_revision(&self, was: MoveText, made: Made, reason: &'static str, desk: &mut Desk<'_>) {
        let Some(record) = desk.session.ply_at(made.ply.saturating_sub(1)) else { return };
        let kind = FactKind::MoveRevised {
            ply: made.ply,
            was,
            uci: record.uci,
            san: record.san,
            reason,
            published: false,
        };
        desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind });
    }
}
