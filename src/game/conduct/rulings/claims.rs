//! Claims that are accepted or refused, and penalties (Articles 9.5, 12.9; 2005: 9.5, 13.4; Guideline III).

use shakmaty::Color;

use super::Refusal;
use crate::{
    game::conduct::{
        Conduct, Desk, Order,
        claims::{Pending, why_not},
        command::PenaltyKind,
        correction::between,
    },
    laws::arithmetic::{
        claim::{ClaimTimes, incorrect_claim},
        clock,
        quickplay::{self, Circumstances},
    },
    session::{
        event::GameResult,
        fact::{
            Certainty, Conclusion, EndDetail,
            law::{
                Audience, Choice, ClockCalc, LawState, Notice, Obligation, ObligationDetail, OneOrNone,
                Partial, Penalty, Side, Sq, Squares, Times, TouchCertainty,
            },
        },
    },
};

impl Conduct {
    /// A claim, or what is on record, is refused; `spoken`: a claim that no button told, if nothing waits.
    pub(super) fn reject(&mut self, spoken: bool, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let Some(claim) = self.claims.pending.take() else {
            if self.dismiss(desk) || self.claims.five_seconds.take().is_some() {
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
                if self.no_quickplay(claim.by, desk).is_none() {
                    self.tell_bonus(!claim.by, desk);
                }
                return Ok(());
            }
            // There was no breach, or no illegal move: nothing of it is left to be confirmed.
            "touch" => {
                self.violation = None;
                return Ok(());
            }
            "illegal" => {
                self.dismiss_illegal(desk);
                return Ok(());
            }
            "setup" | "time" | "sealed-move" => return Ok(()),
            _ => self.tell_incorrect_claim(&claim, desk),
        }
        if let Some(mv) = claim.intended
            && desk.turn() == claim.by
            && let Some(from) = mv.from()
        {
            let uci = desk.session.move_text(mv);
            let partial = Some(Partial::Placed { from: Sq(from), placed: Sq(mv.to()) });
            desk.bind(Obligation {
                by: Side(claim.by),
                touches: Squares::Many(Box::default()),
                legal: Choice::Of([uci].into()),
                rule: self.articles.announced,
                must_move: OneOrNone(None),
                must_capture: OneOrNone(None),
                more: Some(Box::new(ObligationDetail { partial, ..ObligationDetail::default() })),
                reported: true,
                certainty: TouchCertainty::Arbiter,
            });
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

    pub(super) fn tell_incorrect_claim(&mut self, claim: &Pending, desk: &mut Desk<'_>) {
        let (claimant, opponent) =
            (self.clocks.remaining(claim.by, desk.at), self.clocks.remaining(!claim.by, desk.at));
        let (Some(claimant_ms), Some(opponent_ms)) = (claimant, opponent) else { return };
        let after = incorrect_claim(&self.settings.draw, ClaimTimes { claimant_ms, opponent_ms });
        for (side, before, after) in
            [(claim.by, claimant_ms, after.claimant_ms), (!claim.by, opponent_ms, after.opponent_ms)]
        {
            self.clocks.corrections.get_mut(side).rule_change(before, after);
            self.clocks.grant(side, between(before, after));
        }
        desk.calc(ClockCalc {
            side: Some(Side(claim.by)),
            before: Some(Times::Parties { claimant: claimant_ms, opponent: opponent_ms }),
            after: Some(Times::Parties { claimant: after.claimant_ms, opponent: after.opponent_ms }),
            ..ClockCalc::of("claim-incorrect")
        });
    }

    pub(super) fn tell_bonus(&mut self, opponent: Color, desk: &mut Desk<'_>) {
        if let Some(before) = self.clocks.remaining(opponent, desk.at) {
            let after = quickplay::with_bonus(before);
            self.clocks.corrections.get_mut(opponent).rule_change(before, after);
            self.clocks.grant(opponent, between(before, after));
            desk.calc(ClockCalc {
                side: Some(Side(opponent)),
                before: Some(Times::Opponent { opponent: before }),
                after: Some(Times::Opponent { opponent: after }),
                ..ClockCalc::of("quickplay-bonus")
            });
        }
    }

    /// A claim is right.
    pub(super) fn accept(&mut self, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        if let Some(reason) = self.pending_without_quickplay(desk) {
            return Err(format!("{reason}; a draw by another reason is entered with result 1/2-1/2").into());
        }
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

    /// A claim in the quickplay finish waits, which this game does not have: why not.
    pub(super) fn pending_without_quickplay(&self, desk: &Desk<'_>) -> Option<&'static str> {
        let claim = self.claims.pending.as_ref().filter(|claim| claim.kind == "quickplay")?;
        self.no_quickplay(claim.by, desk)
    }

    /// The game does not count.
    pub(super) fn declare_void(&mut self, desk: &mut Desk<'_>) {
        desk.conclude(Conclusion::void());
        desk.notice(Notice::of("restart-required", Audience::Arbiter));
    }

    /// The decision on a claim in the quickplay finish is postponed; the opponent may get two minutes.
    pub(super) fn postpone(&mut self, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let open = |claim: &&Pending| claim.kind == "quickplay" && claim.supported;
        let Some(claim) = self.claims.pending.as_ref().filter(open) else {
            return Err("no claim in the quickplay finish waits for a ruling".into());
        };
        let by = claim.by;
        self.tell_bonus(!by, desk);
        Ok(())
    }

    /// Five seconds a move for both from now on, and two minutes for the opponent (Guideline III.4).
    pub(super) fn five_seconds(&mut self, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        if quickplay::five_second_mode(&self.settings).is_none() {
            return Err("the five-second mode was not announced (rules.quickplay)".into());
        }
        let asked = self.claims.five_seconds;
        // What the clock shows and who has the move counted when it was asked for.
        let request = Circumstances {
            to_move: true,
            flag_fallen: false,
            ..self.circumstances(asked.unwrap_or(desk.turn()), 0, desk)
        };
        let per_move = quickplay::five_seconds(&self.settings, &request).map_err(why_not)?;
        let Some(by) = self.claims.five_seconds.take() else {
            return Err("nobody has asked for it (button request-five-seconds-white or -black)".into());
        };
        self.tell_bonus(!by, desk);
        self.clocks.rule_per_move(per_move);
        desk.orders.push(Order::PerMove(per_move));
        let delay = matches!(per_move, clock::PerMove::Delay { .. });
        desk.state(LawState {
            mode: Some(if delay { "delay" } else { "fischer" }),
            inc_ms: Some(per_move.ms()),
            both: true,
            ..LawState::default()
        });
        Ok(())
    }

    pub(super) fn penalty(
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
            PenaltyKind::ReduceOwnTime => self.give_time(side, -add, desk),
            PenaltyKind::MoreTimeOpponent => self.give_time(!side, add, desk),
            _ if lost => {
                let result = GameResult::win(!side);
                desk.conclude(Conclusion::of(result, "arbiter-decision", Certainty::Arbiter));
            }
            _ => {}
        }
        Ok(())
    }
}
