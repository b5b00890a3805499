//! A line under construction: text, its length, its checksum.

use crate::crc::crc16;

/// The longest line, its line end included.
pub const MAX_LINE: usize = 200;

/// One line, ready to be sent: `$` body `*` length checksum CR LF.
#[derive(Clone, Debug)]
pub struct Line {
    bytes: [u8; MAX_LINE],
    len: usize,
}

impl Line {
    pub(crate) fn begin() -> Line {
        let mut line = Line { bytes: [0; MAX_LINE], len: 0 };
        line.byte(b'$');
        line
    }

    /// The line as it is sent.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    fn byte(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len = self.len.saturating_add(1);
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.byte(byte));
    }

    /// At most `longest` characters of a text; one that has no place in a name becomes a hyphen, and so does
    /// no text at all.
    pub(crate) fn name(&mut self, text: &str, longest: usize) {
        let text = if text.is_empty() { "-" } else { text };
        for byte in text.bytes().take(longest) {
            let fits = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            self.byte(if fits { byte } else { b'-' });
        }
    }

    pub(crate) fn decimal(&mut self, mut number: u32) {
        let mut digits = [0u8; 10];
        let mut count = 0usize;
        for digit in digits.iter_mut().rev() {
            *digit = (number % 10) as u8;
            number /= 10;
            count = count.saturating_add(1);
            if number == 0 {
                break;
            }
        }
        let from = digits.len().saturating_sub(count);
        digits.iter().skip(from).for_each(|digit| self.byte(b'0'.wrapping_add(*digit)));
    }

    pub(crate) fn hex(&mut self, number: u64, digits: u32, upper: bool) {
        for place in (0..digits).rev() {
            let digit = (number.wrapping_shr(place.wrapping_mul(4)) & 0xf) as u8;
            let letter = if upper { b'A' } else { b'a' };
            self.byte(if digit < 10 {
                b'0'.wrapping_add(digit)
            } else {
                letter.wrapping_add(digit.wrapping_sub(10))
            });
        }
    }

    pub(crate) fn finish(mut self) -> Line {
        let body = self.as_bytes().get(1..).unwrap_or(&[]);
        let crc = body.iter().fold(0xffff, |crc, byte| crc16(crc, *byte));
        let length = body.len() as u64;
        self.byte(b'*');
        self.hex(length, 2, true);
        self.hex(u64::from(crc), 4, true);
        self.text("\r\n");
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn shown(write: impl Fn(&mut Line)) -> String {
        let mut line = Line::begin();
        write(&mut line);
        String::from_utf8(line.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn numbers_are_written_without_leading_zeros_or_with_all_digits() {
        assert_eq!(shown(|line| line.decimal(0)), "$0");
        assert_eq!(shown(|line| line.decimal(u32::MAX)), "$4294967295");
        assert_eq!(shown(|line| line.decimal(1020)), "$1020");
        assert_eq!(shown(|line| line.hex(0xffff_0000_0000_ffff, 16, false)), "$ffff00000000ffff");
        assert_eq!(shown(|line| line.hex(0x0a, 2, true)), "$0A");
    }

    #[test]
    fn names_are_cut_and_cleaned() {
        assert_eq!(shown(|line| line.name("my board$*,7", 9)), "$my-board-");
        assert_eq!(shown(|line| line.name("", 9)), "$-");
    }

    #[test]
    fn a_line_that_is_full_takes_no_more() {
        let mut line = Line::begin();
        (0..MAX_LINE).for_each(|_| line.text("xy"));
        assert_eq!(line.as_bytes().len(), MAX_LINE);
    }
}
