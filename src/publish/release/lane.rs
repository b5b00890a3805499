//! The way of one board to one output.

use super::{
    Completed, Policy, Reached, Threshold,
    delay::{Moment, Step, Waiting},
};
use crate::publish::{BoardState, FeedEvent};

/// What happened on a board before its lane was there: before the daemon was started again.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// When it could have left, in microseconds of the monotonic clock; below zero before the machine was
    /// started.
    pub at: i64,
    /// Index of the event of the board that it follows from.
    pub ev: i64,
    /// What happened.
    pub events: Vec<FeedEvent>,
}

/// The way of one board to one output, or to several with the same policy.
#[derive(Clone, Debug)]
pub struct Lane {
    policy: Policy,
    filter: Option<Completed>,
    waiting: Option<Waiting>,
    tally: Tally,
    /// The plies that have left.
    plies: usize,
    result: &'static str,
}

/// What has left since it was told last.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    boards: u64,
    clocks: u64,
    least_us: Option<u64>,
}

impl Tally {
    fn hold(&mut self, held_us: u64) {
        self.least_us = Some(self.least_us.map_or(held_us, |least| least.min(held_us)));
    }
}

/// Something left: the record of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The latest event of the board whose effects have left.
    pub reached: Reached,
    /// Half-moves that the output shows.
    pub plies: usize,
    /// The result that it shows.
    pub result: String,
    /// Pictures of the board that have left since the last record.
    pub boards: u64,
    /// Readings of the clock that have left since the last record.
    pub clocks: u64,
    /// The shortest time for which something of it was held, in microseconds, from the moment at which the
    /// board knew it.
    pub least_us: u64,
}

impl Lane {
    /// The lane of a board that stood like `start` when the game began, with what happened since; `left` is the
    /// last event whose effects had left before the daemon ended, `now` the time. Gives what the output shows.
    pub fn new(
        policy: Policy,
        start: BoardState,
        past: Vec<Past>,
        left: Reached,
        now: i64,
    ) -> (Lane, BoardState, Left) {
        let (filter, mut shown) = match policy.threshold {
            Threshold::Made => (None, start),
            Threshold::Completed => {
                let (filter, shown) = Completed::new(start);
                (Some(filter), shown)
            }
        };
        let waiting = (!policy.delay.is_none()).then(|| Waiting::new(policy.delay, shown.clone()));
        let tally = Tally::default();
        let mut reached = Reached { ev: -1, whole: true };
        let mut lane = Lane { policy, filter, waiting, tally, plies: 0, result: "*" };
        for Past { at, ev, events } in past {
            lane.heed(&events);
            let events = lane.filter(events);
            // Of the last event that left the board and the clock may be waited for still.
            let (gone, events): (Vec<_>, Vec<_>) = events.into_iter().partition(|event| {
                let part = Reached { ev, whole: event.is_immediate() };
                lane.waiting.is_none() || part <= left
            });
            if !gone.is_empty() {
                let moment = Moment { at, ev, whole: events.is_empty(), step: Step::Events(gone) };
                if let Some(waiting) = &mut lane.waiting {
                    waiting.skip(&moment);
                }
                reached = moment.reached();
                apply(&mut shown, moment.step);
            }
            if let Some(waiting) = lane.waiting.as_mut().filter(|_| !events.is_empty()) {
                waiting.push(Moment { at, ev, whole: true, step: Step::Events(events) });
            }
        }
        while let Some(moment) = lane.waiting.as_mut().and_then(|waiting| waiting.pop(now)) {
            reached = moment.reached();
            let held_us = u64::try_from(now.saturating_sub(moment.at)).unwrap_or(0);
            lane.tally.hold(held_us);
            apply(&mut shown, moment.step);
        }
        lane.plies = shown.plies.len();
        lane.result = shown.result;
        let told = lane.left(reached);
        (lane, shown, told)
    }

    /// The board knows of this. It counts for what waits from now on, even where it comes to the output later.
    pub fn heed(&mut self, events: &[FeedEvent]) {
        if let Some(waiting) = &mut self.waiting {
            waiting.heed(events);
        }
    }

    fn filter(&mut self, events: Vec<FeedEvent>) -> Vec<FeedEvent> {
        match &mut self.filter {
            Some(filter) => filter.pass(events),
            None => events,
        }
    }

    /// What holds for it.
    pub const fn policy(&self) -> Policy {
        self.policy
    }

    /// Takes what happened at `at`, after [`Lane::heed`]; what may leave at once comes back.
    pub fn push(&mut self, at: i64, ev: i64, events: Vec<FeedEvent>) -> Option<Moment> {
        let events = self.filter(events);
        if events.is_empty() {
            return None;
        }
        let moment = Moment { at, ev, whole: true, step: Step::Events(events) };
        match &mut self.waiting {
            Some(waiting) => {
                waiting.push(moment);
                None
            }
            None => Some(moment),
        }
    }

    /// A new game is put on the board; what may be shown at once comes back. What waits of the game before leaves
    /// first.
    pub fn set(&mut self, at: i64, ev: i64, state: BoardState) -> Option<Moment> {
        let visible = match &mut self.filter {
            Some(filter) => {
                let (next, visible) = Completed::new(state);
                *filter = next;
                visible
            }
            None => state,
        };
        let moment = Moment { at, ev, whole: true, step: Step::Set(Box::new(visible)) };
        match &mut self.waiting {
            Some(waiting) if waiting.is_empty() => {
                waiting.skip(&moment);
                Some(moment)
            }
            Some(waiting) => {
                waiting.push(moment);
                None
            }
            None => Some(moment),
        }
    }

    /// When something is to leave next.
    pub fn due(&self) -> Option<i64> {
        self.waiting.as_ref()?.due()
    }

    /// The next thing that may leave at `now`.
    pub fn pop(&mut self, now: i64) -> Option<Moment> {
        self.waiting.as_mut()?.pop(now)
    }

    /// Notes that `moment` leaves at `now`; gives the record of it where the score or the result is concerned.
    pub fn note(&mut self, moment: &Moment, now: i64) -> Option<Left> {
        let held_us = u64::try_from(now.saturating_sub(moment.at)).unwrap_or(0);
        self.tally.hold(held_us);
        let scored = match &moment.step {
            Step::Set(state) => {
                (self.plies, self.result) = (state.plies.len(), state.result);
                true
            }
            Step::Events(events) => {
                events.iter().for_each(|event| self.count(event));
                events.iter().any(FeedEvent::changes_score)
            }
        };
        scored.then(|| self.left(moment.reached()))
    }

    /// The record of what has left; the next one begins.
    fn left(&mut self, reached: Reached) -> Left {
        let Tally { boards, clocks, least_us } = std::mem::take(&mut self.tally);
        let least_us = least_us.unwrap_or(0);
        let (plies, result) = (self.plies, self.result.to_owned());
        Left { reached, plies, result, boards, clocks, least_us }
    }

    fn count(&mut self, event: &FeedEvent) {
        match event {
            FeedEvent::Board { .. } => self.tally.boards += 1,
            FeedEvent::Clock(_) => self.tally.clocks += 1,
            FeedEvent::Move { ply, .. } => self.plies = *ply,
            FeedEvent::Undo { n, .. } => self.plies = self.plies.saturating_sub(*n),
            FeedEvent::Setup { .. } => self.plies = 0,
            FeedEvent::Result { result, .. } => self.result = result,
            FeedEvent::Correct { .. }
            | FeedEvent::Completed { .. }
            | FeedEvent::Elapsed { .. }
            | FeedEvent::Status { .. } => {}
        }
    }
}

fn apply(shown: &mut BoardState, step: Step) {
    match step {
        Step::Events(events) => events.iter().for_each(|event| shown.apply(event)),
        Step::Set(state) => *shown = *state,
    }
}
