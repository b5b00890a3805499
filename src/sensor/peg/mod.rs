//! A pegged board on a serial port.
//!
//! The thread only moves bytes and lines: what is asked, and what of the lines is passed on, is decided by
//! [`policy`]; what a line means by `wire::peg`.

mod burst;
pub mod policy;
mod port;

use std::{io, path::PathBuf, time::Duration};

use serde_json::json;

use crate::{
    session::{event::Event, time::MonoTime},
    sysclock,
};

use super::{
    Sink, Source, SourceError, Stop,
    serial::{Backoff, Framing, ModemLines, PortSettings, SerialLink},
};

use policy::{Action, Policy};
use port::Sighting;

/// Speed of a pegged board where nothing else is said, in bits a second.
pub const BAUD: u32 = 115_200;

/// Longest wait inside one read: the end of the daemon is noticed that fast.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// A board that was read for so many microseconds is good: when it goes, it is waited for as if for the first
/// time. One that comes and goes all the time is not.
const GOOD_US: u64 = 10_000_000;

/// The source of a pegged board.
#[derive(Clone, Debug)]
pub struct PegSource {
    settings: PortSettings,
    framing: Framing,
}

impl PegSource {
    /// A board on this port.
    pub fn new(port: impl Into<PathBuf>, baud: u32, framing: Framing, lines: ModemLines) -> PegSource {
        PegSource { settings: PortSettings { path: port.into(), baud, lines }, framing }
    }

    /// Opens the port; what is wrong, for the operator, when it does not open.
    fn open(&self) -> Result<SerialLink, String> {
        let mut link = SerialLink::open(&self.settings).map_err(|error| error.to_string())?;
        link.set_framing(self.framing).map_err(|error| {
            format!("{}: the port does not take this framing: {error}; choose another one", self.name())
        })?;
        Ok(link)
    }

    /// Moves bytes until the port fails (the inner error) or the source has to end.
    fn serve(
        &self,
        link: &mut SerialLink,
        policy: &mut Policy,
        backoff: &mut Backoff,
        sink: &Sink,
        stop: &Stop,
    ) -> Result<io::Result<()>, SourceError> {
        let mut buffer = [0u8; 4096];
        let mut good_since = None;
        while !stop.is_set() {
            if let Err(error) = self.act(link, policy, sink)? {
                return Ok(Err(error));
            }
            match link.read(&mut buffer, wait(policy, sysclock::monotonic())) {
                Ok(Some((at, n))) => {
                    let bytes = buffer.get(..n).unwrap_or(&buffer);
                    policy.received(at, bytes, n < buffer.len());
                    good_since = policy.is_up().then(|| good_since.unwrap_or(at));
                    if good_since.is_some_and(|since| at.since(since) >= GOOD_US) {
                        backoff.reset();
                    }
                }
                Ok(None) => policy.nothing(sysclock::monotonic()),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }

    /// Does everything that the policy wants done now.
    fn act(
        &self,
        link: &mut SerialLink,
        policy: &mut Policy,
        sink: &Sink,
    ) -> Result<io::Result<()>, SourceError> {
        while let Some(action) = policy.poll(sysclock::monotonic()) {
            let done = match action {
                Action::Send(request) => {
                    tracing::trace!(port = %self.name(), ?request, "send");
                    link.write(request.bytes())
                }
                Action::DiscardInput => link.discard_input(),
                told => self.tell(told, sink).map(Ok)?,
            };
            if done.is_err() {
                return Ok(done);
            }
        }
        Ok(Ok(()))
    }

    /// Tells what needs no port.
    fn tell(&self, action: Action, sink: &Sink) -> Result<(), SourceError> {
        match action {
            Action::Hand(at, input) => sink.send(at, input)?,
            Action::Complain(complaint) => tracing::warn!(port = %self.name(), "{complaint}"),
            Action::Greet(hello) => tracing::info!(
                port = %self.name(),
                "the board answers: {} {}, serial number {}, debounced {} ms closing and {} ms opening",
                hello.firmware,
                hello.version,
                hello.serial,
                hello.close_ms,
                hello.open_ms
            ),
            Action::Send(_) | Action::DiscardInput => {}
        }
        Ok(())
    }
}

fn wait(policy: &Policy, now: MonoTime) -> Duration {
    policy
        .deadline()
        .map_or(LONGEST_WAIT, |deadline| Duration::from_micros(deadline.since(now)))
        .clamp(Duration::from_millis(1), LONGEST_WAIT)
}

impl Source for PegSource {
    fn name(&self) -> String {
        self.settings.path.display().to_string()
    }

    fn run(self: Box<Self>, sink: &Sink, stop: &Stop) -> Result<(), SourceError> {
        let mut policy = Policy::new();
        let mut backoff = Backoff::new();
        let mut complaint = String::new();
        while !stop.is_set() {
            let tried = Sighting::of(&self.settings.path);
            let problem = match self.open() {
                Ok(mut link) => {
                    tracing::info!(port = %self.name(), path = ?self.settings.path.canonicalize(), "opened");
                    policy.opened(sysclock::monotonic());
                    let served = self.serve(&mut link, &mut policy, &mut backoff, sink, stop)?;
                    if policy.is_up() {
                        complaint.clear();
                    }
                    match served {
                        Ok(()) => return Ok(()),
                        Err(error) => format!("{}: {error}; waiting for it to come back", self.name()),
                    }
                }
                Err(problem) => problem,
            };
            policy.closed(sysclock::monotonic());
            while let Some(action) = policy.poll(sysclock::monotonic()) {
                self.tell(action, sink)?;
            }
            if problem != complaint {
                tracing::warn!("{problem}");
                let note = json!({"source": "peg", "port": self.name(), "error": problem});
                sink.send(sysclock::monotonic(), Event::Device(note))?;
                complaint = problem;
            }
            if !port::wait(&self.settings.path, tried, &mut backoff, stop) {
                break;
            }
        }
        Ok(())
    }
}
