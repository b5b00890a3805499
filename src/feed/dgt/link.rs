//! The name under which programs find a pseudo terminal.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// A symbolic link that is ours. It goes when this does.
#[derive(Debug)]
pub(super) struct Link {
    path: PathBuf,
    target: PathBuf,
}

impl Link {
    /// Makes `path` lead to `target`, in one step. A link that a crash left over is replaced; anything else
    /// of that name is left alone.
    pub(super) fn place(path: &Path, target: &Path) -> io::Result<Link> {
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
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let next = path.with_file_name(format!(".{name}.{}", std::process::id()));
        let _ = fs::remove_file(&next);
        symlink(target, &next)?;
        fs::rename(&next, path)?;
        Ok(Link { path: path.to_owned(), target: target.to_owned() })
    }

    /// The end of the terminal that programs open.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The system gives the same terminal to the next program that wants one: the name must not outlive
        // it. Another daemon may have taken the name over.
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
        let first = Link::place(&path, Path::new("/dev/pts/1001")).unwrap();
        let second = Link::place(&path, Path::new("/dev/pts/1002")).unwrap();
        drop(first);
        assert_eq!(fs::read_link(&path).unwrap(), second.target(), "it is another's now");
        drop(second);
        assert!(fs::symlink_metadata(&path).is_err());
        fs::write(&path, "a file").unwrap();
        let refused = Link::place(&path, Path::new("/dev/pts/1003")).unwrap_err();
        assert!(refused.to_string().contains("no symbolic link"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a file");
        let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing else is left behind");
    }
}
