//! `touchmoved check-config`

use std::{
    fmt::Write as _,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::{
    config::{self, BoardConfig, Config, MatrixKind, OtherUse, Pace, SensorConfig},
    laws::{
        settings::{Discipline, DisciplineSetting, KEYS, LawSettings},
        time_control::GameControl,
    },
    publish::release::{Policy, Threshold},
    session::setup::GameSetup,
};

/// Boards that the summary of one file lists without `--all`, so that it fits on a screen.
const LISTED: usize = 12;

const HELP: &str = "\
Every problem of a file is told at once, one a line:

  FILE:LINE:COLUMN: KEY: what is wrong; what to do

A correct file is summed up on one screen: what would run, where the data goes, which addresses are \
open; what may not be meant, and pins that are free only while something else is off, are noted. No device is opened and nothing is written, so a file can be checked on any machine. The file \
config/touchmoved.toml of the source code explains every key.

Exit status: 0 every file is correct, 2 a file has a problem or cannot be read.";

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP)]
pub(super) struct Args {
    /// Configuration files; - reads standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// List every board, not only the first ones
    #[arg(long)]
    all: bool,
    /// Print nothing for a correct file
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let (mut summaries, mut problems) = (String::new(), String::new());
    for path in &args.files {
        match load(path) {
            Ok(_) if args.quiet => {}
            Ok(config) => summaries.push_str(&summary(&config, if args.all { usize::MAX } else { LISTED })),
            Err(text) => {
                problems.push_str(&text);
                problems.push('\n');
            }
        }
    }
    // A closed pipe (`| head`) is no reason to fail.
    let _ = std::io::stdout().write_all(summaries.as_bytes());
    let _ = std::io::stderr().write_all(problems.as_bytes());
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) }
}

/// Reads and checks one file; the error is what the user should see, one problem a line.
pub(super) fn load(path: &Path) -> Result<Config, String> {
    let name = path.display().to_string();
    let text = if name == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.map_err(|error| format!("{name}: cannot read the configuration: {error}"))?;
    config::parse(&name, &text).map_err(|errors| errors.to_string())
}

/// Where the boards are shown as DGT boards.
fn emulation(config: &Config) -> String {
    let shown: Vec<_> = config.boards.iter().filter(|board| config.emulates(board)).collect();
    let dir = config.dgt_emulation.dir.as_ref();
    let dir = dir.map_or_else(|| "the runtime directory".to_owned(), |dir| dir.display().to_string());
    let place = |board: &&BoardConfig| match &board.emulation.port {
        Some(port) => port.display().to_string(),
        None => config.dgt_link(board),
    };
    match shown.as_slice() {
        [] => "off".to_owned(),
        [only] if only.emulation.port.is_some() => place(only) + &late(config.release.dgt),
        [only] => format!("{} in {dir}{}", place(only), late(config.release.dgt)),
        _ => format!("dgt-ID in {dir}{}", late(config.release.dgt)),
    }
}

/// How far an output stays behind, in words; nothing where it does not.
fn late(policy: Policy) -> String {
    let Policy { threshold, delay } = policy;
    let mut words = String::new();
    if threshold == Threshold::Completed {
        words.push_str(", moves when completed");
    }
    if delay.us > 0 {
        let _ = write!(words, ", {} s late", delay.us / 1_000_000);
    }
    if delay.plies > 0 {
        let _ = write!(words, ", {} plies late", delay.plies);
    }
    words
}

/// What a configuration would run, on one screen.
fn summary(config: &Config, listed: usize) -> String {
    let mut out = format!("{}: correct\n", config.source);
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<10} {value}");
    };
    let service = |address: Option<std::net::SocketAddr>, policy: Policy| match address {
        Some(address) if address.ip().is_loopback() => {
            format!("{address}, this machine only{}", late(policy))
        }
        Some(address) => format!("{address}, reachable from the network{}", late(policy)),
        None => "off".to_owned(),
    };
    line("journals", &format!("{}, synced within {} ms", config.data_dir.display(), config.sync_interval_ms));
    let pgn = config.pgn_dir.as_ref().map(|dir| dir.display().to_string() + &late(config.release.pgn));
    line("pgn", &pgn.unwrap_or_else(|| "off".to_owned()));
    let release = config.release;
    line("http", &service(config.http, release.http));
    line("livechess", &service(config.livechess, release.livechess));
    if let Some(cloud) = &config.cloud {
        let http = config.http.map(|address| format!("http://{address}/get/"));
        let dir = cloud.dir.as_ref().map(|dir| dir.display().to_string());
        let places: Vec<String> = http.into_iter().chain(dir).collect();
        line("cloud", &(places.join(", ") + &late(release.cloud)));
    }
    if config.operator.is_some() {
        line("operator", &service(config.operator, Policy::default()));
    }
    if config.stream.is_some() {
        line("stream", &service(config.stream, release.stream));
    }
    if let Some(lichess) = &config.lichess {
        let to =
            format!("round {} of {}, at most every {} ms", lichess.round, lichess.url, lichess.interval_ms);
        line("lichess", &(to + &late(release.lichess)));
    }
    line("dgt", &emulation(config));
    let tokens = [(&config.arbiter_token, "arbiter"), (&config.assistant_token, "assistant")];
    let tokens = tokens.iter().filter_map(|(file, who)| Some(format!("{who}: {}", file.as_ref()?.display())));
    let tokens: Vec<String> = tokens.collect();
    line("commands", &if tokens.is_empty() { "off, no token".to_owned() } else { tokens.join(", ") });
    line("log level", config.log.as_str());
    line("digest", &config.digest);
    let boards = &config.boards;
    line("boards", &boards.len().to_string());
    let width = boards.iter().take(listed).map(|board| board.id.as_str().len()).max().unwrap_or(0);
    for board in boards.iter().take(listed) {
        let _ = writeln!(out, "    {:<width$}  {}", board.id.as_str(), describe(board));
    }
    if let Some(more) = boards.len().checked_sub(listed).filter(|more| *more > 0) {
        let _ = writeln!(out, "    and {more} more; --all lists them");
    }
    for note in config.notes.iter().cloned().chain(boards.iter().flat_map(reserved)) {
        let _ = writeln!(out, "  {:<10} {note}", "note");
    }
    out
}

/// Pins that are free only while something else is switched off.
fn reserved(board: &BoardConfig) -> Vec<String> {
    let matrices = std::iter::once(&board.sensor).chain(&board.second).filter_map(|sensor| match sensor {
        SensorConfig::Matrix(matrix) => Some(matrix),
        _ => None,
    });
    let note = |(other, pins): (OtherUse, Vec<u32>)| {
        let pins: Vec<String> = pins.iter().map(u32::to_string).collect();
        format!("board {}: GPIO {} is of {}: {}", board.id, pins.join(", "), other.name(), other.remedy())
    };
    matrices.flat_map(|matrix| matrix.reserved()).map(note).collect()
}

fn describe(board: &BoardConfig) -> String {
    let sensor = match (&board.second, board.setup.sides) {
        (Some(second), Some(sides)) => {
            let [first_side, second_side] = sides.map(|side| side.fold_wb("White", "Black"));
            let (first, second) = (device(&board.sensor), device(second));
            format!("two boards: {first} ({first_side}), {second} ({second_side})")
        }
        _ => device(&board.sensor),
    };
    if matches!(board.sensor, SensorConfig::SensorLog { .. }) {
        return format!("{sensor}, game as its header says");
    }
    let setup = &board.setup;
    let mut out = format!("{sensor}; {}", laws(setup));
    if setup.is_chess960() {
        out.push_str(" chess960");
    }
    if !setup.time_control.is_empty() {
        let _ = write!(out, ", {}", setup.time_control);
        // What somebody took for minutes shows here.
        let control = setup.time_control.parse::<GameControl>().ok();
        if let Some(words) = control.and_then(|control| control.in_words()) {
            let _ = write!(out, " ({words})");
        }
    }
    let changes = changes(setup);
    if !changes.is_empty() {
        let _ = write!(out, "; {}", changes.join(", "));
    }
    if let (Some(white), Some(black)) = (&board.tags.white, &board.tags.black) {
        let _ = write!(out, "; {white} - {black}");
    }
    out
}

fn device(sensor: &SensorConfig) -> String {
    match sensor {
        SensorConfig::Simulated { speed, seed, .. } => format!("simulated, speed {speed}, seed {seed}"),
        SensorConfig::SensorLog { path, pace: Pace::At(speed), .. } => {
            format!("sensor log {} at speed {speed}", path.display())
        }
        SensorConfig::SensorLog { path, pace: Pace::AsFastAsPossible, .. } => {
            format!("sensor log {} without pauses", path.display())
        }
        SensorConfig::Dgt { port, .. } => format!("dgt {port}"),
        SensorConfig::Peg { port, baud, .. } => format!("pegged board {port} at {baud} bits a second"),
        SensorConfig::Matrix(matrix) => {
            let what = match matrix.kind {
                MatrixKind::Reed => "matrix",
                MatrixKind::Peg => "pegged board as a matrix",
            };
            format!("{what} ({}), a scan every {} ms", matrix.backend.as_str(), matrix.scan_ms)
        }
    }
}

/// The edition and the discipline; for rapid and blitz the supervision.
fn laws(setup: &GameSetup) -> String {
    let mut out = format!("{} {}", setup.rules.as_str(), setup.discipline.as_str());
    let Ok(laws) = setup.law_settings() else { return out };
    if setup.discipline == DisciplineSetting::Auto {
        let _ = write!(out, " ({})", laws.discipline.as_str());
    }
    if laws.discipline != Discipline::Standard {
        let _ = write!(out, ", {} supervision", setup.supervision.as_str());
    }
    out
}

/// The settings of the Laws that are not those of the edition, as the file has them.
fn changes(setup: &GameSetup) -> Vec<String> {
    let Ok(laws) = setup.law_settings() else { return Vec::new() };
    let preset = LawSettings::preset(setup.rules, laws.discipline, setup.supervision);
    let changed = KEYS.iter().filter(|key| key.value(&laws) != key.value(&preset));
    changed.map(|key| format!("{} = {}", key.place, key.value(&laws))).collect()
}
