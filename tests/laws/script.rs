//! Bytes as a game at a board: a set-up and what hands, players, arbiter, clock and cable do.
//!
//! About half of it makes sense (legal moves with their lifts, places and presses), the rest is
//! anything: men that come from nowhere, reports that show something else, results, lost links,
//! events that this kind of board does not have.

use serde_json::{Value, json};
use shakmaty::{Bitboard, CastlingMode, Color, Move, Piece, Position as _, Role, Square, uci::UciMove};
use touchmoved::{
    game::Board,
    session::{
        event::{ClockReading, Event, GameResult, Unit},
        io::Input,
        settings::OrientationSetting,
        setup::{BoardKind, GameSetup, INITIAL_FEN, Rules, Signal, UnitSetup},
        time::MonoTime,
    },
    wire::{
        dgt::{Message, message::Dump},
        sensor_log,
    },
};

use super::choices::Choices;

/// Longest script, in inputs.
const INPUTS: usize = 400;

const STANDARD: &[&str] = &[
    INITIAL_FEN,
    INITIAL_FEN,
    "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1",
    "4k3/P6P/8/8/8/8/p6p/4K3 w - - 0 1",
    "4k3/2p1p3/8/3P4/3pp3/8/2PP4/4K3 w - - 0 1",
    "7k/5Q2/8/6K1/8/8/8/8 w - - 0 1",
    "8/8/4k3/8/8/3K4/r7/8 b - - 0 1",
    "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4",
];

const CHESS960: &[&str] = &[
    "nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN w KQkq - 0 1",
    "rkrnbbqn/pppppppp/8/8/8/8/PPPPPPPP/RKRNBBQN w KQkq - 0 1",
    "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1",
    "1rk4r/8/8/8/8/8/8/1RK4R w KQkq - 0 1",
    "6kr/8/8/8/8/8/8/RK6 w Qk - 0 1",
];

const ORIENTATIONS: [&str; 4] = ["auto", "white-south", "white-south", "white-north"];

/// A game and everything that happens in it.
pub struct Script {
    pub setup: GameSetup,
    pub inputs: Vec<(MonoTime, Input)>,
}

impl Script {
    pub fn new(data: &[u8]) -> Script {
        let mut choices = Choices::new(data);
        let setup = setup(&mut choices);
        let board = Board::new(&setup).expect("the set-ups are legal");
        let men = board.session().position().board().clone();
        let turned = setup.settings.orientation == OrientationSetting::WhiteNorth
            || setup.settings.orientation == OrientationSetting::Auto && choices.byte() > 0xe0;
        let two_boards = setup.board == BoardKind::TwoBoard;
        let mut hands =
            Hands { choices, board, men, turned, two_boards, air: None, at: 0, inputs: Vec::new() };
        while !hands.choices.is_empty() && hands.inputs.len() < INPUTS {
            hands.step(setup.board == BoardKind::Dgt);
        }
        Script { inputs: hands.inputs, setup }
    }

    /// The same as a sensor log.
    pub fn sensor_log(&self) -> String {
        let mut board = Board::new(&self.setup).expect("the set-ups are legal");
        board.keep_events();
        self.inputs.iter().for_each(|(at, input)| board.input(*at, input));
        let events = std::iter::from_fn(|| board.poll_event()).map(|event| sensor_log::format_event(&event));
        let lines: Vec<String> = [sensor_log::format_header(&self.setup)].into_iter().chain(events).collect();
        lines.join("\n")
    }
}

fn setup(choices: &mut Choices<'_>) -> GameSetup {
    let mut setup = GameSetup {
        board: choices.pick(&[
            BoardKind::Reed,
            BoardKind::Dgt,
            BoardKind::Peg,
            BoardKind::Reed,
            BoardKind::TwoBoard,
            BoardKind::None,
        ]),
        ..GameSetup::default()
    };
    let start = choices.byte();
    if start & 0x80 == 0 {
        setup.start_fen = STANDARD[usize::from(start) % STANDARD.len()].to_owned();
        if start & 0x40 != 0 && setup.start_fen == INITIAL_FEN {
            setup.history = ["e2e4", "e7e5", "g1f3"].map(str::to_owned).to_vec();
        }
    } else {
        setup.castling = CastlingMode::Chess960;
        setup.start_fen = CHESS960[usize::from(start & 0x7f) % CHESS960.len()].to_owned();
    }
    let more = choices.byte();
    setup.signal = if more & 1 == 1 { Signal::Raw } else { Signal::Debounced };
    setup.rules = [Rules::Fide2023, Rules::Fide2005, Rules::Ua, Rules::Fide2023][usize::from(more >> 1 & 3)];
    let mut set = |key: &str, value: Value| setup.config.insert(key.to_owned(), value);
    set("board.orientation", json!(ORIENTATIONS[usize::from(more >> 3 & 3)]));
    if more & 0x20 != 0 {
        let ms = [0, 1, 30, 250, 3000, 60_000];
        set("touch.release_dwell_ms", json!(choices.pick(&ms[..5])));
        set("publish.extend_ms", json!(choices.pick(&ms)));
        set("sensor.debounce_close_ms", json!(choices.pick(&ms[..4])));
        set("sensor.debounce_open_ms", json!(choices.pick(&ms[..4])));
    }
    if more & 0x80 != 0 {
        let controls = ["300+2", "2/60d3:1/5b1:10", "1|40/5400+30:1800+30", "0+1"];
        choices.pick(&controls).clone_into(&mut setup.time_control);
        set("clock.kind", json!(choices.pick(&["own", "own", "none", "external"])));
        set("clock.think_times", json!(choices.flag()));
    }
    setup.settings.apply(&setup.config).expect("the settings are in their ranges");
    // Of two boards the first one is read as a single board is, the second one as it comes.
    let settings = setup.settings;
    let [first, _] = &mut setup.units;
    *first = UnitSetup { signal: setup.signal, ..UnitSetup::new(first.kind, &settings) };
    if more & 0x40 != 0 {
        let standing = setup.position().expect("the set-ups are legal").board().occupied();
        let wrong = (0..choices.below(4)).fold(Bitboard::EMPTY, |wrong, _| wrong.with(square(choices)));
        setup.start_occupied = Some(standing ^ wrong);
    }
    setup
}

fn square(choices: &mut Choices<'_>) -> Square {
    Square::new(u32::from(choices.byte() & 63))
}

fn side(choices: &mut Choices<'_>) -> Color {
    Color::from_white(choices.flag())
}

/// Hands at a board that is read by a session of its own, which tells what would be legal.
struct Hands<'a> {
    choices: Choices<'a>,
    board: Board,
    /// What stands on the board, as it is played.
    men: shakmaty::Board,
    turned: bool,
    two_boards: bool,
    air: Option<Piece>,
    at: u64,
    inputs: Vec<(MonoTime, Input)>,
}

impl Hands<'_> {
    fn step(&mut self, identity: bool) {
        self.wait();
        match self.choices.byte() % 32 {
            0..=11 => {
                self.tidy(identity);
                self.play(identity);
            }
            12..=15 => self.play(identity),
            16..=18 => self.toggle(identity),
            19 => {
                let turn = self.board.session().position().turn();
                self.event(Event::Press(turn));
            }
            20 => {
                let side = side(&mut self.choices);
                self.event(Event::Press(side));
            }
            21..=23 => self.report(identity),
            24 | 25 => self.take_back(identity),
            26 => self.clock(),
            27 => self.arbiter(),
            28 => self.cable(),
            29 => self.bytes(),
            30 => self.bounce(),
            _ => self.anything(),
        }
    }

    fn wait(&mut self) {
        let byte = u64::from(self.choices.byte());
        let ms = match byte % 8 {
            0 => 0,
            1 => byte / 8,
            2 => 20 + byte,
            3..=5 => byte * 5,
            6 => byte * 40,
            _ => byte * 250,
        };
        self.at = self.at.saturating_add(ms * 1000);
    }

    fn input(&mut self, input: Input) {
        // Of two boards now one and now the other is at work.
        let second = self.two_boards && self.inputs.len() / 8 % 2 == 1;
        let input = if second { input.of_second() } else { input };
        let at = MonoTime::from_micros(self.at);
        self.board.input(at, &input);
        while self.board.poll_fact().is_some() {}
        self.inputs.push((at, input));
    }

    fn event(&mut self, event: Event) {
        self.input(event.into());
    }

    fn raw(&self, square: Square) -> Square {
        if self.turned { square.rotate_180() } else { square }
    }

    fn lift(&mut self, square: Square, identity: bool) {
        let Some(man) = self.men.remove_piece_at(square) else { return };
        self.air = Some(man);
        let square = self.raw(square);
        self.event(if identity {
            Event::Piece { square, piece: None }
        } else {
            Event::Square { square, occupied: false }
        });
    }

    fn place(&mut self, square: Square, man: Piece, identity: bool) {
        self.men.set_piece_at(square, man);
        let square = self.raw(square);
        self.event(if identity {
            Event::Piece { square, piece: Some(man) }
        } else {
            Event::Square { square, occupied: true }
        });
    }

    /// One of the legal moves, in one of several orders, with or without the press.
    fn play(&mut self, identity: bool) {
        let position = self.board.session().position().clone();
        let moves = position.legal_moves();
        let style = self.choices.byte();
        let Some(&mv) = moves.get(self.choices.below(moves.len())) else { return };
        let turn = position.turn();
        let Some(from) = mv.from() else { return };
        let mut lifts = vec![from];
        let mut places = Vec::new();
        match mv {
            Move::Castle { king, rook } => {
                let short = mv.castling_side().is_some_and(|side| side.is_king_side());
                let to = |file: u32| Square::from_coords(shakmaty::File::new(file), king.rank());
                lifts.push(rook);
                places.push((to(if short { 6 } else { 2 }), Role::King.of(turn)));
                places.push((to(if short { 5 } else { 3 }), Role::Rook.of(turn)));
            }
            _ => {
                if mv.is_capture() {
                    let en_passant = Square::from_coords(mv.to().file(), from.rank());
                    lifts.push(if mv.is_en_passant() { en_passant } else { mv.to() });
                }
                places.push((mv.to(), mv.promotion().unwrap_or(mv.role()).of(turn)));
            }
        }
        if style & 1 != 0 {
            lifts.reverse();
        }
        if style & 2 != 0 {
            places.reverse();
        }
        let gap = u64::from(style >> 4) * 40_000;
        if style & 12 == 12 {
            // The last man is forgotten.
            places.pop();
        }
        for square in lifts {
            self.lift(square, identity);
            self.at = self.at.saturating_add(gap);
        }
        for (square, man) in places {
            self.place(square, man, identity);
            self.at = self.at.saturating_add(gap);
        }
        if style & 12 != 0 {
            self.event(Event::Press(turn));
        }
    }

    /// Puts the men where the session believes them, and lets the game go on.
    fn tidy(&mut self, identity: bool) {
        let session = self.board.session();
        let wanted = session.position().board().clone();
        let (paused, over) = (session.is_paused(), session.result() != GameResult::Ongoing);
        let turn = session.position().turn();
        if over {
            self.event(Event::Result(GameResult::Ongoing));
        }
        if paused {
            self.event(Event::Run(turn));
        }
        if self.men == wanted {
            return;
        }
        if self.choices.below(4) == 0 {
            self.men = wanted;
            self.show(self.men.clone(), identity);
            return;
        }
        for square in Square::ALL {
            if self.men.piece_at(square) != wanted.piece_at(square) {
                self.lift(square, identity);
                if let Some(man) = wanted.piece_at(square) {
                    self.place(square, man, identity);
                }
                self.at = self.at.saturating_add(300_000);
            }
        }
    }

    /// The men go back to where they stood a ply earlier, while they stand as the session believes.
    fn take_back(&mut self, identity: bool) {
        let session = self.board.session();
        let Some(last) = session.plies().last().and_then(|ply| ply.uci.parse::<UciMove>().ok()) else {
            return;
        };
        if let UciMove::Normal { from, to, .. } = last
            && let Some(man) = self.men.piece_at(to)
        {
            self.lift(to, identity);
            self.wait();
            self.place(from, man, identity);
        }
    }

    fn toggle(&mut self, identity: bool) {
        let square = square(&mut self.choices);
        if self.men.piece_at(square).is_some() {
            self.lift(square, identity);
        } else {
            let man = self.air.take().unwrap_or(Role::Pawn.of(Color::White));
            self.place(square, man, identity);
        }
    }

    fn report(&mut self, identity: bool) {
        let mut men = self.men.clone();
        for _ in 0..self.choices.below(4) {
            let square = square(&mut self.choices);
            if men.remove_piece_at(square).is_none() {
                men.set_piece_at(square, self.air.unwrap_or(Role::Queen.of(Color::Black)));
            }
        }
        if self.choices.byte() > 0xc0 {
            self.men = men.clone();
        }
        self.show(men, identity);
    }

    fn show(&mut self, mut men: shakmaty::Board, identity: bool) {
        if self.turned {
            men.rotate_180();
        }
        self.event(if identity { Event::Pieces(men) } else { Event::Occupied(men.occupied()) });
    }

    fn clock(&mut self) {
        let event = match self.choices.below(4) {
            0 => Event::Pause,
            1 => Event::Run(side(&mut self.choices)),
            2 => Event::Flag(side(&mut self.choices)),
            _ => Event::Times(ClockReading {
                white_ms: Some(self.choices.u64()),
                black_ms: self.choices.flag().then_some(1000),
                running: self.choices.flag().then_some(Color::White),
            }),
        };
        self.event(event);
    }

    fn arbiter(&mut self) {
        let results = [GameResult::Ongoing, GameResult::WhiteWins, GameResult::BlackWins, GameResult::Draw];
        let event = match self.choices.below(8) {
            6 => Event::Arbiter(json!(self.choices.pick(&["run", "run white", "pause", "period-added"]))),
            7 => {
                let commands = ["set clock black 900", "extra-time both -2000", "penalty bonus white 5000"];
                Event::Arbiter(json!(self.choices.pick(&commands)))
            }
            0..=2 => Event::Result(self.choices.pick(&results)),
            3 => Event::Arbiter(json!({"position": INITIAL_FEN})),
            4 => Event::Arbiter(json!("resume")),
            _ => {
                // Kings in the centre.
                for square in [Square::E4, Square::D5] {
                    let king = Role::King.of(side(&mut self.choices));
                    let stood = (self.men.kings() & self.men.by_color(king.color)).first();
                    self.men.discard_piece_at(square);
                    if let Some(stood) = stood {
                        self.men.discard_piece_at(stood);
                    }
                    self.men.set_piece_at(square, king);
                }
                let occupied = self.men.occupied();
                Event::Occupied(if self.turned { occupied.rotate_180() } else { occupied })
            }
        };
        self.event(event);
    }

    fn cable(&mut self) {
        let up = self.choices.flag();
        let event = if self.choices.flag() { Event::Link(up) } else { Event::Power(up) };
        self.event(event);
    }

    fn bytes(&mut self) {
        let n = self.choices.below(12);
        let mut bytes = self.choices.take(n).to_vec();
        if self.choices.flag() {
            bytes.extend(Message::Board(Box::new(Dump::of(&self.men))).encode());
        }
        self.input(Input::Dgt(Unit::A, bytes));
    }

    fn bounce(&mut self) {
        let square = square(&mut self.choices);
        for n in 0..self.choices.below(8) {
            self.at = self.at.saturating_add(700 * n as u64);
            self.event(Event::Square { square, occupied: n % 2 == 0 });
        }
    }

    /// Events that no hand makes, and stamps that no clock gives.
    fn anything(&mut self) {
        let square = square(&mut self.choices);
        match self.choices.below(10) {
            0 => self.event(Event::Tick),
            1 => self.input(Input::Event(Unit::B, Event::Square { square, occupied: false })),
            2 => self.at = self.at.saturating_sub(2_000_000),
            3 => self.at = self.at.saturating_add(self.choices.u64() >> self.choices.below(64)),
            4 => self.event(Event::Expect("e2e4".to_owned())),
            5 => self.event(Event::Button("white-draw".to_owned())),
            6 => self.event(Event::Piece { square, piece: Some(Role::King.of(Color::White)) }),
            7 => self.event(Event::Square { square, occupied: square.file() > shakmaty::File::D }),
            8 => {
                let occupied = Bitboard(self.choices.u64());
                self.event(Event::Occupied(occupied));
            }
            _ => self.event(Event::Pieces(shakmaty::Board::empty())),
        }
    }
}
