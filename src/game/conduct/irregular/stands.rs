//! Illegal moves that stand in fast play, because the opponent went on (Article A.5.2; 2005: B.6, C.3).

use shakmaty::{Chess, Move, Position as _, Role, Square};

use super::Stage;
use crate::{
    game::conduct::{Conduct, Desk, Order, audience, fen_of},
    laws::settings::IllegalFinality,
    session::{
        fact::law::{LawFact, Side},
        time::MonoTime,
    },
};

impl Conduct {
    /// In fast play an illegal move stands as soon as the opponent moves on: he is about to, when he lifts
    /// a man (Article A.5.2; 2005: B.6, C.3).
    pub(in crate::game::conduct) fn let_stand(&mut self, sensor: Square, desk: &mut Desk<'_>) {
        if self.settings.illegal.fast_finality == IllegalFinality::Never {
            return;
        }
        let Some(found) = &self.irregularity else { return };
        let position = desk.session.position();
        let square = desk.session.square_of(sensor);
        if found.stage != Stage::Found || position.turn() != found.by || !position.them().contains(square) {
            return;
        }
        let shown = found.attempt.as_deref().and_then(|attempt| as_it_looks(position, attempt));
        let Some((mv, after)) = shown else { return };
        // Only what stands on the board can be carried on, but for a man that this one is about to capture.
        let (men, occupied) = (after.board().occupied(), desk.session.occupied());
        let missing = men & !occupied;
        let taken = |victim: Square| {
            let attacked = after.board().attacks_from(square) & after.them();
            attacked.contains(victim)
                && self.turn.contacts_after(found.at).iter().any(|contact| contact.left(victim))
        };
        if !occupied.is_subset(men) || !(missing.is_empty() || missing.single_square().is_some_and(taken)) {
            return;
        }
        let since = found.at;
        self.carry_on(mv, after, since, desk);
        for victim in missing {
            self.turn.touch_as_lifted(victim);
        }
    }

    /// The opponent had gone on before it was known that what was pressed over would not be finished.
    pub(super) fn let_answered_stand(&mut self, since: MonoTime, desk: &mut Desk<'_>) {
        let attempt = self.irregularity.as_ref().and_then(|found| found.attempt.as_deref());
        let shown = attempt.and_then(|attempt| as_it_looks(desk.session.position(), attempt));
        if self.settings.illegal.fast_finality == IllegalFinality::Never {
            return;
        }
        let Some((mv, after)) = shown else { return };
        let occupied = desk.session.occupied();
        let lifted = after.board().occupied() & !occupied;
        if lifted.any() && lifted.is_subset(after.us()) && (occupied & !after.board().occupied()).count() <= 2
        {
            self.carry_on(mv, after, since, desk);
        }
    }

    /// What is on record stands, and the game goes on from it; what changed after its press belongs to the
    /// opponent's turn.
    fn carry_on(&mut self, mv: Move, after: Chess, since: MonoTime, desk: &mut Desk<'_>) {
        let Some(found) = &mut self.irregularity else { return };
        found.stage = Stage::Stands;
        let by = Side(found.by);
        let attempt = found.attempt.clone().unwrap_or_default();
        let (fen, to) = (fen_of(&after), audience(self.settings.illegal.move_alert));
        desk.tell(LawFact::IllegalStands { fen, by, attempt, to });
        desk.orders.push(Order::Adopt(mv, Box::new(after)));
        let contacts = self.turn.contacts_after(since);
        self.start_turn();
        self.turn.remember(contacts);
    }
}

/// The move that one man seems to have made, and the position after it.
pub(super) fn as_it_looks(position: &Chess, attempt: &str) -> Option<(Move, Chess)> {
    let from: Square = attempt.get(..2)?.parse().ok()?;
    let to: Square = attempt.get(2..4)?.parse().ok()?;
    let piece = position.board().piece_at(from)?;
    let capture = position.board().role_at(to);
    if capture == Some(Role::King) {
        return None;
    }
    let mv = Move::Normal { role: piece.role, from, capture, to, promotion: None };
    let mut after = position.clone();
    after.play_unchecked(mv);
    Some((mv, after))
}
