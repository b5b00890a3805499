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

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a kind of blocks of the manual.
    fn vectors(fence: &str) -> Vec<&'static str> {
        let manual = include_str!("../../../docs/peg-protocol.md");
        let begin = format!("```{fence}\n");
        let blocks = manual.split(begin.as_str()).skip(1);
        blocks.flat_map(|rest| rest.split("```").next().unwrap_or_default().lines()).collect()
    }

    fn lines(bytes: &[u8]) -> Vec<String> {
        let mut framed = Vec::new();
        Framer::new().push(bytes, &mut framed);
        let line = |item| if let Framed::Line(line) = item { Some(line) } else { None };
        framed.into_iter().filter_map(line).collect()
    }

    #[test]
    fn the_vectors_of_the_manual_are_read_as_it_says() {
        let right = vectors("peg");
        assert!(right.len() >= 15, "{right:?}");
        assert_eq!(lines((right.join("\r\n") + "\r\n").as_bytes()), right);
        let mut odd = 0;
        for text in &right {
            let line = Line::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            odd += u32::from(matches!(line.message, Message::Other(_) | Message::ForeignHello(_)));
        }
        assert_eq!(odd, 2);
        let damaged = vectors("damaged");
        assert!(damaged.len() >= 8, "{damaged:?}");
        assert_eq!(lines((damaged.join("\n") + "\n").as_bytes()), [""; 0]);
    }

    /// Every other line of the manual, in the conversations, is right as well.
    #[test]
    fn the_conversations_of_the_manual_are_right() {
        let manual = include_str!("../../../docs/peg-protocol.md");
        let said: Vec<&str> = manual
            .lines()
            .filter_map(|line| line.strip_prefix("board  "))
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert!(said.len() >= 7, "{said:?}");
        for text in said {
            assert!(Line::parse(text).is_ok(), "{text}");
        }
        let asked: Vec<&str> = manual.lines().filter_map(|line| line.strip_prefix("host   ")).collect();
        let known = [Request::Hello, Request::Board].map(Request::bytes);
        for text in asked {
            assert!(known.contains(&format!("{text}\r\n").as_bytes()), "{text}");
        }
    }
}
