//! `touchmoved replay`

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::{
    journal::replay::{ItemKind, open},
    replay::{Emit, Replay, Threshold},
    session::LOGIC_VERSION,
};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Run sensor logs or journals through the reconstruction again.\n\n\
The same log gives the same bytes, on every machine and at any time. With a journal the facts that it holds \
are compared with those that come out: a difference ends the replay with status 1.",
    after_long_help = "Examples:\n  \
touchmoved replay game.ndjson\n  \
touchmoved replay --emit states game.ndjson\n  \
touchmoved replay --emit pgn /var/lib/touchmoved/1/*.ndjson\n  \
touchmoved simulate --game opera --level chaos | touchmoved replay -\n\n\
Exit status: 0, also when the game in the log is irregular; 1 when the facts of a journal come out \
differently; 2 when a log cannot be read."
)]
pub(super) struct Args {
    /// Sensor logs or journals; `-` reads standard input
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    emit: Emit,
    /// When `--emit moves` prints a move
    #[arg(long, value_enum, default_value_t)]
    publish: Threshold,
}

/// Why a replay ends early.
enum Failure {
    /// The log cannot be read (status 2).
    Unreadable(String),
    /// The facts differ, or the output cannot be written (status 1).
    Failed(String),
    /// The reader of the output has gone.
    ReadEnough,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::ReadEnough;
        }
        Failure::Failed(format!("cannot write to standard output: {error}"))
    }
}

pub(super) fn run(args: &Args) -> ExitCode {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let several = args.logs.len() > 1;
    let mut status = ExitCode::SUCCESS;
    for log in &args.logs {
        let name = several.then(|| log.display().to_string());
        match replay(log, args, name, &mut out) {
            Ok(()) => {}
            // One log that cannot be read does not keep the others from being run.
            Err(Failure::Unreadable(message)) => {
                eprintln!("touchmoved replay: {message}");
                status = ExitCode::from(2);
            }
            Err(failure) => return failure.exit_code(),
        }
    }
    match out.flush().map_err(Failure::from) {
        Ok(()) => status,
        Err(failure) => failure.exit_code(),
    }
}

impl Failure {
    fn exit_code(&self) -> ExitCode {
        match self {
            // Somebody who has read enough, such as `head`, is no failure.
            Failure::ReadEnough => ExitCode::SUCCESS,
            Failure::Failed(message) => {
                eprintln!("touchmoved replay: {message}");
                ExitCode::FAILURE
            }
            Failure::Unreadable(message) => {
                eprintln!("touchmoved replay: {message}");
                ExitCode::from(2)
            }
        }
    }
}

fn replay(path: &Path, args: &Args, name: Option<String>, out: &mut impl Write) -> Result<(), Failure> {
    let unreadable = |error: &dyn std::fmt::Display| Failure::Unreadable(error.to_string());
    let mut log = open(path).map_err(|error| unreadable(&error))?;
    let file = log.file().display().to_string();
    let setup = log.setup().clone();
    let header = log.header().map(|(header, ..)| header.clone());
    let mut replay = Replay::new(&setup, args.emit, name)
        .map_err(|error| Failure::Unreadable(format!("{file}, line 1: {error}")))?
        .at(args.publish);
    let mut written_by = String::new();
    if let Some(header) = header {
        written_by = format!(
            "\n  written by {}, logic version {}; this is logic version {LOGIC_VERSION}",
            header.program, header.logic
        );
        replay = replay.of_journal(&header.board, &setup, &header.tags);
    }
    let differs = |difference| Failure::Failed(format!("{file}: {difference}{written_by}"));
    while let Some(item) = log.next_item().map_err(|error| unreadable(&error))? {
        match item.kind {
            ItemKind::Input(input) => replay.input(item.at, &input).map_err(differs)?,
            ItemKind::Fact(fact) => replay.recorded(fact).map_err(differs)?,
            ItemKind::Resume(_) | ItemKind::Cut(_) | ItemKind::Note(_) | ItemKind::Release(_) => {}
        }
        if replay.pending() > 1 << 15 {
            out.write_all(replay.take_output().as_bytes())?;
        }
    }
    replay.finish().map_err(differs)?;
    out.write_all(replay.take_output().as_bytes())?;
    Ok(())
}
