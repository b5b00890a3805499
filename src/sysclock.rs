//! The one place that reads a clock.

use rustix::time::{ClockId, clock_gettime};

use crate::session::time::MonoTime;

/// Microseconds of `CLOCK_MONOTONIC`: since boot, never set, never stepped.
pub fn monotonic() -> MonoTime {
    MonoTime::from_micros(micros(ClockId::Monotonic))
}

/// Microseconds of UTC since 1970-01-01. May step; nothing in a game depends on it.
pub fn wall_micros() -> u64 {
    micros(ClockId::Realtime)
}

fn micros(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000).saturating_add(nanos / 1000)
}
