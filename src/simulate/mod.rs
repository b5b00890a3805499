//! The handling simulator: a game goes in, the events of a board and a clock under real hands come
//! out.
//!
//! Pure: the same game, parameters and seed give the same events, byte for byte. It shares nothing
//! with the reconstruction, so that the one can be measured with the other. The orders of handling,
//! the accidents and the three levels are described in `docs/simulation.md`.

mod clock;
mod contacts;
pub mod games;
mod hands;
mod levels;
pub mod matrix;
mod orders;
mod output;
pub mod params;
pub mod peg;
pub mod pgn;
pub mod polled;
mod quantity;
mod rng;
pub mod settings;
mod truth;
mod turn;
pub mod two_boards;

use shakmaty::{Bitboard, Board, ByColor, Chess, Color, Move, Position, san::San, uci::UciMove};

pub use self::truth::{PlyTruth, Touch, TouchKind, Truth};
use self::{
    clock::{ClockDeed, Deed, TimeControl},
    contacts::{Contact, Contacts},
    hands::Hands,
    output::Reading,
    params::{ClockKind, Ending, Output, Params},
    rng::Rng,
    turn::Before,
};
use crate::session::{
    event::{Event, GameResult, Stamped, Unit},
    setup::{BoardKind, GameSetup, SetupError, Signal},
    time::MonoTime,
};

/// Time control of a game that names none: 90 minutes and 30 seconds a move.
pub const DEFAULT_TIME_CONTROL: &str = "5400+30";

/// The game that is played.
#[derive(Clone, Debug, PartialEq)]
pub struct Game {
    /// The board, the start position and the time control. `signal` is set by the simulator.
    pub setup: GameSetup,
    /// The moves in UCI or in standard algebraic notation.
    pub moves: Vec<String>,
    /// Milliseconds that the players think before each move; moves beyond its end take a time of
    /// the level.
    pub think_ms: Vec<u64>,
    /// The result that is signalled or entered at the end.
    pub result: GameResult,
}

/// Why a game cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The start position cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A move is not legal.
    #[error("move {number} ({text:?}) is not legal in its position, neither as UCI nor as SAN")]
    Move {
        /// Number of the ply, counted from 1.
        number: usize,
        /// What was given.
        text: String,
    },
    /// The time control cannot be played.
    #[error(
        "time control {text:?}: expected periods of [moves/]seconds with +increment, d delay or b Bronstein, separated by colons, such as 40/5400+30:1800+30 or 300d3"
    )]
    TimeControl {
        /// What was given.
        text: String,
    },
}

/// What the simulator puts out.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// The set-up of the sensor log that the events make.
    pub setup: GameSetup,
    /// The events in the order of time, from 0.
    pub events: Vec<Stamped>,
    /// What really happened.
    pub truth: Truth,
}

/// What the streams of random numbers are for.
const HANDS: u64 = 1;
const BOUNCE: u64 = 2;
const CLOCK: u64 = 3;
const PLAYERS: u64 = 4;

/// A man that is still off the centre after the last move is put right within this time.
const LAST_LOOK_US: u64 = 1_500_000;

/// The players sit down, the arbiter starts the clock.
const CLOCK_START_US: u64 = 2_000_000;

/// Plays a game with the hands of `params`.
pub fn simulate(game: &Game, params: &Params, seed: u64) -> Result<Simulation, SimulateError> {
    let start = game.setup.position()?;
    let played = moves_of(&start, &game.moves)?;
    let control = time_control(&game.setup)?;
    let occupied = game.setup.start_occupied.unwrap_or_else(|| start.board().occupied());
    let men = standing(&game.setup, &start, occupied);
    let mut hands = Hands {
        params,
        rng: Rng::new(seed, HANDS),
        contacts: Contacts::new(&men),
        men: men.clone(),
        deeds: vec![ClockDeed {
            at: CLOCK_START_US,
            deed: Deed::Run { side: start.turn(), seen: params.clock.start },
        }],
        touches: Vec::new(),
        mishaps: Vec::new(),
        now: CLOCK_START_US,
        by: start.turn(),
        recognised: None,
        pressed: None,
        disorder_until: 0,
        free: ByColor::default(),
        hold_until: 0,
    };
    let mut position = start;
    let mut before = Before { recognised: CLOCK_START_US, made: CLOCK_START_US, ..Before::default() };
    let mut plies = Vec::with_capacity(played.len());
    for (index, chosen) in played.iter().copied().enumerate() {
        let think_us = game.think_ms.get(index).map(|ms| ms.saturating_mul(1000));
        let turn = hands.turn(&position, chosen, think_us, &before);
        let (_, squares) = orders::squares_of(chosen);
        before = Before { recognised: turn.recognised, made: turn.made, press: turn.press, squares };
        plies.push(PlyTruth {
            uci: UciMove::from_move(chosen, game.setup.castling).to_string(),
            by: position.turn(),
            start_us: turn.start,
            made_us: turn.made,
            press_us: turn.press.filter(|_| turn.press_seen),
            style: turn.style,
            mishaps: std::mem::take(&mut hands.mishaps),
        });
        position.play_unchecked(chosen);
    }
    hands.now = hands.now.max(hands.disorder_until).max(hands.contacts.last_change());
    hands.contacts.settle(hands.now + LAST_LOOK_US);
    hands.now = hands.now.max(hands.contacts.last_change());
    let entered = finish(&mut hands, &position, game.result, params.ending);
    let mut setup = game.setup.clone();
    setup.signal = if params.output == Output::Raw { Signal::Raw } else { Signal::Debounced };
    if params.output == Output::Identity {
        setup.board = BoardKind::Dgt;
    }
    if setup.time_control.is_empty() {
        setup.time_control = DEFAULT_TIME_CONTROL.to_owned();
    }
    Ok(put_together(hands, setup, &control, &men, entered, plies, seed))
}

/// The men on the board at the start. Nothing says what stands on a square that the position leaves
/// empty: a pawn.
fn standing(setup: &GameSetup, position: &Chess, occupied: Bitboard) -> Board {
    let mut men = setup.standing_men(position, occupied, |square| square);
    for square in occupied & !men.occupied() {
        men.set_piece_at(square, Color::White.pawn());
    }
    men
}

fn moves_of(start: &Chess, texts: &[String]) -> Result<Vec<Move>, SimulateError> {
    let mut position = start.clone();
    let mut moves = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        let uci = || text.parse::<UciMove>().ok()?.to_move(&position).ok();
        let san = || text.parse::<San>().ok()?.to_move(&position).ok();
        let chosen = uci()
            .or_else(san)
            .ok_or_else(|| SimulateError::Move { number: index + 1, text: text.clone() })?;
        position.play_unchecked(chosen);
        moves.push(chosen);
    }
    Ok(moves)
}

fn time_control(setup: &GameSetup) -> Result<TimeControl, SimulateError> {
    let text = if setup.time_control.is_empty() { DEFAULT_TIME_CONTROL } else { &setup.time_control };
    TimeControl::parse(text).ok_or_else(|| SimulateError::TimeControl { text: text.to_owned() })
}

/// What happens after the last move; gives the time and the result that is entered.
fn finish(
    hands: &mut Hands<'_>,
    position: &Chess,
    result: GameResult,
    ending: Ending,
) -> Option<(u64, GameResult)> {
    if ending == Ending::Open {
        return None;
    }
    hands.reach();
    if ending == Ending::KingsToCentre {
        hands.kings_to_centre(position, result);
    }
    hands.deeds.push(ClockDeed { at: hands.now, deed: Deed::Pause });
    if ending != Ending::Entered || result == GameResult::Ongoing {
        return None;
    }
    hands.reach();
    Some((hands.now, result))
}

/// What the board reports of its contacts.
fn readings(log: &[Contact], men: &Board, params: &Params, rng: &mut Rng) -> Vec<(u64, Event)> {
    let settle_us = u64::from(params.settle_ms) * 1000;
    if params.output == Output::Identity {
        let seen = output::mistaken(&output::men(log), men, &params.identity, rng);
        let start = |square| men.piece_at(square);
        let seen = match u64::from(params.scan_ms) * 1000 {
            0 => output::settled(&seen, start, settle_us),
            scan_us => output::scanned(&seen, start, scan_us),
        };
        let event = |r: &Reading<_>| (r.at, Event::Piece { square: r.square, piece: r.seen });
        return seen.iter().map(event).collect();
    }
    let occupied = men.occupied();
    let changes = output::occupancy(log, men);
    let seen = match params.output {
        Output::Raw => output::edges(&changes, &params.reed, rng),
        _ => output::settled(&changes, |square| occupied.contains(square), settle_us),
    };
    seen.iter().map(|r| (r.at, Event::Square { square: r.square, occupied: r.seen })).collect()
}

/// Sorts contacts, clock and result into one stream. At the same microsecond sensors come first, by
/// square, then the clock.
fn put_together(
    hands: Hands<'_>,
    setup: GameSetup,
    control: &TimeControl,
    men: &Board,
    entered: Option<(u64, GameResult)>,
    plies: Vec<PlyTruth>,
    seed: u64,
) -> Simulation {
    let params = hands.params;
    let (mut deeds, mut touches) = (hands.deeds, hands.touches);
    deeds.sort_by_key(|deed| deed.at);
    touches.sort_by_key(|touch| touch.at_us);
    let log = hands.contacts.into_log();
    let readings = readings(&log, men, params, &mut Rng::new(seed, BOUNCE));
    let end_us = readings.last().map_or(hands.now, |(at, _)| hands.now.max(*at));
    let mut timed: Vec<(u64, Event)> = Vec::with_capacity(readings.len() + deeds.len() * 4);
    if params.initial_report {
        let report = match params.output {
            Output::Identity => Event::Pieces(men.clone()),
            _ => Event::Occupied(men.occupied()),
        };
        timed.push((0, report));
    }
    timed.extend(readings);
    timed.extend(match params.clock.kind {
        ClockKind::Exact => clock::run(control, params.clock, &deeds, end_us),
        ClockKind::Dgt => polled::run(control, &params.clock, &deeds, end_us, seed),
    });
    timed.extend(entered.map(|(at, result)| (at, Event::Result(result))));
    timed.sort_by_key(|(at, _)| *at);
    // A press may come after the last thing that the hands did on the board.
    let end_us = timed.last().map_or(end_us, |(at, _)| end_us.max(*at));
    let events = timed
        .into_iter()
        .map(|(at, event)| Stamped { at: MonoTime::from_micros(at), unit: Unit::A, event })
        .collect();
    Simulation { setup, events, truth: Truth { plies, touches, end_us } }
}
