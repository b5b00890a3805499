//! What an arbiter commands. Each command is an entry with the position before and after; nothing is
//! rewritten, and what cannot be done is refused with the reason and changes nothing.

use serde_json::Value;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position as _, Role, Square};

use super::{
    Conduct, Desk, Order,
    adjourn::NOT_ADJOURNED,
    claims::{Pending, read_move},
    command::{self, Command, PenaltyKind},
    fen_of,
};
use crate::{
    laws::{
        arithmetic::{
            adjournment::{LateOutcome, SealedMove, late_at_resumption},
            claim::{ClaimTimes, incorrect_claim},
            clock,
            default_time::{self, DefaultCheck},
            quickplay,
        },
        settings::{ColoursReversed, Quickplay},
    },
    notation,
    session::{
        PlyRecord,
        event::GameResult,
        fact::{
            Certainty, Conclusion, EndDetail, Fact, FactKind,
            law::{
                Audience, By, Choice, ClockCalc, Entry, LawFact, LawState, Notice, Obligation, OneOrNone,
                Partial, Penalty, Progress, Side, Snapshot, Sq, Squares, TimedMove, Times,
            },
        },
    },
};

/// So many of the last plies go with a claim in the quickplay finish.
const EVIDENCE_PLIES: usize = 20;

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
            Order::Restore(plies) => desk.session.position_after(*plies).map(fen_of),
            Order::Play(mv, _) => {
                let mut position = desk.session.position().clone();
                position.play_unchecked(*mv);
                Some(fen_of(&position))
            }
            Order::Conclude(_)
            | Order::PlayOn
            | Order::ConfirmTold
            | Order::Correct(..)
            | Order::Complete(_) => None,
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
        if self.is_over(desk) && !touch && !command.is_possible_after_the_end() {
            return Err("the game is over; result * takes its end back".into());
        }
        match command {
            Command::Confirm if self.claims.is_supported() => self.accept(desk)?,
            Command::Confirm => self.confirm(desk)?,
            Command::Reject => self.reject(false, desk)?,
            Command::RejectClaim => self.reject(true, desk)?,
            Command::Accept => self.accept(desk)?,
            Command::Postpone => self.postpone(desk)?,
            Command::Pause => self.stopped(desk),
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
            Command::RestoreTimes => self.tell_times(desk),
            Command::SetPosition(position) => desk.orders.push(Order::SetUp(position)),
            Command::SetClock(side, ms) => self.change_clock(side, ms, desk),
            Command::Correct(ply, uci) => self.correct(ply, &uci, desk)?,
            Command::Result(result) => {
                let reason = if result == GameResult::Ongoing { "entered" } else { "arbiter-decision" };
                desk.conclude(Conclusion::of(result, reason, Certainty::Arbiter));
            }
            Command::Agreement if self.claims.waits_for("quickplay") => self.accept(desk)?,
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
            Command::Arrived(side) => self.arrived(side, desk),
            Command::LateCheck => self.late_check(desk),
            Command::ColoursReversed => self.colours_reversed(desk),
            Command::StillIllegal => self.still_illegal(desk)?,
            Command::PeriodAdded => self.period_added(desk)?,
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
            Command::EnvelopeMissing => self.envelope_missing(desk),
            Command::PositionLost | Command::Void => self.declare_void(desk),
            Command::ReplySealed => self.reply_sealed(desk),
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
        if self.transferring && desk.session.differs().is_empty() {
            self.transferring = false;
            desk.tell(LawFact::Position { fen: desk.fen() });
        }
    }

    fn arbiter_saw_touch(&mut self, side: Color, square: Square, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        if desk.turn() != side {
            return Err("that player does not have the move".into());
        }
        self.take_touch(square, desk.at, true, desk);
        Ok(())
    }

    /// What was lifted in this turn was no touch in law.
    fn dismiss_touches(&mut self, desk: &mut Desk<'_>) {
        self.turn.forget_touches();
        self.tell_obligation(true, desk);
    }

    /// A claim, or what is on record, is refused; `spoken`: a claim that no button told, if nothing waits.
    fn reject(&mut self, spoken: bool, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let found = self.dismiss();
        let claim = self.claims.pending.take();
        let Some(claim) = claim else {
            if found {
                return Ok(());
            }
            if self.adjournment.close_envelope() {
                // It was read wrongly; it is opened again.
                self.turn.unbind();
                return Ok(());
            }
            if !spoken {
                return Err("nothing waits for a ruling; claim-rejected refuses a claim made by word".into());
            }
            // A claim that was made by word of mouth: by the player who has the move.
            let by = desk.turn();
            self.tell_incorrect_claim(&Pending::of("", by, false), desk);
            return Ok(());
        };
        match claim.kind {
            "quickplay" => {
                self.tell_bonus(!claim.by, desk);
                return Ok(());
            }
            "touch" | "setup" | "illegal" | "time" | "sealed-move" => return Ok(()),
            _ => self.tell_incorrect_claim(&claim, desk),
        }
        if let Some(mv) = claim.intended
            && desk.turn() == claim.by
            && let Some(from) = mv.from()
        {
            let uci = desk.session.move_text(mv);
            desk.tell(LawFact::Obligation(Obligation {
                by: Side(claim.by),
                touches: Squares::Many(Vec::new()),
                legal: Choice::Of(vec![uci]),
                rule: self.articles.announced,
                must_move: OneOrNone(None),
                must_capture: OneOrNone(None),
                must_castle: None,
                rook_first_ban: None,
                partial: Some(Partial::Placed { from: Sq(from), placed: Sq(mv.to()) }),
                uncertain: None,
                reported: true,
                certainty: "arbiter",
            }));
            self.turn.bind_to(vec![mv], self.articles.announced);
        }
        if let Some(man) = claim.man.filter(|_| desk.turn() == claim.by) {
            // What he wrote is not legal: another move of that man.
            let moves = desk.session.moves_of(man);
            self.turn.bind_to(moves, self.articles.announced);
            self.take_touch(man, desk.at, true, desk);
        }
        Ok(())
    }

    fn tell_incorrect_claim(&mut self, claim: &Pending, desk: &mut Desk<'_>) {
        let (claimant, opponent) =
            (self.clocks.remaining(claim.by, desk.at), self.clocks.remaining(!claim.by, desk.at));
        let (Some(claimant_ms), Some(opponent_ms)) = (claimant, opponent) else { return };
        let after = incorrect_claim(&self.settings.draw, ClaimTimes { claimant_ms, opponent_ms });
        desk.calc(ClockCalc {
            side: Some(Side(claim.by)),
            before: Some(Times::Parties { claimant: claimant_ms, opponent: opponent_ms }),
            after: Some(Times::Parties { claimant: after.claimant_ms, opponent: after.opponent_ms }),
            ..ClockCalc::of("claim-incorrect")
        });
    }

    fn tell_bonus(&mut self, opponent: Color, desk: &mut Desk<'_>) {
        if let Some(before) = self.clocks.remaining(opponent, desk.at) {
            let after = quickplay::with_bonus(before);
            desk.calc(ClockCalc {
                side: Some(Side(opponent)),
                before: Some(Times::Opponent { opponent: before }),
                after: Some(Times::Opponent { opponent: after }),
                ..ClockCalc::of("quickplay-bonus")
            });
        }
    }

    /// A claim is right.
    fn accept(&mut self, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let Some(claim) = self.claims.pending.take() else {
            return Err("no claim waits for a ruling".into());
        };
        let end = match (claim.end, claim.kind) {
            (Some(end), _) => Conclusion {
                certainty: Certainty::Arbiter,
                more: EndDetail { pending: false, ..end.more },
                ..end
            },
            (None, "setup") => {
                self.declare_void(desk);
                return Ok(());
            }
            (None, "touch") => return self.uphold_touch(desk),
            (None, "threefold" | "fifty") => Conclusion::of(GameResult::Draw, claim.kind, Certainty::Arbiter),
            (None, _) => Conclusion::of(GameResult::Draw, "quickplay-draw", Certainty::Arbiter),
        };
        desk.conclude(end);
        Ok(())
    }

    /// The game does not count.
    fn declare_void(&mut self, desk: &mut Desk<'_>) {
        desk.conclude(Conclusion::void());
        desk.notice(Notice::of("restart-required", Audience::Arbiter));
    }

    /// The decision on a claim in the quickplay finish is postponed; the opponent may get two minutes.
    fn postpone(&mut self, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let open = |claim: &&Pending| claim.kind == "quickplay" && claim.supported;
        let Some(claim) = self.claims.pending.as_ref().filter(open) else {
            return Err("no claim in the quickplay finish waits for a ruling".into());
        };
        let by = claim.by;
        self.tell_bonus(!by, desk);
        Ok(())
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
        let (remove, put) = super::turn::differing(target.board(), desk.session.occupied());
        desk.tell(LawFact::Restore(crate::session::fact::law::Restore {
            fen: fen_of(&target),
            ply,
            remove,
            put,
            to: Audience::Arbiter,
        }));
        Ok(target)
    }

    /// What the clocks should show now by the journal; nothing is set. After an irregular press it is what
    /// they showed at that press, its increment undone (Article 7.1; 2005: 6.14).
    fn tell_times(&mut self, desk: &mut Desk<'_>) {
        let press = self.clocks.at_press();
        if let (Some(by), Some(offender), Some(opponent)) =
            (self.pressed_irregularly(), press.own, press.opponent)
        {
            let now = |side| self.clocks.remaining(side, desk.at);
            let before = now(by).zip(now(!by));
            desk.calc(ClockCalc {
                side: Some(Side(by)),
                before: before.map(|(offender, opponent)| Times::Irregular { offender, opponent }),
                after: Some(Times::Irregular { offender, opponent }),
                ..ClockCalc::of("irregular-press")
            });
            return;
        }
        self.clocks.assume_running(desk.turn());
        for side in [Color::White, Color::Black] {
            if let Some((from, before)) = self.clocks.account_of(side) {
                let after = self.clocks.remaining(side, desk.at);
                desk.calc(ClockCalc {
                    side: Some(Side(side)),
                    before: Some(Times::One(before)),
                    from_ms: Some(from.as_micros() / 1000),
                    to_ms: Some(desk.at.as_micros() / 1000),
                    after: after.map(Times::One),
                    ..ClockCalc::of("replay-elapsed")
                });
            }
        }
    }

    fn change_clock(&mut self, side: Color, ms: u64, desk: &mut Desk<'_>) {
        let before = self.clocks.remaining(side, desk.at);
        self.clocks.set(side, ms, desk.at);
        desk.calc(ClockCalc {
            side: Some(Side(side)),
            before: before.map(Times::One),
            after: Some(Times::One(ms)),
            ..ClockCalc::of("set")
        });
        self.look_at_recording(desk);
    }

    fn add_time(&mut self, side: Color, add: i64, desk: &mut Desk<'_>) {
        let Some(before) = self.clocks.remaining(side, desk.at) else { return };
        let after = clock::adjusted(before, add);
        self.clocks.set(side, after, desk.at);
        desk.calc(ClockCalc {
            side: Some(Side(side)),
            before: Some(Times::One(before)),
            add: Some(add),
            after: Some(Times::One(after)),
            ..ClockCalc::of("period")
        });
        self.look_at_recording(desk);
    }

    fn extra_time(&mut self, whose: Option<Color>, ms: i64, desk: &mut Desk<'_>) {
        for side in
            [Color::White, Color::Black].into_iter().filter(|side| whose.is_none_or(|one| one == *side))
        {
            self.add_time(side, ms, desk);
        }
    }

    /// The time of the next period was added, for the side whose clock was last read to need it.
    fn period_added(&mut self, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let side = desk.turn();
        let completed = self.completed_by(side, desk);
        let Some(ms) = self.clocks.next_period_ms(side, completed) else {
            return Err("the time control has no further period".into());
        };
        self.clocks.begin_period(side, completed);
        self.add_time(side, i64::try_from(ms).unwrap_or(i64::MAX), desk);
        Ok(())
    }

    /// A player did not come; where nobody says which, whoever gave no sign of being there.
    fn default(&self, side: Option<Color>, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let late_ms = desk.at.since(self.clocks.start()) / 1000;
        let saved = |side| match self.at_resumption(side, late_ms, desk) {
            Some("sealed-move-mates") => {
                Some("the sealed move mates: make it on the board, or enter the result")
            }
            Some("sealed-move-draws") => {
                Some("the sealed move draws: make it on the board, or enter the result")
            }
            _ => None,
        };
        if let Some(why) = side.and_then(saved) {
            return Err(why.into());
        }
        let absent = |side: &Color| !self.clocks.was_seen(*side);
        let result = match side {
            Some(side) => GameResult::win(!side),
            None => match [Color::White, Color::Black].into_iter().filter(absent).collect::<Vec<_>>()[..] {
                [side] => GameResult::win(!side),
                [] => return Err("both players gave a sign of being there: default white, or black".into()),
                _ => GameResult::BothLose,
            },
        };
        desk.conclude(Conclusion::of(result, "default", Certainty::Arbiter));
        Ok(())
    }

    /// The man that was promoted last is this one.
    fn correct_promotion(&mut self, role: Role, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let promoted = |index: &usize| desk.session.move_at(*index).is_some_and(|mv| mv.is_promotion());
        let Some(index) = (0..desk.session.plies().len()).rev().find(promoted) else {
            return Err("no pawn was promoted".into());
        };
        let text = desk.session.plies().nth(index).map(|record| record.uci);
        let squares = text.as_deref().and_then(|uci| uci.get(..4)).unwrap_or_default();
        let text = format!("{squares}{}", role.char());
        self.correct(Some(self.earlier.len() + index + 1), &text, desk)
    }

    /// The arbiter names the move that was made, where the board does not tell it.
    fn name_move(&mut self, text: &str, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let Some(mv) = read_move(desk.session.position(), text) else {
            return Err(format!("{text:?} is no legal move in the position of the game").into());
        };
        desk.orders.push(Order::Play(mv, self.last_press == Some(desk.turn())));
        Ok(())
    }

    /// That ply was another move: the arbiter says so.
    fn correct(&mut self, ply: Option<usize>, text: &str, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let base = self.earlier.len();
        let ply = ply.unwrap_or_else(|| {
            let squares = text.get(..4).unwrap_or_default();
            let same = |(_, record): &(usize, &PlyRecord)| record.uci.starts_with(squares);
            let last = desk.session.plies().enumerate().filter(same).last();
            base + last.map_or(desk.session.plies().len(), |(index, _)| index + 1)
        });
        let Some(of_log) = ply.checked_sub(base + 1) else {
            return Err("that ply was played before the record begins".into());
        };
        let plies = desk.session.plies().len();
        if of_log >= plies {
            return Err(so_many(base + plies).into());
        }
        let Some(before) = desk.session.position_after(of_log).cloned() else {
            return Err("that position is not on record".into());
        };
        let Some(mv) = read_move(&before, text) else {
            return Err(format!("{text:?} is not legal at ply {ply}").into());
        };
        let mut line = vec![mv];
        let mut position = before;
        position.play_unchecked(mv);
        for index in of_log + 1..plies {
            let Some(next) = desk.session.move_at(index).filter(|next| position.is_legal(*next)) else {
                return Err(format!(
                    "ply {} would not be legal after it; restore to it first",
                    base + index + 1
                )
                .into());
            };
            line.push(next);
            position.play_unchecked(next);
        }
        desk.orders.push(Order::Correct(of_log, line, "arbiter"));
        Ok(())
    }

    fn penalty(
        &mut self,
        kind: PenaltyKind,
        side: Color,
        ms: Option<u64>,
        desk: &mut Desk<'_>,
    ) -> Result<(), Refusal> {
        let timed = matches!(kind, PenaltyKind::ReduceOwnTime | PenaltyKind::MoreTimeOpponent);
        if timed && ms.is_none() {
            return Err("how many milliseconds?".into());
        }
        let Some(article) = self.articles.penalty(kind.as_str()) else {
            return Err("the edition in force has no such penalty".into());
        };
        let penalty = Penalty {
            kind: kind.as_str(),
            side: Side(side),
            n: None,
            add_ms: None,
            ms: ms.filter(|_| timed),
            lost: matches!(kind, PenaltyKind::Loss | PenaltyKind::Expulsion),
            article,
            to: Audience::Arbiter,
        };
        let lost = penalty.lost;
        desk.state(LawState { penalty: Some(penalty), ..LawState::default() });
        let add = ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(0);
        match kind {
            PenaltyKind::ReduceOwnTime => self.add_time(side, -add, desk),
            PenaltyKind::MoreTimeOpponent => self.add_time(!side, add, desk),
            _ if lost => {
                let result = GameResult::win(!side);
                desk.conclude(Conclusion::of(result, "arbiter-decision", Certainty::Arbiter));
            }
            _ => {}
        }
        Ok(())
    }

    /// A player came: the time that ran without him (Article 6.7; Guideline I.11).
    fn arrived(&mut self, side: Color, desk: &mut Desk<'_>) {
        let resuming = self.adjournment.is_resumed();
        self.clocks.see(side);
        if let Some((ran, from, to, Some(before))) = self.clocks.last_stretch().filter(|_| resuming) {
            // A clock ran until it was stopped: that is what it cost.
            self.tell_elapsed(ran, before, from, to, desk);
            return;
        }
        let ran = if resuming || !self.earlier.is_empty() {
            self.clocks.running().or_else(|| self.absent_until_now(desk))
        } else {
            Some(Color::White)
        };
        let Some(ran) = ran else { return };
        let from = self.clocks.start();
        let elapsed = desk.at.since(from) / 1000;
        let Some(before) = self.clocks.left_at_start(ran) else { return };
        let after = clock::after_running(before, elapsed);
        let running = self.clocks.running().is_some() && !self.earlier.is_empty();
        let calc = if running {
            ClockCalc {
                from_ms: Some(from.as_micros() / 1000),
                to_ms: Some(desk.at.as_micros() / 1000),
                ..ClockCalc::of("replay-elapsed")
            }
        } else {
            let calc = ran.fold_wb("white-absent", "black-absent");
            ClockCalc { elapsed: Some(elapsed), ..ClockCalc::of(calc) }
        };
        desk.calc(ClockCalc {
            side: Some(Side(ran)),
            before: Some(Times::One(before)),
            after: Some(Times::One(after)),
            ..calc
        });
    }

    /// Who has not come yet, and by how much he is late (Article 6.7.1).
    fn late_check(&mut self, desk: &mut Desk<'_>) {
        let from = self.clocks.start();
        let DefaultCheck { late_ms, limit_ms, lost } =
            default_time::check(&self.settings, desk.at.since(from) / 1000);
        for side in [Color::Black, Color::White].into_iter().filter(|side| !self.clocks.was_seen(*side)) {
            let (side, to) = (Side(side), Audience::Arbiter);
            desk.tell(LawFact::DefaultCheck { side, late_ms, limit_ms, lost, to });
            // A player whose clock runs loses by it; of one who has not come to reply to a sealed move that
            // clock tells that he is absent.
            let runs = self.clocks.running() == Some(side.0);
            let absent = match self.clocks.running() {
                Some(_) if self.adjournment.is_unopened() => runs,
                _ => !runs,
            };
            if lost && absent {
                let action = self.at_resumption(side.0, late_ms, desk);
                desk.notice(Notice { side: Some(side), action, ..Notice::of("late-player", to) });
            }
        }
    }

    /// What a late arrival at the resumption leads to (Guideline I.10; 2005: Annex A.10).
    fn at_resumption(&self, late: Color, late_ms: u64, desk: &Desk<'_>) -> Option<&'static str> {
        let sealed = self.adjournment.sealed_move()?;
        let position = desk.session.position();
        let sealer = position.turn();
        let mut after = position.clone();
        after.play_unchecked(sealed);
        let worth = if after.is_checkmate() {
            SealedMove::Mate
        } else if after.is_stalemate() || after.is_insufficient_material() {
            SealedMove::Draw
        } else {
            SealedMove::GoesOn
        };
        let check = default_time::check(&self.settings, late_ms);
        let flag = self.clocks.flag(!late).is_some();
        Some(match late_at_resumption(&self.settings.adjournment, late, check, sealer, worth, flag) {
            LateOutcome::InTime => "in-time",
            LateOutcome::Loses(_) => "loses",
            LateOutcome::Wins(_) => "sealed-move-mates",
            LateOutcome::Draw => "sealed-move-draws",
            LateOutcome::PresentPlayerLost(_) => "present-player-lost-on-time",
        })
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

    /// The actual position, times, whose clock ran, the moves, the score (Article 8.5.3).
    pub(super) fn freeze(&self, purpose: Option<&'static str>, desk: &mut Desk<'_>) {
        let (moves_made, moves_completed) = (self.moves_made(desk), self.moves_completed(desk));
        let running = self.clocks.running().or_else(|| self.clocks.any_flag());
        desk.tell(LawFact::Snapshot(Box::new(Snapshot {
            fen: desk.fen(),
            board: (!desk.session.differs().is_empty()).then(|| desk.session.physical().board.to_string()),
            running: running.map(Side),
            white_ms: self.clocks.remaining(Color::White, desk.at),
            black_ms: self.clocks.remaining(Color::Black, desk.at),
            moves_made,
            moves_completed,
            score: self.score(desk),
            purpose,
            progress: purpose.map(|_| self.progress(desk)),
            to: Audience::Arbiter,
        })));
    }

    fn progress(&self, desk: &Desk<'_>) -> Progress {
        let mut before = self.clocks.start();
        let mut moves: Vec<TimedMove> = Vec::new();
        for (index, record) in desk.session.plies().enumerate() {
            let done = record.completed.unwrap_or(record.made);
            let Some(position) = desk.session.position_after(index) else { continue };
            let by = Side(position.turn());
            moves.push(TimedMove { san: record.san, by, took_ms: done.since(before) / 1000 });
            before = done;
        }
        let position = desk.session.position();
        Progress {
            last_moves: moves.split_off(moves.len().saturating_sub(EVIDENCE_PLIES)),
            halfmoves: position.halfmoves(),
            occurrences: self.occurrences(position, false, desk),
        }
    }

    /// The score of the game in the notation that is set, numbered.
    fn score(&self, desk: &Desk<'_>) -> String {
        let language = self.settings.language.as_str().parse().unwrap_or(notation::Language::English);
        let style = notation::Style::new(language);
        let log = desk.session.plies().len();
        let positions: Vec<&Chess> = self
            .earlier
            .iter()
            .chain((0..=log).filter_map(|index| desk.session.position_after(index)))
            .collect();
        let mut score = String::new();
        for pair in positions.windows(2) {
            let [before, after] = pair else { continue };
            let Some(mv) = before.legal_moves().into_iter().find(|mv| {
                let mut next = (*before).clone();
                next.play_unchecked(*mv);
                next == **after
            }) else {
                score.push_str(" --");
                continue;
            };
            let number = before.fullmoves();
            match before.turn() {
                Color::White => score.push_str(&format!(" {number}.")),
                Color::Black if score.is_empty() => score.push_str(&format!(" {number}...")),
                Color::Black => {}
            }
            score.push(' ');
            score.push_str(&notation::write(before, mv, &style));
        }
        score.trim_start().to_owned()
    }

    /// What an arbiter needs for a claim in the quickplay finish; without one the claim ends the game, and
    /// an arbiter decides later (2005: Annex D; 2023: Guideline III.6).
    pub(super) fn gather_evidence(&mut self, desk: &mut Desk<'_>) {
        let alone = self.settings.quickplay == Quickplay::NoArbiter;
        self.freeze(Some(if alone { "annex-D" } else { "quickplay" }), desk);
        if alone {
            let more = EndDetail { pending: true, ..EndDetail::default() };
            let end = Conclusion::of(GameResult::Ongoing, "arbiter-decision", Certainty::Arbiter);
            desk.conclude(Conclusion { more, ..end });
            return;
        }
        for side in [Color::White, Color::Black] {
            self.tell_can_mate(side, desk);
        }
    }

    /// Five seconds a move for both from now on, and two minutes for the opponent (Guideline III.4).
    fn five_seconds(&mut self, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let Some(per_move) = quickplay::five_second_mode(&self.settings) else {
            return Err("the five-second mode was not announced (rules.quickplay)".into());
        };
        let Some(by) = self.claims.five_seconds.take() else {
            return Err("nobody has asked for it (button request-five-seconds-white or -black)".into());
        };
        self.tell_bonus(!by, desk);
        self.clocks.rule_per_move(per_move);
        let delay = matches!(per_move, clock::PerMove::Delay { .. });
        desk.state(LawState {
            mode: Some(if delay { "delay" } else { "fischer" }),
            inc_ms: Some(per_move.ms()),
            both: true,
            ..LawState::default()
        });
        Ok(())
    }

    /// The score sheets do not show whether the time was overstepped: the next move is the first of the
    /// next period (Article 8.6).
    fn begin_next_period(&mut self, desk: &mut Desk<'_>) {
        for side in [Color::White, Color::Black] {
            let completed = self.completed_by(side, desk);
            self.clocks.begin_period(side, completed);
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
