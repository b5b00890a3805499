//! The boards as DGT boards for other programs.

use std::path::PathBuf;

use crate::config::{BoardConfig, Config};

/// What holds for all boards (`dgt-emulation`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DgtEmulation {
    /// Boards are shown as DGT boards (`dgt-emulation.enabled`).
    pub enabled: bool,
    /// Where the links to the pseudo terminals are (`dgt-emulation.dir`); without it, the runtime directory that
    /// the service manager gives, or else `run` in the data directory.
    pub dir: Option<PathBuf>,
}

impl Default for DgtEmulation {
    fn default() -> DgtEmulation {
        DgtEmulation { enabled: true, dir: None }
    }
}

/// One board as a DGT board (`board.dgt-emulation`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardEmulation {
    /// This board is shown (`enabled`).
    pub enabled: bool,
    /// The serial device on which it is shown (`port`); without it, a pseudo terminal.
    pub port: Option<PathBuf>,
    /// It looks like a board with its connector at White's right hand (`flipped`).
    pub flipped: bool,
}

impl Default for BoardEmulation {
    fn default() -> BoardEmulation {
        BoardEmulation { enabled: true, port: None, flipped: false }
    }
}

impl Config {
    /// The name of the link to the terminal of a board: `dgt` where there is one board, else `dgt-` and its id.
    pub fn dgt_link(&self, board: &BoardConfig) -> String {
        if self.boards.len() == 1 { "dgt".to_owned() } else { format!("dgt-{}", board.id) }
    }

    /// True where a board is shown as a DGT board.
    pub const fn emulates(&self, board: &BoardConfig) -> bool {
        self.dgt_emulation.enabled && board.emulation.enabled
    }
}
