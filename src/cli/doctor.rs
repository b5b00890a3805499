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

/// A board that has a device of its own.
#[derive(Clone, Debug)]
struct Device {
    /// What `--board` and every check call it: its id, of a game on two boards `1:A` and `1:B`.
    name: String,
    /// The board as one that stands alone.
    board: BoardConfig,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let loaded = load(args.config.as_deref());
    let devices = match wanted(&loaded, args.board.as_deref()) {
        Ok(devices) => devices,
        Err(message) => return fail(&message),
    };
    if args.live || args.walk {
        return one(args, &loaded, &devices);
    }
    let listened = devices.iter().any(|device| !listen::is_recorded(&device.board.sensor));
    if listened && std::io::stderr().is_terminal() {
        eprintln!("listening for {} s: lift and put down some men, press the clock", args.seconds);
    }
    let report = selftest::run(&loaded, &devices, args.seconds);
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
fn one(args: &Args, loaded: &Loaded, devices: &[Device]) -> ExitCode {
    let Some(config) = &loaded.config else {
        let lines: Vec<String> = loaded.checks.iter().map(Check::line).collect();
        return fail(&format!("the configuration cannot be used\n{}", lines.join("\n")));
    };
    let [device] = devices else {
        return fail(&format!("name one board with --board: {}", names(devices)));
    };
    for check in loaded.checks.iter().filter(|check| check.verdict != Verdict::Ok) {
        eprintln!("{}", check.line());
    }
    if let Some(holder) = net::Holder::find(config).filter(|_| !listen::is_recorded(&device.board.sensor)) {
        let answers = holder.answers();
        let check = crate::doctor::daemon::check(holder.pid, answers.as_ref().map_err(String::as_str));
        let stop = "the board can be read by one program at a time: stop the daemon (sudo systemctl stop touchmoved)";
        return fail(&format!("{stop}\n{}", check.line()));
    }
    if args.walk {
        walk::run(device, args.write.as_deref())
    } else {
        live::run(config, loaded.is_service, device)
    }
}

/// The boards to test; of a game on two boards each one, which `1:A` and `1:B` name.
fn wanted(loaded: &Loaded, only: Option<&str>) -> Result<Vec<Device>, String> {
    let Some(config) = &loaded.config else { return Ok(Vec::new()) };
    let known = devices(&config.boards);
    let Some(only) = only else { return Ok(known) };
    let is_it = |device: &&Device| device.name == only || device.board.id.as_str() == only;
    let found: Vec<Device> = known.iter().filter(is_it).cloned().collect();
    if found.is_empty() {
        return Err(format!("{} has no board {only}; it has {}", loaded.name, names(&known)));
    }
    Ok(found)
}

fn names(devices: &[Device]) -> String {
    let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    names.join(", ")
}

/// Every board that has a device of its own.
fn devices(boards: &[BoardConfig]) -> Vec<Device> {
    let each = boards.iter().flat_map(|board| {
        let units = Unit::ALL.into_iter().filter_map(|unit| Some((unit, board.unit(unit)?)));
        units.map(|(unit, alone)| {
            let name = match board.second {
                Some(_) => format!("{}:{}", board.id, unit.as_str()),
                None => board.id.to_string(),
            };
            Device { name, board: alone }
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
