//! What is wrong with a board, in words for the operator.

use crate::{sensor::serial::WHICH_PORT, wire::peg::PROTOCOL};

/// What is wrong with a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
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

impl Complaint {
    /// Its name in the journal.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Complaint::Silent => "silent",
            Complaint::Unreadable => "not-peg",
            Complaint::NoHello => "no-hello",
            Complaint::NoSnapshot => "no-snapshot",
            Complaint::Version { .. } => "version",
        }
    }
}
