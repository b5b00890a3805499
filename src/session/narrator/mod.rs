//! The narrator: what of the tracker's readings is told, when, and as which fact.
//!
//! It keeps the game as told so far and compares it with the best reading after every event and at
//! its own deadlines: a move is *made* once it has rested or was pressed, *published* once it
//! cannot go on and every surviving reading contains it, *completed* by the press, by the end of
//! the game or by the player's next move, and *withdrawn* or *revised* when the board says so.

mod clock_reader;
mod clocks;
mod conditions;
mod displaced;
mod doubts;
mod endings;
mod exchanged;
mod held;
mod irregular;
mod law;
mod marks;
mod own_clock;
mod retell;
mod touches;
mod view;

use shakmaty::{
    Bitboard, Chess, Color, Move, MoveList, Position as _, Role, Square, attacks,
    san::{San, SanPlus, Suffix},
};

use self::{
    clock_reader::{AwaitsClock, Reader},
    conditions::goes_on,
    doubts::Evidence,
    endings::Ending,
    held::Held,
    irregular::Wrong,
    touches::Touches,
};
use super::{
    PlyRecord,
    event::{ClockReading, GameResult},
    fact::{Certainty, CompletedBy, Fact, FactKind, MadeDetail},
    settings::Settings,
    setup::{BoardKind, GameSetup},
    text::MoveText,
    time::MonoTime,
    tracker::{Cause, Ply, Reading, Tracker, has_legal_move},
};
use crate::laws::{settings::LawSettings, touch};

pub(super) use self::irregular::is_unfinished;

/// A ply as it was told.
#[derive(Clone, Debug)]
struct Told {
    mv: Move,
    record: PlyRecord,
    /// Its man could have gone on in the same motion.
    goes_on: bool,
    evidence: Evidence,
    /// The position after it.
    after: Chess,
    /// Names the game up to it in the tracker.
    game: u64,
}

/// What the last event was, as far as the state that is shown depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// The tracker looked at the board.
    Board(Cause),
    /// Something that moves nothing.
    Other,
}

/// The game as told.
#[derive(Clone, Debug)]
pub(super) struct Narrator {
    settings: Settings,
    implied_by_next_move: bool,
    /// Men that change their squares within this many microseconds were displaced together
    /// (`displace.window_ms`).
    displaced_within_us: u64,
    chess960: bool,
    identity: bool,
    /// What a lift is: the touch of the Laws on a pegged board, a lower bound of it on others.
    touch_certainty: Certainty,
    start: Chess,
    told: Vec<Told>,
    /// The legal moves after `told`, once somebody has asked.
    legal: std::cell::OnceCell<Box<[Move]>>,
    /// How many of `told` are known to equal the firm plies of the tracker.
    verified: usize,
    /// How often the tracker had taken firm plies back when `verified` was counted.
    loosened: u32,
    published: usize,
    /// How many of `told` had a chance to be completed already.
    completed_to: usize,
    ambiguous: Vec<String>,
    held: Option<Held>,
    /// The candidates that were told last.
    told_ambiguous: Vec<String>,
    /// Remarks on the present turn, for the view.
    marks: Vec<String>,
    candidate: Option<Move>,
    /// The last move that was told and could still go on.
    held_back: Option<Move>,
    touches: Touches,
    /// The contacts of the turn before, until that turn is over.
    touches_before: Option<Touches>,
    /// Men of the player to move that were lifted before the last move had landed.
    early: Bitboard,
    /// The last press without a move: who, when.
    stray_press: Option<(Color, MonoTime)>,
    /// Who pressed last.
    last_press: Option<Color>,
    wrong: Option<Wrong>,
    /// From where the man went that the clock was pressed over, which is no legal move, as it seems or for certain, and
    /// the position before it has not stood since.
    refused: Option<Square>,
    /// What was pressed over and stands, as long as that may turn out to be otherwise.
    adopted: Option<Wrong>,
    counts: [u32; 2],
    ending: Ending,
    /// The player who is mated or stalemated went on to press the clock.
    played_on: bool,
    /// How many plies had been told when the position was last looked at for an end.
    examined: usize,
    paused: bool,
    /// The clocks are being stopped right now.
    stopping: bool,
    /// A result is being entered right now: the best reading counts.
    closing: bool,
    /// The pause is there to put something right.
    repair: bool,
    /// A ruling put another position up, and the board does not show it yet.
    awaits_position: bool,
    took_back: bool,
    /// A made move that was taken back in this turn.
    retracted: Option<Move>,
    was_in_order: bool,
    just_completed: bool,
    clock: ClockReading,
    /// The last press, until the clock has told the time after it: index of the ply, who, when.
    awaits_clock: Option<AwaitsClock>,
    /// What is made of the readings of the clock.
    reader: Box<Reader>,
    /// Milliseconds of a delay that were to go at the last reading.
    delay_ms: u64,
    last_event: MonoTime,
    moment: Moment,
    deadline: Option<MonoTime>,
    alerted_start: bool,
    /// The readings do not agree with what was told yet.
    unsettled: bool,
    /// Squares of men that may have been exchanged at the set-up, as told.
    exchanged: Vec<Bitboard>,
    /// Squares that were told to be displaced.
    displaced: Bitboard,
    /// Since when the board has not been in order.
    disorder_since: Option<MonoTime>,
    /// The hardware is at fault in a way that lets no move be read.
    fault: Option<&'static str>,
}

/// Everything that a fact needs besides its kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// The time of the event or of the deadline.
    pub at: MonoTime,
    /// Index of the last event.
    pub ev: i64,
}

/// Facts in the order in which they became known.
pub(super) type Facts = std::collections::VecDeque<Fact>;

fn tell(facts: &mut Facts, now: Now, kind: FactKind) {
    facts.push_back(Fact { ev: now.ev, at: now.at, kind });
}

impl Narrator {
    pub(super) fn new(setup: &GameSetup, laws: &LawSettings, start: Chess, identity: bool) -> Narrator {
        Narrator {
            settings: setup.settings,
            implied_by_next_move: laws.implied_by_next_move,
            displaced_within_us: laws.displace_window_ms * 1000,
            chess960: setup.is_chess960(),
            identity,
            touch_certainty: match setup.board {
                BoardKind::Peg => Certainty::Law,
                _ => Certainty::Sensor,
            },
            start,
            told: Vec::new(),
            legal: std::cell::OnceCell::new(),
            verified: 0,
            loosened: 0,
            published: 0,
            completed_to: 0,
            ambiguous: Vec::new(),
            held: None,
            told_ambiguous: Vec::new(),
            marks: Vec::new(),
            candidate: None,
            held_back: None,
            touches: Touches::default(),
            touches_before: None,
            early: Bitboard::EMPTY,
            stray_press: None,
            last_press: None,
            wrong: None,
            refused: None,
            adopted: None,
            counts: [0; 2],
            ending: Ending::default(),
            played_on: false,
            examined: 0,
            paused: false,
            stopping: false,
            closing: false,
            repair: false,
            awaits_position: false,
            took_back: false,
            retracted: None,
            was_in_order: true,
            just_completed: false,
            clock: ClockReading::default(),
            awaits_clock: None,
            reader: Box::new(Reader::new(setup, laws)),
            delay_ms: 0,
            last_event: MonoTime::ZERO,
            moment: Moment::Other,
            deadline: None,
            alerted_start: false,
            unsettled: false,
            exchanged: Vec::new(),
            displaced: Bitboard::EMPTY,
            disorder_since: None,
            fault: None,
        }
    }

    /// The hardware is at fault, and nothing that the board shows is a move; or it is in order again.
    pub(super) fn set_fault(&mut self, fault: Option<&'static str>) {
        self.fault = fault;
    }

    /// The position after the last ply that was told.
    pub(super) fn position(&self) -> &Chess {
        self.told.last().map_or(&self.start, |told| &told.after)
    }

    pub(super) fn plies(&self) -> impl ExactSizeIterator<Item = &PlyRecord> {
        self.told.iter().map(|told| &told.record)
    }

    pub(super) fn result(&self) -> GameResult {
        self.ending.result
    }

    pub(super) fn is_over(&self) -> bool {
        self.ending.void || self.ending.result != GameResult::Ongoing
    }

    pub(super) fn clock(&self) -> ClockReading {
        self.clock
    }

    pub(super) fn deadline(&self) -> Option<MonoTime> {
        self.deadline
    }

    /// True when there is a clock that is read, or a press that awaits a reading.
    pub(super) fn heeds_clock(&self) -> bool {
        self.awaits_clock.is_some() || self.reader.is_read()
    }

    /// When the reader of the clock, or a press that awaits a reading, has something to do.
    pub(super) fn clock_deadline(&self) -> Option<MonoTime> {
        let awaits = self.awaits_clock.filter(|awaits| !awaits.estimated).map(AwaitsClock::due);
        MonoTime::sooner(awaits, self.reader.deadline())
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused
    }

    /// Compares the told game with the readings after an event.
    pub(super) fn after_event(&mut self, tracker: &Tracker, now: Now, moment: Moment, facts: &mut Facts) {
        self.last_event = now.at;
        self.moment = moment;
        if let Moment::Board(cause) = moment {
            if matches!(cause, Cause::Lift(_)) && self.was_in_order {
                self.took_back = false;
            }
            if !matches!(cause, Cause::Press(_)) && std::mem::take(&mut self.just_completed) {
                self.marks.clear();
                self.retracted = None;
            }
        }
        // A lift may be the answer that makes the move before it: that comes first.
        self.narrate(tracker, now, facts);
        self.note_touches(tracker, now, facts);
        if let Some(kind) = self.alert_start_array(tracker) {
            tell(facts, now, kind);
        }
        if self.fault.is_none() && !self.is_over() && !self.is_frozen() {
            self.look_for_displaced(tracker, now, facts);
        }
        if let Moment::Board(Cause::Press(side)) = moment {
            self.last_press = Some(side);
            self.judge_press(tracker, side, now, facts);
        }
        self.look_for_endings(tracker, now, facts);
        self.schedule(tracker, now.at);
    }

    /// Compares again when a deadline has fired.
    pub(super) fn after_deadline(&mut self, tracker: &Tracker, now: Now, facts: &mut Facts) {
        self.narrate(tracker, now, facts);
        self.judge_missing(now, facts);
        self.look_for_endings(tracker, now, facts);
        self.schedule(tracker, now.at);
    }

    fn narrate(&mut self, tracker: &Tracker, now: Now, facts: &mut Facts) {
        self.ambiguous.clear();
        self.candidate = None;
        let Some(best) = tracker.best() else { return };
        if self.repair && best.differs.is_empty() {
            self.paused = false;
        }
        if self.awaits_position && !self.is_elsewhere(tracker) {
            self.awaits_position = false;
            // Whoever presses now, and has not moved, only starts the other clock again.
            self.stray_press = self.last_press.map(|side| (side, now.at));
        }
        if self.is_over() || self.ending.signal_is_told() || self.fault.is_some() {
            return;
        }
        if self.is_frozen() {
            self.publish_while_frozen(tracker, best, now, facts);
            return;
        }
        if self.is_told(tracker, best) {
            self.settle(tracker, best, best, now);
            return;
        }
        let reading = self.reconcile(tracker, best, now, facts);
        self.tell_new(tracker, reading, now, facts);
        self.hold_back(tracker, reading, now);
        self.complete(tracker, reading, now, facts);
        self.tell_ambiguous(tracker, now, facts);
        self.publish(tracker, reading, now, facts);
        self.hold(tracker, reading, now, facts);
        self.settle(tracker, best, reading, now);
    }

    /// What was made before the clocks were stopped may still become sure.
    #[cold]
    fn publish_while_frozen(&mut self, tracker: &Tracker, best: &Reading, now: Now, facts: &mut Facts) {
        if self.agreement(tracker, best, 0) == self.told.len() {
            self.publish(tracker, best, now, facts);
        }
    }

    /// True when everything of the best reading was told, published and completed.
    fn is_told(&self, tracker: &Tracker, best: &Reading) -> bool {
        let told = self.told.len();
        self.published == told
            && self.completed_to == told
            && self.held.is_none()
            && self.told_ambiguous.is_empty()
            && self.told.last().is_some_and(|last| tracker.is_game(best, last.game))
    }

    fn settle(&mut self, tracker: &Tracker, best: &Reading, reading: &Reading, now: Now) {
        self.unsettled = !std::ptr::eq(reading, best)
            || tracker.len(reading) != self.told.len()
            || reading.stands_wrong(tracker.seen());
        let in_order = tracker.seen().shows(self.position().board().occupied());
        self.was_in_order = in_order;
        self.note_settled(tracker);
        if in_order {
            self.forget_wrong(now);
        }
    }

    fn tell_new(&mut self, tracker: &Tracker, reading: &Reading, now: Now, facts: &mut Facts) {
        if self.agreement(tracker, reading, self.told.len().min(self.verified)) < self.told.len() {
            return;
        }
        while self.told.len() < tracker.len(reading) {
            if !self.tell_next(tracker, reading, now, facts) {
                return;
            }
        }
    }

    /// Tells the next ply of a reading, when it may be told.
    fn tell_next(&mut self, tracker: &Tracker, reading: &Reading, now: Now, facts: &mut Facts) -> bool {
        let (index, length) = (self.told.len(), tracker.len(reading));
        let Some(ply) = tracker.ply(reading, index) else { return false };
        if self.awaits_rest(tracker, reading, ply.mv) || self.is_refused(reading, ply) {
            return false;
        }
        if self.is_none_of_those_asked(tracker, reading, ply) {
            self.ambiguous.clone_from(&self.told_ambiguous);
            return false;
        }
        let pairs = if index + 2 == length { self.pairs(tracker, reading, index) } else { Vec::new() };
        if pairs.len() > 1 && !self.closing {
            self.ambiguous = pairs;
            return false;
        }
        let told = if index + 1 == length {
            self.is_made(tracker, reading, ply, now)
        } else {
            self.is_agreed(tracker, reading, index)
        };
        if !told {
            return false;
        }
        if let Some([first, second]) = pairs.first().and_then(|pair| {
            let (first, second) = pair.split_once(' ')?;
            Some([first.to_owned(), second.to_owned()])
        }) {
            tell(facts, now, FactKind::TwoPly { candidates: vec![[first, second]] });
        }
        self.mark_ply(tracker, reading, index, ply);
        self.tell_made(tracker, reading, ply, now, facts);
        true
    }

    fn tell_made(&mut self, tracker: &Tracker, reading: &Reading, ply: &Ply, now: Now, facts: &mut Facts) {
        let index = self.told.len();
        let by = self.position().turn();
        let after = tracker.position_after(reading, index + 1).cloned().unwrap_or_else(|| {
            let mut after = self.position().clone();
            after.play_unchecked(ply.mv);
            after
        });
        let san = san(self.position(), ply.mv, &after);
        let uci = self.text(ply.mv);
        let more = MadeDetail {
            provisional: ply.pressed.is_none(),
            assumed: ply.mv.is_promotion() && !self.identity,
            ..MadeDetail::default()
        };
        let (placed, latest) = (ply.placed, now.at);
        let kind = FactKind::MoveMade { ply: index + 1, uci, san, by, placed, latest, more };
        tell(facts, now, kind);
        self.wrong = None;
        self.refused = None;
        self.took_back = false;
        self.just_completed = false;
        self.note_early_touches(ply.mv, ply, after.us());
        let in_the_air = tracker.seen().empty(after.board().occupied());
        let spent = self.touches_before.take().unwrap_or_default();
        let next = self.touches.next_turn(in_the_air, spent);
        self.touches_before = Some(std::mem::replace(&mut self.touches, next));
        let record =
            PlyRecord { uci, san, made: ply.placed, completed: None, clock_ms: None, published: false };
        let goes_on = goes_on(self.position(), || self.legal(), ply.mv);
        let game = tracker.game(reading, index + 1);
        self.told.push(Told { mv: ply.mv, record, goes_on, after, game, evidence: Evidence::of(ply) });
        self.legal.take();
        self.reader.moved(by, ply.placed);
    }

    /// Completes what was pressed, and what the player's next move completes.
    fn complete(&mut self, tracker: &Tracker, reading: &Reading, now: Now, facts: &mut Facts) {
        for index in self.completed_to..self.told.len() {
            let ply = tracker.ply(reading, index);
            // The press of a player's next move completes that one alone.
            let next = tracker.ply(reading, index + 2).and_then(|ply| ply.pressed);
            let pressed = ply.and_then(|ply| ply.pressed).is_some_and(|pressed| next != Some(pressed));
            let earlier = ply.is_some_and(|ply| ply.pressed.is_some_and(|pressed| pressed < ply.placed));
            let moved_on = self.implied_by_next_move && index + 2 < self.told.len();
            let how = match (pressed, moved_on) {
                (true, _) if earlier => CompletedBy::EarlierPress,
                (true, _) => CompletedBy::Press,
                (false, true) => CompletedBy::NextMove,
                _ => continue,
            };
            self.complete_ply(index, how, now, facts);
            if pressed && index + 1 == self.told.len() {
                self.mark_suspect(tracker);
            }
        }
        while self.told.get(self.completed_to).is_some_and(|told| told.record.completed.is_some()) {
            self.completed_to += 1;
        }
    }

    fn complete_ply(&mut self, index: usize, how: CompletedBy, now: Now, facts: &mut Facts) {
        let clock = self.clock;
        let last = index + 1 == self.told.len();
        let Some(told) = self.told.get_mut(index) else { return };
        if told.record.completed.is_some() {
            return;
        }
        let by = !told.after.turn();
        told.record.completed = Some(now.at);
        let mut estimate = None;
        if matches!(how, CompletedBy::Press | CompletedBy::EarlierPress) {
            told.record.clock_ms = by.fold_wb(clock.white_ms, clock.black_ms);
            // A reading from before the press has neither its last second nor the increment.
            let late = clock.running == Some(by) || self.reader.is_own_press(by);
            self.awaits_clock = late.then_some(AwaitsClock { index, by, pressed: now.at, estimated: false });
            estimate = self.reader.at_press(by).filter(|_| late && how == CompletedBy::Press);
            told.record.clock_ms = estimate.map(|left| left.us / 1000).or(told.record.clock_ms);
            self.reader.completed(by, index, now.at);
        }
        let kind = FactKind::MoveCompleted {
            ply: index + 1,
            uci: told.record.uci,
            by,
            how,
            clock_ms: told.record.clock_ms,
        };
        tell(facts, now, kind);
        if let Some(left) = estimate {
            self.tell_estimate(index, left, now, facts);
        }
        self.just_completed |= last;
    }

    fn publish(&mut self, tracker: &Tracker, reading: &Reading, now: Now, facts: &mut Facts) {
        while self.published < self.told.len() && self.may_publish(tracker, reading, self.published, now) {
            self.publish_next(now, facts);
        }
    }

    fn publish_next(&mut self, now: Now, facts: &mut Facts) {
        let index = self.published;
        self.mark_resolved(index);
        self.published += 1;
        let Some(told) = self.told.get_mut(index) else { return };
        told.record.published = true;
        let (uci, made) = (told.record.uci, told.record.made);
        tell(facts, now, FactKind::MovePublished { ply: index + 1, uci, made });
    }

    fn text(&self, mv: Move) -> MoveText {
        let mode = shakmaty::CastlingMode::from_chess960(self.chess960);
        MoveText::uci(mv, mode)
    }

    fn uci(&self, mv: Move) -> String {
        self.text(mv).into()
    }

    /// The legal moves of the position after the last ply that was told.
    fn legal(&self) -> &[Move] {
        let is_move = |mv: &Move| touch::is_move(*mv);
        self.legal.get_or_init(|| self.position().legal_moves().into_iter().filter(is_move).collect())
    }

    /// The told game in UCI with what the best reading adds to it.
    pub(super) fn best_line(&self, tracker: &Tracker) -> Vec<String> {
        let mut line: Vec<String> = self.told.iter().map(|told| told.record.uci.into()).collect();
        let Some(best) = tracker.best() else { return line };
        let refused = tracker.ply(best, line.len()).is_some_and(|ply| self.is_refused(best, ply));
        if !self.is_over() && !refused && self.agreement(tracker, best, 0) == line.len() {
            let more = (line.len()..tracker.len(best)).filter_map(|index| tracker.ply(best, index));
            line.extend(more.map(|ply| self.uci(ply.mv)));
        }
        line
    }

    /// A told move whose man may still go on is shown as a candidate.
    fn hold_back(&mut self, tracker: &Tracker, reading: &Reading, now: Now) {
        if self.candidate.is_some() || tracker.len(reading) != self.told.len() {
            return;
        }
        let Some(last) = self.uncompleted_last().map(|told| told.mv) else { return };
        let standing = !(reading.differs & !reading.paid()).intersects(!reading.us);
        if let Some(ply) = tracker.loose_ply(reading)
            && standing
            && self.may_go_on(ply, now)
        {
            self.candidate = Some(last);
            self.held_back = Some(last);
        } else if standing {
            self.held_back = None;
        }
    }

    fn uncompleted_last(&self) -> Option<&Told> {
        self.told.last().filter(|told| told.record.completed.is_none())
    }

    fn side_counts(&mut self, side: Color) -> Option<&mut u32> {
        self.counts.get_mut(side.fold_wb(0usize, 1))
    }
}

/// Standard algebraic notation of a move that leads to `after`.
fn san(before: &Chess, mv: Move, after: &Chess) -> MoveText {
    let suffix = if !after.is_check() {
        None
    } else if !has_legal_move(after) {
        Some(Suffix::Checkmate)
    } else {
        Some(Suffix::Check)
    };
    // Only a second man of the kind that looks at the square needs to be told apart.
    let alone = match mv {
        Move::Normal { role, from, to, .. } if role != Role::Pawn => {
            let man = role.of(before.turn());
            let others = attacks::attacks(to, man, before.board().occupied()) & before.our(role);
            others.without(from).is_empty()
        }
        _ => true,
    };
    let san = if alone { San::disambiguate(mv, &MoveList::new()) } else { San::from_move(before, mv) };
    MoveText::san(SanPlus { san, suffix })
}

/// The index-th ply of the last reading's line, for conditions that look at it.
fn is_last(tracker: &Tracker, reading: &Reading, index: usize) -> bool {
    index + 1 == tracker.len(reading)
}

fn ply_of<'a>(tracker: &'a Tracker, reading: &'a Reading, index: usize) -> Option<&'a Ply> {
    tracker.ply(reading, index)
}
