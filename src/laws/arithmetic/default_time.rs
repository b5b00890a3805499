//! Players who arrive late (Article 6.7; 2005: 6.6 and 6.7).

use crate::laws::settings::LawSettings;

/// How late a player is, against what he may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultCheck {
    /// Milliseconds since the scheduled start.
    pub late_ms: u64,
    /// The default time in milliseconds.
    pub limit_ms: u64,
    /// He is more than the default time late, and loses unless the arbiter decides otherwise.
    pub lost: bool,
}

/// Compares a player's lateness with the default time (Article 6.7.1; 2005: 6.7). The arbiter is told;
/// no game is lost by it alone.
pub const fn check(settings: &LawSettings, late_ms: u64) -> DefaultCheck {
    let limit_ms = settings.default_time_s as u64 * 1000;
    DefaultCheck { late_ms, limit_ms, lost: late_ms > limit_ms }
}

/// Whether the time until White comes is charged at the start (Article 6.7.2; 2005: 6.6). With a default time of zero it is not: whoever is late loses at once.
pub const fn is_charged(settings: &LawSettings) -> bool {
    settings.default_time_s > 0
}
