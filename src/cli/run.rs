//! `touchmoved run`

use std::{path::PathBuf, process::ExitCode};

use super::check_config;
use crate::daemon::{self, Started, log};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Read the configured boards and serve their feeds until a signal ends it.\n\n\
        Each board gets a directory of its own in the data directory, with one journal for each \
        game. A game that was going on when the daemon ended, however it ended, goes on where it \
        was. A device that is missing is tried again until it is there; the other boards are \
        served meanwhile. When a disk fails or is full, the games are served on, the trouble is \
        shown in /healthz, /metrics and the status of the service, and the journal is written as \
        soon as the disk takes it.\n\n\
        SIGTERM and SIGINT end the daemon within two seconds with everything written. The \
        configuration is read at the start only: SIGHUP changes nothing and says so.\n\n\
        Messages go to standard error, with the levels of journald when it reads them. Under \
        systemd the readiness, the status and the watchdog are reported (Type=notify).",
    after_help = "Everything it serves and writes is in the configuration file, with its defaults; see \
        config/touchmoved.toml. It tells systemd when it is ready. SIGTERM and Ctrl-C end it with every \
        record written; the games go on at the next start. SIGHUP changes nothing: the configuration is \
        read at the start only.\n\n\
        Examples:\n  \
        touchmoved check-config board.toml && touchmoved run --config board.toml\n  \
        curl -s http://127.0.0.1:8080/healthz\n\n\
        Exit status: 0 after a signal, 1 when the daemon cannot start or go on, 2 when the configuration is \
        wrong (see touchmoved check-config)."
)]
pub(super) struct Args {
    /// The configuration; - reads standard input
    #[arg(short, long, value_name = "FILE", default_value = "/etc/touchmoved/touchmoved.toml")]
    config: PathBuf,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let config = match check_config::load(&args.config) {
        Ok(config) => config,
        Err(problems) => {
            eprintln!("{problems}");
            return ExitCode::from(2);
        }
    };
    log::init(config.log.into());
    tracing::info!("touchmoved {}, configuration {}", super::version(), config.source);
    match daemon::run(&config, announce) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn announce(started: &Started) {
    if let Some(address) = started.http {
        tracing::info!("web page, JSON, events and PGN: http://{address}/");
    }
    if let Some(address) = started.http.filter(|_| started.desk) {
        tracing::info!("the arbiter's page, with his token: http://{address}/arbiter");
    }
    if let Some(address) = started.livechess {
        tracing::info!("LiveChess: ws://{address}/api/v1.0");
    }
    for (board, place) in &started.dgt {
        tracing::info!("board {board} as a DGT board: {}", place.path().display());
    }
    if let Some(address) = started.operator {
        tracing::info!("for the operator, without a delay: http://{address}/");
    }
    if let Some(address) = started.stream {
        tracing::info!("streams as lines over TCP: {address}");
    }
    tracing::info!("ready, {} board(s)", started.boards.len());
}
