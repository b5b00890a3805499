//! Who may write and read what: folders and the files with tokens.

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

    /// The user of the service, with the groups that systemd gives him.
    pub fn of_service(passwd: &str, group: &str) -> Option<User> {
        let mut user = User::find(SERVICE_USER, passwd, group)?;
        for line in group.lines() {
            let mut fields = line.split(':');
            let named = fields.next().is_some_and(|name| SERVICE_GROUPS.contains(&name));
            if let (true, Some(gid)) = (named, fields.nth(1).and_then(|gid| gid.parse().ok())) {
                user.gids.push(gid);
            }
        }
        Some(user)
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
/// The groups that `systemd/touchmoved.service` gives him beside his own.
const SERVICE_GROUPS: [&str; 2] = ["dialout", "gpio"];

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

/// The check of a device file with these rights, for the user of the service.
pub fn permissions(path: &str, rights: Rights, service: &User) -> Check {
    let name = &service.name;
    let check = if service.may(6, rights) {
        Check::ok(Topic::Permissions, format!("the user {name} of the service may read and write it"))
    } else {
        Check::failed(Topic::Permissions, format!("the user {name} of the service may not read and write it"))
            .remedy("the rules of udev give it to a group of the service")
            .command(
                "sudo install -m 644 udev/60-touchmoved.rules /etc/udev/rules.d/ && sudo udevadm control --reload && \
                 sudo udevadm trigger",
            )
    };
    check.at(path)
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

/// Whose token a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// The organizer, who makes one up.
    Organizer,
    /// Lichess, which gives it to a contributor of the broadcast.
    Lichess,
}

impl Issuer {
    /// How its file is made.
    const fn remedy(self) -> &'static str {
        match self {
            Issuer::Organizer => "make a file with one random token, readable for the service only",
            Issuer::Lichess => {
                "make a token with the scope study:write at https://lichess.org/account/oauth/token, and a file with \
                 it, readable for the service only"
            }
        }
    }

    /// The command that writes the file; that for Lichess waits for the token.
    fn command(self, path: &str) -> String {
        let write = format!("sudo install -m 640 -g touchmoved /dev/stdin {path}");
        match self {
            Issuer::Organizer => format!("openssl rand -hex 16 | {write}"),
            Issuer::Lichess => write,
        }
    }
}

/// The check of a file with a token. `read` is what came of reading it: what is wrong with the token, or
/// what the system says.
pub fn token(
    (key, issuer): (&str, Issuer),
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
            .remedy(issuer.remedy())
            .command(issuer.command(path));
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

#[cfg(test)]
mod tests;
