//! One board's game: inputs are decoded into events, the session reconstructs the moves, and the conduct
//! of the game under the Laws is looked at (`conduct`). This is what the daemon and `replay` drive.

mod conduct;

use std::collections::VecDeque;

use self::conduct::{Conduct, Desk, Order};
use crate::{
    laws::settings::WhiteSide,
    session::{
        Session,
        event::{Event, Stamped, Unit},
        fact::Fact,
        io::Input,
        settings::OrientationSetting,
        setup::{GameSetup, SetupError},
        time::MonoTime,
    },
    wire::{
        dgt::{DgtDecoder, Orientation, memory::Squares},
        peg::PegDecoder,
    },
};

/// Decoder, session and conduct of the game of one board.
#[derive(Clone, Debug)]
pub struct Board {
    session: Session,
    conduct: Conduct,
    dgt: DgtDecoder,
    peg: PegDecoder,
    last: MonoTime,
    /// Time of the last event that was taken or deadline that fired.
    reached: MonoTime,
    facts: VecDeque<Fact>,
    orders: Vec<Order>,
    decoded: VecDeque<Stamped>,
    keep_decoded: bool,
}

impl Board {
    /// A board before its first input.
    pub fn new(setup: &GameSetup) -> Result<Board, SetupError> {
        let orientation = match setup.settings.orientation {
            OrientationSetting::Auto => Orientation::Auto,
            OrientationSetting::WhiteSouth => Orientation::Normal,
            OrientationSetting::WhiteNorth => Orientation::Rotated,
        };
        let clock_turned = setup.law_settings()?.clock.white_side == WhiteSide::Right;
        let session = Session::new(setup)?;
        let conduct = Conduct::new(setup, &session)?;
        let mut board = Board {
            session,
            conduct,
            dgt: DgtDecoder::new(orientation).with_clock_turned(clock_turned),
            peg: PegDecoder::new(),
            last: MonoTime::ZERO,
            reached: MonoTime::ZERO,
            facts: VecDeque::new(),
            orders: Vec::new(),
            decoded: VecDeque::new(),
            keep_decoded: false,
        };
        board.pass_on(MonoTime::ZERO);
        board.at_desk(MonoTime::ZERO, -1, Conduct::begin);
        Ok(board)
    }

    /// Keeps the decoded events for [`Board::poll_event`] (export of a sensor log).
    pub fn keep_events(&mut self) {
        self.keep_decoded = true;
    }

    /// Takes one input. A time before the last one is clamped to it; the session reports that.
    pub fn input(&mut self, stamp: MonoTime, input: &Input) {
        if stamp < self.last {
            self.session.note_time_backwards();
        }
        let at = stamp.max(self.last);
        self.last = at;
        match input {
            Input::Event(unit, event) => {
                if let Event::Link(up) | Event::Power(up) = event {
                    self.note_puzzle();
                    self.dgt.link(*up);
                    self.peg.link();
                }
                self.event(at, *unit, event);
            }
            Input::Dgt(bytes) => {
                self.note_puzzle();
                let mut events = Vec::new();
                self.dgt.push(at, bytes, &mut events);
                for event in &events {
                    self.event(at, Unit::A, event);
                }
            }
            Input::Peg(line) => {
                let mut events = Vec::new();
                self.peg.push(line, &mut events);
                for event in &events {
                    self.event(at, Unit::A, event);
                }
            }
        }
    }

    /// After an outage the memory of a DGT board is told where the session cannot explain the board. Two
    /// squares may be a man in the hand and the one that it captures.
    fn note_puzzle(&mut self) {
        if self.dgt.awaits_memory() {
            let puzzled = self.session.readings().first().is_none_or(|(_, _, differs)| differs.count() > 2);
            self.dgt.set_puzzled(puzzled);
        }
    }

    /// What a DGT board or a pegged one has told of itself, by name: serial numbers, version, battery, ...
    pub fn identity(&self) -> &[(&'static str, serde_json::Value)] {
        if self.dgt.identity().is_empty() { self.peg.identity() } else { self.dgt.identity() }
    }

    /// What every square of a DGT board reads, in the board's own numbering, once all are known.
    pub fn dgt_squares(&self) -> Option<Squares> {
        self.dgt.squares()
    }

    fn event(&mut self, at: MonoTime, unit: Unit, event: &Event) {
        self.fire(at);
        self.reached = at;
        let ev = self.session.last_event() + 1;
        if self.keep_decoded {
            self.decoded.push_back(Stamped { at, unit, event: event.clone() });
        }
        if self.conduct.has_two_boards() {
            let mut routed = Stamped { at, unit, event: event.clone() };
            self.at_desk(at, ev, |conduct, desk| conduct.route(&mut routed, desk));
            self.take(at, ev, routed.unit, &routed.event);
        } else {
            self.take(at, ev, unit, event);
        }
    }

    /// Takes an event of the game.
    fn take(&mut self, at: MonoTime, ev: i64, unit: Unit, event: &Event) {
        self.at_desk(at, ev, |conduct, desk| conduct.before(unit, event, desk));
        self.session.take_event(at, unit, event);
        self.pass_on(at);
        self.at_desk(at, ev, |conduct, desk| conduct.after(event, desk));
    }

    /// Fires every deadline up to and including `now`, the session's before those of the Laws.
    pub fn advance(&mut self, now: MonoTime) {
        self.last = self.last.max(now);
        self.fire(now);
    }

    fn fire(&mut self, now: MonoTime) {
        loop {
            let Some(at) = self.deadline().filter(|at| *at <= now) else { return };
            self.reached = at;
            if self.session.deadline().is_some_and(|due| due <= at) {
                self.session.advance(at);
                self.pass_on(at);
            } else {
                let ev = self.session.last_event();
                self.at_desk(at, ev, Conduct::deadline_passed);
            }
        }
    }

    /// Hands the facts of the session to the conduct of the game, which adds its own.
    fn pass_on(&mut self, at: MonoTime) {
        while let Some(fact) = self.session.poll_fact() {
            let ev = fact.ev;
            self.at_desk(at, ev, |conduct, desk| conduct.pass(fact, desk));
        }
    }

    /// Lets the conduct of the game act, and carries out what it orders.
    fn at_desk(&mut self, at: MonoTime, ev: i64, act: impl FnOnce(&mut Conduct, &mut Desk<'_>)) {
        let (session, facts, orders) = (&self.session, &mut self.facts, &mut self.orders);
        act(&mut self.conduct, &mut Desk { session, at, ev, facts, orders });
        if !self.orders.is_empty() {
            self.carry_out(at, ev);
        }
    }

    #[cold]
    fn carry_out(&mut self, at: MonoTime, ev: i64) {
        for order in std::mem::take(&mut self.orders) {
            match order {
                Order::Conclude(end) => self.session.conclude(at, ev, end),
                Order::Restore(plies) => self.session.restore(at, ev, plies),
                Order::Adopt(mv, after) => self.session.adopt(at, mv, *after),
                Order::SetUp(position) => self.session.set_up(*position),
                Order::PlayOn => self.session.play_on(at),
                Order::ConfirmTold => self.session.confirm_told(at, ev),
                Order::Correct(index, line, reason) => self.session.correct(at, ev, index, &line, reason),
                Order::Play(mv, pressed) => self.session.play(at, ev, mv, pressed),
                Order::Complete(index) => self.session.complete(at, ev, index),
            }
            self.pass_on(at);
        }
    }

    /// The next deadline. One that would have passed already, such as that of a turn that a move taken back
    /// has opened again, is now: nothing is told in the past.
    pub fn deadline(&self) -> Option<MonoTime> {
        sooner(self.session.deadline(), self.conduct.deadline()).map(|due| due.max(self.reached))
    }

    /// The next fact, in order.
    pub fn poll_fact(&mut self) -> Option<Fact> {
        self.facts.pop_front()
    }

    /// The next decoded event, when they are kept.
    pub fn poll_event(&mut self) -> Option<Stamped> {
        self.decoded.pop_front()
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }
}

/// The earlier of two times.
fn sooner(one: Option<MonoTime>, other: Option<MonoTime>) -> Option<MonoTime> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::dgt::{Message, message::Dump};
    use shakmaty::Square;

    fn dgt(orientation: OrientationSetting) -> Board {
        let mut setup = GameSetup::default();
        setup.settings.orientation = orientation;
        let mut board = Board::new(&setup).unwrap();
        board.keep_events();
        board
    }

    fn events(board: &mut Board) -> Vec<Event> {
        std::iter::from_fn(|| board.poll_event()).map(|stamped| stamped.event).collect()
    }

    #[test]
    fn the_bytes_of_a_dgt_board_are_decoded_as_the_board_lies() {
        let lifted = Input::Dgt(vec![0x8e, 0x00, 0x05, 52, 0x00]);
        for (orientation, square) in
            [(OrientationSetting::WhiteSouth, Square::E2), (OrientationSetting::WhiteNorth, Square::D7)]
        {
            let mut board = dgt(orientation);
            board.input(MonoTime::ZERO, &lifted);
            assert_eq!(events(&mut board), [Event::Piece { square, piece: None }]);
        }
    }

    #[test]
    fn a_lost_link_voids_half_a_message_and_makes_the_next_dump_count() {
        let mut board = dgt(OrientationSetting::Auto);
        let dump = Message::Board(Box::new(Dump::of(&shakmaty::Board::new()))).encode();
        board.input(MonoTime::ZERO, &Input::Dgt(dump.clone()));
        board.input(MonoTime::ZERO, &Input::Dgt(vec![0x8e, 0x00]));
        board.input(MonoTime::ZERO, &Event::Link(false).into());
        board.input(MonoTime::ZERO, &Event::Link(true).into());
        board.input(MonoTime::ZERO, &Input::Dgt(dump));
        let start = Event::Pieces(shakmaty::Board::new());
        assert_eq!(events(&mut board), [start.clone(), Event::Link(false), Event::Link(true), start]);
    }
}
