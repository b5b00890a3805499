//! What the policy is told and what it says.

use super::super::witness::Fault;
use crate::wire::dgt::{Command, memory::Squares, set_clock::SetClock};

/// Which changes the board tells by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Updates {
    /// Squares, and the clock when it changed.
    #[default]
    Nice,
    /// Squares, and the clock at least once a second.
    Clock,
    /// Squares only; the clock is asked for once a second. The clock's buttons and acknowledgements do not come.
    Board,
}

impl Updates {
    /// The command that begins the stream.
    pub(super) const fn command(self) -> Command {
        match self {
            Updates::Nice => Command::UpdateNice,
            Updates::Clock => Command::Update,
            Updates::Board => Command::UpdateBoard,
        }
    }
}

/// What is known of a board before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Which changes it tells by itself.
    pub updates: Updates,
    /// Its memory may be asked what happened during an outage.
    pub memory: bool,
    /// A game goes on that began before this program, and so the squares read last.
    pub resumed: Option<Squares>,
}

/// What the thread has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send this command.
    Send(Command),
    /// Send the order of the arbiter to the clock.
    SetClock(SetClock),
    /// Throw away what came in and was not read.
    DiscardInput,
    /// The board does not answer as it should. `news` when its link counted as up, or nothing was told yet.
    Down {
        /// What is wrong.
        fault: Fault,
        /// The link goes down with it.
        news: bool,
    },
    /// This is wrong, and the board is read all the same.
    Stand(Fault),
    /// The other board has gone, and the first one is back.
    Settle,
    /// So many bytes that are no message were not passed on since that was last told.
    Withheld(u64),
    /// Close the port and open it again.
    Reopen,
}

/// What to do with bytes that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// They are left over from before the start: nobody needs them.
    Stale,
    /// Pass them on.
    Keep,
    /// Tell that the board is there, then pass them on.
    LinkUp,
}
