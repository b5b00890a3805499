//! The line from the desk to the thread of one board.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::oneshot;

use super::records::Records;
use crate::{
    publish::{ArbiterView, ForArbiter},
    session::event::Event,
};

/// Calls that may wait for a board.
const WAITING: usize = 32;

/// What is wanted of a board.
#[derive(Debug)]
pub enum Wants {
    /// A command, a button, an announcement: an input of the game.
    Say(Event),
    /// To see the board as it is.
    Look,
}

/// What comes back.
#[derive(Debug)]
pub enum Answer {
    /// The facts that an input led to; they are recorded.
    Facts(Vec<ForArbiter>),
    /// The board as it is.
    View(Box<ArbiterView>),
}

/// A call on a line.
#[derive(Debug)]
pub struct Call {
    /// What is wanted.
    pub wants: Wants,
    /// Where the answer goes. Nobody may wait for it any more.
    pub answer: oneshot::Sender<Answer>,
}

/// Why a board does not hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unheard {
    /// Too much waits already.
    #[error("too many commands wait for this board; try again")]
    Busy,
    /// Its thread has ended.
    #[error("the daemon is ending")]
    Ended,
}

/// A line to a board.
pub struct Line {
    board: String,
    waiting: Mutex<Option<VecDeque<Call>>>,
    records: Arc<Records>,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("board", &self.board).finish_non_exhaustive()
    }
}

impl Line {
    /// A line to a board; `wake` makes its thread look.
    pub fn new(board: &str, records: Arc<Records>, wake: impl Fn() + Send + Sync + 'static) -> Line {
        Line {
            board: board.to_owned(),
            waiting: Mutex::new(Some(VecDeque::new())),
            records,
            wake: Box::new(wake),
        }
    }

    /// The board.
    pub fn board(&self) -> &str {
        &self.board
    }

    /// Its facts.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Calls the board.
    ///
    /// # Errors
    /// When it does not hear.
    pub fn call(&self, wants: Wants) -> Result<oneshot::Receiver<Answer>, Unheard> {
        let (answer, heard) = oneshot::channel();
        {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let waiting = waiting.as_mut().ok_or(Unheard::Ended)?;
            if waiting.len() >= WAITING {
                return Err(Unheard::Busy);
            }
            waiting.push_back(Call { wants, answer });
        }
        (self.wake)();
        Ok(heard)
    }

    /// The next call, for the thread of the board.
    pub fn take(&self) -> Option<Call> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.pop_front()
    }

    /// The thread of the board ends: nobody is heard any more.
    pub fn hang_up(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
