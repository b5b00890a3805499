//! What is connected beside the squares: the lever, buttons, LEDs.

use super::{Lines, Taken, line, listed};
use crate::{
    config::{
        matrix::{ActiveLevel, INPUT_DEBOUNCE_MS, InputsConfig, LedsConfig},
        read::section::Section,
    },
    game::check_command,
    session::event::{Event, GameResult},
};

pub(super) fn inputs(section: &Section<'_>, lines: &Lines, taken: &mut Taken) -> InputsConfig {
    let levels = [("high", ActiveLevel::High), ("low", ActiveLevel::Low)];
    let lever_white = input(section, "lever-white", lines, taken);
    let lever_black = input(section, "lever-black", lines, taken);
    let mut buttons = Vec::new();
    for button in section.sections("button") {
        let pin = input(&button, "pin", lines, taken);
        button.missing("pin", "name the line of the button");
        let says = button.text("says");
        button.missing("says", WORDS);
        let event = says.and_then(|says| {
            let event = event(says);
            let wrong = match &event {
                None => Some(format!("expected {WORDS}, found {says:?}")),
                Some(Event::Arbiter(command)) => command.as_str().and_then(|text| check_command(text).err()),
                Some(_) => None,
            };
            if let Some(wrong) = wrong {
                button.problem("says", wrong);
                return None;
            }
            event
        });
        button.finish();
        buttons.extend(pin.zip(event));
    }
    if buttons.len() > MOST_BUTTONS {
        section.problem("button", format!("at most {MOST_BUTTONS} buttons fit, found {}", buttons.len()));
    }
    InputsConfig {
        lever_white,
        lever_black,
        buttons,
        active: section.word("inputs-active", &levels).unwrap_or(ActiveLevel::Low),
        debounce_ms: section
            .integer("input-debounce-ms", "of milliseconds", 0, 1000)
            .unwrap_or(INPUT_DEBOUNCE_MS),
    }
}

/// The LEDs: dark but for the set-up and the doctor.
pub(super) fn leds(section: &Section<'_>, lines: &Lines, taken: &mut Taken) -> LedsConfig {
    let levels = [("high", ActiveLevel::High), ("low", ActiveLevel::Low)];
    let status = input(section, "status-led", lines, taken);
    let files = listed(section, "file-leds", "files a to h", lines, taken);
    let ranks = listed(section, "rank-leds", "ranks 1 to 8", lines, taken);
    for (key, other) in [("file-leds", "rank-leds"), ("rank-leds", "file-leds")] {
        if section.has(key) && !section.has(other) {
            section.problem(
                key,
                format!("a square has an LED of its file and one of its rank; name {other}, too"),
            );
        }
    }
    LedsConfig {
        status,
        crossing: files.zip(ranks),
        active: section.word("leds-active", &levels).unwrap_or_default(),
    }
}

/// Buttons beside a lever, so that all inputs fit into one word of 32 bits.
const MOST_BUTTONS: usize = 30;

fn input(section: &Section<'_>, key: &'static str, lines: &Lines, taken: &mut Taken) -> Option<u32> {
    let value = section.any(key)?;
    let pin = line(value.get_ref(), lines);
    let Some(pin) = pin else {
        section.wrong(key, value, lines.what);
        return None;
    };
    if let Some(other) = taken.insert(pin, key) {
        section.problem(key, format!("pin {pin} is in {other} already; each line has its own"));
    }
    Some(pin)
}

const WORDS: &str = "what the button says: \"pause\", \"announce\", a result such as \"1/2-1/2\", \"jadoube-white\" or another button of \
                     docs/laws.md that ends with a side, or \"arbiter \" with a command, such as \"arbiter confirm\"";

/// Names of buttons before their side (docs/laws.md).
const BUTTONS: [&str; 18] = [
    "jadoube",
    "draw-offer",
    "draw-accept",
    "draw-decline",
    "resign",
    "claim-threefold",
    "claim-fifty",
    "claim-touch",
    "claim-illegal",
    "claim-setup",
    "claim-time",
    "claim-flag",
    "claim-quickplay",
    "claim-draw",
    "present",
    "announce",
    "request-five-seconds",
    "show-score",
];

/// What a button says, as an event.
fn event(says: &str) -> Option<Event> {
    if says == "pause" {
        return Some(Event::Pause);
    }
    if let Some(command) = says.strip_prefix("arbiter ") {
        return (!command.trim().is_empty()).then(|| Event::Arbiter(command.trim().into()));
    }
    if let Some(result) = GameResult::parse(says).filter(|result| *result != GameResult::Ongoing) {
        return Some(Event::Result(result));
    }
    if says == "announce" {
        return Some(Event::Button(says.to_owned()));
    }
    let (name, side) = says.rsplit_once('-')?;
    let known = BUTTONS.contains(&name) && ["white", "black"].contains(&side);
    known.then(|| Event::Button(says.to_owned()))
}
