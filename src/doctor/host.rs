//! The checks of the machine, from what the system told: disk, time, temperature, power.

use super::report::{Check, Topic};
use crate::time_source::TimeSource;

/// A file system, as `/proc/self/mounts` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// What is mounted.
    pub source: String,
    /// Kind of file system.
    pub kind: String,
    /// It is mounted read-only.
    pub read_only: bool,
}

/// The file system that holds an absolute path, from the text of `/proc/self/mounts`.
pub fn mount_of(path: &str, mounts: &str) -> Option<Mount> {
    let mut found: Option<(usize, Mount)> = None;
    for line in mounts.lines() {
        let mut fields = line.split(' ');
        let (Some(source), Some(point), Some(kind), Some(options)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        // Blanks in a path are written as \040.
        let point = point.replace("\\040", " ");
        let inside = point == "/"
            || path.strip_prefix(&point).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if inside && found.as_ref().is_none_or(|(length, _)| point.len() >= *length) {
            let read_only = options.split(',').any(|option| option == "ro");
            found =
                Some((point.len(), Mount { source: source.to_owned(), kind: kind.to_owned(), read_only }));
        }
    }
    found.map(|(_, mount)| mount)
}

/// What was measured of a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disk {
    /// Bytes that are free for this user.
    pub free_bytes: u64,
    /// Files that can still be made; `None` where the file system does not count them.
    pub free_files: Option<u64>,
    /// Microseconds of each write with its fsync.
    pub syncs_us: Vec<u64>,
    /// Where it is mounted.
    pub mount: Option<Mount>,
}

/// A game takes some 0.2 MB; below this the disk is as good as full.
const FULL_BYTES: u64 = 20 * 1_000_000;
/// Below this there is room for some hundred games, and logs of the system grow.
const LOW_BYTES: u64 = 500 * 1_000_000;
/// A slower disk delays moves noticeably, in microseconds.
const SLOW_US: u64 = 250_000;

/// The check of the disk that holds the journals.
pub fn disk(path: &str, disk: &Disk) -> Check {
    let topic = Topic::Disk;
    let megabytes = disk.free_bytes / 1_000_000;
    let room = "delete what is not needed; journals are never deleted by the program";
    let check = if disk.free_bytes < FULL_BYTES || disk.free_files.is_some_and(|files| files < 100) {
        Check::failed(topic, format!("{megabytes} MB are free, which is as good as full"))
            .remedy(room)
            .command("df -h; sudo journalctl --vacuum-size=50M")
    } else if let Some(mount) = disk.mount.as_ref().filter(|mount| forgets(mount)) {
        Check::warning(
            topic,
            format!(
                "the journals lie on {} ({}), which forgets everything when the power goes",
                mount.kind, mount.source
            ),
        )
        .remedy("set data dir to a real disk, or mount one there")
        .command("findmnt")
    } else if disk.free_bytes < LOW_BYTES {
        Check::warning(topic, format!("{megabytes} MB are free, room for about {} games", megabytes * 5))
            .remedy(room)
            .command("df -h")
    } else {
        match disk.syncs_us.iter().max() {
            None => Check::not_run(
                topic,
                format!("{megabytes} MB are free; the folder could not be written to time it"),
            ),
            Some(worst) if *worst > SLOW_US => Check::warning(
                topic,
                format!("a write takes up to {} ms; moves leave that much later", worst / 1000),
            )
            .remedy("take another card or disk; one that is nearly worn out gets slow"),
            Some(worst) => Check::ok(
                topic,
                format!(
                    "{megabytes} MB free, room for about {} games; {} writes with fsync took up to {}",
                    megabytes.saturating_mul(5),
                    disk.syncs_us.len(),
                    short_time(*worst)
                ),
            ),
        }
    };
    check.at(path)
}

fn short_time(us: u64) -> String {
    if us < 1000 { format!("{us} us") } else { format!("{}.{} ms", us / 1000, us % 1000 / 100) }
}

/// True for a disk in memory, and for the overlay of a read-only system, whose upper half is in memory.
fn forgets(mount: &Mount) -> bool {
    matches!(mount.kind.as_str(), "tmpfs" | "ramfs")
        || (mount.kind == "overlay" && mount.source == "overlayroot")
}

/// Years before this one are none in which this program runs.
const FIRST_YEAR: i32 = 2025;

/// The check of the time. `year` is that of the system's clock.
pub fn time(source: &TimeSource, year: i32) -> Check {
    let topic = Topic::Time;
    let means = "times of the game are right all the same (they do not come from this clock); the UTC beside them \
                 and the names of the journals are as wrong as it is";
    let command = "sudo systemctl enable --now systemd-timesyncd; timedatectl";
    if year < FIRST_YEAR {
        return Check::failed(topic, format!("the clock of the system says the year {year}; {means}"))
            .remedy("set the time, or connect a network with a time server")
            .command(command);
    }
    match source {
        TimeSource::Synchronised(who) => {
            Check::ok(topic, format!("synchronised ({who}); the UTC in the record is right"))
        }
        TimeSource::Free(who) => Check::warning(topic, format!("not synchronised ({who}); {means}"))
            .remedy("connect a network with a time server, or set the time by hand")
            .command(command),
        TimeSource::Unknown(why) => {
            Check::not_run(topic, format!("nobody says whether it is synchronised: {why}"))
        }
    }
}

/// At this temperature a Raspberry Pi begins to slow down, in thousandths of a degree.
const HOT_MILLI: i64 = 80_000;
const WARM_MILLI: i64 = 70_000;

/// The check of the temperature, from the text of a `thermal_zone*/temp`.
pub fn temperature(text: Option<&str>) -> Check {
    let topic = Topic::Temperature;
    let Some(milli) = text.and_then(|text| text.trim().parse::<i64>().ok()) else {
        return Check::not_run(topic, "this machine tells no temperature (/sys/class/thermal)");
    };
    let degrees = format!("{} degrees Celsius", milli / 1000);
    if milli >= HOT_MILLI {
        Check::failed(topic, format!("{degrees}: the processor slows itself down, and scans are late"))
            .remedy("give it air, or a heat sink")
    } else if milli >= WARM_MILLI {
        Check::warning(topic, format!("{degrees}: it will soon slow down"))
            .remedy("give it air, or a heat sink")
    } else {
        Check::ok(topic, degrees)
    }
}

/// The check of the power, from the text of a Raspberry Pi's `get_throttled` (hexadecimal bits: 0 under-voltage
/// now, 1 capped, 2 throttled, 3 soft temperature limit; 16 to 19 the same since the start).
pub fn power(text: Option<&str>) -> Check {
    let topic = Topic::Power;
    let bits = text
        .map(|text| text.trim().trim_start_matches("0x"))
        .and_then(|text| u32::from_str_radix(text, 16).ok());
    let Some(bits) = bits else {
        return Check::not_run(topic, "this is no Raspberry Pi that tells of its power");
    };
    let words = |shift: u32| {
        ["under-voltage", "a capped frequency", "throttling", "a soft temperature limit"]
            .into_iter()
            .enumerate()
            .filter(move |(bit, _)| bits >> shift >> bit & 1 == 1)
            .map(|(_, word)| word)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (now, before) = (words(0), words(16));
    let remedy = "take the power supply of the Pi's maker and a short cable, and give it air";
    if !now.is_empty() {
        Check::failed(topic, format!("{now} now; a Pi with too little power loses its disk")).remedy(remedy)
    } else if !before.is_empty() {
        Check::warning(topic, format!("{before} since it was switched on")).remedy(remedy)
    } else {
        Check::ok(topic, "no under-voltage and no throttling since it was switched on")
    }
}

#[cfg(test)]
mod tests;
