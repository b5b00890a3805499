//! What is said to a pegged board and when, and what of its lines is passed on: a state machine without a
//! clock of its own.
//!
//! The board is asked for two things only, its hello and a snapshot, one request at a time. A line is
//! passed on, as it came, when it says something new.

mod complaint;
mod lines;
mod sight;

use std::collections::VecDeque;

use serde_json::json;

use crate::{
    session::{event::Event, io::Input, time::MonoTime},
    wire::peg::{Framer, Hello, PegDecoder, Request},
};

use super::{burst, order::Order};
pub use complaint::Complaint;
use sight::{News, Sight};

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
    /// Tell the operator and the journal that this standing complaint is over.
    Settle(MonoTime, Complaint),
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
    /// Numbers of the lines, and the time of the last one.
    order: Order,
    last_ms: Option<u32>,
    /// Lines that came again, and late, since that was last told.
    again: u64,
    late: u64,
    /// When bytes came in last, and when the port was looked at last.
    last_traffic: MonoTime,
    looked: MonoTime,
    /// The last stamp that was handed on.
    handed: MonoTime,
    /// Bytes that are no line since they were last told, and when anything odd was told.
    garbled: u64,
    garbled_told: Option<MonoTime>,
    /// All such bytes, and lines, when the greeting was begun.
    noise_before: u64,
    lines: u64,
    /// What was told of the link, and of what is wrong.
    up: bool,
    told: bool,
    complaint: Option<Complaint>,
    /// What the board says of its holes.
    sight: Sight,
    /// When a restart of the board was told to its readers last.
    restart_told: Option<MonoTime>,
    /// Since when the board that was read is away.
    down_since: Option<MonoTime>,
    /// The serial number of the board that was there first, and the complaint while another one is.
    serial: Option<String>,
    stranger: Option<Complaint>,
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
            order: Order::default(),
            last_ms: None,
            again: 0,
            late: 0,
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
            sight: Sight::default(),
            restart_told: None,
            down_since: None,
            serial: None,
            stranger: None,
            queue: VecDeque::new(),
        }
    }

    /// The port was opened.
    pub fn opened(&mut self, at: MonoTime) {
        self.framer.reset();
        (self.order, self.last_ms) = (Order::default(), None);
        self.garbled = 0;
        self.looked = at;
        self.queue.push_back(Action::DiscardInput);
        self.greet(at);
    }

    /// The port could not be opened or was lost.
    pub fn closed(&mut self, at: MonoTime) {
        self.phase = Phase::Closed;
        self.queue
            .retain(|action| matches!(action, Action::Hand(..) | Action::Complain(..) | Action::Settle(..)));
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
        if self.complaint.as_ref() != Some(&complaint) {
            self.complaint = Some(complaint.clone());
            self.tell(at, complaint);
        }
        self.down(at);
    }

    fn tell(&mut self, at: MonoTime, complaint: Complaint) {
        self.handed = self.handed.max(at);
        self.queue.push_back(Action::Complain(at, complaint));
    }

    /// Tells what is new of the sight of a board that is read.
    fn tell_sight(&mut self, at: MonoTime, news: News) {
        if !self.up {
            return;
        }
        match news {
            News::Blind => self.tell(at, Complaint::Sensor),
            News::Sees(untold) => {
                if untold > 0 {
                    self.note(at, json!({"what": "sensor-again", "n": untold}));
                }
                self.handed = self.handed.max(at);
                self.queue.push_back(Action::Settle(at, Complaint::Sensor));
                // What else stands is to be seen again.
                if let Some(stranger) = self.stranger.clone() {
                    self.tell(at, stranger);
                }
            }
        }
    }

    /// The next thing to do at `at`; asked until there is none.
    pub fn poll(&mut self, at: MonoTime) -> Option<Action> {
        if self.queue.is_empty() {
            self.tell_garbled(at);
            if let Some(news) = self.sight.poll(at) {
                self.tell_sight(at, news);
            }
            self.act(at);
        }
        self.queue.pop_front()
    }

    fn tell_garbled(&mut self, at: MonoTime) {
        let due = self.garbled_told.is_none_or(|told| at >= told.plus_ms(GARBLED_MS));
        if !due {
            return;
        }
        let odd = [
            ("garbled-bytes", std::mem::take(&mut self.garbled)),
            ("repeated-lines", std::mem::take(&mut self.again)),
            ("late-lines", std::mem::take(&mut self.late)),
        ];
        for (what, n) in odd.into_iter().filter(|(_, n)| *n > 0) {
            self.garbled_told = Some(at);
            self.note(at, json!({"what": what, "n": n}));
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
            _ if self.garbled + self.again + self.late == 0 => None,
            Some(told) => Some(told.plus_ms(GARBLED_MS)),
            None => Some(MonoTime::ZERO),
        };
        [own, garbled, self.sight.deadline()].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests;
