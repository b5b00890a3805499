//! Random legal games under random hands.
#![allow(dead_code)]

use std::{fmt, ops::Range};

use proptest::{prelude::*, test_runner::contextualize_config};
use shakmaty::{CastlingMode, Move, Position as _, uci::UciMove};
use touchmoved::{
    session::{
        Session,
        event::{Event, GameResult, Stamped},
        setup::{GameSetup, INITIAL_FEN},
    },
    simulate::{
        Game,
        params::{Level, Mishaps, Params, Rate},
        simulate,
    },
    wire::sensor_log::{format_event, format_header},
};

/// Where games begin: the initial position most of the time, Chess960, and the middle and the end of
/// games that are rich in promotions, en passant and castling.
const STARTS: [(CastlingMode, &str); 12] = [
    (CastlingMode::Standard, INITIAL_FEN),
    (CastlingMode::Standard, INITIAL_FEN),
    (CastlingMode::Standard, INITIAL_FEN),
    (CastlingMode::Standard, "r3k2r/pp1b1ppp/2n1pn2/q2p4/1b1P4/2NBPN2/PP1B1PPP/R2QK2R w KQkq - 4 10"),
    (CastlingMode::Standard, "2r3k1/1P3ppp/4p3/p2pP3/3P1Pp1/P5P1/1p5P/2R3K1 b - f3 0 31"),
    (CastlingMode::Standard, "4k3/P5PP/8/8/1Pp5/8/p5p1/4K3 b - b3 0 40"),
    (CastlingMode::Standard, "1n2kb2/P1P2ppp/8/3pP3/3Pp3/8/1p3PPP/2N1KB2 w - d6 0 33"),
    (CastlingMode::Standard, "8/1k3p2/2p3p1/1p1p3p/pP1P3P/P1P3P1/5PK1/8 w - - 0 44"),
    (CastlingMode::Chess960, "nrkqbbrn/pppppppp/8/8/8/8/PPPPPPPP/NRKQBBRN w BGbg - 0 1"),
    (CastlingMode::Chess960, "bqnnrkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNNRKRB w GEge - 0 1"),
    (CastlingMode::Chess960, "rkr5/pppppppp/8/8/8/8/PPPPPPPP/RKR5 w CAca - 0 1"),
    (CastlingMode::Chess960, "1rk4r/1pp3pp/8/8/8/8/1PP3PP/1RK4R b HBhb - 3 20"),
];

/// A game and the hands that play it.
#[derive(Clone)]
pub struct Played {
    pub setup: GameSetup,
    pub events: Vec<Stamped>,
    /// The moves that are played.
    pub moves: Vec<String>,
}

/// A failure shows the game as a sensor log, which `touchmoved replay` reads.
impl fmt::Debug for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}", self.moves.join(" "), format_header(&self.setup))?;
        let clock = |stamped: &&Stamped| !matches!(stamped.event, Event::Times(_));
        self.events.iter().filter(clock).try_for_each(|stamped| writeln!(f, "{}", format_event(stamped)))
    }
}

/// A random legal game: the choices pick among the legal moves, captures, castling and promotions
/// first now and then, so that they occur.
fn random_game(start: usize, choices: &[u16]) -> (GameSetup, Vec<String>) {
    let (castling, fen) = STARTS[start % STARTS.len()];
    let setup = GameSetup { castling, start_fen: fen.to_owned(), ..GameSetup::default() };
    let mut position = setup.position().unwrap();
    let mut moves = Vec::new();
    for choice in choices {
        let legal = position.legal_moves();
        let lively: Vec<Move> = legal
            .iter()
            .copied()
            .filter(|mv| mv.is_capture() || mv.is_castle() || mv.is_promotion())
            .collect();
        let pool = if choice % 3 == 0 && !lively.is_empty() { &lively[..] } else { &legal[..] };
        if pool.is_empty() || position.is_insufficient_material() {
            break;
        }
        let mv = pool[usize::from(*choice / 3) % pool.len()];
        moves.push(UciMove::from_move(mv, castling).to_string());
        position.play_unchecked(mv);
    }
    (setup, moves)
}

/// Games of `plies` half-moves at most, under the hands of `params`.
pub fn games(plies: Range<usize>, params: impl Strategy<Value = Params>) -> impl Strategy<Value = Played> {
    games_from(0..STARTS.len(), plies, params)
}

/// The same, all from the initial position.
pub fn from_the_start(
    plies: Range<usize>,
    params: impl Strategy<Value = Params>,
) -> impl Strategy<Value = Played> {
    games_from(0..1, plies, params)
}

fn games_from(
    starts: Range<usize>,
    plies: Range<usize>,
    params: impl Strategy<Value = Params>,
) -> impl Strategy<Value = Played> {
    let choices = proptest::collection::vec(any::<u16>(), plies);
    (starts, choices, params, any::<u64>()).prop_map(|(start, choices, params, seed)| {
        let (setup, moves) = random_game(start, &choices);
        let game = Game { setup, moves: moves.clone(), think_ms: Vec::new(), result: GameResult::Ongoing };
        let simulation = simulate(&game, &params, seed).unwrap();
        Played { setup: simulation.setup, events: simulation.events, moves }
    })
}

/// The hands of a level, with settled changes or with edges.
pub fn level(level: Level) -> impl Strategy<Value = Params> {
    any::<bool>().prop_map(move |raw| {
        let params = Params::level(level);
        if raw { params } else { params.debounced() }
    })
}

/// Hands with any share of each mishap, up to twice that of a blitz scramble, in any hurry.
pub fn any_hands() -> impl Strategy<Value = Params> {
    let levels = prop_oneof![Just(Level::Clean), Just(Level::Tournament), Just(Level::Chaos)];
    (levels.prop_flat_map(level), any::<[u8; 28]>()).prop_map(|(mut params, shares)| {
        let mut shares = shares.into_iter();
        let mut share =
            |rate: Rate| Rate::new(rate.per_100_000() * u32::from(shares.next().unwrap_or(0)) / 128);
        let most = Params::level(Level::Chaos).mishaps;
        params.mishaps = Mishaps {
            slide: share(most.slide),
            hover: share(most.hover),
            brush: share(most.brush),
            nudge: share(most.nudge),
            swept: share(most.swept),
            unseen_victim: share(most.unseen_victim),
            adjust_own: share(most.adjust_own),
            adjust_opponent: share(most.adjust_opponent),
            adjust_idle: share(most.adjust_idle),
            adjust_more: share(most.adjust_more),
            recentre: share(most.recentre),
            dropout: share(most.dropout),
            off_centre: share(most.off_centre),
            sticky: share(most.sticky),
            early_touch: share(most.early_touch),
            early_reply: share(most.early_reply),
            long_think: share(most.long_think),
            press_forgotten: share(most.press_forgotten),
            press_lost: share(most.press_lost),
            press_stray: share(most.press_stray),
            premature_press: share(most.premature_press),
            press_after_end_missing: share(most.press_after_end_missing),
            take_back: share(most.take_back),
            illegal: share(most.illegal),
            illegal_pressed: share(most.illegal_pressed),
            illegal_pressed_back: share(most.illegal_pressed_back),
            knock: share(most.knock),
            castle_tap: share(most.castle_tap),
        };
        params
    })
}

/// So many cases, unless `PROPTEST_CASES` says otherwise.
pub fn cases(cases: u32) -> ProptestConfig {
    contextualize_config(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() })
}

/// Moves without the piece that a pawn became, which no occupancy board can tell.
pub fn without_promotions<'a>(moves: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    moves.into_iter().map(|uci| uci.get(..4).unwrap_or(uci).to_owned()).collect()
}

/// The moves that a session found, without promotion pieces.
pub fn found(session: &Session) -> Vec<String> {
    without_promotions(session.best_line().iter())
}
