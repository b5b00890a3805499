//! Latency of the whole daemon on loopback: from a write to the board's port to the frames that
//! leave, beside the floor of the machine and of its disk in the same run.
//!
//! `cargo bench --bench latency` plays eight games on an emulated DGT board and four through a FIFO;
//! `-- --games N` plays N and N / 2. Without cargo's `--bench`, or with `--test`, only a few plies are
//! played and nothing is worth quoting. `docs/performance.md` explains the lines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod board;
mod clients;
#[allow(dead_code)]
mod daemon;
mod floor;
mod game;
#[path = "../../tests/support/lichess.rs"]
mod lichess;
mod stats;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use touchmoved::session::time::MonoTime;

use board::{Board, fifo};
use clients::Seen;
use daemon::Daemon;
use game::{Deed, Game};
use lichess::{Lichess, ROUND, TOKEN};
use stats::Sample;

/// Time from one write to the next. Longer than any latency, so that a frame belongs to one write.
const PACE: Duration = Duration::from_millis(20);

/// How long the daemon has to become quiet after a start, and frames to arrive at the end.
const QUIET: Duration = Duration::from_millis(600);

/// A file system in memory: what a journal costs without its disk.
const MEMORY: &str = "/dev/shm";

struct Plan {
    games: usize,
    plies: usize,
    rounds: usize,
}

impl Plan {
    fn read() -> Plan {
        let args: Vec<String> = std::env::args().collect();
        let has = |word: &str| args.iter().any(|arg| arg == word);
        if !has("--bench") || has("--test") {
            return Plan { games: 1, plies: 4, rounds: 5 };
        }
        let wanted = args.iter().position(|arg| arg == "--games").and_then(|at| args.get(at + 1));
        let games = wanted.map_or(8, |text| text.parse().expect("--games wants a number"));
        Plan { games, plies: usize::MAX, rounds: 400 }
    }
}

fn main() {
    let plan = Plan::read();
    println!("load average {}", load());
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR"));
    println!("\nfloor of this machine ({} rounds, one every {} ms)", plan.rounds, PACE.as_millis());
    let bare = floor::pty_and_tcp(plan.rounds, PACE).show("pty, thread, TCP loopback", None);
    let sync = floor::fdatasync(disk, plan.rounds, PACE).show("fdatasync after an append", None);

    let games = game::games(plan.games, plan.plies);
    let mut on_disk = Latencies::default();
    games.iter().for_each(|game| on_disk.dgt(disk, game));
    println!("\nDGT board on a pty, journal on disk, {} games", games.len());
    on_disk.show(bare);

    if Path::new(MEMORY).is_dir() {
        let mut in_memory = Latencies::default();
        games.iter().take(games.len().div_ceil(2)).for_each(|game| in_memory.dgt(Path::new(MEMORY), game));
        println!("\nthe same with the journal in memory (no disk to wait for)");
        in_memory.show(bare);
    }

    let mut injected = Latencies::default();
    games.iter().take(games.len().div_ceil(2)).for_each(|game| injected.fifo(disk, game));
    println!("\nsensor log written into a FIFO in real time, reed board, journal on disk");
    injected.show(bare);

    println!("\nfloor again");
    floor::pty_and_tcp(plan.rounds, PACE).show("pty, thread, TCP loopback", Some(bare));
    floor::fdatasync(disk, plan.rounds, PACE).show("fdatasync after an append", Some(sync));
    println!("\nload average {}", load());
}

fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}

/// What was written and when.
struct Written {
    at: MonoTime,
    deed: Deed,
}

/// Microseconds of every write of one kind to its frame.
#[derive(Default)]
struct Latencies {
    square_sse: Sample,
    square_livechess: Sample,
    move_sse: Sample,
    move_livechess: Sample,
    /// From the frame that told of a move to the file.
    pgn: Sample,
    /// From the same to the push that has it.
    push: Sample,
}

impl Latencies {
    /// Plays a game on a DGT board with the data directory on the given file system.
    fn dgt(&mut self, place: &Path, game: &Game) {
        let dir = tempfile::tempdir_in(place).unwrap();
        let port = dir.path().join("dgt");
        let board = Board::plug(&port, game.start());
        let lichess = Lichess::start();
        let sensor = format!("dgt = {{ port = {port:?} }}\ntime-control = \"5400+30\"");
        let mut daemon = Daemon::start_with(dir.path(), &table(dir.path(), &lichess), &sensor);
        daemon.wait_for("the board answers");
        board.wait_until_it_streams();
        thread::sleep(QUIET);
        self.play(daemon, &lichess, dir.path(), game, |deed| board.write(deed), true);
    }

    /// Plays a game through a FIFO.
    fn fifo(&mut self, place: &Path, game: &Game) {
        let dir = tempfile::tempdir_in(place).unwrap();
        let path = dir.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        let lichess = Lichess::start();
        let table = table(dir.path(), &lichess);
        let daemon = Daemon::start_with(dir.path(), &table, "sensor-log = { path = \"fifo\" }");
        let mut log = fifo::Log::open(&path);
        thread::sleep(QUIET);
        self.play(daemon, &lichess, dir.path(), game, move |deed| log.write(deed), false);
    }

    /// `exact`: the placement after each write is known beforehand.
    fn play(
        &mut self,
        mut daemon: Daemon,
        lichess: &Lichess,
        dir: &Path,
        game: &Game,
        mut write: impl FnMut(&Deed) -> MonoTime,
        exact: bool,
    ) {
        let events = clients::events(daemon.http());
        let livechess = clients::livechess(daemon.livechess(), &game.fen());
        let done = Arc::new(AtomicBool::new(false));
        let files = clients::pgn(dir.join("data/pgn/1.pgn"), done.clone());
        thread::sleep(QUIET);
        let mut written = Vec::new();
        for deed in &game.deeds {
            thread::sleep(PACE);
            written.push(Written { at: write(deed), deed: deed.clone() });
        }
        thread::sleep(QUIET);
        done.store(true, Relaxed);
        daemon.end();
        let (events, livechess) = (events.join().unwrap(), livechess.join().unwrap());
        squares(&written, &events, exact, &mut self.square_sse);
        squares(&written, &livechess, exact, &mut self.square_livechess);
        moves(&written, &events, &mut self.move_sse);
        moves(&written, &livechess, &mut self.move_livechess);
        followed(&events, &files.join().unwrap(), &mut self.pgn);
        followed(&events, &pushes(lichess), &mut self.push);
    }

    fn show(&self, bare: u64) {
        self.square_sse.show("square to server-sent event", Some(bare));
        self.square_livechess.show("square to LiveChess frame", Some(bare));
        self.move_sse.show("press to move, server-sent event", Some(bare));
        self.move_livechess.show("press to san, LiveChess frame", Some(bare));
        self.pgn.show("move published to PGN file", Some(bare));
        self.push.show("move published to push", Some(bare));
    }
}

/// Each write of a square with the frame that shows it: by the placement where it is known, and by
/// the time otherwise.
fn squares(written: &[Written], seen: &[(MonoTime, Seen)], exact: bool, sample: &mut Sample) {
    let mut frames = seen.iter().filter_map(|(at, seen)| match seen {
        Seen::Board(placement) => Some((*at, placement)),
        Seen::Plies(_) => None,
    });
    for (index, write) in written.iter().enumerate() {
        let Deed::Square { placement, .. } = &write.deed else { continue };
        let next = written.get(index + 1).map_or(MonoTime::from_micros(u64::MAX), |next| next.at);
        let found = if exact {
            frames.clone().find(|(at, shown)| *at >= write.at && *shown == placement)
        } else {
            frames.clone().find(|(at, _)| *at >= write.at && *at < next)
        };
        match found {
            Some((at, _)) => {
                sample.add(at.since(write.at));
                while frames.clone().next().is_some_and(|(before, _)| before <= at) {
                    frames.next();
                }
            }
            None => sample.miss(),
        }
    }
}

/// Each press with the first frame that shows its ply. The last ply is left out: a mate needs no press.
fn moves(written: &[Written], seen: &[(MonoTime, Seen)], sample: &mut Sample) {
    let presses: Vec<(usize, MonoTime)> = written
        .iter()
        .filter_map(|write| match write.deed {
            Deed::Press { ply } => Some((ply, write.at)),
            Deed::Square { .. } => None,
        })
        .collect();
    for (ply, pressed) in presses.iter().take(presses.len().saturating_sub(1)) {
        let shown = seen.iter().find(|(_, seen)| matches!(seen, Seen::Plies(plies) if plies >= ply));
        match shown {
            Some((at, _)) if at >= pressed => sample.add(at.since(*pressed)),
            _ => sample.miss(),
        }
    }
}

/// The table that pushes to this server, and its token.
fn table(dir: &Path, lichess: &Lichess) -> String {
    let token = dir.join("token");
    fs::write(&token, TOKEN).unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    format!("[lichess]\nround = \"{ROUND}\"\nurl = \"http://{}\"\ntoken-file = \"token\"\n", lichess.address)
}

/// The pushes that came, when their heads were there.
fn pushes(lichess: &Lichess) -> Vec<(MonoTime, Seen)> {
    let plies = |pushed: &lichess::Pushed| pushed.games().first().map_or(0, |game| game.moves.len());
    lichess.requests().iter().map(|pushed| (pushed.at, Seen::Plies(plies(pushed)))).collect()
}

/// From each frame that told of a move to the first file, or push, that has it.
fn followed(told: &[(MonoTime, Seen)], files: &[(MonoTime, Seen)], sample: &mut Sample) {
    for (at, seen) in told {
        let Seen::Plies(ply) = seen else { continue };
        let has = |seen: &Seen| matches!(seen, Seen::Plies(plies) if plies >= ply);
        match files.iter().find(|(_, seen)| has(seen)) {
            Some((file, _)) => sample.add(file.since(*at)),
            None => sample.miss(),
        }
    }
}
