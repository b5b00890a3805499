//! The name under which programs find a pseudo terminal.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, symlink},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

/// A symbolic link that is ours. It goes when this does.
#[derive(Debug)]
pub(super) struct Link {
    path: PathBuf,
    target: PathBuf,
    /// Given back after the link is gone.
    _claim: Claim,
}

/// The right to a name: a file beside it that is locked. The kernel lets go of it when the process ends, however it
/// ends.
#[derive(Debug)]
struct Claim {
    path: PathBuf,
    _lock: File,
}

impl Claim {
    /// Claims the name `link`.
    fn make(link: &Path) -> io::Result<Claim> {
        let name = link.file_name().unwrap_or_default().to_string_lossy();
        let path = link.with_file_name(format!(".{name}.lock"));
        loop {
            let mut options = OpenOptions::new();
            let mut file =
                options.read(true).write(true).create(true).truncate(false).mode(0o644).open(&path)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => {
                    let mut text = String::new();
                    let _ = file.read_to_string(&mut text);
                    let process = text.trim().parse::<u32>();
                    let process = process.map(|pid| format!(" (process {pid})")).unwrap_or_default();
                    let message = format!(
                        "another touchmoved{process} is a board of that name; end it, or set [dgt-emulation] dir to \
                         another directory"
                    );
                    return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
                }
                Err(errno) => return Err(errno.into()),
            }
            // Who had it may have removed the file after it was opened here: then it claims nothing.
            let (ours, there) = (file.metadata()?, fs::metadata(&path));
            if there.is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())) {
                // The number only serves the message of a second daemon.
                let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
                return Ok(Claim { path, _lock: file });
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Still locked: nobody else has it.
        let _ = fs::remove_file(&self.path);
    }
}

impl Link {
    /// Makes `path` lead to `target`, in one step. A link that a crash left over is replaced; that of a daemon that
    /// lives, and anything else of that name, is left alone.
    pub(super) fn place(path: &Path, target: &Path) -> io::Result<Link> {
        Link::claimed(path, target).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                let message = format!(
                    "{error}; let the user of the daemon write the directory, or set [dgt-emulation] dir to one that \
                     he may write"
                );
                io::Error::new(error.kind(), message)
            }
            _ => error,
        })
    }

    fn claimed(path: &Path, target: &Path) -> io::Result<Link> {
        match fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_symlink() => {
                let message = "something of that name is there and is no symbolic link; remove it, or set \
                               [dgt-emulation] dir to another directory";
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
            }
            Ok(_) => {}
            Err(_) => {
                if let Some(dir) = path.parent() {
                    fs::create_dir_all(dir)?;
                }
            }
        }
        let claim = Claim::make(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let next = path.with_file_name(format!(".{name}.{}", std::process::id()));
        let _ = fs::remove_file(&next);
        symlink(target, &next)?;
        fs::rename(&next, path)?;
        Ok(Link { path: path.to_owned(), target: target.to_owned(), _claim: claim })
    }

    /// The end of the terminal that programs open.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The system gives the same terminal to the next program that wants one: the name must not outlive
        // it. A person may have put something else in its place.
        if fs::read_link(&self.path).is_ok_and(|target| target == self.target) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_was_left_over_is_replaced_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run").join("dgt");
        fs::create_dir(path.parent().unwrap()).unwrap();
        symlink("/dev/pts/1001", &path).unwrap();
        fs::write(path.with_file_name(".dgt.lock"), "99").unwrap();
        let link = Link::place(&path, Path::new("/dev/pts/1002")).unwrap();
        assert_eq!(fs::read_link(&path).unwrap(), link.target());
        drop(link);
        assert!(fs::symlink_metadata(&path).is_err());
        fs::write(&path, "a file").unwrap();
        let refused = Link::place(&path, Path::new("/dev/pts/1003")).unwrap_err();
        assert!(refused.to_string().contains("no symbolic link"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a file");
        let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing else is left behind");
    }

    #[test]
    fn a_name_belongs_to_one_daemon_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("dgt");
        let first = Link::place(&path, Path::new("/dev/pts/1001")).unwrap();
        let refused = Link::place(&path, Path::new("/dev/pts/1002")).unwrap_err();
        let words = format!(
            "another touchmoved (process {}) is a board of that name; end it, or",
            std::process::id()
        );
        assert!(refused.to_string().starts_with(&words), "{refused}");
        assert_eq!(fs::read_link(&path).unwrap(), first.target());
        drop(first);
        assert!(Link::place(&path, Path::new("/dev/pts/1002")).is_ok());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    }

    #[test]
    fn a_directory_that_may_not_be_written_is_told_with_a_remedy() {
        let refused = Link::place(Path::new("/sys/dgt"), Path::new("/dev/pts/1001")).unwrap_err();
        let missing = Link::place(Path::new("/sys/run/dgt"), Path::new("/dev/pts/1001")).unwrap_err();
        for refused in [refused, missing] {
            assert!(
                refused.to_string().contains("set [dgt-emulation] dir to one that he may write"),
                "{refused}"
            );
        }
    }
}
