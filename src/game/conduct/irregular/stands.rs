//! Illegal moves that stand in fast play, because the opponent went on (Article A.5.2; 2005: B.6, C.3).

use shakmaty::{
    Bitboard, CastlingMode, Chess, Color, EnPassantMode, Move, Position as _, Role, Square, attacks,
};

use super::Stage;
use crate::{
    game::conduct::{Conduct, Desk, Order, audience, fen_of, turn::Turn},
    laws::settings::IllegalFinality,
    notation::chess960::Castling,
    session::{
        fact::law::{LawFact, Side},
        setup::position_anyhow,
        time::MonoTime,
    },
};

impl Conduct {
    /// In fast play an illegal move stands as soon as the opponent moves on: he is about to, when he lifts
    /// a man (Article A.5.2; 2005: B.6, C.3).
    #[cold]
    pub(in crate::game::conduct) fn let_stand(&mut self, square: Square, desk: &mut Desk<'_>) {
        if self.settings.illegal.fast_finality == IllegalFinality::Never
            || self.clocks.paused
            || self.is_over(desk)
        {
            return;
        }
        let Some(found) = &self.irregularity else { return };
        let position = desk.session.position();
        let waits = found.stage == Stage::Found && !found.pressed_back && position.turn() == found.by;
        let after_it = found.plies == desk.session.plies().len();
        if !waits || !after_it || !position.them().contains(square) {
            return;
        }
        let Some((mv, after)) = found.as_it_looks(position) else { return };
        // Where a man was taken the player takes his own up again.
        if !after.us().contains(square) {
            return;
        }
        // Only what stands on the board can be carried on, but for a man that this one is about to capture.
        let (men, occupied) = (after.board().occupied(), desk.session.occupied().with(square));
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

    /// The opponent presses after a move of his own, before it is known whether what was pressed over will be finished:
    /// it will not.
    pub(in crate::game::conduct) fn look_if_answered(&mut self, presser: Color, desk: &mut Desk<'_>) {
        let Some(found) = &self.irregularity else { return };
        let waits = matches!(found.stage, Stage::Open { .. }) && found.by != presser;
        let left = desk.session.position().them() & !desk.session.occupied();
        let fast = self.settings.illegal.fast_finality != IllegalFinality::Never;
        if waits && fast && left.any() && !self.clocks.paused {
            self.nothing_followed(desk);
        }
    }

    /// The opponent had gone on before it was known that what was pressed over would not be finished.
    pub(super) fn let_answered_stand(&mut self, since: MonoTime, desk: &mut Desk<'_>) {
        let shown = self.irregularity.as_ref().and_then(|found| found.as_it_looks(desk.session.position()));
        if self.settings.illegal.fast_finality == IllegalFinality::Never || self.clocks.paused {
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
        let touches = std::mem::take(&mut found.touches);
        found.turn = Some(Box::new(std::mem::take(&mut self.turn)));
        self.start_turn();
        self.turn.remember(contacts);
        self.turn.touch_again(touches);
    }

    /// The opponent was about to move on and has not: his men stand as they did, or the position before the
    /// illegal move does. It may still be claimed and put right.
    #[cold]
    pub(in crate::game::conduct) fn look_if_it_stands(&mut self, desk: &mut Desk<'_>) {
        let Some(found) = &mut self.irregularity else { return };
        let open = found.stage == Stage::Stands && !found.answered;
        if !open || self.ruled_back || desk.session.is_over() || desk.session.plies().len() != found.plies + 1
        {
            return;
        }
        let before = desk.session.position_after(found.plies);
        let put_back = before.is_some_and(|before| desk.session.differs_from(before).is_empty());
        if !put_back && desk.session.differs().any() {
            return;
        }
        found.stage = Stage::Found;
        found.put_back |= put_back;
        found.touches = self.turn.touches_of(desk.session.position().us());
        let turn = found.turn.take();
        desk.orders.push(Order::Disown(found.plies));
        self.start_turn();
        self.turn = turn.map_or_else(Turn::default, |turn| *turn);
        self.ruled_back = true;
    }
}

/// The move that one man seems to have made, or king and rook together, and the position after it.
pub(super) fn as_it_looks(
    position: &Chess,
    (from, to): (Square, Square),
    rook: Option<(Square, Square)>,
) -> Option<(Move, Chess)> {
    let piece = position.board().piece_at(from)?;
    if let Some(rook) = rook {
        return castled_anyhow(position, (from, to), rook);
    }
    let capture = position.board().role_at(to);
    if capture == Some(Role::King) {
        return None;
    }
    let mv = Move::Normal { role: piece.role, from, capture, to, promotion: None };
    let mut after = position.clone();
    after.play_unchecked(mv);
    Some((mv, after))
}

/// From where and to where a move in UCI goes.
pub(super) fn squares(attempt: &str) -> Option<(Square, Square)> {
    Some((attempt.get(..2)?.parse().ok()?, attempt.get(2..4)?.parse().ok()?))
}

/// The castling that is not legal, and the position after it: the one of the Laws where king and rook stand as they
/// do after castling, else a move of the king that took the rook with it.
fn castled_anyhow(
    position: &Chess,
    (from, to): (Square, Square),
    (rook_from, rook_to): (Square, Square),
) -> Option<(Move, Chess)> {
    let castling = Move::Castle { king: from, rook: rook_from };
    if Castling::of(castling).is_some_and(|castling| {
        from.rank() == rook_from.rank() && (castling.king.1, castling.rook.1) == (to, rook_to)
    }) {
        let mut after = position.clone();
        after.play_unchecked(castling);
        return Some((castling, after));
    }
    let mv = Move::Normal { role: Role::King, from, capture: None, to, promotion: None };
    let side = position.turn();
    let mut after = position.clone();
    after.play_unchecked(mv);
    let mut setup = after.to_setup(EnPassantMode::Legal);
    setup.board.discard_piece_at(rook_from);
    setup.board.set_piece_at(rook_to, Role::Rook.of(side));
    // Whether castling is that of Chess960 makes no difference to rights that were lost or stand as they did.
    position_anyhow(setup, CastlingMode::Chess960).map(|after| (mv, after))
}

/// The rook that was moved together with the king of the player who has the move, where the board shows that and
/// nothing else: from where, and to where. On a board that tells no pieces it has to stand as after castling, since
/// king and rook cannot be told apart.
pub(super) fn rook_with_king(attempt: &str, desk: &Desk<'_>) -> Option<(Square, Square)> {
    let (from, to) = squares(attempt)?;
    let (session, position) = (desk.session, desk.session.position());
    let (king, rook) = (Role::King.of(position.turn()), Role::Rook.of(position.turn()));
    let board = position.board();
    if board.piece_at(from) != Some(king) {
        return None;
    }
    let (differs, occupied) = (session.differs(), session.occupied());
    let shows = |square: Square, man| match session.men() {
        Some(men) => men.piece_at(square) == Some(man),
        None => occupied.contains(square),
    };
    let own = differs & position.our(Role::Rook);
    let rook_from = own.into_iter().find(|square| !shows(*square, rook)).filter(|_| own.count() == 1)?;
    // Where men came, no other one stood.
    let free = !board.occupied() | Bitboard::from_square(from) | own;
    let came = (differs | Bitboard::from_square(from)).without(to) & free;
    let rook_to = came.into_iter().find(|square| *square != rook_from && shows(*square, rook))?;
    let of_both = Bitboard::from_square(from).with(to).with(rook_from).with(rook_to);
    let all = shows(to, king) && free.contains(to) && (differs & !of_both).is_empty();
    let beside = from.distance(to) == 2 && attacks::between(from, to).contains(rook_to);
    let castled = Castling::of(Move::Castle { king: from, rook: rook_from })
        .is_some_and(|castling| (castling.king.1, castling.rook.1) == (to, rook_to));
    (all && (session.men().is_some() || beside || castled)).then_some((rook_from, rook_to))
}
