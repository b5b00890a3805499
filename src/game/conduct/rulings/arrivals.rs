//! Players who come late, or not at all (Articles 6.6, 6.7; Guideline I.10, I.11; 2005: 6.5 to 6.7, Annex A.9,
//! A.10).

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
        time::MonoTime,
    },
};

impl Conduct {
    /// A player came: whether he is later than allowed, and what the time until then cost him. Where he gave a
    /// sign of being there before, he came with it.
    pub(super) fn arrived(&mut self, side: Color, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let from = self.clocks.session_start();
        let Some(came) = self.clocks.arrive(side, desk.at) else {
            return Err("the arrival of this player is on record, and the time until then was told".into());
        };
        let check = default_time::check(&self.settings, came.since(from) / 1000);
        if check.lost {
            self.tell_late(side, check, desk);
        }
        if self.adjournment.is_resumed() || !self.earlier.is_empty() {
            self.tell_absence_at_resumption(side, from, came, desk);
        } else {
            self.tell_absence_at_start(side, from, came, desk);
        }
        Ok(())
    }

    /// White loses the time until he comes, whoever else is there (Article 6.7.2; 2005: 6.6). His opponent loses it
    /// once his clock runs.
    fn tell_absence_at_start(&self, side: Color, from: MonoTime, came: MonoTime, desk: &mut Desk<'_>) {
        let first = desk.session.position_after(0).map_or(Color::White, |position| position.turn());
        if side != first {
            self.tell_ran_without(side, came, desk);
        } else if default_time::is_charged(&self.settings) {
            self.tell_absence(side, from, came, desk);
        }
    }

    /// A clock that ran says what the time cost. Where none did, it is the time of him whom the edition names.
    fn tell_absence_at_resumption(&self, side: Color, from: MonoTime, came: MonoTime, desk: &mut Desk<'_>) {
        let stopped = self.clocks.last_stretch();
        if let Some((ran, began, to, Some(before))) = stopped.filter(|(_, began, ..)| *began >= from) {
            if ran == side {
                self.tell_elapsed(side, before, began, to, desk);
            }
        } else if self.clocks.running().is_some() {
            self.tell_ran_without(side, came, desk);
        } else if self.absent_until_now(desk) == Some(side) {
            // Unlike that of the start, this rule does not ask for a default time (Guideline I.11).
            self.tell_absence(side, from, came, desk);
        }
    }

    /// The clock of a player ran before he came.
    fn tell_ran_without(&self, side: Color, came: MonoTime, desk: &mut Desk<'_>) {
        if let Some((began, before)) = self.clocks.stretch_of(side).filter(|(began, _)| *began < came) {
            self.tell_elapsed(side, before, began, came, desk);
        }
    }

    fn tell_absence(&self, side: Color, from: MonoTime, came: MonoTime, desk: &mut Desk<'_>) {
        let Some(before) = self.clocks.left_at_start(side) else { return };
        let elapsed = came.since(from) / 1000;
        desk.calc(ClockCalc {
            side: Some(Side(side)),
            before: Some(Times::One(before)),
            elapsed: Some(elapsed),
            after: Some(Times::One(clock::after_running(before, elapsed))),
            ..ClockCalc::of(side.fold_wb("white-absent", "black-absent"))
        });
    }

    /// Who gave no sign of being there, and by how much he is late (Article 6.7.1; 2005: 6.7).
    pub(super) fn late_check(&self, desk: &mut Desk<'_>) {
        let from = self.clocks.session_start();
        let check = default_time::check(&self.settings, desk.at.since(from) / 1000);
        for side in [Color::Black, Color::White].into_iter().filter(|side| !self.clocks.was_seen(*side)) {
            self.tell_late(side, check, desk);
        }
    }

    /// A player is so late, and nobody asked.
    pub(in crate::game::conduct) fn tell_late_by(&self, side: Color, late_ms: u64, desk: &mut Desk<'_>) {
        self.tell_late(side, default_time::check(&self.settings, late_ms), desk);
    }

    /// How late a player is; the arbiter is called when that is more than allowed, also where his clock runs.
    fn tell_late(&self, side: Color, check: DefaultCheck, desk: &mut Desk<'_>) {
        let DefaultCheck { late_ms, limit_ms, lost } = check;
        let (late, to) = (Side(side), Audience::Arbiter);
        desk.tell(LawFact::DefaultCheck { side: late, late_ms, limit_ms, lost, to });
        if lost {
            let action = self.at_resumption(side, late_ms, desk);
            let running = self.clocks.running().filter(|running| *running == side).map(Side);
            let notice = Notice::of("late-player", to);
            desk.notice(Notice { side: Some(late), action, running, ..notice });
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

    /// A player did not come; where nobody says which, whoever gave no sign of being there.
    pub(super) fn default(&self, side: Option<Color>, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let late_ms = desk.at.since(self.clocks.session_start()) / 1000;
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
