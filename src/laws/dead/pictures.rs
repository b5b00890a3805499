//! Mating pictures: placements of few men that are mate, to be steered for.
//!
//! Each is written for a king in the corner h8 and turned into the eight places that it has on the board.
//! They only steer the search; a picture that is no mate would cost time and nothing else.

use shakmaty::{
    Bitboard, Role,
    Role::{Bishop, Knight, Pawn, Queen, Rook},
    Square,
    Square::{
        A1, A2, A8, B2, B3, B8, C3, C4, C8, D4, D5, D8, E5, E6, E7, E8, F6, F7, F8, G6, G7, G8, H6, H7, H8,
    },
};

/// A man of the losing side who stands in his king's way.
#[derive(Clone, Debug)]
pub(super) struct Blocker {
    pub roles: &'static [Role],
    pub square: Square,
}

/// A man of the winning side, any of the squares where he may stand, and the square that he attacks from
/// there.
#[derive(Clone, Debug)]
pub(super) struct Attacker {
    pub role: Role,
    pub squares: Bitboard,
    pub target: Square,
}

/// One placement, or several that differ in where a man stands.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    pub losing_king: Square,
    pub winning_king: Square,
    /// The winning men.
    pub men: Vec<Attacker>,
    pub blocker: Option<Blocker>,
}

/// Role, squares and target of each winning man.
type Men = &'static [(Role, &'static [Square], Square)];
/// Who may block, and where.
type Block = (&'static [Role], Square);

const LONG_DIAGONAL: &[Square] = &[A1, B2, C3, D4, E5, F6];
const SHORT_DIAGONAL: &[Square] = &[A2, B3, C4, D5, E6];
const LAST_RANK: &[Square] = &[A8, B8, C8, D8, E8];
const BESIDE: &[Square] = &[H6, F6, E7];

/// The winning king, the winning men, and who blocks which square. The losing king stands on h8.
const PICTURES: &[(Square, Men, Option<Block>)] = &[
    (G6, &[(Queen, &[G7], H8)], None),
    (G6, &[(Rook, LAST_RANK, H8)], None),
    (G6, &[(Bishop, LONG_DIAGONAL, H8), (Bishop, SHORT_DIAGONAL, G8)], None),
    (G6, &[(Knight, BESIDE, G8), (Bishop, LONG_DIAGONAL, H8)], None),
    (H6, &[(Knight, &[G6], H8), (Bishop, SHORT_DIAGONAL, G8)], None),
    (G6, &[(Knight, &[F7], H8), (Knight, BESIDE, G8)], None),
    (G6, &[(Knight, &[F7], H8)], Some((&[Knight, Rook], G8))),
    (F8, &[(Knight, &[F7], H8)], Some((&[Bishop, Pawn], H7))),
    (G6, &[(Bishop, &[G7], H8)], Some((&[Knight, Bishop], G8))),
    (F7, &[(Bishop, LONG_DIAGONAL, H8)], Some((&[Pawn, Bishop], H7))),
    (F7, &[(Bishop, &[G7], H8)], Some((&[Knight], H7))),
];

impl Picture {
    /// One queen or rook is enough for it.
    pub(super) fn is_of_major(&self) -> bool {
        self.men.iter().all(|man| matches!(man.role, Queen | Rook))
    }
}

/// All pictures, in each of the eight places.
pub(super) fn pictures() -> Vec<Picture> {
    let turns: [fn(Square) -> Square; 8] = [
        |square| square,
        Square::flip_horizontal,
        Square::flip_vertical,
        Square::rotate_180,
        Square::flip_diagonal,
        Square::flip_anti_diagonal,
        Square::rotate_90,
        Square::rotate_270,
    ];
    let mut pictures = Vec::new();
    for turn in turns {
        for (king, men, blocker) in PICTURES {
            let attacker = |(role, squares, target): &(Role, &[Square], Square)| Attacker {
                role: *role,
                squares: squares.iter().map(|square| turn(*square)).collect(),
                target: turn(*target),
            };
            pictures.push(Picture {
                losing_king: turn(H8),
                winning_king: turn(*king),
                men: men.iter().map(attacker).collect(),
                blocker: blocker.map(|(roles, square)| Blocker { roles, square: turn(square) }),
            });
        }
    }
    pictures
}
