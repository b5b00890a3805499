//! What accuses nobody wrongly: late presses, moves at the flag, irregular positions that are restored, sealed
//! moves, claims and rulings that there is no reason for.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/script.rs"]
#[allow(dead_code)]
mod script;

use script::{at, facts, of, under};
use serde_json::{Value, json};

/// A header with one more key after another.
fn with(mut header: Value, more: &[(&str, Value)]) -> Value {
    for (key, value) in more {
        header[*key] = value.clone();
    }
    header
}

fn ruled<'a>(facts: &'a [Value], command: &str) -> &'a Value {
    of(facts, "arbiter_entry").into_iter().find(|entry| entry["command"] == command).expect(command)
}

const EN_PASSANT: &str = "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1";

#[test]
fn en_passant_is_no_move_while_its_victim_stands() {
    // The opponent goes on after the illegal move was found, and before.
    for reply in [5000, 2000] {
        let script = format!(
            "0 lift d4\n600 place e3\n1200 press black\n{} lift e1\n{} place d1\n{} press white\n10400 tick",
            reply,
            reply + 300,
            reply + 600
        );
        let told = facts(with(under("fide-2023"), &[("start_fen", json!(EN_PASSANT))]), &script);
        let illegal = of(&told, "illegal_move");
        assert_eq!(illegal.len(), 1, "{illegal:?}");
        assert_eq!((&illegal[0]["by"], &illegal[0]["kind"]), (&json!("black"), &json!("incomplete")));
        assert!(of(&told, "move_made").is_empty());
    }
    // The victim is removed late: both moves were made.
    let script = "0 lift d4\n600 place e3\n1200 press black\n1900 lift e4\n5000 lift e1\n5600 place d1\n6200 press white";
    let told = facts(with(under("fide-2023"), &[("start_fen", json!(EN_PASSANT))]), script);
    assert!(of(&told, "illegal_move").is_empty());
    assert_eq!(of(&told, "move_completed").len(), 2);
}

#[test]
fn a_late_press_belongs_to_the_move_before() {
    let script = "
        0 lift e2
        600 place e4
        1200 lift e7
        1800 place e5
        2400 press white
        5400 press black
        8400 arbiter confirm";
    for rules in ["fide-2005", "fide-2023", "ua"] {
        let told = facts(under(rules), script);
        assert_eq!(of(&told, "move_completed").len(), 2, "{rules}");
        assert!(of(&told, "press-without-move").is_empty(), "{rules}");
        assert_eq!(ruled(&told, "confirm")["accepted"], false);
    }
}

#[test]
fn a_press_of_2005_completes_one_move_alone() {
    let script = "
        0 lift e2
        600 place e4
        1200 lift e7
        1800 place e5
        2400 lift g1
        3000 place f3
        3600 press white
        4200 flag white";
    let header = with(under("fide-2005"), &[("time_control", json!("2/60:60"))]);
    let told = facts(header, script);
    let completed: Vec<&Value> = of(&told, "move_completed").iter().map(|fact| &fact["ply"]).collect();
    assert_eq!(completed, [3]);
    assert_eq!(of(&told, "flag_check")[0]["completed"], 1);
}

#[test]
fn the_moves_are_counted_when_the_flag_falls() {
    let header = with(
        under("fide-2023"),
        &[
            ("start_fen", json!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1")),
            ("time_control", json!("40/60:60")),
            ("given", json!({"completed": {"white": 40, "black": 39}})),
        ],
    );
    let script = "
        0 lift e7
        600 place e5
        1200 flag black
        1800 press black
        2400 arbiter flag-observed";
    let told = facts(header, script);
    assert_eq!(ruled(&told, "flag-observed")["accepted"], true);
    assert_eq!(of(&told, "game_end")[0]["result"], "1-0");
}

#[test]
fn the_times_after_an_illegal_press_are_those_of_the_press() {
    let header = with(under("fide-2023"), &[("time_control", json!("5400+30"))]);
    let script = "
        0 times 600000 590000 white
        600 lift e2
        1200 place c3
        1800 press white
        11800 arbiter freeze
        12400 arbiter restore-times
        13000 arbiter confirm";
    let told = facts(header, script);
    let snapshot = of(&told, "snapshot")[0];
    assert_eq!((&snapshot["running"], &snapshot["white_ms"]), (&json!("black"), &json!(628_200)));
    assert_eq!(snapshot["black_ms"], 580_000);
    assert_eq!(snapshot["board"], "rnbqkbnr/pppppppp/8/8/8/2P5/PPPP1PPP/RNBQKBNR");
    let clocks = of(&told, "clock");
    let calc = |name: &str| *clocks.iter().find(|fact| fact["calc"] == name).unwrap();
    assert_eq!(calc("irregular-press")["after"], json!({"offender": 598_200, "opponent": 590_000}));
    assert_eq!(calc("illegal")["after"], json!({"offender": 598_200, "opponent": 710_000}));
    assert_eq!(calc("illegal")["inc_removed"], 30_000);
}

#[test]
fn castling_by_the_rook_alone_breaks_nothing() {
    let header = with(
        under("fide-2023"),
        &[("variant", json!("chess960")), ("start_fen", json!("6kr/8/8/8/8/8/8/4K3 b h - 0 1"))],
    );
    let told = facts(header, "0 lift h8\n600 place f8\n1200 press black");
    let obligation = of(&told, "obligation")[0];
    assert!(obligation["legal"].as_array().unwrap().contains(&json!("g8h8")));
    assert_eq!(of(&told, "move_completed")[0]["uci"], "g8h8");
    assert!(of(&told, "touch-violation").is_empty());
}

#[test]
fn half_a_castling_may_stand_in_rapid_chess() {
    let header = with(
        under("fide-2023"),
        &[("discipline", json!("rapid")), ("start_fen", json!("4k2r/7p/8/8/8/8/P7/4K3 b k - 0 1"))],
    );
    let script = "
        0 lift e8
        600 place g8
        1200 press black
        5200 lift a2
        5800 place a3
        6400 press white
        9400 lift h7
        10000 place h6
        10600 press black";
    let told = facts(header, script);
    assert_eq!(of(&told, "illegal_stands")[0]["fen"], "6kr/7p/8/8/8/8/P7/4K3 w - - 1 2");
    assert_eq!(of(&told, "illegal_move").len(), 1);
    assert_eq!(of(&told, "move_completed").len(), 2);
}

#[test]
fn a_claim_of_an_illegal_move_restores_what_was_before_it() {
    let header = with(under("fide-2023"), &[("discipline", json!("rapid"))]);
    let script = "
        0 lift e2
        600 place e4
        1200 press white
        1800 lift e7
        2400 place c6
        3000 press black
        3600 lift g1
        4200 button claim-illegal-white
        4800 arbiter confirm";
    let told = facts(header, script);
    for restore in of(&told, "restore") {
        assert_eq!(restore["remove"], json!(["c6"]));
        assert_eq!(restore["put"], json!(["g1", "e7"]));
        assert_eq!(restore["ply"], 1);
    }
}

#[test]
fn an_illegal_move_that_is_found_later_counts() {
    let header = with(under("fide-2023"), &[("history", json!(["e2e4", "e7e5", "g1f3", "b8c6"]))]);
    let told = facts(header, "0 arbiter illegal-found-at-ply 3\n600 arbiter confirm");
    let illegal = of(&told, "illegal_move");
    assert_eq!((illegal.len(), &illegal[0]["attempt"]), (1, &json!("g1f3")));
    assert_eq!(of(&told, "obligation")[0]["must_move"], json!(["g1"]));
    assert_eq!(of(&told, "penalty")[0]["n"], 1);
}

#[test]
fn after_a_ruling_the_board_is_waited_for() {
    let header = with(under("fide-2023"), &[("history", json!(["e2e4", "e7e5", "g1f3", "b8c6"]))]);
    let script = "
        0 arbiter restore 2
        600 lift d2
        1200 place d4
        1800 press white";
    let told = facts(header.clone(), script);
    assert!(of(&told, "move_made").is_empty());
    assert!(of(&told, "obligation").is_empty());
    assert_eq!(of(&told, "illegal-position").len(), 1);
    let script = "
        0 arbiter restore 2
        600 lift f3
        1200 place g1
        1800 lift c6
        2400 place b8
        3600 lift d2
        4200 place d4
        4800 press white";
    let told = facts(header.clone(), script);
    assert_eq!(of(&told, "move_completed")[0]["uci"], "d2d4");
    let touched: Vec<&Value> = of(&told, "obligation").iter().map(|fact| &fact["touches"]).collect();
    assert_eq!(touched, [&json!(["d2"])]);
    // The man goes from where it stood wrongly to where it may stand.
    let script = "
        0 arbiter restore 3
        600 lift c6
        1200 place a6
        1800 press black";
    assert_eq!(of(&facts(header.clone(), script), "move_completed")[0]["uci"], "b8a6");
    let script = "
        0 arbiter restore 3
        600 lift c6
        1200 place b8
        1300 lift b8
        1800 place a6
        2400 press black";
    assert_eq!(of(&facts(header.clone(), script), "move_completed")[0]["uci"], "b8a6");
    // Clocks that are started by hand take the board as it is: one square is the business of its sensor.
    let script =
        "0 arbiter restore 2\n600 lift f3\n1200 place g1\n1800 lift c6\n2400 place b8\n3000 press white";
    assert!(of(&facts(header, script), "illegal_move").is_empty());
}

#[test]
fn nothing_is_refused_where_nothing_waits() {
    let script = "
        0 times 600000 590000 white
        600 lift e2
        1200 place e4
        1800 press white
        2400 arbiter reject
        3000 arbiter postpone
        3600 arbiter five-seconds-on
        4200 arbiter penalty fine white
        4800 arbiter open-envelope Nf3
        5400 arbiter resume
        6000 arbiter envelope-missing";
    let told = facts(under("fide-2005"), script);
    for entry in of(&told, "arbiter_entry") {
        assert_eq!(entry["accepted"], false, "{entry}");
    }
    assert!(of(&told, "clock").iter().all(|fact| fact["calc"] != "claim-incorrect"));
    let told = facts(under("fide-2005"), "0 times 600000 590000 white\n600 arbiter claim-rejected");
    assert!(of(&told, "clock").iter().any(|fact| fact["calc"] == "claim-incorrect"));
}

#[test]
fn a_written_move_that_is_illegal_binds_its_man() {
    let script = "
        0 times 600000 590000 white
        600 intended g1g3
        1200 button claim-threefold-white
        1800 press pause
        2400 arbiter reject
        3000 press run-white
        3600 lift b1
        4200 place c3
        4800 press white";
    let told = facts(under("fide-2023"), script);
    let violation = of(&told, "touch-violation")[0];
    assert_eq!(violation["required"], json!(["g1f3", "g1h3"]));
    assert_eq!(violation["article"], "9.5.3");
}

#[test]
fn an_unpromoted_pawn_is_a_queen_and_nothing_else() {
    let script = "
        0 piece a2
        600 piece a1 p
        1200 press black
        5200 arbiter confirm
        5800 piece a1
        6400 piece a1 n
        7000 press black";
    let header = json!({"board": "dgt", "rules": "fide-2023", "start_fen": "7k/8/8/8/8/8/p6P/7K b - - 0 1"});
    let told = facts(header, script);
    let made = of(&told, "move_made")[0];
    assert_eq!((&made["uci"], made.get("by_rule")), (&json!("a2a1n"), None));
    let violation = of(&told, "touch-violation")[0];
    assert_eq!((&violation["required"], &violation["article"]), (&json!(["a2a1q"]), &json!("7.5.2")));
}

#[test]
fn men_that_were_lifted_at_once_have_no_order() {
    let header = json!({
        "board": "peg", "rules": "fide-2023",
        "start_fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1",
    });
    let script = "0 lift g8\n0 lift b8\n600 place g8\n1200 place c6\n1800 press black";
    let told = facts(header, script);
    let obligation = at(&told, 1, "obligation")[0];
    assert_eq!(obligation["legal"], json!(["g8f6", "g8h6", "b8a6", "b8c6"]));
    assert_eq!((&obligation["order"], &obligation["assumed_first"]), (&json!("uncertain"), &json!("either")));
    assert!(of(&told, "touch-violation").is_empty());
}

#[test]
fn a_mate_that_breaks_article_4_may_be_claimed_since_2023() {
    let script = "
        0 lift a2
        600 place a2
        1200 lift h5
        1800 lift f7
        2400 place f7
        3000 press white
        3600 button claim-touch-black
        4200 arbiter accept";
    let history = json!(["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6"]);
    let told = facts(with(under("fide-2023"), &[("history", history.clone())]), script);
    assert_eq!(of(&told, "game_end")[0]["certainty"], "presumed");
    assert_eq!(of(&told, "claim_check")[0]["valid"], true);
    assert_eq!(of(&told, "result_withdrawn").len(), 1);
    assert_eq!(of(&told, "move_withdrawn").len(), 1);
    let told = facts(with(under("fide-2005"), &[("history", history)]), script);
    assert_eq!(of(&told, "game_end")[0]["certainty"], "law");
    assert!(of(&told, "result_withdrawn").is_empty());
}

const ADJOURNED: [&str; 4] = ["e2e4", "e7e5", "g1f3", "b8c6"];

#[test]
fn a_sealed_move_is_completed_by_its_sealing() {
    let header = with(
        under("fide-2023"),
        &[
            ("history", json!(ADJOURNED)),
            ("time_control", json!("40/7200:3600")),
            ("given", json!({"completed": {"white": 39, "black": 39}})),
        ],
    );
    let script = "
        0 arbiter seal-request
        600 press pause
        1200 arbiter open-envelope Bb5
        1300 arbiter open-envelope Bc4
        1800 lift f1
        2400 place b5
        3000 press run-black
        3600 lift a7
        4200 place a6
        4800 press black
        5400 flag white
        6000 arbiter flag-observed";
    let told = facts(header, script);
    let read = of(&told, "sealed-move");
    assert_eq!((read.len(), &read[0]["uci"], &read[0]["attempt"]), (1, &json!("f1b5"), &json!("Bb5")));
    assert_eq!(ruled(&told, "open-envelope Bc4")["accepted"], false);
    let completed: Vec<&Value> = of(&told, "move_completed").iter().map(|fact| &fact["uci"]).collect();
    assert_eq!(completed, ["f1b5", "a7a6"]);
    assert_eq!(ruled(&told, "flag-observed")["accepted"], false);
}

#[test]
fn an_envelope_that_was_read_wrongly_is_closed_again() {
    let header = with(under("fide-2023"), &[("history", json!(ADJOURNED))]);
    let script = "
        0 arbiter seal-request
        600 press pause
        1200 arbiter open-envelope Bc4
        1300 arbiter reject
        1400 arbiter open-envelope Bb5
        1800 lift f1
        2400 place b5
        3000 press run-black";
    let told = facts(header.clone(), script);
    assert_eq!(of(&told, "sealed-move").len(), 2);
    assert!(of(&told, "touch-violation").is_empty());
    assert_eq!(of(&told, "move_made")[0]["by_rule"], "sealed");
    // In the language of the score sheets: a knight cannot go there, and in Romanian it would be a bishop.
    let told =
        facts(header.clone(), "0 arbiter seal-request\n600 press pause\n1200 arbiter open-envelope Nb5");
    assert_eq!(of(&told, "sealed-move-illegal")[0]["reason"], "illegal");
    // Letters that the language does not have are looked up in the others.
    let told = facts(header, "0 arbiter seal-request\n600 press pause\n1200 arbiter open-envelope Lb5");
    assert_eq!(of(&told, "sealed-move")[0]["uci"], "f1b5");
}

#[test]
fn the_clock_that_ran_is_charged_once_at_a_resumption() {
    let header = with(
        under("fide-2023"),
        &[
            ("history", json!(ADJOURNED)),
            ("time_control", json!("7200")),
            ("given", json!({"times_ms": {"white": 3_600_000, "black": 3_000_000}})),
        ],
    );
    let script = "
        0 arbiter seal-request
        600 press pause
        1200 arbiter resume
        1800 press run-black
        601800 press pause
        602400 arbiter black-arrived";
    for rules in ["fide-2005", "fide-2023", "ua"] {
        let told = facts(with(header.clone(), &[("rules", json!(rules))]), script);
        let clocks = of(&told, "clock");
        let calc = clocks.last().unwrap();
        assert_eq!(
            (&calc["side"], &calc["before"], &calc["after"]),
            (&json!("black"), &json!(3_000_000), &json!(2_400_000)),
            "{rules}"
        );
    }
}

#[test]
fn at_a_resumption_whoever_gave_no_sign_is_late_and_the_clock_that_runs_is_named() {
    let header = with(under("fide-2005"), &[("history", json!(ADJOURNED))]);
    let told = facts(header, "0 arbiter resume\n600 press run-black\n3700600 arbiter late-check");
    let late: Vec<_> =
        at(&told, 2, "late-player").iter().map(|fact| (&fact["side"], &fact["running"])).collect();
    assert_eq!(late, [(&json!("black"), &json!("black")), (&json!("white"), &Value::Null)]);
    let history = json!(["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6"]);
    let header = with(under("fide-2005"), &[("history", history)]);
    let script = "
        0 arbiter seal-request
        600 press pause
        1200 arbiter resume
        3701200 arbiter open-envelope Qxf7#
        3701800 arbiter late-check
        3702400 arbiter default white";
    let told = facts(header, script);
    assert_eq!(ruled(&told, "default white")["accepted"], false);
}

#[test]
fn a_call_before_the_move_is_a_call_of_it() {
    let header = json!({
        "board": "peg", "rules": "fide-2023", "config": {"peg.announce": "button", "peg.speech": "ro"},
        "start_fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1",
    });
    let script = "
        0 announce Springer Gustav acht Felix sechs
        600 lift g8
        1200 place f6
        1800 press black";
    let told = facts(header, script);
    assert_eq!(of(&told, "spoken")[0]["text"], "cal g opt f șase");
    assert_eq!(of(&told, "move_completed").len(), 1);
    assert!(of(&told, "announce-missing").is_empty());
}

#[test]
fn the_first_flag_decides_in_rapid_chess() {
    let header = with(under("fide-2023"), &[("discipline", json!("rapid"))]);
    let told = facts(header, "0 flag black\n600 flag white\n1200 button claim-flag-white");
    assert_eq!(of(&told, "claim_check")[0]["valid"], true);
    let end = of(&told, "game_end")[0];
    assert_eq!(
        (&end["result"], &end["certainty"], &end["pending"]),
        (&json!("1-0"), &json!("presumed"), &json!(true))
    );
}

#[test]
fn a_result_that_is_taken_back_loses_no_moves() {
    let script = "
        0 arbiter result 1-0
        600 lift d2
        1200 place d4
        1800 press white
        2400 arbiter result *
        3000 lift b8
        3600 place c6
        4200 press black";
    let told = facts(under("fide-2023"), script);
    let made: Vec<&Value> = of(&told, "move_made").iter().map(|fact| &fact["uci"]).collect();
    assert_eq!(made, ["d2d4", "b8c6"]);
}

#[test]
fn a_king_that_is_captured_is_told_as_that_alone() {
    let header = with(
        under("fide-2005"),
        &[("discipline", json!("rapid")), ("start_fen", json!("4k3/8/8/8/8/8/4Q3/4K3 w - - 0 1"))],
    );
    let told = facts(header, "0 lift e2\n600 lift e8\n1200 place e8\n1800 press white\n4800 tick");
    assert_eq!(of(&told, "illegal_move")[0]["kind"], "king-capture");
    assert!(of(&told, "man-missing").is_empty() && of(&told, "ambiguous-move").is_empty());
}

#[test]
fn the_record_may_be_asked_for_by_the_player_who_has_the_move() {
    let header = with(under("fide-2023"), &[("discipline", json!("rapid")), ("supervision", json!("full"))]);
    let told = facts(header, "0 button show-score-black\n600 button show-score-white");
    assert_eq!(of(&told, "claim-not-available").len(), 1);
    assert_eq!(of(&told, "counter")[0]["side"], "white");
}

#[test]
fn a_claim_in_the_quickplay_finish_comes_with_how_the_game_went_on() {
    let header = with(under("fide-2005"), &[("time_control", json!("90"))]);
    let script = "
        0 lift g1
        1000 place f3
        2000 press white
        5000 lift g8
        6000 place f6
        7000 press black
        8000 button claim-quickplay-white";
    let told = facts(header, script);
    let progress = &of(&told, "snapshot")[0]["progress"];
    assert_eq!((&progress["halfmoves"], &progress["occurrences"]), (&json!(2), &json!(1)));
    let moves = json!([
        {"san": "Nf3", "by": "white", "took_ms": 2000},
        {"san": "Nf6", "by": "black", "took_ms": 5000},
    ]);
    assert_eq!(progress["last_moves"], moves);
}

#[test]
fn the_halves_of_a_clock_are_exchanged_where_it_stands_the_other_way_round() {
    use touchmoved::{
        game::Board,
        session::{
            event::Unit,
            io::Input,
            setup::{BoardKind, GameSetup},
            time::MonoTime,
        },
    };
    let ms = |side: &str| {
        let config = json!({"clock.white_side": side}).as_object().unwrap().clone();
        let setup = GameSetup { board: BoardKind::Dgt, config, ..GameSetup::default() };
        let mut board = Board::new(&setup).unwrap();
        // 3:02 on the right, 3:01 on the left.
        let clock = [0x8d, 0, 10, 0x20, 0x03, 0x02, 0x20, 0x03, 0x01, 0x12];
        board.input(MonoTime::from_micros(5), &Input::Dgt(Unit::A, clock.to_vec()));
        std::iter::from_fn(|| board.poll_fact())
            .map(|fact| fact.to_value()["white_ms"].clone())
            .find(|ms| !ms.is_null())
    };
    assert_eq!((ms("left"), ms("right")), (Some(json!(181_000)), Some(json!(182_000))));
}

#[test]
fn a_move_that_was_not_called_is_not_counted() {
    let header = json!({"board": "peg", "rules": "fide-2023", "config": {"peg.announce": "button"}});
    let script = "
        0 lift e2
        600 place e4
        1200 press white
        2000 arbiter freeze
        3000 announce e2e4
        4000 arbiter freeze";
    let told = facts(header, script);
    let counts = of(&told, "snapshot").into_iter().map(|fact| {
        (fact["moves_made"]["white"].as_u64().unwrap(), fact["moves_completed"]["white"].as_u64().unwrap())
    });
    assert_eq!(counts.collect::<Vec<_>>(), [(0, 0), (1, 1)]);
}

#[test]
fn a_clock_that_nobody_saw_starting_ran_since_the_lift_at_the_latest() {
    // Times of a live record count from the start of the machine, and men are put up before the round.
    let header = with(under("fide-2023"), &[("time_control", json!("5400+30"))]);
    let script = "
        16900000 lift a2
        16900500 place a2
        18000000 lift e2
        18000600 place e4
        18001000 press white
        18003000 lift e7
        18003500 place e5
        18004000 press black";
    let told = facts(header, script);
    let calc = of(&told, "clock");
    let used: Vec<(&Value, &Value)> = calc.iter().map(|fact| (&fact["calc"], &fact["used"])).collect();
    assert_eq!(used, [(&json!("fischer"), &json!(1000)), (&json!("fischer"), &json!(3000))]);
}

#[test]
fn a_button_tells_that_a_move_was_called() {
    for how in ["button", "assistant"] {
        let header = json!({"board": "peg", "rules": "fide-2023", "config": {"peg.announce": how}});
        let called = "0 lift e2\n600 place e4\n1000 button announce\n1200 press white";
        let told = facts(header.clone(), called);
        assert_eq!(of(&told, "spoken")[0]["uci"], "e2e4");
        assert!(of(&told, "announce-missing").is_empty());
        assert_eq!(of(&told, "move_completed")[0]["how"], "press");
        let before = "0 button announce-white\n600 lift e2\n900 place e4\n1200 press white";
        let told = facts(header.clone(), before);
        assert!(of(&told, "announce-missing").is_empty());
        assert_eq!(of(&told, "move_completed").len(), 1);
        let told = facts(header, "0 lift e2\n600 place e4\n1200 press white");
        assert_eq!(of(&told, "announce-missing").len(), 1);
        assert!(of(&told, "move_completed").is_empty());
    }
}

#[test]
fn one_forgotten_call_is_not_laid_at_the_door_of_the_other_player() {
    let header = json!({"board": "peg", "rules": "fide-2023", "config": {"peg.announce": "assistant"}});
    for reply in ["e7e5", "e5"] {
        let script = format!(
            "0 lift e2\n600 place e4\n1200 press white
             2000 announce {reply}\n2600 lift e7\n3200 place e5\n3800 press black
             4400 announce g1f3\n5000 lift g1\n5600 place f3\n6200 press white"
        );
        let told = facts(header.clone(), &script);
        let missing = of(&told, "announce-missing");
        assert_eq!(missing.iter().map(|fact| &fact["side"]).collect::<Vec<_>>(), ["white"], "{reply}");
        assert!(of(&told, "announce-mismatch").is_empty(), "{reply}");
        assert_eq!(of(&told, "spoken").len(), 2, "{reply}");
        let completed: Vec<_> =
            of(&told, "move_completed").iter().map(|fact| fact["how"].as_str().unwrap()).collect();
        assert_eq!(completed, ["earlier-press", "press", "press"], "{reply}");
    }
}

#[test]
fn a_slip_of_the_tongue_is_of_the_player_who_made_it() {
    let header = json!({"board": "peg", "rules": "fide-2023", "config": {"peg.announce": "assistant"}});
    // White slips and presses. Black calls nothing: that is no slip of his.
    let script = "
        0 lift e2
        600 place e4
        1500 announce e5
        2000 press white
        2600 lift e7
        3200 place e5
        3800 press black";
    let told = facts(header, script);
    let to_arbiter = |code| -> Vec<_> {
        let told = of(&told, code).into_iter().filter(|fact| fact["to"] == "arbiter");
        told.map(|fact| fact["side"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(to_arbiter("announce-mismatch"), ["white"]);
    assert_eq!(to_arbiter("announce-missing"), ["black"]);
}
