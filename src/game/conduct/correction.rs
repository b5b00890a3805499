//! What an arbiter ruled on a player's time and the external clock does not show yet.
//!
//! A clock that is read keeps to its own times: every reading replaces the account. So what was ruled is kept
//! beside it, until the clock is set (`send-clock`) or is seen to show it.

/// The correction of one side, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Correction {
    /// The part that the account holds: it was changed, and the clock was not read since.
    held: i64,
    /// The part that it does not hold.
    owed: i64,
}

const fn signed(ms: u64) -> i64 {
    if ms > i64::MAX as u64 { i64::MAX } else { ms as i64 }
}

/// By how many milliseconds a time was changed.
pub(super) fn between(before: u64, after: u64) -> i64 {
    signed(after).saturating_sub(signed(before))
}

impl Correction {
    /// The account was set from `before` to `after`, which is the whole time.
    pub(super) fn set(&mut self, before: Option<u64>, after: u64) {
        let Some(before) = before else { return *self = Correction::default() };
        let shown = signed(before).saturating_sub(self.held);
        *self = Correction { held: signed(after).saturating_sub(shown), owed: 0 };
    }

    /// The account was changed by what lies between.
    pub(super) fn change(&mut self, before: u64, after: u64) {
        self.held = self.held.saturating_add(between(before, after));
    }

    /// A time was ruled and the account left as it is, which has so much.
    pub(super) fn rule(&mut self, account: u64, ruled: u64) {
        self.owed = between(account, ruled);
    }

    /// The same, by what lies between.
    pub(super) fn rule_change(&mut self, before: u64, after: u64) {
        self.owed = self.owed.saturating_add(between(before, after));
    }

    /// The time as ruled, where the account has so much.
    pub(super) fn ruled(self, account: u64) -> u64 {
        signed(account).saturating_add(self.owed).max(0).unsigned_abs()
    }

    /// The clock was read, which replaces the account. `expected` is what that had; nothing where a press
    /// explains the reading.
    pub(super) fn read(&mut self, expected: Option<u64>, reported: u64, tolerance: u64) {
        let whole = self.held.saturating_add(self.owed);
        let shows_it = expected.filter(|_| whole != 0).is_some_and(|expected| {
            let ruled = self.ruled(expected);
            let unruled = signed(ruled).saturating_sub(whole);
            let off = ruled.abs_diff(reported);
            off <= tolerance && off < signed(reported).abs_diff(unruled)
        });
        *self = Correction { held: 0, owed: if shows_it { 0 } else { whole } };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_ruled_outlives_the_readings_of_a_clock_that_does_not_show_it() {
        let mut one = Correction::default();
        one.change(60_000, 180_000);
        assert_eq!(one.ruled(180_000), 180_000, "the account holds it");
        one.read(Some(179_000), 59_000, 1500);
        assert_eq!(one.ruled(59_000), 179_000);
        one.read(Some(58_000), 58_000, 1500);
        one.change(58_000, 68_000);
        assert_eq!(one.ruled(68_000), 188_000, "a second ruling comes on top");
        one.read(Some(68_000), 58_000, 1500);
        assert_eq!(one.ruled(58_000), 188_000);
    }

    #[test]
    fn a_clock_that_was_set_by_hand_has_it() {
        let mut one = Correction::default();
        one.set(Some(60_000), 90_400);
        one.read(Some(90_400), 90_000, 1500);
        assert_eq!(one, Correction::default());
        one.rule(60_000, 180_000);
        one.read(Some(60_000), 60_000, 1500);
        one.read(Some(60_000), 180_000, 1500);
        assert_eq!(one, Correction::default(), "and later, too");
    }

    #[test]
    fn a_small_correction_is_not_lost_in_the_tolerance() {
        let mut one = Correction::default();
        one.change(60_000, 61_000);
        one.read(Some(61_000), 60_000, 1500);
        assert_eq!(one.ruled(60_000), 61_000);
        one.read(Some(60_000), 61_000, 1500);
        assert_eq!(one, Correction::default());
    }

    #[test]
    fn an_increment_is_no_correction_by_hand() {
        let mut one = Correction::default();
        one.rule(60_000, 90_000);
        one.read(None, 90_000, 1500);
        assert_eq!(one.ruled(90_000), 120_000);
    }

    #[test]
    fn a_time_that_is_set_is_the_whole_time() {
        let mut one = Correction::default();
        one.rule_change(60_000, 180_000);
        one.set(Some(60_000), 100_000);
        assert_eq!(one.ruled(100_000), 100_000);
        one.read(None, 59_000, 1500);
        assert_eq!(one.ruled(59_000), 99_000);
        one.rule_change(600_000, 0);
        assert_eq!(one.ruled(59_000), 0, "no time is below zero");
    }
}
