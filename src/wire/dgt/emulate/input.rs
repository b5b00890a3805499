//! What a client sends: bytes to orders. Single-board commands have bit 7 clear, bus commands have it set.

use crate::session::time::MonoTime;

/// A message that stays incomplete for this long without a byte is over, in milliseconds.
const PARTIAL_MS: u64 = 200;

/// A message for the clock begins with this byte, one for LEDs with the next; a size byte follows.
const CLOCK: u8 = 0x2b;
const LEDS: u8 = 0x60;

/// First and last byte behind the size byte of a message for the clock.
const BEGIN: u8 = 0x03;
const END: u8 = 0x00;

/// Length of a bus command: itself, two address bytes, the sum.
const BUS: usize = 4;

/// One thing that a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// A byte without bit 7, which may be no command at all.
    Single(u8),
    /// A message for the clock; the number of what it should do.
    Clock(u8),
    /// A message for LEDs.
    Leds,
    /// A bus command whose sum is right.
    Bus {
        /// The command.
        command: u8,
        /// The board that is meant; 0 is all of them.
        address: u16,
    },
}

/// Bytes behind the size byte of a message for the clock that is known.
const fn size_of(sub: u8) -> Option<usize> {
    Some(match sub {
        0x01 | 0x02 => 0x0b,
        0x03 | 0x08 | 0x09 => 0x03,
        0x0a => 0x0a,
        0x0b => 0x04,
        0x0c => 0x0c,
        0x0d => 0x0f,
        _ => return None,
    })
}

/// Takes bytes apart. It holds the message that is not complete yet: at most 129 bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    partial: Vec<u8>,
    last: MonoTime,
}

impl Input {
    /// Takes bytes that were read at `at`.
    pub(super) fn push(&mut self, at: MonoTime, bytes: &[u8], out: &mut impl FnMut(Order)) {
        self.expire(at, out);
        if !bytes.is_empty() {
            self.last = at;
        }
        for &byte in bytes {
            self.byte(byte, out);
        }
    }

    /// Ends a message that has waited for its rest for too long. Some program counts the whole message in
    /// the size byte of one for the clock: what looks complete is taken.
    pub(super) fn expire(&mut self, at: MonoTime, out: &mut impl FnMut(Order)) {
        if self.deadline().is_some_and(|deadline| at >= deadline) {
            self.end(out);
        }
    }

    /// When the message that is not complete is given up.
    pub(super) fn deadline(&self) -> Option<MonoTime> {
        (!self.partial.is_empty()).then(|| self.last.plus_ms(PARTIAL_MS))
    }

    /// Forgets what was half received.
    pub(super) fn reset(&mut self) {
        self.partial.clear();
    }

    fn byte(&mut self, byte: u8, out: &mut impl FnMut(Order)) {
        if byte & 0x80 != 0 {
            // No other byte has bit 7: whatever was half received is torn.
            self.partial.clear();
            self.partial.push(byte);
            return;
        }
        if self.partial.is_empty() && !matches!(byte, CLOCK | LEDS) {
            out(Order::Single(byte));
            return;
        }
        self.partial.push(byte);
        if self.is_complete() {
            self.end(out);
        }
    }

    fn is_complete(&self) -> bool {
        match self.partial.as_slice() {
            [first, ..] if first & 0x80 != 0 => self.partial.len() == BUS,
            [first, size, body @ ..] => {
                let size = usize::from(*size);
                // The whole message was counted, size byte and first byte included.
                let whole = |body: &[u8]| match body {
                    [BEGIN, sub, .., END] => {
                        size_of(*sub) == Some(body.len()) && size == body.len() + (BUS - 2)
                    }
                    _ => false,
                };
                body.len() >= size || (*first == CLOCK && whole(body))
            }
            _ => false,
        }
    }

    fn end(&mut self, out: &mut impl FnMut(Order)) {
        match *self.partial.as_slice() {
            [CLOCK, _, BEGIN, sub, .., END] => out(Order::Clock(sub)),
            [LEDS, _, ..] => out(Order::Leds),
            [command, high, low, sum] if command & 0x80 != 0 && sum == sum_of(&[command, high, low]) => {
                out(Order::Bus { command, address: u16::from(high) << 7 | u16::from(low) });
            }
            _ => {}
        }
        self.partial.clear();
    }
}

/// The sum behind a bus message: all bytes before it, without bit 7.
pub(super) fn sum_of(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) & 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(portions: &[(u64, &[u8])]) -> Vec<Order> {
        let (mut input, mut found) = (Input::default(), Vec::new());
        for (ms, bytes) in portions {
            input.push(MonoTime::ZERO.plus_ms(*ms), bytes, &mut |order| found.push(order));
        }
        found
    }

    #[test]
    fn commands_clock_messages_and_bus_commands_are_told_apart() {
        let bytes = [0x40, 0x2b, 3, 3, 9, 0, 0x42, 0x87, 0, 0, 7, 0x60, 4, 1, 0x34, 0x24, 0, 0x7e, 0x4d];
        let wanted = [
            Order::Single(0x40),
            Order::Clock(9),
            Order::Single(0x42),
            Order::Bus { command: 0x87, address: 0 },
            Order::Leds,
            Order::Single(0x7e),
            Order::Single(0x4d),
        ];
        assert_eq!(orders(&[(0, &bytes)]), wanted);
        let single: Vec<(u64, &[u8])> = bytes.chunks(1).map(|byte| (0, byte)).collect();
        assert_eq!(orders(&single), wanted, "in any portions");
    }

    #[test]
    fn a_torn_message_ends_with_silence_or_with_a_bus_command() {
        let torn: &[u8] = &[0x2b, 0x0a, 3, 0x0a, 0, 5];
        assert_eq!(orders(&[(0, torn), (100, &[0x42]), (301, &[0x42])]), [Order::Single(0x42)]);
        let bus = [0x87, 8, 1, 0x10];
        assert_eq!(orders(&[(0, torn), (1, &bus)]), [Order::Bus { command: 0x87, address: 1025 }]);
        assert_eq!(orders(&[(0, &bus[..2]), (300, &[0x42])]), [Order::Single(0x42)]);
    }

    #[test]
    fn a_size_that_counts_the_whole_message_is_understood() {
        assert_eq!(orders(&[(0, &[0x2b, 5, 3, 9, 0, 0x42])]), [Order::Clock(9), Order::Single(0x42)]);
        assert_eq!(
            orders(&[(0, &[0x2b, 9, 3, 0x33, 0]), (200, &[0x42])]),
            [Order::Clock(0x33), Order::Single(0x42)],
            "silence ends an unknown one that looks whole"
        );
    }

    #[test]
    fn a_wrong_sum_is_no_command() {
        assert_eq!(orders(&[(0, &[0x87, 8, 1, 0x11, 0x86, 0, 0x43, 0, 0x42])]), [Order::Single(0x42)]);
    }
}
