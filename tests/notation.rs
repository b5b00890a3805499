//! Notation: every fact of the scenarios that is about writing, reading, announcing and Chess960, at the
//! library and through the commands; and what is written is read back in every language.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{fs, path::Path, process::Command};

use proptest::{prelude::*, test_runner::contextualize_config};
use serde_json::Value;
use shakmaty::{
    CastlingMode, Chess, EnPassantMode, Move, Position as _,
    fen::Fen,
    uci::{IllegalUciMoveError, UciMove},
};
use touchmoved::notation::{
    self, CastlingSign, Language, Reading, Style,
    announcement::{self, Speech},
    chess960::{Array, Castling},
    fen::{self, CastlingLetters},
};

/// One scenario, as far as it is about notation.
struct Scenario {
    id: String,
    json: Value,
}

impl Scenario {
    fn all() -> Vec<Scenario> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/laws/scenarios.jsonl");
        let lines = fs::read_to_string(path).unwrap();
        let scenario = |line: &str| {
            let json: Value = serde_json::from_str(line).unwrap();
            Scenario { id: json["id"].as_str().unwrap().to_owned(), json }
        };
        lines.lines().map(scenario).collect()
    }

    fn facts(&self) -> impl Iterator<Item = &Value> {
        self.json["expected"].as_array().unwrap().iter()
    }

    fn mode(&self) -> CastlingMode {
        CastlingMode::from_chess960(self.json["variant"] == "chess960")
    }

    /// The position before the first event.
    fn start(&self) -> Chess {
        let mut position = fen::read(self.json["start"].as_str().unwrap(), Some(self.mode())).unwrap();
        for uci in self.json["history"].as_array().into_iter().flatten() {
            position.play_unchecked(legal(&position, uci.as_str().unwrap()).unwrap());
        }
        position
    }

    /// Every fact of a kind with the position that it is about.
    fn of_kind(kind: &str) -> Vec<(String, Value, Chess)> {
        let mut found = Vec::new();
        for scenario in Scenario::all().iter().filter(|s| s.facts().any(|fact| fact["fact"] == kind)) {
            let mut position = scenario.start();
            for fact in scenario.facts() {
                if fact["fact"] == kind {
                    found.push((scenario.id.clone(), fact.clone(), position.clone()));
                }
                if fact["fact"] == "move_made" {
                    position.play_unchecked(legal(&position, fact["uci"].as_str().unwrap()).unwrap());
                }
            }
        }
        found
    }
}

fn legal(position: &Chess, uci: &str) -> Result<Move, IllegalUciMoveError> {
    uci.parse::<UciMove>().unwrap().to_move(position)
}

fn text<'a>(fact: &'a Value, key: &str) -> &'a str {
    fact[key].as_str().unwrap_or_else(|| panic!("{fact} has no {key}"))
}

/// Runs a command that must succeed; its output without the end of the line.
fn touchmoved(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_touchmoved")).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.strip_suffix('\n').unwrap().to_owned()
}

/// The error of a command that must fail with status 2.
fn refused(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_touchmoved")).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

/// The position as a command takes it: Shredder's letters tell that it is Chess960.
fn fen_of(position: &Chess) -> String {
    let chess960 = position.castles().mode().is_chess960();
    fen::write(position, if chess960 { CastlingLetters::Shredder } else { CastlingLetters::XFen })
}

#[test]
fn moves_are_written_as_the_scenarios_say() {
    let facts = Scenario::of_kind("notation");
    for (id, fact, position) in &facts {
        let m = legal(position, text(fact, "uci")).unwrap();
        if let Some(pgn) = fact["pgn"].as_str() {
            assert_eq!(notation::pgn(position, m), pgn, "{id}");
            assert_eq!(touchmoved(&["notation", &fen_of(position), text(fact, "uci")]), pgn, "{id}");
        }
        if let Some(language) = fact["lang"].as_str() {
            let style = Style {
                en_passant: fact["ep"].as_bool().unwrap_or(true),
                ..Style::new(language.parse().unwrap())
            };
            assert_eq!(notation::write(position, m, &style), text(fact, "text"), "{id}");
            let command = ["notation", &fen_of(position), text(fact, "uci"), "--lang", language];
            assert_eq!(touchmoved(&command), text(fact, "text"), "{id}");
            // What stands on a score sheet is read.
            let language = Some(language.parse().unwrap());
            assert_eq!(notation::parse(position, text(fact, "text"), language), Reading::Unique(m), "{id}");
        }
    }
    assert!(facts.len() >= 13, "{}", facts.len());
}

#[test]
fn texts_are_read_as_the_scenarios_say() {
    let facts = Scenario::of_kind("parse");
    for (id, fact, position) in &facts {
        let (written, uci) = (text(fact, "text"), text(fact, "uci"));
        let language: Language = text(fact, "lang").parse().unwrap();
        let m = legal(position, uci).unwrap();
        assert_eq!(notation::parse(position, written, Some(language)), Reading::Unique(m), "{id}");
        let answer = touchmoved(&["parse", &fen_of(position), written, "--lang", language.code()]);
        assert_eq!(answer, format!("{{\"kind\":\"unique\",\"uci\":\"{uci}\"}}"), "{id}");
    }
    assert!(facts.len() >= 4, "{}", facts.len());
}

#[test]
fn calls_are_made_and_heard_as_the_scenarios_say() {
    let facts = Scenario::of_kind("spoken");
    for (id, fact, position) in &facts {
        let (call, uci) = (text(fact, "text"), text(fact, "uci"));
        let m = legal(position, uci).unwrap();
        assert_eq!(announcement::announce(m, Speech::German), call, "{id}");
        assert_eq!(announcement::read(position, call), Reading::Unique(m), "{id}");
        assert_eq!(touchmoved(&["notation", &fen_of(position), uci, "--spoken", "de"]), call, "{id}");
    }
    assert!(facts.len() >= 7, "{}", facts.len());
}

/// What was announced and does not fit the move on the board.
#[test]
fn announcements_are_compared_with_moves() {
    let mut compared = 0;
    for scenario in Scenario::all() {
        for fact in
            scenario.facts().filter(|fact| fact["code"] == "announce-mismatch" && fact["said"].is_string())
        {
            let at = usize::try_from(fact["ev"].as_u64().unwrap()).unwrap();
            let call = text(&scenario.json["events"][at], "announce");
            let position = scenario.start();
            let form = announcement::hear(call).unwrap();
            assert_eq!(form.uci(&position).as_deref(), Some(text(fact, "said")), "{}", scenario.id);
            let made = legal(&position, text(fact, "board_move")).unwrap();
            assert!(!form.means(&position, made), "{}", scenario.id);
            compared += 1;
        }
    }
    assert!(compared >= 2, "{compared}");
}

/// Moves that players and arbiters write down: sealed, intended in a claim.
#[test]
fn written_moves_of_the_scenarios_are_read() {
    let mut read = 0;
    for scenario in Scenario::all() {
        for event in scenario.json["events"].as_array().unwrap() {
            let sealed = event["arbiter"].as_str().and_then(|order| order.strip_prefix("open-envelope "));
            let Some(written) = sealed.or_else(|| event["intended"].as_str()) else { continue };
            let position = scenario.start();
            let reading = notation::parse(&position, written, None);
            match legal(&position, written) {
                Ok(m) => assert_eq!(reading, Reading::Unique(m), "{}", scenario.id),
                Err(_) => assert_eq!(reading, Reading::Illegal, "{}", scenario.id),
            }
            read += 1;
        }
    }
    assert!(read >= 8, "{read}");
}

#[test]
fn positions_are_written_as_the_scenarios_say() {
    let first_fields = |fen: &str| fen.split(' ').take(4).collect::<Vec<_>>().join(" ");
    let facts = Scenario::of_kind("position");
    for (id, fact, position) in &facts {
        let written = fen::write(position, CastlingLetters::XFen);
        assert_eq!(first_fields(&written), first_fields(text(fact, "fen")), "{id}");
        assert_eq!(&fen::read(text(fact, "fen"), Some(position.castles().mode())).unwrap(), position, "{id}");
    }
    assert!(facts.len() >= 4, "{}", facts.len());
}

#[test]
fn start_arrays_are_checked_as_the_scenarios_say() {
    let facts = Scenario::of_kind("c960_start");
    for (id, fact, _) in &facts {
        let array = Array::parse(text(fact, "fen"));
        assert_eq!(array.is_ok(), fact["valid"], "{id}: {array:?}");
        if let Some(number) = fact["number"].as_u64() {
            assert_eq!(array.unwrap().number(), u16::try_from(number).unwrap(), "{id}");
            let back = Array::from_number(u16::try_from(number).unwrap()).unwrap();
            assert_eq!(back.placement(), text(fact, "fen").split(' ').next().unwrap(), "{id}");
        }
    }
    assert!(facts.len() >= 4, "{}", facts.len());
}

#[test]
fn castling_in_chess960_is_carried_out_as_the_scenarios_say() {
    let facts = Scenario::of_kind("c960_castle");
    for (id, fact, position) in &facts {
        let uci = text(fact, "uci");
        let m = legal(position, uci).ok().filter(|m| m.is_castle());
        assert_eq!(m.is_some(), fact["legal"], "{id}");
        let reading = notation::parse(position, uci, None);
        let Some(m) = m else {
            assert_eq!(reading, Reading::Illegal, "{id}");
            continue;
        };
        assert_eq!(reading, Reading::Unique(m), "{id}");
        let castling = Castling::of(m).unwrap();
        if let Some(method) = fact["method"].as_str() {
            assert_eq!(castling.method().as_str(), method, "{id}");
        }
        let (vacated, filled) = castling.changes();
        for (key, squares) in [("vacated", vacated), ("filled", filled)] {
            if fact[key].is_array() {
                let names: Vec<String> = squares.iter().map(ToString::to_string).collect();
                assert_eq!(fact[key], Value::from(names), "{id}: {key}");
            }
        }
    }
    assert!(facts.len() >= 10, "{}", facts.len());
}

#[test]
fn the_commands_answer_and_say_what_is_wrong() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let castle = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1";
    let knights = "7k/8/8/8/8/8/8/1N3NK1 w - - 0 1";
    for (args, printed) in [
        (vec!["notation", start, "g1f3"], "Nf3"),
        (vec!["notation", start, "g1f3", "--long", "--lang", "hu"], "Hg1-f3"),
        (vec!["notation", start, "g1f3", "--lang", "fig"], "♘f3"),
        (vec!["notation", start, "g1f3", "--spoken", "uk"], "кінь же один еф три"),
        (vec!["notation", castle, "e1g1", "--zeros"], "0-0"),
        (vec!["notation", castle, "e1h1", "--chess960", "--spoken", "en"], "short castling"),
        (vec!["notation", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", "--no-ep"], "exd6"),
        (vec!["parse", start, "e2 – e4"], r#"{"kind":"unique","uci":"e2e4"}"#),
        (vec!["parse", castle, "0-0-0"], r#"{"kind":"unique","uci":"e1c1"}"#),
        (vec!["parse", castle, "0-0-0", "--chess960"], r#"{"kind":"unique","uci":"e1a1"}"#),
        (vec!["parse", knights, "Nd2"], r#"{"kind":"ambiguous","candidates":["b1d2","f1d2"]}"#),
        (vec!["parse", start, "e5", "--lang", "ro"], r#"{"kind":"illegal"}"#),
        (vec!["parse", start, "-what?"], r#"{"kind":"unreadable"}"#),
        (vec!["parse", start, ""], r#"{"kind":"unreadable"}"#),
    ] {
        assert_eq!(touchmoved(&args), printed, "{args:?}");
    }
    for (args, told) in [
        (
            vec!["notation", start, "e2e5"],
            "touchmoved notation: e2e5 is not legal in this position; from e2: e2e3 e2e4\n",
        ),
        (
            vec!["notation", start, "e7e5"],
            "touchmoved notation: e7e5 is not legal in this position; it is white's move\n",
        ),
        (vec!["notation", start, "a1a2"], "the man on a1 has no legal move"),
        (vec!["notation", start, "Nf3"], "\"Nf3\" is not a move in UCI; write it as e2e4"),
        (vec!["notation", "nonsense", "e2e4"], "\"nonsense\" is not a FEN"),
        (
            vec!["notation", start, "e2e4", "--lang", "xx"],
            "known: ro, en, ru, uk, de, fr, nl, nl-seed, es, hu, fig",
        ),
        (vec!["notation", start, "e2e4", "--spoken", "fr"], "known: de, en, ro, uk"),
        (vec!["notation", start, "e2e4", "--spoken", "de", "--long"], "cannot be used with"),
        (
            vec!["parse", "8/8/8/8/8/8/8/8 w - - 0 1", "e4"],
            "touchmoved parse: \"8/8/8/8/8/8/8/8 w - - 0 1\": illegal position",
        ),
    ] {
        let message = refused(&args);
        assert!(message.contains(told), "{args:?}: {message}");
    }
}

const STARTS: [&str; 7] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/1P4P1/8/2pP4/3pP3/8/p5p1/R3K2R w KQkq c6 0 1",
    "1n2kb2/P1P2ppp/8/3pP3/3Pp3/8/1p3PPP/2N1KB2 w - d6 0 33",
    "4k3/8/1q1q3q/8/1n3n2/8/1N1N1N2/R3K2R b KQ - 0 40",
    "bqnnrkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNNRKRB w GEge - 0 1",
    "1rk4r/1pp3pp/8/8/8/8/1PP3PP/1RK4R b HBhb - 3 20",
    "rkr5/8/8/8/8/8/8/RKR5 w CAca - 0 1",
];

/// Any position of a random legal game.
fn positions() -> impl Strategy<Value = Chess> {
    (0..STARTS.len(), proptest::collection::vec(any::<u16>(), 0..70)).prop_map(|(start, choices)| {
        let mut position = fen::read(STARTS[start], None).unwrap();
        for choice in choices {
            let moves = position.legal_moves();
            let Some(m) = moves.get(usize::from(choice) % moves.len().max(1)) else { break };
            position.play_unchecked(*m);
        }
        position
    })
}

fn config() -> ProptestConfig {
    contextualize_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })
}

proptest! {
    #![proptest_config(config())]

    /// Every legal move, written in a language in any style, is read back in that language; without the
    /// language it is at least among the candidates.
    #[test]
    fn what_is_written_is_read_back(position in positions()) {
        let mode = position.castles().mode();
        for m in position.legal_moves() {
            let mut texts = vec![
                (notation::pgn(&position, m), Some(Language::English)),
                (m.to_uci(mode).to_string(), None),
            ];
            for language in Language::ALL {
                let short = Style::new(language);
                let long = Style { long: true, en_passant: false, castling: CastlingSign::Zeros, ..short };
                texts.extend([short, long].map(|style| (notation::write(&position, m, &style), Some(language))));
            }
            for (written, language) in texts {
                let reading = notation::parse(&position, &written, language);
                prop_assert_eq!(reading, Reading::Unique(m), "{} in {:?}", written, language);
                match notation::parse(&position, &written, None) {
                    Reading::Unique(found) => prop_assert_eq!(found, m, "{}", written),
                    Reading::Ambiguous(found) => prop_assert!(found.contains(&m), "{}", written),
                    other => prop_assert!(false, "{}: {:?}", written, other),
                }
            }
            for speech in Speech::ALL {
                let call = announcement::announce(m, speech);
                prop_assert_eq!(announcement::read(&position, &call), Reading::Unique(m), "{}", call);
            }
        }
        for letters in [CastlingLetters::XFen, CastlingLetters::Shredder] {
            let written = fen::write(&position, letters);
            prop_assert_eq!(&fen::read(&written, Some(mode)).unwrap(), &position, "{}", written);
        }
        let xfen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
        prop_assert_eq!(fen::write(&position, CastlingLetters::XFen), xfen);
    }

    /// Any text has an answer, and the moves in it are legal.
    #[test]
    fn any_text_has_an_answer(position in positions(), texts in proptest::collection::vec("[KQRBNDTCFSLHVPAa-h1-8xKkСсКкрФЛОO0=+#.() ♘♔-]{0,9}|\\PC{0,12}", 30)) {
        for written in texts {
            for language in Language::ALL.into_iter().map(Some).chain([None]) {
                match notation::parse(&position, &written, language) {
                    Reading::Unique(m) => prop_assert!(position.is_legal(m)),
                    Reading::Ambiguous(moves) => {
                        prop_assert!(moves.len() > 1 && moves.iter().all(|m| position.is_legal(*m)));
                    }
                    Reading::Illegal | Reading::Unreadable => {}
                }
            }
            let _ = announcement::read(&position, &written);
        }
    }
}
