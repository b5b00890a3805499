//! How a game ends: mate, stalemate and dead position by themselves, kings in the centre as the
//! players' signal, a result that somebody enters.

use shakmaty::{Bitboard, Chess, Color, Position as _, Square};

use super::{Facts, Narrator, Now, Told, conditions::CENTRE, tell};
use crate::session::{
    event::GameResult,
    fact::{Certainty, CompletedBy, Conclusion, FactKind, law::Audience},
    time::MonoTime,
    tracker::Tracker,
};

/// Kings that stand in the centre for this long signal a result, in milliseconds.
const SIGNAL_STANDS_MS: u64 = 10_000;
/// A shorter stay is a king on its way.
const SIGNAL_SEEN_MS: u64 = 500;

/// The end of the game, as far as it has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ending {
    pub result: GameResult,
    /// What ended the game.
    pub reason: &'static str,
    /// The game does not count: it is over without a result.
    pub void: bool,
    pub signal: Option<Signal>,
}

/// Kings in the centre.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    pub result: GameResult,
    pub since: MonoTime,
    told: bool,
}

impl Ending {
    pub(super) fn signal_is_told(&self) -> bool {
        self.signal.is_some_and(|signal| signal.told)
    }

    pub(super) fn due(&self) -> Option<MonoTime> {
        self.signal.map(|signal| {
            let ms = if signal.told { SIGNAL_STANDS_MS } else { SIGNAL_SEEN_MS };
            signal.since.plus_ms(ms)
        })
    }
}

impl Narrator {
    pub(super) fn look_for_endings(&mut self, tracker: &Tracker, now: Now, facts: &mut Facts) {
        if self.is_over() {
            return;
        }
        self.look_for_signal(tracker, now, facts);
        if self.is_over() || self.told.is_empty() || self.published < self.told.len() {
            return;
        }
        if self.examined == self.told.len() {
            return;
        }
        let Some(best) = tracker.best() else { return };
        let agreed = self.agreement(tracker, best, self.verified.min(self.told.len()));
        // An assumed queen is no ground to end a game on, nor is a position that is in doubt.
        if agreed < self.told.len() || tracker.assumes_roles(best) {
            return;
        }
        self.examined = self.told.len();
        let position = self.position();
        let ended = if tracker.len(best) == self.told.len() && tracker.is_end(best) {
            if position.is_check() {
                Some((GameResult::win(!position.turn()), "checkmate"))
            } else {
                Some((GameResult::Draw, "stalemate"))
            }
        } else if self.is_dead(position) {
            Some((GameResult::Draw, "dead-position"))
        } else {
            None
        };
        if let Some((result, reason)) = ended {
            self.complete_ply(self.told.len() - 1, CompletedBy::GameEnd, now, facts);
            self.end(Conclusion::of(result, reason, Certainty::Law), now, facts);
        }
    }

    /// Nobody has men to mate with (Article 5.2.2; 2005: 5.2b).
    pub(super) fn is_dead(&self, position: &Chess) -> bool {
        position.is_insufficient_material() && !self.guesses_a_promotion()
    }

    /// A pawn became a piece that no sensor told: what remains of it may be more than it is taken for.
    fn guesses_a_promotion(&self) -> bool {
        !self.identity && self.told.iter().any(|told| told.mv.is_promotion())
    }

    fn look_for_signal(&mut self, tracker: &Tracker, now: Now, facts: &mut Facts) {
        let shown = self.signal_shown(tracker);
        match (shown, self.ending.signal) {
            (None, None) => {}
            (None, Some(signal)) => {
                if signal.told {
                    tell(facts, now, FactKind::ResultWithdrawn);
                }
                self.ending.signal = None;
            }
            (Some(result), Some(signal)) if signal.result == result => {
                if !signal.told && now.at >= signal.since.plus_ms(SIGNAL_SEEN_MS) {
                    self.ending.signal = Some(Signal { told: true, ..signal });
                    self.take_back_kings_step(now, facts);
                    let kind = FactKind::Advisory {
                        code: "result-signal",
                        side: None,
                        squares: CENTRE & tracker.seen().occupied,
                        to: Audience::Arbiter,
                        detail: format!("the kings in the centre signal {}", result.as_str()).into(),
                    };
                    tell(facts, now, kind);
                }
                let stands = now.at >= signal.since.plus_ms(SIGNAL_STANDS_MS);
                if signal.told && (stands || self.paused) {
                    let end = Conclusion::of(result, "kings-signal", Certainty::Inferred);
                    self.end(end, now, facts);
                }
            }
            (Some(result), _) => {
                self.ending.signal = Some(Signal { result, since: now.at, told: false });
            }
        }
    }

    /// A king that went to the centre for the signal made no move.
    fn take_back_kings_step(&mut self, now: Now, facts: &mut Facts) {
        let step = self.uncompleted_last().is_some_and(|told| CENTRE.contains(told.mv.to()))
            && self.told.last().is_some_and(|told| told.mv.role() == shakmaty::Role::King);
        if step {
            self.withdraw(now, facts);
        }
    }

    fn signal_shown(&self, tracker: &Tracker) -> Option<GameResult> {
        let shown = |told: Option<&Told>| {
            let position = told.map_or(&self.start, |told| &told.after);
            let since = told.map_or(MonoTime::default(), |told| {
                told.record.completed.map_or(told.record.made, |completed| completed.max(told.record.made))
            });
            signal(position, tracker, since)
        };
        let step = self.uncompleted_last().is_some_and(|told| told.mv.role() == shakmaty::Role::King);
        shown(self.told.last()).or_else(|| {
            let before = self.told.len().checked_sub(2).and_then(|index| self.told.get(index));
            if step { shown(before) } else { None }
        })
    }

    /// A press after the end. Where the game ended by itself the player who had no move has none to
    /// press after.
    pub(in crate::session) fn press_after_end(&mut self, side: Color) {
        let by_itself = !self.told.is_empty() && self.legal().is_empty();
        self.played_on |= by_itself && self.position().turn() == side;
    }

    /// A person ended the game. The last move belongs to it although nobody presses any more: what is
    /// placed is made, what is made is published and completed.
    pub(in crate::session) fn conclude(
        &mut self,
        end: Conclusion,
        tracker: &Tracker,
        now: Now,
        facts: &mut Facts,
    ) {
        let result = end.result;
        if end.more.pending {
            // Nobody has decided yet; the facts say what there is to decide.
            let Conclusion { result, reason, certainty, more } = end;
            tell(facts, now, FactKind::GameEnd { result, reason, certainty, more });
            return;
        }
        if result != GameResult::Ongoing && !self.is_over() {
            (self.stopping, self.closing) = (true, true);
            self.narrate(tracker, now, facts);
            (self.stopping, self.closing) = (false, false);
            while self.published < self.told.len() {
                self.publish_next(now, facts);
            }
            if let Some(last) = self.told.len().checked_sub(1) {
                self.complete_ply(last, CompletedBy::GameEnd, now, facts);
            }
        }
        self.end(end, now, facts);
    }

    /// True when the game gave another result than the one that is entered: by its moves, by a claim or by
    /// what the players said (Article 8.7); or when it does not count (Article 7.2.1; 2005: 7.1a).
    pub(in crate::session) fn stands_against(&self, entered: GameResult) -> bool {
        let Ending { result, reason, void, .. } = self.ending;
        if void {
            return entered != GameResult::Ongoing;
        }
        let open = [result, entered].contains(&GameResult::Ongoing) || result == entered;
        !open && !matches!(reason, "entered" | "kings-signal")
    }

    pub(super) fn end(&mut self, end: Conclusion, now: Now, facts: &mut Facts) {
        let Conclusion { result, reason, certainty, more } = end;
        self.ending.result = result;
        self.ending.reason = reason;
        self.ending.void = end.is_void();
        self.candidate = None;
        self.ambiguous.clear();
        let kind = if result == GameResult::Ongoing && !self.ending.void {
            FactKind::ResultWithdrawn
        } else {
            FactKind::GameEnd { result, reason, certainty, more }
        };
        tell(facts, now, kind);
    }
}

/// The result that kings in the centre signal on a board that otherwise shows `position`: both on
/// light squares White has won, both on dark ones Black, one on each a draw.
/// Men that stood in the centre may have been put aside for the kings since `since`.
fn signal(position: &Chess, tracker: &Tracker, since: MonoTime) -> Option<GameResult> {
    let seen = tracker.seen();
    let board = position.board();
    let rest = board.occupied() & !board.kings();
    let occupied = seen.believed(rest);
    let alone = occupied & !rest;
    if !alone.is_subset(CENTRE) || !(rest & !CENTRE).is_subset(occupied) {
        return None;
    }
    let kings = alone | tracker.filled_after(occupied & rest & CENTRE, since);
    let shown = kings.count() == 2 && kings != board.kings();
    if let Some(men) = &seen.men
        && men.kings() != kings
    {
        return None;
    }
    let light = Bitboard::from_square(Square::E4).with(Square::D5);
    shown.then(|| match (kings & light).count() {
        2 => GameResult::WhiteWins,
        1 => GameResult::Draw,
        _ => GameResult::BlackWins,
    })
}
