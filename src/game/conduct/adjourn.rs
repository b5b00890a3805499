//! Adjournment (Guideline I; 2005: Annex A; Ukrainian rules): the sealed move, the embargo, the
//! resumption. The sealed move itself is on paper; nothing here tells it.

use shakmaty::{Chess, Color, Move, Position as _};

use super::{Conduct, Desk, Order, claims::Pending, fen_of, turn::Made};
use crate::{
    laws::arithmetic::adjournment,
    notation::{self, Reading},
    session::{
        Session,
        event::GameResult,
        fact::{
            ByRule, Certainty, Conclusion, Fact, FactKind,
            law::{
                Audience, Both, ClockCalc, Envelope, EnvelopeFields, LawFact, LawState, Notice, Side, Times,
            },
        },
        text::MoveText,
        time::MonoTime,
    },
};

/// Why a command of an adjournment is refused.
pub(super) const NOT_ADJOURNED: &str = "the game was not adjourned: no move was sealed";

/// A player adjourns before the end of the session.
#[derive(Clone, Copy, Debug)]
struct Early {
    at: MonoTime,
    /// His time without what was left of the session, in milliseconds.
    left_ms: u64,
    session_left_ms: u64,
}

/// Where an adjournment stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Adjournment {
    /// Who seals, or sealed.
    sealer: Option<Color>,
    /// A move that was made on the board after the request: it has to be the sealed one.
    on_board: Option<MoveText>,
    /// Its ply.
    made: Option<usize>,
    /// So many plies of the log there were when a move was to be sealed.
    plies: usize,
    /// The sealed move, once the envelope is open.
    opened: Option<Move>,
    /// He adjourned before the end of the session, and his clock still runs.
    early: Option<Early>,
    /// The sealer has stopped his clock.
    stopped: bool,
    /// The envelope was opened, or is known to be gone.
    is_open: bool,
    /// The sealer makes the move that he states: the envelope is gone.
    stated: bool,
    /// The game waits for its clock after the envelope was opened.
    waits: bool,
    /// A reply was sealed by this side.
    reply: Option<Color>,
    /// What came out of the envelope last is the reply of this side.
    replied: Option<Color>,
    /// Since when the game is being resumed.
    resumed: Option<MonoTime>,
    /// The players who have moved since the resumption.
    moved: [bool; 2],
    /// The players of whom that was told, with their first completed move.
    closed: [bool; 2],
    /// The move that came out of an envelope, or was stated, was made as this ply.
    from_paper: Option<usize>,
    /// A move was completed after it: what belongs to the adjournment is over.
    goes_on: bool,
    /// Nothing new may leave.
    embargo: bool,
    /// Moves that would have been published meanwhile.
    held: Vec<Fact>,
    /// The game has a result that follows from the board.
    ended_on_board: bool,
}

impl Adjournment {
    /// A press without a move is the stopping of the own clock after a sealed reply.
    pub(super) fn explains_press(&self, side: Color) -> bool {
        self.reply.is_some_and(|by| by == side) || (self.sealer == Some(side) && self.is_sealed())
    }

    /// A move is being sealed, or lies in the envelope.
    const fn is_sealed(&self) -> bool {
        self.sealer.is_some() && !self.is_open
    }

    /// So many plies of the log may be shown; nothing while all may.
    pub(super) fn shown_plies(&self) -> Option<usize> {
        self.embargo.then_some(self.plies)
    }

    /// The plies of the log before the sealed move, where that was made on the board and is still the last one.
    fn plies_before(&self, session: &Session) -> Option<usize> {
        let ply = self.made.filter(|_| self.is_sealed())?;
        ply.checked_sub(1).filter(|_| session.plies().len() == ply)
    }

    /// The clock of the player who does not have the move may run because a move is sealed: one was, and the
    /// envelope is closed, or the record begins in mid game, where one may have been.
    pub(super) fn explains_clock(&self, earlier: usize, desk: &Desk<'_>) -> bool {
        let closed = self.sealer.is_some() && !self.is_open;
        let begins = self.sealer.is_none() && earlier > 0 && desk.session.plies().len() == 0;
        closed || self.waits || self.resumed.is_some() && !self.is_open || begins
    }

    /// The envelope was opened and no clock was started since.
    pub(super) const fn is_resuming(&self) -> bool {
        self.waits
    }

    /// The sealed move, once the envelope is open and until it is on the board.
    pub(super) const fn sealed_move(&self) -> Option<Move> {
        self.opened
    }

    /// True where a move was sealed, or the record begins where one may have been; no longer once the game has gone
    /// on with a move that nobody had sealed.
    pub(super) fn is_possible(&self, desk: &Desk<'_>) -> bool {
        let sealed = self.sealer.is_some() || self.resumed.is_some() || self.is_open;
        sealed && !self.goes_on || desk.session.plies().len() == 0
    }

    /// A move was completed: one after that of the envelope ends the adjournment. A reply in another envelope is of it
    /// (Guideline I.9.3; 2005: A.9c).
    fn see_completed(&mut self, ply: usize) {
        self.goes_on |= self.reply.is_none() && self.from_paper.is_some_and(|of_paper| ply > of_paper);
    }

    /// The envelope was read wrongly, and the move is not on the board yet: true when that was so.
    pub(super) fn close_envelope(&mut self) -> bool {
        let open = self.opened.take().is_some();
        match self.replied.take().filter(|_| open) {
            Some(side) => self.reply = Some(side),
            None => self.is_open &= !open,
        }
        open
    }

    /// A clock was started.
    pub(super) const fn clock_runs(&mut self) {
        self.waits = false;
    }

    /// How a move came out of an envelope, or without it.
    pub(super) fn rule_of(&self, mv: Move) -> Option<ByRule> {
        if self.opened == Some(mv) {
            Some(ByRule::Sealed)
        } else if self.stated {
            Some(ByRule::Stated)
        } else {
            None
        }
    }

    /// Whether a wrong time may still be claimed after a resumption (Guideline I.12; 2005: A.12); `None`
    /// when the game was not resumed.
    pub(super) fn time_claim_open(&self, side: Color) -> Option<bool> {
        self.resumed?;
        self.moved.get(side.fold_wb(0usize, 1)).map(|moved| !moved)
    }

    /// The game was resumed.
    pub(super) const fn is_resumed(&self) -> bool {
        self.resumed.is_some()
    }

    /// Holds a published move back.
    pub(super) fn hold(&mut self, published: Fact) {
        self.held.push(published);
    }

    /// A move was taken back: true when it had been held back, and was not published to anybody.
    pub(super) fn forget(&mut self, ply: usize) -> bool {
        let before = self.held.len();
        let is_it =
            |fact: &Fact| matches!(fact.kind, FactKind::MovePublished { ply: held, .. } if held == ply);
        self.held.retain(|fact| !is_it(fact));
        self.held.len() < before
    }

    /// A ply that is held back turned out to be another move: true when it was one of them.
    pub(super) fn revise(&mut self, ply: usize, now: MoveText) -> bool {
        let mut is_held = false;
        for fact in &mut self.held {
            if let FactKind::MovePublished { ply: held, uci, .. } = &mut fact.kind
                && *held == ply
            {
                *uci = now;
                is_held = true;
            }
        }
        is_held
    }

    /// The game ended.
    pub(super) const fn ended(&mut self, on_board: bool) {
        self.ended_on_board = on_board;
    }

    /// The game has ended on the board while its last move is sealed, as far as anybody else knows.
    pub(super) const fn ended_by_sealed_move(&self) -> bool {
        self.ended_on_board && self.is_sealed()
    }

    /// A result is there that would tell of the sealed move.
    pub(super) const fn hides_result(&self) -> bool {
        self.embargo && self.ended_on_board
    }

    fn end_embargo(&mut self, desk: &mut Desk<'_>) {
        self.embargo = false;
        for fact in self.held.drain(..) {
            desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind: fact.kind });
        }
    }

    /// Nothing newer than the position before the sealed move may leave.
    pub(super) const fn has_embargo(&self) -> bool {
        self.embargo
    }
}

impl Conduct {
    /// The arbiter asks the player who has the move to seal it: from now on nothing leaves.
    pub(super) fn request_seal(&mut self, desk: &mut Desk<'_>) {
        let sealer = desk.turn();
        let plies = desk.session.plies().len();
        let adjournment = Adjournment { sealer: Some(sealer), plies, ..Adjournment::default() };
        self.adjournment = Adjournment { embargo: self.settings.feed.embargo_on_seal, ..adjournment };
        if self.adjournment.embargo {
            desk.notice(Notice::of("feed-embargo", Audience::Feed));
        }
        self.tell_envelope(sealer, desk);
    }

    /// What the envelope has to say (Guideline I.2; 2005: A.2): never the move.
    fn tell_envelope(&self, sealer: Color, desk: &mut Desk<'_>) {
        let made = self.moves_before_sealing(desk);
        let position = self.adjourned(desk);
        let used = |side: Color| {
            let moves = side.fold_wb(made.white, made.black);
            let allotted = self.clocks.allotted(side, moves)?;
            Some(adjournment::time_used(allotted, self.clocks.ruled(side, desk.at)?))
        };
        let fields = EnvelopeFields {
            players: Both { white: None, black: None },
            position: fen_of(position),
            time_used: Both { white: used(Color::White), black: used(Color::Black) },
            sealed_by: Side(sealer),
            move_number: position.fullmoves().get(),
            draw_offer: self.claims.offer.is_some(),
            resumption: None,
        };
        desk.tell(LawFact::Envelope(Box::new(Envelope { fields, to: Audience::Arbiter })));
    }

    /// The position in which the game was adjourned: that before the sealed move, also where it was made on the board
    /// (Guideline I.2, I.5; 2005: A.2, A.5).
    fn adjourned<'d>(&self, desk: &'d Desk<'_>) -> &'d Chess {
        let before = self.adjournment.plies_before(desk.session);
        before.and_then(|plies| desk.session.position_after(plies)).unwrap_or(desk.session.position())
    }

    /// The moves that each side had made in that position.
    fn moves_before_sealing(&self, desk: &Desk<'_>) -> Both<u32> {
        let mut made = self.moves_made(desk);
        if self.adjournment.plies_before(desk.session).is_some() {
            match self.adjournment.sealer {
                Some(Color::White) => made.white = made.white.saturating_sub(1),
                Some(Color::Black) => made.black = made.black.saturating_sub(1),
                None => {}
            }
        }
        made
    }

    /// A draw was offered, or refused: it stands in the envelope (Guideline I.2.6; 2005: A.2f).
    pub(super) fn offer_changed(&self, desk: &mut Desk<'_>) {
        if let Some(sealer) = self.adjournment.sealer.filter(|_| self.adjournment.is_sealed()) {
            self.tell_envelope(sealer, desk);
        }
    }

    /// A move was made on the board after the request.
    pub(super) fn sealed_on_board(&mut self, made: Made, desk: &mut Desk<'_>) {
        if let Some(moved) = self.adjournment.moved.get_mut(made.by.fold_wb(0usize, 1)) {
            *moved = true;
        }
        if std::mem::take(&mut self.adjournment.stated) {
            self.adjournment.from_paper = Some(made.ply);
        }
        if self.adjournment.sealer.is_some() || self.adjournment.opened.is_some() {
            self.look_at_sealed(made, desk);
        }
    }

    #[cold]
    fn look_at_sealed(&mut self, made: Made, desk: &mut Desk<'_>) {
        let first = self.adjournment.made.is_none_or(|ply| ply == made.ply);
        if self.adjournment.sealer == Some(made.by) && self.adjournment.is_sealed() && first {
            self.adjournment.on_board = Some(made.uci);
            self.adjournment.made = Some(made.ply);
            // The arbiter sees to it that this move is written (Guideline I.1.1; 2005: A.1a).
            let (side, uci) = (Some(Side(made.by)), Some(made.uci));
            desk.notice(Notice { side, uci, ..Notice::of("sealed-move-on-board", Audience::Arbiter) });
        }
        if self.adjournment.opened.take().is_some_and(|mv| desk.session.move_text(mv) == made.uci) {
            self.adjournment.replied = None;
            self.adjournment.from_paper = Some(made.ply);
            // The sealer stopped his clock when he had written it.
            desk.orders.push(Order::Complete(made.ply.saturating_sub(1)));
        }
    }

    /// The sealer stopped his clock: the envelope states the time that he has used until then (Guideline I.2.3; 2005:
    /// A.2c), and what he made on the board has to be the sealed move.
    pub(super) fn sealing_ends(&mut self, desk: &mut Desk<'_>) {
        if let Some(sealer) = self.adjournment.sealer.filter(|_| self.adjournment.is_sealed())
            && !std::mem::replace(&mut self.adjournment.stopped, true)
        {
            if let Some(early) = self.adjournment.early.take() {
                self.charge_once(sealer, early, desk);
            }
            self.tell_envelope(sealer, desk);
        }
        let sealed_must_equal = self.adjournment.on_board.take();
        if sealed_must_equal.is_some() {
            desk.state(LawState { sealed_must_equal, ..LawState::default() });
        }
    }

    /// The time in which a player wrote the move with which he adjourned early is part of what he was charged: he is
    /// deemed to have sealed at the end of the session (Guideline I.1.2; 2005: A.1b).
    fn charge_once(&mut self, side: Color, early: Early, desk: &mut Desk<'_>) {
        let Some(before) = self.clocks.remaining(side, desk.at) else { return };
        let used = desk.at.since(early.at) / 1000;
        let after = early.left_ms.saturating_sub(used.saturating_sub(early.session_left_ms));
        self.clocks.set_standing(side, after, desk.at);
        self.clocks.corrections.get_mut(side).change(before, after);
        desk.calc(ClockCalc {
            side: Some(Side(side)),
            before: Some(Times::One(early.left_ms)),
            used: Some(used),
            session_left: Some(early.session_left_ms),
            after: Some(Times::One(after)),
            ..ClockCalc::of("sealed-early")
        });
    }

    /// The player who has the move adjourns early: he is charged the rest of the session (Guideline I.1.2;
    /// 2005: A.1b).
    pub(super) fn seal_early(
        &mut self,
        session_left: Option<u64>,
        desk: &mut Desk<'_>,
    ) -> Result<(), &'static str> {
        if !adjournment::early_allowed(&self.settings.adjournment, self.control_is_made(desk)) {
            return Err("the rules in force do not let the player adjourn now");
        }
        let side = desk.turn();
        let mut early = None;
        if let (Some(before), Some(session_left)) = (self.clocks.remaining(side, desk.at), session_left) {
            let after = adjournment::sealed_early(before, session_left);
            self.clocks.set(side, after, desk.at);
            self.clocks.corrections.get_mut(side).change(before, after);
            early = Some(Early { at: desk.at, left_ms: after, session_left_ms: session_left });
            desk.calc(ClockCalc {
                side: Some(Side(side)),
                before: Some(Times::One(before)),
                session_left: Some(session_left),
                after: Some(Times::One(after)),
                ..ClockCalc::of("seal-early")
            });
        }
        self.request_seal(desk);
        self.adjournment.early = early;
        Ok(())
    }

    fn control_is_made(&self, desk: &Desk<'_>) -> bool {
        let made = |side| self.clocks.is_past_control(side, self.completed_by(side, desk));
        made(Color::White) && made(Color::Black)
    }

    /// The game is resumed: position and times are put up (Guideline I.5; 2005: A.5).
    pub(super) fn resume(&mut self, desk: &mut Desk<'_>) {
        let made = self.moves_before_sealing(desk);
        for side in [Color::White, Color::Black] {
            let moves = side.fold_wb(made.white, made.black);
            let (allotted, remaining) = (self.clocks.allotted(side, moves), self.clocks.ruled(side, desk.at));
            if let (Some(allotted), Some(remaining)) = (allotted, remaining) {
                desk.calc(ClockCalc {
                    side: Some(Side(side)),
                    allotted: Some(allotted),
                    remaining: Some(remaining),
                    used: Some(adjournment::time_used(allotted, remaining)),
                    ..ClockCalc::of("time-used")
                });
            }
        }
        desk.tell(LawFact::Position { fen: fen_of(self.adjourned(desk)) });
        desk.notice(Notice::of("time-correction-open", Audience::Journal));
        self.adjournment.resumed = Some(desk.at);
        (self.adjournment.moved, self.adjournment.closed) = ([false; 2], [false; 2]);
        self.clocks.resume(self.adjournment.sealer.is_some(), desk.at);
    }

    /// The first completed move after a resumption ends the time in which its player may claim.
    pub(super) fn resumed_completed(&mut self, ply: usize, by: Color, desk: &mut Desk<'_>) {
        self.adjournment.see_completed(ply);
        if self.adjournment.resumed.is_some() {
            self.close_time_claim(by, desk);
        }
    }

    #[cold]
    fn close_time_claim(&mut self, by: Color, desk: &mut Desk<'_>) {
        if let Some(closed) = self.adjournment.closed.get_mut(by.fold_wb(0usize, 1))
            && !std::mem::replace(closed, true)
        {
            let notice = Notice::of("time-correction-closed", Audience::Journal);
            desk.notice(Notice { side: Some(Side(by)), ..notice });
        }
    }

    /// The envelope is opened (Guideline I.7 to I.9; 2005: A.7 to A.9): what is on the paper is read in the
    /// position in which it was sealed, in whatever notation.
    pub(super) fn open_envelope(&mut self, text: &str, desk: &mut Desk<'_>) -> Result<(), &'static str> {
        if self.adjournment.is_open {
            return match self.adjournment.reply {
                Some(side) => self.open_reply(side, text, desk),
                None => {
                    Err("the envelope was opened; reject takes back what was read, before the move is made")
                }
            };
        }
        if !self.adjournment.is_possible(desk) {
            return Err(NOT_ADJOURNED);
        }
        let (index, before) = self.sealed_in(desk.session);
        let sealer = before.turn();
        let reading = self.read_paper(before, text);
        self.adjournment.end_embargo(desk);
        if let Reading::Unique(mv) = reading {
            self.adjournment.is_open = true;
            tell_read(sealer, mv, text, desk);
            let on_board = desk.session.move_at(index);
            if on_board.is_some_and(|on_board| on_board != mv) {
                // What was made on the board has to be what was written (Guideline I.1.1; 2005: A.1a).
                let notice = Notice::of("sealed-move-differs", Audience::Arbiter);
                let (uci, played) =
                    (Some(desk.session.move_text(mv)), on_board.map(|mv| desk.session.move_text(mv)));
                desk.notice(Notice { side: Some(Side(sealer)), uci, played, ..notice });
            } else if on_board.is_some() {
                self.adjournment.from_paper = self.adjournment.made;
                desk.orders.push(Order::ConfirmTold);
                desk.orders.push(Order::Complete(index));
            } else {
                self.adjournment.opened = Some(mv);
                self.turn.bind_to(vec![mv], self.articles.sealed);
                // It is put on the board before a clock is started (Guideline I.9; 2005: A.9).
                desk.orders.push(Order::PlayOn);
            }
            // Where the players went on already, or the move ends the game, nothing waits for a clock.
            if desk.session.plies().len() <= index + 1 && !self.is_over(desk) {
                self.adjournment.waits = true;
                self.clocks.paused = false;
            }
            return Ok(());
        }
        self.tell_unread(before, &reading, text, desk);
        Ok(())
    }

    /// The position in which the move was sealed, and the plies of the log before it, whatever was played since.
    fn sealed_in<'s>(&self, session: &'s Session) -> (usize, &'s Chess) {
        let plies = self.adjournment.plies;
        let sealed = self
            .adjournment
            .sealer
            .and_then(|sealer| session.position_after(plies).filter(|position| position.turn() == sealer));
        match sealed {
            Some(position) => (plies, position),
            // It was sealed before the record begins.
            None => (session.plies().len(), session.position()),
        }
    }

    /// The envelope of the player who replied while his opponent was absent (Guideline I.9.3; 2005: A.9c).
    fn open_reply(&mut self, side: Color, text: &str, desk: &mut Desk<'_>) -> Result<(), &'static str> {
        if desk.turn() != side {
            return Err("the reply is read in the position before it, where its player has the move");
        }
        let reading = self.read_paper(desk.session.position(), text);
        let Reading::Unique(mv) = reading else {
            self.tell_unread(desk.session.position(), &reading, text, desk);
            return Ok(());
        };
        tell_read(side, mv, text, desk);
        (self.adjournment.reply, self.adjournment.replied) = (None, Some(side));
        self.adjournment.opened = Some(mv);
        self.turn.bind_to(vec![mv], self.articles.sealed);
        if self.clocks.paused {
            desk.orders.push(Order::PlayOn);
            (self.adjournment.waits, self.clocks.paused) = (true, false);
        }
        Ok(())
    }

    /// What stands on a paper, in the language of the score sheets first: its letters mean other men elsewhere.
    fn read_paper(&self, position: &Chess, text: &str) -> Reading {
        let language = self.settings.language.as_str().parse().ok();
        match notation::parse(position, text, language) {
            Reading::Unreadable => notation::parse(position, text, None),
            read => read,
        }
    }

    /// What stands on the paper is no move. The sealer loses, except where his opponent cannot mate (Guideline I.8;
    /// 2005: A.8): the arbiter's to decide.
    fn tell_unread(&mut self, before: &Chess, reading: &Reading, text: &str, desk: &mut Desk<'_>) {
        let sealer = before.turn();
        let reason = match reading {
            Reading::Ambiguous(_) => "ambiguous",
            Reading::Unreadable => "unreadable",
            _ => "illegal",
        };
        let notice = Notice::of("sealed-move-illegal", Audience::Arbiter);
        let (side, attempt) = (Some(Side(sealer)), Some(text.to_owned()));
        desk.notice(Notice { side, attempt, reason: Some(reason), ..notice });
        let end = if self.tell_can_mate_from(before, !sealer, desk) == Some(false) {
            self.draw_for_want_of_mate("sealed-move-invalid-draw", !sealer)
        } else {
            Conclusion::of(GameResult::win(!sealer), "sealed-move-invalid", Certainty::Presumed)
        };
        self.await_ruling(Pending { end: Some(end), ..Pending::of("sealed-move", !sealer, true) }, desk);
    }

    /// The envelope is gone: position and times come from the record (Guideline I.11; 2005: A.11a).
    pub(super) fn envelope_missing(&mut self, desk: &mut Desk<'_>) -> Result<(), &'static str> {
        if self.adjournment.is_open {
            return Err("the envelope was opened, or was said to be missing");
        }
        let fen = fen_of(self.adjourned(desk));
        self.adjournment.end_embargo(desk);
        (self.adjournment.stated, self.adjournment.is_open) = (true, true);
        desk.notice(Notice::of("envelope-missing", Audience::Arbiter));
        desk.tell(LawFact::Position { fen });
        Ok(())
    }

    /// The player who replies sealed his reply, because the sealer is absent (Guideline I.9.3; 2005: A.9c).
    pub(super) fn reply_sealed(&mut self, desk: &mut Desk<'_>) -> Result<(), &'static str> {
        if self.adjournment.opened.is_some() || self.adjournment.is_sealed() {
            return Err(
                "the reply follows the sealed move: open the envelope, and make that move on the board first",
            );
        }
        if self.adjournment.reply.is_some() {
            return Err("a reply was sealed already");
        }
        self.adjournment.reply = Some(desk.turn());
        desk.state(LawState { reply_sealed: true, ..LawState::default() });
        Ok(())
    }

    /// Who has lost the time until somebody came, when nobody was there (Article 6.7; Guideline I.11);
    /// nobody where the arbiter decides.
    pub(super) fn absent_until_now(&self, desk: &Desk<'_>) -> Option<Color> {
        let sealer = self.adjournment.sealer.or_else(|| Some(desk.session.position_after(0)?.turn()))?;
        adjournment::runs_while_absent(&self.settings.adjournment, sealer)
    }
}

/// What stands on a paper is this move.
fn tell_read(by: Color, mv: Move, text: &str, desk: &mut Desk<'_>) {
    let (side, uci) = (Some(Side(by)), Some(desk.session.move_text(mv)));
    let attempt = Some(text.to_owned());
    desk.notice(Notice { side, uci, attempt, ..Notice::of("sealed-move", Audience::Arbiter) });
}
