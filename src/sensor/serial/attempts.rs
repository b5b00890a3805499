//! When a port is tried: at once when its device file appears, then less and less often.

use crate::session::time::MonoTime;

use super::{Backoff, place::Sighting};

/// A device that appears is tried at once, but no sooner than this after the last attempt, in milliseconds: a
/// contact may come and go by itself.
const AGAIN_MS: u64 = 500;

/// What worked for as long as this begins with the shortest pause again.
const GOOD_MS: u64 = 10_000;

/// Decides, without a clock of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempts {
    backoff: Backoff,
    /// The device file of the last look.
    seen: Option<Sighting>,
    /// No attempt at the same file before this time.
    due: MonoTime,
    /// When it was tried last.
    tried: Option<MonoTime>,
    /// Since when the device works.
    good: Option<MonoTime>,
}

impl Attempts {
    /// True when the port should be tried at `at`, which then counts as an attempt. A file that was not there at
    /// the last look is tried at once.
    pub(super) fn is_due(&mut self, at: MonoTime, seen: Option<&Sighting>) -> bool {
        if self.seen.as_ref() != seen {
            self.seen = seen.cloned();
            self.backoff.reset();
            self.due = self.tried.map_or(at, |tried| tried.plus_ms(AGAIN_MS));
        }
        let due = seen.is_some() && at >= self.due;
        if due {
            self.tried = Some(at);
        }
        due
    }

    /// The attempt failed, or what was opened was of no use.
    pub(super) fn failed(&mut self, at: MonoTime) {
        if self.good.take().is_some_and(|since| at >= since.plus_ms(GOOD_MS)) {
            self.backoff.reset();
        }
        self.due = at.plus_micros(u64::try_from(self.backoff.next_wait().as_micros()).unwrap_or(u64::MAX));
    }

    /// What was opened works.
    pub(super) fn works(&mut self, at: MonoTime) {
        self.good.get_or_insert(at);
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

    #[test]
    fn a_device_that_works_for_a_moment_only_is_no_better_than_one_that_does_not() {
        let mut attempts = Attempts::default();
        let mut tried = Vec::new();
        for now in (0..60_000).step_by(250) {
            if attempts.is_due(ms(now), sighting("/dev/null").as_ref()) {
                tried.push(now);
                attempts.works(ms(now));
                attempts.failed(ms(now + 100));
            }
        }
        assert!(tried.len() <= 17, "{tried:?}");
        attempts.works(ms(60_000));
        attempts.failed(ms(70_000));
        assert!(attempts.is_due(ms(70_250), sighting("/dev/null").as_ref()), "it has worked for long");
    }

    proptest! {
        /// However a device comes and goes: never more often than twice a second, and seldom while it stays.
        #[test]
        fn there_is_no_storm(there in proptest::collection::vec(any::<bool>(), 1..2000)) {
            let seen = |now: u64| {
                let index = usize::try_from(now / 250).unwrap();
                if there[index] { sighting("/dev/null") } else { None }
            };
            let length = 250 * there.len() as u64;
            let tried = tries(&mut Attempts::default(), length, seen);
            let close = tried.windows(3).filter(|times| times[2] - times[0] < 750).count();
            prop_assert_eq!(close, 0, "{:?}", tried);
            let appearances = there.windows(2).filter(|pair| !pair[0] && pair[1]).count() + 1;
            prop_assert!(tried.len() <= there.len() / 20 + 6 * appearances, "{} tries", tried.len());
        }
    }
}
