//! The token of a push.

use std::{collections::BTreeSet, fmt};

use hyper::header::HeaderValue;

/// Characters of a token.
const LENGTH: std::ops::RangeInclusive<usize> = 8..=512;
/// Characters of a token in a row that nobody may read: a server may send back a part of it.
const PART: usize = 8;

/// A token that goes to Lichess with each push. Nothing prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Bearer(String);

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer")
    }
}

/// Why a text is no token. The text itself is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a token of Lichess is one line of {} to {} letters, digits and signs of ASCII, such as lip_...; make one at \
     https://lichess.org/account/oauth/token with the scope study:write",
    LENGTH.start(), LENGTH.end()
)]
pub struct NoToken;

impl Bearer {
    /// The token of a file: one line.
    ///
    /// # Errors
    /// The text cannot be a token.
    pub fn parse(text: &str) -> Result<Bearer, NoToken> {
        let text = text.trim();
        let fits = LENGTH.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Bearer(text.to_owned())) } else { Err(NoToken) }
    }

    /// The header that it is sent in.
    pub(super) fn header(&self) -> HeaderValue {
        let value = HeaderValue::from_str(&format!("Bearer {}", self.0));
        let mut value = value.unwrap_or(HeaderValue::from_static("Bearer"));
        value.set_sensitive(true);
        value
    }

    /// A text without the token and its parts, should a server send it back.
    pub(super) fn taken_out_of(&self, text: &str) -> String {
        let parts: BTreeSet<&[u8]> = self.0.as_bytes().windows(PART).collect();
        // A token is ASCII, so that its parts begin and end between two characters of any text.
        let mut secret = vec![false; text.len()];
        for (at, part) in text.as_bytes().windows(PART).enumerate() {
            if parts.contains(part) {
                secret.iter_mut().skip(at).take(PART).for_each(|secret| *secret = true);
            }
        }
        let mut told = String::with_capacity(text.len());
        let mut inside = false;
        for (at, c) in text.char_indices() {
            match (secret.get(at) == Some(&true), inside) {
                (true, false) => told.push_str("(token)"),
                (true, true) => {}
                (false, _) => told.push(c),
            }
            inside = secret.get(at) == Some(&true);
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_sent_and_not_printed() {
        let token = Bearer::parse(" lip_SECRET0\n").unwrap();
        assert_eq!(token.header().as_bytes(), b"Bearer lip_SECRET0");
        assert_eq!(format!("{token:?} {:?}", token.header()), "Bearer Sensitive");
        assert_eq!(token.taken_out_of("No such token lip_SECRET0!"), "No such token (token)!");
        assert_eq!(token.taken_out_of("é lip_SECRET0lip_SECRET0 é"), "é (token) é");
        // A part of it, too: eight characters in a row.
        assert_eq!(token.taken_out_of("No token lip_SECR… or p_SECRET0"), "No token (token)… or (token)");
        for harmless in ["", "lip_", "No such round: SECRET0"] {
            assert_eq!(token.taken_out_of(harmless), harmless);
        }
        for wrong in ["", "short", "with a blank", "zwei\nZeilen"] {
            assert_eq!(Bearer::parse(wrong), Err(NoToken), "{wrong}");
            assert!(wrong.is_empty() || !NoToken.to_string().contains(wrong));
        }
    }
}
