//! The configuration: a file's text in, validated types out.
//!
//! Pure: nothing here opens a file or touches a device, so `touchmoved check-config` can run
//! anywhere. [`parse`] collects every problem of a file instead of stopping at the first one.

mod board;
mod cloud;
mod demo;
mod emulation;
mod lichess;
mod matrix;
mod problem;
mod read;
mod reserved;
mod second;
mod sensor;

#[cfg(test)]
mod tests;

use std::{net::SocketAddr, path::PathBuf};

use sha2::{Digest as _, Sha256};

pub use self::{
    board::{BoardConfig, BoardId, LiveChessBoard},
    cloud::CloudConfig,
    emulation::{BoardEmulation, DgtEmulation},
    lichess::{LichessConfig, ServerUrl},
    matrix::{ActiveLevel, InputsConfig, LedsConfig, MatrixBackend, MatrixConfig, PullUp},
    problem::{ConfigErrors, Problem},
    reserved::OtherUse,
    sensor::{DgtUpdates, DtrRts, Framing, Level, MatrixKind, Pace, PortName, SensorConfig, Speed},
};
use crate::publish::release::{Policy, Threshold};

pub use crate::laws::time_control::{GameControl, Period, TimeControl, TimeControlError};

/// Everything that the daemon is told before it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Name of the file, as it was given.
    pub source: String,
    /// SHA-256 of the file's text, 64 lower-case hex digits: the digest of the configuration that
    /// the header of a journal holds.
    pub digest: String,
    /// How much is logged (`log.level`).
    pub log: LogLevel,
    /// Where the journals are (`data.dir`).
    pub data_dir: PathBuf,
    /// Longest time that an input stays off stable storage, in milliseconds, 10 to 1000
    /// (`data.sync-interval-ms`). Moves, presses and results never wait for it.
    pub sync_interval_ms: u64,
    /// Where the web pages, JSON, server-sent events and PGN are served (`http`).
    pub http: Option<SocketAddr>,
    /// Where the LiveChess-compatible API is served (`livechess`).
    pub livechess: Option<SocketAddr>,
    /// Web origins that may open the LiveChess API from a browser, besides those that always may
    /// (`livechess.allowed-origins`). Programs that send no origin are not affected.
    pub livechess_origins: Vec<String>,
    /// The certificate of the LiveChess-compatible API, and its key (`livechess.certificate`, `livechess.key`).
    pub livechess_tls: Option<(PathBuf, PathBuf)>,
    /// Where the web pages are served once more, for the operator, who sees everything at once (`operator`).
    pub operator: Option<SocketAddr>,
    /// Where the streams are served as lines over TCP (`stream`); nothing when they are off.
    pub stream: Option<SocketAddr>,
    /// From when on a move is in the list that LiveChess clients get (`livechess.publish`).
    pub livechess_moves: Threshold,
    /// What leaves when (`release`, and the same keys in the tables of the outputs).
    pub release: ReleaseConfig,
    /// Connections that each of the two services keeps open at a time (`http.max-connections`).
    pub max_connections: usize,
    /// Boards as DGT boards for other programs (`dgt-emulation`).
    pub dgt_emulation: DgtEmulation,
    /// Where the PGN files are written (`pgn.dir`); nothing when they are switched off.
    pub pgn_dir: Option<PathBuf>,
    /// Where the games of all boards are pushed (`lichess`); nothing where they are not.
    pub lichess: Option<LichessConfig>,
    /// PGN ends where the legal game ended (`pgn.illegal`): an illegal move stands, or a position was set up.
    pub pgn_stops: bool,
    /// The files of LiveChess Cloud (`cloud`); nothing when they are switched off.
    pub cloud: Option<CloudConfig>,
    /// The file with the arbiter's token (`arbiter.token-file`); without it nothing can be entered over the
    /// network. The token itself is read when the daemon starts.
    pub arbiter_token: Option<PathBuf>,
    /// The file with the token of a blind player's assistant (`arbiter.assistant-token-file`).
    pub assistant_token: Option<PathBuf>,
    /// The boards, in the order of the file; at least one.
    pub boards: Vec<BoardConfig>,
    /// What is correct and may not be what was meant, in words.
    pub notes: Vec<String>,
}

impl Config {
    /// True where an output stays behind.
    pub fn is_late(&self) -> bool {
        let ReleaseConfig { http, livechess, pgn, stream, lichess, dgt, cloud } = self.release;
        [http, livechess, pgn, stream, lichess, dgt, cloud].iter().any(|policy| !policy.delay.is_none())
    }
}

/// What holds for each output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReleaseConfig {
    /// Web pages, JSON, server-sent events and PGN over HTTP (`http`).
    pub http: Policy,
    /// The LiveChess-compatible API (`livechess`). Its `san` has a threshold of its own.
    pub livechess: Policy,
    /// PGN files (`pgn`).
    pub pgn: Policy,
    /// Lines over TCP (`stream`).
    pub stream: Policy,
    /// Pushes to Lichess (`lichess`).
    pub lichess: Policy,
    /// Boards as DGT boards (`dgt-emulation`).
    pub dgt: Policy,
    /// Files of LiveChess Cloud (`cloud`).
    pub cloud: Policy,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// A person must act.
    Error,
    /// And what works only in part.
    Warn,
    /// And the life cycle and the moves.
    #[default]
    Info,
    /// And every square event.
    Debug,
    /// And every byte.
    Trace,
}

impl LogLevel {
    /// The word of the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
            LogLevel::Trace => "trace",
        }
    }
}

impl From<LogLevel> for tracing::level_filters::LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}

/// Reads a configuration. `file_name` is used in messages, and relative paths inside the file are
/// taken from its directory.
///
/// # Errors
/// All problems of the file, in the order of its lines.
pub fn parse(file_name: &str, text: &str) -> Result<Config, ConfigErrors> {
    read::parse(file_name, text)
}

/// SHA-256 as 64 lower-case hex digits.
fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
