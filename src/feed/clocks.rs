//! The clock faces of the boards, for the screens beside them: the latest of each, and who waits for the next.
//!
//! They carry times and nothing else, and they come as soon as they are known: a screen at the board shows what
//! the players' own clock shows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::{publish::ClockFace, session::time::MonoTime};

/// A face, and when it was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The face.
    pub face: ClockFace,
    /// When it was so, on the monotonic clock of this machine.
    pub at: MonoTime,
}

/// The faces of all boards.
#[derive(Debug, Default)]
pub(super) struct Clocks(Mutex<Vec<(Arc<str>, watch::Sender<Shown>)>>);

impl Clocks {
    fn lock(&self) -> MutexGuard<'_, Vec<(Arc<str>, watch::Sender<Shown>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A board is there; a face that it had before is gone.
    pub(super) fn set(&self, board: &str, at: MonoTime) {
        self.show(board, ClockFace::default(), at);
    }

    /// A board shows this.
    pub(super) fn show(&self, board: &str, face: ClockFace, at: MonoTime) {
        let shown = Shown { face, at };
        let mut boards = self.lock();
        match boards.iter().find(|(known, _)| **known == *board) {
            Some((_, sender)) => drop(sender.send_replace(shown)),
            None => boards.push((board.into(), watch::Sender::new(shown))),
        }
    }

    /// What a board shows, now and from now on.
    pub(super) fn watch(&self, board: &str) -> Option<watch::Receiver<Shown>> {
        self.lock().iter().find(|(known, _)| **known == *board).map(|(_, sender)| sender.subscribe())
    }

    /// All boards, in the order in which they came.
    pub(super) fn all(&self) -> Vec<(Arc<str>, Shown)> {
        self.lock().iter().map(|(board, sender)| (Arc::clone(board), *sender.borrow())).collect()
    }
}
