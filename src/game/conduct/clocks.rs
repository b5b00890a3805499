//! The clock in law (Articles 6 and 8.4): flags and their order, the account of time that this program
//! keeps as evidence, moves of a period, the duty to record. No clock is ever set from here.

use serde_json::Value;
use shakmaty::Color;

use super::{Conduct, Desk, audience, claims::Pending};
use crate::{
    laws::{
        arithmetic::{
            clock::{self, AfterMove, PerMove},
            flags::{self, BothFlagsOutcome},
            periods::{self, FlagCheck},
            recording::RecordingDuty,
        },
        settings::{ClockSettings, Discipline, LawSettings},
        time_control::TimeControl,
    },
    session::{
        event::{ClockReading, GameResult},
        fact::{
            Certainty, Conclusion,
            law::{Audience, By, ClaimCheck, ClockCalc, LawFact, LawState, Notice, Side, Times},
        },
        setup::GameSetup,
        time::MonoTime,
    },
};

const BOTH: [Color; 2] = [Color::White, Color::Black];

/// One player's side of the clock.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    /// Time left when the account was last settled, in milliseconds.
    left: Option<u64>,
    flag: Option<MonoTime>,
    /// Whether the moves of the period were completed when the flag fell.
    met: bool,
    duty: RecordingDuty,
    /// The duty to record, as told last.
    required: Option<bool>,
    /// It had ended although the time was above the limit again, as told last.
    was_below: bool,
    /// Moves completed before the log, beyond those of its history.
    given_moves: u32,
    /// The player gave a sign of being there.
    seen: bool,
    /// The period, counted from 0, that an arbiter let begin, and the moves completed before it.
    ruled: Option<(usize, u32)>,
}

/// The times at the last press, in milliseconds, where they are known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AtPress {
    /// Of the player who pressed, without what the press added.
    pub own: Option<u64>,
    /// Of the same, with it.
    pub credited: Option<u64>,
    /// Of his opponent.
    pub opponent: Option<u64>,
}

/// The clock of one game.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    control: Option<TimeControl>,
    setting: ClockSettings,
    /// Additional time that was ruled: five seconds a move.
    ruled: Option<PerMove>,
    pub(super) paused: bool,
    white: Half,
    black: Half,
    running: Option<Color>,
    /// Since when it runs.
    since: MonoTime,
    /// The stretch that was stopped last: whose, from when, until when, the time left at its beginning.
    stretch: Option<(Color, MonoTime, MonoTime, Option<u64>)>,
    /// When a clock was read last: while it is read, the account is only a check.
    read: Option<MonoTime>,
    scribe_told: bool,
    at_press: AtPress,
    /// When the first clock was started.
    pub(super) begun: Option<MonoTime>,
    /// The time of the first event of the record.
    origin: MonoTime,
}

impl Clocks {
    pub(super) fn new(setup: &GameSetup, settings: &LawSettings) -> Clocks {
        let control: Option<TimeControl> = setup.time_control.parse().ok();
        let allotted = control.as_ref().map(|control| periods::initial_ms(control, &settings.clock));
        let half = |side: Color| {
            let given = |table: &str, key: &str| setup.given.get(table)?.get(key).and_then(Value::as_u64);
            let word = side.fold_wb("white", "black");
            let completed = given("completed", word).and_then(|moves| u32::try_from(moves).ok());
            let played = setup.history.len() + usize::from(side == Color::White);
            let of_history = u32::try_from(played / 2).unwrap_or(u32::MAX);
            let present = setup.given.get("present").and_then(|present| present.get(word)?.as_bool());
            Half {
                seen: present.unwrap_or(false),
                left: given("times_ms", word).or(allotted),
                given_moves: completed.map_or(0, |moves| moves.saturating_sub(of_history)),
                ..Half::default()
            }
        };
        Clocks {
            control,
            setting: settings.clock,
            ruled: None,
            paused: false,
            white: half(Color::White),
            black: half(Color::Black),
            running: None,
            since: MonoTime::ZERO,
            stretch: None,
            read: None,
            scribe_told: false,
            at_press: AtPress::default(),
            begun: None,
            origin: MonoTime::ZERO,
        }
    }

    const fn half(&self, side: Color) -> &Half {
        match side {
            Color::White => &self.white,
            Color::Black => &self.black,
        }
    }

    const fn half_mut(&mut self, side: Color) -> &mut Half {
        match side {
            Color::White => &mut self.white,
            Color::Black => &mut self.black,
        }
    }

    /// When the flag of a side was indicated.
    pub(super) const fn flag(&self, side: Color) -> Option<MonoTime> {
        self.half(side).flag
    }

    /// Moves completed before the log that its history does not hold.
    pub(super) const fn given_moves(&self, side: Color) -> u32 {
        self.half(side).given_moves
    }

    /// Whose clock runs.
    pub(super) const fn running(&self) -> Option<Color> {
        self.running
    }

    /// Milliseconds left for a side, by the last reading and the time since.
    pub(super) fn remaining(&self, side: Color, at: MonoTime) -> Option<u64> {
        if self.half(side).flag.is_some() {
            return Some(0);
        }
        let left = self.half(side).left?;
        let runs = self.running == Some(side);
        Some(if runs { left.saturating_sub(self.charged(side, at)) } else { left })
    }

    /// What a running clock has used of its main time.
    fn charged(&self, side: Color, at: MonoTime) -> u64 {
        let used = at.since(self.since) / 1000;
        match self.per_move(side, 0) {
            PerMove::Delay { ms } => used.saturating_sub(ms),
            _ => used,
        }
    }

    /// The period, counted from 0, of a player who completed so many moves.
    fn period(&self, side: Color, completed: u32) -> usize {
        let counted = self.control.as_ref().map_or(0, |control| periods::period_of(control, completed));
        self.half(side).ruled.map_or(counted, |(period, _)| period.max(counted))
    }

    /// The additional time of a player's move.
    pub(super) fn per_move(&self, side: Color, completed: u32) -> PerMove {
        let Some(control) = &self.control else { return self.ruled.unwrap_or_default() };
        let period = control.periods().get(self.period(side, completed)).or(control.periods().last());
        self.ruled.or_else(|| Some(PerMove::of(period?, self.setting.mode))).unwrap_or_default()
    }

    /// Whether all remaining moves have to be made in this period; true when the time control is not
    /// known.
    pub(super) fn is_last_period(&self, side: Color, completed: u32) -> bool {
        let control = self.control.as_ref();
        control.is_none_or(|control| periods::is_last(control, self.period(side, completed)))
    }

    /// Time allotted to a side so far, in milliseconds, with the increments of its moves.
    pub(super) fn allotted(&self, completed: u32) -> Option<u64> {
        self.control.as_ref().map(|control| periods::allotted_ms(control, &self.setting, completed))
    }

    /// A clock was read since the running stretch began.
    fn is_read(&self) -> bool {
        self.read.is_some_and(|at| at >= self.since)
    }

    fn stop(&mut self, at: MonoTime) {
        if let Some(side) = self.running {
            let before = self.half(side).left;
            let charged = self.charged(side, at);
            if let Some(left) = &mut self.half_mut(side).left {
                *left = left.saturating_sub(charged);
            }
            self.stretch = Some((side, self.since, at, before));
            self.running = None;
        }
    }

    fn run(&mut self, side: Color, at: MonoTime) {
        self.running = Some(side);
        self.since = at;
        self.begun.get_or_insert(at);
    }

    /// Additional time is ruled, for both.
    pub(super) const fn rule_per_move(&mut self, per_move: PerMove) {
        self.ruled = Some(per_move);
    }

    /// Whether the moves of the first control are completed.
    pub(super) fn is_past_control(&self, side: Color, completed: u32) -> bool {
        self.period(side, completed) > 0
    }

    /// The stretch of a clock that was stopped last, while none runs: whose, from when, until when, and the
    /// time left at its beginning.
    pub(super) fn last_stretch(&self) -> Option<(Color, MonoTime, MonoTime, Option<u64>)> {
        self.stretch.filter(|_| self.running.is_none())
    }

    /// What the next period adds, in milliseconds.
    pub(super) fn next_period_ms(&self, side: Color, completed: u32) -> Option<u64> {
        periods::added_ms(self.control.as_ref()?, self.period(side, completed) + 1)
    }

    /// A side whose flag is down.
    pub(super) fn any_flag(&self) -> Option<Color> {
        BOTH.into_iter().find(|side| self.flag(*side).is_some())
    }

    /// Where nobody said which clock runs, it is that of the player who has the move.
    pub(super) fn assume_running(&mut self, side: Color) {
        if self.running.is_none() && !self.paused {
            self.running = Some(side);
        }
    }

    /// Since when, and from which time on, a running clock counts.
    pub(super) fn account_of(&self, side: Color) -> Option<(MonoTime, u64)> {
        let left = self.half(side).left?;
        (self.running == Some(side)).then_some((self.since, left))
    }

    /// The times at the last press.
    pub(super) const fn at_press(&self) -> AtPress {
        self.at_press
    }

    /// The time left when the running stretch began.
    pub(super) const fn left_at_start(&self, side: Color) -> Option<u64> {
        self.half(side).left
    }

    /// The record begins: time before it is not known.
    pub(super) const fn open(&mut self, at: MonoTime) {
        self.origin = at;
        self.since = at;
    }

    /// When the first clock was started, or the record began.
    pub(super) fn start(&self) -> MonoTime {
        self.begun.unwrap_or(self.origin)
    }

    /// A player is there.
    pub(super) const fn see(&mut self, side: Color) {
        self.half_mut(side).seen = true;
    }

    /// Whether a player gave a sign of being there.
    pub(super) const fn was_seen(&self, side: Color) -> bool {
        self.half(side).seen
    }

    /// An arbiter set or corrected a time.
    pub(super) fn set(&mut self, side: Color, ms: u64, at: MonoTime) {
        if self.running == Some(side) {
            self.since = at;
        }
        self.half_mut(side).left = Some(ms);
        self.half_mut(side).flag = None;
    }

    /// The next period begins although the count of moves is not known (Article 8.6).
    pub(super) fn begin_period(&mut self, side: Color, completed: u32) {
        let period = self.period(side, completed) + 1;
        let half = self.half_mut(side);
        half.ruled = Some((period, completed));
        half.duty.period_begins();
        half.flag = None;
    }
}

impl Conduct {
    /// Moves that a side has completed.
    pub(super) fn completed_by(&self, side: Color, desk: &Desk<'_>) -> u32 {
        let moves = self.moves_completed(desk);
        side.fold_wb(moves.white, moves.black)
    }

    /// A press completed a move: the moves of its period.
    pub(super) fn clocks_completed(&mut self, by: Color, desk: &mut Desk<'_>) {
        self.announce_time_closed(by, desk);
        if self.clocks.control.is_none() && self.clocks.half(by).ruled.is_none() {
            return;
        }
        let completed = self.completed_by(by, desk);
        if let Some((period, before)) = self.clocks.half(by).ruled {
            let word = by.fold_wb("white", "black");
            let moves = std::collections::BTreeMap::from([(word, completed.saturating_sub(before))]);
            let (period, moves_in_period) = (u32::try_from(period + 1).ok(), Some(moves));
            desk.state(LawState { period, moves_in_period, ..LawState::default() });
        } else if self.clocks.period(by, completed) != self.clocks.period(by, completed.saturating_sub(1)) {
            self.clocks.half_mut(by).duty.period_begins();
        }
    }

    /// The lever was pressed.
    pub(super) fn pressed(&mut self, side: Color, desk: &mut Desk<'_>) {
        self.clocks.see(side);
        self.last_press = Some(side);
        self.press_undone(side);
        self.announcing_pressed(side, desk);
        if !self.press_told && self.clocks.running == Some(!side) && !self.is_over(desk) {
            // The clock of this player does not run: the press changes nothing (Article 6.2.1.1; 2005: 6.8a).
            let notice = Notice::of("press-idle-side", Audience::Journal);
            desk.notice(Notice { side: Some(Side(side)), ..notice });
            return;
        }
        if self.is_over(desk) {
            return;
        }
        let at = desk.at;
        let unstarted = self.clocks.running.is_none() && !self.clocks.paused;
        if unstarted && self.clocks.begun.is_none() {
            // The clock ran, and nobody said since when: at the latest since the man was lifted.
            self.clocks.running = Some(side);
            self.clocks.since = self.last_lift().unwrap_or(at);
            self.clocks.begun = Some(self.clocks.since);
        }
        if self.clocks.running == Some(side) {
            self.account(side, desk);
        }
        self.clocks.paused = false;
        self.clocks.run(!side, at);
    }

    /// Settles the account of a completed move and tells it, where no clock is read.
    fn account(&mut self, side: Color, desk: &mut Desk<'_>) {
        let used = desk.at.since(self.clocks.since) / 1000;
        let (own, opponent) = (self.clocks.remaining(side, desk.at), self.clocks.half(!side).left);
        self.clocks.at_press = AtPress { own, credited: own, opponent };
        let Some(before) = self.clocks.half(side).left else { return };
        let completed = self.completed_by(side, desk);
        let of_move = if desk.turn() == side { completed } else { completed.saturating_sub(1) };
        let per_move = self.clocks.per_move(side, of_move);
        let after = clock::after_move(before, used, per_move);
        self.clocks.at_press.credited = Some(after.ms());
        self.clocks.half_mut(side).left = Some(after.ms());
        if !self.clocks.is_read() {
            self.tell_account(side, before, used, per_move, after, desk);
        }
    }

    fn tell_account(
        &self,
        side: Color,
        before: u64,
        used: u64,
        per_move: PerMove,
        after: AfterMove,
        desk: &mut Desk<'_>,
    ) {
        let calc = match per_move {
            PerMove::None | PerMove::Increment { .. } => {
                let name = if after == AfterMove::Flag { "fischer-flag" } else { "fischer" };
                ClockCalc { inc: Some(per_move.ms()), ..ClockCalc::of(name) }
            }
            PerMove::Delay { ms } => ClockCalc { delay: Some(ms), ..ClockCalc::of("delay") },
            PerMove::Bronstein { ms } => ClockCalc { delay: Some(ms), ..ClockCalc::of("bronstein") },
        };
        desk.calc(ClockCalc {
            side: Some(Side(side)),
            before: Some(Times::One(before)),
            used: Some(used),
            after: Some(Times::One(after.ms())),
            ..calc
        });
    }

    /// A clock was read (Article 6.10; 2005: 6.11): its indication is conclusive, the account evidence.
    pub(super) fn clock_read(&mut self, reading: ClockReading, desk: &mut Desk<'_>) {
        let tolerance = self.settings.clock.tolerance_ms;
        for side in BOTH {
            let Some(reported) = side.fold_wb(reading.white_ms, reading.black_ms) else { continue };
            let expected = self.clocks.remaining(side, desk.at);
            // A clock may tell the increment of a move a moment before the press is told.
            let pressed = self.pressed_just_now(side, desk);
            let off = |expected: u64| expected.abs_diff(reported) > tolerance;
            if let Some(expected) = expected.filter(|expected| off(*expected))
                && self.clocks.begun.is_some()
                && pressed.is_none_or(off)
            {
                let notice = Notice::of("clock-discrepancy", Audience::Arbiter);
                desk.notice(Notice {
                    side: Some(Side(side)),
                    expected_ms: Some(expected),
                    reported_ms: Some(reported),
                    tolerance_ms: Some(tolerance),
                    ..notice
                });
            }
            self.clocks.half_mut(side).left = Some(reported);
            if reported > 0 {
                self.clocks.half_mut(side).flag = None;
            }
        }
        self.clocks.read = Some(desk.at);
        self.clocks.running = reading.running.or(self.clocks.running);
        self.clocks.since = desk.at;
        self.look_at_recording(desk);
    }

    /// What a running clock shows if its player presses now, in milliseconds.
    fn pressed_just_now(&self, side: Color, desk: &Desk<'_>) -> Option<u64> {
        let left = self.clocks.half(side).left.filter(|_| self.clocks.running == Some(side))?;
        let used = desk.at.since(self.clocks.since) / 1000;
        Some(clock::after_move(left, used, self.clocks.per_move(side, self.completed_by(side, desk))).ms())
    }

    /// Who has to record the moves (Article 8.4).
    pub(super) fn look_at_recording(&mut self, desk: &mut Desk<'_>) {
        let settings = self.settings.record;
        if !settings.required {
            return;
        }
        for side in BOTH {
            let Some(remaining_ms) = self.clocks.remaining(side, desk.at) else { continue };
            let per_move = self.clocks.per_move(side, self.completed_by(side, desk));
            let half = self.clocks.half_mut(side);
            let required = half.duty.observe(&settings, remaining_ms, per_move);
            let was_below = !required && remaining_ms >= settings.threshold_ms;
            if half.required != Some(required) || half.was_below != was_below {
                half.required = Some(required);
                half.was_below = was_below;
                let (color, inc_ms) = (Side(side), per_move.ms());
                desk.tell(LawFact::Recording { color, remaining_ms, inc_ms, required, was_below });
            }
        }
        let nobody = BOTH.iter().all(|side| self.clocks.half(*side).required == Some(false));
        if nobody && !self.clocks.scribe_told {
            desk.notice(Notice::of("scribe-needed", Audience::Arbiter));
        }
        self.clocks.scribe_told = nobody;
    }

    /// The clock indicates that a flag fell: an indication, never an end (Article 6.8; 2005: 6.9).
    pub(super) fn flag(&mut self, side: Color, desk: &mut Desk<'_>) {
        // Mate and stalemate end the game when they are made (Articles 5.1.1, 5.2.1).
        let over = self.is_over(desk) || !desk.session.can_move();
        if !over {
            self.tell_moves_of_period(side, desk);
        }
        let to = if over { Audience::Journal } else { audience(self.settings.flag_alert()) };
        let notice = Notice::of("flag-indicated", to);
        desk.notice(Notice { side: Some(Side(side)), after_end: over, ..notice });
        if over {
            return;
        }
        self.tell_flag_account(side, desk);
        if self.clocks.flag(side).is_none() {
            let met = self.check_moves(side, desk).is_some_and(|check| check.met);
            let half = self.clocks.half_mut(side);
            (half.flag, half.met) = (Some(desk.at), met);
        }
        if let (Some(white), Some(black)) = (self.clocks.white.flag, self.clocks.black.flag) {
            let order = match white.cmp(&black) {
                std::cmp::Ordering::Less => "white-first",
                std::cmp::Ordering::Equal => "unknown",
                std::cmp::Ordering::Greater => "black-first",
            };
            desk.notice(Notice { order: Some(order), ..Notice::of("both-flags", to) });
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
        let control = self.clocks.control.as_ref()?;
        // A flag that falls with the moves completed is that of the period before.
        let before = period.checked_sub(1).map(|before| FlagCheck::in_period(control, before, completed));
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
    pub(super) fn observe_flag(&mut self, desk: &mut Desk<'_>) -> Result<(), &'static str> {
        let Some(first) = self.flagged() else { return Err("no flag is on record") };
        if self.clocks.white.flag.is_some() && self.clocks.black.flag.is_some() {
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
    pub(super) fn both_flags(&mut self, last: bool, desk: &mut Desk<'_>) -> Result<(), &'static str> {
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
    pub(super) fn claim_time(&mut self, side: Color, desk: &mut Desk<'_>) {
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

    /// The clocks were stopped (Article 6.11; 2005: 6.13).
    pub(super) fn stopped(&mut self, desk: &mut Desk<'_>) {
        self.clocks.stop(desk.at);
        self.clocks.paused = true;
        self.turn.due = None;
        let by = Some(By::Word("unknown"));
        desk.notice(Notice { by, ..Notice::of("paused", Audience::Arbiter) });
        self.sealing_ends(desk);
    }

    /// What a clock that ran from one time to another has used.
    pub(super) fn tell_elapsed(
        &self,
        who: Color,
        before: u64,
        from: MonoTime,
        to: MonoTime,
        desk: &mut Desk<'_>,
    ) {
        let used = to.since(from) / 1000;
        desk.calc(ClockCalc {
            side: Some(Side(who)),
            before: Some(Times::One(before)),
            from_ms: Some(from.as_micros() / 1000),
            to_ms: Some(to.as_micros() / 1000),
            after: Some(Times::One(before.saturating_sub(used))),
            ..ClockCalc::of("replay-elapsed")
        });
    }

    /// A clock was started: by an arbiter, or at the beginning.
    pub(super) fn started(&mut self, side: Color, desk: &mut Desk<'_>) {
        let first = !self.begun && self.clocks.begun.is_none();
        let resumed = self.clocks.paused || self.adjournment.is_resuming();
        let side_to_move = desk.turn();
        let equal = desk.session.differs().is_empty();
        if resumed || (first && !self.earlier.is_empty()) {
            let sealed = side_to_move != side;
            desk.notice(Notice {
                equal: Some(equal),
                running: Some(Side(side)),
                side_to_move: Some(Side(side_to_move)),
                sealed,
                ..Notice::of("resume-check", Audience::Journal)
            });
        } else if first && side_to_move != side {
            let notice = Notice::of("clock-side-mismatch", Audience::Arbiter);
            desk.notice(Notice { expected: Some(Side(side_to_move)), running: Some(Side(side)), ..notice });
        }
        self.adjournment.clock_runs();
        if resumed && let Some((who, from, to, Some(before))) = self.clocks.stretch.take() {
            self.tell_elapsed(who, before, from, to, desk);
        }
        if self.clocks.running != Some(side) {
            self.clocks.stop(desk.at);
            self.clocks.run(side, desk.at);
        }
        self.clocks.paused = false;
    }
}
