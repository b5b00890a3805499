//! From facts to what the public may know.

use std::{collections::BTreeMap, sync::Arc};

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
    /// The moves that the facts published. The public sees as many of them as are legal: between two
    /// facts that belong together the rest may not be.
    wanted: Vec<String>,
    /// The position before the first public ply and after each one; empty when the start is no
    /// position.
    positions: Vec<Chess>,
    /// Completions by ply, of moves that are not public yet, too.
    completions: BTreeMap<usize, Completion>,
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
                plies: Arc::default(),
                clock: None,
                result: session.result().as_str(),
                status: STATUS_WAITING,
                connected: true,
                has_presses: false,
                serial: None,
            },
            base: 0,
            wanted: setup.history.clone(),
            positions: start.into_iter().collect(),
            completions: BTreeMap::new(),
            begun: false,
        };
        let before = Completion { clock_ms: None, pressed: false };
        publisher.completions.extend((1..=setup.history.len()).map(|ply| (ply, before)));
        publisher.reconcile(&mut Vec::new());
        publisher.base = setup.history.len();
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
        self.wanted.len().saturating_sub(self.state.plies.len())
    }

    /// Takes the facts that an input led to, and the session after it; gives what leaves, in order.
    pub fn apply(&mut self, facts: &[Fact], session: &Session) -> Vec<FeedEvent> {
        let mut events = Vec::new();
        let board = session.physical().board.to_string();
        if board != self.state.board {
            self.emit(FeedEvent::Board { board }, &mut events);
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
        self.update_status(session.is_paused(), self.state.connected, &mut events);
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
            FactKind::MoveWithdrawn { ply, .. } => self.withdrawn(self.base + ply),
            FactKind::MoveRevised { ply, uci, .. } => self.revised(self.base + ply, uci),
            FactKind::MoveCompleted { ply, how, clock_ms, .. } => {
                let done = Completion {
                    clock_ms: *clock_ms,
                    pressed: matches!(how, CompletedBy::Press | CompletedBy::EarlierPress),
                };
                self.completed(self.base + ply, done, events);
            }
            FactKind::PlyClock { ply, clock_ms } => {
                let done = Completion { clock_ms: Some(*clock_ms), pressed: true };
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
            | FactKind::TwoPly { .. }
            | FactKind::Advisory { .. }
            | FactKind::Orientation { .. }
            | FactKind::Contact { .. }
            | FactKind::Law(_) => {}
        }
    }

    /// A move became publishable. One that is known already is left alone; another move in its
    /// place takes the old one and everything after it back first.
    fn published(&mut self, ply: usize, uci: &str, events: &mut Vec<FeedEvent>) {
        let Some(index) = ply.checked_sub(1) else { return };
        match self.wanted.get(index) {
            Some(known) if known == uci => return,
            Some(_) => {
                self.wanted.truncate(index);
                self.reconcile(events);
            }
            None => {}
        }
        if index == self.wanted.len() {
            self.wanted.push(uci.to_owned());
        }
    }

    fn withdrawn(&mut self, ply: usize) {
        if ply > self.base {
            self.completions.retain(|known, _| *known < ply);
            self.wanted.truncate(ply - 1);
        }
    }

    /// A published ply is another move now. The later plies stand.
    fn revised(&mut self, ply: usize, uci: &str) {
        if let Some(known) = ply.checked_sub(1).and_then(|index| self.wanted.get_mut(index)) {
            uci.clone_into(known);
        }
    }

    /// Brings the public plies in line with the wanted ones: takes back what is too much, corrects
    /// what is another move or has another notation, appends the rest.
    fn reconcile(&mut self, events: &mut Vec<FeedEvent>) {
        let same =
            self.wanted.iter().zip(self.state.plies.iter()).take_while(|(uci, ply)| **uci == ply.uci).count();
        let public = self.state.plies.len();
        if same == self.wanted.len() && same == public {
            return;
        }
        let Some(mut position) = self.positions.get(same).cloned() else { return };
        let mut line = Vec::new();
        for (offset, uci) in self.wanted.iter().skip(same).enumerate() {
            let Some((san, next)) = play(&position, uci) else { break };
            let done = self.completions.get(&(same + offset + 1));
            let clock_ms = done.and_then(|done| done.clock_ms);
            let played = PublicPly { uci: uci.clone(), san, completed: done.is_some(), clock_ms };
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

    fn append(&mut self, ply: usize, played: PublicPly, fen: String, events: &mut Vec<FeedEvent>) {
        self.emit(FeedEvent::Move { ply, played, fen }, events);
        if let Some(Completion { clock_ms, pressed: true }) = self.completions.get(&ply).copied() {
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
        let known = self.completions.get(&ply);
        let clock_ms = done.clock_ms.or(known.and_then(|known| known.clock_ms));
        let pressed = done.pressed || known.is_some_and(|known| known.pressed);
        self.completions.insert(ply, Completion { clock_ms, pressed });
        let public = ply.checked_sub(1).and_then(|index| self.state.plies.get(index));
        if public.is_some_and(|public| !public.completed || public.clock_ms != clock_ms) {
            self.emit(FeedEvent::Completed { ply, clock_ms, pressed: done.pressed }, events);
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

    fn update_status(&mut self, paused: bool, connected: bool, events: &mut Vec<FeedEvent>) {
        self.begun |= self.state.plies.len() > self.base;
        let stopped = self.state.clock.is_some_and(|clock| clock.running.is_none());
        let status = if self.state.result != "*" {
            STATUS_ENDED
        } else if !self.begun {
            STATUS_WAITING
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
