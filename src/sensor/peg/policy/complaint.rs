//! What is wrong with a board, in words for the operator.

use crate::{sensor::serial::WHICH_PORT, wire::peg::PROTOCOL};

/// What is wrong with a board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Complaint {
    /// Nothing comes.
    #[error(
        "nothing comes from the board; is it switched on, is this its port ({WHICH_PORT}), and does its firmware \
         answer to ?hello (docs/peg-protocol.md)?"
    )]
    Silent,
    /// Something comes, but no lines.
    #[error(
        "what comes is not from a pegged board: no line of its protocol could be read; is this the port of \
         another device ({WHICH_PORT}), or is baud or framing wrong?"
    )]
    Unreadable,
    /// Lines come, but none that says who speaks.
    #[error(
        "the board sends lines but does not answer to ?hello; is the transmit line of the host connected to \
         it, and does its firmware know the request (docs/peg-protocol.md)?"
    )]
    NoHello,
    /// The board does not tell what is in its holes.
    #[error(
        "the board does not answer to ?board with what is in its holes; its firmware has a fault, see \
         docs/peg-protocol.md"
    )]
    NoSnapshot,
    /// The board says that it does not see its holes; it is read all the same.
    #[error(
        "the board says that it cannot read its holes, or not all of them (FAULT with `sensor`), and what it tells \
         may be old; see to the wires between its holes and its chip, switch it off and on again, and compare the \
         men with the record: `touchmoved doctor --live`"
    )]
    Sensor,
    /// The board speaks another version.
    #[error(
        "the board speaks version {theirs} of the peg protocol and this program version {ours}; update {what}",
        ours = PROTOCOL,
        what = if *theirs > PROTOCOL { "this program" } else { "the firmware of the board" }
    )]
    Version {
        /// The version of the board.
        theirs: u32,
    },
}

/// Word of a board that cannot read its holes, and the name of that in the journal.
pub(super) const SENSOR: &str = "sensor";
/// Word of a board that can read its holes again.
pub(super) const SENSOR_OK: &str = "sensor-ok";

impl Complaint {
    /// True where the board is read all the same.
    pub const fn is_standing(&self) -> bool {
        matches!(self, Complaint::Sensor)
    }

    /// Its name in the journal.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Complaint::Silent => "silent",
            Complaint::Unreadable => "not-peg",
            Complaint::NoHello => "no-hello",
            Complaint::NoSnapshot => "no-snapshot",
            Complaint::Sensor => SENSOR,
            Complaint::Version { .. } => "version",
        }
    }
}
