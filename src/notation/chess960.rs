//! Chess960: start arrays and their numbers, and the four ways in which castling is carried out
//! (Guideline II of the edition of 2023).

use std::fmt;

use shakmaty::{Board, CastlingSide, Color, File, Move, Piece, Rank, Role, Square};

/// The number of start arrays.
pub const ARRAYS: u16 = 960;

/// The number of the array of classical chess.
pub const CLASSICAL: u16 = 518;

/// Men on the first rank, from file a to file h.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Array([Role; 8]);

/// Why men on a first rank are no start array, or a board is no start position.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum ArrayError {
    /// The text is not eight letters of men, nor the placement of a whole board.
    #[error("not eight letters of K, Q, R, B, N, nor the first field of a FEN")]
    Notation,
    /// Too many or too few men of a kind.
    #[error("the first rank needs a king, a queen, two rooks, two bishops and two knights")]
    Men,
    /// The bishops stand on one colour.
    #[error("the bishops on {} and {} stand on squares of one colour", .0.char(), .1.char())]
    Bishops(File, File),
    /// The king is not between the rooks.
    #[error("the king on {} must stand between the rooks, which are on {} and {}", .king.char(), .rooks.0.char(), .rooks.1.char())]
    King {
        /// File of the king.
        king: File,
        /// Files of the rooks.
        rooks: (File, File),
    },
    /// Black's men do not stand opposite White's.
    #[error("Black's man on {0} is not the one that stands opposite")]
    Mirror(Square),
    /// A pawn is missing, or a square that must be empty is not.
    #[error("{0} must {expected}", expected = expected_on(*.0))]
    Square(Square),
    /// There is no array of this number.
    #[error("arrays have the numbers 0 to 959, not {0}")]
    Number(u16),
}

fn expected_on(square: Square) -> &'static str {
    match square.rank() {
        Rank::Second => "hold a white pawn",
        Rank::Seventh => "hold a black pawn",
        _ => "be empty",
    }
}

impl Array {
    /// The array of a number: the light-squared bishop, the dark-squared one, the queen, the knights, and the
    /// king between the rooks on what is left.
    pub fn from_number(number: u16) -> Result<Array, ArrayError> {
        if number >= ARRAYS {
            return Err(ArrayError::Number(number));
        }
        let mut rest = usize::from(number);
        let mut digit = |base: usize| {
            let digit = rest % base;
            rest /= base;
            digit
        };
        let mut men = [None; 8];
        place(&mut men, digit(4) * 2 + 1, Role::Bishop);
        place(&mut men, digit(4) * 2, Role::Bishop);
        let queen = nth_free(&men, digit(6));
        place(&mut men, queen, Role::Queen);
        let (first, second) = KNIGHTS.get(rest).copied().unwrap_or_default();
        // The later one first: it does not move what is before it.
        for knight in [second, first] {
            let file = nth_free(&men, knight);
            place(&mut men, file, Role::Knight);
        }
        for role in [Role::Rook, Role::King, Role::Rook] {
            let file = nth_free(&men, 0);
            place(&mut men, file, role);
        }
        Ok(Array(men.map(|man| man.unwrap_or(Role::Rook))))
    }

    /// The men from file a to file h as a start array.
    pub fn new(men: [Role; 8]) -> Result<Array, ArrayError> {
        let files = |role: Role| -> Vec<File> {
            File::ALL.into_iter().zip(men).filter(|(_, man)| *man == role).map(|(file, _)| file).collect()
        };
        let (kings, queens, rooks) = (files(Role::King), files(Role::Queen), files(Role::Rook));
        let (bishops, knights) = (files(Role::Bishop), files(Role::Knight));
        let ([king], [_], [first, last], [one, other], [_, _]) =
            (&kings[..], &queens[..], &rooks[..], &bishops[..], &knights[..])
        else {
            return Err(ArrayError::Men);
        };
        if one.distance(*other) % 2 == 0 {
            return Err(ArrayError::Bishops(*one, *other));
        }
        if !(first < king && king < last) {
            return Err(ArrayError::King { king: *king, rooks: (*first, *last) });
        }
        Ok(Array(men))
    }

    /// Reads eight letters of either case, such as `RNBQKBNR`, or the placement of a whole start position, such
    /// as the first field of its FEN; what follows that field is not looked at.
    pub fn parse(text: &str) -> Result<Array, ArrayError> {
        let field = text.split_whitespace().next().unwrap_or("");
        if field.contains('/') {
            let board = Board::from_ascii_board_fen(field.as_bytes()).map_err(|_| ArrayError::Notation)?;
            return Array::of_board(&board);
        }
        let men: Option<Vec<Role>> = field.chars().map(Role::from_char).collect();
        let men = men.and_then(|men| men.try_into().ok()).ok_or(ArrayError::Notation)?;
        Array::new(men)
    }

    /// The array of a whole start position: pawns as usual, Black's men opposite White's, nothing between.
    pub fn of_board(board: &Board) -> Result<Array, ArrayError> {
        let men = File::ALL.map(|file| board.piece_at(Square::from_coords(file, Rank::First)));
        let roles = men.map(|man| man.filter(|man| man.color.is_white()).map_or(Role::Pawn, |man| man.role));
        let array = Array::new(roles)?;
        for (file, role) in File::ALL.into_iter().zip(array.0) {
            let opposite = Square::from_coords(file, Rank::Eighth);
            if board.piece_at(opposite) != Some(Piece { color: Color::Black, role }) {
                return Err(ArrayError::Mirror(opposite));
            }
        }
        for square in Square::ALL {
            let expected = match square.rank() {
                Rank::Second => Some(Piece { color: Color::White, role: Role::Pawn }),
                Rank::Seventh => Some(Piece { color: Color::Black, role: Role::Pawn }),
                Rank::First | Rank::Eighth => continue,
                _ => None,
            };
            if board.piece_at(square) != expected {
                return Err(ArrayError::Square(square));
            }
        }
        Ok(array)
    }

    /// The number of the array, 0 to 959.
    pub fn number(&self) -> u16 {
        let files =
            |role: Role| (0..8usize).zip(self.0).filter(move |(_, man)| *man == role).map(|(file, _)| file);
        let bishop = |odd: usize| files(Role::Bishop).find(|file| file % 2 == odd).map_or(0, |file| file / 2);
        // How many of these men stand before the man on a file.
        let before =
            |file: usize, roles: &[Role]| self.0.iter().take(file).filter(|man| roles.contains(man)).count();
        let rest = [Role::Queen, Role::King, Role::Rook, Role::Knight];
        let queen = files(Role::Queen).next().map_or(0, |file| before(file, &rest));
        let mut knights =
            files(Role::Knight).map(|file| before(file, &[Role::King, Role::Rook, Role::Knight]));
        let pair = (knights.next().unwrap_or(0), knights.next().unwrap_or(0));
        let knights = KNIGHTS.iter().position(|known| *known == pair).unwrap_or(0);
        u16::try_from(bishop(1) + 4 * bishop(0) + 16 * queen + 96 * knights).unwrap_or(CLASSICAL)
    }

    /// The men from file a to file h.
    pub const fn men(&self) -> [Role; 8] {
        self.0
    }

    /// The first field of the FEN of the start position.
    pub fn placement(&self) -> String {
        let black = self.0.map(Role::char).iter().collect::<String>();
        format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{self}")
    }
}

impl fmt::Display for Array {
    /// The eight letters: `RNBQKBNR`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.map(Role::upper_char).iter().collect::<String>())
    }
}

/// The places of the knights among the five files that are left, by number.
const KNIGHTS: [(usize, usize); 10] =
    [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];

fn place(men: &mut [Option<Role>; 8], file: usize, role: Role) {
    if let Some(man) = men.get_mut(file) {
        *man = Some(role);
    }
}

fn nth_free(men: &[Option<Role>; 8], n: usize) -> usize {
    men.iter().enumerate().filter(|(_, man)| man.is_none()).nth(n).map_or(men.len(), |(file, _)| file)
}

/// How castling is carried out (Guideline II.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastlingMethod {
    /// King and rook both move, each to a square of its own.
    Double,
    /// King and rook change places: the occupied squares stay the same.
    Transposition,
    /// Only the king moves.
    KingOnly,
    /// Only the rook moves.
    RookOnly,
}

/// What castling does to the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Castling {
    /// King's or queen's side.
    pub side: CastlingSide,
    /// Where the king stands before and after.
    pub king: (Square, Square),
    /// Where the rook stands before and after.
    pub rook: (Square, Square),
}

impl Castling {
    /// The squares of a castling move; nothing for any other move.
    pub fn of(m: Move) -> Option<Castling> {
        let (Move::Castle { king, rook }, Some(side)) = (m, m.castling_side()) else { return None };
        let on_rank = |file| Square::from_coords(file, king.rank());
        Some(Castling {
            side,
            king: (king, on_rank(side.king_to_file())),
            rook: (rook, on_rank(side.rook_to_file())),
        })
    }

    /// How it is carried out.
    pub fn method(&self) -> CastlingMethod {
        if self.king == (self.rook.1, self.rook.0) {
            CastlingMethod::Transposition
        } else if self.rook.0 == self.rook.1 {
            CastlingMethod::KingOnly
        } else if self.king.0 == self.king.1 {
            CastlingMethod::RookOnly
        } else {
            CastlingMethod::Double
        }
    }

    /// The squares that are empty afterwards and were not before, and those that are occupied afterwards and
    /// were not before, both in the order of the files.
    pub fn changes(&self) -> (Vec<Square>, Vec<Square>) {
        let without = |these: [Square; 2], those: [Square; 2]| {
            let mut left: Vec<Square> = these.into_iter().filter(|square| !those.contains(square)).collect();
            left.sort();
            left
        };
        let (before, after) = ([self.king.0, self.rook.0], [self.king.1, self.rook.1]);
        (without(before, after), without(after, before))
    }
}

impl CastlingMethod {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            CastlingMethod::Double => "double",
            CastlingMethod::Transposition => "transposition",
            CastlingMethod::KingOnly => "king-only",
            CastlingMethod::RookOnly => "rook-only",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_960_arrays_and_each_has_its_number() {
        let mut seen = BTreeSet::new();
        for number in 0..ARRAYS {
            let array = Array::from_number(number).unwrap();
            assert_eq!(Array::new(array.men()), Ok(array));
            assert_eq!(array.number(), number);
            assert_eq!(Array::parse(&array.to_string()), Ok(array));
            assert_eq!(Array::parse(&array.placement()), Ok(array));
            assert!(seen.insert(array.to_string()));
        }
        assert_eq!(Array::from_number(960), Err(ArrayError::Number(960)));
        for (number, men) in [(0, "BBQNNRKR"), (3, "BQNNRKRB"), (518, "RNBQKBNR"), (959, "RKRNNQBB")] {
            assert_eq!(Array::from_number(number).unwrap().to_string(), men);
        }
    }

    #[test]
    fn the_reason_is_told_when_it_is_no_array() {
        for (text, reason) in [
            ("RNBQKBN", "not eight letters of K, Q, R, B, N, nor the first field of a FEN"),
            ("RNBQKBNRR", "not eight letters of K, Q, R, B, N, nor the first field of a FEN"),
            ("RNBQKBNQ", "the first rank needs a king, a queen, two rooks, two bishops and two knights"),
            ("KRBRNBNQ", "the king on a must stand between the rooks, which are on b and d"),
            ("BRBKRNNQ", "the bishops on a and c stand on squares of one colour"),
            (
                "rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
                "Black's man on d8 is not the one that stands opposite",
            ),
            ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1", "e2 must hold a white pawn"),
            ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPPPPPP/RNBQKBNR", "e4 must be empty"),
            (
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/rnbqkbnr",
                "the first rank needs a king, a queen, two rooks, two bishops and two knights",
            ),
            ("8/8", "not eight letters of K, Q, R, B, N, nor the first field of a FEN"),
        ] {
            let answer = Array::parse(text);
            assert_eq!(answer.map_err(|error| error.to_string()), Err(reason.to_owned()), "{text}");
        }
    }

    /// All pairs of king and rook on one rank: how often each way of castling occurs.
    #[test]
    fn castling_is_carried_out_in_four_ways() {
        let mut count = std::collections::BTreeMap::new();
        for king in File::ALL {
            for rook in File::ALL.into_iter().filter(|rook| *rook != king) {
                // A king between two rooks never stands in a corner.
                if matches!(king, File::A | File::H) {
                    continue;
                }
                let on = |file| Square::from_coords(file, Rank::First);
                let castling = Castling::of(Move::Castle { king: on(king), rook: on(rook) }).unwrap();
                let (vacated, filled) = castling.changes();
                assert_eq!(vacated.len(), filled.len());
                assert_eq!(vacated.is_empty(), castling.method() == CastlingMethod::Transposition);
                *count.entry(castling.method().as_str()).or_insert(0) += 1;
            }
        }
        let told = [("double", 30), ("king-only", 7), ("rook-only", 3), ("transposition", 2)];
        assert_eq!(count.into_iter().collect::<Vec<_>>(), told);
    }
}
