//! Laws about the conduct of a game, on random legal games that simulated hands play, with what persons
//! say in between: buttons and an arbiter's commands, correct ones and broken ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/games.rs"]
mod games;

use std::iter;

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};
use shakmaty::{Chess, EnPassantMode, Position as _, fen::Fen, uci::UciMove};
use touchmoved::{
    game::Board,
    session::{
        event::{Event, Stamped, Unit},
        fact::{
            Fact, FactKind,
            law::{LawFact, Obligation},
        },
        io::Input,
        setup::{BoardKind, Discipline, DisciplineSetting, GameSetup, INITIAL_FEN, Rules},
        time::MonoTime,
    },
};

use games::{Played, any_hands, cases};

const RULES: [Rules; 3] = [Rules::Fide2005, Rules::Fide2023, Rules::Ua];
const DISCIPLINES: [Discipline; 3] = [Discipline::Standard, Discipline::Rapid, Discipline::Blitz];

/// A game under any edition and discipline, on a board of reeds or of pegs.
fn played() -> impl Strategy<Value = Played> {
    let board = select(vec![BoardKind::Reed, BoardKind::Reed, BoardKind::Peg]);
    let under = (select(RULES.to_vec()), select(DISCIPLINES.to_vec()), board);
    (games::games(1..40, any_hands()), under).prop_map(|(mut game, (rules, discipline, board))| {
        game.setup.rules = rules;
        game.setup.discipline = DisciplineSetting::Fixed(discipline);
        game.setup.board = board;
        game
    })
}

/// Words that mean something somewhere, and some that never do.
const WORDS: [&str; 53] = [
    "send-clock",
    "move",
    "promotion",
    "dead-check",
    "default",
    "scores-differ-from-ply",
    "claim-upheld",
    "confirm",
    "reject",
    "claim-rejected",
    "accept",
    "postpone",
    "pause",
    "restore",
    "restore-times",
    "illegal-found-at-ply",
    "set position",
    "set clock",
    "set",
    "correct",
    "correct ply",
    "result",
    "both-lose",
    "penalty",
    "extra-time",
    "flag-observed",
    "both-flags",
    "late-check",
    "white-arrived",
    "green-arrived",
    "colours-reversed",
    "still-illegal-after-next-move",
    "period-added",
    "freeze",
    "five-seconds-on",
    "seal-request",
    "seal-early",
    "open-envelope",
    "envelope-missing",
    "position-lost",
    "reply-sealed",
    "resume",
    "transfer-board",
    "scoresheets-inconclusive",
    "void",
    "no-castling",
    "touch",
    "dismiss-touches",
    "claim-accepted",
    "",
    "resign",
    "\u{0}",
    "восстановить",
];

const ARGUMENTS: [&str; 27] = [
    "white",
    "black",
    "both",
    "0",
    "1",
    "2",
    "7",
    "60000",
    "-1",
    "18446744073709551615",
    "99999999999999999999",
    "e2e4",
    "e7e8q",
    "Nf3",
    "O-O",
    "N",
    "e4",
    "h9",
    "1-0",
    "1/2-1/2",
    "*",
    "reduce",
    "warning",
    "last",
    "8/8/8/8/8/8/8/8 w - - 0 1",
    "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
    INITIAL_FEN,
];

const BUTTONS: [&str; 22] = [
    "jadoube",
    "draw-offer",
    "draw-accept",
    "draw-decline",
    "resign",
    "request-five-seconds",
    "show-score",
    "assistant-status",
    "status",
    "claim-threefold",
    "claim-fifty",
    "claim-touch",
    "claim-illegal",
    "claim-setup",
    "claim-quickplay",
    "claim-time",
    "claim-flag",
    "claim-draw",
    "claim",
    "assistant-touch-white-g1",
    "assistant-touch-black",
    "-",
];

/// Commands that can be read, with numbers up to the largest.
fn proper() -> impl Strategy<Value = Value> {
    let forms = [
        "set clock SIDE MS",
        "extra-time SIDE MS",
        "extra-time both MS",
        "extra-time SIDE -MS",
        "penalty reduce SIDE MS",
        "penalty bonus SIDE MS",
        "penalty loss SIDE",
        "seal-early MS",
        "restore PLY",
        "illegal-found-at-ply PLY",
        "correct PLY MOVE",
        "no-castling SIDE",
        "touch SIDE SQUARE",
        "open-envelope MOVE",
        "SIDE-arrived",
        "result *",
        "both-flags last",
    ];
    let ms =
        prop_oneof![Just(0), 1..200_000u64, Just(u64::MAX), Just(u64::MAX / 1000), Just(i64::MAX as u64)];
    let side = select(vec!["white", "black"]);
    let square = (0u32..64).prop_map(|index| shakmaty::Square::new(index).to_string());
    (select(forms.to_vec()), ms, side, 0..40usize, square.clone(), square).prop_map(
        |(form, ms, side, ply, from, to)| {
            let text =
                form.replace("SIDE", side).replace("MS", &ms.to_string()).replace("PLY", &ply.to_string());
            json!(text.replace("MOVE", &format!("{from}{to}")).replace("SQUARE", &from))
        },
    )
}

fn command() -> impl Strategy<Value = Value> {
    let words = (select(WORDS.to_vec()), vec(select(ARGUMENTS.to_vec()), 0..4));
    let text = words
        .clone()
        .prop_map(|(word, rest)| json!(iter::once(word).chain(rest).collect::<Vec<_>>().join(" ")));
    let object = (words, vec(select(vec!["ply", "side", "ms", "uci", "fen", "kind", "command"]), 0..4))
        .prop_map(|((word, rest), keys)| {
            let mut object = json!({ "command": word });
            for (key, value) in keys.into_iter().zip(rest) {
                object[key] = value.parse::<u64>().map_or_else(|_| json!(value), |number| json!(number));
            }
            object
        });
    let other = select(vec![
        Value::Null,
        json!(7),
        json!(-1.5),
        json!(true),
        json!([]),
        json!(["confirm"]),
        json!({}),
    ]);
    prop_oneof![6 => text, 6 => proper(), 3 => object, 1 => other, 1 => ".{0,40}".prop_map(|text| json!(text))]
}

/// What a person does.
fn said() -> impl Strategy<Value = Event> {
    let side = select(vec!["-white", "-black", "", "-red"]);
    let button =
        (select(BUTTONS.to_vec()), side).prop_map(|(name, side)| Event::Button(format!("{name}{side}")));
    let flag = select(vec![shakmaty::Color::White, shakmaty::Color::Black]).prop_map(Event::Flag);
    let intended = select(ARGUMENTS.to_vec()).prop_map(|text| Event::Intended(text.to_owned()));
    let announced = "(Bauer|Turm|Kurze Rochade)? ?(Eva|Anna)? ?(zwei|vier)?".prop_map(Event::Announce);
    prop_oneof![
        10 => command().prop_map(Event::Arbiter),
        8 => button,
        2 => flag,
        1 => Just(Event::Pause),
        1 => intended,
        1 => announced,
    ]
}

/// A game with what persons do between the events of the board.
fn disputed() -> impl Strategy<Value = Played> {
    (played(), vec((any::<u16>(), said()), 1..30)).prop_map(|(mut game, said)| {
        for (place, event) in said {
            let place = usize::from(place) % (game.events.len() + 1);
            let before = place.checked_sub(1).and_then(|before| game.events.get(before));
            let at = before.map_or(MonoTime::ZERO, |before| before.at);
            game.events.insert(place, Stamped { at, unit: Unit::A, event });
        }
        game
    })
}

fn facts(board: &mut Board) -> Vec<Fact> {
    iter::from_fn(|| board.poll_fact()).collect()
}

fn put(board: &mut Board, stamped: &Stamped) {
    board.input(stamped.at, &Input::Event(stamped.unit, stamped.event.clone()));
}

/// The facts of these events, with the deadlines that are due at the last of them.
fn until_the_last(setup: &GameSetup, events: &[Stamped]) -> Vec<Fact> {
    let mut board = Board::new(setup).unwrap();
    events.iter().for_each(|stamped| put(&mut board, stamped));
    board.advance(events.last().map_or(MonoTime::ZERO, |last| last.at));
    facts(&mut board)
}

fn fen(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

/// What binds a player leaves moves that are legal where that player has the move.
fn check_obligation(obligation: &Obligation, positions: &[Chess]) -> Result<(), TestCaseError> {
    for (index, square) in obligation.touches.as_slice().iter().enumerate() {
        prop_assert!(
            !obligation.touches.as_slice()[..index].contains(square),
            "touched twice: {obligation:?}"
        );
    }
    let Some(moves) = obligation.legal.moves() else { return Ok(()) };
    prop_assert!(!moves.is_empty(), "nothing may be played: {obligation:?}");
    let all_legal = |position: &Chess| {
        position.turn() == obligation.by.0
            && moves.iter().all(|mv| mv.parse::<UciMove>().is_ok_and(|uci| uci.to_move(position).is_ok()))
    };
    prop_assert!(positions.iter().any(all_legal), "not legal: {obligation:?}, in {positions:?}");
    Ok(())
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn an_obligation_leaves_legal_moves(game in disputed()) {
        let mut board = Board::new(&game.setup).unwrap();
        let mut stamps: Vec<Option<&Stamped>> = game.events.iter().map(Some).collect();
        stamps.push(None);
        for stamped in stamps {
            // One deadline or one event at a time, so that a position is that of the fact.
            loop {
                let due = board.deadline().filter(|due| stamped.is_none_or(|stamped| *due <= stamped.at));
                let mut positions = vec![board.session().position().clone()];
                match (due, stamped) {
                    (Some(due), _) => board.advance(due),
                    (None, Some(stamped)) => put(&mut board, stamped),
                    (None, None) => break,
                }
                positions.push(board.session().position().clone());
                let plies = board.session().plies().len();
                positions.extend(plies.checked_sub(1).and_then(|n| board.session().position_after(n)).cloned());
                for fact in facts(&mut board) {
                    if let FactKind::Obligation(obligation) = &fact.kind {
                        check_obligation(obligation, &positions)?;
                    }
                }
                if due.is_none() {
                    break;
                }
            }
        }
    }

    /// What is known at an event does not depend on what comes later.
    #[test]
    fn the_facts_of_a_part_are_a_part_of_the_facts((game, part) in (disputed(), any::<prop::sample::Index>())) {
        let all = until_the_last(&game.setup, &game.events);
        let events = &game.events[..=part.index(game.events.len())];
        let last = events.last().unwrap().at;
        let known = until_the_last(&game.setup, events);
        prop_assert!(known.len() <= all.len());
        for (known, all) in known.iter().zip(&all) {
            prop_assert_eq!(known, all);
        }
        let number = i64::try_from(events.len()).unwrap();
        for fact in &all[known.len()..] {
            prop_assert!(fact.ev >= number || fact.at > last, "left out at {last:?}: {fact:?}");
        }
    }

    /// Looking often gives the same facts as looking at the events only.
    #[test]
    fn late_looks_change_nothing(game in disputed()) {
        let late = until_the_last(&game.setup, &game.events);
        let mut board = Board::new(&game.setup).unwrap();
        let mut prompt = facts(&mut board);
        let mut at = MonoTime::ZERO;
        for stamped in &game.events {
            // In strides that long thinking does not make too many.
            let stride = (stamped.at.since(at) / 1000 / 50).max(37);
            while at < stamped.at {
                board.advance(at);
                at = at.plus_ms(stride);
            }
            put(&mut board, stamped);
            prompt.extend(facts(&mut board));
        }
        prop_assert_eq!(late, prompt);
    }

    /// Each command is one entry; one that is refused changes nothing, one that is carried out leaves the
    /// position that the entry tells.
    #[test]
    fn every_command_is_an_entry(game in disputed()) {
        let mut board = Board::new(&game.setup).unwrap();
        facts(&mut board);
        for (number, stamped) in game.events.iter().enumerate() {
            board.advance(stamped.at);
            let earlier = facts(&mut board);
            prop_assert!(!earlier.iter().any(|fact| fact.kind.name() == "arbiter_entry"));
            let before = board.session().clone();
            put(&mut board, stamped);
            let told = facts(&mut board);
            let entries: Vec<&Fact> = told.iter().filter(|fact| fact.kind.name() == "arbiter_entry").collect();
            prop_assert!(told.iter().all(|fact| fact.to_value().is_object()));
            if !matches!(stamped.event, Event::Arbiter(_)) {
                prop_assert!(entries.is_empty(), "{entries:?}");
                continue;
            }
            prop_assert_eq!(entries.len(), 1, "{:?}", stamped);
            prop_assert_eq!(entries[0].ev, i64::try_from(number).unwrap());
            let FactKind::Law(law) = &entries[0].kind else { panic!("{entries:?}") };
            let LawFact::ArbiterEntry(entry) = &**law else { panic!("{entries:?}") };
            let (was, is) = (fen(before.position()), fen(board.session().position()));
            if !entry.accepted {
                prop_assert_eq!(&was, &is, "{:?}", entry);
                prop_assert_eq!(before.result(), board.session().result(), "{:?}", entry);
                let remark = |fact: &Fact| matches!(&fact.kind, FactKind::Law(law) if matches!(**law, LawFact::Advisory(_)));
                let others = told.iter().filter(|fact| !remark(fact)).count();
                prop_assert_eq!(others, 1, "a refused command is followed by {:?}", told);
                prop_assert!(entry.reason.is_some(), "{:?}", entry);
            } else if let Some(after) = &entry.after {
                prop_assert_eq!(entry.before.as_ref(), Some(&was), "{:?}", entry);
                prop_assert_eq!(after, &is, "{:?}", entry);
            }
        }
        board.advance(MonoTime::END);
        prop_assert!(!facts(&mut board).iter().any(|fact| fact.kind.name() == "arbiter_entry"));
    }
}

/// Where an illegal move stands, a king may be left to be taken: nobody can take it, whatever the board
/// shows.
#[test]
fn a_king_that_is_left_in_check_is_never_taken() {
    for rest in ["-e1 -e8 +e1 b", "-e8 -e1 +e1 b", "-e8 -c3 +d8 +b5 b w", "-g8 -c3 +h8 +d5 b"] {
        let setup = GameSetup {
            start_fen: "4r1k1/8/8/8/8/8/4N3/4K3 w - - 0 1".to_owned(),
            discipline: DisciplineSetting::Fixed(Discipline::Rapid),
            ..GameSetup::default()
        };
        let events = "-e2 +c3 w".split(' ').chain(rest.split(' ')).zip(1..).map(|(word, number)| {
            let event = match word {
                "w" => Event::Press(shakmaty::Color::White),
                "b" => Event::Press(shakmaty::Color::Black),
                contact => {
                    let (occupied, square) = (contact.starts_with('+'), contact[1..].parse().unwrap());
                    Event::Square { square, occupied }
                }
            };
            Stamped { at: MonoTime::ZERO.plus_ms(number * 700), unit: Unit::A, event }
        });
        let mut board = Board::new(&setup).unwrap();
        events.for_each(|stamped| put(&mut board, &stamped));
        board.advance(MonoTime::END);
        for record in board.session().plies() {
            assert_ne!(record.uci, "e8e1", "{rest}");
        }
    }
}
