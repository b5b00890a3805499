//! The conduct of a game under the Laws of Chess: what the edition in force makes of what was seen.
//!
//! Facts of the session pass through, in order; what follows from them is put before or after them:
//! obligations from touches, violations, claims, offers, illegal moves with what restoring takes, flags,
//! times, adjournment. Persons speak through buttons and through the arbiter's commands. Nothing here
//! decides for an arbiter: facts, proposals and proofs, each with the audience that may see it.

mod adjourn;
mod announce;
mod array;
mod claims;
mod clock_findings;
mod clock_order;
mod clocks;
mod command;
mod correction;
mod endings;
mod irregular;
mod rulings;
mod turn;
mod two_boards;

use std::collections::VecDeque;

use shakmaty::{Bitboard, ByColor, Chess, Color, EnPassantMode, Move, Position as _, Square, fen::Fen};

pub use self::command::check_command;
use self::{
    adjourn::Adjournment,
    announce::Announcing,
    claims::Claims,
    clock_order::ClockDesk,
    clocks::Clocks,
    irregular::Irregularity,
    turn::{Touch, Turn, Violation},
    two_boards::TwoBoards,
};
use crate::{
    laws::{
        arithmetic::clock::PerMove,
        articles::Articles,
        settings::{Alert, LawSettings},
        touch,
    },
    session::{
        Session,
        event::{ClockReading, Event, GameResult, Unit},
        fact::{
            ByRule, Certainty, Conclusion, Fact, FactKind, follows_from_board,
            law::{Audience, Both, ClockCalc, LawFact, LawState, Notice, Obligation},
        },
        law::Presses,
        setup::{BoardKind, GameSetup, SetupError, Signal},
        text::MoveText,
        time::MonoTime,
    },
};

/// A move that stays unpressed for this long is noted, in milliseconds; nobody is told.
const UNCOMPLETED_MS: u64 = 600_000;

/// A change of the game that a ruling, a person or a rule makes.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// The game ends, or its end is taken back.
    Conclude(Conclusion),
    /// The game goes back to the position after so many plies.
    Restore(usize),
    /// An illegal move stands: the move as it looks, and the position after it.
    Adopt(Move, Box<Chess>),
    /// An illegal move that stood after so many plies does not.
    Disown(usize),
    /// What was pressed over with the man of this square is no legal move, it seems; or it may be one after all.
    Refuse(Option<Square>),
    /// It is this illegal capture.
    FoundIllegal(Square, Square),
    /// What the clock was pressed over is no illegal move: a ruling says so.
    Excuse,
    /// Another man stands on this square than in the game, and the arbiter knows it.
    Exchanged(Square),
    /// The game goes on from another position.
    SetUp(Box<Chess>),
    /// Men are moved although the clocks are stopped.
    PlayOn,
    /// What was told is beyond doubt.
    ConfirmTold,
    /// The ply of this index was another move: the moves from it on, and who says so.
    Correct(usize, Vec<Move>, &'static str),
    /// This move was made, and pressed or not, as those after it.
    Play(Move, Presses),
    /// The ply of this index was completed by the press before it.
    Complete(usize),
    /// A move adds this to the time of its player from now on.
    PerMove(PerMove),
    /// The external clock is being set to these times, in milliseconds.
    ClockSet([Option<u64>; 2]),
    /// The clock that is kept here shows this; the side whose last move was told with less time.
    Clock { reading: ClockReading, delay_ms: u64, amended: Option<Color> },
    /// The arbiter stopped that clock (`true`), or started it.
    Pause(bool),
}

/// What is on the desk at one moment: the game as it stands, and the trays for facts and orders.
pub(super) struct Desk<'a> {
    pub session: &'a Session,
    pub at: MonoTime,
    pub ev: i64,
    pub facts: &'a mut VecDeque<Fact>,
    pub orders: &'a mut Vec<Order>,
}

impl Desk<'_> {
    fn tell(&mut self, law: LawFact) {
        self.facts.push_back(Fact { ev: self.ev, at: self.at, kind: FactKind::Law(Box::new(law)) });
    }

    #[cold]
    #[inline(never)]
    fn notice(&mut self, notice: Notice) {
        self.tell(LawFact::Advisory(Box::new(notice)));
    }

    /// What binds the player who has the move.
    fn bind(&mut self, obligation: Obligation) {
        self.facts.push_back(Fact { ev: self.ev, at: self.at, kind: FactKind::Obligation(obligation) });
    }

    fn calc(&mut self, calc: ClockCalc) {
        self.tell(LawFact::Clock(Box::new(calc)));
    }

    #[cold]
    #[inline(never)]
    fn state(&mut self, state: LawState) {
        self.tell(LawFact::State(Box::new(state)));
    }

    #[cold]
    #[inline(never)]
    fn conclude(&mut self, end: Conclusion) {
        self.orders.push(Order::Conclude(end));
    }

    #[cold]
    fn fen(&self) -> String {
        fen_of(self.session.position())
    }

    fn turn(&self) -> Color {
        self.session.position().turn()
    }
}

/// The full FEN of a position; the en-passant square is told only when a capture there is legal.
#[cold]
#[inline(never)]
fn fen_of(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

const fn audience(alert: Alert) -> Audience {
    match alert {
        Alert::Arbiter => Audience::Arbiter,
        Alert::Journal => Audience::Journal,
    }
}

/// The conduct of one game.
#[derive(Clone, Debug)]
pub(super) struct Conduct {
    settings: LawSettings,
    articles: &'static Articles,
    board: BoardKind,
    dwell_ms: u64,
    debounce_ms: u64,
    chess960: bool,
    /// The positions before the first event, the first one first.
    earlier: Vec<Chess>,
    turn: Turn,
    /// The turn before, until the next move is made.
    turn_before: Turn,
    /// The moves that fit, as told last in this turn.
    candidates_told: Vec<String>,
    /// The last move that was told.
    last_made: Option<(turn::Made, Move)>,
    violation: Option<Violation>,
    claims: Claims,
    clocks: Clocks,
    clock_desk: ClockDesk,
    irregularity: Option<Irregularity>,
    /// Illegal moves that an arbiter confirmed, of each side.
    confirmed: [u32; 2],
    adjournment: Adjournment,
    announcing: Announcing,
    two_boards: Option<TwoBoards>,
    /// Until when the last move may stay unpressed without a note: the ply and the time.
    unpressed: Option<(usize, MonoTime)>,
    /// A press completed a move, or was remarked on, in this event.
    press_told: bool,
    /// A ruling takes moves back in this event: the turn is the one that it left.
    ruled_back: bool,
    /// Who pressed since the last move was made, the last presses of all.
    presses: Vec<(Color, MonoTime)>,
    /// The event in which the arbiter named a move last: what was pressed before it still counts.
    named_at: Option<i64>,
    /// What was lifted while the move before is undecided, by whom: his touches once it is known.
    answers: Vec<(Color, Touch)>,
    /// The result that was told last.
    told_result: Option<GameResult>,
    /// A result that was entered against it, and that the arbiter has not decided on.
    reported: Option<GameResult>,
    /// Squares on which a man stands that a ruling exchanges for another one: who does it touches nothing.
    exchanging: Bitboard,
    /// These squares, and those of promotions on a board that tells its men, are looked at more closely.
    watched: Bitboard,
    /// The position is being put up on another board, or this one turned (Article 7.2.2).
    transferring: bool,
    /// There was an event.
    begun: bool,
    /// The record begins in a position that nobody has looked at.
    begins_anywhere: bool,
}

impl Conduct {
    /// The conduct of a game before its first event.
    pub(super) fn new(
        setup: &GameSetup,
        settings: LawSettings,
        session: &Session,
    ) -> Result<Conduct, SetupError> {
        let earlier = setup.earlier_positions()?;
        let moved = |side: Color| earlier.iter().any(|position| position.turn() == side);
        let moved = ByColor { white: moved(Color::White), black: moved(Color::Black) };
        Ok(Conduct {
            articles: Articles::of(setup.rules),
            board: setup.board,
            dwell_ms: setup.settings.release_dwell_ms,
            // What a debouncer let pass is no noise.
            debounce_ms: match (setup.signal, setup.settings.min_lift_ms) {
                (Signal::Debounced, None) => setup.settings.debounce_open_ms,
                _ => 0,
            },
            chess960: setup.is_chess960(),
            earlier,
            turn: Turn::default(),
            turn_before: Turn::default(),
            candidates_told: Vec::new(),
            last_made: None,
            violation: None,
            claims: Claims::default(),
            clocks: Clocks::new(setup, &settings, moved),
            clock_desk: ClockDesk::default(),
            irregularity: None,
            confirmed: irregular::given(setup),
            adjournment: Adjournment::default(),
            announcing: Announcing::default(),
            two_boards: (setup.board == BoardKind::TwoBoard)
                .then(|| TwoBoards::new(setup, session.occupied(), session.position().board())),
            unpressed: None,
            press_told: false,
            ruled_back: false,
            presses: Vec::new(),
            named_at: None,
            answers: Vec::new(),
            told_result: None,
            reported: None,
            exchanging: Bitboard::EMPTY,
            watched: Bitboard::EMPTY,
            transferring: false,
            begun: false,
            begins_anywhere: session.position().board().occupied().count() < 32,
            settings,
        })
    }

    /// Looks at the start.
    pub(super) fn begin(&mut self, desk: &mut Desk<'_>) {
        self.look_at_start();
        if self.chess960 {
            self.look_at_array(desk);
            for mv in desk.session.legal_moves().iter().copied().filter(|mv| mv.is_castle()) {
                turn::tell_castling(mv, desk);
            }
        }
    }

    /// True for a change of a square of which nothing follows but what the session makes of it: then neither
    /// [`Conduct::before`] nor [`Conduct::after`] has anything to do.
    pub(super) fn takes_plainly(&mut self, event: &Event) -> bool {
        let seldom = !self.begun || self.irregularity.is_some() || self.transferring || self.keeps_clock();
        if seldom || !matches!(event, Event::Square { .. } | Event::Piece { .. }) {
            return false;
        }
        self.press_told = false;
        self.ruled_back = false;
        true
    }

    /// What has to happen before the session takes an event.
    pub(super) fn before(&mut self, unit: Unit, event: &Event, desk: &mut Desk<'_>) {
        self.press_told = false;
        self.ruled_back = false;
        if !self.begun {
            self.clocks.open(desk.at);
        }
        if let (Event::Press(side), Some(_)) = (event, &self.irregularity) {
            self.look_if_answered(*side, desk);
        }
        match event {
            Event::Flag(_) => self.end_before_flag(desk),
            Event::Press(side) if self.keeps_clock() => self.own_press(*side, desk),
            Event::Square { occupied: false, square } | Event::Piece { square, piece: None }
                if self.irregularity.is_some() && unit == Unit::A && !desk.session.debounces() =>
            {
                self.let_stand(desk.session.square_of(*square), desk);
            }
            _ => {}
        }
    }

    /// A fact of the session passes. What each ply has comes first and has a way of its own: nearly all the rest is
    /// code that a ply would fetch for nothing.
    pub(super) fn pass(&mut self, fact: Fact, desk: &mut Desk<'_>) {
        desk.ev = fact.ev;
        desk.at = fact.at;
        match fact.kind {
            FactKind::Touch { by, square, .. } => self.pass_touch(fact, by, square, desk),
            FactKind::MoveMade { ply, uci, by, placed, .. } => {
                self.pass_made(fact, turn::Made { ply, uci, by, placed }, desk);
            }
            FactKind::MoveCompleted { ply, uci, by, how, .. } => {
                self.press_told = true;
                self.announcing.hold_or_tell(fact, desk);
                self.completed(ply, uci, by, desk);
                self.own_completed(by, desk);
                self.thought_until_press(ply, by, how, desk);
            }
            FactKind::MovePublished { ply, made, .. } if !self.adjournment.has_embargo() => {
                self.announcing.hold_or_tell(fact, desk);
                self.thought_until_made(ply, made, desk);
            }
            _ => self.pass_seldom(fact, desk),
        }
    }

    fn pass_touch(&mut self, mut fact: Fact, by: Color, square: Square, desk: &mut Desk<'_>) {
        // What is lifted while the clocks stand touches nothing in law (Article 6.11; 2005: 6.13).
        if self.clocks.paused {
            return;
        }
        if let FactKind::Touch { certainty, .. } = &mut fact.kind
            && self.two_boards.as_ref().is_some_and(TwoBoards::is_pegged)
        {
            *certainty = Certainty::Law;
        }
        if self.exchanging.contains(square) {
            return;
        }
        // An illegal move may stand by this very lift.
        let turn = || desk.session.undecided_turn().unwrap_or(desk.turn());
        let by = if self.irregularity.is_some() { turn() } else { by };
        if let FactKind::Touch { by: told, .. } = &mut fact.kind {
            *told = by;
        }
        if self.announcing.is_open() && self.takes_up_own_move(square, desk) {
            // His opponent does not have the move before that.
            if let FactKind::Touch { by, .. } = &mut fact.kind {
                *by = !*by;
            }
            desk.facts.push_back(fact);
            return;
        }
        desk.facts.push_back(fact);
        self.touched(by, square, desk);
    }

    #[inline(never)]
    fn pass_made(&mut self, mut fact: Fact, made: turn::Made, desk: &mut Desk<'_>) {
        let mv = desk.session.move_at(made.ply.saturating_sub(1));
        if let FactKind::MoveMade { more, .. } = &mut fact.kind {
            more.embargoed = self.adjournment.has_embargo();
            more.by_rule = mv.and_then(|mv| self.rule_of(mv));
        }
        if let Some(mv) = mv {
            self.before_made(made, mv, desk);
        }
        self.announcing.hold_or_tell(fact, desk);
        self.after_made(made, mv, desk);
    }

    #[cold]
    #[inline(never)]
    fn pass_seldom(&mut self, mut fact: Fact, desk: &mut Desk<'_>) {
        if let FactKind::MoveWithdrawn { ply, published, .. } = &mut fact.kind {
            *published &= !self.adjournment.forget(*ply);
        }
        match &mut fact.kind {
            FactKind::MoveWithdrawn { ply, .. } => {
                let unannounced = self.takes_up_unannounced(*ply, desk);
                self.forget_two_hands(*ply);
                self.withdrawn_on_two_boards();
                self.withdrawn(unannounced.is_none(), desk);
                if unannounced == Some(true) {
                    return;
                }
            }
            FactKind::MovePublished { .. } => {
                self.adjournment.hold(fact);
                return;
            }
            FactKind::MoveRevised { ply, was, uci, published, .. } => {
                *published &= !self.adjournment.revise(*ply, *uci);
                self.revised(*was, *uci, desk);
            }
            FactKind::IllegalMove { by, attempt, kind, .. } => {
                let (by, attempt, kind) = (*by, attempt.clone(), *kind);
                self.illegal_move(by, attempt, kind, desk);
                return;
            }
            FactKind::Advisory { code, side, .. } => {
                let (code, side) = (*code, *side);
                self.press_told = true;
                self.pass_advisory(code, side, fact, desk);
                return;
            }
            FactKind::Ambiguous { candidates } => {
                let candidates = candidates.clone();
                if self.candidates_told == candidates || self.turn.taken_by_nobody(desk).is_some() {
                    return;
                }
                desk.facts.push_back(fact);
                let several = candidates.len() > 1;
                self.candidates_told.clone_from(&candidates);
                if several {
                    let notice = Notice::of("ambiguous-move", Audience::Arbiter);
                    desk.notice(Notice { candidates, ..notice });
                }
                return;
            }
            FactKind::Clock(reading) => {
                let reading = *reading;
                desk.facts.push_back(fact);
                if !self.clock_desk.is_old(&reading, desk.at) {
                    self.clock_read(reading, desk);
                }
                return;
            }
            FactKind::GameEnd { result, reason, certainty, more } => {
                let (result, pending) = (*result, more.pending);
                let ruled = *certainty == Certainty::Arbiter;
                if !pending {
                    self.adjournment.ended(follows_from_board(reason));
                    self.own_ended(desk);
                }
                if let FactKind::GameEnd { certainty, .. } = &mut fact.kind
                    && self.ended_in_breach(desk)
                {
                    *certainty = Certainty::Presumed;
                }
                desk.facts.push_back(fact);
                if !pending {
                    self.ended(result, ruled, desk);
                }
                return;
            }
            FactKind::ClockFinding(finding) => {
                let finding = *finding;
                self.clock_found(finding, desk);
                return;
            }
            FactKind::PlyClock { .. } => {
                self.announcing.hold_or_tell(fact, desk);
                return;
            }
            FactKind::PutBack { .. } if self.clocks.paused => return,
            FactKind::PutBack { square, ms, adjusting } => {
                let (square, away_ms) = (*square, *ms);
                *adjusting = self.turn.ends_adjusting(square);
                desk.facts.push_back(fact);
                self.put_back(square, away_ms, desk);
                return;
            }
            FactKind::TwoPly { candidates } => {
                let several = candidates.len() > 1;
                desk.facts.push_back(fact);
                if several {
                    desk.notice(Notice::of("ambiguous-move", Audience::Arbiter));
                }
                return;
            }
            FactKind::ResultWithdrawn => self.told_result = None,
            FactKind::Orientation { .. }
            | FactKind::PlyTime { .. }
            | FactKind::Law(_)
            | FactKind::Obligation(_)
            | FactKind::Touch { .. }
            | FactKind::MoveMade { .. }
            | FactKind::MoveCompleted { .. }
            | FactKind::Contact { .. } => {}
        }
        desk.facts.push_back(fact);
    }

    /// What an event leads to, after the session has taken it.
    pub(super) fn after(&mut self, event: &Event, desk: &mut Desk<'_>) {
        if !self.begun {
            self.look_at_kings(desk);
        }
        match event {
            Event::Square { .. } | Event::Piece { .. } => {
                self.note_put_back(desk);
                self.look_at_transfer(desk);
            }
            Event::Press(side) => self.pressed(*side, desk),
            seldom => self.after_seldom(seldom, desk),
        }
        self.begun = true;
    }

    #[cold]
    #[inline(never)]
    fn after_seldom(&mut self, event: &Event, desk: &mut Desk<'_>) {
        match event {
            Event::Button(name) => self.button(name, desk),
            Event::Arbiter(value) => self.arbiter(value, desk),
            Event::Intended(text) => self.intended(text, desk),
            Event::Announce(words) => self.announced(words, desk),
            Event::Flag(side) => self.flag(*side, desk),
            Event::Pause => self.stopped(desk),
            Event::Run(side) => self.started(*side, desk),
            Event::Power(on) => self.own_power(*on, desk),
            Event::Tick => self.look_around(desk),
            Event::Result(result) => self.result_entered(*result, desk),
            Event::Occupied(_) | Event::Pieces(_) => self.look_at_transfer(desk),
            _ => {}
        }
    }

    /// Time passes: what stands is told again.
    fn look_around(&mut self, desk: &mut Desk<'_>) {
        self.look_at_dead_start(desk);
        self.tell_apart(desk);
    }

    /// The next deadline, or the end of time.
    pub(super) fn soonest(&self) -> MonoTime {
        // Asked at every event: the least of them without a branch for each.
        let at = |due: Option<MonoTime>| due.unwrap_or(MonoTime::END);
        let soonest =
            at(self.unpressed.map(|(_, due)| due)).min(at(self.turn.due)).min(at(self.turn.king_due));
        let others = self.irregularity.is_some()
            || self.two_boards.is_some()
            || self.keeps_clock()
            || self.clock_desk.due().is_some()
            || self.clocks.late_due().is_some();
        if others { soonest.min(self.seldom_due()) } else { soonest }
    }

    #[cold]
    #[inline(never)]
    fn seldom_due(&self) -> MonoTime {
        let at = |due: Option<MonoTime>| due.unwrap_or(MonoTime::END);
        at(self.irregularity_due())
            .min(at(self.two_boards.as_ref().and_then(TwoBoards::due)))
            .min(at(self.own_due()))
            .min(at(self.clock_desk.due()))
            .min(at(self.clocks.late_due()))
    }

    /// A deadline has passed.
    pub(super) fn deadline_passed(&mut self, desk: &mut Desk<'_>) {
        if self.turn.due.is_some_and(|due| due <= desk.at) {
            self.turn.due = None;
            self.settled(desk);
        }
        if self.turn.king_due.is_some_and(|due| due <= desk.at) {
            self.king_is_off(desk);
        }
        if self.irregularity_due().is_some_and(|due| due <= desk.at) {
            self.nothing_followed(desk);
        }
        if let Some((ply, due)) = self.unpressed
            && due <= desk.at
        {
            self.unpressed = None;
            self.note_uncompleted(ply, desk);
        }
        if self.two_boards.as_ref().and_then(TwoBoards::due).is_some_and(|due| due <= desk.at) {
            self.compare_boards(desk);
        }
        if self.own_due().is_some_and(|due| due <= desk.at) {
            self.own_fire(desk);
        }
        if self.clocks.late_due().is_some_and(|due| due <= desk.at) {
            self.call_late(desk);
        }
        self.look_at_order(desk);
    }

    /// The record is at its end.
    pub(super) const fn record_ends(&mut self) {
        self.clocks.await_nobody();
    }

    /// So many plies of the log may be shown while a move is sealed; nothing where all may.
    pub(super) fn shown_plies(&self) -> Option<usize> {
        self.adjournment.shown_plies()
    }

    /// The result, as far as it may be shown while a move is sealed: one that follows from the board would tell of
    /// that move.
    pub(super) fn shown_result(&self, session: &Session) -> GameResult {
        if self.adjournment.hides_result() { GameResult::Ongoing } else { session.result() }
    }

    /// The board whose clock can be set.
    pub(super) fn clock_unit(&self) -> Option<Unit> {
        self.clock_desk.unit()
    }

    /// What made a move the only one: an envelope, a ruling.
    fn rule_of(&self, mv: Move) -> Option<ByRule> {
        self.adjournment.rule_of(mv).or_else(|| self.queen_by_rule(mv))
    }

    /// A move stayed unpressed: for the journal only, nobody is told (Article 12.6; 2005: 13.6).
    fn note_uncompleted(&self, ply: usize, desk: &mut Desk<'_>) {
        let record = ply.checked_sub(1).and_then(|index| desk.session.ply_at(index));
        if let Some(record) = record
            && record.completed.is_none()
            && !self.is_over(desk)
        {
            let uci = Some(record.uci);
            desk.notice(Notice { uci, ..Notice::of("uncompleted-move", Audience::Journal) });
        }
    }

    fn is_over(&self, desk: &Desk<'_>) -> bool {
        desk.session.is_over()
    }

    /// Plies of the log that were executed: one that waits for its announcement is not (Appendix D.2.3).
    fn executed(&self, desk: &Desk<'_>) -> usize {
        desk.session.plies().len().saturating_sub(usize::from(self.announcing.waits()))
    }

    /// Moves that each side has made.
    fn moves_made(&self, desk: &Desk<'_>) -> Both<u32> {
        let plies = self.earlier.len() + self.executed(desk);
        let first = self.earlier.first().or(desk.session.position_after(0));
        let begins = first.map_or(Color::White, shakmaty::Position::turn);
        let (of_first, of_second) = (plies.div_ceil(2), plies / 2);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        match begins {
            Color::White => Both { white: count(of_first), black: count(of_second) },
            Color::Black => Both { white: count(of_second), black: count(of_first) },
        }
    }

    /// Moves that each side has completed.
    fn moves_completed(&self, desk: &Desk<'_>) -> Both<u32> {
        let mut open = Both::<u32>::default();
        // Nearly always that is the last ply alone, or none.
        for index in desk.session.completed_to()..self.executed(desk) {
            if desk.session.ply_at(index).is_some_and(|record| record.completed.is_none())
                && let Some(before) = desk.session.position_after(index)
            {
                match before.turn() {
                    Color::White => open.white += 1,
                    Color::Black => open.black += 1,
                }
            }
        }
        let made = self.moves_made(desk);
        Both {
            white: self.clocks.given_moves(Color::White) + made.white.saturating_sub(open.white),
            black: self.clocks.given_moves(Color::Black) + made.black.saturating_sub(open.black),
        }
    }

    /// The present turn begins anew: nothing was touched.
    fn start_turn(&mut self) {
        self.turn = Turn::default();
        self.turn_before = Turn::default();
        self.last_made = None;
        self.violation = None;
        self.unpressed = None;
        self.answers.clear();
    }

    fn texts(&self, moves: &[Move], desk: &Desk<'_>) -> Vec<MoveText> {
        moves.iter().map(|mv| desk.session.move_text(*mv)).collect()
    }
}

impl touch::Moves for Session {
    fn moves_of(&self, square: shakmaty::Square) -> Vec<Move> {
        Session::moves_of(self, square)
    }

    fn captures_of(&self, square: shakmaty::Square) -> Vec<Move> {
        Session::captures_of(self, square)
    }
}
