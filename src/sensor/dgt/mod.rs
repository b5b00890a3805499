//! A DGT board on a serial port, USB or Bluetooth (`rfcomm`).
//!
//! The thread only moves bytes: what is sent and when is decided by [`policy`], what the bytes
//! mean by `wire::dgt`.

pub mod policy;

use std::{io, path::PathBuf, time::Duration};

use crate::{
    session::{event::Event, io::Input, time::MonoTime},
    sysclock,
};

use super::{
    Sink, Source, SourceError, Stop,
    serial::{Backoff, ModemLines, PortSettings, SerialLink},
};

use policy::{Action, Policy, Received};

/// Speed of every DGT board, in bits a second.
pub const BAUD: u32 = 9600;

/// Longest wait inside one read: the end of the daemon is noticed that fast.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The source of a DGT board.
#[derive(Clone, Debug)]
pub struct DgtSource {
    settings: PortSettings,
}

impl DgtSource {
    /// A board on this port. Which way the board lies is found by the decoder
    /// (`board.orientation`), not here.
    pub fn new(port: impl Into<PathBuf>, lines: ModemLines) -> DgtSource {
        DgtSource { settings: PortSettings { path: port.into(), baud: BAUD, lines } }
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
        let mut buffer = [0u8; 1024];
        while !stop.is_set() {
            if let Err(error) = self.act(link, policy, sink)? {
                return Ok(Err(error));
            }
            let (at, n) = match link.read(&mut buffer, wait(policy, sysclock::monotonic())) {
                Ok(Some(read)) => read,
                Ok(None) => continue,
                Err(error) => return Ok(Err(error)),
            };
            let bytes = buffer.get(..n).unwrap_or(&buffer);
            tracing::trace!(port = %self.name(), ?bytes, "read");
            let received = policy.received(at, bytes);
            if received == Received::LinkUp {
                tracing::info!(port = %self.name(), "the board answers");
                backoff.reset();
                sink.send(at, Event::Link(true))?;
            }
            if received != Received::Stale {
                sink.send(at, Input::Dgt(bytes.to_vec()))?;
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
        let now = sysclock::monotonic();
        while let Some(action) = policy.poll(now) {
            let done = match action {
                Action::Send(command) => {
                    tracing::trace!(port = %self.name(), ?command, "send");
                    link.write(&[command.byte()])
                }
                Action::DiscardInput => link.discard_input(),
                Action::LinkDown => {
                    tracing::warn!(
                        port = %self.name(),
                        "no answer from the board; is it switched on, and is this its port?"
                    );
                    sink.send(now, Event::Link(false))?;
                    Ok(())
                }
            };
            if done.is_err() {
                return Ok(done);
            }
        }
        Ok(Ok(()))
    }
}

fn wait(policy: &Policy, now: MonoTime) -> Duration {
    policy
        .deadline()
        .map_or(LONGEST_WAIT, |deadline| Duration::from_micros(deadline.since(now)))
        .clamp(Duration::from_millis(1), LONGEST_WAIT)
}

impl Source for DgtSource {
    fn name(&self) -> String {
        self.settings.path.display().to_string()
    }

    fn run(self: Box<Self>, sink: &Sink, stop: &Stop) -> Result<(), SourceError> {
        let mut policy = Policy::new();
        let mut backoff = Backoff::new();
        let mut complaint = String::new();
        while !stop.is_set() {
            let problem = match SerialLink::open(&self.settings) {
                Ok(mut link) => {
                    tracing::info!(port = %self.name(), "opened");
                    complaint.clear();
                    policy.opened(sysclock::monotonic());
                    match self.serve(&mut link, &mut policy, &mut backoff, sink, stop)? {
                        Ok(()) => return Ok(()),
                        Err(error) => format!("{}: {error}; waiting for it to come back", self.name()),
                    }
                }
                Err(error) => error.to_string(),
            };
            if problem != complaint {
                tracing::warn!("{problem}");
                complaint = problem;
            }
            if policy.closed() {
                sink.send(sysclock::monotonic(), Event::Link(false))?;
            }
            if !backoff.wait(stop) {
                break;
            }
        }
        Ok(())
    }
}
