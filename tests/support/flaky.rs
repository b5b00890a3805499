//! A board with a bad cable, in virtual time: the real policy and the real decoder against a board that is
//! unplugged, falls silent, loses its power and garbles its bytes by chance.

use std::collections::VecDeque;

use shakmaty::{Board, Square};
use touchmoved::{
    sensor::{
        dgt::policy::{Action, Options, Policy, Received},
        serial::Backoff,
    },
    session::{event::Event, time::MonoTime},
    wire::dgt::{
        Command, DgtDecoder, Message, Orientation,
        clock::Clock,
        message::{Dump, Reading as Code, number_of},
        storage::{self, Entry, Mark},
    },
};

/// Chance that is the same in every run.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn from(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least)
    }
}

/// What a run saw.
#[derive(Debug, Default)]
pub struct Summary {
    pub outages: u64,
    pub changes: u64,
    pub commands: u64,
    pub events: u64,
    pub downloads: u64,
    /// From the moment at which a cable is in again to the full report, in milliseconds.
    pub longest_return_ms: u64,
}

/// What is wrong at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    Unplugged,
    Mute,
}

/// The board and everything that reads it.
pub struct Flaky {
    chance: Chance,
    now: u64,
    policy: Policy,
    decoder: DgtDecoder,
    backoff: Backoff,
    position: Dump,
    memory: VecDeque<Entry>,
    streams: bool,
    /// Bytes on the line with their times; a byte takes about a millisecond.
    line: VecDeque<(u64, Vec<u8>)>,
    line_free: u64,
    trouble: Option<(Trouble, u64)>,
    /// When the port is opened again.
    opening: Option<u64>,
    up: bool,
    /// Since when nothing was wrong, with the garbled bytes and the power of the board as well.
    clean_since: u64,
    /// When the cable was put in again, until the full report.
    back: Option<u64>,
    shown: Board,
    /// Changes that a board which streams has told: when, where and what.
    owed: Vec<(u64, Square, Code)>,
    summary: Summary,
}

impl Flaky {
    pub fn new(seed: u64) -> Flaky {
        Flaky {
            chance: Chance::new(seed),
            now: 1000,
            policy: Policy::new(Options { memory: true, ..Options::default() }),
            decoder: DgtDecoder::new(Orientation::Normal),
            backoff: Backoff::new(),
            position: Dump::of(&Board::new()),
            memory: VecDeque::new(),
            streams: false,
            line: VecDeque::new(),
            line_free: 0,
            trouble: None,
            opening: Some(1000),
            up: false,
            clean_since: 1000,
            back: None,
            shown: Board::empty(),
            owed: Vec::new(),
            summary: Summary::default(),
        }
    }

    pub fn summary(self) -> Summary {
        self.summary
    }

    fn at(&self) -> MonoTime {
        MonoTime::ZERO.plus_ms(self.now)
    }

    /// Runs for so many milliseconds.
    pub fn run(&mut self, length: u64) {
        let end = self.now + length;
        let (mut hand, mut next_trouble) = (self.now + 500, self.now + 60_000);
        while self.now < end {
            self.act();
            let deadline = self.policy.deadline().map_or(u64::MAX, |at| at.as_micros().div_ceil(1000));
            let deadline = if self.opening.is_some() { u64::MAX } else { deadline.max(self.now + 1) };
            let arrives = self.line.front().map_or(u64::MAX, |(at, _)| *at);
            let over = self.trouble.map_or(u64::MAX, |(_, until)| until);
            let opens = self.opening.unwrap_or(u64::MAX);
            let next = [deadline, arrives, over, opens, hand, next_trouble].into_iter().min().unwrap();
            self.now = next.max(self.now);
            if over <= self.now {
                self.end_trouble();
            }
            if self.opening.is_some_and(|at| at <= self.now) {
                self.open();
            }
            while self.line.front().is_some_and(|(at, _)| *at <= self.now) {
                let (_, bytes) = self.line.pop_front().unwrap();
                self.receive(&bytes);
            }
            if hand <= self.now {
                self.check();
                self.hand();
                let pause = if self.chance.below(5) == 0 { self.chance.from(2000, 90_000) } else { 400 };
                hand = self.now + self.chance.from(100, 100 + pause);
            }
            if next_trouble <= self.now {
                self.begin_trouble();
                next_trouble = self.now + self.chance.from(10_000, 240_000);
            }
        }
    }

    /// A hand changes a square.
    fn hand(&mut self) {
        let square = Square::new(u32::try_from(self.chance.below(64)).unwrap());
        let reading = Code::from_code(u8::try_from(self.chance.below(13)).unwrap());
        let slot = &mut self.position.0[usize::from(number_of(square))];
        if *slot == reading {
            return;
        }
        *slot = reading;
        self.memory.push_back(Entry::Field { square, reading, soon: false });
        if self.memory.len() > 1500 {
            self.memory.pop_front();
        }
        self.summary.changes += 1;
        self.owed.retain(|(_, other, _)| *other != square);
        if self.streams && self.up && self.trouble.is_none() {
            self.owed.push((self.now, square, reading));
            self.send(Message::Field { square, reading }.encode());
        }
    }

    /// Puts bytes on the line; now and then one is lost or another one.
    fn send(&mut self, mut bytes: Vec<u8>) {
        if self.trouble.is_some() {
            return;
        }
        if self.chance.below(400) == 0 {
            let at = usize::try_from(self.chance.below(bytes.len() as u64)).unwrap();
            if self.chance.below(2) == 0 {
                bytes.remove(at);
            } else {
                bytes[at] ^= 1 << self.chance.below(8);
            }
            // The next dump tells it: at once where it is noticed, else with the next confirmation.
            self.clean_since = self.now + 2000;
            self.owed.clear();
            self.back = None;
        }
        for part in bytes.chunks(16) {
            self.line_free = self.line_free.max(self.now) + part.len() as u64;
            self.line.push_back((self.line_free, part.to_vec()));
        }
    }

    fn answer(&mut self, command: Command) {
        self.summary.commands += 1;
        match command {
            Command::Reset => self.streams = false,
            Command::UpdateNice => self.streams = true,
            _ => {}
        }
        let message = match command {
            Command::SendBoard => Message::Board(Box::new(self.position)),
            Command::SendClock => Message::Clock(Clock::Absent),
            Command::Serial => Message::Serial("01025".to_owned()),
            Command::Version => Message::Version(3, 10),
            Command::StorageLog => {
                self.summary.downloads += 1;
                let log: Vec<Entry> = self.memory.iter().copied().chain([Entry::Mark(Mark::End)]).collect();
                Message::StorageLog(storage::encode(&log))
            }
            _ => return,
        };
        self.send(message.encode());
    }

    /// Does what the policy wants.
    fn act(&mut self) {
        while self.opening.is_none() {
            let Some(action) = self.policy.poll(self.at()) else { return };
            match action {
                Action::Send(command) if self.trouble.is_none() => self.answer(command),
                Action::Send(_) => self.summary.commands += 1,
                Action::DiscardInput => self.line.clear(),
                Action::Down { news, .. } => self.down(news),
                Action::SetClock(_) | Action::Stand(_) | Action::Settle | Action::Withheld(_) => {}
                Action::Reopen => self.lose_port(),
            }
        }
    }

    fn down(&mut self, news: bool) {
        if news {
            self.up = false;
            self.owed.clear();
            self.decoder.link(false);
        }
    }

    fn lose_port(&mut self) {
        let news = self.policy.closed();
        self.down(news);
        self.line.clear();
        let wait = u64::try_from(self.backoff.next_wait().as_millis()).unwrap();
        self.opening = Some(self.now + wait);
    }

    fn open(&mut self) {
        if self.trouble.is_some_and(|(trouble, _)| trouble == Trouble::Unplugged) {
            self.opening = Some(self.now + 250);
            return;
        }
        self.opening = None;
        self.policy.opened(self.at(), false);
    }

    fn receive(&mut self, bytes: &[u8]) {
        if self.opening.is_some() {
            return;
        }
        let received = self.policy.received(self.at(), bytes);
        if received == Received::LinkUp {
            self.up = true;
            self.backoff.reset();
            self.decoder.link(true);
        }
        if received == Received::Stale {
            return;
        }
        // The session has no game here: the memory is read and told.
        self.decoder.set_puzzled(true);
        let mut events = Vec::new();
        self.decoder.push(self.at(), bytes, &mut events);
        for event in events {
            self.summary.events += 1;
            self.show(&event);
        }
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::Pieces(men) => {
                self.shown = men.clone();
                if let Some(back) = self.back.take() {
                    let took = self.now - back;
                    self.summary.longest_return_ms = self.summary.longest_return_ms.max(took);
                }
            }
            Event::Piece { square, piece: Some(man) } => self.shown.set_piece_at(*square, *man),
            Event::Piece { square, piece: None } => self.shown.discard_piece_at(*square),
            _ => {}
        }
        let shown = &self.shown;
        self.owed.retain(|(_, square, reading)| shown.piece_at(*square) != reading.piece());
    }

    /// Nothing is lost while the board is connected.
    fn check(&self) {
        // Behind a download of the memory the line is busy for some seconds.
        let busy = self.line_free > self.now || self.line_free + 1000 > self.now && !self.line.is_empty();
        if let Some((at, square, reading)) = self.owed.first()
            && !busy
        {
            assert!(self.now < at + 2500, "{square} {reading:?} of {at} was not told until {}", self.now);
        }
        let quiet = self.trouble.is_none() && self.up && self.now > self.clean_since + 33_000;
        if quiet && self.owed.is_empty() && !busy {
            assert_eq!(self.shown, self.position.placement(), "at {}", self.now);
        }
    }

    fn begin_trouble(&mut self) {
        self.clean_since = u64::MAX - 100_000;
        self.owed.clear();
        self.back = None;
        match self.chance.below(4) {
            0 => {
                // It loses its power for a moment and has forgotten its mode.
                self.streams = false;
                self.line.clear();
                self.memory.push_back(Entry::Mark(Mark::PowerUp));
                self.clean_since = self.now;
            }
            1 => self.trouble = Some((Trouble::Mute, self.now + self.chance.from(500, 30_000))),
            _ => {
                self.summary.outages += 1;
                self.line.clear();
                self.trouble = Some((Trouble::Unplugged, self.now + self.chance.from(50, 120_000)));
                if self.opening.is_none() {
                    self.lose_port();
                }
            }
        }
    }

    fn end_trouble(&mut self) {
        self.back =
            self.trouble.take().and_then(|(what, _)| (what == Trouble::Unplugged).then_some(self.now));
        self.clean_since = self.now;
        if let Some(at) = self.opening {
            // The device file is there again: tried at the next look.
            self.opening = Some(at.min(self.now + 250));
        }
    }
}
