//! Mating pictures: placements of few men that are mate, to be steered for.
//!
//! Each is written for a king in or beside the corner h8 and turned into the eight places that it has on the board.
//! They only steer the search; a picture that is no mate would cost time and nothing else.

use shakmaty::{
    Bitboard, Board, Color, Role,
    Role::{Bishop, Knight, Pawn, Queen, Rook},
    Square,
    Square::{
        A1, A2, A8, B2, B3, B8, C3, C4, C8, D4, D5, D6, D8, E5, E6, E7, E8, F6, F7, F8, G5, G6, G7, G8, H6,
        H7, H8,
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
const BEFORE: &[Square] = &[D6, D8, E5, G5];

/// The losing king, the winning one, the winning men, and who blocks which square. All are mate but the last:
/// in it the king steps into the corner, where the two knights would otherwise stalemate him.
const PICTURES: &[(Square, Square, Men, Option<Block>)] = &[
    (H8, G6, &[(Queen, &[G7], H8)], None),
    (H8, G6, &[(Rook, LAST_RANK, H8)], None),
    (H8, G6, &[(Bishop, LONG_DIAGONAL, H8), (Bishop, SHORT_DIAGONAL, G8)], None),
    (H8, G6, &[(Knight, BESIDE, G8), (Bishop, LONG_DIAGONAL, H8)], None),
    (H8, H6, &[(Knight, &[G6], H8), (Bishop, SHORT_DIAGONAL, G8)], None),
    (H8, G6, &[(Knight, &[F7], H8), (Knight, BESIDE, G8)], None),
    (H8, G6, &[(Knight, &[F7], H8)], Some((&[Knight, Rook], G8))),
    (H8, F8, &[(Knight, &[F7], H8)], Some((&[Bishop, Pawn], H7))),
    (H8, G6, &[(Bishop, &[G7], H8)], Some((&[Knight, Bishop], G8))),
    (H8, F7, &[(Bishop, LONG_DIAGONAL, H8)], Some((&[Pawn, Bishop], H7))),
    (H8, F7, &[(Bishop, &[G7], H8)], Some((&[Knight], H7))),
    (G8, G6, &[(Knight, BESIDE, G8), (Knight, BEFORE, F7)], None),
];

/// A picture in each of the eight places that it has on the board.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub pictures: Vec<Picture>,
}

impl Kind {
    /// One queen or rook is enough for it.
    pub(super) fn is_of_major(&self) -> bool {
        self.pictures.iter().flat_map(|picture| &picture.men).all(|man| matches!(man.role, Queen | Rook))
    }

    /// The men for it are there, or the pawns that may become them.
    pub(super) fn has_men(&self, board: &Board, winner: Color) -> bool {
        let (own, other) = (board.by_color(winner), board.by_color(!winner));
        self.pictures.first().is_some_and(|picture| {
            let becomes = |role| if role == Queen { board.pawns() } else { Bitboard::EMPTY };
            let men = |man: &Attacker| own.intersects(board.by_role(man.role) | becomes(man.role));
            let blocks = |blocker: &Blocker| {
                let men = |role: &Role| other.intersects(board.by_role(*role) | board.pawns());
                blocker.roles.iter().any(men)
            };
            picture.men.iter().all(men) && picture.blocker.as_ref().is_none_or(blocks)
        })
    }
}

/// All kinds of pictures.
pub(super) fn kinds() -> Vec<Kind> {
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
    let picture = |turn: fn(Square) -> Square,
                   (losing, winning, men, blocker): &(Square, Square, Men, Option<Block>)| {
        let attacker = |(role, squares, target): &(Role, &[Square], Square)| Attacker {
            role: *role,
            squares: squares.iter().map(|square| turn(*square)).collect(),
            target: turn(*target),
        };
        Picture {
            losing_king: turn(*losing),
            winning_king: turn(*winning),
            men: men.iter().map(attacker).collect(),
            blocker: blocker.map(|(roles, square)| Blocker { roles, square: turn(square) }),
        }
    };
    let kind = |written| Kind { pictures: turns.into_iter().map(|turn| picture(turn, written)).collect() };
    PICTURES.iter().map(kind).collect()
}
