//! An arbiter's order to the clock, and what is seen of that clock as a device: there, away, its battery.
//!
//! Nothing is sent from here. `send-clock` tells the fact `clock_order`; who reads the board sends it and answers
//! with a device note, which is an input like any other.

use serde_json::Value;
use shakmaty::Color;

use super::{Conduct, Desk, Order, rulings::Refusal};
use crate::{
    session::{
        event::{ClockReading, Event, Unit},
        fact::law::{Audience, ClockOrder, ClockSet, LawFact, Notice, Shown, Side},
        time::MonoTime,
    },
    wire::dgt::set_clock::ClockTime,
};

/// An order without an answer for this long is given up, in milliseconds: longer than all tries of a source.
const ANSWER_MS: u64 = 20_000;

/// What a board tells of its clock may be this old, in milliseconds (protocol, section 7).
const OLD_MS: u64 = 2_000;
/// More times than are remembered were set within this, in milliseconds: a clock that contradicts itself.
const FLOOD_MS: u64 = 60_000;
/// A clock that was set shows it within this time, in milliseconds.
const SHOWN_MS: u64 = 10_000;
/// A clock that runs has moved by less in that time, in milliseconds.
const NEAR_MS: u64 = 3_000;

/// The clock of one board.
#[derive(Clone, Copy, Debug, Default)]
struct SeenClock {
    /// The board is one whose clock can be set.
    settable: bool,
    /// The board does not answer.
    down: bool,
    /// The clock's cable was pulled.
    absent: bool,
    battery_low: bool,
    reading: Option<ClockReading>,
}

/// An order that is not answered yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: u32,
    before: Option<Shown>,
    after: Shown,
    due: MonoTime,
}

/// The orders of one game to its clock.
#[derive(Clone, Debug, Default)]
pub(super) struct ClockDesk {
    clocks: [SeenClock; 2],
    orders: u32,
    waiting: Option<Waiting>,
    /// When times were seen to be set, the last ones.
    adjusted: [Option<MonoTime>; 4],
    /// When the clock was set last, what it showed until then, and what it shows now.
    set: Option<(MonoTime, Shown, Shown)>,
}

impl ClockDesk {
    /// The board that has the clock.
    pub(super) fn unit(&self) -> Option<Unit> {
        let has_clock = |clock: &SeenClock| clock.settable && !clock.absent && clock.reading.is_some();
        Unit::ALL.into_iter().find(|unit| has_clock(unit.of(&self.clocks)))
    }

    /// What the clock that can be set showed last.
    fn reading(&self) -> Option<Shown> {
        self.unit()?.of(&self.clocks).reading.map(shown)
    }

    /// True for a reading that was on its way when the clock was set.
    pub(super) fn is_old(&self, reading: &ClockReading, at: MonoTime) -> bool {
        let near = |shown: &Shown| {
            let sides = [(shown.white_ms, reading.white_ms), (shown.black_ms, reading.black_ms)];
            sides
                .into_iter()
                .all(|(one, other)| one.zip(other).is_some_and(|(a, b)| a.abs_diff(b) <= NEAR_MS))
        };
        let set = self.set.as_ref().filter(|(since, ..)| at < since.plus_ms(OLD_MS));
        set.is_some_and(|(_, before, after)| near(before) && !near(after))
    }

    /// True for a time that the clock shows since it was set to it.
    pub(super) fn has_ordered(&self, side: Color, ms: u64, at: MonoTime) -> bool {
        let set = self.set.as_ref().filter(|(since, ..)| at < since.plus_ms(SHOWN_MS));
        let ordered = set.and_then(|(_, _, after)| side.fold_wb(after.white_ms, after.black_ms));
        ordered.is_some_and(|ordered| ordered.abs_diff(ms) <= SHOWN_MS)
    }

    /// True when times were changed again and again of late: the arbiter knows.
    pub(super) fn is_flooded(&mut self, at: MonoTime) -> bool {
        let [first, ..] = self.adjusted;
        let flooded = first.is_some_and(|first| at < first.plus_ms(FLOOD_MS));
        self.adjusted.rotate_left(1);
        if let Some(last) = self.adjusted.last_mut() {
            *last = Some(at);
        }
        flooded
    }

    /// Until when an order waits for its answer.
    pub(super) fn due(&self) -> Option<MonoTime> {
        self.waiting.map(|waiting| waiting.due)
    }
}

fn shown(reading: ClockReading) -> Shown {
    Shown { white_ms: reading.white_ms, black_ms: reading.black_ms, running: reading.running.map(Side) }
}

/// Why an order was not carried out, and what helps.
fn why(word: &str) -> (&'static str, &'static str) {
    const LOOK: &str = "look at what the clock shows, then say send-clock again or set it by hand";
    match word {
        "not-remote" => (
            "the clock is not in its remote mode",
            "only then it can be set: a DGT XL in mode 23, a DGT 3000 in option 25; in any other mode set it by hand",
        ),
        "unanswered" => ("the clock did not acknowledge the order", LOOK),
        "clock-error" => ("the clock answered with an error", LOOK),
        "no-clock" => {
            ("no clock is connected", "see to its cable, then say send-clock again or set it by hand")
        }
        "link-lost" => ("the board does not answer", LOOK),
        "not-sent" => ("the board was not ready, and the times grew old", LOOK),
        "busy" => ("another order is under way", LOOK),
        "restarted" => ("the program was started anew before the clock answered", LOOK),
        _ => ("nothing was heard of the order", LOOK),
    }
}

impl Conduct {
    /// What a board tells of its clock, and of orders to it.
    pub(in crate::game) fn heed_clock(&mut self, unit: Unit, event: &Event, desk: &mut Desk<'_>) {
        let clock = unit.of_mut(&mut self.clock_desk.clocks);
        match event {
            Event::Times(reading) => (clock.reading, clock.absent) = (Some(*reading), false),
            Event::Link(up) => clock.down = !up,
            Event::Power(false) => self.order_failed("restarted", desk),
            Event::Device(note) => self.heed_note(unit, note, desk),
            _ => {}
        }
    }

    fn heed_note(&mut self, unit: Unit, note: &Value, desk: &mut Desk<'_>) {
        let text = |key: &str| note.get(key).and_then(Value::as_str);
        let clock = unit.of_mut(&mut self.clock_desk.clocks);
        clock.settable |= text("source") == Some("dgt");
        let mut tell = |code| desk.notice(Notice::of(code, Audience::Arbiter));
        match (text("clock"), text("clock_battery")) {
            (Some("absent"), _) if clock.reading.is_some() && !clock.absent => {
                clock.absent = true;
                tell("clock-unplugged");
            }
            (Some("present"), _) if clock.absent => {
                clock.absent = false;
                tell("clock-back");
            }
            (_, Some("low")) if !clock.battery_low => {
                clock.battery_low = true;
                tell("clock-battery-low");
            }
            (_, Some("good")) => clock.battery_low = false,
            _ => {}
        }
        if text("what") == Some("clock-set") {
            self.order_answered(note, desk);
        }
    }

    /// The times as ruled so far are sent to the clock, with the clock of this side running, or none.
    pub(super) fn send_clock(&mut self, runs: Option<Color>, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        if self.keeps_clock() {
            self.set_own_clock(runs, desk);
            return Ok(());
        }
        let Some(unit) = self.clock_desk.unit() else {
            return Err("no DGT clock is read that could be set; set it by hand".into());
        };
        let clock = unit.of(&self.clock_desk.clocks);
        if clock.down {
            return Err("the board does not answer: its clock cannot be set now".into());
        }
        if self.clock_desk.waiting.is_some() {
            return Err("an order to the clock is under way: wait for its answer".into());
        }
        let before = clock.reading.map(shown);
        let time = |side: Color| -> Result<u64, Refusal> {
            let account = self.clocks.remaining(side, desk.at);
            let name = side.fold_wb("white", "black");
            let account = account
                .ok_or_else(|| format!("the time of {name} is not known: say set clock {name} MS first"))?;
            let ruled = self.clocks.corrections.get(side).ruled(account);
            let time = ClockTime::from_ms(ruled)
                .ok_or_else(|| format!("a DGT clock shows at most 9:59:59, and {name} has {ruled} ms"))?;
            Ok(time.ms())
        };
        let (white_ms, black_ms) = (time(Color::White)?, time(Color::Black)?);
        self.clock_desk.orders += 1;
        let (order, runs) = (self.clock_desk.orders, runs.map(Side));
        let after = Shown { white_ms: Some(white_ms), black_ms: Some(black_ms), running: runs };
        let due = desk.at.plus_ms(ANSWER_MS);
        self.clock_desk.waiting = Some(Waiting { number: order, before, after, due });
        // It may show them before its answer is heard.
        desk.orders.push(Order::ClockSet([after.white_ms, after.black_ms]));
        let to = Audience::Arbiter;
        desk.tell(LawFact::ClockOrder(ClockOrder { order, before, white_ms, black_ms, runs, to }));
        Ok(())
    }

    /// What was ruled and the clock that is kept here does not show yet, it shows from now on.
    fn set_own_clock(&mut self, runs: Option<Color>, desk: &mut Desk<'_>) {
        for side in Color::ALL {
            let Some(account) = self.clocks.remaining(side, desk.at) else { continue };
            let ruled = self.clocks.corrections.get(side).ruled(account);
            if ruled != account {
                self.change_clock(side, ruled, desk);
            }
        }
        match runs {
            Some(side) => self.start_by_command(side, desk),
            None if self.own_runs() => self.stop_by_command(desk),
            None => {}
        }
    }

    /// Who reads the board tells what came of the order.
    fn order_answered(&mut self, note: &Value, desk: &mut Desk<'_>) {
        let number = note.get("order").and_then(Value::as_u64);
        let Some(waiting) = self.clock_desk.waiting.filter(|waiting| number == Some(waiting.number.into()))
        else {
            return;
        };
        if note.get("ok") != Some(&Value::Bool(true)) {
            return self.order_failed(note.get("reason").and_then(Value::as_str).unwrap_or_default(), desk);
        }
        self.clock_desk.waiting = None;
        let Waiting { number: order, before, after, .. } = waiting;
        let shown_last = self.clock_desk.reading();
        self.clock_desk.set = shown_last.map(|last| (desk.at, last, after));
        self.clocks.ordered(after, desk.at);
        let tries = note.get("tries").and_then(Value::as_u64).unwrap_or(1);
        let to = Audience::Arbiter;
        desk.tell(LawFact::ClockSet(ClockSet { order, before, after, tries, to }));
        self.look_at_recording(desk);
    }

    fn order_failed(&mut self, word: &str, desk: &mut Desk<'_>) {
        if self.clock_desk.waiting.take().is_some() {
            let (reason, remedy) = why(word);
            let notice = Notice::of("clock-not-set", Audience::Arbiter);
            desk.notice(Notice { reason: Some(reason), detail: remedy.into(), ..notice });
        }
    }

    /// The time for an answer may be over.
    pub(super) fn look_at_order(&mut self, desk: &mut Desk<'_>) {
        if self.clock_desk.due().is_some_and(|due| due <= desk.at) {
            self.order_failed("", desk);
        }
    }
}
