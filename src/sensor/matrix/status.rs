//! How the scans of a matrix are doing, for the operator.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use super::selftest::Finding;

/// Upper bounds of the classes in which the lateness of scans is counted, in microseconds. One more class
/// holds what is later.
pub const LATE_BOUNDS_US: [u64; 8] = [50, 100, 250, 500, 1_000, 2_500, 5_000, 20_000];

/// Figures of the scans since the start, shared between the thread that scans and those that ask.
#[derive(Debug, Default)]
pub struct Status {
    scans: AtomicU64,
    late: [AtomicU64; LATE_BOUNDS_US.len() + 1],
    late_sum_us: AtomicU64,
    late_worst_us: AtomicU64,
    overruns: AtomicU64,
    missed: AtomicU64,
    failures: AtomicU64,
    /// Real-time priority was asked for and refused.
    refused: AtomicBool,
    /// What the self-test found last.
    wiring: Mutex<Vec<Finding>>,
}

/// A copy of the figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanFigures {
    /// Scans of the whole board.
    pub scans: u64,
    /// How many scans began late by at most each of [`LATE_BOUNDS_US`], and how many later.
    pub late: [u64; LATE_BOUNDS_US.len() + 1],
    /// By how much all scans together began late, in microseconds.
    pub late_sum_us: u64,
    /// By how much the worst one did.
    pub late_worst_us: u64,
    /// Scans that began more than three periods late.
    pub overruns: u64,
    /// Scans that were left out because their time had passed.
    pub missed: u64,
    /// Times that the port could not be read.
    pub failures: u64,
    /// What is wrong with the wiring; nothing while nothing is known.
    pub wiring: Option<String>,
}

impl Status {
    /// Counts a scan that began `late_us` after its time.
    pub fn count_scan(&self, late_us: u64) {
        self.scans.fetch_add(1, Relaxed);
        let class = LATE_BOUNDS_US.iter().position(|bound| late_us <= *bound).unwrap_or(LATE_BOUNDS_US.len());
        if let Some(counter) = self.late.get(class) {
            counter.fetch_add(1, Relaxed);
        }
        self.late_sum_us.fetch_add(late_us, Relaxed);
        self.late_worst_us.fetch_max(late_us, Relaxed);
    }

    /// Counts an overrun.
    pub fn count_overrun(&self) {
        self.overruns.fetch_add(1, Relaxed);
    }

    /// Counts scans that were left out.
    pub fn count_missed(&self, scans: u64) {
        self.missed.fetch_add(scans, Relaxed);
    }

    /// Counts a failure of the port.
    pub fn count_failure(&self) {
        self.failures.fetch_add(1, Relaxed);
    }

    /// Notes that real-time priority was refused; true for the first time.
    pub fn is_refused_first(&self) -> bool {
        !self.refused.swap(true, Relaxed)
    }

    /// Says what is wrong with the wiring; gives what was wrong before.
    pub fn set_wiring(&self, findings: Vec<Finding>) -> Vec<Finding> {
        std::mem::replace(&mut self.wiring.lock().unwrap_or_else(PoisonError::into_inner), findings)
    }

    /// A copy of everything; nothing where no matrix is scanned.
    pub fn figures(&self) -> Option<ScanFigures> {
        let wiring = summary(&self.wiring.lock().unwrap_or_else(PoisonError::into_inner));
        let figures = ScanFigures {
            scans: self.scans.load(Relaxed),
            late: std::array::from_fn(|class| {
                self.late.get(class).map_or(0, |counter| counter.load(Relaxed))
            }),
            late_sum_us: self.late_sum_us.load(Relaxed),
            late_worst_us: self.late_worst_us.load(Relaxed),
            overruns: self.overruns.load(Relaxed),
            missed: self.missed.load(Relaxed),
            failures: self.failures.load(Relaxed),
            wiring,
        };
        (figures != ScanFigures::default()).then_some(figures)
    }
}

/// The findings in one line.
fn summary(findings: &[Finding]) -> Option<String> {
    let first = findings.first()?;
    let more = findings.len() - 1;
    let more = if more == 0 { String::new() } else { format!(" (and {more} more, see the log)") };
    Some(format!("{first}{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scans_are_counted_by_how_late_they_are() {
        let status = Status::default();
        assert_eq!(status.figures(), None);
        for late in [0, 50, 51, 20_000, 20_001] {
            status.count_scan(late);
        }
        status.count_overrun();
        status.count_missed(3);
        let figures = status.figures().unwrap();
        assert_eq!((figures.scans, figures.late), (5, [2, 1, 0, 0, 0, 0, 0, 1, 1]));
        assert_eq!((figures.late_sum_us, figures.late_worst_us), (40_102, 20_001));
        assert_eq!((figures.overruns, figures.missed), (1, 3));
    }
}
