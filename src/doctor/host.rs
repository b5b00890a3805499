//! The checks of the machine, from what the system told: folders, disk, time, temperature, power.

use super::report::{Check, Topic};

/// Owner and rights of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Number of the owner.
    pub uid: u32,
    /// Number of the group.
    pub gid: u32,
    /// The rights, as `chmod` takes them.
    pub mode: u32,
}

/// A user as the rights see him.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// His name.
    pub name: String,
    /// His number.
    pub uid: u32,
    /// The numbers of his groups.
    pub gids: Vec<u32>,
}

impl User {
    /// A user by his name, from the texts of `/etc/passwd` and `/etc/group`.
    pub fn find(name: &str, passwd: &str, group: &str) -> Option<User> {
        let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        let uid = fields.next()?.parse().ok()?;
        let mut gids = vec![fields.next()?.parse().ok()?];
        for line in group.lines() {
            let mut fields = line.split(':').skip(2);
            let (Some(gid), Some(members)) = (fields.next(), fields.next()) else { continue };
            if let (true, Ok(gid)) = (members.split(',').any(|member| member == name), gid.parse()) {
                gids.push(gid);
            }
        }
        Some(User { name: name.to_owned(), uid, gids })
    }

    /// True when the user has the right: 4 to read, 2 to write, 1 to enter, or a sum of them.
    pub fn may(&self, right: u32, on: Rights) -> bool {
        let granted = if self.uid == 0 {
            7
        } else if self.uid == on.uid {
            on.mode >> 6
        } else if self.gids.contains(&on.gid) {
            on.mode >> 3
        } else {
            on.mode
        };
        granted & right == right
    }
}

/// What was found of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Its path.
    pub path: String,
    /// What happened when a file was written into it: nothing wrong, or what the system says. `None` when it
    /// is not there and would be made in the folder above it.
    pub written: Option<Result<(), String>>,
    /// Folders and files in it that the service may not write, the first few of them.
    pub foreign: Vec<String>,
}

/// The name of the service's user on this machine.
pub const SERVICE_USER: &str = "touchmoved";

/// Says that somebody else than the user of the service, or root, tests the service's configuration: what he may
/// not read or write fails here and not in the service.
pub fn tester(service: &User, uid: u32) -> Option<Check> {
    (uid != 0 && uid != service.uid).then(|| {
        Check::warning(
            Topic::Configuration,
            format!(
                "the service runs as {}, and this as somebody else, who may be refused what it is not",
                service.name
            ),
        )
        .remedy("run this as the service does")
        .command(format!("sudo -u {} touchmoved doctor", service.name))
    })
}

/// The check of a folder that is written to. `service` is the user of the service, where the machine has him
/// and this program runs as somebody else.
pub fn folder(topic: Topic, folder: &Folder, service: Option<&User>) -> Check {
    let path = &folder.path;
    let mine = |user: &User| format!("sudo chown -R {0}:{0} {path}", user.name);
    let check = match (&folder.written, folder.foreign.first(), service) {
        (Some(Err(reason)), _, _) => {
            let check = Check::failed(topic, format!("cannot be written: {reason}"))
                .remedy("make it a folder that the user of the service may write");
            match service {
                Some(user) => check.command(mine(user)),
                None => check.command(format!("ls -ld {path}; df -h {path}; id")),
            }
        }
        (_, Some(first), Some(user)) => {
            Check::failed(topic, format!("the user {} of the service may not write {first}", user.name))
                .remedy("give it to that user; it happens when the program was run as root")
                .command(mine(user))
        }
        (None, _, _) => Check::ok(topic, "is not there yet and will be made at the start"),
        (Some(Ok(())), _, _) => Check::ok(topic, "can be written"),
    };
    check.at(path)
}

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

/// The check of a file with a token. `read` is what came of reading it: what is wrong with the token, or
/// what the system says.
pub fn token(
    key: &str,
    path: &str,
    read: Result<(), String>,
    rights: Option<Rights>,
    service: Option<&User>,
) -> Check {
    let topic = Topic::Tokens;
    let place = format!("{key} {path}");
    if let Err(reason) = read {
        return Check::failed(topic, format!("cannot be used: {reason}"))
            .at(place)
            .remedy("make a file with one random token, readable for the service only")
            .command(format!("openssl rand -hex 16 | sudo install -m 640 -g touchmoved /dev/stdin {path}"));
    }
    match (rights, service) {
        (Some(rights), _) if rights.mode & 0o007 != 0 => {
            Check::warning(topic, "every user of this machine can read it")
                .at(place)
                .remedy("take that right away")
                .command(format!("sudo chmod o-rwx {path}"))
        }
        (Some(rights), Some(user)) if !user.may(4, rights) => {
            Check::failed(topic, format!("the user {} of the service cannot read it", user.name))
                .at(place)
                .remedy("give it to that user's group")
                .command(format!("sudo chgrp {} {path} && sudo chmod 640 {path}", user.name))
        }
        _ => Check::ok(topic, "a token, kept from other users").at(place),
    }
}

/// What is known of the system's time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeSource {
    /// It is synchronised, as this says.
    Synchronised(&'static str),
    /// It is not, as this says.
    Free(&'static str),
    /// Nobody could say; why.
    Unknown(String),
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
mod tests {
    use super::super::report::Verdict;
    use super::*;

    const PASSWD: &str =
        "root:x:0:0:root:/root:/bin/bash\ntouchmoved:x:997:996::/var/lib/touchmoved:/usr/sbin/nologin\n";
    const GROUP: &str = "root:x:0:\ndialout:x:20:someone,touchmoved\ntouchmoved:x:996:\nbroken\n";

    fn service() -> User {
        User::find(SERVICE_USER, PASSWD, GROUP).unwrap()
    }

    #[test]
    fn a_user_has_the_rights_of_himself_his_groups_and_everybody() {
        let user = service();
        assert_eq!(user, User { name: "touchmoved".to_owned(), uid: 997, gids: vec![996, 20] });
        assert_eq!(User::find("nobody", PASSWD, GROUP), None);
        let on = |uid, gid, mode| Rights { uid, gid, mode };
        assert!(user.may(7, on(997, 0, 0o700)));
        assert!(!user.may(2, on(997, 20, 0o077)), "the owner has the owner's rights only");
        assert!(user.may(6, on(0, 20, 0o660)) && !user.may(2, on(0, 20, 0o642)));
        assert!(user.may(4, on(0, 0, 0o644)) && !user.may(2, on(0, 0, 0o755)));
    }

    #[test]
    fn somebody_else_is_told_to_run_it_as_the_service_does() {
        assert_eq!(tester(&service(), 997), None);
        assert_eq!(tester(&service(), 0), None);
        let line = tester(&service(), 1000).unwrap().line();
        assert!(line.ends_with("`sudo -u touchmoved touchmoved doctor`"), "{line}");
    }

    #[test]
    fn a_folder_is_written_made_or_given_to_the_service() {
        let check = |written, foreign: &[&str], user: Option<&User>| {
            let foreign = foreign.iter().map(|text| (*text).to_owned()).collect();
            folder(Topic::Journals, &Folder { path: "/data".to_owned(), written, foreign }, user)
        };
        assert_eq!(check(Some(Ok(())), &[], None).verdict, Verdict::Ok);
        assert_eq!(check(None, &[], None).verdict, Verdict::Ok);
        let user = service();
        let refused = check(Some(Err("Read-only file system".to_owned())), &[], Some(&user)).line();
        assert!(refused.contains("journals: /data: cannot be written: Read-only file system"), "{refused}");
        assert!(refused.ends_with("`sudo chown -R touchmoved:touchmoved /data`"), "{refused}");
        let foreign = check(Some(Ok(())), &["/data/1"], Some(&user));
        assert_eq!(foreign.verdict, Verdict::Failed);
        assert!(foreign.what.ends_with("may not write /data/1"));
    }

    #[test]
    fn the_file_system_of_a_path_is_the_deepest_one() {
        let mounts = "overlayroot / overlay rw,upperdir=/x 0 0\n/dev/sda1 /var ext4 rw,noatime 0 0\n\
                      tmpfs /var/lib\\040x tmpfs ro 0 0\nbroken\n";
        let mount = |path| mount_of(path, mounts).unwrap();
        assert_eq!(mount("/var/lib/touchmoved").source, "/dev/sda1");
        assert_eq!(mount("/variety").kind, "overlay");
        assert_eq!(
            mount("/var/lib x/a"),
            Mount { source: "tmpfs".into(), kind: "tmpfs".into(), read_only: true }
        );
        assert!(forgets(&mount("/")) && !forgets(&mount("/var")));
        assert_eq!(mount_of("/", ""), None);
    }

    #[test]
    fn a_disk_is_full_forgetful_low_slow_or_good() {
        let ext4 = Mount { source: "/dev/sda1".into(), kind: "ext4".into(), read_only: false };
        let tmpfs = Mount { source: "tmpfs".into(), kind: "tmpfs".into(), read_only: false };
        let look = |free_bytes, syncs: &[u64], mount: &Mount| {
            let found = Disk {
                free_bytes,
                free_files: Some(1000),
                syncs_us: syncs.to_vec(),
                mount: Some(mount.clone()),
            };
            disk("/data", &found)
        };
        let big = 4_000_000_000;
        assert_eq!(look(1_000_000, &[900], &ext4).verdict, Verdict::Failed);
        assert!(look(big, &[900], &tmpfs).what.contains("forgets everything when the power goes"));
        assert!(look(100_000_000, &[900], &ext4).what.contains("room for about 500 games"));
        assert!(look(big, &[900, 300_000], &ext4).what.contains("up to 300 ms"));
        assert_eq!(look(big, &[], &ext4).verdict, Verdict::NotRun);
        let good = look(big, &[900, 4_210], &ext4);
        assert_eq!(good.verdict, Verdict::Ok);
        assert!(good.what.contains("2 writes with fsync took up to 4.2 ms"), "{}", good.what);
        let no_files = Disk { free_bytes: big, free_files: Some(3), syncs_us: vec![1], mount: None };
        assert_eq!(disk("/data", &no_files).verdict, Verdict::Failed);
    }

    #[test]
    fn a_token_is_kept_from_others_and_readable_for_the_service() {
        let rights = |mode| Some(Rights { uid: 0, gid: 996, mode });
        let user = service();
        let look = |read, mode| token("arbiter.token-file", "/t", read, rights(mode), Some(&user));
        assert_eq!(look(Ok(()), 0o640).verdict, Verdict::Ok);
        assert_eq!(look(Ok(()), 0o644).verdict, Verdict::Warning);
        assert_eq!(look(Ok(()), 0o600).verdict, Verdict::Failed);
        assert!(look(Err("too short".to_owned()), 0o640).line().contains("openssl rand -hex 16"));
    }

    #[test]
    fn the_time_says_what_it_means_for_the_record() {
        assert_eq!(time(&TimeSource::Synchronised("timedatectl"), 2026).verdict, Verdict::Ok);
        assert!(
            time(&TimeSource::Free("timedatectl"), 2026)
                .what
                .contains("times of the game are right all the same")
        );
        assert_eq!(time(&TimeSource::Synchronised("x"), 1970).verdict, Verdict::Failed);
        assert_eq!(time(&TimeSource::Unknown("no timedatectl".to_owned()), 2026).verdict, Verdict::NotRun);
    }

    #[test]
    fn a_pi_tells_of_heat_and_power() {
        assert_eq!(temperature(Some("48686\n")).what, "48 degrees Celsius");
        assert_eq!(temperature(Some("71000")).verdict, Verdict::Warning);
        assert_eq!(temperature(Some("85000")).verdict, Verdict::Failed);
        assert_eq!(temperature(None).verdict, Verdict::NotRun);
        assert_eq!(power(Some("0\n")).verdict, Verdict::Ok);
        assert!(power(Some("0x50005")).what.starts_with("under-voltage, throttling now"));
        assert!(power(Some("50000")).what.starts_with("under-voltage, throttling since"));
        assert_eq!(power(Some("what")).verdict, Verdict::NotRun);
    }
}
