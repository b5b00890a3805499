//! The seam between the board threads and the feeds: the latest state of each board, and a bounded
//! ring of numbered events from which a feed resumes.
//!
//! Board threads call [`Hub::set`] and [`Hub::publish`], which never wait for a feed. A feed takes a
//! [`Subscription`]. One that falls behind by more than [`QUEUE`] batches is told [`Ended::Lagged`]
//! and has to let its client go; the client may come back with the identifier of the last event it
//! has and misses nothing that the ring still holds. What it missed beyond that is replaced by a
//! snapshot.
//!
//! Numbers count what one audience receives, one count for all boards and one for each board, so
//! that a gap tells nothing. An identifier is `<run>-<number>`, of one board `<run>.<board>-<number>`; `<run>` differs
//! from one start of the daemon and from one hub to the next, and an identifier of another run or of
//! another audience gets a snapshot.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use serde::Serialize;
use tokio::sync::{broadcast, watch};

use super::{
    clocks::{Clocks, Shown},
    metrics::Metrics,
    operator::{Desk, Operator},
};
use crate::{
    publish::{BoardState, ClockFace, FeedEvent, PublicClock, release::Step},
    sysclock,
};

mod games;

/// Events that the ring holds.
pub const RING: usize = 4096;
/// Batches of events that a feed may fall behind.
pub const QUEUE: usize = 1024;

/// Board states in, events out. Clones share one hub.
#[derive(Clone, Debug)]
pub struct Hub(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    run: String,
    shared: Mutex<Shared>,
    live: broadcast::Sender<Arc<Batch>>,
    /// A game that is on no board any more has changed.
    past: watch::Sender<()>,
    metrics: Arc<Metrics>,
    operator: Desk,
    clocks: Clocks,
    /// One hub counts what happens; the others only show it later.
    counts: bool,
    /// Hubs that were made beside this one.
    beside: AtomicU64,
}

#[derive(Debug, Default)]
struct Shared {
    boards: Vec<Channel>,
    /// Games that are on no board any more, those of one board in order.
    past: Vec<games::Past>,
    /// Number of the last event for the audience of all boards.
    last: u64,
    ring: VecDeque<Arc<Frame>>,
}

/// One board in the hub.
#[derive(Debug)]
struct Channel {
    state: Arc<BoardState>,
    /// Number of the last event for the audience of this board alone.
    last: u64,
    /// When the score changed last, in microseconds of UTC.
    score_changed_us: u64,
    /// When anything changed last.
    changed_us: u64,
    /// When the first move of the game was shown.
    began_us: Option<u64>,
    /// The game before, as it was shown in the end.
    before: Option<games::Shown>,
    /// The game of the configuration, while the one before it is still shown.
    next: Option<games::Shown>,
    /// Nothing but its end tells the game before from the one of the configuration.
    keep: bool,
}

/// A numbered event.
#[derive(Debug)]
struct Frame {
    board: Arc<str>,
    /// Number for the audience of all boards.
    all: u64,
    /// Number for the audience of this board alone.
    own: u64,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Event(Arc<Happened>),
    /// A new game was put on the board: the states of all boards at that moment.
    Set(Vec<Arc<BoardState>>),
}

/// An event of one board, as all readers share it.
#[derive(Debug)]
pub struct Happened {
    /// The board.
    pub board: Arc<str>,
    /// What happened.
    pub event: FeedEvent,
    json: OnceLock<String>,
}

impl Happened {
    /// As a JSON object with `board`, `type` and the fields of the event. It is written once for all readers.
    pub fn json(&self) -> &str {
        self.json.get_or_init(|| {
            let data = EventData { board: &self.board, event: &self.event };
            serde_json::to_string(&data).unwrap_or_else(|_| "{}".to_owned())
        })
    }
}

#[derive(Serialize)]
struct EventData<'e> {
    board: &'e str,
    #[serde(flatten)]
    event: &'e FeedEvent,
}

/// What one call of [`Hub::set`] or [`Hub::publish`] brought.
#[derive(Debug)]
pub struct Batch {
    /// The board.
    pub board: Arc<str>,
    /// Its state after the batch.
    pub state: Arc<BoardState>,
    /// Grows by every event of every board; orders batches and [`Hub::current`].
    pub version: u64,
    /// True when a new game was put on the board.
    pub reset: bool,
    frames: Vec<Arc<Frame>>,
}

impl Batch {
    /// The events of the batch, in order; none when a new game was put on the board.
    pub fn events(&self) -> impl Iterator<Item = &FeedEvent> {
        self.frames.iter().filter_map(|frame| match &frame.body {
            Body::Event(happened) => Some(&happened.event),
            Body::Set(_) => None,
        })
    }
}

/// Whose events a subscription sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// All boards.
    All,
    /// One board.
    Board(String),
}

/// One thing that a subscription delivers.
#[derive(Clone, Debug)]
pub struct Item {
    /// Identifier from which this audience can resume.
    pub id: String,
    /// What happened.
    pub payload: Payload,
}

/// What an [`Item`] carries.
#[derive(Clone, Debug)]
pub enum Payload {
    /// The states of all boards of the audience; what was known before does not count any more.
    Snapshot(Vec<Arc<BoardState>>),
    /// An event of one board.
    Event(Arc<Happened>),
}

/// Why a subscription ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    /// The reader fell behind by more than [`QUEUE`] batches; this many are lost to it.
    #[error("fell behind by {0} batches")]
    Lagged(u64),
    /// The hub is gone.
    #[error("the daemon is ending")]
    Closed,
}

/// Which of the games that are on no board any more.
#[derive(Debug)]
pub(super) struct Aside(usize);

/// A reader of the hub.
#[derive(Debug)]
pub struct Subscription {
    run: String,
    audience: Audience,
    backlog: VecDeque<Item>,
    live: broadcast::Receiver<Arc<Batch>>,
}

impl Default for Hub {
    fn default() -> Hub {
        Hub::new()
    }
}

impl Hub {
    /// An empty hub with a run identifier of its own.
    pub fn new() -> Hub {
        let mix = sysclock::wall_micros() ^ u64::from(std::process::id()).rotate_left(40);
        Hub::with_run(&base36(mix.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 38))
    }

    /// An empty hub with the given run identifier: letters and digits, different at each start.
    pub fn with_run(run: &str) -> Hub {
        Hub(Arc::new(Inner {
            run: run.to_owned(),
            shared: Mutex::default(),
            live: broadcast::Sender::new(QUEUE),
            past: watch::Sender::new(()),
            metrics: Arc::default(),
            operator: Desk::default(),
            clocks: Clocks::default(),
            counts: true,
            beside: AtomicU64::default(),
        }))
    }

    /// Another hub of this daemon, for outputs that do not show what this one does. Its clients are counted with
    /// those of this one; what happens is counted here.
    #[must_use]
    pub fn beside(&self) -> Hub {
        Hub(Arc::new(Inner {
            run: format!("{}{}", self.0.run, base36(self.0.beside.fetch_add(1, Relaxed) + 10)),
            shared: Mutex::default(),
            live: broadcast::Sender::new(QUEUE),
            past: watch::Sender::new(()),
            metrics: Arc::clone(&self.0.metrics),
            operator: self.0.operator.clone(),
            clocks: Clocks::default(),
            counts: false,
            beside: AtomicU64::default(),
        }))
    }

    /// Puts a board into the hub, or a new game on a board that is there. Boards keep the order in
    /// which they came.
    pub fn set(&self, state: BoardState) {
        self.put(state, None, false);
    }

    /// The same for a board whose clock was heard before the daemon was started, in microseconds of the monotonic
    /// clock.
    pub(super) fn set_as(&self, state: BoardState, heard: Option<i64>) {
        self.put(state, heard, false);
    }

    /// Puts the next game on a board; the one that was shown becomes the one before. Its clock was heard, and its first
    /// move shown, at these times.
    pub(super) fn begin(&self, state: BoardState, heard: Option<i64>, began_us: Option<u64>) {
        let board = state.id.clone();
        self.put(state, heard, true);
        if let Some(us) = began_us {
            self.set_began(&board, us);
        }
    }

    fn put(&self, mut state: BoardState, heard: Option<i64>, begins: bool) {
        let now = sysclock::wall_micros();
        self.0.clocks.set(&state.id, sysclock::monotonic());
        state.clock =
            state.clock.map(|clock| heard.map_or_else(|| heard_now(clock), |at| heard_at(clock, at)));
        let mut shared = self.lock();
        let board: Arc<str> = state.id.as_str().into();
        let state = Arc::new(state);
        let own = match shared.boards.iter_mut().find(|channel| *channel.state.id == *board) {
            Some(channel) => {
                let shown = std::mem::replace(&mut channel.state, Arc::clone(&state));
                channel.last += 1;
                channel.score_changed_us = now;
                channel.changed_us = now;
                let began_us = channel.began_us.take();
                if begins {
                    let shown = games::Shown { state: shown, began_us };
                    (channel.before, channel.next) = (Some(shown), None);
                }
                channel.last
            }
            None => {
                shared.boards.push(Channel {
                    state: Arc::clone(&state),
                    last: 1,
                    score_changed_us: now,
                    changed_us: now,
                    began_us: None,
                    before: None,
                    next: None,
                    keep: false,
                });
                1
            }
        };
        let states = shared.states(&Audience::All);
        let frame = shared.push(&board, own, Body::Set(states));
        let batch = Batch { board, state, version: shared.last, reset: true, frames: vec![frame] };
        let _ = self.0.live.send(Arc::new(batch));
    }

    /// The game that a board had before, and when its first move was shown. With `keep` its score stays until the
    /// present one begins.
    pub(super) fn set_before(&self, state: BoardState, began_us: Option<u64>, keep: bool) {
        let mut shared = self.lock();
        if let Some(channel) = shared.boards.iter_mut().find(|channel| channel.state.id == state.id) {
            let before = games::Shown { state: Arc::new(state), began_us };
            (channel.before, channel.keep) = (Some(before), keep);
        }
    }

    /// The game that is put on a board once the rest of the one before has been shown, and when its first move was.
    pub(super) fn set_next(&self, state: BoardState, began_us: Option<u64>, keep: bool) {
        let mut shared = self.lock();
        if let Some(channel) = shared.boards.iter_mut().find(|channel| channel.state.id == state.id) {
            let next = games::Shown { state: Arc::new(state), began_us };
            (channel.next, channel.keep) = (Some(next), keep);
        }
    }

    /// A game that is on no board any more; `waits` where a rest of it is still to come.
    pub(super) fn set_aside(&self, state: BoardState, began_us: Option<u64>, waits: bool) -> Aside {
        let mut shared = self.lock();
        let changed_us = sysclock::wall_micros();
        shared.past.push(games::Past { state: Arc::new(state), began_us, changed_us, waits });
        self.0.past.send_replace(());
        Aside(shared.past.len() - 1)
    }

    /// More of such a game, at this moment, in microseconds of UTC.
    pub(super) fn publish_aside(&self, Aside(index): &Aside, step: Step, now: u64) {
        if let Some(past) = self.lock().past.get_mut(*index) {
            match step {
                Step::Events(events) => {
                    let state = Arc::make_mut(&mut past.state);
                    events.iter().for_each(|event| state.apply(event));
                    if events.iter().any(|event| matches!(event, FeedEvent::Move { .. })) {
                        past.began_us.get_or_insert(now);
                    }
                }
                Step::Set(state) => past.state = Arc::new(*state),
            }
            past.changed_us = now;
        }
        self.0.past.send_replace(());
    }

    /// Tells when a game that is on no board any more has changed.
    pub(super) fn watch_past(&self) -> watch::Receiver<()> {
        self.0.past.subscribe()
    }

    /// The games of all boards by their rounds: those that are shown, the ones before them, and those that come
    /// next. They stand in the order of the boards; behind them are those of boards that are gone.
    pub(super) fn games(&self) -> Vec<Arc<BoardState>> {
        self.lock().games()
    }

    /// The boards of which the rest of a game before is still to come.
    pub(super) fn unfinished(&self) -> BTreeSet<String> {
        let shared = self.lock();
        let waiting = shared.boards.iter().filter(|channel| channel.next.is_some() && !channel.keep);
        let waiting = waiting.map(|channel| &channel.state);
        let past = shared.past.iter().filter(|past| past.waits).map(|past| &past.state);
        waiting.chain(past).map(|state| state.id.clone()).collect()
    }

    /// The games of the configuration, one for each board: the next one where the one before is still shown.
    pub(super) fn configured(&self) -> Vec<Arc<BoardState>> {
        self.lock().boards.iter().map(|channel| channel.configured().clone()).collect()
    }

    /// The games whose scores are shown, one for each board.
    pub(super) fn scores(&self) -> Vec<Arc<BoardState>> {
        self.lock().boards.iter().map(|channel| channel.score().clone()).collect()
    }

    /// Takes events of a board that is in the hub, in order. The state of the board is brought up to
    /// date here, so that moves which are still on their way to the disk stay out of it while lifts
    /// and clocks already go through.
    pub fn publish(&self, board: &str, events: Vec<FeedEvent>) {
        self.publish_at(board, events, sysclock::wall_micros());
    }

    /// The same at this moment, in microseconds of UTC.
    pub(super) fn publish_at(&self, board: &str, events: Vec<FeedEvent>, now: u64) {
        if events.is_empty() {
            return;
        }
        let mut shared = self.lock();
        let Some(index) = shared.boards.iter().position(|channel| channel.state.id == board) else {
            drop(shared);
            tracing::warn!(board, "events of a board that was never set are dropped");
            return;
        };
        let board: Arc<str> = board.into();
        let mut frames = Vec::with_capacity(events.len());
        for event in events {
            let event = match event {
                FeedEvent::Clock(clock) => FeedEvent::Clock(heard_now(clock)),
                event => event,
            };
            if self.0.counts {
                self.0.metrics.event(&event);
            }
            let Some(channel) = shared.boards.get_mut(index) else { return };
            Arc::make_mut(&mut channel.state).apply(&event);
            if event.changes_score() {
                channel.score_changed_us = now;
            }
            channel.changed_us = now;
            if matches!(event, FeedEvent::Move { .. }) {
                channel.began_us.get_or_insert(now);
            }
            channel.last += 1;
            let own = channel.last;
            let happened = Happened { board: Arc::clone(&board), event, json: OnceLock::new() };
            frames.push(shared.push(&board, own, Body::Event(Arc::new(happened))));
        }
        let Some(state) = shared.boards.get(index).map(|channel| Arc::clone(&channel.state)) else { return };
        let batch = Batch { board, state, version: shared.last, reset: false, frames };
        let _ = self.0.live.send(Arc::new(batch));
    }

    /// The states of all boards, in the order in which the boards came.
    pub fn boards(&self) -> Vec<Arc<BoardState>> {
        self.lock().states(&Audience::All)
    }

    /// The state of one board.
    pub fn board(&self, id: &str) -> Option<Arc<BoardState>> {
        self.current(id).map(|(state, _)| state)
    }

    /// The state of one board with its version: batches up to that version are in it.
    pub fn current(&self, id: &str) -> Option<(Arc<BoardState>, u64)> {
        let shared = self.lock();
        let channel = shared.boards.iter().find(|channel| channel.state.id == id)?;
        Some((Arc::clone(&channel.state), shared.last))
    }

    /// When the score of a board changed last, in microseconds of UTC.
    pub fn score_changed_us(&self, id: &str) -> Option<u64> {
        let shared = self.lock();
        let channel = shared.boards.iter().find(|channel| channel.state.id == id);
        channel.map(|channel| channel.score_changed_us).max(shared.past_changed_us(id))
    }

    /// When anything of a board changed last, in microseconds of UTC.
    pub(super) fn changed_us(&self, id: &str) -> Option<u64> {
        let shared = self.lock();
        let channel = shared.boards.iter().find(|channel| channel.state.id == id);
        channel.map(|channel| channel.changed_us).max(shared.past_changed_us(id))
    }

    /// When the first move of a game was shown, in microseconds of UTC.
    pub(super) fn began_us(&self, state: &BoardState) -> Option<u64> {
        let shared = self.lock();
        let channel = shared.boards.iter().find(|channel| channel.state.id == state.id);
        if let Some(channel) = channel.filter(|channel| *channel.state == *state) {
            return channel.began_us;
        }
        let others = channel.into_iter().flat_map(|channel| channel.before.iter().chain(&channel.next));
        let others = others.map(|game| (&game.state, game.began_us));
        let past = shared.past.iter().map(|past| (&past.state, past.began_us));
        others.chain(past).find(|(known, _)| ***known == *state)?.1
    }

    /// The game on a board began at this time, before the daemon was started.
    pub(super) fn set_began(&self, id: &str, us: u64) {
        let mut shared = self.lock();
        if let Some(channel) = shared.boards.iter_mut().find(|channel| channel.state.id == id) {
            channel.began_us = Some(us);
        }
    }

    /// Subscribes. The first items are what happened after `last_id`, where the ring still holds all
    /// of it, and otherwise a snapshot.
    pub fn subscribe(&self, audience: Audience, last_id: Option<&str>) -> Subscription {
        let shared = self.lock();
        let live = self.0.live.subscribe();
        // An identifier of one audience says nothing to another.
        let run = &match &audience {
            Audience::All => self.0.run.clone(),
            Audience::Board(id) => {
                let index = shared.boards.iter().position(|channel| channel.state.id == *id).unwrap_or(0);
                format!("{}.{index}", self.0.run)
            }
        };
        let backlog = last_id
            .and_then(|id| id.strip_prefix(run.as_str())?.strip_prefix('-')?.parse().ok())
            .and_then(|number| shared.since(&audience, number, run))
            .unwrap_or_else(|| VecDeque::from([shared.snapshot(&audience, run)]));
        drop(shared);
        Subscription { run: run.clone(), audience, backlog, live }
    }

    /// All boards as they stand.
    pub fn snapshot(&self) -> Item {
        self.lock().snapshot(&Audience::All, &self.0.run)
    }

    /// The batches of all boards from now on, for a feed that builds its own messages from states.
    pub fn watch(&self) -> broadcast::Receiver<Arc<Batch>> {
        self.0.live.subscribe()
    }

    /// The clock of a board shows this now. It goes to the screens beside the boards only; spectators get
    /// [`FeedEvent::Clock`].
    pub fn show_clock(&self, board: &str, face: ClockFace) {
        self.0.clocks.show(board, face, sysclock::monotonic());
    }

    /// The clock faces of all boards.
    pub fn clocks(&self) -> Vec<(Arc<str>, Shown)> {
        self.0.clocks.all()
    }

    /// The clock face of a board, now and from now on.
    pub fn watch_clock(&self, board: &str) -> Option<watch::Receiver<Shown>> {
        self.0.clocks.watch(board)
    }

    /// Sets who knows how the daemon is doing, for `/healthz` and `/metrics`.
    pub fn set_operator(&self, operator: Arc<dyn Operator>) {
        self.0.operator.take(operator);
    }

    pub(super) fn operator(&self) -> &Desk {
        &self.0.operator
    }

    /// The counters behind `/metrics`.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.0.metrics
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// When a game of a board changed last that is on it no more.
    fn past_changed_us(&self, id: &str) -> Option<u64> {
        let of_board = self.past.iter().filter(|past| past.state.id == id);
        of_board.map(|past| past.changed_us).max()
    }

    fn push(&mut self, board: &Arc<str>, own: u64, body: Body) -> Arc<Frame> {
        self.last += 1;
        let frame = Arc::new(Frame { board: Arc::clone(board), all: self.last, own, body });
        if self.ring.len() >= RING {
            self.ring.pop_front();
        }
        self.ring.push_back(Arc::clone(&frame));
        frame
    }

    fn states(&self, audience: &Audience) -> Vec<Arc<BoardState>> {
        let states = self.boards.iter().map(|channel| &channel.state);
        states.filter(|state| audience.sees(&state.id)).cloned().collect()
    }

    fn snapshot(&self, audience: &Audience, run: &str) -> Item {
        let payload = Payload::Snapshot(self.states(audience));
        Item { id: format!("{run}-{}", self.last_of(audience)), payload }
    }

    fn last_of(&self, audience: &Audience) -> u64 {
        match audience {
            Audience::All => self.last,
            Audience::Board(id) => {
                self.boards.iter().find(|channel| channel.state.id == *id).map_or(0, |channel| channel.last)
            }
        }
    }

    /// What this audience received after the event `number`, or nothing when the ring does not
    /// hold all of it.
    fn since(&self, audience: &Audience, number: u64, run: &str) -> Option<VecDeque<Item>> {
        let missing = self.last_of(audience).checked_sub(number)?;
        let items: VecDeque<Item> = self
            .ring
            .iter()
            .filter(|frame| audience.sees(&frame.board) && frame.number(audience) > number)
            .map(|frame| frame.item(audience, run))
            .collect();
        (u64::try_from(items.len()).ok()? == missing).then_some(items)
    }
}

impl Audience {
    /// True when this audience receives the events of `board`.
    pub fn sees(&self, board: &str) -> bool {
        match self {
            Audience::All => true,
            Audience::Board(id) => id == board,
        }
    }
}

impl Frame {
    const fn number(&self, audience: &Audience) -> u64 {
        match audience {
            Audience::All => self.all,
            Audience::Board(_) => self.own,
        }
    }

    fn item(&self, audience: &Audience, run: &str) -> Item {
        let payload = match &self.body {
            Body::Event(happened) => Payload::Event(Arc::clone(happened)),
            Body::Set(states) => {
                Payload::Snapshot(states.iter().filter(|state| audience.sees(&state.id)).cloned().collect())
            }
        };
        Item { id: format!("{run}-{}", self.number(audience)), payload }
    }
}

impl Subscription {
    /// The next item. May be dropped and called again without losing one.
    pub async fn next(&mut self) -> Result<Item, Ended> {
        loop {
            if let Some(item) = self.backlog.pop_front() {
                return Ok(item);
            }
            let batch = self.live.recv().await.map_err(|error| match error {
                broadcast::error::RecvError::Lagged(n) => Ended::Lagged(n),
                broadcast::error::RecvError::Closed => Ended::Closed,
            })?;
            let frames = batch.frames.iter().filter(|frame| self.audience.sees(&frame.board));
            self.backlog.extend(frames.map(|frame| frame.item(&self.audience, &self.run)));
        }
    }
}

/// A clock reading with the moment at which it reached the hub. A board stamps it on its own time
/// line, which may be that of a recording, of a simulation or of an earlier start of the machine; a
/// viewer that counts down needs a stamp that compares with the clock of this machine.
fn heard_now(clock: PublicClock) -> PublicClock {
    PublicClock { at_us: sysclock::monotonic().as_micros(), ..clock }
}

/// A clock reading of before the daemon was started. Stamps do not go below the start of the machine: what ran down
/// before is taken off.
fn heard_at(clock: PublicClock, at: i64) -> PublicClock {
    match u64::try_from(at) {
        Ok(at_us) => PublicClock { at_us, ..clock },
        Err(_) => {
            let age_us = at.unsigned_abs();
            let delay_ms = clock.delay_ms.saturating_sub(age_us / 1000);
            let ran = PublicClock { at_us: 0, ..clock }.stopped(age_us);
            PublicClock { running: clock.running, delay_ms, at_us: 0, ..ran }
        }
    }
}

fn base36(mut value: u64) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = u32::try_from(value % 36).unwrap_or(0);
        digits.push(char::from_digit(digit, 36).unwrap_or('0'));
        value /= 36;
        if value == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests;
