//! A pegged board on a serial port.
//!
//! The thread only moves bytes and lines: what is asked, and what of the lines is passed on, is decided by
//! [`policy`], what a line means by `wire::peg`, when the port is opened by `serial::keeper`.

mod burst;
mod order;
pub mod policy;

use std::{io, path::PathBuf, time::Duration};

use crate::{session::time::MonoTime, sysclock};

use super::{
    Sink, Source, SourceError, Stop,
    serial::{
        Framing, ModemLines, SerialLink, Trouble,
        keeper::{Next, PortKeeper},
        lost,
        place::{PortName, Roots},
        settled,
    },
};

use policy::{Action, Policy};

/// Speed of a pegged board where nothing else is said, in bits a second.
pub const BAUD: u32 = 115_200;

/// Longest wait inside one read: the end of the daemon is noticed that fast.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The source of a pegged board.
#[derive(Clone, Debug)]
pub struct PegSource {
    keeper: PortKeeper,
}

impl PegSource {
    /// A board on this port.
    pub fn new(port: impl Into<PathBuf>, baud: u32, framing: Framing, lines: ModemLines) -> PegSource {
        PegSource::at(PortName::Path(port.into()), baud, framing, lines)
    }

    /// A board wherever this port is.
    pub fn at(name: PortName, baud: u32, framing: Framing, lines: ModemLines) -> PegSource {
        PegSource { keeper: PortKeeper::new(name, baud, framing, lines) }
    }

    /// Looks for the port elsewhere than in `/sys` and `/dev`.
    #[must_use]
    pub fn with_roots(mut self, roots: Roots) -> PegSource {
        self.keeper = self.keeper.with_roots(roots);
        self
    }
}

/// A run of the source.
struct Run<'a> {
    name: String,
    keeper: PortKeeper,
    policy: Policy,
    sink: &'a Sink,
    stop: &'a Stop,
}

impl Run<'_> {
    /// Opens the port and serves it, again and again.
    fn run(&mut self) -> Result<(), SourceError> {
        loop {
            let trouble = match self.keeper.next(self.stop) {
                Next::Stopped => return Ok(()),
                Next::Trouble(trouble) => Some(trouble),
                Next::Open(mut link) => {
                    tracing::info!(port = %self.name, device = self.keeper.device(), "opened");
                    self.policy.opened(sysclock::monotonic());
                    match self.serve(&mut link)? {
                        Ok(()) => return Ok(()),
                        Err(error) => self.keeper.lost(lost(&self.name, &error)),
                    }
                }
            };
            let now = sysclock::monotonic();
            self.policy.closed(now);
            while let Some(action) = self.policy.poll(now) {
                self.tell(action)?;
            }
            if let Some(text) = &trouble {
                Trouble { source: "peg", port: &self.name, fault: Trouble::PORT, text, standing: false }
                    .tell(now, self.sink)?;
            }
        }
    }

    /// Moves bytes until the port fails (the inner error) or the source has to end.
    fn serve(&mut self, link: &mut SerialLink) -> Result<io::Result<()>, SourceError> {
        let mut buffer = [0u8; 4096];
        while !self.stop.is_set() {
            if let Err(error) = self.act(link)? {
                return Ok(Err(error));
            }
            match link.read(&mut buffer, wait(&self.policy, sysclock::monotonic())) {
                Ok(Some((at, n))) => {
                    let bytes = buffer.get(..n).unwrap_or(&buffer);
                    self.policy.received(at, bytes, n < buffer.len());
                    if self.policy.is_up() {
                        self.keeper.works();
                    }
                }
                Ok(None) => self.policy.nothing(sysclock::monotonic()),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }

    /// Does everything that the policy wants done now.
    fn act(&mut self, link: &mut SerialLink) -> Result<io::Result<()>, SourceError> {
        while let Some(action) = self.policy.poll(sysclock::monotonic()) {
            let done = match action {
                Action::Send(request) => {
                    tracing::trace!(port = %self.name, ?request, "send");
                    link.write(request.bytes())
                }
                Action::DiscardInput => link.discard_input(),
                told => self.tell(told).map(Ok)?,
            };
            if done.is_err() {
                return Ok(done);
            }
        }
        Ok(Ok(()))
    }

    /// Tells what needs no port.
    fn tell(&self, action: Action) -> Result<(), SourceError> {
        match action {
            Action::Hand(at, input) => self.sink.send(at, input)?,
            Action::Complain(at, complaint) => {
                let text = &format!("{}: {complaint}", self.name);
                let fault = complaint.as_str();
                let standing = complaint.is_standing();
                Trouble { source: "peg", port: &self.name, fault, text, standing }.tell(at, self.sink)?;
            }
            Action::Settle(at, complaint) => {
                tracing::info!(port = %self.name, fault = complaint.as_str(), "settled");
                self.sink.send(at, settled("peg", complaint.as_str()))?;
            }
            Action::Greet(hello) => tracing::info!(
                port = %self.name,
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
        self.keeper.name().to_string()
    }

    fn run(self: Box<Self>, sink: &Sink, stop: &Stop) -> Result<(), SourceError> {
        let name = self.name();
        Run { name, keeper: self.keeper, policy: Policy::new(), sink, stop }.run()
    }
}
