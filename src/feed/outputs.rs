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

use super::{
    hub::{Aside, Hub},
    serve::ended,
};
use crate::{
    publish::{
        BoardState, ClockFace, FeedEvent,
        release::{Lane, Left, Moment, Origin, Past, Policy, Shown, Step, Threshold},
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
    /// It belongs to the game before the one that is recorded.
    pub before: bool,
    /// The outputs stay behind: after a power cut nothing but this record tells what they have shown.
    pub late: bool,
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
    lanes: Mutex<Lanes>,
}

#[derive(Debug, Default)]
struct Lanes {
    boards: Vec<Channel>,
    /// Games that are no longer on their boards, and of which something waits.
    aside: Vec<(Lane, Aside)>,
}

/// One board on its way to a group.
#[derive(Debug)]
struct Channel {
    board: String,
    lane: Lane,
    log: Option<Arc<dyn ReleaseLog>>,
    /// The game that is recorded, while what leaves belongs to the one before.
    next: Option<Box<Next>>,
}

/// A game that is put on a board once the rest of the one before has left.
#[derive(Debug)]
struct Next {
    lane: Lane,
    /// What is shown of it then.
    state: BoardState,
    began_us: Option<u64>,
    /// When it came to the board, in microseconds of the monotonic clock.
    at: i64,
    /// Not before.
    due: i64,
}

impl Channel {
    /// The lane of the game that is recorded.
    fn recorded(&mut self) -> &mut Lane {
        match &mut self.next {
            Some(next) => &mut next.lane,
            None => &mut self.lane,
        }
    }

    /// When something is to leave next.
    fn due(&self) -> Option<i64> {
        let turn = self.next.as_ref().filter(|_| !self.lane.is_waiting()).map(|next| next.due);
        self.lane.due().or(turn)
    }
}

/// A game as it comes to the outputs.
#[derive(Clone, Debug)]
pub struct Story {
    /// The board when the game began.
    pub start: BoardState,
    /// What has happened since.
    pub past: Vec<Past>,
    /// What each output had shown before the daemon was started again.
    pub left: BTreeMap<String, Shown>,
    /// Another game was on the board since: it comes back, and the outputs have to turn to it once more.
    pub returns: bool,
}

/// A board as it comes to the outputs.
#[derive(Debug)]
pub struct Arrival {
    /// The games before, the latest last: what is still held back of that one leaves first. The rest of the others
    /// goes into the files of their rounds.
    pub before: Vec<Story>,
    /// Its game.
    pub game: Story,
    /// Nothing but its end tells the game before from this one: its score stays until this one begins.
    pub keep: bool,
    /// Who keeps the record of what leaves.
    pub log: Option<Arc<dyn ReleaseLog>>,
}

impl Story {
    /// A game that begins.
    pub fn of(start: BoardState) -> Story {
        Story { start, past: Vec::new(), left: BTreeMap::new(), returns: false }
    }
}

impl Arrival {
    /// A game that begins.
    pub fn of(start: BoardState) -> Arrival {
        Arrival { before: Vec::new(), game: Story::of(start), keep: false, log: None }
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
        for group in &self.0.groups {
            group.arrive(&arrival, now);
        }
        self.0.news.notify_one();
    }

    /// Puts a game in whose board is gone: what is still held back of it goes into the files of its round.
    pub fn set_aside(&self, game: Story) {
        let now = now();
        for group in &self.0.groups {
            group.set_aside(&mut group.lock(), &game, now);
        }
        self.0.news.notify_one();
    }

    /// Takes what happened on a board: `at` is when the board knew it, `origin` what it follows from.
    pub fn publish(&self, board: &str, at: MonoTime, origin: Origin, events: Vec<FeedEvent>) {
        let at = i64::try_from(at.as_micros()).unwrap_or(i64::MAX);
        for group in &self.0.groups {
            group.take(board, at, origin, events.clone());
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
    /// The outputs whose records tell what was shown here.
    fn recorded(&self) -> &[Output] {
        if self.logged.is_empty() { &self.outputs } else { &self.logged }
    }

    /// What the outputs have shown of a game: what one of them has not, none has.
    fn left(&self, story: &Story) -> Option<Shown> {
        let left = self.recorded().iter().map(|output| story.left.get(output.as_str()).copied());
        left.min_by_key(|shown| shown.map(|shown| shown.reached())).flatten()
    }

    /// True where every output has turned to this game.
    fn has_turned_to(&self, story: &Story) -> bool {
        let recorded = self.recorded();
        !recorded.is_empty() && recorded.iter().all(|output| story.left.contains_key(output.as_str()))
    }

    /// When the first move of a game was shown, or made where nobody recorded that, in microseconds of UTC.
    fn began(&self, story: &Story, now: i64) -> Option<u64> {
        let shown = self.recorded().iter().filter_map(|output| story.left.get(output.as_str())?.began_us);
        shown.min().or_else(|| {
            let is_move = |event: &FeedEvent| matches!(event, FeedEvent::Move { .. });
            let first = story.past.iter().find(|step| step.events.iter().any(is_move))?;
            let age_us = u64::try_from(now.saturating_sub(first.known)).unwrap_or(0);
            Some(sysclock::wall_micros().saturating_sub(age_us))
        })
    }

    /// The lane of a game, what is shown of it, and the record of what leaves only now.
    fn lane_of(&self, story: &Story, left: Option<Shown>, now: i64) -> (Lane, BoardState, Option<Left>) {
        Lane::new(self.policy, story.start.clone(), story.past.clone(), left, now)
    }

    fn arrive(&self, arrival: &Arrival, now: i64) {
        let Arrival { before, game, keep, log } = arrival;
        let (before, earlier) =
            before.split_last().map_or((None, &[][..]), |(last, rest)| (Some(last), rest));
        let board = game.start.id.clone();
        let mut lanes = self.lock();
        lanes.boards.retain(|known| known.board != board);
        earlier.iter().for_each(|story| self.set_aside(&mut lanes, story, now));
        let channel = |lane| Channel { board: board.clone(), lane, log: log.clone(), next: None };
        let mut over = None;
        let turns = game.returns || !self.has_turned_to(game);
        if let Some(story) = before.filter(|_| turns) {
            let (mut lane, mut state, told) = self.lane_of(story, self.left(story), now);
            let told = lane.finish(&mut state, now).or(told);
            let mut channel = channel(lane);
            channel.next = Some(Box::new(self.next(game, now)));
            if let Some(told) = told {
                self.record(&channel, told, None);
            }
            if channel.lane.is_waiting() {
                self.show(state, &channel.lane, self.began(story, now));
                if let (Some(hub), Some(next)) = (&self.hub, &channel.next) {
                    hub.set_next(next.state.clone(), next.began_us, *keep);
                }
                lanes.boards.push(channel);
                return;
            }
            over = Some(state);
        }
        let (lane, state, told) = self.lane_of(game, self.left(game), now);
        let mut channel = channel(lane);
        let turned = (over.is_some() || game.returns).then(|| channel.lane.begun(0));
        if let Some(told) = told.or(turned) {
            self.record(&channel, told, None);
        }
        self.show(state, &channel.lane, self.began(game, now));
        if let (Some(hub), Some(story)) = (&self.hub, before) {
            let over = over.unwrap_or_else(|| self.lane_of(story, Some(Shown::ALL), now).1);
            hub.set_before(over, self.began(story, now), *keep);
        }
        lanes.boards.push(channel);
    }

    /// A game behind what waits of the one before.
    fn next(&self, game: &Story, now: i64) -> Next {
        let at = game.past.first().map_or(now, |step| step.at.min(now));
        let (lane, state, _) = self.lane_of(game, self.left(game), now);
        let due = at.saturating_add_unsigned(self.policy.delay.us);
        Next { lane, state, began_us: self.began(game, now), at, due }
    }

    /// A game that is no longer on its board. It has nothing to do with what comes to the outputs now: what had left
    /// goes by the times at which it happened.
    fn set_aside(&self, lanes: &mut Lanes, story: &Story, now: i64) {
        let Some(hub) = &self.hub else { return };
        let past = story.past.iter().map(|step| Past { at: step.known, ..step.clone() }).collect();
        let (mut lane, mut state, _) =
            Lane::new(self.policy, story.start.clone(), past, self.left(story), now);
        let _ = lane.finish(&mut state, now);
        let aside = hub.set_aside(state, self.began(story, now), lane.is_waiting());
        if lane.is_waiting() {
            lanes.aside.push((lane, aside));
        }
    }

    /// Puts a board in as a lane shows it.
    fn show(&self, state: BoardState, lane: &Lane, began_us: Option<u64>) {
        let Some(hub) = &self.hub else { return };
        let board = state.id.clone();
        hub.set_as(state, lane.heard());
        if let Some(us) = began_us {
            hub.set_began(&board, us);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, board: &str, at: i64, origin: Origin, events: Vec<FeedEvent>) {
        let mut lanes = self.lock();
        let Some(channel) = lanes.boards.iter_mut().find(|known| known.board == board) else {
            drop(lanes);
            tracing::warn!(board, "events of a board that was never set are dropped");
            return;
        };
        // What waits for moves waits for moves that are recorded: a power cut takes none of them back.
        channel.recorded().heed(&events);
        if let Some(moment) = channel.recorded().push(at, origin, events) {
            self.send(channel, moment, now());
        }
    }

    /// Lets out what is due; when to look again.
    fn let_out(&self, now: i64) -> Option<i64> {
        let mut lanes = self.lock();
        let mut next = None;
        for channel in &mut lanes.boards {
            loop {
                while let Some(moment) = channel.lane.pop(now) {
                    self.send(channel, moment, now);
                }
                let waits = channel.lane.is_waiting();
                let Some(game) = channel.next.take_if(|next| !waits && next.due <= now) else { break };
                self.turn(channel, *game, now);
            }
            next = [next, channel.due()].into_iter().flatten().min();
        }
        lanes.aside.retain_mut(|(lane, aside)| {
            while let Some(moment) = lane.pop(now) {
                if let Some(hub) = &self.hub {
                    hub.publish_aside(aside, moment.step, sysclock::wall_micros());
                }
            }
            next = [next, lane.due()].into_iter().flatten().min();
            lane.is_waiting()
        });
        next
    }

    /// The rest of the game before has left: the next one is put on the board.
    fn turn(&self, channel: &mut Channel, game: Next, now: i64) {
        let Next { lane, state, began_us, at, .. } = game;
        let held_us = u64::try_from(now.saturating_sub(at)).unwrap_or(0);
        channel.lane = lane;
        if let Some(hub) = &self.hub {
            hub.begin(state, channel.lane.heard(), began_us);
        }
        let left = channel.lane.begun(held_us);
        self.record(channel, left, None);
    }

    /// Called with the lock held, so that what happens on a board leaves in one order.
    fn send(&self, channel: &mut Channel, moment: Moment, now: i64) {
        let left = channel.lane.note(&moment, now);
        let wall_us = sysclock::wall_micros();
        match (&self.hub, moment.step) {
            (Some(hub), Step::Events(events)) => hub.publish_at(&channel.board, events, wall_us),
            (Some(hub), Step::Set(state)) => hub.set(*state),
            (None, _) => {}
        }
        if let Some(left) = left {
            self.record(channel, left, Some(wall_us));
        }
    }

    fn record(&self, channel: &Channel, left: Left, wall_us: Option<u64>) {
        if let Some(log) = channel.log.as_ref().filter(|_| !self.logged.is_empty()) {
            let to = self.logged.iter().map(|output| output.as_str()).collect();
            let wall_us = wall_us.unwrap_or_else(sysclock::wall_micros);
            let late = !self.policy.delay.is_none();
            log.released(Released { to, left, wall_us, before: channel.next.is_some(), late });
        }
    }
}

fn now() -> i64 {
    i64::try_from(sysclock::monotonic().as_micros()).unwrap_or(i64::MAX)
}

/// From now until `due`. The timer of the runtime counts milliseconds and may fire within the one before.
fn until(due: i64) -> Duration {
    let us = u64::try_from(due.saturating_sub(now())).unwrap_or(0);
    Duration::from_micros(us.saturating_add(500))
}
