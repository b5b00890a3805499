//! Pushes all boards of this daemon to one round of a Lichess broadcast.
//!
//! Lichess matches the games of a push with those it knows by their order and their first moves, so that every push
//! carries all of them, in the order of the configuration, from the first push to the last. What happens while a
//! push is under way goes with the next one. After an outage, a crash or a restart the first push tells how things
//! stand; nothing else has to be made up for.

mod answer;
mod bearer;
mod body;
mod client;
mod pace;
mod race;
mod status;
mod transport;

use std::{fmt, sync::Arc, time::Duration};

use tokio::{
    sync::{
        broadcast::{
            Receiver,
            error::{RecvError, TryRecvError},
        },
        watch,
    },
    time::sleep,
};

use self::{
    answer::{Verdict, judge},
    client::Client,
    pace::Pace,
    status::{Cause, Sent},
    transport::Transport,
};
pub use self::{
    bearer::{Bearer, NoToken},
    body::{MOST_BYTES, MOST_GAMES},
    pace::Timing,
    status::Status,
    transport::{TlsError, Trust},
};
use super::{
    hub::{Batch, Hub},
    pgn::AfterSetUp,
    serve::ended,
};
use crate::{publish::BoardState, sysclock};

/// Where the server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Under TLS: `https`.
    pub tls: bool,
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl Server {
    /// The host, and the port where it is not the usual one, as HTTP wants it.
    fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let usual = if self.tls { 443 } else { 80 };
        if self.port == usual { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority())
    }
}

/// What is pushed where.
#[derive(Clone, Debug)]
pub struct Push {
    round: String,
    server: Server,
    token: Bearer,
    transport: Transport,
    in_minutes: bool,
    after: AfterSetUp,
    timing: Timing,
}

impl Push {
    /// Pushes into `round` of `server`.
    ///
    /// # Errors
    /// The server wants TLS, which cannot be set up.
    pub fn new(round: &str, server: Server, token: Bearer, trust: &Trust) -> Result<Push, TlsError> {
        let transport = if server.tls { Transport::tls(trust)? } else { Transport::Plain };
        let round = round.to_owned();
        Ok(Push {
            round,
            server,
            token,
            transport,
            in_minutes: false,
            after: AfterSetUp::default(),
            timing: Timing::default(),
        })
    }

    /// The tags have `TimeControl` in minutes already.
    #[must_use]
    pub fn in_minutes(self, in_minutes: bool) -> Push {
        Push { in_minutes, ..self }
    }

    /// How a game is told that goes on from another position.
    #[must_use]
    pub fn after_set_up(self, after: AfterSetUp) -> Push {
        Push { after, ..self }
    }

    /// With these times.
    #[must_use]
    pub fn timed(self, timing: Timing) -> Push {
        Push { timing, ..self }
    }

    /// The state of the pushes, to begin with.
    pub(super) fn status(&self) -> Arc<Status> {
        Arc::new(Status::new(&self.round, &self.server.to_string()))
    }
}

/// Pushes at every change of a score until the daemon ends, and once more then where all went well.
pub(super) async fn push_until(push: Push, hub: Hub, status: Arc<Status>, mut ending: watch::Receiver<bool>) {
    let mut live = hub.watch();
    tracing::info!("Lichess: all boards are pushed into round {} of {}", push.round, push.server);
    for board in hub.unfinished() {
        tracing::warn!(
            board,
            "Lichess: the rest of the game before waits for its delay and is not pushed: the configuration names the \
             round of the next game. It goes into the files"
        );
    }
    let mut pusher = Pusher::new(push, hub, status);
    loop {
        // In this order: what was published before the end began is seen below.
        let last = *ending.borrow();
        pusher.stale |= concerned(&mut live);
        let wait = pusher.turn(last).await;
        if last {
            return;
        }
        let again = async {
            match wait {
                Some(wait) => sleep(wait).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = changed(&mut live) => pusher.stale = true,
            () = again => {}
            () = ended(&mut ending) => {}
        }
    }
}

fn concerns(batch: &Batch) -> bool {
    batch.reset || batch.events().any(crate::publish::FeedEvent::changes_score)
}

/// Takes what waits; true where it changes a score, or may have.
fn concerned(live: &mut Receiver<Arc<Batch>>) -> bool {
    let mut concerned = false;
    loop {
        match live.try_recv() {
            Ok(batch) => concerned |= concerns(&batch),
            Err(TryRecvError::Lagged(_)) => concerned = true,
            Err(TryRecvError::Empty | TryRecvError::Closed) => return concerned,
        }
    }
}

/// Waits for a change of a score.
async fn changed(live: &mut Receiver<Arc<Batch>>) {
    loop {
        match live.recv().await {
            Ok(batch) if !concerns(&batch) => {}
            Ok(_) | Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

struct Pusher {
    hub: Hub,
    status: Arc<Status>,
    round: String,
    in_minutes: bool,
    after: AfterSetUp,
    client: Client,
    token: Bearer,
    pace: Pace,
    /// What the server took last.
    taken: Option<String>,
    /// The score may have changed since.
    stale: bool,
}

impl Pusher {
    fn new(push: Push, hub: Hub, status: Arc<Status>) -> Pusher {
        let seed = sysclock::wall_micros() ^ u64::from(std::process::id()).rotate_left(40);
        let pace = Pace::new(push.timing, seed);
        let (round, in_minutes, after) = (push.round.clone(), push.in_minutes, push.after);
        let (client, token) = Client::new(push);
        Pusher { hub, status, round, in_minutes, after, client, token, pace, taken: None, stale: true }
    }

    /// Pushes if there is something to push and it is time; how long to wait before the next attempt, if one is due.
    async fn turn(&mut self, last: bool) -> Option<Duration> {
        if !self.stale {
            return None;
        }
        let wait = self.pace.wait(sysclock::monotonic());
        let fine = self.pace.failures() == 0;
        if !(wait.is_zero() || last && fine) {
            return Some(wait);
        }
        let boards = self.hub.configured();
        if boards.is_empty() {
            return None;
        }
        self.stale = false;
        let text = match body::body(boards.iter().map(AsRef::as_ref), self.in_minutes, self.after) {
            Ok(text) => text,
            Err(error) => {
                self.status.refused(error.cause(), error.to_string());
                return None;
            }
        };
        if self.taken.as_ref() == Some(&text) {
            return None;
        }
        let sent: Vec<Sent> = boards.iter().map(|state| sent_of(state)).collect();
        self.stale = !self.push(text, &sent).await;
        self.stale.then(|| self.pace.wait(sysclock::monotonic()))
    }

    /// True where the games were taken.
    async fn push(&mut self, text: String, sent: &[Sent]) -> bool {
        let began = sysclock::monotonic();
        self.status.tried(sysclock::wall_micros());
        let answer = self.client.push(text.clone()).await;
        let now = sysclock::monotonic();
        let answer = match answer {
            Ok(answer) => answer,
            Err(failure) => {
                self.pace.failed(now, None);
                self.status.failed(None, failure.to_string());
                return false;
            }
        };
        let unix = i64::try_from(sysclock::wall_micros() / 1_000_000).unwrap_or(i64::MAX);
        let clean = |text: &str| self.token.taken_out_of(text);
        match judge(&answer, &self.round, sent.len(), unix, clean) {
            Verdict::Taken(games) => {
                self.pace.succeeded(began);
                self.status.taken(sysclock::wall_micros(), text.len(), sent, &games);
                self.taken = Some(text);
                return true;
            }
            Verdict::Later { reason, after } => {
                self.pace.failed(now, after);
                self.status.failed(Some(answer.status), reason);
            }
            Verdict::Refused { reason, after } => {
                self.pace.refused(now, after);
                self.status.refused(Cause::Answer(answer.status), reason);
            }
        }
        false
    }
}

fn sent_of(state: &BoardState) -> Sent {
    Sent { board: state.id.clone(), plies: state.plies.len(), named: body::names_players(state) }
}
