//! What there is to show while the men are set up.

use shakmaty::{Bitboard, Position as _};

use super::Lit;
use crate::session::{
    event::{Event, Unit},
    fact::{Fact, FactKind, law::LawFact},
    io::Input,
    settings::OrientationSetting,
    setup::{BoardKind, GameSetup},
};

/// The set-up of one game. A square is shown from the first report until it reads right for the first time, and
/// never again, so that no LED tells a lift. With all squares right, or with the first press, button, command,
/// running clock, touch or move, it is over.
#[derive(Clone, Debug)]
pub struct SetUp {
    over: bool,
    units: [OneBoard; 2],
}

/// The set-up of one of the boards.
#[derive(Clone, Debug)]
struct OneBoard {
    /// The occupied squares of the start, for each way in which the board may lie.
    start: Vec<Bitboard>,
    /// What has not been right yet, for each of them; empty before the first report.
    wrong: Vec<Bitboard>,
}

impl OneBoard {
    fn new(start: Bitboard, orientation: OrientationSetting) -> OneBoard {
        let start = match orientation {
            OrientationSetting::WhiteSouth => vec![start],
            OrientationSetting::WhiteNorth => vec![start.rotate_180()],
            OrientationSetting::Auto => {
                vec![start, start.rotate_180(), start.rotate_90(), start.rotate_270()]
            }
        };
        OneBoard { start, wrong: Vec::new() }
    }

    fn take(&mut self, event: &Event) {
        let (known, occupied) = match event {
            Event::Square { square, occupied } => {
                let one = Bitboard::from_square(*square);
                (one, if *occupied { one } else { Bitboard::EMPTY })
            }
            Event::Occupied(all) => {
                if self.wrong.is_empty() {
                    self.wrong = vec![Bitboard::FULL; self.start.len()];
                }
                (Bitboard::FULL, *all)
            }
            _ => return,
        };
        for (wrong, start) in self.wrong.iter_mut().zip(&self.start) {
            *wrong &= !known | (occupied ^ *start);
        }
    }

    /// The fewest squares that would make it right.
    fn wrong(&self) -> Option<Bitboard> {
        self.wrong.iter().copied().min_by_key(|wrong| wrong.count())
    }
}

impl SetUp {
    /// The set-up of a game that has not begun; over where no game can start from its position.
    pub fn new(setup: &GameSetup) -> SetUp {
        let start = setup.position().ok().map(|position| position.board().occupied());
        let orientation = |unit: Unit| match setup.board {
            BoardKind::TwoBoard => unit.of(&setup.units).orientation,
            _ => setup.settings.orientation,
        };
        let units = Unit::ALL.map(|unit| match (unit, setup.board) {
            (Unit::A, _) | (_, BoardKind::TwoBoard) => {
                OneBoard::new(start.unwrap_or_default(), orientation(unit))
            }
            (Unit::B, _) => OneBoard { start: Vec::new(), wrong: vec![Bitboard::EMPTY] },
        });
        SetUp { over: start.is_none(), units }
    }

    /// Takes what a board or a person tells.
    pub fn input(&mut self, input: &Input) {
        match input {
            Input::Event(unit, event) => {
                self.over |= ends(event);
                unit.of_mut(&mut self.units).take(event);
            }
            Input::Peg(_, line) => {
                self.over |= line.starts_with("$PRESS,") || line.starts_with("$BUTTON,");
            }
            // What the bytes mean shows in the facts.
            Input::Dgt(..) => {}
        }
    }

    /// Takes what was concluded from it.
    pub fn fact(&mut self, fact: &Fact) {
        self.over |= match &fact.kind {
            FactKind::Advisory { .. } | FactKind::Orientation { .. } | FactKind::Contact { .. } => false,
            FactKind::Clock(reading) => reading.running.is_some(),
            FactKind::Law(law) => !matches!(
                **law,
                LawFact::Advisory(_)
                    | LawFact::Boards(_)
                    | LawFact::State(_)
                    | LawFact::CanMate { .. }
                    | LawFact::DeadCheck { .. }
            ),
            _ => true,
        };
    }

    /// What the LEDs of a board may show; nothing once it is set up, and nothing once the set-up is over.
    pub fn lit(&self, unit: Unit) -> Option<Lit> {
        let wrong = unit.of(&self.units).wrong();
        (!self.over && wrong != Some(Bitboard::EMPTY)).then(|| Lit(wrong.unwrap_or_default()))
    }
}

/// True for everything that does not happen while men are set up.
fn ends(event: &Event) -> bool {
    match event {
        Event::Square { .. }
        | Event::Piece { .. }
        | Event::Occupied(_)
        | Event::Pieces(_)
        | Event::Link(_)
        | Event::Power(_)
        | Event::Expect(_)
        | Event::Wall(_)
        | Event::Device(_)
        | Event::Tick => false,
        Event::Times(reading) => reading.running.is_some(),
        Event::Press(_)
        | Event::Pause
        | Event::Run(_)
        | Event::Flag(_)
        | Event::Button(_)
        | Event::Arbiter(_)
        | Event::Intended(_)
        | Event::Announce(_)
        | Event::Result(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::{Color, Square};

    use super::*;
    use crate::{
        game::Board,
        session::{event::ClockReading, fact::Certainty, time::MonoTime},
    };

    const START: Bitboard = Bitboard(0xffff_0000_0000_ffff);

    fn begun(men: Bitboard) -> SetUp {
        let mut set_up = SetUp::new(&GameSetup::default());
        set_up.input(&Event::Occupied(men).into());
        set_up
    }

    fn shown(set_up: &SetUp) -> Option<Bitboard> {
        set_up.lit(Unit::A).map(Lit::squares)
    }

    #[test]
    fn squares_go_out_one_by_one_and_stay_dark() {
        assert_eq!(shown(&SetUp::new(&GameSetup::default())), Some(Bitboard::EMPTY));
        let mut set_up = begun(START.without(Square::G1).without(Square::A7).with(Square::E4));
        let put = |set_up: &mut SetUp, square, occupied| {
            set_up.input(&Event::Square { square, occupied }.into());
            shown(set_up)
        };
        let wrong: Bitboard = [Square::G1, Square::A7, Square::E4].into_iter().collect();
        assert_eq!(shown(&set_up), Some(wrong));
        assert_eq!(put(&mut set_up, Square::A7, true), Some(wrong.without(Square::A7)));
        assert_eq!(put(&mut set_up, Square::E2, false), Some(wrong.without(Square::A7)), "no lift is told");
        set_up.input(&Event::Occupied(START.without(Square::A7).without(Square::G1)).into());
        assert_eq!(shown(&set_up), Some(Bitboard::from_square(Square::G1)));
        assert_eq!(put(&mut set_up, Square::G1, true), None);
        assert_eq!(put(&mut set_up, Square::G1, false), None, "set up is set up");
    }

    #[test]
    fn a_board_that_lies_another_way_is_set_up_all_the_same() {
        let fen = "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1";
        let setup = GameSetup { start_fen: fen.to_owned(), ..GameSetup::default() };
        let men: Bitboard = [Square::H8, Square::D8, Square::D1].into_iter().collect();
        let mut set_up = SetUp::new(&setup);
        set_up.input(&Event::Occupied(men.without(Square::H8)).into());
        assert_eq!(shown(&set_up), Some(Bitboard::from_square(Square::H8)));
        set_up.input(&Event::Occupied(men).into());
        assert_eq!(shown(&set_up), None);
    }

    #[test]
    fn everything_that_is_no_set_up_ends_it() {
        let runs = ClockReading { running: Some(Color::White), ..ClockReading::default() };
        let stands = ClockReading { running: None, ..runs };
        let wrong = START.without(Square::G1);
        for event in [
            Event::Press(Color::Black),
            Event::Run(Color::White),
            Event::Times(runs),
            Event::Pause,
            Event::Button("announce".to_owned()),
            Event::Arbiter("freeze".into()),
        ] {
            let mut set_up = begun(wrong);
            set_up.input(&Event::Times(stands).into());
            set_up.input(&Event::Link(true).into());
            assert!(shown(&set_up).is_some());
            set_up.input(&event.clone().into());
            assert_eq!(shown(&set_up), None, "{event:?}");
        }
        let mut set_up = begun(wrong);
        set_up.input(&Input::Peg(Unit::B, "$PRESS,1,B*0".to_owned()));
        assert_eq!((shown(&set_up), set_up.lit(Unit::B)), (None, None));
        let touch = FactKind::Touch {
            by: Color::White,
            square: Square::E2,
            piece: 'P',
            certainty: Certainty::Sensor,
        };
        let mut set_up = begun(wrong);
        set_up.fact(&Fact { ev: 1, at: MonoTime::ZERO, kind: touch });
        assert_eq!(shown(&set_up), None);
    }

    /// Men are put on an empty board one after the other, and the session listens.
    #[test]
    fn a_set_up_is_shown_to_its_last_man() {
        let setup = GameSetup::default();
        let (mut board, mut set_up) = (Board::new(&setup).unwrap(), SetUp::new(&setup));
        let mut left = START;
        let mut take = |event: Event, second: u64| {
            let input = event.into();
            board.input(MonoTime::ZERO.plus_ms(1000 * second), &input);
            set_up.input(&input);
            while let Some(fact) = board.poll_fact() {
                set_up.fact(&fact);
            }
            shown(&set_up)
        };
        assert_eq!(take(Event::Occupied(Bitboard::EMPTY), 1), Some(START));
        for (second, square) in (2..).zip(START) {
            left.discard(square);
            let expected = (!left.is_empty()).then_some(left);
            assert_eq!(take(Event::Square { square, occupied: true }, second), expected, "{square}");
        }
    }

    proptest! {
        /// Whatever the contacts do, no LED that was out is lit again.
        #[test]
        fn squares_only_go_out(men in any::<u64>(), steps in prop::collection::vec((0u32..64, any::<bool>()), 0..200)) {
            let setup = GameSetup {
                settings: crate::session::settings::Settings {
                    orientation: OrientationSetting::WhiteSouth,
                    ..Default::default()
                },
                ..GameSetup::default()
            };
            let mut set_up = SetUp::new(&setup);
            set_up.input(&Event::Occupied(Bitboard(men)).into());
            let mut before = shown(&set_up).unwrap_or_default();
            for (square, occupied) in steps {
                set_up.input(&Event::Square { square: Square::new(square), occupied }.into());
                let now = shown(&set_up).unwrap_or_default();
                prop_assert!(now.is_subset(before));
                before = now;
            }
        }
    }
}
