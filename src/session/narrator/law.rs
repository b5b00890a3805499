//! What the Laws layer reads of the told game, and what rulings change in it.

use shakmaty::{Chess, Color, Move, Position as _};

use super::{Evidence, Facts, Narrator, Now, PlyRecord, Told, tell};
use crate::session::{
    fact::{CompletedBy, FactKind, MadeDetail},
    text::MoveText,
    time::MonoTime,
    tracker::{Ply, Tracker},
};

impl Narrator {
    /// The position after this many told plies.
    pub(in crate::session) fn position_after(&self, plies: usize) -> Option<&Chess> {
        match plies.checked_sub(1) {
            None => Some(&self.start),
            Some(index) => self.told.get(index).map(|told| &told.after),
        }
    }

    /// The told move of this index.
    pub(in crate::session) fn move_at(&self, index: usize) -> Option<Move> {
        self.told.get(index).map(|told| told.mv)
    }

    /// The told ply of this index.
    pub(in crate::session) fn ply_at(&self, index: usize) -> Option<&PlyRecord> {
        self.told.get(index).map(|told| &told.record)
    }

    /// Before this index every told ply was completed.
    pub(in crate::session) fn completed_to(&self) -> usize {
        self.completed_to
    }

    /// The legal moves after the last told ply.
    pub(in crate::session) fn legal_moves(&self) -> &[Move] {
        self.legal()
    }

    /// A move in UCI, in the form of the variant.
    pub(in crate::session) fn move_text(&self, mv: Move) -> MoveText {
        self.text(mv)
    }

    /// A legal move of which a part is still to do.
    pub(in crate::session) fn unfinished_move(&self, tracker: &Tracker) -> Option<Move> {
        self.unfinished(tracker)
    }

    /// An arbiter takes the plies after the first `plies` ones back, completed or not.
    pub(in crate::session) fn take_back_to(&mut self, plies: usize, now: Now, facts: &mut Facts) {
        while self.told.len() > plies {
            self.touches_before = None;
            self.withdraw(now, facts);
        }
        self.start_anew();
    }

    /// What was told is beyond doubt: a ruling or an envelope says so.
    pub(in crate::session) fn publish_all(&mut self, now: Now, facts: &mut Facts) {
        while self.published < self.told.len() {
            self.publish_next(now, facts);
        }
    }

    /// Several moves fit what the board shows.
    pub(in crate::session) fn is_undecided(&self) -> bool {
        !self.ambiguous.is_empty()
    }

    /// Who has the move, where the clock was pressed over something that fits several moves, and its opponent has
    /// not pressed it back.
    pub(in crate::session) fn undecided_turn(&self, tracker: &Tracker) -> Option<Color> {
        let best = if self.ambiguous.is_empty() { None } else { tracker.best() }?;
        let pressed = tracker.len(best) > self.told.len()
            && tracker.loose_ply(best).is_some_and(|ply| ply.pressed.is_some());
        (pressed && self.last_press == Some(!best.turn)).then_some(best.turn)
    }

    /// The first `plies` told plies, beyond doubt.
    pub(in crate::session) fn firm_plies(&self, plies: usize) -> Vec<Ply> {
        let firm = |told: &Told| Ply {
            mv: told.mv,
            placed: told.record.made,
            pressed: told.record.completed,
            inferred: false,
            answered: true,
            reported: false,
        };
        self.told.iter().take(plies).map(firm).collect()
    }

    /// An illegal move stands: the game goes on from the position after it.
    pub(in crate::session) fn adopt(&mut self, mv: Move, after: Chess, at: MonoTime) -> Ply {
        let text = self.text(mv);
        let record = PlyRecord {
            uci: text,
            san: text,
            made: at,
            completed: Some(at),
            clock_ms: None,
            published: true,
        };
        let ply = Ply { mv, placed: at, pressed: Some(at), inferred: false, answered: true, reported: false };
        self.told.push(Told { mv, record, goes_on: false, evidence: Evidence::of(&ply), after, game: 0 });
        let wrong = self.wrong.take();
        self.start_anew();
        self.adopted = wrong;
        ply
    }

    /// The illegal move after `plies` plies does not stand: what was pressed over is as wrong as it was.
    pub(in crate::session) fn disown(&mut self, plies: usize, now: Now, facts: &mut Facts) {
        let wrong = self.adopted.take();
        let refused = wrong.as_ref().and_then(|wrong| wrong.attempt.as_deref()?.get(..2)?.parse().ok());
        self.take_back_to(plies, now, facts);
        self.refused = refused;
        self.wrong = wrong;
    }

    /// An arbiter names the move that was made; it is published, and completed where the clock was pressed.
    pub(in crate::session) fn rule_move(
        &mut self,
        mv: Move,
        pressed: bool,
        now: Now,
        facts: &mut Facts,
    ) -> Ply {
        let index = self.told.len();
        let by = self.position().turn();
        let mut after = self.position().clone();
        after.play_unchecked(mv);
        let (san, uci) = (super::san(self.position(), mv, &after), self.text(mv));
        let more = MadeDetail { provisional: !pressed, ..MadeDetail::default() };
        let (placed, latest) = (now.at, now.at);
        tell(facts, now, FactKind::MoveMade { ply: index + 1, uci, san, by, placed, latest, more });
        let record = PlyRecord { uci, san, made: now.at, completed: None, clock_ms: None, published: false };
        let pressed = pressed.then_some(now.at);
        let ply = Ply { mv, placed: now.at, pressed, inferred: false, answered: true, reported: false };
        self.told.push(Told { mv, record, goes_on: false, evidence: Evidence::of(&ply), after, game: 0 });
        self.legal.take();
        if pressed.is_some() {
            self.complete_ply(index, CompletedBy::EarlierPress, now, facts);
        }
        self.publish_all(now, facts);
        self.start_anew();
        ply
    }

    /// The ply of this index was completed by the press that came before it.
    pub(in crate::session) fn complete_by_earlier_press(
        &mut self,
        index: usize,
        now: Now,
        facts: &mut Facts,
    ) {
        self.complete_ply(index, CompletedBy::EarlierPress, now, facts);
    }

    /// An arbiter corrects the plies from `index` on.
    pub(in crate::session) fn correct_from(
        &mut self,
        index: usize,
        line: &[Move],
        reason: &'static str,
        now: Now,
        facts: &mut Facts,
    ) {
        let Some(mut position) = self.position_after(index).cloned() else { return };
        for (offset, mv) in line.iter().enumerate() {
            let before = position.clone();
            position.play_unchecked(*mv);
            let (san, uci) = (super::san(&before, *mv, &position), self.text(*mv));
            let Some(told) = self.told.get_mut(index + offset) else { return };
            let was = told.record.uci;
            told.mv = *mv;
            told.game = 0;
            told.after = position.clone();
            told.record.uci = uci;
            told.record.san = san;
            if was != uci {
                let (ply, published) = (index + offset + 1, told.record.published);
                tell(facts, now, FactKind::MoveRevised { ply, was, uci, san, reason, published });
            }
        }
        let published = self.published;
        self.start_anew();
        self.published = published;
    }

    /// The game goes on from another position; plies are counted from there.
    pub(in crate::session) fn set_up(&mut self, position: Chess) {
        self.told.clear();
        self.start = position;
        self.start_anew();
    }

    fn start_anew(&mut self) {
        // The tracker names its games anew.
        for told in &mut self.told {
            told.game = 0;
        }
        self.legal.take();
        self.verified = 0;
        self.examined = self.told.len();
        self.published = self.told.len();
        let open = self.told.iter().position(|told| told.record.completed.is_none());
        self.completed_to = open.unwrap_or(self.told.len());
        self.touches = super::Touches::default();
        self.touches_before = None;
        self.ambiguous.clear();
        self.told_ambiguous.clear();
        self.held = None;
        self.candidate = None;
        self.held_back = None;
        self.wrong = None;
        self.refused = None;
        self.adopted = None;
        self.stray_press = None;
        self.retracted = None;
        self.took_back = false;
        self.just_completed = false;
        self.unsettled = true;
        self.displaced = shakmaty::Bitboard::EMPTY;
        self.marks.clear();
    }
}
