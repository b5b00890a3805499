//! The memory of a DGT board after an outage.

use shakmaty::{Board, Square};
use touchmoved::{
    session::{event::Event, time::MonoTime},
    wire::dgt::{
        DgtDecoder, Message, Orientation,
        message::{Dump, Reading, number_of},
        storage::{self, Entry, Mark},
    },
};

use super::choices::Choices;

/// Any log after any outage: no panic, what is read survives the round trip, and whatever is told again ends
/// with what the board shows. An honest log of an outage with changes is told, or what it shows is ambiguous.
pub fn dgt_memory(data: &[u8]) {
    let mut choices = Choices::new(data);
    let orientation = choices.pick(&[Orientation::Normal, Orientation::Rotated, Orientation::Auto]);
    let mut position = Dump::of(&Board::new());
    let mut decoder = DgtDecoder::new(orientation);
    push(&mut decoder, &Message::Board(Box::new(position)));
    let before = changes(&mut choices, &mut position);
    for entry in &before {
        if let Entry::Field { square, reading, .. } = *entry {
            push(&mut decoder, &Message::Field { square, reading });
        }
    }
    decoder.link(false);
    let missed = changes(&mut choices, &mut position);
    decoder.link(true);
    decoder.set_puzzled(true);
    push(&mut decoder, &Message::Board(Box::new(position)));
    let honest = choices.flag();
    let payload = if honest {
        storage::encode(&[before.clone(), missed.clone(), vec![Entry::Mark(Mark::End)]].concat())
    } else {
        choices.rest().iter().map(|byte| byte & 0x7f).collect()
    };
    let entries = storage::decode(&payload);
    assert_eq!(storage::decode(&storage::encode(&entries)), entries);
    let awaited = decoder.awaits_memory();
    let events = push(&mut decoder, &Message::StorageLog(payload));
    assert!(!decoder.awaits_memory(), "asked once");
    let shown = events.iter().rev().find_map(|event| match event {
        Event::Pieces(men) => Some(men.clone()),
        _ => None,
    });
    let mut played = position.placement();
    if decoder.is_rotated() {
        played.rotate_180();
    }
    match shown {
        Some(shown) => assert_eq!(shown, played),
        None => assert!(!honest || !awaited || before.is_empty(), "{events:?}"),
    }
    assert!(push(&mut decoder, &Message::Board(Box::new(position))).is_empty(), "nothing is told twice");
}

/// Changes that each change something; only codes of men.
fn changes(choices: &mut Choices<'_>, position: &mut Dump) -> Vec<Entry> {
    let mut entries = Vec::new();
    for _ in 0..choices.below(40) {
        let square = Square::new(u32::from(choices.byte() & 63));
        let reading = Reading::from_code(choices.byte() % 13);
        let slot = &mut position.0[usize::from(number_of(square))];
        if *slot != reading {
            *slot = reading;
            entries.push(Entry::Field { square, reading, soon: choices.flag() });
        }
    }
    entries
}

fn push(decoder: &mut DgtDecoder, message: &Message) -> Vec<Event> {
    let mut events = Vec::new();
    decoder.push(MonoTime::ZERO, &message.encode(), &mut events);
    events
}
