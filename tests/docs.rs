//! The documents: every link leads to a file, and the commands that they name exist.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
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
    for script in ["tests/run", ".ci/run"] {
        assert_ne!(fs::metadata(project(script)).unwrap().permissions().mode() & 0o100, 0, "{script}");
        let status = Command::new("bash").args(["-n", script]).current_dir(project("")).status().unwrap();
        assert!(status.success(), "{script}");
    }
}

#[test]
fn the_example_of_the_readme_is_a_correct_configuration() {
    let readme = read("README.md");
    let examples: Vec<&str> =
        readme.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!examples.is_empty());
    for example in examples {
        if let Err(errors) = touchmoved::config::parse("README.md", example) {
            panic!("{errors}");
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
