//! `touchmoved export`

use std::{
    fs::OpenOptions,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::{
    game::Board,
    journal::replay::{self, ItemKind, Log},
    wire::sensor_log,
};

const HELP: &str = "\
A sensor log is the exchange format of simulators, test fixtures and bug reports: a header and one event a \
line, without facts and without a chain. The bytes of a DGT board are decoded into events. `touchmoved \
replay` reads it and reaches the same facts as from the journal, with the same event numbers.

The chain is checked on the way. What the daemon does not play itself, such as the names of the players, is \
not part of a sensor log.

Exit status: 0 done, 1 the output cannot be written, 2 the journal cannot be read or a record does not fit \
(the events before it are written).

Examples:
  touchmoved export /var/lib/touchmoved/1/20260131T140000Z-0001.ndjson -o game.ndjson
  touchmoved export JOURNAL | touchmoved replay - --emit facts";

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP)]
pub(super) struct Args {
    /// Journal to read, `-` for standard input
    #[arg(value_name = "JOURNAL")]
    journal: PathBuf,
    /// File to write; it must not exist. Default: standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long, requires = "output")]
    force: bool,
}

enum Failure {
    Input(String),
    Output(String),
}

pub(super) fn run(args: &Args) -> ExitCode {
    let (text, code) = match export(args) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Output(text)) => (text, 1),
        Err(Failure::Input(text)) => (text, 2),
    };
    eprintln!("touchmoved export: {text}");
    ExitCode::from(code)
}

fn export(args: &Args) -> Result<(), Failure> {
    let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    let log = replay::open(&args.journal).map_err(|e| input(&e))?;
    if !log.is_journal() {
        return Err(Failure::Input(format!("{} is a sensor log already", log.file().display())));
    }
    let board =
        Board::new(log.setup()).map_err(|e| Failure::Input(format!("{}: {e}", log.file().display())))?;
    let Some(path) = &args.output else {
        let stdout = io::stdout().lock();
        return match write_log(log, board, &mut BufWriter::new(stdout)) {
            Err(Written::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(Written::Output(error)) => Err(Failure::Output(format!("standard output: {error}"))),
            Err(Written::Input(text)) => Err(Failure::Input(text)),
            Ok(()) => Ok(()),
        };
    };
    let failed = |error: io::Error| Failure::Output(cannot_write(path, &error));
    let file = OpenOptions::new()
        .write(true)
        .create_new(!args.force)
        .create(true)
        .truncate(args.force)
        .open(path)
        .map_err(failed)?;
    match write_log(log, board, &mut BufWriter::new(file)) {
        Ok(()) => Ok(()),
        Err(Written::Output(error)) => Err(failed(error)),
        Err(Written::Input(text)) => Err(Failure::Input(text)),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    let hint = match error.kind() {
        io::ErrorKind::AlreadyExists => "; choose another name, or give --force",
        _ => "",
    };
    format!("cannot write {}: {error}{hint}", path.display())
}

enum Written {
    Input(String),
    Output(io::Error),
}

impl From<io::Error> for Written {
    fn from(error: io::Error) -> Written {
        Written::Output(error)
    }
}

fn write_log(mut log: Log, mut board: Board, output: &mut impl Write) -> Result<(), Written> {
    board.keep_events();
    writeln!(output, "{}", sensor_log::format_header(log.setup()))?;
    loop {
        match log.next_item() {
            Ok(Some(item)) => {
                let ItemKind::Input(input) = item.kind else { continue };
                board.input(item.at, &input);
                while board.poll_fact().is_some() {}
                while let Some(event) = board.poll_event() {
                    writeln!(output, "{}", sensor_log::format_event(&event))?;
                }
            }
            Ok(None) => {
                output.flush()?;
                if log.torn().is_some() {
                    eprintln!(
                        "touchmoved export: the last line of the journal is incomplete and was left out"
                    );
                }
                return Ok(());
            }
            Err(error) => {
                output.flush()?;
                return Err(Written::Input(error.to_string()));
            }
        }
    }
}
