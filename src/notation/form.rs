//! What a text names, before it is asked whether the move is legal.

use shakmaty::{CastlingSide, Chess, File, Move, Position as _, Rank, Role, Square, uci::UciMove};

/// What a written or spoken text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A man goes to a square.
    Move {
        /// The man; nothing: a pawn, or with a whole square of departure whatever stands there.
        role: Option<Role>,
        /// File of departure, where it is named.
        file: Option<File>,
        /// Rank of departure, where it is named.
        rank: Option<Rank>,
        /// Square of arrival.
        to: Square,
        /// Promotion piece, where it is named.
        promotion: Option<Role>,
    },
    /// Castling.
    Castling(CastlingSide),
}

/// What a text means in a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// One legal move.
    Unique(Move),
    /// Several legal moves, in the order of their squares; nothing in the text decides.
    Ambiguous(Vec<Move>),
    /// The text names a move, and it is not legal here.
    Illegal,
    /// The text does not name a move.
    Unreadable,
}

impl Form {
    /// True when the text may mean this move, which is taken to be legal in the position.
    pub fn means(&self, position: &Chess, m: Move) -> bool {
        match (*self, m) {
            (Form::Castling(side), Move::Castle { .. }) => m.castling_side() == Some(side),
            (Form::Castling(_), _) => false,
            (Form::Move { role, file, rank, to, promotion: None }, Move::Castle { king, rook }) => {
                // Written as a move of the king, castling needs the square that he comes from.
                role.is_none_or(|role| role == Role::King)
                    && file == Some(king.file())
                    && rank == Some(king.rank())
                    && (to == rook || to == king_arrives(m, position) && king.distance(to) > 1)
            }
            (Form::Move { role, file, rank, to, promotion }, _) => {
                let Some(from) = m.from() else { return false };
                let whole = file.is_some() && rank.is_some();
                let man = match role {
                    Some(role) => m.role() == role,
                    // Captures of pawns name the file of departure, steps ahead do not (E.9).
                    None => whole || m.role() == Role::Pawn && m.is_capture() == file.is_some(),
                };
                man && to == m.to()
                    && file.is_none_or(|file| file == from.file())
                    && rank.is_none_or(|rank| rank == from.rank())
                    && promotion.is_none_or(|piece| m.promotion() == Some(piece))
            }
        }
    }

    /// The move in UCI as it was named, whether it is legal or not, so that it can be compared with one
    /// that was made. Nothing where the text leaves the square of departure open and no single legal move
    /// fills it in.
    pub fn uci(&self, position: &Chess) -> Option<String> {
        if let Reading::Unique(m) = reading(position, &[*self]) {
            return Some(m.to_uci(position.castles().mode()).to_string());
        }
        match *self {
            Form::Move { file: Some(file), rank: Some(rank), to, promotion, .. } => {
                Some(UciMove::Normal { from: Square::from_coords(file, rank), to, promotion }.to_string())
            }
            Form::Move { .. } => None,
            Form::Castling(side) => {
                let castles = position.castles();
                let from = position.board().king_of(position.turn())?;
                let to = if castles.mode().is_chess960() {
                    castles.rook(position.turn(), side)?
                } else {
                    side.king_to(position.turn())
                };
                Some(UciMove::Normal { from, to, promotion: None }.to_string())
            }
        }
    }

    /// False for what no rule of writing allows: a pawn that captures on a file which is not beside its
    /// own. `bf3` may still be a bishop in small letters.
    pub(super) fn is_possible(&self) -> bool {
        match *self {
            Form::Move { role: None, file: Some(file), rank: None, to, .. } => file.distance(to.file()) == 1,
            _ => true,
        }
    }
}

/// Where the king stands after castling.
fn king_arrives(m: Move, position: &Chess) -> Square {
    m.castling_side().map_or_else(|| m.to(), |side| side.king_to(position.turn()))
}

/// The legal moves that any of the forms may mean.
pub(super) fn reading(position: &Chess, forms: &[Form]) -> Reading {
    if forms.is_empty() {
        return Reading::Unreadable;
    }
    let mut moves: Vec<Move> = position
        .legal_moves()
        .into_iter()
        .filter(|m| forms.iter().any(|form| form.means(position, *m)))
        .collect();
    moves.sort_by_key(|m| (m.from(), m.to(), m.promotion()));
    match moves.as_slice() {
        [] => Reading::Illegal,
        [m] => Reading::Unique(*m),
        _ => Reading::Ambiguous(moves),
    }
}

#[cfg(test)]
mod tests {
    use crate::notation::{announcement::hear, fen};

    fn said(fen: &str, call: &str) -> Option<String> {
        hear(call).unwrap().uci(&fen::read(fen, None).unwrap())
    }

    #[test]
    fn what_was_said_can_be_compared_with_a_move_whether_it_is_legal_or_not() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let said_at_start = |call: &str| said(start, call);
        assert_eq!(said_at_start("Bauer Eva zwei Eva drei").as_deref(), Some("e2e3"));
        assert_eq!(said_at_start("Bauer Eva zwei Eva fuenf").as_deref(), Some("e2e5"));
        assert_eq!(said_at_start("Springer Felix drei").as_deref(), Some("g1f3"));
        assert_eq!(said_at_start("Dame David fuenf"), None);
        assert_eq!(said_at_start("Kurze Rochade").as_deref(), Some("e1g1"));
        let near = "4k3/8/8/8/8/8/8/5KR1 w G - 0 1";
        assert_eq!(said(near, "Kurze Rochade").as_deref(), Some("f1g1"));
        assert_eq!(said(near, "Lange Rochade"), None);
    }
}
