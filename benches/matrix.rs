//! What scanning a reed matrix costs: the code of a scan without any waiting, the processor at 200 scans a
//! second for each way of waiting for the columns, and how late scans begin.
//!
//! `cargo bench --bench matrix` takes a minute; without cargo's `--bench`, or with `--test`, it runs for a moment
//! and nothing is worth quoting. `docs/performance.md` explains the lines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

use std::{
    hint::black_box,
    sync::{Arc, mpsc::sync_channel},
    thread,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};
use shakmaty::{Bitboard, Square};
use touchmoved::{
    sensor::{
        Sink, Source as _, Stop,
        matrix::{
            LATE_BOUNDS_US, Layout, MatrixPort, MatrixSource, PortError, Scan, Scanner, Settling, Status,
            realtime, simulated::SimulatedPort,
        },
    },
    simulate::matrix::{SimulatedMatrix, Wiring},
};

const PRIORITY: u8 = 10;
const START: Bitboard = Bitboard(0xffff_0000_0000_ffff);

/// Lines that cost nothing.
struct Lines {
    rows: [u8; 8],
    row: usize,
    /// Every contact changes at every scan.
    restless: bool,
}

impl MatrixPort for Lines {
    fn name(&self) -> String {
        "lines".to_owned()
    }

    fn drive(&mut self, rows: u8) -> Result<(), PortError> {
        self.row = rows.trailing_zeros() as usize;
        Ok(())
    }

    fn settle(&mut self) {}

    fn read_columns(&mut self) -> Result<u8, PortError> {
        let read = self.rows[self.row & 7];
        if self.restless {
            self.rows[self.row & 7] = !read;
        }
        Ok(black_box(read))
    }
}

/// Nanoseconds of a scan: the median of some rounds, and the worst round.
fn scan_ns(port: impl MatrixPort, rounds: usize) -> (u128, u128) {
    const SCANS: u128 = 200;
    let mut scanner = Scanner::new(port, Layout::default());
    let mut times: Vec<u128> = (0..rounds)
        .map(|_| {
            let begin = Instant::now();
            for _ in 0..SCANS {
                scanner
                    .scan(|edge| {
                        black_box(edge);
                    })
                    .unwrap();
            }
            begin.elapsed().as_nanos() / SCANS
        })
        .collect();
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() - 1])
}

fn cpu_us() -> u128 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u128 * 1_000_000 + time.tv_nsec as u128 / 1000
}

/// Share of a core that `run` takes, in hundredths of a per cent.
fn load(run: impl FnOnce()) -> u128 {
    let (cpu, begin) = (cpu_us(), Instant::now());
    run();
    (cpu_us() - cpu) * 10_000 / begin.elapsed().as_micros()
}

fn per_cent(hundredths: u128) -> String {
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

/// Something every `period`.
fn every(period: Duration, time: Duration, mut work: impl FnMut()) {
    let begin = Instant::now();
    let mut due = begin;
    while due < begin + time {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        work();
        due += period;
    }
}

fn ways(time: Duration) {
    const PERIOD: Duration = Duration::from_millis(5);
    let sleep = |us| move || thread::sleep(Duration::from_micros(us));
    let spin = |us| move || Settling::Spin(us).wait();
    let row = |name: &str, load| println!("  {name:<58} {:>8}", per_cent(load));
    row("one wake-up every 5 ms and nothing else", load(|| every(PERIOD, time, || ())));
    let (long, short) = (sleep(50), spin(50));
    row("asleep for 50 us, eight times", load(|| every(PERIOD, time, || (0..8).for_each(|_| long()))));
    row(
        "asleep for 50 us, seven times (first row driven before)",
        load(|| every(PERIOD, time, || (0..7).for_each(|_| long()))),
    );
    row("awake for 50 us, seven times", load(|| every(PERIOD, time, || (0..7).for_each(|_| short()))));
    for (us, name) in [
        (15, "awake for 15 us, seven times (external resistors)"),
        (5, "awake for 5 us, seven times (strong ones)"),
    ] {
        let short = spin(us);
        row(name, load(|| every(PERIOD, time, || (0..7).for_each(|_| short()))));
    }
    row("a row every 625 us (each settles while the daemon sleeps)", load(|| every(PERIOD / 8, time, || ())));
}

/// The source as the daemon runs it, on simulated wires; `alone` where nothing else of this process works.
fn source(settle_us: u64, realtime: Option<u8>, alone: bool, time: Duration) {
    let matrix = SimulatedMatrix::new(Wiring::default(), Square::ALL, START, 1);
    let status = Arc::new(Status::default());
    let scan = Scan { realtime, ..Scan::default() };
    let source = MatrixSource::new(SimulatedPort::new(matrix, settle_us), scan).with_status(status.clone());
    let (sender, receiver) = sync_channel(64);
    // A late thread reads columns that have fallen where one in time does not: an edge that somebody has to take.
    let taken = thread::spawn(move || receiver.iter().for_each(drop));
    let stop = Stop::default();
    let ending = stop.clone();
    let load = load(|| {
        let thread = thread::spawn(move || Box::new(source).run(&Sink::new(sender), &ending));
        thread::sleep(time);
        stop.set();
        thread.join().unwrap().unwrap();
    });
    taken.join().unwrap();
    let figures = status.figures().unwrap();
    let mut below = 0;
    let late: Vec<String> = LATE_BOUNDS_US
        .iter()
        .zip(figures.late)
        .map(|(bound, count)| {
            below += count;
            format!("{bound} us: {}", per_cent(u128::from(below * 10_000 / figures.scans)))
        })
        .collect();
    let priority = realtime.map_or_else(String::new, |priority| format!(", realtime-priority = {priority}"));
    let share = if alone { format!("{} of a core, ", per_cent(load)) } else { String::new() };
    println!("  settle-us = {settle_us}{priority}: {share}{} scans", figures.scans);
    println!("    began late by at most {}", late.join(", "));
    println!(
        "    mean {} us, worst {} us, {} overruns, {} left out",
        figures.late_sum_us / figures.scans,
        figures.late_worst_us,
        figures.overruns,
        figures.missed
    );
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let quick = !args.iter().any(|arg| arg == "--bench") || args.iter().any(|arg| arg == "--test");
    let (rounds, time) = if quick { (5, Duration::from_millis(50)) } else { (2_000, Duration::from_secs(5)) };
    println!("a scan without waiting, median and worst of {rounds} rounds of 200 scans");
    let rows = Layout::default().rows(START);
    let lines = |restless| Lines { rows, row: 0, restless };
    let simulated = SimulatedMatrix::new(Wiring::default(), Square::ALL, START, 1);
    let ports: [(&str, Box<dyn MatrixPort>); 3] = [
        ("quiet board", Box::new(lines(false))),
        ("all 64 contacts change", Box::new(lines(true))),
        ("simulated wires, quiet board", Box::new(SimulatedPort::in_simulated_time(simulated, 50))),
    ];
    for (name, port) in ports {
        let (median, worst) = scan_ns(port, rounds);
        println!("  {name:<32} {median:>6} ns  {worst:>6} ns");
    }
    println!("\nshare of a core for waiting at 200 scans a second");
    ways(time);
    println!("\nthe source as the daemon runs it, at 200 scans a second on simulated wires");
    for settle_us in [50, 15, 0] {
        source(settle_us, None, true, time * 2);
    }
    let permitted = thread::spawn(|| realtime::claim(PRIORITY)).join().unwrap();
    if let Err(refused) = &permitted {
        println!("\n{refused}");
    }
    println!("\nthe same while two threads a core do nothing but work");
    let busy = Stop::default();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads: Vec<_> = (0..2 * cores)
        .map(|_| {
            let busy = busy.clone();
            thread::spawn(move || {
                while !busy.is_set() {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    for settle_us in [50, 15] {
        for realtime in [None, permitted.is_ok().then_some(PRIORITY)] {
            source(settle_us, realtime, false, time * 2);
        }
    }
    busy.set();
    for thread in threads {
        thread.join().unwrap();
    }
}
