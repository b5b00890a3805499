use super::*;
use touchmoved_peg::{Board, Holes, Identity, Key, Settings, Side};

const START: u64 = 0xffff_0000_0000_ffff;
const E2: u64 = 1 << 12;
const E4: u64 = 1 << 28;
const KEYS: [Key<'static>; 2] = [Key::Press(Side::White), Key::Button("draw-offer-white")];

/// A policy with the reference firmware at the other end, without a wire in between.
struct Desk {
    policy: Policy,
    board: Option<Board<'static>>,
    holes: u64,
    keys: u32,
    /// When the board started.
    started_ms: u64,
    ms: u64,
    /// What is done to the bytes of the board on their way.
    wire: fn(Vec<u8>) -> Vec<u8>,
    hears: bool,
    said: Vec<Action>,
}

fn board() -> Board<'static> {
    let identity = Identity { firmware: "reference", version: "0.1.0", serial: "PB0007" };
    Board::new(identity, Settings::default(), &KEYS)
}

impl Desk {
    fn new() -> Desk {
        let mut policy = Policy::new();
        policy.opened(MonoTime::ZERO);
        Desk {
            policy,
            board: Some(board()),
            holes: START,
            keys: 0,
            started_ms: 0,
            ms: 0,
            wire: |bytes| bytes,
            hears: true,
            said: Vec::new(),
        }
    }

    /// A desk whose board is read.
    fn up() -> Desk {
        let mut desk = Desk::new();
        desk.run(50);
        assert!(desk.policy.is_up());
        desk.said.clear();
        desk
    }

    /// Does what the policy wants at this moment.
    fn act(&mut self) {
        let at = MonoTime::ZERO.plus_ms(self.ms);
        while let Some(action) = self.policy.poll(at) {
            if let (Action::Send(request), Some(board), true) = (&action, &mut self.board, self.hears) {
                request.bytes().iter().for_each(|byte| board.receive(*byte));
            }
            self.said.push(action);
        }
        assert!(self.policy.deadline().is_none_or(|deadline| deadline > at));
    }

    /// Lets time pass.
    fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            self.act();
            self.ms += 1;
            let at = MonoTime::ZERO.plus_ms(self.ms);
            let mut bytes = Vec::new();
            if let Some(board) = &mut self.board {
                let now = u32::try_from(self.ms - self.started_ms).unwrap();
                board.scan(now, Holes::of(self.holes), self.keys);
                while let Some(line) = board.next_line(now) {
                    bytes.extend(line.as_bytes());
                }
            }
            let bytes = (self.wire)(bytes);
            if bytes.is_empty() {
                self.policy.nothing(at);
            } else {
                self.policy.received(at, &bytes, true);
            }
            self.act();
        }
    }

    fn restart_board(&mut self) {
        self.board = Some(board());
        self.started_ms = self.ms;
    }

    /// What was handed on, in short: events as they are, lines by their body.
    fn handed(&self) -> Vec<String> {
        let short = |action: &Action| match action {
            Action::Hand(_, Input::Peg(_, line)) => Some(line.split('*').next().unwrap().to_owned()),
            Action::Hand(_, Input::Event(_, Event::Device(value))) => {
                Some(value.get("what")?.as_str()?.to_owned())
            }
            Action::Complain(_, complaint) => Some(complaint.as_str().to_owned()),
            Action::Hand(_, Input::Event(_, event)) => Some(format!("{event:?}")),
            _ => None,
        };
        self.said.iter().filter_map(short).collect()
    }

    fn asked(&self) -> Vec<Request> {
        let request =
            |action: &Action| if let Action::Send(request) = action { Some(*request) } else { None };
        self.said.iter().filter_map(request).collect()
    }

    fn complaints(&self) -> Vec<Complaint> {
        let complaint = |action: &Action| {
            if let Action::Complain(_, complaint) = action { Some(complaint.clone()) } else { None }
        };
        self.said.iter().filter_map(complaint).collect()
    }
}

const HELLO: &str =
    "proto=1,firmware=reference,version=0.1.0,serial=PB0007,close=5,open=15,beat=1000,half=no";

#[test]
fn a_board_is_met_and_then_only_news_is_passed_on() {
    let mut desk = Desk::new();
    desk.run(3500);
    let hello = desk.handed()[1].clone();
    assert!(hello.starts_with("$HELLO,") && hello.ends_with(HELLO), "{hello}");
    assert_eq!(desk.handed()[0], "Link(true)");
    assert!(desk.handed()[2].ends_with(",ffff00000000ffff"));
    assert_eq!((desk.handed().len(), desk.asked()), (3, vec![Request::Hello]), "heartbeats are no news");
    desk.said.clear();
    desk.holes ^= E2;
    desk.run(100);
    desk.holes ^= E4;
    desk.keys = 3;
    desk.run(100);
    let bodies: Vec<String> =
        desk.handed().iter().map(|line| line.rsplit(',').next().unwrap().to_owned()).collect();
    assert_eq!(bodies, ["out", "in", "white", "draw-offer-white"]);
    assert_eq!(desk.asked(), []);
}

#[test]
fn lost_lines_make_the_host_ask_and_what_they_told_is_seen() {
    let mut desk = Desk::up();
    desk.holes ^= E2;
    // The line is damaged on its way.
    desk.wire = |mut bytes| {
        if !bytes.is_empty() {
            bytes.remove(3);
        }
        bytes
    };
    desk.run(16);
    desk.wire = |bytes| bytes;
    desk.run(10);
    let handed = desk.handed();
    assert_eq!(handed[..3], ["garbled-bytes", "lost-lines", "snapshot-after-loss"], "{handed:?}");
    assert!(handed[3].starts_with("$BOARD,") && handed[3].ends_with(",ffff00000000efff"), "{handed:?}");
    assert_eq!((handed.len(), desk.asked()), (4, vec![Request::Board]));
}

#[test]
fn a_line_that_is_lost_without_a_trace_is_missed_at_the_next_one() {
    let mut desk = Desk::up();
    desk.holes ^= E2;
    desk.wire = |_| Vec::new();
    desk.run(20);
    desk.wire = |bytes| bytes;
    desk.holes ^= E4;
    desk.run(20);
    let handed = desk.handed();
    assert_eq!(handed[0], "lost-lines");
    assert!(handed[1].ends_with(",e4,in") && handed[2] == "snapshot-after-loss", "{handed:?}");
    assert!(handed[3].ends_with(",ffff00001000efff"), "{handed:?}");
}

#[test]
fn a_heartbeat_heals_a_board_that_does_not_hear() {
    let mut desk = Desk::up();
    desk.hears = false;
    desk.holes ^= E2;
    desk.wire = |_| Vec::new();
    desk.run(20);
    desk.wire = |bytes| bytes;
    desk.run(1000);
    let handed = desk.handed();
    assert_eq!(handed[..2], ["lost-lines", "snapshot-after-loss"], "{handed:?}");
    assert!(handed[2].starts_with("$BEAT,"), "{handed:?}");
}

#[test]
fn noise_is_told_and_makes_nothing() {
    let mut desk = Desk::up();
    desk.wire = |mut bytes| {
        bytes.extend(b"\x00\xff$PEG,9,9,e2,out*000000\r\n");
        bytes
    };
    desk.run(1);
    desk.wire = |bytes| bytes;
    desk.run(2000);
    assert_eq!(desk.handed(), ["garbled-bytes"]);
    assert_eq!(desk.asked(), [Request::Board]);
}

#[test]
fn a_restart_is_a_link_that_went_and_came() {
    let mut desk = Desk::up();
    desk.run(500);
    desk.holes ^= E2;
    desk.restart_board();
    desk.run(10);
    let handed = desk.handed();
    assert_eq!(handed[..4], ["restarted", "Link(false)", "Link(true)", "gap"], "{handed:?}");
    assert!(handed[4].starts_with("$HELLO,0,") && handed[5].ends_with(",ffff00000000efff"), "{handed:?}");
}

#[test]
fn a_board_that_restarts_again_and_again_is_down_every_five_seconds_at_most_and_read_in_between() {
    use touchmoved_peg::Fault;
    let mut desk = Desk::up();
    for n in 0..60 {
        if n == 30 {
            desk.holes = START ^ E2 ^ E4;
        }
        desk.restart_board();
        desk.run(50);
        desk.board.as_mut().unwrap().report(Fault::Sensor);
        desk.run(50);
    }
    let handed = desk.handed();
    let count = |what: &str| handed.iter().filter(|handed| *handed == what).count();
    assert_eq!((count("restarted"), count("Link(false)"), count("Link(true)")), (60, 2, 2), "{handed:?}");
    assert_eq!(desk.complaints(), [Complaint::Sensor, Complaint::Sensor]);
    assert!(handed.iter().any(|line| line.ends_with(",ffff00001000efff")), "{handed:?}");
    // Restarted once more, it sees; the trouble ends when it has kept calm.
    let settled =
        |desk: &Desk| desk.said.iter().filter(|action| matches!(action, Action::Settle(..))).count();
    desk.restart_board();
    desk.run(1000);
    assert_eq!(settled(&desk), 0);
    desk.run(sight::CALM_MS);
    assert_eq!(settled(&desk), 1);
}

#[test]
fn a_restart_whose_hello_was_lost_is_noticed() {
    let mut desk = Desk::up();
    desk.run(2500);
    desk.wire = |_| Vec::new();
    desk.restart_board();
    desk.run(1);
    desk.wire = |bytes| bytes;
    desk.run(1100);
    let handed = desk.handed();
    assert_eq!(handed[..3], ["restarted", "Link(false)", "Link(true)"], "{handed:?}");
    assert!(desk.policy.is_up());
}

#[test]
fn a_board_that_falls_silent_is_down_until_it_answers() {
    let mut desk = Desk::up();
    let board = desk.board.take();
    desk.run(3600);
    assert_eq!(desk.complaints(), [Complaint::Silent]);
    assert_eq!(desk.handed(), ["silent", "Link(false)"]);
    desk.run(20_000);
    assert_eq!(desk.complaints().len(), 1, "told once");
    desk.said.clear();
    desk.board = board;
    desk.run(3000);
    assert_eq!(desk.handed()[0], "Link(true)");
}

#[test]
fn each_wrong_device_has_its_own_words() {
    let mut silent = Desk::new();
    silent.board = None;
    silent.run(4100);
    assert_eq!(silent.complaints(), [Complaint::Silent]);

    // A DGT board that streams, or a wrong speed.
    let mut foreign = Desk::new();
    foreign.wire = |_| vec![0x8e, 0x00, 0x05, 0x34, 0x00];
    foreign.run(4100);
    assert_eq!(foreign.complaints(), [Complaint::Unreadable]);
    assert_eq!(foreign.handed().last().unwrap(), "Link(false)");

    let mut deaf = Desk::new();
    deaf.hears = false;
    deaf.wire = |bytes| if bytes.starts_with(b"$HELLO") { Vec::new() } else { bytes };
    deaf.run(4100);
    assert_eq!(deaf.complaints(), [Complaint::NoHello]);

    let mut newer = Desk::new();
    newer.wire = |bytes| {
        if bytes.starts_with(b"$HELLO") { b"$HELLO,0,5,proto=2,name=x*1829A0\r\n".to_vec() } else { bytes }
    };
    newer.run(100);
    assert_eq!(newer.complaints(), [Complaint::Version { theirs: 2 }]);
    let text = newer.complaints()[0].to_string();
    assert!(text.contains("version 2") && text.contains("update this program"), "{text}");
    newer.run(5000);
    assert_eq!(newer.complaints().len(), 1);
    assert!(!newer.policy.is_up());
}

#[test]
fn a_port_that_goes_takes_the_link_with_it() {
    let mut desk = Desk::up();
    desk.policy.closed(MonoTime::ZERO.plus_ms(99));
    let at = MonoTime::ZERO.plus_ms(99);
    assert_eq!(desk.policy.poll(at), Some(Action::Hand(at, Event::Link(false).into())));
    assert_eq!(desk.policy.poll(at), None);
    desk.policy.received(at, b"$", true);
    assert_eq!((desk.policy.poll(at), desk.policy.deadline()), (None, None));
    desk.policy.closed(at);
    assert_eq!(desk.policy.poll(at), None, "told once");
    desk.policy.opened(at);
    desk.ms = 99;
    desk.run(10);
    assert!(desk.policy.is_up());
}

#[test]
fn an_outage_is_told_with_its_length_and_another_board_is_named() {
    let mut desk = Desk::up();
    let at = MonoTime::ZERO.plus_ms(desk.ms);
    desk.policy.closed(at);
    desk.policy.closed(at.plus_ms(900));
    desk.ms += 1990;
    let identity = Identity { firmware: "reference", version: "0.1.0", serial: "PB0008" };
    desk.board = Some(Board::new(identity, Settings::default(), &KEYS));
    desk.started_ms = desk.ms;
    desk.policy.opened(MonoTime::ZERO.plus_ms(desk.ms));
    desk.run(20);
    let notes: Vec<&serde_json::Value> = desk
        .said
        .iter()
        .filter_map(|action| match action {
            Action::Hand(_, Input::Event(_, Event::Device(note))) => Some(note),
            _ => None,
        })
        .collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    let gap = notes[0]["gap_ms"].as_u64().unwrap();
    assert!(notes[0]["what"] == "gap" && (1990..=2010).contains(&gap), "{notes:?}");
    let other = Complaint::OtherBoard { expected: "PB0007".to_owned(), found: "PB0008".to_owned() };
    assert_eq!(desk.complaints(), std::slice::from_ref(&other));
    assert!(other.to_string().contains("it was PB0007 before") && other.to_string().contains('`'), "{other}");
    // What the second board shows is told as it is.
    let handed = desk.handed();
    assert!(handed[handed.len() - 2].ends_with(",ffff00000000ffff"), "{handed:?}");
    assert!(desk.policy.is_up());
    // The first one is back.
    desk.policy.closed(MonoTime::ZERO.plus_ms(desk.ms));
    desk.restart_board();
    desk.policy.opened(MonoTime::ZERO.plus_ms(desk.ms));
    desk.said.clear();
    desk.run(20);
    assert!(desk.complaints().is_empty());
    assert!(desk.said.iter().any(|action| matches!(action, Action::Settle(_, gone) if *gone == other)));
}

#[test]
fn lines_that_waited_together_have_their_own_times() {
    let mut desk = Desk::up();
    let mut bytes = Vec::new();
    let board = desk.board.as_mut().unwrap();
    for (ms, holes) in [(100, START ^ E2), (120, START ^ E2), (400, START ^ E2 ^ E4), (410, START ^ E2 ^ E4)]
    {
        board.scan(ms, Holes::of(holes), 0);
        while let Some(line) = board.next_line(ms) {
            bytes.extend(line.as_bytes());
        }
    }
    let at = MonoTime::ZERO.plus_ms(700);
    desk.policy.received(at, &bytes, true);
    let mut stamps = Vec::new();
    while let Some(action) = desk.policy.poll(at) {
        if let Action::Hand(at, Input::Peg(..)) = action {
            stamps.push(at.as_micros() / 1000);
        }
    }
    assert_eq!(stamps, [700 - (410 - 120), 700]);
}

#[test]
fn a_board_that_does_not_see_its_holes_is_read_and_in_trouble_until_it_says_otherwise() {
    use touchmoved_peg::Fault;
    let settled =
        |desk: &Desk| desk.said.iter().filter(|action| matches!(action, Action::Settle(..))).count();
    let mut desk = Desk::up();
    for _ in 0..2 {
        desk.board.as_mut().unwrap().report(Fault::Sensor);
        desk.run(1500);
    }
    assert_eq!(desk.complaints(), [Complaint::Sensor], "told once; heartbeats do not end it");
    let handed = desk.handed();
    assert!(handed[0].starts_with("$FAULT,") && handed[1..] == ["sensor"], "{handed:?}");
    assert!(desk.policy.is_up());
    // The port is opened anew: the board says it again.
    desk.policy.closed(MonoTime::ZERO.plus_ms(desk.ms));
    desk.policy.opened(MonoTime::ZERO.plus_ms(desk.ms));
    desk.said.clear();
    desk.run(100);
    let handed = desk.handed();
    assert_eq!(handed.iter().filter(|what| *what == "Link(true)").count(), 1);
    assert_eq!((handed.last().unwrap().as_str(), settled(&desk)), ("sensor", 0), "{handed:?}");
    desk.board.as_mut().unwrap().report(Fault::SensorOk);
    desk.run(100);
    assert_eq!(settled(&desk), 1);
    desk.policy.closed(MonoTime::ZERO.plus_ms(desk.ms));
    desk.policy.opened(MonoTime::ZERO.plus_ms(desk.ms));
    desk.said.clear();
    desk.run(100);
    assert_eq!((desk.complaints(), settled(&desk)), (vec![], 0));
}

#[test]
fn a_board_that_cannot_make_up_its_mind_is_told_twice_and_then_when_it_is_calm() {
    use touchmoved_peg::Fault;
    let flutter = |desk: &mut Desk| {
        for _ in 0..150 {
            desk.board.as_mut().unwrap().report(Fault::Sensor);
            desk.run(20);
            desk.board.as_mut().unwrap().report(Fault::SensorOk);
            desk.run(20);
        }
    };
    let settled =
        |desk: &Desk| desk.said.iter().filter(|action| matches!(action, Action::Settle(..))).count();
    let mut desk = Desk::up();
    flutter(&mut desk);
    assert_eq!((desk.complaints().len(), settled(&desk)), (2, 1), "the second trouble stands");
    desk.run(sight::CALM_MS + 100);
    assert_eq!((desk.complaints().len(), settled(&desk)), (2, 2));
    let again = |action: &Action| match action {
        Action::Hand(_, Input::Event(_, Event::Device(note))) if note["what"] == "sensor-again" => {
            note["n"].as_u64()
        }
        _ => None,
    };
    assert_eq!(desk.said.iter().filter_map(again).collect::<Vec<_>>(), [148]);
    // A trouble that stays is told at once.
    desk.board.as_mut().unwrap().report(Fault::Sensor);
    desk.run(20);
    assert_eq!(desk.complaints().len(), 3);
}

/// Bytes of the next lines of the board, each as one text.
fn said_by(desk: &mut Desk, ms: u64) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for _ in 0..ms {
        desk.ms += 1;
        let now = u32::try_from(desk.ms - desk.started_ms).unwrap();
        let board = desk.board.as_mut().unwrap();
        board.scan(now, Holes::of(desk.holes), desk.keys);
        while let Some(line) = board.next_line(now) {
            all.push(line.as_bytes().to_vec());
        }
    }
    all
}

fn notes(desk: &Desk) -> Vec<(String, u64)> {
    desk.said
        .iter()
        .filter_map(|action| match action {
            Action::Hand(_, Input::Event(_, Event::Device(note))) => {
                Some((note["what"].as_str()?.to_owned(), note["n"].as_u64()?))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn a_line_that_comes_again_counts_once() {
    let mut desk = Desk::up();
    desk.keys = 1;
    let press = said_by(&mut desk, 30).concat();
    for _ in 0..3 {
        desk.policy.received(MonoTime::ZERO.plus_ms(desk.ms), &press, true);
        desk.act();
    }
    desk.run(1500);
    let presses = desk.handed().iter().filter(|line| line.starts_with("$PRESS")).count();
    assert_eq!(presses, 1, "{:?}", desk.handed());
    assert_eq!(notes(&desk).iter().map(|(_, n)| n).sum::<u64>(), 2, "{:?}", notes(&desk));
    assert!(notes(&desk).iter().all(|(what, _)| what == "repeated-lines"));
    assert!(desk.policy.is_up() && desk.asked().is_empty());
}

#[test]
fn lines_that_are_exchanged_on_the_way_are_late_and_not_lost() {
    let mut desk = Desk::up();
    desk.holes ^= E2;
    let out = said_by(&mut desk, 20).concat();
    desk.holes ^= E4;
    desk.keys = 1;
    let rest = said_by(&mut desk, 20).concat();
    for bytes in [rest, out] {
        desk.policy.received(MonoTime::ZERO.plus_ms(desk.ms), &bytes, true);
    }
    desk.run(1500);
    let handed = desk.handed();
    assert!(handed.iter().any(|line| line.starts_with("$PEG") && line.ends_with(",e2,out")), "{handed:?}");
    assert!(!handed.iter().any(|line| line == "restarted"), "{handed:?}");
    assert_eq!(notes(&desk)[..2], [("lost-lines".to_owned(), 1), ("late-lines".to_owned(), 1)]);
    assert!(desk.policy.is_up());
}
