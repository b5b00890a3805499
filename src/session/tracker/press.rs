//! What a press of the clock says of the readings: who presses has moved and holds no man.

use shakmaty::{Bitboard, Color, Move, Role, Square};

use super::{
    CLOCKED, Cause, Times, Tracker,
    cost::{self, Cost},
};
use crate::session::time::MonoTime;

impl Times {
    /// What it costs that these men of the player who presses are missing: nobody presses with a man
    /// in the hand.
    fn in_hand_at_press(&self, missing: Bitboard, slider: bool, passing_us: u64) -> Cost {
        let price = |square: Square| {
            let rested = self.left[usize::from(square)].since(self.filled[usize::from(square)]);
            match (rested < passing_us, slider) {
                (false, _) => cost::TAKEN_AT_PRESS,
                (true, false) => cost::IN_HAND_AT_PRESS,
                (true, true) => cost::PASSED_AT_PRESS,
            }
        };
        missing.into_iter().map(price).sum()
    }
}

impl Tracker {
    /// `side` pressed the clock.
    pub(in crate::session) fn press(&mut self, side: Color, at: MonoTime) {
        self.settle_time();
        self.best.set(None);
        self.clocked = (self.clocked + 1).min(CLOCKED);
        // A move that this press shows is pressed by it.
        if !self.expects_press(side) || self.may_be_nudge() {
            self.expand(Cause::Press(side), at);
        }
        if let Some(press) = self.stray.get_mut(side.fold_wb(0usize, 1)) {
            *press = Some(at);
        }
        for index in 0..self.readings.len() {
            self.press_reading(index, side, at);
        }
        self.settle();
    }

    fn press_reading(&mut self, index: usize, side: Color, at: MonoTime) {
        let passing_us = self.passing_us();
        let Some(reading) = self.readings.get_mut(index) else { return };
        let node = reading.node;
        if reading.turn != side {
            reading.early_press = None;
            // Nobody presses with a man in the hand.
            let missing = reading.differs & reading.occupied & !reading.us & !reading.paid;
            let slider = self.tree.node(node).ply.is_some_and(|ply| {
                matches!(ply.mv.role(), Role::Bishop | Role::Rook | Role::Queen | Role::Pawn)
            });
            let missing = missing & !self.seen.occupied;
            if missing.any() {
                let price = self.times.in_hand_at_press(missing, slider, passing_us);
                reading.cost = reading.cost.saturating_add(price);
                reading.pay(reading.paid | missing, &self.seen);
            }
            let landed = self.tree.node(node).landed & !reading.paid;
            let misread = reading.differs & landed & reading.occupied & self.seen.occupied;
            if misread.any() {
                let men = u32::try_from(misread.count()).unwrap_or(64);
                reading.cost = reading.cost.saturating_add(men * cost::MISREAD_MAN);
                reading.pay(reading.paid | misread, &self.seen);
            }
            // A man of the player who presses stands where he has none in this reading.
            if let Some(men) = &self.seen.men {
                let strange = men.by_color(side) & reading.differs & !reading.occupied & !reading.paid;
                if strange.any() {
                    reading.cost = reading.cost.saturating_add(cost::FOREIGN);
                }
            }
            let ply = self.tree.node_mut(node).ply.as_mut();
            if ply.as_ref().is_some_and(|ply| ply.pressed.is_some_and(|earlier| earlier < at)) {
                reading.cost = reading.cost.saturating_add(cost::PRESSED_TWICE);
            }
            if let Some(ply) = ply
                && ply.pressed.is_none()
            {
                ply.pressed = Some(at);
                if node == self.root
                    && let Some(ply) = self.firm.last_mut()
                {
                    ply.pressed = Some(at);
                }
                // What the mover touched is over; what the next player holds is still empty.
                reading.touched = reading.touched.without(self.seen.occupied);
            }
            return;
        }
        let earlier = self.tree.node(node).parent;
        let unpressed = earlier.filter(|earlier| {
            self.tree.node(*earlier).ply.is_some_and(|ply| ply.pressed.is_none_or(|pressed| pressed == at))
                && self.tree.node(node).ply.is_some_and(|ply| ply.pressed.is_none())
        });
        if let Some(earlier) = unpressed {
            // The opponent was quicker than the player's hand on the clock.
            let missing = reading.differs & reading.us & !reading.paid;
            let price = self.times.in_hand_at_press(missing & !self.seen.occupied, false, passing_us);
            reading.cost = reading.cost.saturating_add(price);
            if let Some(ply) = &mut self.tree.node_mut(earlier).ply {
                ply.pressed = Some(at);
            }
            if earlier == self.root
                && let Some(ply) = self.firm.last_mut()
            {
                ply.pressed = Some(at);
            }
            return;
        }
        // Between two scans, or where nobody reads the board, the man may have landed already.
        let missing = reading.differs & reading.occupied & !reading.paid & !self.seen.occupied;
        let in_hand = !self.identity && !self.free && missing.intersects(reading.us);
        let price = match (in_hand, missing.is_subset(reading.us)) {
            (false, _) => 0,
            (true, true) => cost::PRESSED_IN_HAND,
            // Nobody presses in the middle of a capture.
            (true, false) => 2 * cost::PRESSED_IN_HAND,
        };
        let price = cost::PRESS_WITHOUT_MOVE + price;
        reading.cost = reading.cost.saturating_add(price);
        if reading.differs.any() {
            reading.early_press = Some(at);
        }
    }

    /// The clock of `side` runs again: its press over a move that is not finished, `over` where that is known, is
    /// undone.
    pub(in crate::session) fn unpress(&mut self, side: Color, over: Option<Move>) {
        if let Some(press) = self.stray.get_mut(side.fold_wb(0usize, 1)) {
            *press = None;
        }
        for reading in &mut self.readings {
            if reading.turn == side {
                reading.early_press = None;
            } else if let Some(ply) = &mut self.tree.node_mut(reading.node).ply
                && over == Some(ply.mv)
            {
                ply.pressed = None;
            }
        }
    }

    /// When a side pressed the clock over a board in order, if that was the last thing to happen.
    pub(super) fn stray_press(&self, side: Color) -> Option<MonoTime> {
        let [white, black] = self.stray;
        side.fold_wb(white, black)
    }

    /// True when the last ply of the best reading is a capture whose target was open for no longer than a nudge:
    /// the man may have captured elsewhere, unseen.
    fn may_be_nudge(&self) -> bool {
        self.best().and_then(|best| self.loose_ply(best)).is_some_and(|ply| {
            let to = usize::from(ply.mv.to());
            ply.mv.is_capture() && self.times.filled[to].since(self.times.left[to]) < cost::NUDGE_US
        })
    }

    /// True when the best reading is in order and waits for just this press: it explains itself.
    fn expects_press(&self, side: Color) -> bool {
        self.best().is_some_and(|best| {
            best.turn != side
                && self.loose_ply(best).is_some_and(|ply| ply.pressed.is_none())
                && best.differs.is_empty()
        })
    }
}
