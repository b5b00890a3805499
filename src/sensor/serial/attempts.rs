//! When a port is tried: at once when its device file appears, then less and less often.

use crate::session::time::MonoTime;

use super::{Backoff, place::Sighting};

/// Decides, without a clock of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempts {
    backoff: Backoff,
    /// The device file of the last attempt.
    tried: Option<Sighting>,
    /// No attempt at the same file before this time.
    due: MonoTime,
}

impl Attempts {
    /// True when the port should be tried at `at`. A file that was not there at the last look is tried at once:
    /// that is no more often than somebody looks.
    pub(super) fn is_due(&mut self, at: MonoTime, seen: Option<&Sighting>) -> bool {
        let Some(seen) = seen else {
            self.tried = None;
            return false;
        };
        if self.tried.as_ref() != Some(seen) {
            self.tried = Some(seen.clone());
            self.backoff.reset();
            return true;
        }
        at >= self.due
    }

    /// The attempt failed, or what was opened was of no use.
    pub(super) fn failed(&mut self, at: MonoTime) {
        self.due = at.plus_micros(u64::try_from(self.backoff.next_wait().as_micros()).unwrap_or(u64::MAX));
    }

    /// What was opened works: the next failure waits for the shortest time.
    pub(super) fn works(&mut self) {
        self.backoff.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::PathBuf;

    fn ms(ms: u64) -> MonoTime {
        MonoTime::ZERO.plus_ms(ms)
    }

    fn sighting(path: &str) -> Option<Sighting> {
        Some(Sighting::of(PathBuf::from(path)).unwrap())
    }

    /// Looks every 250 ms for `until` ms; when the port was tried, in vain.
    fn tries(attempts: &mut Attempts, until: u64, seen: impl Fn(u64) -> Option<Sighting>) -> Vec<u64> {
        let mut tried = Vec::new();
        for now in (0..until).step_by(250) {
            if attempts.is_due(ms(now), seen(now).as_ref()) {
                tried.push(now);
                attempts.failed(ms(now));
            }
        }
        tried
    }

    #[test]
    fn a_port_that_does_not_open_is_tried_less_and_less_often() {
        let tried = tries(&mut Attempts::default(), 30_000, |_| sighting("/dev/null"));
        assert_eq!(tried, [0, 250, 750, 1750, 3750, 7750, 12_750, 17_750, 22_750, 27_750]);
    }

    #[test]
    fn a_device_that_appears_is_tried_at_once() {
        let seen = |now| if (10_000..20_000).contains(&now) { None } else { sighting("/dev/null") };
        let tried = tries(&mut Attempts::default(), 21_000, seen);
        assert_eq!(tried[6..], [20_000, 20_250, 20_750], "{tried:?}");
    }

    #[test]
    fn another_device_is_tried_at_once() {
        let seen = |now| sighting(if now < 10_000 { "/dev/null" } else { "/dev/zero" });
        let tried = tries(&mut Attempts::default(), 11_000, seen);
        assert_eq!(tried[6..], [10_000, 10_250, 10_750], "{tried:?}");
    }

    proptest! {
        /// However a device comes and goes: never more often than somebody looks, and seldom while it stays.
        #[test]
        fn there_is_no_storm(there in proptest::collection::vec(any::<bool>(), 1..400)) {
            let seen = |now: u64| {
                let index = usize::try_from(now / 250).unwrap();
                if there[index] { sighting("/dev/null") } else { None }
            };
            let tried = tries(&mut Attempts::default(), 250 * there.len() as u64, seen);
            let appearances = there.windows(2).filter(|pair| !pair[0] && pair[1]).count() + 1;
            let steady = there.len() / 20 + 6 * appearances;
            prop_assert!(tried.len() <= steady, "{} tries", tried.len());
        }
    }
}
