//! What a hand does to the men: lifting, carrying, putting down, with the accidents on the way.

use shakmaty::{Bitboard, Board, ByColor, Color, Piece, Square, attacks};

use super::{
    Touch, TouchKind,
    clock::{ClockDeed, Deed},
    contacts::Contacts,
    params::{Params, Rate, Span},
    rng::Rng,
};

/// Both players' hands, the board under them and the clock beside it.
#[derive(Debug)]
pub(super) struct Hands<'a> {
    pub(super) params: &'a Params,
    pub(super) rng: Rng,
    /// Where the men really stand.
    pub(super) men: Board,
    pub(super) contacts: Contacts,
    pub(super) deeds: Vec<ClockDeed>,
    pub(super) touches: Vec<Touch>,
    /// What went wrong in the ply that is being played.
    pub(super) mishaps: Vec<&'static str>,
    /// Where the hand is in time: microseconds from the start.
    pub(super) now: u64,
    /// The player whose hand it is.
    pub(super) by: Color,
    /// When the move that is being played could be recognised, though more of it is to follow.
    pub(super) recognised: Option<u64>,
    /// The press that came before the move was finished, and whether it was reported.
    pub(super) pressed: Option<(Option<u64>, bool)>,
    /// Men lie about until this time: nobody moves.
    pub(super) disorder_until: u64,
    /// When each player has a hand free after the last turn.
    pub(super) free: ByColor<u64>,
    /// A player who is early holds the man until the opponent has pressed.
    pub(super) hold_until: u64,
}

impl Hands<'_> {
    /// Throws the dice for a mishap and notes it when it happens.
    pub(super) fn mishap(&mut self, rate: Rate, name: &'static str) -> bool {
        let happens = self.rng.happens(rate);
        if happens {
            self.mishaps.push(name);
        }
        happens
    }

    /// Throws the dice for a mishap that needs something to happen to: notes it only when there is
    /// one, and gives it.
    pub(super) fn mishap_with<T: Copy>(
        &mut self,
        rate: Rate,
        name: &'static str,
        choices: &[T],
    ) -> Option<T> {
        let chosen = if self.rng.happens(rate) { self.rng.pick(choices) } else { None };
        if chosen.is_some() {
            self.mishaps.push(name);
        }
        chosen
    }

    /// Time for a movement of the hand.
    pub(super) fn take(&mut self, span: Span) {
        self.now += self.rng.movement(span);
    }

    /// The hand goes to another man or puts a captured one aside.
    pub(super) fn reach(&mut self) {
        self.take(self.params.timing.reach);
    }

    /// True when a man stands on the square, seen by its contact or not.
    pub(super) fn stands(&self, square: Square) -> bool {
        self.men.occupied().contains(square)
    }

    /// Takes the man of a square into the hand.
    pub(super) fn lift(&mut self, square: Square, kind: TouchKind) -> Option<Piece> {
        let man = self.men.remove_piece_at(square)?;
        if self.contacts.is_closed(square) && self.mishap(self.params.mishaps.sticky, "sticky") {
            let late = self.now + self.rng.decision(self.params.timing.sticky);
            self.contacts.later(late, square, None);
        } else {
            self.now = self.contacts.set(self.now, square, None);
        }
        self.touches.push(Touch { at_us: self.now, square, by: Some(self.by), kind });
        Some(man)
    }

    /// Puts a man on a square.
    pub(super) fn place(&mut self, square: Square, man: Option<Piece>) {
        let Some(man) = man else { return };
        self.now = self.now.max(self.hold_until);
        self.men.set_piece_at(square, man);
        if !self.contacts.is_closed(square) && self.mishap(self.params.mishaps.off_centre, "off-centre") {
            let late = self.now + self.rng.decision(self.params.timing.off_centre);
            self.contacts.later(late, square, Some(man));
        } else {
            self.now = self.contacts.set(self.now, square, Some(man));
        }
    }

    /// Carries a man that was lifted from `from` to `to`: slid or in the air, perhaps with a stop.
    pub(super) fn carry(&mut self, from: Square, to: Square, man: Option<Piece>) {
        let timing = &self.params.timing;
        let steps = u64::from(from.distance(to).max(1));
        let time =
            self.rng.movement(timing.travel) + (steps - 1) * self.rng.movement(timing.travel_per_square);
        let way = self.way(from, to);
        let mut stops = way.clone();
        stops.extend(self.beside(to).into_iter().filter(|square| *square != from && self.is_free(*square)));
        if let Some(stop) = self.mishap_with(self.params.mishaps.hover, "hover", &stops) {
            self.now += time;
            self.stop(stop, man);
        } else if !way.is_empty() && self.mishap(self.params.mishaps.slide, "slide") {
            self.slide(&way, time, man);
        } else {
            self.now += time / 2;
            self.brush(from, to, man);
            self.now += time - time / 2;
        }
    }

    fn beside(&self, square: Square) -> Bitboard {
        attacks::king_attacks(square)
    }

    /// The free squares of a movement along a line, in its order; none where one is not free.
    fn way(&self, from: Square, to: Square) -> Vec<Square> {
        let mut way: Vec<Square> = attacks::between(from, to).into_iter().collect();
        way.sort_by_key(|square| square.distance(from));
        if way.iter().all(|square| self.is_free(*square)) { way } else { Vec::new() }
    }

    /// True when a man can pass the square without meeting anything else.
    fn is_free(&self, square: Square) -> bool {
        !self.stands(square) && !self.contacts.is_closed(square) && self.contacts.is_quiet(square, self.now)
    }

    fn slide(&mut self, way: &[Square], time: u64, man: Option<Piece>) {
        let count = u64::try_from(way.len()).unwrap_or(u64::MAX - 1) + 1;
        for square in way {
            self.now += time / count;
            let passing = self.rng.movement(self.params.timing.passing);
            self.contacts.set(self.now, *square, man);
            // The next contact may close before this one opens.
            self.contacts.set(self.now + passing, *square, None);
        }
        self.now += time / count;
    }

    /// The man is set down on a square that is not its target.
    fn stop(&mut self, square: Square, man: Option<Piece>) {
        self.now = self.contacts.set(self.now, square, man);
        self.now += self.rng.decision(self.params.timing.hover);
        self.now = self.contacts.set(self.now, square, None);
        self.take(self.params.timing.travel);
    }

    /// The carried man may come too close to a free square beside its way, or nudge a man there.
    fn brush(&mut self, from: Square, to: Square, man: Option<Piece>) {
        let near = self.beside(from) | self.beside(to) | attacks::between(from, to);
        let near: Vec<Square> = near.into_iter().filter(|square| *square != from && *square != to).collect();
        let free: Vec<Square> = near.iter().copied().filter(|square| self.is_free(*square)).collect();
        if let Some(square) = self.mishap_with(self.params.mishaps.brush, "brush", &free) {
            let passing = self.rng.movement(self.params.timing.passing);
            let closed = self.contacts.set(self.now, square, man);
            self.contacts.set(closed + passing, square, None);
        }
        let men: Vec<Square> =
            near.into_iter().filter(|square| self.stands_quietly(*square, self.now)).collect();
        if let Some(square) = self.mishap_with(self.params.mishaps.nudge, "nudge", &men) {
            self.open_for(square, self.now, self.params.timing.nudge);
        }
    }

    /// True when the man of the square is seen and nothing is about to happen to it.
    pub(super) fn stands_quietly(&self, square: Square, at: u64) -> bool {
        self.stands(square) && self.contacts.is_closed(square) && self.contacts.is_quiet(square, at)
    }

    /// The contact under a standing man opens for a moment.
    pub(super) fn open_for(&mut self, square: Square, at: u64, span: Span) {
        let open = self.contacts.set(at, square, None);
        let gap = self.rng.movement(span);
        self.contacts.set(open + gap, square, self.men.piece_at(square));
    }

    /// Lifts a man and puts it back on the middle of its square.
    pub(super) fn adjust(&mut self, square: Square, span: Span) {
        if let Some(man) = self.men.piece_at(square) {
            self.now = self.contacts.set(self.now, square, None);
            self.touches.push(Touch { at_us: self.now, square, by: Some(self.by), kind: TouchKind::Adjust });
            self.take(span);
            self.now = self.contacts.set(self.now, square, Some(man));
        }
    }

    /// Men are knocked over and set up again, one after the other.
    pub(super) fn knock(&mut self, men: &[Square]) {
        for square in men {
            self.now += self.rng.between(1_000, 120_000);
            let at = self.contacts.set(self.now, *square, None);
            self.touches.push(Touch { at_us: at, square: *square, by: None, kind: TouchKind::Knocked });
        }
        let mut fallen = men.to_vec();
        while let Some(square) = self.rng.pick(&fallen) {
            fallen.retain(|other| *other != square);
            self.take(self.params.timing.set_up_again);
            self.now = self.contacts.set(self.now, square, self.men.piece_at(square));
        }
    }

    /// The player presses the clock.
    pub(super) fn press(&mut self, by: Color, seen: bool) {
        self.deeds.push(ClockDeed { at: self.now, deed: Deed::Press { by, seen } });
    }
}
