//! Reads the text of a configuration file.

mod board;
mod emulation;
mod laws;
mod matrix;
mod second;
mod section;
mod sensor;

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use toml::de::{DeTable, DeValue};

use self::section::Section;
use super::{Config, ConfigErrors, GameControl, LogLevel, problem::Report, sha256};

/// Default of `data.dir`.
const DATA_DIR: &str = "/var/lib/touchmoved";
/// Default of `data.sync-interval-ms`.
pub(super) const SYNC_INTERVAL_MS: u64 = 1000;
/// Port of the default of `http.listen`.
pub(super) const HTTP_PORT: u16 = 8080;
/// Port of the default of `livechess.listen`, where clients of LiveChess look.
pub(super) const LIVECHESS_PORT: u16 = 1982;
/// Default of `http.max-connections`.
pub(super) const MAX_CONNECTIONS: usize = 256;

/// See [`super::parse`].
pub(super) fn parse(file_name: &str, text: &str) -> Result<Config, ConfigErrors> {
    let report = Report::new(file_name, text);
    let config = read(&report, file_name, text);
    report.finish()?;
    Ok(config)
}

/// What could be read; it counts only when nothing was reported.
pub(super) fn read(report: &Report<'_>, file_name: &str, text: &str) -> Config {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let end = text.trim_end().len();
        report.syntax(&error.span().unwrap_or(end..end), error.message());
    }
    let base = Path::new(file_name).parent().unwrap_or_else(|| Path::new(""));
    let root = Section::root(report, &table);
    let log = root.section("log");
    let level = log.word("level", &LEVELS).unwrap_or_default();
    log.finish();
    let data = root.section("data");
    let data_dir = path(&data, "dir", base).unwrap_or_else(|| PathBuf::from(DATA_DIR));
    let sync_interval_ms =
        data.integer("sync-interval-ms", "of milliseconds", 10, 1000).unwrap_or(SYNC_INTERVAL_MS);
    data.finish();
    let services = services(&root);
    let dgt_emulation = emulation::all(&root, base);
    let pgn = root.section("pgn");
    let pgn_enabled = pgn.boolean("enabled").unwrap_or(true);
    let pgn_dir = path(&pgn, "dir", base).unwrap_or_else(|| data_dir.join("pgn"));
    let style = pgn.word("time-control", &STYLES).unwrap_or_default();
    pgn.finish();
    let arbiter = root.section("arbiter");
    let arbiter_token = token_file(&arbiter, "token-file", base, services.http);
    let assistant_token = token_file(&arbiter, "assistant-token-file", base, services.http);
    arbiter.finish();
    let boards = board::boards(&root, base, style);
    root.finish();
    Config {
        source: file_name.to_owned(),
        digest: sha256(text),
        log: level,
        data_dir,
        sync_interval_ms,
        http: services.http,
        livechess: services.livechess,
        livechess_origins: services.origins,
        max_connections: services.max_connections,
        dgt_emulation,
        pgn_dir: pgn_enabled.then_some(pgn_dir),
        arbiter_token,
        assistant_token,
        boards,
    }
}

/// How the tag `TimeControl` is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ControlStyle {
    /// As the PGN standard says, in seconds.
    #[default]
    Seconds,
    /// As Lichess and readers like it take it, in minutes.
    Minutes,
}

impl ControlStyle {
    /// The value of the tag, where it can be told.
    pub(super) fn tag(self, control: &GameControl) -> Option<String> {
        match self {
            ControlStyle::Seconds => control.pgn(),
            ControlStyle::Minutes => control.lichess(),
        }
    }
}

const STYLES: [(&str, ControlStyle); 2] =
    [("seconds", ControlStyle::Seconds), ("minutes", ControlStyle::Minutes)];

const LEVELS: [(&str, LogLevel); 5] = [
    ("error", LogLevel::Error),
    ("warn", LogLevel::Warn),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
    ("trace", LogLevel::Trace),
];

/// `[http]` and `[livechess]`.
struct Services {
    http: Option<SocketAddr>,
    livechess: Option<SocketAddr>,
    origins: Vec<String>,
    max_connections: usize,
}

fn services(root: &Section<'_>) -> Services {
    let http_section = root.section("http");
    let http = listener(&http_section, HTTP_PORT);
    let max_connections = http_section
        .integer("max-connections", "", 1, 10_000)
        .and_then(|number| usize::try_from(number).ok())
        .unwrap_or(MAX_CONNECTIONS);
    let section = root.section("livechess");
    let livechess = listener(&section, LIVECHESS_PORT);
    let origins = origins(&section).unwrap_or_default();
    if let (Some(http), Some(livechess)) = (http, livechess)
        && http.port() == livechess.port()
        && http.port() != 0
        && (http.ip() == livechess.ip() || http.ip().is_unspecified() || livechess.ip().is_unspecified())
    {
        let (at, other) =
            if section.has("listen") { (&section, "http") } else { (&http_section, "livechess") };
        at.problem("listen", format!("port {} is taken by {other}.listen; give each its own", http.port()));
    }
    http_section.finish();
    section.finish();
    Services { http, livechess, origins, max_connections }
}

/// `enabled` and `listen` of a service; nothing when it is switched off.
fn listener(section: &Section<'_>, port: u16) -> Option<SocketAddr> {
    let enabled = section.boolean("enabled").unwrap_or(true);
    let default = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let address = section.text("listen").map_or(Some(default), |text| {
        let address = text.parse().ok();
        if address.is_none() {
            section.problem(
                "listen",
                format!(
                    "expected an address and a port, such as \"127.0.0.1:{port}\" (this machine only) \
                     or \"0.0.0.0:{port}\" (every network), found {text:?}"
                ),
            );
        }
        address
    });
    address.filter(|_| enabled)
}

fn origins(section: &Section<'_>) -> Option<Vec<String>> {
    let what = "an origin such as \"https://club.example\", scheme and host without a path";
    let origin = |item: &DeValue<'_>| item.as_str().filter(|text| is_origin(text)).map(str::to_owned);
    let list = section.list("allowed-origins", what, origin)?;
    Some(list.into_iter().map(|(origin, _)| origin).collect())
}

/// True for scheme, host and an optional port, as a browser sends them.
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| {
        !host.is_empty()
            && host.chars().all(|c| {
                c.is_ascii_digit() || c.is_ascii_lowercase() || matches!(c, '.' | '-' | ':' | '[' | ']')
            })
    })
}

/// A path; a relative one is taken from the directory of the file, and `-` stays what it is.
fn path(section: &Section<'_>, key: &'static str, base: &Path) -> Option<PathBuf> {
    section.text(key).map(|text| if text == "-" { PathBuf::from(text) } else { base.join(text) })
}

/// A file that holds a token.
fn token_file(
    section: &Section<'_>,
    key: &'static str,
    base: &Path,
    http: Option<SocketAddr>,
) -> Option<PathBuf> {
    let file = path(section, key, base)?;
    if http.is_none() {
        section.problem(key, "the arbiter's page is a part of [http], which is switched off");
    } else if file.as_os_str() == "-" {
        section.problem(key, "a token is read from a file, not from standard input");
    }
    Some(file)
}

/// Finds values that two boards must not share.
#[derive(Default)]
struct Uses {
    places: BTreeMap<String, (String, usize)>,
}

impl Uses {
    /// Notes that `board` uses `thing`; the board and the line that had it before, if any.
    fn claim(&mut self, thing: String, board: &str, line: usize) -> Option<(String, usize)> {
        let earlier = self.places.get(&thing).cloned();
        self.places.entry(thing).or_insert_with(|| (board.to_owned(), line));
        earlier
    }
}
