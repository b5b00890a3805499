//! Pegged boards: what a line costs, how fast a contact arrives, how fast a board is back that was away.
//!
//! `cargo bench --bench peg` prints four lines. The board is the reference firmware on a pseudo terminal, scanned
//! as often as the machine allows and without debouncing, so that the times are those of the program.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::fs::symlink,
    path::Path,
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, sync_channel},
    },
    time::Duration,
};

use serialport::{SerialPort as _, TTYPort};
use touchmoved::{
    sensor::{
        Reading, Sink, Source, Stop,
        peg::{BAUD, PegSource, policy::Policy},
        serial::{Framing, ModemLines},
    },
    session::{event::Event, io::Input, time::MonoTime},
    sysclock,
};
use touchmoved_peg::{Board, Holes, Identity, Message, Peg, Settings, SquareIndex, encode};

const START: u64 = 0xffff_0000_0000_ffff;
const IDENTITY: Identity<'static> = Identity { firmware: "bench", version: "1", serial: "B1" };

fn main() {
    lines();
    firmware();
    ports();
}

/// Lines through framing, checks, policy and decoder.
fn lines() {
    const COUNT: u16 = 60_000;
    let mut policy = Policy::new();
    let at = MonoTime::ZERO;
    policy.opened(at);
    let mut board = Board::new(IDENTITY, Settings::default(), &[]);
    board.scan(0, Holes::of(START), 0);
    while let Some(line) = board.next_line(0) {
        policy.received(at, line.as_bytes(), true);
    }
    while policy.poll(at).is_some() {}
    assert!(policy.is_up());
    let mut bytes = Vec::new();
    for n in 0..COUNT {
        let peg = if n % 2 == 0 { Peg::Out } else { Peg::In };
        let square = SquareIndex::new(12).unwrap();
        bytes.extend_from_slice(encode(n + 2, u32::from(n), &Message::Peg(square, peg)).as_bytes());
    }
    let start = sysclock::monotonic();
    let mut handed = 0u32;
    for portion in bytes.chunks(4096) {
        policy.received(at, portion, true);
        while policy.poll(at).is_some() {
            handed += 1;
        }
    }
    let us = sysclock::monotonic().since(start);
    assert!(handed >= u32::from(COUNT));
    println!("host, a line about a peg: {} ns", us * 1000 / u64::from(COUNT));
}

/// A scan of the reference firmware, with one contact that bounces.
fn firmware() {
    const COUNT: u32 = 1_000_000;
    let mut board = Board::new(IDENTITY, Settings::default(), &[]);
    let mut told = 0;
    let start = sysclock::monotonic();
    for ms in 0..COUNT {
        board.scan(ms, Holes::of(START ^ u64::from(ms / 50 % 2)), 0);
        while board.next_line(ms).is_some() {
            told += 1;
        }
    }
    let us = sysclock::monotonic().since(start);
    println!(
        "firmware on this machine, a scan with its lines: {} ns ({told} lines)",
        us * 1000 / u64::from(COUNT)
    );
}

/// The firmware on a pseudo terminal behind a link, until `stop`.
fn board(link: &Path, holes: &AtomicU64, stop: &Stop) {
    let (mut master, slave) = TTYPort::pair().unwrap();
    master.set_timeout(Duration::from_millis(1)).unwrap();
    let settings = Settings { close_ms: 0, open_ms: 0, beat_ms: 1000 };
    let mut board = Board::new(IDENTITY, settings, &[]);
    symlink(slave.name().unwrap(), link).unwrap();
    let start = sysclock::monotonic();
    let mut buffer = [0; 32];
    while !stop.is_set() {
        let n = if master.bytes_to_read().unwrap() > 0 { master.read(&mut buffer).unwrap() } else { 0 };
        buffer[..n].iter().for_each(|byte| board.receive(*byte));
        let ms = u32::try_from(sysclock::monotonic().since(start) / 1000).unwrap();
        board.scan(ms, Holes::of(holes.load(Ordering::Acquire)), 0);
        while let Some(line) = board.next_line(ms) {
            master.write_all(line.as_bytes()).unwrap();
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    fs::remove_file(link).unwrap();
}

/// Waits for a reading of the wanted kind; when it was read.
fn wait(readings: &Receiver<Reading>, wanted: impl Fn(&Input) -> bool) -> MonoTime {
    loop {
        let reading = readings.recv_timeout(Duration::from_secs(30)).unwrap();
        if reading.input.as_ref().is_some_and(&wanted) {
            return reading.at;
        }
    }
}

fn ports() {
    const CONTACTS: u64 = 400;
    const OUTAGES: usize = 20;
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("peg");
    let (sender, readings) = sync_channel(64);
    let ends = Stop::default();
    let source = Box::new(PegSource::new(&link, BAUD, Framing::EightNone, ModemLines::Leave));
    let holes = AtomicU64::new(START);
    let (mut arrived, mut back) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        let (ending, sink) = (&ends, Sink::new(sender));
        // At the end it may still have something to tell, and nobody listens.
        scope.spawn(move || drop(source.run(&sink, ending)));
        for outage in 0..OUTAGES {
            // Away for 0.3 to 4 seconds: the pauses between attempts have grown by then.
            std::thread::sleep(Duration::from_millis(300 + 200 * outage as u64));
            let pulled = Stop::default();
            let plugged = sysclock::monotonic();
            std::thread::scope(|cable| {
                cable.spawn(|| board(&link, &holes, &pulled));
                let up = wait(&readings, |input| matches!(input, Input::Event(_, Event::Link(true))));
                back.push(up.since(plugged));
                wait(&readings, |input| matches!(input, Input::Peg(_, line) if line.starts_with("$BOARD")));
                for n in 0..CONTACTS / OUTAGES as u64 {
                    std::thread::sleep(Duration::from_millis(3 + n % 3));
                    let changed = sysclock::monotonic();
                    holes.fetch_xor(1 << 12, Ordering::AcqRel);
                    let read = wait(
                        &readings,
                        |input| matches!(input, Input::Peg(_, line) if line.starts_with("$PEG")),
                    );
                    arrived.push(read.since(changed));
                }
                pulled.set();
            });
            wait(&readings, |input| matches!(input, Input::Event(_, Event::Link(false))));
        }
        ends.set();
        drop(readings);
    });
    arrived.sort_unstable();
    back.sort_unstable();
    let at = |times: &[u64], percent: usize| times[(times.len() - 1) * percent / 100];
    println!(
        "contact to stamped reading: median {} us, 99th percentile {} us",
        at(&arrived, 50),
        at(&arrived, 99)
    );
    println!(
        "plugged in to link up: median {} ms, slowest {} ms",
        at(&back, 50) / 1000,
        at(&back, 100) / 1000
    );
}
