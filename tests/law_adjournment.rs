//! Adjournment: the position that is put up, the envelope, what stands in it, and the reply of a player whose
//! opponent does not come.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{at, facts, of, under};
use serde_json::{Value, json};
use touchmoved::{
    game::Board,
    publish::{FeedEvent, Publisher, Tags},
    replay::{Emit, Replay, Threshold},
    session::io::Input,
    wire::sensor_log,
};

const EDITIONS: [&str; 3] = ["fide-2005", "fide-2023", "ua"];
const START: &str = "4k3/p3p3/8/8/8/8/8/4KB2 w - - 0 1";

fn with(rules: &str, more: &[(&str, Value)]) -> Value {
    let mut header = under(rules);
    header["start_fen"] = json!(START);
    for (key, value) in more {
        header[*key] = value.clone();
    }
    header
}

/// Whether each command was accepted, in order.
fn accepted(facts: &[Value]) -> Vec<bool> {
    of(facts, "arbiter_entry").into_iter().map(|entry| entry["accepted"].as_bool().unwrap()).collect()
}

/// I.5 (2005: A.5): the position before the sealed move, though that was made on the board.
#[test]
fn the_position_that_is_put_up_is_the_one_before_the_sealed_move() {
    let script = "
        0 arbiter seal-request
        500 lift f1
        1000 place b5
        1500 press pause
        900000 arbiter resume
        901000 arbiter open-envelope f1b5
        902000 press run-black";
    for rules in EDITIONS {
        let told = facts(with(rules, &[("time_control", json!("5400+30"))]), script);
        assert_eq!(of(&told, "position")[0]["fen"], START, "{rules}");
        // The increment of a move that is not completed was given to nobody.
        let used: Vec<&Value> = of(&told, "clock")
            .into_iter()
            .filter(|fact| fact["calc"] == "time-used")
            .map(|fact| &fact["used"])
            .collect();
        assert_eq!(used, [0, 0], "{rules}");
        assert_eq!(of(&told, "resume-check")[0]["equal"], true, "{rules}");
    }
    // The men were put back for the night, and the move is made again.
    let script = script
        .replace("900000 arbiter", "2000 lift b5\n2500 place f1\n900000 arbiter")
        .replace("902000 press", "901200 lift f1\n901600 place b5\n902000 press");
    let told = facts(with("fide-2023", &[]), &script);
    assert_eq!(of(&told, "position")[0]["fen"], START);
    assert_eq!(of(&told, "move_made").len(), 1);
    assert_eq!(of(&told, "resume-check")[0]["equal"], true);
    // The envelope is gone: the same position (I.11; 2005: A.11a).
    let told = facts(with("fide-2023", &[]), &script.replace("open-envelope f1b5", "envelope-missing"));
    assert_eq!(of(&told, "position")[1]["fen"], START);
}

/// I.1.1 (2005: A.1a): the arbiter hears which move has to be written, however the clock is stopped.
#[test]
fn the_arbiter_is_told_of_a_move_that_has_to_be_the_sealed_one() {
    for (rules, stop) in EDITIONS.into_iter().flat_map(|rules| [(rules, "press white"), (rules, "tick")]) {
        for config in [json!({}), json!({"feed.embargo_on_seal": false})] {
            let script = format!("0 arbiter seal-request\n500 lift f1\n1000 place b5\n1500 {stop}");
            let told = facts(with(rules, &[("config", config.clone())]), &script);
            let reminders = of(&told, "sealed-move-on-board");
            assert_eq!(reminders.len(), 1, "{rules} {stop} {config}");
            assert_eq!(
                (&reminders[0]["uci"], &reminders[0]["to"]),
                (&json!("f1b5"), &json!("arbiter")),
                "{rules} {stop}"
            );
        }
    }
}

/// I.2.6 (2005: A.2f): an offer that stands belongs on the envelope, also one that is made while the move is sealed.
#[test]
fn an_offer_while_the_move_is_sealed_stands_on_the_envelope() {
    let script = "
        0 arbiter seal-request
        500 lift f1
        1000 place b5
        1500 button draw-offer-white
        2000 press pause
        3000 button draw-decline-black";
    let told = facts(with("fide-2023", &[]), script);
    let fields: Vec<(&Value, &Value)> = of(&told, "envelope")
        .into_iter()
        .map(|fact| (&fact["fields"]["draw_offer"], &fact["fields"]["position"]))
        .collect();
    let start = json!(START);
    // At the request, at the offer, when the sealer stops his clock, and when it is declined.
    let offered = [false, true, true, false].map(Value::from);
    assert_eq!(fields, offered.each_ref().map(|offered| (offered, &start)));
}

/// I.9.3 (2005: A.9c): the player who is there seals his reply; it is read when the sealer has come.
#[test]
fn a_sealed_reply_is_read_and_played() {
    let script = "
        0 arbiter seal-request
        500 press pause
        900000 arbiter resume
        901000 arbiter open-envelope f1b5
        902000 lift f1
        902500 place b5
        903000 press run-black
        904000 arbiter reply-sealed
        904500 press black
        990000 arbiter open-envelope Kd8
        991000 arbiter reject
        992000 arbiter open-envelope Kf7
        993000 lift e8
        993500 place f7
        994000 lift b5
        994500 place c4
        995000 press white";
    for rules in EDITIONS {
        let told = facts(with(rules, &[]), script);
        assert!(
            accepted(&told).into_iter().all(|accepted| accepted),
            "{rules}: {:?}",
            of(&told, "arbiter_entry")
        );
        let read: Vec<(&Value, &Value)> =
            of(&told, "sealed-move").into_iter().map(|fact| (&fact["side"], &fact["uci"])).collect();
        let (white, black) = (json!("white"), json!("black"));
        assert_eq!(
            read,
            [(&white, &json!("f1b5")), (&black, &json!("e8d8")), (&black, &json!("e8f7"))],
            "{rules}"
        );
        assert_eq!(at(&told, 12, "obligation")[0]["legal"], json!(["e8f7"]), "{rules}");
        let made: Vec<(&Value, &Value)> =
            of(&told, "move_made").into_iter().map(|fact| (&fact["uci"], &fact["by_rule"])).collect();
        let sealed = json!("sealed");
        let expected = [(&json!("f1b5"), &sealed), (&json!("e8f7"), &sealed), (&json!("b5c4"), &Value::Null)];
        assert_eq!(made, expected, "{rules}");
        assert_eq!(of(&told, "move_completed").len(), 3, "{rules}");
    }
    // A reply that is no move loses like a sealed move that is none.
    let told = facts(
        with("fide-2023", &[]),
        &script.replace("Kd8", "a7a3").replace("992000 arbiter", "992000 arbiter x"),
    );
    assert_eq!(at(&told, 9, "game_end")[0]["result"], "1-0");
}

#[test]
fn a_reply_is_sealed_once_the_sealed_move_is_on_the_board() {
    let told = facts(
        with("fide-2023", &[]),
        "0 arbiter seal-request\n500 press pause\n1000 arbiter reply-sealed\n1500 arbiter open-envelope f1b5\n\
         2000 arbiter reply-sealed\n2500 arbiter open-envelope a7a6",
    );
    assert_eq!(accepted(&told), [true, false, true, false, false]);
}

/// No time is involved when the paper holds no move and the opponent cannot mate.
#[test]
fn an_envelope_without_a_move_draws_by_a_reason_of_its_own() {
    let fen = json!("4k3/8/8/8/8/8/8/4KR2 w - - 0 1");
    let told = facts(
        with("fide-2023", &[("start_fen", fen)]),
        "0 arbiter seal-request\n500 press pause\n1000 arbiter open-envelope f1b5\n1500 arbiter confirm",
    );
    let ends: Vec<&Value> = of(&told, "game_end").into_iter().map(|fact| &fact["reason"]).collect();
    assert_eq!(ends, ["sealed-move-invalid-draw"; 2]);
}

/// What `replay` prints of a log in which White seals the move from one square to another on the board.
fn printed_of(
    mut header: Value,
    (from, to): (&str, &str),
    emit: Emit,
    threshold: Threshold,
    end: &[Value],
) -> String {
    header["sensor_log"] = json!(1);
    let setup = sensor_log::parse_header(&header.to_string()).unwrap();
    let mut replay = Replay::new(&setup, emit, None).unwrap().at(threshold);
    let played = [
        json!({"us": 0, "arbiter": "seal-request"}),
        json!({"us": 500_000, "sq": from, "occ": 0}),
        json!({"us": 1_000_000, "sq": to, "occ": 1}),
        json!({"us": 1_500_000, "clock": "white"}),
    ];
    for line in played.iter().chain(end) {
        let stamped = sensor_log::parse_event(&line.to_string()).unwrap();
        replay.input(stamped.at, &Input::Event(stamped.unit, stamped.event)).unwrap();
    }
    replay.finish().unwrap();
    replay.take_output()
}

fn printed(emit: Emit, threshold: Threshold, end: &[Value]) -> String {
    printed_of(with("fide-2023", &[]), ("f1", "b5"), emit, threshold, end)
}

#[test]
fn a_replay_shows_no_sealed_move_before_the_envelope_is_opened() {
    let opened = [json!({"us": 9_000_000, "arbiter": "open-envelope Bb5"})];
    for emit in [Emit::Moves, Emit::Uci, Emit::Pgn] {
        for threshold in [Threshold::Made, Threshold::Completed] {
            let shows = |end: &[Value]| {
                let text = printed(emit, threshold, end);
                text.contains("f1b5") || text.contains("Bb5")
            };
            assert!(!shows(&[]), "{emit:?} {threshold:?}");
            assert!(shows(&opened), "{emit:?} {threshold:?}");
        }
    }
}

/// The sealed move, the reply on the board, and what belongs to an adjournment is over.
#[test]
fn the_game_that_went_on_is_not_adjourned_any_more() {
    for rules in EDITIONS {
        let told = facts(
            with(rules, &[]),
            "0 arbiter seal-request
            500 press pause
            1000 arbiter resume
            2000 arbiter open-envelope Bb5
            2500 arbiter envelope-missing
            3000 lift f1
            3500 place b5
            4000 press run-black
            5000 lift e8
            5500 place d8
            6000 press black
            7000 arbiter reply-sealed
            7100 arbiter envelope-missing
            7200 arbiter resume
            8000 lift e1
            8500 place e2
            9000 press white",
        );
        let expected = [true, true, true, false, false, false, false];
        assert_eq!(accepted(&told), expected, "{rules}");
        let rules_of: Vec<&Value> = of(&told, "move_made").into_iter().map(|fact| &fact["by_rule"]).collect();
        assert_eq!(rules_of, [&json!("sealed"), &Value::Null, &Value::Null], "{rules}");
        // I.12: of each player once.
        let closed: Vec<&Value> = of(&told, "advisory")
            .into_iter()
            .filter(|fact| fact["code"] == "time-correction-closed")
            .map(|fact| &fact["side"])
            .collect();
        assert_eq!(closed, ["white", "black"], "{rules}");
    }
}

/// I.9.3 (2005: A.9c): the reply lies in an envelope of its own, which is opened after the sealed move was completed.
#[test]
fn a_sealed_reply_is_sealed_once_and_belongs_to_the_adjournment() {
    for rules in EDITIONS {
        let told = facts(
            with(rules, &[]),
            "0 arbiter seal-request
            500 press pause
            1000 arbiter resume
            2000 arbiter open-envelope Bb5
            3000 lift f1
            3500 place b5
            4000 arbiter reply-sealed
            4100 arbiter reply-sealed
            5000 press run-white
            6000 arbiter open-envelope Kd8
            6500 lift e8
            7000 place d8
            8000 arbiter resume",
        );
        assert_eq!(accepted(&told), [true, true, true, true, false, true, true], "{rules}");
    }
}

/// What of an account of time came out: kind, before, after.
fn accounts<'f>(facts: &'f [Value], calc: &str) -> Vec<[&'f Value; 2]> {
    let clocks = of(facts, "clock").into_iter().filter(|fact| fact["calc"] == calc);
    clocks.map(|fact| [&fact["before"], &fact["after"]]).collect()
}

/// I.1.2 (2005: A.1b): he who adjourns early has used the session; the time in which he writes is of it.
#[test]
fn writing_a_move_that_is_sealed_early_costs_nothing_more() {
    for kind in ["external", "own"] {
        for (rules, writes_ms, left) in [
            ("fide-2005", 60_000, 1_740_000),
            ("fide-2023", 60_000, 1_740_000),
            ("fide-2023", 1_900_000, 1_640_000),
        ] {
            let header =
                with(rules, &[("time_control", json!("3600")), ("config", json!({"clock.kind": kind}))]);
            let told = facts(
                header,
                &format!(
                    "0 press run-white
                    60000 arbiter seal-early 1800000
                    {} press pause
                    9000000 arbiter resume",
                    60_000 + writes_ms,
                ),
            );
            let case = format!("{kind} {rules} {writes_ms}");
            assert_eq!(accounts(&told, "seal-early"), [[3_540_000, 1_740_000]], "{case}");
            assert_eq!(accounts(&told, "sealed-early"), [[1_740_000, left]], "{case}");
            let used = of(&told, "clock").into_iter().find(|fact| fact["calc"] == "time-used").unwrap();
            assert_eq!(used["used"], 3_600_000 - left, "{case}");
            // The envelope states what was used when he stopped his clock.
            let envelopes = of(&told, "envelope");
            let stated = &envelopes.last().unwrap()["fields"]["time_used"]["white"];
            assert_eq!(stated, &json!(3_600_000 - left), "{case}");
        }
    }
}

/// I.1.2, I.5 (2005: A.1b, A.5): a clock that is read before the resumption, and was not set to what was charged, takes
/// nothing of it back; one that was set shows it.
#[test]
fn what_an_early_sealing_was_charged_outlives_the_readings_of_the_clock() {
    for rules in ["fide-2005", "fide-2023"] {
        for (white_ms, used) in [(3_480_000, 1_860_000), (1_740_000, 1_860_000)] {
            let told = facts(
                with(rules, &[("time_control", json!("3600"))]),
                &format!(
                    "0 times 3600000 3600000 white
                    60000 arbiter seal-early 1800000
                    120000 press pause
                    130000 times {white_ms} 3600000
                    9000000 arbiter resume",
                ),
            );
            let resumed = of(&told, "clock").into_iter().find(|fact| fact["calc"] == "time-used").unwrap();
            assert_eq!(
                (&resumed["used"], &resumed["remaining"]),
                (&json!(used), &json!(3_600_000 - used)),
                "{rules}"
            );
        }
    }
}

/// I.2.3 (2005: A.2c).
#[test]
fn the_envelope_states_the_time_with_the_sealing() {
    let told = facts(
        with("fide-2023", &[("time_control", json!("3600"))]),
        "0 press run-white\n60000 arbiter seal-request\n180000 press pause\n190000 press pause",
    );
    let used: Vec<&Value> =
        of(&told, "envelope").into_iter().map(|fact| &fact["fields"]["time_used"]["white"]).collect();
    assert_eq!(used, [60_000, 180_000]);
}

const MATE: &str = "6k1/5ppp/8/8/8/8/8/4R1K1 w - - 0 1";

/// A result that follows from the sealed move tells of it; one that persons give does not.
#[test]
fn a_replay_shows_no_result_of_a_sealed_move_before_the_envelope_is_opened() {
    let mated = with("fide-2023", &[("start_fen", json!(MATE))]);
    let resume = json!({"us": 8_000_000, "arbiter": "resume"});
    let opened = json!({"us": 9_000_000, "arbiter": "open-envelope Re8#"});
    for emit in [Emit::Moves, Emit::Pgn] {
        for threshold in [Threshold::Made, Threshold::Completed] {
            let shows = |end: &[Value]| {
                let text = printed_of(mated.clone(), ("e1", "e8"), emit, threshold, end);
                (text.contains("1-0"), text.contains("e8"))
            };
            assert_eq!(shows(&[]), (false, false), "{emit:?} {threshold:?}");
            assert_eq!(shows(std::slice::from_ref(&resume)), (false, false), "{emit:?} {threshold:?}");
            assert_eq!(shows(std::slice::from_ref(&opened)), (true, true), "{emit:?} {threshold:?}");
            assert_eq!(shows(&[resume.clone(), opened.clone()]), (true, true), "{emit:?} {threshold:?}");
            let resigned = json!({"us": 9_000_000, "button": "resign-black"});
            let text = printed_of(with("fide-2023", &[]), ("f1", "b5"), emit, threshold, &[resigned]);
            assert!(text.contains("1-0") && !text.contains("b5"), "{emit:?} {threshold:?}: {text}");
        }
    }
}

/// I.8, I.10 (2005: A.8, A.10): a sealed move that mates has ended the game; the envelope is opened all the same.
#[test]
fn an_envelope_is_opened_after_the_sealed_move_has_ended_the_game() {
    let script = "
        0 arbiter seal-request
        500 lift e1
        1000 place e8
        1500 press white
        900000 arbiter open-envelope Re8
        901000 arbiter open-envelope Re8";
    for rules in EDITIONS {
        let told = facts(with(rules, &[("start_fen", json!(MATE))]), script);
        assert_eq!(accepted(&told), [true, true, false], "{rules}");
        assert_eq!(at(&told, 4, "sealed-move")[0]["uci"], "e1e8", "{rules}");
        assert_eq!(at(&told, 4, "move_published").len(), 1, "{rules}");
        assert_eq!(of(&told, "game_end").len(), 1, "{rules}");
    }
    // Something else stands on the paper: the arbiter decides.
    let told = facts(
        with("fide-2023", &[("start_fen", json!(MATE))]),
        &script
            .replace("900000 arbiter open-envelope Re8", "900000 arbiter open-envelope Ra8")
            .replace("901000 arbiter open-envelope Re8", "901000 arbiter confirm"),
    );
    assert_eq!(accepted(&told), [true, true, true]);
    assert_eq!(at(&told, 4, "game_end")[0]["pending"], true);
    let end = at(&told, 5, "game_end")[0];
    assert_eq!((&end["result"], &end["reason"]), (&json!("0-1"), &json!("sealed-move-invalid")));
}

/// The paper is read in the position in which the move was sealed, though the players went on before it was opened.
#[test]
fn a_sealed_move_that_was_answered_already_is_no_illegal_one() {
    let script = "
        0 arbiter seal-request
        500 lift f1
        1000 place b5
        1500 press white
        2000 lift e8
        3000 place f8
        4000 press black
        900000 arbiter open-envelope f1b5
        901000 lift b5
        902000 place c4
        903000 press white";
    for rules in EDITIONS {
        let told = facts(with(rules, &[]), script);
        assert!(of(&told, "sealed-move-illegal").is_empty() && of(&told, "game_end").is_empty(), "{rules}");
        let read = at(&told, 7, "sealed-move");
        assert_eq!((&read[0]["side"], &read[0]["uci"]), (&json!("white"), &json!("f1b5")), "{rules}");
        assert_eq!(at(&told, 7, "move_published").len(), 2, "{rules}");
        let completed: Vec<&Value> =
            of(&told, "move_completed").into_iter().map(|fact| &fact["uci"]).collect();
        assert_eq!(completed, ["f1b5", "e8f8", "b5c4"], "{rules}");
        // Another move on the paper than on the board is told as that.
        let told = facts(with(rules, &[]), &script.replace("envelope f1b5", "envelope f1c4"));
        let differs = at(&told, 7, "sealed-move-differs");
        assert_eq!((&differs[0]["uci"], &differs[0]["played"]), (&json!("f1c4"), &json!("f1b5")), "{rules}");
    }
}

/// I.8 (2005: A.8): a sealed move that is illegal loses, once the arbiter confirms; then every feed shows it.
#[test]
fn the_result_of_an_illegal_sealed_move_is_public_once_it_is_confirmed() {
    let mut header = with("fide-2023", &[]);
    header["sensor_log"] = json!(1);
    let setup = sensor_log::parse_header(&header.to_string()).unwrap();
    let mut board = Board::new(&setup).unwrap();
    let mut publisher = Publisher::new("1", &setup, Tags::default(), board.session());
    let mut take = |us: u64, event: Value| {
        let mut line = event;
        line["us"] = json!(us);
        let stamped = sensor_log::parse_event(&line.to_string()).unwrap();
        board.input(stamped.at, &Input::Event(stamped.unit, stamped.event));
        let facts: Vec<_> = std::iter::from_fn(|| board.poll_fact()).collect();
        let events = publisher.apply(&facts, board.session());
        let results = events.into_iter().filter_map(|event| match event {
            FeedEvent::Result { result, .. } => Some(result),
            _ => None,
        });
        (results.collect::<Vec<_>>(), publisher.state().result)
    };
    take(0, json!({"arbiter": "seal-request"}));
    take(500_000, json!({"clock": "pause"}));
    // Nobody has decided yet.
    assert_eq!(take(9_000_000, json!({"arbiter": "open-envelope f1b6"})), (vec![], "*"));
    assert_eq!(take(9_500_000, json!({"arbiter": "confirm"})), (vec!["0-1"], "0-1"));
}
