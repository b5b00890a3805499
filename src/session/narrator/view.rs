//! The state that is shown between two events.

use shakmaty::{Bitboard, Board, Chess, Move, Position as _, Role};

use super::{Moment, Narrator, conditions::CENTRE, held::Held, irregular::Wrong, touches::captured};
use crate::session::{
    fact::{FactKind, law::Audience},
    tracker::{Cause, Observed, Reading, Tracker},
    view::{State, View},
};

impl Narrator {
    /// The state at this moment.
    pub(in crate::session) fn view(&self, tracker: &Tracker) -> View {
        let mut view = View { plies: self.told.len(), ..View::default() };
        let Some(best) = tracker.best() else { return view };
        if self.is_over() {
            view.state = State::GameOver;
            view.result = Some(self.ending.result);
        } else {
            self.playing(tracker, best, &mut view);
        }
        view.flags.clone_from(&self.marks);
        let open = view.candidate.is_some() || !view.candidates.is_empty();
        if open && self.shown_held().is_none() && self.candidate_is_told() {
            view.plies -= 1;
        }
        view
    }

    fn shown_held(&self) -> Option<&Held> {
        self.held.as_ref().filter(|held| !held.candidates.is_empty())
    }

    fn candidate_is_told(&self) -> bool {
        let told = self.uncompleted_last().map(|told| told.mv);
        told.is_some()
            && (told == self.candidate || (self.candidate.is_none() && told == self.open_promotion()))
    }

    fn playing(&self, tracker: &Tracker, best: &Reading, view: &mut View) {
        let seen = tracker.seen();
        if let Some(signal) = self.ending.signal
            && self.ending.signal_is_told()
        {
            view.state = State::ResultSignal;
            view.result = Some(signal.result);
            return;
        }
        if let Some(fault) = self.fault {
            view.state = State::Fault;
            view.alert = Some(fault.to_owned());
            return;
        }
        if start_array(self, tracker) {
            view.state = State::Mismatch;
            view.alert = Some("start_position_without_result".to_owned());
            return;
        }
        if self.is_frozen() {
            self.while_paused(tracker, best, view);
            return;
        }
        let differs = seen.differs(self.position().board());
        if self.wrong.as_ref().is_some_and(|wrong| matches!(wrong.state, State::Incomplete | State::Fault))
            && self.show_wrong(differs, view)
        {
            return;
        }
        if let Some(held) = self.shown_held() {
            view.state = State::Ambiguous;
            view.plies = held.index;
            view.candidates.clone_from(&held.candidates);
            return;
        }
        if !self.ambiguous.is_empty() {
            view.state = State::Ambiguous;
            view.candidates.clone_from(&self.ambiguous);
            return;
        }
        if let Some(mv) = self.open_promotion() {
            view.state = State::Ambiguous;
            view.candidates = promotions(mv).into_iter().map(|mv| self.uci(mv)).collect();
            return;
        }
        if let Some(mv) = self.candidate {
            view.state = State::Provisional;
            view.candidate = Some(self.uci(mv));
            let position = self.position();
            let next = if self.candidate_is_told() { position.us() } else { position.them() };
            let taken = captured(&mv).map_or(Bitboard::EMPTY, Bitboard::from_square);
            let empty = seen.empty(position.board().occupied());
            view.in_hand = (empty & next & !taken).into_iter().collect();
            return;
        }
        if self.show_wrong(differs, view) {
            return;
        }
        self.by_moment(tracker, differs, view);
    }

    fn by_moment(&self, tracker: &Tracker, differs: Bitboard, view: &mut View) {
        let seen = tracker.seen();
        let to_move = self.position().us();
        let missing = differs & !seen.occupied;
        let only_next_in_hand = differs == missing && missing.is_subset(to_move);
        let uncompleted = self.uncompleted_last().is_some();
        let lifted_now = matches!(self.moment, Moment::Board(Cause::Lift(_)));
        if differs.is_empty() || (only_next_in_hand && !lifted_now && (uncompleted || self.just_completed)) {
            view.in_hand = missing.into_iter().collect();
            view.state = if self.just_completed {
                State::Completed
            } else if self.took_back && differs.is_empty() {
                State::Takeback
            } else if uncompleted {
                State::Made
            } else {
                State::Idle
            };
            return;
        }
        if self.just_completed {
            view.state = State::Completed;
            view.in_hand = (missing & to_move).into_iter().collect();
            return;
        }
        let extra = differs & seen.occupied;
        if let Some(squares) = self.out_of_turn(differs, seen) {
            view.state = State::OutOfTurn;
            view.squares = squares.into_iter().collect();
        } else if missing.is_empty() && !self.reachable(extra, seen) {
            view.state = State::Mismatch;
            view.squares = extra.into_iter().collect();
        } else if matches!(self.moment, Moment::Board(Cause::Report)) && (missing.count() > 2 || extra.any())
        {
            // A whole report is no snapshot of a hand at work: other men stand there.
            view.state = State::Mismatch;
            view.squares = differs.into_iter().collect();
        } else {
            view.state = State::Pending;
            view.candidate = self.unfinished(tracker).map(|mv| self.uci(mv));
        }
        let (must_move, must_capture) = self.obligations();
        view.must_move = must_move.into_iter().collect();
        view.must_capture = must_capture.into_iter().collect();
    }

    fn show_wrong(&self, differs: Bitboard, view: &mut View) -> bool {
        let Some(Wrong { state, attempt, candidate, missing, .. }) = &self.wrong else { return false };
        if differs.is_empty() && *state != State::NoMove {
            return false;
        }
        if *state == State::NoMove && !matches!(self.moment, Moment::Board(Cause::Press(_)) | Moment::Other) {
            return false;
        }
        view.state = *state;
        if let (State::Fault, Some(square)) = (state, missing) {
            view.alert = Some(format!("piece_missing:{square}"));
            view.candidates = self.landings(*square);
            return true;
        }
        if *state == State::Mismatch {
            view.squares = differs.into_iter().collect();
        }
        view.attempt.clone_from(attempt);
        view.candidate = candidate.map(|mv| self.uci(mv));
        true
    }

    /// A promotion on an occupancy board that is not completed: the piece is open.
    pub(super) fn open_promotion(&self) -> Option<Move> {
        if self.identity {
            return None;
        }
        let told = self.uncompleted_last().map(|told| told.mv);
        self.candidate.or(told).filter(|mv| mv.is_promotion())
    }

    fn while_paused(&self, tracker: &Tracker, best: &Reading, view: &mut View) {
        let seen = tracker.seen();
        let differs = seen.differs(self.position().board());
        if differs.is_empty() {
            view.state = if self.uncompleted_last().is_some() { State::Made } else { State::Idle };
            return;
        }
        let kings = self.position().board().kings();
        let king_to_centre = (differs & !kings & !CENTRE).is_empty();
        if !king_to_centre {
            view.state = State::NotInPlay;
            view.squares = differs.into_iter().collect();
            return;
        }
        view.state = State::Pending;
        if tracker.len(best) > self.told.len()
            && let Some(ply) = tracker.loose_ply(best)
        {
            view.state = State::Provisional;
            view.candidate = Some(self.uci(ply.mv));
        } else if let Some(mv) = self.legal_that_shows(seen) {
            view.state = State::Provisional;
            view.candidate = Some(self.uci(mv));
        }
    }

    fn legal_that_shows(&self, seen: &Observed) -> Option<Move> {
        let position = self.position();
        position.legal_moves().into_iter().find(|mv| {
            let mut after = position.clone();
            after.play_unchecked(*mv);
            seen.shows(after.board().occupied())
        })
    }

    /// Whether the board shows a legal move of the side that does not have the move.
    fn out_of_turn(&self, differs: Bitboard, seen: &Observed) -> Option<Bitboard> {
        let position = self.position();
        let moved = differs & position.them() & !seen.occupied;
        if moved.count() != 1 || (differs & seen.occupied).is_empty() {
            return None;
        }
        let other = position.clone().swap_turn().ok()?;
        let shows = other.legal_moves().iter().any(|mv| {
            let mut after = other.clone();
            after.play_unchecked(*mv);
            seen.shows(after.board().occupied())
        });
        shows.then_some(differs)
    }

    /// Whether the side to move could have put a man on one of these squares.
    fn reachable(&self, squares: Bitboard, seen: &Observed) -> bool {
        let position = self.position();
        position.legal_moves().iter().any(|mv| {
            let man = mv.promotion().unwrap_or(mv.role()).of(position.turn());
            let fits = seen.men.as_ref().is_none_or(|men| men.piece_at(mv.to()) == Some(man));
            squares.contains(mv.to()) && fits && !mv.is_capture()
        })
    }

    /// The array of the initial position in mid game is an alert, never a new game.
    pub(super) fn alert_start_array(&mut self, tracker: &Tracker) -> Option<FactKind> {
        let shown = start_array(self, tracker);
        let first = shown && !self.alerted_start;
        self.alerted_start = shown;
        first.then(|| FactKind::Advisory {
            code: "start-position-without-result",
            side: None,
            squares: Bitboard::EMPTY,
            to: Audience::Arbiter,
            detail: "the initial position stands on the board and the game has no result".into(),
        })
    }
}

fn start_array(narrator: &Narrator, tracker: &Tracker) -> bool {
    let array = Board::new().occupied();
    let other = |position: &Chess| position.board().occupied() != array;
    // Men that were shuffled back by legal moves are no new set-up.
    tracker.seen().occupied == array
        && other(narrator.position())
        && tracker.best().is_none_or(|best| other(tracker.position(best)))
}

fn promotions(mv: Move) -> Vec<Move> {
    let Move::Normal { role, from, capture, to, .. } = mv else { return Vec::new() };
    [Role::Queen, Role::Rook, Role::Bishop, Role::Knight]
        .into_iter()
        .map(|piece| Move::Normal { role, from, capture, to, promotion: Some(piece) })
        .collect()
}
