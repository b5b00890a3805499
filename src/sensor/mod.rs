//! Sources: threads that read a board and stamp what they read. They know nothing of chess.

pub mod dgt;
pub mod serial;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc::SyncSender,
};

use crate::session::{io::Input, time::MonoTime};

/// What a source hands to the board thread: an input and the time at which it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// When it was read.
    pub at: MonoTime,
    /// What was read.
    pub input: Input,
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
        Sink { sender }
    }

    /// Hands over one reading; waits while the board thread is busy.
    pub fn send(&self, at: MonoTime, input: impl Into<Input>) -> Result<(), SourceError> {
        self.sender.send(Reading { at, input: input.into() }).map_err(|_| SourceError::Closed)
    }
}

/// A board that can be read. `run` blocks its own thread until the source ends or `stop` is set;
/// what can come back by itself (a cable, a port) is waited for inside.
pub trait Source: Send {
    /// A short name for logs and errors, such as `simulated` or `/dev/ttyUSB0`.
    fn name(&self) -> String;

    /// Reads until the end. `Ok` means that the recording or the simulation is over.
    fn run(self: Box<Self>, sink: &Sink, stop: &Stop) -> Result<(), SourceError>;
}
