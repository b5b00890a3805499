//! Moves that break Article 4, and how long the opponent may claim that (Articles 4.7, 4.8).

use shakmaty::{Chess, Color, Move, Position as _, Square};

use super::{Committed, Made, Released, Seldom, Touch, Violation, is_part_of};
use crate::{
    game::conduct::{Conduct, Desk, audience, rulings::Refusal},
    laws::touch::{self, Binding},
    session::{
        fact::law::{Audience, Notice, Obligation, Partial, Side, Sq},
        text::MoveText,
    },
};

impl Conduct {
    /// True for a move of a player who was bound by nothing but his touches, and keeps to them at first sight.
    pub(super) fn keeps_to_touches(&self, mv: Move) -> bool {
        let bound = |seldom: &Seldom| {
            seldom.bound_to.is_some() || seldom.released.is_some() || seldom.committed.is_some()
        };
        !self.turn.seldom.as_deref().is_some_and(bound) && self.fits_touches(mv)
    }

    fn fits_touches(&self, mv: Move) -> bool {
        let of_move = |square: Square| touch::moves_man(mv, square) || touch::captured(mv) == Some(square);
        match self.turn.touches.as_slice() {
            [] => true,
            [one] => of_move(one.square),
            [one, other] => touch::captured(mv).is_some() && of_move(one.square) && of_move(other.square),
            _ => false,
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn look_for_violation(&mut self, mv: Move, made: Made, index: usize, desk: &mut Desk<'_>) {
        let to = audience(self.settings.touch.violation_alert);
        let played = Some(made.uci);
        if let Some((moves, article)) = &self.turn.seldom().bound_to
            && !moves.contains(&mv)
        {
            let required = self.texts(moves, desk);
            let notice = Notice::of("touch-violation", to);
            desk.notice(Notice { required, played, article: Some(*article), ..notice });
            return;
        }
        // What a ruling or an envelope leaves open may still bind by a touch or a release.
        let released = self.turn.seldom().released.filter(|released| self.turn.lets_play(&released.mv));
        if let Some(released) = released.filter(|released| !is_part_of(released.mv, mv, made.by)) {
            if released.mv != mv {
                self.moved_on(released, mv, made, desk);
            }
            return;
        }
        if let Some(committed) = self.turn.seldom().committed.clone()
            && committed.moves.iter().any(|mv| self.turn.lets_play(mv))
            && !committed.moves.contains(&mv)
        {
            let code = if committed.castling { "castle-abandoned" } else { "released-then-moved" };
            let required = self.texts(&committed.moves, desk);
            let article = Some(self.articles.released);
            desk.notice(Notice { required, played, article, ..Notice::of(code, to) });
            let castle = committed.castling.then(|| committed.moves.first().copied()).flatten();
            let binding = self.released_binding(committed.moves, castle);
            self.violate(made, binding, Some(committed.partial));
            return;
        }
        if self.fits_touches(mv) {
            return;
        }
        let mut binding = match (&self.turn.seldom().binding, desk.session.position_after(index)) {
            (Some(binding), _) => binding.clone(),
            (None, Some(before)) if !self.turn.touches.is_empty() => touch::binding(
                before,
                before.legal_moves().as_slice(),
                &self.turn.touched(),
                self.settings.rook_first_ban,
                self.articles,
            ),
            _ => return,
        };
        // A rook that was released first stays where it is (Article 4.7; 2005: 4.6).
        if let (Some(released), Some(moves)) = (released, &mut binding.moves)
            && moves.contains(&released.mv)
        {
            moves.retain(|mv| *mv == released.mv);
        }
        if let Some(moves) = &binding.moves
            && moves.iter().any(|mv| self.turn.lets_play(mv))
            && !binding.allows(mv)
        {
            let required = self.texts(moves, desk);
            let notice = Notice::of("touch-violation", to);
            desk.notice(Notice { required, played, article: Some(binding.rule), ..notice });
            self.violate(made, binding, None);
        }
    }

    pub(super) const fn released_binding(&self, moves: Vec<Move>, must_castle: Option<Move>) -> Binding {
        let rule = self.articles.released;
        Binding { moves: Some(moves), rule, must_move: None, must_capture: None, must_castle }
    }

    pub(super) fn violate(&mut self, made: Made, binding: Binding, partial: Option<Partial>) {
        self.violation = Some(Violation {
            ply: made.ply,
            by: made.by,
            article: binding.rule,
            of_touch: partial.is_none(),
            open: false,
            forfeited: false,
            touches: self.turn.touches.clone(),
            binding,
            partial,
        });
    }

    /// The move that ended the game breaks Article 4, which in this edition may still be claimed (Articles
    /// 5.1.1, 5.2.1).
    pub(in crate::game::conduct) fn ended_in_breach(&self, desk: &Desk<'_>) -> bool {
        let last = desk.session.plies().len();
        let open =
            self.violation.as_ref().is_some_and(|violation| violation.ply == last && !violation.forfeited);
        open && self.settings.touch.breach_undoes_mate && !desk.session.can_move()
    }

    /// A breach of Article 4 is upheld: back to the position before the move, and the player is bound by
    /// what he touched or released (Articles 4.3, 4.7).
    pub(in crate::game::conduct) fn uphold_touch(&mut self, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let Some(violation) = self.violation.take() else { return Err("no violation is on record".into()) };
        self.go_back_to(self.earlier.len() + violation.ply.saturating_sub(1), desk)?;
        let Violation { by, touches, binding, partial, .. } = violation;
        let squares: Vec<Square> = touches.iter().map(|touch| touch.square).collect();
        let obligation = self.obligation(&squares, &binding, desk);
        let obligation = Obligation { by: Side(by), ..obligation };
        desk.bind(if partial.is_some() {
            obligation.with(|more| more.partial = partial)
        } else {
            obligation
        });
        if let (Some(partial), Some(moves)) = (partial, binding.moves.clone()) {
            let castling = binding.must_castle.is_some();
            self.turn.seldom_mut().committed =
                Some(Committed { partial, moves, castling, rule: binding.rule });
        }
        self.turn.touches = touches;
        self.turn.seldom_mut().binding = Some(binding);
        Ok(())
    }

    /// The position before a move is put up again, and the man that made it counts as touched.
    pub(in crate::game::conduct) fn bind_after_restoring(
        &mut self,
        man: Square,
        before: &Chess,
        desk: &mut Desk<'_>,
    ) {
        let legal = before.legal_moves();
        let ban = self.settings.rook_first_ban;
        let binding = touch::binding(before, legal.as_slice(), &[man], ban, self.articles);
        let obligation = self.obligation(&[man], &binding, desk);
        let by = Side(before.turn());
        desk.bind(Obligation { by, reported: true, ..obligation });
        self.turn.touches = vec![Touch { square: man, at: desk.at }];
        self.turn.seldom_mut().binding = Some(binding);
    }

    /// A man that had been released was moved on (Article 4.7; 2005: 4.6).
    pub(super) fn moved_on(&mut self, released: Released, mv: Move, made: Made, desk: &mut Desk<'_>) {
        let same = touch::moved(released.mv) == touch::moved(mv);
        let promoted = released.mv.promotion().zip(mv.promotion()).filter(|_| released.mv.to() == mv.to());
        if let Some((first, now)) = promoted.filter(|_| same) {
            let notice = Notice::of("promotion-changed", Audience::Arbiter);
            desk.notice(Notice {
                first: Some(first.upper_char()),
                now: Some(now.upper_char()),
                square: Some(Sq(mv.to())),
                ..notice
            });
        } else if released.dwell_ms >= self.dwell_ms {
            let notice = Notice::of("released-then-moved", audience(self.settings.touch.violation_alert));
            desk.notice(Notice {
                square: Some(Sq(released.mv.to())),
                dwell_ms: Some(released.dwell_ms),
                required: vec![released.uci],
                played: Some(made.uci),
                article: Some(self.articles.released),
                ..notice
            });
        }
        let from = touch::moved(released.mv)
            .map(|from| Partial::Placed { from: Sq(from), placed: Sq(released.mv.to()) });
        let binding = self.released_binding(vec![released.mv], None);
        self.violate(made, binding, from);
    }

    /// A move was completed.
    pub(in crate::game::conduct) fn completed(
        &mut self,
        ply: usize,
        uci: MoveText,
        by: Color,
        desk: &mut Desk<'_>,
    ) {
        if self.unpressed.is_some_and(|(open, _)| open == ply) {
            self.unpressed = None;
        }
        if self.violation.as_ref().is_some_and(|violation| !violation.open) {
            self.open_window(ply, uci, by, desk);
        }
        self.clocks_completed(ply, by, desk);
    }

    /// A breach may be claimed from the completion of its move on.
    #[cold]
    fn open_window(&mut self, ply: usize, uci: MoveText, by: Color, desk: &mut Desk<'_>) {
        if let Some(violation) = &mut self.violation
            && violation.ply == ply
            && !violation.open
        {
            violation.open = true;
            let closes = by.fold_wb("first touch by black", "first touch by white");
            let closes = violation.is_lost_by_touch(&self.settings).then_some(closes);
            let notice = Notice::of("claim-window-open", Audience::Journal);
            let article = Some(violation.article);
            desk.notice(Notice { closes, uci: Some(uci), article, ..notice });
        }
    }

    /// The first touch of a player closes what he could have claimed, and refuses an offer.
    #[cold]
    pub(in crate::game::conduct) fn close_windows(&mut self, by: Color, desk: &mut Desk<'_>) {
        if let Some(violation) = &mut self.violation
            && violation.by != by
            && violation.open
            && !violation.forfeited
            && violation.is_lost_by_touch(&self.settings)
        {
            violation.forfeited = true;
            let notice = Notice::of("claim-window-closed", Audience::Journal);
            desk.notice(Notice { article: Some(self.articles.claim_lost), ..notice });
        }
        self.refuse_offer(by, "touch", desk);
    }
}
