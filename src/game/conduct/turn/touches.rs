//! What is lifted, put back and adjusted, by the player who has the move (Articles 4.2, 4.3).

use shakmaty::{Bitboard, Color, Move, Position as _, Role, Square};

use super::{Adjusting, Contact, MAX_CONTACTS, Touch, Violation, is_part_of, squares};
use crate::{
    game::conduct::{Conduct, Desk, Order},
    laws::touch,
    session::{
        fact::law::{Audience, By, Notice, Obligation, Side, Sq},
        setup::BoardKind,
        time::MonoTime,
    },
};

impl Conduct {
    /// A square changed.
    pub(in crate::game) fn contact(&mut self, square: Square, occupied: bool, desk: &mut Desk<'_>) {
        if (self.irregularity.is_some() || self.watched.contains(square))
            && self.is_of_a_ruling(square, occupied, desk)
        {
            return;
        }
        if self.clocks.paused {
            self.exchange_promoted(square, occupied, desk);
            return;
        }
        if self.is_over(desk) {
            return;
        }
        if self.turn.contacts.len() < MAX_CONTACTS {
            self.turn.contacts.push(Contact { square, occupied, at: desk.at });
            if occupied {
                self.await_placed(desk.at);
            }
        }
        if self.irregularity.is_some() && !occupied && desk.session.debounces() {
            self.let_stand(square, desk);
        }
        if self.chess960 && desk.session.position().our(Role::King).contains(square) {
            self.turn.king_due = (!occupied).then(|| desk.at.plus_ms(self.settings.chess960.king_off_ms));
        }
        // Where a touched man may go is nothing to look at.
        let watched = occupied && !self.turn.reach.contains(square);
        self.turn.due = watched.then(|| desk.at.plus_ms(self.dwell_ms));
    }

    /// What an irregular move, a promotion or a ruling makes of a change. True where nothing else follows from it.
    #[cold]
    #[inline(never)]
    fn is_of_a_ruling(&mut self, square: Square, occupied: bool, desk: &mut Desk<'_>) -> bool {
        if occupied {
            self.look_if_it_stands(desk);
            self.look_at_promoted(square, desk);
        }
        let exchanged = self.exchanging.contains(square);
        if occupied {
            // The other man stands there now.
            self.exchanging.discard(square);
        }
        exchanged
    }

    /// The clocks were stopped to fetch a piece (Article 6.11.2; 2005: 6.13b): the move is made when the man
    /// on the last rank is exchanged.
    #[cold]
    fn exchange_promoted(&self, square: Square, occupied: bool, desk: &mut Desk<'_>) {
        let plies = desk.session.plies().len();
        let open = desk.session.last_ply().is_some_and(|record| record.completed.is_none());
        let readable = !occupied && open && self.board != BoardKind::Dgt;
        let Some(last) = plies.checked_sub(1).filter(|_| readable) else {
            return;
        };
        let promotion = |mv: &Move| mv.is_promotion() && mv.to() == square;
        if desk.session.move_at(last).as_ref().is_some_and(promotion) {
            desk.orders.push(Order::Restore(last));
        }
    }

    /// A king that was parked beside the board to castle has not come back.
    pub(in crate::game::conduct) fn king_is_off(&mut self, desk: &mut Desk<'_>) {
        self.turn.king_due = None;
        let Some(king) = desk.session.position().our(Role::King).first() else { return };
        let (men, occupied) = (desk.session.position().board().occupied(), desk.session.occupied());
        // One that stands somewhere else is not beside the board.
        let beside = (men & !occupied).count() > (occupied & !men).count();
        if !self.is_over(desk) && beside && !occupied.contains(king) {
            desk.notice(Notice { square: Some(Sq(king)), ..Notice::of("king-off", Audience::Arbiter) });
        }
    }

    /// A man was lifted; the session charges it to the player who has the move.
    pub(in crate::game::conduct) fn touched(&mut self, by: Color, square: Square, desk: &mut Desk<'_>) {
        if self.is_over(desk) {
            return;
        }
        let position = desk.session.position();
        let owner = position.board().color_at(square);
        self.see_hand(by, square, owner, desk);
        // Who has the move may adjust any man, the other player is heard where it is his own.
        let open = |adjusting: &Adjusting| {
            desk.at <= adjusting.until && (adjusting.by == by || owner == Some(adjusting.by))
        };
        if self.turn.seldom().adjusting.as_ref().is_some_and(open) {
            self.turn.seldom_mut().adjusted.add(square);
            return;
        }
        let undecided = desk.session.undecided_turn().is_some();
        if owner == Some(!by) && !undecided && self.goes_on_with(square, desk) {
            return;
        }
        let closes = |violation: &Violation| violation.open && !violation.forfeited;
        if self.violation.as_ref().is_some_and(closes) || self.claims.offer.is_some() {
            self.close_windows(by, desk);
        }
        if undecided {
            self.answer(by, square, desk);
            return;
        }
        self.take_touch(square, desk.at, false, desk);
    }

    /// A man was lifted while several moves fit what the clock was pressed over: it binds nobody before that is
    /// decided, and then whoever had the move (Article 4.3).
    #[cold]
    #[inline(never)]
    fn answer(&mut self, by: Color, square: Square, desk: &mut Desk<'_>) {
        let mut of_turn = self.answers.iter().rev().take_while(|(side, _)| *side == by);
        if self.answers.len() < MAX_CONTACTS && !of_turn.any(|(_, touch)| touch.square == square) {
            self.answers.push((by, Touch { square, at: desk.at }));
        }
    }

    /// When the man of the move that was told last was lifted.
    pub(in crate::game::conduct) fn last_lift(&self) -> Option<MonoTime> {
        let (made, mv) = self.last_made?;
        let of_move = |contact: &&Contact| !contact.occupied && touch::moved(mv) == Some(contact.square);
        let lift = self.turn_before.contacts.iter().rev().find(of_move);
        Some(lift.map_or(made.placed, |contact| contact.at))
    }

    /// Whoever lifted a man is there: the player who has the move, or its owner where it cannot be captured.
    pub(super) fn see_hand(&mut self, by: Color, square: Square, owner: Option<Color>, desk: &Desk<'_>) {
        if !(self.clocks.was_seen(Color::White) && self.clocks.was_seen(Color::Black)) {
            self.see_new_hand(by, square, owner, desk);
        }
    }

    #[cold]
    fn see_new_hand(&mut self, by: Color, square: Square, owner: Option<Color>, desk: &Desk<'_>) {
        let own_hand = owner.filter(|owner| *owner == by || desk.session.captures_of(square).is_empty());
        // The sealed move is put on the board by whoever is there (Guideline I.9; 2005: A.9).
        if self.adjournment.sealed_move().is_none() {
            self.clocks.see(own_hand.unwrap_or(by), desk.at);
        }
    }

    /// The player who moved one man of a castling and has not pressed takes the other one: his king after the
    /// rook, which is the wrong way round (Article 4.4.2; 2005: 4.4b), or in Chess960 the rook of a king that
    /// stands where it castles (Guideline II.3).
    pub(super) fn goes_on_with(&mut self, square: Square, desk: &mut Desk<'_>) -> bool {
        let Some((made, mv)) = self.last_made else { return false };
        let open = desk.session.last_ply().is_some_and(|record| record.completed.is_none());
        let Some(before) = made.ply.checked_sub(1).and_then(|index| desk.session.position_after(index))
        else {
            return false;
        };
        // Nearly always it is neither, and there is nothing to look for.
        let other = match mv.role() {
            Role::Rook => before.our(Role::King),
            Role::King => before.our(Role::Rook) & before.castles().castling_rights(),
            _ => return false,
        };
        if !open || !other.contains(square) || self.turn.has_touched() {
            return false;
        }
        let legal = before.legal_moves();
        let other_of = |castling: &Move| {
            let Move::Castle { king, rook } = *castling else { return false };
            let (other, free) = match mv.role() {
                Role::Rook => (king, true),
                _ => (rook, desk.session.captures_of(square).is_empty()),
            };
            free && other == square && is_part_of(mv, *castling, !desk.turn())
        };
        if !legal.iter().any(other_of) {
            return false;
        }
        self.turn_before.touches.push(Touch { square, at: desk.at });
        let touches = self.turn_before.touched();
        let binding =
            touch::binding(before, legal.as_slice(), &touches, self.settings.rook_first_ban, self.articles);
        let by = Side(before.turn());
        let obligation = self.obligation(&touches, &binding, desk);
        desk.bind(Obligation { by, ..obligation });
        self.turn_before.seldom_mut().binding = Some(binding);
        true
    }

    /// Takes a touch of the player who has the move, seen or reported, and tells what it binds him to.
    pub(in crate::game::conduct) fn take_touch(
        &mut self,
        square: Square,
        at: MonoTime,
        reported: bool,
        desk: &mut Desk<'_>,
    ) {
        let position = desk.session.position();
        if self.turn.touches.iter().any(|touch| touch.square == square)
            || self.turn.touches.len() >= MAX_CONTACTS
        {
            return;
        }
        if !reported && self.irregularity.is_some() && self.is_answer(square, desk) {
            let notice = Notice::of("touch-not-on-move", Audience::Journal);
            desk.notice(Notice { square: Some(Sq(square)), ..notice });
            return;
        }
        self.turn.touches.push(Touch { square, at });
        if position.them().contains(square) && !reported && !self.takes(square, desk) {
            let captures = desk.session.captures_of(square);
            if captures.is_empty() {
                // Nobody is bound by it; whose hand it was no sensor tells.
                let notice = Notice::of("touch-not-on-move", Audience::Journal);
                desk.notice(Notice { square: Some(Sq(square)), ..notice });
                if self.is_answered_by(!position.turn()) {
                    self.turn.touches.pop();
                    return;
                }
            } else if self.turn.touches.len() == 1 && !self.is_bound() {
                self.tell_victim(square, &captures, desk);
                return;
            }
        }
        self.tell_obligation(reported, desk);
    }

    /// The man that was touched first may capture on this square without becoming another one: a capture
    /// that is seen without looking for it.
    pub(super) fn takes(&self, square: Square, desk: &Desk<'_>) -> bool {
        let first = self.turn.touches.first().filter(|_| self.turn.reach.contains(square));
        first.is_some_and(|first| desk.session.position().us().contains(first.square))
    }

    /// A man was put back on its square.
    pub(in crate::game::conduct) fn put_back(&mut self, square: Square, away_ms: u64, desk: &mut Desk<'_>) {
        if away_ms < self.debounce_ms {
            // No hand is so quick: the contact opened, the man stood still.
            self.turn.touches.retain(|touch| touch.square != square);
            self.turn.unbind_touches();
            desk.notice(Notice { square: Some(Sq(square)), ..Notice::of("noise", Audience::Journal) });
            return;
        }
        let noted = self.turn.seldom.as_mut().and_then(|seldom| seldom.noted.take());
        if noted.is_some() && self.turn.has_touched() && desk.session.differs().is_empty() {
            // What was placed wrongly was taken back; the touch still counts.
            self.tell_obligation(false, desk);
        }
        let ours = desk.session.position().us();
        let back: Vec<Square> = {
            let mut seen = Bitboard::EMPTY;
            let returned = |square: &Square| self.turn.placed(*square);
            let mut list: Vec<Square> = Vec::new();
            for contact in self.turn.contacts.iter().filter(|contact| !contact.occupied) {
                if ours.contains(contact.square)
                    && returned(&contact.square)
                    && !seen.contains(contact.square)
                {
                    seen.add(contact.square);
                    list.push(contact.square);
                }
            }
            list.sort_unstable();
            list
        };
        let both_up = |first: Square, second: Square| {
            let lift = |square: Square, occupied: bool| {
                let mut all = self.turn.contacts.iter();
                all.find(|contact| contact.square == square && contact.occupied == occupied)
                    .map(|contact| contact.at)
            };
            match (lift(first, false), lift(first, true), lift(second, false), lift(second, true)) {
                (Some(up), Some(down), Some(other_up), Some(other_down)) => {
                    up < other_down && other_up < down
                }
                _ => false,
            }
        };
        // Two men that were in the air together may have come back each on the other's square.
        if let [first, second] = back.as_slice()
            && !self.turn.seldom().swap_noted
            && self.board != BoardKind::Dgt
            && desk.session.differs().is_empty()
            && both_up(*first, *second)
        {
            self.turn.seldom_mut().swap_noted = true;
            let notice = Notice::of("swap-hypothesis", Audience::Journal);
            desk.notice(Notice { squares: squares(&[*first, *second]), ..notice });
        }
    }

    /// `jadoube`: an adjustment is announced (Article 4.2.1; 2005: 4.2).
    pub(in crate::game::conduct) fn announce_adjustment(&mut self, by: Color, desk: &mut Desk<'_>) {
        let position = desk.session.position();
        if position.turn() != by {
            let notice = Notice::of("adjust-not-on-move", Audience::Arbiter);
            desk.notice(Notice { by: Some(By::Side(Side(by))), ..notice });
        } else if (position.us() & !desk.session.occupied()).any() && self.turn.has_touched() {
            let notice = Notice::of("adjust-announced-late", Audience::Journal);
            desk.notice(Notice { by: Some(By::Side(Side(by))), ..notice });
            return;
        }
        let until = desk.at.plus_ms(self.settings.touch.adjust_window_ms);
        self.turn.seldom_mut().adjusting = Some(Adjusting { by, until });
    }
}
