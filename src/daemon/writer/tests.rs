use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use super::*;
use crate::{
    daemon::outbox::tests::Seen,
    publish::{FeedEvent, release::Origin},
    session::{event::Event, io::Input},
};

/// A disk in memory that can be full.
#[derive(Clone, Default)]
pub(in crate::daemon) struct Disk(Arc<Mutex<Platter>>, Arc<AtomicBool>);

#[derive(Default)]
pub(in crate::daemon) struct Platter {
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
        while self.1.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        let mut disk = self.0.lock().unwrap();
        if disk.full {
            return Err("no space left on device");
        }
        disk.durable = disk.written.len();
        Ok(())
    }
}

impl Disk {
    /// Lets no sync return until it is called with `false`.
    pub(in crate::daemon) fn set_hanging(&self, hanging: bool) {
        self.1.store(hanging, Ordering::Relaxed);
    }

    fn set_full(&self, full: bool) {
        self.0.lock().unwrap().full = full;
    }

    pub(in crate::daemon) fn durable(&self) -> Vec<Entry> {
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
    FeedEvent::Result { result: "1-0", termination: None }
}

/// Waits until something is so; a test that waits in vain fails.
pub(in crate::daemon) fn until(what: &str, so: impl Fn() -> bool) {
    for _ in 0..2000 {
        if so() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("in vain: {what}");
}

pub(in crate::daemon) const NEVER: Duration = Duration::from_secs(3600);

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
    assert!(bench.outbox.offer(1, MonoTime::ZERO, Origin::START, vec![result()]));
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
    bench.outbox.offer(1, MonoTime::ZERO, Origin::START, vec![result()]);
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
    assert_eq!(bench.health.figures().counts.waiting, 0);
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
    until("the backlog", || bench.health.figures().counts.waiting == 0);
    bench.pen().write(entry(ROOM + 9), true);
    bench.finish();
    let durable = bench.disk.durable();
    let last = &durable[durable.len() - 2..];
    assert!(matches!(&last[0].body, Body::Note(text) if text.starts_with("8 records are missing")));
    assert_eq!(last[1], entry(ROOM + 9));
}
