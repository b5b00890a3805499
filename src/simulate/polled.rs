//! A DGT clock behind a board: asked a few times a second, told late, sometimes not at all and sometimes wrong.
//!
//! [`play`] lets two players and an arbiter use such a clock for a whole game, without a board, and tells what
//! really happened: the measure of what can be made of its messages.

use std::collections::VecDeque;

use shakmaty::{ByColor, Color};

use super::{
    CLOCK, PLAYERS,
    clock::{Clock, ClockDeed, Deed, TimeControl},
    params::{ClockReports, PolledClock, Span},
    rng::Rng,
};
use crate::session::event::{ClockReading, Event};

const SECOND_US: u64 = 1_000_000;
/// A clock shows no more than 9:59:59.
const MOST_S: u64 = 35_999;
/// Messages that may come again later.
const KEPT: usize = 150;

/// One message as the clock gave it.
#[derive(Clone, Copy, Debug)]
struct Message {
    shown_s: ByColor<u64>,
    running: Option<Color>,
}

impl Message {
    fn of(clock: &Clock<'_>, rounds_up: bool) -> Message {
        let more = if rounds_up { SECOND_US - 1 } else { 0 };
        let shown = |side| ((clock.left_us(side) + more) / SECOND_US).min(MOST_S);
        let shown_s = ByColor { white: shown(Color::White), black: shown(Color::Black) };
        Message { shown_s, running: clock.running }
    }

    fn event(&self) -> Event {
        let ms = |side| Some(self.shown_s.get(side) * 1000);
        Event::Times(ClockReading {
            white_ms: ms(Color::White),
            black_ms: ms(Color::Black),
            running: self.running,
        })
    }

    /// Something else: a second more or less, another digit, an old message, the lever.
    fn spoilt(mut self, earlier: &VecDeque<Message>, rng: &mut Rng) -> Message {
        let side = if rng.below(2) == 0 { Color::White } else { Color::Black };
        let shown = self.shown_s.get_mut(side);
        match rng.below(4) {
            0 => *shown = if rng.below(2) == 0 { *shown + 1 } else { shown.saturating_sub(1) },
            1 => {
                // The places of h:mm:ss.
                let places: [(u64, u64); 5] = [(1, 10), (10, 6), (60, 10), (600, 6), (3600, 10)];
                let (worth, digits) = rng.pick(&places).unwrap_or((1, 10));
                let digit = *shown / worth % digits;
                *shown = *shown - digit * worth + rng.below(digits) * worth;
            }
            2 => {
                let back = usize::try_from(rng.between(8, 140)).unwrap_or(8);
                return earlier.len().checked_sub(back).and_then(|i| earlier.get(i)).copied().unwrap_or(self);
            }
            _ => self.running = self.running.map(Color::other),
        }
        self.shown_s = self.shown_s.map(|shown| shown.min(MOST_S));
        self
    }
}

/// What happens to a message on its way.
struct Line<'a> {
    polled: &'a PolledClock,
    rng: Rng,
    earlier: VecDeque<Message>,
    arrived: u64,
    /// Whose time ran in the last message that was right.
    running: Option<Color>,
    out: Vec<(u64, Event)>,
}

impl Line<'_> {
    fn send(&mut self, at: u64, message: Message) {
        let wrong = self.rng.happens(self.polled.wrong);
        let lost = self.rng.happens(self.polled.lost);
        let lag = self.rng.uniform(self.polled.lag);
        let heard = if wrong { message.spoilt(&self.earlier, &mut self.rng) } else { message };
        if self.earlier.len() == KEPT {
            self.earlier.pop_front();
        }
        self.earlier.push_back(message);
        if lost {
            return;
        }
        self.arrived = self.arrived.max(at + lag);
        self.out.push((self.arrived, heard.event()));
        if !wrong {
            let before = std::mem::replace(&mut self.running, message.running);
            if let (Some(by), Some(now), false) = (before, message.running, self.polled.wired)
                && by != now
            {
                self.out.push((self.arrived, Event::Press(by)));
            }
        }
    }
}

/// The events of a clock under `deeds`, which are in the order of time, until `end`.
pub(super) fn run(
    control: &TimeControl,
    reports: &ClockReports,
    deeds: &[ClockDeed],
    end: u64,
    seed: u64,
) -> Vec<(u64, Event)> {
    let polled = &reports.polled;
    let silent = ClockReports { start: reports.start, ..ClockReports::SILENT };
    let mut clock = Clock::new(control, silent, polled.rate_ppm);
    let mut line = Line {
        polled,
        rng: Rng::new(seed, CLOCK),
        earlier: VecDeque::new(),
        arrived: 0,
        running: None,
        out: Vec::new(),
    };
    let mut own = Vec::new();
    let mut deeds = deeds.iter().peekable();
    let mut poll = line.rng.uniform(polled.gap);
    while poll <= end {
        while let Some(deed) = deeds.next_if(|deed| deed.at <= poll) {
            clock.advance(deed.at);
            clock.take(*deed);
            match deed.deed {
                Deed::Press { by, seen: true } if polled.wired => own.push((deed.at, Event::Press(by))),
                Deed::Run { side, seen: true } if reports.start => own.push((deed.at, Event::Run(side))),
                _ => {}
            }
        }
        clock.advance(poll);
        line.send(poll, Message::of(&clock, polled.rounds_up));
        poll += line.rng.uniform(polled.gap).max(1000);
    }
    let flags = clock.told().into_iter().filter(|(_, event)| matches!(event, Event::Flag(_)));
    let mut out: Vec<(u64, Event)> = own.into_iter().chain(flags).chain(line.out).collect();
    out.sort_by_key(|(at, _)| *at);
    out
}

/// A game as the clock sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockGame {
    /// The time control, as in a sensor log.
    pub time_control: String,
    /// Half moves.
    pub plies: u32,
    /// How long a player thinks: mostly near the lower end.
    pub think: Span,
    /// Half moves between two interventions of the arbiter, 0 for none.
    pub set_every: u32,
    /// The clock is stopped for them; else it is set while it runs.
    pub stopped_to_set: bool,
}

/// A press as it really was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PressTruth {
    /// When, in microseconds.
    pub at_us: u64,
    /// Who.
    pub by: Color,
    /// What he had left after it, in microseconds.
    pub left_us: u64,
}

/// A time that the arbiter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetTruth {
    /// When, in microseconds.
    pub at_us: u64,
    /// Whose.
    pub side: Color,
    /// The time before, in microseconds.
    pub before_us: u64,
    /// The time after it.
    pub after_us: u64,
}

/// What a game at the clock put out, and what it was.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockRun {
    /// The events, in the order of time.
    pub events: Vec<(u64, Event)>,
    /// The presses.
    pub presses: Vec<PressTruth>,
    /// The times that were set.
    pub set: Vec<SetTruth>,
    /// When the clock was started.
    pub start_us: u64,
    /// When it was stopped at the end.
    pub end_us: u64,
}

/// The clock lies on the table for so long before it is started.
const BEFORE_US: u64 = 5 * SECOND_US;

/// Plays a game at the clock. Nothing where the time control is none.
pub fn play(game: &ClockGame, polled: &PolledClock, seed: u64) -> Option<ClockRun> {
    let control = TimeControl::parse(&game.time_control)?;
    let mut rng = Rng::new(seed, PLAYERS);
    let silent = ClockReports::SILENT;
    let mut clock = Clock::new(&control, silent, polled.rate_ppm);
    let mut deeds = Vec::new();
    let mut run =
        ClockRun { events: Vec::new(), presses: Vec::new(), set: Vec::new(), start_us: BEFORE_US, end_us: 0 };
    let mut now = BEFORE_US + rng.below(SECOND_US);
    run.start_us = now;
    let mut act = |clock: &mut Clock<'_>, at: u64, deed: Deed| {
        let deed = ClockDeed { at, deed };
        clock.advance(at);
        clock.take(deed);
        deeds.push(deed);
    };
    act(&mut clock, now, Deed::Run { side: Color::White, seen: false });
    let mut by = Color::White;
    for ply in 1..=game.plies {
        let think = rng.decision(game.think).min(clock.left_us(by).saturating_sub(3 * SECOND_US) / 2);
        now += think.max(SECOND_US / 2);
        if game.set_every > 0 && ply % game.set_every == 0 {
            let side = if rng.below(2) == 0 { Color::White } else { Color::Black };
            if game.stopped_to_set {
                act(&mut clock, now, Deed::Pause);
                now += rng.between(4 * SECOND_US, 20 * SECOND_US);
            }
            clock.advance(now);
            let before_us = clock.left_us(side);
            let by_s = rng.between(5, 300) * SECOND_US;
            let more = rng.below(2) == 0 || before_us < by_s + 10 * SECOND_US;
            let mut after_us = if more { before_us + by_s } else { before_us - by_s };
            if rng.below(2) == 0 {
                // A time that is set has no fraction of a second.
                after_us = after_us / SECOND_US * SECOND_US;
            }
            act(&mut clock, now, Deed::Set { side, left_us: after_us });
            run.set.push(SetTruth { at_us: now, side, before_us, after_us });
            now += rng.between(5 * SECOND_US, 20 * SECOND_US);
            if game.stopped_to_set {
                act(&mut clock, now, Deed::Run { side: by, seen: false });
                now += rng.between(SECOND_US, 10 * SECOND_US);
            }
        }
        act(&mut clock, now, Deed::Press { by, seen: true });
        run.presses.push(PressTruth { at_us: now, by, left_us: clock.left_us(by) });
        by = !by;
    }
    now += 10 * SECOND_US;
    act(&mut clock, now, Deed::Pause);
    run.end_us = now + 5 * SECOND_US;
    let reports = ClockReports { polled: *polled, ..silent };
    run.events = self::run(&control, &reports, &deeds, run.end_us, seed);
    Some(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::params::Rate;

    const GAME: ClockGame = ClockGame {
        time_control: String::new(),
        plies: 60,
        think: Span::ms(2_000, 60_000),
        set_every: 0,
        stopped_to_set: true,
    };

    fn game() -> ClockGame {
        ClockGame { time_control: "5400+30".to_owned(), ..GAME }
    }

    fn readings(run: &ClockRun) -> Vec<(u64, ClockReading)> {
        let reading = |(at, event): &(u64, Event)| match event {
            Event::Times(reading) => Some((*at, *reading)),
            _ => None,
        };
        run.events.iter().filter_map(reading).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_messages() {
        let run = |seed| play(&game(), &PolledClock::DGT, seed);
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert_eq!(play(&ClockGame { time_control: "90min".to_owned(), ..GAME }, &PolledClock::DGT, 1), None);
    }

    #[test]
    fn messages_are_whole_seconds_two_or_three_a_second_and_two_in_a_hundred_are_lost() {
        let all = play(&game(), &PolledClock { lost: Rate::NEVER, ..PolledClock::DGT }, 3).unwrap();
        let some = play(&game(), &PolledClock::DGT, 3).unwrap();
        let (sent, heard) = (readings(&all), readings(&some));
        let seconds = all.end_us / SECOND_US;
        let count = u64::try_from(sent.len()).unwrap();
        assert!((seconds * 2..=seconds * 3).contains(&count), "{count} in {seconds} s");
        let lost = sent.len() - heard.len();
        assert!((sent.len() / 100..sent.len() / 33).contains(&lost), "{lost} of {}", sent.len());
        assert!(heard.is_sorted_by_key(|(at, _)| *at), "no message overtakes another");
        let whole = |ms: Option<u64>| ms.is_some_and(|ms| ms % 1000 == 0);
        assert!(heard.iter().all(|(_, reading)| whole(reading.white_ms) && whole(reading.black_ms)));
    }

    #[test]
    fn a_clock_that_is_too_fast_loses_more() {
        let exact = PolledClock { wrong: Rate::NEVER, ..PolledClock::DGT };
        let last = |polled| play(&game(), &polled, 5).unwrap().presses.last().copied().unwrap();
        let (right, fast) = (last(exact), last(PolledClock { rate_ppm: 1000, ..exact }));
        assert_eq!(right.at_us, fast.at_us);
        let lost = right.left_us - fast.left_us;
        assert!((right.at_us / 2500..right.at_us / 800).contains(&lost), "{lost} us");
    }

    #[test]
    fn a_press_is_told_at_once_by_a_wire_and_with_its_message_without_one() {
        let without = PolledClock { wrong: Rate::NEVER, lost: Rate::NEVER, ..PolledClock::DGT };
        for wired in [true, false] {
            let run = play(&game(), &PolledClock { wired, ..without }, 7).unwrap();
            let told: Vec<(u64, Color)> = run
                .events
                .iter()
                .filter_map(|(at, event)| match event {
                    Event::Press(by) => Some((*at, *by)),
                    _ => None,
                })
                .collect();
            assert_eq!(told.len(), run.presses.len());
            for ((at, by), press) in told.iter().zip(&run.presses) {
                assert_eq!(*by, press.by);
                let late = at - press.at_us;
                assert!(if wired { late == 0 } else { late <= 1_500_000 }, "{late} us");
            }
        }
    }

    #[test]
    fn what_the_arbiter_sets_is_told_as_it_was() {
        let run = play(&ClockGame { set_every: 10, ..game() }, &PolledClock::DGT, 9).unwrap();
        assert_eq!(run.set.len(), 6);
        assert!(run.set.iter().all(|set| set.before_us.abs_diff(set.after_us) > 4 * SECOND_US));
    }
}
