//! What was measured of a board, for a program.

use serde::Serialize;

/// What is known of one board, in figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BoardFigures {
    /// Identifier of the board.
    pub board: String,
    /// Name of its sensor's table in the configuration.
    pub sensor: String,
    /// What the device told of itself: version, serial number, trademark, battery.
    pub identity: serde_json::Map<String, serde_json::Value>,
    /// Milliseconds that the board was listened to, on the time line of its source.
    pub listened_ms: u64,
    /// What the squares read, as 16 hex digits (a1 = bit 0); `None` when nothing was read.
    pub occupied: Option<String>,
    /// The men of an identity board, as the first field of a FEN.
    pub pieces: Option<String>,
    /// Squares that read empty and should not.
    pub missing: Vec<String>,
    /// Squares that read occupied and should not.
    pub extra: Vec<String>,
    /// Squares that change faster than a hand.
    pub chattering: Vec<String>,
    /// Edges of contacts, or changes of squares where the board debounces.
    pub edges: u64,
    /// Bounce of the closing contacts; `None` where the board debounces by itself.
    pub closing: Option<BounceFigures>,
    /// Bounce of the opening contacts.
    pub opening: Option<BounceFigures>,
    /// Scans a second, times ten; `None` where the source does not tell.
    pub scans_per_10_s: Option<u64>,
    /// Scans that began late.
    pub overruns: Option<u64>,
    /// The latest of them, in microseconds.
    pub worst_overrun_us: Option<u64>,
    /// Time left for White in milliseconds, where a clock was heard.
    pub white_ms: Option<u64>,
    /// Time left for Black in milliseconds.
    pub black_ms: Option<u64>,
    /// `white`, `black`, or `None` while both stand.
    pub running: Option<&'static str>,
}

/// Bounce in one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BounceFigures {
    /// Changes that were seen.
    pub changes: u64,
    /// Changes without a bounce, and then by the longest false stretch of the change: shorter than 1, 2,
    /// 5, 10, 20 and 50 ms.
    pub histogram: Vec<u64>,
    /// The longest false stretch, in microseconds.
    pub longest_us: u64,
    /// The square that had it.
    pub worst: Option<String>,
    /// Milliseconds that are configured.
    pub configured_ms: u64,
    /// Milliseconds that the changes ask for; `None` while they are too few.
    pub suggested_ms: Option<u64>,
}
