//! Orders to a clock that loses, repeats and garbles its answers.

use super::*;
use crate::{
    sensor::dgt::orders::Refused,
    wire::dgt::{
        clock::Ack,
        set_clock::{ClockTime, Runs, SetClock},
    },
};

const OK: Clock = Clock::Ack(Ack([0x10, 0x0a, 0, 0]));
const WRONG_MODE: Clock = Clock::Ack(Ack([0x40, 0x0a, 0, 0]));
/// As seen with an old clock.
const ERROR: Clock = Clock::Ack(Ack([0x20, 0, 0, 0]));
const VERSION: Clock = Clock::Ack(Ack([0x10, 0x09, 0x20, 0]));
const BUTTON: Clock = Clock::Ack(Ack([0x10, 0x88, 0x05, 0x31]));

fn order(number: u32) -> ClockOrder {
    let time = ClockTime::from_seconds(300).unwrap();
    ClockOrder { number, set: SetClock { left: time, right: time, runs: Runs::Neither } }
}

impl Run {
    fn order(&mut self, number: u32) {
        self.policy.order(order(number), ms(self.now));
    }
}

/// What came of each order: its number, how often it was sent, why it was refused.
fn answers(run: &mut Run) -> Vec<(u32, u8, Option<&'static str>)> {
    let said =
        |answer: Answer| (answer.order.number, answer.tries, answer.outcome.err().map(Refused::as_str));
    run.policy.answers().into_iter().map(said).collect()
}

/// A board that is up, whose clock will answer so.
fn with_clock(script: &[&[(u64, Clock)]]) -> Run {
    let mut run = Run::started();
    run.clock = script.iter().map(|said| said.to_vec()).collect();
    run.order(1);
    run
}

#[test]
fn an_order_is_acknowledged() {
    let mut run = with_clock(&[&[(367, OK)]]);
    run.until(1200, answer);
    assert_eq!(answers(&mut run), []);
    run.until(1400, answer);
    assert_eq!(answers(&mut run), [(1, 1, None)]);
    assert_eq!(run.ordered.len(), 1);
    run.until(20_000, answer);
    assert_eq!((run.ordered.len(), answers(&mut run)), (1, vec![]));
}

#[test]
fn a_lost_acknowledgement_is_waited_for_two_seconds() {
    let mut run = with_clock(&[&[], &[], &[(100, OK)]]);
    run.until(20_000, answer);
    assert_eq!(answers(&mut run), [(1, 3, None)]);
    let first = run.ordered[0];
    assert_eq!(run.ordered, [first, first + 2000, first + 4000]);
}

#[test]
fn a_clock_that_never_answers_is_sent_the_order_four_times() {
    let mut run = with_clock(&[]);
    run.until(20_000, answer);
    assert_eq!(answers(&mut run), [(1, 4, Some("unanswered"))]);
    assert_eq!(run.ordered.len(), 4);
    assert!(run.down.is_empty(), "the board is read on");
}

#[test]
fn the_wrong_mode_is_refused_at_once() {
    let mut run = with_clock(&[&[(100, WRONG_MODE)]]);
    run.until(20_000, answer);
    assert_eq!(answers(&mut run), [(1, 1, Some("not-remote"))]);
    assert_eq!(run.ordered.len(), 1);
}

#[test]
fn another_error_is_tried_once_more() {
    let mut run = with_clock(&[&[(100, ERROR)], &[(100, OK)]]);
    run.until(20_000, answer);
    assert_eq!(answers(&mut run), [(1, 2, None)]);
    let mut run = with_clock(&[&[(100, ERROR)], &[(100, ERROR)], &[(100, OK)]]);
    run.until(20_000, answer);
    assert_eq!(answers(&mut run), [(1, 2, Some("clock-error"))]);
}

#[test]
fn what_acknowledges_something_else_is_not_taken() {
    let times = Clock::State(ClockState::default());
    let mut run = with_clock(&[&[(50, VERSION), (60, BUTTON), (70, Clock::Null), (80, times), (400, OK)]]);
    run.until(1300, answer);
    assert_eq!(answers(&mut run), []);
    run.until(3000, answer);
    assert_eq!(answers(&mut run), [(1, 1, None)]);
}

#[test]
fn a_late_acknowledgement_settles_one_order_only() {
    // The first answer comes after the second sending, and that one is answered, too.
    let mut run = with_clock(&[&[(2100, OK)], &[(1900, OK)], &[(100, WRONG_MODE)]]);
    run.until(3200, answer);
    assert_eq!(answers(&mut run), [(1, 2, None)]);
    run.order(2);
    run.until(20_000, answer);
    assert_eq!(
        answers(&mut run),
        [(2, 1, Some("not-remote"))],
        "the answer to the first order is not its own"
    );
}

#[test]
fn a_bluetooth_board_that_repeats_an_acknowledgement_does_not_settle_the_next_order() {
    let mut run = Run::new();
    run.policy.opened(ms(0), true);
    run.until(3000, answer);
    run.clock = [vec![(100, OK), (900, OK)], vec![(100, WRONG_MODE)]].into();
    run.order(1);
    run.until(3300, answer);
    assert_eq!(answers(&mut run), [(1, 1, None)]);
    run.order(2);
    run.until(20_000, answer);
    assert_eq!(answers(&mut run), [(2, 1, Some("not-remote"))]);
    assert!(run.ordered[1] >= run.ordered[0] + 1100);
}

#[test]
fn a_second_order_is_refused_while_one_is_under_way() {
    let mut run = with_clock(&[&[(300, OK)]]);
    run.order(2);
    run.until(20_000, answer);
    assert_eq!(answers(&mut run), [(2, 0, Some("busy")), (1, 1, None)]);
}

#[test]
fn the_cable_of_the_clock_is_pulled_in_the_middle() {
    let mut run = with_clock(&[&[(100, Clock::Absent)]]);
    run.until(20_000, answer);
    assert_eq!(answers(&mut run), [(1, 1, Some("no-clock"))]);
}

#[test]
fn the_board_goes_away_in_the_middle() {
    let mut run = with_clock(&[]);
    run.until(1500, answer);
    run.replug();
    assert_eq!(answers(&mut run), [(1, 1, Some("link-lost"))]);
    run.order(2);
    assert_eq!(answers(&mut run), [(2, 0, Some("link-lost"))], "it is not back yet");
    run.until(30_000, answer);
    assert_eq!(
        (run.ordered.len(), answers(&mut run)),
        (1, vec![]),
        "an old order is not sent to a board anew"
    );
}

#[test]
fn a_board_that_tells_squares_only_tells_the_clock_for_as_long_as_an_order_takes() {
    let mut run = Run::with(Options { updates: Updates::Board, ..Options::default() });
    run.until(3000, answer);
    run.sent.clear();
    run.clock = [vec![(700, OK)]].into();
    run.order(1);
    run.until(3600, answer);
    let asked = |run: &Run, command| run.commands().iter().filter(|sent| **sent == command).count();
    assert_eq!(asked(&run, Command::UpdateNice), 1);
    assert_eq!((asked(&run, Command::SendClock), asked(&run, Command::UpdateBoard)), (0, 0));
    run.until(4500, answer);
    assert_eq!(answers(&mut run), [(1, 1, None)]);
    assert_eq!(asked(&run, Command::UpdateBoard), 1);
    assert!(asked(&run, Command::SendClock) > 0);
}

#[test]
fn an_order_is_not_sent_when_its_times_are_old() {
    let mut run = Run::started();
    // Somebody gave it, and the thread could not fetch it for long.
    run.clock = [vec![(100, OK)]].into();
    run.policy.order(order(1), ms(0));
    run.until(20_000, answer);
    assert_eq!(answers(&mut run), [(1, 1, None)], "a second is nothing");
    run.policy.order(order(2), ms(14_000));
    run.until(40_000, answer);
    assert_eq!((answers(&mut run), run.ordered.len()), (vec![(2, 0, Some("not-sent"))], 1));
}
