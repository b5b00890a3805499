//! The files around the program: systemd accepts the unit and the users, udev's rules are complete.
//! What needs a tool that the machine does not have is skipped with a line that says so.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(project(path)).unwrap()
}

/// The output of a tool, or nothing where the machine does not have it.
fn tool(name: &str, args: &[&str]) -> Option<Output> {
    match Command::new(name).args(args).output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: this machine has no {name}");
            None
        }
        Err(error) => panic!("{name}: {error}"),
    }
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn systemd_accepts_the_unit() {
    let dir = tempfile::tempdir().unwrap();
    let unit = dir.path().join("touchmoved.service");
    let binary = env!("CARGO_BIN_EXE_touchmoved");
    std::fs::write(&unit, read("systemd/touchmoved.service").replace("/usr/bin/touchmoved", binary)).unwrap();
    let Some(output) = tool("systemd-analyze", &["verify", "--man=no", unit.to_str().unwrap()]) else {
        return;
    };
    let report = text(&output);
    // Other units of the machine may have faults of their own.
    let ours: Vec<&str> = report.lines().filter(|line| line.contains("touchmoved.service")).collect();
    assert!(ours.is_empty(), "{ours:#?}");
}

/// The priority that the configuration shows is one that the unit permits.
#[test]
fn the_unit_permits_the_real_time_priority_of_the_example() {
    let number = |text: &str, key: &str| -> u8 {
        let line = text.lines().find_map(|line| line.trim_start_matches('#').strip_prefix(key)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    let limit = number(&read("systemd/touchmoved.service"), "LimitRTPRIO=");
    assert!(number(&read("config/touchmoved.toml"), "realtime-priority = ") <= limit);
    assert!(
        read("docs/hardware.md").contains(&format!("The unit of the\n  service permits up to {limit} ("))
    );
}

#[test]
fn systemd_finds_the_unit_well_confined() {
    let unit = project("systemd/touchmoved.service");
    let args = ["security", "--offline=true", "--threshold=25", unit.to_str().unwrap()];
    let Some(output) = tool("systemd-analyze", &args) else { return };
    let report = text(&output);
    if report.contains("unrecognized option") || report.contains("Failed to initialize") {
        eprintln!("skipped: this systemd-analyze cannot look at a unit file alone");
        return;
    }
    assert!(output.status.success(), "{report}");
}

#[test]
fn the_user_of_the_unit_is_the_one_that_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let root = format!("--root={}", dir.path().display());
    let file = project("systemd/touchmoved.sysusers");
    let args = [root.as_str(), "--dry-run", file.to_str().unwrap()];
    if let Some(output) = tool("systemd-sysusers", &args) {
        let report = text(&output);
        assert!(output.status.success(), "{report}");
        assert!(report.contains("touchmoved"), "{report}");
    }
    let users = read("systemd/touchmoved.sysusers");
    let unit = read("systemd/touchmoved.service");
    for group in unit
        .lines()
        .filter_map(|line| line.strip_prefix("SupplementaryGroups="))
        .flat_map(str::split_whitespace)
    {
        assert!(users.lines().any(|line| line == format!("m touchmoved {group}")), "{group}");
    }
    assert!(unit.contains("\nUser=touchmoved\n") && users.contains("\nu touchmoved "));
}

#[test]
fn the_unit_calls_commands_that_exist() {
    for line in read("systemd/touchmoved.service").lines() {
        let Some((_, command)) = line.split_once("=/usr/bin/touchmoved ") else { continue };
        let mut words = command.split_whitespace();
        let name = words.next().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_touchmoved")).args([name, "--help"]).output().unwrap();
        let help = text(&output);
        assert!(output.status.success(), "{name}: {help}");
        for option in words.filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{name} has no {option}: {help}");
        }
    }
}

#[test]
fn each_udev_rule_is_explained_and_well_formed() {
    let mut explained = false;
    let mut rules = 0;
    for line in read("udev/60-touchmoved.rules").lines() {
        if line.is_empty() {
            explained = false;
        } else if line.starts_with('#') {
            explained = true;
        } else {
            rules += 1;
            assert!(explained || line.starts_with("LABEL="), "no comment above {line}");
            for part in line.split(", ") {
                let (key, value) = part.split_once('=').unwrap_or_else(|| panic!("{part}"));
                assert!(key.starts_with(|c: char| c.is_ascii_uppercase()), "{part}");
                let value = value.trim_start_matches('=');
                assert!(value.len() >= 2 && value.starts_with('"') && value.ends_with('"'), "{part}");
                assert_eq!(value.matches('"').count(), 2, "{part}");
            }
        }
    }
    assert!(rules >= 10);
}

#[test]
fn udev_gives_the_default_file_its_port() {
    let rules = read("udev/60-touchmoved.rules");
    let config = read("config/touchmoved.toml");
    assert!(config.contains("port = \"/dev/touchmoved/dgt\""));
    assert!(rules.contains("ENV{TOUCHMOVED_BOARD}==\"dgt\", SYMLINK+=\"touchmoved/dgt\""));
    assert!(config.contains("port = \"/dev/touchmoved/peg\""));
    assert!(rules.contains("ENV{TOUCHMOVED_BOARD}==\"peg\", SYMLINK+=\"touchmoved/peg\""));
    for id in [("045b", "8111"), ("04d8", "000a"), ("0403", "6001")] {
        let pair = format!("ATTRS{{idVendor}}==\"{}\", ATTRS{{idProduct}}==\"{}\"", id.0, id.1);
        assert!(rules.contains(&pair), "{pair}");
    }
}
