//! A whole log through everything that `replay` prints.

use std::io::Cursor;

use touchmoved::{
    journal::replay::{ItemKind, read},
    replay::{Emit, Replay},
};

/// Any text as a log, with any set-up that its header asks for: every form of output ends without
/// a panic.
pub fn replay_log(data: &[u8]) {
    for emit in [Emit::Moves, Emit::States, Emit::Facts, Emit::Pgn, Emit::Uci] {
        let Ok(mut log) = read("log", Box::new(Cursor::new(data.to_vec()))) else { return };
        let Ok(mut replay) = Replay::new(log.setup(), emit, None) else { return };
        while let Ok(Some(item)) = log.next_item() {
            if let ItemKind::Input(input) = item.kind {
                replay.input(item.at, &input).unwrap();
            }
        }
        replay.finish().unwrap();
        let _ = replay.take_output();
    }
}
