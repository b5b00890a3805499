//! What a single board does with its orders, one at a time and in their order.

use super::{DRAUGHTS, Emulator, Mode, ROOM, VERSION, Way, input::Order};
use crate::{
    session::time::MonoTime,
    wire::dgt::{
        Command, Message,
        clock::{Ack, Clock},
        frame,
        message::{Battery, Dump},
    },
};

/// A clock acknowledges so long after it was told, in milliseconds: some programs do not listen before.
pub(super) const ACK_MS: u64 = 30;

/// Version of the hardware: there is none.
const HARDWARE: (u8, u8) = (1, 0);

/// Version of the clock, in the form of its acknowledgement.
const CLOCK_VERSION: u8 = 0x20;

impl Emulator {
    /// Does one order; false when it has to wait, for its time or for room.
    pub(super) fn obey(&mut self, order: Order, now: MonoTime, way: &mut Way<'_>) -> bool {
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
            // To be set, too: 0x40 is what a clock says that is not in its remote mode.
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
}
