//! `touchmoved doctor`

mod interrupt;
mod listen;
mod live;
mod machine;
mod net;
mod selftest;
mod walk;

use std::{
    io::{IsTerminal as _, Read as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::{
    config::{self, BoardConfig, Config, Speed},
    daemon::ports,
    doctor::{Check, Topic, Verdict},
    sensor::serial::place::Roots,
    session::event::Unit,
};

/// Where the service's configuration is.
const DEFAULT: &str = "/etc/touchmoved/touchmoved.toml";

const HELP: &str = "\
Before a round: everything that a game needs is looked at once, one line a check:

  ok, warning, failed or not-run, where, what was found, what to do: `the command that does it`

The configuration, folders and disk, tokens, addresses, the time of the system, temperature and power; and of \
each board the device, its battery, the squares against the start position or the empty board, chatter, bounce \
with debounce times that fit it, scans and the clock. It takes --seconds and some ten more. What cannot be \
looked at is not-run and says why; it is not passed. Devices that a running daemon holds are not touched: \
what the daemon tells of them stands in their place.

Without a configuration the simulated board of touchmoved demo is tested.

  touchmoved doctor                            everything, in 20 s
  touchmoved doctor --board 3 --seconds 40     one board; lift and put down men meanwhile
  touchmoved doctor --json                     one object (docs/doctor.md)
  touchmoved doctor --live                     the board and its contacts, until Ctrl-C
  touchmoved doctor --walk --write map.toml    one man over all 64 squares; finds exchanged wires

Exit status: 0 ready, 1 ready with warnings, 2 something failed. With --walk: 0 every square was found, 1 the \
walk was ended before, 2 squares are dead or seen twice.";

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP)]
pub(super) struct Args {
    /// The configuration; - reads standard input [default: /etc/touchmoved/touchmoved.toml]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Test this board only
    #[arg(short, long, value_name = "ID")]
    board: Option<String>,
    /// Print one JSON object
    #[arg(long, conflicts_with_all = ["live", "walk"])]
    json: bool,
    /// How long a board is listened to
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=45))]
    seconds: u64,
    /// Show the board and its contacts until Ctrl-C
    #[arg(long, conflicts_with = "walk")]
    live: bool,
    /// Walk one man over the 64 squares
    #[arg(long)]
    walk: bool,
    /// Where the walk writes its map after each square, and goes on from
    #[arg(long, value_name = "FILE", requires = "walk")]
    write: Option<PathBuf>,
}

/// A configuration, or what is wrong with it.
#[derive(Debug)]
struct Loaded {
    /// Name of the file.
    name: String,
    /// The checks of the configuration.
    checks: Vec<Check>,
    config: Option<Config>,
    /// It is the configuration of the service.
    is_service: bool,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let mut loaded = load(args.config.as_deref());
    let boards = match wanted(&mut loaded, args.board.as_deref()) {
        Ok(boards) => boards,
        Err(message) => return fail(&message),
    };
    if args.live || args.walk {
        return one(args, &loaded, &boards);
    }
    let boards: Vec<&BoardConfig> = boards.iter().collect();
    let listened = boards.iter().any(|board| !listen::is_recorded(&board.sensor));
    if listened && std::io::stderr().is_terminal() {
        eprintln!("listening for {} s: lift and put down some men, press the clock", args.seconds);
    }
    let report = selftest::run(&loaded, &boards, args.seconds);
    let text = if args.json {
        match serde_json::to_string_pretty(&report) {
            Ok(text) => text + "\n",
            Err(error) => return fail(&error.to_string()),
        }
    } else {
        report.text()
    };
    // A closed pipe (`| head`) is no reason to fail.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::from(report.exit_code())
}

fn fail(message: &str) -> ExitCode {
    eprintln!("touchmoved doctor: {message}");
    ExitCode::from(2)
}

/// The live view or the walk, of one board.
fn one(args: &Args, loaded: &Loaded, boards: &[BoardConfig]) -> ExitCode {
    let Some(config) = &loaded.config else {
        let lines: Vec<String> = loaded.checks.iter().map(Check::line).collect();
        return fail(&format!("the configuration cannot be used\n{}", lines.join("\n")));
    };
    let [board] = boards else {
        let mut known = names(&config.boards);
        known.retain(|(_, known)| boards.iter().any(|board| board.id == known.id));
        let ids: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        return fail(&format!("name one board with --board: {}", ids.join(", ")));
    };
    for check in loaded.checks.iter().filter(|check| check.verdict != Verdict::Ok) {
        eprintln!("{}", check.line());
    }
    if let Some(holder) = net::Holder::find(config).filter(|_| !listen::is_recorded(&board.sensor)) {
        let answers = holder.answers();
        let check = crate::doctor::daemon::check(holder.pid, answers.as_ref().map_err(String::as_str));
        let stop = "the board can be read by one program at a time: stop the daemon (sudo systemctl stop touchmoved)";
        return fail(&format!("{stop}\n{}", check.line()));
    }
    if args.walk {
        walk::run(board, args.write.as_deref())
    } else {
        live::run(config, loaded.is_service, board)
    }
}

/// The boards to test; of a game on two boards each one, which `1:A` and `1:B` name.
fn wanted(loaded: &mut Loaded, only: Option<&str>) -> Result<Vec<BoardConfig>, String> {
    let Some(config) = &loaded.config else { return Ok(Vec::new()) };
    let found: Vec<BoardConfig> = names(&config.boards)
        .into_iter()
        .filter(|(name, board)| only.is_none_or(|only| name == only || board.id.as_str() == only))
        .map(|(_, board)| board)
        .collect();
    match only {
        Some(only) if found.is_empty() => {
            let ids: Vec<&str> = config.boards.iter().map(|board| board.id.as_str()).collect();
            Err(format!("{} has no board {only}; it has {}", loaded.name, ids.join(", ")))
        }
        _ => Ok(found),
    }
}

/// Every board that has a device of its own, by the name that `--board` knows.
fn names(boards: &[BoardConfig]) -> Vec<(String, BoardConfig)> {
    let each = boards.iter().flat_map(|board| {
        let units = Unit::ALL.into_iter().filter_map(|unit| Some((unit, board.unit(unit)?)));
        units.map(|(unit, alone)| match board.second {
            Some(_) => (format!("{}:{}", board.id, unit.as_str()), alone),
            None => (board.id.to_string(), alone),
        })
    });
    each.collect()
}

/// Reads the configuration; without one, that of the demo.
fn load(path: Option<&Path>) -> Loaded {
    let chosen = path.unwrap_or(Path::new(DEFAULT));
    let name = chosen.display().to_string();
    let is_service = chosen == Path::new(DEFAULT);
    let unusable = |checks| Loaded { name: name.clone(), checks, config: None, is_service };
    if path.is_none() && !chosen.exists() {
        let check =
            Check::warning(Topic::Configuration, "there is none; the simulated board of the demo is tested")
                .at(&name)
                .remedy("install one, or name one with --config")
                .command(format!("sudo install -D -m 644 config/touchmoved.toml {DEFAULT}"));
        let dir = std::env::temp_dir().join("touchmoved-demo");
        let demo = Speed::new(20).map(|speed| Config::demo(&dir, 1, speed, 0));
        return Loaded { name: "demo".to_owned(), checks: vec![check], config: demo, is_service: false };
    }
    let text = if chosen == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(chosen)
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => {
            let check = Check::failed(Topic::Configuration, format!("cannot be read: {error}"))
                .at(&name)
                .remedy("make the file, readable for the service and for you")
                .command(format!("ls -l {name}"));
            return unusable(vec![check]);
        }
    };
    match config::parse(&name, &text) {
        Ok(config) => {
            let boards = match config.boards.len() {
                1 => "1 board".to_owned(),
                many => format!("{many} boards"),
            };
            let mut checks: Vec<Check> = ports::shared(&config.boards, &Roots::default())
                .into_iter()
                .map(|shared| Check::failed(Topic::Configuration, shared).at(&name))
                .collect();
            if checks.is_empty() {
                checks.push(Check::ok(Topic::Configuration, format!("correct, {boards}")).at(&name));
            }
            Loaded { name, checks, config: Some(config), is_service }
        }
        Err(errors) => {
            let check = |problem: &config::Problem| {
                let key = if problem.key.is_empty() { "" } else { ": " };
                let place =
                    format!("{}:{}:{}{key}{}", problem.file, problem.line, problem.column, problem.key);
                Check::failed(Topic::Configuration, problem.message.clone())
                    .at(place)
                    .command(format!("sudo nano +{},{} {}", problem.line, problem.column, problem.file))
            };
            unusable(errors.problems.iter().map(check).collect())
        }
    }
}
