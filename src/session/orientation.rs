//! Which way the board lies: found from the set-up, or from the first movement where the set-up looks
//! the same from both sides.

use shakmaty::{Bitboard, Board, Color, Position as _, Square};

use super::{
    Session,
    fact::FactKind,
    settings::OrientationSetting,
    time::MonoTime,
    tracker::{Observed, Tracker},
};

/// How the sensors lie under the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// As they are numbered.
    Normal,
    /// Turned by 180 degrees.
    Flipped,
    /// White's first rank lies on the file that the sensors call a: turned clockwise.
    Left,
    /// White's first rank lies on the file that the sensors call h.
    Right,
}

impl Turn {
    const ALL: [Turn; 4] = [Turn::Normal, Turn::Flipped, Turn::Left, Turn::Right];

    /// The same seen from the other side.
    const fn opposite(self) -> Turn {
        match self {
            Turn::Normal => Turn::Flipped,
            Turn::Flipped => Turn::Normal,
            Turn::Left => Turn::Right,
            Turn::Right => Turn::Left,
        }
    }

    const fn is_sideways(self) -> bool {
        matches!(self, Turn::Left | Turn::Right)
    }

    /// The words of the fact and of the remark.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Turn::Normal => ("normal", ""),
            Turn::Flipped => ("flipped", "rotated180"),
            Turn::Left => ("left", "rotated90"),
            Turn::Right => ("right", "rotated270"),
        }
    }
}

/// Which way the board lies, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orientation {
    pub turn: Turn,
    /// The set-up or a move has shown it.
    pub known: bool,
}

impl Orientation {
    pub(super) fn configured(setting: OrientationSetting) -> Orientation {
        let flipped = setting == OrientationSetting::WhiteNorth;
        Orientation {
            turn: if flipped { Turn::Flipped } else { Turn::Normal },
            known: setting != OrientationSetting::Auto,
        }
    }

    /// The square of the game over a square of the sensors.
    pub(super) fn square(self, square: Square) -> Square {
        match self.turn {
            Turn::Normal => square,
            Turn::Flipped => square.rotate_180(),
            Turn::Left => square.rotate_270(),
            Turn::Right => square.rotate_90(),
        }
    }

    pub(super) fn occupied(self, occupied: Bitboard) -> Bitboard {
        match self.turn {
            Turn::Normal => occupied,
            Turn::Flipped => occupied.rotate_180(),
            Turn::Left => occupied.rotate_270(),
            Turn::Right => occupied.rotate_90(),
        }
    }

    /// The squares of the sensors under squares of the game.
    pub(super) fn sensors(self, occupied: Bitboard) -> Bitboard {
        let turn = if self.turn.is_sideways() { self.turn.opposite() } else { self.turn };
        Orientation { turn, ..self }.occupied(occupied)
    }

    pub(super) fn board(self, mut board: Board) -> Board {
        match self.turn {
            Turn::Normal => {}
            Turn::Flipped => board.rotate_180(),
            Turn::Left => board.rotate_270(),
            Turn::Right => board.rotate_90(),
        }
        board
    }

    /// The way in which a set-up fits `start`, where it does not fit as it is. A set-up that fits from
    /// two opposite sides leaves open which.
    pub(super) fn of_setup(start: &Board, occupied: Bitboard, men: Option<&Board>) -> Option<Orientation> {
        let fits = |turn: Turn| {
            let way = Orientation { turn, known: true };
            match men {
                Some(men) => way.board(men.clone()) == *start,
                None => way.occupied(occupied) == start.occupied(),
            }
        };
        let turn = Turn::ALL.into_iter().find(|turn| fits(*turn))?;
        let known = !fits(turn.opposite());
        (turn != Turn::Normal).then_some(Orientation { turn, known })
    }
}

impl Session {
    pub(super) fn tell_orientation(&mut self, at: MonoTime) {
        let (value, mark) = self.orientation.turn.words();
        if !mark.is_empty() {
            self.narrator.mark(mark.to_owned());
        }
        self.tell(at, FactKind::Orientation { value });
        if self.orientation.turn == Turn::Flipped {
            self.advise(
                at,
                "orientation-flipped",
                Bitboard::EMPTY,
                "the board lies turned by 180 degrees; squares are read accordingly",
            );
        }
    }

    /// The men stand on files instead of ranks.
    fn tell_sideways(&mut self, at: MonoTime) {
        self.advise(
            at,
            "setup-rotated-90",
            Bitboard::EMPTY,
            "the board lies turned by 90 degrees to the players (Article 2.1); squares are read accordingly",
        );
    }

    /// Takes over what the set-up shows.
    pub(super) fn turn_to(&mut self, at: MonoTime, way: Orientation) {
        self.orientation = way;
        if way.turn.is_sideways() {
            self.tell_sideways(at);
        }
        if way.known {
            self.tell_orientation(at);
        }
    }

    /// A set-up that fits only when it is turned shows which way the board lies.
    pub(super) fn turn_by_setup(&mut self, at: MonoTime, occupied: Bitboard, men: Option<&Board>) {
        let open = !self.orientation.known && self.orientation.turn == Turn::Normal;
        if !open || self.narrator.plies().len() > 0 {
            return;
        }
        if let Some(way) = Orientation::of_setup(self.narrator.position().board(), occupied, men) {
            self.turn_to(at, way);
        }
    }

    /// The first movement shows which way a board lies whose set-up looks the same from both sides:
    /// it has to be a legal move.
    pub(super) fn turn_if_needed(&mut self, at: MonoTime) {
        if self.orientation.known {
            return;
        }
        if let Some(best) = self.tracker.best()
            && (self.tracker.loose_ply(best).is_some() || self.narrator.plies().len() > 0)
        {
            self.orientation.known = true;
            self.turned_by_move = true;
            if self.orientation.turn.is_sideways() {
                self.tell_orientation(at);
            }
            return;
        }
        let seen = self.tracker.seen();
        let start = self.narrator.position().clone();
        let turned = seen.occupied.rotate_180();
        // As the sensors are numbered it is a movement of the player whose clock runs.
        let passed = self.turn_passed && self.orientation.turn == Turn::Normal;
        if passed || seen.men.is_some() || start.board().occupied() != start.board().occupied().rotate_180() {
            return;
        }
        let shows = |occupied: Bitboard| {
            start.legal_moves().iter().any(|mv| {
                let mut after = start.clone();
                after.play_unchecked(*mv);
                after.board().occupied() == occupied
            })
        };
        if !shows(turned) || shows(seen.occupied) {
            return;
        }
        self.orientation = Orientation { turn: self.orientation.turn.opposite(), known: true };
        self.turned_by_move = true;
        self.tell_orientation(at);
        let mut tracker = Tracker::new(start.clone(), Observed::of(start.board().occupied(), None));
        tracker.pass_time(at, true);
        tracker.report(Observed::of(turned, None), at);
        self.tracker = tracker;
    }

    /// A board that a first movement turned, and then the other player presses over it: the movement may
    /// have been his, on a board that lies as usual.
    pub(super) fn doubt_turn(&mut self, side: Color) {
        let by_move = self.turned_by_move && self.orientation.turn == Turn::Flipped;
        let first = self.narrator.plies().len() <= 1;
        let mover = self.tracker.best().is_some_and(|best| self.tracker.len(best) == 1 && best.turn == side);
        self.odd_turn |= by_move && first && mover;
    }

    /// A press in front of the first movement: the clock of the other player runs, and a movement on his side
    /// says nothing about the board (Article 2.1).
    pub(super) fn note_turn(&mut self, side: Color) {
        if self.narrator.plies().len() == 0 {
            let position = self.narrator.position();
            let in_order = self.tracker.seen().shows(position.board().occupied());
            self.turn_passed = position.turn() == side && in_order;
        }
    }

    /// A first movement that was put back shows nothing: it may have been that of the player who does
    /// not have the move.
    pub(super) fn reopen_turn(&mut self) {
        if !self.turned_by_move || self.narrator.plies().len() > 0 {
            return;
        }
        let start = self.narrator.position().board().occupied();
        let seen = self.tracker.seen();
        let moved = self.tracker.best().is_some_and(|best| self.tracker.loose_ply(best).is_some());
        if !moved && seen.men.is_none() && seen.occupied == start && start == start.rotate_180() {
            self.orientation.known = false;
            self.turned_by_move = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_sensors_show_is_turned_back() {
        for turn in Turn::ALL {
            let way = Orientation { turn, known: true };
            for square in Square::ALL {
                let sensor = way.sensors(Bitboard::from_square(square)).single_square().unwrap();
                assert_eq!(way.square(sensor), square);
            }
        }
        let left = Orientation { turn: Turn::Left, known: true };
        assert_eq!(left.square(Square::A1), Square::H1);
        assert_eq!(left.square(Square::A8), Square::A1);
    }
}
