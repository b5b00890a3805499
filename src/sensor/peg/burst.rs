//! When the lines of one reading happened.
//!
//! All bytes of one reading come at one time, however long they have waited: in the board, on the wire, in
//! the kernel, or because this program was busy. Each line carries the time of the board at which it
//! became true, so that the distances between lines of one reading are known to the millisecond. The last
//! line is taken to have come when it was read, and the others by so much before it. None is put before
//! the reading before: what had come by then was read then. The clock of a cheap board may go wrong by
//! some thousandths, which is nothing over the length of one reading; times of different readings are
//! never compared by the board's clock.

use crate::session::time::MonoTime;

/// Stamps of lines that were read at `at`, by their times on the board's clock; none is before `since`,
/// and they never go back.
pub(super) fn stamps(since: MonoTime, at: MonoTime, times_ms: &[u32]) -> Vec<MonoTime> {
    let floor = since.min(at);
    let mut stamps = vec![at; times_ms.len()];
    let mut later: Option<(u32, MonoTime)> = None;
    for (stamp, ms) in stamps.iter_mut().zip(times_ms).rev() {
        if let Some((later_ms, later_at)) = later {
            *stamp = earlier(later_at, between(*ms, later_ms)).max(floor);
        }
        later = Some((*ms, *stamp));
    }
    stamps
}

/// Milliseconds from one time of the board to a later one; 0 when the board's clock went back.
fn between(ms: u32, later_ms: u32) -> u64 {
    let forward = later_ms.wrapping_sub(ms);
    if goes_back(ms, later_ms) { 0 } else { u64::from(forward) }
}

/// True when the board's clock, which wraps, went back: the board has started again.
pub(super) const fn goes_back(ms: u32, later_ms: u32) -> bool {
    later_ms.wrapping_sub(ms) > u32::MAX / 2
}

fn earlier(at: MonoTime, ms: u64) -> MonoTime {
    MonoTime::from_micros(at.as_micros().saturating_sub(ms.saturating_mul(1000)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(since_ms: u64, at_ms: u64, times_ms: &[u32]) -> Vec<u64> {
        let at = |ms| MonoTime::ZERO.plus_ms(ms);
        stamps(at(since_ms), at(at_ms), times_ms).iter().map(|stamp| stamp.as_micros() / 1000).collect()
    }

    #[test]
    fn a_line_alone_came_when_it_was_read() {
        assert_eq!(of(0, 5000, &[77]), [5000]);
        assert!(of(0, 5000, &[]).is_empty());
    }

    #[test]
    fn lines_that_waited_together_keep_their_distances() {
        assert_eq!(of(0, 5000, &[100, 350, 1100]), [4000, 4250, 5000]);
        assert_eq!(of(0, 5000, &[u32::MAX - 49, 50]), [4900, 5000], "the board's clock wraps");
    }

    #[test]
    fn no_line_came_before_the_reading_before_and_a_restart_counts_for_nothing() {
        assert_eq!(of(4900, 5000, &[100, 1050, 1100]), [4900, 4950, 5000]);
        assert_eq!(of(0, 5000, &[90_000, 90_010, 3, 13]), [4980, 4990, 4990, 5000]);
    }

    proptest! {
        #[test]
        fn stamps_never_go_back_nor_leave_their_bracket(
            since in 0u64..10_000, wait in 0u64..10_000, times in prop::collection::vec(any::<u32>(), 0..8),
        ) {
            let stamps = of(since, since + wait, &times);
            prop_assert!(stamps.is_sorted());
            prop_assert!(stamps.iter().all(|stamp| (since..=since + wait).contains(stamp)));
            prop_assert!(stamps.last().is_none_or(|last| *last == since + wait));
        }
    }
}
