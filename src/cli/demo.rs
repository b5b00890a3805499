//! `touchmoved demo`

use std::{
    fmt::Write as _,
    io::Write as _,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::builder::PossibleValuesParser;

use crate::{
    config::{Config, Level, LogLevel, MatrixBackend, SensorConfig, Speed},
    daemon::{self, RunError, Started, log, source},
    simulate::matrix::Fault,
    sysclock,
};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Play a real game on a simulated reed board through the whole daemon.\n\n\
        Nothing is needed but this program. Simulated hands play a famous game: contacts bounce, \
        men are adjusted, slid and captured in any order, the clock is pressed. What the contacts \
        show goes the way that it goes in a tournament hall: it is recorded in a journal, the \
        moves are reconstructed from it, and the web page, the JSON, the events, the PGN, the \
        LiveChess API and a DGT board on a pseudo terminal show them. The addresses and the journal are printed at the start. After \
        the game the last position is served until Ctrl-C.\n\n\
        The same seed plays the same game with the same hands; the seeds 0 to 4 play five \
        different games.\n\n\
        With --wires the contacts are those of a simulated reed matrix, line by line: rows are driven and columns \
        read, with the faults of --fault. The log, /healthz and the arbiter hear what the self-test and the game show \
        of them.",
    after_help = "Exit status: 0 after Ctrl-C, 1 when it cannot start (an address in use), 2 for wrong \
        arguments."
)]
pub(super) struct Args {
    /// How many times as fast as in the hall, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    speed: u32,
    /// Which game is played and how the hands move
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How many boards play; board n plays with seed N + n - 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=99))]
    boards: u8,
    /// Address of the web page; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    http: SocketAddr,
    /// Address of the LiveChess API; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:1982")]
    livechess: SocketAddr,
    /// Directory for the journals and the PGN; a game in it goes on. Default: a new one in the
    /// directory for temporary files
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// How carefully the hands play: one square after the other, as in a tournament, or as in a
    /// time scramble
    #[arg(long, default_value = "tournament", value_parser = PossibleValuesParser::new(Level::ALL.map(Level::as_str)))]
    level: String,
    /// Play on the simulated wires of a reed matrix, which are scanned as those of a real one are, in real time
    #[arg(long, conflicts_with = "speed")]
    wires: bool,
    /// What is wrong with the wires, such as "no-diodes" or "open-reed 1,4" (docs/hardware.md); may be given again
    #[arg(long, value_name = "FAULT", requires = "wires")]
    fault: Vec<Fault>,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let Some(speed) = Speed::new(args.speed) else { return ExitCode::from(2) };
    let dir = args.data.clone().unwrap_or_else(fresh_dir);
    let mut config = Config::demo(&dir, args.boards, speed, args.seed);
    config.http = Some(args.http);
    config.livechess = Some(args.livechess);
    let wanted = Level::parse(&args.level).unwrap_or_default();
    for board in &mut config.boards {
        if let SensorConfig::Simulated { level, .. } = &mut board.sensor {
            *level = wanted;
        }
    }
    if args.wires {
        config = config.on_wires(&args.fault);
    }
    let speed = if args.wires { 1 } else { args.speed };
    log::init(LogLevel::Info.into());
    match daemon::run(&config, |started| announce(&config, &dir, speed, started)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let hint = match &error {
                RunError::Feed(_) => {
                    "; the demo takes a free port with --http 127.0.0.1:0 --livechess 127.0.0.1:0"
                }
                RunError::DataDir(_) => "; the demo takes another directory with --data DIR",
                _ => "",
            };
            tracing::error!("{error}{hint}");
            ExitCode::FAILURE
        }
    }
}

/// A directory that no other demo uses.
fn fresh_dir() -> PathBuf {
    let name = format!("touchmoved-demo-{}-{}", sysclock::wall_micros() / 1_000_000, std::process::id());
    std::env::temp_dir().join(name)
}

fn announce(config: &Config, dir: &Path, speed: u32, started: &Started) {
    // A closed pipe (`| head`) is no reason to end.
    let _ = std::io::stdout().write_all(greeting(config, dir, speed, started).as_bytes());
}

fn greeting(config: &Config, dir: &Path, speed: u32, started: &Started) -> String {
    let mut out = String::new();
    let boards = match started.boards.len() {
        1 => "a simulated board".to_owned(),
        many => format!("{many} simulated boards"),
    };
    let _ = writeln!(out, "touchmoved demo: {boards} at {speed} times the speed of a real game\n");
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "  {name:<10} {text}");
    };
    if let Some(address) = started.http {
        line("board", format!("http://{address}/"));
        line("state", format!("http://{address}/api/boards"));
        line("events", format!("curl -N http://{address}/events"));
        line("PGN", format!("http://{address}/pgn/games.pgn, files in {}", dir.join("pgn").display()));
    }
    if let Some(address) = started.livechess {
        line("LiveChess", format!("ws://{address}/api/v1.0"));
    }
    for (_, place) in &started.dgt {
        line("DGT board", place.path().display().to_string());
    }
    for (board, (id, journal)) in config.boards.iter().zip(&started.boards) {
        line("journal", journal.display().to_string());
        let seed = match &board.sensor {
            SensorConfig::Simulated { seed, .. } => Some(*seed),
            SensorConfig::Matrix(matrix) => match matrix.backend {
                MatrixBackend::Simulated { seed, .. } => Some(seed),
                _ => None,
            },
            _ => None,
        };
        if let Some(game) = seed.map(source::game_of) {
            line("", format!("board {id}: {}, {} {}", game.event, game.site, game.date));
        }
    }
    if let Some((_, journal)) = started.boards.first() {
        line("look", format!("touchmoved review {}", journal.display()));
        line("", format!("touchmoved verify {}", journal.display()));
    }
    let _ = writeln!(out, "\nCtrl-C ends it.");
    out
}
