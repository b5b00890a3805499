//! What an arbiter commands. Each command is an entry with the position before and after; nothing is
//! rewritten, and what cannot be done is refused with the reason and changes nothing.

use serde_json::Value;
mod arrivals;
mod claims;
mod moves;
mod record;
mod times;

use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position as _, Role, Square};

use super::{
    Conduct, Desk, Order,
    adjourn::NOT_ADJOURNED,
    command::{self, Command},
    fen_of,
};
use crate::{
    laws::settings::ColoursReversed,
    session::{
        event::GameResult,
        fact::{
            Certainty, Conclusion, Fact, FactKind,
            law::{Audience, By, Entry, LawFact, Notice, Side},
        },
    },
};

/// Why a command was not carried out.
pub(super) type Refusal = std::borrow::Cow<'static, str>;

impl Conduct {
    /// A command of the arbiter, in a word or as an object.
    pub(super) fn arbiter(&mut self, value: &Value, desk: &mut Desk<'_>) {
        let (text, outcome) = match command::words(value) {
            Ok(text) => {
                let mode = CastlingMode::from_chess960(self.chess960);
                let command = Command::parse(&text, mode).map_err(|error| error.to_string());
                (text, command)
            }
            Err(error) => (value.to_string(), Err(error.to_string())),
        };
        let before = desk.fen();
        // The entry comes first, so that what follows from it is seen to follow; what it changed is
        // filled in when that is known.
        let place = desk.facts.len();
        let orders = desk.orders.len();
        let outcome = outcome.and_then(|command| self.obey(command, desk).map_err(Refusal::into_owned));
        let after = desk.orders.get(orders..).unwrap_or_default().iter().find_map(|order| match order {
            Order::Adopt(_, position) | Order::SetUp(position) => Some(fen_of(position)),
            Order::Restore(plies) | Order::Disown(plies) => desk.session.position_after(*plies).map(fen_of),
            Order::Play(mv, _) => {
                let mut position = desk.session.position().clone();
                position.play_unchecked(*mv);
                Some(fen_of(&position))
            }
            Order::Conclude(_)
            | Order::Refuse(_)
            | Order::FoundIllegal(..)
            | Order::Excuse
            | Order::Exchanged(_)
            | Order::PlayOn
            | Order::ConfirmTold
            | Order::Correct(..)
            | Order::Complete(_)
            | Order::PerMove(_)
            | Order::ClockSet(_)
            | Order::Clock { .. }
            | Order::Pause(_) => None,
        });
        let entry = LawFact::ArbiterEntry(Entry {
            command: text,
            accepted: outcome.is_ok(),
            reason: outcome.err(),
            before: after.is_some().then_some(before),
            after,
        });
        let fact = Fact { ev: desk.ev, at: desk.at, kind: FactKind::Law(Box::new(entry)) };
        desk.facts.insert(place.min(desk.facts.len()), fact);
    }

    fn obey(&mut self, command: Command, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        if let (Some(result), Command::Confirm | Command::Reject | Command::RejectClaim) =
            (self.reported, &command)
        {
            // The result that was entered against the game's own.
            self.reported = None;
            if command == Command::Confirm {
                desk.conclude(Conclusion::of(result, "entered", Certainty::Arbiter));
            }
            return Ok(());
        }
        let touch = self.ended_in_breach(desk)
            && self.claims.waits_for("touch")
            && matches!(
                command,
                Command::Confirm | Command::Accept | Command::Reject | Command::Restore(None)
            );
        // The sealed move may have ended the game, or lost it, and nobody knows before the envelope is opened.
        let sealed = matches!(command, Command::OpenEnvelope(_)) && self.adjournment.ended_by_sealed_move()
            || matches!(command, Command::Confirm | Command::Accept | Command::Reject)
                && self.claims.waits_for("sealed-move");
        if self.is_over(desk) && !touch && !sealed && !command.is_possible_after_the_end() {
            return Err("the game is over; result * takes its end back".into());
        }
        match command {
            Command::Confirm if self.claims.is_supported() => self.accept(desk)?,
            Command::Confirm => self.confirm(desk)?,
            Command::Reject => self.reject(false, desk)?,
            Command::RejectClaim => self.reject(true, desk)?,
            Command::Accept => self.accept(desk)?,
            Command::Postpone => self.postpone(desk)?,
            Command::Pause => self.stop_by_command(desk),
            Command::Run(side) => {
                let side = side.unwrap_or_else(|| self.to_run(desk));
                self.start_by_command(side, desk);
            }
            Command::Restore(None) if self.claims.waits_for("touch") => self.accept(desk)?,
            Command::Restore(None) => self.tell_restore(desk),
            Command::Restore(Some(ply)) => self.go_back_to(ply, desk)?,
            Command::IllegalAt(ply) => {
                let before = ply.checked_sub(1).ok_or("plies are counted from 1")?;
                let played = self.move_on_record(before, desk);
                let of_log = before.saturating_sub(self.earlier.len());
                self.go_back_to(before, desk)?;
                if let Some((position, mv)) = played {
                    self.found_later(of_log, &position, mv, desk);
                }
            }
            Command::RestoreTimes => self.tell_times(desk)?,
            Command::SetPosition(position) => desk.orders.push(Order::SetUp(position)),
            Command::SetClock(side, ms) => self.change_clock(side, ms, desk),
            Command::SendClock(runs) => self.send_clock(runs, desk)?,
            Command::Correct(ply, uci) => self.correct(ply, &uci, desk)?,
            Command::Result(result) => {
                let reason = if result == GameResult::Ongoing { "entered" } else { "arbiter-decision" };
                desk.conclude(Conclusion::of(result, reason, Certainty::Arbiter));
            }
            Command::Agreement
                if self.claims.waits_for("quickplay") && self.pending_without_quickplay(desk).is_none() =>
            {
                self.accept(desk)?;
            }
            Command::Default(side) => self.default(side, desk)?,
            Command::Promotion(role) => self.correct_promotion(role, desk)?,
            Command::Move(text) => self.name_move(&text, desk)?,
            Command::Boards if self.two_boards.is_none() => {
                return Err("the game is played on one board".into());
            }
            Command::Boards => self.tell_boards(desk),
            Command::DeadCheck => {
                self.tell_dead_check(desk);
            }
            Command::Agreement => {
                desk.conclude(Conclusion::of(GameResult::Draw, "agreement", Certainty::Arbiter));
            }
            Command::Penalty(kind, side, ms) => self.penalty(kind, side, ms, desk)?,
            Command::ExtraTime(whose, ms) => self.extra_time(whose, ms, desk),
            Command::FlagObserved => self.observe_flag(desk)?,
            Command::BothFlags(last) => self.both_flags(last, desk)?,
            Command::Arrived(side) => self.arrived(side, desk)?,
            Command::LateCheck => self.late_check(desk),
            Command::ColoursReversed => self.colours_reversed(desk),
            Command::StillIllegal => self.still_illegal(desk)?,
            Command::PeriodAdded(side) => self.period_added(side, desk)?,
            Command::Freeze => self.freeze(None, desk),
            Command::FiveSeconds => self.five_seconds(desk)?,
            Command::SealRequest | Command::SealEarly(_) if self.adjournment.has_embargo() => {
                return Err("a sealed move was asked for already".into());
            }
            Command::SealRequest => self.request_seal(desk),
            Command::SealEarly(ms) => {
                if let Err(reason) = self.seal_early(ms, desk) {
                    let by = Some(By::Side(Side(desk.turn())));
                    let notice = Notice::of("claim-not-available", Audience::Arbiter);
                    desk.notice(Notice { by, reason: Some(reason), ..notice });
                    return Err(reason.into());
                }
            }
            Command::OpenEnvelope(text) => self.open_envelope(&text, desk)?,
            Command::EnvelopeMissing | Command::ReplySealed | Command::Resume
                if !self.adjournment.is_possible(desk) =>
            {
                return Err(NOT_ADJOURNED.into());
            }
            Command::EnvelopeMissing => self.envelope_missing(desk)?,
            Command::PositionLost | Command::Void => self.declare_void(desk),
            Command::ReplySealed => self.reply_sealed(desk)?,
            Command::Resume => self.resume(desk),
            Command::TransferBoard => {
                desk.tell(LawFact::Position { fen: desk.fen() });
                self.transferring = true;
            }
            Command::Inconclusive => self.begin_next_period(desk),
            Command::NoCastling(side) => self.forbid_castling(side, desk)?,
            Command::Touch(side, square) => self.arbiter_saw_touch(side, square, desk)?,
            Command::DismissTouches => self.dismiss_touches(desk),
        }
        Ok(())
    }

    /// The position stands again after a board was turned or exchanged.
    pub(super) fn look_at_transfer(&mut self, desk: &mut Desk<'_>) {
        if self.transferring {
            self.finish_transfer(desk);
        }
    }

    #[cold]
    fn finish_transfer(&mut self, desk: &mut Desk<'_>) {
        if desk.session.differs().is_empty() {
            self.transferring = false;
            desk.tell(LawFact::Position { fen: desk.fen() });
        }
    }

    fn arbiter_saw_touch(&mut self, side: Color, square: Square, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        if desk.turn() != side {
            return Err("that player does not have the move".into());
        }
        if desk.session.position().board().piece_at(square).is_none() {
            return Err(format!("no man of the game stands on {square}").into());
        }
        self.take_touch(square, desk.at, true, desk);
        Ok(())
    }

    /// What was lifted in this turn was no touch in law.
    fn dismiss_touches(&mut self, desk: &mut Desk<'_>) {
        self.turn.forget_touches();
        self.tell_obligation(true, desk);
    }

    /// The position after so many plies of the game, its history included, and the move made in it.
    fn move_on_record(&self, plies: usize, desk: &Desk<'_>) -> Option<(Chess, Move)> {
        let base = self.earlier.len();
        if let Some(index) = plies.checked_sub(base) {
            return desk.session.position_after(index).cloned().zip(desk.session.move_at(index));
        }
        let before = self.earlier.get(plies)?;
        let after = self.earlier.get(plies + 1).or_else(|| desk.session.position_after(0))?;
        let leads = |mv: &Move| {
            let mut next = before.clone();
            next.play_unchecked(*mv);
            next.board() == after.board()
        };
        before.legal_moves().into_iter().find(leads).map(|mv| (before.clone(), mv))
    }

    /// Back to the position after the first `ply` plies of the game, its history included.
    pub(super) fn go_back_to(&mut self, ply: usize, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let target = self.tell_way_back(ply, desk)?;
        let times = self.times_after(ply, desk);
        self.clocks.went_back(ply, times);
        self.exchanging = Conduct::to_exchange(&target, desk);
        self.watched |= self.exchanging;
        if self.is_over(desk) {
            desk.conclude(Conclusion::of(GameResult::Ongoing, "arbiter-decision", Certainty::Arbiter));
        }
        match ply.checked_sub(self.earlier.len()) {
            Some(of_log) => desk.orders.push(Order::Restore(of_log)),
            None => {
                self.earlier.truncate(ply);
                desk.orders.push(Order::SetUp(Box::new(target)));
            }
        }
        self.start_turn();
        self.ruled_back = true;
        Ok(())
    }

    /// What going back to the position after the first `ply` plies takes, and that position.
    pub(super) fn tell_way_back(&self, ply: usize, desk: &mut Desk<'_>) -> Result<Chess, Refusal> {
        let base = self.earlier.len();
        let played = base + desk.session.plies().len();
        if ply > played {
            return Err(so_many(played).into());
        }
        let target: Option<Chess> = match ply.checked_sub(base) {
            Some(of_log) => desk.session.position_after(of_log).cloned(),
            None => self.earlier.get(ply).cloned(),
        };
        let Some(target) = target else { return Err("that position is not on record".into()) };
        Conduct::tell_way_to(&target, ply, desk);
        Ok(target)
    }

    /// The game began with colours reversed (Article 7.3; 2005: 7.2).
    fn colours_reversed(&self, desk: &mut Desk<'_>) {
        let made = self.moves_made(desk);
        let (white, black) = (made.white, made.black);
        desk.tell(LawFact::MoveCount { white, black, to: Audience::Arbiter });
        let early = white.min(black) < 10;
        let restart = early && self.settings.colours_reversed == ColoursReversed::RestartBefore10;
        let action = Some(if restart { "restart" } else { "continue" });
        desk.notice(Notice { action, ..Notice::of("colours-reversed", Audience::Arbiter) });
        if restart {
            desk.notice(Notice::of("restart-required", Audience::Arbiter));
        }
    }

    /// A king or rook that stood wrong at the start may not castle (Article A.5.1; 2005: B.4).
    fn forbid_castling(&mut self, side: Color, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let position = desk.session.position();
        let mut setup = position.to_setup(EnPassantMode::Legal);
        setup.castling_rights &= !setup.board.by_piece(Role::Rook.of(side));
        let mode = CastlingMode::from_chess960(self.chess960);
        let position: Result<Chess, _> = setup.position(mode);
        let Ok(position) = position else { return Err("that would be no legal position".into()) };
        let log = desk.session.plies().len();
        self.earlier.extend((0..log).filter_map(|index| desk.session.position_after(index)).cloned());
        desk.orders.push(Order::SetUp(Box::new(position)));
        Ok(())
    }
}

fn so_many(plies: usize) -> String {
    let word = if plies == 1 { "ply" } else { "plies" };
    format!("the game has {plies} {word}")
}
