//! What is wrong at a port, with the command that helps.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use serde_json::json;
use serialport::ErrorKind;

use crate::session::{
    event::{self, Event},
    time::MonoTime,
};

use super::{
    super::{Sink, SourceError},
    accounts,
};

/// Where an operator sees which port is whose.
pub(in crate::sensor) const WHICH_PORT: &str = "`ls -l /dev/serial/by-id` shows what is on which port";

/// The fault of a board that has another serial number than the one before, in the journal.
pub(in crate::sensor) const OTHER_BOARD: &str = "other-board";

/// Its words.
pub(in crate::sensor) fn other_board(f: &mut fmt::Formatter<'_>, expected: &str, found: &str) -> fmt::Result {
    write!(
        f,
        "the board that answers has the serial number {found}, and it was {expected} before; where boards were \
         exchanged, put {expected} back on this port ({WHICH_PORT}); where {found} is to stay, `sudo systemctl \
         restart touchmoved` takes it for the right one"
    )
}

/// The words of a port that failed while it was open.
pub(in crate::sensor) fn lost(port: &str, error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::TimedOut {
        return format!(
            "{port}: the port takes nothing that is sent to it, as if its output were stopped; unplug the device and \
             plug it in again, and see with `sudo fuser -v {port}` whether another program has stopped it. It is \
             tried again for ever"
        );
    }
    format!(
        "{port}: {error}; waiting for it to come back: see to plug and cable, `sudo dmesg | tail` has what the system \
         says"
    )
}

/// What is wrong at a port.
#[derive(Clone, Copy, Debug)]
pub(in crate::sensor) struct Trouble<'a> {
    /// What reads the port.
    pub source: &'static str,
    /// How the port is found.
    pub port: &'a str,
    /// Its name in the journal.
    pub fault: &'static str,
    /// The text for the operator.
    pub text: &'a str,
    /// The board is read all the same: it is in its place until it is settled ([`settled`]) or the link comes
    /// anew.
    pub standing: bool,
}

impl Trouble<'_> {
    /// The fault of a port that cannot be opened, or that failed.
    pub const PORT: &'static str = "port";

    /// Tells the operator and the journal.
    pub fn tell(&self, at: MonoTime, sink: &Sink) -> Result<(), SourceError> {
        let Trouble { source, port, fault, text, standing } = self;
        tracing::warn!("{text}");
        let mut note = json!({"source": source, "port": port, "fault": fault, "error": text});
        if *standing && let Some(fields) = note.as_object_mut() {
            fields.insert(event::STANDING.to_owned(), json!(true));
        }
        sink.send(at, Event::Device(note))
    }
}

/// The note that a standing trouble is over.
pub(in crate::sensor) fn settled(source: &str, fault: &str) -> Event {
    Event::Device(json!({"source": source, (event::SETTLED): fault}))
}

/// Why a port cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// Path of the device.
    pub path: PathBuf,
    /// What is wrong.
    pub reason: OpenFailure,
}

/// What is wrong with a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenFailure {
    /// There is no such file any more.
    Missing,
    /// The user may not open it.
    Denied,
    /// Another program has it.
    Busy,
    /// It is a file or a directory.
    NotADevice,
    /// It is a serial port that does not take the framing.
    Framing(String),
    /// It is no serial port, or it fails.
    Other(String),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.reason {
            OpenFailure::Missing => write!(
                f,
                "{path}: no such device, it has gone just now; see to plug and cable, `sudo dmesg | tail` has what \
                 the system says"
            ),
            OpenFailure::Denied => {
                let access = accounts::Access::of(&self.path);
                write!(f, "{path}: permission denied; {access}")
            }
            OpenFailure::Busy => write!(
                f,
                "{path}: in use by another program; `sudo fuser -v {path}` shows which (often ModemManager, brltty \
                 or another chess program). Where it shows none, a program has left its lock behind: unplug the \
                 device and plug it in again"
            ),
            OpenFailure::NotADevice => {
                write!(f, "{path}: is no device; {WHICH_PORT}")
            }
            OpenFailure::Framing(reason) => {
                write!(f, "{path}: the port does not take this framing: {reason}; choose another one")
            }
            OpenFailure::Other(reason) => write!(
                f,
                "{path}: cannot be used as a serial port: {reason}; check path and cable, `sudo dmesg | tail` has \
                 what the system says, and a Bluetooth board has to be switched on and bound (`rfcomm`)"
            ),
        }
    }
}

impl std::error::Error for OpenError {}

impl OpenError {
    /// What the library told.
    pub(super) fn new(path: &Path, error: &serialport::Error) -> OpenError {
        let reason = match error.kind {
            ErrorKind::Io(io::ErrorKind::NotFound) => OpenFailure::Missing,
            ErrorKind::Io(io::ErrorKind::PermissionDenied) => OpenFailure::Denied,
            // The library tells EBUSY and a lock held by somebody else this way.
            ErrorKind::NoDevice => OpenFailure::Busy,
            _ => OpenFailure::Other(error.description.clone()),
        };
        OpenError { path: path.to_owned(), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_failed_says_what_to_do() {
        let stopped = lost("/dev/x", &io::ErrorKind::TimedOut.into());
        assert!(stopped.starts_with("/dev/x: ") && stopped.contains("unplug the device"), "{stopped}");
        let gone = lost("/dev/x", &io::ErrorKind::UnexpectedEof.into());
        assert!(gone.contains("waiting for it to come back") && gone.contains("`sudo dmesg"), "{gone}");
    }

    #[test]
    fn a_denied_port_names_the_command_that_lets_one_in() {
        let error = serialport::Error::new(ErrorKind::Io(io::ErrorKind::PermissionDenied), "denied");
        let text = OpenError::new(Path::new("/dev/ttyUSB0"), &error).to_string();
        assert!(text.contains("sudo usermod -aG dialout "), "{text}");
    }
}
