//! What is wrong with a board, in words for the operator.

use std::fmt;

use crate::{
    sensor::serial::{OTHER_BOARD, WHICH_PORT, other_board},
    wire::peg::PROTOCOL,
};

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
    /// Another board answers than before; it is read all the same.
    #[error("{}", Other(expected, found))]
    OtherBoard {
        /// Serial number of the board that was there first.
        expected: String,
        /// The number of this one.
        found: String,
    },
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

/// The words of [`Complaint::OtherBoard`].
struct Other<'a>(&'a str, &'a str);

impl fmt::Display for Other<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        other_board(f, self.0, self.1)
    }
}

/// Word of a board that cannot read its holes, and the name of that in the journal.
pub(super) const SENSOR: &str = "sensor";
/// Word of a board that can read its holes again.
pub(super) const SENSOR_OK: &str = "sensor-ok";

impl Complaint {
    /// True where the board is read all the same.
    pub const fn is_standing(&self) -> bool {
        matches!(self, Complaint::Sensor | Complaint::OtherBoard { .. })
    }

    /// Its name in the journal.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Complaint::Silent => "silent",
            Complaint::Unreadable => "not-peg",
            Complaint::NoHello => "no-hello",
            Complaint::NoSnapshot => "no-snapshot",
            Complaint::Sensor => SENSOR,
            Complaint::OtherBoard { .. } => OTHER_BOARD,
            Complaint::Version { .. } => "version",
        }
    }
}
