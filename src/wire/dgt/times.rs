//! From the states of the clock to presses, times and flags.

use serde_json::json;
use shakmaty::Color;

use crate::session::event::{ClockReading, Event};

use super::clock::{Ack, Clock, ClockState};

/// While the clock runs, a time that is this much above the last one is held back until a second
/// message confirms it, in seconds (boards have been seen to repeat old times).
const JUMP_S: u32 = 3600;

/// As often the time of the side that should rest must fall before it is believed to run.
const CONTRARY: u8 = 2;

/// No move adds more, in seconds.
const MOST_ADDED_S: u32 = 60;

/// So often a standing clock that shows the same is told again.
const STANDING: u8 = 2;

/// What was told of the clock so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// The last state that was believed.
    last: Option<ClockState>,
    /// A state that was held back.
    held: Option<ClockState>,
    /// The message that alone showed the lever laid over.
    lever: Option<ClockState>,
    /// How often in a row the time fell on the side that the lever says is resting.
    contrary: u8,
    /// The last reading that was told.
    told: Option<ClockReading>,
    /// How often it was told again.
    again: u8,
    /// No clock is connected; `None` before the first message.
    absent: Option<bool>,
}

impl Times {
    /// Takes one clock message; `left` is the side that sits at the left of the clock.
    pub fn take(&mut self, clock: Clock, left: Color, out: &mut Vec<Event>) {
        match clock {
            Clock::Null => {}
            Clock::Ack(ack) => out.push(acknowledged(ack)),
            Clock::Absent => {
                if self.absent != Some(true) {
                    self.absent = Some(true);
                    out.push(Event::Device(json!({"clock": "absent"})));
                }
            }
            Clock::Invalid(payload) => {
                let hex: String = payload.iter().map(|byte| format!("{byte:02x}")).collect();
                out.push(Event::Device(json!({"what": "clock-invalid", "payload": hex})));
            }
            Clock::State(state) => {
                if self.absent.replace(false) == Some(true) {
                    out.push(Event::Device(json!({"clock": "present"})));
                }
                if self.believe(&state) {
                    self.lever(state, left, out);
                } else {
                    out.push(Event::Device(json!({
                        "what": "clock-implausible",
                        "left_ms": u64::from(state.left.seconds) * 1000,
                        "right_ms": u64::from(state.right.seconds) * 1000,
                    })));
                }
            }
        }
    }

    /// True when the state may be used now; else it is held back.
    fn believe(&mut self, state: &ClockState) -> bool {
        let near = |other: &ClockState| {
            state.left.seconds <= other.left.seconds.saturating_add(JUMP_S)
                && state.right.seconds <= other.right.seconds.saturating_add(JUMP_S)
        };
        let jumps = |last: &ClockState| last.running && state.running && !near(last);
        let believed = !self.last.as_ref().is_some_and(jumps) || self.held.as_ref().is_some_and(near);
        self.held = (!believed).then_some(*state);
        believed
    }

    /// A press completes a move, for good. The lever is one bit of a message that has no checksum: where the time that
    /// a move adds does not speak for a press, too, the next message has to show it.
    fn lever(&mut self, state: ClockState, left: Color, out: &mut Vec<Event>) {
        let alone = self.lever.take();
        let confirmed = alone.is_some_and(|alone| agree(&alone, &state));
        let last = self.last.filter(|last| last.running && last.right_lever_high != state.right_lever_high);
        let pressed = match last {
            Some(last) if state.running || confirmed => {
                if !confirmed && !adds(&last, &state) {
                    self.lever = Some(state);
                    return;
                }
                true
            }
            Some(_) => false,
            None if alone.is_some() => {
                out.push(Event::Device(json!({"what": "clock-lever-alone"})));
                false
            }
            None => false,
        };
        self.state(state, pressed, left, out);
    }

    fn state(&mut self, state: ClockState, pressed: bool, left: Color, out: &mut Vec<Event>) {
        let last = self.last.replace(state);
        let running =
            self.running(last.as_ref(), &state).map(|right| if right { left.other() } else { left });
        // The message of a press holds the time with the increment already added: it comes first, so
        // that the press finds it.
        self.tell(&state, running, left, out);
        if pressed {
            out.push(Event::Press(if state.right_lever_high { left } else { left.other() }));
        }
        let sides = [
            (left, state.left, last.map(|last| last.left)),
            (left.other(), state.right, last.map(|last| last.right)),
        ];
        for (color, side, before) in sides {
            let fallen = side.blocked || side.flag_shown;
            if fallen && !before.is_some_and(|before| before.blocked || before.flag_shown) {
                out.push(Event::Flag(color));
            }
        }
        if state.battery_low != last.is_some_and(|last| last.battery_low) {
            let word = if state.battery_low { "low" } else { "good" };
            out.push(Event::Device(json!({"clock_battery": word})));
        }
    }

    /// The board turned out to lie the other way round, and the clock with it: the times belong to
    /// the other players.
    pub fn turned(&mut self, left: Color, out: &mut Vec<Event>) {
        if let (Some(state), Some(told)) = (self.last, self.told) {
            self.tell(&state, told.running.map(Color::other), left, out);
        }
    }

    /// A press that the board's memory holds: the times as far as it tells them, then the press.
    pub fn recall(&mut self, right: bool, seconds: u32, left: Color, out: &mut Vec<Event>) {
        let presser = if right { left.other() } else { left };
        let mut reading = self.told.unwrap_or_default();
        let time = Some(u64::from(seconds) * 1000);
        match presser {
            Color::White => reading.white_ms = time,
            Color::Black => reading.black_ms = time,
        }
        reading.running = Some(presser.other());
        self.told = Some(reading);
        out.extend([Event::Times(reading), Event::Press(presser)]);
    }

    /// What the clock shows now, after times that were recalled.
    pub fn tell_again(&mut self, now: Option<ClockReading>, out: &mut Vec<Event>) {
        if let Some(reading) = now.filter(|reading| self.told != Some(*reading)) {
            self.told = Some(reading);
            out.push(Event::Times(reading));
        }
    }

    /// What was told of the clock last.
    pub fn told(&self) -> Option<ClockReading> {
        self.told
    }

    /// Whether a clock is connected, and whether it showed its battery sign last; nothing before it was heard.
    pub fn device(&self) -> Option<(bool, bool)> {
        Some((!self.absent?, self.last.is_some_and(|state| state.battery_low)))
    }

    fn tell(&mut self, state: &ClockState, running: Option<Color>, left: Color, out: &mut Vec<Event>) {
        let ms = |color: Color| {
            let side = if color == left { state.left } else { state.right };
            Some(u64::from(side.seconds) * 1000)
        };
        let reading = ClockReading { white_ms: ms(Color::White), black_ms: ms(Color::Black), running };
        // That a running clock still shows the same is news: it bounds the end of the second. One that stands
        // confirms what it shows.
        let again = self.told == Some(reading);
        self.again = if again { self.again.saturating_add(1) } else { 0 };
        if !again || running.is_some() || self.again <= STANDING {
            self.told = Some(reading);
            out.push(Event::Times(reading));
        }
    }

    /// Which side runs: `Some(true)` = right. The lever tells it, unless the times themselves fall
    /// on the other side again and again (a clock in its remote mode).
    fn running(&mut self, last: Option<&ClockState>, state: &ClockState) -> Option<bool> {
        if !state.running {
            self.contrary = 0;
            return None;
        }
        let lever = state.right_lever_high;
        match last.filter(|last| last.running && last.right_lever_high == lever) {
            None => self.contrary = 0,
            Some(last) => {
                let left_fell = state.left.seconds < last.left.seconds;
                let right_fell = state.right.seconds < last.right.seconds;
                if left_fell != right_fell {
                    let agrees = right_fell == lever;
                    self.contrary = if agrees { 0 } else { self.contrary.saturating_add(1).min(CONTRARY) };
                }
            }
        }
        Some(lever ^ (self.contrary >= CONTRARY))
    }
}

/// True for two messages in a row that show the same lever and about the same times.
fn agree(one: &ClockState, next: &ClockState) -> bool {
    const MOST_S: u32 = 3;
    one.right_lever_high == next.right_lever_high
        && one.left.seconds.abs_diff(next.left.seconds) <= MOST_S
        && one.right.seconds.abs_diff(next.right.seconds) <= MOST_S
}

/// True where the side that pressed was given the time for a move, and its opponent's time is what it was: an old
/// message shows other times of both.
fn adds(last: &ClockState, state: &ClockState) -> bool {
    let (pressed, rested) = if state.right_lever_high {
        ([last.left, state.left], [last.right, state.right])
    } else {
        ([last.right, state.right], [last.left, state.left])
    };
    let [before, after] = pressed;
    let [rests, runs] = rested;
    let added = after.seconds.checked_sub(before.seconds);
    after.per_move
        && added.is_some_and(|added| (1..=MOST_ADDED_S).contains(&added))
        && rests.seconds.checked_sub(runs.seconds).is_some_and(|fell| fell <= 1)
}

fn acknowledged(ack: Ack) -> Event {
    Event::Device(if ack.ready() {
        json!({"clock": "ready"})
    } else if let Some(button) = ack.button() {
        json!({"clock_button": button.as_str(), "held": ack.0[2]})
    } else if let Some((major, minor)) = ack.version() {
        json!({"clock_version": format!("{major}.{minor}")})
    } else {
        json!({"clock_ack": ack.0, "ok": ack.ok(), "unasked": ack.unasked()})
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::dgt::clock::ClockSide;

    fn side(seconds: u32) -> ClockSide {
        ClockSide { seconds, ..ClockSide::default() }
    }

    fn state(left: u32, right: u32, running: bool, right_lever_high: bool) -> ClockState {
        ClockState {
            left: side(left),
            right: side(right),
            running,
            right_lever_high,
            ..ClockState::default()
        }
    }

    fn take(times: &mut Times, state: ClockState) -> Vec<Event> {
        let mut out = Vec::new();
        times.take(Clock::State(state), Color::White, &mut out);
        out
    }

    /// A clock on which a method with time for each move is on.
    fn adding(left: u32, right: u32, right_lever_high: bool) -> ClockState {
        let mut state = state(left, right, true, right_lever_high);
        (state.left.per_move, state.right.per_move) = (true, true);
        state
    }

    fn reading(white_s: u64, black_s: u64, running: Option<Color>) -> Event {
        Event::Times(ClockReading { white_ms: Some(white_s * 1000), black_ms: Some(black_s * 1000), running })
    }

    #[test]
    fn a_press_comes_before_the_times_that_hold_the_increment() {
        let mut times = Times::default();
        take(&mut times, state(182, 182, false, false));
        assert_eq!(take(&mut times, adding(181, 182, false)), [reading(181, 182, Some(Color::White))]);
        assert_eq!(
            take(&mut times, adding(183, 182, true)),
            [reading(183, 182, Some(Color::Black)), Event::Press(Color::White)]
        );
        assert_eq!(
            take(&mut times, adding(183, 184, false)),
            [reading(183, 184, Some(Color::White)), Event::Press(Color::Black)]
        );
    }

    #[test]
    fn a_lever_that_one_message_alone_shows_is_no_press() {
        let mut times = Times::default();
        take(&mut times, state(100, 90, true, false));
        assert_eq!(take(&mut times, state(99, 90, true, true)), [], "no move adds time");
        let alone = Event::Device(json!({"what": "clock-lever-alone"}));
        assert_eq!(
            take(&mut times, state(99, 90, true, false)),
            [alone, reading(99, 90, Some(Color::White))]
        );
        take(&mut times, state(108, 70, true, true));
        assert_eq!(take(&mut times, state(98, 90, true, true)), [], "which shows quite other times");
        assert_eq!(
            take(&mut times, state(98, 89, true, true)),
            [reading(98, 89, Some(Color::Black)), Event::Press(Color::White)],
            "the second message confirms it"
        );
        take(&mut times, state(98, 88, true, false));
        assert_eq!(
            take(&mut times, state(98, 88, false, false)),
            [reading(98, 88, None), Event::Press(Color::Black)],
            "and was stopped at once"
        );
    }

    #[test]
    fn a_press_that_adds_time_is_believed_at_once_and_an_old_message_is_not() {
        let mut times = Times::default();
        take(&mut times, adding(182, 185, false));
        take(&mut times, adding(180, 185, false));
        assert!(take(&mut times, adding(183, 185, true)).contains(&Event::Press(Color::White)));
        take(&mut times, adding(183, 181, true));
        assert_eq!(
            take(&mut times, adding(181, 185, false)),
            [],
            "from White's turn, when Black had not thought yet"
        );
        assert_eq!(take(&mut times, adding(183, 180, true)).len(), 2, "noted, and the times go on");
        assert_eq!(take(&mut times, adding(183, 300, false)), [], "more than a move adds");
        assert_eq!(take(&mut times, adding(183, 180, true)).len(), 2);
        assert!(take(&mut times, adding(183, 182, false)).contains(&Event::Press(Color::Black)));
    }

    #[test]
    fn the_lever_of_a_stopped_clock_is_no_press() {
        let mut times = Times::default();
        take(&mut times, state(60, 60, false, false));
        assert_eq!(take(&mut times, state(60, 60, false, true)), [reading(60, 60, None)]);
        assert_eq!(
            take(&mut times, state(60, 60, true, false)),
            [reading(60, 60, Some(Color::White))],
            "the lever was laid over before the start"
        );
    }

    #[test]
    fn a_flag_is_told_once() {
        let mut times = Times::default();
        take(&mut times, state(5, 1, true, true));
        let mut fallen = state(5, 0, false, true);
        fallen.right.blocked = true;
        assert_eq!(take(&mut times, fallen), [reading(5, 0, None), Event::Flag(Color::Black)]);
        assert_eq!(take(&mut times, fallen), [reading(5, 0, None)], "the times twice again, the flag not");
        assert_eq!(take(&mut times, fallen), [reading(5, 0, None)]);
        assert_eq!(take(&mut times, fallen), []);
    }

    #[test]
    fn an_old_time_is_held_back_and_a_new_period_is_not() {
        let mut times = Times::default();
        take(&mut times, state(300, 400, true, false));
        let old = take(&mut times, state(5400, 400, true, false));
        assert!(matches!(old.as_slice(), [Event::Device(_)]), "{old:?}");
        assert_eq!(take(&mut times, state(299, 400, true, false)), [reading(299, 400, Some(Color::White))]);
        take(&mut times, state(7200, 400, true, false));
        assert_eq!(
            take(&mut times, state(7199, 400, true, false)),
            [reading(7199, 400, Some(Color::White))],
            "the second message confirms it"
        );
        take(&mut times, state(7199, 400, false, false));
        assert_eq!(take(&mut times, state(35_000, 35_000, false, false)), [reading(35_000, 35_000, None)]);
    }

    #[test]
    fn the_falling_time_overrules_the_lever() {
        let mut times = Times::default();
        take(&mut times, state(100, 100, true, false));
        assert_eq!(take(&mut times, state(100, 99, true, false)), [reading(100, 99, Some(Color::White))]);
        assert_eq!(take(&mut times, state(100, 98, true, false)), [reading(100, 98, Some(Color::Black))]);
    }

    #[test]
    fn the_times_change_hands_when_the_board_turns_out_to_be_turned() {
        let mut times = Times::default();
        take(&mut times, state(60, 90, true, false));
        let mut out = Vec::new();
        times.turned(Color::Black, &mut out);
        assert_eq!(out, [reading(90, 60, Some(Color::Black))]);
    }

    #[test]
    fn no_clock_and_null_leave_the_times_alone() {
        let mut times = Times::default();
        take(&mut times, state(100, 100, true, false));
        let mut out = Vec::new();
        for clock in [Clock::Absent, Clock::Absent, Clock::Null] {
            times.take(clock, Color::White, &mut out);
        }
        assert_eq!(out, [Event::Device(json!({"clock": "absent"}))]);
        take(&mut times, state(100, 99, true, true));
        assert_eq!(
            take(&mut times, state(100, 99, true, true)),
            [reading(100, 99, Some(Color::Black)), Event::Press(Color::White)]
        );
    }
}
