//! The clock in law (Articles 6 and 8.4): whose time runs, what is left, moves of a period, who has to record.
//!
//! An external clock keeps the time: what is worked out here is evidence ([`account`]), and does not set it. Where
//! this program is the clock ([`own`]), it is what counts.

mod account;
mod flags;
mod late;
mod own;
mod period;
mod recording;
mod running;
mod think;

use std::collections::VecDeque;

use serde_json::Value;
use shakmaty::{ByColor, Color};

use self::{late::Awaited, think::Thinking};
use super::{Conduct, Desk, correction::Correction};
use crate::{
    game::own_clock::OwnClock,
    laws::{
        arithmetic::{
            clock::{self, PerMove},
            periods,
            recording::RecordingDuty,
        },
        settings::{ClockKind, ClockSettings, LawSettings},
        time_control::GameControl,
    },
    session::{
        fact::law::{LawState, Shown},
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
    /// When its flag was indicated.
    flag: Option<MonoTime>,
    /// Since when it may have been down.
    flag_from: MonoTime,
    /// Whether the moves of the period were completed when the flag fell.
    met: bool,
    duty: RecordingDuty,
    /// The duty to record, as told last.
    required: Option<bool>,
    /// It had ended although the time was above the limit again, as told last.
    was_below: bool,
    /// Moves completed before the log, beyond those of its history.
    given_moves: u32,
    /// When the player gave the first sign of being there in this session.
    seen: Option<MonoTime>,
    /// His arrival was told.
    arrived: bool,
    /// Time left when the session began, in milliseconds.
    at_start: Option<u64>,
    /// When a reading last showed time left.
    shown: Option<MonoTime>,
    /// The period, counted from 0, whose time the clock has been seen to have.
    has: usize,
    /// The period, counted from 0, that an arbiter let begin, and the moves completed before it.
    ruled: Option<(usize, u32)>,
}

/// The times at a press as they were ruled, in milliseconds, where they are known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AtPress {
    /// Of the player who pressed, without what the press added.
    pub own: Option<u64>,
    /// Of the same, with it.
    pub credited: Option<u64>,
    /// Of his opponent.
    pub opponent: Option<u64>,
}

/// So many presses are remembered, the last ones.
const MAX_PRESSES: usize = 1000;
/// So many are in most games.
const USUAL_PRESSES: usize = 128;

/// A press.
#[derive(Clone, Copy, Debug)]
struct Pressing {
    side: Color,
    at: MonoTime,
    times: AtPress,
    /// What rulings had given each side by then.
    granted: ByColor<i64>,
}

/// The position to which a ruling went back.
#[derive(Clone, Copy, Debug)]
struct Restored {
    ply: usize,
    /// What the clocks showed when it stood, and what was given since.
    times: ByColor<Option<u64>>,
    /// What rulings had given each side by then.
    granted: ByColor<i64>,
}

/// The clock of one game.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    control: Option<GameControl>,
    setting: ClockSettings,
    /// The clock, where this program keeps it.
    own: Option<OwnClock>,
    /// The side whose time got that of a period after its move was told.
    amended: Option<Color>,
    /// The time at which power failed, and whose clock ran.
    dark: Option<(MonoTime, Option<Color>)>,
    thinking: Thinking,
    /// Additional time that was ruled: five seconds a move.
    ruled: Option<PerMove>,
    /// What was ruled and an external clock does not show yet.
    pub(super) corrections: ByColor<Correction>,
    pub(super) paused: bool,
    white: Half,
    black: Half,
    running: Option<Color>,
    /// Since when it runs, or was read or set last.
    since: MonoTime,
    /// When the clock that runs was started, and the time left then.
    started: (MonoTime, Option<u64>),
    /// The stretch that was stopped last: whose, from when, until when, the time left at its beginning.
    stretch: Option<(Color, MonoTime, MonoTime, Option<u64>)>,
    /// When a clock was read last: while it is read, the account is only a check.
    read: Option<MonoTime>,
    scribe_told: bool,
    /// The last presses.
    presses: VecDeque<Pressing>,
    restored: Option<Restored>,
    /// What rulings have given each side so far, in milliseconds: penalties, bonuses, more time and less.
    granted: ByColor<i64>,
    /// When the first clock was started.
    pub(super) begun: Option<MonoTime>,
    /// When the game was resumed.
    resumed: Option<MonoTime>,
    awaited: Awaited,
    /// The record begins in mid-game: these players had made a move before it.
    mid_game: Option<ByColor<bool>>,
    /// The time of the first event of the record.
    origin: MonoTime,
}

impl Clocks {
    /// The clock before the first event of a record; `moved`: who had made a move before it.
    pub(super) fn new(setup: &GameSetup, settings: &LawSettings, moved: ByColor<bool>) -> Clocks {
        let kind = settings.clock.kind;
        let control: Option<GameControl> =
            setup.time_control.parse().ok().filter(|_| kind != ClockKind::None);
        let allotted =
            |side| control.as_ref().map(|control| periods::initial_ms(control.side(side), &settings.clock));
        let present = |side: Color| {
            let word = side.fold_wb("white", "black");
            setup.given.get("present").and_then(|present| present.get(word)?.as_bool())
        };
        let absent = |side: Color| present(side) == Some(false);
        let half = |side: Color| {
            let given = |table: &str, key: &str| setup.given.get(table)?.get(key).and_then(Value::as_u64);
            let word = side.fold_wb("white", "black");
            let completed = given("completed", word).and_then(|moves| u32::try_from(moves).ok());
            let played = setup.history.len() + usize::from(side == Color::White);
            let of_history = u32::try_from(played / 2).unwrap_or(u32::MAX);
            let left = given("times_ms", word).or_else(|| allotted(side));
            Half {
                seen: present(side).unwrap_or(false).then_some(MonoTime::ZERO),
                left,
                at_start: left,
                given_moves: completed.map_or(0, |moves| moves.saturating_sub(of_history)),
                ..Half::default()
            }
        };
        let (white, black) = (half(Color::White), half(Color::Black));
        let own = control.as_ref().filter(|_| kind == ClockKind::Own).map(|control| {
            let period = |side: Color, half: &Half| {
                let played = (setup.history.len() + usize::from(side == Color::White)) / 2;
                let played = u32::try_from(played).unwrap_or(u32::MAX);
                periods::period_of(control.side(side), played.saturating_add(half.given_moves))
            };
            let left = ByColor { white: white.left.unwrap_or(0), black: black.left.unwrap_or(0) };
            let periods =
                ByColor { white: period(Color::White, &white), black: period(Color::Black, &black) };
            OwnClock::new(left, periods)
        });
        Clocks {
            own,
            amended: None,
            dark: None,
            thinking: Thinking::new(settings.clock.think_times || kind == ClockKind::None),
            control,
            setting: settings.clock,
            ruled: None,
            corrections: ByColor::default(),
            paused: false,
            white,
            black,
            running: None,
            since: MonoTime::ZERO,
            started: (MonoTime::ZERO, None),
            stretch: None,
            read: None,
            scribe_told: false,
            presses: VecDeque::with_capacity(USUAL_PRESSES),
            restored: None,
            granted: ByColor::default(),
            begun: None,
            resumed: None,
            awaited: Awaited::new(
                settings.default_time_s,
                ByColor { white: absent(Color::White), black: absent(Color::Black) },
            ),
            mid_game: (moved.white || moved.black).then_some(moved),
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
        if let Some(own) = &self.own {
            return Some(own.left_ms(side, at));
        }
        if self.half(side).flag.is_some() {
            return Some(0);
        }
        let left = self.half(side).left?;
        let runs = self.running == Some(side);
        Some(if runs { left.saturating_sub(self.charged(side, at)) } else { left })
    }

    /// The same as it was ruled, where an external clock does not show that yet.
    pub(super) fn ruled(&self, side: Color, at: MonoTime) -> Option<u64> {
        self.remaining(side, at).map(|left| self.corrections.get(side).ruled(left))
    }

    /// What a running clock has used of its main time.
    fn charged(&self, side: Color, at: MonoTime) -> u64 {
        let used = at.since(self.since) / 1000;
        match self.per_move(side, 0) {
            PerMove::Delay { ms } => used.saturating_sub(ms),
            _ => used,
        }
    }

    /// A clock was read since the running stretch began.
    fn is_read(&self) -> bool {
        self.read.is_some_and(|at| at >= self.since)
    }

    fn stop(&mut self, at: MonoTime) {
        if let Some(side) = self.running {
            let (from, before) = self.started;
            let charged = self.charged(side, at);
            if let Some(left) = &mut self.half_mut(side).left {
                *left = left.saturating_sub(charged);
            }
            self.stretch = Some((side, from, at, before));
            self.running = None;
        }
    }

    fn run(&mut self, side: Color, at: MonoTime) {
        self.now_runs(Some(side), at);
        self.since = at;
        self.begin(at);
    }

    /// A clock runs for the first time: the session begins.
    fn begin(&mut self, at: MonoTime) {
        if self.begun.is_none() {
            self.begun = Some(at);
            self.await_new_players(at);
        }
    }

    /// This clock runs, since `at` where it did not before.
    fn now_runs(&mut self, running: Option<Color>, at: MonoTime) {
        if self.running != running {
            self.running = running;
            self.started = (at, running.and_then(|side| self.half(side).left));
        }
    }

    /// The stretch of a clock that was stopped last, while none runs: whose, from when, until when, and the
    /// time left at its beginning.
    pub(super) fn last_stretch(&self) -> Option<(Color, MonoTime, MonoTime, Option<u64>)> {
        self.stretch.filter(|_| self.running.is_none())
    }

    /// A side whose flag is down.
    pub(super) fn any_flag(&self) -> Option<Color> {
        BOTH.into_iter().find(|side| self.flag(*side).is_some())
    }

    /// Where nobody said which clock runs, it is that of the player who has the move.
    pub(super) fn assume_running(&mut self, side: Color) {
        if self.running.is_none() && !self.paused && self.own.is_none() {
            self.now_runs(Some(side), self.since);
        }
    }

    /// Since when, and from which time on, a running clock counts.
    pub(super) fn account_of(&self, side: Color) -> Option<(MonoTime, u64)> {
        let left = self.half(side).left?;
        (self.running == Some(side)).then_some((self.since, left))
    }

    /// When the clock of this side was started, and the time left then, while it runs.
    pub(super) fn stretch_of(&self, side: Color) -> Option<(MonoTime, u64)> {
        let (from, left) = self.started;
        left.filter(|_| self.running == Some(side)).map(|left| (from, left))
    }

    /// The times at the last press of a side after the first of these moments and not after the second, with what
    /// rulings have given since.
    pub(super) fn press_by(&self, side: Color, from: MonoTime, until: MonoTime) -> Option<AtPress> {
        let is_it = |press: &&Pressing| press.side == side && (from < press.at || press.at == MonoTime::ZERO);
        let mut presses = self.presses.iter().rev().skip_while(|press| press.at > until);
        let press = presses.find(is_it)?;
        let with_grants = |side, ms: u64| self.since(press.granted, side, ms);
        Some(AtPress {
            own: press.times.own.map(|ms| with_grants(side, ms)),
            credited: press.times.credited.map(|ms| with_grants(side, ms)),
            opponent: press.times.opponent.map(|ms| with_grants(!side, ms)),
        })
    }

    fn note_press(&mut self, side: Color, at: MonoTime, times: AtPress) {
        if self.presses.len() >= MAX_PRESSES {
            self.presses.pop_front();
        }
        let ruled = |side, ms: u64| self.corrections.get(side).ruled(ms);
        let times = AtPress {
            own: times.own.map(|ms| ruled(side, ms)),
            credited: times.credited.map(|ms| ruled(side, ms)),
            opponent: times.opponent.map(|ms| ruled(!side, ms)),
        };
        self.presses.push_back(Pressing { side, at, times, granted: self.granted });
        self.restored = None;
    }

    /// A time of a side with what rulings have given it since they had given so much.
    fn since(&self, granted: ByColor<i64>, side: Color, ms: u64) -> u64 {
        clock::adjusted(ms, self.granted.get(side).saturating_sub(*granted.get(side)))
    }

    /// A ruling gives a side so many milliseconds, or takes them.
    pub(super) fn grant(&mut self, side: Color, ms: i64) {
        let granted = self.granted.get_mut(side);
        *granted = granted.saturating_add(ms);
    }

    /// The same, where its clock has this by now.
    pub(super) fn give(&mut self, side: Color, ms: i64, left: u64, at: MonoTime) {
        let restored = self.restored;
        self.set(side, left, at);
        self.restored = restored;
        self.grant(side, ms);
    }

    /// A ruling went back to the position after so many plies, at which the clocks showed this.
    pub(super) const fn went_back(&mut self, ply: usize, times: ByColor<Option<u64>>) {
        self.restored = Some(Restored { ply, times, granted: self.granted });
    }

    /// The same with what was given since, as long as nobody has pressed since and no time was set.
    pub(super) fn restored(&self) -> Option<(usize, ByColor<Option<u64>>)> {
        let Restored { ply, times, granted } = self.restored?;
        Some((ply, ByColor::new_with(|side| times.get(side).map(|ms| self.since(granted, side, ms)))))
    }

    /// The times of both sides were ruled: those of an earlier position are past.
    pub(super) const fn ruled_on(&mut self) {
        self.restored = None;
    }

    /// The time left when the session began, with what rulings have given since.
    pub(super) fn left_at_start(&self, side: Color) -> Option<u64> {
        self.half(side).at_start.map(|ms| self.since(ByColor::default(), side, ms))
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

    /// The beginning of the session: when the game was resumed, else its start.
    pub(super) fn session_start(&self) -> MonoTime {
        self.resumed.unwrap_or_else(|| self.start())
    }

    /// The game is resumed. Whoever was there before an adjournment, `anew`, has to come again.
    pub(super) fn resume(&mut self, anew: bool, at: MonoTime) {
        self.begun.get_or_insert(at);
        self.resumed = Some(at);
        for side in BOTH {
            let left = self.remaining(side, at);
            let half = self.half_mut(side);
            (half.at_start, half.arrived) = (left, false);
            half.seen = half.seen.filter(|_| !anew);
        }
        self.await_players(at, ByColor { white: true, black: true });
    }

    /// A player is there.
    pub(super) fn see(&mut self, side: Color, at: MonoTime) {
        self.half_mut(side).seen.get_or_insert(at);
        if self.late_due().is_some() {
            self.look_at_awaited();
        }
    }

    /// Whether a player gave a sign of being there.
    pub(super) const fn was_seen(&self, side: Color) -> bool {
        self.half(side).seen.is_some()
    }

    /// The arrival of a player is told at `at`: when he gave the first sign of being there. Nothing when it was told
    /// before.
    pub(super) fn arrive(&mut self, side: Color, at: MonoTime) -> Option<MonoTime> {
        self.see(side, at);
        let half = self.half_mut(side);
        let told = std::mem::replace(&mut half.arrived, true);
        half.seen.filter(|_| !told)
    }

    /// An arbiter set or corrected a time.
    pub(super) fn set(&mut self, side: Color, ms: u64, at: MonoTime) {
        self.restored = None;
        if let Some(own) = &mut self.own {
            own.set(side, ms, at);
        }
        if self.running == Some(side) {
            self.since = at;
            self.started = (at, Some(ms));
        }
        self.half_mut(side).left = Some(ms);
        self.half_mut(side).flag = None;
    }

    /// Sets what a clock that was stopped has left: how it came to that is told in another way.
    pub(super) fn set_standing(&mut self, side: Color, ms: u64, at: MonoTime) {
        self.set(side, ms, at);
        self.stretch = None;
    }

    /// An external clock was set to these times, which are those that were ruled.
    pub(super) fn ordered(&mut self, shown: Shown, at: MonoTime) {
        let running = shown.running.map(|side| side.0);
        if self.running != running {
            self.stop(at);
        }
        match running {
            Some(side) if self.running.is_none() => self.run(side, at),
            _ => {}
        }
        self.paused = running.is_none();
        for (side, ms) in [(Color::White, shown.white_ms), (Color::Black, shown.black_ms)] {
            if let Some(ms) = ms {
                self.set(side, ms, at);
            }
        }
        self.corrections = ByColor::default();
    }
}

impl Conduct {
    /// Moves that a side has completed.
    pub(super) fn completed_by(&self, side: Color, desk: &Desk<'_>) -> u32 {
        let moves = self.moves_completed(desk);
        side.fold_wb(moves.white, moves.black)
    }

    /// A press completed a move: the moves of its period.
    pub(super) fn clocks_completed(&mut self, ply: usize, by: Color, desk: &mut Desk<'_>) {
        self.resumed_completed(ply, by, desk);
        if self.clocks.control.is_some() || self.clocks.half(by).ruled.is_some() {
            self.count_completed(by, desk);
        }
    }

    #[inline(never)]
    fn count_completed(&mut self, by: Color, desk: &mut Desk<'_>) {
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
}
