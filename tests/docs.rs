//! The documents: every link leads to a file, and the commands that they name exist.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use shakmaty::{CastlingSide, File, Rank, Role};
use touchmoved::{
    laws::settings::{Discipline, Expected, KEYS, LawKey, LawSettings, Rules, Supervision},
    notation::{Language, announcement::Speech},
    sensor::matrix::selftest::Cause,
};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(project(path)).unwrap()
}

/// README, changelog and manuals, with their directories.
fn documents() -> Vec<(PathBuf, String)> {
    let mut paths = vec![project("README.md"), project("CHANGELOG.md")];
    let manuals = fs::read_dir(project("docs")).unwrap().map(|entry| entry.unwrap().path());
    paths.extend(manuals.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_link_leads_to_a_file() {
    let mut broken = Vec::new();
    for (path, text) in documents() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or("");
            if !target.is_empty() && !target.contains("://") && !path.with_file_name(target).exists() {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_command_in_a_document_exists() {
    let mut names = BTreeSet::new();
    for (_, text) in documents() {
        // In a code block, or after the backtick of a code span.
        let blocks =
            text.split("```").skip(1).step_by(2).flat_map(|block| block.split("touchmoved ").skip(1));
        let spans = text.split("`touchmoved ").skip(1);
        names.extend(blocks.chain(spans).map(|rest| {
            rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect::<String>()
        }));
    }
    names.retain(|name| !name.is_empty());
    assert!(names.contains("demo") && names.contains("check-config"), "{names:?}");
    for name in names {
        let option = if name.starts_with('-') { None } else { Some("--help") };
        let output = Command::new(env!("CARGO_BIN_EXE_touchmoved")).arg(&name).args(option).output().unwrap();
        assert!(output.status.success(), "touchmoved {name}");
    }
}

#[test]
fn the_test_command_of_the_readme_is_the_one_that_is_run_for_every_change() {
    assert!(read("README.md").contains("\n```\ntests/run\n```\n"));
    assert!(read(".ci/run").contains("\nstep tests/run "));
    let machines = ["tests/vm/gpio-sim.sh", "tests/vm/raspberry-pi.sh"];
    assert!(machines.iter().all(|script| read("tests/run").contains(script)));
    assert!(read("tests/run").contains("tests/clients/run --short"));
    for script in ["tests/run", ".ci/run", "tests/clients/run"].into_iter().chain(machines) {
        assert_ne!(fs::metadata(project(script)).unwrap().permissions().mode() & 0o100, 0, "{script}");
        let status = Command::new("bash").args(["-n", script]).current_dir(project("")).status().unwrap();
        assert!(status.success(), "{script}");
    }
}

/// What a machine does not have is said, and is no failure: the status of `cannot` in tests/vm/common.sh.
#[test]
fn a_test_in_a_virtual_machine_that_cannot_be_run_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let tools = dir.path().join("tools");
    fs::create_dir(&tools).unwrap();
    for tool in ["dirname", "basename", "mkdir"] {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|directory| directory.join(tool))
            .find(|path| path.exists());
        std::os::unix::fs::symlink(found.unwrap(), tools.join(tool)).unwrap();
    }
    let bash = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|path| Path::new(path).exists()).unwrap();
    for script in ["tests/vm/gpio-sim.sh", "tests/vm/raspberry-pi.sh"] {
        let output = Command::new(bash)
            .arg(script)
            .arg("--prepare")
            .arg(dir.path().join("work"))
            .current_dir(project(""))
            .env("PATH", &tools)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said, format!("not run: {script}: this machine has no cargo\n"));
        assert_eq!(output.status.code(), Some(77), "{script}");
    }
}

/// The manual tells every finding of the matrix's self-test, and what to do is what the program says.
#[test]
fn the_findings_of_the_matrix_are_told_as_they_are() {
    let manual = read("docs/hardware.md");
    let table = manual.split("| finding | shows on |").nth(1).unwrap().split("\n\n").next().unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| `")).collect();
    let causes = [
        Cause::NoDiodes,
        Cause::Turned,
        Cause::Silent,
        Cause::RowStuck,
        Cause::ColumnStuck,
        Cause::RowBroken,
        Cause::ColumnBroken,
        Cause::SettleTooShort,
        Cause::DiodeShorted,
        Cause::NeverCloses,
        Cause::NeverOpens,
        Cause::Unstable,
    ];
    for cause in causes {
        let row = rows.iter().find(|row| row.starts_with(&format!("| `{}` | ", cause.code())));
        let row = row.unwrap_or_else(|| panic!("no row for {}", cause.code()));
        assert!(row.ends_with(&format!(" | {} |", cause.remedy())), "{row}");
        assert!(row.split(" | ").all(|cell| cell.len() > 3), "{row}");
    }
    assert_eq!(rows.len(), causes.len());
    // And these are all of them.
    let source = read("src/sensor/matrix/selftest/finding.rs");
    let names = source.split("pub const fn code").nth(1).unwrap().split("pub const fn").next().unwrap();
    assert_eq!(names.matches(" => \"").count(), causes.len());
}

/// Every example says how it is tried, and what is seen then.
#[test]
fn every_example_says_what_a_reader_will_see() {
    let mut examples = 0;
    for entry in fs::read_dir(project("config/examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let comment: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
        let name = path.file_name().unwrap().to_str().unwrap();
        let command = format!("#   touchmoved doctor --config config/examples/{name}");
        let at = comment.iter().position(|line| *line == command);
        let at = at.unwrap_or_else(|| panic!("{name}: a line {command:?}, and below it what is seen then"));
        assert!(at > 0 && comment.len() > at + 1, "{name}: what it is, and what is seen");
        examples += 1;
    }
    assert!(examples >= 10, "only {examples} examples");
}

/// The faults that the simulated matrix has are those that its comment speaks of.
#[test]
fn the_example_with_faults_names_them() {
    let path = "config/examples/matrix-simulated.toml";
    let text = read(path);
    let run = Command::new(env!("CARGO_BIN_EXE_touchmoved"))
        .args(["doctor", "--json", "--seconds", "1", "--config", path])
        .current_dir(project(""))
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let wiring =
        report["checks"].as_array().unwrap().iter().find(|check| check["check"] == "wiring").unwrap();
    assert_eq!(wiring["verdict"], "failed");
    let found = wiring["what"].as_str().unwrap();
    for (code, square) in [("diode-shorted", "e2"), ("never-closes", "a7")] {
        let finding = format!("{code} at {square}");
        assert!(found.contains(&finding), "{found}");
        assert!(text.lines().any(|line| line.starts_with('#') && line.contains(&finding)), "{finding}");
    }
}

#[test]
fn the_examples_of_the_documents_are_correct_configurations() {
    for document in ["README.md", "docs/clock.md", "docs/configuration.md", "docs/feeds.md"] {
        let text = read(document);
        let examples: Vec<&str> =
            text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(!examples.is_empty());
        for example in examples {
            if let Err(errors) = touchmoved::config::parse(document, example) {
                panic!("{errors}");
            }
        }
    }
}

/// The manual tells every cost of the tracker with its value.
#[test]
fn the_costs_of_the_tracker_are_told_as_they_are() {
    let manual = read("docs/reconstruction.md");
    let told = |name: &str| {
        let row = manual.lines().find(|line| line.contains(&format!("| `{name}` |")))?;
        row.split('|')
            .map(str::trim)
            .skip_while(|cell| *cell != format!("`{name}`"))
            .nth(1)
            .map(str::to_owned)
    };
    let mut costs = 0;
    for line in read("src/session/tracker/cost.rs").lines().filter(|line| line.starts_with("pub const ")) {
        let (name, rest) = line.trim_start_matches("pub const ").split_once(':').unwrap();
        let value = rest.split('=').nth(1).unwrap().trim().trim_end_matches(';').replace('_', "");
        assert_eq!(told(name), Some(value), "{name}");
        costs += 1;
    }
    assert!(costs > 50, "only {costs} costs");
}

/// The letters and words of the manual are those of the program.
#[test]
fn the_tables_of_the_notation_are_told_as_they_are() {
    let manual = read("docs/notation.md");
    let told = |row: &str| assert!(manual.lines().any(|line| line == row), "{row}");
    let pieces = [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight];
    for language in Language::ALL {
        let letters = pieces.map(|role| language.letter(role)).join(" | ");
        told(&format!("| `{language}` | {} | {letters} |", language.name()));
    }
    let manual = read("docs/laws.md");
    let told = |row: &str| assert!(manual.lines().any(|line| line == row), "{row}");
    for speech in Speech::ALL {
        let men = pieces.into_iter().chain([Role::Pawn]).map(|role| speech.piece(role));
        let sides = [CastlingSide::KingSide, CastlingSide::QueenSide].map(|side| speech.castling(side));
        told(&format!("| `{speech}` | {} |", men.chain(sides).collect::<Vec<_>>().join(" | ")));
        told(&format!("| `{speech}` | {} |", File::ALL.map(|file| speech.file(file)).join(" | ")));
        told(&format!("| `{speech}` | {} |", Rank::ALL.map(|rank| speech.rank(rank)).join(" | ")));
    }
}

/// The letters that mean several pieces, with every language: all of them, and no others.
#[test]
fn the_collisions_of_the_letters_are_told_as_they_are() {
    let manual = read("docs/notation.md");
    let table = manual.split("| letter | means |\n|---|---|\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let mut told: Vec<&str> = table.lines().collect();
    told.sort_unstable();
    let latin = |letter: &str| letter.replace('К', "K").replace('С', "C").replace('Т', "T");
    let mut collisions = Vec::new();
    for letter in ('A'..='Z').map(String::from) {
        let mut meanings = Vec::new();
        for (name, role) in [
            ("king", Role::King),
            ("queen", Role::Queen),
            ("rook", Role::Rook),
            ("bishop", Role::Bishop),
            ("knight", Role::Knight),
        ] {
            let codes: Vec<&str> = Language::ALL
                .into_iter()
                .filter(|language| latin(language.letter(role)) == letter)
                .map(Language::code)
                .collect();
            if !codes.is_empty() {
                meanings.push(format!("{name}: {}", codes.join(", ")));
            }
        }
        if meanings.len() > 1 {
            collisions.push(format!("| `{letter}` | {} |", meanings.join("; ")));
        }
    }
    assert_eq!(told, collisions);
}

/// Every example of the commands that need no file prints what is shown below it.
#[test]
fn the_examples_print_what_is_shown() {
    let directory = Path::new(env!("CARGO_BIN_EXE_touchmoved")).parent().unwrap();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap_or_default());
    let mut run = 0;
    for (document, text) in documents() {
        for example in
            text.split("```").skip(1).step_by(2).flat_map(|block| block.split("$ touchmoved ").skip(1))
        {
            if !["notation ", "parse "].iter().any(|command| example.starts_with(command)) {
                continue;
            }
            let (arguments, shown) = example.split_once('\n').unwrap();
            let command = format!("touchmoved {arguments}");
            let output = Command::new("sh").args(["-c", &command]).env("PATH", &path).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), shown, "{}: {command}", document.display());
            run += 1;
        }
    }
    assert!(run >= 8, "only {run} examples");
}

/// The default of a setting of the Laws under an edition, as the manual writes it: that of standard play,
/// then what rapid and blitz have instead.
fn default_of(key: &LawKey, rules: Rules) -> String {
    let value = |discipline, supervision| {
        let value = key.value(&LawSettings::preset(rules, discipline, supervision));
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    };
    let standard = value(Discipline::Standard, Supervision::Full);
    let mut others: Vec<(String, Vec<&str>)> = Vec::new();
    let names = [
        (Discipline::Rapid, ["rapid", "rapid full", "rapid basic"]),
        (Discipline::Blitz, ["blitz", "blitz full", "blitz basic"]),
    ];
    for (discipline, [both, full, basic]) in names {
        let values =
            [Supervision::Full, Supervision::Basic].map(|supervision| value(discipline, supervision));
        let told = if values[0] == values[1] { vec![both] } else { vec![full, basic] };
        for (name, value) in told.into_iter().zip(values).filter(|(_, value)| *value != standard) {
            match others.iter_mut().find(|(other, _)| *other == value) {
                Some((_, names)) => names.push(name),
                None => others.push((value, vec![name])),
            }
        }
    }
    let others = others.iter().map(|(value, names)| format!("; {} `{value}`", names.join(", ")));
    format!("`{standard}`{}", others.collect::<String>()).replace("`null`", "")
}

/// The beginning of the row of a setting of the Laws: everything but what it means.
fn row_of(key: &LawKey) -> String {
    let range = match key.expected {
        Expected::Number { unit: "", min, max } => format!("{min} to {max}"),
        Expected::Number { unit: "milliseconds", min, max } => format!("ms, {min} to {max}"),
        Expected::Number { unit: "seconds", min, max } => format!("s, {min} to {max}"),
        Expected::Number { unit, min, max } => format!("{unit}, {min} to {max}"),
        Expected::Boolean => "`true`, `false`".to_owned(),
        Expected::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
    };
    let [old, new, ua] = [Rules::Fide2005, Rules::Fide2023, Rules::Ua].map(|rules| default_of(key, rules));
    let new = if new == ua { new } else { format!("{new}; ua {ua}") };
    format!("| `{}` | `{}` | {range} | {old} | {new} | ", key.name, key.place)
}

/// The manual has a row for each setting of the Laws, with its range, its defaults and its article.
#[test]
fn the_settings_of_the_laws_are_told_as_they_are() {
    let manual = read("docs/configuration.md");
    let mut missing = String::new();
    for row in KEYS.iter().map(row_of) {
        let meaning = manual.lines().find_map(|line| line.strip_prefix(&row)).unwrap_or("");
        if meaning.len() < 20 || !meaning.ends_with(" |") {
            missing += &format!("{row}\n");
        }
    }
    assert!(missing.is_empty(), "not in docs/configuration.md:\n{missing}");
}
