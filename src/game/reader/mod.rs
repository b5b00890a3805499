//! How one board is read: the decoders of the devices, and for each of two boards its own debouncing and the
//! way it lies. What one board sends never reaches the reader of the other one.

mod lie;

use shakmaty::Square;

use self::lie::Lie;
pub(super) use self::lie::TurnedOver;
use crate::{
    session::{
        debounce::Debouncer,
        event::{Event, Unit},
        settings::{OrientationSetting, Settings},
        setup::{BoardKind, GameSetup, Signal, UnitSetup},
        time::MonoTime,
    },
    wire::{
        dgt::{DgtDecoder, Orientation, memory::Squares},
        peg::PegDecoder,
    },
};

/// Reader of one board.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    pub dgt: DgtDecoder,
    pub peg: PegDecoder,
    /// A DGT board is told to lie turned: its decoder turns the squares, and what comes behind it does so, too.
    dgt_turned: bool,
    /// One of two boards; a game on one board leaves the rest to the session.
    pair: Option<OneOfTwo>,
}

#[derive(Clone, Debug)]
struct OneOfTwo {
    debouncer: Option<Debouncer>,
    /// It debounces by itself, so that a dip is noise.
    noisy: bool,
    lie: Lie,
}

/// What an event of a board comes to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Read {
    /// The same in the numbering of the game.
    Event(Event),
    /// A change that shows that the board lies turned: what was told before is taken back.
    Over(TurnedOver),
    /// An edge that has to rest first.
    Edge {
        /// A square whose contact was open for so many microseconds, too short to count.
        dip: Option<(Square, u64)>,
        /// Such a dip is noise: the board debounces by itself.
        noisy: bool,
    },
}

impl Reader {
    /// The readers of the boards of a game. The second one idles where there is one board.
    pub(super) fn pair(setup: &GameSetup, clock_turned: bool) -> [Reader; 2] {
        Unit::ALL.map(|unit| {
            let two_boards = (setup.board == BoardKind::TwoBoard).then(|| *unit.of(&setup.units));
            Reader::new(two_boards, setup, clock_turned)
        })
    }

    fn new(unit: Option<UnitSetup>, setup: &GameSetup, clock_turned: bool) -> Reader {
        let setting = unit.map_or(setup.settings.orientation, |unit| unit.orientation);
        let orientation = match setting {
            OrientationSetting::Auto => Orientation::Auto,
            OrientationSetting::WhiteSouth => Orientation::Normal,
            OrientationSetting::WhiteNorth => Orientation::Rotated,
        };
        Reader {
            dgt: DgtDecoder::new(orientation).with_clock_turned(clock_turned),
            peg: PegDecoder::new(),
            dgt_turned: setting == OrientationSetting::WhiteNorth,
            pair: unit.map(|unit| OneOfTwo {
                debouncer: debouncer(&unit, &setup.settings, setup),
                noisy: unit.signal == Signal::Debounced,
                lie: Lie::new(unit.orientation),
            }),
        }
    }

    /// The link to the board went down or came back.
    pub(super) fn link(&mut self, up: bool) {
        self.dgt.link(up);
        self.peg.link();
        if let Some(pair) = self.pair.as_mut().filter(|_| !up) {
            // Another board may come in its place.
            pair.lie.open();
        }
    }

    /// Decodes bytes of a DGT board that were read at `at`.
    pub(super) fn bytes(&mut self, at: MonoTime, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        self.dgt.push(at, bytes, &mut events);
        if self.dgt_turned {
            events.iter_mut().for_each(turn);
        }
        events
    }

    /// Decodes a line of a pegged board.
    pub(super) fn line(&mut self, line: &str) -> Vec<Event> {
        let mut events = Vec::new();
        self.peg.push(line, &mut events);
        events
    }

    /// What every square of a DGT board reads, in the board's own numbering.
    pub(super) fn dgt_squares(&self) -> Option<Squares> {
        self.dgt.squares()
    }

    /// An event of one of two boards. `seen` tells which way the board lies, as far as that is open.
    pub(super) fn read(&mut self, at: MonoTime, event: &Event, seen: &impl Seen) -> (Read, bool) {
        let Some(pair) = &mut self.pair else { return (Read::Event(event.clone()), false) };
        match (event, &mut pair.debouncer) {
            (Event::Square { square, occupied }, Some(debouncer)) => {
                let open_us = debouncer.edge(at, *square, *occupied);
                let dip = open_us.map(|us| (pair.lie.square(*square), us));
                return (Read::Edge { dip, noisy: pair.noisy }, false);
            }
            (Event::Occupied(occupied), Some(debouncer)) => debouncer.reset(*occupied),
            _ => {}
        }
        let (event, turned) = pair.lie.read(event, seen);
        match pair.lie.take_over() {
            Some(over) => (Read::Over(over), turned),
            None => (Read::Event(event), turned),
        }
    }

    /// When the next edge of one of two boards will have rested.
    pub(super) fn deadline(&self) -> Option<MonoTime> {
        self.pair.as_ref()?.debouncer.as_ref()?.deadline()
    }

    /// The next change that has rested by `now`, in the numbering of the game.
    pub(super) fn settled(&mut self, now: MonoTime, seen: &impl Seen) -> Option<Settled> {
        let pair = self.pair.as_mut()?;
        let lie = &pair.lie;
        let (_, square, occupied) = pair.debouncer.as_mut()?.next(now, |square| lie.square(square))?;
        let (event, turned) = pair.lie.read(&Event::Square { square, occupied }, seen);
        if let Some(over) = pair.lie.take_over() {
            return Some(Settled::Over(over));
        }
        match event {
            Event::Square { square, occupied } => Some(Settled::Change(square, occupied, turned)),
            _ => None,
        }
    }
}

/// A change of one of two boards that has rested.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Settled {
    /// In the numbering of the game, and whether it shows that the board lies turned.
    Change(Square, bool, bool),
    /// It shows that, and what was told before is taken back.
    Over(TurnedOver),
}

/// What is known of a game while one of its boards is read.
pub(super) trait Seen {
    /// The squares that are occupied after the moves that were made.
    fn game(&self) -> shakmaty::Bitboard;
    /// The squares that were occupied on the board when it was told last, or at the start.
    fn shown(&self) -> shakmaty::Bitboard;
    /// True when a man may leave this square of the board next: it belongs to a move that has to be mirrored,
    /// or its player may touch it.
    fn expects(&self, square: Square) -> bool;
    /// True when the player of the board has the move and may touch the man on this square.
    fn may_touch(&self, square: Square) -> bool;
}

fn debouncer(unit: &UnitSetup, settings: &Settings, setup: &GameSetup) -> Option<Debouncer> {
    use shakmaty::Position as _;
    let rests = match (unit.signal, settings.min_lift_ms) {
        (Signal::Raw, _) => (unit.debounce_close_ms, unit.debounce_open_ms),
        (Signal::Debounced, Some(open_ms)) => (0, open_ms),
        (Signal::Debounced, None) => return None,
    };
    let stands = setup.position().ok().map(|position| position.board().occupied());
    let occupied = setup.start_occupied.or(stands).unwrap_or_default();
    Some(Debouncer::new(occupied, rests.0, rests.1))
}

/// Turns the squares of an event by 180 degrees.
fn turn(event: &mut Event) {
    match event {
        Event::Square { square, .. } | Event::Piece { square, .. } => *square = square.rotate_180(),
        Event::Occupied(occupied) => *occupied = occupied.rotate_180(),
        Event::Pieces(men) => men.rotate_180(),
        _ => {}
    }
}
