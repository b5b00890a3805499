//! Which way the board lies: found from the set-up, or from the first movement where the set-up looks
//! the same from both sides.

use shakmaty::{Bitboard, Board, Position as _, Square};

use super::{
    Session,
    fact::FactKind,
    time::MonoTime,
    tracker::{Observed, Tracker},
};

/// Which way the board lies, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orientation {
    pub flipped: bool,
    /// The set-up or a move has shown it.
    pub known: bool,
}

impl Orientation {
    pub(super) fn square(self, square: Square) -> Square {
        if self.flipped { square.rotate_180() } else { square }
    }

    pub(super) fn occupied(self, occupied: Bitboard) -> Bitboard {
        if self.flipped { occupied.rotate_180() } else { occupied }
    }

    pub(super) fn board(self, mut board: Board) -> Board {
        if self.flipped {
            board.rotate_180();
        }
        board
    }
}

impl Session {
    pub(super) fn tell_orientation(&mut self, at: MonoTime) {
        self.narrator.mark("rotated180".to_owned());
        self.tell(at, FactKind::Orientation { value: "flipped" });
        self.advise(
            at,
            "orientation-flipped",
            Bitboard::EMPTY,
            "the board lies turned by 180 degrees; squares are read accordingly",
        );
    }

    /// A set-up that fits only when it is turned shows which way the board lies.
    pub(super) fn turn_by_setup(&mut self, at: MonoTime, occupied: Bitboard, men: Option<&Board>) {
        if self.orientation.known || self.narrator.plies().len() > 0 {
            return;
        }
        let start = self.narrator.position().board();
        let fits = |turned: bool| {
            let way = Orientation { flipped: turned, known: true };
            match men {
                Some(men) => way.board(men.clone()) == *start,
                None => way.occupied(occupied) == start.occupied(),
            }
        };
        if fits(true) && !fits(false) {
            self.orientation = Orientation { flipped: true, known: true };
            self.tell_orientation(at);
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
            return;
        }
        let seen = self.tracker.seen();
        let start = self.narrator.position().clone();
        let turned = seen.occupied.rotate_180();
        if seen.men.is_some() || start.board().occupied() != start.board().occupied().rotate_180() {
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
        self.orientation = Orientation { flipped: true, known: true };
        self.tell_orientation(at);
        let mut tracker =
            Tracker::new(start.clone(), Observed { occupied: start.board().occupied(), men: None });
        tracker.pass_time(at, true);
        tracker.report(Observed { occupied: turned, men: None }, at);
        self.tracker = tracker;
    }
}
