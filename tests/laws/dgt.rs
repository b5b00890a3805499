//! The bytes of a DGT board.

use serde_json::Value;
use touchmoved::{
    session::{event::Event, time::MonoTime},
    wire::dgt::{
        DgtDecoder, Framed, Framer, Message, Orientation,
        frame::{MAX_LENGTH, PARTIAL_MS},
        message::Dump,
    },
};

use super::choices::Choices;

/// Any bytes, in any portions: no panic, the same events however they are divided, no more memory
/// than the bytes account for, and a board that is back is read again.
pub fn dgt_bytes(data: &[u8]) {
    let mut choices = Choices::new(data);
    let orientation = choices.pick(&[Orientation::Auto, Orientation::Normal, Orientation::Rotated]);
    let division = choices.byte();
    let bytes = choices.rest();

    every_byte_is_accounted_for(bytes);
    let whole = decode(orientation, [(MonoTime::ZERO, bytes)]);
    assert!(whole.len() <= 2 * bytes.len(), "{} events from {} bytes", whole.len(), bytes.len());
    assert_eq!(decode(orientation, bytes.chunks(1).map(|byte| (MonoTime::ZERO, byte))), whole);
    let pause = |n: usize| MonoTime::ZERO.plus_ms((PARTIAL_MS - 1) * n as u64);
    let portions = bytes.chunks(usize::from(division % 80) + 1).enumerate();
    assert_eq!(decode(orientation, portions.map(|(n, portion)| (pause(n), portion))), whole);
    a_board_that_is_back_is_read(orientation, division, bytes);
}

fn decode<'a>(
    orientation: Orientation,
    portions: impl IntoIterator<Item = (MonoTime, &'a [u8])>,
) -> Vec<Event> {
    let mut decoder = DgtDecoder::new(orientation);
    let mut events = Vec::new();
    portions.into_iter().for_each(|(at, portion)| decoder.push(at, portion, &mut events));
    events
}

fn every_byte_is_accounted_for(bytes: &[u8]) {
    let mut framer = Framer::new();
    let mut framed = Vec::new();
    let (mut taken, mut told) = (0, 0);
    for (n, byte) in bytes.iter().enumerate() {
        framer.push(MonoTime::ZERO, std::slice::from_ref(byte), &mut framed);
        assert!(framer.pending() <= MAX_LENGTH.min(n + 1));
        for item in framed.drain(..) {
            match item {
                Framed::Frame { id, payload } => {
                    taken += payload.len() + 3;
                    reads_back(id, &payload);
                }
                Framed::Dropped(run) => told += run,
            }
        }
        let dropped = usize::try_from(framer.dropped()).unwrap();
        assert_eq!(taken + dropped + framer.pending(), n + 1);
        assert!(told <= dropped);
    }
    // A message that is too old is dropped, and every dropped byte is told in the end.
    while let Some(deadline) = framer.deadline() {
        framer.expire(deadline, &mut framed);
        assert!(framer.deadline().is_none_or(|next| next > deadline));
    }
    told += framed.iter().map(|item| if let Framed::Dropped(run) = item { *run } else { 0 }).sum::<usize>();
    assert_eq!((framer.pending(), taken + told), (0, bytes.len()));
}

fn reads_back(id: u8, payload: &[u8]) {
    let message = Message::decode(id, payload);
    let mut framed = Vec::new();
    Framer::new().push(MonoTime::ZERO, &message.encode(), &mut framed);
    let [Framed::Frame { id, payload }] = framed.as_slice() else {
        panic!("{message:?} is not one frame: {framed:?}");
    };
    assert_eq!(Message::decode(*id, payload), message);
}

/// Pauses, times that go back and a link that comes and goes are survived; the dump after them is
/// told.
fn a_board_that_is_back_is_read(orientation: Orientation, division: u8, bytes: &[u8]) {
    let mut decoder = DgtDecoder::new(orientation);
    let mut events = Vec::new();
    for portion in bytes.chunks(usize::from(division / 4) + 2) {
        let (first, rest) = portion.split_at(1);
        decoder.push(MonoTime::from_micros(u64::from(first[0]) << (first[0] & 0x3f)), rest, &mut events);
        if first[0] % 5 == 0 {
            decoder.link(first[0] % 2 == 0);
        }
    }
    decoder.link(false);
    decoder.link(true);
    events.clear();
    let board = shakmaty::Board::new();
    let dump = Message::Board(Box::new(Dump::of(&board))).encode();
    decoder.push(MonoTime::END, &dump, &mut events);
    events.retain(|event| !matches!(event, Event::Device(Value::Object(_))));
    let seen = events.iter().find_map(|event| if let Event::Pieces(men) = event { Some(men) } else { None });
    let mut played = board;
    if decoder.is_rotated() {
        played.rotate_180();
    }
    assert_eq!(seen, Some(&played), "{events:?}");
}
