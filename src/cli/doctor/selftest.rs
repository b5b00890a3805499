//! The self-test: every check once, at the same time for all boards.

use std::{thread, time::Duration};

use super::{
    Device, Loaded,
    listen::{self, Listener},
    machine, net,
};
use crate::{
    config::{BoardConfig, Config},
    doctor::{
        BoardFigures, Check, Report, Topic, board,
        daemon::{self, Answers},
    },
    sysclock,
};

/// A board that says nothing for so long does not answer, in milliseconds. A DGT board that leaves the
/// questions of the start unanswered shows its men after some 5 s.
const PATIENCE_MS: u64 = 9_000;
/// A recording is listened to for no longer, in milliseconds.
const LONGEST_MS: u64 = 40_000;
/// How long one look waits.
const WAIT: Duration = Duration::from_millis(50);

/// Runs every check. `only` is the board that was asked for.
pub(super) fn run(loaded: &Loaded, devices: &[Device], seconds: u64) -> Report {
    let mut checks = loaded.checks.clone();
    let mut figures = Vec::new();
    match &loaded.config {
        Some(config) => configured(config, loaded.is_service, devices, seconds, &mut checks, &mut figures),
        None => {
            checks.push(Check::not_run(
                Topic::Device,
                "boards, folders and addresses are named by the configuration, which cannot be used",
            ));
            checks.extend(machine::itself());
        }
    }
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Report::new(crate::cli::version(), host.trim(), &loaded.name, checks, figures)
}

fn configured(
    config: &Config,
    is_service: bool,
    devices: &[Device],
    seconds: u64,
    checks: &mut Vec<Check>,
    figures: &mut Vec<BoardFigures>,
) {
    checks.extend(machine::tester(is_service));
    let holder = net::Holder::find(config);
    let answers = holder.as_ref().map(|holder| holder.answers());
    checks.push(match (&holder, &answers) {
        (Some(holder), Some(answers)) => daemon::check(holder.pid, answers.as_ref().map_err(String::as_str)),
        _ => Check::not_run(Topic::Daemon, "no daemon runs on this data directory: the boards are read here")
            .at(config.data_dir.display().to_string()),
    });
    // The boards are listened to while the machine is looked at.
    let found = thread::scope(|scope| {
        let held = answers.as_ref().map(|answers| answers.as_ref().map_err(String::as_str));
        let threads: Vec<_> = devices
            .iter()
            .map(|device| (device.name.as_str(), scope.spawn(move || one(device, held, seconds))))
            .collect();
        checks.extend(machine::checks(config, is_service, holder.is_some()));
        let join = |(name, thread): (&str, thread::ScopedJoinHandle<'_, Found>)| {
            thread.join().unwrap_or_else(|_| {
                let broken = Check::failed(Topic::Device, "the test itself broke down; please report this");
                (board::silent(name, broken), None)
            })
        };
        threads.into_iter().map(join).collect::<Vec<_>>()
    });
    for (device, (of_board, known)) in devices.iter().zip(found) {
        let permissions = machine::permissions(&listen::devices(&device.board.sensor), is_service);
        checks.extend(permissions.into_iter().map(|check| check.of(&device.name)));
        checks.extend(of_board);
        figures.extend(known);
    }
}

type Found = (Vec<Check>, Option<BoardFigures>);

/// Every check of one board.
fn one(device: &Device, held: Option<Result<&Answers, &str>>, seconds: u64) -> Found {
    let Device { name, board: config } = device;
    match held.filter(|_| !listen::is_recorded(&config.sensor)) {
        Some(Ok(answers)) => {
            let start = config.setup.position().map(|position| shakmaty::Position::board(&position).clone());
            let place = listen::place(&config.sensor);
            let id = config.id.as_str();
            return (daemon::board(name, id, &place, &start.unwrap_or_default(), answers), None);
        }
        Some(Err(_)) => {
            let place = listen::place(&config.sensor);
            let held =
                Check::not_run(Topic::Device, "the running daemon holds it and tells nothing").at(place);
            return (board::silent(name, held), None);
        }
        None => {}
    }
    match hear(name, &listen::hurried(config), seconds) {
        Ok(found) => found,
        Err(check) => (board::silent(name, check), None),
    }
}

/// Listens to a board: a recording to its end, a device for `seconds` from its first report.
fn hear(name: &str, config: &BoardConfig, seconds: u64) -> Result<Found, Check> {
    let (listener, about, mut watch) = Listener::open(name, config)?;
    let began = sysclock::monotonic();
    let is_recorded = listen::is_recorded(&config.sensor);
    let mut end = began.plus_ms(if is_recorded { LONGEST_MS } else { PATIENCE_MS });
    let mut heard = is_recorded;
    while sysclock::monotonic() < end && listener.hear(&mut watch, WAIT) {
        if !heard && watch.occupied().is_some() {
            heard = true;
            end = sysclock::monotonic().plus_ms(seconds * 1000);
        }
    }
    listener.end(config, &watch)?;
    Ok((board::checks(&about, &watch), Some(board::figures(&about, &watch))))
}
