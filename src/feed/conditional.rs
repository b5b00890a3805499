//! Conditional requests: `ETag`, `Last-Modified` and when the answer is 304.

use axum::http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};
use time::{OffsetDateTime, format_description::well_known::Rfc2822};

/// What tells one version of a resource from the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Validators {
    tag: String,
    weak: bool,
    modified: Option<u64>,
}

impl Validators {
    /// For a body that is sent byte for byte.
    pub(super) fn strong(body: &[u8]) -> Validators {
        let digest = Sha256::digest(body);
        let tag = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Validators { tag, weak: false, modified: None }
    }

    /// For a body whose meaning is `content`.
    pub(super) fn weak(content: &[u8]) -> Validators {
        Validators { weak: true, ..Validators::strong(content) }
    }

    /// Adds the second of the last change. It is left out during that second: another change could
    /// follow in it, and a client could not tell the two apart.
    pub(super) fn modified(self, changed_us: Option<u64>, now_us: u64) -> Validators {
        let second = changed_us.map(|us| us / 1_000_000).filter(|second| *second < now_us / 1_000_000);
        Validators { modified: second, ..self }
    }

    /// The value of `ETag`.
    pub(super) fn etag(&self) -> String {
        if self.weak { format!("W/\"{}\"", self.tag) } else { format!("\"{}\"", self.tag) }
    }

    /// Seconds since 1970 for `Last-Modified`.
    pub(super) const fn last_modified(&self) -> Option<u64> {
        self.modified
    }
}

/// Seconds since 1970 as an HTTP date: a date of mail, in GMT.
pub(super) fn http_date(seconds: u64) -> String {
    i64::try_from(seconds)
        .ok()
        .and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok())
        .and_then(|date| date.format(&Rfc2822).ok())
        .map_or_else(String::new, |date| date.replace("+0000", "GMT"))
}

/// True when the client has this version. `If-None-Match` counts before `If-Modified-Since`; a tag
/// is taken with and without quotes and `W/`, because some readers strip them. The date has to be
/// the very one that was sent: the clock of a small machine can be set back.
pub(super) fn unchanged(headers: &HeaderMap, validators: &Validators) -> bool {
    if headers.contains_key(header::IF_NONE_MATCH) {
        return headers
            .get_all(header::IF_NONE_MATCH)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|tag| tag.trim().trim_start_matches("W/").trim_matches('"'))
            .any(|tag| tag == "*" || tag == validators.tag);
    }
    let since = headers.get(header::IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    match (since, validators.modified) {
        (Some(since), Some(seconds)) => since.trim() == http_date(seconds),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn asked(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn dates_are_written_as_http_wants_them() {
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
    }

    #[test]
    fn a_tag_is_taken_in_every_spelling() {
        let validators = Validators::strong(b"1. e4 *");
        let tag = validators.tag.clone();
        for spelling in
            [format!("\"{tag}\""), format!("W/\"{tag}\""), tag.clone(), format!("\"x\", \"{tag}\"")]
        {
            assert!(unchanged(&asked(header::IF_NONE_MATCH, &spelling), &validators), "{spelling}");
        }
        assert!(!unchanged(&asked(header::IF_NONE_MATCH, "\"x\""), &validators));
    }

    #[test]
    fn the_date_is_left_out_during_the_second_of_the_change() {
        let validators = Validators::strong(b"").modified(Some(5_900_000), 5_999_999);
        assert_eq!(validators.last_modified(), None);
        let later = validators.modified(Some(5_900_000), 6_000_000);
        assert_eq!(later.last_modified(), Some(5));
        assert!(unchanged(&asked(header::IF_MODIFIED_SINCE, &http_date(5)), &later));
        assert!(!unchanged(&asked(header::IF_MODIFIED_SINCE, &http_date(4)), &later));
    }
}
