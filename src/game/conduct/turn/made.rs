//! A move is made: what else would fit, and the turn of the next player.

use shakmaty::{Bitboard, Chess, Move, Position as _, Role, Square};

use super::{Contact, MAX_CONTACTS, Made, is_part_of, obligation::texts_of, tell_castling};
use crate::{
    game::conduct::{Conduct, Desk, UNCOMPLETED_MS},
    laws::{
        settings::TwoHands,
        touch::{self, Binding},
    },
    notation::chess960::{Castling, CastlingMethod},
    session::{
        fact::{
            Fact, FactKind,
            law::{Audience, Choice, Notice, Obligation, Partial, Side, Sq},
        },
        setup::BoardKind,
        time::MonoTime,
    },
};

impl Conduct {
    /// A move is about to be told as made: what it breaks, and what else would fit.
    pub(in crate::game::conduct) fn before_made(&mut self, made: Made, mv: Move, desk: &mut Desk<'_>) {
        let index = made.ply.saturating_sub(1);
        self.let_go_of_theirs(index, desk);
        if mv.is_promotion() || mv.is_castle() {
            self.look_at_men(mv, made, desk);
        } else if !self.was_seen(mv, index, desk) {
            self.tell_candidates(mv, index, desk);
        }
        if !self.keeps_to_touches(mv) {
            self.look_for_violation(mv, made, index, desk);
        }
        if mv.is_castle() {
            self.look_for_two_hands(mv, made.ply, desk);
        } else if mv.is_promotion() {
            self.look_at_promotion_order(mv, desk);
        }
    }

    /// What a castling or a promotion leaves open.
    #[cold]
    #[inline(never)]
    fn look_at_men(&mut self, mv: Move, made: Made, desk: &mut Desk<'_>) {
        let index = made.ply.saturating_sub(1);
        let open = mv.is_promotion() && self.board != BoardKind::Dgt;
        if open && desk.session.plies().len() == made.ply && self.promotion_read(mv, index, desk).is_none() {
            self.tell_promotion(mv, index, desk);
        } else if !self.was_seen(mv, index, desk) {
            self.tell_candidates(mv, index, desk);
        }
    }

    /// True when the men of a move were seen leaving and landing, and it cannot be another one.
    fn was_seen(&self, mv: Move, index: usize, desk: &Desk<'_>) -> bool {
        match mv {
            // It may be castling with a rook or king that nobody saw.
            Move::Normal { role: Role::King | Role::Rook, from, .. }
                if self.chess960 && self.may_have_castled(from, index, desk) =>
            {
                false
            }
            Move::Normal { from, to, .. } | Move::EnPassant { from, to } => {
                self.turn.lifted(from) && self.turn.placed(to)
            }
            _ => !(self.chess960 && mv.is_castle()),
        }
    }

    fn may_have_castled(&self, from: Square, index: usize, desk: &Desk<'_>) -> bool {
        desk.session.position_after(index).is_some_and(|before| {
            let men = before.our(Role::King) | before.our(Role::Rook);
            men.contains(from) && before.castles().any()
        })
    }

    /// The new piece was there before the pawn left (Article 4.6.2), where the event does not allow it.
    #[cold]
    #[inline(never)]
    pub(super) fn look_at_promotion_order(&self, mv: Move, desk: &mut Desk<'_>) {
        if self.settings.promotion_any_order || !mv.is_promotion() {
            return;
        }
        let first = |square: Option<Square>, occupied: bool| {
            let mut contacts = self.turn.contacts.iter();
            contacts.find(|contact| Some(contact.square) == square && contact.occupied == occupied)
        };
        let (left, came) = (first(mv.from(), false), first(Some(mv.to()), true));
        if matches!((left, came), (Some(left), Some(came)) if came.at < left.at) {
            let uci = Some(desk.session.move_text(mv));
            desk.notice(Notice { uci, ..Notice::of("promotion-order", Audience::Journal) });
        }
    }

    /// Men of the opponent that stay in the air while a move is made are in the opponent's own hand.
    pub(super) fn let_go_of_theirs(&mut self, index: usize, desk: &Desk<'_>) {
        let session = desk.session;
        let positions = session.position_after(index).zip(session.position_after(index + 1));
        let Some((before, after)) = positions else { return };
        let still = after.us() & before.them() & !session.occupied();
        if still.any() {
            self.forget_touches_of(still);
        }
    }

    #[cold]
    #[inline(never)]
    fn forget_touches_of(&mut self, still: Bitboard) {
        if self.turn.touches.iter().any(|touch| still.contains(touch.square)) {
            self.turn.touches.retain(|touch| !still.contains(touch.square));
            self.turn.unbind_touches();
        }
    }

    /// On a board that tells no pieces a promotion fits four moves (Article 3.7.3.3; 2005: 3.7e).
    #[cold]
    #[inline(never)]
    pub(super) fn tell_promotion(&mut self, mv: Move, index: usize, desk: &mut Desk<'_>) {
        let Some(before) = desk.session.position_after(index) else { return };
        let (Some(from), to) = (mv.from(), mv.to()) else { return };
        if self.turn.seldom().committed.is_none() && self.turn.placed(to) && !self.clocks.paused {
            let legal = before.legal_moves().into_iter();
            let moves: Vec<Move> =
                legal.filter(|other| other.from() == Some(from) && other.to() == to).collect();
            let partial = Partial::Pawn { pawn_from: Sq(from), pawn_to: Sq(to) };
            let texts = texts_of(&moves, desk);
            let binding = Binding {
                moves: Some(moves),
                rule: self.articles.pawn_released,
                must_move: None,
                must_capture: None,
                must_castle: None,
            };
            let touches = self.turn.touched();
            let obligation = self.obligation(&touches, &binding, desk);
            let partial = Some(partial);
            let by = Side(before.turn());
            let obligation = Obligation { by, legal: Choice::Of(texts.into()), ..obligation };
            desk.bind(obligation.with(|more| more.partial = partial));
        }
        let candidates = vec![format!("{from}{to}*")];
        desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind: FactKind::Ambiguous { candidates } });
    }

    /// Where not every man of a move was seen leaving and landing: the moves that would leave the same
    /// squares occupied, on a board that tells its men by the same men.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_candidates(&mut self, mv: Move, index: usize, desk: &mut Desk<'_>) {
        let Some(before) = desk.session.position_after(index) else { return };
        let castling = mv.is_castle() && self.chess960;
        let Some(after) = desk.session.position_after(index + 1) else { return };
        let shown = after.board().occupied();
        // A board that tells its men shows which of the moves it was.
        let tells_men = desk.session.men().is_some();
        let fits: Vec<Move> = before
            .legal_moves()
            .into_iter()
            .filter(|other| {
                let mut other_after = before.clone();
                other_after.play_unchecked(*other);
                let board = other_after.board();
                if tells_men { board == after.board() } else { board.occupied() == shown }
            })
            .collect();
        let net_zero = castling && shown == before.board().occupied();
        let double = Castling::of(mv).is_some_and(|castling| castling.method() == CastlingMethod::Double);
        let one_seen =
            matches!(mv, Move::Normal { from, to, .. } if self.turn.lifted(from) && self.turn.placed(to));
        let plain = fits.len() < 2 && (castling && double || one_seen || tells_men);
        let mut candidates: Vec<String> = fits.iter().map(|mv| desk.session.move_text(*mv).into()).collect();
        let instead = self.taken_instead(mv, before).map(|(from, to)| format!("{from}{to}"));
        let instead = instead.filter(|attempt| !candidates.iter().any(|uci| uci.starts_with(attempt)));
        candidates.extend(instead.clone());
        // What the arbiter names is no question.
        let named = self.named_at == Some(desk.ev);
        if !plain && !net_zero && !named && self.candidates_told != candidates {
            self.candidates_told.clone_from(&candidates);
            let kind = FactKind::Ambiguous { candidates: candidates.clone() };
            desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind });
            if instead.is_some() {
                desk.notice(Notice { candidates, ..Notice::of("ambiguous-move", Audience::Arbiter) });
            }
        }
        if castling {
            tell_castling(mv, desk);
        }
        if castling && fits.len() > 1 {
            let touches = self.turn.touched();
            if !touches.is_empty() {
                let binding = touch::binding(
                    before,
                    before.legal_moves().as_slice(),
                    &touches,
                    self.settings.rook_first_ban,
                    self.articles,
                );
                let by = Side(before.turn());
                let obligation = self.obligation(&touches, &binding, desk);
                desk.bind(Obligation { by, ..obligation });
            }
        }
        if net_zero {
            let notice = Notice::of("net-zero-move", Audience::Journal);
            let uci = Some(desk.session.move_text(mv));
            desk.notice(Notice { side: Some(Side(before.turn())), uci, ..notice });
        }
    }

    /// The man that is said to have been captured was not seen to leave, and another one of the opponent's was, with
    /// the man that moved in the air, and its square was filled again: the capture that the board shows, which is not
    /// legal.
    fn taken_instead(&self, mv: Move, before: &Chess) -> Option<(Square, Square)> {
        let from = mv.from().filter(|_| mv.is_capture() && !self.turn.lifted(mv.to()))?;
        let up = self.turn.contacts.iter().position(|contact| contact.left(from))?;
        let after = self.turn.contacts.get(up..)?;
        let refilled = |square: &Square| {
            let lifted = after.iter().position(|contact| contact.left(*square));
            let rest = lifted.and_then(|at| after.get(at..)).unwrap_or_default();
            rest.iter().any(|contact| contact.square == *square && contact.occupied)
        };
        let mut victims = before.them().into_iter().filter(refilled);
        let to = victims.next().filter(|_| victims.next().is_none())?;
        Some((from, to))
    }

    /// A move was told as made.
    pub(in crate::game::conduct) fn after_made(&mut self, made: Made, mv: Option<Move>, desk: &mut Desk<'_>) {
        if self.turn.seldom.is_some() || mv.is_some_and(|mv| mv.is_promotion()) {
            self.look_at_released(made, mv, desk);
        }
        self.last_made = mv.map(|mv| (made, mv));
        let since = self.spend_presses(made, desk);
        self.begin_turn(made, since, desk);
        if !self.answers.is_empty() {
            self.take_answers(made, desk);
        }
        if !self.candidates_told.is_empty()
            && self.turn_before.contacts.iter().any(|contact| !contact.occupied)
        {
            self.candidates_told.clear();
        }
        if self.irregularity.is_some() {
            self.finish_irregularity(made, desk);
        }
        self.claims.made(made.by);
        if !self.settings.implied_by_next_move {
            self.note_earlier_uncompleted(made, desk);
        }
        self.unpressed = Some((made.ply, made.placed.plus_ms(UNCOMPLETED_MS)));
        if self.two_boards.is_some() {
            self.made_on_two_boards(made.ply, desk);
            self.decide_promotion(made.ply, desk);
        }
        self.sealed_on_board(made, desk);
        self.look_for_draws(made, desk);
        self.look_for_dead(made, desk);
    }

    /// A man that had been released before, and a promotion whose piece nobody saw.
    #[cold]
    #[inline(never)]
    fn look_at_released(&mut self, made: Made, mv: Option<Move>, desk: &mut Desk<'_>) {
        if let (Some(released), Some(mv)) = (self.turn.seldom().released, mv)
            && released.mv != mv
        {
            let castled =
                mv.is_castle() && released.mv.role() == Role::King && is_part_of(released.mv, mv, made.by);
            let reason = if castled { "later-evidence" } else { "released-then-moved" };
            self.tell_revision(released.uci, made, reason, desk);
        }
        if let Some(mv) = mv.filter(|mv| mv.is_promotion() && self.board == BoardKind::Dgt) {
            self.watched.add(mv.to());
        }
        let index = made.ply.saturating_sub(1);
        let unread = |mv: &Move| {
            mv.is_promotion()
                && self.board != BoardKind::Dgt
                && self.promotion_read(*mv, index, desk).is_none()
        };
        if let Some(mv) = mv.filter(unread) {
            let notice = Notice::of("promotion-unknown", Audience::Arbiter);
            desk.notice(Notice { uci: Some(made.uci), square: Some(Sq(mv.to())), ..notice });
        }
    }

    /// The presses up to now were over this move, or are of no account any more; but after a move that the arbiter
    /// names those count that came after its own. Returns the moment after which the next player has the move.
    fn spend_presses(&mut self, made: Made, desk: &Desk<'_>) -> MonoTime {
        if self.named_at != Some(desk.ev) {
            self.presses.clear();
            return made.placed;
        }
        let of_move = self.presses.iter().take_while(|(side, _)| *side == made.by).count();
        let pressed = self.presses.drain(..of_move).next();
        pressed.map_or(made.placed, |(_, at)| at)
    }

    /// What the next player lifted before this move was known are his touches.
    #[cold]
    #[inline(never)]
    fn take_answers(&mut self, made: Made, desk: &mut Desk<'_>) {
        let of_next = self.answers.iter().take_while(|(side, _)| *side != made.by).count();
        let touches = self.answers.drain(..of_next).map(|(_, touch)| touch);
        self.turn.touches.extend(touches.take(MAX_CONTACTS));
        // Where the game has gone on already, they bind nobody any more.
        if of_next > 0 && desk.session.plies().len() == made.ply {
            self.tell_obligation(false, desk);
        }
    }

    /// The turn of the next player. What happened after the move belongs to it (after `since`), and men of his that
    /// were in the air before.
    pub(super) fn begin_turn(&mut self, made: Made, since: MonoTime, desk: &Desk<'_>) {
        std::mem::swap(&mut self.turn, &mut self.turn_before);
        self.turn.clear();
        self.turn.due = self.turn_before.due;
        let Some(after) = desk.session.position_after(made.ply) else { return };
        let in_hand = after.us() & !desk.session.occupied();
        let early = |contact: &Contact| in_hand.contains(contact.square) && !contact.occupied;
        let of_next = |contact: &&Contact| contact.at > since || early(contact);
        self.turn.contacts.extend(self.turn_before.contacts.iter().filter(of_next).copied());
        let adjusting = self.turn_before.seldom().adjusting;
        if adjusting.is_some_and(|adjusting| adjusting.by == after.turn()) {
            self.turn.seldom_mut().adjusting = adjusting;
        }
    }

    /// In an edition in which only the press completes, a move that was never pressed stays open.
    fn note_earlier_uncompleted(&mut self, made: Made, desk: &mut Desk<'_>) {
        if let Some(before) = made.ply.checked_sub(2).filter(|ply| *ply > 0) {
            self.note_uncompleted(before, desk);
        }
    }

    /// Two men of one move that were set down at the same instant (Article 4.1).
    #[cold]
    #[inline(never)]
    pub(super) fn look_for_two_hands(&mut self, mv: Move, ply: usize, desk: &mut Desk<'_>) {
        let window = self.settings.touch.two_hands_window_ms * 1000;
        let places: Vec<MonoTime> =
            self.turn.contacts.iter().filter(|contact| contact.occupied).map(|contact| contact.at).collect();
        let close = places.windows(2).any(|pair| matches!(pair, [a, b] if b.since(*a) <= window));
        if close {
            let to = match self.settings.illegal.two_hands {
                TwoHands::Counts => Audience::Arbiter,
                TwoHands::Discretion => Audience::Journal,
            };
            let uci = Some(desk.session.move_text(mv));
            desk.notice(Notice { uci, article: Some("4.1"), ..Notice::of("two-hands-suspected", to) });
            self.suspect_two_hands(mv, ply, desk);
        }
    }
}
