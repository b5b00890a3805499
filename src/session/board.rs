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

    /// Takes one input. A time before the last one is clamped to it.
    pub fn input(&mut self, at: MonoTime, input: &Input) {
        let at = at.max(self.last);
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
