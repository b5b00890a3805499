//! When the next push may begin. Pure: the time comes in.

use std::time::Duration;

use crate::session::time::MonoTime;

/// Most doublings of the wait between two attempts.
const DOUBLINGS: u32 = 16;
/// Longest wait that a server can ask for. Its clock, or the one here, may be wrong by years.
const LONGEST_ASKED: Duration = Duration::from_secs(3600);

/// Times of the pushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From the start of one push to the start of the next.
    pub interval: Duration,
    /// Wait after the first failure; it doubles with each that follows.
    pub first_retry: Duration,
    /// Longest wait after a failure.
    pub longest_retry: Duration,
    /// Wait after an answer that does not get better by itself.
    pub slow_retry: Duration,
    /// How long a connection may take to stand.
    pub connect: Duration,
    /// How long a request may take to be answered.
    pub answer: Duration,
}

impl Default for Timing {
    fn default() -> Timing {
        Timing {
            interval: Duration::from_millis(500),
            first_retry: Duration::from_secs(1),
            longest_retry: Duration::from_secs(60),
            slow_retry: Duration::from_secs(60),
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(20),
        }
    }
}

/// Spaces the pushes of one round.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    timing: Timing,
    /// Failures since the last success.
    failures: u32,
    not_before: MonoTime,
    chance: u64,
}

impl Pace {
    /// `seed` chooses by how much waits are shortened, so that many daemons do not come back in step.
    pub(super) fn new(timing: Timing, seed: u64) -> Pace {
        Pace { timing, failures: 0, not_before: MonoTime::ZERO, chance: seed | 1 }
    }

    /// How long to wait still.
    pub(super) fn wait(&self, now: MonoTime) -> Duration {
        Duration::from_micros(self.not_before.as_micros().saturating_sub(now.as_micros()))
    }

    /// Failures since the last success.
    pub(super) const fn failures(&self) -> u32 {
        self.failures
    }

    /// A push that began at `began` was taken.
    pub(super) fn succeeded(&mut self, began: MonoTime) {
        self.failures = 0;
        self.not_before = after(began, self.timing.interval);
    }

    /// A push failed at `now`; `asked` is how long the server wants to be left alone.
    pub(super) fn failed(&mut self, now: MonoTime, asked: Option<Duration>) {
        let doubled = self.timing.first_retry.saturating_mul(1 << self.failures.min(DOUBLINGS));
        let wait = self.shortened(doubled.min(self.timing.longest_retry));
        let asked = asked.unwrap_or_default().min(LONGEST_ASKED);
        self.failures = self.failures.saturating_add(1);
        self.not_before = after(now, wait.max(asked).max(self.timing.interval));
    }

    /// A push was answered in a way that a person has to see to.
    pub(super) fn refused(&mut self, now: MonoTime, asked: Option<Duration>) {
        let wait = self.shortened(self.timing.slow_retry);
        let asked = asked.unwrap_or_default().min(LONGEST_ASKED);
        self.failures = self.failures.saturating_add(1);
        self.not_before = after(now, wait.max(asked).max(self.timing.interval));
    }

    /// Half of a wait up to all of it, by chance.
    fn shortened(&mut self, wait: Duration) -> Duration {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        let us = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
        let half = us / 2;
        Duration::from_micros(us - half + self.chance % half.saturating_add(1))
    }
}

fn after(time: MonoTime, wait: Duration) -> MonoTime {
    let us = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
    MonoTime::from_micros(time.as_micros().saturating_add(us))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: MonoTime = MonoTime::from_micros(1_000_000);

    #[test]
    fn pushes_are_apart_by_the_interval() {
        let mut pace = Pace::new(Timing::default(), 7);
        assert_eq!(pace.wait(MonoTime::ZERO), Duration::ZERO);
        pace.succeeded(SECOND);
        assert_eq!(pace.wait(SECOND), Duration::from_millis(500));
        assert_eq!(pace.wait(MonoTime::from_micros(1_600_000)), Duration::ZERO);
    }

    #[test]
    fn a_success_ends_the_back_off() {
        let mut pace = Pace::new(Timing::default(), 7);
        (0..10).for_each(|_| pace.failed(SECOND, None));
        assert!(pace.wait(SECOND) >= Duration::from_secs(30));
        pace.succeeded(SECOND);
        pace.failed(SECOND, None);
        assert!(pace.wait(SECOND) <= Duration::from_secs(1));
    }

    proptest! {
        #[test]
        fn waits_double_up_to_the_longest_and_no_server_asks_for_more_than_an_hour(
            seed: u64,
            failures in 1..40_u32,
            asked in prop::option::of(0..100_000_u64),
        ) {
            let mut pace = Pace::new(Timing::default(), seed);
            (0..failures).for_each(|_| pace.failed(SECOND, None));
            let full = Duration::from_secs(1).saturating_mul(1 << (failures - 1).min(16)).min(Duration::from_secs(60));
            let wait = pace.wait(SECOND);
            prop_assert!(wait >= full / 2 && wait <= full, "{:?} of {:?}", wait, full);
            let asked = asked.map(Duration::from_secs);
            pace.failed(SECOND, asked);
            let least = asked.unwrap_or_default().min(LONGEST_ASKED);
            let wait = pace.wait(SECOND);
            prop_assert!(wait >= least && wait <= least.max(Duration::from_secs(60)), "{:?}", wait);
        }
    }
}
