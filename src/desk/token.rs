//! Tokens: who may speak to a board.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// Fewest characters of a token; a random one of this length cannot be guessed.
const SHORTEST: usize = 16;
/// Most characters of a token.
const LONGEST: usize = 256;

/// A token. Only its digest is kept, and nothing prints it.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Why a text is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Too short or too long.
    #[error(
        "a token has {SHORTEST} to {LONGEST} characters on one line; `openssl rand -hex 16` makes a good one"
    )]
    Length,
    /// Blanks or characters that cannot be sent.
    #[error("a token consists of letters, digits and signs of ASCII, without blanks")]
    Characters,
}

impl Token {
    /// The token of a file: one line.
    ///
    /// # Errors
    /// What is wrong with it. The text itself is not told.
    pub fn parse(text: &str) -> Result<Token, TokenError> {
        let text = text.trim();
        if !(SHORTEST..=LONGEST).contains(&text.len()) {
            return Err(TokenError::Length);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Characters);
        }
        Ok(Token::of(text))
    }

    fn of(text: &str) -> Token {
        Token(Sha256::digest(text.as_bytes()).into())
    }

    /// Compares in a time that does not depend on where the texts differ.
    fn is(&self, given: &str) -> bool {
        let given = Token::of(given);
        let differing = self.0.iter().zip(given.0.iter()).fold(0_u8, |sum, (a, b)| sum | (a ^ b));
        std::hint::black_box(differing) == 0
    }
}

/// Who somebody is, by the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The arbiter, who may do everything here.
    Arbiter,
    /// A blind player's assistant.
    Assistant,
}

/// The tokens that are configured.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// The arbiter's.
    pub arbiter: Option<Token>,
    /// The assistant's.
    pub assistant: Option<Token>,
}

impl Keys {
    /// True when nobody can be let in.
    pub fn is_empty(&self) -> bool {
        self.arbiter.is_none() && self.assistant.is_none()
    }

    /// Whose token this is.
    pub fn role(&self, given: &str) -> Option<Role> {
        // Both are compared, whatever the first comparison says.
        let is = |token: &Option<Token>| token.as_ref().is_some_and(|token| token.is(given));
        let (arbiter, assistant) = (is(&self.arbiter), is(&self.assistant));
        if arbiter {
            Some(Role::Arbiter)
        } else if assistant {
            Some(Role::Assistant)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_text_and_prints_nothing() {
        let token = |text: &str| Token::parse(text).ok();
        let keys = Keys { arbiter: token("0123456789abcdef\n"), assistant: token("fedcba9876543210") };
        assert_eq!(keys.role("0123456789abcdef"), Some(Role::Arbiter));
        assert_eq!(keys.role("fedcba9876543210"), Some(Role::Assistant));
        for wrong in ["", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeF"] {
            assert_eq!(keys.role(wrong), None, "{wrong}");
        }
        assert_eq!(format!("{:?}", keys.arbiter), "Some(Token)");
    }

    #[test]
    fn weak_tokens_are_refused_without_telling_them() {
        assert_eq!(Token::parse("secret").unwrap_err(), TokenError::Length);
        assert_eq!(Token::parse("").unwrap_err(), TokenError::Length);
        assert_eq!(Token::parse("0123456789 abcdef").unwrap_err(), TokenError::Characters);
        assert!(!Token::parse("secret").unwrap_err().to_string().contains("secret"));
    }
}
