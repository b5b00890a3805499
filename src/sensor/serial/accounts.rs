//! Names of users and groups, for messages that tell which command helps.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

/// The group of serial ports where the device cannot be asked.
const DIALOUT: &str = "dialout";

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

/// True when this process is in the group of a device, and the device is open to its group.
pub(super) fn is_member_of(device: &Path) -> bool {
    const GROUP_READ_WRITE: u32 = 0o060;
    let Ok(metadata) = fs::metadata(device) else { return false };
    let groups = rustix::process::getgroups().unwrap_or_default();
    let own = rustix::process::getegid();
    metadata.mode() & GROUP_READ_WRITE == GROUP_READ_WRITE
        && groups.iter().chain([&own]).any(|group| group.as_raw() == metadata.gid())
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
        for (mode, open) in [(0o660, true), (0o600, false), (0o640, false)] {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_member_of(file.path()), open, "{mode:o}");
        }
    }

    #[test]
    fn a_device_that_is_not_there_is_of_dialout() {
        assert_eq!(group_of(Path::new("/dev/touchmoved/none")), "dialout");
        assert!(!user().is_empty());
        assert!(!is_member_of(Path::new("/dev/touchmoved/none")));
    }
}
