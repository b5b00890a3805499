//! What waits until an output may show it.

use std::collections::VecDeque;

use super::{Delay, Origin};
use crate::publish::{BoardState, FeedEvent};

/// Events of a board that may wait. Beyond that the ones that wait become one picture of the board, which leaves
/// when the last of them would have.
pub const ROOM: usize = 16_384;

/// A step on its way out.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// What happened.
    Events(Vec<FeedEvent>),
    /// The board as it stands: too much waited.
    Set(Box<BoardState>),
}

impl Step {
    /// True where the score or the result may be another one after it.
    pub(super) fn changes_score(&self) -> bool {
        match self {
            Step::Events(events) => events.iter().any(FeedEvent::changes_score),
            Step::Set(_) => true,
        }
    }
}

/// A step with the moment at which it could have left.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Microseconds of the monotonic clock; below zero what happened before the machine was started.
    pub at: i64,
    /// What it follows from.
    pub origin: Origin,
    /// What it is.
    pub step: Step,
}

#[derive(Clone, Debug)]
struct Entry {
    moment: Moment,
    /// How far the game has to be.
    need: u64,
}

/// How far a game is: its half-moves. A move that a player takes back does not count back: the one in its
/// place has the same number, and what was held for the first is held for it. When the arbiter goes back
/// further, the count goes back with him, and so does what the older events wait for: the moves that they show
/// are no longer part of the game, and go as soon as the position that he went back to may be shown.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Half-moves of the game, those before a position that was set up included.
    plies: u64,
    /// The same, with a move that was taken back.
    high: u64,
    /// The game has a result: no more moves are to come.
    over: bool,
}

/// The events of one board, in order, each until its delay has passed.
#[derive(Clone, Debug)]
pub struct Waiting {
    delay: Delay,
    queue: VecDeque<Entry>,
    events: usize,
    /// The board with everything that waits.
    state: BoardState,
    progress: Progress,
    /// The same of what came here: moves wait for the disk, and an output may wait for completed ones.
    passed: Progress,
    /// The arbiter went back in the game, and nothing waits yet that happened since.
    went_back: bool,
}

impl Waiting {
    /// Nothing waits; the board stands so.
    pub fn new(delay: Delay, state: BoardState) -> Waiting {
        Waiting {
            delay,
            queue: VecDeque::new(),
            events: 0,
            state,
            progress: Progress::default(),
            passed: Progress::default(),
            went_back: false,
        }
    }

    /// The game went on: whatever the output may see of it, it counts for what waits.
    pub fn heed(&mut self, events: &[FeedEvent]) {
        self.went_back |= self.progress.follow(events);
    }

    /// Takes what the output may see, once its delay has passed.
    pub fn push(&mut self, moment: Moment) {
        self.show(&moment.step);
        // What the arbiter goes back to is the game: it waits for the moves that are played from there.
        let plies = if self.went_back { self.passed.plies } else { self.passed.high };
        let need = plies.saturating_add(self.delay.plies);
        self.queue(moment, need);
        if self.events > ROOM {
            self.thin_out();
        }
        if self.events > ROOM {
            self.collapse();
        }
    }

    fn queue(&mut self, moment: Moment, need: u64) {
        if std::mem::take(&mut self.went_back) {
            self.queue.iter_mut().for_each(|entry| entry.need = entry.need.min(need));
        }
        self.events += moment.size();
        self.queue.push_back(Entry { moment, need });
    }

    /// The game is no longer on its board: no more moves are to come.
    pub fn finish(&mut self) {
        self.progress.over = true;
    }

    /// Takes what the output has shown already. Nothing waits before it.
    pub fn skip(&mut self, moment: &Moment) {
        self.show(&moment.step);
        self.went_back = false;
    }

    fn show(&mut self, step: &Step) {
        match step {
            Step::Set(state) => self.state.clone_from(state),
            Step::Events(events) => {
                events.iter().for_each(|event| self.state.apply(event));
                self.went_back |= self.passed.follow(events);
            }
        }
    }

    /// Too much waits: every other picture of the board and reading of the clock goes, the latest stay.
    fn thin_out(&mut self) {
        let mut keep = [true; 2];
        for entry in self.queue.iter_mut().rev() {
            let Step::Events(events) = &mut entry.moment.step else { continue };
            let before = events.len();
            events.retain(|event| {
                let kind = match event {
                    FeedEvent::Board { .. } => 0,
                    FeedEvent::Clock(_) => 1,
                    _ => return true,
                };
                let kept = keep.get(kind).copied().unwrap_or(true);
                if let Some(next) = keep.get_mut(kind) {
                    *next = !kept;
                }
                kept
            });
            self.events -= before - events.len();
        }
        self.queue.retain(|entry| entry.moment.size() > 0);
    }

    /// Too much waits still: one picture of the board takes its place, at the time of the latest.
    fn collapse(&mut self) {
        let Some(last) = self.queue.pop_back() else { return };
        let step = Step::Set(Box::new(self.state.clone()));
        let need = self.queue.iter().map(|entry| entry.need).fold(last.need, u64::max);
        self.queue.clear();
        self.events = 1;
        self.queue.push_back(Entry { moment: Moment { step, ..last.moment }, need });
    }

    /// True when nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// When the next step is to leave, in microseconds of the monotonic clock; nothing while moves are waited for
    /// or nothing waits.
    pub fn due(&self) -> Option<i64> {
        let head = self.queue.front().filter(|head| self.is_far_enough(head))?;
        Some(head.moment.at.saturating_add_unsigned(self.delay.us))
    }

    /// The next step that may leave at `now`.
    pub fn pop(&mut self, now: i64) -> Option<Moment> {
        self.due().filter(|due| *due <= now)?;
        let entry = self.queue.pop_front()?;
        self.events = self.events.saturating_sub(entry.moment.size());
        Some(entry.moment)
    }

    fn is_far_enough(&self, entry: &Entry) -> bool {
        self.progress.over || entry.need <= self.progress.plies
    }
}

impl Progress {
    /// Counts; true when the arbiter went back in the game.
    fn follow(&mut self, events: &[FeedEvent]) -> bool {
        let before = self.high;
        events.iter().for_each(|event| self.count(event));
        self.high < before
    }

    fn count(&mut self, event: &FeedEvent) {
        match event {
            FeedEvent::Move { .. } => {
                self.plies += 1;
                self.high = self.high.max(self.plies);
            }
            FeedEvent::Undo { n, .. } => {
                let back = u64::try_from(*n).unwrap_or(u64::MAX);
                self.plies = self.plies.saturating_sub(back);
                self.high = self.high.min(self.plies + 1);
            }
            FeedEvent::Result { result, termination } => self.over = *result != "*" || termination.is_some(),
            _ => {}
        }
    }
}

impl Moment {
    fn size(&self) -> usize {
        match &self.step {
            Step::Events(events) => events.len(),
            Step::Set(_) => 1,
        }
    }
}
