//! Players who come late or not at all: who is told to the arbiter, and whose time is charged.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{at, facts, of, under};
use serde_json::{Value, json};
use touchmoved::{
    game::Board,
    journal::record::RecordedFact,
    publish::Tags,
    replay::{Emit, Replay},
    session::{io::Input, time::MonoTime},
    wire::sensor_log,
};

/// Two hours each, under an edition.
fn two_hours(rules: &str) -> Value {
    let mut header = under(rules);
    header["time_control"] = json!("7200");
    header
}

/// The same with a default time of fifteen minutes.
fn with_default_time(rules: &str) -> Value {
    let mut header = two_hours(rules);
    header["config"] = json!({"default_time_s": 900});
    header
}

/// An adjourned game of which White sealed the next move.
fn adjourned(mut header: Value) -> Value {
    header["history"] = json!(["e2e4", "e7e5", "g1f3", "b8c6"]);
    header["given"] = json!({"times_ms": {"white": 1_200_000, "black": 1_500_000}});
    header
}

/// What was worked out: which calculation, for whom, from what, to what.
fn charges(facts: &[Value]) -> Vec<(&str, &str, u64, u64)> {
    let one = |fact: &'_ &Value| fact["calc"].is_string() && fact["calc"] != "time-used";
    let number = |fact: &Value, key: &str| fact[key].as_u64().unwrap();
    of(facts, "clock")
        .into_iter()
        .filter(one)
        .map(|fact| {
            let word = |key: &str| fact[key].as_str().unwrap();
            (word("calc"), word("side"), number(fact, "before"), number(fact, "after"))
        })
        .collect()
}

fn sides<'a>(facts: &'a [Value], code: &str) -> Vec<&'a str> {
    of(facts, code).into_iter().map(|fact| fact["side"].as_str().unwrap()).collect()
}

#[test]
fn white_loses_the_time_until_he_comes_and_only_once() {
    let both = "
        0 press run-white
        300000 arbiter FIRST-arrived
        720000 arbiter SECOND-arrived";
    for rules in ["fide-2005", "fide-2023", "ua"] {
        let play = |first: &str, second: &str| {
            facts(with_default_time(rules), &both.replace("FIRST", first).replace("SECOND", second))
        };
        // White comes first: that Black comes later costs White nothing more.
        assert_eq!(
            charges(&play("white", "black")),
            [("white-absent", "white", 7_200_000, 6_900_000)],
            "{rules}"
        );
        // Black comes first: White goes on losing until he comes himself (6.7.2; 2005: 6.6).
        let told = play("black", "white");
        assert!(charges(&at(&told, 1, "clock").into_iter().cloned().collect::<Vec<_>>()).is_empty());
        assert_eq!(charges(&told), [("white-absent", "white", 7_200_000, 6_480_000)], "{rules}");
    }
}

#[test]
fn an_arrival_is_told_once() {
    let script = "
        0 press run-white
        300000 arbiter white-arrived
        400000 arbiter white-arrived";
    let told = facts(with_default_time("fide-2005"), script);
    let accepted: Vec<&Value> =
        of(&told, "arbiter_entry").into_iter().map(|fact| &fact["accepted"]).collect();
    assert_eq!(accepted, [&json!(true), &json!(false)]);
    assert_eq!(charges(&told).len(), 1);
}

#[test]
fn whoever_gave_a_sign_came_with_it() {
    for sign in ["button present-white", "lift e2"] {
        let script = format!("0 press run-white\n300000 {sign}\n600000 arbiter white-arrived");
        let told = facts(with_default_time("fide-2005"), &script);
        assert_eq!(charges(&told), [("white-absent", "white", 7_200_000, 6_900_000)], "{sign}");
    }
}

#[test]
fn what_an_external_clock_shows_already_is_not_charged_again() {
    let script = "
        0 times 7200000 7200000 white
        300000 times 6900000 7200000 white
        600000 times 6600000 7200000 white
        600000 arbiter white-arrived";
    let told = facts(with_default_time("fide-2005"), script);
    assert_eq!(charges(&told), [("white-absent", "white", 7_200_000, 6_600_000)]);
}

#[test]
fn black_loses_what_his_clock_ran_without_him() {
    let script = "
        0 press run-white
        1000 lift e2
        2000 place e4
        10000 press white
        310000 arbiter black-arrived";
    let told = facts(with_default_time("fide-2005"), script);
    assert_eq!(charges(&told)[1..], [("replay-elapsed", "black", 7_200_000, 6_900_000)]);
}

/// 2023: White's time is charged only where the default time is not zero (6.7.2); with zero whoever is absent loses.
#[test]
fn a_default_time_of_zero_charges_nothing_at_the_start() {
    let script = "0 press run-white\n300000 arbiter white-arrived";
    for header in [two_hours("fide-2023"), {
        let mut header = two_hours("fide-2005");
        header["config"] = json!({"default_time_s": 0});
        header
    }] {
        let told = facts(header, script);
        assert!(charges(&told).is_empty(), "{told:?}");
        let check = of(&told, "default_check")[0];
        assert_eq!(
            (&check["late_ms"], &check["limit_ms"], &check["lost"]),
            (&json!(300_000), &json!(0), &json!(true))
        );
        assert_eq!(sides(&told, "late-player"), ["white"]);
    }
}

/// The rule for two absent players at a resumption asks for no default time (I.11; Ukrainian rules, point 11).
#[test]
fn at_a_resumption_the_time_is_charged_whatever_the_default_time() {
    let script = "0 arbiter resume\n300000 arbiter black-arrived\n400000 arbiter white-arrived";
    let charged = |rules| charges_of(&facts(adjourned(two_hours(rules)), script));
    assert_eq!(charged("fide-2023"), [("black-absent".to_owned(), 1_200_000)]);
    assert_eq!(charged("ua"), [("white-absent".to_owned(), 800_000)]);
}

#[test]
fn a_player_is_told_to_be_late_whether_his_clock_runs_or_not() {
    let script = "0 press run-white\n900000 arbiter late-check\n900001 arbiter late-check";
    let told = facts(with_default_time("fide-2023"), script);
    let in_time = of(&told, "default_check").into_iter().filter(|check| check["late_ms"] == 900_000);
    assert!(in_time.map(|check| check["lost"].as_bool().unwrap()).all(|lost| !lost));
    let asked = at(&told, 2, "late-player");
    let late: Vec<&Value> = asked.iter().map(|fact| &fact["side"]).collect();
    assert_eq!(late, ["black", "white"]);
    let running: Vec<&Value> = asked.iter().map(|fact| &fact["running"]).collect();
    assert_eq!(running, [&Value::Null, &json!("white")]);
    // Whoever comes later than allowed is told with his arrival.
    let late = facts(with_default_time("fide-2023"), "0 press run-white\n900001 arbiter black-arrived");
    let told: Vec<&Value> = at(&late, 1, "late-player").into_iter().map(|fact| &fact["side"]).collect();
    assert_eq!(told, ["black"]);
}

/// Nobody is there at the resumption: the edition says whose time it is, and until he comes himself.
#[test]
fn at_a_resumption_the_edition_names_who_loses_the_time() {
    let script = "0 arbiter resume\n100000 arbiter black-arrived\n300000 arbiter white-arrived";
    let charged = |rules| charges_of(&facts(adjourned(with_default_time(rules)), script));
    assert_eq!(charged("fide-2023"), [("black-absent".to_owned(), 1_400_000)]);
    assert_eq!(charged("ua"), [("white-absent".to_owned(), 900_000)]);
    // 2005 names nobody: a clock that is started says it.
    assert_eq!(charged("fide-2005"), []);
    let script =
        "0 arbiter resume\n1 press run-black\n100001 arbiter white-arrived\n300001 arbiter black-arrived";
    for rules in ["fide-2005", "fide-2023", "ua"] {
        let told = facts(adjourned(with_default_time(rules)), script);
        assert_eq!(charges(&told), [("replay-elapsed", "black", 1_500_000, 1_200_000)], "{rules}");
    }
}

fn charges_of(facts: &[Value]) -> Vec<(String, u64)> {
    charges(facts).into_iter().map(|(calc, _, _, after)| (calc.to_owned(), after)).collect()
}

/// Who played before the adjournment is not there after it for that, and the time begins at the resumption.
#[test]
fn after_an_adjournment_in_one_record_both_have_to_come_again() {
    let script = "
        0 press run-white
        1000 lift e2
        2000 place e4
        3000 press white
        4000 lift e7
        5000 place e5
        6000 press black
        600000 arbiter seal-request
        660000 press pause
        90000000 arbiter resume
        90300000 arbiter late-check
        90300001 arbiter white-arrived
        90900001 arbiter late-check";
    let told = facts(with_default_time("fide-2005"), script);
    let checks: Vec<(&Value, &Value)> =
        of(&told, "default_check").into_iter().map(|fact| (&fact["side"], &fact["late_ms"])).collect();
    assert_eq!(
        checks,
        [
            (&json!("black"), &json!(300_000)),
            (&json!("white"), &json!(300_000)),
            // The default time is over, and then the arbiter asks.
            (&json!("black"), &json!(900_001)),
            (&json!("black"), &json!(900_001)),
        ]
    );
    assert_eq!(sides(&told, "late-player"), ["black", "black"]);
    // What White thought before he sealed is no absence.
    assert!(at(&told, 11, "clock").is_empty(), "{:?}", at(&told, 11, "clock"));
}

/// The sealed move is put on the board by whoever is there: no sign of the sealer.
#[test]
fn the_sealed_move_on_the_board_is_no_sign_of_its_player() {
    let script = "
        0 arbiter resume
        1000 arbiter open-envelope Bb5
        2000 lift f1
        3000 place b5
        4000 press run-black
        900001 arbiter late-check";
    let told = facts(adjourned(with_default_time("fide-2023")), script);
    assert_eq!(sides(&told, "late-player"), ["black", "white", "black", "white"]);
}

/// 6.7.1 (2005: 6.7): the arbiter is called when the default time is over, without asking, and once.
#[test]
fn the_arbiter_is_called_when_the_default_time_is_over() {
    let start = |start: &str, rest: &str| format!("{start}\n{rest}\n3700000 tick\n7500000 tick");
    for begins in ["0 press run-white", "0 times 7200000 7200000 white"] {
        let told = facts(two_hours("fide-2005"), &start(begins, "5000 tick"));
        assert_eq!(sides(&told, "late-player"), ["black", "white"], "{begins}");
        let checks = of(&told, "default_check");
        assert!(checks.iter().all(|check| check["late_ms"] == 3_600_001), "{begins}");
        // Whoever gave a sign is there.
        let told =
            facts(two_hours("fide-2005"), &start(begins, "5000 lift e2\n6000 place e4\n7000 press white"));
        assert_eq!(sides(&told, "late-player"), ["black"], "{begins}");
        let both = "5000 button present-white\n6000 arbiter black-arrived";
        assert!(sides(&facts(two_hours("fide-2005"), &start(begins, both)), "late-player").is_empty());
        let told = facts(with_default_time("fide-2023"), &start(begins, "899000 lift e2"));
        assert_eq!(sides(&told, "late-player"), ["black"], "{begins}");
        assert_eq!(of(&told, "default_check")[0]["late_ms"], 900_001, "{begins}");
        // With a default time of zero it would be everybody in every game: only who is known to be absent.
        let told = facts(two_hours("fide-2023"), &start(begins, "5000 tick"));
        assert!(sides(&told, "late-player").is_empty(), "{begins}");
        let mut absent = two_hours("fide-2023");
        absent["given"] = json!({"present": {"black": false}});
        let told = facts(absent, &start(begins, "5000 tick"));
        assert_eq!(sides(&told, "late-player"), ["black"], "{begins}");
        assert_eq!(of(&told, "default_check")[0]["late_ms"], 1, "{begins}");
    }
    // No clock was started: no time is known from which on anybody is late.
    assert!(sides(&facts(two_hours("fide-2005"), "0 tick\n3700000 tick"), "late-player").is_empty());
    // A game that ended concerns nobody, and in mid-game both were there before the record.
    let told = facts(two_hours("fide-2005"), "0 press run-white\n5000 arbiter result 1/2-1/2\n3700000 tick");
    assert!(sides(&told, "late-player").is_empty());
    let script = "0 times 1200000 1500000 white\n3700000 tick";
    assert!(sides(&facts(adjourned(two_hours("fide-2005")), script), "late-player").is_empty());
    // After an adjournment both have to come again.
    let told = facts(adjourned(two_hours("fide-2005")), "0 arbiter resume\n3700000 tick");
    assert_eq!(sides(&told, "late-player"), ["black", "white"]);
}

/// Who made a move before a record that begins in mid-game had come; who did not is awaited from the first clock on, and
/// so is who was said to be absent.
#[test]
fn in_mid_game_whoever_has_not_moved_yet_is_awaited() {
    let after = |history: Value, given: Value, script: &str| {
        let mut header = two_hours("fide-2005");
        header["history"] = history;
        header["given"] = given;
        let told = facts(header, script);
        sides(&told, "late-player").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let script = "0 press run-black\n3700000 tick";
    assert_eq!(after(json!(["e2e4"]), json!({}), script), ["black"]);
    assert!(after(json!(["e2e4"]), json!({}), "0 press run-black\n5000 lift e7\n3700000 tick").is_empty());
    let script = "0 press run-white\n3700000 tick";
    assert!(after(json!(["e2e4", "e7e5"]), json!({}), script).is_empty());
    let absent = json!({"present": {"black": false}});
    assert_eq!(after(json!(["e2e4", "e7e5"]), absent, script), ["black"]);
}

/// I.9.2 (2005: A.9b): the clock of the player who has to reply is started first: an adjourned game is resumed, and both
/// have to come.
#[test]
fn a_record_that_begins_with_the_clock_of_the_replying_player_is_a_resumption() {
    let told = facts(adjourned(two_hours("fide-2005")), "0 press run-black\n3700000 tick");
    assert_eq!(of(&told, "resume-check")[0]["sealed"], true);
    assert_eq!(sides(&told, "late-player"), ["black", "white"]);
    assert_eq!(of(&told, "default_check")[0]["late_ms"], 3_600_001);
}

/// The end of a record is not the end of the game: nobody is late by time that is not in it.
#[test]
fn the_end_of_a_record_makes_nobody_late() {
    let script = "0 press run-white\n1000 lift e2\n2000 place e4\n3000 press white";
    let told = facts(two_hours("fide-2005"), script);
    assert!(of(&told, "late-player").is_empty() && of(&told, "default_check").is_empty(), "{told:?}");
    // What the last event leaves to be concluded is concluded all the same.
    assert_eq!(of(&told, "move_published").len(), 1);
    let told = facts(two_hours("fide-2005"), &format!("{script}\n3600001 tick"));
    assert_eq!(sides(&told, "late-player"), ["black"]);
}

/// In a journal the program looked on until the last fact, also where no input came any more.
#[test]
fn a_player_who_was_late_in_a_journal_is_late_when_it_is_run_again() {
    let mut header = two_hours("fide-2005");
    header["sensor_log"] = json!(1);
    let setup = sensor_log::parse_header(&header.to_string()).unwrap();
    let start = sensor_log::parse_event(r#"{"us":0,"clock":"run-white"}"#).unwrap();
    let input = Input::Event(start.unit, start.event);
    let mut board = Board::new(&setup).unwrap();
    board.input(start.at, &input);
    board.advance(MonoTime::from_micros(3_700_000_000));
    let recorded: Vec<RecordedFact> =
        std::iter::from_fn(|| board.poll_fact()).map(|fact| RecordedFact::of(&fact)).collect();
    assert!(recorded.iter().any(|fact| fact.name() == "default_check"));
    let mut replay =
        Replay::new(&setup, Emit::Facts, None).unwrap().of_journal("1", &setup, &Tags::default());
    replay.input(start.at, &input).unwrap();
    for fact in recorded {
        replay.recorded(fact).unwrap();
    }
    replay.finish().unwrap();
}
