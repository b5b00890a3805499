//! A serial port: opened for us alone, read with stamps, opened again for ever ([`keeper`]).

mod accounts;
mod attempts;
mod held;
pub mod keeper;
pub mod place;
mod trouble;

pub(super) use trouble::{OTHER_BOARD, Trouble, WHICH_PORT, lost, other_board, settled};
pub use trouble::{OpenError, OpenFailure};

use std::{
    io,
    io::{Read as _, Write as _},
    os::unix::fs::FileTypeExt as _,
    path::PathBuf,
    time::Duration,
};

use serialport::{ClearBuffer, DataBits, FlowControl, Parity, SerialPort as _, StopBits, TTYPort};

use crate::{session::time::MonoTime, sysclock};

/// What is done with the modem lines DTR and RTS when the port is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModemLines {
    /// As the driver of the operating system sets them (raised, mostly).
    #[default]
    Leave,
    /// Both raised.
    On,
    /// Both lowered; some boards on RS-232 want it.
    Off,
}

impl ModemLines {
    /// The word of the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            ModemLines::Leave => "leave",
            ModemLines::On => "on",
            ModemLines::Off => "off",
        }
    }

    /// Reads the word of the configuration.
    pub fn parse(text: &str) -> Option<ModemLines> {
        [ModemLines::Leave, ModemLines::On, ModemLines::Off].into_iter().find(|lines| lines.as_str() == text)
    }
}

/// Data bits, parity and stop bits of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// 8 data bits, no parity, 1 stop bit.
    #[default]
    EightNone,
    /// 8 data bits, even parity, 1 stop bit.
    EightEven,
    /// 8 data bits, odd parity, 1 stop bit.
    EightOdd,
    /// 7 data bits, even parity, 1 stop bit.
    SevenEven,
}

/// Which port, and how it is set: always raw and without flow control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSettings {
    /// Path of the device.
    pub path: PathBuf,
    /// Bits a second.
    pub baud: u32,
    /// Data bits, parity and stop bits.
    pub framing: Framing,
    /// DTR and RTS.
    pub lines: ModemLines,
}

/// An open port.
#[derive(Debug)]
pub struct SerialLink {
    port: TTYPort,
}

impl SerialLink {
    /// Opens the port for this program alone.
    pub fn open(settings: &PortSettings) -> Result<SerialLink, OpenError> {
        let failed = |error: serialport::Error| OpenError::new(&settings.path, &error);
        if std::fs::metadata(&settings.path).is_ok_and(|metadata| !metadata.file_type().is_char_device()) {
            return Err(OpenError { path: settings.path.clone(), reason: OpenFailure::NotADevice });
        }
        let builder = serialport::new(settings.path.to_string_lossy(), settings.baud)
            .data_bits(DataBits::Eight)
            .parity(Parity::None)
            .stop_bits(StopBits::One)
            .flow_control(FlowControl::None)
            // Opened in exclusive mode, the library marks a port before it finds that another program has
            // it, and the mark would stay: after that nobody could open it but root.
            .exclusive(false)
            .timeout(Duration::from_millis(100));
        let mut link = SerialLink { port: TTYPort::open(&builder).map_err(failed)? };
        // A failure drops the link, which takes the mark away again.
        link.port.set_exclusive(true).map_err(failed)?;
        link.set_framing(settings.framing).map_err(|error| OpenError {
            path: settings.path.clone(),
            reason: OpenFailure::Framing(error.description),
        })?;
        link.set_lines(settings);
        // What came before the port was set is garbled or old.
        let _ = link.port.clear(ClearBuffer::All);
        Ok(link)
    }

    /// Sets DTR and RTS. A pseudo terminal has none, which is no reason to refuse it.
    fn set_lines(&mut self, settings: &PortSettings) {
        let level = match settings.lines {
            ModemLines::Leave => return,
            ModemLines::On => true,
            ModemLines::Off => false,
        };
        let set =
            self.port.write_data_terminal_ready(level).and_then(|()| self.port.write_request_to_send(level));
        if let Err(error) = set {
            tracing::debug!(port = %settings.path.display(), %error, "DTR and RTS cannot be set");
        }
    }

    /// Sets data bits and parity, where they are not those that every port is opened with.
    fn set_framing(&mut self, framing: Framing) -> serialport::Result<()> {
        let (data_bits, parity) = match framing {
            Framing::EightNone => return Ok(()),
            Framing::EightEven => (DataBits::Eight, Parity::Even),
            Framing::EightOdd => (DataBits::Eight, Parity::Odd),
            Framing::SevenEven => (DataBits::Seven, Parity::Even),
        };
        self.port.set_data_bits(data_bits)?;
        self.port.set_parity(parity)
    }

    /// Waits at most `wait` for bytes: how many came and when they were read; `None` when nothing
    /// came. An error means that the device is gone.
    pub fn read(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<Option<(MonoTime, usize)>> {
        self.port.set_timeout(wait).map_err(io::Error::from)?;
        let result = self.port.read(buffer);
        let at = sysclock::monotonic();
        match result {
            // An unplugged device answers "nothing" at once and for ever.
            Ok(0) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the device is gone")),
            Ok(n) => Ok(Some((at, n))),
            Err(error) => match error.kind() {
                io::ErrorKind::TimedOut | io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// Writes all bytes; waits for at most a second.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.port.set_timeout(Duration::from_secs(1)).map_err(io::Error::from)?;
        self.port.write_all(bytes)
    }

    /// Throws away what came in and was not read.
    pub fn discard_input(&mut self) -> io::Result<()> {
        self.port.clear(ClearBuffer::Input).map_err(io::Error::from)
    }
}

impl Drop for SerialLink {
    /// Takes the mark of the exclusive mode away: on a pseudo terminal it would outlive us.
    fn drop(&mut self) {
        let _ = self.port.set_exclusive(false);
    }
}

/// Waiting times between attempts: 250 ms, doubling to 5 s.
#[derive(Clone, Debug)]
pub struct Backoff {
    next_ms: u64,
}

impl Backoff {
    const FIRST_MS: u64 = 250;
    const LAST_MS: u64 = 5000;

    /// Back-off before the first failure.
    pub fn new() -> Backoff {
        Backoff { next_ms: Backoff::FIRST_MS }
    }

    /// The device works: the next failure waits for the shortest time.
    pub fn reset(&mut self) {
        self.next_ms = Backoff::FIRST_MS;
    }

    /// How long to wait now.
    pub fn next_wait(&mut self) -> Duration {
        let wait = self.next_ms;
        self.next_ms = (wait * 2).min(Backoff::LAST_MS);
        Duration::from_millis(wait)
    }
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff::new()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn settings(path: &Path) -> PortSettings {
        let framing = Framing::default();
        PortSettings { path: path.to_owned(), baud: 9600, framing, lines: ModemLines::Off }
    }

    fn failure(path: &Path) -> OpenError {
        SerialLink::open(&settings(path)).unwrap_err()
    }

    #[test]
    fn a_port_that_has_gone_is_named() {
        let error = failure(Path::new("/dev/touchmoved/none"));
        assert_eq!(error.reason, OpenFailure::Missing);
        assert!(error.to_string().starts_with("/dev/touchmoved/none: no such device"), "{error}");
    }

    #[test]
    fn a_file_is_no_port() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(failure(file.path()).reason, OpenFailure::NotADevice);
        let error = failure(Path::new("/dev/null"));
        assert!(matches!(error.reason, OpenFailure::Other(_)), "{error:?}");
        assert!(error.to_string().contains("dmesg"), "{error}");
    }

    #[test]
    fn a_port_in_use_is_told_so() {
        let (_master, slave) = TTYPort::pair().unwrap();
        let path = PathBuf::from(slave.name().unwrap());
        let _first = SerialLink::open(&settings(&path)).unwrap();
        assert_eq!(failure(&path).reason, OpenFailure::Busy);
    }

    #[test]
    fn a_program_that_has_the_port_is_not_locked_out_by_our_attempt() {
        let (_master, slave) = TTYPort::pair().unwrap();
        let path = slave.name().unwrap();
        // It locks the file and does not mark the port.
        let other = std::fs::File::open(&path).unwrap();
        rustix::fs::flock(&other, rustix::fs::FlockOperation::LockShared).unwrap();
        assert_eq!(failure(Path::new(&path)).reason, OpenFailure::Busy);
        drop(other);
        drop(SerialLink::open(&settings(Path::new(&path))).unwrap());
        let again = SerialLink::open(&settings(Path::new(&path)));
        assert!(again.is_ok(), "{again:?}");
    }

    #[test]
    fn what_came_before_the_port_was_opened_is_thrown_away() {
        let (mut master, slave) = TTYPort::pair().unwrap();
        let path = PathBuf::from(slave.name().unwrap());
        master.write_all(&[0x86, 0x00, 0x43, 0x0a]).unwrap();
        let mut link = SerialLink::open(&settings(&path)).unwrap();
        let mut buffer = [0; 16];
        assert_eq!(link.read(&mut buffer, Duration::from_millis(1)).unwrap(), None);
    }

    #[test]
    fn the_waits_grow_to_five_seconds() {
        let mut backoff = Backoff::new();
        let waits: Vec<u128> = (0..7).map(|_| backoff.next_wait().as_millis()).collect();
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 5000, 5000]);
        backoff.reset();
        assert_eq!(backoff.next_wait().as_millis(), 250);
    }

    #[test]
    fn bytes_come_with_their_time_and_a_closed_end_is_an_error() {
        let (mut master, slave) = TTYPort::pair().unwrap();
        let path = PathBuf::from(slave.name().unwrap());
        let mut link = SerialLink::open(&settings(&path)).unwrap();
        let mut buffer = [0; 16];
        assert_eq!(link.read(&mut buffer, Duration::from_millis(1)).unwrap(), None);
        let before = sysclock::monotonic();
        master.write_all(&[0x8e, 0x11, 0x13, 0x0d, 0x0a]).unwrap();
        let (at, n) = link.read(&mut buffer, Duration::from_secs(5)).unwrap().unwrap();
        assert!(at >= before);
        assert_eq!(buffer[..n], [0x8e, 0x11, 0x13, 0x0d, 0x0a], "nothing is translated");
        link.write(&[0x40]).unwrap();
        drop((master, slave));
        assert!(link.read(&mut buffer, Duration::from_secs(5)).is_err());
    }
}
