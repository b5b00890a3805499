//! `[release]`, and the same keys in the table of an output: what leaves when.

use super::section::Section;
use crate::publish::release::{Delay, Policy, Threshold};

/// Longest delay, a day.
const LONGEST_S: u64 = 86_400;
/// Most half-moves that an output stays behind.
const MOST_PLIES: u64 = 400;

pub(super) const THRESHOLDS: [(&str, Threshold); 2] =
    [("made", Threshold::Made), ("completed", Threshold::Completed)];

/// The keys of a table; what it does not say is as in `otherwise`.
pub(super) fn policy(section: &Section<'_>, otherwise: Policy) -> Policy {
    let threshold = section.word("publish", &THRESHOLDS).unwrap_or(otherwise.threshold);
    Policy { threshold, delay: delay(section, otherwise.delay) }
}

/// The delay alone, of an output with a threshold of its own.
pub(super) fn delay(section: &Section<'_>, otherwise: Delay) -> Delay {
    let seconds = section.integer("delay-s", "of seconds", 0, LONGEST_S);
    let plies = section.integer("delay-plies", "of half-moves", 0, MOST_PLIES);
    Delay {
        us: seconds.map_or(otherwise.us, |seconds| seconds * 1_000_000),
        plies: plies.unwrap_or(otherwise.plies),
    }
}
