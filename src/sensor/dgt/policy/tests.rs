//! The policy against a board in virtual time.

use super::*;
use crate::wire::dgt::{
    Message,
    clock::{Clock, ClockState},
    message::{Dump, Reading},
};
use proptest::prelude::*;
use shakmaty::{Board, Square};

fn ms(ms: u64) -> MonoTime {
    MonoTime::from_micros(1_000_000).plus_ms(ms)
}

fn dump() -> Vec<u8> {
    Message::Board(Box::new(Dump::of(&Board::new()))).encode()
}

fn field() -> Vec<u8> {
    Message::Field { square: Square::E2, reading: Reading::Empty }.encode()
}

/// What a complete board answers.
fn answer(command: Command) -> Option<Vec<u8>> {
    Some(match command.answer()? {
        0x86 => dump(),
        0x8d => Message::Clock(Clock::State(ClockState::default())).encode(),
        0x91 => Message::Serial("01025".to_owned()).encode(),
        0x92 => Message::Trademark("a board".to_owned()).encode(),
        0x93 => Message::Version(1, 2).encode(),
        0xa2 => Message::LongSerial("3000001025".to_owned()).encode(),
        _ => return None,
    })
}

/// A run of the policy: what it did and when, in milliseconds after the start.
struct Run {
    policy: Policy,
    now: u64,
    sent: Vec<(u64, Command)>,
    down: Vec<u64>,
    up: Vec<u64>,
    /// Answers on their way, with the time at which they arrive.
    coming: Vec<(u64, Vec<u8>)>,
}

impl Run {
    fn new() -> Run {
        let mut policy = Policy::new();
        policy.opened(ms(0));
        Run { policy, now: 0, sent: Vec::new(), down: Vec::new(), up: Vec::new(), coming: Vec::new() }
    }

    /// Lets time pass up to `until`; `board` answers 5 ms after each command.
    fn until(&mut self, until: u64, board: impl Fn(Command) -> Option<Vec<u8>>) {
        while self.now <= until {
            self.coming.sort_by_key(|(at, _)| *at);
            while self.coming.first().is_some_and(|(at, _)| *at <= self.now) {
                let (_, bytes) = self.coming.remove(0);
                if self.policy.received(ms(self.now), &bytes) == Received::LinkUp {
                    self.up.push(self.now);
                }
            }
            while let Some(action) = self.policy.poll(ms(self.now)) {
                match action {
                    Action::Send(command) => {
                        self.sent.push((self.now, command));
                        if let Some(bytes) = board(command) {
                            self.coming.push((self.now + 5, bytes));
                        }
                    }
                    Action::DiscardInput => self.coming.clear(),
                    Action::LinkDown => self.down.push(self.now),
                }
            }
            let next = self.policy.deadline().map_or(u64::MAX, |d| d.since(ms(0)).div_ceil(1000));
            let bytes = self.coming.iter().map(|(at, _)| *at).min().unwrap_or(u64::MAX);
            let soon = next.min(bytes);
            if soon > until {
                break;
            }
            assert!(soon > self.now, "the policy waits for a time that is over: {soon} at {}", self.now);
            self.now = soon;
        }
        self.now = until;
    }

    fn commands(&self) -> Vec<Command> {
        self.sent.iter().map(|(_, command)| *command).collect()
    }

    fn started() -> Run {
        let mut run = Run::new();
        run.until(1000, answer);
        run.sent.clear();
        run
    }

    fn push(&mut self, bytes: Vec<u8>) {
        self.coming.push((self.now, bytes));
    }
}

const FIRST: [Command; 9] = [
    Command::Reset,
    Command::Version,
    Command::Serial,
    Command::LongSerial,
    Command::Trademark,
    Command::SendBoard,
    Command::UpdateNice,
    Command::SendClock,
    Command::SendBoard,
];

const AGAIN: [Command; 5] =
    [Command::Reset, Command::SendBoard, Command::UpdateNice, Command::SendClock, Command::SendBoard];

#[test]
fn the_start_asks_one_thing_after_the_other() {
    let mut run = Run::new();
    run.until(1000, answer);
    assert_eq!(run.commands(), FIRST);
    assert_eq!((run.up.len(), run.down.len()), (1, 0));
}

#[test]
fn an_old_board_that_knows_no_identity_is_used_all_the_same() {
    let mut run = Run::new();
    let old = |command| match command {
        Command::SendBoard | Command::SendClock => answer(command),
        _ => None,
    };
    run.until(6000, old);
    assert_eq!(run.commands()[..9], FIRST);
    assert_eq!((run.up.len(), run.down.len()), (1, 0));
}

#[test]
fn a_board_that_gives_no_dump_is_down_and_tried_again() {
    let mut run = Run::new();
    run.until(4_000, |_| None);
    assert!(run.down.is_empty());
    run.until(20_000, |_| None);
    let dumps = run.commands().iter().filter(|command| **command == Command::SendBoard).count();
    assert!(dumps >= 6, "{:?}", run.sent);
    assert_eq!(run.down.len(), 1, "told once");
    run.sent.clear();
    run.until(40_000, answer);
    assert_eq!(run.up.len(), 1);
}

#[test]
fn a_quiet_line_is_asked_for_life() {
    let mut run = Run::started();
    run.until(20_000, answer);
    assert!(run.commands().iter().all(|command| *command == Command::Serial), "{:?}", run.sent);
    assert!((5..=7).contains(&run.sent.len()), "{:?}", run.sent);
}

#[test]
fn no_life_within_two_seconds_starts_again() {
    let mut run = Run::started();
    run.until(4_500, |_| None);
    assert_eq!(run.commands(), [Command::Serial]);
    assert!(run.down.is_empty());
    run.until(9_000, answer);
    assert_eq!(run.down.len(), 1);
    assert_eq!(run.commands()[1..6], AGAIN);
    assert_eq!(run.up.len(), 2);
}

#[test]
fn one_dump_follows_the_last_update_of_a_move() {
    let mut run = Run::started();
    run.until(1100, answer);
    run.push(field());
    run.until(1350, answer);
    run.push(field());
    run.until(1640, answer);
    assert!(run.sent.is_empty());
    run.until(3000, answer);
    assert_eq!(run.sent, [(1650, Command::SendBoard)]);
}

#[test]
fn a_lost_byte_asks_for_a_dump_at_once() {
    let mut run = Run::started();
    run.until(2000, answer);
    let mut torn = field();
    torn.pop();
    torn.extend(field());
    run.push(torn);
    run.until(2001, answer);
    assert_eq!(run.sent, [(2000, Command::SendBoard)]);
    run.until(4000, answer);
    assert_eq!(run.sent[1..], [(2300, Command::SendBoard)], "and when the updates have settled");
}

#[test]
fn a_message_that_is_never_finished_counts_as_lost() {
    let mut run = Run::started();
    run.until(2000, answer);
    run.push(vec![0x8e, 0x00]);
    run.until(2400, answer);
    assert_eq!(run.sent, [(2300, Command::SendBoard)]);
}

#[test]
fn a_dump_without_answer_is_asked_for_again_and_then_the_board_is_down() {
    let mut run = Run::started();
    run.until(2000, answer);
    run.push(field());
    run.until(5200, |_| None);
    assert_eq!(
        run.sent,
        [(2300, Command::SendBoard), (3300, Command::SendBoard), (4300, Command::SendBoard)]
    );
    run.until(5400, answer);
    assert_eq!(run.down, [5300]);
}

#[test]
fn the_mode_is_told_again_when_nothing_moved_for_long() {
    let mut run = Run::started();
    run.until(40_000, answer);
    let commands = run.commands();
    let at = commands.iter().position(|command| *command == Command::UpdateNice).unwrap();
    assert_eq!(commands[at + 1], Command::SendBoard);
}

#[test]
fn a_download_of_the_storage_log_is_waited_for() {
    let mut run = Run::started();
    run.until(2000, answer);
    run.push(field());
    run.until(2299, answer);
    // 8 seconds of log while the dump is asked for; the answer comes behind it.
    run.push(vec![0x8f, 0x3e, 0x03]);
    for _ in 0..16 {
        run.push(vec![0x7f; 496]);
        let until = run.now + 500;
        run.until(until, |_| None);
    }
    run.push(dump());
    run.until(11_000, answer);
    assert!(run.down.is_empty());
    assert_eq!(run.sent[0], (2300, Command::SendBoard));
}

#[test]
fn what_is_left_over_from_before_the_start_is_not_passed_on() {
    let mut policy = Policy::new();
    assert_eq!(policy.received(ms(0), &field()), Received::Stale);
    policy.opened(ms(0));
    assert_eq!(policy.poll(ms(0)), Some(Action::DiscardInput));
    assert_eq!(policy.poll(ms(0)), Some(Action::Send(Command::Reset)));
    assert_eq!(policy.poll(ms(0)), None);
    assert_eq!(policy.received(ms(50), &dump()), Received::Stale);
    assert_eq!(policy.poll(ms(100)), Some(Action::DiscardInput));
    assert_eq!(policy.poll(ms(100)), Some(Action::Send(Command::Version)));
    assert_eq!(policy.received(ms(101), &field()), Received::Keep);
}

#[test]
fn a_garbled_dump_at_the_end_of_the_start_is_asked_for_again() {
    let mut run = Run::new();
    run.until(150, answer);
    assert_eq!(run.commands().last(), Some(&Command::UpdateNice));
    run.until(1200, |command| {
        let mut bytes = answer(command)?;
        if command == Command::SendBoard {
            bytes.remove(30);
        }
        Some(bytes)
    });
    run.until(3000, answer);
    let dumps = run.commands().iter().filter(|command| **command == Command::SendBoard).count();
    assert_eq!(dumps, 3, "{:?}", run.sent);
    assert!(run.down.is_empty());
}

#[test]
fn a_closed_port_is_news_once() {
    let mut policy = Policy::new();
    assert!(policy.closed(), "never seen: down");
    assert!(!policy.closed());
    policy.opened(ms(0));
    assert!(!policy.closed());
}

proptest! {
    #[test]
    fn the_input_buffer_of_the_board_never_overflows(
        rest in proptest::collection::vec((1u64..700, 0u8..4, any::<u8>()), 1..60),
        alive in proptest::collection::vec(any::<bool>(), 60),
    ) {
        let mut run = Run::new();
        for ((wait, kind, noise), alive) in rest.into_iter().zip(alive) {
            match kind {
                0 => run.push(field()),
                1 => run.push(vec![noise; 3]),
                2 => run.push(dump()),
                _ => {}
            }
            let until = run.now + wait;
            run.until(until, |command| answer(command).filter(|_| alive));
        }
        for (at, _) in &run.sent {
            let near = run.sent.iter().filter(|(other, _)| (*at..*at + 50).contains(other)).count();
            prop_assert!(near <= 10, "{} commands from {} ms on: {:?}", near, at, run.sent);
        }
        for pair in run.sent.windows(2) {
            let [(_, first), (_, second)] = pair else { unreachable!() };
            prop_assert!(first != second || *first != Command::UpdateNice);
        }
        let forbidden = [Command::ToBusMode, Command::StorageLog, Command::Update];
        prop_assert!(run.commands().iter().all(|command| !forbidden.contains(command)));
    }
}
