//! `touchmoved simulate`: a game in, a sensor log of human handling out, or a pegged board on a pseudo
//! terminal at which it is played.

mod params;
mod pty;
mod truth;

use std::{
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use self::{params::ParamsError, pty::PtyError};
use crate::{
    session::setup::GameSetup,
    simulate::{
        Game, SimulateError, Simulation,
        games::{DemoGame, GAMES},
        params::{ClockKind, Ending, Level, Output, Params},
        peg::{FASTEST, PegBoard, TroubleAt},
        pgn::{self, PgnError},
        simulate,
    },
    wire::sensor_log::{format_event, format_header},
};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The hands lift, carry, slide, adjust and press as people do; docs/simulation.md tells how often \
        what goes wrong at each level. The log goes to standard output.\n\n\
        Examples:\n  \
        touchmoved simulate --game opera > opera.ndjson\n  \
        touchmoved simulate --level chaos --seed 7 game.pgn | touchmoved replay -\n  \
        touchmoved simulate --output identity --clock dgt game.pgn > dgt.ndjson\n  \
        touchmoved simulate --set mishaps.slide=100% --set timing.passing=20-400ms --game opera\n  \
        touchmoved simulate --level chaos --print-params > mine.toml\n  \
        touchmoved simulate --params mine.toml game.pgn\n  \
        touchmoved simulate --output peg --pty /tmp/peg --game opera --speed 4 --trouble unplug@5\n\n\
        Exit status: 0 done, 1 the output cannot be written, 2 the game or a parameter cannot be used."
)]
pub(super) struct Args {
    /// PGN file whose first game is played; - reads standard input
    #[arg(required_unless_present_any = ["game", "print_params"])]
    pgn: Option<PathBuf>,
    /// Play a built-in game: opera, immortal, evergreen, rarities or chess960
    #[arg(long, value_name = "NAME", conflicts_with = "pgn")]
    game: Option<String>,
    /// How the men are handled: clean, tournament or chaos
    #[arg(long, default_value = "tournament", value_parser = level)]
    level: Level,
    /// The same seed gives the same log
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What is put out: raw (contact edges), debounced (settled changes), identity (the men that the
    /// scans of a DGT board find) or peg (a pegged board on the pseudo terminal that --pty names)
    #[arg(long, value_parser = output)]
    output: Option<Form>,
    /// Where the pseudo terminal of a pegged board is found: a symbolic link that is made. The game
    /// begins when a host reads the board, which stays until the program is ended
    #[arg(long, value_name = "LINK", conflicts_with_all = ["debounced", "truth", "print_params"])]
    pty: Option<PathBuf>,
    /// How many times as fast as people the hands at a pegged board are
    #[arg(long, requires = "pty", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=FASTEST as i64))]
    speed: u32,
    /// What goes wrong at a pegged board when a ply begins: garbage, lost-byte, restart or unplug, such as
    /// unplug@5; may be given more than once
    #[arg(long, requires = "pty", value_name = "WHAT@PLY")]
    trouble: Vec<TroubleAt>,
    /// The same as --output debounced; changes have to last for so many milliseconds
    #[arg(
        long,
        value_name = "MS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "20",
        value_parser = clap::value_parser!(u32).range(..=3_600_000),
        conflicts_with = "output"
    )]
    debounced: Option<u32>,
    /// At the end: open (the clock runs on), stopped (the default), kings (in the centre), entered (the
    /// result)
    #[arg(long, value_parser = ending)]
    ending: Option<Ending>,
    /// How the clock is heard: exact (to the millisecond, at once) or dgt (whole seconds, late, with gaps and
    /// errors, through a DGT board)
    #[arg(long, value_parser = clock)]
    clock: Option<ClockKind>,
    /// Read parameters from a TOML file, such as --print-params writes; they replace those of the level
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    /// Set one parameter, such as mishaps.slide=30% or timing.travel=90-250ms; it replaces that of the
    /// file; may be given more than once
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Write what really happened into this file: moves, times, orders, mishaps and touches
    #[arg(long, value_name = "FILE", value_parser = truth_file)]
    truth: Option<PathBuf>,
    /// Write the parameters as TOML and play nothing
    #[arg(long)]
    print_params: bool,
}

fn level(text: &str) -> Result<Level, String> {
    Level::parse(text).ok_or_else(|| "expected clean, tournament or chaos".to_owned())
}

/// What is put out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A sensor log.
    Log(Output),
    /// The lines of a pegged board.
    Peg,
}

fn output(text: &str) -> Result<Form, String> {
    if text == "peg" {
        return Ok(Form::Peg);
    }
    let found = Output::ALL.into_iter().find(|output| output.as_str() == text);
    found.map(Form::Log).ok_or_else(|| "expected raw, debounced, identity or peg".to_owned())
}

fn truth_file(text: &str) -> Result<PathBuf, String> {
    if text == "-" {
        return Err("standard output has the log; name a file".to_owned());
    }
    Ok(text.into())
}

fn ending(text: &str) -> Result<Ending, String> {
    let found = Ending::ALL.into_iter().find(|ending| ending.as_str() == text);
    found.ok_or_else(|| "expected open, stopped, kings or entered".to_owned())
}

fn clock(text: &str) -> Result<ClockKind, String> {
    let found = ClockKind::ALL.into_iter().find(|kind| kind.as_str() == text);
    found.ok_or_else(|| "expected exact or dgt".to_owned())
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{file}: {error}")]
    Read { file: String, error: io::Error },
    #[error("{file}: {error}")]
    Pgn { file: String, error: PgnError },
    #[error("{file}: {error}")]
    Game { file: String, error: SimulateError },
    #[error("--truth {file}: {error}")]
    Truth { file: String, error: io::Error },
    #[error(transparent)]
    Params(#[from] ParamsError),
    #[error(transparent)]
    Pty(#[from] PtyError),
    #[error("--output peg needs --pty LINK: where the pseudo terminal of the board shall be found")]
    NoPty,
    #[error("--pty is for a pegged board; leave --output away, or say --output peg")]
    NotPeg,
    #[error("there is no built-in game {name:?}; the names are {known}")]
    Unknown { name: String, known: String },
}

pub(super) fn run(args: &Args) -> ExitCode {
    match (&args.pty, args.output) {
        (Some(link), None | Some(Form::Peg)) => return finish(be_a_board(args, link)),
        (Some(_), Some(Form::Log(_))) => return finish(Err(Failure::NotPeg)),
        (None, Some(Form::Peg)) => return finish(Err(Failure::NoPty)),
        (None, None | Some(Form::Log(_))) => {}
    }
    let text = params_of(args).map_err(Failure::from).and_then(|params| {
        if args.print_params {
            return Ok(params::print(&params));
        }
        let simulation = play(args, &params)?;
        if let Some(path) = &args.truth {
            std::fs::write(path, truth::json_of(&simulation, &params))
                .map_err(|error| Failure::Truth { file: path.display().to_string(), error })?;
        }
        Ok(log_of(&simulation))
    });
    let text = match text {
        Ok(text) => text,
        Err(failure) => {
            eprintln!("touchmoved simulate: {failure}");
            return ExitCode::from(2);
        }
    };
    match io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("touchmoved simulate: standard output: {error}");
            ExitCode::FAILURE
        }
    }
}

fn finish(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("touchmoved simulate: {failure}");
            ExitCode::from(2)
        }
    }
}

/// Plays the game at a pegged board on a pseudo terminal.
fn be_a_board(args: &Args, link: &Path) -> Result<(), Failure> {
    let mut params = params_of(args)?;
    // The firmware of the board debounces.
    params.output = Output::Raw;
    params.initial_report = true;
    let simulation = play(args, &params)?;
    Ok(pty::serve(PegBoard::new(&simulation, args.speed, &args.trouble), link)?)
}

/// The level, under the file, under single settings, under the switches.
fn params_of(args: &Args) -> Result<Params, ParamsError> {
    let mut params = Params::level(args.level);
    if let Some(path) = &args.params {
        params::read(&mut params, path)?;
    }
    for setting in &args.set {
        params::set(&mut params, setting)?;
    }
    if let Some(Form::Log(output)) = args.output {
        params.output = output;
    }
    params.ending = args.ending.unwrap_or(params.ending);
    params.clock.kind = args.clock.unwrap_or(params.clock.kind);
    if let Some(settle_ms) = args.debounced {
        params.output = Output::Debounced;
        params.settle_ms = settle_ms;
    }
    Ok(params)
}

fn play(args: &Args, params: &Params) -> Result<Simulation, Failure> {
    let (name, game) = match (&args.game, &args.pgn) {
        (Some(name), _) => (name.clone(), built_in(name)?),
        (None, Some(path)) => from_file(path)?,
        (None, None) => return Err(Failure::Unknown { name: String::new(), known: names() }),
    };
    simulate(&game, params, args.seed).map_err(|error| Failure::Game { file: name, error })
}

fn names() -> String {
    GAMES.iter().map(|game| game.name).collect::<Vec<_>>().join(", ")
}

fn built_in(name: &str) -> Result<Game, Failure> {
    DemoGame::find(name)
        .map(|game| game.game(GameSetup::default()))
        .ok_or_else(|| Failure::Unknown { name: name.to_owned(), known: names() })
}

fn from_file(path: &Path) -> Result<(String, Game), Failure> {
    let stdin = path.as_os_str() == "-";
    let file = if stdin { "standard input".to_owned() } else { path.display().to_string() };
    let mut bytes = Vec::new();
    let read = if stdin {
        io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(path).map(|content| bytes = content)
    };
    read.map_err(|error| Failure::Read { file: file.clone(), error })?;
    // Old files write names in Latin-1; the moves are ASCII in any case.
    let game = pgn::parse(&String::from_utf8_lossy(&bytes))
        .map_err(|error| Failure::Pgn { file: file.clone(), error })?;
    Ok((file, game))
}

fn log_of(simulation: &Simulation) -> String {
    let lines = simulation.events.iter().map(format_event);
    std::iter::once(format_header(&simulation.setup))
        .chain(lines)
        .flat_map(|line| [line, "\n".to_owned()])
        .collect()
}
