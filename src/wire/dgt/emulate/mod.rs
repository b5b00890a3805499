//! The board's side of the protocol: what a program that expects a DGT board gets from this one.
//!
//! ```text
//!  bytes of the client ─► input::Input ─► orders ─┐
//!  placement, times ────────────────────────────► Emulator::advance ─► bytes for the client
//! ```
//!
//! Pure. Nothing leaves but through [`Emulator::advance`], which is told how much room there is: what finds
//! none is not built, so a client that does not read costs no memory, and what it gets later is what is true
//! then.

mod bus;
mod face;
mod input;
mod log;
mod single;

use std::collections::VecDeque;

use shakmaty::{Board, Color};

use self::{
    face::Face,
    input::{Input, Order},
    log::{Log, Squares},
};
use super::{
    Message, clock,
    clock::Clock,
    frame,
    message::{Dump, Reading, square_of},
    storage::Mark,
};
use crate::session::time::MonoTime;

pub use self::face::Times;

/// Room that every answer finds: the whole memory is the longest one.
pub const ROOM: usize = log::CAPACITY + 64;

/// Orders that wait. A real board has room for ten bytes; what comes on top is lost there, too.
const ORDERS: usize = 256;

/// Changes of squares that wait for room. With more, the client gets what is different in the end.
const CHANGES: usize = 256;

/// The clock is told this often in the mode that tells it at least once a second, in milliseconds.
const REGULAR_MS: u64 = 500;

/// Version of the board that is played, from which on programs know its messages.
const VERSION: (u8, u8) = (1, 2);

/// The two draughts positions, and how many squares they have.
const DRAUGHTS: usize = 50;

/// Who the board is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    number: u32,
}

impl Identity {
    /// A board with this serial number, of which the last five digits count.
    pub const fn new(number: u32) -> Identity {
        Identity { number: number % 100_000 }
    }

    /// Its address on a bus: 14 bits, never that of all boards.
    pub fn address(&self) -> u16 {
        u16::try_from(self.number & 0x3fff).unwrap_or(1).max(1)
    }

    /// The text about the maker. It is our own: nobody is told that this is a board of another maker.
    fn trademark(&self) -> String {
        let (major, minor) = VERSION;
        format!(
            "touchmoved {}\r\nA program that plays a board\r\nVs {major}.{minor:02}\r\nSerial nr. {:05} 1.0",
            env!("CARGO_PKG_VERSION"),
            self.number
        )
    }
}

/// What the board tells by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Nothing: it is one of many on a bus.
    Bus,
    /// Nothing.
    Idle,
    /// Squares.
    Board,
    /// Squares, and the clock again and again.
    Regular,
    /// Squares, and the clock when it changed.
    Nice,
}

impl Mode {
    const fn streams(self) -> bool {
        matches!(self, Mode::Board | Mode::Regular | Mode::Nice)
    }

    const fn tells_clock(self) -> bool {
        matches!(self, Mode::Regular | Mode::Nice)
    }
}

/// A board that is no board.
#[derive(Clone, Debug)]
pub struct Emulator {
    identity: Identity,
    /// The connector is at White's right hand: squares and sides of the clock are turned.
    turned: bool,
    input: Input,
    orders: VecDeque<Order>,
    mode: Mode,
    squares: Squares,
    /// What stands there was never told: the board has just been switched on.
    blank: bool,
    /// What the client knows of the squares, once it was told all of them.
    told: Option<Box<Squares>>,
    changes: VecDeque<(u8, Reading)>,
    clock: Option<Face>,
    /// The clock as it was told last in this mode, and when.
    said: Option<(Clock, MonoTime)>,
    /// When the clock acknowledges the first of the orders.
    ack: Option<MonoTime>,
    log: Log,
    bus: bus::Places,
}

impl Emulator {
    /// A board that was just switched on, in bus mode, without a man on it.
    pub fn new(identity: Identity, turned: bool) -> Emulator {
        Emulator {
            identity,
            turned,
            input: Input::default(),
            orders: VecDeque::new(),
            mode: Mode::Bus,
            squares: [Reading::Empty; 64],
            blank: true,
            told: None,
            changes: VecDeque::new(),
            clock: None,
            said: None,
            ack: None,
            log: Log::default(),
            bus: bus::Places::default(),
        }
    }

    /// Takes what a client sent.
    pub fn receive(&mut self, now: MonoTime, bytes: &[u8]) {
        let Emulator { input, orders, .. } = self;
        input.push(now, bytes, &mut |order| wait(orders, order));
    }

    /// The client is gone: the next one finds the board as it is after power-up, with its memory.
    pub fn hang_up(&mut self) {
        self.input.reset();
        self.orders.clear();
        self.ack = None;
        self.enter(Mode::Bus);
    }

    /// What stands on the board now.
    pub fn set_board(&mut self, now: MonoTime, board: &Board) {
        let mut next = Dump::of(board).0;
        if self.turned {
            next.reverse();
        }
        if self.blank {
            self.blank = false;
            self.squares = next;
            self.log.all_men(Mark::PowerUp, &next, now);
            return;
        }
        let before = std::mem::replace(&mut self.squares, next);
        // A square that became empty was so before another one was taken.
        for (number, reading) in differences(&before, &next) {
            if let Some(square) = square_of(number) {
                self.log.field(square, reading, now);
            }
            if self.mode.streams() {
                self.changes.push_back((number, reading));
            }
        }
        self.log.position(&next);
        if self.changes.len() > CHANGES {
            self.compare();
        }
    }

    /// What the clock tells; nothing where there is none. `per_move`: each move adds time.
    pub fn set_clock(&mut self, now: MonoTime, times: Option<Times>, per_move: bool) {
        let press = match (&mut self.clock, times) {
            (Some(face), Some(times)) => face.take(times, per_move, now),
            (_, None) => {
                self.clock = None;
                None
            }
            (None, Some(times)) => {
                self.clock = Some(Face::new(times, per_move));
                None
            }
        };
        if let Some(press) = press {
            self.log.press(press, press.by != self.left());
        }
    }

    /// Does what is due at `now` and adds what leaves to `out`, at most `room` bytes.
    pub fn advance(&mut self, now: MonoTime, room: usize, out: &mut Vec<u8>) {
        let Emulator { input, orders, .. } = self;
        input.expire(now, &mut |order| wait(orders, order));
        let limit = out.len().saturating_add(room);
        let mut way = Way { out, limit };
        self.tell_changes(&mut way);
        while let Some(order) = self.orders.front().copied() {
            if !self.obey(order, now, &mut way) {
                break;
            }
            self.orders.pop_front();
            self.ack = None;
            self.tell_changes(&mut way);
            self.tell_clock(now, &mut way);
        }
        self.tell_clock(now, &mut way);
    }

    /// When [`Emulator::advance`] is due next, if nothing happens before.
    pub fn deadline(&self, now: MonoTime) -> Option<MonoTime> {
        let clock = || {
            if !self.mode.tells_clock() {
                return None;
            }
            let change = self.clock.as_ref().and_then(|face| face.next_change(now));
            let regular = self.said.filter(|_| self.mode == Mode::Regular);
            change.into_iter().chain(regular.map(|(_, at)| at.plus_ms(REGULAR_MS))).min()
        };
        [self.input.deadline(), self.ack, clock()].into_iter().flatten().min()
    }

    fn enter(&mut self, mode: Mode) {
        self.mode = mode;
        self.changes.clear();
        self.said = None;
        if mode == Mode::Bus {
            self.told = None;
        }
        if mode.streams() {
            self.told.get_or_insert_with(|| Box::new(self.squares));
            self.compare();
        }
    }

    /// Puts what is different from what the client knows in the place of the changes that wait.
    fn compare(&mut self) {
        if let Some(told) = &self.told {
            self.changes = differences(told, &self.squares).into();
        }
    }

    fn tell_changes(&mut self, way: &mut Way<'_>) {
        while let Some((number, reading)) = self.changes.front().copied() {
            if !way.send(|| frame::encode(0x8e, &[number, reading.code()])) {
                return;
            }
            if let Some(known) = self.told.as_mut().and_then(|told| told.get_mut(usize::from(number))) {
                *known = reading;
            }
            self.changes.pop_front();
        }
    }

    /// Tells the clock where the mode says so and there is something to tell.
    fn tell_clock(&mut self, now: MonoTime, way: &mut Way<'_>) {
        if !self.mode.tells_clock() {
            return;
        }
        let shown = self.shown(now);
        let due = match self.said {
            None => true,
            Some((said, at)) => {
                said != shown || (self.mode == Mode::Regular && now.since(at) >= REGULAR_MS * 1000)
            }
        };
        if due && way.send(|| Message::Clock(shown).encode()) {
            self.said = Some((shown, now));
        }
    }

    fn shown(&self, now: MonoTime) -> Clock {
        self.clock.as_ref().map_or(Clock::Absent, |face| face.shown(self.left(), now))
    }

    fn shown_bytes(&self, now: MonoTime) -> [u8; 7] {
        clock::encode(&self.shown(now))
    }

    /// The player at the left of the clock, which stays at the side of the connector.
    const fn left(&self) -> Color {
        if self.turned { Color::Black } else { Color::White }
    }
}

/// Where bytes leave.
struct Way<'o> {
    out: &'o mut Vec<u8>,
    limit: usize,
}

impl Way<'_> {
    fn room(&self) -> usize {
        self.limit.saturating_sub(self.out.len())
    }

    /// Sends a whole message, or nothing where it finds no room.
    fn send(&mut self, message: impl FnOnce() -> Vec<u8>) -> bool {
        let message = message();
        let fits = message.len() <= self.room();
        if fits {
            self.out.extend(message);
        }
        fits
    }
}

fn wait(orders: &mut VecDeque<Order>, order: Order) {
    if orders.len() < ORDERS {
        orders.push_back(order);
    }
}

/// The squares that read something else, those first that became empty.
fn differences(before: &Squares, after: &Squares) -> Vec<(u8, Reading)> {
    let changed = (0u8..64).zip(before.iter().zip(after)).filter(|(_, (before, after))| before != after);
    let (mut left, came): (Vec<_>, Vec<_>) =
        changed.map(|(number, (_, after))| (number, *after)).partition(|(_, after)| *after == Reading::Empty);
    left.extend(came);
    left
}

#[cfg(test)]
mod tests;
