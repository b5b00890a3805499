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
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::{
        daemon::outbox::tests::Seen,
        publish::FeedEvent,
        session::{event::Event, io::Input},
    };

    /// A disk in memory that can be full.
    #[derive(Clone, Default)]
    struct Disk(Arc<Mutex<Platter>>);

    #[derive(Default)]
    struct Platter {
        written: Vec<Entry>,
        durable: usize,
        full: bool,
    }

    impl Store for Disk {
        type Error = &'static str;

        fn append(&mut self, entry: &Entry) -> Result<(), Self::Error> {
            let mut disk = self.0.lock().unwrap();
            if disk.full {
                return Err("no space left on device");
            }
            disk.written.push(entry.clone());
            Ok(())
        }

        fn sync(&mut self) -> Result<(), Self::Error> {
            let mut disk = self.0.lock().unwrap();
            if disk.full {
                return Err("no space left on device");
            }
            disk.durable = disk.written.len();
            Ok(())
        }
    }

    impl Disk {
        fn set_full(&self, full: bool) {
            self.0.lock().unwrap().full = full;
        }

        fn durable(&self) -> Vec<Entry> {
            let disk = self.0.lock().unwrap();
            disk.written.get(..disk.durable).unwrap_or_default().to_vec()
        }
    }

    struct Bench {
        disk: Disk,
        seen: Seen,
        outbox: Arc<Outbox>,
        health: Arc<BoardHealth>,
        pen: Option<Pen>,
        thread: Option<JoinHandle<()>>,
    }

    fn bench(interval: Duration) -> Bench {
        let (disk, seen) = (Disk::default(), Seen::default());
        let outbox = Arc::new(Outbox::new("1", Box::new(seen.clone())));
        let health = Arc::new(BoardHealth::new("1"));
        let (pen, thread) = start(disk.clone(), outbox.clone(), health.clone(), interval).unwrap();
        Bench { disk, seen, outbox, health, pen: Some(pen), thread: Some(thread) }
    }

    impl Bench {
        fn pen(&mut self) -> &mut Pen {
            self.pen.as_mut().unwrap()
        }

        fn finish(&mut self) {
            self.pen = None;
            self.thread.take().unwrap().join().unwrap();
        }
    }

    fn entry(us: u64) -> Entry {
        Entry { at: MonoTime::from_micros(us), wall_us: 0, body: Body::Input(Input::from(Event::Tick)) }
    }

    fn result() -> FeedEvent {
        FeedEvent::Result { result: "1-0" }
    }

    /// Waits until something is so; a test that waits in vain fails.
    fn until(what: &str, so: impl Fn() -> bool) {
        for _ in 0..2000 {
            if so() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("in vain: {what}");
    }

    const NEVER: Duration = Duration::from_secs(3600);

    #[test]
    fn a_durable_record_is_synced_at_once_with_all_before_it() {
        let mut bench = bench(NEVER);
        bench.pen().write(entry(1), false);
        bench.pen().write(entry(2), true);
        until("the sync", || bench.disk.durable().len() == 2);
        bench.finish();
    }

    #[test]
    fn other_records_are_synced_within_the_interval_and_at_the_end() {
        let mut bench = bench(Duration::from_millis(10));
        bench.pen().write(entry(1), false);
        until("the timer", || bench.disk.durable().len() == 1);
        bench.finish();

        let mut bench = self::bench(NEVER);
        bench.pen().write(entry(1), false);
        bench.finish();
        assert_eq!(bench.disk.durable(), [entry(1)]);
    }

    #[test]
    fn publications_leave_after_the_sync() {
        let mut bench = bench(NEVER);
        assert!(bench.outbox.offer(1, MonoTime::ZERO, vec![result()]));
        bench.pen().write(entry(1), true);
        bench.pen().release(1);
        until("the release", || bench.outbox.waiting_since().is_none());
        assert_eq!(bench.seen.take(), [result()]);
        assert_eq!(bench.disk.durable().len(), 1);
        bench.finish();
    }

    #[test]
    fn a_full_disk_is_flagged_and_nothing_is_lost_when_it_has_room_again() {
        let mut bench = bench(NEVER);
        bench.disk.set_full(true);
        bench.outbox.offer(1, MonoTime::ZERO, vec![result()]);
        bench.pen().write(entry(1), true);
        bench.pen().release(1);
        until("the flag", || bench.health.is_journal_failed());
        until("the game is served on", || bench.outbox.waiting_since().is_none());
        for us in 2..100 {
            bench.pen().write(entry(us), us % 2 == 0);
        }
        assert!(bench.disk.durable().is_empty());
        bench.disk.set_full(false);
        until("the recovery", || bench.disk.durable().len() == 99);
        until("the flag is gone", || !bench.health.is_journal_failed());
        assert_eq!(bench.disk.durable(), (1..100).map(entry).collect::<Vec<_>>());
        assert_eq!(bench.health.figures().waiting, 0);
        bench.finish();
    }

    #[test]
    fn what_finds_no_room_is_counted_and_noted_at_its_place() {
        let mut bench = bench(NEVER);
        bench.disk.set_full(true);
        for us in 0..ROOM + 7 {
            bench.pen().write(entry(us), false);
        }
        assert_eq!(bench.health.lost(), 7);
        bench.pen().write(entry(0), true);
        bench.disk.set_full(false);
        bench.pen().release(0);
        until("the backlog", || bench.health.figures().waiting == 0);
        bench.pen().write(entry(ROOM + 9), true);
        bench.finish();
        let durable = bench.disk.durable();
        let last = &durable[durable.len() - 2..];
        assert!(matches!(&last[0].body, Body::Note(text) if text.starts_with("8 records are missing")));
        assert_eq!(last[1], entry(ROOM + 9));
    }
}
