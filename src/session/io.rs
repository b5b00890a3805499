//! What goes into one board of the daemon: decoded events, or the bytes or lines of a device,
//! exactly as they came. This is what the journal keeps.

use super::event::{Event, Unit};

/// One input of a board.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// An event of a sensor that speaks the vocabulary itself, or of the daemon.
    Event(Unit, Event),
    /// Bytes that a DGT board sent, in any portions.
    Dgt(Unit, Vec<u8>),
    /// A line of a pegged board, from `$` to its checksum (`docs/peg-protocol.md`).
    Peg(Unit, String),
}

impl Input {
    /// Which board it came from.
    pub const fn unit(&self) -> Unit {
        match self {
            Input::Event(unit, _) | Input::Dgt(unit, _) | Input::Peg(unit, _) => *unit,
        }
    }

    /// The same input of the second board.
    #[must_use]
    pub fn of_second(self) -> Input {
        match self {
            Input::Event(_, event) => Input::Event(Unit::B, event),
            Input::Dgt(_, bytes) => Input::Dgt(Unit::B, bytes),
            Input::Peg(_, line) => Input::Peg(Unit::B, line),
        }
    }
}

impl From<Event> for Input {
    fn from(event: Event) -> Input {
        Input::Event(Unit::A, event)
    }
}
