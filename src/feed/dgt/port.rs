//! The wire to a program: a pseudo terminal under a stable name, or a serial device.
//!
//! While no program has opened the terminal, its other end is held open here: the settings stay, and nothing
//! fails. With the first byte of a program it is let go, so that the system tells when the last program has
//! closed it; then what nobody has read is thrown away.

use std::{
    fs, io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Gid, Mode, OFlags, chmod, chown, fcntl_setfl, open},
    io::Errno,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{
        ControlModes, InputModes, LocalModes, OptionalActions, OutputModes, QueueSelector, Termios,
        ioctl_tiocnxcl, tcflush, tcgetattr, tcsetattr,
    },
};
use tokio::io::{Interest, Ready, unix::AsyncFd};

use super::link::Link;

/// Bits a second of a serial device, which is what every program expects.
const SPEED: u32 = 9600;

/// Members of this group may use serial ports, and so these.
const GROUP: &str = "dialout";

/// Bytes that are read at a time.
const READ: usize = 512;

/// Where the board is plugged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A pseudo terminal; the link with this name leads to it.
    Link(PathBuf),
    /// A serial device.
    Device(PathBuf),
}

impl Place {
    /// What programs open, or the device whose other end they have.
    pub fn path(&self) -> &Path {
        match self {
            Place::Link(path) | Place::Device(path) => path,
        }
    }
}

/// What came over the wire.
#[derive(Debug)]
pub(super) enum Heard {
    /// Bytes of a program.
    Bytes(Vec<u8>),
    /// The last program has closed the terminal, or the device is gone.
    Closed,
    /// Nothing, but it may be possible to write.
    Nothing,
}

/// An open wire.
#[derive(Debug)]
pub(super) struct Port {
    fd: AsyncFd<OwnedFd>,
    /// The name of a pseudo terminal; a device has none.
    link: Option<Link>,
    /// Its other end, while no program has it.
    held: Option<OwnedFd>,
}

impl Port {
    /// Opens the wire. Needs the event loop.
    pub(super) fn open(place: &Place) -> io::Result<Port> {
        match place {
            Place::Link(link) => Port::terminal(link),
            Place::Device(device) => Port::device(device),
        }
    }

    fn terminal(link: &Path) -> io::Result<Port> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        fcntl_setfl(&master, OFlags::NONBLOCK)?;
        let name = PathBuf::from(ptsname(&master, Vec::new())?.to_string_lossy().into_owned());
        // A fresh terminal echoes: before anybody knows its name, it does no more.
        let held = hold(&name)?;
        share(&name);
        let link = Link::place(link, &name)?;
        Ok(Port { fd: watched(master)?, link: Some(link), held: Some(held) })
    }

    fn device(path: &Path) -> io::Result<Port> {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let device = open(path, flags, Mode::empty())?;
        let mut settings = tcgetattr(&device)?;
        settings.make_raw();
        settings.set_speed(SPEED)?;
        settings.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
        settings.control_modes -= ControlModes::CRTSCTS | ControlModes::CSTOPB;
        tcsetattr(&device, OptionalActions::Now, &settings)?;
        tcflush(&device, QueueSelector::IOFlush)?;
        Ok(Port { fd: watched(device)?, link: None, held: None })
    }

    /// True where a program has the terminal, as far as it was heard; a device always has its other end.
    pub(super) const fn is_taken(&self) -> bool {
        self.held.is_none()
    }

    /// A program is there: from now on the system tells when it goes.
    pub(super) fn let_go(&mut self) {
        self.held = None;
    }

    /// The terminal without its last program, ready for the next one: raw, not reserved by the last, and
    /// without what that has not read. Nothing where that cannot be, and for a device.
    pub(super) fn renewed(self) -> Option<Port> {
        let Port { fd, link, .. } = self;
        let link = link?;
        let held = hold(link.target()).ok()?;
        // What came before the end stays reported in the old registration.
        let fd = watched(fd.into_inner()).ok()?;
        Some(Port { fd, link: Some(link), held: Some(held) })
    }

    /// Some programs reserve the port and go without a word; then others could not open it.
    pub(super) fn unreserve(&self) {
        if let Some(held) = &self.held {
            let _ = ioctl_tiocnxcl(held);
        }
    }

    /// Waits for what comes, and for room where there is something to write. May be dropped and called again.
    pub(super) async fn hear(&self, to_write: bool) -> Heard {
        let interest = if to_write { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        let Ok(mut guard) = self.fd.ready(interest).await else { return Heard::Closed };
        let ready = guard.ready();
        if ready.is_read_closed() || ready.is_error() {
            return Heard::Closed;
        }
        if !ready.is_readable() {
            return Heard::Nothing;
        }
        let mut buffer = [0; READ];
        match rustix::io::read(self.fd.get_ref(), &mut buffer) {
            Ok(0) => Heard::Closed,
            Ok(n) => Heard::Bytes(buffer.get(..n).unwrap_or_default().to_vec()),
            Err(Errno::AGAIN) => {
                guard.clear_ready_matching(Ready::READABLE);
                Heard::Nothing
            }
            Err(Errno::INTR) => Heard::Nothing,
            Err(_) => Heard::Closed,
        }
    }

    /// Writes what there is room for; how much that was.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        if self.link.is_some() {
            // A program may have set it to echo: what is written would come back as commands.
            keep_raw(self.fd.get_ref())?;
        }
        match self.fd.try_io(Interest::WRITABLE, |fd| Ok(rustix::io::write(fd, bytes)?)) {
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(0)
            }
            written => written,
        }
    }
}

/// Puts a file into the event loop.
#[allow(
    deprecated,
    reason = "its successor is for any type and unsafe; an `OwnedFd` keeps what that asks for"
)]
fn watched(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::new(fd)
}

/// Opens the end of a terminal that programs open, and puts it in order.
fn hold(name: &Path) -> io::Result<OwnedFd> {
    let end = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    ioctl_tiocnxcl(&end)?;
    keep_raw(&end)?;
    tcflush(&end, QueueSelector::IFlush)?;
    Ok(end)
}

/// What changes bytes on their way, holds them back or sends them back.
fn is_cooked(settings: &Termios) -> bool {
    let input = InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR | InputModes::ISTRIP;
    let input = input | InputModes::IXON | InputModes::PARMRK;
    let local = LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG;
    settings.input_modes.intersects(input)
        || settings.local_modes.intersects(local)
        || settings.output_modes.contains(OutputModes::OPOST)
}

/// Makes the terminal raw where it is not. Either end will do.
fn keep_raw(end: impl AsFd) -> io::Result<()> {
    let mut settings = tcgetattr(&end)?;
    if is_cooked(&settings) {
        settings.make_raw();
        tcsetattr(&end, OptionalActions::Now, &settings)?;
    }
    Ok(())
}

/// Lets those use the terminal who may use serial ports. Where that group is not known or not ours, it stays
/// with the user of the daemon.
fn share(name: &Path) {
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let group = groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == GROUP).then(|| fields.nth(1)?.parse().ok()).flatten()
    });
    let Some(group) = group else { return };
    let shared = chown(name, None, Some(Gid::from_raw(group))).and_then(|()| chmod(name, Mode::from(0o660)));
    if let Err(error) = shared {
        tracing::debug!(%error, "{} is for the user of the daemon alone", name.display());
    }
}
