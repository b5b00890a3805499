//! One line of a pegged board, read.

use shakmaty::{Bitboard, Color, Square};

use super::{PROTOCOL, frame::check};

/// A line: its number, the time on the board's clock, what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Number of the line: 0 for the first one after a start, 0 again after 65535.
    pub seq: u16,
    /// Milliseconds on the clock of the board, which wraps after 49 days.
    pub ms: u32,
    /// What it says.
    pub message: Message,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// What the board is.
    Hello(Hello),
    /// A hello of another version of the protocol: nothing more is known of it.
    ForeignHello(u32),
    /// All holes, because the board started or was asked.
    Board(Snapshot),
    /// All holes, as a sign of life.
    Beat(Snapshot),
    /// A peg moved.
    Peg(Square, Peg),
    /// A player pressed the clock.
    Press(Color),
    /// A button, by its name.
    Button(String),
    /// Something is wrong with the board, in one word.
    Fault(String),
    /// A kind of line that this version does not know.
    Other(String),
}

/// Where a peg is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peg {
    /// Out of its hole: a touched man (Appendix D.2.2).
    Out,
    /// In its hole, but not all the way.
    Half,
    /// In its hole.
    In,
}

/// Which holes have a peg in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Holes with a peg, half out or not.
    pub filled: Bitboard,
    /// Of these, the ones whose peg is half out; empty where the board cannot tell.
    pub half: Bitboard,
}

/// What a board says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Name of the firmware.
    pub firmware: String,
    /// Its version.
    pub version: String,
    /// Serial number of the board.
    pub serial: String,
    /// For how many milliseconds a peg has rested in its hole when that is told.
    pub close_ms: u16,
    /// For how many milliseconds it has been out.
    pub open_ms: u16,
    /// Milliseconds from one heartbeat to the next.
    pub beat_ms: u16,
    /// The board tells pegs that are half out.
    pub half: bool,
}

/// Why a text is no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// Length or checksum are wrong.
    #[error("length or checksum are wrong")]
    Damaged,
    /// A field is not what the protocol says.
    #[error("the {0} is not what the protocol says")]
    Field(&'static str),
}

impl Line {
    /// Reads a line, from `$` to its checksum.
    ///
    /// # Errors
    /// The line is damaged, or a field of a known kind of line is not what the protocol says.
    pub fn parse(text: &str) -> Result<Line, LineError> {
        let body = check(text).ok_or(LineError::Damaged)?;
        let mut fields = body.split(',');
        let kind = fields.next().filter(|kind| is_kind(kind)).ok_or(LineError::Field("kind of line"))?;
        let seq = fields.next().and_then(decimal).ok_or(LineError::Field("number of the line"))?;
        let ms = fields.next().and_then(decimal).ok_or(LineError::Field("time"))?;
        let mut rest = Fields(fields);
        let message = match kind {
            "HELLO" => hello(&mut rest)?,
            "BOARD" => Message::Board(snapshot(&mut rest)?),
            "BEAT" => Message::Beat(snapshot(&mut rest)?),
            "PEG" => Message::Peg(
                rest.read("square", |text| text.parse().ok())?,
                rest.read("state of the peg", |text| match text {
                    "out" => Some(Peg::Out),
                    "half" => Some(Peg::Half),
                    "in" => Some(Peg::In),
                    _ => None,
                })?,
            ),
            "PRESS" => Message::Press(rest.read("player", |text| match text {
                "white" => Some(Color::White),
                "black" => Some(Color::Black),
                _ => None,
            })?),
            "BUTTON" => Message::Button(rest.read("name of the button", |text| name(text, 32))?),
            "FAULT" => Message::Fault(rest.read("fault", |text| name(text, 32))?),
            other => return Ok(Line { seq, ms, message: Message::Other(other.to_owned()) }),
        };
        rest.finish(&message)?;
        Ok(Line { seq, ms, message })
    }
}

/// The fields behind the time.
struct Fields<'a>(std::str::Split<'a, char>);

impl<'a> Fields<'a> {
    fn read<T>(
        &mut self,
        what: &'static str,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, LineError> {
        self.0.next().and_then(read).ok_or(LineError::Field(what))
    }

    /// A hello may go on with keys of later minor versions; nothing else goes on.
    fn finish(mut self, message: &Message) -> Result<(), LineError> {
        let open = matches!(message, Message::Hello(_) | Message::ForeignHello(_));
        if open || self.0.next().is_none() { Ok(()) } else { Err(LineError::Field("end of the line")) }
    }
}

fn hello(fields: &mut Fields<'_>) -> Result<Message, LineError> {
    let protocol = fields.read("version of the protocol", |text| decimal(text.strip_prefix("proto=")?))?;
    if protocol != PROTOCOL {
        return Ok(Message::ForeignHello(protocol));
    }
    let key = |text: &'static str| move |field: &str| field.strip_prefix(text).map(str::to_owned);
    let text = |longest: usize| move |value: String| name(&value, longest);
    let number = |value: String| decimal(&value);
    Ok(Message::Hello(Hello {
        firmware: fields.read("firmware", |field| key("firmware=")(field).and_then(text(16)))?,
        version: fields.read("version", |field| key("version=")(field).and_then(text(12)))?,
        serial: fields.read("serial number", |field| key("serial=")(field).and_then(text(24)))?,
        close_ms: fields.read("closing time", |field| key("close=")(field).and_then(number))?,
        open_ms: fields.read("opening time", |field| key("open=")(field).and_then(number))?,
        beat_ms: fields.read("heartbeat", |field| key("beat=")(field).and_then(number))?,
        half: fields.read("key half", |field| match field {
            "half=yes" => Some(true),
            "half=no" => Some(false),
            _ => None,
        })?,
    }))
}

fn snapshot(fields: &mut Fields<'_>) -> Result<Snapshot, LineError> {
    let filled = fields.read("holes", squares)?;
    let half = match fields.0.next() {
        None => Bitboard::EMPTY,
        Some(text) => squares(text)
            .filter(|half| half.is_subset(filled))
            .ok_or(LineError::Field("holes with a peg half out"))?,
    };
    Ok(Snapshot { filled, half })
}

/// Sixteen small hexadecimal digits.
fn squares(text: &str) -> Option<Bitboard> {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (text.len() == 16 && text.bytes().all(digit)).then_some(())?;
    u64::from_str_radix(text, 16).ok().map(Bitboard)
}

/// A number without sign and leading zeros.
fn decimal<T: std::str::FromStr>(text: &str) -> Option<T> {
    let canonical = text == "0" || !text.starts_with('0');
    (canonical && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(())?;
    text.parse().ok()
}

fn name(text: &str, longest: usize) -> Option<String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    ((1..=longest).contains(&text.len()) && text.bytes().all(fits)).then(|| text.to_owned())
}

fn is_kind(text: &str) -> bool {
    (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchmoved_peg::crc16;

    fn line(body: &str) -> String {
        let crc = body.bytes().fold(0xffff, crc16);
        format!("${body}*{:02X}{crc:04X}", body.len())
    }

    fn read(body: &str) -> Result<Message, LineError> {
        Line::parse(&line(body)).map(|line| line.message)
    }

    #[test]
    fn each_kind_of_line_is_read() {
        let start = Bitboard(0xffff_0000_0000_ffff);
        let e2 = Bitboard::from_square(Square::E2);
        let hello = Hello {
            firmware: "reference".to_owned(),
            version: "0.1.0".to_owned(),
            serial: "PB0007".to_owned(),
            close_ms: 5,
            open_ms: 15,
            beat_ms: 1000,
            half: true,
        };
        let text =
            "proto=1,firmware=reference,version=0.1.0,serial=PB0007,close=5,open=15,beat=1000,half=yes";
        assert_eq!(read(&format!("HELLO,0,12,{text}")), Ok(Message::Hello(hello.clone())));
        assert_eq!(read(&format!("HELLO,0,12,{text},later=1")), Ok(Message::Hello(hello)));
        assert_eq!(read("HELLO,0,12,proto=2,name=x"), Ok(Message::ForeignHello(2)));
        for (body, message) in [
            ("BOARD,1,2,ffff00000000ffff", Message::Board(Snapshot { filled: start, half: Bitboard::EMPTY })),
            (
                "BEAT,1,2,ffff00000000ffff,0000000000001000",
                Message::Beat(Snapshot { filled: start, half: e2 }),
            ),
            ("PEG,65535,4294967295,e2,out", Message::Peg(Square::E2, Peg::Out)),
            ("PEG,0,0,h8,half", Message::Peg(Square::H8, Peg::Half)),
            ("PRESS,5,6,black", Message::Press(Color::Black)),
            ("BUTTON,5,6,draw-offer-white", Message::Button("draw-offer-white".to_owned())),
            ("FAULT,5,6,overflow", Message::Fault("overflow".to_owned())),
            ("BATTERY,5,6,80", Message::Other("BATTERY".to_owned())),
        ] {
            assert_eq!(read(body), Ok(message), "{body}");
        }
        assert_eq!(Line::parse(&line("PEG,7,90,e4,in")).map(|line| (line.seq, line.ms)), Ok((7, 90)));
    }

    #[test]
    fn what_the_protocol_does_not_say_is_refused() {
        for body in [
            "",
            "PEG",
            "peg,1,2,e2,out",
            "PEG,01,2,e2,out",
            "PEG,65536,2,e2,out",
            "PEG,1,4294967296,e2,out",
            "PEG,+1,2,e2,out",
            "PEG,1,,e2,out",
            "PEG,1,2,e9,out",
            "PEG,1,2,e2,up",
            "PEG,1,2,e2,out,",
            "PRESS,1,2,green",
            "BUTTON,1,2,",
            "BUTTON,1,2,a b",
            "BOARD,1,2,FFFF00000000FFFF",
            "BOARD,1,2,ffff",
            "BOARD,1,2,000000000000ffff,0000000000010000",
            "HELLO,1,2,firmware=x",
            "HELLO,1,2,proto=1,firmware=x",
        ] {
            assert!(matches!(read(body), Err(LineError::Field(_))), "{body}: {:?}", read(body));
        }
        assert_eq!(Line::parse("$PEG,1,2,e2,out*0F0000"), Err(LineError::Damaged));
    }
}
