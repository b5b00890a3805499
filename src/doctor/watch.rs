//! One board while it is listened to: what its source told so far, in figures.

mod device;

use std::collections::VecDeque;

use serde_json::{Map, Value};
use shakmaty::{Bitboard, Board, Square};

use super::bounce::Bounce;
use crate::{
    session::{
        debounce::Debouncer,
        event::{ClockReading, Event, Unit},
        health::chatter::Contacts,
        io::Input,
        settings::OrientationSetting,
        setup::{BoardKind, GameSetup, Signal},
        time::MonoTime,
    },
    wire::{
        dgt::{DgtDecoder, Orientation},
        peg::PegDecoder,
    },
};

/// Edges that are kept for the live view.
pub const RECENT: usize = 8;
/// Edges a second are counted over this time, in microseconds.
const RATE_US: u64 = 1_000_000;
/// Times of edges that are kept to count them; more in a second are counted as so many.
const MOST_EDGES: usize = 4096;

/// A contact or a square changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When it was read; after debouncing, when it counted.
    pub at: MonoTime,
    /// The square, turned where the set-up says that White sits in the north.
    pub square: Square,
    /// It reads occupied now.
    pub occupied: bool,
}

/// How the contacts are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Scans in ten seconds, where the source tells it.
    pub per_10_s: Option<u64>,
    /// Scans that began late so far.
    pub overruns: Option<u64>,
    /// How late the latest one was, in microseconds.
    pub worst_us: Option<u64>,
}

/// What was heard of one board.
#[derive(Clone, Debug)]
pub struct Watch {
    kind: BoardKind,
    /// White sits in the north.
    turned: bool,
    raw: bool,
    debounce_ms: (u64, u64),
    debouncer: Option<Debouncer>,
    decoder: DgtDecoder,
    peg: PegDecoder,
    first_at: Option<MonoTime>,
    now: MonoTime,
    known: bool,
    /// Only the set-up says so: no event has told of the board.
    assumed: bool,
    occupied: Bitboard,
    pieces: Option<Board>,
    first: Option<(Bitboard, Option<Board>)>,
    link: Option<bool>,
    edges: u64,
    touched: Bitboard,
    recent: VecDeque<Change>,
    times: VecDeque<MonoTime>,
    contacts: Contacts,
    chattering: Bitboard,
    bounce: Bounce,
    scan: Scan,
    /// From when on scans are counted, and how many there were then.
    scans_from: Option<(MonoTime, u64)>,
    identity: Map<String, Value>,
    clock_absent: Option<bool>,
    clock: Option<ClockReading>,
    clocks: u64,
    presses: u64,
    flags: u64,
    garbled: u64,
    complaints: Vec<String>,
    standing: Option<String>,
    port: Option<String>,
    wiring: Vec<String>,
    changes: VecDeque<Change>,
}

impl Watch {
    /// A board of this set-up before its first reading. A recording (`recorded`) begins with the men where
    /// the set-up says; a board has to tell first.
    pub fn new(setup: &GameSetup, recorded: bool) -> Watch {
        let men = setup.position().ok().map(|position| shakmaty::Position::board(&position).clone());
        let start = setup.start_occupied.or_else(|| men.as_ref().map(Board::occupied));
        let known = recorded && start.is_some();
        let occupied = start.filter(|_| known).unwrap_or_default();
        let raw = setup.signal == Signal::Raw;
        let settings = setup.settings;
        let debounce_ms = (settings.debounce_close_ms, settings.debounce_open_ms);
        let orientation = match settings.orientation {
            OrientationSetting::Auto => Orientation::Auto,
            OrientationSetting::WhiteSouth => Orientation::Normal,
            OrientationSetting::WhiteNorth => Orientation::Rotated,
        };
        let pieces = men.filter(|_| known && setup.board == BoardKind::Dgt);
        Watch {
            kind: setup.board,
            turned: orientation == Orientation::Rotated,
            raw,
            debounce_ms,
            debouncer: raw.then(|| Debouncer::new(occupied, debounce_ms.0, debounce_ms.1)),
            decoder: DgtDecoder::new(orientation),
            peg: PegDecoder::new(),
            first_at: None,
            now: MonoTime::ZERO,
            known,
            assumed: known,
            occupied,
            first: known.then(|| (occupied, pieces.clone())),
            pieces,
            link: None,
            edges: 0,
            touched: Bitboard::EMPTY,
            recent: VecDeque::new(),
            times: VecDeque::new(),
            contacts: Contacts::new(),
            chattering: Bitboard::EMPTY,
            bounce: Bounce::default(),
            scan: Scan::default(),
            scans_from: None,
            identity: Map::new(),
            clock_absent: None,
            clock: None,
            clocks: 0,
            presses: 0,
            flags: 0,
            garbled: 0,
            complaints: Vec::new(),
            standing: None,
            port: None,
            wiring: Vec::new(),
            changes: VecDeque::new(),
        }
    }

    /// Takes one reading of the source. Of a game on two boards the first one is watched.
    pub fn take(&mut self, at: MonoTime, input: &Input) {
        self.advance(at);
        self.first_at.get_or_insert(at);
        match input {
            // Bytes of a DGT board are turned where they are decoded.
            Input::Event(Unit::A, event) if self.turned => self.event(at, &turned(event)),
            Input::Event(Unit::A, event) => self.event(at, event),
            Input::Event(Unit::B, _) | Input::Dgt(Unit::B, _) | Input::Peg(Unit::B, _) => {}
            Input::Dgt(Unit::A, bytes) => {
                let mut events = Vec::new();
                self.decoder.push(at, bytes, &mut events);
                for event in &events {
                    self.event(at, event);
                }
            }
            Input::Peg(Unit::A, line) => {
                let mut events = Vec::new();
                self.peg.push(line, &mut events);
                for event in &events {
                    self.event(at, &if self.turned { turned(event) } else { event.clone() });
                }
            }
        }
    }

    /// Time has come to `now`; earlier is ignored.
    pub fn advance(&mut self, now: MonoTime) {
        if now <= self.now {
            return;
        }
        self.now = now;
        while let Some((at, square, occupied)) =
            self.debouncer.as_mut().and_then(|debouncer| debouncer.next(now, |square| square))
        {
            self.settled(at, square, occupied);
        }
        self.bounce.rest(now);
        while self.times.front().is_some_and(|at| now.since(*at) >= RATE_US) {
            self.times.pop_front();
        }
    }

    /// Takes how many scans there were so far, how many of them began late, and how late the worst one was. Their rate
    /// is counted from the first call on and known after a second.
    pub fn scanned(&mut self, scans: u64, overruns: u64, worst_us: u64) {
        (self.scan.overruns, self.scan.worst_us) = (Some(overruns), Some(worst_us));
        let (from, before) = *self.scans_from.get_or_insert((self.now, scans));
        let span_us = self.now.since(from);
        if span_us >= RATE_US {
            self.scan.per_10_s = Some(scans.saturating_sub(before).saturating_mul(10_000_000) / span_us);
        }
    }

    fn event(&mut self, at: MonoTime, event: &Event) {
        match event {
            Event::Square { square, occupied } => self.square(at, *square, *occupied, None),
            Event::Piece { square, piece } => {
                self.square(at, *square, piece.is_some(), Some(*piece));
            }
            Event::Occupied(all) => self.whole(at, *all, None),
            Event::Pieces(board) => self.whole(at, board.occupied(), Some(board.clone())),
            Event::Link(up) | Event::Power(up) => {
                self.decoder.link(*up);
                self.peg.link();
                self.link = Some(*up);
                self.standing = None;
            }
            Event::Times(reading) => {
                self.clocks += 1;
                self.clock = Some(*reading);
            }
            Event::Press(_) => self.presses += 1,
            Event::Flag(_) => self.flags += 1,
            Event::Device(value) => self.device(value),
            _ => {}
        }
    }

    fn square(
        &mut self,
        at: MonoTime,
        square: Square,
        occupied: bool,
        piece: Option<Option<shakmaty::Piece>>,
    ) {
        self.assumed = false;
        if let (Some(piece), Some(pieces)) = (piece, &mut self.pieces) {
            match piece {
                Some(piece) => pieces.set_piece_at(square, piece),
                None => drop(pieces.remove_piece_at(square)),
            }
        }
        if let Some(debouncer) = &mut self.debouncer {
            debouncer.edge(at, square, occupied);
            self.bounce.edge(at, square, occupied);
            self.edge(at, square, occupied);
        } else if self.occupied.contains(square) != occupied {
            self.edge(at, square, occupied);
            self.settled(at, square, occupied);
        }
    }

    fn edge(&mut self, at: MonoTime, square: Square, occupied: bool) {
        self.edges += 1;
        self.touched.add(square);
        if self.times.len() < MOST_EDGES {
            self.times.push_back(at);
        }
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Change { at, square, occupied });
    }

    fn settled(&mut self, at: MonoTime, square: Square, occupied: bool) {
        self.occupied.set(square, occupied);
        if self.contacts.note(square, at) {
            self.chattering.add(square);
        }
        self.changes.push_back(Change { at, square, occupied });
    }

    fn whole(&mut self, at: MonoTime, occupied: Bitboard, pieces: Option<Board>) {
        let assumed = std::mem::take(&mut self.assumed);
        if self.first.is_none() || assumed {
            self.first = Some((occupied, pieces.clone()));
        }
        if self.known && !assumed {
            for square in self.occupied ^ occupied {
                self.edge(at, square, occupied.contains(square));
                self.changes.push_back(Change { at, square, occupied: occupied.contains(square) });
            }
        }
        (self.occupied, self.known) = (occupied, true);
        if pieces.is_some() {
            self.pieces = pieces;
        }
        if let Some(debouncer) = &mut self.debouncer {
            debouncer.reset(occupied);
        }
    }

    /// The changes that count since the last call, as far as the time has come.
    pub fn take_changes(&mut self) -> impl Iterator<Item = Change> + '_ {
        self.changes.drain(..)
    }

    /// What kind of board it is.
    pub fn kind(&self) -> BoardKind {
        self.kind
    }

    /// True where White sits in the north: squares are those of the game, turned from those of the board.
    pub fn is_turned(&self) -> bool {
        self.turned
    }

    /// True where the source tells contact edges, which are debounced here.
    pub fn is_raw(&self) -> bool {
        self.raw
    }

    /// Configured debounce times, closing and opening, in milliseconds.
    pub fn debounce_ms(&self) -> (u64, u64) {
        self.debounce_ms
    }

    /// Microseconds from the first reading until now.
    pub fn listened_us(&self) -> u64 {
        self.first_at.map_or(0, |first| self.now.since(first))
    }

    /// Where the time has come.
    pub fn now(&self) -> MonoTime {
        self.now
    }

    /// What the squares read now; `None` before the board was told as a whole.
    pub fn occupied(&self) -> Option<Bitboard> {
        self.known.then_some(self.occupied)
    }

    /// The men of an identity board.
    pub fn pieces(&self) -> Option<&Board> {
        self.pieces.as_ref()
    }

    /// What the first full report told.
    pub fn first(&self) -> Option<&(Bitboard, Option<Board>)> {
        self.first.as_ref()
    }

    /// True while only the set-up says what stands on the board.
    pub fn is_assumed(&self) -> bool {
        self.assumed
    }

    /// True and false while the link is known to be up or down.
    pub fn link(&self) -> Option<bool> {
        self.link
    }

    /// Edges so far.
    pub fn edges(&self) -> u64 {
        self.edges
    }

    /// Edges in the last second.
    pub fn edges_per_s(&self) -> usize {
        self.times.len()
    }

    /// The last edges, the oldest first.
    pub fn recent(&self) -> impl DoubleEndedIterator<Item = &Change> {
        self.recent.iter()
    }

    /// Squares that changed at least once.
    pub fn touched(&self) -> Bitboard {
        self.touched
    }

    /// Squares that changed faster than a hand.
    pub fn chattering(&self) -> Bitboard {
        self.chattering
    }

    /// Bounce of the contacts.
    pub fn bounce(&self) -> &Bounce {
        &self.bounce
    }

    /// How the contacts are read.
    pub fn scan(&self) -> Scan {
        self.scan
    }

    /// What the device told of itself.
    pub fn identity(&self) -> &Map<String, Value> {
        &self.identity
    }

    /// The last reading of a clock.
    pub fn clock(&self) -> Option<ClockReading> {
        self.clock
    }

    /// True where the board said that no clock is connected.
    pub fn is_clock_absent(&self) -> bool {
        self.clock_absent == Some(true) && self.clocks == 0
    }

    /// Presses so far.
    pub fn presses(&self) -> u64 {
        self.presses
    }

    /// True when a flag was seen.
    pub fn has_flag(&self) -> bool {
        self.flags > 0
    }

    /// Bytes and messages that made no sense.
    pub fn garbled(&self) -> u64 {
        self.garbled
    }

    /// What the self-test of a matrix found, each with its place.
    pub fn wiring(&self) -> &[String] {
        &self.wiring
    }

    /// Why the port cannot be opened, as long as nothing is known of the board.
    pub fn port_trouble(&self) -> Option<&str> {
        self.port.as_deref().filter(|_| !self.known)
    }

    /// What is wrong with a board that is read.
    pub fn standing_trouble(&self) -> Option<&str> {
        self.standing.as_deref()
    }

    /// What the source complained of.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }
}

/// An event of a board with White in the north, in the numbering of the game.
fn turned(event: &Event) -> Event {
    match event {
        Event::Square { square, occupied } => {
            Event::Square { square: square.rotate_180(), occupied: *occupied }
        }
        Event::Piece { square, piece } => Event::Piece { square: square.rotate_180(), piece: *piece },
        Event::Occupied(occupied) => Event::Occupied(occupied.rotate_180()),
        Event::Pieces(men) => {
            let mut men = men.clone();
            men.rotate_180();
            Event::Pieces(men)
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
