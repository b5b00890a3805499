//! The board as one of many on a bus. Every command names a board and gets one answer, with a sum behind it.

use super::{DRAUGHTS, Emulator, Mode, ROOM, VERSION, Way, input::sum_of};
use crate::{
    session::time::MonoTime,
    wire::dgt::{frame, storage::Mark},
};

/// Up to where the memory was sent. Places are counted as the memory counts them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places {
    /// The last packet of changes.
    packet: (u64, u64),
    /// Where the game began.
    start: u64,
    /// The next ping to all boards is not answered.
    ignores_ping: bool,
}

const SEND_CLOCK: u8 = 0x81;
const SEND_BOARD: u8 = 0x82;
const SEND_CHANGES: u8 = 0x83;
const REPEAT_CHANGES: u8 = 0x84;
const SET_START: u8 = 0x85;
const SEND_FROM_START: u8 = 0x86;
const PING: u8 = 0x87;
const END: u8 = 0x88;
const RESET: u8 = 0x89;
const IGNORE_NEXT_PING: u8 = 0x8a;
const SEND_VERSION: u8 = 0x8b;
const SEND_DRAUGHTS: u8 = 0x8c;
const SEND_ALL: u8 = 0x8d;

impl Emulator {
    /// Does a bus command; false when its answer finds no room yet.
    pub(super) fn obey_on_bus(
        &mut self,
        command: u8,
        address: u16,
        now: MonoTime,
        way: &mut Way<'_>,
    ) -> bool {
        let everybody = address == 0;
        if !everybody && address != self.identity.address() {
            return true;
        }
        if everybody && !matches!(command, PING | END | RESET) {
            return true;
        }
        // No packet is longer than the memory; SEND_ALL adds a position and the clock.
        if way.room() < ROOM + 128 {
            return false;
        }
        match command {
            PING if everybody && std::mem::take(&mut self.bus.ignores_ping) => {}
            PING => self.reply(0x87, &[], way),
            IGNORE_NEXT_PING => {
                self.bus.ignores_ping = true;
                self.reply(0x87, &[], way);
            }
            END => self.enter(Mode::Idle),
            RESET => {
                self.bus.ignores_ping = false;
                self.log.all_men(Mark::PowerUp, &self.squares, now);
            }
            SEND_CLOCK => self.reply(0x84, &self.shown_bytes(now), way),
            SEND_BOARD => self.reply_board(way),
            SEND_CHANGES => self.reply_changes(way),
            REPEAT_CHANGES => self.reply_packet(way),
            SET_START => {
                self.bus.start = self.log.end();
                self.log.all_men(Mark::StartTag, &self.squares, now);
                self.reply(0x88, &[], way);
            }
            SEND_FROM_START => {
                let sent = self.log.between(self.bus.start, self.bus.packet.1);
                self.reply(0x86, &sent, way);
            }
            SEND_VERSION => self.reply(0x89, &[VERSION.0, VERSION.1], way),
            SEND_DRAUGHTS => self.reply(0x8a, &[0; DRAUGHTS], way),
            SEND_ALL => {
                self.reply_changes(way);
                self.reply(0x84, &self.shown_bytes(now), way);
                self.reply_board(way);
            }
            _ => {}
        }
        true
    }

    fn reply_board(&self, way: &mut Way<'_>) {
        self.reply(0x83, &self.squares.map(|reading| reading.code()), way);
    }

    /// What happened since the last time.
    fn reply_changes(&mut self, way: &mut Way<'_>) {
        self.bus.packet = (self.bus.packet.1, self.log.end());
        self.reply_packet(way);
    }

    fn reply_packet(&self, way: &mut Way<'_>) {
        let (from, to) = self.bus.packet;
        self.reply(0x85, &self.log.between(from, to), way);
    }

    fn reply(&self, id: u8, data: &[u8], way: &mut Way<'_>) {
        let address = self.identity.address();
        let part = |part: u16| (part & 0x7f).to_le_bytes()[0];
        let mut payload = vec![part(address >> 7), part(address)];
        payload.extend(data);
        // The sum stands in for itself while the length is counted.
        payload.push(0);
        let mut message = frame::encode(id, &payload);
        let sum = message.pop().map(|_| sum_of(&message));
        message.extend(sum);
        way.send(|| message);
    }
}
