//! One player's turn: thinking, accidents before the move, the move, accidents after it, the press.

use shakmaty::{Bitboard, Chess, Color, Move, Position, Square};

use super::{
    Touch, TouchKind,
    clock::{ClockDeed, Deed},
    hands::Hands,
    orders::squares_of,
};

/// Nobody adjusts more men than this at a time.
const MOST_ADJUSTMENTS: u32 = 8;

/// When the turn before this one ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Before {
    /// When the opponent's move could be recognised.
    pub(super) recognised: u64,
    /// Its last deliberate contact.
    pub(super) made: u64,
    /// Its press, also one that was not reported.
    pub(super) press: Option<u64>,
    /// The squares that it needs until it is made.
    pub(super) squares: Vec<Square>,
}

impl Before {
    /// When the player knows that it is his turn.
    fn ended(&self) -> u64 {
        self.press.unwrap_or(self.made)
    }
}

/// What one turn was like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) start: u64,
    pub(super) recognised: u64,
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
        before: &Before,
    ) -> Turn {
        self.by = position.turn();
        (self.recognised, self.pressed) = (None, None);
        let (_, squares) = squares_of(played);
        self.begin(position, &squares, think_us, before);
        self.before_the_move(position, played, &squares);
        let start = self.now;
        let style = self.play(played);
        let recognised = self.recognised.unwrap_or(self.now);
        self.drop_out_between(start, self.now, &squares);
        if self.mishap(self.params.mishaps.recentre, "recentre") {
            let (target, _) = squares_of(played);
            self.reach();
            self.adjust(target, self.params.timing.recentre);
        }
        let made = self.now;
        self.knock_over(played, &squares);
        let mut after = position.clone();
        after.play_unchecked(played);
        let (press, press_seen) = match self.pressed {
            Some(pressed) => pressed,
            None if after.legal_moves().is_empty() => self.end_of_game(),
            None => self.end(),
        };
        *self.free.get_mut(self.by) = self.now;
        Turn { start, recognised, made, press, press_seen, style }
    }

    /// The player thinks, or is early; meanwhile the opponent fidgets.
    fn begin(&mut self, position: &Chess, squares: &[Square], think_us: Option<u64>, before: &Before) {
        let timing = &self.params.timing;
        let think = match think_us {
            Some(us) => us,
            None if self.rng.happens(self.params.mishaps.long_think) => self.rng.decision(timing.long_think),
            None => self.rng.decision(timing.think),
        };
        let mut start = before.ended() + think;
        self.hold_until = 0;
        if let Some(press) = before.press
            && self.mishap(self.params.mishaps.early_touch, "early-touch")
        {
            start = start.min(before.recognised + self.rng.decision(timing.early));
            if !self.mishap(self.params.mishaps.early_reply, "early-reply") {
                self.hold_until = press + self.rng.movement(timing.held);
            }
        }
        // Two hands do not work on one square, a hand does one thing at a time, and nobody moves while
        // men lie about.
        let shared = squares.iter().any(|square| before.squares.contains(square));
        start = start.max(if shared { before.made } else { before.recognised });
        start = start.max(self.disorder_until).max(*self.free.get(self.by));
        let ended = before.ended().min(start);
        self.drop_out_between(ended, start, squares);
        self.fidget(position, squares, ended, start);
        self.now = start;
    }

    /// The opponent adjusts a man: somewhere in the thinking time, or just when the player's hand
    /// comes.
    fn fidget(&mut self, position: &Chess, squares: &[Square], ended: u64, start: u64) {
        let men: Vec<Square> =
            position.them().into_iter().filter(|square| !squares.contains(square)).collect();
        if let Some(square) = self.mishap_with(self.params.mishaps.adjust_idle, "adjust-idle", &men) {
            let last_moment = self.rng.below(2) == 0;
            let rest = (start - ended).min(if last_moment { 60_000 } else { u64::MAX });
            self.by = !position.turn();
            self.now = start - self.rng.below(rest + 1);
            self.adjust(square, self.params.timing.adjust);
            self.by = position.turn();
        }
    }

    /// The contact under some man opens by itself.
    fn drop_out_between(&mut self, from: u64, to: u64, squares: &[Square]) {
        let rate = self.params.mishaps.dropout;
        let at = from + self.rng.below(to.saturating_sub(from) + 1);
        let men: Vec<Square> = self
            .men
            .occupied()
            .into_iter()
            .filter(|square| !squares.contains(square) && self.stands_quietly(*square, at))
            .collect();
        if let Some(square) = self.mishap_with(rate, "dropout", &men) {
            self.open_for(square, at, self.params.timing.dropout);
        }
    }

    fn before_the_move(&mut self, position: &Chess, played: Move, squares: &[Square]) {
        let adjustments = [
            (self.params.mishaps.adjust_own, "adjust-own", position.us()),
            (self.params.mishaps.adjust_opponent, "adjust-opponent", position.them()),
        ];
        for (rate, name, men) in adjustments {
            let men: Vec<Square> = men.into_iter().filter(|square| !squares.contains(square)).collect();
            let mut next = self.mishap_with(rate, name, &men);
            for _ in 0..MOST_ADJUSTMENTS {
                let Some(square) = next else { break };
                self.adjust(square, self.params.timing.adjust);
                self.reach();
                let more = self.rng.happens(self.params.mishaps.adjust_more);
                next = if more { self.rng.pick(&men) } else { None };
            }
        }
        let legal = position.legal_moves();
        let others: Vec<(Square, Square)> = legal
            .iter()
            .filter(|other| !other.is_castle() && !other.is_promotion() && !other.is_en_passant())
            .filter_map(|other| Some((other.from()?, other.to())))
            .filter(|(from, to)| played.from() != Some(*from) || played.to() != *to)
            .collect();
        if let Some((from, to)) = self.mishap_with(self.params.mishaps.take_back, "take-back", &others) {
            self.there_and_back(from, to, TouchKind::TakeBack, false);
        }
        let Some(from) = played.from() else { return };
        let reachable: Bitboard =
            legal.iter().filter(|other| other.from() == Some(from)).map(|other| other.to()).collect();
        let kings = position.board().kings();
        let targets: Vec<Square> = (!position.us() & !kings & !reachable).into_iter().collect();
        if let Some(to) = self.mishap_with(self.params.mishaps.illegal, "illegal", &targets) {
            let pressed = self.mishap(self.params.mishaps.illegal_pressed, "illegal-pressed");
            self.there_and_back(from, to, TouchKind::Illegal, pressed);
        }
    }

    /// A man is placed on `to`, perhaps in place of another one, and everything comes back.
    fn there_and_back(&mut self, from: Square, to: Square, kind: TouchKind, pressed: bool) {
        let victim_first = self.rng.below(2) == 0;
        let mut victim = None;
        if victim_first && self.stands(to) {
            victim = self.lift(to, kind);
            self.reach();
        }
        let man = self.lift(from, kind);
        self.take(self.params.timing.travel);
        if self.stands(to) {
            victim = self.lift(to, kind);
            self.reach();
        }
        self.place(to, man);
        let stopped = pressed.then(|| self.press_and_notice());
        self.now += self.rng.decision(self.params.timing.notice);
        self.lift(to, kind);
        if victim.is_some() && self.rng.below(2) == 0 {
            self.reach();
            self.place(to, victim.take());
        }
        self.take(self.params.timing.travel);
        self.place(from, man);
        self.reach();
        if victim.is_some() {
            self.place(to, victim);
            self.reach();
        }
        if stopped == Some(Stopped::ByArbiter) {
            let side = self.by;
            self.deeds.push(ClockDeed { at: self.now, deed: Deed::Run { side, seen: true } });
            self.reach();
        }
    }

    /// The clock is pressed over an illegal move; the arbiter stops it, or the opponent presses back.
    fn press_and_notice(&mut self) -> Stopped {
        let by = self.by;
        self.take(self.params.timing.press);
        self.press(by, true);
        self.now += self.rng.decision(self.params.timing.notice);
        if self.mishap(self.params.mishaps.illegal_pressed_back, "illegal-pressed-back") {
            self.press(!by, true);
            return Stopped::ByOpponent;
        }
        self.deeds.push(ClockDeed { at: self.now, deed: Deed::Pause });
        Stopped::ByArbiter
    }

    /// Men around the target are knocked over. Half of the players press meanwhile.
    fn knock_over(&mut self, played: Move, squares: &[Square]) {
        let (target, _) = squares_of(played);
        let mut near: Vec<Square> = self
            .men
            .occupied()
            .into_iter()
            .filter(|square| square.distance(target) <= 2 && !squares.contains(square))
            .filter(|square| self.stands_quietly(*square, self.now))
            .collect();
        if near.is_empty() || !self.mishap(self.params.mishaps.knock, "knock") {
            return;
        }
        let mut left = self.rng.between(2, 4);
        let mut men = Vec::new();
        while let (Some(square), true) = (self.rng.pick(&near), left > 0) {
            near.retain(|other| *other != square);
            men.push(square);
            left -= 1;
        }
        let made = self.now;
        self.knock(&men);
        self.disorder_until = self.now;
        if self.rng.below(2) == 0 {
            self.now = made;
        }
    }

    /// The press, and whether it was reported.
    pub(super) fn end(&mut self) -> (Option<u64>, bool) {
        let by = self.by;
        if self.mishap(self.params.mishaps.press_forgotten, "press-forgotten") {
            return (None, false);
        }
        let seen = !self.mishap(self.params.mishaps.press_lost, "press-lost");
        self.take(self.params.timing.press);
        self.press(by, seen);
        let press = self.now;
        if self.mishap(self.params.mishaps.press_stray, "press-stray") {
            self.take(self.params.timing.press_again);
            self.press(by, true);
        }
        (Some(press), seen)
    }

    /// Checkmate and stalemate end the game without a press (Articles 5.1.1, 5.2.1).
    fn end_of_game(&mut self) -> (Option<u64>, bool) {
        if self.mishap(self.params.mishaps.press_after_end_missing, "press-after-end-missing") {
            return (None, false);
        }
        self.end()
    }

    /// The kings go to the centre: both on light squares when White won, both on dark ones when
    /// Black won, one on each after a draw. Men that stand there are taken off.
    pub(super) fn kings_to_centre(&mut self, position: &Chess, result: crate::session::event::GameResult) {
        use crate::session::event::GameResult;
        let (first, second) = match result {
            GameResult::WhiteWins => (Square::E4, Square::D5),
            GameResult::BlackWins => (Square::D4, Square::E5),
            GameResult::Draw => (Square::E4, Square::E5),
            GameResult::Ongoing | GameResult::BothLose => return,
        };
        let king = |side| position.board().king_of(side);
        let crossed = king(Color::White) == Some(second) || king(Color::Black) == Some(first);
        let targets = if crossed { (second, first) } else { (first, second) };
        for (side, to) in [(Color::White, targets.0), (Color::Black, targets.1)] {
            let Some(from) = king(side).filter(|from| *from != to) else { continue };
            self.by = side;
            self.reach();
            if self.men.remove_piece_at(to).is_some() {
                self.now = self.contacts.set(self.now, to, None);
                self.reach();
            }
            let man = self.men.remove_piece_at(from);
            self.now = self.contacts.set(self.now, from, None);
            self.touches.push(Touch {
                at_us: self.now,
                square: from,
                by: Some(side),
                kind: TouchKind::AfterTheGame,
            });
            self.take(self.params.timing.travel);
            self.place(to, man);
        }
        self.reach();
    }
}

/// How the clock was stopped after an illegal move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stopped {
    ByArbiter,
    ByOpponent,
}
