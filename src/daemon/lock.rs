//! The data directory: made when it is missing, and owned by one daemon at a time.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

/// Name of the lock file in the data directory.
pub const LOCK_FILE: &str = "touchmoved.lock";

/// Why the data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// It cannot be made or written.
    #[error("data directory {}: {source}; make it writable for the user that runs touchmoved, or name another with data-dir", path.display())]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another daemon works in it.
    #[error("data directory {} is in use by another touchmoved{}; stop that one, or give this one a data-dir of its own", path.display(), process(*pid))]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The process that holds the lock, where the lock file tells it.
        pid: Option<u32>,
    },
}

fn process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

/// The lock on a data directory. The kernel lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Makes the directory if need be and locks it.
    pub fn open(path: &Path) -> Result<DataDir, DataDirError> {
        let unusable = |source| DataDirError::Unusable { path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(unusable)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o640)
            .open(path.join(LOCK_FILE))
            .map_err(unusable)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                return Err(DataDirError::InUse { path: path.to_owned(), pid: text.trim().parse().ok() });
            }
            Err(errno) => return Err(unusable(errno.into())),
        }
        // The number only serves the message of a second daemon; a full disk must not stop the first.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(DataDir { path: path.to_owned(), _lock: file })
    }

    /// The directory of one board, made when it is missing.
    pub fn board(&self, id: &str) -> Result<PathBuf, DataDirError> {
        let path = self.path.join(id);
        match fs::create_dir_all(&path) {
            Ok(()) => Ok(path),
            Err(source) => Err(DataDirError::Unusable { path, source }),
        }
    }

    /// The directories in it by their names, in order: those of boards, and others.
    pub fn boards(&self) -> Vec<(String, PathBuf)> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let named = dirs.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
        let mut found: Vec<_> = named.collect();
        found.sort_unstable();
        found
    }
}

/// The daemon that holds a data directory: its process, where the lock file tells it. `None` when nobody
/// does, or when that cannot be seen. Nothing is made or kept locked.
pub fn holder(path: &Path) -> Option<Option<u32>> {
    let mut file = File::open(path.join(LOCK_FILE)).ok()?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => {
            let mut text = String::new();
            let _ = file.read_to_string(&mut text);
            Some(text.trim().parse().ok())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_daemon_is_refused_and_told_who_holds_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("deep/data");
        assert_eq!(holder(&data), None);
        let first = DataDir::open(&data).unwrap();
        assert_eq!(holder(&data), Some(Some(std::process::id())));
        let error = DataDir::open(&data).unwrap_err().to_string();
        assert!(error.contains("in use"), "{error}");
        assert!(error.contains(&std::process::id().to_string()), "{error}");
        assert!(first.board("a7").unwrap().is_dir());
        drop(first);
        assert_eq!(holder(&data), None);
        DataDir::open(&data).unwrap();
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = DataDir::open(&file.join("data")).unwrap_err().to_string();
        assert!(error.contains(&file.display().to_string()), "{error}");
        assert!(error.contains("data-dir"), "{error}");
    }
}
