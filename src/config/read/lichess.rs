//! Reads `[lichess]`.

use std::path::Path;

use super::{ControlStyle, path, release, section::Section};
use crate::{
    config::lichess::{LichessConfig, ServerUrl},
    publish::release::Policy,
};

/// Games that Lichess takes in one push.
const MOST_BOARDS: usize = 100;
/// Characters of the identifier of a round.
const ROUND_LENGTH: usize = 8;
/// Default of `lichess.interval-ms`.
const INTERVAL_MS: u64 = 500;

/// The table, where it is on, and what its output stays behind.
pub(super) fn lichess(
    root: &Section<'_>,
    base: &Path,
    otherwise: Policy,
    style: ControlStyle,
) -> (Option<LichessConfig>, Policy) {
    let section = root.section("lichess");
    // A table that says something else and names no round is unfinished.
    let meant = ["round", "token-file", "ca-file"].iter().any(|key| section.has(key));
    let enabled = section.boolean("enabled").unwrap_or(meant);
    let round = section.text("round");
    if let Some(round) = round
        && !(round.len() == ROUND_LENGTH && round.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    {
        section.problem(
            "round",
            format!(
                "expected the {ROUND_LENGTH} letters and digits at the end of the address of the round \
                 (https://lichess.org/broadcast/.../.../AbCdEfGh), found {round:?}"
            ),
        );
    }
    if enabled {
        section.missing(
            "round",
            "the round of the broadcast that the boards are pushed into, such as \"AbCdEfGh\"",
        );
    }
    let url = url(&section, enabled);
    let file = |key| {
        let file = path(&section, key, base)?;
        if file.as_os_str() == "-" {
            section.problem(key, "it is read from a file, not from standard input");
        }
        Some(file)
    };
    let (token_file, ca_file) = (file("token-file"), file("ca-file"));
    if ca_file.is_some() && !url.tls {
        section.problem("ca-file", "lichess.url begins with http://, where nobody vouches for the server");
    }
    let interval_ms = section.integer("interval-ms", "of milliseconds", 100, 60_000).unwrap_or(INTERVAL_MS);
    let policy = release::policy(&section, otherwise);
    let config = round.filter(|_| enabled).map(|round| LichessConfig {
        round: round.to_owned(),
        url,
        token_file,
        ca_file,
        interval_ms,
        tags_in_minutes: style == ControlStyle::Minutes,
    });
    section.finish();
    (config, policy)
}

fn url(section: &Section<'_>, enabled: bool) -> ServerUrl {
    let in_the_clear = section.boolean("allow-http").unwrap_or(false);
    let Some(text) = section.text("url") else {
        if !cfg!(feature = "tls") && enabled {
            section.problem("url", NO_TLS);
        }
        return ServerUrl::lichess();
    };
    let Some(url) = ServerUrl::parse(text) else {
        section.problem(
            "url",
            format!(
                "expected a scheme and a host without a path, such as \"https://lichess.org\", found {text:?}"
            ),
        );
        return ServerUrl::lichess();
    };
    if url.tls && enabled && !cfg!(feature = "tls") {
        section.problem("url", NO_TLS);
    } else if !url.tls && !url.is_here() && !in_the_clear {
        section.problem(
            "url",
            "the token would be sent for everybody on the way to read; use https, or say allow-http = true",
        );
    }
    url
}

const NO_TLS: &str = "this build has no TLS, which https needs; build touchmoved with the feature tls";

/// Notes more boards than go into one push.
pub(super) fn check_boards(root: &Section<'_>, config: Option<&LichessConfig>, boards: usize) {
    if config.is_some() && boards > MOST_BOARDS {
        root.problem(
            "lichess",
            format!(
                "Lichess takes {MOST_BOARDS} games in one push, and this file has {boards} boards; let two daemons \
                 push into two rounds"
            ),
        );
    }
}
