//! Which way one of two boards lies.
//!
//! The men of a set-up stand alike seen from both sides where only occupancy is told. So a board counts as
//! lying as its squares are numbered until it shows something else: a picture that is that of the game only
//! when it is turned, or a man that leaves a square where nothing can happen while something can on the square
//! across.

use shakmaty::{Bitboard, Square};

use super::{Seen, turn};
use crate::session::{event::Event, settings::OrientationSetting};

/// The way a board lies, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Lie {
    turned: bool,
    /// A picture has still to show it.
    open: bool,
    /// The configuration says it.
    fixed: bool,
    /// What the board shows, as its squares are numbered; nothing before it was seen.
    picture: Option<Bitboard>,
}

impl Lie {
    pub(super) fn new(setting: OrientationSetting) -> Lie {
        Lie {
            turned: setting == OrientationSetting::WhiteNorth,
            open: setting == OrientationSetting::Auto,
            fixed: setting != OrientationSetting::Auto,
            picture: None,
        }
    }

    /// It may lie another way from now on.
    pub(super) fn open(&mut self) {
        self.open = !self.fixed;
    }

    /// The square of the game over a square of the board.
    pub(super) fn square(&self, square: Square) -> Square {
        if self.turned { square.rotate_180() } else { square }
    }

    /// The event in the numbering of the game; true when it shows that the board lies turned.
    pub(super) fn read(&mut self, event: &Event, seen: &impl Seen) -> (Event, bool) {
        let before = self.turned;
        match event {
            Event::Occupied(occupied) => self.report(*occupied, seen),
            Event::Pieces(men) => self.report(men.occupied(), seen),
            Event::Square { square, occupied } => self.change(*square, *occupied, seen),
            Event::Piece { square, piece } => self.change(*square, piece.is_some(), seen),
            _ => return (event.clone(), false),
        }
        let mut told = event.clone();
        if self.turned {
            turn(&mut told);
        }
        let news = self.turned && !before;
        // A man that is put back shows nothing any more; it was that man all the same.
        self.compare(seen.game());
        (told, news)
    }

    fn report(&mut self, picture: Bitboard, seen: &impl Seen) {
        self.picture = Some(picture);
        self.compare(seen.game());
    }

    fn change(&mut self, square: Square, occupied: bool, seen: &impl Seen) {
        if self.open {
            let game = seen.game();
            self.compare(game);
            let across = square.rotate_180();
            let first = self.picture.is_none_or(|picture| picture == picture.rotate_180());
            if self.open && first && !occupied && !seen.expects(square) && seen.expects(across) {
                self.turned = true;
            }
            self.picture.get_or_insert(game);
        }
        if let Some(picture) = &mut self.picture {
            picture.set(square, occupied);
        }
    }

    /// A picture that is that of the game in one way only settles it.
    fn compare(&mut self, game: Bitboard) {
        let Some(picture) = self.picture.filter(|_| self.open) else { return };
        match (picture == game, picture.rotate_180() == game) {
            (true, false) => (self.turned, self.open) = (false, false),
            (false, true) => (self.turned, self.open) = (true, false),
            // The first man was put back: it showed nothing.
            (true, true) => self.turned = false,
            (false, false) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Board;

    use super::*;

    struct Game {
        occupied: Bitboard,
        expected: Bitboard,
    }

    impl Seen for Game {
        fn game(&self) -> Bitboard {
            self.occupied
        }
        fn expects(&self, square: Square) -> bool {
            self.expected.contains(square)
        }
    }

    fn start(expected: Bitboard) -> Game {
        Game { occupied: Board::new().occupied(), expected }
    }

    fn square(square: Square, occupied: bool) -> Event {
        Event::Square { square, occupied }
    }

    #[test]
    fn the_first_man_that_can_only_be_one_of_the_other_side_turns_the_board() {
        let mut game = start(Bitboard::from(shakmaty::Rank::Second));
        let mut lie = Lie::new(OrientationSetting::Auto);
        assert_eq!(lie.read(&square(Square::D7, false), &game), (square(Square::E2, false), true));
        // It was put back: the board lies as it did.
        assert_eq!(lie.read(&square(Square::D7, true), &game).0, square(Square::E2, true));
        assert_eq!(lie.read(&square(Square::E2, false), &game), (square(Square::E2, false), false));
        assert_eq!(lie.read(&square(Square::E2, true), &game).0, square(Square::E2, true));
        // A move settles it.
        assert_eq!(lie.read(&square(Square::D7, false), &game).0, square(Square::E2, false));
        assert_eq!(lie.read(&square(Square::D5, true), &game).0, square(Square::E4, true));
        game.occupied.toggle(Square::E2);
        game.occupied.toggle(Square::E4);
        game.expected = Bitboard::from(shakmaty::Rank::Seventh);
        assert_eq!(lie.read(&square(Square::D2, false), &game), (square(Square::E7, false), false));
        assert_eq!(lie.read(&square(Square::D2, true), &game).0, square(Square::E7, true));
        assert_eq!(lie.square(Square::A1), Square::H8);
    }

    #[test]
    fn a_report_shows_which_way_a_board_lies_that_came_in_the_game() {
        let mut game = start(Bitboard::EMPTY);
        game.occupied.toggle(Square::E2);
        game.occupied.toggle(Square::E4);
        let mut lie = Lie::new(OrientationSetting::Auto);
        let picture = game.occupied.rotate_180();
        assert_eq!(lie.read(&Event::Occupied(picture), &game), (Event::Occupied(game.occupied), true));
        assert_eq!(lie.read(&square(Square::D5, false), &game).0, square(Square::E4, false));
        // Another board in its place, the usual way round.
        lie.open();
        assert_eq!(lie.read(&Event::Occupied(game.occupied), &game), (Event::Occupied(game.occupied), false));
    }

    #[test]
    fn what_is_configured_holds() {
        let game = start(Bitboard::FULL);
        let mut lie = Lie::new(OrientationSetting::WhiteNorth);
        lie.open();
        assert_eq!(lie.read(&square(Square::A1, false), &game), (square(Square::H8, false), false));
        let mut lie = Lie::new(OrientationSetting::WhiteSouth);
        assert_eq!(
            lie.read(&square(Square::D7, false), &start(Bitboard::EMPTY)).0,
            square(Square::D7, false)
        );
    }
}
