//! What a side can never mate with, wherever the men stand.

use shakmaty::{Bitboard, Board, Color};

use super::Why;

/// The reason why `side` cannot mate with these men, if it is one that needs no look at their places.
///
/// These are the only cases: any other material mates from some placement.
pub(super) fn cannot_mate(board: &Board, side: Color) -> Option<Why> {
    let (own, other) = (board.by_color(side), board.by_color(!side));
    let men = own & !board.kings();
    if men.is_empty() {
        return Some(Why::BareKing);
    }
    if men.intersects(board.pawns() | board.rooks_and_queens()) {
        return None;
    }
    if men.intersects(board.knights()) {
        let lone = !men.more_than_one() && other.is_subset(board.kings() | board.queens());
        return lone.then_some(Why::LoneKnight);
    }
    let bishops = board.bishops();
    let one_colour =
        bishops.is_disjoint(Bitboard::DARK_SQUARES) || bishops.is_disjoint(Bitboard::LIGHT_SQUARES);
    let nobody_in_the_way = (board.knights() | board.pawns()).is_empty();
    (one_colour && nobody_in_the_way).then_some(Why::BishopsOfOneColour)
}

/// The side that has more to mate with.
pub(super) fn stronger(board: &Board) -> Color {
    let worth = |color: Color| {
        let own = board.by_color(color);
        let count = |men: Bitboard| (own & men).count();
        9 * count(board.queens())
            + 5 * count(board.rooks())
            + 4 * count(board.pawns())
            + 3 * count(board.bishops() | board.knights())
    };
    if worth(Color::Black) > worth(Color::White) { Color::Black } else { Color::White }
}
