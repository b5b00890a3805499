//! Sources: threads that read a board and stamp what they read.
//!
//! # Time lines
//! Every reading carries a stamp on the source's own time line, and the board thread is driven by
//! these stamps. [`Source::timeline`] says what they are:
//!
//! * [`Timeline::Live`]: hardware. A stamp is `CLOCK_MONOTONIC` at the moment of reading, so the
//!   board thread may fire a deadline as soon as its own clock has passed it.
//! * [`Timeline::Scaled`]: a recording or a simulation that is delivered `speed` times as fast as
//!   it happened. Stamps keep the spacing of what happened, to the microsecond, whatever the
//!   speed: a bounce of 1 ms is 1 ms at speed 1000, so that debouncing and dwell times come out
//!   the same. `CLOCK_MONOTONIC` says nothing about such stamps.
//! * [`Timeline::AsFastAsPossible`]: the same without any waiting.
//!
//! On the last two the source tells where its time is while nothing happens: [`Sink::progress`]
//! sends a [`Reading`] without an input. It is no input of the game and is not journaled; it only
//! lets deadlines fire. No reading that follows is stamped earlier. At the end of a recording the
//! source lets [`TAIL_US`] pass in the same way, so that every deadline of the last event fires.

pub mod matrix;
mod pacer;
pub mod sensor_log;
pub mod simulated;

pub mod dgt;
pub mod peg;
pub mod serial;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc::SyncSender,
};

pub use crate::pace::{Pace, Speed};
use crate::session::{event::Unit, io::Input, time::MonoTime};

/// Time that passes after the last event of a recording or a simulation, in microseconds of its own
/// time line: longer than any deadline of a session (`publish.extend_ms` is at most 60 s).
pub const TAIL_US: u64 = 61_000_000;

/// What a source hands to the board thread: an input and the time at which it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// When it was read, on the time line of the source.
    pub at: MonoTime,
    /// What was read; `None` when only time has passed (see [`Sink::progress`]).
    pub input: Option<Input>,
}

/// What the stamps of a source mean. See the top of this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeline {
    /// `CLOCK_MONOTONIC` at the moment of reading.
    Live,
    /// The time of a recording or a simulation, delivered at a multiple of its speed.
    Scaled {
        /// The multiple.
        speed: Speed,
    },
    /// The time of a recording, delivered without waiting.
    AsFastAsPossible,
}

impl Timeline {
    /// The time line of a recording that is delivered at this pace.
    pub const fn of(pace: Pace) -> Timeline {
        match pace {
            Pace::At(speed) => Timeline::Scaled { speed },
            Pace::AsFastAsPossible => Timeline::AsFastAsPossible,
        }
    }
}

/// Tells a source to end.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks for the end.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True once the end was asked for. A source looks at least every 100 ms.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The way from a source to its board thread: bounded, in order.
#[derive(Clone, Debug)]
pub struct Sink {
    sender: SyncSender<Reading>,
    /// Everything is of the second of two boards.
    second: bool,
}

/// Why a source ended.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The board thread is gone: the daemon is ending.
    #[error("the daemon is ending")]
    Closed,
    /// The device cannot be used and waiting will not help.
    #[error("{what}: {reason}; {remedy}")]
    Device {
        /// Which device.
        what: String,
        /// What is wrong.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// A line of a sensor log cannot be read.
    #[error("{file}, line {line}: {reason}")]
    Log {
        /// The file, or `standard input`.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
}

impl Sink {
    /// A sink that feeds the receiver of `sender`.
    pub fn new(sender: SyncSender<Reading>) -> Sink {
        Sink { sender, second: false }
    }

    /// The sink of the source of this one of two boards: what it hands over is of that board.
    #[must_use]
    pub fn of(self, unit: Unit) -> Sink {
        Sink { second: unit == Unit::B, ..self }
    }

    /// Hands over one reading; waits while the board thread is busy.
    pub fn send(&self, at: MonoTime, input: impl Into<Input>) -> Result<(), SourceError> {
        let input = input.into();
        let input = if self.second { input.of_second() } else { input };
        self.sender.send(Reading { at, input: Some(input) }).map_err(|_| SourceError::Closed)
    }

    /// Tells that the time of a scaled source has come to `at` and that nothing earlier follows.
    pub fn progress(&self, at: MonoTime) -> Result<(), SourceError> {
        self.sender.send(Reading { at, input: None }).map_err(|_| SourceError::Closed)
    }
}

/// A board that can be read. `run` blocks its own thread until the source ends or `stop` is set;
/// what can come back by itself (a cable, a port) is waited for inside.
pub trait Source: Send {
    /// A short name for logs and errors, such as `simulated` or `/dev/ttyUSB0`.
    fn name(&self) -> String;

    /// What the stamps of this source mean.
    fn timeline(&self) -> Timeline {
        Timeline::Live
    }

    /// Reads until the end. `Ok` means that the recording or the simulation is over.
    fn run(self: Box<Self>, sink: &Sink, stop: &Stop) -> Result<(), SourceError>;
}

/// Sleeps for `us` microseconds in slices; false when the end was asked for meanwhile.
fn sleep_unless_stopped(us: u64, stop: &Stop) -> bool {
    const SLICE_US: u64 = 50_000;
    let mut left = us;
    while left > 0 && !stop.is_set() {
        let slice = left.min(SLICE_US);
        std::thread::sleep(std::time::Duration::from_micros(slice));
        left -= slice;
    }
    !stop.is_set()
}
