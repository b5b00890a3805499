//! The sensor log, version 1: one JSON object a line; the first is the header, every other one an
//! event. It is what simulators, fixtures and bug reports are made of.

mod event;
mod header;
#[cfg(test)]
mod tests;
mod units;

use shakmaty::{Color, Square};

pub use self::{
    event::{event_to_map, format_event, parse_event},
    header::{format_header, header_from_map, header_to_map, parse_header},
};

/// Why a line of a sensor log cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LineError {
    /// The line is not a JSON object of the right types.
    #[error("not a JSON object of a sensor log: {0}")]
    Json(String),
    /// The first line is no header.
    #[error(
        "the first line must be a header, {{\"sensor_log\":1,...}} or {{\"format\":\"occ-stream/1\",...}}: {0}"
    )]
    Header(String),
    /// A key has a value that cannot be used.
    #[error("{key}: {reason}")]
    Value {
        /// The key.
        key: &'static str,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// The object has a time but nothing that happened at it.
    #[error("unknown event: none of its keys is an event of sensor log version 1")]
    UnknownEvent,
}
impl LineError {
    /// The message of the JSON reader without its position: a log has one object a line.
    fn of_json(error: &serde_json::Error) -> LineError {
        let text = error.to_string();
        let text = text.split(" at line 1 column").next().unwrap_or_default();
        LineError::Json(text.replace("expected u64", "expected a whole number from 0 on"))
    }
}

fn bad(key: &'static str, reason: impl Into<String>) -> LineError {
    LineError::Value { key, reason: reason.into() }
}
fn square(key: &'static str, text: &str) -> Result<Square, LineError> {
    text.parse().map_err(|_| bad(key, format!("expected a square from a1 to h8, found {text:?}")))
}

fn side(key: &'static str, text: &str) -> Result<Color, LineError> {
    match text {
        "white" => Ok(Color::White),
        "black" => Ok(Color::Black),
        _ => Err(bad(key, format!("expected white or black, found {text:?}"))),
    }
}
fn color(side: Color) -> &'static str {
    side.fold_wb("white", "black")
}
