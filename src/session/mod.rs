//! The pure core of one board: events with their times go in, facts come out.
//!
//! No I/O, no clock, no randomness, no floating point, no hash order: the same events give the
//! same facts, byte for byte.

pub mod board;
pub mod debounce;
pub mod event;
pub mod fact;
pub mod io;
pub mod settings;
pub mod setup;
pub mod time;
pub mod view;

use std::collections::VecDeque;

use shakmaty::{Chess, Position as _};

use self::{
    event::{GameResult, Stamped},
    fact::Fact,
    setup::{GameSetup, SetupError},
    time::MonoTime,
    view::{Physical, View},
};

/// Version of the conclusions: it grows when the same events give other facts.
pub const LOGIC_VERSION: u32 = 1;

/// A ply of the reconstructed game.
#[derive(Clone, Debug, PartialEq)]
pub struct PlyRecord {
    /// The move in UCI.
    pub uci: String,
    /// The move in standard algebraic notation.
    pub san: String,
    /// When it was made.
    pub made: MonoTime,
    /// When it was completed.
    pub completed: Option<MonoTime>,
    /// Time left on the mover's clock at the completion.
    pub clock_ms: Option<u64>,
    /// True once it was published.
    pub published: bool,
}

/// One board's state machine.
#[derive(Clone, Debug)]
pub struct Session {
    facts: VecDeque<Fact>,
    view: View,
    plies: Vec<PlyRecord>,
    position: Chess,
}

impl Session {
    /// A session before its first event.
    pub fn new(setup: &GameSetup) -> Result<Session, SetupError> {
        Ok(Session {
            facts: VecDeque::new(),
            view: View::default(),
            plies: Vec::new(),
            position: setup.position()?,
        })
    }

    /// Takes one decoded event. Every deadline that is due before it fires first.
    pub fn handle(&mut self, stamped: &Stamped) {
        let _ = stamped;
    }

    /// Fires every deadline up to and including `now`, each at its own time.
    pub fn advance(&mut self, now: MonoTime) {
        let _ = now;
    }

    /// The next deadline.
    pub fn deadline(&self) -> Option<MonoTime> {
        None
    }

    /// The next fact, in order.
    pub fn poll_fact(&mut self) -> Option<Fact> {
        self.facts.pop_front()
    }

    /// The state between the events.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The plies of the reconstructed game, counted from the first event.
    pub fn plies(&self) -> &[PlyRecord] {
        &self.plies
    }

    /// The position after [`Session::plies`].
    pub fn position(&self) -> &Chess {
        &self.position
    }

    /// What stands on the board.
    pub fn physical(&self) -> Physical {
        Physical {
            board: self.position.board().clone(),
            unknown: shakmaty::Bitboard::EMPTY,
            turn: self.position.turn(),
        }
    }

    /// The result, [`GameResult::Ongoing`] while the game goes on.
    pub fn result(&self) -> GameResult {
        GameResult::Ongoing
    }

    /// Plies, counted from 1, that the session is not sure of.
    pub fn doubts(&self) -> Vec<usize> {
        Vec::new()
    }
}
