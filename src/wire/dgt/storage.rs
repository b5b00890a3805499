//! The storage log: what a board wrote down by itself, with or without a computer.
//!
//! The log is a ring in the board; a download runs from the oldest to the newest entry. It holds the changes
//! of single squares in order and the time of each press, but no times of day. The oldest entry may be cut
//! in two, and newer boards write entries of unknown length: such bytes are skipped, so that a reader has to
//! check what it makes of the rest (`memory` does).

use shakmaty::Square;

use super::message::{Reading, number_of, square_of};

/// One entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A square reads something else.
    Field {
        /// The square as the board numbers it.
        square: Square,
        /// What it reads.
        reading: Reading,
        /// Less than about 250 ms after the entry before.
        soon: bool,
    },
    /// A player pressed, and the time of that side stood still.
    Pressed {
        /// The player at the right side of the clock, seen from its front.
        right: bool,
        /// The time left on that side, in seconds, 0 to 35999.
        seconds: u32,
    },
    /// Something else that the board notes.
    Mark(Mark),
}

/// What a board notes beside squares and presses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It was switched on; one change for each man that stood there follows.
    PowerUp,
    /// The end of the download.
    End,
    /// The men stand on the four outer ranks, but not as at the start (Chess960).
    FourRows,
    /// No man is left.
    EmptyBoard,
    /// The log was downloaded up to here.
    Downloaded,
    /// The start position.
    Start,
    /// The start position, turned by 180 degrees.
    StartRotated,
    /// A program on the bus began a game; all men follow.
    StartTag,
    /// The firmware was restarted by its watchdog.
    Watchdog,
    /// A mark without a known meaning; its byte.
    Other(u8),
}

impl Mark {
    const fn of(byte: u8) -> Mark {
        match byte {
            0x6a => Mark::PowerUp,
            0x6b => Mark::End,
            0x6c => Mark::FourRows,
            0x6d => Mark::EmptyBoard,
            0x6e => Mark::Downloaded,
            0x6f => Mark::Start,
            0x7a => Mark::StartRotated,
            0x7b => Mark::StartTag,
            0x7c => Mark::Watchdog,
            other => Mark::Other(other),
        }
    }

    const fn byte(self) -> u8 {
        match self {
            Mark::PowerUp => 0x6a,
            Mark::End => 0x6b,
            Mark::FourRows => 0x6c,
            Mark::EmptyBoard => 0x6d,
            Mark::Downloaded => 0x6e,
            Mark::Start => 0x6f,
            Mark::StartRotated => 0x7a,
            Mark::StartTag => 0x7b,
            Mark::Watchdog => 0x7c,
            Mark::Other(byte) => byte,
        }
    }
}

/// Reads the payload of a download.
pub fn decode(payload: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut rest = payload;
    while let [first, after @ ..] = rest {
        let (entry, taken) = match (first, after) {
            (0x40..=0x5f, [number, ..]) => (field(*first, *number), 2),
            (0x60..=0x69 | 0x70..=0x79, [minutes, seconds, ..]) => (pressed(*first, *minutes, *seconds), 3),
            (0x6a..=0x6f | 0x7a..=0x7e, _) => (Some(Entry::Mark(Mark::of(*first))), 1),
            // Nothing (0x7f, 0x00), a delay of a newer board, or an entry that was cut.
            _ => (None, 1),
        };
        match entry {
            Some(entry) => {
                entries.push(entry);
                rest = rest.get(taken..).unwrap_or_default();
            }
            None => rest = after,
        }
    }
    entries
}

fn field(first: u8, number: u8) -> Option<Entry> {
    let square = square_of(number)?;
    Some(Entry::Field { square, reading: Reading::from_code(first), soon: first & 0x10 != 0 })
}

fn pressed(first: u8, minutes: u8, seconds: u8) -> Option<Entry> {
    let sixty = |bcd: u8| {
        let (tens, units) = (bcd >> 4, bcd & 0x0f);
        (tens <= 5 && units <= 9).then(|| u32::from(tens) * 10 + u32::from(units))
    };
    let seconds = u32::from(first & 0x0f) * 3600 + sixty(minutes)? * 60 + sixty(seconds)?;
    Some(Entry::Pressed { right: first & 0x10 == 0, seconds })
}

/// The payload of a download with these entries.
pub fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut payload = Vec::new();
    for entry in entries {
        match *entry {
            Entry::Field { square, reading, soon } => {
                payload.push(0x40 | u8::from(soon) << 4 | reading.code());
                payload.push(number_of(square));
            }
            Entry::Pressed { right, seconds } => {
                let seconds = seconds.min(35_999);
                let byte = |n: u32| u8::try_from(n).unwrap_or(0);
                let bcd = |n: u32| byte(n / 10 * 16 + n % 10);
                payload.push(if right { 0x60 } else { 0x70 } | byte(seconds / 3600));
                payload.extend([bcd(seconds / 60 % 60), bcd(seconds % 60)]);
            }
            Entry::Mark(mark) => payload.push(mark.byte()),
        }
    }
    payload
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry() -> impl Strategy<Value = Entry> {
        prop_oneof![
            (0u8..64, 0u8..16, any::<bool>()).prop_map(|(number, code, soon)| Entry::Field {
                square: square_of(number).unwrap(),
                reading: Reading::from_code(code),
                soon,
            }),
            (any::<bool>(), 0u32..36_000).prop_map(|(right, seconds)| Entry::Pressed { right, seconds }),
            prop_oneof![0x6au8..=0x6f, 0x7au8..=0x7e].prop_map(|byte| Entry::Mark(Mark::of(byte))),
        ]
    }

    proptest! {
        #[test]
        fn a_log_survives_the_round_trip(entries in proptest::collection::vec(entry(), 0..60)) {
            prop_assert_eq!(decode(&encode(&entries)), entries);
        }

        #[test]
        fn nothings_and_delays_in_between_change_nothing(
            entries in proptest::collection::vec((entry(), 0usize..3, 0x10u8..0x40), 0..40),
        ) {
            let mut payload = Vec::new();
            for (entry, count, filler) in &entries {
                payload.extend([[0x7f, 0x00, *filler], [*filler; 3]].concat().iter().take(*count));
                payload.extend(encode(&[*entry]));
            }
            let plain: Vec<Entry> = entries.into_iter().map(|(entry, _, _)| entry).collect();
            prop_assert_eq!(decode(&payload), plain);
        }

        #[test]
        fn no_bytes_are_too_odd(payload in proptest::collection::vec(0u8..128, 0..400)) {
            prop_assert!(decode(&payload).len() <= payload.len());
        }
    }
}
