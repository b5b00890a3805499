//! What is correct and may not be what was meant.

use std::collections::BTreeMap;

use super::section::Section;
use crate::config::{BoardConfig, DgtEmulation};

/// `[http]` is late, and `[operator]` is off.
pub(super) fn nothing_is_live() -> String {
    "[http] is late and [operator] is off: /metrics and the clock page are served nowhere; set operator.enabled = true"
        .to_owned()
}

/// A service that is told where to listen, is off, and was not switched off.
pub(super) fn silent(section: &Section<'_>, name: &str, is_on: bool) -> Option<String> {
    let silent = !is_on && section.has("listen") && !section.has("enabled");
    silent.then(|| format!("{name}.listen is set and [{name}] is off; set {name}.enabled = true"))
}

/// A port for a board that is no DGT board.
pub(super) fn unused_port(board: &BoardConfig, all: &DgtEmulation) -> Option<String> {
    let port = board.emulation.port.as_ref()?;
    let off = match (all.enabled, board.emulation.enabled) {
        (true, true) => return None,
        (false, _) => "dgt-emulation.enabled",
        (true, false) => "board.dgt-emulation.enabled",
    };
    Some(format!("board {}: {} is not used; {off} is false", board.id, port.display()))
}

/// Boards whose games have the same tags Event, Round and Board: readers take them for one game.
pub(super) fn same_tags(boards: &[BoardConfig]) -> Vec<String> {
    let mut found: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for board in boards {
        let tags = &board.tags;
        found.entry((&tags.event, &tags.round, &tags.board)).or_default().push(board.id.as_str());
    }
    let same = found.into_iter().filter(|(_, boards)| boards.len() > 1);
    same.map(|((.., board), boards)| {
        format!(
            "the boards {} have the same tags Event, Round and Board ({:?}): readers of PGN take their games for one; give \
             each a board, or a group an event, of its own",
            boards.join(" and "),
            board.as_deref().unwrap_or_default()
        )
    })
    .collect()
}
