//! The way of an arbiter's order to the clock: from the board's engine to the thread that reads the port.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::{
    session::time::MonoTime,
    wire::dgt::{clock::Ack, set_clock::SetClock},
};

/// An order to set the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOrder {
    /// Its number in the game.
    pub number: u32,
    /// What the clock is to show and do.
    pub set: SetClock,
}

/// Why the clock was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The clock is not in its remote mode.
    NotRemote,
    /// It did not acknowledge the order.
    Unanswered,
    /// It answered with an error that is not explained by its maker.
    Error(Ack),
    /// No clock is connected.
    NoClock,
    /// The board does not answer.
    LinkLost,
    /// The board was not ready for so long that the times are old.
    NotSent,
    /// An order is under way.
    Busy,
}

impl Refused {
    /// The word in the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Refused::NotRemote => "not-remote",
            Refused::Unanswered => "unanswered",
            Refused::Error(_) => "clock-error",
            Refused::NoClock => "no-clock",
            Refused::LinkLost => "link-lost",
            Refused::NotSent => "not-sent",
            Refused::Busy => "busy",
        }
    }
}

/// What came of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The order.
    pub order: ClockOrder,
    /// How often it was sent.
    pub tries: u8,
    /// Whether the clock acknowledged it.
    pub outcome: Result<(), Refused>,
}

impl Answer {
    /// The note that becomes an input of the game.
    pub fn note(&self) -> Value {
        let set = self.order.set;
        let mut note = json!({
            "source": "dgt",
            "what": "clock-set",
            "order": self.order.number,
            "ok": self.outcome.is_ok(),
            "left_ms": set.left.ms(),
            "right_ms": set.right.ms(),
            "tries": self.tries,
        });
        if let (Err(refused), Some(fields)) = (self.outcome, note.as_object_mut()) {
            fields.insert("reason".to_owned(), json!(refused.as_str()));
            if let Refused::Error(ack) = refused {
                fields.insert("clock_ack".to_owned(), json!(ack.0));
            }
        }
        note
    }
}

/// A tray for one order; the thread that reads the port looks into it at least every 100 ms.
#[derive(Debug, Default)]
pub struct OrderTray(Mutex<Option<(ClockOrder, MonoTime)>>);

impl OrderTray {
    /// Puts an order in, with the time of the monotonic clock; one that was not fetched is replaced.
    pub fn put(&self, order: ClockOrder, given: MonoTime) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((order, given));
    }

    /// Fetches the order and when it was given, if there is one.
    pub fn take(&self) -> Option<(ClockOrder, MonoTime)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
