//! How long a player thought about a move: from the moment at which he had it and his clock ran, or, where
//! nobody presses, from the move before, without the time in which the clocks were stopped.

use shakmaty::Color;

use crate::{
    game::conduct::{Conduct, Desk},
    session::{
        fact::{
            CompletedBy,
            law::{LawFact, Side},
        },
        time::MonoTime,
    },
};

/// The present turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thinking {
    wanted: bool,
    /// Since when the player thinks, where that is known.
    since: Option<MonoTime>,
    /// Since when the clocks stand.
    stopped: Option<MonoTime>,
    /// For how long they stood in this turn before, in microseconds.
    stood_us: u64,
    /// Somebody presses: moves end with the press.
    pressed: bool,
}

impl Thinking {
    pub(super) const fn new(wanted: bool) -> Thinking {
        Thinking { wanted, since: None, stopped: None, stood_us: 0, pressed: false }
    }

    /// A press, or a clock that is started: the first one begins a turn.
    pub(super) fn begin(&mut self, at: MonoTime) {
        self.start(at);
        self.pressed = true;
    }

    /// The clocks are stopped.
    pub(super) fn stop(&mut self, at: MonoTime) {
        self.stopped.get_or_insert(at);
    }

    /// A clock is started.
    pub(super) fn start(&mut self, at: MonoTime) {
        let stood = self.stopped.take().map_or(0, |since| at.since(since));
        self.stood_us = self.stood_us.saturating_add(stood);
        self.since.get_or_insert(at);
    }

    /// The turn ends, and the next one begins. Milliseconds that it took, where its beginning is known.
    fn end(&mut self, at: MonoTime) -> Option<u64> {
        let since = self.since.replace(at);
        let standing = self.stopped.map_or(0, |since| at.since(since));
        let stood = std::mem::take(&mut self.stood_us).saturating_add(standing);
        Some(at.since(since?).saturating_sub(stood) / 1000)
    }
}

impl Conduct {
    /// A move was completed.
    pub(in crate::game::conduct) fn thought_until_press(
        &mut self,
        ply: usize,
        by: Color,
        how: CompletedBy,
        desk: &mut Desk<'_>,
    ) {
        let at = match how {
            CompletedBy::Press => desk.at,
            // The man came down after the press.
            CompletedBy::EarlierPress if self.clocks.running == Some(!by) => self.clocks.since,
            CompletedBy::EarlierPress | CompletedBy::GameEnd | CompletedBy::NextMove => return,
        };
        self.clocks.thinking.pressed = true;
        self.thought(ply, by, at, "press", desk);
    }

    /// A move was published: where nobody presses it ended when it was made.
    pub(in crate::game::conduct) fn thought_until_made(
        &mut self,
        ply: usize,
        made: MonoTime,
        desk: &mut Desk<'_>,
    ) {
        let position = ply.checked_sub(1).and_then(|index| desk.session.position_after(index));
        if let Some(position) = position.filter(|_| !self.clocks.thinking.pressed) {
            let by = shakmaty::Position::turn(position);
            self.thought(ply, by, made, "made", desk);
        }
    }

    fn thought(&mut self, ply: usize, by: Color, at: MonoTime, ended_by: &'static str, desk: &mut Desk<'_>) {
        let ms = self.clocks.thinking.end(at);
        if let Some(ms) = ms.filter(|_| self.clocks.thinking.wanted) {
            desk.tell(LawFact::ThinkTime { ply, side: Side(by), ms, ended_by });
        }
    }
}
