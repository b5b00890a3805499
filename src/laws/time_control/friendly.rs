//! Time controls as people write them: `90min/40 + 30min + 30s`, `1h 30min + 10s`, `25min + 10s delay`.
//!
//! Parts are joined by `+`. A time of hours and minutes is a period, `/40` behind it its moves; the last part
//! may be the seconds a move of all periods, with `delay` or `bronstein` behind them.

use super::{Extra, Period, TimeControlError, period::number};

/// True for a text with units: the other form has only digits, the signs and `d` or `b`.
pub(super) fn is_friendly(text: &str) -> bool {
    text.chars().any(|c| c.is_alphabetic() && c != 'd' && c != 'b')
}

/// Reads the periods.
pub(super) fn read(text: &str) -> Result<Vec<Period>, TimeControlError> {
    let text = text.to_ascii_lowercase();
    let mut parts: Vec<&str> = text.split('+').map(str::trim).collect();
    let extra = match parts.as_slice() {
        [_, .., last] => a_move(last)?,
        _ => None,
    };
    if extra.is_some() {
        parts.pop();
    }
    parts.into_iter().map(|part| period(part, extra.unwrap_or_default())).collect()
}

/// Writes the periods; nothing where what a move gives differs from one to the next.
pub(super) fn write(periods: &[Period]) -> Option<String> {
    let (first, last) = (periods.first()?, periods.last()?);
    if periods.iter().any(|period| (period.increment, period.extra) != (first.increment, first.extra)) {
        return None;
    }
    let mut parts: Vec<String> = periods.iter().map(main_time).collect();
    let kind = match first.extra {
        Extra::Increment => "",
        Extra::Delay => " delay",
        Extra::Bronstein => " bronstein",
    };
    // A last period of seconds alone would be taken for what a move gives.
    if first.increment > 0 || !kind.is_empty() || (periods.len() > 1 && last.seconds < 60) {
        parts.push(format!("{}s{kind}", first.increment));
    }
    Some(parts.join(" + "))
}

/// `1h30min/40`.
fn main_time(period: &Period) -> String {
    let (hours, minutes, seconds) = (period.seconds / 3600, period.seconds / 60 % 60, period.seconds % 60);
    let units = [(hours, "h"), (minutes, "min"), (seconds, "s")];
    let time: String = units.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    let time = if time.is_empty() { "0s".to_owned() } else { time };
    period.moves.map_or(time.clone(), |moves| format!("{time}/{moves}"))
}

/// `30s`, `30 sec a move`, `10s delay`; nothing for another part.
fn a_move(part: &str) -> Result<Option<(u32, Extra)>, TimeControlError> {
    let (digits, rest) = digits(part);
    let Some(rest) = ["seconds", "sec", "s"].iter().find_map(|unit| rest.strip_prefix(unit)) else {
        return Ok(None);
    };
    let extra = match rest.trim_start_matches('/').trim() {
        "" | "increment" | "cumulative" | "fischer" | "move" | "a move" | "per move" => Extra::Increment,
        "delay" => Extra::Delay,
        "bronstein" => Extra::Bronstein,
        _ => return Err(TimeControlError::Notation { period: part.to_owned() }),
    };
    let seconds = number(digits, part, "the seconds a move", 0, Period::MOST_EXTRA)?;
    Ok(Some((seconds, extra)))
}

/// `90min/40`, `90 min for 40 moves`, `1h30min`.
fn period(part: &str, extra: (u32, Extra)) -> Result<Period, TimeControlError> {
    let wrong = || TimeControlError::Notation { period: part.to_owned() };
    let (time, moves) = match part.split_once('/').or_else(|| part.split_once(" for ")) {
        Some((time, moves)) => (time, Some(moves.trim().trim_end_matches("moves").trim())),
        None => (part, None),
    };
    let moves =
        moves.map(|moves| number(moves, part, "the number of moves", 1, Period::MOST_MOVES)).transpose()?;
    let mut seconds = 0u32;
    let mut rest = time.trim();
    // Every unit once, the longest first.
    for (names, factor) in [
        (&["hours", "hour", "h"][..], 3600),
        (&["minutes", "min", "m"][..], 60),
        (&["seconds", "sec", "s"][..], 1),
    ] {
        let (figures, unit) = digits(rest);
        if let Some(after) = names.iter().find_map(|name| unit.strip_prefix(name)) {
            let value = number(figures, part, "a time", 0, Period::LONGEST)?;
            seconds = seconds.saturating_add(value.saturating_mul(factor));
            rest = after.trim_start();
        }
    }
    if !rest.is_empty() {
        return Err(wrong());
    }
    if seconds > Period::LONGEST {
        let (what, period) = ("the main time in seconds", part.to_owned());
        return Err(TimeControlError::Range { period, what, min: 0, max: Period::LONGEST });
    }
    Period::new(moves, seconds, extra, part)
}

/// The digits in front, and what follows them.
fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (digits, rest.trim_start())
}
