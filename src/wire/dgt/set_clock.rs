//! The command that sets the clock and starts it (SETNRUN): the one thing that this program can send which the
//! players see. It works while the clock is in its remote mode only.
//!
//! ```text
//! 2b 0a 03 0a  lh lm ls  rh rm rs  control 00     plain binary, left first
//! ```

/// A time that the clock can show: 0:00:00 to 9:59:59.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClockTime(u32);

impl ClockTime {
    /// The longest time, in seconds.
    pub const MAX_S: u32 = 35_999;

    /// So many seconds, at most [`ClockTime::MAX_S`].
    pub const fn from_seconds(seconds: u32) -> Option<ClockTime> {
        if seconds <= ClockTime::MAX_S { Some(ClockTime(seconds)) } else { None }
    }

    /// So many milliseconds, rounded up to whole seconds, which is all that the clock takes: nobody loses time
    /// by being set.
    pub fn from_ms(ms: u64) -> Option<ClockTime> {
        ClockTime::from_seconds(u32::try_from(ms.div_ceil(1000)).ok()?)
    }

    /// In seconds.
    pub const fn seconds(self) -> u32 {
        self.0
    }

    /// In milliseconds.
    pub const fn ms(self) -> u64 {
        self.0 as u64 * 1000
    }

    fn bytes(self) -> [u8; 3] {
        [self.0 / 3600, self.0 / 60 % 60, self.0 % 60].map(|part| part.to_le_bytes()[0])
    }

    fn of_bytes([hours, minutes, seconds]: [u8; 3]) -> Option<ClockTime> {
        let valid = hours <= 9 && minutes <= 59 && seconds <= 59;
        valid.then(|| ClockTime(u32::from(hours) * 3600 + u32::from(minutes) * 60 + u32::from(seconds)))
    }
}

/// What the clock does with its new times. Left and right are seen from its front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// The left side counts down.
    Left,
    /// The right side counts down.
    Right,
    /// Both stand still.
    Neither,
}

/// The clock is set. The players' lever works on: the side changes when it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetClock {
    /// The time on the left.
    pub left: ClockTime,
    /// The time on the right.
    pub right: ClockTime,
    /// What runs.
    pub runs: Runs,
}

/// The command's own number, which its acknowledgement repeats.
pub const SET_AND_RUN: u8 = 0x0a;

const CLOCK: u8 = 0x2b;
/// Bytes behind the size byte.
const SIZE: u8 = 0x0a;
const BEGIN: u8 = 0x03;
const LEFT_RUNS: u8 = 0x01;
const RIGHT_RUNS: u8 = 0x02;
const PAUSED: u8 = 0x04;
const LEVER: u8 = 0x08;

impl SetClock {
    /// Length of the command in bytes.
    pub const LENGTH: usize = 12;

    /// The bytes on the wire.
    pub fn encode(&self) -> [u8; SetClock::LENGTH] {
        let ([lh, lm, ls], [rh, rm, rs]) = (self.left.bytes(), self.right.bytes());
        let control = match self.runs {
            Runs::Left => LEFT_RUNS,
            Runs::Right => RIGHT_RUNS,
            Runs::Neither => PAUSED,
        };
        [CLOCK, SIZE, BEGIN, SET_AND_RUN, lh, lm, ls, rh, rm, rs, control | LEVER, 0]
    }

    /// Reads a whole command; nothing where the bytes are another one, or a time that the clock cannot show. The
    /// bit for the lever may be missing.
    pub fn decode(bytes: &[u8]) -> Option<SetClock> {
        let [CLOCK, SIZE, BEGIN, SET_AND_RUN, lh, lm, ls, rh, rm, rs, control, 0] = *bytes else {
            return None;
        };
        let runs = match control & !LEVER {
            LEFT_RUNS => Runs::Left,
            RIGHT_RUNS => Runs::Right,
            PAUSED => Runs::Neither,
            _ => return None,
        };
        let (left, right) = (ClockTime::of_bytes([lh, lm, ls])?, ClockTime::of_bytes([rh, rm, rs])?);
        Some(SetClock { left, right, runs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time() -> impl Strategy<Value = ClockTime> {
        (0..=ClockTime::MAX_S).prop_map(|seconds| ClockTime::from_seconds(seconds).unwrap())
    }

    proptest! {
        #[test]
        fn every_setting_survives_the_wire(left in time(), right in time(), runs in 0u8..3) {
            let runs = [Runs::Left, Runs::Right, Runs::Neither][usize::from(runs)];
            let set = SetClock { left, right, runs };
            let bytes = set.encode();
            prop_assert!(bytes.iter().all(|byte| *byte < 0x80), "nothing looks like the start of a message");
            prop_assert_eq!(SetClock::decode(&bytes), Some(set));
        }
    }

    #[test]
    fn a_time_is_rounded_up_and_ends_at_ten_hours() {
        assert_eq!(ClockTime::from_ms(0).unwrap().seconds(), 0);
        assert_eq!(ClockTime::from_ms(1).unwrap().seconds(), 1);
        assert_eq!(ClockTime::from_ms(35_999_000).unwrap().seconds(), ClockTime::MAX_S);
        assert_eq!(ClockTime::from_ms(35_999_001), None);
        assert_eq!(ClockTime::from_ms(u64::MAX), None);
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        for hex in [
            [0x2b, 0x0a, 3, 0x0a, 0, 60, 0, 0, 0, 7, 1, 0],
            [0x2b, 0x0a, 3, 0x0a, 10, 0, 0, 0, 0, 7, 1, 0],
            [0x2b, 0x0a, 3, 0x0a, 0, 0, 10, 0, 0, 7, 0, 0],
            [0x2b, 0x0a, 3, 0x0b, 0, 0, 10, 0, 0, 7, 1, 0],
        ] {
            assert_eq!(SetClock::decode(&hex), None);
        }
        assert_eq!(SetClock::decode(&[0x2b, 0x03, 0x03, 0x09, 0x00]), None);
    }
}
