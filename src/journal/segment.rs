//! Names of segments: which one is the latest, and what the next one is called.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{record, store::JournalError};

/// A segment's place in its directory: the UTC of its name and its number.
type Key = (String, u64);

fn key(name: &str) -> Option<Key> {
    let (utc, number) = name.strip_suffix(".ndjson")?.rsplit_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (date, time) = utc.strip_suffix('Z')?.split_once('T')?;
    (date.len() == 8 && time.len() == 6 && digits(date) && digits(time) && digits(number))
        .then(|| number.parse().ok())?
        .map(|number| (utc.to_owned(), number))
}

/// The segments of a directory, the latest first.
fn keys(dir: &Path) -> Result<Vec<(Key, PathBuf)>, JournalError> {
    let list = |source| JournalError::io(dir, "list the directory", source);
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(list)? {
        let entry = entry.map_err(list)?;
        found.extend(entry.file_name().to_str().and_then(key).map(|key| (key, entry.path())));
    }
    found.sort_unstable_by(|one, other| other.cmp(one));
    Ok(found)
}

fn latest_key(dir: &Path) -> Result<Option<(Key, PathBuf)>, JournalError> {
    Ok(keys(dir)?.into_iter().next())
}

/// The segment of a directory whose name sorts last; `None` when there is none.
pub fn latest_segment(dir: &Path) -> Result<Option<PathBuf>, JournalError> {
    Ok(latest_key(dir)?.map(|(_, path)| path))
}

/// The segments of a directory, the latest first.
pub fn segments(dir: &Path) -> Result<Vec<PathBuf>, JournalError> {
    Ok(keys(dir)?.into_iter().map(|(_, path)| path).collect())
}

/// The name for a new segment: `<UTC>-<n>.ndjson`, such as `20260131T140000Z-0001.ndjson`. It sorts
/// behind all that are there, even when the wall clock was set back.
pub fn next_segment(dir: &Path, wall_us: u64) -> Result<PathBuf, JournalError> {
    let mut utc: String = record::rfc3339(wall_us).chars().filter(|c| !matches!(c, '-' | ':')).collect();
    utc.truncate("20260131T140000".len());
    utc.push('Z');
    let (utc, number) = match latest_key(dir)? {
        Some(((latest, number), _)) if latest >= utc => (latest, number.saturating_add(1)),
        _ => (utc, 1),
    };
    Ok(dir.join(format!("{utc}-{number:04}.ndjson")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: u64 = 1_769_860_800_000_000;

    #[test]
    fn names_sort_in_the_order_in_which_they_were_given() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(latest_segment(dir.path()).unwrap(), None);
        let mut last = None;
        // The third wall clock was set back to 1970: a board computer without a battery.
        for (wall_us, name) in [
            (NOON, "20260131T120000Z-0001.ndjson"),
            (NOON, "20260131T120000Z-0002.ndjson"),
            (0, "20260131T120000Z-0003.ndjson"),
            (NOON + 1_000_000, "20260131T120001Z-0001.ndjson"),
        ] {
            let path = next_segment(dir.path(), wall_us).unwrap();
            assert_eq!(path.file_name().unwrap().to_str(), Some(name));
            assert!(last < Some(path.clone()));
            fs::write(&path, "").unwrap();
            assert_eq!(latest_segment(dir.path()).unwrap().as_ref(), Some(&path));
            last = Some(path);
        }
    }

    #[test]
    fn other_files_are_no_segments() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["zzz.ndjson", "20260131T120000Z.ndjson", "20260131T120000Z-0001.ndjson.bak", "game.pgn"]
        {
            fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(latest_segment(dir.path()).unwrap(), None);
    }

    #[test]
    fn a_directory_that_is_missing_is_named_with_what_to_do() {
        let error = latest_segment(Path::new("/nonexistent/journal")).unwrap_err().to_string();
        assert!(
            error.contains("/nonexistent/journal") && error.contains("create the data directory"),
            "{error}"
        );
    }
}
