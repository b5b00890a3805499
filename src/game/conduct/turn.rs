//! The half-move under way: touches in their order, adjusting, men that were released, and what a move
//! that was made means for them (Article 4).

use shakmaty::{Bitboard, Board, Color, Move, Position as _, Role, Square};

use super::{Conduct, Desk, UNCOMPLETED_MS, audience};
use crate::{
    laws::{
        settings::{ForfeitScope, IntentDefault, RookFirstBan, TwoHands},
        touch::{self, Binding},
    },
    notation::chess960::{Castling, CastlingMethod},
    session::{
        fact::law::{
            Audience, By, Choice, LawFact, Notice, Obligation, OneOrNone, Partial, Side, Sq, Squares,
            Uncertain,
        },
        setup::BoardKind,
        text::MoveText,
        time::MonoTime,
    },
};

/// So many contacts of one turn are remembered, the first ones.
const MAX_CONTACTS: usize = 64;

/// A touch by the player who has the move.
#[derive(Clone, Copy, Debug)]
struct Touch {
    square: Square,
    at: MonoTime,
}

/// A square that changed.
#[derive(Clone, Copy, Debug)]
struct Contact {
    square: Square,
    occupied: bool,
    at: MonoTime,
}

/// A move that was made and taken up again before its completion.
#[derive(Clone, Copy, Debug)]
struct Released {
    mv: Move,
    uci: MoveText,
    dwell_ms: u64,
}

/// An adjustment that was announced (Article 4.2).
#[derive(Clone, Copy, Debug)]
struct Adjusting {
    by: Color,
    until: MonoTime,
}

/// What was released already, and leaves these moves (Article 4.7; 2005: 4.6).
#[derive(Clone, Debug)]
struct Committed {
    partial: Partial,
    moves: Vec<Move>,
    castling: bool,
}

/// The turn of the player who has the move.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    touches: Vec<Touch>,
    contacts: Vec<Contact>,
    /// What several touches bind to; one alone is looked up when it is needed.
    binding: Option<Binding>,
    /// Where the man that was touched first may go without becoming another one.
    reach: Bitboard,
    adjusting: Option<Adjusting>,
    /// Men that were lifted under an announced adjustment.
    adjusted: Bitboard,
    released: Option<Released>,
    committed: Option<Committed>,
    /// Moves that the player announced with a claim that was refused.
    bound_to: Option<Vec<Move>>,
    /// A placement that is no legal move was noted.
    noted: Option<(Square, Square)>,
    swap_noted: bool,
    /// When a placement has rested for the dwell time.
    pub(super) due: Option<MonoTime>,
    /// When the king of the player has been beside the board for too long to be castling (Guideline II.3).
    pub(super) king_due: Option<MonoTime>,
}

impl Turn {
    /// A turn in which nothing has happened; the memory it took is kept.
    fn clear(&mut self) {
        let (mut touches, mut contacts) =
            (std::mem::take(&mut self.touches), std::mem::take(&mut self.contacts));
        touches.clear();
        contacts.clear();
        *self = Turn { touches, contacts, ..Turn::default() };
    }

    /// True when the player has touched a man with the intention to move or capture.
    pub(super) fn has_touched(&self) -> bool {
        !self.touches.is_empty()
    }

    /// The squares that were touched, in order.
    pub(super) fn touched(&self) -> Vec<Square> {
        self.touches.iter().map(|touch| touch.square).collect()
    }

    /// The player has to play one of these (Article 9.5).
    pub(super) fn bind_to(&mut self, moves: Vec<Move>) {
        self.bound_to = Some(moves);
    }

    /// What was lifted was no touch in law.
    pub(super) fn forget_touches(&mut self) {
        self.touches.clear();
        self.binding = None;
    }

    /// The capture that the board shows although it is not legal: one man of the player is gone, and a man
    /// of the opponent was lifted and its square filled again.
    pub(super) fn taken_by_nobody(&self, desk: &Desk<'_>) -> Option<(Square, Square)> {
        let position = desk.session.position();
        let from = desk.session.differs().single_square()?;
        let refilled = |square: &Square| self.lifted(*square) && self.placed(*square);
        let mut victims = position.them().into_iter().filter(refilled);
        let to = victims.next().filter(|_| victims.next().is_none())?;
        position.us().contains(from).then_some((from, to))
    }

    fn lifted(&self, square: Square) -> bool {
        self.contacts.iter().any(|contact| contact.square == square && !contact.occupied)
    }

    /// When a man was set down last.
    pub(super) fn last_place(&self) -> Option<MonoTime> {
        self.contacts.iter().rev().find(|contact| contact.occupied).map(|contact| contact.at)
    }

    fn placed(&self, square: Square) -> bool {
        self.contacts.iter().any(|contact| contact.square == square && contact.occupied)
    }
}

/// A breach of Article 4 that the opponent may claim.
#[derive(Clone, Debug)]
pub(super) struct Violation {
    pub ply: usize,
    pub by: Color,
    pub article: &'static str,
    /// The breach is of Articles 4.3 or 4.4.
    pub of_touch: bool,
    /// The move was completed and the window told.
    pub open: bool,
    pub forfeited: bool,
    /// What was touched, in order, and what it bound the player to.
    touches: Vec<Touch>,
    binding: Binding,
    /// What was released and bound him.
    partial: Option<Partial>,
}

/// A move as it was told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub ply: usize,
    pub uci: MoveText,
    pub by: Color,
    pub placed: MonoTime,
}

fn squares(list: &[Square]) -> Vec<Sq> {
    list.iter().copied().map(Sq).collect()
}

impl Conduct {
    /// A square changed.
    pub(super) fn contact(&mut self, square: Square, occupied: bool, desk: &mut Desk<'_>) {
        if self.clocks.paused && !occupied {
            self.exchange_promoted(square, desk);
        }
        if self.clocks.paused || self.is_over(desk) {
            return;
        }
        if self.turn.contacts.len() < MAX_CONTACTS {
            self.turn.contacts.push(Contact { square, occupied, at: desk.at });
        }
        if self.chess960 && desk.session.position().our(Role::King).contains(square) {
            self.turn.king_due = (!occupied).then(|| desk.at.plus_ms(self.settings.chess960.king_off_ms));
        }
        // Where a touched man may go is nothing to look at.
        let watched = occupied && !self.turn.reach.contains(square);
        self.turn.due = watched.then(|| desk.at.plus_ms(self.dwell_ms));
    }

    /// A king that was parked beside the board to castle has not come back.
    pub(super) fn king_is_off(&mut self, desk: &mut Desk<'_>) {
        self.turn.king_due = None;
        let Some(king) = desk.session.position().our(Role::King).first() else { return };
        if !self.is_over(desk) && !desk.session.occupied().contains(king) {
            desk.notice(Notice { square: Some(Sq(king)), ..Notice::of("king-off", Audience::Arbiter) });
        }
    }

    /// The clocks were stopped to fetch a piece (Article 6.11.2; 2005: 6.13b): the move is made when the man
    /// on the last rank is exchanged.
    fn exchange_promoted(&self, square: Square, desk: &mut Desk<'_>) {
        let plies = desk.session.plies().len();
        let open = desk.session.plies().last().is_some_and(|record| record.completed.is_none());
        let Some(last) = plies.checked_sub(1).filter(|_| open && self.board != BoardKind::Dgt) else {
            return;
        };
        let promotion = |mv: &Move| mv.is_promotion() && mv.to() == square;
        if desk.session.move_at(last).as_ref().is_some_and(promotion) {
            desk.orders.push(super::Order::Restore(last));
        }
    }

    /// A man was lifted; the session charges it to the player who has the move.
    pub(super) fn touched(&mut self, by: Color, square: Square, desk: &mut Desk<'_>) {
        if self.is_over(desk) {
            return;
        }
        let position = desk.session.position();
        let owner = position.board().color_at(square);
        self.see_hand(by, square, owner, desk);
        let open = |adjusting: &Adjusting| desk.at <= adjusting.until && owner == Some(adjusting.by);
        if self.turn.adjusting.as_ref().is_some_and(open) {
            self.turn.adjusted.add(square);
            return;
        }
        if owner == Some(!by) && self.goes_on_with(square, desk) {
            return;
        }
        self.close_windows(by, desk);
        self.take_touch(square, desk.at, false, desk);
    }

    /// Whoever lifted a man is there: the player who has the move, or its owner where it cannot be captured.
    fn see_hand(&mut self, by: Color, square: Square, owner: Option<Color>, desk: &Desk<'_>) {
        if self.clocks.was_seen(Color::White) && self.clocks.was_seen(Color::Black) {
            return;
        }
        let own_hand = owner.filter(|owner| *owner == by || desk.session.captures_of(square).is_empty());
        self.clocks.see(own_hand.unwrap_or(by));
    }

    /// The player who moved a rook and has not pressed takes his king: he castles the wrong way round
    /// (Article 4.4.2; 2005: 4.4b).
    fn goes_on_with(&mut self, square: Square, desk: &mut Desk<'_>) -> bool {
        let Some((made, mv)) = self.last_made else { return false };
        let open = desk.session.plies().last().is_some_and(|record| record.completed.is_none());
        let Some(before) = made.ply.checked_sub(1).and_then(|index| desk.session.position_after(index))
        else {
            return false;
        };
        let king = before.our(Role::King).contains(square);
        if !open || !king || mv.role() != Role::Rook || self.turn.has_touched() {
            return false;
        }
        let legal = before.legal_moves();
        let castles = |other: &Move| matches!(other, Move::Castle { rook, .. } if Some(*rook) == mv.from());
        if !legal.iter().any(castles) {
            return false;
        }
        self.turn_before.touches.push(Touch { square, at: desk.at });
        let touches = self.turn_before.touched();
        let binding =
            touch::binding(before, legal.as_slice(), &touches, self.settings.rook_first_ban, self.articles);
        let by = Side(before.turn());
        let obligation = self.obligation(&touches, &binding, desk);
        desk.tell(LawFact::Obligation(Obligation { by, ..obligation }));
        self.turn_before.binding = Some(binding);
        true
    }

    /// Takes a touch of the player who has the move, seen or reported, and tells what it binds him to.
    pub(super) fn take_touch(&mut self, square: Square, at: MonoTime, reported: bool, desk: &mut Desk<'_>) {
        let position = desk.session.position();
        if self.turn.touches.iter().any(|touch| touch.square == square)
            || self.turn.touches.len() >= MAX_CONTACTS
        {
            return;
        }
        self.turn.touches.push(Touch { square, at });
        let theirs = position.them().contains(square);
        if theirs && !reported && !self.takes(square, desk) && desk.session.captures_of(square).is_empty() {
            // Nobody is bound by it; whose hand it was no sensor tells.
            let notice = Notice::of("touch-not-on-move", Audience::Journal);
            desk.notice(Notice { square: Some(Sq(square)), ..notice });
        }
        self.tell_obligation(reported, desk);
    }

    /// The man that was touched first may capture on this square without becoming another one: a capture
    /// that is seen without looking for it.
    fn takes(&self, square: Square, desk: &Desk<'_>) -> bool {
        let first = self.turn.touches.first().filter(|_| self.turn.reach.contains(square));
        first.is_some_and(|first| desk.session.position().us().contains(first.square))
    }

    /// The touches in the order that counts: an own man first where the order cannot be told, a king
    /// before its rook.
    fn ordered(&self, desk: &Desk<'_>) -> (Vec<Square>, Option<&'static str>) {
        let position = desk.session.position();
        let window = self.settings.touch.order_uncertain_ms * 1000;
        let mut touches = self.turn.touches.clone();
        let mut first_assumed = None;
        let ours = |touch: &Touch| position.us().contains(touch.square);
        let king = position.our(Role::King).first();
        let own = touches.iter().position(ours);
        let theirs = touches.iter().position(|touch| !ours(touch));
        if let (Some(own), Some(theirs)) = (own, theirs)
            && theirs < own
            && let (Some(mine), Some(other)) = (touches.get(own).copied(), touches.get(theirs))
            && mine.at.since(other.at) <= window
        {
            touches.remove(own);
            touches.insert(theirs, mine);
            first_assumed = Some("own");
        }
        if let [first, second, ..] = touches.as_mut_slice()
            && Some(second.square) == king
            && ours(first)
            && second.at.since(first.at) <= window
            && self.turn.touches.len() >= 2
        {
            std::mem::swap(first, second);
            first_assumed = Some("king");
        }
        (touches.into_iter().map(|touch| touch.square).collect(), first_assumed)
    }

    pub(super) fn bind(&self, touches: &[Square], desk: &Desk<'_>) -> Binding {
        touch::binding(
            desk.session.position(),
            desk.session,
            touches,
            self.settings.rook_first_ban,
            self.articles,
        )
    }

    fn certainty(&self) -> &'static str {
        let pegged =
            self.board == BoardKind::Peg || self.two_boards.as_ref().is_some_and(super::TwoBoards::is_pegged);
        match (pegged, self.settings.touch.intent_default) {
            (true, _) => "law",
            (_, IntentDefault::PresumedDeliberate) => "presumed-deliberate",
            (_, IntentDefault::UnlessAccidental) => "law-unless-clearly-accidental",
        }
    }

    pub(super) fn tell_obligation(&mut self, reported: bool, desk: &mut Desk<'_>) {
        if self.tell_common(reported, desk) {
            return;
        }
        let (touches, uncertain) = self.ordered(desk);
        let binding = self.bind(&touches, desk);
        let obligation = self.obligation(&touches, &binding, desk);
        let uncertain = uncertain.map(|assumed_first| Uncertain { order: "uncertain", assumed_first });
        desk.tell(LawFact::Obligation(Obligation { uncertain, reported, ..obligation }));
        self.turn.reach = Bitboard::EMPTY;
        self.turn.binding = Some(binding);
    }

    /// The common cases: one man of the player's own, or it and one that it captures. False when it is another.
    fn tell_common(&mut self, reported: bool, desk: &mut Desk<'_>) -> bool {
        let us = desk.session.position().us();
        let apart_us = self.settings.touch.order_uncertain_ms * 1000;
        match *self.turn.touches.as_slice() {
            [one] if us.contains(one.square) => {
                self.tell_one_touched(one.square, reported, desk);
                true
            }
            [one, other] => {
                let order = [one.square, other.square];
                let certain = other.at.since(one.at) > apart_us;
                match (us.contains(one.square), us.contains(other.square)) {
                    (true, false) => self.tell_capture(one.square, other.square, order, reported, desk),
                    (false, true) if certain => {
                        self.tell_capture(other.square, one.square, order, reported, desk)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// One man of the player's own was touched.
    fn tell_one_touched(&mut self, square: Square, reported: bool, desk: &mut Desk<'_>) {
        let mut texts = Vec::with_capacity(16);
        let mut reach = Bitboard::EMPTY;
        let session = desk.session;
        session.each_move_of(square, |mv| {
            texts.push(session.move_text(mv));
            if mv.role() != Role::King && !mv.is_promotion() {
                reach.add(mv.to());
            }
        });
        let free = texts.is_empty();
        self.turn.reach = reach;
        self.turn.binding = None;
        desk.tell(LawFact::Obligation(Obligation {
            legal: if free { Choice::Any } else { Choice::Of(texts) },
            rule: if free { self.articles.free } else { self.articles.own },
            must_move: OneOrNone((!free).then_some(Sq(square))),
            reported,
            ..self.no_obligation(Squares::One(Sq(square)), desk)
        }));
    }

    /// A man of the player's own and one of the opponent's that it can capture. False when it
    /// cannot.
    fn tell_capture(
        &mut self,
        man: Square,
        victim: Square,
        touches: [Square; 2],
        reported: bool,
        desk: &mut Desk<'_>,
    ) -> bool {
        let mut texts = Vec::new();
        let mut promotes = false;
        let session = desk.session;
        session.each_move_of(man, |mv| {
            if touch::captured(mv) == Some(victim) {
                texts.push(session.move_text(mv));
                promotes |= mv.is_promotion();
            }
        });
        if texts.is_empty() {
            return false;
        }
        self.turn.reach = if promotes { Bitboard::EMPTY } else { Bitboard::from_square(victim) };
        self.turn.binding = None;
        desk.tell(LawFact::Obligation(Obligation {
            legal: Choice::Of(texts),
            rule: self.articles.both,
            must_move: OneOrNone(Some(Sq(man))),
            must_capture: OneOrNone(Some(Sq(victim))),
            reported,
            ..self.no_obligation(Squares::Many(squares(&touches)), desk)
        }));
        true
    }

    /// What every obligation has; nothing binds yet.
    fn no_obligation(&self, touches: Squares, desk: &Desk<'_>) -> Obligation {
        Obligation {
            by: Side(desk.turn()),
            touches,
            legal: Choice::Any,
            rule: self.articles.free,
            must_move: OneOrNone(None),
            must_capture: OneOrNone(None),
            must_castle: None,
            rook_first_ban: None,
            partial: None,
            uncertain: None,
            reported: false,
            certainty: self.certainty(),
        }
    }

    fn obligation(&self, touches: &[Square], binding: &Binding, desk: &Desk<'_>) -> Obligation {
        let all = self.settings.rook_first_ban == RookFirstBan::All;
        Obligation {
            legal: match &binding.moves {
                None => Choice::Any,
                Some(moves) => Choice::Of(self.texts(moves, desk)),
            },
            rule: binding.rule,
            must_move: OneOrNone(binding.must_move.map(Sq)),
            must_capture: OneOrNone(binding.must_capture.map(Sq)),
            must_castle: binding.must_castle.map(|mv| desk.session.move_text(mv)),
            rook_first_ban: (all && binding.rule == self.articles.rook_king).then_some("all"),
            ..self.no_obligation(Squares::Many(squares(touches)), desk)
        }
    }

    /// A man was put back on its square.
    pub(super) fn put_back(&mut self, square: Square, away_ms: u64, desk: &mut Desk<'_>) {
        self.turn.adjusted.discard(square);
        if away_ms < self.debounce_ms {
            // No hand is so quick: the contact opened, the man stood still.
            self.turn.touches.retain(|touch| touch.square != square);
            self.turn.binding = None;
            desk.notice(Notice { square: Some(Sq(square)), ..Notice::of("noise", Audience::Journal) });
            return;
        }
        if self.turn.noted.take().is_some() && self.turn.has_touched() && desk.session.differs().is_empty() {
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
            && !self.turn.swap_noted
            && self.board != BoardKind::Dgt
            && desk.session.differs().is_empty()
            && both_up(*first, *second)
        {
            self.turn.swap_noted = true;
            let notice = Notice::of("swap-hypothesis", Audience::Journal);
            desk.notice(Notice { squares: squares(&[*first, *second]), ..notice });
        }
    }

    /// `jadoube`: an adjustment is announced (Article 4.2.1; 2005: 4.2).
    pub(super) fn announce_adjustment(&mut self, by: Color, desk: &mut Desk<'_>) {
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
        self.turn.adjusting = Some(Adjusting { by, until });
    }

    /// A placement has rested: what was released binds, and what is no legal move is noted.
    pub(super) fn settled(&mut self, desk: &mut Desk<'_>) {
        if self.is_over(desk) || self.clocks.paused {
            return;
        }
        let position = desk.session.position();
        let occupied = position.board().occupied();
        let differs = occupied ^ desk.session.occupied();
        let missing = differs & occupied;
        let extra = differs & !occupied;
        let (Some(from), Some(to)) = (missing.single_square(), extra.single_square()) else { return };
        if !position.us().contains(from) || self.turn.committed.is_some() {
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
            let moves: Vec<Move> = match castling {
                Some(mv) => vec![mv],
                None => legal,
            };
            let rule = match castling {
                Some(_) => self.articles.king_released,
                None => self.articles.king_released_illegal,
            };
            let committed =
                Committed { partial: Partial::King { king_to: Sq(to) }, moves, castling: castling.is_some() };
            self.commit(committed, rule, castling, desk);
            return;
        }
        let possible = legal.iter().any(|mv| mv.to() == to);
        self.look_at_pawn(from, to, desk);
        if !possible && self.turn.noted != Some((from, to)) && !king {
            self.turn.noted = Some((from, to));
            let attempt = Some(format!("{from}{to}"));
            desk.notice(Notice { attempt, ..Notice::of("illegal-uncompleted", Audience::Journal) });
        }
    }

    /// A pawn that stands on the last rank is committed to promote there (Article 4.7.3; 2005: 4.6c).
    fn look_at_pawn(&mut self, from: Square, to: Square, desk: &mut Desk<'_>) {
        let position = desk.session.position();
        if !position.our(Role::Pawn).contains(from) || self.turn.committed.is_some() {
            return;
        }
        let legal = desk.session.moves_of(from).into_iter();
        let moves: Vec<Move> = legal.filter(|mv| mv.is_promotion() && mv.to() == to).collect();
        if !moves.is_empty() {
            let partial = Partial::Pawn { pawn_from: Sq(from), pawn_to: Sq(to) };
            let committed = Committed { partial, moves, castling: false };
            self.commit(committed, self.articles.pawn_released, None, desk);
        }
    }

    fn commit(
        &mut self,
        committed: Committed,
        rule: &'static str,
        castling: Option<Move>,
        desk: &mut Desk<'_>,
    ) {
        let moves = if committed.moves.is_empty() { None } else { Some(committed.moves.clone()) };
        let binding = Binding { moves, rule, must_move: None, must_capture: None, must_castle: castling };
        let touches = self.turn.touched();
        let obligation = self.obligation(&touches, &binding, desk);
        let partial = Some(committed.partial);
        desk.tell(LawFact::Obligation(Obligation { partial, ..obligation }));
        self.turn.committed = Some(committed);
    }

    /// A move is about to be told as made: what it breaks, and what else would fit.
    pub(super) fn before_made(&mut self, made: Made, desk: &mut Desk<'_>) {
        let Some(index) = made.ply.checked_sub(1) else { return };
        let Some(mv) = desk.session.move_at(index) else { return };
        self.let_go_of_theirs(index, desk);
        if mv.is_promotion() && self.board != BoardKind::Dgt && desk.session.plies().len() == made.ply {
            self.tell_promotion(mv, index, desk);
        } else {
            self.tell_candidates(mv, index, desk);
        }
        self.look_for_violation(mv, made, index, desk);
        self.look_for_two_hands(mv, desk);
        self.look_at_promotion_order(mv, desk);
    }

    /// The new piece was there before the pawn left (Article 4.6.2), where the event does not allow it.
    fn look_at_promotion_order(&self, mv: Move, desk: &mut Desk<'_>) {
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
    fn let_go_of_theirs(&mut self, index: usize, desk: &Desk<'_>) {
        let Some(before) = desk.session.position_after(index) else { return };
        let empty = !desk.session.occupied();
        let theirs = before.them();
        let count = self.turn.touches.len();
        let Some(after) = desk.session.position_after(index + 1) else { return };
        let still = after.us() & empty & theirs;
        self.turn.touches.retain(|touch| !still.contains(touch.square));
        if self.turn.touches.len() != count {
            self.turn.binding = None;
        }
    }

    /// On a board that tells no pieces a promotion fits four moves (Article 3.7.3.3; 2005: 3.7e).
    fn tell_promotion(&mut self, mv: Move, index: usize, desk: &mut Desk<'_>) {
        let Some(before) = desk.session.position_after(index) else { return };
        let (Some(from), to) = (mv.from(), mv.to()) else { return };
        if self.turn.committed.is_none() && self.turn.placed(to) {
            let legal = before.legal_moves().into_iter();
            let moves: Vec<Move> =
                legal.filter(|other| other.from() == Some(from) && other.to() == to).collect();
            let partial = Partial::Pawn { pawn_from: Sq(from), pawn_to: Sq(to) };
            let texts = self.texts(&moves, desk);
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
            desk.tell(LawFact::Obligation(Obligation {
                partial,
                by,
                legal: Choice::Of(texts),
                ..obligation
            }));
        }
        let candidates = vec![format!("{from}{to}*")];
        desk.facts.push_back(crate::session::fact::Fact {
            ev: desk.ev,
            at: desk.at,
            kind: crate::session::fact::FactKind::Ambiguous { candidates },
        });
    }

    /// Where not every man of a move was seen leaving and landing: the moves that would leave the same
    /// squares occupied.
    fn tell_candidates(&mut self, mv: Move, index: usize, desk: &mut Desk<'_>) {
        let Some(before) = desk.session.position_after(index) else { return };
        let castling = mv.is_castle() && self.chess960;
        let castling_too = |from: Square, role: Role| {
            self.chess960
                && matches!(role, Role::King | Role::Rook)
                && before.our(role).contains(from)
                && before.castles().any()
        };
        let seen = match mv {
            // It may be castling with a rook or king that nobody saw.
            Move::Normal { role, from, .. } if castling_too(from, role) => false,
            Move::Normal { from, to, .. } => self.turn.lifted(from) && self.turn.placed(to),
            Move::EnPassant { from, to } => self.turn.lifted(from) && self.turn.placed(to),
            _ => !castling,
        };
        if seen {
            return;
        }
        let Some(after) = desk.session.position_after(index + 1) else { return };
        let shown = after.board().occupied();
        let fits: Vec<Move> = before
            .legal_moves()
            .into_iter()
            .filter(|other| {
                let mut after = before.clone();
                after.play_unchecked(*other);
                after.board().occupied() == shown
            })
            .collect();
        let net_zero = castling && shown == before.board().occupied();
        let double = Castling::of(mv).is_some_and(|castling| castling.method() == CastlingMethod::Double);
        let one_seen =
            matches!(mv, Move::Normal { from, to, .. } if self.turn.lifted(from) && self.turn.placed(to));
        let plain = fits.len() < 2 && (castling && double || one_seen);
        let candidates: Vec<String> = fits.iter().map(|mv| desk.session.move_text(*mv).into()).collect();
        if !plain && !net_zero && self.candidates_told != candidates {
            self.candidates_told.clone_from(&candidates);
            desk.facts.push_back(crate::session::fact::Fact {
                ev: desk.ev,
                at: desk.at,
                kind: crate::session::fact::FactKind::Ambiguous { candidates },
            });
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
                desk.tell(LawFact::Obligation(Obligation { by, ..obligation }));
            }
        }
        if net_zero {
            let notice = Notice::of("net-zero-move", Audience::Journal);
            let uci = Some(desk.session.move_text(mv));
            desk.notice(Notice { side: Some(Side(before.turn())), uci, ..notice });
        }
    }

    fn look_for_violation(&mut self, mv: Move, made: Made, index: usize, desk: &mut Desk<'_>) {
        let to = audience(self.settings.touch.violation_alert);
        let played = Some(made.uci);
        if let Some(moves) = self.turn.bound_to.take()
            && !moves.is_empty()
            && !moves.contains(&mv)
        {
            let required = self.texts(&moves, desk);
            let notice = Notice::of("touch-violation", to);
            let article = Some(self.articles.announced);
            desk.notice(Notice { required, played, article, ..notice });
            return;
        }
        if let Some(released) = self.turn.released.filter(|released| !is_rook_of(released.mv, mv)) {
            if released.mv != mv {
                self.moved_on(released, mv, made, desk);
            }
            return;
        }
        if let Some(committed) = self.turn.committed.clone()
            && !committed.moves.is_empty()
            && !committed.moves.contains(&mv)
        {
            let code = if committed.castling { "castle-abandoned" } else { "released-then-moved" };
            let required = self.texts(&committed.moves, desk);
            let article = Some(self.articles.released);
            desk.notice(Notice { required, played, article, ..Notice::of(code, to) });
            let castle = committed.castling.then(|| committed.moves.first().copied()).flatten();
            let binding = self.released_binding(committed.moves, castle);
            self.violate(made, binding, Some(committed.partial));
            return;
        }
        // What keeps to the touches at first sight.
        let of_move =
            |square: Square| touch::moved(mv) == Some(square) || touch::captured(mv) == Some(square);
        match self.turn.touches.as_slice() {
            [] => return,
            [one] if of_move(one.square) => return,
            [one, other] if touch::captured(mv).is_some() && of_move(one.square) && of_move(other.square) => {
                return;
            }
            _ => {}
        }
        let binding = match (&self.turn.binding, desk.session.position_after(index)) {
            (Some(binding), _) => binding.clone(),
            (None, Some(before)) if !self.turn.touches.is_empty() => touch::binding(
                before,
                before.legal_moves().as_slice(),
                &self.turn.touched(),
                self.settings.rook_first_ban,
                self.articles,
            ),
            _ => return,
        };
        if let Some(moves) = &binding.moves
            && !binding.allows(mv)
        {
            let required = self.texts(moves, desk);
            let notice = Notice::of("touch-violation", to);
            desk.notice(Notice { required, played, article: Some(binding.rule), ..notice });
            self.violate(made, binding, None);
        }
    }

    const fn released_binding(&self, moves: Vec<Move>, must_castle: Option<Move>) -> Binding {
        let rule = self.articles.released;
        Binding { moves: Some(moves), rule, must_move: None, must_capture: None, must_castle }
    }

    fn violate(&mut self, made: Made, binding: Binding, partial: Option<Partial>) {
        self.violation = Some(Violation {
            ply: made.ply,
            by: made.by,
            article: binding.rule,
            of_touch: partial.is_none(),
            open: false,
            forfeited: false,
            touches: self.turn.touches.clone(),
            binding,
            partial,
        });
    }

    /// A breach of Article 4 is upheld: back to the position before the move, and the player is bound by
    /// what he touched or released (Articles 4.3, 4.7).
    pub(super) fn uphold_touch(&mut self, desk: &mut Desk<'_>) -> Result<(), super::rulings::Refusal> {
        let Some(violation) = self.violation.take() else { return Err("no violation is on record".into()) };
        self.go_back_to(self.earlier.len() + violation.ply.saturating_sub(1), desk)?;
        let Violation { by, touches, binding, partial, .. } = violation;
        let squares: Vec<Square> = touches.iter().map(|touch| touch.square).collect();
        let obligation = self.obligation(&squares, &binding, desk);
        desk.tell(LawFact::Obligation(Obligation { by: Side(by), partial, ..obligation }));
        if let (Some(partial), Some(moves)) = (partial, binding.moves.clone()) {
            let castling = binding.must_castle.is_some();
            self.turn.committed = Some(Committed { partial, moves, castling });
        }
        self.turn.touches = touches;
        self.turn.binding = Some(binding);
        Ok(())
    }

    /// A man that had been released was moved on (Article 4.7; 2005: 4.6).
    fn moved_on(&mut self, released: Released, mv: Move, made: Made, desk: &mut Desk<'_>) {
        let same = touch::moved(released.mv) == touch::moved(mv);
        let promoted = released.mv.promotion().zip(mv.promotion()).filter(|_| released.mv.to() == mv.to());
        if let Some((first, now)) = promoted.filter(|_| same) {
            let notice = Notice::of("promotion-changed", Audience::Arbiter);
            desk.notice(Notice {
                first: Some(first.upper_char()),
                now: Some(now.upper_char()),
                square: Some(Sq(mv.to())),
                ..notice
            });
        } else if released.dwell_ms >= self.dwell_ms {
            let notice = Notice::of("released-then-moved", audience(self.settings.touch.violation_alert));
            desk.notice(Notice {
                square: Some(Sq(released.mv.to())),
                dwell_ms: Some(released.dwell_ms),
                required: vec![released.uci],
                played: Some(made.uci),
                article: Some(self.articles.released),
                ..notice
            });
        }
        let from = touch::moved(released.mv)
            .map(|from| Partial::Placed { from: Sq(from), placed: Sq(released.mv.to()) });
        let binding = self.released_binding(vec![released.mv], None);
        self.violate(made, binding, from);
    }

    /// A move was told as made.
    pub(super) fn after_made(&mut self, made: Made, desk: &mut Desk<'_>) {
        let index = made.ply.saturating_sub(1);
        let mv = desk.session.move_at(index);
        if let (Some(released), Some(mv)) = (self.turn.released, mv)
            && released.mv != mv
        {
            self.tell_revision(released.uci, made, desk);
        }
        if let Some(mv) = mv.filter(|mv| mv.is_promotion() && self.board != BoardKind::Dgt) {
            let notice = Notice::of("promotion-unknown", Audience::Arbiter);
            desk.notice(Notice { uci: Some(made.uci), square: Some(Sq(mv.to())), ..notice });
        }
        self.last_made = mv.map(|mv| (made, mv));
        self.last_press = None;
        self.begin_turn(made, desk);
        if self.turn_before.contacts.iter().any(|contact| !contact.occupied) {
            self.candidates_told.clear();
        }
        self.finish_irregularity(made, desk);
        self.claims.made(made.by);
        self.note_earlier_uncompleted(made, desk);
        self.unpressed = Some((made.ply, made.placed.plus_ms(UNCOMPLETED_MS)));
        self.made_on_two_boards(made.ply, desk);
        self.sealed_on_board(made);
        self.look_for_draws(made, desk);
        self.look_for_dead(made, desk);
    }

    /// The move that a man was released for is another one now.
    fn tell_revision(&mut self, was: MoveText, made: Made, desk: &mut Desk<'_>) {
        let Some(record) = desk.session.plies().nth(made.ply.saturating_sub(1)) else { return };
        let kind = crate::session::fact::FactKind::MoveRevised {
            ply: made.ply,
            was,
            uci: record.uci,
            san: record.san,
            reason: "released-then-moved",
            published: false,
        };
        desk.facts.push_back(crate::session::fact::Fact { ev: desk.ev, at: desk.at, kind });
    }

    /// The turn of the next player. What happened after the move belongs to it, and men of his that were in
    /// the air before.
    fn begin_turn(&mut self, made: Made, desk: &Desk<'_>) {
        std::mem::swap(&mut self.turn, &mut self.turn_before);
        self.turn.clear();
        self.turn.due = self.turn_before.due;
        let Some(after) = desk.session.position_after(made.ply) else { return };
        let in_hand = after.us() & !desk.session.occupied();
        let early = |contact: &Contact| in_hand.contains(contact.square) && !contact.occupied;
        let of_next = |contact: &&Contact| contact.at > made.placed || early(contact);
        self.turn.contacts.extend(self.turn_before.contacts.iter().filter(of_next).copied());
        self.turn.adjusting = self.turn_before.adjusting.filter(|adjusting| adjusting.by == after.turn());
    }

    /// In an edition in which only the press completes, a move that was never pressed stays open.
    fn note_earlier_uncompleted(&mut self, made: Made, desk: &mut Desk<'_>) {
        if self.settings.implied_by_next_move {
            return;
        }
        if let Some(before) = made.ply.checked_sub(2).filter(|ply| *ply > 0) {
            self.note_uncompleted(before, desk);
        }
    }

    /// Two men of one move that were set down at the same instant (Article 4.1).
    fn look_for_two_hands(&mut self, mv: Move, desk: &mut Desk<'_>) {
        let Move::Castle { .. } = mv else { return };
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
            self.suspect_two_hands(mv, desk);
        }
    }

    /// A made move was taken up again: its man had been released.
    pub(super) fn withdrawn(&mut self, desk: &Desk<'_>) {
        if self.ruled_back {
            return;
        }
        let contacts = std::mem::take(&mut self.turn.contacts);
        let due = self.turn.due;
        self.turn = std::mem::take(&mut self.turn_before);
        self.turn.contacts.extend(contacts.into_iter().take(MAX_CONTACTS));
        self.turn.due = due;
        self.unpressed = None;
        let Some((made, mv)) = self.last_made.take() else { return };
        let up = |contact: &&Contact| contact.square == mv.to() && !contact.occupied;
        let lifted = self.turn.contacts.iter().rev().find(up).map_or(desk.at, |contact| contact.at);
        let dwell_ms = lifted.since(made.placed) / 1000;
        self.turn.released.get_or_insert(Released { mv, uci: made.uci, dwell_ms });
    }

    /// A ply was read again.
    pub(super) fn revised(&mut self, was: MoveText, uci: MoveText, desk: &mut Desk<'_>) {
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

    /// A move was completed.
    pub(super) fn completed(&mut self, ply: usize, uci: MoveText, by: Color, desk: &mut Desk<'_>) {
        if self.unpressed.is_some_and(|(open, _)| open == ply) {
            self.unpressed = None;
        }
        if let Some(violation) = &mut self.violation
            && violation.ply == ply
            && !violation.open
        {
            violation.open = true;
            let closes = by.fold_wb("first touch by black", "first touch by white");
            let notice = Notice::of("claim-window-open", Audience::Journal);
            let article = Some(violation.article);
            desk.notice(Notice { closes: Some(closes), uci: Some(uci), article, ..notice });
        }
        self.clocks_completed(by, desk);
    }

    /// The first touch of a player closes what he could have claimed, and refuses an offer.
    pub(super) fn close_windows(&mut self, by: Color, desk: &mut Desk<'_>) {
        if let Some(violation) = &mut self.violation
            && violation.by != by
            && violation.open
            && !violation.forfeited
        {
            let covered =
                violation.of_touch || self.settings.touch.claim_forfeit_scope == ForfeitScope::ActOfMoving;
            if covered {
                violation.forfeited = true;
                let notice = Notice::of("claim-window-closed", Audience::Journal);
                desk.notice(Notice { article: Some(self.articles.claim_lost), ..notice });
            }
        }
        self.refuse_offer(by, "touch", desk);
    }
}

/// How castling shows on a Chess960 board (Guideline II.3): which squares change, and whether any do.
pub(super) fn tell_castling(mv: Move, desk: &mut Desk<'_>) {
    let Some(castling) = Castling::of(mv) else { return };
    let (vacated, filled) = castling.changes();
    desk.tell(LawFact::C960Castle {
        uci: desk.session.move_text(mv),
        legal: true,
        method: castling.method().as_str(),
        vacated: vacated.into_iter().map(Sq).collect(),
        filled: filled.into_iter().map(Sq).collect(),
    });
}

/// Whether `rook` moved the rook of this castling.
fn is_rook_of(rook: Move, castling: Move) -> bool {
    matches!(castling, Move::Castle { rook: square, .. } if Some(square) == rook.from())
}

/// The squares of a board on which `other` differs.
pub(super) fn differing(board: &Board, occupied: Bitboard) -> (Vec<Sq>, Vec<Sq>) {
    let men = board.occupied();
    let remove = (occupied & !men).into_iter().map(Sq).collect();
    let put = (men & !occupied).into_iter().map(Sq).collect();
    (remove, put)
}
