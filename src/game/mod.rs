//! One board's game: inputs are decoded into events, the session reconstructs the moves, and the conduct
//! of the game under the Laws is looked at (`conduct`). This is what the daemon and `replay` drive.

mod conduct;
mod own_clock;
mod reader;

use std::collections::VecDeque;

use shakmaty::Square;

pub use self::conduct::check_command;
use self::{
    conduct::{Conduct, Desk, Order},
    reader::{Read, Reader, Settled, TurnedOver},
};

use crate::{
    laws::settings::WhiteSide,
    session::{
        Session,
        event::{ClockReading, Event, GameResult, Stamped, Unit},
        face::ClockFace,
        fact::{Fact, FactKind, law::ClockOrder},
        io::Input,
        setup::{GameSetup, SetupError},
        time::MonoTime,
    },
    wire::dgt::{
        memory::Squares,
        set_clock::{ClockTime, Runs, SetClock},
    },
};

/// Decoder, session and conduct of the game of one board.
#[derive(Clone, Debug)]
pub struct Board {
    session: Session,
    conduct: Conduct,
    readers: [Reader; 2],
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
        let settings = setup.law_settings()?;
        let clock_turned = settings.clock.white_side == WhiteSide::Right;
        let session = Session::new(setup)?;
        let conduct = Conduct::new(setup, settings, &session)?;
        let mut board = Board {
            session,
            conduct,
            readers: Reader::pair(setup, clock_turned),
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
                match event {
                    Event::Link(up) => self.link(*unit, *up),
                    // The program that reads them was gone.
                    Event::Power(up) => Unit::ALL.into_iter().for_each(|unit| self.link(unit, *up)),
                    _ => {}
                }
                self.event(at, *unit, event);
            }
            Input::Dgt(unit, bytes) => {
                self.note_puzzle(*unit);
                for event in &self.reader(*unit).bytes(at, bytes) {
                    self.event(at, *unit, event);
                }
            }
            Input::Peg(unit, line) => {
                for event in &self.reader(*unit).line(line) {
                    self.event(at, *unit, event);
                }
            }
        }
    }

    const fn reader(&mut self, unit: Unit) -> &mut Reader {
        unit.of_mut(&mut self.readers)
    }

    fn link(&mut self, unit: Unit, up: bool) {
        self.note_puzzle(unit);
        self.reader(unit).link(up);
    }

    /// After an outage the memory of a DGT board is told where the session cannot explain the board. Two
    /// squares may be a man in the hand and the one that it captures.
    fn note_puzzle(&mut self, unit: Unit) {
        if self.reader(unit).dgt.awaits_memory() {
            let puzzled = self.session.readings().first().is_none_or(|(_, _, differs)| differs.count() > 2);
            self.reader(unit).dgt.set_puzzled(puzzled);
        }
    }

    /// So many plies may be shown while a move is sealed; nothing where all may.
    pub fn shown_plies(&self) -> Option<usize> {
        self.conduct.shown_plies()
    }

    /// The result, as far as it may be shown while a move is sealed.
    pub fn shown_result(&self) -> GameResult {
        self.conduct.shown_result(&self.session)
    }

    /// True when one game is played on two boards.
    pub const fn has_two_boards(&self) -> bool {
        self.conduct.has_two_boards()
    }

    /// What a DGT board or a pegged one has told of itself, by name: serial numbers, version, battery, ...
    pub fn identity(&self, unit: Unit) -> &[(&'static str, serde_json::Value)] {
        let reader = unit.of(&self.readers);
        if reader.dgt.identity().is_empty() { reader.peg.identity() } else { reader.dgt.identity() }
    }

    /// Whether the clock of a DGT board is connected, and whether it showed its battery sign last.
    pub fn clock_device(&self, unit: Unit) -> Option<(bool, bool)> {
        unit.of(&self.readers).dgt.clock_device()
    }

    /// What an order means at the clock, and the board that has it. Which half is White's is as the board lies.
    pub fn setting_of(&self, order: &ClockOrder) -> Option<(Unit, SetClock)> {
        let unit = self.conduct.clock_unit()?;
        let left = unit.of(&self.readers).dgt.left();
        let (white, black) = (ClockTime::from_ms(order.white_ms)?, ClockTime::from_ms(order.black_ms)?);
        let runs = match order.runs {
            None => Runs::Neither,
            Some(side) if side.0 == left => Runs::Left,
            Some(_) => Runs::Right,
        };
        let (left, right) = left.fold_wb((white, black), (black, white));
        Some((unit, SetClock { left, right, runs }))
    }

    /// What every square of a DGT board reads, in the board's own numbering, once all are known.
    pub fn dgt_squares(&self, unit: Unit) -> Option<Squares> {
        unit.of(&self.readers).dgt_squares()
    }

    fn event(&mut self, at: MonoTime, unit: Unit, event: &Event) {
        self.fire(at);
        self.reached = at;
        let ev = self.session.last_event() + 1;
        if matches!(event, Event::Device(_) | Event::Times(_) | Event::Link(_) | Event::Power(_)) {
            self.heed_clock(at, ev, unit, event);
        }
        if self.keep_decoded {
            self.decoded.push_back(Stamped { at, unit, event: event.clone() });
        }
        if self.conduct.has_two_boards() {
            self.event_of_two(at, ev, unit, event);
        } else {
            self.take(at, ev, unit, event);
        }
    }

    #[cold]
    fn heed_clock(&mut self, at: MonoTime, ev: i64, unit: Unit, event: &Event) {
        self.at_desk(at, ev, |conduct, desk| conduct.heed_clock(unit, event, desk));
    }

    /// Takes an event of one of two boards: what it is for the game, its conduct knows.
    #[cold]
    #[inline(never)]
    fn event_of_two(&mut self, at: MonoTime, ev: i64, unit: Unit, event: &Event) {
        self.route(at, ev, unit, event);
        self.tell_held(at);
    }

    fn route(&mut self, at: MonoTime, ev: i64, unit: Unit, event: &Event) {
        let seen = self.conduct.seen(unit, &self.session);
        match unit.of_mut(&mut self.readers).read(at, event, &seen) {
            (Read::Event(event), turned) => {
                if self.take_with_lifts(at, ev, unit, &event, turned) {
                    return;
                }
                let mut routed = Stamped { at, unit, event };
                self.at_desk(at, ev, |conduct, desk| {
                    if turned {
                        conduct.tell_turned(unit, desk);
                    }
                    conduct.route(&mut routed, desk);
                });
                self.take(at, ev, routed.unit, &routed.event);
            }
            (Read::Over(over), _) => {
                // The event is counted; its changes have no numbers of their own.
                self.take(at, ev, Unit::B, event);
                self.turn_over(at, unit, &over);
            }
            (Read::Edge { dip, noisy }, _) => {
                // An edge is counted as what happens on the second board is.
                self.take(at, ev, Unit::B, event);
                if let Some((square, open_us)) = dip.filter(|_| self.conduct.may_move_on(unit, &self.session))
                {
                    self.session.note_dip(at, square, open_us, noisy);
                    self.pass_on(at);
                }
                self.fire(at);
            }
        }
    }

    /// Takes a change of one of two boards that has rested.
    #[cold]
    #[inline(never)]
    fn settle(&mut self, at: MonoTime, unit: Unit) {
        let seen = self.conduct.seen(unit, &self.session);
        let settled = unit.of_mut(&mut self.readers).settled(at, &seen);
        let (square, occupied, turned) = match settled {
            Some(Settled::Change(square, occupied, turned)) => (square, occupied, turned),
            Some(Settled::Over(over)) => return self.turn_over(at, unit, &over),
            None => return,
        };
        if occupied && let Some(lifted) = self.conduct.lifted_before(unit, square, &self.session) {
            self.hand_over(at, &lifted);
        }
        self.change(at, unit, (square, occupied), turned);
    }

    /// Takes a man that comes down where something was lifted before that the game was not told. False: there
    /// is nothing of the kind, and the event is still to be taken.
    fn take_with_lifts(&mut self, at: MonoTime, ev: i64, unit: Unit, event: &Event, turned: bool) -> bool {
        let exchanges = self.conduct.exchanges(unit, event);
        let Some(square) = event.placed() else { return false };
        if exchanges {
            // The event is counted; its changes have no numbers of their own.
            self.take(at, ev, Unit::B, event);
            self.change(at, unit, (square, false), turned);
        }
        let lifted = self.conduct.lifted_before(unit, square, &self.session);
        if let Some(lifted) = &lifted {
            if !exchanges {
                self.take(at, ev, Unit::B, event);
            }
            self.hand_over(at, lifted);
        }
        let taken = exchanges || lifted.is_some();
        if taken {
            self.change(at, unit, (square, true), turned && !exchanges);
        }
        taken
    }

    /// Tells the game what its player holds already who has got the move.
    #[cold]
    #[inline(never)]
    fn tell_held(&mut self, at: MonoTime) {
        if let Some(changes) = self.conduct.turn_passed_on_two_boards(&self.session) {
            self.hand_over(at, &changes);
        }
    }

    /// Hands the game changes of a board that it was not told.
    fn hand_over(&mut self, at: MonoTime, changes: &[(Square, bool)]) {
        for (square, occupied) in changes {
            self.take_change(at, Unit::A, &Event::Square { square: *square, occupied: *occupied });
        }
    }

    /// A board turned out to lie turned: what was told of it is taken back, with its touches, and told anew.
    #[cold]
    fn turn_over(&mut self, at: MonoTime, unit: Unit, over: &TurnedOver) {
        let ev = self.session.last_event();
        self.at_desk(at, ev, |conduct, desk| conduct.tell_turned(unit, desk));
        over.undone.iter().for_each(|change| self.change(at, unit, *change, false));
        self.at_desk(at, ev, |conduct, desk| conduct.were_no_touches(&over.undone, desk));
        over.done.iter().for_each(|change| self.change(at, unit, *change, false));
    }

    /// Takes a change of one of two boards.
    fn change(&mut self, at: MonoTime, unit: Unit, (square, occupied): (Square, bool), turned: bool) {
        let ev = self.session.last_event();
        let mut routed = Stamped { at, unit, event: Event::Square { square, occupied } };
        self.at_desk(at, ev, |conduct, desk| {
            if turned {
                conduct.tell_turned(unit, desk);
            }
            conduct.route(&mut routed, desk);
        });
        self.take_change(at, routed.unit, &routed.event);
    }

    /// Takes a change that has no number of its own.
    fn take_change(&mut self, at: MonoTime, unit: Unit, event: &Event) {
        let ev = self.session.last_event();
        self.at_desk(at, ev, |conduct, desk| conduct.before(unit, event, desk));
        if let (Unit::A, Event::Square { square, occupied }) = (unit, event) {
            self.session.take_settled(at, *square, *occupied);
            self.pass_on(at);
        }
        self.at_desk(at, ev, |conduct, desk| conduct.after(event, desk));
    }

    /// Takes an event of the game.
    fn take(&mut self, at: MonoTime, ev: i64, unit: Unit, event: &Event) {
        if self.conduct.keeps_clock() || matches!(event, Event::Times(_) | Event::Flag(_)) {
            self.take_by_clock(at, ev, unit, event);
        } else {
            self.take_admitted(at, ev, unit, event);
        }
    }

    /// Takes an event that may be none of this game, or another one, as its clock has it.
    #[cold]
    #[inline(never)]
    fn take_by_clock(&mut self, at: MonoTime, ev: i64, unit: Unit, event: &Event) {
        if !self.conduct.admits(event, &self.session) {
            // It is counted, as what happens on the second board is.
            self.session.take_event(at, Unit::B, event);
            self.pass_on(at);
            self.at_desk(at, ev, |conduct, desk| conduct.leave(event, desk));
            return;
        }
        let start = self.conduct.as_start(event, &self.session);
        self.take_admitted(at, ev, unit, start.as_ref().unwrap_or(event));
    }

    fn take_admitted(&mut self, at: MonoTime, ev: i64, unit: Unit, event: &Event) {
        let plain = self.conduct.takes_plainly(event);
        if !plain && self.at_desk(at, ev, |conduct, desk| conduct.before(unit, event, desk)) {
            self.session.advance(at);
        }
        self.session.take_event_on_time(at, unit, event);
        self.pass_on(at);
        if !plain {
            self.at_desk(at, ev, |conduct, desk| conduct.after(event, desk));
        }
    }

    /// Fires every deadline up to and including `now`: at one time those of contacts that rest, then the
    /// session's, then those of the Laws.
    pub fn advance(&mut self, now: MonoTime) {
        self.last = self.last.max(now);
        self.fire(now);
    }

    /// The record is at its end: every deadline fires, but for the default time. Whether a player comes after it is
    /// not in the record, whose end is not the end of the game. `seen_to`: so far somebody looked on, where that is
    /// later than the last input.
    pub fn finish(&mut self, seen_to: MonoTime) {
        self.advance(seen_to.max(self.last));
        self.conduct.record_ends();
        self.advance(MonoTime::END);
    }

    fn fire(&mut self, now: MonoTime) {
        let session = self.session.soonest();
        let at = self.soonest_with(session);
        if at <= now && at < MonoTime::END {
            self.fire_from(at, session, now);
        }
    }

    #[inline(never)]
    fn fire_from(&mut self, mut at: MonoTime, mut session: MonoTime, now: MonoTime) {
        while at <= now && at < MonoTime::END {
            self.fire_next(at.max(self.reached), session);
            session = self.session.soonest();
            at = self.soonest_with(session);
        }
    }

    fn fire_next(&mut self, at: MonoTime, session: MonoTime) {
        self.reached = at;
        let rested = if self.has_two_boards() { self.rest().filter(|(due, _)| *due <= at) } else { None };
        if let Some((_, unit)) = rested {
            self.settle(at, unit);
        } else if session <= at && session != MonoTime::END {
            self.session.advance(at);
            self.pass_on(at);
        } else {
            let ev = self.session.last_event();
            self.at_desk(at, ev, Conduct::deadline_passed);
        }
        if self.has_two_boards() {
            self.tell_held(at);
        }
    }

    /// Hands the facts of the session to the conduct of the game, which adds its own.
    fn pass_on(&mut self, at: MonoTime) {
        while let Some(fact) = self.session.next_fact() {
            let (ev, told) = (fact.ev, fact.at);
            // Nearly every event is a contact: it is not moved to be looked at.
            if let FactKind::Contact { square, occupied, .. } = fact.kind {
                self.session.skip_contact();
                self.at_desk(at, ev, |conduct, desk| {
                    desk.at = told;
                    conduct.contact(square, occupied, desk);
                });
            } else if let Some(fact) = self.session.poll_fact() {
                self.at_desk(at, ev, |conduct, desk| conduct.pass(fact, desk));
            }
        }
    }

    /// Lets the conduct of the game act, and carries out what it orders. True when there were orders.
    fn at_desk(&mut self, at: MonoTime, ev: i64, act: impl FnOnce(&mut Conduct, &mut Desk<'_>)) -> bool {
        let (session, facts, orders) = (&self.session, &mut self.facts, &mut self.orders);
        let mut desk = Desk { session, at, ev, facts, orders };
        act(&mut self.conduct, &mut desk);
        if self.conduct.keeps_clock() {
            self.conduct.tell_own_clock(&mut desk);
        }
        let ordered = !self.orders.is_empty();
        if ordered {
            self.carry_out(at, ev);
        }
        ordered
    }

    #[cold]
    fn carry_out(&mut self, at: MonoTime, ev: i64) {
        for order in std::mem::take(&mut self.orders) {
            match order {
                Order::Conclude(end) => self.session.conclude(at, ev, end),
                Order::Restore(plies) => self.session.restore(at, ev, plies),
                Order::Adopt(mv, after) => self.session.adopt(at, mv, *after),
                Order::Disown(plies) => self.session.disown(at, ev, plies),
                Order::Refuse(from) => self.session.refuse(from),
                Order::FoundIllegal(from, to) => self.session.found_illegal((from, to)),
                Order::Excuse => self.session.excuse(at),
                Order::Exchanged(square) => self.session.note_exchanged(at, square),
                Order::SetUp(position) => self.session.set_up(*position),
                Order::PlayOn => self.session.play_on(at),
                Order::ConfirmTold => self.session.confirm_told(at, ev),
                Order::Correct(index, line, reason) => self.session.correct(at, ev, index, &line, reason),
                Order::Play(mv, presses) => self.session.play(at, ev, mv, presses),
                Order::Complete(index) => self.session.complete(at, ev, index),
                Order::PerMove(per_move) => self.session.rule_per_move(per_move),
                Order::ClockSet(times_ms) => self.session.expect_clock(at, times_ms),
                Order::Clock { reading, delay_ms, amended } => {
                    self.session.show_own_clock(at, ev, reading, delay_ms, amended);
                }
                Order::Pause(stopped) => self.session.pause_by_arbiter(at, stopped),
            }
            self.pass_on(at);
        }
    }

    /// Which of two boards has the contact that will have rested first, and when.
    fn rest(&self) -> Option<(MonoTime, Unit)> {
        let due = |unit: Unit| unit.of(&self.readers).deadline().map(|at| (at, unit));
        Unit::ALL.into_iter().filter_map(due).min()
    }

    /// The next deadline. One that would have passed already, such as that of a turn that a move taken back
    /// has opened again, is now: nothing is told in the past.
    pub fn deadline(&self) -> Option<MonoTime> {
        let soonest = self.soonest();
        (soonest < MonoTime::END).then(|| soonest.max(self.reached))
    }

    /// The next deadline as it was set, or the end of time.
    fn soonest(&self) -> MonoTime {
        self.soonest_with(self.session.soonest())
    }

    /// The same, with the deadline of the session.
    fn soonest_with(&self, session: MonoTime) -> MonoTime {
        let soonest = session.min(self.conduct.soonest());
        // The contacts of a single board rest in its session.
        match self.has_two_boards() {
            true => soonest.min(self.rest().map_or(MonoTime::END, |(at, _)| at)),
            false => soonest,
        }
    }

    /// The face of the clock at `at`: what this program keeps, or what was read last. Nothing where there is
    /// no clock.
    pub fn clock_face(&self, at: MonoTime) -> Option<ClockFace> {
        if let Some(face) = self.conduct.own_face(at) {
            return Some(face);
        }
        let reading = self.session.clock();
        let [white_flag, black_flag] = self.conduct.flags();
        (reading != ClockReading::default()).then(|| ClockFace {
            white_ms: reading.white_ms,
            black_ms: reading.black_ms,
            running: reading
                .running
                .filter(|_| !self.session.is_over())
                .map(|side| side.fold_wb("white", "black")),
            delay_ms: 0,
            white_flag,
            black_flag,
        })
    }

    /// True while this program keeps a clock that runs.
    pub fn keeps_running_clock(&self) -> bool {
        self.conduct.own_runs()
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

#[cfg(test)]
mod tests;
