//! The legal moves that somebody asks for: a look at the board concerns few squares, and only the moves
//! that leave one of them or land on one of them are generated.
//!
//! Whatever is asked for comes in the order in which the chess library gives the legal moves.

use shakmaty::{Bitboard, CastlingSide, Chess, Move, MoveList, Position as _, Rank, Role, Square, attacks};

use super::moves::{Candidate, castled};

/// A legal move and the occupancy after it: all that most looks at the board need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Legal {
    pub mv: Move,
    /// Where the man lands; the king's square for castling.
    pub to: Square,
    pub after: Bitboard,
}

impl Legal {
    /// A legal move of a position on which the squares of `occupied` are filled.
    pub(super) fn of(position: &Chess, occupied: Bitboard, mv: Move) -> Legal {
        match mv {
            Move::Normal { from, to, .. } => Legal { mv, to, after: occupied.without(from).with(to) },
            rare => {
                let king = rare.from().filter(|_| rare.is_castle());
                let to = king.unwrap_or(rare.to());
                Legal { mv, to, after: Candidate::new(position, rare).after }
            }
        }
    }
}

/// Which moves are asked for. Taking en passant, which empties another square as well, is always among
/// them, and so is castling that leaves all squares as they were.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Moves that leave one of these squares; castling where king or rook does.
    pub from: Bitboard,
    /// Where those have to land, castling aside.
    pub landing: Bitboard,
    /// Moves that land on one of these squares, wherever they come from.
    pub to: Bitboard,
    /// A promotion to each piece is a move of its own; otherwise it stands for all and is taken as a
    /// queen.
    pub every_promotion: bool,
}

impl Asked {
    /// The moves that leave one of these squares.
    pub(super) fn leaving(from: Bitboard, every_promotion: bool) -> Asked {
        Asked { from, landing: Bitboard::FULL, to: Bitboard::EMPTY, every_promotion }
    }

    /// Every legal move.
    pub(super) fn all(every_promotion: bool) -> Asked {
        Asked::leaving(Bitboard::FULL, every_promotion)
    }
}

/// The king of the side to move, what gives check to it, and the men that stand alone between it and
/// one that would.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shelter {
    king: Square,
    checkers: Bitboard,
    blockers: Bitboard,
}

impl Shelter {
    /// The shelter of the side to move; none without a king.
    pub(super) fn of(position: &Chess) -> Option<Shelter> {
        let board = position.board();
        let king = board.king_of(position.turn())?;
        let straight = attacks::rook_attacks(king, Bitboard::EMPTY) & board.rooks_and_queens();
        let diagonal = attacks::bishop_attacks(king, Bitboard::EMPTY) & board.bishops_and_queens();
        let near = (attacks::knight_attacks(king) & board.knights())
            | (attacks::pawn_attacks(position.turn(), king) & board.pawns());
        let mut shelter = Shelter { king, checkers: near & position.them(), blockers: Bitboard::EMPTY };
        for sniper in (straight | diagonal) & position.them() {
            let between = attacks::between(king, sniper) & board.occupied();
            if between.is_empty() {
                shelter.checkers.add(sniper);
            } else if !between.more_than_one() {
                shelter.blockers.add(between);
            }
        }
        Some(shelter)
    }

    /// Those of these squares to which a man other than the king may go, so that the king is in no check.
    pub(super) fn allows(&self, from: Square, to: Bitboard) -> Bitboard {
        let mut to = to;
        if self.checkers.any() {
            let checker = self.checkers.single_square();
            to &= checker.map_or(Bitboard::EMPTY, |one| attacks::between(self.king, one).with(one));
        }
        if self.blockers.contains(from) {
            to &= attacks::ray(self.king, from);
        }
        to
    }

    /// Those of these squares beside the king to which it may go.
    pub(super) fn king_steps(&self, position: &Chess, to: Bitboard) -> Bitboard {
        let board = position.board();
        let sliders = self.checkers & (board.bishops() | board.rooks() | board.queens());
        let lines = sliders.into_iter().fold(Bitboard::EMPTY, |lines, checker| {
            lines | attacks::ray(checker, self.king).without(checker)
        });
        let free = |to: &Square| board.attacks_to(*to, !position.turn(), board.occupied()).is_empty();
        let beside = attacks::king_attacks(self.king) & to & !position.us() & !lines;
        beside.into_iter().filter(free).collect()
    }

    /// True when this man may go there without opening a line to its king.
    fn holds(&self, from: Square, to: Square) -> bool {
        !self.blockers.contains(from) || attacks::aligned(from, to, self.king)
    }
}

/// Puts the legal moves that are asked for into `moves`.
pub(super) fn legal_moves(position: &Chess, shelter: &Shelter, asked: Asked, moves: &mut MoveList) {
    let sought = Sought { position, shelter, asked };
    sought.en_passant(moves);
    if shelter.checkers.is_empty() {
        sought.men(!position.us(), moves);
        sought.king(moves);
        sought.castling(moves);
    } else {
        sought.king(moves);
        if let Some(checker) = shelter.checkers.single_square() {
            sought.men(attacks::between(shelter.king, checker).with(checker), moves);
        }
    }
}

/// True when the side to move has a legal move.
pub(in crate::session) fn has_legal_move(position: &Chess) -> bool {
    let Some(shelter) = Shelter::of(position) else { return false };
    let board = position.board();
    if shelter.checkers.is_empty() {
        // Nearly always some pawn can step, or some knight can jump.
        let free = position.us() & !shelter.blockers;
        let steps = (board.pawns() & free).shift(position.turn().fold_wb(8, -8)) & !board.occupied();
        let jumps = |knight| (attacks::knight_attacks(knight) & !position.us()).any();
        if steps.any() || (board.knights() & free).into_iter().any(jumps) {
            return true;
        }
    }
    let mut moves = MoveList::new();
    legal_moves(position, &shelter, Asked::all(false), &mut moves);
    !moves.is_empty()
}

/// The squares of men who go one step ahead on the files beside their own.
fn capturing(pawns: Bitboard, offset: i32) -> Bitboard {
    match offset {
        7 | -9 => (pawns & !Bitboard::from_file(shakmaty::File::A)).shift(offset),
        _ => (pawns & !Bitboard::from_file(shakmaty::File::H)).shift(offset),
    }
}

struct Sought<'a> {
    position: &'a Chess,
    shelter: &'a Shelter,
    asked: Asked,
}

impl Sought<'_> {
    fn en_passant(&self, moves: &mut MoveList) {
        let Some(to) = self.position.maybe_ep_square() else { return };
        let board = self.position.board();
        let turn = self.position.turn();
        for from in board.pawns() & self.position.us() & attacks::pawn_attacks(!turn, to) {
            let passed = Square::from_coords(to.file(), from.rank());
            let occupied = board.occupied().toggled(from).toggled(passed).with(to);
            if board.attacks_to(self.shelter.king, !turn, occupied).without(passed).is_empty() {
                let _ = moves.try_push(Move::EnPassant { from, to });
            }
        }
    }

    fn castling(&self, moves: &mut MoveList) {
        let turn = self.position.turn();
        let castles = self.position.castles();
        if !castles.has_color(turn) {
            return;
        }
        for side in [CastlingSide::KingSide, CastlingSide::QueenSide] {
            if let Some(rook) = castles.rook(turn, side)
                && (castles.path(turn, side) & self.position.board().occupied()).is_empty()
                && self.asks_to_castle(side, rook)
                && self.may_castle(side, rook)
            {
                let _ = moves.try_push(Move::Castle { king: self.shelter.king, rook });
            }
        }
    }

    fn asks_to_castle(&self, side: CastlingSide, rook: Square) -> bool {
        let (king_to, rook_to) = castled(side, self.position.turn());
        let (left, filled) = (
            Bitboard::from_square(self.shelter.king).with(rook),
            Bitboard::from_square(king_to).with(rook_to),
        );
        left == filled || (left & self.asked.from).any() || (filled & self.asked.to).any()
    }

    /// True when the king neither passes nor reaches an attacked square.
    fn may_castle(&self, side: CastlingSide, rook: Square) -> bool {
        let turn = self.position.turn();
        let board = self.position.board();
        let king = self.shelter.king;
        let (king_to, rook_to) = castled(side, turn);
        let after = board.occupied().toggled(king).toggled(rook).toggled(rook_to);
        let attacked = |square, occupied| board.attacks_to(square, !turn, occupied).any();
        let without_king = board.occupied().toggled(king);
        !attacked(king_to, after)
            && !attacks::between(king, king_to)
                .with(king)
                .into_iter()
                .any(|square| attacked(square, without_king))
    }

    fn king(&self, moves: &mut MoveList) {
        let from = self.shelter.king;
        for to in self.shelter.king_steps(self.position, self.among(from, Bitboard::FULL)) {
            self.push(Role::King, from, to, moves);
        }
    }

    /// The moves of all men but the king to one of these squares.
    fn men(&self, target: Bitboard, moves: &mut MoveList) {
        self.pawns(target, moves);
        let board = self.position.board();
        let (us, occupied) = (self.position.us(), board.occupied());
        // Who may not leave his square and lands nowhere else is not asked.
        let us = if (self.asked.to & target).any() { us } else { us & self.asked.from };
        for from in board.knights() & us {
            self.piece(Role::Knight, from, attacks::knight_attacks(from), target, moves);
        }
        for from in board.bishops() & us {
            self.piece(Role::Bishop, from, attacks::bishop_attacks(from, occupied), target, moves);
        }
        for from in board.rooks() & us {
            self.piece(Role::Rook, from, attacks::rook_attacks(from, occupied), target, moves);
        }
        for from in board.queens() & us {
            self.piece(Role::Queen, from, attacks::queen_attacks(from, occupied), target, moves);
        }
    }

    fn piece(&self, role: Role, from: Square, reached: Bitboard, target: Bitboard, moves: &mut MoveList) {
        for to in reached & self.among(from, target) {
            if self.shelter.holds(from, to) {
                self.push(role, from, to, moves);
            }
        }
    }

    /// Those of these squares to which a move from `from` is asked for.
    fn among(&self, from: Square, target: Bitboard) -> Bitboard {
        let from_here = if self.asked.from.contains(from) { self.asked.landing } else { Bitboard::EMPTY };
        target & (from_here | self.asked.to)
    }

    fn push(&self, role: Role, from: Square, to: Square, moves: &mut MoveList) {
        let capture = self.position.board().role_at(to);
        let _ = moves.try_push(Move::Normal { role, from, capture, to, promotion: None });
    }

    fn pawns(&self, target: Bitboard, moves: &mut MoveList) {
        let board = self.position.board();
        let pawns = board.pawns() & self.position.us();
        let leaving = pawns & self.asked.from;
        let to = self.asked.to & target;
        let landing = self.asked.landing & target;
        if leaving.is_empty() && to.is_empty() {
            return;
        }
        let ahead = self.position.turn().fold_wb(8, -8);
        for beside in [-1, 1] {
            let offset = ahead + beside;
            let reached = (capturing(leaving, offset) & landing) | (capturing(pawns, offset) & to);
            self.pawn_moves(reached & self.position.them(), offset, moves);
        }
        let free = !board.occupied();
        let step = |pawns: Bitboard| pawns.shift(ahead) & free;
        self.pawn_moves((step(leaving) & landing) | (step(pawns) & to), ahead, moves);
        let middle = Bitboard::from_rank(self.position.turn().fold_wb(Rank::Third, Rank::Sixth));
        let twice = |pawns: Bitboard| step(step(pawns) & middle);
        self.pawn_moves((twice(leaving) & landing) | (twice(pawns) & to), 2 * ahead, moves);
    }

    /// The moves of pawns that come to these squares over so many.
    fn pawn_moves(&self, reached: Bitboard, offset: i32, moves: &mut MoveList) {
        for to in reached & !Bitboard::BACKRANKS {
            if let Some(from) = to.offset(-offset)
                && self.shelter.holds(from, to)
            {
                self.push(Role::Pawn, from, to, moves);
            }
        }
        for to in reached & Bitboard::BACKRANKS {
            let Some(from) = to.offset(-offset).filter(|from| self.shelter.holds(*from, to)) else {
                continue;
            };
            let capture = self.position.board().role_at(to);
            let pieces: &[Role] = if self.asked.every_promotion {
                &[Role::Queen, Role::Rook, Role::Bishop, Role::Knight]
            } else {
                &[Role::Queen]
            };
            for piece in pieces {
                let promotion = Some(*piece);
                let _ = moves.try_push(Move::Normal { role: Role::Pawn, from, capture, to, promotion });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{text::MoveText, tracker::asked};
    use proptest::prelude::*;
    use shakmaty::{CastlingMode, fen::Fen};

    fn ours(position: &Chess, asked: Asked) -> Vec<Move> {
        let mut moves = MoveList::new();
        legal_moves(position, &Shelter::of(position).unwrap(), asked, &mut moves);
        moves.into_iter().collect()
    }

    fn theirs(position: &Chess, asked: Asked) -> Vec<Move> {
        let wanted = |mv: &Move| {
            let piece = asked.every_promotion || mv.promotion().is_none_or(|piece| piece == Role::Queen);
            let squares = match *mv {
                Move::Castle { king, rook } => {
                    let (king_to, rook_to) = castled(mv.castling_side().unwrap(), position.turn());
                    let left = Bitboard::from_square(king).with(rook);
                    let filled = Bitboard::from_square(king_to).with(rook_to);
                    left == filled || left.intersects(asked.from) || filled.intersects(asked.to)
                }
                _ => {
                    let leaves = asked.from.contains(mv.from().unwrap());
                    (leaves && asked.landing.contains(mv.to())) || asked.to.contains(mv.to())
                }
            };
            (squares || mv.is_en_passant()) && piece
        };
        position.legal_moves().into_iter().filter(wanted).collect()
    }

    const STARTS: [&str; 6] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9",
    ];

    proptest! {
        #[test]
        fn they_are_those_of_the_chess_library_in_its_order(
            start in 0..STARTS.len(),
            choices in prop::collection::vec(any::<prop::sample::Index>(), 0..120),
            from: u64,
            landing: u64,
            to: u64,
            every_promotion: bool,
        ) {
            let fen: Fen = STARTS[start].parse().unwrap();
            let mut position: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
            for choice in choices {
                let legal = position.legal_moves();
                prop_assert_eq!(has_legal_move(&position), !legal.is_empty());
                let all = Asked::all(every_promotion);
                prop_assert_eq!(ours(&position, all), theirs(&position, all));
                let asked = Asked {
                    from: Bitboard(from),
                    landing: Bitboard(landing),
                    to: Bitboard(to),
                    every_promotion,
                };
                prop_assert_eq!(ours(&position, asked), theirs(&position, asked));
                for square in Square::ALL {
                    let Some(reach) = asked::reach(&position, square) else { continue };
                    let mut moves = Vec::new();
                    asked::of_man(&position, square, |mv| moves.push(MoveText::uci(mv, CastlingMode::Chess960)));
                    prop_assert_eq!(reach.moves().collect::<Vec<_>>(), moves);
                }
                if legal.is_empty() {
                    break;
                }
                position.play_unchecked(legal[choice.index(legal.len())]);
            }
        }
    }
}
