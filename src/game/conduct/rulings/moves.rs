//! Moves that the arbiter names or corrects.

use shakmaty::{Position as _, Role};

use super::{Refusal, so_many};
use crate::{
    game::conduct::{Conduct, Desk, Order, claims::read_move},
    session::{PlyRecord, law::Presses},
};

impl Conduct {
    /// That ply was another move: the arbiter says so.
    pub(super) fn correct(
        &mut self,
        ply: Option<usize>,
        text: &str,
        desk: &mut Desk<'_>,
    ) -> Result<(), Refusal> {
        let base = self.earlier.len();
        let ply = ply.unwrap_or_else(|| {
            let squares = text.get(..4).unwrap_or_default();
            let same = |(_, record): &(usize, &PlyRecord)| record.uci.starts_with(squares);
            let last = desk.session.plies().enumerate().filter(same).last();
            base + last.map_or(desk.session.plies().len(), |(index, _)| index + 1)
        });
        let Some(of_log) = ply.checked_sub(base + 1) else {
            return Err("that ply was played before the record begins".into());
        };
        let plies = desk.session.plies().len();
        if of_log >= plies {
            return Err(so_many(base + plies).into());
        }
        let Some(before) = desk.session.position_after(of_log).cloned() else {
            return Err("that position is not on record".into());
        };
        let Some(mv) = read_move(&before, text) else {
            return Err(format!("{text:?} is not legal at ply {ply}").into());
        };
        let mut line = vec![mv];
        let mut position = before;
        position.play_unchecked(mv);
        for index in of_log + 1..plies {
            let Some(next) = desk.session.move_at(index).filter(|next| position.is_legal(*next)) else {
                return Err(format!(
                    "ply {} would not be legal after it; restore to it first",
                    base + index + 1
                )
                .into());
            };
            line.push(next);
            position.play_unchecked(next);
        }
        desk.orders.push(Order::Correct(of_log, line, "arbiter"));
        Ok(())
    }

    /// The man that was promoted last is this one.
    pub(super) fn correct_promotion(&mut self, role: Role, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let promoted = |index: &usize| desk.session.move_at(*index).is_some_and(|mv| mv.is_promotion());
        let Some(index) = (0..desk.session.plies().len()).rev().find(promoted) else {
            return Err("no pawn was promoted".into());
        };
        let text = desk.session.ply_at(index).map(|record| record.uci);
        let squares = text.as_deref().and_then(|uci| uci.get(..4)).unwrap_or_default();
        let text = format!("{squares}{}", role.char());
        self.correct(Some(self.earlier.len() + index + 1), &text, desk)
    }

    /// The arbiter names the move that was made, where the board does not tell it.
    pub(super) fn name_move(&mut self, text: &str, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let Some(mv) = read_move(desk.session.position(), text) else {
            return Err(format!("{text:?} is no legal move in the position of the game").into());
        };
        let by = desk.turn();
        let begun = self.turn.begun();
        self.presses.retain(|(_, at)| begun.is_none_or(|begun| *at >= begun));
        // In turn, from the player whose move it is; a lever that is pressed twice is pressed once.
        let mut in_turn = self.presses.clone();
        in_turn.dedup_by_key(|(side, _)| *side);
        let press = |index: usize, side| {
            let press = in_turn.get(index).filter(|_| in_turn.first().is_some_and(|(first, _)| *first == by));
            press.filter(|(presser, _)| *presser == side).map(|(_, at)| *at)
        };
        let mut after = desk.session.position().clone();
        after.play_unchecked(mv);
        // Where the opponent pressed and has not replied, he lets the player have the move again.
        let replied = (after.us() & !desk.session.occupied()).any();
        let stands = replied || self.presses.last().is_some_and(|(side, _)| *side == by);
        let own = press(0, by).filter(|_| stands);
        let presses = Presses { own, reply: press(1, !by), next: press(2, by) };
        self.named_at = Some(desk.ev);
        desk.orders.push(Order::Play(mv, presses));
        Ok(())
    }
}
