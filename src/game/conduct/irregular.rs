//! Irregularities (Article 7): a press over a board that shows no legal move, what finding it takes, and
//! what an arbiter makes of it. Nothing is counted and nobody is penalised without the arbiter.

use serde_json::Value;
use shakmaty::{Bitboard, Chess, Color, Move, Position as _, Role, Square};

use super::{
    Conduct, Desk, Order, audience,
    claims::Pending,
    fen_of,
    rulings::Refusal,
    turn::{Made, Violation, differing},
};
use crate::{
    laws::arithmetic::illegal::{self, IllegalTimes},
    laws::settings::{IllegalFinality, IllegalPosition, PressWithoutMove, TwoHands, Unpromoted},
    laws::touch,
    notation::chess960::{Castling, CastlingMethod},
    session::{
        event::GameResult,
        fact::{
            ByRule, Certainty, Conclusion, Fact, FactKind,
            law::{Audience, ClaimCheck, ClockCalc, LawFact, Notice, Penalty, Restore, Side, Sq, Times},
        },
        setup::GameSetup,
        time::MonoTime,
    },
};

/// How far an irregularity has come.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    /// The clock was pressed over an unfinished move, or over none: it may still follow.
    Open {
        /// The advisory of the session, told when nothing follows.
        told: Box<Fact>,
        /// Until when it may follow. It is put off and never brought forward: nothing is told in the past.
        until: MonoTime,
    },
    /// It is on record.
    Found,
    /// An arbiter has dealt with it.
    Ruled,
    /// It can no longer be corrected; the game went on.
    Stands,
}

/// What is wrong on the board.
#[derive(Clone, Debug)]
pub(super) struct Irregularity {
    by: Color,
    kind: &'static str,
    attempt: Option<String>,
    at: MonoTime,
    /// The legal move of which a part was missing at the press.
    unfinished: Option<Move>,
    /// Plies of the log before it.
    plies: usize,
    stage: Stage,
    /// The opponent has made his next move since.
    answered: bool,
    /// It was told to count.
    counted: bool,
    /// The opponent has started the player's clock again.
    pressed_back: bool,
}

impl Irregularity {
    /// An irregularity of this moment.
    fn of(by: Color, kind: &'static str, stage: Stage, desk: &Desk<'_>) -> Irregularity {
        Irregularity {
            by,
            kind,
            attempt: None,
            at: desk.at,
            unfinished: desk.session.unfinished(),
            plies: desk.session.plies().len(),
            stage,
            answered: false,
            counted: false,
            pressed_back: false,
        }
    }
}

/// A press before the move that followed after all.
const TOO_EARLY: &str = "too-early";

/// What a move was tried with that was not there.
const NO_ATTEMPT: &str = "----";

/// Illegal moves that were confirmed before the log: `given.illegal`.
pub(super) fn given(setup: &GameSetup) -> [u32; 2] {
    let count = |side: &str| {
        let count = setup.given.get("illegal").and_then(|counts| counts.get(side)).and_then(Value::as_u64);
        count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
    };
    [count("white"), count("black")]
}

impl Conduct {
    fn confirmed(&self, side: Color) -> u32 {
        self.confirmed.get(side.fold_wb(0usize, 1)).copied().unwrap_or(0)
    }

    /// The session found a press over a man on a square where no legal move puts it.
    pub(super) fn illegal_move(
        &mut self,
        by: Color,
        attempt: Option<String>,
        kind: &'static str,
        desk: &mut Desk<'_>,
    ) {
        let to = attempt.as_deref().and_then(|text| text.get(2..4)).and_then(|name| name.parse().ok());
        let king = desk.session.position().their(Role::King);
        let kind = if to.is_some_and(|to: Square| king.contains(to)) { "king-capture" } else { kind };
        self.find(by, attempt, kind, desk);
    }

    fn find(&mut self, by: Color, attempt: Option<String>, kind: &'static str, desk: &mut Desk<'_>) {
        let n = self.confirmed(by) + 1;
        let fast = self.settings.illegal.fast_finality != IllegalFinality::Never;
        let to = audience(self.settings.illegal.move_alert);
        let unpromoted = kind == "unpromoted";
        if !(fast && unpromoted) {
            let kind = FactKind::IllegalMove { by, attempt: attempt.clone(), kind, n, to };
            desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind });
        }
        if fast {
            let shown = attempt.as_deref().and_then(|attempt| as_it_looks(desk.session.position(), attempt));
            let both_kings = shown.is_some_and(|(_, after)| both_in_check(&after));
            let grave = unpromoted || both_kings;
            let (to, action) = match (grave, self.settings.illegal.irregular_position) {
                (true, IllegalPosition::Intervene) => (Audience::Arbiter, Some("intervene")),
                (true, IllegalPosition::DrawAfterNextMove) => (Audience::Journal, Some("wait-for-next-move")),
                _ => (to, None),
            };
            let notice = Notice::of("illegal-position", to);
            let side = Some(Side(by));
            let attempt = attempt.clone().filter(|_| !unpromoted);
            desk.notice(Notice { side, attempt, unpromoted, both_kings, action, ..notice });
        } else {
            self.tell_restore(desk);
        }
        self.irregularity = Some(Irregularity { attempt, ..Irregularity::of(by, kind, Stage::Found, desk) });
    }

    /// An arbiter found later that a move on record was illegal: it may be counted, and the man that made it
    /// is the touched one (Article 7.5.1; 2005: 7.4a).
    pub(super) fn found_later(&mut self, index: usize, before: &Chess, mv: Move, desk: &mut Desk<'_>) {
        let (by, kind) = (before.turn(), "illegal-move");
        let attempt = Some(String::from(desk.session.move_text(mv)));
        let n = self.confirmed(by) + 1;
        let to = Audience::Arbiter;
        let fact = FactKind::IllegalMove { by, attempt: attempt.clone(), kind, n, to };
        desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind: fact });
        let found = Irregularity::of(by, kind, Stage::Found, desk);
        let unfinished = None;
        self.irregularity = Some(Irregularity { attempt, plies: index, unfinished, counted: true, ..found });
        if let Some(man) = touch::moved(mv) {
            self.bind_after_restoring(man, before, desk);
        }
    }

    /// What putting the position of the game up again takes.
    pub(super) fn tell_restore(&self, desk: &mut Desk<'_>) {
        let position = desk.session.position();
        let (remove, put) = differing(position.board(), desk.session.occupied());
        let wrong = desk
            .session
            .men()
            .map(|men| position.board().occupied() & men.occupied() & desk.session.differs());
        let (mut remove, mut put) = (remove, put);
        for square in wrong.into_iter().flatten() {
            remove.push(Sq(square));
            put.push(Sq(square));
        }
        let ply = self.earlier.len() + desk.session.plies().len();
        let fen = fen_of(position);
        desk.tell(LawFact::Restore(Restore { fen, ply, remove, put, to: Audience::Arbiter }));
    }

    /// The same for what is on record, which may stand as a move by now: the position before it.
    fn tell_way_out(&self, desk: &mut Desk<'_>) {
        let before = self.irregularity.as_ref().map(|found| self.earlier.len() + found.plies);
        let told = before.map(|ply| self.tell_way_back(ply, desk));
        if !matches!(told, Some(Ok(_))) {
            self.tell_restore(desk);
        }
    }

    /// An advisory of the session passes.
    pub(super) fn pass_advisory(
        &mut self,
        code: &'static str,
        side: Option<Color>,
        fact: Fact,
        desk: &mut Desk<'_>,
    ) {
        match (code, side) {
            ("press-without-move", Some(side)) if desk.turn() != side => {
                let notice = Notice::of("press-idle-side", Audience::Journal);
                desk.notice(Notice { side: Some(Side(side)), ..notice });
            }
            ("press-without-move", Some(side)) if self.adjournment.explains_press(side) => {
                let notice = Notice::of("net-zero-move", Audience::Journal);
                desk.notice(Notice { side: Some(Side(side)), explained: Some("sealed reply"), ..notice });
            }
            ("press-without-move", Some(_)) if self.tell_transposition(desk) => {}
            ("press-without-move" | "press-before-move", Some(by)) => {
                let kind = if code == "press-without-move" { code } else { "incomplete" };
                let until = desk.at.plus_ms(self.settings.clock.press_grace_ms);
                let stage = Stage::Open { told: Box::new(fact), until };
                self.irregularity = Some(Irregularity::of(by, kind, stage, desk));
            }
            ("press-over-mismatch", Some(side)) => {
                let squares = desk.session.differs().into_iter().map(Sq).collect();
                desk.facts.push_back(fact);
                let notice = Notice::of("illegal-position", audience(self.settings.illegal.move_alert));
                desk.notice(Notice { side: Some(Side(side)), squares, ..notice });
            }
            // The king that was taken stands under the man that took it.
            ("man-missing", _) if self.turn.taken_by_nobody(desk).is_some() => {}
            ("noise", _) => {
                let FactKind::Advisory { squares, .. } = &fact.kind else { return };
                let square = squares.first().map(Sq);
                desk.notice(Notice { square, ..Notice::of("noise", Audience::Journal) });
            }
            ("setup-identity", _) => {
                self.tell_exchanged(desk);
                desk.facts.push_back(fact);
            }
            _ => desk.facts.push_back(fact),
        }
    }

    /// In Chess960 castling may leave all squares as they were: a press then may have completed it, or nothing.
    fn tell_transposition(&self, desk: &mut Desk<'_>) -> bool {
        let is_one = |mv: &&Move| {
            let castling = Castling::of(**mv);
            castling.is_some_and(|castling| castling.method() == CastlingMethod::Transposition)
        };
        let legal = if self.chess960 { desk.session.legal_moves() } else { &[] };
        let Some(mv) = legal.iter().find(is_one) else { return false };
        let uci = String::from(desk.session.move_text(*mv));
        let kind = FactKind::Ambiguous { candidates: vec![uci.clone()] };
        desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind });
        let notice = Notice::of("ambiguous-move", Audience::Arbiter);
        desk.notice(Notice { candidates: vec![uci, "no move".to_owned()], ..notice });
        true
    }

    /// Two men that stand exchanged on a board that tells which they are.
    fn tell_exchanged(&self, desk: &mut Desk<'_>) {
        let differs: Vec<Square> = desk.session.differs().into_iter().collect();
        let Some(men) = desk.session.men() else { return };
        if let [first, second] = differs.as_slice() {
            let seen = [*first, *second]
                .into_iter()
                .filter_map(|square| Some((square.to_string(), men.piece_at(square)?.char().to_string())));
            let identities = seen.collect();
            desk.tell(LawFact::Setup { swap: vec![Sq(*first), Sq(*second)], identities });
        }
    }

    /// When a move that was pressed too early can no longer follow.
    pub(super) fn irregularity_due(&self) -> Option<MonoTime> {
        match self.irregularity.as_ref()?.stage {
            Stage::Open { until, .. } => Some(until),
            Stage::Found | Stage::Ruled | Stage::Stands => None,
        }
    }

    /// A man was set down: what was pressed too early is waited for until it has rested.
    pub(super) fn await_placed(&mut self, at: MonoTime) {
        let Some(found) = &mut self.irregularity else { return };
        if let Stage::Open { until, .. } = &mut found.stage
            && at > found.at
        {
            *until = (*until).max(at.plus_ms(self.dwell_ms));
        }
    }

    /// The opponent of this player pressed over an irregular position and has the move as far as anybody
    /// at the board sees: what he lifts of his own is his touch.
    pub(super) fn is_answered_by(&self, side: Color) -> bool {
        self.pressed_irregularly() == Some(!side)
    }

    /// Who pressed over an irregular position that nobody has ruled on.
    pub(super) fn pressed_irregularly(&self) -> Option<Color> {
        let found = self.irregularity.as_ref().filter(|found| !found.pressed_back);
        found.filter(|found| matches!(found.stage, Stage::Open { .. } | Stage::Found)).map(|found| found.by)
    }

    /// A player pressed: the opponent's early press is undone.
    pub(super) fn press_undone(&mut self, by: Color) {
        if let Some(found) = self.irregularity.as_mut().filter(|found| found.by != by) {
            found.pressed_back = true;
        }
    }

    /// The grace after an early press is over.
    pub(super) fn nothing_followed(&mut self, desk: &mut Desk<'_>) {
        let Some(found) = &mut self.irregularity else { return };
        let Stage::Open { told, .. } = std::mem::replace(&mut found.stage, Stage::Found) else { return };
        let (by, kind, unfinished) = (found.by, found.kind, found.unfinished);
        if self.is_over(desk) || desk.turn() != by {
            self.irregularity = None;
            return;
        }
        if kind == "press-without-move" {
            desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, ..*told });
            return;
        }
        let still = unfinished.filter(|mv| is_unfinished(*mv, desk.session.occupied()));
        match desk.session.unfinished().or(still) {
            Some(mv) => {
                let text = desk.session.move_text(mv);
                let attempt = text.get(..4).unwrap_or(&text).to_owned();
                let kind = if mv.is_promotion() { "unpromoted" } else { "incomplete" };
                self.find(by, Some(attempt), kind, desk);
            }
            None => match self.turn.taken_by_nobody(desk) {
                Some((from, to)) => {
                    self.illegal_move(by, Some(format!("{from}{to}")), "illegal-move", desk);
                }
                None => {
                    if let Some(found) = &mut self.irregularity {
                        found.kind = TOO_EARLY;
                    }
                    desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, ..*told });
                }
            },
        }
    }

    /// A move was made: one that was pressed too early has followed, or the opponent has answered.
    pub(super) fn finish_irregularity(&mut self, made: Made, desk: &mut Desk<'_>) {
        let Some(found) = &mut self.irregularity else { return };
        if made.by != found.by {
            found.answered = true;
            return;
        }
        if !matches!(found.stage, Stage::Open { .. }) && found.kind != TOO_EARLY {
            return;
        }
        let lead_ms = made.placed.since(found.at) / 1000;
        let (waited_for, pressed_back) = (matches!(found.stage, Stage::Open { .. }), found.pressed_back);
        self.irregularity = None;
        if waited_for && !pressed_back {
            desk.orders.push(Order::Complete(made.ply.saturating_sub(1)));
        }
        if lead_ms > self.settings.clock.press_tolerance_ms && !self.announcing.waits() {
            let notice = Notice::of("press-before-move", Audience::Arbiter);
            let side = Some(Side(made.by));
            desk.notice(Notice { side, uci: Some(made.uci), lead_ms: Some(lead_ms), ..notice });
        }
    }

    /// Two men of a move were set down at once: it counts when it is pressed and the arbiter finds so.
    pub(super) fn suspect_two_hands(&mut self, mv: Move, desk: &Desk<'_>) {
        if self.settings.illegal.two_hands != TwoHands::Counts {
            return;
        }
        let by = !desk.turn();
        let attempt = Some(desk.session.move_text(mv).as_str().to_owned());
        let found = Irregularity::of(by, "two-hands", Stage::Found, desk);
        self.irregularity = Some(Irregularity { attempt, ..found });
    }

    /// In fast play an illegal move stands as soon as the opponent moves on: he is about to, when he lifts
    /// a man (Article A.5.2; 2005: B.6, C.3).
    pub(super) fn let_stand(&mut self, sensor: Square, desk: &mut Desk<'_>) {
        if self.settings.illegal.fast_finality == IllegalFinality::Never {
            return;
        }
        let Some(found) = &mut self.irregularity else { return };
        let position = desk.session.position();
        let square = desk.session.square_of(sensor);
        if found.stage != Stage::Found || position.turn() != found.by || !position.them().contains(square) {
            return;
        }
        let Some(attempt) = found.attempt.clone() else { return };
        let Some((mv, after)) = as_it_looks(position, &attempt) else { return };
        // Only what stands on the board can be carried on.
        if after.board().occupied() != desk.session.occupied() {
            return;
        }
        found.stage = Stage::Stands;
        let by = Side(found.by);
        let fen = fen_of(&after);
        desk.tell(LawFact::IllegalStands {
            fen,
            by,
            attempt,
            to: audience(self.settings.illegal.move_alert),
        });
        desk.orders.push(Order::Adopt(mv, Box::new(after)));
        self.start_turn();
    }

    /// `claim-illegal`: open until the opponent has made his next move.
    pub(super) fn claim_illegal(&mut self, side: Color, desk: &mut Desk<'_>) {
        let fast = self.settings.illegal.fast_finality != IllegalFinality::Never;
        let found = self.irregularity.as_ref().filter(|found| found.by != side && found.kind != TOO_EARLY);
        let open = found.is_some_and(|found| !(fast && found.answered) && found.stage != Stage::Ruled);
        let reason = match found {
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

    /// The arbiter confirms what is on record: it counts, and the position is put up again.
    pub(super) fn confirm(&mut self, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        if let Some(found) = &self.irregularity
            && matches!(found.stage, Stage::Open { .. })
        {
            let shown = || desk.session.unfinished().is_some() || self.turn.taken_by_nobody(desk).is_some();
            if found.kind != "press-without-move" && !shown() {
                return Err("nothing waits for a ruling".into());
            }
            self.nothing_followed(desk);
        }
        let waits = |found: &Irregularity| found.stage != Stage::Ruled && found.kind != TOO_EARLY;
        let Some(found) = self.irregularity.clone().filter(waits) else {
            // A breach of Article 4 may be corrected as long as it can be claimed.
            return match &self.violation {
                Some(violation) if !violation.forfeited => self.uphold_touch(desk),
                _ => Err("nothing waits for a ruling".into()),
            };
        };
        if found.stage == Stage::Stands && found.answered {
            return Err("the illegal move stands: the next move was made".into());
        }
        let counts = found.kind != "press-without-move"
            || self.settings.illegal.press_without_move == PressWithoutMove::Counts;
        if let Some(stored) = &mut self.irregularity {
            stored.stage = Stage::Ruled;
        }
        if !counts {
            return Ok(());
        }
        let n = self.confirmed(found.by) + 1;
        let fast = self.settings.illegal.fast_finality != IllegalFinality::Never;
        if fast || matches!(found.kind, "press-without-move" | "two-hands") {
            self.tell_counted(desk);
        }
        if let Some(count) = self.confirmed.get_mut(found.by.fold_wb(0usize, 1)) {
            *count = n;
        }
        let lost = self.penalise(found.by, n, desk);
        if lost || matches!(found.kind, "press-without-move" | "two-hands") {
            return Ok(());
        }
        if found.stage == Stage::Stands {
            desk.orders.push(Order::Restore(found.plies));
            self.start_turn();
        }
        if found.kind == "unpromoted" && self.settings.illegal.unpromoted == Unpromoted::Queen {
            let queens = desk.session.legal_moves().iter().copied();
            let attempt = found.attempt.unwrap_or_default();
            let is_it = |mv: &Move| {
                mv.promotion() == Some(Role::Queen) && desk.session.move_text(*mv).starts_with(&attempt)
            };
            self.turn.bind_to(queens.filter(is_it).collect(), self.articles.unpromoted);
            return Ok(());
        }
        self.tell_way_out(desk);
        if self.turn.has_touched() {
            self.tell_obligation(true, desk);
        }
        Ok(())
    }

    /// What is on record counts as an illegal move, by a ruling or by a claim that is open.
    fn tell_counted(&mut self, desk: &mut Desk<'_>) {
        let Some(found) = self.irregularity.as_mut().filter(|found| !found.counted) else { return };
        found.counted = true;
        let found = found.clone();
        let attempt = found.attempt.clone().or_else(|| Some(NO_ATTEMPT.to_owned()));
        let n = self.confirmed(found.by) + 1;
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
    pub(super) fn queen_by_rule(&self, mv: Move) -> Option<ByRule> {
        let ruled = |found: &Irregularity| found.stage == Stage::Ruled && found.kind == "unpromoted";
        let queen =
            self.settings.illegal.unpromoted == Unpromoted::Queen && mv.promotion() == Some(Role::Queen);
        (queen && self.irregularity.as_ref().is_some_and(ruled)).then_some(ByRule::Queen)
    }

    /// The times that are proposed after an illegal move (Articles 7.1, 7.5.5; 2005: 6.14, 7.4b).
    fn tell_times_after(&mut self, by: Color, n: u32, bonus: u64, desk: &mut Desk<'_>) {
        let left = |side| self.clocks.remaining(side, desk.at);
        // The times of the irregular press, where it is known.
        let press = self.clocks.at_press();
        let (known, opponent) = match self.clocks.running() == Some(!by) {
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
    pub(super) fn dismiss_illegal(&mut self) -> bool {
        let waiting = self.irregularity.as_ref().is_some_and(|found| found.stage == Stage::Found);
        if waiting {
            self.irregularity = None;
        }
        waiting
    }

    /// The arbiter finds that there is nothing to rule: no illegal move, or no breach of Article 4 that could still be
    /// corrected.
    pub(super) fn dismiss(&mut self, desk: &Desk<'_>) -> bool {
        if self.dismiss_illegal() {
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

    /// The record begins with both kings in check: an illegal move was made before it (Article A.5.4; 2005:
    /// B.6).
    pub(super) fn look_at_kings(&self, desk: &mut Desk<'_>) {
        if both_in_check(desk.session.position()) {
            let action = match self.settings.illegal.irregular_position {
                IllegalPosition::Intervene => Some("intervene"),
                IllegalPosition::DrawAfterNextMove => Some("wait-for-next-move"),
                IllegalPosition::Correct => None,
            };
            let notice = Notice::of("illegal-position", Audience::Arbiter);
            desk.notice(Notice { both_kings: true, action, ..notice });
        }
    }

    /// A position that is illegal in itself was there after the next move, too (Article A.5.4).
    pub(super) fn still_illegal(&mut self, desk: &mut Desk<'_>) -> Result<(), &'static str> {
        if self.settings.illegal.irregular_position != IllegalPosition::DrawAfterNextMove {
            return Err("this rule belongs to rapid and blitz of the edition of 2023");
        }
        let reason = "rapid-illegal-position-draw";
        desk.conclude(Conclusion::of(GameResult::Draw, reason, Certainty::Arbiter));
        Ok(())
    }
}

fn both_in_check(position: &Chess) -> bool {
    let board = position.board();
    let attacked = |side: Color| {
        board.king_of(side).is_some_and(|king| board.attacks_to(king, !side, board.occupied()).any())
    };
    attacked(Color::White) && attacked(Color::Black)
}

/// Whether the men that a move had left to do stand as they did before it: the opponent went on.
fn is_unfinished(mv: Move, occupied: Bitboard) -> bool {
    match mv {
        Move::EnPassant { from, to } => {
            let victim = Square::from_coords(to.file(), from.rank());
            occupied.contains(to) && occupied.contains(victim) && !occupied.contains(from)
        }
        Move::Castle { king, rook } => occupied.contains(rook) && !occupied.contains(king),
        _ => false,
    }
}

/// The move that one man seems to have made, and the position after it.
fn as_it_looks(position: &Chess, attempt: &str) -> Option<(Move, Chess)> {
    let from: Square = attempt.get(..2)?.parse().ok()?;
    let to: Square = attempt.get(2..4)?.parse().ok()?;
    let piece = position.board().piece_at(from)?;
    let capture = position.board().role_at(to);
    if capture == Some(Role::King) {
        return None;
    }
    let mv = Move::Normal { role: piece.role, from, capture, to, promotion: None };
    let mut after = position.clone();
    after.play_unchecked(mv);
    Some((mv, after))
}
