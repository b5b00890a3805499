//! Keeps a serial port open for as long as somebody wants it: waits for a device that is absent, finds it again
//! under another name, tries again when it does not open, and says what an operator can do.
//!
//! The file is looked at four times a second. Watching with `inotify` would need a watch on each directory of a
//! chain of links that udev makes and removes with the device, and does not work in `/sys` at all, where a device
//! is found by its number; four looks cost some ten microseconds each, and a board that is plugged in is read
//! within the half second.

use std::{path::PathBuf, sync::Arc, time::Duration};

use crate::{session::time::MonoTime, sysclock};

use super::{
    super::{Stop, sleep_unless_stopped},
    Framing, ModemLines, PortSettings, SerialLink,
    attempts::Attempts,
    held::Held,
    place::{PortName, Roots, Sighting},
};

/// Time between two looks at the device file.
const LOOK: Duration = Duration::from_millis(250);

/// What waiting for a port came to.
#[derive(Debug)]
pub enum Next {
    /// The port is open.
    Open(SerialLink),
    /// The port cannot be opened: a text for the operator that was not the last one. It goes on with the next
    /// call.
    Trouble(String),
    /// The end was asked for.
    Stopped,
}

/// Keeper of one port.
#[derive(Clone, Debug)]
pub struct PortKeeper {
    name: PortName,
    roots: Roots,
    baud: u32,
    framing: Framing,
    lines: ModemLines,
    attempts: Attempts,
    trouble: Option<String>,
    path: Option<PathBuf>,
    device: Option<String>,
    /// The device that is open.
    held: Option<Arc<Held>>,
}

impl PortKeeper {
    /// A keeper of the port `name`.
    pub fn new(name: PortName, baud: u32, framing: Framing, lines: ModemLines) -> PortKeeper {
        PortKeeper {
            name,
            roots: Roots::default(),
            baud,
            framing,
            lines,
            attempts: Attempts::default(),
            trouble: None,
            path: None,
            device: None,
            held: None,
        }
    }

    /// Looks for devices elsewhere than in `/sys` and `/dev`.
    #[must_use]
    pub fn with_roots(mut self, roots: Roots) -> PortKeeper {
        self.roots = roots;
        self
    }

    /// How the port is found.
    pub fn name(&self) -> &PortName {
        &self.name
    }

    /// The path of the port that was opened last.
    pub fn path(&self) -> Option<&PathBuf> {
        self.path.as_ref()
    }

    /// The device that was opened last, whatever links lead to it; for logs and notes.
    pub fn device(&self) -> &str {
        self.device.as_deref().unwrap_or("?")
    }

    /// Waits until the port is open, or until there is something to tell. A port that was open before is given back.
    pub fn next(&mut self, stop: &Stop) -> Next {
        self.held = None;
        loop {
            if stop.is_set() {
                return Next::Stopped;
            }
            if let Some(next) = self.look(sysclock::monotonic()) {
                return next;
            }
            sleep_unless_stopped(u64::try_from(LOOK.as_micros()).unwrap_or(u64::MAX), stop);
        }
    }

    fn look(&mut self, now: MonoTime) -> Option<Next> {
        let seen = self.name.sight(&self.roots);
        let due = self.attempts.is_due(now, seen.as_ref().ok());
        let trouble = match seen {
            Err(absent) => absent.to_string(),
            Ok(_) if !due => return None,
            Ok(seen) => match self.open(seen) {
                Ok(link) => return Some(Next::Open(link)),
                Err(trouble) => {
                    self.attempts.failed(now);
                    trouble
                }
            },
        };
        self.is_news(&trouble).then_some(Next::Trouble(trouble))
    }

    fn open(&mut self, seen: Sighting) -> Result<SerialLink, String> {
        let held = Held::take(&seen, &self.name.to_string()).map_err(|shared| shared.to_string())?;
        let settings =
            PortSettings { path: seen.path, baud: self.baud, framing: self.framing, lines: self.lines };
        let link = SerialLink::open(&settings).map_err(|error| error.to_string())?;
        // A link may lead elsewhere by the time that somebody asks.
        let device = settings.path.canonicalize().unwrap_or_else(|_| settings.path.clone());
        self.device = Some(device.display().to_string());
        self.path = Some(settings.path);
        self.held = held.map(Arc::new);
        Ok(link)
    }

    /// The port failed; `trouble` comes back unless it was told last.
    pub fn lost(&mut self, trouble: String) -> Option<String> {
        self.rest();
        self.is_news(&trouble).then_some(trouble)
    }

    /// What is on the port is of no use at this moment: the next attempt waits, unless another device comes.
    pub fn rest(&mut self) {
        self.attempts.failed(sysclock::monotonic());
    }

    /// The device works: what goes wrong next is news.
    pub fn works(&mut self) {
        self.attempts.works(sysclock::monotonic());
        self.trouble = None;
    }

    /// Notes what is wrong while the port stays open; true when that is news.
    pub fn is_news(&mut self, trouble: &str) -> bool {
        let news = self.trouble.as_deref() != Some(trouble);
        self.trouble = Some(trouble.to_owned());
        news
    }
}

#[cfg(test)]
mod tests {
    use serialport::{SerialPort as _, TTYPort};

    use super::*;

    #[test]
    fn a_device_is_read_under_one_of_its_names_and_the_other_board_hears_which() {
        let (_master, slave) = TTYPort::pair().unwrap();
        let device = PathBuf::from(slave.name().unwrap());
        drop(slave);
        let dir = tempfile::tempdir().unwrap();
        let keeper = |name: &str| {
            let link = dir.path().join(name);
            std::os::unix::fs::symlink(&device, &link).unwrap();
            PortKeeper::new(PortName::Path(link), 9600, Framing::default(), ModemLines::Leave)
        };
        let (mut first, mut second) = (keeper("by-id"), keeper("udev"));
        let stop = Stop::default();
        let Next::Open(link) = first.next(&stop) else { panic!() };
        let Next::Trouble(told) = second.next(&stop) else { panic!() };
        let names = [dir.path().join("udev"), device.clone(), dir.path().join("by-id")];
        let [own, device, other] = names.map(|path| path.display().to_string());
        assert!(
            told.starts_with(&format!("{own}: is the same device ({device}) as {other}, which ")),
            "{told}"
        );
        drop(link);
        drop(first);
        assert!(matches!(second.next(&stop), Next::Open(_)), "it is free again");
    }
}
