//! The lever of the clock and the buttons: closed or open inputs in, events out, without bounce.

use serde_json::json;
use shakmaty::Color;

use crate::session::{event::Event, time::MonoTime};

/// What is connected to the inputs of a port; an input is named by its bit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wired {
    /// Closed while the lever lies on the side of that player. Where only one is connected, the lever
    /// is on the other side while it is open.
    pub lever_white: Option<u32>,
    /// The same for Black.
    pub lever_black: Option<u32>,
    /// Buttons with what they say when they are pressed.
    pub buttons: Vec<(u32, Event)>,
    /// An input counts after this many microseconds without a change.
    pub debounce_us: u64,
}

/// Where the lever lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lever {
    On(Color),
    /// Between the two, or unknown.
    Between,
    /// On both sides at once: a fault.
    Both,
}

/// The inputs and their history.
#[derive(Clone, Debug)]
pub struct Inputs {
    wired: Wired,
    /// As they read, and since when each one does.
    raw: u32,
    since: [MonoTime; 32],
    /// As they count.
    settled: Option<u32>,
    /// The side that the lever was on last.
    lies: Option<Color>,
    fault: bool,
}

impl Inputs {
    /// Inputs of which nothing is known.
    pub fn new(wired: Wired) -> Inputs {
        Inputs { wired, raw: 0, since: [MonoTime::ZERO; 32], settled: None, lies: None, fault: false }
    }

    /// Forgets how they were: what changed while nobody looked is not told.
    pub fn forget(&mut self) {
        self.settled = None;
    }

    /// Takes what was read at `at`; `tell` gets what it means. What is closed at first is no event.
    pub fn take(&mut self, at: MonoTime, read: u32, mut tell: impl FnMut(Event)) {
        let Some(mut settled) = self.settled else {
            (self.raw, self.settled, self.since) = (read, Some(read), [at; 32]);
            if let Lever::On(side) = self.lever(read) {
                self.lies = Some(side);
            }
            return;
        };
        let changed = self.raw ^ read;
        self.raw = read;
        for (input, since) in self.since.iter_mut().enumerate() {
            if changed >> input & 1 == 1 {
                *since = at;
            }
        }
        let mut due = settled ^ read;
        if due == 0 {
            return;
        }
        for (input, since) in self.since.iter().enumerate() {
            if at.since(*since) < self.wired.debounce_us {
                due &= !(1 << input);
            }
        }
        if due == 0 {
            return;
        }
        settled ^= due;
        self.settled = Some(settled);
        self.lever_moved(settled, &mut tell);
        for (input, event) in &self.wired.buttons {
            if due & settled & input != 0 {
                tell(event.clone());
            }
        }
    }

    fn lever(&self, settled: u32) -> Lever {
        let closed = |input: Option<u32>| input.map(|input| settled & input != 0);
        match (closed(self.wired.lever_white), closed(self.wired.lever_black)) {
            (Some(true), Some(true)) => Lever::Both,
            (Some(true), _) | (None, Some(false)) => Lever::On(Color::White),
            (_, Some(true)) | (Some(false), None) => Lever::On(Color::Black),
            (Some(false), Some(false)) | (None, None) => Lever::Between,
        }
    }

    fn lever_moved(&mut self, settled: u32, tell: &mut impl FnMut(Event)) {
        let lever = self.lever(settled);
        let fault = lever == Lever::Both;
        if std::mem::replace(&mut self.fault, fault) != fault {
            let says = if fault { "closed on both sides" } else { "in order again" };
            tell(Event::Device(json!({"source": "matrix", "lever": says})));
        }
        if let Lever::On(side) = lever
            && self.lies.replace(side) != Some(side)
        {
            tell(Event::Press(side));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::event::GameResult;
    use proptest::prelude::*;

    const WHITE: u32 = 1;
    const BLACK: u32 = 2;
    const ADJUST: u32 = 4;
    const DRAW: u32 = 8;

    fn wired() -> Wired {
        Wired {
            lever_white: Some(WHITE),
            lever_black: Some(BLACK),
            buttons: vec![
                (ADJUST, Event::Button("jadoube-white".to_owned())),
                (DRAW, Event::Result(GameResult::Draw)),
            ],
            debounce_us: 15_000,
        }
    }

    /// Reads every 5 ms.
    fn run(wired: Wired, reads: &[u32]) -> Vec<(u64, Event)> {
        let mut inputs = Inputs::new(wired);
        let mut told = Vec::new();
        for (index, read) in (0u64..).zip(reads) {
            inputs.take(MonoTime::ZERO.plus_ms(5 * index), *read, |event| told.push((5 * index, event)));
        }
        told
    }

    #[test]
    fn a_lever_is_pressed_when_it_lies_on_the_other_side() {
        let reads = [BLACK, BLACK, 0, 0, 0, 0, WHITE, WHITE, 0, WHITE, WHITE, WHITE, WHITE, WHITE];
        assert_eq!(run(wired(), &reads), [(60, Event::Press(Color::White))]);
    }

    #[test]
    fn a_lever_that_falls_back_was_not_pressed() {
        assert_eq!(run(wired(), &[BLACK, 0, 0, 0, 0, 0, 0, BLACK, BLACK, BLACK, BLACK, BLACK]), []);
    }

    #[test]
    fn a_lever_may_have_one_contact_only() {
        let one = Wired { lever_black: None, ..wired() };
        let reads = [0, WHITE, WHITE, WHITE, WHITE, 0, 0, 0, 0];
        let told = [(20, Event::Press(Color::White)), (40, Event::Press(Color::Black))];
        assert_eq!(run(one, &reads), told);
    }

    #[test]
    fn a_lever_on_both_sides_is_a_fault_and_no_press() {
        let both = WHITE | BLACK;
        let says = |text: &str| Event::Device(json!({"source": "matrix", "lever": text}));
        let told = run(wired(), &[BLACK, both, both, both, both, BLACK, BLACK, BLACK, BLACK]);
        assert_eq!(told, [(20, says("closed on both sides")), (40, says("in order again"))]);
    }

    #[test]
    fn a_button_speaks_once_when_it_is_pressed() {
        let reads = [ADJUST, ADJUST, ADJUST, ADJUST, ADJUST, 0, 0, 0, 0, ADJUST | DRAW, ADJUST | DRAW];
        let held = [ADJUST | DRAW; 4];
        let told = run(wired(), &[&reads[..], &held[..]].concat());
        let expected = [Event::Button("jadoube-white".to_owned()), Event::Result(GameResult::Draw)];
        assert_eq!(told, expected.map(|event| (60, event)), "what is pressed at first says nothing");
    }

    proptest! {
        /// Whatever the contacts do, presses alternate.
        #[test]
        fn presses_alternate(reads in prop::collection::vec(0u32..4, 0..200)) {
            let told = run(wired(), &reads);
            let presses: Vec<Color> = told.into_iter().filter_map(|(_, event)| match event {
                Event::Press(side) => Some(side),
                _ => None,
            }).collect();
            prop_assert!(presses.windows(2).all(|pair| pair[0] != pair[1]));
        }
    }
}
