//! The manual of the Laws: its tables have what the program has, and nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use touchmoved::{
    game::Board,
    session::{event::Event, settings::full_name, setup::GameSetup, time::MonoTime},
};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(project(path)).unwrap()
}

/// The sources below a directory, without their tests.
fn sources(path: &str) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(project(path)).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            text += &sources(entry.strip_prefix(project("")).unwrap().to_str().unwrap());
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&entry).unwrap();
            text += source.split("#[cfg(test)]").next().unwrap();
        }
    }
    text
}

/// The rows of the table under a heading, as cells.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let manual = read("docs/laws.md");
    let part = manual.split(&format!("\n{heading}\n")).nth(1).unwrap_or_else(|| panic!("{heading}"));
    let table =
        part.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    table.skip(2).map(cells).collect()
}

/// What stands in code spans.
fn spans(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn first_cells(heading: &str) -> BTreeSet<String> {
    rows(heading).iter().flat_map(|row| spans(&row[0])).collect()
}

/// The first string literal behind each place where `marker` stands, unless something ends before it.
fn literals(source: &str, marker: &str) -> BTreeSet<String> {
    let first = |rest: &str| {
        let rest: String = rest.chars().take(120).collect();
        let (before, rest) = rest.split_once('"')?;
        let literal = rest.split_once('"')?.0;
        let word = !literal.is_empty()
            && literal.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        (word && !before.contains([';', '{', '}', '|'])).then(|| literal.to_owned())
    };
    source.split(marker).skip(1).filter_map(first).collect()
}

fn told_as(source: &str, word: &str) -> bool {
    source.contains(&format!("\"{word}\""))
}

/// Fields of each fact, as the sources write them.
fn fields_of_facts() -> BTreeMap<String, BTreeSet<String>> {
    let (law, session) = (sources("src/session/fact"), read("src/session/fact/mod.rs"));
    let mut fields = BTreeMap::<String, BTreeSet<String>>::new();
    // The name of each variant, and the struct that it holds or its own fields.
    let variants = |text: &str, of: &str| -> Vec<(String, String)> {
        let marker = format!("{of}::");
        let names = text.split(&marker).skip(1).filter_map(|rest| {
            let (variant, arm) = rest.split_once(" => ")?;
            let name = arm.strip_prefix('"')?.split('"').next()?;
            let variant = variant.split([' ', '(']).next()?;
            (!variant.contains("::")).then(|| (variant.to_owned(), name.to_owned()))
        });
        names.collect()
    };
    let members = |body: &str, public: &str| -> BTreeSet<String> {
        let lines = body.lines().map(str::trim).filter(|line| !line.starts_with(['/', '#']));
        let named = lines.filter_map(|line| line.strip_prefix(public)?.split_once(": "));
        named.map(|(name, _)| name.to_owned()).filter(|name| !name.contains([' ', '('])).collect()
    };
    let structure = |name: &str| {
        let body =
            law.split(&format!("pub struct {name} {{")).nth(1).map(|rest| rest.split("\n}").next().unwrap());
        members(body.unwrap_or_else(|| panic!("{name}")), "pub ")
    };
    let body = law.split("pub enum LawFact {").nth(1).unwrap().split("\n}").next().unwrap();
    for (variant, name) in variants(&law, "LawFact") {
        let place = body.split(&format!("\n    {variant}")).nth(1).unwrap_or_else(|| panic!("{variant}"));
        let found = if let Some(rest) = place.strip_prefix(" {") {
            members(rest.split("\n    }").next().unwrap(), "")
        } else {
            let held = place.trim_start_matches(['(']).split(')').next().unwrap();
            structure(held.trim_start_matches("Box<").trim_end_matches('>'))
        };
        fields.entry(name).or_default().extend(found);
    }
    // What few obligations have is written flat into them, and so is the order of touches.
    let obligation = fields.entry("obligation".to_owned()).or_default();
    obligation.extend(structure("Obligation"));
    for (flat, held) in [("more", "ObligationDetail"), ("uncertain", "Uncertain")] {
        assert!(obligation.remove(flat));
        obligation.extend(structure(held));
    }
    let names = variants(&session, "FactKind");
    let arms = session.split("fn fields<M").nth(1).unwrap();
    for arm in arms.split("\n            FactKind::").skip(1) {
        let variant = arm.split([' ', '(']).next().unwrap();
        for (_, name) in names.iter().filter(|(named, _)| named == variant) {
            let entries = arm.split("serialize_entry(\"").skip(1).map(|rest| rest.split('"').next().unwrap());
            fields.entry(name.clone()).or_default().extend(entries.map(str::to_owned));
        }
    }
    fields.entry("result_withdrawn".to_owned()).or_default();
    fields
}

#[test]
fn every_fact_is_told_with_its_fields() {
    let told: BTreeMap<String, BTreeSet<String>> = rows("## Facts")
        .iter()
        .map(|row| {
            // A field stands at the beginning of its part; `and` joins two.
            let mut fields = BTreeSet::new();
            for part in row[1].split("; ").map(|part| part.strip_prefix("else ").unwrap_or(part)) {
                let Some(rest) = part.strip_prefix('`') else { continue };
                let (name, rest) = rest.split_once('`').unwrap();
                fields.insert(name.to_owned());
                for joined in [" and `", ", `"] {
                    if let Some((second, _)) = rest.strip_prefix(joined).and_then(|rest| rest.split_once('`'))
                    {
                        fields.insert(second.to_owned());
                    }
                    // `white_ms` and `black_ms`, `running`
                    if let Some((_, third)) = rest.split_once("`, `").filter(|_| rest.starts_with(" and `")) {
                        fields.insert(third.split('`').next().unwrap().to_owned());
                    }
                }
            }
            (spans(&row[0])[0].clone(), fields)
        })
        .collect();
    let found = fields_of_facts();
    assert!(found.len() > 30, "{found:?}");
    for (name, fields) in &found {
        let told = told.get(name).unwrap_or_else(|| panic!("{name} is not in the table"));
        assert_eq!(told, fields, "{name}");
    }
    assert_eq!(
        told.keys().collect::<Vec<_>>(),
        found.keys().filter(|name| *name != "contact").collect::<Vec<_>>()
    );
}

#[test]
fn every_advisory_is_told() {
    let source = sources("src/session") + &sources("src/game");
    let told = first_cells("### Advisories");
    let markers = ["Notice::of(", "code: ", "advise(", "advisory(", "tell.push(("];
    let found: BTreeSet<String> = markers.iter().flat_map(|marker| literals(&source, marker)).collect();
    assert!(found.len() > 60, "{found:?}");
    let unknown: Vec<_> = found.difference(&told).collect();
    assert!(unknown.is_empty(), "not in the table: {unknown:?}");
    let stale: Vec<_> = told.iter().filter(|code| !told_as(&source, code)).collect();
    assert!(stale.is_empty(), "nobody tells these: {stale:?}");
}

#[test]
fn every_reason_and_every_calculation_is_told() {
    let source = sources("src/session") + &sources("src/game");
    for (heading, markers) in [
        ("### Reasons of an end", &["draw_for_want_of_mate(", "Conclusion::of("][..]),
        ("### Times that are worked out", &["ClockCalc::of("][..]),
    ] {
        let told = first_cells(heading);
        let found: BTreeSet<String> = markers.iter().flat_map(|marker| literals(&source, marker)).collect();
        assert!(found.len() > 9, "{heading}: {found:?}");
        let unknown: Vec<_> = found.difference(&told).collect();
        assert!(unknown.is_empty(), "{heading}: not in the table: {unknown:?}");
        let stale: Vec<_> = told.iter().filter(|word| !told_as(&source, word)).collect();
        assert!(stale.is_empty(), "{heading}: nobody tells these: {stale:?}");
    }
}

/// The facts that follow from one event at the beginning of a game.
fn after(event: Event) -> Vec<Value> {
    let mut board = Board::new(&GameSetup::default()).unwrap();
    board.input(MonoTime::ZERO, &event.into());
    std::iter::from_fn(|| board.poll_fact()).map(|fact| fact.to_value()).collect()
}

/// The words of the outermost match arms between two places of a source.
fn arms(source: &str, from: &str, to: &str) -> BTreeSet<String> {
    let body = source.split(from).nth(1).unwrap().split(to).next().unwrap();
    let arms = body.lines().filter(|line| line.trim().starts_with('"') && line.contains(" => "));
    let indent = |line: &str| line.len() - line.trim_start().len();
    let outermost = arms.clone().map(indent).min().unwrap();
    arms.filter(|line| indent(line) == outermost)
        .map(|line| line.split_once(" => ").unwrap().0)
        .flat_map(|arm| arm.split('"').skip(1).step_by(2).map(str::to_owned))
        .collect()
}

#[test]
fn every_button_is_told_and_known() {
    let told = first_cells("## Buttons");
    let is_known = |name: &str| {
        !after(Event::Button(name.to_owned())).iter().any(|fact| fact["code"] == "unknown-button")
    };
    assert!(!is_known("jadoube"));
    for name in &told {
        for side in ["white", "black"] {
            let name = name.replace("SIDE", side).replace("SQUARE", "g1");
            assert!(is_known(&name), "{name}");
        }
    }
    let claims = read("src/game/conduct/claims.rs");
    let said = arms(&claims, "fn said(", "\n}\n");
    assert!(said.len() >= 9, "{said:?}");
    for name in said {
        assert!(told.contains(&format!("{name}-SIDE")), "{name}");
    }
    let list = claims.split("const CLAIMS").nth(1).unwrap().split(';').nth(1).unwrap();
    let kinds: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert!(kinds.len() >= 9, "{kinds:?}");
    for kind in kinds {
        assert!(told.contains(&format!("claim-{kind}-SIDE")), "{kind}");
    }
}

#[test]
fn every_command_is_told_and_known() {
    let told = first_cells("## Commands of the arbiter");
    let is_known = |text: &str| {
        let facts = after(Event::Arbiter(json!(text)));
        let entry = facts.iter().find(|fact| fact["fact"] == "arbiter_entry").unwrap();
        !entry["reason"].as_str().is_some_and(|reason| reason.starts_with("there is no command"))
    };
    assert!(!is_known("resign"));
    let words: BTreeSet<String> = told
        .iter()
        .filter(|text| !text.chars().all(|c| c.is_ascii_uppercase()))
        .map(|text| text.split(' ').next().unwrap().to_owned())
        .collect();
    for word in &words {
        assert!(is_known(&word.replace("SIDE", "white")), "{word}");
    }
    let command = read("src/game/conduct/command.rs");
    let read = arms(&command, "Ok(match word {", "\n        })");
    assert!(read.len() > 35, "{read:?}");
    for word in read {
        assert!(words.contains(&word), "{word}");
    }
    let kinds = command.split("const ALL").nth(1).unwrap().split("];").next().unwrap();
    let kinds: Vec<&str> = kinds.split("(\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let rows = rows("## Commands of the arbiter");
    let penalty = rows.iter().find(|row| row[0].contains("penalty")).unwrap();
    assert_eq!(spans(&penalty[1]).iter().filter(|word| *word != "SIDE").collect::<Vec<_>>(), kinds);
}

#[test]
fn every_setting_that_is_named_exists() {
    let manual = read("docs/laws.md");
    let names: BTreeSet<String> = spans(&manual)
        .into_iter()
        .filter(|span| span.contains('.') && span.chars().all(|c| c.is_ascii_lowercase() || "._".contains(c)))
        .filter(|span| !["flag.alert", "period.begin_here"].contains(&span.as_str()))
        .collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        assert!(full_name(&name).is_ok(), "{name}");
    }
    // Somebody decides each open question.
    for row in rows("## Open questions") {
        let decides =
            spans(&row[1]).iter().any(|span| full_name(span).is_ok() || span == "rules" || span == "restore");
        assert!(decides || row[1].contains("arbiter"), "{row:?}");
    }
}
