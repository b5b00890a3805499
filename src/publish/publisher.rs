//! From facts to what the public may know.

mod rulings;

pub(super) use rulings::position_of;

use std::sync::Arc;

use shakmaty::{CastlingMode, Chess, EnPassantMode, fen::Fen, san::SanPlus, uci::UciMove};

use super::{
    embargo::Embargo,
    part::Part,
    state::{
        BoardState, FeedEvent, PublicClock, PublicPly, STATUS_ENDED, STATUS_IRREGULAR, STATUS_PAUSED,
        STATUS_PLAYING, STATUS_WAITING, Tags,
    },
};
use crate::session::{
    Session,
    event::{ClockReading, GameResult},
    fact::{CompletedBy, Fact, FactKind, law::LawFact},
    setup::GameSetup,
    time::MonoTime,
};

/// A completion that was reported for a ply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completion {
    clock_ms: Option<u64>,
    pressed: bool,
}

impl Completion {
    /// Time left on the mover's clock at the press, in milliseconds.
    pub(super) const fn clock_ms(self) -> Option<u64> {
        self.clock_ms
    }
}

/// Turns the facts of one board into what the public may know.
#[derive(Clone, Debug)]
pub struct Publisher {
    state: BoardState,
    mode: CastlingMode,
    /// Plies of the history.
    history: usize,
    /// The parts of the game before the present one.
    earlier: Vec<Part>,
    /// The present part. The public sees as many of its moves as are legal: between two facts that belong
    /// together the rest may not be.
    part: Part,
    /// Number of the part that the public sees.
    shown: u64,
    /// Parts that there were.
    parts: u64,
    /// The position before the first public ply and after each one; empty when the start is no
    /// position.
    positions: Vec<Chess>,
    /// Plies that the facts count, published or not.
    told: usize,
    /// The position after a ruling, until the session says what became of the plies.
    ruled: Option<String>,
    /// The result, which may have to wait.
    result: GameResult,
    termination: Option<&'static str>,
    embargo: Embargo,
    /// True once the game began: a move was published or a clock ran.
    begun: bool,
    /// An illegal move waits for its end, where spectators may see that (Article 12.7; 2005: 13.7).
    irregular: bool,
    show_irregular: bool,
    /// The public sees how long a move took.
    show_elapsed: bool,
    /// Milliseconds of a delay that are to go at the last reading.
    delay_ms: u64,
}

impl Publisher {
    /// A publisher before the first event of a game.
    pub fn new(id: &str, setup: &GameSetup, tags: Tags, session: &Session) -> Publisher {
        let start = GameSetup { history: Vec::new(), ..setup.clone() }.position().ok();
        let start_fen = start.as_ref().map_or_else(|| setup.start_fen.clone(), fen_of);
        let history = setup.history.len();
        let mut part = Part::new(0, start_fen.clone(), start.clone());
        part.wanted.clone_from(&setup.history);
        let before = Completion { clock_ms: None, pressed: false };
        part.completions.extend((1..=history).map(|ply| (ply, before)));
        let mut publisher = Publisher {
            state: BoardState {
                id: id.to_owned(),
                tags,
                chess960: setup.is_chess960(),
                fen: start_fen.clone(),
                turn: if start_fen.split(' ').nth(1) == Some("b") { "black" } else { "white" },
                start_fen,
                earlier: Arc::default(),
                board: session.physical().board.to_string(),
                plies: Arc::default(),
                clock: None,
                result: session.result().as_str(),
                termination: None,
                status: STATUS_WAITING,
                connected: true,
                has_presses: false,
                serial: None,
            },
            mode: setup.castling,
            history,
            earlier: Vec::new(),
            part,
            shown: 0,
            parts: 1,
            positions: start.into_iter().collect(),
            told: 0,
            ruled: None,
            result: session.result(),
            termination: None,
            embargo: Embargo::default(),
            begun: false,
            irregular: false,
            show_irregular: setup.law_settings().is_ok_and(|settings| settings.feed.show_irregular),
            show_elapsed: setup.law_settings().is_ok_and(|settings| settings.clock.think_times),
            delay_ms: 0,
        };
        publisher.reconcile(&mut Vec::new());
        publisher.part.base = signed(history);
        publisher
    }

    /// Sets whether a clock or a lever tells that moves are completed. Without this call it is
    /// learnt from the first press or clock reading.
    #[must_use]
    pub fn with_presses(mut self, presses: bool) -> Publisher {
        self.state.has_presses = presses;
        self
    }

    /// Sets the serial number that the LiveChess API shows.
    #[must_use]
    pub fn with_serial(mut self, serial: Option<String>) -> Publisher {
        self.state.serial = serial;
        self
    }

    /// What the public may know now.
    pub fn state(&self) -> &BoardState {
        &self.state
    }

    /// Published moves that are not shown, because they are not legal after the ones before them:
    /// 0, unless the facts contradict each other. They come out when later facts set it right.
    pub fn held(&self) -> usize {
        self.part.wanted.len().saturating_sub(self.state.plies.len())
    }

    /// True while nothing newer than the position before a sealed move may leave.
    pub fn is_embargoed(&self) -> bool {
        self.embargo.holds()
    }

    /// Takes the facts that an input led to, and the session after it; gives what leaves, in order.
    pub fn apply(&mut self, facts: &[Fact], session: &Session) -> Vec<FeedEvent> {
        let mut events = Vec::new();
        let was_held = self.embargo.holds();
        self.delay_ms = session.clock_delay_ms();
        if !was_held {
            self.show_board(session, &mut events);
        }
        let mut rest = facts.iter().peekable();
        while let Some(fact) = rest.next() {
            self.fact(fact, &mut events);
            // Revisions in a row are one change of the game.
            let revised = |fact: &Fact| matches!(fact.kind, FactKind::MoveRevised { .. });
            if !(revised(fact) && rest.peek().is_some_and(|next| revised(next))) {
                self.reconcile(&mut events);
            }
        }
        if let Some(after) = self.ruled.take() {
            self.follow_ruling(&after, session);
            self.reconcile(&mut events);
        }
        if was_held && !self.embargo.holds() {
            self.show_what_was_held(session, &mut events);
        }
        self.update_status(session.is_paused(), self.state.connected, &mut events);
        events
    }

    fn show_board(&mut self, session: &Session, events: &mut Vec<FeedEvent>) {
        let board = session.physical().board.to_string();
        if board != self.state.board {
            self.emit(FeedEvent::Board { board }, events);
        }
    }

    /// The embargo is over: the board as it stands, the moves, their completions, the result.
    fn show_what_was_held(&mut self, session: &Session, events: &mut Vec<FeedEvent>) {
        self.show_board(session, events);
        self.reconcile(events);
        for (ply, done) in self.part.completions.clone() {
            self.show_completion(ply, done, events);
        }
        self.show_result(events);
    }

    /// The link to the board went down or came back.
    pub fn link(&mut self, up: bool) -> Vec<FeedEvent> {
        let mut events = Vec::new();
        if up != self.state.connected {
            let status = self.state.status;
            self.emit(FeedEvent::Status { status, connected: up }, &mut events);
        }
        events
    }

    fn emit(&mut self, event: FeedEvent, events: &mut Vec<FeedEvent>) {
        self.state.apply(&event);
        events.push(event);
    }

    fn fact(&mut self, fact: &Fact, events: &mut Vec<FeedEvent>) {
        match &fact.kind {
            FactKind::MoveMade { ply, .. } => {
                self.told = *ply;
                self.irregular = false;
            }
            FactKind::MovePublished { ply, uci, .. } => self.published(*ply, uci, events),
            FactKind::MoveWithdrawn { ply, .. } => self.withdrawn(*ply),
            FactKind::MoveRevised { ply, uci, .. } => self.revised(*ply, uci),
            FactKind::MoveCompleted { ply, how, clock_ms, .. } => {
                let pressed = matches!(how, CompletedBy::Press | CompletedBy::EarlierPress);
                let done = Completion { clock_ms: *clock_ms, pressed };
                self.completed(*ply, done, events);
            }
            FactKind::PlyClock { ply, clock_ms, shown_ms, .. } => {
                // What spectators and consumers see is what the clock shows.
                let done = Completion { clock_ms: shown_ms.or(Some(*clock_ms)), pressed: true };
                self.completed(*ply, done, events);
            }
            // What an arbiter has to decide first is no result yet.
            FactKind::GameEnd { more, .. } if more.pending => {}
            FactKind::GameEnd { result, reason, .. } => {
                self.result = *result;
                self.termination = self.termination(*result, reason);
                self.embargo.end(reason);
                self.show_result(events);
                self.stop_clock(fact.at, events);
            }
            FactKind::ResultWithdrawn => {
                self.result = GameResult::Ongoing;
                self.termination = None;
                self.show_result(events);
            }
            FactKind::Clock(reading) => self.clock(fact.at, *reading, events),
            FactKind::IllegalMove { .. } => self.irregular = self.show_irregular,
            FactKind::Law(law) => {
                if let LawFact::ThinkTime { ply, ms, .. } = **law {
                    self.thought(ply, ms, events);
                }
                self.law(law);
            }
            FactKind::Touch { .. }
            | FactKind::PutBack { .. }
            | FactKind::Obligation(_)
            | FactKind::Ambiguous { .. }
            | FactKind::TwoPly { .. }
            | FactKind::Advisory { .. }
            | FactKind::Orientation { .. }
            | FactKind::PlyTime { .. }
            | FactKind::ClockFinding(_)
            | FactKind::Contact { .. } => {}
        }
    }

    /// A move became publishable. One that is known already is left alone; another move in its
    /// place takes the old one and everything after it back first.
    fn published(&mut self, ply: usize, uci: &str, events: &mut Vec<FeedEvent>) {
        self.told = self.told.max(ply);
        let Some(index) = self.part.index(ply) else { return };
        match self.part.wanted.get(index) {
            Some(known) if known == uci => return,
            Some(_) => {
                self.part.wanted.truncate(index);
                self.reconcile(events);
            }
            None => {}
        }
        if index == self.part.wanted.len() {
            self.part.wanted.push(uci.to_owned());
        }
    }

    fn withdrawn(&mut self, ply: usize) {
        self.told = ply.saturating_sub(1);
        // A move that stood although it was illegal goes, too: back into the part before it.
        while self.part.index(ply).is_none() {
            let Some(before) = self.earlier.pop() else { return };
            self.part = before;
            self.part.left_by = None;
        }
        if let Some(index) = self.part.index(ply) {
            self.part.completions.retain(|known, _| *known <= index);
            self.part.elapsed.retain(|known, _| *known <= index);
            self.part.wanted.truncate(index);
        }
    }

    /// A published ply is another move now. The later plies stand.
    fn revised(&mut self, ply: usize, uci: &str) {
        let index = self.part.index(ply);
        if let Some(known) = index.and_then(|index| self.part.wanted.get_mut(index)) {
            uci.clone_into(known);
        }
    }

    /// Brings the public plies in line with the wanted ones: takes back what is too much, corrects
    /// what is another move or has another notation, appends the rest.
    fn reconcile(&mut self, events: &mut Vec<FeedEvent>) {
        if self.embargo.holds() {
            return;
        }
        self.show_part(events);
        let wanted = &self.part.wanted;
        let same =
            wanted.iter().zip(self.state.plies.iter()).take_while(|(uci, ply)| **uci == ply.uci).count();
        let public = self.state.plies.len();
        if same == wanted.len() && same == public {
            return;
        }
        let Some(mut position) = self.positions.get(same).cloned() else { return };
        let mut line = Vec::new();
        for (offset, uci) in wanted.iter().skip(same).enumerate() {
            let Some((san, next)) = play(&position, uci) else { break };
            let done = self.part.completions.get(&(same + offset + 1));
            let clock_ms = done.and_then(|done| done.clock_ms);
            let elapsed_ms = self.part.elapsed.get(&(same + offset + 1)).copied();
            let played = PublicPly { uci: uci.clone(), san, completed: done.is_some(), clock_ms, elapsed_ms };
            position = next;
            line.push((played, position.clone()));
        }
        self.undo(public.saturating_sub(same + line.len()), events);
        let corrected = self.state.plies.len() - same;
        self.positions.truncate(same + 1);
        self.positions.extend(line.iter().map(|(_, position)| position.clone()));
        let fen = self.positions.get(same + corrected).map(fen_of).unwrap_or_default();
        for (offset, (played, after)) in line.into_iter().enumerate() {
            let ply = same + offset + 1;
            if offset >= corrected {
                self.append(ply, played, fen_of(&after), events);
            } else if self.state.plies.get(ply - 1) != Some(&played) {
                self.emit(FeedEvent::Correct { ply, played, fen: fen.clone() }, events);
            }
        }
    }

    /// Sets up the part of the game that the public does not see yet.
    fn show_part(&mut self, events: &mut Vec<FeedEvent>) {
        if self.shown == self.part.number {
            return;
        }
        self.shown = self.part.number;
        self.positions = self.part.start.iter().cloned().collect();
        let earlier = self.earlier.iter().map(Part::told).collect();
        self.emit(FeedEvent::Setup { fen: self.part.start_fen.clone(), earlier }, events);
    }

    fn append(&mut self, ply: usize, played: PublicPly, fen: String, events: &mut Vec<FeedEvent>) {
        self.emit(FeedEvent::Move { ply, played, fen }, events);
        if let Some(Completion { clock_ms, pressed: true }) = self.part.completions.get(&ply).copied() {
            self.emit(FeedEvent::Completed { ply, clock_ms, pressed: true }, events);
        }
    }

    /// Takes the last `n` public plies back. Takebacks in a row are told as one.
    fn undo(&mut self, n: usize, events: &mut Vec<FeedEvent>) {
        if n == 0 {
            return;
        }
        let position = self.positions.get(self.state.plies.len().saturating_sub(n));
        let fen = position.map(fen_of).unwrap_or_default();
        self.state.apply(&FeedEvent::Undo { n, fen: fen.clone() });
        let before = match events.last() {
            Some(FeedEvent::Undo { n, .. }) => *n,
            _ => 0,
        };
        if before > 0 {
            events.pop();
        }
        events.push(FeedEvent::Undo { n: n + before, fen });
    }

    fn completed(&mut self, ply: usize, done: Completion, events: &mut Vec<FeedEvent>) {
        let Some(ply) = self.part.index(ply).map(|index| index + 1) else { return };
        let known = self.part.completions.get(&ply);
        let clock_ms = done.clock_ms.or(known.and_then(|known| known.clock_ms));
        let pressed = done.pressed || known.is_some_and(|known| known.pressed);
        self.part.completions.insert(ply, Completion { clock_ms, pressed });
        if !self.embargo.holds() {
            self.show_completion(ply, Completion { clock_ms, pressed: done.pressed }, events);
        }
    }

    fn show_completion(&mut self, ply: usize, done: Completion, events: &mut Vec<FeedEvent>) {
        let Completion { clock_ms, pressed } = done;
        let public = ply.checked_sub(1).and_then(|index| self.state.plies.get(index));
        if public.is_some_and(|public| !public.completed || public.clock_ms != clock_ms) {
            self.emit(FeedEvent::Completed { ply, clock_ms, pressed }, events);
        }
    }

    /// A move took so long; one that is not public yet gets it when it is.
    fn thought(&mut self, ply: usize, elapsed_ms: u64, events: &mut Vec<FeedEvent>) {
        let Some(ply) = self.part.index(ply).map(|index| index + 1).filter(|_| self.show_elapsed) else {
            return;
        };
        self.part.elapsed.insert(ply, elapsed_ms);
        if ply <= self.state.plies.len() && !self.embargo.holds() {
            self.emit(FeedEvent::Elapsed { ply, elapsed_ms }, events);
        }
    }

    fn has_ended(&self) -> bool {
        self.state.result != "*" || self.state.termination.is_some()
    }

    /// The clock stands when the game ends, whatever a clock at the board goes on to show.
    fn stop_clock(&mut self, at: MonoTime, events: &mut Vec<FeedEvent>) {
        if let Some(clock) = self.state.clock.filter(|clock| clock.running.is_some() && self.has_ended()) {
            self.emit(FeedEvent::Clock(clock.stopped(at.as_micros())), events);
        }
    }

    fn show_result(&mut self, events: &mut Vec<FeedEvent>) {
        let (result, termination) = (self.result.as_str(), self.termination);
        let news = (result, termination) != (self.state.result, self.state.termination);
        if news && self.embargo.lets_result_out() {
            self.emit(FeedEvent::Result { result, termination }, events);
        }
    }

    fn clock(&mut self, at: MonoTime, reading: ClockReading, events: &mut Vec<FeedEvent>) {
        if self.has_ended() {
            return;
        }
        let clock = PublicClock {
            white_ms: reading.white_ms,
            black_ms: reading.black_ms,
            running: reading.running.map(|side| side.fold_wb("white", "black")),
            delay_ms: self.delay_ms,
            at_us: at.as_micros(),
        };
        self.begun |= clock.running.is_some();
        let stands = |known: &PublicClock| {
            clock.running.is_none() && PublicClock { at_us: clock.at_us, ..*known } == clock
        };
        if !self.state.clock.as_ref().is_some_and(stands) {
            self.emit(FeedEvent::Clock(clock), events);
        }
    }

    fn update_status(&mut self, paused: bool, connected: bool, events: &mut Vec<FeedEvent>) {
        self.begun |= self.shown > 0 || self.state.plies.len() > self.history;
        let stopped = self.state.clock.is_some_and(|clock| clock.running.is_none());
        let status = if self.has_ended() {
            STATUS_ENDED
        } else if !self.begun {
            STATUS_WAITING
        } else if self.irregular && !self.embargo.holds() {
            STATUS_IRREGULAR
        } else if paused || stopped {
            STATUS_PAUSED
        } else {
            STATUS_PLAYING
        };
        if status != self.state.status || connected != self.state.connected {
            self.emit(FeedEvent::Status { status, connected }, events);
        }
    }
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The full FEN of a position; the en-passant square is told only when a capture there is legal.
pub(super) fn fen_of(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

/// Plays a move in UCI: its SAN and the position after it, or nothing when it is not legal.
pub(crate) fn play(position: &Chess, uci: &str) -> Option<(String, Chess)> {
    let chosen = uci.parse::<UciMove>().ok()?.to_move(position).ok()?;
    let mut after = position.clone();
    let san = SanPlus::from_move_and_play_unchecked(&mut after, chosen).to_string();
    Some((san, after))
}

#[cfg(test)]
mod tests;
