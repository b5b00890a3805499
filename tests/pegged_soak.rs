//! A day of a pegged board whose cable comes out again and again, whose chip restarts and whose line loses
//! bytes: in accelerated time, without a port.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::VecDeque;

use touchmoved::{
    sensor::peg::policy::{Action, Policy},
    session::{event::Event, io::Input, time::MonoTime},
    wire::peg::PegDecoder,
};
use touchmoved_peg::{Board, Holes, Identity, Key, Settings, Side};

const DAY_MS: u64 = 24 * 3_600_000;
const START: u64 = 0xffff_0000_0000_ffff;
const KEYS: [Key<'static>; 2] = [Key::Press(Side::White), Key::Press(Side::Black)];

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 16
    }

    /// From `low` to `high`.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }
}

/// What the journal would hold, and what has to be in it.
#[derive(Default)]
struct Ledger {
    decoder: PegDecoder,
    seen: u64,
    /// Told by undamaged lines while the board was read; not yet handed on.
    expected: VecDeque<Event>,
    handed: u64,
    told: u64,
    ups: u64,
    downs: u64,
    gaps: u64,
    requests: u64,
    last: MonoTime,
}

impl Ledger {
    fn take(&mut self, at: MonoTime, input: &Input) {
        assert!(at >= self.last, "stamps never go back");
        self.last = at;
        self.handed += 1;
        let mut events = Vec::new();
        match input {
            Input::Peg(_, line) => self.decoder.push(line, &mut events),
            Input::Event(_, event) => events.push(event.clone()),
            Input::Dgt(..) => panic!("bytes of a DGT board"),
        }
        for event in events {
            self.event(event);
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Square { square, occupied } => {
                let bit = 1 << u32::from(square);
                assert_ne!(self.seen & bit != 0, occupied, "{square} is told twice");
                self.seen ^= bit;
                self.is_expected(&event);
            }
            Event::Press(_) => self.is_expected(&event),
            Event::Occupied(squares) => {
                assert_eq!(self.expected, [], "a snapshot does not come before what it shows");
                self.seen = squares.0;
            }
            Event::Link(up) => {
                self.decoder.link();
                if up { self.ups += 1 } else { self.downs += 1 }
            }
            Event::Device(note) if note["what"] == "gap" => self.gaps += 1,
            _ => {}
        }
    }

    fn is_expected(&mut self, event: &Event) {
        self.told += 1;
        assert_eq!(self.expected.pop_front().as_ref(), Some(event), "nothing is invented");
    }
}

/// Pages of memory of this process.
fn pages() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse().unwrap()
}

struct World {
    dice: Dice,
    policy: Policy,
    ledger: Ledger,
    board: Option<Board<'static>>,
    booted: u64,
    now: u64,
    holes: u64,
    keys: u32,
    /// The cable is out, or the host has not opened the port yet.
    pulled: bool,
    /// When the host opens the port that has come back.
    opens: Option<u64>,
    /// When each of these comes next: a hand, the end of what it does, a trouble, the end of that.
    hand: u64,
    let_go: Option<u64>,
    trouble: u64,
    back: Option<u64>,
    loses: bool,
    /// Since when everything is at rest.
    quiet: u64,
    lost: u64,
    outages: u64,
}

impl World {
    fn at(&self) -> MonoTime {
        MonoTime::ZERO.plus_ms(self.now)
    }

    fn boot(&mut self) {
        let identity = Identity { firmware: "soak", version: "1", serial: "S1" };
        self.board = Some(Board::new(identity, Settings::default(), &KEYS));
        self.booted = self.now;
    }

    /// Hands and troubles whose time has come.
    fn happen(&mut self) {
        let now = self.now;
        if self.let_go.take_if(|at| now >= *at).is_some() {
            self.keys = 0;
        }
        if now >= self.hand && self.let_go.is_none() {
            match self.dice.between(0, 5) {
                0 => self.keys = 1 << self.dice.between(0, 1),
                _ => self.holes ^= 1 << self.dice.between(0, 63),
            }
            self.let_go = Some(now + 60);
            self.hand = now + self.dice.between(200, 9000);
            self.quiet = now;
        }
        if self.back.take_if(|at| now >= *at).is_some() {
            self.boot();
            self.quiet = now;
            if self.pulled {
                self.opens = Some(now + self.dice.between(0, 250));
            }
        }
        if now >= self.trouble && self.back.is_none() {
            self.make_trouble();
            self.quiet = now;
        }
        if self.opens.take_if(|at| now >= *at).is_some() {
            self.pulled = false;
            self.policy.opened(self.at());
        }
    }

    fn make_trouble(&mut self) {
        self.trouble = self.now + self.dice.between(500, 120_000);
        match self.dice.between(0, 3) {
            0 => self.loses = true,
            1 => {
                let noise = [b"ets Jun 8\r\n".as_slice(), b"$PEG,1,2,a1", &[0xff, 0, b'$', b'\n']];
                let noise = noise[usize::try_from(self.dice.between(0, 2)).unwrap()];
                self.policy.received(self.at(), noise, true);
            }
            2 => {
                // The chip restarts; the port stays.
                self.board = None;
                self.back = Some(self.now + self.dice.between(50, 5000));
                self.outages += 1;
            }
            _ => {
                (self.board, self.opens, self.pulled) = (None, None, true);
                self.back = Some(self.now + self.dice.between(50, 60_000));
                self.policy.closed(self.at());
                self.outages += 1;
            }
        }
    }

    /// Scans, moves lines and requests.
    fn turn(&mut self) {
        let at = self.at();
        let mut actions = 0;
        while let Some(action) = self.policy.poll(at) {
            actions += 1;
            assert!(actions < 1000, "the policy never rests");
            match action {
                Action::Hand(stamp, input) => self.ledger.take(stamp, &input),
                Action::Send(request) => {
                    self.ledger.requests += 1;
                    if let Some(board) = &mut self.board {
                        request.bytes().iter().for_each(|byte| board.receive(*byte));
                    }
                }
                _ => {}
            }
        }
        assert!(self.policy.deadline().is_none_or(|deadline| deadline > at), "no busy loop");
        let Some(board) = &mut self.board else { return };
        let ms = u32::try_from(self.now - self.booted).unwrap();
        board.scan(ms, Holes::of(self.holes), self.keys);
        while let Some(line) = board.next_line(ms) {
            let mut bytes = line.as_bytes().to_vec();
            let may_be_lost = !bytes.starts_with(b"$HELLO") && !bytes.starts_with(b"$BOARD");
            if self.loses && may_be_lost {
                self.loses = false;
                self.lost += 1;
                self.quiet = self.now;
                bytes.remove(usize::try_from(self.dice.next() % (bytes.len() as u64 - 2)).unwrap());
            } else if self.policy.is_up() {
                let text = std::str::from_utf8(&bytes).unwrap().trim_end();
                let mut events = Vec::new();
                PegDecoder::new().push(text, &mut events);
                events.retain(|event| matches!(event, Event::Square { .. } | Event::Press(_)));
                self.ledger.expected.extend(events);
            }
            self.policy.received(at, &bytes, true);
        }
    }

    /// The time of the next turn: soon after something happened, later when all is quiet.
    fn step(&mut self) {
        let step = if self.now < self.quiet + 100 { 5 } else { 50 };
        let next = [Some(self.hand), self.let_go, Some(self.trouble), self.back, self.opens];
        let next = next.into_iter().flatten().filter(|at| *at > self.now).min();
        self.now = next.map_or(self.now + step, |next| next.min(self.now + step));
    }
}

#[test]
fn a_day_of_cables_that_come_out() {
    let mut world = World {
        dice: Dice(1),
        policy: Policy::new(),
        ledger: Ledger::default(),
        board: None,
        booted: 0,
        now: 0,
        holes: START,
        keys: 0,
        pulled: true,
        opens: Some(0),
        hand: 5000,
        let_go: None,
        trouble: 10_000,
        back: None,
        loses: false,
        quiet: 0,
        lost: 0,
        outages: 0,
    };
    world.boot();
    let mut pages_before = 0;
    let mut compared = 0u64;
    while world.now < DAY_MS {
        world.happen();
        world.turn();
        if world.now > world.quiet + 5000 && world.policy.is_up() && world.board.is_some() {
            compared += 1;
            assert_eq!(world.ledger.seen, world.holes, "at {} ms", world.now);
            assert_eq!(world.ledger.expected, []);
        }
        if pages_before == 0 && world.now > DAY_MS / 24 {
            pages_before = pages();
        }
        world.step();
    }
    let Ledger { handed, told, ups, downs, gaps, requests, .. } = world.ledger;
    println!(
        "{} outages, {} damaged lines; {told} events told one by one, {handed} records, {ups} times up, {requests} \
         requests, board compared {compared} times, memory {pages_before} and then {} pages",
        world.outages,
        world.lost,
        pages(),
    );
    assert!(world.outages > 300 && world.lost > 200 && told > 10_000 && compared > 10_000);
    assert!(ups.abs_diff(downs) <= 1 && gaps + 1 >= ups, "{ups} {downs} {gaps}");
    assert!(requests < 12 * (world.outages + world.lost) + 1000, "{requests} requests");
    assert!(handed < 3 * told + 12 * world.outages + 8 * world.lost, "{handed} records");
    assert!(pages() < pages_before + 256, "a megabyte more than after an hour");
}
