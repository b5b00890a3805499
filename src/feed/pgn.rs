//! PGN.

use crate::publish::BoardState;

/// The PGN of the published game, with `[%clk]` where times are known.
pub fn pgn_of(state: &BoardState) -> String {
    let _ = state;
    String::new()
}
