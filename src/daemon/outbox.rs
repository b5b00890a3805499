//! What leaves a board, and when: the physical board and the clock at once, moves and results once
//! their records are on stable storage.
//!
//! The board thread [offers](Outbox::offer) what each step led to, the writer thread
//! [releases](Outbox::release) it after the sync.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    feed::Outputs,
    publish::{ClockFace, FeedEvent, release::Origin},
    session::time::MonoTime,
};

/// Where publications go.
pub trait Audience: Send + Sync {
    /// Takes the events of one moment: `at` is when the board knew them, `origin` what they follow from.
    fn publish(&self, board: &str, at: MonoTime, origin: Origin, events: Vec<FeedEvent>);

    /// The clock at a board shows this now.
    fn show_clock(&self, board: &str, face: ClockFace);
}

impl Audience for Outputs {
    fn publish(&self, board: &str, at: MonoTime, origin: Origin, events: Vec<FeedEvent>) {
        Outputs::publish(self, board, at, origin, events);
    }

    fn show_clock(&self, board: &str, face: ClockFace) {
        Outputs::show_clock(self, board, face);
    }
}

/// The publications of one board on their way out.
pub struct Outbox {
    board: String,
    audience: Box<dyn Audience>,
    inner: Mutex<Inner>,
}

struct Inner {
    held: VecDeque<Held>,
    answers: VecDeque<Waiting>,
    /// False while the journal is failed: nothing is held back then.
    holding: bool,
}

/// An answer to a person in charge. It takes its content with it: nothing of it passes through the audience.
pub type Reply = Box<dyn FnOnce() + Send>;

/// An answer that waits for its records.
struct Waiting {
    step: u64,
    since: MonoTime,
    reply: Reply,
}

/// A publication that waits for its records.
struct Held {
    step: u64,
    since: MonoTime,
    origin: Origin,
    events: Vec<FeedEvent>,
}

impl Outbox {
    /// An outbox in front of the audience of a board.
    pub fn new(board: &str, audience: Box<dyn Audience>) -> Outbox {
        let inner = Mutex::new(Inner { held: VecDeque::new(), answers: VecDeque::new(), holding: true });
        Outbox { board: board.to_owned(), audience, inner }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the clock on the screens beside the board. It waits for nothing.
    pub fn show_clock(&self, face: ClockFace) {
        self.audience.show_clock(&self.board, face);
    }

    /// Takes what one step of the session led to; `now` is the time of the clock, `origin` what it follows
    /// from. True when a part waits for [`Outbox::release`] of this step.
    ///
    /// A status never overtakes a move or a result: `ended` would tell of it.
    pub fn offer(&self, step: u64, now: MonoTime, origin: Origin, events: Vec<FeedEvent>) -> bool {
        let mut inner = self.lock();
        let waits = inner.holding && (!inner.held.is_empty() || !events.iter().all(FeedEvent::is_immediate));
        let (at_once, waiting): (Vec<_>, Vec<_>) = events.into_iter().partition(|event| {
            !waits || (event.is_immediate() && !matches!(event, FeedEvent::Status { .. }))
        });
        self.send(now, origin, at_once);
        if waiting.is_empty() {
            return false;
        }
        inner.held.push_back(Held { step, since: now, origin, events: waiting });
        true
    }

    /// Takes the answer to what a person in charge has entered: he hears that it is recorded once it is.
    /// True when it waits for [`Outbox::release`] of this step.
    pub fn answer(&self, step: u64, now: MonoTime, reply: Reply) -> bool {
        let mut inner = self.lock();
        if !inner.holding {
            reply();
            return false;
        }
        inner.answers.push_back(Waiting { step, since: now, reply });
        true
    }

    /// Everything up to and including `step` is on stable storage: lets it go.
    pub fn release(&self, step: u64) {
        let mut inner = self.lock();
        while let Some(held) = inner.held.pop_front_if(|held| held.step <= step) {
            self.send(held.since, held.origin, held.events);
        }
        // Who gets an answer sees its effect on the feeds.
        while let Some(waiting) = inner.answers.pop_front_if(|waiting| waiting.step <= step) {
            (waiting.reply)();
        }
    }

    /// The journal is failed: what waits leaves now, and nothing is held until [`Outbox::hold`].
    /// A spectator must not lose the game to a broken card.
    pub fn stop_holding(&self) {
        let mut inner = self.lock();
        inner.holding = false;
        for held in std::mem::take(&mut inner.held) {
            self.send(held.since, held.origin, held.events);
        }
        std::mem::take(&mut inner.answers).into_iter().for_each(|waiting| (waiting.reply)());
    }

    /// The journal is whole again.
    pub fn hold(&self) {
        self.lock().holding = true;
    }

    /// Since when the first of the waiting publications waits.
    pub fn waiting_since(&self) -> Option<MonoTime> {
        let inner = self.lock();
        let publication = inner.held.front().map(|held| held.since);
        publication.into_iter().chain(inner.answers.front().map(|waiting| waiting.since)).min()
    }

    /// Called with the lock held, so that events leave in one order.
    fn send(&self, at: MonoTime, origin: Origin, events: Vec<FeedEvent>) {
        if !events.is_empty() {
            self.audience.publish(&self.board, at, origin, events);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;

    /// An audience that remembers.
    #[derive(Clone, Default)]
    pub(in crate::daemon) struct Seen(Arc<Mutex<Vec<(Origin, FeedEvent)>>>);

    impl Audience for Seen {
        fn publish(&self, _board: &str, _at: MonoTime, origin: Origin, events: Vec<FeedEvent>) {
            self.0.lock().unwrap().extend(events.into_iter().map(|event| (origin, event)));
        }

        fn show_clock(&self, _board: &str, _face: ClockFace) {}
    }

    impl Seen {
        pub(in crate::daemon) fn look(&self, is: impl Fn(&FeedEvent) -> bool) -> bool {
            self.0.lock().unwrap().iter().any(|(_, event)| is(event))
        }

        pub(in crate::daemon) fn take(&self) -> Vec<FeedEvent> {
            self.take_dated().into_iter().map(|(_, event)| event).collect()
        }

        /// What was published, with what it follows from.
        pub(in crate::daemon) fn take_dated(&self) -> Vec<(Origin, FeedEvent)> {
            std::mem::take(&mut self.0.lock().unwrap())
        }
    }

    fn board(board: &str) -> FeedEvent {
        FeedEvent::Board { board: board.into() }
    }

    fn result() -> FeedEvent {
        FeedEvent::Result { result: "1-0", termination: None }
    }

    fn status(status: &'static str) -> FeedEvent {
        FeedEvent::Status { status, connected: true }
    }

    fn outbox() -> (Outbox, Seen) {
        let seen = Seen::default();
        (Outbox::new("1", Box::new(seen.clone())), seen)
    }

    #[test]
    fn a_move_waits_and_the_board_does_not() {
        let (outbox, seen) = outbox();
        let now = MonoTime::from_micros(5);
        assert!(outbox.offer(1, now, Origin::START, vec![board("one"), result()]));
        assert!(!outbox.offer(2, now, Origin::START, vec![board("two")]));
        assert_eq!(seen.take(), [board("one"), board("two")]);
        assert_eq!(outbox.waiting_since(), Some(now));
        outbox.release(0);
        assert!(seen.take().is_empty());
        outbox.release(1);
        assert_eq!(seen.take(), [result()]);
        assert_eq!(outbox.waiting_since(), None);
    }

    #[test]
    fn an_answer_waits_for_its_record_and_not_for_a_broken_disk() {
        let (outbox, _) = outbox();
        let (sender, answers) = std::sync::mpsc::channel();
        let reply = |number: u64| -> Reply {
            let sender = sender.clone();
            Box::new(move || sender.send(number).unwrap())
        };
        assert!(outbox.answer(3, MonoTime::from_micros(9), reply(3)));
        outbox.release(2);
        assert_eq!(outbox.waiting_since(), Some(MonoTime::from_micros(9)));
        assert!(answers.try_recv().is_err());
        outbox.release(3);
        assert_eq!(answers.try_recv(), Ok(3));
        assert!(outbox.answer(4, MonoTime::ZERO, reply(4)));
        outbox.stop_holding();
        assert!(!outbox.answer(5, MonoTime::ZERO, reply(5)));
        assert_eq!(answers.try_iter().collect::<Vec<_>>(), [4, 5]);
    }

    #[test]
    fn a_status_does_not_overtake_a_result() {
        let (outbox, seen) = outbox();
        assert!(!outbox.offer(1, MonoTime::ZERO, Origin::START, vec![status("playing")]));
        assert_eq!(seen.take(), [status("playing")]);
        assert!(outbox.offer(2, MonoTime::ZERO, Origin::START, vec![result(), status("ended")]));
        assert!(outbox.offer(3, MonoTime::ZERO, Origin::START, vec![status("paused")]));
        assert!(seen.take().is_empty());
        outbox.release(3);
        assert_eq!(seen.take(), [result(), status("ended"), status("paused")]);
    }

    #[test]
    fn a_failed_journal_holds_nothing_back() {
        let (outbox, seen) = outbox();
        outbox.offer(1, MonoTime::ZERO, Origin::START, vec![result()]);
        outbox.stop_holding();
        assert_eq!(seen.take(), [result()]);
        assert!(!outbox.offer(2, MonoTime::ZERO, Origin::START, vec![board("two"), result()]));
        assert_eq!(seen.take(), [board("two"), result()]);
        outbox.hold();
        assert!(outbox.offer(3, MonoTime::ZERO, Origin::START, vec![result()]));
        assert!(seen.take().is_empty());
    }
}
