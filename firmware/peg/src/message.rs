//! What a pegged board says, and how it is written.

use crate::line::Line;

/// Version of the protocol that this crate writes.
pub const PROTOCOL: u8 = 1;

/// The longest name of a firmware, a version, a serial number and a button.
const FIRMWARE: usize = 16;
const VERSION: usize = 12;
const SERIAL: usize = 24;
const BUTTON: usize = 32;

/// A player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// White.
    White,
    /// Black.
    Black,
}

/// Where a peg is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peg {
    /// Out of its hole: the man is touched (FIDE Laws of Chess, Appendix D.2.2).
    Out,
    /// In its hole, but not down to the bottom. Only hardware with two switch points tells this.
    Half,
    /// In its hole.
    In,
}

/// A square: 0 is a1, 1 is b1, 63 is h8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SquareIndex(u8);

impl SquareIndex {
    /// A square; `None` from 64 on.
    pub const fn new(index: u8) -> Option<SquareIndex> {
        if index < 64 { Some(SquareIndex(index)) } else { None }
    }

    /// 0 to 63.
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// Which holes have a peg in them: bit 0 is a1, bit 63 is h8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Holes with a peg, half out or not.
    pub filled: u64,
    /// Of these, the ones whose peg is half out; `None` when the hardware cannot tell.
    pub half: Option<u64>,
}

/// What a board is. Letters, digits, `-`, `_` and `.`; anything else is sent as `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity<'a> {
    /// Name of the firmware, at most 16 characters.
    pub firmware: &'a str,
    /// Its version, at most 12 characters.
    pub version: &'a str,
    /// Serial number of the board, at most 24 characters.
    pub serial: &'a str,
}

/// What a board says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello<'a> {
    /// Who it is.
    pub identity: Identity<'a>,
    /// For how many milliseconds a peg has to rest in its hole before that is told.
    pub close_ms: u16,
    /// For how many milliseconds it has to be out.
    pub open_ms: u16,
    /// Milliseconds from one heartbeat to the next.
    pub beat_ms: u16,
    /// The hardware tells pegs that are half out.
    pub half: bool,
}

/// What is wrong with a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Changes came faster than lines could be sent, and some are lost. A snapshot follows.
    Overflow,
    /// The host asked for something that this board does not know.
    Request,
    /// The holes cannot be read, or not all of them. It holds until [`Fault::SensorOk`].
    Sensor,
    /// All holes can be read again. A snapshot follows.
    SensorOk,
}

impl Fault {
    /// The word of the line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Fault::Overflow => "overflow",
            Fault::Request => "request",
            Fault::Sensor => "sensor",
            Fault::SensorOk => "sensor-ok",
        }
    }
}

/// One thing that a board says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// What the board is: after a start, and when it is asked.
    Hello(Hello<'a>),
    /// All holes: behind a hello, and when it is asked.
    Board(Snapshot),
    /// All holes, again and again: the board is alive.
    Beat(Snapshot),
    /// A peg moved.
    Peg(SquareIndex, Peg),
    /// A player pressed the clock.
    Press(Side),
    /// A button was pressed; its name is one of those that the host knows, such as `draw-offer-white`. At
    /// most 32 characters.
    Button(&'a str),
    /// Something is wrong.
    Fault(Fault),
}

/// Writes a line. `seq` is its number, `ms` the time of what it tells, on the clock of the board.
pub fn encode(seq: u16, ms: u32, message: &Message<'_>) -> Line {
    let mut line = Line::begin();
    line.text(match message {
        Message::Hello(_) => "HELLO,",
        Message::Board(_) => "BOARD,",
        Message::Beat(_) => "BEAT,",
        Message::Peg(..) => "PEG,",
        Message::Press(_) => "PRESS,",
        Message::Button(_) => "BUTTON,",
        Message::Fault(_) => "FAULT,",
    });
    line.decimal(u32::from(seq));
    line.text(",");
    line.decimal(ms);
    line.text(",");
    match message {
        Message::Hello(hello) => write_hello(&mut line, hello),
        Message::Board(snapshot) | Message::Beat(snapshot) => {
            line.hex(snapshot.filled, 16, false);
            if let Some(half) = snapshot.half {
                line.text(",");
                line.hex(half & snapshot.filled, 16, false);
            }
        }
        Message::Peg(square, peg) => {
            line.name(file_of(*square), 1);
            line.decimal(u32::from(square.get() / 8).wrapping_add(1));
            line.text(match peg {
                Peg::Out => ",out",
                Peg::Half => ",half",
                Peg::In => ",in",
            });
        }
        Message::Press(Side::White) => line.text("white"),
        Message::Press(Side::Black) => line.text("black"),
        Message::Button(name) => line.name(name, BUTTON),
        Message::Fault(fault) => line.text(fault.as_str()),
    }
    line.finish()
}

fn write_hello(line: &mut Line, hello: &Hello<'_>) {
    line.text("proto=");
    line.decimal(u32::from(PROTOCOL));
    line.text(",firmware=");
    line.name(hello.identity.firmware, FIRMWARE);
    line.text(",version=");
    line.name(hello.identity.version, VERSION);
    line.text(",serial=");
    line.name(hello.identity.serial, SERIAL);
    for (key, ms) in [(",close=", hello.close_ms), (",open=", hello.open_ms), (",beat=", hello.beat_ms)] {
        line.text(key);
        line.decimal(u32::from(ms));
    }
    line.text(if hello.half { ",half=yes" } else { ",half=no" });
}

const fn file_of(square: SquareIndex) -> &'static str {
    match square.get() % 8 {
        0 => "a",
        1 => "b",
        2 => "c",
        3 => "d",
        4 => "e",
        5 => "f",
        6 => "g",
        _ => "h",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::MAX_LINE;
    use std::string::String;

    fn text(seq: u16, ms: u32, message: Message<'_>) -> String {
        String::from_utf8(encode(seq, ms, &message).as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn the_lines_of_the_manual_come_out() {
        let identity = Identity { firmware: "reference", version: "0.1.0", serial: "PB0007" };
        let hello = Hello { identity, close_ms: 5, open_ms: 15, beat_ms: 1000, half: false };
        let start = Snapshot { filled: 0xffff_0000_0000_ffff, half: None };
        let half = Snapshot { filled: 0xffff_0000_0000_ffff, half: Some(0x1000) };
        let e2 = SquareIndex::new(12).unwrap();
        let manual = include_str!("../../../docs/peg-protocol.md");
        for line in [
            text(0, 12, Message::Hello(hello)),
            text(1, 12, Message::Board(start)),
            text(2, 1012, Message::Beat(start)),
            text(3, 1500, Message::Peg(e2, Peg::Half)),
            text(4, 2012, Message::Beat(half)),
            text(5, 2230, Message::Peg(e2, Peg::Out)),
            text(6, 2904, Message::Peg(SquareIndex::new(28).unwrap(), Peg::In)),
            text(7, 3510, Message::Press(Side::White)),
            text(8, 9120, Message::Button("draw-offer-black")),
            text(9, 9300, Message::Fault(Fault::Overflow)),
        ] {
            assert!(manual.contains(line.trim_end()), "not in docs/peg-protocol.md: {line}");
        }
    }

    #[test]
    fn the_longest_line_has_its_place() {
        let long = "0123456789012345678901234567890123456789";
        let identity = Identity { firmware: long, version: long, serial: long };
        let hello = Hello { identity, close_ms: u16::MAX, open_ms: u16::MAX, beat_ms: u16::MAX, half: true };
        let line = text(u16::MAX, u32::MAX, Message::Hello(hello));
        assert!(line.ends_with("\r\n") && line.len() <= MAX_LINE, "{}: {line}", line.len());
    }

    #[test]
    fn there_are_64_squares() {
        assert!(SquareIndex::new(64).is_none());
        let line = text(0, 0, Message::Peg(SquareIndex::new(63).unwrap(), Peg::Out));
        assert!(line.contains(",h8,out*"), "{line}");
    }
}
