//! Reads the text of a configuration file.

mod board;
mod section;
mod sensor;

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use toml::de::DeTable;

use self::section::Section;
use super::{Config, ConfigErrors, LogLevel, problem::Report, sha256};

/// Default of `data.dir`.
const DATA_DIR: &str = "/var/lib/touchmoved";
/// Default of `data.sync-interval-ms`.
pub(super) const SYNC_INTERVAL_MS: u64 = 1000;
/// Port of the default of `http.listen`.
pub(super) const HTTP_PORT: u16 = 8080;
/// Port of the default of `livechess.listen`, where clients of LiveChess look.
pub(super) const LIVECHESS_PORT: u16 = 1982;
/// Default of `pgn.games-file`.
pub(super) const GAMES_FILE: &str = "games.pgn";

/// Default of `livechess.allowed-origins`: the sites that are known to read boards from a browser.
pub(super) fn default_origins() -> Vec<String> {
    vec!["https://lichess.org".to_owned(), "https://www.chess.com".to_owned()]
}

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
    let (http, livechess, livechess_origins) = services(&root);
    let (pgn_dir, games_file) = pgn(root.section("pgn"), base, &data_dir);
    let boards = board::boards(&root, base);
    root.finish();
    Config {
        source: file_name.to_owned(),
        digest: sha256(text),
        log: level,
        data_dir,
        sync_interval_ms,
        http,
        livechess,
        livechess_origins,
        pgn_dir,
        games_file,
        boards,
    }
}

const LEVELS: [(&str, LogLevel); 5] = [
    ("error", LogLevel::Error),
    ("warn", LogLevel::Warn),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
    ("trace", LogLevel::Trace),
];

/// The two services that listen, and the origins of the second one.
fn services(root: &Section<'_>) -> (Option<SocketAddr>, Option<SocketAddr>, Vec<String>) {
    let http_section = root.section("http");
    let http = listener(&http_section, HTTP_PORT);
    let section = root.section("livechess");
    let livechess = listener(&section, LIVECHESS_PORT);
    let origins = origins(&section).unwrap_or_else(default_origins);
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
    (http, livechess, origins)
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
    let what = "an origin such as \"https://lichess.org\", without a path, or \"*\" for any";
    let list = section
        .list("allowed-origins", what, |item| item.as_str().filter(|s| is_origin(s)).map(str::to_owned))?;
    Some(list.into_iter().map(|(origin, _)| origin).collect())
}

/// True for `*` and for scheme, host and an optional port, as a browser sends them.
fn is_origin(text: &str) -> bool {
    if text == "*" {
        return true;
    }
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| {
        !host.is_empty()
            && host.chars().all(|c| {
                c.is_ascii_digit() || c.is_ascii_lowercase() || matches!(c, '.' | '-' | ':' | '[' | ']')
            })
    })
}

fn pgn(section: Section<'_>, base: &Path, data_dir: &Path) -> (Option<PathBuf>, String) {
    let enabled = section.boolean("enabled").unwrap_or(true);
    let dir = path(&section, "dir", base).unwrap_or_else(|| data_dir.join("pgn"));
    let mut games_file = GAMES_FILE.to_owned();
    if let Some(name) = section.text("games-file") {
        if name.contains('/') || !name.ends_with(".pgn") || name.starts_with('.') {
            section.problem(
                "games-file",
                format!(
                    "expected the name of a file that ends in .pgn, without a directory (that is pgn.dir), \
                     found {name:?}"
                ),
            );
        }
        games_file = name.to_owned();
    }
    section.finish();
    (enabled.then_some(dir), games_file)
}

/// A path; a relative one is taken from the directory of the file.
fn path(section: &Section<'_>, key: &'static str, base: &Path) -> Option<PathBuf> {
    section.text(key).map(|text| base.join(text))
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
