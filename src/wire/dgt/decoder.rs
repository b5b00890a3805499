//! From the bytes of a board to the events of the session.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use shakmaty::{Color, Role, Square};

use crate::session::{event::Event, time::MonoTime};

use super::{
    frame::{Framed, Framer},
    message::{Battery, Dump, Message, Reading},
    times::Times,
};

/// Which way the board lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Orientation {
    /// The connector is at White's left hand until a dump shows the men of the start position the
    /// other way round.
    #[default]
    Auto,
    /// The connector is at White's left hand.
    Normal,
    /// The connector is at White's right hand.
    Rotated,
}

/// Decoder of one board. The same bytes at the same times give the same events.
#[derive(Clone, Debug)]
pub struct DgtDecoder {
    framer: Framer,
    orientation: Orientation,
    rotated: bool,
    /// What each square reads as far as it was told, in the board's own numbering.
    mirror: [Option<Reading>; 64],
    /// The next dump is told, whatever it shows.
    dump_due: bool,
    /// A dump was seen before.
    dumped: bool,
    times: Times,
    identity: Vec<(&'static str, Value)>,
    odd_ids: BTreeSet<u8>,
}

impl DgtDecoder {
    /// A decoder before its first byte.
    pub fn new(orientation: Orientation) -> DgtDecoder {
        DgtDecoder {
            framer: Framer::new(),
            orientation,
            rotated: orientation == Orientation::Rotated,
            mirror: [None; 64],
            dump_due: true,
            dumped: false,
            times: Times::default(),
            identity: Vec::new(),
            odd_ids: BTreeSet::new(),
        }
    }

    /// Takes bytes that were read at `at` and adds what they say to `out`.
    pub fn push(&mut self, at: MonoTime, bytes: &[u8], out: &mut Vec<Event>) {
        let mut framed = Vec::new();
        self.framer.push(at, bytes, &mut framed);
        for item in framed {
            match item {
                Framed::Dropped(n) => out.push(Event::Device(json!({"what": "garbled-bytes", "n": n}))),
                Framed::Frame { id, payload } => self.message(Message::decode(id, &payload), out),
            }
        }
    }

    /// The link to the board went down or came back: what was half received is void, and the next
    /// dump is told even when it shows nothing new.
    pub fn link(&mut self, up: bool) {
        if !up {
            self.framer.reset();
        }
        self.dump_due = true;
    }

    /// True when the squares are counted from White's right.
    pub fn is_rotated(&self) -> bool {
        self.rotated
    }

    fn message(&mut self, message: Message, out: &mut Vec<Event>) {
        match message {
            Message::Board(dump) => self.dump(&dump, out),
            Message::Field { square, reading } => self.field(square, reading, out),
            Message::Clock(clock) => {
                let left = if self.rotated { Color::Black } else { Color::White };
                self.times.take(clock, left, out);
            }
            Message::StorageLog(log) => {
                out.push(Event::Device(json!({"what": "storage-log", "n": log.len()})));
            }
            Message::BusAddress(address) => self.identity("bus_address", json!(address), out),
            Message::Serial(text) => self.identity("serial", json!(text), out),
            Message::LongSerial(text) => self.identity("long_serial", json!(text), out),
            Message::Trademark(text) => self.identity("trademark", json!(text), out),
            Message::Version(major, minor) => {
                self.identity("version", json!(format!("{major}.{minor}")), out);
            }
            Message::HardwareVersion(major, minor) => {
                self.identity("hardware_version", json!(format!("{major}.{minor}")), out);
            }
            Message::Battery(battery) => self.identity("battery", battery_json(&battery), out),
            Message::Invalid { id, payload } => out.push(Event::Device(json!({
                "what": "invalid-message", "id": format!("{id:02x}"), "payload": hex(&payload),
            }))),
            Message::Unknown { id, payload } => {
                if self.odd_ids.insert(id) {
                    out.push(Event::Device(json!({
                        "what": "unknown-message", "id": format!("{id:02x}"), "payload": hex(&payload),
                    })));
                }
            }
        }
    }

    /// What the board is; told when it is new.
    fn identity(&mut self, key: &'static str, value: Value, out: &mut Vec<Event>) {
        match self.identity.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) if *known == value => return,
            Some((_, known)) => *known = value.clone(),
            None => self.identity.push((key, value.clone())),
        }
        out.push(Event::Device(json!({ key: value })));
    }

    /// A square as it is played.
    fn played(&self, square: Square) -> Square {
        if self.rotated { square.rotate_180() } else { square }
    }

    /// Notes a reading; the one before it, `None` when the square was not known.
    fn note(&mut self, square: Square, reading: Reading) -> Option<Reading> {
        self.mirror.get_mut(usize::from(square)).and_then(|slot| slot.replace(reading))
    }

    fn field(&mut self, square: Square, reading: Reading, out: &mut Vec<Event>) {
        let before = self.note(square, reading);
        self.special(square, reading, before, out);
        if before.map(Reading::piece) != Some(reading.piece()) {
            out.push(Event::Piece { square: self.played(square), piece: reading.piece() });
        }
    }

    /// Tells a special piece that was not there before.
    fn special(&self, square: Square, reading: Reading, before: Option<Reading>, out: &mut Vec<Event>) {
        if let (Reading::Special(special), true) = (reading, before != Some(reading)) {
            out.push(Event::Device(json!({
                "special_piece": special.as_str(),
                "square": self.played(square).to_string(),
            })));
        }
    }

    fn dump(&mut self, dump: &Dump, out: &mut Vec<Event>) {
        let turned = self.orient(dump, out);
        let mut differs = 0usize;
        for (square, reading) in dump.squares() {
            let before = self.note(square, reading);
            self.special(square, reading, before, out);
            differs += usize::from(before.map(Reading::piece) != Some(reading.piece()));
        }
        if self.dumped && !self.dump_due && differs > 0 {
            out.push(Event::Device(json!({"what": "missed-updates", "n": differs})));
        }
        if turned || self.dump_due || differs > 0 {
            let mut placement = dump.placement();
            if self.rotated {
                placement.rotate_180();
            }
            out.push(Event::Pieces(placement));
        }
        self.dump_due = false;
        self.dumped = true;
    }

    /// Looks which way the men of a start position stand; true when the board was turned.
    fn orient(&mut self, dump: &Dump, out: &mut Vec<Event>) -> bool {
        let rotated = match self.orientation {
            Orientation::Auto => start_array(dump).unwrap_or(self.rotated),
            Orientation::Normal => false,
            Orientation::Rotated => true,
        };
        if rotated == self.rotated {
            return false;
        }
        self.rotated = rotated;
        let word = if rotated { "rotated" } else { "normal" };
        out.push(Event::Device(json!({"orientation": word})));
        true
    }
}

/// `Some(false)` when the men stand as at the start of a game (any start position of Chess960) as
/// the board numbers its squares, `Some(true)` when they do so turned by 180 degrees.
fn start_array(dump: &Dump) -> Option<bool> {
    let board = dump.placement();
    let shows = |rotated: bool| {
        Square::ALL.into_iter().all(|square| {
            let rank = if rotated { square.rotate_180() } else { square }.rank();
            let (color, pawn) = match u32::from(rank) {
                0 => (Color::White, false),
                1 => (Color::White, true),
                6 => (Color::Black, true),
                7 => (Color::Black, false),
                _ => return board.piece_at(square).is_none(),
            };
            board.piece_at(square).is_some_and(|man| man.color == color && (man.role == Role::Pawn) == pawn)
        })
    };
    if shows(false) {
        Some(false)
    } else if shows(true) {
        Some(true)
    } else {
        None
    }
}

fn hex(payload: &[u8]) -> String {
    payload.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn battery_json(battery: &Battery) -> Value {
    json!({
        "percent": battery.percent,
        "time_left": battery.time_left.map(|(h, m)| [h, m]),
        "charging": battery.charging,
        "discharging": battery.discharging,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::event::ClockReading;
    use proptest::prelude::*;
    use shakmaty::{Board, Piece};

    const W: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

    fn board(fen: &str) -> Board {
        fen.parse().unwrap()
    }

    fn dump(fen: &str) -> Vec<u8> {
        Message::Board(Box::new(Dump::of(&board(fen)))).encode()
    }

    fn field(square: Square, code: u8) -> Vec<u8> {
        Message::Field { square, reading: Reading::from_code(code) }.encode()
    }

    fn push(decoder: &mut DgtDecoder, bytes: &[u8]) -> Vec<Event> {
        let mut out = Vec::new();
        decoder.push(MonoTime::ZERO, bytes, &mut out);
        out
    }

    fn started(fen: &str) -> DgtDecoder {
        let mut decoder = DgtDecoder::new(Orientation::Auto);
        push(&mut decoder, &dump(fen));
        decoder
    }

    #[test]
    fn the_first_dump_is_told_and_an_equal_one_is_not() {
        let mut decoder = DgtDecoder::new(Orientation::Auto);
        assert_eq!(push(&mut decoder, &dump(W)), [Event::Pieces(board(W))]);
        assert_eq!(push(&mut decoder, &dump(W)), []);
        decoder.link(false);
        decoder.link(true);
        assert_eq!(push(&mut decoder, &dump(W)), [Event::Pieces(board(W))]);
    }

    #[test]
    fn a_dump_that_differs_from_the_updates_is_told() {
        let mut decoder = started(W);
        let e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR";
        assert_eq!(
            push(&mut decoder, &field(Square::E2, 0)),
            [Event::Piece { square: Square::E2, piece: None }]
        );
        assert_eq!(push(&mut decoder, &field(Square::E2, 0)), [], "nothing changed");
        assert_eq!(
            push(&mut decoder, &dump(e4)),
            [Event::Device(json!({"what": "missed-updates", "n": 1})), Event::Pieces(board(e4))]
        );
    }

    #[test]
    fn a_board_that_lies_the_other_way_round_is_turned_with_its_clock() {
        let mut decoder = DgtDecoder::new(Orientation::Auto);
        let turned = "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr";
        assert_eq!(
            push(&mut decoder, &dump(turned)),
            [Event::Device(json!({"orientation": "rotated"})), Event::Pieces(board(W))]
        );
        assert_eq!(
            push(&mut decoder, &field(Square::D7, 0)),
            [Event::Piece { square: Square::E2, piece: None }]
        );
        // 3:02 on the right, 3:01 on the left, stopped, lever high on the right.
        assert_eq!(
            push(&mut decoder, &[0x8d, 0, 10, 0x20, 0x03, 0x02, 0x20, 0x03, 0x01, 0x12]),
            [Event::Times(ClockReading { white_ms: Some(182_000), black_ms: Some(181_000), running: None })]
        );
    }

    #[test]
    fn the_way_it_lies_can_be_forced() {
        let mut decoder = DgtDecoder::new(Orientation::Rotated);
        assert_eq!(
            push(&mut decoder, &dump("RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr")),
            [Event::Pieces(board(W))]
        );
        let mut decoder = DgtDecoder::new(Orientation::Normal);
        push(&mut decoder, &dump("RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr"));
        assert!(!decoder.is_rotated());
    }

    #[test]
    fn a_turned_start_position_of_chess960_is_known_too() {
        let mut decoder = started("BBQNNRKR/PPPPPPPP/8/8/8/8/pppppppp/bbqnnrkr");
        assert!(decoder.is_rotated());
        push(&mut decoder, &dump("8/8/8/8/8/8/8/8"));
        assert!(decoder.is_rotated(), "nothing else turns it back");
    }

    #[test]
    fn a_special_piece_is_no_man() {
        let mut decoder = started(W);
        assert_eq!(
            push(&mut decoder, &field(Square::E4, 0x0d)),
            [Event::Device(json!({"special_piece": "draw", "square": "e4"}))]
        );
        assert_eq!(
            push(&mut decoder, &field(Square::E2, 0x0e)),
            [
                Event::Device(json!({"special_piece": "white-wins", "square": "e2"})),
                Event::Piece { square: Square::E2, piece: None }
            ]
        );
    }

    #[test]
    fn a_capture_may_change_the_piece_at_once() {
        let mut decoder = started("8/8/8/3p4/4P3/8/8/8");
        assert_eq!(
            push(&mut decoder, &field(Square::D5, 1)),
            [Event::Piece {
                square: Square::D5,
                piece: Some(Piece { color: Color::White, role: Role::Pawn })
            }]
        );
    }

    #[test]
    fn garbled_bytes_are_told_once_a_run() {
        let mut decoder = started(W);
        let mut bytes = vec![0x00, 0x13, 0x8e, 0x00];
        bytes.extend(field(Square::E2, 0));
        assert_eq!(
            push(&mut decoder, &bytes),
            [
                Event::Device(json!({"what": "garbled-bytes", "n": 4})),
                Event::Piece { square: Square::E2, piece: None }
            ]
        );
    }

    #[test]
    fn what_the_board_is_is_told_when_it_is_new() {
        let mut decoder = DgtDecoder::new(Orientation::Auto);
        let version = Message::Version(3, 10).encode();
        assert_eq!(push(&mut decoder, &version), [Event::Device(json!({"version": "3.10"}))]);
        assert_eq!(push(&mut decoder, &version), []);
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_portions_give_the_same_events(
            bytes in proptest::collection::vec(
                prop_oneof![any::<u8>(), Just(0x8e), Just(0x8d), Just(0x00), Just(0x05), Just(0x0a)],
                0..600,
            ),
            sizes in proptest::collection::vec(1usize..40, 1..20),
        ) {
            let whole = push(&mut started(W), &bytes);
            let mut decoder = started(W);
            let mut parts = Vec::new();
            let (mut rest, mut sizes) = (bytes.as_slice(), sizes.iter().cycle());
            while !rest.is_empty() {
                let (now, later) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
                parts.extend(push(&mut decoder, now));
                rest = later;
            }
            prop_assert_eq!(parts, whole);
        }

        #[test]
        fn updates_and_dump_agree(codes in proptest::collection::vec((0u8..64, 0u8..13), 0..120)) {
            let mut decoder = started(W);
            let mut shown = board(W);
            for (number, code) in codes {
                let square = super::super::message::square_of(number).unwrap();
                match Reading::from_code(code).piece() {
                    Some(piece) => shown.set_piece_at(square, piece),
                    None => shown.discard_piece_at(square),
                }
                push(&mut decoder, &field(square, code));
            }
            let dump = Message::Board(Box::new(Dump::of(&shown))).encode();
            let events = push(&mut decoder, &dump);
            prop_assert!(events.is_empty() || decoder.is_rotated(), "{:?}", events);
        }
    }
}
