//! Settings of the session with their units and defaults, and the dotted names they have in the
//! configuration file and in the header of a sensor log.

use serde_json::{Map, Value};

use super::clock::{Model, Rounding};
use crate::laws::settings::KEYS;
pub use crate::laws::settings::SettingError;

/// Settings of one session. Times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A closing contact counts after this long without a change (`sensor.debounce_close_ms`).
    pub debounce_close_ms: u64,
    /// An opening contact counts after this long without a change (`sensor.debounce_open_ms`).
    pub debounce_open_ms: u64,
    /// Where the board debounces by itself: an occupied square that is empty for no longer is noise, no
    /// lift (`sensor.debounce_ms`). Without it every change counts.
    pub min_lift_ms: Option<u64>,
    /// A legal placement counts as released, and so as made, after this long without a change
    /// (`touch.release_dwell_ms`).
    pub release_dwell_ms: u64,
    /// A man that could go on in the same motion keeps its move back for this long
    /// (`publish.extend_ms`).
    pub extend_ms: u64,
    /// Where players press: milliseconds for which a move that was neither pressed nor answered may
    /// still be taken back and is not published (`publish.await_press_ms`).
    pub await_press_ms: u64,
    /// Which way the board lies (`board.orientation`).
    pub orientation: OrientationSetting,
    /// What is assumed of an external clock and of the way of its readings (`clock.reading_lag_ms`,
    /// `clock.rate_ppm`, `clock.rounding`).
    pub clock: Model,
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

impl OrientationSetting {
    /// The word of the configuration and of the sensor log.
    pub const fn as_str(self) -> &'static str {
        match self {
            OrientationSetting::Auto => "auto",
            OrientationSetting::WhiteSouth => "white-south",
            OrientationSetting::WhiteNorth => "white-north",
        }
    }

    /// Reads that word.
    pub fn parse(text: &str) -> Option<OrientationSetting> {
        [OrientationSetting::Auto, OrientationSetting::WhiteSouth, OrientationSetting::WhiteNorth]
            .into_iter()
            .find(|way| way.as_str() == text)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            debounce_close_ms: 15,
            debounce_open_ms: 30,
            min_lift_ms: None,
            release_dwell_ms: 250,
            extend_ms: 3000,
            await_press_ms: 10_000,
            orientation: OrientationSetting::Auto,
            clock: Model::default(),
        }
    }
}

/// Names that belong to other layers and have no effect here. What the Laws need is in
/// [`crate::laws::settings::KEYS`].
const ELSEWHERE: &[&str] = &["clock.period", "feed.delay_s"];

/// Names of what the header of a sensor log has keys of its own for.
const HEADER: &[&str] = &["rules.profile", "rules.discipline", "rules.supervision", "rules.variant"];

/// Names that the session reads.
const HERE: &[&str] = &[
    "sensor.debounce_ms",
    "sensor.debounce_close_ms",
    "sensor.debounce_open_ms",
    "touch.release_dwell_ms",
    "publish.extend_ms",
    "publish.await_press_ms",
    "board.orientation",
    "clock.reading_lag_ms",
    "clock.rate_ppm",
    "clock.rounding",
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
                self.min_lift_ms = Some(both);
            }
            "sensor.debounce_close_ms" => self.debounce_close_ms = ms(1000)?,
            "sensor.debounce_open_ms" => self.debounce_open_ms = ms(1000)?,
            "touch.release_dwell_ms" => self.release_dwell_ms = ms(10_000)?,
            "publish.extend_ms" => self.extend_ms = ms(60_000)?,
            "publish.await_press_ms" => self.await_press_ms = ms(60_000)?,
            "board.orientation" => {
                self.orientation = value.as_str().and_then(OrientationSetting::parse).ok_or_else(|| {
                    wrong(&format!("expected \"auto\", \"white-south\" or \"white-north\", found {value}"))
                })?;
            }
            "clock.reading_lag_ms" => {
                self.clock.lag_ms = u32::try_from(ms(Model::MAX_LAG_MS.into())?).unwrap_or(Model::MAX_LAG_MS);
            }
            "clock.rate_ppm" => {
                let most = Model::MAX_RATE_PPM;
                let ppm = value.as_u64().and_then(|ppm| u32::try_from(ppm).ok()).filter(|ppm| *ppm <= most);
                self.clock.rate_ppm = ppm.ok_or_else(|| {
                    wrong(&format!("expected parts per million from 0 to {most}, found {value}"))
                })?;
            }
            "clock.rounding" => {
                self.clock.rounding = match value.as_str() {
                    Some("auto") => None,
                    Some("down") => Some(Rounding::Down),
                    Some("up") => Some(Rounding::Up),
                    _ => {
                        let found = format!("expected \"auto\", \"down\" or \"up\", found {value}");
                        return Err(wrong(&found));
                    }
                };
            }
            _ => {}
        }
        Ok(())
    }
}

/// Every name that may stand in `config`.
fn names() -> impl Iterator<Item = &'static str> {
    let laws = KEYS.iter().map(|key| key.name);
    HERE.iter().copied().chain(laws).chain(HEADER.iter().chain(ELSEWHERE).copied())
}

/// The full dotted name of a setting, which may be given by its last part.
///
/// # Errors
/// No setting has this name, or several end with it.
pub fn full_name(key: &str) -> Result<&'static str, SettingError> {
    if let Some(name) = names().find(|name| *name == key) {
        return Ok(name);
    }
    let found: Vec<_> = names().filter(|name| name.rsplit('.').next() == Some(key)).collect();
    match *found {
        [] => Err(SettingError::Unknown { key: key.to_owned() }),
        [name] => Ok(name),
        _ => Err(SettingError::Ambiguous { key: key.to_owned(), names: found }),
    }
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
    fn a_name_and_its_last_part_say_one_setting() {
        for name in names() {
            assert_eq!(full_name(name), Ok(name));
            let last = name.rsplit('.').next().unwrap();
            if last != "draw_if_opponent_cannot_mate" {
                assert_eq!(full_name(last), Ok(name));
            }
        }
        assert_eq!(
            full_name("draw_if_opponent_cannot_mate").unwrap_err().to_string(),
            "setting \"draw_if_opponent_cannot_mate\" is resign.draw_if_opponent_cannot_mate or \
             illegal.draw_if_opponent_cannot_mate; write the full name"
        );
    }

    #[test]
    fn unknown_names_and_wrong_values_are_refused() {
        assert!(matches!(apply(json!({"touch.dwell": 1})), Err(SettingError::Unknown { .. })));
        assert!(matches!(apply(json!({"extend_ms": -1})), Err(SettingError::Value { .. })));
        assert!(matches!(apply(json!({"board.orientation": "up"})), Err(SettingError::Value { .. })));
    }
}
