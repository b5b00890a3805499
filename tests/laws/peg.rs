//! The bytes of a pegged board.

use touchmoved::{
    sensor::peg::policy::{Action, Policy},
    session::{event::Event, io::Input, time::MonoTime},
    wire::peg::{
        Framed, Framer, Line, Message, PegDecoder,
        line::{Hello, Peg, Snapshot},
    },
};
use touchmoved_peg::{
    Board, Fault, Hello as SaidHello, Holes, Identity, MAX_LINE, Message as Said, Peg as At, Settings, Side,
    Snapshot as Shown, SquareIndex, encode,
};

use super::choices::Choices;

/// Any bytes, in any portions: no panic, the same lines however they are divided, every byte is accounted
/// for and memory is bounded; a line that is read is written as it was; of the lines of a board one wrong
/// byte spoils one at most and makes none; whatever came before, a board is met and read.
pub fn peg_bytes(data: &[u8]) {
    let mut choices = Choices::new(data);
    let division = usize::from(choices.byte() % 80) + 1;
    let bytes = choices.rest();

    let whole = every_byte_is_accounted_for(bytes);
    let mut divided = Vec::new();
    let mut framer = Framer::new();
    bytes.chunks(division).for_each(|portion| framer.push(portion, &mut divided));
    assert_eq!(divided, whole);
    let mut decoder = PegDecoder::new();
    for item in &whole {
        let Framed::Line(text) = item else { continue };
        reads_back(text);
        let mut events = Vec::new();
        decoder.push(text, &mut events);
        assert!(events.len() <= 2, "{text}: {events:?}");
        let known = decoder.known().unwrap_or_default();
        assert!(known.half.is_subset(known.filled));
    }
    one_wrong_byte_spoils_one_line(bytes);
    a_board_is_met_after_anything(bytes, division);
}

fn every_byte_is_accounted_for(bytes: &[u8]) -> Vec<Framed> {
    let mut framer = Framer::new();
    let mut framed = Vec::new();
    let (mut lines, mut ends) = (0, 0);
    for (n, byte) in bytes.iter().enumerate() {
        let before = framed.len();
        framer.push(std::slice::from_ref(byte), &mut framed);
        ends += usize::from(matches!(byte, b'\r' | b'\n'));
        for item in &framed[before..] {
            if let Framed::Line(text) = item {
                lines += text.len();
            }
        }
        let told: usize = framed.iter().map(|i| if let Framed::Dropped(n) = i { *n } else { 0 }).sum();
        assert_eq!(lines + told + framer.pending() + ends, n + 1);
        assert!(framer.pending() <= 2 * MAX_LINE);
    }
    framed
}

fn reads_back(text: &str) {
    let Ok(Line { seq, ms, message }) = Line::parse(text) else { return };
    let square = |square: shakmaty::Square| SquareIndex::new(u8::from(square)).unwrap();
    // Where a board that cannot tell half pegs and one that has none look the same.
    let halves = text.matches(',').count() == 4;
    let shown =
        |snapshot: Snapshot| Shown { filled: snapshot.filled.0, half: halves.then_some(snapshot.half.0) };
    let said = match &message {
        Message::Hello(hello) => Said::Hello(said_hello(hello)),
        Message::Board(snapshot) => Said::Board(shown(*snapshot)),
        Message::Beat(snapshot) => Said::Beat(shown(*snapshot)),
        Message::Peg(at, peg) => Said::Peg(
            square(*at),
            match peg {
                Peg::Out => At::Out,
                Peg::Half => At::Half,
                Peg::In => At::In,
            },
        ),
        Message::Press(shakmaty::Color::White) => Said::Press(Side::White),
        Message::Press(shakmaty::Color::Black) => Said::Press(Side::Black),
        Message::Button(name) => Said::Button(name),
        Message::Fault(word) => match word.as_str() {
            "overflow" => Said::Fault(Fault::Overflow),
            "request" => Said::Fault(Fault::Request),
            "sensor" => Said::Fault(Fault::Sensor),
            "sensor-ok" => Said::Fault(Fault::SensorOk),
            _ => return,
        },
        Message::ForeignHello(_) | Message::Other(_) => return,
    };
    let written = encode(seq, ms, &said);
    let written = std::str::from_utf8(written.as_bytes()).unwrap().trim_end();
    // A hello may have more keys than this version knows.
    if !matches!(message, Message::Hello(_)) || text.matches(',').count() == 9 {
        assert_eq!(written, text);
    }
}

fn said_hello(hello: &Hello) -> SaidHello<'_> {
    SaidHello {
        identity: Identity { firmware: &hello.firmware, version: &hello.version, serial: &hello.serial },
        close_ms: hello.close_ms,
        open_ms: hello.open_ms,
        beat_ms: hello.beat_ms,
        half: hello.half,
    }
}

/// Lines that the reference firmware writes, one of whose bytes is lost, doubled, added or changed.
fn one_wrong_byte_spoils_one_line(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let (what, at, byte) = (choices.below(4), choices.u64(), choices.byte());
    let mut sent = Vec::new();
    for seq in 0..3 {
        let ms = u32::try_from(choices.u64() >> 32).unwrap();
        let square = SquareIndex::new(choices.byte() & 63).unwrap();
        let filled = choices.u64();
        let message = match choices.below(4) {
            0 => Said::Peg(square, At::Out),
            1 => Said::Peg(square, At::In),
            2 => Said::Press(Side::White),
            _ => Said::Beat(Shown { filled, half: None }),
        };
        sent.extend_from_slice(encode(seq, ms, &message).as_bytes());
    }
    let lines = |bytes: &[u8]| {
        let mut framed = Vec::new();
        Framer::new().push(bytes, &mut framed);
        framed.retain(|item| matches!(item, Framed::Line(_)));
        framed
    };
    let whole = lines(&sent);
    let at = usize::try_from(at % sent.len() as u64).unwrap();
    match what {
        0 => drop(sent.remove(at)),
        1 => sent.insert(at, sent[at]),
        2 => sent.insert(at, byte),
        _ => sent[at] = byte,
    }
    let left = lines(&sent);
    let mut rest = whole.iter();
    assert!(left.iter().all(|line| rest.any(|other| other == line)), "{left:?} of {whole:?}");
    assert!(left.len() + 1 >= whole.len(), "{left:?} of {whole:?}");
}

/// The policy over these bytes, and then over a board that works.
fn a_board_is_met_after_anything(bytes: &[u8], division: usize) {
    let mut policy = Policy::new();
    let mut at = MonoTime::ZERO;
    policy.opened(at);
    let mut handed = MonoTime::ZERO;
    let mut look = |policy: &mut Policy, at: MonoTime| {
        let mut asked = Vec::new();
        let mut number = 0;
        while let Some(action) = policy.poll(at) {
            number += 1;
            assert!(number < 10_000, "the policy never rests");
            match action {
                Action::Hand(stamp, input) => {
                    assert!(handed <= stamp && stamp <= at, "{handed} {stamp} {at}");
                    handed = stamp;
                    if let Input::Peg(_, text) = &input {
                        assert!(Line::parse(text).is_ok(), "{text}");
                    }
                    assert!(!matches!(input, Input::Event(_, Event::Square { .. })));
                }
                Action::Send(request) => asked.extend_from_slice(request.bytes()),
                _ => {}
            }
        }
        asked
    };
    for portion in bytes.chunks(division) {
        look(&mut policy, at);
        at = at.plus_ms(u64::from(portion[0]) * 7);
        policy.received(at, portion, portion[0] % 3 != 0);
    }
    let identity = Identity { firmware: "law", version: "1", serial: "1" };
    let mut board = Board::new(identity, Settings::default(), &[]);
    // A foreign board may have made it wait for half a minute.
    for ms in 0..60_000u32 {
        look(&mut policy, at).iter().for_each(|byte| board.receive(*byte));
        at = at.plus_ms(1);
        board.scan(ms, Holes::of(0xffff_0000_0000_ffff), 0);
        while let Some(line) = board.next_line(ms) {
            policy.received(at, line.as_bytes(), true);
        }
        if policy.is_up() && ms > 2000 {
            return;
        }
    }
    panic!("the board is not read");
}
