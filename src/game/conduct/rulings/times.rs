//! Times that a ruling names or changes, and players who have not come (Articles 6.7, 7.1; Guideline I).

use shakmaty::{Color, Position as _};

use super::Refusal;
use crate::{
    game::conduct::{Conduct, Desk},
    laws::arithmetic::{
        adjournment::{LateOutcome, SealedMove, late_at_resumption},
        clock,
        default_time::{self, DefaultCheck},
    },
    session::{
        event::GameResult,
        fact::{
            Certainty, Conclusion,
            law::{Audience, ClockCalc, LawFact, Notice, Side, Times},
        },
    },
};

impl Conduct {
    /// What the clocks should show now by the journal; nothing is set. After an irregular press it is what
    /// they showed at that press, its increment undone (Article 7.1; 2005: 6.14).
    pub(super) fn tell_times(&mut self, desk: &mut Desk<'_>) {
        let press = self.clocks.at_press();
        if let (Some(by), Some(offender), Some(opponent)) =
            (self.pressed_irregularly(), press.own, press.opponent)
        {
            let now = |side| self.clocks.remaining(side, desk.at);
            let before = now(by).zip(now(!by));
            if let Some((now_offender, now_opponent)) = before {
                let corrections = &mut self.clocks.corrections;
                corrections.get_mut(by).rule(now_offender, offender);
                corrections.get_mut(!by).rule(now_opponent, opponent);
            }
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

    pub(in crate::game::conduct) fn change_clock(&mut self, side: Color, ms: u64, desk: &mut Desk<'_>) {
        let before = self.clocks.remaining(side, desk.at);
        self.clocks.set(side, ms, desk.at);
        self.clocks.corrections.get_mut(side).set(before, ms);
        desk.calc(ClockCalc {
            side: Some(Side(side)),
            before: before.map(Times::One),
            after: Some(Times::One(ms)),
            ..ClockCalc::of("set")
        });
        self.look_at_recording(desk);
    }

    pub(super) fn add_time(&mut self, side: Color, add: i64, desk: &mut Desk<'_>) {
        let Some(before) = self.clocks.remaining(side, desk.at) else { return };
        let after = clock::adjusted(before, add);
        self.clocks.set(side, after, desk.at);
        self.clocks.corrections.get_mut(side).change(before, after);
        desk.calc(ClockCalc {
            side: Some(Side(side)),
            before: Some(Times::One(before)),
            add: Some(add),
            after: Some(Times::One(after)),
            ..ClockCalc::of("period")
        });
        self.look_at_recording(desk);
    }

    pub(super) fn extra_time(&mut self, whose: Option<Color>, ms: i64, desk: &mut Desk<'_>) {
        for side in
            [Color::White, Color::Black].into_iter().filter(|side| whose.is_none_or(|one| one == *side))
        {
            self.add_time(side, ms, desk);
        }
    }

    /// The time of the next period was added, for the side whose clock was last read to need it.
    pub(super) fn period_added(&mut self, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let side = desk.turn();
        let completed = self.completed_by(side, desk);
        let Some(ms) = self.clocks.next_period_ms(side, completed) else {
            return Err("the time control has no further period".into());
        };
        self.clocks.begin_period(side, completed);
        self.add_time(side, i64::try_from(ms).unwrap_or(i64::MAX), desk);
        Ok(())
    }

    /// The score sheets do not show whether the time was overstepped: the next move is the first of the
    /// next period (Article 8.6).
    pub(super) fn begin_next_period(&mut self, desk: &mut Desk<'_>) {
        for side in [Color::White, Color::Black] {
            let completed = self.completed_by(side, desk);
            let added = self.clocks.next_period_ms(side, completed).filter(|_| self.keeps_clock());
            self.clocks.begin_period(side, completed);
            // An external clock adds it by itself, or the arbiter does.
            if let Some(ms) = added {
                self.add_time(side, i64::try_from(ms).unwrap_or(i64::MAX), desk);
            }
        }
    }

    /// A player came: the time that ran without him (Article 6.7; Guideline I.11).
    pub(super) fn arrived(&mut self, side: Color, desk: &mut Desk<'_>) {
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
    pub(super) fn late_check(&mut self, desk: &mut Desk<'_>) {
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
    pub(super) fn at_resumption(&self, late: Color, late_ms: u64, desk: &Desk<'_>) -> Option<&'static str> {
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

    /// A player did not come; where nobody says which, whoever gave no sign of being there.
    pub(super) fn default(&self, side: Option<Color>, desk: &mut Desk<'_>) -> Result<(), Refusal> {
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
}
