//! Presses over a board that shows no legal move (Article 7.5).

use shakmaty::{Bitboard, CastlingSide, Color, Move, Position as _, Role, Square};

use super::{Facts, Narrator, Now, Told, marks::side_name, tell};
use crate::session::{
    fact::{FactKind, law::Audience},
    time::MonoTime,
    tracker::{Observed, Ply, Reading, Tracker, castled},
    view::State,
};

/// A second press within this many milliseconds after the one that completed the move is the same.
const PRESSED_TWICE_MS: u64 = 1_000;

/// A press may complete one of so many plies, the last ones.
const LATE_PLIES: usize = 8;

/// What a press found on the board.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    pub state: State,
    /// Who pressed.
    pub side: Color,
    /// When.
    pub at: MonoTime,
    pub attempt: Option<String>,
    pub candidate: Option<Move>,
    /// The square of the mover's only man that is missing.
    pub missing: Option<Square>,
    /// Where the board differed from the game then.
    over: Bitboard,
    /// The opponent has pressed since, and had not moved.
    pub pressed_back: bool,
}

/// A man that nobody sees land for this long after the press is not in a hand, in milliseconds.
const LANDS_MS: u64 = 1_500;

impl Narrator {
    /// Looks at the board that `side` pressed over.
    pub(in crate::session) fn judge_press(
        &mut self,
        tracker: &Tracker,
        side: Color,
        now: Now,
        facts: &mut Facts,
    ) {
        if self.is_over() || self.fault.is_some() || !self.ambiguous.is_empty() {
            return;
        }
        let Some(best) = tracker.best() else { return };
        // A late press belongs to an earlier move, whoever has the move now (Article 6.2.2; 2005: 6.8a).
        let completes = |told: &Told| told.record.completed == Some(now.at) && told.after.turn() != side;
        if self.told.iter().rev().take(LATE_PLIES).any(completes) {
            return;
        }
        if self.position().turn() != side {
            let (them, seen) = (self.position().them(), tracker.seen().differs(self.position().board()));
            if let Some(wrong) = &mut self.wrong {
                wrong.pressed_back |= ((seen ^ wrong.over) & them).is_empty();
            }
            self.judge_idle_press(tracker, side, now, facts);
            return;
        }
        if tracker.len(best) > self.told.len() && best.differs.is_empty() {
            return;
        }
        let seen = tracker.seen();
        let differs = seen.differs(self.position().board());
        let (missing, extra) = (differs & !seen.occupied, differs & seen.occupied);
        let unfinished = self.unfinished(tracker).or_else(|| self.still_unfinished(tracker));
        let once = |wrong: &Wrong| wrong.state == State::Incomplete && !wrong.pressed_back;
        let known = self.wrong.as_ref().filter(|wrong| once(wrong)).and_then(|wrong| wrong.candidate);
        if known.is_some() && known == unfinished {
            // Nor does a second press over the same unfinished move say anything new.
            return;
        }
        let advise = |code, squares: Bitboard, detail: &str| FactKind::Advisory {
            code,
            side: Some(side),
            squares,
            to: Audience::Arbiter,
            detail: detail.into(),
        };
        let legal = |&(from, to): &(Square, Square)| {
            self.legal().iter().any(|mv| mv.from() == Some(from) && mv.to() == to && !mv.is_promotion())
        };
        let attempt = self.attempt(missing, extra, seen).filter(|attempt| !legal(attempt));
        let (state, attempt) = if missing.is_empty() && extra.is_empty() {
            tell(
                facts,
                now,
                advise("press-without-move", Bitboard::EMPTY, "the clock was pressed and no man had moved"),
            );
            self.note_idle_press(side, now.at);
            (State::NoMove, None)
        } else if unfinished.is_some() || extra.is_empty() {
            let taken = missing.single_square().filter(|_| extra.is_empty());
            if taken.is_some_and(|from| self.is_known(side, &from.to_string())) {
                return;
            }
            tell(
                facts,
                now,
                advise(
                    "press-before-move",
                    missing | extra,
                    "the clock was pressed before the move was finished",
                ),
            );
            (State::Incomplete, None)
        } else if let Some((from, to)) = attempt {
            let uci = format!("{from}{to}");
            if self.is_known(side, &uci) {
                return;
            }
            let n = self.side_counts(side).map_or(1, |count| {
                *count += 1;
                *count
            });
            self.mark(format!("illegal_move:{n}"));
            let attempt = Some(uci);
            let illegal = FactKind::IllegalMove {
                by: side,
                attempt: attempt.clone(),
                kind: "illegal-move",
                n,
                to: Audience::Arbiter,
            };
            tell(facts, now, illegal);
            // A board that tells no men may have missed what would explain it.
            if self.identity {
                self.refuse(Some(from));
            }
            self.suspect_exchange(from, to, now, facts);
            (State::Illegal, attempt)
        } else {
            // Nobody is accused of a move that cannot be named.
            tell(
                facts,
                now,
                advise(
                    "press-over-mismatch",
                    missing | extra,
                    "the clock was pressed over other men than the game's",
                ),
            );
            (State::Mismatch, None)
        };
        let missing = missing.single_square().filter(|_| unfinished.is_none() && state != State::Mismatch);
        self.wrong = Some(Wrong {
            state,
            side,
            at: now.at,
            attempt,
            candidate: unfinished,
            missing,
            over: differs,
            pressed_back: false,
        });
    }

    /// This player has pressed over an illegal move that begins so before: a second press over the same position is
    /// no second one.
    fn is_known(&self, side: Color, begins: &str) -> bool {
        self.wrong.as_ref().is_some_and(|wrong| {
            let attempt = wrong.attempt.as_ref().filter(|attempt| attempt.starts_with(begins));
            wrong.state == State::Illegal && wrong.side == side && attempt.is_some()
        })
    }

    /// A press by the player who does not have the move, where it completed nothing.
    fn judge_idle_press(&mut self, tracker: &Tracker, side: Color, now: Now, facts: &mut Facts) {
        // A lever that bounces is pressed twice.
        let again = |completed: MonoTime| now.at <= completed.plus_ms(PRESSED_TWICE_MS);
        let just_now = self.told.last().is_some_and(|told| told.record.completed.is_some_and(again));
        let quiet = self.uncompleted_last().is_none()
            && !just_now
            && tracker.seen().shows(self.position().board().occupied());
        if quiet && self.note_idle_press(side, now.at) {
            let kind = FactKind::Advisory {
                code: "press-without-move",
                side: Some(side),
                squares: Bitboard::EMPTY,
                to: Audience::Arbiter,
                detail: "the clock was pressed by the player who does not have the move".into(),
            };
            tell(facts, now, kind);
        }
    }

    /// The board is in order again after a press over something else.
    pub(super) fn forget_wrong(&mut self, now: Now) {
        self.refused = None;
        let Some(wrong) = self.wrong.take_if(|wrong| wrong.state != State::NoMove) else { return };
        if wrong.state == State::Incomplete && self.told_nothing_since(&wrong) {
            self.mark(format!("press_without_move:{}", side_name(wrong.side)));
            self.stray_press = Some((wrong.side, now.at));
        }
    }

    fn told_nothing_since(&self, wrong: &Wrong) -> bool {
        self.position().turn() == wrong.side
    }

    /// A man that was lifted and pressed over, and that no square sees: either its new square is dead,
    /// or it stands beside its sensor. Which move it was is asked and not guessed.
    pub(super) fn judge_missing(&mut self, now: Now, facts: &mut Facts) {
        let side = self.position().us();
        let Some(wrong) = &mut self.wrong else { return };
        let Some(square) = wrong.missing.filter(|square| side.contains(*square)) else { return };
        if wrong.state != State::Incomplete || self.refused.is_some() || now.at < wrong.at.plus_ms(LANDS_MS) {
            return;
        }
        wrong.state = State::Fault;
        let kind = FactKind::Advisory {
            code: "man-missing",
            side: Some(self.position().turn()),
            squares: Bitboard::from_square(square),
            to: Audience::Arbiter,
            detail: "its man was moved and pressed over, and no square sees it".into(),
        };
        tell(facts, now, kind);
        let candidates = self.landings(square);
        if candidates.len() > 1 {
            tell(facts, now, FactKind::Ambiguous { candidates });
        }
    }

    /// When [`Narrator::judge_missing`] is due.
    pub(super) fn missing_due(&self) -> Option<MonoTime> {
        let wrong = self.wrong.as_ref()?;
        let awaited = wrong.state == State::Incomplete && wrong.missing.is_some() && self.refused.is_none();
        awaited.then(|| wrong.at.plus_ms(LANDS_MS))
    }

    /// The moves of a man that no square sees: those to an empty square.
    pub(super) fn landings(&self, from: Square) -> Vec<String> {
        let legal = self.position().legal_moves().into_iter();
        legal
            .filter(|mv| mv.from() == Some(from) && !mv.is_capture() && mv.castling_side().is_none())
            .map(|mv| self.uci(mv))
            .collect()
    }

    /// The clock was pressed over a capture en passant whose victim still stands, or over a castling whose
    /// rook has not come: as long as that is so, no such move was made (Articles 3.7.4, 4.7.2), whatever is
    /// played after it. A rook that is only lifted has not come.
    pub(super) fn awaits_rest(&self, tracker: &Tracker, reading: &Reading, mv: Move) -> bool {
        let open = last_part(mv, self.position().turn());
        // A rook that is only lifted has not come, a pawn that is lifted is off.
        let open = if mv.is_en_passant() { open & tracker.seen().occupied } else { open };
        self.was_pressed_over(mv) && reading.differs.intersects(open)
    }

    /// The clock was pressed over what is no legal move. Until the position before it stands, one is told only where
    /// it was seen, its man landing and the one that it takes leaving, and where the man that had moved is not gone.
    pub(super) fn is_refused(&self, reading: &Reading, ply: &Ply) -> bool {
        self.refused.is_some_and(|from| ply.inferred || reading.differs.contains(from))
    }

    /// What the clock was pressed over with this man is no legal move, it seems; nothing where it may be one.
    pub(in crate::session) const fn refuse(&mut self, from: Option<Square>) {
        self.refused = from;
    }

    /// The capture that the clock was pressed over is not legal: a man is missing that stands where it took another.
    pub(in crate::session) fn found_illegal(&mut self, (from, to): (Square, Square)) {
        self.refuse(Some(from));
        if let Some(wrong) = &mut self.wrong {
            (wrong.state, wrong.attempt, wrong.missing) = (State::Illegal, Some(format!("{from}{to}")), None);
        }
    }

    /// The squares of the part that is still to do of the move that the clock was pressed over. What the board
    /// shows there says nothing of its sensors.
    pub(in crate::session) fn awaited(&self, tracker: &Tracker) -> Bitboard {
        self.still_unfinished(tracker).map_or(Bitboard::EMPTY, |mv| last_part(mv, self.position().turn()))
    }

    /// The move that the clock was pressed over unfinished, where that press was undone: by the opponent, who
    /// pressed and had not moved.
    pub(in crate::session) fn pressed_back_over(&self) -> Option<Move> {
        let wrong = self.wrong.as_ref().filter(|wrong| wrong.pressed_back)?;
        wrong.candidate.filter(|_| wrong.state == State::Incomplete)
    }

    /// The clock of `side` was started again: its press is undone. The move that it was pressed over unfinished.
    pub(in crate::session) fn undo_press(&mut self, side: Color) -> Option<Move> {
        if let Some(wrong) = self.wrong.as_mut().filter(|wrong| wrong.side == side) {
            wrong.pressed_back = true;
        }
        self.pressed_back_over()
    }

    /// An arbiter finds that what was pressed over is no illegal move: it was made, whatever its squares read.
    pub(in crate::session) fn excuse(&mut self) {
        self.wrong = None;
        self.refused = None;
    }

    /// The clock was pressed over this move while a part of it was to do.
    pub(super) fn was_pressed_over(&self, mv: Move) -> bool {
        let unfinished = |wrong: &Wrong| wrong.state == State::Incomplete && wrong.candidate == Some(mv);
        self.wrong.as_ref().is_some_and(unfinished)
    }

    /// The move that the clock was pressed over, of which the same part is still to do, whatever else has
    /// changed since.
    fn still_unfinished(&self, tracker: &Tracker) -> Option<Move> {
        let wrong = self.wrong.as_ref().filter(|wrong| wrong.state == State::Incomplete)?;
        wrong.candidate.filter(|mv| is_unfinished(*mv, tracker.seen(), self.position().turn()))
    }

    /// A legal move of which a part is still to do: the rook of castling, the pawn of en passant, the
    /// exchange of a pawn on the last rank.
    pub(super) fn unfinished(&self, tracker: &Tracker) -> Option<Move> {
        let position = self.position();
        let occupied = position.board().occupied();
        let men = tracker.seen().men.as_ref();
        let seen = tracker.seen();
        position.legal_moves().into_iter().find(|mv| match *mv {
            Move::Castle { king, rook } => mv.castling_side().is_some_and(|side| {
                let (king_to, rook_to) = castled(side, position.turn());
                let begun = occupied.without(king).with(king_to);
                let in_hand = rook_to != rook && seen.shows(begun.without(rook));
                king_to != rook && (in_hand || seen.shows(begun))
            }),
            Move::EnPassant { from, to } => seen.shows(occupied.without(from).with(to)),
            Move::Normal { from, to, promotion: Some(_), .. } => {
                let pawn = Role::Pawn.of(position.turn());
                men.is_some_and(|men| men.piece_at(to) == Some(pawn))
                    && seen.shows(occupied.without(from).with(to))
            }
            _ => false,
        })
    }

    /// Where the king castles whose rook is missing as well.
    fn castling_target(&self, missing: Bitboard, from: Square, king: bool) -> Option<Square> {
        let rook =
            (missing & self.position().board().rooks() & Bitboard::from_rank(from.rank())).single_square()?;
        let side = CastlingSide::from_king_side(from < rook);
        king.then(|| castled(side, self.position().turn()).0)
    }

    /// The move as it looks: where the man that is missing may have gone.
    fn attempt(&self, missing: Bitboard, extra: Bitboard, seen: &Observed) -> Option<(Square, Square)> {
        let position = self.position();
        let own = missing & position.us();
        let from = own.single_square().or_else(|| (own & position.board().kings()).first())?;
        let two_away = |square: &Square| square.distance(from) == 2;
        // Two men of one move: castling, even along the file.
        let king = position.board().kings().contains(from);
        let file = if king { Bitboard::from_file(from.file()) } else { Bitboard::EMPTY };
        let line = extra & (Bitboard::from_rank(from.rank()) | file);
        let castling = self.castling_target(own, from, king).filter(|square| extra.contains(*square));
        // A board that tells its men shows where the king is.
        let shown = seen
            .men
            .as_ref()
            .and_then(|men| men.king_of(position.turn()))
            .filter(|square| king && extra.contains(*square));
        let kings = shown.or(castling).or_else(|| line.into_iter().find(two_away)).or_else(|| line.first());
        let to = extra.single_square().or(kings)?;
        // Castling that is not allowed is written as the king's step.
        Some((from, to))
    }
}

/// The squares of what is done last in a move of two parts: the rook of castling, the pawn that is taken en
/// passant.
fn last_part(mv: Move, by: Color) -> Bitboard {
    match mv {
        Move::EnPassant { from, to } => Bitboard::from_square(Square::from_coords(to.file(), from.rank())),
        Move::Castle { rook, .. } => mv
            .castling_side()
            .map_or(Bitboard::EMPTY, |side| Bitboard::from_square(rook).with(castled(side, by).1)),
        _ => Bitboard::EMPTY,
    }
}

/// Whether one part of a move stands on the board and the other is still to do.
pub(in crate::session) fn is_unfinished(mv: Move, seen: &Observed, by: Color) -> bool {
    let occupied = seen.occupied;
    match mv {
        Move::EnPassant { from, to } => {
            let victim = Square::from_coords(to.file(), from.rank());
            occupied.contains(to) && occupied.contains(victim) && !occupied.contains(from)
        }
        Move::Castle { king, rook } => {
            let Some((king_to, rook_to)) = mv.castling_side().map(|side| castled(side, by)) else {
                return false;
            };
            let come = king_to != rook && occupied.contains(king_to) && !occupied.contains(king);
            come && !occupied.contains(rook_to)
        }
        Move::Normal { from, to, promotion: Some(_), .. } => {
            let pawn = seen.men.as_ref().is_some_and(|men| men.piece_at(to) == Some(Role::Pawn.of(by)));
            pawn && !occupied.contains(from)
        }
        _ => false,
    }
}
