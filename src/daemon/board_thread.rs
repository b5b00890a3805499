//! The thread of one board: readings in, deadlines on time, until the daemon ends.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{engine::Engine, health::BoardHealth, ledger::Ledger, log, outbox::Outbox};
use crate::{
    desk::{Answer, Call, Line, Wants},
    sensor::{Reading, Stop, Timeline},
    session::time::MonoTime,
    sysclock,
};

/// Readings that may wait between the sources and the board thread.
pub const QUEUE: usize = 256;

/// The thread looks around at least this often, for the watchdog and for the end of the daemon.
const TURN: Duration = Duration::from_millis(1000);

/// How long a deadline of a live board waits for readings that were stamped before it and are
/// still on their way: ten times what they need on an idle machine. It fires at its own time all the
/// same. A contact that has settled is shown this much late.
const GRACE_US: u64 = 1_000;

/// While this program keeps a running clock, something is recorded at least this often: after a power cut no
/// more of a player's time is given back.
const TIME_RECORD: Duration = Duration::from_secs(5);

/// What a board thread needs beside its engine.
pub struct Wiring {
    /// The readings of all sources of the board.
    pub readings: Receiver<Reading>,
    /// What their stamps mean.
    pub timeline: Timeline,
    /// Added to every stamp, so that the times of a resumed journal go on; in microseconds.
    pub offset_us: u64,
    /// Set when the daemon ends.
    pub stop: Stop,
    /// What waits for the writer.
    pub outbox: Arc<Outbox>,
    /// Where the thread tells that it advances.
    pub health: Arc<BoardHealth>,
    /// How long a publication waits for the disk before the journal counts as failed.
    pub stall: Duration,
    /// Where the arbiter speaks, if he has a desk.
    pub line: Option<Arc<Line>>,
    /// What has left and is to be recorded.
    pub ledger: Arc<Ledger>,
}

/// Starts the thread. It ends when `stop` is set and what was read before is taken, or when all
/// senders are gone.
pub fn start(mut engine: Engine, wiring: Wiring) -> io::Result<JoinHandle<()>> {
    let name = format!("board {}", wiring.health.id());
    thread::Builder::new().name(name).spawn(move || {
        let _span = log::board_span(wiring.health.id()).entered();
        wiring.run(&mut engine);
        if let Some(line) = &wiring.line {
            line.hang_up();
        }
        wiring.health.end();
    })
}

impl Wiring {
    fn run(&self, engine: &mut Engine) {
        // The time of a recording: where its source has come to.
        let mut reached = engine.last();
        loop {
            self.health.advance(sysclock::monotonic());
            match self.readings.recv_timeout(self.patience(engine)) {
                Ok(reading) => {
                    for reading in self.in_order(reading) {
                        reached = reached.max(self.take(engine, reading));
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if let Some(now) = self.now() {
                engine.advance(MonoTime::from_micros(now.as_micros().saturating_sub(GRACE_US)));
                engine.record_time(now, TIME_RECORD);
            }
            self.serve_desk(engine, &mut reached);
            engine.record_releases(self.ledger.take());
            if self.stop.is_set() {
                for reading in by_time(self.readings.try_iter().collect()) {
                    self.take(engine, reading);
                }
                if let Some(now) = self.now() {
                    engine.record_time(now, Duration::ZERO);
                }
                engine.record_releases(self.ledger.take());
                return;
            }
            self.watch_the_disk();
        }
    }

    /// The reading that came and, at a live board, all that wait behind it, in the order of their stamps: two
    /// sources send what they stamp as soon as they can, and either may be overtaken.
    fn in_order(&self, first: Reading) -> Vec<Reading> {
        match self.timeline {
            Timeline::Live => {
                by_time(std::iter::once(first).chain(self.readings.try_iter().take(QUEUE)).collect())
            }
            Timeline::Scaled { .. } | Timeline::AsFastAsPossible => vec![first],
        }
    }

    /// Takes a reading; gives its time.
    fn take(&self, engine: &mut Engine, reading: Reading) -> MonoTime {
        let at = reading.at.plus_micros(self.offset_us);
        match reading.input {
            Some(input) => {
                tracing::trace!(?input, "reading");
                engine.input(at, input);
            }
            None => engine.advance(at),
        }
        at
    }

    /// Answers what is asked and takes what is said at the desk. Readings of a live board that were made
    /// before come first.
    fn serve_desk(&self, engine: &mut Engine, reached: &mut MonoTime) {
        let Some(line) = &self.line else { return };
        while let Some(Call { wants, answer }) = line.take() {
            if self.now().is_some() {
                for reading in self.readings.try_iter().take(QUEUE) {
                    *reached = (*reached).max(self.take(engine, reading));
                }
            }
            match wants {
                Wants::Look => {
                    let now = self.now().unwrap_or(*reached);
                    drop(answer.send(Answer::View(Box::new(engine.look(now)))));
                }
                Wants::Say(event) => {
                    let at = self.now().unwrap_or(*reached);
                    // Who asked may have gone; what he said counts all the same.
                    engine.hear(at, event, move |facts| drop(answer.send(Answer::Facts(facts))));
                }
            }
        }
    }

    /// The time of the journal, where the clock tells it.
    fn now(&self) -> Option<MonoTime> {
        match self.timeline {
            Timeline::Live => Some(sysclock::monotonic().plus_micros(self.offset_us)),
            Timeline::Scaled { .. } | Timeline::AsFastAsPossible => None,
        }
    }

    /// How long to wait for a reading: until the next deadline, and never longer than [`TURN`].
    fn patience(&self, engine: &Engine) -> Duration {
        let Some((now, deadline)) = self.now().zip(engine.deadline()) else { return TURN };
        Duration::from_micros(deadline.plus_micros(GRACE_US).since(now)).min(TURN)
    }

    /// A disk that does not answer at all cannot be flagged by the writer, which waits for it.
    fn watch_the_disk(&self) {
        let Some(since) = self.outbox.waiting_since() else { return };
        let waited_us = sysclock::monotonic().since(since);
        if u128::from(waited_us) < self.stall.as_micros() {
            return;
        }
        if self.health.set_journal(Some("the disk does not answer")) {
            tracing::error!(
                "the journal's disk has not answered for {} s; the game is served on, moves leave before \
                 they are recorded",
                waited_us / 1_000_000
            );
        }
        self.outbox.stop_holding();
    }
}

/// Readings by their stamps; those of one time as they came.
fn by_time(mut readings: Vec<Reading>) -> Vec<Reading> {
    readings.sort_by_key(|reading| reading.at);
    readings
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{SyncSender, sync_channel};

    use shakmaty::Square;

    use super::*;
    use crate::{
        daemon::{
            outbox::tests::Seen,
            writer::{
                self,
                tests::{Disk, NEVER, until},
            },
        },
        game::Board,
        publish::{FeedEvent, Publisher, Tags},
        session::{event::Event, setup::GameSetup},
    };

    /// A live board thread whose records go to `disk`.
    struct Bench {
        seen: Seen,
        health: Arc<BoardHealth>,
        sender: SyncSender<Reading>,
        line: Arc<Line>,
        threads: [JoinHandle<()>; 2],
    }

    fn bench(disk: Disk) -> Bench {
        let seen = Seen::default();
        let outbox = Arc::new(Outbox::new("1", Box::new(seen.clone())));
        let health = Arc::new(BoardHealth::new("1"));
        let (pen, writer) = writer::start(disk, outbox.clone(), health.clone(), NEVER).unwrap();
        let setup = GameSetup::default();
        let board = Board::new(&setup).unwrap();
        let publisher = Publisher::new("1", &setup, Tags::default(), board.session());
        let records = Arc::<crate::desk::Records>::default();
        let engine =
            Engine::new(board, publisher, pen, outbox.clone(), health.clone(), sysclock::monotonic())
                .with_records(Some(records.clone()));
        let (sender, readings) = sync_channel(QUEUE);
        // Without a wake-up the thread looks at each of its turns.
        let line = Arc::new(Line::new("1", records, || {}));
        let wiring = Wiring {
            readings,
            timeline: Timeline::Live,
            offset_us: 0,
            stop: Stop::default(),
            outbox,
            health: health.clone(),
            stall: Duration::from_millis(200),
            line: Some(line.clone()),
            ledger: Arc::new(Ledger::new(|| {})),
        };
        Bench { seen, health, sender, line, threads: [start(engine, wiring).unwrap(), writer] }
    }

    impl Bench {
        fn play_e4(&self) {
            for (square, occupied) in [(Square::E2, false), (Square::E4, true)] {
                let input = Some(Event::Square { square, occupied }.into());
                self.sender.send(Reading { at: sysclock::monotonic(), input }).unwrap();
            }
        }

        fn shows_e4(&self) -> bool {
            self.seen.look(|event| matches!(event, FeedEvent::Move { played, .. } if played.uci == "e2e4"))
        }

        fn end(self) {
            drop(self.sender);
            for thread in self.threads {
                thread.join().unwrap();
            }
        }
    }

    #[test]
    fn a_deadline_of_a_live_board_fires_while_nothing_is_read() {
        let bench = bench(Disk::default());
        bench.play_e4();
        until("the move is made after the dwell time, without a press", || bench.shows_e4());
        assert!(bench.health.is_alive(sysclock::monotonic(), Duration::from_secs(60)));
        bench.end();
    }

    #[test]
    fn what_is_said_at_the_desk_of_a_live_board_comes_after_what_was_read_before() {
        let disk = Disk::default();
        let bench = bench(disk.clone());
        bench.play_e4();
        let answer = bench.line.call(Wants::Say(Event::Arbiter("freeze".into()))).unwrap();
        let Ok(Answer::Facts(facts)) = answer.blocking_recv() else { panic!("expected facts") };
        let told = serde_json::to_value(&facts).unwrap();
        assert_eq!((&told[0]["fact"], &told[1]["fact"]), (&"arbiter_entry".into(), &"snapshot".into()));
        let inputs: Vec<_> = disk
            .durable()
            .into_iter()
            .filter_map(|entry| match entry.body {
                crate::journal::Body::Input(crate::session::io::Input::Event(_, event)) => Some(event),
                _ => None,
            })
            .collect();
        assert!(matches!(
            inputs.as_slice(),
            [Event::Square { .. }, Event::Square { .. }, Event::Device(_), Event::Arbiter(_)]
        ));
        let seen = bench.line.call(Wants::Look).unwrap();
        let Ok(Answer::View(view)) = seen.blocking_recv() else { panic!("expected the board") };
        assert_eq!((view.id.as_str(), view.result, view.embargo), ("1", "*", false));
        let line = Arc::clone(&bench.line);
        bench.end();
        assert_eq!(line.call(Wants::Look).unwrap_err(), crate::desk::Unheard::Ended);
    }

    #[test]
    fn what_waits_of_two_sources_is_taken_by_its_stamps() {
        let reading = |us, unit| Reading {
            at: MonoTime::from_micros(us),
            input: Some(crate::session::io::Input::Event(unit, Event::Tick)),
        };
        use crate::session::event::Unit::{A, B};
        let waiting = vec![reading(7, B), reading(5, A), reading(7, A), reading(6, B)];
        let taken = vec![reading(5, A), reading(6, B), reading(7, B), reading(7, A)];
        assert_eq!(by_time(waiting), taken);
    }

    #[test]
    fn a_disk_that_does_not_answer_does_not_stop_the_feed() {
        let disk = Disk::default();
        disk.set_hanging(true);
        let bench = bench(disk.clone());
        bench.play_e4();
        until("the flag", || bench.health.is_journal_failed());
        until("the move", || bench.shows_e4());
        disk.set_hanging(false);
        until("the disk answers again", || !bench.health.is_journal_failed());
        assert!(!disk.durable().is_empty());
        bench.end();
    }
}
