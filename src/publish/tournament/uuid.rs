//! Identifiers that are made of names: UUIDs of version 8 (RFC 9562) with 122 bits of a SHA-256.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The identifier of what has these names; other names give another one.
pub(super) fn uuid(names: &[&str]) -> String {
    let mut hash = Sha256::new();
    for name in ["touchmoved"].iter().chain(names) {
        // With its length, so that no two lists of names look the same.
        hash.update(u64::try_from(name.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(name.as_bytes());
    }
    let mut text = String::with_capacity(36);
    for (byte, index) in hash.finalize().into_iter().take(16).zip(0..) {
        let byte = match index {
            6 => byte & 0x0f | 0x80,
            8 => byte & 0x3f | 0x80,
            _ => byte,
        };
        if [4, 6, 8, 10].contains(&index) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    text
}
