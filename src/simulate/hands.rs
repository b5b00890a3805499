//! What a hand does to the men: lifting, carrying, putting down, with the accidents on the way.

use shakmaty::{Color, Square, attacks};

use super::{
    Touch, TouchKind,
    clock::{ClockDeed, Deed},
    contacts::Contacts,
    params::{Params, Rate, Span},
    rng::Rng,
};

/// How long an accident of a contact lasts.
const STICKY: Span = Span::ms(300, 2_000);
const OFF_CENTRE: Span = Span::ms(800, 3_000);
const DROPOUT: Span = Span::ms(10, 60);

/// Both players' hands, the board under them and the clock beside it.
#[derive(Debug)]
pub(super) struct Hands<'a> {
    pub(super) params: &'a Params,
    pub(super) rng: Rng,
    pub(super) contacts: Contacts,
    pub(super) deeds: Vec<ClockDeed>,
    pub(super) touches: Vec<Touch>,
    /// What went wrong in the ply that is being played.
    pub(super) mishaps: Vec<&'static str>,
    /// Where the hand is in time: microseconds from the start.
    pub(super) now: u64,
    /// The player whose hand it is.
    pub(super) by: Color,
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

    /// The hand goes to another man, puts a captured one aside or fetches one from the box.
    pub(super) fn reach(&mut self) {
        self.take(self.params.timing.reach);
    }

    /// Lifts the man of a square.
    pub(super) fn lift(&mut self, square: Square, kind: TouchKind) {
        if self.mishap(self.params.mishaps.sticky, "sticky") {
            let late = self.now + self.rng.decision(STICKY);
            self.contacts.set(late, square, false);
        } else {
            self.now = self.contacts.set(self.now, square, false);
        }
        self.touches.push(Touch { at_us: self.now, square, by: Some(self.by), kind });
    }

    /// Puts the man in the hand on a square.
    pub(super) fn place(&mut self, square: Square) {
        if self.mishap(self.params.mishaps.off_centre, "off-centre") {
            let late = self.now + self.rng.decision(OFF_CENTRE);
            self.contacts.set(late, square, true);
        } else {
            self.now = self.contacts.set(self.now, square, true);
        }
    }

    /// Carries a man that was lifted from `from` to `to`: slid or in the air, perhaps with a stop.
    pub(super) fn carry(&mut self, from: Square, to: Square) {
        let timing = &self.params.timing;
        let steps = u64::from(from.distance(to).max(1));
        let time =
            self.rng.movement(timing.travel) + (steps - 1) * self.rng.movement(timing.travel_per_square);
        let way = self.way(from, to);
        if !way.is_empty() && self.mishap(self.params.mishaps.hover, "hover") {
            self.now += time;
            self.stop_on_the_way(&way);
        } else if !way.is_empty() && self.mishap(self.params.mishaps.slide, "slide") {
            self.slide(&way, time);
        } else {
            self.now += time / 2;
            self.brush(from, to);
            self.now += time - time / 2;
        }
    }

    /// The free squares of a movement along a line, in its order; none where one is not free.
    fn way(&self, from: Square, to: Square) -> Vec<Square> {
        let mut way: Vec<Square> = attacks::between(from, to).into_iter().collect();
        way.sort_by_key(|square| square.distance(from));
        if way.iter().all(|square| self.is_free(*square)) { way } else { Vec::new() }
    }

    /// True when a man can pass the square without meeting anything else.
    fn is_free(&self, square: Square) -> bool {
        !self.contacts.is_closed(square) && self.contacts.is_quiet(square, self.now)
    }

    fn slide(&mut self, way: &[Square], time: u64) {
        let count = u64::try_from(way.len()).unwrap_or(u64::MAX - 1) + 1;
        for square in way {
            self.now += time / count;
            let passing = self.rng.movement(self.params.timing.passing);
            self.contacts.set(self.now, *square, true);
            // The next contact may close before this one opens.
            self.contacts.set(self.now + passing, *square, false);
        }
        self.now += time / count;
    }

    fn stop_on_the_way(&mut self, way: &[Square]) {
        if let Some(square) = self.rng.pick(way) {
            self.now = self.contacts.set(self.now, square, true);
            self.take(self.params.timing.hover);
            self.now = self.contacts.set(self.now, square, false);
            self.take(self.params.timing.travel);
        }
    }

    /// The carried man may come too close to a square beside its way.
    fn brush(&mut self, from: Square, to: Square) {
        let beside: Vec<Square> = (attacks::king_attacks(from) | attacks::king_attacks(to))
            .into_iter()
            .filter(|square| *square != from && *square != to && self.is_free(*square))
            .collect();
        if let Some(square) = self.mishap_with(self.params.mishaps.brush, "brush", &beside) {
            let passing = self.rng.movement(self.params.timing.passing);
            let closed = self.contacts.set(self.now, square, true);
            self.contacts.set(closed + passing, square, false);
        }
    }

    /// Lifts a man and puts it back on its square.
    pub(super) fn adjust(&mut self, square: Square) {
        if self.contacts.is_closed(square) {
            self.now = self.contacts.set(self.now, square, false);
            self.touches.push(Touch { at_us: self.now, square, by: Some(self.by), kind: TouchKind::Adjust });
            self.take(self.params.timing.adjust);
            self.now = self.contacts.set(self.now, square, true);
        }
    }

    /// A contact opens for a moment by itself.
    pub(super) fn drop_out(&mut self, square: Square, at: u64) {
        if self.contacts.is_closed(square) && self.contacts.is_quiet(square, at) {
            let open = self.contacts.set(at, square, false);
            let gap = self.rng.movement(DROPOUT);
            self.contacts.set(open + gap, square, true);
        }
    }

    /// Men are knocked over and set up again, one after the other.
    pub(super) fn knock(&mut self, men: &[Square]) {
        for square in men {
            let at = self.contacts.set(self.now, *square, false);
            self.touches.push(Touch { at_us: at, square: *square, by: None, kind: TouchKind::Knocked });
            self.now = at + self.rng.between(1_000, 60_000);
        }
        let mut fallen = men.to_vec();
        while let Some(square) = self.rng.pick(&fallen) {
            fallen.retain(|other| *other != square);
            self.reach();
            self.take(self.params.timing.adjust);
            self.now = self.contacts.set(self.now, square, true);
        }
    }

    /// The player presses the clock.
    pub(super) fn press(&mut self, by: Color, seen: bool) {
        self.deeds.push(ClockDeed { at: self.now, deed: Deed::Press { by, seen } });
    }
}
