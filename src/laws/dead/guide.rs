//! What makes a position promising. A guide decides the order of the search and nothing else.

use shakmaty::{Bitboard, Board, Chess, Color, Position as _, Rank, Role, Square, attacks};

use super::{
    distance::{self, FAR},
    pictures::{Attacker, Blocker, Kind, Picture, kinds},
};

/// An order for the search.
pub(super) trait Guide {
    /// How far `winner` seems to be from mate.
    fn distance(&self, position: &Chess, winner: Color) -> u32;

    /// What one of it counts against a ply.
    fn weight(&self) -> u32;
}

/// The mating net: squares that the king can still flee to, and how soon he can be in check. Good where
/// there are many men.
pub(super) struct Net;

impl Guide for Net {
    fn distance(&self, position: &Chess, winner: Color) -> u32 {
        let board = position.board();
        let Some(king) = board.king_of(!winner) else { return FAR };
        let without = board.occupied().without(king);
        let open = attacks::king_attacks(king) & !board.by_color(!winner);
        let flights =
            open.into_iter().filter(|square| board.attacks_to(*square, winner, without).is_empty()).count();
        let others = board.by_color(!winner).count();
        u32::try_from(3 * flights + 2 * others).unwrap_or(FAR) + check(board, winner, king)
    }

    fn weight(&self) -> u32 {
        2
    }
}

/// Moves until `winner` can have given check; more of them where the man would be captured.
fn check(board: &Board, winner: Color, king: Square) -> u32 {
    let occupied = board.occupied();
    let own = board.by_color(winner);
    let mut soonest = 5;
    for role in [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
        let men = own & board.by_role(role);
        if men.is_empty() {
            continue;
        }
        let from = attacks::attacks(king, role.of(!winner), occupied) & !own;
        let safe: Bitboard = from
            .into_iter()
            .filter(|square| {
                let capturing = board.attacks_to(*square, !winner, occupied);
                let guarded = || board.attacks_to(*square, winner, occupied).more_than_one();
                capturing.is_empty() || capturing == Bitboard::from_square(king) && guarded()
            })
            .collect();
        for man in men {
            let to = moves_of(board, winner, role, man);
            if to.intersects(safe) {
                return 1;
            }
            let later = if role == Role::Pawn { FAR } else { 1 + distance::moves(role, man, safe, occupied) };
            soonest = soonest.min(later).min(if to.intersects(from) { 3 } else { 5 });
        }
    }
    soonest
}

fn moves_of(board: &Board, color: Color, role: Role, from: Square) -> Bitboard {
    let occupied = board.occupied();
    let attacked = attacks::attacks(from, role.of(color), occupied);
    if role == Role::Pawn {
        let ahead = from.offset(color.fold_wb(8, -8)).filter(|to| !occupied.contains(*to));
        (attacked & board.by_color(!color)) | ahead.into_iter().collect::<Bitboard>()
    } else {
        attacked
    }
}

/// The nearest mating picture: moves that its men need. Good where there are few.
pub(super) struct Pictured {
    of_major: Vec<Kind>,
    of_minor: Vec<Kind>,
    hasty: bool,
}

impl Pictured {
    /// A pawn is to promote before anything else, and a ply counts as much as it costs.
    pub(super) fn thorough() -> Pictured {
        let (of_major, of_minor) = kinds().into_iter().partition(Kind::is_of_major);
        Pictured { of_major, of_minor, hasty: false }
    }

    /// Minor pieces may mate before the pawn promotes, and the nearer picture counts more than the plies.
    pub(super) fn hasty() -> Pictured {
        Pictured { hasty: true, ..Pictured::thorough() }
    }
}

impl Guide for Pictured {
    fn distance(&self, position: &Chess, winner: Color) -> u32 {
        let board = position.board();
        let (Some(winning), Some(losing)) = (board.king_of(winner), board.king_of(!winner)) else {
            return FAR;
        };
        let own = board.by_color(winner);
        let has_major = own.intersects(board.rooks_and_queens());
        let of_major = has_major || own.intersects(board.pawns());
        let of_minor = !of_major || self.hasty && !has_major;
        // Each is asked for only where a picture may need it.
        let winners = if own.intersects(board.queens()) { None } else { promoted(board, winner) };
        let losers = if of_minor { promoted(board, !winner) } else { None };
        let kinds =
            self.of_major.iter().filter(|_| of_major).chain(self.of_minor.iter().filter(|_| of_minor));
        let kinds = kinds.filter(|kind| kind.has_men(board, winner));
        let mut nearest = 2 * FAR;
        for picture in kinds.flat_map(|kind| &kind.pictures) {
            let kings = winning.distance(picture.winning_king) + losing.distance(picture.losing_king);
            if kings >= nearest {
                continue;
            }
            let blocker = match &picture.blocker {
                None => Some(0),
                Some(blocker) => block(board, !winner, blocker, losers.map(|moves| moves + 2)),
            };
            let settled = self.hasty && losing == picture.losing_king;
            if let (Some(men), Some(blocker)) = (men(board, winner, picture, winners, settled), blocker) {
                nearest = nearest.min(kings + men + blocker);
            }
        }
        nearest + burden(board, !winner)
    }

    fn weight(&self) -> u32 {
        if self.hasty { 6 } else { 3 }
    }
}

/// What the losing men cost: the more moves they have, the longer one looks at them.
fn burden(board: &Board, loser: Color) -> u32 {
    let own = board.by_color(loser) & !board.kings();
    let count = 2 * own.count() + (own & board.queens()).count() - (own & board.pawns()).count();
    u32::try_from(count).unwrap_or(FAR)
}

/// Moves of the winning men to their places; a queen's may be those of a pawn. With the king `settled`, a
/// man in his place whose line is closed is not there yet: before, an open one keeps the king away.
fn men(board: &Board, winner: Color, picture: &Picture, promoted: Option<u32>, settled: bool) -> Option<u32> {
    let own = board.by_color(winner);
    let occupied = board.occupied();
    let (mut used, mut sum) = (Bitboard::EMPTY, 0);
    for Attacker { role, squares, target } in &picture.men {
        let attacks = |from| attacks::attacks(from, role.of(winner), occupied).contains(*target);
        let moves = |from| match distance::moves(*role, from, *squares, occupied) {
            0 if settled && !attacks(from) => 1,
            moves => moves,
        };
        let men = (own & board.by_role(*role) & !used).into_iter().map(|from| (moves(from), from));
        match men.filter(|(moves, _)| *moves < FAR).min() {
            Some((moves, square)) => {
                used.add(square);
                sum += moves;
            }
            None if *role == Role::Queen => sum += promoted?,
            None => return None,
        }
    }
    Some(sum)
}

/// Moves until a side has another piece where it needs one.
fn promoted(board: &Board, color: Color) -> Option<u32> {
    let own = board.by_color(color);
    // A pawn does not go away: a piece has to go there, away from where it is needed.
    let to_capture = |square: Square| {
        let moves = |man: Square| {
            let role = board.role_at(man)?;
            Some(distance::moves(role, man, Bitboard::from_square(square), board.occupied()))
        };
        (own & !board.pawns()).into_iter().filter_map(moves).min().unwrap_or(0)
    };
    let in_the_way = |square: Square| {
        if board.pawns().contains(square) { 2 + 2 * to_capture(square) } else { 2 }
    };
    let offered = |pawn: Square| {
        let beside = attacks::pawn_attacks(color, pawn);
        let moves = |man: Square| {
            let role = board.role_at(man).filter(|role| *role != Role::King)?;
            Some(distance::moves(role, man, beside, board.occupied()))
        };
        board.by_color(!color).into_iter().filter_map(moves).min().unwrap_or(FAR)
    };
    let moves = |pawn: Square| {
        let ahead = Bitboard::from_file(pawn.file()) & ranks_ahead(color, pawn.rank()) & board.occupied();
        let way = ahead.into_iter().map(in_the_way).sum::<u32>();
        let way = if way > 2 { way.min(2 + 2 * offered(pawn)) } else { way };
        distance::promotion(color, pawn) + 2 + way
    };
    (own & board.pawns()).into_iter().map(moves).min()
}

fn ranks_ahead(color: Color, rank: Rank) -> Bitboard {
    let rank = rank.to_u32();
    Bitboard(color.fold_wb((u64::MAX << 8) << (8 * rank), (1 << (8 * rank)) - 1))
}

/// Moves of the losing side until one of its men blocks the square.
fn block(board: &Board, loser: Color, blocker: &Blocker, promoted: Option<u32>) -> Option<u32> {
    let own = board.by_color(loser);
    let place = Bitboard::from_square(blocker.square);
    let men = blocker.roles.iter().flat_map(|role| {
        (own & board.by_role(*role)).into_iter().map(|square| match role {
            Role::Pawn => distance::advance(loser, square, blocker.square),
            _ => distance::moves(*role, square, place, board.occupied()),
        })
    });
    let promoted = promoted.filter(|_| blocker.roles.iter().any(|role| *role != Role::Pawn));
    men.chain(promoted).filter(|moves| *moves < FAR).min()
}
