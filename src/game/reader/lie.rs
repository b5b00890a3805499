//! Which way one of two boards lies.
//!
//! The men of a set-up stand alike seen from both sides where only occupancy is told. So a board counts as
//! lying as its squares are numbered until it shows something else: a picture that is that of the game only
//! when it is turned, or a man that leaves a square where nothing can happen while something can on the square
//! across.

use shakmaty::{Bitboard, Square};

use super::{Seen, turn};
use crate::session::{event::Event, settings::OrientationSetting};

/// So many changes may follow a first lift before it is clear which man that was.
const MAX_DOUBT: usize = 8;

/// What was told of a board that turned out to lie turned by its last change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::game) struct TurnedOver {
    /// What takes back that which was told as the squares are numbered.
    pub undone: Vec<(Square, bool)>,
    /// What happened, in the numbering of the game.
    pub done: Vec<(Square, bool)>,
}

/// A first lift that means one man on a board that lies as it is numbered, and another one on a board that lies turned.
#[derive(Clone, Debug)]
struct Doubt {
    /// What the board shows, as its squares are numbered.
    picture: Bitboard,
    /// What was told since.
    told: Vec<(Square, bool)>,
}

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
    /// What was told since a man left the board that its player may touch, while the one across is expected to leave.
    doubt: Option<Doubt>,
    /// The last change showed that the board lies turned.
    over: Option<TurnedOver>,
}

impl Lie {
    pub(super) fn new(setting: OrientationSetting) -> Lie {
        Lie {
            turned: setting == OrientationSetting::WhiteNorth,
            open: setting == OrientationSetting::Auto,
            fixed: setting != OrientationSetting::Auto,
            picture: None,
            doubt: None,
            over: None,
        }
    }

    /// What was told before the change that was read last showed that the board lies turned, and what that was.
    pub(super) fn take_over(&mut self) -> Option<TurnedOver> {
        self.over.take()
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
        self.doubt = None;
        self.compare(seen.game());
    }

    fn change(&mut self, square: Square, occupied: bool, seen: &impl Seen) {
        if self.open {
            let game = seen.game();
            self.compare(game);
            let across = square.rotate_180();
            let first = self.picture.is_none_or(|picture| picture == picture.rotate_180());
            if self.open && first && !occupied && !seen.expects(square) && seen.expects(across) {
                if seen.may_touch(square) && !self.turned {
                    let picture = self.picture.unwrap_or_else(|| seen.shown());
                    self.doubt = Some(Doubt { picture, told: Vec::new() });
                } else {
                    self.turned = true;
                }
            }
            self.picture.get_or_insert(game);
        }
        if let Some(picture) = &mut self.picture {
            picture.set(square, occupied);
        }
        if self.doubt.is_some() {
            self.look_at_doubt((square, occupied), seen.game());
        }
    }

    /// A man left that its player may touch, or the one across on a board that lies turned: what follows shows which.
    fn look_at_doubt(&mut self, change: (Square, bool), game: Bitboard) {
        let Some(Doubt { mut picture, mut told }) = self.doubt.take() else { return };
        picture.set(change.0, change.1);
        let across = |(square, occupied): &(Square, bool)| (square.rotate_180(), *occupied);
        let back = |(square, occupied): &(Square, bool)| (*square, !occupied);
        if picture != game && picture.rotate_180() == game {
            let done = told.iter().chain([&change]).map(across).collect();
            self.over = Some(TurnedOver { undone: told.iter().rev().map(back).collect(), done });
            self.picture = Some(picture);
            (self.turned, self.open) = (true, false);
        } else if picture != game && picture != picture.rotate_180() && told.len() < MAX_DOUBT {
            told.push(change);
            self.doubt = Some(Doubt { picture, told });
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
        touchable: Bitboard,
    }

    impl Seen for Game {
        fn game(&self) -> Bitboard {
            self.occupied
        }
        fn shown(&self) -> Bitboard {
            self.occupied
        }
        fn expects(&self, square: Square) -> bool {
            self.expected.contains(square)
        }
        fn may_touch(&self, square: Square) -> bool {
            self.touchable.contains(square)
        }
    }

    fn start(expected: Bitboard) -> Game {
        Game { occupied: Board::new().occupied(), expected, touchable: Bitboard::EMPTY }
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

    /// After e2e4 Black lifts d7: his own man, or the pawn of White that he has to mirror on a board that lies turned.
    #[test]
    fn a_man_that_may_be_touched_does_not_turn_the_board_by_itself() {
        let mirrored = Bitboard::from_square(Square::E2).with(Square::E4);
        let mut game = start(mirrored);
        game.occupied.toggle(Square::E2);
        game.occupied.toggle(Square::E4);
        game.touchable = Bitboard::from(shakmaty::Rank::Seventh);
        let mut lie = Lie::new(OrientationSetting::Auto);
        let untouched = Event::Occupied(Board::new().occupied());
        lie.read(&untouched, &game);
        // It comes back: it was touched, and the move is mirrored then.
        for (change, occupied) in
            [(Square::D7, false), (Square::D7, true), (Square::E2, false), (Square::E4, true)]
        {
            assert_eq!(lie.read(&square(change, occupied), &game), (square(change, occupied), false));
        }
        assert_eq!(lie.take_over(), None);
        // It lands where the other one would.
        let mut lie = Lie::new(OrientationSetting::Auto);
        lie.read(&untouched, &game);
        assert_eq!(lie.read(&square(Square::D7, false), &game).0, square(Square::D7, false));
        assert!(lie.read(&square(Square::D5, true), &game).1);
        let over = TurnedOver {
            undone: vec![(Square::D7, true)],
            done: vec![(Square::E2, false), (Square::E4, true)],
        };
        assert_eq!(lie.take_over(), Some(over));
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
