//! The header of a segment. Pure.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::encode::hex;
use crate::{
    publish::Tags,
    session::{LOGIC_VERSION, setup::GameSetup},
    wire::sensor_log,
};

/// Version of the journal's format, in the header as `format`.
pub const FORMAT: u64 = 1;

/// The first record of a segment: what the game was set up with, and by which program.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalHeader {
    /// Version of the format, [`FORMAT`].
    pub format: u64,
    /// Name and version of the program that wrote the segment.
    pub program: String,
    /// Version of the conclusions ([`LOGIC_VERSION`]); another version may reach other facts.
    pub logic: u32,
    /// Identifier of the boot in which the segment was begun: its monotonic times count from it.
    pub boot: String,
    /// Identifier of the board in the daemon.
    pub board: String,
    /// SHA-256 of the configuration's text in hexadecimal, empty when there was no file.
    pub config: String,
    /// The set-up of the game, enough to run the inputs again.
    pub setup: GameSetup,
    /// Tags of the game.
    pub tags: Tags,
    /// Head of the previous segment of this board, when there was one.
    pub prev: Option<String>,
}

impl JournalHeader {
    /// A header of this program and its logic version.
    pub fn new(board: &str, setup: GameSetup, tags: Tags) -> JournalHeader {
        JournalHeader {
            format: FORMAT,
            program: program(),
            logic: LOGIC_VERSION,
            boot: String::new(),
            board: board.to_owned(),
            config: String::new(),
            setup,
            tags,
            prev: None,
        }
    }

    pub(super) fn to_value(&self) -> Value {
        let mut tags = serde_json::to_value(&self.tags).unwrap_or(Value::Null);
        if let Value::Object(map) = &mut tags {
            map.retain(|_, value| !value.is_null());
        }
        json!({
            "format": self.format,
            "program": self.program,
            "logic": self.logic,
            "boot": self.boot,
            "board": self.board,
            "config": self.config,
            "setup": sensor_log::header_to_map(&self.setup),
            "tags": tags,
            "prev": self.prev,
        })
    }

    pub(super) fn from_value(value: &Value) -> Result<JournalHeader, String> {
        let map = value.as_object().ok_or("the header is not an object")?;
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let format = map.get("format").and_then(Value::as_u64).unwrap_or_default();
        if format != FORMAT {
            return Err(format!("format {format} is not known, this program reads format {FORMAT}"));
        }
        let setup = map.get("setup").and_then(Value::as_object).ok_or("the header has no set-up")?;
        let tags = map.get("tags").cloned().unwrap_or_else(|| json!({}));
        Ok(JournalHeader {
            format,
            program: text("program"),
            logic: map
                .get("logic")
                .and_then(Value::as_u64)
                .and_then(|logic| u32::try_from(logic).ok())
                .ok_or("the header has no logic version")?,
            boot: text("boot"),
            board: text("board"),
            config: text("config"),
            setup: sensor_log::header_from_map(setup).map_err(|e| format!("set-up: {e}"))?,
            tags: serde_json::from_value(tags).map_err(|e| format!("tags: {e}"))?,
            prev: map.get("prev").and_then(Value::as_str).map(str::to_owned),
        })
    }
}

/// Name and version of this program, as in [`JournalHeader::program`].
pub fn program() -> String {
    concat!("touchmoved ", env!("CARGO_PKG_VERSION"), " (", env!("TOUCHMOVED_COMMIT"), ")").to_owned()
}

/// SHA-256 of a text in hexadecimal, for [`JournalHeader::config`].
pub fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
