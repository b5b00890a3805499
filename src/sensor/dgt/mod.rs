//! A DGT board on a serial port, USB or Bluetooth (`rfcomm`).
//!
//! The thread only moves bytes: what is sent and when is decided by [`policy`], what the bytes
//! mean by `wire::dgt`, when the port is opened by `serial::keeper`.

pub mod orders;
pub mod policy;
mod witness;

pub use witness::Fault;

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use serde_json::json;

use crate::{
    session::{
        event::{Event, Unit},
        io::Input,
        time::MonoTime,
    },
    sysclock,
    wire::dgt::memory::Squares,
};

use super::{
    Sink, Source, SourceError, Stop,
    serial::{
        Framing, ModemLines, OTHER_BOARD, SerialLink, Trouble,
        keeper::{Next, PortKeeper},
        lost,
        place::{PortName, Roots},
        settled,
    },
};

use orders::OrderTray;
use policy::{Action, Options, Policy, Received, Updates};

/// Speed of every DGT board, in bits a second.
pub const BAUD: u32 = 9600;

/// Longest wait inside one read: the end of the daemon is noticed that fast.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The source of a DGT board.
#[derive(Clone, Debug)]
pub struct DgtSource {
    keeper: PortKeeper,
    options: Options,
    tray: Arc<OrderTray>,
}

/// Why a port is not served any longer.
enum End {
    /// The daemon ends.
    Stopped,
    /// The port failed.
    Failed(io::Error),
    /// The port is to be opened again.
    Reopen,
}

impl DgtSource {
    /// A board on this port. Which way the board lies is found by the decoder
    /// (`board.orientation`), not here.
    pub fn new(port: impl Into<PathBuf>, lines: ModemLines) -> DgtSource {
        DgtSource::at(PortName::Path(port.into()), lines)
    }

    /// A board wherever this port is.
    pub fn at(name: PortName, lines: ModemLines) -> DgtSource {
        let options = Options { memory: true, ..Options::default() };
        let keeper = PortKeeper::new(name, BAUD, Framing::EightNone, lines);
        DgtSource { keeper, options, tray: Arc::default() }
    }

    /// Fetches the arbiter's orders to the clock from this tray.
    #[must_use]
    pub fn with_tray(mut self, tray: Arc<OrderTray>) -> DgtSource {
        self.tray = tray;
        self
    }

    /// Lets the board tell its changes in another way.
    #[must_use]
    pub fn with_updates(mut self, updates: Updates) -> DgtSource {
        self.options.updates = updates;
        self
    }

    /// Whether the board's memory is asked for what happened during an outage.
    #[must_use]
    pub fn with_memory(mut self, memory: bool) -> DgtSource {
        self.options.memory = memory;
        self
    }

    /// Goes on with a game in which the squares read so when they were heard last: the time in which no program
    /// ran counts as an outage.
    #[must_use]
    pub fn resumed(mut self, squares: Option<Squares>) -> DgtSource {
        self.options.resumed = squares;
        self
    }

    /// Looks for the port elsewhere than in `/sys` and `/dev`.
    #[must_use]
    pub fn with_roots(mut self, roots: Roots) -> DgtSource {
        self.keeper = self.keeper.with_roots(roots);
        self
    }
}

/// A run of the source.
struct Run<'a> {
    name: String,
    keeper: PortKeeper,
    policy: Policy,
    tray: Arc<OrderTray>,
    /// Since when the link counts as down.
    down_since: Option<MonoTime>,
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
                    // An order that nobody could fetch is old.
                    self.fetch_order();
                    self.policy.opened(sysclock::monotonic(), self.is_wireless());
                    match self.serve(&mut link)? {
                        End::Stopped => return Ok(()),
                        End::Failed(error) => self.keeper.lost(lost(&self.name, &error)),
                        End::Reopen => {
                            self.keeper.rest();
                            None
                        }
                    }
                }
            };
            let news = self.policy.closed();
            self.tell_answers()?;
            self.down(news, trouble, None)?;
        }
    }

    /// Moves bytes until the port fails or the source has to end.
    fn serve(&mut self, link: &mut SerialLink) -> Result<End, SourceError> {
        let mut buffer = [0u8; 1024];
        while !self.stop.is_set() {
            self.fetch_order();
            let end = self.act(link)?;
            self.tell_answers()?;
            if let Some(end) = end {
                return Ok(end);
            }
            let (at, n) = match link.read(&mut buffer, wait(&self.policy, sysclock::monotonic())) {
                Ok(Some(read)) => read,
                Ok(None) => continue,
                Err(error) => return Ok(End::Failed(error)),
            };
            let bytes = buffer.get(..n).unwrap_or(&buffer);
            tracing::trace!(port = %self.name, ?bytes, "read");
            let received = self.policy.received(at, bytes);
            if received == Received::LinkUp {
                self.up(at)?;
            }
            if received != Received::Stale {
                let kept = self.policy.take_rationed().unwrap_or_else(|| bytes.to_vec());
                if !kept.is_empty() {
                    self.sink.send(at, Input::Dgt(Unit::A, kept))?;
                }
            }
        }
        Ok(End::Stopped)
    }

    fn fetch_order(&mut self) {
        if let Some((order, given)) = self.tray.take() {
            tracing::info!(port = %self.name, ?order, "the clock is to be set");
            self.policy.order(order, given);
        }
    }

    /// Tells what came of orders to the clock.
    fn tell_answers(&mut self) -> Result<(), SourceError> {
        for answer in self.policy.answers() {
            tracing::info!(port = %self.name, ?answer, "an order to the clock is settled");
            self.sink.send(sysclock::monotonic(), Event::Device(answer.note()))?;
        }
        Ok(())
    }

    /// Does everything that the policy wants done now.
    fn act(&mut self, link: &mut SerialLink) -> Result<Option<End>, SourceError> {
        while let Some(action) = self.policy.poll(sysclock::monotonic()) {
            let done = match action {
                Action::Send(command) => {
                    tracing::trace!(port = %self.name, ?command, "send");
                    link.write(&[command.byte()])
                }
                Action::SetClock(set) => link.write(&set.encode()),
                Action::DiscardInput => link.discard_input(),
                Action::Stand(fault) => {
                    let text = &format!("{}: {fault}", self.name);
                    let fault = fault.as_str();
                    let told = Trouble { source: "dgt", port: &self.name, fault, text, standing: true };
                    told.tell(sysclock::monotonic(), self.sink)?;
                    Ok(())
                }
                Action::Withheld(n) => {
                    let note = json!({"source": "dgt", "what": "garbled-bytes", "n": n, "recorded": false});
                    self.sink.send(sysclock::monotonic(), Event::Device(note))?;
                    Ok(())
                }
                Action::Settle => {
                    tracing::info!(port = %self.name, "the board that was there first is back");
                    self.sink.send(sysclock::monotonic(), settled("dgt", OTHER_BOARD))?;
                    Ok(())
                }
                Action::Reopen => return Ok(Some(End::Reopen)),
                Action::Down { fault, news } => {
                    let trouble = format!("{}: {fault}", self.name);
                    let trouble = self.keeper.is_news(&trouble).then_some(trouble);
                    self.down(news, trouble, Some(&fault))?;
                    Ok(())
                }
            };
            if let Err(error) = done {
                return Ok(Some(End::Failed(error)));
            }
        }
        Ok(None)
    }

    /// The board answers with a dump: it is there.
    fn up(&mut self, at: MonoTime) -> Result<(), SourceError> {
        tracing::info!(port = %self.name, "the board answers");
        self.keeper.works();
        self.sink.send(at, Event::Link(true))?;
        let gap_ms = self.down_since.take().map(|since| at.since(since) / 1000);
        let path = self.keeper.device();
        self.sink.send(
            at,
            Event::Device(json!({"source": "dgt", "port": self.name, "path": path, "gap_ms": gap_ms})),
        )
    }

    /// Tells that the link is down, if that is news, and what is wrong.
    fn down(
        &mut self,
        news: bool,
        trouble: Option<String>,
        fault: Option<&Fault>,
    ) -> Result<(), SourceError> {
        let now = sysclock::monotonic();
        if news {
            self.down_since.get_or_insert(now);
            self.sink.send(now, Event::Link(false))?;
        }
        let Some(text) = &trouble else { return Ok(()) };
        let fault = fault.map_or(Trouble::PORT, Fault::as_str);
        Trouble { source: "dgt", port: &self.name, fault, text, standing: false }.tell(now, self.sink)
    }

    /// Bluetooth boards scan half as fast.
    fn is_wireless(&self) -> bool {
        self.keeper.device().contains("rfcomm")
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
        self.keeper.name().to_string()
    }

    fn run(self: Box<Self>, sink: &Sink, stop: &Stop) -> Result<(), SourceError> {
        let name = self.name();
        let policy = Policy::new(self.options);
        let DgtSource { keeper, tray, .. } = *self;
        Run { name, keeper, policy, tray, down_since: None, sink, stop }.run()
    }
}
