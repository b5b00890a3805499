//! What has come from the other end of the cable, and what that says about it.

use std::fmt;

use crate::sensor::serial::WHICH_PORT;
use crate::wire::dgt::{
    Message,
    memory::{self, Squares},
    message::Reading,
};

/// Ids that only boards in bus mode send.
const BUS: [u8; 7] = [0x83, 0x84, 0x85, 0x87, 0x88, 0x89, 0x8a];

/// So many answers with another serial number are no slip of the line.
const OTHER_ANSWERS: u8 = 2;

/// Why a port that is open gives no board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing comes.
    Silent,
    /// It answers, but shows no squares.
    NoDump,
    /// What comes is no message of a DGT board.
    NotDgt {
        /// The first bytes that came.
        first: Vec<u8>,
    },
    /// A board in bus mode, or a program that talks to it, is on the line.
    Bus,
    /// More than one board answers.
    Several(String, String),
}

impl Fault {
    /// Its name in the journal.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Fault::Silent => "silent",
            Fault::NoDump => "no-dump",
            Fault::NotDgt { .. } => "not-dgt",
            Fault::Bus => "bus",
            Fault::Several(..) => "several-boards",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ONE: &str = "a bus of several boards is not supported: connect each board to a port of its own";
        match self {
            Fault::Silent => write!(
                f,
                "no answer; is the board switched on, and is this its port ({WHICH_PORT})? Lift a man to wake it, check plug and battery, and try dtr-rts = \"off\" with an RS-232 \
                 board"
            ),
            Fault::NoDump => write!(
                f,
                "the board answers but does not tell its squares; switch it off and on again, and look whether \
                 another program uses it (`sudo fuser -v` with the path of the port)"
            ),
            Fault::NotDgt { first } => {
                write!(f, "what answers is no DGT board (it sent")?;
                first.iter().try_for_each(|byte| write!(f, " {byte:02x}"))?;
                write!(
                    f,
                    "); {WHICH_PORT}. Garbled answers may also come from several boards on one cable: {ONE}"
                )
            }
            Fault::Bus => write!(f, "messages of boards in bus mode are on the line; {ONE}"),
            Fault::Several(one, other) => {
                write!(f, "the boards with the serial numbers {one} and {other} answer on one port; {ONE}")
            }
        }
    }
}

/// Everything that came since the port was opened, and the picture of the squares since ever.
#[derive(Clone, Debug, Default)]
pub(super) struct Witness {
    squares: Option<Squares>,
    first: Vec<u8>,
    frames: u32,
    bus: u32,
    serial: Option<String>,
    other: Option<String>,
    other_answers: u8,
}

impl Witness {
    /// A witness of a board whose squares may have been seen before.
    pub(super) fn new(squares: Option<Squares>) -> Witness {
        Witness { squares, ..Witness::default() }
    }

    /// The port was opened: another device may be there.
    pub(super) fn opened(&mut self) {
        *self = Witness { squares: self.squares, ..Witness::default() };
    }

    /// Bytes came in.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let room = 8usize.saturating_sub(self.first.len());
        self.first.extend(bytes.iter().take(room));
    }

    /// A frame came in; true when it is a dump and enough has changed since the picture before to ask for the
    /// board's memory.
    pub(super) fn frame(&mut self, id: u8, payload: &[u8], asked_serial: bool) -> bool {
        self.bus += u32::from(BUS.contains(&id));
        match Message::decode(id, payload) {
            Message::Board(dump) => {
                self.frames += 1;
                let mut now = [Reading::Empty; 64];
                for (square, reading) in dump.squares() {
                    if let Some(slot) = now.get_mut(usize::from(square)) {
                        *slot = reading;
                    }
                }
                self.squares.replace(now).is_some_and(|before| memory::is_wanted(&before, &now))
            }
            Message::Field { square, reading } => {
                self.frames += 1;
                let slot = self.squares.as_mut().and_then(|squares| squares.get_mut(usize::from(square)));
                if let Some(slot) = slot {
                    *slot = reading;
                }
                false
            }
            Message::Serial(text) => {
                self.frames += 1;
                self.serial(text, asked_serial);
                false
            }
            Message::Invalid { .. } | Message::Unknown { .. } => false,
            _ => {
                self.frames += 1;
                false
            }
        }
    }

    /// Several boards on one cable answer one request one after the other. One other number may be a slip of
    /// the line.
    fn serial(&mut self, text: String, asked: bool) {
        match &self.serial {
            None => self.serial = Some(text),
            Some(known) if *known == text => {}
            Some(_) if asked => {}
            Some(_) if self.other.as_ref() == Some(&text) => {
                self.other_answers = self.other_answers.saturating_add(1);
            }
            Some(_) => {
                self.other_answers = 1;
                self.other = Some(text);
            }
        }
    }

    /// Two boards, as soon as that is sure.
    pub(super) fn several(&self) -> Option<Fault> {
        let (one, other) = self.serial.as_ref().zip(self.other.as_ref())?;
        (self.other_answers >= OTHER_ANSWERS).then(|| Fault::Several(one.clone(), other.clone()))
    }

    /// Why the board does not answer as it should.
    pub(super) fn fault(&self) -> Fault {
        if let Some(several) = self.several() {
            several
        } else if self.bus > 0 {
            Fault::Bus
        } else if self.frames > 0 {
            Fault::NoDump
        } else if self.first.is_empty() {
            Fault::Silent
        } else {
            Fault::NotDgt { first: self.first.clone() }
        }
    }
}
