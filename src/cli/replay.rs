//! `touchmoved replay`

use std::process::ExitCode;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_args: &Args) -> ExitCode {
    ExitCode::FAILURE
}
