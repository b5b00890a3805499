//! What can go wrong with a segment, in the words of an operator.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::read::BadRecord;

/// Why a journal cannot be written or recovered. The texts are for the operator.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refused something.
    #[error("journal {}: cannot {action}: {source}; {remedy}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// The file exists: a segment is never overwritten.
    #[error("journal {} exists and is never overwritten; choose a new segment", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another process has the segment open for writing.
    #[error(
        "journal {}: another touchmoved is writing to it; end that one first, or give this one a data \
         directory of its own",
        path.display()
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The segment holds no complete header, so that no game was ever recorded in it.
    #[error(
        "journal {}: no complete header ({reason}), nothing was recorded in it; start a new segment",
        path.display()
    )]
    NoHeader {
        /// The file.
        path: PathBuf,
        /// What is wrong with the first line.
        reason: String,
    },
    /// A record before the last one is bad: the file is evidence and is left as it is.
    #[error(
        "journal {0}; the file was changed or the disk is failing: it is left as it is, keep a copy, and \
         start a new segment"
    )]
    Damaged(BadRecord),
}

impl JournalError {
    pub(super) fn io(path: &Path, action: &'static str, source: io::Error) -> JournalError {
        let remedy = remedy(source.kind());
        JournalError::Io { path: path.to_owned(), action, source, remedy }
    }
}

fn remedy(kind: io::ErrorKind) -> &'static str {
    use io::ErrorKind as K;
    match kind {
        K::StorageFull | K::QuotaExceeded => {
            "the disk is full: free some space, the journal goes on by itself and nothing is lost until then"
        }
        K::FileTooLarge => "the file has reached the size limit of the process: raise it",
        K::ReadOnlyFilesystem => {
            "the file system is mounted read-only, often after an error of the SD card: check `dmesg`, remount \
             or replace the card"
        }
        K::PermissionDenied => {
            "give the user of the service write access to the data directory and its files"
        }
        K::NotFound => "create the data directory, or correct its path in the configuration",
        K::NotADirectory => "a part of the path is a file: correct the data directory in the configuration",
        _ => "check the disk and the kernel's messages (`dmesg`)",
    }
}
