//! What the host asks.

/// A request of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// `?hello`, or `?` alone: who are you, and what is in the holes?
    Hello,
    /// `?board`: what is in the holes?
    Board,
    /// Something that this board does not know.
    Unknown,
}

const LONGEST: usize = 8;

/// Finds requests in the bytes of the host: a question mark, a word, the end of the line. Everything else
/// is skipped; capitals and small letters are the same.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    word: [u8; LONGEST],
    len: usize,
    open: bool,
}

impl Requests {
    /// Before the first byte.
    pub const fn new() -> Requests {
        Requests { word: [0; LONGEST], len: 0, open: false }
    }

    /// Takes one byte; a request when it ends one.
    pub fn push(&mut self, byte: u8) -> Option<Request> {
        match byte {
            b'?' => {
                self.open = true;
                self.len = 0;
                None
            }
            b'\r' | b'\n' => {
                let open = core::mem::take(&mut self.open);
                open.then(|| self.read())
            }
            _ => {
                if let Some(place) = self.word.get_mut(self.len) {
                    *place = byte.to_ascii_lowercase();
                }
                // One more than there is room for: a word that is too long is unknown.
                self.len = self.len.saturating_add(1).min(LONGEST.saturating_add(1));
                None
            }
        }
    }

    fn read(&self) -> Request {
        match self.word.get(..self.len) {
            Some(b"" | b"hello") => Request::Hello,
            Some(b"board") => Request::Board,
            _ => Request::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn read(text: &str) -> Vec<Request> {
        let mut requests = Requests::new();
        text.bytes().filter_map(|byte| requests.push(byte)).collect()
    }

    #[test]
    fn requests_are_found_in_what_an_operator_types() {
        use Request::{Board, Hello, Unknown};
        assert_eq!(read("?\r\n?HELLO\n?board\r"), [Hello, Hello, Board]);
        assert_eq!(read("hello\nAT+GMM\r\n\0?boa?board\n"), [Board]);
        assert_eq!(read("?reset\n?hellohellohello\n?"), [Unknown, Unknown]);
    }
}
