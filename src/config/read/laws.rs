//! Reads the settings of the Laws: `[defaults.draw]`, `[board.illegal]` and their like.

use serde_json::{Value, json};
use toml::de::DeValue;

use super::section::{Section, whole};
use crate::{
    config::board::LawChanges,
    laws::settings::{KEYS, LawKey},
};

/// The settings that a `[defaults]` or `[[board]]` table names. `also` reads what else is in a table,
/// which it gets with its name.
pub(super) fn laws(section: &Section<'_>, mut also: impl FnMut(&str, &Section<'_>)) -> LawChanges {
    let mut changes = LawChanges::default();
    table(section, "", &mut changes, &mut also);
    changes
}

fn table(
    section: &Section<'_>,
    path: &str,
    changes: &mut LawChanges,
    also: &mut impl FnMut(&str, &Section<'_>),
) {
    also(path, section);
    let mut inner = Vec::new();
    for key in KEYS {
        let Some(rest) = key.place.strip_prefix(path) else { continue };
        match rest.split_once('.') {
            Some((name, _)) if inner.contains(&name) => {}
            Some((name, _)) => inner.push(name),
            None => {
                if let Some(value) = value(section, rest, key) {
                    changes.insert(key.name, value);
                }
            }
        }
    }
    for name in inner {
        let child = section.section(name);
        table(&child, &format!("{path}{name}."), changes, also);
        child.finish();
    }
}

fn value(section: &Section<'_>, name: &'static str, key: &LawKey) -> Option<Value> {
    let given = section.any(name)?;
    let read = match given.get_ref() {
        DeValue::String(text) => Some(json!(text)),
        DeValue::Boolean(truth) => Some(json!(truth)),
        number @ DeValue::Integer(_) => whole(number).map(|number| json!(number)),
        _ => None,
    };
    let read = read.filter(|value| key.expected.fits(value));
    if read.is_none() {
        section.wrong(name, given, &key.expected.to_string());
    }
    read
}
