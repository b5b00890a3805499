//! Flags: what the clock indicates, what was completed by then, which fell first, and what follows (Articles
//! 6.4, 6.8, 6.9; 2005: 6.3, 6.9, 6.10, 6.12).

use shakmaty::Color;

use super::{BOTH, Half};
use crate::{
    game::conduct::{Conduct, Desk, audience, claims::Pending},
    laws::{
        arithmetic::{
            clock::{self, AfterMove},
            flags::{self, BothFlagsOutcome},
            periods::FlagCheck,
        },
        settings::Discipline,
    },
    session::{
        event::GameResult,
        fact::{
            Certainty, Conclusion,
            law::{Audience, ClaimCheck, LawFact, LawState, Notice, Side},
        },
        time::MonoTime,
    },
};

/// A reading of an external clock tells a flag up to this many milliseconds late: whole seconds, read twice a
/// second or more.
const FLAG_LAG_MS: u64 = 1_500;

impl Conduct {
    /// The clock indicates that a flag fell: an indication, never an end (Article 6.8; 2005: 6.9).
    pub(in crate::game::conduct) fn flag(&mut self, side: Color, desk: &mut Desk<'_>) {
        // Mate and stalemate end the game when they are made (Articles 5.1.1, 5.2.1).
        let over = self.is_over(desk) || !desk.session.can_move();
        if !over {
            self.tell_moves_of_period(side, desk);
        }
        let to = if over { Audience::Journal } else { audience(self.settings.flag_alert()) };
        let notice = Notice::of("flag-indicated", to);
        let (from, to_latest) = self.fell_between(side, desk);
        desk.notice(Notice {
            side: Some(Side(side)),
            after_end: over,
            fell_from_us: Some(from.as_micros()),
            fell_to_us: Some(to_latest.as_micros()),
            ..notice
        });
        if over {
            return;
        }
        self.tell_flag_account(side, desk);
        if self.clocks.flag(side).is_none() {
            let met = self.check_moves(side, desk).is_some_and(|check| check.met);
            let half = self.clocks.half_mut(side);
            (half.flag, half.flag_from, half.met) = (Some(desk.at), from, met);
        }
        if let (Some(white), Some(black)) = (self.clocks.white.flag, self.clocks.black.flag) {
            let order = match white.cmp(&black) {
                std::cmp::Ordering::Less => "white-first",
                std::cmp::Ordering::Equal => "unknown",
                std::cmp::Ordering::Greater => "black-first",
            };
            // Sure where the first one was seen down before the second one can have fallen.
            let apart = |first: MonoTime, second: &Half| first < second.flag_from;
            let sure = apart(white, &self.clocks.black) || apart(black, &self.clocks.white);
            desk.notice(Notice { order: Some(order), sure: Some(sure), ..Notice::of("both-flags", to) });
        }
        if self.settings.record.required {
            // Who was not recording has to bring the score up to date (Article 8.5).
            let recording = |side: Color| self.clocks.half(side).required == Some(true);
            let idle = BOTH.into_iter().filter(|other| *other == side || !recording(*other));
            let who: Vec<Side> = idle.map(Side).collect();
            desk.notice(Notice { who, ..Notice::of("scoresheet-update-due", Audience::Arbiter) });
        }
        desk.state(LawState { arbiter_may_see_count: true, ..LawState::default() });
    }

    /// Between which moments a flag fell that is indicated now: what the way of the reading allows, and of that
    /// what the readings before it allow.
    fn fell_between(&self, side: Color, desk: &Desk<'_>) -> (MonoTime, MonoTime) {
        let (from, to) = (self.flag_from(side, desk.at), desk.at);
        match desk.session.clock_zero(side, to).filter(|_| self.clocks.own.is_none()) {
            Some((first, last)) if first <= to && last >= from => (first.max(from), last.min(to)),
            _ => (from, to),
        }
    }

    /// Since when a flag that is indicated now may have been down. An external clock tells it in its next
    /// reading, late by up to [`FLAG_LAG_MS`]; the last reading that showed time may have been so late, too.
    fn flag_from(&self, side: Color, at: MonoTime) -> MonoTime {
        if self.clocks.own.is_some() || self.clocks.read.is_none() {
            return at;
        }
        let shown = self.clocks.half(side).shown.unwrap_or(at).min(at);
        MonoTime::from_micros(shown.as_micros().saturating_sub(FLAG_LAG_MS * 1000))
    }

    fn tell_moves_of_period(&self, side: Color, desk: &mut Desk<'_>) {
        if let Some(FlagCheck { completed, required: Some(required), met }) = self.check_moves(side, desk) {
            let (side, required) = (Side(side), Some(required));
            desk.tell(LawFact::FlagCheck { side, completed, required, met, to: Audience::Arbiter });
        }
    }

    fn tell_flag_account(&self, side: Color, desk: &mut Desk<'_>) {
        let Some(before) = self.clocks.half(side).left else { return };
        let used = desk.at.since(self.clocks.since) / 1000;
        let per_move = self.clocks.per_move(side, self.completed_by(side, desk));
        let after = clock::after_move(before, used, per_move);
        if !self.clocks.is_read() && self.clocks.running == Some(side) && after == AfterMove::Flag {
            self.tell_account(side, before, used, per_move, after, desk);
        }
    }

    /// Whether the moves of the period are completed (Article 6.4; 2005: 6.3).
    fn check_moves(&self, side: Color, desk: &Desk<'_>) -> Option<FlagCheck> {
        let completed = self.completed_by(side, desk);
        let period = self.clocks.period(side, completed);
        let control = self.clocks.control_of(side)?;
        // A flag that falls with the moves completed is that of the period before, where the clock did not add the time
        // of this one yet.
        let added = self.clocks.own.is_some() || self.clocks.half(side).has >= period;
        let before = period
            .checked_sub(1)
            .filter(|_| !added)
            .map(|before| FlagCheck::in_period(control, before, completed));
        let first = self.clocks.half(side).ruled.is_none();
        let now = FlagCheck::in_period(control, period, completed);
        Some(before.filter(|check| check.met && first && check.required == Some(completed)).unwrap_or(now))
    }

    /// Whether the moves were completed: what counts is the instant in which the flag fell.
    fn has_met(&self, side: Color, desk: &Desk<'_>) -> bool {
        let half = self.clocks.half(side);
        let now = || self.check_moves(side, desk).is_some_and(|check| check.met);
        if half.flag.is_some() { half.met } else { now() }
    }

    /// The side whose flag fell, the first one where both did.
    fn flagged(&self) -> Option<Color> {
        match (self.clocks.white.flag, self.clocks.black.flag) {
            (Some(white), Some(black)) if black < white => Some(Color::Black),
            (Some(_), _) => Some(Color::White),
            (None, Some(_)) => Some(Color::Black),
            (None, None) => None,
        }
    }

    /// An arbiter observed the flag: the game is lost on time, or drawn where the opponent cannot mate
    /// (Article 6.9; 2005: 6.10).
    pub(in crate::game::conduct) fn observe_flag(&mut self, desk: &mut Desk<'_>) -> Result<(), &'static str> {
        let Some(first) = self.flagged() else { return Err("no flag is on record") };
        if self.clocks.white.flag.is_some() && self.clocks.black.flag.is_some() {
            if self.outcome_of_both(false, desk) == Some(BothFlagsOutcome::Continue) {
                return Err(
                    "both flags are down, nobody knows which one fell first, and more moves are to come in \
                            another period as far as is known: the game goes on (both-flags last-period says that \
                            this is the last one)",
                );
            }
            return self.both_flags(false, desk);
        }
        let Some(end) = self.lost_on_time(first, desk) else {
            return Err("the moves of the period are completed");
        };
        desk.conclude(end);
        Ok(())
    }

    /// What the flags on record come to, where they decide.
    fn end_on_time(&mut self, desk: &mut Desk<'_>) -> Option<Conclusion> {
        let first = self.flagged()?;
        if self.clocks.white.flag.is_some() && self.clocks.black.flag.is_some() {
            return match self.outcome_of_both(false, desk)? {
                BothFlagsOutcome::First(side) => self.lost_on_time(side, desk),
                BothFlagsOutcome::Draw => {
                    Some(Conclusion::of(GameResult::Draw, "both-flags-draw", Certainty::Arbiter))
                }
                BothFlagsOutcome::Continue | BothFlagsOutcome::Arbiter => None,
            };
        }
        self.lost_on_time(first, desk)
    }

    fn lost_on_time(&mut self, side: Color, desk: &mut Desk<'_>) -> Option<Conclusion> {
        if self.has_met(side, desk) {
            return None;
        }
        Some(if self.tell_can_mate(!side, desk) == Some(false) {
            self.draw_for_want_of_mate("time-draw", !side)
        } else {
            Conclusion::of(GameResult::win(!side), "time", Certainty::Arbiter)
        })
    }

    fn outcome_of_both(&self, last: bool, desk: &Desk<'_>) -> Option<BothFlagsOutcome> {
        let (white, black) = (self.clocks.white.flag?, self.clocks.black.flag?);
        let first = if white == black { None } else { self.flagged() };
        let in_last = |side: &Color| self.clocks.is_last_period(*side, self.completed_by(*side, desk));
        let last = last || (self.clocks.control.is_some() && BOTH.iter().all(in_last));
        Some(flags::both_flags(&self.settings, first, last))
    }

    /// Both flags fell (2005: Articles 6.12, B.9; 2023: Guideline III.3.1). `last`: the arbiter says that it
    /// is the last period.
    pub(in crate::game::conduct) fn both_flags(
        &mut self,
        last: bool,
        desk: &mut Desk<'_>,
    ) -> Result<(), &'static str> {
        match self.outcome_of_both(last, desk) {
            None => Err("not both flags are on record"),
            Some(BothFlagsOutcome::First(side)) => match self.lost_on_time(side, desk) {
                Some(end) => {
                    desk.conclude(end);
                    Ok(())
                }
                None => Err("the moves of the period are completed"),
            },
            Some(BothFlagsOutcome::Draw) => {
                desk.conclude(Conclusion::of(GameResult::Draw, "both-flags-draw", Certainty::Arbiter));
                Ok(())
            }
            Some(BothFlagsOutcome::Continue) => Ok(()),
            Some(BothFlagsOutcome::Arbiter) => Err("the Laws do not say: enter the result"),
        }
    }

    /// A claim of a win on time, or of a wrong time after an adjournment.
    pub(in crate::game::conduct) fn claim_time(&mut self, side: Color, desk: &mut Desk<'_>) {
        let check = ClaimCheck { kind: "time", by: Some(Side(side)), ..ClaimCheck::default() };
        if let Some(open) = self.adjournment.time_claim_open(side) {
            let reason = (!open).then_some("his first move is made");
            desk.tell(LawFact::ClaimCheck(ClaimCheck { valid: open, reason, ..check }));
            return;
        }
        let (own, other) = (self.clocks.flag(side), self.clocks.flag(!side));
        let both = own.is_some() && other.is_some() && self.settings.discipline != Discipline::Standard;
        let outcome = if both { self.outcome_of_both(false, desk) } else { None };
        let fell_first = outcome == Some(BothFlagsOutcome::First(!side));
        let valid = other.is_some() && (own.is_none() || fell_first) && !self.has_met(!side, desk);
        let reason = if other.is_none() {
            Some("the opponent's flag is not on record")
        } else if own.is_some() && !fell_first {
            Some("the claimant's flag fell, too")
        } else {
            (!valid).then_some("the moves of the period are completed")
        };
        desk.tell(LawFact::ClaimCheck(ClaimCheck { valid, reason, ..check }));
        let drawn = outcome == Some(BothFlagsOutcome::Draw);
        if let Some(end) = (valid || drawn).then(|| self.end_on_time(desk)).flatten() {
            let kind = "time";
            let end = Conclusion { certainty: Certainty::Presumed, ..end };
            self.await_ruling(Pending { end: Some(end), ..Pending::of(kind, side, true) }, desk);
        }
    }
}
