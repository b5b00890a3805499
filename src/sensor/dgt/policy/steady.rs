//! What is asked while the board streams, and when.

use super::{ALIVE_MS, ANSWER_MS, Action, CLOCK_MS, Phase, Policy, QUIET_MS, Updates};
use crate::{session::time::MonoTime, wire::dgt::Command};

impl Policy {
    /// What the board is asked while it streams.
    pub(super) fn steady(&mut self, at: MonoTime) -> Option<Action> {
        let (next_dump, quiet) = (self.next_dump, self.last_traffic.plus_ms(QUIET_MS));
        if self.pending.is_some() {
            return None;
        }
        if let Some(action) = self.set_clock(at) {
            return Some(action);
        }
        let refresh_ms = self.refresh_ms();
        let by_order = self.orders.is_busy() && self.options.updates == Updates::Board;
        let Phase::Steady(steady) = &mut self.phase else { return None };
        if steady.told {
            steady.told = false;
            self.lost = true;
            return Some(self.send(at, Command::Serial, ALIVE_MS, 1));
        }
        let settled = steady.settled.is_some_and(|settled| at >= settled);
        if (self.lost || settled) && at >= next_dump {
            if settled {
                steady.settled = None;
            }
            return Some(self.send(at, Command::SendBoard, ANSWER_MS, 1));
        }
        // A board that lost power for a moment answers, but tells nothing by itself. To one that is in its mode,
        // the mode is no news.
        if at >= quiet && !by_order {
            steady.told = true;
            return Some(self.send(at, self.options.updates.command(), 0, 0));
        }
        if self.options.updates == Updates::Board && at >= steady.clock && !by_order {
            steady.clock = at.plus_ms(CLOCK_MS);
            return Some(self.send(at, Command::SendClock, ANSWER_MS, 1));
        }
        if self.memory && steady.settled.is_none() {
            self.asked_memory = self.asked_memory.saturating_add(1);
            let tries = self.asked_memory;
            return Some(self.send(at, Command::StorageLog, ANSWER_MS, tries));
        }
        if let Some(command) = self.wanted.pop_front() {
            return Some(self.send(at, command, ANSWER_MS, 1));
        }
        if at >= steady.refresh && !by_order {
            steady.refresh = at.plus_ms(refresh_ms);
            self.lost = true;
            return Some(self.send(at, self.options.updates.command(), 0, 0));
        }
        if self.battery.is_some_and(|due| at >= due) {
            self.battery = None;
            return Some(self.send(at, Command::Battery, ANSWER_MS, 1));
        }
        None
    }

    /// Sends an order to the clock. Its acknowledgement does not come where the board tells squares only: there it
    /// tells the clock, too, until the order is settled.
    fn set_clock(&mut self, at: MonoTime) -> Option<Action> {
        let Phase::Steady(steady) = &mut self.phase else { return None };
        let squares_only = self.options.updates == Updates::Board;
        if squares_only && self.orders.is_busy() && !steady.with_clock {
            steady.with_clock = true;
            return Some(Action::Send(Command::UpdateNice));
        }
        if steady.with_clock && !self.orders.is_busy() {
            steady.with_clock = false;
            self.lost = true;
            return Some(Action::Send(self.options.updates.command()));
        }
        Some(Action::SetClock(self.orders.due(at)?.set))
    }

    /// When [`Policy::poll`] has something to do at the latest.
    pub fn deadline(&self) -> Option<MonoTime> {
        let own = match (&self.phase, self.pending) {
            _ if !self.queue.is_empty() => Some(MonoTime::ZERO),
            (Phase::Closed, _) => None,
            (Phase::Doubt(doubt), _) => Some(doubt.deadline()),
            (_, Some(pending)) => Some(pending.until),
            (Phase::Start(_, from), None) => Some(*from),
            (Phase::Steady(steady), None) => {
                let dump = if self.lost { Some(self.next_dump) } else { steady.settled };
                let soon =
                    steady.told || !self.wanted.is_empty() || (self.memory && steady.settled.is_none());
                let squares_only = self.options.updates == Updates::Board;
                let by_order = squares_only && self.orders.is_busy();
                let soon = soon || by_order != steady.with_clock;
                let clock = (squares_only && !by_order).then_some(steady.clock);
                let order = self.orders.deadline();
                let other = [clock, self.battery, order, soon.then_some(MonoTime::ZERO)];
                let quiet = self.last_traffic.plus_ms(QUIET_MS).min(steady.refresh);
                let quiet = if by_order { MonoTime::END } else { quiet };
                let due = quiet.min(dump.map_or(MonoTime::END, |d| d.max(self.next_dump)));
                Some(other.into_iter().flatten().fold(due, MonoTime::min))
            }
        };
        [own, self.framer.deadline()].into_iter().flatten().min()
    }
}
