//! Reads `[dgt-emulation]` and `[board.dgt-emulation]`.

use std::path::{Path, PathBuf};

use super::{Uses, path, release, section::Section};
use crate::{
    config::{
        emulation::{BoardEmulation, DgtEmulation},
        sensor::PortName,
    },
    publish::release::Delay,
};

/// What holds for all boards, and how far they stay behind. What is shown is no move, so there is no threshold.
pub(super) fn all(root: &Section<'_>, base: &Path, otherwise: Delay) -> (DgtEmulation, Delay) {
    let section = root.section("dgt-emulation");
    let enabled = section.boolean("enabled").unwrap_or(true);
    let dir = path(&section, "dir", base);
    if dir.as_ref().is_some_and(|dir| dir.as_os_str() == "-") {
        section.problem("dir", "expected a directory, found \"-\"");
    }
    let delay = release::delay(&section, otherwise);
    section.finish();
    (DgtEmulation { enabled, dir }, delay)
}

/// One board.
pub(super) fn board(board: &Section<'_>, id: &str, uses: &mut Uses) -> BoardEmulation {
    let section = board.section("dgt-emulation");
    let enabled = section.boolean("enabled").unwrap_or(true);
    let port = section.text("port").and_then(|text| port(&section, text, id, uses));
    let flipped = section.boolean("flipped").unwrap_or(false);
    section.finish();
    BoardEmulation { enabled, port, flipped }
}

fn port(section: &Section<'_>, text: &str, id: &str, uses: &mut Uses) -> Option<PathBuf> {
    if !text.starts_with('/') {
        let message =
            format!("expected the full path of a serial device, such as \"/dev/ttyGS0\", found {text:?}");
        section.problem("port", message);
        return None;
    }
    let path = PathBuf::from(text);
    let name = PortName::Path(path.clone());
    if let Some((other, line)) = uses.claim(format!("port {name}"), id, section.line()) {
        let message = format!("{name} is used by board {other} (line {line}) already; one port, one board");
        section.problem("port", message);
    }
    Some(path)
}
