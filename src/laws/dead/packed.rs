//! Positions in few bytes: a search keeps tens of thousands of them.

use shakmaty::{
    Bitboard, Board, ByColor, ByRole, CastlingMode, Chess, Color, FromSetup as _, Position as _,
    PositionError, Setup, Square,
};

/// A position without its counters. Equal ones are equal positions under the Laws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packed {
    /// The number of each square's role in binary, digit by digit, and the white men.
    planes: [u64; 4],
    /// Rooks that may castle, on the first and on the last rank.
    castling: [u8; 2],
    /// Only where the capture is legal.
    en_passant: Option<Square>,
    turn: Color,
}

impl Packed {
    pub(super) fn new(position: &Chess) -> Packed {
        let board = position.board();
        let one = board.pawns() | board.bishops() | board.queens();
        let two = board.knights() | board.bishops() | board.kings();
        let four = board.rooks_and_queens() | board.kings();
        let [first, .., last] = position.castles().castling_rights().0.to_le_bytes();
        Packed {
            planes: [one.0, two.0, four.0, board.white().0],
            castling: [first, last],
            en_passant: position.legal_ep_square(),
            turn: position.turn(),
        }
    }

    pub(super) fn position(&self, mode: CastlingMode) -> Option<Chess> {
        let [one, two, four, white] = self.planes.map(Bitboard);
        let roles = ByRole {
            pawn: one & !two & !four,
            knight: two & !one & !four,
            bishop: one & two,
            rook: four & !one & !two,
            queen: one & four,
            king: two & four,
        };
        let colors = ByColor { black: (one | two | four) & !white, white };
        let [first, last] = self.castling;
        let setup = Setup {
            board: Board::try_from_bitboards(roles, colors).ok()?,
            turn: self.turn,
            castling_rights: Bitboard(u64::from_le_bytes([first, 0, 0, 0, 0, 0, 0, last])),
            ep_square: self.en_passant,
            ..Setup::empty()
        };
        Chess::from_setup(setup, mode)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check)
            .ok()
    }

    /// The same on every machine.
    pub(super) fn hash(&self) -> u64 {
        let mix = |hash: u64, word: &u64| {
            let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ (mixed >> 29)
        };
        let [first, last] = self.castling;
        let start = u64::from_le_bytes([first, last, u8::from(self.turn.is_white()), 0, 0, 0, 0, 0]);
        let hash = self.planes.iter().fold(start, mix).wrapping_mul(0xd6e8_feb8_6659_fd93);
        hash ^ (hash >> 32)
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::fen::Fen;

    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        for (fen, mode) in [
            ("r3k2r/pppppppp/nbq5/8/8/NBQ5/PPPPPPPP/R3K2R w Kq - 3 9", CastlingMode::Standard),
            ("8/8/8/8/k1pP4/8/8/4K3 b - d3 0 1", CastlingMode::Standard),
            ("8/8/8/8/k2P4/8/8/4K3 b - - 0 1", CastlingMode::Standard),
            ("bqnnrkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNNRKRB w GEge - 0 1", CastlingMode::Chess960),
            ("QQQQQQQQ/QQQQQQQQ/8/8/8/8/8/k6K b - - 0 1", CastlingMode::Standard),
        ] {
            let setup = fen.parse::<Fen>().unwrap().into_setup();
            let position = Chess::from_setup(setup, mode)
                .or_else(PositionError::ignore_too_much_material)
                .or_else(PositionError::ignore_impossible_check)
                .unwrap();
            assert_eq!(Packed::new(&position).position(mode), Some(position), "{fen}");
        }
    }
}
