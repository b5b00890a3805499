//! Commands to a single board: one byte each.

/// A command to the board.
///
/// Only what a chess board may be sent. The byte that leaves the firmware for the boot loader
/// (0x4e) and those that store a draughts position in the board for good (0x51, 0x53, 0x54) are
/// not here, so that no mistake can send them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    /// Stops all streaming. No answer.
    Reset,
    /// Asks for the clock.
    SendClock,
    /// Asks for a board dump.
    SendBoard,
    /// Streams field updates, and the clock at least once a second.
    Update,
    /// Streams field updates only.
    UpdateBoard,
    /// Asks for the serial number.
    Serial,
    /// Asks for the bus address.
    BusAddress,
    /// Asks for the trademark text.
    Trademark,
    /// Asks for the hardware version; older boards do not answer.
    HardwareVersion,
    /// Asks for the storage log, up to 8.3 seconds of line time.
    StorageLog,
    /// Puts the board into bus mode.
    ToBusMode,
    /// Streams field updates, and the clock when it changed.
    UpdateNice,
    /// Asks for the battery; boards without one do not answer.
    Battery,
    /// Asks for the firmware version.
    Version,
    /// Asks for the long serial number; older boards do not answer.
    LongSerial,
}

impl Command {
    /// Every command.
    pub const ALL: [Command; 15] = [
        Command::Reset,
        Command::SendClock,
        Command::SendBoard,
        Command::Update,
        Command::UpdateBoard,
        Command::Serial,
        Command::BusAddress,
        Command::Trademark,
        Command::HardwareVersion,
        Command::StorageLog,
        Command::ToBusMode,
        Command::UpdateNice,
        Command::Battery,
        Command::Version,
        Command::LongSerial,
    ];

    /// The byte on the wire.
    pub const fn byte(self) -> u8 {
        match self {
            Command::Reset => 0x40,
            Command::SendClock => 0x41,
            Command::SendBoard => 0x42,
            Command::Update => 0x43,
            Command::UpdateBoard => 0x44,
            Command::Serial => 0x45,
            Command::BusAddress => 0x46,
            Command::Trademark => 0x47,
            Command::HardwareVersion => 0x48,
            Command::StorageLog => 0x49,
            Command::ToBusMode => 0x4a,
            Command::UpdateNice => 0x4b,
            Command::Battery => 0x4c,
            Command::Version => 0x4d,
            Command::LongSerial => 0x55,
        }
    }

    /// The command of a byte.
    pub fn from_byte(byte: u8) -> Option<Command> {
        Command::ALL.into_iter().find(|command| command.byte() == byte)
    }

    /// The id of the answer, where there is one.
    pub const fn answer(self) -> Option<u8> {
        match self {
            Command::SendClock => Some(0x8d),
            Command::SendBoard => Some(0x86),
            Command::Serial => Some(0x91),
            Command::BusAddress => Some(0x90),
            Command::Trademark => Some(0x92),
            Command::HardwareVersion => Some(0x96),
            Command::StorageLog => Some(0x8f),
            Command::Battery => Some(0xa0),
            Command::Version => Some(0x93),
            Command::LongSerial => Some(0xa2),
            Command::Reset
            | Command::Update
            | Command::UpdateBoard
            | Command::ToBusMode
            | Command::UpdateNice => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_found_by_its_byte() {
        for command in Command::ALL {
            assert_eq!(Command::from_byte(command.byte()), Some(command));
        }
    }

    #[test]
    fn what_damages_a_board_cannot_be_sent() {
        for byte in [0x4e, 0x51, 0x53, 0x54] {
            assert_eq!(Command::from_byte(byte), None);
        }
    }
}
