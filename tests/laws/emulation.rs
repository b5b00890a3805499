//! The board that is played for other programs.

use shakmaty::{Board, Color};
use touchmoved::{
    session::time::MonoTime,
    wire::dgt::{
        Message,
        emulate::{Emulator, Identity, Times},
        message::Dump,
    },
};

use super::choices::Choices;

const PLACEMENTS: [&str; 4] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR",
    "8/8/8/8/8/8/8/8",
    "4k3/8/8/3p4/4P3/8/8/4K3",
];

/// Longest wait for what was asked: as many orders as may wait, each with an acknowledgement.
const PATIENCE: usize = 300;

/// Whatever a client sends, in whatever portions, with whatever pauses, room and events between: what leaves is
/// never more than the room, and after a reset the board is told as it is and nothing leaves by itself.
pub fn dgt_emulation(data: &[u8]) {
    let mut choices = Choices::new(data);
    let turned = choices.byte() % 2 == 1;
    let rest = choices.rest();
    let mut emulator = Emulator::new(Identity::new(1025), turned);
    let mut board: Board = PLACEMENTS[0].parse().unwrap();
    let mut now = 0;
    let mut out = Vec::new();
    emulator.set_board(at(now), &board);
    for portion in rest.chunks(9) {
        let [what, bytes @ ..] = portion else { continue };
        now += u64::from(*what) * 2;
        match what % 8 {
            0 => {
                board = PLACEMENTS[usize::from(what / 8) % PLACEMENTS.len()].parse().unwrap();
                emulator.set_board(at(now), &board);
            }
            1 => {
                let running = [None, Some(Color::White), Some(Color::Black)][usize::from(what / 8) % 3];
                let ms = u64::from(*what) * 100;
                let times = Times { white_ms: ms, black_ms: 7_000, running, delay_ms: 0, at: at(now) };
                emulator.set_clock(at(now), (what / 64 != 3).then_some(times), true);
            }
            2 => emulator.hang_up(),
            _ => {}
        }
        emulator.receive(at(now), bytes);
        let room = usize::from(*what) * 64;
        let before = out.len();
        emulator.advance(at(now), room, &mut out);
        assert!(out.len() - before <= room);
    }
    assert!(emulator.deadline(at(now)).is_none_or(|due| due <= at(now).plus_ms(100_000)));
    tells_the_board(&mut emulator, now, &board, turned);
}

fn tells_the_board(emulator: &mut Emulator, mut now: u64, board: &Board, turned: bool) {
    let mut out = Vec::new();
    for _ in 0..PATIENCE {
        now += 300;
        emulator.advance(at(now), 1 << 20, &mut out);
    }
    emulator.receive(at(now), &[0x40]);
    emulator.advance(at(now), 1 << 20, &mut out);
    out.clear();
    emulator.receive(at(now), &[0x42]);
    emulator.advance(at(now), 1 << 20, &mut out);
    let mut dump = Dump::of(board);
    if turned {
        dump.0.reverse();
    }
    assert_eq!(out, Message::Board(Box::new(dump)).encode());
    assert_eq!(emulator.deadline(at(now)), None, "a reset board is silent");
}

fn at(ms: u64) -> MonoTime {
    MonoTime::ZERO.plus_ms(ms)
}
