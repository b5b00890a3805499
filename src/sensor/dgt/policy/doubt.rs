//! More than one board answers on the port: nothing of it is read until only one does.

use crate::{
    session::time::MonoTime,
    wire::dgt::{Command, Framed, Message},
};

use super::{Action, Fault, IDENTITY, Phase, Policy};

/// One request, and the time in which every board on the cable has answered, in milliseconds.
const ROUND_MS: u64 = 1000;
/// After so many requests in a row that one and the same number answered, the board is read again.
const ALONE: u8 = 3;

/// What is heard of the boards meanwhile.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubt {
    /// The end of the present round, or when the first one begins.
    until: MonoTime,
    asked: bool,
    /// The number that answered in this round; `mixed` where something else came, too.
    heard: Option<String>,
    mixed: bool,
    /// The number that was alone in the last rounds, and in how many.
    alone: Option<(String, u8)>,
}

impl Doubt {
    /// When there is something to do.
    pub(super) const fn deadline(&self) -> MonoTime {
        self.until
    }

    fn take(&mut self, item: &Framed) {
        match item {
            Framed::Frame { id, payload } => {
                let Message::Serial(number) = Message::decode(*id, payload) else { return };
                self.mixed |= self.heard.as_ref().is_some_and(|heard| *heard != number);
                self.heard = Some(number);
            }
            Framed::Dropped(_) => self.mixed = true,
        }
    }

    /// A round is over: in how many in a row one number was alone.
    fn judge(&mut self) -> u8 {
        let heard = self.heard.take().filter(|_| !self.mixed);
        self.mixed = false;
        let before = self.alone.take();
        self.alone = heard.map(|number| {
            let rounds = before.filter(|(known, _)| *known == number).map_or(0, |(_, rounds)| rounds);
            (number, rounds.saturating_add(1))
        });
        self.alone.as_ref().map_or(0, |(_, rounds)| *rounds)
    }
}

impl Policy {
    /// Nothing that comes is read from now on; the boards fall silent, and are asked who they are.
    pub(super) fn doubt(&mut self, at: MonoTime, fault: Fault) {
        let news = self.down();
        self.pending = None;
        self.framer.reset();
        self.queue.clear();
        self.queue.extend([Action::Down { fault, news }, Action::Send(Command::Reset)]);
        self.phase = Phase::Doubt(Doubt { until: at.plus_ms(ROUND_MS), ..Doubt::default() });
    }

    /// Bytes came while it is open who is there.
    pub(super) fn doubted(&mut self, at: MonoTime, bytes: &[u8]) {
        let mut framed = Vec::new();
        self.framer.push(at, bytes, &mut framed);
        if let Phase::Doubt(doubt) = &mut self.phase
            && doubt.asked
        {
            framed.iter().for_each(|item| doubt.take(item));
        }
    }

    /// What is done while it is open who is there.
    pub(super) fn ask_who(&mut self, at: MonoTime) -> Option<Action> {
        let Phase::Doubt(doubt) = &mut self.phase else { return None };
        if at < doubt.until {
            return None;
        }
        if doubt.judge() >= ALONE {
            self.witness.opened();
            self.failed = 0;
            self.battery = None;
            self.wanted = IDENTITY.into();
            self.start(at);
            return self.poll(at);
        }
        (doubt.asked, doubt.until) = (true, at.plus_ms(ROUND_MS));
        Some(Action::Send(Command::Serial))
    }
}
