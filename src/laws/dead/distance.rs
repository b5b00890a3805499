//! How many moves a man needs, other men aside.

use shakmaty::{Bitboard, Color, Piece, Rank, Role, Square, attacks};

/// Farther than any man who gets there.
pub(super) const FAR: u32 = 32;

/// Moves that a man other than a pawn needs from a square to one of `to`.
pub(super) fn moves(role: Role, from: Square, to: Bitboard, occupied: Bitboard) -> u32 {
    if to.contains(from) {
        return 0;
    }
    if to.is_empty() {
        return FAR;
    }
    match role {
        Role::King => to.into_iter().map(|square| square.distance(from)).min().unwrap_or(FAR),
        Role::Pawn => FAR,
        Role::Knight => knight(from, to),
        Role::Bishop if !(to & same_colour(from)).any() => FAR,
        Role::Bishop | Role::Rook | Role::Queen => {
            let reached = attacks::attacks(from, Piece { color: Color::White, role }, occupied);
            if reached.intersects(to) { 1 } else { 2 }
        }
    }
}

/// Moves of a pawn to his last rank.
pub(super) fn promotion(color: Color, from: Square) -> u32 {
    let last = color.fold_wb(Rank::Eighth, Rank::First);
    let first = color.fold_wb(Rank::Second, Rank::Seventh);
    from.rank().distance(last) - u32::from(from.rank() == first)
}

/// Moves of a pawn to a square on his file.
pub(super) fn advance(color: Color, from: Square, to: Square) -> u32 {
    let ahead = color.fold_wb(to.rank() >= from.rank(), to.rank() <= from.rank());
    if ahead && from.file() == to.file() { from.rank().distance(to.rank()) } else { FAR }
}

fn same_colour(square: Square) -> Bitboard {
    if square.is_light() { Bitboard::LIGHT_SQUARES } else { Bitboard::DARK_SQUARES }
}

fn knight(from: Square, to: Bitboard) -> u32 {
    let Some(row) = KNIGHT.get(usize::from(from)) else { return FAR };
    to.into_iter().filter_map(|to| row.get(usize::from(to))).min().map_or(FAR, |moves| u32::from(*moves))
}

/// A knight's moves from square to square.
static KNIGHT: [[u8; 64]; 64] = knight_moves();

const fn knight_moves() -> [[u8; 64]; 64] {
    let mut table = [[u8::MAX; 64]; 64];
    let mut from = 0;
    while from < 64 {
        let mut reached = 1_u64 << from;
        let mut moves = 0;
        while moves <= 6 {
            let mut next = reached;
            let mut to = 0;
            while to < 64 {
                if reached >> to & 1 == 1 {
                    if table[from as usize][to as usize] == u8::MAX {
                        table[from as usize][to as usize] = moves;
                    }
                    next |= attacks::knight_attacks(Square::new(to)).0;
                }
                to += 1;
            }
            reached = next;
            moves += 1;
        }
        from += 1;
    }
    table
}
