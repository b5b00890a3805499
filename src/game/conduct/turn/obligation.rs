//! What the touches of a turn bind the player to (Articles 4.3 to 4.5).

use shakmaty::{Bitboard, Move, Position as _, Role, Square};

use super::{Committed, Seldom, Touch, is_part_of, squares};
use crate::{
    game::conduct::{Conduct, Desk, TwoBoards},
    laws::{
        settings::{IntentDefault, RookFirstBan},
        touch::{self, Binding},
    },
    session::{
        fact::law::{
            Choice, Obligation, ObligationDetail, OneOrNone, Partial, Reach, Side, Sq, Squares,
            TouchCertainty, Uncertain,
        },
        setup::BoardKind,
        text::MoveText,
    },
};

impl Conduct {
    /// The touches in the order that counts: an own man first where the order cannot be told, a king
    /// before its rook.
    pub(super) fn ordered(&self, desk: &Desk<'_>) -> (Vec<Square>, Option<&'static str>) {
        let position = desk.session.position();
        let window = self.settings.touch.order_uncertain_ms * 1000;
        let mut touches = self.turn.touches.clone();
        let mut first_assumed = None;
        let ours = |touch: &Touch| position.us().contains(touch.square);
        let king = position.our(Role::King).first();
        let own = touches.iter().position(ours);
        let theirs = touches.iter().position(|touch| !ours(touch));
        if let (Some(own), Some(theirs)) = (own, theirs)
            && theirs < own
            && let (Some(mine), Some(other)) = (touches.get(own).copied(), touches.get(theirs))
            && mine.at.since(other.at) <= window
        {
            touches.remove(own);
            touches.insert(theirs, mine);
            first_assumed = Some("own");
        }
        if let [first, second, ..] = touches.as_mut_slice()
            && Some(second.square) == king
            && ours(first)
            && second.at.since(first.at) <= window
            && self.turn.touches.len() >= 2
        {
            std::mem::swap(first, second);
            first_assumed = Some("king");
        }
        (touches.into_iter().map(|touch| touch.square).collect(), first_assumed)
    }

    /// Two own men that were lifted at once, neither of them by castling: nobody saw which one was first.
    fn either_of_two(&self, desk: &Desk<'_>) -> Option<[Square; 2]> {
        let [first, second] = *self.turn.touches.as_slice() else { return None };
        let position = desk.session.position();
        let window = self.settings.touch.order_uncertain_ms * 1000;
        let ours = position.us();
        let king = position.our(Role::King);
        let both = ours.contains(first.square) && ours.contains(second.square);
        let castling = king.contains(first.square) || king.contains(second.square);
        let at_once = second.at.since(first.at) <= window;
        (both && !castling && at_once).then_some([first.square, second.square])
    }

    pub(in crate::game::conduct) fn bind(&self, touches: &[Square], desk: &Desk<'_>) -> Binding {
        touch::binding(
            desk.session.position(),
            desk.session,
            touches,
            self.settings.rook_first_ban,
            self.articles,
        )
    }

    pub(super) fn certainty(&self) -> TouchCertainty {
        let pegged =
            self.board == BoardKind::Peg || self.two_boards.as_ref().is_some_and(TwoBoards::is_pegged);
        match (pegged, self.settings.touch.intent_default) {
            (true, _) => TouchCertainty::Law,
            (_, IntentDefault::PresumedDeliberate) => TouchCertainty::PresumedDeliberate,
            (_, IntentDefault::UnlessAccidental) => TouchCertainty::LawUnlessClearlyAccidental,
        }
    }

    pub(in crate::game::conduct) fn tell_obligation(&mut self, reported: bool, desk: &mut Desk<'_>) {
        if self.is_bound() && self.tell_bound(reported, desk)
            || self.has_released() && self.tell_still_released(reported, desk)
            || self.tell_common(reported, desk)
        {
            return;
        }
        let (touches, mut uncertain) = self.ordered(desk);
        let mut binding = self.bind(&touches, desk);
        if let Some([first, second]) = self.either_of_two(desk) {
            let (mut moves, others) = (desk.session.moves_of(first), desk.session.moves_of(second));
            if !moves.is_empty() && !others.is_empty() {
                // He has to move one of them (Article 4.3; lifts of one scan have no order).
                moves.extend(others);
                (binding.moves, binding.must_move) = (Some(moves), None);
                uncertain = Some("either");
            }
        }
        let obligation = self.obligation(&touches, &binding, desk);
        let uncertain = uncertain.map(|assumed_first| Uncertain { order: "uncertain", assumed_first });
        let mut obligation = Obligation { reported, ..obligation };
        if uncertain.is_some() {
            obligation = obligation.with(|more| more.uncertain = uncertain);
        }
        desk.bind(obligation);
        self.turn.reach = Bitboard::EMPTY;
        self.turn.seldom_mut().binding = Some(binding);
    }

    /// The player has to play one of certain moves whatever he touches: by a ruling, or by the envelope.
    pub(super) fn is_bound(&self) -> bool {
        self.turn.seldom.as_deref().is_some_and(|seldom| seldom.bound_to.is_some())
    }

    /// What touches leave of the moves that a ruling or an envelope leaves: all of them where nothing fits both.
    /// False where the touches say it all.
    #[cold]
    fn tell_bound(&mut self, reported: bool, desk: &mut Desk<'_>) -> bool {
        let Some((moves, rule)) = self.turn.seldom().bound_to.clone() else { return false };
        let (touches, _) = self.ordered(desk);
        let Some(left) = self.left_of(moves, &touches, desk) else { return false };
        let binding =
            Binding { moves: Some(left), rule, must_move: None, must_capture: None, must_castle: None };
        let obligation = self.obligation(&touches, &binding, desk);
        desk.bind(Obligation { reported, certainty: TouchCertainty::Arbiter, ..obligation });
        self.turn.reach = Bitboard::EMPTY;
        self.turn.seldom_mut().binding = Some(binding);
        true
    }

    /// What touches leave of these moves: all of them where nothing fits both, and nothing is said where the touches
    /// say it all.
    fn left_of(&self, moves: Vec<Move>, touches: &[Square], desk: &Desk<'_>) -> Option<Vec<Move>> {
        let touched = self.bind(touches, desk).moves;
        if touched.as_ref().is_some_and(|touched| touched.iter().all(|mv| moves.contains(mv))) {
            return None;
        }
        let left: Vec<Move> = touched.into_iter().flatten().filter(|mv| moves.contains(mv)).collect();
        Some(if left.is_empty() { moves } else { left })
    }

    /// Something was released in this turn that binds, whatever is touched after it.
    fn has_released(&self) -> bool {
        let binds = |seldom: &Seldom| seldom.committed.is_some() || seldom.released.is_some();
        self.turn.seldom.as_deref().is_some_and(binds)
    }

    /// What was released in this turn leaves: that move, and castling that it is a part of, or the moves that a king or a
    /// pawn is committed to.
    fn released(&self, desk: &Desk<'_>) -> Option<Committed> {
        let seldom = self.turn.seldom();
        let Some(released) = seldom.released.filter(|released| released.dwell_ms >= self.dwell_ms) else {
            return seldom.committed.clone().filter(|committed| !committed.moves.is_empty());
        };
        let (from, placed) = (Sq(touch::moved(released.mv)?), Sq(released.mv.to()));
        let fits = |mv: &Move| *mv == released.mv || is_part_of(released.mv, *mv, desk.turn());
        let moves = desk.session.legal_moves().iter().copied().filter(fits).collect();
        let partial = Partial::Placed { from, placed };
        Some(Committed { partial, moves, castling: false, rule: self.articles.released })
    }

    /// What was released leaves moves, and a later touch takes none of them back (Article 4.7; 2005: 4.6): those of
    /// them that the touches leave, or all of them where nothing fits both. False where the touches say it all.
    #[cold]
    fn tell_still_released(&mut self, reported: bool, desk: &mut Desk<'_>) -> bool {
        let Some(Committed { partial, moves, castling, rule }) = self.released(desk) else { return false };
        let (touches, _) = self.ordered(desk);
        let Some(left) = self.left_of(moves, &touches, desk) else { return false };
        let castle = castling.then(|| left.first().copied()).flatten();
        let binding = Binding { rule, ..self.released_binding(left, castle) };
        let obligation = Obligation { reported, ..self.obligation(&touches, &binding, desk) };
        desk.bind(obligation.with(|more| more.partial = Some(partial)));
        self.turn.reach = Bitboard::EMPTY;
        self.turn.seldom_mut().binding = Some(binding);
        true
    }

    /// The common cases: one man of the player's own, or it and one that it captures. False when it is another.
    pub(super) fn tell_common(&mut self, reported: bool, desk: &mut Desk<'_>) -> bool {
        let us = desk.session.position().us();
        let apart_us = self.settings.touch.order_uncertain_ms * 1000;
        match *self.turn.touches.as_slice() {
            [one] if us.contains(one.square) => {
                self.tell_one_touched(one.square, reported, desk);
                true
            }
            [one, other] => {
                let order = [one.square, other.square];
                let certain = other.at.since(one.at) > apart_us;
                match (us.contains(one.square), us.contains(other.square)) {
                    (true, false) => self.tell_capture(one.square, other.square, order, reported, desk),
                    (false, true) if certain => {
                        self.tell_capture(other.square, one.square, order, reported, desk)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// One man of the player's own was touched.
    fn tell_one_touched(&mut self, square: Square, reported: bool, desk: &mut Desk<'_>) {
        let (legal, reach) = match desk.session.reach_of(square) {
            Some(reach) if reach.to.is_empty() => (Choice::Any, Bitboard::EMPTY),
            Some(reach) => (Choice::Man(reach), reach.to),
            None => moves_of(square, desk),
        };
        let free = matches!(legal, Choice::Any);
        self.turn.reach = reach;
        self.turn.unbind_touches();
        desk.bind(Obligation {
            legal,
            rule: if free { self.articles.free } else { self.articles.own },
            must_move: OneOrNone((!free).then_some(Sq(square))),
            reported,
            ..self.no_obligation(Squares::One(Sq(square)), desk)
        });
    }

    /// One man of the opponent's was touched, and these moves capture it.
    pub(super) fn tell_victim(&mut self, square: Square, captures: &[Move], desk: &mut Desk<'_>) {
        self.turn.reach = Bitboard::EMPTY;
        self.turn.unbind_touches();
        desk.bind(Obligation {
            legal: Choice::Of(texts_of(captures, desk).into()),
            rule: self.articles.theirs,
            must_capture: OneOrNone(Some(Sq(square))),
            ..self.no_obligation(Squares::One(Sq(square)), desk)
        });
    }

    /// A man of the player's own and one of the opponent's that it can capture. False when it
    /// cannot.
    fn tell_capture(
        &mut self,
        man: Square,
        victim: Square,
        touches: [Square; 2],
        reported: bool,
        desk: &mut Desk<'_>,
    ) -> bool {
        if !desk.session.position().them().contains(victim) {
            return false;
        }
        let known = self.turn.touches.first().is_some_and(|first| first.square == man);
        let there = Bitboard::from_square(victim);
        let one = Choice::Man(Reach { from: man, to: there, pawn: false });
        let (legal, reach) = if known && self.turn.reach.contains(victim) {
            (one, there)
        } else {
            match desk.session.reach_of(man) {
                Some(reach) if reach.to.contains(victim) => (one, there),
                Some(_) => return false,
                None => match captures_with(man, victim, desk) {
                    Some(captures) => captures,
                    None => return false,
                },
            }
        };
        self.turn.reach = reach;
        self.turn.unbind_touches();
        desk.bind(Obligation {
            legal,
            rule: self.articles.both,
            must_move: OneOrNone(Some(Sq(man))),
            must_capture: OneOrNone(Some(Sq(victim))),
            reported,
            ..self.no_obligation(Squares::Two(touches.map(Sq)), desk)
        });
        true
    }

    /// What every obligation has; nothing binds yet.
    pub(super) fn no_obligation(&self, touches: Squares, desk: &Desk<'_>) -> Obligation {
        Obligation {
            by: Side(desk.turn()),
            touches,
            legal: Choice::Any,
            rule: self.articles.free,
            must_move: OneOrNone(None),
            must_capture: OneOrNone(None),
            more: None,
            reported: false,
            certainty: self.certainty(),
        }
    }

    pub(super) fn obligation(&self, touches: &[Square], binding: &Binding, desk: &Desk<'_>) -> Obligation {
        let all = self.settings.rook_first_ban == RookFirstBan::All;
        let must_castle = binding.must_castle.map(|mv| desk.session.move_text(mv));
        let rook_first_ban = (all && binding.rule == self.articles.rook_king).then_some("all");
        let seldom = must_castle.is_some() || rook_first_ban.is_some();
        let more = ObligationDetail { must_castle, rook_first_ban, ..ObligationDetail::default() };
        Obligation {
            legal: match &binding.moves {
                None => Choice::Any,
                Some(moves) => Choice::Of(texts_of(moves, desk).into()),
            },
            rule: binding.rule,
            must_move: OneOrNone(binding.must_move.map(Sq)),
            must_capture: OneOrNone(binding.must_capture.map(Sq)),
            more: seldom.then(|| Box::new(more)),
            ..self.no_obligation(Squares::Many(squares(touches).into()), desk)
        }
    }
}

/// What a man that was touched alone leaves, and where it may go without becoming another one.
#[inline(never)]
fn moves_of(square: Square, desk: &Desk<'_>) -> (Choice, Bitboard) {
    let mut texts = Vec::new();
    let mut reach = Bitboard::EMPTY;
    let session = desk.session;
    session.each_move_of(square, |mv| {
        texts.push(session.move_text(mv));
        if mv.role() != Role::King && !mv.is_promotion() {
            reach.add(mv.to());
        }
    });
    (if texts.is_empty() { Choice::Any } else { Choice::Of(texts.into()) }, reach)
}

/// What a man leaves with the one of the opponent's that it captures, and where it may go without becoming another
/// one. Nothing when it cannot capture it.
#[inline(never)]
fn captures_with(man: Square, victim: Square, desk: &Desk<'_>) -> Option<(Choice, Bitboard)> {
    let mut texts = Vec::new();
    let mut promotes = false;
    let session = desk.session;
    session.each_move_of(man, |mv| {
        if touch::captured(mv) == Some(victim) {
            texts.push(session.move_text(mv));
            promotes |= mv.is_promotion();
        }
    });
    let reach = if promotes { Bitboard::EMPTY } else { Bitboard::from_square(victim) };
    (!texts.is_empty()).then_some((Choice::Of(texts.into()), reach))
}

/// Moves in letters.
pub(super) fn texts_of(moves: &[Move], desk: &Desk<'_>) -> Vec<MoveText> {
    moves.iter().map(|mv| desk.session.move_text(*mv)).collect()
}
