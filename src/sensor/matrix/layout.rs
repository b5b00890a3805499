//! Which square each crossing of the matrix is.

use shakmaty::{Bitboard, Square};

use super::{LINES, Rows};

/// The square of each crossing: every square is exactly one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    squares: [Square; 64],
}

/// A list of squares in which one is missing and another one is there twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is in the list twice; each square belongs to one crossing")]
pub struct LayoutError(
    /// The square.
    pub Square,
);

impl Default for Layout {
    /// Row 0 is the first rank, column 0 the a-file.
    fn default() -> Layout {
        Layout { squares: Square::ALL }
    }
}

impl Layout {
    /// A layout by the squares of the crossings, row by row.
    ///
    /// # Errors
    /// A square is there twice.
    pub fn new(squares: [Square; 64]) -> Result<Layout, LayoutError> {
        let mut seen = Bitboard::EMPTY;
        for square in squares {
            if seen.contains(square) {
                return Err(LayoutError(square));
            }
            seen.add(square);
        }
        Ok(Layout { squares })
    }

    /// The squares of the crossings, row by row.
    pub const fn squares(&self) -> [Square; 64] {
        self.squares
    }

    /// The square at a row and a column, each 0 to 7.
    pub fn square(&self, row: usize, column: usize) -> Option<Square> {
        if row >= LINES || column >= LINES {
            return None;
        }
        self.squares.get(row * LINES + column).copied()
    }

    /// The row and the column of a square.
    pub fn crossing(&self, square: Square) -> (usize, usize) {
        let index = self.squares.iter().position(|other| *other == square).unwrap_or(0);
        (index / LINES, index % LINES)
    }

    /// The squares that a scan read as occupied.
    pub fn occupied(&self, rows: &Rows) -> Bitboard {
        let mut occupied = Bitboard::EMPTY;
        for (row, columns) in rows.iter().enumerate() {
            for column in (0..LINES).filter(|column| columns >> column & 1 == 1) {
                if let Some(square) = self.square(row, column) {
                    occupied.add(square);
                }
            }
        }
        occupied
    }

    /// What a scan reads when the contacts of `occupied` are closed and everything is in order.
    pub fn rows(&self, occupied: Bitboard) -> Rows {
        let mut rows = [0; LINES];
        for square in occupied {
            let (row, column) = self.crossing(square);
            if let Some(columns) = rows.get_mut(row) {
                *columns |= 1 << column;
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn squares_and_crossings_are_one_to_one(order in Just(Square::ALL.to_vec()).prop_shuffle(), men in any::<u64>()) {
            let layout = Layout::new(order.try_into().unwrap()).unwrap();
            prop_assert_eq!(layout.occupied(&layout.rows(Bitboard(men))), Bitboard(men));
            for square in Square::ALL {
                let (row, column) = layout.crossing(square);
                prop_assert_eq!(layout.square(row, column), Some(square));
            }
        }
    }

    #[test]
    fn a_square_belongs_to_one_crossing() {
        let mut squares = Square::ALL;
        squares[5] = Square::A1;
        let error = Layout::new(squares).unwrap_err();
        assert_eq!(error.to_string(), "a1 is in the list twice; each square belongs to one crossing");
        assert_eq!(Layout::default().square(8, 0), None);
        assert_eq!(Layout::default().square(0, 8), None);
    }
}
