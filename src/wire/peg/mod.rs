//! The line protocol of pegged boards (`docs/peg-protocol.md`): bytes to lines, lines to messages, messages
//! to events of the session, and the requests of the host.
//!
//! ```text
//!  bytes ─► frame::Framer ─► line::Line ─► decoder::PegDecoder ─► session::event::Event
//! ```
//!
//! Everything here is pure. The lines of a board are written by the crate `touchmoved-peg`, which is the
//! firmware side and is not used here but for the checksum.

pub mod decoder;
pub mod frame;
pub mod line;

pub use decoder::PegDecoder;
pub use frame::{Framed, Framer};
pub use line::{Hello, Line, Message, Snapshot};

/// Version of the protocol that is read.
pub const PROTOCOL: u32 = 1;

/// What the host may ask of a board. Nothing that it can say changes anything at the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Who are you, and what is in the holes?
    Hello,
    /// What is in the holes?
    Board,
}

impl Request {
    /// The bytes to send. A request has no checksum: a damaged one is another request or none, both do no
    /// harm, and it is asked again.
    pub const fn bytes(self) -> &'static [u8] {
        match self {
            Request::Hello => b"?hello\r\n",
            Request::Board => b"?board\r\n",
        }
    }
}
