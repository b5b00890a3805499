//! The thread of a source: opens it, reads it, and tries again when the device is missing.

use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{
    health::{BoardHealth, SourceHealth},
    log,
};
use crate::{
    sensor::{Sink, Source, SourceError, Stop},
    session::event::{Event, Unit},
    sysclock,
};

/// Opens a source; called again after each failure.
pub type Open = Box<dyn FnMut() -> Result<Box<dyn Source>, SourceError> + Send>;

const FIRST_PAUSE_MS: u64 = 1_000;
/// Between two attempts to open a device that is missing: it is read soon after it comes.
const OPEN_PAUSE_MS: u64 = 1_000;
/// Between two attempts to read one that can be opened and is no good.
const LONGEST_PAUSE_MS: u64 = 30_000;

/// A source that was read for as long as this starts again with the first pause.
const GOOD_RUN_MS: u64 = 60_000;

/// How often a pause looks whether the daemon ends.
const SLICE: Duration = Duration::from_millis(50);

/// Starts the thread of a source: of the only board, or of one of two. It ends when `stop` is set, when a
/// recording is over and when a recording cannot be read; a device is tried again for ever.
pub fn start(
    open: Open,
    sink: Sink,
    stop: Stop,
    health: Arc<BoardHealth>,
    unit: Unit,
) -> io::Result<JoinHandle<()>> {
    let name = match health.source(unit).unit() {
        None => health.id().to_owned(),
        Some(unit) => format!("{} {}", health.id(), unit.as_str()),
    };
    thread::Builder::new().name(format!("source {name}")).spawn(move || {
        let _span = log::board_span(&name).entered();
        supervise(open, &sink.of(unit), &stop, health.source(unit));
    })
}

fn supervise(mut open: Open, sink: &Sink, stop: &Stop, health: &SourceHealth) {
    let mut pause_ms = FIRST_PAUSE_MS;
    while !stop.is_set() {
        let began = sysclock::monotonic();
        let opened = open();
        let missing = opened.is_err();
        let error = match opened.and_then(|source| read(source, sink, stop)) {
            Ok(()) if stop.is_set() => return,
            Ok(()) => {
                tracing::info!("there is nothing more to read; the board is served on");
                return;
            }
            Err(SourceError::Closed) => return,
            Err(error) => error,
        };
        let trouble = error.to_string();
        let news = health.set_trouble(Some(&trouble));
        if matches!(error, SourceError::Log { .. }) {
            tracing::error!("{trouble}; what was read before it stands, the board is served on");
            return;
        }
        if news {
            tracing::error!("{trouble}; it is tried again until it works");
            if sink.send(sysclock::monotonic(), Event::Link(false)).is_err() {
                return;
            }
        }
        if sysclock::monotonic().since(began) >= GOOD_RUN_MS * 1000 {
            pause_ms = FIRST_PAUSE_MS;
        }
        if missing {
            rest(OPEN_PAUSE_MS, stop);
            continue;
        }
        rest(pause_ms, stop);
        pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
    }
}

fn read(source: Box<dyn Source>, sink: &Sink, stop: &Stop) -> Result<(), SourceError> {
    tracing::debug!("reading {}", source.name());
    source.run(sink, stop)
}

fn rest(ms: u64, stop: &Stop) {
    let end = sysclock::monotonic().plus_ms(ms);
    while !stop.is_set() && sysclock::monotonic() < end {
        thread::sleep(SLICE);
    }
}
