//! What an output may show, and when: thresholds, delays, and the outputs that are built from them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/hall.rs"]
#[allow(dead_code)]
mod hall;

use std::sync::{Arc, Mutex};

use hall::{Game, clock};
use proptest::prelude::*;
use touchmoved::{
    feed::{
        Output, Outputs,
        outputs::{Arrival, ReleaseLog, Released, Story},
    },
    publish::{
        BoardState, FeedEvent, completed_san,
        release::{
            Completed, Delay, Lane, Moment, Origin, Past, Policy, ROOM, Shown, Step, Threshold, Waiting,
        },
    },
    session::time::MonoTime,
};

const GAME: &str = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7";

/// A game with clocks in which nothing has happened.
fn start() -> BoardState {
    BoardState { plies: Arc::default(), status: "waiting", ..Game::new("1").state("White", "Black") }
}

fn completed(ply: usize) -> FeedEvent {
    FeedEvent::Completed { ply, clock_ms: Some(60_000), pressed: true }
}

fn result(result: &'static str) -> FeedEvent {
    FeedEvent::Result { result, termination: None }
}

/// The events of each move of [`GAME`], made and not completed.
fn moves() -> Vec<Vec<FeedEvent>> {
    let mut game = Game::new("1");
    let open = |event| match event {
        FeedEvent::Move { ply, mut played, fen } => {
            (played.completed, played.clock_ms) = (false, None);
            FeedEvent::Move { ply, played, fen }
        }
        event => event,
    };
    GAME.split(' ').map(|uci| game.play(uci).into_iter().map(open).collect()).collect()
}

fn fen_after(plies: usize) -> String {
    let played: Vec<&str> = GAME.split(' ').take(plies).collect();
    Game::with("1", &played.join(" ")).fen()
}

fn undo(n: usize, left: usize) -> FeedEvent {
    FeedEvent::Undo { n, fen: fen_after(left) }
}

fn moment(at: i64, events: Vec<FeedEvent>) -> Moment {
    Moment { at, origin: origin(at), step: Step::Events(events) }
}

/// What follows at once from an event of the board.
fn origin(ev: i64) -> Origin {
    Origin { ev, us: u64::try_from(ev).unwrap() }
}

/// An output that has shown what follows from `origin`, and everything before it.
fn shown(Origin { ev, us }: Origin) -> Shown {
    Shown { ev, us: Some(us), plies: 0, over: false, began_us: None }
}

const SECOND: u64 = 1_000_000;

fn drain(waiting: &mut Waiting, now: i64) -> Vec<i64> {
    std::iter::from_fn(|| waiting.pop(now)).map(|moment| moment.at).collect()
}

fn push(waiting: &mut Waiting, moment: Moment) {
    if let Step::Events(events) = &moment.step {
        waiting.heed(events);
    }
    waiting.push(moment);
}

#[test]
fn a_delay_in_seconds_holds_everything_alike() {
    let mut waiting = Waiting::new(Delay { us: 10 * SECOND, plies: 0 }, start());
    push(&mut waiting, moment(5, moves().remove(0)));
    push(&mut waiting, moment(7, vec![FeedEvent::Clock(clock(1, 2, Some("black")))]));
    assert_eq!(waiting.due(), Some(10_000_005));
    assert_eq!(drain(&mut waiting, 10_000_004), [0; 0]);
    assert_eq!(drain(&mut waiting, 10_000_006), [5]);
    assert_eq!(drain(&mut waiting, 10_000_007), [7]);
    assert!(waiting.is_empty() && waiting.due().is_none());
}

#[test]
fn a_delay_in_plies_holds_what_has_no_number_with_the_moves() {
    let mut waiting = Waiting::new(Delay { us: 0, plies: 2 }, start());
    let moves = moves();
    push(&mut waiting, moment(1, moves[0].clone()));
    push(&mut waiting, moment(2, vec![completed(1)]));
    assert_eq!(drain(&mut waiting, 99), [0; 0]);
    push(&mut waiting, moment(3, moves[1].clone()));
    assert_eq!(drain(&mut waiting, 99), [0; 0]);
    push(&mut waiting, moment(4, moves[2].clone()));
    assert_eq!(drain(&mut waiting, 99), [1, 2], "two more were played");
    push(&mut waiting, moment(5, vec![result("1-0")]));
    assert_eq!(drain(&mut waiting, 99), [3, 4, 5], "no more are to come");
}

/// What stands on the board tells of moves that are not published: it does not leave at all.
#[test]
fn a_delay_in_plies_shows_the_score_and_no_board() {
    let policy = Policy { threshold: Threshold::Made, delay: Delay { us: 0, plies: 1 } };
    let (mut lane, mut shown, _) = Lane::new(policy, start(), Vec::new(), None, 0);
    let moves = moves();
    let mut seen = Vec::new();
    for (ev, events) in (0..).zip([
        moves[0].clone(),
        vec![completed(1), FeedEvent::Clock(clock(5000, 6000, Some("black")))],
        // Five half-moves of hands, and none of them published yet.
        vec![FeedEvent::Board { board: Game::with("1", GAME).placement() }],
        moves[1].clone(),
        moves[2].clone(),
    ]) {
        lane.heed(&events);
        assert_eq!(lane.push(ev, origin(ev), events), None);
        for moment in std::iter::from_fn(|| lane.pop(99)) {
            let Step::Events(events) = moment.step else { panic!("a new game") };
            for event in events {
                shown.apply(&event);
                seen.push(event.name());
            }
            assert_eq!(Some(shown.board.as_str()), shown.fen.split(' ').next());
        }
    }
    assert_eq!(seen, ["move", "board", "completed", "clock", "move", "board"]);
    let clock = shown.clock.unwrap();
    assert_eq!((clock.white_ms, clock.black_ms, clock.running), (Some(60_000), None, None));
}

#[test]
fn a_move_that_is_taken_back_and_played_again_does_not_count_twice() {
    let mut waiting = Waiting::new(Delay { us: 0, plies: 2 }, start());
    let moves = moves();
    push(&mut waiting, moment(1, moves[0].clone()));
    push(&mut waiting, moment(2, moves[1].clone()));
    for at in 3..9 {
        push(&mut waiting, moment(at, vec![undo(1, 1)]));
        push(&mut waiting, moment(10 + at, moves[1].clone()));
        assert_eq!(drain(&mut waiting, 99), [0; 0], "one move was played since");
    }
    push(&mut waiting, moment(30, moves[2].clone()));
    assert_eq!(drain(&mut waiting, 99), [1]);
}

#[test]
fn when_the_arbiter_goes_back_the_feed_does_not_wait_for_moves_of_a_game_that_is_gone() {
    let mut waiting = Waiting::new(Delay { us: 0, plies: 2 }, start());
    let moves = moves();
    for (at, played) in (0..8).zip(&moves) {
        push(&mut waiting, moment(at, played.clone()));
    }
    assert_eq!(drain(&mut waiting, 99), [0, 1, 2, 3, 4, 5]);
    push(&mut waiting, moment(8, vec![undo(7, 1)]));
    for (at, played) in (9..).zip(moves.iter().skip(1)).take(3) {
        push(&mut waiting, moment(at, played.clone()));
    }
    assert_eq!(drain(&mut waiting, 99), [6, 7, 8, 9]);
}

/// After the position that the arbiter goes back to, as many half-moves are waited for as the delay says, and not one
/// more.
#[test]
fn the_moves_that_the_arbiter_takes_back_go_as_soon_as_the_position_before_them_may_be_shown() {
    let mut waiting = Waiting::new(Delay { us: 0, plies: 1 }, start());
    let moves = moves();
    for (at, played) in (0..4).zip(&moves) {
        push(&mut waiting, moment(at, played.clone()));
    }
    assert_eq!(drain(&mut waiting, 99), [0, 1, 2]);
    push(&mut waiting, moment(4, vec![undo(2, 2)]));
    push(&mut waiting, moment(5, vec![FeedEvent::Status { status: "playing", connected: true }]));
    assert_eq!(drain(&mut waiting, 99), [0; 0], "nothing was played from there");
    push(&mut waiting, moment(6, moves[2].clone()));
    assert_eq!(drain(&mut waiting, 99)[..2], [3, 4]);
    push(&mut waiting, moment(7, moves[3].clone()));
    assert_eq!(drain(&mut waiting, 99).last(), Some(&6));
}

/// Four moves without a clock, made in turn and published one after another when the hands rest: one event, and four
/// times.
fn resting() -> Vec<Past> {
    let past = |(at, events): (i64, Vec<FeedEvent>)| {
        let us = u64::try_from(at).unwrap();
        Past { at, known: at, origin: Origin { ev: 8, us }, events }
    };
    (1..).zip(moves()).map(|(second, events)| past((second * 1_000_000, events))).take(4).collect()
}

#[test]
fn what_is_published_by_time_leaves_one_by_one_also_after_a_restart() {
    let policy = Policy { delay: Delay { us: 10 * SECOND, plies: 0 }, ..Policy::default() };
    let plies = |left, now| {
        let (mut lane, shown, _) = Lane::new(policy, start(), resting(), left, now);
        let due = lane.due();
        (shown.plies.len(), due, std::iter::from_fn(|| lane.pop(i64::MAX)).count())
    };
    for seconds in 0..=4_i64 {
        let left = u64::try_from(seconds).unwrap() * SECOND;
        let left = (seconds > 0).then(|| shown(Origin { ev: 8, us: left }));
        let count = usize::try_from(seconds).unwrap();
        let next = (seconds < 4).then(|| (seconds + 11) * 1_000_000);
        let now = (10 + seconds) * 1_000_000;
        assert_eq!(plies(left, now), (count, next, 4 - count));
        // What has left stays, also where its time is told another way.
        assert_eq!(plies(left, 0), (count, next, 4 - count));
    }
}

/// A record of an older version tells of the event alone: the half-moves and the result that were shown tell the rest.
#[test]
fn a_record_that_does_not_tell_the_time_is_read_by_its_score() {
    let policy = Policy { delay: Delay { us: 10 * SECOND, plies: 0 }, ..Policy::default() };
    let mut past = resting();
    let origin = Origin { ev: 8, us: 5 * SECOND };
    past.push(Past { at: 5_000_000, known: 5_000_000, origin, events: vec![result("0-1")] });
    for (plies, over, shows) in [(0, false, 0), (2, false, 2), (4, false, 4), (4, true, 4)] {
        let left = Shown { ev: 8, us: None, plies, over, began_us: None };
        let (_, seen, _) = Lane::new(policy, start(), past.clone(), Some(left), 0);
        assert_eq!((seen.plies.len(), seen.result == "0-1"), (shows, over));
    }
    let later = Shown { ev: 9, us: None, plies: 4, over: true, began_us: None };
    let (_, seen, _) = Lane::new(policy, start(), past, Some(later), 0);
    assert_eq!((seen.plies.len(), seen.result), (4, "0-1"));
}

#[test]
fn a_later_record_counts_also_where_it_is_of_the_same_event() {
    let mut known = shown(Origin { ev: 8, us: 5 });
    known.began_us = Some(7);
    let later = Shown { ev: 8, us: Some(9), plies: 3, over: true, began_us: Some(11) };
    known.merge(later);
    assert_eq!(known, Shown { began_us: Some(7), ..later });
    known.merge(shown(Origin { ev: 8, us: 6 }));
    assert_eq!(known.us, Some(9));
    let mut old = Shown { us: None, ..later };
    old.merge(Shown { us: Some(1), ..later });
    assert_eq!(old.us, Some(1), "this version tells it exactly");
}

#[test]
fn a_game_that_is_no_longer_on_its_board_waits_for_no_more_moves() {
    let mut waiting = Waiting::new(Delay { us: 5, plies: 4 }, start());
    push(&mut waiting, moment(1, moves().remove(0)));
    assert_eq!(drain(&mut waiting, 99), [0; 0]);
    waiting.finish();
    assert_eq!(drain(&mut waiting, 5), [0; 0]);
    assert_eq!(drain(&mut waiting, 6), [1]);
}

#[test]
fn too_much_is_thinned_out_and_nothing_of_it_is_late_or_early() {
    let mut waiting = Waiting::new(Delay { us: 1000, plies: 0 }, start());
    let mut state = start();
    let last = 3 * i64::try_from(ROOM).unwrap();
    push(&mut waiting, moment(0, moves().remove(0)));
    for at in 1..=last {
        push(&mut waiting, moment(at, vec![FeedEvent::Board { board: format!("{at}") }]));
    }
    let mut count = 0;
    let mut take = |waiting: &mut Waiting, now: i64| {
        while let Some(moment) = waiting.pop(now) {
            assert!(moment.at + 1000 <= now);
            let Step::Events(events) = moment.step else { panic!("a picture") };
            events.iter().for_each(|event| state.apply(event));
            count += 1;
        }
    };
    take(&mut waiting, 1000);
    take(&mut waiting, last + 1000);
    assert!(waiting.is_empty() && (100..=ROOM).contains(&count), "{count}");
    assert_eq!((state.plies.len(), state.board), (1, last.to_string()));
}

#[test]
fn far_too_much_becomes_one_picture() {
    let mut waiting = Waiting::new(Delay { us: 10, plies: 0 }, start());
    let status = |connected| FeedEvent::Status { status: "playing", connected };
    let last = i64::try_from(ROOM).unwrap();
    for at in 0..=last {
        push(&mut waiting, moment(at, vec![status(at % 2 == 0)]));
    }
    assert!(waiting.pop(last + 9).is_none(), "nothing of it is early");
    let Step::Set(state) = waiting.pop(last + 10).unwrap().step else { panic!("a picture") };
    assert_eq!(state.connected, last % 2 == 0);
    assert!(waiting.is_empty());
}

#[test]
fn moves_leave_when_they_are_completed_and_stay() {
    let (mut filter, visible) = Completed::new(start());
    assert_eq!(visible, start());
    let moves = moves();
    let kinds = |events: &[FeedEvent]| events.iter().map(FeedEvent::name).collect::<Vec<_>>().join(" ");
    assert_eq!(kinds(&filter.pass(moves[0].clone())), "board");
    assert_eq!(kinds(&filter.pass(vec![undo(1, 0)])), "", "nobody saw it");
    assert_eq!(kinds(&filter.pass(moves[0].clone())), "board");
    assert_eq!(kinds(&filter.pass(vec![completed(1)])), "move completed");
    assert_eq!(kinds(&filter.pass(moves[1].clone())), "board");
    assert_eq!(kinds(&filter.pass(moves[2].clone())), "board");
    assert_eq!(kinds(&filter.pass(vec![completed(3)])), "move move completed", "the one before it counts");
    assert_eq!(kinds(&filter.pass(vec![undo(2, 1)])), "undo", "the arbiter went back");
    assert_eq!(kinds(&filter.pass(moves[1].clone())), "board");
    assert_eq!(kinds(&filter.pass(vec![result("0-1")])), "move result", "the last one needs no press");
}

#[test]
fn what_was_shown_before_the_first_press_is_not_taken_back() {
    let (mut filter, _) = Completed::new(BoardState { has_presses: false, ..start() });
    let shown = filter.pass(moves().remove(0));
    assert!(shown.iter().any(|event| matches!(event, FeedEvent::Move { .. })), "nothing tells presses");
    let shown = filter.pass(vec![FeedEvent::Clock(clock(9, 9, Some("black")))]);
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(filter.pass(moves().remove(1)).iter().all(|event| !matches!(event, FeedEvent::Move { .. })));
}

/// Steps of a game as hands and arbiters make them.
fn steps() -> impl Strategy<Value = Vec<(u8, u64)>> {
    let forward = prop_oneof![4 => 0_u8..4, 1 => Just(6), 1 => Just(8)];
    let any = 0_u8..8;
    let steps = |kind: BoxedStrategy<u8>| prop::collection::vec((kind, 0_u64..5 * SECOND), 1..60);
    prop_oneof![steps(forward.boxed()), steps(any.boxed())]
}

/// The events of the steps, and their times.
fn played(steps: &[(u8, u64)]) -> Vec<(i64, Vec<FeedEvent>)> {
    let moves = moves();
    let (mut plies, mut at, mut over) = (0, 0_i64, false);
    let mut out = Vec::new();
    for (kind, wait) in steps {
        at += i64::try_from(*wait).unwrap();
        let events = match kind {
            0..=2 if plies < moves.len() => {
                plies += 1;
                moves[plies - 1].clone()
            }
            3 if plies > 0 => vec![completed(plies)],
            4 if plies > 0 => {
                plies -= 1;
                vec![undo(1, plies)]
            }
            5 if plies > 2 => {
                let n = plies - 1;
                plies = 1;
                vec![undo(n, 1)]
            }
            6 => vec![FeedEvent::Clock(clock(1000, 2000, Some("white")))],
            7 if *wait % 4 == 0 => {
                over = !over;
                vec![result(if over { "1-0" } else { "*" })]
            }
            _ => vec![FeedEvent::Board { board: format!("{at}") }],
        };
        out.push((at, events));
    }
    out
}

proptest! {
    #[test]
    fn nothing_is_early_out_of_order_or_lost(
        steps in steps(), seconds in 0_u64..20, plies in 0_u64..5, threshold in 0..2,
    ) {
        let threshold = if threshold == 0 { Threshold::Made } else { Threshold::Completed };
        let delay = Delay { us: seconds * SECOND, plies };
        let policy = Policy { threshold, delay };
        let (mut lane, mut shown, _) = Lane::new(policy, start(), Vec::new(), None, 0);
        let apply = |shown: &mut BoardState, moment: &Moment| {
            let Step::Events(events) = &moment.step else { panic!("a new game") };
            events.iter().for_each(|event| shown.apply(event));
        };
        let mut truth = start();
        let mut latest = -1;
        // When the game goes back, what counts is another question.
        let goes_back = steps.iter().any(|(kind, _)| matches!(kind, 4 | 5));
        let events = played(&steps);
        let end = events.last().map_or(0, |(at, _)| *at);
        for (ev, (at, events)) in (0..).zip(&events) {
            for moment in std::iter::from_fn(|| lane.pop(*at)) {
                prop_assert!(moment.at + i64::try_from(delay.us).unwrap() <= *at, "{moment:?} at {at}");
                prop_assert!(moment.at >= latest);
                latest = moment.at;
                apply(&mut shown, &moment);
                // As many moves were played after what is shown.
                let far_enough = truth.plies.len() as u64 >= shown.plies.len() as u64 + plies;
                prop_assert!(plies == 0 || goes_back || truth.result != "*" || far_enough, "{moment:?}");
                let position = shown.fen.split(' ').next() == Some(shown.board.as_str());
                prop_assert!(plies == 0 || position, "{moment:?}");
            }
            events.iter().for_each(|event| truth.apply(event));
            lane.heed(events);
            if let Some(moment) = lane.push(*at, origin(ev), events.clone()) {
                prop_assert!(delay.is_none());
                apply(&mut shown, &moment);
            }
        }
        // The end of the game lets go of what waits for moves.
        lane.heed(&[result("1/2-1/2")]);
        if let Some(moment) = lane.push(end, origin(end), vec![result("1/2-1/2")]) {
            apply(&mut shown, &moment);
        }
        truth.apply(&result("1/2-1/2"));
        while let Some(moment) = lane.pop(end + i64::try_from(delay.us).unwrap()) {
            apply(&mut shown, &moment);
        }
        prop_assert_eq!(lane.due(), None);
        if plies > 0 {
            // The board and the clock are those of the score.
            (truth.board, truth.clock) = (shown.board.clone(), shown.clock);
            truth.has_presses = shown.has_presses;
        }
        prop_assert_eq!(shown, truth);
    }

    #[test]
    fn the_completed_game_is_what_its_definition_says(steps in steps()) {
        let (mut filter, mut shown) = Completed::new(start());
        let mut truth = start();
        for (_, events) in played(&steps) {
            for event in &events {
                truth.apply(event);
            }
            for event in filter.pass(events) {
                shown.apply(&event);
            }
            let list: Vec<&str> = shown.plies.iter().map(|ply| ply.san.as_str()).collect();
            let wanted = completed_san(&truth);
            prop_assert!(list.len() >= wanted.len());
            prop_assert_eq!(&list[..wanted.len()], &wanted[..]);
            prop_assert_eq!(&shown.fen, &fen_after(list.len()));
            prop_assert_eq!((&shown.board, shown.result), (&truth.board, truth.result));
        }
    }

    #[test]
    fn a_restart_shows_neither_more_nor_less(
        steps in steps(), seconds in 0_u64..20, plies in 0_u64..4, cut in 0_usize..60,
    ) {
        let policy = Policy { threshold: Threshold::Made, delay: Delay { us: seconds * SECOND, plies } };
        let events = played(&steps);
        let end = events.last().map_or(0, |(at, _)| *at);
        let (mut lane, mut shown, _) = Lane::new(policy, start(), Vec::new(), None, 0);
        let mut left = None;
        // Deadlines fire behind an event, each at a time of its own.
        let of = |step: i64| Origin { ev: step / 3, us: u64::try_from(step).unwrap() };
        let mut take = |shown: &mut BoardState, moment: Moment| {
            let reached = moment.origin;
            let Step::Events(events) = moment.step else { panic!("a new game") };
            events.iter().for_each(|event| shown.apply(event));
            left = Some(self::shown(reached));
        };
        let cut = cut.min(events.len());
        for (ev, (at, events)) in (0..).zip(&events[..cut]) {
            while let Some(moment) = lane.pop(*at) {
                take(&mut shown, moment);
            }
            lane.heed(events);
            if let Some(moment) = lane.push(*at, of(ev), events.clone()) {
                take(&mut shown, moment);
            }
        }
        let now = cut.checked_sub(1).map_or(0, |last| events[last].0).min(end);
        while let Some(moment) = lane.pop(now) {
            take(&mut shown, moment);
        }
        let past = (0..).zip(&events[..cut]).map(|(step, (at, events))| {
            Past { at: *at, known: *at, origin: of(step), events: events.clone() }
        });
        let (_, again, _) = Lane::new(policy, start(), past.collect(), left, now);
        prop_assert_eq!(again, shown);
    }
}

#[derive(Debug, Default)]
struct Log(Mutex<Vec<Released>>);

impl ReleaseLog for Log {
    fn released(&self, released: Released) {
        self.0.lock().unwrap().push(released);
    }
}

#[test]
fn outputs_with_one_policy_share_a_hub_and_the_log_names_them() {
    let late = Policy { delay: Delay { us: 0, plies: 1 }, ..Policy::default() };
    let outputs = Outputs::new(
        &[(Output::Http, late), (Output::LiveChess, Policy::default()), (Output::Pgn, late)],
        Threshold::Made,
    );
    let log = Arc::new(Log::default());
    outputs.set(Arrival { log: Some(log.clone()), ..Arrival::of(start()) });
    let plies = |output| outputs.of(output).board("1").unwrap().plies.len();
    for (ev, events) in (0..).zip(moves()).take(2) {
        outputs.publish("1", MonoTime::from_micros(5), origin(ev), events);
    }
    assert_eq!((plies(Output::LiveChess), plies(Output::Http), plies(Output::Pgn)), (2, 0, 0));
    assert!(outputs.is_late(Output::Http) && !outputs.is_late(Output::LiveChess));
    let log = log.0.lock().unwrap();
    let told: Vec<_> = log.iter().map(|released| (released.to.join(" "), released.left.plies)).collect();
    assert_eq!(told, [("livechess".to_owned(), 1), ("livechess".to_owned(), 2)]);
    assert_eq!(log[1].left.boards, 1, "the men that moved");
}

/// A restart is no release: what had left before it is in the log already.
#[test]
fn a_restart_is_logged_only_where_something_leaves_by_it() {
    let late = Policy { delay: Delay { us: 0, plies: 1 }, ..Policy::default() };
    let past = |(ev, events)| Past { at: 5, known: 5, origin: origin(ev), events };
    let past: Vec<Past> = (0..).zip(moves()).map(past).take(3).collect();
    let logged = |left: &[(&str, i64)]| -> Vec<(String, usize)> {
        let outputs =
            Outputs::new(&[(Output::Http, late), (Output::LiveChess, Policy::default())], Threshold::Made);
        let log = Arc::new(Log::default());
        let left = left.iter().map(|(output, ev)| ((*output).to_owned(), shown(origin(*ev)))).collect();
        let game = Story { start: start(), past: past.clone(), left, returns: false };
        outputs.set(Arrival { game, log: Some(log.clone()), ..Arrival::of(start()) });
        let log = log.0.lock().unwrap();
        log.iter().map(|released| (released.to.join(" "), released.left.plies)).collect()
    };
    assert_eq!(logged(&[("http", 1), ("livechess", 2)]), []);
    assert_eq!(
        logged(&[("http", 0), ("livechess", 2)]),
        [("http".to_owned(), 2)],
        "its move came while nobody looked"
    );
    assert_eq!(logged(&[("http", 1), ("livechess", 1)]), [("livechess".to_owned(), 3)]);
    assert_eq!(logged(&[]).len(), 2, "an output that is new");
}

/// The list of LiveChess keeps a move back until it is completed: only then it has left.
#[test]
fn the_log_of_livechess_tells_when_a_move_is_in_its_list() {
    let outputs = Outputs::new(
        &[(Output::Http, Policy::default()), (Output::LiveChess, Policy::default())],
        Threshold::Completed,
    );
    let log = Arc::new(Log::default());
    outputs.set(Arrival { log: Some(log.clone()), ..Arrival::of(start()) });
    let told = || -> Vec<(String, i64, usize)> {
        let log = std::mem::take(&mut *log.0.lock().unwrap());
        log.into_iter()
            .map(|released| (released.to.join(" "), released.left.ev, released.left.plies))
            .collect()
    };
    let publish = |ev, events: Vec<FeedEvent>| {
        outputs.publish("1", MonoTime::from_micros(5), origin(ev), events);
    };
    publish(0, moves().remove(0));
    assert_eq!(told(), [("http".to_owned(), 0, 1)]);
    assert_eq!(outputs.of(Output::LiveChess).board("1").unwrap().plies.len(), 1, "the API keeps it back");
    publish(1, vec![FeedEvent::Clock(clock(60_000, 60_000, Some("black"))), completed(1)]);
    assert_eq!(told(), [("http".to_owned(), 1, 1), ("livechess".to_owned(), 1, 1)]);
}
