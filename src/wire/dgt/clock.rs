//! The clock message (BWTIME): times, acknowledgements, nothing.

/// One side of the clock as it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockSide {
    /// The time shown, in seconds, 0 to 35999 (9:59:59).
    pub seconds: u32,
    /// The flag fell and the time is blocked at zero.
    pub blocked: bool,
    /// A method with time for each move is on (increment or delay).
    pub per_move: bool,
    /// A flag is shown; the clock may still run, in the next period.
    pub flag_shown: bool,
}

/// The state of the clock. Left and right are seen from the front of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockState {
    /// The right side.
    pub right: ClockSide,
    /// The left side.
    pub left: ClockSide,
    /// The clock runs.
    pub running: bool,
    /// The lever is high on the right: the left player has pressed, the right side is on move.
    pub right_lever_high: bool,
    /// The clock shows its battery sign.
    pub battery_low: bool,
    /// Status bit 3, "left side's turn". Makers and clocks disagree about bits 3 and 4.
    pub left_turn: bool,
    /// Status bit 4, "right side's turn".
    pub right_turn: bool,
}

/// A button on the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// The leftmost button.
    Back,
    /// Plus.
    Plus,
    /// Start and stop.
    Run,
    /// Minus.
    Minus,
    /// The rightmost button.
    Ok,
}

impl Button {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Button::Back => "back",
            Button::Plus => "plus",
            Button::Run => "run",
            Button::Minus => "minus",
            Button::Ok => "ok",
        }
    }
}

/// An acknowledgement of the clock: four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack(pub [u8; 4]);

impl Ack {
    /// True when the clock did what it was told, or reports by itself.
    pub const fn ok(self) -> bool {
        self.0[0] == 0x10
    }

    /// True when nobody asked: a button, the clock is ready.
    pub const fn unasked(self) -> bool {
        self.0[1] & 0x80 != 0
    }

    /// The clock tells that it is ready.
    pub const fn ready(self) -> bool {
        self.ok() && self.0[1] == 0x81
    }

    /// The button that was pressed.
    pub const fn button(self) -> Option<Button> {
        if !self.ok() || self.0[1] != 0x88 {
            return None;
        }
        match self.0[3] {
            0x31 => Some(Button::Back),
            0x32 => Some(Button::Plus),
            0x33 => Some(Button::Run),
            0x34 => Some(Button::Minus),
            0x35 => Some(Button::Ok),
            _ => None,
        }
    }

    /// Version of the clock, major and minor, in the answer to a version request.
    pub const fn version(self) -> Option<(u8, u8)> {
        if self.ok() && self.0[1] == 0x09 { Some((self.0[2] >> 4, self.0[2] & 0x0f)) } else { None }
    }
}

/// What a clock message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Times and status.
    State(ClockState),
    /// An acknowledgement.
    Ack(Ack),
    /// No clock is connected.
    Absent,
    /// Seven zeroes, which a Bluetooth board sends after a clock command: nothing.
    Null,
    /// A time that is none (digits out of range); the payload.
    Invalid([u8; 7]),
}

const ABSENT: u8 = 0x20;

/// Low nibble of an hours byte that marks an acknowledgement; hours never reach it.
const ACK: u8 = 0x0a;

/// Reads the payload of a clock message.
pub fn decode(payload: [u8; 7]) -> Clock {
    let [p0, p1, p2, p3, p4, p5, status] = payload;
    if [p0, p1, p2, p3, p4, p5, status & 0x3f] == [0; 7] {
        return Clock::Null;
    }
    if p0 & 0x0f == ACK || p3 & 0x0f == ACK {
        let top = |byte: u8, shift: u32| (byte << shift) & 0x80;
        return Clock::Ack(Ack([
            p1 & 0x7f | top(p3, 3),
            p2 & 0x7f | top(p3, 2),
            p4 & 0x7f | top(p0, 3),
            p5 & 0x7f | top(p0, 2),
        ]));
    }
    if status & ABSENT != 0 {
        return Clock::Absent;
    }
    match (side([p0, p1, p2]), side([p3, p4, p5])) {
        (Some(right), Some(left)) => Clock::State(ClockState {
            right,
            left,
            running: status & 0x01 != 0,
            right_lever_high: status & 0x02 != 0,
            battery_low: status & 0x04 != 0,
            left_turn: status & 0x08 != 0,
            right_turn: status & 0x10 != 0,
        }),
        _ => Clock::Invalid(payload),
    }
}

fn side([hours, minutes, seconds]: [u8; 3]) -> Option<ClockSide> {
    let sixty = |bcd: u8| -> Option<u32> {
        let (tens, units) = (bcd >> 4, bcd & 0x0f);
        (tens <= 5 && units <= 9).then(|| u32::from(tens) * 10 + u32::from(units))
    };
    let h = u32::from(hours & 0x0f);
    (h <= 9).then_some(())?;
    Some(ClockSide {
        seconds: h * 3600 + sixty(minutes)? * 60 + sixty(seconds)?,
        blocked: hours & 0x10 != 0,
        per_move: hours & 0x20 != 0,
        flag_shown: hours & 0x40 != 0,
    })
}

/// The payload of a clock message.
pub fn encode(clock: &Clock) -> [u8; 7] {
    match clock {
        Clock::Null => [0; 7],
        Clock::Absent => [0, 0, 0, 0, 0, 0, ABSENT],
        Clock::Invalid(payload) => *payload,
        Clock::Ack(Ack([a0, a1, a2, a3])) => {
            let tops = |x: u8, y: u8| ACK | (x & 0x80) >> 3 | (y & 0x80) >> 2;
            [tops(*a2, *a3), a0 & 0x7f, a1 & 0x7f, tops(*a0, *a1), a2 & 0x7f, a3 & 0x7f, 0]
        }
        Clock::State(state) => {
            let [r0, r1, r2] = encode_side(&state.right);
            let [l0, l1, l2] = encode_side(&state.left);
            let bit = |on: bool, value: u8| if on { value } else { 0 };
            let status = bit(state.running, 0x01)
                | bit(state.right_lever_high, 0x02)
                | bit(state.battery_low, 0x04)
                | bit(state.left_turn, 0x08)
                | bit(state.right_turn, 0x10);
            [r0, r1, r2, l0, l1, l2, status]
        }
    }
}

fn encode_side(side: &ClockSide) -> [u8; 3] {
    let seconds = side.seconds.min(35_999);
    let bcd = |n: u32| u8::try_from(n / 10 * 16 + n % 10).unwrap_or(0);
    let bit = |on: bool, value: u8| if on { value } else { 0 };
    [
        bcd(seconds / 3600) | bit(side.blocked, 0x10) | bit(side.per_move, 0x20) | bit(side.flag_shown, 0x40),
        bcd(seconds / 60 % 60),
        bcd(seconds % 60),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_clock_message_survives_the_round_trip(payload in any::<[u8; 7]>()) {
            let payload = payload.map(|byte| byte & 0x7f);
            let clock = decode(payload);
            prop_assert_eq!(decode(encode(&clock)), clock);
        }
    }

    #[test]
    fn an_acknowledgement_keeps_its_high_bits() {
        for ack in [[0x10, 0x88, 0x45, 0x35], [0x90, 0x00, 0x80, 0xff], [0xff; 4], [0; 4]] {
            assert_eq!(decode(encode(&Clock::Ack(Ack(ack)))), Clock::Ack(Ack(ack)));
        }
    }
}
