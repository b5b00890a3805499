//! Reads the text of a configuration file.

mod board;
mod cloud;
mod emulation;
mod laws;
mod lichess;
mod matrix;
mod notes;
mod release;
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
use super::{Config, ConfigErrors, GameControl, LogLevel, ReleaseConfig, problem::Report, sha256};
use crate::publish::release::{Delay, Policy, Threshold};

/// Default of `data.dir`.
const DATA_DIR: &str = "/var/lib/touchmoved";
/// Default of `data.sync-interval-ms`.
pub(super) const SYNC_INTERVAL_MS: u64 = 1000;
/// Port of the default of `http.listen`.
pub(super) const HTTP_PORT: u16 = 8080;
/// Port of the default of `livechess.listen`, where clients of LiveChess look.
pub(super) const LIVECHESS_PORT: u16 = 1982;
/// Port of the default of `operator.listen`.
pub(super) const OPERATOR_PORT: u16 = 8081;
/// Port of the default of `stream.listen`.
pub(super) const STREAM_PORT: u16 = 1983;
/// Default of `http.max-connections`.
pub(super) const MAX_CONNECTIONS: usize = 2000;

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
    let section = root.section("release");
    let release = release::policy(&section, Policy::default());
    section.finish();
    let services = services(&root, base, release);
    let (dgt_emulation, dgt_delay) = emulation::all(&root, base, release.delay);
    let pgn = root.section("pgn");
    let pgn_enabled = pgn.boolean("enabled").unwrap_or(true);
    let pgn_dir = path(&pgn, "dir", base).unwrap_or_else(|| data_dir.join("pgn"));
    let style = pgn.word("time-control", &STYLES).unwrap_or_default();
    let pgn_policy = release::policy(&pgn, release);
    let pgn_stops = pgn.word("illegal", &[("go-on", false), ("stop", true)]).unwrap_or(false);
    pgn.finish();
    let (lichess, lichess_policy) = lichess::lichess(&root, base, release, style);
    let (cloud, cloud_policy) =
        cloud::cloud(&root, base, services.http.is_some(), services.http_policy.delay);
    let arbiter = root.section("arbiter");
    let arbiter_token = token_file(&arbiter, "token-file", base, services.http);
    let assistant_token = token_file(&arbiter, "assistant-token-file", base, services.http);
    arbiter.finish();
    let boards = board::boards(&root, base, style);
    lichess::check_boards(&root, lichess.as_ref(), boards.len());
    root.finish();
    let mut notes = services.notes;
    notes.extend(boards.iter().filter_map(|board| notes::unused_port(board, &dgt_emulation)));
    notes.extend(notes::same_tags(&boards));
    Config {
        source: file_name.to_owned(),
        digest: sha256(text),
        log: level,
        data_dir,
        sync_interval_ms,
        http: services.http,
        livechess: services.livechess,
        livechess_origins: services.origins,
        livechess_tls: services.livechess_tls,
        operator: services.operator,
        stream: services.stream,
        livechess_moves: services.livechess_moves,
        release: ReleaseConfig {
            http: services.http_policy,
            livechess: Policy { threshold: Threshold::Made, delay: services.livechess_delay },
            pgn: pgn_policy,
            stream: services.stream_policy,
            lichess: lichess_policy,
            dgt: Policy { threshold: Threshold::Made, delay: dgt_delay },
            cloud: cloud_policy,
        },
        max_connections: services.max_connections,
        dgt_emulation,
        pgn_dir: pgn_enabled.then_some(pgn_dir),
        lichess,
        pgn_stops,
        cloud,
        arbiter_token,
        assistant_token,
        boards,
        notes,
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

/// `[http]`, `[operator]` and `[livechess]`.
struct Services {
    http: Option<SocketAddr>,
    http_policy: Policy,
    operator: Option<SocketAddr>,
    stream: Option<SocketAddr>,
    stream_policy: Policy,
    livechess: Option<SocketAddr>,
    livechess_moves: Threshold,
    livechess_delay: Delay,
    origins: Vec<String>,
    livechess_tls: Option<(PathBuf, PathBuf)>,
    max_connections: usize,
    notes: Vec<String>,
}

fn services(root: &Section<'_>, base: &Path, release: Policy) -> Services {
    let http_section = root.section("http");
    let http = listener(&http_section, HTTP_PORT, true);
    let http_policy = release::policy(&http_section, release);
    let max_connections = http_section
        .integer("max-connections", "", 1, 10_000)
        .and_then(|number| usize::try_from(number).ok())
        .unwrap_or(MAX_CONNECTIONS);
    let section = root.section("livechess");
    let livechess = listener(&section, LIVECHESS_PORT, true);
    let livechess_moves = section.word("publish", &release::THRESHOLDS).unwrap_or(Threshold::Completed);
    let livechess_delay = release::delay(&section, release.delay);
    let origins = origins(&section).unwrap_or_default();
    let livechess_tls = certificate(&section, base);
    let operator_section = root.section("operator");
    // Where spectators see the game late, the operator has a page of his own.
    let operator =
        listener(&operator_section, OPERATOR_PORT, http_policy != Policy::default() && http.is_some());
    let stream_section = root.section("stream");
    let stream = listener(&stream_section, STREAM_PORT, false);
    let stream_policy = release::policy(&stream_section, release);
    let listening = [
        (&http_section, "http", http),
        (&section, "livechess", livechess),
        (&operator_section, "operator", operator),
        (&stream_section, "stream", stream),
    ];
    own_ports(&listening);
    let mut notes = Vec::new();
    if http.is_some() && operator.is_none() && http_policy != Policy::default() {
        notes.push(notes::nothing_is_live());
    }
    notes.extend(
        listening.iter().filter_map(|(section, name, on)| notes::silent(section, name, on.is_some())),
    );
    http_section.finish();
    section.finish();
    operator_section.finish();
    stream_section.finish();
    Services {
        http,
        http_policy,
        operator,
        stream,
        stream_policy,
        livechess,
        livechess_moves,
        livechess_delay,
        origins,
        livechess_tls,
        max_connections,
        notes,
    }
}

/// `certificate` and `key`, which come together.
fn certificate(section: &Section<'_>, base: &Path) -> Option<(PathBuf, PathBuf)> {
    let (certificate, key) = (path(section, "certificate", base), path(section, "key", base));
    let lacks = |given, other| {
        section.problem(given, format!("needs {}, too", section.path_of(other)));
    };
    match (&certificate, &key) {
        (Some(_), None) if !section.has("key") => lacks("certificate", "key"),
        (None, Some(_)) if !section.has("certificate") => lacks("key", "certificate"),
        _ => {}
    }
    certificate.zip(key)
}

/// Notes services that cannot listen beside each other.
fn own_ports(listening: &[(&Section<'_>, &str, Option<SocketAddr>)]) {
    for (index, (section, name, address)) in listening.iter().enumerate() {
        for (before, other, taken) in listening.iter().take(index) {
            let (Some(address), Some(taken)) = (address, taken) else { continue };
            let same_host =
                address.ip() == taken.ip() || address.ip().is_unspecified() || taken.ip().is_unspecified();
            if address.port() == 0 || address.port() != taken.port() || !same_host {
                continue;
            }
            let (at, other) = if section.has("listen") { (section, other) } else { (before, name) };
            at.problem(
                "listen",
                format!("port {} is taken by {other}.listen; give each its own", taken.port()),
            );
        }
    }
}

/// `enabled` and `listen` of a service; nothing when it is switched off.
fn listener(section: &Section<'_>, port: u16, enabled: bool) -> Option<SocketAddr> {
    let enabled = section.boolean("enabled").unwrap_or(enabled);
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
