//! One board's steps: an input is recorded, the session takes it, what it concludes is recorded,
//! and what may leave leaves.
//!
//! The engine reads no clock but for the UTC of its records, so that the board thread can drive it
//! by the clock and recovery by a journal.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::{
    health::BoardHealth,
    links::{Links, link},
    outbox::Outbox,
    resume,
    writer::Pen,
};
use crate::{
    desk::Records,
    feed::outputs::Released,
    game::Board,
    journal::{Body, Entry, record::Release},
    publish::{ArbiterView, FeedEvent, ForArbiter, Publisher, release::Origin},
    sensor::{
        dgt::orders::{ClockOrder, OrderTray},
        matrix::leds::SetUp,
    },
    session::{
        event::{self, Event, Unit},
        fact::{
            Fact, FactKind,
            law::{ClockOrder as LawClockOrder, LawFact},
        },
        io::Input,
        time::MonoTime,
    },
    sysclock,
    wire::dgt::memory::Squares,
};

/// Decoder, session and publisher of one board, and the ways out of it.
pub struct Engine {
    board: Board,
    publisher: Publisher,
    pen: Pen,
    outbox: Arc<Outbox>,
    health: Arc<BoardHealth>,
    /// The time of the last record; nothing is recorded with an earlier one.
    last: MonoTime,
    step: u64,
    links: Links,
    /// While the men of a new game are set up: what LEDs may show.
    set_up: Option<SetUp>,
    /// The facts for the arbiter, where he has a desk.
    records: Option<Arc<Records>>,
    /// What the last input led to, for him.
    told: Vec<ForArbiter>,
    /// An order to the clock that follows from the last input.
    ordered: Option<LawClockOrder>,
    /// What happens is in the outputs already.
    silent: bool,
}

impl Engine {
    /// An engine that goes on after `last`.
    pub fn new(
        board: Board,
        publisher: Publisher,
        pen: Pen,
        outbox: Arc<Outbox>,
        health: Arc<BoardHealth>,
        last: MonoTime,
    ) -> Engine {
        health.set_embargo(publisher.is_embargoed());
        Engine {
            links: Links::new(board.has_two_boards()),
            board,
            publisher,
            pen,
            outbox,
            health,
            last,
            step: 0,
            set_up: None,
            records: None,
            told: Vec::new(),
            ordered: None,
            silent: false,
        }
    }

    /// Takes what happened before the daemon was started, to `last`; the outputs know of it already.
    pub fn catch_up(&mut self, inputs: Vec<(MonoTime, Input)>, last: MonoTime) {
        self.silent = true;
        for (at, input) in inputs {
            self.input(at, input);
        }
        self.advance(last);
        self.silent = false;
    }

    /// Keeps the facts for the arbiter, too.
    #[must_use]
    pub fn with_records(mut self, records: Option<Arc<Records>>) -> Engine {
        self.records = records;
        self
    }

    /// A new game, whose men are set up first.
    #[must_use]
    pub fn with_set_up(mut self, set_up: Option<SetUp>) -> Engine {
        self.set_up = set_up;
        self.show();
        self
    }

    /// Lights what is to be put right. Once nothing is, or the set-up is over, everything is dark for the rest of the
    /// game.
    fn show(&mut self) {
        let lit = |unit| self.set_up.as_ref().and_then(|set_up| set_up.lit(unit));
        let lit = Unit::ALL.map(lit);
        for source in self.health.sources() {
            source.shared().leds.set(*source.unit().unwrap_or_default().of(&lit));
        }
        self.set_up.take_if(|_| lit == [None; 2]);
    }

    /// The time of the last record.
    pub const fn last(&self) -> MonoTime {
        self.last
    }

    /// What every square of a DGT board read when it was heard last.
    pub fn dgt_squares(&self, unit: Unit) -> Option<Squares> {
        self.board.dgt_squares(unit)
    }

    /// The next deadline of the session.
    pub fn deadline(&self) -> Option<MonoTime> {
        self.board.deadline()
    }

    /// Takes one input: fires what is due before it, records it, steps, records the facts.
    ///
    /// A stamp that goes back is moved to the time of the last record, and that is what the journal
    /// holds: running the journal again meets the same times in the same order.
    pub fn input(&mut self, at: MonoTime, input: Input) {
        let at = at.max(self.last);
        self.advance(MonoTime::from_micros(at.as_micros().saturating_sub(1)));
        self.last = at;
        self.health.count_input();
        let wall_us = sysclock::wall_micros();
        let durable = is_said(&input);
        if let Some((unit, true)) = link(&input) {
            self.health.source(unit).set_trouble(None);
        }
        let link = self.links.heed(&input);
        self.pen.write(Entry { at, wall_us, body: Body::Input(input.clone()) }, durable);
        self.board.input(at, &input);
        self.heed_device(&input);
        if let Some(set_up) = &mut self.set_up {
            set_up.input(&input);
            self.show();
        }
        self.conclude(at, wall_us, link);
    }

    /// Passes on to the operator what is wrong with the board, and what it says of itself.
    fn heed_device(&self, input: &Input) {
        match input {
            Input::Dgt(unit, _) | Input::Peg(unit, _) => {
                let source = self.health.source(*unit);
                source.set_about(self.board.identity(*unit));
                if let Some((connected, low)) = self.board.clock_device(*unit) {
                    source.set_clock(connected, low);
                }
            }
            Input::Event(unit, Event::Device(status)) => {
                let error = status.get("source").and(status.get("error")).and_then(Value::as_str);
                if let Some(error) = error {
                    self.health.source(*unit).set_trouble(Some(error));
                } else if event::is_settled(status) {
                    self.health.source(*unit).set_trouble(None);
                }
            }
            _ => {}
        }
    }

    /// Takes what a person in charge says at the desk. `answer` gets the facts that it led to once they are
    /// recorded.
    pub fn hear(
        &mut self,
        at: MonoTime,
        event: Event,
        answer: impl FnOnce(Vec<ForArbiter>) + Send + 'static,
    ) {
        for input in resume::desk_inputs(event) {
            self.input(at, input);
        }
        // A deadline of this very moment may have fired before.
        let ev = self.board.session().last_event();
        let mut facts = std::mem::take(&mut self.told);
        facts.retain(|record| record.ev() == ev);
        self.step += 1;
        // Only what is said now goes to the clock, and once it is recorded: never what a journal holds already.
        let order = self.ordered.take().and_then(|order| self.order_at_clock(&order));
        let reply = Box::new(move || {
            if let Some((tray, order)) = order {
                tray.put(order, sysclock::monotonic());
            }
            answer(facts);
        });
        if self.outbox.answer(self.step, sysclock::monotonic(), reply) {
            self.pen.release(self.step);
        }
    }

    /// An order in the words of the clock, and the tray of the source that reads it.
    fn order_at_clock(&self, order: &LawClockOrder) -> Option<(Arc<OrderTray>, ClockOrder)> {
        let (unit, set) = self.board.setting_of(order)?;
        Some((self.health.source(unit).shared().orders.clone(), ClockOrder { number: order.order, set }))
    }

    /// The board as the arbiter sees it at `now`.
    pub fn look(&self, now: MonoTime) -> ArbiterView {
        let last = self.records.as_ref().map_or(0, |records| records.last());
        let id = &self.publisher.state().id;
        let mut view = ArbiterView::of(id, self.board.session(), self.publisher.is_embargoed(), last);
        if self.board.keeps_running_clock()
            && let Some(face) = self.board.clock_face(now.max(self.last))
        {
            (view.white_ms, view.black_ms) = (face.white_ms, face.black_ms);
        }
        view
    }

    /// Fires every deadline up to and including `now`, each at its own time.
    pub fn advance(&mut self, now: MonoTime) {
        while let Some(deadline) = fire_next(&mut self.board, now) {
            // An input with the very time of a deadline that has fired comes after it.
            self.last = self.last.max(deadline.plus_micros(1));
            self.conclude(deadline, sysclock::wall_micros(), None);
        }
    }

    /// Writes a remark into the journal.
    pub fn note(&mut self, text: String) {
        let entry = Entry { at: self.last, wall_us: sysclock::wall_micros(), body: Body::Note(text) };
        self.pen.write(entry, true);
    }

    /// Records what has left since.
    pub fn record_releases(&mut self, released: Vec<Released>) {
        for Released { to, left, wall_us, before, late } in released {
            let to = to.into_iter().map(str::to_owned).collect();
            let entry = Entry { at: self.last, wall_us, body: Body::Release(Release { to, left, before }) };
            self.pen.write(entry, late);
        }
    }

    /// Records what the session has concluded and lets out what may leave.
    fn conclude(&mut self, at: MonoTime, wall_us: u64, link: Option<bool>) {
        let facts = drain(&mut self.board);
        if facts.iter().any(changes_face) {
            self.show_clock(at);
        }
        if let Some(set_up) = self.set_up.as_mut().filter(|_| !facts.is_empty()) {
            facts.iter().for_each(|fact| set_up.fact(fact));
            self.show();
        }
        self.health.count_facts(facts.len());
        self.health.set_effort(self.board.session().effort());
        let mut events = link.map(|up| self.publisher.link(up)).unwrap_or_default();
        events.extend(self.publisher.apply(&facts, self.board.session()));
        self.ordered = facts.iter().find_map(order_to_clock);
        self.told = self.records.as_ref().map(|records| records.add(&facts)).unwrap_or_default();
        let embargo = self.publisher.is_embargoed();
        self.health.set_embargo(embargo);
        for fact in facts {
            let durable = fact.kind.must_be_durable();
            log_fact(&fact, embargo);
            self.pen.write(Entry { at, wall_us, body: Body::Fact(fact) }, durable);
        }
        self.offer(at, events);
    }

    /// Shows the clock, as it is at `at`, on the screens beside the board.
    pub fn show_clock(&self, at: MonoTime) {
        if let Some(face) = self.board.clock_face(at) {
            self.outbox.show_clock(face);
        }
    }

    /// Records that time passes while this program keeps a running clock and nothing else is recorded: after a
    /// power cut the times go on from the last record. `least` is how long that may be ago.
    pub fn record_time(&mut self, now: MonoTime, least: Duration) {
        if self.board.keeps_running_clock() && u128::from(now.since(self.last)) >= least.as_micros() {
            self.input(now, resume::time_mark());
        }
    }

    /// The board of this unit has not answered yet: it counts as connected when it does.
    pub fn wait_for(&mut self, unit: Unit) {
        self.links.wait_for(unit);
        let events = self.publisher.link(self.links.is_up());
        self.offer(self.last, events);
    }

    /// Lets out what became known at `at`.
    fn offer(&mut self, at: MonoTime, events: Vec<FeedEvent>) {
        if events.is_empty() || self.silent {
            return;
        }
        self.step += 1;
        let origin = Origin { ev: self.board.session().last_event(), us: at.as_micros() };
        if self.outbox.offer(self.step, sysclock::monotonic(), origin, events) {
            self.pen.release(self.step);
        }
    }
}

/// True for a fact after which the clock may show something else than by counting down.
fn changes_face(fact: &Fact) -> bool {
    use crate::session::fact::{FactKind as F, law::LawFact};
    match &fact.kind {
        F::Clock(_) | F::GameEnd { .. } | F::ResultWithdrawn => true,
        F::Law(law) => match &**law {
            LawFact::ArbiterEntry(_) => true,
            LawFact::Advisory(notice) => notice.code == "flag-indicated",
            _ => false,
        },
        _ => false,
    }
}

/// Fires what is due next, up to and including `now`, at its own time, and gives that; nothing where nothing is due.
pub(super) fn fire_next(board: &mut Board, now: MonoTime) -> Option<MonoTime> {
    let deadline = board.deadline().filter(|deadline| *deadline <= now)?;
    board.advance(deadline);
    Some(deadline)
}

/// Every fact that the session has ready, in order.
pub(super) fn drain(board: &mut Board) -> Vec<Fact> {
    std::iter::from_fn(|| board.poll_fact()).collect()
}

fn order_to_clock(fact: &Fact) -> Option<LawClockOrder> {
    match &fact.kind {
        FactKind::Law(law) => match **law {
            LawFact::ClockOrder(order) => Some(order),
            _ => None,
        },
        _ => None,
    }
}

/// What a person did on purpose: it must not be lost.
fn is_said(input: &Input) -> bool {
    let event = match input {
        Input::Event(_, event) => event,
        Input::Peg(_, line) => return line.starts_with("$PRESS,") || line.starts_with("$BUTTON,"),
        Input::Dgt(..) => return false,
    };
    matches!(event, Event::Press(_) | Event::Arbiter(_) | Event::Button(_) | Event::Result(_))
}

fn log_fact(fact: &Fact, embargo: bool) {
    use crate::session::fact::FactKind as F;
    match &fact.kind {
        // A log is read by more people than a journal is.
        F::MovePublished { .. } if embargo => {
            tracing::info!("a move is held back until the envelope is opened")
        }
        F::MovePublished { ply, uci, .. } => tracing::info!("ply {ply}: {uci}"),
        F::GameEnd { result, reason, .. } => tracing::info!("the game ended: {} ({reason})", result.as_str()),
        F::Advisory { code, to, .. } => tracing::debug!("advisory {code} for {}", to.as_str()),
        other => tracing::debug!("{}", other.name()),
    }
}

#[cfg(test)]
mod tests;
