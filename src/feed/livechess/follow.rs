//! One `eboardevent` feed: what its client was told of the board, and what it has to be told now.
//! The times come in; only [`Now::read`] reads the clocks.

use shakmaty::{CastlingMode, Chess, Color, Position as _, fen::Fen};

use crate::{
    publish::{BoardState, PublicClock, completed_plies, play, release::Threshold},
    sysclock,
    wire::livechess::{Clock, EboardEvent, Reconstructed, serial_of},
};

/// The two clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Microseconds of UTC.
    pub wall_us: u64,
    /// Microseconds of the monotonic clock that readings are stamped with.
    pub mono_us: u64,
}

impl Now {
    /// This moment.
    pub(in crate::feed) fn read() -> Now {
        Now { wall_us: sysclock::wall_micros(), mono_us: sysclock::monotonic().as_micros() }
    }

    /// Milliseconds since 1970.
    pub(super) const fn millis(self) -> u64 {
        self.wall_us / 1000
    }

    /// A clock reading in the terms of LiveChess; nothing where the time of a side is not known.
    pub(in crate::feed) fn clock(self, clock: Option<PublicClock>) -> Option<Clock> {
        let clock = clock?;
        let age_us = self.mono_us.saturating_sub(clock.at_us);
        Some(Clock {
            white: clock.white_ms? / 1000,
            black: clock.black_ms? / 1000,
            run: clock.running.map(|side| side == "white"),
            time: self.wall_us.saturating_sub(age_us) / 1000,
        })
    }
}

/// What a new state changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The physical board or the clock only.
    Physical,
    /// The score of the game too.
    Score,
    /// The score, and the arbiter went back in the game: the list of moves may shrink.
    Restored,
    /// The game goes on from another position: the list begins there.
    SetUp,
}

/// The serial number under which a board is known to LiveChess clients.
pub(in crate::feed) fn serial(state: &BoardState) -> String {
    state.serial.clone().unwrap_or_else(|| serial_of(&state.id))
}

/// A feed of one client.
#[derive(Debug)]
pub(super) struct Follow {
    serial: String,
    moves: Threshold,
    flipped: bool,
    /// The client has not seen the board as it lies since it was turned.
    turned: bool,
    board: String,
    clock: Option<PublicClock>,
    game: Option<Game>,
}

/// The reconstruction since the client's `setup`.
#[derive(Debug)]
struct Game {
    start: String,
    /// The position in which the plies after `prefix` begin.
    origin: Chess,
    /// The moves before the setup position. Once the game no longer begins with them, the arbiter
    /// went back behind the setup position and nothing can be said about it any more.
    prefix: Vec<String>,
    lost: bool,
    san: Vec<String>,
    /// Placement after `san`.
    placement: String,
    matches: bool,
}

impl Follow {
    /// A feed, and its first message: the whole present state.
    pub(super) fn new(state: &BoardState, moves: Threshold, now: Now) -> (Follow, EboardEvent) {
        let follow = Follow {
            serial: serial(state),
            moves,
            flipped: false,
            turned: false,
            board: state.board.clone(),
            clock: state.clock,
            game: None,
        };
        let clock = Some(now.clock(state.clock));
        let event = EboardEvent { board: Some(follow.shown()), clock, ..follow.event() };
        (follow, event)
    }

    /// The client turns the board. What it sees then comes with the next message.
    pub(super) fn flip(&mut self, flipped: bool) {
        self.turned |= self.flipped != flipped;
        self.flipped = flipped;
    }

    /// The board as the client sees it: turned by 180 degrees where it turned it.
    fn shown(&self) -> String {
        if self.flipped { self.board.chars().rev().collect() } else { self.board.clone() }
    }

    fn event(&self) -> EboardEvent {
        let game = self.game.as_ref().map(|game| Reconstructed {
            start: game.start.clone(),
            san: game.san.clone(),
            matches: game.matches,
        });
        EboardEvent { serialnr: self.serial.clone(), flipped: self.flipped, game, ..EboardEvent::default() }
    }

    /// Starts the reconstruction. A FEN whose placement and side to move stood in the game before
    /// continues there, at the latest such position; with another one the moves from now on are
    /// played in the position of the client, as long as they are legal in it.
    pub(super) fn setup(&mut self, fen: &str, state: &BoardState) -> Result<Vec<EboardEvent>, String> {
        self.game = Some(Game::new(fen, state)?);
        self.turned = false;
        let mut events = vec![EboardEvent { board: Some(self.shown()), ..self.refresh() }];
        if self.game.as_mut().is_some_and(|game| game.follow(state, self.moves, false)) {
            events.push(self.refresh());
        }
        Ok(events)
    }

    /// The message with the reconstruction as it stands against the physical board.
    fn refresh(&mut self) -> EboardEvent {
        if let Some(game) = &mut self.game {
            game.matches = !game.lost && game.placement == self.board;
        }
        self.event()
    }

    /// What a new state of the board means for the client, if anything.
    pub(super) fn update(&mut self, state: &BoardState, change: Change, now: Now) -> Option<EboardEvent> {
        let moved_men = self.board != state.board;
        let clock = (self.clock != state.clock).then(|| now.clock(state.clock));
        self.board.clone_from(&state.board);
        self.clock = state.clock;
        let before = self.game.as_ref().map(|game| game.matches);
        let score = change != Change::Physical;
        let restored = change == Change::Restored;
        let mut moved = change == Change::SetUp && self.begin_again(state);
        moved |= score && self.game.as_mut().is_some_and(|game| game.follow(state, self.moves, restored));
        let event = self.refresh();
        let matches = event.game.as_ref().map(|game| game.matches);
        if !(moved_men || clock.is_some() || moved || before != matches) {
            return None;
        }
        let turned = std::mem::take(&mut self.turned);
        let board = (moved_men || turned).then(|| self.shown());
        Some(EboardEvent { board, clock, ..event })
    }

    /// The game goes on from a position that was set up: so does the list, with that position as `start`. A
    /// client that plays another game than the board's has nothing to begin again.
    fn begin_again(&mut self, state: &BoardState) -> bool {
        let Some(game) = self.game.as_mut().filter(|game| !game.lost) else { return false };
        let castling = CastlingMode::from_chess960(state.chess960);
        let parsed = state.start_fen.parse::<Fen>().map_err(|error| format!("{error}"));
        match parsed.and_then(|fen| position(fen, castling)) {
            Ok(origin) => {
                *game = Game {
                    start: state.start_fen.clone(),
                    placement: origin.board().to_string(),
                    origin,
                    prefix: Vec::new(),
                    lost: false,
                    san: Vec::new(),
                    matches: false,
                }
            }
            Err(_) => game.lost = true,
        }
        true
    }

    /// A new game was put on the board: the reconstruction ends until the client sets up again.
    pub(super) fn restart(&mut self, state: &BoardState, now: Now) -> EboardEvent {
        let (follow, _) = Follow::new(state, self.moves, now);
        *self = Follow { flipped: self.flipped, ..follow };
        EboardEvent { board: Some(self.shown()), clock: Some(now.clock(state.clock)), ..self.event() }
    }
}

impl Game {
    fn new(fen: &str, state: &BoardState) -> Result<Game, String> {
        let castling = CastlingMode::from_chess960(state.chess960);
        let bad = |reason: String| format!("fen {fen:?}: {reason}");
        let parsed: Fen = fen.parse().map_err(|error| bad(format!("{error}")))?;
        let start = if fen.split(' ').count() == 6 { fen.to_owned() } else { parsed.to_string() };
        let placement = parsed.as_setup().board.to_string();
        let turn = fen.contains(' ').then_some(parsed.as_setup().turn);
        let (origin, plies) = match find(state, castling, &placement, turn) {
            Some(found) => found,
            None => {
                let position = position(parsed, castling).map_err(bad)?;
                (position, state.plies.len())
            }
        };
        let prefix = state.plies.iter().take(plies).map(|ply| ply.uci.clone()).collect();
        Ok(Game { start, origin, prefix, lost: false, san: Vec::new(), placement, matches: false })
    }

    /// Brings the list of moves up to date; true when it changed. By default it waits for completed moves. It
    /// does not shrink below what was sent unless the arbiter went back: a client cannot take a
    /// move back.
    fn follow(&mut self, state: &BoardState, moves: Threshold, restored: bool) -> bool {
        let known = state.plies.iter().map(|ply| ply.uci.as_str());
        self.lost = self.lost
            || state.plies.len() < self.prefix.len()
            || !known.zip(&self.prefix).all(|(uci, before)| uci == before);
        if self.lost {
            return false;
        }
        let mut position = self.origin.clone();
        let mut list = Vec::new();
        let count = match moves {
            Threshold::Made => state.plies.len(),
            Threshold::Completed => completed_plies(state),
        };
        for ply in state.plies.iter().take(count).skip(self.prefix.len()) {
            let Some((san, next)) = play(&position, &ply.uci) else { break };
            list.push(san);
            position = next;
        }
        if list == self.san || (list.len() < self.san.len() && !restored) {
            return false;
        }
        self.san = list;
        self.placement = position.board().to_string();
        true
    }
}

/// The latest position of the game with this placement and side to move, and the plies before it.
fn find(
    state: &BoardState,
    castling: CastlingMode,
    placement: &str,
    turn: Option<Color>,
) -> Option<(Chess, usize)> {
    let fits = |position: &Chess| {
        position.board().to_string() == placement && turn.is_none_or(|turn| turn == position.turn())
    };
    let mut now = position(state.start_fen.parse().ok()?, castling).ok()?;
    let mut found = fits(&now).then(|| (now.clone(), 0));
    for (index, ply) in state.plies.iter().enumerate() {
        let (_, next) = play(&now, &ply.uci)?;
        now = next;
        if fits(&now) {
            found = Some((now.clone(), index + 1));
        }
    }
    found
}

fn position(fen: Fen, castling: CastlingMode) -> Result<Chess, String> {
    fen.into_position(castling)
        .or_else(|error| error.ignore_too_much_material())
        .or_else(|error| error.ignore_impossible_check())
        .map_err(|error| error.to_string())
}
