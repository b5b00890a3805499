//! The release log of a board: what has left, on its way from the outputs to the journal.
//!
//! An output that stays behind lets things out at moments of its own, and the journal has one writer: what left
//! waits here until the board thread takes it.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use crate::feed::outputs::{ReleaseLog, Released};

/// Records that may wait; there are two a half-move and output, and the board thread takes them at once.
const ROOM: usize = 4096;

/// What has left and is not recorded yet.
pub struct Ledger {
    waiting: Mutex<Vec<Released>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

impl Ledger {
    /// An empty ledger; `wake` wakes the board thread.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Ledger {
        Ledger { waiting: Mutex::default(), wake: Box::new(wake) }
    }

    /// Everything that waits, in order.
    pub fn take(&self) -> Vec<Released> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ReleaseLog for Ledger {
    fn released(&self, released: Released) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= ROOM {
            tracing::error!("what left is not recorded: the board thread does not take it");
            return;
        }
        waiting.push(released);
        drop(waiting);
        (self.wake)();
    }
}
