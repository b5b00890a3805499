//! The walls between the rooms: the pure core names nothing that reads a clock, a file, a socket or
//! chance, and imports go one way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// What each pure room must not name.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::thread",
    "std::env",
    "std::time",
    "std::process",
    "std::io",
    "tokio",
    "tracing",
    "axum",
    "serialport",
    "rppal",
    "gpiocdev",
    "rustix",
    "sysclock",
    "HashMap",
    "HashSet",
    "f32",
    "f64",
];

/// The pure rooms, and the other rooms of the crate that each must not import.
const ROOMS: &[(&str, &[&str])] = &[
    ("wire", &["publish", "journal", "sensor", "feed", "config", "daemon", "cli", "simulate", "review"]),
    ("laws", &["publish", "journal", "sensor", "feed", "config", "daemon", "cli", "simulate", "review"]),
    // What the session itself leans on.
    ("laws/settings.rs", &["wire", "session"]),
    ("laws/settings", &["wire", "session"]),
    ("laws/arithmetic.rs", &["wire", "session"]),
    ("laws/arithmetic", &["wire", "session"]),
    ("laws/time_control", &["wire", "session"]),
    ("game/own_clock.rs", &["publish", "journal", "sensor", "feed", "config", "daemon", "cli", "simulate"]),
    ("session", &["publish", "journal", "sensor", "feed", "config", "daemon", "cli", "simulate", "review"]),
    (
        "laws/dead",
        &[
            "wire", "session", "publish", "journal", "sensor", "feed", "config", "daemon", "cli", "simulate",
            "review",
        ],
    ),
    ("publish", &["journal", "sensor", "feed", "config", "daemon", "cli", "simulate", "review"]),
    ("simulate", &["publish", "journal", "sensor", "feed", "config", "daemon", "cli", "review"]),
    (
        "notation",
        &[
            "wire", "session", "publish", "journal", "sensor", "feed", "config", "daemon", "cli", "simulate",
            "review",
        ],
    ),
    ("review", &["sensor", "feed", "config", "daemon", "cli", "simulate"]),
    ("journal/record.rs", &["sensor", "feed", "config", "daemon", "cli", "simulate"]),
    ("journal/header.rs", &["sensor", "feed", "config", "daemon", "cli", "simulate"]),
    ("journal/encode.rs", &["sensor", "feed", "config", "daemon", "cli", "simulate"]),
    ("feed/pgn.rs", &["journal", "sensor", "config", "daemon", "cli", "simulate"]),
    ("feed/lichess/body.rs", &["journal", "sensor", "config", "daemon", "cli", "simulate"]),
    (
        "doctor",
        &["publish", "journal", "sensor", "feed", "config", "daemon", "cli", "simulate", "review", "desk"],
    ),
    ("config", &["journal", "sensor", "feed", "daemon", "cli"]),
];

/// Rooms that do I/O and still must not import these.
const APART: &[(&str, &[&str])] = &[
    ("feed", &["desk", "journal", "sensor", "config", "daemon", "cli"]),
    ("desk", &["journal", "sensor", "config", "daemon", "cli"]),
];

fn sources(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            sources(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        found.push(path.to_owned());
    }
}

/// The lines of a file that are code: neither comments nor its tests.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn names(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        // A word in quotes is a word of the configuration.
        let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '"');
        !part(before) && !part(after)
    })
}

#[test]
fn the_pure_rooms_are_pure_and_look_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    for (room, forbidden) in ROOMS {
        let mut files = Vec::new();
        sources(&root.join(room), &mut files);
        assert!(!files.is_empty(), "{room} is gone: take it off the list");
        for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
            let text = fs::read_to_string(file).unwrap();
            for (number, line) in code(&text) {
                let rooms = forbidden.iter().map(|room| format!("crate::{room}"));
                for word in IMPURE.iter().map(ToString::to_string).chain(rooms) {
                    if names(line, &word) {
                        faults.push(format!("{}:{}: {word}: {}", file.display(), number + 1, line.trim()));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// What is meant for persons in charge has no name in the feeds: neither the facts nor the types that carry
/// them, and the desk is no feed.
#[test]
fn the_feeds_know_no_facts_and_nothing_of_the_desk() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    for (room, forbidden) in APART {
        let mut words: Vec<String> = forbidden.iter().map(|other| format!("crate::{other}")).collect();
        if *room == "feed" {
            let kept = ["session::fact", "FactKind", "LawFact", "ForArbiter", "ForAssistant", "ArbiterView"];
            words.extend(kept.map(str::to_owned));
        } else {
            // The way out of the hub is closed to it.
            words.extend(["Hub", "FeedEvent", "BoardState"].map(str::to_owned));
        }
        let mut files = Vec::new();
        sources(&root.join(room), &mut files);
        for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
            let text = fs::read_to_string(file).unwrap();
            for (number, line) in code(&text) {
                for word in words.iter().filter(|word| names(line, word)) {
                    faults.push(format!("{}:{}: {word}: {}", file.display(), number + 1, line.trim()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The second door to a room: `use crate::{feed::..., ...}`.
#[test]
fn grouped_imports_look_one_way_too() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    for (room, forbidden) in ROOMS.iter().chain(APART) {
        let mut files = Vec::new();
        sources(&root.join(room), &mut files);
        for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
            let text = fs::read_to_string(file).unwrap();
            let text: String = code(&text).map(|(_, line)| line.to_owned() + "\n").collect();
            for group in text.split("use crate::{").skip(1) {
                let group = group.split("};").next().unwrap();
                for other in *forbidden {
                    let begins = |line: &str| {
                        // Deeper lines belong to a group within a group.
                        let line = line.strip_prefix("    ").unwrap_or(line);
                        line.starts_with(&format!("{other}::")) || line == format!("{other},")
                    };
                    if group.lines().any(begins) {
                        faults.push(format!("{}: imports {other}", file.display()));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn only_one_file_reads_the_clock_only_one_names_each_gpio_crate_and_only_the_doctor_lights_leds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let naming = |word: &str| -> Vec<String> {
        let names_it = |file: &&PathBuf| {
            let text = fs::read_to_string(file).unwrap();
            code(&text).any(|(_, line)| names(line, word))
        };
        let relative = |file: &PathBuf| file.strip_prefix(&root).unwrap().display().to_string();
        let mut found: Vec<String> = files.iter().filter(names_it).map(relative).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(naming("clock_gettime"), ["sysclock.rs"]);
    assert_eq!(naming("rppal"), ["sensor/matrix/gpio.rs"]);
    assert_eq!(naming("gpiocdev"), ["sensor/matrix/cdev.rs"]);
    // Leave to light an LED beside a set-up: where a board is tested and no game is read.
    assert_eq!(naming("for_doctor"), ["cli/doctor/listen.rs", "sensor/matrix/leds/mod.rs"]);
}
