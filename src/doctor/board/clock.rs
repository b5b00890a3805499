//! The check of the clock: which times it shows, and whether they are those of the start of a game.

use shakmaty::Color;

use super::About;
use crate::{
    doctor::{
        report::{Check, Topic},
        watch::Watch,
    },
    laws::time_control::Period,
    session::event::ClockReading,
};

/// Nobody has more time than this, in milliseconds.
pub(super) const LONGEST_MS: u64 = 24 * 3_600_000;

/// The check of the clock.
pub(super) fn check(about: &About, watch: &Watch) -> Check {
    let topic = Topic::Clock;
    if let Some(reading) = watch.clock() {
        return heard(about, watch, reading);
    }
    if watch.presses() > 0 {
        return Check::ok(topic, format!("presses heard: {}; this clock tells no times", watch.presses()));
    }
    if watch.is_clock_absent() {
        return Check::warning(topic, "the board says that no clock is connected").remedy(
            "connect the clock to the board and switch it on; without it moves are recorded without times",
        );
    }
    if !about.hears_clock && !about.recorded {
        return Check::not_run(topic, "no clock is connected to this sensor");
    }
    if about.recorded {
        return Check::not_run(topic, "there is no clock in what was heard");
    }
    Check::warning(topic, "no clock was heard")
        .remedy("switch it on, and press each side once while this listens")
}

fn heard(about: &About, watch: &Watch, reading: ClockReading) -> Check {
    let topic = Topic::Clock;
    let side = |ms: Option<u64>| ms.map_or_else(|| "unknown".to_owned(), time);
    let running = match reading.running {
        Some(Color::White) => "White's side runs",
        Some(Color::Black) => "Black's side runs",
        None => "both stand",
    };
    let said = format!("White {}, Black {}, {running}", side(reading.white_ms), side(reading.black_ms));
    let times = [reading.white_ms, reading.black_ms];
    if times.iter().flatten().any(|ms| *ms > LONGEST_MS) {
        return Check::failed(topic, format!("these are no times of a game: {said}"))
            .remedy("set the clock anew; is it a chess clock of this board's maker?");
    }
    if watch.has_flag() {
        return Check::warning(topic, format!("a flag is down: {said}"))
            .remedy("set the clock for the round");
    }
    if about.recorded {
        return Check::ok(topic, said);
    }
    if reading.running.is_some() {
        return Check::warning(topic, said).remedy("stop the clock and set it before the round");
    }
    let begins = about.time_control.as_ref().and_then(|control| control.periods().first()).copied();
    if let Some(period) = begins
        && !times.iter().flatten().all(|ms| begins_with(&period, *ms))
    {
        let wanted = time(u64::from(period.seconds) * 1000);
        return Check::warning(topic, format!("{said}; the time control begins with {wanted}"))
            .remedy("set the clock for the round, or correct time-control");
    }
    Check::ok(topic, said)
}

/// True for the time at the start of a period: some clocks show it with the first increment.
fn begins_with(period: &Period, ms: u64) -> bool {
    let begin = u64::from(period.seconds) * 1000;
    (begin..=begin + u64::from(period.increment) * 1000).contains(&ms)
}

/// Hours, minutes and seconds.
pub(in crate::doctor) fn time(ms: u64) -> String {
    let seconds = ms / 1000;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
