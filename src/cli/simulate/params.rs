//! The simulator's parameters on the command line and in a file.

use std::{fmt::Write as _, io, ops::Range, path::Path};

use toml::de::{DeTable, DeValue};

use crate::simulate::{params::Params, settings::SettingError};

/// Why the parameters cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ParamsError {
    #[error("{file}: {error}")]
    Read { file: String, error: io::Error },
    #[error("{file}:{line}: {message}")]
    File { file: String, line: usize, message: String },
    #[error("--set {text}: {error}")]
    Set { text: String, error: SettingError },
    #[error("--set {text}: expected NAME=VALUE, such as mishaps.slide=30%")]
    Form { text: String },
}

/// Sets a parameter as `--set` gives it.
pub(super) fn set(params: &mut Params, text: &str) -> Result<(), ParamsError> {
    let (name, value) = text.split_once('=').ok_or_else(|| ParamsError::Form { text: text.to_owned() })?;
    params.set(name.trim(), value).map_err(|error| ParamsError::Set { text: text.to_owned(), error })
}

/// Sets the parameters that a file names.
pub(super) fn read(params: &mut Params, path: &Path) -> Result<(), ParamsError> {
    let file = path.display().to_string();
    let text =
        std::fs::read_to_string(path).map_err(|error| ParamsError::Read { file: file.clone(), error })?;
    apply(params, &text).map_err(|(at, message)| {
        let before = text.get(..at.start).unwrap_or(&text);
        ParamsError::File { file, line: before.matches('\n').count() + 1, message }
    })
}

/// Where something is wrong in a text, and what.
type Wrong = (Range<usize>, String);

fn apply(params: &mut Params, text: &str) -> Result<(), Wrong> {
    let root = DeTable::parse(text)
        .map_err(|error| (error.span().unwrap_or_default(), error.message().to_owned()))?;
    for (group, fields) in root.get_ref() {
        let Some(table) = fields.get_ref().as_table() else {
            let message = format!(
                "{group} stands outside a table; expected a table first, such as [mishaps]",
                group = group.get_ref()
            );
            return Err((group.span(), message));
        };
        for (field, value) in table {
            let text = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(number) => number.to_string(),
                DeValue::Boolean(flag) => flag.to_string(),
                _ => {
                    return Err((
                        value.span(),
                        format!("{}.{}: expected a text in quotes", group.get_ref(), field.get_ref()),
                    ));
                }
            };
            params.set(&format!("{}.{}", group.get_ref(), field.get_ref()), &text).map_err(|error| {
                let unknown = matches!(error, SettingError::Unknown { .. });
                (if unknown { field.span() } else { value.span() }, error.to_string())
            })?;
        }
    }
    Ok(())
}

/// The parameters as a file that [`read`] takes.
pub(super) fn print(params: &Params) -> String {
    let mut text = String::from("# Parameters of touchmoved simulate; docs/simulation.md explains them.\n");
    let mut last = String::new();
    for (name, value) in params.settings() {
        let Some((group, field)) = name.split_once('.') else { continue };
        if group != last {
            group.clone_into(&mut last);
            let _ = write!(text, "\n[{group}]\n");
        }
        let bare = value == "true" || value == "false" || value.bytes().all(|byte| byte.is_ascii_digit());
        let _ =
            if bare { writeln!(text, "{field} = {value}") } else { writeln!(text, "{field} = \"{value}\"") };
    }
    text
}
