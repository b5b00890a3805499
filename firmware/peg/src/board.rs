//! The board: contacts and requests in, lines out.

use crate::{
    debounce::Debounce,
    line::Line,
    message::{Fault, Hello, Identity, Message, Peg, Side, Snapshot, SquareIndex, encode},
    queue::{Queue, Waiting, What},
    request::{Request, Requests},
};

/// How many keys a board may have.
pub const MAX_KEYS: usize = 32;

/// What a key, a lever or a button at the board is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// The clock lever of a player: closes when the player presses.
    Press(Side),
    /// A button, by the name that the host knows.
    Button(&'a str),
}

/// Times of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// For how many milliseconds a peg has to rest in its hole, and a key has to be held, to count.
    pub close_ms: u16,
    /// For how many milliseconds a peg has to be out of its hole.
    pub open_ms: u16,
    /// Milliseconds from one heartbeat to the next; 200 to 10000.
    pub beat_ms: u16,
}

impl Default for Settings {
    /// 5 ms closing, 15 ms opening, a heartbeat each second.
    fn default() -> Settings {
        Settings { close_ms: 5, open_ms: 15, beat_ms: 1000 }
    }
}

/// What the contacts of the holes read: bit 0 is a1, bit 63 is h8, a set bit is a closed contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holes {
    /// The contact that is closed while a peg is in the hole.
    pub filled: u64,
    /// The contact at the bottom that only a peg all the way in closes, where there is one.
    pub seated: Option<u64>,
}

impl Holes {
    /// Holes with one contact each.
    pub const fn of(filled: u64) -> Holes {
        Holes { filled, seated: None }
    }
}

/// Both contacts of all holes, debounced.
#[derive(Clone, Debug)]
struct Contacts {
    filled: Debounce,
    seated: Option<Debounce>,
}

impl Contacts {
    fn snapshot(&self) -> Snapshot {
        let filled = self.filled.settled();
        Snapshot { filled, half: self.seated.as_ref().map(|seated| filled & !seated.settled()) }
    }
}

/// A pegged board. The numbers of its lines begin with 0 when it is made, which is how the host learns of
/// a restart.
#[derive(Clone, Debug)]
pub struct Board<'a> {
    identity: Identity<'a>,
    settings: Settings,
    keys: &'a [Key<'a>],
    /// Nothing before the first scan.
    contacts: Option<Contacts>,
    key_contacts: Debounce,
    requests: Requests,
    queue: Queue,
    seq: u16,
    hello_due: bool,
    board_due: bool,
    fault: Option<Fault>,
    /// The holes cannot be read; to be told, and told again behind the snapshot of an introduction.
    blind: bool,
    sight_due: bool,
    introduced: bool,
    /// When the last line but an answer was sent.
    last_beat: u32,
}

impl<'a> Board<'a> {
    /// A board that has just started. Of `keys` the first [`MAX_KEYS`] count; key n is bit n of the keys
    /// that are scanned.
    pub const fn new(identity: Identity<'a>, settings: Settings, keys: &'a [Key<'a>]) -> Board<'a> {
        Board {
            identity,
            settings,
            keys,
            contacts: None,
            key_contacts: Debounce::new(0, settings.close_ms, settings.open_ms),
            requests: Requests::new(),
            queue: Queue::new(),
            seq: 0,
            hello_due: true,
            board_due: true,
            fault: None,
            blind: false,
            sight_due: false,
            introduced: false,
            last_beat: 0,
        }
    }

    /// Takes a scan of all contacts, best one each millisecond. `now_ms` counts milliseconds from the
    /// start and may wrap. The first scan is taken as it is.
    pub fn scan(&mut self, now_ms: u32, holes: Holes, keys: u32) {
        let Settings { close_ms, open_ms, .. } = self.settings;
        let Some(contacts) = &mut self.contacts else {
            self.contacts = Some(Contacts {
                filled: Debounce::new(holes.filled, close_ms, open_ms),
                seated: holes.seated.map(|seated| Debounce::new(seated, close_ms, open_ms)),
            });
            // A key that is held while the board starts was not pressed now.
            self.key_contacts = Debounce::new(u64::from(keys), close_ms, open_ms);
            self.last_beat = now_ms;
            return;
        };
        let before = contacts.snapshot();
        contacts.filled.update(now_ms, holes.filled);
        if let (Some(debounce), Some(seated)) = (&mut contacts.seated, holes.seated) {
            debounce.update(now_ms, seated);
        }
        let after = contacts.snapshot();
        self.note_pegs(now_ms, before, after);
        let changed = self.key_contacts.update(now_ms, u64::from(keys));
        let pressed = changed & self.key_contacts.settled();
        if pressed != 0 {
            self.note_keys(now_ms, pressed);
        }
    }

    fn note_pegs(&mut self, ms: u32, before: Snapshot, after: Snapshot) {
        let changed = (before.filled ^ after.filled) | (before.half.unwrap_or(0) ^ after.half.unwrap_or(0));
        if changed == 0 {
            return;
        }
        for index in 0..64u8 {
            let bit = 1u64.wrapping_shl(u32::from(index));
            let Some(square) = SquareIndex::new(index).filter(|_| changed & bit != 0) else { continue };
            let peg = if after.filled & bit == 0 {
                Peg::Out
            } else if after.half.unwrap_or(0) & bit != 0 {
                Peg::Half
            } else {
                Peg::In
            };
            self.queue.push(Waiting { ms, what: What::Peg(square, peg) });
        }
    }

    fn note_keys(&mut self, ms: u32, pressed: u64) {
        for (index, key) in (0..MAX_KEYS as u8).zip(self.keys) {
            if pressed.wrapping_shr(u32::from(index)) & 1 == 1 {
                let what = match key {
                    Key::Press(side) => What::Press(*side),
                    Key::Button(_) => What::Key(index),
                };
                self.queue.push(Waiting { ms, what });
            }
        }
    }

    /// Takes a byte that the host sent.
    pub fn receive(&mut self, byte: u8) {
        match self.requests.push(byte) {
            None => {}
            Some(Request::Hello) => {
                self.hello_due = true;
                self.board_due = true;
            }
            Some(Request::Board) => self.board_due = true,
            Some(Request::Unknown) => self.fault = Some(Fault::Request),
        }
    }

    /// Tells that something is wrong with the board, or that the holes can be read again. What is said of the
    /// holes is said again behind each introduction for as long as it holds.
    pub fn report(&mut self, fault: Fault) {
        match fault {
            Fault::Sensor => (self.blind, self.sight_due) = (true, true),
            Fault::SensorOk => (self.blind, self.sight_due, self.board_due) = (false, true, true),
            Fault::Overflow | Fault::Request => self.fault = Some(fault),
        }
    }

    /// The next line to send, in order; asked again until there is none, and only when the serial port
    /// has room for it. Changes go first, so that a snapshot never shows one that was not told yet.
    pub fn next_line(&mut self, now_ms: u32) -> Option<Line> {
        let snapshot = self.contacts.as_ref()?.snapshot();
        if let Some(Waiting { ms, what }) = self.queue.pop() {
            return Some(self.tell(ms, what));
        }
        if self.queue.take_overflow() {
            // The numbers of the lines show that some are missing.
            self.seq = self.seq.wrapping_add(1);
            self.board_due = true;
            return Some(self.line(now_ms, &Message::Fault(Fault::Overflow)));
        }
        if let Some(fault) = self.fault.take() {
            return Some(self.line(now_ms, &Message::Fault(fault)));
        }
        if core::mem::take(&mut self.sight_due) {
            let fault = if self.blind { Fault::Sensor } else { Fault::SensorOk };
            return Some(self.line(now_ms, &Message::Fault(fault)));
        }
        if core::mem::take(&mut self.hello_due) {
            self.introduced = true;
            let hello = self.hello(snapshot.half.is_some());
            return Some(self.line(now_ms, &Message::Hello(hello)));
        }
        if core::mem::take(&mut self.board_due) {
            self.sight_due = core::mem::take(&mut self.introduced) && self.blind;
            return Some(self.line(now_ms, &Message::Board(snapshot)));
        }
        if now_ms.wrapping_sub(self.last_beat) >= u32::from(self.beat_ms()) {
            self.last_beat = now_ms;
            return Some(self.line(now_ms, &Message::Beat(snapshot)));
        }
        None
    }

    fn tell(&mut self, ms: u32, what: What) -> Line {
        let message = match what {
            What::Peg(square, peg) => Message::Peg(square, peg),
            What::Press(side) => Message::Press(side),
            What::Key(index) => match self.keys.get(usize::from(index)) {
                Some(Key::Button(name)) => Message::Button(name),
                Some(Key::Press(side)) => Message::Press(*side),
                None => Message::Fault(Fault::Sensor),
            },
        };
        self.line(ms, &message)
    }

    fn line(&mut self, ms: u32, message: &Message<'_>) -> Line {
        let line = encode(self.seq, ms, message);
        self.seq = self.seq.wrapping_add(1);
        line
    }

    fn hello(&self, half: bool) -> Hello<'a> {
        let Settings { close_ms, open_ms, .. } = self.settings;
        Hello { identity: self.identity, close_ms, open_ms, beat_ms: self.beat_ms(), half }
    }

    const fn beat_ms(&self) -> u16 {
        match self.settings.beat_ms {
            ..200 => 200,
            10_001.. => 10_000,
            beat_ms => beat_ms,
        }
    }
}

#[cfg(test)]
mod tests;
