//! How many files the process may have open: each connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that the daemon needs beside its connections: journals, ports, PGN.
const OTHERS: u64 = 512;

/// Asks the system for as many as `connections` need. What it refuses is told, for then new connections are refused
/// before the configured number is reached.
pub fn allow(connections: usize) {
    let needed = u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(OTHERS);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return;
    }
    let most = maximum.map_or(needed, |maximum| maximum.min(needed));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum });
    if raised.is_err() || most < needed {
        tracing::warn!(
            "the system allows {} open files and {needed} may be needed: raise LimitNOFILE, or lower \
             http.max-connections",
            if raised.is_err() { current.unwrap_or(0) } else { most }
        );
    }
}
