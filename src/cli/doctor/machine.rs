//! Looks at the machine: folders, disk, tokens, time, temperature, power.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use time::OffsetDateTime;

use crate::{
    config::Config,
    desk::Token,
    doctor::{
        Check, Topic,
        folders::{self, Folder, Issuer, Rights, User},
        host::{self, Disk},
    },
    feed::lichess::Bearer,
    sysclock, time_source,
};

/// Writes with fsync that are timed.
const SYNCS: usize = 5;
/// Bytes of each; a move and its records are shorter.
const SYNC_BYTES: usize = 4096;
/// Files of a folder that are looked at.
const MOST_FILES: usize = 5000;
/// Files that are named.
const NAMED: usize = 5;

/// Every check of the machine; `is_held` while a daemon runs on this data directory.
pub(super) fn checks(config: &Config, is_service: bool, is_held: bool) -> Vec<Check> {
    let mut checks = folders(config, is_service);
    checks.extend(tokens(config, is_service));
    checks.extend(super::net::services(config, is_held));
    checks.extend(itself());
    checks
}

/// The folders that are written to, and their disk.
fn folders(config: &Config, is_service: bool) -> Vec<Check> {
    let service = service(is_service);
    let mut checks = Vec::new();
    let (found, syncs_us) = look(&config.data_dir, service.as_ref());
    checks.push(folders::folder(Topic::Journals, &found, service.as_ref()));
    match &config.pgn_dir {
        Some(dir) => {
            let (found, _) = look(dir, service.as_ref());
            checks.push(folders::folder(Topic::Pgn, &found, service.as_ref()));
        }
        None => checks.push(Check::not_run(Topic::Pgn, "PGN files are switched off")),
    }
    let near = existing(&config.data_dir);
    checks.push(match rustix::fs::statvfs(&near) {
        Ok(stat) => {
            let found = Disk {
                free_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
                free_files: (stat.f_files > 0).then_some(stat.f_favail),
                syncs_us,
                mount: mount(&near),
            };
            host::disk(&near.display().to_string(), &found)
        }
        Err(error) => Check::not_run(Topic::Disk, error.to_string()).at(near.display().to_string()),
    });
    checks
}

/// Says when somebody else tests the service's configuration.
pub(super) fn tester(is_service: bool) -> Option<Check> {
    folders::tester(&service(is_service)?, rustix::process::geteuid().as_raw())
}

/// The user of the service, where this program tests the service's configuration as somebody else.
fn service(is_service: bool) -> Option<User> {
    let text = |path| fs::read_to_string(path).unwrap_or_default();
    let user = User::of_service(&text("/etc/passwd"), &text("/etc/group"))?;
    (is_service && user.uid != rustix::process::geteuid().as_raw()).then_some(user)
}

/// The folder itself, or the nearest one above it that is there.
fn existing(dir: &Path) -> PathBuf {
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let near = dir.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    near.canonicalize().unwrap_or_else(|_| near.to_owned())
}

fn mount(path: &Path) -> Option<host::Mount> {
    host::mount_of(path.to_str()?, &fs::read_to_string("/proc/self/mounts").ok()?)
}

/// Writes into a folder and times it.
fn look(dir: &Path, service: Option<&User>) -> (Folder, Vec<u64>) {
    let path = dir.display().to_string();
    let near = existing(dir);
    let is_there = dir.exists();
    let (written, syncs_us) = match write(&near) {
        Ok(syncs_us) if is_there => (Some(Ok(())), syncs_us),
        Ok(syncs_us) => (None, syncs_us),
        Err(error) if is_there => (Some(Err(error.to_string())), Vec::new()),
        Err(error) => {
            let reason = format!("it is not there and cannot be made in {}: {error}", near.display());
            (Some(Err(reason)), Vec::new())
        }
    };
    let foreign = service.filter(|_| is_there).map(|user| foreign(dir, user)).unwrap_or_default();
    (Folder { path, written, foreign }, syncs_us)
}

/// Writes a file with fsync a few times and removes it: the microseconds of each time.
fn write(dir: &Path) -> std::io::Result<Vec<u64>> {
    let path = dir.join(format!(".touchmoved-doctor-{}", std::process::id()));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let mut times = Vec::new();
    let mut timed = || {
        for _ in 0..SYNCS {
            let began = sysclock::monotonic();
            file.write_all(&[b'.'; SYNC_BYTES])?;
            file.sync_data()?;
            times.push(sysclock::monotonic().since(began));
        }
        Ok(())
    };
    let done = timed();
    fs::remove_file(&path)?;
    done.map(|()| times)
}

fn rights(path: &Path) -> Option<Rights> {
    let metadata = fs::metadata(path).ok()?;
    Some(Rights { uid: metadata.uid(), gid: metadata.gid(), mode: metadata.mode() & 0o777 })
}

/// What in a folder and its folders a user may not write.
fn foreign(dir: &Path, user: &User) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    let mut seen = 0;
    let mut judge = |path: &Path| -> bool {
        seen += 1;
        let wanted = if path.is_dir() { 7 } else { 6 };
        if found.len() < NAMED && rights(path).is_some_and(|rights| !user.may(wanted, rights)) {
            found.push(path.display().to_string());
        }
        seen < MOST_FILES
    };
    while let Some(folder) = folders.pop() {
        if !judge(&folder) {
            break;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() && !judge(&path) => break,
                _ => {}
            }
        }
    }
    found
}

/// Whether the service may open these device files, where somebody else tests its configuration.
pub(super) fn permissions(devices: &[PathBuf], is_service: bool) -> Vec<Check> {
    let Some(service) = service(is_service) else { return Vec::new() };
    let check =
        |path: &PathBuf| Some(folders::permissions(&path.display().to_string(), rights(path)?, &service));
    devices.iter().filter_map(check).collect()
}

/// The files with the tokens.
fn tokens(config: &Config, is_service: bool) -> Vec<Check> {
    let service = service(is_service);
    let look = |key, path: &Path, parse: &dyn Fn(&str) -> Result<(), String>| {
        let read = fs::read_to_string(path).map_err(|error| error.to_string());
        let read = read.and_then(|text| parse(&text));
        folders::token(key, &path.display().to_string(), read, rights(path), service.as_ref())
    };
    let of_arbiter = |text: &str| Token::parse(text).map(drop).map_err(|error| error.to_string());
    let of_lichess = |text: &str| Bearer::parse(text).map(drop).map_err(|error| error.to_string());
    let files = [
        ("arbiter.token-file", &config.arbiter_token),
        ("arbiter.assistant-token-file", &config.assistant_token),
    ];
    let named = files.into_iter().filter_map(|(key, path)| Some((key, path.as_ref()?)));
    let mut checks: Vec<Check> =
        named.map(|(key, path)| look((key, Issuer::Organizer), path, &of_arbiter)).collect();
    if checks.is_empty() {
        let why = "no token of an arbiter is configured: nothing can be entered over the network";
        checks.push(Check::not_run(Topic::Tokens, why));
    }
    match config.lichess.as_ref().map(|lichess| &lichess.token_file) {
        Some(Some(path)) => checks.push(look(("lichess.token-file", Issuer::Lichess), path, &of_lichess)),
        Some(None) => {
            let why = "that of Lichess is a credential, which the service manager hands to the service alone";
            checks.push(Check::not_run(Topic::Tokens, why));
        }
        None => {}
    }
    checks
}

/// Time, temperature and power.
pub(super) fn itself() -> Vec<Check> {
    let seconds = i64::try_from(sysclock::wall_micros() / 1_000_000).unwrap_or(0);
    let year = OffsetDateTime::from_unix_timestamp(seconds).map_or(1970, OffsetDateTime::year);
    let throttled = fs::read_to_string("/sys/devices/platform/soc/soc:firmware/get_throttled");
    vec![
        host::time(&time_source::look(), year),
        host::temperature(hottest().as_deref()),
        host::power(throttled.ok().as_deref()),
    ]
}

/// The highest temperature of the machine.
fn hottest() -> Option<String> {
    let zones = fs::read_dir("/sys/class/thermal").ok()?;
    let texts = zones.flatten().filter_map(|zone| fs::read_to_string(zone.path().join("temp")).ok());
    texts.max_by_key(|text| text.trim().parse::<i64>().unwrap_or(i64::MIN))
}
