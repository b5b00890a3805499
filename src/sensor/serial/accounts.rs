//! Names of users and groups, for messages that tell which command helps.

use std::{fmt, fs, os::unix::fs::MetadataExt as _, path::Path};

/// The group of serial ports where the device cannot be asked.
const DIALOUT: &str = "dialout";
/// The group of terminals that somebody is logged in at, or may.
const TTY: &str = "tty";

/// Who runs this program; `USER` where the system does not tell.
pub(super) fn user() -> String {
    let id = rustix::process::getuid().as_raw();
    fs::read_to_string("/etc/passwd")
        .ok()
        .and_then(|text| named(&text, id))
        .unwrap_or_else(|| "USER".to_owned())
}

/// The group that may open a device. A device of root's own group is given to `dialout` by udev rules.
pub(super) fn group_of(device: &Path) -> String {
    let id = fs::metadata(device).map_or(0, |metadata| metadata.gid());
    let named = || named(&fs::read_to_string("/etc/group").ok()?, id);
    (id != 0).then(named).flatten().unwrap_or_else(|| DIALOUT.to_owned())
}

/// Why a device may not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// The path that was opened, and the name of the device itself.
    path: String,
    device: String,
    user: String,
    group: String,
    /// The group may read and write.
    open_to_group: bool,
    /// This process is in the group.
    member: bool,
    /// The permissions, as `chmod` writes them.
    mode: u32,
}

impl Access {
    /// Asks the system.
    pub(super) fn of(path: &Path) -> Access {
        const GROUP_READ_WRITE: u32 = 0o060;
        let device = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let device = device.file_name().unwrap_or(device.as_os_str()).to_string_lossy().into_owned();
        let metadata = fs::metadata(path).ok();
        // Of a device that has gone meanwhile nothing is known.
        let mode = metadata.as_ref().map_or(0o660, |metadata| metadata.mode() & 0o777);
        let groups = rustix::process::getgroups().unwrap_or_default();
        let own = rustix::process::getegid();
        let member = metadata.is_some_and(|metadata| {
            groups.iter().chain([&own]).any(|group| group.as_raw() == metadata.gid())
        });
        Access {
            path: path.display().to_string(),
            device,
            user: user(),
            group: group_of(path),
            open_to_group: mode & GROUP_READ_WRITE == GROUP_READ_WRITE,
            member,
            mode,
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Access { path, device, user, group, open_to_group, member, mode } = self;
        match (open_to_group, member) {
            // A login makes a terminal its own, and gives it to this group for messages only.
            (false, _) if group == TTY => write!(
                f,
                "a login console has it (group {TTY}, mode {mode:04o}): `sudo raspi-config nonint do_serial_cons 1` on \
                 a Raspberry Pi, or `sudo systemctl disable --now serial-getty@{device}.service`, frees it; start the \
                 machine again then"
            ),
            (false, _) => write!(
                f,
                "its mode {mode:04o} lets the group {group} neither read nor write: copy udev/60-touchmoved.rules to \
                 /etc/udev/rules.d and plug the device in again; `sudo chmod 660 {path}` does it until then"
            ),
            (true, true) => write!(
                f,
                "{user} is in the group {group}, so that it is the service that may not: `sudo systemctl restart \
                 touchmoved` lets it in where the driver was loaded after the service had been started, and any other \
                 kind of device needs a line DeviceAllow= in the unit"
            ),
            (true, false) => write!(
                f,
                "`sudo usermod -aG {group} {user}` lets {user} read it, then start touchmoved again"
            ),
        }
    }
}

/// The name of an id in the form of `/etc/passwd` and `/etc/group`: name, password, id.
fn named(text: &str, id: u32) -> Option<String> {
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(id)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_the_name_of_its_line() {
        let text = "root:x:0:0:root:/root:/bin/sh\ntouchmoved:x:998:998::/:/usr/sbin/nologin\nodd\n";
        assert_eq!(named(text, 998).as_deref(), Some("touchmoved"));
        assert_eq!(named(text, 5), None);
    }

    #[test]
    fn the_group_counts_where_the_device_is_open_to_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = tempfile::NamedTempFile::new().unwrap();
        for (mode, open) in [(0o660, true), (0o600, false), (0o640, false), (0o620, false)] {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
            let access = Access::of(file.path());
            assert_eq!((access.open_to_group, access.member, access.mode), (open, true, mode));
        }
    }

    #[test]
    fn the_remedy_is_one_that_helps() {
        let of = |group: &str, mode: u32, member| {
            let access = Access {
                path: "/dev/serial0".to_owned(),
                device: "ttyAMA0".to_owned(),
                user: "chess".to_owned(),
                group: group.to_owned(),
                open_to_group: mode & 0o060 == 0o060,
                member,
                mode,
            };
            access.to_string()
        };
        for member in [false, true] {
            let console = of("tty", 0o620, member);
            assert!(
                console.contains("do_serial_cons 1") && console.contains("serial-getty@ttyAMA0"),
                "{console}"
            );
            let closed = of("dialout", 0o600, member);
            assert!(
                closed.contains("chmod 660 /dev/serial0") && closed.contains("60-touchmoved.rules"),
                "{closed}"
            );
            assert!(!console.contains("usermod") && !closed.contains("usermod"));
        }
        assert!(of("dialout", 0o660, false).contains("usermod -aG dialout chess"));
        assert!(of("dialout", 0o660, true).contains("systemctl restart"));
    }

    #[test]
    fn a_device_that_is_not_there_is_of_dialout() {
        assert_eq!(group_of(Path::new("/dev/touchmoved/none")), "dialout");
        assert!(!user().is_empty());
        assert!(!Access::of(Path::new("/dev/touchmoved/none")).member);
    }
}
