//! What is sent to a DGT board and when: a state machine without a clock of its own.
//!
//! One request at a time is on the way, so the ten bytes of the board's input buffer are never
//! full. Nothing is sent that changes what the clock shows, but for an order of the arbiter ([`Policy::order`]); it
//! has twelve bytes and goes when nothing else is on the way.

use std::collections::VecDeque;

use crate::{
    session::time::MonoTime,
    wire::dgt::{Command, Framed, Framer},
};

mod doubt;
mod order;
mod rations;
mod recipe;
mod steady;
mod words;

use self::doubt::Doubt;
use self::order::Orders;
use self::rations::Rations;
use self::recipe::{IDENTITY, RESET, Step, stream};
use super::orders::{Answer, ClockOrder};
use super::witness::{Fault, Witness};
pub use words::{Action, Options, Received, Updates};

/// Silence after a reset, while which everything that comes in is stale, in milliseconds.
const SETTLE_MS: u64 = 100;
/// Time for an answer during the start, and for a dump.
const ANSWER_MS: u64 = 1000;
/// Time for a sign of life.
const ALIVE_MS: u64 = 2000;
/// A line that is quiet for this long is asked for a sign of life.
const QUIET_MS: u64 = 3000;
/// After this long without a field update the board is told its mode again and dumped: it may have
/// lost power for a moment and come back in another mode. A line that is quiet is asked sooner.
const REFRESH_MS: u64 = 30_000;
/// The same where the clock is asked for, so that the line is never quiet.
const ASKED_REFRESH_MS: u64 = 5_000;
/// A dump is asked for when no field update came for this long after the last one: more than one scan.
const UPDATES_MS: u64 = 300;
/// The same on Bluetooth, where boards scan half as fast.
const WIRELESS_UPDATES_MS: u64 = 600;
/// The battery is asked for again after this long, where there is one.
const BATTERY_MS: u64 = 300_000;
/// The clock is asked for this often where the board does not stream it.
const CLOCK_MS: u64 = 1000;
/// Shortest time between two dumps: each takes 70 ms of line time.
const DUMP_MS: u64 = 250;
/// Attempts to get a dump.
const DUMP_TRIES: u8 = 3;
/// Attempts to download the board's memory.
const MEMORY_TRIES: u8 = 2;
/// Pause before the start is tried again.
const RETRY_MS: u64 = 2000;
/// After so many starts in vain the port is opened anew.
const STARTS: u8 = 3;

#[derive(Clone, Debug)]
enum Phase {
    /// The port is closed.
    Closed,
    /// The rest of the start, from this time on.
    Start(VecDeque<Step>, MonoTime),
    /// The board streams.
    Steady(Steady),
    /// More than one board answers.
    Doubt(Doubt),
}

#[derive(Clone, Debug)]
struct Steady {
    /// When the updates will have been quiet for long enough.
    settled: Option<MonoTime>,
    /// When the mode is told again.
    refresh: MonoTime,
    /// When the clock is asked for, where it is not streamed.
    clock: MonoTime,
    /// The mode was told to a quiet board, which is asked next whether it is there.
    told: bool,
    /// The board tells the clock, too, until an order is settled.
    with_clock: bool,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    command: Command,
    until: MonoTime,
    patience_ms: u64,
    tries: u8,
}

/// The policy of one board.
#[derive(Clone, Debug)]
pub struct Policy {
    options: Options,
    wireless: bool,
    framer: Framer,
    witness: Witness,
    phase: Phase,
    pending: Option<Pending>,
    /// What was told of the link.
    up: bool,
    told: bool,
    /// Starts in vain since the port was opened.
    failed: u8,
    /// The board's memory is owed, and how often it was asked for.
    memory: bool,
    asked_memory: u8,
    /// What else is to be asked when the line is free; a missing answer is normal.
    wanted: VecDeque<Command>,
    /// When the battery is asked for again.
    battery: Option<MonoTime>,
    /// Another board answers than at first, and whether that was told since the link is up.
    stranger: Option<(Fault, bool)>,
    /// What of the noise is passed on, and the part of the last bytes that is.
    rations: Rations,
    rationed: Option<Vec<u8>>,
    /// What is on the port was found to be no board.
    wrong: bool,
    /// Orders to set the clock.
    orders: Orders,
    /// Bytes or an answer were lost: a dump as soon as may be.
    lost: bool,
    last_traffic: MonoTime,
    next_dump: MonoTime,
    queue: VecDeque<Action>,
}

impl Policy {
    /// A policy for a port that is closed.
    pub fn new(options: Options) -> Policy {
        Policy {
            options,
            wireless: false,
            framer: Framer::new(),
            witness: Witness::new(options.resumed),
            phase: Phase::Closed,
            pending: None,
            up: false,
            told: false,
            failed: 0,
            memory: false,
            asked_memory: 0,
            wanted: VecDeque::new(),
            battery: None,
            stranger: None,
            rations: Rations::default(),
            rationed: None,
            wrong: false,
            orders: Orders::default(),
            lost: false,
            last_traffic: MonoTime::ZERO,
            next_dump: MonoTime::ZERO,
            queue: VecDeque::new(),
        }
    }

    /// The port was opened; `wireless` where it is Bluetooth.
    pub fn opened(&mut self, at: MonoTime, wireless: bool) {
        self.wireless = wireless;
        self.queue.clear();
        self.witness.opened();
        self.failed = 0;
        self.battery = None;
        self.wanted = IDENTITY.into();
        self.start(at);
    }

    /// The port could not be opened or was lost; true when that is news.
    pub fn closed(&mut self) -> bool {
        self.phase = Phase::Closed;
        self.pending = None;
        self.framer.reset();
        self.down()
    }

    /// The arbiter ordered at `given` that the clock be set. What comes of it is among the [`Policy::answers`].
    pub fn order(&mut self, order: ClockOrder, given: MonoTime) {
        self.orders.take(order, given);
        if !self.up {
            self.orders.link_lost(self.last_traffic);
        }
    }

    /// What came of orders since this was asked last.
    pub fn answers(&mut self) -> Vec<Answer> {
        self.orders.answers()
    }

    /// True while the board answers.
    pub fn is_up(&self) -> bool {
        self.up
    }

    fn down(&mut self) -> bool {
        self.orders.link_lost(self.last_traffic);
        let news = self.up || !self.told;
        self.up = false;
        self.told = true;
        news
    }

    fn start(&mut self, at: MonoTime) {
        let steps = RESET.into_iter().chain(stream(self.options.updates)).collect();
        self.phase = Phase::Start(steps, at);
        self.pending = None;
        self.framer.reset();
    }

    /// Bytes came in.
    pub fn received(&mut self, at: MonoTime, bytes: &[u8]) -> Received {
        if self.is_discarding() {
            if matches!(self.phase, Phase::Doubt(_)) {
                self.doubted(at, bytes);
            }
            return Received::Stale;
        }
        let mut framed = Vec::new();
        self.framer.push(at, bytes, &mut framed);
        self.witness.bytes(bytes);
        self.last_traffic = at;
        let mut answer = Received::Keep;
        for item in &framed {
            match item {
                Framed::Frame { id, payload } => {
                    let asked = self.pending.is_some_and(|pending| pending.command == Command::Serial);
                    let missed = self.witness.frame(*id, payload, asked);
                    if *id == 0x86 && !self.up {
                        self.up = true;
                        self.told = true;
                        self.failed = 0;
                        self.memory |= missed && self.options.memory;
                        self.asked_memory = 0;
                        answer = Received::LinkUp;
                        self.wrong = false;
                        if let Some((_, told)) = &mut self.stranger {
                            *told = false;
                        }
                    }
                    self.frame(at, *id);
                    self.orders.heard(at, *id, payload, self.wireless);
                }
                Framed::Dropped(n) => {
                    self.lost = true;
                    self.rations.note(at, *n);
                }
            }
        }
        self.rationed = self.rations.pass(bytes, &framed, self.framer.pending() == 0, self.wrong);
        if let Some(withheld) = self.rations.news(at) {
            self.queue.push_back(Action::Withheld(withheld));
        }
        if let Some(fault) = self.witness.several() {
            self.doubt(at, fault);
            return Received::Stale;
        }
        self.look_who(self.witness.other_board());
        // A download of the storage log takes up to eight seconds and holds everything else up.
        if self.framer.pending_id() == Some(0x8f) {
            self.patience(at);
        }
        answer
    }

    /// What of the bytes that came in last is passed on, where it is not all of them: whole messages, and little of
    /// what is none.
    pub fn take_rationed(&mut self) -> Option<Vec<u8>> {
        self.rationed.take()
    }

    /// Tells when another board answers than at first, and when that one is back.
    fn look_who(&mut self, who: Option<Result<(), Fault>>) {
        if !self.up {
            return;
        }
        match who {
            Some(Ok(())) if self.stranger.take().is_some() => self.queue.push_back(Action::Settle),
            Some(Err(fault)) if self.stranger != Some((fault.clone(), true)) => {
                self.stranger = Some((fault.clone(), true));
                self.queue.push_back(Action::Stand(fault));
            }
            _ => {}
        }
    }

    fn is_discarding(&self) -> bool {
        match &self.phase {
            Phase::Closed | Phase::Doubt(_) => true,
            Phase::Start(steps, _) => steps.iter().any(|step| matches!(step, Step::Discard)),
            Phase::Steady(_) => false,
        }
    }

    fn refresh_ms(&self) -> u64 {
        if self.options.updates == Updates::Board { ASKED_REFRESH_MS } else { REFRESH_MS }
    }

    fn patience(&mut self, at: MonoTime) {
        if let Some(pending) = &mut self.pending {
            pending.until = at.plus_ms(pending.patience_ms);
        }
    }

    fn frame(&mut self, at: MonoTime, id: u8) {
        if id == 0x8f {
            self.patience(at);
        }
        let steady = matches!(self.phase, Phase::Steady(_));
        let answered = self.pending.is_some_and(|pending| {
            pending.command.answer() == Some(id) || (steady && pending.command == Command::Serial)
        });
        if answered {
            self.answered(at);
        }
        match id {
            0x8f => (self.memory, self.asked_memory) = (false, 0),
            0xa0 => self.battery = Some(at.plus_ms(BATTERY_MS)),
            _ => {}
        }
        let quiet = if self.wireless { WIRELESS_UPDATES_MS } else { UPDATES_MS };
        let refresh_ms = self.refresh_ms();
        if let (Phase::Steady(steady), 0x8e) = (&mut self.phase, id) {
            steady.settled = Some(at.plus_ms(quiet));
            steady.refresh = at.plus_ms(refresh_ms);
        }
    }

    /// Why the board does not answer as it should. One that has answered before may be silent now.
    fn fault(&self, at: MonoTime) -> Fault {
        match self.witness.fault() {
            Fault::NoDump if at >= self.last_traffic.plus_ms(ALIVE_MS) => Fault::Silent,
            fault => fault,
        }
    }

    /// The port is of no use as it is: it is told once, and opened again.
    fn give_up(&mut self, fault: Fault) {
        let news = self.down();
        self.wrong |= matches!(fault, Fault::NotDgt { .. });
        self.phase = Phase::Closed;
        self.pending = None;
        self.queue.extend([Action::Down { fault, news }, Action::Reopen]);
    }

    /// The pending request is done with; the next step may go.
    fn answered(&mut self, at: MonoTime) {
        self.pending = None;
        if let Phase::Start(steps, from) = &mut self.phase {
            steps.pop_front();
            *from = at;
        }
    }

    /// The next thing to do at `at`; asked until there is none.
    pub fn poll(&mut self, at: MonoTime) -> Option<Action> {
        let mut framed = Vec::new();
        self.framer.expire(at, &mut framed);
        self.lost |= !framed.is_empty();
        self.orders.expire(at);
        if let Some(pending) = self.pending {
            if at < pending.until {
                return self.queue.pop_front();
            }
            self.unanswered(at, pending);
        }
        if let Some(action) = self.queue.pop_front() {
            return Some(action);
        }
        match &mut self.phase {
            Phase::Closed => None,
            Phase::Start(_, from) if at < *from => None,
            Phase::Start(steps, _) => match steps.front().copied() {
                None => {
                    let (refresh, clock) = (at.plus_ms(self.refresh_ms()), at.plus_ms(CLOCK_MS));
                    self.phase = Phase::Steady(Steady {
                        settled: None,
                        refresh,
                        clock,
                        told: false,
                        with_clock: false,
                    });
                    self.poll(at)
                }
                Some(step) => Some(self.step(at, step)),
            },
            Phase::Steady(_) => self.steady(at),
            Phase::Doubt(_) => self.ask_who(at),
        }
    }

    fn step(&mut self, at: MonoTime, step: Step) -> Action {
        let pass = |phase: &mut Phase, wait_ms: u64| {
            if let Phase::Start(steps, from) = phase {
                steps.pop_front();
                *from = at.plus_ms(wait_ms);
            }
        };
        match step {
            Step::Discard => {
                pass(&mut self.phase, 0);
                Action::DiscardInput
            }
            Step::Tell(command) => {
                pass(&mut self.phase, SETTLE_MS);
                self.send(at, command, 0, 0)
            }
            Step::Ask(command) | Step::Need(command) => self.send(at, command, ANSWER_MS, 1),
        }
    }

    fn send(&mut self, at: MonoTime, command: Command, patience_ms: u64, tries: u8) -> Action {
        if command == Command::SendBoard {
            self.next_dump = at.plus_ms(DUMP_MS);
            self.lost = false;
        }
        if command.answer().is_some() {
            self.pending = Some(Pending { command, until: at.plus_ms(patience_ms), patience_ms, tries });
        }
        Action::Send(command)
    }

    /// The time for an answer is over.
    fn unanswered(&mut self, at: MonoTime, pending: Pending) {
        let again = match &self.phase {
            Phase::Closed | Phase::Doubt(_) => return,
            Phase::Start(steps, _) => match steps.front() {
                Some(Step::Need(_)) => pending.tries < DUMP_TRIES,
                _ => {
                    self.lost |= pending.command == Command::SendBoard;
                    return self.answered(at);
                }
            },
            Phase::Steady(_) => match pending.command {
                Command::SendBoard => pending.tries < DUMP_TRIES,
                Command::Serial if pending.patience_ms == ALIVE_MS => false,
                // What not every board knows. A download that broke off is tried once more.
                command => {
                    self.memory &= command != Command::StorageLog || pending.tries < MEMORY_TRIES;
                    return self.answered(at);
                }
            },
        };
        if again {
            let action = self.send(at, pending.command, ANSWER_MS, pending.tries.saturating_add(1));
            self.queue.push_back(action);
            return;
        }
        let was_start = matches!(self.phase, Phase::Start(..));
        self.failed = self.failed.saturating_add(u8::from(was_start));
        if self.failed >= STARTS {
            return self.give_up(self.fault(at));
        }
        let news = self.down();
        if news || was_start {
            let fault = self.fault(at);
            self.wrong |= matches!(fault, Fault::NotDgt { .. });
            self.queue.push_back(Action::Down { fault, news });
        }
        self.start(if was_start { at.plus_ms(RETRY_MS) } else { at });
    }
}

#[cfg(test)]
mod tests;
