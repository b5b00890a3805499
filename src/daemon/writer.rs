//! The journal writer: one thread per board, because an SD card may stall for seconds.
//!
//! It takes records in order and commits them in groups: at once when a record must be durable (a
//! press, a move, a result, an advisory), within the sync interval otherwise. After the sync it
//! releases the publications that waited for it.
//!
//! When the disk is full, read-only or broken, the daemon goes on: the trouble is flagged
//! (`journal: failed`), publications are no longer held back, the records stay in memory and the
//! writer tries again with a growing pause. When [`ROOM`] records wait, further ones are dropped
//! and counted; the journal then says with a note how many are missing, and where.

use std::{
    collections::VecDeque,
    fmt::Display,
    io,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{health::BoardHealth, log, outbox::Outbox};
use crate::{
    journal::{Body, Entry},
    session::time::MonoTime,
    sysclock,
};

/// How many records may wait for the disk: several games' worth, some 20 MiB.
pub const ROOM: u64 = 65_536;

/// Longest time between a record and its way to stable storage while nothing forces it.
pub const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// A sync that takes longer than this counts as a failure until it returns.
pub const STALL: Duration = Duration::from_secs(5);

/// Records that are written before the writer looks at its timer again.
const GROUP: usize = 1024;

const FIRST_PAUSE_MS: u64 = 250;
const LONGEST_PAUSE_MS: u64 = 10_000;

/// What the writer writes to.
pub trait Store: Send {
    /// What can go wrong.
    type Error: Display;
    /// Adds a record. After an error the record is not part of the journal.
    fn append(&mut self, entry: &Entry) -> Result<(), Self::Error>;
    /// Brings everything to stable storage.
    fn sync(&mut self) -> Result<(), Self::Error>;
}

enum Job {
    Record { entry: Entry, durable: bool },
    Release(u64),
}

/// The board thread's end of the writer.
pub struct Pen {
    jobs: Sender<Job>,
    health: Arc<BoardHealth>,
    /// Records that were dropped since the last one that found room.
    dropped: u64,
}

impl Pen {
    /// Hands over a record; `durable` asks for a sync as soon as it is written. Never waits.
    pub fn write(&mut self, entry: Entry, durable: bool) {
        if !self.health.take_room(ROOM) {
            self.dropped += 1;
            return;
        }
        if self.dropped > 0 && self.health.take_room(ROOM) {
            let text = format!(
                "{} records are missing here: the journal could not be written and no more could wait",
                self.dropped
            );
            self.dropped = 0;
            self.send(Entry { at: entry.at, wall_us: entry.wall_us, body: Body::Note(text) }, true);
        }
        self.send(entry, durable);
    }

    fn send(&self, entry: Entry, durable: bool) {
        // The writer ends after its pen only; should it be gone, nothing can wait for it.
        if self.jobs.send(Job::Record { entry, durable }).is_err() {
            self.health.give_room();
        }
    }

    /// Asks for the release of a step's publications once everything before is durable.
    pub fn release(&self, step: u64) {
        let _ = self.jobs.send(Job::Release(step));
    }
}

/// Starts the writer thread of a board. It ends, with everything written that can be, when the
/// [`Pen`] is dropped.
pub fn start<S: Store + 'static>(
    store: S,
    outbox: Arc<Outbox>,
    health: Arc<BoardHealth>,
    interval: Duration,
) -> io::Result<(Pen, JoinHandle<()>)> {
    let (jobs, receiver) = mpsc::channel();
    let pen = Pen { jobs, health: health.clone(), dropped: 0 };
    let handle = thread::Builder::new().name(format!("journal {}", health.id())).spawn(move || {
        let _span = log::board_span(health.id()).entered();
        Writer::new(store, outbox, health, interval).run(&receiver);
    })?;
    Ok((pen, handle))
}

struct Writer<S> {
    store: S,
    outbox: Arc<Outbox>,
    health: Arc<BoardHealth>,
    interval_us: u64,
    /// Records that could not be written yet, the oldest first.
    backlog: VecDeque<Entry>,
    /// When the oldest record that is not on stable storage was written.
    dirty_since: Option<MonoTime>,
    /// A record that must be durable has been written since the last sync.
    urgent: bool,
    /// The last step whose publications may go after the next sync.
    step: Option<u64>,
    failure: Option<Failure>,
}

struct Failure {
    again_at: MonoTime,
    pause_ms: u64,
}

impl<S: Store> Writer<S> {
    fn new(store: S, outbox: Arc<Outbox>, health: Arc<BoardHealth>, interval: Duration) -> Writer<S> {
        Writer {
            store,
            outbox,
            health,
            interval_us: u64::try_from(interval.as_micros()).unwrap_or(u64::MAX),
            backlog: VecDeque::new(),
            dirty_since: None,
            urgent: false,
            step: None,
            failure: None,
        }
    }

    fn run(&mut self, jobs: &Receiver<Job>) {
        loop {
            let open = self.take_group(jobs);
            if !open {
                self.last_commit();
                return;
            }
            let now = sysclock::monotonic();
            if self.is_due(now) {
                self.commit(now);
            }
        }
    }

    /// Waits for a job or for the timer, then takes what else is there. False when all pens are gone.
    fn take_group(&mut self, jobs: &Receiver<Job>) -> bool {
        let first = match self.next_turn() {
            None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => {
                let wait = at.since(sysclock::monotonic());
                jobs.recv_timeout(Duration::from_micros(wait))
            }
        };
        match first {
            Ok(job) => self.take(job),
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
        for _ in 1..GROUP {
            match jobs.try_recv() {
                Ok(job) => self.take(job),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
        true
    }

    fn take(&mut self, job: Job) {
        match job {
            Job::Release(step) => self.step = Some(step),
            Job::Record { entry, durable } => {
                self.urgent |= durable;
                self.dirty_since.get_or_insert_with(sysclock::monotonic);
                self.backlog.push_back(entry);
                if self.failure.is_none() {
                    // A failure has planned the next try.
                    let _ = self.write_backlog();
                }
            }
        }
    }

    /// When the writer has to do something of its own accord.
    fn next_turn(&self) -> Option<MonoTime> {
        match &self.failure {
            Some(failure) => Some(failure.again_at),
            None => self.dirty_since.map(|since| since.plus_micros(self.interval_us)),
        }
    }

    fn is_due(&self, now: MonoTime) -> bool {
        let timer = self.next_turn().is_some_and(|at| at <= now);
        timer || (self.failure.is_none() && (self.urgent || self.step.is_some()))
    }

    /// Writes what waits and brings it to stable storage, then lets the publications go.
    fn commit(&mut self, now: MonoTime) {
        let Ok(()) = self.write_backlog() else { return };
        if self.dirty_since.is_some() {
            if let Err(error) = self.store.sync() {
                self.fail(now, &error.to_string());
                return;
            }
            self.health.count_sync();
        }
        self.dirty_since = None;
        self.urgent = false;
        self.failure = None;
        if self.health.set_journal(None) {
            tracing::warn!("the journal is whole again: everything that waited is written");
            self.outbox.hold();
        }
        if let Some(step) = self.step.take() {
            self.outbox.release(step);
        }
    }

    fn write_backlog(&mut self) -> Result<(), ()> {
        while let Some(entry) = self.backlog.front() {
            if let Err(error) = self.store.append(entry) {
                self.fail(sysclock::monotonic(), &error.to_string());
                return Err(());
            }
            self.backlog.pop_front();
            self.health.count_record();
        }
        Ok(())
    }

    /// Flags the trouble, lets the publications go and plans the next try.
    fn fail(&mut self, now: MonoTime, trouble: &str) {
        let pause_ms = match &self.failure {
            None => FIRST_PAUSE_MS,
            Some(failure) => failure.pause_ms.saturating_mul(2).min(LONGEST_PAUSE_MS),
        };
        self.failure = Some(Failure { again_at: now.plus_ms(pause_ms), pause_ms });
        if self.health.set_journal(Some(trouble)) {
            tracing::error!("{trouble}; the game is served on, moves leave before they are recorded");
        }
        self.outbox.stop_holding();
    }

    /// The end: one more try, whatever happened before.
    fn last_commit(&mut self) {
        self.commit(sysclock::monotonic());
        if let Some(waiting) = self.failure.as_ref().map(|_| self.backlog.len()) {
            tracing::error!("the last records could not be written ({waiting} are lost, or more)");
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
