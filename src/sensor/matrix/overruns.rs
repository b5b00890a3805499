//! Scans that began late, for the journal.

use serde_json::json;

use crate::session::{event::Event, time::MonoTime};

/// A scan that begins this many periods late is an overrun.
const OVERRUN_PERIODS: u64 = 3;
/// Overruns are reported at most this often.
const REPORT_US: u64 = 10_000_000;

/// Late scans that were not reported yet.
#[derive(Debug, Default)]
pub(super) struct Overruns {
    fresh: u64,
    /// Microseconds of the worst one.
    worst_us: u64,
    total: u64,
    reported: Option<MonoTime>,
}

impl Overruns {
    /// Counts a scan that began `late_us` after its time; true when that is an overrun.
    pub(super) fn count(&mut self, late_us: u64, period_us: u64) -> bool {
        let over = late_us > period_us.saturating_mul(OVERRUN_PERIODS);
        if over {
            self.fresh += 1;
            self.total += 1;
            self.worst_us = self.worst_us.max(late_us);
        }
        over
    }

    /// What is to be reported at `now`, if anything.
    pub(super) fn report(&mut self, now: MonoTime) -> Option<Event> {
        let due = self.reported.is_none_or(|before| now.since(before) >= REPORT_US);
        if self.fresh == 0 || !due {
            return None;
        }
        let value = json!({
            "source": "matrix",
            "overruns": self.fresh,
            "worst_us": self.worst_us,
            "overruns_total": self.total,
        });
        (self.fresh, self.worst_us, self.reported) = (0, 0, Some(now));
        Some(Event::Device(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_scans_are_counted_and_reported_now_and_then() {
        let mut overruns = Overruns::default();
        let at = MonoTime::from_micros;
        assert!(!overruns.count(15_000, 5_000));
        assert_eq!(overruns.report(at(0)), None);
        assert!(overruns.count(15_001, 5_000) && overruns.count(90_000, 5_000));
        let expected = json!({"source": "matrix", "overruns": 2, "worst_us": 90_000, "overruns_total": 2});
        assert_eq!(overruns.report(at(1)), Some(Event::Device(expected)));
        overruns.count(20_000, 5_000);
        assert_eq!(overruns.report(at(REPORT_US)), None);
        let expected = json!({"source": "matrix", "overruns": 1, "worst_us": 20_000, "overruns_total": 3});
        assert_eq!(overruns.report(at(REPORT_US + 1)), Some(Event::Device(expected)));
    }
}
