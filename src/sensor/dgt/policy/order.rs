//! An order to set the clock: one at a time, sent until the clock acknowledges it (docs/dgt.md).

use super::super::orders::{Answer, ClockOrder, Refused};
use crate::{
    session::time::MonoTime,
    wire::dgt::{
        Message,
        clock::{Ack, Clock},
        set_clock::SET_AND_RUN,
    },
};

/// Time for an acknowledgement, in milliseconds.
pub(super) const ACK_MS: u64 = 2000;
/// How often an order that is not acknowledged is sent again.
const AGAIN: u8 = 3;
/// How often an order is sent that is answered with an error.
const ERRORS: u8 = 2;
/// An order that could not be sent for so long after it was given is not sent any more, in milliseconds: its times are
/// old.
const FRESH_MS: u64 = 5000;
/// A Bluetooth board may repeat an acknowledgement for this long, in milliseconds.
const REPEAT_MS: u64 = 1000;

/// First byte of the acknowledgement of a clock that is not in its remote mode.
const WRONG_MODE: u8 = 0x40;

/// An order that is not settled yet.
#[derive(Clone, Copy, Debug)]
struct Job {
    order: ClockOrder,
    given: MonoTime,
    tries: u8,
    errors: u8,
    /// Until when the acknowledgement may come; `None` while the order has to be sent.
    until: Option<MonoTime>,
}

/// The orders of one board.
#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    job: Option<Job>,
    /// Nothing is sent before: an acknowledgement of what was sent before may still come.
    not_before: MonoTime,
    answers: Vec<Answer>,
}

impl Orders {
    /// Takes an order that was given then.
    pub fn take(&mut self, order: ClockOrder, given: MonoTime) {
        if self.job.is_some() {
            self.answers.push(Answer { order, tries: 0, outcome: Err(Refused::Busy) });
            return;
        }
        self.job = Some(Job { order, given, tries: 0, errors: 0, until: None });
    }

    /// True while an order is under way.
    pub const fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// The order that has to be sent at `at`. The caller sends it.
    pub fn due(&mut self, at: MonoTime) -> Option<ClockOrder> {
        let job = self.job.as_mut().filter(|job| job.until.is_none() && at >= self.not_before)?;
        job.tries = job.tries.saturating_add(1);
        job.until = Some(at.plus_ms(ACK_MS));
        Some(job.order)
    }

    /// When [`Orders::due`] or [`Orders::expire`] has something to do.
    pub fn deadline(&self) -> Option<MonoTime> {
        let job = self.job.as_ref()?;
        Some(job.until.unwrap_or(self.not_before))
    }

    /// The time for an acknowledgement, or for sending at all, may be over.
    pub fn expire(&mut self, at: MonoTime) {
        if self.job.is_some_and(|job| job.tries == 0 && at >= job.given.plus_ms(FRESH_MS)) {
            return self.settle(at, Err(Refused::NotSent));
        }
        let Some(job) = self.job.as_mut().filter(|job| job.until.is_some_and(|until| at >= until)) else {
            return;
        };
        job.until = None;
        if job.tries > AGAIN {
            self.settle(at, Err(Refused::Unanswered));
        }
    }

    /// A message of the clock came in.
    pub fn heard(&mut self, at: MonoTime, id: u8, payload: &[u8], wireless: bool) {
        let Some(job) = &mut self.job else { return };
        if id != 0x8d || job.until.is_none() {
            return;
        }
        match Message::decode(id, payload) {
            Message::Clock(Clock::Absent) => self.settle(at, Err(Refused::NoClock)),
            Message::Clock(Clock::Ack(ack)) if !ack.unasked() => {
                match (ack.ok(), ack.0) {
                    (true, [_, SET_AND_RUN, ..]) => self.settle(at, Ok(())),
                    // An old acknowledgement of something else.
                    (true, _) => return,
                    (false, [WRONG_MODE, ..]) => self.settle(at, Err(Refused::NotRemote)),
                    (false, _) => self.failed(at, ack),
                }
                if wireless {
                    self.not_before = self.not_before.max(at.plus_ms(REPEAT_MS));
                }
            }
            _ => {}
        }
    }

    fn failed(&mut self, at: MonoTime, ack: Ack) {
        let Some(job) = &mut self.job else { return };
        job.errors = job.errors.saturating_add(1);
        job.until = None;
        if job.errors >= ERRORS {
            self.settle(at, Err(Refused::Error(ack)));
        }
    }

    /// The board does not answer any longer.
    pub fn link_lost(&mut self, at: MonoTime) {
        self.settle(at, Err(Refused::LinkLost));
    }

    fn settle(&mut self, at: MonoTime, outcome: Result<(), Refused>) {
        let Some(job) = self.job.take() else { return };
        // Of what was sent more than once an acknowledgement may still come.
        if job.tries > 1 {
            self.not_before = self.not_before.max(at.plus_ms(ACK_MS));
        }
        self.answers.push(Answer { order: job.order, tries: job.tries, outcome });
    }

    /// What came of the orders since this was asked last.
    pub fn answers(&mut self) -> Vec<Answer> {
        std::mem::take(&mut self.answers)
    }
}
