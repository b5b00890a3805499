//! What comes from the board: bytes, lines, and what of them is passed on.

use serde_json::json;

use super::super::order::Place;
use super::{
    ANSWER_MS, Action, Complaint, FOREIGN_MS, Phase, Policy, Steady, burst,
    complaint::{SENSOR, SENSOR_OK},
    sight::CALM_MS,
};
use crate::{
    session::{
        event::{Event, Unit},
        io::Input,
        time::MonoTime,
    },
    wire::peg::{Framed, Hello, Line, Message},
};

/// A line whose time is by more than this before that of the line before, in milliseconds, is of another start of
/// the board.
const EXCHANGED_MS: u32 = 500;

impl Policy {
    /// The port was looked at and nothing had come.
    pub fn nothing(&mut self, at: MonoTime) {
        self.looked = at;
    }

    /// Bytes came in; `all` that there were when the port was read.
    pub fn received(&mut self, at: MonoTime, bytes: &[u8], all: bool) {
        let since = self.looked.max(self.handed);
        if all {
            self.looked = at;
        }
        if matches!(self.phase, Phase::Closed) {
            return;
        }
        self.last_traffic = at;
        let mut framed = Vec::new();
        self.framer.push(bytes, &mut framed);
        let mut lines = Vec::new();
        for item in framed {
            match item {
                Framed::Dropped(n) => self.drop_bytes(n),
                Framed::Line(text) => match Line::parse(&text) {
                    Ok(line) => lines.push((text, line)),
                    // Of another version, perhaps: only the hello is the same in all.
                    Err(_) => {
                        self.lines = self.lines.saturating_add(1);
                        self.drop_bytes(text.len());
                    }
                },
            }
        }
        let times: Vec<u32> = lines.iter().map(|(_, line)| line.ms).collect();
        for ((text, line), at) in lines.into_iter().zip(burst::stamps(since, at, &times)) {
            self.line(at, text, line);
        }
    }

    fn drop_bytes(&mut self, n: usize) {
        let n = n as u64;
        if let Phase::Steady(steady) = &mut self.phase {
            self.garbled = self.garbled.saturating_add(n);
            // A line may have been in it.
            steady.wanted = true;
        }
    }

    fn line(&mut self, at: MonoTime, text: String, line: Line) {
        self.lines = self.lines.saturating_add(1);
        let (seq, ms) = (line.seq, line.ms);
        let back_ms =
            self.last_ms.filter(|last| burst::goes_back(*last, ms)).map(|last| last.wrapping_sub(ms));
        // The first line after a start has the number 0. The lines of a board that did not start again are
        // exchanged on the way at most, which takes no long time.
        let begins = seq == 0
            && !self.order.is_next(seq)
            && matches!(line.message, Message::Hello(_) | Message::ForeignHello(_));
        let restarted = back_ms.is_some_and(|back| back > EXCHANGED_MS || begins);
        let steady = matches!(self.phase, Phase::Steady(_));
        let missing = if restarted || (begins && steady) {
            self.order.restart(seq);
            1
        } else {
            match self.order.take(seq) {
                Place::Next(lost) => lost,
                place if steady => return self.out_of_order(at, text, &line.message, place),
                Place::Late | Place::Again => 0,
            }
        };
        self.last_ms = Some(ms);
        match line.message {
            Message::ForeignHello(version) => self.foreign(at, version),
            Message::Hello(hello) if !matches!(self.phase, Phase::Steady(_)) => self.meet(at, hello, text),
            Message::Hello(hello) if restarted || begins => {
                self.lost_power(at);
                self.meet(at, hello, text);
            }
            message => self.other_line(at, text, &message, missing, restarted),
        }
    }

    /// A line that came before counts once. One that was missing is told where no snapshot has shown yet what it
    /// did; another snapshot than the last one is worth nothing.
    fn out_of_order(&mut self, at: MonoTime, text: String, message: &Message, place: Place) {
        let Phase::Steady(steady) = &self.phase else { return };
        if place == Place::Again {
            self.again = self.again.saturating_add(1);
            return;
        }
        self.late = self.late.saturating_add(1);
        match message {
            Message::Peg(..) if !steady.gap => {}
            Message::Board(_) | Message::Beat(_) | Message::Hello(_) | Message::ForeignHello(_) => {}
            Message::Fault(word) => self.fault(at, text, word),
            _ => self.pass_on(at, text),
        }
    }

    fn other_line(&mut self, at: MonoTime, text: String, message: &Message, missing: u16, restarted: bool) {
        let is_snapshot = matches!(message, Message::Board(_) | Message::Beat(_));
        match &self.phase {
            // Nothing is known of who says this.
            Phase::Closed | Phase::Greeting { .. } => {}
            Phase::Meeting { .. } if is_snapshot => self.come_up(at, text),
            // The snapshot will show what pegs did.
            Phase::Meeting { .. } if matches!(message, Message::Peg(..)) => {}
            Phase::Meeting { .. } => match message {
                Message::Fault(word) => self.fault(at, text, word),
                _ => self.pass_on(at, text),
            },
            Phase::Steady(_) if restarted => {
                // Its hello was lost.
                self.lost_power(at);
                self.greet(at);
            }
            Phase::Steady(_) => {
                if missing > 0 {
                    self.note(at, json!({"what": "lost-lines", "n": missing}));
                }
                self.in_order(at, text, message, missing > 0);
            }
        }
    }

    fn in_order(&mut self, at: MonoTime, text: String, message: &Message, gap: bool) {
        let mut resynced = None;
        if let Phase::Steady(steady) = &mut self.phase {
            steady.wanted |= gap;
            steady.gap |= gap;
            if let Message::Board(snapshot) | Message::Beat(snapshot) = message {
                (steady.wanted, steady.asked) = (false, None);
                if std::mem::take(&mut steady.gap) {
                    let known = self.decoder.known().unwrap_or_default();
                    resynced = Some(known.differs(snapshot).count());
                }
            }
        }
        if let Some(n) = resynced {
            self.note(at, json!({"what": "snapshot-after-loss", "differs": n}));
        }
        match message {
            Message::Fault(word) => self.fault(at, text, word),
            _ => self.pass_on(at, text),
        }
    }

    /// What a board says of its holes holds until it says otherwise or introduces itself anew; it may say it again.
    fn fault(&mut self, at: MonoTime, text: String, word: &str) {
        let sees = match word {
            SENSOR => false,
            SENSOR_OK => true,
            _ => return self.pass_on(at, text),
        };
        if let Some(news) = self.sight.say(at, sees) {
            self.pass_on(at, text);
            self.tell_sight(at, news);
        }
    }

    /// Hands a line on when it says something new.
    fn pass_on(&mut self, at: MonoTime, text: String) {
        let mut news = Vec::new();
        self.decoder.push(&text, &mut news);
        if !news.is_empty() {
            self.hand_input(at, Input::Peg(Unit::A, text));
        }
    }

    fn foreign(&mut self, at: MonoTime, version: u32) {
        if !matches!(self.phase, Phase::Closed) {
            self.complain(at, Complaint::Version { theirs: version });
            self.greet(at.plus_ms(FOREIGN_MS));
        }
    }

    fn meet(&mut self, at: MonoTime, hello: Hello, line: String) {
        if !matches!(self.phase, Phase::Closed) {
            self.sight.introduced(at, self.up);
            self.phase = Phase::Meeting { hello, line, until: at.plus_ms(ANSWER_MS), tries: 0 };
        }
    }

    /// The board has started again in the middle of the game. One that does so again and again is down for its
    /// readers at most every [`CALM_MS`]; in between its first snapshot shows what was missed.
    fn lost_power(&mut self, at: MonoTime) {
        self.note(at, json!({"what": "restarted"}));
        if self.restart_told.is_some_and(|told| at < told.plus_ms(CALM_MS)) {
            self.down_since = self.down_since.or(Some(at));
            return;
        }
        self.restart_told = Some(at);
        self.down(at);
    }

    /// The first snapshot is here.
    fn come_up(&mut self, at: MonoTime, text: String) {
        let Phase::Meeting { hello, line, .. } = std::mem::replace(&mut self.phase, Phase::Closed) else {
            return;
        };
        let is_new = !self.up;
        if is_new {
            self.hand(at, Event::Link(true));
        }
        (self.up, self.told, self.complaint) = (true, true, None);
        self.tell_gap(at);
        self.pass_on(at, line);
        self.pass_on(at, text);
        let steady = Steady {
            beat_ms: u64::from(hello.beat_ms).clamp(200, 10_000),
            wanted: false,
            asked: None,
            next_ask: at,
            gap: false,
        };
        self.phase = Phase::Steady(steady);
        self.look_who(at, &hello.serial, is_new);
        if is_new && self.sight.stands() {
            self.tell(at, Complaint::Sensor);
        }
        self.queue.push_back(Action::Greet(hello));
    }

    /// Tells how long the board was away.
    fn tell_gap(&mut self, at: MonoTime) {
        if let Some(since) = self.down_since.take() {
            self.note(at, json!({"what": "gap", "gap_ms": at.since(since) / 1000}));
        }
    }

    /// Tells when another board is there than at first, and when that one is back.
    /// `is_new`: the link came anew, and what was told before went with it.
    fn look_who(&mut self, at: MonoTime, found: &str, is_new: bool) {
        let expected = self.serial.get_or_insert_with(|| found.to_owned()).clone();
        if expected != found {
            let stranger = Complaint::OtherBoard { expected, found: found.to_owned() };
            if self.stranger.replace(stranger.clone()).as_ref() != Some(&stranger) || is_new {
                self.tell(at, stranger);
            }
        } else if let Some(gone) = self.stranger.take() {
            self.handed = self.handed.max(at);
            self.queue.push_back(Action::Settle(at, gone));
        }
    }
}
