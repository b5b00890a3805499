//! The header line.

use serde_json::{Map, Value, json};
use shakmaty::{Bitboard, CastlingMode};

use super::{LineError, bad, event::time_left, square, units};
use crate::session::{
    settings::full_name,
    setup::{BoardKind, DisciplineSetting, GameSetup, Rules, Signal, Supervision},
};

/// Longest debounce time, as in the settings `sensor.debounce_*_ms`.
pub(super) const MAX_DEBOUNCE_MS: u64 = 1000;

/// Reads the header line.
pub fn parse_header(line: &str) -> Result<GameSetup, LineError> {
    let value: Value = serde_json::from_str(line).map_err(|e| LineError::Header(e.to_string()))?;
    let Value::Object(map) = value else {
        return Err(LineError::Header("found no object".to_owned()));
    };
    header_from_map(&map)
}

/// Reads the header from its JSON object (the header of a journal holds one, too).
pub fn header_from_map(map: &Map<String, Value>) -> Result<GameSetup, LineError> {
    let keys = Keys(map);
    let mut setup = GameSetup::default();
    version(&keys, &mut setup)?;
    words(&keys, &mut setup)?;
    if let Some(list) = map.get("history") {
        setup.history = strings("history", list)?;
    }
    if let Some(list) = map.get("start_occupied") {
        let mut occupied = Bitboard::EMPTY;
        for name in strings("start_occupied", list)? {
            occupied.add(square("start_occupied", &name)?);
        }
        setup.start_occupied = Some(occupied);
    }
    setup.config = keys.object("config")?;
    game_of_config(&mut setup)?;
    setup.given = keys.object("given")?;
    for side in ["white", "black"] {
        let ms = setup.given.get("times_ms").and_then(|times| times.get(side)?.as_u64());
        time_left("given", ms)?;
    }
    settings(&keys, &mut setup)?;
    units::read(map.get("boards"), &mut setup)?;
    Ok(setup)
}

/// The keys of a header, by what they hold.
struct Keys<'a>(&'a Map<String, Value>);

impl<'a> Keys<'a> {
    fn text(&self, key: &'static str) -> Result<Option<&'a str>, LineError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(bad(key, format!("expected a string, found {other}"))),
        }
    }

    fn object(&self, key: &'static str) -> Result<Map<String, Value>, LineError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object.clone()),
            Some(other) => Err(bad(key, format!("expected an object, found {other}"))),
        }
    }

    /// One of a few words; `read` knows them.
    fn word<T>(
        &self,
        key: &'static str,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, LineError> {
        let wrong = |word: &str| bad(key, format!("expected {expected}, found {word:?}"));
        self.text(key)?.map(|word| read(word).ok_or_else(|| wrong(word))).transpose()
    }
}

/// The version; the other spelling of the header tells the kind of stream with it.
fn version(keys: &Keys<'_>, setup: &mut GameSetup) -> Result<(), LineError> {
    match (keys.0.get("sensor_log"), keys.0.get("format")) {
        (Some(version), _) if version.as_u64() == Some(1) => Ok(()),
        (Some(version), _) => {
            let text = format!("version {version} is not known, this program reads version 1");
            Err(LineError::Header(text))
        }
        (None, Some(format)) if format == "occ-stream/1" => {
            let kind = |word: &str| match word {
                "occ" => Some((BoardKind::Reed, Signal::Debounced)),
                "raw" => Some((BoardKind::Reed, Signal::Raw)),
                "full" => Some((BoardKind::Dgt, Signal::Debounced)),
                _ => None,
            };
            if let Some((board, signal)) = keys.word("kind", "occ, raw or full", kind)? {
                setup.board = board;
                setup.signal = signal;
            }
            Ok(())
        }
        _ => Err(LineError::Header("found neither key".to_owned())),
    }
}

fn words(keys: &Keys<'_>, setup: &mut GameSetup) -> Result<(), LineError> {
    let variant = |word: &str| match word {
        "standard" => Some(CastlingMode::Standard),
        "chess960" => Some(CastlingMode::Chess960),
        _ => None,
    };
    if let Some(board) = keys.word("board", "reed, peg, dgt, two-board or none", BoardKind::parse)? {
        setup.board = board;
    }
    if let Some(castling) = keys.word("variant", "standard or chess960", variant)? {
        setup.castling = castling;
    }
    if let Some(fen) = keys.text("start_fen")? {
        fen.clone_into(&mut setup.start_fen);
    }
    if let Some(rules) = keys.word("rules", "fide-2005, fide-2023 or ua", Rules::parse)? {
        setup.rules = rules;
    }
    let disciplines = "standard, rapid, blitz or auto";
    if let Some(discipline) = keys.word("discipline", disciplines, DisciplineSetting::parse)? {
        setup.discipline = discipline;
    }
    if let Some(supervision) = keys.word("supervision", "full or basic", Supervision::parse)? {
        setup.supervision = supervision;
    }
    if let Some(text) = keys.text("time_control")? {
        text.clone_into(&mut setup.time_control);
    }
    if let Some(signal) = keys.word("signal", "debounced or raw", Signal::parse)? {
        setup.signal = signal;
    }
    Ok(())
}

/// Reads what the header has keys of its own for, where `config` names it (`rules.profile` is `rules`),
/// and leaves it out of `config`, so that a set-up says it once. `config` goes before those keys.
fn game_of_config(setup: &mut GameSetup) -> Result<(), LineError> {
    let mut own = Map::new();
    for (key, value) in std::mem::take(&mut setup.config) {
        let (map, key) = match full_name(&key) {
            Ok("rules.profile") => (&mut own, "rules".to_owned()),
            Ok("rules.discipline") => (&mut own, "discipline".to_owned()),
            Ok("rules.supervision") => (&mut own, "supervision".to_owned()),
            Ok("rules.variant") => (&mut own, "variant".to_owned()),
            _ => (&mut setup.config, key),
        };
        map.insert(key, value);
    }
    words(&Keys(&own), setup)
}

/// The settings that follow from the other keys, then those that are given by name.
fn settings(keys: &Keys<'_>, setup: &mut GameSetup) -> Result<(), LineError> {
    if let (Signal::Raw, Some(value)) = (setup.signal, keys.0.get("debounce_ms")) {
        let ms = value.as_u64().filter(|ms| *ms <= MAX_DEBOUNCE_MS).ok_or_else(|| {
            let expected = format!("expected a whole number of milliseconds from 0 to {MAX_DEBOUNCE_MS}");
            bad("debounce_ms", format!("{expected}, found {value}"))
        })?;
        setup.settings.debounce_close_ms = ms;
        setup.settings.debounce_open_ms = ms;
    }
    setup.settings.apply(&setup.config).map_err(|error| bad("config", error.to_string()))?;
    setup.law_settings().map(|_| ()).map_err(|error| bad("config", error.to_string()))
}

/// The header as a JSON object; [`header_from_map`] reads it back to the same set-up.
pub fn header_to_map(setup: &GameSetup) -> Map<String, Value> {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.to_owned(), value);
    };
    put("sensor_log", json!(1));
    put("board", json!(setup.board.as_str()));
    if setup.board == BoardKind::TwoBoard {
        put("boards", units::list(setup));
    }
    put("variant", json!(if setup.is_chess960() { "chess960" } else { "standard" }));
    put("start_fen", json!(setup.start_fen));
    put("rules", json!(setup.rules.as_str()));
    put("discipline", json!(setup.discipline.as_str()));
    put("supervision", json!(setup.supervision.as_str()));
    if !setup.time_control.is_empty() {
        put("time_control", json!(setup.time_control));
    }
    if !setup.history.is_empty() {
        put("history", json!(setup.history));
    }
    if setup.signal == Signal::Raw {
        put("signal", json!("raw"));
        put("debounce_ms", json!(setup.settings.debounce_close_ms));
    }
    if let Some(occupied) = setup.start_occupied {
        put("start_occupied", json!(occupied.into_iter().map(|s| s.to_string()).collect::<Vec<_>>()));
    }
    let mut config = setup.config.clone();
    if setup.signal == Signal::Raw {
        config.insert("sensor.debounce_close_ms".to_owned(), json!(setup.settings.debounce_close_ms));
        config.insert("sensor.debounce_open_ms".to_owned(), json!(setup.settings.debounce_open_ms));
    }
    if !config.is_empty() {
        put("config", Value::Object(config));
    }
    if !setup.given.is_empty() {
        put("given", Value::Object(setup.given.clone()));
    }
    map
}
fn strings(key: &'static str, value: &Value) -> Result<Vec<String>, LineError> {
    value
        .as_array()
        .and_then(|list| list.iter().map(|item| item.as_str().map(str::to_owned)).collect())
        .ok_or_else(|| bad(key, format!("expected a list of strings, found {value}")))
}
/// The header line, without the line end.
pub fn format_header(setup: &GameSetup) -> String {
    Value::Object(header_to_map(setup)).to_string()
}
