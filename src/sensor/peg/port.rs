//! Waiting for a port: less and less often while nothing changes, at once when a device is plugged in.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path, time::Duration};

use super::super::{Stop, serial::Backoff, sleep_unless_stopped};

/// Time between two looks at the device file.
const LOOK: Duration = Duration::from_millis(100);

/// No two attempts are closer than this, however often a device comes and goes.
const CLOSEST: Duration = Duration::from_millis(250);

/// A device file at one moment. Another one means that a device was plugged in, or that its permissions were
/// changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sighting {
    device: u64,
    file: u64,
    system: u64,
    /// When the file was changed, not written: seconds and nanoseconds.
    changed: (i64, i64),
}

impl Sighting {
    /// Looks at a path, through links; nothing where there is nothing.
    pub(super) fn of(path: &Path) -> Option<Sighting> {
        let seen = fs::metadata(path).ok()?;
        let changed = (seen.ctime(), seen.ctime_nsec());
        Some(Sighting { device: seen.rdev(), file: seen.ino(), system: seen.dev(), changed })
    }
}

/// Waits for the next attempt at a port: until the pause of `backoff` is over, or until there is another device
/// than the one that was `tried`. False when the end was asked for.
pub(super) fn wait(path: &Path, tried: Option<Sighting>, backoff: &mut Backoff, stop: &Stop) -> bool {
    let mut left = backoff.next_wait();
    let mut slice = CLOSEST.min(left);
    while !left.is_zero() {
        if !sleep_unless_stopped(u64::try_from(slice.as_micros()).unwrap_or(u64::MAX), stop) {
            return false;
        }
        let seen = Sighting::of(path);
        if seen.is_some() && seen != tried {
            backoff.reset();
            return true;
        }
        left = left.saturating_sub(slice);
        slice = LOOK.min(left);
    }
    !stop.is_set()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A back-off whose next pause is the longest one.
    fn patient() -> Backoff {
        let mut backoff = Backoff::new();
        for _ in 0..9 {
            backoff.next_wait();
        }
        backoff
    }

    #[test]
    fn another_device_behind_a_name_is_another_sighting() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("peg");
        assert_eq!(Sighting::of(&link), None);
        let sight = |device: &str| {
            let _ = fs::remove_file(&link);
            symlink(device, &link).unwrap();
            Sighting::of(&link)
        };
        let null = sight("/dev/null");
        assert!(null.is_some());
        assert_eq!(null, sight("/dev/null"));
        assert_ne!(null, sight("/dev/zero"));
    }

    #[test]
    fn a_device_that_is_there_now_ends_the_wait_and_begins_with_short_pauses_again() {
        let mut backoff = patient();
        assert!(wait(Path::new("/dev/null"), None, &mut backoff, &Stop::default()));
        assert_eq!(backoff.next_wait(), Duration::from_millis(250));
    }

    #[test]
    fn without_a_device_the_pauses_go_on_growing() {
        let mut backoff = Backoff::new();
        let there = Sighting::of(Path::new("/dev/null"));
        assert!(wait(Path::new("/dev/null"), there, &mut backoff, &Stop::default()));
        assert!(wait(Path::new("/dev/touchmoved/none"), None, &mut backoff, &Stop::default()));
        assert_eq!(backoff.next_wait(), Duration::from_millis(1000));
    }

    #[test]
    fn the_end_ends_the_wait() {
        let stop = Stop::default();
        stop.set();
        assert!(!wait(Path::new("/dev/touchmoved/none"), None, &mut patient(), &stop));
    }
}
