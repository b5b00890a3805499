//! What is said to a pegged board and when, and what of its lines is passed on: a state machine without a
//! clock of its own.
//!
//! The board is asked for two things only, its hello and a snapshot, one request at a time. A line is
//! passed on, as it came, when it says something new.

mod complaint;
mod lines;

use std::collections::VecDeque;

use serde_json::json;

use crate::{
    session::{event::Event, io::Input, time::MonoTime},
    wire::peg::{Framer, Hello, PegDecoder, Request},
};

use super::burst;
pub use complaint::Complaint;

/// Time for an answer, in milliseconds.
const ANSWER_MS: u64 = 1000;
/// Attempts at a greeting: a board that is reset when its port is opened needs up to three seconds.
const GREETINGS: u8 = 4;
/// Attempts to get a snapshot.
const SNAPSHOTS: u8 = 3;
/// Pause before a board that does not answer is greeted again.
const RETRY_MS: u64 = 2000;
/// The same for a board that speaks another version: only new firmware can change that.
const FOREIGN_MS: u64 = 30_000;
/// So many heartbeats may fail to come before the board is asked for a sign of life.
const QUIET_BEATS: u64 = 2;
/// Shortest time between two requests for a snapshot.
const SPACING_MS: u64 = 250;
/// Damaged bytes are told at most this often.
const GARBLED_MS: u64 = 1000;
/// Unreadable bytes that make a port that of another device, while no line could be read.
const FOREIGN_BYTES: u64 = 40;

/// What the thread has to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Send this request.
    Send(Request),
    /// Throw away what came in and was not read.
    DiscardInput,
    /// Hand this to the board thread, with this stamp.
    Hand(MonoTime, Input),
    /// Tell the operator and the journal, with this stamp.
    Complain(MonoTime, Complaint),
    /// Tell the operator that the board is there.
    Greet(Hello),
}

#[derive(Clone, Debug)]
enum Phase {
    /// The port is closed.
    Closed,
    /// Greets the board from this time on; so many times already.
    Greeting { from: MonoTime, tries: u8 },
    /// The board has introduced itself; its snapshot is waited for. So many times it was asked for.
    Meeting { hello: Hello, line: String, until: MonoTime, tries: u8 },
    /// The board is read.
    Steady(Steady),
}

#[derive(Clone, Debug)]
struct Steady {
    beat_ms: u64,
    /// A snapshot is wanted: lines are missing, or the board is quiet.
    wanted: bool,
    /// A snapshot was asked for: until when it is waited for, and how often.
    asked: Option<(MonoTime, u8)>,
    /// The next request may go then.
    next_ask: MonoTime,
    /// Lines are missing since the last snapshot.
    gap: bool,
}

/// The policy of one board.
#[derive(Clone, Debug)]
pub struct Policy {
    framer: Framer,
    phase: Phase,
    /// What the board thread knows: the same decoder over the same lines.
    decoder: PegDecoder,
    /// Number and time of the last line.
    last_line: Option<(u16, u32)>,
    /// When bytes came in last, and when the port was looked at last.
    last_traffic: MonoTime,
    looked: MonoTime,
    /// The last stamp that was handed on.
    handed: MonoTime,
    /// Bytes that are no line: since they were last told, and when that was.
    garbled: u64,
    garbled_told: Option<MonoTime>,
    /// All such bytes, and lines, when the greeting was begun.
    noise_before: u64,
    lines: u64,
    /// What was told of the link, and of what is wrong.
    up: bool,
    told: bool,
    complaint: Option<Complaint>,
    /// Since when the board that was read is away, and its serial number.
    down_since: Option<MonoTime>,
    serial: Option<String>,
    queue: VecDeque<Action>,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::new()
    }
}

impl Policy {
    /// A policy for a port that is closed.
    pub fn new() -> Policy {
        Policy {
            framer: Framer::new(),
            phase: Phase::Closed,
            decoder: PegDecoder::new(),
            last_line: None,
            last_traffic: MonoTime::ZERO,
            looked: MonoTime::ZERO,
            handed: MonoTime::ZERO,
            garbled: 0,
            garbled_told: None,
            noise_before: 0,
            lines: 0,
            up: false,
            told: false,
            complaint: None,
            down_since: None,
            serial: None,
            queue: VecDeque::new(),
        }
    }

    /// The port was opened.
    pub fn opened(&mut self, at: MonoTime) {
        self.framer.reset();
        self.last_line = None;
        self.garbled = 0;
        self.looked = at;
        self.queue.push_back(Action::DiscardInput);
        self.greet(at);
    }

    /// The port could not be opened or was lost.
    pub fn closed(&mut self, at: MonoTime) {
        self.phase = Phase::Closed;
        self.queue.retain(|action| matches!(action, Action::Hand(..) | Action::Complain(..)));
        self.down(at);
    }

    /// True while the board is read.
    pub const fn is_up(&self) -> bool {
        self.up
    }

    fn greet(&mut self, from: MonoTime) {
        self.phase = Phase::Greeting { from, tries: 0 };
        (self.noise_before, self.lines) = (self.framer.dropped(), 0);
    }

    fn hand(&mut self, at: MonoTime, event: Event) {
        if matches!(event, Event::Link(_)) {
            self.decoder.link();
        }
        self.hand_input(at, event.into());
    }

    fn hand_input(&mut self, at: MonoTime, input: Input) {
        self.handed = self.handed.max(at);
        self.queue.push_back(Action::Hand(at, input));
    }

    fn note(&mut self, at: MonoTime, mut value: serde_json::Value) {
        if let Some(object) = value.as_object_mut() {
            object.shift_insert(0, "source".to_owned(), json!("peg"));
        }
        self.hand(at, Event::Device(value));
    }

    fn down(&mut self, at: MonoTime) {
        if self.up {
            self.down_since = Some(at);
        }
        if self.up || !self.told {
            self.hand(at, Event::Link(false));
        }
        (self.up, self.told) = (false, true);
    }

    /// Tells what is wrong, once.
    fn complain(&mut self, at: MonoTime, complaint: Complaint) {
        if self.complaint != Some(complaint) {
            self.complaint = Some(complaint);
            self.handed = self.handed.max(at);
            self.queue.push_back(Action::Complain(at, complaint));
        }
        self.down(at);
    }

    /// The next thing to do at `at`; asked until there is none.
    pub fn poll(&mut self, at: MonoTime) -> Option<Action> {
        if self.queue.is_empty() {
            self.tell_garbled(at);
            self.act(at);
        }
        self.queue.pop_front()
    }

    fn tell_garbled(&mut self, at: MonoTime) {
        let due = self.garbled_told.is_none_or(|told| at >= told.plus_ms(GARBLED_MS));
        if self.garbled > 0 && due {
            let n = std::mem::take(&mut self.garbled);
            self.garbled_told = Some(at);
            self.note(at, json!({"what": "garbled-bytes", "n": n}));
        }
    }

    fn act(&mut self, at: MonoTime) {
        match &mut self.phase {
            Phase::Closed => {}
            Phase::Greeting { from, .. } if at < *from => {}
            Phase::Greeting { from, tries } if *tries < GREETINGS => {
                *tries = tries.saturating_add(1);
                *from = at.plus_ms(ANSWER_MS);
                self.queue.push_back(Action::Send(Request::Hello));
            }
            Phase::Greeting { .. } => self.unanswered(at),
            Phase::Meeting { until, .. } if at < *until => {}
            Phase::Meeting { until, tries, .. } if *tries < SNAPSHOTS => {
                *tries = tries.saturating_add(1);
                *until = at.plus_ms(ANSWER_MS);
                self.queue.push_back(Action::Send(Request::Board));
            }
            Phase::Meeting { .. } => {
                self.complain(at, Complaint::NoSnapshot);
                self.greet(at.plus_ms(RETRY_MS));
            }
            Phase::Steady(_) => self.act_steady(at),
        }
    }

    /// Nobody said hello.
    fn unanswered(&mut self, at: MonoTime) {
        let noise = self.framer.dropped().saturating_sub(self.noise_before);
        let complaint = match (self.lines, noise) {
            (1.., _) => Complaint::NoHello,
            (0, FOREIGN_BYTES..) => Complaint::Unreadable,
            (0, _) => Complaint::Silent,
        };
        self.complain(at, complaint);
        self.greet(at.plus_ms(RETRY_MS));
    }

    fn act_steady(&mut self, at: MonoTime) {
        let quiet = self.quiet_at();
        let Phase::Steady(steady) = &mut self.phase else { return };
        let tries = match steady.asked {
            Some((until, _)) if at < until => return,
            Some(_) if at >= quiet => {
                self.complain(at, Complaint::Silent);
                return self.greet(at);
            }
            Some((_, SNAPSHOTS..)) => {
                self.complain(at, Complaint::NoSnapshot);
                return self.greet(at);
            }
            Some((_, tries)) => tries,
            None => 0,
        };
        let wanted = (steady.wanted && at >= steady.next_ask) || tries > 0 || at >= quiet;
        if wanted {
            steady.wanted = false;
            steady.asked = Some((at.plus_ms(ANSWER_MS), tries.saturating_add(1)));
            steady.next_ask = at.plus_ms(SPACING_MS);
            self.queue.push_back(Action::Send(Request::Board));
        }
    }

    /// From when on the board has been quiet for too long.
    fn quiet_at(&self) -> MonoTime {
        match &self.phase {
            Phase::Steady(steady) => self.last_traffic.plus_ms(steady.beat_ms * QUIET_BEATS + ANSWER_MS / 2),
            _ => MonoTime::END,
        }
    }

    /// When [`Policy::poll`] has something to do at the latest.
    pub fn deadline(&self) -> Option<MonoTime> {
        if !self.queue.is_empty() {
            return Some(MonoTime::ZERO);
        }
        let own = match &self.phase {
            Phase::Closed => None,
            Phase::Greeting { from, .. } => Some(*from),
            Phase::Meeting { until, .. } => Some(*until),
            Phase::Steady(Steady { asked: Some((until, _)), .. }) => Some(*until),
            Phase::Steady(Steady { wanted: true, next_ask, .. }) => Some(*next_ask),
            Phase::Steady(_) => Some(self.quiet_at()),
        };
        let garbled = match self.garbled_told {
            _ if self.garbled == 0 => None,
            Some(told) => Some(told.plus_ms(GARBLED_MS)),
            None => Some(MonoTime::ZERO),
        };
        [own, garbled].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests;
