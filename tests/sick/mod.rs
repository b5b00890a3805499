//! Random games that simulated hands play, on a board with one sick square.

use crate::play::play;
use shakmaty::{Bitboard, Board, CastlingMode, Move, Piece, Position as _, Role, Square, uci::UciMove};
use touchmoved::{
    session::{
        event::{Event, GameResult, Stamped},
        fact::{Fact, FactKind},
        setup::{BoardKind, GameSetup},
        time::MonoTime,
    },
    simulate::{
        Game, Simulation,
        params::{Level, Params},
        simulate,
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    None,
    Stuck,
    Dead,
    Chatter,
    /// The diode of the square lets current through both ways.
    Diode,
    /// The man that starts on the square reads as another one wherever it stands.
    Misread,
}

/// What is wrong with which square, and from which ply on.
#[derive(Clone, Copy, Debug)]
pub struct Sickness {
    kind: Kind,
    square: Square,
    from_ply: usize,
}

impl Sickness {
    pub fn none() -> Sickness {
        Sickness { kind: Kind::None, square: Square::A1, from_ply: 0 }
    }
    pub fn stuck(square: Square, from_ply: usize) -> Sickness {
        Sickness { kind: Kind::Stuck, square, from_ply }
    }
    pub fn dead(square: Square, from_ply: usize) -> Sickness {
        Sickness { kind: Kind::Dead, square, from_ply }
    }
    pub fn misread(square: Square) -> Sickness {
        Sickness { kind: Kind::Misread, square, from_ply: 0 }
    }
    pub fn diode(square: Square) -> Sickness {
        Sickness { kind: Kind::Diode, square, from_ply: 0 }
    }
    pub fn chatter(square: Square, from_ply: usize) -> Sickness {
        Sickness { kind: Kind::Chatter, square, from_ply }
    }
}

/// A small generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// A random legal game that looks a little like chess: captures now and then, no promotions.
fn game(seed: u64, plies: usize) -> Game {
    let setup = GameSetup::default();
    let mut numbers = Numbers(seed.wrapping_mul(77) + 5);
    let mut position = setup.position().unwrap();
    let mut moves = Vec::new();
    for _ in 0..plies {
        let legal: Vec<_> = position.legal_moves().into_iter().filter(|mv| !mv.is_promotion()).collect();
        let lively: Vec<_> = legal.iter().copied().filter(|mv| mv.is_capture() || mv.is_castle()).collect();
        let pool = if numbers.next(3) == 0 && !lively.is_empty() { &lively } else { &legal };
        if pool.is_empty() || position.is_insufficient_material() {
            break;
        }
        let mv = pool[numbers.next(pool.len() as u64) as usize];
        moves.push(UciMove::from_move(mv, CastlingMode::Standard).to_string());
        position.play_unchecked(mv);
    }
    Game { setup, moves, think_ms: Vec::new(), result: GameResult::Ongoing }
}

/// The game as simulated hands play it and as a sick board shows it.
fn sick_events(simulation: &Simulation, sickness: Sickness, numbers: &mut Numbers) -> Vec<Stamped> {
    let from = match sickness.from_ply {
        0 => 0,
        ply => simulation.truth.plies.get(ply - 1).map_or(u64::MAX, |ply| ply.made_us + 700_000),
    };
    let square = sickness.square;
    let mut real = Board::new().occupied();
    let mut shown = real;
    let mut out: Vec<Stamped> = Vec::new();
    let mut chatter_at = from;
    if sickness.from_ply == 0 {
        match sickness.kind {
            Kind::Stuck => shown.add(square),
            Kind::Dead => shown.discard(square),
            _ => {}
        }
        out.push(Stamped { at: MonoTime::ZERO, unit: Default::default(), event: Event::Occupied(shown) });
    }
    let change = |out: &mut Vec<Stamped>, shown: &mut Bitboard, us: u64, occupied: bool| {
        if shown.contains(square) != occupied {
            shown.set(square, occupied);
            let event = Event::Square { square, occupied };
            out.push(Stamped { at: MonoTime::from_micros(us), unit: Default::default(), event });
        }
    };
    for stamped in &simulation.events {
        let us = stamped.at.as_micros();
        let on = us >= from;
        if sickness.kind == Kind::Chatter {
            // Bursts of two seconds, with pauses.
            while chatter_at < us {
                let occupied = !shown.contains(square);
                change(&mut out, &mut shown, chatter_at, occupied);
                chatter_at +=
                    if numbers.next(40) == 0 { 4_000_000 } else { 20_000 + numbers.next(90) * 1000 };
            }
        }
        if on && sickness.kind == Kind::Dead {
            change(&mut out, &mut shown, us, false);
        }
        match &stamped.event {
            Event::Square { square: changed, occupied } => {
                real.set(*changed, *occupied);
                if sickness.kind == Kind::Diode {
                    let reads = real | ghosts(square, real);
                    for other in reads ^ shown {
                        let occupied = reads.contains(other);
                        out.push(Stamped {
                            event: Event::Square { square: other, occupied },
                            ..stamped.clone()
                        });
                    }
                    shown = reads;
                    continue;
                }
                let hidden = *changed == square
                    && on
                    && match sickness.kind {
                        Kind::None | Kind::Diode | Kind::Misread => false,
                        Kind::Stuck => shown.contains(square),
                        Kind::Dead | Kind::Chatter => true,
                    };
                if !hidden && shown.contains(*changed) != *occupied {
                    shown.set(*changed, *occupied);
                    out.push(stamped.clone());
                }
            }
            // Every board reports itself first; a sick one has done so.
            Event::Occupied(_) if sickness.from_ply == 0 => {}
            _ => out.push(stamped.clone()),
        }
    }
    out
}

/// Squares that are joined to the rank of a closed contact through its shorted diode.
fn ghosts(shorted: Square, closed: Bitboard) -> Bitboard {
    let mut found = Bitboard::EMPTY;
    if closed.contains(shorted) {
        for beside in closed.into_iter().filter(|beside| beside.rank() == shorted.rank()) {
            for above in closed.into_iter().filter(|above| above.file() == shorted.file()) {
                found.add(Square::from_coords(beside.file(), above.rank()));
            }
        }
    }
    found
}

/// What a bad tag reads as.
fn misreading(man: Piece) -> Piece {
    let role = if man.role == Role::Bishop { Role::Knight } else { Role::Bishop };
    Piece { role, ..man }
}

/// Puts the identities into the events: each man is read as it is placed.
fn identities(
    moves: &[String],
    simulation: &Simulation,
    events: &[Stamped],
    sickness: Sickness,
) -> Vec<Stamped> {
    let mut position = simulation.setup.position().unwrap();
    let mut boards = vec![(0, position.board().clone())];
    // Where the man stands that reads as another one, until it is captured.
    let mut misread = (sickness.kind == Kind::Misread).then_some(sickness.square);
    let mut stands = vec![misread];
    for (uci, truth) in moves.iter().zip(&simulation.truth.plies) {
        let mv = uci.parse::<UciMove>().unwrap().to_move(&position).unwrap();
        position.play_unchecked(mv);
        misread = match (misread, mv) {
            (Some(king), Move::Castle { king: from, .. }) if king == from => {
                position.board().king_of(!position.turn())
            }
            (Some(square), mv) if mv.from() == Some(square) => Some(mv.to()),
            (Some(square), mv) if mv.is_capture() && mv.to() == square => None,
            (other, _) => other,
        };
        stands.push(misread);
        boards.push((truth.start_us, position.board().clone()));
    }
    let man_at = |us: u64, square: Square| -> Option<Piece> {
        // The board after the move that is under way, or before it for a man that stands still.
        let index = boards.iter().rposition(|(start, _)| *start <= us).unwrap();
        let after = boards[index].1.piece_at(square);
        let before = index.saturating_sub(1);
        if after.is_some() && stands[index] == Some(square)
            || after.is_none() && stands[before] == Some(square)
        {
            return after.or(boards[before].1.piece_at(square)).map(misreading);
        }
        after.or_else(|| boards.get(index.saturating_sub(1)).and_then(|(_, board)| board.piece_at(square)))
    };
    events
        .iter()
        .map(|stamped| {
            let us = stamped.at.as_micros();
            let man = |square| man_at(us, square).unwrap_or(Role::Pawn.of(shakmaty::Color::White));
            let event = match &stamped.event {
                Event::Square { square, occupied } => {
                    Event::Piece { square: *square, piece: occupied.then(|| man(*square)) }
                }
                Event::Occupied(occupied) => {
                    let mut board = Board::empty();
                    for square in *occupied {
                        board.set_piece_at(square, man(square));
                    }
                    Event::Pieces(board)
                }
                other => other.clone(),
            };
            Stamped { event, ..stamped.clone() }
        })
        .collect()
}

pub struct Outcome {
    pub played: Vec<String>,
    pub found: Vec<String>,
    pub facts: Vec<Fact>,
    pub doubts: Vec<usize>,
    pub sickness: Sickness,
}

pub fn run(seed: u64, sickness: Sickness, level: Level, identity: bool) -> Outcome {
    let game = game(seed, 60);
    let params = Params::level(level).debounced();
    let simulation = simulate(&game, &params, seed).unwrap();
    let mut events = sick_events(&simulation, sickness, &mut Numbers(seed + 1));
    let mut setup = simulation.setup.clone();
    if identity {
        setup.board = BoardKind::Dgt;
        events = identities(&game.moves, &simulation, &events, sickness);
    }
    if std::env::var("SICK_LOG").is_ok_and(|wanted| wanted == seed.to_string()) {
        println!("\n{}", touchmoved::wire::sensor_log::format_header(&setup));
        for stamped in &events {
            println!("{}", touchmoved::wire::sensor_log::format_event(stamped));
        }
    }
    let (session, facts) = play(&setup, &events);
    Outcome {
        found: session.plies().map(|ply| ply.uci.into()).collect(),
        played: game.moves,
        facts,
        doubts: session.doubts(),
        sickness,
    }
}

/// How many games came out how.
#[derive(Debug, Default)]
pub struct Tally {
    pub games: usize,
    pub exact: usize,
    /// Not exact, and said so.
    pub doubted: usize,
    /// Published moves that were not played.
    pub invented: usize,
    /// Games in which the sick square was reported.
    pub reported: usize,
    /// Games in which another square was reported.
    pub accused: usize,
    wrong: Vec<u64>,
}

impl Tally {
    pub fn add(&mut self, seed: u64, outcome: &Outcome) {
        self.games += 1;
        if outcome.found == outcome.played {
            self.exact += 1;
        } else {
            self.doubted += usize::from(!outcome.doubts.is_empty());
            self.wrong.push(seed);
            if std::env::var("SICK_SHOW").is_ok() {
                let same = outcome.played.iter().zip(&outcome.found).take_while(|(a, b)| a == b).count();
                let around = |list: &[String]| {
                    list.iter().skip(same.saturating_sub(1)).take(4).cloned().collect::<Vec<_>>().join(" ")
                };
                println!(
                    "  {seed} {:?} ply {} of {}: {} / {} doubts {:?}",
                    outcome.sickness,
                    same + 1,
                    outcome.played.len(),
                    around(&outcome.played),
                    around(&outcome.found),
                    outcome.doubts.first()
                );
            }
        }
        let mut public: Vec<String> = Vec::new();
        let mut accused = false;
        let mut reported = false;
        for fact in &outcome.facts {
            match &fact.kind {
                FactKind::MovePublished { ply, uci, .. } => {
                    self.invented +=
                        usize::from(outcome.played.get(ply - 1).map(String::as_str) != Some(uci.as_str()));
                    public.push(uci.to_string());
                }
                FactKind::Advisory { code: "sensor-ghost", squares, .. } => {
                    reported |= squares.contains(outcome.sickness.square);
                }
                FactKind::Advisory { code: "sensor-faulty", squares, .. } => {
                    let right = *squares == Bitboard::from_square(outcome.sickness.square)
                        && outcome.sickness.kind != Kind::None;
                    reported |= right;
                    accused |= !right;
                }
                _ => {}
            }
        }
        self.reported += usize::from(reported);
        self.accused += usize::from(accused);
    }
}
