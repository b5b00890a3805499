//! What a player may claim and an arbiter rules of an irregularity, and what it costs.

use shakmaty::{Bitboard, Chess, Color, Move, Position as _, Rank, Role};

use super::{
    Irregularity, NO_ATTEMPT, NOT_COMPLETED, Stage, TOO_EARLY, TWO_HANDS, both_in_check, still_to_do,
};
use crate::{
    game::conduct::{Conduct, Desk, Order, claims::Pending, rulings::Refusal, turn::Violation},
    laws::arithmetic::illegal::{self, IllegalTimes},
    laws::settings::{IllegalFinality, IllegalPosition, PressWithoutMove, Unpromoted},
    session::{
        event::GameResult,
        fact::{
            ByRule, Certainty, Conclusion, Fact, FactKind,
            law::{Audience, ClaimCheck, ClockCalc, LawFact, Penalty, Side, Times},
        },
    },
};

impl Conduct {
    /// `claim-illegal`: open until the opponent has made his next move.
    pub(in crate::game::conduct) fn claim_illegal(&mut self, side: Color, desk: &mut Desk<'_>) {
        let fast = self.settings.illegal.fast_finality != IllegalFinality::Never;
        let misuse =
            self.irregularity.as_ref().is_some_and(|found| found.by != side && !self.counts(found.kind));
        let decided = !misuse
            && self.irregularity.as_ref().is_some_and(|found| found.by != side)
            && self.decide_early(desk);
        let early = self.awaits_press(desk);
        let is_one = |found: &&Irregularity| found.by != side && found.kind != TOO_EARLY && !early;
        let found = self.irregularity.as_ref().filter(|_| decided).filter(is_one);
        let open = found.is_some_and(|found| !(fast && found.answered) && found.stage != Stage::Ruled);
        let reason = match found {
            None if early => Some(NOT_COMPLETED),
            None if misuse => Some("to press without a move is misuse of the clock in this edition"),
            None => Some("no illegal move is on record"),
            Some(_) if !open => Some("the next move was made"),
            Some(_) => None,
        };
        desk.tell(LawFact::ClaimCheck(ClaimCheck {
            kind: "illegal",
            by: Some(Side(side)),
            valid: open,
            reason,
            ..ClaimCheck::default()
        }));
        if open && fast {
            self.tell_counted(desk);
            self.tell_way_out(desk);
        }
        // In blitz by the edition of 2005 the claimant wins, if he can mate at all (Article C.3).
        if open && self.settings.illegal.loss_at == 1 {
            let cannot = self.settings.illegal.draw_if_opponent_cannot_mate
                && self.tell_can_mate(side, desk) == Some(false);
            let end = if cannot {
                self.draw_for_want_of_mate("illegal-blitz-draw", side)
            } else {
                Conclusion::of(GameResult::win(side), "illegal-blitz-claim", Certainty::Presumed)
            };
            let kind = "illegal";
            self.await_ruling(Pending { end: Some(end), ..Pending::of(kind, side, true) }, desk);
        }
    }

    /// Somebody rules on, or claims, what a press left open, before it is known whether the rest follows: what
    /// the board shows now counts. False where it shows nothing that could be ruled on.
    fn decide_early(&mut self, desk: &mut Desk<'_>) -> bool {
        let Some(found) = &self.irregularity else { return true };
        if !matches!(found.stage, Stage::Open { .. }) {
            return true;
        }
        let shown = found.kind == "press-without-move"
            || still_to_do(found.unfinished, desk).is_some()
            || self.taken_by_nobody(desk).is_some();
        if shown {
            self.nothing_followed(desk);
            let fast = self.settings.illegal.fast_finality != IllegalFinality::Never;
            if let Some(found) = &mut self.irregularity {
                // It was told as an illegal move just now.
                found.counted = found.attempt.is_some() && !(fast && found.kind == "unpromoted");
            }
        }
        shown
    }

    /// The arbiter confirms what is on record: it counts, and the position is put up again.
    pub(in crate::game::conduct) fn confirm(&mut self, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        if !self.decide_early(desk) {
            return Err("nothing waits for a ruling".into());
        }
        let waits = |found: &Irregularity| found.stage != Stage::Ruled && found.kind != TOO_EARLY;
        let Some(found) = self.irregularity.clone().filter(waits) else {
            // A breach of Article 4 may be corrected as long as it can be claimed.
            return match &self.violation {
                Some(violation) if !violation.forfeited => self.uphold_touch(desk),
                _ => Err("nothing waits for a ruling".into()),
            };
        };
        let fast = self.settings.illegal.fast_finality != IllegalFinality::Never;
        if found.answered && (found.stage == Stage::Stands || fast && found.kind == TWO_HANDS) {
            return Err("the illegal move stands: the next move was made".into());
        }
        if self.awaits_press(desk) {
            return Err(NOT_COMPLETED.into());
        }
        let counts = self.counts(found.kind);
        if let Some(stored) = &mut self.irregularity {
            stored.stage = Stage::Ruled;
        }
        if !counts {
            return Ok(());
        }
        let n = self.next_count(found.by);
        if fast || matches!(found.kind, "press-without-move" | TWO_HANDS) {
            self.tell_counted(desk);
        }
        if let Some(count) = self.confirmed.get_mut(found.by.fold_wb(0usize, 1)) {
            *count = n;
        }
        let lost = self.penalise(found.by, n, desk);
        if lost || matches!(found.kind, "press-without-move" | TWO_HANDS) {
            return Ok(());
        }
        self.correct_position(&found, desk)
    }

    /// What an illegal move that counts means for the position: the one before it is put up again, and what was
    /// touched binds (Article 7.5.1; 2005: 7.4a).
    fn correct_position(&mut self, found: &Irregularity, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        if found.stage == Stage::Stands {
            return self.take_back(found, desk);
        }
        if desk.session.plies().len() > found.plies {
            return self.correct_later(found, desk);
        }
        if self.becomes_queen(found) {
            let attempt = found.attempt.as_deref().unwrap_or_default();
            self.bind_to_queen(attempt, desk.session.legal_moves(), desk);
            self.tell_way_to_queen(attempt, desk);
            return Ok(());
        }
        // He has to move, and to press after it: nothing that the board has shown since counts.
        desk.orders.push(Order::Restore(found.plies));
        self.ruled_back = true;
        self.tell_way_out(desk);
        self.begin_again();
        if let Some(stored) = &mut self.irregularity {
            stored.put_back &= desk.session.differs().is_empty();
        }
        if self.turn.has_touched() {
            self.tell_obligation(true, desk);
        }
        Ok(())
    }

    /// A pawn that was left on the last rank becomes a queen (Article 7.5.2).
    fn becomes_queen(&self, found: &Irregularity) -> bool {
        found.kind == "unpromoted" && self.settings.illegal.unpromoted == Unpromoted::Queen
    }

    /// What else has to be put up again where a pawn becomes a queen: the opponent had replied.
    fn tell_way_to_queen(&self, attempt: &str, desk: &mut Desk<'_>) {
        let before = desk.session.position();
        let legal = desk.session.legal_moves().iter();
        let is_it = |mv: &&Move| {
            mv.promotion() == Some(Role::Queen) && desk.session.move_text(**mv).starts_with(attempt)
        };
        let Some(mv) = legal.copied().find(|mv| is_it(&mv)) else { return };
        let mut after = before.clone();
        after.play_unchecked(mv);
        if desk.session.differs_from(&after).without(mv.to()).any() {
            let ply = self.earlier.len() + desk.session.plies().len() + 1;
            Conduct::tell_way_to(&after, ply, desk);
        }
    }

    /// The moves that he has to choose from.
    fn bind_to_queen(&mut self, attempt: &str, legal: &[Move], desk: &Desk<'_>) {
        let is_it = |mv: &Move| {
            mv.promotion() == Some(Role::Queen) && desk.session.move_text(*mv).starts_with(attempt)
        };
        let queens = legal.iter().copied().filter(is_it).collect();
        self.turn.bind_to(queens, self.articles.unpromoted);
    }

    /// The same where moves were made since. The player had put the position up again and played another move,
    /// as the ruling would have him do: it stands, unless it breaks Article 4. What he went on to from the
    /// illegal one is taken back.
    fn correct_later(&mut self, found: &Irregularity, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let replacement = found.plies + 1;
        let breach = self.violation.as_ref().is_some_and(|violation| violation.ply == replacement);
        if breach {
            return self.uphold_touch(desk);
        }
        let queened = desk.session.move_at(found.plies).and_then(|mv| mv.promotion()) == Some(Role::Queen);
        if found.put_back || queened && self.becomes_queen(found) {
            return Ok(());
        }
        self.take_back(found, desk)
    }

    /// What was played from the illegal move on is taken back, and the man that made it is bound.
    fn take_back(&mut self, found: &Irregularity, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let queen = self.becomes_queen(found);
        let before = desk.session.position_after(found.plies).cloned();
        self.go_back_to(self.earlier.len() + found.plies, desk)?;
        let attempt = found.attempt.as_deref().unwrap_or_default();
        let man = attempt.get(..2).and_then(|square| square.parse().ok());
        match (before, man) {
            (Some(before), _) if queen => self.bind_to_queen(attempt, &before.legal_moves(), desk),
            (Some(before), Some(man)) => self.bind_after_restoring(man, &before, desk),
            _ => {}
        }
        Ok(())
    }

    /// Whether this is an illegal move in the edition, and not misuse of the clock (Article 7.5.3; 2005: 6.8c).
    fn counts(&self, kind: &str) -> bool {
        kind != "press-without-move" || self.settings.illegal.press_without_move == PressWithoutMove::Counts
    }

    /// What is on record counts as an illegal move, by a ruling or by a claim that is open.
    fn tell_counted(&mut self, desk: &mut Desk<'_>) {
        let Some(found) = self.irregularity.as_mut().filter(|found| !found.counted) else { return };
        found.counted = true;
        let found = found.clone();
        let attempt = found.attempt.clone().or_else(|| Some(NO_ATTEMPT.to_owned()));
        let n = self.next_count(found.by);
        // A player or the arbiter asks: he looks at it now, whoever was told before.
        let to = Audience::Arbiter;
        let kind = FactKind::IllegalMove { by: found.by, attempt, kind: found.kind, n, to };
        desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind });
    }

    /// What the n-th illegal move costs (Article 7.5.5; 2005: 7.4b). True when the game is over.
    fn penalise(&mut self, by: Color, n: u32, desk: &mut Desk<'_>) -> bool {
        let lost = n >= self.settings.illegal.loss_at;
        let add_ms = (!lost).then_some(self.settings.illegal.bonus_ms);
        desk.tell(LawFact::Penalty(Penalty {
            kind: "illegal-move",
            side: Side(by),
            n: Some(n),
            add_ms,
            ms: None,
            lost,
            article: self.articles.illegal,
            to: Audience::Arbiter,
        }));
        if let Some(bonus) = add_ms {
            self.tell_times_after(by, n, bonus, desk);
            return false;
        }
        let exception = self.settings.illegal.draw_if_opponent_cannot_mate;
        let end = if exception && self.tell_can_mate(!by, desk) == Some(false) {
            self.draw_for_want_of_mate("illegal-count-draw", !by)
        } else {
            Conclusion::of(GameResult::win(!by), "illegal-count", Certainty::Arbiter)
        };
        desk.conclude(end);
        true
    }

    /// A pawn that was left on the last rank becomes a queen by a ruling (Article 7.5.2).
    pub(in crate::game::conduct) fn queen_by_rule(&self, mv: Move) -> Option<ByRule> {
        let ruled = |found: &Irregularity| found.stage == Stage::Ruled && found.kind == "unpromoted";
        let queen =
            self.settings.illegal.unpromoted == Unpromoted::Queen && mv.promotion() == Some(Role::Queen);
        (queen && self.irregularity.as_ref().is_some_and(ruled)).then_some(ByRule::Queen)
    }

    /// The times that are proposed after an illegal move (Articles 7.1, 7.5.5; 2005: 6.14, 7.4b).
    fn tell_times_after(&mut self, by: Color, n: u32, bonus: u64, desk: &mut Desk<'_>) {
        let left = |side| self.clocks.remaining(side, desk.at);
        // The times of the irregular press, where it is known.
        let found = self.irregularity.as_ref();
        let later = found.is_some_and(Irregularity::was_found_later);
        let press = found.and_then(|found| self.press_of(found)).unwrap_or_default();
        let (known, opponent) = match later || self.clocks.running() == Some(!by) {
            true => (press.credited.or(left(by)), press.opponent.or(left(!by))),
            false => (left(by), left(!by)),
        };
        let Some(opponent_ms) = opponent else { return };
        let before = IllegalTimes { offender_ms: known.unwrap_or(0), opponent_ms };
        let per_move = self.clocks.per_move(by, self.completed_by(by, desk));
        let after = illegal::times(&self.settings.illegal, before, bonus, per_move, u64::MAX);
        let inc_removed = known.map(|ms| ms.saturating_sub(after.offender_ms)).filter(|ms| *ms > 0);
        let times = |times: IllegalTimes| match inc_removed {
            Some(_) => Times::Irregular { offender: times.offender_ms, opponent: times.opponent_ms },
            None => Times::Opponent { opponent: times.opponent_ms },
        };
        for (side, ruled) in [(by, after.offender_ms), (!by, after.opponent_ms)] {
            let account = self.clocks.remaining(side, desk.at).filter(|_| side != by || known.is_some());
            if let Some(account) = account {
                self.clocks.corrections.get_mut(side).rule(account, ruled);
            }
        }
        self.clocks.grant(!by, i64::try_from(bonus).unwrap_or(i64::MAX));
        self.clocks.ruled_on();
        desk.calc(ClockCalc {
            side: Some(Side(by)),
            n: Some(n),
            inc_removed,
            before: Some(times(before)),
            after: Some(times(after)),
            ..ClockCalc::of("illegal")
        });
    }

    /// The arbiter finds that there was no illegal move. False where none waits for him.
    pub(in crate::game::conduct) fn dismiss_illegal(&mut self, desk: &mut Desk<'_>) -> bool {
        let found = self.irregularity.take_if(|found| found.stage == Stage::Found);
        if found.as_ref().is_some_and(|found| found.unfinished.is_some()) {
            desk.orders.push(Order::Excuse);
        }
        found.is_some()
    }

    /// The arbiter finds that there is nothing to rule: no illegal move, or no breach of Article 4 that could still
    /// be corrected.
    pub(in crate::game::conduct) fn dismiss(&mut self, desk: &mut Desk<'_>) -> bool {
        if self.dismiss_illegal(desk) {
            return true;
        }
        let open = |violation: &Violation| !violation.forfeited;
        let over = self.is_over(desk) && !self.ended_in_breach(desk);
        if over || !self.violation.as_ref().is_some_and(open) {
            return false;
        }
        self.violation = None;
        true
    }

    /// A position that is illegal in itself was there after the next move, too (Article A.5.4).
    pub(in crate::game::conduct) fn still_illegal(&self, desk: &mut Desk<'_>) -> Result<(), &'static str> {
        if self.settings.illegal.irregular_position != IllegalPosition::DrawAfterNextMove {
            return Err("this rule belongs to rapid and blitz of the edition of 2023");
        }
        if !self.is_still_illegal(desk) {
            return Err("neither are both kings in check, nor may a pawn stand on the last rank");
        }
        let reason = "rapid-illegal-position-draw";
        desk.conclude(Conclusion::of(GameResult::Draw, reason, Certainty::Arbiter));
        Ok(())
    }

    /// Whether the position, as the game has it, as the board shows it or as what is on record left it, may be
    /// illegal in itself: both kings in check, or a pawn on the last rank. A board that tells no pieces shows no
    /// such pawn, and any man that was promoted may be one.
    fn is_still_illegal(&self, desk: &Desk<'_>) -> bool {
        let backrank = Bitboard::from_rank(Rank::First) | Bitboard::from_rank(Rank::Eighth);
        let is_illegal =
            |position: &Chess| both_in_check(position) || !(position.board().pawns() & backrank).is_empty();
        let position = desk.session.position();
        let shown = || {
            let shown = self.irregularity.as_ref().and_then(|found| found.as_it_looks(position));
            shown.is_some_and(|(_, after)| is_illegal(&after))
        };
        let stands = || desk.session.men().is_some_and(|men| !(men.pawns() & backrank).is_empty());
        is_illegal(position) || shown() || stands() || self.assumes_promotion(desk)
    }
}
