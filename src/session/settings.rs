//! Settings of the session with their units and defaults, and the dotted names they have in the
//! configuration file and in the header of a sensor log.

use serde_json::{Map, Value};

/// Settings of one session. Times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A closing contact counts after this long without a change (`sensor.debounce_close_ms`).
    pub debounce_close_ms: u64,
    /// An opening contact counts after this long without a change (`sensor.debounce_open_ms`).
    pub debounce_open_ms: u64,
    /// A legal placement counts as released, and so as made, after this long without a change
    /// (`touch.release_dwell_ms`).
    pub release_dwell_ms: u64,
    /// A man that could go on in the same motion keeps its move back for this long
    /// (`publish.extend_ms`).
    pub extend_ms: u64,
    /// Where players press: milliseconds for which a move that was neither pressed nor answered may
    /// still be taken back and is not published (`publish.await_press_ms`).
    pub await_press_ms: u64,
    /// The player's next move completes an earlier one that was never pressed
    /// (`completion.implied_by_next_move`; Laws of 2023, Article 6.2.1.2).
    pub implied_by_next_move: bool,
    /// Which way the board lies (`board.orientation`).
    pub orientation: OrientationSetting,
}

/// Which way the board lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrientationSetting {
    /// Found from the set-up and the first movement.
    #[default]
    Auto,
    /// The squares are numbered as they are played.
    WhiteSouth,
    /// The board is turned by 180 degrees.
    WhiteNorth,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            debounce_close_ms: 15,
            debounce_open_ms: 30,
            release_dwell_ms: 250,
            extend_ms: 3000,
            await_press_ms: 10_000,
            implied_by_next_move: true,
            orientation: OrientationSetting::Auto,
        }
    }
}

/// Why a setting was refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SettingError {
    /// No setting has this name.
    #[error("unknown setting {key:?}; the names are listed in docs/configuration.md")]
    Unknown {
        /// What was given.
        key: String,
    },
    /// The value is of the wrong type or out of range.
    #[error("setting {key:?}: {reason}")]
    Value {
        /// The setting.
        key: String,
        /// What is wrong and what would be right.
        reason: String,
    },
}

/// Names that belong to other layers (Laws, clock, feeds): accepted here, without effect on the
/// session.
const ELSEWHERE: &[&str] = &[
    "rules.profile",
    "rules.discipline",
    "rules.supervision",
    "rules.variant",
    "rules.quickplay",
    "rules.adjournment",
    "touch.order_uncertain_ms",
    "touch.adjust_window_ms",
    "touch.two_hands_window_ms",
    "touch.claim_forfeit_scope",
    "touch.intent_default",
    "castling.rook_first_ban",
    "clock.mode",
    "clock.period",
    "clock.first_move_increment",
    "clock.white_side",
    "clock.tolerance_ms",
    "clock.press_tolerance_ms",
    "clock.press_grace_ms",
    "draw.claim_lost_on",
    "draw.incorrect_claim",
    "draw.auto_fivefold",
    "draw.auto_75",
    "draw.agreement_min_moves_each",
    "draw.forbidden_before_move",
    "resign.draw_if_opponent_cannot_mate",
    "illegal.bonus_ms",
    "illegal.loss_at",
    "illegal.draw_if_opponent_cannot_mate",
    "illegal.press_without_move",
    "illegal.two_hands",
    "illegal.unpromoted",
    "illegal.remove_increment",
    "illegal.fast_finality",
    "flag.alert.standard",
    "flag.alert.rapid",
    "flag.alert.blitz",
    "flag.both_rapid",
    "flag.both_unknown.last_period",
    "default_time_s",
    "colours_reversed",
    "setup.claim_limit_moves",
    "record.threshold_ms",
    "record.min_increment_ms",
    "record.delay_counts",
    "dead.check",
    "displace.window_ms",
    "peg.announce",
    "two_board.mirror_timeout_s",
    "chess960.position",
    "chess960.king_off_ms",
    "adjournment.absent_both_clock",
    "feed.embargo_on_seal",
    "feed.show_irregular",
    "feed.delay_s",
    "notation.language",
    "promotion.any_order",
];

/// Names that the session reads.
const HERE: &[&str] = &[
    "sensor.debounce_ms",
    "sensor.debounce_close_ms",
    "sensor.debounce_open_ms",
    "touch.release_dwell_ms",
    "publish.extend_ms",
    "publish.await_press_ms",
    "completion.implied_by_next_move",
    "board.orientation",
];

impl Settings {
    /// Applies settings by name. A name without its table (`release_dwell_ms`) is looked up by its
    /// last part.
    pub fn apply(&mut self, config: &Map<String, Value>) -> Result<(), SettingError> {
        for (key, value) in config {
            self.set(full_name(key)?, key, value)?;
        }
        Ok(())
    }

    fn set(&mut self, name: &str, key: &str, value: &Value) -> Result<(), SettingError> {
        let wrong = |reason: &str| SettingError::Value { key: key.to_owned(), reason: reason.to_owned() };
        let ms = |max: u64| {
            value.as_u64().filter(|ms| *ms <= max).ok_or_else(|| {
                wrong(&format!("expected a whole number of milliseconds from 0 to {max}, found {value}"))
            })
        };
        match name {
            "sensor.debounce_ms" => {
                let both = ms(1000)?;
                self.debounce_close_ms = both;
                self.debounce_open_ms = both;
            }
            "sensor.debounce_close_ms" => self.debounce_close_ms = ms(1000)?,
            "sensor.debounce_open_ms" => self.debounce_open_ms = ms(1000)?,
            "touch.release_dwell_ms" => self.release_dwell_ms = ms(10_000)?,
            "publish.extend_ms" => self.extend_ms = ms(60_000)?,
            "publish.await_press_ms" => self.await_press_ms = ms(60_000)?,
            "completion.implied_by_next_move" => {
                self.implied_by_next_move = value.as_bool().ok_or_else(|| wrong("expected true or false"))?;
            }
            "board.orientation" => {
                self.orientation = match value.as_str() {
                    Some("auto") => OrientationSetting::Auto,
                    Some("white-south") => OrientationSetting::WhiteSouth,
                    Some("white-north") => OrientationSetting::WhiteNorth,
                    _ => return Err(wrong("expected \"auto\", \"white-south\" or \"white-north\"")),
                };
            }
            _ => {}
        }
        Ok(())
    }
}

/// The full dotted name of a setting.
fn full_name(key: &str) -> Result<&'static str, SettingError> {
    let last = |name: &str| name.rsplit('.').next() == Some(key);
    HERE.iter()
        .chain(ELSEWHERE)
        .copied()
        .find(|name| *name == key)
        .or_else(|| HERE.iter().chain(ELSEWHERE).copied().find(|name| last(name)))
        .ok_or_else(|| SettingError::Unknown { key: key.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn apply(value: Value) -> Result<Settings, SettingError> {
        let mut settings = Settings::default();
        settings.apply(value.as_object().unwrap()).map(|()| settings)
    }

    #[test]
    fn a_setting_is_found_by_its_full_name_and_by_its_last_part() {
        assert_eq!(apply(json!({"touch.release_dwell_ms": 100})).unwrap().release_dwell_ms, 100);
        assert_eq!(apply(json!({"release_dwell_ms": 100})).unwrap().release_dwell_ms, 100);
    }

    #[test]
    fn unknown_names_and_wrong_values_are_refused() {
        assert!(matches!(apply(json!({"touch.dwell": 1})), Err(SettingError::Unknown { .. })));
        assert!(matches!(apply(json!({"extend_ms": -1})), Err(SettingError::Value { .. })));
        assert!(matches!(apply(json!({"board.orientation": "up"})), Err(SettingError::Value { .. })));
    }
}
