//! The checks of one board, from what was heard of it.

mod clock;

pub(super) use clock::time;

use std::fmt::Write as _;

use serde_json::Value;
use shakmaty::{Bitboard, Board, Color, Square};

use super::{
    bounce::{ENOUGH, Side},
    figures::BoardFigures,
    report::{Check, Topic, Verdict},
    squares,
    watch::Watch,
};
use crate::{laws::time_control::TimeControl, session::setup::BoardKind};

/// What the checks need to know beside what was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Identifier of the board.
    pub id: String,
    /// Name of the sensor's table.
    pub sensor: &'static str,
    /// Where the source reads: a device, a file.
    pub place: String,
    /// The men at the start of the game.
    pub start: Board,
    /// The time control, where one is configured.
    pub time_control: Option<TimeControl>,
    /// Microseconds from one scan to the next, where the sensor is scanned here.
    pub scan_us: Option<u64>,
    /// A recording or a simulation: its beginning is compared with the start, not its end.
    pub recorded: bool,
    /// A clock can be heard over this sensor.
    pub hears_clock: bool,
}

impl About {
    /// The board and what it is read through, in a few words.
    pub fn title(&self) -> String {
        let place = if self.place == self.sensor { String::new() } else { format!(" at {}", self.place) };
        format!("board {}, {}{place}", self.id, self.sensor)
    }
}

/// Two scans in ten may be missing before it is told.
const SCANS_MISSING_PERCENT: u64 = 20;
/// Below this a battery is told, in percent.
const BATTERY_PERCENT: u64 = 25;

/// Every check of a board that was heard.
pub fn checks(about: &About, watch: &Watch) -> Vec<Check> {
    if watch.occupied().is_none() && watch.clock().is_none() {
        return silent(&about.id, device(about, watch));
    }
    let mut checks = vec![device(about, watch)];
    if !watch.wiring().is_empty() {
        checks.push(wiring(&watch.wiring().join("; ")));
    }
    checks.extend(battery(watch));
    checks.push(squares_check(about, watch));
    checks.push(chatter(watch));
    checks.push(bounce(about, watch));
    checks.push(scan(about, watch));
    checks.push(clock::check(about, watch));
    checks.into_iter().map(|check| check.of_one(&about.id)).collect()
}

/// The checks of a board that could not be heard, for the reason that `device` tells.
pub fn silent(id: &str, device: Check) -> Vec<Check> {
    let topics = [Topic::Squares, Topic::Chatter, Topic::Bounce, Topic::Scan, Topic::Clock];
    let rest = topics.map(|topic| Check::not_run(topic, "the board could not be read, see device").of(id));
    std::iter::once(device.of(id)).chain(rest).collect()
}

/// The figures of a board that was heard.
pub fn figures(about: &About, watch: &Watch) -> BoardFigures {
    let picture = picture(about, watch);
    let difference = picture.map(|(occupied, _)| squares::compare(occupied, about.start.occupied()));
    let side = |squares: fn(&squares::Difference) -> Bitboard| {
        difference.as_ref().map(|difference| squares::names(squares(difference))).unwrap_or_default()
    };
    let scan_us = about.scan_us.unwrap_or(0);
    let (close_ms, open_ms) = watch.debounce_ms();
    let bounce = |side: &Side, ms| {
        let mut figures = side.figures(ms, scan_us);
        figures.suggested_ms = figures.suggested_ms.filter(|_| chattering_worst(watch, side).is_none());
        watch.is_raw().then_some(figures)
    };
    let clock = watch.clock().unwrap_or_default();
    BoardFigures {
        board: about.id.clone(),
        sensor: about.sensor.to_owned(),
        identity: watch.identity().clone(),
        listened_ms: watch.listened_us() / 1000,
        occupied: picture.map(|(occupied, _)| format!("{:016x}", occupied.0)),
        pieces: picture.and_then(|(_, pieces)| pieces).map(|pieces| pieces.board_fen().to_string()),
        missing: side(|difference| difference.missing),
        extra: side(|difference| difference.extra),
        chattering: squares::names(watch.chattering()),
        edges: watch.edges(),
        closing: bounce(&watch.bounce().closing, close_ms),
        opening: bounce(&watch.bounce().opening, open_ms),
        scans_per_10_s: watch.scan().per_10_s,
        overruns: watch.scan().overruns,
        worst_overrun_us: watch.scan().worst_us,
        white_ms: clock.white_ms,
        black_ms: clock.black_ms,
        running: clock.running.map(colour),
    }
}

const fn colour(color: Color) -> &'static str {
    match color {
        Color::White => "white",
        Color::Black => "black",
    }
}

/// What is compared with the start: what a recording began with, what a board shows now.
fn picture<'a>(about: &About, watch: &'a Watch) -> Option<(Bitboard, Option<&'a Board>)> {
    if about.recorded {
        return watch.first().map(|(occupied, pieces)| (*occupied, pieces.as_ref()));
    }
    watch.occupied().map(|occupied| (occupied, watch.pieces()))
}

fn device(about: &About, watch: &Watch) -> Check {
    let check = if let Some(trouble) = watch.standing_trouble() {
        Check::told(Topic::Device, &about.place, trouble)
    } else if let Some(complaint) = watch.complaints().first() {
        let told = Check::told(Topic::Device, &about.place, complaint);
        if !about.recorded && watch.link() == Some(true) {
            Check { verdict: Verdict::Warning, what: format!("it answers now, after: {}", told.what), ..told }
        } else if told.remedy.is_none() {
            told.remedy("correct that, and run this again")
        } else {
            told
        }
    } else if watch.occupied().is_none() {
        Check::failed(Topic::Device, "it is open, and no board answers")
            .remedy("is the board switched on, and is this its port?")
            .command("ls -l /dev/touchmoved /dev/serial/by-id")
    } else if watch.link() == Some(false) {
        Check::failed(Topic::Device, "the board was there and fell silent")
            .remedy("see to the cable, its plugs and the power of the board")
    } else if watch.garbled() > 0 {
        Check::warning(Topic::Device, format!("it answers, with {} garbled bytes", watch.garbled()))
            .remedy("take a shorter or better cable; what is lost is read again")
    } else {
        Check::ok(Topic::Device, answers(about, watch))
    };
    check.at(&about.place)
}

fn answers(about: &About, watch: &Watch) -> String {
    let mut words = if about.recorded { "it can be read".to_owned() } else { "it answers".to_owned() };
    for (key, name) in [
        ("trademark", ""),
        ("model", ""),
        ("version", "version "),
        ("hardware_version", "hardware "),
        ("firmware", "firmware "),
        ("protocol", "protocol "),
        ("serial", "serial number "),
        ("long_serial", "long serial number "),
        ("bus_address", "bus address "),
    ] {
        if let Some(value) = watch.identity().get(key) {
            let text =
                value.as_str().map_or_else(|| value.to_string(), |text| text.trim().replace('\n', " "));
            let _ = write!(words, ", {name}{text}");
        }
    }
    if watch.identity().get("orientation").and_then(Value::as_str) == Some("rotated") {
        words.push_str(", it lies turned by 180 degrees, which is taken into account");
    }
    words
}

/// The check of the wiring, from what the self-test of the matrix found.
pub(super) fn wiring(found: &str) -> Check {
    Check::failed(Topic::Wiring, found)
        .remedy("docs/hardware.md says what each finding means and what to solder")
}

fn battery(watch: &Watch) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(percent) =
        watch.identity().get("battery").and_then(|battery| battery.get("percent")).and_then(Value::as_u64)
    {
        checks.push(if percent < BATTERY_PERCENT {
            Check::warning(Topic::Battery, format!("the board has {percent} % left"))
                .remedy("charge it or change the battery before the round")
        } else {
            Check::ok(Topic::Battery, format!("the board has {percent} % left"))
        });
    }
    match watch.identity().get("clock_battery").and_then(Value::as_str) {
        Some("low") => checks.push(
            Check::warning(Topic::Battery, "the clock says that its battery is low")
                .remedy("change it before the round"),
        ),
        Some(_) => checks.push(Check::ok(Topic::Battery, "the clock says that its battery is good")),
        None => {}
    }
    checks
}

fn squares_check(about: &About, watch: &Watch) -> Check {
    match picture(about, watch) {
        Some((occupied, pieces)) => squares::check(occupied, pieces, &about.start),
        None => Check::not_run(Topic::Squares, "the board was not read as a whole"),
    }
}

fn chatter(watch: &Watch) -> Check {
    let chattering = watch.chattering();
    if chattering.is_empty() {
        let seconds = watch.listened_us() / 1_000_000;
        return Check::ok(
            Topic::Chatter,
            format!("no square changed faster than a hand in {seconds} s ({} edges)", watch.edges()),
        );
    }
    Check::failed(
        Topic::Chatter,
        format!("changes faster than any hand: {}", squares::names(chattering).join(" ")),
    )
    .remedy(
        "see to the contact and its solder joints, or to a man between two squares; in a game it is ignored",
    )
    .command("touchmoved doctor --live")
}

/// The contact that bounced for longest, where it chatters: what it does is no bounce of a man that comes or goes.
fn chattering_worst(watch: &Watch, side: &Side) -> Option<Square> {
    side.worst.map(|(_, square)| square).filter(|square| watch.chattering().contains(*square))
}

fn bounce(about: &About, watch: &Watch) -> Check {
    let topic = Topic::Bounce;
    if !watch.is_raw() {
        return Check::not_run(topic, "the board tells settled changes; it debounces by itself");
    }
    let bounce = watch.bounce();
    let seen = format!("closing: {}; opening: {}", bounce.closing.words(), bounce.opening.words());
    let ill = chattering_worst(watch, &bounce.closing).or_else(|| chattering_worst(watch, &bounce.opening));
    if let Some(ill) = ill {
        let why = format!("no debounce time is for a contact that chatters; mend {ill} first; {seen}");
        return Check::not_run(topic, why);
    }
    let scan_us = about.scan_us.unwrap_or(0);
    let (close_ms, open_ms) = watch.debounce_ms();
    let sides =
        [("debounce-close-ms", &bounce.closing, close_ms), ("debounce-open-ms", &bounce.opening, open_ms)];
    let short: Vec<_> = sides.iter().filter(|(_, side, ms)| side.needed_ms(scan_us) > *ms).collect();
    if !short.is_empty() {
        let suggested = short.iter().filter_map(|(key, side, ms)| {
            let wanted = side.suggested_ms(scan_us)?;
            Some(format!("{key} = {wanted} in place of {ms}{}", worst(side)))
        });
        let suggested: Vec<String> = suggested.collect();
        let open = short.iter().filter(|(_, side, _)| side.suggested_ms(scan_us).is_none());
        let open: Vec<String> =
            open.map(|(key, side, ms)| format!("{key}, now {ms}{}", worst(side))).collect();
        let mut remedies = Vec::new();
        if !suggested.is_empty() {
            remedies.push(format!("set {}", suggested.join(" and ")));
        }
        if !open.is_empty() {
            remedies.push(format!(
                "lift and put down men while this listens (--seconds 40): after {ENOUGH} changes it suggests {}",
                open.join(" and ")
            ));
        }
        return Check::warning(topic, format!("contacts bounce for longer than is waited; {seen}"))
            .remedy(remedies.join("; "));
    }
    match sides.map(|(_, side, _)| side.suggested_ms(scan_us)) {
        [Some(close), Some(open)] => Check::ok(
            topic,
            format!(
                "{close_ms} and {open_ms} ms are enough (what was seen asks for {close} and {open}: half as long \
                 again as the longest bounce, and one scan); {seen}"
            ),
        ),
        _ => Check::not_run(
            topic,
            format!(
                "a suggestion takes {ENOUGH} changes each way: lift and put down men while this listens \
                 (--seconds 40); seen so far: {seen}"
            ),
        ),
    }
}

/// The contact that bounced for longest, and for how long.
fn worst(side: &Side) -> String {
    let place = side.worst.map(|(us, square)| format!(" ({square} took {} ms)", us.div_ceil(1000)));
    place.unwrap_or_default()
}

fn scan(about: &About, watch: &Watch) -> Check {
    let topic = Topic::Scan;
    let scan = watch.scan();
    let Some(per_10_s) = scan.per_10_s else {
        return match (about.scan_us, scan.overruns) {
            (_, Some(overruns)) if overruns > 0 => late(overruns, scan.worst_us),
            (Some(_), _) => Check::not_run(topic, "the source has not told how often it scans"),
            (None, _) => Check::not_run(topic, "this sensor is not scanned by this program"),
        };
    };
    let rate = format!("{}.{} scans a second", per_10_s / 10, per_10_s % 10);
    if let Some(overruns) = scan.overruns.filter(|overruns| *overruns > 0) {
        return late(overruns, scan.worst_us);
    }
    let Some(wanted) = about.scan_us.filter(|us| *us > 0).map(|us| 10_000_000 / us) else {
        return Check::ok(topic, rate);
    };
    if per_10_s * 100 < wanted * (100 - SCANS_MISSING_PERCENT) {
        return Check::warning(topic, format!("{rate} in place of {}", wanted / 10))
            .remedy("make scan-ms larger, or end other programs on this machine")
            .command("top -b -n 1 | head -15");
    }
    Check::ok(topic, format!("{rate}, none late"))
}

/// The check of scans of which some began late.
pub(super) fn late(overruns: u64, worst_us: Option<u64>) -> Check {
    let scans = if overruns == 1 { "1 late scan".to_owned() } else { format!("{overruns} late scans") };
    let worst = worst_us.map(|us| format!(", the worst by {} ms", us.div_ceil(1000))).unwrap_or_default();
    Check::warning(Topic::Scan, format!("{scans}{worst}"))
        .remedy("end other programs on this machine, set realtime-priority = 10, or make scan-ms larger")
        .command("top -b -n 1 | head -15")
}

/// True where this kind of board hears a clock by itself.
pub const fn hears_clock(kind: BoardKind) -> bool {
    matches!(kind, BoardKind::Dgt)
}

#[cfg(test)]
mod tests;
