//! The files of LiveChess Cloud.

use std::path::PathBuf;

/// Where the files of LiveChess Cloud are to be found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloudConfig {
    /// The directory that they are written to; nothing when they are served over HTTP only (`cloud.dir`).
    pub dir: Option<PathBuf>,
    /// The host that `meta/<uuid>` names (`cloud.host`).
    pub host: Option<String>,
}
