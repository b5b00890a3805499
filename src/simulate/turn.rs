//! One player's turn: thinking, accidents before the move, the move, accidents after it, the press.

use shakmaty::{Bitboard, Chess, Color, Move, Position, Square, attacks};

use super::{
    TouchKind,
    clock::{ClockDeed, Deed},
    hands::Hands,
    orders::squares_of,
};

/// When the turn before this one ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    /// Its last deliberate contact.
    pub(super) made: u64,
    /// Its press, also one that was not reported.
    pub(super) press: Option<u64>,
}

impl Before {
    fn ended(self) -> u64 {
        self.press.map_or(self.made, |press| press.max(self.made))
    }
}

/// What one turn was like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) start: u64,
    pub(super) made: u64,
    pub(super) press: Option<u64>,
    pub(super) press_seen: bool,
    pub(super) style: &'static str,
}

impl Hands<'_> {
    /// Plays one turn of `position` that ends with `played`.
    pub(super) fn turn(
        &mut self,
        position: &Chess,
        played: Move,
        think_us: Option<u64>,
        before: Before,
    ) -> Turn {
        self.by = position.turn();
        let (_, squares) = squares_of(played);
        self.begin(position, &squares, think_us, before);
        self.before_the_move(position, played, &squares);
        let start = self.now;
        let style = self.play(played);
        let made = self.now;
        self.after_the_move(position, played, &squares);
        let (press, press_seen) = self.end();
        Turn { start, made, press, press_seen, style }
    }

    /// The player thinks, or is early; meanwhile the opponent fidgets.
    fn begin(&mut self, position: &Chess, squares: &[Square], think_us: Option<u64>, before: Before) {
        let think = match think_us {
            Some(us) => us,
            None => self.rng.decision(self.params.timing.think),
        };
        let mut start = before.ended() + think;
        if before.press.is_some() && self.mishap(self.params.mishaps.early_touch, "early-touch") {
            start = start.min(before.made + self.rng.movement(self.params.timing.early));
        }
        let rest = start.saturating_sub(before.ended());
        let others = |men: Bitboard| -> Vec<Square> {
            men.into_iter().filter(|square| !squares.contains(square)).collect()
        };
        let standing: Vec<Square> = others(position.board().occupied())
            .into_iter()
            .filter(|square| self.contacts.is_closed(*square))
            .collect();
        if let Some(square) = self.mishap_with(self.params.mishaps.dropout, "dropout", &standing) {
            let at = before.ended() + self.rng.below(rest);
            self.drop_out(square, at);
        }
        let (_, longest) = self.params.timing.adjust.micros();
        if rest > 4 * longest
            && let Some(square) =
                self.mishap_with(self.params.mishaps.adjust_idle, "adjust-idle", &others(position.them()))
        {
            self.by = !position.turn();
            self.now = before.ended() + self.rng.below(rest - 2 * longest);
            self.adjust(square);
            self.by = position.turn();
        }
        self.now = start;
    }

    fn before_the_move(&mut self, position: &Chess, played: Move, squares: &[Square]) {
        let adjustments = [
            (self.params.mishaps.adjust_own, "adjust-own", position.us()),
            (self.params.mishaps.adjust_opponent, "adjust-opponent", position.them()),
        ];
        for (rate, name, men) in adjustments {
            let men: Vec<Square> = men.into_iter().filter(|square| !squares.contains(square)).collect();
            if let Some(square) = self.mishap_with(rate, name, &men) {
                self.adjust(square);
                self.reach();
            }
        }
        let legal = position.legal_moves();
        let others: Vec<(Square, Square)> = legal
            .iter()
            .filter(|other| !other.is_capture() && !other.is_castle() && !other.is_promotion())
            .filter_map(|other| Some((other.from()?, other.to())))
            .filter(|(from, to)| played.from() != Some(*from) || played.to() != *to)
            .filter(|(from, to)| self.can_go(*from, *to))
            .collect();
        if let Some((from, to)) = self.mishap_with(self.params.mishaps.take_back, "take-back", &others) {
            self.there_and_back(from, to, TouchKind::TakeBack, false);
        }
        let Some(from) = played.from() else { return };
        let reachable: Bitboard =
            legal.iter().filter(|other| other.from() == Some(from)).map(|other| other.to()).collect();
        let targets: Vec<Square> = (!position.board().occupied() & !reachable)
            .into_iter()
            .filter(|to| self.can_go(from, *to))
            .collect();
        if let Some(to) = self.mishap_with(self.params.mishaps.illegal, "illegal", &targets) {
            let pressed = self.mishap(self.params.mishaps.illegal_pressed, "illegal-pressed");
            self.there_and_back(from, to, TouchKind::Illegal, pressed);
        }
    }

    /// True when there is a man to lift and an empty square to put it on.
    fn can_go(&self, from: Square, to: Square) -> bool {
        self.contacts.is_closed(from) && !self.contacts.is_closed(to)
    }

    /// A man is placed on `to` and comes back to `from`.
    fn there_and_back(&mut self, from: Square, to: Square, kind: TouchKind, pressed: bool) {
        let by = self.by;
        self.now = self.contacts.set(self.now, from, false);
        self.touches.push(super::Touch { at_us: self.now, square: from, by: Some(by), kind });
        self.take(self.params.timing.travel);
        self.now = self.contacts.set(self.now, to, true);
        if pressed {
            self.take(self.params.timing.press);
            self.press(by, true);
            self.take(self.params.timing.reach);
            self.deeds.push(ClockDeed { at: self.now, deed: Deed::Pause });
        }
        self.take(self.params.timing.adjust);
        self.now = self.contacts.set(self.now, to, false);
        self.take(self.params.timing.travel);
        self.now = self.contacts.set(self.now, from, true);
        self.reach();
        if pressed {
            self.deeds.push(ClockDeed { at: self.now, deed: Deed::Run { side: by, seen: true } });
            self.reach();
        }
    }

    fn after_the_move(&mut self, position: &Chess, played: Move, squares: &[Square]) {
        let (target, _) = squares_of(played);
        if self.mishap(self.params.mishaps.recentre, "recentre") {
            self.take(self.params.timing.press);
            self.adjust(target);
        }
        let near: Vec<Square> = (attacks::king_attacks(target) & position.board().occupied())
            .into_iter()
            .filter(|square| !squares.contains(square) && self.contacts.is_closed(*square))
            .take(3)
            .collect();
        if !near.is_empty() && self.mishap(self.params.mishaps.knock, "knock") {
            self.knock(&near);
        }
    }

    /// The press, and whether it was reported.
    fn end(&mut self) -> (Option<u64>, bool) {
        let by = self.by;
        if self.mishap(self.params.mishaps.press_forgotten, "press-forgotten") {
            return (None, false);
        }
        let seen = !self.mishap(self.params.mishaps.press_lost, "press-lost");
        self.take(self.params.timing.press);
        self.press(by, seen);
        let press = self.now;
        if self.mishap(self.params.mishaps.press_stray, "press-stray") {
            self.take(self.params.timing.press);
            self.press(by, true);
        }
        (Some(press), seen)
    }

    /// The kings go to the centre: both on light squares when White won, both on dark ones when
    /// Black won, one on each after a draw. Men that stand there are taken off.
    pub(super) fn kings_to_centre(&mut self, position: &Chess, result: crate::session::event::GameResult) {
        use crate::session::event::GameResult;
        let (first, second) = match result {
            GameResult::WhiteWins => (Square::E4, Square::D5),
            GameResult::BlackWins => (Square::D4, Square::E5),
            GameResult::Draw => (Square::E4, Square::E5),
            GameResult::Ongoing => return,
        };
        let king = |side| position.board().king_of(side);
        let crossed = king(Color::White) == Some(second) || king(Color::Black) == Some(first);
        let targets = if crossed { (second, first) } else { (first, second) };
        for (side, to) in [(Color::White, targets.0), (Color::Black, targets.1)] {
            let Some(from) = king(side).filter(|from| *from != to) else { continue };
            self.by = side;
            self.reach();
            if self.contacts.is_closed(to) {
                self.now = self.contacts.set(self.now, to, false);
                self.reach();
            }
            self.now = self.contacts.set(self.now, from, false);
            self.touches.push(super::Touch {
                at_us: self.now,
                square: from,
                by: Some(side),
                kind: TouchKind::AfterTheGame,
            });
            self.take(self.params.timing.travel);
            self.now = self.contacts.set(self.now, to, true);
        }
        self.reach();
    }
}
