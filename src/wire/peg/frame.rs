//! Lines in a stream of bytes: found, checked, and what is none of them counted.

use touchmoved_peg::{MAX_LINE, crc16};

/// What was found in the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framed {
    /// A line whose length and checksum are right, from `$` to the checksum, without its end.
    Line(String),
    /// So many bytes belong to no such line. Line ends do not count.
    Dropped(usize),
}

/// Characters behind the `*`: two of the length, four of the checksum.
const TRAILER: usize = 6;

/// Finds lines, and goes on after anything else: a `$` always begins a line, an end of line always ends
/// one.
///
/// A byte that is lost, added, doubled or changed spoils the line that it was in and no other one, because
/// a line that has lost or gained a byte has another length than it says.
#[derive(Clone, Debug, Default)]
pub struct Framer {
    /// The line so far, its `$` included; empty between lines.
    partial: String,
    /// Bytes that were dropped and not told yet.
    run: usize,
    dropped: u64,
}

impl Framer {
    /// Before the first byte.
    pub fn new() -> Framer {
        Framer::default()
    }

    /// Takes bytes and adds what they end to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Framed>) {
        for byte in bytes {
            self.byte(*byte, out);
        }
    }

    fn byte(&mut self, byte: u8, out: &mut Vec<Framed>) {
        match byte {
            b'$' => {
                self.drop_partial(0);
                self.partial.push('$');
            }
            b'\r' | b'\n' => {
                if check(&self.partial).is_some() {
                    self.tell_dropped(out);
                    out.push(Framed::Line(std::mem::take(&mut self.partial)));
                } else {
                    self.drop_partial(0);
                    self.tell_dropped(out);
                }
            }
            b' '..=b'~' if !self.partial.is_empty() && self.partial.len() < MAX_LINE => {
                self.partial.push(char::from(byte));
            }
            _ => self.drop_partial(1),
        }
        if self.run >= MAX_LINE {
            self.tell_dropped(out);
        }
    }

    /// Drops the line so far, and so many bytes behind it.
    fn drop_partial(&mut self, more: usize) {
        let dropped = self.partial.len() + more;
        self.partial.clear();
        self.run += dropped;
        self.dropped += dropped as u64;
    }

    fn tell_dropped(&mut self, out: &mut Vec<Framed>) {
        if self.run > 0 {
            out.push(Framed::Dropped(std::mem::take(&mut self.run)));
        }
    }

    /// The port was closed: what was half received is void.
    pub fn reset(&mut self) {
        *self = Framer { dropped: self.dropped, ..Framer::new() };
    }

    /// Bytes of the line so far, and bytes that were dropped but not told.
    pub fn pending(&self) -> usize {
        self.partial.len() + self.run
    }

    /// All bytes that were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// What stands between the `$` and the `*` of a line, when length and checksum are right.
pub fn check(line: &str) -> Option<&str> {
    let (body, trailer) = line.strip_prefix('$')?.split_once('*')?;
    let upper = |byte: u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte);
    if trailer.len() != TRAILER || !trailer.bytes().all(upper) {
        return None;
    }
    let (length, crc) = trailer.split_at_checked(2)?;
    let length = usize::from_str_radix(length, 16).ok()?;
    let crc = u16::from_str_radix(crc, 16).ok()?;
    (body.len() == length && body.bytes().fold(0xffff, crc16) == crc).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use touchmoved_peg::{Message, Peg, Side, SquareIndex, encode};

    fn framed(bytes: &[u8]) -> Vec<Framed> {
        let mut out = Vec::new();
        Framer::new().push(bytes, &mut out);
        out
    }

    fn lines(bytes: &[u8]) -> Vec<String> {
        framed(bytes)
            .into_iter()
            .filter_map(|item| if let Framed::Line(line) = item { Some(line) } else { None })
            .collect()
    }

    fn text(seq: u16, ms: u32, message: &Message<'_>) -> Vec<u8> {
        encode(seq, ms, message).as_bytes().to_vec()
    }

    #[test]
    fn lines_are_found_between_other_things() {
        let press = text(7, 3510, &Message::Press(Side::White));
        let line = String::from_utf8(press[..press.len() - 2].to_vec()).unwrap();
        let mut bytes = b"boot: v1\r\n\r\n\0\0$PEG,1".to_vec();
        bytes.extend(&press);
        bytes.extend(b"\n$\n");
        assert_eq!(
            framed(&bytes),
            [Framed::Dropped(8), Framed::Dropped(8), Framed::Line(line.clone()), Framed::Dropped(1)]
        );
        // Any end of line will do.
        for end in ["\r", "\n", "\r\n", "\n\r\n"] {
            assert_eq!(lines(format!("{line}{end}").as_bytes()), [line.as_str()]);
        }
        assert!(lines(line.to_ascii_lowercase().as_bytes()).is_empty());
    }

    /// The checksum alone lets one shortened line in some ten thousands pass; this is one.
    #[test]
    fn a_line_that_lost_a_byte_and_has_the_right_checksum_by_chance_is_refused() {
        assert!(check("$PEG,104,117699,e2,out*150C41").is_some());
        let shorter = "PEG,104,11769,e2,out";
        assert_eq!(shorter.bytes().fold(0xffff, crc16), 0x0c41);
        assert_eq!(check(&format!("${shorter}*150C41")), None);
        assert_eq!(check(&format!("${shorter}*140C41")), Some(shorter));
    }

    #[test]
    fn noise_without_an_end_is_told_and_takes_no_memory() {
        let mut framer = Framer::new();
        let mut out = Vec::new();
        for _ in 0..1000 {
            framer.push(b"$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", &mut out);
            framer.push(&[0x8e, 0x00, 0x05, b'a'], &mut out);
            assert!(framer.pending() <= 2 * MAX_LINE);
        }
        let told: usize = out.iter().map(|item| if let Framed::Dropped(n) = item { *n } else { 0 }).sum();
        assert_eq!(told + framer.pending(), 42_000);
        framer.reset();
        assert_eq!(framer.pending(), 0);
    }

    fn any_line() -> impl Strategy<Value = Vec<u8>> {
        let names = prop::sample::select(vec!["draw-offer-white", "jadoube-black", "resign-white"]);
        (any::<u16>(), any::<u32>(), 0u8..64, 0..4, names).prop_map(|(seq, ms, square, kind, name)| {
            let square = SquareIndex::new(square).unwrap();
            match kind {
                0 => text(seq, ms, &Message::Peg(square, Peg::Out)),
                1 => text(seq, ms, &Message::Peg(square, Peg::In)),
                2 => text(seq, ms, &Message::Press(Side::Black)),
                _ => text(seq, ms, &Message::Button(name)),
            }
        })
    }

    proptest! {
        /// A byte that is lost, doubled, added or changed takes away one line at most and makes none; two
        /// neighbours that are exchanged do so at most to the lines that they were in.
        #[test]
        fn one_wrong_byte_spoils_one_line_at_most(
            all in prop::collection::vec(any_line(), 1..8),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            what in 0..5,
        ) {
            let bytes = all.concat();
            let whole = lines(&bytes);
            prop_assert_eq!(whole.len(), all.len());
            let at = at.index(bytes.len());
            let mut damaged = bytes.clone();
            match what {
                0 => { damaged.remove(at); }
                1 => damaged.insert(at, bytes[at]),
                2 => damaged.insert(at, byte),
                3 => damaged[at] = byte,
                _ => damaged.swap(at, (at + 1).min(bytes.len() - 1)),
            }
            let left = lines(&damaged);
            let mut rest = whole.iter();
            for line in &left {
                prop_assert!(rest.any(|other| other == line), "{} was never sent", line);
            }
            let lost = if what == 4 { 2 } else { 1 };
            prop_assert!(whole.len() - left.len() <= lost, "{:?} of {:?}", left, whole);
        }
    }
}
