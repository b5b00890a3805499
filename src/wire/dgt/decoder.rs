//! From the bytes of a board to the events of the session.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Value, json};
use shakmaty::{Color, Role, Square};

use crate::session::{event::Event, time::MonoTime};

use super::{
    frame::{Framed, Framer},
    memory::{self, Squares, Told},
    message::{Battery, Dump, Message, Reading},
    storage::{self, Entry},
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
    /// The clock stands the other way round at the connector.
    clock_turned: bool,
    /// What each square reads as far as it was told, in the board's own numbering.
    mirror: [Option<Reading>; 64],
    /// The next dump is told, whatever it shows.
    dump_due: bool,
    /// A dump was seen before.
    dumped: bool,
    times: Times,
    /// The last changes, in the board's own numbering.
    changes: VecDeque<(Square, Reading)>,
    /// Presses after the last of them.
    presses: usize,
    /// What was told before an outage of which the board's memory may tell.
    gap: Option<Box<Told>>,
    /// The session cannot explain what the board shows.
    puzzled: bool,
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
            clock_turned: false,
            mirror: [None; 64],
            dump_due: true,
            dumped: false,
            times: Times::default(),
            changes: VecDeque::new(),
            presses: 0,
            gap: None,
            puzzled: false,
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
            // What went before a gap that nobody can explain yet is kept.
            if !(self.puzzled && self.gap.is_some()) {
                self.gap = self.squares().map(|squares| {
                    let changes = self.changes.iter().copied().collect();
                    Box::new(Told { squares, changes, presses: self.presses })
                });
            }
        }
        self.dump_due = true;
    }

    /// True while the board's memory may tell what happened during an outage: then
    /// [`DgtDecoder::set_puzzled`] matters.
    pub fn awaits_memory(&self) -> bool {
        self.gap.is_some()
    }

    /// Whether the session cannot explain what the board shows since an outage. Only then the board's memory
    /// is told: the picture before the outage, then those of every change, and the presses, up to the present
    /// picture. Where the session has its explanation, nothing is told twice.
    pub fn set_puzzled(&mut self, puzzled: bool) {
        self.puzzled = puzzled;
    }

    /// What the board has told of itself: `version`, `serial`, `long_serial`, `trademark`, `battery`, ...
    pub fn identity(&self) -> &[(&'static str, Value)] {
        &self.identity
    }

    /// Whether a clock is connected, and whether it showed its battery sign last; nothing before it was heard.
    pub fn clock_device(&self) -> Option<(bool, bool)> {
        self.times.device()
    }

    /// What every square reads in the board's own numbering, once all are known.
    pub fn squares(&self) -> Option<Squares> {
        let mut squares = [Reading::Empty; 64];
        for (square, reading) in squares.iter_mut().zip(&self.mirror) {
            *square = (*reading)?;
        }
        Some(squares)
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
                let said = out.len();
                self.times.take(clock, self.left(), out);
                let presses = out.iter().skip(said).filter(|event| matches!(event, Event::Press(_)));
                self.presses = self.presses.saturating_add(presses.count());
            }
            Message::StorageLog(log) => self.storage_log(&log, out),
            Message::BusAddress(address) => self.introduce("bus_address", json!(address), out),
            Message::Serial(text) => self.introduce("serial", json!(text), out),
            Message::LongSerial(text) => self.introduce("long_serial", json!(text), out),
            Message::Trademark(text) => self.introduce("trademark", json!(text), out),
            Message::Version(major, minor) => {
                self.introduce("version", json!(format!("{major}.{minor}")), out);
            }
            Message::HardwareVersion(major, minor) => {
                self.introduce("hardware_version", json!(format!("{major}.{minor}")), out);
            }
            Message::Battery(battery) => self.introduce("battery", battery_json(&battery), out),
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
    fn introduce(&mut self, key: &'static str, value: Value, out: &mut Vec<Event>) {
        match self.identity.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) if *known == value => return,
            Some((_, known)) => *known = value.clone(),
            None => self.identity.push((key, value.clone())),
        }
        out.push(Event::Device(json!({ key: value })));
    }

    /// The same with a clock that stands the other way round at the connector, so that its halves are
    /// exchanged.
    #[must_use]
    pub fn with_clock_turned(mut self, turned: bool) -> DgtDecoder {
        self.clock_turned = turned;
        self
    }

    /// Who sits at the left of the clock, which stands at the connector.
    pub fn left(&self) -> Color {
        if self.rotated == self.clock_turned { Color::White } else { Color::Black }
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
        if before != Some(reading) {
            if self.changes.len() >= memory::HISTORY {
                self.changes.pop_front();
            }
            self.changes.push_back((square, reading));
            self.presses = 0;
        }
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

    /// The board's memory. It helps once after an outage, behind the first dump.
    fn storage_log(&mut self, log: &[u8], out: &mut Vec<Event>) {
        let unasked = Event::Device(json!({"what": "storage-log", "n": log.len()}));
        let note = |word: &str, value: Value| {
            Event::Device(json!({"what": "storage-log", "n": log.len(), word: value}))
        };
        let (Some(now), false) = (self.squares(), self.dump_due) else { return out.push(unasked) };
        let Some(before) = self.gap.take() else { return out.push(unasked) };
        match memory::between(&storage::decode(log), &before, &now) {
            Ok(entries) if self.puzzled => {
                out.push(note("recalled", json!(entries.len())));
                self.recall(&before.squares, &entries, out);
            }
            Ok(entries) => out.push(note("not_needed", json!(entries.len()))),
            Err(why) => out.push(note("unused", json!(why.as_str()))),
        }
    }

    /// Tells again from the picture before the outage to the present one, picture by picture: the memory holds
    /// no times, so that nothing may be concluded from who lifted what and how fast.
    fn recall(&mut self, before: &Squares, entries: &[Entry], out: &mut Vec<Event>) {
        let mut placement = shakmaty::Board::empty();
        for (square, reading) in Square::ALL.into_iter().zip(before) {
            if let Some(man) = reading.piece() {
                placement.set_piece_at(self.played(square), man);
            }
        }
        out.push(Event::Pieces(placement.clone()));
        let clock = self.times.told();
        for entry in entries {
            match *entry {
                Entry::Field { square, reading, .. } => {
                    match reading.piece() {
                        Some(man) => placement.set_piece_at(self.played(square), man),
                        None => placement.discard_piece_at(self.played(square)),
                    }
                    out.push(Event::Pieces(placement.clone()));
                }
                Entry::Pressed { right, seconds } => self.times.recall(right, seconds, self.left(), out),
                Entry::Mark(_) => {}
            }
        }
        self.times.tell_again(clock, out);
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
        if self.dump_due
            && self
                .squares()
                .zip(self.gap.as_ref())
                .is_some_and(|(now, gap)| !memory::is_wanted(&gap.squares, &now))
        {
            self.gap = None;
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
        self.times.turned(self.left(), out);
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
mod tests;
