//! What touching men binds a player to (Article 4.3 to 4.5): a pure function of the position and of
//! the order of touches.

use shakmaty::{CastlingSide, Chess, Color, File, Move, Position as _, Rank, Role, Square};

use super::{articles::Articles, settings::RookFirstBan};

/// What binds the player who has the move.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The moves that are left; `None` when all legal ones are.
    pub moves: Option<Vec<Move>>,
    /// The article that decides.
    pub rule: &'static str,
    /// The man that must be moved.
    pub must_move: Option<Square>,
    /// The man that must be captured.
    pub must_capture: Option<Square>,
    /// The castling that must be played.
    pub must_castle: Option<Move>,
}

impl Binding {
    const fn free(rule: &'static str) -> Binding {
        Binding { moves: None, rule, must_move: None, must_capture: None, must_castle: None }
    }

    /// True when `mv` keeps to it.
    pub fn allows(&self, mv: Move) -> bool {
        self.moves.as_ref().is_none_or(|moves| moves.contains(&mv))
    }
}

/// The square of the man that a move captures.
pub fn captured(mv: Move) -> Option<Square> {
    match mv {
        Move::EnPassant { from, to } => Some(Square::from_coords(to.file(), from.rank())),
        other if other.is_capture() => Some(other.to()),
        _ => None,
    }
}

/// A king is never captured: that is no move, although an illegal move may have left it to be taken (Article
/// 1.4.1; 2005: 1.2).
pub fn is_move(mv: Move) -> bool {
    mv.capture() != Some(Role::King)
}

/// The square of the man that a move moves: of castling the king's.
pub fn moved(mv: Move) -> Option<Square> {
    match mv {
        Move::Castle { king, .. } => Some(king),
        other => other.from(),
    }
}

/// Whether a move can be made by touching the man on this square alone: its own move, or, in Chess960, the
/// castling in which only the rook changes its square (Guideline II.3).
pub fn moves_man(mv: Move, square: Square) -> bool {
    if moved(mv) == Some(square) {
        return true;
    }
    let Move::Castle { king, rook } = mv else { return false };
    let file = match mv.castling_side() {
        Some(CastlingSide::KingSide) => File::G,
        _ => File::C,
    };
    rook == square && king.file() == file
}

const fn first_rank(side: Color) -> Rank {
    match side {
        Color::White => Rank::First,
        Color::Black => Rank::Eighth,
    }
}

/// The legal moves of a position, as far as touched men ask for them.
pub trait Moves {
    /// Those of the man on a square; castling is the king's, and the rook's where it alone moves.
    fn moves_of(&self, square: Square) -> Vec<Move>;
    /// Those that capture the man on a square.
    fn captures_of(&self, square: Square) -> Vec<Move>;
}

impl Moves for [Move] {
    fn moves_of(&self, square: Square) -> Vec<Move> {
        self.iter().copied().filter(|mv| moves_man(*mv, square) && is_move(*mv)).collect()
    }

    fn captures_of(&self, square: Square) -> Vec<Move> {
        self.iter().copied().filter(|mv| captured(*mv) == Some(square) && is_move(*mv)).collect()
    }
}

/// What the touches, in order, bind the player to who has the move in `position`; `legal` knows its legal
/// moves. A square that is named again counts once.
pub fn binding<M: Moves + ?Sized>(
    position: &Chess,
    legal: &M,
    touches: &[Square],
    ban: RookFirstBan,
    articles: &Articles,
) -> Binding {
    let side = position.turn();
    let ours = |square: &Square| position.us().contains(*square);
    let own = || touches.iter().copied().filter(ours);
    let theirs = || touches.iter().copied().filter(|square| position.them().contains(*square));
    let moves_of = |square: Square| legal.moves_of(square);
    let captures_of = |square: Square| legal.captures_of(square);
    let first_own = own().next();
    let first_theirs = theirs().next();
    if let (Some(man), Some(victim)) = (first_own, first_theirs) {
        let moves: Vec<Move> = moves_of(man).into_iter().filter(|mv| captured(*mv) == Some(victim)).collect();
        if !moves.is_empty() {
            let (must_move, must_capture) = (Some(man), Some(victim));
            return Binding { moves: Some(moves), must_move, must_capture, ..Binding::free(articles.both) };
        }
    }
    if first_theirs.is_some() {
        let rule = if first_own.is_some() { articles.both } else { articles.theirs };
        for square in touches.iter().copied() {
            if ours(&square) {
                let moves = moves_of(square);
                if !moves.is_empty() {
                    return Binding { moves: Some(moves), must_move: Some(square), ..Binding::free(rule) };
                }
            } else {
                let moves = captures_of(square);
                if !moves.is_empty() {
                    return Binding { moves: Some(moves), must_capture: Some(square), ..Binding::free(rule) };
                }
            }
        }
        return Binding::free(articles.free);
    }
    let king = position.our(Role::King).first();
    let is_rook =
        |square: Square| position.our(Role::Rook).contains(square) && square.rank() == first_rank(side);
    let castling_with = |rook: Square| {
        let of_king = king.map(moves_of).unwrap_or_default();
        of_king.into_iter().find(|mv| matches!(mv, Move::Castle { rook: other, .. } if *other == rook))
    };
    // Men that cannot move bind nobody, and come between no king and rook.
    let counts = |square: &Square| Some(*square) == king || is_rook(*square) || !moves_of(*square).is_empty();
    let first_own = own().find(counts);
    let second_own = own().filter(counts).find(|square| Some(*square) != first_own);
    let mut banned: Vec<Move> = Vec::new();
    let mut rule = articles.own;
    if first_own == king && king.is_some() {
        // The king has to move first of all: the first rook after him says where he castles, whatever was touched
        // between them.
        let castling = own().find(|square| is_rook(*square)).and_then(castling_with);
        if let Some(castling) = castling {
            let moves = Some(vec![castling]);
            return Binding { moves, must_castle: Some(castling), ..Binding::free(articles.king_rook) };
        }
    }
    if let (Some(first), Some(second)) = (first_own, second_own) {
        if Some(first) == king && is_rook(second) {
            let moves = moves_of(first);
            return if moves.is_empty() {
                Binding::free(articles.no_castling)
            } else {
                Binding { moves: Some(moves), must_move: Some(first), ..Binding::free(articles.no_castling) }
            };
        }
        if is_rook(first) && Some(second) == king {
            rule = articles.rook_king;
            banned = match ban {
                RookFirstBan::ThatSide => castling_with(first).into_iter().collect(),
                RookFirstBan::All => moves_of(second).into_iter().filter(|mv| mv.is_castle()).collect(),
            };
        }
    }
    for square in own() {
        let moves: Vec<Move> = moves_of(square).into_iter().filter(|mv| !banned.contains(mv)).collect();
        if !moves.is_empty() {
            return Binding { moves: Some(moves), must_move: Some(square), ..Binding::free(rule) };
        }
    }
    Binding::free(articles.free)
}
