//! The start, step by step.

use super::Updates;
use crate::wire::dgt::Command;

/// A step of the start.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Throws away what came in.
    Discard,
    /// Sends a command that has no answer, and waits.
    Tell(Command),
    /// Asks; a missing answer is normal.
    Ask(Command),
    /// Asks again and again; the board is not there without the answer.
    Need(Command),
}

/// What comes before everything else: the board falls silent, what is left over is thrown away.
pub(super) const RESET: [Step; 3] = [Step::Discard, Step::Tell(Command::Reset), Step::Discard];

/// What the board is asked about itself, once after the port was opened and while it streams already, so that
/// an old board that does not know some of it is not read later for that. One answer may be a slip of the line: the
/// serial number counts when it came twice.
pub(super) const IDENTITY: [Command; 7] = [
    Command::Version,
    Command::Serial,
    Command::Serial,
    Command::LongSerial,
    Command::Trademark,
    Command::HardwareVersion,
    Command::Battery,
];

/// The second dump closes the gap between the first one and the start of the stream.
pub(super) const fn stream(updates: Updates) -> [Step; 4] {
    [
        Step::Need(Command::SendBoard),
        Step::Tell(updates.command()),
        Step::Ask(Command::SendClock),
        Step::Ask(Command::SendBoard),
    ]
}
