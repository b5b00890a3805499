//! `touchmoved replay`

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::{
    replay::{Emit, Replay},
    session::{board::Board, io::Input},
    wire::sensor_log,
};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Sensor logs or journals; `-` reads standard input
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    emit: Emit,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    for log in &args.logs {
        let name = (args.logs.len() > 1).then(|| log.display().to_string());
        if let Err(message) = replay(log, args.emit, name, &mut out) {
            let _ = out.flush();
            eprintln!("touchmoved replay: {message}");
            return ExitCode::from(2);
        }
    }
    match out.flush() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("touchmoved replay: cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
    }
}

fn replay(path: &Path, emit: Emit, name: Option<String>, out: &mut impl Write) -> Result<(), String> {
    let shown = path.display();
    let input: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(|error| format!("{shown}: {error}"))?)
    };
    let mut reader = BufReader::with_capacity(1 << 16, input);
    let mut line = String::new();
    let fail = |number: u64, reason: String| format!("{shown}, line {number}: {reason}");
    let mut number = 1;
    reader.read_line(&mut line).map_err(|error| fail(1, error.to_string()))?;
    let setup = sensor_log::parse_header(line.trim_end()).map_err(|error| fail(1, error.to_string()))?;
    let board = Board::new(&setup).map_err(|error| fail(1, error.to_string()))?;
    let mut replay = Replay::new(board, emit, name);
    loop {
        line.clear();
        number += 1;
        if reader.read_line(&mut line).map_err(|error| fail(number, error.to_string()))? == 0 {
            break;
        }
        let text = line.trim_end();
        if text.is_empty() {
            continue;
        }
        let stamped = sensor_log::parse_event(text).map_err(|error| fail(number, error.to_string()))?;
        replay.input(stamped.at, &Input::Event(stamped.unit, stamped.event));
        if replay.pending() > 1 << 15 {
            out.write_all(replay.take_output().as_bytes()).map_err(|error| error.to_string())?;
        }
    }
    replay.finish();
    out.write_all(replay.take_output().as_bytes()).map_err(|error| error.to_string())
}
