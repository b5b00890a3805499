//! From the lines of a board to the events of the session.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use shakmaty::{Bitboard, Square};

use super::line::{Hello, Line, Message, Peg, Snapshot};
use crate::session::event::Event;

/// So many unknown kinds of lines are told, each one once.
const ODD_KINDS: usize = 16;

/// Decoder of one board. The same lines give the same events.
#[derive(Clone, Debug, Default)]
pub struct PegDecoder {
    /// What is in the holes as far as it was told; nothing before the first snapshot.
    known: Option<Snapshot>,
    /// The next snapshot is told, whatever it shows.
    due: bool,
    hello: Option<Hello>,
    /// What the last hello said.
    identity: Vec<(&'static str, Value)>,
    odd_kinds: BTreeSet<String>,
}

impl PegDecoder {
    /// A decoder before its first line.
    pub fn new() -> PegDecoder {
        PegDecoder { due: true, ..PegDecoder::default() }
    }

    /// The link to the board went down or came back: the next snapshot and the next hello are told even
    /// when they show nothing new.
    pub fn link(&mut self) {
        self.due = true;
        self.hello = None;
    }

    /// What the board has told of itself: `firmware`, `version`, `serial`, its debounce times, ...
    pub fn identity(&self) -> &[(&'static str, Value)] {
        &self.identity
    }

    /// What is in the holes, as far as it is known.
    pub fn known(&self) -> Option<Snapshot> {
        self.known
    }

    /// Takes a line and adds what it says to `out`: nothing, when it says nothing new.
    pub fn push(&mut self, text: &str, out: &mut Vec<Event>) {
        match Line::parse(text) {
            Ok(line) => self.message(line.message, out),
            Err(error) => out.push(device(json!({"what": "unreadable-line", "reason": error.to_string()}))),
        }
    }

    fn message(&mut self, message: Message, out: &mut Vec<Event>) {
        match message {
            Message::Hello(hello) => self.take_hello(hello, out),
            Message::ForeignHello(version) => out.push(device(json!({"protocol": version}))),
            Message::Board(snapshot) | Message::Beat(snapshot) => self.snapshot(snapshot, out),
            Message::Peg(square, peg) => self.peg(square, peg, out),
            Message::Press(side) => out.push(Event::Press(side)),
            Message::Button(name) => out.push(Event::Button(name)),
            Message::Fault(word) => out.push(device(json!({"fault": word}))),
            Message::Other(kind) => {
                if self.odd_kinds.len() < ODD_KINDS && self.odd_kinds.insert(kind.clone()) {
                    out.push(device(json!({"what": "unknown-line", "kind": kind})));
                }
            }
        }
    }

    fn take_hello(&mut self, hello: Hello, out: &mut Vec<Event>) {
        if self.hello.as_ref() == Some(&hello) {
            return;
        }
        self.identity = vec![
            ("protocol", json!(super::PROTOCOL)),
            ("firmware", json!(hello.firmware)),
            ("version", json!(hello.version)),
            ("serial", json!(hello.serial)),
            ("debounce_close_ms", json!(hello.close_ms)),
            ("debounce_open_ms", json!(hello.open_ms)),
            ("heartbeat_ms", json!(hello.beat_ms)),
            ("half_out", json!(hello.half)),
        ];
        let fields = self.identity.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        out.push(device(Value::Object(fields.collect())));
        self.hello = Some(hello);
    }

    fn snapshot(&mut self, snapshot: Snapshot, out: &mut Vec<Event>) {
        let before = self.known.replace(snapshot);
        if self.due || before.is_none_or(|before| before.filled != snapshot.filled) {
            out.push(Event::Occupied(snapshot.filled));
        }
        if before.unwrap_or_default().half != snapshot.half {
            let squares: Vec<String> = snapshot.half.into_iter().map(|square| square.to_string()).collect();
            out.push(device(json!({"half_out_now": squares})));
        }
        self.due = false;
    }

    /// A peg moved. Half out is in: the man is touched when the peg leaves the hole, not before.
    fn peg(&mut self, square: Square, peg: Peg, out: &mut Vec<Event>) {
        let before = self.known.map(|known| known.state(square));
        if before == Some(peg) {
            return;
        }
        if let Some(known) = &mut self.known {
            known.filled.set(square, peg != Peg::Out);
            known.half.set(square, peg == Peg::Half);
        }
        let occupied = peg != Peg::Out;
        if before.is_none_or(|before| (before != Peg::Out) != occupied) {
            out.push(Event::Square { square, occupied });
        }
        match (before, peg) {
            (_, Peg::Half) => out.push(device(json!({"peg": "half-out", "square": square.to_string()}))),
            (Some(Peg::Half), Peg::In) => {
                out.push(device(json!({"peg": "in", "square": square.to_string()})));
            }
            _ => {}
        }
    }
}

impl Snapshot {
    /// Where the peg of a square is.
    pub fn state(&self, square: Square) -> Peg {
        if !self.filled.contains(square) {
            Peg::Out
        } else if self.half.contains(square) {
            Peg::Half
        } else {
            Peg::In
        }
    }

    /// The squares on which two snapshots differ, half out or not.
    pub fn differs(&self, other: &Snapshot) -> Bitboard {
        self.filled ^ other.filled
    }
}

/// A status of the board: recorded, without effect on the game.
fn device(mut value: serde_json::Value) -> Event {
    if let Some(object) = value.as_object_mut() {
        object.shift_insert(0, "source".to_owned(), json!("peg"));
    }
    Event::Device(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Color;
    use touchmoved_peg::{Message as Said, Peg as At, Side, Snapshot as Shown, SquareIndex, encode};

    const START: u64 = 0xffff_0000_0000_ffff;

    fn decode(decoder: &mut PegDecoder, said: &Said<'_>) -> Vec<Event> {
        let line = encode(1, 2, said);
        let text = std::str::from_utf8(line.as_bytes()).unwrap().trim_end().to_owned();
        let mut out = Vec::new();
        decoder.push(&text, &mut out);
        out
    }

    fn peg(square: Square, at: At) -> Said<'static> {
        Said::Peg(SquareIndex::new(u8::from(square)).unwrap(), at)
    }

    fn shown(filled: u64, half: Option<u64>) -> Said<'static> {
        Said::Board(Shown { filled, half })
    }

    #[test]
    fn a_snapshot_is_told_when_it_is_due_or_shows_something_new() {
        let mut decoder = PegDecoder::new();
        let start = [Event::Occupied(Bitboard(START))];
        assert_eq!(decode(&mut decoder, &shown(START, None)), start);
        assert!(decode(&mut decoder, &shown(START, None)).is_empty());
        let e2 = Square::E2;
        assert_eq!(decode(&mut decoder, &peg(e2, At::Out)), [Event::Square { square: e2, occupied: false }]);
        assert!(decode(&mut decoder, &shown(START ^ 1 << 12, None)).is_empty());
        assert_eq!(decode(&mut decoder, &shown(START, None)), start);
        decoder.link();
        assert_eq!(decode(&mut decoder, &shown(START, None)), start);
    }

    #[test]
    fn half_out_is_recorded_and_no_touch() {
        let mut decoder = PegDecoder::new();
        decode(&mut decoder, &shown(START, Some(0)));
        let is_note = |events: &[Event]| matches!(events, [Event::Device(_)]);
        assert!(is_note(&decode(&mut decoder, &peg(Square::E2, At::Half))));
        assert!(decode(&mut decoder, &shown(START, Some(1 << 12))).is_empty());
        assert!(is_note(&decode(&mut decoder, &peg(Square::E2, At::In))), "felt, and pushed back");
        decode(&mut decoder, &peg(Square::E2, At::Half));
        let out = Event::Square { square: Square::E2, occupied: false };
        assert_eq!(decode(&mut decoder, &peg(Square::E2, At::Out)), [out]);
        let set_down = decode(&mut decoder, &peg(Square::E4, At::Half));
        assert_eq!(set_down[0], Event::Square { square: Square::E4, occupied: true });
        assert!(is_note(&decode(&mut decoder, &peg(Square::E4, At::In))));
    }

    #[test]
    fn presses_and_buttons_are_passed_on_by_name() {
        let mut decoder = PegDecoder::new();
        assert_eq!(decode(&mut decoder, &Said::Press(Side::Black)), [Event::Press(Color::Black)]);
        assert_eq!(
            decode(&mut decoder, &Said::Button("jadoube-white")),
            [Event::Button("jadoube-white".to_owned())]
        );
        // A peg that moves before anything is known is told.
        assert_eq!(
            decode(&mut decoder, &peg(Square::A1, At::Out)),
            [Event::Square { square: Square::A1, occupied: false }]
        );
    }
}
