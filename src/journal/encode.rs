//! Bytes and times as text. Pure.

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Bytes as pairs of hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// Reads what [`hex`] wrote; capital digits are accepted.
pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            pair.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u8::from_str_radix(pair, 16).ok())?
        })
        .collect()
}

/// Microseconds since 1970-01-01 as an RFC 3339 time with six decimals; times behind the year
/// 9999 are written as its end.
pub fn rfc3339(wall_us: u64) -> String {
    const LAST: i128 = 253_402_300_799_999_999_000;
    let nanos = (i128::from(wall_us) * 1000).min(LAST);
    let utc = OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (year, month, day) = utc.to_calendar_date();
    let (hour, minute, second, micro) = utc.to_hms_micro();
    format!("{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micro:06}Z", u8::from(month))
}

/// Reads what [`rfc3339`] wrote.
pub fn parse_rfc3339(text: &str) -> Option<u64> {
    let utc = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    u64::try_from(utc.unix_timestamp_nanos() / 1000).ok()
}
