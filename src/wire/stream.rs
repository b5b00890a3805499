//! Requests of a client of the streams, in the manner of gpsd: `?NAME;` or `?NAME={..};`, one a line.
//!
//! | request | answer |
//! |---|---|
//! | `?VERSION;` | what speaks here |
//! | `?POLL;` | all boards as they stand |
//! | `?WATCH={..};` | what will be told, then a snapshot or what was missed, then each event |
//!
//! The same requests come over TCP, a line each, and over WebSocket, a message each.

use serde::{Deserialize, Serialize};

/// Longest request in bytes. Ten boards are named in some 100.
pub const MAX_REQUEST: usize = 4096;

/// Names of events that a client can ask for.
pub const KINDS: [&str; 10] =
    ["board", "move", "undo", "correct", "completed", "elapsed", "clock", "setup", "result", "status"];

/// What a client wants to be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// False ends it.
    #[serde(default = "yes")]
    pub enable: bool,
    /// Identifiers of boards; all boards where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boards: Option<Vec<String>>,
    /// Names of events, of [`KINDS`]; all of them where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<String>>,
    /// Identifier of the last event that the client has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

impl Default for Watch {
    fn default() -> Watch {
        Watch { enable: true, boards: None, kinds: None, since: None }
    }
}

fn yes() -> bool {
    true
}

/// A request of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Who speaks here?
    Version,
    /// How do the boards stand?
    Poll,
    /// Tell what happens.
    Watch(Watch),
}

impl Watch {
    /// Refuses names of events that there are not.
    ///
    /// # Errors
    /// In words, for the client.
    pub fn checked(self) -> Result<Watch, String> {
        let unknown = self.kinds.iter().flatten().find(|kind| !KINDS.contains(&kind.as_str()));
        match unknown {
            Some(kind) => {
                Err(format!("there are no events of the kind {kind:?}; the kinds: {}", KINDS.join(", ")))
            }
            None => Ok(self),
        }
    }
}

impl Request {
    /// Reads a line, with or without its end.
    ///
    /// # Errors
    /// What is wrong, in words, for the client.
    pub fn parse(line: &str) -> Result<Request, String> {
        let text = line.trim();
        let text = text.strip_suffix(';').unwrap_or(text).trim_end();
        let request =
            text.strip_prefix('?').ok_or_else(|| format!("a request begins with ?, not {}", quoted(text)))?;
        let (name, value) = match request.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value)),
            None => (request, None),
        };
        match (name, value) {
            ("VERSION", None) => Ok(Request::Version),
            ("POLL", None) => Ok(Request::Poll),
            ("WATCH", None) => Ok(Request::Watch(Watch::default())),
            ("WATCH", Some(value)) => {
                let watch: Watch = serde_json::from_str(value).map_err(|error| format!("WATCH: {error}"))?;
                watch.checked().map(Request::Watch)
            }
            _ => Err(format!(
                "unrecognized request {}; there are ?VERSION; ?POLL; and ?WATCH={{\"enable\":true}};",
                quoted(text)
            )),
        }
    }
}

/// The beginning of a text, in quotes.
fn quoted(text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    format!("{start:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_people_type_them() {
        assert_eq!(Request::parse("?VERSION;\r\n"), Ok(Request::Version));
        assert_eq!(Request::parse(" ?POLL"), Ok(Request::Poll));
        assert_eq!(Request::parse("?WATCH;"), Ok(Request::Watch(Watch::default())));
        let text = r#"?WATCH={"enable":true,"boards":["1","2"],"kinds":["move"],"since":"a-7"};"#;
        let watch = Watch {
            enable: true,
            boards: Some(vec!["1".to_owned(), "2".to_owned()]),
            kinds: Some(vec!["move".to_owned()]),
            since: Some("a-7".to_owned()),
        };
        assert_eq!(Request::parse(text), Ok(Request::Watch(watch)));
        assert_eq!(Request::parse(r#"?WATCH={"boards":[";"]};"#).map(|_| ()), Ok(()), "a ; within a text");
    }

    #[test]
    fn a_bad_request_is_answered_in_words() {
        let refused = |line: &str| Request::parse(line).unwrap_err();
        assert!(refused("hello").starts_with("a request begins with ?, not \"hello\""));
        assert!(refused("?FOO;").contains("unrecognized request \"?FOO\""));
        assert!(refused("?WATCH={\"enabel\":true};").contains("unknown field `enabel`"));
        assert!(refused("?WATCH={\"kinds\":[\"touch\"]};").contains("no events of the kind \"touch\""));
        assert!(refused("?WATCH={").starts_with("WATCH: "));
        assert!(refused(&"x".repeat(9000)).len() < 100);
    }
}
