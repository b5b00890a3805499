//! What the two displays of a chess clock show.

use serde::Serialize;

/// The face of the clock at one moment: times, and nothing about moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClockFace {
    /// Milliseconds left for White, where they are known.
    pub white_ms: Option<u64>,
    /// Milliseconds left for Black, where they are known.
    pub black_ms: Option<u64>,
    /// `white` or `black`: whose side runs.
    pub running: Option<&'static str>,
    /// Milliseconds before the time of the running side begins to run (delay).
    pub delay_ms: u64,
    /// White's flag is down.
    pub white_flag: bool,
    /// Black's flag is down.
    pub black_flag: bool,
}
