//! Messages from a single board, decoded and encoded.

use shakmaty::{Color, Piece, Role, Square};

use super::{clock, clock::Clock, frame};

/// What a board reads on a square.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Nothing.
    #[default]
    Empty,
    /// A chess man.
    Man(Piece),
    /// A special piece that enters a result. No man of the game.
    Special(Special),
}

/// Special pieces that some boards know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// The game is drawn.
    Draw,
    /// White won.
    WhiteWins,
    /// Black won.
    BlackWins,
}

impl Special {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Special::Draw => "draw",
            Special::WhiteWins => "white-wins",
            Special::BlackWins => "black-wins",
        }
    }
}

/// The men in the order of their codes, from 1 for White and from 7 for Black, kings and queens
/// apart.
const fn man(code: u8) -> Option<Piece> {
    let (color, role) = match code {
        0x01 => (Color::White, Role::Pawn),
        0x02 => (Color::White, Role::Rook),
        0x03 => (Color::White, Role::Knight),
        0x04 => (Color::White, Role::Bishop),
        0x05 => (Color::White, Role::King),
        0x06 => (Color::White, Role::Queen),
        0x07 => (Color::Black, Role::Pawn),
        0x08 => (Color::Black, Role::Rook),
        0x09 => (Color::Black, Role::Knight),
        0x0a => (Color::Black, Role::Bishop),
        0x0b => (Color::Black, Role::King),
        0x0c => (Color::Black, Role::Queen),
        _ => return None,
    };
    Some(Piece { color, role })
}

impl Reading {
    /// Reads a code. Only the low nibble counts: newer boards may set a flag above it.
    pub const fn from_code(code: u8) -> Reading {
        match code & 0x0f {
            0x00 => Reading::Empty,
            0x0d => Reading::Special(Special::Draw),
            0x0e => Reading::Special(Special::WhiteWins),
            0x0f => Reading::Special(Special::BlackWins),
            code => match man(code) {
                Some(piece) => Reading::Man(piece),
                None => Reading::Empty,
            },
        }
    }

    /// The code on the wire.
    pub fn code(self) -> u8 {
        match self {
            Reading::Empty => 0x00,
            Reading::Special(Special::Draw) => 0x0d,
            Reading::Special(Special::WhiteWins) => 0x0e,
            Reading::Special(Special::BlackWins) => 0x0f,
            Reading::Man(piece) => (1..=12).find(|code| man(*code) == Some(piece)).unwrap_or(0),
        }
    }

    /// The chess man, where it is one.
    pub const fn piece(self) -> Option<Piece> {
        match self {
            Reading::Man(piece) => Some(piece),
            Reading::Empty | Reading::Special(_) => None,
        }
    }
}

/// The square of a number in the board's own order, 0 = a8 to 63 = h1.
pub fn square_of(number: u8) -> Option<Square> {
    Some(Square::try_from(u32::from(number)).ok()?.flip_vertical())
}

/// The number of a square in the board's own order.
pub fn number_of(square: Square) -> u8 {
    u8::from(square.flip_vertical())
}

/// The readings of all squares in the board's own order, 0 = a8 to 63 = h1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Dump(pub [Reading; 64]);

impl std::fmt::Debug for Dump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dump({})", self.placement().board_fen())
    }
}

impl Dump {
    /// The readings with the names of their squares, as the board numbers them.
    pub fn squares(&self) -> impl Iterator<Item = (Square, Reading)> + '_ {
        (0u8..64).filter_map(square_of).zip(self.0.iter().copied())
    }

    /// The men on the board, as the board numbers the squares.
    pub fn placement(&self) -> shakmaty::Board {
        let mut board = shakmaty::Board::empty();
        for (square, reading) in self.squares() {
            if let Some(piece) = reading.piece() {
                board.set_piece_at(square, piece);
            }
        }
        board
    }

    /// The dump that shows these men.
    pub fn of(board: &shakmaty::Board) -> Dump {
        let mut readings = [Reading::Empty; 64];
        for (number, reading) in (0u8..64).zip(readings.iter_mut()) {
            if let Some(piece) = square_of(number).and_then(|square| board.piece_at(square)) {
                *reading = Reading::Man(piece);
            }
        }
        Dump(readings)
    }
}

/// State of the battery of a wireless board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Battery {
    /// Charge in percent.
    pub percent: u8,
    /// Hours and minutes left, where the board knows them.
    pub time_left: Option<(u8, u8)>,
    /// Hours and minutes in use.
    pub on_time: (u8, u8),
    /// Days, hours and minutes in standby.
    pub standby: (u8, u8, u8),
    /// It is being charged.
    pub charging: bool,
    /// It is being discharged.
    pub discharging: bool,
}

/// A message from a board in single mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// All squares.
    Board(Box<Dump>),
    /// One square reads something else now.
    Field {
        /// The square as the board numbers it.
        square: Square,
        /// What it reads.
        reading: Reading,
    },
    /// The clock.
    Clock(Clock),
    /// Storage log, as it came.
    StorageLog(Vec<u8>),
    /// Bus address, 14 bits.
    BusAddress(u16),
    /// Serial number, five digits (old boards: more).
    Serial(String),
    /// Trademark text, several lines.
    Trademark(String),
    /// Firmware version, major and minor, both plain numbers: 3.10 is later than 3.9.
    Version(u8, u8),
    /// Hardware version, major and minor.
    HardwareVersion(u8, u8),
    /// Battery.
    Battery(Battery),
    /// Long serial number, ten characters.
    LongSerial(String),
    /// A known id whose payload makes no sense.
    Invalid {
        /// The id.
        id: u8,
        /// The payload.
        payload: Vec<u8>,
    },
    /// An id that is not known here, kept as it came.
    Unknown {
        /// The id.
        id: u8,
        /// The payload.
        payload: Vec<u8>,
    },
}

fn text(payload: &[u8]) -> String {
    payload.iter().map(|byte| char::from(byte & 0x7f)).collect()
}

impl Message {
    /// Reads a frame of a board in single mode.
    pub fn decode(id: u8, payload: &[u8]) -> Message {
        let known = match (id, payload) {
            (0x86, codes) => dump(codes),
            (0x8d, payload) => payload.try_into().ok().map(|p| Message::Clock(clock::decode(p))),
            (0x8e, [number, code]) => {
                square_of(*number).map(|square| Message::Field { square, reading: Reading::from_code(*code) })
            }
            (0x8f, log) => Some(Message::StorageLog(log.to_vec())),
            (0x90, [high, low]) => {
                Some(Message::BusAddress(u16::from(high & 0x7f) << 7 | u16::from(low & 0x7f)))
            }
            (0x91, digits) => Some(Message::Serial(text(digits))),
            (0x92, lines) => Some(Message::Trademark(text(lines))),
            (0x93, [major, minor]) => Some(Message::Version(*major, *minor)),
            (0x96, [major, minor]) => Some(Message::HardwareVersion(*major, *minor)),
            (0xa0, payload) => battery(payload),
            (0xa2, digits) => Some(Message::LongSerial(text(digits))),
            (0x8e | 0x90 | 0x93 | 0x96, _) => None,
            _ => Some(Message::Unknown { id, payload: payload.to_vec() }),
        };
        known.unwrap_or_else(|| Message::Invalid { id, payload: payload.to_vec() })
    }

    /// The bytes of the message.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Message::Board(dump) => {
                let codes: Vec<u8> = dump.0.iter().map(|reading| reading.code()).collect();
                frame::encode(0x86, &codes)
            }
            Message::Field { square, reading } => frame::encode(0x8e, &[number_of(*square), reading.code()]),
            Message::Clock(clock) => frame::encode(0x8d, &clock::encode(clock)),
            Message::StorageLog(log) => frame::encode(0x8f, log),
            Message::BusAddress(address) => {
                let [high, low] = [address >> 7, *address].map(|part| (part & 0x7f).to_le_bytes()[0]);
                frame::encode(0x90, &[high, low])
            }
            Message::Serial(digits) => frame::encode(0x91, digits.as_bytes()),
            Message::Trademark(lines) => frame::encode(0x92, lines.as_bytes()),
            Message::Version(major, minor) => frame::encode(0x93, &[*major, *minor]),
            Message::HardwareVersion(major, minor) => frame::encode(0x96, &[*major, *minor]),
            Message::Battery(battery) => frame::encode(0xa0, &encode_battery(battery)),
            Message::LongSerial(digits) => frame::encode(0xa2, digits.as_bytes()),
            Message::Invalid { id, payload } | Message::Unknown { id, payload } => {
                frame::encode(*id, payload)
            }
        }
    }
}

fn dump(codes: &[u8]) -> Option<Message> {
    let codes: [u8; 64] = codes.try_into().ok()?;
    Some(Message::Board(Box::new(Dump(codes.map(Reading::from_code)))))
}

fn battery(payload: &[u8]) -> Option<Message> {
    let [percent, left_h, left_m, on_h, on_m, days, hours, minutes, status] = *payload else {
        return None;
    };
    Some(Message::Battery(Battery {
        percent,
        time_left: (left_h != 0x7f && left_m != 0x7f).then_some((left_h, left_m)),
        on_time: (on_h, on_m),
        standby: (days, hours, minutes),
        charging: status & 0x01 != 0,
        discharging: status & 0x02 != 0,
    }))
}

fn encode_battery(battery: &Battery) -> [u8; 9] {
    let (left_h, left_m) = battery.time_left.unwrap_or((0x7f, 0x7f));
    let (on_h, on_m) = battery.on_time;
    let (days, hours, minutes) = battery.standby;
    let status = u8::from(battery.charging) | u8::from(battery.discharging) << 1;
    [battery.percent, left_h, left_m, on_h, on_m, days, hours, minutes, status]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_decoded_survives_the_round_trip(
            id in 0x80u8..=0xff,
            payload in proptest::collection::vec(0u8..128, 0..80),
        ) {
            let message = Message::decode(id, &payload);
            let bytes = message.encode();
            let again = Message::decode(bytes[0], &bytes[3..]);
            prop_assert_eq!(again, message);
        }
    }

    #[test]
    fn the_board_counts_from_a8_to_h1() {
        assert_eq!(square_of(0), Some(Square::A8));
        assert_eq!(square_of(7), Some(Square::H8));
        assert_eq!(square_of(63), Some(Square::H1));
        assert_eq!(square_of(64), None);
        for square in Square::ALL {
            assert_eq!(square_of(number_of(square)), Some(square));
        }
    }

    #[test]
    fn a_flag_above_the_piece_code_is_ignored() {
        assert_eq!(Reading::from_code(0x11), Reading::from_code(0x01));
    }

    #[test]
    fn a_number_above_63_is_no_square() {
        assert!(matches!(Message::decode(0x8e, &[64, 1]), Message::Invalid { id: 0x8e, .. }));
    }
}
