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

use std::collections::VecDeque;

use shakmaty::{Board, Color};

use self::{
    face::Face,
    input::{Input, Order},
    log::{Log, Squares},
};
use super::{
    Command, Message, clock,
    clock::{Ack, Clock},
    frame,
    message::{Battery, Dump, Reading, square_of},
    set_clock::SET_AND_RUN,
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

/// A clock acknowledges so long after it was told, in milliseconds: some programs do not listen before.
const ACK_MS: u64 = 30;

/// The clock is told at least this often in the mode that says so, in milliseconds.
const REGULAR_MS: u64 = 1000;

/// Version of the board that is played, from which on programs know its messages.
const VERSION: (u8, u8) = (1, 2);

/// Version of the hardware: there is none.
const HARDWARE: (u8, u8) = (1, 0);

/// Version of the clock, in the form of its acknowledgement.
const CLOCK_VERSION: u8 = 0x20;

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

    /// Does one order; false when it has to wait, for its time or for room.
    fn obey(&mut self, order: Order, now: MonoTime, way: &mut Way<'_>) -> bool {
        match order {
            Order::Bus { command, address } if self.mode == Mode::Bus => {
                return self.obey_on_bus(command, address, now, way);
            }
            // The first bus command takes the board back to the bus and does nothing more.
            Order::Bus { .. } => self.enter(Mode::Bus),
            Order::Leds => self.alone(),
            Order::Clock(sub) => {
                self.alone();
                if self.mode.tells_clock() && self.clock.is_some() {
                    return self.acknowledge(sub, now, way);
                }
            }
            Order::Single(byte) => match Command::from_byte(byte) {
                Some(command) => return self.command(command, now, way),
                // Draughts: no such man stands here. What would store a position, and what would leave the
                // program of the board, does nothing.
                None if matches!(byte, 0x50 | 0x52) => {
                    self.alone();
                    let id = if byte == 0x50 { 0x94 } else { 0x95 };
                    return way.send(|| frame::encode(id, &[0; DRAUGHTS]));
                }
                None if matches!(byte, 0x4e | 0x51 | 0x53 | 0x54) => self.alone(),
                None => {}
            },
        }
        true
    }

    fn command(&mut self, command: Command, now: MonoTime, way: &mut Way<'_>) -> bool {
        if command != Command::ToBusMode {
            self.alone();
        }
        let mode = match command {
            Command::Reset => Mode::Idle,
            Command::ToBusMode => Mode::Bus,
            Command::Update => Mode::Regular,
            Command::UpdateBoard => Mode::Board,
            Command::UpdateNice => Mode::Nice,
            _ => return self.answer(command, now, way),
        };
        self.enter(mode);
        true
    }

    fn answer(&mut self, command: Command, now: MonoTime, way: &mut Way<'_>) -> bool {
        let message = match command {
            Command::SendBoard => Message::Board(Box::new(Dump(self.squares))),
            Command::SendClock => Message::Clock(self.shown(now)),
            Command::Serial => Message::Serial(format!("{:05}", self.identity.number)),
            Command::LongSerial => Message::LongSerial(format!("{:010}", self.identity.number)),
            Command::BusAddress => Message::BusAddress(self.identity.address()),
            Command::Trademark => Message::Trademark(self.identity.trademark()),
            Command::Version => Message::Version(VERSION.0, VERSION.1),
            Command::HardwareVersion => Message::HardwareVersion(HARDWARE.0, HARDWARE.1),
            // Nothing here runs down.
            Command::Battery => Message::Battery(Battery { percent: 100, ..Battery::default() }),
            Command::StorageLog if way.room() >= ROOM => Message::StorageLog(self.log.download()),
            Command::StorageLog => return false,
            Command::Reset
            | Command::ToBusMode
            | Command::Update
            | Command::UpdateBoard
            | Command::UpdateNice => return true,
        };
        if !way.send(|| message.encode()) {
            return false;
        }
        match message {
            Message::Board(dump) => {
                self.told = Some(Box::new(dump.0));
                self.changes.clear();
            }
            Message::Clock(clock) if self.mode.tells_clock() => self.said = Some((clock, now)),
            _ => {}
        }
        true
    }

    /// The clock answers a little later. It shows nothing of what it was told, and it is in no mode in which it
    /// could be set: a program at this port must not change the players' times.
    fn acknowledge(&mut self, sub: u8, now: MonoTime, way: &mut Way<'_>) -> bool {
        if now < *self.ack.get_or_insert(now.plus_ms(ACK_MS)) {
            return false;
        }
        let ack = match sub {
            0x09 => [0x10, sub, CLOCK_VERSION, 0],
            0x01..=0x03 | 0x08 | 0x0b..=0x0d => [0x10, sub, 0, 0],
            SET_AND_RUN => [0x40, sub, 0, 0],
            _ => [0x40, sub, 0, 0],
        };
        way.send(|| Message::Clock(Clock::Ack(Ack(ack))).encode())
    }

    /// A command to a single board takes the board off the bus.
    fn alone(&mut self) {
        if self.mode == Mode::Bus {
            self.enter(Mode::Idle);
        }
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
