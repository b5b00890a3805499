//! The policy against a board in virtual time.

mod orders;

use super::*;
use crate::wire::dgt::{
    Message,
    clock::{Clock, ClockState},
    message::{Battery, Dump, Reading},
    storage::{self, Entry, Mark},
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
        0x96 => Message::HardwareVersion(1, 0).encode(),
        0x8f => Message::StorageLog(storage::encode(&[Entry::Mark(Mark::End)])).encode(),
        0x93 => Message::Version(1, 2).encode(),
        0xa0 => Message::Battery(Battery { percent: 80, ..Battery::default() }).encode(),
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
    faults: Vec<Fault>,
    /// Faults that stand while the board is read, by their names, and where they ended.
    standing: Vec<&'static str>,
    /// Noise that was not passed on, and when that was told.
    withheld: Vec<(u64, u64)>,
    reopened: Vec<u64>,
    /// Answers on their way, with the time at which they arrive.
    coming: Vec<(u64, Vec<u8>)>,
    /// What the clock answers to each order, and after how many milliseconds.
    clock: VecDeque<Vec<(u64, Clock)>>,
    /// When it was sent one.
    ordered: Vec<u64>,
}

impl Run {
    fn new() -> Run {
        Run::with(Options::default())
    }

    fn with(options: Options) -> Run {
        let mut policy = Policy::new(options);
        policy.opened(ms(0), false);
        Run {
            policy,
            now: 0,
            sent: Vec::new(),
            down: Vec::new(),
            up: Vec::new(),
            faults: Vec::new(),
            standing: Vec::new(),
            withheld: Vec::new(),
            reopened: Vec::new(),
            coming: Vec::new(),
            clock: VecDeque::new(),
            ordered: Vec::new(),
        }
    }

    /// The cable is out for a second.
    fn replug(&mut self) {
        self.policy.closed();
        self.coming.clear();
        self.now += 1000;
        self.policy.opened(ms(self.now), false);
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
                    Action::SetClock(_) => {
                        self.ordered.push(self.now);
                        for (after, said) in self.clock.pop_front().unwrap_or_default() {
                            self.coming.push((self.now + after, Message::Clock(said).encode()));
                        }
                    }
                    Action::DiscardInput => self.coming.clear(),
                    Action::Down { fault, news } => {
                        self.faults.push(fault);
                        if news {
                            self.down.push(self.now);
                        }
                    }
                    Action::Stand(fault) => self.standing.push(fault.as_str()),
                    Action::Withheld(n) => self.withheld.push((self.now, n)),
                    Action::Settle => self.standing.push("settled"),
                    Action::Reopen => {
                        assert!(!self.policy.closed(), "told before");
                        self.reopened.push(self.now);
                        self.coming.clear();
                        self.policy.opened(ms(self.now), false);
                    }
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

const FIRST: [Command; 12] = [
    Command::Reset,
    Command::SendBoard,
    Command::UpdateNice,
    Command::SendClock,
    Command::SendBoard,
    Command::Version,
    Command::Serial,
    Command::Serial,
    Command::LongSerial,
    Command::Trademark,
    Command::HardwareVersion,
    Command::Battery,
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
        Command::SendBoard | Command::SendClock | Command::Serial => answer(command),
        _ => None,
    };
    run.until(20_000, old);
    assert_eq!(run.up, [105], "what it does not know is asked for later");
    assert_eq!(run.commands()[..10], FIRST[..10]);
    assert_eq!(run.commands()[11..13], [Command::UpdateNice, Command::Serial], "a sign of life in between");
    assert_eq!(run.commands()[14], Command::Battery);
    assert_eq!((run.up.len(), run.down.len()), (1, 0));
}

#[test]
fn a_board_that_gives_no_dump_is_down_and_tried_again() {
    let mut run = Run::new();
    run.until(3_000, |_| None);
    assert!(run.down.is_empty());
    run.until(20_000, |_| None);
    let dumps = run.commands().iter().filter(|command| **command == Command::SendBoard).count();
    assert!(dumps >= 6, "{:?}", run.sent);
    assert_eq!(run.down.len(), 1, "told once");
    assert_eq!(run.reopened.len(), 1, "and the port is opened again: {:?}", run.reopened);
    assert!(run.faults.iter().all(|fault| *fault == Fault::Silent), "{:?}", run.faults);
    run.sent.clear();
    run.until(40_000, answer);
    assert_eq!(run.up.len(), 1);
}

#[test]
fn what_is_no_board_is_told_so() {
    let mut run = Run::new();
    run.until(6_000, |_| Some(b"$GPGGA,120000,,,,,0\r\n".to_vec()));
    assert_eq!(run.faults, [Fault::NotDgt { first: b"$GPGGA,1".to_vec() }]);
    let text = run.faults[0].to_string();
    assert!(text.contains("24 47 50 47") && text.contains("/dev/serial/by-id"), "{text}");

    let mut run = Run::new();
    run.until(6_000, |command| if command == Command::SendBoard { None } else { Some(field()) });
    assert_eq!(run.faults, [Fault::Silent], "nothing was asked but the squares");

    let mut run = Run::new();
    run.until(6_000, |_| Some(vec![0x87, 0x00, 0x06, 0x08, 0x01, 0x16]));
    assert_eq!(run.faults, [Fault::Bus]);
    assert!(run.faults[0].to_string().contains("a bus of several boards is not supported"));
}

#[test]
fn two_boards_on_one_port_are_told_so() {
    let two = |command: Command| {
        let mut bytes = answer(command)?;
        if command == Command::Serial {
            bytes.extend(Message::Serial("01026".to_owned()).encode());
        }
        Some(bytes)
    };
    let mut run = Run::new();
    run.until(30_000, two);
    let several = Fault::Several("01025".to_owned(), "01026".to_owned());
    assert_eq!(run.faults, std::slice::from_ref(&several), "{:?}", run.sent);
    assert!(several.to_string().contains("01026"), "{several}");
    // Nothing of it is read, however long it lasts.
    assert_eq!((run.up.len(), run.down.len(), run.reopened.len()), (1, 1, 0));
    assert_eq!(run.policy.received(ms(30_000), &dump()), Received::Stale);
    // One of them is switched off for two requests: that may be chance.
    run.until(31_900, answer);
    run.until(40_000, two);
    assert_eq!((run.up.len(), run.faults.len()), (1, 1), "{:?}", run.sent);
    run.until(50_000, answer);
    assert_eq!((run.up.len(), run.faults.len()), (2, 1), "{:?}", run.sent);
    // Another cable is another question.
    run.until(100_000, two);
    assert_eq!((run.faults.len(), run.down.len()), (2, 2), "{:?}", run.sent);
    run.replug();
    run.until(run.now + 1000, answer);
    assert_eq!(run.up.len(), 3);
}

#[test]
fn a_slip_in_a_serial_number_is_no_second_board() {
    let mut run = Run::started();
    for second in 0..20u64 {
        let slip = format!("0102{}", second % 10);
        run.push(Message::Serial(slip).encode());
        let until = 2000 + 1000 * second;
        run.until(until, answer);
    }
    assert!(run.faults.is_empty() && run.down.is_empty(), "{:?}", run.faults);
}

#[test]
fn the_way_of_updates_is_the_one_that_was_chosen() {
    for (updates, command) in [
        (Updates::Nice, Command::UpdateNice),
        (Updates::Clock, Command::Update),
        (Updates::Board, Command::UpdateBoard),
    ] {
        let mut run = Run::with(Options { updates, ..Options::default() });
        run.until(10_000, answer);
        assert_eq!(run.commands()[2], command);
        let clocks = run.commands().iter().filter(|command| **command == Command::SendClock).count();
        assert_eq!(clocks > 5, updates == Updates::Board, "{:?}", run.sent);
        run.until(60_000, answer);
        let modes = run.commands().iter().filter(|sent| **sent == command).count();
        // With each sign of life, or where the clock is asked for, every five seconds.
        let expected = if updates == Updates::Board { 11..=13 } else { 18..=22 };
        assert!(expected.contains(&modes), "told again: {modes} {:?}", run.sent);
    }
}

#[test]
fn a_board_without_a_stream_of_the_clock_is_missed_as_well() {
    let mut run = Run::with(Options { updates: Updates::Board, ..Options::default() });
    run.until(5_000, answer);
    run.until(15_000, |_| None);
    assert_eq!(run.down.len(), 1, "{:?}", run.sent);
}

#[test]
fn the_battery_is_asked_for_now_and_then_where_there_is_one() {
    let mut run = Run::started();
    run.until(1_000_000, answer);
    assert_eq!(run.commands().iter().filter(|command| **command == Command::Battery).count(), 3);
    let mut run = Run::new();
    run.until(1_000_000, |command| answer(command).filter(|_| command != Command::Battery));
    assert_eq!(run.commands().iter().filter(|command| **command == Command::Battery).count(), 1);
}

/// A dump of the start position after some moves.
fn moved(squares: &[(Square, Square)]) -> Vec<u8> {
    let mut board = Board::new();
    for (from, to) in squares {
        let man = board.remove_piece_at(*from).unwrap();
        board.set_piece_at(*to, man);
    }
    Message::Board(Box::new(Dump::of(&board))).encode()
}

#[test]
fn the_memory_is_asked_for_when_more_than_a_move_was_missed() {
    let memory = Options { memory: true, ..Options::default() };
    let one = [(Square::E2, Square::E4)];
    let two = [(Square::E2, Square::E4), (Square::E7, Square::E5)];
    for (options, moves, wanted) in
        [(memory, &one[..], 0), (memory, &two[..], 1), (Options::default(), &two[..], 0)]
    {
        let mut run = Run::with(options);
        run.until(1000, answer);
        assert!(!run.commands().contains(&Command::StorageLog));
        run.replug();
        let board = |command| {
            if command == Command::SendBoard { Some(moved(moves)) } else { answer(command) }
        };
        run.until(5000, board);
        let asked = run.commands().iter().filter(|command| **command == Command::StorageLog).count();
        assert_eq!(asked, wanted, "{moves:?} {:?}", run.sent);
        assert_eq!(run.up.len(), 2);
    }
}

#[test]
fn the_memory_that_breaks_off_is_asked_for_twice_and_after_the_next_outage() {
    let memory = Options { memory: true, ..Options::default() };
    let two = [(Square::E2, Square::E4), (Square::E7, Square::E5)];
    let mut run = Run::with(memory);
    run.until(1000, answer);
    run.replug();
    let board = |command| match command {
        Command::SendBoard => Some(moved(&two)),
        Command::StorageLog => Some(vec![0x8f, 0x01, 0x00, 0x40]),
        _ => answer(command),
    };
    run.until(30_000, board);
    let asked = |run: &Run| run.commands().iter().filter(|command| **command == Command::StorageLog).count();
    assert_eq!(asked(&run), 2, "{:?}", run.sent);
    assert!(run.down.is_empty(), "closed by hand, never by the policy");
}

#[test]
fn a_game_that_goes_on_asks_for_the_memory_where_it_missed_something() {
    let moves = [(Square::E2, Square::E4), (Square::E7, Square::E5)];
    for (board, wanted) in [(dump(), 0), (moved(&moves), 1)] {
        let mut resumed = [Reading::Empty; 64];
        for (square, man) in Board::new() {
            resumed[usize::from(square)] = Reading::Man(man);
        }
        let mut run = Run::with(Options { memory: true, resumed: Some(resumed), ..Options::default() });
        let shows = |command| {
            if command == Command::SendBoard { Some(board.clone()) } else { answer(command) }
        };
        run.until(20_000, shows);
        let asked = run.commands().iter().filter(|command| **command == Command::StorageLog).count();
        assert_eq!(asked, wanted, "{:?}", run.sent);
    }
}

#[test]
fn a_quiet_line_is_asked_for_life() {
    let mut run = Run::started();
    run.until(20_000, answer);
    // Its mode may be lost, and what it would have told with it.
    let round = [Command::UpdateNice, Command::Serial, Command::SendBoard];
    assert!(run.commands().chunks(3).all(|sent| sent == round), "{:?}", run.sent);
    assert!((5..=7).contains(&(run.sent.len() / 3)), "{:?}", run.sent);
}

#[test]
fn no_life_within_two_seconds_starts_again() {
    let mut run = Run::started();
    run.until(4_500, |_| None);
    assert_eq!(run.commands(), [Command::UpdateNice, Command::Serial]);
    assert!(run.down.is_empty());
    run.until(9_000, answer);
    assert_eq!(run.down.len(), 1);
    assert_eq!(run.commands()[2..7], AGAIN);
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
    // A clock that runs: the line is never quiet.
    while run.now < 40_000 {
        run.push(Message::Clock(Clock::State(ClockState::default())).encode());
        let until = run.now + 1000;
        run.until(until, answer);
    }
    assert_eq!(run.commands(), [Command::UpdateNice, Command::SendBoard]);
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
    let mut policy = Policy::new(Options::default());
    assert_eq!(policy.received(ms(0), &field()), Received::Stale);
    policy.opened(ms(0), false);
    assert_eq!(policy.poll(ms(0)), Some(Action::DiscardInput));
    assert_eq!(policy.poll(ms(0)), Some(Action::Send(Command::Reset)));
    assert_eq!(policy.poll(ms(0)), None);
    assert_eq!(policy.received(ms(50), &dump()), Received::Stale);
    assert_eq!(policy.poll(ms(100)), Some(Action::DiscardInput));
    assert_eq!(policy.poll(ms(100)), Some(Action::Send(Command::SendBoard)));
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
    let mut policy = Policy::new(Options::default());
    assert!(policy.closed(), "never seen: down");
    assert!(!policy.closed());
    policy.opened(ms(0), false);
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

/// A board with another serial number.
fn other(command: Command) -> Option<Vec<u8>> {
    match command {
        Command::Serial => Some(Message::Serial("20777".to_owned()).encode()),
        _ => answer(command),
    }
}

#[test]
fn another_board_than_at_first_stands_as_a_trouble_until_the_first_is_back() {
    let mut run = Run::started();
    run.replug();
    run.until(5_000, other);
    assert_eq!((run.up.len(), run.standing.as_slice()), (2, &["other-board"][..]));
    run.until(60_000, other);
    assert_eq!(run.standing.len(), 1, "told once");
    // It falls silent and comes back: the link is new, and so the trouble is told anew.
    run.until(70_000, |_| None);
    run.until(80_000, other);
    assert_eq!(run.standing, ["other-board"; 2]);
    run.replug();
    run.until(run.now + 2_000, answer);
    assert_eq!(run.standing, ["other-board", "other-board", "settled"]);
    // Behind an adapter that stays in its socket, too.
    run.until(run.now + 20_000, other);
    assert_eq!(run.standing[3..], ["other-board"]);
    let fault = Fault::Other { expected: "01025".to_owned(), found: "20777".to_owned() }.to_string();
    assert!(fault.contains("20777") && fault.contains("01025") && fault.contains('`'), "{fault}");
}

#[test]
fn one_slip_in_a_serial_number_is_no_other_board() {
    let mut run = Run::started();
    for _ in 0..10 {
        let until = run.now + 5_000;
        run.until(until, answer);
        run.push(Message::Serial("01035".to_owned()).encode());
    }
    assert!(run.standing.is_empty(), "{:?}", run.standing);
}

#[test]
fn a_board_that_forgot_its_mode_streams_again_within_four_seconds() {
    use std::cell::Cell;
    for updates in [Updates::Nice, Updates::Clock, Updates::Board] {
        let mut run = Run::with(Options { updates, ..Options::default() });
        run.until(2_000, answer);
        // It lost its power and is back, in no mode.
        let (streams, dumped) = (Cell::new(false), Cell::new(false));
        let board = |command: Command| {
            streams.set(streams.get() || command == updates.command());
            dumped.set(dumped.get() || streams.get() && command == Command::SendBoard);
            answer(command)
        };
        let limit = if updates == Updates::Board { 6_000 } else { 4_000 };
        run.until(2_000 + limit, board);
        assert!(streams.get() && dumped.get(), "{updates:?}: {:?}", run.sent);
        assert!(run.down.is_empty());
    }
}

#[test]
fn a_device_that_sends_only_noise_leaves_little_behind() {
    let noise = b"$GPGGA,120000,,,,,0\r\n".repeat(40);
    let mut run = Run::new();
    let mut passed = 0;
    while run.now < 600_000 {
        let until = run.now + 100;
        run.until(until, |_| None);
        if run.policy.received(ms(run.now), &noise) != Received::Stale {
            passed += run.policy.take_rationed().map_or(noise.len(), |kept| kept.len());
        }
    }
    assert_eq!(run.faults.first().map(Fault::as_str), Some("not-dgt"));
    assert!(passed < 6000, "{passed}");
    assert!((9..=11).contains(&run.withheld.len()), "told once a minute: {:?}", run.withheld);
    // A board that sends noise between its messages is read.
    let mut bytes = noise.clone();
    bytes.extend(dump());
    run.until(
        run.now + 3000,
        |command| if command == Command::SendBoard { Some(bytes.clone()) } else { None },
    );
    assert_eq!(run.up.len(), 1);
    assert!(run.policy.take_rationed().is_none_or(|kept| kept.is_empty() || kept == dump()));
}
