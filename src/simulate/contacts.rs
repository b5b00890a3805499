//! The contacts under the squares: which man closes each one, and when that changes.

use shakmaty::{Board, Piece, Square};

/// A contact that changed for good (before bounce), in microseconds from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contact {
    pub(super) at: u64,
    pub(super) square: Square,
    /// The man that closes it now; `None` when it opened.
    pub(super) man: Option<Piece>,
}

/// What is known about one contact.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    man: Option<Piece>,
    /// The time of its last change, 0 while there was none.
    changed: u64,
    /// A change that comes by itself at a time, unless a hand changes the square before.
    coming: Option<(u64, Option<Piece>)>,
}

/// All contacts of the board and their history.
#[derive(Clone, Debug)]
pub(super) struct Contacts {
    squares: [State; 64],
    log: Vec<Contact>,
}

/// Shortest time between two changes of one contact.
const REST_US: u64 = 1_000;

impl Contacts {
    pub(super) fn new(men: &Board) -> Contacts {
        let mut squares = [State::default(); 64];
        for (square, state) in Square::ALL.into_iter().zip(&mut squares) {
            state.man = men.piece_at(square);
        }
        Contacts { squares, log: Vec::new() }
    }

    fn state(&self, square: Square) -> State {
        self.squares.get(usize::from(square)).copied().unwrap_or_default()
    }

    /// Changes a contact at `at`, or as soon after it as its last change allows. Nothing happens
    /// when it is in that state already. Gives the time at which it is so.
    pub(super) fn set(&mut self, at: u64, square: Square, man: Option<Piece>) -> u64 {
        let mut state = self.state(square);
        // What was to come by itself before now has come; the rest is overtaken by the hand.
        if let Some((due, coming)) = state.coming.take().filter(|(due, _)| due.saturating_add(REST_US) <= at)
        {
            self.change(&mut state, due, square, coming);
        }
        let at = if state.changed == 0 { at } else { at.max(state.changed + REST_US) };
        self.change(&mut state, at, square, man);
        self.put(square, state);
        at
    }

    /// Lets a contact change by itself at `due`.
    pub(super) fn later(&mut self, due: u64, square: Square, man: Option<Piece>) {
        let mut state = self.state(square);
        state.coming = Some((due.max(state.changed + REST_US), man));
        self.put(square, state);
    }

    fn change(&mut self, state: &mut State, at: u64, square: Square, man: Option<Piece>) {
        if state.man != man {
            state.man = man;
            state.changed = at;
            self.log.push(Contact { at, square, man });
        }
    }

    fn put(&mut self, square: Square, state: State) {
        if let Some(slot) = self.squares.get_mut(usize::from(square)) {
            *slot = state;
        }
    }

    /// True while the contact is closed, after everything that was set so far.
    pub(super) fn is_closed(&self, square: Square) -> bool {
        self.state(square).man.is_some()
    }

    /// True when nothing that was set so far happens to the square at or after `at`.
    pub(super) fn is_quiet(&self, square: Square, at: u64) -> bool {
        let state = self.state(square);
        state.coming.is_none() && state.changed.saturating_add(REST_US) < at
    }

    /// Whatever was still to come has come by `until`.
    pub(super) fn settle(&mut self, until: u64) {
        for square in Square::ALL {
            let mut state = self.state(square);
            if let Some((due, man)) = state.coming.take() {
                let at = due.min(until).max(state.changed + REST_US);
                self.change(&mut state, at, square, man);
                self.put(square, state);
            }
        }
    }

    /// When the last contact of all changed.
    pub(super) fn last_change(&self) -> u64 {
        self.squares.iter().map(|state| state.changed).max().unwrap_or(0)
    }

    /// Everything that happened, in the order of time.
    pub(super) fn into_log(self) -> Vec<Contact> {
        let mut log = self.log;
        log.sort_by_key(|contact| (contact.at, contact.square));
        log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAWN: Option<Piece> = Some(Piece { color: shakmaty::Color::White, role: shakmaty::Role::Pawn });

    fn board() -> Contacts {
        let mut men = Board::empty();
        men.set_piece_at(Square::E2, PAWN.unwrap());
        Contacts::new(&men)
    }

    fn times(contacts: Contacts) -> Vec<(u64, bool)> {
        contacts.into_log().iter().map(|contact| (contact.at, contact.man.is_some())).collect()
    }

    #[test]
    fn a_contact_that_is_in_that_state_does_not_change() {
        let mut contacts = board();
        contacts.set(10, Square::E2, PAWN);
        contacts.set(20, Square::E2, None);
        contacts.set(20, Square::E2, PAWN);
        assert_eq!(times(contacts), [(20, false), (20 + REST_US, true)]);
    }

    #[test]
    fn a_late_contact_comes_unless_a_hand_is_there_first() {
        let mut contacts = board();
        contacts.later(5_000, Square::E4, PAWN);
        assert!(!contacts.is_closed(Square::E4));
        contacts.set(9_000, Square::E4, None);
        contacts.later(20_000, Square::E4, PAWN);
        contacts.set(15_000, Square::E4, None);
        contacts.later(90_000, Square::E4, PAWN);
        contacts.settle(50_000);
        assert_eq!(times(contacts), [(5_000, true), (9_000, false), (50_000, true)]);
    }
}
