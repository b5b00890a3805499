//! From facts to what the public may know.

use std::collections::BTreeMap;

use shakmaty::{Chess, EnPassantMode, fen::Fen, san::SanPlus, uci::UciMove};

use super::state::{
    BoardState, FeedEvent, PublicClock, PublicPly, STATUS_ENDED, STATUS_PAUSED, STATUS_PLAYING,
    STATUS_WAITING, Tags,
};
use crate::session::{
    Session,
    event::{ClockReading, GameResult},
    fact::{CompletedBy, Fact, FactKind},
    setup::GameSetup,
    time::MonoTime,
    view::State,
};

/// A completion that was reported for a ply.
#[derive(Clone, Copy, Debug)]
struct Completion {
    clock_ms: Option<u64>,
    pressed: bool,
}

/// Turns the facts of one board into what the public may know.
#[derive(Clone, Debug)]
pub struct Publisher {
    state: BoardState,
    /// Plies of the history: ply numbers of the facts are counted after them.
    base: usize,
    /// The position before the first ply and after each one; empty when the start is no position.
    positions: Vec<Chess>,
    /// Completions of moves that are not published yet, by public ply.
    early: BTreeMap<usize, Completion>,
    /// True once the game began: a move was published or a clock ran.
    begun: bool,
}

impl Publisher {
    /// A publisher before the first event of a game.
    pub fn new(id: &str, setup: &GameSetup, tags: Tags, session: &Session) -> Publisher {
        let start = GameSetup { history: Vec::new(), ..setup.clone() }.position().ok();
        let start_fen = start.as_ref().map_or_else(|| setup.start_fen.clone(), fen_of);
        let mut publisher = Publisher {
            state: BoardState {
                id: id.to_owned(),
                tags,
                chess960: setup.is_chess960(),
                fen: start_fen.clone(),
                turn: if start_fen.split(' ').nth(1) == Some("b") { "black" } else { "white" },
                start_fen,
                board: session.physical().board.to_string(),
                plies: Vec::new(),
                clock: None,
                result: session.result().as_str(),
                status: STATUS_WAITING,
                connected: true,
                has_presses: false,
                serial: None,
            },
            base: 0,
            positions: start.into_iter().collect(),
            early: BTreeMap::new(),
            begun: false,
        };
        for uci in &setup.history {
            let ply = publisher.state.plies.len() + 1;
            let done = Completion { clock_ms: None, pressed: false };
            publisher.early.insert(ply, done);
            publisher.extend(uci, &mut Vec::new());
        }
        publisher.base = publisher.state.plies.len();
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

    /// Takes the facts that an input led to, and the session after it; gives what leaves, in order.
    pub fn apply(&mut self, facts: &[Fact], session: &Session) -> Vec<FeedEvent> {
        let mut events = Vec::new();
        let board = session.physical().board.to_string();
        if board != self.state.board {
            self.emit(FeedEvent::Board { board }, &mut events);
        }
        for fact in facts {
            self.fact(fact, &mut events);
        }
        let paused = session.view().state == State::NotInPlay;
        self.update_status(paused, self.state.connected, &mut events);
        events
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
            FactKind::MovePublished { ply, uci, .. } => self.published(self.base + ply, uci, events),
            FactKind::MoveWithdrawn { ply, .. } => self.withdrawn(self.base + ply, events),
            FactKind::MoveRevised { ply, uci, .. } => self.revised(self.base + ply, uci, events),
            FactKind::MoveCompleted { ply, how, clock_ms, .. } => {
                let done = Completion { clock_ms: *clock_ms, pressed: *how == CompletedBy::Press };
                self.completed(self.base + ply, done, events);
            }
            FactKind::GameEnd { result, .. } => self.result(*result, events),
            FactKind::ResultWithdrawn => self.result(GameResult::Ongoing, events),
            FactKind::Clock(reading) => self.clock(fact.at, *reading, events),
            FactKind::Touch { .. }
            | FactKind::Adjust { .. }
            | FactKind::MoveMade { .. }
            | FactKind::IllegalMove { .. }
            | FactKind::Ambiguous { .. }
            | FactKind::Advisory { .. }
            | FactKind::Orientation { .. } => {}
        }
    }

    /// A move became publishable. One that is known already is left alone; another move in its
    /// place takes the old one and everything after it back first.
    fn published(&mut self, ply: usize, uci: &str, events: &mut Vec<FeedEvent>) {
        if let Some(known) = ply.checked_sub(1).and_then(|index| self.state.plies.get(index)) {
            if known.uci == uci {
                return;
            }
            self.cut(ply - 1, events);
        }
        if ply == self.state.plies.len() + 1 {
            self.extend(uci, events);
        }
    }

    /// Appends a move that is legal in the last position.
    fn extend(&mut self, uci: &str, events: &mut Vec<FeedEvent>) {
        let Some((san, position)) = self.positions.last().and_then(|last| play(last, uci)) else { return };
        let ply = self.state.plies.len() + 1;
        let done = self.early.remove(&ply);
        let fen = fen_of(&position);
        self.positions.push(position);
        let played = PublicPly {
            uci: uci.to_owned(),
            san,
            completed: done.is_some(),
            clock_ms: done.and_then(|done| done.clock_ms),
        };
        self.emit(FeedEvent::Move { ply, played, fen }, events);
        if let Some(Completion { clock_ms, pressed: true }) = done {
            self.emit(FeedEvent::Completed { ply, clock_ms, pressed: true }, events);
        }
    }

    fn withdrawn(&mut self, ply: usize, events: &mut Vec<FeedEvent>) {
        self.early.retain(|known, _| *known < ply);
        if ply > self.base {
            self.cut(ply - 1, events);
        }
    }

    /// Takes back every ply after the first `keep`. Takebacks in a row are told as one.
    fn cut(&mut self, keep: usize, events: &mut Vec<FeedEvent>) {
        let mut n = self.state.plies.len().saturating_sub(keep);
        if n == 0 {
            return;
        }
        self.positions.truncate(keep + 1);
        let fen = self.positions.last().map_or_else(|| self.state.start_fen.clone(), fen_of);
        self.state.apply(&FeedEvent::Undo { n, fen: fen.clone() });
        if let Some(FeedEvent::Undo { n: before, .. }) = events.last() {
            n += before;
            events.pop();
        }
        events.push(FeedEvent::Undo { n, fen });
    }

    /// A published ply is another move now. The later plies stand; one that is not legal any more
    /// and everything after it is taken back.
    fn revised(&mut self, ply: usize, uci: &str, events: &mut Vec<FeedEvent>) {
        let Some(index) = ply.checked_sub(1).filter(|index| *index < self.state.plies.len()) else { return };
        let Some(mut position) = self.positions.get(index).cloned() else { return };
        let mut plies = Vec::new();
        let mut positions = Vec::new();
        for (offset, known) in self.state.plies.iter().skip(index).enumerate() {
            let uci = if offset == 0 { uci } else { known.uci.as_str() };
            let Some((san, next)) = play(&position, uci) else { break };
            position = next;
            plies.push(PublicPly { uci: uci.to_owned(), san, ..known.clone() });
            positions.push(position.clone());
        }
        if plies.is_empty() {
            return;
        }
        self.cut(index + plies.len(), events);
        self.positions.truncate(index + 1);
        self.positions.append(&mut positions);
        let fen = fen_of(&position);
        for (offset, played) in plies.into_iter().enumerate() {
            let ply = index + offset + 1;
            if self.state.plies.get(ply - 1) != Some(&played) {
                self.emit(FeedEvent::Correct { ply, played, fen: fen.clone() }, events);
            }
        }
    }

    fn completed(&mut self, ply: usize, done: Completion, events: &mut Vec<FeedEvent>) {
        let Some(known) = ply.checked_sub(1).and_then(|index| self.state.plies.get(index)) else {
            self.early.insert(ply, done);
            return;
        };
        let news = !known.completed || (done.clock_ms.is_some() && done.clock_ms != known.clock_ms);
        if news {
            let Completion { clock_ms, pressed } = done;
            self.emit(FeedEvent::Completed { ply, clock_ms, pressed }, events);
        }
    }

    fn result(&mut self, result: GameResult, events: &mut Vec<FeedEvent>) {
        let result = result.as_str();
        if result != self.state.result {
            self.emit(FeedEvent::Result { result }, events);
        }
    }

    fn clock(&mut self, at: MonoTime, reading: ClockReading, events: &mut Vec<FeedEvent>) {
        let clock = PublicClock {
            white_ms: reading.white_ms,
            black_ms: reading.black_ms,
            running: reading.running.map(|side| side.fold_wb("white", "black")),
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

    fn update_status(&mut self, not_in_play: bool, connected: bool, events: &mut Vec<FeedEvent>) {
        self.begun |= self.state.plies.len() > self.base;
        let stopped = self.state.clock.is_some_and(|clock| clock.running.is_none());
        let status = if self.state.result != "*" {
            STATUS_ENDED
        } else if !self.begun {
            STATUS_WAITING
        } else if not_in_play || stopped {
            STATUS_PAUSED
        } else {
            STATUS_PLAYING
        };
        if status != self.state.status || connected != self.state.connected {
            self.emit(FeedEvent::Status { status, connected }, events);
        }
    }
}

/// The full FEN of a position; the en-passant square is told only when a capture there is legal.
fn fen_of(position: &Chess) -> String {
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
