//! Irregularities (Article 7): a press over a board that shows no legal move, what finding it takes, and
//! what an arbiter makes of it. Nothing is counted and nobody is penalised without the arbiter.

mod ruling;
mod stands;

use serde_json::Value;
use shakmaty::{Bitboard, Board, Chess, Color, Move, Position as _, Role, Square};

use self::stands::{as_it_looks, rook_with_king, squares};
use super::{
    Conduct, Desk, Order, audience,
    clocks::AtPress,
    fen_of,
    turn::{Made, Touch, Turn, differing},
};
use crate::{
    laws::settings::{IllegalFinality, IllegalPosition, TwoHands},
    laws::touch,
    notation::chess960::{Castling, CastlingMethod},
    session::{
        fact::{
            Fact, FactKind,
            law::{Audience, LawFact, Notice, Restore, Side, Sq},
        },
        setup::GameSetup,
        time::MonoTime,
    },
};

/// How far an irregularity has come.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    /// The clock was pressed over an unfinished move, or over none: it may still follow.
    Open {
        /// The advisory of the session, told when nothing follows.
        told: Box<Fact>,
        /// Until when it may follow. It is put off and never brought forward: nothing is told in the past.
        until: MonoTime,
    },
    /// It is on record.
    Found,
    /// An arbiter has dealt with it.
    Ruled,
    /// It can no longer be corrected; the game went on.
    Stands,
}

/// What is wrong on the board.
#[derive(Clone, Debug)]
pub(super) struct Irregularity {
    by: Color,
    kind: &'static str,
    attempt: Option<String>,
    at: MonoTime,
    /// Where the board differed from the game at the press.
    over: Bitboard,
    /// The legal move of which a part was missing at the press.
    unfinished: Option<Move>,
    /// Where the rook went that was moved together with the king: castling that is not legal.
    rook: Option<(Square, Square)>,
    /// The capture that the clock was pressed over, although it is not legal.
    taken: Option<(Square, Square)>,
    /// Plies of the log before it.
    plies: usize,
    stage: Stage,
    /// It was found when the game had gone on.
    later: bool,
    /// The moments between which it was pressed, where it was found later and that is known.
    pressed: Option<(MonoTime, MonoTime)>,
    /// The opponent has made his next move since.
    answered: bool,
    /// It was told to count.
    counted: bool,
    /// The opponent has started the player's clock again.
    pressed_back: bool,
    /// The position before it stood on the board again.
    put_back: bool,
    /// What the opponent touched and put back since.
    touches: Vec<Touch>,
    /// The turn in which it was made, while the game goes on after it.
    turn: Option<Box<Turn>>,
}

impl Irregularity {
    pub(super) const fn by(&self) -> Color {
        self.by
    }

    /// It was found when the game had gone on.
    pub(super) const fn was_found_later(&self) -> bool {
        self.later
    }

    /// The move that was tried, as it looks, and the position after it.
    fn as_it_looks(&self, position: &Chess) -> Option<(Move, Chess)> {
        let squares = match (self.rook, self.unfinished.and_then(Castling::of)) {
            // Half a castling is a step of the king, also where its name is the rook's square (Chess960).
            (None, Some(castling)) => castling.king,
            _ => squares(self.attempt.as_deref()?)?,
        };
        as_it_looks(position, squares, self.rook)
    }

    /// It is an illegal move that left another position on the board.
    fn is_of_position(&self) -> bool {
        let waits = matches!(self.stage, Stage::Open { .. });
        !waits && self.attempt.is_some() && self.kind != TWO_HANDS
    }

    /// The same one, of which it is known by now what it is.
    fn known_as(self, attempt: Option<String>, kind: &'static str) -> Irregularity {
        Irregularity { attempt, kind, stage: Stage::Found, taken: None, ..self }
    }

    /// An irregularity of this moment.
    fn of(by: Color, kind: &'static str, stage: Stage, desk: &Desk<'_>) -> Irregularity {
        Irregularity {
            by,
            kind,
            attempt: None,
            at: desk.at,
            over: desk.session.differs(),
            unfinished: desk.session.unfinished(),
            rook: None,
            taken: None,
            plies: desk.session.plies().len(),
            stage,
            later: false,
            pressed: None,
            answered: false,
            counted: false,
            pressed_back: false,
            put_back: false,
            touches: Vec::new(),
            turn: None,
        }
    }
}

/// A move that was made with two hands, it seems (Article 4.1).
const TWO_HANDS: &str = "two-hands";

/// Why that is not to be ruled on yet.
const NOT_COMPLETED: &str = "the move is not completed: the clock was not pressed";

/// A press before the move that followed after all.
const TOO_EARLY: &str = "too-early";

/// What a move was tried with that was not there.
const NO_ATTEMPT: &str = "----";

/// Illegal moves that were confirmed before the log: `given.illegal`.
pub(super) fn given(setup: &GameSetup) -> [u32; 2] {
    let count = |side: &str| {
        let count = setup.given.get("illegal").and_then(|counts| counts.get(side)).and_then(Value::as_u64);
        count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
    };
    [count("white"), count("black")]
}

impl Conduct {
    /// The number of the illegal move that a side has on record, or would have.
    fn next_count(&self, side: Color) -> u32 {
        self.confirmed.get(side.fold_wb(0usize, 1)).map_or(1, |count| count.saturating_add(1))
    }

    /// The session found a press over a man on a square where no legal move puts it.
    pub(super) fn illegal_move(
        &mut self,
        by: Color,
        attempt: Option<String>,
        kind: &'static str,
        desk: &mut Desk<'_>,
    ) {
        let found = Irregularity::of(by, kind, Stage::Found, desk).known_as(attempt, kind);
        self.find(found, desk);
    }

    fn find(&mut self, found: Irregularity, desk: &mut Desk<'_>) {
        let to = found.attempt.as_deref().and_then(squares).map(|(_, to)| to);
        let king = desk.session.position().their(Role::King);
        let kind = if to.is_some_and(|to| king.contains(to)) { "king-capture" } else { found.kind };
        let (by, attempt) = (found.by, found.attempt.clone());
        let n = self.next_count(by);
        let fast = self.settings.illegal.fast_finality != IllegalFinality::Never;
        let to = audience(self.settings.illegal.move_alert);
        let unpromoted = kind == "unpromoted";
        let rook = attempt.as_deref().and_then(|attempt| rook_with_king(attempt, desk));
        // Who was called at the press is not called again for the same by a claim or a ruling.
        let counted = fast && !unpromoted && to == Audience::Arbiter;
        if !(fast && unpromoted) {
            let kind = FactKind::IllegalMove { by, attempt: attempt.clone(), kind, n, to };
            desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind });
        }
        // What the opponent has lifted since binds him where it stands, and else nobody.
        let answers = std::mem::take(&mut self.answers).into_iter();
        let touches = answers.filter_map(|(side, touch)| (side != by).then_some(touch)).collect();
        let found = Irregularity { kind, rook, counted, touches, ..found };
        let shown = if fast { found.as_it_looks(desk.session.position()) } else { None };
        self.irregularity = Some(found);
        if fast {
            let both_kings = shown.is_some_and(|(_, after)| both_in_check(&after));
            let grave = unpromoted || both_kings;
            let (to, action) = match (grave, self.settings.illegal.irregular_position) {
                (true, IllegalPosition::Intervene) => (Audience::Arbiter, Some("intervene")),
                (true, IllegalPosition::DrawAfterNextMove) => (Audience::Journal, Some("wait-for-next-move")),
                _ => (to, None),
            };
            let notice = Notice::of("illegal-position", to);
            let side = Some(Side(by));
            let attempt = attempt.filter(|_| !unpromoted);
            desk.notice(Notice { side, attempt, unpromoted, both_kings, action, ..notice });
        } else {
            self.tell_restore(desk);
        }
    }

    /// An arbiter found later that a move on record was illegal: it may be counted, and the man that made it
    /// is the touched one (Article 7.5.1; 2005: 7.4a).
    pub(super) fn found_later(&mut self, index: usize, before: &Chess, mv: Move, desk: &mut Desk<'_>) {
        let (by, kind) = (before.turn(), "illegal-move");
        let attempt = Some(String::from(desk.session.move_text(mv)));
        let n = self.next_count(by);
        let to = Audience::Arbiter;
        let fact = FactKind::IllegalMove { by, attempt: attempt.clone(), kind, n, to };
        desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind: fact });
        let found = Irregularity::of(by, kind, Stage::Found, desk);
        let (unfinished, pressed) = (None, Conduct::press_of_ply(index, desk));
        self.irregularity = Some(Irregularity {
            attempt,
            plies: index,
            unfinished,
            later: true,
            pressed,
            counted: true,
            ..found
        });
        if let Some(man) = touch::moved(mv) {
            self.bind_after_restoring(man, before, desk);
        }
    }

    /// The times of a press over what is on record, where they are known.
    pub(super) fn press_of(&self, found: &Irregularity) -> Option<AtPress> {
        let until = if found.later { found.pressed } else { Some((MonoTime::ZERO, found.at)) };
        until.and_then(|(from, until)| self.clocks.press_by(found.by, from, until))
    }

    /// What a press left open and no arbiter has ruled on, and that the opponent has not undone.
    pub(super) fn pressed_over(&self) -> Option<&Irregularity> {
        let found = self.irregularity.as_ref().filter(|found| !found.pressed_back);
        found.filter(|found| matches!(found.stage, Stage::Open { .. } | Stage::Found))
    }

    /// What putting the position of the game up again takes.
    pub(super) fn tell_restore(&self, desk: &mut Desk<'_>) {
        let ply = self.earlier.len() + desk.session.plies().len();
        Conduct::tell_way_to(desk.session.position(), ply, desk);
    }

    /// What putting up a position takes: where men stand that do not belong there, and where men belong that do not
    /// stand there. The squares of which the man has to be exchanged are in both.
    pub(super) fn tell_way_to(target: &Chess, ply: usize, desk: &mut Desk<'_>) {
        let (stand, belong) = (Conduct::standing(desk), target.board());
        let (mut remove, mut put) = differing(belong, desk.session.occupied());
        let exchanged = belong.occupied() & desk.session.occupied();
        for square in exchanged
            .into_iter()
            .filter(|square| stand.piece_at(*square).is_some_and(|man| belong.piece_at(*square) != Some(man)))
        {
            remove.push(Sq(square));
            put.push(Sq(square));
        }
        let fen = fen_of(target);
        desk.tell(LawFact::Restore(Restore { fen, ply, remove, put, to: Audience::Arbiter }));
    }

    /// The squares on which another man stands than in this position, on a board that does not tell it.
    pub(super) fn to_exchange(target: &Chess, desk: &Desk<'_>) -> Bitboard {
        if desk.session.men().is_some() {
            return Bitboard::EMPTY;
        }
        let (stand, belong) = (Conduct::standing(desk), target.board());
        let both = belong.occupied() & stand.occupied();
        both.into_iter().filter(|square| stand.piece_at(*square) != belong.piece_at(*square)).collect()
    }

    /// The men on the board. Where it does not tell them they are those of the game.
    fn standing(desk: &Desk<'_>) -> Board {
        let session = desk.session;
        if let Some(men) = session.men() {
            return men.clone();
        }
        let mut men = session.position().board().clone();
        for square in men.occupied() & !session.occupied() {
            men.discard_piece_at(square);
        }
        men
    }

    /// The same for what is on record, which may stand as a move by now: the position before it.
    fn tell_way_out(&self, desk: &mut Desk<'_>) {
        let before = self.irregularity.as_ref().map(|found| self.earlier.len() + found.plies);
        let told = before.map(|ply| self.tell_way_back(ply, desk));
        if !matches!(told, Some(Ok(_))) {
            self.tell_restore(desk);
        }
    }

    /// An advisory of the session passes.
    pub(super) fn pass_advisory(
        &mut self,
        code: &'static str,
        side: Option<Color>,
        fact: Fact,
        desk: &mut Desk<'_>,
    ) {
        match (code, side) {
            ("press-without-move", Some(side)) if desk.turn() != side => {
                let notice = Notice::of("press-idle-side", Audience::Journal);
                desk.notice(Notice { side: Some(Side(side)), ..notice });
            }
            ("press-without-move", Some(side)) if self.adjournment.explains_press(side) => {
                let notice = Notice::of("net-zero-move", Audience::Journal);
                desk.notice(Notice { side: Some(Side(side)), explained: Some("sealed reply"), ..notice });
            }
            ("press-without-move", Some(_)) if self.tell_transposition(desk) => {}
            ("press-without-move" | "press-before-move", Some(by)) => {
                let kind = if code == "press-without-move" { code } else { "incomplete" };
                let until = desk.at.plus_ms(self.settings.clock.press_grace_ms);
                let stage = Stage::Open { told: Box::new(fact), until };
                let taken = self.turn.taken_by_nobody(desk);
                if let Some((from, _)) = taken {
                    desk.orders.push(Order::Refuse(Some(from)));
                }
                self.irregularity = Some(Irregularity { taken, ..Irregularity::of(by, kind, stage, desk) });
            }
            ("press-over-mismatch", Some(side)) => {
                let squares = desk.session.differs().into_iter().map(Sq).collect();
                desk.facts.push_back(fact);
                let notice = Notice::of("illegal-position", audience(self.settings.illegal.move_alert));
                desk.notice(Notice { side: Some(Side(side)), squares, ..notice });
            }
            ("noise", _) => {
                let FactKind::Advisory { squares, .. } = &fact.kind else { return };
                let square = squares.first().map(Sq);
                desk.notice(Notice { square, ..Notice::of("noise", Audience::Journal) });
            }
            ("setup-identity", _) => {
                self.tell_exchanged(desk);
                desk.facts.push_back(fact);
            }
            _ => desk.facts.push_back(fact),
        }
    }

    /// In Chess960 castling may leave all squares as they were: a press then may have completed it, or nothing.
    fn tell_transposition(&self, desk: &mut Desk<'_>) -> bool {
        let is_one = |mv: &&Move| {
            let castling = Castling::of(**mv);
            castling.is_some_and(|castling| castling.method() == CastlingMethod::Transposition)
        };
        let legal = if self.chess960 { desk.session.legal_moves() } else { &[] };
        let Some(mv) = legal.iter().find(is_one) else { return false };
        let uci = String::from(desk.session.move_text(*mv));
        let kind = FactKind::Ambiguous { candidates: vec![uci.clone()] };
        desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, kind });
        let notice = Notice::of("ambiguous-move", Audience::Arbiter);
        desk.notice(Notice { candidates: vec![uci, "no move".to_owned()], ..notice });
        true
    }

    /// Two men that stand exchanged on a board that tells which they are.
    fn tell_exchanged(&self, desk: &mut Desk<'_>) {
        let differs: Vec<Square> = desk.session.differs().into_iter().collect();
        let Some(men) = desk.session.men() else { return };
        if let [first, second] = differs.as_slice() {
            let seen = [*first, *second]
                .into_iter()
                .filter_map(|square| Some((square.to_string(), men.piece_at(square)?.char().to_string())));
            let identities = seen.collect();
            desk.tell(LawFact::Setup { swap: vec![Sq(*first), Sq(*second)], identities });
        }
    }

    /// When a move that was pressed too early can no longer follow.
    pub(super) fn irregularity_due(&self) -> Option<MonoTime> {
        match self.irregularity.as_ref()?.stage {
            Stage::Open { until, .. } => Some(until),
            Stage::Found | Stage::Ruled | Stage::Stands => None,
        }
    }

    /// A man was set down: what was pressed too early is waited for until it has rested.
    pub(super) fn await_placed(&mut self, at: MonoTime) {
        let Some(found) = &mut self.irregularity else { return };
        if let Stage::Open { until, .. } = &mut found.stage
            && at > found.at
        {
            *until = (*until).max(at.plus_ms(self.dwell_ms));
        }
    }

    /// The opponent of this player pressed over an irregular position and has the move as far as anybody
    /// at the board sees: what he lifts of his own is his touch.
    pub(super) fn is_answered_by(&self, side: Color) -> bool {
        self.pressed_irregularly() == Some(!side)
    }

    /// The opponent of the player who has the move lifts a man of his own, while an irregular position that
    /// the player pressed over still stands: it is his answer, and no touch of the player.
    pub(super) fn is_answer(&self, lifted: Square, desk: &Desk<'_>) -> bool {
        if self.pressed_irregularly() != Some(desk.turn()) {
            return false;
        }
        let Some(found) = &self.irregularity else { return false };
        let stands = match found.stage {
            Stage::Found => {
                let tried = found.attempt.is_some() || found.kind == TOO_EARLY;
                tried && desk.session.differs().without(lifted).any()
            }
            _ => found.unfinished.is_some_and(|mv| desk.session.is_unfinished(mv)) || found.taken.is_some(),
        };
        // The pawn that is taken en passant belongs to the player's own move.
        let part = found.unfinished.and_then(touch::captured) == Some(lifted);
        stands && !part && desk.session.position().them().contains(lifted)
    }

    /// Who pressed over an irregular position that nobody has ruled on.
    pub(super) fn pressed_irregularly(&self) -> Option<Color> {
        self.pressed_over().map(|found| found.by)
    }

    /// A player pressed: the press of his opponent, whom he has not answered, is undone, or his own stands again.
    pub(super) fn press_undone(&mut self, by: Color, desk: &Desk<'_>) {
        if let Some(found) = &mut self.irregularity {
            let (position, changed) = (desk.session.position(), desk.session.differs() ^ found.over);
            let went_on = found.plies == desk.session.plies().len() && changed.intersects(position.them());
            found.pressed_back = found.by != by && !went_on;
        }
    }

    /// The men stand again as before what is on record.
    pub(super) fn note_put_back(&mut self, desk: &Desk<'_>) {
        if let Some(found) = &mut self.irregularity
            && found.plies == desk.session.plies().len()
            && desk.session.differs().is_empty()
        {
            let again = std::mem::replace(&mut found.put_back, true);
            if !again && found.is_of_position() {
                self.begin_again();
            }
        }
    }

    /// The position before an illegal move stands again, or a ruling puts it up: the player is bound by what he
    /// touched and released, and what changed since is no part of a move. Nor is it a touch of his opponent.
    pub(super) fn begin_again(&mut self) {
        self.turn.begin_again();
        self.answers.clear();
        self.presses.clear();
        self.candidates_told.clear();
    }

    /// The capture that the board shows, or showed at the press, although it is not legal.
    pub(super) fn taken_by_nobody(&self, desk: &Desk<'_>) -> Option<(Square, Square)> {
        let gone = |(from, _): &(Square, Square)| !desk.session.occupied().contains(*from);
        let pressed_over = || self.irregularity.as_ref().and_then(|found| found.taken).filter(gone);
        self.turn.taken_by_nobody(desk).or_else(pressed_over)
    }

    /// The grace after an early press is over.
    pub(super) fn nothing_followed(&mut self, desk: &mut Desk<'_>) {
        let Some(found) = &mut self.irregularity else { return };
        let Stage::Open { told, .. } = std::mem::replace(&mut found.stage, Stage::Found) else { return };
        let found = found.clone();
        let (by, at) = (found.by, found.at);
        let taken = self.taken_by_nobody(desk);
        if self.is_over(desk) || desk.turn() != by {
            self.irregularity = None;
            return;
        }
        if found.kind == "press-without-move" {
            desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, ..*told });
            return;
        }
        match still_to_do(found.unfinished, desk) {
            Some(mv) => {
                let text = desk.session.move_text(mv);
                let attempt = text.get(..4).unwrap_or(&text).to_owned();
                let kind = if mv.is_promotion() { "unpromoted" } else { "incomplete" };
                let found = Irregularity { unfinished: Some(mv), ..found };
                self.find(found.known_as(Some(attempt), kind), desk);
                self.let_answered_stand(at, desk);
            }
            None => match taken {
                Some((from, to)) => {
                    self.find(found.known_as(Some(format!("{from}{to}")), "illegal-move"), desk);
                    desk.orders.push(Order::FoundIllegal(from, to));
                    self.let_answered_stand(at, desk);
                }
                None => {
                    if let Some(found) = &mut self.irregularity {
                        found.kind = TOO_EARLY;
                    }
                    desk.orders.push(Order::Refuse(None));
                    desk.facts.push_back(Fact { ev: desk.ev, at: desk.at, ..*told });
                }
            },
        }
    }

    /// A move was made: one that was pressed too early has followed, or the opponent has answered.
    pub(super) fn finish_irregularity(&mut self, made: Made, desk: &mut Desk<'_>) {
        let Some(found) = &mut self.irregularity else { return };
        if made.by != found.by {
            found.answered = true;
            return;
        }
        if !matches!(found.stage, Stage::Open { .. }) && found.kind != TOO_EARLY {
            return;
        }
        let lead_ms = made.placed.since(found.at) / 1000;
        let (waited_for, pressed_back) = (matches!(found.stage, Stage::Open { .. }), found.pressed_back);
        self.irregularity = None;
        if waited_for && !pressed_back {
            desk.orders.push(Order::Complete(made.ply.saturating_sub(1)));
        }
        // When a move was made that the arbiter names, nobody knows.
        let known = self.named_at != Some(desk.ev);
        if lead_ms > self.settings.clock.press_tolerance_ms && !self.announcing.waits() && known {
            let notice = Notice::of("press-before-move", Audience::Arbiter);
            let side = Some(Side(made.by));
            desk.notice(Notice { side, uci: Some(made.uci), lead_ms: Some(lead_ms), ..notice });
        }
    }

    /// Two men of a move were set down at once: it counts when it is pressed and the arbiter finds so.
    pub(super) fn suspect_two_hands(&mut self, mv: Move, ply: usize, desk: &Desk<'_>) {
        if self.settings.illegal.two_hands != TwoHands::Counts {
            return;
        }
        let by = !desk.turn();
        let attempt = Some(desk.session.move_text(mv).as_str().to_owned());
        let found = Irregularity::of(by, TWO_HANDS, Stage::Found, desk);
        self.irregularity = Some(Irregularity { attempt, plies: ply, ..found });
    }

    /// What is on record would be an illegal move, but its player has not pressed yet (Article 7.5.4).
    fn awaits_press(&self, desk: &Desk<'_>) -> bool {
        let Some(found) = self.irregularity.as_ref().filter(|found| found.kind == TWO_HANDS) else {
            return false;
        };
        let record = found.plies.checked_sub(1).and_then(|index| desk.session.ply_at(index));
        record.is_none_or(|record| record.completed.is_none())
    }

    /// A ply was taken up again before its completion: what was suspected of it is over.
    pub(super) fn forget_two_hands(&mut self, ply: usize) {
        let of_ply = |found: &mut Irregularity| {
            found.kind == TWO_HANDS && found.plies == ply && found.stage == Stage::Found
        };
        self.irregularity.take_if(of_ply);
    }

    /// The record begins with both kings in check: an illegal move was made before it (Article A.5.4; 2005:
    /// B.6).
    pub(super) fn look_at_kings(&self, desk: &mut Desk<'_>) {
        if both_in_check(desk.session.position()) {
            let action = match self.settings.illegal.irregular_position {
                IllegalPosition::Intervene => Some("intervene"),
                IllegalPosition::DrawAfterNextMove => Some("wait-for-next-move"),
                IllegalPosition::Correct => None,
            };
            let notice = Notice::of("illegal-position", Audience::Arbiter);
            desk.notice(Notice { both_kings: true, action, ..notice });
        }
    }
}

fn both_in_check(position: &Chess) -> bool {
    let board = position.board();
    let attacked = |side: Color| {
        board.king_of(side).is_some_and(|king| board.attacks_to(king, !side, board.occupied()).any())
    };
    attacked(Color::White) && attacked(Color::Black)
}

/// The move of which a part is still to do: the one that the clock was pressed over, also where the opponent
/// went on since, or another one.
fn still_to_do(pressed_over: Option<Move>, desk: &Desk<'_>) -> Option<Move> {
    let still = pressed_over.filter(|mv| desk.session.is_unfinished(*mv));
    desk.session.unfinished().or(still)
}
