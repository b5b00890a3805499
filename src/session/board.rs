//! One board as the daemon and `replay` drive it: inputs are decoded into events, the events are
//! counted and handed to the session.

use std::collections::VecDeque;

use super::{
    Session,
    event::{Event, Stamped, Unit},
    fact::Fact,
    io::Input,
    settings::OrientationSetting,
    setup::{GameSetup, SetupError},
    time::MonoTime,
};
use crate::wire::dgt::{DgtDecoder, Orientation};

/// Decoder and session of one board.
#[derive(Clone, Debug)]
pub struct Board {
    session: Session,
    dgt: DgtDecoder,
    last: MonoTime,
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
        Ok(Board {
            session: Session::new(setup)?,
            dgt: DgtDecoder::new(orientation),
            last: MonoTime::ZERO,
            decoded: VecDeque::new(),
            keep_decoded: false,
        })
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
                    self.dgt.link(*up);
                }
                self.event(Stamped { at, unit: *unit, event: event.clone() });
            }
            Input::Dgt(bytes) => {
                let mut events = Vec::new();
                self.dgt.push(at, bytes, &mut events);
                for event in events {
                    self.event(Stamped { at, unit: Unit::A, event });
                }
            }
        }
    }

    fn event(&mut self, stamped: Stamped) {
        self.session.handle(&stamped);
        if self.keep_decoded {
            self.decoded.push_back(stamped);
        }
    }

    /// Fires every deadline up to and including `now`.
    pub fn advance(&mut self, now: MonoTime) {
        self.last = self.last.max(now);
        self.session.advance(now);
    }

    /// The next deadline.
    pub fn deadline(&self) -> Option<MonoTime> {
        self.session.deadline()
    }

    /// The next fact, in order.
    pub fn poll_fact(&mut self) -> Option<Fact> {
        self.session.poll_fact()
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
