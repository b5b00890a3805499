//! The system's clock beside the monotonic one: whether UTC can be trusted, and every step that it makes.
//!
//! Nothing in a game depends on it: stamps and deadlines are monotonic. So that the UTC beside them can be judged
//! afterwards, each live board's journal gets `wall` inputs: at the start, when the state of the synchronisation
//! changes, every hour, and for each step.

use std::{
    io,
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    journal::record::rfc3339,
    sensor::{Sink, Stop},
    session::{event::Event, time::MonoTime},
    sysclock,
    time_source::{self, TimeSource, TimeState},
};

/// A change against the monotonic clock that is a step, in microseconds.
const STEP_US: u64 = 500_000;
/// Between two looks at the two clocks.
const LOOK: Duration = Duration::from_millis(1000);
/// Between two questions whether the clock is synchronised, in microseconds.
const ASK_US: u64 = 60_000_000;
/// The state is told again after this long, in microseconds.
const AGAIN_US: u64 = 3_600_000_000;
/// How often the thread looks whether the daemon ends.
const SLICE: Duration = Duration::from_millis(50);

/// The two clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The monotonic clock.
    pub at: MonoTime,
    /// UTC in microseconds since 1970.
    pub wall_us: u64,
}

impl Look {
    /// Now.
    pub fn now() -> Look {
        Look { at: sysclock::monotonic(), wall_us: sysclock::wall_micros() }
    }
}

/// What was seen of the two clocks so far.
#[derive(Clone, Debug, Default)]
pub struct WallWatch {
    last: Option<Look>,
    state: Option<TimeState>,
    told: Option<MonoTime>,
}

impl WallWatch {
    /// Looks at the clocks: the note of a step since the last look, if there was one.
    ///
    /// What is compared is what passed between two looks, so that a clock that is slewed, however far, makes no
    /// step.
    pub fn look(&mut self, now: Look) -> Option<Value> {
        let last = self.last.replace(now)?;
        let expected = last.wall_us.saturating_add(now.at.since(last.at));
        let off = now.wall_us.abs_diff(expected);
        if off < STEP_US {
            return None;
        }
        let ms = i64::try_from(off / 1000).unwrap_or(i64::MAX);
        let mut note = self.note(now);
        if let Some(fields) = note.as_object_mut() {
            fields.insert("step_ms".to_owned(), json!(if now.wall_us < expected { -ms } else { ms }));
            fields.insert("before".to_owned(), json!(rfc3339(expected)));
            fields.insert("after".to_owned(), json!(rfc3339(now.wall_us)));
        }
        Some(note)
    }

    /// Takes the state of the synchronisation: its note, where it is news or was not told for an hour.
    pub fn state(&mut self, now: Look, state: TimeState) -> Option<Value> {
        let same = self.state.as_ref().is_some_and(|known| known.source == state.source);
        let fresh = self.told.is_some_and(|told| now.at.since(told) < AGAIN_US);
        self.state = Some(state);
        if same && fresh {
            return None;
        }
        self.told = Some(now.at);
        Some(self.note(now))
    }

    fn note(&self, now: Look) -> Value {
        let (synchronised, by) = match self.state.as_ref().map(|state| &state.source) {
            Some(TimeSource::Synchronised(by)) => (Some(true), Some(*by)),
            Some(TimeSource::Free(by)) => (Some(false), Some(*by)),
            Some(TimeSource::Unknown(_)) | None => (None, None),
        };
        let error_us = self.state.as_ref().and_then(|state| state.error_us);
        json!({"utc": rfc3339(now.wall_us), "synchronised": synchronised, "by": by, "error_us": error_us})
    }
}

/// Starts the thread that looks after the system's clock for these boards. It ends when `stop` is set, or when no
/// board is left.
pub fn start(boards: Vec<Sink>, stop: Stop) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("wall clock".to_owned()).spawn(move || watch(&boards, &stop))
}

fn watch(boards: &[Sink], stop: &Stop) {
    let mut watch = WallWatch::default();
    let mut ask = MonoTime::ZERO;
    while !stop.is_set() {
        let now = Look::now();
        let step = watch.look(now);
        if let Some(step) = &step {
            tracing::warn!(
                "the clock of the system was set: {step}; the times of the games do not depend on it"
            );
        }
        if !tell(boards, now.at, step) {
            return;
        }
        if now.at >= ask {
            ask = now.at.plus_micros(ASK_US);
            let state = time_source::estimate();
            // To ask may have taken a while.
            let now = Look::now();
            if !tell(boards, now.at, watch.state(now, state)) {
                return;
            }
        }
        rest(stop);
    }
}

/// Hands a note to every board; false when none is left.
fn tell(boards: &[Sink], at: MonoTime, note: Option<Value>) -> bool {
    let Some(note) = note else { return true };
    let told = boards.iter().filter(|board| board.send(at, Event::Wall(note.clone())).is_ok());
    told.count() > 0
}

fn rest(stop: &Stop) {
    let end = sysclock::monotonic().plus_micros(u64::try_from(LOOK.as_micros()).unwrap_or(u64::MAX));
    while !stop.is_set() && sysclock::monotonic() < end {
        thread::sleep(SLICE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-29 00:59:50 UTC, ten seconds before the clocks of Europe are put forward.
    const BEFORE_DST: u64 = 1_774_745_990_000_000;

    fn look(at_us: u64, wall_us: u64) -> Look {
        Look { at: MonoTime::from_micros(at_us), wall_us }
    }

    fn state(source: TimeSource, error_us: Option<u64>) -> TimeState {
        TimeState { source, error_us }
    }

    #[test]
    fn a_clock_that_keeps_time_says_nothing() {
        let mut watch = WallWatch::default();
        for second in 0..30 {
            // UTC knows no summer time.
            let wall_us = BEFORE_DST + second * 1_000_000;
            assert_eq!(watch.look(look(5_000_000 + second * 1_000_000, wall_us)), None);
        }
    }

    #[test]
    fn a_clock_that_is_slewed_makes_no_step() {
        let mut watch = WallWatch::default();
        for second in 0..10_000 {
            // 500 ppm, far more than any clock is off, for hours.
            let note = watch.look(look(second * 1_000_000, BEFORE_DST + second * 1_000_500));
            assert_eq!(note, None);
        }
    }

    #[test]
    fn every_step_is_told_once_with_before_and_after() {
        let mut watch = WallWatch::default();
        assert_eq!(watch.look(look(1_000_000, BEFORE_DST)), None);
        let hour = watch.look(look(2_000_000, BEFORE_DST + 3_601_000_000)).unwrap();
        assert_eq!(hour["step_ms"], 3_600_000);
        assert_eq!(hour["before"], "2026-03-29T00:59:51.000000Z");
        assert_eq!(hour["after"], "2026-03-29T01:59:51.000000Z");
        assert_eq!(watch.look(look(3_000_000, BEFORE_DST + 3_602_000_000)), None);
        // A leap second that is repeated.
        let leap = watch.look(look(4_000_000, BEFORE_DST + 3_602_000_000)).unwrap();
        assert_eq!(leap["step_ms"], -1000);
        let back = watch.look(look(5_000_000, 0)).unwrap();
        assert_eq!(back["after"], "1970-01-01T00:00:00.000000Z");
    }

    #[test]
    fn the_state_is_told_when_it_is_news_and_every_hour() {
        let mut watch = WallWatch::default();
        let free = state(TimeSource::Free("timedatectl"), None);
        let good = state(TimeSource::Synchronised("chrony"), Some(7_623));
        let first = watch.state(look(0, BEFORE_DST), free.clone()).unwrap();
        assert_eq!((&first["synchronised"], &first["by"]), (&json!(false), &json!("timedatectl")));
        assert_eq!(watch.state(look(60_000_000, BEFORE_DST), free), None);
        let second = watch.state(look(120_000_000, BEFORE_DST), good.clone()).unwrap();
        assert_eq!((&second["synchronised"], &second["error_us"]), (&json!(true), &json!(7_623)));
        let other = state(TimeSource::Synchronised("chrony"), Some(9_000));
        assert_eq!(
            watch.state(look(180_000_000, BEFORE_DST), other),
            None,
            "the estimate moves all the time"
        );
        assert!(watch.state(look(120_000_000 + AGAIN_US, BEFORE_DST), good).is_some());
        let unknown = state(TimeSource::Unknown("no timedatectl".to_owned()), None);
        let none = watch.state(look(130_000_000 + AGAIN_US, BEFORE_DST), unknown).unwrap();
        assert_eq!(none["synchronised"], Value::Null);
    }
}
