//! The way of one board to one output.

use super::{
    Completed, Origin, Policy, Score, Shown, Threshold,
    delay::{Moment, Step, Waiting},
};
use crate::publish::{BoardState, FeedEvent};

/// What happened on a board before its lane was there: before the daemon was started again.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// When it could have left, in microseconds of the monotonic clock; below zero before the machine was
    /// started.
    pub at: i64,
    /// When it happened, in the same way. Of a recording, which has a time of its own, `at` is later: what has
    /// not left counts as new.
    pub known: i64,
    /// What it follows from.
    pub origin: Origin,
    /// What happened.
    pub events: Vec<FeedEvent>,
}

/// True where a game begins: a move of it is published, another position is set up or a result is entered. Men that
/// stand on the board and a clock that runs on tell nothing.
pub fn begins(events: &[FeedEvent]) -> bool {
    let tells = |event: &FeedEvent| {
        matches!(event, FeedEvent::Move { .. } | FeedEvent::Setup { .. } | FeedEvent::Result { .. })
    };
    events.iter().any(tells)
}

/// The way of one board to one output, or to several with the same policy.
#[derive(Clone, Debug)]
pub struct Lane {
    policy: Policy,
    filter: Option<Completed>,
    score: Option<Score>,
    waiting: Option<Waiting>,
    tally: Tally,
    /// The plies that have left.
    plies: usize,
    result: &'static str,
    /// When the clock that is shown was heard, before this lane was there.
    heard: Option<i64>,
    /// The latest thing whose effects were shown when this lane was made.
    reached: Origin,
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
    /// Index of the latest event of the board of whose effects something has left.
    pub ev: i64,
    /// When the latest of them that has left became known, in microseconds of the journal; an older version did not
    /// record it.
    pub known_us: Option<u64>,
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
    /// The lane of a board that stood like `start` when the game began, with what happened since; `left` is
    /// what had left of it before the daemon ended, `now` the time. Gives what the output shows,
    /// and the record of what of the score leaves only now.
    pub fn new(
        policy: Policy,
        start: BoardState,
        past: Vec<Past>,
        left: Option<Shown>,
        now: i64,
    ) -> (Lane, BoardState, Option<Left>) {
        let (filter, mut shown) = match policy.threshold {
            Threshold::Made => (None, start),
            Threshold::Completed => {
                let (filter, shown) = Completed::new(start);
                (Some(filter), shown)
            }
        };
        let waiting = (!policy.delay.is_none()).then(|| Waiting::new(policy.delay, shown.clone()));
        let tally = Tally::default();
        let (mut reached, mut scored, mut waits) = (Origin::START, false, false);
        let score = (policy.delay.plies > 0).then(|| Score::new(&shown));
        let mut lane =
            Lane { policy, filter, score, waiting, tally, plies: 0, result: "*", heard: None, reached };
        for Past { at, known, origin, events } in past {
            lane.heed(&events);
            waits |= !left.is_some_and(|left| left.has(origin, &shown));
            let moment = Moment { at, origin, step: Step::Events(lane.filter(events)) };
            match &mut lane.waiting {
                Some(waiting) if waits => waiting.push(moment),
                waiting => {
                    if let Some(waiting) = waiting {
                        waiting.skip(&moment);
                    }
                    reached = origin;
                    scored |= waits && moment.step.changes_score();
                    lane.hear(&moment.step, known);
                    apply(&mut shown, moment.step);
                }
            }
        }
        while let Some(moment) = lane.waiting.as_mut().and_then(|waiting| waiting.pop(now)) {
            reached = moment.origin;
            lane.hear(&moment.step, moment.at);
            let held_us = u64::try_from(now.saturating_sub(moment.at)).unwrap_or(0);
            lane.tally.hold(held_us);
            scored |= moment.step.changes_score();
            apply(&mut shown, moment.step);
        }
        lane.plies = shown.plies.len();
        lane.result = shown.result;
        lane.reached = reached;
        let told = scored.then(|| lane.left(reached));
        (lane, shown, told)
    }

    /// A clock that is shown late runs as it ran then: it was heard when it could leave.
    fn hear(&mut self, step: &Step, at: i64) {
        let Step::Events(events) = step else { return };
        if events.iter().any(|event| matches!(event, FeedEvent::Clock(_))) {
            self.heard = Some(at.saturating_add_unsigned(self.policy.delay.us));
        }
    }

    /// When the clock that is shown was heard, in microseconds of the monotonic clock, where that was before this
    /// lane was there.
    pub const fn heard(&self) -> Option<i64> {
        self.heard
    }

    /// The record that this game is shown now, as it was made; it was held back for this time.
    pub fn begun(&mut self, held_us: u64) -> Left {
        self.tally.hold(held_us);
        self.left(self.reached)
    }

    /// True while something waits.
    pub fn is_waiting(&self) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| !waiting.is_empty())
    }

    /// The board knows of this. It counts for what waits from now on, even where it comes to the output later.
    pub fn heed(&mut self, events: &[FeedEvent]) {
        if let Some(waiting) = &mut self.waiting {
            waiting.heed(events);
        }
    }

    fn filter(&mut self, events: Vec<FeedEvent>) -> Vec<FeedEvent> {
        let events = match &mut self.filter {
            Some(filter) => filter.pass(events),
            None => events,
        };
        match &mut self.score {
            Some(score) => score.pass(events),
            None => events,
        }
    }

    /// What holds for it.
    pub const fn policy(&self) -> Policy {
        self.policy
    }

    /// Takes what happened at `at`, after [`Lane::heed`]; what may leave at once comes back.
    pub fn push(&mut self, at: i64, origin: Origin, events: Vec<FeedEvent>) -> Option<Moment> {
        let events = self.filter(events);
        if events.is_empty() {
            return None;
        }
        let moment = Moment { at, origin, step: Step::Events(events) };
        match &mut self.waiting {
            Some(waiting) => {
                waiting.push(moment);
                None
            }
            None => Some(moment),
        }
    }

    /// The game is no longer on its board: nothing waits for more moves of it. What may leave at `now` by that is put
    /// into `shown`; gives the record of it where the score or the result is concerned.
    pub fn finish(&mut self, shown: &mut BoardState, now: i64) -> Option<Left> {
        self.waiting.as_mut()?.finish();
        let mut told = None;
        while let Some(moment) = self.pop(now) {
            told = self.note(&moment, now).or(told);
            self.hear(&moment.step, moment.at);
            apply(shown, moment.step);
        }
        told
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
        match &moment.step {
            Step::Set(state) => (self.plies, self.result) = (state.plies.len(), state.result),
            Step::Events(events) => events.iter().for_each(|event| self.count(event)),
        }
        moment.step.changes_score().then(|| self.left(moment.origin))
    }

    /// The record of what has left; the next one begins.
    fn left(&mut self, Origin { ev, us }: Origin) -> Left {
        let Tally { boards, clocks, least_us } = std::mem::take(&mut self.tally);
        let least_us = least_us.unwrap_or(0);
        let (plies, result) = (self.plies, self.result.to_owned());
        let known_us = Some(us);
        Left { ev, known_us, plies, result, boards, clocks, least_us }
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
