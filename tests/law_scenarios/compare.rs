//! What a scenario expects against what was found.

use serde_json::{Map, Value, json};

use crate::log::{is_still, list};

/// Facts that are worked out without a game; the tests of those modules run them.
const PURE: [&str; 3] = ["notation", "parse", "classification"];

/// Keys that say something to a reader, or say again what the inputs say, and are not compared.
const NOT_COMPARED: &[(&str, &str)] = &[
    ("ev", "the place, compared by itself"),
    ("note", "prose"),
    ("ply_note", "prose"),
    ("naive_count", "what a wrong way of counting would give"),
    ("no_mate_exception_absent", "says why the result is not another one"),
    ("attribution", "prose: who may have touched the man"),
    ("charged_to", "prose: whose time runs"),
    ("missing", "prose: what would complete the move"),
    ("occupancy", "tells the reader that squares alone do not show it"),
    ("occupancy_unsettled", "the same"),
    ("inferred", "prose: from what the move was found"),
    ("assumed", "told by the advisory `promotion-unknown`"),
    ("also_removed", "says again what was lifted"),
    ("also_moved", "says again what was lifted and placed"),
    ("rook_first_ban", "the setting of the scenario"),
    ("not_legal_under_obligation", "compared with the moves of the obligation"),
    ("publish", "compared with what was published"),
];

/// The articles of the edition of 2005 and what they are in that of 2023.
const ARTICLES: &[(&str, &str)] = &[
    ("4.3a", "4.3.1"),
    ("4.3b", "4.3.2"),
    ("4.3c", "4.3.3"),
    ("4.4a", "4.4.1"),
    ("4.4b", "4.4.2"),
    ("4.4c", "4.4.3"),
    ("4.6b", "4.7.2"),
    ("4.6c", "4.7.3"),
    ("9.5b", "9.5.3"),
    ("13.4c", "12.9.3"),
];

/// A fact that must not be told, where the scenario says so in prose: the scenario, and whether a fact is
/// one.
type Forbidden = (&'static str, fn(&Value) -> bool);

const FORBIDDEN: &[Forbidden] = &[
    // "any alert to arbiter or display"
    ("LB7-1", |fact| fact["code"] == "flag-indicated" && fact["to"] != "journal"),
    // "feed output of Bb5"
    ("LA1a-1", |fact| fact["fact"] == "move_published" && fact["uci"] == "f1b5"),
    // "move_made before event 3"
    ("LF2.2-3", |fact| fact["fact"] == "move_made" && fact["ev"].as_i64() < Some(3)),
    // "any arbiter prompt asking him to tell the player"
    ("L13.6-1", |fact| fact["code"] == "uncompleted-move" && fact["to"] != "journal"),
    // "obligation with touches g8 binding white"
    ("L4.2-4", |fact| list(fact, "must_capture").contains(&json!("g8"))),
    // "recording advisory"
    ("LB3-1", |fact| fact["fact"] == "recording" || fact["code"] == "scribe-needed"),
];

/// True for the facts that a scenario expects of a game; the others are pure computations.
pub fn is_of_the_game(scenario: &Value, fact: &Value) -> bool {
    let kind = fact["fact"].as_str().unwrap();
    // The duty to record of a discipline is read off the settings.
    let pure = PURE.contains(&kind) || (["spoken", "c960_start"].contains(&kind) && is_still(scenario));
    !pure && kind != "absent" && fact.get("recording_required").is_none()
}

/// A scenario and what came of it.
pub struct Comparison<'a> {
    pub scenario: &'a Value,
    /// The edition it was played under.
    pub edition: &'a str,
    /// All facts in their order.
    pub found: &'a [Value],
    /// Events that were put before those of the scenario.
    pub shift: i64,
    /// The position, where nothing happens in it.
    pub still: &'a Still,
    /// Whether a scenario is let off where it stands against others.
    pub lenient: bool,
}

impl Comparison<'_> {
    /// What is wrong, in words.
    pub fn differences(&self) -> Vec<String> {
        let mut wrong = self.missing();
        for absent in list(self.scenario, "expected").iter().filter(|fact| fact["fact"] == "absent") {
            let mut words = absent["what"].as_str().unwrap().split_whitespace();
            let (kind, more) = (words.next().unwrap(), words.next());
            wrong.extend(self.told(|fact| {
                let named = |word| ["uci", "code", "kind", "reason"].iter().any(|key| fact[*key] == word);
                fact["fact"] == kind && more.is_none_or(named)
            }));
        }
        for (_, is_it) in FORBIDDEN.iter().filter(|(id, _)| self.scenario["id"] == *id) {
            wrong.extend(self.told(is_it));
        }
        for held in list(self.scenario, "expected").iter().filter(|fact| fact["publish"] == false) {
            wrong.extend(self.told(|fact| fact["fact"] == "move_published" && fact["uci"] == held["uci"]));
        }
        wrong
    }

    /// Expected facts that did not come, or not in their turn.
    fn missing(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut next = 0;
        for wanted in
            list(self.scenario, "expected").iter().filter(|fact| is_of_the_game(self.scenario, fact))
        {
            if is_still(self.scenario) && self.still.answers(wanted, &mut wrong) {
                continue;
            }
            let mut fitting = self.found.iter().enumerate().filter(|(_, fact)| self.matches(wanted, fact));
            let how = match (fitting.clone().find(|(index, _)| *index >= next), fitting.next()) {
                (Some((index, _)), _) => {
                    next = index + 1;
                    continue;
                }
                (None, Some(_)) if self.is_excused(wanted, "ev") => continue,
                (None, Some(_)) => "out of order",
                (None, None) => "missing",
            };
            wrong.push(format!("{how}: {wanted}\n      found: {}", nearest(wanted, self.found)));
        }
        wrong
    }

    /// Facts that must not be told.
    fn told(&self, is_it: impl Fn(&Value) -> bool) -> impl Iterator<Item = String> {
        self.found.iter().filter(move |fact| is_it(fact)).map(|fact| format!("must be absent: {fact}"))
    }

    fn matches(&self, wanted: &Value, found: &Value) -> bool {
        let in_time = wanted["ev"].as_i64().is_none_or(|ev| {
            let ev = if ev < 0 { ev } else { ev + self.shift };
            found["ev"].as_i64().is_some_and(|at| (ev..=ev + 1).contains(&at))
        });
        let is_prose = |key: &str, value: &Value| key == "required" && value.is_string();
        (in_time || self.is_excused(wanted, "ev"))
            && allows_only(wanted, found)
            && wanted.as_object().unwrap().iter().all(|(key, value)| {
                NOT_COMPARED.iter().any(|(name, _)| name == key)
                    || self.is_excused(wanted, key)
                    || is_prose(key, value)
                    || same(&of_edition(self.edition, key, value), &found[key])
            })
    }

    /// True when the scenario stands against others in this key of a fact.
    fn is_excused(&self, wanted: &Value, key: &str) -> bool {
        let excused = |row: &crate::Contradiction| {
            let of_fact = wanted["fact"] == row.fact || wanted["code"] == row.fact;
            let here = row.edition.is_none_or(|only| only == self.edition);
            self.scenario["id"] == row.id && here && of_fact && row.key == key
        };
        self.lenient && crate::CONTRADICTS.iter().any(excused)
    }
}

/// What can be asked of a game in which nothing happens.
pub struct Still {
    /// The position as a FEN.
    pub fen: String,
    /// The legal moves in UCI.
    pub legal: Vec<String>,
}

impl Still {
    fn answers(&self, wanted: &Value, wrong: &mut Vec<String>) -> bool {
        let found = match wanted["fact"].as_str().unwrap() {
            "position" => json!({ "fen": self.fen }),
            "c960_castle" => json!({ "legal": self.legal.iter().any(|mv| wanted["uci"] == **mv) }),
            _ => return false,
        };
        for (key, value) in found.as_object().unwrap() {
            if wanted[key] != *value {
                wrong.push(format!("{wanted}: {key} is {value}"));
            }
        }
        true
    }
}

/// The facts of the same kind and code, as far as they help a reader.
fn nearest(wanted: &Value, found: &[Value]) -> String {
    let kin = found.iter().filter(|fact| fact["fact"] == wanted["fact"] && fact["code"] == wanted["code"]);
    let mut kin: Vec<String> = kin.map(Value::to_string).collect();
    if kin.is_empty() {
        let told = found.iter().map(|fact| {
            let more = ["code", "uci", "calc", "kind"].iter().find_map(|key| fact[*key].as_str());
            format!(
                "{}:{}{}{}",
                fact["ev"],
                fact["fact"].as_str().unwrap(),
                if more.is_some() { " " } else { "" },
                more.unwrap_or("")
            )
        });
        return format!("none of that kind among [{}]", told.collect::<Vec<_>>().join(", "));
    }
    kin.dedup();
    kin.join("\n             ")
}

/// None of the moves that the obligation must exclude is among those that it leaves.
fn allows_only(wanted: &Value, found: &Value) -> bool {
    list(wanted, "not_legal_under_obligation").iter().all(|mv| !list(found, "legal").contains(mv))
}

/// The same value, whatever the order of a list.
fn same(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Array(a), Value::Array(b)) => {
            let sorted = |list: &[Value]| {
                let mut list: Vec<String> = list.iter().map(Value::to_string).collect();
                list.sort();
                list
            };
            sorted(a) == sorted(b)
        }
        (Value::Object(a), Value::Object(b)) => a.iter().all(|(key, value)| same(value, &b[key])),
        _ => wanted == found,
    }
}

/// The article of the edition: most scenarios have the numbers of 2005.
fn of_edition(edition: &str, key: &str, value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let map: Map<String, Value> =
                map.iter().map(|(key, value)| (key.clone(), of_edition(edition, key, value))).collect();
            Value::Object(map)
        }
        Value::String(article) if key == "rule" || key == "article" => {
            let of_2005 = edition == "fide-2005";
            let row = ARTICLES.iter().find(|(old, new)| article == old || article == new);
            json!(row.map_or(article.as_str(), |(old, new)| if of_2005 { old } else { new }))
        }
        _ => value.clone(),
    }
}
