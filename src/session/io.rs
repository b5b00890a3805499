//! What goes into one board of the daemon: decoded events, or the bytes or lines of a device,
//! exactly as they came. This is what the journal keeps.

use super::event::{Event, Unit};

/// One input of a board.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// An event of a sensor that speaks the vocabulary itself, or of the daemon.
    Event(Unit, Event),
    /// Bytes that a DGT board sent, in any portions.
    Dgt(Vec<u8>),
    /// A line of a pegged board, from `$` to its checksum (`docs/peg-protocol.md`).
    Peg(String),
}

impl From<Event> for Input {
    fn from(event: Event) -> Input {
        Input::Event(Unit::A, event)
    }
}
