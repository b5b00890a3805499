//! A simulated pegged board on a pseudo terminal.

use std::{
    fs, io,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::fs::symlink,
    },
    path::{Path, PathBuf},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{Mode, OFlags, fcntl_setfl, open},
    io::Errno,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};

use crate::{
    sensor::Stop,
    simulate::peg::{Output, PegBoard},
    sysclock,
};

/// The contacts are scanned at least this often.
const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// Why there is no pseudo terminal.
#[derive(Debug, thiserror::Error)]
pub(super) enum PtyError {
    #[error("--pty {link}: there is a file of that name that is no symbolic link; name another one")]
    Taken { link: String },
    #[error("--pty {link}: {error}")]
    Link { link: String, error: io::Error },
    #[error("no signals can be taken: {0}")]
    Signals(io::Error),
    #[error("no pseudo terminal: {0}")]
    Pty(#[from] Errno),
}

/// The two ends of a pseudo terminal, and a name for the end that the host opens.
struct Terminal {
    master: OwnedFd,
    /// Kept open, so that the settings stay and nothing fails while no host is there.
    _slave: OwnedFd,
    link: PathBuf,
}

impl Terminal {
    fn open(link: &Path) -> Result<Terminal, PtyError> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let slave = open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        let mut settings = tcgetattr(&slave)?;
        settings.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &settings)?;
        // Nobody reads while no host is there: what finds no room is lost, as on a wire.
        fcntl_setfl(&master, OFlags::NONBLOCK)?;
        let failed = |error| PtyError::Link { link: link.display().to_string(), error };
        match fs::symlink_metadata(link) {
            Ok(file) if file.file_type().is_symlink() => fs::remove_file(link).map_err(failed)?,
            Ok(_) => return Err(PtyError::Taken { link: link.display().to_string() }),
            Err(_) => {}
        }
        symlink(name.to_string_lossy().as_ref(), link).map_err(failed)?;
        Ok(Terminal { master, _slave: slave, link: link.to_owned() })
    }

    /// Waits for at most a millisecond; what the host has sent meanwhile.
    fn read(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        match poll(&mut fds, Some(&STEP)) {
            Ok(0) | Err(Errno::INTR) => return Ok(0),
            Ok(_) => {}
            Err(error) => return Err(error),
        }
        match rustix::io::read(self.master.as_fd(), buffer) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            result => result,
        }
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Errno> {
        match rustix::io::write(self.master.as_fd(), bytes) {
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.link);
    }
}

/// Set by SIGINT and SIGTERM. The name of the terminal must not outlive it: the system gives the same
/// terminal to the next program that wants one.
fn stop_by_signal() -> Result<Stop, PtyError> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(PtyError::Signals)?;
    let stop = Stop::default();
    let (mut interrupt, mut terminate) = {
        let _inside = runtime.enter();
        let on = |kind| signal(kind).map_err(PtyError::Signals);
        (on(SignalKind::interrupt())?, on(SignalKind::terminate())?)
    };
    let set = stop.clone();
    std::thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        });
        set.set();
    });
    Ok(stop)
}

/// Is the board, until a signal ends the program.
pub(super) fn serve(mut board: PegBoard, link: &Path) -> Result<(), PtyError> {
    let stop = stop_by_signal()?;
    let mut terminal = Some(Terminal::open(link)?);
    println!("a pegged board is plugged in at {}; the game begins when it is read", link.display());
    let start = sysclock::monotonic();
    let mut told = false;
    let mut out = Vec::new();
    let mut buffer = [0; 256];
    while !stop.is_set() {
        match &terminal {
            Some(terminal) => {
                let n = terminal.read(&mut buffer)?;
                board.receive(buffer.get(..n).unwrap_or_default());
            }
            None => std::thread::sleep(std::time::Duration::from_millis(1)),
        }
        board.advance(sysclock::monotonic().since(start) / 1000, &mut out);
        for output in out.drain(..) {
            match output {
                Output::Bytes(bytes) => {
                    if let Some(terminal) = &terminal {
                        terminal.write(&bytes)?;
                    }
                }
                Output::Unplug => {
                    terminal = None;
                    println!("the cable is pulled out");
                }
                Output::Plug => {
                    terminal = Some(Terminal::open(link)?);
                    println!("the cable is put in");
                }
            }
        }
        if board.is_over() && !told {
            told = true;
            println!("the game is over; the board stays until this program is ended");
        }
    }
    Ok(())
}
