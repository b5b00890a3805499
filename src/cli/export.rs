//! `touchmoved export`

use std::{
    fs::OpenOptions,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde_json::{Map, Value};

use crate::{
    game::Board,
    journal::{
        record,
        replay::{self, Item, ItemKind, Log},
    },
    wire::sensor_log,
};

const HELP: &str = "\
A sensor log is the exchange format of simulators, test fixtures and bug reports: a header and one event a \
line, without facts and without a chain. The bytes of a DGT board are decoded into events. `touchmoved \
replay` reads it and reaches the same facts as from the journal, with the same event numbers.

The chain is checked on the way. What the daemon does not play itself, such as the names of the players, is \
not part of a sensor log.

With --releases the release log is written instead: a line for each time that something of the score left the \
daemon. `at` is when, `to` the outputs, `plies` and `result` what they show since, `ev` the event of the board \
that it follows from, `known_us` when that became known (the `us` of the journal), `boards` and `clocks` how many \
pictures of the board and readings of the clock left since the line before, and `least_us` the shortest time in \
microseconds for which any of this was held.

Exit status: 0 done, 1 the output cannot be written, 2 the journal cannot be read or a record does not fit \
(the events before it are written).

Examples:
  touchmoved export /var/lib/touchmoved/1/20260131T140000Z-0001.ndjson -o game.ndjson
  touchmoved export JOURNAL | touchmoved replay - --emit facts
  touchmoved export JOURNAL --releases";

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
    /// Write the release log instead: what left the daemon when, for which outputs
    #[arg(long)]
    releases: bool,
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
    let write = |log: Log, output: &mut dyn Write| match args.releases {
        true => write_releases(log, output),
        false => write_log(log, board, output),
    };
    let Some(path) = &args.output else {
        let stdout = io::stdout().lock();
        return match write(log, &mut BufWriter::new(stdout)) {
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
    match write(log, &mut BufWriter::new(file)) {
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

fn write_log(log: Log, mut board: Board, output: &mut dyn Write) -> Result<(), Written> {
    board.keep_events();
    writeln!(output, "{}", sensor_log::format_header(log.setup()))?;
    each(log, output, |item, output| {
        let ItemKind::Input(input) = item.kind else { return Ok(()) };
        board.input(item.at, &input);
        while board.poll_fact().is_some() {}
        while let Some(event) = board.poll_event() {
            writeln!(output, "{}", sensor_log::format_event(&event))?;
        }
        Ok(())
    })
}

fn write_releases(log: Log, output: &mut dyn Write) -> Result<(), Written> {
    each(log, output, |item, output| {
        let (ItemKind::Release(release), Some(wall_us)) = (item.kind, item.wall_us) else { return Ok(()) };
        let mut line = Map::new();
        line.insert("at".to_owned(), record::rfc3339(wall_us).into());
        line.extend(release.to_map());
        writeln!(output, "{}", Value::Object(line))
    })
}

/// Writes what `write` makes of each item.
fn each(
    mut log: Log,
    output: &mut dyn Write,
    mut write: impl FnMut(Item, &mut dyn Write) -> io::Result<()>,
) -> Result<(), Written> {
    loop {
        match log.next_item() {
            Ok(Some(item)) => write(item, output)?,
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
