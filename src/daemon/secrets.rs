//! Tokens. They are read at the start only, and nothing tells them.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use super::run::RunError;
use crate::{
    config::{Config, LichessConfig},
    desk::{Keys, Token, TokenError},
    feed::lichess::{Bearer, NoToken, Push, Server, Timing, TlsError, Trust},
};

/// The name of the credential with the token of Lichess, where the service manager hands it over.
const CREDENTIAL: &str = "lichess-token";

/// The tokens of the arbiter and of an assistant.
pub(super) fn keys(config: &Config) -> Result<Keys, RunError> {
    let read = |key: &'static str, path: &Option<PathBuf>| -> Result<Option<Token>, RunError> {
        let Some(path) = path else { return Ok(None) };
        let text = text(key, path)?;
        let token = Token::parse(&text).map_err(|error: TokenError| wrong(key, path, error.to_string()))?;
        Ok(Some(token))
    };
    Ok(Keys {
        arbiter: read("arbiter.token-file", &config.arbiter_token)?,
        assistant: read("arbiter.assistant-token-file", &config.assistant_token)?,
    })
}

/// What is pushed to Lichess, with its token.
pub(super) fn push(config: &Config) -> Result<Option<Push>, RunError> {
    let Some(lichess) = &config.lichess else { return Ok(None) };
    let LichessConfig { round, url, token_file, ca_file, interval_ms, tags_in_minutes } = lichess;
    let token = bearer(token_file.as_deref())?;
    let trust = match ca_file {
        None => Trust::System,
        Some(path) => Trust::Authorities(fs::read(path).map_err(|error| {
            wrong("lichess.ca-file", path, format!("cannot read the certificates: {error}"))
        })?),
    };
    let server = Server { tls: url.tls, host: url.host.clone(), port: url.port };
    let push = Push::new(round, server, token, &trust);
    let push = push.map_err(|error: TlsError| RunError::Lichess(error.to_string()))?;
    let timing = Timing { interval: Duration::from_millis(*interval_ms), ..Timing::default() };
    Ok(Some(push.in_minutes(*tags_in_minutes).after_set_up(super::run::after_set_up(config)).timed(timing)))
}

/// The token of Lichess: from its file, or else from the service manager.
fn bearer(file: Option<&Path>) -> Result<Bearer, RunError> {
    let (key, path) = match (file, std::env::var_os("CREDENTIALS_DIRECTORY")) {
        (Some(file), _) => ("lichess.token-file", file.to_owned()),
        (None, Some(dir)) => ("the credential", Path::new(&dir).join(CREDENTIAL)),
        (None, None) => {
            let text = format!(
                "there is no token; name its file with lichess.token-file, or give the service the credential \
                 {CREDENTIAL} (LoadCredential={CREDENTIAL}:/path/to/file)"
            );
            return Err(RunError::Lichess(text));
        }
    };
    let text = text(key, &path)?;
    Bearer::parse(&text).map_err(|error: NoToken| wrong(key, &path, error.to_string()))
}

/// The text of a file with a token.
fn text(key: &'static str, path: &Path) -> Result<String, RunError> {
    let text = fs::read_to_string(path).map_err(|error| {
        let text = format!("cannot read the token: {error}; make the file, readable for the service only");
        wrong(key, path, text)
    })?;
    let mode = fs::metadata(path).map(|metadata| metadata.permissions().mode()).unwrap_or_default();
    if mode & 0o007 != 0 {
        tracing::warn!("{} can be read by every user of this machine: chmod o-rwx", path.display());
    }
    Ok(text)
}

fn wrong(key: &'static str, path: &Path, reason: String) -> RunError {
    RunError::Token { key, path: path.to_owned(), reason }
}
