//! The outputs of the daemon, each behind its threshold and its delay.
//!
//! Outputs with the same policy share a [`Hub`]. One that stays behind has a hub of its own, which knows nothing
//! that may not be shown yet: whatever is served from it, a state, a file, a tag or a count, is late by itself.
//! The board threads put everything in once, with [`Outputs::publish`]; a task lets out what is due.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    time::sleep,
};

use super::{hub::Hub, serve::ended};
use crate::{
    publish::{
        BoardState, ClockFace, FeedEvent,
        release::{Lane, Left, Moment, Past, Policy, Step, Threshold},
    },
    session::time::MonoTime,
    sysclock,
};

/// One way out of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Output {
    /// Web pages, JSON, server-sent events, PGN over HTTP.
    Http,
    /// The LiveChess-compatible API.
    LiveChess,
    /// PGN files.
    Pgn,
    /// Lines of JSON over TCP.
    Stream,
    /// Pushes to Lichess.
    Lichess,
    /// The boards as DGT boards for other programs.
    DgtEmulation,
    /// Files of LiveChess Cloud.
    Cloud,
}

impl Output {
    /// Its name: its table in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Output::Http => "http",
            Output::LiveChess => "livechess",
            Output::Pgn => "pgn",
            Output::Stream => "stream",
            Output::Lichess => "lichess",
            Output::DgtEmulation => "dgt-emulation",
            Output::Cloud => "cloud",
        }
    }
}

/// Something left for some outputs: what the release log holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// The outputs.
    pub to: Vec<&'static str>,
    /// What left.
    pub left: Left,
    /// When, in microseconds of UTC.
    pub wall_us: u64,
}

/// Keeps the record of what has left for a board.
pub trait ReleaseLog: Debug + Send + Sync {
    /// Takes a record. Must not wait.
    fn released(&self, released: Released);
}

/// All outputs. Clones share them.
#[derive(Clone, Debug)]
pub struct Outputs(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// What is known now, for the operator and the screens at the boards.
    live: Hub,
    groups: Vec<Group>,
    /// Something new waits.
    news: Notify,
}

/// The outputs with one policy.
#[derive(Debug)]
struct Group {
    policy: Policy,
    outputs: Vec<Output>,
    /// Those of them whose releases are recorded here.
    logged: Vec<Output>,
    /// What they show; nothing where it is only recorded what left.
    hub: Option<Hub>,
    lanes: Mutex<Vec<Channel>>,
}

/// One board on its way to a group.
#[derive(Debug)]
struct Channel {
    board: String,
    lane: Lane,
    log: Option<Arc<dyn ReleaseLog>>,
}

/// A board as it comes to the outputs.
#[derive(Debug)]
pub struct Arrival {
    /// The board when its game began.
    pub start: BoardState,
    /// What has happened since.
    pub past: Vec<Past>,
    /// The latest event of the board whose effects each output had shown before the daemon was started again.
    pub left: BTreeMap<String, i64>,
    /// The game that is put on the board now, where the one above was over: what is still held back of that one
    /// leaves first.
    pub next: Option<BoardState>,
    /// Who keeps the record of what leaves.
    pub log: Option<Arc<dyn ReleaseLog>>,
}

impl Arrival {
    /// A game that begins.
    pub fn of(start: BoardState) -> Arrival {
        Arrival { start, past: Vec::new(), left: BTreeMap::new(), next: None, log: None }
    }
}

impl From<Hub> for Outputs {
    /// Nothing stays behind: all outputs take from one hub.
    fn from(hub: Hub) -> Outputs {
        Outputs::build(hub, &[], Threshold::Made)
    }
}

impl Outputs {
    /// The outputs with what holds for each; one that is not named stays behind in nothing. `livechess_moves` is from
    /// when on a move leaves by the list of LiveChess, which keeps it back itself.
    pub fn new(policies: &[(Output, Policy)], livechess_moves: Threshold) -> Outputs {
        Outputs::build(Hub::new(), policies, livechess_moves)
    }

    fn build(live: Hub, policies: &[(Output, Policy)], livechess_moves: Threshold) -> Outputs {
        let group = |policy, hub| Group {
            policy,
            outputs: Vec::new(),
            logged: Vec::new(),
            hub,
            lanes: Mutex::default(),
        };
        let mut groups = vec![group(Policy::default(), Some(live.clone()))];
        for (output, policy) in policies {
            let index = groups.iter().position(|group| group.policy == *policy).unwrap_or_else(|| {
                groups.push(group(*policy, Some(live.beside())));
                groups.len() - 1
            });
            let keeps_back = *output == Output::LiveChess && livechess_moves > policy.threshold;
            if let Some(group) = groups.get_mut(index) {
                group.outputs.push(*output);
                group.logged.extend((!keeps_back).then_some(*output));
            }
        }
        let livechess = policies.iter().find(|(output, _)| *output == Output::LiveChess);
        if let Some((output, policy)) = livechess.filter(|(_, policy)| livechess_moves > policy.threshold) {
            let policy = Policy { threshold: livechess_moves, ..*policy };
            groups.push(Group { logged: vec![*output], ..group(policy, None) });
        }
        Outputs(Arc::new(Inner { live, groups, news: Notify::new() }))
    }

    /// Everything that is public, as soon as it is: for the operator and for the screens at the boards.
    pub fn live(&self) -> &Hub {
        &self.0.live
    }

    /// What an output may show.
    pub fn of(&self, output: Output) -> &Hub {
        let group = self.0.groups.iter().find(|group| group.outputs.contains(&output));
        group.and_then(|group| group.hub.as_ref()).unwrap_or(&self.0.live)
    }

    /// True where an output shows less than is known.
    pub fn is_late(&self, output: Output) -> bool {
        let group = self.0.groups.iter().find(|group| group.outputs.contains(&output));
        group.is_some_and(|group| group.policy != Policy::default())
    }

    /// Puts a board in.
    pub fn set(&self, arrival: Arrival) {
        let now = now();
        let Arrival { start, past, left, next, log } = arrival;
        for group in &self.0.groups {
            // What one of them has not shown, none has.
            let recorded = if group.logged.is_empty() { &group.outputs } else { &group.logged };
            let shown = recorded.iter().map(|output| left.get(output.as_str()).copied().unwrap_or(i64::MIN));
            let shown = shown.min().unwrap_or(i64::MIN);
            let (lane, state, told) = Lane::new(group.policy, start.clone(), past.clone(), shown, now);
            let mut lanes = group.lock();
            lanes.retain(|known| known.board != start.id);
            let mut channel = Channel { board: start.id.clone(), lane, log: log.clone() };
            let moment = next.clone().map(|next| channel.lane.set(now, -1, next));
            match moment {
                Some(Some(moment)) => group.send(&mut channel, moment, now),
                _ => {
                    if let Some(told) = told {
                        group.record(&channel, told);
                    }
                    if let Some(hub) = &group.hub {
                        let board = state.id.clone();
                        hub.set(state);
                        if let Some(us) = began(&past, now) {
                            hub.set_began(&board, us);
                        }
                    }
                }
            }
            lanes.push(channel);
        }
        self.0.news.notify_one();
    }

    /// A board knows of this: what leaves late waits for it from now on, although a part of it may come to
    /// [`Outputs::publish`] later, when its record is on stable storage.
    pub fn heed(&self, board: &str, events: &[FeedEvent]) {
        for group in self.0.groups.iter().filter(|group| !group.policy.delay.is_none()) {
            if let Some(channel) = group.lock().iter_mut().find(|known| known.board == board) {
                channel.lane.heed(events);
            }
        }
    }

    /// Takes what happened on a board, after [`Outputs::heed`]: `at` is when the board knew it, `ev` the event that it follows from.
    pub fn publish(&self, board: &str, at: MonoTime, ev: i64, events: Vec<FeedEvent>) {
        let at = i64::try_from(at.as_micros()).unwrap_or(i64::MAX);
        for group in &self.0.groups {
            group.take(board, at, ev, events.clone());
        }
        if self.0.groups.len() > 1 {
            self.0.news.notify_one();
        }
    }

    /// The clock of a board shows this now; for the screens beside the boards only.
    pub fn show_clock(&self, board: &str, face: ClockFace) {
        self.0.live.show_clock(board, face);
    }

    /// Lets out what is due, until the daemon ends. What is not due then stays back.
    pub(super) async fn run(self, mut ending: watch::Receiver<bool>) {
        loop {
            let now = now();
            let due = self.0.groups.iter().filter_map(|group| group.let_out(now)).min();
            let wait = async {
                match due {
                    Some(due) => sleep(until(due)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = wait => {}
                () = self.0.news.notified() => {}
                () = ended(&mut ending) => return,
            }
        }
    }
}

impl Group {
    fn lock(&self) -> MutexGuard<'_, Vec<Channel>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, board: &str, at: i64, ev: i64, events: Vec<FeedEvent>) {
        let mut lanes = self.lock();
        let Some(channel) = lanes.iter_mut().find(|known| known.board == board) else {
            drop(lanes);
            tracing::warn!(board, "events of a board that was never set are dropped");
            return;
        };
        if let Some(moment) = channel.lane.push(at, ev, events) {
            self.send(channel, moment, now());
        }
    }

    /// Lets out what is due; when to look again.
    fn let_out(&self, now: i64) -> Option<i64> {
        let mut lanes = self.lock();
        let mut next = None;
        for channel in lanes.iter_mut() {
            while let Some(moment) = channel.lane.pop(now) {
                self.send(channel, moment, now);
            }
            next = [next, channel.lane.due()].into_iter().flatten().min();
        }
        next
    }

    /// Called with the lock held, so that what happens on a board leaves in one order.
    fn send(&self, channel: &mut Channel, moment: Moment, now: i64) {
        let left = channel.lane.note(&moment, now);
        match (&self.hub, moment.step) {
            (Some(hub), Step::Events(events)) => hub.publish(&channel.board, events),
            (Some(hub), Step::Set(state)) => hub.set(*state),
            (None, _) => {}
        }
        if let Some(left) = left {
            self.record(channel, left);
        }
    }

    fn record(&self, channel: &Channel, left: Left) {
        if let Some(log) = channel.log.as_ref().filter(|_| !self.logged.is_empty()) {
            let to = self.logged.iter().map(|output| output.as_str()).collect();
            log.released(Released { to, left, wall_us: sysclock::wall_micros() });
        }
    }
}

/// When the first move of a game was made that goes on, in microseconds of UTC.
fn began(past: &[Past], now: i64) -> Option<u64> {
    let is_move = |event: &FeedEvent| matches!(event, FeedEvent::Move { .. });
    let first = past.iter().find(|step| step.events.iter().any(is_move))?;
    let age_us = u64::try_from(now.saturating_sub(first.at)).unwrap_or(0);
    Some(sysclock::wall_micros().saturating_sub(age_us))
}

fn now() -> i64 {
    i64::try_from(sysclock::monotonic().as_micros()).unwrap_or(i64::MAX)
}

/// From now until `due`. The timer of the runtime counts milliseconds and may fire within the one before.
fn until(due: i64) -> Duration {
    let us = u64::try_from(due.saturating_sub(now())).unwrap_or(0);
    Duration::from_micros(us.saturating_add(500))
}
