//! What a client calls its calls and feeds.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value, value::RawValue};

/// An identifier that a client chose. It goes back as the JSON that it came as: an integer stays an integer, however
/// large.
#[derive(Clone, Debug)]
pub struct Id(Box<RawValue>);

impl Id {
    /// The identifier of what has none: `null`.
    pub fn none() -> Id {
        Id(RawValue::NULL.to_owned())
    }

    /// Any JSON value.
    ///
    /// # Errors
    /// It is nested too deeply.
    pub fn read(raw: &RawValue) -> Result<Id, serde_json::Error> {
        let text = raw.get();
        let value: Value = serde_json::from_str(text)?;
        // A number type of this program could not hold each integer.
        let is_integer = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
        if is_integer { Ok(Id(raw.to_owned())) } else { Ok(Id::from(&value)) }
    }

    /// True for a number and a text, which can name a feed.
    pub fn is_name(&self) -> bool {
        self.0.get().starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
    }
}

impl From<&Value> for Id {
    fn from(value: &Value) -> Id {
        RawValue::from_string(value.to_string()).map_or_else(|_| Id::none(), Id)
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Id) -> bool {
        self.0.get() == other.0.get()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get())
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
